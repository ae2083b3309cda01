"""Work that does not fit into the memory of a GPU goes on with the processor."""

from __future__ import annotations

import logging

import numpy as np
import pytest
import torch

from gadcore.detectors import make_detector
from gadcore.detectors.nn.devices import CPU, where_it_fits


def test_too_little_memory_on_a_gpu_falls_back_to_the_processor_and_says_so(caplog) -> None:
    def work(device: torch.device) -> str:
        if device != CPU:
            raise torch.OutOfMemoryError("tried to allocate 9 GiB")
        return str(device)

    with caplog.at_level(logging.WARNING, "gadcore.detectors"):
        assert where_it_fits(torch.device("cuda"), work) == "cpu"
    assert "too little memory" in caplog.text


def test_too_little_memory_on_the_processor_is_an_error() -> None:
    def work(device: torch.device) -> None:
        raise torch.OutOfMemoryError

    with pytest.raises(torch.OutOfMemoryError):
        where_it_fits(CPU, work)


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
def test_a_fit_that_a_gpu_cannot_hold_ends_on_the_processor(planted, planted_labels, caplog) -> None:
    here = make_detector("an", device="cpu", epochs=5, folds=0).fit(planted[0], planted_labels)
    torch.cuda.set_per_process_memory_fraction(1e-9)
    try:
        there = make_detector("an", device="cuda", epochs=5, folds=0).fit(planted[0], planted_labels)
    finally:
        torch.cuda.set_per_process_memory_fraction(1.0)
    assert "too little memory" in caplog.text
    np.testing.assert_allclose(there.scores_, here.scores_, rtol=1e-4)
