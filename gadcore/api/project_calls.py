"""Calls on projects as a whole: list, look at, make from files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from gadcore import __version__
from gadcore.api.endpoint import Ask, Page, page_of
from gadcore.api.forms import Paging, part
from gadcore.errors import InputError, NotFound
from gadcore.records import ProjectInfo
from gadcore.workspace import Mapping, Report, Workspace, uploads
from gadcore.workspace.uploads import Incoming


@dataclass(frozen=True)
class Health:
    """That the server answers, and who it takes the caller for."""

    status: str
    version: str
    name: str | None  # of the token or the login; null on this machine without one
    role: str


@dataclass(frozen=True)
class Upload:
    """A file that was taken in, to be read."""

    upload_id: str
    file: str
    bytes: int


@dataclass(frozen=True)
class ImportState:
    """How the reading of files stands."""

    import_id: str
    state: str  # waiting, reading, done, failed
    stage: str
    seconds: float
    error: str  # why it failed
    report: Report | None  # what was found, once it is done


@dataclass(frozen=True, kw_only=True)
class UploadQuery:
    """What an uploaded file is called."""

    file: str = part(
        "name of the file; its ending tells the format, several files come as one .zip",
        minLength=1,
        maxLength=60,  # four bytes each are not too long for a file system
    )


@dataclass(frozen=True, kw_only=True)
class NewImport:
    """Files to read; either ``upload_id`` or ``source``."""

    upload_id: str | None = part("what was uploaded", None)
    source: str | None = part("a benchmark, or a path of the server (admins, below GAD_FOLDERS)", None)
    mapping: dict[str, Any] | None = part(
        "which column plays which part: id, source, target, time, amount, kind, truth, …", None
    )


@dataclass(frozen=True, kw_only=True)
class NewProject:
    """A project to make of what was read."""

    name: str = part("name of the project", minLength=1, maxLength=200)
    import_id: str = part("files that are read")


def health(ask: Ask) -> Health:
    return Health("ok", __version__, ask.who.name, ask.who.role.word)


def projects(ask: Ask) -> Page[ProjectInfo]:
    query: Paging = ask.query
    return page_of(Workspace.projects(ask.settings), query.offset, query.limit)


def project(ask: Ask) -> ProjectInfo:
    return ask.workspace.data.info()


def upload(ask: Ask) -> Upload:
    assert ask.upload is not None  # the dispatcher hands it to every call that takes a file
    incoming = uploads.receive([(ask.query.file, ask.upload)], ask.settings, ask.who)
    return Upload(incoming.token, ask.query.file, incoming.size)


def start_import(ask: Ask) -> ImportState:
    given: NewImport = ask.body
    if (given.upload_id is None) == (given.source is None):
        raise InputError("an import of both or neither of upload_id and source", "one of them")
    mapping = None if given.mapping is None else Mapping.from_json(given.mapping, "mapping")
    if given.source is None:
        incoming = found_upload(ask, given.upload_id or "")
    else:
        incoming = uploads.name_source(given.source, ask.settings, ask.who)
    incoming.start(mapping)
    return _state(incoming)


def import_state(ask: Ask) -> ImportState:
    return _state(found_upload(ask, ask.path["import"]))


def create(ask: Ask) -> ProjectInfo:
    given: NewProject = ask.body
    incoming = found_upload(ask, given.import_id)
    made = Workspace.create(given.name, incoming.reading(), settings=ask.settings, who=ask.who)
    incoming.discard()
    made.runs.ensure_ranked()
    return made.data.info()


def found_upload(ask: Ask, token: str) -> Incoming:
    """What was uploaded under a token; NotFound if it is not there."""
    found = uploads.find(token, ask.settings)
    if found is None:
        raise NotFound(f"There is no upload {token!r}. It may have become a project, or is a day old.")
    return found


def _state(incoming: Incoming) -> ImportState:
    now = incoming.state()
    report = incoming.report() if now.kind == "done" else None
    return ImportState(incoming.token, now.kind, now.stage, now.seconds, now.error, report)
