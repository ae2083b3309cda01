"""Reasons for verdicts: from a list, optional, and wherever the verdict goes."""

from __future__ import annotations

from pathlib import Path

import pytest
from board_tab import Tab
from page_project import make_project

from gadcore.access import Role, Who
from gadcore.errors import InputError, LabelError, NotAllowed
from gadcore.output.flagged import flagged_table
from gadcore.output.report.facts import gather
from gadcore.store import open_store
from gadcore.store.verify import verify
from gadcore.workspace import Workspace


@pytest.fixture
def workspace(home: Path) -> Workspace:
    return make_project(labels=False)


def reasons_of(workspace: Workspace) -> dict[str, str]:
    return {node: event.reason for node, event in workspace.verdicts.current().items()}


def test_a_reason_goes_with_the_verdict_and_is_taken_back_with_it(workspace: Workspace) -> None:
    workspace.verdicts.record("n001", "anomalous")
    workspace.verdicts.give_reason("n001", "mule account")
    workspace.verdicts.record("n002", "anomalous", reason="account takeover")
    assert reasons_of(workspace) == {"n001": "mule account", "n002": "account takeover"}
    assert [(e.kind, e.reason) for e in workspace.verdicts.history("n001")] == [
        ("label", "mule account"), ("reason", "mule account"),
    ]  # fmt: skip
    workspace.verdicts.undo()
    workspace.verdicts.undo()
    assert reasons_of(workspace) == {}
    workspace.verdicts.redo()
    assert reasons_of(workspace) == {"n001": "mule account"}
    workspace.verdicts.give_reason("n001", "")
    assert reasons_of(workspace) == {"n001": ""}
    assert verify(open_store(workspace.settings)).problems == []


def test_the_reason_of_a_group_is_that_of_all_its_nodes(workspace: Workspace) -> None:
    workspace.verdicts.record_group(["n001", "n002"], "anomalous", weight="one")
    assert len(workspace.verdicts.give_reason("n002", "layering")) == 2
    assert reasons_of(workspace) == {"n001": "layering", "n002": "layering"}


def test_a_reason_is_of_the_list_and_of_a_verdict_of_ones_own(workspace: Workspace) -> None:
    workspace.verdicts.record("n001", "anomalous", analyst="eva")
    with pytest.raises(LabelError, match="has given no verdict"):
        workspace.verdicts.give_reason("n001", "mule account", analyst="ana")
    with pytest.raises(LabelError, match="no reason of this project"):
        workspace.verdicts.record("n002", "normal", reason="whim")
    workspace.set_preference("reasons", ["whim", " whim ", ""])
    assert workspace.verdicts.reasons() == ["whim"]
    assert workspace.verdicts.record("n002", "normal", reason="whim").reason == "whim"
    for wrong in ("mule", ["x" * 61], [str(i) for i in range(21)], [1]):
        with pytest.raises(InputError, match="a list of at most"):
            workspace.set_preference("reasons", wrong)
    with pytest.raises(NotAllowed):
        Workspace.open(workspace.id, who=Who("eva", Role.ANALYST)).set_preference("reasons", ["x"])


def test_a_tab_gives_its_reason_once_however_often_it_is_sent(workspace: Workspace) -> None:
    tab = Tab(workspace)
    assert tab.payload["project"]["reasons"] == workspace.verdicts.reasons()
    tab.say(
        tab.event("verdict", node="n001", verdict="anomalous"),
        tab.event("reason", node="n001", reason="scam victim"),
    )
    tab.again()
    assert [event.kind for event in workspace.verdicts.history("n001")] == ["label", "reason"]
    assert workspace.cases.card("n001").events[-1]["reason"] == "scam victim"


def test_label_files_carry_reasons(workspace: Workspace, tmp_path: Path) -> None:
    workspace.verdicts.record("n001", "anomalous", reason="mule account", note="seen")
    workspace.verdicts.export_file(tmp_path / "labels.csv")
    workspace.verdicts.undo()
    workspace.verdicts.import_file(tmp_path / "labels.csv")
    assert reasons_of(workspace) == {"n001": "mule account"}
    assert workspace.verdicts.notes() == {"n001": "seen"}


def test_the_flagged_list_the_report_and_agreement_tell_reasons(home: Path) -> None:
    workspace = make_project(labels=False, models=("isolation-forest",))
    node = flagged_table(workspace, top=1)["node_id"].iloc[0]  # the queue may begin with a random check
    workspace.verdicts.record(node, "anomalous", analyst="ana", reason="mule account")
    assert flagged_table(workspace, top=1)["label_reason"].tolist() == ["mule account"]
    assert gather(workspace).lines[0].why.startswith("ana: mule account · ")
    workspace.verdicts.record(node, "normal", analyst="eva", reason="ordinary business")
    found = workspace.insight.agreement()
    assert found.disputed[0].reasons == {"ana": "mule account", "eva": "ordinary business"}
    assert found.reasons == {"mule account": 1, "ordinary business": 1}
