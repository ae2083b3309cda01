"""What every member of ``an+`` can do: be fitted and saved, score later nodes, and say why."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy.typing as npt

from gadcore.detectors.accounts import Account, Accountable
from gadcore.detectors.arrays import SavedModel
from gadcore.detectors.base import BOTH
from gadcore.detectors.plus.bench import Bench
from gadcore.detectors.plus.combine import Array
from gadcore.detectors.plus.graph_cache import GraphCache
from gadcore.detectors.surroundings import Variants
from gadcore.graph import FloatArray

HOPS = 3  # largest k of ÂᵏX
FEW = 20  # labels at which the prior leans half towards the members that cope with few


@dataclass(frozen=True)
class Slot:
    """A member's place in a saved model: its row of detector.json, and its arrays ``member{j}.…``."""

    saved: SavedModel
    j: int

    @property
    def row(self) -> dict[str, Any]:
        found: dict[str, Any] = self.saved.state["members"][self.j]
        return found

    def get(self, name: str) -> npt.NDArray[Any]:
        return self.saved.arrays[f"member{self.j}.{name}"]

    def put(self, name: str, array: npt.NDArray[Any]) -> None:
        self.saved.arrays[f"member{self.j}.{name}"] = array


@dataclass(frozen=True)
class PlannedFit:
    """A fit to do: it gets the members before it and gives its own, with so many reports of progress."""

    run: Callable[[Bench, Sequence[Member]], Sequence[Member]]
    reports: int = 1


@dataclass(frozen=True, kw_only=True)
class Member(Accountable):
    """A fitted member. ``ranks`` are those of the judged nodes, by models that did not see their labels."""

    kind: ClassVar[str]  # its name in saved models
    bases: ClassVar[tuple[str, ...]] = (BOTH,)  # the labels that it can be fitted with
    embeds: ClassVar[bool] = False  # whether the embedding of the model can be its own

    name: str
    scores: FloatArray  # (N,)
    ranks: Array | None = None  # (judged,) percentile among all nodes, or None when nothing can judge
    fold_scores: tuple[FloatArray, ...] = ()  # of all nodes, by the models without each fold; while fitting

    @classmethod
    def plan(cls, bench: Bench) -> list[PlannedFit]:
        """The fits that suit this graph, for labels among ``bases``."""
        return []

    @property
    def strength(self) -> float | None:
        """C that the fit chose, for a warm start; None without one."""
        return None

    def prior(self, labels: float, basis: str, *, validated: bool = False) -> float:
        """Weight before judgement, by the number of labels and what they are."""
        return 1.0

    def score_new(self, cache: GraphCache) -> FloatArray:
        """(N',) the member's own score of every node of a grown graph."""
        raise NotImplementedError

    def carried_to(self, cache: GraphCache) -> Self:
        """The member with its own scores of another version of the graph."""
        return replace(self, scores=self.score_new(cache), ranks=None)

    @property
    def part(self) -> Accountable:
        """What accounts for the score, where that is not the member itself."""
        raise NotImplementedError

    def raw(self, variants: Variants) -> Array:
        return self.part.raw(variants)

    def account(self, variants: Variants) -> Account:
        return self.part.account(variants)

    def write(self, slot: Slot) -> None:
        """Put arrays and the rest of its row where ``read`` finds them."""
        slot.put("scores", self.scores)

    @classmethod
    def read(cls, slot: Slot) -> Self:
        """The member as it was written, without its ranks; KeyError when something is missing."""
        return cls(name=slot.row["name"], scores=slot.get("scores"), **cls.fields_from(slot))

    @classmethod
    def fields_from(cls, slot: Slot) -> dict[str, Any]:
        """Fields of a kind's own."""
        return {}

    @classmethod
    def readable(cls, row: Mapping[str, Any]) -> bool:
        """Whether this version can read such a row."""
        return True


def few(labels: float) -> float:
    """From 1 without labels to 0 with many."""
    return FEW / (FEW + labels)
