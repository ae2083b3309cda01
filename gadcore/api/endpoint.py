"""What a call of the API is, what it is given, and the answers that are no records of their own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, BinaryIO, Generic, TypeVar

from gadcore.access import Who
from gadcore.api.forms import Empty
from gadcore.settings import Settings
from gadcore.workspace import Workspace

T = TypeVar("T")
BASE = "/api/v1"


@dataclass(frozen=True)
class Ask:
    """A call as it was made: who asks, and what for, checked."""

    settings: Settings
    who: Who
    path: dict[str, str] = field(default_factory=dict)
    query: Any = None
    body: Any = None
    key: str | None = None  # by which the same call, made again, is known
    source: str = "api"  # where a verdict comes from
    upload: BinaryIO | None = None

    @property
    def workspace(self) -> Workspace:
        """The project that the path names."""
        return Workspace.open(self.path["project"], self.settings, self.who)


@dataclass(frozen=True)
class Endpoint:
    """One call: where it is found, what it needs, takes and answers, and what does it."""

    method: str
    path: str  # below BASE, with names of its parts in braces
    act: str  # of access.rights; the role that it needs is there
    call: Callable[[Ask], Any]
    about: str
    answer: Any  # the type of what it answers; bytes for a file
    query: type = Empty
    body: type | None = None  # of a call with a JSON body
    takes_file: bool = False
    status: int = 200
    tool: str = ""  # its name for assistants; "" for a call that they do not get
    keyed: bool = False  # made again with the same Idempotency-Key, it is answered and not done
    answers_nothing: bool = False  # it may have nothing to say: 202

    @property
    def url(self) -> str:
        return BASE + self.path

    @property
    def places(self) -> list[str]:
        """Names of the parts of its path."""
        return [word[1:-1] for word in self.path.split("/") if word.startswith("{")]


@dataclass(frozen=True)
class Page(Generic[T]):
    """Some rows of a list."""

    items: list[T]
    total: int | None  # of all pages; null where nobody has counted
    next: int | None  # offset (or after) of the next page; null at the end


@dataclass(frozen=True)
class File:
    """An answer that is a file."""

    name: str
    content: str
    kind: str


def page_of(rows: Sequence[T], offset: int, limit: int) -> Page[T]:
    """A page of rows that are all known."""
    more = offset + limit < len(rows)
    return Page(list(rows[offset : offset + limit]), len(rows), offset + limit if more else None)
