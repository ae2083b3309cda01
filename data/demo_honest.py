"""Honest life in the demo: wages, rents, shopping, friends, and whatever looks like fraud and is not.

Look-alikes, each with the shape, the direction and the time of a kind of fraud: savings clubs (money in a
circle), flat shares and gig workers (in from several, out within a day), pay rolls and takings (out to many,
in from many), sellers of old things (paid by strangers), households (one device), night shifts (payments at
night), removals and sales (many new payees in a burst).
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from demo_town import (
    DAY,
    DAYS,
    MONTHS,
    Nodes,
    Town,
    at_night,
    by_day,
    clock,
    evened,
    in_the_evening,
    money,
    some,
)

SALE_SHARE, REMOVAL_SHARE, SELLER_SHARE, TENANT_SHARE = 0.07, 0.03, 0.025, 0.3


def live(town: Town, rng: np.random.Generator) -> None:
    """All honest payments of three months."""
    for part in (wages, allowances, rents, shopping, friends, households):
        part(town, rng)
    for part in (clubs, flat_shares, gigs, sellers, removals, trade):
        part(town, rng)


def wages(town: Town, rng: np.random.Generator) -> None:
    """Firms pay their people in one go near the end of a month, and pensions come from fifteen of them."""
    firms = town.of_segment("company")
    staff = town.of_segment("employee")
    employer = rng.choice(firms, len(staff), p=_uneven(rng, len(firms)))
    _pay_roll(town, rng, staff, employer, 1900)
    retired = town.of_segment("retired")
    _pay_roll(town, rng, retired, rng.choice(firms[:15], len(retired)), 1300)


def _uneven(rng: np.random.Generator, n: int) -> np.ndarray:
    """Shares of n, some of them much larger than others."""
    size = np.exp(rng.normal(0, 0.5, n))
    return size / size.sum()


def _pay_roll(town: Town, rng: np.random.Generator, staff: Nodes, employer: Nodes, typical: float) -> None:
    day = {firm: rng.integers(24, 29) for firm in np.unique(employer)}
    for node, firm in zip(staff, employer):
        wage = typical * town.wealth[node]
        for month in MONTHS:
            at = (month + day[firm]) * DAY + rng.uniform(6, 8) * 60
            town.pay(at, firm, node, wage * rng.uniform(0.97, 1.03), "batch")


def allowances(town: Town, rng: np.random.Generator) -> None:
    """Students get money from home each month."""
    parents = town.of_segment("employee", "retired")
    for group in town.communities():
        near = np.intersect1d(group, parents)
        for node in np.intersect1d(group, town.of_segment("student")):
            _monthly(town, rng, int(rng.choice(near)), int(node), evened(money(rng, 420, 0.4)))


def rents(town: Town, rng: np.random.Generator) -> None:
    """Part of the people pay a landlord of their community by standing order."""
    for group in town.communities():
        landlords = some(rng, group, 2)
        for node in np.intersect1d(group, town.of_segment("employee", "retired", "newcomer")):
            if rng.random() < TENANT_SHARE:
                _monthly(town, rng, int(node), int(rng.choice(landlords)), evened(money(rng, 620, 0.3)))


def _monthly(town: Town, rng: np.random.Generator, source: int, target: int, amount: float) -> None:
    day = rng.integers(0, 4)
    for month in MONTHS:
        town.pay((month + day) * DAY + rng.uniform(5, 7) * 60, source, target, amount, "order")


def shopping(town: Town, rng: np.random.Generator) -> None:
    """Card payments at a few shops nearby and some elsewhere; a few shops have a sale in the last weeks."""
    shops = town.of_segment("shop")
    sale = set(some(rng, shops, round(SALE_SHARE * len(shops))).tolist())
    for group in town.communities():
        near = np.intersect1d(group, shops)
        for node in np.intersect1d(group, town.people()):
            places = np.r_[some(rng, near, 1 + rng.poisson(0.5)), rng.choice(shops, rng.integers(0, 2))]
            for shop in places:
                _buy(town, rng, int(node), int(shop), 1 + rng.poisson(0.3))
                if int(shop) in sale:
                    _buy(town, rng, int(node), int(shop), 1 + rng.poisson(1.2), first=76, typical=90)


def _buy(
    town: Town,
    rng: np.random.Generator,
    node: int,
    shop: int,
    times: int,
    first: int = 0,
    last: int = DAYS,
    typical: float = 38,
) -> None:
    for _ in range(times):
        at = rng.integers(first, last) * DAY + clock(town, node, rng)
        town.pay(at, node, shop, money(rng, typical * town.wealth[node], 0.7, 0.05), "card")


def friends(town: Town, rng: np.random.Generator) -> None:
    """Friends lend each other small sums; two of five times it comes back."""
    for group in town.communities():
        near = np.intersect1d(group, town.people())
        for node in near:
            for friend in some(rng, near, 1 + rng.poisson(0.1)):
                for _ in range(1 + rng.poisson(0.25)):
                    _lend(town, rng, int(node), int(friend))


def _lend(town: Town, rng: np.random.Generator, node: int, friend: int) -> None:
    day, amount = rng.integers(DAYS), money(rng, 55 * town.wealth[node], 0.8, 0.4)
    town.pay(day * DAY + clock(town, node, rng), node, friend, amount, "app")
    if rng.random() < 0.4:
        back = day + rng.integers(1, 15)
        town.pay(back * DAY + clock(town, friend, rng), friend, node, amount, "app")


def households(town: Town, rng: np.random.Generator) -> None:
    """Two to five people on one device, who share their costs in the evening."""
    for group in town.communities():
        people = rng.permutation(np.intersect1d(group, town.people()))
        for start in range(0, len(people) // 3, 5):
            home = people[start : start + rng.integers(2, 6)]
            town.share_device(home.tolist())
            for source, target in pairwise([*home, home[0]]):
                for day in rng.integers(0, DAYS, rng.poisson(2.0)):
                    town.pay(day * DAY + in_the_evening(rng), source, target, money(rng, 70, 0.7, 0.3), "app")


def clubs(town: Town, rng: np.random.Generator) -> None:
    """Savings clubs: each month the same sum goes round within a day or two, or all pay one of them."""
    for group in town.communities():
        people = np.intersect1d(group, town.people())
        for _ in range(rng.poisson(0.45)):
            club, amount = some(rng, people, rng.integers(4, 8)), evened(money(rng, 220, 0.5))
            for turn, month in enumerate(MONTHS):
                at = (month + rng.integers(3, 9)) * DAY + by_day(rng)
                (_round if rng.random() < 0.6 else _collect)(town, rng, np.roll(club, turn), at, amount)


def _round(town: Town, rng: np.random.Generator, club: Nodes, at: float, amount: float) -> None:
    for source, target in pairwise([*club, club[0]]):
        at += float(rng.exponential(5.0)) * 60
        town.pay(at, source, target, amount, "app")


def _collect(town: Town, rng: np.random.Generator, club: Nodes, at: float, amount: float) -> None:
    for source in club[1:]:
        town.pay(at + rng.uniform(0, 1.5) * DAY, source, club[0], amount, "app")


def flat_shares(town: Town, rng: np.random.Generator) -> None:
    """Students pay one of them, who passes the rent on to the landlord within hours."""
    for group in town.communities():
        students = rng.permutation(np.intersect1d(group, town.of_segment("student")))
        for start in range(0, len(students) - 3, 4):
            flat = students[start : start + 4]
            landlord, amount = int(rng.choice(group)), evened(money(rng, 310, 0.2))
            for month in MONTHS[: rng.integers(2, 4)]:
                due = (month + rng.integers(0, 3)) * DAY + by_day(rng)
                _collect(town, rng, flat, due - 1.5 * DAY, amount)
                later = due + float(rng.exponential(6.0)) * 60
                town.pay(later, flat[0], landlord, amount * len(flat) * 0.98, "app")


def gigs(town: Town, rng: np.random.Generator) -> None:
    """Gig workers and newcomers are paid by several firms and send most of it home within a day."""
    firms = town.of_segment("company")
    for node in town.of_segment("gig worker", "newcomer"):
        payers, home = some(rng, firms, rng.integers(1, 4)), some(rng, town.people(), 1 + rng.poisson(0.4))
        for day in np.sort(rng.integers(0, DAYS, 2 + rng.poisson(2.5))):
            at, earned = day * DAY + clock(town, int(node), rng), money(rng, 320, 0.5)
            town.pay(at, int(rng.choice(payers)), node, earned, "batch")
            if rng.random() < 0.6:
                later = at + float(np.exp(rng.normal(np.log(9), 0.8))) * 60
                town.pay(later, node, int(rng.choice(home)), evened(earned * rng.uniform(0.7, 0.97)), "app")


def sellers(town: Town, rng: np.random.Generator) -> None:
    """Some sell old things: small sums from strangers within a few weeks, then spent at once."""
    people = town.people()
    for node in some(rng, people, round(SELLER_SHARE * len(people))):
        start = rng.integers(0, 60)
        for buyer in some(rng, people, 4 + rng.poisson(3)):
            at = (start + rng.integers(0, 28)) * DAY + clock(town, int(buyer), rng)
            town.pay(at, buyer, node, money(rng, 75, 0.6, 0.5), "app")
        for friend in some(rng, people, 2):
            at = (start + rng.integers(10, 30)) * DAY + clock(town, int(node), rng)
            town.pay(at, node, friend, money(rng, 180, 0.5, 0.4), "app")


def removals(town: Town, rng: np.random.Generator) -> None:
    """A new flat: in one week many new payees and large sums, some of them late at night."""
    people, payees = town.people(), town.of_segment("shop", "company", "employee")
    for node in some(rng, people, round(REMOVAL_SHARE * len(people))):
        start = rng.choice([rng.integers(0, 84), rng.integers(76, 84)])
        shop = int(rng.choice(town.of_segment("shop")))
        _buy(town, rng, int(node), shop, rng.integers(2, 6), start, start + 7, 260)
        for payee in some(rng, payees, rng.integers(3, 7)):
            hour = at_night(rng) if rng.random() < 0.25 else by_day(rng)
            at = (start + rng.integers(0, 7)) * DAY + hour
            town.pay(at, node, payee, money(rng, 340, 0.7, 0.3), "web")


def trade(town: Town, rng: np.random.Generator) -> None:
    """Firms pay their suppliers; branches send their takings to the head office in the morning."""
    firms, shops = town.of_segment("company"), town.of_segment("shop")
    for client, firm in zip(rng.choice(shops, len(firms)), firms):
        town.pay(rng.integers(DAYS) * DAY + by_day(rng), client, firm, money(rng, 900, 0.7), "web")
    for firm in np.r_[shops, firms]:
        suppliers, branch = some(rng, firms, 1 + rng.poisson(0.6)), rng.random() < 0.2
        for day in np.sort(rng.integers(0, DAYS, 2 + rng.poisson(6 if branch else 2))):
            hour = rng.uniform(6, 9) if branch else rng.uniform(9, 17)
            target = int(suppliers[0] if branch else rng.choice(suppliers))
            town.pay(day * DAY + hour * 60, firm, target, money(rng, 420 * town.wealth[firm], 0.7), "web")
