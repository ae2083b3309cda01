"""Labels as a table that can be read back, and a trained model as one archive."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from gadcore.errors import RunError
from gadcore.output.flagged import result_in_use
from gadcore.records import as_json

if TYPE_CHECKING:
    from gadcore.store import Result
    from gadcore.workspace import Workspace

_EPOCH = (1980, 1, 1, 0, 0, 0)  # one date for all entries: equal models, equal archives


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
