"""Practice by a person: a copy of a project whose answers are known, labelled in the app, then scored.

A practice copy is a project of its own: no labels, no runs, named after its analyst. It is labelled like any
other, and no page that one labels on reads the known answers. The score compares the verdicts given so far
with them; before ``LEAST`` verdicts there is none, for it would tell the answers of single cases.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gadcore.errors import NotFound
from gadcore.graph.labels import Verdict
from gadcore.records import ProjectInfo
from gadcore.workspace import Workspace, catalogue

LEAST = 5  # verdicts from which a score is shown
_NAME = 150  # letters of the project's name in the copy's


@dataclass(frozen=True)
class Score:
    """What a person found, by the known answers. The lists have one entry per verdict, in the order given."""

    project: str  # name of the practice copy
    analyst: str  # whose practice it is
    found: list[int]  # anomalies called anomalous, so far
    mistakes: list[int]  # verdicts against the known answer, so far
    false_alarms: int  # normal nodes called anomalous
    missed: int  # anomalies called normal
    unsure: int
    judged: int  # verdicts normal or anomalous on nodes with a known answer
    chance: float  # share of anomalies among the nodes with a known answer

    @property
    def verdicts(self) -> int:
        return len(self.found)

    @property
    def enough(self) -> bool:
        return self.verdicts >= LEAST

    @property
    def hit_rate(self) -> float | None:
        """Anomalies found per verdict given; None without a verdict."""
        return self.found[-1] / self.verdicts if self.found else None

    @property
    def times_chance(self) -> float | None:
        """Anomalies found as a multiple of what as many blind draws find on average."""
        return None if self.hit_rate is None or not self.chance else self.hit_rate / self.chance

    @property
    def wrong_share(self) -> float | None:
        """Share of wrong ones among the verdicts that can be judged; None without one."""
        return self.mistakes[-1] / self.judged if self.judged else None


def begin(workspace: Workspace, analyst: str | None = None) -> Workspace:
    """The practice copy of an analyst, made if there is none; NotFound without known answers."""
    workspace.check("practice")
    base, person = base_of(workspace), workspace.analyst(analyst)
    found = copy_of(base, person)
    if found is not None:
        return base.other(found.id)
    name = f"Practice: {base.name[:_NAME]} ({person[:40]})"
    return base.other(catalogue.practice_copy(base.id, name, person, base.settings))


def made_of(workspace: Workspace) -> str:
    """Id of the project that a practice copy was made of; "" for any other project."""
    return str(workspace.preference(catalogue.PRACTICE, {}).get("of", ""))


def base_of(workspace: Workspace) -> Workspace:
    """The project that a practice copy was made of, while it exists; any other project itself."""
    source = made_of(workspace)
    if not source:
        return workspace
    try:
        return workspace.other(source)
    except NotFound:
        return workspace


def copies(base: Workspace) -> list[ProjectInfo]:
    """Practice copies of a project, newest first; a copy whose project is gone stands for itself."""
    return [base.data.info()] if made_of(base) else catalogue.practice_copies(base.id, base.settings)


def copy_of(base: Workspace, analyst: str) -> ProjectInfo | None:
    """The practice copy of an analyst, or None."""
    return next((info for info in copies(base) if info.owner == analyst), None)


def score(copy: Workspace) -> Score:
    """Verdicts of a practice copy against the known answers.

    A node counts once, at the place of its first verdict, with the verdict that holds now; what was taken
    back does not count. A node without a known answer costs a verdict and is neither found nor wrong.
    """
    truth = copy.data.truth()
    events = copy.verdicts.in_order()
    given = [(event.verdict, int(truth.y[copy.graph.index_of(event.node_id)])) for event in events]
    hit, false, missed = (Verdict.ANOMALOUS, 1), (Verdict.ANOMALOUS, 0), (Verdict.NORMAL, 1)
    return Score(
        project=copy.name,
        analyst=copy.data.info().owner,
        found=np.cumsum([each == hit for each in given], dtype=int).tolist(),
        mistakes=np.cumsum([each in (false, missed) for each in given], dtype=int).tolist(),
        false_alarms=given.count(false),
        missed=given.count(missed),
        unsure=sum(verdict is Verdict.UNSURE for verdict, _ in given),
        judged=sum(verdict is not Verdict.UNSURE and answer >= 0 for verdict, answer in given),
        chance=float((truth.y == 1).sum() / max(1, truth.known.sum())),
    )
