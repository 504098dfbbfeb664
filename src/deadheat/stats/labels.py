"""Labels of a judge beside human ones: how far they agree, and means with its help.

Agreement is by tables of counts. A table counts what two raters said of the same things: rows are grades of the first,
columns of the second. Functions take any number of tables at once, of shape (..., n_grades, n_grades), and give NaN
where a number does not exist.
"""

import math
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from deadheat.arrays import FloatArray, IntArray, special
from deadheat.kernels import weighting
from deadheat.scalars import ROUNDING
from deadheat.stats.units import BATCH_CELLS, batches

FEWEST = 5  # known values: with fewer the weight would be a guess
FEWEST_OF_MEAN = 40  # known values between limits: with fewer, intervals of people's labels alone hold and these do not
ENOUGH = 50  # from which one weight for all will do
N_FOLDS = 10
N_SAMPLES = 9_999
MOST_WEIGHTS = 10_000_000  # that share_bounds() draws: of very many groups fewer sets, but at least FEWEST_SETS
FEWEST_SETS = 999
SUSPECT = 0.01  # p below which known values do not look like a sample of all


@dataclass(frozen=True)
class Powered:
    """A mean, estimated from known values and predictions.

    Attributes
    ----------
    estimate, standard_error, low, high : float
    p_value : float
        Two-sided, of a mean of 0.
    weight : float
        What the predictions count, from 0 to 1: the mean over folds; 0 where they add nothing, and all is as without.
    correlation : float
        Of known values and predictions; NaN if either is constant.
    n_effective : float
        As many known values alone would give this standard error.
    """

    estimate: float
    standard_error: float
    low: float
    high: float
    p_value: float
    weight: float
    correlation: float
    n_effective: float


def powered_mean(
    known: FloatArray,
    predicted: FloatArray,
    others: FloatArray,
    *,
    weights: FloatArray | None = None,
    other_weights: FloatArray | None = None,
    fewest: int = FEWEST,
    confidence_level: float = 0.95,
) -> Powered:
    r"""Estimate a mean by prediction-powered inference (PPI++).

    .. math:: \hat\theta = \bar{Y} + \lambda (\bar{f}_N - \bar{f}_n), \quad
        \lambda = \frac{\widehat{Cov}(Y, f)}{(1 + n / N) \widehat{Var}(f)}, \quad
        \widehat{Var}(\hat\theta) = \frac{s^2(Y - \lambda f)}{n} + \lambda^2 \frac{s^2(f_N)}{N}

    with the weight cut to [0, 1]. Of fewer than 50 known values, each takes the weight that the other folds give, so
    that it is not chosen by its own error. Predictions that do not make the standard error smaller are left out.

    Parameters
    ----------
    known : ndarray of float, shape (n,)
        A random sample; two or more.
    predicted : ndarray of float, shape (n,)
        What was predicted for these.
    others : ndarray of float, shape (N,)
        What was predicted for others.
    weights : ndarray of float, shape (n,), optional
        How much each known value counts, above 0. All three means are weighted then, the errors are the jackknife's of
        ratios, and there are as many degrees of freedom as Kish's number less 1.
    other_weights : ndarray of float, shape (N,), optional
        Those of the others.
    fewest : int, default 5
        Of fewer known values (with weights, of fewer by Kish's number) all is as without predictions.
    confidence_level : float, default 0.95
        Of the interval, by Student's t with n - 1 degrees of freedom.

    References
    ----------
    Angelopoulos, Duchi and Zrnic 2023, https://doi.org/10.48550/arXiv.2311.01453. For rankings: Oosterhuis, Jagerman,
    Qin, Wang and Bendersky 2024, https://doi.org/10.1145/3637528.3671883.

    Examples
    --------
    >>> known, others = np.array([0.1, 0.4, 0.2, 0.3, 0.6, 0.1]), np.array([0.4, 0.6, 0.3, 0.5])
    >>> found = powered_mean(known, known + [0.1, 0.1, 0, 0.1, 0, 0.1], others)
    >>> round(float(known.mean()), 4), round(found.estimate, 4), round(found.weight, 4)
    (0.2833, 0.3489, 0.5287)
    """
    sample = Sample(
        known=weighting.linearised(known, weights),
        predicted=weighting.linearised(predicted, weights),
        others=weighting.linearised(others, other_weights),
        pulls=_pulls(weights, len(known)),
        other_pulls=_pulls(other_weights, len(others)),
        n_effective=_effective_number(weights, len(known)),
    )
    alone = powered_by(sample, np.zeros(len(known)), confidence_level)
    if sample.n_effective < max(fewest, FEWEST) or not len(others) or not np.ptp(predicted):
        return alone
    found = powered_by(sample, _weights(sample.known, sample.predicted, sample.others), confidence_level)
    return alone if found.standard_error >= alone.standard_error else found


@dataclass(frozen=True, eq=False)
class Sample:
    """Known values and predictions; those of weighted means are linearised.

    Attributes
    ----------
    known, predicted : ndarray of float, shape (n,)
    others : ndarray of float, shape (n_others,)
    pulls, other_pulls : ndarray of float, shape (n,) and (n_others,)
        How many times as far each value moves a weighted mean, if it is left out, as the linear error says; ones
        without weights.
    n_effective : float
        As many known values of equal weight give a mean as precise.
    """

    known: FloatArray
    predicted: FloatArray
    others: FloatArray
    pulls: FloatArray
    other_pulls: FloatArray
    n_effective: float


def _effective_number(weights: FloatArray | None, n: int) -> float:
    """Return how many of n values of equal weight give a mean as precise."""
    if weights is None or weighting.are_equal(weights):
        return float(n)
    return weighting.effective_number(weights)


def _pulls(weights: FloatArray | None, n: int) -> FloatArray:
    r"""Return how far each value pulls its weighted mean to itself, :math:`(1 - 1/n) W / (W - w)`."""
    if weights is None or weighting.are_equal(weights) or n < 2:
        return np.ones(n)
    return (1 - 1 / n) * weights.sum() / (weights.sum() - weights)


def _variance_of_mean(values: FloatArray, pulls: FloatArray) -> float:
    """Return the squared standard error of the mean of linearised values; 0 of fewer than two."""
    n = len(values)
    if n < 2:
        return 0.0
    return float((((values - values.mean()) * pulls) ** 2).sum()) / (n * (n - 1))


def sample_doubt(one: FloatArray, other: FloatArray) -> float | None:
    """Return the p value of Welch's t test of two samples if it is below `SUSPECT`: they are not of one population."""
    one, other = (values[~np.isnan(values)] for values in (one, other))
    if min(len(one), len(other)) < 2:
        return None
    parts = [float(np.var(values, ddof=1)) / len(values) for values in (one, other)]
    apart, variance = abs(float(one.mean() - other.mean())), sum(parts)
    if not variance:
        return 0.0 if apart else None
    freedom = variance**2 / sum(part**2 / (len(values) - 1) for part, values in zip(parts, (one, other), strict=True))
    p_value = float(2 * special.stdtr(freedom, -apart / variance**0.5))
    return p_value if p_value < SUSPECT else None


def strata_doubt(known: IntArray, others: IntArray) -> float | None:
    """Return the p value of known values and others in the same strata alike, if it is below `SUSPECT`.

    By the chi-square statistic over random samples of all, without an approximation for small strata.

    Parameters
    ----------
    known, others : ndarray of int, shape (n_strata,)
        How many there are in each stratum.
    """
    every = known + others
    expected = every * (known.sum() / every.sum())
    drawn = np.random.default_rng(0).multivariate_hypergeometric(every, int(known.sum()), size=N_SAMPLES)
    own, apart = (((counts - expected) ** 2 / expected).sum(-1) for counts in (known, drawn))
    p_value = (1 + int((apart >= own * (1 - ROUNDING)).sum())) / (1 + N_SAMPLES)
    return p_value if p_value < SUSPECT else None


def _weights(known: FloatArray, predicted: FloatArray, others: FloatArray) -> FloatArray:
    """Return the weight of each known value; of few ones, from those that are not in its fold."""
    n = len(known)
    ratio = 1 + n / len(others)
    if n >= ENOUGH:
        return np.full(n, _weight(known, predicted, others, ratio))
    fold = np.arange(n) % min(N_FOLDS, n)
    weights = np.empty(n)
    for one in range(fold.max() + 1):
        rest = fold != one
        weights[~rest] = _weight(known[rest], predicted[rest], others, ratio)
    return weights


def _weight(known: FloatArray, predicted: FloatArray, others: FloatArray, ratio: float) -> float:
    spread = float(np.var(np.concatenate([predicted, others]), ddof=1))
    return min(max(float(np.cov(known, predicted)[0, 1]) / (ratio * spread), 0.0), 1.0) if spread else 0.0


def powered_by(sample: Sample, weights: FloatArray, confidence_level: float) -> Powered:
    """Estimate a mean as :func:`powered_mean` does, with given weights of the predictions.

    Parameters
    ----------
    sample : Sample
    weights : ndarray of float, shape (n,)
        What the prediction of each known value counts.
    confidence_level : float
    """
    known, predicted, others = sample.known, sample.predicted, sample.others
    n, mean_weight = len(known), float(weights.mean())
    centre = float(others.mean()) if len(others) else 0.0
    residuals = known - weights * (predicted - centre)
    estimate = float(residuals.mean())
    if n < 2:
        return Powered(estimate, math.nan, math.nan, math.nan, math.nan, mean_weight, math.nan, float(n))
    variance_alone = _variance_of_mean(known, sample.pulls)
    variance = _variance_of_mean(residuals, sample.pulls)
    variance += mean_weight**2 * _variance_of_mean(others, sample.other_pulls)
    error = math.sqrt(variance)
    freedom = sample.n_effective - 1
    half = float(special.stdtrit(freedom, (1 + confidence_level) / 2)) * error
    p_value = float(2 * special.stdtr(freedom, -abs(estimate / error))) if error > 0 else math.nan
    varies = np.ptp(known) > 0 and np.ptp(predicted) > 0
    correlation = float(np.corrcoef(known, predicted)[0, 1]) if varies else math.nan
    n_effective = n * variance_alone / variance if variance > 0 else float(n)
    return Powered(estimate, error, estimate - half, estimate + half, p_value, mean_weight, correlation, n_effective)


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


def share_bounds(
    hits: FloatArray, totals: FloatArray, confidence_level: float = 0.95, *, n_sets: int = N_SAMPLES
) -> FloatArray:
    r"""Return the bounds of shares of things that come in groups, such as documents of queries.

    Gaffke's bounds of a mean from 0 to 1, whose units are the groups,

    .. math:: \frac{\sum_{g=1}^{G} w_g x_g}{\sum_{g=1}^{G} w_g n_g + w_{G+1} \bar{n}}, \quad
        \frac{\sum_{g=1}^{G} w_g x_g + w_{G+1} \bar{n}}{\sum_{g=1}^{G} w_g n_g + w_{G+1} \bar{n}}, \quad
        w \sim \text{Exponential}(1), \quad \bar{n} = \frac{\sum_g n_g^2}{\sum_g n_g}

    with x of the n things of a group that count. The lower bound is a quantile of the first ratio, the upper one of the
    second. The added group has the size that a thing's own group has on average: all things over Kish's number of
    groups. So an interval has a width also where all groups have the same share, where a jackknife has none; of groups
    of one thing each it is Clopper and Pearson's.

    Parameters
    ----------
    hits, totals : ndarray of float, shape (n_groups, n_shares)
        How many things of each group count, and how many there are; groups without things change nothing.
    confidence_level : float, default 0.95
    n_sets : int, default 9999
        Sets of weights that are drawn; fewer for more than a thousand groups.

    Returns
    -------
    ndarray of float, shape (2, n_shares)
        The same for the same input: the weights have a fixed seed. NaN with fewer than two groups with things.

    References
    ----------
    Gaffke 2005, "Three test statistics for a nonparametric one-sided hypothesis on the mean of a nonnegative variable",
    Mathematical Methods of Statistics 14. Simulated in ``docs/figures/judge_shares.py``.

    Examples
    --------
    Of 25 queries with four documents each, on which a judge is always right:

    >>> found = share_bounds(np.full((25, 1), 4.0), np.full((25, 1), 4.0))
    >>> found.round(2).tolist()
    [[0.86], [1.0]]
    """
    n_groups, n_shares = hits.shape
    bounds = np.full((2, n_shares), np.nan)
    has_groups = (totals > 0).sum(axis=0) >= 2
    columns = np.flatnonzero(has_groups)
    n_sets = max(FEWEST_SETS, min(n_sets, MOST_WEIGHTS // (n_groups + 1)))
    for first, last in batches(len(columns), n_sets, BATCH_CELLS):
        own = columns[first:last]
        bounds[:, own] = _drawn_share_bounds(hits[:, own], totals[:, own], n_sets, confidence_level)
    return bounds


def _drawn_share_bounds(hits: FloatArray, totals: FloatArray, n_sets: int, confidence_level: float) -> FloatArray:
    """Return the bounds of so many shares that the sums of all sets of weights fit into memory."""
    rng = np.random.default_rng(0)
    n_groups, n_shares = hits.shape
    added_size = (totals**2).sum(axis=0) / totals.sum(axis=0)
    operand = np.column_stack([hits, totals])
    lower = np.empty((n_sets, n_shares))
    upper = np.empty((n_sets, n_shares))
    for start, stop in batches(n_sets, n_groups + 1, BATCH_CELLS):
        weights = rng.standard_exponential((stop - start, n_groups + 1))
        sums = weights[:, :-1] @ operand
        added = weights[:, -1:] * added_size
        weighted_totals = sums[:, n_shares:] + added
        lower[start:stop] = sums[:, :n_shares] / weighted_totals
        upper[start:stop] = (sums[:, :n_shares] + added) / weighted_totals
    tail = (1 - confidence_level) / 2
    return np.stack([np.quantile(lower.T, tail, axis=1), np.quantile(upper.T, 1 - tail, axis=1)])
