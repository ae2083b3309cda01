"""Fixtures that every test may use: small graphs, a workspace folder of its own, the benchmark folder."""

from __future__ import annotations

import os
import random
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

# Before numpy or torch load: several OpenMP pools on few cores cost more than they give.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

import numpy as np
import pytest
from postgres_server import empty_schema, postgres  # noqa: F401
from xdist.scheduler.loadscope import LoadScopeScheduling

from gadcore.graph import Graph, make_graph
from gadcore.graph.labels import Labels
from gadcore.jobs.workers import stop as stop_workers
from gadcore.settings import Settings
from gadcore.store import close_stores

CI = os.environ.get("CI") == "true"
BROWSER = "tests/browser/"
KEPT = ("store", "workspace", "jobs")  # folders of tests that run on every database


class OneBrowser(LoadScopeScheduling):
    """What runs in one process: a file, and all that needs the browser, which is collected first."""

    def _split_scope(self, nodeid: str) -> str:
        file = nodeid.split("::")[0]
        return BROWSER if file.startswith(BROWSER) else file


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> OneBrowser:
    return OneBrowser(config, log)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run tests of what is kept on every database, but for files that say which in DATABASES."""
    if "store_url" in metafunc.fixturenames and metafunc.definition.path.parent.name in KEPT:
        databases = getattr(metafunc.module, "DATABASES", ("sqlite", "postgresql"))
        metafunc.parametrize("store_url", databases, indirect=True)


@pytest.fixture(autouse=True)
def same_ids(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ids of runs, which the draws of a queue begin from, are those of the last time that the test ran."""
    draw = random.Random(request.node.nodeid)
    monkeypatch.setattr(uuid, "uuid4", lambda: uuid.UUID(int=draw.getrandbits(128), version=4))


@pytest.fixture
def store_url(request: pytest.FixtureRequest) -> str:
    """The store of a test; "" is SQLite in GAD_HOME."""
    if getattr(request, "param", "sqlite") == "sqlite":
        return ""
    return empty_schema(request.getfixturevalue("postgres"))


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, store_url: str) -> Iterator[Path]:
    """A fresh GAD_HOME; workers that a test started in it end with the test."""
    folder = tmp_path / "home"
    monkeypatch.setenv("GAD_HOME", str(folder))
    monkeypatch.setenv("GAD_ANALYST", "ana")
    monkeypatch.setenv("GAD_STORE", store_url)
    settings = Settings.from_env()
    yield folder
    stop_workers(settings)
    close_stores()


@pytest.fixture
def settings(home: Path) -> Settings:
    return Settings.from_env()


@pytest.fixture(scope="session")
def datasets() -> Path:
    """Folder of the benchmark graphs; skips without it, but not on the build server."""
    folder = Settings.from_env().datasets
    if not (folder / "cora.npz").exists():
        message = f"no benchmark graphs in {folder}; set GAD_DATASETS"
        if CI:
            pytest.fail(message)
        pytest.skip(message)
    return folder


def planted_graph(n: int = 300, anomalies: int = 30, seed: int = 0) -> tuple[Graph, np.ndarray]:
    """Two communities and a small dense group with shifted attributes: the planted anomalies."""
    rng = np.random.default_rng(seed)
    y = np.zeros(n, dtype=np.int8)
    y[rng.choice(n, anomalies, replace=False)] = 1
    community = np.where(y == 1, 2, rng.integers(0, 2, n))
    i, j = np.triu_indices(n, 1)
    chance = np.where(community[i] == community[j], np.where(community[i] == 2, 0.15, 0.04), 0.006)
    keep = rng.random(len(i)) < chance
    centres = rng.normal(0, 1, (3, 12))
    x = np.clip((centres[community] + rng.normal(0, 1.2, (n, 12)) + 4) / 8, 0, 1)
    return make_graph([f"n{k:03d}" for k in range(n)], np.vstack([i[keep], j[keep]]), x, name="planted"), y


@pytest.fixture(scope="session")
def planted() -> tuple[Graph, np.ndarray]:
    """(graph, truth) with 300 nodes and 30 planted anomalies."""
    return planted_graph()


@pytest.fixture(scope="session")
def planted_labels(planted: tuple[Graph, np.ndarray]) -> Labels:
    """30 normal and 8 anomalous labels on the planted graph."""
    graph, y = planted
    return Labels.from_indices(
        graph, normal=np.flatnonzero(y == 0)[:30], anomalous=np.flatnonzero(y == 1)[:8]
    )
