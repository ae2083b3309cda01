"""A run from queue to result, in this process."""

from __future__ import annotations

import json
from datetime import timedelta

import numpy as np
import pytest
from probe_detector import EPOCHS, reading, register, unregister

from gadcore.errors import NotFound, RunError, UsageError
from gadcore.jobs.kind import Memory
from gadcore.jobs.lost import end_lost
from gadcore.jobs.runner import carry_out
from gadcore.metrics import ranks
from gadcore.settings import Settings
from gadcore.store import FileLock, Result
from gadcore.store.runs import START
from gadcore.store.schema import jobs, now, runs
from gadcore.workspace import Workspace
from gadcore.workspace.runs import Request


@pytest.fixture
def project(settings: Settings, planted):
    register()
    yield Workspace.create("planted", reading(*planted), settings=settings)
    unregister()


@pytest.fixture
def store(project: Workspace):
    return project._project.store


def queue(project: Workspace, **params):
    """A queued run that nobody works on."""
    return project.runs._queued(Request("probe", params, "cpu"))


def perform(store, settings: Settings, run_id: str, **given):
    """Carry out a queued run here; its row as it ended."""
    carry_out(store, settings, run_id, **given)
    return store.runs.get(run_id)


def test_a_run_without_labels_ranks_all_nodes(project: Workspace) -> None:
    run = project.runs.train("probe")
    assert (run.status, run.basis, run.in_use, run.number) == ("done", "no labels", True, 1)
    assert (run.epoch, run.epochs, run.stage) == (EPOCHS, EPOCHS, "done")
    result = project.runs.result()
    assert len(result.scores) == project.graph.n_nodes
    assert np.array_equal(np.sort(result.rank), np.arange(1, project.graph.n_nodes + 1))
    assert result.scores[result.order[0]] == result.scores.max()
    assert result.rank[result.order[0]] == 1
    assert 0 < result.percentile.min() < result.percentile.max() < 100


def test_a_run_keeps_all_its_arrays_and_its_provenance(project: Workspace) -> None:
    project.verdicts.record("n001", "anomalous")
    project.verdicts.record("n002", "normal")
    project.verdicts.record("n003", "unsure")
    run = project.runs.train("probe", seed=5)
    result, n = project.runs.result(), project.graph.n_nodes
    assert result.embedding.shape == (n, 4)
    assert np.allclose(result.radius, np.linalg.norm(result.embedding, axis=1))
    assert result.spread.shape == result.out_of_fold.shape == (n,)
    assert result.labels == {"n001": "anomalous", "n002": "normal"}
    assert [row["epoch"] for row in result.history] == list(range(1, EPOCHS + 1))
    assert project.runs.history(run.id) == result.history
    details = json.loads((result.folder / "result.json").read_text())
    assert details["label_hash"] == run.label_hash == project.verdicts.labels().hash(project.graph)
    assert details["graph_fingerprint"] == project.graph.fingerprint
    assert details["params"]["seed"] == 5
    assert {"python", "numpy", "ringfence"} <= set(run.versions)
    assert (run.normal, run.anomalous, run.unsure) == (1, 1, 1)
    assert result.model_folder.joinpath("detector.json").exists()


def test_a_model_without_an_embedding_has_none(project: Workspace) -> None:
    project.runs.train("probe", params={"plain": True})
    result = project.runs.result()
    assert result.embedding is None
    assert result.radius is None
    assert result.layout("pca") is None


def test_rank_of_one_node_is_its_place_among_all(project: Workspace) -> None:
    project.runs.train("probe")
    whole = project.runs.result().rank
    fresh = Result(project.runs.in_use(), project.runs.result().folder)
    assert [fresh.rank_of(i) for i in range(20)] == list(whole[:20])
    assert list(ranks(np.array([1.0, 3.0, 3.0, 0.0]))) == [3, 1, 2, 4]


def test_progress_reaches_the_listener(project: Workspace) -> None:
    seen = []
    project.runs.train("probe", on_progress=seen.append)
    assert [progress.epoch for progress in seen] == list(range(1, EPOCHS + 1))


def test_no_worker_can_take_a_run_that_is_carried_out_here(
    project: Workspace, store, monkeypatch: pytest.MonkeyPatch
) -> None:
    get = store.runs.get

    def with_a_rival(run_id: str):  # a worker that looks for work at every moment it can
        for row in store.jobs.queued(["train"]):
            store.jobs.claim(row.id)
        return get(run_id)

    monkeypatch.setattr(store.runs, "get", with_a_rival)
    assert project.runs.train("probe").status == "done"
    assert not end_lost(store, project.id)


@pytest.mark.parametrize(("mode", "words"), [("error", "told to fail"), ("memory", "not enough memory")])
def test_a_failed_run_says_why_and_leaves_the_run_in_use(project: Workspace, mode: str, words: str) -> None:
    good = project.runs.train("probe")
    project.verdicts.record("n001", "anomalous")
    bad = project.runs.train("probe", params={"mode": mode})
    assert bad.status == "failed"
    assert words in bad.message
    assert project.runs.in_use().id == good.id
    assert project.verdicts.counts()["anomalous"] == 1
    assert project.runs.result(bad.id) is None
    assert project.runs.history(bad.id)[0]["epoch"] == 1


def test_a_defect_is_reported_on_the_row_and_not_hidden(project: Workspace) -> None:
    with pytest.raises(KeyError):
        project.runs.train("probe", params={"mode": "defect"})
    run = project.runs.all()[0]
    assert run.status == "failed"
    assert "KeyError" in run.message


def test_an_unknown_parameter_is_named_with_those_that_exist_before_a_run_is_made(project: Workspace) -> None:
    for begin in (project.runs.train, project.runs.start):
        with pytest.raises(UsageError, match=r"lambda.*mode"):
            begin("probe", params={"lambda": 3})
    assert project.runs.all() == []


def test_cancel_ends_a_run_within_an_epoch(project: Workspace, store) -> None:
    run = queue(project, mode="forever")
    ended = perform(
        store,
        project.settings,
        run.id,
        listen=lambda p: store.jobs.cancel(run.id) if p.epoch == 3 else None,
    )
    assert ended.status == "cancelled"
    assert project.runs.result() is None
    assert list(store.folders.project(project.id).glob("runs/*")) == []


def test_a_run_cancelled_while_it_waited_is_not_carried_out(project: Workspace, store) -> None:
    run = queue(project)
    project.runs.cancel(run.id)
    assert perform(store, project.settings, run.id).status == "cancelled"


def test_a_retrain_starts_from_the_run_in_use(project: Workspace, store) -> None:
    project.verdicts.record("n001", "anomalous")
    first = project.runs.train("probe")
    project.verdicts.record("n002", "normal")
    project.runs.train("probe")
    assert project.runs.result().details["warm_start"] == first.id


@pytest.mark.parametrize("change", ["undo", "reverse", "seed", "params", "cold"])
def test_a_retrain_begins_anew_when_the_earlier_run_no_longer_holds(project: Workspace, change: str) -> None:
    project.verdicts.record("n001", "anomalous")
    project.runs.train("probe")
    if change == "undo":
        project.verdicts.undo()
    if change == "reverse":
        project.verdicts.record("n001", "normal")
    project.runs.train(
        "probe",
        seed=int(change == "seed"),
        params={"mode": "well"} if change == "params" else None,
        warm=change != "cold",
    )
    assert project.runs.result().details["warm_start"] is None


def test_a_long_lived_process_keeps_graphs_and_models(project: Workspace, store) -> None:
    memory = Memory()
    first = perform(store, project.settings, queue(project).id, memory=memory)
    graph = memory.graphs.get(first.graph_fingerprint, lambda: None)
    model = memory.models.get(first.id, lambda: None)
    assert graph is not None
    second = perform(store, project.settings, queue(project).id, memory=memory)
    assert memory.graphs.get(first.graph_fingerprint, lambda: None) is graph
    assert memory.models.get(second.id, lambda: None).warm_from_ is model


def test_labels_given_while_a_run_waited_are_learnt(project: Workspace, store) -> None:
    run = queue(project)
    project.verdicts.record("n001", "anomalous")
    ended = perform(store, project.settings, run.id)
    assert ended.anomalous == 1
    assert project.verdicts.counts()["fresh"] == 0


def test_roll_back_shows_the_earlier_scores(project: Workspace) -> None:
    first = project.runs.train("probe")
    before = np.array(project.runs.result().scores)
    project.verdicts.record("n001", "anomalous")
    second = project.runs.train("probe")
    assert not np.array_equal(project.runs.result().scores, before)
    assert project.runs.use(first.id).in_use
    assert np.array_equal(project.runs.result().scores, before)
    assert project.runs.result(second.id).info.in_use is False
    assert project.runs.use("2").number == 2


def test_deleting_the_run_in_use_falls_back_to_the_latest_other(project: Workspace) -> None:
    first, second = project.runs.train("probe"), project.runs.train("probe", seed=1)
    folder = project.runs.result().folder
    project.runs.delete(second.id)
    assert project.runs.in_use().id == first.id
    assert not folder.exists()
    with pytest.raises(NotFound):
        project.runs.get(second.id)
    project.runs.delete(first.id)
    assert project.runs.result() is None


def test_a_live_run_is_not_deleted_and_a_failed_one_not_used(project: Workspace) -> None:
    with pytest.raises(RunError, match="Cancel it"):
        project.runs.delete(queue(project).id)
    failed = project.runs.train("probe", params={"mode": "error"})
    with pytest.raises(RunError, match="has no scores"):
        project.runs.use(failed.id)


def test_equal_waiting_runs_are_one(project: Workspace) -> None:
    assert queue(project).id == queue(project).id
    assert queue(project).id != queue(project, plain=True).id


def test_a_run_whose_process_is_gone_is_found_by_the_next_look(project: Workspace, store) -> None:
    project.verdicts.record("n001", "anomalous")
    run = queue(project)
    store.jobs.claim(run.id)
    assert project.runs.active() is None
    lost = project.runs.get(run.id)
    assert lost.status == "failed"
    assert "ended without a word" in lost.message
    assert project.verdicts.counts()["anomalous"] == 1


def test_a_run_whose_process_lives_is_left_alone(project: Workspace, store) -> None:
    run = queue(project)
    with FileLock(store.folders.lock(f"job-{run.id}")) as lock:
        lock.acquire()
        store.jobs.claim(run.id)
        assert project.runs.active().id == run.id


def test_a_silent_run_of_another_host_is_lost(project: Workspace, store) -> None:
    run = queue(project)
    store.jobs.claim(run.id)
    store.jobs.change(run.id, ("running",), host="elsewhere")
    assert end_lost(store, project.id) == []
    store.jobs.change(run.id, ("running",), heartbeat_at=now() - timedelta(hours=1))
    assert end_lost(store, project.id) == [run.id]


def test_results_that_cannot_be_written_fail_the_run(project: Workspace, store) -> None:
    store.folders.runs(project.id).write_text("a file where the folder should be")
    run = project.runs.train("probe")
    assert run.status == "failed"
    assert "cannot be written" in run.message


def test_missing_scores_are_a_clear_error(project: Workspace) -> None:
    project.runs.train("probe")
    result = project.runs.result()
    result.folder.joinpath("scores.npy").unlink()
    with pytest.raises(RunError, match="missing"):
        _ = Result(result.info, result.folder).scores


def test_compare_two_runs(project: Workspace) -> None:
    first = project.runs.train("probe")
    lowest = str(project.graph.node_ids[project.runs.result().order[-1]])
    highest = str(project.graph.node_ids[project.runs.result().order[0]])
    project.verdicts.record(lowest, "anomalous")
    project.verdicts.record(highest, "normal")
    second = project.runs.train("probe")
    seen = project.runs.compare(first.id, second.id, k=10)
    assert (seen.before.number, seen.after.number, seen.k) == (1, 2, 10)
    assert lowest in seen.entered
    assert highest in seen.left
    assert seen.risen[0].node_id == lowest
    assert seen.risen[0].moved > 0 > seen.fallen[0].moved
    assert -1 <= seen.correlation < 1
    assert len(seen.before_scores) == project.graph.n_nodes


def test_runs_table_has_every_field_of_a_run() -> None:
    from gadcore.records import RunInfo

    told = {*runs.c.keys(), *jobs.c.keys(), *START}
    assert set(RunInfo.__dataclass_fields__) - {"project", "in_use", "seconds"} <= told
    assert set(runs.c.keys()) & set(jobs.c.keys()) == {"id", "project_id"}  # one place for each fact


def test_a_project_deleted_while_it_trains_leaves_nothing_behind(project: Workspace, store) -> None:
    run = queue(project, mode="forever")

    def delete_at_three(progress) -> None:
        if progress.epoch == 3:
            Workspace.delete(project.id, project.settings)

    with pytest.raises(NotFound):
        perform(store, project.settings, run.id, listen=delete_at_three)
    assert not store.folders.project(project.id).exists()


def test_a_failed_first_run_is_not_tried_again_by_itself(project: Workspace) -> None:
    failed = project.runs.train("probe", params={"mode": "error"})
    assert project.runs.ensure_ranked() is None
    assert [run.id for run in project.runs.all()] == [failed.id]
