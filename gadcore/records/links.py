"""What is shown of links: the table of a node, and how two nodes are connected."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class LinkFilter:
    """Which links of a node are wanted; None: any."""

    direction: str | None = None  # "in" or "out"
    counterparty: str | None = None  # an id, or a part of ids or names
    kind: str | None = None  # "" finds links without a kind
    since: str | None = None  # "2025", "2025-03", "2025-03-04", "2025-03-04 14:05"; or a step, "12"
    until: str | None = None  # up to the end of what is named
    least: float | None = None  # amount
    most: float | None = None


@dataclass(frozen=True)
class LinkRow:
    """A link as a line of its node's table."""

    direction: str  # "in", "out", or "self": from the node to itself
    node_id: str  # the counterparty
    name: str
    time: str  # "2025-03-04 14:05", or a step, "12"; "" where unknown
    amount: float | None
    kind: str
    other: list[str]  # cells of the other columns


@dataclass(frozen=True)
class LinkColumn:
    """A column of the table of links: its key to sort by, and its name."""

    key: str
    title: str


@dataclass(frozen=True)
class LinkTotals:
    """Links added up; amounts are None where links have none."""

    links: int
    links_in: int
    links_out: int
    amount_in: float | None
    amount_out: float | None
    counterparties: int
    text: str  # "3,410 EUR in, 2,990 EUR out, 41 transfers with 12 counterparties"


@dataclass(frozen=True)
class Counterparty:
    """What runs between a node and another one."""

    node_id: str
    name: str
    links_in: int
    links_out: int
    amount_in: float | None
    amount_out: float | None
    text: str


@dataclass(frozen=True)
class TimelineBar:
    """Links of one day, week, month … of a timeline."""

    since: str  # as in LinkFilter
    until: str
    text: str  # the period in words
    links_in: int
    links_out: int
    amount_in: float | None
    amount_out: float | None


@dataclass(frozen=True)
class Activity:
    """The links of a node: a page of them in some order, with all that pass the filter added up."""

    node_id: str
    word: str  # what one link is called
    words: str
    unit: str  # of the amounts
    columns: list[LinkColumn]
    sort: str  # key of a column
    descending: bool
    offset: int  # of the first row here among those found
    rows: list[LinkRow]
    found: int  # links that pass the filter
    of: int  # links of the node
    totals: LinkTotals
    by: str  # what the bars and main counterparties go by: "amount" or "count"
    counterparties: list[Counterparty]  # the main ones
    kinds: list[str]  # of all links of the node, the most frequent first; "" stands for unknown
    timeline: list[TimelineBar]  # of all links that pass but for the period; empty without times
    step: str  # what one bar is: "day", "week", …


@dataclass(frozen=True)
class Passing:
    """What runs from one node to another."""

    links: int
    amount: float | None
    first: str  # times as in LinkRow
    last: str
    text: str  # "3 transfers, 1,200 EUR, 3–19 March 2025"


@dataclass(frozen=True)
class RouteStep:
    """From one node of a route to the next; a way on which nothing runs is None."""

    source: str
    source_name: str
    target: str
    target_name: str
    forth: Passing | None
    back: Passing | None
    text: str  # both ways in words


@dataclass(frozen=True)
class Route:
    """One way from a node to another, step by step."""

    title: str
    node_ids: list[str]
    steps: list[RouteStep]


@dataclass(frozen=True)
class CommonNeighbour:
    """A node that two others are both linked with."""

    node_id: str
    name: str
    degree: int
    text: str  # what runs between it and each of the two


@dataclass(frozen=True)
class Paths:
    """How two nodes are connected."""

    source: str
    source_name: str
    target: str
    target_name: str
    routes: list[Route]  # fewest steps first; they share no node between the two
    in_time: list[Route]  # along links whose times do not go back, either way
    common: list[CommonNeighbour]  # those with the fewest neighbours first
    common_total: int
    remarks: list[str]  # for instance that a search was cut
