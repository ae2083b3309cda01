"""2-D maps of an embedding that keep still between runs.

PCA is done at once with numpy. UMAP and openTSNE start from the map before (its axes otherwise), are turned,
mirrored and scaled onto it (Procrustes), and may then move by a bounded step: when a retrain would move the
median node by more than ``STEP`` of the map's width, all moves are shortened in proportion. A map less like
the one before than ``REDRAWN`` is a different picture; it is shown as it is.
"""

from __future__ import annotations

import logging
import warnings
from contextlib import suppress
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from gadcore.errors import ModelError
from gadcore.graph import FloatArray

Array = npt.NDArray[np.floating]

KINDS = ("pca", "umap", "tsne")
SAMPLE_ABOVE = 50_000  # nodes; beyond, a sample is laid out and the rest is placed into its map
SAMPLE = 20_000
STEP = 0.04  # of the map's width: largest median move after a retrain
REDRAWN = 0.5  # likeness to the map before: below it the map counts as a new picture
PLACED_BY = 5  # nodes of the sample that place another one
LEAST = 8  # fewer nodes than this have no neighbourhoods to speak of: PCA
START_WIDTH = 10.0  # of the starting positions of UMAP


def pca(embedding: Array) -> FloatArray:
    """(N, 2) first two principal axes; signs fixed, so that equal embeddings give equal maps."""
    h = _checked(embedding)
    h = h - h.mean(axis=0)
    values, axes = np.linalg.eigh(h.T @ h)
    axes = axes[:, np.argsort(-values)[:2]]
    axes *= np.sign(axes[np.argmax(np.abs(axes), axis=0), np.arange(axes.shape[1])] + 1e-30)
    plane = h @ axes
    if plane.shape[1] < 2:
        plane = np.c_[plane, np.zeros((len(plane), 2 - plane.shape[1]))]
    return np.asarray(plane, dtype=np.float32)


def layout(kind: str, embedding: Array, previous: FloatArray | None = None, seed: int = 0) -> FloatArray:
    """(N, 2) map of the kind "pca", "umap" or "tsne", held close to ``previous`` where one is given."""
    if kind not in KINDS:
        raise ModelError(f"There is no map {kind!r}. Expected one of: {', '.join(KINDS)}.")
    h = _checked(embedding)
    if previous is not None and (len(previous) != len(h) or not np.isfinite(previous).all()):
        previous = None
    if kind == "pca" or len(h) < LEAST:
        drawn = pca(h)
    elif len(h) > SAMPLE_ABOVE:
        drawn = _sampled(kind, h, previous, seed)
    else:
        drawn = _draw(kind, h, previous, seed)
    return drawn if previous is None else keep_still(drawn, previous)


def keep_still(drawn: Array, previous: Array) -> FloatArray:
    """``drawn`` aligned to ``previous``, moves shortened to a median of at most STEP of the width."""
    aligned, likeness = align(drawn, previous)
    moves = aligned - previous
    span = width(previous)
    median = float(np.median(np.linalg.norm(moves, axis=1)))
    if likeness < REDRAWN or median <= STEP * span:
        return aligned.astype(np.float32)
    return np.asarray(previous + moves * (STEP * span / median), dtype=np.float32)


def align(drawn: Array, previous: Array) -> tuple[npt.NDArray[np.float64], float]:
    """Procrustes: ``drawn`` turned, mirrored, shifted and brought to the size of ``previous``.

    Also their likeness, from 0 to 1 (equal up to these). The size is matched, not fitted by least squares,
    for that would shrink the map a little at every run.
    """
    a, b = np.asarray(drawn, dtype=np.float64), np.asarray(previous, dtype=np.float64)
    a0, b0 = a - a.mean(axis=0), b - b.mean(axis=0)
    u, s, vt = np.linalg.svd(a0.T @ b0)
    size_a, size_b = np.linalg.norm(a0), np.linalg.norm(b0)
    if size_a == 0 or size_b == 0:
        return a, 0.0
    return size_b / size_a * a0 @ (u @ vt) + b.mean(axis=0), float(s.sum() / (size_a * size_b))


def width(plane: Array) -> float:
    """Wider side of the box that holds 98 % of the nodes."""
    low, high = np.percentile(plane, [1, 99], axis=0)
    return float(np.max(high - low))


def _checked(embedding: Array) -> npt.NDArray[np.float64]:
    h = np.asarray(embedding, dtype=np.float64)
    if h.ndim != 2 or not len(h) or not np.isfinite(h).all():
        raise ModelError(
            f"An embedding of shape {h.shape} with {int((~np.isfinite(h)).sum())} values that are no numbers "
            "cannot be drawn. Expected: one finite row per node. Train the model again."
        )
    return h


def _draw(kind: str, h: Array, previous: Array | None, seed: int) -> FloatArray:
    return (_umap if kind == "umap" else _tsne)(h, previous, seed)


def _umap(h: Array, previous: Array | None, seed: int) -> FloatArray:
    start = pca(h) if previous is None else np.asarray(previous)
    start = (start - start.mean(axis=0)) * (START_WIDTH / max(width(start), 1e-9))
    epochs, near = 200 if previous is None else 60, min(15, len(h) - 1)
    rows = h.astype(np.float32)
    # UMAP's own search for neighbours compiles for half a minute and, below 4096 nodes, is slower too.
    known = (*nearest(rows, rows, near), None)
    model = _umap_library().UMAP(
        init=start.astype(np.float32),
        n_neighbors=near,
        n_epochs=epochs,
        random_state=seed,
        n_jobs=1,
        precomputed_knn=known,
    )
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="precomputed_knn")  # that it cannot place further nodes
        return np.asarray(model.fit(rows).embedding_, dtype=np.float32)


def nearest(among: FloatArray, rows: FloatArray, k: int) -> tuple[npt.NDArray[np.int64], FloatArray]:
    """(n, k) which of ``among`` are nearest to each row (or it itself) and how far they are."""
    from sklearn.neighbors import NearestNeighbors

    away, found = NearestNeighbors(n_neighbors=k, algorithm="brute").fit(among).kneighbors(rows)
    return found, away.astype(np.float32)


@cache
def _umap_library() -> Any:
    """UMAP with its compiled code kept on disk: the first map of a later process waits for no compiler."""
    _import_search_uncompiled()
    import umap
    from numba.core.dispatcher import Dispatcher

    for module in (umap.layouts, umap.umap_, umap.utils):
        for part in vars(module).values():
            if isinstance(part, Dispatcher) and part.__module__.startswith("umap."):
                with suppress(RuntimeError):  # no folder to write to
                    part.enable_caching()
    return umap


def _import_search_uncompiled() -> None:
    """Import UMAP's search for neighbours without compiling it, which takes long; it is not used here."""
    from numba import config

    before, config.DISABLE_JIT = config.DISABLE_JIT, 1
    try:
        import pynndescent  # noqa: F401
    finally:
        config.DISABLE_JIT = before


def _tsne(h: Array, previous: Array | None, seed: int) -> FloatArray:
    from openTSNE import TSNE, initialization

    logging.getLogger("openTSNE").setLevel(logging.ERROR)  # it warns of starts as wide as a finished map
    fresh = previous is None
    start = initialization.rescale(pca(h).astype(np.float64)) if fresh else np.array(previous, np.float64)
    model = TSNE(
        perplexity=min(30.0, (len(h) - 1) / 3),
        initialization=start,
        early_exaggeration_iter=250 if fresh else 0,
        n_iter=500 if fresh else 100,
        random_state=seed,
        n_jobs=1,
    ).fit(h)
    return np.asarray(model, dtype=np.float32)


def _sampled(kind: str, h: Array, previous: Array | None, seed: int) -> FloatArray:
    """Lay out a sample; every other node is placed among those of the sample that are most like it."""
    chosen = np.zeros(len(h), dtype=bool)
    chosen[np.random.default_rng(seed).choice(len(h), SAMPLE, replace=False)] = True
    plane = np.empty((len(h), 2), dtype=np.float32)
    plane[chosen] = _draw(kind, h[chosen], None if previous is None else previous[chosen], seed)
    rows = h.astype(np.float32)
    found, away = nearest(rows[chosen], rows[~chosen], PLACED_BY)
    near = 1.0 / (away + 1e-6)
    plane[~chosen] = np.einsum("nk,nkc->nc", near / near.sum(axis=1, keepdims=True), plane[chosen][found])
    return plane
