"""What saved evaluations keep of groups beside them, as subtopics: that one document of each is enough."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from deadheat.core.data.qrels import Qrels
from deadheat.core.evaluation.kept import Kept, KeptKeys
from deadheat.core.evaluation.shapes import Single
from deadheat.core.structures import copy_with
from deadheat.plugins.alternatives.rule import RULE, OneOfEachGroup

KEY = "are_alternatives"


def _write(qrels: Qrels) -> Mapping[str, object]:
    return {KEY: True} if isinstance(qrels.judging_rule, OneOfEachGroup) else {}


def _read(qrels: Qrels, stated: Mapping[str, Any]) -> Qrels:  # noqa: ARG001 - the key says it all
    return copy_with(qrels, judging_rule=RULE)


def _rule(stated: Mapping[str, Any], fingerprint: str) -> OneOfEachGroup:  # noqa: ARG001 - there is one
    return RULE


SHAPES = {KEY: Single("true", lambda value: value is True)}
KEPT = Kept(judgments=KeptKeys(SHAPES, _write, _read, _rule))
