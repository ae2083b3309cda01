"""The one-page report for the case file, as HTML or PDF: what was found, why, and how to check it."""

from __future__ import annotations

from gadcore.output.report.html import report_html
from gadcore.output.report.pdf import report_pdf

__all__ = ["report_html", "report_pdf"]
