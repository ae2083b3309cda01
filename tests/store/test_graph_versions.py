"""Versions of graphs, arrivals and watchlists in the tables of either database."""

from __future__ import annotations

import pytest

from gadcore.errors import NotFound
from gadcore.graph import Graph
from gadcore.settings import Settings
from gadcore.store import Store, open_store

VALUES = {
    "parent": 1, "way": "append", "as_of": "2025-06-02", "given": {"files": []}, "changes": {},
    "n_nodes": 5, "n_edges": 4, "n_features": 3, "fingerprint": "f" * 64, "has_truth": False,
}  # fmt: skip


@pytest.fixture
def store(settings: Settings, planted: tuple[Graph, object]) -> Store:
    store = open_store(settings)
    store.projects.add("net", "ana", planted[0], has_truth=True, project_id="net-1")
    return store


def test_a_project_begins_with_its_first_version(store: Store, planted: tuple[Graph, object]) -> None:
    (first,) = store.versions.of("net-1")
    assert (first.number, first.parent, first.way, first.present) == (1, None, "import", True)
    assert (first.fingerprint, first.n_nodes, first.has_truth) == (planted[0].fingerprint, 300, True)


def test_a_new_version_is_the_present_one_and_has_no_scores(store: Store) -> None:
    store.projects.use_run("net-1", "a-run")
    store.versions.add("net-1", 2, VALUES, by="bo")
    row = store.projects.get("net-1")
    assert (row.version, row.n_nodes, row.run_in_use) == (2, 5, None)
    assert [v.number for v in store.versions.line("net-1")] == [1, 2]
    store.versions.use("net-1", store.versions.get("net-1", 1), "a-run", by="bo")
    assert (store.projects.get("net-1").n_nodes, store.projects.run_in_use("net-1")) == (300, "a-run")
    assert store.versions.next_number("net-1") == 3
    assert [v.number for v in store.versions.line("net-1")] == [1]
    with pytest.raises(NotFound, match="no version 9"):
        store.versions.get("net-1", 9)
    actions = [entry.action for entry in store.trail.newest(9, project="net-1")]
    assert {"graph updated", "version chosen"} <= set(actions)


def test_a_file_that_was_put_aside_may_come_again(store: Store) -> None:
    store.arrivals.add("net-1", "a" * 64, "bad.csv", None, "no column id")
    assert not store.arrivals.taken("net-1", "a" * 64)
    store.arrivals.add("net-1", "a" * 64, "good.csv", 2)
    assert store.arrivals.taken("net-1", "a" * 64)
    assert [(row.name, row.version) for row in store.arrivals.of("net-1")] == [("good.csv", 2)]


def test_a_watchlist_is_one_analysts_own(store: Store) -> None:
    for rank in (40, 7):
        store.watchlist.put("net-1", "ana", "n001", rank)  # a second time changes nothing
    assert [(row.node_id, row.rank) for row in store.watchlist.of("net-1", "ana")] == [("n001", 40)]
    store.watchlist.seen("net-1", "ana", {"n001": 7})
    assert store.watchlist.of("net-1", "ana")[0].rank == 7
    store.watchlist.drop("net-1", "ana", "n001")
    assert store.watchlist.of("net-1", "ana") == []
