"""Benchmark: result files read and summed up; no figure without its file and command.

A result file is benchmarks/results/*.jsonl: one JSON object per line and measurement, with ``graph``,
``method`` and ``auc`` (and where they were measured ``ap``, ``seconds``); ``rate``, ``stratified``,
``protocol`` and the like say under which conditions, ``command`` how to get the file again.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from gadcore.settings import ROOT

FOLDER = ROOT / "benchmarks" / "results"
METRICS = {"auc": "AUC", "ap": "Average precision"}
SWEPT = {"lambda_": "λ", "k": "K", "labels": "labels", "epochs": "epochs"}

_SYNONYMS = {"dataset": "graph", "model": "method", "average_precision": "ap", "lambda": "lambda_"}
_CONDITIONS = ("experiment", "table", "rate", "stratified", "protocol", "split_kind", "variant", "encoder")


@dataclass(frozen=True)
class ResultFile:
    """The measurements of one file."""

    path: Path
    rows: pd.DataFrame  # graph, method, setting, auc, ap, seconds and what was swept
    command: str

    @property
    def name(self) -> str:
        return self.path.name

    @property
    def source(self) -> str:
        """Where a figure comes from and how to make it again."""
        shown = self.path.relative_to(ROOT) if self.path.is_relative_to(ROOT) else self.path
        return f"From `{shown}`" + (f", made by `{self.command}`" if self.command else "")

    @property
    def settings(self) -> list[str]:
        return sorted(self.rows["setting"].unique())

    @property
    def metrics(self) -> list[str]:
        return [name for name in METRICS if name in self.rows and self.rows[name].notna().any()]


def result_files(folder: Path = FOLDER) -> list[ResultFile]:
    """Every result file with measurements in it, by name."""
    found = (_result_file(path) for path in sorted(folder.glob("*.jsonl")))
    return [file for file in found if file is not None]


def _result_file(path: Path) -> ResultFile | None:
    raw = list(_lines(path))
    rows = [row for row in raw if {"graph", "method", "auc"} <= set(row) and row["auc"] is not None]
    if not rows:
        return None
    command = next((str(row["command"]) for row in raw if row.get("command")), "")
    frame = pd.DataFrame([{**_plain(row), "setting": setting_of(row)} for row in rows])
    return ResultFile(path, frame, command)


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    """Objects of a file; a line that is still being written is left out."""
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            row = json.loads(line)
        except ValueError:
            continue
        if isinstance(row, dict):
            yield {_SYNONYMS.get(str(key), str(key)): value for key, value in row.items()}


def _plain(row: dict[str, Any]) -> dict[str, Any]:
    """Text and numbers of a row, AUC and AP as shares."""
    plain: dict[str, Any] = {k: v for k, v in row.items() if isinstance(v, str | int | float | bool)}
    for metric in METRICS:
        value = plain.get(metric)
        if isinstance(value, int | float) and value > 1.5:
            plain[metric] = value / 100
    return plain


def setting_of(row: dict[str, Any]) -> str:
    """The conditions of a measurement in words: '2.5 % labelled, random splits'."""
    words = []
    for name in _CONDITIONS:
        value = row.get(name)
        if value is None or value == "":
            continue
        if name == "rate":
            words.append(f"{100 * float(value):g} % labelled" if float(value) <= 1 else f"{value:g} labels")
        elif name == "stratified":
            words.append("stratified splits" if value else "random splits")
        else:
            words.append(str(value))
    return ", ".join(words) or "all measurements"


def summary(rows: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Mean, standard deviation and number of splits per graph and method."""
    grouped = rows.dropna(subset=[metric]).groupby(["graph", "method"])[metric]
    table = grouped.agg(["mean", "std", "count"]).reset_index()
    return table.rename(columns={"count": "splits"}).fillna({"std": 0.0})


def swept(rows: pd.DataFrame) -> str | None:
    """The parameter that a file sweeps: it takes three or more values within a graph and method."""
    for name in SWEPT:
        if name not in rows:
            continue
        numbers = pd.to_numeric(rows[name], errors="coerce")
        distinct = rows.assign(**{name: numbers}).groupby(["graph", "method"])[name].nunique()
        if int(distinct.max()) >= 3:
            return name
    return None
