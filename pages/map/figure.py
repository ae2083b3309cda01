"""The embedding map: every node a point, labelled nodes with the shape of their verdict.

Up to 20,000 points are drawn one by one. A larger graph shows a density picture of all nodes behind the ones
that matter: labelled, selected, the top of the queue, and a random sample of the rest.
The drag mode is left alone: in lasso mode plotly reports no clicks.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import plotly.graph_objects as go

from pages.common import palette
from pages.common.run_figures import MAX_POINTS, Array, plain, tidy
from pages.map.colours import VERDICT_TITLE, Colouring, by_score

IntArray = npt.NDArray[np.int64]
Names = Sequence[str] | Array

_CODES = ((-1, None), (-2, "unsure"), (0, "normal"), (1, "anomalous"))  # drawn in this order
_NONE = np.zeros(0, dtype=np.int64)
_BINS = 180
_RINGS = 4000  # selected points that are ringed


@dataclass
class MapFigure:
    """A figure and, for each of its traces, the row of the graph behind every point."""

    figure: go.Figure = field(default_factory=go.Figure)
    rows: list[IntArray] = field(default_factory=list)
    outside: int = 0  # nodes so far from all others that the first frame leaves them out

    def add(self, trace: Any, rows: IntArray = _NONE, **panel: int) -> None:
        """A trace and the rows behind its points, in a panel (``row``, ``col``) where there are several."""
        self.figure.add_trace(trace, **panel)
        self.rows.append(rows)

    def add_points(
        self, xy: Array, rows: IntArray, verdicts: Array, names: Names, colouring: Colouring, **panel: int
    ) -> None:
        """The nodes of ``rows`` in the shape of their verdicts, the labelled ones on top."""
        for code, verdict in _CODES:
            at = rows[verdicts[rows] == code]
            if len(at):
                self.add(_points(xy, at, names, colouring, verdict), at, **panel)

    def finish(self, verdicts: Array, colouring: Colouring, height: int) -> MapFigure:
        """With legend, colours and frame."""
        for entry in _legend_entries(verdicts, colouring):
            self.add(entry)
        self.figure.update_layout(coloraxis=colouring.colour_axis)
        tidy(self.figure, height)
        # under the picture, away from the tools, and without switching traces off by a click
        legend = {"y": -0.01, "yanchor": "top", "itemclick": False, "itemdoubleclick": False}
        self.figure.update_layout(legend=legend, margin={"t": 30})
        return self

    def nodes(self, points: Iterable[Mapping[str, Any]]) -> IntArray:
        """Rows of selected points (``event.selection.points``), each once, in ascending order."""
        found = {
            int(self.rows[p["curve_number"]][p["point_index"]])
            for p in points
            if p["curve_number"] < len(self.rows) and p["point_index"] < len(self.rows[p["curve_number"]])
        }
        return np.array(sorted(found), dtype=np.int64)


def shown_rows(
    percentile: Array | None, verdicts: Array, keep: Sequence[int] | IntArray = (), limit: int = MAX_POINTS
) -> IntArray:
    """Rows drawn as points: all up to ``limit``; beyond, ``keep``, labelled, top and random ones."""
    n = len(verdicts)
    if n <= limit:
        return np.arange(n)
    chosen = np.zeros(n, dtype=bool)
    chosen[np.asarray(keep, dtype=np.int64)] = True
    chosen[verdicts != -1] = True
    if percentile is not None:
        chosen[np.argsort(-percentile, kind="stable")[: limit // 4]] = True
    rest = np.flatnonzero(~chosen)
    room = limit - (n - len(rest))
    if room > 0:
        chosen[np.random.default_rng(0).choice(rest, room, replace=False)] = True
    return np.flatnonzero(chosen)


def map_figure(
    positions: Array,
    percentile: Array | None,
    verdicts: Array,
    names: Names,
    *,
    current: int | None = None,
    selected: Sequence[int] | IntArray = (),
    colouring: Colouring | None = None,
    height: int = 260,
    limit: int = MAX_POINTS,
) -> MapFigure:
    """The map of ``positions`` (N, 2) with ``verdicts`` as in ``Labels.as_array``; ``current`` is marked.

    ``colouring`` defaults to the score. The small map of a page and the large one differ in ``height`` only.
    """
    if colouring is None:
        colouring = by_score(np.zeros(len(verdicts)) if percentile is None else percentile)
    xy = np.asarray(positions, dtype=np.float32)
    chosen = np.asarray(selected, dtype=np.int64)
    keep = chosen[:_RINGS] if current is None else np.append(chosen[:_RINGS], current)
    rows = shown_rows(percentile, verdicts, keep, limit=limit)
    low, high = frame(xy, verdicts, keep)
    drawn = MapFigure(outside=int(((xy < low) | (xy > high)).any(1).sum()))
    if len(rows) < len(xy):
        drawn.add(density(xy, low, high))
    drawn.add_points(xy, rows, verdicts, names, colouring)
    if len(chosen):
        size = 11 if len(chosen) <= 150 else 6
        drawn.add(_ring(xy, chosen[:_RINGS], names, size, f"Selected ({len(chosen):,})"), chosen)
    if current is not None:
        at = np.array([current])
        drawn.add(_ring(xy, at, names, 20, "Current case"), at)
    bare_axes(drawn.figure)
    drawn.figure.update_xaxes(range=[low[0], high[0]])
    drawn.figure.update_yaxes(range=[low[1], high[1]])
    return drawn.finish(verdicts, colouring, height)


def frame(xy: Array, verdicts: Array, keep: Sequence[int] | IntArray = ()) -> tuple[Array, Array]:
    """Corners of what is shown first: all nodes, unless a few far ones would squeeze the others together."""
    if not len(xy):
        return np.zeros(2), np.ones(2)
    low, high = np.quantile(xy, [0.001, 0.999], axis=0)
    span = np.maximum(high - low, 1e-6)
    low, high = low - 0.25 * span, high + 0.25 * span
    wanted = xy[np.union1d(np.flatnonzero(verdicts != -1), np.asarray(keep, np.int64)).astype(np.int64)]
    if len(wanted):
        low, high = np.minimum(low, wanted.min(0)), np.maximum(high, wanted.max(0))
    least, most = xy.min(0), xy.max(0)
    near = (most - least) < 2 * (high - low)
    low, high = np.where(near, least, low), np.where(near, most, high)
    margin = 0.03 * np.maximum(high - low, 1e-6)
    return low - margin, high + margin


def _legend_entries(verdicts: Array, colouring: Colouring) -> list[go.Scatter]:
    """Entries of their own: plotly draws those of coloured points black. Shapes first, then categories."""
    entries = []
    for code, verdict in reversed(_CODES):
        if count := int((verdicts == code).sum()):
            name, colour = f"{palette.VERDICT_WORDS[verdict]} ({count:,})", palette.VERDICT_COLOURS[verdict]
            entries.append(_legend_entry(name, colour, palette.PLOT_SYMBOLS[verdict]))
    categories = () if colouring.title == VERDICT_TITLE else colouring.categories
    named = ((word, colouring.colour(code)) for code, word in enumerate(categories))
    return [*entries, *(_legend_entry(word, colour, "circle") for word, colour in named)]


def marks(x: Array, y: Array, at: IntArray, names: Names, **look: Any) -> go.Scattergl:
    """Markers of nodes at places of their own, with their names to hover over."""
    return go.Scattergl(x=x, y=y, mode="markers", text=[plain(names[i]) for i in at.tolist()], **look)


def _points(xy: Array, at: IntArray, names: Names, colouring: Colouring, verdict: str | None) -> go.Scattergl:
    marker: dict[str, Any] = {
        "color": colouring.values[at],
        "coloraxis": "coloraxis",
        "symbol": palette.PLOT_SYMBOLS[verdict],
        "size": _point_size(len(at)) if verdict is None else 10,
        "opacity": 0.75 if verdict is None else 1.0,
    }
    if verdict is not None:
        marker["line"] = {"width": 1.5, "color": palette.VERDICT_COLOURS[verdict]}
    number = f"<br>{plain(colouring.title)} %{{marker.color:.4~g}}{colouring.unit}"
    word = palette.VERDICT_WORDS[verdict]
    hover = f"%{{text}}{'' if colouring.categories else number}<br>{word}<extra></extra>"
    x, y = xy[at].T
    return marks(x, y, at, names, marker=marker, name=word, showlegend=False, hovertemplate=hover)


def _point_size(n: int) -> float:
    return 7.0 if n < 2_000 else 5.0 if n < 8_000 else 3.5


def _ring(xy: Array, at: IntArray, names: Names, size: float, name: str) -> go.Scattergl:
    """Circles around points; small ones are thin, so that many of them leave the points visible."""
    marker = {"symbol": "circle-open", "size": size, "color": palette.ACCENT}
    marker |= {"line": {"width": max(1.0, size / 6)}, "opacity": 1.0 if size > 6 else 0.6}
    kept = {"marker": {"opacity": 1.0}}
    x, y = xy[at].T
    hover = "%{text}<extra></extra>"
    return marks(x, y, at, names, marker=marker, unselected=kept, name=name, hovertemplate=hover)


def _legend_entry(word: str, colour: str, symbol: str) -> go.Scatter:
    marker = {"color": colour, "size": 10, "symbol": symbol}
    return go.Scatter(x=[None], y=[None], mode="markers", marker=marker, name=plain(word), hoverinfo="skip")


def density(xy: Array, low: Array, high: Array) -> go.Heatmap:
    """The nodes in a frame as a quiet picture: the logarithm of how many lie in each cell."""
    within = [(low[0], high[0]), (low[1], high[1])]
    counts, x, y = np.histogram2d(xy[:, 0], xy[:, 1], bins=_BINS, range=within)
    shade = np.log1p(counts.T).astype(np.float32)
    shade[shade == 0] = np.nan
    return go.Heatmap(
        x=(x[:-1] + x[1:]) / 2,
        y=(y[:-1] + y[1:]) / 2,
        z=shade,
        colorscale=[[0, "rgba(140,150,163,0.12)"], [1, "rgba(140,150,163,0.75)"]],
        showscale=False,
        hoverinfo="skip",
        name=f"All nodes ({len(xy):,})",
    )


def bare_axes(figure: go.Figure) -> None:
    """A layout's axes carry no unit: no ticks, no grid."""
    bare = {"showgrid": False, "zeroline": False, "showticklabels": False, "ticks": "", "title": None}
    figure.update_xaxes(**bare)
    figure.update_yaxes(**bare)
