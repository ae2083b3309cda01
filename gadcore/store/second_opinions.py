"""Second opinions: a share of the cases that one analyst has decided is asked of another one too.

Whether a case is drawn is told by a hash of project and node. So all processes draw the same cases, nothing
has to be kept, and a larger share has all cases of a smaller one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from itertools import chain

from gadcore.graph.labels import LabelEvent, Verdict

NOT_JUDGED = ("import", "practice")  # sources of verdicts that nobody gave here


class SecondOpinions:
    """Cases of a project that wait for a second opinion, as its label events come in.

    What an event costs depends on the events of its node alone.
    """

    def __init__(self, project_id: str) -> None:
        self._project, self._share = project_id, 0.0
        self._alone: dict[str, str] = {}  # node -> the one who has judged it
        self._waiting: dict[str, dict[str, None]] = {}  # who has judged them -> drawn nodes, oldest first

    def look(self, node_id: str, standing: Iterable[LabelEvent]) -> None:
        """Follow the label events on a node that are not taken back, oldest first."""
        before = self._alone.pop(node_id, None)
        if before is not None:
            self._waiting.get(before, {}).pop(node_id, None)
        looked = [e for e in standing if e.weight >= 1 and e.source not in NOT_JUDGED]
        if len({event.analyst for event in looked}) == 1 and looked[-1].verdict is not Verdict.UNSURE:
            self._alone[node_id] = looked[-1].analyst
            self._draw(node_id)

    def waiting(self, analyst: str, share: float) -> list[str]:
        """Nodes that this analyst is to be asked about, oldest first for each colleague."""
        if share != self._share:
            self._share, self._waiting = share, {}
            for node_id in self._alone:
                self._draw(node_id)
        others = (nodes for judge, nodes in self._waiting.items() if judge != analyst)
        return list(chain.from_iterable(others))

    def _draw(self, node_id: str) -> None:
        if _place(self._project, node_id) < self._share:
            self._waiting.setdefault(self._alone[node_id], {})[node_id] = None


def _place(project_id: str, node_id: str) -> float:
    """A number from 0 to 1, the same in every process and as good as random."""
    digest = hashlib.sha256(f"{project_id}\x1f{node_id}".encode()).digest()
    return int.from_bytes(digest[:7], "big") / 2**56
