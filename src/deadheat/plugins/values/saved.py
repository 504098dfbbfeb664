"""What saved evaluations keep of values of another tool: whose they are, and that their measures are no more."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from deadheat.core.data.qrels import Qrels
from deadheat.core.evaluation.kept import Kept, KeptKeys
from deadheat.core.evaluation.shapes import FLAG, TEXT
from deadheat.core.measures import Measure
from deadheat.core.measures.custom import StoredMeasure
from deadheat.core.structures import copy_with
from deadheat.plugins.values.measure import GivenMeasure, make_measure
from deadheat.plugins.values.origin import OfAnotherTool

OF_TOOL = "values_of"
IS_GIVEN = "of_another_tool"


def _write_origin(qrels: Qrels) -> Mapping[str, object]:
    rule = qrels.judging_rule
    if not isinstance(rule, OfAnotherTool):
        return {}
    return {OF_TOOL: rule.tool}


def _read_origin(qrels: Qrels, stated: Mapping[str, Any]) -> Qrels:
    return copy_with(qrels, judging_rule=_rule(stated, qrels.fingerprint))


def _rule(stated: Mapping[str, Any], fingerprint: str) -> OfAnotherTool:  # noqa: ARG001 - it is that of all of them
    return OfAnotherTool(stated[OF_TOOL])


def _write_measure(measure: Measure) -> Mapping[str, object]:
    return {IS_GIVEN: True} if isinstance(measure, GivenMeasure) else {}


def _read_measure(measure: StoredMeasure, stated: Mapping[str, Any]) -> StoredMeasure:
    return make_measure(measure.notation) if stated[IS_GIVEN] else measure


KEPT = Kept(
    judgments=KeptKeys({OF_TOOL: TEXT}, _write_origin, _read_origin, _rule),
    measures=KeptKeys({IS_GIVEN: FLAG}, _write_measure, _read_measure),
)
