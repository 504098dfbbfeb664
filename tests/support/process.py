"""The command line as its own process."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

from support.paths import SOURCE

if TYPE_CHECKING:
    from pathlib import Path

UNSET = {"NO_COLOR", "FORCE_COLOR", "COLUMNS", "PYTHONUNBUFFERED"}


def environment(**changes: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in UNSET}
    return kept | {"PYTHONPATH": str(SOURCE)} | changes


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-c", "from deadheat.core.cli import main; main(prog_name='deadheat')", *arguments]


def run(folder: Path, *arguments: str, **changes: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(command(*arguments), cwd=folder, env=environment(**changes), capture_output=True, check=False)
