"""Parts of scores: what a feature knows of the queries of one measure beside their values, by its key.

Scores hold such parts and know none of them: a part goes with the queries that are selected, names columns of its own
for tables and saved files, and changes the interval of the mean.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple, Protocol, runtime_checkable

if TYPE_CHECKING:
    from deadheat.core.arrays import BoolArray, FloatArray, IntArray
    from deadheat.core.evaluation.intervals import Interval
    from deadheat.core.measures import Measure


class Scored(Protocol):
    """What a part may ask of the scores that it is a part of, which are `Scores`."""

    @property
    def measure(self) -> Measure:
        """The measure."""
        ...

    @property
    def values(self) -> FloatArray:
        """Of each query; NaN where it does not count."""
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
        """How many queries of equal weight give a mean as precise."""
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
        """The mean as a part estimates it; None where it is that of the values."""
        ...


class MeanEstimate(Protocol):
    """A mean that is estimated with more than the values of the queries."""

    @property
    def estimate(self) -> float:
        """The mean."""
        ...

    @property
    def weight(self) -> float:
        """What counts beside the values, from 0 to 1; with 0 the mean is that of the values."""
        ...

    @property
    def n_effective(self) -> float:
        """How many queries alone would give a mean as precise."""
        ...


class RangeColumn(NamedTuple):
    """A column of reports with the range between two columns of a part.

    Attributes
    ----------
    key, heading : str
    ends : tuple of two str
        The columns of the least and of the greatest values, by their names in tables.
    """

    key: str
    heading: str
    ends: tuple[str, str]


class ScorePart(Protocol):
    """A part of scores. What it does not change it returns as it is.

    One whose values are means over several runs of one system has an attribute `several_runs`, what messages call the
    runs: there is no ranking to look at, and more noise than that over queries.
    """

    def select(self, keep: BoolArray | IntArray) -> ScorePart | None:
        """Return the part of some queries, as `Scores.select` does; None if it is of all queries only."""
        ...

    def columns(self) -> Mapping[str, FloatArray | None]:
        """Return columns with a number of each query, by their names in tables; None of this measure has none."""
        ...

    def range_column(self) -> RangeColumn | None:
        """Return the column of reports that shows a range between two of `columns`; None: reports show none."""
        ...

    def change_interval(self, interval: Interval, scores: Scored) -> Interval:
        """Return the interval of the mean as it is with this part.

        The registry states in which order the parts change it (``ORDER_OF_INTERVAL_STEPS``): the interval is what the
        earlier ones have made of it.
        """
        ...


@runtime_checkable
class EstimatesMean(Protocol):
    """A part with which a mean is estimated, such as values by other labels, which more queries have."""

    @property
    def argument(self) -> str:
        """The argument of :func:`deadheat.evaluate` that it is made of, for errors."""
        ...

    def estimate_mean(self, scores: Scored) -> MeanEstimate | None:
        """Return the mean of scores with this part; None if no query counts."""
        ...
