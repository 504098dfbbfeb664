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
        """Refuse what the cutoff gives no meaning to."""
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
        of_retrieved = np.where(share > 0, mean * share, 0.0)
        return of_retrieved + (1 - share) * self.empty(placements), variance * share**2

    def _moments_with_capped(self, placements: Placements) -> tuple[FloatArray, FloatArray]:
        """Return mean and variance where a document below k, or not retrieved, has rank k + 1.

        With d the largest depth of any list, each relevant document has rank d + 1 at first. One in the top k then has
        the weight rank - (d + 1), what it gains over the others.
        """
        deepest = int(self.depth(placements).max(initial=0))
        gains = binary_gains(placements, self.rel)
        weights = np.arange(deepest) - float(deepest)
        mean = weighted_sum(self, placements, gains, weights, squares=False)
        variance = weighted_sum(self, placements, gains, weights, squares=True)
        # a cutoff below the longest list is that list's depth; one beyond it cuts no tie: what is retrieved is found
        k = self.cutoff or deepest
        beyond = (1 - self._share_retrieved(placements)) * (k - deepest)
        n_relevant = placements.n_relevant(self.rel)
        return deepest + 1 + divide_or_zero(mean, n_relevant) + beyond, divide_or_zero(variance, n_relevant**2)

    def extremes(self, placements: Placements) -> tuple[FloatArray, FloatArray]:
        """Return the smallest and the largest value over tie orders."""
        if self.missing == "skip":
            return super().extremes(placements)
        return Measure.extremes(self, placements)

    empty = rank_below_list
