"""Light imports: what the web process loads, and how quickly the package answers."""

from __future__ import annotations

import subprocess
import sys

import pytest

from gadcore.settings import ROOT

HEAVY = ("torch", "sklearn", "umap", "xgboost", "torch_geometric", "openTSNE", "numba", "gensim")


def loaded_by(code: str) -> set[str]:
    """Top-level modules in a fresh process after some code."""
    script = f"{code}\nimport sys\nprint(' '.join({{name.split('.')[0] for name in sys.modules}}))"
    seen = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, check=True, capture_output=True, text=True
    )
    return set(seen.stdout.split())


@pytest.mark.parametrize("module", ["gadcore.workspace", "gadcore.jobs.runner", "gadcore.cli"])
def test_the_web_process_loads_nothing_heavy(module: str) -> None:
    assert not loaded_by(f"import {module}") & set(HEAVY)


def test_the_package_itself_loads_next_to_nothing() -> None:
    assert not loaded_by("import gadcore") & {*HEAVY, "numpy", "pandas", "scipy", "sqlalchemy"}


def test_help_needs_no_data_libraries() -> None:
    code = "from gadcore.cli import make_parser\nmake_parser().format_help()"
    assert not loaded_by(code) & {*HEAVY, "pandas", "scipy", "sqlalchemy"}
