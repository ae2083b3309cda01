"""GEXF: titles and defaults of attributes come from its <attributes>."""

from __future__ import annotations

from gadcore.ingest.formats.documents import Element, Record, XmlGraph, free
from gadcore.ingest.formats.file_format import FileFormat

_LISTS = ("liststring", "listboolean", "listinteger", "listlong", "listfloat", "listdouble")


class _Gexf(XmlGraph):
    name = "GEXF"
    wanted = frozenset(("attributes", "node", "edge"))

    def handle(self, element: Element) -> None:
        if element.tag == "attributes":
            self._declared(element)
        elif element.tag == "node":
            self._node(element)
        else:
            ends = self.ends(element)
            own = {k: element.attributes[k] for k in ("weight",) if k in element.attributes}
            self.edges.add({**self._values(element, "edge", *ends), **own, **ends}, element.line)

    def _declared(self, element: Element) -> None:
        part = element.attributes.get("class", "node")
        rows = self.nodes if part == "node" else self.edges
        for attribute in (child for child in element.children if child.tag == "attribute"):
            key = self.need(attribute, "id")
            title = self.names[part, key] = attribute.attributes.get("title", key)
            if attribute.attributes.get("type") in _LISTS:
                rows.lists[title] = "|"
            default = attribute.default()
            if default is not None and part in self.defaults:
                self.defaults[part][title] = default

    def _node(self, element: Element) -> None:
        record = self._values(element, "node", "id")
        node = self.need(element, "id")
        label = element.attributes.get("label")
        if label is not None and label != node:
            record.setdefault("label", label)
        self.nodes.add({**record, "id": node}, element.line)

    def _values(self, element: Element, part: str, *taken: str) -> Record:
        record = dict(self.defaults[part])
        for holder in element.children:
            for value in holder.children if holder.tag == "attvalues" else ():
                key = value.attributes.get("for", value.attributes.get("id", ""))
                record[free(self.names.get((part, key), key), *taken)] = value.attributes.get("value")
        return record


FORMAT = FileFormat(
    "gexf",
    "GEXF",
    (".gexf",),
    matches=lambda head: head.text.startswith(b"<") and b"<gexf" in head.text,
    read=lambda path, _: _Gexf(path).document(),
    recognised="attributes of nodes with their titles and defaults, weights of edges",
    previewed=True,
)
