"""One labelled and ranked project for all tests of a file, and a program of each role."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
import uvicorn
from api_program import Program, program
from page_project import make_project

from gadcore.access import Role
from gadcore.api import Api
from gadcore.gate import Gate
from gadcore.jobs.workers import stop as stop_workers
from gadcore.settings import Settings
from gadcore.store import close_stores
from gadcore.workspace import Workspace


@dataclass(frozen=True)
class Served:
    """A project behind the API."""

    settings: Settings
    workspace: Workspace
    programs: dict[str, Program]  # by role

    @property
    def path(self) -> str:
        return f"/projects/{self.workspace.id}"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GAD_HOME", str(tmp_path_factory.mktemp("served")))
        patch.setenv("GAD_ANALYST", "ana")
        patch.setenv("GAD_STORE", "")
        settings = Settings.from_env()
        workspace = make_project(models=("isolation-forest", "sgc-lr"))
        yield Served(settings, workspace, {role.word: program(settings, role.word) for role in Role})
        stop_workers(settings)
        close_stores()


@pytest.fixture(scope="module")
def url(served: Served) -> Iterator[str]:
    """Where a real server has the API, behind the gate of a server for a team."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()  # who comes before the server is ready waits
        app = Gate(Api(served.settings), served.settings, "0.0.0.0")
        server = uvicorn.Server(uvicorn.Config(app, log_config=None, lifespan="off"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        server.should_exit = True
        thread.join()


@pytest.fixture
def analyst(served: Served) -> Program:
    return served.programs["analyst"]
