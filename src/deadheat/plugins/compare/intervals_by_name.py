"""Intervals of the means of systems, by name."""

from deadheat.core.evaluation.intervals import (
    Interval,
)
from deadheat.core.measures.selection import ByMeasure


class IntervalsByName(dict[tuple[str, str], Interval]):
    """Intervals by system and measure, which other names of the measure find too.

    Parameters
    ----------
    rel : float or None
        The lowest relevant level of measures that name none.
    """

    def __init__(self, rel: float | None) -> None:
        super().__init__()
        self._rel = rel

    def __missing__(self, key: tuple[str, str]) -> Interval:
        of_system = {label: interval for (name, label), interval in self.items() if name == key[0]}
        return ByMeasure(of_system, rel=self._rel)[key[1]]
