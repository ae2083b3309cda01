"""How long the columns derived from links take, and how much memory they need.

    ringfence bench derive [--links 1000000] [--nodes 100000] [--json]

Random links with time, amount and kind between nodes of very different size; three hubs have a tenth of all
links each. Every group of columns is timed apart, in CPU time. Peak memory is that of the whole process.
Target: at most 15 CPU-seconds for a million links.
"""

from __future__ import annotations

import argparse
import json
import resource
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from gadcore.derive import GROUPS
from gadcore.graph import LinkMeaning, Links
from gadcore.graph.links import CLOCK, DAY

TARGET_S = 15.0  # for a million links
HUBS, HUB_SHARE = 3, 0.1
DAYS, KINDS = 365, 12


def main(argv: Sequence[str] | None = None) -> int:
    """Measure and print; 1 when the target is missed."""
    parser = argparse.ArgumentParser(prog="bench derive", description=__doc__.splitlines()[0])
    parser.add_argument("--links", type=int, default=1_000_000)
    parser.add_argument("--nodes", type=int, default=100_000)
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    given = parser.parse_args(argv)
    if given.links < 1 or given.nodes <= HUBS:
        parser.error(f"expected at least 1 link and {HUBS + 1} nodes")
    figures = _measure(random_links(given.links, given.nodes))
    met = figures["seconds"] <= TARGET_S * max(1.0, given.links / 1e6)
    if given.json:
        print(json.dumps({**figures, "target": TARGET_S, "met": met}, indent=2))
    else:
        _show(figures, met)
    return 0 if met else 1


def random_links(count: int, nodes: int) -> Links:
    """Links of nodes whose sizes follow a power law, and of hubs."""
    rng = np.random.default_rng(0)
    weight = (np.arange(nodes) + 10.0) ** -0.6
    ends = rng.choice(nodes, (2, count), p=weight / weight.sum())
    for hub in range(HUBS):
        side = ends[hub % 2]
        side[rng.random(count) < HUB_SHARE] = hub
    kinds = tuple(f"kind {i}" for i in range(KINDS))
    return Links.make(
        nodes,
        *ends,
        time=np.floor(rng.random(count) * DAYS * DAY),
        amount=np.round(rng.lognormal(5, 2, count), 2),
        kind=np.minimum(rng.geometric(0.3, count) - 1, KINDS - 1),
        meaning=LinkMeaning("transfer", "time", "amount", "kind", "EUR", CLOCK, kinds=kinds),
    )


def _measure(links: Links) -> dict[str, Any]:
    """CPU-seconds of each group and of all, and the peak of the process in MB."""
    groups = {}
    for name, group in GROUPS.items():
        begin = time.process_time()
        columns = dict(group.values(links))
        groups[name] = {"columns": len(columns), "seconds": time.process_time() - begin}
    total = sum(g["seconds"] for g in groups.values())
    sizes = {"links": len(links), "nodes": links.n_nodes}
    return {**sizes, "seconds": total, "peak_mb": _peak(), "groups": groups}


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _show(figures: dict[str, Any], met: bool) -> None:
    print(f"{figures['links']:,} links of {figures['nodes']:,} nodes")
    for name, group in figures["groups"].items():
        print(f"  {name:<10} {group['columns']:>3} columns {group['seconds']:>7.2f} CPU-s")
    print(f"  {'together':<22} {figures['seconds']:>7.2f} CPU-s, {figures['peak_mb']:,.0f} MB at the peak")
    print(f"target: {TARGET_S:g} CPU-s per million links: {'met' if met else 'missed'}")


if __name__ == "__main__":
    raise SystemExit(main())
