"""The screen's JavaScript: ES modules, joined into one text, as Streamlit takes a component's code.

Each file of js/ is a standard module that a browser can also load by its address. Joined, each keeps a scope
of its own; only what it exports can be seen by others. Read are ``import { a, b } from "./file.js";`` on one
line, and ``export`` before a function, a class or a const; only the first module has an ``export default``.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from pages.common import palette

FOLDER = Path(__file__).parent / "js"
_IMPORT = re.compile(r'^import \{ (.+) \} from "\./(\w+)\.js";$', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async function|function|class|const) (\w+))", re.MULTILINE)
_OTHER = re.compile(r"^(?:import|export(?! default))\b.*", re.MULTILINE)


def source(name: str) -> str:
    """The text of one module; the palette is written here."""
    if name == "palette":
        return f"export const PALETTE = {palette.as_javascript()};\n"
    return (FOLDER / f"{name}.js").read_text(encoding="utf-8")


@cache
def joined(entry: str) -> str:
    """One module that does what the module ``entry`` does, with all that it imports."""
    texts = _in_order(entry)
    exported = {name: _EXPORT.findall(text) for name, text in texts.items()}
    for name, text in texts.items():
        for names, module in _IMPORT.findall(text):
            if missing := set(names.split(", ")) - set(exported[module]):
                raise ValueError(f"{name}.js imports what {module}.js does not export: {sorted(missing)}")
    bodies = {name: _body(name, text) for name, text in texts.items()}
    first = bodies.pop(entry)
    scopes = [
        f"const in_{name} = (() => {{\n{body}\nreturn {{ {', '.join(exported[name])} }};\n}})();"
        for name, body in bodies.items()
    ]
    return "\n".join([*scopes, first])


def _in_order(name: str, path: tuple[str, ...] = (), found: dict[str, str] | None = None) -> dict[str, str]:
    """The texts of a module and of all that it imports, each after those that it needs."""
    found = {} if found is None else found
    if name in path:
        raise ValueError(f"a cycle of imports: {' → '.join([*path, name])}")
    if name not in found:
        text = source(name)
        for _, module in _IMPORT.findall(text):
            _in_order(module, (*path, name), found)
        found[name] = text
    return found


def _body(name: str, text: str) -> str:
    """A module's own text, its imports taken from the scopes of the others."""
    body = _EXPORT.sub("", _IMPORT.sub(r"const { \1 } = in_\2;", text))
    if other := _OTHER.search(body):
        raise ValueError(f"{name}.js: only the plain forms of import and export are read, not {other[0]!r}")
    return body
