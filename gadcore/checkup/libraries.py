"""Python, and the libraries that are installed beside what is needed and what is tested."""

from __future__ import annotations

import re
import sys
from importlib.metadata import PackageNotFoundError, requires, version
from importlib.util import find_spec

from gadcore import __version__
from gadcore.checkup.finding import Finding
from gadcore.settings import CHECKOUT, ROOT, Settings

LEAST = (3, 11)
_PIN = re.compile(r"^([\w.-]+)(?:\[[\w,]+\])?==(\S+)$", re.MULTILINE)
_NEED = re.compile(r"([\w.-]+)(?:\[[\w,]+\])?([^;]*)(;.*extra.*)?")
_BOUND = re.compile(r"(>=|<)\s*([\d.]+)")


def python(_: Settings) -> Finding:
    said = f"Ringfence {__version__}, Python {sys.version.split()[0]} at {sys.executable}"
    if sys.version_info < LEAST or sys.maxsize < 2**32:
        return Finding.problem("Python", said, "Use Python 3.11 or newer, for 64 bits.")
    return Finding.ok("Python", said)


def installed(_: Settings) -> Finding:
    """Libraries against the ranges of the package, and in a checkout against the pins that are tested."""
    wrong = [told for need in _needs() if (told := _unmet(*need))]
    if wrong:
        return Finding.problem("libraries", "; ".join(wrong), "Install them: pip install --upgrade ringfence")
    if other := _not_as_tested():
        fix = "This may work. To have what is tested: pip install -r requirements.txt"
        return Finding.warning("libraries", f"other versions than tested: {', '.join(other)}", fix)
    return Finding.ok("libraries", "the tested versions" if CHECKOUT else "all within their ranges")


def app(_: Settings) -> Finding:
    if find_spec("streamlit") is None:
        fix = "Install it to open the app: pip install 'ringfence[app]'"
        return Finding.warning("app", "Streamlit is not installed; the command line works", fix)
    return Finding.ok("app", f"Streamlit {version('streamlit')}")


def _needs() -> list[tuple[str, str]]:
    """(library, range) of all that the package cannot do without."""
    try:
        named = requires("ringfence") or []
    except PackageNotFoundError:  # a checkout that is not installed
        return []
    parts = [found for text in named if (found := _NEED.fullmatch(text))]
    return [(found[1], found[2]) for found in parts if not found[3]]


def _unmet(name: str, bounds: str) -> str:
    """What is wrong with a library that is needed; "" if nothing is."""
    found = _version(name)
    if found is None:
        return f"{name} is missing"
    outside = any(
        (_numbers(found) < _numbers(bound)) == (sign == ">=") for sign, bound in _BOUND.findall(bounds)
    )
    return f"{name} is {found}, needed is {bounds.strip()}" if outside else ""


def _not_as_tested() -> list[str]:
    file = ROOT / "requirements.txt"
    if not CHECKOUT or not file.is_file():
        return []
    pins = _PIN.findall(file.read_text(encoding="utf-8"))
    found = [(name, _version(name), pin) for name, pin in pins]
    return [f"{name} {have or 'missing'} ({pin})" for name, have, pin in found if _public(have) != pin]


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _public(found: str | None) -> str:
    """A version without the word of its build, as in 2.13.0+cpu."""
    return (found or "").split("+")[0]


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", _public(text))[:3])
