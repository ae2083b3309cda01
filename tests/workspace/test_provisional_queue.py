"""The queue between two runs: verdicts reorder it, audit cases keep their draw, a run replaces it."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from itertools import pairwise

import numpy as np
import pytest
from probe_detector import reading, register, unregister

from gadcore.cli import main
from gadcore.loop.pool import BATCH
from gadcore.loop.rerank import coordinates
from gadcore.loop.strategies.diverse import TRIAL
from gadcore.records import QueueRow
from gadcore.store import events
from gadcore.workspace import Filter, Workspace, queue, reranking


@pytest.fixture
def project(settings, planted):
    """Ranked by a run that has learnt from both kinds of verdict."""
    graph, y = planted
    register()
    workspace = Workspace.create("planted", reading(graph), settings=settings)
    for word, value, n in (("normal", 0, 10), ("anomalous", 1, 4)):
        workspace.verdicts.record_group(
            [str(graph.node_ids[i]) for i in np.flatnonzero(y == value)[:n]], word
        )
    workspace.runs.train("probe")
    yield workspace
    unregister()


def ids(rows) -> list[str]:
    return [row.node_id for row in rows]


def decide(workspace: Workspace, row, verdict: str) -> None:
    """A verdict as the screen gives it."""
    workspace.verdicts.record(row.node_id, verdict, offer=row.offer)


def without_first(rows) -> tuple[QueueRow, list[str]]:
    """The first case of the strategy, and the ids of the others.

    A random check far down could be judged without any effect on the cases ahead.
    """
    first = next(row for row in rows if row.inclusion_probability is None)
    return first, [node for node in ids(rows) if node != first.node_id]


def audit_of(rows) -> list[tuple[str, float]]:
    return [(row.node_id, row.inclusion_probability) for row in rows if row.inclusion_probability is not None]


def test_after_a_run_the_queue_is_the_run_s_own(project: Workspace) -> None:
    rows = project.cases.queue(n=40)
    assert rows == project.cases.queue(n=40, provisional=False)
    assert {row.provisional_rank for row in rows} == {None}
    basis = project.cases.basis()
    assert (basis.run, basis.verdicts, basis.enabled, basis.state) == (1, 0, True, "")


def test_a_verdict_reorders_the_queue_and_says_so(project: Workspace) -> None:
    first, others = without_first(project.cases.queue(n=40))
    decide(project, first, "normal")
    rows = project.cases.queue(n=39)
    assert first.node_id not in ids(rows)
    assert ids(rows) != others
    assert all(row.provisional_rank for row in rows)
    assert any(row.provisional_rank != row.rank for row in rows)
    own = project.runs.result().rank
    assert all(row.rank == own[project.graph.index_of(row.node_id)] for row in rows)
    assert project.cases.basis().verdicts == 1
    assert project.cases.card(rows[0].node_id).row.provisional_rank == rows[0].provisional_rank


def test_undo_takes_the_effect_back(project: Workspace) -> None:
    before = project.cases.queue(n=40)
    decide(project, before[0], "normal")
    project.verdicts.undo()
    assert project.cases.queue(n=40) == before
    assert project.cases.basis().verdicts == 0


def test_the_next_run_replaces_the_provisional_order(project: Workspace) -> None:
    decide(project, project.cases.queue(n=1)[0], "normal")
    project.runs.train("probe")
    assert (project.cases.basis().run, project.cases.basis().verdicts) == (2, 0)
    assert {row.provisional_rank for row in project.cases.queue(n=20)} == {None}


def test_it_can_be_switched_off(project: Workspace) -> None:
    first, others = without_first(project.cases.queue(n=40))
    project.set_preference("provisional", False)
    decide(project, first, "normal")
    assert ids(project.cases.queue(n=39)) == others
    assert project.cases.basis().verdicts == 0
    assert not project.cases.basis().enabled
    assert not any(row.provisional_rank for row in project.cases.queue(n=39))
    moved = project.cases.queue(n=39, provisional=True)
    assert all(row.provisional_rank for row in moved)
    assert ids(moved) != others


def test_audit_cases_stay_those_that_the_run_drew(project: Workspace) -> None:
    """Each comes in its turn, with its own probability, however the cases around it are ranked."""
    drawn = audit_of(project.cases.queue(n=60, provisional=False))
    seen = []
    for turn in range(25):
        row = project.cases.queue(n=1)[0]
        if row.inclusion_probability is not None:
            seen.append((row.node_id, row.inclusion_probability))
        decide(project, row, "anomalous" if turn % 3 == 0 else "normal")
    assert len(seen) >= 2
    assert seen == drawn[: len(seen)]


def test_verdicts_from_elsewhere_do_not_bring_audit_cases_forward(project: Workspace) -> None:
    def places() -> list[int]:
        rows = project.cases.queue(n=60)
        return [at for at, row in enumerate(rows) if row.inclusion_probability is not None]

    before, waiting = places(), {*ids(project.cases.queue(n=60)), *project.verdicts.current()}
    others = [str(node) for node in project.graph.node_ids if str(node) not in waiting]
    project.verdicts.record_group(others[-20:], "normal")
    assert places()[:3] == before[:3]


def test_random_checks_that_were_put_off_do_not_come_in_a_row(project: Workspace) -> None:
    """Sixty verdicts of a filter, which has no random checks, then the whole queue again."""
    for row in project.cases.queue(n=60, where=Filter(min_percentile=40)):
        decide(project, row, "normal")
    served = []
    for _ in range(12):
        row = project.cases.queue(n=1)[0]
        served.append(row.inclusion_probability is not None)
        decide(project, row, "normal")
    assert 3 <= sum(served) <= 5
    assert not any(first and second for first, second in pairwise(served))


def test_no_case_comes_twice_and_none_is_lost(project: Workspace) -> None:
    decide(project, project.cases.queue(n=1)[0], "anomalous")
    rows = project.cases.queue(n=1000)
    assert len(set(ids(rows))) == len(rows) == project.graph.n_nodes - len(project.verdicts.current())


def test_filters_hold_in_the_provisional_order(project: Workspace) -> None:
    where = Filter(min_percentile=50)
    decide(project, project.cases.queue(n=1, where=where)[0], "normal")
    rows = project.cases.queue(n=50, where=where)
    assert rows
    assert all(row.percentile >= 50 for row in rows)
    assert all(row.provisional_rank for row in rows)


@pytest.fixture
def unlabelled(settings, planted):
    """Ranked by a run without labels."""
    register()
    workspace = Workspace.create("cold", reading(planted[0]), settings=settings)
    workspace.runs.train("probe")
    unregister()
    workspace.set_preference("audit_share", 0.0)
    return workspace


def test_a_run_without_labels_is_followed_by_verdicts_too(unlabelled: Workspace) -> None:
    before = unlabelled.cases.queue(n=60)
    node = unlabelled.graph.index_of(before[0].node_id)
    decide(unlabelled, before[0], "anomalous")
    assert unlabelled.cases.basis().verdicts == 1
    rows = unlabelled.cases.queue(n=60, strategy="top")
    space = coordinates(unlabelled._project.basis())
    likeness = {
        row.node_id: float(space[unlabelled.graph.index_of(row.node_id)] @ space[node]) for row in rows
    }
    assert (
        np.corrcoef([likeness[r.node_id] for r in rows], [r.rank - r.provisional_rank for r in rows])[0, 1]
        > 0.3
    )


def test_verdicts_do_not_change_the_turns_of_a_first_queue(unlabelled: Workspace) -> None:
    """Chosen anew after each verdict, typical cases still come when it is their turn."""
    asked = []
    for _ in range(BATCH):
        row = unlabelled.cases.queue(n=1)[0]
        asked.append("typical of a group" in row.reason)
        decide(unlabelled, row, "normal")
    assert asked == [False] * TRIAL + [True] * TRIAL + [True, False]


def test_cases_of_a_first_queue_do_not_depend_on_how_many_are_asked_for(unlabelled: Workspace) -> None:
    for _ in range(40):
        longest = ids(unlabelled.cases.queue(n=120))
        first = unlabelled.cases.queue(n=1)
        assert ids(first) == longest[:1]
        assert ids(unlabelled.cases.queue(n=60)) == longest[:60]
        decide(unlabelled, first[0], "normal")


def test_random_checks_take_no_turn_of_the_trial(unlabelled: Workspace) -> None:
    unlabelled.set_preference("audit_share", 0.4)
    told = []
    while len(told) < 2 * TRIAL:
        row = unlabelled.cases.queue(n=1)[0]
        decide(unlabelled, row, "normal")
        if row.inclusion_probability is None:
            told.append("typical of a group" in row.reason)
    assert told == [False] * TRIAL + [True] * TRIAL


def test_a_group_does_not_tell_that_the_ranking_hits(unlabelled: Workspace) -> None:
    last = [row.node_id for row in unlabelled.cases.queue(strategy="top", n=300)[-TRIAL:]]
    unlabelled.verdicts.record_group(last, "anomalous")
    assert any("typical of a group" in row.reason for row in unlabelled.cases.queue(n=4))


def test_the_default_follows_a_first_ranking_while_it_hits(unlabelled: Workspace) -> None:
    for turn in range(TRIAL):
        decide(unlabelled, unlabelled.cases.queue(n=1)[0], "anomalous" if turn < 2 else "normal")
    followed = unlabelled.cases.queue(n=BATCH - TRIAL)
    assert not any("typical of a group" in row.reason for row in followed)
    for _ in range(BATCH - TRIAL):
        decide(unlabelled, unlabelled.cases.queue(n=1)[0], "normal")
    assert not any("typical of a group" in row.reason for row in unlabelled.cases.queue(n=4))
    decide(
        unlabelled, unlabelled.cases.queue(n=1)[0], "normal"
    )  # the first hit is no longer among the last ten
    assert any("typical of a group" in row.reason for row in unlabelled.cases.queue(n=2))


def test_the_command_marks_what_moved(project: Workspace, monkeypatch, capsys) -> None:
    monkeypatch.setenv("GAD_HOME", str(project.settings.home))
    assert main(["queue", "-p", "planted"]) == 0
    assert "rovisional" not in capsys.readouterr().out
    decide(
        project, next(row for row in project.cases.queue(n=5) if row.inclusion_probability is None), "normal"
    )
    assert main(["queue", "-p", "planted"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("Provisional: 1 change since run 1.")
    assert "▲" in shown or "▼" in shown
    assert main(["queue", "-p", "planted", "--no-provisional"]) == 0
    assert "rovisional" not in capsys.readouterr().out


def test_looking_at_a_member_of_a_group_counts_as_a_verdict(project: Workspace, planted) -> None:
    members = [str(project.graph.node_ids[i]) for i in np.flatnonzero(planted[1] == 1)[6:9]]
    project.verdicts.record_group(members, "anomalous", weight="one")
    project.runs.train("probe")
    assert (project.verdicts.counts()["fresh"], project.cases.basis().verdicts) == (0, 0)
    project.verdicts.record(members[0], "anomalous")
    assert (project.verdicts.counts()["fresh"], project.cases.basis().verdicts) == (1, 1)
    assert any(row.provisional_rank != row.rank for row in project.cases.queue(n=40))
    project.runs.train("probe")
    assert (project.verdicts.counts()["fresh"], project.cases.basis().verdicts) == (0, 0)
    assert project.insight.moved().changes == 1


def test_a_run_that_kept_no_weights_is_taken_to_have_had_those_of_now(project: Workspace, planted) -> None:
    node = str(project.graph.node_ids[np.flatnonzero(planted[1] == 1)[8]])
    project.verdicts.record_group([node], "anomalous", weight=0.3)
    project.runs.train("probe")
    (project.runs.result().folder / "label_weights.json").unlink()
    vars(project.runs.result()).pop("label_weights", None)
    assert (project.verdicts.counts()["fresh"], project.cases.basis().verdicts) == (0, 0)


def test_a_group_label_taken_back_is_taken_back_by_what_it_counted(project: Workspace, planted) -> None:
    node = str(project.graph.node_ids[np.flatnonzero(planted[1] == 1)[8]])
    project.verdicts.record_group([node], "anomalous", weight=0.3)
    project.runs.train("probe")
    assert project.runs.result().label_weights == {node: 0.3}
    project.verdicts.undo()
    bent = reranking.provisional(project._project, project.runs.result())
    kept = reranking._of_run(project._project, project.runs.result(), project._project.basis())
    expected = kept.reranker.rank(
        replace(kept.learnt, weight={project.graph.index_of(node): 0.3}), project.verdicts.labels()
    )
    np.testing.assert_array_equal(bent.scores, expected.scores)
    in_full = kept.reranker.rank(replace(kept.learnt, weight={}), project.verdicts.labels())
    assert np.abs(in_full.scores - bent.scores).max() > 1e-3


def test_verdicts_count_as_given_after_the_run_though_the_clock_is_set_back(project, monkeypatch) -> None:
    before = events.now()
    monkeypatch.setattr(events, "now", lambda: before - timedelta(days=1))
    decided = project.cases.queue(n=40)[:3]
    for row in decided:
        decide(project, row, "normal")
    order = queue._order(project._project, project.runs.result(), Filter())
    assert [event.node_id for event in order._asked()] == ids(decided)
