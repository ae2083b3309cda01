"""Whether the trail is whole, and whether the label events are those that it tells of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from gadcore.errors import InputError
from gadcore.records import TrailEntry
from gadcore.store.events import events_of
from gadcore.store.schema import now
from gadcore.store.trail import events_digest

if TYPE_CHECKING:
    from gadcore.store import Store

ANCHORS = "trail-anchors.txt"


@dataclass(frozen=True)
class Verified:
    """What a check of the trail found; no ``problems`` means that nothing is wrong."""

    entries: int
    head: str  # hash of the last entry: note it outside the database, it proves everything up to here
    anchors: int  # earlier heads that were compared
    problems: list[str] = field(default_factory=list)


def verify(store: Store, anchors: Path | None = None) -> Verified:
    """Check every entry, every label event and every anchor; a trail without a fault gets a new anchor.

    Anchors are lines of number, hash and time in a file, by default in the workspace folder. InputError if a
    file that was named is not there: with nothing to compare, a cut would go unseen.
    """
    if anchors is not None and not anchors.is_file():
        raise InputError(f"there is no file {anchors}", "a copy of trail-anchors.txt", "check the path")
    path = anchors or store.folders.home / ANCHORS
    with store.database.snapshot():
        number, head = store.trail.head()
        known = list(_anchors(path))
        problems = [*_broken(store), *_cut(store, known)]
    if not problems:
        anchor(path, number, head)
    return Verified(number, head, len(known), problems)


def anchor(path: Path, number: int, head: str) -> None:
    """Note the head of the trail in a file, unless it is noted there."""
    if number and (number, head) not in list(_anchors(path)):
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a", encoding="utf-8") as file:
            file.write(f"{number} {head} {now().isoformat(timespec='seconds')}\n")


def _anchors(path: Path) -> Iterator[tuple[int, str]]:
    try:
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read ({error})", "a copy of trail-anchors.txt") from error
    for line in lines:
        number, head, *_ = [*line.split(), "", ""]
        if number.isdecimal():
            yield int(number), head


def _cut(store: Store, known: list[tuple[int, str]]) -> Iterator[str]:
    for number, head in known:
        if store.trail.hash_of(number) != head:
            yield f"Entry {number} is not the one whose hash was noted: it was cut off or rewritten."


def _broken(store: Store) -> Iterator[str]:
    """What is wrong with the chain, and with what it tells of."""
    there = {row.id for row in store.projects.all()}
    told: Counter[str] = Counter()
    gone, expected = set[str](), 1
    for entry, whole in store.trail.walk():
        if entry.number != expected:
            yield f"Entries {expected} to {entry.number - 1} are missing."
        elif not whole:
            yield f"Entry {entry.number} ({entry.action}) was changed, or the one before it was."
        expected = entry.number + 1
        told[entry.project] += entry.details.get("count", 0)
        if entry.action == "project deleted":
            gone.add(entry.project)
        elif entry.project in there:
            yield from _changed(store, entry)
    for project in sorted(set(told) - there - gone - {""}):
        yield f"The project {project!r} is gone, and no entry tells who deleted it."
    for project in sorted(there):
        with store.database.reading() as connection:
            found = len(events_of(connection, project))
        if found != told[project]:
            yield f"The project {project!r} has {found:,} label events; the trail tells of {told[project]:,}."


def _changed(store: Store, entry: TrailEntry) -> Iterator[str]:
    if ids := entry.details.get("events"):
        with store.database.reading() as connection:
            found = events_digest(events_of(connection, entry.project, ids[0] - 1, ids[1]))
        if found["sha256"] != entry.details["sha256"]:
            which = f"Label events {ids[0]} to {ids[1]} of {entry.project!r}"
            yield f"{which} are not as entry {entry.number} tells."
