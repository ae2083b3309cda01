"""Flagged list: filters, columns, formats, manifest; labels and models as files."""

from __future__ import annotations

import csv
import errno
import hashlib
import io
import json
import math
import zipfile
from pathlib import Path

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from sample_workspace import AT, IDS, SampleWorkspace

from gadcore.errors import InputError, RunError
from gadcore.output import COLUMNS, FORMATS, export, flagged_table, labels_csv, model_zip, render
from gadcore.output.files import csv_bytes, neutral
from gadcore.output.flagged import key_neighbours


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SampleWorkspace:
    monkeypatch.setattr(
        "gadcore.output.flagged.explain.reasons",
        lambda graph, folder, nodes, scores: [[f"degree {i}", "+strong tie"] for i in nodes],
    )
    return SampleWorkspace(tmp_path / "run")


def test_the_table_has_the_promised_columns_and_order(workspace) -> None:
    table = flagged_table(workspace)
    assert tuple(table.columns) == COLUMNS
    assert list(table["node_id"]) == list(IDS)
    assert list(table["rank"]) == [1, 2, 3, 4, 5, 6]
    assert table["percentile"].is_monotonic_decreasing
    assert list(table["name"]) == [workspace.graph.display_name(i) for i in range(len(IDS))]


def test_a_row_says_who_decided_when_and_why(workspace) -> None:
    row = flagged_table(workspace, top=1).iloc[0]
    assert (row["verdict"], row["analyst"], row["label_source"]) == ("anomalous", "@ana", "app")
    assert row["labelled_at"] == AT.isoformat(timespec="seconds")
    assert (row["reason_1"], row["reason_2"], row["reason_3"]) == ("degree 0", "+strong tie", "")
    assert (row["run_id"], row["label_hash"]) == ("run-a", "e" * 64)
    assert json.loads(row["model_parameters"]) == {"depth": 2, "k": 32, "model": "an+", "seed": 7}
    assert row["probability_basis"] == "40 out-of-fold labels"


def test_a_note_without_a_verdict_is_kept(workspace) -> None:
    row = flagged_table(workspace).iloc[2]
    assert (row["verdict"], row["note"]) == ("", "seen before")


def test_a_node_without_a_verdict_has_empty_label_columns(workspace) -> None:
    row = flagged_table(workspace).set_index("node_id").loc["lonely"]
    assert [row[c] for c in ("verdict", "label_source", "analyst", "labelled_at", "note")] == [""] * 5
    assert row["key_neighbours"] == ""
    assert math.isnan(row["probability"])


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({"top": 2}, [0, 1]),
        ({"min_score": 5}, [0, 1, 2]),
        ({"min_percentile": 70}, [0, 1]),
        ({"verdict": "unsure"}, [3]),
        ({"verdict": "unlabelled"}, [2, 4, 5]),
        ({"verdict": ("anomalous", "unlabelled"), "top": 2}, [0, 2]),
        ({"min_probability": 0.5}, [0, 1, 2]),
        ({"verdict": "normal", "min_probability": 0.9}, []),
        ({"min_percentile": 99, "keep_marked": True}, [0]),
        ({"top": 1, "verdict": "unlabelled", "keep_marked": True}, [2]),
        (
            {"top": 1, "verdict": ("unlabelled", "anomalous"), "min_probability": 0.5, "keep_marked": True},
            [0],
        ),
    ],
)
def test_filters_keep_what_they_name(workspace, filters, expected) -> None:
    assert list(flagged_table(workspace, **filters)["node_id"]) == [IDS[i] for i in expected]


@pytest.mark.parametrize(
    "filters", [{"top": 0}, {"verdict": "guilty"}, {"min_percentile": 101}, {"min_probability": -0.1}]
)
def test_impossible_filters_are_refused_by_name(workspace, filters) -> None:
    with pytest.raises(InputError, match="Expected"):
        flagged_table(workspace, **filters)


def test_probability_filter_without_probabilities_says_why(tmp_path) -> None:
    with pytest.raises(RunError, match="only 2 labels"):
        flagged_table(SampleWorkspace(tmp_path, probability=False), min_probability=0.5)


def test_without_a_run_the_error_says_to_train(workspace) -> None:
    workspace.lose_result()
    with pytest.raises(RunError, match="Train"):
        flagged_table(workspace)


def test_key_neighbours_weigh_suspicion_by_edge_weight(workspace) -> None:
    percentile = np.array([0, 90.0, 80.0, 60.0, 10.0, 0])
    assert list(key_neighbours(workspace.graph, percentile, 0)) == [3, 1, 2]


@pytest.mark.parametrize(
    "cell", ["=1+1", "+SUM(A1)", "-cmd", "@x", "\tx", "\r=x", "\n=x", "=", "-1+2", "＝1"]
)
def test_a_cell_that_a_spreadsheet_would_run_gets_an_apostrophe(cell) -> None:
    assert neutral(cell) == "'" + cell


@pytest.mark.parametrize("cell", ["plain", "", "-12.5", "+3", "-1e-5", "007", "a=b", -12.5, 3, None])
def test_numbers_and_plain_text_are_untouched(cell) -> None:
    assert neutral(cell) is cell


def test_csv_is_safe_and_numbers_stay_numbers(workspace) -> None:
    content = csv_bytes(flagged_table(workspace)).decode()
    rows = list(csv.DictReader(io.StringIO(content)))
    assert rows[0]["node_id"] == "'" + IDS[0]
    assert rows[0]["note"] == "'=1+1 looks bad"
    assert rows[0]["reason_2"] == "'+strong tie"
    assert rows[0]["analyst"] == "'@ana"
    assert rows[2]["node_id"] == "-12.5"
    assert float(rows[4]["score"]) == -1.0
    assert rows[5]["probability"] == ""


def test_parquet_and_json_lines_read_back_equal(workspace) -> None:
    table = flagged_table(workspace)
    back = pd.read_parquet(io.BytesIO(render(workspace, table, "parquet")))
    assert list(back["node_id"]) == list(IDS)
    assert back["score"].tolist() == table["score"].tolist()
    lines = [json.loads(line) for line in render(workspace, table, "jsonl").decode().splitlines()]
    assert [line["node_id"] for line in lines] == list(IDS)
    assert lines[0]["model_parameters"]["k"] == 32
    assert lines[5]["probability"] is None


@pytest.mark.parametrize(("format", "read"), [("graphml", nx.read_graphml), ("gexf", nx.read_gexf)])
def test_graph_formats_hold_the_flagged_nodes_and_their_edges(workspace, format, read) -> None:
    table = flagged_table(workspace, top=5)
    back = read(io.BytesIO(render(workspace, table, format)))
    assert set(back) == set(IDS[:5])
    assert back.number_of_edges() == 6
    assert back.edges[IDS[0], IDS[3]]["weight"] == 5.0
    assert back.nodes[IDS[0]]["verdict"] == "anomalous"
    assert back.nodes["007"]["score"] == 7.0


def test_graph_formats_replace_characters_that_xml_cannot_hold(workspace) -> None:
    table = flagged_table(workspace, top=1).assign(note="bell\x07here")
    back = nx.read_graphml(io.BytesIO(render(workspace, table, "graphml")))
    assert back.nodes[IDS[0]]["note"] == "bell\ufffdhere"


@pytest.mark.parametrize("format", FORMATS)
def test_export_writes_a_file_and_a_manifest_that_proves_it(workspace, tmp_path, format) -> None:
    out = tmp_path / "deep" / f"flagged.{format}"
    manifest = export(workspace, out, top=3, verdict=("anomalous", "normal"))
    stored = json.loads((tmp_path / "deep" / f"flagged.{format}.manifest.json").read_text(encoding="utf-8"))
    assert stored["sha256"] == hashlib.sha256(out.read_bytes()).hexdigest() == manifest.sha256
    assert stored["rows"] == 2
    assert stored["filters"] == {"top": 3, "verdict": ["anomalous", "normal"]}
    assert stored["label_hash"] == "e" * 64
    assert stored["current_label_hash"] == workspace.verdicts.labels().hash(workspace.graph)
    assert stored["versions"]["ringfence"]
    assert stored["versions"]["run torch"] == "2"


@pytest.mark.parametrize("format", FORMATS)
def test_an_empty_list_is_a_valid_file(workspace, tmp_path, format) -> None:
    assert export(workspace, tmp_path / f"none.{format}", min_score=99).rows == 0


def test_an_unknown_format_is_named(workspace, tmp_path) -> None:
    with pytest.raises(InputError, match="xlsx"):
        export(workspace, tmp_path / "flagged.xlsx")


def test_a_folder_that_cannot_be_written_is_named(workspace, tmp_path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(InputError, match="cannot be written"):
        export(workspace, tmp_path / "file" / "flagged.csv")


def test_labels_are_those_of_the_workspace(workspace) -> None:
    assert labels_csv(workspace).decode().splitlines()[1] == "007,normal"


def test_model_archive_holds_the_model_and_hashes_of_its_parts(workspace) -> None:
    with zipfile.ZipFile(io.BytesIO(model_zip(workspace))) as archive:
        card = json.loads(archive.read("model_card.json"))
        assert set(archive.namelist()) == {"detector.json", "model.safetensors", "model_card.json"}
        assert card["sha256"]["model.safetensors"] == hashlib.sha256(b"weights").hexdigest()
        assert card["run"]["id"] == "run-a"


def test_a_run_without_a_model_cannot_be_exported(workspace) -> None:
    with pytest.raises(RunError, match="no result"):
        model_zip(workspace, "run-z")
    for part in workspace.runs.result().model_folder.iterdir():
        part.unlink()
    with pytest.raises(RunError, match="without a model"):
        model_zip(workspace)


def test_an_export_that_fails_leaves_the_file_before_it_as_it_was(workspace, tmp_path, monkeypatch) -> None:
    export(workspace, tmp_path / "flagged.csv")
    before = (tmp_path / "flagged.csv").read_bytes()

    def fills_the_disk(path: Path, content: bytes) -> int:
        with path.open("wb") as file:
            file.write(content[:10])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", fills_the_disk)
    with pytest.raises(InputError, match="No space left"):
        export(workspace, tmp_path / "flagged.csv", top=1)
    assert (tmp_path / "flagged.csv").read_bytes() == before
    assert len(list(tmp_path.glob("*flagged*"))) == 2  # it and its manifest
