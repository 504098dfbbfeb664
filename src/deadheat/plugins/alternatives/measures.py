"""Runs held against groups of alternatives: which measures are defined, and what they are here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from deadheat.core.errors import MeasureError
from deadheat.core.measures import RR, Hit, Measure, StAllHit, StRecall

AS_THEY_ARE = ("Hit", "RR", "StRecall", "StAllHit")  # Hit and RR look for the first relevant document of any group
OF_GROUPS: Mapping[str, type[Measure]] = {"R": StRecall, "AllHit": StAllHit}
ALLOWED = "R, Hit, RR, AllHit"
DEFAULT_MEASURES: tuple[Measure, ...] = (
    (StRecall() @ 10).with_alias("R"),
    (StAllHit() @ 10).with_alias("AllHit"),
    Hit() @ 10,
    RR(),
    (StRecall() @ 100).with_alias("R"),
)


def measures_of_groups(measures: Sequence[Measure]) -> tuple[Measure, ...]:
    """Return measures as they are of groups: R is the share of the groups that the top k has a document of.

    Raises
    ------
    MeasureError
        A measure counts or weighs relevant documents, of which a group needs one, or has parameters beside its cutoff.

    Examples
    --------
    >>> from deadheat.core.measures import R
    >>> measures_of_groups([R @ 5])[0], measures_of_groups([R @ 5])[0].label
    (StRecall@5, 'R@5')
    """
    return tuple(map(_of_groups, measures))


def _of_groups(measure: Measure) -> Measure:
    name = type(measure).__name__
    cutoff = getattr(measure, "cutoff", None)
    if name in AS_THEY_ARE and measure == type(measure)(cutoff=cutoff):
        return measure
    if name in OF_GROUPS and measure == type(measure)(cutoff=cutoff):
        return OF_GROUPS[name](cutoff=cutoff).with_alias(name).with_label(measure.label)
    hint = None
    if name in AS_THEY_ARE or name in OF_GROUPS:
        hint = f"groups have no grades, and {name} has a cutoff alone: give {type(measure)(cutoff=cutoff)}"
    raise MeasureError(
        f"{measure.label} is not defined where one document of each group is enough", allowed=ALLOWED, hint=hint
    )
