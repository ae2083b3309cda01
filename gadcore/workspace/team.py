"""Who is asked what: cases that a lead has assigned, and second opinions that are asked for blind."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from gadcore.access import Role
from gadcore.errors import InputError
from gadcore.records import AssignedCases, Explanation, Neighbourhood, NodeCard, QueueRow
from gadcore.store import Assignment
from gadcore.workspace.preferences import OVERLAP
from gadcore.workspace.project import Project

MOST = 5000  # cases that are assigned at once


@dataclass(frozen=True)
class Asked:
    """What is asked of an analyst besides the common order; node ids."""

    assigned: dict[str, str]  # without a verdict -> the lead who gave it to them
    others: frozenset[str]  # without a verdict, given to somebody else
    second: list[str]  # decided by a colleague: their own opinion is asked for, blind
    every: int  # one case in so many is a second opinion, while some wait
    place: int  # of the first of these

    @property
    def apart(self) -> Collection[str]:
        """Cases that the common order leaves out."""
        return self.others | self.assigned.keys()

    def mixed(self, own: list[QueueRow], common: list[QueueRow], second: list[QueueRow]) -> list[QueueRow]:
        """Assigned cases first, then the common order with second opinions at their places."""
        found, at = list(common), self.place
        for row in second:
            found.insert(at, row)
            at += self.every
        return own + found


def asked_of(project: Project, analyst: str | None) -> Asked:
    """What is asked of an analyst now.

    Second opinions keep their turn by how many verdicts the analyst has given: nothing else is kept of it,
    and every process knows it.
    """
    name, share = project.analyst(analyst), overlap(project)
    open_ = _open(project)
    own = {n: a.by for n, a in open_.items() if a.analyst == name and n in project.graph}
    others = frozenset(open_.keys() - own.keys())
    second, every = _waiting(project, name, share), max(2, round(1 / (share or 1)))
    count = project.store.events(project.id).given_by(name) if second else 0
    return Asked(own, others, second, every, every - 1 - count % every)


def overlap(project: Project) -> float:
    """The share of decided cases that is asked of a second analyst."""
    return float(project.store.projects.preference(project.id, OVERLAP) or 0.0)


def second_opinions(project: Project, analyst: str) -> list[str]:
    """Cases that a colleague has decided and this analyst is to judge without knowing that."""
    return _waiting(project, analyst, overlap(project))


def _waiting(project: Project, analyst: str, share: float) -> list[str]:
    if not share:
        return []
    waiting = project.store.events(project.id).waiting(analyst, share)
    return [node_id for node_id in waiting if node_id in project.graph]


# ---- assignments ------------------------------------------------------------------------------------


def assign(project: Project, node_ids: Sequence[str], to: str, by: str) -> list[str]:
    """Give those of the nodes that have no verdict to an analyst; returns them."""
    name, decided = _checked_name(project, to), project.view().current
    for node_id in node_ids:
        project.node(node_id)
    given = [node_id for node_id in dict.fromkeys(node_ids) if node_id not in decided]
    if len(given) > MOST:
        raise InputError(f"{len(given):,} cases to assign at once", f"at most {MOST:,}")
    if given:
        project.store.assigned.give(project.id, given, name, by=by)
    return given


def take_back(project: Project, node_ids: Collection[str] | None, of: str | None, by: str) -> list[str]:
    """Take open cases back, those named or those of an analyst; returns them."""
    found = [
        node_id
        for node_id, assignment in _open(project).items()
        if (node_ids is None or node_id in node_ids) and (of is None or assignment.analyst == of)
    ]
    if found:
        project.store.assigned.take_back(project.id, found, by=by)
    return found


def assigned(project: Project) -> list[AssignedCases]:
    """Of every analyst with assigned cases: which are open, and how many are done."""
    decided = project.view().current
    found: dict[str, tuple[list[str], list[str]]] = {}
    for node_id, assignment in project.store.assigned.of(project.id).items():
        found.setdefault(assignment.analyst, ([], []))[node_id in decided].append(node_id)
    return [AssignedCases(name, open_, len(done)) for name, (open_, done) in sorted(found.items())]


def given_to_others(project: Project, name: str) -> frozenset[str]:
    """Cases without a verdict that a lead has given to somebody else."""
    return frozenset(node for node, assignment in _open(project).items() if assignment.analyst != name)


def _open(project: Project) -> dict[str, Assignment]:
    """Node id -> to whom it was given, of nodes without a verdict."""
    given = project.store.assigned.of(project.id)
    decided = project.view().current if given else {}
    return {node_id: assignment for node_id, assignment in given.items() if node_id not in decided}


def names(project: Project) -> list[str]:
    """Everybody who may be given a case: users who may label, and whoever has given a verdict."""
    users = [row.name for row in project.store.users.all() if Role.parse(row.role) >= Role.ANALYST]
    return sorted({*users, *project.store.events(project.id).analysts(), project.analyst(None)})


def _checked_name(project: Project, to: str) -> str:
    """The name of an analyst; where people log in, of one of these."""
    name, known = to.strip(), names(project)
    if not 0 < len(name) <= 60 or (project.who.is_login and name not in known):
        raise InputError(f"cases for {to!r}", f"the name of an analyst: {', '.join(known)}")
    return name


# ---- what a second opinion must not see -------------------------------------------------------------


def veiled(rows: Iterable[QueueRow], hidden: Collection[str]) -> list[QueueRow]:
    """Rows without what was said of hidden nodes."""
    return [
        replace(row, verdict=None, provisional_rank=None) if row.node_id in hidden else row for row in rows
    ]


def veiled_card(card: NodeCard, hidden: Collection[str]) -> NodeCard:
    """A card without what was said of hidden nodes, itself among them."""
    card = replace(card, row=veiled([card.row], hidden)[0], similar=veiled(card.similar, hidden))
    if card.row.node_id not in hidden:
        return card
    return replace(card, events=[], note="", disputed={}, judged_by=[], news="")


def veiled_view(view: Neighbourhood, hidden: Collection[str]) -> Neighbourhood:
    """A neighbourhood in which hidden nodes have no verdict."""
    nodes = [replace(node, verdict=None) if node.node_id in hidden else node for node in view.nodes]
    return replace(view, nodes=nodes)


def veiled_explanation(why: Explanation, hidden: Collection[str]) -> Explanation:
    """An explanation without hidden nodes as examples."""
    return replace(why, examples=[row for row in why.examples if row.node_id not in hidden])
