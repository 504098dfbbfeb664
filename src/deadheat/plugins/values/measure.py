"""Measures that are known by the values that another tool computed."""

from __future__ import annotations

import math
from typing import ClassVar

from deadheat.core.measures.custom import StoredMeasure
from deadheat.core.measures.parameters import parameters
from deadheat.plugins.values.names import find_same_measure


@parameters
class GivenMeasure(StoredMeasure):
    """A measure of which there are values, and not the rankings: nothing tells what ties make of them."""

    title: ClassVar[str] = "measure of another tool"
    knows_ties: ClassVar[bool] = False

    is_quality: bool = True  # type: ignore[misc]  # of each measure here, of the class elsewhere
    has_zeros_and_ones: bool = False

    @property
    def is_zero_or_one(self) -> bool:
        """Whether each value is 0 or 1, as that of the measure of its name is."""
        return self.has_zeros_and_ones


def make_measure(name: str) -> GivenMeasure:
    """Return the measure of a name: under our notation, with its limits and its direction, if it is one of ours.

    Of another one nothing is known: a higher value is taken to be better, and there is no limit.

    Examples
    --------
    >>> make_measure("map"), make_measure("map").range, make_measure("num_rel_ret").total
    (AP, (0.0, 1.0), True)
    >>> make_measure("BLEU"), make_measure("BLEU").range
    (BLEU, (-inf, inf))
    """
    same = find_same_measure(name)
    if same is None:
        return GivenMeasure(notation=name, higher_is_better=True, total=False, lowest=-math.inf, highest=math.inf)
    lowest, highest = same.range
    return GivenMeasure(
        notation=str(same),
        higher_is_better=same.higher_is_better,
        total=same.total,
        lowest=lowest,
        highest=highest,
        is_quality=same.is_quality,
        has_zeros_and_ones=same.is_zero_or_one,
    )
