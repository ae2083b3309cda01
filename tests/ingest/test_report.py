"""The preflight report says everything that was found and changed; peek tells the columns beforehand."""

from __future__ import annotations

from pathlib import Path

import networkx as nx
import pytest

from gadcore.errors import InputError
from gadcore.ingest import Mapping, peek, read

from .files import club, write

NODES = "id,Label,age,town,mail,is_fraud\n" + "".join(
    f"n{i},Name {i},{i if i % 5 else ''},{'Lyon' if i % 2 else 'Köln'},m{i}@x.org,{int(i == 3)}\n"
    for i in range(30)
)
EDGES = "source,target,weight\nn0,n1,2\nn1,n0,1\nn1,n2,1\nn1,n2,4\nn3,n3,1\nn4,ghost,1\n" + "".join(
    f"n{i},n{i + 1},1\n" for i in range(5, 20)
)


@pytest.fixture
def bank(tmp_path: Path) -> Path:
    write(tmp_path / "accounts.csv", NODES)
    write(tmp_path / "transfers.csv", EDGES)
    return tmp_path


def test_report_counts_and_notes(bank: Path) -> None:
    report = read(bank).report
    assert (report.n_nodes, report.n_edges) == (30, 17)
    notes = "\n".join(report.notes)
    for words in (
        "1 self-loop kept among the links",
        "1 duplicate edge merged",
        "1 edge given in both directions",
        "11 nodes without an edge kept",
        "Edge weights from 1 to 4",
        "1 edge left out",
        "mail (identifier)",
    ):
        assert words in notes
    assert report.truth_counts == {"anomalous": 1, "normal": 29, "unknown": 0}
    assert report.degree["isolated"] == 11
    assert report.components["largest"] == 16


def test_report_describes_columns(bank: Path) -> None:
    columns = {c.name: c for c in read(bank).report.columns}
    assert set(columns) == {"Label", "age", "town", "mail"}
    assert (columns["age"].kind, columns["age"].missing, columns["age"].features) == ("number", 6, 2)
    assert (columns["Label"].kind, columns["Label"].features) == ("name", 0)
    assert columns["town"].example == "Köln"
    assert columns["mail"].features == 0


def test_report_text_is_for_people(bank: Path) -> None:
    text = read(bank).report.text()
    for words in (
        "30 nodes, 17 edges",
        "age",
        "6 missing",
        "transfers.csv:7  no node 'ghost' in the node table",
        "truth (kept apart, for experiments only): 1 anomalous, 29 normal",
    ):
        assert words in text


def test_truth_never_reaches_the_graph(bank: Path) -> None:
    graph = read(bank).graph
    assert "is_fraud" not in graph.node_table
    assert not [n for n in (*graph.feature_names, *graph.feature_columns) if "fraud" in n]
    assert "is_fraud" not in str(graph.extra["encoders"])


def test_label_column_of_zeros_and_ones_is_no_name_and_no_attribute(tmp_path: Path) -> None:
    nodes = write(tmp_path / "n.csv", "id,label,age\na,0,1\nb,1,2\n")
    reading = read(nodes, edges=write(tmp_path / "e.csv", "source,target\na,b\n"))
    assert reading.truth is None
    assert reading.graph.feature_names == ("age",)
    assert "label" not in reading.graph.node_table
    assert any("looks like known answers" in note for note in reading.report.notes)


def test_missing_attributes_are_said(tmp_path: Path) -> None:
    report = read(write(tmp_path / "e.csv", "source,target\na,b\n")).report
    assert any("X = I" in note for note in report.notes)
    assert any("No node table" in note for note in report.notes)


def test_peek_guesses_the_mapping(bank: Path) -> None:
    found = peek(bank)
    assert found.node_columns == ["id", "Label", "age", "town", "mail", "is_fraud"]
    assert found.edge_columns == ["source", "target", "weight"]
    expected = Mapping("id", "Label", None, (), "is_fraud", "source", "target", "weight")
    assert found.guess == expected
    assert read(bank, mapping=found.guess).graph.fingerprint == read(bank).graph.fingerprint


def test_peek_hides_columns_that_tell_the_answer(tmp_path: Path) -> None:
    write(tmp_path / "n.csv", "id,is_fraud,fraud_kind,label\na,1,mule,1\nb,0,,0\n")
    guess = peek(tmp_path / "n.csv", write(tmp_path / "e.csv", "source,target\na,b\n")).guess
    assert guess.ignore == ("fraud_kind", "label")
    assert guess.label is None


def test_peek_leaves_open_what_it_cannot_tell(tmp_path: Path) -> None:
    found = peek(write(tmp_path / "e.csv", "day,p,q,amount\n1,a,b,2\n2,b,c,3\n"))
    assert found.edge_columns == ["day", "p", "q", "amount"]
    assert found.guess.source is None


def test_peek_of_documents_matrices_and_broken_files(tmp_path: Path) -> None:
    nx.write_graphml(club(), tmp_path / "g.graphml")
    found = peek(tmp_path / "g.graphml")
    assert found.format == "GraphML"
    assert "town" in found.node_columns
    write(tmp_path / "a.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 2 1\n")
    assert peek(tmp_path / "a.mtx").node_columns == []
    with pytest.raises(InputError, match="empty"):
        peek(write(tmp_path / "e.csv", ""))
