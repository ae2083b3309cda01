"""Small multiples as SVG text: scatter maps and curves, light enough to live beside a Markdown page.

All text and lines are dark on a white ground, whatever the reader's theme. Points of one colour are one path,
so that a map of thousands of nodes takes some ten bytes per node.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import numpy as np
import numpy.typing as npt

INK, QUIET = "#222222", "#D9D9D9"
PANEL, GAP, TOP = 220, 14, 26  # size of a panel, room between panels, room for its title
LEFT, BOTTOM = 44, 40  # room for the labels of the axes


@dataclass(frozen=True)
class Dots:
    """Points of one colour; coordinates of any scale."""

    label: str
    colour: str
    x: npt.NDArray[np.float64]
    y: npt.NDArray[np.float64]
    size: float = 2.4


@dataclass(frozen=True)
class Curve:
    """One line; ``dash`` is an SVG dash pattern, empty for a full line."""

    label: str
    colour: str
    x: Sequence[float]
    y: Sequence[float]
    dash: str = ""


def scatter_panels(panels: Sequence[tuple[str, Sequence[Dots]]], *, title: str, columns: int = 3) -> str:
    """Maps side by side, each scaled to the box of 99 % of its dots (the others lie at the rim)."""
    rows = math.ceil(len(panels) / columns)
    wide, high = columns * (PANEL + GAP) + GAP, rows * (PANEL + TOP + GAP) + 30
    parts = []
    for place, (name, dots) in enumerate(panels):
        x = GAP + place % columns * (PANEL + GAP)
        y = TOP + place // columns * (PANEL + TOP + GAP)
        parts += [_frame(x, y), _text(x, y - 8, name, bold=True), _cloud(dots, x, y)]
    marks = [(each.label, each.colour, "") for each in (panels[0][1] if panels else [])]
    return _document(wide, high, title, [*parts, _legend(marks, GAP, high - 12, dots=True)])


def curve_panels(
    panels: Sequence[tuple[str, Sequence[Curve]]], *, title: str, x_label: str, y_label: str
) -> str:
    """Curves side by side over a logarithmic axis; each panel has its own range of y."""
    step = PANEL + LEFT + GAP
    names = {each.label: (each.label, each.colour, each.dash) for _, lines in panels for each in lines}
    wide = max(len(panels) * step + GAP, 100 * len(names) + 2 * GAP)
    high = TOP + PANEL + BOTTOM + 44
    parts = []
    for place, (name, lines) in enumerate(panels):
        x = place * step + LEFT
        parts += [_frame(x, TOP), _text(x, TOP - 8, name, bold=True), _axes(lines, x, TOP)]
        parts += [_text(x + PANEL / 2, TOP + PANEL + 32, x_label, anchor="middle")]
        parts += [_line(each, lines, x, TOP) for each in lines]
    middle = TOP + PANEL / 2
    upright = _text(12, middle, y_label, anchor="middle")
    parts.append(f'<g transform="rotate(-90 12 {middle:g})">{upright}</g>')
    return _document(wide, high, title, [*parts, _legend(list(names.values()), LEFT, high - 12, dots=False)])


def _document(wide: float, high: float, title: str, parts: Sequence[str]) -> str:
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide:g} {high:g}" width="{wide:g}" '
        f'height="{high:g}" font-family="sans-serif" font-size="12" fill="{INK}" role="img">'
    )
    ground = f'<rect width="{wide:g}" height="{high:g}" fill="#FFFFFF"/>'
    return "\n".join([head, f"<title>{escape(title)}</title>", ground, *parts, "</svg>"]) + "\n"


def _frame(x: float, y: float) -> str:
    return f'<rect x="{x:g}" y="{y:g}" width="{PANEL}" height="{PANEL}" fill="none" stroke="{QUIET}"/>'


def _text(x: float, y: float, text: str, *, anchor: str = "start", bold: bool = False) -> str:
    weight = ' font-weight="bold"' if bold else ""
    return f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}"{weight}>{escape(text)}</text>'


def _cloud(dots: Sequence[Dots], left: float, top: float) -> str:
    every = np.concatenate([np.c_[each.x, each.y] for each in dots])
    low, high = np.percentile(every, [0.5, 99.5], axis=0)
    scale = (PANEL - 24) / max(float((high - low).max()), 1e-9)
    middle, half = (low + high) / 2, PANEL / 2
    paths = []
    for each in dots:
        place = np.clip((np.c_[each.x, each.y] - middle) * scale, 4 - half, half - 4) * (1, -1) + half
        points = "".join(f"M{left + x:.0f} {top + y:.0f}h0" for x, y in place)
        paths.append(f'<path d="{points}" stroke="{each.colour}" stroke-width="{each.size:g}"/>')
    return f'<g stroke-linecap="round" fill="none">{"".join(paths)}</g>'


def _range(lines: Sequence[Curve]) -> tuple[float, float]:
    values = [value for each in lines for value in each.y]
    low, high = math.floor(min(values) / 5) * 5, math.ceil(max(values) / 5) * 5
    return float(low), float(max(high, low + 5))


def _place(lines: Sequence[Curve], x: float, y: float, left: float, top: float) -> tuple[float, float]:
    """Where a point lies in a panel: x by its logarithm, y linearly."""
    ends = [math.log10(value) for each in lines for value in each.x]
    low, high = _range(lines)
    across = (math.log10(x) - min(ends)) / max(max(ends) - min(ends), 1e-9)
    return left + 8 + across * (PANEL - 16), top + PANEL - (y - low) / (high - low) * PANEL


def _axes(lines: Sequence[Curve], left: float, top: float) -> str:
    low, high = _range(lines)
    parts = []
    for value in np.linspace(low, high, 6):
        y = _place(lines, lines[0].x[0], float(value), left, top)[1]
        parts.append(f'<path d="M{left:g} {y:.1f}h{PANEL}" stroke="{QUIET}" stroke-width="0.6"/>')
        parts.append(_text(left - 6, y + 4, f"{value:g}", anchor="end"))
    for value in sorted({float(v) for each in lines for v in each.x}):
        x = _place(lines, value, low, left, top)[0]
        parts.append(_text(x, top + PANEL + 16, f"{value:g}", anchor="middle"))
    return "".join(parts)


def _line(curve: Curve, lines: Sequence[Curve], left: float, top: float) -> str:
    places = [_place(lines, x, y, left, top) for x, y in zip(curve.x, curve.y, strict=True)]
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    dash = f' stroke-dasharray="{curve.dash}"' if curve.dash else ""
    knots = "".join(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.6"/>' for x, y in places)
    return (
        f'<polyline points="{points}" fill="none" stroke="{curve.colour}" stroke-width="1.8"{dash}/>'
        f'<g fill="{curve.colour}">{knots}</g>'
    )


def _legend(marks: Sequence[tuple[str, str, str]], x: float, y: float, *, dots: bool) -> str:
    parts = []
    for place, (label, colour, dash) in enumerate(marks):
        at = x + place * (150 if dots else 100)
        pattern = f' stroke-dasharray="{dash}"' if dash else ""
        mark = f"M{at + 10:g} {y - 4:g}h0" if dots else f"M{at:g} {y - 4:g}h20"
        style = 'stroke-width="8" stroke-linecap="round"' if dots else 'stroke-width="2"'
        parts.append(f'<path d="{mark}" stroke="{colour}" {style}{pattern}/>' + _text(at + 26, y, label))
    return "".join(parts)
