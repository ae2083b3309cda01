"""The rules of the code base, checked on its text: layers, light imports, settings in one place."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
CORE = ROOT / "gadcore"

# The house from the ground up: each room, and the rooms that its modules may import.
GROUND = "errors settings logs shelf metrics"
HOUSE = {
    "errors": "",
    "settings": "errors",
    "logs": "",
    "shelf": "",
    "metrics": "",
    "graph": "errors",
    "records": "errors",
    "drawing": "records",
    "derive": "graph",
    "ingest": "errors settings graph derive",
    "engine": f"{GROUND} graph",
    "detectors": f"{GROUND} graph derive engine",
    "loop": f"{GROUND} graph derive engine detectors",
    "insight": f"{GROUND} graph derive records detectors loop",
    "studies": f"{GROUND} graph derive drawing ingest detectors loop insight",
    "store": f"{GROUND} graph records detectors loop",
    "jobs": f"{GROUND} graph derive records ingest engine detectors loop insight studies store",
    "access": "errors settings store",
    "workspace": f"{GROUND} graph derive records ingest detectors loop insight store jobs access",
    "output": f"{GROUND} graph records drawing loop insight store workspace",
    "practice": f"{GROUND} graph records detectors studies store jobs workspace",
    "gate": "errors settings store access",
    "api": f"{GROUND} graph records store access workspace output gate",
    "checkup": f"{GROUND} detectors store jobs access",
    "cli": f"{GROUND} graph records ingest engine detectors loop insight studies access workspace output "
    "practice gate api checkup",
    "__main__": "cli",
}
# Within detectors: the parts stand on what all share, and on those before them.
DETECTORS = {"nn": "", "sphere": "nn", "baselines": "nn sphere", "plus": "nn sphere baselines"}
HEAVY = ("torch", "sklearn", "scipy.stats", "umap", "xgboost", "torch_geometric", "openTSNE", "gensim")


def core_files() -> list[Path]:
    return sorted(CORE.rglob("*.py"))


def layer_of(path: Path) -> str:
    first = path.relative_to(CORE).parts[0]
    return first.removesuffix(".py")


def imports(path: Path) -> list[str]:
    """Dotted names that a file imports at run time (type-checking blocks left out)."""
    found: list[str] = []
    tree = ast.parse(path.read_text(encoding="utf-8"))
    skipped = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if id(node) in skipped:
            continue
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.append(node.module)
            found += [f"{node.module}.{alias.name}" for alias in node.names]
    return found


def test_every_module_has_a_room() -> None:
    names = {layer_of(path) for path in core_files()} - {"__init__"}
    assert names == set(HOUSE), f"draw these in or take them out: {sorted(names ^ set(HOUSE))}"


def test_rooms_stand_on_those_before_them() -> None:
    for drawn in (HOUSE, DETECTORS):
        rooms = list(drawn)
        for room, below in drawn.items():
            assert set(below.split()) <= set(rooms[: rooms.index(room)]), room


def test_rooms_import_only_what_they_stand_on() -> None:
    wrong = []
    for path in core_files():
        own = layer_of(path)
        for name in imports(path):
            room = name.split(".")[1] if name.startswith("gadcore.") else ""
            if own != "__init__" and room in HOUSE and room not in (own, *HOUSE[own].split()):
                wrong.append(f"{path.relative_to(ROOT)} imports {name}")
    assert not wrong


def test_parts_of_detectors_import_only_those_before_them() -> None:
    wrong = []
    for path in sorted((CORE / "detectors").glob("*/**/*.py")):
        own = path.relative_to(CORE / "detectors").parts[0]
        for name in imports(path):
            part = name.removeprefix("gadcore.detectors.").split(".")[0]
            may = {own, *DETECTORS[own].split()}
            if name.startswith("gadcore.detectors.") and part in DETECTORS and part not in may:
                wrong.append(f"{path.relative_to(ROOT)} imports {name}")
    assert not wrong


def test_names_are_given_once() -> None:
    """No public class is called like another one."""
    classes: dict[str, set[str]] = {}
    for path in core_files():
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                classes.setdefault(node.name, set()).add(str(path.relative_to(CORE)))
    assert not {name: found for name, found in classes.items() if len(found) > 1}


PAGES_KNOW = {"errors", "records", "settings", "drawing", "graph", "workspace"}
PAGES_ALSO = {
    "common": {"access", "gate", "api", "logs"},  # but for access: serve.py, the server itself
    "train": {"detectors"},
    "benchmark": {"detectors", "studies", "practice"},
    "map": {"output"},
    "export": {"output"},
}


def test_pages_go_through_the_workspace() -> None:
    wrong = []
    for path in sorted((ROOT / "pages").rglob("*.py")):
        own = path.relative_to(ROOT / "pages").parts[0].removesuffix(".py").split("_")[-1].lower()
        for name in imports(path):
            room = name.split(".")[1] if name.startswith("gadcore.") else ""
            if room in HOUSE and room not in PAGES_KNOW | PAGES_ALSO.get(own, set()):
                wrong.append(f"{path.relative_to(ROOT)} imports {name}")
    assert not wrong


def test_the_core_knows_no_streamlit_and_no_page() -> None:
    wrong = [
        f"{path.relative_to(ROOT)}: {name}"
        for path in core_files()
        for name in imports(path)
        if name.split(".")[0] in ("streamlit", "pages", "app")
    ]
    assert not wrong


def test_only_settings_reads_the_environment() -> None:
    wrong = [
        str(path.relative_to(ROOT))
        for path in core_files()
        if path != CORE / "settings.py" and "os.environ" in path.read_text(encoding="utf-8")
    ]
    assert not wrong


def test_only_state_touches_the_session() -> None:
    pages = [*sorted((ROOT / "pages").rglob("*.py")), ROOT / "app.py"]
    wrong = [
        str(path.relative_to(ROOT))
        for path in pages
        if path.name != "state.py"
        and any(word in path.read_text(encoding="utf-8") for word in ("st.session_state", "st.cache_"))
    ]
    assert not wrong


@pytest.mark.parametrize("module", ["gadcore", "gadcore.api"])
def test_what_the_web_process_imports_is_light(module: str) -> None:
    code = f"import sys, {module}\nprint([m for m in {HEAVY!r} if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True, timeout=120
    )
    assert done.stdout.strip() == "[]"


def test_pages_import_nothing_heavy() -> None:
    """Page modules, imported as Streamlit would, leave torch and its like out."""
    code = (
        "import sys, importlib, pathlib\n"
        "for p in sorted(pathlib.Path('pages').glob('*/*.py')):\n"
        "    importlib.import_module(f'pages.{p.parent.name}.{p.stem}')\n"
        f"print([m for m in {HEAVY!r} if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    assert done.stdout.strip().splitlines()[-1] == "[]"


def test_importing_the_package_is_quick() -> None:
    """``import gadcore`` loads nothing but the standard library."""
    code = "import sys, gadcore\nprint(sorted({'numpy', 'scipy', 'pandas', 'sqlalchemy'} & set(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.strip() == "[]"
