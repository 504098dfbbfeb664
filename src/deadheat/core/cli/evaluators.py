"""Options with which commands evaluate runs in another way, with more than their judgments: which one was given."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from deadheat.core import hooks
from deadheat.core.cli.errors import refuse
from deadheat.core.cli.paths import asked

if TYPE_CHECKING:
    from deadheat.core.arrays import FloatArray
    from deadheat.core.evaluation.evaluation import Evaluation

    EvaluateMany = Callable[..., Iterator[tuple[Evaluation, list[FloatArray]]]]  # called as `evaluate_many` is


class EvaluatorOption(NamedTuple):
    """An option that takes a file, with whose help runs are evaluated: an ``EVALUATOR`` of the kind "evaluators".

    Attributes
    ----------
    name : str
        Its parameter, such as ``judge``.
    not_with : tuple of (tuple of str, str)
        Parameters of ``deadheat evaluate`` that do not go with it, and why.
    intervals : tuple of str
        Settings of intervals that say something with it even where no intervals are printed.
    read : callable
        Reads the file, under the other options of the command, and returns what stands in the place of `evaluate_many`.
    """

    name: str
    not_with: tuple[tuple[tuple[str, ...], str], ...]
    intervals: tuple[str, ...]
    read: Callable[[str], EvaluateMany]

    def refuse_others(self) -> None:
        """Refuse options that do not go with it."""
        for names, why in self.not_with:
            refuse(names, why)


def evaluator_asked() -> EvaluatorOption | None:
    """Return the option with which the command evaluates runs; None: they are evaluated as they are."""
    for module in hooks.load("evaluators"):
        option: EvaluatorOption = module.EVALUATOR
        if asked().get(option.name) is not None:
            return option
    return None
