"""The queue of one browser tab: which order it shows, and what of it the tab has yet to be sent."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from gadcore.records import QueueBasis, QueueRow, as_json
from gadcore.workspace import Filter, Workspace, preferred_strategy

ROWS = 60  # rows of a new queue, and rows added when few are left


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

    @property
    def key(self) -> str:
        return f"{self.name}-{self.orders}"

    @property
    def reviewing(self) -> bool:
        """Whether the queue shows nodes that have a verdict."""
        return self.where.verdict != "unlabelled"

    def begin(self, workspace: Workspace, analyst: str) -> None:
        """Take a new order from its top."""
        if self.strategy is None:
            self.strategy = preferred_strategy(workspace.preference("strategy", None))
        self.orders += 1
        self.reranked, self.state = False, workspace.cases.basis().state
        self._show(self._ask(workspace, ROWS, analyst), ROWS)

    def lengthen(self, workspace: Workspace, analyst: str) -> None:
        """Add rows behind those shown, so that nothing on the screen moves.

        But for a waiting case that was drawn at random since: its turn as a random check comes later.
        """
        open_ = self._open(workspace)
        latest = {row.node_id: row for row in self._ask(workspace, len(open_) + ROWS, analyst)}
        gone = set() if self.reviewing else {row.node_id for row in open_} - latest.keys()
        shown = {row.node_id: latest.get(row.node_id, row) for row in self.rows if row.node_id not in gone}
        self._show(
            [*shown.values(), *(row for row in latest.values() if row.node_id not in shown)], len(shown) + 1
        )

    def follow(self, workspace: Workspace, basis: QueueBasis, analyst: str) -> None:
        """Rank the open rows again when verdicts since the run ask for it; decided rows stay above them."""
        if self.reviewing or basis.state == self.state:
            return
        self.state, self.reranked = basis.state, True
        open_ = self._open(workspace)
        size = max(ROWS, len(open_))
        found = self._ask(workspace, size, analyst)
        waiting = {row.node_id for row in [*open_, *found]}
        decided = [row for row in self.rows if row.node_id not in waiting]
        self._show(decided + found, len(decided) + size)

    def payload(self, workspace: Workspace, message: dict[str, Any], basis: QueueBasis) -> dict[str, Any]:
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
            "complete": self.complete,
            "basis": as_json(basis),
            "remark": workspace.cases.remark(len(open_), strategy=self.strategy, where=self.where),
            "choice": asdict(workspace.cases.choice()),
            "merge": merge,
            "rows": None if has else as_json(rows),
        }

    def _ask(self, workspace: Workspace, n: int, analyst: str) -> list[QueueRow]:
        return workspace.cases.queue(strategy=self.strategy, n=n, where=self.where, analyst=analyst)

    def _show(self, rows: list[QueueRow], least: int) -> None:
        self.rows, self.complete = rows, len(rows) < least
        self.version += 1

    def _open(self, workspace: Workspace) -> list[QueueRow]:
        """Rows that wait for a verdict; all of them while reviewing."""
        if self.reviewing:
            return self.rows
        labelled = workspace.verdicts.current()
        return [row for row in self.rows if row.node_id not in labelled]
