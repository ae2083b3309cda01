"""``ringfence doctor``: a line for everything, and exit code 1 when something does not work."""

from __future__ import annotations

import json
from collections import namedtuple
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import update

from gadcore.checkup import Finding, database, libraries, machine, network
from gadcore.cli import main
from gadcore.settings import Settings, SingleSignOn
from gadcore.store import close_stores, open_store
from gadcore.store.look import Seen
from gadcore.store.schema import VERSION, now, schema_version

WHAT = [
    "Python",
    "libraries",
    "app",
    "folder",
    "disk",
    "store",
    "clock",
    "device",
    "workers",
    "engine",
    "logins",
]
Usage = namedtuple("Usage", "total used free")


def test_a_new_folder_is_well_and_stays_unmade(home: Path, capsys) -> None:
    assert main(["doctor", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [each["what"] for each in found] == WHAT
    assert {each["state"] for each in found} <= {"ok", "warning"}
    assert not home.exists()


def test_problems_are_told_with_what_to_do_and_without_passwords(home: Path, capsys, monkeypatch) -> None:
    monkeypatch.setenv("GAD_STORE", "postgresql+psycopg://eva:hunter2@127.0.0.1:9/x")
    monkeypatch.setenv("GAD_ENGINE", "tcp://127.0.0.1:9")
    assert main(["doctor"]) == 1
    said = capsys.readouterr().out
    assert "hunter2" not in said
    lines = said.splitlines()
    wrong = [number for number, line in enumerate(lines) if line.startswith("problem")]
    assert [lines[number].split()[1] for number in wrong] == ["store", "engine"]
    assert all("→" in lines[number + 1] for number in wrong)


def test_a_store_is_of_this_version_or_it_is_said(settings: Settings) -> None:
    store = open_store(settings)
    assert database.store(settings).state == "ok"
    assert database.durable(settings) == Finding.ok("fsync", "a commit waits for the disk")
    for version, state in ((VERSION - 1, "warning"), (VERSION + 1, "problem")):
        store.database.change(update(schema_version).values(version=version))
        assert database.store(settings).state == state
    close_stores()
    (settings.home / "ringfence.sqlite").write_bytes(b"no database" * 1000)
    assert database.store(settings).state == "problem"


def seen(**told: object) -> Seen:
    return replace(Seen("postgresql", (16, 2), VERSION, 0.01, (), now()), **told)


@pytest.mark.parametrize(
    ("told", "check", "state"),
    [
        ({"release": (12, 1)}, database.store, "problem"),
        ({"seconds": 3.0}, database.store, "warning"),
        ({"waiting": 2}, database.store, "warning"),
        ({"unsafe": ("fsync=off",)}, database.durable, "problem"),
        ({"clock": now() - timedelta(hours=1)}, database.clock, "warning"),
        ({"latest": now() + timedelta(days=1)}, database.clock, "warning"),
        ({}, database.clock, "ok"),
    ],
)
def test_what_a_database_says_is_weighed(settings: Settings, monkeypatch, told, check, state: str) -> None:
    monkeypatch.setattr(database, "look", lambda _: seen(**told))
    assert check(settings).state == state


@pytest.mark.parametrize(("free", "state"), [(10**8, "problem"), (10**9, "warning"), (10**11, "ok")])
def test_little_room_on_the_disk_is_told(settings: Settings, monkeypatch, free: int, state: str) -> None:
    monkeypatch.setattr(machine.shutil, "disk_usage", lambda _: Usage(10**12, 0, free))
    assert machine.disk(settings).state == state


def test_libraries_are_held_against_ranges_and_pins(settings: Settings, monkeypatch) -> None:
    monkeypatch.setattr(libraries, "_needs", lambda: [("numpy", ">=2.1,<3"), ("nothing-like-it", "")])
    assert "nothing-like-it is missing" in libraries.installed(settings).seen
    monkeypatch.setattr(libraries, "_needs", lambda: [("numpy", "<3,>=999.1")])
    assert "needed is <3,>=999.1" in libraries.installed(settings).seen
    monkeypatch.setattr(libraries, "_needs", list)
    monkeypatch.setattr(libraries, "_version", lambda name: None if name == "tqdm" else "0.0.1+cpu")
    assert libraries.installed(settings).state == "warning"
    assert "tqdm missing" in libraries.installed(settings).seen


def test_the_ranges_of_the_package_hold_here() -> None:
    needs = libraries._needs()
    assert "torch" in dict(needs)
    assert "streamlit" not in dict(needs)  # of an extra
    assert [told for need in needs if (told := libraries._unmet(*need))] == []


def test_a_provider_that_does_not_answer_is_a_problem(settings: Settings) -> None:
    assert network.logins(settings).state == "ok"
    away = replace(settings, oidc=SingleSignOn("http://127.0.0.1:9", "ringfence"))
    assert network.logins(away).state == "problem"


def test_a_device_that_is_not_there_is_a_problem(settings: Settings) -> None:
    assert machine.device(settings).state == "ok"
    assert machine.device(replace(settings, device="cuda:77")).state == "problem"
