"""Export: a button for every file; files are made when they are asked for."""

from __future__ import annotations

import hashlib
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
    "graphml": ("GraphML", "Flagged nodes and every link between them."),
    "gexf": ("GEXF", "The same graph, for Gephi."),
    "zip": ("Tables", "The same graph as CSV tables, to import again."),
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
            file = partial(_noted, workspace, name, partial(render, workspace, table, format))
            rank = "primary" if format == "csv" else "secondary"
            _download(workspace, title, file, name, mime, f"download-{format}", type=rank)
            proof = partial(_manifest, workspace, table, format, filters, name)
            _download(
                workspace,
                "Manifest",
                proof,
                f"{name}.manifest.json",
                "application/json",
                f"manifest-{format}",
            )


def _manifest(workspace: Workspace, table: pd.DataFrame, format: str, filters: Filters, name: str) -> bytes:
    content = render(workspace, table, format)
    return manifest_of(workspace, table, content, format, filters, name).text().encode()


def show_case_file(workspace: Workspace, run: RunInfo, filters: Filters) -> None:
    """The report, as HTML and PDF."""
    stem = f"{slug(workspace.name)}-report-run{run.number}"
    chosen: dict[str, Any] = {"filters": filters, "analyst": state.analyst()}
    st.markdown("**Report for the case file**")
    cases = ", each case's timeline and counterparties" if workspace.graph.links is not None else ""
    st.caption(f"Figures, score distribution, top neighbourhoods, reasons{cases} and provenance.")
    with st.container(horizontal=True):
        makers = {
            "html": lambda: report_html(workspace, **chosen).encode(),
            "pdf": lambda: report_pdf(workspace, **chosen),
        }
        for kind, mime in (("html", "text/html"), ("pdf", "application/pdf")):
            name = f"{stem}.{kind}"
            file = partial(_noted, workspace, name, makers[kind])
            _download(workspace, kind.upper(), file, name, mime, f"download-report-{kind}")


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
    _download(workspace, "Labels (CSV)", file, name, "text/csv", "download-labels", disabled=not given)


def show_model_download(workspace: Workspace, run: RunInfo) -> None:
    """The model of the run in use."""
    st.markdown("**Model**")
    st.caption(f"Weights of run {run.number} ({run.model}) as safetensors and JSON, with a model card.")
    name = f"{slug(workspace.name)}-model-run{run.number}.zip"
    file = partial(_noted, workspace, name, partial(model_zip, workspace, run.id))
    _download(workspace, "Model (zip)", file, name, "application/zip", "download-model")


def _noted(workspace: Workspace, name: str, make: Callable[[], bytes]) -> bytes:
    """The bytes of a file, which the trail then tells of."""
    content = make()
    workspace.trail.exported(name, hashlib.sha256(content).hexdigest())
    return content


def _download(
    workspace: Workspace,
    title: str,
    make: Callable[[], bytes],
    name: str,
    mime: str,
    key: str,
    disabled: bool = False,
    **look: Any,
) -> None:
    """A button whose file is made on the click; the page does not run again for it."""
    style: dict[str, Any] = {"icon": ":material/download:"}
    if title == "Manifest":
        style = {"icon": ":material/verified:", "type": "tertiary"}
    style["disabled"] = disabled or not workspace.may("export")
    file = partial(_allowed_file, workspace, make)
    st.download_button(title, file, name, mime, key, on_click="ignore", **(style | look))


def _allowed_file(workspace: Workspace, make: Callable[[], bytes]) -> bytes:
    workspace.check("export")
    return make()


def slug(name: str) -> str:
    """A project's name as part of a file name."""
    return re.sub(r"[^\w]+", "-", name).strip("-") or "project"
