"""Export: the flagged list with reasons and provenance, labels, the model and a report."""

from __future__ import annotations

import streamlit as st

from pages.common.page import errors_shown, open_page
from pages.export.downloads import (
    kept_table,
    show_case_file,
    show_freshness,
    show_labels_download,
    show_list_downloads,
    show_model_download,
)
from pages.export.filters import choose_filters, show_preview

workspace = open_page("Export")

with errors_shown():
    st.title("Export")
    result = workspace.runs.result()
    if result is None:
        st.info(
            "There are no scores yet, so nothing can be flagged. Train a model first; it takes seconds.",
            icon=":material/info:",
        )
        st.page_link("pages/3_Train.py", label="Go to Train", icon=":material/model_training:")
        with st.container(border=True):
            show_labels_download(workspace)
        st.stop()
    st.caption(f"{workspace.name}: the flagged nodes with reasons, ready for a case file or a pipeline.")
    show_freshness(workspace, result.info)
    side, list_ = st.columns([1, 3.2], gap="medium")
    files = st.empty()  # the buttons of the choice before go at once: Streamlit has forgotten their files
    with side.container(border=True):
        st.markdown("##### Filters")
        filters = choose_filters(workspace, result)
    table = kept_table(workspace, result.info, filters)
    with list_:
        show_preview(result, table, filters)
    with files.container():
        st.markdown("##### Flagged list")
        show_list_downloads(workspace, result.info, table, filters)
        st.markdown("##### More files")
        report, labels, model = st.columns(3)
        with report.container(border=True, height="stretch"):
            show_case_file(workspace, result.info, filters)
        with labels.container(border=True, height="stretch"):
            show_labels_download(workspace)
        with model.container(border=True, height="stretch"):
            show_model_download(workspace, result.info)
