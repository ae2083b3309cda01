"""Errors as documents: what was found, what was expected, what to do (RFC 9457)."""

from __future__ import annotations

from gadcore import errors
from gadcore.errors import GadError, InputError
from gadcore.gate.replies import Reply, problem

# The first that fits; what is not here was understood and cannot be done: 422.
STATUS: tuple[tuple[type[GadError], int], ...] = (
    (errors.NotAllowed, 403),
    (errors.NotFound, 404),
    (errors.Unavailable, 503),
    (errors.StoreError, 409),
    (errors.RunError, 409),
)


class Unreadable(GadError):
    """A request that is not understood at all, with the HTTP status that says so."""

    def __init__(self, status: int, said: str, **headers: str) -> None:
        self.status, self.headers = status, headers
        super().__init__(said)


def reply_to(error: GadError) -> Reply:
    """The answer to a call that came to nothing."""
    if isinstance(error, Unreadable):
        return problem(error.status, str(error), error.headers)
    status = next((code for kind, code in STATUS if isinstance(error, kind)), 422)
    more: dict[str, str] = {}
    if isinstance(error, InputError):
        told = {"found": error.found, "expected": error.expected, "to_do": error.fix}
        more = {key: value for key, value in told.items() if value}
    return problem(status, str(error), {"retry-after": "5"} if status == 503 else None, **more)
