"""Interpolated precision at levels of recall: IPrec, and AP11, its average over eleven."""

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from functools import partial

import numpy as np

from deadheat.core.arrays import FloatArray, IntArray
from deadheat.core.kernels.counts import Relevant
from deadheat.core.measures.base import Measure
from deadheat.core.measures.orders import OrdersMeasure
from deadheat.core.measures.parameters import Choice, Number, parameter, parameters
from deadheat.core.measures.registration import register
from deadheat.core.measures.top import RelevanceMeasure
from deadheat.core.placements.placements import Placements
from deadheat.plugins.more_measures.kernels import interpolated

ROUNDED: dict[str, Callable[[FloatArray], FloatArray]] = {  # numbers of documents
    "trec_eval 9": lambda count: np.floor(count + 0.9),
    "trec_eval 10": lambda count: np.floor(count) + (count - np.floor(count) >= 0.5),
    "ceil": np.ceil,
}
MOST_STEPS = 1 << 26  # numbers computed for one query, in about a second; beyond, orders are drawn


@parameters
class InterpolatedMeasure(RelevanceMeasure, OrdersMeasure):
    """The average of interpolated precision over levels of recall."""

    rounding: str = parameter(
        "trec_eval 9",
        Choice(tuple(ROUNDED)),
        "relevant documents of a recall: l R + 0.9 rounded down, l R rounded, or l R rounded up",
    )

    @property
    @abstractmethod
    def levels(self) -> FloatArray:
        """Levels of recall, of shape (n_levels,)."""

    def need(self, placements: Placements) -> IntArray:
        """Return how many relevant documents each level needs, 1 or more, of shape (n_queries, n_levels)."""
        count = placements.n_relevant(self.rel)[:, None] * self.levels
        return np.maximum(ROUNDED[self.rounding](count), 1.0).astype(np.int64)

    def score_rankings(self, rankings: FloatArray, placements: Placements, query: int) -> FloatArray:
        """Return the value of each ranking."""
        count = np.cumsum(rankings, axis=1)
        precision = count / np.arange(1, rankings.shape[1] + 1)
        highest = np.maximum.accumulate(precision[:, ::-1], axis=1)[:, ::-1]
        total = np.zeros(len(rankings))
        for need in self.need(placements)[query].tolist():
            if need <= count[0, -1]:
                total += np.take_along_axis(highest, (count >= need).argmax(axis=1)[:, None], axis=1)[:, 0]
        return total / len(self.levels)

    extremes = Measure.extremes  # of the worst and of the best order, also where orders are drawn

    def n_steps(self, placements: Placements) -> float:
        """Return how many numbers the exact moments take: some 60 million in a second."""
        random, ties, _ = self.split(placements)
        return float(np.minimum(interpolated.n_steps(ties, self.need(placements)[random]), MOST_STEPS).sum())

    def split(self, placements: Placements) -> tuple[IntArray, Relevant, Relevant]:
        """Return the queries whose value an order changes, the ties that matter to them, and those of the others."""
        found, need = placements.relevant(self.rel), self.need(placements)
        ties = found[found.before + found.count >= need.min(axis=1)[found.query]]
        is_random = np.isin(np.arange(placements.n_queries), ties.query[ties.count < ties.tied])
        return np.flatnonzero(is_random), ties[is_random[ties.query]].renumber_queries(), ties[~is_random[ties.query]]

    def find_moments(self, placements: Placements) -> tuple[FloatArray, ...]:
        """Compute mean, variance and standard error."""
        return next(iter(_walked([(self, placements)])))


def remember_together(pairs: Sequence[tuple[InterpolatedMeasure, Placements]]) -> None:
    """Find the moments of several measures, of equally many levels, in one walk: of many small lists ten times faster.

    The placements remember them.
    """
    for (one, placements), found in zip(pairs, _walked(pairs), strict=True):
        placements.cached(("moments", one.key), partial(tuple, found))


def _walked(pairs: Sequence[tuple[InterpolatedMeasure, Placements]]) -> Iterator[tuple[FloatArray, ...]]:
    """Give mean, variance and standard error of each measure."""
    found, needs, own = [], [], []
    for one, placements in pairs:
        need, (random, ties, settled) = one.need(placements), one.split(placements)
        moments = np.zeros((3, placements.n_queries))
        moments[0] = interpolated.certain(settled, need).mean(axis=1)
        is_large = interpolated.n_steps(ties, need[random]) > MOST_STEPS
        small, large = random[~is_large], random[is_large]
        moments[:, large] = one.compute_over_orders(placements, large)[:3]
        found.append((moments, small))
        needs.append(need[small])
        own.append(ties[~is_large[ties.query]].renumber_queries())
    ends = np.cumsum([len(need) for need in needs])
    walked = np.array(interpolated.moments(Relevant.concatenate(own, [0, *ends[:-1]]), np.concatenate(needs)))
    for (moments, small), part in zip(found, np.split(walked, ends[:-1], axis=1), strict=True):
        moments[:2, small] = part
        yield tuple(moments)


@register(
    "interpolated precision",
    "IPrec@l = max c / T_c over the numbers c of relevant documents, l R ≤ c",
    aliases=("iprec",),
    trec_eval=("iprec_at_recall_{}",),
    at="recall",
)
class IPrec(InterpolatedMeasure):
    r"""Interpolated precision: the highest precision at or below the rank where a level of recall is reached.

    .. math:: \text{IPrec}@l = \max_{c \ge \lceil l R \rceil} c / T_c

    with :math:`T_c` the rank of the c-th relevant document and R the relevant documents of the qrels; 0 if fewer are
    retrieved than the level needs. ``@`` sets the level; at 0 it is the highest precision anywhere. trec_eval up to
    version 9 adds 0.9 to l R and rounds down, in floating-point numbers (``rounding="trec_eval 9"``), which needs one
    document less in a few cases, as at R = 3 and l = 0.7. Version 10 rounds to the nearest number
    (``"trec_eval 10"``); ``"ceil"`` rounds up. Mean and variance over ties are exact up to a few hundred tied
    documents. For larger ties, orders are drawn, and ``Scores.standard_error`` says how far the mean may be off.

    References
    ----------
    Manning, Raghavan and Schutze, Introduction to Information Retrieval, 2008, section 8.4,
    https://nlp.stanford.edu/IR-book/; iprec_at_recall of trec_eval.

    Examples
    --------
    >>> from deadheat import evaluate
    >>> run = {"q": {"b": 3, "a": 2, "c": 2, "d": 1}}
    >>> evaluate({"q": {"a": 1, "d": 1}}, run, ["IPrec@0.1", "IPrec@1"]).means()
    {'IPrec@0.1': 0.5, 'IPrec@1': 0.5}
    """

    recall: float = parameter(0, Number(low=0, high=1), "level of recall; what @ sets")

    @property
    def levels(self) -> FloatArray:
        """The level of recall."""
        return np.array([float(self.recall)])


@register(
    "11-point average precision", "AP11 = 1/11 ∑ IPrec@l over the levels l = 0, 0.1, ..., 1", trec_eval=("11pt_avg",)
)
class AP11(InterpolatedMeasure):
    r"""Interpolated precision, averaged over the eleven recall levels 0, 0.1, ..., 1.

    .. math:: AP11 = \frac{1}{11} \sum_{l \in \{0, 0.1, ..., 1\}} \text{IPrec}@l

    Conventions, and what is exact, are those of `IPrec`.

    References
    ----------
    Manning, Raghavan and Schutze, Introduction to Information Retrieval, 2008, section 8.4,
    https://nlp.stanford.edu/IR-book/; 11pt_avg of trec_eval.

    Examples
    --------
    >>> from deadheat import evaluate
    >>> evaluate({"q": {"a": 1}}, {"q": {"a": 0.5, "b": 0.5}}, ["AP11"]).means()
    {'AP11': 0.75}
    """

    @property
    def levels(self) -> FloatArray:
        """The eleven levels, as the numbers that trec_eval writes."""
        return np.array([float(f"0.{tenth}") for tenth in range(10)] + [1.0])
