"""``an+``, the product default: see ensemble.py."""

from __future__ import annotations

from gadcore.detectors.plus.ensemble import AnPlus

__all__ = ["AnPlus"]
