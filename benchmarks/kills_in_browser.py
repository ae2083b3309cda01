"""A browser tab labels by key while the app's server is killed and started again, over and over.

What the tab has posted is noted as it goes into the outbox; at the end it is compared with the store.
"""

from __future__ import annotations

import json
import random
import time
from collections import Counter
from subprocess import Popen
from typing import Any

from benchmarks.app_in_browser import FLAGS, chromium_path, free_port, start_server, wait_until_ready
from gadcore.errors import RunError
from gadcore.jobs.workers import stop as stop_workers
from gadcore.settings import Settings, child_environment
from gadcore.workspace import Workspace

SETTLED_MS = 180_000
# Every event that is put into the outbox, told before anything can be lost.
WATCH = """
const keep = Storage.prototype.setItem;
Storage.prototype.setItem = function (key, value) {
  if (key.includes("outbox:")) window.posted(value);
  return keep.call(this, key, value);
};
"""


class LabellingTab:
    """Presses keys, and knows what came of them."""

    def __init__(self, page: Any, rng: random.Random) -> None:
        self.page, self._rng = page, rng
        self.events: dict[tuple[str, int], dict[str, Any]] = {}
        page.expose_function("posted", self._note)
        page.add_init_script(WATCH)

    def press(self, times: int) -> None:
        for _ in range(times):
            undo = self._rng.random() < 0.2 and bool(self._standing())
            self.page.keyboard.press("z" if undo else self._rng.choice("an"))
            self.page.wait_for_timeout(self._rng.uniform(20, 250))

    def settle(self) -> None:
        """Wait until every event is confirmed."""
        settled = "[data-testid=workbench][data-settled=yes]"
        self.page.wait_for_selector(settled, state="attached", timeout=SETTLED_MS)

    def wanted(self) -> Counter[tuple[str, str]]:
        """What must be in the store: each verdict and each undo, with its node."""
        found: Counter[tuple[str, str]] = Counter()
        standing: list[str] = []
        for event in self._in_order():
            node = event.get("node") or standing.pop()
            if event["kind"] == "verdict":
                standing.append(node)
            found["label" if event["kind"] == "verdict" else "undo", node] += 1
        return found

    def _standing(self) -> list[int]:
        steps = [1 if event["kind"] == "verdict" else -1 for event in self._in_order()]
        return [1] * sum(steps)

    def _in_order(self) -> list[dict[str, Any]]:
        return [event for event in self.events.values() if event["kind"] in ("verdict", "undo")]

    def _note(self, outbox: str) -> None:
        for event in json.loads(outbox):
            self.events.setdefault((event["client"], event["seq"]), event)


def browser_storm(
    settings: Settings, project: str, nodes: list[str], kills: int, seed: int, seconds: float
) -> tuple[int, int, int, int]:
    """Label in a tab under kills, as many as fit into the time; kills, sent, lost, twice."""
    from playwright.sync_api import sync_playwright

    path = chromium_path()
    if path is None:
        raise RunError("There is no Chromium. Install one, or set GAD_CHROMIUM to its path.")
    rng, port, until = random.Random(seed), free_port(), time.monotonic() + seconds
    given = {**child_environment(settings), "GAD_ANALYST": "ana", "GAD_THREADS": "1"}
    server = _ready(start_server(given, port))
    done = 0
    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=path, args=list(FLAGS))
            tab = LabellingTab(browser.new_page(), rng)
            tab.page.goto(f"http://127.0.0.1:{port}/Label?project={project}")
            tab.page.wait_for_selector("[data-testid=card][data-complete=yes]", timeout=SETTLED_MS)
            while done < kills and time.monotonic() < until:
                tab.press(rng.randint(1, 4))
                tab.page.wait_for_timeout(rng.uniform(0, 300))
                _kill(server)
                done, server = done + 1, start_server(given, port)
                tab.press(rng.randint(0, 2))  # while nobody answers
                _ready(server)
                tab.page.wait_for_timeout(rng.uniform(0, 4000))  # at times it has not come back yet
            tab.settle()
            wanted = tab.wanted()
            browser.close()
    finally:
        _kill(server)
        stop_workers(settings)
    return done, wanted.total(), *_compared(wanted, Workspace.open(project, settings), nodes)


def _ready(server: Popen[str]) -> Popen[str]:
    wait_until_ready(server, [])
    return server


def _kill(server: Popen[str]) -> None:
    server.kill()
    server.wait(timeout=60)
    if server.stdout is not None:
        server.stdout.close()


def _compared(wanted: Counter[tuple[str, str]], workspace: Workspace, nodes: list[str]) -> tuple[int, int]:
    """Lost, and stored more often than given."""
    stored = Counter((event.kind, node) for node in nodes for event in workspace.verdicts.history(node))
    return (wanted - stored).total(), (stored - wanted).total()
