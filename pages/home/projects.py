"""Home: the projects as cards, opened, trained or deleted from there."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from html import escape
from pathlib import Path

import streamlit as st

from gadcore.records import ProjectInfo, RunInfo
from gadcore.workspace import Workspace, auc_text
from pages.common import palette, state
from pages.common.page import LABEL, errors_shown

DEMO = "demo"
ADD_TO = "update"  # in the address: the project that files are added to
_PER_ROW = 3
_CSS = Path(__file__).with_name("home.css")
_GLYPHS = {"anomalous": "◆", "normal": "■", "unsure": "▲"}


def show_style() -> None:
    """The style of the cards."""
    st.html(f"<style>{_CSS.read_text(encoding='utf-8')}</style>")


def warm_up(projects: Sequence[ProjectInfo]) -> None:
    """Start the training process ahead of its first use; this returns at once."""
    if projects:
        state.workspace(projects[0].id).runs.start_worker()


def show_welcome() -> None:
    """The first visit: what will happen, in three steps."""
    steps = {
        "Load a graph": "Open the demo above, or bring tables, an archive or a benchmark below.",
        "Label the queue": "Cases come ranked from the start. A anomalous, N normal, U unsure: one key each.",
        "Retrain and export": "The ranking follows your verdicts. Export the flagged nodes with reasons.",
    }
    for number, (column, (title, text)) in enumerate(zip(st.columns(3), steps.items()), start=1):
        head = f'<div class="rf-name"><span class="rf-step">{number}</span>{title}</div>'
        with column.container(border=True):
            st.html(f'<div class="rf-card">{head}<div class="rf-faint">{text}</div></div>')


def open_project(project_id: str) -> None:
    """Go to the labelling screen of a project."""
    state.choose_project(project_id)
    st.switch_page(LABEL, query_params={"project": project_id})


def open_demo() -> None:
    """Import the demo at the first use, then go to its labelling screen."""
    with errors_shown(go_on=True):
        with st.spinner("Preparing the demo …"):
            demo = Workspace.open_demo(who=state.who())
        open_project(demo.id)


def show_projects(projects: Sequence[ProjectInfo]) -> None:
    """All projects as cards, newest first."""
    for start in range(0, len(projects), _PER_ROW):
        for column, project in zip(st.columns(_PER_ROW), projects[start : start + _PER_ROW]):
            with column:
                _card(project)


def _card(project: ProjectInfo) -> None:
    with st.container(border=True, key=f"project-{project.id}"):
        st.html(card_html(project))
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            if st.button("Open", key=f"open-{project.id}", type="primary", icon=":material/play_arrow:"):
                open_project(project.id)
            grows = state.may("data.store") and not project.practice_of
            if grows and st.button(
                "Add data", key=f"add-{project.id}", type="tertiary", icon=":material/add:"
            ):
                add_to(project.id)
            if state.may("projects.delete"):
                with st.popover("Delete", icon=":material/delete:", type="tertiary"):
                    _delete(project)


def add_to(project_id: str) -> None:
    """Show the form that adds files to a project."""
    st.query_params[ADD_TO] = project_id
    st.rerun()


def _delete(project: ProjectInfo) -> None:
    labels = project.normal + project.anomalous + project.unsure
    st.markdown(f"Delete **{literal(project.name)}** with its {labels:,} labels and all runs?")
    st.caption("This cannot be undone. Export the labels first if anyone may need them.")
    if st.button("Delete for good", key=f"delete-{project.id}", type="primary", icon=":material/delete:"):
        with errors_shown(go_on=True):
            state.delete_project(project.id)
            st.toast(f"{project.name} was deleted.")
            st.rerun()


def card_html(project: ProjectInfo) -> str:
    """What is on a card: name, size, verdicts, last run, owner and age."""
    return f"""
<div class="rf-card">
  <div class="rf-name" title="{escape(project.name)}">{escape(project.name)}</div>
  {practice_mark(project)}
  <div class="rf-size"><b>{project.n_nodes:,}</b> nodes · <b>{project.n_edges:,}</b> edges ·
    <b>{project.n_features:,}</b> features</div>
  <div class="rf-verdicts">{verdict_chips(project.anomalous, project.normal, project.unsure)}</div>
  <div class="rf-faint">{escape(last_run_text(project.last_run))}</div>
  {version_line(project)}{risen_line(project)}
  <div class="rf-faint">{escape(project.owner)} · created {ago(project.created_at)}</div>
</div>"""


def version_line(project: ProjectInfo) -> str:
    """Which version of the graph it is, where there was an update."""
    if project.version == 1:
        return ""
    found = state.workspace(project.id).data.versions()
    told = next(version.summary for version in found if version.present)
    return f'<div class="rf-faint">Version {project.version}: {escape(told)}</div>'


def risen_line(project: ProjectInfo) -> str:
    """Nodes of the analyst's watchlist that have risen."""
    watched = state.workspace(project.id).cases.watched(analyst=state.analyst())
    risen = [f"{node.name} ({node.told})" for node in watched if node.risen]
    if not risen:
        return ""
    more = f" and {len(risen) - 3} more" if len(risen) > 3 else ""
    return f'<div class="rf-risen">Watched, and risen: {escape(", ".join(risen[:3]))}{more}</div>'


def practice_mark(project: ProjectInfo) -> str:
    """Marks a practice copy, so that nobody takes its labels for real work."""
    if not project.practice_of:
        return ""
    return f'<div class="rf-practice">Practice copy of {escape(project.practice_of)}</div>'


def verdict_chips(anomalous: int, normal: int, unsure: int) -> str:
    """Label counts as coloured marks; the shapes are those of the graph view."""
    if not anomalous + normal + unsure:
        return '<span class="rf-faint">no labels yet</span>'
    counts = {"anomalous": anomalous, "normal": normal, "unsure": unsure}
    return " ".join(
        f'<span class="rf-chip"><i style="color:{palette.VERDICT_COLOURS[word]}">{_GLYPHS[word]}</i> '
        f"{count:,} {word}</span>"
        for word, count in counts.items()
    )


def last_run_text(run: RunInfo | None) -> str:
    """One line on the newest run."""
    if run is None:
        return "Not ranked yet: open it and the first ranking starts"
    if run.live:
        return f"Run {run.number} ({run.model}) is {'training' if run.status == 'running' else 'waiting'} now"
    if run.status != "done":
        return f"Run {run.number} ({run.model}) {run.status}"
    auc = f"out-of-fold AUC {auc_text(run)}" if auc_text(run) else "no estimate yet"
    return f"Run {run.number} ({run.model}), {auc}, {ago(run.ended_at)}"


def ago(moment: datetime | None, now: datetime | None = None) -> str:
    """A time as people say it: just now, 5 min ago, 3 h ago, 12 days ago, or a date."""
    if moment is None:
        return "at an unknown time"
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    seconds = ((now or datetime.now(UTC)) - aware).total_seconds()
    if seconds < 60:
        return "just now"
    if seconds < 3600:
        return f"{int(seconds // 60)} min ago"
    if seconds < 86400:
        return f"{int(seconds // 3600)} h ago"
    days = int(seconds // 86400)
    if days <= 30:
        return "yesterday" if days == 1 else f"{days} days ago"
    return f"on {aware:%d %b %Y}"


def literal(text: str) -> str:
    """Text inside Markdown, taken literally."""
    return "".join(f"\\{c}" if c in r"\`*_{}[]()#+-.!|<>$:~" else c for c in text)
