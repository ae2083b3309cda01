"""The command line as tests call it: in a process of its own, or in this one."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from gadcore.cli import main
from gadcore.settings import ROOT

PATIENCE = 180


def shell(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "gadcore", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE, check=False)


def answer(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    """What a command prints with --json, in this process."""
    capsys.readouterr()
    assert main([*arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def spoken(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """What a command prints for people, in this process."""
    capsys.readouterr()
    assert main(list(arguments)) == 0
    return capsys.readouterr().out
