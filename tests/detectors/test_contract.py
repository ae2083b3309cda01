"""The contract of gadcore.detectors.base, checked on every detector of the registry."""

from __future__ import annotations

from functools import cache
from inspect import signature
from pathlib import Path

import numpy as np
import pytest

from gadcore.detectors import (
    BOTH,
    NORMAL_ONLY,
    REGISTRY,
    Detector,
    detector_class,
    load_detector,
    make_detector,
)
from gadcore.errors import Cancelled, LabelError, ModelError
from gadcore.graph.labels import Labels
from gadcore.metrics import auc

# Short fits: the contract does not depend on their length.
COMMON = {"epochs": 80, "device": "cpu", "threads": 1}
SHORT = {
    "deepwalk": {"length": 20, "walks": 5, "epochs": 1},
    "imverde": {"batches": 20, "epochs": 30},
}
NAMES = list(REGISTRY)


def short(name: str, seed: int = 0) -> Detector:
    known = signature(detector_class(name)).parameters
    params = {**COMMON, **SHORT.get(name, {})}
    return make_detector(name, seed=seed, **{key: value for key, value in params.items() if key in known})


@pytest.fixture(scope="module")
def fitted(planted, planted_labels):
    """One fit of each detector, shared by the tests that only look at it."""

    @cache
    def fit(name: str) -> Detector:
        return short(name).fit(planted[0], planted_labels)

    return fit


@pytest.mark.parametrize("name", NAMES)
def test_registry_names_its_class(name: str) -> None:
    cls = detector_class(name)
    assert cls.name == name
    assert cls.needs == REGISTRY[name].needs
    assert "specs." not in REGISTRY[name].title


@pytest.mark.parametrize("name", NAMES)
def test_scores_and_fitted_attributes(name: str, fitted, planted) -> None:
    detector, n = fitted(name), planted[0].n_nodes
    assert detector.scores_.shape == (n,)
    assert detector.scores_.dtype == np.float32
    assert np.isfinite(detector.scores_).all()
    assert detector.basis_ in ("both labels", "normal labels", "no labels")
    assert isinstance(detector.history_, list)
    if detector.embedding_ is not None:
        assert detector.embedding_.shape[0] == n
        assert np.isfinite(detector.embedding_).all()
    if detector.centre_ is not None:
        assert detector.centre_.shape == (detector.embedding_.shape[1],)
    for each in (detector.out_of_fold_, detector.spread_):
        assert each is None or each.shape == (n,)
    assert detector.auc_ is None or 0.0 <= detector.auc_ <= 1.0


@pytest.mark.parametrize("name", NAMES)
def test_out_of_fold_covers_labels_only(name: str, fitted, planted_labels) -> None:
    held = fitted(name).out_of_fold_
    if held is None:
        pytest.skip("gives no out-of-fold scores")
    assert set(np.flatnonzero(~np.isnan(held))) <= set(planted_labels.indices.tolist())


@pytest.mark.parametrize("name", NAMES)
def test_out_of_fold_is_on_the_scale_of_the_scores(name: str, fitted) -> None:
    detector = fitted(name)
    if detector.out_of_fold_ is None:
        pytest.skip("gives no out-of-fold scores")
    held = detector.out_of_fold_[np.isfinite(detector.out_of_fold_)]
    if name in ("an+", "xgb-graph"):  # percentiles; log-odds of equally many rounds
        assert detector.scores_.min() - 1 <= held.min() <= held.max() <= detector.scores_.max() + 1
    else:
        assert np.isin(held, detector.scores_).all()


# A dense group is easy to reconstruct: test_dominant.py has what that method looks for.
@pytest.mark.parametrize("name", [name for name in NAMES if name != "dominant"])
def test_planted_anomalies_rank_above_chance(name: str, fitted, planted, planted_labels) -> None:
    graph, y = planted
    rest = np.setdiff1d(np.arange(graph.n_nodes), planted_labels.indices)
    least = 0.75 if REGISTRY[name].needs == BOTH else 0.5
    assert auc(y[rest], fitted(name).scores_[rest]) > least


@pytest.mark.parametrize("name", NAMES)
def test_same_seed_same_scores_whatever_the_global_seeds(name: str, fitted, planted, planted_labels) -> None:
    graph, _ = planted
    expected = fitted(name).scores_
    x, weights, nodes = graph.x.copy(), graph.adjacency.data.copy(), planted_labels.indices.copy()
    np.random.seed(5)
    detector = short(name)
    before = dict(detector.get_params())
    assert detector.fit(graph, planted_labels) is detector
    np.testing.assert_array_equal(detector.scores_, expected)
    assert detector.get_params() == before
    np.testing.assert_array_equal(graph.x, x)
    np.testing.assert_array_equal(graph.adjacency.data, weights)
    np.testing.assert_array_equal(planted_labels.indices, nodes)


@pytest.mark.parametrize("name", NAMES)
def test_weights_of_one_change_nothing_and_smaller_ones_count(name, fitted, planted, planted_labels) -> None:
    graph, expected = planted[0], fitted(name).scores_
    parts = (planted_labels.normal, planted_labels.anomalous)
    if name in ("an", "an+", "sgc-lr"):
        ones = Labels(*parts, weight=dict.fromkeys(planted_labels.indices.tolist(), 1.0))
        np.testing.assert_array_equal(short(name).fit(graph, ones).scores_, expected)
    lighter = dict.fromkeys([*parts[0][:5].tolist(), *parts[1][:3].tolist()], 0.1)
    weighted = short(name).fit(graph, Labels(*parts, weight=lighter)).scores_
    unlabelled = ("dominant", "isolation-forest")  # learn from no label
    assert np.array_equal(weighted, expected) == (name in unlabelled)
    assert np.isfinite(weighted).all()


@pytest.mark.parametrize("name", NAMES)
def test_cancel_stops_the_fit(name: str, planted, planted_labels) -> None:
    calls = []

    def stop(progress) -> bool:
        calls.append(progress)
        return True

    with pytest.raises(Cancelled):
        short(name).fit(planted[0], planted_labels, on_epoch=stop)
    assert len(calls) == 1


@pytest.mark.parametrize("name", NAMES)
def test_saved_and_loaded_gives_equal_scores(name: str, fitted, planted, tmp_path: Path) -> None:
    detector = fitted(name)
    detector.save(tmp_path)
    assert {p.suffix for p in tmp_path.rglob("*") if p.is_file()} <= {".json", ".safetensors"}
    loaded = load_detector(tmp_path)
    assert type(loaded) is type(detector)
    assert loaded.get_params() == detector.get_params()
    np.testing.assert_array_equal(loaded.scores_, detector.scores_)
    try:
        again = loaded.score_new(planted[0])
    except ModelError as error:
        assert "Retrain" in str(error)  # noqa: PT017
    else:
        np.testing.assert_allclose(again, detector.scores_, rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("name", NAMES)
def test_insufficient_labels_are_told_or_not_needed(name: str, planted, planted_labels) -> None:
    graph, needs = planted[0], REGISTRY[name].needs
    none, normal = Labels.none(), Labels.from_indices(graph, normal=planted_labels.normal)
    for labels, refused in ((none, needs in (BOTH, NORMAL_ONLY)), (normal, needs == BOTH)):
        if refused:
            with pytest.raises(LabelError, match="needs at least one"):
                short(name).fit(graph, labels)
        else:
            assert np.isfinite(short(name).fit(graph, labels).scores_).all()


@pytest.mark.parametrize("name", NAMES)
def test_validation_labels_are_accepted(name: str, planted, planted_labels) -> None:
    graph, y = planted
    held = np.setdiff1d(np.arange(graph.n_nodes), planted_labels.indices)[:60]
    validation = Labels.from_indices(graph, normal=held[y[held] == 0], anomalous=held[y[held] == 1])
    assert np.isfinite(short(name).fit(graph, planted_labels, validation=validation).scores_).all()
