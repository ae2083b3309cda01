"""Export: filters, preview, every download, empty states."""

from __future__ import annotations

import hashlib
import json

from page_project import make_project, no_problem, page, texts

from gadcore.output import FORMATS

EXPORT = "pages/5_Export.py"


def test_without_scores_the_page_says_to_train_and_still_gives_labels(home) -> None:
    app = page(EXPORT, make_project())
    no_problem(app)
    assert "Train a model first" in texts(app)
    assert [b.key for b in app.get("download_button")] == ["download-labels"]


def test_every_format_has_a_file_and_a_manifest(home) -> None:
    app = page(EXPORT, make_project(models=("sgc-lr",)))
    no_problem(app)
    keys = {button.key for button in app.get("download_button")}
    assert {f"download-{f}" for f in FORMATS} | {f"manifest-{f}" for f in FORMATS} <= keys
    assert {"download-report-html", "download-report-pdf", "download-labels", "download-model"} <= keys


def test_verdicts_that_the_run_has_not_seen_are_counted(home) -> None:
    workspace = make_project(models=("sgc-lr",))
    assert "since run" not in texts(page(EXPORT, workspace))
    open_nodes = [row.node_id for row in workspace.cases.queue(n=2)]
    workspace.verdicts.record(open_nodes[0], "normal")
    assert "1 verdict since run 1: retrain to use it" in texts(page(EXPORT, workspace))
    workspace.verdicts.record(open_nodes[1], "anomalous")
    app = page(EXPORT, workspace)
    no_problem(app)
    assert "2 verdicts since run 1: retrain to use them" in texts(app)


def test_filters_change_the_list(home) -> None:
    app = page(EXPORT, make_project(models=("sgc-lr",)))
    app.number_input(key="top").set_value(7)
    app.toggle(key="keep-marked").set_value(False).run()
    no_problem(app)
    assert app.metric[0].value == "7"
    app.button_group(key="verdicts").set_value(["anomalous"])
    app.number_input(key="top").set_value(200).run()
    assert app.metric[0].value == "8"
    app.button_group(key="verdicts").set_value([]).run()
    no_problem(app)
    assert "No node passes these filters" in texts(app)


def test_confirmed_cases_stay_on_the_list(home) -> None:
    app = page(EXPORT, make_project(models=("isolation-forest",)))
    app.number_input(key="top").set_value(1).run()
    assert int(app.metric[0].value) >= 8
    assert app.metric[1].value == "8"


def test_file_and_manifest_agree_across_reruns(home) -> None:
    from gadcore.output import Filters, manifest_of, render
    from pages.export.downloads import slug

    workspace = make_project(models=("sgc-lr",))
    app = page(EXPORT, workspace)
    first = app.session_state["page:export-table"][1]
    app.run()
    second = app.session_state["page:export-table"][1]
    content = render(workspace, first, "csv")
    manifest = json.loads(manifest_of(workspace, second, content, "csv", Filters(top=100), "x.csv").text())
    assert manifest["sha256"] == hashlib.sha256(render(workspace, second, "csv")).hexdigest()
    assert slug("Łódź & co/2") == "Łódź-co-2"
