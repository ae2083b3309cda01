"""The neighbourhood view: pyvis builds the data, the browser draws it with pyvis's own vis-network, offline.

``network_data`` is what ``createGraphView(element, callbacks)`` of js/graph_view.js shows. The 470 kB of
vis-network are a component of their own, whose message never changes, so that the browser gets them once.
No HTML is ever made from data: pyvis's page generator is not used, text reaches the page as ``textContent``.
"""

from __future__ import annotations

from functools import cache
from math import log2
from pathlib import Path
from typing import Any

import pyvis
import streamlit as st
from pyvis.network import Network

from gadcore.records import Neighbourhood, as_json
from pages.common import palette

_HERE = Path(__file__).parent
_VIS_NETWORK = Path(pyvis.__file__).parent / "lib" / "vis-9.1.2" / "vis-network.min.js"


def network_data(view: Neighbourhood) -> dict[str, Any]:
    """JSON of a neighbourhood for ``createGraphView``: pyvis nodes and edges with the fields of each case."""
    network = Network(directed=True)  # an undirected Network searches all edges at every add_edge
    for node in view.nodes:
        network.add_node(
            node.node_id,
            label=node.name,
            shape=palette.GRAPH_SHAPES[node.verdict],
            color=palette.VERDICT_COLOURS[node.verdict],
            size=_size(node.degree),
            x=node.x,
            y=node.y,
            physics=False,
            case=as_json(node),  # beside vis-network's own options: its "hidden" means something else
        )
    weights = [edge.weight for edge in view.edges]
    low, high = min(weights, default=1.0), max(weights, default=1.0)
    for edge in view.edges:
        share = (edge.weight - low) / (high - low) if high > low else 0.0
        told = {} if edge.links is None else {"text": edge.links.text}
        network.add_edge(
            edge.source, edge.target, arrows="", width=1.2 + 4 * share, weight=edge.weight, **told
        )
    nodes, edges, *_ = network.get_network_data()
    return {
        "centre": view.centre,
        "hops": view.hops,
        "left_out": view.left_out,
        "nodes": nodes,
        "edges": edges,
        # thousands of plain numbers: handed on as they are
        "links": view.links and {**vars(view.links), "cells": vars(view.links.cells)},
    }


def _size(degree: int) -> float:
    """Radius on the canvas: by the logarithm of the degree, so that a hub does not cover its neighbours."""
    return min(30.0, 9.0 + 2.2 * log2(1 + degree))


def css() -> str:
    """The style of the view."""
    return (_HERE / "graph_view.css").read_text(encoding="utf-8")


def load_vis_network() -> None:
    """Bring vis-network to the browser (``globalThis.vis``); call it once per page, outside fragments."""
    _vis_network()(key="unseen-vis-network", height="content")


@cache
def _vis_network() -> Any:
    source = _VIS_NETWORK.read_text(encoding="utf-8").partition("//# sourceMappingURL")[0]
    return st.components.v2.component(
        "vis_network",
        js=(
            f"if (!globalThis.vis?.Network) {{ {source} }}\n"
            'globalThis.dispatchEvent(new Event("vis-network-ready"));\n'
            "export default function () {}"
        ),
    )
