"""Settings from the environment, read here and nowhere else.

| variable        | meaning                                              | default                 |
| GAD_HOME        | folder of the workspace (database, graphs, runs)     | see below               |
| GAD_STORE       | SQLAlchemy URL of the store                          | SQLite in GAD_HOME      |
| GAD_DATASETS    | folder with benchmark .npz files                     | see below               |
| GAD_DEVICE      | auto, cpu, cuda or mps                               | auto                    |
| GAD_THREADS     | threads of the training process                      | physical cores          |
| GAD_ENGINE      | local, or the address of a Dask scheduler (tcp://…)  | local                   |
| GAD_ANALYST     | name recorded with a verdict                         | the login name          |
| GAD_MAX_UNPACKED| bytes that an archive may unpack to                  | 4 GiB                   |
| GAD_MAX_COLUMNS | columns that a table or attribute matrix may have    | 20,000                  |
| GAD_MAX_MEMORY  | bytes that a process which reads a file may take     | memory of the machine   |
| GAD_LOGIN       | "always": a login is needed on 127.0.0.1 too         | only on other addresses |
| GAD_FOLDERS     | folders whose files an admin may name to the server  | none                    |
| GAD_PROXIES     | addresses of proxies that say who is logged in       | none                    |
| GAD_OIDC_…      | single sign-on: ISSUER, CLIENT, SECRET, NAME, ROLES  | none                    |
| GAD_LOG         | "json": one JSON document a line in the logs         | plain lines             |

In a checkout the defaults are data/workspace and ../shared/datasets. For an installed package they are a
folder of this user, where the platform keeps such things, and datasets in GAD_HOME.
"""

from __future__ import annotations

import getpass
import os
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from gadcore.errors import UsageError

PACKAGE = Path(__file__).resolve().parent
ROOT = PACKAGE.parent  # of the checkout; of an installed package, the folder it is installed in
CHECKOUT = (ROOT / "app.py").is_file() and (ROOT / "pages").is_dir()
APP = ROOT if CHECKOUT else ROOT / "ringfence_app"  # app.py, pages and Streamlit's settings
DEMO_FOLDER = PACKAGE / "data" / "demo"
MOST_SEED = 2**32 - 1  # of numpy and scikit-learn
_SECRET = "GAD_OIDC_SECRET"  # only the server itself gets to see it


@dataclass(frozen=True)
class SingleSignOn:
    """A provider of OpenID Connect that logs people in; what each variable means is in docs/security.md."""

    issuer: str
    client: str
    secret: str = field(default="", repr=False)
    name_claim: str = "preferred_username"
    roles_claim: str = ""  # "": the role is that of the user here
    roles: tuple[tuple[str, str], ...] = ()  # (value of the claim, role)


@dataclass(frozen=True)
class Settings:
    """What the environment decides; passed on explicitly."""

    home: Path
    store_url: str
    datasets: Path
    device: str
    threads: int
    engine: str
    analyst: str
    max_unpacked: int
    max_columns: int
    max_memory: int
    login_always: bool = False
    folders: tuple[Path, ...] = ()
    proxies: tuple[str, ...] = ()
    oidc: SingleSignOn | None = None
    log_json: bool = False

    @classmethod
    def from_env(cls, environ: Mapping[str, str] | None = None) -> Settings:
        env = os.environ if environ is None else environ
        workspace = ROOT / "data" / "workspace" if CHECKOUT else user_folder(env)
        home = Path(env.get("GAD_HOME") or workspace).expanduser().absolute()
        shared = ROOT.parent / "shared" / "datasets" if CHECKOUT else home / "datasets"
        return cls(
            home=home,
            store_url=_store(env.get("GAD_STORE") or f"sqlite:///{home / 'ringfence.sqlite'}"),
            datasets=Path(env.get("GAD_DATASETS") or shared).expanduser().absolute(),
            device=known_device(env.get("GAD_DEVICE") or "auto", "GAD_DEVICE"),
            threads=_count(env, "GAD_THREADS", _physical_cores()),
            engine=_engine(env.get("GAD_ENGINE") or "local"),
            analyst=env.get("GAD_ANALYST") or _login(),
            max_unpacked=_count(env, "GAD_MAX_UNPACKED", 4 * 1024**3),
            max_columns=_count(env, "GAD_MAX_COLUMNS", 20_000),
            max_memory=_count(env, "GAD_MAX_MEMORY", _memory()),
            login_always=_only(env, "GAD_LOGIN", "always"),
            folders=tuple(
                Path(name).expanduser().absolute() for name in _listed(env, "GAD_FOLDERS", os.pathsep)
            ),
            proxies=_listed(env, "GAD_PROXIES", ","),
            oidc=_oidc(env),
            log_json=_only(env, "GAD_LOG", "json"),
        )


def known_device(name: str, said_by: str = "device") -> str:
    """The name of a device, as it is; UsageError if no machine has such a one."""
    if not re.fullmatch(r"auto|cpu|mps|cuda(:\d+)?", name):
        raise UsageError(f"{said_by} is {name!r}. Expected: auto, cpu, cuda, cuda:N or mps.")
    return name


def _engine(address: str) -> str:
    """Where blocks are worked out, as it is; UsageError if it is no address."""
    if not re.fullmatch(r"local|(tcp|tls)://\S+:\d+", address):
        raise UsageError(
            f"GAD_ENGINE is {address!r}. Expected: local, or the address of a Dask scheduler, tcp://HOST:PORT."
        )
    return address


def _store(url: str) -> str:
    """The address of a database, as it is; UsageError, without a password in it, if it is none."""
    if not re.match(r"(sqlite|postgresql)(\+\w+)?://", url):
        raise UsageError(
            f"GAD_STORE begins with {url.partition(':')[0]!r}. Expected: sqlite:////FOLDER/FILE or "
            "postgresql+psycopg://USER@HOST/NAME."
        )
    return url


def _count(env: Mapping[str, str], name: str, otherwise: int) -> int:
    """A variable that counts something, 1 or more."""
    text = env.get(name) or str(otherwise)
    if not re.fullmatch(r"0*[1-9]\d{0,17}", text.strip(), re.ASCII):
        raise UsageError(f"{name} is {text!r}. Expected: a whole number, 1 or more.")
    return int(text)


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
    inherited = {name: value for name, value in import_environment().items() if name != _SECRET}
    return {
        **inherited,
        **dict.fromkeys(pools, str(settings.threads)),
        "GAD_HOME": str(settings.home),
        "GAD_STORE": settings.store_url,
        "GAD_DATASETS": str(settings.datasets),
        "GAD_DEVICE": settings.device,
        "GAD_ENGINE": settings.engine,
        "GAD_ANALYST": settings.analyst,
        "GAD_MAX_UNPACKED": str(settings.max_unpacked),
        "GAD_MAX_COLUMNS": str(settings.max_columns),
        "GAD_MAX_MEMORY": str(settings.max_memory),
        "GAD_LOG": "json" if settings.log_json else "",
        "OMP_WAIT_POLICY": "passive",  # idle threads that spin cost a busy machine tenfold
    }


def trust_no_forwarded_address() -> None:
    """Have the web server of this process leave the address of a visitor as it is: the gate decides."""
    os.environ["FORWARDED_ALLOW_IPS"] = ""


def _only(env: Mapping[str, str], name: str, word: str) -> bool:
    """Whether a variable is the one word that it may be."""
    found = env.get(name, "")
    if found not in ("", word):
        raise UsageError(f"{name} is {found!r}. Expected: {word}, or no such variable.")
    return found == word


def _oidc(env: Mapping[str, str]) -> SingleSignOn | None:
    """The provider that the environment names; UsageError if it names half of one."""
    issuer, client = env.get("GAD_OIDC_ISSUER", ""), env.get("GAD_OIDC_CLIENT", "")
    if not issuer and not client:
        return None
    if not issuer or not client:
        raise UsageError("GAD_OIDC_ISSUER and GAD_OIDC_CLIENT belong together. Set both, or neither.")
    if not is_protected(issuer):
        raise UsageError(f"GAD_OIDC_ISSUER is {issuer!r}. Expected: the https:// address of the provider.")
    claim, roles = _role_claim(env.get("GAD_OIDC_ROLES", ""))
    name = env.get("GAD_OIDC_NAME") or SingleSignOn.name_claim
    return SingleSignOn(issuer, client, env.get(_SECRET, ""), name, claim, roles)


def is_protected(address: str) -> bool:
    """Whether what is sent to a web address stays secret: https, or a server on this machine."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return False
    here = parts.scheme == "http" and parts.hostname in ("127.0.0.1", "::1", "localhost")
    return bool(parts.hostname) and (parts.scheme == "https" or here)


def _role_claim(text: str) -> tuple[str, tuple[tuple[str, str], ...]]:
    """``groups: fraud-team=analyst, fraud-leads=lead`` as claim and pairs."""
    claim, _, rest = (part.strip() for part in text.partition(":"))
    pairs = [re.fullmatch(r"\s*(\S.*?)\s*=\s*(\w+)\s*", pair) for pair in rest.split(",")]
    if text and not (claim and all(pairs)):
        raise UsageError(f"GAD_OIDC_ROLES is {text!r}. Expected: CLAIM: VALUE=ROLE, VALUE=ROLE, …")
    return claim, tuple((pair[1], pair[2]) for pair in pairs if pair)


def _listed(env: Mapping[str, str], name: str, separator: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in env.get(name, "").split(separator) if word.strip())


def _physical_cores() -> int:
    return max(1, (os.cpu_count() or 2) // 2)


def _memory() -> int:
    """Bytes of memory of this machine, or a terabyte where it does not say."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return 1024**4


def _login() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return "analyst"
