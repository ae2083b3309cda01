"""Export: a button for every file; files are made when they are asked for."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from gadcore.output import FORMATS, Filters, flagged_table, labels_csv, manifest_of, model_zip, render
from gadcore.output.report import report_html, report_pdf
from gadcore.records import RunInfo
from gadcore.workspace import Workspace
from pages.common import state
from pages.common.page import TRAIN

_ABOUT = {
    "csv": ("CSV", "For spreadsheets; formulas are disarmed."),
    "parquet": ("Parquet", "For data pipelines; types kept."),
    "jsonl": ("JSON lines", "One object a row, for scripts."),
    "graphml": ("GraphML", "Flagged nodes and the edges between them."),
    "gexf": ("GEXF", "The same graph, for Gephi."),
}
_KEPT = "export-table"


def kept_table(workspace: Workspace, run: RunInfo, filters: Filters) -> pd.DataFrame:
    """The flagged table; made once for a run, label set and filters, so that file and manifest agree."""
    key = (workspace.id, run.id, workspace.verdicts.labels().hash(workspace.graph), filters)
    kept = state.remembered(_KEPT)
    if kept is None or kept[0] != key:
        with st.spinner("Gathering reasons …"):
            kept = (key, flagged_table(workspace, **filters.as_dict()))
        state.remember(_KEPT, kept)
    table: pd.DataFrame = kept[1]
    return table


def show_freshness(workspace: Workspace, run: RunInfo) -> None:
    """Say when verdicts were given that the exported run has not learnt from."""
    fresh = workspace.verdicts.counts()["fresh"]
    if fresh:
        st.info(
            f"{fresh:,} verdict{'s' * (fresh != 1)} since run {run.number}: retrain to use "
            f"{'them' if fresh != 1 else 'it'}. Scores and reasons below are those of run {run.number}.",
            icon=":material/update:",
        )
        st.page_link(TRAIN, label="Go to Train", icon=":material/model_training:")


def show_list_downloads(workspace: Workspace, run: RunInfo, table: pd.DataFrame, filters: Filters) -> None:
    """One card per format: the file, and the manifest that proves it."""
    stem = f"{slug(workspace.name)}-flagged-run{run.number}"
    for column, (format, mime) in zip(st.columns(len(FORMATS)), FORMATS.items()):
        title, about = _ABOUT[format]
        name = f"{stem}.{format}"
        with column.container(border=True, height="stretch"):
            st.markdown(f"**{title}**")
            st.caption(about)
            file = partial(render, workspace, table, format)
            rank = "primary" if format == "csv" else "secondary"
            _download(title, file, name, mime, f"download-{format}", type=rank)
            proof = partial(_manifest, workspace, table, format, filters, name)
            _download("Manifest", proof, f"{name}.manifest.json", "application/json", f"manifest-{format}")


def _manifest(workspace: Workspace, table: pd.DataFrame, format: str, filters: Filters, name: str) -> bytes:
    content = render(workspace, table, format)
    return manifest_of(workspace, table, content, format, filters, name).text().encode()


def show_case_file(workspace: Workspace, run: RunInfo, filters: Filters) -> None:
    """The one-page report, as HTML and PDF."""
    stem = f"{slug(workspace.name)}-report-run{run.number}"
    chosen: dict[str, Any] = {"filters": filters, "analyst": state.analyst()}
    st.markdown("**Report for the case file**")
    st.caption("One page: figures, score distribution, top neighbourhoods, reasons and provenance.")
    with st.container(horizontal=True):
        page, paper = partial(report_html, workspace, **chosen), partial(report_pdf, workspace, **chosen)
        _download("HTML", lambda: page().encode(), f"{stem}.html", "text/html", "download-report-html")
        _download("PDF", paper, f"{stem}.pdf", "application/pdf", "download-report-pdf")


def show_labels_download(workspace: Workspace) -> None:
    """All current verdicts as CSV."""
    counts = workspace.verdicts.counts()
    given = counts["normal"] + counts["anomalous"] + counts["unsure"]
    st.markdown("**Labels**")
    st.caption(
        f"All {given:,} current verdicts with analyst, time and note; can be imported again."
        if given
        else "No verdict yet: label nodes first."
    )
    name, file = f"{slug(workspace.name)}-labels.csv", partial(labels_csv, workspace)
    _download("Labels (CSV)", file, name, "text/csv", "download-labels", disabled=not given)


def show_model_download(workspace: Workspace, run: RunInfo) -> None:
    """The model of the run in use."""
    st.markdown("**Model**")
    st.caption(f"Weights of run {run.number} ({run.model}) as safetensors and JSON, with a model card.")
    name, file = f"{slug(workspace.name)}-model-run{run.number}.zip", partial(model_zip, workspace, run.id)
    _download("Model (zip)", file, name, "application/zip", "download-model")


def _download(title: str, make: Callable[[], bytes], name: str, mime: str, key: str, **look: Any) -> None:
    """A button whose file is made on the click; the page does not run again for it."""
    style: dict[str, Any] = {"icon": ":material/download:"}
    if title == "Manifest":
        style = {"icon": ":material/verified:", "type": "tertiary"}
    st.download_button(title, make, name, mime, key, on_click="ignore", **(style | look))


def slug(name: str) -> str:
    """A project's name as part of a file name."""
    return re.sub(r"[^\w]+", "-", name).strip("-") or "project"
