"""Ways in which a valid file goes wrong: bytes, text, JSON trees and arrays, changed at random.

Every function takes a ``random.Random`` and changes one thing. The same seed makes the same change.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from copy import deepcopy
from random import Random
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

NUMBERS = (
    "0", "-1", "1e999", "-1e999", "1e-999", "nan", "inf", "-inf", "1e308", "-1e308", "3.4e38", "1e39", "0.0",
    "-0.0", "9223372036854775807", "9223372036854775808", "-9223372036854775808", "18446744073709551616",
    "2147483647", "2147483648", "4294967296", "1" * 400, "0x10", "1_000", "1e", "00012", "+5",
    "999999999", "100000000000",
)  # fmt: skip
CELLS = (
    *NUMBERS, "", " ", '"', '""', "'", "a\x00b", "\ufeff", "\u00a0", "Zoë", "🦊", "é" * 300, "NA", "None",
    "true",
    "[1, 2]", '{"a": 1}', "a|b|c", "a;b", "=1+1", "#", "%", "-", "()", "(1,234)", "1.234,50 €", "€ 1,2,3",
    "12 %",
    "3.4k", "1e5k", "99999999Mrd", "1.000.000,-", "2024-02-30", "0000-00-00", "9999-12-31T23:59:60Z",
    "99999-01-01", "31/12/2024", "12/31/24", "31.13.2024", "24:61:61", "2024-01-01T25:00", "1 jan 2024",
    "2024-01-01 00:00:00 XYZ", "2024-01-01T00:00:00+99:99", "20250132", "1700000000000000000", "0.1.2", "+-1",
    "١٢٣", "１２", "²", "½", "$" * 50, "directed", "http://x", "is_fraud", "\u202e", "\ud7ff", "\\N", "\\",
)  # fmt: skip
NAMES = (
    "id", "source", "target", "time", "timestamp", "amount", "kind", "type", "weight", "label", "is_fraud",
    "truth", "name", "currency", "", " ", "column1", ":ID", ":START_ID", ":END_ID", "~id", "~from", "~to",
    "age:int",
    "tags:string[]", ":IGNORE", "x", "date", "value", "from", "to", "account", "account.1", "total links",
)  # fmt: skip
_TOKENS = (
    b"\x00", b"\r", b"\n", b"\r\n", b"\n\n", b'"', b'""', b"'", b",", b";", b"\t", b"|", b"\xef\xbb\xbf",
    b"\xff\xfe",
    b"\xfe\xff", b"\xff", b"\x80", b"<", b">", b"</", b"&", b"&amp;", b"]]>", b"<![CDATA[", b"<!DOCTYPE a>",
    b"{", b"}",
    b"[", b"]", b":", b"#", b"%", b"\\", b"\\u0000", b"\\ud800", b"null", b"NaN", b"-Infinity", b"PK\x03\x04",
    b"PAR1", b"\x1f\x8b", b"\xff\xff\xff\xff", b"\x00\x00\x00\x00", b"\x7f\xff\xff\xff", b"\xe2\x80\xa8",
    b"\x0b", b"\x0c",
    b"\x1c", b"\x85",
)  # fmt: skip
_DIGITS = re.compile(rb"-?\d+(?:\.\d+)?")
_DTYPES = (
    "?", "i1", "u1", "i4", "u4", "u8", "f2", "f4", "f8", "c8", "c16", "U3", "S3", "M8[s]", "m8[s]", "V8",
    ">i4", ">f8",
    "g", "i8,f4",
)  # fmt: skip
_EXTREMES = (
    0,
    -1,
    1,
    2,
    127,
    255,
    2**31 - 1,
    2**31,
    2**62,
    -(2**62),
    np.nan,
    np.inf,
    -np.inf,
    1e30,
    1e-300,
    1e308,
)


def bytes_changed(data: bytes, rng: Random) -> bytes:
    """One to four changes of the bytes."""
    for _ in range(rng.choice((1, 1, 2, 4))):
        data = rng.choice(_BYTE_CHANGES)(data, rng) or data
    return data


def _place(data: bytes, rng: Random) -> tuple[int, int]:
    """A random stretch, mostly a short one."""
    start = rng.randrange(len(data) + 1)
    longest = rng.choice((4, 16, 64, 1024))
    return start, min(len(data), start + 1 + rng.randrange(longest))


def _flip(data: bytes, rng: Random) -> bytes:
    changed = bytearray(data)
    for _ in range(rng.choice((1, 2, 8))):
        at = rng.randrange(len(changed))
        changed[at] ^= 1 << rng.randrange(8)
    return bytes(changed)


def _cut(data: bytes, rng: Random) -> bytes:
    return data[: 1 + rng.randrange(len(data))]


def _cut_out(data: bytes, rng: Random) -> bytes:
    start, end = _place(data, rng)
    return data[:start] + data[end:]


def _repeat(data: bytes, rng: Random) -> bytes:
    start, end = _place(data, rng)
    return data[:end] + data[start:end] * rng.choice((1, 2, 20)) + data[end:]


def _insert(data: bytes, rng: Random) -> bytes:
    start, _ = _place(data, rng)
    piece = rng.choice(_TOKENS) if rng.random() < 0.8 else rng.choice(CELLS).encode("utf-8", "replace")
    return data[:start] + piece * rng.choice((1, 1, 2, 50)) + data[start:]


def _overwrite(data: bytes, rng: Random) -> bytes:
    start, _ = _place(data, rng)
    piece = rng.choice(_TOKENS)
    return data[:start] + piece + data[start + len(piece) :]


def _other_number(data: bytes, rng: Random) -> bytes:
    found = list(_DIGITS.finditer(data))
    if not found:
        return data
    at = rng.choice(found)
    return data[: at.start()] + rng.choice(NUMBERS).encode() + data[at.end() :]


def _line_ends(data: bytes, rng: Random) -> bytes:
    plain = data.replace(b"\r\n", b"\n")
    return plain.replace(
        b"\n", rng.choice((b"\r", b"\r\n", b"\n\r", b"\n\n", b"\x00", b" ", b"\xe2\x80\xa8"))
    )


def _lines(data: bytes, rng: Random) -> bytes:
    """A line that is gone, twice there, or elsewhere."""
    lines = data.split(b"\n")
    line = lines.pop(rng.randrange(len(lines)))
    for _ in range(rng.choice((0, 1, 2))):
        lines.insert(rng.randrange(len(lines) + 1), line)
    return b"\n".join(lines)


def _encoded(data: bytes, rng: Random) -> bytes:
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return data
    return text.encode(rng.choice(("utf-16", "utf-16-le", "utf-8-sig", "cp1252", "utf-32")), "replace")


_BYTE_CHANGES: tuple[Callable[[bytes, Random], bytes], ...] = (
    _flip, _flip, _cut, _cut_out, _repeat, _insert, _insert, _overwrite, _other_number, _other_number,
    _line_ends,
    _lines, _encoded,
)  # fmt: skip


def rows_changed(rows: list[list[str]], rng: Random) -> list[list[str]]:
    """A table with other cells, another name of a column, rows and columns that are gone or twice there."""
    rows = [list(row) for row in rows]
    for _ in range(rng.choice((1, 1, 2, 5))):
        change, at, column = rng.random(), rng.randrange(len(rows)), rng.randrange(len(rows[0]))
        if change < 0.5:
            rows[at] = [rng.choice(CELLS) if k == column else cell for k, cell in enumerate(rows[at])]
        elif change < 0.65 and column < len(rows[0]):
            rows[0][column] = rng.choice(NAMES)
        elif change < 0.75:
            cell = rng.choice(CELLS)
            rows[1:] = [[cell if k == column else c for k, c in enumerate(row)] for row in rows[1:]]
        elif change < 0.8 and len(rows[0]) > 1:
            rows = [row[:column] + row[column + 1 :] for row in rows]
        elif change < 0.85:
            rows = [[*row, *row[column : column + 1]] for row in rows]
        elif change < 0.95:
            rows.insert(1 + at, list(rows[at]))
        else:
            rows = rows[: 1 + at]
    return rows


_JSON_VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 2**63, 10**400, 1e308, float("nan"), float("inf"), "", "a", "\ud800", "\x00",
    [], {}, [1],
    [[1]], {"a": 1}, {"id": 1}, [None], {"data": {}}, {"data": None}, "nodes", [1, "a", None, {"b": [2]}],
    0.5, "0", 0.0,
)  # fmt: skip


def tree_changed(tree: Any, rng: Random) -> Any:
    """A JSON document with one to three values, keys or lists changed."""
    tree = json.loads(json.dumps(tree))
    for _ in range(rng.choice((1, 1, 3))):
        places = list(_containers(tree))
        if places:
            _change_inside(rng.choice(places[: 1 + rng.randrange(len(places))]), rng)
    return tree


def _containers(tree: Any) -> Any:
    if isinstance(tree, (dict, list)) and tree:
        yield tree
        for value in tree.values() if isinstance(tree, dict) else tree:
            yield from _containers(value)


def _change_inside(place: Any, rng: Random) -> None:
    key = rng.choice(list(place) if isinstance(place, dict) else range(len(place)))
    change = rng.random()
    if change < 0.6:
        place[key] = deepcopy(rng.choice(_JSON_VALUES))
    elif change < 0.7:
        del place[key]
    elif isinstance(place, list):
        place.insert(rng.randrange(len(place) + 1), deepcopy(place[key]))
    else:
        place[rng.choice(NAMES)] = deepcopy(place[key]) if rng.random() < 0.5 else place.pop(key)


def arrays_changed(arrays: dict[str, Array], rng: Random, names: Sequence[str]) -> dict[str, Any]:
    """Arrays of which one or two have another shape, type, values or name, or are gone."""
    arrays = dict(arrays)
    for _ in range(rng.choice((1, 1, 2))):
        name = rng.choice(list(arrays) or ["x"])
        change = rng.random()
        if change < 0.75:
            arrays[name] = array_changed(arrays.get(name, np.zeros(3)), rng)
        elif change < 0.85:
            arrays.pop(name, None)
        else:
            arrays[rng.choice(names)] = array_changed(arrays.get(name, np.zeros(3)), rng)
    return arrays


def array_changed(array: Array, rng: Random) -> Array:
    """An array of another shape or type, or with an extreme value."""
    changed = rng.choice(_ARRAY_CHANGES)(np.asarray(array), rng)
    return np.asarray(changed)


def _other_type(array: Array, rng: Random) -> Array:
    wanted = np.dtype(rng.choice(_DTYPES))
    try:
        with np.errstate(all="ignore"):
            return array.astype(wanted)
    except (TypeError, ValueError, RuntimeError):
        return np.zeros(array.shape, wanted)


def _extreme(array: Array, rng: Random) -> Array:
    changed, value = np.array(array), rng.choice(_EXTREMES)
    if changed.dtype.kind not in "iuf" or not changed.size:
        return np.asarray(value)
    if changed.dtype.kind in "iu" and not np.isfinite(value):
        changed = changed.astype(np.float64)
    with np.errstate(all="ignore"):
        fit = np.array(value).astype(changed.dtype)
    if rng.random() < 0.2:
        changed[...] = fit
    else:
        changed.flat[rng.randrange(changed.size)] = fit
    return changed


def _other_shape(array: Array, rng: Random) -> Array:
    return rng.choice(
        (
            array.reshape(-1), array.T, array[None], array[..., None], np.zeros(0, array.dtype),
            np.zeros((0, 5), array.dtype), np.zeros((), array.dtype), np.zeros((0, 0), array.dtype),
            *((array[:1], array[1:], np.repeat(array, 2, axis=0)) if array.ndim else ()), np.zeros((1, 1, 1,
            1)),
            array[..., :1] if array.ndim else array, np.zeros((3, 0)),
        )
    )  # fmt: skip


_ARRAY_CHANGES: tuple[Callable[[Array, Random], Array], ...] = (_other_type, _extreme, _extreme, _other_shape)
