"""cluster."""

from __future__ import annotations

from argparse import Namespace

from gadcore.cli.parser import Commands
from gadcore.cli.show import count, out, port

PORT = 8786


def add_commands(commands: Commands) -> None:
    cluster = commands.add("cluster", start, "work out blocks in several processes", "cluster --workers 2")
    cluster.add_argument("--workers", type=count, default=2, metavar="N", help="processes (default: 2)")
    cluster.add_argument(
        "--port", type=port, default=PORT, metavar="N", help=f"on 127.0.0.1 (default: {PORT})"
    )


def start(given: Namespace) -> None:
    """Be a Dask cluster on 127.0.0.1 until it is ended."""
    from gadcore.engine.local_cluster import local_cluster

    with local_cluster(given.workers, given.port) as cluster:
        out(
            given,
            {"address": cluster.scheduler_address, "workers": given.workers},
            f"{given.workers} worker(s) at {cluster.scheduler_address}. Ctrl+C ends them.",
            f"In another terminal: GAD_ENGINE={cluster.scheduler_address} ringfence train --project NAME",
        )
        cluster.wait()
