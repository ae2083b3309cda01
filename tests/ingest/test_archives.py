"""Folders, .zip and .gz of every kind of file; mapping.json beside the tables."""

from __future__ import annotations

import gzip
import json
import zipfile
from pathlib import Path

import networkx as nx
import pytest

from gadcore.errors import InputError
from gadcore.ingest import Mapping, read, read_graph

from .files import club, edge_weights, write

NODES = "account_id,name,age,is_fraud,fraud_kind\n01,Ann,30,1,mule\n02,Bob,40,0,\n03,Cy,50,0,\n"
EDGES = "source,target,amount\n01,02,5\n02,03,7\n"


def folder_of(path: Path) -> Path:
    path.mkdir(exist_ok=True)
    write(path / "accounts.csv", NODES)
    write(path / "transfers.csv", EDGES)
    write(path / "README.txt", "not a table\n")
    write(path / ".hidden.csv", "x\n")
    return path


def test_folder_of_tables(tmp_path: Path) -> None:
    reading = read(folder_of(tmp_path / "bank"))
    assert reading.graph.name == "bank"
    assert list(reading.graph.node_ids) == ["01", "02", "03"]
    assert reading.truth is not None
    assert reading.truth.y.tolist() == [1, 0, 0]
    assert [c for c in reading.graph.node_table if c not in reading.graph.derived] == ["name", "age"]
    assert any("fraud_kind" in note for note in reading.report.notes)


def test_mapping_file_of_a_folder_is_honoured_and_the_callers_mapping_wins(tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "bank")
    mapping = {"id": "account_id", "weight": "amount", "ignore": ["age", "fraud_kind"], "truth": "is_fraud"}
    write(folder / "mapping.json", json.dumps(mapping))
    reading = read(folder)
    assert sorted(edge_weights(reading.graph).values()) == [5.0, 7.0]
    assert "age" not in reading.graph.node_table
    assert set(edge_weights(read_graph(folder, mapping=Mapping(weight=""))).values()) == {1.0}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "not readable JSON"),
        ("[1]", "holds a list"),
        ('{"ids": "x"}', "unknown fields 'ids'"),
        ('{"ignore": "age"}', "'ignore' is 'age'"),
        ('{"id": 7}', "'id' is 7"),
    ],
)
def test_broken_mapping_file_is_explained(tmp_path: Path, text: str, message: str) -> None:
    folder = folder_of(tmp_path / "bank")
    write(folder / "mapping.json", text)
    with pytest.raises(InputError, match=message):
        read(folder)


def test_zip_of_a_folder_equals_the_folder(tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "bank")
    write(folder / "mapping.json", '{"weight": "amount"}')
    with zipfile.ZipFile(tmp_path / "bank.zip", "w") as archive:
        for file in folder.iterdir():
            archive.write(file, f"bank/{file.name}")
        archive.writestr("__MACOSX/bank/._accounts.csv", "x")
    assert read_graph(tmp_path / "bank.zip").fingerprint == read_graph(folder).fingerprint


@pytest.mark.parametrize("pack", ["zip", "gz", "zip of gz", "folder"])
def test_packed_documents(tmp_path: Path, pack: str) -> None:
    nx.write_graphml(club(), tmp_path / "club.graphml")
    data = (tmp_path / "club.graphml").read_bytes()
    if pack == "gz":
        path = write(tmp_path / "club.graphml.gz", gzip.compress(data))
    elif pack == "folder":
        (tmp_path / "f").mkdir()
        path = write(tmp_path / "f" / "club.graphml", data).parent
    else:
        path = tmp_path / "club.zip"
        with zipfile.ZipFile(path, "w") as archive:
            if pack == "zip":
                archive.writestr("club.graphml", data)
            else:
                archive.writestr("club.graphml.gz", gzip.compress(data))
    assert read_graph(path).fingerprint == read_graph(tmp_path / "club.graphml").fingerprint


def test_several_node_and_edge_files_are_put_together(tmp_path: Path) -> None:
    write(tmp_path / "people.csv", "id:ID,age:int,:LABEL\np1,30,Person\np2,40,Person\n")
    write(tmp_path / "firms.csv", "id:ID,size:int,:LABEL\nf1,9,Firm\n")
    write(tmp_path / "works.csv", ":START_ID,:END_ID,:TYPE\np1,f1,WORKS\n")
    write(tmp_path / "knows.csv", ":START_ID,:END_ID,:TYPE\np1,p2,KNOWS\n")
    graph = read_graph(tmp_path)
    assert sorted(graph.node_ids) == ["f1", "p1", "p2"]
    assert set(edge_weights(graph)) == {frozenset(("p1", "f1")), frozenset(("p1", "p2"))}
    assert set(graph.feature_columns) - set(graph.derived) == {"age", "size", ":LABEL"}


def test_tables_are_told_apart_by_file_name_and_content(tmp_path: Path) -> None:
    write(tmp_path / "nodes.csv", "who,age\na,1\nb,2\nc,3\n")
    write(tmp_path / "edges.csv", "day,p,q\n1,a,b\n2,b,c\n")
    assert read_graph(tmp_path).n_edges == 2


def test_folders_without_one_clear_graph_are_explained(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no graph file"):
        read(tmp_path)
    nx.write_gexf(club(), tmp_path / "one.gexf")
    nx.write_gexf(club(), tmp_path / "two.gexf")
    with pytest.raises(InputError, match="several graphs"):
        read(tmp_path)


@pytest.mark.parametrize("name", ["a.zip", "a.csv.gz"])
def test_truncated_archives_are_explained(tmp_path: Path, name: str) -> None:
    text = "source,target\n" + "".join(f"a{i},b{i * 7}\n" for i in range(500))
    if name == "a.zip":
        with zipfile.ZipFile(tmp_path / name, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("edges.csv", text)
    else:
        write(tmp_path / name, gzip.compress(text.encode()))
    data = (tmp_path / name).read_bytes()
    for share in (0.1, 0.5, 0.95):
        write(tmp_path / name, data[: int(len(data) * share)])
        with pytest.raises(InputError, match="cannot be unpacked"):
            read(tmp_path / name)


def test_other_archives_are_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="tar archive"):
        read(write(tmp_path / "a.tar.gz", gzip.compress(b"x" * 600)))
    with zipfile.ZipFile(tmp_path / "none.zip", "w") as archive:
        archive.writestr("picture.png", "x")
    with pytest.raises(InputError, match=r"none\.zip holds no graph file \(found: picture\.png\)"):
        read(tmp_path / "none.zip")
