"""Arrays of a saved model: mapped, whole, or refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gadcore.detectors.arrays import MODEL_FILE, load_arrays, save_arrays
from gadcore.errors import ModelError

ARRAYS = {
    "scores": np.arange(7, dtype=np.float32),
    "table": np.arange(6).reshape(2, 3),
    "small": np.array([1, -1], np.int8),
    "mask": np.array([True, False, True]),
    "none": np.zeros((0, 4)),
}


def test_arrays_come_back_as_they_were_and_stay_in_their_file(tmp_path: Path) -> None:
    save_arrays(tmp_path, {**ARRAYS, "absent": None})
    found = load_arrays(tmp_path)
    assert found.keys() == ARRAYS.keys()
    for name, array in ARRAYS.items():
        assert found[name].dtype == array.dtype
        assert np.array_equal(found[name], array)
        assert not found[name].flags.owndata


@pytest.mark.parametrize("kept", [0, 4, 40, 200])
def test_a_file_that_was_cut_off_is_refused(tmp_path: Path, kept: int) -> None:
    save_arrays(tmp_path, ARRAYS)
    whole = (tmp_path / MODEL_FILE).read_bytes()
    (tmp_path / MODEL_FILE).write_bytes(whole[:kept])
    with pytest.raises(ModelError, match="Train it again"):
        load_arrays(tmp_path)
