"""A first look at a source for the form in which the parts of a graph are assigned to columns."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from gadcore.errors import InputError
from gadcore.ingest import catalog
from gadcore.ingest.archives import Unpacker
from gadcore.ingest.documents import document_tables
from gadcore.ingest.edges import resolve_edges
from gadcore.ingest.mapping import Mapping, answer_columns, load_mapping
from gadcore.ingest.nodes import looks_like_answers, resolve_nodes
from gadcore.ingest.parts import Table
from gadcore.ingest.read import PathLike, sort_tables, table_format
from gadcore.ingest.sniff import TABLE, sniff
from gadcore.ingest.tables import read_table
from gadcore.settings import Settings

_ROWS = 500
_LARGE_DOCUMENT = 20_000_000  # bytes; a document cannot be read in part, a large one is not looked into


@dataclass(frozen=True)
class Peek:
    """Columns of the node and edge tables, the mapping as recognised, and the format.

    Both lists are empty for formats that name their parts themselves.
    """

    node_columns: list[str] = field(default_factory=list)
    edge_columns: list[str] = field(default_factory=list)
    guess: Mapping = field(default_factory=Mapping)
    format: str = ""


def peek(path: PathLike, edges: PathLike | None = None, *, settings: Settings | None = None) -> Peek:
    """Look at the head of the tables at a path; InputError where ``read`` could not read them either."""
    settings = settings or Settings.from_env()
    if edges is None and not Path(path).exists():
        benchmark = catalog.resolve(str(path), settings)
        if benchmark is not None:
            return Peek(format=f"benchmark {benchmark}")
    with tempfile.TemporaryDirectory(prefix="ringfence-") as scratch:
        unpacker = Unpacker(Path(scratch), settings.max_unpacked)
        files = unpacker.files(Path(path))
        edge_files = unpacker.files(Path(edges)) if edges is not None else []
        given = load_mapping(unpacker.mapping_files[0]) if unpacker.mapping_files else Mapping()
        if all(sniff(f) == TABLE for f in [*files, *edge_files]):
            heads = [read_table(f, rows=_ROWS) for f in files]
            found = sort_tables(heads, [read_table(f, rows=_ROWS) for f in edge_files], given)
            return _peek(found.nodes, found.edges, given, table_format([*files, *edge_files]))
        return _document(files[0], given)


def _document(path: Path, given: Mapping) -> Peek:
    kind = sniff(path)
    if kind not in ("graphml", "gexf", "json") or path.stat().st_size > _LARGE_DOCUMENT:
        return Peek(format=kind)
    nodes, edges, name = document_tables(path, kind)
    own = replace(given, id="id", source="source", target="target")
    return _peek([nodes], [edges], own, name)


def _peek(nodes: Sequence[Table], edges: Sequence[Table], given: Mapping, format_name: str) -> Peek:
    guess = given
    if nodes:
        guess = guess.filled(_node_guess(nodes[0], given))
    if edges:
        guess = guess.filled(_edge_guess(edges[0], given))
    return Peek(_columns(nodes), _columns(edges), guess, format_name)


def _node_guess(table: Table, given: Mapping) -> Mapping:
    try:
        guess = resolve_nodes(table, given)
    except InputError:
        return given  # no id by name or content: the form asks for it
    hidden = [c for c in answer_columns(table.columns) if c != guess.truth]
    if guess.label is not None and looks_like_answers(table.frame[guess.label]):
        hidden.append(guess.label)
        guess = replace(guess, label=None)
    return replace(guess, ignore=tuple(dict.fromkeys([*guess.ignore, *hidden])))


def _edge_guess(table: Table, given: Mapping) -> Mapping:
    try:
        return resolve_edges(table, given, None, [])
    except InputError:
        return Mapping()  # no column is named like an edge end: the form asks for them


def _columns(tables: Sequence[Table]) -> list[str]:
    return list(dict.fromkeys(c for t in tables for c in t.columns))
