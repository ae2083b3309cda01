"""How many links and counterparties a node has, by direction."""

from __future__ import annotations

from collections.abc import Iterator

from gadcore.derive.column import DerivedColumn, Values
from gadcore.derive.sides import Side
from gadcore.derive.words import IN, OUT, directions
from gadcore.graph import LinkMeaning, Links


def offered(meaning: LinkMeaning) -> Iterator[DerivedColumn]:
    words = meaning.words
    for d in directions(meaning):
        yield DerivedColumn(
            f"links_{d.side}", f"{words} {d.side}", "counts", f"Number of {words} {d.side}.",
            told=d.links(words),
        )  # fmt: skip
        yield DerivedColumn(
            f"partners_{d.side}", f"counterparties {d.side}", "counts",
            f"Number of different nodes that {words} go {d.end}." if d.side == OUT
            else f"Number of different nodes that {words} come {d.end}.",
            told=f"{words} {d.end} {{value}} counterparties",
        )  # fmt: skip
        yield DerivedColumn(
            f"pair_most_{d.side}", f"most {words} {d.end} one counterparty", "counts",
            f"Largest number of {words} {d.end} the same counterparty.",
            told=f"{{value}} {words} {d.end} one counterparty",
        )  # fmt: skip


def values(links: Links) -> Iterator[tuple[str, Values]]:
    for name in (IN, OUT):
        side = Side.of(links, name)
        yield f"links_{name}", side.counts
        yield f"partners_{name}", side.total(side.new_pair)
        yield f"pair_most_{name}", side.longest_run(side.new_pair)
