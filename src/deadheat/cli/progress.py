"""A progress bar while large files are read."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from deadheat.wording import on_terminal

LARGE = 100_000_000  # bytes


@contextmanager
def progress(paths: Sequence[str]) -> Iterator[Callable[[str], None]]:
    """Show the progress through a sequence of files, if one is large and stderr is a terminal.

    Yields a function to call with each path when its turn comes.
    """
    sizes = {path: _size(path) for path in paths}
    if max(sizes.values(), default=0) <= LARGE or sys.stderr is None or not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        # The bar moves from file to file; a single file has no parts, and the bar pulses.
        task = bar.add_task("", total=None if len(sizes) == 1 else sum(sizes.values()))
        done = 0

        def begin(path: str) -> None:
            nonlocal done
            bar.update(
                task, description=f"{on_terminal(Path(path).name)} ({sizes[path] / 1e6:,.0f} MB)", completed=done
            )
            done += sizes[path]

        yield begin


def _size(path: str) -> int:
    try:
        return Path(path).stat().st_size
    except OSError:
        return 0  # reading it will say what is wrong
