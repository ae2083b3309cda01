"""What the report says of the links: how many, when, how much, how they make edges, what they give."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gadcore.derive import Derived
from gadcore.graph import Links
from gadcore.graph.links import CLOCK, DAY, STEPS, Numbers
from gadcore.ingest.graph_parts import Parts, shown
from gadcore.ingest.mapping import REPEATS

_CHANGE = "To change that, choose repeats = count, sum, mean, largest or one."


def link_lines(parts: Parts, derived: Sequence[Derived]) -> list[str]:
    """The block on links; empty where there are none."""
    if parts.links is None:
        return []
    lines = [summary(parts.links), *(f"{line[0].upper()}{line[1:]}." for line in parts.link_columns)]
    lines.append(
        f"The weight of an edge is {REPEATS[parts.merge]}{_of(parts)} (repeats = {parts.merge}). {_CHANGE}"
    )
    if derived:
        names = [d.column.name for d in derived]
        lines.append(
            f"Derived columns ({len(names)}): {'; '.join(names)}. To leave one out, name it under ignore."
        )
    return lines


def _of(parts: Parts) -> str:
    """The column that weights are taken from."""
    if parts.merge in ("count", "one"):
        return ""
    amount = parts.mapping.amount if parts.mapping.repeats is not None else None
    column = parts.mapping.weight or amount
    return f", by column {column!r}" if column else ""


def summary(links: Links) -> str:
    """One line: "117,805 transfers, 2025-01-01 to 2025-03-31, amounts from 0.10 to 9,800 EUR, no kinds"."""
    meaning = links.meaning
    words = [f"{len(links):,} {meaning.word if len(links) == 1 else meaning.words}", _period(links)]
    if links.amount is None:
        words.append("no amounts")
    else:
        low, high = np.nanmin(links.amount), np.nanmax(links.amount)
        unit = f" {meaning.unit}" if meaning.unit else ""
        words.append(
            f"amounts from {_number(low)} to {_number(high)}{unit} ({meaning.amount}){_gaps(links.amount)}"
        )
    kinds = meaning.kinds
    words.append(f"{len(kinds):,} kind{'s' * (len(kinds) != 1)} ({shown(kinds, 4)})" if kinds else "no kinds")
    return ", ".join(words)


def _period(links: Links) -> str:
    if links.time is None:
        return "no times"
    low, high = float(np.nanmin(links.time)), float(np.nanmax(links.time))
    gaps = _gaps(links.time)
    if links.meaning.precision == STEPS:
        return f"steps {_number(low / DAY)} to {_number(high / DAY)}{gaps}"
    zone = f" {links.meaning.zone}" if links.meaning.zone else ""
    return f"{_date(low, links.meaning.precision)} to {_date(high, links.meaning.precision)}{zone}{gaps}"


def _gaps(values: Numbers) -> str:
    unknown = int(np.isnan(values).sum())
    return f" ({unknown:,} unknown)" if unknown else ""


def _date(seconds: float, precision: str) -> str:
    stamp = np.datetime64(int(seconds), "s")
    return str(
        stamp.astype("datetime64[m]") if precision == CLOCK else stamp.astype("datetime64[D]")
    ).replace("T", " ")


def _number(value: float) -> str:
    """A number for people: "9,800", "0.10"."""
    return f"{value:,.0f}" if value % 1 == 0 or abs(value) >= 1e6 else f"{value:,.2f}"
