"""Rows for tests of the database."""

from __future__ import annotations

RUN = {  # columns of a run
    "model": "sgc-lr", "params": {"k": 2}, "seed": 3, "device": "cpu", "graph_fingerprint": "f",
    "label_hash": "h", "normal": 1, "anomalous": 2, "unsure": 0,
}  # fmt: skip
