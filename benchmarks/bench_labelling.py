"""How long an analyst waits: from a key to the painted verdict and to the next case, idle and in training.

    ringfence bench labelling [--keys 20] [--rounds 3] [--json FILE]

The demo in Chromium. Rounds alternate: as many keys with the worker idle as with a run under way, so that
both meet the same machine. A time ends with the first frame drawn after the change, seen by the page itself.
Targets: verdict at most 50 ms, next case (card and neighbourhood) at most 300 ms, both as medians.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.app_in_browser import FLAGS, chromium_path, running_app
from gadcore.settings import Settings
from gadcore.workspace import Workspace

VERDICT_MS, NEXT_MS = 50.0, 300.0
PACE_MS = 350  # between keys: a quick analyst
WAIT_MS = 180_000

# Runs in the page: notes, for each verdict key, when its frame and the frame with the next case were drawn.
_WATCH = """
() => {
  const bench = window.benchmark = { presses: [], open: 0 };
  const card = () => document.querySelector("[data-testid=card]");
  const graph = () => document.querySelector("[data-testid=graph] .gv");
  const counts = () => document.querySelector("[data-testid=counts]").textContent;
  window.addEventListener("keydown", (event) => { // on the window: before the screen hears it
    if (!["a", "n"].includes(event.key)) return;
    const node = card().dataset.node;
    const training = Boolean(document.querySelector(".rf-status-bar.rf-live"));
    const press = { at: event.timeStamp, training };
    const before = counts();
    bench.open += 1;
    const look = () => requestAnimationFrame(() => setTimeout(() => {
      const now = performance.now();
      const next = card().dataset.node;
      const shown = next !== node && card().dataset.complete === "yes" && graph().dataset.centre === next;
      if (!press.verdict && counts() !== before) press.verdict = now - press.at; // with the chip
      if (!press.next && shown) press.next = now - press.at;
      if (press.verdict && press.next) {
        bench.presses.push(press);
        bench.open -= 1;
      } else look();
    }));
    look();
  }, true);
}
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Measure and print; 1 when a target is missed."""
    parser = argparse.ArgumentParser(prog="bench labelling", description=__doc__.splitlines()[0])
    parser.add_argument("--keys", type=int, default=20, help="keys per half round")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    given = parser.parse_args(argv)
    path = chromium_path()
    if path is None:
        print("No Chromium was found. Install one, or set GAD_CHROMIUM to its path.", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as folder:
        presses = _measure(Path(folder) / "home", path, given.keys, given.rounds)
    figures = _figures(presses)
    _show(figures)
    if given.json:
        given.json.write_text(json.dumps(figures, indent=2), encoding="utf-8")
    return 0 if _met(figures) else 1


def _measure(home: Path, chromium: str, keys: int, rounds: int) -> list[dict[str, Any]]:
    from playwright.sync_api import sync_playwright

    settings = Settings.from_env({**os.environ, "GAD_HOME": str(home)})
    workspace = Workspace.open_demo(settings)
    with running_app(home) as url, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=list(FLAGS))
        page = browser.new_page(viewport={"width": 1600, "height": 1000})
        page.set_default_timeout(WAIT_MS)
        page.goto(f"{url}/Label?project={workspace.id}")
        page.wait_for_selector("[data-testid=card][data-complete=yes]")
        page.get_by_test_id("model").get_by_text("Run 1").wait_for()  # the first ranking
        page.evaluate(_WATCH)
        for _ in range(rounds):
            page.locator(".rf-status-bar:not(.rf-live)").wait_for()
            _press(page, keys, training=False)
            _press(page, keys, training=True)
        found: list[dict[str, Any]] = page.evaluate("benchmark.presses")
        browser.close()
    return found


def _press(page: Any, keys: int, *, training: bool) -> None:
    """Give verdicts at an analyst's pace; ``training`` starts a run again whenever none is under way."""
    for i in range(keys):
        if training:
            page.keyboard.press("t")  # without effect while a run goes on
            page.wait_for_timeout(PACE_MS)
        page.keyboard.press("a" if i % 4 == 0 else "n")
        page.wait_for_timeout(PACE_MS)
    page.wait_for_function("benchmark.open === 0")


def _figures(presses: list[dict[str, Any]]) -> dict[str, Any]:
    """Median and 95th percentile in ms, idle and training, and the ratio of the medians."""
    figures: dict[str, Any] = {}
    for name, training in (("idle", False), ("training", True)):
        chosen = [p for p in presses if p["training"] is training]
        figures[name] = {"keys": len(chosen)}
        for step in ("verdict", "next"):
            times = np.array([p[step] for p in chosen]) if chosen else np.array([np.nan])
            figures[name][step] = {"median": float(np.median(times)), "p95": float(np.quantile(times, 0.95))}
    figures["ratio"] = {
        step: figures["training"][step]["median"] / figures["idle"][step]["median"]
        for step in ("verdict", "next")
    }
    return figures


def _show(figures: dict[str, Any]) -> None:
    print(f"{'':10} {'keys':>5}  {'verdict painted, ms':>22}  {'next case shown, ms':>22}")
    print(f"{'':10} {'':>5}  {'median':>12} {'p95':>9}  {'median':>12} {'p95':>9}")
    for name in ("idle", "training"):
        row = figures[name]
        cells = "  ".join(
            f"{row[step]['median']:12.1f} {row[step]['p95']:9.1f}" for step in ("verdict", "next")
        )
        print(f"{name:10} {row['keys']:5d}  {cells}")
    ratio = figures["ratio"]
    print(f"{'ratio':10} {'':>5}  {ratio['verdict']:12.2f} {'':>9}  {ratio['next']:12.2f}")
    print(f"targets: verdict <= {VERDICT_MS:.0f} ms, next case <= {NEXT_MS:.0f} ms (medians)")


def _met(figures: dict[str, Any]) -> bool:
    return all(
        figures[name]["verdict"]["median"] <= VERDICT_MS and figures[name]["next"]["median"] <= NEXT_MS
        for name in ("idle", "training")
    )


if __name__ == "__main__":
    sys.exit(main())
