"""``read``: from a path (or a benchmark's name) to a graph, its truth and the preflight report."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from gadcore.errors import InputError
from gadcore.graph import Graph
from gadcore.ingest import catalog
from gadcore.ingest.archives import Unpacker
from gadcore.ingest.arrays import read_npz
from gadcore.ingest.build import Reading, build
from gadcore.ingest.documents import read_document
from gadcore.ingest.join import join
from gadcore.ingest.mapping import Mapping, guess_ends, guess_id, load_mapping
from gadcore.ingest.matlab import read_mat
from gadcore.ingest.matrix_market import read_mtx
from gadcore.ingest.nodes import Ids
from gadcore.ingest.parts import Parts, Table, shown
from gadcore.ingest.sniff import TABLE, sniff
from gadcore.ingest.tables import read_table
from gadcore.ingest.torch_file import read_pt
from gadcore.settings import DEMO_FOLDER, Settings

_EDGE_FILE = re.compile(r"edge|link|relation|transfer|transaction|payment|friend|follow|call", re.IGNORECASE)

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
    benchmark = catalog.resolve(source, settings) if edges is None and not Path(source).exists() else None
    if benchmark is not None:
        parts = catalog.read_benchmark(benchmark, settings)
        return build(parts, source=benchmark, name=name or benchmark, robust=robust)
    with tempfile.TemporaryDirectory(prefix="ringfence-") as scratch:
        parts = read_parts(Path(source), edges, format, mapping or Mapping(), settings, Path(scratch))
    shown_source = Path(source).name + (f" + {Path(edges).name}" if edges is not None else "")
    return build(parts, source=shown_source, name=name or default_name(Path(source)), robust=robust)


def default_name(path: Path) -> str:
    """File name without its endings, or the folder's name."""
    stem = path.resolve().name
    return stem.split(".")[0] or stem


def read_parts(
    path: Path,
    edges: PathLike | None,
    format_name: str | None,
    mapping: Mapping,
    settings: Settings,
    scratch: Path,
    earlier: Earlier | None = None,
) -> Parts:
    """Parts of the graph at a path; archives are unpacked into ``scratch``."""
    unpacker = Unpacker(scratch, settings.max_unpacked)
    files = unpacker.files(path)
    edge_files = unpacker.files(Path(edges)) if edges is not None else []
    if unpacker.mapping_files:
        mapping = mapping.filled(load_mapping(unpacker.mapping_files[0]))
    kinds = {file: sniff(file, format_name if len(files) == 1 else None) for file in [*files, *edge_files]}
    whole = [file for file, kind in kinds.items() if kind != TABLE]
    if whole:
        if len(kinds) > 1:
            raise InputError(
                f"{path.name} holds several graphs or a mix of formats: {shown([f.name for f in kinds])}",
                "one graph file, or node and edge tables",
                "give the path of the one to read",
            )
        return _whole(whole[0], kinds[whole[0]], mapping, settings, earlier)
    return _tables(files, edge_files, mapping, settings, earlier)


def _tables(
    files: list[Path],
    edge_files: list[Path],
    mapping: Mapping,
    settings: Settings,
    earlier: Earlier | None,
) -> Parts:
    tables = [read_table(f, max_bytes=settings.max_unpacked) for f in files]
    edge_tables = [read_table(f, max_bytes=settings.max_unpacked) for f in edge_files]
    if earlier is not None:
        mapping = mapping.filled(
            earlier.mapping.within(c for t in [*tables, *edge_tables] for c in t.columns)
        )
    found = sort_tables(tables, edge_tables, mapping, edges_needed=earlier is None)
    ids = None if earlier is None else earlier.ids
    parts = join(found.nodes, found.edges, mapping, table_format([*files, *edge_files]), ids)
    if found.unused:
        parts.notes.append(f"Files not used: {shown(found.unused)}.")
    return parts


def table_format(files: Sequence[Path]) -> str:
    """Name of a format of tables, by the endings of their files."""
    endings = sorted({f.suffix.lower().lstrip(".") or "text" for f in files})
    return "/".join(endings) + (" tables" if len(files) > 1 else " table")


def _whole(path: Path, kind: str, mapping: Mapping, settings: Settings, earlier: Earlier | None) -> Parts:
    """Parts of a file that holds the whole graph."""
    if kind in ("graphml", "gexf", "json"):
        return read_document(path, kind, mapping, None if earlier is None else earlier.ids)
    readers = {"npz": read_npz, "mat": read_mat, "mtx": read_mtx, "pt": read_pt}
    return readers[kind](path, settings.max_unpacked)


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
