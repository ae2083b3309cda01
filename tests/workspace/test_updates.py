"""A project whose data keep coming: updates, versions, scores at once, and the way back."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from gadcore.errors import InputError, NotAllowed, NotFound
from gadcore.ingest import read
from gadcore.settings import Settings
from gadcore.store import close_stores
from gadcore.workspace import Filter, Workspace
from tests.bank_files import accounts, payments, table_file, write_bank

DATABASES = ("sqlite",)  # a trained workspace is copied; tests/store has the tables on both
FAST = {"lambdas": [], "strengths": [1.0]}  # an+ without hyperspheres


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return write_bank(tmp_path_factory.mktemp("files"))


@pytest.fixture(scope="module")
def trained(files: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A GAD_HOME with the first part of the bank, verdicts, and a run that learnt from them."""
    home = tmp_path_factory.mktemp("trained")
    reading = read(files["accounts"], edges=files["payments"])
    bank = Workspace.create("bank", reading, settings=Settings.from_env({"GAD_HOME": str(home)}))
    judge(bank)
    run = bank.runs.train("sgc-lr")
    assert run.status == "done", run.message
    close_stores()
    return home


@pytest.fixture
def ranked(trained: Path, settings: Settings) -> Workspace:
    """A copy of it."""
    shutil.copytree(trained, settings.home, dirs_exist_ok=True)
    return Workspace.open("bank", settings)


def judge(workspace: Workspace) -> None:
    for verdict, rest in (("anomalous", 0), ("normal", 4)):
        workspace.verdicts.record_each([f"A{k:03d}" for k in range(80) if k % 9 == rest], verdict)


def update(workspace: Workspace, files: dict[str, Path], **options):
    return workspace.data.store(workspace.data.preview(files["accounts_2"], files["payments_2"]), **options)


def test_an_update_makes_a_version_and_labels_stay(ranked: Workspace, files: dict[str, Path]) -> None:
    ranked.verdicts.note("A001", "seen before")
    before = ranked.verdicts.counts()
    version = update(ranked, files)
    assert (version.number, version.parent, version.present, version.n_nodes) == (2, 1, True, 90)
    assert [v.number for v in ranked.data.versions()] == [1, 2]
    assert ranked.graph.n_nodes == ranked.data.info().n_nodes == 90
    assert ranked.verdicts.counts() == before
    assert ranked.verdicts.notes() == {"A001": "seen before"}
    assert ranked.data.truth().y.shape == (90,)


def test_the_model_in_use_scores_every_node_at_once_and_says_why(
    ranked: Workspace, files: dict[str, Path]
) -> None:
    ranked.runs.use(ranked.runs.train("an+", params=FAST).id)
    update(ranked, files)
    run = ranked.runs.in_use()
    assert (run.number, run.version, run.model, run.status) == (3, 2, "an+", "done"), run.message
    result = ranked.runs.result()
    assert np.isfinite(result.scores).all()
    assert len(result.scores) == len(result.embedding) == 90
    rows = ranked.cases.queue(n=90)
    assert {"A085", "A089"} <= {row.node_id for row in rows}
    assert ranked.insight.explain("A085").attributes
    assert ranked.cases.card("A085").row.rank >= 1


def test_versions_and_runs_are_those_of_one_import_of_everything(
    ranked: Workspace, files: dict[str, Path], settings: Settings
) -> None:
    update(ranked, files)
    whole = Workspace.create(
        "whole", read(files["all_accounts"], edges=files["all_payments"]), settings=settings
    )
    assert ranked.data.info().fingerprint == whole.data.info().fingerprint
    for column in whole.graph.derived:
        assert ranked.graph.node_table[column].equals(whole.graph.node_table[column]), column
    judge(whole)
    runs = [w.runs.train("sgc-lr", warm=False) for w in (ranked, whole)]
    assert [run.status for run in runs] == ["done", "done"]
    np.testing.assert_allclose(ranked.runs.result().scores, whole.runs.result().scores, atol=1e-6)


def test_a_retrain_follows_by_itself_where_the_project_says_so(
    ranked: Workspace, files: dict[str, Path]
) -> None:
    ranked.set_preference("retrain_after_update", True)
    update(ranked, files)
    waiting = [run for run in ranked.runs.all() if run.live]
    assert [(run.model, run.version) for run in waiting] == [("sgc-lr", 2)]


def test_runs_of_another_version_are_neither_used_nor_compared(
    ranked: Workspace, files: dict[str, Path]
) -> None:
    update(ranked, files)
    with pytest.raises(Exception, match="version 1 of the graph"):
        ranked.runs.use("1")
    with pytest.raises(Exception, match="different versions"):
        ranked.runs.compare("1", "2")


def test_an_earlier_version_can_be_looked_at_but_not_changed(
    ranked: Workspace, files: dict[str, Path], settings: Settings
) -> None:
    scores = np.array(ranked.runs.result().scores)
    update(ranked, files)
    past = Workspace.open("bank", settings, version=1)
    assert past.graph.n_nodes == 80
    np.testing.assert_array_equal(past.runs.result().scores, scores)
    assert past.cases.queue(n=5)
    with pytest.raises(NotAllowed, match="cannot be changed"):
        past.verdicts.record("A002", "normal")
    with pytest.raises(NotFound, match="no version 7"):
        Workspace.open("bank", settings, version=7)


def test_one_can_go_back_and_on_from_there(ranked: Workspace, files: dict[str, Path], tmp_path: Path) -> None:
    update(ranked, files)
    ranked.data.use_version(1)
    assert (ranked.graph.n_nodes, ranked.runs.in_use().number) == (80, 1)
    extra = table_file(tmp_path / "more_payments.csv", payments()[:3].assign(amount="7"))
    third = ranked.data.store(ranked.data.preview(extra))
    assert (third.number, third.parent, third.n_nodes) == (3, 1, 80)


def test_a_version_that_is_not_kept_is_built_again(
    ranked: Workspace, files: dict[str, Path], tmp_path: Path, settings: Settings
) -> None:
    bank = ranked
    update(bank, files)
    for k in (1, 2):
        more = table_file(tmp_path / f"payments_{k}.csv", payments()[k : k + 2].assign(amount=str(k)))
        bank.data.store(bank.data.preview(more))
    folder = settings.home / "projects" / bank.id / "versions"
    assert sorted(path.name for path in folder.iterdir() if (path / "graph").exists()) == ["3", "4"]
    past = Workspace.open("bank", settings, version=2)
    assert past.graph.fingerprint == past.data.versions()[1].fingerprint
    assert (folder / "2" / "graph").exists()


def test_what_would_be_lost_needs_force(ranked: Workspace, tmp_path: Path) -> None:
    nodes = table_file(tmp_path / "fewer.csv", accounts()[1:60])
    links = table_file(tmp_path / "fewer_payments.csv", payments()[:200])
    preview = ranked.data.preview(nodes, links, way="replace")
    assert "A000" in preview.changes.labelled_gone
    with pytest.raises(InputError, match="labelled node"):
        ranked.data.store(preview)
    assert ranked.data.info().version == 1
    ranked.data.store(preview, force=True)
    assert ranked.graph.n_nodes == 59
    assert ranked.verdicts.current()["A000"].verdict.value == "anomalous"  # it stays, by its id
    assert ranked.verdicts.in_order()
    assert ranked.insight.audit() is not None


def test_a_model_that_cannot_score_the_version_is_followed_by_one_that_learns(
    ranked: Workspace, tmp_path: Path
) -> None:
    assert ranked.runs.train("label-propagation").status == "done"  # it knows its labelled nodes by their ids
    nodes = table_file(tmp_path / "fewer.csv", accounts()[1:60])
    links = table_file(tmp_path / "fewer_payments.csv", payments()[:200])
    ranked.data.store(ranked.data.preview(nodes, links, way="replace"), force=True)
    waiting, carried = ranked.runs.all()[:2]
    assert (carried.status, waiting.live, waiting.version) == ("failed", True, 2)


def test_the_queue_can_be_narrowed_to_what_is_new(ranked: Workspace, files: dict[str, Path]) -> None:
    update(ranked, files)
    touched = {row.node_id for row in ranked.cases.queue(n=90, where=Filter(since="last"))}
    everything = {row.node_id for row in ranked.cases.queue(n=90)}
    assert {"A085", "A089"} <= touched < everything
    for same in ("version 1", "2000-01-01"):
        assert {row.node_id for row in ranked.cases.queue(n=90, where=Filter(since=same))} == touched
    assert ranked.cases.queue(where=Filter(since="2")) == []
    with pytest.raises(InputError, match="'last'"):
        ranked.cases.queue(where=Filter(since="yesterday"))


def test_a_card_tells_what_came_since_the_verdict_and_such_cases_can_be_asked_again(
    ranked: Workspace, tmp_path: Path
) -> None:
    assert ranked.cases.queue(where=Filter(verdict="changed")) == []
    rank = ranked.cases.card("A009").row.rank
    links = payments()[:30].assign(source="A009", target=[f"A{k:03d}" for k in range(10, 40)])
    ranked.data.store(ranked.data.preview(table_file(tmp_path / "payments_3.csv", links)))
    card = ranked.cases.card("A009")
    assert card.news.startswith("judged anomalous on ")
    assert card.news.endswith(f"30 payments since, rank {rank:,} → {card.row.rank:,}")
    again = {row.node_id for row in ranked.cases.queue(where=Filter(verdict="changed"))}
    assert "A009" in again
    assert again <= set(ranked.verdicts.current())
    ranked.verdicts.record("A009", "normal")
    assert ranked.cases.card("A009").news == ""


def test_cases_that_changed_much_are_asked_again_until_they_are_judged(
    ranked: Workspace, tmp_path: Path
) -> None:
    assert ranked.cases.queue(strategy="again") == []
    assert "changed much" in ranked.cases.remark(0, strategy="again")
    links = payments()[:60].assign(source="A009", target=[f"A{k:03d}" for k in range(10, 70)])
    one = payments()[:1].assign(source="A018", target="A022")
    file = table_file(tmp_path / "payments_3.csv", pd.concat([links, one]))
    ranked.data.store(ranked.data.preview(file))
    rows = {row.node_id: row for row in ranked.cases.queue(strategy="again")}
    assert rows["A009"].reason == ranked.cases.card("A009").news
    assert rows["A009"].verdict == "anomalous"
    assert rows.keys() < set(ranked.verdicts.current())  # not all that were touched
    few = ranked.cases.queue(strategy="again", where=Filter(text="A009"))
    assert [row.node_id for row in few] == ["A009"]
    event = ranked.verdicts.record("A009", "normal", offer=rows["A009"].offer)
    assert event.strategy == "again"
    assert "A009" not in {row.node_id for row in ranked.cases.queue(strategy="again")}
    assert ranked.cases.queue(n=5)  # the usual order goes on


def test_a_case_that_is_to_be_judged_blind_is_not_asked_again(ranked: Workspace, tmp_path: Path) -> None:
    links = payments()[:60].assign(source="A009", target=[f"A{k:03d}" for k in range(10, 70)])
    ranked.data.store(ranked.data.preview(table_file(tmp_path / "payments_3.csv", links)))
    ranked.set_preference("overlap", 1.0)
    blind = set(ranked.cases.second_opinions(analyst="bob"))
    assert "A009" in blind
    rows = ranked.cases.queue(n=90, strategy="again", analyst="bob")
    assert [row.reason for row in rows if row.node_id in blind and row.reason.startswith("judged")] == []


def test_the_day_of_the_data_must_be_one(ranked: Workspace, files: dict[str, Path]) -> None:
    with pytest.raises(InputError, match="a day such as"):
        ranked.data.preview(files["accounts_2"], as_of="yesterday")


def test_an_update_for_a_version_that_is_past_is_refused(ranked: Workspace, files: dict[str, Path]) -> None:
    preview = ranked.data.preview(files["accounts_2"], files["payments_2"])
    update(ranked, files)
    with pytest.raises(Exception, match="updated meanwhile"):
        ranked.data.store(preview)


def test_watched_nodes_tell_when_they_rise(ranked: Workspace, tmp_path: Path) -> None:
    low = ranked.runs.result().order[-1]
    node = str(ranked.graph.node_ids[low])
    ranked.cases.watch(node, analyst="ann")
    assert [(w.node_id, w.risen, w.rank) for w in ranked.cases.watched(analyst="ann")] == [(node, False, 80)]
    assert ranked.cases.watched(analyst="bob") == []
    links = payments()[:40].assign(source=node, target=[f"A{k:03d}" for k in range(40)], amount="99999")
    ranked.data.store(ranked.data.preview(table_file(tmp_path / "payments_4.csv", links)))
    found = ranked.cases.watched(analyst="ann")[0]
    assert found.risen
    assert found.told == f"rank 80 → {found.rank}"
    ranked.cases.rises_seen(analyst="ann")
    assert not ranked.cases.watched(analyst="ann")[0].risen
    ranked.cases.unwatch(node, analyst="ann")
    assert ranked.cases.watched(analyst="ann") == []
