"""The numbers of scores that reports show: those of the mean over queries, of a count those of the total."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from deadheat.core.evaluation.scores import Scores


@dataclass(frozen=True, slots=True)
class ReportedNumbers:
    """What is reported of the scores of a measure.

    Attributes
    ----------
    n_queries : int
        Queries that have a value.
    value : float
        The mean, of a count the total.
    tie_std, tie_min, tie_max : float
        Of the value, over tie orders.
    tie_range : float
        How far tie orders move the value; where the mean is estimated, that of the values alone.
    is_estimated : bool
        Whether the mean is estimated with more than the values, such as a judge's labels.
    """

    n_queries: int
    value: float
    tie_std: float
    tie_min: float
    tie_max: float
    tie_range: float
    is_estimated: bool = False


def report_numbers(scores: Scores) -> ReportedNumbers:
    """Return what is reported of scores."""
    if scores.measure.total:
        tie_range = scores.total_tie_max - scores.total_tie_min
    else:
        tie_range = scores.tie_max_of_values - scores.tie_min_of_values
    return ReportedNumbers(
        scores.n_queries,
        scores.reported(),
        scores.reported("tie_std"),
        scores.reported("tie_min"),
        scores.reported("tie_max"),
        tie_range,
        scores.is_estimated,
    )
