"""Trail: the entries as a table, narrowed by who, action and project."""

from __future__ import annotations

from typing import Any

import streamlit as st

from gadcore.records import TrailEntry
from gadcore.settings import Settings
from gadcore.workspace import Workspace, trail

SHOWN = 1000  # entries on the page and in its file
ALL = "all"


def choose(settings: Settings) -> dict[str, str]:
    """The filter that the page is given; {} for all."""
    names = {project.id: project.name for project in Workspace.projects(settings)}
    wanted = {}
    for place, (column, title) in zip(
        st.columns(3), (("who", "Who"), ("action", "Action"), ("project", "Project"))
    ):
        options = [ALL, *(value for value in trail.values(settings, column) if value)]
        chosen = place.selectbox(
            title, options, key=f"trail-{column}", format_func=lambda value: names.get(value, value)
        )
        if chosen != ALL:
            wanted[column] = chosen
    return wanted


def show_entries(settings: Settings, wanted: dict[str, str]) -> None:
    """The newest entries, and a file of them."""
    found = trail.entries(settings, SHOWN, **wanted)
    if not found:
        st.info("No entry yet: nothing has been done in this workspace.", icon=":material/history:")
        return
    st.dataframe([_row(entry) for entry in found], hide_index=True, width="stretch", key="trail-table")
    more = f" The newest {SHOWN:,} are shown; ringfence trail -n writes more." if len(found) == SHOWN else ""
    st.caption(f"{len(found):,} entries, times in UTC.{more}")
    st.download_button(
        "CSV with hashes", trail.as_csv(found), "trail.csv", "text/csv", icon=":material/download:"
    )


def _row(entry: TrailEntry) -> dict[str, Any]:
    told = {key: value for key, value in entry.details.items() if key not in ("sha256", "events")}
    return {
        "number": entry.number,
        "at": entry.at.replace(tzinfo=None),
        "who": entry.who or "worker",
        "action": entry.action,
        "project": entry.project,
        "details": ", ".join(f"{key}: {value}" for key, value in told.items() if value not in (None, "")),
    }


def show_check(settings: Settings) -> None:
    """A button that checks the whole trail and says what it found."""
    if not st.button("Check the trail", key="trail-check", icon=":material/verified:"):
        return
    found = trail.verified(settings)
    if found.problems:
        st.error("\n".join(f"- {problem}" for problem in found.problems), icon=":material/gpp_bad:")
    else:
        st.success(f"{found.entries:,} entries, nothing was changed, left out or cut off. Head: {found.head}")
