"""The line of a labelling tab to its server without a browser: Streamlit's WebSocket, as its page speaks it.

A page opens the socket, asks for the Label page, and finds in the answers the element of the screen and the
fragment around it. From then on each message is a rerun of that fragment with a new value of the element.
"""

from __future__ import annotations

import json
from contextlib import ExitStack
from typing import Any

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.sync.client import connect
from websockets.typing import Origin, Subprotocol

SCREEN = "workbench"  # the component of pages/label/workbench.py
SECONDS = 60.0


class PageLine:
    """An open Label page; ``say`` sends what its screen would, and gives the answer."""

    def __init__(self, url: str, project: str) -> None:
        self._query, self._element, self._fragment, self._page = f"project={project}", "", "", ""
        address = f"{url.replace('http', 'ws', 1)}/_stcore/stream"
        self._open = ExitStack()
        spoken = [Subprotocol("streamlit")]
        line = connect(address, origin=Origin(url), subprotocols=spoken, max_size=None)
        self._socket = self._open.enter_context(line)
        first = BackMsg()
        first.rerun_script.query_string, first.rerun_script.page_name = self._query, "Label"
        self._send(first)
        self.payload = self._hear()
        self._to_the_end()

    def say(self, message: dict[str, Any]) -> dict[str, Any]:
        """Send a message of the screen; the payload that answers it."""
        asked = BackMsg()
        rerun = asked.rerun_script
        rerun.query_string, rerun.fragment_id, rerun.page_script_hash = (
            self._query,
            self._fragment,
            self._page,
        )
        rerun.widget_states.widgets.add(id=self._element, json_value=json.dumps({"out": message}))
        self._send(asked)
        while True:
            found = self._hear()
            if (found["reply"]["client"], found["reply"]["n"]) == (message["client"], message["n"]):
                self.payload = found
                return found

    def close(self) -> None:
        self._open.close()

    def _send(self, message: BackMsg) -> None:
        self._socket.send(message.SerializeToString())

    def _next(self) -> ForwardMsg:
        received = self._socket.recv(timeout=SECONDS)
        assert isinstance(received, bytes)
        message = ForwardMsg()
        message.ParseFromString(received)
        return message

    def _hear(self) -> dict[str, Any]:
        """The next payload of the screen."""
        while True:
            message = self._next()
            if message.WhichOneof("type") == "new_session":
                self._page = message.new_session.page_script_hash or self._page
            shown = message.delta.new_element.bidi_component
            if shown.component_name.endswith(SCREEN):
                self._element, self._fragment = shown.id, message.delta.fragment_id or self._fragment
                payload: dict[str, Any] = json.loads(shown.json or shown.mixed.json)
                return payload

    def _to_the_end(self) -> None:
        while self._next().WhichOneof("type") != "script_finished":
            pass
