"""What the tables come to: ours against the paper, cell by cell, computed from result rows alone.

A method is judged in a cell only with all ten splits; what it is set beside needs three, and then only the
splits that both have count. Other cells are said to be incomplete.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import permutations

import numpy as np

from gadcore.studies.markdown import NONE, table
from gadcore.studies.published import GRAPHS, METHODS, PUBLISHED, RATES
from gadcore.studies.significance import LEVEL, SPLITS, Results, p_value

LEAST = 3  # splits of a method that another one is set beside
NEAR = 1.0  # points below the paper that still count as reproduced
TARGETS = {0.025: 91.0, 0.05: 93.3, 0.1: 95.0}  # mean AUC of an+ over the five graphs
PUBLISHED_MEANS = {0.025: 88.9, 0.05: 90.5, 0.1: 92.4}  # of Ours-AN, as the paper prints them
AVERAGED = ("an+", "an", "sgc-lr")
PRODUCT, PAPER = "an+", "an"
Where = tuple[float, str]  # rate, graph
CELLS: tuple[Where, ...] = tuple((rate, graph) for rate in RATES for graph in GRAPHS)


@dataclass(frozen=True)
class Reversal:
    """Two methods that the paper tells clearly apart and that come out the other way here."""

    rate: float
    graph: str
    ahead: str  # in the paper
    behind: str
    paper: float  # points by which ``ahead`` leads there
    ours: float  # the same here: 0 or less
    told_apart: bool  # by a paired t-test here


def section(results: Results) -> str:
    """The section in Markdown from AUCs in per cent; empty without any."""
    if not results:
        return ""
    parts = (_reproduced, _methods, _order, _ahead, _averages)
    return "\n".join(["## Findings\n", _WORDS, *(part(results) for part in parts)])


def mean_of(results: Results, rate: float, graph: str, method: str) -> float | None:
    """Mean of a complete cell."""
    values = results.get((rate, graph, method), {})
    return float(np.mean(list(values.values()))) if len(values) >= SPLITS else None


def lead(results: Results, where: Where, one: str, other: str) -> float | None:
    """Points by which ``one`` is ahead in the mean of the splits that both have; None with too few."""
    mine, theirs = results.get((*where, one), {}), results.get((*where, other), {})
    seeds = mine.keys() & theirs.keys()
    return float(np.mean([mine[s] - theirs[s] for s in seeds])) if len(seeds) >= LEAST else None


def reversals(results: Results) -> tuple[list[Reversal], dict[float, tuple[int, int]]]:
    """Pairs in another order than the paper's, and by rate how many were judged of how many clear ones."""
    found, judged = [], {}
    for rate in RATES:
        pairs = [
            (graph, one, other)
            for graph in GRAPHS
            for one, other in permutations(METHODS, 2)
            if _clearly_ahead(PUBLISHED[rate, graph, one], PUBLISHED[rate, graph, other])
        ]
        leads = {pair: lead(results, (rate, pair[0]), *pair[1:]) for pair in pairs}
        known = {pair: ours for pair, ours in leads.items() if ours is not None}
        for (graph, one, other), ours in known.items():
            if ours <= 0:
                apart = p_value(results[rate, graph, one], results[rate, graph, other]) <= LEVEL
                gap = PUBLISHED[rate, graph, one][0] - PUBLISHED[rate, graph, other][0]
                found.append(Reversal(rate, graph, one, other, gap, ours, apart))
        judged[rate] = len(known), len(pairs)
    return found, judged


def significantly_ahead(results: Results, rate: float, graph: str, of: str = PRODUCT) -> list[str]:
    """Methods whose mean is higher than that of ``of`` by a paired t-test, the largest lead first."""
    leads = {
        method: ours
        for at, where, method in results
        if (at, where) == (rate, graph) and (ours := lead(results, (rate, graph), method, of)) is not None
    }
    base = results.get((rate, graph, of), {})
    told = [m for m, ours in leads.items() if ours > 0 and p_value(results[rate, graph, m], base) <= LEVEL]
    return sorted(told, key=lambda method: -leads[method])


def _clearly_ahead(one: tuple[float, float], other: tuple[float, float]) -> bool:
    return one[0] - other[0] > one[1] + other[1]


def _reproduced(results: Results) -> str:
    gaps = {
        where: mean - PUBLISHED[(*where, PAPER)][0]
        for where in CELLS
        if (mean := mean_of(results, *where, PAPER)) is not None
    }
    near = sum(gap >= -NEAR for gap in gaps.values())
    further = [
        f"{_name(where)} {gap:+.1f} (Welch's t-test with the paper's std of ten splits: p = "
        f"{_welch(results, where):.2f})"
        for where, gap in gaps.items()
        if gap < -NEAR
    ]
    told = f"{near} of {len(gaps)} complete cells are within {NEAR:g} point or better"
    told += f"; further below: {', '.join(further)}." if further else "."
    missing = [where for where in CELLS if where not in gaps]
    return f"### `an` beside the paper's Ours-AN\n\n{_judged(told, missing)}\n"


def difference(results: Results, method: str) -> list[tuple[float, bool]]:
    """For each cell with enough splits: our mean less the paper's, and whether that is within its std."""
    found = []
    for where in CELLS:
        values = list(results.get((*where, method), {}).values())
        if len(values) >= LEAST:
            mean, std = PUBLISHED[(*where, method)]
            gap = float(np.mean(values)) - mean
            found.append((gap, abs(gap) <= std))
    return found


def _methods(results: Results) -> str:
    lines = []
    for method in METHODS:
        if gaps := difference(results, method):
            values = [gap for gap, _ in gaps]
            spread = (f"{value:+.1f}" for value in (np.mean(values), min(values), max(values)))
            lines.append((method, len(gaps), *spread, sum(near for _, near in gaps)))
    head = ("method", "cells", "mean difference", "lowest", "highest", "within the paper's std")
    return table(head, lines, _METHODS_WORDS)


def _welch(results: Results, where: Where) -> float:
    """p of the difference between our splits and the paper's mean and std of ten others."""
    from scipy.stats import ttest_ind_from_stats

    own = np.array(list(results[(*where, PAPER)].values()))
    mean, std = PUBLISHED[(*where, PAPER)]
    found = ttest_ind_from_stats(own.mean(), own.std(ddof=1), len(own), mean, std, SPLITS, equal_var=False)
    return float(found.pvalue)


def _order(results: Results) -> str:
    found, judged = reversals(results)
    lines = []
    for rate, (known, clear) in judged.items():
        mine = [each for each in found if each.rate == rate]
        told = sum(each.told_apart for each in mine)
        lines.append((f"{rate:.1%}", clear, known, known - len(mine), len(mine), told))
    head = ("labelled", "clear in the paper", "measured here", "same order", "reversed", "told apart")
    return table(head, lines, _ORDER_WORDS) + _reversed(results, found)


def _reversed(results: Results, found: list[Reversal]) -> str:
    """Who leads here against the paper's order, by rate and graph, with the lead in points."""
    if not found:
        return ""
    lines = []
    for rate, graph in CELLS:
        mine = [each for each in found if (each.rate, each.graph) == (rate, graph)]
        if mine:
            told = ", ".join(_lead(each) for each in sorted(mine, key=lambda each: each.ours))
            lines.append((f"{rate:.1%}", graph, told))
    shown = table(("labelled", "graph", "ahead here"), lines, _REVERSED_WORDS)
    return f"{shown}\n{_leaders(results, found)}\n"


def _leaders(results: Results, found: list[Reversal]) -> str:
    """Who leads and who trails in the reversed pairs, and how each stands beside its own figures."""
    leads, trails = (Counter(getattr(each, side) for each in found) for side in ("behind", "ahead"))
    told = [
        f"`{method}` leads {leads[method]} and trails {trails[method]} "
        f"({np.mean([gap for gap, _ in difference(results, method)]):+.1f})"
        for method, _ in (leads + trails).most_common()
    ]
    words = "In these pairs, with the mean difference to the method's own figures in the paper in brackets: "
    return f"{words}{', '.join(told)}."


def _lead(each: Reversal) -> str:
    return f"{each.behind} > {each.ahead} {-each.ours:.1f}" + ("" if each.told_apart else " \\*")


def _ahead(results: Results) -> str:
    judged = [line for where in CELLS if (line := _against_the_best(results, where))]
    ahead = sum(yes for _, yes in judged)
    missing = [where for where in CELLS if mean_of(results, *where, PRODUCT) is None]
    told = _judged(f"Ahead of both in {ahead} of {len(judged)} complete cells.", missing)
    title = "### `an+` against the paper's eleven\n\n"
    return (table(_AHEAD, (line for line, _ in judged), title) + "\n" if judged else title) + told + "\n"


def _against_the_best(results: Results, where: Where) -> tuple[list[str], bool] | None:
    own = mean_of(results, *where, PRODUCT)
    if own is None:
        return None
    published = max(METHODS, key=lambda method: PUBLISHED[(*where, method)][0])
    best = PUBLISHED[(*where, published)][0]
    behind = {m: gap for m in METHODS if (gap := lead(results, where, PRODUCT, m)) is not None}
    top = min(behind, key=lambda method: behind[method]) if behind else None
    measured = [NONE, NONE]
    if top:
        of = f" (of {len(behind)})" if len(behind) < len(METHODS) else ""
        measured = [f"{top} {own - behind[top]:.1f}{of}", f"{behind[top]:+.1f}"]
    yes = own > best and (top is None or behind[top] > 0)
    rivals = ", ".join(significantly_ahead(results, *where)) or "none"
    beside = [f"{own:.1f}", f"{published} {best:.1f}", f"{own - best:+.1f}", *measured]
    return [f"{where[0]:.1%}", where[1], *beside, "yes" if yes else "no", rivals], yes


def _averages(results: Results) -> str:
    lines = []
    for rate in RATES:
        own = (_average(results, rate, method) for method in AVERAGED)
        lines.append((f"{rate:.1%}", *own, f"{TARGETS[rate]:.1f}", f"{PUBLISHED_MEANS[rate]:.1f}"))
    head = ("labelled", *AVERAGED, "wanted of an+", "paper's Ours-AN")
    return table(head, lines, "### Mean AUC over the five graphs\n\n")


def _average(results: Results, rate: float, method: str) -> str:
    means = [mean_of(results, rate, graph, method) for graph in GRAPHS]
    known = [mean for mean in means if mean is not None]
    if len(known) < len(GRAPHS):
        return f"incomplete ({len(known)} of {len(GRAPHS)} graphs)"
    return f"{np.mean(known):.2f}"


def _judged(told: str, missing: list[Where]) -> str:
    """What complete cells tell, and which ones are not complete."""
    if len(missing) == len(CELLS):
        return "No cell is complete yet: nothing is judged."
    names = ", ".join(_name(where) for where in missing)
    return f"{told} Incomplete and not judged: {names}." if missing else told


def _name(where: Where) -> str:
    return f"{where[1]} {where[0]:.1%}"


_WORDS = f"""Computed from the rows of the purely random splits. A method is judged where it has {SPLITS} of
them; what it is set beside may have fewer (at least {LEAST}), and then the splits that both have count.
"""
_METHODS_WORDS = """### Every method beside the paper

Our mean less the paper's, over the cells measured, and how many are within the paper's std.

"""
_ORDER_WORDS = """### The order of methods

Pairs of methods on a graph whose means in the paper differ by more than the sum of their stds, and
how many of them have the same order here; *told apart*: reversed, and a paired t-test says so.

"""
_REVERSED_WORDS = """
Reversed, with our lead in points (*: not told apart):

"""
_AHEAD = (
    "labelled",
    "graph",
    "an+",
    "best published",
    "difference",
    "best of the eleven here",
    "difference",
    "ahead of both",
    "significantly ahead of an+",
)
