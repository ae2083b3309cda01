"""Home: files added to a project, looked at before they are stored."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from page_project import ROOT, TIMEOUT, no_problem, page, texts
from streamlit.testing.v1 import AppTest

from gadcore.ingest import read
from gadcore.settings import Settings
from gadcore.workspace import Workspace, uploads
from gadcore.workspace.runs import Runs
from tests.bank_files import accounts, payments, table_file, write_bank

DEADLINE = 60.0  # seconds that the reading process may take on a busy machine


@pytest.fixture(autouse=True)
def no_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Runs, "start_worker", lambda self: None)


@pytest.fixture
def bank(home: Path, tmp_path: Path) -> Workspace:
    files = write_bank(tmp_path)
    return Workspace.create("bank", read(files["accounts"], edges=files["payments"]))


def arriving(bank: Workspace, way: str, *paths: Path) -> str:
    """Files that were uploaded for a project and read; gives their token."""
    streams = [path.open("rb") for path in paths]
    incoming = uploads.receive([(path.name, file) for path, file in zip(paths, streams)], Settings.from_env())
    for file in streams:
        file.close()
    incoming.start_update(bank.id, way, "2025-04-01")
    end = time.monotonic() + DEADLINE
    while incoming.state().kind == "reading" and time.monotonic() < end:
        time.sleep(0.02)
    assert incoming.state().kind == "done", incoming.state()
    return incoming.token


def review(bank: Workspace, token: str) -> AppTest:
    """The home page with files that arrived for a project in its address."""
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=TIMEOUT)
    app.query_params.update({"update": bank.id, "arriving": token})
    return app.run()


def test_a_card_offers_to_add_data_and_opens_the_form(bank: Workspace) -> None:
    app = page("app.py")
    app.button(key=f"add-{bank.id}").click().run()
    no_problem(app)
    assert "Add data to bank" in texts(app)
    assert app.button(key="add-look").disabled


def test_what_changes_is_shown_and_stored(bank: Workspace, tmp_path: Path) -> None:
    token = arriving(bank, "append", tmp_path / "accounts_2.csv", tmp_path / "payments_2.csv")
    app = review(bank, token)
    no_problem(app)
    assert "10 nodes new" in texts(app)
    app.button(key="add-store").click().run()
    versions = Workspace.open("bank").data.versions()
    assert [(v.number, v.as_of) for v in versions] == [(1, ""), (2, "2025-04-01")]
    assert uploads.find(token, Settings.from_env()) is None


def test_what_would_be_lost_must_be_ticked(bank: Workspace, tmp_path: Path) -> None:
    nodes = table_file(tmp_path / "fewer.csv", accounts()[:60])
    links = table_file(tmp_path / "fewer_payments.csv", payments()[:200])
    app = review(bank, arriving(bank, "replace", nodes, links))
    assert any("20 nodes would be gone" in warning.value.replace("\\", "") for warning in app.warning)
    assert app.button(key="add-store").disabled
    app.checkbox(key="add-force").check().run()
    app.button(key="add-store").click().run()
    assert Workspace.open("bank").graph.n_nodes == 60
