"""Parts of scores: what a feature knows of the queries beside their values under a measure.

`Scores` hold parts by the keys of their features, and use them by this interface alone: a part selects its queries as
the scores do, has columns of its own for tables and saved files, and may change the interval of the mean.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple, Protocol, runtime_checkable

if TYPE_CHECKING:
    from deadheat.core.arrays import BoolArray, FloatArray, IntArray
    from deadheat.core.evaluation.intervals import Interval
    from deadheat.core.measures import Measure


class Scored(Protocol):
    """What a part may use of the `Scores` that hold it."""

    @property
    def measure(self) -> Measure:
        """The measure."""
        ...

    @property
    def values(self) -> FloatArray:
        """The value of each query; NaN where it does not count."""
        ...

    @property
    def kept(self) -> BoolArray:
        """Which queries count."""
        ...

    @property
    def weights(self) -> FloatArray | None:
        """How much each query counts; None: all the same."""
        ...

    @property
    def n_queries(self) -> int:
        """How many queries count."""
        ...

    @property
    def n_effective(self) -> float:
        """How many queries of equal weight would give a mean as precise."""
        ...

    @property
    def value_limits(self) -> tuple[float, float]:
        """Lowest and highest value of a query."""
        ...

    @property
    def limits(self) -> tuple[float, float]:
        """Lowest and highest mean."""
        ...

    @property
    def estimated_mean(self) -> MeanEstimate | None:
        """The mean as a part estimates it; None if no part does."""
        ...


class MeanEstimate(Protocol):
    """A mean that is estimated with more than the values of the queries."""

    @property
    def estimate(self) -> float:
        """The mean."""
        ...

    @property
    def weight(self) -> float:
        """How much counts what is not a value, from 0 to 1; with 0 the estimate is the mean of the values."""
        ...

    @property
    def n_effective(self) -> float:
        """How many queries alone would give a mean as precise."""
        ...


class RangeColumn(NamedTuple):
    """A column of reports that shows a range: from the mean of one column of a part to that of another.

    Attributes
    ----------
    key, heading : str
    ends : tuple of two str
        The names of the columns with the least and with the greatest values.
    """

    key: str
    heading: str
    ends: tuple[str, str]


class ScorePart(Protocol):
    """A part of scores. A method that changes nothing returns what it was given.

    If values are means over several runs of one system, their part has an attribute `several_runs`: what messages call
    the runs.
    """

    def select(self, keep: BoolArray | IntArray) -> ScorePart | None:
        """Return the part of some queries, as `Scores.select` does; None if there is a part of all queries only."""
        ...

    def columns(self) -> Mapping[str, FloatArray | None]:
        """Return columns with a number for each query, by their names in tables; None for a column without numbers."""
        ...

    def range_column(self) -> RangeColumn | None:
        """Return the column of reports that shows a range between two of `columns`; None if reports show none."""
        ...

    def change_interval(self, interval: Interval, scores: Scored) -> Interval:
        """Return the interval of the mean with what this part says of it.

        Parts change an interval one after the other, in the order of ``ORDER_OF_INTERVAL_STEPS`` of the registry:
        `interval` is the result of the part before.
        """
        ...


@runtime_checkable
class EstimatesMean(Protocol):
    """A part that estimates the mean with more than the values, such as a judge's labels of more queries."""

    @property
    def argument(self) -> str:
        """The argument of :func:`deadheat.evaluate` that the part comes from, for errors."""
        ...

    def estimate_mean(self, scores: Scored) -> MeanEstimate | None:
        """Return the mean of the scores as this part estimates it; None if no query counts."""
        ...
