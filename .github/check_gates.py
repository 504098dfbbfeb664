"""The step of action.yml that checks gates: a table on the page of the build, and an annotation for each failure.

It ends with 0 whether gates passed or failed, and writes which to GITHUB_OUTPUT: the page is made in both cases.
What cannot be evaluated ends it with the exit code of `deadheat gate`, as does a list of runs that is empty.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

FAILED, NOT_USABLE = 1, 2  # exit codes of `deadheat gate`: a gate failed; it was called wrongly


def lines_of(name: str) -> list[str]:
    """Return the lines of an input, without empty ones."""
    return [line.strip() for line in os.environ.get(name, "").splitlines() if line.strip()]


def gate(run: str, *form: str) -> tuple[int, str]:
    """Check one run; return the exit code and what was printed."""
    command = [sys.executable, "-m", "deadheat", "gate", os.environ["QRELS"], run, *form]
    for check in lines_of("CHECKS"):
        command += ["--check", check]
    for baseline in lines_of("BASELINE"):
        command += ["--baseline", baseline]
    done = subprocess.run([*command, *lines_of("OPTIONS")], stdout=subprocess.PIPE, encoding="utf-8", check=False)
    return done.returncode, done.stdout


def escape(text: str) -> str:
    """Return a text as the value of a command of a build's log."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def annotate(run: str) -> None:
    """Print an annotation for each gate that a run failed."""
    _, printed = gate(run, "--format", "json", "--quiet")
    document = json.loads(printed)
    for table in ("checks", "regressions", "no_worse_than"):
        for name, row in document.get(table, {}).items():
            by_stratum = {"": row} if "result" in row else row
            for stratum, checked in by_stratum.items():
                if checked["result"] == "failed":
                    gate_name = checked.get("gate", name)
                    name_in_stratum = f"{gate_name} {stratum}".rstrip()
                    text = f"{run}: {name_in_stratum}: {checked['reason']}"
                    print(f"::error title=deadheat gate::{escape(text)}")


def main() -> int:
    """Check each run."""
    runs = lines_of("RUNS")
    if not runs:  # GitHub lets an input be empty that is required
        print("::error title=deadheat gate::runs is empty: name a file of a run on each line")
        return NOT_USABLE
    passed = True
    for run in runs:
        code, table = gate(run, "--format", "github")
        if code not in {0, FAILED}:
            return code
        with Path(os.environ["GITHUB_STEP_SUMMARY"]).open("a", encoding="utf-8") as summary:
            summary.write(f"{table}\n")
        if code == FAILED:
            passed = False
            annotate(run)
    with Path(os.environ["GITHUB_OUTPUT"]).open("a", encoding="utf-8") as output:
        output.write(f"passed={str(passed).lower()}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
