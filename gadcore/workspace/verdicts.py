"""What the analysts said: verdicts, groups, undo, notes, label files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from gadcore.graph.labels import LabelEvent, Labels, Verdict
from gadcore.workspace import labelling, ordering
from gadcore.workspace.label_files import with_draw_and_note, write_labels
from gadcore.workspace.project import Project


class Verdicts:
    """What the analysts said."""

    def __init__(self, project: Project) -> None:
        self._project = project

    def record(
        self,
        node_id: str,
        verdict: Verdict | str,
        *,
        analyst: str | None = None,
        note: str = "",
        source: str = "app",
        strategy: str = "",
        inclusion_probability: float | None = None,
        drawn_after: int | None = None,
    ) -> LabelEvent:
        """Keep a verdict on a node; the last three say how the queue offered it."""
        return labelling.record(
            self._project,
            [node_id],
            verdict,
            analyst=analyst,
            note=note,
            source=labelling.checked_source(source),
            draws={node_id: (strategy, inclusion_probability, drawn_after)},
        )[0]

    def settle(
        self, node_id: str, verdict: Verdict | str, *, analyst: str | None = None, note: str = ""
    ) -> LabelEvent:
        """Settle a dispute between analysts, or a case of ``second_look``, as normal or anomalous."""
        return labelling.settle(self._project, node_id, verdict, analyst=analyst, note=note)

    def record_group(
        self,
        node_ids: Iterable[str],
        verdict: Verdict | str,
        *,
        analyst: str | None = None,
        note: str = "",
        source: str = "ring",
        weight: float | str = 1.0,
        judged: Iterable[str] = (),
        draws: Mapping[str, labelling.Draw] | None = None,
        overrule: bool = False,
    ) -> labelling.GroupEvents:
        """Keep one verdict on several nodes; ``weight`` (or rule) holds for all but the ``judged`` ones.

        Others with a verdict of their own keep it unless ``overrule``; ``kept`` of the result names them.
        ``draws`` has, of nodes that count 1, how the queue offered them.
        """
        given = {"analyst": analyst, "note": note, "source": labelling.checked_source(source)}
        return labelling.record_group(
            self._project, node_ids, verdict, weight, judged, draws or {}, overrule, **given
        )

    def given_singly(self, node_ids: Iterable[str]) -> list[str]:
        """Those of the nodes whose verdict was given to them alone, not with a group."""
        return labelling.given_singly(self._project, node_ids)

    def offered(self, node_ids: Iterable[str], strategy: str | None = None) -> dict[str, labelling.Draw]:
        """How the queue as it stands offers these nodes.

        That is the one of ``strategy``; without it the preferred one, and the random checks of all others;
        checks only as far as they were shown.
        """
        return ordering.offered(self._project, list(node_ids), strategy)

    def record_offered(
        self,
        node_ids: Iterable[str],
        verdict: Verdict | str,
        *,
        strategy: str | None = None,
        analyst: str | None = None,
        note: str = "",
        source: str = "app",
    ) -> list[LabelEvent]:
        """Keep one verdict on nodes that were looked at one by one, each with how the queue offered it.

        That is looked up as by ``offered``: a node counts as a random check only if a queue had it as one.
        """
        ids = list(node_ids)
        return labelling.record(
            self._project,
            ids,
            verdict,
            analyst=analyst,
            draws=self.offered(ids, strategy),
            note=note,
            source=labelling.checked_source(source),
        )

    def undo(self, analyst: str | None = None) -> list[LabelEvent]:
        """Take back the analyst's last group; the label events taken back, [] if there is nothing."""
        return self._project.store.events(self._project.id).toggle("undo", self._project.analyst(analyst))

    def redo(self, analyst: str | None = None) -> list[LabelEvent]:
        """Restore what the analyst took back last; the label events restored, [] if there is nothing."""
        return self._project.store.events(self._project.id).toggle("redo", self._project.analyst(analyst))

    def can_undo(self, analyst: str | None = None) -> bool:
        return self._project.store.events(self._project.id).can("undo", self._project.analyst(analyst))

    def can_redo(self, analyst: str | None = None) -> bool:
        return self._project.store.events(self._project.id).can("redo", self._project.analyst(analyst))

    def note(self, node_id: str, text: str, *, analyst: str | None = None) -> LabelEvent:
        """Keep a note on a node, with or without a verdict; an empty one removes it."""
        return labelling.note(self._project, node_id, text, analyst=analyst)

    def current(self) -> dict[str, LabelEvent]:
        """Node id -> its label event that holds now."""
        return dict(self._project.view().current)

    def notes(self) -> dict[str, str]:
        """Node id -> its latest note, with or without a verdict."""
        return dict(self._project.view().notes)

    def history(self, node_id: str) -> list[LabelEvent]:
        """Every event that touched a node, oldest first; undo and redo among them."""
        return self._project.store.events(self._project.id).history(node_id)

    def in_order(self) -> list[LabelEvent]:
        """One event per labelled node: its first one, which tells how the case was drawn, in that order."""
        return self._project.verdicts_in_order()

    def labels(self) -> Labels:
        """The label set that a run would be trained on now."""
        return self._project.labels()

    def counts(self) -> dict[str, int]:
        """normal, anomalous, unsure, and fresh: changes that the run in use has not seen."""
        return labelling.counts(self._project)

    def import_file(self, path: str | Path, *, analyst: str | None = None) -> dict[str, Any]:
        """Record the labels of a file as one group: added, unchanged, unknown (ids)."""
        return labelling.import_labels(self._project, Path(path), analyst=analyst)

    def export_file(self, path: str | Path) -> int:
        """Write the current labels to a .csv, .tsv, .parquet or .jsonl file; returns how many.

        Notes are the latest of each node; how a case was drawn is what its first verdict says.
        """
        view = self._project.view()
        return write_labels(Path(path), with_draw_and_note(view.current, view.first, view.notes))
