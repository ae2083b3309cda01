"""The steps of the benchmark of size, each meant for a process of its own.

python -m benchmarks.scale_steps STEP FOLDER      GAD_HOME names the workspace; prints figures as JSON
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from gadcore.errors import RunError
from gadcore.settings import Settings

PROJECT = "scale"
LABELS, MORE = 1000, 10  # of the cold run, and given after it
ASKED, VERDICTS, ROWS = 20, 20, 60
EGO_NETS, CAP = 200, 25
Figures = dict[str, Any]


def read_graph(folder: Path) -> Figures:
    """Import both files as a project."""
    from gadcore.ingest import read
    from gadcore.workspace import Workspace

    accounts = next(folder.glob("accounts.*"))
    reading = read(accounts, edges=accounts.with_stem("transfers"))
    info = Workspace.create(PROJECT, reading).data.info()
    return {"nodes": info.n_nodes, "edges": info.n_edges, "attributes": reading.graph.n_features}


def open_project(folder: Path) -> Figures:
    """Open the project and look at one node."""
    workspace = _open()
    node = str(workspace.graph.node_ids[0])
    return {"neighbours": len(workspace.graph.neighbours(workspace.graph.index_of(node))[0])}


def train(folder: Path, *, cold: bool = False) -> Figures:
    """A run on the labels there are, with its first cases."""
    run = _open().runs.train(warm=not cold)
    if run.status != "done":
        raise RunError(f"The run {run.status}: {run.message}")
    return {"basis": run.basis, "auc": run.auc}


def cold_run(folder: Path) -> Figures:
    return train(folder, cold=True)


def label(folder: Path) -> Figures:
    return {"labels": _open().verdicts.import_file(folder / "labels.csv")["added"]}


def label_more(folder: Path) -> Figures:
    return {"labels": _open().verdicts.import_file(folder / "more_labels.csv")["added"]}


def rerank(folder: Path) -> Figures:
    """Seconds from a verdict on the first case to the next rows; the first verdict prepares the rest."""
    workspace = _open()

    def verdict() -> Callable[[], object]:
        case = workspace.cases.queue(n=1)[0]

        def give() -> None:
            workspace.verdicts.record(case.node_id, "normal", offer=case.offer)
            workspace.cases.basis()
            workspace.cases.queue(n=ROWS)

        return give

    return _spread(_seconds(verdict()) for _ in range(1 + VERDICTS))


def why(folder: Path) -> Figures:
    """Seconds of the account of a case."""
    workspace = _open()
    cases = [row.node_id for row in workspace.cases.queue(n=1 + ASKED)]
    return _spread(_seconds(partial(workspace.insight.explain, case)) for case in cases)


def ego_nets(folder: Path) -> Figures:
    """Seconds of two hops around nodes drawn at random and around the largest ones."""
    workspace = _open()
    graph = workspace.graph
    degree = np.diff(graph.adjacency.indptr)
    drawn = np.random.default_rng(0).integers(0, graph.n_nodes, EGO_NETS)
    nodes = np.concatenate([drawn[:1], np.argsort(-degree)[:5], drawn])
    ids = [str(graph.node_ids[node]) for node in nodes]
    look = partial(workspace.cases.neighbourhood, hops=2, cap=CAP)
    found = _spread(_seconds(partial(look, node)) for node in ids)
    return {**found, "largest": int(degree.max())}


def draw_map(folder: Path) -> Figures:
    """The map of the run in use, of the kind that takes longest to learn."""
    from gadcore.jobs.layout import draw

    workspace = _open()
    result = workspace.runs.result()
    if result is None or result.embedding is None:
        raise RunError("There is no run with an embedding. Train first.")
    drawn = draw(workspace._project.store, result.info, "umap", result.embedding)
    return {"placed": len(drawn)}


def beside_pyg(folder: Path) -> Figures:
    """CPU-seconds of an epoch of the same model: here, and as full batch with torch_geometric."""
    import pyarrow.csv
    import torch

    from benchmarks.reference import fit_reference
    from gadcore.detectors import make_detector
    from gadcore.graph.labels import Labels

    torch.set_num_threads(1)
    graph, given = _open().graph, pyarrow.csv.read_csv(folder / "labels.csv").to_pydict()
    nodes, words = graph.indices_of(given["node_id"]), np.array(given["label"])
    labels = Labels.from_indices(graph, nodes[words == "normal"], nodes[words == "anomalous"])
    usual: Figures = {"lambda_": 1.0, "patience": None, "folds": 0, "device": "cpu", "threads": 1}

    mine, other = list[float](), list[float]()
    make_detector("an", epochs=20, **usual).fit(graph, labels, on_epoch=partial(_marked, mine))
    fit_reference(graph, labels, lambda_=1.0, epochs=3, on_epoch=partial(_marked, other))
    here, there = (float(np.median(np.diff(marks))) for marks in (mine, other))
    return {"here": here, "torch_geometric": there, "ratio": there / here}


def _marked(marks: list[float], progress: object = None) -> bool:
    """Note the CPU time at the end of an epoch, and go on."""
    marks.append(time.process_time())
    return False


STEPS: dict[str, Callable[[Path], Figures]] = {
    "import": read_graph,
    "open": open_project,
    "first ranking": train,
    "labels": label,
    "cold run": cold_run,
    "more labels": label_more,
    "warm run": train,
    "re-rank": rerank,
    "why": why,
    "ego-net": ego_nets,
    "map": draw_map,
    "beside PyG": beside_pyg,
}


def _open() -> Any:
    from gadcore.workspace import Workspace

    return Workspace.open(PROJECT, Settings.from_env())


def _seconds(work: Callable[[], object]) -> tuple[float, float]:
    """By the clock, and of the processor."""
    start, own = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - start, time.process_time() - own


def _spread(times: Iterable[tuple[float, float]]) -> Figures:
    """The first apart; median and 95th percentile of the others, by the clock and of the processor."""
    (first, _), *rest = times
    figures: Figures = {"first": first}
    for name, own in zip(("", "CPU "), zip(*rest)):
        figures |= {f"{name}median": float(np.median(own)), f"{name}p95": float(np.quantile(own, 0.95))}
    return figures


def main(argv: Sequence[str]) -> int:
    """Carry out one step."""
    name, folder = argv
    start = time.perf_counter()
    figures = STEPS[name](Path(folder))
    inside = {"inside": time.perf_counter() - start}
    print(json.dumps({**figures, "own MB": _memory("RssAnon"), "peak": _memory("VmHWM"), **inside}))
    return 0


def _memory(name: str) -> float:
    """MB of this process: RssAnon, held beside mapped files; VmHWM, the peak of all. nan where unknown.

    The peak that the parent is told of a child counts what the parent itself held when it started the child.
    """
    status = Path("/proc/self/status")
    lines = status.read_text(encoding="utf-8").splitlines() if status.exists() else []
    held = [line.split()[1] for line in lines if line.startswith(f"{name}:")]
    return int(held[0]) / 1024 if held else float("nan")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
