"""Home: the form in which columns get their parts; what was recognised is filled in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd
import streamlit as st

from gadcore.workspace import KINDS, REPEATS, UNKNOWN, Mapping, Peek
from pages.common.page import info
from pages.home.projects import literal

_NONE = "(none)"
_FOUND = "as found"
_BY_ITSELF = "the number of links where pairs repeat, else the weight"
_NODE_PARTS = {"id": "Node id", "label": "Name to show", "truth": "Known answers"}
_EDGE_PARTS = {"source": "Edge from", "target": "Edge to", "weight": "Edge weight"}
_LINK_PARTS = {"time": "Time", "amount": "Amount", "kind": "Kind"}
_NEEDED = ("id", "source", "target")  # a graph may do without the others
_HELP = {
    "truth": "For benchmarks only: never shown to a model.",
    "time": "When a link was: a date, a time, or a number of steps.",
    "amount": "How much: money, a rating, bytes, seconds. It may be below zero.",
    "kind": "Which sort of link: a channel, a relation, a protocol.",
    "repeats": "Several links between the same two nodes make one edge. This is its weight.",
    "unknown": "Links that name a node which is not in the node table.",
}
_ONLY_EDGES = (
    "One table is read as edges, one edge a row. To give the nodes attributes, start over and upload "
    "the node table with it."
)


def mapping_form(found: Peek) -> Mapping | None:
    """The mapping that is chosen; None where the format leaves nothing to choose."""
    guess = found.guess
    nodes, edges = list(found.node_columns), list(found.edge_columns)
    if not nodes and not edges:
        info("This format names its parts itself: there is nothing to choose.")
        return None
    chosen: dict[str, Any] = {}
    ignored: tuple[str, ...] = ()
    if nodes:
        chosen |= _parts_form("node", _NODE_PARTS, nodes, guess) | _attribute_form(nodes, guess)
        ignored = chosen["ignore"]
    if edges:
        if not nodes:
            st.caption(_ONLY_EDGES)
        chosen |= _link_form(found, edges, bool(nodes))
        chosen["ignore"] = ignored + _left_out(found)
    return Mapping(**chosen)


def _link_form(found: Peek, edges: list[str], with_nodes: bool) -> dict[str, str | None]:
    """Parts of the links, how repeated ones make a weight, and what becomes of unknown ends."""
    chosen = _parts_form("edge", _EDGE_PARTS, edges, found.guess)
    chosen |= _parts_form("edge", _LINK_PARTS, edges, found.guess)
    if found.told:
        st.caption(literal(f"By the first rows: {'; '.join(found.told)}."))
    left, right = st.columns(2)
    with left:
        chosen["repeats"] = _rule("repeats", "Weight of repeated links", {None: _BY_ITSELF, **REPEATS}, found)
    if with_nodes:
        with right:
            chosen["unknown"] = _rule("unknown", "Links to unknown nodes", UNKNOWN, found)
    return chosen


def _rule(field: str, title: str, words: dict[Any, str], found: Peek) -> str | None:
    """One of the ways to go about something; the first is taken where none was given."""
    options, given = list(words), getattr(found.guess, field)
    start = options.index(given) if given in options else 0
    key = f"edge-{field}"
    picked: str | None = st.selectbox(
        title, options, index=start, format_func=words.__getitem__, key=key, help=_HELP[field]
    )
    return picked


def _left_out(found: Peek) -> tuple[str, ...]:
    """Columns that the links would give and the analyst does not want."""
    names = [column.name for column in found.derived]
    kept = tuple(name for name in found.guess.ignore if name not in names and name not in found.node_columns)
    if not names:
        return kept
    picked = st.multiselect(
        f"Leave out columns that the links give ({len(names)} in all)",
        names,
        default=[name for name in found.guess.ignore if name in names],
        key="derived",
        placeholder="None: all are kept",
        help="Each is worked out for every node, shown on its card, and learned from.",
    )
    return (*kept, *picked)


def _attribute_form(nodes: Sequence[str], guess: Mapping) -> dict[str, Any]:
    taken = {guess.id, guess.label, guess.truth, *guess.ignore}
    attributes = guess.attributes if guess.attributes is not None else [c for c in nodes if c not in taken]
    picked = st.multiselect(
        "Attributes the model learns from",
        nodes,
        default=[c for c in attributes if c in nodes],
        key="attributes",
        help="Columns in neither list are shown to the analyst and hidden from the model.",
    )
    ignored = st.multiselect(
        "Ignore (not read at all)", nodes, default=[c for c in guess.ignore if c in nodes], key="ignored"
    )
    return {
        "attributes": tuple(c for c in picked if c not in ignored),
        "ignore": tuple(ignored),
        "kinds": _kinds_form(nodes, guess.kinds or {}),
        "merge": tuple(_merge_form(nodes, guess)),
    }


def _kinds_form(nodes: Sequence[str], given: dict[str, str]) -> dict[str, str]:
    """What columns hold, where the analyst says so."""
    with st.expander("What the columns hold"):
        st.caption("Found by the values. Choose here where it would be wrong: a postcode is no number.")
        words = {_FOUND: None, **{word: kind for kind, word in KINDS.items()}}
        shown = [next((w for w, kind in words.items() if kind == given.get(c)), _FOUND) for c in nodes]
        table = st.data_editor(
            pd.DataFrame({"column": list(nodes), "holds": shown}),
            column_config={"holds": st.column_config.SelectboxColumn(options=list(words), required=True)},
            disabled=["column"], hide_index=True, key="kinds",
        )  # fmt: skip
    chosen = zip(table["column"], table["holds"])
    return {column: kind for column, word in chosen if (kind := words[word]) is not None}


def _merge_form(nodes: Sequence[str], guess: Mapping) -> list[str]:
    return st.multiselect(
        "Merge spellings",
        nodes,
        default=[c for c in guess.merge if c in nodes],
        key="merge",
        placeholder="None: values stay as they are written",
        help="In these columns values that differ in case, spaces or accents alone are one: NL and nl.",
    )


def _parts_form(
    kind: str, parts: dict[str, str], columns: list[str], guess: Mapping
) -> dict[str, str | None]:
    """A column for each part, None or "" where there is none; recognised ones are filled in."""
    chosen: dict[str, str | None] = {}
    for place, (part, title) in zip(st.columns(len(parts)), parts.items()):
        guessed = getattr(guess, part)
        start = columns.index(guessed) + 1 if guessed in columns else 0
        picked = place.selectbox(
            title, [_NONE, *columns], index=start, key=f"{kind}-{part}", help=_HELP.get(part)
        )
        nothing = None if part in _NEEDED else ""
        chosen[part] = nothing if picked == _NONE else picked
    return chosen
