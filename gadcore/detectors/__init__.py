"""Detectors: the contract (base.py), the registry, and the rooms of the methods."""

from __future__ import annotations

from gadcore.detectors.base import BOTH, NO_LABELS, NORMAL_ONLY, Detector, Progress
from gadcore.detectors.registry import (
    REGISTRY,
    Entry,
    detector_class,
    detector_names,
    load_detector,
    make_detector,
)

__all__ = [
    "BOTH",
    "NORMAL_ONLY",
    "NO_LABELS",
    "REGISTRY",
    "Detector",
    "Entry",
    "Progress",
    "detector_class",
    "detector_names",
    "load_detector",
    "make_detector",
]
