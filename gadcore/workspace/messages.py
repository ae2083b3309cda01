"""Messages of tabs and programs: each is carried out once, however often it is sent, whatever restarts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gadcore.errors import GadError
from gadcore.workspace.project import Project


class Messages:
    """Which messages of which tab were carried out. A tab counts its messages from 1."""

    def __init__(self, project: Project) -> None:
        self._project = project

    def once(self, client: str, seq: int, perform: Callable[[], None]) -> bool:
        """Perform a message unless it was; what it writes to the store and its receipt are one transaction.

        A GadError of ``perform`` is raised and remembered: sent again, the message is not tried again. It is
        not remembered when the store did not answer.
        """
        store, project = self._project.store, self._project.id
        try:
            return store.receipts.once(project, client, seq, perform)
        except GadError:
            store.forget(project)  # it may have read what was then undone
            raise

    def answered(self, client: str, perform: Callable[[], dict[str, Any]]) -> tuple[dict[str, Any], bool]:
        """What a message was answered with, and whether it was performed now; what fails is not kept."""
        store, project = self._project.store, self._project.id
        try:
            return store.receipts.answered(project, client, perform)
        except GadError:
            store.forget(project)  # it may have read what was then undone
            raise

    def last(self, client: str) -> int:
        """Number of the last message of a tab that was carried out or refused; 0 for none."""
        return self._project.store.receipts.last(client)

    def refused(self, client: str, seq: int) -> bool:
        """Whether a message came to nothing."""
        return self._project.store.receipts.refused(client, seq)
