"""The process that draws: it is given up, it may break off, and it ends with the process that started it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from deadheat.errors import FigureError
from deadheat.plugins.figures import painter as own
from deadheat.plugins.figures.painter import Painter
from support.process import environment

if TYPE_CHECKING:
    from collections.abc import Iterator

pytest.importorskip("vl_convert", reason="nothing is drawn without it")


def chart_of(n_labels: int, length: int = 1) -> dict[str, Any]:
    rows = [{"x": n, "y": f"{n}{'x' * length}"} for n in range(n_labels)]
    fields = {"x": {"field": "x", "type": "quantitative"}, "y": {"field": "y", "type": "nominal"}}
    return {"data": {"values": rows}, "mark": "point", "encoding": fields}


EASY, HARD = chart_of(2), chart_of(3000, 2000)  # the hard one takes minutes


@pytest.fixture
def painter() -> Iterator[Painter]:
    made = Painter(longest=0.2)
    yield made
    made.end()


def state_of(pid: int) -> str:
    """Return the state of a process as Linux has it; empty if there is none."""
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    return ""


def seconds_of(pid: int) -> float:
    """Return the processor time of a process."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) / os.sysconf("SC_CLK_TCK")


@pytest.mark.slow
def test_what_takes_too_long_is_given_up_and_the_next_is_drawn(painter: Painter) -> None:
    with pytest.raises(FigureError, match=r"longer than 0\.2 s"):
        painter.call("vegalite_to_svg", vl_spec=HARD)
    assert painter.process is None
    painter.longest = own.LONGEST_DRAWING
    assert painter.call("vegalite_to_svg", vl_spec=EASY).startswith("<svg")


@pytest.mark.slow
def test_what_the_library_refuses_is_an_error(painter: Painter) -> None:
    painter.longest = own.LONGEST_DRAWING
    with pytest.raises(FigureError, match="cannot draw it"):
        painter.call("vegalite_to_svg", vl_spec={**EASY, "mark": 3})


ABORTING = "import os, sys; sys.stdin.readline(); os.abort()"
WAITING = "import sys, time; sys.stdin.readline(); time.sleep(600)"


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "script.py"
    monkeypatch.setattr(own, "SCRIPT", path)
    return path


def test_a_library_that_ends_its_process_is_an_error(painter: Painter, script: Path) -> None:
    script.write_text(ABORTING)
    painter.longest = own.LONGEST_DRAWING
    with pytest.raises(FigureError, match="broke off"):
        painter.call("vegalite_to_svg", vl_spec=EASY)


def test_a_process_that_cannot_be_started_is_an_error(painter: Painter, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/no/such/python")
    with pytest.raises(FigureError, match="cannot be started"):
        painter.call("vegalite_to_svg", vl_spec=EASY)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signal")
def test_an_interrupt_is_obeyed_while_it_draws(painter: Painter, script: Path) -> None:
    script.write_text(WAITING)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background has it ignored
    try:
        threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
        with pytest.raises(KeyboardInterrupt):
            painter.call("vegalite_to_svg", vl_spec=EASY)
    finally:
        signal.signal(signal.SIGINT, before)
    assert painter.process is None


@pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows has no fork")
def test_a_forked_process_has_its_own(painter: Painter, script: Path) -> None:
    script.write_text('import sys\nfor line in sys.stdin: print(\'{"text": "drawn"}\', flush=True)')
    painter.start()
    process = painter.process
    child = os.fork()
    if not child:
        answer = painter.call("vegalite_to_svg", vl_spec=EASY)
        is_other = process is not None and painter.process is not None and process.pid != painter.process.pid
        painter.end()
        os._exit(0 if is_other and answer == "drawn" else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert painter.process is process
    assert painter.call("vegalite_to_svg", vl_spec=EASY) == "drawn"


DRAWING = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background starts with it ignored
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # the tests may run under nohup
from deadheat.__main__ import start
from deadheat.plugins.figures import saving
from deadheat.plugins.figures.painter import painter

def draw_for_long(spec):
    print(painter.process.pid, flush=True)
    rows = [{"x": n, "y": f"{n}{'x' * 2000}"} for n in range(3000)]
    fields = {"x": {"field": "x", "type": "quantitative"}, "y": {"field": "y", "type": "nominal"}}
    return painter.call("vegalite_to_svg", vl_spec={"data": {"values": rows}, "mark": "point", "encoding": fields})

saving.svg_of = draw_for_long
start()
"""
QUERIES = ("q1", "q2", "q3")
FILES = {
    "qrels.txt": "".join(f"{query} 0 a 1\n" for query in QUERIES),
    "a.run": "".join(f"{query} Q0 a 1 2 t\n" for query in QUERIES),
    "b.run": "".join(f"{query} Q0 b 1 2 t\n{query} Q0 a 2 1 t\n" for query in QUERIES),
}
COMMANDS = {
    "figures": ["evaluate", "qrels.txt", "a.run", "--figures", "pictures"],
    "page": ["report", "qrels.txt", "a.run", "b.run", "-o", "page.html"],
}


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere it ends when the time of the figure is over")
@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(("name", "code"), [("SIGINT", 130), ("SIGTERM", 143), ("SIGHUP", 129), ("SIGKILL", -9)])
def test_nothing_that_draws_is_left_behind(tmp_path: Path, command: str, name: str, code: int) -> None:
    for file, text in FILES.items():
        (tmp_path / file).write_text(text)
    arguments = [sys.executable, "-c", DRAWING, *COMMANDS[command]]
    process = subprocess.Popen(
        arguments, cwd=tmp_path, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    with process:
        assert process.stdout is not None
        assert process.stderr is not None
        pid = int(process.stdout.readline())
        while seconds_of(pid) < 1.5:  # it is at work
            time.sleep(0.05)
        process.send_signal(getattr(signal, name))
        assert process.wait(10) == code
        assert "Traceback" not in process.stderr.read()
    for _ in range(100):
        if state_of(pid) in {"", "Z"}:
            break
        time.sleep(0.05)
    assert state_of(pid) in {"", "Z"}  # of one that nobody waits for, only its state is left
    assert {path.name for path in tmp_path.iterdir()} - {*FILES, "pictures"} == set() or name == "SIGKILL"
