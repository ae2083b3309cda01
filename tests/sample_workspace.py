"""A workspace in memory with what exports and reports read: no database, no training, every value known."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pyarrow as pa

from gadcore.graph import Graph, LinkMeaning, Links, make_graph
from gadcore.graph.labels import LabelEvent, Labels, Verdict
from gadcore.graph.links import CLOCK
from gadcore.insight.activity import activity
from gadcore.metrics import percentile_ranks
from gadcore.records import Neighbourhood, RunInfo, ViewEdge, ViewNode
from gadcore.records.links import Activity

AT = datetime(2024, 5, 6, 7, 8, 9, tzinfo=UTC)
EDGES = np.array([[0, 0, 0, 0, 1, 3], [1, 2, 3, 4, 2, 4]])
NOON = 1714996800.0  # 6 May 2024, 12:00
IDS = ("=cmd|' /C calc'!A0", "007", "-12.5", "<b>x</b>", "Łódź", "lonely")


def sample_run(**changes) -> RunInfo:
    values = {
        "id": "run-a", "number": 2, "project": "p", "status": "done", "model": "an+", "params": {"k": 32},
        "seed": 7, "device": "cpu", "graph_fingerprint": "f" * 64, "label_hash": "e" * 64, "normal": 1,
        "anomalous": 1, "unsure": 1, "started_at": AT, "ended_at": AT, "seconds": 1.5, "epoch": 10,
        "epochs": 10, "stage": "done", "loss": 0.1, "auc": 0.875, "basis": "both labels", "message": "",
        "versions": {"torch": "2"}, "in_use": True,
    }  # fmt: skip
    return RunInfo(**(values | changes))


def with_links(graph: Graph) -> Graph:
    """The graph with eight payments: some repeated, some back, one to oneself, some cells unknown."""
    nan = float("nan")
    links = Links.make(
        graph.n_nodes,
        np.array([0, 0, 1, 0, 3, 4, 2, 2]),
        np.array([1, 1, 0, 3, 0, 0, 0, 2]),
        time=np.array([NOON, NOON + 90, NOON + 86_400, nan, NOON, NOON, NOON, NOON]),
        amount=np.array([10.5, 20.0, 30.0, 5.0, nan, -4.0, 1234.5, 1.0]),
        kind=np.array([0, 0, 1, -1, 0, 1, 0, 0]),
        other=pa.table({"type": ["a", "b", None, "d", "", "f", "g", "h"], "branch": list("ABCDEFGH")}),
        meaning=LinkMeaning(
            "payment",
            time="when",
            amount="sum",
            kind="way",
            unit="EUR",
            precision=CLOCK,
            kinds=("web", "app"),
        ),
    )
    column = {"key": "links_in", "name": "payments in", "group": "counts", "help": "", "unit": "", "told": ""}
    table = graph.node_table.frame().assign(**{"payments in": np.diff(links.in_start).astype(float)})
    return replace(graph, links=links, node_table=table, extra={"derived": [column]})


class SampleWorkspace:
    """Six nodes; the scores fall from the first node to the last."""

    name = "sample"

    def __init__(self, folder: Path, *, probability: bool = True, linked: bool = False) -> None:
        self.graph = make_graph(
            IDS, EDGES, np.linspace(0, 1, 12).reshape(6, 2), weights=np.array([1, 1, 5, 1, 1, 2])
        )
        if linked:
            self.graph = with_links(self.graph)
        scores = np.array([9.0, 7.0, 5.0, 3.0, -1.0, -2.0], dtype=np.float32)
        (folder / "model").mkdir(parents=True, exist_ok=True)
        (folder / "model" / "detector.json").write_text('{"name": "an+"}', encoding="utf-8")
        (folder / "model" / "model.safetensors").write_bytes(b"weights")
        self._result = SimpleNamespace(
            scores=scores,
            rank=np.arange(1, 7),
            percentile=100 * percentile_ranks(scores),
            probability=np.array([0.9, 0.8, 0.5, 0.2, 0.1, np.nan]) if probability else None,
            probability_reason="40 out-of-fold labels" if probability else "only 2 labels",
            info=sample_run(),
            details={"params": {"k": 32, "depth": 2, "seed": 7}},
            model_folder=folder / "model",
        )
        self.events = {
            IDS[0]: self._event(1, IDS[0], Verdict.ANOMALOUS, note="=1+1 looks bad"),
            IDS[1]: self._event(2, IDS[1], Verdict.NORMAL),
            IDS[3]: self._event(3, IDS[3], Verdict.UNSURE),
        }

        self.runs = SimpleNamespace(result=self._result_of)
        self.verdicts = SimpleNamespace(
            current=lambda: self.events,
            notes=self._notes,
            labels=lambda: Labels.from_events(self.graph, self.events.values()),
            counts=lambda: {"normal": 1, "anomalous": 1, "unsure": 1, "fresh": 0},
            export_file=self._export_labels,
        )
        self.trail = SimpleNamespace(exported=lambda *_: None)
        self.cases = SimpleNamespace(neighbourhood=self._neighbourhood, activity=self._activity)

    @staticmethod
    def _event(number: int, node_id: str, verdict: Verdict, note: str = "") -> LabelEvent:
        return LabelEvent(number, "label", f"g{number}", node_id, verdict, "@ana", AT, "app", note)

    def _result_of(self, run_id: str | None = None):
        return self._result if run_id in (None, "run-a") else None

    def lose_result(self) -> None:
        self._result = None

    def _notes(self) -> dict[str, str]:
        return {node: event.note for node, event in self.events.items()} | {IDS[2]: "seen before"}

    def _export_labels(self, path: Path) -> int:
        path.write_text("node_id,verdict\n007,normal\n", encoding="utf-8")
        return 1

    def _neighbourhood(self, node_id: str, *, hops: int = 1, cap: int = 60, expanded=()) -> Neighbourhood:
        centre = self.graph.index_of(node_id)
        around = [centre, *self.graph.neighbours(centre)[0]]
        nodes = [self._view(i, centre) for i in around]
        edges = [ViewEdge(node_id, str(self.graph.node_ids[i]), 1.0) for i in around[1:]]
        return Neighbourhood(node_id, hops, nodes, edges, left_out=3)

    def _activity(self, node_id: str, **asked) -> Activity:
        return activity(self.graph, self.graph.index_of(node_id), **asked)

    def _view(self, node: int, centre: int) -> ViewNode:
        node_id = str(self.graph.node_ids[node])
        event = self.events.get(node_id)
        verdict = event.verdict.value if event and event.verdict else None
        return ViewNode(
            node_id, node_id, int(node != centre), 1, float(self._result.scores[node]),
            float(self._result.percentile[node]), verdict, 0, float(node), float(node % 2), {},
        )  # fmt: skip
