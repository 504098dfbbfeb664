"""Corrections for many tests, and what is significant after them."""

import numpy as np

from deadheat.arguments import array_of, check_choice
from deadheat.arrays import ArrayLike, BoolArray, FloatArray
from deadheat.errors import ParameterError
from deadheat.settings import CORRECTIONS
from deadheat.wording import Plain

EQUAL = 1e-15  # 1 - 0.95 is no 0.05: what rounding takes from a level, or from a p-value of that size


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
    given = _checked(p_values)
    tests = np.flatnonzero(~np.isnan(given))
    order = tests[np.argsort(given[tests], kind="stable")]
    ascending, n_tests, rank = given[order], len(order), np.arange(1, len(order) + 1)
    if method == "bonferroni":
        ascending = ascending * n_tests
    elif method == "holm":
        ascending = np.maximum.accumulate(ascending * (n_tests - rank + 1))
    elif method == "bh":
        ascending = np.minimum.accumulate((ascending * n_tests / rank)[::-1])[::-1]
    adjusted = given.copy()
    adjusted[order] = np.minimum(ascending, 1.0)
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


def _checked(p_values: ArrayLike) -> FloatArray:
    given = array_of("p_values", p_values).astype(np.float64)
    if given.ndim != 1:
        raise ParameterError("must have one dimension", argument="p_values", given=Plain(f"the shape {given.shape}"))
    outside = given[(given < 0) | (given > 1)]
    if len(outside):
        raise ParameterError("must lie between 0 and 1, or be NaN", argument="p_values", given=Plain(outside[0]))
    return given
