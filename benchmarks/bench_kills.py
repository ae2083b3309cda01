"""Verdicts of a browser tab while its server is killed over and over: none may be lost, none stored twice.

    ringfence bench kills            100 kills, on SQLite in a folder of its own
    ringfence bench kills 20 --seed 3
    ringfence bench kills --browser --minutes 10      a real tab, labelling by key

The tab keeps its messages until they are confirmed and sends them again, as the page does. Servers are killed
by SIGKILL at a random moment: before, during or after the transaction. ``GAD_STORE`` names another database.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from argparse import ArgumentParser, Namespace
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from gadcore.graph import make_graph
from gadcore.settings import Settings, child_environment
from gadcore.workspace import Workspace

ANSWER_SECONDS = 60.0


@dataclass(frozen=True)
class Outcome:
    """What a tab has sent, against what is stored."""

    kills: int
    sent: int  # verdicts and undos
    lost: int
    twice: int
    seconds: float


class Nursery:
    """A process that has all modules loaded and forks servers, one at a time."""

    def __init__(self, settings: Settings, project: str) -> None:
        command = [sys.executable, "-m", "benchmarks.bench_kills", "--serve", project]
        root = Path(__file__).resolve().parent.parent
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=root, env=child_environment(settings)
        )
        self._server = self._hear("pid")

    def kill(self) -> None:
        """End the server at once and wait for the next."""
        os.kill(self._server, signal.SIGKILL)
        self._server = self._hear("pid")

    def send(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        self._process.stdin.flush()

    def acknowledged(self, n: int) -> int:
        """The number that the answer to message ``n`` confirms."""
        while True:
            told, confirmed = self._hear("ack")
            if told == n:
                return int(confirmed)

    def end(self) -> None:
        self._process.kill()
        os.kill(self._server, signal.SIGKILL)
        self._process.communicate(timeout=ANSWER_SECONDS)

    def _hear(self, kind: str) -> Any:
        assert self._process.stdout is not None
        while line := self._process.stdout.readline():
            told = json.loads(line)
            if kind in told:
                return told[kind]
        raise RuntimeError("The servers are gone.")


def storm(settings: Settings, project: str, nodes: list[str], kills: int, seed: int) -> Outcome:
    """Label under ``kills`` kills; every fifth step takes the one before it back."""
    rng, began = random.Random(seed), time.monotonic()
    wanted: list[tuple[str, str]] = []
    pending: list[dict[str, Any]] = []
    done = n = 0
    nursery = Nursery(settings, project)
    typical = 0.02  # seconds of an exchange
    try:
        while done < kills or pending:
            if done < kills:
                for _ in range(rng.randint(1, 3)):
                    pending.append(_event(len(wanted) + 1, nodes))
                    wanted.append(_stored_as(pending[-1]))
            n, sent_at = n + 1, time.monotonic()
            nursery.send({"client": "tab", "n": n, "analyst": "ana", "events": pending})
            if done < kills and rng.random() < 0.7:
                time.sleep(rng.uniform(0, 1.5 * typical))
                nursery.kill()
                done += 1
                continue
            confirmed = nursery.acknowledged(n)
            typical = 0.8 * typical + 0.2 * (time.monotonic() - sent_at)
            pending = [event for event in pending if event["seq"] > confirmed]
    finally:
        nursery.end()
    stored = _stored(Workspace.open(project, settings), nodes)
    lost, twice = _differences(wanted, stored)
    return Outcome(done, len(wanted), lost, twice, time.monotonic() - began)


def _event(seq: int, nodes: list[str]) -> dict[str, Any]:
    common = {"client": "tab", "seq": seq, "analyst": "ana"}
    if seq % 5 == 0:
        return {**common, "kind": "undo", "of": nodes[seq - 2]}
    return {**common, "kind": "verdict", "node": nodes[seq - 1], "verdict": "anomalous"}


def _stored_as(event: dict[str, Any]) -> tuple[str, str]:
    return ("undo", event["of"]) if event["kind"] == "undo" else ("label", event["node"])


def _stored(workspace: Workspace, nodes: list[str]) -> list[tuple[str, str]]:
    """Every label and undo in the store, with the node that it is about."""
    return [(event.kind, node) for node in nodes for event in workspace.verdicts.history(node)]


def _differences(wanted: list[tuple[str, str]], stored: list[tuple[str, str]]) -> tuple[int, int]:
    return len(set(wanted) - set(stored)), len(stored) - len(set(wanted) & set(stored))


def serve(project: str) -> None:
    """Fork a server whenever the one before it has ended."""
    import pages.label.board  # noqa: F401  loaded once, for all of them

    while True:
        server = os.fork()
        if server == 0:
            _answer_all(project)
        os.waitpid(server, 0)


def _answer_all(project: str) -> None:
    from pages.label.board import Board, answer

    _tell(pid=os.getpid())
    workspace, board, received = Workspace.open(project), Board(), b""
    while part := os.read(0, 1 << 16):
        received += part
        *lines, received = received.split(b"\n")
        for line in lines:
            try:
                message = json.loads(line)
            except ValueError:
                continue  # the rest of a line whose beginning another server took with it
            payload = answer(workspace, board, message, "ana")
            _tell(ack=[message["n"], payload["ack"].get("tab", 0)])
    os._exit(0)


def _tell(**said: Any) -> None:
    os.write(1, json.dumps(said).encode() + b"\n")


def new_project(settings: Settings, nodes: int) -> tuple[str, list[str]]:
    """A project to label, without a run: its id and its node ids."""
    import numpy as np

    from gadcore.ingest import Reading, Report

    ids = [f"n{i:05d}" for i in range(nodes)]
    ring = np.arange(nodes)
    graph = make_graph(ids, np.vstack([ring, (ring + 1) % nodes]), np.zeros((nodes, 1)))
    report = Report("ring", "made", graph.n_nodes, graph.n_edges, graph.n_features)
    return Workspace.create("kills", Reading(graph, report, None), settings=settings).id, ids


def _found(settings: Settings, project: str, nodes: list[str], given: Namespace) -> Outcome:
    if not given.browser:
        return storm(settings, project, nodes, given.kills, given.seed)
    from benchmarks.kills_in_browser import browser_storm

    began = time.monotonic()
    told = browser_storm(settings, project, nodes, given.kills, given.seed, 60 * given.minutes)
    return Outcome(*told, time.monotonic() - began)


def main() -> None:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("kills", nargs="?", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--browser", action="store_true", help="a Chromium tab and the whole app")
    parser.add_argument("--minutes", type=float, default=10.0, help="at most so long, with --browser")
    parser.add_argument("--serve", metavar="PROJECT")
    given = parser.parse_args()
    if given.serve:
        serve(given.serve)
    with TemporaryDirectory() as folder:
        home = Path(folder)
        settings = replace(Settings.from_env({**os.environ, "GAD_HOME": folder}), home=home)
        project, nodes = new_project(settings, 10 * given.kills + 100)
        found = _found(settings, project, nodes, given)
    print(f"{found.kills} kills, {found.sent} verdicts and undos: {found.lost} lost, {found.twice} twice")
    sys.exit(int(bool(found.lost or found.twice)))


if __name__ == "__main__":
    main()
