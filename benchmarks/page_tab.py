"""A tab of the labelling screen without a browser: it keeps and asks for what the page's own code does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Message = dict[str, Any]
Payload = dict[str, Any]

# As in js/screen_state.js and js/workbench.js.
AHEAD, PER_MESSAGE, KEPT_CASES, REFILL_BELOW, COMING = 8, 3, 60, 15, 6


class PageTab:
    """Where a tab stands; ``send`` hands a message to the server and gives the answer."""

    def __init__(self, name: str, analyst: str, project: str, send: Callable[[Message], Payload]) -> None:
        self.name, self.analyst, self.project, self._send = name, analyst, project, send
        self.seq = self.n = self.anchor = 0
        self.rows: list[dict[str, Any]] = []
        self.queue, self.version, self.labels_version, self.run = "", 0, "", None
        self.labels: dict[str, str] = {}  # as the server has them
        self.given: dict[str, tuple[str, int]] = {}  # not confirmed yet: verdict and number of the message
        self.taken: dict[str, str] = {}
        self.cases: dict[str, Any] = {}
        self.stale: set[str] = set()
        self.pending: list[dict[str, Any]] = []
        self.current: str | None = None
        self.exchanges = 0
        self.errors: list[str] = []  # that were told on the screen
        self._asked_at, self._told = "", 0
        self.exchange()
        self.next()
        self.settle()

    def decide(self, verdict: str) -> str:
        """Judge the current case and wait for the answer; returns the node."""
        node = self.judge(verdict)
        self.exchange()
        return node

    def judge(self, verdict: str) -> str:
        """Give a verdict on the current case and go on to the next; it goes with the next message."""
        node = self.current
        assert node is not None
        self.post({"kind": "verdict", "node": node, "offer": self._offer(node), "verdict": verdict})
        self.given[node] = (verdict, self.seq)
        self.stale.add(node)
        self.next()
        return node

    def post(self, event: dict[str, Any]) -> None:
        self.seq += 1
        self.pending.append({**event, "client": self.name, "seq": self.seq, "analyst": self.analyst})

    def settle(self, most: int = 20) -> None:
        """Exchange until there is nothing to send and nothing to fetch."""
        while (self.pending or self.to_fetch()) and most:
            self.exchange()
            most -= 1

    def next(self) -> None:
        found = self._coming(1)
        self.current = found[0] if found else None
        at = self._position(self.current)
        self.anchor = at if at >= 0 else self.anchor

    def exchange(self) -> None:
        """One message and its answer."""
        self.n += 1
        self.exchanges += 1
        wanted = [{"key": f"case:{node}", "kind": "case", "node": node} for node in self.to_fetch()]
        self.receive(
            self._send(
                {
                    "project": self.project,
                    "analyst": self.analyst,
                    "current": self.current,
                    "coming": self._coming(COMING),
                    "labels": self.labels_version,
                    "queue": self.queue,
                    "rows": self.version,
                    "want": wanted,
                    "client": self.name,
                    "n": self.n,
                    "events": self.pending,
                }
            )
        )

    def receive(self, payload: Payload) -> None:
        done = payload["ack"].get(self.name, 0)
        self.pending = [event for event in self.pending if event["seq"] > done]
        self.given = {node: one for node, one in self.given.items() if one[1] > done}
        run = (payload["strip"]["run"] or {}).get("id", "")
        if run != self.run:
            self.run = run
            self.stale |= self.cases.keys()
        self._take_labels(payload["labels"])
        self._take_queue(payload["queue"])
        if self.current is None or self.current in self.taken or self._judged(self.current):
            self.next()
        for key, found in payload["answers"].items():
            self._keep(key.removeprefix("case:"), found)
        for notice in payload["notices"]:
            if notice["id"] > self._told:
                self._told = notice["id"]
                self.errors += [notice["text"]] * (notice["level"] == "error")

    def to_fetch(self) -> list[str]:
        ahead = [*([self.current] if self.current else []), *self._coming(AHEAD)]
        missing = [node for node in ahead if node not in self.cases]
        if self.current and missing[:1] == [self.current]:
            return [self.current]
        old = [node for node in ahead if node in self.cases and node in self.stale]
        return [*missing, *old][:PER_MESSAGE]

    def _take_labels(self, update: dict[str, Any]) -> None:
        if update["base"] is not None and update["base"] != self.labels_version:
            return
        if update["base"] is None:
            self.labels.clear()
        for node, verdict in update["changes"].items():
            if verdict:
                self.labels[node] = verdict
            else:
                self.labels.pop(node, None)
        self.labels_version = update["version"]
        changed = set(update["changes"])
        self.stale |= changed
        for node, found in self.cases.items():
            if changed and any(other["id"] in changed for other in found["view"]["nodes"]):
                self.stale.add(node)

    def _take_queue(self, queue: dict[str, Any]) -> None:
        if queue["rows"] is not None:
            fresh = queue["key"] != self.queue
            self.rows = self._merged(queue["rows"]) if queue["merge"] and not fresh else queue["rows"]
            self.queue, self.version = queue["key"], queue["version"]
            if fresh:
                self.anchor = -1
        self.taken = queue["taken"]
        length = f"{queue['key']}:{queue['version']}"
        enough = len(self._coming(REFILL_BELOW)) == REFILL_BELOW
        if not (queue["complete"] or enough or self._asked_at == length):
            self._asked_at = length
            self.post({"kind": "more"})

    def _merged(self, ranked: list[dict[str, Any]]) -> list[dict[str, Any]]:
        latest = {row["node_id"]: row for row in ranked}
        kept = {self.current, *self._coming(1)}
        still = [
            latest.get(row["node_id"], row)
            for at, row in enumerate(self.rows)
            if at <= self.anchor or row["node_id"] in kept or self._judged(row["node_id"])
        ]
        known = {row["node_id"] for row in still}
        return still + [row for row in ranked if row["node_id"] not in known]

    def _keep(self, node: str, found: Any) -> None:
        self.cases.pop(node, None)
        self.cases[node] = found
        self.stale.discard(node)
        for other in list(self.cases):
            if len(self.cases) <= KEPT_CASES:
                break
            if other != self.current:
                del self.cases[other]

    def _coming(self, most: int) -> list[str]:
        order = [*self.rows[self.anchor + 1 :], *self.rows[: self.anchor + 1]]
        found: list[str] = []
        for row in order:
            node = row["node_id"]
            if len(found) == most:
                break
            if node != self.current and node not in self.taken and not self._judged(node):
                found.append(node)
        return found

    def _judged(self, node: str) -> bool:
        return node in self.labels or node in self.given

    def _position(self, node: str | None) -> int:
        return next((at for at, row in enumerate(self.rows) if row["node_id"] == node), -1)

    def _offer(self, node: str) -> int | None:
        return next((row["offer"] for row in self.rows if row["node_id"] == node), None)
