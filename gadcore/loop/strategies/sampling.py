"""The audit: random draws from strata of the score rank, with the probability of each draw recorded.

    strata of the M open nodes     top T = min(100, ⌈M/20⌉)    next 4T      the rest
    chance of the stratum              0.2                      0.3          0.5
    probability of a node             0.2/T                   0.075/T    0.5/(M − 5T)

A draw's recorded probability therefore tells its stratum (``stratum_of``), and 1/probability is the number of
nodes that it stands for, times the chance of its stratum.
"""

from __future__ import annotations

from itertools import islice
from math import ceil, log

import numpy as np

from gadcore.graph import IntArray
from gadcore.loop.pool import Pool, Query, QueryStrategy, Random

TOP, TOP_SHARE, NEXT = 100, 20, 4  # T = min(TOP, ⌈M / TOP_SHARE⌉); the second stratum has NEXT times as many
CHANCES = (0.2, 0.3, 0.5)
_REASONS = ("random check of the top", "random check below the top", "random check of the rest")


def top_size(n_open: int) -> int:
    """T: size of the first stratum when this many nodes are open."""
    return max(1, min(TOP, ceil(n_open / TOP_SHARE)))


def stratum_sizes(n_open: int) -> tuple[int, int, int]:
    """Nodes of the three strata when this many are open."""
    t = min(top_size(n_open), n_open)
    return t, min(NEXT * t, n_open - t), max(0, n_open - (1 + NEXT) * t)


def sizes_downward(n_open: int) -> IntArray:
    """(n_open, 3) ``stratum_sizes`` of n_open, n_open − 1, …, 1."""
    m = np.arange(n_open, 0, -1)
    t = np.minimum(np.clip(-(-m // TOP_SHARE), 1, TOP), m)
    return np.stack([t, np.minimum(NEXT * t, m - t), np.maximum(0, m - (1 + NEXT) * t)], axis=1)


def strata(ranked: IntArray) -> list[IntArray]:
    """The three strata of open nodes sorted by score; later ones may be empty."""
    t = top_size(len(ranked))
    return [ranked[:t], ranked[t : t * (1 + NEXT)], ranked[t * (1 + NEXT) :]]


def chances(n_open: int) -> list[float]:
    """Probability of a node of each stratum in one draw among so many; 0 for a stratum without nodes."""
    sizes = stratum_sizes(n_open)
    total = sum(chance for chance, size in zip(CHANCES, sizes) if size)
    return [chance / total / size if size else 0.0 for chance, size in zip(CHANCES, sizes)]


def stratum_of(probability: float, n_open: int) -> int:
    """0 top, 1 next, 2 rest: from the recorded probability of a draw among about ``n_open`` nodes."""
    known = chances(n_open)
    return min((h for h in range(len(known)) if known[h]), key=lambda h: abs(log(known[h] / probability)))


class Audit(QueryStrategy):
    """A random check, stratified by score: what precision and what is left are estimated from."""

    name = "audit"
    title = "Random audit"
    asks_by_score = True  # each layer of the ranking has its share of the draws
    is_random_check = True

    def select(self, pool: Pool, n: int, rng: Random) -> list[Query]:
        layers = strata(pool.open)
        chance = np.array([c if len(layer) else 0.0 for c, layer in zip(CHANCES, layers)])
        if not chance.sum():
            return []
        chance /= chance.sum()
        decks = [iter(rng.permutation(layer)) for layer in layers]
        turns = rng.choice(len(layers), size=4 * n + 16, p=chance)
        drawn = ((h, node) for h in turns if (node := next(decks[h], None)) is not None)
        return [
            self.query(node, 0.0, _REASONS[h], float(chance[h] / len(layers[h])))
            for h, node in islice(drawn, n)
        ]
