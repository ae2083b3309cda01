"""Fraud in the demo: five kinds, which show in who pays whom, in which direction, when and how much.

mule ring      strangers pay in; the money goes round the group within hours, a little less each time
shared device  accounts of one device take small sums from strangers and put them together late in the day
bust-out       months of ordinary life, then a burst of large card payments at one shop that passes them on
takeover       one night an account empties to new payees, some of whom pass the money on before noon
camouflaged    lives as others do; only those who pay it tell
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
from demo_town import DAY, DAYS, Nodes, Town, at_night, by_day, clock, evened, money, some

SIZES = {
    "mule ring": (6, 5, 7, 5, 6, 5, 5, 4),
    "shared device": (5, 4, 6, 4, 4, 4),
    "bust-out": (5, 5, 4, 5),
    "takeover": (5, 4, 5, 5, 4),
}
N_CAMOUFLAGED = 26
DROPPED = 0.6  # of the honest payments of fraud, but for regular ones: so the number of links does not tell
REGULAR = ("batch", "order")  # wages, rents, money from home
BOLD = 3  # factor of what the first group of each kind does: a few give themselves away
CAMOUFLAGED = "camouflaged"


def plant(town: Town, rng: np.random.Generator) -> None:
    """About 3.5 % of the accounts, in groups of each kind, with camouflaged members around them."""
    pool = list(rng.permutation(town.of_segment("student", "employee", "gig worker", "newcomer")))
    shops = list(rng.permutation(town.of_segment("shop")))
    groups = []
    for kind, sizes in SIZES.items():
        for place, size in enumerate(sizes):
            group = np.array([pool.pop() for _ in range(size)])
            if kind == "bust-out":
                group[0] = shops.pop()
            _mark(town, group, kind)
            groups.append(group)
            town.bold.update(group.tolist() if place == 0 else ())
    hidden = [(groups[i % len(groups)], int(pool.pop())) for i in range(N_CAMOUFLAGED)]
    _mark(town, np.array([member for _, member in hidden]), CAMOUFLAGED)
    _fewer_honest_payments(town, rng)
    for group in groups:
        _SCHEMES[town.kind[group[-1]]](town, rng, group)
    for group, member in hidden:
        _enrich(town, rng, group, member)


def _mark(town: Town, group: Nodes, kind: str) -> None:
    for node in group:
        town.kind[node] = kind


def _fewer_honest_payments(town: Town, rng: np.random.Generator) -> None:
    """Drop part of the honest payments of accounts that are marked now; all of one pair or none."""
    marked = {node for node, kind in enumerate(town.kind) if kind not in ("", CAMOUFLAGED)}
    dropped: dict[tuple[int, int], bool] = {}
    for payment in town.payments:
        if payment.channel not in REGULAR and marked & {payment.source, payment.target}:
            dropped.setdefault(payment[1:3], bool(rng.random() < DROPPED))
    town.payments = [payment for payment in town.payments if not dropped.get(payment[1:3])]


def _nerve(town: Town, group: Nodes) -> int:
    """How often a group strikes and how much it takes, as a factor."""
    return BOLD if int(group[0]) in town.bold else 1


def _strangers(town: Town, rng: np.random.Generator, number: int) -> Nodes:
    honest = [node for node in town.people() if not town.kind[node]]
    return some(rng, np.array(honest), number)


def _ring(town: Town, rng: np.random.Generator, group: Nodes) -> None:
    nerve = _nerve(town, group)
    for start in np.sort(rng.integers(3, DAYS - 5, nerve * rng.integers(2, 4))):
        circle = np.roll(group, rng.integers(len(group)))
        at, total = start * DAY + by_day(rng), 0.0
        for victim in _strangers(town, rng, nerve * rng.integers(1, 3)):
            amount = money(rng, 380, 0.5, 0.3)
            total += amount
            town.pay(at - rng.uniform(0.5, 8) * 60, victim, circle[0], amount, "app")
        for source, target in pairwise([*circle, circle[0]]):
            at += float(np.exp(rng.normal(np.log(6), 0.8))) * 60
            total *= rng.uniform(0.86, 0.97)
            town.pay(at, source, target, _as_asked(rng, total), "app")
    _chords(town, rng, group)


def _as_asked(rng: np.random.Generator, amount: float) -> float:
    return evened(amount) if rng.random() < 0.4 else amount


def _chords(town: Town, rng: np.random.Generator, group: Nodes) -> None:
    for node in group[2:]:
        at = rng.integers(DAYS) * DAY + clock(town, int(node), rng)
        town.pay(at, node, int(rng.choice(group)), money(rng, 90, 0.7, 0.3), "app")


def _one_device(town: Town, rng: np.random.Generator, group: Nodes) -> None:
    town.share_device(group.tolist())
    nerve = _nerve(town, group)
    for start in np.sort(rng.integers(3, DAYS - 8, 2 * nerve)):
        collector = int(rng.choice(group))
        for node in group:
            taken = 0.0
            for victim in _strangers(town, rng, nerve * rng.integers(1, 3)):
                amount = money(rng, 80, 0.6, 0.4)
                taken += amount
                town.pay((start + rng.integers(0, 4)) * DAY + by_day(rng), victim, node, amount, "app")
            late = (start + 4) * DAY + rng.uniform(20, 27) * 60
            town.pay(late, node, collector, _as_asked(rng, taken * rng.uniform(0.8, 0.97)), "app")


def _bust_out(town: Town, rng: np.random.Generator, group: Nodes) -> None:
    shop, holders = int(group[0]), group[1:]
    burst, nerve = rng.integers(76, 84), _nerve(town, group)
    for node in holders:
        for day in rng.integers(0, 70, 1 + rng.poisson(1.0)):
            town.pay(day * DAY + clock(town, int(node), rng), node, shop, money(rng, 40, 0.6), "card")
        for day in burst + rng.integers(0, 6, nerve * rng.integers(3, 6)):
            amount = money(rng, 260 * nerve, 0.5, 0.2)
            town.pay(day * DAY + clock(town, int(node), rng), node, shop, amount, "card")
    for source, target in pairwise([*holders, holders[0]]):
        town.pay(rng.integers(DAYS) * DAY + by_day(rng), source, target, money(rng, 80, 0.7, 0.4), "app")
    for day in burst + 1 + rng.integers(0, 6, 3 * nerve):
        amount = money(rng, 600 * nerve, 0.4, 0.5)
        town.pay(day * DAY + by_day(rng), shop, int(rng.choice(holders)), amount, "web")


def _takeover(town: Town, rng: np.random.Generator, group: Nodes) -> None:
    """A taken-over account empties to fresh ones at night, some of which pass it on."""
    victim, payees = int(group[0]), group[1:]
    at = rng.integers(20, DAYS - 2) * DAY + at_night(rng)
    received, typical = {}, 330 * _nerve(town, group) ** 2
    for node in payees:
        at += float(rng.exponential(14))
        received[int(node)] = money(rng, typical, 0.5, 0.4)
        town.pay(at, victim, node, received[int(node)], "app")
    for source, target in pairwise(payees.tolist()):
        if rng.random() < 0.7:
            later = at + float(np.exp(rng.normal(np.log(5), 0.7))) * 60
            town.pay(later, source, target, received[source] * rng.uniform(0.6, 0.97), "app")


def _enrich(town: Town, rng: np.random.Generator, group: Nodes, member: int) -> None:
    """Members of a group pay the one behind it, at any hour and no more than friends do."""
    for contact in some(rng, group, 3):
        for _ in range(1 + rng.poisson(0.7)):
            at = rng.integers(DAYS) * DAY + clock(town, int(contact), rng)
            town.pay(at, contact, member, money(rng, 95, 0.7, 0.3), "app")


_SCHEMES: dict[str, Callable[[Town, np.random.Generator, Nodes], None]] = {
    "mule ring": _ring,
    "shared device": _one_device,
    "bust-out": _bust_out,
    "takeover": _takeover,
}
