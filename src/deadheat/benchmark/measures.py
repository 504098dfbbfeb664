"""Which measures a benchmark takes, and which of them use the judgments of an ontology."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from deadheat.arguments import as_count
from deadheat.errors import ParameterError
from deadheat.evaluation.evaluate import Measures, parse_measures
from deadheat.measures import AP, RR, Hit, MaxRel, Measure, P, R, nDCG

CUTOFFS = (1, 3, 5, 10)


def measures_of(given: Measures, at: Sequence[int] | None, *, has_ontology: bool) -> tuple[Measure, ...]:
    """Return the given measures, or the defaults at some cutoffs."""
    named: object = CUTOFFS if at is None else at
    if isinstance(named, str) or not isinstance(named, Iterable):
        raise ParameterError(argument="at", given=named, allowed="a list of cutoffs, such as (1, 3, 5, 10)")
    cutoffs = sorted({as_count("each of at", one) for one in named})
    if not cutoffs:
        raise ParameterError("is empty", argument="at", hint="give at least one cutoff, such as (1, 3, 5, 10)")
    if given is not None and at is not None:
        raise ParameterError(
            "sets the cutoffs of the default measures, not of those that are named",
            argument="at",
            given=tuple(cutoffs),
            hint="write nDCG@20",
        )
    kinds: list[Measure] = [Hit(), nDCG(), R(), P(), AP(norm="min"), *([MaxRel()] if has_ontology else [])]
    return parse_measures(given) if given is not None else (RR(), *(kind @ at_k for kind in kinds for at_k in cutoffs))


def check_depth(measures: Iterable[Measure], k: int) -> None:
    """Raise `ParameterError` if a measure looks deeper than retrievers are asked for."""
    deepest = max(measures, key=cutoff_of)
    if cutoff_of(deepest) > k:
        allowed = f"{cutoff_of(deepest)} or more, as {deepest} looks at {cutoff_of(deepest)} documents"
        raise ParameterError(argument="k", given=k, allowed=allowed)


def cutoff_of(measure: Measure) -> int:
    """Return the cutoff of a measure; 0 if it has none."""
    return getattr(measure, "cutoff", None) or 0


def main_of(measures: Sequence[Measure]) -> tuple[Measure, ...]:
    """Return the measures of a short report: those without a cutoff, and the deepest of each kind."""
    if len(measures) <= 8:
        return tuple(measures)
    deepest: dict[Measure, int] = {}
    for measure in measures:
        kind = uncut(measure)
        deepest[kind] = max(deepest.get(kind, 0), cutoff_of(measure))
    return tuple(measure for measure in measures if deepest[uncut(measure)] == cutoff_of(measure))


def uncut(measure: Measure) -> Measure:
    """Return a measure without its cutoff."""
    return measure(cutoff=None) if hasattr(measure, "cutoff") else measure
