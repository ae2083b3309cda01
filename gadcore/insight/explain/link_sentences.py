"""Columns derived from links in an investigator's words; what belongs together is told in one sentence."""

from __future__ import annotations

import re
from math import ceil

import numpy as np

from gadcore.graph import Graph, Links
from gadcore.graph.link_words import measure_text
from gadcore.graph.links import CLOCK, DAY, STEPS
from gadcore.insight.explain.columns import Columns

_COUNTED = ("links", "partners", "week_partners")  # how many links, with how many, how fast
_FEW, _SHORT = 3, 7  # links from which it is worth saying that all are within so many days


def family(told: dict[str, str]) -> str:
    """Columns of one family get one sentence at most: those of a group and direction."""
    stem, side = _parts(told["key"])
    return f"{'counts' if stem in _COUNTED else told['group']} {side}"


def derived_sentence(graph: Graph, columns: Columns, column: str, node: int) -> str:
    """What a column says of a node: "passes 96 % on within a day (usual: 12 %)"."""
    told = columns.derived[column]
    together = _counted(graph, columns, *_parts(told["key"]), node)
    if together:
        return together
    usual = measure_text(columns.usual(column), told["unit"])
    return f"{_phrase(columns, column, node)} (usual: {usual})"


def _parts(key: str) -> tuple[str, str]:
    """The key without its direction, and the direction: "in", "out" or ""."""
    stem, _, side = key.rpartition("_")
    return (stem, side) if side in ("in", "out") else (key, "")


def _phrase(columns: Columns, column: str, node: int) -> str:
    """The column's own words around its value, one thing told apart from many."""
    text = columns.derived[column]["told"].replace("{value}", columns.attribute(column, node).value)
    return re.sub(r"^(.*\b1) (\w+?)(ies|s)\b", lambda m: f"{m[1]} {m[2]}{'y' * (m[3] == 'ies')}", text)


def _counted(graph: Graph, columns: Columns, stem: str, side: str, node: int) -> str:
    """E.g. "received 31 transfers from 29 counterparties within 2 days"; "" for what is told by itself."""
    names = {told["key"]: name for name, told in columns.derived.items()}
    links, partners = (names.get(f"{which}_{side}") for which in _COUNTED[:2])
    if stem not in _COUNTED or links is None or partners is None or graph.links is None:
        return ""
    haste = _haste(graph.links, side, node)
    if stem == "week_partners" and not haste:
        return ""
    words = graph.links.meaning.words
    if columns.attribute(links, node).value == "0":
        return _phrase(columns, links, node).replace("0", "no", 1)
    return _phrase(columns, links, node) + _phrase(columns, partners, node).removeprefix(words) + haste


def _haste(links: Links, side: str, node: int) -> str:
    """ " within 2 days" where all links of a side are so close together, else ""."""
    rows = links.into(node) if side == "in" else links.out_of(node)
    if links.time is None or len(rows) < _FEW:
        return ""
    span = float(np.ptp(links.time[rows])) / DAY  # nan where a time is unknown
    days = ceil(span) if links.meaning.precision == CLOCK else span + 1
    unit = "steps" if links.meaning.precision == STEPS else "days"
    return f" within {measure_text(max(1, days), unit)}" if days <= _SHORT else ""
