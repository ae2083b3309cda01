"""The flagged list and everything else that leaves Ringfence as a file.

flagged  one row per flagged node: score, probability, verdict, reasons, provenance
files    CSV, Parquet, JSONL, GraphML and GEXF of a table, with a manifest; labels and models
"""

from __future__ import annotations

from gadcore.output.files import FORMATS, Manifest, export, labels_csv, manifest_of, model_zip, render
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
