"""Saved models as sums of shares that can be accounted for, read without torch or xgboost.

Which models keep an account the registry says; others have none (``Model.shares`` is empty).
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from gadcore.detectors.accounts import Account, Share
from gadcore.detectors.arrays import MODEL_FILE, SavedModel, load_arrays
from gadcore.detectors.registry import shares_of
from gadcore.detectors.surroundings import Array, Variants
from gadcore.errors import ModelError
from gadcore.insight.similar import embedding_counts
from gadcore.shelf import Shelf

_MODELS = Shelf(4)  # that stay in memory


@dataclass(frozen=True)
class Model:
    """A saved model as far as explanations need it."""

    name: str
    shares: list[Share]
    embedding: npt.NDArray[Any] | None
    labelled: dict[str, bool]  # node id -> anomalous, of the labels it was trained on, where saved
    scores: npt.NDArray[Any] | None
    embedding_counts: bool = True  # whether the embedding has a say in the scores

    def account(self, variants: Variants) -> Account | None:
        """Parts that add up to the score, or None for a model without an account."""
        if not any(share.member is not None for share in self.shares):
            return None
        parts = [share.parts(variants) for share in self.shares]
        return Account(
            np.sum([part.own for part in parts], axis=0),
            np.sum([part.nodes for part in parts], axis=0),
            float(sum(part.base for part in parts)),
        )

    @property
    def steps(self) -> int:
        """Of the longest damped walk that an account needs."""
        return max((share.member.steps for share in self.shares if share.member is not None), default=0)

    def edge_effects(self, variants: Variants) -> tuple[Array, float]:
        """(edges,) change of the score when each edge is removed, and the share of it not worked out anew."""
        effects, kept = np.zeros(variants.count - 1), 0.0
        for share in self.shares:
            change = share.without_edges(variants)
            if change is None:
                kept += share.weight
            else:
                effects += change
        return effects, kept / (sum(share.weight for share in self.shares) or 1.0)


def read_model(folder: Path) -> Model:
    """The saved model in ``folder``, kept for the next explanation; ModelError when it cannot be read."""
    document = folder / "detector.json"
    try:
        changed = document.stat().st_mtime_ns
    except OSError as error:
        raise ModelError(f"{folder} holds no model ({error}). Train first.") from error
    folder = folder.resolve()
    return _MODELS.get((folder, changed), lambda: _read(folder))


def _read(folder: Path) -> Model:
    try:
        state = json.loads((folder / "detector.json").read_text(encoding="utf-8"))
        arrays = load_arrays(folder) if (folder / MODEL_FILE).exists() else {}
        shares = shares_of(SavedModel(folder, state, arrays))
    except (OSError, ValueError, KeyError) as error:
        raise ModelError(f"The model in {folder} cannot be explained ({error!r}). Train it again.") from error
    signed = arrays.get("signed_weights", np.zeros(0))
    labelled = {node: bool(sign > 0) for node, sign in zip(state.get("labelled", ()), signed)}
    embedding = arrays.get("embedding")
    beside = folder.parent / "embedding.npy"
    if embedding is None and beside.exists():
        embedding = np.load(beside, mmap_mode="r", allow_pickle=False)
    return Model(state["name"], shares, embedding, labelled, arrays.get("scores"), embedding_counts(state))
