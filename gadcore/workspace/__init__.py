"""Workspace: the one facade that pages and CLI talk to. Training is the worker's."""

from __future__ import annotations

from gadcore.workspace.facade import Workspace
from gadcore.workspace.queue_rows import Filter

__all__ = ["Filter", "Workspace"]
