"""What an explanation says in words, what it compares with, and what it imports."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from gadcore.explain.columns import Columns
from gadcore.explain.sentences import attribute_sentence, columns_of, verdict_sentence
from gadcore.graph import make_graph
from gadcore.ingest import read_graph
from gadcore.similar import nearest


def test_columns_place_numbers_and_values_among_peers():
    table = pd.DataFrame({"amount": [1.0, 2.0, 3.0, None], "country": ["FR", "FR", "DE", "FR"]})
    graph = make_graph("abcd", np.array([[0], [1]]), np.zeros((4, 1)), node_table=table)
    amount, country = Columns(graph).of(2)
    assert (amount.value, round(amount.percentile)) == ("3", 83)
    assert (country.value, country.share) == ("DE", 25.0)
    assert Columns(graph).of(3)[0].percentile is None


def test_sentences_name_what_stands_out():
    table = pd.DataFrame({"cash_share": np.arange(100.0)})
    graph = make_graph(range(100), np.zeros((2, 0)), np.zeros((100, 1)), node_table=table)
    columns = Columns(graph)
    assert attribute_sentence(columns.attribute("cash_share", 97)) == "cash share 97: top 2 % of nodes"
    assert attribute_sentence(columns.attribute("cash_share", 50)) is None
    assert verdict_sentence(3, 4, 7) == "3 of 7 neighbours marked anomalous"
    assert verdict_sentence(0, 1, 7) is None


def test_nearest_nodes_by_distance_and_angle():
    h = np.array([[0.0, 1.0], [0.0, 1.1], [5.0, 5.0], [0.0, 9.0]])
    assert nearest(h, 0, 2) == [1, 2]
    assert nearest(h, 0, 2, metric="cosine") == [1, 3]
    assert nearest(h, 0, 5, among=np.array([0, 3])) == [3]


def test_explaining_imports_no_heavy_module():
    code = (
        "import sys, gadcore.explain, gadcore.queries, gadcore.similar, gadcore.layout;"
        "print([m for m in ('torch', 'sklearn', 'umap', 'xgboost', 'openTSNE') if m in sys.modules])"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"


def test_dates_stand_by_time_and_names_are_not_worth_a_sentence(tmp_path: Path) -> None:
    days = pd.date_range("2020-01-01", periods=80).strftime("%Y-%m-%d")
    table = pd.DataFrame({"id": [f"a{i}" for i in range(80)], "opened": days, "n": range(80)})
    table.to_csv(tmp_path / "nodes.csv", index=False)
    pd.DataFrame({"source": ["a0"], "target": ["a1"]}).to_csv(tmp_path / "edges.csv", index=False)
    columns = columns_of(read_graph(tmp_path))
    newest = columns.attribute("opened", 79)
    assert newest.percentile == pytest.approx(100 * 79.5 / 80)
    assert newest.share is None
    assert attribute_sentence(newest, date=True) == "opened 2020-03-20: latest 0.6 % of nodes"


def test_graphs_that_differ_in_raw_columns_alone_do_not_share_them() -> None:
    edges = np.array([[0], [1]])
    one = make_graph("ab", edges, np.eye(2), node_table=pd.DataFrame({"city": ["Rome", "Oslo"]}))
    two = make_graph("ab", edges, np.eye(2), node_table=pd.DataFrame({"city": ["Bonn", "Kyiv"]}))
    assert one.fingerprint == two.fingerprint
    assert [columns_of(g).attribute("city", 0).value for g in (one, two)] == ["Rome", "Bonn"]
