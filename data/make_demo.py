"""Make gadcore/data/demo: a payments network of 4,000 invented accounts with planted fraud.

    python data/make_demo.py            write accounts.csv, transfers.csv and mapping.json
    python -m data.measure_demo         what each source of evidence alone reaches, and all together

How it is made, so that no source of evidence gives the fraud away by itself:

- Every account belongs to a segment and to a community. Honest life (demo_honest) fills three months with
  payments; fraud (demo_fraud) adds its own and takes part of the honest ones away.
- Every habit of fraud is a habit of some honest people too: see the look-alikes in demo_honest.
- What a bank knows of the account itself is z (N, 6), standard normal around segment and community; fraud
  moves it by a direction of its kind, by little. Columns are monotone functions of z.
- Camouflaged members have honest attributes and honest habits; only who pays them tells.
"""

from __future__ import annotations

import json
from collections import Counter
from datetime import date, datetime, timedelta
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd
from demo_fraud import plant
from demo_honest import live
from demo_names import COUNTRIES, business, person
from demo_town import N_ACCOUNTS, N_COMMUNITIES, Town

SEED = 2024
FOLDER = Path(__file__).parent.parent / "gadcore" / "data" / "demo"
EXAMPLES = (434, 838)  # A10434 and A10838: the help of the command line names them
FIRST_DAY = datetime(2025, 4, 1)
TODAY = date(2025, 6, 30)

COLUMNS = ("age", "devices", "failed", "cash", "utilisation", "disputes")
ATTRIBUTES = "account_type country opened kyc_level accounts_on_device devices_90d failed_logins_90d "
ATTRIBUTES += "cash_share credit_used_share disputes_12m"
COUNTRY_SHARE = (0.16, 0.17, 0.14, 0.11, 0.10, 0.09, 0.07, 0.05, 0.05, 0.03, 0.03)

# Shift of z by kind: what an investigator would expect, weak enough to be missed account by account.
SHIFT: dict[str, dict[str, float]] = {
    "mule ring": {"age": -0.9, "cash": 0.7, "devices": 0.3},
    "shared device": {"age": -0.8, "devices": 0.6, "failed": 0.9},
    "bust-out": {"utilisation": 1.2, "disputes": 0.9, "cash": 0.6},
    "takeover": {"age": -0.4, "failed": 0.9, "cash": 0.8, "devices": 0.5},
}
STRENGTH = 0.8
LOUD = 3.0  # the same for the bold ones
SEGMENT_Z: dict[str, dict[str, float]] = {
    "student": {"age": -0.7, "devices": 0.2},
    "retired": {"age": 0.8, "devices": -0.5},
    "gig worker": {"cash": 0.5, "failed": 0.3, "utilisation": 0.4},
    "newcomer": {"age": -1.3, "failed": 0.7, "cash": 0.5},
    "shop": {"cash": 0.5, "disputes": 0.4},
    "company": {"age": 0.4, "devices": 0.4},
}

Numbers = npt.NDArray[np.float64]
Nodes = npt.NDArray[np.int64]


def build(seed: int = SEED) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The two tables; equal seeds give equal bytes. Each part draws for itself."""
    settled, honest, fraud, known = (np.random.default_rng([seed, part]) for part in range(4))
    town = Town.settle(settled)
    live(town, honest)
    plant(town, fraud)
    order = _with_examples(town, known.permutation(N_ACCOUNTS))
    return accounts_table(town, known, order), transfers_table(town, order)


def _with_examples(town: Town, order: Nodes) -> Nodes:
    """The order with two fraudulent accounts of one device in the places of EXAMPLES."""
    shared = [node for node, kind in enumerate(town.kind) if kind == "shared device"]
    second = next(node for node in shared[1:] if town.device[node] == town.device[shared[0]])
    for node, place in zip((shared[0], second), EXAMPLES):
        now = int(np.flatnonzero(order == node)[0])
        order[[now, place]] = order[[place, now]]
    return order


def behaviour(town: Town, rng: np.random.Generator) -> dict[str, Numbers]:
    """z by column, each (N,): community and segment means, fraud shift, noise of variance 1."""
    z = rng.normal(0, 1, (N_ACCOUNTS, len(COLUMNS)))
    z += rng.normal(0, 0.25, (N_COMMUNITIES, len(COLUMNS)))[town.community]
    for name, shift in SEGMENT_Z.items():
        z[town.of_segment(name)] += _direction(shift)
    for kind, shift in SHIFT.items():
        nodes = [node for node, own in enumerate(town.kind) if own == kind]
        strength = np.where([node in town.bold for node in nodes], LOUD, STRENGTH)
        z[nodes] += strength[:, None] * _direction(shift)
    return {name: z[:, i] for i, name in enumerate(COLUMNS)}


def _direction(shift: dict[str, float]) -> Numbers:
    return np.array([shift.get(column, 0.0) for column in COLUMNS])


def _share(z: Numbers, centre: float) -> Numbers:
    """A share in (0, 1) around ``centre``."""
    return np.round(1 / (1 + np.exp(-(0.8 * z + np.log(centre / (1 - centre))))), 2)


def _count(z: Numbers, typical: float, spread: float) -> Nodes:
    return np.floor(typical * np.exp(spread * z)).astype(np.int64)


def accounts_table(town: Town, rng: np.random.Generator, order: Nodes) -> pd.DataFrame:
    """accounts.csv, rows in random order so that no position tells anything."""
    z = behaviour(town, rng)
    firm = np.isin(np.arange(N_ACCOUNTS), town.of_segment("shop", "company"))
    codes = _countries(town, rng)
    age = np.clip(900 * np.exp(0.6 * z["age"]), 95, 5500).astype(int)
    level = np.digitize(0.5 * z["age"] + rng.normal(0, 1, N_ACCOUNTS), [-0.8, 0.9])
    device, users = rng.permutation(16**5)[:N_ACCOUNTS], Counter(town.device)
    table = pd.DataFrame(
        {
            "account_id": "",
            "name": [(business if f else person)(c, rng) for f, c in zip(firm, codes)],
            "account_type": np.where(firm, "business", "personal"),
            "country": codes,
            "opened": [(TODAY - timedelta(days=int(days))).isoformat() for days in age],
            "kyc_level": np.array(["basic", "standard", "enhanced"])[level],
            "device": [f"dev-{device[i]:05x}" for i in town.device],
            "accounts_on_device": [users[i] for i in town.device],
            "devices_90d": 1 + _count(z["devices"], 1.1, 0.5),
            "failed_logins_90d": _count(z["failed"], 0.9, 0.8),
            "cash_share": _share(z["cash"], 0.12),
            "credit_used_share": _share(z["utilisation"], 0.35),
            "disputes_12m": _count(z["disputes"], 0.7, 0.7),
            "is_fraud": [int(bool(kind)) for kind in town.kind],
            "fraud_kind": town.kind,
        }
    ).iloc[order]
    table["account_id"] = [_account(place) for place in range(N_ACCOUNTS)]
    return table.reset_index(drop=True)


def _countries(town: Town, rng: np.random.Generator) -> list[str]:
    """That of the community for four of five accounts."""
    home = rng.choice(len(COUNTRIES), N_COMMUNITIES, p=COUNTRY_SHARE)[town.community]
    abroad = rng.random(N_ACCOUNTS) < 0.2
    return [
        COUNTRIES[i] for i in np.where(abroad, rng.choice(len(COUNTRIES), N_ACCOUNTS, p=COUNTRY_SHARE), home)
    ]


def _account(place: int) -> str:
    return f"A{10_000 + place:05d}"


def transfers_table(town: Town, order: Nodes) -> pd.DataFrame:
    """transfers.csv: one row per payment, in the order of time."""
    place = np.argsort(order)
    paid = sorted(town.payments)
    return pd.DataFrame(
        {
            "time": [f"{FIRST_DAY + timedelta(minutes=p.at):%Y-%m-%d %H:%M}" for p in paid],
            "source": [_account(place[p.source]) for p in paid],
            "target": [_account(place[p.target]) for p in paid],
            "amount_eur": [f"{p.amount:.2f}" for p in paid],
            "channel": [p.channel for p in paid],
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
        "time": "time",
        "amount": "amount_eur",
        "kind": "channel",
    }


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    accounts, transfers = build()
    accounts.to_csv(FOLDER / "accounts.csv", index=False, lineterminator="\n")
    transfers.to_csv(FOLDER / "transfers.csv", index=False, lineterminator="\n")
    (FOLDER / "mapping.json").write_text(json.dumps(mapping(), indent=2) + "\n", encoding="utf-8")
    print(
        f"{len(accounts):,} accounts, {len(transfers):,} transfers, {accounts['is_fraud'].sum()} fraudulent"
    )


if __name__ == "__main__":
    main()
