"""The server's side of the labelling screen: one message from a browser tab in, one payload out.

A tab sends ``{project, client, n, analyst, events, want, labels, queue, rows}``; ``answer`` performs the
events that it has not seen yet, once each, and gives what the tab needs. Every part of a payload says what it
is a change of, so a payload that is lost or comes twice does no harm. No Streamlit in here.
"""

from __future__ import annotations

import secrets
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from gadcore.errors import GadError, InputError, Unavailable
from gadcore.graph.labels import LabelEvent
from gadcore.records import RunInfo, as_json
from gadcore.workspace import OTHERS, QUIET, STRATEGIES, Filter, Workspace, auc_text
from gadcore.workspace.preferences import SETTINGS
from pages.common.audit_words import audit_line
from pages.label.answers import answers
from pages.label.tab_queue import TabQueue

REMEMBERED = 8  # label sets kept per tab, to send differences to
NOTICES = 12
COLUMNS = 60
AT_ONCE = 20_000  # nodes up to which the audit (about 40 ms then) is worked out while keys come in
TUNING = ("dial", "audit_share", "near_duplicates")  # preferences that change the order of the queue

Message = dict[str, Any]
Payload = dict[str, Any]


@dataclass
class Board:
    """Where one tab stands: its queue, the label sets it was sent, what it is to be told."""

    name: str = field(default_factory=lambda: secrets.token_hex(4))
    queue: TabQueue = field(init=False)
    run: str | None = None  # whose order the queue is in
    label_sets: OrderedDict[str, dict[str, str]] = field(default_factory=OrderedDict)
    sets: int = 0
    notices: list[dict[str, Any]] = field(default_factory=list)
    told: int = 0
    opening: dict[str, Any] | None = None
    leave: str = ""  # page that the analyst asked for
    watched: str = ""  # run that was under way at the last exchange
    analyst: str = ""
    audit: Payload = field(default_factory=dict)  # what is said of the audit, and of which labels

    def __post_init__(self) -> None:
        self.queue = TabQueue(self.name)

    def tell(self, text: str, level: str = "info", about: str = "") -> None:
        """Say something; on the screen it takes the place of what was said ``about`` the same."""
        self.told += 1
        notice = {"id": self.told, "text": text, "level": level, "about": about}
        self.notices = [*self.notices, notice][-NOTICES:]

    def ask_to_open(self, node_id: str) -> None:
        self.opening = {"node": node_id, "n": (self.opening or {"n": 0})["n"] + 1}


def answer(workspace: Workspace, board: Board, message: Message, analyst: str) -> Payload:
    """Perform what a tab asks for and give the payload that it is shown."""
    if message.get("project", workspace.id) != workspace.id:
        message = {}  # the last words of a screen that showed another project; they are kept there
    _follow_analyst(workspace, board, message.get("analyst") or board.analyst or analyst)
    _take_all(workspace, board, message.get("events", []))
    run = workspace.runs.in_use()
    _follow_run(workspace, board, run)
    if message.get("events"):
        _retrain_by_itself(workspace, board)
    active = workspace.runs.active()
    _watch(workspace, board, active)
    basis = workspace.cases.basis()
    board.queue.follow(workspace, basis, board.analyst)
    labels = _labels(workspace, board, str(message.get("labels", "")))
    busy = bool(message.get("events") or message.get("want"))
    return {
        "reply": {"client": message.get("client", ""), "n": message.get("n", 0)},
        "ack": _receipts(workspace, message.get("events", [])),
        "analyst": board.analyst,
        "project": _project(workspace),
        "labels": labels,
        "queue": board.queue.payload(workspace, message, basis),
        "answers": answers(workspace, message.get("want", [])),
        "strip": _strip(workspace, run, active),
        "audit": _audit(workspace, board, str(labels["version"]), busy),
        "notices": board.notices,
        "open": board.opening,
    }


def _follow_analyst(workspace: Workspace, board: Board, analyst: str) -> None:
    """Take over the analyst's name; a queue of what is or is not their own begins anew with another one."""
    before, board.analyst = board.analyst, analyst
    if before not in ("", analyst) and board.queue.where.verdict in ("mine", OTHERS):
        board.queue.begin(workspace, analyst)


# ---- events -------------------------------------------------------------------------------------------


def _take_all(workspace: Workspace, board: Board, events: list[Message]) -> None:
    """Perform events in their order, once each; those from which on the store does not answer come again."""
    try:
        for event in events:
            _take(workspace, board, event)
    except Unavailable as error:
        board.tell(f"Not stored yet, it will be tried again. {error}", "error", about="store")


def _take(workspace: Workspace, board: Board, event: Message) -> None:
    """Perform one event once; what is wrong with it is told, not raised, or it would be sent for ever."""

    def perform() -> None:
        act(workspace, board, event, event.get("analyst") or board.analyst)

    kind, client, seq = event.get("kind"), str(event["client"]), int(event["seq"])
    act = _KEPT.get(kind) or _PASSING.get(kind) or _ignore
    try:
        if kind in _KEPT:
            workspace.messages.once(client, seq, perform)
        elif workspace.messages.once(client, seq, lambda: None):
            perform()
    except Unavailable:
        raise
    except GadError as error:
        board.tell(str(error), "error")


def _receipts(workspace: Workspace, events: list[Message]) -> dict[str, int]:
    """The last number that is done with, of every tab whose events came along (some from before a reload)."""
    clients = {str(event["client"]) for event in events}
    try:
        return {client: workspace.messages.last(client) for client in clients}
    except Unavailable:
        return {}


def _ignore(workspace: Workspace, board: Board, event: Message, analyst: str) -> None:
    """An event of a kind that this version does not know: one of an older or newer screen."""


def _verdict(workspace: Workspace, board: Board, event: Message, analyst: str) -> None:
    workspace.verdicts.record(
        event["node"],
        event["verdict"],
        analyst=analyst,
        offer=event.get("offer"),
    )


def _settle(workspace: Workspace, board: Board, event: Message, analyst: str) -> None:
    workspace.verdicts.settle(event["node"], event["verdict"], analyst=analyst)


def _group(workspace: Workspace, board: Board, event: Message, analyst: str) -> None:
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


def _undo(workspace: Workspace, board: Board, event: Message, analyst: str) -> None:
    if not _was_refused(workspace, event):
        _reversed(workspace, board, event, workspace.verdicts.undo(analyst), ("take back", "Took back"))


def _redo(workspace: Workspace, board: Board, event: Message, analyst: str) -> None:
    if not _was_refused(workspace, event):
        _reversed(workspace, board, event, workspace.verdicts.redo(analyst), ("restore", "Restored"))


def _was_refused(workspace: Workspace, event: Message) -> bool:
    """Whether the step that a tab takes back wrote nothing: an earlier one must not go in its place."""
    step = event.get("step")
    return step is not None and workspace.messages.refused(event["client"], step)


def _reversed(
    workspace: Workspace, board: Board, event: Message, done: list[LabelEvent], words: tuple[str, str]
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


def _note(workspace: Workspace, board: Board, event: Message, analyst: str) -> None:
    workspace.verdicts.note(event["node"], event["text"], analyst=analyst)


def _order(workspace: Workspace, board: Board, event: Message, analyst: str) -> None:
    board.queue.strategy, board.queue.where = event["strategy"], Filter(**event["where"])
    workspace.set_preference("strategy", event["strategy"])
    board.queue.begin(workspace, board.analyst)


def _more(workspace: Workspace, board: Board, event: Message, analyst: str) -> None:
    board.queue.lengthen(workspace, board.analyst)


def _retrain(workspace: Workspace, board: Board, event: Message, analyst: str) -> None:
    if workspace.runs.active() is None:
        workspace.runs.start()


def _cancel(workspace: Workspace, board: Board, event: Message, analyst: str) -> None:
    workspace.runs.cancel(event["run"])
    board.tell("Cancelled the run. Labels and earlier runs are untouched.")


def _prefer(workspace: Workspace, board: Board, event: Message, analyst: str) -> None:
    if event["key"] not in SETTINGS:
        raise InputError(f"a setting {event['key']!r}", f"one of {', '.join(SETTINGS)}")
    workspace.set_preference(event["key"], event["value"])
    if event["key"] in TUNING:
        board.queue.begin(workspace, board.analyst)


def _leave(workspace: Workspace, board: Board, event: Message, analyst: str) -> None:
    board.leave = event["page"]


_Act = Callable[[Workspace, Board, Message, str], None]
_KEPT: dict[Any, _Act] = {  # what they write and the receipt are one transaction
    "verdict": _verdict,
    "settle": _settle,
    "group": _group,
    "undo": _undo,
    "redo": _redo,
    "note": _note,
}
_PASSING: dict[Any, _Act] = {  # about the screen or the runs: lost with the server, they can be asked again
    "order": _order,
    "more": _more,
    "retrain": _retrain,
    "cancel": _cancel,
    "prefer": _prefer,
    "leave": _leave,
}


def _retrain_by_itself(workspace: Workspace, board: Board) -> None:
    every = int(workspace.preference("auto_retrain", 0) or 0)
    if every and workspace.verdicts.counts()["fresh"] >= every and workspace.runs.active() is None:
        try:
            workspace.runs.start()
        except GadError as error:
            board.tell(str(error), "error")


def _watch(workspace: Workspace, board: Board, active: RunInfo | None) -> None:
    """Tell why a run that was under way has ended without scores."""
    now = active.id if active else ""
    if board.watched and board.watched != now:
        ended = workspace.runs.get(board.watched)
        if ended.status == "failed":
            board.tell(f"Run {ended.number} failed: {ended.message} Labels are safe.", "error")
    board.watched = now


# ---- the run in use -----------------------------------------------------------------------------------


def _follow_run(workspace: Workspace, board: Board, run: RunInfo | None) -> None:
    """Take the order of the run in use when it is another one than before."""
    now = run.id if run else ""
    if now == board.run:
        return
    first = board.run is None
    came_first = board.run == ""
    board.run = now
    board.queue.begin(workspace, board.analyst)
    if run and not first:
        auc = f", out-of-fold AUC {auc_text(run)}" if auc_text(run) else ""
        what = "The first ranking is here" if came_first else f"Run {run.number} is in{auc}"
        board.tell(f"{what}: the new order starts with your next case.")
        report = workspace.insight.audit()
        if report.since_hit >= QUIET:
            board.tell(report.hint)


# ---- the rest of the payload --------------------------------------------------------------------------


def _labels(workspace: Workspace, board: Board, has: str) -> Payload:
    """All current verdicts, as a difference to the set that the tab has."""
    now = {node: event.verdict.value for node, event in workspace.verdicts.current().items() if event.verdict}
    latest = next(reversed(board.label_sets), "")
    if board.label_sets.get(latest) != now:
        board.sets += 1
        latest = f"{board.name}-{board.sets}"
        board.label_sets[latest] = now
        while len(board.label_sets) > REMEMBERED:
            board.label_sets.popitem(last=False)
    base = board.label_sets.get(has)
    if base is None:
        return {"version": latest, "base": None, "changes": now}
    changes: dict[str, str | None] = {n: v for n, v in now.items() if base.get(n) != v}
    changes.update({n: None for n in base if n not in now})
    return {"version": latest, "base": has, "changes": changes}


def _audit(workspace: Workspace, board: Board, labels: str, busy: bool) -> Payload:
    """The state of the audit, of these labels; on a large graph of earlier ones until the tab is at rest."""
    state = [labels, workspace.insight.least_recall(), workspace.cases.choice().audit_share > 0]
    if board.audit.get("of") != state and not (busy and board.audit and workspace.graph.n_nodes > AT_ONCE):
        report = workspace.insight.audit()
        board.audit = {"of": state, "text": audit_line(report), "hint": report.hint, "stop": report.stop}
    return board.audit


def _project(workspace: Workspace) -> Payload:
    graph = workspace.graph
    return {
        "id": workspace.id,
        "name": workspace.name,
        "n_nodes": graph.n_nodes,
        "n_edges": graph.n_edges,
        "columns": [str(column) for column in graph.node_table.columns[:COLUMNS]],
        "strategies": [{"name": s.name, "title": s.title, "dialled": s.dialled} for s in STRATEGIES.values()],
    }


_RUN_FIELDS = (
    "id",
    "number",
    "status",
    "model",
    "epoch",
    "epochs",
    "stage",
    "loss",
    "normal",
    "anomalous",
    "device",
)


def _strip(workspace: Workspace, run: RunInfo | None, active: RunInfo | None) -> Payload:
    return {
        "counts": workspace.verdicts.counts(),
        "probability_missing": workspace.insight.probability_missing(),
        "run": _run(run),
        "active": _run(active),
        "device": _device(workspace),
        "auto_retrain": int(workspace.preference("auto_retrain", 0) or 0),
    }


def _device(workspace: Workspace) -> str:
    """Where a run goes, once that is known: the worker says so, or the settings do."""
    asked = workspace.settings.device
    return workspace.runs.worker_state().get("device") or ("" if asked == "auto" else asked)


def _run(run: RunInfo | None) -> Payload | None:
    if run is None:
        return None
    return {name: as_json(getattr(run, name)) for name in _RUN_FIELDS} | {"auc_text": auc_text(run)}
