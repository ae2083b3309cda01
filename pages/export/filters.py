"""Export: who is on the flagged list, chosen by a few fields, and a look at the list."""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st

from gadcore.output import Filters
from gadcore.output.flagged import VERDICTS
from gadcore.workspace import Result, Workspace, band, interval_text

_WORDS = {"anomalous": "Anomalous", "unsure": "Unsure", "unlabelled": "No verdict", "normal": "Normal"}
_CLEARED = "normal"
_ROWS = 100  # listed at once
_AUC_HELP = "Estimated on labels held out of training in turn, with a cautious 90 % interval."


def choose_filters(workspace: Workspace, result: Result) -> Filters:
    """The filters as the fields stand; nodes cleared as normal are left out unless asked for."""
    n = workspace.graph.n_nodes
    words = st.pills(
        "Verdict",
        list(VERDICTS),
        default=[word for word in VERDICTS if word != _CLEARED],
        selection_mode="multi",
        format_func=_WORDS.__getitem__,
        key="verdicts",
        help="What analysts have said of the nodes so far.",
    )
    top = st.number_input("At most", min_value=1, max_value=n, value=min(100, n), step=10, key="top")
    about = "A confirmed case stays on the list even if its score is lower than these limits."
    marked = st.toggle("Keep all marked anomalous", value=True, key="keep-marked", help=about)
    percentile = st.slider("Least percentile", 0.0, 100.0, 0.0, 0.5, key="percentile")
    about = "In the model's own units; empty: any."
    score = st.number_input("Least score", value=None, placeholder="any", key="score", help=about)
    known = result.probability is not None
    probability = st.slider("Least probability", 0.0, 1.0, 0.0, 0.05, key="probability", disabled=not known)
    basis = result.probability_reason or "No probabilities: too few verdicts."
    st.caption(f"Probability: {basis}" if known else basis)
    return Filters(
        top=int(top),
        min_score=None if score is None else float(score),
        min_percentile=percentile or None,
        verdict=tuple(words),
        min_probability=(probability or None) if known else None,
        keep_marked=marked,
    )


def show_preview(result: Result, table: pd.DataFrame, filters: Filters) -> None:
    """Figures of the list and its first rows."""
    run = result.info
    figures = (
        ("Flagged", f"{len(table):,}"),
        ("Marked anomalous", f"{int((table['verdict'] == 'anomalous').sum()):,}"),
        ("Not reviewed", f"{int((table['verdict'] == '').sum()):,}"),
    )
    *places, last = st.columns(len(figures) + 1)
    for column, (title, value) in zip(places, figures):
        column.metric(title, value, border=True, height="stretch")
    quiet: dict[str, Any] = {"delta_color": "off", "delta_arrow": "off", "border": True, "height": "stretch"}
    auc = "–" if run.auc is None else f"{run.auc:.3f}"
    last.metric("Out-of-fold AUC", auc, interval_text(run) or None, help=_AUC_HELP, **quiet)
    if not len(table):
        st.info("No node passes these filters. Widen one of them.", icon=":material/filter_alt_off:")
        return
    text, number = st.column_config.TextColumn, st.column_config.NumberColumn
    bar = st.column_config.ProgressColumn
    preview: dict[Any, Any] = {
        "rank": number("Rank", width="small"),
        "node_id": "Node",
        "name": "Name",
        "percentile": bar("Percentile", format="%.1f", min_value=0, max_value=100),
        "probability": text("Probability", width="small"),
        "verdict": text("Verdict", width="small"),
        "reason_1": "Why",
        "note": "Note",
        "key_neighbours": "Key neighbours",
    }
    columns = [name for name in preview if not _tells_nothing(table, name)]
    shown = _in_bands(table.loc[: _ROWS - 1, columns])
    st.dataframe(shown, hide_index=True, height=390, column_config=preview)
    rows = f"First {_ROWS} of {len(table):,} rows" if len(table) > _ROWS else f"{len(table):,} rows"
    st.caption(
        f"{rows}: {filters.in_words()}. Files hold all columns. Scores: run {run.number} ({run.model})."
    )


def _in_bands(table: pd.DataFrame) -> pd.DataFrame:
    """With probabilities as they are told to people; the file has the numbers."""
    if "probability" not in table:
        return table
    return table.assign(probability=[band(value) for value in table["probability"]])


def _tells_nothing(table: pd.DataFrame, name: str) -> bool:
    """Whether a column is empty, or the names are only the ids again."""
    column = table[name]
    if name == "name":
        return bool((column == table["node_id"]).all())
    return bool((column.isna() | (column.astype(str) == "")).all())
