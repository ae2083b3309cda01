"""Graphs in: every file format, one ``read``. Public names of this package are listed in ``__all__``."""

from __future__ import annotations

from gadcore.ingest.build import Reading
from gadcore.ingest.catalog import benchmark_names
from gadcore.ingest.mapping import Mapping
from gadcore.ingest.parts import Dropped
from gadcore.ingest.read import read, read_graph
from gadcore.ingest.report import ColumnReport, Report

__all__ = [
    "ColumnReport",
    "Dropped",
    "Mapping",
    "Reading",
    "Report",
    "benchmark_names",
    "read",
    "read_graph",
]
