"""P-values of a family of tests: their record, their correction for the number of tests, and the level."""

from dataclasses import dataclass

import numpy as np

from deadheat.core.arrays import ArrayLike, BoolArray, FloatArray
from deadheat.core.checks import array_of, check_choice
from deadheat.core.design import CORRECTIONS
from deadheat.core.errors import ParameterError

LEVEL_ROUNDING = 1e-15  # 1 - 0.95 is not exactly 0.05, and a p-value of that size is rounded as well


@dataclass(frozen=True, eq=False)
class Significance:
    """The p-value of each column.

    Attributes
    ----------
    p_values : ndarray of float, shape (n_columns,)
    is_exact : ndarray of bool, shape (n_columns,)
        Whether the p-value has no error of its own: neither from resampling, where another seed gives another one, nor
        from the normal distribution in place of the exact one of "wilcoxon".
    """

    p_values: FloatArray
    is_exact: BoolArray


def significant(p_values: ArrayLike, alpha: float) -> BoolArray:
    """Return which p-values are below a level; one that equals it up to rounding is not, and NaN never is.

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
    return np.asarray(p_values, np.float64) < alpha - LEVEL_ROUNDING


def adjust(p_values: ArrayLike, method: str) -> FloatArray:
    """Adjust the p-values of a family of tests.

    "bonferroni" and "holm" bound the probability of any false rejection, however the tests depend on each other,
    and Holm's rejects as many or more. "bh" (Benjamini and Hochberg) bounds the expected share of false rejections
    among all rejections, for tests that are independent or depend on each other positively.

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
    adjusted = given.copy()
    adjusted[order] = np.minimum(_adjust_ascending(given[order], method), 1.0)
    return adjusted


def _adjust_ascending(p_values: FloatArray, method: str) -> FloatArray:
    """Return the adjusted values of ascending p-values, before they are cut at 1."""
    n_tests = len(p_values)
    rank = np.arange(1, n_tests + 1)
    if method == "none":
        return p_values
    if method == "bonferroni":
        return p_values * n_tests
    if method == "holm":
        return np.maximum.accumulate(p_values * (n_tests - rank + 1))
    scaled = p_values * n_tests / rank  # Benjamini and Hochberg: the smallest of a test and of those above it
    return np.minimum.accumulate(scaled[::-1])[::-1]
