"""A server of its own, a Chromium that reaches nothing but it, and a labelled project for each test."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from page_project import make_project
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Locator,
    Page,
    Route,
    expect,
    sync_playwright,
)

from benchmarks.app_in_browser import FLAGS, chromium_path, running_app
from gadcore.settings import Settings
from gadcore.store import close_stores
from gadcore.workspace import Workspace
from pages.label import modules

Run = Callable[..., Any]  # what the fixture ``run`` gives
TIMEOUT = 30_000  # ms; a busy machine is slow, a wrong screen stays wrong
MODULES = "http://127.0.0.1:1"  # no server is asked: the answers are given in the test
TEAM = "team.localhost"  # a name of this machine under which the app asks for a login
_LOOPBACK = ("127.0.0.1", "localhost", "::1", TEAM)
_number = count(1)
_log: deque[str] = deque(maxlen=60)  # last lines of the server, shown with a failed test


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.browser)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.failed:
        report.sections.append(("server", "".join(_log)))
    return report


@dataclass
class Server:
    """A running app and the environment that it shares with the test."""

    url: str
    home: Path
    settings: Settings

    def page_of(self, workspace: Workspace, page: str = "Label") -> str:
        return f"{self.url}/{page}?project={workspace.id}"


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Streamlit on a free loopback port, with a workspace folder of its own."""
    home = tmp_path_factory.mktemp("browser") / "home"
    environment = {"GAD_ANALYST": "ana", "GAD_THREADS": "1"}
    settings = Settings.from_env({**environment, "GAD_HOME": str(home)})
    with running_app(home, environment, _log) as url:
        yield Server(url, home, settings)
    close_stores()


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    path = chromium_path()
    if path is None:
        message = "no Chromium: install one, or set GAD_CHROMIUM to its path"
        if os.environ.get("CI") == "true":
            pytest.fail(message)
        pytest.skip(message)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, headless=True, args=list(FLAGS))
        yield browser
        browser.close()


@dataclass
class Tabs:
    """Opens browser windows of separate people.

    Every request beyond this machine is refused and noted, and so is what the server's own policy forbids.
    """

    browser: Browser
    foreign: list[str] = field(default_factory=list)
    contexts: list[BrowserContext] = field(default_factory=list)

    def new(self, *, width: int = 1440, height: int = 900, dark: bool = False) -> Page:
        context = self.browser.new_context(
            viewport={"width": width, "height": height}, color_scheme="dark" if dark else "light"
        )
        context.set_default_timeout(TIMEOUT)
        context.route(lambda url: not _is_loopback(url), self._refuse)
        context.on("console", self._listen)
        self.contexts.append(context)
        return context.new_page()

    def _listen(self, message: ConsoleMessage) -> None:
        if "Content Security Policy" in message.text:
            self.foreign.append(message.text)

    def _refuse(self, route: Route) -> None:
        self.foreign.append(route.request.url)
        route.abort()


def _is_loopback(url: str) -> bool:
    parts = urlsplit(url)
    return parts.scheme in ("blob", "data") or parts.hostname in _LOOPBACK


@pytest.fixture
def tabs(chromium: Browser) -> Iterator[Tabs]:
    """Windows of one test; at its end nothing may have asked for anything outside."""
    expect.set_options(timeout=TIMEOUT)
    opened = Tabs(chromium)
    yield opened
    for context in opened.contexts:
        context.close()
    assert not opened.foreign


@pytest.fixture
def project(server: Server, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Workspace]:
    """Makes a project on the server: ``project(labels=…, models=…)``, ranked without labels if not told."""
    monkeypatch.setenv("GAD_HOME", str(server.home))
    monkeypatch.setenv("GAD_ANALYST", "ana")
    monkeypatch.delenv("GAD_STORE", raising=False)

    def make(
        *, labels: bool = False, models: tuple[str, ...] = ("isolation-forest",), namesakes: bool = False
    ) -> Workspace:
        return make_project(f"planted {next(_number)}", labels=labels, models=models, namesakes=namesakes)

    return make


def serve_modules(page: Page) -> None:
    """Open an empty page that can import the screen's JavaScript modules by name; no server runs."""

    def answer(route: Route) -> None:
        name = urlsplit(route.request.url).path.removeprefix("/")
        if name.endswith(".js"):
            route.fulfill(body=modules.source(name.removesuffix(".js")), content_type="text/javascript")
        else:
            route.fulfill(body="<!doctype html><title>modules</title>", content_type="text/html")

    page.route(f"{MODULES}/**", answer)
    page.goto(f"{MODULES}/")


@pytest.fixture(scope="session")
def modules_page(chromium: Browser) -> Iterator[Page]:
    """One page for all tests of single modules, with module_helpers.js."""
    context = chromium.new_context(locale="en-GB", timezone_id="Europe/Berlin")
    page = context.new_page()
    serve_modules(page)
    page.add_script_tag(path=Path(__file__).with_name("module_helpers.js"))
    yield page
    context.close()


@pytest.fixture
def run(modules_page: Page) -> Run:
    """Runs JavaScript with the exports of modules as ``m``: ``run("outbox words", "return …", *values)``."""

    def evaluate(names: str, body: str, *values: Any) -> Any:
        loads = ", ".join(f"...(await import('/{name}.js'))" for name in names.split())
        fresh = "sessionStorage.clear(); localStorage.clear(); document.body.replaceChildren();"
        return modules_page.evaluate(
            f"async (values) => {{ const m = {{ {loads} }}; {fresh} {body} }}", values
        )

    return evaluate


def part(page: Page, name: str) -> Locator:
    """A part of the labelling screen by its test id."""
    return page.get_by_test_id(name)


def downloaded(page: Page, button: Locator) -> Path:
    """The file behind a download button."""
    with page.expect_download() as waiting:
        button.click()
    return Path(waiting.value.path())


def open_label(page: Page, server: Server, workspace: Workspace) -> None:
    """Open the labelling screen and wait until a case is complete on it."""
    page.goto(server.page_of(workspace))
    # the first page of a server that has just started imports everything
    expect(page.locator("[data-testid=card][data-complete=yes]")).to_be_visible(timeout=3 * TIMEOUT)
    expect(page.locator("[data-testid=graph] [data-centre]")).to_be_attached()


def settled(page: Page) -> None:
    """Wait until the server has confirmed every event."""
    expect(page.locator("[data-testid=workbench][data-settled=yes]")).to_be_attached()


@pytest.fixture
def opened(tabs: Tabs, server: Server, project: Callable[..., Workspace]) -> tuple[Page, Workspace]:
    """The screen of a fresh, ranked project without labels."""
    workspace, page = project(), tabs.new()
    open_label(page, server, workspace)
    return page, workspace
