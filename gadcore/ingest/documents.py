"""Graph documents (GraphML, GEXF, node-link JSON, Cytoscape.js JSON) as a node table and an edge table."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from gadcore.errors import InputError
from gadcore.ingest.join import join
from gadcore.ingest.mapping import Mapping
from gadcore.ingest.markup import Element, stream
from gadcore.ingest.nodes import Ids
from gadcore.ingest.parts import Parts, Table, shown
from gadcore.ingest.tables import decoded, record_frame

Record = dict[str, Any]

_LISTS = ("liststring", "listboolean", "listinteger", "listlong", "listfloat", "listdouble")
_DRAWING = ("r", "g", "b", "x", "y", "size")  # what Gephi writes into GraphML beside the data


def read_document(path: Path, kind: str, mapping: Mapping, earlier: Ids | None = None) -> Parts:
    """Parts of a graphml, gexf or json document; ``earlier``: see ``join``."""
    nodes, edges, name = document_tables(path, kind)
    return join([nodes], [edges], _roles(mapping, nodes), name, earlier)


def document_tables(path: Path, kind: str) -> tuple[Table, Table, str]:
    """(node table, edge table, name of the format)."""
    if kind == "json":
        return _json_tables(path)
    reader = _GraphML(path) if kind == "graphml" else _Gexf(path)
    return reader.nodes.table(), reader.edges.table(), "GraphML" if kind == "graphml" else "GEXF"


def _roles(mapping: Mapping, nodes: Table) -> Mapping:
    """A document names its ids and ends itself; a mapping may still choose attributes, truth, weight."""
    drawn = set(_DRAWING) <= set(nodes.columns) and mapping.attributes is None
    ignore = mapping.ignore + (_DRAWING if drawn else ())
    return replace(mapping, id="id", source="source", target="target", ignore=ignore)


class _Rows:
    """Records of one kind with the line where each was found."""

    def __init__(self, file: str, unit: str, keys: tuple[str, ...]) -> None:
        self.file, self.unit, self.keys = file, unit, keys
        self.records: list[Record] = []
        self.lines: list[int] = []
        self.kinds: dict[str, str] = {}

    def add(self, record: Record, line: int | None = None) -> None:
        self.records.append(record)
        self.lines.append(len(self.records) if line is None else line)

    def table(self) -> Table:
        frame = record_frame(self.records, self.keys)
        numbers = np.array(self.lines, dtype=np.int64)
        kinds = {c: k for c, k in self.kinds.items() if c in frame.columns}
        return Table(
            frame, self.file, self.unit, lambda: numbers, optional_weight=True, kinds=kinds,
            separators=dict.fromkeys(kinds, "|"),
        )  # fmt: skip


def _need(element: Element, key: str, file: str) -> str:
    try:
        return element.attributes[key]
    except KeyError:
        raise InputError(
            f"{file}, line {element.line}: <{element.tag}> has no attribute {key!r}",
            f"<{element.tag} {key}=…>",
        ) from None


class _GraphML:
    """Nodes and edges of a GraphML file; nested graphs are flattened, defaults of keys filled in."""

    def __init__(self, path: Path) -> None:
        self.file = path.name
        self.nodes = _Rows(path.name, "line", ("id",))
        self.edges = _Rows(path.name, "line", ("source", "target"))
        self.names: dict[str, str] = {}
        self.defaults: dict[str, Record] = {"node": {}, "edge": {}}
        stream(path, {"key", "node", "edge", "hyperedge"}, self._element)

    def _element(self, element: Element) -> None:
        if element.tag == "key":
            self._key(element)
        elif element.tag == "node":
            node = _need(element, "id", self.file)
            self.nodes.add({**self.defaults["node"], **self._data(element, "id"), "id": node}, element.line)
        elif element.tag == "edge":
            ends = {k: _need(element, k, self.file) for k in ("source", "target")}
            data = {**self.defaults["edge"], **self._data(element, "source", "target")}
            self.edges.add({**data, **ends}, element.line)
        else:
            raise InputError(
                f"{self.file}, line {element.line}: a hyperedge", "edges with two ends", "split it into pairs"
            )

    def _key(self, element: Element) -> None:
        key = _need(element, "id", self.file)
        self.names[key] = element.attributes.get("attr.name", key)
        default = next((c.text for c in element.children if c.tag == "default"), None)
        scope = element.attributes.get("for", "all")
        if default is not None:
            for part in ("node", "edge"):
                if scope in (part, "all"):
                    self.defaults[part][self.names[key]] = default

    def _data(self, element: Element, *taken: str) -> Record:
        record: Record = {}
        for child in element.children:
            if child.tag != "data" or "key" not in child.attributes:
                continue
            name = self.names.get(child.attributes["key"], child.attributes["key"])
            if child.children:  # yEd draws its nodes in here; the label is the one part to keep
                labels = [e.text.strip() for e in child.find_all("NodeLabel") if e.text.strip()]
                if labels:
                    record["label"] = labels[0]
                continue
            record[f"{name} (attribute)" if name in taken else name] = child.text
        return record


class _Gexf:
    """Nodes and edges of a GEXF file; attribute titles and defaults come from its <attributes>."""

    def __init__(self, path: Path) -> None:
        self.file = path.name
        self.nodes = _Rows(path.name, "line", ("id",))
        self.edges = _Rows(path.name, "line", ("source", "target"))
        self.titles: dict[tuple[str, str], str] = {}
        self.defaults: dict[str, Record] = {"node": {}, "edge": {}}
        stream(path, {"attributes", "node", "edge"}, self._element)

    def _element(self, element: Element) -> None:
        if element.tag == "attributes":
            self._declared(element)
        elif element.tag == "node":
            self._node(element)
        elif element.tag == "edge":
            ends = {k: _need(element, k, self.file) for k in ("source", "target")}
            own = {k: element.attributes[k] for k in ("weight",) if k in element.attributes}
            self.edges.add({**self._values(element, "edge", "source", "target"), **own, **ends}, element.line)

    def _declared(self, element: Element) -> None:
        part = element.attributes.get("class", "node")
        rows = self.nodes if part == "node" else self.edges
        for attribute in element.children:
            if attribute.tag != "attribute":
                continue
            key = _need(attribute, "id", self.file)
            title = attribute.attributes.get("title", key)
            self.titles[part, key] = title
            if attribute.attributes.get("type") in _LISTS:
                rows.kinds[title] = "tags"
            default = next((c.text for c in attribute.children if c.tag == "default"), None)
            if default is not None and part in self.defaults:
                self.defaults[part][title] = default

    def _node(self, element: Element) -> None:
        record = self._values(element, "node", "id")
        node = _need(element, "id", self.file)
        label = element.attributes.get("label")
        if label is not None and label != node:
            record.setdefault("label", label)
        self.nodes.add({**record, "id": node}, element.line)

    def _values(self, element: Element, part: str, *taken: str) -> Record:
        record = dict(self.defaults[part])
        for holder in element.children:
            for value in holder.children if holder.tag == "attvalues" else ():
                key = value.attributes.get("for", value.attributes.get("id", ""))
                name = self.titles.get((part, key), key)
                record[f"{name} (attribute)" if name in taken else name] = value.attributes.get("value")
        return record


def _json_tables(path: Path) -> tuple[Table, Table, str]:
    try:
        data = json.loads(decoded(path))
    except (ValueError, RecursionError) as error:
        raise InputError(
            f"{path.name} is not readable JSON ({error})", "a complete JSON document", "export it again"
        ) from error
    if isinstance(data, dict) and "elements" in data:
        data = data["elements"]
    if isinstance(data, dict) and isinstance(data.get("nodes"), list):
        if _is_cytoscape(data["nodes"]) or (not data["nodes"] and _is_cytoscape(data.get("edges") or ())):
            return *_cytoscape(data["nodes"], data.get("edges") or [], path.name), "Cytoscape JSON"
        links = data.get("links", data.get("edges"))
        if isinstance(links, list):
            return *_node_link(data["nodes"], links, path.name), "node-link JSON"
    if isinstance(data, list) and data and _is_cytoscape(data):
        edges = [e for e in data if e.get("group") == "edges" or "source" in e["data"]]
        nodes = [e for e in data if not (e.get("group") == "edges" or "source" in e["data"])]
        return *_cytoscape(nodes, edges, path.name), "Cytoscape JSON"
    found = f"an object with {shown(sorted(data))}" if isinstance(data, dict) else f"a {type(data).__name__}"
    raise InputError(
        f"{path.name} holds {found}",
        "'nodes' with 'links' or 'edges' (networkx node-link), or 'elements' (Cytoscape.js)",
        "export with networkx.node_link_data or from Cytoscape",
    )


def _is_cytoscape(items: Iterable[Any]) -> bool:
    items = list(items)
    return bool(items) and all(isinstance(e, dict) and isinstance(e.get("data"), dict) for e in items)


def _cytoscape(nodes: list[Any], edges: list[Any], file: str) -> tuple[Table, Table]:
    return _node_link([_inner(n, file) for n in nodes], [_inner(e, file) for e in edges], file)


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


def _node_link(nodes: list[Any], links: list[Any], file: str) -> tuple[Table, Table]:
    node_rows = _Rows(file, "node", ("id",))
    for k, node in enumerate(nodes):
        record = _record(node, ("id",), file, "node", k)
        node_rows.add({**record, "id": json_id(record["id"])})
    edge_rows = _Rows(file, "edge", ("source", "target"))
    ends = [_record(link, ("source", "target"), file, "edge", k) for k, link in enumerate(links)]
    by_row = _by_row_number(ends, {r["id"] for r in node_rows.records}, len(nodes))
    for record in ends:
        for key in ("source", "target"):
            end = record[key]
            record[key] = node_rows.records[end]["id"] if by_row else json_id(end)
        edge_rows.add({k: v for k, v in record.items() if k not in ("id", "key", "group")})
    return node_rows.table(), edge_rows.table()


def _by_row_number(ends: list[Record], ids: set[str], n: int) -> bool:
    """Older d3 files name ends by their place in the node list: whole numbers that are no ids."""
    values = [record[key] for record in ends for key in ("source", "target")]
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
