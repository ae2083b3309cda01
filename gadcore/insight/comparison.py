"""Which model to trust on a project's own labels: out-of-fold AUC of several runs, with honest intervals.

With m anomalous and n normal labels the AUC is an average, over all ways to match them, of the mean of
min(m, n) independent pairs; so its variance is at most AUC (1 − AUC) / min(m, n). The interval is therefore
Wilson's for min(m, n) trials: rather too wide than too narrow, and sound at AUC = 1.

The AUC is each run's own: over pairs of labels held out from the same model. Scores held out from different
models have different scales, so figures pooled over folds would favour methods that put them on one scale.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import sqrt

from gadcore.records import RunInfo

LEAST = 3  # labels of the rarer kind below which nothing is claimed
_Z = 1.645  # 90 % of the normal distribution


@dataclass(frozen=True)
class Estimate:
    """Out-of-fold AUC of one run with its 90 % interval; None where its labels do not give one."""

    run: RunInfo
    auc: float | None
    low: float | None
    high: float | None

    @property
    def rarer(self) -> int:
        """Labels of the rarer kind that the figure rests on."""
        return min(self.run.normal, self.run.anomalous)


def estimates(runs: Sequence[RunInfo]) -> list[Estimate]:
    """Figures of finished runs, best AUC first; runs without a figure last."""
    found = [_estimate(run) for run in runs if run.status == "done"]
    return sorted(found, key=lambda e: (e.auc is None, -(e.auc or 0.0)))


def _estimate(run: RunInfo) -> Estimate:
    trials = min(run.normal, run.anomalous)
    if run.auc is None or not trials:
        return Estimate(run, None, None, None)
    return Estimate(run, run.auc, *wilson(run.auc, trials))


def auc_text(run: RunInfo) -> str:
    """ "0.958 (0.48 to 1.00)": the out-of-fold AUC with its interval, or "" where there is none."""
    return f"{run.auc:.3f} ({interval_text(run)})" if interval_text(run) else ""


def interval_text(run: RunInfo) -> str:
    """ "0.48 to 1.00": where the AUC of a run may lie, or "" where there is none."""
    found = _estimate(run)
    return "" if found.low is None else f"{found.low:.2f} to {found.high:.2f}"


def wilson(share: float, trials: int) -> tuple[float, float]:
    """Wilson's 90 % interval of a share seen in a number of trials."""
    spread = _Z * sqrt(share * (1 - share) / trials + _Z**2 / (4 * trials**2))
    middle, scale = share + _Z**2 / (2 * trials), 1 + _Z**2 / trials
    return max(0.0, (middle - spread) / scale), min(1.0, (middle + spread) / scale)


def advice(found: Sequence[Estimate], default: str, title: Callable[[str], str] = str) -> str:
    """Which model to trust, in a sentence that the figures support; ``title`` names a model for people."""
    known = [e for e in found if e.auc is not None]
    if not known:
        return "The labels do not give an estimate yet: mark at least two normal and two anomalous nodes."
    best, fallback = known[0], title(default)
    if best.rarer < LEAST or best.low is None:
        labels = f"{best.run.normal} normal, {best.run.anomalous} anomalous"
        return f"Too few labels to tell models apart: {labels}. Until there are more, trust {fallback}."
    close = [e.run.model for e in known[1:] if (e.auc or 0.0) >= best.low]
    if not close:
        return f"{title(best.run.model)} is clearly ahead on your labels."
    ahead = f"{title(best.run.model)} has the highest figure"
    noise = "within the noise of your labels"
    if default in close:
        return f"{ahead}, but its lead over {fallback} is {noise}. {fallback} remains the safe choice."
    return f"{ahead}; {_are([title(m) for m in close])} {noise}."


def _are(names: Sequence[str]) -> str:
    return f"{names[0]} is" if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]} are"


def same_labels(found: Sequence[Estimate]) -> bool:
    """Whether all runs learned from the same label set: only then do their figures compare."""
    return len({e.run.label_hash for e in found}) <= 1
