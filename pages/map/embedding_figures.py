"""Two more looks at an embedding: the hypersphere around the centre c, and what a retrain moved."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from pages.common import palette
from pages.common.run_figures import Array, plain
from pages.map.colours import by_score
from pages.map.figure import IntArray, MapFigure, Names, bare_axes, density, frame, marks, shown_rows

INSIDE = 0.95  # share of the nodes marked normal that the drawn circle holds
ENOUGH = 5  # labels of one kind for a density of their own
TRAILS = 400  # nodes whose way is drawn
_EDGE = {"color": palette.ACCENT, "width": 2, "dash": "dash"}
_LABELLED = ((1, "anomalous"), (0, "normal"), (-2, "unsure"))


def boundary(radius: Array, verdicts: Array) -> tuple[float, str]:
    """Radius of the circle to draw and what it means: around the normal labels, or around all nodes."""
    normal = radius[verdicts == 0]
    if len(normal) >= 3:
        return float(np.quantile(normal, INSIDE)), f"{INSIDE:.0%} of the nodes marked normal lie inside"
    return float(np.quantile(radius, INSIDE)), f"{INSIDE:.0%} of all nodes lie inside"


def radius_figure(
    radius: Array, positions: Array, percentile: Array, verdicts: Array, names: Names, height: int = 560
) -> MapFigure:
    """Distance ‖h − c‖ of every node: as a disc around c, and as densities by verdict.

    In the disc a point's distance from the middle is its true distance to c; its direction is the one it has
    on the map ``positions`` (N, 2), which is a projection and carries no distance.
    """
    radius = np.asarray(radius, np.float32)
    xy = _disc(radius, np.asarray(positions, np.float32))
    rows = shown_rows(percentile, verdicts)
    edge, meaning = boundary(radius, verdicts)
    figure = make_subplots(rows=2, cols=1, row_heights=[0.66, 0.34], vertical_spacing=0.03)
    drawn, colouring = MapFigure(figure), by_score(percentile)
    drawn.add_points(xy, rows, verdicts, names, colouring, row=1, col=1)
    for bars in _radius_densities(radius, verdicts):
        drawn.add(bars, row=2, col=1)
    for rug, at in _rugs(radius, verdicts, names):
        drawn.add(rug, at, row=2, col=1)
    figure.add_shape(type="circle", x0=-edge, x1=edge, y0=-edge, y1=edge, line=_EDGE, row=1, col=1)
    figure.add_vline(x=edge, line=_EDGE, row=2, col=1)
    drawn.add(go.Scatter(x=[None], y=[None], mode="lines", line=_EDGE, name=meaning), row=1, col=1)
    _radius_axes(figure, xy, radius, edge)
    drawn.finish(verdicts, colouring, height)
    bare = {"coloraxis": {"showscale": False}, "legend": {"y": -0.1}}
    figure.update_layout(**bare, barmode="overlay", bargap=0)
    return drawn


def _radius_axes(figure: go.Figure, xy: Array, radius: Array, edge: float) -> None:
    """Frame nearly all nodes and the circle; the farthest few are reached by zooming out."""
    bare_axes(figure)
    low = np.minimum(np.quantile(xy, 0.003, axis=0), -edge) * 1.06
    high = np.maximum(np.quantile(xy, 0.997, axis=0), edge) * 1.06
    figure.update_xaxes(range=[low[0], high[0]], row=1, col=1)
    figure.update_yaxes(range=[low[1], high[1]], scaleanchor="x", scaleratio=1, row=1, col=1)
    reach = 1.06 * max(edge, float(np.quantile(radius, 0.997)))
    told = {"title_text": "distance to the centre c", "showticklabels": True}
    figure.update_xaxes(range=[0, reach], **told, row=2, col=1)
    figure.update_yaxes(title_text="density", row=2, col=1)


def _disc(radius: npt.NDArray[np.float32], positions: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    direction = positions - np.median(positions, axis=0)
    angle = np.arctan2(direction[:, 1], direction[:, 0])
    return np.asarray(np.c_[radius * np.cos(angle), radius * np.sin(angle)], dtype=np.float32)


def _radius_densities(radius: npt.NDArray[np.float32], verdicts: Array) -> list[go.Bar]:
    """Histograms scaled to area one: all nodes, then each verdict with enough labels to have a shape."""
    groups: list[tuple[str, str, Array]] = [("All nodes", palette.UNLABELLED, radius)]
    for code, verdict in _LABELLED:
        if (verdicts == code).sum() >= ENOUGH:
            word, colour = palette.VERDICT_WORDS[verdict], palette.VERDICT_COLOURS[verdict]
            groups.append((word, colour, radius[verdicts == code]))
    return [_bars(values, radius, word, colour) for word, colour, values in groups]


def _bars(values: Array, radius: Array, word: str, colour: str) -> go.Bar:
    edges = np.histogram_bin_edges(radius, bins=60 if len(values) >= 300 else 24)
    return go.Bar(
        x=(edges[:-1] + edges[1:]) / 2,
        y=np.histogram(values, bins=edges, density=True)[0].astype(np.float32),
        width=edges[1] - edges[0],
        showlegend=False,
        marker={"color": colour, "opacity": 0.5, "line": {"width": 0}},
        hovertemplate=f"{word}<br>distance %{{x:.3g}}<br>density %{{y:.3g}}<extra></extra>",
    )


def _rugs(
    radius: npt.NDArray[np.float32], verdicts: Array, names: Names
) -> list[tuple[go.Scattergl, IntArray]]:
    """Labelled nodes one by one, in a line of their own below the densities."""
    top = float(np.histogram(radius, bins=60, density=True)[0].max())
    rugs = []
    for line, (code, verdict) in enumerate(_LABELLED, start=1):
        at = np.flatnonzero(verdicts == code)
        y = np.full(len(at), -0.13 * line * top, np.float32)
        colour, symbol = palette.VERDICT_COLOURS[verdict], palette.PLOT_SYMBOLS[verdict]
        marker = {"color": colour, "symbol": symbol, "size": 7, "opacity": 0.8}
        hover = f"%{{text}}<br>{verdict}<br>distance %{{x:.3g}}<extra></extra>"
        rug = marks(radius[at], y, at, names, marker=marker, showlegend=False, hovertemplate=hover)
        rugs.append((rug, at))
    return rugs


def most_moved(before: Array, after: Array, count: int = TRAILS) -> IntArray:
    """Rows whose place on the map changed most, farthest first; still ones are left out."""
    step = np.linalg.norm(np.asarray(after, np.float64) - np.asarray(before, np.float64), axis=1)
    order = np.argsort(-step, kind="stable")[:count]
    return np.asarray(order[step[order] > 0], dtype=np.int64)


def before_after_figure(
    before: Array,
    after: Array,
    percentiles: tuple[Array, Array],
    verdicts: Array,
    names: Names,
    titles: tuple[str, str],
    height: int = 560,
) -> MapFigure:
    """Two runs side by side on the same axes; on the right, lines lead from where a node stood before."""
    rows = shown_rows(percentiles[1], verdicts)
    figure = make_subplots(rows=1, cols=2, subplot_titles=[plain(t) for t in titles], horizontal_spacing=0.02)
    drawn = MapFigure(figure)
    low, high = frame(np.concatenate([before, after]), np.tile(verdicts, 2))
    drawn.add(_trails(before, after, most_moved(before, after)), row=1, col=2)
    for col, (positions, percentile) in enumerate(zip((before, after), percentiles), start=1):
        xy = np.asarray(positions, np.float32)
        colouring = by_score(percentile)
        if len(rows) < len(xy):
            drawn.add(density(xy, low, high), row=1, col=col)
        drawn.add_points(xy, rows, verdicts, names, colouring, row=1, col=col)
    bare_axes(figure)
    figure.update_xaxes(matches="x", range=[low[0], high[0]])
    figure.update_yaxes(matches="y", range=[low[1], high[1]])
    return drawn.finish(verdicts, colouring, height)


def _trails(before: Array, after: Array, rows: IntArray) -> go.Scattergl:
    """One line per row, from its old place to its new one; gaps between them."""
    line = np.full((len(rows), 3, 2), np.nan, dtype=np.float32)
    line[:, 0], line[:, 1] = before[rows], after[rows]
    x, y = line.reshape(-1, 2).T
    name, look = f"Way of the {len(rows):,} that moved most", {"color": palette.ACCENT, "width": 1}
    return go.Scattergl(x=x, y=y, mode="lines", line=look, opacity=0.55, hoverinfo="skip", name=name)
