"""Simulated analysts: honest counts, a held-out part that stays unseen, strategies that beat chance."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest
from probe_detector import register, unregister

from gadcore.detectors.arrays import propagate
from gadcore.errors import GadError, LabelError
from gadcore.graph import Truth
from gadcore.metrics import ranks
from gadcore.studies.sessions import SESSION_STRATEGIES, simulate

CHEAP = "sgc-lr"


@pytest.fixture(scope="module")
def truth(planted) -> Truth:
    return Truth(planted[1])


def test_counts_add_up_and_no_node_is_asked_twice(planted, truth) -> None:
    session = simulate(planted[0], truth, model=CHEAP, labels=45, batch=10)
    assert [step.labels for step in session.steps] == [0, 10, 20, 30, 40, 45]
    assert len(set(session.asked)) == len(session.asked) == len(session.verdicts) == 45
    assert session.steps[-1].found == int(truth.y[session.asked].sum()) == sum(session.verdicts)
    found = [step.found for step in session.steps]
    assert found == sorted(found)
    assert found[-1] <= session.anomalies
    assert set(session.inclusion) <= set(session.asked)


@pytest.mark.parametrize("strategy", SESSION_STRATEGIES)
def test_the_held_out_part_is_never_asked(planted, truth, strategy) -> None:
    session = simulate(planted[0], truth, strategy, model="label-propagation", labels=60)
    assert not set(session.asked) & set(session.held_out.tolist())
    assert len(session.held_out) == 60
    assert session.anomalies == 24
    assert len(session.asked) == 60


def test_nodes_of_unknown_truth_are_never_asked(planted) -> None:
    y = planted[1].copy()
    y[:100] = -1
    session = simulate(planted[0], Truth(y), "random", model="label-propagation", labels=500, batch=100)
    assert min(session.asked) >= 100
    assert len(session.asked) + len(session.held_out) == 200
    assert session.steps[-1].found == session.anomalies


def test_the_default_finds_more_than_chance_and_learns(planted, truth) -> None:
    def found(strategy: str) -> int:
        runs = [simulate(planted[0], truth, strategy, model=CHEAP, labels=60, seed=s) for s in range(3)]
        return sum(run.steps[-1].found for run in runs)

    assert found("greedy-diverse") > 1.5 * found("random")
    last = simulate(planted[0], truth, model=CHEAP, labels=60).steps[-1]
    assert last.auc > 0.8
    assert 0 < last.ap <= 1


@pytest.fixture
def by_degree(planted) -> Iterator[Callable[[bool], Truth]]:
    """Truth where the ``probe`` model, which ranks by degree, is right or wrong of all."""
    register()
    rank = ranks(planted[0].degree.astype(float))
    yield lambda right: Truth(((rank <= 60) if right else (rank > 240)).astype(np.int8))
    unregister()


@pytest.mark.parametrize("right", [True, False])
def test_the_default_follows_a_ranking_without_labels_within_the_batch_if_it_hits(planted, by_degree, right):
    truth = by_degree(right)
    ranked = simulate(planted[0], truth, "top", model="probe", labels=1, seed=1)
    session = simulate(planted[0], truth, "unchecked", model="probe", labels=10, seed=1)
    open_ = np.setdiff1d(np.arange(300), session.held_out)
    top = open_[np.argsort(-planted[0].degree[open_], kind="stable")]
    assert ranked.asked[0] == session.asked[0]
    assert (session.verdicts == [1] * 10) == right
    assert (len(set(session.asked) & set(top[:20].tolist())) == 10) == right


@pytest.mark.parametrize("right", [True, False])
def test_what_the_default_follows_leaves_random_checks_their_places(planted, by_degree, right) -> None:
    truth = by_degree(right)
    places = [
        [place for place, node in enumerate(session.asked) if node in session.inclusion]
        for session in (
            simulate(planted[0], truth, name, model="probe", labels=10, seed=0)
            for name in ("greedy-diverse", "uncertainty")
        )
    ]
    assert places[0] == places[1] != []


def test_batches_may_be_longer_than_those_of_the_queue(planted, by_degree) -> None:
    session = simulate(planted[0], by_degree(True), "unchecked", model="probe", labels=40, batch=20, seed=1)
    assert len(set(session.asked)) == 40


def test_rings_stay_rings_while_the_ranking_is_cold(planted, by_degree) -> None:
    graph, truth = planted[0], by_degree(True)
    session = simulate(graph, truth, "ring", model="isolation-forest", labels=30, seed=0)
    first = session.asked.index(next(v for v, said in zip(session.asked, session.verdicts) if said))
    assert first < 10
    checked = [v for v in session.asked[10:] if v not in session.inclusion]
    near = [
        any(truth.y[u] == 1 and u in session.asked[: session.asked.index(v)] for u in graph.neighbours(v)[0])
        for v in checked
    ]
    assert all(near)


def test_wrong_verdicts_come_at_their_rate(planted, truth) -> None:
    session = simulate(
        planted[0], truth, "random", model="label-propagation", labels=200, batch=100, wrong=0.2, seed=3
    )
    mistakes = np.mean(truth.y[session.asked] != np.array(session.verdicts))
    assert 0.1 < mistakes < 0.3
    confirmed = (truth.y[session.asked] == 1) & (np.array(session.verdicts) == 1)
    assert session.steps[-1].found == int(confirmed.sum())


def test_the_same_seed_gives_the_same_session(planted, truth) -> None:
    one, two, other = (
        simulate(planted[0], truth, "entropy", model=CHEAP, labels=30, seed=seed) for seed in (4, 4, 5)
    )
    assert one.asked == two.asked
    assert one.curve() == two.curve()
    assert one.asked != other.asked


def test_without_both_kinds_of_labels_there_is_no_figure_of_a_model_that_needs_them(planted, truth) -> None:
    first = simulate(planted[0], truth, "random", model=CHEAP, labels=1).steps[0]
    assert first.auc is None
    assert first.ap is None
    ranked = simulate(planted[0], truth, "top", model="isolation-forest", labels=1).steps[0]
    assert ranked.auc is not None


def test_a_session_can_be_ended_after_any_batch(planted, truth) -> None:
    session = simulate(planted[0], truth, model=CHEAP, on_step=lambda step: step.labels >= 20)
    assert len(session.asked) == 20


def test_what_cannot_be_simulated_is_named(planted, truth) -> None:
    with pytest.raises(GadError, match=r"'best'.*greedy-diverse.*random"):
        simulate(planted[0], truth, "best")
    with pytest.raises(GadError, match="0 labels"):
        simulate(planted[0], truth, labels=0)
    with pytest.raises(GadError, match=r"Wrong verdicts 1\.5"):
        simulate(planted[0], truth, wrong=1.5)
    with pytest.raises(LabelError, match="0 anomalous nodes"):
        simulate(planted[0], Truth(np.zeros(300, dtype=np.int8)))


def test_entropy_asks_what_scikit_activeml_would(planted, truth) -> None:
    from skactiveml.classifier import SklearnClassifier
    from skactiveml.pool import UncertaintySampling
    from sklearn.linear_model import LogisticRegression

    graph = planted[0]
    session = simulate(graph, truth, "entropy", model="label-propagation", labels=70)
    asked, chosen = session.asked[:60], session.asked[60:]
    assert 0 < sum(session.verdicts[:60]) < 60
    x = propagate(graph, 1)[1]
    y = np.full(graph.n_nodes, np.nan)
    y[asked] = session.verdicts[:60]
    free = np.setdiff1d(np.flatnonzero(np.isnan(y)), session.held_out)
    model = SklearnClassifier(LogisticRegression(class_weight="balanced", max_iter=1000), classes=[0, 1])
    query = UncertaintySampling(method="entropy", random_state=0)
    theirs = query.query(x, y, clf=model, candidates=free, batch_size=10)
    assert set(chosen) == set(theirs.tolist())


def test_a_model_that_has_no_part_in_the_choice_may_be_fitted_seldom(planted, truth) -> None:
    often, seldom = (
        simulate(planted[0], truth, "random", model="label-propagation", labels=70, seldom=n) for n in (1, 3)
    )
    assert seldom.asked == often.asked
    assert [step.found for step in seldom.steps] == [step.found for step in often.steps]
    known = [step.labels for step in seldom.steps if step.auc is not None]
    assert known == [30, 60, 70]
    assert [step.auc for step in seldom.steps if step.labels in known] == [
        step.auc for step in often.steps if step.labels in known
    ]
    ranked = simulate(planted[0], truth, "top", model="isolation-forest", labels=20, seldom=3)
    assert all(step.auc is not None for step in ranked.steps)
