"""One system by one measure across languages: its means, their variance, and its worst language."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from deadheat.core import stats
from deadheat.core.arrays import BoolArray, FloatArray, IntArray
from deadheat.core.evaluation.intervals import FEWEST
from deadheat.core.measures import Measure
from deadheat.core.scalars import NOISE
from deadheat.plugins.compare.flips import Side
from deadheat.plugins.languages.spread import order_range, spread_of_means


@dataclass(frozen=True)
class AcrossLanguages:
    """A system by one measure across languages, over the queries that have a value in each.

    Attributes
    ----------
    measure, system : str
    n_queries : int
        Each is one in every language.
    means : dict of str to float
        Of each language.
    ties : dict of str to tuple of float
        Between which ends tie orders keep the mean of each language.
    mean, low, high : float
        Of the means of the languages, which count the same; and its interval, over such queries.
    variance, variance_low, variance_high : float
        Of the means of the languages, divisor their number; and its interval, over such queries in these languages.
    variance_by_chance : float
        What languages of equal means would have on average, by the choice of queries.
    variance_of_one_order : float
        What a tool that breaks ties at random finds on average: the variance of the exact means, and what ties add.
    variance_tie_min, variance_tie_max : float
        Between which ties keep it: the largest is that of an order, the least may lie below that of every order.
    worst, best : str or None
        The languages with these means, by the measure's direction; None where all are equal.
    worst_mean : float
    p_worst : float
        Share of the resamples of queries in which it is the worst.
    n_units : int
        Queries, or clusters of them.
    """

    measure: str
    system: str
    n_queries: int
    means: Mapping[str, float]
    ties: Mapping[str, tuple[float, float]]
    mean: float
    low: float
    high: float
    variance: float
    variance_low: float
    variance_high: float
    variance_by_chance: float
    variance_of_one_order: float
    variance_tie_min: float
    variance_tie_max: float
    worst: str | None
    best: str | None
    worst_mean: float
    p_worst: float
    n_units: int

    @property
    def is_known(self) -> bool:
        """Whether queries (or clusters) are enough for an interval, and differ: equal ones say nothing of others."""
        return self.n_units >= FEWEST and self.variance_high - self.variance_low > NOISE


@dataclass(frozen=True, eq=False)
class SystemInLanguages:
    """The values of a system by one measure in each language, and means of them in resamples of the queries.

    Attributes
    ----------
    measure : Measure
    system : str
    sides : dict of str to Side
        By language.
    resampled_means : ndarray of float, shape (n_resamples, n_languages)
        Over the queries that have a value in all languages.
    low, high : float
        The interval of the mean over the languages.
    """

    measure: Measure
    system: str
    sides: Mapping[str, Side]
    resampled_means: FloatArray
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class TieMeans:
    """What ties can make of the mean of each language, over the same queries.

    Attributes
    ----------
    exact, low, high : ndarray of float, shape (n_languages,)
    variance : float
        The sum of the variances of these means over tie orders.
    """

    exact: FloatArray
    low: FloatArray
    high: FloatArray
    variance: float


def compute_across(system: SystemInLanguages, *, confidence_level: float, cluster: IntArray | None) -> AcrossLanguages:
    """Return the numbers of a system across languages.

    Parameters
    ----------
    system : SystemInLanguages
    confidence_level : float
    cluster : ndarray of int, shape (n_queries,), or None
        Code of the cluster of each query.
    """
    languages = list(system.sides)
    n_languages = len(languages)
    sides = list(system.sides.values())
    sign = system.measure.sign
    values = values_in_all(sides)
    is_in_all: BoolArray = np.asarray(~np.isnan(values).any(axis=1))
    n_queries = int(is_in_all.sum())
    spread = spread_of_means(
        sign * values, confidence_level=confidence_level, cluster=cluster, means=sign * system.resampled_means
    )
    ties = _tie_means(sides, is_in_all)
    if n_queries:
        means = values[is_in_all].mean(axis=0)
        least_variance, largest_variance = order_range(ties.low, ties.high)
    else:
        means = np.full(n_languages, np.nan)
        least_variance, largest_variance = np.nan, np.nan
    order = np.argsort(sign * means, kind="stable")
    worst, best = int(order[0]), int(order[-1])
    differ = n_queries > 0 and float(np.ptp(means)) > stats.NEGLIGIBLE_DIFFERENCE
    variance_of_ties = (n_languages - 1) / n_languages**2 * ties.variance
    tie_ends = zip(ties.low.tolist(), ties.high.tolist(), strict=True)
    return AcrossLanguages(
        measure=system.measure.label,
        system=system.system,
        n_queries=n_queries,
        means=dict(zip(languages, means.tolist(), strict=True)),
        ties=dict(zip(languages, tie_ends, strict=True)),
        mean=float(means.mean()),
        low=system.low,
        high=system.high,
        variance=spread.variance,
        variance_low=spread.low,
        variance_high=spread.high,
        variance_by_chance=spread.by_chance,
        variance_of_one_order=float(np.var(ties.exact) + variance_of_ties),
        variance_tie_min=least_variance,
        variance_tie_max=largest_variance,
        worst=languages[worst] if differ else None,
        best=languages[best] if differ else None,
        worst_mean=float(means[worst]),
        p_worst=float(spread.p_lowest[worst]),
        n_units=spread.n_units,
    )


def values_in_all(sides: Sequence[Side]) -> FloatArray:
    """Return the values of each language, (n_queries, n_languages): NaN in all where a query lacks one in some."""
    values = np.column_stack([side.values for side in sides])
    lacks_some = np.isnan(values).any(axis=1, keepdims=True)
    return np.where(lacks_some, np.nan, values)


def _tie_means(sides: Sequence[Side], is_in_all: BoolArray) -> TieMeans:
    """Return what ties can make of the mean of each language, over the queries that have a value in all."""
    n_queries = int(is_in_all.sum())
    if not n_queries:
        unknown = np.full(len(sides), np.nan)
        return TieMeans(unknown, unknown, unknown, np.nan)
    variance = 0.0
    for side in sides:
        variance += float(side.variance[is_in_all].sum()) / n_queries**2
    return TieMeans(
        exact=np.array([float(side.mean[is_in_all].mean()) for side in sides]),
        low=np.array([float(side.low[is_in_all].mean()) for side in sides]),
        high=np.array([float(side.high[is_in_all].mean()) for side in sides]),
        variance=variance,
    )
