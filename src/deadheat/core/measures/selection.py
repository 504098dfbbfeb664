"""Which measures an evaluation computes, at which lowest relevant level, and how their values are found by name."""

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from deadheat.core.data.kind_of_judgments import KindOfJudgments
from deadheat.core.errors import ABSENT, ParameterError
from deadheat.core.measures.base import Measure
from deadheat.core.measures.notation import MeasureLike, Measures, measure_named, parse_measures

V = TypeVar("V")


class ByMeasure(dict[str, V]):
    """A dict of values by the names of measures; other names of the same measures find them, too.

    Parameters
    ----------
    values : mapping of str to value, or iterable of pairs
    rel : float, optional
        The lowest relevant level of measures that name none: under ``rel=2``, "AP" finds "AP(rel=2)".

    Examples
    --------
    >>> means = ByMeasure({"MAP": 0.5, "mine": 0.25})
    >>> means["MAP"], means["AP"], means["map"], "AP@10" in means, means.get("AP@10"), dict(means)
    (0.5, 0.5, 0.5, False, None, {'MAP': 0.5, 'mine': 0.25})
    >>> ByMeasure({"MAP(rel=2)": 0.5}, rel=2)["AP"]
    0.5
    """

    def __init__(self, values: Mapping[str, V] | Iterable[tuple[str, V]] = (), *, rel: float | None = None) -> None:
        super().__init__(values)
        self._rel = rel

    def __missing__(self, name: MeasureLike) -> V:
        wanted = measure_named(name)
        if wanted is None:
            raise KeyError(name)
        for measure in (wanted, with_rel(wanted, self._rel)):
            for label, value in self.items():
                if measure_named(label) == measure:
                    return value
        raise KeyError(name)

    def __contains__(self, name: object) -> bool:
        return self.get(name, ABSENT) is not ABSENT  # type: ignore[arg-type]

    def get(self, name: str, default: Any = None) -> Any:  # noqa: ANN401 - as of every dict
        """Return the value of a measure, or something else where there is none."""
        try:
            return self[name]
        except KeyError:
            return default


def choose_measures(kind: KindOfJudgments, measures: Measures) -> tuple[Measure, ...]:
    """Return the measures of an evaluation under a kind of judgments: the given ones, or for None its defaults.

    Examples
    --------
    >>> from deadheat.core.data.kind_of_judgments import DOCUMENTS
    >>> choose_measures(DOCUMENTS, "P@5")
    (P@5,)
    """
    if measures is None and kind.default_measures is not None:
        measures = kind.default_measures()
    return kind.as_judged(parse_measures(measures))


def set_rel(measures: Iterable[Measure], rel: float | None) -> tuple[Measure, ...]:
    """Return the measures to compute: each that has a lowest relevant level, and names none, gets `rel`.

    Parameters
    ----------
    measures : iterable of Measure
    rel : float or None
        None: measures stay as they are.

    Raises
    ------
    ParameterError
        A measure names the level that is its default, and `rel` is another: its name would not show which one counts.

    Examples
    --------
    >>> from deadheat import parse_measure
    >>> set_rel(map(parse_measure, ["P@5", "AP(rel=3)", "nDCG@10"]), 2)
    (P(rel=2)@5, AP(rel=3), nDCG@10)
    """
    distinct = tuple(dict.fromkeys(measures))
    if rel is None:
        return distinct
    for measure in distinct:
        default = default_rel(measure)
        names_default = measure.names_rel and _rel_of(measure) == default
        if names_default and default != rel:
            raise ParameterError(
                f"cannot be combined with {measure}, which names the default, rel={default:g}",
                argument="rel",
                given=rel,
                hint="leave it out, and name each level that is not the default in its measure",
            )
    return tuple(dict.fromkeys(with_rel(measure, rel) for measure in distinct))


def with_rel(measure: Measure, rel: float | None) -> Measure:
    """Return a measure with the lowest relevant level `rel`, if it has one and names none."""
    inside = getattr(measure, "measure", None)
    if isinstance(inside, Measure):  # as of Adjusted(AP)
        return measure(measure=with_rel(inside, rel))
    default = default_rel(measure)
    if rel is None or default is None or default == rel:
        return measure
    if measure.names_rel or _rel_of(measure) != default:
        return measure
    return measure(rel=rel)


def default_rel(measure: Measure) -> float | None:
    """Return the lowest relevant level that a measure has by default; None if it has no such level."""
    parameter = type(measure).__dataclass_fields__.get("rel")
    if parameter is None:
        return None
    return float(parameter.default)


def _rel_of(measure: Measure) -> float | None:
    return getattr(measure, "rel", None)
