"""A small valid file of every format that can be read, and how to write it with something in it changed."""

from __future__ import annotations

import csv
import gzip
import io
import json
import warnings
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from random import Random
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as parquet
import scipy.io
import scipy.sparse as sp

from benchmarks.mutations import (
    CELLS,
    Array,
    arrays_changed,
    bytes_changed,
    rows_changed,
    tree_changed,
)

Rows = list[list[str]]

_NODES: Rows = [["id", "name", "age", "town", "since", "is_fraud"]] + [
    [f"n{k}", f"Node {k}", str(20 + k), ("Lyon", "Köln")[k % 2], f"2024-01-{k + 1:02d}", str(int(k == 3))]
    for k in range(6)
]
_EDGES: Rows = [["source", "target", "time", "amount", "kind", "weight"]] + [
    [
        f"n{k % 6}",
        f"n{(k * k + 1) % 6}",
        f"2024-02-{k + 1:02d}T10:00",
        f"{k * 7.5}",
        ("wire", "cash")[k % 2],
        "2",
    ]
    for k in range(9)
]
_BANK: Rows = [["Booking date", "From Bank", "Account", "To Bank", "Account", "Betrag", "Currency"]] + [
    [f"{k + 1:02d}.03.2024", "b1", f"a{k}", "b2", f"a{k + 2}", f"1.{k}34,50 €", "EUR"] for k in range(6)
]
_NEO4J_NODES: Rows = [
    [":ID", "name:string", "tags:string[]", ":LABEL"],
    ["1", "a", "x;y", "P"],
    ["2", "b", "", "P"],
]
_NEO4J_EDGES: Rows = [[":START_ID", ":END_ID", "since:int", ":TYPE"], ["1", "2", "2001", "KNOWS"]]
_NEPTUNE: Rows = [["~id", "~from", "~to", "~label", "weight:Double"], ["e1", "a", "b", "knows", "1.5"]]
_ODD_NAMES = (
    "../a.csv", "a/", "a.mtx", "x.zip", ".hidden", "a\x00b.csv", "nodes.csv", "n" * 300 + ".csv",
    "mapping.json",
)  # fmt: skip
_SNAP = b"# comment\n# FromNodeId\tToNodeId\n1\t2\n2\t3\n3\t1\n"
_ZEEK = (
    b"#separator \\x09\n#fields\tts\tuid\tid.orig_h\tid.resp_h\tproto\torig_bytes\n#types\ttime\tstring\taddr"
    b"\taddr\tenum\tcount\n1700000000.5\tC1\t10.0.0.1\t10.0.0.2\ttcp\t100\n1700000001.5\tC2\t10.0.0.2\t10.0.0.3\tudp\t-\n"
    b"#close\t2025-01-31\n"
)
_MTX = b"%%MatrixMarket matrix coordinate real symmetric\n% c\n4 4 3\n2 1 1.5\n3 2 2\n4 3 1\n"
_DENSE_MTX = b"%%MatrixMarket matrix array integer general\n2 2\n0\n1\n1\n0\n"
_ARRAYS: dict[str, Array] = {
    "edge_index": np.array([[0, 1, 2, 3], [1, 2, 3, 0]]), "x": np.arange(8.0).reshape(4, 2),
    "y": np.array([0, 0, 1, 0]),
    "edge_weight": np.ones(4), "edge_attr": np.arange(8.0).reshape(4, 2),
    "edge_time": np.arange(4) + 1_700_000_000,
    "edge_type": np.array([0, 1, 0, 1]),
}  # fmt: skip
_MORE = {
    "attribute_names": np.array(["a", "b"]), "lcc_mask": np.ones(4, bool), "unlabelled_nodes": np.array([1]),
    "kind": np.array("class"), "edge_attribute_names": np.array(["amount", "days"]),
    "unlabelled_prefix": np.array(1),
}  # fmt: skip
_RING = sp.csr_array((np.ones(4), ([0, 1, 2, 3], [1, 2, 3, 0])), shape=(4, 4))
_TRIPLE = {"data": _RING.data, "indices": _RING.indices, "indptr": _RING.indptr, "shape": np.array([4, 4])}
_NPZ_NAMES = (
    *_ARRAYS, *_MORE, *_TRIPLE, *(f"adj_{k}" for k in _TRIPLE), *(f"attr_{k}" for k in _TRIPLE),
    *(f"x_{k}" for k in _TRIPLE), "labels", "adj", "row", "col", "coords", "format", "weights",
    "edge_label", "A", "time",
)  # fmt: skip
_MAT_NAMES = ("Network", "Attributes", "Label", "homo", "features", "gnd", "A", "X", "y")

Build = Callable[[Random | None], bytes]


@dataclass(frozen=True)
class Sample:
    """A kind of file. ``build`` writes it as it should be, or with a Random one whose content is odd."""

    name: str
    file: str
    build: Build

    def mutated(self, rng: Random) -> bytes:
        """The file with its content changed, or its bytes, or both; never empty."""
        odd = rng.random() < 0.6
        data = self.build(rng if odd else None)
        return (bytes_changed(data, rng) if not odd or rng.random() < 0.3 else data) or b"\x00"


def _table(rows: Rows, delimiter: str = ",") -> Build:
    def build(rng: Random | None) -> bytes:
        out = io.StringIO(newline="")
        mark = delimiter if rng is None or rng.random() < 0.9 else rng.choice(";|\t ,")
        end = "\n" if rng is None else rng.choice(("\n", "\n", "\r\n", "\r"))
        csv.writer(out, delimiter=mark, lineterminator=end).writerows(
            rows_changed(rows, rng) if rng else rows
        )
        return out.getvalue().encode("utf-8", "replace")

    return build


def _bytes(data: bytes) -> Build:
    return lambda rng: bytes_changed(data, rng) if rng else data


def _json(tree: Any) -> Build:
    return lambda rng: json.dumps(tree_changed(tree, rng) if rng else tree).encode()


def _json_lines(rng: Random | None) -> bytes:
    records = [dict(zip(_EDGES[0], row)) for row in _EDGES[1:]]
    return b"\n".join(json.dumps(r).encode() for r in (tree_changed(records, rng) if rng else records))


def _xml(writer: Callable[[Any, Any], None]) -> Build:
    graph = nx.DiGraph()
    graph.add_nodes_from((f"n{k}", {"age": 20 + k, "town": "Köln", "ok": True}) for k in range(4))
    graph.add_edges_from(
        (f"n{k}", f"n{(k + 1) % 4}", {"weight": 1.5, "amount": 3, "day": "2024-01-01"}) for k in range(4)
    )
    out = io.BytesIO()
    writer(graph, out)
    return _bytes(out.getvalue())


def _zip(**files: Build) -> Build:
    """An archive of these files; an odd one has another file among them, with an odd name."""

    def build(rng: Random | None) -> bytes:
        members = [(name.replace("_", "."), make(rng)) for name, make in files.items()]
        if rng is not None and rng.random() < 0.5:
            odd = (rng.choice(_ODD_NAMES), rng.choice((_MTX, _SNAP, b"", b"PK\x03\x04")))
            members.insert(rng.randrange(len(members) + 1), odd)
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive, _quiet():
            for name, data in members[: rng.choice((1, 2, 4, 4)) if rng else None]:
                archive.writestr(name, data)
        return out.getvalue()

    return build


@contextmanager
def _quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # names that are twice there, tensors that are deprecated
        yield


def _gzip(rng: Random | None) -> bytes:
    return gzip.compress(_table(_EDGES)(rng), mtime=0)


def _parquet(rows: Rows) -> Build:
    frame = pd.DataFrame(rows[1:], columns=rows[0])

    def build(rng: Random | None) -> bytes:
        table = pa.Table.from_pandas(frame)
        for _ in range(rng.choice((1, 1, 2)) if rng else 0):
            assert rng is not None
            at = rng.randrange(table.num_columns)
            table = table.set_column(at, table.column_names[at], _odd_column(table.num_rows, rng))
        out = io.BytesIO()
        parquet.write_table(table, out)
        return out.getvalue()

    return build


def _odd_column(n: int, rng: Random) -> Any:
    """A column of any type that Parquet knows."""
    texts = [rng.choice(CELLS).encode("utf-8", "replace").decode() for _ in range(n)]
    return rng.choice(
        (
            lambda: pa.array(texts),
            lambda: pa.array([None] * n, pa.null()),
            lambda: pa.array([[1, 2]] * n),
            lambda: pa.array([{"a": 1, "b": None}] * n),
            lambda: pa.array([[("k", 1)]] * n, pa.map_(pa.string(), pa.int64())),
            lambda: pa.array([b"\xff\x00"] * n),
            lambda: pa.array(range(n), pa.decimal128(38, 3)) if n else pa.array([]),
            lambda: pa.array(texts).dictionary_encode(),
            lambda: pa.array([2**62] * n, pa.timestamp("us")),
            lambda: pa.array([-(2**40)] * n, pa.timestamp("s")),
            lambda: pa.array([1] * n, pa.duration("ns")),
            lambda: pa.array([86399] * n, pa.time32("s")),
            lambda: pa.array([2**30] * n, pa.date32()),
            lambda: pa.array([True, None] * n)[:n],
            lambda: pa.array([float("nan"), float("inf"), 1e308, None] * n)[:n],
            lambda: pa.array([2**64 - 1] * n, pa.uint64()),
            lambda: pa.array([1700000000] * n, pa.timestamp("s", "Asia/Kolkata")),
            lambda: pa.array(np.ones(n, np.float16)),
            lambda: pa.array([b"abcd"] * n, pa.binary(4)),
            lambda: pa.array([[]] * n, pa.list_(pa.struct([("a", pa.string())]))),
        )
    )()  # fmt: skip


def _npz(arrays: dict[str, Array]) -> Build:
    def build(rng: Random | None) -> bytes:
        out = io.BytesIO()
        pack = np.savez if rng is None or rng.random() < 0.5 else np.savez_compressed
        pack(out, **(arrays_changed(arrays, rng, _NPZ_NAMES) if rng else arrays))
        return out.getvalue()

    return build


def _scipy(rng: Random | None) -> bytes:
    form = rng.choice(("csr", "csc", "coo", "bsr", "dia")) if rng else "csr"
    out = io.BytesIO()
    sp.save_npz(out, _RING.asformat(form))
    with np.load(io.BytesIO(out.getvalue())) as found:
        return _npz({k: found[k] for k in found.files})(rng)


def _mat(rng: Random | None) -> bytes:
    arrays: dict[str, Any] = {
        "Network": _RING.toarray(),
        "Attributes": np.eye(4),
        "Label": np.array([[0, 0, 1, 0]]).T,
    }
    if rng is not None:
        arrays = arrays_changed(arrays, rng, _MAT_NAMES)
        fit = {k: v for k, v in arrays.items() if v.dtype.kind in "biufcUS" and v.dtype.char not in "eg"}
        arrays = fit or {"Network": np.eye(2)}
        if rng.random() < 0.4:
            flat = {k: v for k, v in arrays.items() if v.ndim == 2 and v.dtype.kind in "bf"}
            arrays |= {k: sp.csc_array(v.astype(float)) for k, v in flat.items()}
    out = io.BytesIO()
    with _quiet():
        scipy.io.savemat(out, arrays, do_compression=bool(rng and rng.random() < 0.5))
    return out.getvalue()


def _pt(rng: Random | None) -> bytes:
    import torch

    arrays = arrays_changed(_ARRAYS, rng, (*_ARRAYS, "num_nodes", "more")) if rng else _ARRAYS
    fields: dict[Any, Any] = {k: torch.from_numpy(np.array(v)) for k, v in arrays.items() if _for_torch(v)}
    if rng is not None and fields and rng.random() < 0.6:
        name = rng.choice(list(fields))
        with _quiet():
            fields[name] = _odd_tensor(fields[name], rng)
    if rng is not None and rng.random() < 0.1:
        fields[rng.choice((1, None, ("a", "b"), b"x"))] = torch.zeros(2)
    out = io.BytesIO()
    torch.save(_wrapped(fields, rng), out)
    return out.getvalue()


def _for_torch(array: Array) -> bool:
    return array.dtype.kind in "biufc" and array.dtype.isnative and array.dtype.char not in "gIHLQ"


def _wrapped(fields: dict[Any, Any], rng: Random | None) -> Any:
    """The fields as a dict, as PyG's Data, or in a list."""
    if rng is None or rng.random() < 0.6:
        return fields
    if rng.random() < 0.2:
        return rng.choice(([fields], (fields, None), [], None, 3, "a", {"a": fields}))
    from torch_geometric.data import Data

    return Data.from_dict({k: v for k, v in fields.items() if isinstance(k, str)})


def _odd_tensor(tensor: Any, rng: Random) -> Any:
    """What else than a plain tensor may stand in a file."""
    import torch

    plain = tensor.float() if not tensor.is_complex() else tensor.real
    return rng.choice(
        (
            lambda: torch.quantize_per_tensor(plain, 0.1, 0, torch.qint8),
            plain.to_sparse,
            lambda: tensor.to_sparse_csr() if tensor.ndim == 2 else tensor.to_sparse(),
            lambda: torch.complex(plain, plain),
            lambda: plain.to(torch.bfloat16),
            lambda: plain.to(torch.float8_e4m3fn),
            lambda: torch.nn.Parameter(plain),
            lambda: tensor.to("meta"),
            lambda: torch.sparse_coo_tensor(torch.tensor([[0], [0]]), torch.ones(1), (10**9, 10**9)),
            lambda: (tensor if tensor.numel() else torch.zeros(1)).reshape(-1)[:1].expand(10**9),
            tensor.bool,
            tensor.tolist,
            lambda: [[1, 2], [3]],
            lambda: [None, "a"],
            lambda: rng.choice((None, 1, 2**70, -5, "a", b"x", {"a": 1}, True, float("nan"), (), {1, 2}, [])),
        )
    )()  # fmt: skip


def samples() -> list[Sample]:
    """One of every format and layout."""
    nodes, bulk = _table(_NODES), _table(_NEO4J_NODES)
    mapping = {"id": "id", "source": "source", "target": "target", "ignore": ["town"]}
    links = nx.node_link_data(nx.path_graph(4), edges="links")
    named = {"nodes": [{"id": k, "age": k, "tags": ["a"]} for k in "abc"],
             "edges": [{"source": "a", "target": "b", "time": 1, "amount": 2.5, "kind": "x"}]}  # fmt: skip
    citation = {**{f"adj_{k}": v for k, v in _TRIPLE.items()}, **{f"attr_{k}": v for k, v in _TRIPLE.items()}}
    return [
        Sample("csv edges", "edges.csv", _table(_EDGES)),
        Sample("csv bank", "transactions.csv", _table(_BANK, ";")),
        Sample("tsv", "edges.tsv", _table(_EDGES, "\t")),
        Sample("neo4j", "relations.csv", _table(_NEO4J_EDGES)),
        Sample("neo4j bulk", "bulk.zip", _zip(nodes_csv=bulk, knows_csv=_table(_NEO4J_EDGES))),
        Sample("neptune", "edges.csv", _table(_NEPTUNE)),
        Sample("edge list", "graph.txt", _bytes(_SNAP)),
        Sample("zeek log", "conn.log", _bytes(_ZEEK)),
        Sample("json lines", "edges.jsonl", _json_lines),
        Sample("parquet", "edges.parquet", _parquet(_EDGES)),
        Sample("graphml", "g.graphml", _xml(nx.write_graphml)),
        Sample("gexf", "g.gexf", _xml(nx.write_gexf)),
        Sample("node-link", "g.json", _json(links)),
        Sample("node-link named", "g.json", _json(named)),
        Sample("cytoscape", "g.cyjs", _json(nx.cytoscape_data(nx.path_graph(3)))),
        Sample("npz", "g.npz", _npz(_ARRAYS)),
        Sample("npz more", "g.npz", _npz({**_ARRAYS, **_MORE})),
        Sample("npz citation", "g.npz", _npz({**citation, "labels": _ARRAYS["y"]})),
        Sample("npz scipy", "g.npz", _scipy),
        Sample("mat", "g.mat", _mat),
        Sample("mtx", "g.mtx", _bytes(_MTX)),
        Sample("mtx dense", "g.mtx", _bytes(_DENSE_MTX)),
        Sample("pt", "g.pt", _pt),
        Sample("zip", "g.zip", _zip(nodes_csv=nodes, edges_csv=_table(_EDGES), mapping_json=_json(mapping))),
        Sample("gz", "edges.csv.gz", _gzip),
    ]  # fmt: skip
