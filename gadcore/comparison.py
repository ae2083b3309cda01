"""Which model to trust on a project's own labels: out-of-fold figures of several runs, side by side.

Every run is judged on the same nodes: those for which each of them has a score from models that did not see
the label. Intervals and the chance to be best come from one bootstrap over these labels, drawn by verdict, so
that runs are compared in pairs. Labels chosen by a query strategy are not a random sample: the order of the
models carries over to the whole graph better than the figures themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from gadcore.cases import RunInfo
from gadcore.graph import IntArray
from gadcore.metrics import auc, average_precision

if TYPE_CHECKING:
    from gadcore.workspace import Workspace

LEAST = 3  # labels of each kind below which an interval says nothing
_DRAWS = 400

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Estimate:
    """Out-of-fold figures of one run; None where the labels do not give them."""

    run: RunInfo
    auc: float | None
    low: float | None  # 5th and 95th percentile of the bootstrap
    high: float | None
    ap: float | None
    chance: float | None  # share of draws in which this run has the highest AUC
    normal: int  # labels that the figures rest on
    anomalous: int


def estimates(workspace: Workspace, run_ids: Sequence[str], *, seed: int = 0) -> list[Estimate]:
    """Figures of finished runs on the labels they have in common, best AUC first."""
    results = [workspace.result(run_id) for run_id in run_ids]
    done = [result for result in results if result is not None]
    held = [None if r.out_of_fold is None else np.asarray(r.out_of_fold, dtype=np.float64) for r in done]
    judged = [scores for scores in held if scores is not None]
    nodes, y = _common(workspace, judged)
    draws = _bootstrap([scores[nodes] for scores in judged], y, seed)
    best = np.argmax(draws, axis=0) if draws is not None else None
    found, position = [], 0
    for result, scores in zip(done, held):
        if scores is None:
            found.append(Estimate(result.info, result.info.auc, None, None, None, None, 0, 0))
            continue
        drawn = draws[position] if draws is not None else None
        chance = float((best == position).mean()) if best is not None else None
        found.append(_estimate(result.info, scores[nodes], y, drawn, chance))
        position += 1
    return sorted(found, key=lambda e: (e.auc is None, -(e.auc or 0.0)))


def _common(workspace: Workspace, held: Sequence[Floats]) -> tuple[IntArray, npt.NDArray[np.int8]]:
    """Labelled nodes that every run has a held-out score for, and their verdicts as 0 and 1."""
    labels = workspace.labels()
    nodes, y = labels.indices, labels.targets
    keep = np.ones(len(nodes), dtype=bool)
    for scores in held:
        keep &= np.isfinite(scores[nodes])
    return nodes[keep], y[keep]


def _estimate(
    run: RunInfo, scores: Floats, y: npt.NDArray[np.int8], drawn: Floats | None, chance: float | None
) -> Estimate:
    normal, anomalous = int((y == 0).sum()), int((y == 1).sum())
    if not normal or not anomalous:
        return Estimate(run, None, None, None, None, None, normal, anomalous)
    low, high = (float(q) for q in np.quantile(drawn, [0.05, 0.95])) if drawn is not None else (None, None)
    return Estimate(run, auc(y, scores), low, high, average_precision(y, scores), chance, normal, anomalous)


def _bootstrap(held: Sequence[Floats], y: npt.NDArray[np.int8], seed: int) -> Floats | None:
    """(runs, draws) AUC on the same redrawn labels for every run; None with too few of a kind."""
    normal, anomalous = np.flatnonzero(y == 0), np.flatnonzero(y == 1)
    if min(len(normal), len(anomalous)) < LEAST or not held:
        return None
    rng = np.random.default_rng(seed)
    found = np.empty((len(held), _DRAWS))
    for draw in range(_DRAWS):
        rows = np.concatenate([rng.choice(normal, len(normal)), rng.choice(anomalous, len(anomalous))])
        for i, scores in enumerate(held):
            found[i, draw] = auc(y[rows], scores[rows])
    return found


def advice(found: Sequence[Estimate], default: str) -> str:
    """Which model to trust, in a sentence that the figures support."""
    known = [e for e in found if e.auc is not None]
    if not known:
        return "The labels do not give an estimate yet: mark at least one normal and one anomalous node."
    best = known[0]
    if best.chance is None:
        return (
            f"Too few labels to tell models apart: {best.normal} normal, {best.anomalous} anomalous, where "
            f"{LEAST} of each is the least. Until then trust {default}."
        )
    fallback = next((e for e in known if e.run.model == default), None)
    if best.run.model == default or fallback is None or best.chance >= 0.9:
        certain = "clearly" if best.chance >= 0.9 else "narrowly"
        return f"{best.run.model} is {certain} ahead on your labels (best in {best.chance:.0%} of resamples)."
    return (
        f"{best.run.model} has the highest figure, but is best in only {best.chance:.0%} of resamples: its "
        f"lead over {default} is within the noise of your labels. {default} remains the safe choice."
    )
