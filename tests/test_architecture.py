"""The rules of the code base, checked on its text: layers, light imports, settings in one place."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
CORE = ROOT / "gadcore"

# A module may import from its own layer and from those above it in this list.
LAYERS = [
    {"errors", "settings", "metrics", "shelf"},
    {"graph"},
    {"records", "drawing", "ingest"},
    {"detectors"},
    {"loop", "insight", "studies"},
    {"store"},
    {"runs", "jobs"},
    {"workspace"},
    {"output", "practice"},
    {"cli", "__main__"},
]
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}
HEAVY = ("torch", "sklearn", "umap", "xgboost", "torch_geometric", "openTSNE", "gensim")


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


def test_every_module_has_a_layer() -> None:
    names = {layer_of(path) for path in core_files()} - {"__init__"}
    assert not names - set(LEVEL), f"give these modules a layer: {sorted(names - set(LEVEL))}"


def test_layers_import_only_from_above() -> None:
    wrong = []
    for path in core_files():
        own = layer_of(path)
        if own == "__init__":
            continue
        for name in imports(path):
            parts = name.split(".")
            if parts[0] == "gadcore" and len(parts) > 1 and LEVEL.get(parts[1], -1) > LEVEL[own]:
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


@pytest.mark.parametrize("module", ["gadcore", "gadcore.workspace"])
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
