"""Training runs: carried out, kept, read back. Importing this package imports no torch."""

from __future__ import annotations

from gadcore.runs.lost import end_lost_runs
from gadcore.runs.perform import Memory, perform, perform_new
from gadcore.runs.pulse import OnProgress
from gadcore.runs.result import LAYOUTS, Result

__all__ = ["LAYOUTS", "Memory", "OnProgress", "Result", "end_lost_runs", "perform", "perform_new"]
