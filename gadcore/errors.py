"""Every error that Ringfence raises on purpose.

    GadError                what pages and the CLI catch, and show as it is
    ├── UsageError          a setting or argument that cannot mean anything
    ├── InputError          a file or table that cannot be read (file, row, column)
    ├── LabelError          labels that do not fit the graph or do not suffice for a model
    ├── ModelError          a detector that cannot be made, fitted, saved or loaded
    ├── StoreError          the database cannot do what was asked
    │   └── Unavailable     it does not answer now; the same may be asked again
    ├── NotFound            a project, node or run that does not exist
    ├── NotAllowed          what the person who asks may not do, or not without a login
    └── RunError            a training run that failed, was cancelled or lost its worker

A message says what was found, what was expected and what to do.
"""

from __future__ import annotations


class GadError(Exception):
    """An error with a message written for the person at the screen."""


class UsageError(GadError):
    """A setting, an argument or a parameter whose value cannot be used; nothing was begun."""


class InputError(GadError):
    """Input that cannot be read: ``found`` (where), ``expected`` and ``fix`` make up the message."""

    def __init__(self, found: str, expected: str = "", fix: str = "") -> None:
        self.found, self.expected, self.fix = found, expected, fix
        parts = [_sentence(found)]
        if expected:
            parts.append(_sentence(f"Expected: {expected}"))
        if fix:
            parts.append(_sentence(f"To do: {fix}"))
        super().__init__(" ".join(parts))


class LabelError(GadError):
    """Labels that name unknown nodes, contradict each other or do not suffice."""


class ModelError(GadError):
    """A detector that is unknown, wrongly configured, unfitted or unreadable."""


class StoreError(GadError):
    """The store refuses: a name in use, a schema from the future, nothing to undo."""


class Unavailable(StoreError):
    """The store does not answer: it is locked, full or out of reach. Nothing was changed."""


class NotFound(GadError):
    """No such project, node or run."""


class NotAllowed(GadError):
    """What the person who asks may not do."""


class RunError(GadError):
    """A run that failed, was cancelled, or whose worker died."""


class Cancelled(RunError):
    """The run was stopped on request; labels and earlier runs are untouched."""


def _sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?")) else text + "."
