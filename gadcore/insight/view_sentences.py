"""What a view of the graph says of a node, in an investigator's words."""

from __future__ import annotations

import numpy as np

from gadcore.derive.views import BURST, DENSE, FAN_IN, FAN_OUT, OUTLYING, PASS_THROUGH, STAR, Views
from gadcore.graph import Graph, Links
from gadcore.graph.link_words import amount_text, count_text
from gadcore.graph.links import DAY
from gadcore.insight.structures import Structure, dense_group, density, fan, passed_rows

NEARLY_ALL = 0.7  # share of the pairs from which nearly all are linked


def view_sentences(graph: Graph, node: int, views: Views | None) -> list[str]:
    """A sentence for each view that is loud at a node, the loudest first."""
    names = [] if views is None else views.at(node)
    return list(dict.fromkeys(text for name in names if (text := _sentence(graph, name, node))))


def group_sentence(graph: Graph, node: int, around: Structure) -> str:
    """Why a node and others are a group."""
    nodes, centre = [node, *around.others], graph.display_name(around.centre)
    if around.view == DENSE:
        return f"{len(nodes)} nodes {_pairs(graph, nodes)}"
    if around.view == PASS_THROUGH:
        return f"{len(nodes)} nodes that pass amounts on to each other within a day"
    if around.view == BURST:
        return f"{len(nodes)} nodes with several {_words(graph)} around {centre} on one day"
    way = f"from {centre} to" if around.view == FAN_OUT else f"to {centre} from"
    return f"{_words(graph)} {way} {len(nodes) - 1} others within one week"


def _sentence(graph: Graph, view: str, node: int) -> str:
    if view == DENSE:
        others = dense_group(graph, node)
        return f"one of {len(others) + 1} nodes {_pairs(graph, [node, *others])}" if others else ""
    if view == STAR:
        return f"{len(graph.neighbours(node)[0]):,} neighbours, many of which have few others"
    if view in (FAN_IN, FAN_OUT):
        return _fan_sentence(graph, view, node)
    return {BURST: _burst, PASS_THROUGH: _passing, OUTLYING: _outlying}[view](graph, node)


def _words(graph: Graph) -> str:
    return graph.links.meaning.words if graph.links else "links"


def _pairs(graph: Graph, nodes: list[int]) -> str:
    """E.g. "that nearly all have transfers with each other (81 % of the pairs)"."""
    share = density(graph, nodes)
    how = "that nearly all have" if share >= NEARLY_ALL else "most of which have"
    return f"{how} {_words(graph)} with each other ({100 * share:.0f} % of the pairs)"


def _fan_sentence(graph: Graph, view: str, node: int) -> str:
    way, others = "from" if view == FAN_IN else "to", len(fan(graph, node, view))
    return f"{_words(graph)} {way} {others:,} others within one week, and hardly any before or after"


def _known(graph: Graph) -> Links:
    if graph.links is None:
        raise ValueError("a graph without links has no such view")
    return graph.links


def _burst(graph: Graph, node: int) -> str:
    links = _known(graph)
    time = np.asarray(links.time)[links.of(node)]
    _, count = np.unique(np.floor(time[np.isfinite(time)] / DAY), return_counts=True)
    return f"{count_text(int(count.max()), links.meaning)} on one day, of {int(count.sum()):,} in all"


def _passing(graph: Graph, node: int) -> str:
    links = _known(graph)
    times = len(passed_rows(links, node)[0])
    return f"passed {times} amounts on within a day each, nearly whole"


def _outlying(graph: Graph, node: int) -> str:
    links = _known(graph)
    sent = np.asarray(links.amount)[links.out_of(node)]
    sent = sent[np.isfinite(sent)]
    usual = float(np.median(sent))
    strange = float(sent[np.argmax(np.abs(np.log(np.maximum(sent, 1e-9) / max(usual, 1e-9))))])
    amount, own = (amount_text(value, links.meaning) for value in (strange, usual))
    return f"a {links.meaning.word} of {amount} where {own} is usual, and unlike what its receiver gets"
