"""P-values of a family by sign flips, corrected by the largest statistic of each flip where that is asked for.

References
----------
Westfall and Young 1993, Resampling-Based Multiple Testing, for single-step and step-down maxima. Hoeffding 1963,
https://doi.org/10.1080/01621459.1963.10500830, for the bound of p-values that need no flips.
"""

from dataclasses import dataclass, replace

import numpy as np

from deadheat.core.arrays import BoolArray, FloatArray, IntArray, special
from deadheat.core.design import MAX_T_CORRECTIONS
from deadheat.core.stats.alternatives import Alternative
from deadheat.core.stats.families import Blocks, Family, Observed, observe
from deadheat.core.stats.family_flips import TOLERANCE, Flips, draw_flips
from deadheat.core.stats.randomization import count_sign_patterns, find_exact_limit
from deadheat.core.stats.significance import adjust, significant

MANY_SIGNS = 1 << 30  # of the flips of one difference, which take a second to draw
DOUBT = 0.00135  # probability beyond each end of the interval of a p-value: it holds what all patterns give in 99.7%


@dataclass(frozen=True, eq=False)
class Decision:
    """What the flips drawn so far show.

    Attributes
    ----------
    p_values : ndarray of float, shape (n_differences,)
    p_adjusted : ndarray of float, shape (n_differences,), or None
        Corrected by maxima, before it accounts for other families; None with other corrections.
    is_open : bool
        Whether more flips may change which differences are significant.
    """

    p_values: FloatArray
    p_adjusted: FloatArray | None
    is_open: bool


@dataclass(frozen=True, eq=False)
class FamilyTest:
    """The test of a family by sign flips, of shape (n_differences,) each.

    Attributes
    ----------
    p_values : ndarray of float
        1 where a difference is 0 in all units.
    p_adjusted : ndarray of float, or None
        Corrected by maxima of the same flips; None with other corrections, which :func:`adjust` makes of `p_values`.
    is_exact : ndarray of bool
        Whether the p-value has no error from resampling, and is no bound.
    is_bound : ndarray of bool
        Whether the p-value is at most this, and no flips were drawn for it.
    n_flips : int
        0 where none was needed.
    n_counted : int
        As `Flips` has it: 0 where the flips leave no error.
    critical : float
        Where r is above this, the adjusted p-value is below the level; NaN unless single-step maxima decide.
    """

    p_values: FloatArray
    p_adjusted: FloatArray | None
    is_exact: BoolArray
    is_bound: BoolArray
    n_flips: int
    n_counted: int
    critical: float


def flip_family(
    blocks: Blocks,
    *,
    correction: str,
    level: float,
    alternative: Alternative,
    n_resamples: int,
    most_flips: int,
    rng: np.random.Generator,
    n_families: int = 1,
) -> FamilyTest:
    """Test each difference of a family by sign flips, and correct for their number where the correction uses flips.

    Parameters
    ----------
    blocks : callable
    correction : str
        "max-t" compares each difference with the largest statistic of all differences in each flip (single step),
        "max-t-step-down" with the largest of those that are no more extreme. The corrections of :func:`adjust` are not
        made here: they only say whether more flips are needed.
    level : float
        Of significance, such as 0.05.
    alternative : {"two-sided", "greater", "less"}
    n_resamples : int
        Flips to begin with; all patterns of signs if they are no more. None are drawn where they would be very many,
        and a bound of the p-value shows as much as they can, unless maxima decide.
    most_flips : int
        As long as it is open which differences are significant, there are ten times as many flips, up to this number.
    rng : numpy.random.Generator
    n_families : int, default 1
        The level is divided by their number, as by Bonferroni.

    Returns
    -------
    FamilyTest
    """
    observed = observe(blocks, alternative)
    exact = _compute_exact_p_values(blocks, observed, alternative)
    family = Family(blocks, observed, exact, alternative, correction, level / n_families)
    is_bound = np.zeros_like(family.is_known)
    if not family.has_maxima:
        bounds = bound_p_values(observed.statistics, alternative)
        is_bound = ~family.is_known & _are_enough(bounds, family, n_resamples)
        family = replace(family, known=np.where(is_bound, bounds, exact))
    if family.is_known.all() and not family.has_maxima:
        p_adjusted = None
        if correction in MAX_T_CORRECTIONS:
            p_adjusted = np.minimum(1.0, n_families * family.known)
        return FamilyTest(family.known, p_adjusted, ~is_bound, is_bound, n_flips=0, n_counted=0, critical=np.nan)
    flips = draw_flips(family, n_resamples, rng)
    decision = _decide(family, flips)
    while decision.is_open and flips.n_flips < most_flips:
        n_more = min(10 * flips.n_flips, most_flips) - flips.n_flips
        more = draw_flips(family, n_more, rng, can_be_complete=False)
        flips = flips.with_more(more)
        decision = _decide(family, flips)
    p_adjusted = decision.p_adjusted
    if p_adjusted is not None:
        p_adjusted = np.minimum(1.0, n_families * p_adjusted)
    critical = np.nan
    if family.has_maxima and not family.is_step_down:
        critical = find_critical_value(flips, family.level)
    is_exact = ~is_bound & (family.is_known | observed.is_zero | flips.is_complete)
    return FamilyTest(decision.p_values, p_adjusted, is_exact, is_bound, flips.n_flips, flips.n_counted, critical)


def _compute_exact_p_values(blocks: Blocks, observed: Observed, alternative: Alternative) -> FloatArray:
    """Return p-values from all patterns of signs, where a difference has few units; NaN elsewhere."""
    exact = np.full(len(observed.n_units), np.nan)
    has_few_units = observed.n_units <= find_exact_limit(observed.n_units)
    n_before = 0
    for block in blocks():
        n_after = n_before + len(block.first)
        for place in np.flatnonzero(has_few_units[n_before:n_after]).tolist():
            (differences,) = block.differences(np.array([place]))
            exact[n_before + place] = count_sign_patterns(differences[differences != 0], alternative)
        n_before = n_after
    return exact


def bound_p_values(statistics: FloatArray, alternative: Alternative) -> FloatArray:
    r"""Return bounds of p-values of sign flips: no p-value is above its bound.

    By Hoeffding's inequality a sum of values with random signs reaches z times the root of their sum of squares with a
    probability of at most :math:`\exp(-z^2 / 2)`, however many values there are.

    Parameters
    ----------
    statistics : ndarray of float
        As `Observed` has them: how many roots the sum lies from 0 on the side of the alternative.
    alternative : {"two-sided", "greater", "less"}

    Examples
    --------
    >>> bound_p_values(np.array([0.0, 2.0, 5.0]), "two-sided").round(7).tolist()
    [1.0, 0.2706706, 7.5e-06]
    """
    tails = np.exp(-(np.maximum(statistics, 0.0) ** 2) / 2)
    if alternative == "two-sided":
        tails *= 2
    return np.clip(tails, np.finfo(np.float64).tiny, 1.0)  # 0 would be no bound


def _are_enough(bounds: FloatArray, family: Family, n_resamples: int) -> BoolArray:
    """Tell where a bound shows what very many signs would: no flip as extreme as the data, and a significant p-value.

    It is significant whatever the correction: times the number of differences it is still below the level.
    """
    has_many_signs = family.observed.n_units * n_resamples >= MANY_SIGNS
    is_below_flips = bounds * (n_resamples + 1) < 1
    is_significant = significant(bounds * family.n_differences, family.level)
    return has_many_signs & is_below_flips & is_significant


def _decide(family: Family, flips: Flips) -> Decision:
    """Return the p-values of a family, and whether more flips may change which are below the level."""
    p_values = np.where(family.is_known, family.known, flips.p_values(flips.n_extreme))
    p_values = np.where(family.observed.is_zero, 1.0, p_values)
    n_counted = np.full(len(p_values), flips.n_counted)
    if family.has_maxima:
        p_adjusted = np.maximum(_adjust_by_maxima(family, flips), p_values)
        is_undecided = find_undecided(p_adjusted, n_counted, "none", family.level)
        return Decision(p_values, p_adjusted, bool(is_undecided.any()))
    n_counted[family.is_known | family.observed.is_zero] = 0
    if family.correction in MAX_T_CORRECTIONS:  # of a single difference: nothing to correct
        is_undecided = find_undecided(p_values, n_counted, "none", family.level)
        return Decision(p_values, p_values, bool(is_undecided.any()))
    is_undecided = find_undecided(p_values, n_counted, family.correction, family.level)
    return Decision(p_values, None, bool(is_undecided.any()))


def _adjust_by_maxima(family: Family, flips: Flips) -> FloatArray:
    """Return p-values corrected by the largest statistic of each flip, single-step or step-down."""
    observed = family.observed
    if family.is_step_down:
        adjusted = np.where(observed.is_zero, 1.0, flips.p_values(flips.n_reached))
        order = np.argsort(-observed.statistics, kind="stable")
        adjusted[order] = np.maximum.accumulate(adjusted[order])  # none below that of a more extreme difference
        return adjusted
    ascending = np.sort(flips.maxima)
    n_below = np.searchsorted(ascending, observed.statistics - 2 * TOLERANCE)
    n_reaching = flips.n_flips - n_below
    return np.where(observed.is_zero, 1.0, flips.p_values(n_reaching))


def find_undecided(p_values: FloatArray, n_counted: IntArray, correction: str, level: float) -> BoolArray:
    """Return which p-values, corrected together, may be on the other side of the level with other resamples.

    Each p-value is replaced by the ends of Clopper and Pearson's interval of its share of resamples.

    Parameters
    ----------
    p_values : ndarray of float, shape (n_tests,)
        As shares of resamples, (b + 1) / (m + 1).
    n_counted : ndarray of int, shape (n_tests,)
        Resamples, m; 0 where the p-value has no error.
    correction : str
        One of :func:`adjust`.
    level : float

    Returns
    -------
    ndarray of bool, shape (n_tests,)

    References
    ----------
    Clopper and Pearson 1934, https://doi.org/10.1093/biomet/26.4.404.

    Examples
    --------
    The interval of 10,000 resamples holds 0.05 for 0.047 and 0.052:

    >>> find_undecided(np.array([0.04, 0.047, 0.052, 0.07]), np.full(4, 10_000), "none", 0.05).tolist()
    [False, True, True, False]
    """
    is_counted = (n_counted > 0) & ~np.isnan(p_values)
    n = n_counted[is_counted]
    n_extreme = np.clip(np.rint(p_values[is_counted] * (n + 1) - 1), 0, n)
    low_of_some = special.betaincinv(np.maximum(n_extreme, 1), n - np.maximum(n_extreme, 1) + 1, DOUBT)
    high_of_some = special.betaincinv(n_extreme + 1, np.maximum(n - n_extreme, 1), 1 - DOUBT)
    low, high = p_values.copy(), p_values.copy()
    low[is_counted] = np.where(n_extreme > 0, low_of_some, 0.0)
    high[is_counted] = np.where(n_extreme < n, high_of_some, 1.0)
    may_be_below = significant(adjust(low, correction), level)
    must_be_below = significant(adjust(high, correction), level)
    return np.asarray(may_be_below & ~must_be_below)


def find_critical_value(flips: Flips, level: float) -> float:
    """Return the statistic above which a p-value is below the level; infinite if none is for so few flips."""
    counts = np.arange(flips.n_flips + 1)
    n_allowed = int(significant(flips.p_values(counts), level).sum())  # of the counts 0, 1, ...
    n_impossible = 0
    if flips.is_complete:
        n_impossible = 1  # the count 0: all patterns of signs include that of the data, which always counts
    if n_allowed <= n_impossible:
        return np.inf
    descending = np.sort(flips.maxima)[::-1]
    first_too_many = min(n_allowed - 1, flips.n_flips - 1)
    return float(descending[first_too_many]) + 2 * TOLERANCE
