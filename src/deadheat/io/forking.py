"""Polars threads that a fork lost: a call that needs them would hang for ever, and raises an error instead."""

import os
import re
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from deadheat.errors import DeadheatError

_TASKS = Path("/proc/self/task")
_OF_POLARS = re.compile(r"polars-\d|async-executor")  # names of its worker threads; importing starts none


@dataclass
class _Threads:
    """Whether Polars has worker threads, and whether a fork left this process without them.

    Attributes
    ----------
    may_run : bool
        Whether deadheat has called Polars: threads that have just started have no name yet.
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
    """Tell whether Polars has computed something, by the threads of this process where the system shows them."""
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
    """Raise `DeadheatError` in a forked process where Polars would hang: its threads were not forked."""
    _THREADS.may_run = True
    if _THREADS.are_lost:
        raise DeadheatError(
            "this process was forked from one that had already used Polars; the threads of Polars were not forked, and"
            " it would wait for them for ever. Start processes with multiprocessing.get_context('spawn') or"
            " ('forkserver'), or fork before anything is read; evaluate() of dicts of dicts works here too"
        )
