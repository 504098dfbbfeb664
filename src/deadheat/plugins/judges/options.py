"""The option --judge: labels of a judge, with which commands estimate means and differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from deadheat.core.cli.evaluators import EvaluatorOption
from deadheat.core.cli.help import option
from deadheat.core.cli.paths import INPUT

if TYPE_CHECKING:
    from deadheat.core.cli.evaluators import EvaluateMany

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


def _read(path: str) -> EvaluateMany:
    from deadheat.plugins.judges.files import labels_in  # help needs no NumPy

    return labels_in(path).evaluate_many


EVALUATOR = EvaluatorOption(
    name="judge",
    not_with=(
        (("beside", "figures", "cluster"), "is not for --judge"),
        (("save",), "is not for --judge, which compare takes beside saved evaluations: leave --judge out here"),
    ),
    intervals=("confidence_level",),
    read=_read,
)
