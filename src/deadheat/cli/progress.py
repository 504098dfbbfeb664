"""What a command says of its progress: a bar on a terminal, lines with --verbose, nothing with --quiet.

Phases are named where they happen, in the library (`deadheat.io.phases`). One that takes longer than a second gets a
bar, drawn by a thread of its own, as most of them are a single call of NumPy or Polars.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from deadheat.io.phases import Advance, phase, watched_by
from deadheat.wording import on_terminal

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

DELAY = 1.0  # seconds after which a phase gets a bar
_STEP = 0.1  # seconds between two looks at it


@dataclass(eq=False)
class _Phase:
    """A phase that has begun.

    Attributes
    ----------
    what : str
    n_steps : int or None
    start : float
    done : int
    """

    what: str
    n_steps: int | None
    start: float = field(default_factory=time.monotonic)
    done: int = 0

    def advance(self, steps: int) -> None:
        """Count steps that are done."""
        self.done += steps


class Watch:
    """Shows phases, the innermost one.

    Parameters
    ----------
    asks, say : callable
        As of :func:`watching`.
    """

    def __init__(self, asks: Callable[[], tuple[bool, bool]], say: Callable[[str], object]) -> None:
        self._asks, self._say = asks, say
        self._phases: list[_Phase] = []
        self._bar: tuple[Progress, TaskID] | None = None
        self._lock, self._end = threading.RLock(), threading.Event()
        self._thread: threading.Thread | None = None

    @contextmanager
    def __call__(self, what: str, n_steps: int | None = None) -> Iterator[Advance]:
        """Show a phase while the context lasts."""
        is_quiet, is_verbose = self._asks()
        begun = _Phase(what, n_steps)
        with self._lock:
            self._phases.append(begun)
        has_bar = not is_quiet and sys.stderr is not None and sys.stderr.isatty()  # None when closed
        if has_bar and self._thread is None:
            self._thread = threading.Thread(target=self._draw, name="progress", daemon=True)
            self._thread.start()
        try:
            yield begun.advance
        finally:
            with self._lock:
                self._phases.remove(begun)
                if self._thread is not None:  # else the phase around it would get a bar where there is no terminal
                    self._show()
        if is_verbose:
            self._say(f"{what}: {time.monotonic() - begun.start:.2f} s")

    def close(self) -> None:
        """Take the bar away."""
        self._end.set()
        if self._thread is not None:
            self._thread.join()
        with self._lock:
            self._phases.clear()
            self._show()

    def _draw(self) -> None:
        while not self._end.wait(min(_STEP, DELAY)):
            with self._lock:
                self._show()

    def _show(self) -> None:
        """Bring the bar up to date: that of the innermost phase, if it lasts, and none where no phase does."""
        now = time.monotonic()
        current = next((one for one in reversed(self._phases) if now - one.start >= DELAY), None)
        if current is None:
            if self._bar is not None:
                self._bar[0].stop()
                self._bar = None
            return
        if self._bar is None:
            self._bar = _new_bar()
        bar, task = self._bar
        bar.update(task, description=on_terminal(current.what), total=current.n_steps, completed=current.done)
        bar.refresh()


def _new_bar() -> tuple[Progress, TaskID]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), TimeElapsedColumn())
    # `Watch` redraws it: rich would start another thread
    bar = Progress(*columns, console=Console(stderr=True), transient=True, auto_refresh=False)
    bar.start()
    return bar, bar.add_task("", total=None)


@contextmanager
def watching(asks: Callable[[], tuple[bool, bool]], say: Callable[[str], object]) -> Iterator[None]:
    """Show the phases inside the context.

    Parameters
    ----------
    asks : callable
        Returns whether --quiet and --verbose were given; called when a phase begins.
    say : callable
        Takes a line.
    """
    watch = Watch(asks, say)
    try:
        with watched_by(watch):
            yield
    finally:
        watch.close()


@contextmanager
def progress(paths: Sequence[str]) -> Iterator[Callable[[str], None]]:
    """Show the progress through a sequence of files.

    Yields a function to call with each path when its turn comes.
    """
    sizes = {path: _size(path) for path in paths}
    begun = 0
    # the bar moves from file to file by their sizes; a single file has no parts, and the bar pulses
    with phase(_files(paths), None if len(sizes) < 2 else sum(sizes.values())) as advance:

        def begin(path: str) -> None:
            nonlocal begun
            advance(begun)
            begun = sizes[path]

        yield begin


def _files(paths: Sequence[str]) -> str:
    """Return what is done with the files."""
    first = Path(paths[0]).name if paths else ""
    return first if len(paths) < 2 else f"{first} and {len(paths) - 1} more"


def _size(path: str) -> int:
    try:
        return Path(path).stat().st_size
    except OSError:
        return 0  # reading it will say what is wrong
