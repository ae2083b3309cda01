"""Home in a browser: upload, preflight report, create; the demo; delete."""

from __future__ import annotations

import re
from collections.abc import Callable

from playwright.sync_api import expect

from gadcore.errors import NotFound
from gadcore.workspace import Workspace

from .conftest import Server, Tabs

EDGES = "source,target,weight\n" + "".join(f"a{i},a{(i * 7 + 3) % 40},{i % 3 + 1}\n" for i in range(40))
NODES = "account_id,name,age,segment\n" + "".join(
    f"a{i},Name {i},{20 + i},{'xyz'[i % 3]}\n" for i in range(40)
)


def upload(name: str, text: str) -> dict[str, object]:
    return {"name": name, "mimeType": "text/csv", "buffer": text.encode()}


def test_files_are_uploaded_checked_and_become_a_project(
    server: Server, tabs: Tabs, project: Callable
) -> None:
    page = tabs.new()
    page.goto(server.url)
    expect(page.get_by_role("heading", name="Ringfence")).to_be_visible()
    page.locator("input[type=file]").set_input_files(
        [upload("transfers.csv", EDGES), upload("accounts.csv", NODES)]
    )
    expect(page.get_by_text("accounts.csv")).to_be_visible()
    page.get_by_test_id("stButton").get_by_role("button", name="Continue").click()
    expect(page.get_by_text("Attributes the model learns from")).to_be_visible()
    expect(page).to_have_url(re.compile("incoming="))
    page.get_by_role("button", name="Read the graph").click()
    expect(page.get_by_test_id("stMetric").filter(has_text="Nodes")).to_contain_text("40")
    page.reload()
    expect(page.get_by_test_id("stMetric").filter(has_text="Nodes")).to_contain_text("40")
    page.get_by_label("Project name").fill("uploaded")
    page.get_by_role("button", name="Create project").click()
    expect(page).to_have_url(re.compile(r"Label\?.*project=uploaded"))
    created = Workspace.open("uploaded", server.settings)
    assert (created.graph.n_nodes, created.graph.label_column) == (40, "name")


def test_a_file_that_is_no_graph_is_explained(server: Server, tabs: Tabs) -> None:
    page = tabs.new()
    page.goto(server.url)
    page.locator("input[type=file]").set_input_files([upload("notes.csv", "just one column\nhello\n")])
    expect(page.get_by_text("notes.csv")).to_be_visible()
    page.get_by_test_id("stButton").get_by_role("button", name="Continue").click()
    read = page.get_by_role("button", name="Read the graph")
    expect(read.or_(page.get_by_test_id("stAlert"))).to_be_visible()
    if read.count():
        read.click()
    expect(page.get_by_test_id("stAlert").first).to_contain_text("notes.csv")


def test_a_project_is_opened_and_deleted_from_its_card(server: Server, tabs: Tabs, project: Callable) -> None:
    workspace = project()
    page = tabs.new()
    page.goto(server.url)
    card = page.locator(f".st-key-project-{workspace.id}")
    expect(card).to_contain_text(workspace.name)
    expect(card).to_contain_text("300 nodes")
    card.get_by_role("button", name="Delete").click()
    page.get_by_role("button", name="Delete for good").click()
    expect(card).to_have_count(0)
    try:
        Workspace.open(workspace.id, server.settings)
    except NotFound:
        return
    raise AssertionError("the project is still there")
