"""The registry of formats: every list of formats is drawn from it, and odd values are explained."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from gadcore.errors import InputError
from gadcore.ingest import formats, peek, read
from gadcore.ingest.formats.file_format import FileFormat

from .files import write
from .test_properties import write_good

ROOT = Path(__file__).resolve().parents[2]
EDGE = np.array([[0], [1]])
X = np.ones((3, 2))
Y = np.array([0, 1, 0])


def test_every_ending_and_every_word_means_one_format() -> None:
    endings = [suffix for f in (*formats.FORMATS, *formats.ARCHIVES) for suffix in f.suffixes]
    assert sorted(endings) == sorted(set(formats.suffixes()))
    assert all(suffix.startswith(".") and suffix == suffix.lower() for suffix in endings)
    words = [word for f in formats.FORMATS for word in (f.key, *f.aliases)]
    assert len(words) == len(set(words))


def test_every_format_has_a_file_of_its_own() -> None:
    shared = {"__init__", "documents", "file_format", "matrices"}
    files = {path.stem for path in (ROOT / "gadcore" / "ingest" / "formats").glob("*.py")} - shared
    assert files == {f.key for f in formats.FORMATS}


def test_readme_shows_the_registry() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    shown = readme.partition("<!-- formats -->\n")[2].partition("\n<!-- /formats -->")[0]
    assert shown == formats.markdown()


def test_messages_name_every_format(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        read(write(tmp_path / "x.bin", b"\x00\x01" * 40))
    assert all(f.name in str(caught.value) for f in formats.FORMATS)
    edges = write(tmp_path / "e.csv", "source,target\na,b\n")
    for word in ("word", "zip", "gz"):
        with pytest.raises(InputError, match=f"unknown format '{word}'") as caught:
            read(edges, format=word)
        assert all(f.key in str(caught.value) for f in formats.FORMATS)
    assert read(edges, format=".CSV").graph.n_edges == 1


@pytest.mark.parametrize("ending", ["parquet", "gexf", "json", "npz", "mat", "mtx"])
def test_a_file_without_an_ending_is_recognised_by_its_first_bytes(tmp_path: Path, ending: str) -> None:
    write_good(tmp_path / f"good.{ending}", ending)
    (tmp_path / f"good.{ending}").rename(tmp_path / "good")
    assert read(tmp_path / "good").graph.n_edges == 78


def test_a_zip_that_stores_xml_as_it_is_stays_a_zip(tmp_path: Path) -> None:
    path = write(tmp_path / "x", b"PK\x03\x04" + b"<graphml>" * 20)
    assert formats.sniff(path) is formats.ZIP


@pytest.mark.parametrize("ending", ["parquet", "gexf", "json", "npz", "mat", "mtx"])
def test_a_format_does_what_it_declares(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"good.{ending}"
    write_good(path, ending)
    declared = formats.sniff(path)
    assert isinstance(declared, FileFormat)
    assert f".{ending}" in declared.suffixes
    looked = peek(path)
    assert bool(looked.node_columns or looked.edge_columns) == declared.previewed
    graph = read(path).graph
    assert declared.node_attributes or graph.attribute_free
    assert declared.tabular == (ending == "parquet")


@pytest.mark.parametrize(
    "arrays",
    [
        {"x": X, "y": np.arange(5), "kind": "class"},
        {"x": X, "y": np.array(["a", "b", "c"]), "kind": "class"},
        {"x": X, "y": Y, "unlabelled_nodes": np.array([77])},
        {"x": X, "y": Y, "unlabelled_prefix": np.array([1, 2])},
        {"x": X, "y": Y, "kind": np.array(["a", "b"])},
        {"x": X, "lcc_mask": np.ones((3, 2))},
        {"y": np.array(3)},
        {"x": np.array(3)},
    ],
)
def test_arrays_that_do_not_fit_together_are_explained(tmp_path: Path, arrays: dict[str, np.ndarray]) -> None:
    np.savez(tmp_path / "odd.npz", edge_index=EDGE, **arrays)
    with pytest.raises(InputError, match=r"odd\.npz"):
        read(tmp_path / "odd.npz")


@pytest.mark.parametrize(
    "arrays",
    [
        {"adj_data": np.ones(1), "adj_indices": [0], "adj_indptr": [0, 1], "adj_shape": np.array(["a", "b"])},
        {"data": np.ones(1), "indices": [0], "indptr": [0, 1], "shape": [1, 1], "format": [b"csr", b"csc"]},
        {"data": np.ones(1), "coords": np.array(3), "shape": [1, 1]},
        {"data": np.ones(1), "row": [0], "col": [0], "shape": [2.5, np.nan]},
        {"adj": np.array([["a", "b"], ["c", "d"]])},
    ],
)
def test_matrices_of_other_values_are_explained(tmp_path: Path, arrays: dict[str, np.ndarray]) -> None:
    np.savez(tmp_path / "odd.npz", **arrays)
    with pytest.raises(InputError, match=r"odd\.npz"):
        read(tmp_path / "odd.npz")


@pytest.mark.parametrize(
    "document",
    [
        {"nodes": [], "edges": 5},
        {"nodes": [{"data": {"id": 1}}], "edges": 5},
        {"nodes": [{"id": 1, "truth": [1]}], "links": []},
        {"nodes": [{"id": "a", "label": [1]}], "links": []},
        {"nodes": [{"id": "a"}, {"id": "b"}], "links": [{"source": "a", "target": "b", "weight": 10**400}]},
    ],
)
def test_documents_of_other_values_are_explained(tmp_path: Path, document: object) -> None:
    path = write(tmp_path / "odd.json", json.dumps(document))
    with pytest.raises(InputError, match=r"odd\.json"):
        read(path)


def test_lines_that_end_as_on_an_old_mac_are_explained(tmp_path: Path) -> None:
    path = write(tmp_path / "odd.csv", "source,target\ra,b\rb,c\r")
    for look in (read, peek):
        with pytest.raises(InputError, match=r"odd\.csv"):
            look(path)
