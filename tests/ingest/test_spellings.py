"""Columns as people fill them: words for not known, several spellings, kinds that are said."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gadcore.errors import InputError
from gadcore.ingest import Mapping, Reading, read
from gadcore.ingest.mapping import KINDS

from .files import write

WORDS = ["NL", "nl ", "NL", "-", "unknown", "DE", "N/A", "NL", "none", "NA", "DÉ", "DE"]


def people(folder: Path, column: str, values: list[str], mapping: Mapping | None = None) -> Reading:
    rows = "".join(f"{i},{value}\n" for i, value in enumerate(values))
    nodes = write(folder / "people.csv", f"id,{column}\n{rows}")
    edges = write(folder / "edges.csv", "source,target\n0,1\n1,2\n")
    return read(nodes, edges=edges, mapping=mapping)


def features(reading: Reading) -> dict[str, list[float]]:
    x = reading.graph.x.toarray() if hasattr(reading.graph.x, "toarray") else reading.graph.x
    return dict(zip(reading.graph.feature_names, np.asarray(x).T.tolist()))


def test_words_for_not_known_are_missing_values(tmp_path: Path) -> None:
    reading = people(tmp_path, "country", WORDS)
    missing = features(reading)["country is missing"]
    assert [w for w, hole in zip(WORDS, missing) if hole] == ["-", "unknown", "N/A"]
    assert any("3 values such as '-' or 'unknown' count as missing" in n for n in reading.report.notes)


def test_spellings_are_named_and_merged_where_it_is_wished(tmp_path: Path) -> None:
    apart = people(tmp_path, "country", WORDS)
    assert any("'nl' and 'NL'; 'DÉ' and 'DE' differ in case" in note for note in apart.report.notes)
    assert "country=nl" in features(apart)
    merged = people(tmp_path, "country", WORDS, Mapping(merge=("country",)))
    assert "country=nl" not in features(merged)
    assert sum(features(merged)["country=NL"]) == 4
    assert sum(features(merged)["country=DE"]) == 3
    assert merged.graph.node_table["country"][1] == "nl "  # shown as it is written


def test_a_kind_that_is_said_is_taken(tmp_path: Path) -> None:
    zips = [str(1000 + i % 3) for i in range(12)]
    assert set(features(people(tmp_path, "zip", zips))) == {"zip"}
    said = people(tmp_path, "zip", zips, Mapping(kinds={"zip": "category"}))
    assert set(features(said)) == {"zip=1000", "zip=1001", "zip=1002"}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_can_be_said_of_any_column(tmp_path: Path, kind: str) -> None:
    reading = people(tmp_path, "mixed", ["1", "2024-01-31", "a|b", "yes", "", "2", "x y z"] * 3, _said(kind))
    assert reading.graph.n_nodes == 21


def _said(kind: str) -> Mapping:
    return Mapping(kinds={"mixed": kind})


def test_values_that_are_not_of_the_kind_are_told(tmp_path: Path) -> None:
    reading = people(tmp_path, "age", ["31", "42", "young", "old"], Mapping(kinds={"age": "number"}))
    assert any("2 values could not be read as numbers" in note for note in reading.report.notes)


def test_an_unknown_kind_is_refused() -> None:
    with pytest.raises(InputError, match="number, category, date"):
        Mapping.from_json({"kinds": {"age": "colour"}})
