"""What the strata of a comparison, or its systems, share: intervals by name, one correction over all strata."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from deadheat.comparison.testing import corrected
from deadheat.evaluation.intervals import (
    Interval,
    Stratum,
)
from deadheat.measures.notation import ByMeasure
from deadheat.settings import OF_MAXIMA, TUKEY, Design

if TYPE_CHECKING:
    from deadheat.comparison.comparison import Comparison


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


def correct_over_strata(found: dict[Stratum, Comparison], design: Design) -> dict[Stratum, Comparison]:
    """Correct the p values of all strata for all rows of each measure; Tukey's test has its own families.

    Those by maxima of sign flips are corrected already.
    """
    if design.test == TUKEY:
        return found
    found = {stratum: replace(part, n_strata=len(found)) for stratum, part in found.items()}
    if design.correction in OF_MAXIMA:
        return found
    names = ("measure", "p_value", "exact_p_value", "n_resamples")
    together = {name: np.concatenate([part.pairs.column(name) for part in found.values()]) for name in names}
    decided = corrected(together, design, together["measure"])
    ends = np.cumsum([len(part.pairs) for part in found.values()])[:-1]
    each = zip(*(np.split(column, ends) for column in decided.values()), strict=True)
    return {
        stratum: replace(part, pairs=part.pairs.changed(**dict(zip(decided, own, strict=True))))
        for (stratum, part), own in zip(found.items(), each, strict=True)
    }
