"""Progress: a bar on a terminal for a phase that lasts, lines with --verbose, nothing with --quiet."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from deadheat.core.phases import Advance
from deadheat.core.wording import escape_for_terminal

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
                    bar.append(self._bars.add_task(escape_for_terminal(what), total=n_steps, completed=done))

        def advance(steps: int) -> None:
            nonlocal done
            done += steps
            if bar and self._bars:
                self._bars.update(bar[0], completed=done)

        timer = threading.Timer(DELAY, show)
        timer.daemon = True
        if not self._asked.get("quiet") and self._is_on_terminal():
            timer.start()
        try:
            yield advance
        finally:
            with self._lock:
                timer.cancel()
                if bar and self._bars:
                    is_last = len(self._bars.task_ids) == 1
                    if is_last:
                        self._bars.stop()  # while it has its bar: rich before 14.1 leaves an empty line otherwise
                    self._bars.remove_task(bar[0])
                    if is_last:
                        self._bars = None
        if self._asked.get("verbose"):
            self._say(f"{what}: {time.monotonic() - start:.2f} s")

    def _is_on_terminal(self) -> bool:
        """Return whether standard error is a terminal; while bars are shown, rich has put something else there."""
        if self._bars is not None:
            return True
        return sys.stderr is not None and sys.stderr.isatty()  # pyright: ignore[reportUnnecessaryComparison] - closed


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

    bars = Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TaskProgressColumn(),
        TimeElapsedColumn(),
        TextColumn("left:"),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    bars.start()
    return bars
