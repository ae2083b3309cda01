"""Train: start a run, watch it, learn what is left and what moved, compare runs, roll back."""

from __future__ import annotations

import streamlit as st

from pages.common.page import errors_shown, open_page
from pages.train.compare import show_comparison
from pages.train.form import show_form
from pages.train.insight import show_insight
from pages.train.runs import show_progress, show_runs

workspace = open_page("Train")

with errors_shown():
    st.title("Train")
    st.caption(f"{workspace.name}: every run keeps its parameters, its labels and its scores.")
    form, progress = st.columns([1, 2.4], gap="medium")
    with form.container(border=True):
        st.markdown("##### New run")
        show_form(workspace)
    with progress.container(border=True):
        show_progress(workspace)
    st.markdown("##### What the labels say")
    show_insight(workspace)
    st.markdown("##### Runs")
    show_runs(workspace)
    st.markdown("##### Compare two runs")
    show_comparison(workspace)
