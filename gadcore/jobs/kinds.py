"""Every kind of job, by name."""

from __future__ import annotations

from gadcore.jobs.kind import Kind
from gadcore.jobs.layout import LayoutKind
from gadcore.jobs.practice import PracticeKind
from gadcore.jobs.reading import ReadingKind
from gadcore.jobs.score import ScoreKind
from gadcore.jobs.train import TrainKind

KINDS: dict[str, Kind] = {
    kind.name: kind for kind in (TrainKind(), ScoreKind(), LayoutKind(), ReadingKind(), PracticeKind())
}
