"""What runs along the edges of a view, against a count by hand; pages of links; periods; pins."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pyarrow as pa
import pytest

from gadcore.errors import InputError
from gadcore.graph import Graph, LinkMeaning, Links, make_graph
from gadcore.graph.links import CLOCK, DATES, DAY, STEPS
from gadcore.insight import edge_links as module
from gadcore.insight.equal_periods import MOST, periods
from gadcore.insight.listed_links import links_between
from gadcore.insight.neighbourhood import neighbourhood
from gadcore.records import EdgeLinks, Neighbourhood

N, ROWS = 14, 400
MARCH = float(np.datetime64("2025-03-03", "s").astype(np.int64))


def linked(
    source, target, *, n: int = N, times=None, amounts=None, codes=None, other=None, **meaning
) -> Graph:
    """A graph whose edges are these links."""
    source, target = np.asarray(source), np.asarray(target)
    graph = make_graph([f"n{i}" for i in range(n)], np.vstack([source, target]))
    links = Links.make(
        n, source, target,
        time=None if times is None else np.asarray(times, float),
        amount=None if amounts is None else np.asarray(amounts, float),
        kind=codes, other=other, meaning=LinkMeaning(**meaning),
    )  # fmt: skip
    return dataclasses.replace(graph, links=links)


@pytest.fixture(scope="module")
def chance() -> Graph:
    """Random links of twelve kinds; some times, amounts and kinds are unknown, some links lead to oneself."""
    rng = np.random.default_rng(4)
    source, target = rng.integers(0, N, (2, ROWS))
    times = MARCH + DAY * rng.integers(0, 300, ROWS)
    amounts = rng.normal(0, 50, ROWS).round(2)
    times[rng.random(ROWS) < 0.1] = np.nan
    amounts[rng.random(ROWS) < 0.1] = np.nan
    kinds = rng.integers(-1, 12, ROWS)
    names = tuple(f"kind {i}" for i in range(12))
    return linked(
        source, target, times=times, amounts=amounts, codes=kinds, word="transfer", unit="EUR",
        precision=DATES, kinds=names,
    )  # fmt: skip


def sent(graph: Graph, a: str, b: str) -> np.ndarray:
    """Row numbers by a look at every row."""
    links, (u, v) = graph.links, (graph.index_of(a), graph.index_of(b))
    return np.flatnonzero((links.source == u) & (links.target == v))


def counted(graph: Graph, a: str, b: str) -> EdgeLinks:
    """The facts of an edge by a look at every row; without words."""
    links, ways = graph.links, (sent(graph, a, b), sent(graph, b, a))
    both = np.concatenate(ways)
    times = links.time[both][np.isfinite(links.time[both])]
    sums = [float(np.nansum(links.amount[w])) if np.isfinite(links.amount[w]).any() else None for w in ways]
    names = [f"kind {k}" if 0 <= k < module.KINDS else "other" for k in links.kind[both]]
    kinds = [(name, names.count(name)) for name in {*names}]
    order = [f"kind {i}" for i in range(module.KINDS)] + ["other"]
    return EdgeLinks(
        len(ways[0]), len(ways[1]), *sums, min(times, default=None), max(times, default=None),
        sorted(kinds, key=lambda kind: (-kind[1], order.index(kind[0]))),
    )  # fmt: skip


def test_every_edge_tells_what_a_look_at_every_row_finds(chance: Graph) -> None:
    view = neighbourhood(chance, None, None, 0, hops=2)
    assert len(view.edges) > 50
    for edge in view.edges:
        assert edge.links is not None
        hand = counted(chance, edge.source, edge.target)
        found = dataclasses.replace(edge.links, text="")
        assert found == dataclasses.replace(
            hand,
            amount_sent=hand.amount_sent and pytest.approx(hand.amount_sent),
            amount_back=hand.amount_back and pytest.approx(hand.amount_back),
        )


def total(view: Neighbourhood, edge: int, **where: int) -> int:
    """Links in the cells of an edge that are of this kind, way or period."""
    cells = view.links.cells
    chosen = [i for i, at in enumerate(cells.edge) if at == edge]
    return sum(cells.count[i] for i in chosen if all(getattr(cells, k)[i] == v for k, v in where.items()))


def test_cells_add_up_to_the_links_of_each_edge_way_kind_and_period(chance: Graph) -> None:
    view = neighbourhood(chance, None, None, 0, hops=2)
    links, told = chance.links, view.links
    sums = np.bincount(told.cells.edge, weights=told.cells.amount)
    for at, edge in enumerate(view.edges):
        assert (total(view, at, back=0), total(view, at, back=1)) == (edge.links.sent, edge.links.back)
        assert {(name, total(view, at, kind=k)) for k, name in enumerate(told.kinds)} >= {*edge.links.kinds}
        rows = np.concatenate(
            [sent(chance, edge.source, edge.target), sent(chance, edge.target, edge.source)]
        )
        time = links.time[rows]
        for period in range(len(told.starts)):
            low = told.first + period * told.width
            assert total(view, at, bin=period) == np.sum((time >= low) & (time < low + told.width))
        assert total(view, at, bin=-1) == np.isnan(time).sum()
        assert sums[at] == pytest.approx(np.nansum(links.amount[rows]), abs=0.02)


def test_an_edge_is_told_in_words() -> None:
    graph = linked(
        [0] * 10 + [1] * 2 + [0], [1] * 10 + [0] * 2 + [2],
        times=[MARCH + DAY * i for i in (*range(10), 11, 16, 3)], amounts=[300.0] * 10 + [205.0] * 2 + [7.5],
        word="transfer", unit="EUR", precision=DATES,
    )  # fmt: skip
    told = {edge.target: edge.links.text for edge in neighbourhood(graph, None, None, 0).edges}
    assert told["n1"] == "12 transfers, 3,410 EUR, 3–19 March 2025 · n0 → n1 10, n1 → n0 2"
    assert told["n2"] == "1 transfer, 7.50 EUR, 6 March 2025 · n0 → n2"


def test_what_is_not_known_is_not_told() -> None:
    bare = neighbourhood(linked([0, 0], [1, 1]), None, None, 0)
    assert bare.edges[0].links == EdgeLinks(2, 0, None, None, None, None, [], "2 links · n0 → n1")
    assert (bare.links.kinds, bare.links.starts, bare.links.cells.amount) == ([], [], [])
    rated = linked([1], [0], amounts=[-10], times=[12 * DAY], word="rating", precision=STEPS)
    text = neighbourhood(rated, None, None, 0).edges[0].links.text
    assert text == "1 rating, total −10, step 12 · n1 → n0"


def test_a_graph_without_links_has_nothing_to_tell() -> None:
    graph = make_graph(["a", "b"], np.array([[0], [1]]))
    view = neighbourhood(graph, None, None, 0)
    assert view.links is None
    assert [edge.links for edge in view.edges] == [None]
    assert links_between(graph, 0, 1).total == 0


def test_a_node_without_edges_has_no_cells() -> None:
    view = neighbourhood(linked([0], [1], times=[MARCH]), None, None, 5)
    assert view.edges == []
    assert view.links.cells.edge == view.links.starts == []


def test_periods_get_longer_until_the_cells_are_few(chance: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    fine = neighbourhood(chance, None, None, 0, hops=2).links
    monkeypatch.setattr(module, "MAX_CELLS", 250)
    coarse = neighbourhood(chance, None, None, 0, hops=2).links
    assert coarse.width > fine.width
    assert len(coarse.cells.edge) < len(fine.cells.edge)
    assert sum(coarse.cells.count) == sum(fine.cells.count)


@pytest.mark.parametrize("precision", [STEPS, DATES, CLOCK])
@pytest.mark.parametrize("span", [0, 1, 119, 120, 121, 5000, 400_000])
@pytest.mark.parametrize("first", [-7 * DAY, MARCH])
def test_periods_cover_all_times_and_are_few(precision: str, span: int, first: float) -> None:
    time = np.array([first, first + span * DAY, np.nan])
    for found in periods(time, LinkMeaning(precision=precision)):
        assert 1 <= found.n <= MOST
        assert found.first <= first < found.first + found.width
        assert found.of(time).tolist() == [0, found.n - 1, -1]


def test_periods_of_a_day_are_hours_and_are_told_so() -> None:
    meaning = LinkMeaning(precision=CLOCK)
    found = next(periods(np.array([MARCH + 3601, MARCH + 20 * 3600]), meaning))
    starts, ends = found.texts(meaning)
    assert found.width == 900
    assert (starts[0], ends[0]) == ("3 March 2025, 01:00", "3 March 2025, 01:14:59")


def test_periods_of_dates_begin_and_end_with_days() -> None:
    meaning = LinkMeaning(precision=DATES)
    found = next(periods(MARCH + DAY * np.array([0.0, 300.0]), meaning))
    starts, ends = found.texts(meaning)
    assert (starts[0], ends[0]) == ("3 March 2025", "9 March 2025")


def test_a_page_lists_links_of_both_ways_by_time(chance: Graph) -> None:
    a, b = max(
        ((e.source, e.target) for e in neighbourhood(chance, None, None, 0, hops=2).edges),
        key=lambda pair: len(sent(chance, *pair)),
    )
    rows = np.concatenate([sent(chance, a, b), sent(chance, b, a)])
    whole = links_between(chance, chance.index_of(a), chance.index_of(b))
    assert whole.total == len(whole.rows) == len(rows)
    assert {row.source for row in whole.rows} <= {a, b}
    pages = [
        links_between(chance, chance.index_of(a), chance.index_of(b), start=i, limit=1) for i in range(3)
    ]
    assert [page.rows[0] for page in pages if page.rows] == whole.rows[:3]
    times = np.sort(chance.links.time[rows])
    dated = links_between(chance, chance.index_of(a), chance.index_of(b), after=MARCH, before=times[0] + 1)
    assert dated.total == np.sum(times == times[0])


def test_a_page_has_all_columns_in_words_and_leaves_kinds_out() -> None:
    graph = linked(
        [0, 1, 0], [1, 0, 1], times=[MARCH, MARCH + 60, np.nan], amounts=[1.5, np.nan, -3], codes=[0, 1, -1],
        other=pa.table({"memo": ["rent", None, "gift"]}),
        unit="EUR", precision=CLOCK, kinds=("card", "cash"),
    )  # fmt: skip
    page = links_between(graph, 0, 1)
    told = [(r.source, r.target, r.time, r.amount, r.kind, r.other) for r in page.rows]
    assert page.columns == ["memo"]
    assert told == [
        ("n0", "n1", "3 March 2025, 00:00", "1.50 EUR", "card", ["rent"]),
        ("n1", "n0", "3 March 2025, 00:01", "", "cash", [""]),
        ("n0", "n1", "", "−3.00 EUR", "", ["gift"]),
    ]
    assert [row.kind for row in links_between(graph, 0, 1, without=[0, 2]).rows] == ["cash"]


@pytest.mark.parametrize("asked", [{"start": -1}, {"limit": 0}, {"limit": 100_000}])
def test_impossible_pages_are_refused(chance: Graph, asked: dict[str, int]) -> None:
    with pytest.raises(InputError, match="1 to 500 links"):
        links_between(chance, 0, 1, **asked)


def test_all_pairs_are_found_at_once(chance: Graph) -> None:
    links = chance.links
    a, b = (pairs.ravel() for pairs in np.meshgrid(np.arange(N), np.arange(N)))
    begin, end = links.spans(a, b)
    for u, v, first, last in zip(a.tolist(), b.tolist(), begin.tolist(), end.tolist()):
        assert list(range(first, last)) == links.sent(u, v).tolist()


def test_a_pinned_node_stays_with_its_edges_to_what_is_shown() -> None:
    graph = make_graph([f"n{i}" for i in range(8)], np.array([[0, 0, 1, 4, 5, 5], [1, 2, 4, 5, 6, 7]]))
    plain = neighbourhood(graph, None, None, 0)
    view = neighbourhood(graph, None, None, 0, pinned=["n4", "n7", "n1"])
    shown = {node.node_id: node for node in view.nodes}
    assert {node for node, told in shown.items() if told.aside} == {"n4", "n7"}
    assert [node for node in view.nodes if not node.aside] == plain.nodes[:1] + [
        dataclasses.replace(node, hidden=shown[node.node_id].hidden) for node in plain.nodes[1:]
    ]
    assert {(e.source, e.target) for e in view.edges} == {("n0", "n1"), ("n0", "n2"), ("n1", "n4")}
    assert view.left_out == plain.left_out == 0


def test_pinned_nodes_stand_apart_and_can_be_expanded() -> None:
    graph = make_graph(
        [f"n{i}" for i in range(30)], np.array([[0] * 10 + [20] * 5, [*range(1, 11), *range(21, 26)]])
    )
    view = neighbourhood(graph, None, None, 0, pinned=["n20", "n28"], expanded=["n20"])
    places = [(node.x, node.y) for node in view.nodes]
    assert len(view.nodes) == 1 + 10 + 2 + 5
    assert min(math.dist(a, b) for i, a in enumerate(places) for b in places[:i]) > 20
    left = min(x for (x, _), node in zip(places, view.nodes) if node.hop <= 1)
    assert all(node.x < left for node in view.nodes if node.aside)


def test_pinned_nodes_do_not_stand_in_one_line() -> None:
    view = neighbourhood(linked([0, 5, 6], [1, 6, 7]), None, None, 0, pinned=["n5", "n6", "n7"])
    (ax, ay), (bx, by), (cx, cy) = [(node.x, node.y) for node in view.nodes if node.aside]
    assert abs((bx - ax) * (cy - ay) - (by - ay) * (cx - ax)) > 1000  # twice the area between them
