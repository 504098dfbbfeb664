"""Print the measured lines, and write them down with the machine and the versions."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bench.lines import Row

RESULTS = Path(__file__).with_name("RESULTS.md")
PACKAGES = (
    *("deadheat", "numpy", "polars", "pandas", "narwhals", "pytrec_eval-terrier", "ir-measures", "ranx"),
    *("tie-aware-retrieval-metrics", "scikit-learn"),
)
HEAD = ["line", "target", "measured", "", "times", "peak memory", "commit, processor"]
METHOD = """\
`make bench BENCH="--large --repeats 5"` measures all lines, `--only NAME` some: a row keeps the commit and the
processor with which it was measured (+ if files had changed since); the machine of the newest is below. Targets are the
project's own: seconds were set on a machine that is up to 2.5 times as fast, and ratios depend on the machine less.
MISS is what was not reached here.

A tool runs as a whole process, from the start of the interpreter to the means (of CSV: to the rows), in turn with what
its line compares it with (A B A B). A ratio is the median of the ratios pair by pair, seconds are medians, peak memory
is the largest resident set that the operating system counted. Dicts, the small evaluation, tied documents, matrices and
the tools that average over ties are timed inside one process; ten times the rows from after the import to the means.
CPU seconds are those of all threads: deadheat and Polars read files with all cores, the others with one.

The run has 6,980 queries x 1,000 documents; sparse qrels have one relevant document a query, graded ones about twenty
judgments."""
VERDICTS = {True: "pass", False: "MISS", None: ""}


def machine() -> list[str]:
    """Describe the machine and the software without naming either."""
    return [
        f"{cpu_model()}, {os.cpu_count()} cores, {ram_gb():.0f} GB of memory",
        f"{system()}, Python {platform.python_version()}",
        ", ".join(f"{name} {importlib.metadata.version(name)}" for name in PACKAGES),
    ]


def cpu_model() -> str:
    """Return the processor's name as the system gives it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.machine()


def short_cpu_model() -> str:
    """Return the processor's name without marks, as ``Intel Xeon``."""
    words = cpu_model().replace("(R)", "").replace("(TM)", "").split()
    return " ".join(word for word in words if word != "Processor")


def ram_gb() -> float:
    """Return the size of the memory in GB."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9


def system() -> str:
    """Return the name and release of the operating system."""
    try:
        return platform.freedesktop_os_release()["PRETTY_NAME"]
    except OSError:
        return f"{platform.system()} {platform.release()}"


def commit() -> str:
    """Return the commit of the code, with a plus sign if files other than the results have changed since."""
    changed = ask_git("diff", "--name-only", "HEAD", "--", ":/", f":!{RESULTS.name}")
    return ask_git("rev-parse", "--short=8", "HEAD") + ("+" if changed else "")


def ask_git(*arguments: str) -> str:
    """Return what git says of this repository."""
    command = ["git", *arguments]
    done = subprocess.run(command, cwd=RESULTS.parent, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def cells_of(row: Row, measured_at: str) -> list[str]:
    """Return a row of the table."""
    return [row.line, row.target, row.measured, VERDICTS[row.passed], row.detail, row.memory, measured_at]


def read_table() -> dict[str, list[str]]:
    """Return the rows of the table that is there, by their line."""
    rows = {}
    for line in RESULTS.read_text(encoding="utf-8").splitlines():
        if line.startswith("| "):
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            rows[cells[0]] = cells
    for heading in ("line", "---"):
        rows.pop(heading, None)
    return rows


def write(rows: Sequence[Row]) -> None:
    """Write what was measured into the table of ``bench/RESULTS.md``; rows of other lines stay."""
    measured_at = f"{commit()}, {short_cpu_model()}"
    table = read_table()
    for row in rows:
        table[row.line] = cells_of(row, measured_at)
    lines = [f"| {' | '.join(cells)} |" for cells in (HEAD, ["---"] * len(HEAD), *table.values())]
    facts = [f"* {fact}" for fact in machine()]
    text = ["# How fast, and with how much memory", "", *lines, "", METHOD, "", *facts, ""]
    RESULTS.write_text("\n".join(text), encoding="utf-8")


def show(row: Row) -> str:
    """Return a row as text for the terminal."""
    verdict = VERDICTS[row.passed] or "-"
    text = f"{verdict:<5} {row.line:<75} {row.measured:>10}   {row.target}"
    return "\n      ".join(part for part in (text, row.detail, row.memory) if part)
