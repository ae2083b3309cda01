"""Files on their way to become a project are looked at by another process, whose means are bounded."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path

import pytest

from gadcore.errors import InputError
from gadcore.settings import Settings, import_environment
from gadcore.workspace import uploads

EDGES = b"source,target,amount\na,b,5\nb,c,7\n"


def test_a_look_is_taken_once_and_by_another_process(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("a file was opened in this process")

    monkeypatch.setattr("gadcore.ingest.archives.formats.sniff", refuse)
    incoming = uploads.receive([("edges.csv", io.BytesIO(EDGES))], settings)
    found = incoming.look()
    assert found.edge_columns == ["source", "target", "amount"]
    assert (found.guess.source, found.guess.amount) == ("source", "amount")
    assert found.derived
    (incoming.folder / "files" / "edges.csv").unlink()
    assert incoming.look() == found
    os.mkfifo(tmp_path / "pipe.csv")
    with pytest.raises(InputError, match="pipe"):
        uploads.name_source(str(tmp_path / "pipe.csv"), settings).look()


LIMITED = """
import resource
import numpy as np
from gadcore.jobs.registry import KINDS
from gadcore.jobs.runner import _limit
from gadcore.settings import Settings
_limit(Settings.from_env(), KINDS["look"])
try:
    print(len(np.ones(500_000_000)))
except MemoryError:
    print("no memory", resource.getrlimit(resource.RLIMIT_CPU)[0] <= 120)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="other systems bound memory otherwise")
def test_a_process_that_reads_files_gets_no_more_memory_and_time_than_the_settings_say() -> None:
    environment = {**import_environment(), "GAD_MAX_MEMORY": "1500000000"}
    done = subprocess.run(
        [sys.executable, "-c", LIMITED], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "no memory True"
