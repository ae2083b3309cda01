"""The package as a stranger meets it: built, installed into a fresh environment, used from another folder."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import tomllib
import urllib.request
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import pytest
from packaging.requirements import Requirement

import gadcore
from gadcore.jobs.workers import stop as stop_workers
from gadcore.settings import ROOT, Settings

PATIENCE = 120  # seconds that a command may take on a busy machine

PAGES = """
import sys
from streamlit.testing.v1 import AppTest
from gadcore.settings import APP
from gadcore.workspace import Workspace

sys.path.insert(0, str(APP))
for path in ("app.py", "pages/1_Label.py", "pages/4_Benchmark.py"):
    app = AppTest.from_file(str(APP / "app.py"), default_timeout=60)
    if path != "app.py":
        app.switch_page(path)
    app.query_params["project"] = Workspace.open("demo").id
    app.run()
    assert not app.exception, [e.value for e in app.exception]
    assert not app.error, [e.value for e in app.error]
    print(path, [element.value for element in app.get("title")])
"""


@dataclass(frozen=True)
class Installed:
    """A fresh environment that holds the wheel, a user without any files, and a folder to work in."""

    scripts: Path
    user: Path
    folder: Path

    @property
    def environment(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if name in ("PATH", "SYSTEMROOT", "TEMP")}
        return {**kept, "HOME": str(self.user), "USERPROFILE": str(self.user), "GAD_THREADS": "1"}

    def start(self, program: str, *arguments: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [self.scripts / program, *arguments],
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def run(self, program: str, *arguments: str, code: int = 0) -> str:
        """What a program of the environment says; it must end with this exit code."""
        with self.start(program, *arguments) as process:
            said, _ = process.communicate(timeout=PATIENCE)
        assert process.returncode == code, said
        return said


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    quietly = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    command = [*quietly, "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", str(folder), str(ROOT)]
    subprocess.run(command, check=True, timeout=PATIENCE)
    (built,) = folder.glob("ringfence-*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installed]:
    """The libraries are those that run the tests; gadcore and the app come from the wheel."""
    folder = tmp_path_factory.mktemp("installed")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder / "env")], check=True)
    scripts = folder / "env" / ("Scripts" if os.name == "nt" else "bin")
    pip = [sys.executable, "-m", "pip", "--python", str(scripts / "python"), "--quiet"]
    subprocess.run([*pip, "install", "--no-deps", "--no-index", str(wheel)], check=True, timeout=PATIENCE)
    (packages,) = (folder / "env").rglob("site-packages")
    libraries = [path for path in sys.path if Path(path).name == "site-packages"]
    (packages / "libraries.pth").write_text("\n".join(libraries), encoding="utf-8")
    made = Installed(scripts, folder / "user", folder / "elsewhere")
    made.user.mkdir()
    made.folder.mkdir()
    yield made
    home = made.run("python", "-c", "from gadcore.settings import Settings; print(Settings.from_env().home)")
    stop_workers(Settings.from_env({"GAD_HOME": home.strip()}))


def test_the_wheel_holds_all_that_the_app_reads(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    files = [path for part in ("gadcore", "pages") for path in (ROOT / part).rglob("*")]
    kept = [
        path.relative_to(ROOT).as_posix()
        for path in files
        if path.is_file() and "__pycache__" not in path.parts
    ]
    placed = {f"ringfence_app/{name}" if name.startswith("pages/") else name for name in kept}
    assert {"gadcore/data/demo/accounts.csv", "ringfence_app/pages/label/workbench.css"} <= placed
    assert names >= placed | {
        "ringfence_app/app.py", "ringfence_app/pages/common/serve.py", "ringfence_app/.streamlit/config.toml",
    }  # fmt: skip
    assert {name.split("/")[0].split("-")[0] for name in names} == {"gadcore", "ringfence_app", "ringfence"}


def test_the_package_is_the_installed_one_and_keeps_data_with_the_user(installed: Installed) -> None:
    code = (
        "from gadcore.settings import PACKAGE, Settings; print(PACKAGE, Settings.from_env().home, sep='\\n')"
    )
    package, home = installed.run("python", "-c", code).splitlines()
    assert Path(package).is_relative_to(installed.scripts.parent.resolve())
    assert Path(home).is_relative_to(installed.user)
    assert installed.run("ringfence", "--version") == f"Ringfence {gadcore.__version__}\n"
    assert f"ringfence-{gadcore.__version__}.dist-info" in {
        path.name for path in installed.scripts.parent.rglob("ringfence-*")
    }


def test_from_the_demo_to_a_flagged_list_and_a_page(installed: Installed) -> None:
    assert "4,000 accounts" in installed.run("ringfence", "demo")
    (installed.folder / "labels.csv").write_text("node_id,label\nA10434,1\nA10838,1\nA10001,0\nA10002,0\n")
    installed.run("ringfence", "labels", "import", "labels.csv", "-p", "demo")
    assert "done" in installed.run("ringfence", "train", "-p", "demo", "--model", "sgc-lr", "--json")
    installed.run("ringfence", "export", "-p", "demo", "--out", "flagged.csv", "--top", "25")
    assert len(pd.read_csv(installed.folder / "flagged.csv")) == 25
    assert "app.py ['Ringfence']" in installed.run("python", "-c", PAGES)


def test_run_serves_this_machine_alone_and_asks_nothing(installed: Installed) -> None:
    with installed.start("ringfence", "run", "--no-browser", "--port", "0") as server:
        stop = threading.Timer(PATIENCE, server.kill)
        stop.start()
        try:
            assert server.stdout is not None
            said = []
            while (line := server.stdout.readline()) and "runs at" not in line:
                said.append(line)
            address = re.search(r"runs at http://(127\.0\.0\.1:\d+)", line)
            assert address, "".join(said)
            assert [text.split()[0] for text in said] == ["Demo:", "Ringfence"]
            with urllib.request.urlopen(f"http://{address[1]}/Label", timeout=PATIENCE) as answer:
                assert answer.status == 200
            server.send_signal(signal.SIGINT)  # Ctrl-C
            assert "Traceback" not in server.communicate(timeout=PATIENCE)[0]
            assert server.returncode == 0
        finally:
            stop.cancel()
            server.kill()


def test_what_needs_a_checkout_says_so_in_one_line(installed: Installed) -> None:
    said = installed.run("ringfence", "bench", "training", code=2)
    assert said == "error: bench needs a checkout of the repository; this is an installed copy\n"


def test_experiments_are_there_in_an_installed_copy_too(installed: Installed) -> None:
    assert {"paper", "loop", "audit"} <= set(installed.run("ringfence", "experiments").split())


def test_the_pinned_sets_lie_within_the_ranges_and_name_the_same() -> None:
    """requirements.txt for the package with what users run, requirements-dev.txt for the tools."""
    named = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    project, build = named["project"], named["build-system"]["requires"]
    extras = project["optional-dependencies"]
    shipped = [each for name in ("app", "oidc", "postgres", "studies") for each in extras[name]]
    for file, ranges in (
        ("requirements.txt", [*project["dependencies"], *shipped, *build]),
        ("requirements-cluster.txt", extras["cluster"]),
        ("requirements-dev.txt", extras["dev"][1:]),
    ):
        text = (ROOT / file).read_text(encoding="utf-8")
        pins = dict(re.findall(r"^([\w-]+)(?:\[\w+\])?==(\S+)$", text, re.MULTILINE))
        wanted = {one.name: one.specifier for one in map(Requirement, ranges)}
        assert set(pins) == set(wanted)
        assert [name for name, pin in pins.items() if pin not in wanted[name]] == []
