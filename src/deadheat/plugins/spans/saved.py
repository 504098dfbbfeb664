"""What saved evaluations keep of spans beside their passages: how much of a span makes a chunk relevant."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from deadheat.core.data.qrels import Qrels
from deadheat.core.evaluation.kept import Kept, KeptKeys
from deadheat.core.evaluation.shapes import NUMBER, TEXT, Fields
from deadheat.core.structures import copy_with
from deadheat.plugins.spans.spans import LostRule, SpanRule


def _write(qrels: Qrels) -> Mapping[str, object]:
    rule = qrels.judging_rule
    return {"span_rule": asdict(rule)} if isinstance(rule, SpanRule) else {}


def _read(qrels: Qrels, stated: Mapping[str, Any]) -> Qrels:
    return copy_with(qrels, judging_rule=_rule(stated, qrels.fingerprint))


def _rule(stated: Mapping[str, Any], fingerprint: str) -> SpanRule | LostRule:
    """Return the rule of spans, which files of format 2 do not have beside the passages."""
    if "span_rule" in stated:
        return SpanRule(**stated["span_rule"])
    return LostRule(fingerprint)


SHAPES = {"span_rule": Fields({"overlap": NUMBER, "overlap_of": TEXT}, {})}
KEPT = Kept(judgments=KeptKeys(SHAPES, _write, _read, _rule))
