"""Explanations: parts add up to the score, edges mean what they say, sentences are short and true."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
import xgboost

from gadcore.detectors import load_detector, make_detector
from gadcore.detectors.accounts import Account
from gadcore.detectors.arrays import propagate
from gadcore.detectors.boosters import BoostedTrees
from gadcore.detectors.heads import Head
from gadcore.detectors.plus.graph_cache import DAMPING, SHORT, GraphCache
from gadcore.detectors.plus.members.diffused import UNEVENLY, Diffused, diffused_attributes
from gadcore.detectors.surroundings import Variants, view_of
from gadcore.errors import ModelError
from gadcore.graph import Graph, make_graph
from gadcore.graph.labels import Labels
from gadcore.insight.explain import NO_ACCOUNT, _effect, explain, reasons
from gadcore.insight.explain.models import read_model
from gadcore.insight.similar import ATTRIBUTES, GRAPH, LEARNT, embedding_counts, nearest

FAST = {"an": {"epochs": 40}, "n": {"epochs": 20}, "an+": {"epochs": 30}, "xgb-graph": {"rounds": 40}}


def saved(name: str, graph: Graph, labels: Labels, folder: Path, **params):
    detector = make_detector(name, **{**FAST.get(name, {}), **params}).fit(graph, labels)
    detector.save(folder)
    return detector


def sparse_copy(graph: Graph) -> Graph:
    """The same edges with sparse 0/1 attributes."""
    edges = np.array(sp.triu(graph.adjacency).nonzero())
    return make_graph(graph.node_ids, edges, sp.csr_array((np.asarray(graph.x) > 0.5).astype(np.float32)))


def with_an_empty_node(graph: Graph) -> Graph:
    """The same graph and one node more, without edges or attributes."""
    edges = np.array(sp.triu(graph.adjacency).nonzero())
    blank = np.zeros((1, graph.n_features), dtype=np.float32)
    x = sp.vstack([graph.x, sp.csr_array(blank)]) if sp.issparse(graph.x) else np.vstack([graph.x, blank])
    return make_graph([*graph.node_ids, "empty"], edges, x)


def without_edge(graph: Graph, a: int, b: int) -> Graph:
    coo = sp.triu(graph.adjacency).tocoo()
    keep = ~((coo.row == min(a, b)) & (coo.col == max(a, b)))
    return make_graph(
        graph.node_ids, np.array([coo.row[keep], coo.col[keep]]), graph.x, weights=coo.data[keep]
    )


def total(explanation) -> float:
    return explanation.base + sum(p.value for p in explanation.attributes + explanation.neighbours)


@pytest.mark.parametrize("name", ["an", "n", "sgc-lr", "xgb-graph", "an+"])
@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
def test_parts_add_up_to_the_score(name, sparse, planted, planted_labels, tmp_path):
    graph = sparse_copy(planted[0]) if sparse else planted[0]
    detector = saved(name, graph, planted_labels, tmp_path)
    for node in (int(np.argmax(detector.scores_)), 5, int(planted_labels.anomalous[0])):
        found = explain(graph, tmp_path, detector.scores_, planted_labels, node)
        assert np.isclose(total(found), detector.scores_[node], rtol=1e-3, atol=1e-3)
        assert abs(found.gap) < 1e-3 * max(1.0, abs(found.score))
        assert found.model == name
        assert found.attributes
        assert found.neighbours or name in ("sgc-lr", "xgb-graph")  # they may have chosen no hop


def test_parts_add_up_with_trees_on_sparse_attributes(planted, planted_labels, tmp_path, monkeypatch):
    monkeypatch.setattr("gadcore.detectors.plus.members.trees.ENOUGH", 1)
    graph = sparse_copy(planted[0])
    detector = saved("an+", graph, planted_labels, tmp_path)
    assert any(member.wide for member in detector.members_ if member.kind == "trees")
    for node in (int(np.argmax(detector.scores_)), 5):
        found = explain(graph, tmp_path, detector.scores_, planted_labels, node)
        assert np.isclose(total(found), detector.scores_[node], atol=1e-3)
        assert abs(found.gap) < 1e-3


@pytest.mark.parametrize(
    "params", [{"skip": True}, {"encoder": "mlp"}, {"encoder": "mlp", "skip": True}, {"depth": 3}], ids=str
)
def test_parts_add_up_for_other_encoders(params, planted, planted_labels, tmp_path):
    for graph in (planted[0], sparse_copy(planted[0])):
        detector = saved("an", graph, planted_labels, tmp_path, **params)
        found = explain(graph, tmp_path, detector.scores_, planted_labels, 17)
        assert np.isclose(total(found), detector.scores_[17], rtol=1e-3)


@pytest.mark.parametrize("basis", ["none", "normal", "anomalous"])
def test_parts_add_up_with_few_labels_or_none(basis, planted, planted_labels, tmp_path):
    graph, _ = planted
    labels = {
        "none": Labels.none(),
        "normal": Labels.from_indices(graph, normal=planted_labels.normal),
        "anomalous": Labels.from_indices(graph, anomalous=planted_labels.anomalous),
    }[basis]
    detector = saved("an+", graph, labels, tmp_path)
    for node in (0, int(np.argmax(detector.scores_))):
        found = explain(graph, tmp_path, detector.scores_, labels, node)
        assert np.isclose(total(found), detector.scores_[node], atol=1e-3)
        assert found.edges or not len(graph.neighbours(node)[0])


@pytest.mark.parametrize("name", ["sgc-lr", "an", "xgb-graph"])
def test_edge_effect_is_that_of_scoring_the_graph_without_the_edge(name, planted, planted_labels, tmp_path):
    graph, _ = planted
    detector = saved(name, graph, planted_labels, tmp_path)
    node = int(np.argmax(np.diff(graph.adjacency.indptr)))
    found = explain(graph, tmp_path, detector.scores_, planted_labels, node)
    edge = found.edges[0]
    other = graph.index_of(edge.name)
    truth = detector.score_new(without_edge(graph, node, other))[node] - detector.scores_[node]
    assert np.isclose(edge.value, truth, rtol=1e-2, atol=1e-3 * abs(detector.scores_[node]))


def member_raw_without(detector, graph: Graph, node: int) -> dict[str, float]:
    """Each member's own score of a node in another graph."""
    cache = GraphCache(graph)
    return {member.name: float(member.score_new(cache)[node]) for member in detector.members_}


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
def test_edge_effect_of_every_member_is_that_of_the_graph_without_the_edge(
    sparse, planted, planted_labels, tmp_path
):
    graph = sparse_copy(planted[0]) if sparse else planted[0]
    detector = saved("an+", graph, planted_labels, tmp_path)
    node = int(np.argmax(np.diff(graph.adjacency.indptr)))
    removed = np.sort(graph.neighbours(node)[0][:3])
    variants = Variants(view_of(graph), node, removed)
    model = read_model(tmp_path)
    for i, other in enumerate(removed):
        truth = member_raw_without(detector, without_edge(graph, node, int(other)), node)
        for member, part in zip(detector.members_, model.shares):
            raw = part.member.raw(variants)
            change, true = raw[1 + i] - raw[0], truth[member.name] - member.scores[node]
            # a smoothed member keeps the lengths of other nodes' rows: near, but not equal
            near = 0.1 if member.kind == "smoothed" else 1e-3
            assert np.isclose(change, true, rtol=near, atol=1e-4 * np.std(member.scores)), member.name


def test_edge_effects_of_an_plus_are_those_of_scoring_without_the_edge(planted, planted_labels, tmp_path):
    graph = sparse_copy(planted[0])
    detector = saved("an+", graph, planted_labels, tmp_path)
    node = int(np.argmax(np.diff(graph.adjacency.indptr)))
    found = explain(graph, tmp_path, detector.scores_, planted_labels, node)
    assert found.edges_unknown == 0
    for edge in found.edges[:3]:
        other = without_edge(graph, node, graph.index_of(edge.name))
        truth = detector.score_new(other)[node] - detector.scores_[node]
        assert np.isclose(edge.value, truth, rtol=0.02, atol=5e-4)


def test_dear_graphs_are_tried_without_fewer_edges_or_say_what_is_not_known(
    planted, planted_labels, tmp_path, monkeypatch
):
    graph = sparse_copy(planted[0])
    detector = saved("an+", graph, planted_labels, tmp_path)
    node = int(np.argmax(np.diff(graph.adjacency.indptr)))
    column = 30 * view_of(graph).adjacency.nnz  # multiplications of the longest walk
    whole = explain(graph, tmp_path, detector.scores_, planted_labels, node)
    monkeypatch.setattr("gadcore.detectors.surroundings.EDGE_BUDGET", 4 * column)
    fewer = explain(graph, tmp_path, detector.scores_, planted_labels, node)
    assert len(whole.edges) > len(fewer.edges) == 3
    assert fewer.edges_unknown == 0
    effects = {edge.name: edge.value for edge in whole.edges}
    assert all(np.isclose(edge.value, effects[edge.name], atol=1e-6) for edge in fewer.edges)
    monkeypatch.setattr("gadcore.detectors.surroundings.EDGE_BUDGET", 1)
    partly = explain(graph, tmp_path, detector.scores_, planted_labels, node)
    walking = [
        weight
        for weight, member in zip(detector.weights_, detector.members_)
        if member.kind in ("smoothed", "diffused", "propagation")
    ]
    assert np.isclose(partly.edges_unknown, sum(walking))
    assert all("% of the score worked out anew" in edge.detail for edge in partly.edges)


def test_no_edge_is_said_to_make_no_difference_when_it_was_not_tried():
    assert "of the score worked out anew" in _effect(0.0, 0.4)
    assert _effect(0.0, 0.0) == "makes no difference to the score"


def test_rows_of_the_graph_without_an_edge_equal_those_of_that_graph(planted):
    graph, _ = planted
    node, other = 3, int(graph.neighbours(3)[0][1])
    rows = Variants(view_of(graph), node, np.array([other])).z(2)
    assert np.allclose(rows[0], propagate(graph, 2)[2][node], atol=1e-5)
    assert np.allclose(rows[1], propagate(without_edge(graph, node, other), 2)[2][node], atol=1e-5)


@pytest.mark.parametrize("even", [False, True])
def test_diffused_rows_without_an_edge_equal_those_of_that_graph(even, planted):
    graph = sparse_copy(planted[0])
    node, other = 3, int(graph.neighbours(3)[0][1])
    variants = Variants(view_of(graph), node, np.array([other]))
    _, _, found = variants.diffused(DAMPING, SHORT, even=even)
    plain = np.ones(graph.n_features, dtype=np.float32)
    for row, own in zip(found, (graph, without_edge(graph, node, other))):
        truth = diffused_attributes(GraphCache(own), None if even else plain)
        assert np.allclose(row, truth[node], atol=1e-5)
    assert np.allclose(variants.even_walk(DAMPING, SHORT).sum(axis=0), 1)


KINDS = {"linear", "standard", "background", "smoothed", "propagation", "trees", "sphere"}


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
def test_parts_of_each_member_add_up_to_its_own_score(sparse, planted, planted_labels, tmp_path, monkeypatch):
    # no member is dropped for its weight, and a few anomalous labels are enough for trees
    monkeypatch.setattr("gadcore.detectors.plus.combine.NEGLIGIBLE", 0.0)
    monkeypatch.setattr("gadcore.detectors.plus.members.trees.ENOUGH", 1)
    graph = with_an_empty_node(sparse_copy(planted[0]) if sparse else planted[0])
    detector = saved("an+", graph, planted_labels, tmp_path)
    parts = read_model(tmp_path).shares
    kinds = {member.kind for member in detector.members_}
    assert kinds == (KINDS | {"diffused"} if sparse else KINDS)
    for node in (0, int(np.argmax(detector.scores_)), graph.n_nodes - 1):
        variants = Variants(view_of(graph), node, np.zeros(0, dtype=np.int64))
        for member, part in zip(detector.members_, parts):
            account = part.member.account(variants)
            scale = float(np.std(member.scores))
            assert abs(account.total - member.scores[node]) < 1e-4 * scale, member.name
            assert np.isclose(account.total, member.scores[node], rtol=1e-3, atol=1e-4), member.name
            assert np.isclose(part.member.raw(variants)[0], member.scores[node], rtol=1e-3, atol=1e-4)


def test_parts_that_miss_the_score_of_a_member_show_as_a_gap(planted, planted_labels, tmp_path, monkeypatch):
    graph = planted[0]
    detector = saved("an+", graph, planted_labels, tmp_path)
    node = int(np.argsort(detector.scores_)[graph.n_nodes // 2])
    assert abs(explain(graph, tmp_path, detector.scores_, planted_labels, node).gap) < 1e-4
    honest = Head.account

    def half(self, variants):
        account = honest(self, variants)
        return Account(account.own / 2, account.nodes / 2, account.base)

    monkeypatch.setattr(Head, "account", half)
    assert abs(explain(graph, tmp_path, detector.scores_, planted_labels, node).gap) > 1e-3


def test_neighbours_that_a_diffused_member_cannot_tell_apart_count_the_same():
    x = sp.csr_array(np.array([[1, 2], [1, 1], [10, 10], [3, 1], [1, 4]], dtype=np.float32))
    graph = make_graph(list("abcde"), np.array([[0, 0, 3], [1, 2, 4]]), x)
    head = Head(UNEVENLY, True, np.array([1.0, -0.5]), 0.1, 1.0)
    member = Diffused(
        name="diffused", scores=np.zeros(5), head=head, usual=np.array([0.6, 0.7]), rare=np.ones(2)
    )
    account = member.account(Variants(view_of(graph), 0, np.zeros(0, dtype=np.int64)))
    assert np.isclose(account.nodes[1], account.nodes[2])
    assert abs(account.nodes[1]) > 1e-3


def test_a_model_of_an_earlier_version_is_not_taken_for_one_of_this(planted, planted_labels, tmp_path):
    graph = planted[0]
    detector = saved("an+", graph, planted_labels, tmp_path)
    state = json.loads((tmp_path / "detector.json").read_text())
    rows = [row for row in state["members"] if row["kind"] == "smoothed"]
    assert rows
    for row in rows:
        del row["walk"]
    (tmp_path / "detector.json").write_text(json.dumps(state))
    found = explain(graph, tmp_path, detector.scores_, planted_labels, 5)
    assert np.isclose(total(found), detector.scores_[5], atol=1e-3)
    with pytest.raises(ModelError, match="Train it again"):
        load_detector(tmp_path)


def test_trees_are_read_without_xgboost_and_give_its_margins(planted, planted_labels, tmp_path):
    graph, _ = planted
    detector = saved("xgb-graph", graph, planted_labels, tmp_path)
    trees = BoostedTrees.read(tmp_path / "booster.json", 2, sparse=False)
    found = [trees.raw(Variants(view_of(graph), v, np.zeros(0, np.int64)))[0] for v in range(20)]
    assert np.allclose(found, detector.scores_[:20], atol=1e-4)


@pytest.mark.parametrize("name", ["xgb-graph", "an+"])
def test_models_with_boosters_of_an_earlier_version_are_read(name, planted, planted_labels, tmp_path):
    graph, _ = planted
    detector = saved(name, graph, planted_labels, tmp_path / "now")
    nodes = [5, int(np.argmax(detector.scores_))]
    now = [explain(graph, tmp_path / "now", detector.scores_, planted_labels, node) for node in nodes]
    earlier = tmp_path / "earlier"
    shutil.copytree(tmp_path / "now", earlier)
    text = (earlier / "detector.json").read_text()
    files = list(earlier.glob("booster*.json"))
    assert files
    for file in files:  # as xgboost writes its own format
        xgboost.Booster(model_file=file).save_model(file.with_suffix(".ubj"))
        file.unlink()
        text = text.replace(file.name, file.with_suffix(".ubj").name)
    (earlier / "detector.json").write_text(text)
    again = load_detector(earlier)
    assert np.array_equal(again.score_new(graph), load_detector(tmp_path / "now").score_new(graph))
    assert [explain(graph, earlier, detector.scores_, planted_labels, node) for node in nodes] == now


def test_damaged_booster_is_named(tmp_path):
    for name in ("booster.json", "booster.ubj"):
        (tmp_path / name).write_bytes(b"{L\x00")
        with pytest.raises(ModelError, match=name):
            BoostedTrees.read(tmp_path / name, 2, sparse=False)


def test_examples_are_the_nearest_labelled_nodes(planted, planted_labels, tmp_path):
    graph, y = planted
    detector = saved("an+", graph, planted_labels, tmp_path)
    node = int(np.flatnonzero(y == 1)[20])
    rows = explain(graph, tmp_path, detector.scores_, planted_labels, node).examples
    assert rows
    labelled = {str(graph.node_ids[i]) for i in planted_labels.indices}
    assert {row.node_id for row in rows} <= labelled
    assert all(row.verdict in ("normal", "anomalous") for row in rows)


def test_examples_come_from_the_space_that_ranks(planted, planted_labels, tmp_path):
    graph, _ = planted
    directions = np.random.default_rng(0).normal(size=(graph.n_nodes, 5)).astype(np.float32)
    for name, word in (
        ("an+", ATTRIBUTES),  # spheres weigh a few per cent
        ("an", LEARNT),
        ("isolation-forest", GRAPH),
    ):
        folder = tmp_path / name / "model"
        folder.mkdir(parents=True)
        detector = saved(name, graph, planted_labels, folder)
        if detector.embedding_ is not None:
            np.save(folder.parent / "embedding.npy", detector.embedding_)  # as a run does
        found = explain(graph, folder, detector.scores_, planted_labels, 3, directions)
        space = detector.embedding_ if word == LEARNT else directions
        among = planted_labels.indices[planted_labels.indices != 3]
        near = [str(graph.node_ids[v]) for v in nearest(space, 3, 6, among=among)]
        assert [row.node_id for row in found.examples] == near
        assert found.examples_space == word


def test_spheres_that_weigh_much_keep_their_embedding():
    members = [{"kind": "sphere", "weight": 0.2}, {"kind": "linear", "weight": 0.6}]
    assert not embedding_counts({"name": "an+", "members": members})
    assert embedding_counts({"name": "an+", "members": [*members, {"kind": "sphere", "weight": 0.2}]})
    assert embedding_counts({"name": "deepwalk"})


def test_model_without_an_account_says_so(planted, planted_labels, tmp_path):
    graph, _ = planted
    detector = saved("isolation-forest", graph, planted_labels, tmp_path)
    found = explain(graph, tmp_path, detector.scores_, planted_labels, 3)
    assert NO_ACCOUNT in found.reasons
    assert not found.attributes
    assert not found.edges


def test_missing_model_is_named(planted, tmp_path):
    with pytest.raises(ModelError, match="holds no model"):
        explain(planted[0], tmp_path / "nothing", np.zeros(300), Labels.none(), 0)


def test_neighbours_verdicts_are_told(planted, planted_labels, tmp_path):
    graph, _ = planted
    detector = saved("an+", graph, planted_labels, tmp_path)
    node = int(graph.neighbours(int(planted_labels.anomalous[0]))[0][0])
    lines = reasons(graph, tmp_path, [node])[0]
    assert "marked anomalous" in lines[0]
    told = explain(graph, tmp_path, detector.scores_, planted_labels, node).reasons
    assert told[0] == lines[0]


def test_sentences_are_short_and_at_most_three(planted, planted_labels, tmp_path):
    graph, _ = planted
    saved("sgc-lr", graph, planted_labels, tmp_path)
    for lines in reasons(graph, tmp_path, range(50)):
        assert len(lines) <= 3
        assert all(len(line) < 90 for line in lines)


def test_a_graph_without_attributes_is_explained_by_its_links(planted, planted_labels, tmp_path):
    edges = np.array(sp.triu(planted[0].adjacency).nonzero())
    graph = make_graph(planted[0].node_ids, edges)
    detector = saved("sgc-lr", graph, planted_labels, tmp_path)
    raised = 0
    for node in range(0, 300, 30):
        found = explain(graph, tmp_path, detector.scores_, planted_labels, node)
        assert [part.name for part in found.attributes] == ["the node itself"]
        assert total(found) + found.gap == pytest.approx(found.score)
        raised += any(reason.startswith("raised most by its link") for reason in found.reasons)
    assert raised
