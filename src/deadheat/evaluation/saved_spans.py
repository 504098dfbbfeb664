"""What saved evaluations keep of spans beside their passages: the rule by which a chunk is relevant."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from deadheat.data.tables import Qrels, SpanRule
from deadheat.evaluation.kept import Kept, KeptKeys
from deadheat.evaluation.shapes import NUMBER, TEXT, Fields
from deadheat.structures import copy_with


def _write(qrels: Qrels) -> Mapping[str, object]:
    if qrels.span_rule is None:
        return {}
    return {"span_rule": asdict(qrels.span_rule)}


def _read(qrels: Qrels, stated: Mapping[str, Any]) -> Qrels:
    return copy_with(qrels, span_rule=SpanRule(**stated["span_rule"]))


KEPT = Kept(judgments=KeptKeys({"span_rule": Fields({"overlap": NUMBER, "overlap_of": TEXT}, {})}, _write, _read))
