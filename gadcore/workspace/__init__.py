"""Workspace: the one facade that pages and CLI talk to, with the words they share."""

from __future__ import annotations

from gadcore.ingest import Mapping, Peek, Report, benchmark_names, formats, peek
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
    "DEFAULT", "LEAST_DRAWS", "MEASURED", "OTHERS", "QUIET", "STRATEGIES", "Agreement", "AuditReport",
    "Cause", "Dispute", "Estimate", "Filter", "Interval", "Mapping", "Moved", "Mover", "Peek", "Report",
    "Result", "SecondLook", "Workspace", "advice", "auc_text", "band", "benchmark_names", "estimates",
    "formats", "interval_text", "peek", "preferred_strategy", "same_labels",
]
