"""Whatever the ids and edges are: ids are kept, A is symmetric and simple, nothing is lost or invented."""

from __future__ import annotations

import json
from pathlib import Path

import networkx as nx
import numpy as np
import pandas as pd
import scipy.io
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gadcore.errors import InputError
from gadcore.graph import Graph
from gadcore.ingest import read, read_graph, read_more

from .files import assert_well_formed, edge_weights

QUICK = settings(
    max_examples=40,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)

ids_text = st.text(
    st.characters(exclude_categories=("Cs",), exclude_characters="\x00"), min_size=1, max_size=8
)
xml_text = st.text(st.characters(categories=("L", "N", "P", "S")), min_size=1, max_size=8)


@st.composite
def graphs(
    draw: st.DrawFn, names: st.SearchStrategy[str] = ids_text
) -> tuple[list[str], list[tuple[int, int, float]]]:
    ids = draw(st.lists(names, min_size=2, max_size=12, unique=True))
    row = st.integers(0, len(ids) - 1)
    weight = st.floats(2.0**-10, 2.0**20, width=32)
    return ids, draw(st.lists(st.tuples(row, row, weight), min_size=1, max_size=30))


def expected_weights(ids: list[str], edges: list[tuple[int, int, float]]) -> dict[frozenset[str], float]:
    """Largest weight of each pair that is no loop."""
    best: dict[frozenset[str], float] = {}
    for a, b, w in edges:
        if a != b:
            pair = frozenset((ids[a], ids[b]))
            best[pair] = max(best.get(pair, 0.0), w)
    return best


def edge_frame(ids: list[str], edges: list[tuple[int, int, float]]) -> pd.DataFrame:
    rows = [(ids[a], ids[b], repr(w)) for a, b, w in edges]
    return pd.DataFrame(rows, columns=["source", "target", "weight"])


def write_csv(frame: pd.DataFrame, path: Path) -> None:
    """A table whose values are quoted where a part of them could be taken for the end of a line."""
    within = "\r" in "".join(map(str, frame.to_numpy().ravel()))
    frame.to_csv(path, index=False, lineterminator="\r\n" if within else "\n")


@QUICK
@given(graphs())
def test_csv_tables_keep_ids_and_edges(
    tmp_path: Path, graph: tuple[list[str], list[tuple[int, int, float]]]
) -> None:
    ids, edges = graph
    write_csv(pd.DataFrame({"id": ids, "k": range(len(ids))}), tmp_path / "nodes.csv")
    write_csv(edge_frame(ids, edges), tmp_path / "edges.csv")
    reading = read(tmp_path / "nodes.csv", edges=tmp_path / "edges.csv")
    assert list(reading.graph.node_ids) == ids
    assert edge_weights(reading.graph) == expected_weights(ids, edges)
    assert_well_formed(reading.graph)
    assert reading.report.n_edges == reading.graph.n_edges
    assert reading.report.degree["isolated"] == int((np.diff(reading.graph.adjacency.indptr) == 0).sum())
    assert reading.report.text()


@QUICK
@given(graphs())
def test_edge_table_alone_has_the_ends_as_nodes(
    tmp_path: Path, graph: tuple[list[str], list[tuple[int, int, float]]]
) -> None:
    ids, edges = graph
    edge_frame(ids, edges).to_parquet(tmp_path / "edges.parquet")
    found = read_graph(tmp_path / "edges.parquet")
    assert set(found.node_ids) == {ids[v] for a, b, _ in edges for v in (a, b)}
    assert edge_weights(found) == expected_weights(ids, edges)
    assert found.attribute_free == (found.links is None)


@QUICK
@given(graphs(xml_text))
def test_documents_of_networkx_keep_ids_and_edges(
    tmp_path: Path, graph: tuple[list[str], list[tuple[int, int, float]]]
) -> None:
    ids, edges = graph
    multi = nx.MultiDiGraph()
    multi.add_nodes_from(ids)
    multi.add_weighted_edges_from([(ids[a], ids[b], w) for a, b, w in edges])
    nx.write_graphml(multi, tmp_path / "g.graphml")
    (tmp_path / "g.json").write_text(json.dumps(nx.node_link_data(multi, edges="links")), encoding="utf-8")
    for name in ("g.graphml", "g.json"):
        found = read_graph(tmp_path / name)
        assert list(found.node_ids) == ids
        weights = edge_weights(found)
        expected = expected_weights(ids, edges)
        assert weights.keys() == expected.keys()
        np.testing.assert_allclose([weights[k] for k in expected], list(expected.values()), rtol=1e-6)


def finite(text: str) -> bool:
    return "inf" not in text.lower()


def assert_read_or_refused(path: Path) -> None:
    """No other exception than InputError leaves the reader."""
    try:
        graph = read_graph(path)
    except InputError:
        return
    assert_well_formed(graph)


cells = st.one_of(
    st.none(),
    st.text(st.characters(categories=("L", "P", "S")), max_size=6).filter(finite),
    st.sampled_from(["1", "2.5", "true", "no", "2024-01-31", "a|b", "NA"]),
)


@QUICK
@given(st.lists(st.tuples(cells, cells), min_size=2, max_size=40))
def test_any_columns_give_finite_attributes_and_a_graph_that_can_be_stored(
    tmp_path: Path, rows: list[tuple[str | None, str | None]]
) -> None:
    frame = pd.DataFrame(rows, columns=["p", "q"], dtype=object)
    frame.insert(0, "id", [f"n{i}" for i in range(len(rows))])
    frame.to_parquet(tmp_path / "nodes.parquet")
    pd.DataFrame({"source": ["n0"], "target": ["n1"]}).to_csv(tmp_path / "edges.csv", index=False)
    graph = read_graph(tmp_path / "nodes.parquet", edges=tmp_path / "edges.csv")
    assert_well_formed(graph)
    graph.save(tmp_path / "stored")
    again = Graph.load(tmp_path / "stored")
    assert again.fingerprint == graph.fingerprint
    same = read_more(again, tmp_path / "nodes.parquet")
    assert same.n_nodes == graph.n_nodes


@QUICK
@given(
    st.binary(min_size=1, max_size=400),
    st.sampled_from(["csv", "json", "graphml", "npz", "mat", "mtx", "zip", "csv.gz", "parquet", "txt"]),
)
def test_arbitrary_bytes_give_a_graph_or_an_input_error(tmp_path: Path, data: bytes, ending: str) -> None:
    path = tmp_path / f"junk.{ending}"
    path.write_bytes(data)
    assert_read_or_refused(path)


@QUICK
@given(st.text(st.sampled_from('ab,;\t|"\n# 01.-'), min_size=1, max_size=60))
def test_arbitrary_text_gives_a_graph_or_an_input_error(tmp_path: Path, text: str) -> None:
    path = tmp_path / "junk.csv"
    path.write_text(text, encoding="utf-8", newline="")
    assert_read_or_refused(path)


@QUICK
@given(st.data(), st.sampled_from(["mat", "npz", "mtx", "parquet", "zip", "json", "gexf"]))
def test_damaged_files_give_a_graph_or_an_input_error(
    tmp_path: Path, data: st.DataObject, ending: str
) -> None:
    path = tmp_path / f"good.{ending}"
    if not path.exists():
        write_good(path, ending)
    content = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 6))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    damaged = tmp_path / f"damaged.{ending}"
    damaged.write_bytes(content)
    assert_read_or_refused(damaged)


def write_good(path: Path, ending: str) -> None:
    """The karate club in one of the formats, by the tool that owns the format."""
    club = nx.karate_club_graph()
    matrix = nx.to_scipy_sparse_array(club, dtype=float)
    frame = nx.to_pandas_edgelist(club).astype({"source": str, "target": str})
    writers = {
        "mat": lambda: scipy.io.savemat(path, {"Network": matrix, "Attributes": np.eye(34)}),
        "npz": lambda: np.savez(path, edge_index=np.array(matrix.nonzero()), x=np.eye(34)),
        "mtx": lambda: scipy.io.mmwrite(path, matrix.tocoo()),
        "parquet": lambda: frame.to_parquet(path),
        "zip": lambda: frame.to_csv(
            path, index=False, compression={"method": "zip", "archive_name": "e.csv"}
        ),
        "json": lambda: path.write_text(json.dumps(nx.node_link_data(club, edges="edges"))),
        "gexf": lambda: nx.write_gexf(club, path),
    }
    writers[ending]()
