"""The members of ``an+``: a new one is a file with a class, and a line in ``KINDS``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gadcore.detectors.plus.members.base import Member, PlannedFit, Slot
from gadcore.detectors.plus.members.diffused import Diffused
from gadcore.detectors.plus.members.forest import LinkForest
from gadcore.detectors.plus.members.linear import Background, Linear, Standard
from gadcore.detectors.plus.members.loud import Loud
from gadcore.detectors.plus.members.propagation import Propagation
from gadcore.detectors.plus.members.smoothed import Smoothed
from gadcore.detectors.plus.members.sphere import Sphere
from gadcore.detectors.plus.members.trees import Trees
from gadcore.detectors.plus.members.unusual import Attributes, Residual, UnusualNeighbourhood

KINDS: tuple[type[Member], ...] = (  # in the order of their fits
    Attributes,
    Residual,
    UnusualNeighbourhood,
    Loud,
    Linear,
    Standard,
    Background,
    Smoothed,
    Propagation,
    Diffused,
    Trees,
    LinkForest,
    Sphere,
)


def kind_of(row: Mapping[str, Any]) -> type[Member] | None:
    """The class of a saved member by its row; None for one that this version does not know."""
    found = next((kind for kind in KINDS if kind.kind == row["kind"]), None)
    return found if found is not None and found.readable(row) else None


def embeds(row: Mapping[str, Any]) -> bool:
    """Whether the embedding of the model can be that of this saved member."""
    kind = kind_of(row)
    return kind is not None and kind.embeds


__all__ = ["KINDS", "Member", "PlannedFit", "Slot", "embeds", "kind_of"]
