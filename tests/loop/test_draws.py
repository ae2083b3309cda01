"""Random checks stay random checks: however they are answered, from the screen and from the shell."""

from __future__ import annotations

import threading

import numpy as np
import pytest
import scipy.sparse as sp
from commands import answer, spoken
from drawn import offer_of
from probe_detector import reading, register, unregister

from gadcore.errors import LabelError
from gadcore.graph import Graph, make_graph
from gadcore.loop.audit import audit_draws
from gadcore.workspace import Workspace, queue
from gadcore.workspace.project import DERIVED


@pytest.fixture
def project(settings, planted):
    register()
    made = Workspace.create("net", reading(*planted), settings=settings)
    made.runs.train("probe")
    yield made
    unregister()


def forget() -> None:
    """What another process would not know."""
    with DERIVED._guard:
        DERIVED._kept.clear()


def checks(project: Workspace, strategy: str | None = None) -> list:
    rows = project.cases.queue(strategy=strategy, n=40)
    return [row for row in rows if row.inclusion_probability is not None]


def test_a_random_check_answered_with_its_ring_is_a_draw(project: Workspace) -> None:
    case = checks(project)[0]
    ring = [case.node_id, *[row.node_id for row in project.cases.queue(n=9) if row.node_id != case.node_id]]
    events = project.verdicts.record_group(
        ring,
        "anomalous",
        weight="root",
        judged=[case.node_id],
        offers={case.node_id: case.offer},
    )
    assert [e.node_id for e in events if e.inclusion_probability is not None] == [case.node_id]
    assert [e.node_id for e in events if e.strategy] == [case.node_id]
    report = project.insight.audit()
    assert (report.draws, report.hits, report.found) == (1, 1, len(ring))


@pytest.mark.parametrize("drawn", ["n002", "n009"])
def test_only_nodes_that_were_looked_at_can_be_draws(project: Workspace, drawn: str) -> None:
    with pytest.raises(LabelError, match=f"{drawn!r} is named with an offer"):
        project.verdicts.record_group(["n001", "n002"], "a", weight=0.5, judged=["n001"], offers={drawn: 1})
    assert project.verdicts.current() == {}


def test_random_checks_marked_together_are_draws(project: Workspace) -> None:
    rows = project.cases.queue(n=20)
    found = project.verdicts.record_group(
        [row.node_id for row in rows],
        "normal",
        source="selection",
        offers={row.node_id: row.offer for row in rows},
    )
    wanted = {row.node_id: row.inclusion_probability for row in rows}
    assert {event.node_id: event.inclusion_probability for event in found} == wanted
    drawn = sum(chance is not None for chance in wanted.values())
    assert drawn
    assert project.insight.audit().draws == drawn


def test_a_ring_labelled_in_the_shell_keeps_the_draw_of_its_case(project: Workspace, capsys) -> None:
    case = checks(project)[0]
    forget()
    shown = spoken(capsys, "group", "-p", "net", case.node_id, "--label", "anomalous")
    assert "counts as a random check)" in shown  # alone, or one of its ring
    assert project.verdicts.current()[case.node_id].inclusion_probability == case.inclusion_probability


def test_the_shell_records_the_random_checks_of_the_queue(project: Workspace, capsys) -> None:
    case = checks(project)[0]
    forget()
    shown = spoken(capsys, "label", "-p", "net", case.node_id, "normal")
    assert "(counts as a random check)" in shown
    event = project.verdicts.current()[case.node_id]
    assert (event.strategy, event.inclusion_probability) == ("audit", case.inclusion_probability)
    assert project.insight.audit().draws == 1


def test_all_of_a_printed_audit_count_one_by_one(project: Workspace, capsys) -> None:
    printed = answer(capsys, "queue", "-p", "net", "--strategy", "audit", "-n", "8")
    for row in printed:
        forget()  # each command is a process of its own
        spoken(capsys, "label", "-p", "net", row["node_id"], "normal", "--strategy", "audit")
    found = project.verdicts.current()
    assert [found[row["node_id"]].inclusion_probability for row in printed] == [
        row["inclusion_probability"] for row in printed
    ]
    assert project.insight.audit().draws == 8


@pytest.mark.parametrize("tuning", [("--strategy", "audit"), ("--audit-share", "1")])
def test_random_checks_of_another_queue_that_was_printed_count(project: Workspace, capsys, tuning) -> None:
    printed = answer(capsys, "queue", "-p", "net", *tuning, "-n", "5")
    for row in printed:
        forget()
        said = spoken(capsys, "label", "-p", "net", row["node_id"], "normal")
        assert "(counts as a random check)" in said
    assert project.insight.audit().draws == 5


@pytest.mark.parametrize("strategy", [None, "audit"])
def test_a_check_that_was_drawn_but_not_shown_is_none(project: Workspace, capsys, strategy) -> None:
    """Whoever judges it has found it otherwise, for instance by its score."""
    named = ["--strategy", strategy] if strategy else []
    shown = {row["node_id"] for row in answer(capsys, "queue", "-p", "net", "-n", "3", *named)}
    order = queue._order(project._project, project.runs.result(), queue.Filter(), strategy=strategy)
    drawn = [str(project.graph.node_ids[q.node]) for q in order.queries if q.inclusion_probability]
    hidden = next(node for node in drawn if node not in shown)
    forget()
    assert "random check" not in spoken(capsys, "label", "-p", "net", hidden, "normal", *named)
    project.verdicts.undo()
    project.cases.queue(n=75, strategy=strategy)
    forget()
    assert "(counts as a random check)" in spoken(capsys, "label", "-p", "net", hidden, "normal", *named)


def test_other_nodes_are_no_draws_whatever_strategy_is_named(project: Workspace, capsys) -> None:
    audited = {row.node_id for row in project.cases.queue(strategy="audit", n=60)}
    audited |= {row.node_id for row in project.cases.queue(n=60)}
    outside = next(str(node) for node in project.graph.node_ids if str(node) not in audited)
    spoken(capsys, "label", "-p", "net", outside, "anomalous", "--strategy", "audit")
    case = checks(project)[0].node_id
    spoken(capsys, "label", "-p", "net", case, outside, "anomalous", "--group", "root")
    assert [event.inclusion_probability for event in project.verdicts.current().values()] == [None, None]
    assert project.insight.audit().draws == 0


def test_two_tabs_extend_an_order_without_doubling_cases(project: Workspace, monkeypatch) -> None:
    project.cases.queue(strategy="top", n=1)
    real, inside, both = queue.work_out, [], threading.Event()

    def slow(*given, **more):
        inside.append(1)
        if len(inside) == 2:
            both.set()
        both.wait(0.5)
        return real(*given, **more)

    monkeypatch.setattr(queue, "work_out", slow)
    forget()
    order = queue._order(project._project, project.runs.result(), queue.Filter(), strategy="uncertainty")
    tabs = [threading.Thread(target=order.cases, args=(30, None)) for _ in range(2)]
    for tab in tabs:
        tab.start()
    for tab in tabs:
        tab.join()
    nodes = [query.node for query in order.queries]
    assert len(nodes) == len(set(nodes)) > 0


def test_a_draw_remembers_when_it_was_drawn_however_late_it_is_answered(project: Workspace) -> None:
    """Hits between draw and verdict must not be counted again in what the draw stands for."""
    case = checks(project)[-1]
    others = [row for row in project.cases.queue(n=60) if row.inclusion_probability is None][:40]
    for row in others:
        project.verdicts.record(row.node_id, "anomalous", offer=row.offer)
    event = project.verdicts.record(case.node_id, "normal", offer=case.offer)
    assert event.inclusion_probability == case.inclusion_probability
    assert event.drawn_after == 0
    draw = audit_draws(project.graph.n_nodes, project.verdicts.in_order())[0]
    assert (draw.found_before, draw.open_before) == (0, project.graph.n_nodes)
    after = project._project.view().last_id
    order = queue._order(project._project, project.runs.result(), queue.Filter())
    project.cases.queue(n=60)
    assert {query.drawn_after for query in order.queries if query.inclusion_probability} == {0, after}


def test_a_waiting_case_that_is_drawn_becomes_a_random_check(project: Workspace) -> None:
    """Draws of cases that are queued anyway must not be lost, or the top would be drawn too seldom."""
    project.set_preference("provisional", False)
    turned = []
    for _ in range(4):
        waiting = project.cases.queue(n=75)
        for row in waiting[:26]:
            answer_as_offered(project, row)
        later = {row.node_id: row for row in project.cases.queue(n=300)}
        still = [row for row in waiting[26:] if later[row.node_id] == row]
        assert [row.node_id for row in still] == list(later)[: len(still)]
        turned += [later[row.node_id] for row in waiting[26:] if later[row.node_id] != row]
    assert turned
    assert all(row.inclusion_probability and offer_of(project, row.offer).drawn_after for row in turned)


def answer_as_offered(project: Workspace, row) -> None:
    """A verdict as the screen gives it."""
    project.verdicts.record(row.node_id, "normal", offer=row.offer)


@pytest.mark.parametrize("labelled", [0, 40])
def test_looking_far_ahead_changes_no_case(project: Workspace, labelled: int) -> None:
    for row in project.cases.queue(n=60)[:labelled]:
        answer_as_offered(project, row)
    before = project.cases.queue(n=60)
    assert sum(row.inclusion_probability is not None for row in before) in range(7, 15)
    assert len(project.cases.queue(n=4000)) == 300 - labelled
    assert project.cases.queue(n=60) == before
    forget()
    assert project.cases.queue(n=60) == before


@pytest.mark.parametrize("warm", [False, True])
def test_random_checks_keep_their_share_of_the_cases_served(settings, planted, warm: bool) -> None:
    """With and without verdicts that move the queue between runs."""
    register()
    graph = many_copies(planted[0], 2)
    project = Workspace.create("net", reading(graph), settings=settings)
    if warm:
        project.verdicts.record_group([str(node) for node in graph.node_ids[-20:-10]], "normal")
        project.verdicts.record_group([str(node) for node in graph.node_ids[-10:]], "anomalous")
    project.runs.train("probe")
    unregister()
    served = []
    for _ in range(300):
        row = project.cases.queue(n=1)[0]
        served.append(row.inclusion_probability is not None)
        answer_as_offered(project, row)
    assert sum(served) in range(33, 57)
    assert all(2 <= sum(served[start : start + 50]) <= 13 for start in range(0, 300, 50))


def many_copies(graph: Graph, n: int) -> Graph:
    """So many times the graph side by side."""
    i, j = graph.adjacency.nonzero()
    edges = np.hstack([np.vstack([i, j]) + k * graph.n_nodes for k in range(n)])
    x = np.vstack([np.asarray(graph.x.todense() if sp.issparse(graph.x) else graph.x)] * n)
    noise = np.random.default_rng(0).normal(0, 0.01, x.shape)
    return make_graph([f"n{k:04d}" for k in range(n * graph.n_nodes)], edges, (x + noise).astype(np.float32))


def test_a_small_graph_has_random_checks_for_the_nodes_that_it_has(settings) -> None:
    register()
    edges = np.array([np.arange(59), np.arange(1, 60)])
    x = np.random.default_rng(0).normal(size=(60, 4)).astype(np.float32)
    project = Workspace.create("small", reading(make_graph(range(60), edges, x)), settings=settings)
    project.runs.train("probe")
    unregister()
    project.cases.queue(n=400)
    rows = project.cases.queue(n=60)
    assert len(rows) == 60
    checks = [row.node_id for row in rows if row.inclusion_probability is not None]
    assert len(checks) in (7, 8, 9)  # two that fall on one place are one
    for row in rows[:5]:
        answer_as_offered(project, row)
    left = [row.node_id for row in project.cases.queue(n=60) if row.inclusion_probability is not None]
    assert left == [node for node in checks if node in left]


def test_cases_opened_by_undo_come_back_into_a_queue_that_had_run_out(project: Workspace) -> None:
    every = [str(node) for node in project.graph.node_ids]
    project.verdicts.record_group(every[:-10], "normal")
    assert len(project.cases.queue(n=60)) == 10
    project.verdicts.undo()
    assert len(project.cases.queue(n=60)) == 60


def test_the_queue_around_anomalies_follows_each_new_one(project: Workspace) -> None:
    assert project.cases.queue(strategy="ring", n=20) == []
    for node in range(2):
        name = str(project.graph.node_ids[node])
        project.verdicts.record(name, "anomalous")
        around = {str(project.graph.node_ids[i]) for i in project.graph.neighbours(node)[0]} - set(
            project.verdicts.current()
        )
        offered = {row.node_id for row in project.cases.queue(strategy="ring", n=40)}
        assert around <= offered


def test_the_shell_names_the_commands_that_give_random_checks(project: Workspace, capsys) -> None:
    shown = spoken(capsys, "audit", "-p", "net")
    assert "`queue --strategy audit` gives the other 15 at once" in shown
    assert "Random audit" not in shown
    spoken(capsys, "queue", "-p", "net", "--audit-share", "0", "--keep")
    shown = spoken(capsys, "audit", "-p", "net")
    assert "switched off in the queue (`queue --audit-share 0.15 --keep` mixes them in)" in shown


def test_the_shell_says_why_a_queue_is_empty(project: Workspace, capsys) -> None:
    assert spoken(capsys, "queue", "-p", "net", "--strategy", "ring").startswith("No confirmed anomaly yet: ")
    project.verdicts.record_group([str(node) for node in project.graph.node_ids], "normal")
    assert spoken(capsys, "queue", "-p", "net") == "Every node has a verdict.\n"
