"""Graphs in JSON: networkx node-link and Cytoscape.js."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from gadcore.errors import InputError
from gadcore.ingest.formats.documents import Record
from gadcore.ingest.formats.file_format import FileFormat, Limits
from gadcore.ingest.formats.table import record_table
from gadcore.ingest.graph_parts import Document, shown
from gadcore.ingest.texts import decoded

_ENDS = ("source", "target")


def read_json(path: Path, limits: Limits) -> Document:
    """The document in a JSON file."""
    try:
        data = json.loads(decoded(path))
    except (ValueError, RecursionError) as error:
        raise InputError(
            f"{path.name} is not readable JSON ({error})", "a complete JSON document", "export it again"
        ) from error
    return _document(data, path.name, limits)


def _document(data: Any, file: str, limits: Limits) -> Document:
    if isinstance(data, dict) and "elements" in data:
        data = data["elements"]
    if isinstance(data, dict) and isinstance(data.get("nodes"), list):
        nodes, edges = data["nodes"], data.get("edges") or []
        if isinstance(edges, list) and _is_cytoscape(nodes or edges):
            return _cytoscape(nodes, edges, file, limits)
        links = data.get("links", data.get("edges"))
        if isinstance(links, list):
            return _node_link(nodes, links, file, limits)
    if isinstance(data, list) and _is_cytoscape(data):
        edges = [e for e in data if _is_edge(e)]
        return _cytoscape([e for e in data if not _is_edge(e)], edges, file, limits)
    found = f"an object with {shown(sorted(data))}" if isinstance(data, dict) else f"a {type(data).__name__}"
    raise InputError(
        f"{file} holds {found}",
        "'nodes' with 'links' or 'edges' (networkx node-link), or 'elements' (Cytoscape.js)",
        "export with networkx.node_link_data or from Cytoscape",
    )


def _is_cytoscape(items: Iterable[Any]) -> bool:
    items = list(items)
    return bool(items) and all(isinstance(e, dict) and isinstance(e.get("data"), dict) for e in items)


def _is_edge(element: Any) -> bool:
    return element.get("group") == "edges" or "source" in element["data"]


def _cytoscape(nodes: list[Any], edges: list[Any], file: str, limits: Limits) -> Document:
    inner = [[_inner(e, file) for e in elements] for elements in (nodes, edges)]
    return _node_link(inner[0], inner[1], file, limits, "Cytoscape JSON")


def _inner(element: Any, file: str) -> Any:
    """The data of a Cytoscape element, without what networkx repeats."""
    if not isinstance(element, dict) or not isinstance(element.get("data"), dict):
        raise InputError(f"{file} has an element without 'data': {str(element)[:60]}", "{'data': {…}}")
    data = dict(element["data"])
    if str(data.get("value")) == str(data.get("id")):
        data.pop("value", None)
    if "source" not in data and str(data.get("name")) == str(data.get("id")):
        data.pop("name", None)
    return data


def _node_link(
    nodes: list[Any], links: list[Any], file: str, limits: Limits, name: str = "node-link JSON"
) -> Document:
    found = [_record(node, ("id",), file, "node", k) for k, node in enumerate(nodes)]
    ids = [json_id(record["id"]) for record in found]
    ends = [_record(link, _ENDS, file, "edge", k) for k, link in enumerate(links)]
    by_row = _by_row_number(ends, set(ids), len(nodes))
    for record in ends:
        record |= {key: ids[record[key]] if by_row else json_id(record[key]) for key in _ENDS}
    edges = [{k: v for k, v in record.items() if k not in ("id", "key", "group")} for record in ends]
    named = record_table([r | {"id": node} for r, node in zip(found, ids)], file, limits, "node", ("id",))
    return Document(named, record_table(edges, file, limits, "edge", _ENDS), name)


def _by_row_number(ends: list[Record], ids: set[str], n: int) -> bool:
    """Older d3 files name ends by their place in the node list: whole numbers that are no ids."""
    values = [record[key] for record in ends for key in _ENDS]
    numbers = all(isinstance(v, int) and not isinstance(v, bool) and 0 <= v < n for v in values)
    return bool(values) and numbers and not any(str(v) in ids for v in values)


def _record(item: Any, keys: tuple[str, ...], file: str, unit: str, k: int) -> Record:
    if not isinstance(item, dict):
        raise InputError(f"{file}, {unit} {k + 1} is {str(item)[:60]!r}", "an object with its fields")
    if keys == ("id",) and "id" not in item and "name" in item:
        item = {**item, "id": item["name"]}
    missing = [key for key in keys if item.get(key) is None]
    if missing:
        raise InputError(
            f"{file}, {unit} {k + 1} has no {shown(missing)}", f"{', '.join(keys)} in every {unit}"
        )
    return dict(item)


def json_id(value: Any) -> str:
    """An id as text: texts as they are, numbers as JSON writes them, lists (tuples) as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


FORMAT = FileFormat(
    "json",
    "JSON (node-link or Cytoscape.js)",
    (".json", ".cyjs"),
    matches=lambda head: head.text.startswith((b"{", b"[")),
    read=read_json,
    recognised="networkx `node_link_data` (`links` or `edges`), Cytoscape.js `elements`",
    previewed=True,
    aliases=("node-link", "cytoscape"),
)
