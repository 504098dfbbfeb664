"""What sends the requests of openai: it bounds an answer in size and a call in time, and sends no more than is meant.

openai has httpx until its version 2, and httpx2 since 3: here stands only what both have. Redirects are not followed.
"""

import socket
import time
from collections.abc import Mapping
from contextlib import suppress
from threading import Timer
from typing import Any, Self

from openai import DefaultHttpxClient

LONGEST_ANSWER = 1 << 20  # bytes of a body
SECONDS_FOR_ERROR = 5.0  # for the body of an answer that is an error: its status says enough
# openai adds the organisation, the project and any headers that environment variables name, and what it knows of the
# machine: they are of openai.com, and the server may be another
SENT = {"host", "accept", "content-type", "content-length", "user-agent", "authorization"}
KEPT = {b"retry-after", b"location"}


class AnswerTooLongError(ValueError):
    """The body of an answer is too long."""


class BoundedClient(DefaultHttpxClient):
    """Sends requests, and reads each answer up to a size and within a time.

    Parameters
    ----------
    timeout : float
        Seconds of a call, from the connection to the last byte.
    authorization : str
        The header of this name; empty: none.
    """

    def __init__(self, timeout: float, authorization: str) -> None:
        super().__init__(timeout=timeout, follow_redirects=False)
        self._seconds, self._authorization = timeout, authorization

    def send(self, request: Any, **options: Any) -> Any:  # noqa: ANN401 - of httpx or of httpx2
        """Send a request, and return the answer with its whole body."""
        for name in set(request.headers) - SENT:
            del request.headers[name]
        # a connection is watched from its beginning, so none is used twice; and a packed answer has no bound
        request.headers.update({"accept-encoding": "identity", "connection": "close"})
        if self._authorization:
            request.headers["authorization"] = self._authorization
        else:
            request.headers.pop("authorization", None)
        with Watch(self._seconds) as watch:
            request.extensions = {**request.extensions, "trace": watch.trace}
            answer = super().send(request, **{**options, "stream": True, "follow_redirects": False})
            try:
                body = self._body_of(answer, watch)
            finally:
                answer.close()
        headers = [(name, value) for name, value in answer.headers.raw if name.lower() in KEPT]
        headers.append((b"content-type", b"application/json"))  # servers may call it otherwise
        return type(answer)(answer.status_code, headers=headers, content=body, request=request)

    def _body_of(self, answer: Any, watch: "Watch") -> bytes:  # noqa: ANN401 - of httpx or of httpx2
        """Return a body; of an error nothing where it does not end in time: a part of it may end within a secret."""
        is_error = answer.status_code >= 300
        if is_error:
            watch.end_within(SECONDS_FOR_ERROR)
        try:
            return read_body(answer, watch)
        except Exception:  # of httpx or of httpx2
            if not is_error:
                raise
            return b""


def read_body(answer: Any, watch: "Watch") -> bytes:  # noqa: ANN401 - of httpx or of httpx2
    """Return a body as it was sent."""
    body = bytearray()
    for chunk in answer.iter_raw():
        body += chunk
        if len(body) > LONGEST_ANSWER:
            raise AnswerTooLongError(f"the answer has more than {LONGEST_ANSWER:,} bytes")
        watch.check()
    return bytes(body)


class Watch:
    """Ends a call when its time is over: a timeout of httpx is of each byte that is waited for, not of all.

    Parameters
    ----------
    seconds : float
    """

    def __init__(self, seconds: float) -> None:
        self._sockets: list[socket.socket] = []
        self._deadline = time.monotonic() + seconds
        self._timer = self._start_timer()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()

    def _start_timer(self) -> Timer:
        timer = Timer(max(0.0, self._deadline - time.monotonic()), self._end)
        timer.daemon = True
        timer.start()
        return timer

    def _end(self) -> None:
        """Wake who waits for the server."""
        for connection in self._sockets:
            with suppress(OSError):  # it is closed, or another one took its place
                socket.socket.shutdown(connection, socket.SHUT_RDWR)

    def end_within(self, seconds: float) -> None:
        """Let it end earlier."""
        self._deadline = min(self._deadline, time.monotonic() + seconds)
        self._timer.cancel()
        self._timer = self._start_timer()

    def check(self) -> None:
        """Raise TimeoutError when the time is over."""
        if time.monotonic() > self._deadline:
            raise TimeoutError("the server takes too long")

    def trace(self, event: str, details: Mapping[str, Any]) -> None:
        """Learn of each step of a request, as httpx calls its "trace" extension."""
        if event.endswith(".started") and "close" not in event:  # what closes a connection is not to fail
            self.check()
        stream = details.get("return_value")
        if event.endswith(("connect_tcp.complete", "start_tls.complete")) and stream is not None:
            self._sockets.append(stream.get_extra_info("socket"))
