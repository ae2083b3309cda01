"""Saved models as sums of accountable members, read without torch or xgboost.

an, n           one sphere; the score is its squared distance
sgc-lr          one linear head; the score is its decision value
xgb-graph       one set of trees; the score is the margin
an+             Σ_j weight_j · percentile_j. A member's share is split as its raw score is: with ref the raw
                score of the base, (p(raw) − p(ref)) / (raw − ref) turns raw parts into percentile parts.

Other models have no account (``Model.members`` is empty).
"""

from __future__ import annotations

import json
from collections import OrderedDict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from gadcore.detectors.arrays import MODEL_FILE, load_arrays
from gadcore.detectors.plus.members import (
    DIFFUSED_EVENLY,
    DIFFUSION_STEPS,
    SMOOTHING,
    SMOOTHING_STEPS,
    SPREADING,
    SPREADING_STEPS,
)
from gadcore.errors import ModelError
from gadcore.graph import Graph, IntArray
from gadcore.insight.explain.accounts import (
    Account,
    Accountable,
    Diffused,
    Directions,
    Linear,
    Propagation,
    Smoothed,
    Unusual,
)
from gadcore.insight.explain.boosters import read_trees
from gadcore.insight.explain.spheres import ACCOUNTABLE, Sphere
from gadcore.insight.explain.view import Array, Variants
from gadcore.insight.similar import embedding_counts
from gadcore.metrics import percentile_ranks

Arrays = dict[str, npt.NDArray[Any]]
KEPT = 4  # models that stay in memory


@dataclass(frozen=True)
class MemberPart:
    """A member, its weight, its raw scores, and these as levels with their ranks where ranks are combined."""

    member: Accountable | None  # None: counts as a whole
    weight: float
    scores: npt.NDArray[Any]  # (N,)
    levels: tuple[npt.NDArray[Any], Array] | None = field(repr=False, default=None)

    def percentile(self, raw: Array) -> Array:
        """Percentile of raw scores, between levels as in scoring new nodes; without levels the raw scores."""
        return raw if self.levels is None else np.asarray(np.interp(raw, *self.levels))

    @property
    def steps(self) -> int:
        """Of the damped walk that the member needs; 0 without one."""
        return int(getattr(self.member, "steps", 0))

    def parts(self, variants: Variants) -> Account:
        """The member's share of the score, split."""
        raw = np.array([float(self.scores[variants.node])])
        graph = variants.view.graph
        whole = Account(np.zeros(graph.n_features), np.zeros(graph.n_nodes), float(self.percentile(raw)[0]))
        if self.member is None:
            return whole.scaled(self.weight)
        account = self.member.account(variants)
        if self.levels is None:
            return account.scaled(self.weight)
        way = account.total - account.base
        if abs(way) < 1e-9 * max(1.0, abs(account.base)):
            return whole.scaled(self.weight)
        # To where the parts lead, not to the member's score: parts that miss it must show as a gap.
        start, end = self.percentile(np.array([account.base, account.total])).tolist()
        slope = (end - start) / way
        return Account(account.own * slope, account.nodes * slope, start).scaled(self.weight)

    def without_edges(self, variants: Variants) -> Array | None:
        """(edges,) change of the member's share when each edge is removed; None where that is not known."""
        raw = np.zeros(0) if self.member is None else self.member.raw(variants)
        if len(raw) != variants.count:
            return None
        shares = self.percentile(raw)
        return np.asarray(self.weight * (shares[1:] - shares[0]))


@dataclass(frozen=True)
class Model:
    """A saved model as far as explanations need it."""

    name: str
    members: list[MemberPart]
    embedding: npt.NDArray[Any] | None
    labelled: dict[str, bool]  # node id -> anomalous, of the labels it was trained on, where saved
    scores: npt.NDArray[Any] | None
    embedding_counts: bool = True  # whether the embedding has a say in the scores

    def account(self, variants: Variants) -> Account | None:
        """Parts that add up to the score, or None for a model without an account."""
        if not any(part.member is not None for part in self.members):
            return None
        parts = [part.parts(variants) for part in self.members]
        return Account(
            np.sum([part.own for part in parts], axis=0),
            np.sum([part.nodes for part in parts], axis=0),
            float(sum(part.base for part in parts)),
        )

    @property
    def steps(self) -> int:
        """Of the longest damped walk that an account needs."""
        return max((part.steps for part in self.members), default=0)

    def edge_effects(self, variants: Variants) -> tuple[Array, float]:
        """(edges,) change of the score when each edge is removed, and the share of it not worked out anew."""
        effects, kept = np.zeros(variants.count - 1), 0.0
        for part in self.members:
            change = part.without_edges(variants)
            if change is None:
                kept += part.weight
            else:
                effects += change
        return effects, kept / (sum(part.weight for part in self.members) or 1.0)


_MODELS: OrderedDict[tuple[str, int], Model] = OrderedDict()


def read_model(folder: Path, graph: Graph) -> Model:
    """The saved model in ``folder``, kept for the next explanation; ModelError when it cannot be read."""
    document = folder / "detector.json"
    try:
        key = (str(folder.resolve()), document.stat().st_mtime_ns)
    except OSError as error:
        raise ModelError(f"{folder} holds no model ({error}). Train first.") from error
    found = _MODELS.pop(key, None) or _read(folder, graph)
    _MODELS[key] = found
    while len(_MODELS) > KEPT:
        _MODELS.popitem(last=False)
    return found


def _read(folder: Path, graph: Graph) -> Model:
    try:
        state = json.loads((folder / "detector.json").read_text(encoding="utf-8"))
        arrays = load_arrays(folder) if (folder / MODEL_FILE).exists() else {}
        name = str(state["name"])
        members = _READERS[name](folder, graph, state, arrays) if name in _READERS else []
    except (OSError, ValueError, KeyError) as error:
        raise ModelError(f"The model in {folder} cannot be explained ({error!r}). Train it again.") from error
    signed = arrays.get("signed_weights", np.zeros(0))
    labelled = {node: bool(sign > 0) for node, sign in zip(state.get("labelled", ()), signed)}
    embedding = arrays.get("embedding")
    beside = folder.parent / "embedding.npy"
    if embedding is None and beside.exists():
        embedding = np.load(beside, mmap_mode="r", allow_pickle=False)
    return Model(name, members, embedding, labelled, arrays.get("scores"), embedding_counts(state))


def _sphere_model(folder: Path, graph: Graph, state: dict[str, Any], arrays: Arrays) -> list[MemberPart]:
    member = _sphere(state["specs"][0], arrays, "m0.", graph)
    return [MemberPart(member, 1.0, arrays["scores"])]


def _linear_model(folder: Path, graph: Graph, state: dict[str, Any], arrays: Arrays) -> list[MemberPart]:
    return [MemberPart(_head(state, arrays["coefficient"]), 1.0, arrays["scores"])]


def _tree_model(folder: Path, graph: Graph, state: dict[str, Any], arrays: Arrays) -> list[MemberPart]:
    trees = read_trees(folder / "booster.ubj", state["params"]["hops"], sparse=state["sparse"])
    return [MemberPart(trees, 1.0, arrays["scores"])]


def _plus_model(folder: Path, graph: Graph, state: dict[str, Any], arrays: Arrays) -> list[MemberPart]:
    parts = []
    for j, row in enumerate(state["members"]):
        scores = arrays[f"member{j}.scores"]
        member = _plus_member(folder, graph, state, arrays, row, j)
        parts.append(MemberPart(member, float(row["weight"]), scores, _levels(scores)))
    return parts


def _levels(scores: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], Array]:
    """Distinct scores, ascending, and the percentile rank of each."""
    levels, place = np.unique(scores, return_inverse=True)
    rank = np.zeros(len(levels))
    rank[place] = percentile_ranks(scores)
    return levels, rank


def _plus_member(
    folder: Path, graph: Graph, state: dict[str, Any], arrays: Arrays, row: dict[str, Any], j: int
) -> Accountable | None:
    kind = row["kind"]
    if kind in ("linear", "standard", "background"):
        return _head(row, arrays[f"member{j}.coefficient"])
    if kind == "smoothed" and row.get("walk"):
        head = _head(row, arrays[f"member{j}.coefficient"])
        return Smoothed(head, float(row["offset"]), SMOOTHING, SMOOTHING_STEPS)
    if kind == "diffused":
        coefficient, even = arrays[f"member{j}.coefficient"].astype(float), row["hops"] == DIFFUSED_EVENLY
        return Diffused(
            even,
            coefficient,
            np.ones_like(coefficient) if even else arrays["rare"].astype(float),
            arrays[f"member{j}.usual"].astype(float),
            float(row["intercept"]),
            SMOOTHING,
            DIFFUSION_STEPS,
        )
    if kind == "propagation":
        nodes: IntArray = graph.indices_of(state["labelled"])
        return Propagation(nodes, arrays["signed_weights"].astype(float), SPREADING, SPREADING_STEPS)
    if kind == "trees":
        return read_trees(folder / row["booster"], row["hops"], sparse=row.get("wide", False))
    if kind == "sphere":
        i = row["row"]
        return _sphere(state["sphere"]["specs"][i], arrays, f"sphere.m{i}.", graph)
    if kind == "neighbourhood":
        return Directions(
            state["directions"], arrays["directions"].astype(float), arrays["directions.centre"].astype(float)
        )
    if kind in ("attributes", "residual"):
        return _unusual(kind, graph, state, arrays, j)
    return None


def _unusual(kind: str, graph: Graph, state: dict[str, Any], arrays: Arrays, j: int) -> Unusual:
    alone = np.flatnonzero(graph.degree == 0)
    fallback = float(arrays[f"member{j}.scores"][alone[0]]) if len(alone) else 0.0
    return Unusual(
        kind == "residual",
        bool(state["unit"]),
        arrays["shift"].astype(float),
        arrays["spread_of_columns"].astype(float),
        fallback,
    )


def _head(row: dict[str, Any], coefficient: npt.NDArray[Any]) -> Linear:
    return Linear(int(row["hops"]), bool(row["unit"]), coefficient.astype(float), float(row["intercept"]))


def _sphere(spec: dict[str, Any], arrays: Arrays, prefix: str, graph: Graph) -> Sphere | None:
    """The sphere, or None for encoders that are not piecewise linear in X."""
    if spec["encoder"] not in ACCOUNTABLE:
        return None
    layers = [arrays[f"{prefix}layer{i}.weight"] for i in range(spec["depth"])]
    skip = arrays.get(f"{prefix}skip.weight") if spec["skip"] else None
    return Sphere(layers, arrays[f"{prefix}centre"], skip, spec["encoder"] == "gcn")


_READERS = {
    "an": _sphere_model,
    "n": _sphere_model,
    "sgc-lr": _linear_model,
    "xgb-graph": _tree_model,
    "an+": _plus_model,
}
