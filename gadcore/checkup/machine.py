"""What the machine gives: a folder, room on the disk, a device to train on, worker processes."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from gadcore.checkup.finding import Finding
from gadcore.errors import GadError
from gadcore.jobs.workers import LANES, state
from gadcore.settings import Settings

LITTLE, TOO_LITTLE = 5 * 1024**3, 500 * 1024**2  # bytes that are free


def folder(settings: Settings) -> Finding:
    there = _nearest(settings.home)
    if not there.is_dir() or not os.access(there, os.W_OK | os.X_OK):
        fix = "Set GAD_HOME to a folder that this user may write to."
        return Finding.problem("folder", f"{settings.home} cannot be written to", fix)
    return Finding.ok(
        "folder", f"{settings.home}{'' if there == settings.home else ', made at the first use'}"
    )


def disk(settings: Settings) -> Finding:
    free = shutil.disk_usage(_nearest(settings.home)).free
    said = f"{free / 1024**3:,.1f} GiB free"
    if free < TOO_LITTLE:
        return Finding.problem("disk", said, "Make room: without it verdicts cannot be stored.")
    if free < LITTLE:
        return Finding.warning("disk", said, "Make room: a graph needs about eight times its attributes.")
    return Finding.ok("disk", said)


def device(settings: Settings) -> Finding:
    """Where training takes place; this loads torch."""
    import torch

    from gadcore.detectors.nn.devices import pick_device

    try:
        chosen = pick_device(settings.device)
    except GadError as error:
        return Finding.problem("device", str(error), "Set GAD_DEVICE to auto, or unset it.")
    said = f"{chosen} (torch {torch.__version__}, {settings.threads} thread(s))"
    if chosen.type == "cuda":
        about = torch.cuda.get_device_properties(chosen)
        said += f", {about.name}, {about.total_memory / 1024**3:,.0f} GiB"
    return Finding.ok("device", said)


def workers(settings: Settings) -> Finding:
    alive = [lane for lane in LANES if state(settings, lane)["alive"]]
    if alive:
        return Finding.ok("workers", f"at work: {', '.join(alive)}")
    return Finding.ok("workers", "none now; they start with the app and with jobs")


def _nearest(path: Path) -> Path:
    """The folder itself, or the first one above it that is there."""
    return next(each for each in (path, *path.parents) if each.exists())
