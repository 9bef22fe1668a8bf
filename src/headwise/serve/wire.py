"""The connection: heads of requests that are too slow or too large end it.

uvicorn limits how long a connection idles between requests, not how long a request takes to begin,
nor how large its first line and headers are. Departs from "no inheritance": this is how uvicorn
lets its protocol be changed.
"""

import asyncio
from asyncio import TimerHandle
from typing import Any

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

MAX_HEAD_BYTES = 65_536
"""Of the first line and the headers; a query with `data` is part of it."""
MAX_HEAD_SECONDS = 10.0
END_OF_HEAD = b"\r\n\r\n"


class PatientProtocol(HttpToolsProtocol):
    """HTTP with a limit on the time and the size of what comes before a body."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        """Take what uvicorn gives."""
        super().__init__(*arguments, **named)
        self._timer: TimerHandle | None = None
        self._n_head_bytes = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the clock."""
        super().connection_made(transport)
        self._wait_for_head()

    def data_received(self, data: bytes) -> None:
        """Take data, unless a head is growing out of bounds."""
        begun = self.cycle
        if begun is None or begun.response_complete:
            end = data.find(END_OF_HEAD)
            self._n_head_bytes += len(data) if end < 0 else end
            if self._n_head_bytes > MAX_HEAD_BYTES:
                self._refuse(431)
                return
        super().data_received(data)
        if self.transport.is_closing():
            return
        if self.cycle is not begun or (begun is not None and not begun.response_complete):
            self._stop_waiting()
        elif self._timer is None:
            self._wait_for_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the clock."""
        self._stop_waiting()
        super().connection_lost(exc)

    def _wait_for_head(self) -> None:
        self._timer = self.loop.call_later(MAX_HEAD_SECONDS, self._refuse, 408)

    def _stop_waiting(self) -> None:
        self._n_head_bytes = 0
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _refuse(self, status: int) -> None:
        self._stop_waiting()
        if not self.transport.is_closing():
            head = STATUS_LINE[status] + b"connection: close\r\ncontent-length: 0\r\n\r\n"
            self.transport.write(head)
            self.transport.close()
