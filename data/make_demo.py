"""Make gadcore/data/demo: a payments network of 4,000 invented accounts with planted fraud.

    python data/make_demo.py            write accounts.csv, transfers.csv and mapping.json
    python -m data.measure_demo         how well attributes, structure and the graph models find the fraud

How it is made, so that neither attributes nor structure give the fraud away:

- Every account belongs to a segment and to a community; its behaviour is z (N, 14), standard normal around
  both, and the columns are monotone functions of z.
- Fraud moves z by a direction of its kind, by little: single accounts overlap with the honest ones.
- Honest lookalikes: gig workers and newcomers whose z moves as that of mules, but who pay ordinary people;
  households on one device, savings circles, shops with many payers: the shapes of rings, clusters and stars.
- Camouflaged members have honest attributes; only who they pay tells.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import date, timedelta
from itertools import pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd
from demo_names import COUNTRIES, business, person

SEED = 2024
N_ACCOUNTS = 4000
FOLDER = Path(__file__).parent.parent / "gadcore" / "data" / "demo"
TODAY = date(2025, 6, 30)

COLUMNS = ("age", "devices", "failed", "money_in", "money_out", "payments_in", "payments_out", "new_payees")
COLUMNS += ("night", "round", "cash", "hold", "utilisation", "disputes")
ATTRIBUTES = "account_type country opened kyc_level devices_90d failed_logins_90d money_in_90d money_out_90d "
ATTRIBUTES += "payments_in_90d payments_out_90d new_payees_90d night_share round_amount_share cash_share "
ATTRIBUTES += "holding_days credit_used_share disputes_12m"
COUNTRY_SHARE = (0.16, 0.17, 0.14, 0.11, 0.10, 0.09, 0.07, 0.05, 0.05, 0.03, 0.03)

# Shift of z by kind: what an investigator would expect, weak enough to be missed account by account.
SHIFT: dict[str, dict[str, float]] = {
    "mule ring": {"age": -1.0, "new_payees": 0.8, "hold": -1.2, "round": 0.8, "cash": 0.6, "money_in": 0.5},
    "shared device": {"age": -0.8, "devices": 0.6, "failed": 0.9, "hold": -0.9, "night": 0.8, "round": 0.7},
    "bust-out": {
        "utilisation": 1.2,
        "money_out": 0.9,
        "new_payees": 0.8,
        "disputes": 0.9,
        "cash": 0.8,
        "hold": -0.6,
    },
    "takeover": {"age": -0.5, "failed": 0.8, "new_payees": 1.0, "night": 0.9, "hold": -0.8, "cash": 0.8},
    "camouflaged": {},
}
STRENGTH = 1.1
LOUD, LOUD_SHARE = 3.0, 0.14  # a few give themselves away: what a first look finds
DROPPED = 0.6  # of the links between fraud and honest accounts
SEGMENTS = ("student", "employee", "retired", "gig worker", "newcomer", "shop", "company")
SEGMENT_SHARE = (0.12, 0.48, 0.12, 0.08, 0.06, 0.09, 0.05)
SEGMENT_Z: dict[str, dict[str, float]] = {
    "student": {"age": -0.7, "money_in": -0.8, "money_out": -0.7, "night": 0.6},
    "employee": {},
    "retired": {"age": 0.8, "night": -0.6, "payments_out": -0.5, "devices": -0.5},
    "gig worker": {
        "hold": -1.0,
        "new_payees": 0.7,
        "payments_in": 0.8,
        "night": 0.6,
        "round": 0.6,
        "cash": 0.5,
    },
    "newcomer": {"age": -1.3, "new_payees": 0.8, "failed": 0.7, "round": 0.5, "cash": 0.5, "hold": -0.6},
    "shop": {"payments_in": 1.4, "money_in": 1.1, "money_out": 0.9, "cash": 0.5, "disputes": 0.4},
    "company": {"money_in": 1.5, "money_out": 1.5, "payments_out": 1.2, "age": 0.4, "new_payees": 0.4},
}


@dataclass
class Network:
    """What is being built; edges as (source, target, link)."""

    rng: np.random.Generator
    segment: npt.NDArray[np.int64]
    community: npt.NDArray[np.int64]
    kind: list[str] = field(default_factory=lambda: [""] * N_ACCOUNTS)
    device: list[int] = field(default_factory=lambda: list(range(N_ACCOUNTS)))
    edges: dict[tuple[int, int], str] = field(default_factory=dict)

    def link(self, source: int, target: int, link: str = "transfer") -> None:
        if source != target and (target, source) not in self.edges:
            self.edges.setdefault((int(source), int(target)), link)

    def of_segment(self, *names: str) -> npt.NDArray[np.int64]:
        return np.flatnonzero(np.isin(self.segment, [SEGMENTS.index(name) for name in names]))


def build(seed: int = SEED) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The two tables; equal seeds give equal bytes."""
    rng = np.random.default_rng(seed)
    segment = rng.choice(len(SEGMENTS), N_ACCOUNTS, p=SEGMENT_SHARE)
    community = np.sort(rng.integers(0, 95, N_ACCOUNTS))
    network = Network(rng, segment, community)
    add_honest_life(network)
    add_fraud(network)
    z = behaviour(network)
    order = rng.permutation(N_ACCOUNTS)
    return accounts_table(network, z, order), transfers_table(network, z, order)


# -- honest structure ------------------------------------------------------------------------------------


def add_honest_life(network: Network) -> None:
    """Friends within communities, households on one device, savings circles, shops and pay rolls."""
    rng = network.rng
    members = [np.flatnonzero(network.community == c) for c in range(network.community.max() + 1)]
    people = network.of_segment("student", "employee", "retired", "gig worker", "newcomer")
    for node in range(N_ACCOUNTS):
        group = members[network.community[node]]
        for friend in rng.choice(group, min(len(group), 1 + rng.poisson(0.5)), replace=False):
            network.link(node, friend)
    for group in members:
        own = np.intersect1d(group, people)
        _households(network, rng.permutation(own))
        for _ in range(rng.poisson(0.5)):
            _circle(network, rng.choice(own, min(len(own), rng.integers(4, 8)), replace=False))
    for shop in network.of_segment("shop", "company"):
        near = np.intersect1d(members[network.community[shop]], people)
        payers = rng.choice(near, min(len(near), 1 + rng.poisson(2.0)), replace=False)
        for payer in np.r_[payers, rng.choice(people, 1 + rng.poisson(1.0))]:
            network.link(payer, shop)


def _households(network: Network, people: npt.NDArray[np.int64]) -> None:
    for start in range(0, len(people) // 3, 4):
        home = people[start : start + network.rng.integers(2, 5)]
        _one_device(network, home, 0.75)


def _one_device(network: Network, group: npt.NDArray[np.int64], density: float) -> None:
    for i, first in enumerate(group):
        network.device[first] = network.device[group[0]]
        for second in group[i + 1 :]:
            if network.rng.random() < density:
                network.link(first, second, "device" if network.rng.random() < 0.7 else "transfer")


def _circle(network: Network, group: npt.NDArray[np.int64]) -> None:
    for first, second in pairwise([*group, group[0]]):
        network.link(first, second)


# -- fraud -----------------------------------------------------------------------------------------------


def add_fraud(network: Network) -> None:
    """About 3.5 % of the accounts, in groups of each kind, with camouflaged members around them."""
    rng = network.rng
    pool = list(rng.permutation(network.of_segment("student", "employee", "gig worker", "newcomer")))
    shops = list(rng.permutation(network.of_segment("shop")))
    groups = []
    for kind, sizes in {
        "mule ring": (6, 5, 7, 5, 6, 5, 5, 4),
        "shared device": (5, 4, 6, 4, 4, 4),
        "bust-out": (5, 5, 4, 5),
        "takeover": (5, 4, 5, 5, 4),
    }.items():
        for size in sizes:
            group = np.array([pool.pop() for _ in range(size)])
            if kind == "bust-out":
                group[0] = shops.pop()
            _WIRING[kind](network, group)
            _mark(network, group, kind)
            groups.append(group)
    for index in range(26):
        group, member = groups[index % len(groups)], pool.pop()
        for contact in rng.choice(group, min(3, len(group)), replace=False):
            network.link(contact, member)
        _mark(network, np.array([member]), "camouflaged")
    _fewer_honest_links(network)


def _fewer_honest_links(network: Network) -> None:
    """Drop part of the links from fraud to honest life, so that the number of links does not tell."""
    for a, b in list(network.edges):
        if bool(network.kind[a]) != bool(network.kind[b]) and network.rng.random() < DROPPED:
            del network.edges[a, b]


def _mark(network: Network, group: npt.NDArray[np.int64], kind: str) -> None:
    for node in group:
        network.kind[node] = kind


def _ring(network: Network, group: npt.NDArray[np.int64]) -> None:
    _circle(network, group)
    for node in group[2:]:
        network.link(node, network.rng.choice(group))


def _device_cluster(network: Network, group: npt.NDArray[np.int64]) -> None:
    _one_device(network, group, 0.7)


def _bust_out(network: Network, group: npt.NDArray[np.int64]) -> None:
    """Cards run up at one colluding shop, and payments among the card holders."""
    for node in group[1:]:
        network.link(node, group[0])
    _circle(network, group[1:])


def _takeover(network: Network, group: npt.NDArray[np.int64]) -> None:
    """A taken-over account empties to fresh ones, some of which pass it on."""
    for node in group[1:]:
        network.link(group[0], node)
    for first, second in pairwise(group[1:]):
        if network.rng.random() < 0.7:
            network.link(first, second)


_WIRING = {"mule ring": _ring, "shared device": _device_cluster, "bust-out": _bust_out, "takeover": _takeover}


# -- attributes ------------------------------------------------------------------------------------------


def behaviour(network: Network) -> npt.NDArray[np.float64]:
    """z (N, 14): community and segment means, fraud shift, noise of variance 1."""
    rng = network.rng
    z = rng.normal(0, 1, (N_ACCOUNTS, len(COLUMNS)))
    z += rng.normal(0, 0.25, (network.community.max() + 1, len(COLUMNS)))[network.community]
    for name, shift in SEGMENT_Z.items():
        z[network.of_segment(name)] += _direction(shift)
    for kind, shift in SHIFT.items():
        nodes = [node for node, own in enumerate(network.kind) if own == kind]
        strength = np.where(rng.random(len(nodes)) < LOUD_SHARE, LOUD, STRENGTH)
        z[nodes] += strength[:, None] * _direction(shift)
    return z


def _direction(shift: dict[str, float]) -> npt.NDArray[np.float64]:
    return np.array([shift.get(column, 0.0) for column in COLUMNS])


def _share(z: npt.NDArray[np.float64], centre: float) -> npt.NDArray[np.float64]:
    """A share in (0, 1) around ``centre``."""
    return np.round(1 / (1 + np.exp(-(0.8 * z + np.log(centre / (1 - centre))))), 2)


def _count(z: npt.NDArray[np.float64], typical: float, spread: float) -> npt.NDArray[np.int64]:
    return np.floor(typical * np.exp(spread * z)).astype(np.int64)


def accounts_table(
    network: Network, z: npt.NDArray[np.float64], order: npt.NDArray[np.int64]
) -> pd.DataFrame:
    """accounts.csv, rows in random order so that no position tells anything."""
    rng = network.rng
    column = {name: z[:, i] for i, name in enumerate(COLUMNS)}
    home = rng.choice(len(COUNTRIES), network.community.max() + 1, p=COUNTRY_SHARE)[network.community]
    abroad = rng.random(N_ACCOUNTS) < 0.2
    country = np.where(abroad, rng.choice(len(COUNTRIES), N_ACCOUNTS, p=COUNTRY_SHARE), home)
    firm = np.isin(network.segment, [SEGMENTS.index("shop"), SEGMENTS.index("company")])
    codes = [COUNTRIES[i] for i in country]
    age = np.clip(900 * np.exp(0.6 * column["age"]), 20, 5500).astype(int)
    level = np.digitize(0.5 * column["age"] + rng.normal(0, 1, N_ACCOUNTS), [-0.8, 0.9])
    device = rng.permutation(16**5)[:N_ACCOUNTS]
    table = pd.DataFrame(
        {
            "account_id": "",
            "name": [(business if f else person)(c, rng) for f, c in zip(firm, codes)],
            "account_type": np.where(firm, "business", "personal"),
            "country": codes,
            "opened": [(TODAY - timedelta(days=int(days))).isoformat() for days in age],
            "kyc_level": np.array(["basic", "standard", "enhanced"])[level],
            "device": [f"dev-{device[i]:05x}" for i in network.device],
            "devices_90d": 1 + _count(column["devices"], 1.1, 0.5),
            "failed_logins_90d": _count(column["failed"], 0.9, 0.8),
            "money_in_90d": np.round(2400 * np.exp(0.6 * column["money_in"])).astype(int),
            "money_out_90d": np.round(2200 * np.exp(0.6 * column["money_out"])).astype(int),
            "payments_in_90d": 1 + _count(column["payments_in"], 9, 0.5),
            "payments_out_90d": 1 + _count(column["payments_out"], 16, 0.5),
            "new_payees_90d": _count(column["new_payees"], 2.2, 0.6),
            "night_share": _share(column["night"], 0.10),
            "round_amount_share": _share(column["round"], 0.18),
            "cash_share": _share(column["cash"], 0.12),
            "holding_days": np.round(9 * np.exp(0.6 * column["hold"]), 1),
            "credit_used_share": _share(column["utilisation"], 0.35),
            "disputes_12m": _count(column["disputes"], 0.7, 0.7),
            "is_fraud": [int(bool(kind)) for kind in network.kind],
            "fraud_kind": network.kind,
        }
    ).iloc[order]
    table["account_id"] = [f"A{number:05d}" for number in 10_000 + np.arange(N_ACCOUNTS)]
    return table.reset_index(drop=True)


def transfers_table(
    network: Network, z: npt.NDArray[np.float64], order: npt.NDArray[np.int64]
) -> pd.DataFrame:
    """transfers.csv: one row per pair of accounts, with the number of payments (or logins on one device)."""
    rng = network.rng
    place = np.empty(N_ACCOUNTS, dtype=np.int64)
    place[order] = np.arange(N_ACCOUNTS)
    ends = np.array(list(network.edges))[rng.permutation(len(network.edges))]
    payments = 1 + rng.poisson(1.5, len(ends))
    amount = (
        payments
        * 85
        * np.exp(0.4 * z[ends[:, 0], COLUMNS.index("money_out")] + rng.normal(0, 0.6, len(ends)))
    )
    link = [network.edges[(int(a), int(b))] for a, b in ends]
    return pd.DataFrame(
        {
            "source": [f"A{10_000 + place[a]:05d}" for a in ends[:, 0]],
            "target": [f"A{10_000 + place[b]:05d}" for b in ends[:, 1]],
            "payments": payments,
            "amount": [0 if kind == "device" else round(value) for kind, value in zip(link, amount)],
            "link": link,
        }
    )


def mapping() -> dict[str, object]:
    """How the reader shall take the columns; fraud_kind is an answer too, so it is left out."""
    return {
        "id": "account_id",
        "label": "name",
        "truth": "is_fraud",
        "ignore": ["fraud_kind"],
        "attributes": ATTRIBUTES.split(),
        "source": "source",
        "target": "target",
        "weight": "payments",
    }


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    accounts, transfers = build()
    accounts.to_csv(FOLDER / "accounts.csv", index=False, lineterminator="\n")
    transfers.to_csv(FOLDER / "transfers.csv", index=False, lineterminator="\n")
    (FOLDER / "mapping.json").write_text(json.dumps(mapping(), indent=2) + "\n", encoding="utf-8")
    print(f"{len(accounts):,} accounts, {len(transfers):,} links, {accounts['is_fraud'].sum()} fraudulent")


if __name__ == "__main__":
    main()
