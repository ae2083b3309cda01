"""Events that are told to addresses: signed, tried again, given up, and never sent where they may not."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from hook_receiver import Receiver, receiving
from page_project import make_project

from gadcore.errors import InputError, NotFound
from gadcore.jobs import deliver
from gadcore.jobs.runner import carry_out
from gadcore.settings import Settings
from gadcore.store import Store, open_store
from gadcore.store import webhooks as rows
from gadcore.store.schema import now
from gadcore.workspace import Workspace, webhooks


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as found:
        yield found


@pytest.fixture
def workspace(home: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    for name in ("runner.pass_on", "workers.call"):  # sent here, not by a worker
        monkeypatch.setattr(f"gadcore.jobs.{name}", lambda *_: None)
    return make_project(labels=False)


@pytest.fixture
def store(settings: Settings) -> Store:
    return open_store(settings)


def end_a_run(workspace: Workspace, store: Store, status: str = "cancelled", message: str = "") -> None:
    """A run that comes to nothing, which costs no time."""
    store.jobs.finish(workspace.runs.start("isolation-forest").id, status, message=message)


def later(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    """Set the clock of the store forward."""
    moment = now() + timedelta(seconds=seconds)
    monkeypatch.setattr(rows, "now", lambda: moment)


def test_the_end_of_a_run_is_told_and_signed(
    workspace: Workspace, store: Store, settings: Settings, receiver: Receiver
) -> None:
    _, secret = webhooks.add(settings, workspace.id, "run-ended", receiver.url, private=True)
    run = workspace.runs.train("isolation-forest")
    (job,) = store.jobs.live("deliver")
    carry_out(store, settings, job.id)
    told, headers = receiver.documents[0], receiver.headers[0]
    assert (told["event"], told["project"]["name"]) == ("run-ended", "planted")
    assert told["run"] == {
        "id": run.id, "number": 1, "model": "isolation-forest", "status": "done", "message": "",
    }  # fmt: skip
    at, signed = (part.split("=", 1)[1] for part in headers["ringfence-signature"].split(","))
    expected = hmac.new(secret.encode(), f"{at}.".encode() + receiver.bodies[0], hashlib.sha256)
    assert hmac.compare_digest(signed, expected.hexdigest())
    assert abs(now().timestamp() - int(at)) < 60
    (line,) = webhooks.log(settings)
    assert (line.status, line.attempts, line.answer) == ("delivered", 1, "HTTP 200")
    assert store.jobs.live("deliver") == []


def test_a_run_that_fails_is_told_with_the_reason_and_other_projects_are_not(
    workspace: Workspace, store: Store, settings: Settings, receiver: Receiver
) -> None:
    make_project("other", labels=False)
    webhooks.add(settings, "other", "run-ended", receiver.url, private=True)
    webhooks.add(settings, workspace.id, "run-ended", receiver.url, private=True)
    end_a_run(workspace, store, "failed", "There was not enough memory.")
    deliver.send_due(store)
    (told,) = receiver.documents
    assert (told["run"]["status"], told["run"]["message"]) == ("failed", "There was not enough memory.")


def test_what_is_not_taken_is_tried_again_with_longer_pauses_and_then_given_up(
    workspace: Workspace,
    store: Store,
    settings: Settings,
    receiver: Receiver,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    receiver.status = 500
    webhooks.add(settings, workspace.id, "run-ended", receiver.url, private=True)
    end_a_run(workspace, store)
    assert deliver.send_due(store) == 1
    assert deliver.send_due(store) == 0  # not yet
    assert not store.deliveries.end_job("any")  # its job goes on
    passed = 0
    for pause in deliver.PAUSES:
        passed += pause + 1
        later(monkeypatch, passed)
        monkeypatch.setattr(deliver, "now", rows.now)
        assert deliver.send_due(store) == 1
    (line,) = webhooks.log(settings)
    assert (line.status, line.attempts, line.answer) == ("given up", 6, "HTTP 500")
    assert len({headers["ringfence-delivery"] for headers in receiver.headers}) == 1


def test_a_receiver_that_comes_back_gets_it(
    workspace: Workspace,
    store: Store,
    settings: Settings,
    receiver: Receiver,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    receiver.status = 302  # a redirect is not followed
    webhooks.add(settings, workspace.id, "run-ended", receiver.url, private=True)
    end_a_run(workspace, store)
    deliver.send_due(store)
    receiver.status = 204
    later(monkeypatch, 11)
    deliver.send_due(store)
    assert [line.status for line in webhooks.log(settings)] == ["delivered"]


def test_addresses_of_this_network_are_reached_only_if_allowed(
    workspace: Workspace, store: Store, settings: Settings, receiver: Receiver
) -> None:
    url = receiver.url.replace("http://127.0.0.1", "https://localhost")
    webhooks.add(settings, workspace.id, "run-ended", url)
    end_a_run(workspace, store)
    deliver.send_due(store)
    assert "an address of this network" in webhooks.log(settings)[0].answer
    assert receiver.bodies == []


@pytest.mark.parametrize(
    "url",
    ["ftp://host/x", "https://", "host", "https://a:b@host/", "https://host:0/", "https://h/\r\nx", "http://h/",
     "https://[::1/", "file:///etc/passwd"],
)  # fmt: skip
def test_an_address_that_is_none_is_refused(workspace: Workspace, settings: Settings, url: str) -> None:
    with pytest.raises(InputError, match="the address"):
        webhooks.add(settings, workspace.id, "run-ended", url)


def test_a_watched_node_is_told_when_it_passes_the_rank(
    workspace: Workspace, store: Store, settings: Settings, receiver: Receiver
) -> None:
    webhooks.add(settings, workspace.id, "watched-rose", receiver.url, private=True, top=100)
    rise = {"project_id": workspace.id, "node_id": "n007", "run": "r"}
    assert store.jobs.tell_of_rise(**rise, before=3120, rank=12) == 1
    assert store.jobs.tell_of_rise(**rise, before=90, rank=12) == 0  # it was there already
    assert store.jobs.tell_of_rise(**rise, before=3120, rank=101) == 0
    deliver.send_due(store)
    assert [(told["node_id"], told["rank"]) for told in receiver.documents] == [("n007", 12)]
    with pytest.raises(InputError, match="without a rank"):
        webhooks.add(settings, workspace.id, "watched-rose", receiver.url, private=True)


def test_an_address_goes_with_its_project_and_can_be_removed(
    workspace: Workspace, store: Store, settings: Settings, receiver: Receiver
) -> None:
    number, secret = webhooks.add(settings, workspace.id, "run-ended", receiver.url, private=True)
    assert [entry.action for entry in store.trail.newest(1)] == ["webhook added"]
    assert secret not in str(store.trail.newest(5))
    webhooks.remove(settings, number)
    with pytest.raises(NotFound):
        webhooks.remove(settings, number)
    webhooks.add(settings, workspace.id, "run-ended", receiver.url, private=True)
    Workspace.delete(workspace.id)
    assert webhooks.every(settings) == []


def test_a_run_that_lifts_a_watched_node_tells_of_it(
    workspace: Workspace, store: Store, settings: Settings, receiver: Receiver
) -> None:
    workspace.runs.train("isolation-forest", seed=0)
    first = workspace.runs.result(workspace.runs.in_use().id)
    second = workspace.runs.result(workspace.runs.train("isolation-forest", seed=1, use=False).id)
    node = int((first.rank - second.rank).argmax())  # the one that the next run lifts most
    workspace.cases.watch(workspace.graph.node_ids[node])
    top = int(second.rank[node])
    webhooks.add(settings, workspace.id, "watched-rose", receiver.url, private=True, top=top)
    workspace.runs.train("isolation-forest", seed=1)
    deliver.send_due(store)
    (told,) = receiver.documents
    assert (told["before"], told["rank"]) == (int(first.rank[node]), top)
