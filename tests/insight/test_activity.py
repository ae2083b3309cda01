"""The table of a node's links: filtered, sorted and added up as pandas does it."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from linked_graph import KINDS, START, linked, random_transfers, stepped

from gadcore.errors import InputError
from gadcore.graph import Graph, LinkMeaning, make_graph
from gadcore.insight.activity import activity, link_table
from gadcore.records import as_json
from gadcore.records.links import Activity, LinkFilter, LinkRow

DAY = 86_400
FILTERS = [
    {},
    {"direction": "in"},
    {"direction": "out", "kind": "card"},
    {"kind": ""},
    {"counterparty": "n3"},
    {"counterparty": "name A"},
    {"since": "2025-02", "until": "2025-02"},
    {"since": "2025-01-20 12", "until": "2025-03-01", "direction": "in"},
    {"least": 40, "most": 120},
    {"least": 40, "until": "2025-02-14", "counterparty": "name", "kind": "wire"},
]


def of_node(frame: pd.DataFrame, graph: Graph, node: int = 0) -> pd.DataFrame:
    """The node's links with counterparty and direction, written down plainly."""
    own = frame[(frame.source == node) | (frame.target == node)].copy()
    own["other"] = own.target.where(own.source == node, own.source)
    own["direction"] = np.where(own.other == node, "self", np.where(own.source == node, "out", "in"))
    own["name"] = [graph.display_name(i) for i in own.other]
    own["kind_name"] = [KINDS[k] if k >= 0 else "" for k in own.kind]
    own["at"] = pd.to_datetime(own.time, unit="s")
    return own


def expected(own: pd.DataFrame, where: dict) -> pd.DataFrame:
    """Rows that pass a filter, one condition after the other."""
    if way := where.get("direction"):
        own = own[own.direction == way]
    if text := where.get("counterparty"):
        exact = [f"n{i}" == text for i in own.other]
        part = [text.lower() in f"n{i} {name}".lower() for i, name in zip(own.other, own.name)]
        own = own[exact] if any(exact) else own[part]
    if (kind := where.get("kind")) is not None:
        own = own[own.kind_name == kind]
    if since := where.get("since"):
        own = own[own["at"] >= pd.Period(since).start_time if len(since) < 11 else own["at"] >= since + ":00"]
    if until := where.get("until"):
        own = own[own["at"] < pd.Period(until).end_time]
    own = own[own.amount >= where["least"]] if "least" in where else own
    return own[own.amount <= where["most"]] if "most" in where else own


@pytest.mark.parametrize("where", FILTERS, ids=str)
@pytest.mark.parametrize("seed", [0, 1])
def test_filters_find_what_pandas_finds_and_add_it_up(where: dict, seed: int) -> None:
    graph, frame = random_transfers(seed)
    found = activity(graph, 0, LinkFilter(**where), n=1000)
    wanted = expected(of_node(frame, graph), where)
    assert len(wanted) > 0
    assert found.found == len(found.rows) == len(wanted)
    assert found.of == len(of_node(frame, graph))
    rows = sorted((row.node_id, row.direction, row.kind, row.amount or -1, *row.other) for row in found.rows)
    plain = zip(
        wanted.other, wanted.direction, wanted.kind_name, wanted.amount.fillna(-1), wanted.memo, wanted.ref
    )
    assert rows == sorted((f"n{i}", *rest) for i, *rest in plain)
    sums = wanted.groupby("direction").amount.sum()
    assert found.totals.amount_in == pytest.approx(sums.get("in", 0.0))
    assert found.totals.amount_out == pytest.approx(sums.get("out", 0.0))
    assert found.totals.counterparties == wanted.other[wanted.other != 0].nunique()
    json.dumps(as_json(found), allow_nan=False)


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize(
    ("key", "column", "of"),
    [
        ("time", "at", lambda row: row.time),
        ("amount", "amount", lambda row: row.amount),
        ("counterparty", "name", lambda row: row.name),
        ("kind", "kind_name", lambda row: row.kind),
        ("direction", "direction", lambda row: row.direction),
        ("other:memo", "memo", lambda row: row.other[0]),
        ("other:ref", "ref", lambda row: int(row.other[1])),
    ],
)
def test_any_column_sorts_with_unknown_values_last(key: str, column: str, of, descending: bool) -> None:
    graph, frame = random_transfers(3)
    shown = [of(row) for row in activity(graph, 0, sort=key, descending=descending, n=1000).rows]
    values = of_node(frame, graph)[column].replace("", None)
    if column == "ref":
        values = values.astype(int)
    wanted = sorted(values.dropna().tolist(), reverse=descending)
    if column == "at":
        wanted = [str(at)[:19].removesuffix(":00") for at in wanted]
    known = [value for value in shown if value not in ("", None)]
    assert known == wanted
    assert all(value in ("", None) for value in shown[len(known) :])


def test_pages_put_together_are_the_whole_table() -> None:
    graph, _ = random_transfers(4)
    whole = activity(graph, 0, sort="kind", n=1000)
    pages = [activity(graph, 0, sort="kind", offset=at, n=17).rows for at in range(0, whole.found, 17)]
    assert [row for page in pages for row in page] == whole.rows
    assert activity(graph, 0, offset=whole.found, n=5).rows == []


def test_the_newest_comes_first_if_nothing_else_is_asked_for() -> None:
    graph, _ = random_transfers(5, blanks=False)
    found = activity(graph, 0)
    assert (found.sort, found.descending) == ("time", True)
    times = [row.time for row in found.rows]
    assert times == sorted(times, reverse=True)


def small() -> Graph:
    """Ada pays Bo twice and Cy once, Bo pays Ada once; Ada moves money to itself."""
    time = START + np.array([0, 3 * DAY, 3 * DAY, 40 * DAY, 5 * DAY], float)
    return linked(
        3, [0, 0, 0, 1, 0], [1, 1, 2, 0, 0], names=["Ada", "Bo", "Cy"],
        time=time, amount=np.array([1000.0, 200.0, np.nan, 50.5, 7.0]), kind=np.array([0, 1, 1, -1, 0]),
    )  # fmt: skip


def test_totals_say_what_came_in_and_went_out_and_with_whom() -> None:
    found = activity(small(), 0)
    said = "50.50 EUR in, 1,200 EUR out, 5 transfers with 2 counterparties, 1 without an amount"
    assert found.totals.text == said
    assert [row.direction for row in found.rows] == ["in", "self", "out", "out", "out"]
    assert found.kinds == ["cash", "card", ""]


def test_main_counterparties_go_by_amount_or_by_number() -> None:
    graph = linked(4, [0, 0, 1, 0, 3], [1, 1, 0, 2, 0], amount=np.array([1.0, 2, 3, 500, 20]))
    assert [c.node_id for c in activity(graph, 0).counterparties] == ["n2", "n3", "n1"]
    assert [c.node_id for c in activity(graph, 0, by="count").counterparties] == ["n1", "n2", "n3"]
    first = activity(graph, 0, by="count").counterparties[0]
    assert first.text == "3 EUR in, 3 EUR out, 3 transfers"


def test_links_with_negative_amounts_are_counted_unless_amounts_are_asked_for() -> None:
    graph = linked(
        3, [0, 0], [1, 2], amount=np.array([-10.0, 2]), meaning=LinkMeaning("rating", amount="stars")
    )
    assert activity(graph, 0).by == "count"
    chosen = activity(graph, 0, by="amount")
    assert (chosen.by, chosen.counterparties[0].node_id) == ("amount", "n1")
    assert chosen.totals.text == "0 in, −8 out, 2 ratings with 2 counterparties"


def bars(found: Activity) -> list[tuple[str, str, int, int]]:
    return [
        (bar.since, bar.until, bar.links_in, bar.links_out)
        for bar in found.timeline
        if bar.links_in + bar.links_out
    ]


def test_the_timeline_has_bars_of_days_with_what_came_in_and_went_out() -> None:
    found = activity(small(), 0)
    assert found.step == "day"
    assert len(found.timeline) == 41
    assert bars(found) == [
        ("2025-01-01", "2025-01-01", 0, 1),
        ("2025-01-04", "2025-01-04", 0, 2),
        ("2025-02-10", "2025-02-10", 1, 0),
    ]
    assert found.timeline[0].text == "1 January 2025"
    assert (found.timeline[0].amount_in, found.timeline[0].amount_out) == (0, 1000)


@pytest.mark.parametrize(
    ("days", "step", "text"),
    [
        (1e-4, "second", "1 January 2025, 00:00"), (0.03, "minute", "1 January 2025, 00:00–00:00:59"),
        (0.2, "10 minutes", "1 January 2025, 00:00–00:09:59"), (2, "hour", "1 January 2025, 00:00–00:59"),
        (14, "6 hours", "1 January 2025, 00:00–05:59"), (91, "day", "1 January 2025"),
        (300, "week", "30 December 2024 – 5 January 2025"), (1500, "month", "1–31 January 2025"),
        (5000, "quarter", "1 January – 31 March 2025"), (20_000, "year", "1 January – 31 December 2025"),
        (100_000, "10 years", "1 January 2020 – 31 December 2029"),
        (3e6, "100 years", "1 January 1970 – 31 December 2069"),
    ],
)  # fmt: skip
def test_bars_are_as_fine_as_the_days_of_a_quarter_allow(days: float, step: str, text: str) -> None:
    graph = linked(2, [0, 1, 0], [1, 0, 1], time=START + np.array([0, days / 2, days]) * DAY)
    found = activity(graph, 0)
    assert (found.step, found.timeline[0].text) == (step, text)
    assert 1 < len(found.timeline) <= 92
    assert sum(bar.links_in + bar.links_out for bar in found.timeline) == 3


def test_each_bar_as_a_filter_finds_its_own_links() -> None:
    days = np.random.default_rng(6).uniform(0, 300, 80)
    graph = linked(2, np.arange(80) % 2, (np.arange(80) + 1) % 2, time=START + days * DAY)
    found = activity(graph, 0)
    assert found.step == "week"
    for bar in found.timeline:
        inside = activity(graph, 0, LinkFilter(since=bar.since, until=bar.until))
        assert (inside.totals.links_in, inside.totals.links_out) == (bar.links_in, bar.links_out)
        assert inside.timeline == found.timeline  # the bars stay while one of them is looked at


def test_steps_are_counted_and_filtered_as_numbers() -> None:
    graph = stepped(3, [0, 1, 0, 0], [1, 0, 2, 1], [3, 7, 7, 1240])
    found = activity(graph, 0, LinkFilter(since="3", until="7"))
    assert [row.time for row in found.rows] == ["7", "7", "3"]
    assert found.step == "20 steps"
    assert bars(found) == [("0", "19", 1, 2), ("1240", "1259", 0, 1)]
    assert found.timeline[0].text == "steps 0–19"
    assert found.totals.text == "1 in, 2 out, 3 calls with 2 counterparties"


def test_times_without_a_clock_are_days() -> None:
    meaning = LinkMeaning("call", "day", precision="dates")
    graph = linked(2, [0, 1], [1, 0], time=START + np.array([0, DAY], float), meaning=meaning)
    found = activity(graph, 0)
    assert [row.time for row in found.rows] == ["2025-01-02", "2025-01-01"]
    assert found.step == "day"


def test_links_without_times_have_no_timeline_and_come_by_amount() -> None:
    graph = linked(3, [0, 0], [1, 2], amount=np.array([1.0, 9.0]), meaning=LinkMeaning(amount="eur"))
    found = activity(graph, 0)
    assert found.timeline == []
    assert [row.amount for row in found.rows] == [9, 1]
    assert [column.key for column in found.columns] == ["direction", "counterparty", "amount"]


def test_a_node_without_links_has_an_empty_table() -> None:
    graph = linked(3, [0], [1], time=np.array([START]))
    found = activity(graph, 2, LinkFilter(counterparty="x"))
    assert (found.found, found.of, found.rows, found.timeline) == (0, 0, [], [])
    assert found.totals.text == "0 in, 0 out, 0 transfers with 0 counterparties"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"where": LinkFilter(since="soon")}, "'soon' names no time"),
        ({"where": LinkFilter(until="2025-13")}, "'2025-13' names no time"),
        ({"where": LinkFilter(direction="up")}, "a direction 'up'"),
        ({"sort": "colour"}, "a column 'colour' to sort by"),
        ({"by": "weight"}, "bars by 'weight'"),
    ],
)
def test_what_cannot_be_understood_is_said(given: dict, said: str) -> None:
    with pytest.raises(InputError, match=said):
        activity(small(), 0, **given)


def test_conditions_on_what_links_do_not_have_are_refused() -> None:
    graph = stepped(2, [0], [1], [1])
    with pytest.raises(InputError, match="the calls have no amounts"):
        activity(graph, 0, LinkFilter(least=1))
    with pytest.raises(InputError, match="the calls have no kinds"):
        activity(graph, 0, LinkFilter(kind="x"))
    with pytest.raises(InputError, match="'2025-01' names no step"):
        activity(graph, 0, LinkFilter(since="2025-01"))


def test_a_graph_without_links_says_so() -> None:
    with pytest.raises(InputError, match="no more than who is linked with whom"):
        activity(make_graph(["a", "b"], np.array([[0], [1]])), 0)


def test_the_file_has_the_columns_of_the_source_and_no_formulas() -> None:
    graph, _ = random_transfers(7, blanks=False)
    where = LinkFilter(direction="out")
    table = link_table(graph, 0, where)
    assert list(table.columns) == [
        "source",
        "source name",
        "target",
        "target name",
        "when",
        "eur",
        "channel",
        "memo",
        "ref",
    ]
    assert len(table) == activity(graph, 0, where).found
    assert set(table["source"]) == {"n0"}
    assert table["when"].is_monotonic_increasing
    evil = linked(2, [0], [1], names=["=1+1", "Bo"], time=np.array([START]), amount=np.array([-5.0]))
    assert link_table(evil, 0)[["source name", "eur"]].to_numpy().tolist() == [["'=1+1", -5.0]]


def test_a_row_tells_both_the_name_and_the_id_of_the_counterparty() -> None:
    row = activity(small(), 1, LinkFilter(direction="out")).rows[0]
    assert row == LinkRow("out", "n0", "Ada", "2025-02-10 00:00", 50.5, "", [])
