"""Short sentences for people: an attribute against its peers, verdicts and ranks of the neighbours.

For a page of the queue a sentence is chosen by how much the column moves with the score over all nodes and
how far the node stands out in it; one correlation per run, then a look-up per node.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from gadcore.detectors.accounts import dense_row
from gadcore.graph import Graph, IntArray
from gadcore.graph.mapped import release_array
from gadcore.insight.explain.columns import Columns, PeerStanding
from gadcore.insight.explain.link_sentences import derived_sentence, family
from gadcore.metrics import percentile_ranks
from gadcore.records import Attribute
from gadcore.shelf import Shelf

Array = npt.NDArray[np.float64]

EXTREME = (
    10.0  # per cent of nodes with such a number or a more extreme one, up to which it is worth a sentence
)
RARE = 10.0  # per cent of nodes up to which a value is worth a sentence
HALF = 50.0  # per cent of nodes
HIGH = 0.9  # mean percentile of neighbours worth a sentence
WORDS = 50  # different values from which a column is one of names, each rare and none worth a sentence
MOST = 12  # columns looked at for a sentence
KEPT = 4
_ROWS = 1 << 15  # of X that are looked at together


def attribute_sentence(
    attribute: Attribute, standing: PeerStanding | None = None, *, date: bool = False
) -> str | None:
    """E.g. "cash share 0.41: top 2 % of nodes"; None for what is usual. Numbers come with their standing."""
    told = f"{attribute.column.replace('_', ' ')} {attribute.value}"
    if standing is not None:
        place = extreme_text(standing, date=date)
        return f"{told}: {place}" if place else None
    if attribute.share is not None and 0 < attribute.share <= RARE:
        return f"{told}: only {percent_text(attribute.share)} of nodes"
    return None


def extreme_text(standing: PeerStanding, *, date: bool = False) -> str:
    """E.g. "top 2 % of nodes", "lowest 3 % of nodes"; "" for what is usual."""
    most, least = ("latest", "earliest") if date else ("top", "lowest")
    if standing.top <= EXTREME:
        return f"{most} {percent_text(standing.top)} of nodes"
    return f"{least} {percent_text(standing.lowest)} of nodes" if standing.lowest <= EXTREME else ""


def standing_text(standing: PeerStanding, *, date: bool = False) -> str:
    """E.g. "higher than 81 % of nodes", "lowest 3 % of nodes", "the median, as of 40 % of nodes"."""
    more, least = ("later", "earliest") if date else ("higher", "lowest")
    if standing.below >= HALF:
        return f"{more} than {min(99.9, standing.below):.3g} % of nodes"
    if standing.above >= HALF:
        return f"{least} {percent_text(standing.lowest)} of nodes"
    return "the median" + (f", as of {percent_text(standing.equal)} of nodes" if standing.equal >= 1 else "")


MARKED = "marked anomalous"  # what verdicts around a node say most


def verdict_sentence(anomalous: int, labelled: int, neighbours: int) -> str | None:
    """E.g. "3 of 7 neighbours marked anomalous"."""
    if anomalous:
        return f"{anomalous} of {neighbours} neighbour{'s' * (neighbours != 1)} {MARKED}"
    if labelled >= 3:
        return f"{labelled} of {neighbours} neighbours marked, none anomalous"
    return None


def rank_sentence(percentiles: Array) -> str | None:
    """E.g. "its 5 neighbours rank high too (top 4 % on average)"."""
    if len(percentiles) and float(percentiles.mean()) >= HIGH:
        count = f"its {len(percentiles)} neighbours rank" if len(percentiles) > 1 else "its neighbour ranks"
        return f"{count} high too (top {percent_text(100 * (1 - float(percentiles.mean())))} on average)"
    return None


@dataclass(frozen=True)
class Tendency:
    """How each attribute moves with the scores of one run."""

    correlation: Array  # (D,)
    mean: Array  # (D,)
    deviation: Array  # (D,)
    percentile: Array  # (N,) of the scores, in (0, 1)

    def pull(self, graph: Graph, node: int) -> Array:
        """(D,) how much each attribute speaks for a high score: correlation times standing out."""
        x = dense_row(graph.x, node)
        return np.asarray(self.correlation * np.clip((x - self.mean) / self.deviation, -4, 4))


_TENDENCIES, _COLUMNS, _PLACES = Shelf(KEPT), Shelf(KEPT), Shelf(KEPT)


def tendency(graph: Graph, scores: npt.NDArray[np.floating]) -> Tendency:
    """Correlations of attributes and score ranks, kept per graph and scores."""
    key = (graph.fingerprint, hash(np.ascontiguousarray(scores).tobytes()))
    return _TENDENCIES.get(key, lambda: _tendency(graph, scores))


def columns_of(graph: Graph) -> Columns:
    """The raw columns of a graph, kept."""
    key = (graph.fingerprint, id(graph.node_table))  # the fingerprint does not cover raw columns
    return _COLUMNS.get(key, lambda: Columns(graph))


def node_sentences(
    graph: Graph, node: int, known: Tendency, verdicts: Mapping[int, bool], order: IntArray | None = None
) -> list[str]:
    """Up to three sentences; ``order`` lists features from most to least telling, else the tendency does."""
    neighbours, _ = graph.neighbours(node)
    marked = [verdicts[int(u)] for u in neighbours if int(u) in verdicts]
    around = verdict_sentence(sum(marked), len(marked), len(neighbours)) or rank_sentence(
        known.percentile[neighbours]
    )
    if order is None:
        order = raising(graph, known.pull(graph, node))
    told = [around] if around else []
    told += telling_attributes(graph, node, order, 3 - len(told))
    if len(told) < 2 and not around and not len(neighbours):
        told.append("no neighbours")
    return told


def by_column(graph: Graph, values: Array) -> tuple[list[str], IntArray, Array]:
    """Names of the raw columns, the place of each feature's column among them, and the sums of its values."""
    of_features = graph.feature_columns
    names, place = _PLACES.get(of_features, lambda: _places(of_features))
    return names, place, np.asarray(np.bincount(place, values, len(names)), dtype=np.float64)


def _places(of_features: tuple[str, ...]) -> tuple[list[str], IntArray]:
    places = {name: i for i, name in enumerate(dict.fromkeys(of_features))}
    return list(places), np.array([places[name] for name in of_features], dtype=np.int64)


def raising(graph: Graph, values: Array) -> IntArray:
    """A feature of each column whose values together are above 0, the largest sum first; MOST at most."""
    _, place, sums = by_column(graph, values)
    by_value = np.argsort(-values, kind="stable")
    best = by_value[np.unique(place[by_value], return_index=True)[1]]  # by column
    order = np.argsort(-sums, kind="stable")[:MOST]
    return np.asarray(best[order[sums[order] > 0]], dtype=np.int64)


def telling_attributes(graph: Graph, node: int, order: IntArray, n: int) -> list[str]:
    """Sentences for the first ``n`` features of ``order`` that are worth one; a column is told once.

    Of columns that the links give, each family (see link_sentences) is told once.
    """
    told: dict[str, str] = {}
    columns = columns_of(graph)
    for feature in order:
        column = graph.feature_columns[feature]
        subject = f"\n{family(columns.derived[column])}" if column in columns.derived else column
        if subject in told or len(told) >= n or graph.attribute_free:
            continue
        if column in columns.derived:
            sentence = _links_sentence(graph, columns, column, node)
        elif column in columns.names:
            sentence = _column_sentence(columns, column, node)
        else:
            sentence = _feature_sentence(graph, node, int(feature))
        if sentence:
            told[subject] = sentence
    return list(told.values())


def _links_sentence(graph: Graph, columns: Columns, column: str, node: int) -> str | None:
    """A column that the links give in a sentence; None for what is usual."""
    standing = columns.standing(column, node)
    place = "" if standing is None else extreme_text(standing)
    return f"{derived_sentence(graph, columns, column, node)}: {place}" if place else None


def _column_sentence(columns: Columns, column: str, node: int) -> str | None:
    """A raw column in a sentence; columns of names are left out."""
    attribute = columns.attribute(column, node)
    if attribute.share is not None and columns.distinct(column) > WORDS:
        return None
    return attribute_sentence(attribute, columns.standing(column, node), date=columns.is_date(column))


def _feature_sentence(graph: Graph, node: int, feature: int) -> str | None:
    """For graphs without raw columns: is the attribute present, and how rare is that?"""
    value = float(graph.x[node, feature])
    if value == 0:
        return None
    if sp.issparse(graph.x):
        name = graph.feature_names[feature]
        return f"has {name}" if name == str(feature) else f"has attribute {name}"
    column = np.asarray(graph.x[:, feature])
    below, above = (float(100 * np.mean(part)) for part in (column < column[node], column > column[node]))
    standing = PeerStanding(below, above)
    attribute = Attribute(graph.feature_names[feature], f"{value:.3g}", standing.percentile, None)
    return attribute_sentence(attribute, standing)


def _tendency(graph: Graph, scores: npt.NDArray[np.floating]) -> Tendency:
    percentile = percentile_ranks(scores)
    centred = percentile - percentile.mean()
    mean, square, covariance = np.zeros((3, graph.n_features))
    for start in range(0, graph.n_nodes, _ROWS):  # some rows at a time: X may be far larger than memory
        x = graph.x[start : start + _ROWS].astype(np.float64)
        mean += np.asarray(x.sum(axis=0)).ravel()
        square += np.asarray((x * x).sum(axis=0)).ravel()
        covariance += x.T @ centred[start : start + _ROWS]
    if not sp.issparse(graph.x):
        release_array(graph.x)
    mean, square, covariance = (v / max(1, graph.n_nodes) for v in (mean, square, covariance))
    deviation = np.sqrt(np.maximum(square - mean**2, 0.0))
    deviation = np.where(deviation > 1e-9, deviation, np.inf)
    spread = max(float(centred.std()), 1e-9)
    return Tendency(covariance / (deviation * spread), mean, deviation, percentile)


def percent_text(value: float) -> str:
    """A share above 0 in per cent, which never reads as none."""
    if value < 0.1:
        return "0.1 %"
    return f"{value:.1f} %" if value < 1 else f"{value:.0f} %"
