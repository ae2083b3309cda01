"""A workspace that an earlier version wrote (schema 3, orders as files) opens with all that was in it."""

from __future__ import annotations

import json
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from gadcore.settings import Settings
from gadcore.workspace import Workspace

DATABASES = ("sqlite",)  # it was written there
ARCHIVE = Path(__file__).parent / "data" / "workspace_of_schema_3.zip"


@pytest.fixture
def expected(home: Path) -> dict:
    """What the earlier version said of its workspace, which is unpacked as GAD_HOME."""
    with zipfile.ZipFile(ARCHIVE) as archive:
        archive.extractall(home)
    return json.loads((home / "expected.json").read_text(encoding="utf-8"))


@pytest.fixture
def workspace(expected: dict, settings: Settings) -> Workspace:
    return Workspace.open("planted", settings)


def test_labels_notes_runs_and_scores_are_as_they_were(workspace: Workspace, expected: dict) -> None:
    labels = {node: event.verdict.value for node, event in workspace.verdicts.current().items()}
    assert labels == expected["labels"]
    assert "seen before" in workspace.verdicts.notes().values()
    assert [run.number for run in workspace.runs.all()] == expected["runs"]
    assert {run.status for run in workspace.runs.all()} == {"done"}
    assert np.array_equal(workspace.runs.result().scores, np.float32(expected["scores"]))


def test_the_queue_offers_the_cases_that_it_offered(workspace: Workspace, expected: dict) -> None:
    rows = workspace.cases.queue(n=20)
    shown = [[row.node_id, row.strategy, row.inclusion_probability] for row in rows]
    assert shown == [row[:3] for row in expected["shown"]]


def test_a_random_check_that_was_shown_still_counts_as_one(workspace: Workspace, expected: dict) -> None:
    node, strategy, probability, after = next(row for row in expected["shown"] if row[2] is not None)
    event = workspace.verdicts.record_each([node], "normal")[0]
    found = (event.strategy, event.inclusion_probability, event.drawn_after)
    assert found == (strategy, probability, after)


def test_its_models_explain_score_and_are_trained_on(workspace: Workspace) -> None:
    node = str(workspace.graph.node_ids[workspace.runs.result().order[0]])
    assert workspace.insight.explain(node).reasons
    assert workspace.runs.train("an+", device="cpu", params={"epochs": 20}).status == "done"


def test_its_graph_has_the_same_attributes_and_fingerprint(workspace: Workspace, home: Path) -> None:
    graph = workspace.graph
    stored = json.loads(next(home.glob("projects/*/graph/meta.json")).read_text(encoding="utf-8"))
    assert list(graph.feature_names) == stored["feature_names"]
    assert replace(graph).fingerprint == stored["fingerprint"]  # worked out anew
    assert (graph.links, dict(graph.derived)) == (None, {})
    x = np.load(next(home.glob("projects/*/graph/x.npy")))
    assert np.array_equal(np.asarray(graph.x), x)
