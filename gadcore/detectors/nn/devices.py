"""Where tensors live and how many threads work on them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch

from gadcore.errors import ModelError


def pick_device(name: str = "auto") -> torch.device:
    """``auto`` takes CUDA, then MPS, then the CPU; a named device must be present."""
    present = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available(), "cpu": True}
    if name == "auto":
        return torch.device(next(kind for kind, there in present.items() if there))
    kind = name.split(":")[0]
    if kind not in present:
        raise ModelError(f"There is no device {name!r}. Expected: auto, cpu, cuda, cuda:N or mps.")
    if not present[kind]:
        raise ModelError(f"This computer has no {kind} device that torch can use. Use 'auto' or 'cpu'.")
    return torch.device(name)


@contextmanager
def thread_count(threads: int | None) -> Iterator[None]:
    """Work with this many torch threads, then go back; None leaves them alone."""
    before = torch.get_num_threads()
    if threads is not None:
        if threads < 1:
            raise ModelError(f"threads={threads}. Expected: 1 or more, or None to leave it as it is.")
        torch.set_num_threads(threads)
    try:
        yield
    finally:
        if threads is not None:
            torch.set_num_threads(before)
