"""Settings come from the environment and have usable defaults."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from gadcore import settings as gadcore_settings
from gadcore.errors import InputError, UsageError
from gadcore.settings import ROOT, Settings, child_environment, user_folder


def test_defaults_keep_everything_in_the_project_folder() -> None:
    settings = Settings.from_env({})
    assert settings.home.parts[-2:] == ("data", "workspace")
    assert settings.store_url == f"sqlite:///{settings.home / 'ringfence.sqlite'}"
    assert settings.threads >= 1
    assert settings.analyst


@pytest.mark.parametrize(
    ("platform", "environment", "expected"),
    [
        ("linux", {}, "~/.local/share/ringfence"),
        ("linux", {"XDG_DATA_HOME": "/data"}, "/data/ringfence"),
        ("darwin", {"XDG_DATA_HOME": "/data"}, "~/Library/Application Support/ringfence"),
        ("win32", {"LOCALAPPDATA": "/local"}, "/local/ringfence"),
    ],
)
def test_an_installed_package_keeps_its_data_where_the_platform_does(platform, environment, expected) -> None:
    assert user_folder(environment, platform) == Path(expected)


def test_outside_a_checkout_nothing_is_kept_beside_the_package(monkeypatch, tmp_path: Path) -> None:
    monkeypatch.setattr(gadcore_settings, "CHECKOUT", False)
    settings = Settings.from_env({"XDG_DATA_HOME": str(tmp_path), "LOCALAPPDATA": str(tmp_path)})
    assert not settings.home.is_relative_to(ROOT)
    assert settings.datasets == settings.home / "datasets"


def test_a_child_imports_this_gadcore_and_nothing_of_the_folder_it_starts_in(
    tmp_path: Path, settings
) -> None:
    for name in ("gadcore.py", "json.py", "pages.py"):
        (tmp_path / name).write_text("raise SystemExit('the wrong one')")
    code = "import json, pages.common.palette, gadcore.settings as s; print(s.PACKAGE, s.Settings.from_env())"
    seen = subprocess.run(
        [sys.executable, "-c", code],
        check=False,
        cwd=tmp_path,
        env=child_environment(settings),
        capture_output=True,
        text=True,
    )
    assert seen.stdout == f"{gadcore_settings.PACKAGE} {settings}\n", seen.stderr


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
    command = [sys.executable, "-m", "streamlit", "run", "pages/common/serve.py", "--server.port", "0"]
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
            while (line := process.stdout.readline()) and "runs at" not in line:
                said.append(line)
        finally:
            stop.cancel()
            process.terminate()
    assert "Ringfence runs at http://127.0.0.1" in line, "".join(said)
    assert said == []


def test_an_engine_is_local_or_an_address() -> None:
    assert Settings.from_env({}).engine == "local"
    assert Settings.from_env({"GAD_ENGINE": "tcp://10.0.0.5:8786"}).engine == "tcp://10.0.0.5:8786"
    with pytest.raises(UsageError, match="GAD_ENGINE is 'cluster'"):
        Settings.from_env({"GAD_ENGINE": "cluster"})
