"""A process that draws charts: in this one all else would wait while vl-convert draws, and it takes long to begin."""

import atexit
import json
import sys
from contextlib import suppress
from importlib.util import find_spec
from subprocess import DEVNULL, PIPE, Popen
from threading import Lock
from typing import Any

PAINTER = """
import json, sys, vl_convert
x, y = ({"field": name, "type": kind} for name, kind in (("x", "quantitative"), ("y", "nominal")))
marks = [{"mark": mark, "encoding": {"x": x, "y": y, "color": y}} for mark in ("point", "bar", "rule", "line", "text")]
# what is drawn for the first time takes long
vl_convert.vegalite_to_svg({"data": {"values": [{"x": 1, "y": "a"}]}, "title": "a", "layer": marks})
for line in sys.stdin:
    spec, version = json.loads(line)
    print(json.dumps(vl_convert.vegalite_to_svg(spec, vl_version=version)), flush=True)
"""
painters: list[Popen[str]] = []  # the process, if it was started
turn = Lock()  # one asks it at a time


def start_painter() -> None:
    """Start the process, if there is none and what it needs is installed; it ends with this one."""
    if painters or not (find_spec("vl_convert") and find_spec("altair")):
        return
    with suppress(OSError):
        painters.append(
            Popen(  # noqa: S603 - what is said above
                [sys.executable, "-P", "-c", PAINTER],
                stdin=PIPE,
                stdout=PIPE,
                stderr=DEVNULL,
                encoding="utf-8",
                start_new_session=True,
            )
        )
        atexit.register(_end_painter)


def _end_painter() -> None:
    for painter in painters:
        with painter:
            painter.kill()


def painted(spec: dict[str, Any], version: str | None) -> str | None:
    """Return a chart as SVG, drawn by the process; None if there is none, or it fails.

    Parameters
    ----------
    spec : dict
        As Vega-Lite reads it.
    version : str or None
        Of Vega-Lite, as vl-convert names it; None: the newest.
    """
    for painter in painters:
        with turn, suppress(OSError, ValueError):  # it has ended, or what it wrote is no JSON
            assert painter.stdin is not None and painter.stdout is not None  # noqa: PT018, S101 - for the type checker
            print(json.dumps([spec, version]), file=painter.stdin, flush=True)
            return str(json.loads(painter.stdout.readline()))
    return None
