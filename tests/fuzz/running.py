"""Running cases: each is made from a seed and a number, and is the same wherever it is made again."""

from __future__ import annotations

import multiprocessing
import resource
import shutil
import signal
import sys
import tempfile
import time
import warnings
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

from deadheat.errors import DeadheatError, DeadheatWarning
from fuzz.kinds import KINDS
from fuzz.strict import Refused

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from multiprocessing.connection import Connection
    from types import FrameType

    from fuzz.case import Kind

LONGEST = 30  # seconds of processor time of one case; on a machine that has other work to do it takes longer
LONGEST_WAIT = 10 * LONGEST  # until a case hangs
MOST_MEMORY = 3_000_000_000  # bytes, the program and earlier cases included


@dataclass(frozen=True)
class Finding:
    """A case in which deadheat did something wrong.

    Attributes
    ----------
    kind : str
    seed, number : int
    problem : str
    is_fatal : bool
        Whether the process did not survive it.
    """

    kind: str
    seed: int
    number: int
    problem: str
    is_fatal: bool = False

    def __str__(self) -> str:
        return f"{self.kind} SEED={self.seed} number {self.number}: {self.problem}"


class HangError(BaseException):
    """A case took too long; no library below catches it for an error of its own."""


def run(seed: int, number: int, names: Sequence[str], keep: Path | None = None) -> Finding | None:
    """Make the case of this number, and return what is wrong with it; its files are kept then."""
    rng = _random(seed, number)
    kind = KINDS[rng.choice(names)]
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings(action="ignore", category=DeadheatWarning):
        path = kind.write(Path(folder), rng)
        problem = problem_of(kind, path)
        if problem and keep:
            shutil.copytree(folder, keep / f"{kind.name}-{seed}-{number}", dirs_exist_ok=True)
    return Finding(kind.name, seed, number, problem) if problem else None


def problem_of(kind: Kind, path: Path) -> str | None:
    """Return what is wrong with what deadheat makes of a file."""
    before = _most_memory()
    try:
        with _alarm():
            found = kind.read(path)
    except DeadheatError as error:
        taken = _most_memory()
        if taken > max(before, MOST_MEMORY):
            return f"takes {taken:,} bytes of memory, and says {error}"
        return _problem_of_refusal(kind, path, error)
    except (KeyboardInterrupt, SystemExit):
        raise
    except HangError:
        return f"more than {LONGEST} seconds of processor time"
    except BaseException as raw:  # noqa: BLE001 - also a panic of Rust
        return f"raised {type(raw).__name__}: {str(raw)[:200]}"
    taken = _most_memory()
    if taken > max(before, MOST_MEMORY):
        return f"takes {taken:,} bytes of memory"
    try:
        expected = kind.expected(path)
    except Refused as refused:
        return f"reads {found!r:.200}, where a strict reader says: {refused.why} {sorted(refused.lines)}"
    return None if expected is None or expected == found else f"reads {found!r:.300}, expected {expected!r:.300}"


def _most_memory() -> int:
    """Return the most memory that this process has had, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def _problem_of_refusal(kind: Kind, path: Path, error: DeadheatError) -> str | None:
    try:
        expected = kind.expected(path)
    except Refused as refused:
        line = getattr(error, "line", None)
        if line and refused.lines and line not in refused.lines:
            return f"names line {line}, where {sorted(refused.lines)} is wrong: {refused.why}; {error}"
        return None
    return None if expected is None or kind.may_refuse else f"refuses what is valid: {error}"


def run_many(seed: int, seconds: float, names: Sequence[str], keep: Path) -> Iterator[tuple[int, Finding | None]]:
    """Yield how many cases were run, and what was found, until the time is over.

    They run in a process of their own: compiled code may end it, or hang where no alarm is heard.
    """
    spawn, end, number = multiprocessing.get_context("spawn"), time.monotonic() + seconds, 0
    while time.monotonic() < end:
        ours, theirs = spawn.Pipe()
        worker = spawn.Process(target=_work, args=(theirs, seed, number, names, keep), daemon=True)
        worker.start()
        theirs.close()
        while time.monotonic() < end:
            try:
                finding = ours.recv() if ours.poll(LONGEST_WAIT) else _dead(seed, number, names, "hangs")
            except EOFError:
                worker.join()
                finding = _dead(seed, number, names, f"ends the process with {worker.exitcode}")
            number += 1
            yield number, finding
            if finding and finding.is_fatal:
                break
        worker.kill()
        worker.join()


def _work(pipe: Connection, seed: int, number: int, names: Sequence[str], keep: Path) -> None:
    with suppress(BrokenPipeError):
        while True:
            pipe.send(run(seed, number, names, keep))
            number += 1


def _dead(seed: int, number: int, names: Sequence[str], problem: str) -> Finding:
    kind = _random(seed, number).choice(names)
    return Finding(kind, seed, number, problem, is_fatal=True)


def _random(seed: int, number: int) -> Random:
    return Random(f"{seed} {number}")


@contextmanager
def _alarm() -> Iterator[None]:
    def ring(_: int, __: FrameType | None) -> None:
        raise HangError

    before = signal.signal(signal.SIGPROF, ring)
    signal.setitimer(signal.ITIMER_PROF, LONGEST)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
