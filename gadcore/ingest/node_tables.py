"""Node tables: ids checked, truth taken out, what is shown and what is an attribute decided."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from gadcore.errors import InputError, LabelError
from gadcore.graph.labels import Verdict
from gadcore.graph.mapped import Release
from gadcore.ingest import names
from gadcore.ingest.graph_parts import Parts, Table, TruthArray, counted, shown
from gadcore.ingest.mapping import Mapping

_ANSWER = {Verdict.NORMAL: 0, Verdict.ANOMALOUS: 1, Verdict.UNSURE: -1}
_ANSWER_WORDS = {"0", "1", "0.0", "1.0", "true", "false"}
_MAYBE_ANSWERS = ("label", "class", "y", "target")
_UNKNOWN = {"unknown", "unlabelled", "unlabeled"}  # beside 1 and 2: how Bitcoin files tell the illicit ones

Ids = npt.NDArray[np.object_]


def id_values(table: Table, column: str, *, check: bool = True) -> Ids:
    """Ids of a column as text, exactly as written; with ``check``, an empty id is an error."""
    return np.asarray(id_cells(table, column, check=check).to_numpy(), dtype=object)


def id_cells(table: Table, column: str, *, check: bool = True) -> Any:
    """``id_values`` as a chunked Arrow array."""
    cells = _as_ids(table.frame[column])
    empty = np.flatnonzero(pc.equal(cells, "").to_numpy())
    if check and len(empty):
        raise InputError(
            f"{table.place(int(empty[0]))}: column {column!r} is empty ({counted(len(empty), 'row')})",
            "an id in every row",
            "fill it in or remove the row",
        )
    return cells


def _as_ids(series: pd.Series) -> Any:
    if isinstance(series.dtype, pd.StringDtype):
        cells = pa.chunked_array(pa.array(series, type=pa.large_string(), from_pandas=True))
        return pc.fill_null(cells, "") if cells.null_count else cells
    if pd.api.types.is_integer_dtype(series.dtype):
        found = pa.array(series, from_pandas=True).cast(pa.large_string())
        return pa.chunked_array([pc.fill_null(found, "")])
    if pd.api.types.is_float_dtype(series.dtype):
        values = [_number_id(v) for v in series]
    else:
        values = ["" if v is None or v is pd.NA or v != v else str(v) for v in series]
    return pa.chunked_array([pa.array(values, pa.large_string())])


def _number_id(value: float) -> str:
    """Id of a floating-point column (integers with holes become floats in pandas): 7.0 is '7'."""
    if value != value:
        return ""
    return str(int(value)) if float(value).is_integer() else repr(float(value))


def resolve_nodes(table: Table, mapping: Mapping) -> Mapping:
    """The mapping of a node table with every part decided."""
    columns = table.columns
    node_id = table.require(mapping.id, "node id") if mapping.id is not None else names.guess_id(columns)
    if node_id is None:
        node_id = _unique_column(table)
    rest = [c for c in columns if c != node_id]
    truth = mapping.truth if mapping.truth in rest else None
    if mapping.truth is None:
        truth = names.guess_truth([c for c in rest if c not in (mapping.attributes or ())])
    rest = [c for c in rest if c != truth and c not in mapping.ignore]
    label = mapping.label if mapping.label is not None else names.guess_label(rest)
    if truth in (mapping.attributes or ()):
        raise InputError(f"column {truth!r} is both the truth and an attribute", "a truth that no model sees")
    return replace(mapping, id=node_id, truth=truth, label=label if label in columns else None)


def _unique_column(table: Table) -> str:
    """The first column whose values are all there and all different."""
    for column in table.columns[:3]:
        ids = id_values(table, column, check=False)
        if len(ids) and (ids != "").all() and len(pd.unique(ids)) == len(ids):
            return column
    raise InputError(
        f"{table.file} has no column that can be the node id; it has {shown(table.columns)}",
        "a column with a different value in every row, e.g. 'id'",
        "name it in the mapping (id)",
    )


def node_parts(tables: Sequence[Table], mapping: Mapping, notes: list[str]) -> Parts:
    """Parts of a graph without edges yet."""
    resolved = [resolve_nodes(t, mapping) for t in tables]
    ids = [id_values(t, m.id or "") for t, m in zip(tables, resolved)]
    _refuse_duplicates(tables, ids)
    truths = [truth_values(t, m.truth) for t, m in zip(tables, resolved)]
    frames = [t.frame.drop(columns=_hidden(t, m, notes)) for t, m in zip(tables, resolved)]
    frame = frames[0] if len(frames) == 1 else pd.concat(frames, ignore_index=True)
    merged = resolved[0]
    for other in resolved[1:]:
        merged = merged.filled(other)
    if mapping.truth and not any(m.truth for m in resolved):
        tables[0].require(mapping.truth, "truth")
    every = np.concatenate(ids)
    if not len(every):
        raise InputError(f"{tables[0].file} holds no node", "at least one row")
    return Parts(
        every,
        frame.reset_index(drop=True),
        attributes=_attributes(frame, merged, tables[0]),
        label_column=merged.label if merged.label in frame.columns else None,
        truth=np.concatenate(truths) if any(m.truth for m in resolved) else None,
        mapping=merged,
        lists={column: separator for t in tables for column, separator in t.lists.items()},
        locate=_locator(tables),
        release=_releaser(tables),
    )


def _releaser(tables: Sequence[Table]) -> Release:
    def release() -> None:
        for table in tables:
            table.release()

    return release


def _locator(tables: Sequence[Table]) -> Callable[[int], str]:
    starts = np.cumsum([0] + [len(t.frame) for t in tables])

    def locate(row: int) -> str:
        k = int(np.searchsorted(starts, row, side="right")) - 1
        return tables[k].place(row - int(starts[k]))

    return locate


def _hidden(table: Table, mapping: Mapping, notes: list[str]) -> list[str]:
    """Columns that leave the table: id, truth, ignored ones, and those that tell the answer."""
    hidden = [c for c in (mapping.id, mapping.truth, *mapping.ignore) if c in table.columns]
    kept = (*hidden, *(mapping.attributes or ()))
    answers = [c for c in answers_among(table, table.columns) if c not in (*kept, mapping.label)]
    if answers:
        notes.append(f"{table.file}: {shown(answers)} tells the answer and is left out: no model may see it.")
    if mapping.label in table.columns and looks_like_answers(table.frame[mapping.label]):
        answers.append(str(mapping.label))
        notes.append(
            f"{table.file}: column {mapping.label!r} holds only 0/1, which looks like known answers; it is "
            "left out. Name it as truth in the mapping to use it in experiments."
        )
    return hidden + answers


def answers_among(table: Table, columns: Sequence[str]) -> list[str]:
    """Columns that tell the answer; no model may see them."""
    maybe = (c for c in columns if names.normal(c) in _MAYBE_ANSWERS)
    return list(
        dict.fromkeys(
            [*names.answer_columns(columns), *(c for c in maybe if looks_like_answers(table.frame[c]))]
        )
    )


def looks_like_answers(column: pd.Series) -> bool:
    values = {str(v).strip().lower() for v in column.dropna().unique()[:6]} - {""}
    words = _ANSWER_WORDS | {"2", *_UNKNOWN} if values & _UNKNOWN else _ANSWER_WORDS
    return bool(values - _UNKNOWN) and values <= words


def _attributes(frame: pd.DataFrame, mapping: Mapping, table: Table) -> list[str]:
    if mapping.attributes is not None:
        for column in mapping.attributes:
            if column not in frame.columns:
                table.require(column, "attribute")
        return [c for c in mapping.attributes if c in frame.columns]
    return [c for c in frame.columns if c != mapping.label]


def _refuse_duplicates(tables: Sequence[Table], ids: Sequence[Ids]) -> None:
    every = np.concatenate(list(ids)) if ids else np.zeros(0, object)
    twice = np.flatnonzero(pd.Series(every, dtype=object).duplicated().to_numpy())
    if not len(twice):
        return
    locate = _locator(tables)
    first = int(np.flatnonzero(every == every[twice[0]])[0])
    raise InputError(
        f"{locate(int(twice[0]))}: node id {every[twice[0]]!r} was already used ({locate(first)}); "
        f"{counted(len(twice), 'such row')} in all",
        "each id once in the node table",
        "remove the duplicates, or name the right id column in the mapping",
    )


def truth_values(table: Table, column: str | None) -> TruthArray:
    """1 anomalous, 0 normal, -1 unknown (empty, or no truth column) for each row."""
    if not column:
        return np.full(len(table.frame), -1, np.int8)
    codes, values = pd.factorize(table.frame[column], use_na_sentinel=True)
    answers = np.full(len(values) + 1, -1, dtype=np.int8)  # the last one is for missing values (code -1)
    for k, value in enumerate(values):
        text = str(value).strip()
        if text in ("", "-1", "-1.0"):
            continue
        try:
            answers[k] = _ANSWER[Verdict.parse(text)]
        except LabelError as error:
            row = int(np.flatnonzero(codes == k)[0])
            raise InputError(
                f"{table.place(row)}: truth column {column!r} holds {text!r}",
                "0/1, true/false, normal/anomalous, or an empty cell",
                "correct the column, or choose another truth column in the mapping",
            ) from error
    return np.asarray(answers[codes])
