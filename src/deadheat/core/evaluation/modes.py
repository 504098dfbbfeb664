"""Modes: what a feature changes in how one run is evaluated, where conventions, qrels or the run ask for it.

Modules of the kind "modes" have a ``MODE`` that fulfils `Mode`. `evaluate_under` asks each, in the order of the
registry, and knows none of them. They are imported with the first evaluation: such a module imports what it computes
with when it computes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

from deadheat.core import hooks

if TYPE_CHECKING:
    from deadheat.core.data.qrels import Qrels
    from deadheat.core.data.run import Run
    from deadheat.core.evaluation.scores import Scores
    from deadheat.core.placements.placements import Placements
    from deadheat.core.settings import Conventions


class Placed(NamedTuple):
    """A run that has been placed and scored.

    Attributes
    ----------
    conventions : Conventions
        As all modes have prepared them.
    qrels : Qrels
    run : Run
    placements : Placements
        From before the tie policy.
    ranked : Placements
        After the tie policy; those from before where it leaves ties as they are.
    """

    conventions: Conventions
    qrels: Qrels
    run: Run
    placements: Placements
    ranked: Placements


class Mode(Protocol):
    """What a feature changes in how one run is evaluated.

    A run under a mode is placed by itself, and as far as its list goes: no other measure's cutoff shortens it.
    """

    def is_on(self, conventions: Conventions, qrels: Qrels, run: Run) -> bool:
        """Tell whether a run is evaluated so."""
        ...

    def prepare(self, conventions: Conventions, qrels: Qrels, run: Run) -> Conventions:
        """Return the conventions to evaluate the run under; raise `ParameterError` for what does not go with it."""
        ...

    def finish(self, scores: list[Scores], placed: Placed) -> list[Scores]:
        """Return the scores of each measure with what the mode knows of them, as by `Scores.with_part`."""
        ...


def modes_on(conventions: Conventions, qrels: Qrels, run: Run) -> list[Mode]:
    """Return the modes that a run is evaluated in, in the order of the registry."""
    modes: list[Mode] = [module.MODE for module in hooks.load("modes")]
    return [mode for mode in modes if mode.is_on(conventions, qrels, run)]
