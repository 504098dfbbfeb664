"""Print the measured lines, and write them down with the machine and the versions."""

from __future__ import annotations

import datetime as dt
import importlib.metadata
import os
import platform
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from bench.lines import Row

RESULTS = Path(__file__).with_name("RESULTS.md")
PACKAGES = (
    *("deadheat", "numpy", "polars", "pandas", "narwhals", "pytrec_eval-terrier", "ir-measures", "ranx"),
    *("tie-aware-retrieval-metrics", "scikit-learn"),
)
METHOD = (
    "Each tool runs as a whole process, from the start of the interpreter to the means (of CSV: to the rows), in turn"
    " with what its line compares it with (A B A B); ratios are medians of the ratios pair by pair, seconds are"
    " medians, peak memory is the largest resident set that the operating system counted. Dicts, the small evaluation,"
    " the tied documents and the tools that average over ties are timed inside one process, and so are matrices of"
    " scores, torchmetrics beside them where it is installed; ten times the rows from after the import to the means."
    " CPU seconds are those of all threads together: deadheat and Polars read files with all cores, the others with"
    " one."
)
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


def ram_gb() -> float:
    """Return the size of the memory in GB."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9


def system() -> str:
    """Return the name and release of the operating system."""
    try:
        return platform.freedesktop_os_release()["PRETTY_NAME"]
    except OSError:
        return f"{platform.system()} {platform.release()}"


def markdown(rows: Iterable[Row]) -> list[str]:
    """Return the rows as a table in Markdown."""
    head = ["line", "target", "measured", "", "times", "peak memory"]
    body = [[row.line, row.target, row.measured, VERDICTS[row.passed], row.detail, row.memory] for row in rows]
    return [f"| {' | '.join(cells)} |" for cells in (head, ["---"] * len(head), *body)]


def write(rows: Sequence[Row], command: str, size: str) -> None:
    """Write ``bench/RESULTS.md``."""
    today = dt.datetime.now(tz=dt.UTC).date().isoformat()
    text = [
        "# How fast, and with how much memory",
        "",
        f"Measured on {today} by `{command}`. {size}",
        "",
        *(f"* {line}" for line in machine()),
        "",
        *markdown(rows),
        "",
        METHOD,
        "",
    ]
    RESULTS.write_text("\n".join(text), encoding="utf-8")


def show(row: Row) -> str:
    """Return a row as text for the terminal."""
    verdict = VERDICTS[row.passed] or "-"
    text = f"{verdict:<5} {row.line:<75} {row.measured:>10}   {row.target}"
    return "\n      ".join(part for part in (text, row.detail, row.memory) if part)
