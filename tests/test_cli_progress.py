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


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
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


def test_small_files_are_read_in_silence(terminal: Terminal, paths: list[str]) -> None:
    with progress(paths) as begin:
        begin(paths[0])
    assert terminal.getvalue() == ""


def test_large_files_are_named(terminal: Terminal, paths: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LARGE", 10)
    with progress(paths) as begin:
        for path in paths:
            begin(path)
    assert "b.run" in terminal.getvalue()


def test_a_missing_file_is_left_to_the_reader(terminal: Terminal) -> None:
    with progress(["nowhere.run"]) as begin:
        begin("nowhere.run")
    assert terminal.getvalue() == ""
