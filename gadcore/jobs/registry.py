"""Every kind of job, by name."""

from __future__ import annotations

from gadcore.jobs.carry import CarryKind
from gadcore.jobs.deliver import DeliverKind
from gadcore.jobs.kind import Kind
from gadcore.jobs.layout import LayoutKind
from gadcore.jobs.practice import PracticeKind
from gadcore.jobs.reading import LookKind, ReadingKind
from gadcore.jobs.score import ScoreKind
from gadcore.jobs.train import TrainKind
from gadcore.jobs.updating import UpdatingKind

KINDS: dict[str, Kind] = {
    kind.name: kind
    for kind in (
        TrainKind(),
        CarryKind(),
        ScoreKind(),
        LayoutKind(),
        LookKind(),
        ReadingKind(),
        UpdatingKind(),
        PracticeKind(),
        DeliverKind(),
    )
}
