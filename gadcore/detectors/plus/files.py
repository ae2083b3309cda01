"""Files of ``an+``, readable without torch.

detector.json
    basis, auc
    members     list of {name, kind, weight, auc}, and by kind
                  linear, standard, background   hops, unit, intercept, strength
                  smoothed                       the same of its source, offset f̄, and walk: true
                  diffused                       the same; hops is 4, or 5 for the even one (members.py)
                  trees                          hops, file of the booster, wide: rows are sparse
                  sphere                         row i: its arrays are sphere.m{i}.…
    labelled    node ids in the order of signed_weights
    directions  hops of the leading directions, where there are any
    unit        whether ``attributes`` and ``residual`` use unit rows
    sphere      state of the hypersphere members, or null
model.safetensors
    scores (N,), spread (N,), out_of_fold (N,) where known, embedding (N, K), centre (K,)
    member{j}.scores (N,)        raw scores, which rank both these nodes and later ones
    member{j}.coefficient (D,)   w of linear, standard, background, smoothed and diffused members
    member{j}.usual (D,)         mean row of a diffused member
    signed_weights (n,)          balanced label weights, negative for normal, of the propagation member
    rare (D,)                    weights of columns, where a member is diffused
    directions (D, r), directions.centre (r,)     without both labels only
    shift (D,), spread_of_columns (D,)            without anomalous labels only
    sphere.…                     arrays of the hypersphere (names in hypersphere.py)

The score of node v is Σ_j weight_j · percentile of member{j}.scores[v] within member{j}.scores.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gadcore.detectors.arrays import load_arrays, save_arrays
from gadcore.detectors.baselines.linear import Head
from gadcore.detectors.plus.members import Member
from gadcore.detectors.plus.reduced import Directions
from gadcore.detectors.plus.scoring import Memory
from gadcore.detectors.plus.unlabelled import Scale
from gadcore.errors import ModelError

if TYPE_CHECKING:
    from gadcore.detectors.plus.detector import AnPlus

SPHERE = "sphere."
Arrays = dict[str, npt.NDArray[Any]]


def write_model(model: AnPlus, memory: Memory, folder: Path) -> dict[str, Any]:
    """Write arrays and boosters; return the state for detector.json."""
    optional = {
        "out_of_fold": model.out_of_fold_,
        "spread": model.spread_,
        "embedding": model.embedding_,
        "centre": model.centre_,
        "directions": None if memory.directions is None else memory.directions.components,
        "directions.centre": memory.centre,
        "shift": None if memory.scale is None else memory.scale.shift,
        "spread_of_columns": None if memory.scale is None else memory.scale.spread,
        "rare": memory.rare,
    }
    arrays: Arrays = {"scores": model.scores_, "signed_weights": memory.signed_weights}
    arrays |= {name: value for name, value in optional.items() if value is not None}
    rows = []
    for j, (member, weight) in enumerate(zip(model.members_, model.weights_)):
        arrays[f"member{j}.scores"] = member.scores
        if member.head is not None:
            arrays[f"member{j}.coefficient"] = member.head.coefficient
        if member.usual is not None:
            arrays[f"member{j}.usual"] = member.usual
        rows.append(_row(member, float(weight), model.member_aucs_[j], f"booster{j}.ubj"))
        if member.booster is not None:
            member.booster.save_model(folder / f"booster{j}.ubj")
    if memory.spheres is not None:
        arrays |= {SPHERE + name: value for name, value in memory.spheres.arrays().items()}
    save_arrays(folder, arrays)
    return {
        "basis": model.basis_,
        "auc": model.auc_,
        "members": rows,
        "labelled": list(memory.labelled),
        "directions": None if memory.directions is None else memory.directions.hops,
        "unit": None if memory.scale is None else memory.scale.unit,
        "sphere": None if memory.spheres is None else memory.spheres.state(),
    }


def read_model(model: AnPlus, folder: Path, state: dict[str, Any]) -> Memory:
    """Restore the fitted attributes; ModelError when something is missing."""
    arrays = load_arrays(folder)
    try:
        rows = state["members"]
        model.members_ = [_member(row, j, arrays, folder) for j, row in enumerate(rows)]
        model.weights_ = np.array([row["weight"] for row in rows])
        model.member_aucs_ = [row["auc"] for row in rows]
        model.scores_, model.auc_, model.basis_ = arrays["scores"], state["auc"], state["basis"]
        model.spread_, model.out_of_fold_ = arrays.get("spread"), arrays.get("out_of_fold")
        model.embedding_, model.centre_ = arrays.get("embedding"), arrays.get("centre")
        return _memory(model, arrays, state)
    except (KeyError, IndexError, RuntimeError) as error:
        raise ModelError(f"{folder} holds no complete 'an+' model ({error}). Train it again.") from error


def _row(member: Member, weight: float, quality: float | None, file: str) -> dict[str, Any]:
    row: dict[str, Any] = {"name": member.name, "kind": member.kind, "weight": weight, "auc": quality}
    if member.head is not None:
        head = member.head
        row |= {"hops": head.hops, "unit": head.unit, "intercept": head.intercept, "strength": head.strength}
        row["offset"] = member.offset
    if member.kind == "smoothed":
        row["walk"] = True  # models without it smoothed by Â
    if member.booster is not None:
        row |= {"hops": member.hops, "wide": member.wide, "booster": file}
    if member.row >= 0:
        row["row"] = member.row
    return row


def _member(row: dict[str, Any], j: int, arrays: Arrays, folder: Path) -> Member:
    if row["kind"] == "smoothed" and not row.get("walk"):
        raise KeyError("a smoothed member of an earlier version")
    head, booster = None, None
    if f"member{j}.coefficient" in arrays:
        head = Head(
            row["hops"], row["unit"], arrays[f"member{j}.coefficient"], row["intercept"], row["strength"]
        )
    if "booster" in row:
        from gadcore.detectors.baselines.trees import read_booster

        booster = read_booster(folder / row["booster"])
    return Member(
        row["name"],
        row["kind"],
        arrays[f"member{j}.scores"],
        None,
        head,
        row.get("offset", 0.0),
        booster,
        row["hops"] if booster is not None else 0,
        row.get("wide", False),
        arrays.get(f"member{j}.usual"),
        row.get("row", -1),
    )


def _memory(model: AnPlus, arrays: Arrays, state: dict[str, Any]) -> Memory:
    spheres = None
    if state["sphere"] is not None:
        from gadcore.detectors.nn.devices import pick_device
        from gadcore.detectors.sphere.sphere_members import restore_members

        own = {name.removeprefix(SPHERE): a for name, a in arrays.items() if name.startswith(SPHERE)}
        spheres = restore_members(own, state["sphere"], model.sphere_options(), pick_device(model.device))
    directions = None
    if state["directions"] is not None:
        directions = Directions(state["directions"], arrays["directions"])
    scale = None
    if state["unit"] is not None:
        scale = Scale(state["unit"], arrays["shift"], arrays["spread_of_columns"])
    centre = arrays.get("directions.centre")
    labelled, signed = tuple(state["labelled"]), arrays["signed_weights"]
    wide = any(row["kind"] == "diffused" for row in state["members"])
    rare = arrays["rare"] if wide else None
    return Memory(labelled, signed, directions, centre, scale, rare, spheres)
