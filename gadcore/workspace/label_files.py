"""Label files: a table with the columns ``node_id`` and ``label``; more columns are allowed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from gadcore.errors import InputError, LabelError
from gadcore.graph.labels import LabelEvent, Verdict, checked_weight
from gadcore.records import neutral
from gadcore.store.artefacts import written_aside

ID_COLUMNS = ("node_id", "id", "node", "~id", ":id")
LABEL_COLUMNS = ("label", "verdict", "y", "truth")
HOW_DRAWN = ("strategy", "inclusion_probability")
COLUMNS = (
    "node_id",
    "label",
    "analyst",
    "at",
    "source",
    "note",
    "reason",
    *HOW_DRAWN,
    "weight",
)  # as they are written

_READERS: dict[str, Callable[[Path], Any]] = {
    ".csv": lambda path: pd.read_csv(path, dtype=str, keep_default_na=False, encoding="utf-8-sig"),
    ".tsv": lambda path: pd.read_csv(path, dtype=str, keep_default_na=False, sep="\t", encoding="utf-8-sig"),
    ".parquet": pd.read_parquet,
    ".jsonl": lambda path: pd.read_json(path, lines=True, dtype=False),
    ".json": lambda path: pd.read_json(path, dtype=False),
}


def read_labels(path: Path) -> list[dict[str, Any]]:
    """Rows with node_id, verdict, note, reason, weight and how they were drawn; empty labels are skipped.

    A file without a weight column, or an empty cell in it, says nothing about the weight.
    """
    table = _table(path)
    by_name = {str(column).strip().lower(): column for column in table.columns}
    ids, labels = _column(path, by_name, ID_COLUMNS), _column(path, by_name, LABEL_COLUMNS)
    rows: dict[str, dict[str, Any]] = {}
    for number, record in enumerate(table.to_dict("records"), start=2):
        text = _text(record[labels])
        if not text:
            continue
        node_id = _text(record[ids], strip=False)
        given = {"verdict": _verdict(path, number, text).value, **_extras(record, by_name)}
        row = {"node_id": node_id, **given, **_weight(path, number, record, by_name)}
        if rows.get(node_id, row)["verdict"] != row["verdict"]:
            raise InputError(
                f"{path.name}, row {number}: node {node_id!r} has two verdicts",
                "one row per node",
                "keep the one that holds",
            )
        rows[node_id] = row
    return list(rows.values())


def with_draw_and_note(
    current: Mapping[str, LabelEvent], first: Mapping[str, LabelEvent], notes: Mapping[str, str]
) -> list[LabelEvent]:
    """The current events, each with its node's latest note and the way its case was drawn at first.

    A verdict given again later would else take its node out of the random sample when it is read back.
    """
    return [
        replace(
            event,
            note=notes.get(node_id, event.note),
            strategy=first[node_id].strategy,
            inclusion_probability=first[node_id].inclusion_probability,
        )
        for node_id, event in current.items()
    ]


def write_labels(path: Path, events: Iterable[LabelEvent]) -> int:
    """Write labels in the columns that ``read_labels`` understands; the format follows the suffix."""
    table = pd.DataFrame([_row(event) for event in events], columns=[*COLUMNS])
    suffix = path.suffix.lower() or ".csv"
    if suffix not in (".csv", ".tsv", ".parquet", ".jsonl"):
        wrong = f"{path.name}: labels cannot be written as {suffix}"
        raise InputError(wrong, ".csv, .tsv, .parquet or .jsonl")
    try:
        with written_aside(path) as part:
            if suffix == ".parquet":
                table.to_parquet(part, index=False)
            elif suffix == ".jsonl":
                table.to_json(part, orient="records", lines=True, force_ascii=False)
            else:
                sep = "\t" if suffix == ".tsv" else ","
                table.map(neutral).to_csv(part, index=False, sep=sep, encoding="utf-8")
    except OSError as error:
        wrong = f"{path} cannot be written ({error})"
        raise InputError(wrong, fix="choose a folder you may write to") from error
    return len(table)


def _table(path: Path) -> Any:
    reader = _READERS.get(path.suffix.lower())
    if reader is None:
        raise InputError(f"{path.name} is no label file", "a .csv, .tsv, .parquet, .jsonl or .json table")
    try:
        return reader(path)
    except FileNotFoundError:
        raise InputError(f"there is no file {path}", fix="check the path") from None
    except (OSError, ValueError, UnicodeError) as error:
        raise InputError(f"{path.name} cannot be read ({error})", "a table with node_id and label") from error


def _column(path: Path, by_name: dict[str, Any], accepted: tuple[str, ...]) -> Any:
    for name in accepted:
        if name in by_name:
            return by_name[name]
    raise InputError(
        f"{path.name} has the columns {', '.join(by_name) or '(none)'}",
        f"a column {accepted[0]} (also accepted: {', '.join(accepted[1:])})",
    )


def _verdict(path: Path, number: int, text: str) -> Verdict:
    try:
        return Verdict.parse(text)
    except LabelError as error:
        raise InputError(f"{path.name}, row {number}: {error}") from None


def _extras(record: dict[Any, Any], by_name: dict[str, Any]) -> dict[str, Any]:
    names = [name for name in ("note", "reason", *HOW_DRAWN) if name in by_name]
    extras: dict[str, Any] = {name: _text(record[by_name[name]]) for name in names}
    try:
        chance: float | None = float(extras.get("inclusion_probability", ""))
    except ValueError:
        chance = None
    return extras | {"inclusion_probability": chance}


def _weight(path: Path, number: int, record: dict[Any, Any], by_name: dict[str, Any]) -> dict[str, float]:
    """{"weight": …} where a row gives one."""
    text = _text(record[by_name["weight"]]) if "weight" in by_name else ""
    if not text:
        return {}
    try:
        return {"weight": checked_weight(float(text))}
    except (ValueError, LabelError):
        raise InputError(
            f"{path.name}, row {number}: the weight {text!r}",
            "a number above 0, at most 1: how much of a verdict the label counts",
            "correct it, or remove or rename the column if it is about something else",
        ) from None


def _text(value: Any, *, strip: bool = True) -> str:
    if value is None or (pd.api.types.is_scalar(value) and bool(pd.isna(value))):
        return ""
    text = str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
    return text.strip() if strip else text


def _row(event: LabelEvent) -> dict[str, Any]:
    values = {"label": event.verdict.value if event.verdict else "", "at": event.at.isoformat()}
    return {name: values[name] if name in values else getattr(event, name) for name in COLUMNS}
