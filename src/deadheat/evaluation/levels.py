"""The lowest relevant level of an evaluation, for the measures that name none."""

from collections.abc import Iterable

from deadheat.errors import ParameterError
from deadheat.measures.base import Measure


def at_level(measures: Iterable[Measure], rel: float | None) -> tuple[Measure, ...]:
    """Return the measures that are computed: those with a lowest relevant level that they do not name have `rel`.

    Parameters
    ----------
    measures : iterable of Measure
    rel : float or None
        None: measures stay as they are.

    Examples
    --------
    >>> from deadheat import parse_measure
    >>> at_level(map(parse_measure, ["P@5", "AP(rel=3)", "nDCG@10"]), 2)
    (P(rel=2)@5, AP(rel=3), nDCG@10)
    """
    listed = list(measures)
    for measure in listed:
        own, default = getattr(measure, "rel", None), default_rel(measure)
        if rel is not None and measure.names_rel and own == default != rel:
            raise ParameterError(
                f"cannot be combined with {measure}, which names the default, rel={default:g}",
                argument="rel",
                given=rel,
                hint="leave it out, and name each level that is not the default in its measure",
            )
    return tuple(dict.fromkeys(leveled(one, rel) for one in listed))


def leveled(measure: Measure, rel: float | None) -> Measure:
    """Return a measure with the lowest relevant level `rel`, if it has one and names none."""
    default = default_rel(measure)
    if rel is None or default in {None, rel} or measure.names_rel or getattr(measure, "rel", None) != default:
        return measure
    return measure(rel=rel)


def default_rel(measure: Measure) -> float | None:
    """Return the lowest relevant level that a measure has by default; None if it has no such level."""
    of_class = type(measure).__dataclass_fields__.get("rel")
    return None if of_class is None else float(of_class.default)
