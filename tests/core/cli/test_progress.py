"""The progress bar: for phases over a second, on a terminal."""

from __future__ import annotations

import io
import re
import sys
import time
from pathlib import Path

import pytest

from deadheat.core.cli import progress as module
from deadheat.core.cli.progress import Watch
from deadheat.core.phases import phase, set_watcher
from support.command import QRELS, RUN, call


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Put a terminal in the place of stderr; a fixture could not, as pytest sets stderr anew before the test."""
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("TERM", "xterm")
    return stream


def until(stream: io.StringIO, text: str) -> bool:
    """Wait until a bar shows a text, which another thread draws."""
    end = time.monotonic() + 20
    while text not in stream.getvalue() and time.monotonic() < end:
        time.sleep(0.01)
    return text in stream.getvalue()


def is_clean(written: str) -> bool:
    """Return whether a terminal shows nothing of what was written, with the cursor at its beginning, and shown."""
    lines, row, is_cursor_shown = [""], 0, True
    for part in re.findall(r"\x1b\[\??[0-9;]*[A-Za-z]|[\r\n]|[^\x1b\r\n]+", written):
        match part:
            case "\x1b[?25l" | "\x1b[?25h":
                is_cursor_shown = part.endswith("h")
            case "\x1b[2K":
                lines[row] = ""
            case "\x1b[1A":
                row -= 1
            case "\n":
                row += 1
                lines += [""] * (row == len(lines))
            case "\r":
                pass  # what is written next erases the line first
            case _ if not part.startswith("\x1b"):  # others are colours
                lines[row] += part
    return is_cursor_shown and row == 0 and not any(lines)


def test_what_is_short_is_done_in_silence(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = terminal(monkeypatch)
    monkeypatch.setattr(module, "DELAY", 1000.0)
    with set_watcher(Watch({}, stream.write)), phase("reading"):
        pass
    assert stream.getvalue() == ""


def test_what_lasts_is_shown_and_taken_away(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = terminal(monkeypatch)
    monkeypatch.setattr(module, "DELAY", 0.01)
    with set_watcher(Watch({}, stream.write)):
        with phase("reading\x1b files", 10) as advance:
            assert until(stream, "reading\\x1b files")
            advance(5)
            with phase("placing a.run"):
                assert until(stream, "placing a.run")
        assert is_clean(stream.getvalue())


@pytest.mark.parametrize("is_quiet", [True, False])
def test_a_pipe_and_a_quiet_command_get_no_bar(monkeypatch: pytest.MonkeyPatch, *, is_quiet: bool) -> None:
    monkeypatch.setattr(module, "DELAY", 0.0)
    stream = terminal(monkeypatch) if is_quiet else io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    with set_watcher(Watch({"quiet": is_quiet}, stream.write)), phase("reading"), phase("counting"):
        time.sleep(0.05)
    assert stream.getvalue() == ""


def test_a_closed_stderr_is_no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", None)
    with set_watcher(Watch({}, lambda _: None)), phase("reading"):
        pass


def test_the_bar_goes_with_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = terminal(monkeypatch)
    monkeypatch.setattr(module, "DELAY", 0.01)

    def interrupted() -> None:
        with set_watcher(Watch({}, stream.write)), phase("testing"):
            assert until(stream, "testing")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert is_clean(stream.getvalue())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "phases"),
    [
        (["evaluate", "qrels.txt", "a.run", "--ci"], ["reading a.run", "placing a", "evaluating a", "estimating"]),
        (
            ["compare", "qrels.txt", "a.run", "b.run"],
            ["reading qrels.txt", "reading b.run", "placing runs", "estimating intervals", "testing", "flips"],
        ),
        (["ties", "a.run", "qrels.txt"], ["reading a.run", "placing a"]),
        (["gate", "qrels.txt", "a.run", "-c", "RR > 0"], ["reading a.run", "placing a"]),
        (["convert", "a.run", "a.csv"], ["reading a.run"]),
        (["trec_eval", "qrels.txt", "a.run"], ["reading a.run"]),
        (["evaluate", "qrels.txt", "a.run", "--save", "a.json"], ["looking for repeated pairs in a", "writing a.json"]),
        (["convert", "a.run", "b.csv"], ["writing b.csv"]),
        (["ties", "a.run", "qrels.txt"], ["describing ties"]),
        (["items", "a.run"], ["counting items"]),
        (["items", "a.run", "--qrels", "qrels.txt"], ["weighing exposure"]),
        (["fuse", "a.run", "b.run", "-o", "c.run"], ["fusing runs", "writing c.run"]),
        (["gate", "qrels.txt", "a.run", "-c", "RR > 0"], ["checking gates"]),
        (["diff", "qrels.txt", "qrels.txt", "a.run"], ["comparing judgments"]),
        (["report", "qrels.txt", "a.run", "-o", "a.html"], ["making the page", "writing a.html"]),
    ],
)
def test_every_phase_has_a_name(
    arguments: list[str], phases: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a.run", "b.run"):
        (tmp_path / name).write_text(RUN if name == "a.run" else RUN.replace("0.8", "0.95"))
    (tmp_path / "qrels.txt").write_text(QRELS)
    monkeypatch.chdir(tmp_path)
    result = call(*arguments, "--verbose")
    assert result.exit_code == 0
    lines = [line for line in result.stderr.splitlines() if line.endswith(" s")]
    for one in phases:
        assert any(line.startswith(one) for line in lines), one
