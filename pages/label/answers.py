"""What a tab wants to see: a case and its neighbourhood, other views, an explanation, a ring, search hits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gadcore.errors import GadError
from gadcore.records import as_json
from gadcore.workspace import Workspace
from pages.label import graph_view

MOST_HOPS, MOST_NODES = 3, 300
HITS = 20
VALUES = 200  # of a column, offered in the filter

Question = dict[str, Any]


def answers(workspace: Workspace, questions: list[Question]) -> dict[str, Any]:
    """An answer under each question's key; a question that cannot be answered says why."""
    found: dict[str, Any] = {}
    for question in questions:
        ask = _KINDS.get(question.get("kind", ""))
        if ask is None:
            continue
        try:
            found[question["key"]] = ask(workspace, question)
        except GadError as error:
            found[question["key"]] = {"error": str(error)}
    return found


def _case(workspace: Workspace, question: Question) -> Any:
    node = question["node"]
    return {
        "card": as_json(workspace.cases.card(node)),
        "view": graph_view.network_data(workspace.cases.neighbourhood(node)),
    }


def _view(workspace: Workspace, question: Question) -> Any:
    view = workspace.cases.neighbourhood(
        question["node"],
        hops=min(MOST_HOPS, int(question["hops"])),
        cap=min(MOST_NODES, int(question["cap"])),
        expanded=tuple(question.get("expanded", ())),
    )
    return graph_view.network_data(view)


def _why(workspace: Workspace, question: Question) -> Any:
    found, graph = workspace.insight.explain(question["node"]), workspace.graph
    ids = {part.name for part in [*found.neighbours, *found.edges] if part.name in graph}
    return {**as_json(found), "names": {node: graph.display_name(graph.index_of(node)) for node in ids}}


def _ring(workspace: Workspace, question: Question) -> Any:
    graph, ring = workspace.graph, workspace.cases.group(question["node"])
    members = [{"node_id": node, "name": graph.display_name(graph.index_of(node))} for node in ring.node_ids]
    return {"members": members, "reason": ring.reason}


def _search(workspace: Workspace, question: Question) -> Any:
    return as_json(workspace.cases.search(question["text"], limit=HITS))


def _values(workspace: Workspace, question: Question) -> Any:
    """The most frequent values of a column."""
    table = workspace.graph.node_table
    if question["column"] not in table:
        return []
    common = table[question["column"]].dropna().value_counts()
    return [str(value) for value in common.index[:VALUES]]


_KINDS: dict[str, Callable[[Workspace, Question], Any]] = {
    "case": _case,
    "view": _view,
    "why": _why,
    "ring": _ring,
    "search": _search,
    "values": _values,
}
