"""A measure that is known by its saved values alone."""

import math
from typing import ClassVar, NoReturn

from deadheat.errors import MeasureError
from deadheat.measures.base import Measure
from deadheat.measures.parameters import parameters
from deadheat.placements.placements import Placements


@parameters
class StoredMeasure(Measure):
    """A `Custom` measure of a saved evaluation: its values are in the file, its function is not.

    Attributes
    ----------
    notation : str
        Its name.
    higher_is_better, total : bool
    """

    title: ClassVar[str] = "measure of a saved evaluation"
    range: ClassVar[tuple[float, float]] = (-math.inf, math.inf)

    notation: str = ""
    higher_is_better: bool = True  # type: ignore[misc]  # of each measure here, of the class elsewhere
    total: bool = False  # type: ignore[misc]

    def __post_init__(self) -> None:
        """Skip the checks of other measures: the file says what it is."""

    def __repr__(self) -> str:
        return self.notation

    def mean(self, placements: Placements) -> NoReturn:  # noqa: ARG002 - as every measure
        """Refuse: the file has the values, not the function."""
        raise MeasureError(
            f"{self.notation} comes from a file, which holds its values but not its function",
            hint="pass the Custom measure",
        )

    variance = mean
