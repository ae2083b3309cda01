"""The town of the demo while it is being made: its accounts, and every payment between two of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

N_ACCOUNTS, N_COMMUNITIES = 4000, 95
DAYS = 91  # 1 April to 30 June
DAY = 24 * 60  # minutes, the unit of time
MONTHS = (0, 30, 61)  # days on which a month begins

SEGMENTS = ("student", "employee", "retired", "gig worker", "newcomer", "shop", "company")
SEGMENT_SHARE = (0.12, 0.48, 0.12, 0.08, 0.06, 0.09, 0.05)
PEOPLE = SEGMENTS[:5]
NIGHT_SHARE, NIGHT_SHIFT, NIGHT_SHIFT_SHARE = 0.03, 0.08, 0.45

Nodes = npt.NDArray[np.int64]
Numbers = npt.NDArray[np.float64]


class Payment(NamedTuple):
    """One transfer; ``at`` is in minutes since the first day began."""

    at: int
    source: int
    target: int
    amount: float  # EUR
    channel: str


@dataclass
class Town:
    """What is being built."""

    segment: Nodes  # (N,) place in SEGMENTS
    community: Nodes  # (N,)
    wealth: Numbers  # (N,) factor of the amounts that an account pays
    night: Numbers  # (N,) share of its payments that it makes at night
    kind: list[str] = field(default_factory=lambda: [""] * N_ACCOUNTS)  # of fraud; "" for honest accounts
    bold: set[int] = field(default_factory=set)  # fraud that gives itself away: what a first look finds
    device: list[int] = field(default_factory=lambda: list(range(N_ACCOUNTS)))
    payments: list[Payment] = field(default_factory=list)

    @classmethod
    def settle(cls, rng: np.random.Generator) -> Town:
        """Accounts with their segments and habits, and no payment yet."""
        people = rng.choice(len(SEGMENTS), N_ACCOUNTS, p=SEGMENT_SHARE)
        shift = (rng.random(N_ACCOUNTS) < NIGHT_SHIFT) & (people < len(PEOPLE))
        return cls(
            segment=people,
            community=np.sort(rng.integers(0, N_COMMUNITIES, N_ACCOUNTS)),
            wealth=np.exp(rng.normal(0, 0.45, N_ACCOUNTS)),
            night=np.where(shift, NIGHT_SHIFT_SHARE, NIGHT_SHARE),
        )

    def of_segment(self, *names: str) -> Nodes:
        return np.flatnonzero(np.isin(self.segment, [SEGMENTS.index(name) for name in names]))

    def people(self) -> Nodes:
        return self.of_segment(*PEOPLE)

    def communities(self) -> list[Nodes]:
        return [np.flatnonzero(self.community == c) for c in range(N_COMMUNITIES)]

    def pay(self, at: float, source: int, target: int, amount: float, channel: str) -> None:
        """Note a payment; one after the last day is still to come, one to oneself is none."""
        if source != target and 0 <= at < DAYS * DAY and amount >= 1:
            self.payments.append(Payment(int(at), int(source), int(target), round(float(amount), 2), channel))

    def share_device(self, group: Iterable[int]) -> None:
        first, *rest = group
        for node in rest:
            self.device[node] = self.device[first]


def clock(town: Town, node: int, rng: np.random.Generator) -> float:
    """A minute of the day at which an account pays, by its habit."""
    return at_night(rng) if rng.random() < town.night[node] else by_day(rng)


def by_day(rng: np.random.Generator) -> float:
    return float(np.clip(rng.normal(15.0, 3.6), 7, 22.9)) * 60


def at_night(rng: np.random.Generator) -> float:
    return float(rng.uniform(0, 5.5)) * 60


def in_the_evening(rng: np.random.Generator) -> float:
    return float(rng.uniform(18, 23.9)) * 60


def money(rng: np.random.Generator, typical: float, spread: float = 0.6, even: float = 0.15) -> float:
    """An amount in EUR; a share ``even`` of them is made a multiple of ten or fifty."""
    amount = typical * float(np.exp(rng.normal(0, spread)))
    if rng.random() >= even:
        return amount
    return evened(amount)


def evened(amount: float) -> float:
    """The amount as a multiple of ten, of fifty when it is large."""
    step = 50 if amount > 200 else 10
    return step * max(1, round(amount / step))


def some(rng: np.random.Generator, of: Nodes, number: int) -> Nodes:
    """So many different ones, or all where there are fewer."""
    return rng.choice(of, min(len(of), number), replace=False)
