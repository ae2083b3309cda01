"""What docs/api.md shows is run as it stands there."""

from __future__ import annotations

import re

import pytest

from gadcore.api.dispatch import ROUTES
from gadcore.api.mcp import TOOLS
from gadcore.jobs.deliver import PAUSES, signature
from gadcore.settings import ROOT

PAGE = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
CLIENT, CHECK = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


def test_the_client_of_the_docs_asks_for_cases_and_records_a_verdict(
    served, url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    token = served.programs["analyst"].shown["authorization"].removeprefix("Bearer ")
    code = CLIENT.replace("http://127.0.0.1:8501", url).replace("rf_…", token).replace('"demo"', '"planted"')
    names: dict = {}
    exec(compile(code, "docs/api.md", "exec"), names)
    assert len(capsys.readouterr().out.splitlines()) == 3
    (event,) = served.workspace.verdicts.history(names["case"]["node_id"])
    assert (event.analyst, event.note) == ("analyst-program", "known merchant")
    assert event.strategy  # the offer tells how the case was chosen
    with pytest.raises(RuntimeError, match="There is no node 'nobody'"):
        names["call"](f"{names['project']}/why", node="nobody")


def test_the_check_of_the_docs_knows_a_genuine_webhook(monkeypatch: pytest.MonkeyPatch) -> None:
    names: dict = {}
    exec(compile(CHECK, "docs/api.md", "exec"), names)
    at = int(names["time"].time())
    header = signature("secret", b"{}", at)
    assert names["is_genuine"]("secret", header, b"{}")
    assert not names["is_genuine"]("other", header, b"{}")
    assert not names["is_genuine"]("secret", header, b"{ }")
    assert not names["is_genuine"]("secret", signature("secret", b"{}", at - 400), b"{}")


def test_the_docs_name_what_there_is() -> None:
    paths = {route.path.split("/")[-1] for route in ROUTES} - {"{project}", "{run}", "{import}", "{update}"}
    named = {"card", "links", "search", "health", "labels", "cancel"}  # on the page that the server draws
    assert {path for path in paths - named if f"/{path}" not in PAGE} == set()
    assert all(f"`{tool}`" in PAGE for tool in TOOLS)
    assert PAUSES == (10, 60, 300, 1800, 7200)
