"""Phases: what is done has a name, a watcher shows how far it is, and what takes long is announced by a warning.

The watcher is the command line, or nobody. The first steps of many, half a second of processor time, say whether all
steps will take more than ten seconds.
"""

import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from contextvars import ContextVar
from typing import TypeAlias

from deadheat.core.errors import LONG, DurationWarning

Advance: TypeAlias = Callable[[int], None]
# A watcher takes what is done, and how many steps it has if that is known.
Watcher: TypeAlias = Callable[[str, int | None], AbstractContextManager[Advance]]

SOON = 0.5  # seconds after which the first steps say how long all of them take

_watcher: ContextVar[Watcher | None] = ContextVar("watcher", default=None)


def phase(what: str, n_steps: int | None = None) -> AbstractContextManager[Advance]:
    """Name what is done inside the context; the context gives a function to call with the number of steps done.

    Examples
    --------
    >>> with phase("counting", 3) as advance:
    ...     for _ in range(3):
    ...         advance(1)
    """
    watcher = _watcher.get()
    if watcher is None:
        return nullcontext(lambda _: None)
    return watcher(what, n_steps)


@contextmanager
def set_watcher(watcher: Watcher | None) -> Iterator[None]:
    """Let a watcher know of all phases inside the context; None hides them, as inside the steps of a phase."""
    token = _watcher.set(watcher)
    try:
        yield
    finally:
        _watcher.reset(token)


@contextmanager
def lasting(what: str, n_steps: int, hint: str = "") -> Iterator[Advance]:
    """Warn of steps that take longer than ten seconds together, as soon as that shows; from then on they are a phase.

    Parameters
    ----------
    what : str
        The subject of the warning, in the singular.
    n_steps : int
        How many steps there are, all of about the same length.
    hint : str, default ""
        The end of the warning: what takes less time.

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
            total_seconds = seconds * n_steps / n_done
            if total_seconds > LONG:
                warnings.warn(f"{what} takes about {total_seconds:.0f} s{hint}", DurationWarning, stacklevel=2)
                shown = stack.enter_context(phase(what, n_steps))
                shown(n_done)

        yield advance
