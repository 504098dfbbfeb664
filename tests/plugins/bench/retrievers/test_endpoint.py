"""Endpoints that are hostile: they redirect, never end, send too much or nonsense, or repeat the key."""

from __future__ import annotations

import base64
import json
import sys
import traceback
import tracemalloc
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

import deadheat as dh
from deadheat import LLM
from deadheat.core.cli.errors import BAD_DATA, USAGE
from deadheat.errors import DataError, DeadheatWarning, MissingDependencyError, ParameterError
from deadheat.plugins.bench.retrievers.endpoint import hide_url
from support.command import call, ok
from support.demo import BENCH
from support.error_parts import raises_parts
from support.hostile_server import HostileServer, forever, hostile_server

KEY = "sk-test-0123456789"
PAIRS = [("query", "document")]
GRADE = json.dumps({"choices": [{"message": {"role": "assistant", "content": "2"}}]})


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[HostileServer]:
    monkeypatch.setenv("DEADHEAT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setattr("deadheat.plugins.bench.retrievers.language_model.FIRST_WAIT", 0.001)
    with hostile_server() as found:
        yield found


def model(server: HostileServer, timeout: float = 20, url: str = "") -> LLM:
    return LLM(url or server.url, "m", attempts=2, timeout=timeout)


def error_of(server: HostileServer, timeout: float = 20, url: str = "") -> str:
    """Return what a call says; neither that nor its traceback has the key."""
    with pytest.raises(DataError) as caught:
        model(server, timeout, url)(PAIRS)
    told = "".join(traceback.format_exception(caught.value))
    assert KEY not in told
    return str(caught.value)


def headers_of(request: str) -> dict[str, str]:
    found = {}
    for line in request.split("\n")[1:]:
        name, _, value = line.partition(":")
        found[name.lower()] = value.strip()
    return found


def everything_in(folder: Path) -> str:
    return "".join(path.read_text("latin-1") for path in folder.rglob("*") if path.is_file())


@pytest.mark.slow
@pytest.mark.parametrize("status", ["301 Moved", "302 Found", "303 Other", "307 Temporary", "308 Permanent"])
def test_redirects_are_not_followed(server: HostileServer, status: str) -> None:
    with hostile_server() as other:
        other.answers(GRADE)
        server.answers("", status, Location=f"{other.url}/chat/completions?key={KEY}")
        told = error_of(server)
        assert not other.requests
    assert len(server.requests) == 1
    assert f"{server.url} redirects to '{other.url}/chat/completions?key=***', and redirects are not followed" in told


@pytest.mark.slow
def test_the_key_is_stripped_and_one_with_a_newline_inside_is_refused(
    server: HostileServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.answers(GRADE)
    monkeypatch.setenv("OPENAI_API_KEY", f" {KEY}\n")
    assert model(server)(PAIRS) == ["2"]
    assert headers_of(server.requests[0])["authorization"] == f"Bearer {KEY}"
    for key in (f"{KEY}\n{KEY}", f"{KEY}ü"):
        monkeypatch.setenv("OPENAI_API_KEY", key)
        with pytest.raises(DataError, match=r"OPENAI_API_KEY .*, got ") as caught:
            LLM(server.url, "other")(PAIRS)
        assert KEY not in "".join(traceback.format_exception(caught.value))


@pytest.mark.parametrize("status", ["401 Unauthorized", "400 Bad", "404 Not Found", "429 Busy", "500 Broken"])
@pytest.mark.parametrize("form", ["{key}", "Bearer {key}", '{{"error": {{"message": "bad key {key}"}}}}', "{base64}"])
def test_a_key_that_the_server_repeats_is_hidden(server: HostileServer, status: str, form: str) -> None:
    encoded = base64.b64encode(KEY.encode()).decode()
    server.answers(form.format(key=KEY, base64=encoded), status)
    told = error_of(server)
    assert "***" in told
    assert encoded not in told
    assert status[:3] in told


def test_an_answer_that_repeats_the_key_is_hidden_and_kept_without_it(server: HostileServer, tmp_path: Path) -> None:
    server.answers(json.dumps({"choices": [{"message": {"content": f"your key is {KEY}"}}]}))
    assert model(server)(PAIRS) == ["your key is ***"]
    assert KEY not in everything_in(tmp_path)
    assert "your key is ***" in everything_in(tmp_path / "cache")


def test_an_error_that_ends_within_the_key_is_not_shown(server: HostileServer) -> None:
    server.parts = lambda: [f"HTTP/1.1 401 No\r\nContent-Length: 100\r\n\r\n{KEY[:9]}".encode()]
    told = error_of(server)
    assert KEY[:9] not in told
    assert "401 Unauthorized" in told


def test_user_password_and_query_of_a_url_are_sent_and_not_shown(
    server: HostileServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.answers(GRADE)
    url = server.url.replace("//", "//me:pass%40word@") + "/?api_key=hunter22&api-version=2024-06-01"
    judge = model(server, url=url)
    assert judge(PAIRS) == ["2"]
    line, headers = server.requests[0].split("\n")[0], headers_of(server.requests[0])
    assert line == "POST /v1/chat/completions?api_key=hunter22&api-version=2024-06-01 HTTP/1.1"
    assert headers["authorization"] == f"Basic {base64.b64encode(b'me:pass@word').decode()}"
    shown = server.url.replace("//", "//***@") + "?api_key=***&api-version=***"
    assert repr(judge) == f"LLM({shown!r}, 'm')"
    assert judge.endpoint == shown
    server.answers("no access for me:pass@word, pass%40word, hunter22", "403 Forbidden")
    monkeypatch.setenv("DEADHEAT_CACHE", "")
    told = error_of(server, url=url)
    assert "no access for ***, ***, ***" in told
    kept = everything_in(tmp_path) + repr(judge.key) + told
    assert not any(secret in kept for secret in ("pass@word", "pass%40word", "hunter22"))


@pytest.mark.slow
def test_a_benchmark_keeps_and_prints_no_secret(server: HostileServer, tmp_path: Path) -> None:
    server.answers(GRADE)
    url = server.url.replace("//", "//me:password@") + "?key=hunter22"
    judged = [*BENCH, "-m", "RR", "--reranker", "llm", "--model", "m", "--endpoint", url, "--rerank-depth", "1"]
    judged += ["--output", f"{tmp_path / 'results'}", "--format", "html"]
    refused = call(*judged)
    assert refused.exit_code == USAGE
    done = call(*judged, "--yes")
    assert done.exit_code == 0
    server.answers("", "308 Moved", Location="https://me:password@other.example/?key=hunter22")
    judged[judged.index("m")] = "other"
    moved = call(*judged, "--yes")
    assert moved.exit_code == BAD_DATA
    assert "?key=*** redirects to 'https://***@other.example/?key=***'" in moved.stderr
    told = [one.stdout + one.stderr for one in (refused, done, moved)]
    for text in (*told, everything_in(tmp_path)):
        assert "password" not in text
        assert "hunter22" not in text


def test_other_settings_of_openai_are_not_sent(server: HostileServer, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ORG_ID", "PROJECT_ID", "ADMIN_KEY"):
        monkeypatch.setenv(f"OPENAI_{name}", f"other-{name}")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Other: other-header")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/other")
    monkeypatch.delenv("OPENAI_API_KEY")
    server.answers(GRADE)
    assert model(server)(PAIRS) == ["2"]
    assert "other" not in server.requests[0]
    assert set(headers_of(server.requests[0])) == {
        *("host", "accept", "accept-encoding", "connection", "content-type", "content-length", "user-agent"),
    }


def test_an_answer_without_end_is_read_up_to_a_megabyte(server: HostileServer) -> None:
    model(server)  # what openai and its models need is no part of an answer
    server.answers(GRADE)
    LLM(server.url, "first")(PAIRS)
    sent = []

    def answer() -> Iterator[bytes | float]:
        yield b"HTTP/1.1 200 OK\r\n\r\n"
        for part in forever(b"x" * 100_000):
            sent.append(1)
            yield part

    server.parts = answer
    tracemalloc.start()
    told = error_of(server)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert f"no answer from {server.url} in 2 attempts" in told
    assert peak < 20_000_000
    assert len(sent) < 500  # not a minute of them


@pytest.mark.slow
@pytest.mark.parametrize(
    "head",
    [
        b"HTTP/1.1 200 OK\r\nContent-Length: 10000\r\n\r\n",  # within the body
        b"HTTP/1.1 500 Broken\r\nContent-Length: 10000\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nX: ",  # within a header
        b"",
    ],
)
def test_a_call_has_a_time_however_slowly_the_server_answers(server: HostileServer, head: bytes) -> None:
    def answer() -> Iterator[bytes | float]:
        yield head
        yield from forever(b" ", 0.02)

    server.parts = answer
    told = error_of(server, timeout=0.2)
    assert f"no answer from {server.url} in 2 attempts" in told
    if b"500" in head:
        assert "500 Internal Server Error" in told


@pytest.mark.slow
def test_answers_before_the_answer_have_no_more_time(server: HostileServer) -> None:
    server.parts = lambda: forever(b"HTTP/1.1 100 Continue\r\n\r\n", 0.01)
    assert "no answer from" in error_of(server, timeout=0.2)


@pytest.mark.parametrize("wait", ["²", "-1", "nan", "inf", "1e9", "soon", "9" * 5000, "", "0x10", "Wed, 21 Oct 2015"])
def test_a_wait_that_is_none_is_ours(server: HostileServer, wait: str) -> None:
    server.answers("", "429 Busy", Retry_After=wait)
    assert "429 Too Many Requests" in error_of(server)
    assert len(server.requests) == 2


def test_a_wait_in_bytes_that_are_no_utf_8_is_ours(server: HostileServer) -> None:
    server.parts = lambda: [b"HTTP/1.1 429 Busy\r\nRetry-After: \xb2\r\nContent-Length: 0\r\n\r\n"]
    assert "429 Too Many Requests" in error_of(server)


@pytest.mark.parametrize(
    "body",
    [
        "[" * 200_000,
        '{"a":' * 150_000,
        '{"choices": ' + "[" * 100_000 + "]" * 100_000 + "}",
        '{"choices": [{"message": {"content": ' + "[" * 900 + "]" * 900 + "}}]}",
        '{"choices": [{"message": {"content": [1, 2]}}]}',
        '{"choices": [{"message": {"content": {"text": 3}}}]}',
        '{"choices": [{"message": {"content": [{"text": 3}]}}]}',
        '{"choices": {"0": 1}}',
        '{"choices": []}',
        '{"choices": 5}',
        '{"choices": null}',
        '{"choices": [[]]}',
        '{"choices": [{"message": 7}]}',
        '{"choices": [{"message": {"content": 7}}]}',
        "1" * 10_000,
        "NaN",
        "null",
        '"text"',
        "",
        "\x00",
    ],
)
def test_a_body_that_is_no_answer(server: HostileServer, body: str) -> None:
    server.answers(body)
    assert f"no answer from {server.url} in 2 attempts" in error_of(server)


def test_bytes_that_are_no_answer(server: HostileServer) -> None:
    packed = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n\x1f\x8b"
    for answer in (b"\x00\xff\r\n\r\n", b"HTTP/9.9 xyz\r\n\r\n", packed):
        server.parts = partial(list, [answer])
        assert f"no answer from {server.url} in 2 attempts" in error_of(server)


@pytest.mark.parametrize(
    "url",
    [
        "http://[::1",
        "http://host:99999/v1",
        "http://host:port/v1",
        "http:///v1",
        "http://host/v1#part",
        "http://ho st/v1",
        "http://host/\n",
        "ftp://host/v1",
        "host/v1",
        "",
        "http://" + "a" * 70 + ".example/v1",
        "http://..",
    ],
)
def test_what_is_no_url_is_refused_as_an_argument(url: str) -> None:
    with pytest.raises(ParameterError, match="endpoint must be a URL"):
        LLM(url, "m")
    result = call(*BENCH, "--reranker", "llm", "--model", "m", "--yes", "--endpoint", url)
    assert result.exit_code == USAGE
    assert "endpoint" in result.stderr


@pytest.mark.parametrize("url", ["http://me:secret@[::1/v1", "ftp://me:secret@host", "http://a:b/secret@host/v1"])
def test_a_url_that_is_refused_is_shown_without_its_secrets(url: str) -> None:
    with pytest.raises(ParameterError) as caught:
        LLM(url, "m")
    assert "secret" not in str(caught.value)
    assert "***@" in str(caught.value)
    assert hide_url("see http://me:secret@host?a=secret for more") == "see http://***@host?a=*** for more"


def test_a_proxy_that_cannot_be_used_is_said_without_its_password(
    server: HostileServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.answers(GRADE)
    monkeypatch.setenv("no_proxy", "")
    for proxy in ("foo://me:password@host:1", "socks5://me:password@127.0.0.1:1", "http://me:password@127.0.0.1:1"):
        monkeypatch.setenv("http_proxy", proxy)
        assert "password" not in error_of(server)
        assert not server.requests
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    assert model(server)(PAIRS) == ["2"]


def test_without_openai_the_extra_is_named(server: HostileServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openai", None)
    with raises_parts(MissingDependencyError, hint="pip install 'deadheat[llm]'"):
        model(server)(PAIRS)


@pytest.mark.parametrize(
    "damage", [b"\xff", b"5", b"[", b"[" * 100_000, b'["a", "b"]', b'{"a": 1}', b'["%s", 5]' % (b"a" * 64)]
)
def test_a_line_of_the_kept_answers_that_is_damaged_is_skipped_and_said(server: HostileServer, damage: bytes) -> None:
    server.answers(GRADE)
    pairs = [("query", text) for text in "abc"]
    assert model(server)(pairs) == ["2"] * 3
    kept = model(server)._kept
    assert kept is not None
    kept.path.write_bytes(kept.path.read_bytes() + damage + b"\n")
    server.parts = list
    with pytest.warns(DeadheatWarning, match="1 line beside 3 kept answers cannot be read"):
        assert model(server)(pairs) == ["2"] * 3


def test_the_command_says_that_a_kept_answer_is_damaged(server: HostileServer, tmp_path: Path) -> None:
    server.answers(GRADE)
    judged = [*BENCH, "-m", "RR", "--reranker", "llm", "--model", "m", "--yes", "--endpoint", server.url]
    judged += ["--rerank-depth", "1"]
    expected = ok(*judged)
    (kept,) = (tmp_path / "cache" / "grades").iterdir()
    kept.write_bytes(kept.read_bytes() + b"\xff\n5\n")
    result = call(*judged)
    assert (result.exit_code, result.stdout) == (0, expected)
    assert "2 lines beside" in result.stderr


@pytest.mark.parametrize("answer", ["hello", "99999", "9" * 100_000, "-1", "4"])
def test_a_model_that_never_gives_a_grade_is_an_error(server: HostileServer, answer: str) -> None:
    server.answers(json.dumps({"choices": [{"message": {"content": answer}}]}))
    judged = [*BENCH, "-m", "RR", "--reranker", "llm", "--model", "m", "--yes", "--endpoint", server.url]
    result = call(*judged, "--rerank-depth", "1")
    assert result.exit_code == BAD_DATA
    assert "bm25 + m: no grade in any of" in result.stderr
    assert "a number from 0 to 3" in result.stderr
    assert len(result.stderr) < 1000


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::deadheat.core.errors.NoteWarning")
def test_answers_without_a_grade_are_said_with_their_share(server: HostileServer, tmp_path: Path) -> None:
    answers = iter([GRADE, *["no grade"] * 4, *[GRADE] * 100])

    def answer() -> list[bytes | float]:
        body = next(answers).replace("no grade", json.dumps({"choices": [{"message": {"content": "99999"}}]}))
        return [f"HTTP/1.1 200 OK\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode()]

    server.parts = answer
    judged = [*BENCH, "-m", "RR", "--reranker", "llm", "--model", "m", "--yes", "--endpoint", server.url]
    judged += ["--rerank-depth", "1", "--output", f"{tmp_path / 'results'}"]
    printed = ok(*judged)
    held = json.loads(ok(*judged, "--format", "json"))["answers"]  # of the finished run
    assert len(held) == 1
    n = held[0]["n_answers"]
    share = f"{100 * 4 / n:.0f}%"
    told = f"bm25 + m on phrases (en): no grade in 4 of {n} answers ({share}), such as '99999'"
    assert told in " ".join(printed.split())
    expected = {"retriever": "bm25 + m", "n_answers": n, "n_ungraded": 4, "share_ungraded": 4 / n, "far": ""}
    assert expected.items() <= held[0].items()
    assert told in " ".join((tmp_path / "results" / "report.md").read_text().split())
    assert json.loads((tmp_path / "results" / "bench.json").read_text())["answers"] == held


def test_with_another_prompt_the_scale_is_that_of_the_caller() -> None:
    own = "{query} {document}: 0 to 10?"
    assert LLM("http://h/v1", "m").scale == (0, 3)
    assert LLM("http://h/v1", "m", prompt=own).scale is None
    assert LLM("http://h/v1", "m", prompt=own, scale=(0, 10)).scale == (0, 10)
    for scale in ((3, 0), (0,), 3, ("0", "3"), (0, float("inf"))):
        with pytest.raises(ParameterError, match="scale must be"):
            LLM("http://h/v1", "m", scale=scale)  # type: ignore[arg-type]


@pytest.mark.filterwarnings("ignore::deadheat.core.errors.NoteWarning")
def test_grades_without_a_scale_that_are_far_beyond_the_others_are_said() -> None:
    answers = iter(["99999", *["1", "2", "3"] * 20])
    result = dh.bench(
        BENCH[1], BENCH[3], measures="RR", rerankers={"g": lambda *_: next(answers)}, rerank_depth=2, n_resamples=100
    )
    assert any("99999 among grades of which nine in ten are at most 3" in note for note in result.notes)
