"""Two server processes on one workspace: the same cases, no random check lost, no message done twice."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from probe_detector import reading, register, unregister

from benchmarks.bench_kills import new_project, storm
from gadcore.store import open_store
from gadcore.workspace import Workspace

TESTS = str(Path(__file__).parent.parent)

# A server that does one thing per line it is sent: answer a message, or print the queue.
SERVER = f"""
import json, sys
sys.path.insert(0, {TESTS!r})
from gadcore.workspace import Workspace
from pages.label.board import Board, answer
w = Workspace.open("net")
board = Board()
for line in sys.stdin:
    said = json.loads(line)
    if said["do"] == "queue":
        rows = w.cases.queue(n=40, provisional=said.get("provisional"))
        lines = [[r.node_id, r.strategy, r.inclusion_probability, r.offer] for r in rows]
        print(json.dumps(lines), flush=True)
    else:
        payload = answer(w, board, said["message"], "ana")
        print(json.dumps(payload["ack"]), flush=True)
"""


class Server:
    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", SERVER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=Path(TESTS).parent,
        )

    def ask(self, do: str, **values):
        self.process.stdin.write(json.dumps({"do": do, **values}) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def end(self) -> None:
        """As a crash would: at once."""
        self.process.kill()
        self.process.communicate(timeout=30)


@pytest.fixture
def workspace(settings, planted):
    register()
    made = Workspace.create("net", reading(*planted), settings=settings)
    made.runs.train("probe")
    unregister()
    return made


@pytest.fixture
def servers(workspace):
    running = [Server(), Server()]
    yield running
    for server in running:
        server.end()


def said(client: str, seq: int, **event) -> dict:
    event = {"client": client, "seq": seq, "analyst": client, **event}
    return {"client": client, "n": seq, "analyst": client, "events": [event]}


def test_they_offer_the_same_cases_and_keep_each_others_random_checks(workspace, servers) -> None:
    drawn = {}
    for step in range(60):  # far enough that each of them adds cases to the order
        server = servers[step % 2]
        rows = server.ask("queue", provisional=False)
        assert rows == servers[1 - step % 2].ask("queue", provisional=False)
        drawn |= {offer: node for node, _, chance, offer in rows if chance is not None}
        node, _, _, offer = rows[0]
        event = said(
            f"tab{step % 2}", step // 2 + 1, kind="verdict", node=node, verdict="normal", offer=offer
        )
        server.ask("message", message=event)
    store, events = open_store(workspace.settings), workspace.verdicts.current()
    assert len(events) == 60
    for offer, node in drawn.items():
        kept = store.offers.get(workspace.id, offer)
        assert kept is not None
        assert (kept.node_id, kept.probability is not None) == (node, True)
    answered = [event.node_id for event in events.values() if event.inclusion_probability is not None]
    assert sorted(answered) == sorted(node for node in drawn.values() if node in events)


@pytest.mark.parametrize(
    "event",
    [
        {"kind": "verdict", "node": "n001", "verdict": "anomalous"},
        {"kind": "group", "nodes": ["n001", "n002"], "verdict": "anomalous", "source": "ring"},
        {"kind": "note", "node": "n001", "text": "seen"},
        {"kind": "undo"},
    ],
    ids=lambda event: event["kind"],
)
def test_a_message_sent_again_after_a_restart_is_stored_once(workspace, event) -> None:
    for node in ("n005", "n006"):
        workspace.verdicts.record(node, "normal", analyst="tab")  # what an undo done twice would take back
    for _ in range(3):  # a server that dies before its answer arrives, twice
        server = Server()
        assert server.ask("message", message=said("tab", 1, **event)) == {"tab": 1}
        server.end()
    nodes = event.get("nodes") or [event.get("node", "n006")]
    for node in nodes:
        assert len(workspace.verdicts.history(node)) == (2 if event["kind"] == "undo" else 1)
    assert workspace.verdicts.current()["n005"].verdict == "normal"


def test_a_message_that_was_refused_is_not_tried_again_after_a_restart(workspace) -> None:
    """The undo of a refused verdict must not take back an earlier one, whichever server hears of it."""
    workspace.verdicts.record("n005", "normal", analyst="tab")
    refused = said("tab", 1, kind="verdict", node="unknown", verdict="normal")
    for message in (refused, refused, said("tab", 2, kind="undo", step=1)):
        server = Server()
        assert server.ask("message", message=message) == {"tab": message["n"]}
        server.end()
    assert workspace.verdicts.current()["n005"].verdict == "normal"


def test_killed_servers_lose_and_double_nothing(settings) -> None:
    project, nodes = new_project(settings, 200)
    found = storm(settings, project, nodes, kills=10, seed=1)
    assert (found.kills, found.lost, found.twice) == (10, 0, 0)
    assert found.sent > 10
