"""Colours and shapes of the app, the same in figures, graph, chips and style sheets.

Verdict colours are from Okabe and Ito's palette, told apart with any colour vision; every verdict has a shape
of its own too, so that either alone is enough. Scores run from a quiet blue-grey over sand to vermilion.
All of them are readable on the light and on the dark background.
"""

from __future__ import annotations

import json
from typing import Final

from gadcore import drawing

ANOMALOUS, NORMAL, UNSURE = (drawing.VERDICT_COLOURS[word] for word in ("anomalous", "normal", "unsure"))
UNLABELLED: Final = "#8C96A3"
ACCENT: Final = "#009E73"  # the current case, a selection

VERDICT_COLOURS: Final[dict[str | None, str]] = drawing.VERDICT_COLOURS | {None: UNLABELLED}
VERDICT_WORDS: Final[dict[str | None, str]] = {
    **{word: word.capitalize() for word in drawing.VERDICT_COLOURS},
    None: "No verdict",
}
# shape names of vis-network and of plotly
GRAPH_SHAPES: Final[dict[str | None, str]] = drawing.VERDICT_SHAPES | {None: "dot"}
PLOT_SYMBOLS: Final[dict[str | None, str]] = {**GRAPH_SHAPES, "unsure": "triangle-up", None: "circle"}

# (share of the way up, colour): most of the range is quiet, the top tenth stands out
SCORE_SCALE: Final[list[tuple[float, str]]] = [
    (0.0, "#7E9FBF"),
    (0.5, "#A9BAC4"),
    (0.8, "#DCC48A"),
    (0.93, "#E68A2E"),
    (1.0, "#B92D12"),
]
# plain quantities (attributes, movement): cividis, even in lightness
QUANTITY_SCALE: Final[list[tuple[float, str]]] = [
    (0.0, "#2A4E8C"),
    (0.25, "#5B6C87"),
    (0.5, "#8A8779"),
    (0.75, "#BFAE60"),
    (1.0, "#F0D95B"),
]
CATEGORIES = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#B8AC2B", "#7F6FB0")
OTHER: Final = "#A3A8AE"  # categories beyond the named ones, and empty cells


def css_variables() -> str:
    """``--rf-…`` declarations for a style sheet; put them into ``:host`` or ``:root``."""
    names = {**drawing.VERDICT_COLOURS, "unlabelled": UNLABELLED, "accent": ACCENT}
    return "".join(f"--rf-{name}:{colour};" for name, colour in names.items())


def as_javascript() -> str:
    """The palette as a JSON object for the browser's side."""
    named = {"verdicts": VERDICT_COLOURS, "words": VERDICT_WORDS, "shapes": GRAPH_SHAPES}
    return json.dumps(
        {
            **{name: {word or "none": each[word] for word in each} for name, each in named.items()},
            "score": SCORE_SCALE,
            "quantity": QUANTITY_SCALE,
            "categories": CATEGORIES,
            "other": OTHER,
            "accent": ACCENT,
        }
    )
