"""Experiments on graphs whose answers are known. Only this package and practice mode read a ``Truth``."""

from __future__ import annotations

from gadcore.studies.splits import Split, few_label_split, random_split

__all__ = ["Split", "few_label_split", "random_split"]
