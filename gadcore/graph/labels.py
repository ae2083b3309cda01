"""Verdicts, label events and the label set that a model is trained on.

An event is written once and never changed. It names the node by its external id, so that reading a
graph again can never move a label to another node. The label set is what the events add up to.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from math import sqrt

import numpy as np
import numpy.typing as npt

from gadcore.errors import LabelError
from gadcore.graph import Graph, IntArray


class Verdict(StrEnum):
    """What an analyst says of a node."""

    NORMAL = "normal"
    ANOMALOUS = "anomalous"
    UNSURE = "unsure"

    @classmethod
    def parse(cls, text: str) -> Verdict:
        """Accept the words and the usual short forms (a, 1, fraud; n, 0, ok; u, ?)."""
        try:
            return _WORDS[text.strip().lower()]
        except KeyError:
            raise LabelError(
                f"{text!r} is not a verdict. Expected: normal, anomalous or unsure "
                "(also n/a/u, 0/1, ok/fraud, false/true)."
            ) from None


_WORDS = {
    **dict.fromkeys(("normal", "n", "0", "0.0", "ok", "false", "benign", "good", "legit"), Verdict.NORMAL),
    **dict.fromkeys(
        ("anomalous", "anomaly", "a", "1", "1.0", "fraud", "true", "bad", "malicious"), Verdict.ANOMALOUS
    ),
    **dict.fromkeys(("unsure", "u", "?", "unknown", "skip"), Verdict.UNSURE),
}


class GroupRule(StrEnum):
    """How much one verdict on m nodes that were not looked at one by one counts, all of them together."""

    ONE = "one"  # as one verdict: one look was taken
    ROOT = "root"  # as √m verdicts: between one look and m
    FULL = "full"  # as m verdicts: each node was looked at

    def weight(self, members: int) -> float:
        """Weight of each of ``members`` nodes."""
        total = {GroupRule.ONE: 1.0, GroupRule.ROOT: sqrt(members), GroupRule.FULL: float(members)}[self]
        return total / max(1, members)

    @classmethod
    def parse(cls, text: str) -> GroupRule:
        try:
            return cls(text)
        except ValueError:
            raise LabelError(
                f"{text!r} does not say how much a group counts. Expected: one (as one verdict), "
                "root (as √m verdicts for m nodes) or full (as m verdicts)."
            ) from None


def checked_weight(weight: float) -> float:
    """A weight as it may be stored; LabelError when it is not above 0 and at most 1."""
    if not 0 < weight <= 1:
        raise LabelError(f"A weight of {weight:g}. Expected: above 0, at most 1, where 1 is a full verdict.")
    return float(weight)


@dataclass(frozen=True)
class LabelEvent:
    """One line of the append-only record.

    ``kind`` is label, note, reason, undo or redo; the last three name the group of a label.
    """

    id: int
    kind: str
    group: str  # events of one action share it: one undo takes all of them back
    node_id: str
    verdict: Verdict | None
    analyst: str
    at: datetime
    source: str = "app"  # verdicts.SOURCES, adjudication or second-look
    note: str = ""
    strategy: str = ""  # which query chose the case
    inclusion_probability: float | None = None  # of the audit draw; None when chosen actively
    weight: float = 1.0  # below 1: given with a group, nobody looked at this node itself
    drawn_after: int | None = None  # of the audit draw: id of the last event before it
    reason: str = ""  # for the verdict, of the project's list


@dataclass(frozen=True)
class Labels:
    """Current label set as node indices; disjoint, sorted."""

    normal: IntArray
    anomalous: IntArray
    unsure: IntArray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    inclusion: dict[int, float] = field(default_factory=dict)  # node -> its probability, audit draws only
    weight: dict[int, float] = field(default_factory=dict)  # node -> weight where it is not 1
    chosen: bool = False  # a query chose some of the cases by what a model said of them

    @classmethod
    def from_indices(
        cls,
        graph: Graph,
        normal: Sequence[int] | IntArray = (),
        anomalous: Sequence[int] | IntArray = (),
        unsure: Sequence[int] | IntArray = (),
    ) -> Labels:
        parts = [_checked(graph, part, word) for part, word in zip((normal, anomalous, unsure), Verdict)]
        joined = np.concatenate(parts)
        if len(np.unique(joined)) != len(joined):
            twice = [i for i, c in zip(*np.unique(joined, return_counts=True)) if c > 1]
            shown = ", ".join(repr(str(graph.node_ids[i])) for i in twice[:5])
            raise LabelError(f"Nodes with two verdicts: {shown}. Expected: each node in one list only.")
        return cls(parts[0], parts[1], parts[2])

    @classmethod
    def from_events(
        cls, graph: Graph, events: Iterable[LabelEvent], first: Mapping[str, LabelEvent] | None = None
    ) -> Labels:
        """Label set of the *current* label events (one per node); nodes unknown to the graph are left out.

        ``first`` has the first event of nodes that were judged again: it tells how the case was drawn.
        """
        by_verdict: dict[Verdict, list[int]] = {v: [] for v in Verdict}
        inclusion: dict[int, float] = {}
        weight: dict[int, float] = {}
        chosen = False
        for event in events:
            if event.verdict is None or event.node_id not in graph:
                continue
            node = graph.index_of(event.node_id)
            by_verdict[event.verdict].append(node)
            origin = (first or {}).get(event.node_id, event)
            if origin.inclusion_probability is not None:
                inclusion[node] = origin.inclusion_probability
            chosen |= bool(origin.strategy) and origin.inclusion_probability is None
            if event.weight != 1.0:
                weight[node] = event.weight
        normal, anomalous, unsure = (np.array(sorted(part), dtype=np.int64) for part in by_verdict.values())
        return cls(normal, anomalous, unsure, inclusion, weight, chosen)

    def after(
        self, graph: Graph, again: Iterable[LabelEvent], first: Mapping[str, LabelEvent] | None = None
    ) -> Labels:
        """This set once some nodes were judged (again): what ``from_events`` makes of all of them."""
        new = Labels.from_events(graph, again, first)
        rows = np.concatenate([new.normal, new.anomalous, new.unsure])

        def joined(old: IntArray, own: IntArray) -> IntArray:
            return np.sort(np.concatenate([old[~np.isin(old, rows)], own]))

        outdated = set(rows.tolist()) - new.weight.keys()
        return Labels(
            joined(self.normal, new.normal),
            joined(self.anomalous, new.anomalous),
            joined(self.unsure, new.unsure),
            {**self.inclusion, **new.inclusion},
            {**{node: own for node, own in self.weight.items() if node not in outdated}, **new.weight},
            self.chosen or new.chosen,
        )

    @classmethod
    def none(cls) -> Labels:
        empty = np.zeros(0, dtype=np.int64)
        return cls(empty, empty, empty)

    def __len__(self) -> int:
        """Number of labels a model can learn from (unsure not counted)."""
        return len(self.normal) + len(self.anomalous)

    @property
    def indices(self) -> IntArray:
        """Normal then anomalous nodes."""
        return np.concatenate([self.normal, self.anomalous])

    @property
    def weights(self) -> npt.NDArray[np.float64]:
        """How much each label counts, in the order of ``indices``: 1 unless it came with a group."""
        if not self.weight:
            return np.ones(len(self), dtype=np.float64)
        return np.array([self.weight.get(node, 1.0) for node in self.indices.tolist()], dtype=np.float64)

    @property
    def targets(self) -> npt.NDArray[np.int8]:
        """0 for each normal, 1 for each anomalous node, in the order of ``indices``."""
        return np.concatenate([np.zeros(len(self.normal), np.int8), np.ones(len(self.anomalous), np.int8)])

    def as_array(self, n: int) -> npt.NDArray[np.int8]:
        """(n,) with 1 anomalous, 0 normal, -2 unsure, -1 unlabelled."""
        y = np.full(n, -1, dtype=np.int8)
        y[self.normal], y[self.anomalous], y[self.unsure] = 0, 1, -2
        return y

    def hash(self, graph: Graph) -> str:
        """sha256 over (node id, verdict) and weights below 1: equal label sets, equal hash, in any order."""
        rows = [
            f"{graph.node_ids[i]}\x1f{word}"
            + (f"\x1f{self.weight[i]:.6g}" if self.weight.get(i, 1.0) != 1.0 else "")
            for part, word in zip((self.normal, self.anomalous, self.unsure), Verdict)
            for i in part.tolist()
        ]
        return hashlib.sha256("\x1e".join(sorted(rows)).encode()).hexdigest()


def _checked(graph: Graph, part: Sequence[int] | IntArray, word: str) -> IntArray:
    nodes = np.sort(np.asarray(part, dtype=np.int64).ravel())
    if len(nodes) and (nodes[0] < 0 or nodes[-1] >= graph.n_nodes):
        bad = nodes[0] if nodes[0] < 0 else nodes[-1]
        raise LabelError(f"{word} label at row {bad}, but the graph has rows 0 to {graph.n_nodes - 1}.")
    return nodes
