"""Every derived column once more, node by node and in plain Python: what the vectorised ones must equal."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from itertools import pairwise, permutations
from statistics import mean, median

from gadcore.graph import Links
from gadcore.graph.links import DAY

NAN = math.nan


@dataclass(frozen=True)
class Link:
    source: int
    target: int
    time: float
    amount: float
    kind: int


def link_list(links: Links) -> list[Link]:
    """The links one by one; what they do not have is nan or -1."""
    rows = range(len(links))
    time = [NAN for _ in rows] if links.time is None else [float(t) for t in links.time]
    amount = [NAN for _ in rows] if links.amount is None else [float(a) for a in links.amount]
    kind = [-1 for _ in rows] if links.kind is None else [int(k) for k in links.kind]
    return [Link(int(links.source[i]), int(links.target[i]), time[i], amount[i], kind[i]) for i in rows]


def plain(links: Links) -> dict[str, list[float]]:
    """(N,) values by key."""
    every = link_list(links)
    nodes = range(links.n_nodes)
    told: dict[str, list[float]] = {}
    for side in ("in", "out"):
        for key, value in _SIDES.items():
            told[f"{key}_{side}"] = [value(_own(every, node, side), side) for node in nodes]
        told |= _unusual(every, side, links.n_nodes)
    for key, of_node in _NODES.items():
        told[key] = [float(of_node(every, node)) for node in nodes]
    for code in range(8):
        told[f"kind_{code}"] = [_kind_share(every, node, {code}) for node in nodes]
    told["kind_other"] = [_kind_share(every, node, set(range(8, 99))) for node in nodes]
    for n in (3, 4):
        told[f"cycles_{n}"] = on_cycles(every, links.n_nodes, n, timed=links.time is not None)
    return told


def _own(every: list[Link], node: int, side: str) -> list[Link]:
    return [x for x in every if (x.target if side == "in" else x.source) == node]


def _other(link: Link, side: str) -> int:
    return link.source if side == "in" else link.target


def _amounts(own: list[Link]) -> list[float]:
    return [x.amount for x in own if not math.isnan(x.amount)]


def _timed(own: list[Link]) -> list[Link]:
    return [x for x in own if not math.isnan(x.time)]


def _most(things: list[object]) -> float:
    return float(max(Counter(things).values(), default=0))


def _share(hits: int, whole: int) -> float:
    return 100 * hits / whole if whole else NAN


def _round(amount: float) -> bool:
    text = f"{abs(amount):.2f}"
    digits = text.removesuffix(".00")
    return digits.isdigit() and digits.endswith("0") and 1 <= len(digits.strip("0")) <= 2 and digits != "0"


def _day(link: Link) -> int:
    return math.floor(link.time / DAY)


def _most_partners(own: list[Link], side: str) -> float:
    timed = _timed(own)
    within = [{_other(x, side) for x in timed if 0 <= end.time - x.time < 7 * DAY} for end in timed]
    return float(max(map(len, within), default=0))


_SIDES = {
    "links": lambda own, side: float(len(own)),
    "partners": lambda own, side: float(len({_other(x, side) for x in own})),
    "pair_most": lambda own, side: _most([_other(x, side) for x in own]),
    "total": lambda own, side: sum(_amounts(own)),
    "mean": lambda own, side: mean(_amounts(own)) if _amounts(own) else NAN,
    "largest": lambda own, side: max(_amounts(own), default=NAN),
    "smallest": lambda own, side: min(_amounts(own), default=NAN),
    "equal_most": lambda own, side: _most(
        [(_other(x, side), x.amount) for x in own if not math.isnan(x.amount)]
    ),
    "round": lambda own, side: _share(sum(map(_round, _amounts(own))), len(_amounts(own))),
    "negative": lambda own, side: _share(sum(a < 0 for a in _amounts(own)), len(_amounts(own))),
    "day_most": lambda own, side: _most([(_other(x, side), _day(x)) for x in _timed(own)]),
    "week_partners": _most_partners,
    "night": lambda own, side: _share(
        sum(x.time % DAY < 6 * 3600 for x in _timed(own)), len(_timed(own))
    ),
}  # fmt: skip


def _both(every: list[Link], node: int) -> list[Link]:
    return [x for x in every if node in (x.source, x.target)]


def _moments(every: list[Link], node: int) -> list[float]:
    return sorted(x.time for x in _timed(_both(every, node)))


def _seen(every: list[Link], node: int, which: int) -> float:
    moments = _moments(every, node)
    return (moments[which] - min(x.time for x in _timed(every))) / DAY if moments else NAN


def _gap(every: list[Link], node: int) -> float:
    moments = _moments(every, node)
    return median((b - a) / DAY for a, b in pairwise(moments)) if len(moments) > 1 else NAN


def _in_per_out(every: list[Link], node: int) -> float:
    come, gone = (sum(_amounts(_own(every, node, side))) for side in ("in", "out"))
    return come / gone if gone > 0 and come >= 0 else NAN


def _returned(every: list[Link], node: int) -> float:
    sums: Counter[tuple[int, int]] = Counter()
    for x in every:
        if not math.isnan(x.amount):
            sums[x.source, x.target] += x.amount  # type: ignore[assignment]
    sent = {b: max(s, 0) for (a, b), s in sums.items() if a == node != b}
    back = sum(min(s, max(sums[b, node], 0)) for b, s in sent.items())
    return 100 * back / sum(sent.values()) if sum(sent.values()) > 0 else NAN


def _neighbours(every: list[Link], node: int) -> set[int]:
    return {x.source + x.target - node for x in _both(every, node)} - {node}


def _triangles(every: list[Link], node: int) -> float:
    near = _neighbours(every, node)
    return sum(len(near & _neighbours(every, u)) for u in near) / 2


def _partners_of_partners(every: list[Link], node: int) -> float:
    near = _neighbours(every, node)
    return mean(len(_neighbours(every, u)) for u in near) if near else NAN


def _rest(every: list[Link], node: int) -> float:
    moving = [x for x in _timed(every) if x.source != x.target]
    gone = [x.time for x in _own(moving, node, "out")]
    waits = [min(t - x.time for t in gone if t >= x.time) / DAY
             for x in _own(moving, node, "in") if any(t >= x.time for t in gone)]  # fmt: skip
    return median(waits) if waits else NAN


def _passed_on(every: list[Link], node: int) -> float:
    """First in, first out, one link after the other."""
    moving = [x for x in _timed(every) if x.source != x.target and x.amount > 0]
    got = sorted(_own(moving, node, "in"), key=lambda x: x.time)
    left = [x.amount for x in got]
    passed = 0.0
    for x in sorted(_own(moving, node, "out"), key=lambda x: x.time):
        more = x.amount
        for i, arrival in enumerate(got):
            if 0 <= x.time - arrival.time <= DAY:
                part = min(left[i], more)
                left[i], more, passed = left[i] - part, more - part, passed + part
    return 100 * passed / sum(x.amount for x in got) if got else NAN


_NODES = {
    "in_per_out": _in_per_out,
    "returned": _returned,
    "active_days": lambda every, node: len({_day(x) for x in _timed(_both(every, node))}),
    "busiest_day": lambda every, node: _most([_day(x) for x in _timed(_both(every, node))]),
    "median_gap": _gap,
    "first_seen": lambda every, node: _seen(every, node, 0),
    "last_seen": lambda every, node: _seen(every, node, -1),
    "rest": _rest,
    "passed_on": _passed_on,
    "triangles": _triangles,
    "partners_of_partners": _partners_of_partners,
}  # fmt: skip


def _kind_share(every: list[Link], node: int, codes: set[int]) -> float:
    known = [x for x in _both(every, node) if x.kind >= 0]
    return _share(sum(x.kind in codes for x in known), len(known))


def on_cycles(every: list[Link], n_nodes: int, length: int, *, timed: bool) -> list[float]:
    """Links out of each node that are on a cycle in time order, by trying all."""
    moving = [x for x in (_timed(every) if timed else every) if x.source != x.target]
    on: set[int] = set()
    for ring in permutations(range(n_nodes), length):
        sides = [[i for i, x in enumerate(moving) if (x.source, x.target) == pair]
                 for pair in zip(ring, ring[1:] + ring[:1])]  # fmt: skip
        on |= {i for way in _in_order(sides, moving, timed) for i in way}
    return [float(sum(moving[i].source == node for i in on)) for node in range(n_nodes)]


def _in_order(sides: list[list[int]], moving: list[Link], timed: bool) -> list[list[int]]:
    ways: list[list[int]] = [[]]
    for side in sides:
        ways = [[*way, i] for way in ways for i in side
                if not way or not timed or moving[way[-1]].time <= moving[i].time]  # fmt: skip
    return ways


def _unusual(every: list[Link], side: str, n: int) -> dict[str, list[float]]:
    known = [x for x in every if not math.isnan(x.amount)]
    about = Counter(_two_digits(x.amount) for x in known)
    rarity = {id(x): math.log(len(known) / about[_two_digits(x.amount)]) for x in known}
    own = [[x for x in known if (x.target if side == "in" else x.source) == node] for node in range(n)]
    told = {
        f"rarest_{side}": [math.exp(max(rarity[id(x)] for x in o)) if o else NAN for o in own],
        f"rarity_{side}": [math.exp(mean(rarity[id(x)] for x in o)) if o else NAN for o in own],
    }
    for end in ("sender", "receiver"):
        off = _off(known, end)
        told[f"off_{end}_{side}"] = [max(off[id(x)] for x in o) if o else NAN for o in own]
    return told


def _two_digits(amount: float) -> str:
    return f"{amount:.1e}" if amount else "0"


def _off(known: list[Link], end: str) -> dict[int, float]:
    folded = _folded(known)
    if not known:
        return {}
    centre = median(folded.values())
    spread = 1.4826 * median(abs(v - centre) for v in folded.values())
    if not spread:
        middle = mean(folded.values())
        spread = math.sqrt(mean((v - middle) ** 2 for v in folded.values())) or 1.0
    off = {}
    for node in {getattr(x, "source" if end == "sender" else "target") for x in known}:
        own = [x for x in known if getattr(x, "source" if end == "sender" else "target") == node]
        n = len(own)
        usual = (n * median(folded[id(x)] for x in own) + centre) / (n + 1)
        far = {id(x): abs(folded[id(x)] - usual) for x in own}
        scale = max((n * 1.4826 * median(far.values()) + 5 * spread) / (n + 5), 0.1 * spread)
        off |= {key: value / scale for key, value in far.items()}
    return off


def _folded(known: list[Link]) -> dict[int, float]:
    if all(x.amount > 0 for x in known):
        return {id(x): math.log(x.amount) for x in known}
    sizes = [abs(x.amount) for x in known if x.amount]
    scale = median(sizes) if sizes else 1.0
    return {id(x): math.copysign(math.log1p(abs(x.amount) / scale), x.amount) for x in known}
