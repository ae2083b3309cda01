"""Of which kinds a node's links are. Links whose kind is unknown are left out."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gadcore.derive.column import DerivedColumn, Values
from gadcore.derive.sides import percent
from gadcore.graph import LinkMeaning, Links
from gadcore.graph.links import Codes

MOST = 8  # kinds with a column of their own; the others share one


def offered(meaning: LinkMeaning) -> Iterator[DerivedColumn]:
    words = meaning.words
    for code, kind in enumerate(meaning.kinds[:MOST]):
        yield DerivedColumn(
            f"kind_{code}", f"share of {kind}", "kinds",
            f"Share of its {words}, in and out, whose {meaning.kind} is {kind}.",
            "%", told=f"in {{value}} of its {words} the {meaning.kind} is {kind}",
        )  # fmt: skip
    if len(meaning.kinds) > MOST:
        yield DerivedColumn(
            "kind_other", "share of other kinds", "kinds",
            f"Share of its {words}, in and out, of kinds that are rarer than the {MOST} most frequent.",
            "%", told=f"{{value}} of its {words} are of rarer kinds",
        )  # fmt: skip


def values(links: Links) -> Iterator[tuple[str, Values]]:
    counts = _counts(links, np.minimum(np.asarray(links.kind), MOST))
    for code in range(MOST):
        yield f"kind_{code}", percent(counts[:, code], counts.sum(axis=1))
    yield "kind_other", percent(counts[:, MOST], counts.sum(axis=1))


def _counts(links: Links, kind: Codes) -> Values:
    """(n, MOST + 1) links of each node and kind, in and out; one to itself counts once."""
    out = kind >= 0
    into = out & (links.source != links.target)
    node = np.concatenate([links.source[out], links.target[into]]).astype(np.int64)
    cells = node * (MOST + 1) + np.concatenate([kind[out], kind[into]])
    counts = np.bincount(cells, minlength=links.n_nodes * (MOST + 1))
    return counts.reshape(-1, MOST + 1).astype(np.float64)
