"""Parameters of the detectors: defaults, and what people read about them. No detector is imported.

The classes have the same keywords with the same defaults, in the same order; a test compares them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any


@dataclass(frozen=True)
class Parameter:
    """A keyword of a detector, and the values that a form offers for it."""

    name: str
    default: Any
    words: str = ""
    help: str = ""
    options: tuple[Any, ...] = ()
    least: float | None = None

    @property
    def title(self) -> str:
        """What it is called on a screen; a name without words speaks for itself."""
        return self.words or self.name.rstrip("_").replace("_", " ").capitalize()


Parameters = tuple[Parameter, ...]


def but(parameters: Parameters, **defaults: Any) -> Parameters:
    """The same parameters with some other defaults."""
    return tuple(replace(p, default=defaults.get(p.name, p.default)) for p in parameters)


SEED = Parameter("seed", 0)
ENCODER = Parameter(
    "encoder", "gcn", "Encoder", "How a node hears its neighbours.", ("gcn", "sage", "gat", "appnp")
)
LAMBDA = Parameter(
    "lambda_",
    "auto",
    "λ (weight of the label pairs)",
    "Pull towards the centre against push of anomalous labels. Auto tries a grid and keeps the best on "
    "held-out labels.",
    ("auto", 1.0, 10.0, 100.0, 1000.0, 10000.0),
)
ETA = Parameter(
    "eta",
    "auto",
    "η (weight of the labels)",
    "Labelled against unlabelled nodes. Auto tries a grid and keeps the best on held-out labels.",
    ("auto", 0.01, 0.1, 1.0, 10.0, 100.0, 1000.0, 10000.0),
)
WIDTH = Parameter("width", 32, "Hidden units", "Width of the hidden layers.", least=2)
K = Parameter("k", 32, "K (embedding size)", "Coordinates of a node's embedding.", least=2)
DEPTH = Parameter("depth", 2, "Depth", "Graph convolutions: how many hops a node hears.", least=1)
SKIP = Parameter("skip", False)
EPOCHS = Parameter(
    "epochs", 500, "Epochs", "At most this many passes; training stops early when nothing improves.", least=1
)
LR = Parameter("lr", 1e-3, "Learning rate", "Step size of Adam.", least=0.0)
WEIGHT_DECAY = Parameter("weight_decay", 0.0)
PATIENCE = Parameter("patience", 100)
FOLDS = Parameter(
    "folds", 5, "Folds", "Parts of the labels held out in turn for the out-of-fold figures.", least=2
)
WARM_EPOCHS = Parameter("warm_epochs", 50)
DEVICE, THREADS = Parameter("device", "auto"), Parameter("threads", None)
TREES = Parameter("trees", 200, "Trees", "Number of trees.", least=1)
STRENGTHS = Parameter("strengths", None)
BALANCED = Parameter("balanced", False)

SPHERE = (SEED, ENCODER, WIDTH, K, DEPTH, SKIP, EPOCHS, LR, PATIENCE, FOLDS, WARM_EPOCHS, DEVICE, THREADS)
SUPERVISED = (SEED, WIDTH, K, DEPTH, EPOCHS, LR, WEIGHT_DECAY, PATIENCE, FOLDS, DEVICE, THREADS)
ENSEMBLE = (
    *(SEED, Parameter("lambdas", None), WIDTH, K, EPOCHS, WARM_EPOCHS, PATIENCE, FOLDS, STRENGTHS),
    *(DEVICE, THREADS),
)
CLASSIFIER = (*SUPERVISED, BALANCED)

PARAMETERS: dict[str, Parameters] = {
    "an+": but(ENSEMBLE, epochs=300, warm_epochs=20, patience=60),
    "an": (*SPHERE, LAMBDA),
    "n": SPHERE,
    "osvm": (SEED, Parameter("nu", 0.5)),
    "doc-n": but((*SPHERE, WEIGHT_DECAY), encoder="mlp", weight_decay=1e-6),
    "doc-an": but((*SPHERE, LAMBDA), encoder="mlp"),
    "dsad": but((*SUPERVISED, ETA, Parameter("pretrain_epochs", 100)), weight_decay=1e-6),
    "nn": CLASSIFIER,
    "slgcn": CLASSIFIER,
    "deepwalk": (
        *(SEED, K, Parameter("length", 80), Parameter("walks", 10), Parameter("window", 10)),
        replace(EPOCHS, default=1),
    ),
    "dominant": (SEED, WIDTH, K, DEPTH, Parameter("alpha", 0.5), EPOCHS, LR, PATIENCE, DEVICE, THREADS),
    "imverde": but((*SUPERVISED, Parameter("batches", 400)), lr=0.01),
    "appnp": but(CLASSIFIER, lr=0.01, weight_decay=5e-4, balanced=True),
    "bwgnn": but((*CLASSIFIER, Parameter("order", 2)), lr=0.01, balanced=True),
    "sgc-lr": (SEED, Parameter("max_hops", 3, "Hops", "Largest k of ÂᵏX.", least=0), STRENGTHS, FOLDS),
    "xgb-graph": (
        *(SEED, Parameter("hops", 2), Parameter("rounds", 200), replace(DEPTH, default=4)),
        *(Parameter("learning_rate", 0.05), Parameter("columns", 0.5), Parameter("rows", 0.8)),
        *(FOLDS, replace(THREADS, default=1)),
    ),
    "isolation-forest": (SEED, TREES, Parameter("sample", 256)),
    "label-propagation": (SEED, Parameter("alphas", None), Parameter("steps", 50), FOLDS),
}
