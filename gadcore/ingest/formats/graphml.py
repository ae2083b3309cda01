"""GraphML: nested graphs are flattened, defaults of keys filled in."""

from __future__ import annotations

from gadcore.errors import InputError
from gadcore.ingest.formats.documents import Element, Record, XmlGraph, free
from gadcore.ingest.formats.file_format import FileFormat


class _GraphML(XmlGraph):
    name = "GraphML"
    wanted = frozenset(("key", "node", "edge", "hyperedge"))

    def handle(self, element: Element) -> None:
        if element.tag == "key":
            self._key(element)
        elif element.tag == "node":
            node = {"id": self.need(element, "id")}
            self.nodes.add({**self.defaults["node"], **self._data(element, "id"), **node}, element.line)
        elif element.tag == "edge":
            ends = self.ends(element)
            data = {**self.defaults["edge"], **self._data(element, *ends)}
            self.edges.add({**data, **ends}, element.line)
        else:
            raise InputError(
                f"{self.file}, line {element.line}: a hyperedge", "edges with two ends", "split it into pairs"
            )

    def _key(self, element: Element) -> None:
        key = self.need(element, "id")
        name = self.names[key] = element.attributes.get("attr.name", key)
        default = element.default()
        scope = element.attributes.get("for", "all")
        for part in self.defaults if default is not None else ():
            if scope in (part, "all"):
                self.defaults[part][name] = default

    def _data(self, element: Element, *taken: str) -> Record:
        record: Record = {}
        for child in element.children:
            if child.tag != "data" or "key" not in child.attributes:
                continue
            name = self.names.get(child.attributes["key"], child.attributes["key"])
            if child.children:  # yEd draws its nodes in here; the label is the one part to keep
                labels = [e.text.strip() for e in child.find_all("NodeLabel") if e.text.strip()]
                record |= {"label": labels[0]} if labels else {}
            else:
                record[free(name, *taken)] = child.text
        return record


FORMAT = FileFormat(
    "graphml",
    "GraphML",
    (".graphml",),
    matches=lambda head: head.text.startswith(b"<") and b"<graphml" in head.text,
    read=lambda path, _: _GraphML(path).document(),
    recognised="attributes of nodes, weights of edges; yEd's labels",
    previewed=True,
)
