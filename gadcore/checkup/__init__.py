"""``ringfence doctor``: is everything there that Ringfence needs, and does it answer?

finding    one line of the answer
libraries  Python and what is installed
machine    folder, disk, device, workers
database   the store and the clocks
network    the cluster and the provider of single sign-on

Nothing is changed by looking: a workspace that is not there is not made, an older one stays as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from gadcore.checkup import database, libraries, machine, network
from gadcore.checkup.finding import Finding
from gadcore.settings import Settings

__all__ = ["Finding", "check_up"]

_CHECKS: tuple[Callable[[Settings], Finding | None], ...] = (
    libraries.python,
    libraries.installed,
    libraries.app,
    machine.folder,
    machine.disk,
    database.store,
    database.durable,
    database.clock,
    machine.device,
    machine.workers,
    network.engine,
    network.logins,
)


def check_up(settings: Settings) -> Iterator[Finding]:
    """What was found, one thing after another."""
    for check in _CHECKS:
        if (found := check(settings)) is not None:
            yield found
