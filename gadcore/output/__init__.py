"""The flagged list and everything else that leaves Ringfence as a file.

flagged  one row per flagged node: score, probability, verdict, reasons, provenance
subgraph the flagged nodes with the links between them, as documents and tables that can be read again
files    CSV, Parquet, JSONL, GraphML, GEXF and zip of a table, with a manifest; labels and models
report   the report for the case file
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
