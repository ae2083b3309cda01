"""The study of what links add: which columns a fit sees, which nodes are labelled, what the peer computes."""

from __future__ import annotations

import numpy as np
import pytest

from gadcore.graph import Truth
from gadcore.ingest import read
from gadcore.studies import transactions
from gadcore.studies.transactions import ALL, NONE, STUDY, LinkedFit, drawn, group_bys, with_columns

NODES = "id,balance,is_fraud\n" + "".join(f"n{i},{i * 7 % 13},{int(i < 30)}\n" for i in range(150))
ROWS = [
    (f"n{i * 31 % 150}", f"n{i * 17 % 150}", i % 50 + (40 if i * 31 % 150 < 30 else 0), i % 9)
    for i in range(900)
]
LINKS = "source,target,amount,time\n" + "".join("{},{},{},{}\n".format(*row) for row in ROWS)


@pytest.fixture
def linked(tmp_path, monkeypatch):
    (tmp_path / "nodes.csv").write_text(NODES)
    (tmp_path / "payments.csv").write_text(LINKS)
    reading = read(tmp_path / "nodes.csv", edges=tmp_path / "payments.csv")
    monkeypatch.setattr(transactions, "linked_graph", lambda name: (reading.graph, reading.truth))
    return reading.graph


def test_a_group_of_columns_can_be_left_out_or_stand_alone(linked) -> None:
    by_group = {name: column["group"] for name, column in linked.derived.items()}
    assert {"amounts", "times"} <= set(by_group.values())
    for inputs, groups in (("only times", {"times"}), ("no times", set(by_group.values()) - {"times"})):
        graph = with_columns(linked, inputs)
        assert {by_group[name] for name in graph.derived} == groups
        assert graph.feature_columns == ("balance", *graph.derived)
        assert graph.x.shape[1] == 1 + len(graph.derived)
        assert list(graph.node_table.columns) == ["balance", *graph.derived]
        assert graph.links is linked.links
    assert with_columns(linked, ALL).feature_names == linked.feature_names


def test_without_columns_the_links_are_not_seen_either(linked) -> None:
    bare = with_columns(linked, NONE)
    assert bare.links is None
    assert bare.feature_names == ("balance",)
    assert not bare.derived
    assert bare.fingerprint != linked.fingerprint


def test_draws_are_of_both_classes_and_repeatable() -> None:
    truth = Truth(np.r_[np.ones(40), np.zeros(300), np.full(50, -1)].astype(np.int8))
    normal, anomalous = drawn(truth, 3)
    assert len(set(normal)) == 80
    assert len(set(anomalous)) == 20
    assert (truth.y[normal] == 0).all()
    assert (truth.y[anomalous] == 1).all()
    np.testing.assert_array_equal(normal, drawn(truth, 3)[0])
    assert set(normal) != set(drawn(truth, 4)[0])


def test_the_peer_counts_and_sums_by_direction(linked) -> None:
    table = group_bys(linked)
    assert table.shape == (150, 1 + 2 * 10)
    sent = [row for row in ROWS if row[0] == "n31"]
    got = [row for row in ROWS if row[1] == "n31"]
    node = linked.index_of("n31")
    assert table[node, 1] == len(sent)
    assert table[node, 2] == len({row[1] for row in sent})
    assert table[node, 3] == sum(row[2] for row in sent)
    assert table[node, 11] == len(got)


@pytest.mark.parametrize("method", ["sgc-lr", transactions.PEER])
def test_labelled_nodes_are_not_judged(linked, method, monkeypatch) -> None:
    monkeypatch.setattr(transactions, "ANOMALOUS", 8)
    seen: list[int] = []
    monkeypatch.setattr(transactions, "ranked", lambda y, scores: seen.append(len(y)) or {"auc": 0.0})
    LinkedFit("any", method, ALL, 100, seed=1).measure()
    assert seen == [150 - 8 - 80]


def test_cells_are_named_without_reading_a_graph() -> None:
    ((name, cells),) = STUDY.cells(STUDY._parser().parse_args(["--seeds", "1"]))
    assert name == "transactions"
    assert len(set(cells)) == len(cells)
    assert not [c for c in cells if c.graph == transactions.AMLSIM and "kinds" in c.inputs]
    assert [c for c in cells if c.labels == 0 and c.inputs == NONE]
