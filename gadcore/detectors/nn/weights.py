"""Weights of M models that train side by side, each tensor with one axis that counts the members."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor


class Weights:
    """Named leaf tensors. ``axes[name]`` is the member axis: 1 for tables (D, M, w), 0 for the rest."""

    def __init__(self, tensors: dict[str, Tensor], axes: dict[str, int]) -> None:
        self.tensors, self.axes = tensors, axes

    @classmethod
    def stack(cls, members: Sequence[dict[str, Tensor]], tables: frozenset[str], device: Any) -> Weights:
        """From one dict of tensors per member; names in ``tables`` put the member axis second."""
        axes = {name: int(name in tables) for name in members[0]}
        stacked = {
            name: torch.stack([m[name] for m in members], dim=axis).to(device).requires_grad_()
            for name, axis in axes.items()
        }
        return cls(stacked, axes)

    @property
    def count(self) -> int:
        """M."""
        name, axis = next(iter(self.axes.items()))
        return self.tensors[name].shape[axis]

    def __getitem__(self, name: str) -> Tensor:
        return self.tensors[name]

    def table(self, name: str) -> Tensor:
        """(D, M, w) as (D, M·w): all members in one product."""
        tensor = self.tensors[name]
        return tensor.reshape(tensor.shape[0], -1)

    def parameters(self) -> list[Tensor]:
        return list(self.tensors.values())

    def select(self, members: Sequence[int] | npt.NDArray[np.int64]) -> Weights:
        """Copies of these members, detached from any graph and ready to train."""
        taken = {
            name: tensor.detach().index_select(self.axes[name], self._index(members)).requires_grad_()
            for name, tensor in self.tensors.items()
        }
        return Weights(taken, dict(self.axes))

    def overwrite(self, members: npt.NDArray[np.int64], other: Weights) -> None:
        """Take over the given members of ``other``, which has the same shape."""
        with torch.no_grad():
            for name, tensor in self.tensors.items():
                if len(members) == self.count:
                    tensor.copy_(other[name])
                else:
                    axis, index = self.axes[name], self._index(members)
                    tensor.index_copy_(axis, index, other[name].index_select(axis, index))

    def member(self, index: int) -> dict[str, npt.NDArray[np.float32]]:
        """Arrays of one member, without the member axis."""
        return {
            name: tensor.detach().select(self.axes[name], index).cpu().numpy()
            for name, tensor in self.tensors.items()
        }

    def finite(self) -> bool:
        return all(bool(torch.isfinite(tensor).all()) for tensor in self.tensors.values())

    def _index(self, members: Sequence[int] | npt.NDArray[np.int64]) -> Tensor:
        device = next(iter(self.tensors.values())).device
        return torch.as_tensor(np.asarray(members, dtype=np.int64), device=device)
