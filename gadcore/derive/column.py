"""What is told of a derived column, and its values."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np
import numpy.typing as npt

Values = npt.NDArray[np.float64]


@dataclass(frozen=True)
class DerivedColumn:
    """A column that the links give; ``name`` is unique and what people read."""

    key: str  # what it is called in code, whatever a link is called here: "links_in"
    name: str  # "transfers in"
    group: str  # key of GROUPS
    help: str  # one sentence
    unit: str = ""  # "EUR", "days", "%"
    told: str = ""  # the value in a sentence, "{value}" in its place: "received {value} transfers"

    def as_json(self) -> dict[str, str]:
        return asdict(self)


@dataclass(frozen=True)
class Derived:
    """A derived column with its values."""

    column: DerivedColumn
    values: Values  # (N,) nan where there is none
