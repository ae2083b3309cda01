"""Benchmark: models and strategies against each other, on the project and on graphs with known answers."""

from __future__ import annotations

import streamlit as st

from gadcore.practice.person import base_of
from pages.benchmark.calendar import show_calendar
from pages.benchmark.discovery import show_study
from pages.benchmark.own_labels import show_own
from pages.benchmark.paper import show_paper, show_results
from pages.benchmark.practice import show_practice, show_self_play
from pages.common.page import errors_shown, open_page, section
from pages.home.projects import literal

workspace = open_page("Benchmark")

with errors_shown():
    st.title("Benchmark")
    models, paper, strategies = st.tabs(
        ["Models", "The paper", "Practice"], key="benchmark-tab", on_change="rerun"
    )
    with models, section(f"Which model to trust on {literal(workspace.name)}"):
        show_own(workspace)
    if paper.open:  # a dozen figures, drawn when they are looked at
        with paper:
            show_paper()
            files = st.expander(
                "All result files", icon=":material/folder_open:", key="result-files", on_change="rerun"
            )
            if files.open:
                with files:
                    show_results()
    with strategies:
        base = base_of(workspace)
        if base.data.has_truth:
            with section(f"Practise yourself on {literal(base.name)}"):
                show_self_play(base)
        with section(f"What each strategy finds on {literal(base.name)}"):
            show_practice(base)
        with section("On graphs with known answers"):
            show_study()
        with section("As it would have been: over calendar time"):
            show_calendar()
