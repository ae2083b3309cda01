"""Small graphs with links behind their edges, for tests."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from gadcore.graph import Graph, LinkMeaning, Links, make_graph
from gadcore.graph.links import CLOCK, STEPS

KINDS = ("cash", "card", "wire")
MEANING = LinkMeaning("transfer", "when", "eur", "channel", "EUR", CLOCK, "", KINDS)
START = 1_735_689_600.0  # 2025-01-01


def linked(n: int, source: Any, target: Any, *, names: list[str] | None = None, **columns: Any) -> Graph:
    """A graph of n nodes n0, n1, … with these links; they are the edges."""
    source, target = np.asarray(source), np.asarray(target)
    table = pd.DataFrame({"name": names}) if names else pd.DataFrame(index=range(n))
    x = np.linspace(0, 1, 3 * n).reshape(n, 3) % 0.7
    graph = make_graph([f"n{i}" for i in range(n)], np.vstack([source, target]), x, node_table=table)
    columns.setdefault("meaning", MEANING)
    links = Links.make(n, source, target, **columns)
    return replace(graph, links=links, label_column="name" if names else None)


def random_transfers(
    seed: int, n: int = 12, size: int = 300, *, blanks: bool = True
) -> tuple[Graph, pd.DataFrame]:
    """A graph of transfers, many of them of n0, and the same as a table."""
    rng = np.random.default_rng(seed)
    source, target = rng.integers(0, n, size), rng.integers(0, n, size)
    source[: size // 3] = 0
    time = START + np.round(rng.random(size) * 90 * 86_400)
    amount = np.round(rng.lognormal(4, 1, size), 2)
    kind = rng.integers(-1 if blanks else 0, len(KINDS), size)
    if blanks:
        time[rng.random(size) < 0.05] = np.nan
        amount[rng.random(size) < 0.05] = np.nan
    memo = [f"memo {i}" for i in rng.integers(0, 7, size)]
    names = [f"Name {chr(ord('a') + (5 * i) % n)}" for i in range(n)]
    other = pa.table({"memo": memo, "ref": [str(i) for i in rng.integers(0, 500, size)]})
    graph = linked(n, source, target, names=names, time=time, amount=amount, kind=kind, other=other)
    frame = pd.DataFrame(
        {
            "source": source, "target": target, "time": time, "amount": amount, "kind": kind, "memo": memo,
            "ref": other["ref"].to_pylist(),
        }
    )  # fmt: skip
    return graph, frame


def stepped(n: int, source: Any, target: Any, steps: Any) -> Graph:
    """Links that are counted in steps, without amounts."""
    meaning = LinkMeaning("call", "step", precision=STEPS)
    return linked(n, source, target, time=np.asarray(steps, dtype=float) * 86_400, meaning=meaning)
