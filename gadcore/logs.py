"""Logs of the server and of workers: plain lines, or one JSON document a line, and never a secret in them.

Passwords, cookies, tokens and what was to be stored in the database are left out, also where an error of
another library would name them.
"""

from __future__ import annotations

import json
import logging
import re
import sys
import threading
import traceback
from collections.abc import Iterator
from datetime import UTC, datetime
from types import TracebackType
from typing import Any

PLAIN = "%(asctime)s %(name)s %(process)d %(message)s"
HIDDEN = "…"
# Whatever follows these words and a sign, up to the next blank, sign or end.
_NAMED = re.compile(
    r"""(?ix) (
        (?: password | passwd | pwd | secret | token | code | state | nonce | verifier | cookie
          | authorization | ringfence_\w+ | _streamlit_\w+ ) ["']? \s* [=:] \s*
    ) (?: (?:basic|bearer) \s+ )? ["']? [^\s&;,"']+ ["']?"""
)
_IN_ADDRESS = re.compile(r"(?<=://)([^\s/:@]*):[^\s/@]+@")
_DATABASE = ("sqlalchemy", "psycopg", "sqlite3")  # their errors tell rows
_OTHERS = ("streamlit", "uvicorn", "uvicorn.error", "uvicorn.access", "uvicorn.asgi")
_QUIET = ("uvicorn.access",)  # it would tell whole addresses; the gate tells paths
_USUAL = set(vars(logging.makeLogRecord({}))) | {"message", "asctime"}


def set_up(*, as_json: bool) -> None:
    """Have this process log to stderr, also errors that nobody caught; as JSON also other libraries."""
    handler = logging.StreamHandler()
    handler.setFormatter(JsonLines() if as_json else PlainLines(PLAIN))
    logging.basicConfig(level=logging.INFO, handlers=[handler], force=True)
    sys.excepthook = _uncaught
    threading.excepthook = lambda told: _uncaught(told.exc_type, told.exc_value, told.exc_traceback)
    if as_json:
        logging.captureWarnings(True)
        _take_over_others()


def without_secrets(text: str) -> str:
    """A text with what looks like a secret taken out."""
    return _IN_ADDRESS.sub(rf"\1:{HIDDEN}@", _NAMED.sub(rf"\1{HIDDEN}", text))


class PlainLines(logging.Formatter):
    """Lines for people."""

    def format(self, record: logging.LogRecord) -> str:
        return without_secrets(super().format(record))

    def formatException(self, ei: Any) -> str:
        return "\n".join([*_places(ei[1]), *_causes(ei[1])])


class JsonLines(logging.Formatter):
    """One JSON document a line: time, level, name, process, message, and what the record adds."""

    def format(self, record: logging.LogRecord) -> str:
        told: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "name": record.name,
            "process": record.process,
            "message": without_secrets(record.getMessage()),
        }
        told |= {name: _plain(value) for name, value in vars(record).items() if name not in _USUAL}
        if record.exc_info and record.exc_info[1]:
            told |= {"error": _causes(record.exc_info[1]), "places": _places(record.exc_info[1])}
        return json.dumps(told, ensure_ascii=False)


def _plain(value: Any) -> Any:
    return value if isinstance(value, int | float | bool | None) else without_secrets(str(value))


def _causes(error: BaseException | None) -> list[str]:
    """An error and those that led to it, a line each; what a database says is left out."""
    return [_said(each) for each in _chain(error)]


def _said(error: BaseException) -> str:
    kind = type(error)
    told = "" if kind.__module__.split(".")[0] in _DATABASE else str(error).strip()
    return without_secrets(f"{kind.__name__}: {told.splitlines()[0]}" if told else kind.__name__)


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)


def _places(error: BaseException | None) -> list[str]:
    """Where an error came from, outermost first: file, line and function, but no values."""
    frames = traceback.extract_tb(error.__traceback__ if error else None)
    return [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames]


def _uncaught(
    kind: type[BaseException], error: BaseException | None, where: TracebackType | None = None
) -> None:
    if error is not None and not issubclass(kind, KeyboardInterrupt):
        logging.getLogger("gadcore").critical("unexpected error", exc_info=(kind, error, where))


def _take_over_others() -> None:
    """Have libraries that write lines of their own pass them on to us."""
    for name in _OTHERS:
        logger = logging.getLogger(name)
        logger.handlers.clear()
        logger.propagate = True
        if name in _QUIET:
            logger.setLevel(logging.WARNING)
