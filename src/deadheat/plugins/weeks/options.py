"""The option --history."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from deadheat.core.cli.help import option
from deadheat.core.cli.paths import INPUT

OPTIONS: dict[str, Callable[[Any], Any]] = {
    "history": option(
        "--history",
        type=INPUT,
        metavar="FOLDER",
        help="Instead: the saved evaluations of this folder, in order of time.",
    ),
}
