"""Tokens and kept answers, on every database."""

from __future__ import annotations

import pytest
from page_project import make_project

from gadcore.access import Role, Who
from gadcore.access.tokens import Tokens
from gadcore.errors import NotFound, StoreError
from gadcore.settings import Settings
from gadcore.store import close_stores, open_store
from gadcore.workspace import Workspace


def test_a_token_is_found_by_its_secret_until_it_is_removed(settings: Settings) -> None:
    tokens = Tokens(settings)
    secret = tokens.add("robot", "lead")
    assert tokens.who(secret) == Who("robot", Role.LEAD)
    assert tokens.who(secret + "x") is None
    with pytest.raises(StoreError, match="already"):
        tokens.add("robot", "viewer")
    (token,) = tokens.all()
    assert token.used_at is not None
    assert (token.expires_at - token.created_at).days in (89, 90)
    tokens.remove("robot")
    assert tokens.who(secret) is None
    with pytest.raises(NotFound):
        tokens.remove("robot")
    told = [entry.action for entry in open_store(settings).trail.newest(2)]
    assert told == ["token removed", "token added"]


def test_an_answer_is_kept_with_what_it_tells_of_or_neither_is(settings: Settings) -> None:
    workspace = make_project(labels=False)

    def record() -> dict[str, object]:
        return {"event": workspace.verdicts.record("n001", "normal").id}

    def fail() -> dict[str, object]:
        record()
        raise NotFound("gone")

    with pytest.raises(NotFound):
        workspace.messages.answered("key-1", fail)
    assert workspace.verdicts.history("n001") == []
    first, now_done = workspace.messages.answered("key-1", record)
    close_stores()
    again = Workspace.open(workspace.id).messages.answered("key-1", record)
    assert (again, now_done) == ((first, False), True)
    assert len(Workspace.open(workspace.id).verdicts.history("n001")) == 1
