"""Benchmark graphs by name: from the local folder (GAD_DATASETS), or downloaded through torch_geometric."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np

from gadcore.errors import InputError
from gadcore.ingest.formats.file_format import Limits
from gadcore.ingest.formats.matrices import edge_parts, smallest_class
from gadcore.ingest.formats.npz import read_npz
from gadcore.ingest.graph_parts import Parts
from gadcore.ingest.names import normal
from gadcore.settings import Settings

_ALIASES = {"amazonphoto": "photo", "amazoncomputers": "computers", "amazonfraud": "amazon_fraud"}
_PLANETOID = {"cora": "Cora", "citeseer": "CiteSeer", "pubmed": "PubMed"}
_AMAZON = {"photo": "Photo", "computers": "Computers"}


def benchmark_names(settings: Settings) -> list[str]:
    """Names that ``read_graph`` takes: files of the local folder, and those that can be downloaded."""
    local = [p.stem for p in settings.datasets.glob("*.npz")] if settings.datasets.is_dir() else []
    return sorted({*local, *_PLANETOID, *_AMAZON})


def resolve(source: str, settings: Settings) -> str | None:
    """The benchmark that a name means, or None; a path that exists is no name."""
    if Path(source).exists():
        return None
    known = benchmark_names(settings)
    plain = {normal(n): n for n in known} | {a: b for a, b in _ALIASES.items() if b in known}
    return plain.get(normal(source))


def read_benchmark(name: str, settings: Settings) -> Parts:
    """Parts of a benchmark graph."""
    local = settings.datasets / f"{name}.npz"
    if local.is_file():
        return read_npz(local, _limits(settings))
    return _downloaded(name, settings)


def _limits(settings: Settings) -> Limits:
    return Limits(settings.max_unpacked, settings.max_columns)


def _downloaded(name: str, settings: Settings) -> Parts:
    try:
        data = _fetch(name, settings.home / "datasets")
    except (OSError, RuntimeError, ImportError) as error:
        raise InputError(
            f"the benchmark graph {name!r} is not in {settings.datasets} and cannot be downloaded ({error})",
            f"{name}.npz in that folder, or a connection to the internet",
            "set GAD_DATASETS to the folder with the benchmark files",
        ) from error
    edges, x, y = (v.numpy() for v in (data.edge_index, data.x, data.y))
    parts = edge_parts(edges, x, None, Path(name), "torch_geometric", limits=_limits(settings))
    parts.truth = smallest_class(y, np.ones(len(x), dtype=bool), name, parts.notes)
    return parts


def _fetch(name: str, folder: Path) -> Any:
    """The Data object of torch_geometric.datasets; its first use downloads the files."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # deprecations inside torch_geometric, on its first import
        from torch_geometric import datasets

    if name in _PLANETOID:
        return datasets.Planetoid(str(folder), _PLANETOID[name])[0]
    return datasets.Amazon(str(folder), _AMAZON[name])[0]
