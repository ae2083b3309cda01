"""The cases of a report one by one: what each did over time, and with whom."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gadcore.drawing import Picture
from gadcore.graph.link_words import amount_text, number_text
from gadcore.graph.links import LinkMeaning
from gadcore.output.flagged import result_in_use
from gadcore.output.report.pictures import timeline
from gadcore.records.links import Activity, Counterparty

if TYPE_CHECKING:
    from gadcore.workspace import Workspace

_TIMELINE = (520.0, 68.0)


@dataclass(frozen=True)
class Partner:
    """A counterparty as a line of text."""

    name: str  # with its id where they differ
    direction: str  # in, out, both ways
    links: str
    received: str  # by the case; as an amount where there are amounts
    sent: str
    rank: str
    verdict: str  # empty without one


@dataclass(frozen=True)
class Case:
    """What is said of the links of one flagged node."""

    title: str
    verdict: str  # empty without one
    totals: str  # all links added up, in words
    timeline: Picture | None  # None where links have no time
    bars: str  # how to read it
    columns: tuple[str, ...]  # of the partners
    partners: list[Partner]


def cases(workspace: Workspace, node_ids: Sequence[str]) -> list[Case]:
    """One for each node that has links; none where edges say no more than who is linked with whom."""
    if workspace.graph.links is None:
        return []
    meaning = workspace.graph.links.meaning
    found = [workspace.cases.activity(node_id, n=1) for node_id in node_ids]
    return [_case(workspace, activity, meaning) for activity in found if activity.of]


def _case(workspace: Workspace, activity: Activity, meaning: LinkMeaning) -> Case:
    graph = workspace.graph
    title = graph.full_name(graph.index_of(activity.node_id))
    drawn = timeline(activity, _TIMELINE, title, lambda value: _size(value, activity, meaning))
    measure = f"{meaning.unit or 'amounts'}" if activity.by == "amount" else activity.words
    return Case(
        title=title,
        verdict=_verdict(workspace, activity.node_id),
        totals=activity.totals.text,
        timeline=drawn if activity.timeline else None,
        bars=f"Up: in, down: out ({measure}); one bar is one {activity.step}." if activity.timeline else "",
        columns=(
            "Main counterparties",
            "Direction",
            activity.words.capitalize(),
            "In",
            "Out",
            "Rank",
            "Verdict",
        ),
        partners=[_partner(workspace, partner, meaning) for partner in activity.counterparties],
    )


def _size(value: float, activity: Activity, meaning: LinkMeaning) -> str:
    """The height of a bar in words."""
    return amount_text(round(value), meaning) if activity.by == "amount" else number_text(value)


def _partner(workspace: Workspace, partner: Counterparty, meaning: LinkMeaning) -> Partner:
    node = workspace.graph.index_of(partner.node_id)
    ways = {(True, False): "in", (False, True): "out", (True, True): "both ways"}
    return Partner(
        name=workspace.graph.full_name(node),
        direction=ways[bool(partner.links_in), bool(partner.links_out)],
        links=f"{partner.links_in + partner.links_out:,}",
        received=_way(partner.links_in, partner.amount_in, meaning),
        sent=_way(partner.links_out, partner.amount_out, meaning),
        rank=f"{int(np.asarray(result_in_use(workspace).rank)[node]):,}",
        verdict=_verdict(workspace, partner.node_id),
    )


def _way(links: int, amount: float | None, meaning: LinkMeaning) -> str:
    if not links:
        return "–"
    return f"{links:,}" if amount is None else amount_text(amount, meaning)


def _verdict(workspace: Workspace, node_id: str) -> str:
    event = workspace.verdicts.current().get(node_id)
    return event.verdict.value if event and event.verdict else ""
