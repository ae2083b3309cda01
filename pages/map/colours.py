"""What the points of a map are coloured by: a number per node, or a category per node."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from pages.common import palette
from pages.common.run_figures import Array

VERDICT_TITLE = "verdict"
_MOVEMENT_SCALE = [(0.0, palette.NORMAL), (0.5, "#B9BEC4"), (1.0, palette.ANOMALOUS)]


@dataclass(frozen=True)
class Colouring:
    """``values`` (N,) float32; with ``categories`` they are codes 0..K-1, and the last collects the rest."""

    title: str
    values: npt.NDArray[np.float32]
    scale: list[tuple[float, str]]
    low: float
    high: float
    categories: tuple[str, ...] = ()
    unit: str = ""

    @property
    def colour_axis(self) -> dict[str, Any]:
        """plotly's shared colour axis, with a bar for numbers and none for categories."""
        title = {"text": self.title, "side": "right"}
        bar = {"title": title, "thickness": 10, "len": 0.8, "outlinewidth": 0, "ticksuffix": self.unit}
        scale = {"colorscale": [list(stop) for stop in self.scale], "cmin": self.low, "cmax": self.high}
        return {**scale, "showscale": not self.categories, "colorbar": bar}

    def colour(self, code: int) -> str:
        return self.scale[2 * code][1]


def by_score(percentile: Array) -> Colouring:
    values = np.asarray(percentile, np.float32)
    return Colouring("score percentile", values, palette.SCORE_SCALE, 0.0, 100.0, unit=" %")


def by_verdict(verdicts: Array) -> Colouring:
    """``verdicts`` as in ``Labels.as_array``."""
    codes = np.array([2, 3, 1, 0], np.float32)[np.asarray(verdicts, np.int64) + 2]  # of -2, -1, 0, 1
    words = ("anomalous", "normal", "unsure", None)
    named, coloured = ([each[w] for w in words] for each in (palette.VERDICT_WORDS, palette.VERDICT_COLOURS))
    return _categories(VERDICT_TITLE, codes, named, coloured)


def by_movement(before: Array, after: Array) -> Colouring:
    """Percentile points gained (+) or lost (-) between two runs; the scale is symmetric about no change."""
    moved = np.asarray(after, np.float32) - np.asarray(before, np.float32)
    reach = float(max(1.0, np.quantile(np.abs(moved), 0.99))) if len(moved) else 1.0
    return Colouring("moved since the run before", moved, _MOVEMENT_SCALE, -reach, reach, unit=" pts")


def by_attribute(column: pd.Series[Any] | pd.DataFrame | Any, title: str) -> Colouring:
    """Numbers on a scale between their 1st and 99th percentile; anything else by its most frequent values."""
    numbers = pd.to_numeric(column, errors="coerce")
    filled = column.notna()
    if numbers.notna().sum() >= 0.99 * max(1, filled.sum()) and numbers.nunique() > len(palette.CATEGORIES):
        values = numbers.to_numpy(dtype=np.float32, na_value=np.nan)
        low, high = (float(v) for v in np.nanquantile(values, [0.01, 0.99]))
        return Colouring(title, values, palette.QUANTITY_SCALE, low, high if high > low else low + 1.0)
    text = column.astype("string").fillna("(empty)")
    counts = text.value_counts()
    named = sorted(counts.index[: len(palette.CATEGORIES)], key=lambda value: (-counts[value], value))
    words, colours = [str(value) for value in named], list(palette.CATEGORIES[: len(named)])
    if len(counts) > len(named):
        words.append(f"other ({len(counts) - len(named):,} values)")
        colours.append(palette.OTHER)
    lookup = {value: code for code, value in enumerate(named)}
    codes = text.map(lookup).fillna(len(named)).to_numpy(dtype=np.float32)
    return _categories(title, codes, words, colours)


def _categories(
    title: str, codes: npt.NDArray[np.float32], words: list[str], colours: list[str]
) -> Colouring:
    """A scale of flat steps: numbers travel to the browser, not a colour name per point."""
    n = len(words)
    scale = [(step / n, colour) for i, colour in enumerate(colours) for step in (i, i + 1)]
    return Colouring(title, codes, scale, -0.5, n - 0.5, tuple(words))
