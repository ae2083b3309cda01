"""``read``: from a path (or a benchmark's name) to a graph, its truth and the preflight report.

``peek`` is a first look, for the form in which the parts of a graph are assigned to columns.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import pandas as pd

from gadcore.derive import DerivedColumn, offered
from gadcore.errors import InputError
from gadcore.graph import Graph
from gadcore.ingest import benchmark_graphs
from gadcore.ingest.archives import Files, PathLike, unpacked
from gadcore.ingest.assemble import Reading, assemble
from gadcore.ingest.edge_tables import join, resolve_edges, take_edge_columns
from gadcore.ingest.formats.file_format import FileFormat, Limits, explained
from gadcore.ingest.graph_parts import Document, Parts, Table, shown
from gadcore.ingest.link_columns import ROLES, LinkTable, link_rows
from gadcore.ingest.mapping import Mapping
from gadcore.ingest.names import guess_ends, guess_id
from gadcore.ingest.node_tables import answers_among, id_values, looks_like_answers, resolve_nodes
from gadcore.settings import DEMO_FOLDER, Settings

_EDGE_FILE = re.compile(r"edge|link|relation|transfer|transaction|payment|friend|follow|call", re.IGNORECASE)
_DRAWING = ("r", "g", "b", "x", "y", "size")  # what Gephi writes into GraphML beside the data
_NO_EDGES = (
    "Without an edge table no node is linked with another. To read its rows as edges, name source and target."
)
_ROWS = 500  # that a first look reads
_LARGE_DOCUMENT = 20_000_000  # bytes; a document cannot be read in part, a large one is not looked into


@dataclass(frozen=True)
class Peek:
    """Columns of the node and edge tables, the mapping as recognised, and the format.

    All lists are empty for formats that name their parts themselves.
    """

    node_columns: list[str] = field(default_factory=list)
    edge_columns: list[str] = field(default_factory=list)
    guess: Mapping = field(default_factory=Mapping)
    format: str = ""
    told: list[str] = field(default_factory=list)  # how the columns of the links would be read
    derived: list[DerivedColumn] = field(default_factory=list)  # what the links would give

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Peek:
        """The Peek that ``as_json`` gave."""
        derived = [DerivedColumn(**column) for column in data["derived"]]
        return cls(**{**data, "guess": Mapping.from_json(data["guess"]), "derived": derived})


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
    *,
    known_only: bool = False,
) -> Parts:
    """Parts of the graph at a path; ``word`` names the format of a single file.

    ``earlier`` is a graph that the file adds to: edges may name its nodes, and its mapping is a hint.
    With ``known_only`` a table of links alone brings no nodes that its node table does not have.
    """
    limits = Limits(settings.max_unpacked, settings.max_columns)
    with unpacked(path, edges, settings.max_unpacked, word) as source:
        mapping = mapping.filled(source.mapping)
        if source.tabular:
            tables, edge_tables = read_tables(source.files, limits), read_tables(source.edge_files, limits)
            parts = _joined(tables, edge_tables, mapping, source.table_format, earlier, known_only)
            return _naming(parts, source.passed_over)
        if len(source.every) > 1:
            names = shown([f.name for f in source.every])
            raise InputError(
                f"{path.name} holds several graphs or a mix of formats: {names}",
                "one graph file, or node and edge tables",
                "give the path of the one to read",
            )
        file, found = next(iter(source.every.items()))
        return _naming(_whole(found.read(file, limits), mapping, earlier), source.passed_over)


def _naming(parts: Parts, passed_over: Sequence[str]) -> Parts:
    """Parts whose report names the files beside them that were not looked at."""
    if passed_over:
        parts.notes.append(f"Files that are no graph or table, and were not read: {shown(passed_over)}.")
    return parts


def read_tables(files: Files, limits: Limits) -> list[Table]:
    """The tables in files of tabular formats."""
    return [cast(Table, found.read(file, limits)) for file, found in files.items()]


def _joined(
    tables: list[Table],
    edge_tables: list[Table],
    mapping: Mapping,
    name: str,
    earlier: Graph | None,
    known_only: bool,
) -> Parts:
    mapping = _as_earlier(mapping, earlier, [c for t in (*tables, *edge_tables) for c in t.columns])
    nodes, edges = sort_tables(tables, edge_tables, mapping, edges_needed=earlier is None)
    parts = join(nodes, edges, mapping, name, earlier, known_only=known_only)
    parts.notes += [table.note for table in (*nodes, *edges) if table.note]
    if not edges and earlier is None:
        parts.notes.append(f"{nodes[0].file} is read as a table of nodes. {_NO_EDGES}")
    used = {id(table) for table in (*nodes, *edges)}
    if unused := [t.file for t in (*tables, *edge_tables) if id(t) not in used]:
        parts.notes.append(f"Files not used: {shown(unused)}.")
    return parts


def _as_earlier(mapping: Mapping, earlier: Graph | None, columns: Sequence[str]) -> Mapping:
    """The mapping with its gaps filled as in the graph that the file adds to; a part it lacks stays out."""
    if earlier is None:
        return mapping
    kept = Mapping.from_json(earlier.extra.get("mapping") or {})
    lacking: dict[str, Any] = {
        part: "" for part in ROLES if earlier.links is not None and getattr(kept, part) is None
    }
    return mapping.filled(replace(kept.within(columns), **lacking))


def _whole(found: Table | Document | Parts, mapping: Mapping, earlier: Graph | None) -> Parts:
    """Parts of a file that holds the whole graph."""
    if not isinstance(found, Document):
        return take_edge_columns(cast(Parts, found), mapping)
    # A document names its ids and ends itself; a mapping may still choose attributes, truth and weight.
    mapping = _as_earlier(mapping, earlier, [*found.nodes.columns, *found.edges.columns])
    drawn = set(_DRAWING) <= set(found.nodes.columns) and mapping.attributes is None
    ignore = mapping.ignore + (_DRAWING if drawn else ())
    roles = replace(mapping, id="id", source="source", target="target", ignore=ignore)
    return join([found.nodes], [found.edges], roles, found.format, earlier)


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
        return ([], rest) if edges_needed and not _lists_nodes(rest[0], mapping) else (rest, [])
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


def _lists_nodes(table: Table, mapping: Mapping) -> bool:
    """Whether a table alone has a node in each row: an id that never recurs, and no column that names ids."""
    column = mapping.id or guess_id(table.columns)
    if column not in table.columns or mapping.source is not None:
        return False
    ids = set(table.frame[column])
    others = (table.frame[c] for c in table.columns if c != column)
    return len(ids) == len(table.frame) > 0 and not any(o.isin(ids).mean() > 0.5 for o in others)


def peek(path: PathLike, edges: PathLike | None = None, *, settings: Settings | None = None) -> Peek:
    """Look at the head of the tables at a path; InputError where ``read`` could not read them either."""
    settings = settings or Settings.from_env()
    benchmark = benchmark_graphs.resolve(str(path), settings) if edges is None else None
    if benchmark is not None:
        return Peek(format=f"benchmark {benchmark}")
    limits = Limits(settings.max_unpacked, settings.max_columns, _ROWS)
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
    told, derived = _peek_links(edges, guess) if edges and guess.source and guess.target else ([], [])
    return Peek(_columns(nodes), _columns(edges), guess, format_name, told, derived)


def _peek_links(edges: Sequence[Table], guess: Mapping) -> tuple[list[str], list[DerivedColumn]]:
    """How the columns of the first edge table are read, and what can be derived, by its first rows."""
    table = edges[0]
    ends = np.concatenate([id_values(table, str(c), check=False) for c in (guess.source, guess.target)])
    codes, nodes = pd.factorize(ends)
    n = len(table.frame)
    hidden = [*guess.ignore, *answers_among(table, table.columns)]
    found = LinkTable(table, guess, np.arange(n), codes[:n], codes[n:], hidden)
    read = link_rows([found], len(nodes), [])
    return ([], []) if read is None else (read.columns, offered(read.links.meaning))


def _node_guess(table: Table, given: Mapping) -> Mapping:
    try:
        guess = resolve_nodes(table, given)
    except InputError:
        return given  # no id by name or content: the form asks for it
    hidden = [c for c in answers_among(table, table.columns) if c not in (guess.truth, guess.label)]
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
