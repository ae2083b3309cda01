"""Workspace: the one facade that pages and CLI talk to. Training is the worker's."""

from __future__ import annotations

from gadcore.workspace.door import Workspace
from gadcore.workspace.queue_rows import OTHERS, Filter

__all__ = ["OTHERS", "Filter", "Workspace"]
