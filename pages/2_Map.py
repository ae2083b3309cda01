"""The embedding map at full size: colours, lasso, hypersphere, before and after a retrain."""

from __future__ import annotations

import streamlit as st

from pages.shared import map_page
from pages.shared.page import errors_shown, open_page

workspace = open_page("Map")
st.title("Map")
with errors_shown():
    map_page.draw(workspace)
