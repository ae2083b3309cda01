"""The store: does it answer, of which version is it, is a commit on the disk, and do the clocks agree?"""

from __future__ import annotations

from datetime import timedelta

from sqlalchemy.engine import make_url

from gadcore.checkup.finding import Finding
from gadcore.errors import StoreError
from gadcore.jobs.workers import LANES, state
from gadcore.settings import Settings
from gadcore.store.look import Seen, look
from gadcore.store.schema import VERSION, now

SLOW = 1.0  # seconds
APART = timedelta(minutes=1)
LEAST_POSTGRES = 13


def store(settings: Settings) -> Finding:
    try:
        found = look(settings.store_url)
    except StoreError as error:
        return Finding.problem("store", str(error), "Start the database, or correct GAD_STORE.")
    if found is None:
        return Finding.ok("store", "none yet; made at the first use")
    return _version(found) or _at_work(settings, found)


def _version(found: Seen) -> Finding | None:
    said = _said(found)
    if found.kind == "postgresql" and found.release < (LEAST_POSTGRES,):
        return Finding.problem("store", said, f"Use PostgreSQL {LEAST_POSTGRES} or newer.")
    if found.schema > VERSION:
        return Finding.problem("store", said, f"Update Ringfence: this one knows versions up to {VERSION}.")
    if 0 < found.schema < VERSION:
        fix = "Make a backup with the program that wrote it. The next start brings it up to date."
        return Finding.warning("store", f"{said}; this program uses version {VERSION}", fix)
    return None


def _at_work(settings: Settings, found: Seen) -> Finding:
    said = _said(found)
    if found.seconds > SLOW:
        return Finding.warning("store", said, "It is slow: look at its disk and at the way to it.")
    if found.waiting and not any(state(settings, lane)["alive"] for lane in LANES):
        fix = "Start the app: its workers take them up."
        return Finding.warning("store", f"{said}; {found.waiting} job(s) wait and no worker runs", fix)
    return Finding.ok("store", said)


def _said(found: Seen) -> str:
    release = ".".join(map(str, found.release))
    tables = f"tables of version {found.schema}" if found.schema else "empty"
    return f"{found.kind} {release}, {tables}, answers in {1000 * found.seconds:,.0f} ms"


def durable(settings: Settings) -> Finding | None:
    """Whether what is committed is on the disk; None where the store has been found wanting already."""
    if (found := _seen(settings)) is None:
        return None
    if found.unsafe:
        fix = "Switch it on: otherwise verdicts are lost when the power fails."
        return Finding.problem("fsync", f"the database has {', '.join(found.unsafe)}", fix)
    if found.kind == "sqlite" and _is_remote(settings):
        fix = "Keep GAD_HOME on a local disk, or use PostgreSQL."
        return Finding.warning("fsync", "SQLite lies on a network disk, whose locks cannot be relied on", fix)
    return Finding.ok("fsync", "a commit waits for the disk")


def clock(settings: Settings) -> Finding:
    """Whether this clock agrees with the database's, and lies behind nothing that was written."""
    found = _seen(settings)
    apart = abs(now() - found.clock) if found else timedelta()
    if apart > APART:
        said = f"this clock and the database's are {apart.total_seconds():,.0f} s apart"
        return Finding.warning("clock", said, "Set both by NTP: logins would end early or late.")
    if found and found.latest is not None and found.latest - now() > APART:
        said = f"the newest entry of the trail is of {found.latest:%Y-%m-%d %H:%M} UTC, which is to come"
        fix = "Set the clock by NTP. The order of verdicts does not depend on it."
        return Finding.warning("clock", said, fix)
    return Finding.ok("clock", f"{now():%Y-%m-%d %H:%M:%S} UTC")


def _seen(settings: Settings) -> Seen | None:
    try:
        return look(settings.store_url)
    except StoreError:
        return None


def _is_remote(settings: Settings) -> bool:
    """Whether the file of the database lies on a disk of another machine, where the system tells."""
    path = make_url(settings.store_url).database or ""
    try:
        with open("/proc/mounts", encoding="utf-8") as mounts:
            rows = [line.split() for line in mounts]
    except OSError:
        return False
    above = [row for row in rows if len(row) > 2 and f"{path}/".startswith(f"{row[1].rstrip('/')}/")]
    kind = max(above, key=lambda row: len(row[1]))[2] if above else ""
    return kind.startswith(("nfs", "cifs", "smb", "fuse.sshfs", "lustre", "ceph", "gluster"))
