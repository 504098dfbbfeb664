"""The command line, in this process and as a process of its own; commands find the files of `data.write_files`."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import shlex
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import click

from deadheat.core.cli import main
from golden.data import folder_of_files
from support.command import runner
from support.process import environment

# what differs from one machine, version or moment to the next
EXCLUDED = {"deadheat", "time"}


def printed(line: str) -> dict[str, Any]:
    """Return the exit code of a command, and what it prints as JSON."""
    result = runner().invoke(main, [*shlex.split(line), "--format", "json"])
    return document_of(result.exit_code, result.stdout)


def printed_table(line: str, separator: str = ",") -> dict[str, Any]:
    """Return the exit code of a command, and the cells that it prints, numbers as numbers."""
    result = runner().invoke(main, shlex.split(line))
    rows = csv.reader(io.StringIO(result.stdout), delimiter=separator)
    return {"exit_code": result.exit_code, "rows": [[number_or_text(cell.strip()) for cell in row] for row in rows]}


def printed_by_process(line: str) -> dict[str, Any]:
    """Return what a command prints as JSON, as a process of its own."""
    done = run_process([*shlex.split(line), "--format", "json"])
    return document_of(done.returncode, done.stdout)


def hash_of_process(line: str) -> dict[str, Any]:
    """Return the exit code of a command as a process of its own, and a hash of what it prints."""
    done = run_process(shlex.split(line))
    return {"exit_code": done.returncode, "stdout": hash_of(done.stdout), "stderr": hash_of(done.stderr)}


def run_process(words: list[str]) -> subprocess.CompletedProcess[str]:
    """Run the command line as a user does."""
    command = [sys.executable, "-m", "deadheat", *words]
    return subprocess.run(
        command, cwd=folder_of_files(), env=environment(), capture_output=True, encoding="utf-8", check=False
    )


def hash_of(text: str) -> str:
    """Return a short hash of a text; "" for none."""
    return hashlib.sha256(text.encode()).hexdigest()[:16] if text else ""


def document_of(exit_code: int, text: str) -> dict[str, Any]:
    """Return an exit code and the JSON that was printed, without what changes from one call to the next."""
    return {"exit_code": exit_code, "document": without_excluded(json.loads(text)) if text else None}


def without_excluded(value: Any) -> Any:
    """Leave the values of excluded keys out of some JSON, and keep the keys."""
    if isinstance(value, dict):
        return {key: None if key in EXCLUDED else without_excluded(one) for key, one in value.items()}
    if isinstance(value, list):
        return [without_excluded(one) for one in value]
    return value


def number_or_text(cell: str) -> float | str:
    """Return a cell as a number, if it is one."""
    try:
        return float(cell)
    except ValueError:
        return cell


def help_of(words: list[str]) -> str:
    """Return the help of a command in this process."""
    return runner().invoke(main, words, terminal_width=80).stdout


def command_names() -> Iterator[str]:
    """Yield the commands in the order of `deadheat --help`."""
    yield from main.list_commands(click.Context(main))
