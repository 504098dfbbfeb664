"""Bounds over unjudged documents as a part of scores: the least and the greatest value that labels could give."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

from deadheat.core.arrays import BoolArray, FloatArray, IntArray, use_default_arithmetic
from deadheat.core.errors import MeasureError, ParameterError
from deadheat.core.evaluation.intervals import Interval
from deadheat.core.evaluation.parts import RangeColumn, Scored
from deadheat.core.evaluation.scores import Scores
from deadheat.core.libraries import polars as pl
from deadheat.core.measures import Measure
from deadheat.core.placements.placements import Placements
from deadheat.plugins.bounds.documents import Unjudged
from deadheat.plugins.bounds.ends import ends, has_ends

UNJUDGED = ("unjudged_min", "unjudged_max")  # only with unjudged="bounds"; null for measures without bounds
RANGE = RangeColumn("unjudged", "if judged", UNJUDGED)


@dataclass(frozen=True, eq=False)
class KnownBounds:
    """Bounds over unjudged documents that were computed, or read from a file.

    Attributes
    ----------
    measure : Measure
    ends : tuple of two ndarrays of float, shape (n_queries,), or None
        Least and greatest value; None for a measure without bounds.
    """

    measure: Measure
    ends: tuple[FloatArray, FloatArray] | None

    def select(self, keep: BoolArray | IntArray) -> KnownBounds:
        """Return those of some queries."""
        return _selected(self.measure, self.ends, keep)

    def columns(self) -> Mapping[str, FloatArray | None]:
        """Return unjudged_min and unjudged_max."""
        return _columns(self.measure, self.ends)

    def range_column(self) -> RangeColumn:
        """Return the column that shows their range."""
        return RANGE

    def change_interval(self, interval: Interval, scores: Scored) -> Interval:  # noqa: ARG002 - as of other parts
        """Return the interval as it is: it is of the labels that there are."""
        return interval


@dataclass(frozen=True, eq=False)
class PlacedBounds:
    """Bounds over unjudged documents that are computed on first use.

    Attributes
    ----------
    measure : Measure
    placements : Placements
        Under the tie policy of the values.
    unjudged : Unjudged
    top : float
        The highest relevance that an unjudged document can have.
    documents : function or None
        Finds them by their ids, as `unjudged_documents` of `documents.py`; None: they are not known.
    """

    measure: Measure
    placements: Placements
    unjudged: Unjudged
    top: float
    documents: Callable[[], pl.DataFrame] | None

    @cached_property
    @use_default_arithmetic
    def ends(self) -> tuple[FloatArray, FloatArray]:
        """Least and greatest value."""
        return ends(self.measure, self.placements, self.unjudged, self.top)

    def select(self, keep: BoolArray | IntArray) -> KnownBounds:
        """Return those of some queries."""
        return _selected(self.measure, self.ends if has_ends(self.measure) else None, keep)

    def columns(self) -> Mapping[str, FloatArray | None]:
        """Return unjudged_min and unjudged_max."""
        return _columns(self.measure, self.ends if has_ends(self.measure) else None)

    def range_column(self) -> RangeColumn:
        """Return the column that shows their range."""
        return RANGE

    def change_interval(self, interval: Interval, scores: Scored) -> Interval:  # noqa: ARG002 - as of other parts
        """Return the interval as it is: it is of the labels that there are."""
        return interval


def _selected(measure: Measure, found: tuple[FloatArray, FloatArray] | None, keep: BoolArray | IntArray) -> KnownBounds:
    if found is None:
        return KnownBounds(measure, None)
    low, high = found
    return KnownBounds(measure, (low[keep], high[keep]))


def _columns(measure: Measure, found: tuple[FloatArray, FloatArray] | None) -> Mapping[str, FloatArray | None]:
    """Return the ends by their names; None for a measure without bounds, of which a file has columns of nulls."""
    low, high = found if found is not None and has_ends(measure) else (None, None)
    return dict(zip(UNJUDGED, (low, high), strict=True))


def ends_of(scores: Scores) -> tuple[FloatArray, FloatArray]:
    """Return the least and the greatest value of each query.

    Raises
    ------
    ParameterError
        Bounds were not asked for.
    MeasureError
        There are none for the measure.
    """
    bounds = scores.unjudged
    if not isinstance(bounds, KnownBounds | PlacedBounds):
        raise ParameterError("there are no bounds over unjudged documents", hint="evaluate with unjudged='bounds'")
    if not has_ends(scores.measure) or bounds.ends is None:
        raise MeasureError("there are no bounds over unjudged documents for it", measure=scores.measure.label)
    return bounds.ends
