"""PyG ``Data`` (or a dict of tensors) in a .pt file. torch is imported here, when such a file is read, only.

The file is a pickle, so it is opened with ``weights_only=True`` and a list of the plain PyG classes that a
``Data`` object consists of: any other code in it is refused, not run.
"""

from __future__ import annotations

import pickle
import re
import warnings
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from gadcore.errors import InputError
from gadcore.ingest.formats.file_format import UNREADABLE, FileFormat, Limits, too_large, unreadable
from gadcore.ingest.formats.matrices import edge_parts
from gadcore.ingest.graph_parts import Parts, shown

_EXPECTED = "a torch_geometric Data object, or a dict, with edge_index and optionally x, y, edge_weight"
_BROKEN = (RuntimeError, OSError, EOFError, ValueError, LookupError, TypeError, AttributeError)
_REFUSED = re.compile(r"(?:GLOBAL|global:?) ([\w.]+)")


def read_pt(path: Path, limits: Limits) -> Parts:
    """Parts of a .pt file."""
    _refuse_bomb(path, limits.max_bytes)
    fields = _fields(_load(path), path.name)
    if fields.get("edge_index") is None:
        raise InputError(f"{path.name} holds {shown(sorted(map(str, fields)))}", _EXPECTED)
    names = ("edge_index", "x", "y", "edge_weight", "edge_attr")
    edges, x, y, weight, attributes = (_array(fields.get(name), path.name, name) for name in names)
    if weight is None and attributes is not None and attributes.size == edges.shape[-1]:
        weight = attributes
    n = fields.get("num_nodes")
    n = int(n) if isinstance(n, int) and x is None else None
    return edge_parts(edges, x, y, path.name, "PyG", max_bytes=limits.max_bytes, weight=weight, n=n)


def _refuse_bomb(path: Path, max_bytes: int) -> None:
    """torch stores tensors unpacked; a packed member is a sign of tampering, a huge one of a bomb."""
    try:
        if not zipfile.is_zipfile(path):
            return  # the older layout, a bare pickle: torch.load itself tells
        with zipfile.ZipFile(path) as archive:
            size = sum(member.file_size for member in archive.infolist())
    except UNREADABLE as error:
        raise unreadable(path.name, ".pt file", error) from error
    if size > max_bytes:
        raise too_large(path.name, size, max_bytes)


def _load(path: Path) -> Any:
    import torch

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # deprecations inside torch_geometric, on its first import
        from torch_geometric.data.data import Data, DataEdgeAttr, DataTensorAttr
        from torch_geometric.data.storage import EdgeStorage, GlobalStorage, NodeStorage

    plain = [Data, DataEdgeAttr, DataTensorAttr, EdgeStorage, GlobalStorage, NodeStorage]
    try:
        with torch.serialization.safe_globals(plain), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return torch.load(path, map_location="cpu", weights_only=True)
    except pickle.UnpicklingError as error:
        raise InputError(
            f"{path.name} cannot be opened without running code from it ({_reason(error)})",
            _EXPECTED,
            "save the tensors alone: torch.save({'edge_index': …, 'x': …}, file)",
        ) from error
    except _BROKEN as error:
        raise unreadable(path.name, ".pt file", _reason(error)) from error


def _reason(error: Exception) -> str:
    """The part of torch's long message that says what was found."""
    text = str(error).strip()
    refused = _REFUSED.search(text)
    if refused:
        return f"it wants to load {refused.group(1)}"
    return (text.splitlines() or [type(error).__name__])[0].split(". ")[0][:120]


def _fields(loaded: Any, file: str) -> dict[str, Any]:
    """Tensors by name, from a Data object, a dict, or what InMemoryDataset writes: (data, slices, …)."""
    if isinstance(loaded, (tuple, list)) and loaded:
        loaded = loaded[0]
    if isinstance(loaded, dict):
        return dict(loaded)
    if type(loaded).__name__ == "Data" and hasattr(loaded, "to_dict"):
        return dict(loaded.to_dict())
    raise InputError(
        f"{file} holds a {type(loaded).__name__}", _EXPECTED, "for HeteroData, save data.to_homogeneous()"
    )


def _array(value: Any, file: str, name: str) -> Any:
    if value is None:
        return None
    if hasattr(value, "is_sparse") and hasattr(value, "detach"):
        tensor = value.detach().cpu()
        if tensor.is_sparse or tensor.layout.__repr__() != "torch.strided":
            tensor = tensor.to_dense()
        return tensor.float().numpy() if tensor.dtype.is_floating_point else tensor.numpy()
    if isinstance(value, (list, tuple)):
        return np.asarray(value)
    raise InputError(f"{file}: {name} is a {type(value).__name__}", "a tensor")


FORMAT = FileFormat(
    "pt",
    "PyG .pt",
    (".pt", ".pth"),
    matches=lambda head: any(name.endswith("/data.pkl") for name in head.members),
    read=read_pt,
    recognised="a `Data` object or a dict of tensors, loaded with `weights_only`",
    content_decides=True,
)
