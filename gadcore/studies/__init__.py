"""Experiments on graphs whose answers are known. Only this package and practice mode read a ``Truth``."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from gadcore.errors import InputError

if TYPE_CHECKING:
    from gadcore.studies.harness import Study

STUDIES = {  # name of the experiment -> module with its STUDY; those about the paper first
    "paper": "paper",
    "figures": "figures",
    "extensions": "extensions",
    "deviations": "deviations",
    "loop": "loop",
    "audit": "audit_sessions",
    "calibration": "calibration",
    "transactions": "transactions",
    "first-queue": "first_queue",
    "temporal": "temporal",
}
PAPER = ("paper", "figures", "extensions", "deviations")  # experiments "all"
ALL = "all"


def find_study(name: str) -> Study:
    """The study of this name; InputError lists the names there are."""
    if name not in STUDIES:
        raise InputError(f"there is no experiment {name!r}", f"one of {', '.join((*STUDIES, ALL))}")
    study: Study = import_module(f"gadcore.studies.{STUDIES[name]}").STUDY
    return study
