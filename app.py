"""Home: projects as cards, the demo in one click, a new project from files, a path or a benchmark."""

from __future__ import annotations

import streamlit as st

from gadcore.workspace import Workspace
from pages.common import state
from pages.common.page import errors_shown, set_up
from pages.home.add_data import show_add_data
from pages.home.new_project import show_new
from pages.home.projects import DEMO, open_demo, show_projects, show_style, show_welcome, warm_up

set_up("Home")
show_style()

with errors_shown():
    projects = Workspace.projects()
    warm_up(projects)

title, demo = st.columns([4, 1], vertical_alignment="center")
with title:
    st.title("Ringfence")
    st.caption("Mark nodes as normal or anomalous; the detector learns from every verdict.")
with demo:
    first = not projects
    missing = DEMO not in {project.name for project in projects} and state.may("projects.demo")
    if missing and st.button(
        "Open the demo",
        key="demo",
        type="primary" if first else "secondary",
        icon=":material/science:",
        width="stretch",
        help="A payments network of 4,000 invented accounts, a few per cent of them fraudulent.",
    ):
        open_demo()

with errors_shown():
    if projects:
        st.markdown("##### Projects")
        show_projects(projects)
    else:
        show_welcome()
    show_add_data(projects)
    if state.may("projects.create"):
        st.markdown("##### New project")
        with st.container(border=True, key="new-project"):
            show_new()
