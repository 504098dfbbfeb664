"""Pairs of groups of items: how far their exposure differs, with intervals over queries."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from deadheat.core.arrays import BoolArray, FloatArray, special
from deadheat.core.scalars import ROUNDING


def tabulate_pairs(
    n_items: Mapping[str, int],
    exposure: FloatArray,
    target: FloatArray,
    is_judged: BoolArray | None,
    confidence_level: float,
) -> pl.DataFrame | None:
    """Return a row for each two groups; None of a single group.

    Parameters
    ----------
    n_items : mapping of str to int
        How many items each group has.
    exposure, target : ndarray of float, shape (n_queries, n_groups)
        The sums over the items of a group, of the run and of ideal rankings.
    is_judged : ndarray of bool, shape (n_queries,), or None
        The queries that have a target; None where there is none.
    confidence_level : float
    """
    if len(n_items) < 2:
        return None
    names = list(n_items)
    per_item = exposure / list(n_items.values())
    quantities = {"disparity": Quantity.of_means(per_item), "ratio": Quantity.of_statistics(_logarithms(per_item))}
    if is_judged is not None:
        own, ideal = _logarithms(exposure[is_judged]), _logarithms(target[is_judged])
        with np.errstate(invalid="ignore"):  # a group may have no exposure at all
            quantities["ratio_of_target"] = Quantity.of_statistics(own - ideal)
    first, second = np.triu_indices(len(names), 1)
    labels = pl.Series(names)
    columns: dict[str, Any] = {"group": labels.gather(first), "other": labels.gather(second)}
    for name, quantity in quantities.items():
        with np.errstate(over="ignore", invalid="ignore"):
            differences = quantity.values[first] - quantity.values[second]
            half_widths = quantity.half_widths(confidence_level)
            low, high = differences - half_widths, differences + half_widths
            if name == "disparity":
                columns |= {"disparity": differences, "low": low, "high": high}
            else:  # of logarithms
                columns |= {name: np.exp(differences), f"{name}_low": np.exp(low), f"{name}_high": np.exp(high)}
    return pl.DataFrame(columns).with_columns(pl.col(pl.Float64).fill_nan(None))


@dataclass(frozen=True, eq=False)
class Quantity:
    """A quantity of each group, and what each query adds to its error; of two groups both are subtracted.

    Attributes
    ----------
    values : ndarray of float, shape (n_groups,)
    pulls : ndarray of float, shape (n_groups, n_queries)
        With mean 0. The sum of their squares, of a difference of two groups, is the square of its standard error.
    scales : ndarray of float, shape (n_groups,)
        The size below which pulls are rounding errors.
    """

    values: FloatArray
    pulls: FloatArray
    scales: FloatArray

    @classmethod
    def of_means(cls, values: FloatArray) -> "Quantity":
        """Return the mean of each group, given its values by query, shape (n_queries, n_groups)."""
        n = len(values)
        factor = 1 / np.sqrt(n * (n - 1)) if n > 1 else np.nan
        return cls(values.mean(axis=0), *_centred(values, factor))

    @classmethod
    def of_statistics(cls, statistics: FloatArray) -> "Quantity":
        """Return a statistic over all queries, given it, and then without each query, shape (1 + n, n_groups).

        Its error is that of the jackknife, as in `jackknife_bounds`.
        """
        n = len(statistics) - 1
        factor = np.sqrt((n - 1) / n) if n > 1 else np.nan
        with np.errstate(invalid="ignore"):
            return cls(statistics[0], *_centred(statistics[1:], factor))

    def half_widths(self, confidence_level: float) -> FloatArray:
        """Return half the width of Student's interval of the difference of each pair, ordered as by `triu_indices`."""
        n_groups, n_queries = self.pulls.shape
        if n_queries < 2:
            return np.full(n_groups * (n_groups - 1) // 2, np.nan)
        squares = []
        with np.errstate(invalid="ignore"):
            for group in range(n_groups - 1):  # one at a time: the differences of all pairs by query fill the memory
                differences = self.pulls[group] - self.pulls[group + 1 :]
                squares.append(np.einsum("ij,ij->i", differences, differences))
            squared_errors = np.concatenate(squares)
            errors = np.sqrt(squared_errors)
        first, second = np.triu_indices(n_groups, 1)
        negligible = n_queries * np.maximum(self.scales[first], self.scales[second]) ** 2
        quantile = float(special.stdtrit(n_queries - 1, (1 + confidence_level) / 2))
        return quantile * np.where(squared_errors <= negligible, 0.0, errors)


def _centred(values: FloatArray, factor: float) -> tuple[FloatArray, FloatArray]:
    """Return the values less the mean of their column, times a factor, by column; and what is negligible there."""
    if not len(values):
        return np.full((values.shape[1], 0), np.nan), np.full(values.shape[1], np.nan)
    pulls = factor * np.ascontiguousarray((values - values.mean(axis=0)).T)
    return pulls, ROUNDING * abs(factor) * np.abs(values).max(axis=0)


def _logarithms(values: FloatArray) -> FloatArray:
    """Return the logarithm of the sum of each column: over all rows, then without each row in turn."""
    whole = values.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):  # a group may have exposure in one query alone, or in none
        return np.log(np.vstack([whole, whole - values]))
