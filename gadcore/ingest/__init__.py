"""Graphs in: every file format, one ``read``. Public names of this package are listed in ``__all__``."""

from __future__ import annotations

from gadcore.ingest.assemble import Reading
from gadcore.ingest.benchmark_graphs import benchmark_names
from gadcore.ingest.graph_parts import Dropped
from gadcore.ingest.mapping import KINDS, REPEATS, UNKNOWN, Mapping
from gadcore.ingest.read import Peek, peek, read, read_graph
from gadcore.ingest.report import ColumnReport, Report
from gadcore.ingest.seen import encoding_of, seen_with
from gadcore.ingest.together import read_together
from gadcore.ingest.update import read_more

__all__ = [
    "KINDS",
    "REPEATS",
    "UNKNOWN",
    "ColumnReport",
    "Dropped",
    "Mapping",
    "Peek",
    "Reading",
    "Report",
    "benchmark_names",
    "encoding_of",
    "peek",
    "read",
    "read_graph",
    "read_more",
    "read_together",
    "seen_with",
]
