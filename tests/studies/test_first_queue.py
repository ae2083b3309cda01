"""The study of the first queue: cells measure, and the page is drawn from rows alone."""

from __future__ import annotations

from argparse import Namespace

import numpy as np
import pytest

from gadcore.studies import first_queue as study
from gadcore.studies.planted_groups import KINDS, kinds_hit, planted_bank

PLAIN = "attributes say nothing"


def test_the_same_seed_makes_the_same_bank_with_all_six_kinds() -> None:
    bank, again = planted_bank(7, informative=False), planted_bank.__wrapped__(7, informative=False)
    assert bank.graph.fingerprint == again.graph.fingerprint
    assert {kind for kind, _ in bank.groups} == set(KINDS)
    assert set(np.unique(bank.kind)) == set(range(-1, len(KINDS)))
    assert (bank.truth.y == (bank.kind >= 0)).all()


def test_kinds_are_counted_once() -> None:
    kind = np.array([-1, 0, 0, 3, -1], dtype=np.int8)
    assert kinds_hit([0, 1, 2], kind) == pytest.approx(1 / 6)
    assert kinds_hit([1, 3, 4], kind) == pytest.approx(2 / 6)


def test_a_ranking_that_sees_structure_hits_more_kinds_than_degree() -> None:
    ours, degree = (study.FirstVerdicts(PLAIN, method, 7).measure() for method in (study.WITH, "degree"))
    assert ours["kinds_50"] >= degree["kinds_50"]


def test_the_page_is_drawn_from_rows() -> None:
    rows = {
        "first_queue": [
            {"graph": PLAIN, "method": study.QUEUE, "seed": seed, "kinds_20": 1.0, "kinds_50": 1.0,
             "found_20": 9, "found_50": 30} for seed in (0, 1)
        ],
        "first_groups": [
            {"graph": PLAIN, "seed": 0, "by_kind": {kind: [1.0, 0.9] for kind in KINDS}, "honest_alone": 0.9}
        ],
        "first_ranking": [
            {"graph": "disney", "method": method, "auc": 0.65, "ap": 0.08}
            for method in (study.WITH, study.WITHOUT)
        ],
    }  # fmt: skip
    page = study.pages(rows.__getitem__)["first_queue.md"]
    assert "queue of the app" in page
    assert "1.00 / 0.90" in page
    assert "| disney | 65.0 | 65.0 |" in page


def test_the_cells_cover_every_bank_and_method() -> None:
    files = dict(study.cells(Namespace(first=0, seeds=2, found=("disney",))))
    assert len(files["first_queue"]) == 2 * len(study.BANKS) * (1 + len(study.RANKINGS))
    assert len(files["first_groups"]) == 2 * len(study.BANKS)
    assert len(files["first_ranking"]) == 2
