"""Calls on new data for a project: have it read, see what it would change, store it as a version."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from gadcore.api.endpoint import Ask, Page, page_of
from gadcore.api.forms import Paging, part
from gadcore.api.project_calls import found_upload
from gadcore.errors import InputError, NotFound
from gadcore.records.versions import VersionInfo
from gadcore.workspace.uploads import Incoming


@dataclass(frozen=True)
class UpdateState:
    """How the reading of new data stands; once it is done, what it would change."""

    update_id: str
    state: str  # waiting, reading, done, failed
    seconds: float
    error: str  # why it failed
    summary: str = ""
    changes: list[str] = field(default_factory=list)  # a line each
    stops: list[str] = field(default_factory=list)  # what would be lost: stored with ``force`` alone


@dataclass(frozen=True, kw_only=True)
class NewUpdate:
    """New data for a project."""

    upload_id: str = part("what was uploaded")
    way: Literal["append", "replace"] = part("append to what is there, or replace it", "append")
    as_of: str = part("the day that the data stand for, as 2026-01-31", "")


@dataclass(frozen=True, kw_only=True)
class NewVersion:
    """What was read, to be stored."""

    update_id: str = part("data that is read")
    force: bool = part("store it although something is lost", False)


def start(ask: Ask) -> UpdateState:
    given: NewUpdate = ask.body
    incoming = found_upload(ask, given.upload_id)
    incoming.start_update(ask.workspace.id, given.way, given.as_of)
    return _state(incoming)


def state(ask: Ask) -> UpdateState:
    return _state(_own(ask, ask.path["update"]))


def versions(ask: Ask) -> Page[VersionInfo]:
    query: Paging = ask.query
    return page_of(ask.workspace.data.versions(), query.offset, query.limit)


def store(ask: Ask) -> VersionInfo:
    given: NewVersion = ask.body
    incoming = _own(ask, given.update_id)
    if incoming.state().kind != "done":
        raise InputError("an update that is not read", "one whose state is done", "ask for its state first")
    stored = ask.workspace.data.store(incoming.update(), force=given.force, wait=False)
    incoming.discard()
    return stored


def _own(ask: Ask, token: str) -> Incoming:
    """An update that was read for this project."""
    incoming = found_upload(ask, token)
    if incoming.request.get("update", {}).get("project") != ask.workspace.id:
        raise NotFound(f"There is no update {token!r} of this project.")
    return incoming


def _state(incoming: Incoming) -> UpdateState:
    now = incoming.state()
    told = UpdateState(incoming.token, now.kind, now.seconds, now.error)
    if now.kind != "done":
        return told
    changes = incoming.update().changes
    return UpdateState(
        told.update_id, told.state, told.seconds, told.error, changes.summary, changes.lines(), changes.stops
    )
