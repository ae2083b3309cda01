"""The same blocks on a Dask cluster: equal results, lost workers, a lost scheduler."""

from __future__ import annotations

import os
import signal
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from distributed import Status

from gadcore.detectors.arrays import propagate
from gadcore.engine import each, engine_at, places
from gadcore.engine.local_cluster import local_cluster
from gadcore.errors import RunError
from gadcore.graph import Graph
from gadcore.graph.labels import Verdict
from gadcore.ingest import Reading
from gadcore.ingest.report import Report
from gadcore.workspace import Workspace
from tests.engine.small_blocks import random_graph, stored_graph

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")


@pytest.fixture(scope="module")
def cluster():
    with local_cluster(2) as running:
        yield running


@pytest.fixture
def stored(tmp_path, monkeypatch) -> Graph:
    return stored_graph(tmp_path / "graph", monkeypatch)


@pytest.mark.parametrize("workers", [2, 1, 4])
def test_any_number_of_workers_gives_equal_results(cluster, stored, workers) -> None:
    here = propagate(random_graph(), 2)
    cluster.scale(workers)
    with engine_at(cluster.scheduler_address):
        there = propagate(stored, 2)
    for one, other in zip(here, there):
        np.testing.assert_array_equal(one, other)


def _die_once(block: slice, mark: str) -> int:
    try:
        Path(mark).touch(exist_ok=False)
    except FileExistsError:
        return block.start
    os.kill(os.getpid(), signal.SIGKILL)
    return -1


def test_a_worker_that_is_killed_costs_only_its_blocks(cluster, tmp_path) -> None:
    with engine_at(cluster.scheduler_address):
        found = list(each(_die_once, [slice(i, i + 1) for i in range(8)], str(tmp_path / "killed")))
    assert found == list(range(8))
    assert (tmp_path / "killed").exists()


def test_an_address_where_nobody_answers_fails_the_run_and_keeps_labels(settings, monkeypatch) -> None:
    monkeypatch.setattr(places, "PATIENCE", 0.2)
    graph = random_graph()
    report = Report("random", "test", graph.n_nodes, graph.n_edges, graph.n_features)
    away = replace(settings, engine="tcp://127.0.0.1:1")
    workspace = Workspace.create("random", Reading(graph, report, None), settings=away)
    node = str(workspace.graph.node_ids[0])
    workspace.verdicts.record(node, Verdict.NORMAL)
    run = workspace.runs.train()
    assert run.status == "failed"
    assert "does not answer" in run.message
    assert "labels are safe" in run.message
    assert workspace.verdicts.current()[node].verdict is Verdict.NORMAL


def test_a_failure_of_a_block_is_told_as_it_is(cluster) -> None:
    with engine_at(cluster.scheduler_address), pytest.raises(ZeroDivisionError):
        list(each(_fail, [slice(0, 1)]))


def _fail(block: slice) -> float:
    return 1 / block.start


def test_the_scheduler_gone_in_the_middle_is_a_run_error() -> None:
    with local_cluster(1) as running, engine_at(running.scheduler_address):
        assert list(each(_start, [slice(3, 4)])) == [3]
        running.close()
        with pytest.raises(RunError, match="does not answer"):
            list(each(_start, [slice(3, 4)]))


def _start(block: slice) -> int:
    return block.start


def test_the_end_of_a_worker_that_dask_never_met_does_not_keep_a_cluster_open() -> None:
    with local_cluster(1) as running:
        running._cluster.scheduler_info["workers"].clear()
    assert running._cluster.status == Status.closed
