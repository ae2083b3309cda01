"""What a tab did, carried out: each event once, in the order of the tab.

An event has a kind, and the tab and number that make it one of a kind. Verdicts and what else is kept are
written in one transaction with their receipt. What is wrong with an event is told on the screen.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from gadcore.errors import GadError, InputError, Unavailable
from gadcore.graph.labels import LabelEvent
from gadcore.workspace import Filter, Workspace
from gadcore.workspace.preferences import SETTINGS

if TYPE_CHECKING:
    from pages.label.board import Board

TUNING = (
    "dial",
    "audit_share",
    "near_duplicates",
    "overlap",
)  # preferences that change the order of the queue

Event = dict[str, Any]


def take_all(workspace: Workspace, board: Board, events: list[Event]) -> None:
    """Perform events in their order, once each; those from which on the store does not answer come again."""
    try:
        for event in events:
            _take(workspace, board, event)
    except Unavailable as error:
        tell_unstored(board, error)


def tell_unstored(board: Board, error: Unavailable) -> None:
    board.tell(f"Not stored yet, it will be tried again. {error}", "error", about="store")


def _take(workspace: Workspace, board: Board, event: Event) -> None:
    """Perform one event once; what is wrong with it is told, not raised, or it would be sent for ever."""

    def perform() -> None:
        act(workspace, board, event, event.get("analyst") or board.analyst)

    kind, client, seq = event.get("kind"), str(event["client"]), int(event["seq"])
    act = KEPT.get(kind) or PASSING.get(kind) or _ignore
    try:
        if kind in KEPT:
            workspace.messages.once(client, seq, perform)
        elif workspace.messages.once(client, seq, lambda: None):
            perform()
    except Unavailable:
        raise
    except GadError as error:
        board.tell(str(error), "error")


def receipts(workspace: Workspace, events: list[Event]) -> dict[str, int]:
    """The last number that is done with, of every tab whose events came along (some from before a reload)."""
    clients = {str(event["client"]) for event in events}
    return {client: workspace.messages.last(client) for client in clients}


def _ignore(workspace: Workspace, board: Board, event: Event, analyst: str) -> None:
    """An event of a kind that this version does not know: one of an older or newer screen."""


def _verdict(workspace: Workspace, board: Board, event: Event, analyst: str) -> None:
    workspace.verdicts.record(
        event["node"],
        event["verdict"],
        analyst=analyst,
        offer=event.get("offer"),
    )


def _settle(workspace: Workspace, board: Board, event: Event, analyst: str) -> None:
    workspace.verdicts.settle(event["node"], event["verdict"], analyst=analyst)


def _group(workspace: Workspace, board: Board, event: Event, analyst: str) -> None:
    """One verdict on nodes that were each ticked or selected on the screen: a verdict they have is meant."""
    workspace.verdicts.record_group(
        event["nodes"],
        event["verdict"],
        analyst=analyst,
        source=event.get("source") or "ring",
        weight=event.get("weight", 1.0),
        judged=event.get("judged", ()),
        overrule=True,
        offers=event.get("offers") or {},
    )


def _undo(workspace: Workspace, board: Board, event: Event, analyst: str) -> None:
    if not _was_refused(workspace, event):
        _reversed(workspace, board, event, workspace.verdicts.undo(analyst), ("take back", "Took back"))


def _redo(workspace: Workspace, board: Board, event: Event, analyst: str) -> None:
    if not _was_refused(workspace, event):
        _reversed(workspace, board, event, workspace.verdicts.redo(analyst), ("restore", "Restored"))


def _was_refused(workspace: Workspace, event: Event) -> bool:
    """Whether the step that a tab takes back wrote nothing: an earlier one must not go in its place."""
    step = event.get("step")
    return step is not None and workspace.messages.refused(event["client"], step)


def _reversed(
    workspace: Workspace, board: Board, event: Event, done: list[LabelEvent], words: tuple[str, str]
) -> None:
    """Say what an undo or redo did, and show it where the tab cannot know it by itself."""
    if not done:
        board.tell(f"There is nothing of yours to {words[0]}.", about="step")
        return
    node, graph = done[0].node_id, workspace.graph
    which = graph.full_name(graph.index_of(node)) if len(done) == 1 else f"{len(done):,} nodes"
    board.tell(f"{words[1]} the verdict on {which}.", about="step")
    if event.get("show"):
        board.ask_to_open(node)


def _note(workspace: Workspace, board: Board, event: Event, analyst: str) -> None:
    workspace.verdicts.note(event["node"], event["text"], analyst=analyst)


def _watch(workspace: Workspace, board: Board, event: Event, analyst: str) -> None:
    """Put a node on the analyst's watchlist, or take it off."""
    act = workspace.cases.watch if event["on"] else workspace.cases.unwatch
    act(event["node"], analyst=analyst)


def _reason(workspace: Workspace, board: Board, event: Event, analyst: str) -> None:
    workspace.verdicts.give_reason(event["node"], event["reason"], analyst=analyst)


def _assign(workspace: Workspace, board: Board, event: Event, analyst: str) -> None:
    """Give cases to an analyst, or with no name take them back."""
    if event["to"]:
        given = workspace.cases.assign(event["nodes"], event["to"], analyst=analyst)
        left = len(event["nodes"]) - len(given)
        rest = f" {left:,} had a verdict already." if left else ""
        board.tell(f"Assigned {_cases(given)} to {event['to']}.{rest}", about="assign")
    else:
        back = workspace.cases.take_back(event["nodes"], analyst=analyst)
        board.tell(f"Took back {_cases(back)}: everybody may be asked again.", about="assign")


def _cases(nodes: list[str]) -> str:
    return "1 case" if len(nodes) == 1 else f"{len(nodes):,} cases"


def _order(workspace: Workspace, board: Board, event: Event, analyst: str) -> None:
    board.queue.strategy, board.queue.where = event["strategy"], Filter(**event["where"])
    if workspace.may("set_preference"):
        workspace.set_preference("strategy", event["strategy"])
    board.queue.begin(workspace, board.analyst)


def _more(workspace: Workspace, board: Board, event: Event, analyst: str) -> None:
    board.queue.lengthen(workspace, board.analyst)


def _retrain(workspace: Workspace, board: Board, event: Event, analyst: str) -> None:
    if workspace.runs.active() is None:
        workspace.runs.start()


def _cancel(workspace: Workspace, board: Board, event: Event, analyst: str) -> None:
    workspace.runs.cancel(event["run"])
    board.tell("Cancelled the run. Labels and earlier runs are untouched.")


def _prefer(workspace: Workspace, board: Board, event: Event, analyst: str) -> None:
    if event["key"] not in SETTINGS:
        raise InputError(f"a setting {event['key']!r}", f"one of {', '.join(SETTINGS)}")
    workspace.set_preference(event["key"], event["value"])
    if event["key"] in TUNING:
        board.queue.begin(workspace, board.analyst)


def _leave(workspace: Workspace, board: Board, event: Event, analyst: str) -> None:
    board.leave = event["page"]


_Act = Callable[[Workspace, "Board", Event, str], None]
KEPT: dict[Any, _Act] = {  # what they write and the receipt are one transaction
    "verdict": _verdict,
    "settle": _settle,
    "group": _group,
    "undo": _undo,
    "redo": _redo,
    "note": _note,
    "watch": _watch,
    "reason": _reason,
    "assign": _assign,
}
PASSING: dict[Any, _Act] = {  # about the screen or the runs: lost with the server, they can be asked again
    "order": _order,
    "more": _more,
    "retrain": _retrain,
    "cancel": _cancel,
    "prefer": _prefer,
    "leave": _leave,
}
