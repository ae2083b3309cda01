"""A later version of a graph from files: added to what there is, or in its place."""

from __future__ import annotations

from dataclasses import replace

from gadcore.errors import UsageError
from gadcore.graph import Graph, Truth
from gadcore.ingest.archives import PathLike
from gadcore.ingest.assemble import Reading
from gadcore.ingest.mapping import Mapping
from gadcore.ingest.read import peek, read
from gadcore.ingest.together import read_together
from gadcore.settings import Settings

APPEND, REPLACE = "append", "replace"
WAYS = {APPEND: "add to what there is", REPLACE: "put it in the place of all there is"}


def read_update(
    graph: Graph,
    truth: Truth | None,
    path: PathLike,
    edges: PathLike | None = None,
    *,
    way: str = APPEND,
    mapping: Mapping | None = None,
    settings: Settings | None = None,
) -> Reading:
    """The next version of a graph; ``way`` is one of WAYS. Columns play the parts that they had."""
    settings = settings or Settings.from_env()
    if way not in WAYS:
        raise UsageError(f"An update by {way!r}. Expected one of: {', '.join(WAYS)}.")
    if way == APPEND:
        return read_together(graph, truth, path, edges, mapping=mapping, settings=settings)
    found = peek(path, edges, settings=settings)
    kept = Mapping.from_json(graph.extra.get("mapping") or {})
    hint = kept.within([*found.node_columns, *found.edge_columns])
    chosen = (mapping or Mapping()).filled(hint)
    robust = bool(graph.extra.get("robust"))
    reading = read(path, edges=edges, mapping=chosen, robust=robust, name=graph.name, settings=settings)
    return replace(reading, graph=replace(reading.graph, name=graph.name))
