"""Benchmark graphs by name, with the node, edge and anomaly counts of their descriptions."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from gadcore.errors import InputError
from gadcore.ingest import benchmark_graphs, benchmark_names, peek, read
from gadcore.settings import Settings

from .files import assert_well_formed

COUNTS = {  # nodes, edges, attributes, anomalous, unknown
    "cora": (2708, 5278, 1433, 180, 0),
    "citeseer": (3327, 4552, 3703, 249, 15),
    "pubmed": (19717, 44324, 500, 4103, 0),
    "photo": (7487, 119043, 745, 331, 0),
    "computers": (13381, 245778, 767, 283, 0),
    "reddit": (10984, 78516, 64, 366, 0),
    "amazon_fraud": (10224, 175608, 25, 693, 2295),
    "disney": (124, 335, 28, 6, 0),
    "debian_deps": (96817, 572746, 1000, 511, 0),
}


@pytest.mark.datasets
@pytest.mark.parametrize("name", COUNTS)
def test_benchmark_counts(datasets: Path, name: str) -> None:
    reading = read(name)
    nodes, edges, attributes, anomalous, unknown = COUNTS[name]
    graph, truth = reading.graph, reading.truth
    assert truth is not None
    assert (graph.n_nodes, graph.n_edges, graph.n_features) == (nodes, edges, attributes)
    assert (int((truth.y == 1).sum()), int((~truth.known).sum())) == (anomalous, unknown)
    x = graph.x.data if sp.issparse(graph.x) else graph.x
    assert np.isfinite(x).all()
    assert x.min() >= 0
    assert x.max() <= 1
    assert graph.name == name


@pytest.mark.datasets
def test_names_are_forgiving_and_files_win_over_names(
    datasets: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert read("Cora").graph.fingerprint == read(datasets / "cora.npz").graph.fingerprint
    assert read("amazon-photo").graph.name == "photo"
    assert peek("cora").format == "benchmark cora"
    (tmp_path / "cora").write_text("source,target\na,b\n")
    monkeypatch.chdir(tmp_path)
    assert read("cora").graph.n_edges == 1


def without_files(settings: Settings, tmp_path: Path) -> Settings:
    return replace(settings, datasets=tmp_path / "none")


def test_missing_benchmark_is_downloaded(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def fetch(name: str, folder: Path) -> SimpleNamespace:
        asked.append((name, folder))
        y = torch.tensor([0, 0, 1])
        return SimpleNamespace(edge_index=torch.tensor([[0, 1], [1, 0]]), x=torch.eye(3), y=y)

    monkeypatch.setattr(benchmark_graphs, "_fetch", fetch)
    reading = read("pubmed", settings=without_files(settings, tmp_path))
    assert asked == [("pubmed", settings.home / "datasets")]
    assert_well_formed(reading.graph)
    assert reading.graph.n_edges == 1
    assert reading.truth is not None
    assert reading.truth.y.tolist() == [0, 0, 1]


def test_offline_benchmark_says_where_it_looked(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fetch(name: str, folder: Path) -> None:
        raise OSError("no route to host")

    monkeypatch.setattr(benchmark_graphs, "_fetch", fetch)
    with pytest.raises(InputError, match=r"no route to host.*GAD_DATASETS"):
        read("cora", settings=without_files(settings, tmp_path))


def test_unknown_name_is_no_benchmark(settings: Settings, tmp_path: Path) -> None:
    chosen = without_files(settings, tmp_path)
    assert benchmark_names(chosen) == ["citeseer", "computers", "cora", "photo", "pubmed"]
    with pytest.raises(InputError, match="no file or folder 'corra'"):
        read("corra", settings=chosen)
