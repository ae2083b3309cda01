"""Files that try to run code or to fill memory are refused, and nothing of them is executed."""

from __future__ import annotations

import gzip
import io
import os
import pickle
import subprocess
import sys
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.io
import torch

from gadcore.errors import InputError
from gadcore.ingest import read
from gadcore.settings import Settings

from .files import write


class Payload:
    """Unpickling this makes a folder: the proof that code was run."""

    def __init__(self, proof: Path) -> None:
        self.proof = proof

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.mkdir, (str(self.proof),)


@pytest.fixture
def small(settings: Settings) -> Settings:
    """Settings with a limit of one megabyte."""
    return replace(settings, max_unpacked=1_000_000)


def test_code_in_a_file_is_not_run(tmp_path: Path) -> None:
    proof = tmp_path / "proof"
    payload = Payload(proof)
    edges = np.array([[0], [1]])
    np.savez(tmp_path / "object.npz", edge_index=edges, x=np.array([payload], dtype=object))
    np.savez(tmp_path / "beside.npz", edge_index=edges, other=np.array([payload], dtype=object))
    write(tmp_path / "pickle.npz", pickle.dumps(payload))
    write(tmp_path / "pickle.pt", pickle.dumps(payload))
    torch.save({"edge_index": torch.tensor(edges), "more": payload}, tmp_path / "torch.pt")
    for name in ("object.npz", "beside.npz", "pickle.npz", "pickle.pt", "torch.pt"):
        with pytest.raises(InputError, match=name.replace(".", r"\.")):
            read(tmp_path / name)
        assert not proof.exists(), name


def test_refused_code_is_named(tmp_path: Path) -> None:
    torch.save({"edge_index": torch.zeros(2, 1), "more": Payload(tmp_path / "proof")}, tmp_path / "g.pt")
    with pytest.raises(InputError, match=r"wants to load \w+\.mkdir"):
        read(tmp_path / "g.pt")


def bomb_zip(path: Path) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("edges.csv", "source,target\n" + "a,b\n" * 500_000)


def bomb_nested(path: Path) -> None:
    inner = io.BytesIO()
    with zipfile.ZipFile(inner, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("edges.csv", "source,target\n" + "a,b\n" * 200_000)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for k in range(3):
            archive.writestr(f"edges{k}.zip", inner.getvalue())


def bomb_gz(path: Path) -> None:
    path.write_bytes(gzip.compress(b"source,target\n" + b"a,b\n" * 500_000))


def bomb_npz(path: Path) -> None:
    np.savez_compressed(path, edge_index=np.zeros((2, 1_000_000), np.int32))


def bomb_coo(path: Path) -> None:
    shape = np.array([10**10, 10**10])
    np.savez(path, data=np.ones(1), row=np.array([0]), col=np.array([1]), shape=shape, format=b"coo")


def bomb_mat(path: Path) -> None:
    scipy.io.savemat(path, {"Network": np.zeros((1000, 1000))}, do_compression=True)


def bomb_parquet(path: Path) -> None:
    pd.DataFrame({"source": ["a"] * 200_000, "target": ["b"] * 200_000}).to_parquet(path)


def bomb_pt(path: Path) -> None:
    torch.save({"edge_index": torch.zeros(2, 200_000, dtype=torch.long)}, path)


@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("a.zip", bomb_zip),
        ("nested.zip", bomb_nested),
        ("a.csv.gz", bomb_gz),
        ("a.npz", bomb_npz),
        ("coo.npz", bomb_coo),
        ("a.mat", bomb_mat),
        ("a.parquet", bomb_parquet),
        ("a.pt", bomb_pt),
    ],
)
def test_what_unpacks_beyond_the_limit_is_refused(tmp_path: Path, small: Settings, name: str, make) -> None:  # type: ignore[no-untyped-def]
    make(tmp_path / name)
    with pytest.raises(InputError, match="GAD_MAX_UNPACKED"):
        read(tmp_path / name, settings=small)


def test_lying_size_in_a_zip_header_does_not_help(tmp_path: Path, small: Settings) -> None:
    bomb_zip(tmp_path / "a.zip")
    size = len("source,target\n" + "a,b\n" * 500_000).to_bytes(4, "little")
    data = (tmp_path / "a.zip").read_bytes().replace(size, (100).to_bytes(4, "little"))
    write(tmp_path / "lie.zip", data)
    with pytest.raises(InputError, match=r"lie\.zip"):
        read(tmp_path / "lie.zip", settings=small)


def test_member_names_cannot_leave_the_scratch_folder(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "slip.zip", "w") as archive:
        archive.writestr("../../../escaped.csv", "source,target\na,b\n")
    assert read(tmp_path / "slip.zip").graph.n_edges == 1
    assert not list(tmp_path.parent.glob("**/escaped.csv"))


def test_nothing_is_left_in_the_temporary_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "scratch"))
    (tmp_path / "scratch").mkdir()
    bomb_zip(tmp_path / "a.zip")
    assert read(tmp_path / "a.zip").graph.n_edges == 1
    assert list((tmp_path / "scratch").iterdir()) == []


def test_reading_tables_imports_neither_torch_nor_sklearn(tmp_path: Path) -> None:
    edges = write(tmp_path / "e.csv", "source,target\na,b\n")
    code = (
        "import sys; from gadcore.ingest import read; read(sys.argv[1]);"
        "print([m for m in ('torch', 'sklearn', 'umap', 'torch_geometric', 'streamlit') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(edges)], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
