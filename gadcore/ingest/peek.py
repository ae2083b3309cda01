"""A first look at a source for the form in which the parts of a graph are assigned to columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from gadcore.errors import InputError
from gadcore.ingest import benchmark_graphs
from gadcore.ingest.archives import unpacked
from gadcore.ingest.edge_tables import resolve_edges
from gadcore.ingest.formats.file_format import FileFormat, Limits, explained
from gadcore.ingest.graph_parts import Document, Table
from gadcore.ingest.mapping import Mapping, answer_columns
from gadcore.ingest.node_tables import looks_like_answers, resolve_nodes
from gadcore.ingest.read import PathLike, read_tables, sort_tables
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
    benchmark = benchmark_graphs.resolve(str(path), settings) if edges is None else None
    if benchmark is not None:
        return Peek(format=f"benchmark {benchmark}")
    limits = Limits(settings.max_unpacked, _ROWS)
    with explained(Path(path).name), unpacked(Path(path), edges, settings.max_unpacked) as source:
        if not source.tabular:
            return _document(*next(iter(source.files.items())), limits, source.mapping)
        heads, edge_heads = read_tables(source.files, limits), read_tables(source.edge_files, limits)
        found = sort_tables(heads, edge_heads, source.mapping)
        return _peek(found.nodes, found.edges, source.mapping, source.table_format)


def _document(path: Path, file_format: FileFormat, limits: Limits, given: Mapping) -> Peek:
    if file_format.previewed and path.stat().st_size <= _LARGE_DOCUMENT:
        found = file_format.read(path, limits)
        if isinstance(found, Document):
            own = replace(given, id="id", source="source", target="target")
            return _peek([found.nodes], [found.edges], own, found.format)
    return Peek(format=file_format.key)


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
