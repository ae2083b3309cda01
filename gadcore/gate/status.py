"""/health and /metrics: how the server does, for people and programs that watch it."""

from __future__ import annotations

import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from gadcore.errors import GadError
from gadcore.settings import Settings
from gadcore.store import open_store
from gadcore.store.schema import now
from gadcore.store.tallies import job_counts, row_counts

ACTIVE = timedelta(minutes=5)


@dataclass
class Traffic:
    """What the gate has counted since the server started."""

    answers: Counter[str] = field(default_factory=Counter)
    open_sockets: int = 0
    refused_sockets: int = 0
    wrong_passwords: int = 0
    wrong_tokens: int = 0
    since: float = field(default_factory=time.monotonic)

    def answered(self, status: int) -> None:
        self.answers[f"{status // 100}xx"] += 1


def health(settings: Settings) -> tuple[int, dict[str, Any]]:
    """HTTP status, and whether the store answers; no secret, no name, no address."""
    began = time.monotonic()
    try:
        row_counts(open_store(settings).database)
    except GadError:
        return 503, {"status": "the store does not answer"}
    return 200, {"status": "ok", "store_seconds": round(time.monotonic() - began, 4)}


def metrics(settings: Settings, traffic: Traffic) -> str:
    """Prometheus text: what is stored, what is under way, what the gate has counted."""
    began = time.monotonic()
    store = open_store(settings)
    counts, jobs = row_counts(store.database), job_counts(store.database)
    active = store.logins.count(seen_since=now() - ACTIVE)
    seconds = time.monotonic() - began
    lines = [
        *_metric(
            "up_seconds", "gauge", "Seconds since the server started", {"": time.monotonic() - traffic.since}
        ),
        *_metric("cpu_seconds_total", "counter", "CPU of this process", {"": time.process_time()}),
        *_metric("peak_memory_bytes", "gauge", "Most memory of this process", _peak_memory()),
        *_metric("store_seconds", "gauge", "Time that the store took to answer", {"": seconds}),
        *_metric("rows", "gauge", "Rows of the store", counts, "table"),
        *_metric("jobs", "gauge", "Jobs by status", jobs, "status"),
        *_metric("active_logins", "gauge", "Logins that did something in five minutes", {"": active}),
        *_metric("open_tabs", "gauge", "Open WebSockets", {"": traffic.open_sockets}),
        *_metric("refused_tabs_total", "counter", "WebSockets refused", {"": traffic.refused_sockets}),
        *_metric("wrong_passwords_total", "counter", "Wrong passwords", {"": traffic.wrong_passwords}),
        *_metric("wrong_tokens_total", "counter", "Unknown or expired tokens", {"": traffic.wrong_tokens}),
        *_metric("answers_total", "counter", "HTTP answers by status", traffic.answers, "status"),
    ]
    return "\n".join(lines) + "\n"


def _peak_memory() -> dict[str, int]:
    """Bytes, where the platform tells."""
    try:
        import resource
    except ModuleNotFoundError:
        return {}
    return {
        "": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    }


def _metric(name: str, kind: str, about: str, values: Any, label: str = "") -> list[str]:
    """One metric; ``values`` by the value of its label, under "" without one."""
    full = f"ringfence_{name}"
    lines = [f"# HELP {full} {about}.", f"# TYPE {full} {kind}"]
    for key, value in sorted(values.items()):
        lines.append(f'{full}{{{label}="{key}"}} {value}' if label else f"{full} {value}")
    return lines
