"""The mean rank of the relevant documents: MR."""

import numpy as np

from deadheat.core.arrays import FloatArray, IntArray
from deadheat.core.errors import MeasureError
from deadheat.core.kernels.counts import Relevant
from deadheat.core.kernels.segments import divide_or_zero
from deadheat.core.measures.base import Measure
from deadheat.core.measures.count_conditional import CountConditional
from deadheat.core.measures.first import RankValued, rank_below_list
from deadheat.core.measures.gains import binary_gains
from deadheat.core.measures.parameters import Choice, parameter, parameters
from deadheat.core.measures.registration import register
from deadheat.core.measures.top import retrieved_relevant
from deadheat.core.measures.weighted import weighted_sum
from deadheat.core.placements.placements import Placements


@parameters
class RankSum(CountConditional):
    """A measure of the sum of the ranks of the relevant documents in the top k, and of their number."""

    def part_moments(
        self, ties: Relevant, index: IntArray, inside: IntArray, count: IntArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return mean and variance of a tie's sum of ranks: those of a rank sum."""
        m = inside[:, None]
        mean = count * (ties.above[index, None] + (m + 1) / 2)
        variance = count * (m - count) * (m + 1) / 12
        return mean, variance

    def part_extremes(
        self, ties: Relevant, index: IntArray, inside: IntArray, count: IntArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return the sum with the relevant documents on the first ranks, and on the last ones."""
        on_first_ranks = count * ties.above[index, None] + count * (count + 1) / 2
        on_last_ranks = on_first_ranks + count * (inside[:, None] - count)
        return on_first_ranks, on_last_ranks


@register("mean rank", "MR = 1/|S| ∑ rank(d) over the documents d ∈ S", range=(1.0, np.inf), higher_is_better=False)
class MR(RankValued, RankSum):
    r"""Mean rank of the relevant documents.

    .. math:: MR = \frac{1}{|S|} \sum_{d \in S} \text{rank}(d)

    Without a cutoff, S are the retrieved relevant documents (``missing="skip"``), or all relevant ones, those not
    retrieved at rank n_retrieved + 1 (``"last"``). With a cutoff, S are those in the top k, or all relevant ones,
    each one below k or not retrieved at rank k + 1 (``"capped"``). Without any it is n_retrieved + 1, or k + 1; a
    query that the run lacks has no value without a cutoff (NaN) and is left out of the mean.

    References
    ----------
    Bordes et al. 2013, Translating embeddings for modeling multi-relational data, NeurIPS 26, where it is the mean
    rank of the right entity; variance over ties, which is that of a rank sum: Mann and Whitney 1947,
    https://doi.org/10.1214/aoms/1177730491.

    Examples
    --------
    >>> from deadheat import evaluate
    >>> run = {"q": {"a": 3, "b": 2, "c": 2}}
    >>> evaluate({"q": {"a": 1, "b": 1}}, run, ["MR", "MR@2", "MR(missing='capped')@2"]).means()
    {'MR': 1.75, 'MR@2': 1.25, "MR(missing='capped')@2": 1.75}
    """

    missing: str = parameter(
        "skip", Choice(("skip", "last", "capped")), "rank of a relevant document that is not found: none, n + 1, k + 1"
    )

    def __post_init__(self) -> None:
        """Refuse "capped" without a cutoff, and "last" with one."""
        super().__post_init__()
        if self.missing == "capped" and self.cutoff is None:
            raise MeasureError("missing='capped' needs a cutoff, as in \"MR(missing='capped')@10\"", measure="MR")
        if self.missing == "last" and self.cutoff is not None:
            raise MeasureError(
                "missing='last' takes no cutoff",
                measure="MR",
                found=f"@{self.cutoff}",
                hint="missing='capped' counts k + 1",
            )

    def find_moments(self, placements: Placements) -> tuple[FloatArray, FloatArray]:
        """Compute mean and variance over all tie orders."""
        if self.missing == "skip":
            return super().find_moments(placements)
        if self.missing == "last":
            return self._moments_with_last(placements)
        return self._moments_with_capped(placements)

    def _share_retrieved(self, placements: Placements) -> FloatArray:
        """Return the share of each query's relevant documents that is retrieved."""
        return divide_or_zero(retrieved_relevant(placements, self.rel), placements.n_relevant(self.rel))

    def _moments_with_last(self, placements: Placements) -> tuple[FloatArray, FloatArray]:
        """Return mean and variance where a document that is not retrieved has rank n_retrieved + 1."""
        mean, variance = super().find_moments(placements)
        share = self._share_retrieved(placements)
        of_others = (1 - share) * self.value_if_none(placements)
        return mean * share + of_others, variance * share**2

    def _moments_with_capped(self, placements: Placements) -> tuple[FloatArray, FloatArray]:
        """Return mean and variance where a document below k, or not retrieved, has rank k + 1.

        Let d be the largest depth of any list: k, or the longest list if that is shorter. All relevant documents are
        counted at rank d + 1 first; each one that is found then adds rank - (d + 1), a sum of weight times gain. If d
        is below k, no list is cut, so each retrieved document is found; the others move down from d + 1 to k + 1.
        """
        depth = int(self.depth(placements).max(initial=0))
        gains = binary_gains(placements, self.rel)
        weights = np.arange(depth) - float(depth)  # rank - (d + 1), of the ranks from 1 on
        mean = weighted_sum(self, placements, gains, weights, squares=False)
        variance = weighted_sum(self, placements, gains, weights, squares=True)
        k = self.cutoff or depth
        from_depth_to_k = (1 - self._share_retrieved(placements)) * (k - depth)
        n_relevant = placements.n_relevant(self.rel)
        mean_rank = depth + 1 + divide_or_zero(mean, n_relevant) + from_depth_to_k
        return mean_rank, divide_or_zero(variance, n_relevant**2)

    def extremes(self, placements: Placements) -> tuple[FloatArray, FloatArray]:
        """Return the smallest and the largest value over tie orders."""
        if self.missing == "skip":
            return super().extremes(placements)
        return Measure.extremes(self, placements)

    value_if_none = rank_below_list
