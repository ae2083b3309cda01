"""The label set of a project in the forms in which it is asked for: worked out once per process and event.

A verdict changes the set by one node, and many tabs ask for it at once. So the set of before is carried on,
and whatever else depends on the verdicts alone is kept beside it until the next one.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from gadcore.graph import Graph
from gadcore.graph.labels import Labels
from gadcore.store import LabelEvents, LabelView

T = TypeVar("T")


@dataclass(frozen=True)
class LabelState:
    """All of it is for reading only."""

    events: LabelEvents
    view: LabelView
    labels: Labels
    verdicts: npt.NDArray[np.int8]  # (N,) as in ``Labels.as_array``
    words: Mapping[str, str]  # node id -> verdict
    _kept: dict[Hashable, Any] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, events: LabelEvents, view: LabelView, graph: Graph) -> LabelState:
        labels = view.labels(graph)
        words = {node: event.verdict.value for node, event in view.current.items() if event.verdict}
        return cls(events, view, labels, labels.as_array(graph.n_nodes), words)

    def after(self, view: LabelView, graph: Graph) -> LabelState:
        """The state at a later view of the same events."""
        touched = self.events.touched_since(self.view.last_id)
        if not touched <= view.current.keys():  # something was taken back
            return LabelState.of(self.events, view, graph)
        again = [view.current[node] for node in touched]
        labels = self.labels.after(graph, again, view.first)
        words = {**self.words, **{event.node_id: event.verdict.value for event in again if event.verdict}}
        return LabelState(self.events, view, labels, labels.as_array(graph.n_nodes), words)

    def once(self, key: Hashable, make: Callable[[], T]) -> T:
        """What ``make`` finds by these verdicts, asked once."""
        if key not in self._kept:
            self._kept[key] = make()
        found: T = self._kept[key]
        return found


class LatestLabels:
    """The state of now, shared by all who work on a project in this process."""

    def __init__(self) -> None:
        self._guard, self._state = threading.Lock(), None

    _state: LabelState | None

    def at(self, events: LabelEvents, graph: Graph) -> LabelState:
        view = events.view()
        with self._guard:
            known = self._state
            if known is None or known.events is not events or known.view.last_id > view.last_id:
                known = LabelState.of(events, view, graph)
            elif known.view is not view:
                known = known.after(view, graph)
            self._state = known
            return known
