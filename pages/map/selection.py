"""A selection on the map: what lies inside a lasso or box, and what is remembered of it between reruns.

plotly forgets a selection whenever its figure changes, and Streamlit with it. So the selection is kept here,
by node id, until it is cleared or replaced; a figure drawn anew gets rings around the selected points.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from gadcore.graph import IntArray
from pages.common.run_figures import Array
from pages.map.figure import MapFigure


@dataclass
class Selection:
    """The selected nodes of one session in one project."""

    nodes: list[str] = field(default_factory=list)
    ringed: list[str] = field(default_factory=list)  # selected when the figure on the screen was drawn
    drawn: object = None  # what that figure shows
    generation: int = 0  # part of the chart's key: a new one starts without plotly's own selection

    def rings(self, drawn: object) -> list[str]:
        """Nodes to ring. They stay the same for the same figure, so that selecting does not redraw it."""
        if drawn != self.drawn:
            self.drawn, self.ringed = drawn, list(self.nodes)
        return self.ringed

    def clear(self) -> None:
        self.nodes, self.ringed = [], []
        self.generation += 1


def chosen_rows(drawn: MapFigure, selection: Mapping[str, Any], positions: Array | None) -> IntArray:
    """Rows inside the lasso or box of a chart event, drawn as points or not; or the points taken.

    Without ``positions`` (a chart of several panels) only drawn points count.
    """
    areas = [*selection.get("lasso", ()), *selection.get("box", ())]
    if positions is None or not areas:
        return drawn.nodes(selection.get("points", ()))
    inside = np.zeros(len(positions), dtype=bool)
    for area in selection.get("lasso", ()):
        inside |= in_polygon(positions, area["x"], area["y"])
    for area in selection.get("box", ()):
        (x0, x1), (y0, y1) = sorted(area["x"]), sorted(area["y"])
        x, y = positions[:, 0], positions[:, 1]
        inside |= (x >= x0) & (x <= x1) & (y >= y0) & (y <= y1)
    return np.flatnonzero(inside)


def is_click(selection: Mapping[str, Any]) -> bool:
    """One point, taken without a lasso or box."""
    return len(selection.get("points", ())) == 1 and not selection.get("lasso") and not selection.get("box")


def in_polygon(points: Array, x: Sequence[float], y: Sequence[float]) -> npt.NDArray[np.bool_]:
    """Mask of the points (N, 2) inside a closed line, by the even-odd rule."""
    px, py = points[:, 0].astype(np.float64), points[:, 1].astype(np.float64)
    xs, ys = np.asarray(x, np.float64), np.asarray(y, np.float64)
    # only points in the bounding box can be inside: a small lasso on a large map stays cheap
    near = np.flatnonzero((px >= xs.min()) & (px <= xs.max()) & (py >= ys.min()) & (py <= ys.max()))
    odd = np.zeros(len(near), dtype=bool)
    for x0, y0, x1, y1 in zip(xs, ys, np.roll(xs, -1), np.roll(ys, -1)):
        if y0 == y1:
            continue
        crosses = (y0 > py[near]) != (y1 > py[near])
        odd ^= crosses & (px[near] < (x1 - x0) * (py[near] - y0) / (y1 - y0) + x0)
    mask = np.zeros(len(points), dtype=bool)
    mask[near] = odd
    return mask
