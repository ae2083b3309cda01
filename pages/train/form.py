"""Train: the form that starts a run."""

from __future__ import annotations

from typing import Any

import streamlit as st

from gadcore.detectors import BOTH, NORMAL_ONLY, REGISTRY
from gadcore.detectors.specs import Parameter
from gadcore.workspace import Workspace
from pages.common import state
from pages.common.page import errors_shown
from pages.train.runs import SHOWN

DEFAULT_MODEL = next(iter(REGISTRY))
FIRST = ("encoder", "lambda_", "eta", "k", "depth", "epochs")  # always in sight; the others are under "More"
_HIDDEN = ("seed", "device", "threads")  # seed and device have fields of their own; threads is a setting
_DEVICES = ("auto", "cpu", "cuda", "mps")
_NEEDS = {
    BOTH: "Needs at least one normal and one anomalous label.",
    NORMAL_ONLY: "Learns from normal labels alone.",
}


def show_form(workspace: Workspace) -> None:
    """Model, its own parameters, device and the button; only what the chosen model has."""
    busy = workspace.runs.active() is not None
    model = st.selectbox("Model", list(REGISTRY), format_func=lambda name: REGISTRY[name].title, key="model")
    st.caption(_NEEDS.get(REGISTRY[model].needs, "Ranks with any labels, or none."))
    parameters = shown_parameters(model)
    chosen = {about.name: _field(model, about) for about in parameters if about.name in FIRST}
    device = st.selectbox("Device", _DEVICES, key="device", help="Auto takes a GPU where there is one.")
    with st.expander("More"):
        chosen |= {about.name: _field(model, about) for about in parameters if about.name not in FIRST}
        seed = st.number_input("Seed", min_value=0, value=0, step=1, key="seed")
    problem = missing_labels(workspace, model)
    if problem:
        st.warning(problem, icon=":material/label_off:")
    if st.button(
        "Train",
        key="train",
        type="primary",
        icon=":material/model_training:",
        width="stretch",
        disabled=busy or bool(problem) or not workspace.may("runs.start"),
        help="One run at a time: wait for it, or cancel it." if busy else None,
    ):
        defaults = {about.name: about.default for about in parameters}
        changed = {name: value for name, value in chosen.items() if value != defaults[name]}
        with errors_shown(go_on=True):
            workspace.runs.start(model, params=changed, device=device, seed=int(seed))
            state.forget(SHOWN)
            st.rerun()


def shown_parameters(model: str) -> list[Parameter]:
    """Parameters that the form offers: plain values, first those always in sight, then those with a help."""
    plain = [
        about
        for about in REGISTRY[model].parameters
        if about.name not in _HIDDEN and isinstance(about.default, bool | int | float | str)
    ]
    first = [about for name in FIRST for about in plain if about.name == name]
    return list(dict.fromkeys([*first, *(about for about in plain if about.help), *plain]))


def missing_labels(workspace: Workspace, model: str) -> str:
    """What a model still needs before it can be trained, or an empty text."""
    counts, needs, title = workspace.verdicts.counts(), REGISTRY[model].needs, REGISTRY[DEFAULT_MODEL].title
    if needs == BOTH and not (counts["normal"] and counts["anomalous"]):
        return (
            f"This model needs labels of both kinds; there are {counts['normal']} normal and "
            f"{counts['anomalous']} anomalous. Label more nodes, or train {title}."
        )
    if needs == NORMAL_ONLY and not counts["normal"]:
        return f"This model needs a normal label; there is none. Label one, or train {title}."
    return ""


def _field(model: str, about: Parameter) -> Any:
    """A widget that fits the parameter's type; the model's name in the key keeps models apart."""
    default = about.default
    look: dict[str, Any] = {"key": f"{model}-{about.name}", "help": about.help or None}
    if about.options:
        options = list(about.options) if default in about.options else [default, *about.options]
        return st.selectbox(about.title, options, index=options.index(default), **look)
    if isinstance(default, bool):
        return st.toggle(about.title, value=default, **look)
    if isinstance(default, int | float):
        number: Any = type(default)
        least = None if about.least is None else number(about.least)
        look |= {"step": 1} if number is int else {"format": "%g"}
        return number(st.number_input(about.title, value=default, min_value=least, **look))
    return st.text_input(about.title, value=default, **look)
