"""Result rows gathered into cells, and the paired t-test that tells methods apart."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

SPLITS = 10
LEVEL = 0.05
Results = dict[tuple[float, str, str], dict[int, float]]  # (rate, graph, method) -> seed -> value


def collect(rows: Iterable[dict[str, Any]], metric: str = "auc") -> Results:
    """Values in per cent by (rate, graph, method) and seed; rows with own parameters are left out."""
    results: Results = defaultdict(dict)
    for row in rows:
        if row.get(metric) is not None and not row.get("params"):
            results[row["rate"], row["graph"], row["method"]][row["seed"]] = 100 * row[metric]
    return dict(results)


def best_methods(cells: dict[str, dict[int, float]], level: float = LEVEL) -> set[str]:
    """The method of the highest mean, and those that a paired t-test does not tell from it.

    Only methods with as many splits as any other take part: a test on fewer finds nothing different.
    """
    if not cells:
        return set()
    most = max(map(len, cells.values()))
    full = {method: values for method, values in cells.items() if len(values) == most}
    top = max(full, key=lambda method: float(np.mean(list(full[method].values()))))
    return {method for method in full if method == top or p_value(full[top], full[method]) > level}


def p_value(one: dict[int, float], other: dict[int, float]) -> float:
    """Two-sided paired t-test; 0 without two common splits (nothing can be claimed to be equal)."""
    from scipy.stats import t

    seeds = sorted(set(one) & set(other))
    if len(seeds) < 2:
        return 0.0
    gaps: npt.NDArray[np.float64] = np.array([one[s] - other[s] for s in seeds])
    spread = float(gaps.std(ddof=1))
    if spread == 0:
        return 1.0 if gaps.mean() == 0 else 0.0
    return float(2 * t.sf(abs(gaps.mean()) / (spread / np.sqrt(len(seeds))), len(seeds) - 1))
