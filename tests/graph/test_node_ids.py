"""Ids on disk: found by bisection, read by row, the same as in memory."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import pytest

from gadcore.errors import NotFound
from gadcore.graph import NodeIds, make_graph

WRITTEN = ["007", "7", "Zoë", "🦊", "", "a b", "A", "a", "\x00", "z" * 300, "é", "e\u0301"]


@pytest.fixture(params=["memory", "disk"])
def ids(request: pytest.FixtureRequest, tmp_path: Path) -> NodeIds:
    made = NodeIds.of(WRITTEN)
    if request.param == "memory":
        return made
    made.save(tmp_path)
    loaded = NodeIds.load(tmp_path)
    assert loaded is not None
    return loaded


def test_every_id_is_found_in_its_row(ids: NodeIds) -> None:
    assert [ids.row(node_id) for node_id in WRITTEN] == list(range(len(WRITTEN)))
    assert list(ids) == WRITTEN == ids.tolist()
    assert ids[-1] == WRITTEN[-1]
    assert ids[np.array([3, 0])].tolist() == ["🦊", "007"]
    assert ids[1:3].tolist() == ["7", "Zoë"]


def test_what_is_no_id_has_no_row(ids: NodeIds) -> None:
    assert [ids.row(node_id) for node_id in ("07", "zz", "Ä", "~")] == [-1] * 4
    assert "07" not in ids
    assert 7 not in ids


def test_many_ids_are_looked_up_as_few_are(ids: NodeIds) -> None:
    many = [*WRITTEN, "none"] * 200
    assert ids.rows(many).tolist() == [*range(len(WRITTEN)), -1] * 200
    assert ids.rows(many[:20]).tolist() == ids.rows(many)[:20].tolist()


def test_a_digest_of_ids_is_that_of_their_text(ids: NodeIds) -> None:
    digest = hashlib.sha256()
    ids.feed(digest)
    assert digest.hexdigest() == hashlib.sha256("\x1f".join(WRITTEN).encode()).hexdigest()


def test_a_graph_names_the_first_id_it_does_not_have() -> None:
    graph = make_graph("abc", np.zeros((2, 0)))
    assert graph.indices_of(["c", "a"]).tolist() == [2, 0]
    with pytest.raises(NotFound, match="'y'"):
        graph.indices_of(["a", "y", "z"])
