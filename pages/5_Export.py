"""Export: the flagged list with reasons and provenance, labels, the model and a report."""

from __future__ import annotations

import streamlit as st

from pages.common.page import TRAIN, errors_shown, info, open_page
from pages.export import downloads
from pages.export.filters import choose_filters, show_preview

workspace = open_page("Export")

with errors_shown():
    st.title("Export")
    result = workspace.runs.result()
    if result is None:
        info("There are no scores yet, so nothing can be flagged. Train a model first; it takes seconds.")
        st.page_link(TRAIN, label="Go to Train", icon=":material/model_training:")
        with st.container(border=True):
            downloads.show_labels_download(workspace)
        st.stop()
    st.caption(f"{workspace.name}: the flagged nodes with reasons, ready for a case file or a pipeline.")
    downloads.show_freshness(workspace, result.info)
    side, list_ = st.columns([1, 3.2], gap="medium")
    files = st.empty()  # the buttons of the choice before go at once: Streamlit has forgotten their files
    with side.container(border=True):
        st.markdown("##### Filters")
        filters = choose_filters(workspace, result)
    table = downloads.kept_table(workspace, result.info, filters)
    with list_:
        show_preview(result, table, filters)
    with files.container():
        st.markdown("##### Flagged list")
        downloads.show_list_downloads(workspace, result.info, table, filters)
        st.markdown("##### More files")
        report, labels, model = st.columns(3)
        with report.container(border=True, height="stretch"):
            downloads.show_case_file(workspace, result.info, filters)
        with labels.container(border=True, height="stretch"):
            downloads.show_labels_download(workspace)
        with model.container(border=True, height="stretch"):
            downloads.show_model_download(workspace, result.info)
