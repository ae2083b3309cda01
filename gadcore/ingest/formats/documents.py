"""Graph documents: a safe streaming reader of XML.

An XML document is never held as a tree: elements come one by one. A document type or entity declaration is
refused before it can expand: that is how a few hundred bytes of XML fill a machine's memory.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NoReturn
from xml.etree import ElementTree
from xml.parsers import expat

from gadcore.errors import InputError
from gadcore.ingest.formats.file_format import Limits
from gadcore.ingest.formats.table import record_table
from gadcore.ingest.graph_parts import Document

_CHUNK = 1 << 20
_MAX_DEPTH = 200

Record = dict[str, Any]
_FIRST = {"node": ("id",), "edge": ("source", "target")}  # what every record has


class Element(ElementTree.Element):
    """One element with its children; ``tag`` is without name space."""

    line = 0


class XmlGraph:
    """Nodes and edges of an XML document. A format names the tags it wants and handles each at its end."""

    name: str
    wanted: frozenset[str]

    def __init__(self, path: Path) -> None:
        self.file = path.name
        self.records: dict[str, list[Record]] = {"node": [], "edge": []}
        self.lines: dict[str, list[int]] = {"node": [], "edge": []}
        self.lists: dict[str, dict[str, str]] = {"node": {}, "edge": {}}  # as in Table
        self.names: dict[Any, str] = {}  # of the attributes, by their keys
        self.defaults: dict[str, Record] = {"node": {}, "edge": {}}
        self.depth = 0
        self.open: list[Element] = []  # the path from a wanted element to the present one
        self.parser = expat.ParserCreate(namespace_separator=" ")
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._text
        self.parser.StartDoctypeDeclHandler = self.parser.EntityDeclHandler = self._refuse
        self._stream(path)

    def document(self, limits: Limits) -> Document:
        nodes, edges = (
            record_table(
                self.records[part], self.file, limits, "line", first, self.lines[part], self.lists[part]
            )
            for part, first in _FIRST.items()
        )
        return Document(nodes, edges, self.name)

    def add(self, element: Element, record: Record) -> None:
        """Keep the record of a <node> or an <edge>."""
        self.records[element.tag].append(record)
        self.lines[element.tag].append(element.line)

    def handle(self, element: Element) -> None:
        """Take in a wanted element with all its children."""
        raise NotImplementedError

    def need(self, element: Element, key: str) -> str:
        """An attribute that must be there."""
        if key in element.attrib:
            return element.attrib[key]
        raise InputError(
            f"{self.file}, line {element.line}: <{element.tag}> has no attribute {key!r}",
            f"<{element.tag} {key}=…>",
        )

    def ends(self, element: Element) -> Record:
        return {key: self.need(element, key) for key in ("source", "target")}

    def _stream(self, path: Path) -> None:
        try:
            with path.open("rb") as file:
                while chunk := file.read(_CHUNK):
                    self.parser.Parse(chunk, False)
            self.parser.Parse(b"", True)
        except (expat.ExpatError, UnicodeDecodeError, LookupError, ValueError) as error:
            raise InputError(
                f"{self.file}, line {self.parser.CurrentLineNumber}: not well-formed XML ({error})",
                "a complete XML document",
                "export or copy the file again",
            ) from error

    def _refuse(self, *_: object) -> NoReturn:
        raise InputError(
            f"{self.file}, line {self.parser.CurrentLineNumber} declares a document type or an entity",
            "plain GraphML or GEXF without DOCTYPE",
            "remove the <!DOCTYPE …> part; such declarations can hide an expansion bomb",
        )

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        tag = name.rpartition(" ")[2]
        if self.depth > _MAX_DEPTH:
            raise InputError(f"{self.file} is nested more than {_MAX_DEPTH} levels deep", "a flat document")
        if tag in self.wanted or self.open:
            element = Element(tag, {k.rpartition(" ")[2]: v for k, v in attributes.items()})
            element.text, element.line = "", self.parser.CurrentLineNumber
            if self.open:
                self.open[-1].append(element)
            self.open.append(element)
        self.depth += 1

    def _end(self, _: str) -> None:
        self.depth -= 1
        if self.open:
            element = self.open.pop()
            if element.tag in self.wanted:
                self.handle(element)

    def _text(self, data: str) -> None:
        if self.open:
            self.open[-1].text = (self.open[-1].text or "") + data


def free(name: str, *taken: str) -> str:
    """The name of an attribute, told apart from the fields that every record has."""
    return f"{name} (attribute)" if name in taken else name
