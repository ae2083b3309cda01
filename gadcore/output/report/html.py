"""The report as one HTML file: no script, no outside address, all text escaped, pictures inline."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template

from gadcore.drawing import FAINT, GRID, INK, VERDICT_COLOURS
from gadcore.output.flagged import Filters
from gadcore.output.report.facts import gather
from gadcore.records import xml_text

if TYPE_CHECKING:
    from gadcore.workspace import Workspace


def report_html(workspace: Workspace, *, filters: Filters | None = None, analyst: str | None = None) -> str:
    """The one-page report of the run in use, ready for the case file."""
    facts = gather(workspace, filters, analyst)
    return _template().render(facts=facts, colours=VERDICT_COLOURS, ink=INK, faint=FAINT, grid=GRID)


@cache
def _template() -> Template:
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        finalize=xml_text,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        undefined=StrictUndefined,
    )
    return environment.get_template("report.html.jinja")
