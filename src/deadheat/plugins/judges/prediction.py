"""Means with the help of predictions, such as values by the labels of a judge: prediction-powered inference."""

import math
from dataclasses import dataclass

import numpy as np

from deadheat.core.arrays import FloatArray, special
from deadheat.core.kernels import weighting

FEWEST = 5  # known values: with fewer the weight would be a guess
FEWEST_OF_MEAN = 40  # known values between limits: with fewer, intervals of people's labels alone hold and these do not
ENOUGH = 50  # from which one weight for all will do
N_FOLDS = 10


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
        known=weighting.linearise(known, weights),
        predicted=weighting.linearise(predicted, weights),
        others=weighting.linearise(others, other_weights),
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
