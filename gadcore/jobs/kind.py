"""What a kind of job says of itself, and what it is given to work with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from gadcore.errors import Cancelled
from gadcore.jobs.pulse import Pulse
from gadcore.settings import Settings
from gadcore.shelf import Shelf
from gadcore.store import Result, Store


@dataclass(frozen=True)
class Memory:
    """What a long-lived process keeps between jobs: graphs by fingerprint, models by run id."""

    graphs: Shelf = field(default_factory=lambda: Shelf(2))
    models: Shelf = field(default_factory=lambda: Shelf(2))


@dataclass(frozen=True)
class Job:
    """A job that is being carried out."""

    id: str
    project: str  # "" without one
    payload: dict[str, Any]
    store: Store
    settings: Settings
    memory: Memory
    pulse: Pulse
    listen: Callable[..., None]  # told of every step, in the words of the kind

    def stop_if_asked(self) -> None:
        """Raise Cancelled when somebody asked the job to stop."""
        if self.pulse.stopping:
            raise Cancelled("Stopped on request; nothing was changed.")

    def result_of(self, run_id: str) -> Result:
        """What a finished run of the project found."""
        run = self.store.runs.get(run_id)
        return Result(run, self.store.folders.run(run.project, run.id))

    def graph_folder(self, version: int) -> Path:
        return self.store.folders.graph(self.project, version)


class Kind:
    """One kind of job."""

    name: ClassVar[str]
    work: ClassVar[str]  # in messages: "The training was stopped"
    lane: ClassVar[str]  # the worker that serves it
    first: ClassVar[bool] = False  # before other kinds of the lane
    attempts: ClassVar[int] = 1  # more where a job whose process is gone may be done again without harm
    cpu_seconds: ClassVar[int | None] = None  # after which the system ends its process, if it has its own
    lighter: ClassVar[str] = "Use a machine with more memory."  # said when memory ran out

    def do(self, job: Job) -> Any:
        """Do it; returns the result as JSON. Raises a GadError that says why it cannot be done."""
        raise NotImplementedError
