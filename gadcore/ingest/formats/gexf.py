"""GEXF: titles and defaults of attributes come from its <attributes>."""

from __future__ import annotations

from typing import cast

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
            own = {k: element.attrib[k] for k in ("weight",) if k in element.attrib}
            self.add(element, {**self._values(element, *ends), **own, **ends})

    def _declared(self, element: Element) -> None:
        part = element.get("class", "node")
        for attribute in cast(list[Element], element.findall("attribute")):
            key = self.need(attribute, "id")
            title = self.names[part, key] = attribute.get("title", key)
            if attribute.get("type") in _LISTS:
                self.lists["node" if part == "node" else "edge"][title] = "|"
            default = attribute.findtext("default")
            if default is not None and part in self.defaults:
                self.defaults[part][title] = default

    def _node(self, element: Element) -> None:
        record = self._values(element, "id")
        node = self.need(element, "id")
        label = element.get("label")
        if label is not None and label != node:
            record.setdefault("label", label)
        self.add(element, {**record, "id": node})

    def _values(self, element: Element, *taken: str) -> Record:
        record = dict(self.defaults[element.tag])
        for value in element.iterfind("attvalues/*"):
            key = value.get("for", value.get("id", ""))
            record[free(self.names.get((element.tag, key), key), *taken)] = value.get("value")
        return record


FORMAT = FileFormat(
    "gexf",
    "GEXF",
    (".gexf",),
    matches=lambda head: head.text.startswith(b"<") and b"<gexf" in head.text,
    read=lambda path, limits: _Gexf(path).document(limits),
    recognised="attributes of nodes and edges with their titles and defaults",
    previewed=True,
)
