"""The mean rank of the relevant documents, and what it shares with other functions of their ranks."""

import numpy as np

from deadheat.arrays import FloatArray, IntArray
from deadheat.errors import MeasureError
from deadheat.kernels.counts import Relevant
from deadheat.kernels.segments import ratio
from deadheat.measures.average import CountConditional
from deadheat.measures.base import Measure, register
from deadheat.measures.discounted import weighted_sum
from deadheat.measures.first import last_rank
from deadheat.measures.gains import binary_gains
from deadheat.measures.parameters import Choice, parameter, parameters
from deadheat.measures.top import retrieved_relevant
from deadheat.placements.placements import Placements
from deadheat.wording import Plain


@parameters
class RankSum(CountConditional):
    """A measure of the sum of the ranks of the relevant documents in the top k, and of their number."""

    def part_moments(
        self, found: Relevant, index: IntArray, inside: IntArray, count: IntArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return mean and variance of a tie's sum of ranks: those of a rank sum."""
        m = inside[:, None]
        return count * (found.above[index, None] + (m + 1) / 2), count * (m - count) * (m + 1) / 12

    def part_extremes(
        self, found: Relevant, index: IntArray, inside: IntArray, count: IntArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return the sum with the relevant documents on the first ranks, and on the last ones."""
        first = count * found.above[index, None] + count * (count + 1) / 2
        return first, first + count * (inside[:, None] - count)


@register("mean rank", "MR = 1/|S| ∑ rank(d) over the documents d ∈ S")
class MR(RankSum):
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

    range = (1.0, np.inf)
    higher_is_better = False

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
                given=Plain(f"@{self.cutoff}"),
                hint="missing='capped' counts k + 1",
            )

    def find_moments(self, placements: Placements) -> tuple[FloatArray, FloatArray]:
        """Compute mean and variance over all tie orders."""
        if self.missing == "skip":
            return super().find_moments(placements)
        share = ratio(retrieved_relevant(placements, self.rel), placements.n_relevant(self.rel))
        if self.missing == "capped":
            return self._capped_moments(placements, share)
        mean, variance = super().find_moments(placements)
        return np.where(share > 0, mean * share, 0.0) + (1 - share) * self.empty(placements), variance * share**2

    def extremes(self, placements: Placements) -> tuple[FloatArray, FloatArray]:
        """Return the smallest and the largest value over tie orders."""
        return (CountConditional if self.missing == "skip" else Measure).extremes(self, placements)

    def empty(self, placements: Placements) -> FloatArray:
        """Return k + 1, or n_retrieved + 1."""
        return last_rank(placements, self.cutoff)

    def _capped_moments(self, placements: Placements, found_share: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return mean and variance with ``missing="capped"``.

        A document in the top k has the weight rank - (d + 1), d the largest depth of any list: what it gains over the
        others.
        """
        deepest, n_relevant = int(self.depth(placements).max(initial=0)), placements.n_relevant(self.rel)
        gains, weights = binary_gains(placements, self.rel), np.arange(deepest) - float(deepest)
        mean, variance = (weighted_sum(self, placements, gains, weights, squares=squares) for squares in (False, True))
        # A cutoff below the longest list is that list's depth; one beyond it cuts no tie: what is retrieved is found.
        beyond = (1 - found_share) * ((self.cutoff or deepest) - deepest)
        return deepest + 1 + ratio(mean, n_relevant) + beyond, ratio(variance, n_relevant**2)
