"""What strategies find per label: tables and mean curves, drawn from the rows of the loop study alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from gadcore.loop.strategies import DEFAULT
from gadcore.loop.strategies.ranked import Top, Uncertainty
from gadcore.studies.harness import NAMED, Row
from gadcore.studies.markdown import NONE, grouped, span, std, table
from gadcore.studies.sessions import PLAIN, RANDOM, TITLES, UNCHECKED

POINTS = (100, 200)  # labels at which the tables look
GREED = {UNCHECKED, PLAIN}  # by score, without random checks: they have a table of their own
FORMER = {"disagreement": "Members disagree"}  # measured, and no longer offered
_LAST = list(TITLES).index(Uncertainty.name) + 1  # of those before the former ones
MEASURED = dict([*list(TITLES.items())[:_LAST], *FORMER.items(), *list(TITLES.items())[_LAST:]])


@dataclass(frozen=True)
class Line:
    """Mean and deviation over seeds, point by point."""

    labels: list[int]
    mean: list[float]
    std: list[float]
    seeds: int


def render(rows: Iterable[Row]) -> str:
    """The whole page in Markdown."""
    parts = [_HEAD]
    for (wrong, model), part in sorted(grouped(longest(rows), "wrong", "model").items()):
        verdicts = f"{wrong:.0%} of the verdicts wrong" if wrong else "all verdicts right"
        parts.append(f"## {model}, {verdicts}\n")
        parts += [_default_against_the_rest(part), _without_checks(part), _precision_against_greed(part)]
        parts += [_graph_table(graph, own) for (graph,), own in sorted(grouped(part, "graph").items())]
    return "\n".join(parts)


def longest(rows: Iterable[Row]) -> list[Row]:
    """One row per session: of sessions that differ in length alone, the longest holds the others."""
    kept: dict[tuple[Any, ...], Row] = {}
    for row in rows:
        key = tuple(row[name] for name in ("graph", "method", "seed", "wrong", "model"))
        if key not in kept or kept[key]["labels"] < row["labels"]:
            kept[key] = row
    return list(kept.values())


def at(row: Row, figure: str, labels: int) -> float | None:
    """A figure of a session's curve after so many labels; None where it does not reach so far."""
    curve = row["curve"]
    return dict(zip(curve["labels"], curve[figure])).get(labels)


def mean_line(rows: Sequence[Row], figure: str) -> Line:
    """The mean curve of sessions, where all of them have the figure."""
    curves = [dict(zip(row["curve"]["labels"], row["curve"][figure])) for row in rows]
    shared = sorted(set.intersection(*map(set, curves))) if curves else []
    points = [k for k in shared if all(curve[k] is not None for curve in curves)]
    values = np.array([[curve[k] for k in points] for curve in curves], dtype=np.float64)
    return Line(points, list(values.mean(axis=0)), [std(column) for column in values.T], len(curves))


def by_strategy(rows: Iterable[Row]) -> dict[str, list[Row]]:
    """Rows of each strategy, the default first, then in the order of the registry."""
    found = grouped(rows, "method")
    return {name: found[name,] for name in MEASURED if (name,) in found}


def _moments(rows: Iterable[Row]) -> Iterator[tuple[str, int, list[Row], dict[str, list[Row]]]]:
    """Each graph after so many labels: its rows, and these by strategy."""
    for (graph,), own in sorted(grouped(rows, "graph").items()):
        parts = by_strategy(own)
        yield from ((graph, point, own, parts) for point in POINTS)


def _values(rows: Sequence[Row], figure: str, labels: int) -> list[float]:
    return [value for row in rows if (value := at(row, figure, labels)) is not None]


def _default_against_the_rest(rows: list[Row]) -> str:
    """The default's finds beside random's and the best strategy's, graph by graph."""
    lines = []
    for graph, point, own, parts in _moments(rows):
        found = _values(parts.get(DEFAULT, []), "found", point)
        if not found:
            continue
        rivals = {name: pair for name in parts if (pair := _paired(parts, name, point))}
        # Of equals one other than the default is named.
        open_to = {name: pair.lead for name, pair in rivals.items() if name not in GREED}
        best = max(open_to, key=lambda name: (open_to[name], name != DEFAULT))
        blind = rivals.get(RANDOM)
        drawn = f"{blind.other:.1f}" if blind else NONE
        counts = f"{np.mean(found):.1f}", f"{chance(own[0], point):.1f}", drawn, _times(blind)
        first = f"{best} ({rivals[best].other:.1f}{_fewer(parts, best)})"
        lines.append((graph, point, *counts, first, _share(rivals[best])))
    head = ("graph", "labels", "found", "by chance", "random", "× random", "best strategy", "of the best")
    return table(head, lines, f"`{DEFAULT}` (the default) against the others (`{PLAIN}` below):\n\n")


def _without_checks(rows: list[Row]) -> str:
    """What the random checks cost, and the default beside plain greed where neither spends labels on them."""
    lines = []
    for graph, point, _, parts in _moments(rows):
        bare, checked = (_paired(parts, PLAIN, point, name) for name in (UNCHECKED, DEFAULT))
        if bare and checked:
            found = (f"{value:.1f}" for value in (bare.own, checked.own, bare.other))
            lines.append((graph, point, *found, _share(bare), _share(checked)))
    against = (f"`{PLAIN}`", f"of `{PLAIN}`", f"with checks, of `{PLAIN}`")
    return table(("graph", "labels", "found", "with checks", *against), lines, _UNCHECKED) if lines else ""


def _fewer(parts: dict[str, list[Row]], other: str) -> str:
    """How many seeds a comparison rests on, where these are not all of the default's."""
    own, both = ({row["seed"] for row in parts[name]} for name in (DEFAULT, other))
    n = len(own & both)
    return "" if n == len(own) else f", {n} seed{'s' * (n != 1)}"


def _precision_against_greed(rows: list[Row]) -> str:
    """What the model has learnt from the default's labels, beside three kinds of greed: mean held-out AP."""
    graphs = [by_strategy(own) for own in grouped(rows, "graph").values()]
    lines = []
    for point, other in product(POINTS, (PLAIN, UNCHECKED, Top.name)):
        pairs = [pair for parts in graphs if (pair := _paired(parts, other, point, figure="ap"))]
        if pairs:
            ours, theirs = 100 * np.mean([(pair.own, pair.other) for pair in pairs], axis=0)
            lines.append(
                f"Held-out AP after {point} labels, mean over {len(pairs)} graph{'s' * (len(pairs) != 1)}: "
                f"{ours:.1f} with `{DEFAULT}`, {theirs:.1f} with `{other}`.\n"
            )
    return "\n".join(lines)


@dataclass(frozen=True)
class SeedPairs:
    """A figure of two strategies, seed by seed."""

    ours: tuple[float, ...]
    theirs: tuple[float, ...]

    @property
    def own(self) -> float:
        return float(np.mean(self.ours))

    @property
    def other(self) -> float:
        return float(np.mean(self.theirs))

    @property
    def lead(self) -> float:
        """How many times ours the other's figure is."""
        return self.other / max(self.own, 1e-9)

    @property
    def quotient(self) -> float | None:
        """Ours as a multiple of the other's; None of nothing."""
        return self.own / self.other if self.other else None

    @property
    def error(self) -> float | None:
        """Standard error of the quotient, which is one of means over the same seeds."""
        if self.quotient is None or len(self.ours) < 2:
            return None
        rest = np.array(self.ours) - self.quotient * np.array(self.theirs)
        return float(std(rest) / np.sqrt(len(rest)) / self.other)


def _paired(
    parts: dict[str, list[Row]], other: str, labels: int, name: str = DEFAULT, figure: str = "found"
) -> SeedPairs | None:
    """Figures of two strategies over the seeds that both have; None without such a seed."""
    one, two = (
        {row["seed"]: value for row in parts.get(n, []) if (value := at(row, figure, labels)) is not None}
        for n in (name, other)
    )
    seeds = sorted(set(one) & set(two))
    return SeedPairs(tuple(one[s] for s in seeds), tuple(two[s] for s in seeds)) if seeds else None


@dataclass(frozen=True)
class StrategyStanding:
    """What a strategy finds after so many labels, beside blind draws and the best strategy."""

    strategy: str
    found: float
    std: float
    times_random: float | None  # None where random draws found nothing or share no seed
    of_the_best: float | None
    error: float | None  # standard error of that; None with a single seed, 0 for the best itself
    seeds: int


def standings(rows: Iterable[Row], labels: int) -> list[StrategyStanding]:
    """Every strategy of one graph that reaches so many labels, the best first; compared over common seeds."""
    parts = by_strategy(rows)
    values = {name: own for name, part in parts.items() if (own := _values(part, "found", labels))}
    best = max(values, key=lambda name: float(np.mean(values[name])), default="")
    found = []
    for name, own in values.items():
        blind, first = (_paired(parts, rival, labels, name) for rival in (RANDOM, best))
        shares = (first.quotient, first.error) if first else (None, None)
        times = blind.quotient if blind else None
        found.append(StrategyStanding(name, float(np.mean(own)), std(own), times, *shares, len(own)))
    return sorted(found, key=lambda standing: -standing.found)


def chance(row: Row, labels: int) -> float:
    """Anomalies that so many blind draws find on average."""
    return float(labels * row["anomalies"] / row["askable"])


def _graph_table(graph: str, rows: list[Row]) -> str:
    parts = by_strategy(rows)
    points = [p for p in POINTS if any(_values(part, "found", p) for part in parts.values())]
    lines = []
    for name, part in parts.items():
        found = ((_cell(_values(part, "found", p)), _times(_paired(parts, RANDOM, p, name))) for p in points)
        learnt = (_cell([100 * row[m] for row in part if row[m] is not None]) for m in ("auc", "ap"))
        spent = span(int(row["curve"]["labels"][-1]) for row in part)
        lines.append([name, *(cell for pair in found for cell in pair), *learnt, spent, len(part)])
    known = f"{rows[0]['anomalies']} anomalies among {rows[0]['askable']:,} nodes that can be asked about."
    columns = [column for p in points for column in (f"found at {p}", "× random")]
    head = ["strategy", *columns, "held-out AUC", "held-out AP", "labels", "seeds"]
    return table(head, lines, f"### {graph}\n\n{known}\n\n")


def _cell(values: Sequence[float]) -> str:
    if not values:
        return NONE
    return f"{np.mean(values):.1f} ± {std(values):.1f}" if len(values) > 1 else f"{values[0]:.1f}"


def _times(pair: SeedPairs | None) -> str:
    return f"{pair.quotient:.1f}" if pair and pair.quotient is not None else NONE


def _share(pair: SeedPairs) -> str:
    return percent(pair.quotient, pair.error)


def percent(share: float | None, error: float | None) -> str:
    """A share with its standard error where it has one: 94 ± 2%."""
    if share is None:
        return NONE
    return f"{100 * share:.0f} ± {100 * error:.0f}%" if error else f"{share:.0%}"


_UNCHECKED = (
    f"`{UNCHECKED}` (the default, but no label goes to random checks) against plain greed (`{PLAIN}`), "
    "which has none either:\n\n"
)
_HEAD = f"""# What each query strategy finds

Drawn by `ringfence experiments loop --render` from `{NAMED}/loop.jsonl` alone. Simulated
analysts label batches of ten as in the app: the model is fitted again after each batch, 15 % of the cases are
random checks, nothing is known at the start. A fifth of each class is held out: never asked, only scored.
*Found* counts anomalies confirmed; held-out AUC and average precision (AP), in per cent, are the model’s at
the last label. Mean ± standard deviation over the seeds; two strategies are compared over the seeds that both
have, as a share ± its standard error. Four are there to compare with and spend no label on random checks.
`unchecked` is the default without them. `plain` takes the highest scores as they are, `random` draws blindly.
`entropy` is the uncertainty sampling of scikit-activeml and small-text, by a logistic regression on ÂX. The
same model is fitted to their labels (to those of `random` and `entropy`, which choose without it, after every
fifth batch).
"""
