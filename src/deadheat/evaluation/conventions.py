"""Conventions: how an evaluation treats ties, queries without documents, and scores that nearly tie."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, TypedDict

from deadheat.arguments import check_choice
from deadheat.data.precision import ScorePrecision, check_precision
from deadheat.errors import ParameterError
from deadheat.measures.base import Measure
from deadheat.measures.parameters import FLAG, Check, Cutoff, Number
from deadheat.settings import SETTINGS
from deadheat.wording import Advice

BOUNDED: dict[str, tuple[Any, ...]] = {
    "ties": ("expected", "doc_id", "input", "random"),
    "no_relevant": ("zero",),
}
"""What allows bounds over unjudged documents: lists and queries that stay the same whatever their labels are."""


class ConventionArguments(TypedDict, total=False):
    """The conventions as arguments of :func:`evaluate`; `missing` is None where nobody confirmed its default."""

    ties: str
    missing: str | None
    no_relevant: str
    score_precision: ScorePrecision
    rel: float | None
    judged_only: bool
    depth: int | None
    unjudged: str
    unjudged_max_rel: float | None


@dataclass(frozen=True)
class Conventions:
    """How an evaluation treats ties, queries without documents, and scores that nearly tie.

    Values are checked when it is created.

    Attributes
    ----------
    ties, missing, no_relevant, score_precision, rel, judged_only, depth, unjudged, unjudged_max_rel
        As given to :func:`evaluate`.
    """

    ties: str = SETTINGS["ties"].default
    missing: str = SETTINGS["missing"].default
    no_relevant: str = SETTINGS["no_relevant"].default
    score_precision: ScorePrecision = None
    rel: float | None = None
    judged_only: bool = False
    depth: int | None = None
    unjudged: str = SETTINGS["unjudged"].default
    unjudged_max_rel: float | None = None

    def __post_init__(self) -> None:
        """Raise `ParameterError` for what is not allowed."""
        for name in ("ties", "missing", "no_relevant", "unjudged"):
            check_choice(name, getattr(self, name), SETTINGS[name].allowed)
        object.__setattr__(self, "score_precision", check_precision(self.score_precision))
        for name, check in CHECKS.items():
            object.__setattr__(self, name, _checked(name, getattr(self, name), check))
        if self.unjudged != "bounds":
            if self.unjudged_max_rel is not None:
                problem, hint = "requires bounds over unjudged documents", Advice("unjudged", "bounds")
                raise ParameterError(problem, argument="unjudged_max_rel", given=self.unjudged_max_rel, hint=hint)
            return
        # labels of unjudged documents must change no more than gains
        if self.judged_only:
            raise ParameterError("cannot be combined with bounds over unjudged documents", argument="judged_only")
        for name, choices in BOUNDED.items():
            if (given := getattr(self, name)) not in choices:
                allowed = repr(*choices) if len(choices) == 1 else choices
                raise ParameterError(argument=name, given=given, allowed=allowed, beside={"unjudged": "bounds"})

    def highest_label(self, max_relevance: float) -> float:
        """Return the highest relevance that an unjudged document can have, given the highest in the qrels."""
        return max(max_relevance, 0.0) if self.unjudged_max_rel is None else float(self.unjudged_max_rel)

    def measures(self, asked: Iterable[Measure]) -> tuple[Measure, ...]:
        """Return the measures that are computed: those with a lowest relevant level have that of the conventions.

        One that names another level keeps it.

        Parameters
        ----------
        asked : iterable of Measure

        Examples
        --------
        >>> from deadheat import parse_measure
        >>> Conventions(rel=2).measures(map(parse_measure, ["P@5", "AP(rel=3)", "nDCG@10"]))
        (P(rel=2)@5, AP(rel=3), nDCG@10)
        """
        listed = list(asked)
        for measure in listed:
            own, default = getattr(measure, "rel", None), default_rel(measure)
            if self.rel is not None and measure.names_rel and own == default != self.rel:
                raise ParameterError(
                    f"cannot be combined with {measure}, which names the default, rel={default:g}",
                    argument="rel",
                    given=self.rel,
                    hint="leave it out, and name each level that is not the default in its measure",
                )
        return tuple(dict.fromkeys(map(self.leveled, listed)))

    def leveled(self, measure: Measure) -> Measure:
        """Return a measure with the lowest relevant level of the conventions, if it names none."""
        default = default_rel(measure)
        if (
            self.rel is None
            or default in {None, self.rel}
            or measure.names_rel
            or getattr(measure, "rel", None) != default
        ):
            return measure
        return measure(rel=self.rel)


def default_rel(measure: Measure) -> float | None:
    """Return the lowest relevant level that a measure has by default; None if it has no such level."""
    of_class = type(measure).__dataclass_fields__.get("rel")
    return None if of_class is None else float(of_class.default)


CHECKS: dict[str, Check] = {
    "rel": Number(optional=True),
    "judged_only": FLAG,
    "depth": Cutoff(),
    "unjudged_max_rel": Number(low=0, optional=True),
}


def _checked(name: str, value: Any, check: Check) -> Any:  # noqa: ANN401 - a check takes whatever the user gave
    try:
        return check(value)
    except ValueError:
        raise ParameterError(argument=name, given=value, allowed=check.allowed) from None
