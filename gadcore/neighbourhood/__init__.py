"""The part of the graph around a case: which nodes are shown (``view``) and where they stand (``rings``)."""

from gadcore.neighbourhood.view import MAX_HOPS, MAX_NODES, STEP, neighbourhood

__all__ = ["MAX_HOPS", "MAX_NODES", "STEP", "neighbourhood"]
