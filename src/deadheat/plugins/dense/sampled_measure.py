"""Measures whose values are means over samples of the documents, and what saved evaluations keep of them."""

import math
from collections.abc import Mapping
from typing import Any, ClassVar

from deadheat.core.evaluation.kept import Kept, KeptKeys
from deadheat.core.evaluation.shapes import FLAG, NUMBER_OR_NONE
from deadheat.core.measures import Measure
from deadheat.core.measures.custom import StoredMeasure
from deadheat.core.measures.parameters import parameters


@parameters
class SampledMeasure(StoredMeasure):
    """A measure that is known by its values, which are means over samples of the documents."""

    of_whole_lists: ClassVar[bool] = False


def _write(measure: Measure) -> Mapping[str, object]:
    if not isinstance(measure, SampledMeasure):
        return {}
    return {"sampled": True, "lowest": _as_json(measure.lowest), "highest": _as_json(measure.highest)}


def _as_json(limit: float) -> float | str:
    """Return a limit as JSON can hold it: one that is infinite as text."""
    return limit if math.isfinite(limit) else str(limit)


def _read(measure: StoredMeasure, stated: Mapping[str, Any]) -> StoredMeasure:
    if not stated["sampled"]:
        return measure
    return SampledMeasure(
        notation=measure.notation,
        higher_is_better=measure.higher_is_better,
        total=measure.total,
        lowest=float(stated["lowest"]),
        highest=float(stated["highest"]),
    )


SHAPES = {"sampled": FLAG, "lowest": NUMBER_OR_NONE, "highest": NUMBER_OR_NONE}
KEPT = Kept(measures=KeptKeys(SHAPES, _write, _read))
