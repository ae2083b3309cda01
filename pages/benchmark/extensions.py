"""Benchmark: what the paper names as extensions, each beside the plain model on the same splits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from pages.benchmark.paper_figures import not_measured
from pages.benchmark.results import METRICS, result_file, splits_said
from pages.benchmark.tables import QUIET, choice, grid_figure

EXTENSIONS, TABLES = "extensions.jsonl", "paper.jsonl"
COMMAND = "ringfence experiments extensions"
PLAIN, INDUCTIVE = "as in the tables", "inductive"
_ENCODERS = {"gcn": PLAIN, "sage": "GraphSAGE encoder", "gat": "GAT encoder"}
_INSTEAD = {"n": "an"}  # what stands beside a method that is an extension itself: n is an without anomalies
_SAME = ["graph", "method", "rate", "stratified"]


@dataclass(frozen=True)
class Extension:
    """One extension of a method on one graph, shares of 1."""

    experiment: str
    method: str
    graph: str
    rate: float | None
    mean: float
    std: float
    splits: int
    plain: float | None  # of the plain model, None where it was not measured on these splits
    plain_std: float | None
    gap: float | None  # mean difference over the splits that both have
    common: int

    @property
    def name(self) -> str:
        return f"{self.experiment} ({self.method})"


def show_extensions() -> None:
    """Extensions by graphs, coloured by the figure, with the difference to the plain model in each cell."""
    file = result_file(EXTENSIONS)
    if file is None:
        not_measured("Extensions are", EXTENSIONS, COMMAND)
        return
    metrics = [name for name in METRICS if file.rows[name].notna().any()]
    metric = choice("Figure", metrics, METRICS.__getitem__, "extension-metric")
    rows = named(file.rows)
    found = extensions(rows, plain_rows(rows), metric)
    st.plotly_chart(extension_map(found, metric), key="extensions", config={"displayModeBar": False})
    st.caption(
        f"Mean ± standard deviation over {splits_said(extension_table(found))}, in per cent; in brackets: "
        "the difference to the plain model on the same splits, where measured (n beside an; inductive: "
        f"both on the nodes that arrived, AUC only). {file.source}; plain models also from "
        f"`benchmarks/results/{TABLES}`."
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
    usual = {
        _key(keys): dict(zip(part["seed"], part[metric]))
        for keys, part in plain.dropna(subset=[metric]).groupby(_SAME, dropna=False)
    }
    found = []
    for (extension, *keys), part in rows.dropna(subset=[metric]).groupby(
        ["extension", *_SAME], dropna=False, sort=False
    ):
        graph, method, *conditions = keys
        beside = usual.get(_key((graph, _INSTEAD.get(method, method), *conditions)), {})
        if extension == PLAIN:
            beside = {}
        elif extension == INDUCTIVE:
            beside = dict(zip(part["seed"], part["transductive"])) if metric == "auc" else {}
        rate = None if pd.isna(conditions[0]) else float(conditions[0])
        own = dict(zip(part["seed"], part[metric]))
        found.append(_extension(str(extension), str(method), str(graph), rate, own, beside))
    return found


def _extension(
    experiment: str,
    method: str,
    graph: str,
    rate: float | None,
    own: dict[int, float],
    beside: dict[int, float],
) -> Extension:
    common = sorted(seed for seed in set(own) & set(beside) if not pd.isna(beside[seed]))
    compared = [beside[seed] for seed in common]
    return Extension(
        experiment=experiment,
        method=method,
        graph=graph,
        rate=rate,
        mean=float(np.mean(list(own.values()))),
        std=_spread(list(own.values())),
        splits=len(own),
        plain=float(np.mean(compared)) if compared else None,
        plain_std=_spread(compared) if compared else None,
        gap=float(np.mean([own[seed] - beside[seed] for seed in common])) if common else None,
        common=len(common),
    )


def _key(keys: Any) -> tuple[Any, ...]:
    return tuple(None if pd.isna(value) else value for value in keys)


def _spread(values: list[float]) -> float:
    return float(np.std(values, ddof=1)) if len(values) > 1 else 0.0


def extension_map(found: list[Extension], metric: str) -> go.Figure:
    """Extensions by graphs; several rates of one extension have a line each."""
    several = len({e.rate for e in found}) > 1
    cells = {(_line(e, several), e.graph): (100 * e.mean, _cell(e)) for e in found}
    lines = list(dict.fromkeys(line for line, _ in reversed(cells)))
    return grid_figure(cells, lines, METRICS[metric], colorscale=QUIET)


def _line(extension: Extension, with_rate: bool) -> str:
    rate = f", {100 * extension.rate:g} %" if with_rate and extension.rate is not None else ""
    return f"{extension.name}{rate}"


def _cell(extension: Extension) -> str:
    gap = "" if extension.gap is None else f" ({100 * extension.gap:+.1f})"
    return f"{_said(extension.mean, extension.std)}{gap}"


def _said(mean: float | None, std: float | None) -> str:
    return "" if mean is None else f"{100 * mean:.1f} ± {100 * (std or 0):.1f}"


def extension_table(found: list[Extension]) -> pd.DataFrame:
    """The same for reading and copying."""
    return pd.DataFrame(
        [
            {
                "extension": e.experiment,
                "method": e.method,
                "graph": e.graph,
                "labelled (%)": None if e.rate is None else 100 * e.rate,
                "mean ± std (%)": _said(e.mean, e.std),
                "splits": e.splits,
                "plain model (%)": _said(e.plain, e.plain_std),
                "difference": "" if e.gap is None else f"{100 * e.gap:+.1f}",
                "common splits": e.common,
            }
            for e in found
        ]
    )
