"""The option --judge: labels of a judge, with which commands estimate means and differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from deadheat.core.cli.help import option
from deadheat.core.cli.paths import INPUT

OPTIONS: dict[str, Callable[[Any], Any]] = {  # by the command that has it
    "evaluate": option(
        "--judge",
        type=INPUT,
        metavar="QRELS",
        help="Labels of a judge for the queries of the human labels, a random sample, and for more: means and their"
        " intervals are estimated from both.",
        heading="input",
    ),
    "compare": option(
        "--judge",
        type=INPUT,
        metavar="QRELS",
        help="Labels of a judge, such as a language model, for the queries of the human labels, a random sample, and"
        " for more: differences are estimated from both.",
        heading="input",
    ),
    "gate": option(
        "--judge",
        type=INPUT,
        metavar="QRELS",
        help="Labels of a judge for the queries of the human labels, a random sample, and for more: means and their"
        " intervals are estimated from both, comparisons with a baseline and strata are of the human labels.",
        heading="input",
    ),
}
