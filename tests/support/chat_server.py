"""A server that speaks OpenAI's protocol, grades by shared words, and misbehaves now and then as real ones do."""

from __future__ import annotations

import json
import re
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from typing import Any, ClassVar

WORDS = re.compile(r"\w+")
PAIR = re.compile(r"Query: (.*)\nDocument: (.*)", re.DOTALL)


class ChatServer:
    """What the server was asked, and what it does wrong.

    Attributes
    ----------
    url : str
    asked : Counter
        Calls for each pair of query and document.
    faults : dict of int to str
        By the number of the call, from 0 on: "429", "500", "slow", "cut", "null", "html", "refusal", "words",
        "several".
    key : str
        The key that it wants; empty: none.
    most : int
        Most calls at a time that were seen.
    delay : float
        Seconds before each answer.
    stops_at : int
        The number of the call from which on it does not answer any more.
    """

    def __init__(self) -> None:
        self.url = ""
        self.asked: Counter[tuple[str, str]] = Counter()
        self.faults: dict[int, str] = {}
        self.key, self.delay = "", 0.0
        self.most = self.stops_at = 0
        self.bodies: list[dict[str, Any]] = []
        self.lock, self.now = Lock(), 0


def grade(query: str, document: str) -> int:
    """Return the grade of a document: words that it shares with the query, at most 3."""
    return min(3, len({*WORDS.findall(query.lower())} & {*WORDS.findall(document.lower())}))


BROKEN = {
    "429": (429, "busy"),
    "500": (500, "broken"),
    "503": (503, "down"),
    "html": (200, "<html>gateway</html>"),
    "cut": (200, '{"choices": [{"mess'),
    "null": (200, '{"choices": [{"message": null}]}'),
}
ANSWERS = {
    "refusal": "I'm sorry, but I can't help with that.",
    "words": "The document is **somewhat** relevant.\n\nScore: 2",
    "several": "Between 1 and 3.",
}


class Handler(BaseHTTPRequestHandler):
    """Answers as the state of the server says."""

    state: ClassVar[ChatServer]

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def do_POST(self) -> None:
        body, state = json.loads(self.rfile.read(int(self.headers["Content-Length"]))), self.state
        with state.lock:
            number = len(state.bodies)
            state.bodies.append(body)
            state.now += 1
            state.most = max(state.most, state.now)
        time.sleep(state.delay)
        code, text = self.answer(number, body)
        self.send_response(code)
        if code == 429:
            self.send_header("Retry-After", "0")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        with state.lock:
            state.now -= 1
        self.wfile.write(text.encode())

    def answer(self, number: int, body: dict[str, Any]) -> tuple[int, str]:
        state, fault = self.state, self.state.faults.get(number, "")
        if self.path != "/v1/chat/completions":
            return 404, "no such path"
        if state.key and self.headers.get("Authorization") != f"Bearer {state.key}":
            return 401, '{"error": {"message": "Incorrect API key provided"}}'
        if state.stops_at and number >= state.stops_at:
            fault = "503"
        if fault in BROKEN:
            return BROKEN[fault]
        if fault == "slow":
            time.sleep(0.2)
        found = PAIR.search(body["messages"][0]["content"])
        assert found is not None
        with state.lock:
            state.asked[found[1], found[2]] += 1
        text = ANSWERS.get(fault, str(grade(found[1], found[2])))
        return 200, json.dumps({"choices": [{"message": {"role": "assistant", "content": text}}]})


@contextmanager
def chat_server() -> Iterator[ChatServer]:
    """Serve on a free port."""
    state = ChatServer()
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Own", (Handler,), {"state": state}))
    state.url = f"http://127.0.0.1:{server.server_port}/v1"
    Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    try:
        yield state
    finally:
        server.shutdown()
        server.server_close()
