"""Every call of the API, as nobody and as each role; what it answers; who may not send it."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from api_program import JSON, Program, program

from gadcore.access import Role
from gadcore.access.rights import least_role
from gadcore.access.tokens import Tokens
from gadcore.api.dispatch import ABOUT, ROUTES
from gadcore.api.endpoint import BASE, Endpoint
from gadcore.jobs.runner import carry_out
from gadcore.settings import Settings
from gadcore.store import open_store

NODE = "n010"
# What each call is asked with; a call that is not here is asked without anything.
QUERIES: dict[str, dict[str, Any]] = {
    "card": {"node": NODE}, "why": {"node": NODE}, "links": {"node": NODE}, "search": {"text": "n01"},
    "uploads": {"file": "edges.csv"},
}  # fmt: skip
BODIES: dict[str, Any] = {
    "verdicts": {"node": NODE, "verdict": "normal"}, "runs": {"model": "nothing"}, "cancel": {},
    "projects": {"name": "x", "import_id": "none"}, "imports": {"upload_id": "none"},
    "updates": {"upload_id": "none"}, "versions": {"update_id": "none"},
    "mcp": {"jsonrpc": "2.0", "method": "ping", "id": 1},
}  # fmt: skip


def walk(program: Program, route: Endpoint, project: str) -> Any:
    """Ask for a call with everything that it needs."""
    path = route.path.replace("{project}", project).replace("{run}", "1").replace("{import}", "none")
    path = path.replace("{update}", "none")
    last = route.path.rsplit("/", 1)[-1]
    kind = {"content-type": "application/octet-stream"} if route.takes_file else {}
    body = BODIES.get(last) if route.method == "POST" else None
    return program.ask(route.method, path, body, QUERIES.get(last), **kind)


@pytest.mark.parametrize("role", [None, *Role])
def test_every_call_is_answered_from_its_role_on(served, role: Role | None) -> None:
    caller = served.programs[role.word] if role else Program(served.settings)
    for route in ROUTES:
        answer, least = walk(caller, route, served.workspace.id), least_role(route.act)
        assert least is not None, f"{route.act} is not in access/rights.py"
        if role is None:
            assert answer.status == 401, route.url
            assert answer.headers["www-authenticate"].startswith("Bearer")
        else:
            assert (answer.status == 403) == (role < least), (route.url, answer.body)
            assert answer.status < 500, (route.url, answer.body)
        if answer.status >= 400:
            assert answer.headers["content-type"].startswith("application/problem+json")
            assert json.loads(answer.body)["status"] == answer.status
    for path in ABOUT:
        assert caller.browser.ask(path, **caller.shown).status == (401 if role is None else 200)


def test_a_call_says_who_it_is_taken_for(served) -> None:
    told = served.programs["lead"].get("/health")
    assert (told["name"], told["role"], told["status"]) == ("lead-program", "lead", "ok")


def test_projects_come_in_pages(served, analyst: Program) -> None:
    page = analyst.get("/projects", limit=1)
    assert [each["name"] for each in page["items"]] == ["planted"]
    assert (page["total"], page["next"]) == (1, None)
    assert analyst.get("/projects/planted")["n_nodes"] == 300
    assert analyst.get("/projects/nothing", 404)["detail"].startswith("There is no project")


def test_pages_of_the_queue_follow_on_one_another(served, analyst: Program) -> None:
    first = analyst.get(f"{served.path}/queue", limit=3)
    second = analyst.get(f"{served.path}/queue", limit=3, offset=first["next"])
    both = analyst.get(f"{served.path}/queue", limit=6)
    ids = [row["node_id"] for row in first["items"] + second["items"]]
    assert ids == [row["node_id"] for row in both["items"]]
    assert len(set(ids)) == 6
    assert all(row["offer"] for row in both["items"])
    assert analyst.get(f"{served.path}/queue", verdict="anomalous", limit=200)["next"] is None
    assert analyst.get(f"{served.path}/queue", since="last")["items"] == []  # nothing was added yet
    assert "'last'" in analyst.get(f"{served.path}/queue", 422, since="yesterday")["detail"]


def test_scores_come_by_rank_and_by_node(served, analyst: Program) -> None:
    pages = [analyst.get(f"{served.path}/scores", limit=200, offset=at) for at in (0, 200)]
    rows = pages[0]["items"] + pages[1]["items"]
    assert [row["rank"] for row in rows] == list(range(1, 301))
    assert (pages[0]["next"], pages[1]["next"], pages[0]["total"]) == (200, None, 300)
    one = analyst.get(f"{served.path}/scores", node=rows[7]["node_id"])
    assert one["items"] == [rows[7]]
    first_run = analyst.get(f"{served.path}/scores", node=NODE, run="1")
    assert first_run["run"] != one["run"]
    assert analyst.get(f"{served.path}/scores", 404, run="77")


def test_a_node_is_explained(served, analyst: Program) -> None:
    why = analyst.get(f"{served.path}/why", node=NODE)
    card = analyst.get(f"{served.path}/card", node=NODE)
    assert why["node_id"] == card["row"]["node_id"] == NODE
    assert why["score"] == pytest.approx(card["row"]["score"])
    assert analyst.get(f"{served.path}/why", 404, node="nobody")["status"] == 404
    assert "node" in analyst.get(f"{served.path}/why", 422)["found"]


def test_the_flagged_list_leaves_as_rows_and_as_a_file_and_the_trail_tells(served, analyst: Program) -> None:
    rows = analyst.get(f"{served.path}/flagged", top=5, limit=2)
    assert (len(rows["items"]), rows["total"], rows["next"]) == (2, 5, 2)
    assert {"reason_1", "run_id", "percentile"} <= set(rows["items"][0])
    answer = analyst.ask("GET", f"{served.path}/flagged.csv", query={"top": 5})
    assert answer.headers["content-type"].startswith("text/csv")
    assert answer.body.splitlines()[1].split(",")[0] == rows["items"][0]["node_id"]
    told = open_store(served.settings).trail.newest(1)[0]
    assert (told.action, told.who, told.details["rows"]) == ("export", "analyst-program", 5)


def test_runs_are_listed_and_a_wrong_one_is_refused_with_the_reason(served, analyst: Program) -> None:
    runs = analyst.get(f"{served.path}/runs")["items"]
    assert [(run["number"], run["status"]) for run in runs] == [(2, "done"), (1, "done")]
    assert analyst.get(f"{served.path}/runs/2")["id"] == runs[0]["id"]
    wrong = analyst.post(f"{served.path}/runs", {"model": "crystal ball"}, 422)
    assert "crystal ball" in wrong["detail"]


def test_a_run_is_started_for_the_worker(served, analyst: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gadcore.workspace.runs.workers.call", lambda *_: None)
    monkeypatch.setattr("gadcore.workspace.runs.workers.start", lambda *_: None)
    run = analyst.post(f"{served.path}/runs", {"model": "sgc-lr", "seed": 5}, 202)
    assert (run["status"], run["seed"]) == ("queued", 5)
    again = analyst.post(f"{served.path}/runs", {"model": "sgc-lr", "seed": 5}, 202)
    assert again["id"] == run["id"]
    assert analyst.post(f"{served.path}/runs/{run['number']}/cancel", {}, 202)["status"] == "cancelled"
    served.workspace.runs.delete(run["id"])


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({"limit": "0"}, "1 or more"),
        ({"limit": "1e3"}, "a whole number"),
        ({"limit": "9999"}, "at most"),
        ({"verdict": "guilty"}, "one of"),
        ({"colour": "red"}, "fields of this call"),
        ({"strategy": "a\0b"}, "text without NUL"),
    ],
)
def test_a_wrong_query_is_answered_with_what_was_expected(
    served, analyst: Program, query: dict[str, str], expected: str
) -> None:
    wrong = analyst.get(f"{served.path}/queue", 422, **query)
    assert expected in wrong["expected"]
    assert next(iter(query)) in wrong["found"]


@pytest.mark.parametrize(
    ("body", "status"),
    [(b"{", 400), (b"[1]", 422), (b'{"node": NaN, "verdict": "normal"}', 400), (b'{"node": 5}', 422),
     (b'{"node": "\\ud800", "verdict": "normal"}', 400), (b"[" * 100_000, 400),
     (b" " * (1 << 20) + b"{}", 413)],
)  # fmt: skip
def test_a_body_that_is_none_is_refused(served, analyst: Program, body: bytes, status: int) -> None:
    path = f"{BASE}{served.path}/verdicts"
    assert analyst.browser.ask(path, "POST", body=body, **analyst.shown, **JSON).status == status


def test_what_is_not_there_says_where_to_look(served, analyst: Program) -> None:
    assert "/api/v1/docs" in analyst.get("/nothing", 404)["detail"]
    answer = analyst.ask("PUT", "/projects")
    assert (answer.status, answer.headers["allow"]) == (405, "GET, POST")
    assert analyst.browser.ask("/api/v2/projects", **analyst.shown).status == 404
    assert analyst.browser.socket(path="/api/v1/projects")[-1]["type"] == "websocket.close"


def hand_in(caller: Program, rows: int) -> Any:
    """Upload an edge table of so many rows."""
    lines = "\n".join(f"a{i},a{(i * 7) % 40},{i % 5 + 1}" for i in range(rows))
    body = f"source,target,weight\n{lines}\n".encode()
    kind = {"content-type": "application/octet-stream"}
    answer = caller.browser.ask(f"{BASE}/uploads?file=edges.csv", "POST", body=body, **caller.shown, **kind)
    upload = json.loads(answer.body)
    assert (answer.status, upload["bytes"]) == (201, len(body))
    return upload


def test_a_file_becomes_a_project_in_four_calls_and_a_later_one_a_version(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("call", "start"):  # the jobs are done below, in this process
        monkeypatch.setattr(f"gadcore.jobs.workers.{name}", lambda *_: None)
    caller = program(settings)
    upload = hand_in(caller, 120)
    started = caller.post("/imports", {"upload_id": upload["upload_id"], "mapping": {"time": ""}}, 202)
    path = f"/imports/{started['import_id']}"
    assert (started["state"], started["report"]) == ("reading", None)
    store = open_store(settings)
    carry_out(store, settings, store.jobs.queued(["reading"])[0].id)
    state = caller.get(path)
    assert state["state"] == "done", state
    made = caller.post("/projects", {"name": "from a file", "import_id": state["import_id"]})
    assert (made["n_nodes"], made["owner"]) == (state["report"]["n_nodes"], "analyst-program")
    assert caller.get("/projects/from a file/runs")["items"][0]["status"] == "queued"
    assert caller.get(path, 404)

    base, later = "/projects/from a file", hand_in(caller, 150)
    assert caller.post(f"{base}/updates", {"upload_id": later["upload_id"], "as_of": "yesterday"}, 422)
    begun = caller.post(f"{base}/updates", {"upload_id": later["upload_id"], "way": "replace"}, 202)
    assert caller.post(f"{base}/versions", {"update_id": begun["update_id"]}, 422)
    carry_out(store, settings, store.jobs.queued(["updating"])[0].id)
    seen = caller.get(f"{base}/updates/{begun['update_id']}")
    assert (seen["state"], seen["stops"]) == ("done", []), seen
    assert "30 nodes" in seen["summary"]
    assert caller.post(f"{base}/versions", {"update_id": begun["update_id"]})["number"] == 2
    assert [v["number"] for v in caller.get(f"{base}/versions")["items"]] == [1, 2]


def test_paths_of_the_server_are_for_admins(served, analyst: Program) -> None:
    assert analyst.post("/imports", {"source": "/etc/passwd"}, 403)["title"] == "Forbidden"
    admin = served.programs["admin"]
    assert "GAD_FOLDERS" in admin.post("/imports", {"source": "/etc/passwd"}, 403)["detail"]
    assert admin.post("/imports", {}, 422)["expected"] == "one of them"


def test_the_page_for_people_names_every_call_and_loads_nothing(served, analyst: Program) -> None:
    page = analyst.browser.ask(f"{BASE}/docs", **analyst.shown).body
    for route in ROUTES:
        assert f"<code>{route.url}</code>" in page
    assert not re.search(r"<script|<link|src=|https?://", page)


def test_a_token_is_for_the_api_alone_and_ends(settings: Settings) -> None:
    tokens = Tokens(settings)
    caller = Program(settings, tokens.add("robot", "viewer", "1h"))
    assert caller.get("/health")["name"] == "robot"
    assert caller.browser.ask("/metrics", **caller.shown).status == 401
    assert tokens.all()[0].used_at is not None
    tokens.remove("robot")
    assert "unknown" in caller.get("/health", 401)["detail"]
