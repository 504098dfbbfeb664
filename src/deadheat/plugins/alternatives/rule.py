"""How qrels with groups of alternatives count, and what is different with them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import polars as pl

from deadheat.core.data.fingerprints import hash_ids
from deadheat.core.data.kind_of_judgments import KindOfJudgments

if TYPE_CHECKING:
    from deadheat.core.data.qrels import JudgingRule, Qrels
    from deadheat.core.measures import Measure

OR = " or "  # between the documents of a group, in its name


def _default_measures() -> Sequence[Measure]:
    from deadheat.plugins.alternatives.measures import DEFAULT_MEASURES

    return DEFAULT_MEASURES


def _measures_of_groups(measures: Sequence[Measure]) -> Sequence[Measure]:
    from deadheat.plugins.alternatives.measures import measures_of_groups

    return measures_of_groups(measures)


ALTERNATIVES = KindOfJudgments("alternatives", default_measures=_default_measures, measures=_measures_of_groups)


@dataclass(frozen=True)
class OneOfEachGroup:
    """Of each group of relevant documents one is enough."""

    def __str__(self) -> str:
        """Return what groups are, as notes and reports say it."""
        return "relevant documents in groups, one of each of which is enough: R is the share of groups with a hit"

    @property
    def kind(self) -> KindOfJudgments:
        """Groups of alternatives."""
        return ALTERNATIVES

    def fingerprint(self, qrels: Qrels) -> str:
        """Return a hash of the groups, whatever their order and that of their documents."""
        groups = sorted(_list_groups(qrels).select("query_id", "documents").rows())
        parts = [ALTERNATIVES.what]
        for query_id, documents in groups:
            parts += [query_id, *documents, ""]  # no id is empty
        return hash_ids([*parts, *qrels.bare])

    def list_judged(self, qrels: Qrels) -> pl.DataFrame:
        """Return the groups: query_id, doc_id (what a group is called), relevance."""
        groups = _list_groups(qrels).with_columns(doc_id=pl.col("documents").list.join(OR))
        repeat = pl.int_range(1, pl.len() + 1).over("query_id", "doc_id")
        name = pl.when(repeat == 1).then("doc_id").otherwise(pl.format("{} ({})", "doc_id", repeat))
        return groups.select("query_id", doc_id=name, relevance=pl.lit(1.0))

    def judge_again(self, judgments: Qrels, qrels: Qrels) -> Qrels:  # noqa: ARG002 - the same for all runs
        """Return the judgments themselves, which are of documents."""
        return judgments

    def knows_any(self, qrels: Qrels) -> bool:  # noqa: ARG002 - of a run nothing is known here
        """Tell that the judgments may be of documents that were retrieved."""
        return True

    def describe_change(self, other: JudgingRule) -> str:  # noqa: ARG002 - there is one such rule
        """Say nothing: all groups count alike."""
        return ""

    def have_common_document(self, old: str, new: str) -> bool:
        """Tell whether two groups have a document in common: another came to it, or went."""
        return not {*old.split(OR)}.isdisjoint(new.split(OR))

    def describe_renamed(self, shown: str) -> str:
        """Return a warning that documents may have been renamed."""
        return f"{shown} in the groups: if these are new ids of the same documents, use deadheat rescore --ids"

    def describe_unknown(self, name: str, reference: str) -> str:
        """Say that no document of a group was retrieved."""
        return f"no document that {name} retrieved is in a group of {reference}"


RULE = OneOfEachGroup()


def _list_groups(qrels: Qrels) -> pl.DataFrame:
    """Return query_id, subtopic and documents, a sorted list, of each group."""
    members = cast("pl.DataFrame", qrels.subtopics).unique(["query_id", "subtopic", "doc_id"])
    documents = pl.col("doc_id").sort().alias("documents")
    return members.group_by("query_id", "subtopic").agg(documents).sort("query_id", "documents")
