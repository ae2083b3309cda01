"""Parameters of the models, read from the source text of their classes: no model, and no torch, is imported.

A test compares the result with the real signatures of all classes in the registry.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import gadcore.detectors
from gadcore.detectors import REGISTRY

_FOLDER = Path(gadcore.detectors.__file__).parent
_PACKAGE = "gadcore.detectors."


@dataclass(frozen=True)
class Described:
    """What people read about a parameter, and the values that the form offers."""

    title: str
    help: str
    options: tuple[Any, ...] = ()
    least: float | None = None


DESCRIBED: dict[str, Described] = {
    "encoder": Described("Encoder", "How a node hears its neighbours.", ("gcn", "sage", "gat", "appnp")),
    "lambda_": Described(
        "λ (weight of the label pairs)",
        "Pull towards the centre against push of anomalous labels. Auto tries a grid and keeps the best on "
        "held-out labels.",
        ("auto", 1.0, 10.0, 100.0, 1000.0, 10000.0),
    ),
    "eta": Described(
        "η (weight of the labels)",
        "Labelled against unlabelled nodes. Auto tries a grid and keeps the best on held-out labels.",
        ("auto", 0.01, 0.1, 1.0, 10.0, 100.0, 1000.0, 10000.0),
    ),
    "k": Described("K (embedding size)", "Coordinates of a node's embedding.", least=2),
    "width": Described("Hidden units", "Width of the hidden layers.", least=2),
    "depth": Described("Depth", "Graph convolutions: how many hops a node hears.", least=1),
    "epochs": Described(
        "Epochs", "At most this many passes; training stops early when nothing improves.", least=1
    ),
    "lr": Described("Learning rate", "Step size of Adam.", least=0.0),
    "folds": Described("Folds", "Parts of the labels held out in turn for the out-of-fold figures.", least=2),
    "max_hops": Described("Hops", "Largest k of ÂᵏX.", least=0),
    "trees": Described("Trees", "Number of trees.", least=1),
}
FIRST = ("encoder", "lambda_", "eta", "k", "depth", "epochs")  # always in sight; the others are under "More"
_HIDDEN = ("seed", "device", "threads")  # seed and device have fields of their own; threads is a setting


@cache
def parameters(model: str) -> dict[str, Any]:
    """Constructor keywords of a model with their defaults; those without a literal default are left out."""
    module, cls = REGISTRY[model].target.split(":")
    return _defaults(module, cls)


def shown_parameters(model: str) -> dict[str, Any]:
    """Parameters that the form offers: plain values, the described ones first."""
    plain = {
        name: default
        for name, default in parameters(model).items()
        if name not in _HIDDEN and isinstance(default, bool | int | float | str)
    }
    order = [*(n for n in (*FIRST, *DESCRIBED) if n in plain), *plain]
    return {name: plain[name] for name in dict.fromkeys(order)}


def described(name: str) -> Described:
    """Title and help of a parameter; a name that is not known speaks for itself."""
    return DESCRIBED.get(name) or Described(name.rstrip("_").replace("_", " ").capitalize(), "")


def _defaults(module: str, cls: str) -> dict[str, Any]:
    """Keywords of a class: of its own constructor, of its dataclass fields, or those it inherits."""
    tree = _source(module)
    found = next((n for n in tree.body if isinstance(n, ast.ClassDef) and n.name == cls), None)
    if found is None:
        origin = _imported_from(tree, cls)
        return _defaults(origin, cls) if origin else {}
    for item in found.body:
        if isinstance(item, ast.FunctionDef) and item.name == "__init__":
            return _arguments(item.args, tree)
    inherited: dict[str, Any] = {}
    for base in reversed(found.bases):
        if isinstance(base, ast.Name):
            inherited |= _defaults(module, base.id)
    return inherited | (_fields(found, tree) if _is_dataclass(found) else {})


def _is_dataclass(cls: ast.ClassDef) -> bool:
    return any("dataclass" in ast.unparse(decorator) for decorator in cls.decorator_list)


def _fields(cls: ast.ClassDef, tree: ast.Module) -> dict[str, Any]:
    """Dataclass fields with a literal default; class variables are none."""
    values = {
        item.target.id: _literal(item.value, tree)
        for item in cls.body
        if isinstance(item, ast.AnnAssign)
        and isinstance(item.target, ast.Name)
        and item.value is not None
        and "ClassVar" not in ast.unparse(item.annotation)
    }
    return {name: value for name, value in values.items() if value is not _UNKNOWN}


@cache
def _source(module: str) -> ast.Module:
    path = _FOLDER / f"{module.replace('.', '/')}.py"
    return ast.parse(
        (path if path.exists() else path.with_suffix("") / "__init__.py").read_text(encoding="utf-8")
    )


def _imported_from(tree: ast.Module, name: str) -> str | None:
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith(_PACKAGE):
            for alias in node.names:
                if (alias.asname or alias.name) == name:
                    return node.module.removeprefix(_PACKAGE)
    return None


def _arguments(arguments: ast.arguments, tree: ast.Module) -> dict[str, Any]:
    named = arguments.args[1:]
    with_default = [*zip(named[len(named) - len(arguments.defaults) :], arguments.defaults)]
    with_default += [(a, d) for a, d in zip(arguments.kwonlyargs, arguments.kw_defaults) if d is not None]
    values = {argument.arg: _literal(default, tree) for argument, default in with_default}
    return {name: value for name, value in values.items() if value is not _UNKNOWN}


_UNKNOWN = object()


def _literal(node: ast.expr, tree: ast.Module) -> Any:
    """Value of a default: a literal, or a constant of the same module that is one."""
    if isinstance(node, ast.Name):
        for item in tree.body:
            targets = item.targets if isinstance(item, ast.Assign) else []
            if any(isinstance(t, ast.Name) and t.id == node.id for t in targets):
                return _literal(item.value, tree) if isinstance(item, ast.Assign) else _UNKNOWN
        return _UNKNOWN
    try:
        return ast.literal_eval(node)
    except ValueError:
        return _UNKNOWN
