"""Every way in which a table can be wrong gives one InputError: where, what was expected, what to do."""

from __future__ import annotations

from pathlib import Path

import pytest

from gadcore.errors import InputError
from gadcore.ingest import Mapping, read

from .files import write

NODES = "id,age\na,1\nb,2\nc,3\n"
EDGES = "source,target\na,b\nb,c\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"e\.csv is empty"),
        (" \n\n", r"e\.csv is empty"),
        ("source,target\n", "a header but no rows"),
        ("# only\n# comments\n", "comments only"),
        ("source,target\na,b\nb,c,d\n", "line 3 has 3 fields.*Expected: 2"),
        ("source,target,weight\na,b,1\nb\n", "line 3 has 1 field"),
        ('source,target\na,"b\nb,c\n', "never closed"),
        ("source,target\na,b\nb,\n", r"line 3: column 'target' is empty"),
        ("source,target,target\na,b,c\n", "two columns named 'target'"),
        ("source,target,weight\na,b,1\nb,c,-2\n", r"line 3: weight '-2'.*above 0"),
        ("source,target,weight\na,b,1\nb,c,nan\n", r"line 3: weight 'nan'"),
        ("source,target,weight\na,b,1\nb,c,inf\n", r"line 3: weight 'inf'"),
        ("source,target,weight\na,b,1\nb,c,1e99\n", r"line 3: weight '1e99'"),
        ("source,target,weight\na,b,1\nb,c,\n", r"line 3: weight ''"),
        ("source,target,weight\na,b,heavy\n", r"line 2: weight 'heavy'"),
        ("city,age,country,zip\na,1,FR,02\nb,2,DE,03\n", "no columns that are recognised as edge ends"),
    ],
)
def test_wrong_edge_table(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read(write(tmp_path / "e.csv", text))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("id,age\na,1\nb,2\na,3\n", r"line 4: node id 'a' was already used \(n\.csv, line 2\)"),
        ("id,age\na,1\n,2\n", r"line 3: column 'id' is empty"),
        ("id,age\na,1\nb,inf\n", r"line 3: column 'age' holds an infinite number"),
        ("id,age\n", "holds no node"),
        ("age,town\n1,x\n1,x\n", "no column that can be the node id"),
        ("id,is_fraud\na,1\nb,maybe\n", r"line 3: truth column 'is_fraud' holds 'maybe'"),
    ],
)
def test_wrong_node_table(tmp_path: Path, text: str, message: str) -> None:
    edges = write(tmp_path / "e.csv", EDGES)
    with pytest.raises(InputError, match=message):
        read(write(tmp_path / "n.csv", text), edges=edges)


def test_every_message_says_what_was_expected(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        read(write(tmp_path / "e.csv", "source,target,weight\na,b,-1\n"))
    assert "e.csv" in caught.value.found
    assert caught.value.expected
    assert caught.value.fix
    assert "To do:" in str(caught.value)


@pytest.mark.parametrize("damaged", ["à,b\nb,c".encode() + b"\xe9\n", b"a,b\nb,\x81\n", b"a,b\nb,\x00\xe9\n"])
def test_what_is_neither_utf8_nor_windows_text_names_line_and_byte(tmp_path: Path, damaged: bytes) -> None:
    path = write(tmp_path / "e.csv", b"source,target\n" + damaged)
    with pytest.raises(InputError, match=r"line 3: byte 0x\w\w is not UTF-8"):
        read(path)


def test_stray_dangling_edges_are_listed_with_lines(tmp_path: Path) -> None:
    nodes = write(tmp_path / "n.csv", NODES)
    edges = write(tmp_path / "e.csv", "source,target\na,b\nghost,b\nb,c\na,c\nc,b\n")
    reading = read(nodes, edges=edges)
    assert reading.graph.n_edges == 3
    assert [(d.file, d.line) for d in reading.report.dropped] == [("e.csv", 3)]
    assert "ghost" in reading.report.dropped[0].reason
    assert "e.csv:3" in reading.report.text()


@pytest.mark.parametrize(
    ("ends", "hint"),
    [
        ("a ,b \nb ,c ", "spaces"),
        ("A,B\nB,C", "case"),
        ("0a,0b\n0b,0c", "leading zeros"),
        ("x,y\ny,z", "exactly"),
    ],
)
def test_mostly_dangling_edges_are_an_error_with_a_hint(tmp_path: Path, ends: str, hint: str) -> None:
    nodes = write(tmp_path / "n.csv", NODES)
    edges = write(tmp_path / "e.csv", f"source,target\n{ends}\na,b\n")
    with pytest.raises(InputError, match=f"2 of 3 edges.*{hint}"):
        read(nodes, edges=edges)


def test_zero_weight_is_no_edge_and_is_listed(tmp_path: Path) -> None:
    reading = read(write(tmp_path / "e.csv", "source,target,weight\na,b,1\nb,c,0\n"))
    assert reading.graph.n_edges == 1
    assert sorted(reading.graph.node_ids) == ["a", "b", "c"]
    assert reading.report.dropped[0].line == 3


def test_wrong_mapping_lists_the_columns(tmp_path: Path) -> None:
    nodes, edges = write(tmp_path / "n.csv", NODES), write(tmp_path / "e.csv", EDGES)
    for mapping, part in (
        (Mapping(source="src"), "source"),
        (Mapping(id="key"), "node id"),
        (Mapping(truth="bad"), "truth"),
        (Mapping(attributes=("income",)), "attribute"),
        (Mapping(weight="amount"), "weight"),
    ):
        with pytest.raises(InputError, match=f"has no column .* for the {part}; it has"):
            read(nodes, edges=edges, mapping=mapping)


def test_truth_cannot_be_an_attribute(tmp_path: Path) -> None:
    nodes, edges = write(tmp_path / "n.csv", "id,bad\na,1\nb,0\nc,0\n"), write(tmp_path / "e.csv", EDGES)
    with pytest.raises(InputError, match="both the truth and an attribute"):
        read(nodes, edges=edges, mapping=Mapping(truth="bad", attributes=("bad",)))


def test_unknown_paths_and_formats(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no file or folder"):
        read(tmp_path / "nowhere.csv")
    with pytest.raises(InputError, match="unknown format 'xls'"):
        read(write(tmp_path / "e.csv", EDGES), format="xls")
    with pytest.raises(InputError, match="binary file of an unknown kind"):
        read(write(tmp_path / "e.bin", b"\x00\x01\x02" * 40))
    with pytest.raises(InputError, match="not a readable Parquet file"):
        read(write(tmp_path / "e.parquet", b"PAR1" + b"\x07" * 50))
    with pytest.raises(InputError, match="line 2 is not JSON"):
        read(write(tmp_path / "e.jsonl", '{"source": "a", "target": "b"}\n{\n'))


def test_format_overrides_the_name(tmp_path: Path) -> None:
    assert read(write(tmp_path / "edges.dat", EDGES), format="csv").graph.n_edges == 2
    assert read(write(tmp_path / "edges.dat", EDGES)).graph.n_edges == 2
