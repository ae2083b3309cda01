"""Two-dimensional maps of an embedding that keep still from run to run.

    layout("pca" | "umap" | "tsne", embedding, previous=None, seed=0) -> (N, 2) float32

A map is read by its places, so a retrain must not reshuffle it. With a ``previous`` map the method starts
from it; the outcome is turned, mirrored and scaled onto it (Procrustes); and if the median node still moved
more than LEASH of the map's width, all moves are shortened by one factor: the map follows the model over a
few runs. Above SAMPLE nodes a random part is laid out, and every other node stands at the mean of its nearest
laid-out nodes. umap and openTSNE are imported when they are asked for; this runs in the worker.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gadcore.errors import ModelError
from gadcore.graph import FloatArray

KINDS = ("pca", "umap", "tsne")
LEASH = 0.04  # largest median move, in widths of the map
SAMPLE = 50_000
NEAREST = 3
Array = npt.NDArray[np.float64]


def layout(kind: str, embedding: FloatArray, previous: FloatArray | None = None, seed: int = 0) -> FloatArray:
    """Map of the rows of ``embedding``; ``previous`` is the map of the same nodes after the run before."""
    if kind not in KINDS:
        raise ModelError(f"There is no map {kind!r}. Expected one of: {', '.join(KINDS)}.")
    x = np.asarray(embedding, dtype=np.float64)
    if len(x) < 4 or np.ptp(x, axis=0).max(initial=0.0) == 0:
        return pca(embedding) if previous is None else np.asarray(previous, dtype=np.float32)
    start = None if previous is None or len(previous) != len(x) else np.asarray(previous, dtype=np.float64)
    if len(x) > SAMPLE:
        drawn = _sampled(kind, x, start, seed)
    else:
        drawn = _drawn(kind, x, start, seed)
    if start is not None:
        drawn = on_leash(aligned(drawn, start), start)
    return np.asarray(drawn, dtype=np.float32)


def pca(embedding: FloatArray) -> FloatArray:
    """First two principal components; signs are fixed, so that equal embeddings give equal maps."""
    x = np.asarray(embedding, dtype=np.float64)
    x = x - x.mean(axis=0)
    _, vectors = np.linalg.eigh(x.T @ x)
    axes = vectors[:, ::-1][:, :2]
    if axes.shape[1] < 2:
        axes = np.pad(axes, ((0, 0), (0, 2 - axes.shape[1])))
    largest = np.abs(axes).argmax(axis=0)
    axes = axes * np.where(axes[largest, range(2)] < 0, -1.0, 1.0)
    return np.asarray(x @ axes, dtype=np.float32)


def aligned(drawn: Array, previous: Array) -> Array:
    """``drawn`` turned, mirrored, scaled and shifted onto ``previous`` (Procrustes)."""
    middle, target = drawn.mean(axis=0), previous.mean(axis=0)
    a, b = drawn - middle, previous - target
    left, sizes, right = np.linalg.svd(a.T @ b)
    total = float((a**2).sum())
    scale = sizes.sum() / total if total > 0 else 1.0
    return np.asarray(scale * (a @ (left @ right)) + target)


def on_leash(drawn: Array, previous: Array) -> Array:
    """Moves from ``previous`` shortened by one factor until their median is at most LEASH of the width."""
    moves = drawn - previous
    median = float(np.median(np.linalg.norm(moves, axis=1)))
    limit = LEASH * width(previous)
    return drawn if median <= limit else previous + moves * (limit / median)


def width(positions: npt.NDArray[Any]) -> float:
    """Larger side of the box that holds the map."""
    return float(np.ptp(positions, axis=0).max())


def _drawn(kind: str, x: Array, start: Array | None, seed: int) -> Array:
    if kind == "pca":
        return np.asarray(pca(np.asarray(x, dtype=np.float32)), dtype=np.float64)
    return _umap(x, start, seed) if kind == "umap" else _tsne(x, start, seed)


def _umap(x: Array, start: Array | None, seed: int) -> Array:
    from umap import UMAP

    neighbours = min(15, len(x) - 1)
    first = "pca" if start is None else (10 * _unit(start)).astype(np.float32)
    epochs = None if start is None else 100
    found = UMAP(
        n_neighbors=neighbours, init=first, n_epochs=epochs, random_state=seed, n_jobs=1, low_memory=True
    ).fit_transform(x)
    return np.asarray(found, dtype=np.float64)


def _tsne(x: Array, start: Array | None, seed: int) -> Array:
    from openTSNE import TSNE

    perplexity = min(30.0, (len(x) - 1) / 3)
    # A start from the previous map needs no early exaggeration: the clusters are where they belong.
    first = "pca" if start is None else _unit(start)
    steps = {} if start is None else {"early_exaggeration_iter": 0, "n_iter": 250}
    found = TSNE(perplexity=perplexity, initialization=first, random_state=seed, n_jobs=1, **steps).fit(x)
    return np.asarray(found, dtype=np.float64)


def _sampled(kind: str, x: Array, start: Array | None, seed: int) -> Array:
    """Lay out SAMPLE rows; each other row stands at the mean of its nearest rows among them."""
    from scipy.spatial import cKDTree

    rows = np.sort(np.random.default_rng(seed).choice(len(x), SAMPLE, replace=False))
    drawn = _drawn(kind, x[rows], None if start is None else start[rows], seed)
    _, nearest = cKDTree(x[rows]).query(x, k=NEAREST)
    placed = np.asarray(drawn[nearest].mean(axis=1))
    placed[rows] = drawn
    return placed


def _unit(positions: Array) -> Array:
    """Centred, with standard deviation 1 along the wider axis."""
    centred = positions - positions.mean(axis=0)
    return np.asarray(centred / max(float(centred.std(axis=0).max()), 1e-12))
