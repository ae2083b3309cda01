"""A real project for page tests: the planted graph in a store of its own, labelled and trained in-process."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
from conftest import planted_graph
from streamlit.testing.v1 import AppTest

from gadcore.graph import Truth
from gadcore.ingest import Reading, Report
from gadcore.ingest.report import component_summary, degree_summary
from gadcore.workspace import Workspace

ROOT = Path(__file__).resolve().parent.parent
TIMEOUT = 60  # seconds that one run of a page may take on a busy machine


def make_project(
    name: str = "planted", *, labels: bool = True, models: tuple[str, ...] = (), namesakes: bool = False
) -> Workspace:
    """A project with 30 normal and 8 anomalous labels and one finished run for each model named.

    With ``namesakes`` all nodes have the name Nora.
    """
    graph, y = planted_graph()
    if namesakes:
        table = graph.node_table.frame().assign(name="Nora")
        graph = replace(graph, node_table=table, label_column="name")
    report = Report(
        "planted", "test", graph.n_nodes, graph.n_edges, graph.n_features,
        degree=degree_summary(graph.adjacency), components=component_summary(graph.adjacency),
    )  # fmt: skip
    workspace = Workspace.create(name, Reading(graph, report, Truth(y)))
    if labels:
        for verdict, nodes in (
            ("normal", np.flatnonzero(y == 0)[:30]),
            ("anomalous", np.flatnonzero(y == 1)[:8]),
        ):
            workspace.verdicts.record_group([str(graph.node_ids[i]) for i in nodes], verdict, analyst="ana")
    for model in models:
        run = workspace.runs.train(model)
        assert run.status == "done", run.message
    return workspace


def page(path: str, workspace: Workspace | None = None, **chosen: str) -> AppTest:
    """A page as the browser first asks for it, with the project in its address; widgets as ``chosen``."""
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=TIMEOUT)
    if path != "app.py":
        app.switch_page(path)
    if workspace is not None:
        app.query_params["project"] = workspace.id
    for key, value in chosen.items():
        app.session_state[key] = value
    return app.run()


def texts(app: AppTest) -> str:
    """All that a reader can read on the page, joined."""
    kinds = ("title", "markdown", "caption", "info", "warning", "error", "success", "metric", "html")
    parts = []
    for kind in kinds:
        for element in app.get(kind):
            parts.append(
                str(getattr(element, "label", "")) + " " + str(getattr(element, "value", "") or element)
            )
    return "\n".join(parts)


def no_problem(app: AppTest) -> None:
    """The page ran to its end and shows no error."""
    assert not app.exception, [e.value for e in app.exception]
    assert not app.error, [e.value for e in app.error]
