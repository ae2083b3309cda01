"""Where tensors live and how many threads work on them."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

import torch

from gadcore.errors import ModelError

logger = logging.getLogger("gadcore.detectors")
T = TypeVar("T")
CPU = torch.device("cpu")


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


def where_it_fits(device: torch.device, work: Callable[[torch.device], T]) -> T:
    """Work on a device; where its memory does not suffice, on the processor, and say so in the log."""
    try:
        return work(device)
    except torch.OutOfMemoryError as error:
        if device == CPU:
            raise
        logger.warning("%s has too little memory (%s): going on with the processor, in blocks", device, error)
    torch.cuda.empty_cache()
    return work(CPU)


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
