"""Averages over the relevant documents of precision and of recall: AP and AR."""

import numpy as np

from deadheat.core.arrays import FloatArray, IntArray
from deadheat.core.errors import MeasureError
from deadheat.core.kernels import pairwise
from deadheat.core.kernels.counts import Relevant
from deadheat.core.kernels.segments import batches, divide_or_zero
from deadheat.core.measures.count_conditional import CountConditional
from deadheat.core.measures.families import SumMeasure
from deadheat.core.measures.parameters import Choice, parameter
from deadheat.core.measures.registration import alias_class, register
from deadheat.core.measures.top import NormMeasure, constant_norm
from deadheat.core.placements.placements import Placements

NORM = Choice(("R", "min", "retrieved", "retrieved_all"))
NORM_MEANING = "divisor: relevant documents, min(that, k), those in the retrieved top k, those in the whole list"
NORM_OF_AP = Choice((*NORM.words, "k"))


@register(
    "average precision",
    "AP@k = 1/N ∑ C_i / i over the ranks i ≤ k of relevant documents",
    aliases=("MAP",),
    trec_eval=("map", "map_cut_{}"),
)
class AP(NormMeasure, SumMeasure, CountConditional):
    r"""Average precision.

    .. math:: AP@k = \frac{1}{N} \sum_{i \le k,\ d_i\ \text{relevant}} C_i / i

    with :math:`C_i` the relevant documents in the top i. N is R (``norm="R"``), min(R, k) (``"min"``), the relevant
    documents in the retrieved top k (``"retrieved"``) or in the whole list (``"retrieved_all"``), or k (``"k"``, which
    needs a cutoff).

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

    norm: str = parameter("R", NORM_OF_AP, f"{NORM_MEANING}, k")

    def __post_init__(self) -> None:
        """Refuse to divide by a cutoff that there is not."""
        super().__post_init__()
        if self.norm == "k" and self.cutoff is None:
            raise MeasureError(
                "norm='k' needs a cutoff, as in \"AP(norm='k')@10\"",
                measure="AP",
                hint="in Python write AP(norm='k', cutoff=10)",
            )

    @property
    def is_zero_or_one(self) -> bool:
        """Whether it is the precision of the first rank, divided by 1."""
        return self.cutoff == 1 and self.norm in {"min", "retrieved", "k"}

    @property
    def is_conditional(self) -> bool:
        """Whether the divisor depends on the order."""
        return self.norm == "retrieved" and self.cutoff is not None

    def mean(self, placements: Placements) -> FloatArray:
        """Return the exact mean over all tie orders."""
        if self.is_conditional:
            return CountConditional.mean(self, placements)
        return SumMeasure.mean(self, placements)

    def variance(self, placements: Placements) -> FloatArray:
        """Return the exact variance over all tie orders."""
        if self.is_conditional:
            return CountConditional.variance(self, placements)
        return SumMeasure.variance(self, placements)

    def moment(self, placements: Placements, *, squares: bool) -> FloatArray:
        """Return the mean of each query's sum of precisions over all tie orders, or its variance (`squares`)."""
        return self._add_up_ties(placements, placements.relevant(self.rel), squares=squares)

    def _add_up_ties(self, placements: Placements, ties: Relevant, *, squares: bool) -> FloatArray:
        """Return the sum over each query's ties of the mean of their precisions, or of the variance (`squares`)."""
        inside = self.inside(ties.above, ties.tied)
        if squares:
            part = np.zeros(len(inside))
            depends_on_order = (inside > 0) & (ties.count < ties.tied)
        else:
            # most documents tie with no other: for these this is what the kernel computes, to the last bit
            part = np.where(inside > 0, (ties.before + 1) * (1 / (ties.above + 1)), 0.0)
            depends_on_order = (inside > 0) & (ties.tied > 1)
        index = np.flatnonzero(depends_on_order)
        if len(index):
            sums = self._rank_sums(ties, index, inside[index], squares=squares)
            patterns = pairwise.binary_patterns(ties.count[index], ties.before[index])
            moment = pairwise.variance if squares else pairwise.mean
            part[index] = moment(patterns, sums, ties.tied[index])
        return placements.by_query(part, ties.query)

    def divisor(self, placements: Placements) -> FloatArray:
        """Return N."""
        if self.norm == "k":
            return self.k(placements).astype(np.float64)
        return constant_norm(self.norm, placements, self.rel, self.cutoff)

    def extremes(self, placements: Placements) -> tuple[FloatArray, FloatArray]:
        """Return the smallest and the largest value over tie orders."""
        if self.is_conditional:
            return CountConditional.extremes(self, placements)
        ties = placements.relevant(self.rel)
        divisor = self.divisor(placements)
        low = self._add_up_ties(placements, ties.separate(best=False), squares=False)
        high = self._add_up_ties(placements, ties.separate(best=True), squares=False)
        return divide_or_zero(low, divisor), divide_or_zero(high, divisor)

    def part_moments(
        self, ties: Relevant, index: IntArray, inside: IntArray, count: IntArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return mean and variance of a tie's sum of precisions."""
        sums = self._rank_sums(ties, index, inside, squares=True).as_columns()
        patterns = pairwise.binary_patterns(count, ties.before[index, None])
        n = inside[:, None]
        mean = pairwise.mean(patterns, sums, n)
        variance = pairwise.variance(patterns, sums, n)
        return mean, np.where(count < n, variance, 0.0)

    def part_extremes(
        self, ties: Relevant, index: IntArray, inside: IntArray, count: IntArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return the sum with the relevant documents on the last ranks, and on the first ones."""
        low, high = np.zeros(count.shape), np.zeros(count.shape)
        for rows, width in batches(inside):
            n_ranks = inside[rows, None]
            n_relevant = count[rows]
            above, before = ties.above[index[rows], None], ties.before[index[rows], None]
            j = np.arange(1, width + 1)
            is_inside = j <= n_ranks
            # with the relevant documents first, the precision at the j-th rank of the tie
            precision = np.where(is_inside, (before + j) / (above + j), 0.0)
            high[rows] = _add_up_first(precision, n_relevant)
            # with the relevant documents last, C_i at rank i is i less the documents above it that are not relevant,
            # which are the same for each of them: so the precision is 1 - n_not_relevant / i
            n_not_relevant = above - before + n_ranks - n_relevant
            rank_from_end = np.maximum(above + n_ranks - j + 1, 1)
            reciprocal = np.where(is_inside, 1 / rank_from_end, 0.0)
            low[rows] = n_relevant - n_not_relevant * _add_up_first(reciprocal, n_relevant)
        return low, high

    @staticmethod
    def _rank_sums(ties: Relevant, index: IntArray, inside: IntArray, *, squares: bool) -> pairwise.RankSums:
        def reciprocal_rank(rows: IntArray, j: IntArray) -> FloatArray:
            return 1 / (ties.above[index[rows], None] + j)

        return pairwise.rank_sums(inside, reciprocal_rank, squares=squares)


def _add_up_first(values: FloatArray, n_first: IntArray) -> FloatArray:
    """Return sums of the first values of each row: of as many as each number in the same row of `n_first` says."""
    sums = np.cumsum(values, axis=1)
    sums_from_none_on = np.pad(sums, ((0, 0), (1, 0)))
    return np.take_along_axis(sums_from_none_on, n_first, axis=1)


@register(
    "average recall",
    "AR@k = 1/N ∑ C_i / R over the ranks i ≤ k of relevant documents, or C_k (C_k + 1) / (2 R N)",
    aliases=("MAR",),
)
class AR(NormMeasure, CountConditional):
    r"""Average recall.

    .. math:: AR@k = \frac{1}{N} \sum_{i \le k,\ d_i\ \text{relevant}} \frac{C_i}{R} = \frac{C_k (C_k + 1)}{2 R N}

    with :math:`C_i` the relevant documents in the top i and N as for `AP`. The order inside the top k does not matter;
    divided by the retrieved relevant documents it is (C_k + 1) / 2R.

    References
    ----------
    No paper that we know of: tutorials define it like `AP`, with recall in place of precision.

    Examples
    --------
    >>> from deadheat import evaluate
    >>> evaluate({"q": {"a": 1, "z": 1}}, {"q": {"a": 0.5, "b": 0.5}}, ["AR", "AR@1"]).means()
    {'AR': 0.25, 'AR@1': 0.125}
    """

    norm: str = parameter("R", NORM, NORM_MEANING)

    def part_moments(
        self,
        ties: Relevant,  # noqa: ARG002 - measures that look at ranks need it
        index: IntArray,  # noqa: ARG002 - and this one
        inside: IntArray,  # noqa: ARG002 - and this one
        count: IntArray,
    ) -> tuple[FloatArray, FloatArray]:
        """Return 0: only the number of relevant documents matters."""
        return np.zeros(count.shape), np.zeros(count.shape)

    part_extremes = part_moments

    def line(self, placements: Placements, size: FloatArray, query: IntArray | slice) -> tuple[FloatArray, FloatArray]:
        """Return the slope, which is 0, and the value for numbers of relevant documents."""
        if self.norm == "retrieved":
            norm = size
        else:
            norm = constant_norm(self.norm, placements, self.rel, self.cutoff)[query]
        n_relevant = placements.n_relevant(self.rel)[query]
        return np.zeros(size.shape), divide_or_zero(size * (size + 1), 2.0 * n_relevant * norm)


MAP = alias_class(AP, "MAP")
MAR = alias_class(AR, "MAR")
