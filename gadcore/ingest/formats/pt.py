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
import scipy.sparse as sp

from gadcore.errors import InputError
from gadcore.ingest.formats.file_format import UNREADABLE, FileFormat, Limits, too_large, unreadable
from gadcore.ingest.formats.matrices import edge_columns, edge_parts
from gadcore.ingest.graph_parts import Parts, shown

_EXPECTED = (
    "a torch_geometric Data object, or a dict, with edge_index and optionally x, y, edge_weight, edge_attr"
)
_BROKEN = (
    RuntimeError,
    OSError,
    EOFError,
    ValueError,
    LookupError,
    TypeError,
    AttributeError,
    AssertionError,
)
_REFUSED = re.compile(r"(?:GLOBAL|global:?) ([\w.]+)")


def read_pt(path: Path, limits: Limits) -> Parts:
    """Parts of a .pt file."""
    _refuse_bomb(path, limits.max_bytes)
    fields = _fields(_load(path), path.name)
    if fields.get("edge_index") is None:
        raise InputError(f"{path.name} holds {shown(sorted(map(str, fields)))}", _EXPECTED)
    edges, y = (_array(fields.get(name), path.name, name) for name in ("edge_index", "y"))
    x = _attributes(fields.get("x"), path.name)
    columns = {k: _array(v, path.name, k, exact=True) for k, v in edge_columns(_named(fields)).items()}
    n = fields.get("num_nodes")
    n = int(n) if isinstance(n, int) and x is None else None
    parts = edge_parts(edges, x, y, path, "PyG", limits=limits, columns=columns, n=n)
    read = {"edge_index", "x", "y", "num_nodes", *columns}
    if unused := sorted(
        str(name) for name, value in fields.items() if value is not None and name not in read
    ):
        parts.notes.append(f"{path.name}: fields that are not read: {shown(unused)}.")
    return parts


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


def _named(fields: dict[Any, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if isinstance(name, str)}


def _attributes(value: Any, file: str) -> Any:
    """The attributes: an array, or a sparse matrix, which is never made dense."""
    import torch

    if not isinstance(value, torch.Tensor) or value.layout is torch.strided or value.ndim != 2:
        return _array(value, file, "x")
    try:
        found = value.detach().cpu().to_sparse().coalesce()
    except (RuntimeError, ValueError) as error:
        raise unreadable(file, ".pt file", _reason(error)) from error
    numbers, ends = _array(found.values(), file, "x"), _array(found.indices(), file, "x")
    return sp.coo_array((numbers, tuple(ends)), shape=tuple(found.shape))


def _array(value: Any, file: str, name: str, *, exact: bool = False) -> Any:
    """A tensor as an array; ``exact`` keeps numbers in double precision, which times need."""
    if value is None:
        return None
    if hasattr(value, "is_sparse") and hasattr(value, "detach"):
        return _numbers(_plain(value.detach(), f"{file}: {name}"), exact)
    if isinstance(value, (list, tuple)):
        return np.asarray(value)
    raise InputError(f"{file}: {name} is a {type(value).__name__}", "a tensor")


def _plain(tensor: Any, what: str) -> Any:
    """A tensor whose numbers all stand in the file; any other is refused."""
    import torch

    layout = str(tensor.layout).removeprefix("torch.")
    kind = "quantised" if tensor.is_quantized else "meta" if tensor.is_meta else layout
    if kind != "strided":
        raise InputError(f"{what} is a {kind} tensor", "a dense tensor with its numbers")
    if tensor.numel() * tensor.element_size() > tensor.untyped_storage().nbytes():
        raise InputError(
            f"{what} repeats few numbers to shape {tuple(tensor.shape)}",
            "a tensor that holds its numbers",
            "save tensor.clone()",
        )
    return tensor.resolve_conj().resolve_neg() if isinstance(tensor, torch.Tensor) else tensor


def _numbers(tensor: Any, exact: bool) -> Any:
    tensor = tensor.cpu()
    if not tensor.dtype.is_floating_point:
        return tensor.numpy()
    return (tensor.double() if exact else tensor.float()).numpy()


FORMAT = FileFormat(
    "pt",
    "PyG .pt",
    (".pt", ".pth"),
    matches=lambda head: any(name.endswith("/data.pkl") for name in head.members),
    read=read_pt,
    recognised=(
        "a `Data` object or a dict of tensors, loaded with `weights_only`; of the edges `edge_weight`, "
        "`edge_attr`, `edge_time` or `time`, `edge_type`"
    ),
    content_decides=True,
)
