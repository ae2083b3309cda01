"""Settings come from the environment and have usable defaults."""

from __future__ import annotations

from pathlib import Path

from gadcore.errors import InputError
from gadcore.settings import Settings


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
