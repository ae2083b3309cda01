"""What the random audit says: precision of the top, anomalies left, recall so far, and whether to stop.

Verdicts are counted, never estimated. For cases without one only audit draws speak (queries/sampling.py),
never cases that were chosen because they looked bad. All intervals aim at 95 %, most of the error above,
for what is left is bounded below by 0 anyway; how often they held in simulation: docs/audit.md.
clopper_pearson gives exact bounds [l, u] of a share from x hits in m draws.

**Left.** A draw j comes from stratum h of the open nodes (size M_h) when F_j anomalies are found, so that
F_j + M_h y_j / chance_h has the number of all anomalies as its mean, however the ranking changed between
draws (Des Raj 1956). M and F are those of the moment of the draw, not of the verdict: in between a strategy
may have worked through the same stratum. Averaged over the draws

    left = F − found + Σ_h M_h p_h        p: hits per draw of each stratum, isotonic (top ≥ next ≥ rest)

The one assumption is that the ranking is not worse than chance: p_top ≥ p_next ≥ p_rest. Then draws of next
and rest together (b), where next is over-represented, bound the share of anomalies in both from above. With
q = x/m

    high = F − found + M_0 q_0 + M_b q_b + √( M_0² (u_0 − q_0)² + M_b² (u_b − q_b)² )
    low  = F − found + Σ_h M_h l_h

The square root joins the bounds of two shares (Zou and Donner 2008). At the lower end a single hit in the
large rest makes it too bold, so that bounds are added there. A draw that was answered with unsure counts as a
hit in u and as a miss in l.

**Precision of the top k.** a confirmed, U without a verdict, the first U of the M_0 open nodes of the top:

    low  = a + U p_0 − √( U² (p_0 − l_0)² + z² U p_0 (1 − p_0) )     a list is no worse than its stratum
    high = a + min(U, M_0 u_0)                                       it may have all anomalies of the stratum

with l, u of the latest draws of the stratum, and so on down when U > M_0. Before there are draws that is
[a, a + U]: certain, and narrow once most of the list has a verdict.

A random check that is answered by labelling its group is a draw like any other: the anomalous ones would be
missing otherwise. The other members of a group are never draws. They count as labelled and, if anomalous, as
found, although nobody looked at them: wrong members make "found" too high.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import sqrt

import numpy as np
import numpy.typing as npt
from scipy.special import betaincinv

from gadcore.errors import InputError
from gadcore.graph.labels import LabelEvent, Verdict
from gadcore.loop.strategies.sampling import CHANCES, sizes_downward, stratum_of, stratum_sizes, top_size

LEAST_DRAWS = 15  # verdicts on audit cases before what is left is estimated
LEAST_RECALL_DRAWS = 40  # before the recall is given: with fewer the interval spans nearly everything
LEAST_TOP = 5  # draws of the top before its precision is given, unless the verdicts settle most of the list
SETTLED = 0.5  # part of the list that must have a verdict then
RECENT = 20  # draws of a stratum that the precision is taken from: older ones were drawn from another ranking
BELOW, ABOVE = 0.02, 0.04  # tails of one share; all strata are seldom at their lower bounds at once
_Z = 2.05  # of BELOW
_ROUND = 10  # checks that hold every stratum by its chance exactly
QUIET = 30  # labels without a hit that call for stopping
LEAST_RECALL = 0.5  # lower bound of the recall that allows stopping, unless the project wants another

# docs/audit.md
MEASURED = (
    "Intervals aim at 95 %; in 900 simulated sessions on three graphs, with a fast linear model, more than "
    "99 % of them held the true value, whether or not anybody retrained."
)

# Words of the screen, which the shell has others for.
BY_STRATEGY, TUNE = "the strategy Random audit", "Tune"
NO_ANOMALY = "no anomaly has been found"

Interval = tuple[float, float]
Estimate = tuple[float, Interval]


@dataclass(frozen=True)
class Draw:
    """A verdict on an audit case and the state when the case was drawn."""

    anomalous: bool | None  # None: unsure
    stratum: int  # 0 top, 1 next, 2 rest
    found_before: int  # anomalies confirmed before it
    open_before: int  # nodes without a verdict before it


@dataclass(frozen=True)
class AuditReport:
    """Estimates with 95 % intervals; None, and ``reason`` says why, while there are too few draws."""

    labelled: int
    found: int
    draws: int
    hits: int
    top: int  # size of the list that ``precision`` is about
    precision: float | None
    precision_interval: Interval | None
    left: float | None
    left_interval: Interval | None
    recall: float | None
    recall_interval: Interval | None
    since_hit: int  # labels since the last anomaly
    stop: bool
    hint: str
    reason: str  # why nothing is said of what is left
    precision_reason: str = ""  # why there is no precision
    recall_reason: str = ""  # why there is no recall
    checks_needed: int = 0  # random checks without a hit until stopping is allowed; 0: none, or never enough
    least_recall: float = LEAST_RECALL  # lower bound of the recall that allows stopping


def audit(
    n_nodes: int,
    events: Iterable[LabelEvent],
    top: Sequence[Verdict | None] | None = None,
    least_recall: float = LEAST_RECALL,
    mixed_in: bool = True,
) -> AuditReport:
    """Report on the current label events (one per node) of a graph with so many nodes.

    ``top`` has the verdicts of the list whose precision is asked for, best score first; without it that is
    the first stratum of the cases without a verdict. ``least_recall`` must be found for sure to stop.
    ``mixed_in``: the queue has random checks, as the texts say.
    """
    checked_recall(least_recall)
    ordered = sorted((event for event in events if event.verdict is not None), key=lambda event: event.id)
    verdicts = [event.verdict for event in ordered]
    found, open_now = verdicts.count(Verdict.ANOMALOUS), n_nodes - len(ordered)
    draws, since = audit_draws(n_nodes, ordered), _since_hit(verdicts)
    unsure = sum(draw.anomalous is None for draw in draws)
    decided = len(draws) - unsure if open_now else LEAST_RECALL_DRAWS
    listed = [None] * min(open_now, top_size(open_now)) if top is None else top
    precision, precision_reason = precision_of(listed, draws, open_now)
    reason = _too_few(decided, LEAST_DRAWS, unsure, mixed_in)
    too_few = _too_few(decided, LEAST_RECALL_DRAWS, unsure, mixed_in) if found else NO_ANOMALY
    left = None if reason else estimate_left(draws, found, open_now)
    recall, recall_interval = _recall(found, left) if decided >= LEAST_RECALL_DRAWS else (None, None)
    sure = left is not None and found > 0 and found >= least_recall * (found + left[1][1])
    needed = 0 if left is None or sure else _checks_needed(draws, found, open_now, least_recall)
    stop, hint = _advice(left, since, found, open_now, reason, needed, least_recall)
    return AuditReport(
        labelled=len(ordered),
        found=found,
        draws=sum(draw.anomalous is not None for draw in draws),
        hits=sum(draw.anomalous is True for draw in draws),
        top=len(listed),
        precision=precision[0] if precision else None,
        precision_interval=precision[1] if precision else None,
        left=left[0] if left else None,
        left_interval=left[1] if left else None,
        recall=recall,
        recall_interval=recall_interval,
        since_hit=since,
        stop=stop,
        hint=hint,
        reason=reason,
        precision_reason=precision_reason,
        recall_reason="" if recall is not None else too_few,
        checks_needed=needed,
        least_recall=least_recall,
    )


def audit_draws(n_nodes: int, ordered: Sequence[LabelEvent]) -> list[Draw]:
    """Draws among events in the order they were given, each with the state at the moment of the draw.

    That is the state at the verdict where the moment is not known.
    """
    ids = [event.id for event in ordered]
    found = np.cumsum([0, *(event.verdict is Verdict.ANOMALOUS for event in ordered)])
    draws = []
    for place, event in enumerate(ordered):
        if event.inclusion_probability is None:
            continue
        given = place if event.drawn_after is None else min(place, bisect_right(ids, event.drawn_after))
        stratum = stratum_of(event.inclusion_probability, n_nodes - given)
        anomalous = None if event.verdict is Verdict.UNSURE else event.verdict is Verdict.ANOMALOUS
        draws.append(Draw(anomalous, stratum, int(found[given]), n_nodes - given))
    return draws


@dataclass(frozen=True)
class Tally:
    """What the estimate of what is left takes from draws."""

    hits: list[int]  # of each stratum
    counts: list[int]  # draws of each stratum that were decided
    unsure: list[int]  # draws of each stratum that were not
    sizes: npt.NDArray[np.float64]  # sum over the draws of the sizes of the strata
    found_before: float  # sum over the draws

    @classmethod
    def of(cls, draws: Sequence[Draw]) -> Tally:
        own = [[draw.anomalous for draw in draws if draw.stratum == h] for h in range(len(CHANCES))]
        sizes = np.array([stratum_sizes(draw.open_before) for draw in draws], dtype=np.float64).sum(axis=0)
        before = float(sum(draw.found_before for draw in draws))
        hits, unsure = ([part.count(answer) for part in own] for answer in (True, None))
        return cls(hits, [len(part) - u for part, u in zip(own, unsure)], unsure, sizes, before)

    def left(self, found: int, open_now: int) -> Estimate:
        """Anomalies without a verdict, and their interval."""
        every = [m + u for m, u in zip(self.counts, self.unsure)]
        n = sum(every)
        sizes, base = self.sizes / n, self.found_before / n - found
        left = base + float(sizes @ falling(self.hits, self.counts))
        low = base + float(sizes @ [clopper_pearson(x, m)[0] for x, m in zip(self.hits, every)])
        middle, above = base, 0.0
        most = [x + u for x, u in zip(self.hits, self.unsure)]
        for size, x, m in _groups(sizes, most, every):
            share = x / m if m else 0.0
            middle += size * share
            above += (size * (clopper_pearson(x, m)[1] - share)) ** 2
        clipped = np.clip([left, min(low, left), middle + sqrt(above)], 0.0, open_now)
        return float(clipped[0]), (float(clipped[1]), max(float(clipped[2]), float(clipped[0])))


def estimate_left(draws: Sequence[Draw], found: int, open_now: int) -> Estimate:
    """Anomalies without a verdict, and their interval; none when every node has one."""
    return Tally.of(draws).left(found, open_now) if open_now else (0.0, (0.0, 0.0))


def precision_of(
    top: Sequence[Verdict | None], draws: Sequence[Draw], open_now: int
) -> tuple[Estimate | None, str]:
    """Share of anomalies in a list of the highest scores with its interval, or None and what is missing."""
    confirmed, most = top.count(Verdict.ANOMALOUS), len(top) - top.count(Verdict.NORMAL)
    unknown = most - confirmed
    if reason := _list_too_open(len(top), unknown, draws):
        return None, reason
    expected, high, variance = float(confirmed), float(confirmed), 0.0
    for h, size in enumerate(stratum_sizes(open_now)):
        part = min(unknown, size)
        unknown -= part
        if not part:
            continue
        recent = [draw.anomalous for draw in draws if draw.stratum == h][-RECENT:]
        hits, unsure = recent.count(True), recent.count(None)
        share = (hits + 0.5) / (len(recent) - unsure + 1)  # never 0 or 1: five misses do not make a rate of 0
        least = clopper_pearson(hits, len(recent))[0]
        largest = clopper_pearson(hits + unsure, len(recent))[1]
        expected += part * share
        variance += (part * max(0.0, share - least)) ** 2 + _Z**2 * part * share * (1 - share)
        high += min(part, size * largest)
    low, high = max(float(confirmed), expected - sqrt(variance)), min(float(most), high)
    k = max(1, len(top))
    return (min(max(expected, low), high) / k, (low / k, high / k)), ""


@lru_cache(maxsize=4096)
def clopper_pearson(hits: int, draws: int, below: float = BELOW, above: float = ABOVE) -> Interval:
    """Exact interval of a proportion with these tails."""
    low = float(betaincinv(hits, draws - hits + 1, below)) if hits else 0.0
    high = float(betaincinv(hits + 1, draws - hits, 1 - above)) if hits < draws else 1.0
    return low, high


def falling(hits: Sequence[int], counts: Sequence[int]) -> npt.NDArray[np.float64]:
    """Hits per draw of each stratum, those that would rise or have no draw joined to a neighbour."""
    blocks: list[tuple[int, int, int]] = []  # hits, draws, strata
    for x, m in zip(hits, counts):
        blocks.append((x, m, 1))
        while len(blocks) > 1 and blocks[-1][0] * blocks[-2][1] >= blocks[-2][0] * blocks[-1][1]:
            last = blocks.pop()
            blocks[-1] = (blocks[-1][0] + last[0], blocks[-1][1] + last[1], blocks[-1][2] + last[2])
    return np.concatenate([np.full(n, x / m if m else 0.0) for x, m, n in blocks])


def _groups(
    sizes: npt.NDArray[np.float64], hits: Sequence[int], counts: Sequence[int]
) -> list[tuple[float, int, int]]:
    """Size, hits and draws of what is bounded together: the top, and all below where next is not too rare."""
    (top, next_, rest), (x0, x1, x2), (m0, m1, m2) = sizes, hits, counts
    if m1 * rest >= m2 * next_:
        return [(top, x0, m0), (next_ + rest, x1 + x2, m1 + m2)]
    return list(zip(sizes, hits, counts))


def _recall(found: int, left: Estimate | None) -> tuple[float | None, Interval | None]:
    """Found as a share of found and left."""
    if left is None or not found:
        return None, None
    estimate, (low, high) = left
    return found / (found + estimate), (found / (found + high), found / (found + low))


def _too_few(draws: int, least: int, unsure: int, mixed_in: bool) -> str:
    """What is missing for an estimate, or an empty text."""
    if draws >= least:
        return ""
    answered = f" ({unsure} answered unsure)" if unsure else ""
    source = "The queue mixes them in" if mixed_in else f"They are switched off in the queue ({TUNE})"
    return (
        f"{draws} of the {least} random checks that are needed have a verdict{answered}. {source}; "
        f"{BY_STRATEGY} gives the other {least - draws} at once"
    )


def _list_too_open(k: int, unknown: int, draws: Sequence[Draw]) -> str:
    """Why the precision of a list is not known, or an empty text."""
    drawn = sum(draw.stratum == 0 and draw.anomalous is not None for draw in draws)
    if drawn >= LEAST_TOP or unknown <= (1 - SETTLED) * k:
        return ""
    checks = "check of the top was" if drawn == 1 else "checks of the top were"
    return (
        f"{k - unknown:,} of these {k:,} cases have a verdict, and {drawn} random {checks} decided. "
        f"Needed: verdicts on half of the list, or {LEAST_TOP} such checks"
    )


def _checks_needed(draws: Sequence[Draw], found: int, open_now: int, recall: float) -> int:
    """The least number of further checks without a hit after which ``found`` is this part of all for sure.

    0 when not even a check of every open node would do.
    """
    if not found or not open_now:
        return 0
    known = Tally.of(draws)
    sizes = np.cumsum(sizes_downward(open_now), axis=0, dtype=np.float64)

    def enough(more: int) -> bool:
        counts = [m + extra for m, extra in zip(known.counts, _split(more))]
        before = known.found_before + more * found
        then = Tally(known.hits, counts, known.unsure, known.sizes + sizes[more - 1], before)
        high = then.left(found, open_now - more)[1][1]
        return found >= recall * (found + high)

    every = range(1, open_now + 1)
    return every[bisect_left(every, True, key=enough)] if enough(open_now) else 0


def _split(checks: int) -> list[int]:
    """Checks of each stratum when they follow its chance as closely as whole numbers can."""
    given = [0] * len(CHANCES)
    for i in range(1, checks % _ROUND + 1):
        given[int(np.argmax([chance * i - known for chance, known in zip(CHANCES, given)]))] += 1
    return [round(chance * (checks - checks % _ROUND)) + known for chance, known in zip(CHANCES, given)]


def _since_hit(verdicts: Sequence[Verdict | None]) -> int:
    """Labels after the last anomalous one."""
    back = (since for since, verdict in enumerate(reversed(verdicts)) if verdict is Verdict.ANOMALOUS)
    return next(back, len(verdicts))


def _advice(
    left: Estimate | None,
    since: int,
    found: int,
    open_now: int,
    reason: str,
    needed: int,
    least_recall: float,
) -> tuple[bool, str]:
    """Whether to stop, and a sentence."""
    if not open_now:
        return True, "Every node has a verdict: nothing is left."
    if left is None:
        quiet = f"{since} labels since the last hit. " if found and since >= QUIET else ""
        return False, f"{quiet}Too early to say how many are left: {reason}."
    low, high = left[1]
    told = f"Between {low:,.0f} and {high:,.0f} anomalies are left"
    if not found:
        return False, f"No anomaly has been found in {since} labels; there are at most {high:,.0f}."
    if since < QUIET:
        ago = f"last hit was {since} label{'s' * (since != 1)} ago" if since else "last label was a hit"
        return False, f"{told}; the {ago}: go on."
    told += f", and none turned up in the last {since} labels"
    if found >= least_recall * (found + high):
        return True, f"{told}: you can stop, for at least {least_recall:.0%} of all are found."
    return False, f"{told}. Too wide to stop on: {_way_on(needed, least_recall)}."


def _way_on(needed: int, least_recall: float) -> str:
    if not needed:
        return "try another strategy"
    return (
        f"try another strategy, or make {needed:,} more random checks ({BY_STRATEGY}); without a hit "
        f"in them at least {least_recall:.0%} of all anomalies are found"
    )


def checked_recall(least: float) -> float:
    """A lower bound of the recall as it may be asked for; InputError when it is not between 0 and 1."""
    if isinstance(least, bool) or not isinstance(least, int | float) or not 0 < least < 1:
        raise InputError(f"a recall of {least!r}", "a share above 0 and below 1, for instance 0.8")
    return float(least)
