"""Measure deadheat beside other tools: ``python -m bench --help``."""

from __future__ import annotations

import argparse
import sys

from bench import report
from bench.data import MAKERS, Data
from bench.lines import LINES, ON_REQUEST, Row, Setting
from bench.process import ChildError, run


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m bench", description="Measure the lines of the design's Speed.")
    names = [*LINES, *ON_REQUEST]
    parser.add_argument("--only", metavar="NAME", action="append", choices=names, help=f"of {', '.join(names)}")
    parser.add_argument("--quick", action="store_true", help="small data, to try it; writes no results")
    parser.add_argument("--large", action="store_true", help="also 70 million rows of Parquet (1 GB of disk)")
    parser.add_argument("--repeats", metavar="N", type=int, default=5, help="counted runs of each command (5)")
    return parser.parse_args()


def main() -> int:
    """Make the data, measure, print, write the results down."""
    chosen = arguments()
    every = LINES | ON_REQUEST
    names = chosen.only or [*LINES, *(["large"] if chosen.large else [])]
    size = "quick" if chosen.quick else "full"
    data = Data(size)
    for part in MAKERS:
        is_wanted = part == "run" or part in names or (part == "large" and chosen.large)
        if is_wanted and data.missing(part):
            print(f"making the data ({size}, {part})", flush=True)
            run([sys.executable, "-m", "bench.data", part, size])
    rows: list[Row] = []
    setting = Setting(data, chosen.repeats, has_large=chosen.large)
    for name in names:
        try:
            for row in every[name](setting):
                print(report.show(row), flush=True)
                rows.append(row)
        except ChildError as error:
            print(f"{name}: {error}", file=sys.stderr)
            rows.append(Row(name, "", "failed", passed=False))
    missed = [row.line for row in rows if row.passed is False]
    print(f"{len(rows) - len(missed)} lines reached or without target, {len(missed)} missed")
    if not chosen.quick:
        report.write([row for row in rows if row.measured != "failed"])
        print(f"written: {report.RESULTS.relative_to(report.RESULTS.parents[1])}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
