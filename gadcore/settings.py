"""Settings from the environment, read here and nowhere else.

| variable        | meaning                                              | default                 |
| GAD_HOME        | folder of the workspace (database, graphs, runs)    | data/workspace          |
| GAD_STORE       | SQLAlchemy URL of the store                          | SQLite in GAD_HOME      |
| GAD_DATASETS    | folder with benchmark .npz files                     | ../shared/datasets      |
| GAD_DEVICE      | auto, cpu, cuda or mps                               | auto                    |
| GAD_THREADS     | threads of the training process                      | physical cores          |
| GAD_ANALYST     | name recorded with a verdict                         | the login name          |
| GAD_MAX_UNPACKED| bytes that an archive may unpack to                  | 4 GiB                   |
"""

from __future__ import annotations

import getpass
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Settings:
    """What the environment decides; passed on explicitly."""

    home: Path
    store_url: str
    datasets: Path
    device: str
    threads: int
    analyst: str
    max_unpacked: int

    @classmethod
    def from_env(cls, environ: Mapping[str, str] | None = None) -> Settings:
        env = os.environ if environ is None else environ
        home = Path(env.get("GAD_HOME") or ROOT / "data" / "workspace").expanduser().absolute()
        return cls(
            home=home,
            store_url=env.get("GAD_STORE") or f"sqlite:///{home / 'ringfence.sqlite'}",
            datasets=Path(env.get("GAD_DATASETS") or ROOT.parent / "shared" / "datasets").expanduser(),
            device=env.get("GAD_DEVICE") or "auto",
            threads=int(env.get("GAD_THREADS") or _physical_cores()),
            analyst=env.get("GAD_ANALYST") or _login(),
            max_unpacked=int(env.get("GAD_MAX_UNPACKED") or 4 * 1024**3),
        )


def _physical_cores() -> int:
    return max(1, (os.cpu_count() or 2) // 2)


def _login() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return "analyst"
