"""Threads of Polars that a fork lost: whoever needs them would wait for ever, and gets an error instead."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from deadheat.errors import ForkError

_TASKS = Path("/proc/self/task")
_OF_POLARS = re.compile(r"polars-\d|async-executor")  # names of the threads that compute; importing starts none


@dataclass
class _Threads:
    """Whether Polars has threads that compute, and whether a fork left this process without them.

    Attributes
    ----------
    may_run : bool
        Whether deadheat called Polars: threads that were only just started have no name yet.
    ran_before_fork, are_lost : bool
    """

    may_run: bool = False
    ran_before_fork: bool = False
    are_lost: bool = False

    def before_fork(self) -> None:
        self.ran_before_fork = self.are_lost or self.may_run or _others_use_polars()

    def after_fork(self) -> None:
        self.are_lost = self.ran_before_fork


def _others_use_polars() -> bool:
    """Tell by the threads of this process, where the system shows them, whether Polars has computed something."""
    with suppress(OSError):
        return any(_OF_POLARS.match(_name_of(task)) for task in os.listdir(_TASKS))  # noqa: PTH208 - names are enough
    return False


def _name_of(task: str) -> str:
    with suppress(OSError):  # it may have ended meanwhile
        return (_TASKS / task / "comm").read_text()
    return ""


_THREADS = _Threads()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_THREADS.before_fork, after_in_child=_THREADS.after_fork)


def check_threads() -> None:
    """Raise `ForkError` where Polars would wait for ever: its threads did not come along into a forked process."""
    _THREADS.may_run = True
    if _THREADS.are_lost:
        raise ForkError(
            "this process was forked from one in which Polars had computed already; its threads are not here, and it"
            " would wait for them for ever. Start processes with multiprocessing.get_context('spawn') or"
            " ('forkserver'), or fork before anything is read; evaluate() of dicts of dicts works here too"
        )
