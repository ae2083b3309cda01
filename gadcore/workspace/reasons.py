"""One short sentence per node on why it scores as it does, for the queue and the card."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from gadcore.insight.explain import reasons as why
from gadcore.insight.explain.sentences import verdict_sentence
from gadcore.store import Result
from gadcore.workspace.project import DERIVED, Project
from gadcore.workspace.queue_rows import CODES


def live_reasons(project: Project, result: Result, nodes: Iterable[int]) -> list[str]:
    """``first_reasons``, with neighbours' verdicts as they are now instead of when the run was trained."""
    nodes, graph, now = list(map(int, nodes)), project.graph, project.verdicts()
    then = DERIVED.get(("verdicts", result.info.id), lambda: _verdicts_of(project, result))
    found = []
    for node, told in zip(nodes, first_reasons(project, result, nodes)):
        around, _ = graph.neighbours(node)
        found.append(_marked(now[around]) if told and told == _marked(then[around]) else told)
    return found


def _verdicts_of(project: Project, result: Result) -> npt.NDArray[np.int8]:
    """(N,) verdicts that a run was trained with, as in ``Labels.as_array``."""
    codes = np.full(project.graph.n_nodes, -1, dtype=np.int8)
    for node_id, word in result.labels.items():
        if node_id in project.graph:
            codes[project.graph.index_of(node_id)] = CODES[word]
    return codes


def _marked(verdicts: npt.NDArray[np.int8]) -> str:
    """A sentence on the verdicts of neighbours, empty where there is nothing to say."""
    anomalous, normal = int((verdicts == 1).sum()), int((verdicts == 0).sum())
    return verdict_sentence(anomalous, anomalous + normal, len(verdicts)) or ""


def first_reasons(project: Project, result: Result, nodes: Iterable[int]) -> list[str]:
    """One short sentence per node on why it scores as it does."""
    known = DERIVED.get(("reasons", result.info.id), dict[int, str])
    wanted = [int(node) for node in nodes]
    missing = [node for node in wanted if node not in known]
    if missing:
        found = why(project.graph, result.model_folder, missing, result.scores)
        known.update({node: (lines[0] if lines else "") for node, lines in zip(missing, found)})
    return [known[node] for node in wanted]
