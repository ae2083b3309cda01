"""Benchmark: result files read and summed up; no figure without its file and command.

Rows measured with parameters of their own belong to a sweep and are never averaged with those of the
defaults.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from gadcore.studies import harness
from gadcore.studies.harness import COMMAND, NAMED, Row, load_rows
from gadcore.studies.published import GRAPHS
from gadcore.studies.significance import best_methods
from pages.common import state
from pages.common.page import info

TABLES = "paper.jsonl"
METRICS = {"auc": "AUC", "ap": "Average precision", "precision_at_k": "Precision at k"}
SWEPT = {"lambda_": "λ", "k": "K", "depth": "depth", "encoder": "encoder"}

LEAST_SPLITS = 3  # below, a t-test tells nothing apart and would mark almost everything

_CONDITIONS = ("experiment", "rate", "labels", "stratified", "protocol")
_WORDS: dict[str, Callable[[Any], str]] = {
    "rate": lambda share: f"{100 * float(share):g} % labelled",
    "stratified": lambda yes: "stratified splits" if yes else "random splits",
    "labels": lambda count: f"{count} labels",
}


@dataclass(frozen=True)
class ResultFile:
    """The measurements of one file."""

    path: Path
    rows: pd.DataFrame  # the columns of ``_measurement``
    command: str

    @property
    def source(self) -> str:
        """Where a figure comes from and how to make it again."""
        return source_of(self.path.name, self.command)

    @property
    def settings(self) -> list[str]:
        return sorted(self.rows["setting"].unique())

    @property
    def metrics(self) -> list[str]:
        return [name for name in METRICS if self.rows[name].notna().any()]


def source_of(name: str, command: str) -> str:
    """Where a figure comes from and how to make it again."""
    return f"From `{NAMED}/{name}`" + (f", made by `{command}`" if command else "")


def not_measured(what: str, name: str, study: str, more: str = "") -> None:
    """Say that a result file is missing and how to make it."""
    kept = f"{NAMED}/{name}" if name else NAMED
    how = more or f"Make them with `{COMMAND} {study}`; they are"
    info(f"{what} {how} kept in {kept} and shown here.")


def rows_in(name: str) -> list[Row]:
    """All rows of a result file; none when it is not there."""
    return state.read_once(harness.RESULTS / name, load_rows)


def result_file(name: str) -> ResultFile | None:
    """The measurements of one file; None when there are none."""
    return state.read_once(harness.RESULTS / name, _result_file)


def result_files(folder: Path | None = None) -> list[ResultFile]:
    """Every result file with measurements in it, by name."""
    paths = sorted((folder or harness.RESULTS).glob("*.jsonl"))
    found = (state.read_once(path, _result_file) for path in paths)
    return [file for file in found if file is not None]


def _result_file(path: Path) -> ResultFile | None:
    rows = [row for row in load_rows(path) if {"graph", "method", "auc"} <= set(row)]
    if not rows:
        return None
    return ResultFile(path, pd.DataFrame([_measurement(row) for row in rows]), command_of(rows))


def command_of(rows: Iterable[Mapping[str, Any]]) -> str:
    """The command that made these rows."""
    return next((str(row["command"]) for row in rows if row.get("command")), "")


def _measurement(row: Row) -> Row:
    name, value = _swept(row)
    return {
        "graph": str(row["graph"]),
        "method": str(row["method"]),
        "seed": row.get("seed", 0),
        "experiment": str(row.get("experiment") or ""),
        "rate": row.get("rate"),
        "stratified": bool(row.get("stratified")),
        "setting": setting_of(row),
        "swept": name,
        "at": value,
        "transductive": row.get("auc_transductive"),  # of the plain model, on the nodes of this very row
        **{metric: row.get(metric) for metric in METRICS},
    }


def _swept(row: Row) -> tuple[str, Any]:
    """The parameter that a row varies and its value; ("", None) for the defaults."""
    params = row.get("params") or {}
    name = next((known for known in SWEPT if known in params), next(iter(params), ""))
    return name, params.get(name)


def setting_of(row: Row) -> str:
    """The conditions of a measurement in words: '2.5 % labelled, random splits'."""
    known = [(name, row[name]) for name in _CONDITIONS if row.get(name) not in (None, "")]
    words = [_WORDS.get(name, str)(value) for name, value in known]
    varied, _ = _swept(row)
    if varied:
        words.append(f"{SWEPT.get(varied, varied)} varied")
    return ", ".join(words) or "all measurements"


def summary(rows: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Mean, deviation and number of splits per graph and method; ``best`` as in the paper's tables."""
    known = rows.dropna(subset=[metric])
    table = known.groupby(["graph", "method"])[metric].agg(["mean", "std", "count"]).reset_index()
    table = table.rename(columns={"count": "splits"}).fillna({"std": 0.0})
    best = {(graph, method) for graph, part in known.groupby("graph") for method in _best(part, metric)}
    table["best"] = [pair in best for pair in zip(table["graph"], table["method"])]
    return table


def _best(rows: pd.DataFrame, metric: str) -> set[str]:
    """Methods of one graph that a paired t-test does not tell from the highest mean; none from few splits."""
    if int(rows.groupby("method")["seed"].nunique().max()) < LEAST_SPLITS:
        return set()
    cells = {str(m): dict(zip(part["seed"], 100 * part[metric])) for m, part in rows.groupby("method")}
    return best_methods(cells)


def mean_spread(mean: float | None, std: float | None) -> str:
    """Mean ± standard deviation of shares, in per cent; "" of nothing."""
    return "" if mean is None else f"{100 * mean:.1f} ± {100 * (std or 0):.1f}"


def splits_said(table: pd.DataFrame) -> str:
    """'10 splits', or '1 to 10 splits' where cells differ."""
    fewest, most = int(table["splits"].min()), int(table["splits"].max())
    return f"{fewest} to {most} splits" if fewest != most else f"{most} split{'s' if most > 1 else ''}"


def by_graph(names: Iterable[str]) -> list[str]:
    """Names of graphs in the paper's order, others after them."""
    return sorted(set(names), key=lambda name: (GRAPHS.index(name) if name in GRAPHS else len(GRAPHS), name))
