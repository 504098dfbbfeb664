"""Answers of endpoints of language models: what they send is damaged, slow, too long, or repeats the key."""

from __future__ import annotations

import atexit
import gzip
import json
import os
import traceback
import warnings
from contextlib import ExitStack
from functools import cache
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import deadheat as dh
from deadheat.core.io.grades import read_grade
from deadheat.errors import DataError, DeadheatError, ParameterError
from deadheat.plugins.bench.retrievers.language_model import name_of
from fuzz.case import Kind
from fuzz.mutations import damaged
from support.hostile_server import HostileServer, forever, hostile_server

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from random import Random

    from fuzz.strict import Row

KEY = "sk-fuzz-0123456789abcdef"
PASSWORD = "pass-fuzz-98765"  # noqa: S105 - of nobody
PAIRS = [("query", "first document"), ("query", "second document")]
LONGEST_MESSAGE = 1_500  # characters
CONTENTS: tuple[Any, ...] = (
    *("2", "Score: 2", "8/10", "hello", "", "99999", "9" * 2_000, None, 2, 2.5, True, [], {}),
    *([{"type": "text", "text": "2"}], [{"text": None}], [2], {"text": "2"}, f"the key is {KEY}"),
    *('{"score": 2}', '{"score": ' * 500, "```json\n{}\n```", "score " + "this is " * 200, "1" * 3_000 + "..1"),
    *("x" + " " * 3_000 + "x", "relevant" + ": " * 2_000 + "1x", "\ud800", "\u202e2", "\x00", "[" * 3_000),
)
STATUSES = (
    *("201 Created", "204 No Content", "206 Partial", "100 Continue"),
    *("301 Moved", "302 Found", "304 Not Modified", "307 Temporary", "400 Bad", "401 No", "403 No", "404 None"),
    *("407 Proxy", "408 Slow", "409 Conflict", "413 Large", "429 Busy", "500 Broken", "503 Down", "529 Busy"),
    *("600 What", "999 Never", "0 Zero", "-1 Less", "200", "abc def", f"401 {KEY}"),
)
WAITS = ("0", "0.01", "-1", "nan", "inf", "1e400", "\u00b2", "soon", "", "Wed, 21 Oct 2015 07:28:00 GMT", "9" * 500)
TYPES = ("application/json", "text/html", "text/event-stream", "application/json; charset=utf-16", "", "x")


class Answers(Kind):
    """What a server sends for one call, byte by byte."""

    name = "endpoint"

    def write(self, folder: Path, rng: Random) -> Path:
        path = folder / "x.http"
        content = rng.choice(CONTENTS)
        status = "200 OK" if rng.random() < 0.5 else rng.choice(STATUSES)
        body = _body(content, rng)
        is_plain = rng.random() < 0.2
        if is_plain:
            status, body = "200 OK", json.dumps({"choices": [{"message": {"content": content}}]}).encode()
        head = [f"HTTP/1.1 {status}"]
        if rng.random() < 0.9 or is_plain:
            head.append(f"Content-Length: {len(body)}")
        if not is_plain:
            head += _headers(rng)
            if rng.random() < 0.1:
                body = gzip.compress(body)
                head.append("Content-Encoding: gzip")
        data = "\r\n".join([*head, "", ""]).encode() + body
        if not is_plain and rng.random() < 0.7:
            data = damaged(data, rng)
        path.write_bytes(data)
        pace = rng.choice(("slow", "stalls", "endless")) if not is_plain and rng.random() < 0.03 else ""
        expected = content if is_plain and isinstance(content, str) else None
        (folder / "x.json").write_text(json.dumps({"pace": pace, "expected": expected}))
        return path

    def read(self, path: Path) -> list[Row] | None:
        data, pace = path.read_bytes(), _beside(path)["pace"]
        server = _server()
        server.parts = lambda: _paced(data, pace)
        answers = _ask(server.url, path.parent)
        return None if answers is None else [("q", "d", answer) for answer in answers]

    def expected(self, path: Path) -> list[Row] | None:
        expected = _beside(path)["expected"]
        if expected is None:
            return None
        return [("q", "d", expected.replace(KEY, "***"))] * len(PAIRS)


class Endpoints(Kind):
    """URLs of endpoints: nothing that is said of them has the password."""

    name = "endpoint-url"

    def write(self, folder: Path, rng: Random) -> Path:
        path = folder / "x.url"
        scheme = rng.choice(("http", "https", "HTTP", "ftp", ""))
        user = rng.choice(("", f"me:{PASSWORD}@", f":{PASSWORD}@"))
        host = rng.choice(("127.0.0.1", "[::1]", "localhost:8000", "h\u00f6st.example", "[::1", "a" * 64, "h:99999"))
        rest = rng.choice(("/v1", "/v1/", "", f"/v1?key={PASSWORD}", f"?a=1&token={PASSWORD}", "/a b", "#part"))
        data = f"{scheme}://{user}{host}{rest}".encode()
        position = rng.randint(0, len(scheme) + 3)  # the password stays as it is
        path.write_bytes(data[:position] + rng.choice((b"", b"", b" ", b"\n", b"\xff", b"/", b"x")) + data[position:])
        return path

    def read(self, path: Path) -> None:
        url = path.read_bytes().decode("utf-8", "replace")
        try:
            model = dh.LLM(url, "m", cache=False)
            told = f"{model!r} {model.key} {model.endpoint}"
        except ParameterError as error:
            told = _told(error)
        assert PASSWORD not in told, f"the password is told: {told}"


class KeptAnswers(Kind):
    """The file of kept answers, damaged: what cannot be read is asked again."""

    name = "kept-answers"

    def write(self, folder: Path, rng: Random) -> Path:
        kept = dh.LLM(_server().url, "m", cache=folder)._kept
        assert kept is not None
        for query, document in PAIRS:
            kept.add(name_of(query, document), "2")
        kept.path.write_bytes(damaged(kept.path.read_bytes(), rng))
        return folder

    def read(self, path: Path) -> None:
        _answer_all("3")
        answers = _ask(_server().url, path)
        assert answers is not None
        assert len(answers) == len(PAIRS)


def _headers(rng: Random) -> list[str]:
    headers = []
    if rng.random() < 0.3:
        headers.append(f"Retry-After: {rng.choice(WAITS)}")
    if rng.random() < 0.3:
        headers.append(f"Content-Type: {rng.choice(TYPES)}")
    if rng.random() < 0.3:
        headers.append(f"Location: {rng.choice(('/other', f'http://127.0.0.1:1/?key={KEY}', '//', 'http://[', KEY))}")
    if rng.random() < 0.05:
        headers.append("Transfer-Encoding: chunked")
    if rng.random() < 0.05:
        headers += [f"X-{n}: {KEY}" for n in range(rng.choice((3, 200)))]
    return headers


def _body(content: object, rng: Random) -> bytes:
    """Return a body of one of many forms, most of them an answer."""
    message: Any = {"role": "assistant", "content": content}
    answer: Any = rng.choice(
        (
            *[{"id": "x", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}] * 6,
            *({"choices": [message]}, {"choices": [{"message": content}]}, {"choices": content}, {"choices": []}),
            *({"error": {"message": f"Incorrect API key provided: {KEY}"}}, {"error": KEY}, KEY, content, [content]),
        )
    )
    text = json.dumps(answer)
    if rng.random() < 0.05:
        text = rng.choice(("[", '{"choices":')) * rng.choice((10, 100_000))
    return text.encode(rng.choice(("utf-8", "utf-8", "utf-8", "utf-16", "utf-32")))


def _paced(data: bytes, pace: str) -> Iterator[bytes | float]:
    """Send an answer at once, slowly, in part, or with more behind it that never ends."""
    if pace == "slow":
        for place in range(len(data)):
            yield data[place : place + 1]
            yield 0.1
        return
    if pace == "stalls":
        yield data[: len(data) // 2]
        yield 20.0
        return
    yield data
    if pace == "endless":
        yield from forever(b" " * 100_000)


def _ask(url: str, folder: Path) -> list[str] | None:
    """Return the answers, or None for the error that an endpoint may give; the key is in neither, nor in a file."""
    model = dh.LLM(url, "m", attempts=2, timeout=1, cache=folder)
    answers, refusal = None, None
    with (
        patch.dict(os.environ, {"OPENAI_API_KEY": KEY}),
        patch("deadheat.plugins.bench.retrievers.language_model.FIRST_WAIT", 0.001),
        patch("deadheat.plugins.bench.retrievers.language_model.LONGEST_WAIT", 0.01),
        warnings.catch_warnings(action="ignore"),
    ):
        try:
            answers = model(PAIRS)
        except DataError as error:
            refusal = error
    if refusal is not None:
        _check_refusal(refusal, url)
    for answer in answers or ():
        assert isinstance(answer, str)
        assert KEY not in answer, "the key is in an answer"
        read_grade(answer)
    for path in folder.rglob("*.jsonl"):
        assert KEY not in path.read_text("latin-1"), "the key is kept"
    return answers


def _check_refusal(error: DataError, url: str) -> None:
    assert KEY not in _told(error), f"the key is told: {error}"
    assert url in str(error), f"the endpoint is not named: {error}"
    assert len(str(error)) < LONGEST_MESSAGE, f"a message of {len(str(error)):,} characters"


def _answer_all(content: str) -> None:
    _server().answers(json.dumps({"choices": [{"message": {"content": content}}]}))


def _beside(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((path.parent / "x.json").read_text())
    return found


def _told(error: DeadheatError) -> str:
    return "".join(traceback.format_exception(error))


@cache
def _server() -> HostileServer:
    """Return a server that lasts as long as the process."""
    stack = ExitStack()
    atexit.register(stack.close)
    return stack.enter_context(hostile_server())
