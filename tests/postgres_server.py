"""A PostgreSQL server for tests, in a folder that is thrown away afterwards."""

from __future__ import annotations

import itertools
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from urllib.parse import quote

import psycopg
import pytest

CI = os.environ.get("CI") == "true"
SERVER = "postgres"  # the file name of the program
SETTINGS = ("listen_addresses=", "fsync=off", "shared_buffers=16MB", "max_connections=200", "autovacuum=off")
_NUMBERS = itertools.count(1)


def _programs() -> Path | None:
    """Folder with the programs of the newest PostgreSQL here."""
    found = shutil.which(SERVER)
    debian = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{SERVER}"), key=lambda path: int(path.parts[4]))
    chosen = debian[-1:] or ([Path(found).resolve()] if found else [])
    return chosen[0].parent if chosen else None


def _user() -> str | None:
    """Whom the server runs as: root is refused."""
    if os.getuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        with suppress(KeyError):
            return pwd.getpwnam(name).pw_name
    return None


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """URL of a server of this test process, on a socket in a folder of its own."""
    programs = _programs()
    if programs is None:
        message = "no PostgreSQL server; install one (make database does, as root on Debian)"
        if CI:
            pytest.fail(message)
        pytest.skip(message)
    folder, user = Path(tempfile.mkdtemp(prefix="rf-pg-")), _user()
    if user:
        shutil.chown(folder, user)
    data = folder / "data"
    make = [programs / "initdb", "-D", data, "-U", "tester", "-A", "trust", "--no-sync", "-E", "UTF8"]
    subprocess.run(make, user=user, cwd=folder, check=True, capture_output=True, timeout=120)
    options = [part for setting in SETTINGS for part in ("-c", setting)]
    command = [programs / SERVER, "-D", data, "-k", folder, *options]
    with (folder / "log").open("wb") as log:
        server = subprocess.Popen(command, user=user, cwd=folder, stdout=log, stderr=log)
    try:
        _await(folder)
        yield f"postgresql+psycopg://tester@/postgres?host={quote(str(folder))}"
    finally:
        server.send_signal(signal.SIGINT)
        server.wait(60)
        shutil.rmtree(folder, ignore_errors=True)


def _await(folder: Path) -> None:
    deadline = time.monotonic() + 60
    while True:
        try:
            return psycopg.connect(host=str(folder), user="tester", dbname="postgres").close()
        except psycopg.OperationalError:
            if time.monotonic() > deadline:
                pytest.fail((folder / "log").read_text(encoding="utf-8"))
            time.sleep(0.02)


def empty_schema(postgres: str) -> str:
    """URL of a schema with nothing in it."""
    name = f"t{next(_NUMBERS)}"
    with psycopg.connect(postgres.replace("+psycopg", ""), autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {name}")
    return f"{postgres}&options=-csearch_path%3D{name}"
