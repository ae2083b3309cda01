"""Settings come from the environment and have usable defaults."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

from gadcore.errors import InputError
from gadcore.settings import ROOT, Settings


def test_defaults_keep_everything_in_the_project_folder() -> None:
    settings = Settings.from_env({})
    assert settings.home.parts[-2:] == ("data", "workspace")
    assert settings.store_url == f"sqlite:///{settings.home / 'ringfence.sqlite'}"
    assert settings.threads >= 1
    assert settings.analyst


def test_the_environment_decides(tmp_path: Path) -> None:
    settings = Settings.from_env({"GAD_HOME": str(tmp_path), "GAD_THREADS": "3", "GAD_STORE": "sqlite://"})
    assert (settings.home, settings.threads, settings.store_url) == (tmp_path, 3, "sqlite://")


def test_an_input_error_reads_as_sentences() -> None:
    error = InputError("edges.csv, row 3: weight 'x'", "a number above 0", "correct the row")
    assert str(error) == "edges.csv, row 3: weight 'x'. Expected: a number above 0. To do: correct the row."


def test_the_first_start_of_all_asks_nothing(tmp_path) -> None:
    """Nor says anything to developers. Streamlit would ask for an address, and end where no terminal is."""
    environment = {**os.environ, "HOME": str(tmp_path), "PATH": "", "BROWSER": "/bin/true %s"}
    environment["GAD_HOME"] = str(tmp_path / "home")
    command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", "0"]
    with subprocess.Popen(
        command,
        cwd=ROOT,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        stop = threading.Timer(60, process.kill)
        stop.start()
        try:
            assert process.stdout is not None
            said = []
            while (line := process.stdout.readline()) and "started on" not in line:
                said.append(line)
        finally:
            stop.cancel()
            process.terminate()
    assert "server started on 127.0.0.1" in line, "".join(said)
    assert said == []
