"""The report as a PDF of exactly one A4 page."""

from __future__ import annotations

import io
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reportlab.lib.colors import HexColor
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import ParagraphStyle
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFError, TTFont
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import Flowable, Frame, KeepInFrame, Paragraph, Spacer, Table, TableStyle

from gadcore.output import Filters
from gadcore.output.report.drawing import FAINT, GRID, INK, VERDICT_COLOURS, Picture, plain
from gadcore.output.report.facts import BARS, MARKS, Facts, gather
from gadcore.output.report.html import probability_text, why

if TYPE_CHECKING:
    from gadcore.workspace import Workspace

_MARGIN = 36.0
_WIDTH = A4[0] - 2 * _MARGIN
# Fonts with most scripts, where the machine has one; else the Latin font that comes with ReportLab.
_FONTS = (
    (
        "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf",
        "/usr/share/fonts/truetype/dejavu/DejaVuSans-Bold.ttf",
    ),
    ("/Library/Fonts/Arial Unicode.ttf", "/Library/Fonts/Arial Unicode.ttf"),
    ("C:/Windows/Fonts/arial.ttf", "C:/Windows/Fonts/arialbd.ttf"),
    ("Vera.ttf", "VeraBd.ttf"),
)
_CELL = 160  # characters of a table cell; one row may not eat the page


def report_pdf(workspace: Workspace, *, filters: Filters | None = None, analyst: str | None = None) -> bytes:
    """The one-page report of the run in use, as the bytes of a PDF."""
    facts = gather(workspace, filters, analyst)
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=A4)
    canvas.setTitle(_known(facts.title))
    canvas.setAuthor("Ringfence")
    frame = Frame(_MARGIN, _MARGIN, _WIDTH, A4[1] - 2 * _MARGIN, 0, 0, 0, 0)
    frame.addFromList([KeepInFrame(_WIDTH, A4[1] - 2 * _MARGIN, _story(facts), mode="shrink")], canvas)
    canvas.save()
    return buffer.getvalue()


def _story(facts: Facts) -> list[Flowable]:
    story: list[Flowable] = [
        _paragraph(facts.title, 17, bold=True),
        _paragraph(facts.subtitle, 8, FAINT),
        Spacer(1, 8),
    ]
    story += [
        _figures(facts.figures),
        Spacer(1, 6),
        _heading("Scores of all nodes"),
        _drawn(facts.histogram, _WIDTH),
    ]
    story.append(_paragraph(BARS, 7, FAINT))
    if facts.views:
        story += [
            _heading("Around the highest-ranked flagged nodes"),
            _side_by_side(facts.views),
            Spacer(1, 2),
        ]
        story.append(_paragraph(MARKS, 7, FAINT))
    story += [_heading(facts.heading), _flagged(facts.rows), Spacer(1, 4)]
    story += [_paragraph(facts.caution, 7, FAINT), _heading("Provenance")]
    story += [_paragraph(f"{name}: {value}", 6.5, FAINT) for name, value in facts.provenance]
    return story


def _heading(text: str) -> Flowable:
    return _paragraph(text, 10, bold=True, before=7, after=3)


def _paragraph(
    text: str, size: float, colour: str = INK, *, bold: bool = False, before: float = 0, after: float = 0
) -> Paragraph:
    style = ParagraphStyle(
        "text",
        fontName=_fonts()[1 if bold else 0],
        fontSize=size,
        leading=size * 1.3,
        textColor=HexColor(colour),
        spaceBefore=before,
        spaceAfter=after,
        splitLongWords=1,
    )
    return Paragraph(plain(_known(text)), style)


def _figures(figures: list[tuple[str, str]]) -> Table:
    cells = [[_paragraph(value, 10, bold=True), _paragraph(name, 6.5, FAINT)] for name, value in figures]
    widths = [_WIDTH / len(cells)] * len(cells)
    table = Table([cells], colWidths=widths, hAlign="LEFT")
    table.setStyle(
        TableStyle([("BOX", (0, 0), (-1, -1), 0.5, HexColor(GRID)), ("VALIGN", (0, 0), (-1, -1), "TOP")])
    )
    return table


def _drawn(picture: Picture, width: float) -> Flowable:
    drawing = picture.drawing(_fonts()[0], _known)
    scale = width / picture.width
    drawing.width, drawing.height = width, picture.height * scale
    drawing.scale(scale, scale)
    return drawing


def _side_by_side(views: list[Picture]) -> Table:
    width = _WIDTH / 3
    table = Table(
        [[_drawn(view, width - 8) for view in views]], colWidths=[width] * len(views), hAlign="LEFT"
    )
    table.setStyle(
        TableStyle(
            [
                ("BOX", (0, 0), (-1, -1), 0.5, HexColor(GRID)),
                ("INNERGRID", (0, 0), (-1, -1), 0.5, HexColor(GRID)),
                ("LEFTPADDING", (0, 0), (-1, -1), 4),
                ("RIGHTPADDING", (0, 0), (-1, -1), 4),
            ]
        )
    )
    return table


def _flagged(rows: list[dict[str, Any]]) -> Flowable:
    if not rows:
        return _paragraph("No node passes these filters.", 8)
    head = [_paragraph(name, 7, FAINT) for name in ("Rank", "Node", "Perc.", "Prob.", "Verdict", "Why")]
    table = Table(
        [head, *map(_row, rows)], colWidths=[30, 100, 34, 34, 52, _WIDTH - 250], repeatRows=1, hAlign="LEFT"
    )
    table.setStyle(
        TableStyle(
            [
                ("LINEBELOW", (0, 0), (-1, 0), 0.7, HexColor(FAINT)),
                ("LINEBELOW", (0, 1), (-1, -1), 0.3, HexColor(GRID)),
                ("VALIGN", (0, 0), (-1, -1), "TOP"),
                ("LEFTPADDING", (0, 0), (-1, -1), 0),
                ("TOPPADDING", (0, 0), (-1, -1), 1.5),
                ("BOTTOMPADDING", (0, 0), (-1, -1), 1.5),
            ]
        )
    )
    return table


def _row(row: dict[str, Any]) -> list[Flowable]:
    name = row["node_id"] if row["name"] == row["node_id"] else f"{row['node_id']} ({row['name']})"
    return [
        _paragraph(f"{row['rank']:,}", 7.5),
        _paragraph(_cut(name), 7.5),
        _paragraph(f"{row['percentile']:.1f}", 7.5),
        _paragraph(probability_text(row["probability"]), 7.5),
        _paragraph(row["verdict"] or "–", 7.5, VERDICT_COLOURS.get(row["verdict"], INK)),
        _paragraph(_cut(why(row)), 7),
    ]


def _cut(text: str) -> str:
    return text if len(text) <= _CELL else text[: _CELL - 1] + "…"


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
