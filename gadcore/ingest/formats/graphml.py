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
            self._add(element, {"id": self.need(element, "id")})
        elif element.tag == "edge":
            self._add(element, self.ends(element))
        else:
            raise InputError(
                f"{self.file}, line {element.line}: a hyperedge", "edges with two ends", "split it into pairs"
            )

    def _key(self, element: Element) -> None:
        key = self.need(element, "id")
        name = self.names[key] = element.get("attr.name", key)
        default = element.findtext("default")
        scope = element.get("for", "all")
        for part in self.defaults if default is not None else ():
            if scope in (part, "all"):
                self.defaults[part][name] = default

    def _add(self, element: Element, own: Record) -> None:
        record = dict(self.defaults[element.tag])
        for child in element.iterfind("data[@key]"):
            name = self.names.get(child.attrib["key"], child.attrib["key"])
            if len(child):  # yEd draws its nodes in here; the label is the one part to keep
                labels = [text for e in child.iter("NodeLabel") if (text := (e.text or "").strip())]
                record |= {"label": labels[0]} if labels else {}
            else:
                record[free(name, *own)] = child.text
        self.add(element, {**record, **own})


FORMAT = FileFormat(
    "graphml",
    "GraphML",
    (".graphml",),
    matches=lambda head: head.text.startswith(b"<") and b"<graphml" in head.text,
    read=lambda path, limits: _GraphML(path).document(limits),
    recognised="attributes of nodes and edges; yEd's labels",
    previewed=True,
)
