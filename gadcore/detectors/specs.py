"""Parameters of the detectors: defaults, and what people read about them. No detector is imported.

The classes have the same keywords with the same defaults, in the same order; a test compares them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from gadcore.errors import UsageError
from gadcore.settings import MOST_SEED


@dataclass(frozen=True)
class Parameter:
    """A keyword of a detector, and the values that a form offers for it."""

    name: str
    default: Any
    words: str = ""
    help: str = ""
    options: tuple[Any, ...] = ()
    least: float | None = None
    also: tuple[Any, ...] = ()  # values that it may have beside those of its kind

    @property
    def title(self) -> str:
        """What it is called on a screen; a name without words speaks for itself."""
        return self.words or self.name.rstrip("_").replace("_", " ").capitalize()

    def expected(self, value: Any) -> str:
        """What a value should have been; "" where it can be used."""
        if self.default is None or value in (self.default, *self.options, *self.also):
            return ""
        if self.options and all(isinstance(option, str) for option in self.options):
            return f"one of {', '.join(self.options)}"
        if isinstance(self.default, str) and not self.options:
            return "" if isinstance(value, str) else "a word"
        if isinstance(self.default, bool):
            return "" if isinstance(value, bool) else "true or false"
        kind = int if isinstance(self.default, int) else int | float
        least = self.least or 0
        usable = isinstance(value, kind) and not isinstance(value, bool) and least <= value < float("inf")
        return "" if usable else f"a {'whole ' * (kind is int)}number, {least:g} or more"


Parameters = tuple[Parameter, ...]


def but(parameters: Parameters, **defaults: Any) -> Parameters:
    """The same parameters with some other defaults."""
    return tuple(replace(p, default=defaults.get(p.name, p.default)) for p in parameters)


SEED = Parameter("seed", 0)
ENCODER = Parameter(
    "encoder",
    "gcn",
    "Encoder",
    "How a node hears its neighbours (mlp: not at all).",
    ("gcn", "sage", "gat", "appnp", "mlp"),
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
PATIENCE = Parameter("patience", 100, also=(None,))  # None: training never stops early
FOLDS = Parameter(
    "folds",
    5,
    "Folds",
    "Parts of the labels held out in turn for the out-of-fold figures.",
    least=2,
    also=(0,),
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


def check_names(model: str, values: Mapping[str, Any]) -> None:
    """UsageError for a parameter that the model lacks; those it has are named."""
    known = [p.name for p in PARAMETERS[model]]
    unknown = sorted(set(values) - set(known))
    if unknown:
        raise UsageError(
            f"The model {model!r} has no parameter {', '.join(unknown)}. It has: {', '.join(known)}."
        )


def check(model: str, values: Mapping[str, Any]) -> None:
    """Stop before anything is begun with a parameter that the model lacks, or a value it cannot use."""
    check_names(model, values)
    known = {p.name: p for p in PARAMETERS[model]}
    for name, value in values.items():
        if expected := known[name].expected(value):
            raise UsageError(f"The parameter {name} of {model!r} is {value!r}. Expected: {expected}.")
    if not 0 <= values.get("seed", 0) <= MOST_SEED:
        raise UsageError(f"The seed is {values['seed']}. Expected: a whole number from 0 to {MOST_SEED}.")
