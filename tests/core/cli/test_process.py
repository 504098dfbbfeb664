"""The command line as its own process: start-up, pipes, encodings, colours, signals."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest

from support.process import command, environment, run

if TYPE_CHECKING:
    from pathlib import Path

QRELS = "".join(f"q{n} 0 a {n % 2}\n" for n in range(2_000))
RUN = "".join(f"q{n} Q0 {doc} 1 0.5 t\n" for n in range(2_000) for doc in "ab")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("process")
    (path / "qrels.txt").write_text(QRELS)
    (path / "ties.run").write_text(RUN)
    (path / "über.run").write_text(RUN)
    return path


def test_help_does_not_import_the_heavy_libraries(folder: Path) -> None:
    code = (
        "import sys; from deadheat.core.cli import main; main(['--help'], standalone_mode=False); print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=folder, env=environment(), capture_output=True, check=True)
    loaded = set(done.stdout.decode().splitlines()[-1].split())
    assert not loaded & {"numpy", "polars", "narwhals", "scipy", "rich"}


LOADED = """
import sys, typing
class Pair(typing.NamedTuple):
    first: str
before = {*sys.modules}
import deadheat
print(*sys.modules.keys() - before)
"""


def test_the_package_begins_without_what_only_mistakes_need() -> None:
    """Inspecting and parsing code, and dataclasses, which load them: a fifth of the time of the import.

    A NamedTuple comes before: from Python 3.14 on, making one loads ast.
    """
    done = subprocess.run([sys.executable, "-c", LOADED], env=environment(), capture_output=True, check=True)
    assert not set(done.stdout.decode().split()) & {"ast", "dataclasses", "inspect", "numbers", "numpy", "polars"}


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


@pytest.mark.slow
@pytest.mark.parametrize("changes", [{}, {"PYTHONUNBUFFERED": "1"}], ids=["buffered", "unbuffered"])
def test_a_reader_that_goes_is_no_error(folder: Path, changes: dict[str, str]) -> None:
    arguments = command("evaluate", "qrels.txt", "ties.run", "--per-query", "--format", "csv")
    with subprocess.Popen(
        arguments, cwd=folder, env=environment(**changes), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline().startswith(b"run,measure,query_id")
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() == 141


INTERRUPTED = """
import deadheat.core.evaluation.evaluate_runs, os, signal
from deadheat.core.cli import main

signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background starts with it ignored
deadheat.core.evaluation.evaluate_runs.evaluate_under = lambda *_, **__: os.kill(os.getpid(), signal.SIGINT)
main(["evaluate", "qrels.txt", "ties.run"])
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signal")
def test_an_interrupt_is_one_line(folder: Path) -> None:
    code = [sys.executable, "-c", INTERRUPTED]
    done = subprocess.run(code, cwd=folder, env=environment(), capture_output=True, check=False)
    assert done.returncode == 130
    assert done.stdout == b""
    assert done.stderr == b"Interrupted\n"


@pytest.mark.slow
@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["measures", "--help"], ["schema", "evaluate"]])
def test_a_reader_that_is_gone_before_it_reads(folder: Path, arguments: list[str]) -> None:
    """The first two were 1: click has a code of its own for what is printed before a command runs."""
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "wb") as pipe:
        done = subprocess.run(
            command(*arguments), cwd=folder, env=environment(), stdout=pipe, stderr=subprocess.PIPE, check=False
        )
    assert (done.returncode, done.stderr) == (141, b"")


FIRST = """
import signal, sys

signal.signal(signal.SIGINT, signal.default_int_handler)
sys.argv = ["/usr/bin/deadheat", "--help"]

class Pressed:
    def find_spec(self, name, path=None, target=None):
        if name == {name!r}:
            signal.raise_signal(signal.SIGINT)

sys.meta_path.insert(0, Pressed())
import deadheat.__main__
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signal")
@pytest.mark.parametrize("name", ["deadheat.core.errors", "deadheat.core.io.guarding", "deadheat.__main__"])
def test_an_interrupt_of_the_first_imports_is_one_line(name: str, folder: Path) -> None:
    """Before the command could catch anything: once a traceback."""
    code = [sys.executable, "-c", FIRST.format(name=name)]
    done = subprocess.run(code, cwd=folder, env=environment(), capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, b"", b"Interrupted\n")


LOST = """
import sys, time
sys.argv = ["/usr/bin/deadheat"]
import deadheat

class Ignored:
    def __del__(self):
        raise KeyboardInterrupt

Ignored()
time.sleep(10)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signal")
def test_an_interrupt_that_python_would_lose_comes_again(folder: Path) -> None:
    """In a destructor or a callback Python prints it, and goes on."""
    started = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
    done = subprocess.run(
        [sys.executable, "-c", started + LOST], cwd=folder, env=environment(), capture_output=True, check=False
    )
    assert (done.returncode, done.stderr) == (130, b"Interrupted\n")


EARLY = """
import signal, sys

signal.signal(signal.SIGINT, signal.default_int_handler)

class Pressed:  # while a module of the package is imported
    def find_spec(self, name, path=None, target=None):
        if name == {name!r}:
            signal.raise_signal(signal.SIGINT)

from deadheat.__main__ import start

sys.meta_path.insert(0, Pressed())
sys.argv = ["deadheat", "evaluate", "qrels.txt", "ties.run"]
start()
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signal")
@pytest.mark.parametrize(
    "name", ["deadheat.core.cli", "click", "polars", "deadheat.core.measures", "deadheat.core.report.text"]
)
def test_an_interrupt_of_an_import_is_one_line(name: str, folder: Path) -> None:
    code = [sys.executable, "-c", EARLY.format(name=name)]
    done = subprocess.run(code, cwd=folder, env=environment(), capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, b"", b"Interrupted\n")


STOPPED = """
import os, signal, sys
from pathlib import Path
import deadheat.core.io.writing as writing
from deadheat.core.cli import main

signal.signal(signal.SIGHUP, signal.SIG_DFL)  # the tests may run under nohup
whole = writing.{function}
def stopped(*given, **options):
    os.kill(os.getpid(), signal.{name})  # in the middle of a write: the temporary file is there
    return whole(*given, **options)
writing.{function} = stopped
main({arguments!r})
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals")
@pytest.mark.parametrize(("name", "code"), [("SIGTERM", 143), ("SIGHUP", 129), ("SIGKILL", -9)])
@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        ("write_text", ["convert", "ties.run", "made.csv"]),
        ("os.fsync", ["evaluate", "qrels.txt", "ties.run", "--format", "json", "-o", "there.json"]),
    ],
)
def test_a_process_that_is_ended_leaves_nothing_behind(
    folder: Path, function: str, arguments: list[str], name: str, code: int
) -> None:
    (folder / "there.json").write_text("old")
    before = set(folder.iterdir())
    script = STOPPED.format(function=function, arguments=arguments, name=name)
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=folder, env=environment(), capture_output=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (code, b"", b"")
    assert (folder / "there.json").read_text() == "old"
    left = set(folder.iterdir()) - before
    if name != "SIGKILL":
        assert not left
        return
    (file,) = left  # its name says whose it was, and that it is not complete
    assert re.fullmatch(r"\.(made\.csv|there\.json)\.deadheat-[0-9a-f]{8}\.tmp", file.name)
    file.unlink()


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals")
def test_a_signal_that_is_ignored_stays_ignored(folder: Path) -> None:
    """As nohup has it."""
    script = STOPPED.format(function="write_text", arguments=["convert", "ties.run", "kept.csv"], name="SIGHUP")
    script = script.replace("main([", "signal.signal(signal.SIGHUP, signal.SIG_IGN); main([")
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=folder, env=environment(), capture_output=True, check=False
    )
    assert done.returncode == 0
    assert (folder / "kept.csv").stat().st_size > 0
    (folder / "kept.csv").unlink()


@pytest.mark.slow
def test_an_ascii_output_gets_ascii(folder: Path) -> None:
    done = run(folder, "evaluate", "qrels.txt", "über.run", "-m", "RR", PYTHONIOENCODING="ascii")
    lines = done.stdout.decode("ascii").splitlines()
    assert lines[0].strip() == "\\xfcber"
    assert set(lines[1].strip()) == {"-"}
    assert b"prod[j<i]" in run(folder, "measures", "ERR", PYTHONIOENCODING="ascii").stdout


@pytest.mark.slow
def test_a_pipe_gets_no_colour(folder: Path) -> None:
    assert b"\x1b" not in run(folder, "evaluate", "qrels.txt", "ties.run").stdout


COMPARED = ["compare", "qrels.txt", "ties.run", "über.run", "-m", "RR", "--n-resamples", "99", "--full"]
SPARED = ("std err", "effect", "wins", "losses")  # columns that a narrow screen leaves out


@pytest.mark.slow
@pytest.mark.parametrize("columns", ["40", "80", None])
def test_a_file_is_as_wide_as_its_tables(folder: Path, columns: str | None) -> None:
    done = run(folder, *COMPARED, "-o", "out.txt", **({"COLUMNS": columns} if columns else {}))
    assert (done.returncode, done.stdout) == (0, b"")
    text = (folder / "out.txt").read_text(encoding="utf-8")
    assert "not shown at this width" not in text
    assert all(name in text for name in SPARED)
    *tables, facts = text.split("\n\n")
    assert max(map(len, "\n".join(tables).splitlines())) > 80
    assert max(map(len, facts.splitlines())) <= 80  # sentences are wrapped nevertheless


@pytest.mark.slow
def test_a_pipe_is_as_wide_as_its_tables_unless_it_is_told(folder: Path) -> None:
    whole = run(folder, *COMPARED).stdout.decode()
    assert "not shown at this width" not in whole
    assert all(name in whole for name in SPARED)
    narrow = run(folder, *COMPARED, COLUMNS="80").stdout.decode()
    assert "not shown at this width" in narrow
    assert max(map(len, narrow.splitlines())) <= 80


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such terminal")
def test_a_terminal_narrows_the_screen_and_no_file(folder: Path) -> None:
    import fcntl
    import pty
    import struct
    import termios

    try:
        ours, theirs = pty.openpty()
    except OSError as error:  # as in a folder of debootstrap, which has no /dev/pts
        pytest.skip(f"the system gives no pseudo-terminal: {error}")
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 50, 0, 0))
    for arguments in (COMPARED, [*COMPARED, "-o", "of_terminal.txt"]):
        subprocess.run(command(*arguments), cwd=folder, env=environment(), stdout=theirs, check=True)
    os.close(theirs)
    screen = b""
    with suppress(OSError):  # what Linux says at the end
        while part := os.read(ours, 65536):
            screen += part
    os.close(ours)
    assert b"not shown at this width" in screen
    assert "not shown at this width" not in (folder / "of_terminal.txt").read_text(encoding="utf-8")


@pytest.mark.slow
def test_no_color_is_heeded(folder: Path) -> None:
    assert b"\x1b[1;36m" in run(folder, "evaluate", "qrels.txt", "ties.run", FORCE_COLOR="1").stdout
    assert b"36m" not in run(folder, "evaluate", "qrels.txt", "ties.run", FORCE_COLOR="1", NO_COLOR="1").stdout


@pytest.mark.slow
def test_no_progress_bar_without_a_terminal(folder: Path) -> None:
    assert run(folder, "evaluate", "qrels.txt", "ties.run").stderr == b""
