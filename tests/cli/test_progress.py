"""The progress bar: for large files, on a terminal."""

from __future__ import annotations

import io
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from deadheat.cli import progress as module
from deadheat.cli.progress import progress
from support.command import QRELS, RUN, call

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


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


@pytest.mark.parametrize(
    "arguments",
    [
        ["evaluate", "large.txt", "a.run"],
        ["compare", "large.txt", "a.run", "b.run"],
        ["ties", "a.run", "large.txt"],
        ["gate", "large.txt", "a.run", "-c", "RR > 0"],
    ],
)
def test_large_qrels_are_named_too(
    arguments: list[str], paths: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[str] = []

    @contextmanager
    def watched(given: list[str]) -> Iterator[Callable[[str], None]]:
        begun.append(f"of {len(given)}")
        yield begun.append

    for command in ("evaluate", "compare", "ties", "gate"):
        monkeypatch.setattr(sys.modules[f"deadheat.cli.{command}"], "progress", watched)
    for path in paths:
        Path(path).write_text(RUN)
    (tmp_path / "large.txt").write_text(QRELS)
    monkeypatch.chdir(tmp_path)
    assert call(*arguments).exit_code == 0
    files = [one for one in arguments[1:] if one.endswith((".run", ".txt"))]
    assert begun[0] == f"of {len(files)}"
    assert sorted(begun[1:]) == sorted(files)
