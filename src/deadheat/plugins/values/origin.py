"""What stands in the place of judgments: values were computed with some, by another tool, and nobody has them here."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import polars as pl

from deadheat.core.data.kind_of_judgments import KindOfJudgments
from deadheat.core.data.qrels import JudgingRule, Qrels
from deadheat.core.errors import DataError
from deadheat.core.structures import copy_with

NO_RANKING = "has values of another tool, and no ranking"
ANOTHER_TOOL = KindOfJudgments("another tool")
"""The kind of judgments: those of another tool, under which nothing can be scored again."""


@dataclass(frozen=True)
class OfAnotherTool:
    """How values came about: another tool computed them. It stands where others say how judgments were made.

    Attributes
    ----------
    tool : str
        Its name, or "another tool".
    """

    tool: str

    def __str__(self) -> str:
        """Return whose values they are, as reports say it."""
        return f"values of {self.tool}"

    @property
    def kind(self) -> KindOfJudgments:
        """Judgments of another tool."""
        return ANOTHER_TOOL

    def fingerprint(self, qrels: Qrels) -> str:  # noqa: ARG002 - there are no rows
        """Return the same for all: whether two were computed with the same judgments is not known."""
        return hashlib.sha256(ANOTHER_TOOL.what.encode()).hexdigest()

    def list_judged(self, qrels: Qrels) -> pl.DataFrame:
        """Return no rows."""
        return qrels.to_polars()

    def judge_again(self, judgments: Qrels, qrels: Qrels) -> Qrels:  # noqa: ARG002 - there are no rankings
        """Refuse: there is no ranking."""
        raise DataError(f"{qrels.name} {NO_RANKING}", hint="evaluate the run with deadheat")

    def knows_any(self, qrels: Qrels) -> bool:  # noqa: ARG002 - of no document
        """Tell that no document is known."""
        return False

    def describe_change(self, other: JudgingRule) -> str:  # noqa: ARG002 - nothing is known of either
        """Say nothing: what differs is not known."""
        return ""

    def have_common_document(self, old: str, new: str) -> bool:  # noqa: ARG002 - there are no documents
        """Tell that no document is known."""
        return False

    def describe_renamed(self, shown: str) -> str:  # noqa: ARG002 - there are no documents
        """Say nothing: no document is known."""
        return ""

    def describe_unknown(self, name: str, reference: str) -> str:  # noqa: ARG002 - there is no ranking
        """Say that there is no ranking."""
        return f"{name} {NO_RANKING}"


def make_judgments(rule: OfAnotherTool) -> Qrels:
    """Return judgments without a row, which know whose values they stand for."""
    schema = {"query_id": pl.String, "doc_id": pl.String, "relevance": pl.Float64}
    return copy_with(Qrels.of_checked(pl.DataFrame(schema=schema), str(rule)), judging_rule=rule)
