"""The loop study: resumable sessions, and a page drawn from rows alone."""

from __future__ import annotations

import json
from typing import Any

import pytest

from gadcore.cli import main as command_line
from gadcore.graph import Truth
from gadcore.studies import harness, loop
from gadcore.studies.harness import load_rows, missing, result_path
from gadcore.studies.loop import LoopSession
from gadcore.studies.loop_tables import at, longest, mean_line, render, standings


def row(method: str, seed: int, found: list[int], **more: Any) -> dict[str, Any]:
    labels = [100 * i for i in range(len(found))]
    figures = [None, *(0.9 for _ in found[1:])]
    base = {
        "graph": "cora",
        "method": method,
        "seed": seed,
        "labels": labels[-1],
        "wrong": 0.0,
        "model": "an+",
        "revision": LoopSession("cora", method, seed).revision,
    }
    curve = {"labels": labels, "found": found, "auc": figures, "ap": figures}
    return {**base, "anomalies": 144, "askable": 2160, "curve": curve, "auc": 0.9, "ap": 0.5, **more}


@pytest.fixture
def study(tmp_path, monkeypatch, planted):
    """The study in a folder of its own, on the planted graph."""
    graph, y = planted
    for name in ("RESULTS", "DOCS"):
        monkeypatch.setattr(harness, name, tmp_path / name.lower())
        (tmp_path / name.lower()).mkdir()
    monkeypatch.setattr(loop, "known_graph", lambda name: (graph, Truth(y)))
    return tmp_path


ARGUMENTS = ["--graphs", "planted", "--strategies", "top", "random", "--model", "sgc-lr", "--labels", "30"]


def test_sessions_are_kept_and_not_simulated_again(study, monkeypatch) -> None:
    assert command_line(["experiments", "loop", *ARGUMENTS, "--seeds", "1"]) == 0
    first = load_rows(result_path("loop"))
    assert [(r["method"], r["seed"]) for r in first] == [("top", 0), ("random", 0)]
    assert first[0]["curve"]["labels"] == [0, 10, 20, 30]
    assert first[0]["command"].startswith("ringfence experiments loop")
    with result_path("loop").open("a", encoding="utf-8") as file:
        file.write('{"graph": "pla\n')  # cut off while it was written
    done = loop.STUDY.carry_out([*ARGUMENTS, "--seeds", "2"])
    assert done["measured"] == {str(result_path("loop")): 2}
    assert done["pages"] == [str(study / "docs" / "loop.md")]
    rows = load_rows(result_path("loop"))
    assert rows[:2] == first
    assert sorted((r["method"], r["seed"]) for r in rows[2:]) == [("random", 1), ("top", 1)]
    assert "### planted" in (study / "docs" / "loop.md").read_text(encoding="utf-8")


def test_rendering_simulates_nothing(study, monkeypatch) -> None:
    monkeypatch.setattr(LoopSession, "measure", None)
    result_path("loop").write_text(json.dumps(row("top", 0, [0, 30, 50])) + "\n", encoding="utf-8")
    assert loop.STUDY.carry_out(["--render"])["measured"] == {}
    assert "| top | 30.0 |" in (study / "docs" / "loop.md").read_text(encoding="utf-8")


def test_sessions_with_other_settings_are_others(tmp_path) -> None:
    path = tmp_path / "loop.jsonl"
    path.write_text(json.dumps(row("top", 0, [0, 30])), encoding="utf-8")
    cells = [
        LoopSession("cora", "top", 0, 100),
        LoopSession("cora", "top", 0, 100, wrong=0.05),
        LoopSession("cora", "top", 0, 200),
    ]
    assert missing(cells, path) == cells[1:]


def test_sessions_of_another_revision_are_simulated_again_and_replaced(study) -> None:
    old = row("top", 0, [0], graph="planted", model="sgc-lr", labels=30, revision=loop.REVISION - 1)
    result_path("loop").write_text(json.dumps(old) + "\n", encoding="utf-8")
    assert loop.STUDY.carry_out([*ARGUMENTS, "--seeds", "1"])["measured"] == {str(result_path("loop")): 2}
    rows = load_rows(result_path("loop"))
    assert [(r["method"], r["revision"]) for r in rows] == [(m, loop.REVISION) for m in ("top", "random")]
    assert len(rows[0]["curve"]["labels"]) > 1


def test_a_strategy_that_changed_has_a_revision_of_its_own(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(loop, "REVISIONS", {"greedy-diverse": loop.REVISION + 1})
    path = tmp_path / "loop.jsonl"
    held = [row(method, 0, [0, 30], revision=loop.REVISION) for method in ("top", "greedy-diverse")]
    path.write_text("".join(json.dumps(one) + "\n" for one in held), encoding="utf-8")
    cells = [LoopSession("cora", one["method"], 0, 100) for one in held]
    assert missing(cells, path) == cells[1:]


def test_the_page_says_finds_ratio_deviation_and_seeds() -> None:
    page = render(
        [
            *(row("greedy-diverse", seed, [0, 60 + 2 * seed, 100]) for seed in range(2)),
            *(row("random", seed, [0, 6, 12]) for seed in range(2)),
        ]
    )
    assert (
        "| greedy-diverse | 61.0 ± 1.4 | 10.2 | 100.0 ± 0.0 | 8.3 | 90.0 ± 0.0 | 50.0 ± 0.0 | 200 | 2 |"
        in page
    )
    assert "| cora | 100 | 61.0 | 6.7 | 6.0 | 10.2 | greedy-diverse (61.0) | 100% |" in page
    assert "all verdicts right" in page


def test_the_page_compares_what_was_learnt_with_plain_greed_over_graphs_that_both_have() -> None:
    curve = {"labels": [0, 100], "found": [0, 9], "auc": [None, 0.9], "ap": [None, 0.5]}
    rows = [
        row("greedy-diverse", 0, [0, 9]),
        row("top", 0, [0, 9], curve=curve),
        row("greedy-diverse", 0, [0, 9], graph="demo", curve=curve),
        row("top", 0, [0, 9], graph="demo", curve=curve),
        row("top", 0, [0, 9], graph="reddit"),
        row("plain", 0, [0, 9], graph="demo"),
    ]
    page = render(rows)
    assert "100 labels, mean over 2 graphs: 70.0 with `greedy-diverse`, 50.0 with `top`." in page
    assert "100 labels, mean over 1 graph: 50.0 with `greedy-diverse`, 90.0 with `plain`." in page


def test_plain_greed_is_held_against_a_default_that_makes_no_random_checks_either() -> None:
    page = render(
        [row("greedy-diverse", 0, [0, 80]), row("unchecked", 0, [0, 95]), row("plain", 0, [0, 100])]
    )
    assert "| cora | 100 | 80.0 | 6.7 | – | – | greedy-diverse (80.0) | 100% |" in page
    assert "| cora | 100 | 95.0 | 80.0 | 100.0 | 95% | 80% |" in page
    assert "of `plain`" not in render([row("greedy-diverse", 0, [0, 80]), row("plain", 0, [0, 100])])


def test_strategies_are_compared_over_shared_seeds() -> None:
    rows = [row("greedy-diverse", 0, [0, 20]), row("greedy-diverse", 1, [0, 40]), row("ring", 0, [0, 25])]
    assert "| cora | 100 | 30.0 | 6.7 | – | – | ring (25.0, 1 seed) | 80% |" in render(rows)


def test_standings_compare_each_strategy_with_random_and_the_best() -> None:
    rows = [
        row("top", 0, [0, 40]), row("top", 1, [0, 60]),
        row("random", 0, [0, 5]), row("random", 1, [0, 15]),
        row("greedy-diverse", 1, [0, 45]), row("ring", 0, [0]),
    ]  # fmt: skip
    top, default, random = standings(rows, 100)
    assert (top.strategy, top.found, top.seeds, top.of_the_best) == ("top", 50, 2, 1)
    assert top.times_random == pytest.approx(5)
    assert (default.strategy, default.std) == ("greedy-diverse", 0)
    assert default.times_random == pytest.approx(3)
    assert (default.of_the_best, default.error) == (pytest.approx(0.75), None)
    assert random.times_random == 1
    assert standings([row("top", 0, [0, 4]), row("random", 0, [0, 0])], 100)[0].times_random is None
    assert standings([], 100) == []


def test_a_share_of_the_best_has_the_standard_error_of_its_seeds() -> None:
    ours, best = [30, 50, 40, 60], [50, 60, 40, 70]
    rows = [row("greedy-diverse", seed, [0, found]) for seed, found in enumerate(ours)]
    rows += [row("top", seed, [0, found]) for seed, found in enumerate(best)]
    quotient = sum(ours) / sum(best)
    rest = [a - quotient * b for a, b in zip(ours, best)]
    error = (sum(x * x for x in rest) / 3 / 4) ** 0.5 / 55
    default = standings(rows, 100)[1]
    assert (default.of_the_best, default.error) == (pytest.approx(quotient), pytest.approx(error))
    assert f"| {100 * quotient:.0f} ± {100 * error:.0f}% |" in render(rows)


def test_analysts_who_err_get_their_own_tables() -> None:
    page = render([row("top", 0, [0, 30]), row("top", 0, [0, 20], wrong=0.05)])
    assert page.index("all verdicts right") < page.index("5% of the verdicts wrong")
    assert "| top | 20.0 |" in page[page.index("5% of the verdicts wrong") :]


def test_a_short_session_counts_once_beside_its_longer_self() -> None:
    short, long = row("top", 0, [0, 30]), row("top", 0, [0, 30, 50])
    assert longest([short, long]) == longest([long, short]) == [long]
    assert at(short, "found", 200) is None
    assert at(long, "found", 200) == 50


def test_a_mean_curve_leaves_out_what_not_all_sessions_have() -> None:
    line = mean_line([row("top", 0, [0, 30, 50]), row("top", 1, [0, 40])], "found")
    assert line.labels == [0, 100]
    assert line.mean == [0.0, 35.0]
    assert mean_line([row("top", 0, [0, 30])], "auc").labels == [100]
