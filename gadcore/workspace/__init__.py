"""Workspace: the one facade that pages and CLI talk to, with the words they share."""

from __future__ import annotations

from gadcore.ingest import KINDS, REPEATS, UNKNOWN, Mapping, Peek, Report, benchmark_names, formats
from gadcore.ingest.updated import WAYS as UPDATE_WAYS
from gadcore.insight.agreement import Agreement, Dispute
from gadcore.insight.comparison import Estimate, advice, auc_text, estimates, interval_text, same_labels
from gadcore.insight.moved import Cause, Moved, Mover
from gadcore.insight.second_look import SecondLook
from gadcore.loop.audit import LEAST_DRAWS, MEASURED, QUIET, AuditReport, Interval
from gadcore.loop.calibrate import band
from gadcore.loop.strategies import DEFAULT, STRATEGIES, preferred_strategy
from gadcore.store import Result
from gadcore.workspace.door import Workspace
from gadcore.workspace.queue_rows import OTHERS, Filter

# fmt: off
__all__ = [
    "DEFAULT", "KINDS", "LEAST_DRAWS", "MEASURED", "OTHERS", "QUIET", "REPEATS", "STRATEGIES", "UNKNOWN",
    "UPDATE_WAYS",
    "Agreement", "AuditReport", "Cause", "Dispute", "Estimate", "Filter", "Interval", "Mapping",
    "Moved", "Mover", "Peek", "Report", "Result", "SecondLook", "Workspace", "advice", "auc_text",
    "band", "benchmark_names", "estimates", "formats", "interval_text", "preferred_strategy",
    "same_labels",
]
