"""Query strategies: open nodes only, no near-duplicates, and each does what its name says."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from gadcore.errors import GadError
from gadcore.graph import make_graph
from gadcore.graph.labels import Labels
from gadcore.loop.geometry import distinct, farthest_first, medoids
from gadcore.loop.pool import BATCH, Changed
from gadcore.loop.strategies import (
    AUDIT_SHARE,
    DEFAULT,
    STRATEGIES,
    Pool,
    diversity_basis,
    find_strategy,
    preferred_strategy,
    queue_order,
)
from gadcore.loop.strategies.diverse import TRIAL, GreedyDiverse
from gadcore.loop.strategies.ranked import border_percentile
from gadcore.loop.strategies.sampling import strata
from gadcore.metrics import percentile_ranks


@pytest.fixture(scope="module")
def pool(planted, planted_labels) -> Pool:
    """Scores that are good, not perfect; 38 labels."""
    graph, y = planted
    scores = y + np.random.default_rng(0).normal(0, 0.5, graph.n_nodes)
    return Pool(
        scores=scores,
        labels=planted_labels,
        basis=diversity_basis(graph),
        adjacency=graph.adjacency,
        recent=[*planted_labels.normal[-4:].tolist(), *planted_labels.anomalous[-4:].tolist()],
    )


def rng() -> np.random.Generator:
    return np.random.default_rng(7)


@pytest.mark.parametrize("name", STRATEGIES)
@pytest.mark.parametrize("cold", [False, True])
def test_every_strategy_gives_open_nodes_once_with_a_reason(name, cold, pool):
    pool = replace(pool, cold=cold)
    queries = STRATEGIES[name].select(pool, 20, rng())
    nodes = [query.node for query in queries]
    assert len(set(nodes)) == len(nodes) <= 20
    assert len(nodes) == 20 or name in ("ring", "again")
    assert not set(nodes) & set(pool.labels.indices.tolist())
    assert all(query.reason and len(query.reason) < 90 for query in queries)
    assert all(query.strategy == name for query in queries) or name in ("greedy-diverse", "medoids")
    assert nodes == [query.node for query in STRATEGIES[name].select(pool, 20, rng())]


@pytest.mark.parametrize("name", STRATEGIES)
def test_every_strategy_copes_with_little(name):
    bare = Pool(scores=np.zeros(3))
    assert {q.node for q in STRATEGIES[name].select(bare, 10, rng())} <= {0, 1, 2}
    labels = Labels(np.array([0, 1]), np.array([2]))
    assert STRATEGIES[name].select(Pool(scores=np.zeros(3), labels=labels), 10, rng()) == []


@pytest.mark.parametrize("name", STRATEGIES)
@pytest.mark.parametrize("cold", [False, True])
def test_a_pool_without_nodes_gives_no_case(name, cold):
    empty = Pool(scores=np.zeros(0), cold=cold)
    assert STRATEGIES[name].select(empty, 10, rng()) == queue_order(empty, name, 10, rng()) == []
    assert STRATEGIES[name].select(replace(empty, basis=np.zeros((0, 3))), 10, rng()) == []


def test_with_neither_basis_nor_embedding_nothing_is_a_near_duplicate():
    nodes = [query.node for query in STRATEGIES["top"].select(Pool(scores=-np.arange(300.0)), 10, rng())]
    assert nodes == list(range(10))


@pytest.mark.parametrize("name", STRATEGIES)
def test_filter_is_kept(name, pool):
    allowed = np.arange(pool.n) % 2 == 0
    queries = STRATEGIES[name].select(replace(pool, allowed=allowed), 10, rng())
    assert all(allowed[query.node] for query in queries)


def test_unsure_nodes_are_not_asked_again(pool):
    best = int(pool.open[0])
    labels = replace(pool.labels, unsure=np.array([best]))
    assert best not in replace(pool, labels=labels).open


def test_top_follows_the_scores(pool):
    queries = STRATEGIES["top"].select(replace(pool, near_duplicates=True), 5, rng())
    assert [query.node for query in queries] == pool.open[:5].tolist()
    assert queries[0].reason.startswith("rank ")


def test_uncertainty_asks_at_the_border(pool):
    border = border_percentile(pool)
    chosen = [query.node for query in STRATEGIES["uncertainty"].select(pool, 10, rng())]
    away = np.abs(percentile_ranks(pool.scores) - border)
    assert away[chosen].max() < np.median(away[pool.open])


def test_without_labels_of_both_kinds_the_border_is_called_assumed(pool):
    for labels, words in ((pool.labels, "between normal and anomalous"), (Labels.none(), "assumed")):
        queries = STRATEGIES["uncertainty"].select(replace(pool, labels=labels), 5, rng())
        assert all(words in query.reason for query in queries)
    one_kind = Labels(pool.labels.normal, pool.labels.anomalous[:0])
    queries = STRATEGIES["uncertainty"].select(replace(pool, labels=one_kind), 5, rng())
    assert {query.reason for query in queries} == {"at the assumed border (top 5 %)"}


def test_bisection_halves_the_stretch_between_anomalous_and_normal():
    scores = np.arange(1000.0)[::-1]
    pool = Pool(scores=scores, labels=Labels(np.array([600]), np.array([3])))
    first = STRATEGIES["bisection"].select(pool, 3, rng())[0]
    assert 3 < first.node < 600
    assert abs(first.node + 1 - np.sqrt(4 * 601)) < 2
    nodes = [query.node for query in STRATEGIES["bisection"].select(pool, 8, rng())]
    assert all(3 < node < 600 for node in nodes)


def test_ring_asks_around_confirmed_anomalies(pool, planted):
    graph, _ = planted
    around = set(graph.adjacency[pool.labels.anomalous].indices.tolist())
    queries = STRATEGIES["ring"].select(pool, 10, rng())
    assert queries
    assert all(query.node in around for query in queries)
    assert "confirmed anomal" in queries[0].reason


def test_medoids_are_spread_over_the_groups():
    rng_ = np.random.default_rng(0)
    centres = 10 * np.eye(5, dtype=np.float32)
    space = np.repeat(centres, 40, axis=0) + rng_.normal(0, 0.3, (200, 5)).astype(np.float32)
    nodes, sizes = medoids(space, 5, seed=0)
    assert sorted(int(node) // 40 for node in nodes) == [0, 1, 2, 3, 4]
    assert sizes.sum() == 200


def test_default_follows_the_ranking_while_it_hits(pool):
    hits = pool.labels.anomalous.tolist()
    misses = pool.labels.normal[:8].tolist()
    default = GreedyDiverse()
    assert default.window(replace(pool, recent=hits)) == BATCH
    assert default.window(replace(pool, recent=misses)) > BATCH
    assert default.window(replace(pool, recent=misses, dial=0.0)) == BATCH
    follow = replace(pool, recent=hits, near_duplicates=True)
    assert [q.node for q in default.select(follow, BATCH, rng())] == pool.open[:BATCH].tolist()


def test_a_case_does_not_hang_on_how_many_are_asked_for(pool):
    missing = replace(pool, recent=pool.labels.normal[:8].tolist())
    default = GreedyDiverse()
    assert default.window(missing) > BATCH
    longest = [q.node for q in default.select(missing, 3 * BATCH, rng())]
    assert [q.node for q in default.select(missing, BATCH + 4, rng())] == longest[: BATCH + 4]


def kinds(queries):
    """T: typical of a group, R: rank alone, U: unlike the cases so far."""
    found = {"typical of a group": "T", "rank ": "R", "ranks high and is unlike all cases so far": "U"}
    return "".join(next(kind for text, kind in found.items() if q.reason.startswith(text)) for q in queries)


@pytest.mark.parametrize(
    ("asked", "expected"),
    [(0, "RRRRTTTTTRTR"), (2, "RRTTTTTUTUTU"), (TRIAL, "TTTTTUTUTUTU"), (BATCH, "TUTUTUTUTUTU")],
)
def test_default_tries_the_ranking_then_medoids_then_both_in_turns(pool, asked, expected):
    misses = [int(v) for v in pool.open[len(pool.open) - asked :]]
    labels = Labels(np.array(misses, dtype=np.int64), np.array([], dtype=np.int64))
    cold = replace(pool, labels=labels, cold=True, recent=misses)
    assert kinds(GreedyDiverse().select(cold, len(expected), rng())) == expected


@pytest.mark.parametrize(
    ("said", "followed"),
    [("aann", True), ("annn", False), ("aa", False), ("aannn", True), ("nnnnaa", False)],
)
def test_default_follows_a_cold_ranking_if_half_of_its_first_cases_hit(pool, said, followed):
    top = [int(v) for v in pool.open[: len(said)]]
    normal, anomalous = ([v for v, word in zip(top, said) if word == which] for which in "na")
    labels = Labels(np.array(normal, dtype=np.int64), np.array(anomalous, dtype=np.int64))
    cold = replace(pool, labels=labels, cold=True, recent=top, near_duplicates=True)
    queries = GreedyDiverse().select(cold, BATCH, rng())
    assert (kinds(queries) == "R" * BATCH) == followed
    assert ([query.node for query in queries] == cold.open[:BATCH].tolist()) == followed


@pytest.mark.parametrize("name", [name for name in STRATEGIES if name not in ("audit", "again")])
@pytest.mark.parametrize("cold", [False, True])
def test_batch_holds_no_near_duplicates_unless_asked(name, cold):
    """Eighty nodes on top look the same, far more than a batch of ten can hold."""
    space = np.random.default_rng(0).normal(size=(200, 4)).astype(np.float32)
    space[:80] = space[0]
    links = sp.csr_array(
        (np.ones(120), (np.full(120, 199), np.r_[np.arange(60), np.arange(100, 160)])), (200, 200)
    )
    pool = Pool(
        scores=-np.arange(200.0),
        basis=space,
        labels=Labels(np.array([198]), np.array([199])),
        adjacency=sp.csr_array(links + links.T),
        cold=cold,
    )
    queries = STRATEGIES[name].select(pool, BATCH, rng())
    assert len(queries) == BATCH
    assert sum(query.node < 80 for query in queries) <= 1
    asked = STRATEGIES[name].select(replace(pool, near_duplicates=True), BATCH, rng())
    assert sum(query.node < 80 for query in asked) > 1 or name in ("medoids", "uncertainty") or cold


def test_a_batch_that_is_full_cannot_be_begun():
    with pytest.raises(ValueError, match="no place left"):
        Pool(scores=np.zeros(30), begun=range(BATCH))


def test_what_looks_the_same_waits_for_the_next_batch():
    space = np.random.default_rng(0).normal(size=(60, 4)).astype(np.float32)
    space[1] = space[0]
    queries = STRATEGIES["top"].select(Pool(scores=-np.arange(60.0), basis=space), 2 * BATCH, rng())
    assert [query.node for query in queries] == [0, *range(2, BATCH + 1), 1, *range(BATCH + 1, 2 * BATCH)]


def test_near_duplicates_fill_up_when_there_is_nothing_else():
    assert distinct(np.zeros((5, 2), np.float32), np.arange(5), 5, 0).tolist() == [0, 1, 2, 3, 4]


def test_farthest_first_starts_with_the_best_and_goes_far():
    space = np.array([[0.0], [0.1], [5.0], [9.0]], dtype=np.float32)
    assert farthest_first(space, np.arange(4), np.zeros(0, np.int64), 3) == [0, 3, 2]


def test_audit_draws_every_stratum_with_its_probability():
    pool = Pool(scores=np.arange(4000.0))
    drawn = [
        q for seed in range(40) for q in STRATEGIES["audit"].select(pool, 10, np.random.default_rng(seed))
    ]
    layers = [set(layer.tolist()) for layer in strata(pool.open)]
    share = [np.mean([q.node in layer for q in drawn]) for layer in layers]
    assert np.allclose(share, [0.2, 0.3, 0.5], atol=0.08)
    for query in drawn[:20]:
        h = next(i for i, layer in enumerate(layers) if query.node in layer)
        assert query.inclusion_probability == pytest.approx((0.2, 0.3, 0.5)[h] / len(layers[h]))


def test_queue_mixes_audit_cases_in_about_their_share(pool):
    shares = []
    for seed in range(30):
        queue = queue_order(pool, "top", 40, np.random.default_rng(seed))
        assert len({query.node for query in queue}) == len(queue) == 40
        shares.append(np.mean([query.inclusion_probability is not None for query in queue]))
    assert np.mean(shares) == pytest.approx(AUDIT_SHARE, rel=0.15)
    assert not any(q.inclusion_probability for q in queue_order(pool, "top", 40, rng(), audit_share=0.0))


@pytest.mark.parametrize(("nodes", "expected"), [(5, range(0, 2)), (60, range(9, 10))])
def test_audit_slots_follow_the_nodes_that_there_are(nodes, expected):
    queue = queue_order(Pool(scores=np.arange(float(nodes))), "top", 400, rng())
    assert len(queue) == nodes
    assert sum(query.inclusion_probability is not None for query in queue) in expected


def test_what_waits_in_the_queue_comes_again_only_if_it_is_drawn(pool):
    waiting = {query.node for query in queue_order(pool, "top", 60, rng())}
    more = queue_order(pool, "top", 100, np.random.default_rng(3), waiting=waiting)
    assert len(more) == 100
    assert sum(query.inclusion_probability is not None for query in more) == 15
    assert all(query.inclusion_probability for query in more if query.node in waiting)
    more = queue_order(pool, "audit", 100, np.random.default_rng(3), waiting=waiting)
    assert not waiting & {query.node for query in more}


def test_unknown_strategy_is_named_with_those_there_are(pool):
    with pytest.raises(GadError, match="greedy-diverse"):
        queue_order(pool, "best", 5)
    assert find_strategy("top").title


def test_basis_has_unit_rows_and_keeps_communities_apart(planted):
    graph, y = planted
    basis = diversity_basis(graph, rank=8)
    assert basis.shape == (graph.n_nodes, 8)
    assert np.allclose(np.linalg.norm(basis, axis=1), 1.0, atol=1e-4)
    like = basis @ basis.T
    assert like[np.ix_(y == 1, y == 1)].mean() > like[np.ix_(y == 1, y == 0)].mean()
    assert np.array_equal(basis, diversity_basis(graph, rank=8))


def test_basis_without_attributes():
    graph = make_graph(range(30), np.random.default_rng(0).integers(0, 30, (2, 60)))
    assert diversity_basis(graph).shape == (30, 30)


def test_default_finds_far_more_than_random_on_a_planted_graph(planted):
    graph, y = planted
    found = {}
    for name in ("greedy-diverse", "random"):
        found[name] = np.mean([simulated(graph, y, name, seed) for seed in range(4)])
    assert found["greedy-diverse"] > 2.5 * found["random"]


def simulated(graph, y, name: str, seed: int) -> int:
    """Anomalies found in 60 labels, batches of 10, with a nearest-mean ranking on the basis."""
    basis, rng_ = diversity_basis(graph), np.random.default_rng(seed)
    asked: list[int] = []
    for _ in range(6):
        labels = Labels.from_indices(graph, [v for v in asked if y[v] == 0], [v for v in asked if y[v] == 1])
        cold = not len(labels.normal) or not len(labels.anomalous)
        scores = (
            np.zeros(graph.n_nodes)
            if cold
            else basis @ (basis[labels.anomalous].mean(axis=0) - basis[labels.normal].mean(axis=0))
        )
        pool = Pool(scores=scores, labels=labels, basis=basis, cold=cold, seed=seed, recent=asked)
        if name == "random":
            asked += rng_.permutation(pool.open)[:10].tolist()
        else:
            asked += [query.node for query in queue_order(pool, name, 10, rng_)]
    return int(y[asked].sum())


@pytest.mark.parametrize("name", ["greedy-diverse", "top", "uncertainty"])
def test_a_batch_that_was_begun_is_completed_without_near_duplicates(name, planted):
    """Groups of four equal nodes: what was just asked is not asked again in the same batch."""
    space = np.repeat(np.random.default_rng(0).normal(size=(75, 8)), 4, axis=0).astype(np.float32)
    space /= np.linalg.norm(space, axis=1, keepdims=True)
    whole = Pool(scores=np.linspace(1, 0, 300), basis=space)
    asked = [query.node for query in STRATEGIES[name].select(whole, 3, rng())]
    labels = Labels.from_indices(planted[0], normal=sorted(asked))
    pool = Pool(scores=whole.scores, labels=labels, basis=space, begun=asked)
    rest = [query.node for query in STRATEGIES[name].select(pool, 7, rng())]
    groups = [node // 4 for node in [*asked, *rest]]
    assert len(set(groups)) == 10


def test_equal_nodes_are_near_duplicates_where_most_nodes_are_equal():
    space = np.zeros((100, 4), dtype=np.float32)
    space[:, 0] = 1
    space[90:, 0], space[90:, 1:4] = 0, np.random.default_rng(0).normal(size=(10, 3))
    chosen = distinct(space, np.arange(100), 5, seed=0)
    assert sum(node < 90 for node in chosen) == 1


def test_a_stored_preference_for_a_strategy_of_old_means_the_default():
    assert [preferred_strategy(name) for name in ("top", "disagreement", None)] == ["top", DEFAULT, DEFAULT]


def test_facts_of_strategies():
    def those(fact):
        return {name for name, strategy in STRATEGIES.items() if getattr(strategy, fact)}

    assert those("asks_by_score") == {"greedy-diverse", "top", "audit"}
    assert those("asks_around_anomalies") == {"ring"}
    assert those("is_random_check") == {"audit"}
    assert those("groups") == {"medoids"}


def changed(node: int, **facts) -> Changed:
    return Changed(**{"node": node, "links": 0, "links_before": 20, "rank_before": 0, "news": "n", **facts})


def test_again_asks_about_judged_cases_whose_rank_moved_against_the_verdict():
    pool = Pool(scores=-np.arange(1000.0), labels=Labels(np.array([11, 500]), np.array([12, 600])))
    pool = replace(
        pool,
        changed=[
            changed(11, rank_before=900),  # normal, and risen to rank 12
            changed(12, rank_before=900),  # anomalous, and risen: as was said
            changed(500, rank_before=520),  # hardly moved
            changed(600, rank_before=100),  # anomalous, and fallen
        ],
    )
    queries = STRATEGIES["again"].select(pool, 10, rng())
    assert [query.node for query in queries] == [11, 600]
    assert queue_order(pool, "again", 1, rng()) == queries[:1]
    nearly = replace(pool, scores=-np.arange(1000.0), changed=[changed(11, rank_before=21)])
    assert STRATEGIES["again"].select(nearly, 10, rng()) == []  # less than one in a hundred nodes


def test_again_asks_about_judged_cases_with_many_new_links():
    pool = Pool(scores=-np.arange(100.0), labels=Labels(np.arange(4), np.array([], dtype=np.int64)))
    cases = [
        changed(0, links=9),
        changed(1, links=10),
        changed(2, links=4, links_before=1),
        changed(3, links=41, news="41 payments since"),
    ]
    queries = STRATEGIES["again"].select(replace(pool, changed=cases), 10, rng())
    assert [(query.node, query.reason) for query in queries] == [(3, "41 payments since"), (1, "n")]


def test_again_asks_when_everything_is_judged():
    pool = Pool(scores=-np.arange(10.0), labels=Labels(np.arange(5), np.arange(5, 10)))
    again = replace(pool, changed=[changed(3, links=30)])
    assert [query.node for query in queue_order(again, "again", 5, rng())] == [3]
