"""Pictures of a few plain shapes, written as SVG here and drawn on paper by the PDF report.

The origin is the top left corner, y points down. All text and lines are dark on a light ground.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from html import escape

from gadcore.records import xml_text

INK, FAINT, GRID, GROUND = "#1f2933", "#6b7785", "#d5dbe1", "#ffffff"
RIM = "#9aa5b1"  # of a node without a verdict
# From Okabe and Ito's palette, told apart with any colour vision; the shape alone is enough too.
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
    """A line, polygon, circle, text or cloud of dots: ``kind`` says which fields count."""

    kind: str
    points: tuple[Point, ...]
    colour: str = INK  # "none": not filled
    outline: str | None = None
    width: float = 1.0  # of lines and outlines
    size: float = 0.0  # radius of a circle, height of a text, diameter of a dot
    text: str = ""
    anchor: str = "start"  # start, middle, end
    bold: bool = False
    turned: bool = False  # read from below
    dash: str = ""  # pattern of a line, as SVG writes it


@dataclass
class Picture:
    """A drawing of fixed size."""

    width: float
    height: float
    title: str  # read out by screen readers
    shapes: list[Shape] = field(default_factory=list)

    def line(self, *points: Point, colour: str = INK, width: float = 1.0, dash: str = "") -> None:
        self.shapes.append(Shape("line", points, colour, width=width, dash=dash))

    def polygon(self, points: Iterable[Point], colour: str, outline: str | None = None) -> None:
        self.shapes.append(Shape("polygon", tuple(points), colour, outline))

    def rectangle(
        self, x: float, y: float, width: float, height: float, colour: str, outline: str | None = None
    ) -> None:
        self.polygon([(x, y), (x + width, y), (x + width, y + height), (x, y + height)], colour, outline)

    def circle(self, at: Point, radius: float, colour: str, outline: str | None = None) -> None:
        self.shapes.append(Shape("circle", (at,), colour, outline, size=radius))

    def dots(self, points: Iterable[Point], size: float, colour: str) -> None:
        """Many points of one colour at whole units: some ten bytes each."""
        self.shapes.append(Shape("dots", tuple(points), colour, size=size))

    def text(
        self,
        at: Point,
        text: str,
        size: float = 8,
        colour: str = INK,
        anchor: str = "start",
        *,
        bold: bool = False,
        turned: bool = False,
    ) -> None:
        self.shapes.append(
            Shape("text", (at,), colour, size=size, text=text, anchor=anchor, bold=bold, turned=turned)
        )

    def mark(self, at: Point, verdict: str | None, radius: float, colour: str) -> None:
        """A node in the shape of its verdict; a circle without one."""
        corners = _CORNERS.get(VERDICT_SHAPES.get(verdict or "", ""))
        if corners is None:
            self.circle(at, radius, colour, RIM)
        else:
            self.polygon([(at[0] + radius * x, at[1] + radius * y) for x, y in corners], colour, INK)

    def svg(self) -> str:
        """The picture as a self-contained <svg> element; all text is escaped."""
        size = f'viewBox="0 0 {self.width:g} {self.height:g}" width="{self.width:g}" height="{self.height:g}"'
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" font-family="system-ui, sans-serif">'
        )
        title = f"<title>{plain(self.title)}</title>"
        return "\n".join([head, title, *map(_svg, self.shapes), "</svg>"]) + "\n"

    __html__ = svg  # a template puts it into a page as it is


def plain(text: str) -> str:
    """Text that is safe inside HTML, SVG and ReportLab markup."""
    return escape(xml_text(text), quote=True)


def _svg(shape: Shape) -> str:
    at = [f"{_number(x)},{_number(y)}" for x, y in shape.points]
    x, _, y = at[0].partition(",") if at else ("", "", "")
    stroke = f' stroke="{shape.outline}" stroke-width="{shape.width:g}"' if shape.outline else ""
    if shape.kind == "line":
        dash = f' stroke-dasharray="{shape.dash}"' if shape.dash else ""
        look = f'stroke="{shape.colour}" stroke-width="{_number(shape.width, 2)}"{dash}'
        if len(at) != 2:
            return f'<polyline points="{" ".join(at)}" fill="none" {look}/>'
        c, _, d = at[1].partition(",")
        return f'<line x1="{x}" y1="{y}" x2="{c}" y2="{d}" {look}/>'
    if shape.kind == "polygon":
        return f'<polygon points="{" ".join(at)}" fill="{shape.colour}"{stroke}/>'
    if shape.kind == "circle":
        return f'<circle cx="{x}" cy="{y}" r="{_number(shape.size)}" fill="{shape.colour}"{stroke}/>'
    if shape.kind == "dots":
        path = "".join(f"M{a:.0f} {b:.0f}h0" for a, b in shape.points)
        return (
            f'<path d="{path}" stroke="{shape.colour}" stroke-width="{shape.size:g}" stroke-linecap="round"/>'
        )
    weight = ' font-weight="bold"' if shape.bold else ""
    turned = f' transform="rotate(-90 {x} {y})"' if shape.turned else ""
    look = f'font-size="{shape.size:g}" fill="{shape.colour}" text-anchor="{shape.anchor}"{weight}{turned}'
    return f'<text x="{x}" y="{y}" {look}>{plain(shape.text)}</text>'


def _number(value: float, digits: int = 1) -> str:
    """E.g. 12.3, 12 (not 12.0)."""
    return f"{round(value, digits):.{digits}f}".rstrip("0").rstrip(".")
