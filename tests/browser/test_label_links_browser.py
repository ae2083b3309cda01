"""What the links say on the labelling screen: picture, kinds and dates, activity, paths, pins."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest
from linked_graph import START, linked, stepped
from playwright.sync_api import Browser, Page, expect

from gadcore.graph import Graph
from gadcore.graph.links import DAY
from gadcore.ingest import Reading, Report
from gadcore.workspace import Workspace

from .conftest import TIMEOUT, Server, Tabs, downloaded, open_label, part
from .label_screen import rows

MARCH = START + 61 * DAY  # 3 March 2025
CASH, CARD, WIRE = range(3)
VIEW = "document.querySelector('[data-testid=graph] .gv').graphView"
PEOPLE = ["Ada", "Ben", "Cleo", "Dan", "Eve", "Finn", "Gus", "Hal", "Ida", "Jo", "Kim", "Lea"]
NODES = 150  # more than twice what the queue or a picture shows at first


def transfers() -> Graph:
    """Ada pays Ben twelve times in March, she and Cleo pay each other, Dan pays her; Ben and Cleo pay Eve.

    Hal pays Ida 230 times. Everybody else pays Lea once.
    """
    links = [(0, 1, MARCH + day * DAY, 300.0 - 20 * (day > 9), CARD) for day in (*range(10), 12, 16)]
    links[-1] = (0, 1, MARCH + 16 * DAY, 130.0, CARD)
    links += [(0, 2, START, 50.0, CASH), (2, 0, START + DAY, 20.0, CASH)]
    links += [(3, 0, MARCH + 40 * DAY, 9000.0, WIRE), (1, 4, MARCH + 20 * DAY, 75.5, CARD)]
    links += [
        (2, 4, MARCH + 2 * DAY, 10.0, CASH),
        (4, 5, MARCH + 30 * DAY, 60.0, WIRE),
        (5, 6, START, 5.0, CASH),
    ]
    links += [(7, 8, START + day * DAY / 4, float(day), CARD) for day in range(230)]
    links += [(6, 7, MARCH, 1.0, CASH), (9, 10, MARCH, 1.0, CASH), (10, 11, MARCH, 1.0, CASH)]
    links += [(i, 11, MARCH, 1.0, CASH) for i in range(len(PEOPLE), NODES)]
    source, target, time, amount, kind = (np.array(column) for column in zip(*links))
    names = [*PEOPLE, *(f"Payer {i}" for i in range(len(PEOPLE), NODES))]
    return linked(NODES, source, target, names=names, time=time, amount=amount, kind=kind)


def ranked(server: Server, name: str, graph: Graph) -> Workspace:
    report = Report(name, "test", graph.n_nodes, graph.n_edges, graph.n_features)
    workspace = Workspace.create(name, Reading(graph, report, None), settings=server.settings)
    assert workspace.runs.train("isolation-forest").status == "done"
    return workspace


@pytest.fixture(scope="module")
def bank(server: Server) -> Workspace:
    return ranked(server, "bank", transfers())


@pytest.fixture(scope="module")
def window(chromium: Browser) -> Iterator[Page]:
    """One window for the tests of this file; mistakes of its scripts are collected."""
    expect.set_options(timeout=TIMEOUT)
    context = chromium.new_context(viewport={"width": 1440, "height": 900}, locale="en-GB")
    context.set_default_timeout(TIMEOUT)
    yield context.new_page()
    context.close()


@pytest.fixture
def ada(window: Page, server: Server, bank: Workspace) -> Iterator[Page]:
    """The screen with the case of Ada, as in a fresh tab; no script may fail on it."""
    failed: list[str] = []
    note = lambda error: failed.append(str(error))  # noqa: E731
    window.on("pageerror", note)
    window.goto("about:blank")
    window.goto(f"{server.page_of(bank)}&case=n0")
    expect(window.locator("[data-testid=card][data-node=n0][data-complete=yes]")).to_be_visible()
    expect(window.locator("[data-testid=graph] [data-centre=n0]")).to_be_attached()
    yield window
    window.evaluate("() => { sessionStorage.clear(); localStorage.clear(); }")
    window.remove_listener("pageerror", note)
    assert not failed


def lines(page: Page) -> dict[str, dict]:
    """The edges of the picture by their ends."""
    shown = page.evaluate(f"{VIEW}.lines()")
    return {f"{line['from']} {line['to']}": line for line in shown}


def heads(line: dict) -> list[str]:
    """Nodes that the arrows of an edge point at."""
    return [line[end] for end in ("from", "to") if line["arrows"][end]["enabled"]]


def edge(page: Page, a: str, b: str) -> dict[str, float]:
    """Where the middle of an edge is on the page."""
    found = page.evaluate(f"([a, b]) => {VIEW}.edge(a, b) || {VIEW}.edge(b, a)", [a, b])
    return {"x": found["x"], "y": found["y"]}


def walk(page: Page, node: str) -> None:
    """Open another case, as a click on the map does."""
    page.evaluate(
        "(node) => window.dispatchEvent(new CustomEvent('ringfence:goto', { detail: { node } }))", node
    )
    expect(page.locator(f"[data-testid=card][data-node={node}][data-complete=yes]")).to_be_visible()
    expect(page.locator(f"[data-testid=graph] [data-centre={node}]")).to_be_attached()


def in_view(page: Page, n: int) -> None:
    expect(page.locator(f"[data-testid=graph] .gv[data-nodes='{n}']")).to_be_attached()


def activity(page: Page) -> None:
    page.keyboard.press("f")
    expect(part(page, "links")).to_be_visible()


def cells(page: Page, column: str) -> list[str]:
    return page.locator(f"[data-testid=links] tbody .rf-col-{column}").all_inner_texts()


def test_arrows_widths_and_looks_follow_direction_amount_and_kind(ada: Page) -> None:
    in_view(ada, 4)
    drawn = lines(ada)
    assert heads(drawn["n0 n1"]) == ["n1"]
    assert heads(drawn["n0 n3"]) == ["n0"]
    assert sorted(heads(drawn["n0 n2"])) == ["n0", "n2"]
    assert drawn["n0 n3"]["width"] > drawn["n0 n1"]["width"] > drawn["n0 n2"]["width"]
    looks = {(line["color"]["color"], str(line["dashes"])) for line in drawn.values()}
    assert len(looks) == 3
    part(ada, "width-count").click()
    drawn = lines(ada)
    assert drawn["n0 n1"]["width"] > drawn["n0 n2"]["width"] > drawn["n0 n3"]["width"]


def test_an_edge_tells_what_runs_along_it_and_a_click_lists_it(ada: Page) -> None:
    in_view(ada, 4)
    at = edge(ada, "n0", "n1")
    ada.mouse.move(at["x"], at["y"])
    expect(ada.locator(".gv-card")).to_contain_text("12 transfers, 3,410 EUR, 3–19 March 2025")
    ada.mouse.click(at["x"], at["y"])
    listed = part(ada, "edge-list").locator("tbody tr")
    expect(listed).to_have_count(12)
    expect(listed.first).to_contain_text("3 March 2025, 00:00")
    expect(listed.first).to_contain_text("300 EUR")
    expect(part(ada, "links-range")).to_have_text("12 transfers")
    ada.keyboard.press("l")
    expect(part(ada, "edge-text")).to_contain_text("2 transfers, 70 EUR")
    ada.keyboard.press("Shift+L")
    expect(part(ada, "edge-text")).to_contain_text("12 transfers")
    ada.keyboard.press("Escape")
    expect(part(ada, "edge-list")).to_be_hidden()


def test_a_period_is_dragged_moved_by_keys_played_and_left(ada: Page) -> None:
    in_view(ada, 4)
    said, whole = part(ada, "period"), "1 January – 12 April 2025 · 15 transfers"
    expect(said).to_have_text(whole)
    box = part(ada, "brush").bounding_box()
    ada.mouse.move(box["x"] + 1, box["y"] + 10)
    ada.mouse.down()
    ada.mouse.move(box["x"] + box["width"] / 3, box["y"] + 10, steps=4)
    ada.mouse.up()
    expect(said).to_contain_text("· 2 transfers")
    assert [ends for ends, line in lines(ada).items() if not line["hidden"]] == ["n0 n2"]
    assert sorted(ada.evaluate(f"{VIEW}.quiet()")) == ["n1", "n3"]
    ada.keyboard.press("d")
    ada.keyboard.press("End")
    expect(said).to_contain_text("12 April 2025")
    ada.keyboard.press("Home")
    ada.keyboard.press(" ")
    expect(part(ada, "play")).to_have_attribute("aria-pressed", "true")
    expect(said).to_contain_text("12 April 2025")
    expect(part(ada, "play")).to_have_attribute("aria-pressed", "false")
    ada.keyboard.press("Escape")
    expect(said).to_have_text(whole)


def test_a_kind_is_switched_off_by_its_number_for_picture_and_list(ada: Page) -> None:
    in_view(ada, 4)
    chips = ada.locator(".rf-kind")
    expect(chips).to_have_text(["cash2", "card12", "wire1"])
    ada.keyboard.press("2")
    expect(chips.nth(1)).to_have_attribute("aria-pressed", "false")
    assert lines(ada)["n0 n1"]["hidden"] is True
    expect(part(ada, "period")).to_contain_text("· 3 transfers")
    chips.nth(1).click()
    assert not lines(ada)["n0 n1"]["hidden"]


def test_the_activity_is_sorted_and_filtered(ada: Page) -> None:
    activity(ada)
    expect(part(ada, "totals")).to_have_text(
        "9,020 EUR in, 3,460 EUR out, 15 transfers with 3 counterparties."
    )
    assert cells(ada, "time")[0] == "2025-04-12 00:00"
    for order, first in (("descending", "9,000"), ("ascending", "20")):
        part(ada, "sort-amount").click()
        expect(ada.locator(f"th[aria-sort={order}] [data-testid=sort-amount]")).to_be_visible()
        assert cells(ada, "amount")[0] == first
    part(ada, "links-direction").select_option("in")
    expect(part(ada, "totals")).to_contain_text("2 transfers with 2 counterparties (of 15 transfers)")
    part(ada, "links-kind").select_option(label="wire")
    expect(part(ada, "totals")).to_contain_text("1 transfer with 1 counterparty")
    part(ada, "links-clear").click()
    part(ada, "links-counterparty").fill("cle")
    expect(part(ada, "totals")).to_contain_text("2 transfers with 1 counterparty")
    part(ada, "links-clear").click()
    part(ada, "links-since").fill("2025-03-10")
    part(ada, "links-until").fill("2025-03")
    expect(part(ada, "totals")).to_contain_text("5 transfers with 1 counterparty")
    part(ada, "links-least").fill("200")
    expect(part(ada, "totals")).to_contain_text("4 transfers")
    saved = downloaded(ada, part(ada, "links-csv")).read_text(encoding="utf-8")
    assert len(saved.splitlines()) == 5


def test_the_timeline_takes_a_period(ada: Page) -> None:
    activity(ada)
    box = part(ada, "timeline").bounding_box()
    ada.mouse.move(box["x"] + box["width"] / 2, box["y"] + 10)
    ada.mouse.down()
    ada.mouse.move(box["x"] + box["width"] - 2, box["y"] + 10, steps=3)
    ada.mouse.up()
    expect(part(ada, "totals")).to_contain_text("13 transfers with 2 counterparties (of 15")
    part(ada, "timeline-all").click()
    expect(part(ada, "totals")).to_contain_text("15 transfers with 3 counterparties.")


def test_the_table_is_walked_by_keys_from_case_to_case(ada: Page) -> None:
    activity(ada)
    ada.keyboard.press("ArrowDown")
    ada.keyboard.press(" ")
    expect(part(ada, "totals")).to_contain_text("12 transfers with 1 counterparty")
    ada.keyboard.press("Enter")
    expect(ada.locator("[data-testid=card][data-node=n1]")).to_be_visible()
    expect(part(ada, "totals")).to_contain_text("13 transfers with 2 counterparties.")
    expect(ada.locator("[data-testid=links] tbody tr:focus")).to_have_attribute("data-node", "n4")
    ada.keyboard.press("b")
    expect(part(ada, "totals")).to_contain_text("15 transfers")


def test_long_tables_come_in_pages(ada: Page) -> None:
    walk(ada, "n7")
    activity(ada)
    expect(part(ada, "links-shown")).to_have_text("1–200 of 231")
    ada.keyboard.press("PageDown")
    expect(part(ada, "links-shown")).to_have_text("201–231 of 231")
    expect(ada.locator("[data-testid=links] tbody tr")).to_have_count(31)


def test_paths_lead_to_another_node_and_into_the_picture(ada: Page) -> None:
    in_view(ada, 4)
    ada.keyboard.press("v")
    ada.keyboard.type("Eve")
    expect(part(ada, "paths-search-hits").locator("[data-node=n4]")).to_be_visible()
    ada.keyboard.press("Enter")
    found = part(ada, "paths")
    expect(found).to_contain_text("Shortest ways")
    expect(found).to_contain_text("In the order of time")
    expect(found).to_contain_text("Common neighbours of Ada and Eve: 2")
    assert {"n0 n1 n4", "n0 n2 n4"} <= set(
        found.locator(".rf-route").evaluate_all("all => all.map((one) => one.dataset.nodes)")
    )
    part(ada, "show-route").first.click()
    in_view(ada, 5)
    expect(part(ada, "pins")).to_contain_text("Eve")


def test_pinned_nodes_stay_under_their_names_while_one_walks_and_after_a_reload(ada: Page) -> None:
    in_view(ada, 4)
    ada.keyboard.press("p")
    expect(part(ada, "pins")).to_contain_text("Ada")
    walk(ada, "n10")
    in_view(ada, 4)
    assert ada.evaluate(f"{VIEW}.locate('n0')")
    ada.reload()
    expect(ada.locator("[data-testid=card][data-node=n10][data-complete=yes]")).to_be_visible()
    in_view(ada, 4)
    expect(part(ada, "pins")).to_contain_text("Ada")
    part(ada, "unpin-n0").click()
    in_view(ada, 3)


def test_a_pin_has_a_name_also_where_neither_queue_nor_picture_had_the_node(ada: Page) -> None:
    walk(ada, "n11")
    shown = {*rows(ada), *(end for ends in lines(ada) for end in ends.split())}
    hidden = next(i for i in range(len(PEOPLE), NODES) if f"n{i}" not in shown)
    ada.keyboard.press("v")
    ada.keyboard.type(f"Payer {hidden}")
    expect(part(ada, "paths-search-hits").locator(f"[data-node=n{hidden}]")).to_be_visible()
    ada.keyboard.press("Enter")
    part(ada, "show-route").first.click()
    expect(part(ada, "pins").get_by_title(f"Open n{hidden}")).to_have_text(f"Payer {hidden}")


@pytest.mark.parametrize(
    ("name", "graph", "parts"),
    [
        ("steps", lambda: stepped(5, [0, 0, 1, 2], [1, 2, 3, 4], [1, 2, 3, 9]), {"brush"}),
        ("amounts", lambda: linked(4, [0, 0, 1], [1, 2, 3], amount=np.array([1.0, 2, 3])), {"width-count"}),
        ("bare", lambda: linked(4, [0, 0, 1], [1, 2, 3]), set()),
    ],
)
def test_what_links_do_not_have_is_not_shown(
    window: Page, server: Server, name: str, graph: Callable[[], Graph], parts: set[str]
) -> None:
    window.goto(f"{server.page_of(ranked(server, name, graph()))}&case=n0")  # it has links at two moments
    expect(window.locator("[data-testid=card][data-node=n0][data-complete=yes]")).to_be_visible()
    expect(part(window, "tab-activity")).to_be_visible()
    expect(window.locator("[data-testid=graph] .gv[data-centre]")).to_be_attached()  # the bar comes with it
    for at in ("brush", "width-count"):
        expect(part(window, at)).to_be_visible(visible=at in parts)
    expect(window.locator(".rf-kind")).to_have_count(0)
    expect(part(window, "links-bar")).to_be_visible(visible=bool(parts))


def test_a_graph_without_links_has_no_tab_and_no_bar_for_them(tabs: Tabs, server: Server, project) -> None:
    page = tabs.new()
    open_label(page, server, project())
    expect(part(page, "tab-activity")).to_have_count(0)
    expect(part(page, "links-bar")).to_be_hidden()
    page.keyboard.press("f")
    expect(part(page, "toasts")).to_contain_text("This graph says no more than who is linked with whom.")
