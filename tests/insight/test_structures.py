"""Groups that the structure gives, and what is said of them."""

from __future__ import annotations

import numpy as np
import pytest
from linked_graph import START, linked

from gadcore.derive.views import DENSE, FAN_IN, PASS_THROUGH, Views, views_of
from gadcore.graph.labels import Labels
from gadcore.insight.groups import propose_group
from gadcore.insight.structures import passed_rows
from gadcore.insight.view_sentences import view_sentences
from gadcore.studies.planted_groups import Planted, planted_bank


@pytest.fixture(scope="module")
def bank() -> Planted:
    return planted_bank(101, informative=False)


@pytest.fixture(scope="module")
def views(bank: Planted) -> Views:
    return views_of(bank.graph)


def planted_nodes(bank: Planted, kind: str) -> list[int]:
    return next(nodes.tolist() for name, nodes in bank.groups if name == kind)


def proposed(bank: Planted, views: Views, node: int, **given) -> set[int]:
    group = propose_group(bank.graph, node, views=views, **given)
    assert group.node_ids[0] == bank.graph.node_ids[node]
    return set(bank.graph.node_ids.rows(group.node_ids).tolist())


@pytest.mark.parametrize("kind", ["clique", "fan-in", "fan-out", "burst", "pass-through"])
def test_the_planted_group_is_proposed_from_any_member(bank: Planted, views: Views, kind: str) -> None:
    own = planted_nodes(bank, kind)
    for node in (own[0], own[1], own[-1]):
        found = proposed(bank, views, node)
        assert len(found & set(own)) / len(found) >= 0.8
        assert len(found & set(own)) / len(own) >= 0.8


def test_an_ordinary_case_stands_alone(bank: Planted, views: Views) -> None:
    scores = np.linspace(1, 0, bank.graph.n_nodes)
    ordinary = np.flatnonzero(bank.kind < 0)[::100]
    alone = [len(proposed(bank, views, int(node), scores=scores)) == 1 for node in ordinary]
    assert np.mean(alone) >= 0.85


def test_members_that_were_cleared_are_left_out(bank: Planted, views: Views) -> None:
    own = planted_nodes(bank, "clique")
    cleared = Labels.from_indices(bank.graph, normal=own[:3])
    assert proposed(bank, views, own[5], labels=cleared).isdisjoint(own[:3])


def test_each_view_says_its_own_reason(bank: Planted, views: Views) -> None:
    words = {
        "clique": "nodes that nearly all have transfers with each other (",
        "fan-in": "others within one week",
        "burst": "transfers on one day, of",
        "pass-through": "amounts on within a day each",
    }
    for kind, part in words.items():
        told = [view_sentences(bank.graph, node, views) for node in planted_nodes(bank, kind)]
        assert any(part in sentence for sentences in told for sentence in sentences), kind
    assert view_sentences(bank.graph, planted_nodes(bank, "clique")[0], None) == []


def test_reasons_of_groups_name_what_ties_them(bank: Planted, views: Views) -> None:
    graph = bank.graph
    clique, fan, ring = (planted_nodes(bank, kind)[0] for kind in ("clique", "fan-in", "pass-through"))
    assert "60 nodes that nearly all" in propose_group(graph, clique, views=views).reason
    assert f"to {graph.node_ids[fan]} from" in propose_group(graph, fan, views=views).reason
    assert "pass amounts on to each other" in propose_group(graph, ring, views=views).reason
    assert {DENSE, FAN_IN, PASS_THROUGH} >= set(views.at(clique)) - {"burst", "fan_out", "outlying"}


def test_what_a_hub_passes_on_is_found_without_comparing_all_its_links() -> None:
    n = 20_000  # all pairs would be 400 million comparisons
    other = np.arange(1, n + 1)
    time = START + 600.0 * np.arange(n)
    hub = np.zeros(n, dtype=np.int64)
    source, target = np.concatenate([other, hub]), np.concatenate([hub, np.roll(other, 1)])
    amount = np.tile(np.exp(np.arange(n) % 97), 2)
    graph = linked(n + 1, source, target, time=np.concatenate([time, time + 60.0]), amount=amount)
    assert graph.links is not None
    got, gone = passed_rows(graph.links, 0)
    assert (len(got), len(gone)) == (n, n)
