"""The model in use on a new version of the graph: every node is scored anew, nothing is learnt.

It sees the new version by the encoders that it was trained with (``seen.json`` of the run). Labels, and the
estimates that rest on them, are those it learnt from.
"""

from __future__ import annotations

import numpy as np

from gadcore.detectors import load_detector
from gadcore.detectors.base import Detector
from gadcore.errors import Cancelled, GadError, RunError
from gadcore.graph import FloatArray, Graph
from gadcore.graph.labels import Labels
from gadcore.ingest.seen import Encoding, encoding_of, seen_with
from gadcore.jobs.kind import Job, Kind
from gadcore.jobs.train import RunWork
from gadcore.store import Result


class CarryKind(Kind):
    """A run with the model of run ``payload["of"]``; where that cannot be, one that learns anew follows."""

    name = "carry"
    work = "scoring"
    lane = "train"
    first = True
    attempts = 2

    def do(self, job: Job) -> None:
        run = RunWork(job, job.store.runs.get(job.id))
        try:
            _carry(job, run)
        except Cancelled:
            raise
        except GadError as error:
            _learn_instead(job, run)
            raise RunError(f"{error} The model cannot score this version: a new run follows.") from error


def _carry(job: Job, run: RunWork) -> None:
    before = job.result_of(job.payload["of"])
    graph, old = run.graph(), Graph.load(job.graph_folder(before.info.version))
    encoding: Encoding = before.seen or encoding_of(old)
    found = job.memory.models.get(before.info.id, lambda: load_detector(before.model_folder))
    detector: Detector = found.carried_to(seen_with(graph, encoding))
    detector.out_of_fold_ = _by_id(before.out_of_fold, old, graph)
    job.stop_if_asked()
    run.keep(graph, _learnt(before, graph), detector, seen=encoding, carried_from=before.info.id)


def _by_id(values: FloatArray | None, old: Graph, new: Graph) -> FloatArray | None:
    """Values of nodes at their place in another version; nan for nodes that were not there."""
    if values is None:
        return None
    place = old.node_ids.rows(new.node_ids)
    found = np.full(new.n_nodes, np.nan, dtype=np.float32)
    found[place >= 0] = np.asarray(values)[place[place >= 0]]
    return found


def _learnt(before: Result, graph: Graph) -> Labels:
    """The labels that the model was trained on, as far as their nodes are there."""
    known = {word: [] for word in ("normal", "anomalous")}  # type: dict[str, list[int]]
    for node_id, word in before.labels.items():
        if node_id in graph:
            known[word].append(graph.index_of(node_id))
    return Labels.from_indices(graph, known["normal"], known["anomalous"])


def _learn_instead(job: Job, run: RunWork) -> None:
    info = run.info
    same = ("model", "params", "seed", "device", "graph_fingerprint", "version", "for_use")
    counts = {"label_hash": "", "normal": 0, "anomalous": 0, "unsure": 0}  # taken when it starts
    job.store.runs.add(info.project, {name: getattr(info, name) for name in same} | counts, warm=False)
