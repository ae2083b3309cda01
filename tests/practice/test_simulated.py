"""Practice on a project: sessions side by side that leave the project as it was."""

from __future__ import annotations

import json
import time
from typing import Any

import numpy as np
import pytest
from conftest import planted_graph
from page_project import make_project

from gadcore.cli import main
from gadcore.cli.practice import DEFAULTS, STRATEGIES
from gadcore.errors import GadError, LabelError, NotFound, RunError
from gadcore.graph import Truth
from gadcore.ingest import Reading, Report
from gadcore.practice import simulated
from gadcore.store import open_store
from gadcore.studies.sessions import SESSION_STRATEGIES
from gadcore.workspace import Workspace

PATIENCE = 120  # seconds until a test gives up on a slow machine


def project_without_truth() -> Workspace:
    graph, _ = planted_graph()
    report = Report("planted", "test", graph.n_nodes, graph.n_edges, graph.n_features)
    return Workspace.create("blind", Reading(graph, report, None))


def ended(workspace: Workspace) -> simulated.Document:
    """Wait for a practice in the background; it tells by its state, not by the clock."""
    end = time.monotonic() + PATIENCE
    while (document := simulated.state(workspace))["status"] == "running":
        assert time.monotonic() < end, "the practice never ended"
        time.sleep(0.02)
    return document


def kept(workspace: Workspace, status: str, message: str = "", **progress: Any) -> simulated.Document:
    """A practice that has come so far."""
    jobs = open_store(workspace.settings).jobs
    job = jobs.add("practice", simulated._checked(workspace, ["top"], labels=20), workspace.id)
    jobs.claim(job)
    jobs.beat(job, progress)
    jobs.finish(job, status, message=message)
    return simulated.state(workspace)


def test_a_practice_is_kept_and_leaves_labels_and_runs_alone(home) -> None:
    workspace = make_project()
    before = workspace.verdicts.counts()
    seen = []
    document = simulated.practise(
        workspace,
        ["top", "random", "top"],
        labels=30,
        model="sgc-lr",
        on_progress=lambda name, step: seen.append((name, step.labels)),
    )
    assert document["status"] == "done"
    assert list(document["curves"]) == ["top", "random"]
    assert seen == [(name, k) for name in ("top", "random") for k in (0, 10, 20, 30)]
    assert simulated.state(workspace) == document
    assert workspace.verdicts.counts() == before
    assert workspace.runs.all() == []


def test_practice_in_a_process_of_its_own(home) -> None:
    workspace = make_project()
    assert simulated.state(workspace) is None
    simulated.start(workspace, ["top", "entropy"], labels=20, model="sgc-lr")
    with pytest.raises(RunError, match="is running"):
        simulated.start(workspace, ["top"])
    document = ended(workspace)
    assert document["status"] == "done"
    assert {curve["labels"][-1] for curve in document["curves"].values()} == {20}


def test_a_stopped_practice_keeps_what_it_found(home) -> None:
    workspace = make_project()
    simulated.start(workspace, ["top"], labels=200, model="sgc-lr")
    end = time.monotonic() + PATIENCE
    while not simulated.state(workspace)["curves"]:
        assert time.monotonic() < end, "the practice never began"
        time.sleep(0.02)
    simulated.stop(workspace)
    document = simulated.state(workspace)
    assert document["status"] == "failed"
    assert "Stopped" in document["message"]
    assert document["curves"]["top"]["labels"][0] == 0
    simulated.stop(workspace)  # nothing runs: nothing happens


def test_a_practice_that_waits_is_stopped_at_once(home, monkeypatch) -> None:
    monkeypatch.setattr("gadcore.jobs.workers.start", lambda *_: None)
    workspace = make_project()
    simulated.start(workspace, ["top"])
    simulated.stop(workspace)
    assert simulated.state(workspace)["status"] == "failed"


def test_a_practice_replaces_the_one_before_with_its_first_batch(home) -> None:
    workspace = make_project()
    before = simulated.practise(workspace, ["random"], labels=10, model="sgc-lr")

    def interrupt(_: str, step: simulated.Step) -> None:
        if step.labels == after:
            raise KeyboardInterrupt

    after = 0
    with pytest.raises(KeyboardInterrupt):
        simulated.practise(workspace, ["top"], labels=20, model="sgc-lr", on_progress=interrupt)
    shown = simulated.state(workspace)
    assert (shown["curves"], shown["status"]) == (before["curves"], "failed")
    assert shown["message"].startswith("The practice was stopped before its end.")
    assert shown["message"].endswith("Shown is the practice before it.")
    after = 10
    with pytest.raises(KeyboardInterrupt):
        simulated.practise(workspace, ["top"], labels=20, model="sgc-lr", on_progress=interrupt)
    shown = simulated.state(workspace)
    assert shown["curves"]["top"]["labels"] == [0, 10]
    assert shown["message"].startswith("The practice was stopped before its end.")
    assert "before it." not in shown["message"]


def test_a_practice_of_an_earlier_version_still_shows(home) -> None:
    workspace = make_project()
    curves = {"top": {"labels": [0, 10], "found": [0, 3], "auc": [0.5, 0.6], "ap": [0.1, 0.2]}}
    asked = {"strategies": ["top"], "labels": 20, "wrong": 0.0, "seed": 0, "model": "an+"}
    document = {"status": "done", "message": "", **asked, "anomalies": 24, "askable": 240, "curves": curves}
    file = open_store(workspace.settings).folders.project(workspace.id) / "practice.json"
    file.write_text(json.dumps(document), encoding="utf-8")
    assert simulated.state(workspace) == document
    file.write_text(json.dumps(document | {"status": "running"}), encoding="utf-8")
    shown = simulated.state(workspace)
    assert (shown["status"], shown["message"]) == ("failed", "The practice was stopped or ended early.")
    shown = kept(workspace, "failed", "There was not enough memory.")
    assert shown["curves"] == curves
    assert shown["message"] == "There was not enough memory. Shown is the practice before it."


def test_only_one_practice_at_a_time(home) -> None:
    workspace = make_project()
    store, refused = open_store(workspace.settings), []

    def again(_: str, step: simulated.Step) -> None:
        with pytest.raises(RunError, match="is running"):
            simulated.practise(workspace, ["top"])
        refused.append(step.labels)

    simulated.practise(workspace, ["top"], labels=10, model="sgc-lr", on_progress=again)
    assert refused == [0, 10]
    job = store.jobs.add("practice", {}, workspace.id)
    store.jobs.claim(job)  # by a process that is gone: it is not in the way
    assert simulated.practise(workspace, ["top"], labels=10, model="sgc-lr")["status"] == "done"


def test_what_cannot_be_practised_is_named(home) -> None:
    with pytest.raises(NotFound, match="truth"):
        simulated.start(project_without_truth(), ["top"])
    workspace = make_project()
    with pytest.raises(GadError, match=r"best.*greedy-diverse"):
        simulated.start(workspace, ["best"])
    with pytest.raises(GadError, match="none given"):
        simulated.practise(workspace, [])
    assert simulated.state(workspace) is None


@pytest.mark.parametrize("begin", [simulated.practise, simulated.start])
@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"labels": 0}, "0 labels"),
        ({"wrong": 2.0}, "wrong verdicts of 2"),
        ({"wrong": float("nan")}, "wrong verdicts of nan"),
        ({"seed": -1}, "seed -1"),
        ({"model": "best"}, "no model 'best'"),
    ],
)
def test_what_is_refused_leaves_the_practice_before_it(home, begin, given, words) -> None:
    workspace = make_project()
    before = kept(workspace, "done")
    with pytest.raises(GadError, match=words) as refused:
        begin(workspace, ["top"], **given)
    assert "held out" not in str(refused.value)
    assert simulated.state(workspace) == before


def test_answers_of_one_kind_are_refused_before_anything_is_written(home) -> None:
    graph, _ = planted_graph()
    report = Report("planted", "test", graph.n_nodes, graph.n_edges, graph.n_features)
    all_normal = Truth(np.zeros(graph.n_nodes, dtype=np.int8))
    workspace = Workspace.create("dull", Reading(graph, report, all_normal))
    with pytest.raises(LabelError, match="0 anomalous nodes"):
        simulated.practise(workspace, ["top"])
    assert simulated.state(workspace) is None


@pytest.mark.parametrize("wrong", ["2", "1", "-0.1", "some"])
def test_the_command_refuses_a_share_of_wrong_verdicts(home, capsys, wrong) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["practice", "-p", "planted", f"--wrong={wrong}"])
    assert ended.value.code == 2
    assert "expected a number from 0 to below 1" in capsys.readouterr().err


def test_the_command_names_strategies_and_defaults(home, capsys) -> None:
    with pytest.raises(SystemExit):
        main(["practice", "--help"])
    shown = " ".join(capsys.readouterr().out.split())
    assert f"(default: {' '.join(DEFAULTS)}); some of: {', '.join(STRATEGIES)}" in shown
    assert STRATEGIES == SESSION_STRATEGIES


@pytest.mark.parametrize("person", ["--yourself", "--score"])
def test_a_person_s_practice_takes_no_strategy(home, capsys, person) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["practice", "-p", "planted", person, "--strategy", "top"])
    assert ended.value.code == 2
    assert "--strategy: not allowed with argument" in capsys.readouterr().err


def test_there_is_no_score_without_known_answers(home, capsys) -> None:
    project_without_truth()
    assert main(["practice", "-p", "blind", "--score"]) == 1
    assert "truth" in capsys.readouterr().err


def test_the_command_prints_the_discovery_curve(home, capsys) -> None:
    make_project()
    command = [
        "practice",
        "-p",
        "planted",
        "--labels",
        "20",
        "--model",
        "sgc-lr",
        "--strategy",
        "top",
        "random",
    ]
    assert main(command) == 0
    shown = capsys.readouterr().out
    assert "of 24 among 240 nodes" in shown
    assert "held-out AUC" in shown
    assert main([*command, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["curves"]["top"]["labels"] == [0, 10, 20]
