"""Intervals of means by the bootstrap: BCa, percentiles, and the resampled t."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np

from deadheat.core.arrays import BoolArray, FloatArray
from deadheat.core.scalars import ROUNDING
from deadheat.core.stats.gaffke import NORMAL_QUANTILE
from deadheat.core.stats.resamples import bootstrap_t
from deadheat.core.stats.units import Units

NORMAL_SHARE = np.vectorize(NormalDist().cdf, [float])
POLE = 1e-9  # in the far tail of very skewed values BCa's denominator reaches 0: beyond lies the extreme mean


def bootstrap_t_bounds(units: Units, bounds: FloatArray, level: float, n_resamples: int, seed: int) -> FloatArray:
    """Return bounds by the bootstrap-t, shape (2, n_columns), but none within those given."""
    found = np.sort(bootstrap_t(units, n_resamples=n_resamples, rng=np.random.default_rng(seed)), axis=0)
    beyond = int(np.floor((1 - level) / 2 * (n_resamples + 1))) - 1  # not interpolated: they may be infinite
    low, high = found[max(beyond, 0)], found[min(n_resamples - 1 - beyond, n_resamples - 1)]
    errors = units.linear_errors
    with np.errstate(invalid="ignore"):  # of equal values, without an error
        ends = units.means - np.where(errors > 0, np.stack([high, low]), 0.0) * errors
    ends = np.where(errors > 0, ends, units.means)
    return np.stack([np.minimum(bounds[0], ends[0]), np.maximum(bounds[1], ends[1])])


def resampled_bounds(units: Units, resampled: FloatArray, method: str, level: float) -> FloatArray:
    """Return quantiles of the resampled means, shape (2, n_columns)."""
    residuals = units.residuals
    constant: BoolArray = ~np.any(residuals, axis=0)
    shares = np.repeat([[(1 - level) / 2], [(1 + level) / 2]], len(units.columns), axis=1)
    if method == "bca":
        shares = _corrected(shares, _bias(units, resampled), _acceleration(units, residuals, constant))
    ordered = np.sort(np.ascontiguousarray(resampled.T), axis=1).T  # what is sorted lies together
    return np.where(constant, units.means, _quantiles(ordered, shares))


def _bias(units: Units, resampled: FloatArray) -> FloatArray:
    """Return z0, shape (n_columns,); finite also if all resampled means lie on one side of the mean."""
    tolerance, n_resamples = ROUNDING * units.scales, len(resampled)
    below = (resampled < units.means - tolerance).sum(axis=0)
    not_above = (resampled <= units.means + tolerance).sum(axis=0)
    return NORMAL_QUANTILE(np.clip((below + not_above) / 2, 0.5, n_resamples - 0.5) / n_resamples)


def _acceleration(units: Units, residuals: FloatArray, constant: BoolArray) -> FloatArray:
    """Return a, shape (n_columns,), from the mean without each unit; 0 in a constant column."""
    # the mean minus the mean without the unit, in closed form
    influence = residuals / (units.sizes.sum() - units.sizes)[:, None]
    influence -= influence.mean(axis=0)
    influence /= np.where(constant, 1.0, np.abs(influence).max(axis=0))
    squares = np.where(constant, 1.0, (influence**2).sum(axis=0))
    return (influence**3).sum(axis=0) / (6 * squares**1.5)


def _corrected(shares: FloatArray, bias: FloatArray, acceleration: FloatArray) -> FloatArray:
    """Return the levels of the quantiles that BCa takes, shaped as `shares`."""
    z = bias + NORMAL_QUANTILE(shares)
    return NORMAL_SHARE(bias + z / np.maximum(1 - acceleration * z, POLE))


def _quantiles(ordered: FloatArray, shares: FloatArray) -> FloatArray:
    """Return quantiles of sorted columns, (n, n_columns), each at its own levels, (k, n_columns), interpolated."""
    position = shares * (len(ordered) - 1)
    below = np.floor(position).astype(np.int64)
    above = np.minimum(below + 1, len(ordered) - 1)
    low, high = (np.take_along_axis(ordered, index, axis=0) for index in (below, above))
    return low + (high - low) * (position - below)
