"""Which measures of a benchmark are shown where there is no room for all."""

from collections.abc import Sequence

from deadheat.core.measures import Measure
from deadheat.core.structures import group_values
from deadheat.plugins.more_measures.largest import MaxRel


def main_of(measures: Sequence[Measure]) -> tuple[Measure, ...]:
    """Return the measures of a short report: those without a cutoff, and the deepest of each kind."""
    if len(measures) <= 8:
        return tuple(measures)
    cutoffs = group_values((uncut(one), cutoff_of(one)) for one in measures)
    return tuple(one for one in measures if max(cutoffs[uncut(one)]) == cutoff_of(one))


def headline(measures: Sequence[Measure]) -> tuple[Measure, ...]:
    """Return the measures that answer: the first of quality, and the deepest MaxRel, which counts near misses."""
    first = next((one for one in measures if one.is_quality), measures[0])
    return tuple(dict.fromkeys((first, *[one for one in main_of(measures) if isinstance(one, MaxRel)][-1:])))


def cutoff_of(measure: Measure) -> int:
    """Return the cutoff of a measure; 0 if it has none."""
    return getattr(measure, "cutoff", None) or 0


def uncut(measure: Measure) -> Measure:
    """Return a measure without its cutoff."""
    return measure(cutoff=None) if hasattr(measure, "cutoff") else measure
