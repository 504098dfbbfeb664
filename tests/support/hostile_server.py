"""A server that answers with the bytes that it is given, at the pace that it is given, and keeps what it was sent."""

from __future__ import annotations

import time
from contextlib import contextmanager, suppress
from socketserver import StreamRequestHandler, ThreadingTCPServer
from threading import Event, Thread
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator


class HostileServer:
    """What the server answers, and what it was sent.

    Attributes
    ----------
    url : str
    parts : callable
        Returns what is sent for a request: bytes, and seconds between them.
    requests : list of str
        The first line and the headers of each.
    is_over : Event
        Set when the test ends: waits end.
    """

    def __init__(self) -> None:
        self.url = ""
        self.parts: Callable[[], Iterable[bytes | float]] = list
        self.requests: list[str] = []
        self.is_over = Event()

    def answers(self, body: str, status: str = "200 OK", **headers: str) -> None:
        """Answer each request with this."""
        lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body.encode())}"]
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        answer = "\r\n".join([*lines, "", body]).encode()
        self.parts = lambda: [answer]


class Handler(StreamRequestHandler):
    """Reads a request, and sends the parts."""

    state: ClassVar[HostileServer]

    def handle(self) -> None:
        lines = []
        while (line := self.rfile.readline().decode("latin-1")).strip():
            lines.append(line.rstrip("\r\n"))
        length = next((int(one.split(":")[1]) for one in lines if one.lower().startswith("content-length:")), 0)
        self.rfile.read(length)
        self.state.requests.append("\n".join(lines))
        with suppress(OSError):  # the client has gone
            for part in self.state.parts():
                if isinstance(part, bytes):
                    self.wfile.write(part)
                elif self.state.is_over.wait(part):
                    return


class Server(ThreadingTCPServer):
    """One that does not wait for its threads."""

    daemon_threads = True
    block_on_close = False


@contextmanager
def hostile_server() -> Iterator[HostileServer]:
    """Serve on a free port."""
    state = HostileServer()
    server = Server(("127.0.0.1", 0), type("Own", (Handler,), {"state": state}))
    state.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    try:
        yield state
    finally:
        state.is_over.set()
        server.shutdown()
        server.server_close()


def forever(*parts: bytes | float) -> Iterator[bytes | float]:
    """Repeat parts, for a minute at most."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        yield from parts
