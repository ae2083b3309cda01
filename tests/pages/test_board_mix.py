"""What a queue is mixed of: the explore–exploit dial and the share of random cases, set on the screen."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import pytest
from page_project import make_project

from gadcore.queries import AUDIT_SHARE, DIAL
from gadcore.workspace import Filter, Workspace
from pages.shared.board import Board, answer
from pages.shared.receipts import Receipts

EVERYWHERE = asdict(Filter(verdict="unlabelled"))


@pytest.fixture
def workspace(home) -> Workspace:
    return make_project(labels=False, models=("isolation-forest",))


def said(workspace: Workspace, **order: Any) -> dict[str, Any]:
    """The payload after an order event."""
    event = {"kind": "order", "client": "tab", "seq": 1, "strategy": "top", "where": EVERYWHERE, **order}
    message = {"client": "tab", "n": 1, "events": [event]}
    return answer(workspace, Board(), message, Receipts(), "ana")


def test_the_mix_is_the_usual_one_until_someone_changes_it(workspace) -> None:
    assert said(workspace)["queue"]["mix"] == {"dial": DIAL, "audit_share": AUDIT_SHARE}


def test_the_mix_is_kept_for_the_project_and_decides_the_rows(workspace) -> None:
    queue = said(workspace, dial=1.0, audit_share=0.0)["queue"]
    assert queue["mix"] == {"dial": 1.0, "audit_share": 0.0}
    ranks = [row["rank"] for row in queue["rows"]]
    assert ranks[0] == 1
    assert ranks == sorted(ranks)
    assert Workspace.open(workspace.id).preference("dial") == 1.0
    mixed = said(workspace, audit_share=0.5)["queue"]["rows"]
    assert sum(row["inclusion_probability"] is not None for row in mixed) > len(mixed) / 4


def test_a_share_beyond_its_bounds_is_brought_back(workspace) -> None:
    assert said(workspace, dial=7, audit_share=-1)["queue"]["mix"] == {"dial": 1.0, "audit_share": 0.0}


def test_the_screen_knows_which_orders_the_dial_matters_to(workspace) -> None:
    dialled = {s["name"] for s in said(workspace)["project"]["strategies"] if s["dialled"]}
    assert dialled == {"greedy-diverse", "disagreement"}
