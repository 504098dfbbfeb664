"""Measures of a user who stops at a document with a probability that its relevance sets: ERR and nERR."""

from dataclasses import dataclass

import numpy as np

from deadheat.core.arrays import BoolArray, FloatArray, IntArray
from deadheat.core.errors import MeasureError
from deadheat.core.kernels import cascade, cascade_variance
from deadheat.core.kernels.segments import scan_before
from deadheat.core.measures.families import CutMeasure, SumMeasure, computed_once
from deadheat.core.measures.gains import LARGEST_POWER, PositiveMeasure, exp2_minus_one, ideal_rank, scale_top
from deadheat.core.measures.parameters import Call, Number, parameter
from deadheat.core.measures.registration import alias_class, register
from deadheat.core.placements.placements import Placements

STOP = Call({"exp": (), "sigmoid": (Number(low=0, open_low=True), Number()), "identity": ()})


@dataclass(frozen=True, eq=False)
class StopTies:
    """The ties of all queries, and which of their documents differ from unjudged ones in their stop probability.

    Attributes
    ----------
    query : ndarray of shape (n_ties,)
        Query code.
    above, tied : ndarray of shape (n_ties,)
        Documents above the tie and in it.
    start, n_listed : ndarray of shape (n_ties,)
        Those documents are listed tie by tie: where the tie's begin in this list, and how many there are.
    """

    query: IntArray
    above: IntArray
    tied: IntArray
    start: IntArray
    n_listed: IntArray

    @classmethod
    def from_placements(cls, placements: Placements, is_listed: BoolArray) -> "StopTies":
        """Return the ties with a judged document; `is_listed` says of each row whether it is in the list."""
        rows = placements.tie_starts
        n_before = np.concatenate(([0], np.cumsum(is_listed)))
        start = n_before[rows]
        n_listed = np.diff(np.append(start, n_before[-1]))
        return cls(placements.query[rows], placements.above[rows], placements.tied[rows], start, n_listed)

    def with_gaps(self, placements: Placements) -> "StopTies":
        """Return these ties and, as ties of their own, the stretches of ranks between them, above and below."""
        gaps = self._find_gaps(placements)
        query = np.concatenate((self.query, gaps.query))
        above = np.concatenate((self.above, gaps.above))
        order = np.lexsort((above, query))
        return StopTies(
            query=query[order],
            above=above[order],
            tied=np.concatenate((self.tied, gaps.tied))[order],
            start=np.concatenate((self.start, gaps.start))[order],
            n_listed=np.concatenate((self.n_listed, gaps.n_listed))[order],
        )

    def _find_gaps(self, placements: Placements) -> "StopTies":
        """Return the stretches of ranks without a judged document, which begin at the top of a list or below a tie."""
        code = np.arange(placements.n_queries)
        query = np.concatenate((self.query, code))
        begin = np.concatenate((self.above + self.tied, np.zeros_like(code)))
        order = np.lexsort((begin, query))
        query, begin = query[order], begin[order]
        is_last_of_query = np.append(query[1:] != query[:-1], True)
        end = placements.n_retrieved[query].copy()
        # Each stretch but a query's last ends where the next tie begins: the ties are in the same order.
        end[~is_last_of_query] = self.above
        is_gap = end > begin
        query, begin, end = query[is_gap], begin[is_gap], end[is_gap]
        nothing = np.zeros(len(query), np.int64)
        return StopTies(query=query, above=begin, tied=end - begin, start=nothing, n_listed=nothing)


@register(
    "expected reciprocal rank",
    "ERR@k = ∑ 1/i · stop(d_i) · ∏[j<i] (1 - stop(d_j)) over the ranks i = 1..k",
    aliases=("MERR",),
)
class ERR(PositiveMeasure, SumMeasure, CutMeasure):
    r"""Expected reciprocal rank of the document at which the user stops.

    .. math:: ERR@k = \sum_{i=1}^{k} \frac{1}{i}\, s(d_i) \prod_{j<i} (1 - s(d_j))

    The stop probability of relevance g is (2^g - 1) / 2^max_rel (``"exp"``), 1 / (1 + e^(-a (g - b)))
    (``"sigmoid(a, b)"``, also for documents of relevance 0 and unjudged ones) or g itself (``"identity"``, for
    relevance from 0 to 1, where binary relevance gives `RR`).

    References
    ----------
    Chapelle, Metzler, Zhang and Grinspan 2009, https://doi.org/10.1145/1645953.1646033.

    Examples
    --------
    >>> from deadheat import evaluate
    >>> evaluate({"q": {"a": 1}}, {"q": {"a": 0.5, "b": 0.5}}, ["ERR", "ERR(stop='identity')"]).means()
    {'ERR': 0.375, "ERR(stop='identity')": 0.75}
    """

    stop: str = parameter("exp", STOP, "probability of stopping at a document, by its relevance")
    max_rel: float | None = parameter(
        None, Number(low=0, open_low=True, optional=True), "top of the scale; None: highest relevance of the qrels"
    )

    def __post_init__(self) -> None:
        """Refuse `max_rel` where the stop probability has no scale, and set the range."""
        super().__post_init__()
        if self.max_rel is not None and self.stop != "exp":
            raise MeasureError(
                "max_rel is the top of the scale of stop='exp' alone", measure=type(self).__name__, given=self.max_rel
            )
        # by "sigmoid", unjudged documents add to ERR but not to that of the ideal ranking, so nERR may exceed 1
        if not self.stop.startswith("sigmoid"):
            object.__setattr__(self, "range", (0.0, 1.0))

    def stops(self, placements: Placements, relevance: FloatArray) -> FloatArray:
        """Return the stop probability of each relevance."""
        word, numbers = STOP.split(self.stop)
        grade = np.maximum(relevance, 0.0)
        if word == "exp":
            return exp2_minus_one(grade) / np.exp2(self._top(placements))
        if word == "sigmoid":
            a, b = numbers
            with np.errstate(over="ignore"):  # exp is infinite then, and the stop probability 0
                return 1 / (1 + np.exp(-a * (grade - b)))
        highest = relevance.max(initial=placements.max_relevance)  # labels of unjudged documents may be above the qrels
        if highest > 1:
            raise MeasureError(
                "stop='identity' needs relevance from 0 to 1",
                measure=type(self).__name__,
                found=f"{highest:g}",
                hint="use 'exp'",
            )
        return grade

    def _top(self, placements: Placements) -> float:
        """Return the top of the relevance scale; refuse one whose power of two float64 cannot square."""
        top = scale_top(self.max_rel, placements, type(self).__name__)
        if top > LARGEST_POWER:
            raise MeasureError(
                f"stop='exp' takes a scale up to {LARGEST_POWER}",
                measure=type(self).__name__,
                found=f"{top:g}",
                hint="use stop='sigmoid(a, b)'",
            )
        return top

    def moment(self, placements: Placements, *, squares: bool) -> FloatArray:
        """Return the mean of each query's sum over all tie orders, or its variance (`squares`)."""
        groups, query, arrival = self._groups(placements)
        deepest = self.depth(placements).max(initial=1)
        weights = 1 / np.arange(1.0, int(deepest) + 1)
        if squares:
            part = arrival**2 * cascade_variance.variance(groups, weights=weights)
        else:
            part = arrival * cascade.mean(groups, weights=weights)
        return placements.by_query(part, query) * self.has_relevant(placements)

    @computed_once("stop", "max_rel", "cutoff")
    def _groups(self, placements: Placements) -> tuple[cascade.Groups, IntArray, FloatArray]:
        """Return the ties with their probabilities, their queries, and the chance to read on to each."""
        plain_stop = float(self.stops(placements, np.zeros(1))[0])  # of documents that are not judged
        stop = self.stops(placements, placements.relevance)
        is_listed = stop != plain_stop
        ties = StopTies.from_placements(placements, is_listed)
        if plain_stop:  # documents that are not judged stop the reading, too
            ties = ties.with_gaps(placements)
        groups = cascade.Groups(
            above=ties.above,
            tied=ties.tied,
            inside=self.inside(ties.above, ties.tied),
            n_plain=ties.tied - ties.n_listed,
            plain_stop=plain_stop,
            first_listed=ties.start,
            n_listed=ties.n_listed,
            stop=stop[is_listed],
        )
        arrival = scan_before(groups.read_on(), ties.query, np.multiply)
        return groups, ties.query, arrival


@register("normalised expected reciprocal rank", "nERR@k = ERR@k / ERR@k of the ideal ranking", range=(0.0, np.inf))
class nERR(ERR):
    r"""Expected reciprocal rank as a share of the ideal one.

    .. math:: nERR@k = ERR@k \,/\, ERR@k\ \text{of the ideal ranking}

    The ideal ranking holds all judged documents of the query, the highest relevance first, and is cut at k. With
    ``stop="sigmoid(a, b)"``, where unjudged documents count too, a list longer than it can exceed 1.

    References
    ----------
    Chapelle, Metzler, Zhang and Grinspan 2009, https://doi.org/10.1145/1645953.1646033.

    Examples
    --------
    >>> from deadheat import evaluate
    >>> evaluate({"q": {"a": 1}}, {"q": {"a": 0.5, "b": 0.5}}, ["nERR"]).means()
    {'nERR': 0.75}
    """

    def divisor(self, placements: Placements) -> FloatArray:
        """Return the ERR of the ideal ranking, by query."""
        stop = self.stops(placements, placements.judged_relevance)
        rank = ideal_rank(placements)  # from 0 on
        arrival = scan_before(1 - stop, placements.judged_query, np.multiply)
        part = arrival * stop / (rank + 1)
        if self.cutoff is not None:
            part = np.where(rank < self.cutoff, part, 0.0)
        return placements.by_query(part, placements.judged_query)


MERR = alias_class(ERR, "MERR")
