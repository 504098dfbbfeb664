"""The command line as its own process: start-up, pipes, encodings, colours, signals."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src"
QRELS = "".join(f"q{n} 0 a {n % 2}\n" for n in range(2_000))
RUN = "".join(f"q{n} Q0 {doc} 1 0.5 t\n" for n in range(2_000) for doc in "ab")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("process")
    (path / "qrels.txt").write_text(QRELS)
    (path / "ties.run").write_text(RUN)
    (path / "über.run").write_text(RUN)
    return path


# unbuffered, Python does not notice that a reader has gone in the middle of a write
UNSET = {"NO_COLOR", "FORCE_COLOR", "COLUMNS", "PYTHONUNBUFFERED"}


def environment(**changes: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in UNSET}
    return kept | {"PYTHONPATH": str(SOURCE)} | changes


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-c", "from deadheat.cli import main; main(prog_name='deadheat')", *arguments]


def run(folder: Path, *arguments: str, **changes: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(command(*arguments), cwd=folder, env=environment(**changes), capture_output=True, check=False)


def test_help_does_not_import_the_heavy_libraries(folder: Path) -> None:
    code = "import sys; from deadheat.cli import main; main(['--help'], standalone_mode=False); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=folder, env=environment(), capture_output=True, check=True)
    loaded = set(done.stdout.decode().splitlines()[-1].split())
    assert not loaded & {"numpy", "polars", "narwhals", "scipy", "rich"}


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["evaluate", "qrels.txt", "ties.run"], 0),
        (["evaluate", "qrels.txt", "ties.run", "-m", "nope"], 2),
        (["evaluate", "qrels.txt", "qrels.txt"], 3),
    ],
)
def test_exit_codes(folder: Path, arguments: list[str], code: int) -> None:
    done = run(folder, *arguments)
    assert done.returncode == code
    assert bool(done.stdout) is (code == 0)
    assert bool(done.stderr) is (code != 0)


def test_a_reader_that_goes_is_no_error(folder: Path) -> None:
    arguments = command("evaluate", "qrels.txt", "ties.run", "--per-query", "--format", "csv")
    with subprocess.Popen(
        arguments, cwd=folder, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline().startswith(b"run,measure,query_id")
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() == 141


INTERRUPTED = """
import deadheat.evaluating, os, signal
from deadheat.cli import main

signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background starts with it ignored
deadheat.evaluating.evaluate = lambda *_, **__: os.kill(os.getpid(), signal.SIGINT)
main(["evaluate", "qrels.txt", "ties.run"])
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signal")
def test_an_interrupt_is_quiet(folder: Path) -> None:
    code = [sys.executable, "-c", INTERRUPTED]
    done = subprocess.run(code, cwd=folder, env=environment(), capture_output=True, check=False)
    assert done.returncode == 130
    assert done.stdout == b""
    assert done.stderr.strip() == b""


def test_an_ascii_output_gets_ascii(folder: Path) -> None:
    done = run(folder, "evaluate", "qrels.txt", "über.run", "-m", "RR", PYTHONIOENCODING="ascii")
    lines = done.stdout.decode("ascii").splitlines()
    assert lines[0].strip() == "\\xfcber"
    assert set(lines[1].strip()) == {"-"}
    assert b"prod[j<i]" in run(folder, "measures", "ERR", PYTHONIOENCODING="ascii").stdout


def test_a_pipe_gets_no_colour(folder: Path) -> None:
    assert b"\x1b" not in run(folder, "evaluate", "qrels.txt", "ties.run").stdout


def test_no_color_is_heeded(folder: Path) -> None:
    assert b"\x1b[1;36m" in run(folder, "evaluate", "qrels.txt", "ties.run", FORCE_COLOR="1").stdout
    assert b"36m" not in run(folder, "evaluate", "qrels.txt", "ties.run", FORCE_COLOR="1", NO_COLOR="1").stdout


def test_no_progress_bar_without_a_terminal(folder: Path) -> None:
    assert run(folder, "evaluate", "qrels.txt", "ties.run").stderr == b""
