"""Settings that may explain a distance from the paper: on the splits of the tables, drawn from rows."""

from __future__ import annotations

from typing import Any

from gadcore.studies.deviations import QUESTIONS, section
from gadcore.studies.published import PUBLISHED


def row(graph: str, method: str, rate: float, seed: int, auc: float, **params: Any) -> dict[str, Any]:
    place = {"graph": graph, "method": method, "rate": rate, "seed": seed, "stratified": False}
    return {**place, "params": params, "auc": auc}


def test_every_question_is_about_a_cell_of_the_paper() -> None:
    assert all((q.rate, q.graph, q.method) in PUBLISHED for q in QUESTIONS)
    fits = [fit for question in QUESTIONS for fit in question.fits()]
    assert len(set(fits)) == len(fits)
    assert all(len(question.seeds) >= 3 for question in QUESTIONS)


def test_variants_stand_beside_the_tables_and_the_paper() -> None:
    tables = [row("citeseer", "an", 0.1, seed, 0.70) for seed in range(10)]
    tables += [row("citeseer", "an", 0.1, 0, 0.99, depth=9)]  # another sweep
    varied = [row("citeseer", "an", 0.1, seed, 0.72, depth=3) for seed in range(10)]
    varied += [row("citeseer", "an", 0.1, seed, 0.71) for seed in range(10, 30)]
    page = section(tables, varied)
    assert "| an | citeseer | 10.0% | as in the tables | 70.0 (0.0) n=10 | 72.9" in page
    assert "| an | citeseer | 10.0% | depth = 3 | 72.0 (0.0) n=10 | 72.9" in page
    assert "| as in the tables, other splits | 71.0 (0.0) n=20 |" in page
    assert "deepwalk" not in page


def test_without_rows_there_is_no_section() -> None:
    assert section([row("citeseer", "an", 0.1, 0, 0.7)], []) == ""
