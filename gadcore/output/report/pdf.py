"""The report as a PDF: one A4 page, and where the graph has links, pages with the cases behind it."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reportlab.graphics import shapes
from reportlab.lib.colors import HexColor
from reportlab.lib.enums import TA_LEFT, TA_RIGHT
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import ParagraphStyle
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFError, TTFont
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import Flowable, Frame, KeepInFrame, Paragraph, Spacer, Table

from gadcore.drawing import FAINT, GRID, INK, VERDICT_COLOURS, Picture, Shape, plain
from gadcore.output.flagged import Filters
from gadcore.output.report.cases import Case, Partner
from gadcore.output.report.facts import VIEWS, Facts, ReportLine, gather
from gadcore.output.report.pictures import shortened

if TYPE_CHECKING:
    from gadcore.workspace import Workspace

_MARGIN = 36.0
_WIDTH, _HEIGHT = A4[0] - 2 * _MARGIN, A4[1] - 2 * _MARGIN
# Fonts with most scripts, where the machine has one; otherwise the Latin font that comes with ReportLab.
_DEJAVU = "/usr/share/fonts/truetype/dejavu/DejaVuSans"
_FONTS = (
    (f"{_DEJAVU}.ttf", f"{_DEJAVU}-Bold.ttf"),
    ("/Library/Fonts/Arial Unicode.ttf", "/Library/Fonts/Arial Unicode.ttf"),
    ("C:/Windows/Fonts/arial.ttf", "C:/Windows/Fonts/arialbd.ttf"),
    ("Vera.ttf", "VeraBd.ttf"),
)
_CELL = 160  # characters of a table cell; one row may not eat the page
_CASES = 4  # on a page
_ALL = (0, 0), (-1, -1)  # the cells of a table


def report_pdf(workspace: Workspace, *, filters: Filters | None = None, analyst: str | None = None) -> bytes:
    """The report of the run in use, as the bytes of a PDF."""
    facts = gather(workspace, filters, analyst)
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=A4)
    canvas.setTitle(_known(facts.title))
    canvas.setAuthor("Ringfence")
    for story in (_story(facts), *_case_pages(facts)):
        frame = Frame(_MARGIN, _MARGIN, _WIDTH, _HEIGHT, 0, 0, 0, 0)
        frame.addFromList([KeepInFrame(_WIDTH, _HEIGHT, story, mode="shrink")], canvas)
        canvas.showPage()
    canvas.save()
    return buffer.getvalue()


def _story(facts: Facts) -> list[Flowable]:
    story: list[Flowable] = [_paragraph(facts.title, 17, bold=True), _paragraph(facts.subtitle, 8, FAINT)]
    story += [Spacer(1, 8), _figures(facts.figures), Spacer(1, 6)]
    story += [_heading(facts.scores), _drawn(facts.histogram, _WIDTH), _paragraph(facts.bars, 7, FAINT)]
    if facts.views:
        story += [_heading(facts.around), _side_by_side(facts.views), Spacer(1, 2)]
        story.append(_paragraph(facts.marks, 7, FAINT))
    story += [_heading(facts.heading), _flagged(facts), Spacer(1, 4)]
    story += [_paragraph(facts.caution, 7, FAINT), _heading(facts.origin)]
    return story + [_paragraph(f"{name}: {value}", 6.5, FAINT) for name, value in facts.provenance]


def _heading(text: str) -> Flowable:
    return _paragraph(text, 10, bold=True, spaceBefore=7, spaceAfter=3)


def _paragraph(text: str, size: float, colour: str = INK, *, bold: bool = False, **style: Any) -> Paragraph:
    font, ink = _fonts()[bold], HexColor(colour)
    shape = ParagraphStyle("text", fontName=font, fontSize=size, leading=size * 1.3, textColor=ink, **style)
    return Paragraph(plain(_known(text)), shape)


def _table(cells: Sequence[Sequence[Any]], widths: Sequence[float], *style: tuple[Any, ...]) -> Table:
    return Table(cells, colWidths=widths, hAlign="LEFT", style=list(style))


def _figures(figures: list[tuple[str, str]]) -> Table:
    cells = [[_paragraph(value, 10, bold=True), _paragraph(name, 6.5, FAINT)] for name, value in figures]
    widths = [_WIDTH / len(cells)] * len(cells)
    return _table([cells], widths, ("BOX", *_ALL, 0.5, HexColor(GRID)), ("VALIGN", *_ALL, "TOP"))


def _side_by_side(views: list[Picture]) -> Table:
    width = _WIDTH / VIEWS
    cells = [_drawn(view, width - 8) for view in views]
    grid = ("GRID", *_ALL, 0.5, HexColor(GRID))
    return _table([cells], [width] * len(views), grid, ("LEFTPADDING", *_ALL, 4), ("RIGHTPADDING", *_ALL, 4))


def _flagged(facts: Facts) -> Flowable:
    if not facts.lines:
        return _paragraph(facts.nobody, 8)
    heads = [_paragraph(name, 7, FAINT) for name in facts.columns]
    return _listed([heads, *map(_row, facts.lines)], [30, 100, 44, 48, 52, _WIDTH - 274])


def _listed(cells: Sequence[Sequence[Any]], widths: Sequence[float]) -> Table:
    """A table with a head and fine lines."""
    return _table(
        cells,
        widths,
        ("LINEBELOW", (0, 0), (-1, 0), 0.7, HexColor(FAINT)),
        ("LINEBELOW", (0, 1), (-1, -1), 0.3, HexColor(GRID)),
        ("VALIGN", *_ALL, "TOP"),
        ("LEFTPADDING", *_ALL, 0),
        ("TOPPADDING", *_ALL, 1.5),
        ("BOTTOMPADDING", *_ALL, 1.5),
    )


def _case_pages(facts: Facts) -> Iterator[list[Flowable]]:
    """What the flagged nodes did, a few cases on each page."""
    for first in range(0, len(facts.cases), _CASES):
        page = facts.cases[first : first + _CASES]
        yield [_heading(facts.each), *(flowable for case in page for flowable in _case(case))]


def _case(case: Case) -> list[Flowable]:
    title = f"{case.title} – {case.verdict}" if case.verdict else case.title
    story: list[Flowable] = [
        _paragraph(shortened(title, _CELL), 9, VERDICT_COLOURS.get(case.verdict, INK), bold=True),
        _paragraph(case.totals, 7.5, spaceAfter=2),
    ]
    if case.timeline:
        story += [_drawn(case.timeline, _WIDTH), _paragraph(case.bars, 6.5, FAINT, spaceAfter=2)]
    sides = [TA_RIGHT if 2 <= place <= 5 else TA_LEFT for place in range(len(case.columns))]  # of numbers
    heads = [_paragraph(name, 7, FAINT, alignment=side) for name, side in zip(case.columns, sides)]
    cells = [heads, *(_partner(partner, sides) for partner in case.partners)]
    return [*story, _listed(cells, [_WIDTH - 334, 50, 44, 74, 74, 36, 56]), Spacer(1, 8)]


def _partner(partner: Partner, sides: Sequence[int]) -> list[Flowable]:
    cells = (partner.direction, partner.links, partner.received, partner.sent, partner.rank)
    verdict = _paragraph(partner.verdict or "–", 7.5, VERDICT_COLOURS.get(partner.verdict, INK))
    name = _paragraph(shortened(partner.name, _CELL), 7.5)
    return [name, *(_paragraph(cell, 7.5, alignment=side) for cell, side in zip(cells, sides[1:])), verdict]


def _row(line: ReportLine) -> list[Flowable]:
    name = f"{line.node_id} ({line.name})" if line.name else line.node_id
    return [
        _paragraph(line.rank, 7.5),
        _paragraph(shortened(name, _CELL), 7.5),
        _paragraph(line.percentile, 7.5),
        _paragraph(line.probability, 7.5),
        _paragraph(line.verdict or "–", 7.5, VERDICT_COLOURS.get(line.verdict, INK)),
        _paragraph(shortened(line.why, _CELL), 7),
    ]


def _drawn(picture: Picture, width: float) -> Flowable:
    """The picture as a ReportLab drawing of this width."""
    scale = width / picture.width
    drawing = shapes.Drawing(width, picture.height * scale)
    for shape in picture.shapes:
        drawing.add(_shape(shape, picture.height))
    drawing.scale(scale, scale)
    return drawing


def _shape(shape: Shape, height: float) -> Any:
    """A shape of the report's pictures on a canvas whose y points up."""
    points = [(x, height - y) for x, y in shape.points]
    flat = [value for point in points for value in point]
    fill = HexColor(shape.colour)
    line = {"strokeColor": HexColor(shape.outline) if shape.outline else None, "strokeWidth": shape.width}
    if shape.kind == "line":
        return shapes.PolyLine(flat, strokeColor=fill, strokeWidth=shape.width)
    if shape.kind == "polygon":
        return shapes.Polygon(flat, fillColor=fill, **line)
    if shape.kind == "circle":
        return shapes.Circle(*flat, shape.size, fillColor=fill, **line)
    look = {"fontName": _fonts()[shape.bold], "fontSize": shape.size, "textAnchor": shape.anchor}
    return shapes.String(*flat, _known(shape.text), fillColor=fill, **look)


@cache
def _fonts() -> tuple[str, str]:
    """Names of a regular and a bold font, registered with ReportLab."""
    for regular, bold in _FONTS:
        if Path(regular).is_absolute() and not Path(regular).exists():
            continue
        try:
            pdfmetrics.registerFont(TTFont("Report", regular))
            pdfmetrics.registerFont(TTFont("Report-Bold", bold))
        except (TTFError, OSError):
            continue
        return "Report", "Report-Bold"
    return "Helvetica", "Helvetica-Bold"


def _known(text: str) -> str:
    """Text with a question mark for each character that the font lacks, where it would print an empty box."""
    face = pdfmetrics.getFont(_fonts()[0]).face
    glyphs = getattr(face, "charToGlyph", None)
    if glyphs is None:
        return text.encode("latin-1", "replace").decode("latin-1")
    return "".join(c if c.isspace() or ord(c) in glyphs else "?" for c in text)
