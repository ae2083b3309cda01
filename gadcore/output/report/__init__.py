"""The report for the case file, as HTML or PDF: what was found, why, what each did, and how to check it."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template

from gadcore.drawing import FAINT, GRID, INK, VERDICT_COLOURS
from gadcore.output.flagged import Filters
from gadcore.output.report.facts import gather
from gadcore.output.report.pdf import report_pdf
from gadcore.records import xml_text

if TYPE_CHECKING:
    from gadcore.workspace import Workspace

__all__ = ["report_html", "report_pdf"]


def report_html(workspace: Workspace, *, filters: Filters | None = None, analyst: str | None = None) -> str:
    """The report of the run in use as one HTML file: no script, no outside address, pictures inline."""
    facts = gather(workspace, filters, analyst)
    return _template().render(facts=facts, colours=VERDICT_COLOURS, ink=INK, faint=FAINT, grid=GRID)


@cache
def _template() -> Template:
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        finalize=lambda value: value if hasattr(value, "__html__") else xml_text(value),
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        undefined=StrictUndefined,
    )
    return environment.get_template("report.html.jinja")
