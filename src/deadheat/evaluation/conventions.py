"""Conventions: how an evaluation treats ties, queries without documents, and scores that nearly tie."""

from __future__ import annotations

from dataclasses import dataclass

from deadheat.arguments import check_choice
from deadheat.data.precision import ScorePrecision, check_precision
from deadheat.placements.policies import POLICIES

MISSING = ("empty", "skip", "error")
NO_RELEVANT = ("zero", "skip")


@dataclass(frozen=True)
class Conventions:
    """How an evaluation treats ties, queries without documents, and scores that nearly tie.

    Values are checked when it is created.

    Attributes
    ----------
    ties, missing, no_relevant, score_precision
        As given to :func:`evaluate`.
    """

    ties: str = "expected"
    missing: str = "empty"
    no_relevant: str = "zero"
    score_precision: ScorePrecision = None

    def __post_init__(self) -> None:
        """Raise `ParameterError` for what is not allowed."""
        for name, allowed in (("ties", POLICIES), ("missing", MISSING), ("no_relevant", NO_RELEVANT)):
            check_choice(name, getattr(self, name), allowed)
        object.__setattr__(self, "score_precision", check_precision(self.score_precision))
