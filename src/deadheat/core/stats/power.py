r"""How many queries a comparison needs: the power of the paired t test, by the noncentral t distribution.

The t of n differences with true mean :math:`\delta` and standard deviation :math:`\sigma` has the noncentral t
distribution with n - 1 degrees of freedom and noncentrality :math:`\sqrt{n} \, \delta / \sigma`.
"""

import math
from bisect import bisect_left
from functools import lru_cache

from deadheat.core.arrays import special, use_default_arithmetic
from deadheat.core.checks import as_count, as_level, as_number, as_positive
from deadheat.core.errors import ParameterError
from deadheat.core.scalars import is_number
from deadheat.core.stats.alternatives import Alternative, as_alternative

MAX_QUERIES = 10**9
BISECTIONS = 44  # of an interval: to thirteen digits


@use_default_arithmetic
def power(
    difference: float,
    std: float,
    n_queries: int,
    *,
    confidence_level: float = 0.95,
    alternative: str = "two-sided",
) -> float:
    """Return the probability that a paired t test finds a true mean difference significant.

    Parameters
    ----------
    difference : float
        The true mean difference.
    std : float
        Standard deviation of the differences over queries.
    n_queries : int
        Two or more.
    confidence_level : float, default 0.95
        One minus the level of the test.
    alternative : {"two-sided", "greater", "less"}, default "two-sided"

    Returns
    -------
    float

    Raises
    ------
    ParameterError

    References
    ----------
    Sakai 2016, https://doi.org/10.1145/2911451.2911492.

    Examples
    --------
    >>> round(power(0.02, 0.1, 50), 3), round(power(0.02, 0.1, 200), 3)
    (0.284, 0.804)
    """
    side = as_alternative(alternative)
    effect = as_number("difference", difference) / as_positive("std", std)
    n_queries = as_count("n_queries", n_queries, low=2)
    alpha = 1 - as_level("confidence_level", confidence_level)
    return _compute_power(effect, n_queries, alpha, side)


@use_default_arithmetic
def sample_size(
    difference: float,
    std: float,
    *,
    power: float = 0.8,
    confidence_level: float = 0.95,
    alternative: str = "two-sided",
) -> int:
    """Return the smallest number of queries with which a paired t test reaches a power.

    Parameters
    ----------
    difference : float
        The true mean difference, not 0; its sign must be that of a one-sided `alternative`.
    std : float
        Standard deviation of the differences over queries, as a pilot found it.
    power : float, default 0.8
        Between 1 - confidence_level and 1.
    confidence_level : float, default 0.95
    alternative : {"two-sided", "greater", "less"}, default "two-sided"

    Returns
    -------
    int

    Raises
    ------
    ParameterError
        Also if more than a thousand million queries are needed.

    References
    ----------
    Sakai 2016, https://doi.org/10.1145/2911451.2911492.

    Examples
    --------
    >>> sample_size(0.02, 0.1)
    199
    """
    alpha = check_power(power, confidence_level)
    side = as_alternative(alternative)
    _check_difference(difference, side)
    effect = difference / as_positive("std", std)
    candidates = range(MAX_QUERIES + 1)
    n_queries = bisect_left(candidates, power, 2, key=lambda n: _compute_power(effect, n, alpha, side))
    if n_queries > MAX_QUERIES:
        raise ParameterError(
            f"needs more than {MAX_QUERIES:,} queries",
            argument="difference",
            given=difference,
            beside={"std": std},
            hint="enlarge it",
        )
    return n_queries


def _check_difference(difference: float, alternative: Alternative) -> None:
    """Raise `ParameterError` unless the difference is finite, and on the side of the alternative."""
    is_finite = is_number(difference) and math.isfinite(difference)
    if alternative == "greater":
        is_allowed = is_finite and difference > 0
        sign = "above 0"
    elif alternative == "less":
        is_allowed = is_finite and difference < 0
        sign = "below 0"
    else:
        is_allowed = is_finite and difference != 0
        sign = "other than 0"
    if not is_allowed:
        raise ParameterError(
            argument="difference", given=difference, allowed=f"a number {sign}", beside={"alternative": alternative}
        )


@use_default_arithmetic
def detectable_difference(
    std: float,
    n_queries: int,
    *,
    power: float = 0.8,
    confidence_level: float = 0.95,
    alternative: str = "two-sided",
) -> float:
    """Return the smallest true mean difference, in absolute value, that a paired t test finds with a power.

    Parameters
    ----------
    std : float
        Standard deviation of the differences over queries.
    n_queries : int
        Two or more.
    power : float, default 0.8
        Between 1 - confidence_level and 1.
    confidence_level : float, default 0.95
    alternative : {"two-sided", "greater", "less"}, default "two-sided"

    Returns
    -------
    float

    Raises
    ------
    ParameterError

    References
    ----------
    Sakai 2016, https://doi.org/10.1145/2911451.2911492.

    Examples
    --------
    >>> round(detectable_difference(0.1, 50), 4)
    0.0404
    """
    alpha = check_power(power, confidence_level)
    std = as_positive("std", std)
    n_queries = as_count("n_queries", n_queries, low=2)
    side = as_alternative(alternative)
    if side == "less":  # the mirror image
        side = "greater"
    return _find_detectable_effect(n_queries, alpha, side, power) * std


@lru_cache(256)
def _find_detectable_effect(n_queries: int, alpha: float, alternative: Alternative, power: float) -> float:
    """Return the difference over the standard deviation that has this power; cached, as many pairs ask for the same."""
    low, high = 0.0, 1.0
    while _compute_power(high, n_queries, alpha, alternative) < power:
        high *= 2
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        if _compute_power(middle, n_queries, alpha, alternative) >= power:
            high = middle
        else:
            low = middle
    return high


def check_power(power: float, confidence_level: float) -> float:
    """Return the level of the test; raise `ParameterError` unless the wanted power exceeds it."""
    alpha = 1 - as_level("confidence_level", confidence_level)
    if not is_number(power) or not alpha < power < 1:
        raise ParameterError(f"must be between 1 - confidence_level = {alpha:g} and 1", argument="power", given=power)
    return alpha


def _compute_power(effect: float, n_queries: int, alpha: float, alternative: Alternative) -> float:
    """Return the power of a test at level alpha for an effect, the difference over the standard deviation."""
    freedom = n_queries - 1
    noncentrality = effect * math.sqrt(n_queries)
    if alternative == "two-sided":
        critical = _find_critical_t(freedom, alpha / 2)
        return _upper_tail(freedom, noncentrality, critical) + _upper_tail(freedom, -noncentrality, critical)
    critical = _find_critical_t(freedom, alpha)
    if alternative == "less":
        noncentrality = -noncentrality
    return _upper_tail(freedom, noncentrality, critical)


@lru_cache(256)
def _find_critical_t(freedom: int, tail: float) -> float:
    """Return the value that Student's t exceeds with a probability of `tail`."""
    return float(-special.stdtrit(freedom, tail))


def _upper_tail(freedom: int, noncentrality: float, critical: float) -> float:
    """Return the probability that noncentral t exceeds a value, by its mirror image, which keeps small tails exact."""
    tail = float(special.nctdtr(freedom, -noncentrality, -critical))
    if math.isnan(tail):  # SciPy's series underflows far out; there the normal limit is 0 or 1 as well
        tail = float(special.ndtr(noncentrality - critical))
    return tail
