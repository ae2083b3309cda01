"""Benchmark: what the paper names as extensions, each beside the plain model on the same splits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from gadcore.studies.harness import NAMED
from gadcore.studies.markdown import std
from pages.benchmark.charts import grid_figure, metric_choice
from pages.benchmark.measurements import METRICS, TABLES, mean_spread, not_measured, result_file, splits_said
from pages.common.run_figures import show

EXTENSIONS = "extensions.jsonl"
PLAIN, INDUCTIVE = "as in the tables", "inductive"
_ENCODERS = {"gcn": PLAIN, "sage": "GraphSAGE encoder", "gat": "GAT encoder"}
_INSTEAD = {"n": "an"}  # what stands beside a method that is an extension itself: n is an without anomalies
_SAME = ["graph", "method", "rate", "stratified"]


@dataclass(frozen=True)
class Extension:
    """One extension of a method on one graph: shares of 1 by split, and the plain model beside it."""

    experiment: str
    method: str
    graph: str
    rate: float | None
    own: dict[int, float]
    beside: dict[int, float]  # on the splits of ``own`` that were measured

    @property
    def gap(self) -> float | None:
        """Mean difference over the splits that both have."""
        gaps = [self.own[seed] - plain for seed, plain in self.beside.items()]
        return float(np.mean(gaps)) if gaps else None

    @property
    def gap_said(self) -> str:
        """The same in points, "" of nothing."""
        return "" if self.gap is None else f"{100 * self.gap:+.1f}"


def show_extensions() -> None:
    """Extensions by graphs, coloured by the figure, with the difference to the plain model in each cell."""
    file = result_file(EXTENSIONS)
    if file is None:
        not_measured("Extensions are not measured yet.", EXTENSIONS, "extensions")
        return
    metric = metric_choice(file.rows, "extension-metric")
    rows = named(file.rows)
    found = extensions(rows, plain_rows(rows), metric)
    show(extension_map(found, metric), "extensions")
    st.caption(
        f"Mean ± standard deviation over {splits_said(extension_table(found))}, in per cent; in brackets: "
        "the difference to the plain model on the same splits, where measured (n beside an; inductive: "
        f"both on the nodes that arrived, AUC only). {file.source}; plain models also from "
        f"`{NAMED}/{TABLES}`."
    )
    with st.expander("Table"):
        st.dataframe(extension_table(found), hide_index=True, width="stretch")


def named(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows with the extension of each in words."""
    names = [
        _ENCODERS.get(str(at), str(at)) if swept == "encoder" else experiment
        for experiment, swept, at in zip(rows["experiment"], rows["swept"], rows["at"])
    ]
    return rows.assign(extension=names)


def plain_rows(rows: pd.DataFrame) -> pd.DataFrame:
    """Measurements of the models as they are: of the study itself first, then of the paper's tables."""
    tables = result_file(TABLES)
    parts = [rows[rows["extension"] == PLAIN]]
    if tables is not None:
        parts.append(tables.rows[(tables.rows["swept"] == "") & (tables.rows["experiment"] == "")])
    filled = [part for part in parts if len(part)]
    return pd.concat(filled).drop_duplicates([*_SAME, "seed"]) if filled else parts[0]


def extensions(rows: pd.DataFrame, plain: pd.DataFrame, metric: str) -> list[Extension]:
    """Each extension on each graph with the plain model beside it."""
    groups = plain.dropna(subset=[metric]).groupby(_SAME, dropna=False)
    usual = {_key(keys): dict(zip(part["seed"], part[metric])) for keys, part in groups}
    found = []
    for (name, *keys), part in rows.dropna(subset=[metric]).groupby(
        ["extension", *_SAME], dropna=False, sort=False
    ):
        graph, method, rate, stratified = _key(keys)
        beside = usual.get((graph, _INSTEAD.get(method, method), rate, stratified), {})
        if name == INDUCTIVE and metric == "auc":
            beside = dict(zip(part["seed"], part["transductive"]))
        elif name in (PLAIN, INDUCTIVE):
            beside = {}
        own = dict(zip(part["seed"], part[metric]))
        common = {seed: beside[seed] for seed in sorted(own) if not pd.isna(beside.get(seed))}
        found.append(Extension(str(name), method, graph, rate, own, common))
    return found


def _key(keys: Any) -> tuple[Any, ...]:
    return tuple(None if pd.isna(value) else value for value in keys)


def extension_map(found: list[Extension], metric: str) -> go.Figure:
    """Extensions by graphs; several rates of one extension have a line each."""
    several = len({e.rate for e in found}) > 1
    cells = {}
    for e in found:
        rate = f", {100 * e.rate:g} %" if several and e.rate is not None else ""
        text = _said(e.own) + (f" ({e.gap_said})" if e.gap_said else "")
        cells[f"{e.experiment} ({e.method}){rate}", e.graph] = (100 * float(np.mean([*e.own.values()])), text)
    return grid_figure(cells, list(dict.fromkeys(line for line, _ in reversed(cells))), METRICS[metric])


def _said(values: dict[int, float]) -> str:
    return mean_spread(float(np.mean(list(values.values()))), std(values.values())) if values else ""


def extension_table(found: list[Extension]) -> pd.DataFrame:
    """The same for reading and copying."""
    return pd.DataFrame(
        [
            {
                "extension": e.experiment,
                "method": e.method,
                "graph": e.graph,
                "labelled (%)": None if e.rate is None else 100 * e.rate,
                "mean ± std (%)": _said(e.own),
                "splits": len(e.own),
                "plain model (%)": _said(e.beside),
                "difference": e.gap_said,
                "common splits": len(e.beside),
            }
            for e in found
        ]
    )
