"""What a tab wants to see: a case and its neighbourhood, other views, an explanation, a ring, search hits."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

from gadcore.errors import GadError
from gadcore.records import as_json
from gadcore.records.links import LinkFilter
from gadcore.workspace import Workspace
from pages.label import graph_view

MOST_HOPS, MOST_NODES, MOST_PINS = 3, 300, 12
HITS = 20
VALUES = 200  # of a column, offered in the filter
LINKS = 500  # of a case's table, in one message

Question = dict[str, Any]


def answers(workspace: Workspace, questions: list[Question], hidden: Collection[str] = ()) -> dict[str, Any]:
    """An answer under each question's key; a question that cannot be answered says why.

    Nothing is told of verdicts on ``hidden`` nodes.
    """
    found: dict[str, Any] = {}
    for question in questions:
        ask = _KINDS.get(question.get("kind", ""))
        if ask is None:
            continue
        try:
            found[question["key"]] = ask(workspace, {**question, "hidden": hidden})
        except GadError as error:
            found[question["key"]] = {"error": str(error)}
    return found


def _case(workspace: Workspace, question: Question) -> Any:
    node, hidden = question["node"], question["hidden"]
    return {
        "card": as_json(workspace.cases.card(node, hidden=hidden)),
        "view": graph_view.network_data(workspace.cases.neighbourhood(node, hidden=hidden)),
    }


def _view(workspace: Workspace, question: Question) -> Any:
    view = workspace.cases.neighbourhood(
        question["node"],
        hops=min(MOST_HOPS, int(question["hops"])),
        cap=min(MOST_NODES, int(question["cap"])),
        expanded=tuple(question.get("expanded", ())),
        pinned=tuple(question.get("pinned", ()))[:MOST_PINS],
        hidden=question["hidden"],
    )
    return graph_view.network_data(view)


def _links(workspace: Workspace, question: Question) -> Any:
    """A page of the links between two nodes."""
    page = workspace.cases.links_between(
        question["source"],
        question["target"],
        start=int(question["start"]),
        after=question.get("after"),
        before=question.get("before"),
        without=[int(kind) for kind in question.get("without", ())],
    )
    return as_json(page)


def _why(workspace: Workspace, question: Question) -> Any:
    found = workspace.insight.explain(question["node"], hidden=question["hidden"])
    graph = workspace.graph
    ids = {part.name for part in [*found.neighbours, *found.edges] if part.name in graph}
    return {**as_json(found), "names": {node: graph.display_name(graph.index_of(node)) for node in ids}}


def _ring(workspace: Workspace, question: Question) -> Any:
    graph, ring = workspace.graph, workspace.cases.group(question["node"])
    members = [{"node_id": node, "name": graph.display_name(graph.index_of(node))} for node in ring.node_ids]
    return {"members": members, "reason": ring.reason}


def _activity(workspace: Workspace, question: Question) -> Any:
    """A page of the links of a case; all of them as CSV where that is asked for."""
    node, where = question["node"], LinkFilter(**question.get("where", {}))
    if question.get("csv"):
        workspace.check("export")
        return {"csv": workspace.cases.links(node, where).to_csv(index=False)}
    found = workspace.cases.activity(
        node,
        where,
        sort=question.get("sort"),
        descending=question.get("descending"),
        offset=int(question.get("offset", 0)),
        n=min(LINKS, int(question["n"])),
        by=question.get("by"),
    )
    return as_json(found)


def _paths(workspace: Workspace, question: Question) -> Any:
    return as_json(workspace.cases.paths(question["node"], question["other"]))


def _search(workspace: Workspace, question: Question) -> Any:
    return as_json(workspace.cases.search(question["text"], limit=HITS, hidden=question["hidden"]))


def _team(workspace: Workspace, question: Question) -> Any:
    """Whom cases can be assigned to, and how many of theirs are open."""
    open_ = {each.analyst: len(each.open) for each in workspace.cases.assigned()}
    return [{"name": name, "open": open_.get(name, 0)} for name in sorted({*workspace.cases.team(), *open_})]


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
    "links": _links,
    "why": _why,
    "ring": _ring,
    "activity": _activity,
    "paths": _paths,
    "search": _search,
    "values": _values,
    "team": _team,
}
