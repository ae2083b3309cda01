"""The joining of the screen's JavaScript modules: order, scopes, and what is refused."""

from __future__ import annotations

import pytest

from pages.label import modules


@pytest.fixture
def joined(monkeypatch: pytest.MonkeyPatch):
    """Joins modules given as texts, from the module ``entry``."""

    def join(**texts: str) -> str:
        monkeypatch.setattr(modules, "source", texts.__getitem__)
        return modules.joined.__wrapped__("entry")

    return join


ENTRY = 'import { b } from "./upper.js";\nexport default function () { return b; }\n'
UPPER = 'import { a } from "./lower.js";\nconst hidden = 2;\nexport const b = a + hidden;\n'
LOWER = "export const a = 1;\nexport function twice(n) {\n  return 2 * n;\n}\n"


def test_a_module_comes_after_those_that_it_imports_and_is_joined_once(joined) -> None:
    both = 'import { a } from "./lower.js";\n' + ENTRY
    text = joined(entry=both, upper=UPPER, lower=LOWER)
    assert text.index("in_lower = ") < text.index("in_upper = ") < text.index("export default")
    assert text.count("const a = 1;") == 1


def test_a_module_sees_of_another_only_what_it_imports(joined) -> None:
    text = joined(entry=ENTRY, upper=UPPER, lower=LOWER)
    assert "const { a } = in_lower;" in text
    assert "return { a, twice };" in text
    assert "return { b };" in text
    assert text.count("export") == 1


def test_an_import_that_is_not_exported_is_refused(joined) -> None:
    with pytest.raises(ValueError, match=r"entry\.js imports what upper\.js does not export: \['hidden'\]"):
        joined(entry=ENTRY.replace("{ b }", "{ b, hidden }"), upper=UPPER, lower=LOWER)


def test_a_cycle_is_refused_with_its_way(joined) -> None:
    around = 'import { b } from "./upper.js";\n' + LOWER
    with pytest.raises(ValueError, match="entry → upper → lower → upper"):
        joined(entry=ENTRY, upper=UPPER, lower=around)


@pytest.mark.parametrize(
    "line",
    [
        'import * as all from "./lower.js";',
        'import lower from "./lower.js";',
        "export let changing = 1;",
        "export { a };",
    ],
)
def test_other_forms_are_refused_rather_than_misread(joined, line: str) -> None:
    with pytest.raises(ValueError, match=r"upper\.js: only the plain forms"):
        joined(entry=ENTRY, upper=f"{UPPER}{line}\n", lower=LOWER)


def test_the_screen_is_joined_from_all_of_its_modules() -> None:
    text = modules.joined("load_screen")
    apart = {"load_screen", "show_screen", "map_link"}  # the first of each component
    names = {path.stem for path in modules.FOLDER.glob("*.js")} - apart
    assert all(f"const in_{name} = " in text for name in names)
