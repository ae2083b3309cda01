"""The server: the app behind the gate. Started by ``ringfence run``."""

from __future__ import annotations

import logging
import sys
import webbrowser
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import streamlit as st
from starlette.middleware import Middleware
from starlette.routing import Mount

from gadcore import logs
from gadcore.api import Api
from gadcore.gate import Gate, stop_unless_ready
from gadcore.settings import APP, Settings

settings, address = Settings.from_env(), st.get_option("server.address") or ""
stop_unless_ready(settings, address)
if st.get_option("server.baseUrlPath"):
    sys.exit("error: Ringfence is served at the root of an address: take server.baseUrlPath out.")


def _say(line: str) -> None:
    """To the log where that is JSON, otherwise to the terminal."""
    if settings.log_json:
        logs.set_up(as_json=True)  # once more: Streamlit has made loggers of its own meanwhile
        logging.getLogger("gadcore.gate").info(line)
        return
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


@asynccontextmanager
async def running(_: st.App) -> AsyncIterator[None]:
    """Say where the app is, and open it in a browser unless that is not wanted."""
    scheme = "https" if st.get_option("server.sslCertFile") else "http"
    url = f"{scheme}://{address or 'localhost'}:{st.get_option('server.port')}"
    _say(f"Ringfence runs at {url}")
    if not st.get_option("server.headless"):
        webbrowser.open(url)
    yield


app = st.App(
    APP / "app.py",
    lifespan=running,
    routes=[Mount("/api", app=Api(settings))],
    middleware=[Middleware(Gate, settings=settings, address=address)],
)
