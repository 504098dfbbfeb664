"""How many queries a comparison needs: the paired t test by the noncentral t distribution."""

import math
from bisect import bisect_left
from functools import lru_cache

from deadheat.core.arrays import special, with_own_arithmetic
from deadheat.core.checks import as_count, as_level, as_number, as_positive
from deadheat.core.errors import ParameterError
from deadheat.core.scalars import is_number
from deadheat.core.stats.alternatives import as_alternative

MAX_QUERIES = 10**9
BISECTIONS = 44  # to thirteen digits


@with_own_arithmetic
def power(
    difference: float,
    std: float,
    n_queries: int,
    *,
    confidence_level: float = 0.95,
    alternative: str = "two-sided",
) -> float:
    """Return the probability that a paired t test finds a true mean difference.

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
    as_alternative(alternative)
    ratio = as_number("difference", difference) / as_positive("std", std)
    n_queries = as_count("n_queries", n_queries, low=2)
    return _power(ratio, n_queries, 1 - as_level("confidence_level", confidence_level), alternative)


@with_own_arithmetic
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
    as_alternative(alternative)
    towards = -1.0 if alternative == "less" else 1.0
    possible = is_number(difference) and math.isfinite(difference)
    if not possible or difference == 0 or (alternative != "two-sided" and difference * towards < 0):
        signs = {"two-sided": "other than 0", "greater": "above 0", "less": "below 0"}[alternative]
        raise ParameterError(
            argument="difference", given=difference, allowed=f"a number {signs}", beside={"alternative": alternative}
        )
    ratio = difference / as_positive("std", std)
    found = bisect_left(range(MAX_QUERIES + 1), power, 2, key=lambda n: _power(ratio, n, alpha, alternative))
    if found > MAX_QUERIES:
        raise ParameterError(
            f"needs more than {MAX_QUERIES:,} queries",
            argument="difference",
            given=difference,
            beside={"std": std},
            hint="enlarge it",
        )
    return found


@with_own_arithmetic
def detectable_difference(
    std: float,
    n_queries: int,
    *,
    power: float = 0.8,
    confidence_level: float = 0.95,
    alternative: str = "two-sided",
) -> float:
    """Return the smallest true mean difference that a paired t test finds with a power, in absolute value.

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
    std, n_queries = as_positive("std", std), as_count("n_queries", n_queries, low=2)
    sided = "two-sided" if as_alternative(alternative) == "two-sided" else "greater"
    return _detectable_ratio(n_queries, alpha, sided, power) * std


@lru_cache(256)
def _detectable_ratio(n_queries: int, alpha: float, alternative: str, power: float) -> float:
    """Return the difference that has this power, in units of the standard deviation; many pairs ask for the same."""
    low, high = 0.0, 1.0
    while _power(high, n_queries, alpha, alternative) < power:
        high *= 2
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        low, high = (low, middle) if _power(middle, n_queries, alpha, alternative) >= power else (middle, high)
    return high


def check_power(power: float, confidence_level: float) -> float:
    """Return the level of the test; raise `ParameterError` unless the wanted power exceeds it."""
    alpha = 1 - as_level("confidence_level", confidence_level)
    if not is_number(power) or not alpha < power < 1:
        raise ParameterError(f"must be between 1 - confidence_level = {alpha:g} and 1", argument="power", given=power)
    return alpha


def _power(ratio: float, n_queries: int, alpha: float, alternative: str) -> float:
    """Return the power for a difference in units of the standard deviation."""
    freedom, centre = n_queries - 1, ratio * math.sqrt(n_queries)
    if alternative == "two-sided":
        bound = _bound(freedom, alpha / 2)
        return _upper_tail(freedom, centre, bound) + _upper_tail(freedom, -centre, bound)
    return _upper_tail(freedom, centre if alternative == "greater" else -centre, _bound(freedom, alpha))


@lru_cache(256)
def _bound(freedom: int, tail: float) -> float:
    """Return the bound that Student's t exceeds with a given probability."""
    return float(-special.stdtrit(freedom, tail))


def _upper_tail(freedom: int, centre: float, bound: float) -> float:
    """Return the probability that noncentral t exceeds a bound, by its mirror image, which keeps small tails."""
    tail = float(special.nctdtr(freedom, -centre, -bound))
    if math.isnan(tail):  # far out, where SciPy's series underflows: there the normal limit is 0 or 1 as well
        tail = float(special.ndtr(centre - bound))
    return tail
