"""The folder of a run, written whole: aside first, renamed when complete.

    scores.npy (N,) · embedding.npy (N, K) · radius.npy (N,) ‖h − c‖ · spread.npy (N,) · out_of_fold.npy (N,)
    probability.npy (N,) · layout_pca.npy (N, 2) · history.json · labels.json · label_weights.json
    seen.json (of a model from another version) · order.json · result.json · model/
    orders/ (cases offered by other choices, or after those of order.json)

What a model does not have is left out. A folder without the suffix .part is complete.
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

from gadcore.detectors.base import Detector
from gadcore.errors import RunError
from gadcore.graph import FloatArray
from gadcore.records import as_json

PACKAGES = ("torch", "torch-geometric", "numpy", "scipy", "scikit-learn", "xgboost-cpu")


def write_run(
    folder: Path, detector: Detector, arrays: dict[str, FloatArray | None], documents: dict[str, Any]
) -> None:
    """Write a fitted detector with its arrays and JSON documents as ``folder``."""
    part = aside(folder, folder.name)
    try:
        part.mkdir(parents=True)
        detector.save(part / "model")
        for name, array in arrays.items():
            if array is not None:
                np.save(part / f"{name}.npy", np.ascontiguousarray(array, dtype=np.float32))
        for name, document in documents.items():
            (part / f"{name}.json").write_text(json.dumps(as_json(document)), encoding="utf-8")
        os.replace(part, folder)
    except OSError as error:
        shutil.rmtree(part, ignore_errors=True)
        raise RunError(
            f"The results of the run cannot be written to {folder} ({error}). "
            "Free some disk space or set GAD_HOME to a writable folder, then retrain; the labels are safe."
        ) from error


def write_array(path: Path, array: FloatArray, job_id: str) -> None:
    """Add one array to what is there, visible only when complete."""
    part = aside(path, job_id)
    with part.open("wb") as file:
        np.save(file, np.ascontiguousarray(array, dtype=np.float32))
    os.replace(part, path)


@contextmanager
def written_aside(path: Path) -> Iterator[Path]:
    """Where to write what becomes ``path`` when all went well; what was there before stays until then."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.{uuid.uuid4().hex[:8]}{path.suffix}")
    try:
        yield part
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


def aside(path: Path, job_id: str) -> Path:
    """Where a job writes what shall become ``path``; swept when the job has ended and left it."""
    return path.with_name(f"{path.name}.{job_id}.part")


def arrays_of(detector: Detector) -> dict[str, FloatArray | None]:
    """Arrays that every run keeps, as far as the detector has them."""
    embedding, centre = detector.embedding_, detector.centre_
    radius = None if embedding is None or centre is None else np.linalg.norm(embedding - centre, axis=1)
    return {
        "scores": detector.scores_,
        "embedding": embedding,
        "radius": radius,
        "spread": detector.spread_,
        "out_of_fold": detector.out_of_fold_,
    }


def versions() -> dict[str, str]:
    """Of Python and the packages that a result depends on."""
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found
