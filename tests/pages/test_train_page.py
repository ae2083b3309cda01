"""Train: the form offers what a model has; runs are listed, compared, rolled back and deleted."""

from __future__ import annotations

from inspect import signature

import pytest
from page_project import make_project, no_problem, page, texts

from gadcore.detectors import REGISTRY, detector_class
from gadcore.workspace.runs import Runs
from pages.train.form import shown_parameters

TRAIN = "pages/3_Train.py"


@pytest.mark.parametrize("model", REGISTRY)
def test_parameters_of_the_registry_are_those_of_the_classes(model) -> None:
    real = [(name, p.default) for name, p in signature(detector_class(model)).parameters.items()]
    assert [(p.name, p.default) for p in REGISTRY[model].parameters] == real


def test_seed_and_device_are_not_offered_twice() -> None:
    for model in REGISTRY:
        assert not {"seed", "device", "threads"} & {about.name for about in shown_parameters(model)}


def test_the_paper_model_offers_encoder_lambda_size_depth_and_epochs() -> None:
    shown = {about.name: about for about in shown_parameters("an")}
    assert {"encoder", "lambda_", "k", "depth", "epochs"} <= set(shown)
    assert shown["encoder"].default in shown["encoder"].options


def test_without_a_run_the_page_says_what_to_do(home) -> None:
    app = page(TRAIN, make_project(labels=False))
    no_problem(app)
    assert "No run yet" in texts(app)
    assert "needs two finished runs" in texts(app)


def test_the_form_follows_the_chosen_model(home) -> None:
    app = page(TRAIN, make_project())
    app.selectbox(key="model").set_value("an").run()
    no_problem(app)
    assert app.selectbox(key="an-encoder").value == "gcn"
    app.selectbox(key="model").set_value("isolation-forest").run()
    assert not [box for box in app.selectbox if box.key == "an-encoder"]
    assert app.number_input(key="isolation-forest-trees").value == 200


def test_a_model_that_needs_labels_cannot_be_started_without(home) -> None:
    app = page(TRAIN, make_project(labels=False))
    app.selectbox(key="model").set_value("sgc-lr").run()
    assert app.button(key="train").disabled
    assert "both kinds" in app.warning[0].value
    app.selectbox(key="model").set_value("isolation-forest").run()
    assert not app.button(key="train").disabled


def test_train_hands_the_changed_parameters_to_the_worker(home, monkeypatch) -> None:
    asked = []
    monkeypatch.setattr(Runs, "start", lambda self, model, **given: asked.append((model, given)))
    app = page(TRAIN, make_project())
    app.selectbox(key="model").set_value("an").run()
    app.number_input(key="an-k").set_value(16)
    app.selectbox(key="device").set_value("cpu")
    app.button(key="train").click().run()
    no_problem(app)
    assert asked == [("an", {"params": {"k": 16}, "device": "cpu", "seed": 0})]


def test_runs_show_their_figures_and_can_be_rolled_back(home) -> None:
    workspace = make_project(models=("sgc-lr", "label-propagation"))
    app = page(TRAIN, workspace)
    no_problem(app)
    shown = texts(app)
    assert REGISTRY["sgc-lr"].title in shown
    assert "30 normal and 8 anomalous labels" in shown
    assert workspace.runs.in_use().number == 2
    app.button(key="use-1").click().run()
    no_problem(app)
    assert workspace.runs.in_use().number == 1


def test_a_run_is_deleted_only_by_the_second_click(home) -> None:
    workspace = make_project(models=("sgc-lr", "label-propagation"))
    app = page(TRAIN, workspace)
    assert len(workspace.runs.all()) == 2
    app.button(key="delete-2").click().run()
    no_problem(app)
    assert [run.number for run in workspace.runs.all()] == [1]


def test_two_runs_are_compared(home) -> None:
    app = page(TRAIN, make_project(models=("sgc-lr", "label-propagation")))
    no_problem(app)
    titles = [metric.label for metric in app.metric]
    assert "Rank correlation" in titles
    assert "New in the top 100" in titles
    app.number_input(key="k").set_value(5).run()
    no_problem(app)
    assert "New in the top 5" in [metric.label for metric in app.metric]


def test_the_run_in_use_is_compared_with_the_last_one_of_its_model(home) -> None:
    workspace = make_project(models=("sgc-lr",))
    workspace.runs.train("label-propagation", use=False)
    workspace.runs.train("sgc-lr")
    app = page(TRAIN, workspace)
    no_problem(app)
    assert (app.selectbox(key="before").value, app.selectbox(key="after").value) == (1, 3)


def test_a_failed_run_shows_its_reason(home, monkeypatch) -> None:
    workspace = make_project(labels=False)
    run = workspace.runs.train("label-propagation")
    assert run.status == "failed"
    app = page(TRAIN, workspace)
    assert not app.exception
    assert "at least one normal and one anomalous label" in texts(app)
