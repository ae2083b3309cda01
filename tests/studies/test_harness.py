"""The harness of the studies: shipped rows are understood and kept; rows go where they can be written."""

from __future__ import annotations

import json
import pickle
from dataclasses import dataclass

import pytest

from gadcore.cli import main as command_line
from gadcore.errors import InputError
from gadcore.studies import STUDIES, find_study, harness
from gadcore.studies.harness import DOCS, RESULTS, Cell, Option, Row, Study, load_rows, measured, missing, run


@dataclass(frozen=True)
class Doubled(Cell):
    """A cell that costs nothing to measure."""

    seed: int
    revision = 2

    def measure(self) -> Row:
        if self.seed == 13:
            raise RuntimeError("stopped")
        return {"twice": 2 * self.seed, "revision": self.revision}

    def holds(self, row: Row) -> bool:
        return row["revision"] == self.revision


STUDY = Study(
    "doubled",
    "Numbers, doubled.",
    (Option("seeds", 3), Option("rates", (0.1, 0.2)), Option("wrong", 0.0, condition=True)),
    lambda given: [("doubled", [Doubled("g", "m", seed) for seed in range(given.seeds)])],
    lambda rows: {"doubled.md": f"{sum(row['twice'] for row in rows('doubled'))}\n"},
    quick={"seeds": 1},
)


@pytest.fixture
def places(tmp_path, monkeypatch):
    """Results and docs in a folder of their own."""
    for name in ("RESULTS", "DOCS"):
        (tmp_path / name.lower()).mkdir()
        monkeypatch.setattr(harness, name, tmp_path / name.lower())
    return tmp_path


# Without the audit: its records take minutes.
@pytest.mark.parametrize("name", ["paper", "figures", "loop", "transactions"])
def test_pages_in_the_repository_are_those_of_the_shipped_rows(name) -> None:
    for page, text in find_study(name).pages(lambda file: load_rows(RESULTS / f"{file}.jsonl")).items():
        assert (DOCS / page).read_text(encoding="utf-8") == text, page


@pytest.mark.parametrize("name", STUDIES)
def test_every_shipped_row_is_of_a_cell_of_its_own(name) -> None:
    study = find_study(name)
    for file, cells in study.cells(study._parser().parse_args([])):
        rows = load_rows(RESULTS / f"{file}.jsonl")
        assert len({type(cells[0]).of(row) for row in rows}) == len(rows) > 0


@pytest.mark.parametrize(("name", "options"), [("loop", []), ("loop", ["--wrong", "0.05"]), ("audit", [])])
def test_complete_studies_measure_nothing_anew(name, options) -> None:
    study = find_study(name)
    ((file, cells),) = study.cells(study._parser().parse_args(options))
    assert missing(cells, RESULTS / f"{file}.jsonl") == []


def test_a_study_measures_once_draws_and_says_where(places) -> None:
    done = STUDY.carry_out(["--wrong", "0.5"])
    path = places / "results" / "doubled.jsonl"
    assert done == {
        "study": "doubled",
        "measured": {str(path): 3},
        "pages": [str(places / "docs" / "doubled.md")],
    }
    rows = load_rows(path)
    assert [(row["seed"], row["twice"]) for row in rows] == [(0, 0), (1, 2), (2, 4)]
    assert {row["command"] for row in rows} == {"ringfence experiments doubled --wrong 0.5"}
    assert "numpy" in rows[0]["versions"]
    assert STUDY.carry_out([])["measured"] == {str(path): 0}
    assert (places / "docs" / "doubled.md").read_text() == "6\n"


def test_quick_is_a_part_and_another_file_leaves_the_page_alone(places) -> None:
    other = places / "other.jsonl"
    assert STUDY.carry_out(["--quick", "--file", str(other)])["pages"] == []
    assert [row["seed"] for row in load_rows(other)] == [0]
    assert not (places / "docs" / "doubled.md").exists()
    with pytest.raises(InputError, match="several"):
        find_study("figures").carry_out(["--file", str(other)])


def test_an_installed_package_that_cannot_be_written_gets_its_rows_in_the_current_folder(
    places, tmp_path_factory, monkeypatch
) -> None:
    STUDY.carry_out([])
    here = tmp_path_factory.mktemp("here")
    monkeypatch.chdir(here)
    monkeypatch.setattr(harness, "DOCS", places / "absent")
    monkeypatch.setattr(harness.os, "access", lambda path, mode: path != harness.RESULTS)
    done = STUDY.carry_out(["--seeds", "4"])
    assert done["measured"] == {str(here / "doubled.jsonl"): 1}  # what is shipped is not measured again
    assert done["pages"] == [str(here / "doubled.md")]
    assert len(load_rows(here / "doubled.jsonl")) == 4
    assert len(load_rows(places / "results" / "doubled.jsonl")) == 3


def test_a_study_that_is_stopped_has_lost_no_row(tmp_path) -> None:
    path = tmp_path / "rows.jsonl"
    cells = [Doubled("g", "m", seed) for seed in (1, 13, 2)]
    old = [{**cell.columns(), "twice": 0, "revision": 1} for cell in cells]
    path.write_text("".join(json.dumps(row) + "\n" for row in old), encoding="utf-8")
    with pytest.raises(RuntimeError):
        list(run(cells, path, "a command"))
    assert sorted((row["seed"], row["revision"]) for row in load_rows(path)) == [(1, 2), (2, 1), (13, 1)]


def test_a_cell_is_a_small_value_that_any_process_can_measure() -> None:
    for name in STUDIES:
        for _, cells in find_study(name).cells(find_study(name)._parser().parse_args([])):
            sent = pickle.dumps(cells[0])
            assert pickle.loads(sent) == cells[0]
            assert len(sent) < 500
    assert measured(Doubled("g", "m", 4))["twice"] == 8


def test_the_command_line_lists_studies_and_refuses_others(capsys) -> None:
    assert command_line(["experiments"]) == 0
    assert capsys.readouterr().out.split() == [*STUDIES, "all"]
    assert command_line(["experiments", "nothing"]) != 0
    assert "loop" in capsys.readouterr().err
