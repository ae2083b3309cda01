"""``read``: from a path (or a benchmark's name) to a graph, its truth and the preflight report."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

from gadcore.errors import InputError
from gadcore.graph import Graph
from gadcore.ingest import benchmark_graphs
from gadcore.ingest.archives import Files, unpacked
from gadcore.ingest.assemble import Reading, assemble
from gadcore.ingest.edge_tables import join
from gadcore.ingest.formats.file_format import Limits, explained
from gadcore.ingest.graph_parts import Document, Parts, Table, shown
from gadcore.ingest.mapping import Mapping, guess_ends, guess_id
from gadcore.ingest.node_tables import Ids
from gadcore.settings import DEMO_FOLDER, Settings

_EDGE_FILE = re.compile(r"edge|link|relation|transfer|transaction|payment|friend|follow|call", re.IGNORECASE)
_DRAWING = ("r", "g", "b", "x", "y", "size")  # what Gephi writes into GraphML beside the data

PathLike = str | Path


@dataclass(frozen=True)
class Tables:
    """Node and edge tables found at a path."""

    nodes: list[Table]
    edges: list[Table]
    unused: list[str]


@dataclass(frozen=True)
class Earlier:
    """A graph that the tables add to: its ids, and its mapping as a hint."""

    ids: Ids
    mapping: Mapping


def read_graph(
    path: PathLike,
    *,
    edges: PathLike | None = None,
    format: str | None = None,
    mapping: Mapping | None = None,
    robust: bool = False,
    name: str | None = None,
    settings: Settings | None = None,
) -> Graph:
    """The graph at a path: see ``read``."""
    return read(
        path, edges=edges, format=format, mapping=mapping, robust=robust, name=name, settings=settings
    ).graph


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
    earlier: Earlier | None = None,
) -> Parts:
    """Parts of the graph at a path; ``word`` names the format of a single file."""
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
    tables: list[Table], edge_tables: list[Table], mapping: Mapping, name: str, earlier: Earlier | None
) -> Parts:
    if earlier is not None:
        columns = [c for t in (*tables, *edge_tables) for c in t.columns]
        mapping = mapping.filled(earlier.mapping.within(columns))
    found = sort_tables(tables, edge_tables, mapping, edges_needed=earlier is None)
    parts = join(found.nodes, found.edges, mapping, name, None if earlier is None else earlier.ids)
    if found.unused:
        parts.notes.append(f"Files not used: {shown(found.unused)}.")
    return parts


def _whole(found: Table | Document | Parts, mapping: Mapping, earlier: Earlier | None) -> Parts:
    """Parts of a file that holds the whole graph."""
    if not isinstance(found, Document):
        return cast(Parts, found)
    # A document names its ids and ends itself; a mapping may still choose attributes, truth and weight.
    drawn = set(_DRAWING) <= set(found.nodes.columns) and mapping.attributes is None
    ignore = mapping.ignore + (_DRAWING if drawn else ())
    roles = replace(mapping, id="id", source="source", target="target", ignore=ignore)
    return join([found.nodes], [found.edges], roles, found.format, None if earlier is None else earlier.ids)


def sort_tables(
    tables: list[Table], edge_tables: list[Table], mapping: Mapping, *, edges_needed: bool = True
) -> Tables:
    """Tell node tables from edge tables: by ``edges=``, by their columns, by their file names."""
    if edge_tables:
        if all(_is_edge(t, mapping) for t in tables) and not any(_is_edge(t, mapping) for t in edge_tables):
            tables, edge_tables = edge_tables, tables  # given the wrong way round
        return Tables(tables, edge_tables, [])
    edges = [t for t in tables if _is_edge(t, mapping)]
    rest = [t for t in tables if not _is_edge(t, mapping)]
    if not edges and len(rest) == 1:
        return Tables([], rest, []) if edges_needed else Tables(rest, [], [])
    if not edges:
        named = [t for t in rest if _EDGE_FILE.search(t.file)]
        edges = named if 0 < len(named) < len(rest) else [max(rest, key=lambda t: len(t.frame))]
        rest = [t for t in rest if all(t is not e for e in edges)]
    nodes = [t for t in rest if _is_node(t, mapping)] or rest[:1]
    return Tables(nodes, edges, [t.file for t in rest if all(t is not n for n in nodes)])


def _is_edge(table: Table, mapping: Mapping) -> bool:
    if mapping.source is not None and mapping.target is not None:
        return mapping.source in table.columns and mapping.target in table.columns
    return guess_ends(table.columns) is not None


def _is_node(table: Table, mapping: Mapping) -> bool:
    return mapping.id in table.columns if mapping.id is not None else guess_id(table.columns) is not None
