"""Whatever is wrong with a file, only an InputError comes out, soon: ``ringfence bench fuzz`` in short."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
import torch

from benchmarks.bench_fuzz import attempt, mutations
from benchmarks.sample_files import Sample, _odd_tensor, samples
from gadcore.ingest import read

FILES = 40  # of each layout; tables have ten layouts, .npz has four
SEED = 103


@pytest.mark.parametrize("sample", samples(), ids=lambda sample: sample.name)
def test_the_samples_themselves_can_be_read(tmp_path: Path, sample: Sample) -> None:
    path = tmp_path / sample.file
    path.write_bytes(sample.build(None))
    assert read(path).graph.n_nodes > 1


@pytest.mark.parametrize("sample", samples(), ids=lambda sample: sample.name)
def test_mutated_files_are_read_or_refused(tmp_path: Path, sample: Sample) -> None:
    for at, _, data in mutations([sample], SEED, 0, FILES):
        outcome = attempt(tmp_path / sample.file, data, at)
        assert outcome.word != "failed", f"number {at}: {outcome.where}"


@pytest.mark.filterwarnings("ignore")  # torch warns of what it will not make for long
def test_an_empty_tensor_can_be_made_odd_too() -> None:
    """Otherwise the maker of files ends, and it looks as if a file had ended the reader."""
    for seed in range(100):
        _odd_tensor(torch.zeros(0, 2), Random(seed))
