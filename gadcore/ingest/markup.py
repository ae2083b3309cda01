"""A safe streaming reader of XML: elements with their attributes, text and line, never a whole tree.

A document type or entity declaration is refused before it can expand: that is how a few hundred bytes of XML
fill a machine's memory.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from xml.parsers import expat

from gadcore.errors import InputError

_CHUNK = 1 << 20
_MAX_DEPTH = 200


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


def stream(path: Path, wanted: set[str], handle: Callable[[Element], None]) -> None:
    """Call ``handle`` for every element whose tag is wanted, at its end, with all its children."""
    reader = _Reader(path.name, wanted, handle)
    try:
        with path.open("rb") as file:
            while chunk := file.read(_CHUNK):
                reader.parser.Parse(chunk, False)
        reader.parser.Parse(b"", True)
    except (expat.ExpatError, UnicodeDecodeError, LookupError, ValueError) as error:
        line = reader.parser.CurrentLineNumber
        raise InputError(
            f"{path.name}, line {line}: not well-formed XML ({error})",
            "a complete XML document",
            "export or copy the file again",
        ) from error


class _Reader:
    """Handlers of one expat parser; only elements inside a wanted one are kept."""

    def __init__(self, file: str, wanted: set[str], handle: Callable[[Element], None]) -> None:
        self.file, self.wanted, self.handle = file, wanted, handle
        self.depth = 0
        self.open: list[Element] = []
        self.parser = expat.ParserCreate(namespace_separator=" ")
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._text
        self.parser.StartDoctypeDeclHandler = self._refuse
        self.parser.EntityDeclHandler = self._refuse

    def _refuse(self, *_: object) -> None:
        raise InputError(
            f"{self.file}, line {self.parser.CurrentLineNumber} declares a document type or an entity",
            "plain GraphML or GEXF without DOCTYPE",
            "remove the <!DOCTYPE …> part; such declarations can hide an expansion bomb",
        )

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        tag = name.rpartition(" ")[2]
        if self.depth > _MAX_DEPTH:
            raise InputError(
                f"{self.file} is nested more than {_MAX_DEPTH} levels deep", "a flat graph document"
            )
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
