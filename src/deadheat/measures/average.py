"""Averages over the relevant documents of precision and of recall: AP and AR."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from deadheat.arrays import FloatArray, IntArray
from deadheat.kernels import counts, pairwise
from deadheat.kernels.segments import batches, ratio
from deadheat.measures.base import CutMeasure, TrecName, register
from deadheat.measures.conditional import CountConditional
from deadheat.measures.parameters import Choice, parameter
from deadheat.measures.top import RelevanceMeasure, retrieved_relevant
from deadheat.placements.placements import Placements, Relevant

NORM = Choice(("R", "min", "retrieved", "retrieved_all"))
NORM_MEANING = "divisor: relevant documents, min(that, k), those in the retrieved top k, those in the whole list"


def constant_norm(norm: str, cutoff: int | None, placements: Placements, rel: float) -> FloatArray:
    """Return a divisor that no tie order changes, of shape (n_queries,)."""
    n_relevant = placements.n_relevant(rel).astype(np.float64)
    if norm == "R" or (norm == "min" and cutoff is None):
        return n_relevant
    if norm == "min":
        return np.minimum(n_relevant, float(cutoff or 0))
    return retrieved_relevant(placements, rel)


@register
@dataclass(frozen=True, kw_only=True, repr=False)
class AP(CountConditional):
    r"""Average precision.

    .. math:: AP@k = \frac{1}{N} \sum_{i \le k,\ d_i\ \text{relevant}} C_i / i

    with :math:`C_i` the relevant documents in the top i. N is R (``norm="R"``), min(R, k) (``"min"``), the relevant
    documents in the retrieved top k (``"retrieved"``) or in the whole list (``"retrieved_all"``).

    References
    ----------
    Buckley and Voorhees 2000, https://doi.org/10.1145/345508.345543; ties: McSherry and Najork 2008, section 2.4,
    https://doi.org/10.1007/978-3-540-78646-7_38, where the term of a tie of one is 0 and not 0/0.

    Examples
    --------
    >>> from deadheat import evaluate
    >>> evaluate({"q": {"a": 1, "z": 1}}, {"q": {"a": 0.5, "b": 0.5}}, ["AP", "AP(norm='min')@1"]).means()
    {'AP': 0.375, "AP(norm='min')@1": 0.5}
    """

    title = "average precision"
    formula = "AP@k = 1/N ∑ C_i / i over the ranks i ≤ k of relevant documents"
    aliases = ("MAP", TrecName("map"), TrecName("map_cut_{}"))

    norm: str = parameter("R", NORM, NORM_MEANING)

    @property
    def is_zero_or_one(self) -> bool:
        """Whether it is the precision of the first rank, divided by 1."""
        return self.cutoff == 1 and self.norm in {"min", "retrieved"}

    @property
    def is_conditional(self) -> bool:
        """Whether the divisor depends on the order."""
        return self.norm == "retrieved" and self.cutoff is not None

    def mean(self, placements: Placements) -> FloatArray:
        """Return the exact mean over all tie orders."""
        if self.is_conditional:
            return self.conditional_moments(placements)[0]
        found = placements.relevant(self.rel)
        sums = self._rank_sums(found, np.arange(len(found.query)), self.inside(found.above, found.tied), squares=False)
        part = pairwise.mean(pairwise.binary_patterns(found.count, found.before), sums, found.tied)
        return ratio(placements.by_query(part, found.query), self._norm(placements))

    def variance(self, placements: Placements) -> FloatArray:
        """Return the exact variance over all tie orders."""
        if self.is_conditional:
            return self.conditional_moments(placements)[1]
        found = placements.relevant(self.rel)
        inside = self.inside(found.above, found.tied)
        varied = np.flatnonzero((found.count < found.tied) & (inside > 0))
        sums = self._rank_sums(found, varied, inside[varied], squares=True)
        patterns = pairwise.binary_patterns(found.count[varied], found.before[varied])
        part = pairwise.variance(patterns, sums, found.tied[varied])
        return ratio(placements.by_query(part, found.query[varied]), self._norm(placements) ** 2)

    def extremes(self, placements: Placements) -> tuple[FloatArray, FloatArray]:
        """Return the smallest and the largest value over tie orders."""
        return self.conditional_extremes(placements) if self.is_conditional else super().extremes(placements)

    def empty(self, placements: Placements) -> FloatArray:
        """Return 0."""
        return np.zeros(placements.n_queries)

    def part_moments(
        self, found: Relevant, index: IntArray, inside: IntArray, count: IntArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return mean and variance of a tie's sum of precisions."""
        flat = self._rank_sums(found, index, inside, squares=True)
        sums = pairwise.RankSums(*(getattr(flat, name)[:, None] for name in flat.__dataclass_fields__))
        patterns = pairwise.binary_patterns(count, found.before[index, None])
        n = inside[:, None]
        variance = np.where(count < n, pairwise.variance(patterns, sums, n), 0.0)
        return pairwise.mean(patterns, sums, n), variance

    def part_extremes(
        self, found: Relevant, index: IntArray, inside: IntArray, count: IntArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return the sum with the relevant documents on the last ranks, and on the first ones."""
        low, high = np.zeros(count.shape), np.zeros(count.shape)
        for rows, width in batches(inside):
            j, m, x = np.arange(1, width + 1), inside[rows, None], count[rows]
            above, before = found.above[index[rows], None], found.before[index[rows], None]
            real = j <= m
            first = np.where(real, (before + j) / (above + j), 0.0)
            last = np.where(real, 1 / np.maximum(above + m - j + 1, 1), 0.0)
            first, last = (np.pad(np.cumsum(part, axis=1), ((0, 0), (1, 0))) for part in (first, last))
            high[rows] = np.take_along_axis(first, x, axis=1)
            low[rows] = x + (before - above - m + x) * np.take_along_axis(last, x, axis=1)
        return low, high

    def _norm(self, placements: Placements) -> FloatArray:
        return constant_norm(self.norm, self.cutoff, placements, self.rel)

    @staticmethod
    def _rank_sums(found: Relevant, index: IntArray, inside: IntArray, *, squares: bool) -> pairwise.RankSums:
        above = found.above[index]
        return pairwise.rank_sums(inside, lambda rows, j: 1 / (above[rows, None] + j), squares=squares)


@register
@dataclass(frozen=True, kw_only=True, repr=False)
class AR(RelevanceMeasure, CutMeasure):
    r"""Average recall.

    .. math:: AR@k = \frac{1}{N} \sum_{i \le k,\ d_i\ \text{relevant}} \frac{C_i}{R} = \frac{C_k (C_k + 1)}{2 R N}

    with :math:`C_i` the relevant documents in the top i and N as for `AP`. The order inside the top k does not matter;
    divided by the retrieved relevant documents it is (C_k + 1) / 2R.

    References
    ----------
    No paper that we know of: tutorials set it beside `AP`, with recall in the place of precision.

    Examples
    --------
    >>> from deadheat import evaluate
    >>> evaluate({"q": {"a": 1, "z": 1}}, {"q": {"a": 0.5, "b": 0.5}}, ["AR", "AR@1"]).means()
    {'AR': 0.25, 'AR@1': 0.125}
    """

    title = "average recall"
    formula = "AR@k = 1/N ∑ C_i / R over the ranks i ≤ k of relevant documents, or C_k (C_k + 1) / (2 R N)"
    aliases = ("MAR",)

    norm: str = parameter("R", NORM, NORM_MEANING)

    def mean(self, placements: Placements) -> FloatArray:
        """Return the exact mean over all tie orders."""
        return self._moments(placements)[0]

    def variance(self, placements: Placements) -> FloatArray:
        """Return the exact variance over all tie orders."""
        return self._moments(placements)[1]

    def _moments(self, placements: Placements) -> tuple[FloatArray, FloatArray]:
        found = placements.relevant(self.rel)
        inside = self.inside(found.above, found.tied)
        cut = np.flatnonzero((inside > 0) & (inside < found.tied))
        whole = inside == found.tied
        query = found.query[cut]
        mean = self._of_count(placements, placements.by_query(found.count * whole, found.query), slice(None))
        variance = np.zeros(placements.n_queries)

        def given(index: IntArray, count: IntArray) -> tuple[FloatArray, FloatArray]:
            total = (found.before[cut[index], None] + count).astype(np.float64)
            return self._of_count(placements, total, query[index, None]), np.zeros(count.shape)

        mean[query], variance[query] = counts.mix(found.tied[cut], inside[cut], found.count[cut], given)
        return mean, variance

    def _of_count(self, placements: Placements, count: FloatArray, query: IntArray | slice) -> FloatArray:
        n_relevant = placements.n_relevant(self.rel)[query].astype(np.float64)
        if self.norm == "retrieved":
            return ratio(np.where(count > 0, count + 1, 0.0), 2 * n_relevant)
        norm = constant_norm(self.norm, self.cutoff, placements, self.rel)[query]
        return ratio(count * (count + 1), 2 * n_relevant * norm)


MAP, MAR = AP, AR
