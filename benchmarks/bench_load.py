"""A team at work: 20 analysts, two verdicts a second each, for five minutes, with retrains on the way.

    ringfence bench load
    ringfence bench load --analysts 20 --browsers 5 --rate 2 --seconds 60 --nodes 20000 --retrain 30

The first analysts sit at tabs of a Chromium, the others speak the page's own protocol over its WebSocket. A
time runs from the moment at which a key is due to the answer that confirms the stored verdict: a server that
falls behind shows in it. Targets: no error, nothing lost or stored twice, no node judged by two, 500 ms as
95th percentile, memory that grows by at most a tenth after the first fifth of the time.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.app_in_browser import FLAGS, chromium_path, running_app
from benchmarks.page_line import PageLine
from benchmarks.page_tab import PageTab
from benchmarks.processes import cpu_seconds, descendants, resident_bytes
from gadcore.graph import make_graph
from gadcore.ingest import Reading
from gadcore.ingest.report import Report
from gadcore.settings import Settings
from gadcore.workspace import Workspace

TARGET_MS, GROWTH = 500.0, 0.1
WARM = 0.2  # of the time, before memory is looked at
WAIT_MS = 120_000

# Runs in a page: what was judged when, and how long until the server had all that was.
_WATCH = """
() => {
  const bench = window.benchmark = { nodes: [], times: [], open: [] };
  const root = document.querySelector("[data-testid=workbench]");
  const card = document.querySelector("[data-testid=card]");
  window.addEventListener("keydown", (event) => {
    if (!["a", "n"].includes(event.key)) return;
    bench.nodes.push(card.dataset.node);
    bench.open.push(event.timeStamp);
  }, true);
  new MutationObserver(() => {
    if (root.dataset.settled !== "yes") return;
    bench.times.push(...bench.open.map((at) => performance.now() - at));
    bench.open = [];
  }).observe(root, { attributes: true, attributeFilter: ["data-settled"] });
}
"""


@dataclass(frozen=True)
class Work:
    """Who does how much."""

    analysts: int = 20
    browsers: int = 5
    rate: float = 2.0  # verdicts a second, of each
    seconds: float = 300.0
    retrain: float = 60.0  # seconds between runs; 0: none


@dataclass
class Outcome:
    """What was asked for, against what came of it."""

    verdicts: int = 0
    lost: int = 0
    twice: int = 0  # stored more often than given
    shared: int = 0  # nodes that two analysts judged
    errors: list[str] = field(default_factory=list)
    runs: int = 0
    median_ms: float = 0.0
    p95_ms: float = 0.0
    rate: float = 0.0  # verdicts a second that were stored, of all analysts
    server_ms: float = 0.0  # CPU of the server for a verdict
    worker_s: float = 0.0  # CPU of the workers
    memory_mb: tuple[float, float] = (0.0, 0.0)  # of the server: warm, and at the end

    @property
    def whole(self) -> bool:
        """Nothing lost, nothing doubled, no error."""
        return not (self.lost or self.twice or self.errors)

    @property
    def met(self) -> bool:
        warm, last = self.memory_mb
        return self.whole and not self.shared and self.p95_ms <= TARGET_MS and last <= (1 + GROWTH) * warm


class Analyst(threading.Thread):
    """Somebody who speaks the page's protocol at a steady pace; quick keys travel together."""

    def __init__(self, url: str, project: str, number: int, work: Work) -> None:
        super().__init__(name=f"analyst {number}")
        self._work, self._number = work, number
        self.line = PageLine(url, project)
        self.tab = PageTab(f"line-{number}-{os.getpid()}", self.name, project, self.line.say)
        self.given: list[tuple[str, str]] = []
        self.times: list[float] = []  # seconds
        self.failure = ""

    def run(self) -> None:
        try:
            self._label()
        except (OSError, TimeoutError, AssertionError) as error:
            self.failure = f"{self.name}: {type(error).__name__}: {error}"

    def _label(self) -> None:
        work, tab = self._work, self.tab
        gap, start = 1 / work.rate, time.monotonic() + self._number / work.rate / work.analysts
        due, end, run_at = start, start + work.seconds, start + work.retrain
        waiting: list[float] = []
        while due < end or tab.pending:
            while due <= time.monotonic() and due < end and tab.current is not None:
                self.given.append(
                    (tab.judge("anomalous" if len(self.given) % 5 == 0 else "normal"), self.name)
                )
                waiting.append(due)
                due += gap
            if self._number == work.browsers and work.retrain and time.monotonic() >= run_at:
                tab.post({"kind": "retrain"})
                run_at += work.retrain
            if tab.pending or tab.to_fetch() or tab.current is None:
                tab.exchange()
                if not tab.pending:
                    self.times += [time.monotonic() - at for at in waiting]
                    waiting = []
            else:
                time.sleep(max(0.0, min(due, end) - time.monotonic()))


def load(home: Path, project: str, work: Work) -> Outcome:
    """Have a team work on a project of a workspace folder."""
    log: list[str] = []
    environment = {"GAD_THREADS": "1", "OMP_NUM_THREADS": "1"}
    with running_app(home, environment, log) as url:
        server = next(iter(descendants(os.getpid(), "streamlit")))
        team = [Analyst(url, project, i, work) for i in range(work.browsers, work.analysts)]
        before, cpu, began = _stored(home, project), cpu_seconds(server), time.monotonic()
        memory: list[float] = []
        for analyst in team:
            analyst.start()
        pages = _browse(url, project, work) if work.browsers else []
        while any(analyst.is_alive() for analyst in team):
            memory.append(resident_bytes(server) / 1e6)
            time.sleep(0.5)
        found = _outcome(home, project, team, pages, before)
        found.server_ms = 1000 * (cpu_seconds(server) - cpu) / max(1, found.verdicts)
        found.rate = found.verdicts / (time.monotonic() - began)
        found.worker_s = sum(map(cpu_seconds, descendants(server, "gadcore.jobs")))
        memory.append(resident_bytes(server) / 1e6)
        found.memory_mb = (memory[int(WARM * len(memory))], memory[-1])
        for analyst in team:
            analyst.line.close()
    found.errors += [line.strip() for line in log if "Traceback" in line]
    return found


def _stored(home: Path, project: str) -> Counter[tuple[str, str]]:
    """Every verdict in the store: node and analyst."""
    workspace = Workspace.open(project, Settings.from_env({**os.environ, "GAD_HOME": str(home)}))
    nodes = list(workspace.verdicts.current())
    events = (event for node in nodes for event in workspace.verdicts.history(node))
    return Counter((event.node_id, event.analyst) for event in events if event.kind == "label")


def _outcome(
    home: Path,
    project: str,
    team: list[Analyst],
    pages: list[dict[str, Any]],
    before: Counter[tuple[str, str]],
) -> Outcome:
    given = [one for analyst in team for one in analyst.given]
    given += [(node, page["analyst"]) for page in pages for node in page["nodes"]]
    times = [1000 * seconds for analyst in team for seconds in analyst.times]
    times += [ms for page in pages for ms in page["times"]]
    stored = _stored(home, project) - before
    judged = Counter(node for node, _ in set(given))
    errors = [analyst.failure for analyst in team if analyst.failure]
    errors += [text for analyst in team for text in analyst.tab.errors]
    runs = Workspace.open(project, Settings.from_env({**os.environ, "GAD_HOME": str(home)})).runs.all()
    return Outcome(
        verdicts=len(given),
        lost=sum((Counter(given) - stored).values()),
        twice=sum((stored - Counter(given)).values()),
        shared=sum(count > 1 for count in judged.values()),
        errors=errors + [f"run {run.number}: {run.message}" for run in runs if run.status == "failed"],
        runs=sum(run.status == "done" for run in runs),
        median_ms=float(np.median(times)) if times else 0.0,
        p95_ms=float(np.quantile(times, 0.95)) if times else 0.0,
    )


def _browse(url: str, project: str, work: Work) -> list[dict[str, Any]]:
    """Label in tabs of a Chromium; what each has judged, and its times."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium_path(), args=list(FLAGS))
        pages = [_opened(browser, url, project, f"browser {i}") for i in range(work.browsers)]
        due, end, keys = time.monotonic(), time.monotonic() + work.seconds, 0
        while due < end:
            for page in pages:
                page.keyboard.press("a" if keys % 5 == 0 else "n")
                due += 1 / work.rate / len(pages)
                page.wait_for_timeout(max(0.0, 1000 * (due - time.monotonic())))
            keys += 1
        found = []
        for i, page in enumerate(pages):
            page.wait_for_function("!benchmark.open.length")
            found.append({"analyst": f"browser {i}", **page.evaluate("benchmark")})
        browser.close()
    return found


def _opened(browser: Any, url: str, project: str, analyst: str) -> Any:
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    context.add_cookies([{"name": "ringfence_analyst", "value": analyst.replace(" ", "%20"), "url": url}])
    page = context.new_page()
    page.set_default_timeout(WAIT_MS)
    page.goto(f"{url}/Label?project={project}")
    page.wait_for_selector("[data-testid=card][data-complete=yes]")
    page.evaluate(_WATCH)
    return page


def team_project(settings: Settings, nodes: int) -> str:
    """A project with a first ranking: small groups of alike nodes, some of them linked far."""
    rng = np.random.default_rng(0)
    ends = rng.integers(0, nodes, (2, 3 * nodes))
    ends[1] = np.where(
        rng.random(3 * nodes) < 0.8, (ends[0] + rng.integers(1, 9, 3 * nodes)) % nodes, ends[1]
    )
    x = rng.normal(size=(nodes, 16)) + 3 * (rng.random(nodes) < 0.03)[:, None]
    graph = make_graph([f"n{i}" for i in range(nodes)], ends, x.astype(np.float32), name="team")
    report = Report("team", "benchmark", graph.n_nodes, graph.n_edges, graph.n_features)
    workspace = Workspace.create("team", Reading(graph, report, None), settings=settings)
    workspace.runs.train("isolation-forest")
    return workspace.id


def main(argv: Sequence[str] | None = None) -> int:
    """Measure and print; 1 when a target is missed."""
    parser = argparse.ArgumentParser(prog="bench load", description=__doc__.splitlines()[0])
    for name, value in asdict(Work()).items():
        parser.add_argument(f"--{name}", type=type(value), default=value)
    parser.add_argument("--nodes", type=int, default=20_000)
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    given = vars(parser.parse_args(argv))
    nodes, target = given.pop("nodes"), given.pop("json")
    if given["browsers"] and chromium_path() is None:
        print("No Chromium was found: all analysts speak the page's protocol.", file=sys.stderr)
        given["browsers"] = 0
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        project = team_project(Settings.from_env({**os.environ, "GAD_HOME": str(home)}), nodes)
        found = load(home, project, Work(**given))
    _show(found, Work(**given))
    if target:
        target.write_text(json.dumps(asdict(found), indent=2), encoding="utf-8")
    return 0 if found.met else 1


def _show(found: Outcome, work: Work) -> None:
    asked = work.analysts * work.rate
    print(f"{found.verdicts:,} verdicts, {found.rate:.1f} a second of {asked:.0f}; {found.runs} runs")
    print(f"{found.lost} lost, {found.twice} stored twice, {found.shared} nodes judged by two")
    print(
        f"key to stored: median {found.median_ms:.0f} ms, p95 {found.p95_ms:.0f} ms (target {TARGET_MS:.0f})"
    )
    print(f"CPU of the server: {found.server_ms:.1f} ms a verdict; of the workers: {found.worker_s:.0f} s")
    print("memory of the server: {:.0f} MB when warm, {:.0f} MB at the end".format(*found.memory_mb))
    for error in found.errors[:20]:
        print(f"error: {error}")


if __name__ == "__main__":
    sys.exit(main())
