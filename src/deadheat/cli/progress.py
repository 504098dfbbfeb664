"""What a command says of its progress: a bar on a terminal, lines with --verbose, nothing with --quiet.

Phases are named where they happen, in the library (`deadheat.io.phases`). One that takes longer than a second gets a
bar.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from deadheat.errors import on_terminal
from deadheat.io.phases import Advance

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

DELAY = 1.0  # seconds after which a phase gets a bar


class Watch:
    """Shows the phases that last.

    Parameters
    ----------
    asked : mapping
        Has a true value at "quiet" or "verbose" if these were given, which is known when a phase begins.
    say : callable
        Takes a line.
    """

    def __init__(self, asked: Mapping[str, Any], say: Callable[[str], object]) -> None:
        self._asked, self._say, self._lock = asked, say, threading.Lock()
        self._bars: Progress | None = None

    @contextmanager
    def __call__(self, what: str, n_steps: int | None = None) -> Iterator[Advance]:
        """Show a phase while the context lasts."""
        start, done = time.monotonic(), 0
        bar: list[TaskID] = []  # one at most

        def show() -> None:
            with self._lock:
                if not timer.finished.is_set():
                    self._bars = self._bars or _new_bars()
                    bar.append(self._bars.add_task(on_terminal(what), total=n_steps, completed=done))

        def advance(steps: int) -> None:
            nonlocal done
            done += steps
            if bar and self._bars:
                self._bars.update(bar[0], completed=done)

        timer = threading.Timer(DELAY, show)
        timer.daemon = True
        if not self._asked.get("quiet") and sys.stderr is not None and sys.stderr.isatty():  # None when closed
            timer.start()
        try:
            yield advance
        finally:
            with self._lock:
                timer.cancel()
                if bar and self._bars:
                    self._bars.remove_task(bar[0])
                    if not self._bars.task_ids:
                        self._bars.stop()
                        self._bars = None
        if self._asked.get("verbose"):
            self._say(f"{what}: {time.monotonic() - start:.2f} s")


def _new_bars() -> Progress:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        TaskProgressColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    times = TimeElapsedColumn(), TextColumn("left:"), TimeRemainingColumn()
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), TaskProgressColumn(), *times)
    bars = Progress(*columns, console=Console(stderr=True), transient=True)
    bars.start()
    return bars
