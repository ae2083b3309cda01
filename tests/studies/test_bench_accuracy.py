"""The accuracy bench: its spread, and the table of the README that it prints."""

from __future__ import annotations

import json
from collections import defaultdict

import numpy as np
import pytest

from gadcore.settings import ROOT
from gadcore.studies.harness import RESULTS
from gadcore.studies.markdown import std

GRAPHS = ("cora", "citeseer", "pubmed", "photo", "computers")


def test_the_spread_is_that_of_a_sample() -> None:
    assert std(np.array([1.0, 3.0])) == pytest.approx(np.sqrt(2))
    assert std(np.array([1.0])) == 0.0


def test_the_accuracy_table_of_the_readme_is_that_of_the_rows() -> None:
    found = defaultdict(list)
    for line in (RESULTS / "accuracy.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        found[row["method"], row["graph"]].append(100 * row["auc"])
    shown = (ROOT / "README.md").read_text(encoding="utf-8").replace("**", "")
    for method in ("an", "sgc-lr", "an+"):
        values = [np.array(found[method, graph]) for graph in GRAPHS]
        cells = " | ".join(f"{value.mean():.2f} ± {std(value):.2f}" for value in values)
        assert f"| `{method}` | {cells} |" in shown
