"""The option --score-columns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from deadheat.core.cli.help import option

OPTIONS: dict[str, Callable[[Any], Any]] = {
    "score_columns": option(
        "--score-columns",
        metavar="all|NAME,...",
        help="Evaluate several columns of one table, or features of a LETOR file, each as a run of its own, and list"
        " them by the first measure, the best first. all: each column of numbers but ids, relevance and ranks.",
    ),
}
