"""Tables of any origin: CSV, TSV, SNAP edge lists, JSON lines and Parquet. Ids never pass through numbers."""

from __future__ import annotations

import csv
import json
import re
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv as arrow_csv
import pyarrow.parquet as parquet

from gadcore.errors import InputError
from gadcore.graph import IntArray
from gadcore.graph.mapped import Release, gathered
from gadcore.ingest.cells import as_cells
from gadcore.ingest.dates import read_time_numbers
from gadcore.ingest.formats.file_format import FileFormat, Limits, unreadable
from gadcore.ingest.graph_parts import Table, counted, shown
from gadcore.ingest.names import guess_ends, is_bulk_header, neo4j_part, plain_name
from gadcore.ingest.numbers import read_numbers
from gadcore.ingest.texts import Text, decoded

_NUMBER = re.compile(r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$")
_DELIMITERS = (",", "\t", ";", "|")
_BLOCK = 1 << 24
_ROWS = 1 << 18  # that are read together
_PANDAS_INDEX = "__index_level_0__"  # where pandas keeps an index without a name
_HEAD_BYTES = 1 << 18
_JSON_LINES = (".jsonl", ".ndjson")
_BARE_ROWS = 500  # that tell what the columns of a file without names are; a first look sees as many


def read_table(path: Path, limits: Limits) -> Table:
    """The table in a file: Parquet by its first bytes, otherwise text."""
    with path.open("rb") as handle:
        start = handle.read(4)
    if start == b"PAR1":
        return _parquet(path, limits)
    if path.suffix.lower() in _JSON_LINES:
        return _json_lines(path, limits)
    return _text(path, limits)


def _parquet(path: Path, limits: Limits) -> Table:
    try:
        file = parquet.ParquetFile(path)
        told = file.metadata
        limits.check_cells(0 if limits.rows else told.num_rows, max(told.num_columns, 1), path.name)
        batches = file.iter_batches(batch_size=limits.rows or _ROWS)
        table, release = gathered(file.schema_arrow, batches if limits.rows is None else islice(batches, 1))
        table.validate(full=True)
        frame = table.to_pandas(ignore_metadata=True)
    except (pa.ArrowException, OSError, ValueError, MemoryError) as error:
        raise unreadable(path.name, "Parquet file", error, fix="write it again, or use CSV") from error
    frame.columns = [str(c) for c in frame.columns]
    if _PANDAS_INDEX in frame.columns:
        frame.insert(0, "index", frame.pop(_PANDAS_INDEX))
    return Table(frame, path.name, unit="row", release=release)


def _json_lines(path: Path, limits: Limits) -> Table:
    rows = limits.rows
    records: list[dict[str, Any]] = []
    numbers: list[int] = []
    for number, line in enumerate(decoded(path, None if rows is None else _HEAD_BYTES).splitlines(), 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise InputError(
                f"{path.name}, line {number} is not JSON ({error})", "one object per line"
            ) from error
        if not isinstance(record, dict):
            raise InputError(f"{path.name}, line {number} is no JSON object", "one object per line")
        records.append(record)
        numbers.append(number)
        if rows is not None and len(records) == rows:
            break
    return record_table(records, path.name, limits, lines=numbers)


def record_table(
    records: Sequence[dict[str, Any]],
    file: str,
    limits: Limits,
    unit: str = "line",
    first: Sequence[str] = (),
    lines: Sequence[int] = (),
    lists: dict[str, str] | None = None,
) -> Table:
    """A table of records with any fields, ``first`` in front; None where a record has no such field."""
    columns = list(dict.fromkeys([*first, *(key for record in records for key in record)]))
    limits.check_cells(len(records), len(columns), file)
    values = {c: pd.Series([r.get(c) for r in records], dtype=object) for c in columns}
    numbers = np.array(lines, dtype=np.int64)
    return Table(pd.DataFrame(values, columns=columns), file, unit, lambda: numbers, True, lists or {})


def _text(path: Path, limits: Limits) -> Table:
    rows = limits.rows
    text = Text.of(path, None if rows is None else _HEAD_BYTES, guess=True)
    layout = _Layout.of(text, path.name, limits)
    if layout.skip:
        text = text.without_last_comment()
    frame, release = layout.frame(text, path.name)
    if layout.bare:
        frame = frame.set_axis(_bare_names(frame), axis=1)
    if rows is not None:
        frame = frame.head(rows)
    lists: dict[str, str] = {}
    if is_bulk_header(frame.columns):
        frame, lists = _bulk(frame)

    @cache
    def lines() -> IntArray:
        return layout.lines(text)

    return Table(frame, path.name, lines=lines, lists=lists, release=release, note=text.note)


class _Layout:
    """How a text table is written: comment lines on top, delimiter, header or not."""

    def __init__(self, skip: int, delimiter: str | None, names: list[str] | None, bare: bool) -> None:
        self.skip, self.delimiter, self.names = skip, delimiter, names  # delimiter None = white space
        self.bare = bare  # the file does not name its columns

    @classmethod
    def of(cls, text: Text, file: str, limits: Limits) -> _Layout:
        skip, first = _first_line(text)
        if not first:
            raise InputError(f"{file} holds comments only", "at least one row of data")
        best = max(_DELIMITERS, key=first.count)
        white = best not in first and len(first.split()) > 1
        delimiter = None if white else best  # a single column: any delimiter will do
        fields = next(csv.reader([first], delimiter=delimiter)) if delimiter else first.split()
        limits.check_columns(len(fields), file)
        comment = _header_comment(text, skip, delimiter, len(fields))
        names = comment or cls._names(fields, delimiter)
        return cls(skip, delimiter, names, bare=names is not None and comment is None)

    @staticmethod
    def _names(fields: list[str], delimiter: str | None) -> list[str] | None:
        """Column names where the file has no header: an edge list of bare values."""
        pairs = delimiter is None and len(fields) in (2, 3) and not guess_ends(fields)
        if not pairs and not all(_NUMBER.match(f.strip()) for f in fields):
            return None
        return [f"column{i + 1}" for i in range(len(fields))]

    def frame(self, text: Text, file: str) -> tuple[pd.DataFrame, Release]:
        """The cells as text, and how to give back the memory that looking at them takes."""
        read = self._white_space if self.delimiter is None else self._delimited
        table, release = read(text, file)
        columns = _told_apart([str(c) for c in table.column_names])
        twice = sorted(c for c, times in Counter(columns).items() if times > 1)
        if twice:
            raise InputError(f"{file} has two columns named {shown(twice)}", "different names")
        return table.rename_columns(columns).to_pandas(), release

    def _delimited(self, text: Text, file: str) -> tuple[Any, Release]:
        read = arrow_csv.ReadOptions(
            skip_rows=self.skip, column_names=self.names, block_size=_BLOCK, use_threads=False
        )
        parse = arrow_csv.ParseOptions(delimiter=self.delimiter, newlines_in_values=text.quotes > 0)
        try:
            names = self.names or next(self._records(text))[1]
            types = arrow_csv.ConvertOptions(
                column_types={n: pa.large_string() for n in names}, strings_can_be_null=False
            )
            self._refuse_open_quote(text, file)
            reader = arrow_csv.open_csv(text.open(), read, parse, types)
            return gathered(reader.schema, _releasing(reader, text.release))
        except (pa.ArrowException, csv.Error) as error:
            raise self._broken(text, file, str(error)) from error

    def _refuse_open_quote(self, text: Text, file: str) -> None:
        """A quote that is never closed would swallow the rest of the file as one value."""
        if text.quotes % 2 == 0:
            return
        line, records = self.skip + 1, self._records(text, strict=True)
        try:
            while record := next(records, None):
                line = record[0]
        except csv.Error as error:
            raise InputError(
                f"{file}: a double quote is opened after line {line} and never closed",
                "quotes in pairs",
                "close the quote, or restore the missing end of the file",
            ) from error

    def _white_space(self, text: Text, file: str) -> tuple[Any, Release]:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error", pd.errors.ParserWarning)
                header = None if self.names else 0
                pieces = pd.read_csv(
                    text.open(), sep=r"\s+", header=header, names=self.names, index_col=False,
                    skiprows=self.skip, dtype=str, na_filter=False, quoting=csv.QUOTE_NONE, chunksize=_ROWS,
                )  # fmt: skip
                first = _batch(next(pieces))
                return gathered(first.schema, _releasing(chain([first], map(_batch, pieces)), text.release))
        except (pd.errors.ParserError, pd.errors.ParserWarning, pd.errors.EmptyDataError) as error:
            raise self._broken(text, file, str(error)) from error

    def _broken(self, text: Text, file: str, reason: str) -> InputError:
        """The error that names the first row whose number of fields differs from the header."""
        expected: int | None = len(self.names) if self.names else None
        for line, fields in self._records(text):
            expected = expected or len(fields)
            if len(fields) != expected:
                return InputError(
                    f"{file}, line {line} has {counted(len(fields), 'field')}",
                    f"{expected}, as in the first line",
                    "quote values that contain the delimiter, or restore the missing end of the file",
                )
        return InputError(f"{file} is not a readable table ({reason.strip()})", "one row per line")

    def _records(self, text: Text, strict: bool = False) -> Iterator[tuple[int, list[str]]]:
        """(line on which it starts, fields) of every record, header included, blank lines left out."""
        rows = islice(text.lines(), self.skip, None)
        if self.delimiter is None:
            yield from ((k, line.split()) for k, line in enumerate(rows, self.skip + 1) if line.strip())
            return
        reader = csv.reader(rows, delimiter=self.delimiter, strict=strict)
        start = self.skip + 1
        for record in reader:
            if record:
                yield start, record
            start = self.skip + reader.line_num + 1

    def lines(self, text: Text) -> IntArray:
        """Line of each data row; made only when a message needs it."""
        numbers = np.fromiter((line for line, _ in self._records(text)), dtype=np.int64)
        return numbers if self.names else numbers[1:]


def _bare_names(frame: pd.DataFrame) -> list[str]:
    """Names of the columns of a file without names: an edge list, maybe with weight, amount or time."""
    columns = list(frame.columns)
    more = {c: _bare_name(frame[c].head(_BARE_ROWS)) for c in columns[2:4]}
    edges = len(columns) in (2, 3) or (len(columns) == 4 and list(more.values()).count("time") == 1)
    if not edges:
        return columns
    plain = "weight" if len(columns) == 3 else "amount"
    return ["source", "target", *(plain if name == "number" else name for name in more.values())]


def _bare_name(series: pd.Series) -> str:
    """What a column of numbers is: a time since 1970, an amount (below 0 too), or just a number."""
    values = read_numbers(as_cells(series)).values
    if read_time_numbers(values).form.endswith("seconds"):
        return "time"
    return "amount" if bool((values < 0).any()) else "number"


def _told_apart(columns: list[str]) -> list[str]:
    """Both ends of an edge may have one name ("From Bank, Account, To Bank, Account"): one gets a number."""
    first = {c: k for k, c in reversed(list(enumerate(columns)))}
    renamed = [f"{c}.1" if first[c] < k else c for k, c in enumerate(columns)]
    ends = guess_ends(renamed)
    return renamed if ends is not None and ends[1] not in columns else columns


def _header_comment(text: Text, skip: int, delimiter: str | None, width: int) -> list[str] | None:
    """Column names in a comment line that names edge ends: ``# source target``, ``#fields ts …`` (Zeek)."""
    for line in reversed(list(islice(text.lines("\n"), skip))):
        said = line.strip().lstrip("#% ")
        names = [name.strip() for name in (said.split(delimiter) if delimiter else said.split())]
        names = names[1:] if names[:1] == ["fields"] else names
        if len(names) == width and guess_ends(names):
            return names
    return None


def _first_line(text: Text) -> tuple[int, str]:
    """(comment and blank lines on top, first line with content)."""
    for number, line in enumerate(text.lines("\n")):
        if line.strip() and not line.lstrip().startswith(("#", "%")):
            return number, line.strip("\r\n")
    return 0, ""


def _releasing(batches: Iterable[Any], release: Release) -> Iterator[Any]:
    """The batches; what was looked at for one is given back before the next."""
    for batch in batches:
        yield batch
        release()


def _batch(frame: pd.DataFrame) -> Any:
    """Rows of text as an Arrow batch."""
    cells = {str(name): pa.array(frame[name], pa.large_string()) for name in frame.columns}
    return pa.record_batch(
        {k: v.combine_chunks() if isinstance(v, pa.ChunkedArray) else v for k, v in cells.items()}
    )


def _bulk(frame: pd.DataFrame) -> tuple[pd.DataFrame, dict[str, str]]:
    """A Neo4j or Neptune table with plain names, and its array columns with their separator."""
    names: dict[str, str] = {}
    arrays: dict[str, str] = {}
    for column in frame.columns:
        part = neo4j_part(column)
        if part == "IGNORE":
            frame = frame.drop(columns=column)
        if part:
            continue
        plain, array = plain_name(column)
        if plain != column and plain not in frame.columns and plain not in names.values():
            names[column] = plain
        if array:
            arrays[names.get(column, column)] = ";"
    return frame.rename(columns=names), arrays


FORMAT = FileFormat(
    "table",
    "table (CSV, TSV, text, JSON lines, Parquet)",
    (".csv", ".tsv", ".tab", ".txt", ".edges", ".edgelist", *_JSON_LINES, ".parquet", ".pq"),
    matches=lambda head: head.start.startswith(b"PAR1"),
    read=read_table,
    recognised=(
        "an edge table, with or without a node table; any column names by mapping; Gephi "
        "`Source,Target,Weight,Id`, Neo4j `:ID,:START_ID,:END_ID`, Neptune `~id,~from,~to`; "
        "SNAP edge lists with `#` comments"
    ),
    tabular=True,
    previewed=True,
    aliases=("csv", "tsv", "parquet", "edgelist", "snap"),
)
