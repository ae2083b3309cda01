"""Graph documents: records with the lines where they were found, and a safe streaming reader of XML.

An XML document is never held as a tree: elements come one by one. A document type or entity declaration is
refused before it can expand: that is how a few hundred bytes of XML fill a machine's memory.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn
from xml.parsers import expat

import numpy as np

from gadcore.errors import InputError
from gadcore.ingest.formats.table import record_frame
from gadcore.ingest.graph_parts import Document, Table

_CHUNK = 1 << 20
_MAX_DEPTH = 200

Record = dict[str, Any]


class Rows:
    """Records of one kind with the line (or number) of each."""

    def __init__(self, file: str, unit: str, *keys: str) -> None:
        self.file, self.unit, self.keys = file, unit, keys
        self.records: list[Record] = []
        self.lines: list[int] = []
        self.lists: dict[str, str] = {}  # as in Table

    def add(self, record: Record, line: int | None = None) -> None:
        self.records.append(record)
        self.lines.append(len(self.records) if line is None else line)

    def table(self) -> Table:
        frame = record_frame(self.records, self.keys)
        numbers = np.array(self.lines, dtype=np.int64)
        return Table(frame, self.file, self.unit, lambda: numbers, True, self.lists)


@dataclass
class Element:
    """One element with its children; ``tag`` is without name space."""

    tag: str
    attributes: dict[str, str]
    line: int
    text: str = ""
    children: list[Element] = field(default_factory=list)

    def find_all(self, tag: str) -> list[Element]:
        """Descendants with a tag, in document order."""
        found = []
        for child in self.children:
            found += [child] if child.tag == tag else []
            found += child.find_all(tag)
        return found

    def default(self) -> str | None:
        """Text of the <default> inside."""
        return next((child.text for child in self.children if child.tag == "default"), None)


class XmlGraph:
    """Nodes and edges of an XML document. A format names the tags it wants and handles each at its end."""

    name: str
    wanted: frozenset[str]

    def __init__(self, path: Path) -> None:
        self.file = path.name
        self.nodes = Rows(path.name, "line", "id")
        self.edges = Rows(path.name, "line", "source", "target")
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

    def document(self) -> Document:
        return Document(self.nodes.table(), self.edges.table(), self.name)

    def handle(self, element: Element) -> None:
        """Take in a wanted element with all its children."""
        raise NotImplementedError

    def need(self, element: Element, key: str) -> str:
        """An attribute that must be there."""
        if key in element.attributes:
            return element.attributes[key]
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
            plain = {k.rpartition(" ")[2]: v for k, v in attributes.items()}
            element = Element(tag, plain, self.parser.CurrentLineNumber)
            if self.open:
                self.open[-1].children.append(element)
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
            self.open[-1].text += data


def free(name: str, *taken: str) -> str:
    """The name of an attribute, told apart from the fields that every record has."""
    return f"{name} (attribute)" if name in taken else name
