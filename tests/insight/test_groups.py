"""The group around an anomaly, by shared values and by links."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
import pytest

from gadcore.graph import Graph, make_graph
from gadcore.graph.labels import Labels
from gadcore.insight.groups import propose_group
from gadcore.records import ProposedGroup


@pytest.fixture(scope="module")
def clique_in_a_crowd() -> Graph:
    """Nodes 0–4 all linked, the rest a sparse random graph; two links lead out of the clique."""
    rng = np.random.default_rng(0)
    pairs = {tuple(sorted(p)) for p in rng.integers(5, 200, (400, 2)) if p[0] != p[1]}
    pairs |= set(combinations(range(5), 2)) | {(0, 17), (3, 80)}
    device = [f"d{i}" for i in range(200)]
    for i in (10, 11, 12):
        device[i] = "shared"
    day = ["2024-01-01"] * 3 + [f"2024-02-{i % 28 + 1:02d}" for i in range(197)]
    table = pd.DataFrame({"device": device, "opened": day, "country": ["FR", "DE"] * 100})
    return make_graph(range(200), np.array(sorted(pairs)).T, np.zeros((200, 1)), node_table=table)


def members(group: ProposedGroup) -> list[int]:
    return [int(node) for node in group.node_ids]


def test_dense_group_is_found_from_any_of_its_members(clique_in_a_crowd):
    for start in range(5):
        group = propose_group(clique_in_a_crowd, start)
        assert members(group)[0] == start
        assert set(members(group)) == set(range(5))
        assert group.reason.endswith(f"4 closely linked to {start}")


def test_rare_value_ties_nodes_together(clique_in_a_crowd):
    group = propose_group(clique_in_a_crowd, 11)
    assert {10, 11, 12} <= set(members(group))
    assert "3 nodes share device shared" in group.reason


def test_the_reason_counts_all_that_share_a_value(clique_in_a_crowd):
    labels = Labels.from_indices(clique_in_a_crowd, normal=[10])
    group = propose_group(clique_in_a_crowd, 11, labels)
    assert 10 not in members(group)
    assert "3 nodes share device shared (1 of them marked normal and left out)" in group.reason
    cleared = Labels.from_indices(clique_in_a_crowd, normal=[10, 12])
    assert "share" not in propose_group(clique_in_a_crowd, 11, cleared).reason
    capped = propose_group(clique_in_a_crowd, 11, cap=2)
    assert (len(members(capped)), capped.reason) == (2, "3 nodes share device shared")


def test_dates_and_common_values_tie_nobody(clique_in_a_crowd):
    assert "opened" not in propose_group(clique_in_a_crowd, 0).reason
    assert "country" not in propose_group(clique_in_a_crowd, 0).reason


def test_nodes_that_were_cleared_or_rank_low_are_left_out(clique_in_a_crowd):
    labels = Labels.from_indices(clique_in_a_crowd, normal=[2, 10], anomalous=[0])
    assert 2 not in members(propose_group(clique_in_a_crowd, 0, labels))
    assert 10 not in members(propose_group(clique_in_a_crowd, 11, labels))
    scores = np.linspace(1, 0, 200)
    scores[4] = -1.0
    assert 4 not in members(propose_group(clique_in_a_crowd, 0, scores=scores))
    confirmed = Labels.from_indices(clique_in_a_crowd, anomalous=[0, 4])
    assert 4 in members(propose_group(clique_in_a_crowd, 0, confirmed, scores))


def test_group_is_capped_and_an_isolated_node_stands_alone(clique_in_a_crowd):
    assert len(members(propose_group(clique_in_a_crowd, 0, cap=3))) == 3
    lonely = make_graph("ab", np.zeros((2, 0)), np.zeros((2, 1)))
    assert propose_group(lonely, 0).node_ids == ["a"]
    assert propose_group(lonely, 0).reason == ""
