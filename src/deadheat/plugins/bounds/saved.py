"""What saved evaluations keep of bounds: what labels may be, failures that may be anywhere, the bounds of scores."""

from collections.abc import Mapping
from typing import Any

from deadheat.core import hooks
from deadheat.core.arrays import FloatArray
from deadheat.core.data.qrels import Qrels
from deadheat.core.data.run import Run
from deadheat.core.evaluation.kept import Kept, KeptColumns, KeptKeys
from deadheat.core.evaluation.packed_tables import packed_beside, unpacked_beside
from deadheat.core.evaluation.scores import BOUNDS
from deadheat.core.evaluation.shapes import NUMBER_OR_NONE, TEXT, WrongValueError
from deadheat.core.measures import Measure
from deadheat.core.structures import copy_with
from deadheat.plugins.bounds.part import UNJUDGED, KnownBounds


def _write_judgments(qrels: Qrels) -> Mapping[str, object]:
    return {"open_to": qrels.open_to}


def _read_judgments(qrels: Qrels, stated: Mapping[str, Any]) -> Qrels:
    if qrels.failures is None:
        raise WrongValueError("lacks 'failures' in data.judgments")
    return copy_with(qrels, open_to=stated["open_to"])


def _write_ranking(run: Run) -> Mapping[str, object]:
    if not run.are_failures_open or run.failures is None:
        return {}
    return {"failures": packed_beside("failures", run.failures)}


def _read_ranking(run: Run, stated: Mapping[str, Any]) -> Run:
    hooks.check_beside(["failures"])  # which is a table of another plugin
    return copy_with(run, are_failures_open=True, failures=unpacked_beside("failures", stated["failures"]))


def _read_columns(measure: Measure, low: FloatArray, high: FloatArray) -> KnownBounds:
    return KnownBounds(measure, (low, high))


KEPT = Kept(
    judgments=KeptKeys({"open_to": NUMBER_OR_NONE}, _write_judgments, _read_judgments),
    ranking=KeptKeys({"failures": TEXT}, _write_ranking, _read_ranking),
    columns=KeptColumns(BOUNDS, UNJUDGED, _read_columns),
)
