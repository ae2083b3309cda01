"""Logs tell what happened, as lines or as JSON, and never a secret."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
import threading
from pathlib import Path
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import Request, urlopen

import pytest
from sqlalchemy import create_engine, text
from sqlalchemy.exc import IntegrityError

from gadcore.access.users import UserList
from gadcore.errors import StoreError
from gadcore.logs import PLAIN, JsonLines, PlainLines, without_secrets
from gadcore.settings import ROOT, Settings

SECRET = "hunter2hunter2"
PATIENCE = 60  # seconds


@pytest.mark.parametrize(
    "said",
    [
        f"password={SECRET}",
        f'{{"password": "{SECRET}"}}',
        f"GET /login/oidc/back?code={SECRET}&state=x",
        f"Cookie: ringfence_login={SECRET}; a=b",
        f"Authorization: Bearer {SECRET}",
        f"authorization=Basic {SECRET}",
        f"postgresql+psycopg://eva:{SECRET}@db/name",
        f"client_secret = '{SECRET}'",
    ],
)
def test_what_looks_like_a_secret_is_taken_out(said: str) -> None:
    assert SECRET not in without_secrets(said)


def test_plain_words_stay_as_they_are() -> None:
    for said in ("train 4f2a done in 3.2 s", "http://127.0.0.1:8501/Label", "import ended with code -9"):
        assert without_secrets(said) == said


def failed_insert() -> logging.LogRecord:
    """The record of an error of the database that names a value, passed on as one of ours."""
    engine = create_engine("sqlite://")
    with engine.connect() as connection:
        connection.execute(text("CREATE TABLE t (a TEXT UNIQUE)"))
        try:
            for _ in range(2):
                connection.execute(text("INSERT INTO t VALUES (:a)"), {"a": SECRET})
        except IntegrityError as error:
            told = StoreError("The database refused.")
            told.__cause__ = error
    engine.dispose()
    return logging.makeLogRecord(
        {"name": "gadcore.jobs", "msg": "failed", "exc_info": (type(told), told, told.__traceback__)}
    )


@pytest.mark.parametrize("lines", [JsonLines(), PlainLines(PLAIN)])
def test_what_was_to_be_stored_is_not_told(lines: logging.Formatter) -> None:
    said = lines.format(failed_insert())
    assert SECRET not in said
    assert "INSERT" not in said
    assert "The database refused." in said
    assert "IntegrityError" in said


def test_a_json_line_is_one_line_with_what_the_record_adds() -> None:
    record = logging.makeLogRecord({"name": "a", "msg": "two\nlines", "status": 200, "who": None})
    said = JsonLines().format(record)
    assert "\n" not in said
    found = json.loads(said)
    assert (found["message"], found["status"], found["who"]) == ("two\nlines", 200, None)
    assert {"time", "level", "name", "process"} <= set(found)


def ask(address: str, path: str, form: dict[str, str] | None = None) -> int:
    data = urlencode(form).encode() if form else None
    headers = {"cookie": f"ringfence_login={SECRET}", "origin": address, "x-forwarded-for": "203.0.113.7"}
    try:
        with urlopen(Request(f"{address}{path}", data, headers), timeout=PATIENCE) as answer:
            return int(answer.status)
    except HTTPError as error:
        with error:
            return error.code


def test_a_server_logs_json_alone_and_no_secret(settings: Settings, tmp_path: Path) -> None:
    UserList(settings).add("eva", "analyst", "correct horse battery")
    environment = {**os.environ, "HOME": str(tmp_path), "GAD_LOG": "json", "BROWSER": "/bin/true %s"}
    command = [sys.executable, "-m", "streamlit", "run", "pages/common/serve.py", "--server.port", "0"]
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    with subprocess.Popen(command, cwd=ROOT, env=environment, text=True, **pipes) as server:
        stop = threading.Timer(PATIENCE, server.kill)
        stop.start()
        try:
            first = json.loads(server.stdout.readline())
            address = first["message"].removeprefix("Ringfence runs at ")
            assert ask(address, "/login", {"name": "eva", "password": SECRET}) == 401
            assert ask(address, f"/login/oidc/back?code={SECRET}&state={SECRET}") == 404
            assert ask(address, "/Label") == 401
        finally:
            stop.cancel()
            server.kill()
        rest = server.stdout.read().splitlines()
    assert not [line for line in rest if SECRET in line]
    told = [json.loads(line) for line in rest]
    answers = [(line["path"], line["status"]) for line in told if line["message"] == "answered"]
    assert answers == [("/login", 401), ("/login/oidc/back", 404), ("/Label", 401)]
