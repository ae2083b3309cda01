"""The server's side of the labelling screen: one message from a browser tab in, one payload out.

A tab sends ``{project, client, n, analyst, current, events, want, labels, queue, rows}``; ``answer`` does the
events that it has not seen yet, once each, and gives what the tab needs. Every part of a payload says what it
is a change of, so a payload that is lost or comes twice does no harm. No Streamlit in here.
"""

from __future__ import annotations

import secrets
import time
from dataclasses import dataclass, field
from typing import Any

from gadcore.errors import GadError, Unavailable
from gadcore.records import RunInfo, as_json
from gadcore.workspace import OTHERS, QUIET, STRATEGIES, Workspace, auc_text
from pages.common.audit_words import audit_line
from pages.label.answers import answers
from pages.label.events import receipts, take_all, tell_unstored
from pages.label.tab_queue import TabQueue

NOTICES = 12
COLUMNS = 200
AT_ONCE = 2_000  # nodes up to which the audit (some ms then) is worked out while keys come in
AUDIT_SECONDS = 20.0  # how old it may get on larger graphs while they do
# What a screen offers, and the right that it takes.
MAY = {
    "label": "verdicts.record",
    "settle": "verdicts.settle",
    "train": "runs.start",
    "change settings": "set_preference",
    "assign cases": "cases.assign",
}

Message = dict[str, Any]
Payload = dict[str, Any]


@dataclass
class Board:
    """Where one tab stands: its queue, the label sets it was sent, what it is to be told."""

    name: str = field(default_factory=lambda: secrets.token_hex(4))
    queue: TabQueue = field(init=False)
    run: str | None = None  # whose order the queue is in
    notices: list[dict[str, Any]] = field(default_factory=list)
    told: int = 0
    opening: dict[str, Any] | None = None
    leave: str = ""  # page that the analyst asked for
    watched: str = ""  # run that was under way at the last exchange
    analyst: str = ""
    audit: Payload = field(default_factory=dict)  # what is said of the audit, and of which labels
    audited_at: float = 0.0
    shown: Payload | None = None  # the last payload

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
    """Perform what a tab asks for and give the payload that it is shown.

    While the store does not answer, a tab that shows something goes on showing it, and nothing is confirmed.
    """
    try:
        board.shown = _answer(workspace, board, message, analyst)
    except Unavailable as error:
        if board.shown is None:
            raise
        tell_unstored(board, error)
        board.shown = _still(board.shown, board, message)
    return board.shown


def _still(shown: Payload, board: Board, message: Message) -> Payload:
    """A payload that changes nothing on the screen but the notices."""
    has = message.get("labels", "")
    return {
        **shown,
        "reply": _reply(message),
        "ack": {},
        "labels": {"version": has, "base": has, "changes": {}},
        "answers": {},
        "notices": board.notices,
    }


def _reply(message: Message) -> Payload:
    return {"client": message.get("client", ""), "n": message.get("n", 0)}


def _answer(workspace: Workspace, board: Board, message: Message, analyst: str) -> Payload:
    if message.get("project", workspace.id) != workspace.id:
        message = {}  # the last words of a screen that showed another project; they are kept there
    _follow_analyst(workspace, board, workspace.analyst(message.get("analyst") or board.analyst or analyst))
    take_all(workspace, board, message.get("events", []))
    with workspace.reading_once():
        return _payload(workspace, board, message)


def _payload(workspace: Workspace, board: Board, message: Message) -> Payload:
    """What the tab is shown after its events; what several parts of it need is read once."""
    board.queue.look(workspace, board.analyst)
    run = workspace.runs.in_use()
    _follow_run(workspace, board, run)
    if message.get("events"):
        _retrain_by_itself(workspace, board)
    active = workspace.runs.active()
    _watch(workspace, board, active)
    basis = workspace.cases.basis()
    board.queue.follow(workspace, basis, board.analyst)
    board.queue.hold(workspace, message, board.analyst)
    labels = _labels(workspace, board, str(message.get("labels", "")))
    busy = bool(message.get("events") or message.get("want"))
    return {
        "reply": _reply(message),
        "ack": receipts(workspace, message.get("events", [])),
        "analyst": board.analyst,
        "login": workspace.who.is_login,
        "may": {word: workspace.may(act) for word, act in MAY.items()},
        "project": _project(workspace),
        "labels": labels,
        "queue": board.queue.payload(workspace, message, basis, board.analyst),
        "watched": workspace.cases.watchlist(analyst=board.analyst),
        "answers": answers(workspace, message.get("want", []), board.queue.hidden),
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


# ---- runs that start and end --------------------------------------------------------------------------


def _retrain_by_itself(workspace: Workspace, board: Board) -> None:
    every = int(workspace.preference("auto_retrain", 0) or 0)
    tried = workspace.runs.latest() if every else None  # it may not be the one in use
    if (
        every
        and workspace.may("runs.start")
        and workspace.verdicts.counts(tried.id if tried else None)["fresh"] >= every
        and workspace.runs.active() is None
    ):
        try:
            workspace.runs.start()
        except GadError as error:
            board.tell(str(error), "error")


def _watch(workspace: Workspace, board: Board, active: RunInfo | None) -> None:
    """Tell why a run that was under way has ended without scores, or with poor ones."""
    now = active.id if active else ""
    if board.watched and board.watched != now:
        ended = workspace.runs.get(board.watched)
        if ended.status == "failed":
            board.tell(f"Run {ended.number} failed: {ended.message} Labels are safe.", "error")
        elif ended.status == "done" and ended.message:
            board.tell(f"Run {ended.number} is in trouble. {ended.message}", "error")
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
        _tell_risen(workspace, board)
        report = workspace.insight.audit()
        if report.since_hit >= QUIET:
            board.tell(report.hint)


def _tell_risen(workspace: Workspace, board: Board) -> None:
    risen = [node for node in workspace.cases.watched(analyst=board.analyst) if node.risen]
    if risen:
        named = ", ".join(f"{node.name} ({node.told})" for node in risen[:3])
        board.tell(f"Watched, and risen: {named}{' …' if len(risen) > 3 else ''}.", about="watched")


# ---- the rest of the payload --------------------------------------------------------------------------


def _labels(workspace: Workspace, board: Board, has: str) -> Payload:
    """All current verdicts, as a difference to the set that the tab has, which is named by its last event.

    Those that the analyst is to judge blind are left out. Which these are changes with an event on the node,
    or with the share and the analyst, which the name of a set tells too.
    """
    (last, now), hidden = workspace.verdicts.words(), board.queue.hidden
    share = workspace.preference("overlap", 0)
    veil = f"{share}/{board.analyst}" if share else ""
    version, (known, _, known_veil) = f"{last}/{veil}", has.partition("/")
    if not known.isdecimal() or int(known) > last or known_veil != veil:
        seen = {node: word for node, word in now.items() if node not in hidden}
        return {"version": version, "base": None, "changes": seen}
    changed = workspace.verdicts.changed_since(int(known))
    changes = {node: None if node in hidden else now.get(node) for node in changed}
    return {"version": version, "base": has, "changes": changes}


def _audit(workspace: Workspace, board: Board, labels: str, busy: bool) -> Payload:
    """The state of the audit, of these labels; on a large graph of earlier ones while the tab is busy."""
    state = [labels, workspace.insight.least_recall(), workspace.cases.choice().audit_share > 0]
    recent = board.audit and time.monotonic() - board.audited_at < AUDIT_SECONDS
    if board.audit.get("of") != state and not (busy and recent and workspace.graph.n_nodes > AT_ONCE):
        report, board.audited_at = workspace.insight.audit(), time.monotonic()
        board.audit = {"of": state, "text": audit_line(report), "hint": report.hint, "stop": report.stop}
    return board.audit


def _project(workspace: Workspace) -> Payload:
    graph = workspace.graph
    return {
        "id": workspace.id,
        "name": workspace.name,
        "n_nodes": graph.n_nodes,
        "n_edges": graph.n_edges,
        "links": graph.links.meaning.words if graph.links else "",
        "columns": [str(column) for column in graph.node_table.columns[:COLUMNS]],
        "reasons": workspace.verdicts.reasons(),
        "overlap": float(workspace.preference("overlap", 0) or 0),
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
        "doubted": _doubted(workspace),
        "active": _run(active),
        "device": _device(workspace),
        "auto_retrain": int(workspace.preference("auto_retrain", 0) or 0),
    }


def _doubted(workspace: Workspace) -> Payload | None:
    """The newest run and what is wrong with it; None where nothing is."""
    run = workspace.runs.latest()
    if run is None or not run.message:
        return None
    return {"number": run.number, "in_use": run.in_use, "text": run.message}


def _device(workspace: Workspace) -> str:
    """Where a run goes, once that is known: the worker says so, or the settings do."""
    asked = workspace.settings.device
    return workspace.runs.worker_state().get("device") or ("" if asked == "auto" else asked)


def _run(run: RunInfo | None) -> Payload | None:
    if run is None:
        return None
    return {name: as_json(getattr(run, name)) for name in _RUN_FIELDS} | {"auc_text": auc_text(run)}
