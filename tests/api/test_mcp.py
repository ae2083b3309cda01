"""Assistants: the protocol as a real process speaks it, over HTTP, and with the rights of a role."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from gadcore.access import Role, Who
from gadcore.api.mcp import TOOLS, VERSIONS, Assistant
from gadcore.settings import child_environment

PATIENCE = 120  # seconds for a process on a busy machine


def request(method: str, number: int = 1, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def tool(name: str, number: int = 1, **arguments: Any) -> dict[str, Any]:
    return request("tools/call", number, name=name, arguments=arguments)


@pytest.fixture
def assistant(served) -> Assistant:
    return Assistant(served.settings, Who("assistant", Role.ANALYST))


def said(answer: Any) -> Any:
    """What a tool has answered, as a document."""
    assert not answer["result"]["isError"], answer
    assert json.loads(answer["result"]["content"][0]["text"]) == answer["result"]["structuredContent"]
    return answer["result"]["structuredContent"]


def test_a_process_is_spoken_to_line_by_line(served) -> None:
    initialize = request("initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo={})
    given = [
        json.dumps(initialize),
        json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        "no JSON",
        '{"id": "\\ud800"}',
        json.dumps(request("tools/list", 2)),
        json.dumps(tool("queue", 3, project="planted", limit=2)),
        json.dumps(tool("record", 4, project="planted", node="n123", verdict="unsure", key="k")),
        json.dumps(tool("record", 5, project="planted", node="n123", verdict="unsure", key="k")),
    ]
    done = subprocess.run(
        [sys.executable, "-m", "gadcore", "mcp", "--name", "helper"],
        input="\n".join(given) + "\n",
        env=child_environment(served.settings),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=True,
    )
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [answer["id"] for answer in answers] == [1, None, None, 2, 3, 4, 5]
    assert answers[0]["result"]["protocolVersion"] == "2025-06-18"
    assert "tools" in answers[0]["result"]["capabilities"]
    assert answers[1]["error"]["code"] == -32700
    assert {each["name"] for each in answers[3]["result"]["tools"]} == set(TOOLS)
    assert len(said(answers[4])["items"]) == 2
    assert said(answers[5]) == said(answers[6])
    assert (said(answers[5])["analyst"], said(answers[5])["source"]) == ("helper", "assistant")
    assert len(served.workspace.verdicts.history("n123")) == 1


@pytest.mark.parametrize("role", list(Role))
def test_an_assistant_is_offered_and_allowed_what_its_role_may(served, role: Role) -> None:
    mine = Assistant(served.settings, Who("assistant", role))
    listed = mine.answer(request("tools/list"))
    assert listed is not None
    offered = {each["name"]: each["annotations"]["readOnlyHint"] for each in listed["result"]["tools"]}
    assert ("record" in offered) == (role >= Role.ANALYST)
    assert all(reads for name, reads in offered.items() if name != "record")
    given = mine.answer(tool("record", project="planted", node="n124", verdict="normal"))
    assert given is not None
    assert given["result"]["isError"] == (role < Role.ANALYST)


def test_every_reading_tool_answers(served, assistant: Assistant) -> None:
    arguments = {"project": "planted", "node": "n010", "text": "n01", "limit": 3}
    for name, route in TOOLS.items():
        if route.method == "GET" and name != "links":  # the graph has none
            taken = assistant.answer(request("tools/list"))
            assert taken is not None
            (schema,) = (each["inputSchema"] for each in taken["result"]["tools"] if each["name"] == name)
            given = {key: value for key, value in arguments.items() if key in schema["properties"]}
            assert said(assistant.answer(tool(name, **given))), name


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({}, "without 'project'"),
        ({"project": "planted"}, "without 'node'"),
        ({"project": "planted", "node": "n010", "colour": "red"}, "an argument 'colour'"),
        ({"project": 5, "node": "n010"}, "project = 5"),
        ({"project": "nothing", "node": "n010"}, "no project"),
        ({"project": "planted", "node": "nobody"}, "no node"),
    ],
)
def test_what_a_tool_cannot_do_is_told_to_the_assistant(
    assistant: Assistant, arguments: dict[str, Any], words: str
) -> None:
    answer = assistant.answer(tool("card", **arguments))
    assert answer is not None
    assert answer["result"]["isError"]
    assert words in answer["result"]["content"][0]["text"]


def test_messages_that_are_none_get_the_codes_of_json_rpc(assistant: Assistant) -> None:
    codes = {
        -32600: [],
        -32601: request("resources/list"),
        -32602: request("tools/call", name="delete_everything"),
    }
    for code, message in codes.items():
        answer = assistant.answer(message)
        assert answer is not None
        assert answer["error"]["code"] == code
    newest = assistant.answer(request("initialize", protocolVersion="1999-01-01"))
    assert newest is not None
    assert newest["result"]["protocolVersion"] == VERSIONS[0]


def test_over_http_a_token_says_who_it_is(served, analyst) -> None:
    answer = analyst.post("/mcp", tool("record", project="planted", node="n125", verdict="normal"), 200)
    assert said(answer)["analyst"] == "analyst-program"
    note = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    assert analyst.ask("POST", "/mcp", note).status == 202
    assert analyst.ask("GET", "/mcp").status == 405
