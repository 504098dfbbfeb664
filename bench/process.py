"""Run commands as whole processes, one after the other, and account for their time and memory."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

ROOT = Path(__file__).resolve().parents[1]
RSS_UNIT = 1 if sys.platform == "darwin" else 1024  # of ru_maxrss, in bytes
# Compiled modules are kept, as they are of an installed package: else each run of a command compiles them anew.
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


class ChildError(RuntimeError):
    """A measured process failed."""


@dataclass(frozen=True)
class Sample:
    """One finished process.

    Attributes
    ----------
    wall, cpu : float
        Seconds from start to end, and of processor time over all threads.
    peak : int
        Largest resident set, in bytes.
    output : Any
        What it printed, if it printed JSON.
    """

    wall: float
    cpu: float
    peak: int
    output: Any


def run(command: Sequence[str]) -> Sample:
    """Run one command to its end.

    This process imports no large library: on Linux a child starts with the resident set of its parent.
    """
    begin = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT, env=ENVIRONMENT) as child:
        assert child.stdout
        assert child.stderr
        printed, complaints = child.stdout.read(), child.stderr.read()
        _, status, usage = os.wait4(child.pid, 0)
        wall = time.perf_counter() - begin
        child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        last = complaints.decode(errors="replace").strip().splitlines()[-1:] or ["no message"]
        msg = f"{' '.join(command[1:])}: exit status {child.returncode}: {last[0]}"
        raise ChildError(msg)
    output = json.loads(printed) if printed.startswith(b"{") else None
    return Sample(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * RSS_UNIT, output)


def task(module: str, name: str, *arguments: object) -> list[str]:
    """Return the command that runs a function of ``bench.tasks`` or ``bench.inside``."""
    return [sys.executable, "-m", f"bench.{module}", name, *map(str, arguments)]


def interleave(commands: Mapping[str, Sequence[str]], repeats: int) -> dict[str, list[Sample]]:
    """Run the commands in turn, A B A B, so that a drift of the machine's speed meets all of them."""
    samples: dict[str, list[Sample]] = {name: [] for name in commands}
    for _ in range(repeats):
        for name, command in commands.items():
            samples[name].append(run(command))
    return samples


def ratio(slower: Sequence[float], faster: Sequence[float]) -> float:
    """Return the median of the ratios, pair by pair."""
    return statistics.median(a / b for a, b in zip(slower, faster, strict=True))


def walls(samples: Sequence[Sample]) -> list[float]:
    """Return the seconds of each run."""
    return [sample.wall for sample in samples]


def peak(samples: Sequence[Sample]) -> int:
    """Return the largest resident set over the runs."""
    return max(sample.peak for sample in samples)


@dataclass(frozen=True)
class TreeUsage:
    """What this process and those that it has started have used so far.

    Attributes
    ----------
    cpu : float
        Seconds of processor time.
    peak : int
        The largest resident sets of the processes that still run, added up, in bytes.
    """

    cpu: float
    peak: int


def usage_of_tree() -> TreeUsage:
    """Return what this process and its descendants have used; Linux alone says so, elsewhere it is nothing."""
    children: dict[int, list[int]] = {}
    ticks: dict[int, int] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            # the name of a program, in parentheses, may have blanks
            fields = (folder / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        except OSError:  # it has ended since
            continue
        process_id, parent = int(folder.name), int(fields[1])
        children.setdefault(parent, []).append(process_id)
        ticks[process_id] = sum(map(int, fields[11:15]))  # with those of children that have ended
    found = [os.getpid()]
    for process_id in found:
        found += children.get(process_id, [])
    cpu = sum(ticks.get(process_id, 0) for process_id in found) / os.sysconf("SC_CLK_TCK")
    return TreeUsage(cpu, sum(map(_peak_of, found)))


def _peak_of(process_id: int) -> int:
    """Return the largest resident set of a process in bytes, 0 if the system does not say."""
    try:
        lines = Path(f"/proc/{process_id}/status").read_text(encoding="utf-8").splitlines()
    except OSError:
        return 0
    kilobytes = [line.split()[1] for line in lines if line.startswith("VmHWM:")]
    return int(kilobytes[0]) * 1024 if kilobytes else 0


def warm(*paths: str) -> None:
    """Read files once, so that the first process does not pay for the disk."""
    for path in paths:
        with Path(path).open("rb", buffering=0) as file:
            while file.read(1 << 20):
                pass
