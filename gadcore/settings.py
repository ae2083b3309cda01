"""Settings from the environment, read here and nowhere else.

| variable        | meaning                                              | default                 |
| GAD_HOME        | folder of the workspace (database, graphs, runs)     | see below               |
| GAD_STORE       | SQLAlchemy URL of the store                          | SQLite in GAD_HOME      |
| GAD_DATASETS    | folder with benchmark .npz files                     | see below               |
| GAD_DEVICE      | auto, cpu, cuda or mps                               | auto                    |
| GAD_THREADS     | threads of the training process                      | physical cores          |
| GAD_ANALYST     | name recorded with a verdict                         | the login name          |
| GAD_MAX_UNPACKED| bytes that an archive may unpack to                  | 4 GiB                   |

In a checkout the defaults are data/workspace and ../shared/datasets. For an installed package they are a
folder of this user, where the platform keeps such things, and datasets in GAD_HOME.
"""

from __future__ import annotations

import getpass
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent
ROOT = PACKAGE.parent  # of the checkout; of an installed package, the folder it is installed in
CHECKOUT = (ROOT / "app.py").is_file() and (ROOT / "pages").is_dir()
APP = ROOT if CHECKOUT else ROOT / "ringfence_app"  # app.py, pages and Streamlit's settings
DEMO_FOLDER = PACKAGE / "data" / "demo"


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
        workspace = ROOT / "data" / "workspace" if CHECKOUT else user_folder(env)
        home = Path(env.get("GAD_HOME") or workspace).expanduser().absolute()
        shared = ROOT.parent / "shared" / "datasets" if CHECKOUT else home / "datasets"
        return cls(
            home=home,
            store_url=env.get("GAD_STORE") or f"sqlite:///{home / 'ringfence.sqlite'}",
            datasets=Path(env.get("GAD_DATASETS") or shared).expanduser().absolute(),
            device=env.get("GAD_DEVICE") or "auto",
            threads=int(env.get("GAD_THREADS") or _physical_cores()),
            analyst=env.get("GAD_ANALYST") or _login(),
            max_unpacked=int(env.get("GAD_MAX_UNPACKED") or 4 * 1024**3),
        )


def user_folder(env: Mapping[str, str], platform: str = sys.platform) -> Path:
    """Where a program keeps the data of one user on this platform; ``~`` stands for the home folder."""
    bases = {
        "win32": env.get("LOCALAPPDATA") or "~/AppData/Local",
        "darwin": "~/Library/Application Support",
    }
    return Path(bases.get(platform) or env.get("XDG_DATA_HOME") or "~/.local/share") / "ringfence"


def import_environment() -> dict[str, str]:
    """This environment, for a Python process that shall import this gadcore and these pages.

    It may start in any folder: what lies there is not imported in their place.
    """
    paths = (str(APP), os.environ.get("PYTHONPATH"))
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths)), "PYTHONSAFEPATH": "1"}


def child_environment(settings: Settings) -> dict[str, str]:
    """What a process that works for this workspace folder finds in its environment."""
    pools = ("GAD_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS")
    return {
        **import_environment(),
        **dict.fromkeys(pools, str(settings.threads)),
        "GAD_HOME": str(settings.home),
        "GAD_STORE": settings.store_url,
        "GAD_DATASETS": str(settings.datasets),
        "GAD_DEVICE": settings.device,
        "GAD_ANALYST": settings.analyst,
        "GAD_MAX_UNPACKED": str(settings.max_unpacked),
        "OMP_WAIT_POLICY": "passive",  # idle threads that spin cost a busy machine tenfold
    }


def _physical_cores() -> int:
    return max(1, (os.cpu_count() or 2) // 2)


def _login() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return "analyst"
