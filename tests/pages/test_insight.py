"""Train, the insight tabs: empty states that help, figures in plain words, cases settled with a click."""

from __future__ import annotations

from dataclasses import replace

import pytest
from drawn import record_drawn
from page_project import make_project, no_problem, page, texts
from probe_detector import register, unregister

from gadcore.insight.moved import Cause, Mover
from gadcore.loop.audit import audit
from pages.train.insight import causes_text
from pages.train.left import hit_words, left_figure, left_words, precision_words, recall_words

TRAIN = "pages/3_Train.py"


@pytest.fixture
def probe():
    register()
    yield
    unregister()


def random_checks(workspace) -> None:
    """Verdicts on random checks of every stratum: 10 of the top, 6 below it, 6 of the rest."""
    order = [str(workspace.graph.node_ids[i]) for i in workspace.runs.result().order]
    fresh = [node for node in order if node not in workspace.verdicts.current()]
    for i, (node, share) in enumerate(zip(fresh, [0.2] * 10 + [0.075] * 6 + [0.03] * 6)):
        verdict = "anomalous" if i in (0, 3) else "normal"
        record_drawn(workspace, node, verdict, strategy="audit", inclusion_probability=share / 14)


def disputed_project():
    """ana and bo judge eight nodes; they differ on one."""
    workspace = make_project(labels=False)
    for i in range(8):
        for analyst in ("ana", "bo"):
            word = "anomalous" if i < 3 and not (analyst == "bo" and i == 0) else "normal"
            workspace.verdicts.record(f"n00{i}", word, analyst=analyst)
    return workspace


def test_without_labels_every_tab_says_what_to_do(home) -> None:
    app = page(TRAIN, make_project(labels=False))
    no_problem(app)
    names = [tab.label for tab in app.tabs]
    assert names[:4] == ["What is left", "What moved", "Second look", "Agreement"]
    shown = texts(app)
    assert "0 of the 15 random checks that are needed" in shown
    assert "no finished run" in shown
    assert "No verdict yet" in shown
    assert "two analysts" in shown


def test_what_is_left_in_plain_words(home, probe) -> None:
    workspace = make_project(models=("probe",))
    random_checks(workspace)
    app = page(TRAIN, workspace)
    no_problem(app)
    values = {metric.label: metric.value for metric in app.metric}
    assert values["Anomalies left"] != "–"
    assert values["Precision of the top 100"] != "–"
    assert "among the cases without a verdict" in texts(app)
    app.number_input(key="insight-k").set_value(10).run()
    no_problem(app)
    assert "Precision of the top 10" in [metric.label for metric in app.metric]
    app.number_input(key="insight-recall").set_value(80).run()
    no_problem(app)
    assert workspace.insight.least_recall() == 0.8


def test_figures_that_are_missing_say_why() -> None:
    report = audit(100, [])
    assert "No estimate yet" in precision_words(report)
    assert "No estimate yet" in left_words(report)
    assert "No estimate yet" in recall_words(report)
    figure = left_figure(5, 10.0, (4.0, 30.0))
    assert list(figure.data[1].error_x.array) == [20.0]
    assert list(figure.data[1].error_x.arrayminus) == [6.0]


def test_words_of_the_audit_are_right_for_one_and_for_many() -> None:
    report = replace(audit(100, []), left=9.0, left_interval=(2.0, 30.0), checks_needed=943)
    said = "stopping could be justified after about 943 more random checks without a hit"
    assert left_words(report).endswith(said)
    assert left_words(replace(report, checks_needed=1)).endswith("1 more random check without a hit")
    hits = [hit_words(replace(report, labelled=5, found=2, since_hit=n)) for n in (0, 1, 2)]
    assert hits == [
        "the last label was a hit, 2 found in all",
        "1 label since the last hit, 2 found in all",
        "2 labels since the last hit, 2 found in all",
    ]
    assert hit_words(replace(report, labelled=1)) == "no hit in 1 label, 0 found in all"


def test_one_random_check_is_one(home, probe) -> None:
    workspace = make_project(models=("probe",))
    record_drawn(workspace, "n100", "normal", strategy="audit", inclusion_probability=0.01)
    assert "Rests on 1 random check that" in texts(page(TRAIN, workspace))


def test_what_moved_names_the_labels_behind_it(home, probe) -> None:
    workspace = make_project(labels=False, models=("probe",))
    quiet = str(workspace.graph.node_ids[workspace.runs.result().order[-1]])
    workspace.verdicts.record(quiet, "anomalous")
    assert workspace.runs.train("probe").status == "done"
    app = page(TRAIN, workspace)
    no_problem(app)
    assert "From run 1 to run 2: 1 label new" in texts(app)
    assert "its own label, anomalous" in texts(app)
    assert app.button(key=f"open-risen-{quiet}").label == "Open"


def test_nodes_that_share_a_name_are_told_apart(home, probe) -> None:
    workspace = make_project(labels=False, models=("probe",), namesakes=True)
    quiet = str(workspace.graph.node_ids[workspace.runs.result().order[-1]])
    for analyst, verdict in (("ana", "normal"), ("bo", "anomalous")):
        workspace.verdicts.record(quiet, verdict, analyst=analyst)
    assert workspace.runs.train("probe").status == "done"
    shown = texts(page(TRAIN, workspace))
    assert shown.count(f"**Nora** :gray[{quiet}]") == 3  # risen, in doubt, disputed


def test_causes_are_written_literally() -> None:
    cause = Cause("x", "*bold*", None, "normal", "normal taken back", 0.5, "a neighbour")
    mover = Mover("n1", "n1", 900, 40, None, [cause])
    assert causes_text(mover) == r"\*bold\* :gray[x] normal taken back (a neighbour)"


def test_what_labels_do_to_a_mover_is_told_as_far_as_it_is_known() -> None:
    cause = Cause("x", "x", "anomalous", None, "anomalous", 0.0, "its own label", share=0.8, places=2)
    mover = Mover("n1", "n1", 900, 40, None, [cause], head=600)
    assert causes_text(mover) == (
        "its own label, anomalous: 80% of the push up, would stand 2 places lower without it; "
        "without all changed labels: rank 640"
    )
    assert causes_text(replace(mover, causes=[], head=5)) == (
        "no single label; the linear model explains only part of this move"
    )


def test_a_dispute_is_shown_with_kappa_and_settled_by_a_click(home) -> None:
    workspace = disputed_project()
    app = page(TRAIN, workspace)
    no_problem(app)
    assert "Cohen's kappa" in [metric.label for metric in app.metric]
    assert "Disputed: 1" in texts(app)
    app.button(key="settle-anomalous-dispute-n000").click().run()
    no_problem(app)
    last = workspace.verdicts.history("n000")[-1]
    assert (last.source, last.verdict.value) == ("adjudication", "anomalous")
    assert "No open dispute" in texts(app)


def test_a_second_look_keeps_the_verdict_and_is_done(home) -> None:
    workspace = disputed_project()
    app = page(TRAIN, workspace)
    assert "analysts disagree" in texts(app).replace("\\", "")
    assert app.button(key="settle-normal-look-n000").label == "Keep normal"
    app.button(key="settle-normal-look-n000").click().run()
    no_problem(app)
    assert workspace.insight.second_look() == []
    assert "No verdict is in doubt" in texts(app)


def test_a_case_opens_on_the_label_page(home, monkeypatch) -> None:
    asked, left_for = [], []
    monkeypatch.setattr("pages.train.insight.state.open_case", asked.append)
    monkeypatch.setattr("pages.train.insight.st.switch_page", left_for.append)
    app = page(TRAIN, disputed_project())
    app.button(key="open-look-n000").click().run()
    no_problem(app)
    assert (asked, left_for) == (["n000"], ["pages/1_Label.py"])


def test_the_chosen_tab_is_kept_for_the_session(home) -> None:
    app = page(TRAIN, disputed_project())
    app.session_state["insight-tab"] = "Second look"
    app.run()
    no_problem(app)
    assert app.session_state["page:insight-tab"] == "Second look"
    del app.session_state["insight-tab"]  # as when another page was shown in between
    app.run()
    no_problem(app)
    assert app.session_state["insight-tab"] == "Second look"
