"""A Dask cluster of processes on this machine, reachable from it alone."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from gadcore.errors import RunError

HOST = "127.0.0.1"


class LocalWorkers:
    """A running cluster."""

    def __init__(self, cluster: Any) -> None:
        self._cluster = cluster
        self.scheduler_address = str(cluster.scheduler_address)

    def scale(self, workers: int) -> None:
        """Have so many workers from now on, and wait for them."""
        self._cluster.scale(workers)
        self._cluster.wait_for_workers(workers)

    def close(self) -> None:
        from distributed import Status

        try:
            self._cluster.close(timeout=5)
        except KeyError:
            # Dask heard of the end of a worker that it never met; by then all its processes have ended.
            self._cluster.status = Status.closed
            self._cluster.close(timeout=5)

    def wait(self) -> None:
        """Until somebody presses Ctrl+C."""
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            return


@contextmanager
def local_cluster(workers: int, port: int = 0) -> Iterator[LocalWorkers]:
    """Workers of one thread each; port 0 takes any that is free."""
    try:
        from distributed import LocalCluster
    except ImportError as error:
        raise RunError(
            f"Dask is not installed ({error}). Install it: pip install 'ringfence[cluster]'."
        ) from error
    make: Any = LocalCluster
    made = make(
        n_workers=workers,
        threads_per_worker=1,
        processes=True,
        host=HOST,
        scheduler_port=port,
        dashboard_address=None,
        scheduler_kwargs={"dashboard_address": f"{HOST}:0"},  # or its web server takes any address
        worker_dashboard_address=f"{HOST}:0",
    )
    running = LocalWorkers(made)
    try:
        yield running
    finally:
        running.close()
