"""The made graph of the benchmark of size."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.power_law_graph import SORTS, PowerLawGraph
from gadcore.ingest import read

GRAPH = PowerLawGraph(nodes=2000, links=8000, attributes=4)


@pytest.mark.parametrize("parquet", [False, True])
def test_the_made_files_are_read_as_a_graph_with_links_and_answers(tmp_path, parquet):
    accounts, transfers = GRAPH.write(tmp_path, parquet=parquet)
    reading = read(accounts, edges=transfers)
    assert reading.graph.n_nodes == 2000
    assert reading.graph.links is not None
    assert reading.graph.links.meaning.kinds
    assert len(reading.graph.links) > 8000  # rings and mules beside what everybody does
    assert reading.truth is not None
    assert reading.truth.y.sum() == 20
    assert np.diff(reading.graph.adjacency.indptr).max() > 200


def test_the_made_graph_is_the_same_each_time():
    assert all(a.equals(b) for a, b in zip(GRAPH.transfers(), GRAPH.transfers()))
    assert all(a.equals(b) for a, b in zip(GRAPH.accounts(), GRAPH.accounts()))


def test_every_sort_of_anomaly_is_planted():
    assert all(len(GRAPH.planted(sort)) == 5 for sort in SORTS)


def test_later_labels_are_of_other_accounts():
    first, later = GRAPH.labels(50).to_pydict(), GRAPH.labels(10, after=50).to_pydict()
    assert len(first["node_id"]) == 50
    assert len(later["node_id"]) == 10
    assert not set(first["node_id"]) & set(later["node_id"])
    assert first["label"].count("anomalous") == 10
