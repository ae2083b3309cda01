"""Pictures of the main screens for the README: ``make screenshots``.

A fresh workspace gets the demo with 130 labels (from an analyst who knows the answers) and four
runs; then each page is opened in Chromium and written to docs/screenshots.
"""

from __future__ import annotations

import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Literal

import numpy as np
from playwright.sync_api import Page, sync_playwright

from benchmarks.app_in_browser import FLAGS, chromium_path, running_app
from gadcore.settings import ROOT, Settings
from gadcore.workspace import Workspace

FOLDER = ROOT / "docs" / "screenshots"
SIZE = {"width": 1440, "height": 860}
ROUNDS = (40, 40, 50)  # labels before each run
PICTURES: dict[Literal["light", "dark"], tuple[str, ...]] = {
    "light": ("Home", "Label", "Activity", "Map", "Train", "Export"),
    "dark": ("Label", "Map"),
}
AFTER = {"Activity": ("Label", "f", "totals")}  # pictures of a page after a key, when a part is filled


def main() -> int:
    path = chromium_path()
    if path is None:
        print("No Chromium found. Install chromium, or set GAD_CHROMIUM to its path.", file=sys.stderr)
        return 1
    FOLDER.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as home:
        project = labelled_demo(Path(home))
        with running_app(Path(home)) as address, sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=path, args=list(FLAGS))
            for scheme, pages in PICTURES.items():
                page = browser.new_page(viewport=SIZE, color_scheme=scheme)
                for name in pages:
                    take(page, address, project, name, "" if scheme == "light" else "_dark")
                page.close()
            browser.close()
    return 0


def labelled_demo(home: Path) -> str:
    """A demo project with labels and runs; returns its id."""
    settings = replace(
        Settings.from_env(), home=home, store_url=f"sqlite:///{home / 'ringfence.sqlite'}", analyst="ana"
    )
    workspace = Workspace.open_demo(settings)
    truth = workspace.data.truth()
    answers = np.zeros(workspace.graph.n_nodes) if truth is None else truth.y
    workspace.runs.train()
    for labels in ROUNDS:
        for row in workspace.cases.queue(n=labels):
            answer = answers[workspace.graph.index_of(row.node_id)]
            workspace.verdicts.record(
                row.node_id,
                "anomalous" if answer == 1 else "normal",
                offer=row.offer,
            )
        workspace.runs.train()
    return workspace.id


def take(page: Page, address: str, project: str, name: str, suffix: str) -> None:
    """One picture of one page, when it has come to rest."""
    shown, key, part = AFTER.get(name, (name, "", ""))
    page.goto(f"{address}/{shown if shown != 'Home' else ''}?project={project}")
    page.wait_for_load_state("networkidle")
    page.get_by_role("link", name=shown, exact=True).first.wait_for(timeout=60_000)
    page.locator("[data-testid=stMain] h1, [data-testid=stMain] h2").first.wait_for(timeout=60_000)
    page.wait_for_function("!document.querySelector('[data-testid=stStatusWidget]')", timeout=60_000)
    if shown == "Label":
        page.locator("canvas").first.wait_for(timeout=60_000)
    if key:
        page.keyboard.press(key)
        page.locator(f"[data-testid={part}]:not(:empty)").wait_for(timeout=60_000)
    page.wait_for_timeout(4000)  # charts and canvas are drawn after the last message
    page.screenshot(path=FOLDER / f"{name.lower()}{suffix}.png")
    print(f"{name.lower()}{suffix}.png")


if __name__ == "__main__":
    sys.exit(main())
