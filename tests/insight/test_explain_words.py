"""What an explanation says in words, what it compares with, and what it imports."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from gadcore.graph import make_graph
from gadcore.ingest import read_graph
from gadcore.insight.explain.columns import Columns
from gadcore.insight.explain.link_sentences import derived_sentence
from gadcore.insight.explain.sentences import (
    attribute_sentence,
    columns_of,
    node_sentences,
    raising,
    standing_text,
    telling_attributes,
    tendency,
    verdict_sentence,
)
from gadcore.insight.similar import nearest


def test_columns_place_numbers_and_values_among_peers():
    table = pd.DataFrame({"amount": [1.0, 2.0, 3.0, None], "country": ["FR", "FR", "DE", "FR"]})
    graph = make_graph("abcd", np.array([[0], [1]]), np.zeros((4, 1)), node_table=table)
    amount, country = Columns(graph).of(2)
    assert (amount.value, round(amount.percentile)) == ("3", 83)
    assert (country.value, country.share) == ("DE", 25.0)
    assert Columns(graph).of(3)[0].percentile is None


def numbers(values) -> Columns:
    """The columns of a graph whose nodes have these values."""
    table = pd.DataFrame({"cash_share": np.asarray(values, dtype=float)})
    graph = make_graph(range(len(table)), np.zeros((2, 0)), np.zeros((len(table), 1)), node_table=table)
    return Columns(graph)


def sentence(columns: Columns, node: int) -> str | None:
    return attribute_sentence(columns.attribute("cash_share", node), columns.standing("cash_share", node))


def test_sentences_name_what_stands_out():
    columns = numbers(np.arange(100))
    assert sentence(columns, 97) == "cash share 97: top 3 % of nodes"
    assert sentence(columns, 2) == "cash share 2: lowest 3 % of nodes"
    assert sentence(columns, 50) is None
    assert sentence(numbers(np.arange(200)), 199) == "cash share 199: top 0.5 % of nodes"
    assert sentence(numbers(np.arange(5000)), 4999) == "cash share 4999: top 0.1 % of nodes"
    assert verdict_sentence(3, 4, 7) == "3 of 7 neighbours marked anomalous"
    assert verdict_sentence(0, 1, 7) is None


def test_equal_values_are_counted_in_full_by_sentences():
    columns = numbers([1.0] * 38 + [0.0] * 162)
    assert sentence(columns, 0) is None  # 19 % have it: half of them would look like the top tenth
    assert sentence(columns, 199) is None
    few = numbers([1.0] * 14 + [0.0] * 86)
    assert sentence(few, 0) is None
    assert sentence(numbers([1.0] * 8 + [0.0] * 92), 0) == "cash share 1: top 8 % of nodes"
    assert sentence(numbers([1.0] * 92 + [0.0] * 8), 99) == "cash share 0: lowest 8 % of nodes"


@pytest.mark.parametrize(
    ("values", "node", "words"),
    [
        ([1.0] * 38 + [0.0] * 162, 0, "higher than 81 % of nodes"),
        ([1.0] * 38 + [0.0] * 162, 199, "the median, as of 81 % of nodes"),
        (range(300), 8, "lowest 3 % of nodes"),
        (range(300), 299, "higher than 99.7 % of nodes"),
        (range(5000), 4999, "higher than 99.9 % of nodes"),
        (range(5000), 0, "lowest 0.1 % of nodes"),
        (range(301), 150, "the median"),
    ],
)
def test_a_standing_is_said_from_its_own_end(values, node, words):
    assert standing_text(numbers(values).standing("cash_share", node)) == words


def test_attributes_without_raw_columns_stand_by_the_same_rule():
    x = np.array([[1.0]] * 38 + [[0.5]] * 162)
    graph = make_graph(range(200), np.zeros((2, 0)), x, feature_names=["cash"])
    assert telling_attributes(graph, 0, np.array([0]), 1) == []
    x = np.array([[1.0]] * 8 + [[0.5]] * 192)
    graph = make_graph(range(200), np.zeros((2, 0)), x, feature_names=["cash"])
    assert telling_attributes(graph, 0, np.array([0]), 1) == ["cash 1: top 4 % of nodes"]


def test_nearest_nodes_by_distance():
    h = np.array([[0.0, 1.0], [0.0, 1.1], [5.0, 5.0], [0.0, 9.0]])
    assert nearest(h, 0, 2) == [1, 2]
    assert nearest(h, 0, 5, among=np.array([0, 3])) == [3]


def test_explaining_imports_no_heavy_module():
    code = (
        "import sys, gadcore.insight.explain, gadcore.loop.strategies;"
        "import gadcore.insight.similar, gadcore.insight.layout;"
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
    standing = columns.standing("opened", 79)
    assert attribute_sentence(newest, standing, date=True) == "opened 2020-03-20: latest 1 % of nodes"
    assert standing_text(standing, date=True) == "later than 98.8 % of nodes"


def test_graphs_that_differ_in_raw_columns_alone_do_not_share_them() -> None:
    edges = np.array([[0], [1]])
    one = make_graph("ab", edges, np.eye(2), node_table=pd.DataFrame({"city": ["Rome", "Oslo"]}))
    two = make_graph("ab", edges, np.eye(2), node_table=pd.DataFrame({"city": ["Bonn", "Kyiv"]}))
    assert one.fingerprint == two.fingerprint
    assert [columns_of(g).attribute("city", 0).value for g in (one, two)] == ["Rome", "Bonn"]


def test_only_columns_that_raise_the_score_as_a_whole_are_told(planted):
    """A value that a node lacks may count for it while the one that it has counts more against it."""
    graph = replace(planted[0], feature_columns=("city", "city", *planted[0].feature_columns[2:]))
    values = np.zeros(graph.n_features)
    values[:4] = 0.5, -0.9, 0.1, 0.2
    assert raising(graph, values).tolist() == [3, 2]
    values[1] = -0.1
    assert raising(graph, values).tolist() == [0, 3, 2]


def test_sentences_of_the_queue_leave_out_columns_that_speak_for_a_low_score():
    x = np.eye(3, dtype=np.float32)[np.r_[np.zeros(2), np.ones(5), np.full(93, 2)].astype(int)]
    graph = make_graph(range(100), np.zeros((2, 0), dtype=np.int64), x)
    graph = replace(
        graph,
        feature_columns=("city",) * 3,
        node_table=pd.DataFrame({"city": np.array(["Rome", "Oslo", "Lima"])[x.argmax(axis=1)]}),
    )
    scores = np.r_[np.zeros(2), np.ones(5), np.full(93, 0.5)]
    told = [node_sentences(graph, node, tendency(graph, scores), {})[0] for node in (0, 3)]
    assert told == ["no neighbours", "city Oslo: only 5 % of nodes"]


def test_links_are_told_for_none_one_and_many(tmp_path: Path) -> None:
    path = tmp_path / "links.csv"
    path.write_text("source,target,amount\na,b,-5\na,c,2\na,c,3\nb,c,7\nd,c,1\n")
    graph = read_graph(path)
    columns = columns_of(graph)

    def told(column: str, node: str) -> str:
        return derived_sentence(graph, columns, column, graph.index_of(node)).partition(" (")[0]

    assert told("links in", "a") == "has no links in"
    assert told("links in", "b") == "has 1 link in from 1 counterparty"
    assert told("links in", "c") == "has 4 links in from 3 counterparties"
    assert told("total in", "b") == "total in −5"
    assert told("triangles", "a") == "1 pair of its counterparties linked with each other"
