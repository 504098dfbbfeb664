"""Agreement of the labels of two raters.

A table counts what two raters said of the same things: rows are grades of the first, columns of the second. Functions
take any number of tables at once, of shape (..., n_grades, n_grades), and give NaN where a number does not exist.
"""

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from deadheat.core.arrays import FloatArray

Level: TypeAlias = Literal["nominal", "ordinal", "interval"]
LEVELS: tuple[Level, ...] = ("nominal", "ordinal", "interval")


def _over(above: FloatArray, below: FloatArray) -> FloatArray:
    """Divide; NaN where there is nothing to divide by."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(below == 0, np.nan, above / below)


def share_equal(counts: FloatArray) -> FloatArray:
    """Return the share of things that both gave the same grade."""
    return _over(np.trace(counts, axis1=-2, axis2=-1), counts.sum((-2, -1)))


def kappa(counts: FloatArray, grades: FloatArray, power: int = 0) -> FloatArray:
    r"""Return Cohen's kappa, weighted by the distance of the grades to some power; 0 is without weights.

    .. math:: \kappa = 1 - \frac{\sum_{ij} w_{ij} n_{ij}}{\sum_{ij} w_{ij} n_{i.} n_{.j} / n}

    Parameters
    ----------
    counts : ndarray of shape (..., n_grades, n_grades)
    grades : ndarray of shape (n_grades,)
        Distances are those of the grades themselves, so that a grade that nobody gave changes nothing.
    power : {0, 1, 2}
        1 is linear, 2 quadratic.

    References
    ----------
    Cohen 1960, https://doi.org/10.1177/001316446002000104; 1968, https://doi.org/10.1037/h0026256.

    Examples
    --------
    >>> table = np.array([[20.0, 5.0], [10.0, 15.0]])
    >>> round(float(kappa(table, np.array([0.0, 1.0]))), 3)
    0.4
    """
    apart = np.abs(np.subtract.outer(grades, grades))
    weights = apart**power if power else (apart > 0).astype(np.float64)
    rows, columns, n = counts.sum(-1), counts.sum(-2), counts.sum((-2, -1))
    expected = np.einsum("...i,ij,...j->...", rows, weights, columns)
    return 1 - _over((counts * weights).sum((-2, -1)) * n, expected)


def coincidences(counts: FloatArray) -> FloatArray:
    """Return how often two grades of one thing coincide, in both orders, for two raters."""
    return counts + np.swapaxes(counts, -2, -1)


def coincidences_of_many(given: FloatArray) -> FloatArray:
    """Return the same of any number of raters, of which each may leave things out.

    Parameters
    ----------
    given : ndarray of shape (n_things, n_grades)
        How many raters gave each grade; things with fewer than two are left out.

    Returns
    -------
    ndarray of shape (n_things, n_grades, n_grades)
        Each pair of raters counts 1 over the number of raters of the thing less one.
    """
    pairs = given[:, :, None] * given[:, None, :]
    own = np.arange(given.shape[1])
    pairs[:, own, own] -= given
    return np.nan_to_num(_over(pairs, given.sum(1)[:, None, None] - 1)) * (given.sum(1) > 1)[:, None, None]


def alpha(coinciding: FloatArray, grades: FloatArray, level: Level = "ordinal") -> FloatArray:
    r"""Return Krippendorff's alpha.

    .. math:: \alpha = 1 - (n - 1) \frac{\sum_{ck} o_{ck} \delta^2_{ck}}{\sum_{ck} n_c n_k \delta^2_{ck}}

    with :math:`\delta` 1 for different grades ("nominal"), their difference ("interval"), or the number of labels
    between them, half of those of both included ("ordinal").

    Parameters
    ----------
    coinciding : ndarray of shape (..., n_grades, n_grades)
        As :func:`coincidences` gives.
    grades : ndarray of shape (n_grades,)
        Sorted.
    level : {"nominal", "ordinal", "interval"}, default "ordinal"

    References
    ----------
    Krippendorff 2019, Content Analysis, 4th edition, chapter 12, https://doi.org/10.4135/9781071878781.
    """
    n_of = coinciding.sum(-1)
    if level == "ordinal":
        middle = np.cumsum(n_of, axis=-1) - n_of / 2
        squares = (middle[..., :, None] - middle[..., None, :]) ** 2
    else:
        apart = np.abs(np.subtract.outer(grades, grades))
        squares = (apart > 0) if level == "nominal" else apart**2
    expected = (n_of[..., :, None] * n_of[..., None, :] * squares).sum((-2, -1))
    return 1 - _over((n_of.sum(-1) - 1) * (coinciding * squares).sum((-2, -1)), expected)


def tau_b(counts: FloatArray) -> FloatArray:
    """Return Kendall's tau-b of the grades of both; NaN where one gave a single grade.

    References
    ----------
    Kendall 1945, https://doi.org/10.1093/biomet/33.3.239.
    """
    below = np.zeros_like(counts)  # what both grade lower, and what the second grades higher and the first lower
    below[..., 1:, 1:] = counts[..., :-1, :-1].cumsum(-2).cumsum(-1)
    crossed = np.zeros_like(counts)
    crossed[..., 1:, :-1] = counts[..., :-1, :0:-1].cumsum(-2).cumsum(-1)[..., ::-1]
    balance = (counts * (below - crossed)).sum((-2, -1))
    n = counts.sum((-2, -1))
    free = [(n**2 - (counts.sum(axis) ** 2).sum(-1)) / 2 for axis in (-1, -2)]
    return _over(balance, np.sqrt(free[0] * free[1]))


def by_grade(counts: FloatArray, grades: FloatArray) -> dict[str, FloatArray]:
    """Return precision, recall and inflation of the second rater at each grade of the first, of shape (..., n_grades).

    Inflation is the mean grade of the second less the grade of the first, of what the first gave that grade.
    """
    rows, columns = counts.sum(-1), counts.sum(-2)
    same = np.diagonal(counts, axis1=-2, axis2=-1)
    return {
        "precision": _over(same, columns),
        "recall": _over(same, rows),
        "inflation": _over(counts @ grades, rows) - grades,
    }


@dataclass(frozen=True, eq=False)
class RelevantCounts:
    """How many things each rater calls relevant, of the shape of the tables without their last two axes.

    Attributes
    ----------
    first, second, both : ndarray of float
    """

    first: FloatArray
    second: FloatArray
    both: FloatArray


def count_relevant(counts: FloatArray, grades: FloatArray, rel: float) -> RelevantCounts:
    """Return how many things the first rater, the second and both call relevant."""
    above = grades >= rel
    return RelevantCounts(
        first=counts[..., above, :].sum((-2, -1)),
        second=counts[..., above].sum((-2, -1)),
        both=counts[..., above, :][..., above].sum((-2, -1)),
    )


def of_relevant(counts: FloatArray, grades: FloatArray, rel: float) -> dict[str, FloatArray]:
    """Return precision and recall of the second rater's "relevant", and how much larger its share of relevant is."""
    relevant = count_relevant(counts, grades, rel)
    return {
        "precision": _over(relevant.both, relevant.second),
        "recall": _over(relevant.both, relevant.first),
        "inflation": _over(relevant.second - relevant.first, counts.sum((-2, -1))),
    }
