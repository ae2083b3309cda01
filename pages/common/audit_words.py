"""What the random audit says, in short words for the labelling screen and the Train page."""

from __future__ import annotations

from gadcore.workspace import LEAST_DRAWS, AuditReport


def audit_line(report: AuditReport) -> str:
    """The state of the audit in one line: when the last hit was, and how many anomalies are left."""
    return f"{since_hit_words(report)} · {_left(report)}"


def since_hit_words(report: AuditReport) -> str:
    """When the last anomaly turned up."""
    if not report.labelled:
        return "no label yet"
    if not report.found:
        return f"no hit in {counted(report.labelled, 'label')}"
    if not report.since_hit:
        return "the last label was a hit"
    return f"{counted(report.since_hit, 'label')} since the last hit"


def _left(report: AuditReport) -> str:
    if report.left_interval is None:
        return f"no estimate of what is left yet: {report.draws:,} of {LEAST_DRAWS} random checks"
    low, high = (f"{bound:,.0f}" for bound in report.left_interval)
    return f"{low} left" if low == high else f"{low} to {high} left"


def counted(n: int, word: str) -> str:
    """E.g. "1 label", "2,000 labels"."""
    return f"{n:,} {word}{'s' * (n != 1)}"
