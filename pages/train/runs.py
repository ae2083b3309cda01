"""Train: the run at work with its live curves, and the list of all runs."""

from __future__ import annotations

import streamlit as st

from gadcore.detectors import REGISTRY
from gadcore.records import RunInfo
from gadcore.workspace import Workspace, auc_text
from pages.common import state
from pages.common.page import errors_shown, info
from pages.common.run_figures import curves_figure, show
from pages.home.projects import ago, literal

_STATUS = {
    "queued": (":material/schedule:", "gray"),
    "running": (":material/model_training:", "blue"),
    "done": (":material/check_circle:", "green"),
    "failed": (":material/error:", "red"),
    "cancelled": (":material/block:", "orange"),
}
_TELL = {
    "failed": (st.error, ":material/error:"),
    "done": (st.warning, ":material/warning:"),
    "cancelled": (st.info, ":material/block:"),
}
_NEWEST = 6  # runs listed at once
SHOWN = "train-shown-run"  # names the run whose curves are looked at; the newest when forgotten


def show_progress(workspace: Workspace) -> None:
    """The run at work, refreshed twice a second; without one, the curves of the run last looked at."""
    live = workspace.runs.active()
    st.fragment(_follow, run_every=0.5 if live else None)(workspace, live)


def _follow(workspace: Workspace, live: RunInfo | None) -> None:
    now = workspace.runs.active()
    if (now and (now.id, now.status)) != (live and (live.id, live.status)):
        st.rerun()  # it started, ended, or another one did: the whole page follows
    if shown := now or _looked_at(workspace):
        _progress(workspace, shown)
    else:
        info("No run yet. Train the default model: it ranks every node, even without a label.")


def _looked_at(workspace: Workspace) -> RunInfo | None:
    """The run chosen in the list, otherwise the newest."""
    runs, chosen = workspace.runs.all(), state.remembered(SHOWN)
    return next((run for run in runs if run.id == chosen), next(iter(runs), None))


def _progress(workspace: Workspace, run: RunInfo) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"**Run {run.number}**  ·  {title_of(run)}")
        _badge(run)
        if (
            run.live
            and workspace.may("runs.cancel")
            and st.button("Cancel", key="cancel", icon=":material/stop_circle:")
        ):
            workspace.runs.cancel(run.id)
            st.toast(f"Run {run.number} is asked to stop; labels are untouched.")
            st.rerun(scope="app")
    if run.live:
        share = min(1.0, run.epoch / run.epochs) if run.epochs else 0.0
        st.progress(share, text=progress_text(run))
    elif run.message:
        say, icon = _TELL[run.status]
        say(f"Run {run.number} {run.status}: {literal(run.message)}", icon=icon)
    show(curves_figure(workspace.runs.history(run.id)), "curves")
    st.caption(figures_text(run))


def progress_text(run: RunInfo) -> str:
    """The worker's own words: stage and epoch."""
    if run.status == "queued":
        return "Waiting for the training process …"
    if not run.epochs:
        return f"{run.stage or 'Starting'} …"
    return f"{run.stage or 'training'}: {run.epoch:,} of {run.epochs:,}"


def figures_text(run: RunInfo) -> str:
    """Labels, AUC, loss, time and device of a run on one line."""
    parts = [f"{run.normal} normal and {run.anomalous} anomalous labels"]
    parts.append(f"out-of-fold AUC {auc_text(run)}" if auc_text(run) else "no out-of-fold AUC")
    if run.loss is not None:
        parts.append(f"loss {run.loss:.4g}")
    if run.seconds is not None:
        parts.append(f"{run.seconds:.1f} s on {run.device}")
    return " · ".join(parts)


def title_of(run: RunInfo) -> str:
    """The model's title, or its name when the registry no longer has it."""
    return REGISTRY[run.model].title if run.model in REGISTRY else run.model


def parameters_text(run: RunInfo) -> str:
    """Parameters that differ from the defaults."""
    given = ", ".join(f"{name.rstrip('_')} = {value}" for name, value in sorted(run.params.items()))
    return given or "default parameters"


def _badge(run: RunInfo) -> None:
    icon, colour = _STATUS[run.status]
    st.badge(run.status, icon=icon, color=colour)  # type: ignore[arg-type]
    if run.in_use:
        st.badge("in use", icon=":material/push_pin:", color="violet")


def show_runs(workspace: Workspace) -> None:
    """All runs, newest first: figures, roll back, delete."""
    runs = workspace.runs.all()
    if not runs:
        st.caption("None yet.")
    for run in runs[:_NEWEST]:
        _run_row(workspace, run)
    if len(runs) > _NEWEST:
        with st.expander(f"{len(runs) - _NEWEST} earlier runs"):
            for run in runs[_NEWEST:]:
                _run_row(workspace, run)


def _run_row(workspace: Workspace, run: RunInfo) -> None:
    with st.container(border=True, key=f"run-{run.number}"):
        text, buttons = st.columns([3, 2], vertical_alignment="center")
    with text:
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.markdown(f"**Run {run.number}**  ·  {title_of(run)}")
            _badge(run)
        started = f" · {ago(run.started_at)}" if run.started_at else ""
        st.caption(f"{figures_text(run)}  \n{literal(parameters_text(run))}{started}")
        if run.message and not run.live:
            st.markdown(f":red[{literal(run.message)}]")
    with buttons.container(horizontal=True, horizontal_alignment="right", gap="small"):
        if st.button("Curves", key=f"curves-{run.number}", icon=":material/show_chart:", type="tertiary"):
            state.remember(SHOWN, run.id)
            st.rerun()
        earlier = run.status == "done" and not run.in_use and workspace.may("runs.use")
        if earlier and st.button("Use this run", key=f"use-{run.number}", icon=":material/history:"):
            with errors_shown(go_on=True):
                workspace.runs.use(run.id)
                st.toast(f"The scores of run {run.number} are in use.")
                st.rerun()
        if not run.live and workspace.may("runs.delete"):
            with st.popover("Delete", icon=":material/delete:", type="tertiary"):
                _delete(workspace, run)


def _delete(workspace: Workspace, run: RunInfo) -> None:
    st.markdown(f"Delete run {run.number} with its scores and model? Labels stay.")
    if st.button("Delete for good", key=f"delete-{run.number}", type="primary", icon=":material/delete:"):
        with errors_shown(go_on=True):
            workspace.runs.delete(run.id)
            st.rerun()
