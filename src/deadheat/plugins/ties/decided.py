"""How much of a measure the order of ties decides, and the queries in which it decides most."""

from dataclasses import dataclass, field

import numpy as np

from deadheat.core.evaluation.scores import Scores
from deadheat.core.measures import Measure
from deadheat.core.scalars import NOISE
from deadheat.core.wording import format_record

N_WORST = 5
BY_MEASURE = ("mean", "tie_std", "tie_min", "tie_max", "n_queries", "share_of_queries", "share_of_error")


@dataclass(frozen=True, repr=False)
class Decided:
    """How much of a measure is decided by the order of ties.

    Attributes
    ----------
    measure : Measure
    mean, tie_std, tie_min, tie_max : float
        As in `Scores`: of the mean over queries.
    n_queries : int
        Queries whose value depends on the order.
    share_of_queries : float
    share_of_error : float
        If ties were broken at random: the part of the squared standard error of the mean that would be due to it.
    worst : tuple of WorstQuery
        The queries with the widest range, widest first.
    scores : Scores
        From which all this is computed.
    """

    measure: Measure
    mean: float
    tie_std: float
    tie_min: float
    tie_max: float
    n_queries: int
    share_of_queries: float = field(repr=False)
    share_of_error: float = field(repr=False)
    worst: "tuple[WorstQuery, ...]" = field(repr=False)
    scores: Scores = field(repr=False, compare=False)

    __repr__ = format_record


@dataclass(frozen=True, repr=False)
class WorstQuery:
    """A query and the range of its value over tie orders."""

    query_id: str
    mean: float
    tie_std: float
    tie_min: float
    tie_max: float

    __repr__ = format_record


def find_decided(scores: Scores) -> Decided:
    """Return how much of a measure is decided by the order of ties."""
    span = scores.tie_max - scores.tie_min
    n_decided = int((span > NOISE).sum())
    n_queries = scores.n_queries
    of_ties = (scores.total_tie_std / n_queries) ** 2 if n_queries else 0.0
    of_queries = scores.std**2 / n_queries if n_queries > 1 else 0.0
    columns = (scores.values, scores.tie_std, scores.tie_min, scores.tie_max)
    widest = [place for place in np.argsort(-span, kind="stable").tolist() if span[place] > NOISE][:N_WORST]
    return Decided(
        scores.measure,
        scores.mean,
        scores.mean_tie_std,
        scores.mean_tie_min,
        scores.mean_tie_max,
        n_decided,
        n_decided / n_queries if n_queries else float("nan"),
        of_ties / (of_ties + of_queries) if of_ties > 0 else 0.0,
        tuple(WorstQuery(str(scores.query_ids[n]), *(float(one[n]) for one in columns)) for n in widest),
        scores,
    )
