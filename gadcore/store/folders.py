"""Where things lie under GAD_HOME.

projects/<project>/graph/           the graph, memory-mapped
projects/<project>/truth.npy        known answers of a benchmark, apart from the graph
projects/<project>/report.json      the preflight report of the import
projects/<project>/runs/<run>/      artefacts of a run that ended well
locks/                              held by living processes: runs, workers, their clients
worker.log                          what the worker processes have to say
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Folders:
    """Paths under one GAD_HOME; nothing is created."""

    home: Path

    def project(self, project_id: str) -> Path:
        return self.home / "projects" / project_id

    def graph(self, project_id: str) -> Path:
        return self.project(project_id) / "graph"

    def truth(self, project_id: str) -> Path:
        return self.project(project_id) / "truth.npy"

    def basis(self, project_id: str) -> Path:
        return self.project(project_id) / "basis.npy"

    def report(self, project_id: str) -> Path:
        return self.project(project_id) / "report.json"

    def runs(self, project_id: str) -> Path:
        return self.project(project_id) / "runs"

    def run(self, project_id: str, run_id: str) -> Path:
        return self.runs(project_id) / run_id

    def lock(self, name: str) -> Path:
        return self.home / "locks" / f"{name}.lock"

    @property
    def log(self) -> Path:
        return self.home / "worker.log"
