"""Where things lie under GAD_HOME.

projects/<project>/graph/           the graph, memory-mapped
projects/<project>/truth.npy        known answers of a benchmark, apart from the graph
projects/<project>/report.json      the preflight report of the import
projects/<project>/basis.npy        directions of the graph for diverse queries
projects/<project>/versions/<n>/    the same four of a later version, and touched.arrow: what it changed
projects/<project>/given/           files that updates were made of, compressed, by their hash
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

    def version(self, project_id: str, number: int) -> Path:
        """Where the files of a version of the graph are; those of the first one lie in the project itself."""
        project = self.project(project_id)
        return project if number == 1 else project / "versions" / str(number)

    def graph(self, project_id: str, version: int) -> Path:
        return self.version(project_id, version) / "graph"

    def truth(self, project_id: str, version: int) -> Path:
        return self.version(project_id, version) / "truth.npy"

    def touched(self, project_id: str, version: int) -> Path:
        """The nodes that a later version changed."""
        return self.version(project_id, version) / "touched.arrow"

    def given(self, project_id: str) -> Path:
        return self.project(project_id) / "given"

    def unsettled(self, project_id: str) -> Path:
        """A mark on the folder of a project that is being made or deleted."""
        return self.project(project_id) / "unsettled"

    def basis(self, project_id: str, version: int) -> Path:
        return self.version(project_id, version) / "basis.npy"

    def views(self, project_id: str, version: int) -> Path:
        return self.version(project_id, version) / "views.npy"

    def report(self, project_id: str, version: int) -> Path:
        return self.version(project_id, version) / "report.json"

    def runs(self, project_id: str) -> Path:
        return self.project(project_id) / "runs"

    def run(self, project_id: str, run_id: str) -> Path:
        return self.runs(project_id) / run_id

    def lock(self, name: str) -> Path:
        return self.home / "locks" / f"{name}.lock"

    @property
    def log(self) -> Path:
        return self.home / "worker.log"
