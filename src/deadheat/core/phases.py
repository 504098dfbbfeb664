"""Phases: what is done has a name, whoever watches shows how far it is, and what takes long says so before it does.

A phase is shown by whoever watches: the command line, or nobody. The first steps of many, half a second of the
processor's time, say whether all of them will take ten.
"""

import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from contextvars import ContextVar
from typing import TypeAlias

from deadheat.core.errors import LONG, DurationWarning

Advance: TypeAlias = Callable[[int], None]
# Takes what is done, and how many steps it has if that is known
Watcher: TypeAlias = Callable[[str, int | None], AbstractContextManager[Advance]]

SOON = 0.5  # seconds after which the first steps say how long all of them take

_watcher: ContextVar[Watcher | None] = ContextVar("watcher", default=None)


def phase(what: str, n_steps: int | None = None) -> AbstractContextManager[Advance]:
    """Name what is done inside the context; it gives a function to call with the number of steps that are done.

    Examples
    --------
    >>> with phase("counting", 3) as advance:
    ...     for _ in range(3):
    ...         advance(1)
    """
    watcher = _watcher.get()
    return nullcontext(lambda _: None) if watcher is None else watcher(what, n_steps)


@contextmanager
def watched_by(watcher: Watcher | None) -> Iterator[None]:
    """Let a watcher know of all phases inside the context; None: nobody, as of the steps of a phase."""
    token = _watcher.set(watcher)
    try:
        yield
    finally:
        _watcher.reset(token)


@contextmanager
def lasting(what: str, n_steps: int, hint: str = "") -> Iterator[Advance]:
    """Warn of steps that take longer than ten seconds together, as soon as that shows; they are a phase from then on.

    Parameters
    ----------
    what : str
        The subject of the warning, in the singular.
    n_steps : int
        About as long as one another.
    hint : str, default ""
        The end of the warning: what takes less.

    Examples
    --------
    >>> with lasting("counting", 3) as advance:
    ...     for _ in range(3):
    ...         advance(1)
    """
    start = time.thread_time()
    n_done = 0
    shown: Advance | None = None
    with ExitStack() as stack:

        def advance(n_more: int) -> None:
            nonlocal n_done, shown
            n_done += n_more
            if shown is not None:
                shown(n_more)
                return
            seconds = time.thread_time() - start
            if seconds < SOON or n_done >= n_steps:
                return
            in_all = seconds * n_steps / n_done
            if in_all > LONG:
                warnings.warn(f"{what} takes about {in_all:.0f} s{hint}", DurationWarning, stacklevel=2)
                shown = stack.enter_context(phase(what, n_steps))
                shown(n_done)

        yield advance
