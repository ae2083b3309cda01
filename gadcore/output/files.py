"""A flagged table as a file with the manifest that proves what it is; labels and models as files.

CSV is for spreadsheets: a text cell that a spreadsheet would run as a formula gets a leading apostrophe.
GraphML, GEXF and the zip of tables hold the flagged nodes with all links between them (see subgraph.py).
"""

from __future__ import annotations

import hashlib
import io
import json
import platform
import zipfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import pandas as pd

from gadcore import __version__
from gadcore.errors import InputError, RunError
from gadcore.output.flagged import Filters, parameters_of, result_in_use, select, table_of
from gadcore.output.subgraph import count_between, flagged_subgraph, gexf_bytes, graphml_bytes, tables
from gadcore.records import as_json, neutral
from gadcore.store.artefacts import written_aside

if TYPE_CHECKING:
    from gadcore.store import Result
    from gadcore.workspace import Workspace

FORMATS = {"csv": "text/csv", "parquet": "application/vnd.apache.parquet", "jsonl": "application/x-ndjson"}
FORMATS |= {"graphml": "application/graphml+xml", "gexf": "application/gexf+xml", "zip": "application/zip"}

_VERSIONED = ("numpy", "pandas", "pyarrow", "networkx")
_EPOCH = (1980, 1, 1, 0, 0, 0)  # one date for all entries of an archive: equal models, equal archives


@dataclass(frozen=True)
class Manifest:
    """What was exported, from what, how, and the hash to check it with."""

    file: str
    format: str
    rows: int
    links: int  # between the flagged nodes (edges where the graph has no links): in the graph formats
    sha256: str
    project: str
    filters: dict[str, Any]
    run_id: str
    run_number: int
    model: str
    model_parameters: dict[str, Any]
    seed: int
    graph_fingerprint: str
    label_hash: str  # labels that the run learned from
    current_label_hash: str  # labels at the time of the export: the verdict column
    exported_at: str
    columns: list[str] = field(default_factory=list)
    legend: dict[str, str] = field(default_factory=dict)  # what columns derived from links are, and units
    versions: dict[str, str] = field(default_factory=dict)

    def text(self) -> str:
        """The manifest as indented JSON."""
        return json.dumps(as_json(self), indent=2, ensure_ascii=False) + "\n"


def export(workspace: Workspace, out: str | Path, *, format: str | None = None, **filters: Any) -> Manifest:
    """Write the flagged list to ``out`` (the suffix names the format), ``<out>.manifest.json`` beside it.

    ``filters`` are the fields of ``Filters``: top, min_score, verdict, …
    """
    path, chosen = Path(out), Filters(**filters)
    kind = _format(path, format)
    table = table_of(workspace, select(workspace, chosen))
    content = render(workspace, table, kind)
    manifest = manifest_of(workspace, table, content, kind, chosen, path.name)
    write_file(path, content)
    write_file(path.with_name(path.name + ".manifest.json"), manifest.text().encode())
    workspace.trail.exported(path.name, manifest.sha256, manifest.rows)
    return manifest


def write_file(path: Path, content: bytes) -> None:
    """Write a file whole or not at all; InputError says why it cannot be written."""
    try:
        with written_aside(path) as part:
            part.write_bytes(content)
    except OSError as error:
        found = f"{path} cannot be written ({error.strerror})"
        raise InputError(found, fix="choose a folder you may write to") from error


def _format(path: Path, format: str | None) -> str:
    kind = (format or path.suffix.lstrip(".")).lower()
    if kind not in FORMATS:
        raise InputError(f"the export format {kind!r} of {path.name!r}", "one of " + ", ".join(FORMATS))
    return kind


def render(workspace: Workspace, table: pd.DataFrame, format: str) -> bytes:
    """The table as the bytes of a file in this format."""
    writers: dict[str, Callable[[], bytes]] = {
        "csv": lambda: csv_bytes(table),
        "parquet": lambda: bytes(table.to_parquet(index=False)),
        "jsonl": lambda: _json_lines(table),
        "graphml": lambda: graphml_bytes(flagged_subgraph(workspace, table)),
        "gexf": lambda: gexf_bytes(flagged_subgraph(workspace, table)),
        "zip": lambda: _tables_zip(workspace, table),
    }
    return writers[_format(Path(format), format)]()


def manifest_of(
    workspace: Workspace, table: pd.DataFrame, content: bytes, format: str, filters: Filters, name: str
) -> Manifest:
    """The manifest of a rendered file."""
    result = result_in_use(workspace)
    info = result.info
    now = datetime.now().astimezone().isoformat()
    return Manifest(
        file=name,
        format=format,
        rows=len(table),
        links=count_between(workspace.graph, workspace.graph.indices_of(table["node_id"])),
        sha256=hashlib.sha256(content).hexdigest(),
        project=workspace.name,
        filters=filters.as_dict(),
        run_id=info.id,
        run_number=info.number,
        model=info.model,
        model_parameters=parameters_of(result),
        seed=info.seed,
        graph_fingerprint=info.graph_fingerprint,
        label_hash=info.label_hash,
        current_label_hash=workspace.verdicts.labels().hash(workspace.graph),
        exported_at=str(table["exported_at"].iat[0]) if len(table) else now,
        columns=[str(column) for column in table.columns],
        legend={name: _legend(column) for name, column in workspace.graph.derived.items()},
        versions={**_versions(), **{f"run {key}": value for key, value in info.versions.items()}},
    )


def _legend(column: dict[str, str]) -> str:
    return column["help"] + (f" Unit: {column['unit']}." if column["unit"] else "")


def _versions() -> dict[str, str]:
    found = {"ringfence": __version__, "python": platform.python_version()}
    for package in _VERSIONED:
        with suppress(PackageNotFoundError):
            found[package] = version(package)
    return found


def csv_bytes(table: pd.DataFrame) -> bytes:
    """The table as CSV, safe to open in a spreadsheet."""
    return str(table.map(neutral).to_csv(index=False, lineterminator="\n")).encode()


def _json_lines(table: pd.DataFrame) -> bytes:
    nested = table
    if "model_parameters" in table:  # JSON can nest: the parameters become an object again
        nested = table.assign(model_parameters=table["model_parameters"].map(json.loads))
    rows = [json.dumps(as_json(row), ensure_ascii=False) for row in nested.to_dict("records")]
    return "".join(row + "\n" for row in rows).encode()


def _tables_zip(workspace: Workspace, table: pd.DataFrame) -> bytes:
    """The flagged part of the graph as CSV tables that can be imported again."""
    frames, mapping = tables(workspace, table)
    return _zip({name: csv_bytes(frame) for name, frame in frames.items()} | {"mapping.json": mapping})


def labels_csv(workspace: Workspace) -> bytes:
    """The current verdicts, as ``Workspace.export_labels`` writes them and ``import_labels`` reads them."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "labels.csv"
        workspace.verdicts.export_file(path)
        return path.read_bytes()


def model_zip(workspace: Workspace, run_id: str | None = None) -> bytes:
    """The model of a run (safetensors, JSON) with a card: what it was trained on, hashes of all parts."""
    result = result_in_use(workspace) if run_id is None else workspace.runs.result(run_id)
    if result is None:
        raise RunError(f"The run {run_id!r} has no result, so it has no model. Choose a finished run.")
    parts = _model_files(result)
    card = {
        "run": as_json(result.info),
        "project": workspace.name,
        "exported_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "sha256": {name: hashlib.sha256(content).hexdigest() for name, content in parts.items()},
        "load": "gadcore.load_detector(folder of this archive)",
    }
    parts["model_card.json"] = (json.dumps(card, indent=2, ensure_ascii=False) + "\n").encode()
    return _zip(parts)


def _model_files(result: Result) -> dict[str, bytes]:
    folder = result.model_folder
    files = sorted(p for p in folder.rglob("*") if p.is_file())
    if not files:
        raise RunError(
            f"Run {result.info.number} ({result.info.model}) was stored without a model. "
            "Train again and export the new run."
        )
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in files}


def _zip(parts: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(zipfile.ZipInfo(name, _EPOCH), content, zipfile.ZIP_DEFLATED)
    return buffer.getvalue()
