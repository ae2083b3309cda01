"""Every kind of job, by name."""

from __future__ import annotations

from gadcore.jobs.kind import Kind
from gadcore.jobs.layout import Layout
from gadcore.jobs.practice import Practice
from gadcore.jobs.reading import Reading
from gadcore.jobs.score import Score
from gadcore.jobs.train import Train

KINDS: dict[str, Kind] = {kind.name: kind for kind in (Train(), Score(), Layout(), Reading(), Practice())}
