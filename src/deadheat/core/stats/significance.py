"""Tests of "the mean difference is 0" for paired differences, column by column: by t, ranks, signs and resampling."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from deadheat.core.arrays import ArrayLike, BoolArray, FloatArray, IntArray, special, with_own_arithmetic
from deadheat.core.checks import array_of, as_level, as_resamples, check_choice
from deadheat.core.design import CLUSTERED, CORRECTIONS, TESTS
from deadheat.core.errors import ParameterError
from deadheat.core.random_generators import Rng, random_generator
from deadheat.core.scalars import ROUNDING
from deadheat.core.stats.alternatives import Alternative, as_alternative, towards
from deadheat.core.stats.resamples import batches, bootstrap_means, bootstrap_t, sign_flip_sums
from deadheat.core.stats.student_intervals import t_bounds
from deadheat.core.stats.units import (
    NEGLIGIBLE_DIFFERENCE,
    Units,
    as_clusters,
    as_matrix,
    as_weights,
    split_into_units,
    sum_by_unit,
)

EXACT_RANKS = 200  # of so many differences the distribution of Wilcoxon's statistic takes 2 ms; the normal is 0.001 off
T_ROUNDING = 1e-9  # resampled t that differ by less are equal in theory
BEARABLE = {"randomization": 0.2, "tukey": 0.2, "bootstrap": 0.2, "t": 0.2, "bootstrap-t": 0.5}  # |G1| / sqrt(n)
VISIBLE = 1.0  # |G1| of 10 normal values is above it in one sample of seven
EQUAL = 1e-15  # 1 - 0.95 is no 0.05: what rounding takes from a level, or from a p-value of that size


@dataclass(frozen=True, eq=False)
class Significance:
    """The p-value of each column.

    Attributes
    ----------
    p_values : ndarray of float, shape (n_columns,)
    is_exact : ndarray of bool, shape (n_columns,)
        Whether the p-value of the test has no error: from resampling (another seed gives the same), or from the
        normal distribution in place of the exact one of "wilcoxon".
    """

    p_values: FloatArray
    is_exact: BoolArray


@with_own_arithmetic
def p_values(
    differences: ArrayLike,
    *,
    test: str,
    alternative: str = "two-sided",
    n_resamples: int = 10_000,
    cluster: ArrayLike | None = None,
    rng: Rng = None,
    weights: ArrayLike | None = None,
) -> Significance:
    """Test for each column whether the mean of its differences is 0.

    Differences below 1e-12 in absolute value count as 0. "randomization" gives each unit a random sign; with up to 30
    units that differ from 0 it counts all sign patterns and is exact. It is a test of "each difference is as likely d
    as -d"; of "the mean is 0" it is one up to the skewness of the differences, as "t" is (`skewness`). "bootstrap"
    centres the resampled means; "bootstrap-t" divides each by its own standard error, which makes up for much of the
    skewness. Resampled p-values are (b + 1) / (m + 1), b of m resamples being at least as extreme as the data.
    "wilcoxon", exact up to 200 differences and then normal, and "sign" leave zeros out; both test whether the
    differences lie as often and as far above 0 as below it, not their mean.

    Parameters
    ----------
    differences : array-like of shape (n_queries, n_columns)
        System minus baseline, query by query; NaN where a value is missing: the row is left out of that column.
    test : {"randomization", "bootstrap-t", "bootstrap", "t", "wilcoxon", "sign"}
    alternative : {"two-sided", "greater", "less"}, default "two-sided"
        "greater": the mean difference is above 0.
    n_resamples : int, default 10000
        For "bootstrap" and "bootstrap-t", and for "randomization" where it is not exact.
    cluster : array-like of int, shape (n_queries,), optional
        Code of each query's cluster; clusters are drawn, or change sign, as a whole. Not for "wilcoxon" and "sign".
    rng : numpy.random.Generator or int, optional
    weights : array-like of float, shape (n_queries,) or that of `differences`, optional
        How much each query counts, above 0 where there is a value.
        Of the weighted mean difference; not for "wilcoxon" and "sign".

    Returns
    -------
    Significance
        The p-value is 1 where all differences are 0 and where there are none; "t", "bootstrap" and "bootstrap-t" need
        two units and give NaN with fewer.

    Raises
    ------
    ParameterError

    References
    ----------
    Smucker, Allan and Carterette 2007, https://doi.org/10.1145/1321440.1321528, for randomisation and bootstrap.
    Phipson and Smyth 2010, https://doi.org/10.2202/1544-6115.1585, for (b + 1) / (m + 1).
    Hall 1992, The Bootstrap and Edgeworth Expansion, for "bootstrap-t".

    Examples
    --------
    >>> found = p_values([[0.5, 0.0], [0.25, 0.0], [0.25, 0.0]], test="randomization")
    >>> found.p_values.tolist(), found.is_exact.tolist()
    ([0.25, 1.0], [True, True])
    """
    check_choice("test", test, TESTS)
    side = as_alternative(alternative)
    n_resamples = as_resamples("n_resamples", n_resamples)
    differences = as_matrix("differences", differences)
    codes, own = as_clusters(cluster, len(differences)), as_weights(weights, differences)
    for name, beside in (("cluster", codes), ("weights", own)):
        if beside is not None and test not in CLUSTERED:
            raise ParameterError(argument="test", given=test, allowed=CLUSTERED, beside={name: None})
    differences = np.where(np.abs(differences) < NEGLIGIBLE_DIFFERENCE, 0.0, differences)
    if test == "randomization":
        return Significance(
            *randomization_p_values(
                differences if own is None else differences * own,
                alternative=side,
                n_resamples=n_resamples,
                cluster=codes,
                rng=random_generator(rng),
            )
        )
    if test in {"bootstrap", "bootstrap-t"}:
        seed = int(random_generator(rng).integers(1 << 63))  # as `resampled_means`: columns share the resamples
        statistic = partial(_mean_of if test == "bootstrap" else _t_of, n_resamples=n_resamples, seed=seed)
        return _bootstrap(differences, codes, side, statistic, own)
    if test == "wilcoxon":
        return _wilcoxon(differences, side)
    found = _t(differences, codes, side, own) if test == "t" else _sign(differences, side)
    return Significance(found, np.ones(len(found), np.bool_))


def t_tail(excess: FloatArray, standard_error: FloatArray, freedom: float) -> FloatArray:
    """Return P(T >= excess / standard_error); without any spread its limit, 0 or 1.

    Parameters
    ----------
    excess, standard_error : ndarray of float, shape (n_columns,)
    freedom : float
        Degrees of freedom.

    Returns
    -------
    ndarray of float, shape (n_columns,)
    """
    spread = standard_error > 0
    t = np.divide(excess, standard_error, out=np.zeros(len(excess)), where=spread)
    return np.where(spread, special.stdtr(freedom, -t), excess <= NEGLIGIBLE_DIFFERENCE)


def _t(
    differences: FloatArray, codes: IntArray | None, alternative: Alternative, weights: FloatArray | None
) -> FloatArray:
    """Return the p-values of the paired t test, with clusters by the cluster-robust standard error."""
    found = np.full(differences.shape[1], np.nan)
    for units in split_into_units(differences, codes, weights=weights):
        means, errors, freedom = units.means, units.standard_errors, units.freedom
        tail = t_tail(towards(means, alternative), errors, freedom)
        found[units.columns] = np.minimum(1.0, 2 * tail) if alternative == "two-sided" else tail
    return found


def _bootstrap(
    differences: FloatArray,
    codes: IntArray | None,
    alternative: Alternative,
    statistic: Callable[[Units], tuple[FloatArray, FloatArray, FloatArray]],
    weights: FloatArray | None,
) -> Significance:
    """Compare a statistic of the resamples with that of the data; two-sided by absolute values.

    `statistic` returns it for the resamples, moved to mean 0, and for the data, and what rounding may take from it.
    """
    found = np.full(differences.shape[1], np.nan)
    is_exact = np.ones(differences.shape[1], np.bool_)
    for units in split_into_units(differences, codes, weights=weights):
        null, observed, tolerance = statistic(units)
        extreme = count_extreme(null, observed, alternative=alternative, tolerance=tolerance)
        is_exact[units.columns] = equal = ~units.sums.any(axis=0)
        found[units.columns] = np.where(equal, 1.0, (extreme + 1) / (len(null) + 1))
    return Significance(found, is_exact)


def _mean_of(units: Units, n_resamples: int, seed: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the resampled means, moved to mean 0, the mean difference, and the tolerance."""
    resampled = bootstrap_means(units.sums, units.sizes, n_resamples=n_resamples, rng=np.random.default_rng(seed))
    return resampled - units.means, units.means, ROUNDING * units.scales


def _t_of(units: Units, n_resamples: int, seed: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return Student's t of the resamples, around the mean of the data, that of the data, and the tolerance."""
    means, errors = units.means, units.linear_errors
    observed = np.divide(means, errors, out=np.copysign(np.inf, means), where=errors > 0)
    null = bootstrap_t(units, n_resamples=n_resamples, rng=np.random.default_rng(seed))
    return null, observed, T_ROUNDING * (1 + np.abs(np.where(errors > 0, observed, 0.0)))


def _wilcoxon(differences: FloatArray, alternative: Alternative) -> Significance:
    """Return the p-values of Wilcoxon's signed-rank test: zeros are left out, equal sizes share their mean rank.

    Given the ranks, each has the sign + or - with probability 1/2, which makes their sum's distribution exact with
    ties too; above `EXACT_RANKS` ranks it is normal, with its exact variance.
    """
    found, is_exact = np.ones(differences.shape[1]), np.ones(differences.shape[1], np.bool_)
    for column in np.flatnonzero(np.nan_to_num(differences).any(axis=0)).tolist():
        values = differences[:, column]
        order = _ranked(values[~np.isnan(values)])
        order = order[order != 0].astype(np.int64)
        _, place, counts = np.unique(np.abs(order), return_inverse=True, return_counts=True)
        ranks = (2 * np.cumsum(counts) - counts + 1)[place]  # twice the mean rank: whole numbers
        positive = int(ranks[order > 0].sum())
        is_exact[column] = len(ranks) <= EXACT_RANKS
        greater, less = (_exact_tails if is_exact[column] else _normal_tails)(ranks, positive)
        found[column] = {"two-sided": min(1.0, 2 * min(greater, less)), "greater": greater, "less": less}[alternative]
    return Significance(found, is_exact)


def _exact_tails(ranks: IntArray, positive: int) -> tuple[float, float]:
    """Return P(S >= positive) and P(S <= positive), S the sum of ranks that each count with probability 1/2."""
    probabilities = np.zeros(ranks.sum() + 1)
    probabilities[0], reached = 1.0, 1
    for rank in np.sort(ranks).tolist():  # the smallest first: fewest sums at a time
        probabilities[:reached] /= 2
        probabilities[rank : rank + reached] += probabilities[:reached]
        reached += rank
    return min(1.0, float(probabilities[positive:].sum())), min(1.0, float(probabilities[: positive + 1].sum()))


def _normal_tails(ranks: IntArray, positive: int) -> tuple[float, float]:
    """Return what `_exact_tails` does by the normal distribution, without a correction for continuity, as SciPy."""
    z = (positive - ranks.sum() / 2) / np.sqrt((ranks.astype(np.float64) ** 2).sum() / 4)
    return float(special.ndtr(-z)), float(special.ndtr(z))


def _ranked(values: FloatArray) -> FloatArray:
    """Return whole numbers with the signs of the values and their order of size; sizes equal in theory are equal.

    0.3 - 0.2, 0.4 - 0.3 and 0.1 are three numbers of float64: their ranks would be those of rounding errors.
    """
    sizes = np.abs(values)
    order = np.argsort(sizes)
    is_larger = np.diff(sizes[order], prepend=0.0) > ROUNDING * sizes.max()
    ranked = np.empty(len(values))
    ranked[order] = np.cumsum(is_larger)
    return np.copysign(ranked, values)


def _sign(differences: FloatArray, alternative: Alternative) -> FloatArray:
    """Return the p-values of the sign test, a binomial test with probability 1/2."""
    above, below = (differences > 0).sum(axis=0), (differences < 0).sum(axis=0)
    fewer = {"two-sided": np.minimum(above, below), "greater": below, "less": above}[alternative]
    tail = special.bdtr(fewer.astype(np.float64), above + below, 0.5)
    return np.minimum(1.0, 2 * tail) if alternative == "two-sided" else tail


@with_own_arithmetic
def skewness(
    values: ArrayLike, *, cluster: ArrayLike | None = None, weights: ArrayLike | None = None
) -> tuple[FloatArray, IntArray]:
    r"""Return the sample skewness of each column, and over how many units.

    .. math:: G_1 = \frac{\sqrt{n (n - 1)}}{n - 2} \cdot \frac{m_3}{m_2^{3/2}}

    Parameters
    ----------
    values : array-like of shape (n_queries, n_columns)
        NaN where a value is missing: the row is left out of that column.
    cluster : array-like of int, shape (n_queries,), optional
        Code of each query's cluster: the skewness is then that of the sums over clusters, less what their sizes
        explain.
    weights : array-like of float, shape (n_queries,) or that of `values`, optional
        How much each query counts, above 0 where there is a value.
        The skewness is that of weight times difference from the mean.

    Returns
    -------
    skewness : ndarray of float, shape (n_columns,)
        NaN with fewer than three units, and where all values are equal.
    n_units : ndarray of int, shape (n_columns,)
        Queries, or clusters, that have a value.

    Raises
    ------
    ParameterError

    Examples
    --------
    >>> found, n_units = skewness([[0.0, 1.0], [0.0, 2.0], [1.0, 3.0]])
    >>> found.round(3).tolist(), n_units.tolist()
    ([1.732, 0.0], [3, 3])
    """
    given = as_matrix("values", values)
    found, n_units = np.full(given.shape[1], np.nan), np.zeros(given.shape[1], np.int64)
    for units in split_into_units(
        given, as_clusters(cluster, len(given)), fewest=0, weights=as_weights(weights, given)
    ):
        n_units[units.columns] = n = units.n_units
        if n < 3:
            continue
        residuals = units.residuals
        spread = np.flatnonzero(residuals.any(axis=0))
        scaled = residuals[:, spread] / np.abs(residuals[:, spread]).max(axis=0)
        moments = (scaled**3).mean(axis=0) / (scaled**2).mean(axis=0) ** 1.5
        found[units.columns[spread]] = moments * np.sqrt(n * (n - 1)) / (n - 2)
    return found, n_units


def is_doubtful(skewness: FloatArray, n_units: IntArray, test: str) -> BoolArray:
    r"""Tell where skewness and the number of units make the level of a test of the mean doubtful.

    The probability that Student's t is beyond one quantile z is off by about
    :math:`|\gamma| \phi(z) (2 z^2 + 1) / (6 \sqrt n)`, so that :math:`|G_1| / \sqrt n` decides. Above 0.2 a two-sided
    test at 5%, by t or by sign flips, rejects more than 6% of equal systems, and "bootstrap-t" does above 0.5
    (simulated: docs/simulations.md). It is Cochran's rule of thumb: n should be above 25 times the square.
    A skewness below 1 says nothing where n is small.

    Parameters
    ----------
    skewness : ndarray of float, shape (n_columns,)
    n_units : ndarray of int, shape (n_columns,)
    test : str
        Of those that test no mean, "wilcoxon" and "sign", none is doubtful by skewness.

    Returns
    -------
    ndarray of bool, shape (n_columns,)
        False where the skewness is NaN. True says what the sample shows: one that missed the rare large differences
        does not show its skewness.

    References
    ----------
    Cochran 1977, Sampling Techniques, section 2.15. Hall 1992, The Bootstrap and Edgeworth Expansion, for the formula.

    Examples
    --------
    >>> is_doubtful(np.array([1.5, 1.5, 0.9]), np.array([25, 100, 10]), "randomization").tolist()
    [True, False, False]
    """
    check_choice("test", test, (*BEARABLE, "wilcoxon", "sign"))
    if test not in BEARABLE:
        return np.zeros(len(skewness), np.bool_)
    return np.abs(skewness) > np.maximum(VISIBLE, BEARABLE[test] * np.sqrt(n_units))


def adjust(p_values: ArrayLike, method: str) -> FloatArray:
    """Adjust the p-values of a family of tests.

    "bonferroni" and "holm" bound the probability of any false rejection, however the tests depend on each other,
    and Holm's rejects as many or more; "bh" bounds the expected share of false ones among the rejections, of
    tests that are independent or depend on each other positively (Benjamini and Hochberg).

    Parameters
    ----------
    p_values : array-like of shape (n_tests,)
        A NaN is no test: it is not counted and stays NaN.
    method : {"none", "bonferroni", "holm", "bh"}

    Returns
    -------
    ndarray of float, shape (n_tests,)

    Raises
    ------
    ParameterError

    References
    ----------
    Holm 1979, https://www.jstor.org/stable/4615733. Benjamini and Hochberg 1995,
    https://doi.org/10.1111/j.2517-6161.1995.tb02031.x.

    Examples
    --------
    >>> adjust([0.01, 0.04, 0.03, float("nan")], "holm").tolist()
    [0.03, 0.06, 0.06, nan]
    """
    check_choice("method", method, CORRECTIONS)
    given = array_of("p_values", p_values, np.float64, "numbers")
    if given.ndim != 1:
        raise ParameterError("must have one dimension", argument="p_values", found=f"the shape {given.shape}")
    outside = given[(given < 0) | (given > 1)]
    if len(outside):
        raise ParameterError("must be between 0 and 1, or be NaN", argument="p_values", found=str(outside[0]))
    tests = np.flatnonzero(~np.isnan(given))
    order = tests[np.argsort(given[tests], kind="stable")]
    ascending, n_tests, rank = given[order], len(order), np.arange(1, len(order) + 1)
    by_method = {
        "none": ascending,
        "bonferroni": ascending * n_tests,
        "holm": np.maximum.accumulate(ascending * (n_tests - rank + 1)),
        "bh": np.minimum.accumulate((ascending * n_tests / rank)[::-1])[::-1],
    }
    adjusted = given.copy()
    adjusted[order] = np.minimum(by_method[method], 1.0)
    return adjusted


def significant(p_values: ArrayLike, alpha: float) -> BoolArray:
    """Tell which p-values are below a level; one that equals it, but for rounding, is not, and NaN never.

    Parameters
    ----------
    p_values : array-like of any shape
    alpha : float

    Returns
    -------
    ndarray of bool, shaped as `p_values`

    Examples
    --------
    >>> significant([0.049, 0.05, float("nan")], 1 - 0.95).tolist(), significant([0.1], 1 - 0.9).tolist()
    ([True, False, False], [False])
    """
    return np.asarray(p_values, np.float64) < alpha - EQUAL


@dataclass(frozen=True, eq=False)
class Equivalence:
    """What a test against a margin found in each column.

    Attributes
    ----------
    p_values : ndarray of float, shape (n_columns,)
        NaN with fewer than two units.
    low, high : ndarray of float, shape (n_columns,)
        The t interval with level 2 confidence_level - 1, whose bounds decide: no worse if low > -margin, equivalent
        if high < margin as well.
    is_shown : ndarray of bool, shape (n_columns,)
        Whether the p-value is below 1 - confidence_level.
    """

    p_values: FloatArray
    low: FloatArray
    high: FloatArray
    is_shown: BoolArray


@with_own_arithmetic
def no_worse(
    differences: ArrayLike,
    margin: ArrayLike,
    *,
    confidence_level: float = 0.95,
    cluster: ArrayLike | None = None,
    weights: ArrayLike | None = None,
) -> Equivalence:
    """Test whether a system is at most `margin` worse than the baseline (non-inferiority).

    A one-sided t test of "the mean difference is -margin or less".

    Parameters
    ----------
    differences : array-like of shape (n_queries, n_columns)
        System minus baseline, query by query, higher being better; NaN where a value is missing.
    margin : float or array-like of shape (n_columns,)
        0 or more, in the units of the measure; 0 asks whether the system is better.
    confidence_level : float, default 0.95
        One minus the probability of a false "no worse".
    cluster : array-like of int, shape (n_queries,), optional
        Code of each query's cluster.
    weights : array-like of float, shape (n_queries,) or that of `differences`, optional
        How much each query counts, above 0 where there is a value.

    Returns
    -------
    Equivalence

    Raises
    ------
    ParameterError

    Examples
    --------
    >>> found = no_worse([[-0.01], [0.02], [0.0], [0.01], [-0.02]], 0.03)
    >>> bool(found.is_shown[0]), round(float(found.low[0]), 4)
    (True, -0.0151)
    """
    return _against_margin(differences, margin, confidence_level, cluster, weights, both_sides=False)


@with_own_arithmetic
def equivalent(
    differences: ArrayLike,
    margin: ArrayLike,
    *,
    confidence_level: float = 0.95,
    cluster: ArrayLike | None = None,
    weights: ArrayLike | None = None,
) -> Equivalence:
    """Test whether two systems differ by less than `margin`: two one-sided t tests.

    The p-value is the larger of the two.

    Parameters
    ----------
    differences : array-like of shape (n_queries, n_columns)
        System minus baseline, query by query; NaN where a value is missing.
    margin : float or array-like of shape (n_columns,)
        Above 0, in the units of the measure.
    confidence_level : float, default 0.95
        One minus the probability of a false "equivalent".
    cluster : array-like of int, shape (n_queries,), optional
        Code of each query's cluster.
    weights : array-like of float, shape (n_queries,) or that of `differences`, optional
        How much each query counts, above 0 where there is a value.

    Returns
    -------
    Equivalence

    Raises
    ------
    ParameterError

    References
    ----------
    Schuirmann 1987, https://doi.org/10.1007/BF01068419.

    Examples
    --------
    >>> found = equivalent([[-0.01], [0.02], [0.0], [0.01], [-0.02]], [0.01])
    >>> bool(found.is_shown[0]), round(float(found.high[0]), 4)
    (False, 0.0151)
    """
    return _against_margin(differences, margin, confidence_level, cluster, weights, both_sides=True)


def _margins(margin: ArrayLike, values: FloatArray, *, allow_zero: bool) -> FloatArray:
    try:
        margins = np.broadcast_to(np.asarray(margin, np.float64), values.shape[1]).copy()
    except (TypeError, ValueError):
        raise ParameterError(
            argument="margin",
            found=f"{margin!r:.80}",
            allowed=f"a number, or one for each of {values.shape[1]} columns",
        ) from None
    allowed = np.isfinite(margins) & ((margins >= 0) if allow_zero else (margins > 0))
    if not allowed.all():
        raise ParameterError(
            argument="margin", found=str(margins[~allowed][0]), allowed="0 or more" if allow_zero else "above 0"
        )
    return margins


def _against_margin(
    differences: ArrayLike,
    margin: ArrayLike,
    confidence_level: float,
    cluster: ArrayLike | None,
    weights: ArrayLike | None,
    *,
    both_sides: bool,
) -> Equivalence:
    values = as_matrix("differences", differences)
    margins = _margins(margin, values, allow_zero=not both_sides)
    level = as_level("confidence_level", confidence_level)
    found, low, high = np.full((3, values.shape[1]), np.nan)
    for units in split_into_units(values, as_clusters(cluster, len(values)), weights=as_weights(weights, values)):
        means, errors, freedom = units.means, units.standard_errors, units.freedom
        tails = [t_tail(margins[units.columns] + side * means, errors, freedom) for side in (1, -1)[: 1 + both_sides]]
        found[units.columns] = np.max(tails, axis=0)
        low[units.columns], high[units.columns] = t_bounds(units, 2 * level - 1)
    return Equivalence(found, low, high, significant(found, 1 - level))


EXACT_UNITS = 30  # up to so many units all sign patterns are counted: 2 x 2^15 sums
EXACT_SUMS = 1 << 25  # in all columns: a second
PERMUTED_CELLS = 1 << 20  # permuted at a time: 8 MB
COUNTED_AT_ONCE = 1 << 17  # sums that the processor still holds when they are counted: 1 MB


def randomization_p_values(
    differences: FloatArray,
    *,
    alternative: Alternative,
    n_resamples: int,
    cluster: IntArray | None,
    rng: np.random.Generator,
) -> tuple[FloatArray, BoolArray]:
    """Return the p-value of each column, and whether all sign patterns were counted.

    Parameters
    ----------
    differences : ndarray of shape (n_queries, n_columns)
        A missing value counts as 0: its sign changes nothing.
    alternative : {"two-sided", "greater", "less"}
    n_resamples : int
    cluster : ndarray of int, shape (n_queries,), or None
    rng : numpy.random.Generator

    Returns
    -------
    p_values : ndarray of float, shape (n_columns,)
    is_exact : ndarray of bool, shape (n_columns,)
    """
    sums, _ = sum_by_unit(np.nan_to_num(differences), cluster)
    n_units = np.count_nonzero(sums, axis=0)
    is_exact = n_units <= most_exact(n_units)
    found = np.ones(sums.shape[1])
    for column in np.flatnonzero(is_exact).tolist():
        found[column] = exact_p_value(sums[sums[:, column] != 0, column], alternative)
    sampled = sums[:, ~is_exact]
    if sampled.size:
        total, tolerance = sampled.sum(axis=0), ROUNDING * np.abs(sampled).sum(axis=0)
        extreme = np.zeros(len(total))
        for start, stop in batches(n_resamples, len(total), COUNTED_AT_ONCE):
            null = sign_flip_sums(sampled, n_resamples=stop - start, rng=rng)
            extreme += count_extreme(null, total, alternative=alternative, tolerance=tolerance)
        found[~is_exact] = (extreme + 1) / (n_resamples + 1)
    return found, is_exact


def most_exact(n_units: IntArray) -> int:
    """Return up to how many units all sign patterns are counted: fewer where very many columns have so many."""
    counts = np.bincount(np.minimum(n_units, EXACT_UNITS + 1), minlength=EXACT_UNITS + 2)[: EXACT_UNITS + 1]
    n_sums = np.cumsum(counts * 2.0 ** (np.arange(EXACT_UNITS + 1) / 2 + 1))
    return int(np.searchsorted(n_sums, EXACT_SUMS, side="right")) - 1


def count_extreme(
    null: FloatArray, observed: FloatArray, *, alternative: Alternative, tolerance: FloatArray
) -> IntArray:
    """Count the resamples that are at least as far from 0 as the data.

    Parameters
    ----------
    null : ndarray of shape (n_resamples, n_columns)
        The statistic in each resample, with mean 0.
    observed : ndarray of shape (n_columns,)
    alternative : {"two-sided", "greater", "less"}
    tolerance : ndarray of shape (n_columns,)
        What rounding may take from statistics that are equal in theory.

    Returns
    -------
    ndarray of int, shape (n_columns,)
    """
    return (towards(null, alternative) >= towards(observed, alternative) - tolerance).sum(axis=0)


def exact_p_value(values: FloatArray, alternative: Alternative) -> float:
    """Count the sign patterns whose sum is at least as extreme, out of all 2^n.

    Meet in the middle: a sum of all is one of the sums of the first half plus one of the second; for each of the
    former, binary search counts the latter.
    """
    bound = towards(values.sum(), alternative) - ROUNDING * np.abs(values).sum()
    if alternative == "two-sided" and bound <= 0:
        return 1.0
    middle = len(values) // 2
    first, second = (np.sort(_signed_sums(half)) for half in (values[:middle], values[middle:]))
    reached = len(first) * len(second) - np.searchsorted(second, bound - first).sum()
    # changing all signs mirrors the sums
    return float((2 if alternative == "two-sided" else 1) * reached / 2.0 ** len(values))


def _signed_sums(values: FloatArray) -> FloatArray:
    """Return the sums of the values with all patterns of signs, shape (2^n,)."""
    sums = np.zeros(1)
    for value in values.tolist():
        sums = np.concatenate([sums - value, sums + value])
    return sums


@with_own_arithmetic
def tukey_p_values(
    values: ArrayLike,
    *,
    n_resamples: int = 10_000,
    cluster: ArrayLike | None = None,
    rng: Rng = None,
    weights: ArrayLike | None = None,
) -> FloatArray:
    """Compare all pairs of systems at once: randomised Tukey HSD.

    Each resample permutes the systems' values within every query and notes the largest mean minus the smallest.
    The p-value of a pair, (b + 1) / (m + 1), counts the resamples where that range reaches the pair's difference;
    so it is corrected for the number of pairs, if no system differs from any other. Systems that vary more than the
    others from query to query are found different too often.

    Parameters
    ----------
    values : array-like of shape (n_queries, n_systems)
        One measure. A query with a missing value (NaN) is left out.
    n_resamples : int, default 10000
    cluster : array-like of int, shape (n_queries,), optional
        Code of each query's cluster; the systems change places in all queries of a cluster alike.
    rng : numpy.random.Generator or int, optional
    weights : array-like of float, shape (n_queries,), optional
        How much each query counts, above 0 where there is a value.

    Returns
    -------
    ndarray of float, shape (n_systems, n_systems)
        Symmetric, with ones on the diagonal; two-sided.

    Raises
    ------
    ParameterError

    References
    ----------
    Carterette 2012, https://doi.org/10.1145/2094072.2094076. Boytsov, Belova and Westfall 2013,
    https://doi.org/10.1145/2484028.2484034.

    Examples
    --------
    >>> values = np.array([[0.1, 0.1, 0.6], [0.3, 0.2, 0.7], [0.2, 0.3, 0.9], [0.1, 0.1, 0.5], [0.4, 0.3, 0.8]])
    >>> (tukey_p_values(values, rng=1) < 0.05).tolist()
    [[False, False, True], [False, False, True], [True, True, False]]
    """
    values = as_matrix("values", values)
    if values.shape[1] < 2:
        raise ParameterError(
            "must have a column for each of two or more systems", argument="values", given=values.shape[1]
        )
    n_resamples = as_resamples("n_resamples", n_resamples)
    codes = as_clusters(cluster, len(values))
    complete = np.asarray(~np.isnan(values).any(axis=1))
    own = as_weights(weights, np.where(complete[:, None], values, np.nan))  # over the largest of the same queries
    weighed = values if own is None else values * own
    units, _ = sum_by_unit(weighed[complete], None if codes is None else codes[complete])
    ranges = np.sort(_permuted_ranges(units, n_resamples, random_generator(rng)))
    sums, tolerance = units.sum(axis=0), ROUNDING * np.abs(units).sum()
    return (1 + n_resamples - np.searchsorted(ranges, np.abs(sums[:, None] - sums) - tolerance)) / (n_resamples + 1)


def _permuted_ranges(values: FloatArray, n_resamples: int, rng: np.random.Generator) -> FloatArray:
    """Return the largest sum of a column minus the smallest, with each row permuted, shape (n_resamples,)."""
    ranges = np.empty(n_resamples)
    for start, stop in batches(n_resamples, values.size, PERMUTED_CELLS):
        copies = np.broadcast_to(values, (stop - start, *values.shape))
        ranges[start:stop] = np.ptp(rng.permuted(copies, axis=2).sum(axis=1), axis=1)
    return ranges
