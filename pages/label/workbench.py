"""The labelling screen as a Streamlit component: its code is sent once, its data with every exchange.

The JavaScript is a handful of plain files, joined into one module. They live in a loader component outside
the fragment, so that an exchange carries data only; the component mounted in the fragment just calls in.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import streamlit as st

from pages.common import palette
from pages.label import graph_view

KEY = "workbench"
_HERE = Path(__file__).parent
_FILES = (
    "base",
    "outbox",
    "board",
    "strip",
    "search",
    "queue",
    "card_parts",
    "why",
    "card",
    "centre",
    "dialogs",
    "tuning",
    "keys",
    "verdicts",
    "workbench",
    "mount",
)

# The two modules may arrive in either order.
_CALL = """
export default function (component) {
  const shared = (globalThis.ringfence ??= {});
  if (shared.showWorkbench) return shared.showWorkbench(component);
  shared.waiting = component;
  return () => shared.clearWorkbench?.(component.parentElement);
}
"""
_PUBLISH = """
const shared = (globalThis.ringfence ??= {});
shared.showWorkbench = showWorkbench;
shared.clearWorkbench = clearWorkbench;
if (shared.waiting) showWorkbench(shared.waiting);
shared.waiting = null;
export default function () {}
"""


def load() -> None:
    """Bring the code to the browser; call it once per page, outside fragments."""
    graph_view.load_vis_network()
    _code()(key="unseen-workbench-code", height="content")


def show(payload: dict[str, Any]) -> None:
    """Mount the screen in a fragment, or give it its next payload."""
    _screen()(key=KEY, data=payload, on_out_change=lambda: None)


@cache
def javascript() -> str:
    """The whole module: the neighbourhood view, the panes, and their style."""
    css = f".rf-workbench {{ {palette.css_variables()} }}\n" + (_HERE / "workbench.css").read_text("utf-8")
    parts = [(_HERE / "js" / f"{name}.js").read_text("utf-8") for name in _FILES]
    return "\n".join([graph_view.javascript(), f"const WORKBENCH_CSS = {json.dumps(css)};", *parts, _PUBLISH])


@cache
def _code() -> Any:
    return st.components.v2.component("workbench_code", js=javascript(), isolate_styles=False)


@cache
def _screen() -> Any:
    return st.components.v2.component("workbench", js=_CALL, isolate_styles=False)
