"""Tables of any origin: CSV, TSV, SNAP edge lists, JSON lines and Parquet. Ids never pass through numbers."""

from __future__ import annotations

import codecs
import csv
import io
import json
import re
import warnings
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv as arrow_csv
import pyarrow.parquet as parquet

from gadcore.errors import InputError
from gadcore.graph import IntArray
from gadcore.ingest.formats.file_format import FileFormat, Limits, too_large, unreadable
from gadcore.ingest.graph_parts import Table, counted, shown
from gadcore.ingest.mapping import guess_ends, is_bulk_header, neo4j_part, plain_name

_NUMBER = re.compile(r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$")
_DELIMITERS = (",", "\t", ";", "|")
_BLOCK = 1 << 24
_PANDAS_INDEX = "__index_level_0__"  # where pandas keeps an index without a name
_HEAD_BYTES = 1 << 18
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_JSON_LINES = (".jsonl", ".ndjson")
_BARE = {2: ["source", "target"], 3: ["source", "target", "weight"]}


def read_table(path: Path, limits: Limits) -> Table:
    """The table in a file: Parquet by its first bytes, otherwise text."""
    with path.open("rb") as handle:
        start = handle.read(4)
    if start == b"PAR1":
        return _parquet(path, limits)
    if path.suffix.lower() in _JSON_LINES:
        return _json_lines(path, limits.rows)
    return _text(path, limits.rows)


def _parquet(path: Path, limits: Limits) -> Table:
    try:
        file = parquet.ParquetFile(path)
        cells = file.metadata.num_rows * max(file.metadata.num_columns, 1)
        if limits.rows is None and cells * 8 > limits.max_bytes:
            raise too_large(path.name, cells * 8, limits.max_bytes)
        if limits.rows is None:
            table = file.read()
        else:
            batch = next(file.iter_batches(batch_size=limits.rows), None)
            table = pa.Table.from_batches([] if batch is None else [batch], schema=file.schema_arrow)
        table.validate(full=True)
        frame = table.to_pandas(ignore_metadata=True)
    except (pa.ArrowException, OSError, ValueError, MemoryError) as error:
        raise unreadable(path.name, "Parquet file", error, fix="write it again, or use CSV") from error
    frame.columns = [str(c) for c in frame.columns]
    if _PANDAS_INDEX in frame.columns:
        frame.insert(0, "index", frame.pop(_PANDAS_INDEX))
    return Table(frame, path.name, unit="row")


def _json_lines(path: Path, rows: int | None) -> Table:
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
    return record_table(records, path.name, lines=numbers)


def record_table(
    records: Sequence[dict[str, Any]],
    file: str,
    unit: str = "line",
    first: Sequence[str] = (),
    lines: Sequence[int] = (),
    lists: dict[str, str] | None = None,
) -> Table:
    """A table of records with any fields, ``first`` in front; None where a record has no such field."""
    columns = list(dict.fromkeys([*first, *(key for record in records for key in record)]))
    values = {c: pd.Series([r.get(c) for r in records], dtype=object) for c in columns}
    numbers = np.array(lines, dtype=np.int64)
    return Table(pd.DataFrame(values, columns=columns), file, unit, lambda: numbers, True, lists or {})


def _text(path: Path, rows: int | None) -> Table:
    data = decoded(path, None if rows is None else _HEAD_BYTES)
    layout = _Layout.of(data, path.name)
    frame = layout.frame(data, path.name)
    if rows is not None:
        frame = frame.head(rows)
    lists: dict[str, str] = {}
    if is_bulk_header(frame.columns):
        frame, lists = _bulk(frame)

    @cache
    def lines() -> IntArray:
        return layout.lines(data)

    return Table(frame, path.name, lines=lines, lists=lists)


def decoded(path: Path, limit: int | None = None) -> bytes:
    """The file as UTF-8 bytes without BOM; UTF-16 with BOM is converted, anything else is an error."""
    with path.open("rb") as handle:
        data = handle.read() if limit is None else handle.read(limit)
    cut = limit is not None and len(data) == limit
    if data.startswith(_UTF16):
        try:
            return data[: len(data) // 2 * 2].decode("utf-16", "ignore" if cut else "strict").encode()
        except UnicodeDecodeError as error:
            raise InputError(f"{path.name} starts as UTF-16 but is damaged ({error})", "UTF-8") from error
    data = data.removeprefix(codecs.BOM_UTF8)
    if cut:
        data = data[: data.rfind(b"\n") + 1] or data
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError(
            f"{path.name}, line {line}: byte 0x{data[error.start]:02x} is not UTF-8 text",
            "a UTF-8 file",
            "save it as UTF-8 (in Excel: 'CSV UTF-8'); it may be Windows-1252 or a binary file",
        ) from error
    if not data.strip():
        raise InputError(f"{path.name} is empty", "a table with a header line and at least one row")
    return data


class _Layout:
    """How a text table is written: comment lines on top, delimiter, header or not."""

    def __init__(self, skip: int, delimiter: str | None, names: list[str] | None) -> None:
        self.skip, self.delimiter, self.names = skip, delimiter, names  # delimiter None = white space

    @classmethod
    def of(cls, data: bytes, file: str) -> _Layout:
        skip, first = _first_line(data)
        if not first:
            raise InputError(f"{file} holds comments only", "at least one row of data")
        best = max(_DELIMITERS, key=first.count)
        white = best not in first and len(first.split()) > 1
        delimiter = None if white else best  # a single column: any delimiter will do
        fields = next(csv.reader([first], delimiter=delimiter)) if delimiter else first.split()
        comment = _header_comment(data, skip, delimiter, len(fields))
        return cls(skip, delimiter, comment or cls._names(fields, delimiter))

    @staticmethod
    def _names(fields: list[str], delimiter: str | None) -> list[str] | None:
        """Column names where the file has no header: an edge list of bare values."""
        pairs = delimiter is None and len(fields) in (2, 3) and not guess_ends(fields)
        if not pairs and not all(_NUMBER.match(f.strip()) for f in fields):
            return None
        return _BARE.get(len(fields)) or [f"column{i + 1}" for i in range(len(fields))]

    def frame(self, data: bytes, file: str) -> pd.DataFrame:
        frame = self._white_space(data, file) if self.delimiter is None else self._delimited(data, file)
        columns = [str(c) for c in frame.columns]
        twice = sorted({c for c in columns if columns.count(c) > 1})
        if twice:
            raise InputError(f"{file} has two columns named {shown(twice)}", "different names")
        return frame

    def _delimited(self, data: bytes, file: str) -> pd.DataFrame:
        read = arrow_csv.ReadOptions(
            skip_rows=self.skip, column_names=self.names, block_size=_BLOCK, use_threads=False
        )
        parse = arrow_csv.ParseOptions(delimiter=self.delimiter, newlines_in_values=b'"' in data)
        try:
            names = self.names or next(self._records(data))[1]
            types = arrow_csv.ConvertOptions(
                column_types={n: pa.large_string() for n in names}, strings_can_be_null=False
            )
            self._refuse_open_quote(data, file)
            return arrow_csv.read_csv(io.BytesIO(data), read, parse, types).to_pandas()
        except (pa.ArrowException, csv.Error) as error:
            raise self._broken(data, file, str(error)) from error

    def _refuse_open_quote(self, data: bytes, file: str) -> None:
        """A quote that is never closed would swallow the rest of the file as one value."""
        if data.count(b'"') % 2 == 0:
            return
        line, records = self.skip + 1, self._records(data, strict=True)
        try:
            while record := next(records, None):
                line = record[0]
        except csv.Error as error:
            raise InputError(
                f"{file}: a double quote is opened after line {line} and never closed",
                "quotes in pairs",
                "close the quote, or restore the missing end of the file",
            ) from error

    def _white_space(self, data: bytes, file: str) -> pd.DataFrame:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error", pd.errors.ParserWarning)
                header = None if self.names else 0
                return pd.read_csv(
                    io.BytesIO(data), sep=r"\s+", header=header, names=self.names, index_col=False,
                    skiprows=self.skip, dtype=str, na_filter=False, quoting=csv.QUOTE_NONE,
                )  # fmt: skip
        except (pd.errors.ParserError, pd.errors.ParserWarning, pd.errors.EmptyDataError) as error:
            raise self._broken(data, file, str(error)) from error

    def _broken(self, data: bytes, file: str, reason: str) -> InputError:
        """The error that names the first row whose number of fields differs from the header."""
        expected: int | None = len(self.names) if self.names else None
        for line, fields in self._records(data):
            expected = expected or len(fields)
            if len(fields) != expected:
                return InputError(
                    f"{file}, line {line} has {counted(len(fields), 'field')}",
                    f"{expected}, as in the first line",
                    "quote values that contain the delimiter, or restore the missing end of the file",
                )
        return InputError(f"{file} is not a readable table ({reason.strip()})", "one row per line")

    def _records(self, data: bytes, strict: bool = False) -> Iterator[tuple[int, list[str]]]:
        """(line on which it starts, fields) of every record, header included, blank lines left out."""
        text = io.StringIO(data.decode("utf-8"), newline="")
        for _ in range(self.skip):
            text.readline()
        if self.delimiter is None:
            yield from ((k, line.split()) for k, line in enumerate(text, self.skip + 1) if line.strip())
            return
        reader = csv.reader(text, delimiter=self.delimiter, strict=strict)
        start = self.skip + 1
        for record in reader:
            if record:
                yield start, record
            start = self.skip + reader.line_num + 1

    def lines(self, data: bytes) -> IntArray:
        """Line of each data row; made only when a message needs it."""
        numbers = np.fromiter((line for line, _ in self._records(data)), dtype=np.int64)
        return numbers if self.names else numbers[1:]


def _header_comment(data: bytes, skip: int, delimiter: str | None, width: int) -> list[str] | None:
    """Column names in the last comment line, when it names edge ends: ``# source target``."""
    if not skip:
        return None
    text = data.split(b"\n", skip)[skip - 1].decode("utf-8").strip().lstrip("#% ")
    names = [name.strip() for name in (text.split(delimiter) if delimiter else text.split())]
    return names if len(names) == width and guess_ends(names) else None


def _first_line(data: bytes) -> tuple[int, str]:
    """(comment and blank lines on top, first line with content)."""
    for number, line in enumerate(io.BytesIO(data)):
        text = line.decode("utf-8").strip("\r\n")
        if text.strip() and not text.lstrip().startswith(("#", "%")):
            return number, text
    return 0, ""


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
