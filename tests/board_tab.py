"""A browser tab of the labelling screen, as the server sees it."""

from __future__ import annotations

from typing import Any

from gadcore.workspace import Workspace
from pages.label.board import Board, answer


class Tab:
    """A browser tab: numbers its events and remembers what it was sent."""

    def __init__(self, workspace: Workspace, name: str = "tab", analyst: str = "ana") -> None:
        self.workspace = workspace
        self.name, self.analyst = name, analyst
        self.board = Board()
        self.seq = self.n = 0
        self.sent: list[dict[str, Any]] = []
        self.payload = self.say()

    def event(self, kind: str, **values: Any) -> dict[str, Any]:
        self.seq += 1
        return {"kind": kind, "client": self.name, "seq": self.seq, "analyst": self.analyst, **values}

    def say(self, *events: dict[str, Any], **parts: Any) -> dict[str, Any]:
        self.n += 1
        self.sent = list(events)
        message = {"client": self.name, "n": self.n, "analyst": self.analyst, "events": self.sent, **parts}
        self.payload = answer(self.workspace, self.board, message, "login")
        return self.payload

    def again(self) -> dict[str, Any]:
        return self.say(*self.sent)

    @property
    def texts(self) -> list[str]:
        return [notice["text"] for notice in self.payload["notices"]]
