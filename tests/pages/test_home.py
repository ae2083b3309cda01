"""Home: cards, the demo, a new project from files or a name, deletion."""

from __future__ import annotations

import io
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from page_project import make_project, no_problem, page, texts
from sample_workspace import sample_run

from gadcore.errors import InputError, NotFound
from gadcore.ingest import Mapping, formats, read
from gadcore.settings import Settings
from gadcore.store import open_store
from gadcore.workspace import Workspace, uploads
from gadcore.workspace.runs import Runs
from pages.home.projects import ago, last_run_text, literal, verdict_chips

HOME = "app.py"
DEADLINE = 60.0  # seconds that the reading process may take on a busy machine

EDGES = "source,target\na,b\nb,c\nc,d\n"
DATED = "source,target,date\na,b,31.01.2025\nb,c,01.02.2025\nc,d,02.02.2025\n"
NODES = "id,name,age,is_fraud\na,Ann,30,0\nb,Bob,40,1\nc,Cy,50,0\nd,Di,60,0\n"


def upload(name: str, text: str) -> tuple[str, io.BytesIO]:
    return name, io.BytesIO(text.encode())


def until_read(incoming: uploads.Incoming) -> uploads.State:
    """Wait for the reading; it tells by its state, not by the clock."""
    end = time.monotonic() + DEADLINE
    while incoming.state().kind == "reading" and time.monotonic() < end:
        time.sleep(0.02)
    return incoming.state()


@pytest.fixture(autouse=True)
def no_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    """These tests look at the page; the training process has its own."""
    monkeypatch.setattr(Runs, "start_worker", lambda self: None)


def test_the_first_visit_is_welcomed_and_offers_the_demo(home) -> None:
    app = page(HOME)
    no_problem(app)
    assert app.button(key="demo").label == "Open the demo"
    assert "Label the queue" in "".join(str(h.proto.body) for h in app.get("html"))


def test_the_uploader_takes_what_the_reader_reads(home) -> None:
    uploader = page(HOME).get("file_uploader")[0]
    assert sorted(uploader.proto.type) == sorted(formats.suffixes())


def test_a_card_shows_size_verdicts_and_owner(home) -> None:
    workspace = make_project("payments <b>")
    app = page(HOME)
    no_problem(app)
    html = "".join(str(h.proto.body) for h in app.get("html"))
    assert "payments &lt;b&gt;" in html
    assert "<b>300</b> nodes" in html
    assert "8 anomalous" in html
    assert "30 normal" in html
    assert app.button(key=f"open-{workspace.id}")


def test_delete_needs_the_second_click(home) -> None:
    workspace = make_project()
    app = page(HOME)
    assert "cannot be undone" in texts(app)
    app.button(key=f"delete-{workspace.id}").click().run()
    no_problem(app)
    assert Workspace.projects() == []
    with pytest.raises(NotFound):
        Workspace.open(workspace.id)


def test_a_path_is_read_mapped_and_created(home, tmp_path) -> None:
    folder = tmp_path / "payments"
    folder.mkdir()
    (folder / "edges.csv").write_text(DATED, encoding="utf-8")
    (folder / "nodes.csv").write_text(NODES, encoding="utf-8")
    app = page(HOME)
    app.text_input(key="source").set_value(str(folder))
    app.button(key="continue-named").click().run()
    no_problem(app)
    assert app.selectbox(key="node-id").value == "id"
    assert app.selectbox(key="node-truth").value == "is_fraud"
    assert app.selectbox(key="edge-source").value == "source"
    assert app.multiselect(key="attributes").value == ["age"]
    app.button(key="read").click().run()
    token = app.query_params["incoming"]
    incoming = uploads.find(token if isinstance(token, str) else token[0], Settings.from_env())
    assert until_read(incoming).kind == "done"
    app.run()
    no_problem(app)
    assert {m.label: m.value for m in app.metric}["Nodes"] == "4"
    assert "3 links, 2025-01-31 to 2025-02-02" in texts(app).replace("\\", "")
    app.text_input(key="name").set_value("mine")
    app.button(key="create").click().run()
    created = Workspace.open("mine")
    assert created.graph.n_edges == 3
    assert created.data.has_truth
    assert not incoming.folder.exists()


def test_the_parts_of_links_are_shown_and_can_be_changed(home, tmp_path, monkeypatch) -> None:
    chosen: list[Mapping] = []
    monkeypatch.setattr(uploads.Incoming, "start", lambda _, mapping: chosen.append(mapping))
    rows = ("a;b;31.01.2025;1.234,50 €;Karte", "a;b;01.02.2025;5,00 €;Bar", "b;c;02.02.2025;7,00 €;Karte")
    text = "\r\n".join(["von;an;Buchungstag;Betrag;Zahlungsart", *rows, "c;fremd;03.02.2025;1,00 €;Bar", ""])
    folder = tmp_path / "bank"
    folder.mkdir()
    (folder / "umsatz.csv").write_bytes(b"\xef\xbb\xbf" + text.encode())
    (folder / "konten.csv").write_text("id,age\na,1\nb,2\nc,3\n", encoding="utf-8")
    app = page(HOME)
    app.text_input(key="source").set_value(str(folder))
    app.button(key="continue-named").click().run()
    no_problem(app)
    parts = {part: app.selectbox(key=f"edge-{part}").value for part in ("time", "amount", "kind", "weight")}
    assert parts == {"time": "Buchungstag", "amount": "Betrag", "kind": "Zahlungsart", "weight": "(none)"}
    assert "decimal comma, dot between thousands, EUR" in texts(app)
    assert "total in" in app.multiselect(key="derived").options
    app.selectbox(key="edge-kind").set_value("(none)")
    app.selectbox(key="edge-repeats").set_value("sum")
    app.selectbox(key="edge-unknown").set_value("add")
    app.multiselect(key="derived").set_value(["total in"])
    app.button(key="read").click().run()
    graph = read(folder, mapping=chosen[0]).graph
    assert graph.links is not None
    assert (graph.links.meaning.kind, graph.adjacency[0, 1]) == (None, 1239.5)
    assert "fremd" in graph.node_ids
    assert "total out" in graph.derived
    assert "total in" not in graph.derived


def test_a_name_in_use_is_refused_and_nothing_is_lost(home, tmp_path) -> None:
    make_project("planted")
    incoming = uploads.receive([upload("edges.csv", EDGES), upload("nodes.csv", NODES)], Settings.from_env())
    incoming.start(None)
    assert until_read(incoming).kind == "done"
    app = page(HOME)
    app.query_params["incoming"] = incoming.token
    app.run()
    app.text_input(key="name").set_value("planted")
    app.button(key="create").click().run()
    assert "exists already" in app.error[0].value
    assert incoming.folder.exists()


def test_a_source_that_does_not_exist_is_named(home) -> None:
    app = page(HOME)
    app.text_input(key="source").set_value("/nowhere/at/all")
    app.button(key="continue-named").click().run()
    assert not app.exception
    assert "nowhere" in app.error[0].value
    app.text_input(key="source").set_value("   ")
    app.button(key="continue-named").click().run()
    assert "Name a file" in app.warning[0].value


def test_a_file_that_cannot_be_read_says_why_and_offers_the_columns_again(home, tmp_path) -> None:
    incoming = uploads.receive([upload("edges.csv", EDGES), upload("nodes.csv", NODES)], Settings.from_env())
    incoming.start(Mapping(id="nope", source="source", target="target"))
    stand = until_read(incoming)
    assert stand.kind == "failed"
    assert "nope" in stand.error
    app = page(HOME)
    app.query_params["incoming"] = incoming.token
    app.run()
    assert not app.exception
    assert "nope" in app.error[0].value
    assert app.selectbox(key="node-id").value == "id"
    app.button(key="back").click().run()
    assert not incoming.folder.exists()


def test_a_reading_that_was_killed_is_reported(home, monkeypatch) -> None:
    monkeypatch.setattr("gadcore.jobs.workers.start", lambda *_: None)
    incoming = uploads.receive([upload("edges.csv", EDGES)], Settings.from_env())
    incoming.start(None)
    store = open_store(Settings.from_env())
    store.jobs.claim(incoming.request["job"])  # by a process that is gone
    assert incoming.state().kind == "failed"
    assert "memory" in incoming.state().error
    assert "ignore columns" in incoming.state().error


def test_uploads_keep_to_their_folder(home) -> None:
    settings = Settings.from_env()
    incoming = uploads.receive([upload("../../evil.csv", EDGES), upload("nodes.csv", NODES)], settings)
    assert sorted(p.name for p in (incoming.folder / "files").iterdir()) == ["evil.csv", "nodes.csv"]
    with pytest.raises(InputError, match="two files"):
        uploads.receive([upload("a.csv", EDGES), upload("a.csv", NODES)], settings)
    for token in ("../../etc", "", None, "0" * 15, "zz" * 8):
        assert uploads.find(token, settings) is None


def test_forgotten_uploads_are_thrown_away(home) -> None:
    import os

    settings = Settings.from_env()
    old = uploads.receive([upload("edges.csv", EDGES)], settings)
    os.utime(old.folder, (0, 0))
    uploads.name_source("cora", settings)
    assert not Path(old.folder).exists()


@pytest.mark.parametrize(
    ("age", "words"),
    [
        (timedelta(seconds=5), "just now"),
        (timedelta(minutes=5), "5 min ago"),
        (timedelta(hours=3), "3 h ago"),
        (timedelta(days=1), "yesterday"),
        (timedelta(days=12), "12 days ago"),
        (timedelta(days=400), "on 27 Nov 2022"),
    ],
)
def test_times_are_said_as_people_say_them(age, words) -> None:
    now = datetime(2024, 1, 1, tzinfo=UTC)
    assert ago(now - age, now) == words
    assert ago((now - age).replace(tzinfo=None), now) == words


def test_the_last_run_is_said_in_a_line() -> None:
    assert "Not ranked yet" in last_run_text(None)
    assert "training now" in last_run_text(sample_run(status="running"))
    assert "failed" in last_run_text(sample_run(status="failed"))
    assert "AUC 0.875" in last_run_text(sample_run())


def test_names_are_taken_literally() -> None:
    assert literal("a*b_[c](d)") == r"a\*b\_\[c\]\(d\)"
    assert "no labels yet" in verdict_chips(0, 0, 0)
