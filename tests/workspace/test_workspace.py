"""The facade: projects, labels, preferences, files."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from drawn import record_drawn
from probe_detector import reading, register, unregister

from gadcore.errors import GadError, InputError, LabelError, NotFound, StoreError
from gadcore.graph import make_graph
from gadcore.graph.labels import Verdict
from gadcore.settings import Settings
from gadcore.workspace import Workspace


@pytest.fixture
def project(settings: Settings, planted):
    register()
    yield Workspace.create("Planted graph", reading(*planted), settings=settings)
    unregister()


def test_a_project_is_opened_by_id_and_name_with_the_same_graph(project: Workspace, planted) -> None:
    for key in (project.id, "Planted graph"):
        again = Workspace.open(key, project.settings)
        assert again.graph.fingerprint == planted[0].fingerprint
        assert (again.id, again.name) == (project.id, project.name)
    assert Workspace.open(project.id).graph is project.graph


def test_the_card_of_a_project(project: Workspace) -> None:
    project.verdicts.record("n001", "a")
    project.verdicts.record("n002", "u")
    info = project.data.info()
    assert (info.n_nodes, info.normal, info.anomalous, info.unsure) == (300, 0, 1, 1)
    assert info.owner == "ana"
    assert info.last_run is None
    run = project.runs.train("probe")
    assert project.data.info().last_run.id == run.id
    assert [p.id for p in Workspace.projects(project.settings)] == [project.id]


def test_a_name_in_use_or_empty_is_refused_and_leaves_nothing(project: Workspace, planted) -> None:
    folders = set(project.settings.home.glob("projects/*"))
    with pytest.raises(StoreError, match="exists already"):
        Workspace.create("Planted graph", reading(planted[0]), settings=project.settings)
    with pytest.raises(StoreError, match="1 to 200"):
        Workspace.create("  ", reading(planted[0]), settings=project.settings)
    assert set(project.settings.home.glob("projects/*")) == folders


def test_an_unknown_project_is_named(settings: Settings) -> None:
    with pytest.raises(NotFound, match="'nowhere'"):
        Workspace.open("nowhere", settings)


def test_delete_removes_rows_and_files(project: Workspace) -> None:
    project.verdicts.record("n001", "a")
    project.runs.train("probe")
    Workspace.delete(project.name, project.settings)
    assert Workspace.projects(project.settings) == []
    assert list(project.settings.home.glob("projects/*")) == []
    with pytest.raises(NotFound):
        Workspace.open(project.id, project.settings)


def test_truth_is_kept_apart(project: Workspace, planted, settings: Settings) -> None:
    assert project.data.has_truth
    assert np.array_equal(project.data.truth().y, planted[1])
    plain = Workspace.create("plain", reading(planted[0]), settings=settings)
    assert not plain.data.has_truth
    with pytest.raises(NotFound, match="no truth"):
        plain.data.truth()


def test_labels_follow_the_node_id(project: Workspace) -> None:
    event = record_drawn(project, "n007", "fraud", note="ring", strategy="top", inclusion_probability=0.5)
    assert event.verdict is Verdict.ANOMALOUS
    assert event.analyst == "ana"
    labels = project.verdicts.labels()
    assert list(labels.anomalous) == [project.graph.index_of("n007")]
    assert labels.inclusion == {project.graph.index_of("n007"): 0.5}
    assert project.verdicts.current()["n007"].note == "ring"


@pytest.mark.parametrize(
    ("node", "verdict", "error"), [("n999", "a", NotFound), ("n001", "perhaps", LabelError)]
)
def test_a_bad_verdict_is_refused_and_nothing_is_written(project: Workspace, node, verdict, error):
    with pytest.raises(error):
        project.verdicts.record(node, verdict)
    assert project.verdicts.current() == {}


def test_a_group_with_one_unknown_node_is_refused_as_a_whole(project: Workspace) -> None:
    with pytest.raises(NotFound, match="n999"):
        project.verdicts.record_group(["n001", "n999"], "a")
    with pytest.raises(LabelError, match="No node"):
        project.verdicts.record_group([], "a")
    assert project.verdicts.current() == {}


def test_a_rule_shares_its_total_among_those_not_looked_at(project: Workspace) -> None:
    nodes = [f"n{i:03d}" for i in range(5)]
    events = project.verdicts.record_group(nodes, "a", weight="root", judged=["n000"])
    assert [event.weight for event in events] == [1.0, 0.5, 0.5, 0.5, 0.5]
    assert project.verdicts.labels().weight == dict.fromkeys(range(1, 5), 0.5)
    assert project.cases.card("n003").events[0]["weight"] == 0.5


def weights(project: Workspace) -> dict[str, float]:
    return {node: event.weight for node, event in project.verdicts.current().items()}


def test_a_group_leaves_verdicts_that_were_given_singly(project: Workspace) -> None:
    record_drawn(project, "n001", "a", strategy="audit", inclusion_probability=0.1)
    project.verdicts.record("n002", "n")
    before = dict(project.verdicts.current())
    events = project.verdicts.record_group(["n001", "n002", "n003", "n004"], "a", weight="one")
    assert [event.node_id for event in events] == ["n003", "n004"]
    assert events.kept == ["n001", "n002"]
    assert weights(project) == {"n001": 1.0, "n002": 1.0, "n003": 0.5, "n004": 0.5}
    assert {node: project.verdicts.current()[node] for node in before} == before
    assert len(project.verdicts.undo()) == 2
    assert project.verdicts.current() == before


def test_a_group_overrules_the_case_that_is_judged_and_all_when_asked_to(project: Workspace) -> None:
    for node in ("n001", "n002"):
        project.verdicts.record(node, "n")
    project.verdicts.record_group(["n001", "n002", "n003"], "a", weight=0.25, judged=["n001"])
    assert weights(project) == {"n001": 1.0, "n002": 1.0, "n003": 0.25}
    assert project.verdicts.current()["n002"].verdict == "normal"
    events = project.verdicts.record_group(["n001", "n002", "n003"], "a", weight=0.25, overrule=True)
    assert [event.node_id for event in events] == ["n002"]
    assert weights(project) == {"n001": 1.0, "n002": 0.25, "n003": 0.25}


def test_a_group_gives_no_second_opinion_on_nodes_that_have_its_verdict(project: Workspace) -> None:
    nodes = [f"n{i:03d}" for i in range(8)]
    for node in nodes[:6]:
        project.verdicts.record(node, "a", analyst="ana")
    events = project.verdicts.record_group(nodes, "a", analyst="bo", weight="full", overrule=True)
    assert [event.node_id for event in events] == nodes[6:]
    assert project.insight.agreement().nodes == 0
    with pytest.raises(LabelError, match="Nothing to change"):
        project.verdicts.record_group(nodes, "a", analyst="bo", weight="full", overrule=True)


def test_a_group_that_counts_more_strengthens_an_earlier_one(project: Workspace) -> None:
    project.verdicts.record_group(["n001", "n002"], "a", weight=0.25)
    assert [e.weight for e in project.verdicts.record_group(["n001", "n002"], "a", weight=0.5)] == [0.5, 0.5]
    with pytest.raises(LabelError, match="Nothing to change"):
        project.verdicts.record_group(["n001", "n002"], "a", weight=0.25)


def test_a_weight_out_of_range_is_refused_and_nothing_is_written(project: Workspace) -> None:
    for weight in (0.0, 2.0, "some"):
        with pytest.raises(LabelError, match="Expected"):
            project.verdicts.record_group(["n001"], "a", weight=weight)
    assert project.verdicts.current() == {}


def test_weights_go_through_a_label_file(project: Workspace, settings: Settings, tmp_path: Path) -> None:
    project.verdicts.record_group(["n001", "n002"], "a", weight=1 / 3)
    project.verdicts.record("n003", "n")
    path = tmp_path / "labels.csv"
    project.verdicts.export_file(path)
    target = Workspace.create("target", reading(project.graph), settings=settings)
    assert target.verdicts.import_file(path)["added"] == 3
    assert target.verdicts.labels().weight == project.verdicts.labels().weight == {1: 1 / 3, 2: 1 / 3}
    target.verdicts.record("n001", "a")  # looked at: counts in full, which the file does not know
    assert target.verdicts.import_file(path) == {"added": 1, "unchanged": 2, "unknown": []}
    path.write_text("node_id,label\nn002,a\n")
    assert target.verdicts.import_file(path)["unchanged"] == 1


def test_a_group_is_one_undo(project: Workspace) -> None:
    project.verdicts.record("n005", "n")
    events = project.verdicts.record_group(["n001", "n002", "n001"], "a", weight=0.5, source="ring")
    assert [event.node_id for event in events] == ["n001", "n002"]
    assert project.verdicts.labels().weight == {1: 0.5, 2: 0.5}
    assert project.verdicts.can_undo()
    assert len(project.verdicts.undo()) == 2
    assert set(project.verdicts.current()) == {"n005"}
    assert project.verdicts.can_redo()
    assert len(project.verdicts.redo()) == 2


def test_undo_of_each_analyst(project: Workspace) -> None:
    project.verdicts.record("n001", "a", analyst="ana")
    project.verdicts.record("n002", "a", analyst="bo")
    assert [event.node_id for event in project.verdicts.undo("ana")] == ["n001"]
    assert project.verdicts.undo("ana") == []
    assert [event.node_id for event in project.verdicts.undo("bo")] == ["n002"]


def test_counts_and_fresh_labels(project: Workspace) -> None:
    project.verdicts.record("n001", "a")
    project.verdicts.record("n002", "n")
    project.verdicts.record("n003", "u")
    assert project.verdicts.counts() == {"normal": 1, "anomalous": 1, "unsure": 1, "fresh": 2}
    project.runs.train("probe")
    assert project.verdicts.counts()["fresh"] == 0
    project.verdicts.record("n001", "n")
    project.verdicts.record("n004", "a")
    assert project.verdicts.counts()["fresh"] == 2
    project.verdicts.undo()
    project.verdicts.undo()
    project.verdicts.undo()
    assert project.verdicts.counts() == {"normal": 1, "anomalous": 1, "unsure": 0, "fresh": 0}


def test_preferences(project: Workspace) -> None:
    project.set_preference("auto_retrain", 10)
    assert Workspace.open(project.id, project.settings).preference("auto_retrain") == 10
    assert project.preference("absent", "default") == "default"


def test_two_analysts_at_once(project: Workspace) -> None:
    def work(analyst: str) -> None:
        start = 0 if analyst == "ana" else 100
        for i in range(start, start + 15):
            project.verdicts.record(f"n{i:03d}", "n", analyst=analyst)
            project.verdicts.counts()
            project.cases.queue(n=5)

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(work, ("ana", "bo")))
    assert project.verdicts.counts()["normal"] == 30


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".parquet", ".jsonl"])
def test_labels_survive_a_file(settings: Settings, tmp_path: Path, suffix: str) -> None:
    ids = ["007", " 7", "=1+1", "a,b", "Łódź 🚲", "-3"]
    graph = make_graph(ids, np.array([[0], [1]]))
    source = Workspace.create("source", reading(graph), settings=settings)
    for node, verdict in zip(ids, ("a", "n", "u", "a", "n", "a")):
        record_drawn(source, node, verdict, note="=HYPERLINK(1)", inclusion_probability=0.25)
    path = tmp_path / f"labels{suffix}"
    assert source.verdicts.export_file(path) == len(ids)
    target = Workspace.create("target", reading(graph), settings=settings)
    assert target.verdicts.import_file(path) == {"added": len(ids), "unchanged": 0, "unknown": []}
    assert {n: e.verdict for n, e in target.verdicts.current().items()} == {
        n: e.verdict for n, e in source.verdicts.current().items()
    }
    assert {e.inclusion_probability for e in target.verdicts.current().values()} == {0.25}
    assert target.verdicts.import_file(path)["unchanged"] == len(ids)
    assert len(target.verdicts.undo()) == len(ids)


def test_a_label_file_has_the_latest_notes_and_the_first_draw(
    project: Workspace, planted, tmp_path: Path
) -> None:
    record_drawn(project, "n001", "a", note="first thought", strategy="audit", inclusion_probability=0.25)
    project.verdicts.settle("n001", "n", analyst="bo")
    project.verdicts.note("n001", "shares a device")
    project.verdicts.record("n002", "a")
    project.verdicts.note("n002", "seen before")
    project.verdicts.record("n003", "n", note="no longer true")
    project.verdicts.note("n003", "")
    path = tmp_path / "labels.csv"
    assert project.verdicts.export_file(path) == 3
    target = Workspace.create("target", reading(planted[0]), settings=project.settings)
    target.verdicts.import_file(path)
    assert target.verdicts.notes() == {"n001": "shares a device", "n002": "seen before"}
    assert target.verdicts.labels().inclusion == project.verdicts.labels().inclusion == {1: 0.25}
    assert target.verdicts.current()["n001"].strategy == "audit"


def test_an_exported_table_holds_no_formula(project: Workspace, tmp_path: Path) -> None:
    project.verdicts.record("n001", "a", note="=cmd()")
    project.verdicts.export_file(tmp_path / "labels.csv")
    assert "'=cmd()" in (tmp_path / "labels.csv").read_text()


def test_import_of_labels_reports_what_it_did(project: Workspace, tmp_path: Path) -> None:
    project.verdicts.record("n001", "a")
    path = tmp_path / "labels.csv"
    pd.DataFrame(
        {"Node_ID": ["n001", "n002", "n003", "zzz", "n004"], "Label": ["1", "0", "", "1", "unsure"]}
    ).to_csv(path, index=False)
    assert project.verdicts.import_file(path) == {"added": 2, "unchanged": 1, "unknown": ["zzz"]}
    assert project.verdicts.counts() == {"normal": 1, "anomalous": 1, "unsure": 1, "fresh": 2}
    assert project.verdicts.current()["n002"].source == "import"


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("labels.csv", "node,colour\nn001,red\n", "colour"),
        ("labels.csv", "node_id,label\nn001,maybe\n", "row 2"),
        ("labels.csv", "node_id,label\nn001,1\nn001,0\n", "two verdicts"),
        ("labels.csv", "node_id,label,weight\nn001,1,75.3\n", "row 2.*above 0, at most 1"),
        ("labels.csv", "", "cannot be read"),
        ("labels.xlsx", "x", "no label file"),
        ("labels.parquet", "x", "cannot be read"),
        ("labels.jsonl", "{broken", "cannot be read"),
    ],
)
def test_a_bad_label_file_is_one_clear_error(project: Workspace, tmp_path: Path, name, content, words):
    path = tmp_path / name
    path.write_text(content)
    with pytest.raises(InputError, match=words):
        project.verdicts.import_file(path)
    assert project.verdicts.current() == {}


def test_a_missing_label_file_and_an_unknown_format(project: Workspace, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no file"):
        project.verdicts.import_file(tmp_path / "absent.csv")
    with pytest.raises(InputError, match="parquet"):
        project.verdicts.export_file(tmp_path / "labels.docx")


def test_a_workspace_folder_that_cannot_be_written_is_a_clear_error(
    settings: Settings, tmp_path: Path
) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    unusable = replace(settings, home=blocked, store_url=f"sqlite:///{blocked}/x.sqlite")
    with pytest.raises(StoreError, match="GAD_HOME"):
        Workspace.projects(unusable)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("dial", "x"),
        ("dial", True),
        ("audit_share", 2.0),
        ("audit_share", float("nan")),
        ("strategy", "best"),
        ("provisional", 1),
        ("auto_retrain", -1),
        ("least_recall", 1.0),
        ("colour", "red"),
    ],
)
def test_a_preference_that_makes_no_sense_is_refused(project: Workspace, key, value) -> None:
    with pytest.raises(GadError, match="Expected"):
        project.set_preference(key, value)
    assert project.preference(key) is None


@pytest.mark.parametrize("n", [0, -5])
def test_counts_below_one_are_refused(project: Workspace, n: int) -> None:
    calls = (
        lambda: project.cases.queue(n=n),
        lambda: project.cases.search("n", limit=n),
        lambda: project.cases.similar("n001", n),
        lambda: project.cases.neighbourhood("n001", hops=n),
        lambda: project.cases.neighbourhood("n001", cap=n),
        lambda: project.runs.compare("1", "2", n),
        lambda: project.insight.audit(n),
        lambda: project.insight.moved(n=n),
        lambda: project.insight.second_look(n),
    )
    for call in calls:
        with pytest.raises(GadError, match=f"= {n}. Expected: 1 or more"):
            call()
