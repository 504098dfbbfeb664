"""Estimates: numbers of labels with their intervals over queries."""

from typing import Self

import numpy as np

from deadheat.core.arrays import FloatArray
from deadheat.core.evaluation.intervals import FEWEST
from deadheat.core.scalars import NOISE
from deadheat.core.stats.student_intervals import jackknife_bounds
from deadheat.core.wording import format_count
from deadheat.plugins.judges.shares import share_bounds


class Estimate(float):
    """A number with its confidence interval.

    Attributes
    ----------
    low, high : float
        NaN with fewer than two queries.
    n_queries : int
        Queries with documents that the number is of: of the precision at a grade, those where the judge gave it.
    """

    low: float
    high: float
    n_queries: int

    def __new__(cls, value: float, low: float = np.nan, high: float = np.nan, n_queries: int = 0) -> Self:
        """Return the value, which is a float, with its ends."""
        found = super().__new__(cls, value)
        found.low, found.high, found.n_queries = float(low), float(high), n_queries
        return found

    def __repr__(self) -> str:
        """Return the number with its ends; a question mark means that these cannot be known."""
        return f"{float(self):.4f} [{self.low:.4f}, {self.high:.4f}]{'' if self.is_known else '?'}"

    @property
    def is_known(self) -> bool:
        """Whether the ends say where the number may lie: there are enough queries, which change it."""
        return not self.unknown

    @property
    def unknown(self) -> str:
        """Why the ends are not known, such as "only 3 queries"; empty if they are."""
        if np.isnan(self):
            return "there is no value"
        if self.n_queries < FEWEST:
            return f"only {format_count(self.n_queries, 'query', 'queries')}"
        if self.low < self.high:
            return ""
        return f"the same without any of {self.n_queries:,} queries"


def leaving_out(counts: FloatArray) -> FloatArray:
    """Return the counts of all queries, then those without each query in turn."""
    whole = counts.sum(0)
    return np.concatenate([whole[None], whole - counts])


def estimate_statistic(
    values: FloatArray, confidence: float, lowest: float = -1, highest: float = 1, *, n_queries: int | None = None
) -> Estimate:
    """Return a statistic with its interval, cut to its limits, from its values for all queries and without each.

    Of an interval without width, which rounding may leave some, the ends are equal. `n_queries` is how many of the
    queries it is of; by default all.
    """
    value = float(values[0])
    low, high = np.clip(jackknife_bounds(value, values[1:], confidence), lowest, highest)
    if high - low <= NOISE:
        low = high = value
    return Estimate(value, low, high, len(values) - 1 if n_queries is None else n_queries)


def estimate_shares(hits: FloatArray, totals: FloatArray, confidence: float) -> list[Estimate]:
    """Return the shares of counts by query, of shape (n_queries, n_shares), with their intervals."""
    ends = share_bounds(hits, totals, confidence)
    columns = zip(
        hits.sum(0).tolist(), totals.sum(0).tolist(), (totals > 0).sum(0).tolist(), ends.T.tolist(), strict=True
    )
    estimates = []
    for n_hits, n_documents, n_queries, (low, high) in columns:
        share = n_hits / n_documents if n_documents else np.nan
        estimates.append(Estimate(share, low, high, n_queries))
    return estimates


def estimate_mean(values: FloatArray, confidence: float) -> Estimate:
    """Return the mean of values by query with its interval; NaN is left out."""
    kept = values[~np.isnan(values)]
    if not len(kept):
        return Estimate(np.nan)
    return estimate_statistic(np.append(kept.mean(), (kept.sum() - kept) / max(len(kept) - 1, 1)), confidence)
