"""The bundled demo: what was committed is what the script makes, and a fair test."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from gadcore.detectors import make_detector
from gadcore.graph.labels import Labels
from gadcore.ingest import read
from gadcore.metrics import auc
from gadcore.settings import DEMO_FOLDER

DATA = Path(__file__).resolve().parent.parent / "data"


@pytest.fixture(scope="module")
def accounts() -> pd.DataFrame:
    return pd.read_csv(DEMO_FOLDER / "accounts.csv", keep_default_na=False)


@pytest.fixture(scope="module")
def reading():
    return read(DEMO_FOLDER)


def test_script_makes_the_committed_files(tmp_path):
    code = (
        "import sys; from pathlib import Path; sys.path.insert(0, sys.argv[1]); import make_demo;"
        "make_demo.FOLDER = Path(sys.argv[2]); make_demo.main()"
    )
    subprocess.run([sys.executable, "-c", code, str(DATA), str(tmp_path)], check=True, capture_output=True)
    for name in ("accounts.csv", "transfers.csv", "mapping.json"):
        assert (tmp_path / name).read_bytes() == (DEMO_FOLDER / name).read_bytes(), name


def test_it_is_found_by_name_from_any_folder(reading, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    found = read("demo")
    assert found.graph.fingerprint == reading.graph.fingerprint
    assert (
        (found.graph.name, found.report.source)
        == (reading.graph.name, reading.report.source)
        == ("demo", "demo")
    )


def test_files_are_small(accounts):
    assert sum(path.stat().st_size for path in (DEMO_FOLDER).iterdir()) < 2_100_000
    assert accounts["account_id"].is_unique
    assert 3500 <= len(accounts) <= 4500


def test_every_transfer_is_a_dated_row(reading):
    links = reading.graph.links
    assert 35_000 <= len(links) <= 45_000
    assert np.isfinite(links.time).all()
    assert (links.amount > 0).all()
    assert set(links.meaning.kinds) == {"app", "card", "web", "batch", "order"}
    assert (links.meaning.word, links.meaning.unit) == ("transfer", "EUR")


def test_fraud_is_rare_and_of_every_kind(accounts):
    share = accounts["is_fraud"].mean()
    assert 0.03 <= share <= 0.04
    kinds = set(accounts.loc[accounts["is_fraud"] == 1, "fraud_kind"])
    assert kinds == {"mule ring", "shared device", "bust-out", "takeover", "camouflaged"}
    assert (accounts.loc[accounts["is_fraud"] == 0, "fraud_kind"] == "").all()


def test_answers_are_kept_from_models_and_people(reading):
    mapping = json.loads((DEMO_FOLDER / "mapping.json").read_text())
    assert mapping["truth"] == "is_fraud"
    seen = set(reading.graph.feature_columns) | set(reading.graph.node_table.columns)
    assert not seen & {"is_fraud", "fraud_kind"}
    assert reading.truth is not None
    assert reading.graph.label_column == "name"


def test_number_of_links_does_not_give_fraud_away(reading):
    y = reading.truth.y
    links = np.diff(reading.graph.adjacency.indptr)
    assert 0.35 < auc(y, links.astype(float)) < 0.7


def test_no_single_column_of_the_links_gives_fraud_away(reading):
    table, names = reading.graph.node_table, reading.graph.derived
    found = {name: auc(reading.truth.y, table[name].fillna(0).to_numpy(float)) for name in names}
    assert {name: value for name, value in found.items() if not 0.25 < value < 0.75} == {}


def test_graph_model_is_clearly_ahead_of_attributes_alone(reading):
    graph, y = reading.graph, reading.truth.y
    ahead = []
    for seed in range(3):
        chosen = np.random.default_rng(seed).choice(graph.n_nodes, graph.n_nodes // 20, replace=False)
        labels = Labels.from_indices(graph, normal=chosen[y[chosen] == 0], anomalous=chosen[y[chosen] == 1])
        rest = np.setdiff1d(np.arange(graph.n_nodes), chosen)
        on_graph = make_detector("sgc-lr").fit(graph, labels).scores_[rest]
        alone = make_detector("sgc-lr", max_hops=0).fit(graph, labels).scores_[rest]
        ahead.append(auc(y[rest], on_graph) - auc(y[rest], alone))
    assert np.mean(ahead) > 0.05
