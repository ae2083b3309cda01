"""The image and the compose file, as far as they can be checked without an engine."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any
from urllib.error import HTTPError

import pytest
import yaml

from gadcore.cli import make_parser
from gadcore.settings import ROOT, Settings

FOLDER = ROOT / "docs" / "deploy"
KNOWN = set(re.findall(r"GAD_[A-Z_]+", (ROOT / "gadcore" / "settings.py").read_text(encoding="utf-8")))
KNOWN |= {f"GAD_OIDC_{name}" for name in ("ISSUER", "CLIENT", "SECRET", "NAME", "ROLES")}


def instructions() -> list[tuple[str, str]]:
    """(word, rest) of every instruction of the Dockerfile."""
    text = (FOLDER / "Dockerfile").read_text(encoding="utf-8")
    lines = re.sub(r"^#.*\n", "", text, flags=re.MULTILINE).replace("\\\n", " ").splitlines()
    return [(line.split()[0], line.split(None, 1)[1].strip()) for line in lines if line.strip()]


def last_stage() -> dict[str, str]:
    found = instructions()
    begin = max(number for number, (word, _) in enumerate(found) if word == "FROM")
    return dict(found[begin:])


def compose(name: str = "compose.yaml") -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((FOLDER / name).read_text(encoding="utf-8"))
    return found


def test_all_that_is_copied_is_there_and_reaches_the_build() -> None:
    copied = [rest.split()[:-1] for word, rest in instructions() if word == "COPY" and "--from" not in rest]
    sources = {source for each in copied for source in each}
    assert [source for source in sources if not (ROOT / source).exists()] == []
    ignore = (FOLDER / "Dockerfile.dockerignore").read_text(encoding="utf-8").splitlines()
    assert "*" in ignore
    assert {line[1:] for line in ignore if line.startswith("!")} == sources


def test_the_build_has_what_the_package_is_made_of(tmp_path: Path) -> None:
    """Files that pyproject.toml names, among them those that go into the wheel by name."""
    named = re.findall(
        r'^"([\w./]+)" = "ringfence_app', (ROOT / "pyproject.toml").read_text(encoding="utf-8"), re.M
    )
    copied = " ".join(rest for word, rest in instructions() if word == "COPY").split()
    assert set(named) <= set(copied)
    assert re.search(r"^torch==", (ROOT / "requirements.txt").read_text(encoding="utf-8"), re.MULTILINE)


def test_images_are_pinned_and_the_stages_are_there() -> None:
    used = [rest.split() for word, rest in instructions() if word == "FROM"]
    stages = {words[2] for words in used if len(words) == 3}
    assert {"torch-cpu", "torch-gpu", "build"} <= stages
    bases = [words[0] for words in used if words[0] not in stages and "$" not in words[0]]
    images = [*bases, compose()["services"]["db"]["image"]]
    assert all(re.fullmatch(r"\w+:\d+\.\d+[\w.-]*", image) for image in images), images


def test_the_image_runs_as_nobody_special_and_keeps_no_secret() -> None:
    stage = last_stage()
    assert stage["USER"] == "10001:10001"
    assert stage["VOLUME"] == "/data"
    text = (FOLDER / "Dockerfile").read_text(encoding="utf-8").upper()
    assert not [word for word in ("PASSWORD", "SECRET", "TOKEN", "SUDO", "CHMOD 777") if word in text]
    assert set(re.findall(r"GAD_[A-Z_]+", text)) <= KNOWN


def test_what_the_image_starts_is_understood() -> None:
    stage = last_stage()
    assert json.loads(stage["ENTRYPOINT"]) == ["ringfence"]
    given = make_parser().parse_args(json.loads(stage["CMD"]))
    assert (given.address, str(given.port)) == ("0.0.0.0", stage["EXPOSE"])


class Health(BaseHTTPRequestHandler):
    status = 200

    def do_GET(self) -> None:
        self.send_response(self.status if self.path == "/health" else 404)
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@pytest.fixture
def server() -> Iterator[HTTPServer]:
    with HTTPServer(("127.0.0.1", 0), Health) as found:
        thread = threading.Thread(target=found.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield found
        found.shutdown()
        thread.join()


def test_the_health_check_asks_health_and_fails_when_it_does(server: HTTPServer, monkeypatch) -> None:
    rest = last_stage()["HEALTHCHECK"]
    program, option, code = json.loads(rest[rest.index("CMD") + 3 :])
    assert (program, option) == ("python", "-c")
    here = code.replace(":8501/", f":{server.server_port}/")
    exec(here, {})
    monkeypatch.setattr(Health, "status", 503)
    with pytest.raises(HTTPError) as refused:
        exec(here, {})
    refused.value.close()


def test_the_app_of_the_compose_file_is_shut_in() -> None:
    app = compose()["services"]["app"]
    assert all(port.startswith("127.0.0.1:") for port in app["ports"])
    assert (app["read_only"], app["cap_drop"], app["init"]) == (True, ["ALL"], True)
    assert app["depends_on"]["db"]["condition"] == "service_healthy"
    assert (FOLDER / app["build"]["context"] / app["build"]["dockerfile"]).resolve() == FOLDER / "Dockerfile"
    assert {name for name in app["environment"] if name.startswith("GAD_")} <= KNOWN


def test_the_database_is_reached_by_the_app_alone_and_no_password_is_written_down() -> None:
    found = compose()
    db = found["services"]["db"]
    assert "ports" not in db
    assert db["networks"] == ["inside"]
    assert found["networks"]["inside"]["internal"] is True
    assert set(found["volumes"]) == {"workspace", "database"}
    text = (FOLDER / "compose.yaml").read_text(encoding="utf-8")
    assert len(re.findall(r"\$\{DB_PASSWORD:\?[^}]+\}", text)) == text.count("DB_PASSWORD") == 2
    assert "DB_PASSWORD=\n" in (FOLDER / "example.env").read_text(encoding="utf-8")


def test_every_variable_of_the_compose_file_is_in_the_example() -> None:
    asked = set(re.findall(r"\$\{(\w+)", (FOLDER / "compose.yaml").read_text(encoding="utf-8")))
    told = re.findall(r"^(\w+)=", (FOLDER / "example.env").read_text(encoding="utf-8"), re.MULTILINE)
    assert set(told) == asked


def test_settings_take_what_the_compose_file_hands_over() -> None:
    """With nothing but a password filled in: empty variables are none."""
    raw = compose()["services"]["app"]["environment"]
    filled = {name: re.sub(r"\$\{\w+:[?-]([^}]*)\}", _default, str(value)) for name, value in raw.items()}
    settings = Settings.from_env(filled)
    assert (settings.threads, settings.oidc, settings.proxies) == (2, None, ())
    assert settings.store_url == "postgresql+psycopg://ringfence:pass@db/ringfence"


def _default(found: re.Match[str]) -> str:
    return "pass" if ":?" in found[0] else found[1]


def test_the_gpu_file_changes_the_build_and_asks_for_a_device() -> None:
    app = compose("compose.gpu.yaml")["services"]["app"]
    assert app["build"]["args"] == {"DEVICE": "gpu"}
    (device,) = app["deploy"]["resources"]["reservations"]["devices"]
    assert device["capabilities"] == ["gpu"]
