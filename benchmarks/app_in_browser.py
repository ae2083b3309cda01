"""The app as a user meets it: a server of its own on a free loopback port, and a Chromium to look at it.

Used by the browser tests, the labelling benchmark and the screenshots.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, MutableSequence
from contextlib import contextmanager
from pathlib import Path

from gadcore.errors import RunError
from gadcore.jobs.workers import stop as stop_workers
from gadcore.settings import ROOT, Settings

FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)


def chromium_path() -> str | None:
    """GAD_CHROMIUM, else the Chromium or Chrome of this machine, else None."""
    named = os.environ.get("GAD_CHROMIUM")
    usual = ("chromium", "chromium-browser", "google-chrome")
    return named or next((path for name in usual if (path := shutil.which(name))), None)


@contextmanager
def running_app(
    home: Path, environment: Mapping[str, str] | None = None, log: MutableSequence[str] | None = None
) -> Iterator[str]:
    """Start the app on the workspace folder ``home``; gives its address, ends it and its workers after.

    What the server says goes to ``log``, line by line.
    """
    given = {**os.environ, "GAD_HOME": str(home), **(environment or {})}
    given.pop("GAD_STORE", None)
    port = free_port()
    process = start_server(given, port)
    try:
        reader = wait_until_ready(process, [] if log is None else log)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(timeout=30)
        stop_workers(Settings.from_env(given))
    reader.join(timeout=10)
    if process.stdout is not None:
        process.stdout.close()


def start_server(given: Mapping[str, str], port: int) -> subprocess.Popen[str]:
    """Start the app's server; ``wait_until_ready`` before it is used."""
    command = [sys.executable, "-m", "streamlit", "run", "pages/common/serve.py", "--server.headless", "true"]
    return subprocess.Popen(
        [*command, "--server.port", str(port)],
        cwd=ROOT,
        env=dict(given),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def wait_until_ready(process: subprocess.Popen[str], log: MutableSequence[str]) -> threading.Thread:
    """Read what the server says until it names its address; a thread reads on, or the server would block."""
    stream = process.stdout
    for line in stream or ():  # ends when the server does
        log.append(line)
        if line.startswith("Ringfence runs at"):
            reader = threading.Thread(target=log.extend, args=(stream,), daemon=True)
            reader.start()
            return reader
    raise RunError("Streamlit did not start. It said:\n" + "".join(log))
