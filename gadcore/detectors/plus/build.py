"""Which members are fitted for which labels, and how much each counts before anything has judged it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from gadcore.detectors.base import ANOMALOUS_ONLY, BOTH, NORMAL_ONLY
from gadcore.detectors.baselines.linear import Task
from gadcore.detectors.plus.members import (
    DIFFUSED,
    DIFFUSED_EVENLY,
    ENOUGH,
    HOPS,
    Judge,
    Member,
    background_member,
    diffused_member,
    diffused_name,
    head_name,
    linear_member,
    propagation_member,
    smoothed_member,
    suits_diffusion,
    suits_trees,
    tree_member,
)
from gadcore.detectors.plus.products import Products
from gadcore.detectors.plus.reduced import Directions
from gadcore.detectors.plus.unlabelled import unusual_members
from gadcore.detectors.progress import Reporter
from gadcore.graph import FloatArray, Graph
from gadcore.metrics import auc

FEW = 20  # labels at which the prior leans half towards the members that cope with few
SOME = 40  # normal labels at which heads that know nothing else get half of the weight
WIDE = 100  # labels, judged out of fold, at which diffused members get half of their weight
WEAK = 0.01  # C of standardised heads that only know normal nodes


@dataclass(frozen=True)
class Bench:
    """What every member is built from."""

    products: Products
    task: Task
    judge: Judge
    seed: int
    directions: Directions | None = None  # unless there are both labels
    embedding: FloatArray | None = None  # (N, r) coordinates of ``directions``
    centre: FloatArray | None = None  # (r,)
    unusual: bool = False  # rank by what is unusual: no node is known to be anomalous
    chosen: dict[str, float] = field(default_factory=dict)  # C of each head in an earlier fit, by member

    def task_of(self, member: str) -> Task:
        """The task; after an earlier fit its grid is that member's C and its two neighbours."""
        if member not in self.chosen:
            return self.task
        steps = np.abs(np.log10(self.task.strengths / self.chosen[member]))
        near = self.task.strengths[steps < 1.5]
        return replace(self.task, strengths=near) if len(near) else self.task


Step = Callable[[Bench, list[Member]], tuple[Member, float]]


def member_steps(basis: str, graph: Graph, anomalous: int) -> list[Step]:
    """The fits to do, in order; each gets the members before it and returns its own and its loss."""
    if basis == BOTH:
        steps = (
            [*_LABELLED, _diffused(DIFFUSED), _diffused(DIFFUSED_EVENLY)]
            if suits_diffusion(graph)
            else list(_LABELLED)
        )
        if suits_trees(graph):
            return [*steps, _trees(2), _trees(0)]
        return [*steps, _trees(1, wide=True)] if anomalous >= ENOUGH else steps
    if basis == NORMAL_ONLY:
        return [
            _background(0, unit=False, value=1, strength=WEAK),
            _background(1, value=1),
            _background(2, unit=False, value=1, strength=WEAK),
            _background(3, unit=False, value=1, strength=WEAK),
        ]
    if basis == ANOMALOUS_ONLY:
        return [_background(hops) for hops in range(HOPS + 1)]
    return []


def build(bench: Bench, basis: str, report: Reporter) -> list[Member]:
    """All members that need no torch; the three unusual ones where no node is known to be anomalous."""
    members: list[Member] = []
    if bench.unusual and bench.embedding is not None and bench.centre is not None:
        members += unusual_members(bench.products.unusual, bench.embedding, bench.centre, bench.judge)
        report.step(float(np.mean(members[-1].scores)), stage="unusual nodes")
    for step in member_steps(basis, bench.products.graph, int(bench.task.y.sum())):
        member, loss = step(bench, members)
        members.append(member)
        report.step(loss, stage=member.name)
    return members


def prior(member: Member, labels: float, basis: str, *, validated: bool = False) -> float:
    """Weight before judgement: with few labels background counts more, single sources count less.

    ``validated``: labels that no member saw judge them, so that a wide view need not wait for many.
    """
    few = FEW / (FEW + labels)
    if basis == NORMAL_ONLY:
        unusual = SOME / (
            SOME + labels
        )  # unlike the nodes called normal, or unlike all: by how many there are
        return (1 - unusual) / 4 if member.kind == "background" else unusual / 3
    if member.kind == "background":
        return 1 + 2 * few
    if member.kind == "sphere":
        return 1 / 3  # three of them, one per λ
    if member.kind == "diffused":
        return 2.0 if validated else 2 * labels / (labels + WIDE)  # no other head sees so far
    single = 1 - few if member.kind == "propagation" or member.name.endswith(" 0") else 1.0
    return 3 * single if member.kind == "trees" and not member.wide else single  # attributes that suit trees


def _linear(hops: int, *, unit: bool = True) -> Step:
    name = head_name("linear" if unit else "standard", hops)
    return lambda bench, _: linear_member(bench.task_of(name), bench.judge, hops, unit=unit)


def _background(hops: int, *, unit: bool = True, value: int = 0, strength: float | None = None) -> Step:
    def step(bench: Bench, _: list[Member]) -> tuple[Member, float]:
        task = bench.task_of(head_name("background", hops, unit=unit))
        task = task if strength is None else replace(task, strengths=np.array([strength]))
        return background_member(task, bench.judge, hops, bench.seed, unit=unit, value=value)

    return step


def _diffused(place: int) -> Step:
    return lambda bench, _: diffused_member(bench.task_of(diffused_name(place)), bench.judge, place)


def _smoothed(source: str) -> Step:
    def step(bench: Bench, done: list[Member]) -> tuple[Member, float]:
        member = smoothed_member(next(m for m in done if m.name == source), bench.products.walk, bench.judge)
        return member, _ranking_loss(member, bench)

    return step


def _propagation(bench: Bench, _: list[Member]) -> tuple[Member, float]:
    member = propagation_member(bench.task, bench.judge, bench.products.adjacency)
    return member, _ranking_loss(member, bench)


def _trees(hops: int, *, wide: bool = False) -> Step:
    def step(bench: Bench, _: list[Member]) -> tuple[Member, float]:
        every = bench.products.stack(hops, wide)
        member = tree_member(bench.task, bench.judge, hops, bench.seed, every, wide=wide)
        return member, _ranking_loss(member, bench)

    return step


def _ranking_loss(member: Member, bench: Bench) -> float:
    """Share of (anomalous, normal) training pairs in the wrong order."""
    return 1.0 - auc(bench.task.y, member.scores[bench.task.nodes])


_LABELLED: tuple[Step, ...] = (
    *(_linear(hops) for hops in range(HOPS + 1)),
    _linear(0, unit=False),
    _linear(2, unit=False),
    _background(2),
    _background(3),
    _smoothed("linear 2"),
    _smoothed("linear 3"),
    _propagation,
)
