"""What the screen and the CLI show: plain frozen records, filled by Workspace, JSON-able with ``as_json``."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum
from typing import Any

import numpy as np

_PLAIN = frozenset((str, int, bool, type(None)))
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True)
class ProjectInfo:
    """A project as a card on the home page."""

    id: str
    name: str
    owner: str
    created_at: datetime
    n_nodes: int
    n_edges: int
    n_features: int
    fingerprint: str
    has_truth: bool
    normal: int
    anomalous: int
    unsure: int
    last_run: RunInfo | None
    practice_of: str = ""  # name of the project that a practice copy was made of
    version: int = 1  # of its graph, the present one


@dataclass(frozen=True)
class RunInfo:
    """A row of the runs table."""

    id: str
    number: int  # 1, 2, 3 … within the project: "run 3"
    project: str
    status: str  # queued, running, done, failed, cancelled
    model: str
    params: dict[str, Any]
    seed: int
    device: str
    graph_fingerprint: str
    label_hash: str
    normal: int  # labels the run was trained on
    anomalous: int
    unsure: int
    started_at: datetime | None
    ended_at: datetime | None
    seconds: float | None
    epoch: int
    epochs: int
    stage: str
    loss: float | None
    auc: float | None  # out-of-fold AUC so far or at the end
    basis: str
    message: str  # why it failed, or what is wrong with it; or ""
    versions: dict[str, str]
    in_use: bool  # scores of this run are shown
    for_use: bool = True  # its scores are shown as soon as it is done
    ended_after: int | None = None  # id of the last label event when it ended
    version: int = 1  # of the graph that it saw

    @property
    def live(self) -> bool:
        return self.status in ("queued", "running")


@dataclass(frozen=True)
class TrailEntry:
    """What somebody did."""

    number: int  # 1, 2, 3 … without a gap
    at: datetime
    who: str  # "" for a worker process
    action: str
    project: str  # id, also of a project that is deleted; "" for none
    details: dict[str, Any]
    hash: str  # of this entry and all before it


@dataclass(frozen=True)
class QueueRow:
    """A line of the queue."""

    node_id: str
    name: str
    rank: int  # 1 = highest score of the run in use; 0 without a run
    moved: int | None  # places up (+) or down (-) since the run before
    score: float
    percentile: float  # 0..100 among all nodes
    verdict: str | None
    reason: str
    strategy: str
    inclusion_probability: float | None = None  # of a random check
    offer: int | None = None  # as which the queue shows it: a verdict on it names this
    provisional_rank: int | None = None  # with the verdicts since the run; None: there are none, or it is off
    assigned_by: str = (
        ""  # the lead who gave the case to the analyst who asks; "" for a case of the common queue
    )


@dataclass(frozen=True)
class AssignedCases:
    """What a lead has given to an analyst."""

    analyst: str
    open: list[str]  # node ids that wait for a verdict
    done: int


@dataclass(frozen=True)
class QueueBasis:
    """What the queue is ordered by: a run, or a run and the verdicts given since."""

    run: int | None  # number of the run in use
    verdicts: int  # given since and already in the order; 0: the order is the run's own
    enabled: bool  # whether verdicts are let into the order before the next run
    state: str  # another one whenever verdicts may have changed the order; "" for the run's own


@dataclass(frozen=True)
class Attribute:
    """A raw column of a node against its peers."""

    column: str
    value: str
    percentile: float | None  # numbers: share of nodes with a lower value, in %
    share: float | None  # other types: share of nodes with this value, in %
    group: str = ""  # of a column derived from links: what it belongs to; "" for a column that was read
    help: str = ""  # what it is, in a sentence


@dataclass(frozen=True)
class NodeCard:
    """Everything known of a node."""

    row: QueueRow
    degree: int
    probability: float | None
    probability_band: str  # as it is told to people: "20–50 %"; "" without a probability
    probability_reason: str  # basis, or why it is empty
    band: str  # "high", "raised", "usual", "low"
    attributes: list[Attribute]
    rank_history: list[tuple[int, int]]  # (run number, rank)
    neighbour_verdicts: dict[str, int]  # normal, anomalous, unsure, unlabelled
    events: list[dict[str, Any]]  # label history, newest first: at, analyst, verdict, note, kind, source
    note: str
    similar: list[QueueRow]
    similar_space: str = ""  # where they are nearest, in words
    disputed: dict[str, str] = field(default_factory=dict)  # analyst -> verdict, while they disagree
    judged_by: list[str] = field(default_factory=list)  # analysts who looked at it themselves
    link_words: str = ""  # what its links are called: "transfers"; "" where there are none
    news: str = ""  # what came since its verdict, or with the last update; "" for nothing
    assigned_to: str = ""  # the analyst whom a lead has given it to


@dataclass(frozen=True)
class ViewNode:
    """A node in the neighbourhood view."""

    node_id: str
    name: str
    hop: int
    degree: int
    score: float
    percentile: float
    verdict: str | None
    hidden: int  # neighbours left out: "+N more"
    x: float
    y: float
    attributes: dict[str, str]
    aside: bool = False  # pinned, and not among the nodes around the case


@dataclass(frozen=True)
class EdgeLinks:
    """What runs along an edge, from its source to its target (``sent``) and the other way (``back``)."""

    sent: int  # links
    back: int
    amount_sent: float | None  # sum; None where no amount is known
    amount_back: float | None
    first: float | None  # time in seconds, as in Links; None where no time is known
    last: float | None
    kinds: list[tuple[str, int]]  # links of each kind of ``ViewLinks.kinds``, most frequent first
    text: str = ""  # all of it in words


@dataclass(frozen=True)
class ViewEdge:
    source: str
    target: str
    weight: float
    links: EdgeLinks | None = None  # None: the source says no more than who with whom


@dataclass(frozen=True)
class LinkCells:
    """Links of a view counted by edge, period, kind and way: one entry of each list is one cell."""

    edge: list[int]  # place in ``Neighbourhood.edges``
    bin: list[int]  # place in ``ViewLinks.starts``; -1 where the time is unknown
    kind: list[int]  # place in ``ViewLinks.kinds``; 0 without kinds
    back: list[int]  # 1 from the edge's target to its source, otherwise 0
    count: list[int]
    amount: list[float]  # sum; empty without amounts


@dataclass(frozen=True)
class ViewLinks:
    """What the links of a view are, and how they spread over time and kinds."""

    word: str  # what one link is: "transfer"
    words: str
    unit: str  # of the amounts
    kinds: list[str]  # at most nine, the last may be all others; empty without kinds
    starts: list[str]  # first moment of each period, in words; empty without times
    ends: list[str]
    first: float  # seconds at which the first period begins
    width: float  # seconds of a period
    cells: LinkCells


@dataclass(frozen=True)
class ListedLink:
    """One link as it is read: time and amount in words."""

    source: str  # node id
    target: str
    time: str
    amount: str
    kind: str
    other: list[str]  # values of ``LinkPage.columns``


@dataclass(frozen=True)
class LinkPage:
    """Some links of many, by time."""

    total: int
    start: int  # how many come before
    columns: list[str]  # names of the other columns
    rows: list[ListedLink]


@dataclass(frozen=True)
class Neighbourhood:
    """The part of the graph around a case, capped, with fixed positions."""

    centre: str
    hops: int
    nodes: list[ViewNode]
    edges: list[ViewEdge]
    left_out: int  # nodes within the hops that the cap left out
    links: ViewLinks | None = None  # None for a graph without links


@dataclass(frozen=True)
class ProposedGroup:
    """Nodes that belong together, the one asked about first, and why; no reason where it stands alone."""

    node_ids: list[str]
    reason: str


@dataclass(frozen=True)
class Part:
    """A piece of an explanation: pieces add up to the score (up to ``Explanation.gap``)."""

    kind: str  # attribute, neighbour, base
    name: str
    value: float  # contribution, in units of the score
    detail: str = ""


@dataclass(frozen=True)
class Explanation:
    """Why a node stands where it stands."""

    node_id: str
    score: float
    model: str
    attributes: list[Part]
    neighbours: list[Part]  # name = node id
    base: float
    gap: float  # score − sum of parts
    edges: list[Part]  # effect of removing each edge on the score; name = neighbour id
    examples: list[QueueRow]  # nearest labelled nodes
    peers: list[Attribute]
    reasons: list[str]  # up to three short sentences
    edges_unknown: float = 0.0  # share of the score that was not worked out anew without the edges
    examples_space: str = ""  # where ``examples`` are nearest, in words


@dataclass(frozen=True)
class RunComparison:
    """Two runs side by side."""

    before: RunInfo
    after: RunInfo
    risen: list[QueueRow]
    fallen: list[QueueRow]
    entered: list[str]  # ids newly in the top k
    left: list[str]
    k: int
    correlation: float  # Spearman
    before_scores: Any = field(repr=False, default=None)  # (N,) percentiles
    after_scores: Any = field(repr=False, default=None)


def neutral(cell: Any) -> Any:
    """A text cell that no spreadsheet takes for a formula; plain numbers and other types as they are."""
    if isinstance(cell, str) and cell.startswith(_FORMULA) and not _NUMBER.fullmatch(cell):
        return "'" + cell
    return cell


def xml_text(value: Any) -> Any:
    """Text without the characters that XML cannot hold; other types as they are."""
    return _NOT_XML.sub("\ufffd", value) if isinstance(value, str) else value


def as_json(value: Any) -> Any:
    """Plain JSON types of a record, recursively; arrays become lists, times ISO text, NaN null."""
    if type(value) in _PLAIN:  # most of all there is
        return value
    if hasattr(value, "__dataclass_fields__"):
        return {name: as_json(getattr(value, name)) for name in value.__dataclass_fields__}
    if isinstance(value, dict):
        return {str(k): as_json(v) for k, v in value.items()}
    if isinstance(value, list | tuple | set):
        return [as_json(v) for v in value]
    if isinstance(value, np.ndarray):
        return as_json(value.tolist())
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, np.generic):
        return as_json(value.item())
    if isinstance(value, float):
        return value if np.isfinite(value) else None
    return value
