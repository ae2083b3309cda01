"""Detectors by name. ``make_detector`` imports a detector's module only when it is asked for."""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib import import_module
from inspect import signature
from pathlib import Path
from typing import Any

from gadcore.detectors.base import BOTH, NO_LABELS, NORMAL_ONLY, Detector, Progress
from gadcore.errors import ModelError


@dataclass(frozen=True)
class Entry:
    """A row of the registry: where the class lives and what people read about it."""

    name: str
    target: str  # "module:Class" under gadcore.detectors
    needs: str
    title: str
    family: str  # "product", "paper", "baseline"


_ENTRIES = (
    Entry("an+", "plus:AnPlus", NO_LABELS, "AN+ ensemble (default)", "product"),
    Entry("an", "sphere.hypersphere:AN", BOTH, "Ours-AN (paper)", "paper"),
    Entry("n", "sphere.hypersphere:N", NORMAL_ONLY, "Ours-N (paper)", "paper"),
    Entry("osvm", "baselines.osvm:Osvm", NORMAL_ONLY, "One-class SVM on attributes", "paper"),
    Entry(
        "doc-n", "baselines.deep_one_class:DocN", NORMAL_ONLY, "DOC-N: deep one-class on attributes", "paper"
    ),
    Entry("doc-an", "baselines.deep_one_class:DocAn", BOTH, "DOC-AN: the same with the AUC term", "paper"),
    Entry("dsad", "baselines.deep_one_class:Dsad", BOTH, "DSAD: deep semi-supervised one-class", "paper"),
    Entry("nn", "baselines.classifiers:Nn", BOTH, "NN: classifier on attributes", "paper"),
    Entry("slgcn", "baselines.classifiers:Slgcn", BOTH, "SLGCN: GCN classifier", "paper"),
    Entry("deepwalk", "baselines.deepwalk:DeepWalk", BOTH, "DeepWalk + logistic regression", "paper"),
    Entry("dominant", "baselines.dominant:Dominant", NO_LABELS, "Dominant: graph auto-encoder", "paper"),
    Entry("imverde", "baselines.imverde:ImVerde", BOTH, "ImVerde: diminished random walks", "paper"),
    Entry("appnp", "baselines.classifiers:Appnp", BOTH, "APPNP classifier", "baseline"),
    Entry("bwgnn", "baselines.classifiers:Bwgnn", BOTH, "BWGNN: Beta wavelet classifier", "baseline"),
    Entry("sgc-lr", "baselines.linear:SgcLr", BOTH, "Logistic regression on ÂᵏX", "baseline"),
    Entry("xgb-graph", "baselines.trees:XgbGraph", BOTH, "Boosted trees on [X, ÂX, Â²X]", "baseline"),
    Entry(
        "isolation-forest",
        "baselines.simple:IsolationForest",
        NO_LABELS,
        "Isolation forest on attributes",
        "baseline",
    ),
    Entry(
        "label-propagation",
        "baselines.simple:LabelPropagation",
        BOTH,
        "Label propagation on edges",
        "baseline",
    ),
)

REGISTRY: dict[str, Entry] = {entry.name: entry for entry in _ENTRIES}


def detector_names() -> list[str]:
    """Names that ``make_detector`` knows, the default first."""
    return list(REGISTRY)


def detector_class(name: str) -> type[Detector]:
    """Class behind a name; ModelError lists the names there are."""
    if name not in REGISTRY:
        raise ModelError(f"There is no model {name!r}. Expected one of: {', '.join(REGISTRY)}.")
    module, cls = REGISTRY[name].target.split(":")
    found: type[Detector] = getattr(import_module(f"gadcore.detectors.{module}"), cls)
    return found


def make_detector(name: str, **params: Any) -> Detector:
    """A detector with these parameters; unknown ones are named together with those that exist."""
    cls = detector_class(name)
    known = signature(cls).parameters
    unknown = sorted(set(params) - set(known))
    if unknown:
        raise ModelError(
            f"The model {name!r} has no parameter {', '.join(unknown)}. It has: {', '.join(known)}."
        )
    return cls(**params)


def load_detector(folder: Path) -> Detector:
    """A fitted detector from a folder that ``Detector.save`` wrote."""
    try:
        state = json.loads((folder / "detector.json").read_text(encoding="utf-8"))
        detector = make_detector(state["name"], **state["params"])
    except (OSError, ValueError, KeyError) as error:
        raise ModelError(f"{folder} holds no readable model ({error}). Expected: detector.json.") from error
    detector._read(folder, state)
    return detector


__all__ = [
    "BOTH",
    "NORMAL_ONLY",
    "NO_LABELS",
    "REGISTRY",
    "Detector",
    "Entry",
    "Progress",
    "detector_class",
    "detector_names",
    "load_detector",
    "make_detector",
]
