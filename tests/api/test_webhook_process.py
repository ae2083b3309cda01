"""The end of a run reaches its address by the processes that do so outside the tests."""

from __future__ import annotations

from hook_receiver import receiving
from page_project import make_project

from gadcore.settings import Settings
from gadcore.workspace import webhooks

PATIENCE = 120  # seconds for two processes to start on a busy machine


def test_a_process_of_its_own_sends_what_a_run_has_to_tell(settings: Settings) -> None:
    workspace = make_project()
    with receiving() as receiver:
        webhooks.add(settings, workspace.id, "run-ended", receiver.url, private=True)
        run = workspace.runs.train("sgc-lr")
        assert receiver.came.wait(PATIENCE)
    assert receiver.documents[0]["run"]["id"] == run.id
