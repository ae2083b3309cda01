"""Edge and node tables: CSV, TSV, Parquet, edge lists; the column names of other tools; ids as written."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from gadcore.errors import InputError
from gadcore.graph import Graph
from gadcore.ingest import Mapping, read, read_graph

from .files import IDS, assert_well_formed, edge_weights, write


def ring(ids: list[str]) -> pd.DataFrame:
    return pd.DataFrame(
        {"source": ids, "target": ids[1:] + ids[:1], "weight": np.arange(1, len(ids) + 1) / 2}
    )


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet", "csv.gz"])
def test_ids_are_kept_as_pandas_wrote_them(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"edges.{ending}"
    if ending == "parquet":
        ring(IDS).to_parquet(path)
    else:
        ring(IDS).to_csv(path, index=False, sep="\t" if ending == "tsv" else ",")
    graph = read_graph(path)
    assert_well_formed(graph)
    assert sorted(graph.node_ids) == sorted(IDS)
    assert edge_weights(graph)[frozenset(("007", " a b "))] == 0.5
    assert graph.n_edges == len(IDS)


def test_node_table_order_and_types_reach_the_graph(tmp_path: Path) -> None:
    nodes = pd.DataFrame(
        {"account_id": IDS, "name": [f"N{i}" for i in IDS], "age": range(10), "vip": [True, False] * 5}
    )
    nodes.to_csv(tmp_path / "nodes.csv", index=False)
    ring(IDS).to_csv(tmp_path / "edges.csv", index=False)
    graph = read_graph(tmp_path / "nodes.csv", edges=tmp_path / "edges.csv")
    assert list(graph.node_ids) == IDS
    assert graph.label_column == "name"
    assert graph.display_name(5) == "N🦊"
    assert graph.feature_names == ("age", "vip")
    assert graph.node_table["age"].tolist() == list(range(10))
    np.testing.assert_allclose(np.asarray(graph.x)[:, 0], np.arange(10) / 9, rtol=1e-6)


def test_tables_given_the_wrong_way_round_are_swapped(tmp_path: Path) -> None:
    nodes = write(tmp_path / "n.csv", "id,age\na,1\nb,2\n")
    edges = write(tmp_path / "e.csv", "source,target\na,b\n")
    assert read_graph(edges, edges=nodes).fingerprint == read_graph(nodes, edges=edges).fingerprint


@pytest.mark.parametrize(
    ("nodes", "edges", "features"),
    [
        (
            "Id,Label,Age\na,Ann,1\nb,Bob,2\n",
            "Source,Target,Type,Id,Label,Weight\na,b,Undirected,0,,3\n",
            {"Age"},
        ),
        (
            "personId:ID(Person),name,age:int,tags:string[],:LABEL\na,Ann,1,x;y,P\nb,Bob,2,y,Q\n",
            ":START_ID(Person),weight:double,:END_ID(Person),:TYPE\na,3,b,KNOWS\n",
            {"age", "tags", ":LABEL"},
        ),
        (
            "~id,~label,name:String,age:Int\na,p,Ann,1\nb,q,Bob,2\n",
            "~id,~from,~to,~label,weight:Double\ne1,a,b,knows,3\n",
            {"~label", "age"},
        ),
    ],
    ids=["gephi", "neo4j", "neptune"],
)
def test_columns_of_other_tools_are_recognised(
    tmp_path: Path, nodes: str, edges: str, features: set[str]
) -> None:
    reading = read(write(tmp_path / "n.csv", nodes), edges=write(tmp_path / "e.csv", edges))
    graph = reading.graph
    assert list(graph.node_ids) == ["a", "b"]
    assert graph.display_name(0) == "Ann"
    assert edge_weights(graph) == {frozenset("ab"): 3.0}
    assert set(graph.feature_columns) - set(graph.derived) == features


def test_snap_edge_list_with_comments(tmp_path: Path) -> None:
    path = write(tmp_path / "web.txt", "# Directed graph\n# FromNodeId\tToNodeId\n0\t01\n01\t0\n01\t2\n")
    reading = read(path)
    assert list(reading.graph.node_ids) == ["0", "01", "2"]
    assert reading.graph.n_edges == 2
    assert any("both directions" in note for note in reading.report.notes)


def test_column_names_in_a_comment(tmp_path: Path) -> None:
    path = write(tmp_path / "calls.csv", "# exported today\n#sender,day,receiver\nann,1,bob\nbob,2,cat\n")
    assert set(edge_weights(read_graph(path))) == {frozenset(("ann", "bob")), frozenset(("bob", "cat"))}


def test_space_separated_words_are_an_edge_list(tmp_path: Path) -> None:
    graph = read_graph(write(tmp_path / "friends.edgelist", "ann bob 2.5\nbob cat 1\n"))
    assert edge_weights(graph) == {frozenset(("ann", "bob")): 2.5, frozenset(("bob", "cat")): 1.0}


@pytest.mark.parametrize(
    "header", ["member_one,member_two", "member_one;member_two", "member_one|member_two"]
)
def test_unknown_names_and_delimiters(tmp_path: Path, header: str) -> None:
    delimiter = header[10]
    reading = read(write(tmp_path / "e.csv", f"{header}\na{delimiter}b\n"))
    assert list(reading.graph.node_ids) == ["a", "b"]
    assert any("member_one" in note for note in reading.report.notes)


def test_ends_are_found_by_content_beside_a_node_table(tmp_path: Path) -> None:
    nodes = write(tmp_path / "n.csv", "id,age\na,1\nb,2\nc,3\n")
    edges = write(tmp_path / "e.csv", "when,who,whom,amount\n2024,a,b,5\n2025,b,c,6\n")
    assert set(edge_weights(read_graph(nodes, edges=edges))) == {frozenset("ab"), frozenset("bc")}


def test_mapping_names_every_part(tmp_path: Path) -> None:
    nodes = write(
        tmp_path / "n.csv", "k,who,x1,secret,bad,shown\na,Ann,1,9,1,u\nb,Bob,2,8,0,v\nc,Cy,3,7,,w\n"
    )
    edges = write(tmp_path / "e.csv", "p,q,amount\na,b,2\nb,c,4\n")
    mapping = Mapping("k", "who", ("x1",), ("secret",), "bad", "p", "q", "amount")
    reading = read(nodes, edges=edges, mapping=mapping)
    graph = reading.graph
    assert graph.feature_names == ("x1",)
    assert list(graph.node_table.columns) == ["who", "x1", "shown"]
    assert graph.display_name(2) == "Cy"
    assert sorted(edge_weights(graph).values()) == [2.0, 4.0]
    assert reading.truth is not None
    assert reading.truth.y.tolist() == [1, 0, -1]


def test_empty_name_in_the_mapping_means_none(tmp_path: Path) -> None:
    nodes = write(tmp_path / "n.csv", "id,name,is_fraud\na,Ann,1\nb,Bob,0\n")
    edges = write(tmp_path / "e.csv", "source,target,weight\na,b,5\n")
    reading = read(nodes, edges=edges, mapping=Mapping(label="", truth="", weight=""))
    assert reading.truth is None
    assert "is_fraud" not in reading.graph.node_table
    assert reading.graph.label_column is None
    assert edge_weights(reading.graph) == {frozenset("ab"): 1.0}


def test_numeric_ids_of_parquet_become_plain_numbers(tmp_path: Path) -> None:
    pd.DataFrame({"source": [1, 2], "target": [2.0, 3.0]}).to_parquet(tmp_path / "e.parquet")
    assert list(read_graph(tmp_path / "e.parquet").node_ids) == ["1", "2", "3"]


def test_index_that_pandas_wrote_is_the_id(tmp_path: Path) -> None:
    pd.DataFrame({"age": [1, 2]}, index=["01", "02"]).to_csv(tmp_path / "nodes.csv")
    graph = read_graph(tmp_path / "nodes.csv", edges=write(tmp_path / "e.csv", "source,target\n01,02\n"))
    assert list(graph.node_ids) == ["01", "02"]
    assert graph.feature_names == ("age",)


def test_utf16_and_bom_are_understood(tmp_path: Path) -> None:
    for k, encoding in enumerate(("utf-16", "utf-8-sig")):
        path = write(tmp_path / f"{k}.csv", "source,target\nZoë,🦊\n".encode(encoding))
        assert list(read_graph(path).node_ids) == ["Zoë", "🦊"]


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf16_without_its_mark_is_understood(tmp_path: Path, encoding: str) -> None:
    path = write(tmp_path / "e.csv", "source,target\nZoë,🦊\n".encode(encoding))
    assert list(read_graph(path).node_ids) == ["Zoë", "🦊"]


def test_windows_text_is_read_and_the_report_says_so(tmp_path: Path) -> None:
    path = write(tmp_path / "e.csv", "source,target\na,b\nMüller,café – “x”\n".encode("cp1252"))
    reading = read(path)
    assert {"Müller", "café – “x”"} <= set(reading.graph.node_ids)
    assert any("read as Windows-1252 (line 3 " in note for note in reading.report.notes)


def test_a_table_of_people_is_a_node_table(tmp_path: Path) -> None:
    reading = read(write(tmp_path / "people.csv", "id,name,age\n1,Ada,33\n2,Ben,41\n3,Cleo,29\n"))
    assert (reading.graph.n_nodes, reading.graph.n_edges) == (3, 0)
    assert reading.graph.feature_names == ("age",)
    assert any("table of nodes" in note for note in reading.report.notes)


def test_a_table_whose_rows_name_other_rows_is_an_edge_table(tmp_path: Path) -> None:
    staff = write(tmp_path / "staff.csv", "id,manager\n1,2\n2,3\n3,1\n")
    assert read(staff).graph.n_edges == 3


def test_files_that_no_reader_takes_are_named(tmp_path: Path) -> None:
    write(tmp_path / "edges.csv", "source,target\na,b\n")
    write(tmp_path / "scan.pdf", "%PDF")
    write(tmp_path / "readme.txt", "about")
    notes = read(tmp_path).report.notes
    assert any("not read: 'readme.txt', 'scan.pdf'" in note for note in notes)


def test_line_numbers_count_quoted_line_breaks_and_blank_lines(tmp_path: Path) -> None:
    path = write(tmp_path / "e.csv", 'source,target,weight,note\na,b,1,"two\nlines"\n\nb,c,-1,x\n')
    with pytest.raises(InputError, match=r"e\.csv, line 5: weight '-1'"):
        read(path)


def test_json_lines_are_tables(tmp_path: Path) -> None:
    nodes = write(tmp_path / "nodes.jsonl", '{"id": "a", "age": 1}\n\n{"id": "b", "tags": ["x", "y"]}\n')
    edges = write(tmp_path / "edges.jsonl", '{"source": "a", "target": "b"}\n')
    graph = read_graph(nodes, edges=edges)
    assert set(graph.feature_columns) == {"age", "tags"}


def test_graph_survives_saving(tmp_path: Path) -> None:
    frame = pd.DataFrame({"id": IDS, "when": pd.date_range("2024-01-01", periods=10), "n": [1, None] * 5})
    frame.to_parquet(tmp_path / "nodes.parquet")
    ring(IDS).to_csv(tmp_path / "edges.csv", index=False)
    graph = read_graph(tmp_path)
    graph.save(tmp_path / "stored")
    again = Graph.load(tmp_path / "stored")
    assert again.fingerprint == graph.fingerprint
    assert again.extra["encoders"] == graph.extra["encoders"]
    assert list(again.node_ids) == IDS
