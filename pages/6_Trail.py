"""Trail: who did what and when, over all projects; a filter, a file and a check."""

from __future__ import annotations

import streamlit as st

from gadcore.settings import Settings
from pages.common import state
from pages.common.page import errors_shown, set_up
from pages.trail.entries import choose, show_check, show_entries

set_up("Trail")

with errors_shown():
    state.check("trail")
    settings = Settings.from_env()
    st.title("Trail")
    st.caption("Every verdict, run, export, deletion and setting, in a chain that tells when it was changed.")
    show_check(settings)
    show_entries(settings, choose(settings))
