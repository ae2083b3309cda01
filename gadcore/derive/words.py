"""How links, amounts and days are called in the names of derived columns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from gadcore.graph import LinkMeaning
from gadcore.graph.links import STEPS

IN, OUT = "in", "out"

_AMOUNTS = ("rating", "score", "duration", "bytes", "packets", "price", "balance", "distance")
_SENT = {"call": "made", "payment": "made", "rating": "gave", "order": "placed", "link": "has"}
_RECEIVED = {"link": "has"}


@dataclass(frozen=True)
class Direction:
    """Words for one side of a node."""

    side: str  # IN or OUT
    did: str  # "received"
    end: str  # "from"
    peer: str  # "sender": who is at the other end

    def links(self, words: str) -> str:
        """What the node did, with "{value}" in its place: "received {value} transfers"."""
        return f"has {{value}} {words} {self.side}" if self.did == "has" else f"{self.did} {{value}} {words}"


def directions(meaning: LinkMeaning) -> Iterator[Direction]:
    """In, then out."""
    yield Direction(IN, _RECEIVED.get(meaning.word, "received"), "from", "sender")
    yield Direction(OUT, _SENT.get(meaning.word, "sent"), "to", "receiver")


def amount_word(meaning: LinkMeaning) -> str:
    """What an amount is called: "amount", or the column's own name where that is such a word."""
    own = (meaning.amount or "").lower()
    return own if own in _AMOUNTS else "amount"


def day_word(meaning: LinkMeaning) -> str:
    """The unit of times: "day", or "step" where times are numbered."""
    return "step" if meaning.precision == STEPS else "day"
