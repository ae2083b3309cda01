"""A made bank with planted groups of six kinds, each beside honest accounts that look much like it.

    kind            planted                                            honest look-alike
    clique          mules that nearly all pay each other               offices: half of the pairs pay
    fan-in          many pay one account within days                   shops: many customers, all year
    fan-out         one account pays many within days                  employers: the same staff every month
    burst           many payments among a few within one day           holidays: some payments within one day
    pass-through    rings that pass amounts on within hours            savers: half of the salary, next day
    outlying        a payment far above what its ends ever have        the rich: all their payments are large

Each kind has several groups, but for the clique. Attributes say something of the planted accounts, or not.
Quiet groups are half as large: their members do half as much.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from gadcore.graph import Graph, Truth
from gadcore.ingest import read

KINDS = ("clique", "fan-in", "fan-out", "burst", "pass-through", "outlying")
ACCOUNTS, TRANSFERS, DAYS, COLUMNS = 3000, 30_000, 180, 8
SHIFT = 1.5  # of three of the attributes of planted accounts, where these are informative
CLIQUE, NEARLY_ALL = 60, 0.8
START = np.datetime64("2025-01-01T00:00:00")

Nodes = npt.NDArray[np.int64]


@dataclass
class Bank:
    """Accounts and transfers while they are being made."""

    rng: np.random.Generator
    size: float = 1.0  # of the planted groups
    rows: list[pd.DataFrame] = field(default_factory=list)
    groups: list[tuple[str, Nodes]] = field(default_factory=list)  # kind and members
    used: set[int] = field(default_factory=set)

    def fresh(self, n: int) -> Nodes:
        """Accounts that play no part yet."""
        free = np.setdiff1d(np.arange(ACCOUNTS), list(self.used))
        chosen = self.rng.choice(free, n, replace=False)
        self.used.update(chosen.tolist())
        return np.asarray(chosen, dtype=np.int64)

    def pay(self, source: Any, target: Any, day: Any, amount: Any = None) -> None:
        """Transfers at some hour of these days; ordinary amounts unless given."""
        source, target, day = np.broadcast_arrays(*(np.atleast_1d(v) for v in (source, target, day)))
        if amount is None:
            amount = self.rng.lognormal(4, 1, len(source))
        own = source != target
        time = np.asarray(day, dtype=float) + self.rng.random(len(source))
        frame = pd.DataFrame({"source": source, "target": target, "day": time, "amount": amount})
        self.rows.append(frame[own])

    def sized(self, n: int) -> int:
        return round(self.size * n)

    def days(self, n: int) -> npt.NDArray[np.int64]:
        return self.rng.integers(0, DAYS, n)


def everyday(bank: Bank) -> None:
    """Most pay whom they know, a few often: a town of overlapping circles."""
    place = bank.rng.random(ACCOUNTS) * ACCOUNTS
    order = np.argsort(place)
    source = bank.rng.choice(ACCOUNTS, TRANSFERS, p=_uneven(bank.rng))
    step = np.round(bank.rng.laplace(0, 12, TRANSFERS)).astype(np.int64)
    where = np.argsort(order)
    target = order[(where[source] + step) % ACCOUNTS]
    bank.pay(source, target, bank.days(TRANSFERS))


def _uneven(rng: np.random.Generator) -> npt.NDArray[np.float64]:
    busy = rng.lognormal(0, 0.5, ACCOUNTS)
    return np.asarray(busy / busy.sum())


def look_alikes(bank: Bank) -> None:
    for _ in range(5):  # offices
        office = bank.fresh(12)
        a, b = pairs(office, 0.5, bank.rng)
        bank.pay(a, b, bank.days(len(a)))
    for shop in bank.fresh(6):
        bank.pay(bank.rng.integers(0, ACCOUNTS, 400), shop, bank.days(400))
    for employer in bank.fresh(5):
        staff = bank.rng.integers(0, ACCOUNTS, 40)
        for month in range(0, DAYS, 30):
            bank.pay(employer, staff, month, bank.rng.lognormal(7, 0.1, 40))
    for traveller in bank.fresh(12):
        bank.pay(traveller, bank.rng.integers(0, ACCOUNTS, 12), bank.days(1)[0])
    for saver in bank.fresh(25):
        salary, home = bank.rng.integers(0, ACCOUNTS, 2)
        months = np.arange(0, DAYS, 30)
        bank.pay(salary, saver, months, 2000.0)
        bank.pay(saver, home, months + 1, 1000.0)
    for rich in bank.fresh(12):
        bank.pay(rich, bank.rng.integers(0, ACCOUNTS, 15), bank.days(15), bank.rng.lognormal(8, 0.5, 15))


def plant(bank: Bank) -> None:
    """All six kinds."""
    clique = bank.fresh(bank.sized(CLIQUE))
    a, b = pairs(clique, NEARLY_ALL, bank.rng)
    bank.pay(a, b, bank.days(len(a)))
    bank.groups.append(("clique", clique))
    for kind in ("fan-in", "fan-out"):
        for _ in range(3):
            _fan(bank, kind)
    for _ in range(5):
        few = bank.fresh(4)
        step = bank.rng.integers(1, 4, bank.sized(60))
        source = bank.rng.integers(0, 4, len(step))
        bank.pay(few[source], few[(source + step) % 4], bank.days(1)[0])
        bank.groups.append(("burst", few))
    for _ in range(4):
        _ring(bank)
    for one in bank.fresh(6):
        bank.pay(one, bank.rng.integers(0, ACCOUNTS, 12), bank.days(12))  # what it usually pays
        large = bank.rng.lognormal(4 + 5.5 * np.sqrt(bank.size), 0.2, 2)
        bank.pay(one, bank.rng.integers(0, ACCOUNTS, 2), bank.days(2), large)
        bank.groups.append(("outlying", np.array([one])))


def _fan(bank: Bank, kind: str) -> None:
    """A hub and whom it deals with within four days, equal amounts."""
    members = bank.fresh(1 + bank.sized(25))
    hub, others = members[0], members[1:]
    day = bank.rng.integers(0, DAYS - 4) + bank.rng.integers(0, 4, len(others))
    source, target = (others, hub) if kind == "fan-in" else (hub, others)
    bank.pay(source, target, day, bank.rng.normal(150, 5, len(others)))
    bank.groups.append((kind, members))


def _ring(bank: Bank) -> None:
    """Six accounts that pass an amount around within a day, several times."""
    ring = bank.fresh(6)
    for start in bank.days(bank.sized(4)):
        amount = bank.rng.normal(900, 50)
        for step, (a, b) in enumerate(zip(ring, np.roll(ring, -1))):
            time = start + 0.1 * step
            bank.rows.append(pd.DataFrame({"source": [a], "target": b, "day": time, "amount": amount}))
            amount *= 0.98
    bank.groups.append(("pass-through", ring))


def pairs(nodes: Nodes, share: float, rng: np.random.Generator) -> tuple[Nodes, Nodes]:
    """A share of the pairs of nodes, each in one direction."""
    i, j = np.triu_indices(len(nodes), 1)
    kept = rng.random(len(i)) < share
    turned = rng.random(len(i)) < 0.5
    a, b = np.where(turned, i, j)[kept], np.where(turned, j, i)[kept]
    return nodes[a], nodes[b]


@dataclass(frozen=True)
class Planted:
    """The bank as the app reads it, and what was planted."""

    graph: Graph
    truth: Truth
    groups: tuple[tuple[str, Nodes], ...]  # kind and members, as rows of the graph

    @property
    def kind(self) -> npt.NDArray[np.int8]:
        """(N,) place in KINDS; -1 for honest accounts."""
        found = np.full(self.graph.n_nodes, -1, dtype=np.int8)
        for kind, nodes in self.groups:
            found[nodes] = KINDS.index(kind)
        return found


@lru_cache(maxsize=2)
def planted_bank(seed: int, *, informative: bool, quiet: bool = False) -> Planted:
    """A bank of 3,000 accounts; the same seed gives the same bank."""
    bank = Bank(np.random.default_rng([seed, int(informative), int(quiet)]), 0.5 if quiet else 1.0)
    everyday(bank)
    look_alikes(bank)
    plant(bank)
    nodes = np.unique(np.concatenate([members for _, members in bank.groups]))
    x = bank.rng.normal(size=(ACCOUNTS, COLUMNS))
    if informative:
        x[nodes, :3] += SHIFT
    graph = _read(x, pd.concat(bank.rows))
    y = np.zeros(ACCOUNTS, dtype=np.int8)
    y[nodes] = 1
    return Planted(graph, Truth(y), tuple(bank.groups))


def _read(x: npt.NDArray[np.float64], rows: pd.DataFrame) -> Graph:
    """The tables through the reader, so that the graph has what the app would give it."""
    ids = [f"A{node:04d}" for node in range(len(x))]
    accounts = pd.DataFrame({"account": ids, **{f"fact {k}": x[:, k] for k in range(x.shape[1])}})
    times = START + (rows["day"].to_numpy() * 86_400).astype("timedelta64[s]")
    named = {end: [ids[int(node)] for node in rows[end]] for end in ("source", "target")}
    moved = pd.DataFrame({**named, "time": times, "amount": rows["amount"].round(2)})
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder) / name for name in ("accounts.csv", "transfers.csv")]
        for table, file in zip((accounts, moved), files):
            table.to_csv(file, index=False)
        return read(files[0], edges=files[1], name="bank").graph


def kinds_hit(found: Iterable[int], kind: npt.NDArray[np.int8]) -> float:
    """Share of the kinds with a member among these nodes."""
    return len({int(kind[node]) for node in found} - {-1}) / len(KINDS)
