"""Export in a browser: choose, download, read the file again."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path

import pandas as pd
from playwright.sync_api import Page, expect

from .conftest import Server, Tabs, downloaded


def download(page: Page, key: str) -> bytes:
    """Click a download button by its key and give the file."""
    button = page.locator(f".st-key-{key}").get_by_role("button")
    expect(button).to_be_enabled()
    return downloaded(page, button).read_bytes()


def test_the_flagged_list_is_filtered_downloaded_and_read_again(
    server: Server, tabs: Tabs, project: Callable
) -> None:
    workspace = project(labels=True, models=("sgc-lr",))
    page = tabs.new()
    page.goto(server.page_of(workspace, "Export"))
    expect(page.get_by_test_id("stMetric").filter(has_text="Flagged")).to_contain_text("100")
    page.get_by_label("At most").fill("20")
    page.get_by_label("At most").press("Enter")
    page.get_by_text("Keep all marked anomalous").click()
    expect(page.get_by_test_id("stMetric").filter(has_text="Flagged")).to_contain_text("20")
    content = download(page, "download-csv")
    rows = list(csv.DictReader(io.StringIO(content.decode())))
    manifest = json.loads(download(page, "manifest-csv"))
    assert len(rows) == manifest["rows"] == 20
    assert manifest["sha256"] == hashlib.sha256(content).hexdigest()
    assert [int(row["rank"]) for row in rows] == sorted(int(row["rank"]) for row in rows)
    assert {row["run_id"] for row in rows} == {workspace.runs.in_use().id}
    again = pd.read_parquet(io.BytesIO(download(page, "download-parquet")))
    assert list(again["node_id"]) == [row["node_id"] for row in rows]


def test_a_click_right_after_the_filters_changed_gives_the_list_that_is_shown(
    server: Server, tabs: Tabs, project: Callable
) -> None:
    workspace = project(labels=True, models=("sgc-lr",))
    page = tabs.new()
    page.goto(server.page_of(workspace, "Export"))
    flagged = page.get_by_test_id("stMetric").filter(has_text="Flagged")
    expect(flagged).to_contain_text("100")
    expect(page.locator(".st-key-download-model")).to_be_visible()
    page.get_by_role("button").evaluate_all("(all) => all.forEach((made) => (made.dataset.before = 'yes'))")
    page.get_by_text("Keep all marked anomalous").click()
    page.get_by_label("At most").fill("20")
    page.get_by_label("At most").press("Enter")  # cuts the run before short: Streamlit forgets its files
    expect(flagged).to_contain_text("20")
    assert page.locator("[class*=st-key-download-] button[data-before]").count() == 0
    content = download(page, "download-csv")
    assert len(list(csv.DictReader(io.StringIO(content.decode())))) == 20


def test_labels_model_and_report_are_downloaded(server: Server, tabs: Tabs, project: Callable) -> None:
    workspace = project(labels=True, models=("sgc-lr",))
    page = tabs.new()
    page.goto(server.page_of(workspace, "Export"))
    labels = list(csv.DictReader(io.StringIO(download(page, "download-labels").decode())))
    assert len(labels) == 38
    with zipfile.ZipFile(io.BytesIO(download(page, "download-model"))) as archive:
        assert {"detector.json", "model_card.json"} <= set(archive.namelist())
    report = download(page, "download-report-html").decode()
    assert workspace.name in report
    assert "<script" not in report
    assert download(page, "download-report-pdf").startswith(b"%PDF")


def test_the_report_opens_in_a_browser_and_asks_for_nothing(
    server: Server, tabs: Tabs, project: Callable, tmp_path: Path
) -> None:
    from gadcore.output.report import report_html

    workspace = project(labels=True, models=("sgc-lr",))
    page = tabs.new(width=1000)
    page.set_content(report_html(workspace, analyst="Ana"))
    expect(page.get_by_role("heading", name="Provenance")).to_be_visible()
    expect(page.locator("svg")).to_have_count(4)


def test_without_scores_the_page_leads_to_train(server: Server, tabs: Tabs, project: Callable) -> None:
    workspace = project(models=())
    page = tabs.new()
    page.goto(server.page_of(workspace, "Export"))
    expect(page.get_by_text("There are no scores yet")).to_be_visible()
    page.get_by_role("link", name="Go to Train").click()
    expect(page.get_by_role("heading", name="Train", exact=True)).to_be_visible()
