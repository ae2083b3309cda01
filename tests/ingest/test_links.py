"""Links: rows of edge tables kept with time, amount and kind; what is said where they are messy."""

from __future__ import annotations

import json
from pathlib import Path

import networkx as nx
import numpy as np
import pandas as pd
import pytest

from gadcore.errors import InputError
from gadcore.graph import Links
from gadcore.ingest import Mapping, Reading, peek, read

from .files import edge_weights, write

NODES = "id,age\na,1\nb,2\nc,3\nd,4\n"
ROWS = [("a", "b", 10.0), ("a", "b", 30.0), ("b", "a", 5.0), ("b", "c", 20.0), ("c", "d", 7.0)]
TRANSFERS = "source,target,amount\n" + "".join(f"{a},{b},{v}\n" for a, b, v in ROWS)


def table(tmp_path: Path, text: str, name: str = "transfers.csv", **mapping: object) -> Reading:
    return read(write(tmp_path / name, text), mapping=Mapping(**mapping))  # type: ignore[arg-type]


def links_of(reading: Reading) -> Links:
    assert reading.graph.links is not None
    return reading.graph.links


def said(reading: Reading) -> str:
    return "\n".join([*reading.report.links, *reading.report.notes])


def columns(header: str, *rows: str) -> str:
    return "\n".join([header, *rows]) + "\n"


def test_rows_are_kept_with_all_that_they_say(tmp_path: Path) -> None:
    text = columns(
        "sender_iban;receiver_iban;Buchungstag;Betrag;Zahlungsart;Zweck",
        "a;b;31.01.2025;1.234,50 €;Karte;Miete",
        "b;a;01.02.2025;-12,00 €;Bar;",
        "a;c;02.02.2025;7,25 €;Karte;Brot",
    )
    reading = table(tmp_path, text)
    links = links_of(reading)
    meaning = links.meaning
    assert (meaning.time, meaning.amount, meaning.kind) == ("Buchungstag", "Betrag", "Zahlungsart")
    assert (meaning.unit, meaning.precision, meaning.kinds) == ("EUR", "dates", ("Karte", "Bar"))
    assert links.amount is not None
    assert sorted(links.amount) == [-12, 7.25, 1234.5]
    assert links.other.column("Zweck").to_pylist() == ["Miete", "Brot", None]
    assert "3 transfers, 2025-01-31 to 2025-02-02, amounts from -12 to 1,234.50 EUR (Betrag)" in said(reading)
    assert "Time: 'Buchungstag' (dates, day first)." in said(reading)
    assert "Amount: 'Betrag' (decimal comma, dot between thousands, EUR)." in said(reading)


@pytest.mark.parametrize(
    ("header", "row", "parts"),
    [
        ("source,target,value,timestamp", "{a},{b},1.5,1700000000", ("timestamp", "value", None)),
        (
            "src_ip,dst_ip,start_time,bytes,proto",
            "{a},{b},2025-01-01 10:00,99,t",
            ("start_time", "bytes", "proto"),
        ),
        (
            "caller,callee,date,duration,call_type",
            "{a},{b},2025-01-01,6,s",
            ("date", "duration", "call_type"),
        ),
        ("owner,owned,relation,share,since", "{a},{b},director,12 %,1999", ("since", "share", "relation")),
        ("rater,ratee,rating,time", "{a},{b},-10,1289241911.7", ("time", "rating", None)),
        ("nameOrig,nameDest,step,type,amount", "{a},{b},1,CASH_OUT,12.5", ("step", "amount", "type")),
        (
            "emetteur,destinataire,date,montant,canal",
            '{a},{b},3 mai 2025,"5,2",w',
            ("date", "montant", "canal"),
        ),
        (
            "ordenante,beneficiario,fecha,importe,tipo",
            "{a},{b},03/05/2025,5.2,w",
            ("fecha", "importe", "tipo"),
        ),
        ("from,to,foo,bar", "{a},{b},2025-01-01,€ 5.20", ("foo", "bar", None)),
        ("Date,From Account,To Account,Debit,Credit", "1/2/25,{a},{b},$5.20,", ("Date", "Debit", None)),
        ("DATUM,ZAHLER,EMPFAENGER,Betrag in €", "20250131,{a},{b},5.2-", ("DATUM", "Betrag in €", None)),
        ("A-Number,B-Number,Start,Duration,Cost", "{a},{b},2025-01-02,1:05,0.20 €", ("Start", "Cost", None)),
        ("from,to,time,amount", "{a},{b},soon,lots", (None, None, None)),
        ("from,to,amount_id,time_zone", "{a},{b},5,UTC", (None, None, None)),
    ],
)
def test_parts_are_recognised_by_name_and_content(
    tmp_path: Path, header: str, row: str, parts: tuple
) -> None:
    ends = [("a", "b"), ("b", "c"), ("a", "c"), ("c", "d")]
    path = write(tmp_path / "e.csv", columns(header, *(row.format(a=a, b=b) for a, b in ends)))
    guess = peek(path).guess
    assert (guess.time, guess.amount, guess.kind) == parts
    meaning = links_of(read(path)).meaning
    assert (meaning.time, meaning.amount, meaning.kind) == parts


@pytest.mark.parametrize(
    ("name", "unit"),
    [("Betrag in €", "EUR"), ("amount_usd", "USD"), ("share %", "%"), ("total bytes", "bytes")],
)
def test_the_name_of_a_column_tells_the_unit(tmp_path: Path, name: str, unit: str) -> None:
    assert links_of(table(tmp_path, columns(f"from,to,{name}", "a,b,1", "b,c,2"))).meaning.unit == unit


def test_a_part_can_be_chosen_or_refused(tmp_path: Path) -> None:
    text = columns("source,target,x,amount,when", "a,b,1,5,2025-01-01", "b,c,2,6,2025-01-02")
    meaning = links_of(table(tmp_path, text, amount="x", time="")).meaning
    assert (meaning.amount, meaning.time) == ("x", None)
    with pytest.raises(InputError, match="no column 'nope' for the time"):
        table(tmp_path, text, time="nope")


@pytest.mark.parametrize(
    ("rule", "weight"), [(None, 3), ("count", 3), ("sum", 45), ("mean", 15), ("largest", 30), ("one", 1)]
)
def test_repeated_links_make_a_weight_as_chosen(tmp_path: Path, rule: str | None, weight: float) -> None:
    reading = table(tmp_path, TRANSFERS, repeats=rule)
    assert edge_weights(reading.graph)[frozenset("ab")] == weight
    assert len(links_of(reading)) == len(ROWS)
    assert f"(repeats = {rule or 'count'})" in said(reading)


def test_a_rule_that_is_not_known_is_refused() -> None:
    with pytest.raises(InputError, match="one of count, sum, mean, largest, one"):
        Mapping.from_json({"repeats": "most"})


def test_amounts_below_zero_are_fine_but_no_weight(tmp_path: Path) -> None:
    text = columns("source,target,rating", "a,b,-10", "b,a,3", "b,c,-1")
    reading = table(tmp_path, text)
    assert links_of(reading).amount is not None
    assert "amounts from -10 to 3" in said(reading)
    with pytest.raises(InputError, match="not above 0"):
        table(tmp_path, text, repeats="sum")


def both(tmp_path: Path, transfers: str, **mapping: object) -> Reading:
    nodes = write(tmp_path / "nodes.csv", NODES)
    return read(nodes, edges=write(tmp_path / "transfers.csv", transfers), mapping=Mapping(**mapping))  # type: ignore[arg-type]


def test_links_to_unknown_nodes_are_left_out_and_listed_or_added(tmp_path: Path) -> None:
    text = TRANSFERS + "a,stranger,9\n"
    left = both(tmp_path, text)
    assert len(links_of(left)) == len(ROWS)
    assert [(d.line, d.reason) for d in left.report.dropped] == [(7, "no node 'stranger' in the node table")]
    assert "1 edge left out: an end is not in the node table ('stranger')" in said(left)
    added = both(tmp_path, text, unknown="add")
    assert "stranger" in added.graph.node_ids
    assert len(links_of(added)) == len(ROWS) + 1
    assert "1 end of links that is not in the node table added" in said(added)


def test_times_that_cannot_be_read_are_said_and_kept_as_written(tmp_path: Path) -> None:
    rows = [f"a,b,2025-01-{d:02d}" for d in range(1, 10)]
    reading = table(tmp_path, columns("source,target,date", *rows, "b,c,soon"))
    links = links_of(reading)
    assert links.time is not None
    assert np.isnan(links.time).sum() == 1
    assert "soon" in links.other.column("date").to_pylist()
    assert "'soon'" in said(reading)
    assert "line 11" in said(reading)


def test_a_time_column_of_nonsense_is_said_and_kept(tmp_path: Path) -> None:
    reading = table(tmp_path, columns("source,target,amount,x", "a,b,1,soon", "b,c,2,later"), time="x")
    assert links_of(reading).time is None
    assert links_of(reading).other.column("x").to_pylist() == ["soon", "later"]
    assert "Column 'x': none of its values can be read as a time." in said(reading)


def test_mixed_time_zones_are_brought_together_and_said(tmp_path: Path) -> None:
    rows = ("a,b,2025-03-01T12:00:00+01:00", "a,b,2025-03-01T12:00:00-05:00", "b,c,2025-03-01T12:00:00Z")
    reading = table(tmp_path, columns("source,target,time", *rows))
    links = links_of(reading)
    assert links.time is not None
    assert (np.diff(links.time[links.sent(0, 1)]) / 3600).tolist() == [6]
    assert "Times of 3 zones (-05:00, UTC, +01:00) were brought to UTC." in said(reading)
    assert links.other.column("time").to_pylist()[0].endswith("+01:00")


def test_two_currencies_in_the_cells_are_said_and_kept(tmp_path: Path) -> None:
    reading = table(tmp_path, columns("source,target,amount", "a,b,€ 5.00", "b,c,$6.00", "c,d,€ 7.00"))
    links = links_of(reading)
    assert "Column 'amount': 2 currencies ($, EUR); numbers are kept as written." in said(reading)
    assert links.meaning.unit == ""
    assert links.other.column("amount (currency)").to_pylist() == ["EUR", "$", "EUR"]


def test_two_currencies_in_a_column_of_their_own_are_said(tmp_path: Path) -> None:
    reading = table(tmp_path, columns("source,target,amount,currency", "a,b,5,EUR", "b,c,6,USD"))
    assert "2 currencies (column 'currency': 'EUR', 'USD')" in said(reading)
    one = table(tmp_path, columns("source,target,amount,currency", "a,b,5,EUR", "b,c,6,EUR"))
    assert links_of(one).meaning.unit == "EUR"


def test_a_hundred_thousand_kinds_are_kept_and_told(tmp_path: Path) -> None:
    n = 100_000
    frame = pd.DataFrame(
        {"source": np.arange(n) % 50, "target": np.arange(n) % 49 + 100, "kind": np.arange(n)}
    )
    frame.loc[:9, "kind"] = -1
    frame["kind"] = "k" + frame["kind"].astype(str)
    frame.to_csv(tmp_path / "links.csv", index=False)
    reading = read(tmp_path / "links.csv")
    assert len(links_of(reading).meaning.kinds) == n - 9
    assert links_of(reading).meaning.kinds[0] == "k-1"
    assert "Column 'kind' has 99,991 kinds: all are kept" in said(reading)
    assert sum(name.startswith("share of") for name in reading.graph.derived) <= 9


def test_time_that_runs_backwards_is_said_and_sorted(tmp_path: Path) -> None:
    reading = table(tmp_path, columns("source,target,step", "a,b,3", "a,b,2", "a,b,1", "b,c,1"))
    links = links_of(reading)
    assert links.time is not None
    assert (links.time[:3] / 86_400).tolist() == [1, 2, 3]
    assert "Rows are not in the order of 'step': the links of each pair are sorted by it." in said(reading)


def test_a_day_and_its_clock_in_two_columns_are_one_time(tmp_path: Path) -> None:
    rows = ("a,b,01/31/2025,10:15 PM", "b,c,02/01/2025,1:05 AM")
    reading = table(tmp_path, columns("caller,callee,Call Date,Call Time", *rows))
    assert links_of(reading).meaning.precision == "clock"
    assert "with the time of day in 'Call Time'" in said(reading)


def test_columns_that_tell_the_answer_are_left_out_and_said(tmp_path: Path) -> None:
    reading = table(tmp_path, columns("source,target,amount,isFraud", "a,b,1,0", "b,c,2,1"))
    assert links_of(reading).other.num_columns == 0
    assert "'isFraud' tells the answer and is left out" in said(reading)


def test_a_class_of_known_and_unknown_nodes_is_an_answer(tmp_path: Path) -> None:
    nodes = write(tmp_path / "n.csv", "txId,class,age\na,1,5\nb,2,6\nc,unknown,7\nd,unknown,8\n")
    reading = read(nodes, edges=write(tmp_path / "e.csv", TRANSFERS), mapping=Mapping(id="txId"))
    assert "'class' tells the answer and is left out" in said(reading)
    assert "class" not in reading.graph.node_table


def test_kinds_are_told_apart_without_the_spaces_around_them(tmp_path: Path) -> None:
    reading = table(tmp_path, columns("src,dst,proto", "a,b,TCP  ", "b,c,TCP", "c,d,UDP ", "d,a,-"))
    assert links_of(reading).meaning.kinds == ("TCP", "UDP")


def test_a_graph_whose_nodes_have_no_columns_learns_from_the_derived_ones(tmp_path: Path) -> None:
    assert "the model learns from the derived columns" in said(table(tmp_path, TRANSFERS))
    assert "each node is its own attribute" in said(table(tmp_path, "source,target\na,b\nb,c\n"))


def test_derived_columns_can_be_left_out(tmp_path: Path) -> None:
    every = list(table(tmp_path, TRANSFERS).graph.derived)
    assert "total in" in every
    fewer = list(table(tmp_path, TRANSFERS, ignore=("total in", "links_out")).graph.derived)
    assert sorted(set(every) - set(fewer)) == ["total in", "transfers out"]


def test_a_bare_list_of_ratings_and_times_is_read_by_its_content(tmp_path: Path) -> None:
    rows = ("6,2,4,1289241911.72836", "6,5,-2,1289241941.53378", "1,15,1,1289243140.39049")
    meaning = links_of(table(tmp_path, "\n".join(rows) + "\n", "soc-sign-bitcoinotc.csv")).meaning
    assert (meaning.time, meaning.amount, meaning.precision) == ("time", "amount", "clock")
    times = table(tmp_path, "1 2 1082040961\n3 4 1082155839\n1 2 1082414391\n", "CollegeMsg.txt")
    assert links_of(times).meaning.time == "time"
    signed = table(tmp_path, "1 2 -1\n2 3 1\n", "signs.txt")
    assert links_of(signed).meaning.amount == "amount"
    weighted = table(tmp_path, "1 2 0.5\n2 3 2\n", "weights.txt")
    assert edge_weights(weighted.graph)[frozenset("12")] == 0.5


def test_a_bare_table_of_features_is_no_edge_list(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no columns that are recognised as edge ends"):
        table(tmp_path, "1,1,0.5,0.25\n2,1,0.1,0.7\n", "features.csv")


def test_a_zeek_log_names_its_fields_in_a_comment(tmp_path: Path) -> None:
    text = (
        "#separator \\x09\n#unset_field\t-\n#fields\tts\tuid\tid.orig_h\tid.resp_h\tproto\torig_bytes\n"
        "#types\ttime\tstring\taddr\taddr\tenum\tcount\n"
        "1700000000.5\tC1\t10.0.0.1\t10.0.0.2\ttcp\t99\n1700000001.5\tC2\t10.0.0.2\t10.0.0.3\tudp\t-\n"
        "#close\t2025-01-31-00-00-00\n"
    )
    reading = table(tmp_path, text, "conn.log")
    meaning = links_of(reading).meaning
    assert (meaning.time, meaning.amount, meaning.kind) == ("ts", "orig_bytes", "proto")
    assert reading.graph.n_nodes == 3


def test_both_ends_may_have_one_name(tmp_path: Path) -> None:
    header = "Timestamp,From Bank,Account,To Bank,Account,Amount Paid,Payment Format"
    rows = ("2022/09/01 00:20,10,A1,10,A2,3697.34,Wire", "2022/09/01 00:21,11,A2,12,A3,0.01,ACH")
    reading = table(tmp_path, columns(header, *rows))
    assert list(reading.graph.node_ids) == ["A1", "A2", "A3"]
    assert links_of(reading).meaning.kind == "Payment Format"


def graph_with_links() -> nx.MultiDiGraph:
    graph = nx.MultiDiGraph()
    for k, (a, b, amount) in enumerate(ROWS):
        graph.add_edge(a, b, time=f"2025-01-0{k + 1}", amount=amount, kind="wire" if k % 2 else "cash")
    return graph


def as_table(graph: nx.MultiDiGraph) -> pd.DataFrame:
    return pd.DataFrame([{"source": a, "target": b, **told} for a, b, told in graph.edges(data=True)])


def _cytoscape(graph: nx.MultiDiGraph) -> dict:
    nodes = [{"data": {"id": n}} for n in graph]
    return {"elements": {"nodes": nodes, "edges": [{"data": r} for r in as_table(graph).to_dict("records")]}}


WRITERS = {
    "e.csv": lambda g, p: as_table(g).to_csv(p, index=False),
    "e.parquet": lambda g, p: as_table(g).to_parquet(p),
    "typed.parquet": lambda g, p: as_table(g).assign(time=lambda t: pd.to_datetime(t["time"])).to_parquet(p),
    "e.jsonl": lambda g, p: as_table(g).to_json(p, orient="records", lines=True),
    "g.graphml": nx.write_graphml,
    "g.gexf": nx.write_gexf,
    "g.json": lambda g, p: p.write_text(json.dumps(nx.node_link_data(g, edges="links"))),
    "g.cyjs": lambda g, p: p.write_text(json.dumps(_cytoscape(g))),
}


@pytest.mark.parametrize("name", WRITERS)
def test_every_format_with_edge_attributes_carries_links(tmp_path: Path, name: str) -> None:
    WRITERS[name](graph_with_links(), tmp_path / name)
    reading = read(tmp_path / name)
    links, ids = links_of(reading), reading.graph.node_ids
    assert (links.time is not None, links.amount is not None) == (True, True)
    kinds = links.kind_names(np.arange(len(links)))
    seen = sorted(zip(ids[links.source], ids[links.target], links.amount.tolist(), kinds))  # type: ignore[union-attr]
    assert seen == sorted((a, b, v, "wire" if k % 2 else "cash") for k, (a, b, v) in enumerate(ROWS))
    assert str(np.datetime64(int(links.time.max()), "s")) == "2025-01-05T00:00:00"  # type: ignore[union-attr]
