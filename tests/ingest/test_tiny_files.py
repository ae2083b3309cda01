"""Memory and time are bounded by the size of a file and the settings, whatever its few bytes declare."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from gadcore.errors import InputError
from gadcore.ingest import peek, read
from gadcore.settings import Settings, import_environment

from .files import write

EDGES = np.array([[0, 1], [1, 2]])
MEASURE = """
import json, resource, sys, time
from gadcore.errors import InputError
from gadcore.ingest import read
import torch, torch_geometric.data
def peak(): return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
read("demo")
for path in sys.argv[1:]:
    before, begin, said = peak(), time.process_time(), ""
    try:
        read(path)
    except InputError as error:
        said = str(error)
    print(json.dumps([said, peak() - before, time.process_time() - begin]))
"""
CSR = {"x_indices": np.zeros(0, np.int32), "x_indptr": np.zeros(4, np.int32), "x_data": np.zeros(0)}


def mtx(path: Path) -> None:
    write(path, "%%MatrixMarket matrix coordinate real general\n13000000 13000000 1\n1 2 1\n")


def wide_npz(path: Path) -> None:
    np.savez_compressed(path, edge_index=EDGES, **CSR, x_shape=np.array([3, 10**8]))


def long_npz(path: Path) -> None:
    matrix = {"data": np.ones(1), "row": np.array([0]), "col": np.array([1]), "format": np.array(b"coo")}
    np.savez_compressed(path, **matrix, shape=np.array([10**7, 10**7]))


def far_npz(path: Path) -> None:
    np.savez_compressed(path, edge_index=EDGES + 10**7)


def expanded_pt(path: Path) -> None:
    x = torch.ones(1).expand(3, 10**9)
    torch.save({"edge_index": torch.tensor(EDGES), "x": x}, path)


def sparse_pt(path: Path) -> None:
    x = torch.sparse_coo_tensor(torch.tensor([[0], [0]]), torch.ones(1), (3, 10**9), check_invariants=True)
    torch.save({"edge_index": torch.tensor(EDGES), "x": x}, path)


def many_columns(path: Path) -> None:
    names = ",".join(f"c{k}" for k in range(100_000))
    write(path, f"source,target,{names}\na,b{',1' * 100_000}\n")


def other_fields_each(path: Path) -> None:
    lines = ("{" + f'"source": 1, "target": 2, "f{k}": 1' + "}" for k in range(30_000))
    write(path, "\n".join(lines))


FILES: dict[str, Callable[[Path], None]] = {
    "a.mtx": mtx,
    "wide.npz": wide_npz,
    "long.npz": long_npz,
    "far.npz": far_npz,
    "expanded.pt": expanded_pt,
    "sparse.pt": sparse_pt,
    "columns.csv": many_columns,
    "fields.jsonl": other_fields_each,
}


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """(what was said, growth of the peak in MB, CPU-seconds) of each file, read by one process."""
    folder = tmp_path_factory.mktemp("tiny")
    for name, make in FILES.items():
        make(folder / name)
    command = [sys.executable, "-W", "ignore", "-c", MEASURE, *(str(folder / name) for name in FILES)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=import_environment())
    return dict(zip(FILES, map(json.loads, done.stdout.splitlines())))


@pytest.mark.parametrize("name", FILES)
def test_a_tiny_file_is_refused_in_little_memory_and_time(measured: dict[str, Any], name: str) -> None:
    said, growth, seconds = measured[name]
    assert "Expected: " in said
    assert growth < 100
    assert seconds < 2


def test_the_limit_of_columns_is_a_setting(tmp_path: Path, settings: Settings) -> None:
    path = write(tmp_path / "e.csv", "source,target,p,q\na,b,1,2\n")
    assert read(path, settings=replace(settings, max_columns=4)).graph.n_edges == 1
    for look in (read, peek):
        with pytest.raises(InputError, match=r"4 columns.*GAD_MAX_COLUMNS"):
            look(path, settings=replace(settings, max_columns=3))


def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "edges.csv")
    for look in (read, peek):
        with pytest.raises(InputError, match="pipe"):
            look(tmp_path / "edges.csv")


def test_a_sparse_tensor_is_read_without_making_it_dense(tmp_path: Path) -> None:
    torch.save({"edge_index": torch.tensor(EDGES), "x": torch.eye(3).to_sparse()}, tmp_path / "g.pt")
    graph = read(tmp_path / "g.pt").graph
    assert graph.n_features == 3
    np.testing.assert_array_equal(np.asarray(graph.x.toarray()), np.eye(3))


@pytest.mark.parametrize("kind", [">i4", ">f8", "f2", "g"])
def test_arrays_of_unusual_types_are_read(tmp_path: Path, kind: str) -> None:
    edges = EDGES.astype(kind if kind == ">i4" else "i8")
    time = np.array([5, 6]).astype(kind)
    np.savez(tmp_path / "g.npz", edge_index=edges, x=np.arange(3).astype(kind), edge_time=time)
    assert read(tmp_path / "g.npz").graph.n_edges == 2


@pytest.mark.parametrize("field", ["x", "y", "edge_index", "edge_time"])
@pytest.mark.parametrize(
    "value",
    [
        pytest.param(torch.ones(3).to("meta"), id="meta"),
        pytest.param(torch.ones(3).to_sparse(), id="sparse"),
        pytest.param(torch.tensor(1.0), id="scalar"),
        pytest.param(torch.ones(3, dtype=torch.complex64), id="complex"),
    ],
)
def test_tensors_that_hold_no_numbers_are_refused(tmp_path: Path, field: str, value: Any) -> None:
    torch.save({"edge_index": torch.tensor(EDGES), "x": torch.ones(3, 1)} | {field: value}, tmp_path / "g.pt")
    with pytest.raises(InputError, match=r"g\.pt"):
        read(tmp_path / "g.pt")


def test_more_numbers_on_a_line_than_a_matrix_has_are_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "a.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 2 1 9\n")
    with pytest.raises(InputError, match=r"a\.mtx"):
        read(path)
