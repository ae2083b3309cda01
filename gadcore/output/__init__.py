"""The flagged list and everything else that leaves Ringfence as a file.

flagged  one row per flagged node: score, probability, verdict, reasons, provenance
files    CSV, Parquet, JSONL, GraphML and GEXF of a table, and the manifest beside each
archive  labels and models
"""

from __future__ import annotations

from gadcore.output.archive import labels_csv, model_zip
from gadcore.output.files import FORMATS, Manifest, export, manifest_of, render
from gadcore.output.flagged import COLUMNS, Filters, flagged_table, select

__all__ = [
    "COLUMNS",
    "FORMATS",
    "Filters",
    "Manifest",
    "export",
    "flagged_table",
    "labels_csv",
    "manifest_of",
    "model_zip",
    "render",
    "select",
]
