"""A made graph of any size, written to files in parts: what the benchmark of size is measured on.

    python -m benchmarks.power_law_graph FOLDER --nodes 1000000 [--links N] [--attributes 64] [--parquet]

Accounts in communities, of sizes that follow a power law, with dated transfers of an amount and a kind. One
account in a hundred is planted, of four sorts in turn:

    stranger  its attributes are unlike everybody's
    misfit    its attributes are those of another community than its transfers
    ring      eight that pay round sums to each other within a day
    mule      many payments in, and nearly all of it out again within hours

Rows depend on the seed and on their own number only, so that parts are written as they are made.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

Array = npt.NDArray[Any]

SORTS = ("stranger", "misfit", "ring", "mule")
PLANTED_EVERY, PLANTED_AT = 100, 37  # of the accounts by size, this one of each hundred
GAMMA = 3.0  # rank = n u^γ: the largest account takes part in n^(-1/γ) of the transfers
INSIDE = 0.8  # of the transfers stay in their community
MEMBERS = 1000  # of a community
PART = 500_000  # rows that are made at a time
START, DAYS, DAY = 1_735_689_600, 365, 86_400  # 1 January 2025
KINDS = ("transfer", "card", "cash", "debit", "order", "fee")
RING, RING_LINKS, MULE_LINKS = 8, 3, 12


@dataclass(frozen=True)
class PowerLawGraph:
    """What is made, by its sizes; an account is known by its rank by size, 0 the largest."""

    nodes: int
    links: int
    attributes: int = 64
    seed: int = 0

    @property
    def communities(self) -> int:
        return max(1, self.nodes // MEMBERS)

    @property
    def stride(self) -> int:
        """Spreads ranks over ids, so that large accounts do not come first."""
        wanted = int(self.nodes * 0.618) | 1
        return next(step for step in range(wanted, wanted + self.nodes) if math.gcd(step, self.nodes) == 1)

    def ids(self, ranks: Array) -> list[str]:
        return [f"A{number:09d}" for number in (ranks * self.stride % self.nodes).tolist()]

    def sort_of(self, ranks: Array) -> Array:
        """Place in SORTS of planted accounts; -1 of others."""
        planted = ranks % PLANTED_EVERY == PLANTED_AT
        return np.asarray(np.where(planted, ranks // PLANTED_EVERY % len(SORTS), -1))

    def planted(self, sort: str) -> Array:
        ranks = np.arange(PLANTED_AT, self.nodes, PLANTED_EVERY)
        return np.asarray(ranks[self.sort_of(ranks) == SORTS.index(sort)])

    def accounts(self) -> Iterator[pa.Table]:
        """Id, attributes and answer of all accounts, in parts."""
        size = max(1, PART * 8 // self.attributes)
        for start in range(0, self.nodes, size):
            yield self._accounts(np.arange(start, min(start + size, self.nodes)))

    def _accounts(self, ranks: Array) -> pa.Table:
        rng, sort = self._random(1, int(ranks[0])), self.sort_of(ranks)
        community = ranks % self.communities
        community = np.where(sort == SORTS.index("misfit"), (community + 1) % self.communities, community)
        shape = (len(ranks), self.attributes)
        values = self._middles()[community] + rng.standard_normal(shape, dtype=np.float32)
        strange = np.flatnonzero(sort == SORTS.index("stranger"))
        values[strange] += 4 * (rng.random((len(strange), self.attributes)) < 0.15)
        columns = {"account": self.ids(ranks)}
        columns |= {f"a{i:02d}": column for i, column in enumerate(values.round(3).T)}
        return pa.table({**columns, "is_anomaly": (sort >= 0).astype(np.int8)})

    def _middles(self) -> Array:
        shape = (self.communities, self.attributes)
        return self._random(2, 0).standard_normal(shape, dtype=np.float32)

    def transfers(self) -> Iterator[pa.Table]:
        """All transfers in parts: those of everybody, then those of rings and mules."""
        for start in range(0, self.links, PART):
            yield self._usual(start, min(PART, self.links - start))
        yield self._rings()
        yield self._mules()

    def _usual(self, start: int, count: int) -> pa.Table:
        rng = self._random(3, start)
        source = _power_law(rng, self.nodes, count)
        inside = rng.random(count) < INSIDE
        within = _power_law(rng, self.nodes // self.communities, count)
        near = source % self.communities + self.communities * within
        target = np.where(inside, near, _power_law(rng, self.nodes, count))
        target = np.where(target == source, (target + 1) % self.nodes, target)
        day, hour = rng.integers(0, DAYS, count), rng.normal(14, 4, count) % 24
        amount = rng.lognormal(4, 1.2, count).round(2) + 0.01
        return self._table(rng, source, target, START + day * DAY + hour * 3600, amount)

    def _rings(self) -> pa.Table:
        rng, ranks = self._random(4, 0), self.planted("ring")
        place = np.arange(len(ranks))
        ahead = np.tile(np.arange(1, RING_LINKS + 1), len(ranks))
        source, first = np.repeat(place, RING_LINKS), np.repeat(place // RING * RING, RING_LINKS)
        members = np.minimum(RING, len(ranks) - first)
        target = first + (source - first + ahead) % np.maximum(members, 1)
        day = first // RING % DAYS
        when = START + day * DAY + rng.integers(0, DAY, len(source))
        amount = 500.0 * rng.integers(1, 9, len(source))
        kept = source != target
        ends = (ranks[source[kept]], ranks[target[kept]])
        return self._table(rng, *ends, when[kept].astype(float), amount[kept])

    def _mules(self) -> pa.Table:
        rng, ranks = self._random(5, 0), self.planted("mule")
        mule = np.repeat(ranks, MULE_LINKS)
        other = rng.integers(0, self.nodes, len(mule))
        other = np.where(other == mule, (other + 1) % self.nodes, other)
        paid_in = np.arange(len(mule)) % 2 == 0
        when = START + np.repeat(rng.integers(0, DAYS, len(ranks)), MULE_LINKS) * DAY
        when = when + np.where(paid_in, 0, 7200) + rng.integers(0, 7200, len(mule))
        amount = (np.repeat(rng.lognormal(6, 0.3, len(mule) // 2), 2) * np.where(paid_in, 1, 0.97)).round(2)
        ends = (np.where(paid_in, other, mule), np.where(paid_in, mule, other))
        return self._table(rng, *ends, when.astype(float), amount)

    def _table(self, rng: Any, source: Array, target: Array, when: Array, amount: Array) -> pa.Table:
        kind = np.minimum(rng.geometric(0.4, len(source)) - 1, len(KINDS) - 1)
        return pa.table(
            {
                "from": self.ids(source),
                "to": self.ids(target),
                "time": pa.array(when.astype(np.int64), pa.timestamp("s")),
                "amount": amount,
                "kind": pa.DictionaryArray.from_arrays(kind, list(KINDS)).cast(pa.string()),
            }
        )

    def labels(self, count: int, *, after: int = 0) -> pa.Table:
        """So many labels, one in five on a planted account, behind ``after`` that were given before."""
        rng = self._random(6, 0)
        ranks = rng.permutation(self.nodes)
        planted, others = ranks[self.sort_of(ranks) >= 0], ranks[self.sort_of(ranks) < 0]
        few, had = -(-count // 5), -(-after // 5)
        nodes = np.concatenate([planted[had : had + few], others[after - had :][: count - few]])
        words = np.where(self.sort_of(nodes) >= 0, "anomalous", "normal")
        return pa.table({"node_id": self.ids(nodes), "label": words})

    def _random(self, *what: int) -> np.random.Generator:
        return np.random.default_rng((self.seed, *what))

    def write(self, folder: Path, *, parquet: bool = False) -> tuple[Path, Path]:
        """Files of accounts and transfers, as CSV or Parquet."""
        folder.mkdir(parents=True, exist_ok=True)
        end = "parquet" if parquet else "csv"
        nodes, links = folder / f"accounts.{end}", folder / f"transfers.{end}"
        _stream(nodes, self.accounts())
        _stream(links, self.transfers())
        return nodes, links


def _power_law(rng: np.random.Generator, n: int, count: int) -> Array:
    """Ranks below n; rank r is drawn about (r + 1)^(1/γ − 1) times as often as rank 0."""
    return np.minimum((n * rng.random(count) ** GAMMA).astype(np.int64), n - 1)


def _stream(path: Path, parts: Iterator[pa.Table]) -> None:
    first = next(parts)
    parquet = path.suffix == ".parquet"
    kind: Any = pa.parquet.ParquetWriter if parquet else pa.csv.CSVWriter
    with kind(str(path), first.schema) as out:
        out.write_table(first)
        for part in parts:
            out.write_table(part)


def main(argv: Sequence[str] | None = None) -> int:
    """Write the files."""
    parser = argparse.ArgumentParser(prog="power_law_graph", description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--nodes", type=int, default=100_000)
    parser.add_argument("--links", type=int, help="transfers (default: ten for each account)")
    parser.add_argument("--attributes", type=int, default=64)
    parser.add_argument("--parquet", action="store_true", help="Parquet instead of CSV")
    given = parser.parse_args(argv)
    graph = PowerLawGraph(given.nodes, given.links or 10 * given.nodes, given.attributes)
    for path in graph.write(given.folder, parquet=given.parquet):
        print(f"{path}: {path.stat().st_size / 1e6:,.0f} MB")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
