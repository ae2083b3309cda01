"""What an update changes, told before it is stored."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from gadcore.graph import Graph
from gadcore.graph.changes import GraphChange
from gadcore.records import as_json
from gadcore.records.versions import Changes

_NAMED = 6  # ids that are kept of each kind
_SAYS_NOTHING = ("constant", "empty", "name", "identifier", "")


def changes_of(
    change: GraphChange, labelled: Collection[str], before: Mapping[str, str], after: Mapping[str, str]
) -> Changes:
    """Counts and examples; ``before`` and ``after`` have the kind of every raw column."""
    old, new = change.before.node_ids, change.after.node_ids
    added, lost, repeated = change.links
    changed, gone = np.flatnonzero(change.changed), change.gone
    fresh, (columns_new, columns_gone, common) = np.flatnonzero(change.new), change.columns
    links = change.after.links or change.before.links
    return Changes(
        word=links.meaning.word if links is not None else "edge",
        nodes_added=len(fresh),
        nodes_changed=len(changed),
        nodes_gone=len(gone),
        links_added=int(added.sum()),
        links_gone=int(lost.sum()),
        links_repeated=repeated,
        labelled_gone=sorted(node for node in labelled if node in old and node not in new),
        columns_new=columns_new,
        columns_missing=columns_gone,
        columns_otherwise=[_otherwise(c, before, after) for c in common if _kinds_differ(c, before, after)],
        added=new[fresh[:_NAMED]].tolist(),
        changed=new[changed[:_NAMED]].tolist(),
        gone=old[gone[:_NAMED]].tolist(),
    )


def told_changes(
    before: Graph, after: Graph, labelled: Collection[str], reports: tuple[Path, object]
) -> Changes:
    """What one graph changes of another; ``reports`` are the stored one of before, and that of after."""
    kept, new = reports[0], as_json(reports[1])
    known = kinds_in(json.loads(kept.read_text(encoding="utf-8"))) if kept.exists() else {}
    found = changes_of(GraphChange(before, after), labelled, known, kinds_in(new))
    return replace(found, left_out=len(new["dropped"]))


def kinds_in(report: Mapping[str, Any]) -> dict[str, str]:
    """Kind of every raw column, by the report of an import."""
    return {column["name"]: column["kind"] for column in report.get("columns", [])}


def _kinds_differ(column: str, before: Mapping[str, str], after: Mapping[str, str]) -> bool:
    """A kind that says nothing may become any other: one value was all that was seen of it."""
    kinds = (before.get(column, ""), after.get(column, ""))
    return kinds[0] != kinds[1] and not any(kind in _SAYS_NOTHING for kind in kinds)


def _otherwise(column: str, before: Mapping[str, str], after: Mapping[str, str]) -> str:
    return f"{column}: {before[column]} → {after[column]}"
