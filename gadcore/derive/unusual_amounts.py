"""How unusual the amounts of a node are: rare among all links, or far from what its ends usually have."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gadcore.derive.column import DerivedColumn, Values
from gadcore.derive.sides import Side
from gadcore.derive.words import IN, OUT, amount_word, directions
from gadcore.graph import LinkMeaning, Links
from gadcore.graph.links import Numbers

_MAD = 1.4826  # times the median absolute deviation is the standard deviation of a normal distribution
_PRIOR_SPREAD = 5  # links of all nodes that count beside a node's own when its spread is estimated
_PRIOR_CENTRE = 1  # the same for its usual amount
_FLOOR = 0.1  # least spread of a node, in spreads of all links


def offered(meaning: LinkMeaning) -> Iterator[DerivedColumn]:
    if meaning.amount is None:
        return
    word, words = amount_word(meaning), meaning.words
    for d in directions(meaning):
        yield DerivedColumn(
            f"rarest_{d.side}", f"rarest {word} {d.side}", "unusual",
            f"One in how many {words} of all nodes has about the same {word} (to two digits): "
            f"the rarest {d.side}.",
            "1 in", told=f"rarest {word} {d.side} is that of {{value}} {words}",
        )  # fmt: skip
        yield DerivedColumn(
            f"rarity_{d.side}", f"usual rarity of {word} {d.side}", "unusual",
            f"One in how many {words} of all nodes has about the same {word} (to two digits): "
            f"geometric mean over all {d.side}.",
            "1 in", told=f"typical {word} {d.side} is that of {{value}} {words}",
        )  # fmt: skip
        for end in ("sender", "receiver"):
            whose = f"a {end}'s" if end == d.peer else "its own"
            yield DerivedColumn(
                f"off_{end}_{d.side}", f"furthest from {whose} usual {word}, {d.side}", "unusual",
                f"The {word} {d.side} that is furthest from the median of {whose} {words} "
                f"{'out' if end == 'sender' else 'in'}, in spreads of their logarithm.",
                "spreads", told=f"{word} {d.side} {{value}} from {whose} usual one",
            )  # fmt: skip


def values(links: Links) -> Iterator[tuple[str, Values]]:
    amount = np.asarray(links.amount)
    known = np.isfinite(amount)
    sides = {name: Side.of(links, name, known) for name in (IN, OUT)}
    rarity = np.zeros(len(amount))
    rarity[known] = np.log(rarities(amount[known]))
    off = {end: _off(sides[name], amount) for end, name in (("sender", OUT), ("receiver", IN))}
    for name, side in sides.items():
        yield f"rarest_{name}", np.exp(side.largest(rarity[side.rows]))
        yield f"rarity_{name}", np.exp(side.mean(rarity[side.rows]))
        for end in off:
            yield f"off_{end}_{name}", side.largest(off[end][side.rows])


def rarities(amount: Numbers) -> Values:
    """One in how many has the same amount, to two digits."""
    size = np.abs(amount)
    power = np.floor(np.log10(np.where(size > 0, size, 1.0)))
    digits = np.round(amount / 10.0 ** (power - 1))
    code = (digits + 1000 * power).astype(np.int64)  # powers of ten are from -308 to 308
    code -= code.min(initial=0)
    return np.asarray(len(amount) / np.bincount(code)[code])


def _off(side: Side, amount: Numbers) -> Values:
    """(L,) how many spreads each amount is from the usual one of the node whose side it is."""
    off = np.zeros(len(amount))
    own = folded(amount[side.rows])
    if not len(own):
        return off
    centre, spread = float(np.median(own)), _overall_spread(own)
    n = np.maximum(side.counts, 1)
    usual = (n * side.median(own) + _PRIOR_CENTRE * centre) / (n + _PRIOR_CENTRE)
    own_spread = _MAD * side.median(np.abs(own - usual[side.node]))
    scale = np.maximum((n * own_spread + _PRIOR_SPREAD * spread) / (n + _PRIOR_SPREAD), _FLOOR * spread)
    off[side.rows] = np.abs(own - usual[side.node]) / scale[side.node]
    return off


def folded(amount: Numbers) -> Values:
    """Logarithm of amounts; where some are not above 0, sign · log(1 + size ÷ median size)."""
    if not len(amount) or amount.min() > 0:
        return np.log(amount)
    size = np.abs(amount)
    scale = float(np.median(size[size > 0])) if (size > 0).any() else 1.0
    return np.asarray(np.sign(amount) * np.log1p(size / scale))


def _overall_spread(own: Values) -> float:
    """Robust spread; the plain one where most amounts are equal; 1 where all are."""
    robust = _MAD * float(np.median(np.abs(own - np.median(own))))
    return robust or float(own.std()) or 1.0
