"""Means of what is known for few queries, with the help of predictions for these and many more."""

import math
from dataclasses import dataclass

import numpy as np

from deadheat.arrays import FloatArray, IntArray
from deadheat.errors import NOISE

FEWEST = 5  # known values: with fewer the weight would be a guess
ENOUGH = 50  # from which one weight for all will do
N_FOLDS = 10
N_SAMPLES = 9_999
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
    confidence_level: float = 0.95,
    weight: float | None = None,
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
    confidence_level : float, default 0.95
        Of the interval, by Student's t with n - 1 degrees of freedom.
    weight : float, optional
        Taken as it is.

    References
    ----------
    Angelopoulos, Duchi and Zrnic 2023, https://doi.org/10.48550/arXiv.2311.01453. For rankings: Oosterhuis, Jagerman,
    Qin, Wang and Bendersky 2024, https://doi.org/10.1145/3637528.3671883.

    Examples
    --------
    >>> found = powered_mean(np.array([0.1, 0.4, 0.2]), np.array([0.2, 0.5, 0.2]), np.array([0.4, 0.6]), weight=0.5)
    >>> round(found.estimate, 4)
    0.3333
    """
    n = len(known)
    alone = _powered(known, np.zeros(n), predicted, others, confidence_level)
    if weight is None and (n < FEWEST or not len(others) or not np.ptp(predicted)):
        return alone
    weights = np.full(n, weight) if weight is not None else _weights(known, predicted, others)
    found = _powered(known, weights, predicted, others, confidence_level)
    is_worse = weight is None and found.standard_error >= alone.standard_error
    return alone if is_worse else found


def sample_doubt(one: FloatArray, other: FloatArray) -> float | None:
    """Return the p value of Welch's t test of two samples if it is below `SUSPECT`: they are not of one population."""
    from scipy import special

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
    p_value = (1 + int((apart >= own * (1 - NOISE)).sum())) / (1 + N_SAMPLES)
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
    together = float(np.cov(known, predicted)[0, 1])
    return min(max(together / (ratio * spread), 0.0), 1.0) if spread else 0.0


def _powered(
    known: FloatArray, weights: FloatArray, predicted: FloatArray, others: FloatArray, confidence_level: float
) -> Powered:
    from scipy import special

    n, mean_weight = len(known), float(weights.mean())
    centre = float(others.mean()) if len(others) else 0.0
    residuals = known - weights * (predicted - centre)
    of_others = float(np.var(others, ddof=1)) / len(others) if len(others) > 1 else 0.0
    estimate = float(residuals.mean())
    variance = float(np.var(residuals, ddof=1)) / n + mean_weight**2 * of_others if n > 1 else math.nan
    error = math.sqrt(variance)
    half = float(special.stdtrit(n - 1, (1 + confidence_level) / 2)) * error if n > 1 else math.nan
    t = estimate / error if error > 0 else math.nan
    p_value = float(2 * special.stdtr(n - 1, -abs(t))) if not math.isnan(t) else math.nan
    varies = n > 1 and np.ptp(known) > 0 and np.ptp(predicted) > 0
    correlation = float(np.corrcoef(known, predicted)[0, 1]) if varies else math.nan
    own = float(np.var(known, ddof=1)) if n > 1 else math.nan
    n_effective = own / variance if variance > 0 else float(n)
    return Powered(estimate, error, estimate - half, estimate + half, p_value, mean_weight, correlation, n_effective)
