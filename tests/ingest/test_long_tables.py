"""Tables that do not fit into memory: read through scratch files, with the same graph and report."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from gadcore.graph import Graph, mapped, node_table
from gadcore.ingest import Reading, attribute_encoders, read
from gadcore.ingest.formats import table


def write(folder: Path, ending: str) -> Path:
    rng, n, m = np.random.default_rng(100), 60, 300
    ids = [f"A{i:03d}" for i in range(n)]
    nodes = pd.DataFrame({"id": ids, "size": rng.normal(size=n).round(3), "age": rng.integers(18, 90, n)})
    nodes["share"] = [f"{v:.2f}".replace(".", ",") + " %" for v in rng.random(n)]
    nodes["country"] = rng.choice(["DE", "FR", "NA"], n)
    nodes["opened"] = [f"2024-{1 + i % 12:02d}-0{1 + i % 9}" for i in range(n)]
    nodes["active"] = np.where(rng.random(n) < 0.5, "yes", "no")
    nodes["tags"] = [f"t{i % 3}|t{i % 5}" for i in range(n)]
    links = pd.DataFrame({"source": rng.choice(ids, m), "target": rng.choice([*ids, "gone"], m)})
    links["time"] = pd.Series(pd.Timestamp("2025-01-01") + pd.to_timedelta(rng.integers(0, 10**6, m), "s"))
    links["amount"], links["kind"] = rng.lognormal(3, 1, m).round(2), rng.choice(["card", "wire"], m)
    links["memo"] = rng.choice(["rent", "", 'a "quoted", one'], m)
    for name, frame in (("nodes", nodes), ("transfers", links)):
        path = folder / f"{name}.{ending}"
        frame.to_parquet(path) if ending == "parquet" else frame.to_csv(path, index=False)
    return folder


def outcome(reading: Reading, folder: Path) -> tuple[str, str, pd.DataFrame]:
    reading.graph.save(folder)
    return reading.graph.fingerprint, reading.report.text(), Graph.load(folder).node_table.frame()


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_what_goes_through_scratch_files_is_what_is_read_in_memory(
    tmp_path: Path, ending: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "files").mkdir()
    files = write(tmp_path / "files", ending)
    short = outcome(read(files), tmp_path / "short")
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(scratch))
    for module, name, value in (
        (mapped, "_IN_MEMORY", 0), (node_table, "_LONG", 1), (attribute_encoders, "_ROWS", 7),
        (table, "_BLOCK", 1 << 10), (table, "_ROWS", 50),
    ):  # fmt: skip
        monkeypatch.setattr(module, name, value)
    reading = read(files)
    long = outcome(reading, tmp_path / "long")
    assert long[:2] == short[:2]
    pd.testing.assert_frame_equal(long[2], short[2])
    del reading
    assert os.listdir(scratch) == []
