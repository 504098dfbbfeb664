"""Figures: hostile names in all of them, and signals while one is drawn."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar
from xml.etree import ElementTree as ET

import deadheat as dh
from deadheat import figures
from fuzz.case import Kind
from fuzz.names import hostile_name
from support.process import environment

if TYPE_CHECKING:
    from random import Random

    from fuzz.strict import Row

LONGEST_SVG = 2_000_000  # characters
PATIENCE = 10.0  # seconds until a process that got a signal has ended, and what it started


class FigureNames(Kind):
    """Figures of runs, queries and documents with hostile names: SVG that is well formed, or the reason why not."""

    name = "figure-names"
    n_cases = 10

    def write(self, folder: Path, rng: Random) -> Path:
        names = [list(dict.fromkeys(hostile_name(rng).replace("\0", "") or "x" for _ in range(4))) for _ in range(3)]
        queries, docs, runs = names
        wanted = {
            "qrels": {query: {doc: rng.randint(0, 2) for doc in docs} for query in queries},
            "runs": {
                run: {query: {doc: float(rng.randint(0, 2)) for doc in docs} for query in queries} for run in runs
            },
            "figure": rng.randint(0, 99),
        }
        path = folder / "x.json"
        path.write_text(json.dumps(wanted))
        return path

    def read(self, path: Path) -> list[Row] | None:
        wanted = json.loads(path.read_text())
        evaluated = dh.evaluate(wanted["qrels"], wanted["runs"], ["nDCG@3", "RR"])
        of = dh.compare(wanted["qrels"], wanted["runs"], ["nDCG@3"]) if len(wanted["runs"]) > 1 else evaluated
        charts = [one.chart for one in figures.drawings(of, ["nDCG@3"]) if one.chart is not None]
        svg = figures.rendered(charts[wanted["figure"] % len(charts)], "svg")
        assert len(svg) < LONGEST_SVG, f"{len(svg):,} bytes of SVG"
        ET.fromstring(svg)  # noqa: S314 - it is our own; parsed, it is well formed
        return None


DRAWING = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)
import polars
from deadheat.core.cli import app
from deadheat.plugins.figures.painter import painter
n_labels, length = map(int, sys.argv[1:])
rows = [{"x": n, "y": f"{n}{'x' * length}"} for n in range(n_labels)]
fields = {"x": {"field": "x", "type": "quantitative"}, "y": {"field": "y", "type": "nominal"}}
painter.start()
print(painter.process.pid, flush=True)
with app._signals_as_exceptions():
    while True:
        painter.call("vegalite_to_svg", vl_spec={"data": {"values": rows}, "mark": "point", "encoding": fields})
"""


class DrawingSignals(Kind):
    """A signal at any time while something is drawn: nothing that draws is left."""

    name = "drawing-signals"
    n_cases = 4
    SIGNALS: ClassVar = ("SIGINT", "SIGTERM", "SIGHUP", "SIGKILL")

    def write(self, folder: Path, rng: Random) -> Path:
        wanted = {
            "signal": rng.choice(self.SIGNALS),
            "delay": rng.choice((0.0, rng.random(), 3 * rng.random())),
            "chart": [rng.choice((2, 100, 2000)), rng.choice((5, 2000))],
        }
        path = folder / "x.json"
        path.write_text(json.dumps(wanted))
        return path

    def read(self, path: Path) -> list[Row] | None:
        if not hasattr(signal, "SIGHUP"):
            return None
        wanted = json.loads(path.read_text())
        words = [sys.executable, "-c", DRAWING, *map(str, wanted["chart"])]
        with subprocess.Popen(words, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
            assert process.stdout is not None
            painter = int(process.stdout.readline())
            time.sleep(wanted["delay"])
            process.send_signal(getattr(signal, wanted["signal"]))
            with suppress(subprocess.TimeoutExpired):
                process.wait(PATIENCE)
            code = process.poll()
            process.kill()
        assert code is not None, "the process goes on"
        end = time.monotonic() + PATIENCE
        while is_running(painter) and time.monotonic() < end:
            time.sleep(0.05)
        is_left = is_running(painter)
        if is_left:
            os.kill(painter, signal.SIGKILL)
        assert not is_left, "what draws goes on"
        return None


def is_running(pid: int) -> bool:
    """Return whether a process runs; one that has ended and that nobody waits for does not."""
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False
