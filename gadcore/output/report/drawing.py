"""Pictures as a few plain shapes, drawn once and written as SVG (HTML report) or on a PDF canvas.

The origin is the top left corner, y points down, units are points.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from html import escape
from typing import Any

from reportlab.graphics import shapes

from gadcore.output.files import xml_text

INK, FAINT, GRID = "#1f2933", "#6b7785", "#d5dbe1"
# Colours and shapes of verdicts are those of the app; a test compares them.
VERDICT_COLOURS = {"anomalous": "#D55E00", "normal": "#0072B2", "unsure": "#B5608E"}
VERDICT_SHAPES = {"anomalous": "diamond", "normal": "square", "unsure": "triangle"}

Point = tuple[float, float]
_CORNERS: dict[str, list[Point]] = {
    "diamond": [(0, -1.3), (1.3, 0), (0, 1.3), (-1.3, 0)],
    "square": [(-1, -1), (1, -1), (1, 1), (-1, 1)],
    "triangle": [(0, -1.25), (1.1, 0.8), (-1.1, 0.8)],
}


@dataclass(frozen=True)
class Shape:
    """A line, polygon, circle or text: ``kind`` says which fields count."""

    kind: str
    points: tuple[Point, ...]
    colour: str = INK
    outline: str | None = None
    width: float = 1.0  # of lines and outlines
    size: float = 0.0  # radius of a circle, height of a text
    text: str = ""
    anchor: str = "start"  # start, middle, end


@dataclass
class Picture:
    """A drawing of fixed size."""

    width: float
    height: float
    title: str  # read out by screen readers
    shapes: list[Shape] = field(default_factory=list)

    def line(self, a: Point, b: Point, colour: str = INK, width: float = 1.0) -> None:
        self.shapes.append(Shape("line", (a, b), colour, width=width))

    def polygon(self, points: list[Point], colour: str, outline: str | None = None) -> None:
        self.shapes.append(Shape("polygon", tuple(points), colour, outline))

    def rectangle(self, x: float, y: float, width: float, height: float, colour: str) -> None:
        self.polygon([(x, y), (x + width, y), (x + width, y + height), (x, y + height)], colour)

    def circle(self, at: Point, radius: float, colour: str, outline: str | None = None) -> None:
        self.shapes.append(Shape("circle", (at,), colour, outline, size=radius))

    def text(self, at: Point, text: str, size: float = 8, colour: str = INK, anchor: str = "start") -> None:
        self.shapes.append(Shape("text", (at,), colour, size=size, text=text, anchor=anchor))

    def mark(self, at: Point, verdict: str | None, radius: float, colour: str) -> None:
        """A node in the shape of its verdict; a circle without one."""
        corners = _CORNERS.get(VERDICT_SHAPES.get(verdict or "", ""))
        if corners is None:
            self.circle(at, radius, colour, "#9aa5b1")
        else:
            self.polygon([(at[0] + radius * x, at[1] + radius * y) for x, y in corners], colour, INK)

    def svg(self) -> str:
        """The picture as a self-contained <svg> element; all text is escaped."""
        body = "".join(_svg(shape) for shape in self.shapes)
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width:g} {self.height:g}" '
            f'role="img" font-family="system-ui, sans-serif"><title>{plain(self.title)}</title>{body}</svg>'
        )

    def drawing(self, font: str, known: Callable[[str], str]) -> Any:
        """The picture as a ReportLab drawing; ``known`` replaces what the font cannot show."""
        drawing = shapes.Drawing(self.width, self.height)
        for shape in self.shapes:
            drawing.add(_pdf(shape, self.height, font, known))
        return drawing


def plain(text: str) -> str:
    """Text that is safe inside HTML, SVG and ReportLab markup."""
    return escape(xml_text(text), quote=True)


def _svg(shape: Shape) -> str:
    (x, y), *_ = shape.points
    stroke = f' stroke="{shape.outline}" stroke-width="{shape.width:g}"' if shape.outline else ""
    if shape.kind == "line":
        (a, b), (c, d) = shape.points
        return (
            f'<line x1="{a:.1f}" y1="{b:.1f}" x2="{c:.1f}" y2="{d:.1f}" '
            f'stroke="{shape.colour}" stroke-width="{shape.width:.2f}"/>'
        )
    if shape.kind == "polygon":
        points = " ".join(f"{a:.1f},{b:.1f}" for a, b in shape.points)
        return f'<polygon points="{points}" fill="{shape.colour}"{stroke}/>'
    if shape.kind == "circle":
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{shape.size:.1f}" fill="{shape.colour}"{stroke}/>'
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="{shape.size:g}" fill="{shape.colour}" '
        f'text-anchor="{shape.anchor}">{plain(shape.text)}</text>'
    )


def _pdf(shape: Shape, height: float, font: str, known: Callable[[str], str]) -> Any:
    points = [(x, height - y) for x, y in shape.points]
    (x, y), *_ = points
    fill = shapes.colors.HexColor(shape.colour)
    stroke = shapes.colors.HexColor(shape.outline) if shape.outline else None
    if shape.kind == "line":
        return shapes.Line(*points[0], *points[1], strokeColor=fill, strokeWidth=shape.width)
    if shape.kind == "polygon":
        flat = [value for point in points for value in point]
        return shapes.Polygon(flat, fillColor=fill, strokeColor=stroke, strokeWidth=shape.width)
    if shape.kind == "circle":
        return shapes.Circle(x, y, shape.size, fillColor=fill, strokeColor=stroke, strokeWidth=shape.width)
    return shapes.String(
        x, y, known(shape.text), fontName=font, fontSize=shape.size, fillColor=fill, textAnchor=shape.anchor
    )
