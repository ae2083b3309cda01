"""The embedding map at full size: colours, lasso, hypersphere, before and after a retrain."""

from __future__ import annotations

import streamlit as st

from pages.common.page import errors_shown, open_page
from pages.map.explorer import show_map_page

workspace = open_page("Map")
st.title("Map")
with errors_shown():
    show_map_page(workspace)
