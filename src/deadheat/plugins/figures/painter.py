"""The process that draws.

vl-convert lets nothing else happen while it draws, may take for ever, and ends the process that it cannot serve. In a
process of its own it can be given up, and all else goes on meanwhile.
"""

import atexit
import json
import os
import sys
import time
from base64 import b64decode
from collections.abc import Callable
from concurrent.futures import Future, wait
from contextlib import suppress
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from subprocess import DEVNULL, PIPE, Popen
from threading import Lock, Thread
from typing import Any, TypeVar

from deadheat.core.errors import FigureError
from deadheat.core.wording import shorten

LONGEST_DRAWING = 30.0  # seconds of one figure
LONGEST_REASON = 200  # characters of what the library says
PATIENCE = 0.1  # seconds after which Python looks whether Ctrl-C was pressed
SCRIPT = Path(__file__).with_name("painter_process.py")

Made = TypeVar("Made")


class Painter:
    """Draws in a process of its own, one figure at a time; it is started when it is needed, and after a failure anew.

    Parameters
    ----------
    longest : float, default 30
        Seconds of one call.
    """

    def __init__(self, longest: float = LONGEST_DRAWING) -> None:
        self.longest = longest
        self.process: Popen[bytes] | None = None
        self._of_parent: Popen[bytes] | None = None
        self._turn = Lock()
        atexit.register(self.end)
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._forget)

    def start(self) -> None:
        """Start the process if it does not run: it takes half a second until it can draw, in which all else goes on."""
        if self.process is not None and self.process.poll() is None:
            return
        self.end()
        library = find_spec("vl_convert")
        if library is None or library.origin is None:
            return
        folder = Path(library.origin).parents[1]
        command = [sys.executable, "-S", "-P", str(SCRIPT), str(self.longest), str(folder)]
        with suppress(OSError):  # said when something is to be drawn
            self.process = Popen(  # noqa: S603 - it runs our own script
                command, stdin=PIPE, stdout=PIPE, stderr=DEVNULL, start_new_session=True
            )

    def call(self, name: str, **arguments: Any) -> Any:  # noqa: ANN401 - as the function has them
        """Return what a function of vl-convert returns, text or bytes.

        Raises
        ------
        FigureError
            It takes longer than it may, refuses what it is given, or ends the process.
        """
        request = json.dumps({"call": name, "arguments": arguments}).encode() + b"\n"
        answer = in_background(partial(self._answer_to, request))
        try:
            return wait_for(answer)
        except BaseException:
            if not answer.done():  # Ctrl-C
                self.end()
            raise

    def _answer_to(self, request: bytes) -> str | bytes:
        """Return what the process answers, or raise for what it does not."""
        with self._turn:
            self.start()
            if self.process is None:
                raise FigureError("the process that draws cannot be started")
            start = time.monotonic()
            line = _exchange(self.process, request)
            seconds = time.monotonic() - start
            answer = json.loads(line) if line.endswith(b"\n") else {}
            if "text" in answer:
                return str(answer["text"])
            if "bytes" in answer:
                return b64decode(answer["bytes"])
            self.end()
        if "error" in answer:
            raise FigureError(f"the drawing library cannot draw it: {shorten(answer['error'], LONGEST_REASON)}")
        if seconds >= self.longest:
            raise FigureError(f"it takes longer than {self.longest:g} s to draw", hint="draw less of it")
        raise FigureError("the drawing library broke off", hint="is there enough memory?")

    def end(self) -> None:
        """End the process, whatever it does."""
        process, self.process = self.process, None
        if process is not None:
            process.kill()
            process.communicate()

    def _forget(self) -> None:
        """Leave the process to the parent of this one, which was forked: both would read its answers."""
        self._turn = Lock()
        self._of_parent, self.process = self.process, None


def _exchange(process: Popen[bytes], request: bytes) -> bytes:
    """Return the line that a process answers; what it wrote before it ended, if it does."""
    if process.stdin is None or process.stdout is None:
        return b""
    try:
        process.stdin.write(request)
        process.stdin.flush()
        return process.stdout.readline()
    except (OSError, ValueError):  # it has ended, or was ended
        return b""


def in_background(make: Callable[[], Made]) -> Future[Made]:
    """Return what a function makes in a thread of its own, for which a process that ends does not wait."""
    made: Future[Made] = Future()

    def run() -> None:
        try:
            made.set_result(make())
        except Exception as error:  # noqa: BLE001 - raised where the result is asked for
            made.set_exception(error)

    Thread(target=run, daemon=True).start()
    return made


def wait_for(made: Future[Made]) -> Made:
    """Return what a thread makes, as soon as it is made; Ctrl-C is obeyed meanwhile.

    Once Polars is loaded, Ctrl-C breaks off no call of the system, such as one that reads or waits.
    """
    while not made.done():
        wait([made], timeout=PATIENCE)
    return made.result()


painter = Painter()
