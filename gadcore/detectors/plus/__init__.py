"""``an+``, the product default: see detector.py."""

from __future__ import annotations

from gadcore.detectors.plus.detector import AnPlus

__all__ = ["AnPlus"]
