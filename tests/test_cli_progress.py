"""The progress bar: for large files, on a terminal."""

from __future__ import annotations

import io
import sys
from typing import TYPE_CHECKING

import pytest

from deadheat.cli import progress as module
from deadheat.cli.progress import progress

if TYPE_CHECKING:
    from pathlib import Path


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Put a terminal in the place of stderr; a fixture could not, as pytest sets stderr anew before the test."""
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("TERM", "xterm")
    return stream


@pytest.fixture
def paths(tmp_path: Path) -> list[str]:
    found = [tmp_path / "a.run", tmp_path / "b.run"]
    for path in found:
        path.write_text("x" * 100)
    return [str(path) for path in found]


def test_small_files_are_read_in_silence(paths: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    stream = terminal(monkeypatch)
    with progress(paths) as begin:
        begin(paths[0])
    assert stream.getvalue() == ""


def test_large_files_are_named(paths: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LARGE", 10)
    stream = terminal(monkeypatch)
    with progress(paths) as begin:
        for path in paths:
            begin(path)
    assert "b.run" in stream.getvalue()


def test_a_pipe_gets_no_bar(paths: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LARGE", 10)
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with progress(paths) as begin:
        begin(paths[0])
        assert isinstance(sys.stderr, io.StringIO)
        assert sys.stderr.getvalue() == ""


def test_a_missing_file_is_left_to_the_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = terminal(monkeypatch)
    with progress(["nowhere.run"]) as begin:
        begin("nowhere.run")
    assert stream.getvalue() == ""
