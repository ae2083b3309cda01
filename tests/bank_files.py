"""A small bank as files: accounts with columns of every kind, and payments; as a whole, or cut in two."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

N, LINKS = 90, 600


def accounts() -> pd.DataFrame:
    """Accounts with text, numbers as Europeans write them, tags, dates, truth values and holes."""
    rng = np.random.default_rng(7)
    balance = rng.lognormal(6, 1, N).round(2)
    opened = pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, N), unit="D")
    tags = [
        ";".join(rng.choice(["vip", "staff", "online", "branch"], rng.integers(1, 4), False))
        for _ in range(N)
    ]
    return pd.DataFrame(
        {
            "id": [f"A{k:03d}" for k in range(N)],
            "name": [f"Client {k}" for k in range(N)],
            "country": rng.choice(["FR", "DE", "IT"], N, p=[0.6, 0.3, 0.1]),
            "balance": [f"{b:.2f}".replace(".", ",") + " €" for b in balance],
            "age": np.where(rng.random(N) < 0.1, "", rng.integers(18, 90, N).astype(str)),
            "opened": opened.strftime("%Y-%m-%d"),
            "tags": tags,
            "is_fraud": (np.arange(N) % 9 == 0).astype(int).astype(str),
        }
    )


def payments() -> pd.DataFrame:
    """Payments in the order of their time, of kinds with clearly different numbers."""
    rng = np.random.default_rng(8)
    source = rng.integers(0, N, LINKS)
    target = (source + rng.integers(1, 20, LINKS)) % N
    when = pd.Timestamp("2025-01-01") + pd.to_timedelta(np.sort(rng.integers(0, 90 * 86400, LINKS)), unit="s")
    return pd.DataFrame(
        {
            "source": [f"A{k:03d}" for k in source],
            "target": [f"A{k:03d}" for k in target],
            "when": when.strftime("%Y-%m-%d %H:%M:%S"),
            "amount": rng.lognormal(4, 1, LINKS).round(2).astype(str),
            "kind": rng.choice(["card", "wire", "cash"], LINKS, p=[0.6, 0.3, 0.1]),
            "text": [f"invoice {k}" for k in range(LINKS)],
        }
    )


def write_bank(folder: Path, *, known: int = 80) -> dict[str, Path]:
    """Files of the whole bank, and of two parts that give it: accounts from ``known`` on come later."""
    nodes, links = accounts(), payments()
    ids = set(nodes["id"][:known])
    early = links["source"].isin(ids) & links["target"].isin(ids) & (links.index < 500)
    parts = {
        "accounts": nodes[:known],
        "payments": links[early],
        "accounts_2": nodes[known:],
        "payments_2": links[~early],
        "all_accounts": nodes,
        "all_payments": pd.concat([links[early], links[~early]]),
    }
    return {name: table_file(folder / f"{name}.csv", frame) for name, frame in parts.items()}


def table_file(path: Path, frame: pd.DataFrame) -> Path:
    frame.to_csv(path, index=False)
    return path
