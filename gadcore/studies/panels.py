"""Small multiples: scatter maps and curves side by side, as SVG files light enough to live beside a page."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gadcore.drawing import GRID, GROUND, Picture

SIDE, GAP, TOP = 220, 14, 26  # size of a panel, room between panels, room for its title
LEFT, BOTTOM = 44, 40  # room for the labels of the axes
TEXT = 12


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
    picture = _empty(columns * (SIDE + GAP) + GAP, rows * (SIDE + TOP + GAP) + 30, title)
    for place, (name, dots) in enumerate(panels):
        x, y = GAP + place % columns * (SIDE + GAP), TOP + place // columns * (SIDE + TOP + GAP)
        _frame(picture, x, y, name)
        _cloud(picture, dots, x, y)
    base = picture.height - 12
    for place, each in enumerate(panels[0][1] if panels else ()):
        at = GAP + place * 150
        picture.dots([(at + 10, base - 4)], 8, each.colour)
        picture.text((at + 26, base), each.label, TEXT)
    return picture.svg()


def curve_panels(
    panels: Sequence[tuple[str, Sequence[Curve]]], *, title: str, x_label: str, y_label: str
) -> str:
    """Curves side by side over a logarithmic axis; each panel has its own range of y."""
    step = SIDE + LEFT + GAP
    names = {each.label: each for _, lines in panels for each in lines}
    wide = max(len(panels) * step + GAP, 100 * len(names) + 2 * GAP)
    picture = _empty(wide, TOP + SIDE + BOTTOM + 44, title)
    for place, (name, lines) in enumerate(panels):
        x = place * step + LEFT
        _frame(picture, x, TOP, name)
        _curves(picture, lines, x, TOP)
        picture.text((x + SIDE / 2, TOP + SIDE + 32), x_label, TEXT, anchor="middle")
    picture.text((12, TOP + SIDE / 2), y_label, TEXT, anchor="middle", turned=True)
    base = picture.height - 12
    for place, each in enumerate(names.values()):
        at = LEFT + place * 100
        picture.line((at, base - 4), (at + 20, base - 4), colour=each.colour, width=2, dash=each.dash)
        picture.text((at + 26, base), each.label, TEXT)
    return picture.svg()


def _empty(wide: float, high: float, title: str) -> Picture:
    picture = Picture(wide, high, title)
    picture.rectangle(0, 0, wide, high, GROUND)
    return picture


def _frame(picture: Picture, x: float, y: float, name: str) -> None:
    picture.rectangle(x, y, SIDE, SIDE, "none", GRID)
    picture.text((x, y - 8), name, TEXT, bold=True)


def _cloud(picture: Picture, dots: Sequence[Dots], left: float, top: float) -> None:
    every = np.concatenate([np.c_[each.x, each.y] for each in dots])
    low, high = np.percentile(every, [0.5, 99.5], axis=0)
    scale = (SIDE - 24) / max(float((high - low).max()), 1e-9)
    middle, half = (low + high) / 2, SIDE / 2
    for each in dots:
        place = np.clip((np.c_[each.x, each.y] - middle) * scale, 4 - half, half - 4) * (1, -1) + half
        picture.dots([(left + x, top + y) for x, y in place], each.size, each.colour)


def _curves(picture: Picture, lines: Sequence[Curve], left: float, top: float) -> None:
    """The lines of a panel with their axes: x by its logarithm, y linearly."""
    low, high = _range(lines)
    across = _along(lines)

    def down(y: float) -> float:
        return top + SIDE - (y - low) / (high - low) * SIDE

    for value in np.linspace(low, high, 6).tolist():
        picture.line((left, down(value)), (left + SIDE, down(value)), colour=GRID, width=0.6)
        picture.text((left - 6, down(value) + 4), f"{value:g}", TEXT, anchor="end")
    for value in sorted({float(v) for each in lines for v in each.x}):
        picture.text((left + across(value), top + SIDE + 16), f"{value:g}", TEXT, anchor="middle")
    for each in lines:
        places = [(left + across(x), down(y)) for x, y in zip(each.x, each.y, strict=True)]
        picture.line(*places, colour=each.colour, width=1.8, dash=each.dash)
        for place in places:
            picture.circle(place, 2.6, each.colour)


def _range(lines: Sequence[Curve]) -> tuple[float, float]:
    values = [value for each in lines for value in each.y]
    low, high = math.floor(min(values) / 5) * 5, math.ceil(max(values) / 5) * 5
    return float(low), float(max(high, low + 5))


def _along(lines: Sequence[Curve]) -> Callable[[float], float]:
    """Where a value of x lies in a panel, from its left side."""
    ends = [math.log10(value) for each in lines for value in each.x]
    low, span = min(ends), max(max(ends) - min(ends), 1e-9)
    return lambda x: 8 + (math.log10(x) - low) / span * (SIDE - 16)
