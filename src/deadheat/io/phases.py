"""Phases of long work, named where they happen and shown by whoever watches: the command line, or nobody."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from typing import TypeAlias

Advance: TypeAlias = Callable[[int], None]
# Takes what is done, and how many steps it has if that is known
Watcher: TypeAlias = Callable[[str, int | None], AbstractContextManager[Advance]]

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
