"""Benchmark: the methods against each other on the project's own labels, as runs of the training process.

The runs of a comparison are queued together and kept as a preference of the project, so that a reload or a
second browser shows the same comparison. The run in use stays in use until someone chooses another.
"""

from __future__ import annotations

import plotly.graph_objects as go
import streamlit as st

from gadcore.detectors import REGISTRY
from gadcore.records import RunInfo
from gadcore.workspace import Estimate, Workspace, advice, estimates, same_labels
from pages.benchmark.charts import spread_dots
from pages.common import palette
from pages.common.page import LABEL, errors_shown
from pages.common.run_figures import show, tidy
from pages.train.form import DEFAULT_MODEL, missing_labels
from pages.train.runs import progress_text, title_of

_COMPARISON = "comparison"  # preference: {"runs": [ids]}
_FIRST = ("an+", "an", "sgc-lr", "xgb-graph", "isolation-forest", "label-propagation")


def show_own(workspace: Workspace) -> None:
    """Choose methods, watch them train one after the other, see which to trust."""
    possible = [name for name in REGISTRY if not missing_labels(workspace, name)]
    counts = workspace.verdicts.counts()
    st.caption(
        f"Each method learns from your {counts['normal']} normal and {counts['anomalous']} anomalous labels, "
        "and is judged on labels it did not see."
    )
    if not (counts["normal"] and counts["anomalous"]):
        st.info(
            "A comparison needs labels of both kinds. Mark at least three normal and three anomalous nodes, "
            "then come back.",
            icon=":material/label:",
        )
        st.page_link(LABEL, label="Go to Label", icon=":material/label:")
        return
    runs = _runs(workspace)
    live = any(run.live for run in runs)
    first = [name for name in _FIRST if name in possible]
    chosen = st.multiselect(
        "Methods", possible, default=first, format_func=lambda name: REGISTRY[name].title, key="methods"
    )
    icon, idle = ":material/balance:", live or not chosen or not workspace.may("runs.start")
    if st.button("Compare on my labels", key="compare", type="primary", icon=icon, disabled=idle):
        _start(workspace, chosen)
    if runs:
        st.fragment(_board, run_every=0.5 if live else None)(workspace, live)


def _start(workspace: Workspace, models: list[str]) -> None:
    with errors_shown(go_on=True):
        # The default comes first: if no run is in use, the first that ends takes the place.
        ordered = sorted(models, key=lambda model: model != DEFAULT_MODEL)
        started = [workspace.runs.start(model, warm=False, use=False).id for model in ordered]
        workspace.set_preference(_COMPARISON, {"runs": started})
        st.rerun()


def _runs(workspace: Workspace) -> list[RunInfo]:
    """Runs of the comparison that still exist, in the order they were started."""
    by_id = {run.id: run for run in workspace.runs.all()}
    kept = workspace.preference(_COMPARISON) or {"runs": []}
    return [by_id[run_id] for run_id in kept["runs"] if run_id in by_id]


def _board(workspace: Workspace, live: bool) -> None:
    runs = _runs(workspace)
    working = [run for run in runs if run.live]
    if live and not working:
        st.rerun()
    if working:
        _progress(workspace, runs, working)
    found = estimates(runs)
    if found:
        _advice(found, len(runs) - len(working), len(runs))
        _figures(workspace, found)
    for run in runs:
        if run.status in ("failed", "cancelled"):
            st.warning(f"{title_of(run)} {run.status}. {run.message}", icon=":material/warning:")


def _progress(workspace: Workspace, runs: list[RunInfo], working: list[RunInfo]) -> None:
    now = next((run for run in working if run.status == "running"), working[0])
    ended = len(runs) - len(working)
    bar, button = st.columns([5, 1], vertical_alignment="center")
    bar.progress(
        ended / len(runs), text=f"{ended} of {len(runs)} done. {title_of(now)}: {progress_text(now)}"
    )
    if button.button("Cancel", key="cancel-comparison", icon=":material/stop_circle:"):
        for run in working:
            workspace.runs.cancel(run.id)
        st.rerun(scope="app")


def _advice(found: list[Estimate], ended: int, total: int) -> None:
    """Which method to trust; while some still train, only what holds so far."""
    text = advice(found, DEFAULT_MODEL, lambda name: REGISTRY[name].title)
    if ended < total:
        st.info(f"So far, with {ended} of {total} methods done: {text}", icon=":material/hourglass_top:")
    else:
        st.success(text, icon=":material/verified:")


def _figures(workspace: Workspace, found: list[Estimate]) -> None:
    show(estimate_figure(found), "estimates")
    st.caption(
        "Dots: AUC over labels held out in turn, as in the list of runs; lines: a cautious 90 % interval. "
        "The figure also chose the settings, and labels that a query chose are no random sample: a "
        "difference shorter than the lines means nothing."
    )
    if not same_labels(found):
        st.warning(
            "Labels were added while the methods trained, so not all learned from the same. Compare again.",
            icon=":material/warning:",
        )
    used = workspace.runs.in_use()
    for estimate in found:
        _row(workspace, estimate, in_use=used is not None and used.id == estimate.run.id)


def _row(workspace: Workspace, estimate: Estimate, *, in_use: bool) -> None:
    run = estimate.run
    with st.container(border=True, horizontal=True, vertical_alignment="center", key=f"method-{run.model}"):
        st.markdown(f"**{title_of(run)}**", width="stretch")
        st.markdown(f"AUC **{'–' if estimate.auc is None else f'{estimate.auc:.3f}'}**")
        st.markdown("" if estimate.low is None else f"{estimate.low:.2f} to {estimate.high:.2f}")
        st.markdown("–" if run.seconds is None else f"{run.seconds:.1f} s")
        if in_use:
            st.badge("in use", icon=":material/push_pin:", color="violet")
        elif st.button("Use it", key=f"use-{run.model}", icon=":material/check:"):
            workspace.runs.use(run.id)
            st.toast(f"{title_of(run)} now ranks the queue.")
            st.rerun(scope="app")


def estimate_figure(found: list[Estimate]) -> go.Figure:
    """AUC of each method with its interval, best on top."""
    known = [(e, e.auc) for e in reversed(found) if e.auc is not None]
    low = [auc - (auc if e.low is None else e.low) for e, auc in known]
    high = [(auc if e.high is None else e.high) - auc for e, auc in known]
    look = {"marker": {"size": 11, "color": palette.NORMAL}, "hovertemplate": "%{y}: %{x:.3f}<extra></extra>"}
    figure = go.Figure(
        spread_dots([title_of(e.run) for e, _ in known], [a for _, a in known], low, high, **look)
    )
    figure.add_vline(x=0.5, line={"color": palette.UNLABELLED, "width": 1, "dash": "dot"})
    lowest = min((auc - below for (_, auc), below in zip(known, low)), default=1.0)
    figure.update_xaxes(title_text="out-of-fold AUC", range=[0.0 if lowest < 0.4 else 0.4, 1.02])
    return tidy(figure, 90 + 42 * max(1, len(known)))
