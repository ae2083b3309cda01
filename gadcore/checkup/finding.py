"""One line of a check-up."""

from __future__ import annotations

from dataclasses import dataclass

OK, WARNING, PROBLEM = "ok", "warning", "problem"


@dataclass(frozen=True)
class Finding:
    """What was looked at, how it stands, what was seen, and what to do about it."""

    what: str
    state: str
    seen: str
    to_do: str = ""

    @classmethod
    def ok(cls, what: str, seen: str) -> Finding:
        return cls(what, OK, seen)

    @classmethod
    def warning(cls, what: str, seen: str, to_do: str) -> Finding:
        """It works, but not as it should."""
        return cls(what, WARNING, seen, to_do)

    @classmethod
    def problem(cls, what: str, seen: str, to_do: str) -> Finding:
        """It does not work."""
        return cls(what, PROBLEM, seen, to_do)
