"""Training, validation and test nodes drawn from a Truth; nodes of unknown truth are in none of them.

The paper's protocol is purely random: ``rate`` of the nodes are labelled, 10 % validate, the rest test, and a
draw that leaves a class out of training or validation is drawn again. Stratified splits, which keep the share
of anomalies in each part, score several points higher at small rates: say which one a figure comes from.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gadcore.errors import LabelError
from gadcore.graph import Graph, IntArray, Truth
from gadcore.graph.labels import Labels

_DRAWS = 10_000


@dataclass(frozen=True)
class Split:
    """Disjoint parts of the nodes with known truth; ``train`` and ``validation`` carry verdicts."""

    train: Labels
    validation: Labels | None
    test: IntArray
    seed: int


def random_split(
    graph: Graph, truth: Truth, rate: float, *, seed: int, validation: float = 0.1, stratified: bool = False
) -> Split:
    """``rate`` of the known nodes to train on, ``validation`` of them to validate; both have both classes."""
    known = np.flatnonzero(truth.known)
    n_train, n_validation = round(rate * len(known)), round(validation * len(known))
    _check_sizes(truth, n_train, n_validation, len(known))
    rng = np.random.default_rng(seed)
    for _ in range(_DRAWS):
        if stratified:
            train, held = _stratified(truth, rng, rate, validation)
        else:
            order = rng.permutation(known)
            train, held = order[:n_train], order[n_train : n_train + n_validation]
        if _both(truth, train) and _both(truth, held):
            test = np.setdiff1d(known, np.concatenate([train, held]))
            return Split(verdicts(graph, truth, train), verdicts(graph, truth, held), test, seed)
    raise LabelError(
        f"No split with both classes in training ({n_train} nodes) and validation ({n_validation}) in "
        f"{_DRAWS:,} draws: {int((truth.y == 1).sum())} of {len(known)} nodes are anomalous. "
        "Use a higher rate, or a stratified split."
    )


def few_label_split(
    graph: Graph, truth: Truth, *, seed: int, anomalous: int = 20, normal: int = 80, validation: float = 0.0
) -> Split:
    """So many labels of each class for training; all other known nodes test (less a validation share)."""
    rng = np.random.default_rng(seed)
    parts = []
    for value, wanted, word in ((0, normal, "normal"), (1, anomalous, "anomalous")):
        nodes = np.flatnonzero(truth.y == value)
        if len(nodes) <= wanted:
            raise LabelError(
                f"{wanted} {word} labels asked for, but only {len(nodes)} nodes are {word}, and some must be "
                "left to test on. Ask for fewer."
            )
        parts.append(rng.choice(nodes, wanted, replace=False))
    train = np.concatenate(parts)
    rest = rng.permutation(np.setdiff1d(np.flatnonzero(truth.known), train))
    held = rest[: round(validation * len(rest))]
    return Split(
        verdicts(graph, truth, train),
        verdicts(graph, truth, held) if len(held) else None,
        np.sort(rest[len(held) :]),
        seed,
    )


def verdicts(graph: Graph, truth: Truth, nodes: npt.NDArray[np.integer]) -> Labels:
    """The labels that an analyst who knows the truth would give to these nodes."""
    y = truth.y[nodes]
    return Labels.from_indices(graph, normal=nodes[y == 0], anomalous=nodes[y == 1])


def _stratified(
    truth: Truth, rng: np.random.Generator, rate: float, validation: float
) -> tuple[IntArray, IntArray]:
    train, held = [], []
    for value in (0, 1):
        nodes = rng.permutation(np.flatnonzero(truth.y == value))
        cut = max(1, round(rate * len(nodes)))
        train.append(nodes[:cut])
        held.append(nodes[cut : cut + max(1, round(validation * len(nodes)))])
    return np.concatenate(train), np.concatenate(held)


def _both(truth: Truth, nodes: IntArray) -> bool:
    return 0 < int((truth.y[nodes] == 1).sum()) < len(nodes)


def _check_sizes(truth: Truth, n_train: int, n_validation: int, n: int) -> None:
    if min(n_train, n_validation) < 2 or n_train + n_validation >= n:
        raise LabelError(
            f"{n_train} training and {n_validation} validation nodes of {n}: expected at least 2 of each "
            "and some left to test on. Change the rates."
        )
    if (truth.y == 1).sum() < 2 or (truth.y == 0).sum() < 2:
        raise LabelError("The truth has fewer than two nodes of one class: no split has both on each side.")
