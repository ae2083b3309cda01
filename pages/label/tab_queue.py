"""The queue of one browser tab: which order it shows, and what of it the tab has yet to be sent."""

from __future__ import annotations

import time
from collections.abc import Container
from dataclasses import asdict, dataclass, field
from math import ceil
from typing import Any

from gadcore.records import QueueBasis, QueueRow, as_json
from gadcore.workspace import STRATEGIES, Filter, Workspace, preferred_strategy
from gadcore.workspace.cases import TAKEN

ROWS = 60  # rows of a new queue, and rows added when few are left
HELD, LEAST_HELD = 12, 6  # next cases that no other analyst gets; they are taken again when fewer are left
TAKEN_AGAIN = TAKEN.total_seconds() / 2  # seconds


@dataclass
class TabQueue:
    """Rows in an order that a tab is shown.

    ``key`` names the order: it changes with the run, the strategy and the filter, and the tab then begins at
    the top. Under one key rows are added, or ranked again by new verdicts, which ``version`` counts; the tab
    then leaves alone what is on its screen.
    """

    name: str
    strategy: str | None = None
    where: Filter = field(default_factory=lambda: Filter(verdict="unlabelled"))
    rows: list[QueueRow] = field(default_factory=list)
    orders: int = 0
    version: int = 0
    state: str = ""  # of the verdicts that the rows are ranked by
    reranked: bool = False  # under the present key
    complete: bool = False  # no more rows to add
    listed: set[str] = field(default_factory=set)  # all that was shown so far: a tab may still list some
    held: set[str] = field(default_factory=set)  # cases taken for this tab's analyst
    hidden: frozenset[str] = frozenset()  # decided by others; the analyst is to judge them blind
    held_at: float = 0.0

    @property
    def key(self) -> str:
        return f"{self.name}-{self.orders}"

    @property
    def reviewing(self) -> bool:
        """Whether the queue shows nodes that have a verdict."""
        again = self.strategy in STRATEGIES and STRATEGIES[self.strategy].asks_again
        return again or self.where.verdict != "unlabelled"

    def begin(self, workspace: Workspace, analyst: str) -> None:
        """Take a new order from its top."""
        if self.strategy is None:
            self.strategy = preferred_strategy(workspace.preference("strategy", None))
        self.orders += 1
        self.reranked, self.state = False, _state(workspace, workspace.cases.basis(), analyst)
        self._show(self._ask(workspace, ROWS, analyst), ROWS)

    def lengthen(self, workspace: Workspace, analyst: str) -> None:
        """Add rows behind those shown, so that nothing on the screen moves.

        But for a waiting case that was drawn at random since: its turn as a random check comes later.
        """
        self.veil(workspace, analyst)
        open_ = self._open(workspace)
        latest = {row.node_id: row for row in self._ask(workspace, len(open_) + ROWS, analyst)}
        gone = set() if self.reviewing else {row.node_id for row in open_} - latest.keys()
        shown = {row.node_id: latest.get(row.node_id, row) for row in self.rows if row.node_id not in gone}
        self._show(
            [*shown.values(), *(row for row in latest.values() if row.node_id not in shown)], len(shown) + 1
        )

    def follow(self, workspace: Workspace, basis: QueueBasis, analyst: str) -> None:
        """Rank the open rows again when verdicts or a lead ask for it; decided rows stay above them."""
        self.veil(workspace, analyst)
        state = _state(workspace, basis, analyst)
        if self.reviewing or state == self.state:
            return
        self.state, self.reranked = state, True
        open_ = self._open(workspace)
        size = max(ROWS, len(open_))
        found = self._ask(workspace, size, analyst)
        waiting = {row.node_id for row in [*open_, *found]}
        decided = [row for row in self.rows if row.node_id not in waiting]
        self._show(decided + found, len(decided) + size)

    def veil(self, workspace: Workspace, analyst: str) -> None:
        """Take over what is hidden from the analyst now."""
        self.hidden = frozenset(workspace.cases.second_opinions(analyst=analyst))

    def hold(self, workspace: Workspace, message: dict[str, Any], analyst: str) -> None:
        """Take the next cases for the analyst, who works, so that no other analyst gets them meanwhile.

        What a tab at rest asks for by itself keeps no case: others get it when its time is over.
        """
        works = message.get("events") or message.get("want") or not self.held_at
        if self.reviewing or not works or not workspace.may("cases.take"):
            return
        others, labelled = workspace.cases.taken(analyst=analyst), workspace.verdicts.current()
        rows = [row.node_id for row in self._open(workspace) if row.node_id not in others]
        # Until it has this answer the tab goes on in its own order, then in the order of these rows.
        first = [node for node in _ahead(message) if not self._decided(node, labelled)]
        ahead = [node for node in first if node not in others]
        late = time.monotonic() - self.held_at > TAKEN_AGAIN
        if late or not self.held.issuperset([*ahead, *rows[:LEAST_HELD]]):
            wanted = list(dict.fromkeys([*ahead, *rows[:HELD]]))
            take = workspace.cases.take
            self.held = set(take(wanted, len(wanted), analyst=analyst, instead_of=self.held))
            self.held_at = time.monotonic()
            self.look(workspace, analyst)

    def look(self, workspace: Workspace, analyst: str) -> None:
        """See what others have before the verdicts are read: a case is given back once its verdict is stored.

        The other way round one that was judged in between would be neither taken nor judged.
        """
        workspace.cases.taken(analyst=analyst)

    def payload(
        self, workspace: Workspace, message: dict[str, Any], basis: QueueBasis, analyst: str
    ) -> dict[str, Any]:
        """The rows, unless the tab has them; with ``merge`` the open ones, to go behind those on screen."""
        known = message.get("queue") == self.key
        has, merge = known and message.get("rows") == self.version, known and self.reranked
        open_ = self._open(workspace)
        rows = open_ if merge and not has else self.rows
        return {
            "key": self.key,
            "version": self.version,
            "strategy": self.strategy,
            "where": asdict(self.where),
            "reviewing": self.reviewing,
            "complete": self.complete,
            "basis": as_json(basis),
            "remark": workspace.cases.remark(len(open_), strategy=self.strategy, where=self.where),
            "choice": asdict(workspace.cases.choice()),
            "merge": merge,
            "rows": None if has else as_json(rows),
            **self._colleagues(workspace, message, analyst),
        }

    def _colleagues(
        self, workspace: Workspace, message: dict[str, Any], analyst: str
    ) -> dict[str, dict[str, str]]:
        """Of the rows: who else has a case before them, and who gave the verdict that holds."""
        taken, said = workspace.cases.taken(analyst=analyst), workspace.verdicts.current()
        nodes = [row.node_id for row in self.rows]
        listed = (node for node in taken if node in self.listed or node in _ahead(message))
        return {
            "taken": {node: taken[node] for node in listed if not self._decided(node, said)},
            "by": {node: said[node].analyst for node in nodes if self._decided(node, said)},
        }

    def _ask(self, workspace: Workspace, n: int, analyst: str) -> list[QueueRow]:
        """``n`` cases; of those that others have before them only the first few are listed beside them."""
        taken = {} if self.reviewing else workspace.cases.taken(analyst=analyst)
        beyond = ROWS * ceil(max(0, len(taken) - HELD) / ROWS)  # in steps: tabs then ask for as many
        found = workspace.cases.queue(strategy=self.strategy, n=n + beyond, where=self.where, analyst=analyst)
        theirs = [row.node_id for row in found if row.node_id in taken]
        left_out = set(theirs[HELD:])
        return [row for row in found if row.node_id not in left_out][:n]

    def _show(self, rows: list[QueueRow], least: int) -> None:
        self.rows, self.complete = rows, len(rows) < least
        self.listed.update(row.node_id for row in rows)
        self.version += 1

    def _open(self, workspace: Workspace) -> list[QueueRow]:
        """Rows that wait for a verdict; all of them while reviewing."""
        if self.reviewing:
            return self.rows
        labelled = workspace.verdicts.current()
        return [row for row in self.rows if not self._decided(row.node_id, labelled)]

    def _decided(self, node: str, labelled: Container[str]) -> bool:
        """Whether a node has a verdict, as far as the analyst may know."""
        return node in labelled and node not in self.hidden


def _state(workspace: Workspace, basis: QueueBasis, analyst: str) -> str:
    """Another text whenever verdicts, assignments or another name may have changed the order."""
    return f"{basis.state}/{workspace.cases.assigned_state()}/{analyst}"


def _ahead(message: dict[str, Any]) -> list[str]:
    """The case in front of a tab and those that come next, in the order that it has by now."""
    return [node for node in (message.get("current"), *message.get("coming", ())) if node is not None]
