"""Measures of a user who stops at a document with a probability that its relevance sets: ERR and nERR."""

import numpy as np

from deadheat.core.arrays import FloatArray, IntArray
from deadheat.core.errors import MeasureError
from deadheat.core.kernels import cascade, cascade_variance
from deadheat.core.kernels.segments import scan_before
from deadheat.core.measures.families import CutMeasure, SumMeasure, computed_once
from deadheat.core.measures.gains import LARGEST_POWER, PositiveMeasure, exp2_minus_one, ideal_rank, scale_top
from deadheat.core.measures.parameters import Call, Number, parameter
from deadheat.core.measures.registration import alias_class, register
from deadheat.core.placements.placements import Placements

STOP = Call({"exp": (), "sigmoid": (Number(low=0, open_low=True), Number()), "identity": ()})


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
        """Refuse a scale that the stop probability does not look at, and say what limits a share of the ideal."""
        super().__post_init__()
        if self.max_rel is not None and self.stop != "exp":
            raise MeasureError(
                "max_rel is the top of the scale of stop='exp' alone", measure=type(self).__name__, given=self.max_rel
            )
        if not self.stop.startswith("sigmoid"):  # with which unjudged documents add to nERR, and not to its ideal
            object.__setattr__(self, "range", (0.0, 1.0))

    def stops(self, placements: Placements, relevance: FloatArray) -> FloatArray:
        """Return the stop probability of each relevance."""
        word, numbers = STOP.split(self.stop)
        grade, name = np.maximum(relevance, 0.0), type(self).__name__
        if word == "exp":
            top = scale_top(self.max_rel, placements, name)
            if top > LARGEST_POWER:
                raise MeasureError(
                    f"stop='exp' takes a scale up to {LARGEST_POWER}",
                    measure=name,
                    found=f"{top:g}",
                    hint="use stop='sigmoid(a, b)'",
                )
            return exp2_minus_one(grade) / np.exp2(top)
        if word == "sigmoid":
            with np.errstate(over="ignore"):  # the stop probability is 0 then
                return 1 / (1 + np.exp(-numbers[0] * (grade - numbers[1])))
        highest = relevance.max(initial=placements.max_relevance)  # labels of unjudged documents may be above the qrels
        if highest > 1:
            raise MeasureError(
                "stop='identity' needs relevance from 0 to 1",
                measure=name,
                found=f"{highest:g}",
                hint="use 'exp'",
            )
        return grade

    def moment(self, placements: Placements, *, squares: bool) -> FloatArray:
        """Return the mean of each query's sum over all tie orders, or its variance (`squares`)."""
        groups, query, arrival = self._groups(placements)
        weights = 1 / np.arange(1.0, int(self.depth(placements).max(initial=1)) + 1)
        part = (
            arrival**2 * cascade_variance.variance(groups, weights=weights)
            if squares
            else arrival * cascade.mean(groups, weights=weights)
        )
        return placements.by_query(part, query) * self.has_relevant(placements)

    @computed_once("stop", "max_rel", "cutoff")
    def _groups(self, placements: Placements) -> tuple[cascade.Groups, IntArray, FloatArray]:
        """Return the ties with their probabilities, their queries, and the chance to read on to each."""
        starts = placements.tie_starts
        plain_stop = float(self.stops(placements, np.zeros(1))[0])
        stop = self.stops(placements, placements.relevance)
        other = stop != plain_stop
        place = np.concatenate(([0], np.cumsum(other)))
        listed = np.diff(np.append(place[starts], place[-1]))
        columns = [*(of[starts] for of in (placements.query, placements.above, placements.tied, place)), listed]
        if plain_stop:  # documents that are not judged stop the reading too
            columns = _with_gaps(placements, columns)
        query, above, tied, start, listed = columns
        groups = cascade.Groups(
            above, tied, self.inside(above, tied), tied - listed, plain_stop, start, listed, stop[other]
        )
        return groups, query, scan_before(groups.read_on(), query, np.multiply)


def _with_gaps(placements: Placements, columns: list[IntArray]) -> list[IntArray]:
    """Add the stretches without a judged document as ties of their own.

    Parameters
    ----------
    placements : Placements
    columns : list of ndarray
        Query, above, tied, and the start and number of the listed documents of each tie.
    """
    query, above, tied = columns[:3]
    code = np.arange(placements.n_queries)
    owner = np.concatenate((query, code))
    begin = np.concatenate((above + tied, np.zeros_like(code)))
    order = np.lexsort((begin, owner))
    owner, begin = owner[order], begin[order]
    last = np.append(owner[1:] != owner[:-1], True)
    end = placements.n_retrieved[owner].copy()
    # Each stretch but a query's last ends where the next tie begins: the ties are in the same order.
    end[~last] = above
    real = end > begin
    nothing = np.zeros(int(real.sum()), np.int64)
    added = (owner[real], begin[real], (end - begin)[real], nothing, nothing)
    merged = [np.concatenate(pair) for pair in zip(columns, added, strict=True)]
    order = np.lexsort((merged[1], merged[0]))
    return [column[order] for column in merged]


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
        stop, rank = self.stops(placements, placements.judged_relevance), ideal_rank(placements)
        chance = scan_before(1 - stop, placements.judged_query, np.multiply) * stop / (rank + 1)
        if self.cutoff is not None:
            chance = np.where(rank < self.cutoff, chance, 0.0)
        return placements.by_query(chance, placements.judged_query)


MERR = alias_class(ERR, "MERR")
