"""``read``: from a path (or a benchmark's name) to a graph, its truth and the preflight report.

``peek`` is a first look, for the form in which the parts of a graph are assigned to columns.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

from gadcore.errors import InputError
from gadcore.graph import Graph
from gadcore.ingest import benchmark_graphs
from gadcore.ingest.archives import Files, PathLike, unpacked
from gadcore.ingest.assemble import Reading, assemble
from gadcore.ingest.edge_tables import join, resolve_edges
from gadcore.ingest.formats.file_format import FileFormat, Limits, explained
from gadcore.ingest.graph_parts import Document, Parts, Table, shown
from gadcore.ingest.mapping import Mapping, answer_columns, guess_ends, guess_id
from gadcore.ingest.node_tables import looks_like_answers, resolve_nodes
from gadcore.settings import DEMO_FOLDER, Settings

_EDGE_FILE = re.compile(r"edge|link|relation|transfer|transaction|payment|friend|follow|call", re.IGNORECASE)
_DRAWING = ("r", "g", "b", "x", "y", "size")  # what Gephi writes into GraphML beside the data
_ROWS = 500  # that a first look reads
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


def read_graph(path: PathLike, **options: Any) -> Graph:
    """The graph at a path; the options are those of ``read``."""
    return read(path, **options).graph


def read(
    path: PathLike,
    *,
    edges: PathLike | None = None,
    format: str | None = None,
    mapping: Mapping | None = None,
    robust: bool = False,
    name: str | None = None,
    settings: Settings | None = None,
) -> Reading:
    """Read a graph from a file, folder, archive, benchmark name or "demo"; InputError says what does not fit.

    ``path`` is a node table when ``edges`` names the edge table. ``format`` overrides recognition by name and
    content. ``mapping`` says which column plays which part (a folder's mapping.json fills its gaps).
    ``robust`` scales numbers between their 1st and 99th percentile, so that outliers do not squeeze the rest.
    """
    settings = settings or Settings.from_env()
    source = str(DEMO_FOLDER if str(path) == "demo" and not Path(path).exists() else path)
    benchmark = benchmark_graphs.resolve(source, settings) if edges is None else None
    with explained(Path(source).name):
        if benchmark is not None:
            parts = benchmark_graphs.read_benchmark(benchmark, settings)
            return assemble(parts, source=benchmark, name=name or benchmark, robust=robust)
        parts = read_parts(Path(source), edges, format, mapping or Mapping(), settings)
        shown_source = Path(source).name + (f" + {Path(edges).name}" if edges is not None else "")
        return assemble(parts, source=shown_source, name=name or _name(Path(source)), robust=robust)


def _name(path: Path) -> str:
    """File name without its endings, or the folder's name."""
    stem = path.resolve().name
    return stem.split(".")[0] or stem


def read_parts(
    path: Path,
    edges: PathLike | None,
    word: str | None,
    mapping: Mapping,
    settings: Settings,
    earlier: Graph | None = None,
) -> Parts:
    """Parts of the graph at a path; ``word`` names the format of a single file.

    ``earlier`` is a graph that the file adds to: edges may name its nodes, and its mapping is a hint.
    """
    limits = Limits(settings.max_unpacked)
    with unpacked(path, edges, settings.max_unpacked, word) as source:
        mapping = mapping.filled(source.mapping)
        if source.tabular:
            tables, edge_tables = read_tables(source.files, limits), read_tables(source.edge_files, limits)
            return _joined(tables, edge_tables, mapping, source.table_format, earlier)
        if len(source.every) > 1:
            names = shown([f.name for f in source.every])
            raise InputError(
                f"{path.name} holds several graphs or a mix of formats: {names}",
                "one graph file, or node and edge tables",
                "give the path of the one to read",
            )
        file, found = next(iter(source.every.items()))
        return _whole(found.read(file, limits), mapping, earlier)


def read_tables(files: Files, limits: Limits) -> list[Table]:
    """The tables in files of tabular formats."""
    return [cast(Table, found.read(file, limits)) for file, found in files.items()]


def _joined(
    tables: list[Table], edge_tables: list[Table], mapping: Mapping, name: str, earlier: Graph | None
) -> Parts:
    if earlier is not None:
        columns = [c for t in (*tables, *edge_tables) for c in t.columns]
        mapping = mapping.filled(Mapping.from_json(earlier.extra.get("mapping") or {}).within(columns))
    nodes, edges = sort_tables(tables, edge_tables, mapping, edges_needed=earlier is None)
    parts = join(nodes, edges, mapping, name, None if earlier is None else earlier.node_ids)
    used = {id(table) for table in (*nodes, *edges)}
    if unused := [t.file for t in (*tables, *edge_tables) if id(t) not in used]:
        parts.notes.append(f"Files not used: {shown(unused)}.")
    return parts


def _whole(found: Table | Document | Parts, mapping: Mapping, earlier: Graph | None) -> Parts:
    """Parts of a file that holds the whole graph."""
    if not isinstance(found, Document):
        return cast(Parts, found)
    # A document names its ids and ends itself; a mapping may still choose attributes, truth and weight.
    drawn = set(_DRAWING) <= set(found.nodes.columns) and mapping.attributes is None
    ignore = mapping.ignore + (_DRAWING if drawn else ())
    roles = replace(mapping, id="id", source="source", target="target", ignore=ignore)
    ids = None if earlier is None else earlier.node_ids
    return join([found.nodes], [found.edges], roles, found.format, ids)


def sort_tables(
    tables: list[Table], edge_tables: list[Table], mapping: Mapping, *, edges_needed: bool = True
) -> tuple[list[Table], list[Table]]:
    """Node tables and edge tables: told apart by ``edges=``, by their columns, by their file names."""
    if edge_tables:
        if all(_is_edge(t, mapping) for t in tables) and not any(_is_edge(t, mapping) for t in edge_tables):
            return edge_tables, tables  # given the wrong way round
        return tables, edge_tables
    edges = [t for t in tables if _is_edge(t, mapping)]
    rest = [t for t in tables if not _is_edge(t, mapping)]
    if not edges and len(rest) == 1:
        return ([], rest) if edges_needed else (rest, [])
    if not edges:
        named = [t for t in rest if _EDGE_FILE.search(t.file)]
        edges = named if 0 < len(named) < len(rest) else [max(rest, key=lambda t: len(t.frame))]
        rest = [t for t in rest if all(t is not e for e in edges)]
    return [t for t in rest if _is_node(t, mapping)] or rest[:1], edges


def _is_edge(table: Table, mapping: Mapping) -> bool:
    if mapping.source is not None and mapping.target is not None:
        return mapping.source in table.columns and mapping.target in table.columns
    return guess_ends(table.columns) is not None


def _is_node(table: Table, mapping: Mapping) -> bool:
    return mapping.id in table.columns if mapping.id is not None else guess_id(table.columns) is not None


def peek(path: PathLike, edges: PathLike | None = None, *, settings: Settings | None = None) -> Peek:
    """Look at the head of the tables at a path; InputError where ``read`` could not read them either."""
    settings = settings or Settings.from_env()
    benchmark = benchmark_graphs.resolve(str(path), settings) if edges is None else None
    if benchmark is not None:
        return Peek(format=f"benchmark {benchmark}")
    limits = Limits(settings.max_unpacked, _ROWS)
    with explained(Path(path).name), unpacked(Path(path), edges, settings.max_unpacked) as source:
        if not source.tabular:
            return _peek_document(*next(iter(source.files.items())), limits, source.mapping)
        heads, edge_heads = read_tables(source.files, limits), read_tables(source.edge_files, limits)
        nodes, edge_tables = sort_tables(heads, edge_heads, source.mapping)
        return _peek(nodes, edge_tables, source.mapping, source.table_format)


def _peek_document(path: Path, file_format: FileFormat, limits: Limits, given: Mapping) -> Peek:
    if file_format.previewed and path.stat().st_size <= _LARGE_DOCUMENT:
        found = file_format.read(path, limits)
        if isinstance(found, Document):
            own = replace(given, id="id", source="source", target="target")
            return _peek([found.nodes], [found.edges], own, found.format)
    return Peek(format=file_format.key)


def _peek(nodes: Sequence[Table], edges: Sequence[Table], given: Mapping, format_name: str) -> Peek:
    guess = given
    for tables, guessed in ((nodes, _node_guess), (edges, _edge_guess)):
        guess = guess.filled(guessed(tables[0], given)) if tables else guess
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
