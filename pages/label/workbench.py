"""The labelling screen as a Streamlit component: its code is sent once, its data with every exchange.

The code lives in a loader component outside the fragment, so that an exchange carries data only; the
component mounted in the fragment just calls in.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import streamlit as st

from pages.common import palette
from pages.label import graph_view, modules

KEY = "workbench"
_HERE = Path(__file__).parent


def load() -> None:
    """Bring the code to the browser; call it once per page, outside fragments."""
    graph_view.load_vis_network()
    _code()(key="unseen-workbench-code", height="content")


def show(payload: dict[str, Any]) -> None:
    """Mount the screen in a fragment, or give it its next payload."""
    _screen()(key=KEY, data=payload, on_out_change=lambda: None)


@cache
def _code() -> Any:
    own = [(_HERE / name).read_text("utf-8") for name in ("workbench.css", "activity.css", "team.css")]
    css = "\n".join([f".rf-workbench {{ {palette.css_variables()} }}", *own])
    return st.components.v2.component(
        "workbench_code", js=modules.joined("load_screen"), css=graph_view.css() + css, isolate_styles=False
    )


@cache
def _screen() -> Any:
    return st.components.v2.component("workbench", js=modules.source("show_screen"), isolate_styles=False)
