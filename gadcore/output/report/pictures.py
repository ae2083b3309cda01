"""The pictures of the report: how scores are spread, the surroundings of nodes, what they did over time."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from gadcore.drawing import FAINT, GRID, GROUND, INK, VERDICT_COLOURS, Picture, Point
from gadcore.graph.labels import Labels
from gadcore.records import Neighbourhood, ViewNode
from gadcore.records.links import Activity, TimelineBar

BAR, FLAGGED_BAR = "#9db4c8", "#d55e00"
IN_BAR, OUT_BAR = "#56b4e9", "#cc79a7"  # as in the app
_LOW, _HIGH = np.array([232, 237, 242]), np.array([178, 34, 34])  # colours of percentiles 50 and 100
_BINS = 48
_LABELS_SHOWN = 400  # marks under the axis; beyond this they only hide each other


def distribution(
    scores: npt.NDArray[np.floating], labels: Labels, flagged: npt.NDArray[np.integer], size: Point
) -> Picture:
    """Histogram of all scores on a square-root scale, with the labelled nodes as marks under the axis.

    Of every bar the ``flagged`` nodes have a colour of their own, from the axis up on the same scale.
    """
    width, height = size
    picture = Picture(width, height, "Distribution of scores, with labelled nodes under the axis")
    left, right, top, floor = 34.0, width - 8, 14.0, height - 46
    low, high = float(scores.min()), float(scores.max())
    span = high - low or 1.0
    counts, marked = (
        np.histogram(part, bins=_BINS, range=(low, low + span))[0] for part in (scores, scores[flagged])
    )
    tallest = max(1.0, float(np.sqrt(counts.max())))
    step = (right - left) / _BINS
    for bars, colour in ((counts, BAR), (marked, FLAGGED_BAR)):
        for i in np.flatnonzero(bars):
            tall = (floor - top) * float(np.sqrt(bars[i])) / tallest
            picture.rectangle(left + i * step + 0.5, floor - tall, step - 1, tall, colour)
    picture.line((left, floor), (right, floor), colour=FAINT)
    picture.text((left - 4, top + 6), f"{counts.max():,}", 7, FAINT, "end")
    picture.text((left - 4, floor), "0", 7, FAINT, "end")
    for share, anchor in ((0.0, "start"), (0.5, "middle"), (1.0, "end")):
        at = left + share * (right - left)
        picture.text((at, height - 4), f"{low + share * span:.3g}", 7, FAINT, anchor)
    for row, (nodes, verdict) in enumerate(((labels.anomalous, "anomalous"), (labels.normal, "normal"))):
        y = floor + 10 + row * 12
        picture.text((2, y + 2.5), "anom." if verdict == "anomalous" else "normal", 6.5, FAINT)
        for node in nodes[:: 1 + len(nodes) // _LABELS_SHOWN]:
            x = left + (float(scores[node]) - low) / span * (right - left)
            picture.mark((x, y), verdict, 2.6, VERDICT_COLOURS[verdict])
    return picture


def surroundings(view: Neighbourhood, size: Point, title: str) -> Picture:
    """The capped neighbourhood of one node; colour by suspicion, shape by verdict, width by weight."""
    width, height = size
    picture = Picture(width, height, f"Neighbourhood of {title}")
    at = _placed(view.nodes, width, height)
    heaviest = max((edge.weight for edge in view.edges), default=1.0) or 1.0
    for edge in view.edges:
        if edge.source in at and edge.target in at:
            thick = 0.5 + 1.8 * edge.weight / heaviest
            picture.line(at[edge.source], at[edge.target], colour=GRID, width=thick)
    for node in sorted(view.nodes, key=lambda n: n.node_id == view.centre):
        centre = node.node_id == view.centre
        if centre:
            picture.circle(at[node.node_id], 9.5, GROUND, INK)
        radius = 6.5 if centre else min(6.0, 2.8 + 0.45 * float(np.log2(1 + node.degree)))
        picture.mark(at[node.node_id], node.verdict, radius, _colour(node))
    picture.text((width / 2, height - 3), shortened(title, int(width / 4.6)), 8, INK, "middle")
    if view.left_out:
        picture.text((width - 3, 9), f"+{view.left_out:,} more", 7, FAINT, "end")
    return picture


def timeline(activity: Activity, size: Point, title: str, told: Callable[[float], str]) -> Picture:
    """What came in as bars upwards and what went out as bars downwards, on one scale, from first to last."""
    width, height = size
    picture = Picture(width, height, f"Timeline of {title}")
    ways = [[_height(activity, bar, way) for bar in activity.timeline] for way in ("in", "out")]
    highest = [max(way, default=0.0) for way in ways]
    left, right, top, floor = 74.0, width - 4, 6.0, height - 14
    scale = (floor - top) / (sum(highest) or 1.0)
    line, step = top + scale * highest[0], (right - left) / max(1, len(activity.timeline))
    for bars, colour, up in ((ways[0], IN_BAR, 1), (ways[1], OUT_BAR, 0)):
        for i, value in enumerate(bars):
            tall = scale * value
            if value > 0:
                picture.rectangle(left + i * step + 0.4, line - up * tall, max(0.8, step - 0.8), tall, colour)
    picture.line((left, line), (right, line), colour=FAINT, width=0.6)
    for word, y, most in (("in", top + 6, highest[0]), ("out", floor, highest[1])):
        if most:
            picture.text((left - 5, y), f"{word}: {told(most)}", 7, FAINT, "end")
    for at, bar, anchor in ((left, 0, "start"), (right, -1, "end")):
        if activity.timeline and (bar == 0 or len(activity.timeline) > 1):
            picture.text((at, height - 3), activity.timeline[bar].text, 7, FAINT, anchor)
    return picture


def _height(activity: Activity, bar: TimelineBar, way: str) -> float:
    by = "amount" if activity.by == "amount" else "links"
    return float(getattr(bar, f"{by}_{way}") or 0)


def _placed(nodes: list[ViewNode], width: float, height: float) -> dict[str, Point]:
    """Positions of the view, scaled into the picture."""
    if not nodes:
        return {}
    raw = np.array([(node.x, node.y) for node in nodes], dtype=float)
    span = np.maximum(raw.max(axis=0) - raw.min(axis=0), 1e-9)
    inner = np.array([width - 28, height - 40])
    scaled = np.where(span > 1e-6, (raw - raw.min(axis=0)) / span, 0.5) * inner + np.array([14, 14])
    return {node.node_id: (float(x), float(y)) for node, (x, y) in zip(nodes, scaled)}


def _colour(node: ViewNode) -> str:
    if node.verdict in VERDICT_COLOURS:
        return VERDICT_COLOURS[str(node.verdict)]
    share = float(np.clip((node.percentile - 50) / 50, 0, 1)) ** 2
    red, green, blue = (_LOW + share * (_HIGH - _LOW)).astype(int)
    return f"#{red:02x}{green:02x}{blue:02x}"


def shortened(text: str, room: int) -> str:
    """Text of at most so many characters."""
    return text if len(text) <= room else text[: max(1, room - 1)] + "…"
