"""What a finished run found: arrays of its folder, opened when they are first asked for."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from gadcore.errors import RunError
from gadcore.graph import FloatArray, IntArray
from gadcore.metrics import percentile_ranks, ranks
from gadcore.records import RunInfo

LAYOUTS = ("pca", "umap", "tsne")


def _kept(name: str) -> cached_property[FloatArray | None]:
    """An array that is opened when it is first asked for."""
    return cached_property(lambda result: result._array(name))


class Result:
    """Scores and more of one run; every array is (N, …) in the order of the graph's nodes."""

    def __init__(self, info: RunInfo, folder: Path) -> None:
        self.info, self.folder = info, folder

    @cached_property
    def scores(self) -> FloatArray:
        """(N,) higher = more anomalous."""
        found = self._array("scores")
        if found is None:
            raise RunError(
                f"The scores of run {self.info.number} are missing from {self.folder}. "
                "Use an earlier run, or retrain; the labels are safe."
            )
        return np.asarray(found)

    @cached_property
    def percentile(self) -> npt.NDArray[np.float64]:
        """(N,) share of nodes with a lower score, 0..100."""
        return percentile_ranks(self.scores) * 100

    @cached_property
    def order(self) -> IntArray:
        """Node indices, highest score first; ties in the order of the graph."""
        return np.argsort(-self.scores, kind="stable")

    @cached_property
    def rank(self) -> IntArray:
        """(N,) 1 = highest score."""
        return ranks(self.scores, self.order)

    def rank_of(self, node: int) -> int:
        """Rank of one node, without ranking all."""
        if "rank" in self.__dict__:
            return int(self.rank[node])
        score = self.scores[node]
        return 1 + int((self.scores > score).sum()) + int((self.scores[:node] == score).sum())

    # (N, …) each, or None of a model without it.
    embedding = _kept("embedding")  # (N, K)
    radius = _kept("radius")  # distance to the centre of the hypersphere
    spread = _kept("spread")  # disagreement of ensemble members
    out_of_fold = _kept("out_of_fold")  # by models that did not see the node's label; nan where unlabelled
    probability = _kept("probability")  # calibrated; without one, the reason is in ``probability_reason``

    @property
    def probability_reason(self) -> str:
        """What the probability rests on, or why there is none."""
        return str(self.details.get("probability_reason", ""))

    @cached_property
    def details(self) -> dict[str, Any]:
        """result.json: versions, warm start, basis of the probability."""
        return dict(self._json("result.json", {}))

    @cached_property
    def labels(self) -> dict[str, str]:
        """Node id -> verdict that the run was trained on."""
        return dict(self._json("labels.json", {}))

    @cached_property
    def history(self) -> list[dict[str, Any]]:
        """Reported epochs: epoch, epochs, loss, auc, stage."""
        return list(self._json("history.json", []))

    @cached_property
    def label_weights(self) -> dict[str, float] | None:
        """Node id -> weight of the labels that counted less than 1; None of a run that did not keep it."""
        found = self._json("label_weights.json", None)
        return None if found is None else dict(found)

    def learnt(self, unknown: Mapping[str, float]) -> dict[str, tuple[str, float]]:
        """Node id -> verdict and weight that the run was trained on; ``unknown`` where it kept no weights."""
        weights = unknown if self.label_weights is None else self.label_weights
        return {node: (word, weights.get(node, 1.0)) for node, word in self.labels.items()}

    @cached_property
    def seen(self) -> dict[str, Any] | None:
        """How the model encodes attributes where it was carried here from another version; else None."""
        found = self._json("seen.json", None)
        return None if found is None else dict(found)

    @property
    def model_folder(self) -> Path:
        return self.folder / "model"

    @property
    def model_state(self) -> dict[str, Any]:
        """detector.json of the saved model; empty without one."""
        return dict(self._json("model/detector.json", {}))

    def layout(self, kind: str = "pca") -> FloatArray | None:
        """(N, 2) map positions, or None while they are not made."""
        return self._array(f"layout_{kind}")

    def _array(self, name: str) -> npt.NDArray[Any] | None:
        load = partial(np.load, mmap_mode="r", allow_pickle=False)
        found: npt.NDArray[Any] | None = self._read(f"{name}.npy", load)
        return found

    def _json(self, name: str, absent: Any) -> Any:
        return self._read(name, lambda path: json.loads(path.read_text(encoding="utf-8")), absent)

    def _read(self, name: str, reader: Callable[[Path], Any], absent: Any = None) -> Any:
        try:
            return reader(self.folder / name)
        except FileNotFoundError:
            return absent
        except (OSError, ValueError) as error:
            raise RunError(f"{name} of run {self.info.number} cannot be read ({error}). Retrain.") from error
