"""Detectors by name. ``make_detector`` imports a detector's module only when it is asked for."""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gadcore.detectors.arrays import SavedModel, load_arrays
from gadcore.detectors.base import BOTH, NO_LABELS, NORMAL_ONLY, Detector
from gadcore.detectors.specs import PARAMETERS, Parameters, check_names
from gadcore.errors import ModelError

if TYPE_CHECKING:
    from gadcore.detectors.accounts import Share


@dataclass(frozen=True)
class Entry:
    """A row of the registry: where the class lives and what people read about it."""

    name: str
    target: str  # "module:Class" under gadcore.detectors
    needs: str
    title: str
    account: str = (
        ""  # module whose ``shares`` splits the score of a saved model, without torch; none if empty
    )

    @property
    def parameters(self) -> Parameters:
        """Keywords of the class."""
        return PARAMETERS[self.name]


_ENTRIES = (
    Entry("an+", "plus.ensemble:AnPlus", NO_LABELS, "AN+ ensemble (default)", "plus.ensemble"),
    Entry("an", "sphere.hypersphere:AN", BOTH, "Ours-AN (paper)", "sphere.account"),
    Entry("n", "sphere.hypersphere:N", NORMAL_ONLY, "Ours-N (paper)", "sphere.account"),
    Entry("osvm", "baselines.osvm:Osvm", NORMAL_ONLY, "One-class SVM on attributes"),
    Entry("doc-n", "baselines.deep_one_class:DocN", NORMAL_ONLY, "DOC-N: deep one-class on attributes"),
    Entry("doc-an", "baselines.deep_one_class:DocAn", BOTH, "DOC-AN: the same with the AUC term"),
    Entry("dsad", "baselines.deep_one_class:Dsad", BOTH, "DSAD: deep semi-supervised one-class"),
    Entry("nn", "baselines.classifiers:Nn", BOTH, "NN: classifier on attributes"),
    Entry("slgcn", "baselines.classifiers:Slgcn", BOTH, "SLGCN: GCN classifier"),
    Entry("deepwalk", "baselines.deepwalk:DeepWalk", BOTH, "DeepWalk + logistic regression"),
    Entry("dominant", "baselines.dominant:Dominant", NO_LABELS, "Dominant: graph auto-encoder"),
    Entry("imverde", "baselines.imverde:ImVerde", BOTH, "ImVerde: diminished random walks"),
    Entry("appnp", "baselines.classifiers:Appnp", BOTH, "APPNP classifier"),
    Entry("bwgnn", "baselines.classifiers:Bwgnn", BOTH, "BWGNN: Beta wavelet classifier"),
    Entry("sgc-lr", "baselines.linear:SgcLr", BOTH, "Logistic regression on ÂᵏX", "baselines.linear"),
    Entry("xgb-graph", "baselines.trees:XgbGraph", BOTH, "Boosted trees on [X, ÂX, Â²X]", "baselines.trees"),
    Entry(
        "isolation-forest", "baselines.simple:IsolationForest", NO_LABELS, "Isolation forest on attributes"
    ),
    Entry("label-propagation", "baselines.simple:LabelPropagation", BOTH, "Label propagation on edges"),
)

REGISTRY: dict[str, Entry] = {entry.name: entry for entry in _ENTRIES}


def detector_names() -> list[str]:
    """Names that ``make_detector`` knows, the default first."""
    return list(REGISTRY)


def detector_class(name: str) -> type[Detector]:
    """Class behind a name; ModelError lists the names there are."""
    if name not in REGISTRY:
        raise ModelError(f"There is no model {name!r}. Expected one of: {', '.join(REGISTRY)}.")
    found: type[Detector] = _named(REGISTRY[name].target)
    return found


def make_detector(name: str, **params: Any) -> Detector:
    """A detector with these parameters; unknown ones are named together with those that exist."""
    cls = detector_class(name)
    check_names(name, params)
    return cls(**params)


def load_detector(folder: Path) -> Detector:
    """A fitted detector from a folder that ``Detector.save`` wrote."""
    try:
        state = json.loads((folder / "detector.json").read_text(encoding="utf-8"))
        detector = make_detector(state["name"], **state["params"])
    except (OSError, ValueError, KeyError) as error:
        raise ModelError(f"{folder} holds no readable model ({error}). Expected: detector.json.") from error
    detector.restore(SavedModel(folder, state, load_arrays(folder)))
    return detector


def shares_of(saved: SavedModel) -> list[Share]:
    """What the score of a saved model is a sum of; [] for a model that keeps no account."""
    entry = REGISTRY.get(str(saved.state["name"]))
    found: list[Share] = _named(f"{entry.account}:shares")(saved) if entry and entry.account else []
    return found


def _named(target: str) -> Any:
    module, name = target.split(":")
    return getattr(import_module(f"gadcore.detectors.{module}"), name)
