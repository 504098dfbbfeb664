"""What differs between two sets of judgments: queries and documents."""

from __future__ import annotations

from dataclasses import dataclass

from deadheat.core.data.kind_of_judgments import DOCUMENTS
from deadheat.core.data.qrels import JudgingRule, Qrels
from deadheat.core.libraries import polars as pl
from deadheat.core.wording import format_count

PAIR = ("query_id", "doc_id")


@dataclass(frozen=True, eq=False)
class Changes:
    """What differs between two sets of judgments.

    Attributes
    ----------
    same, changed, added, gone : tuple of str
        Queries, sorted: those with equal judgments, those with other judgments, and those that only the new or only the
        old set has.
    documents : polars.DataFrame
        query_id, doc_id, old and new relevance of the judgments that differ; null where there is none. If something
        else than documents is judged, doc_id is its name.
    grades : polars.DataFrame
        old, new, n: how many judgments there are of each pair of grades, also of equal ones.
    rules : tuple of str
        The old and the new judging rule, if they differ; "documents" stands for judgments of documents.
    rule_change : str
        How the new rule differs from the old one, in a few words.
    judging_rule : JudgingRule or None
        The old judging rule; None if either set judges documents.
    """

    same: tuple[str, ...]
    changed: tuple[str, ...]
    added: tuple[str, ...]
    gone: tuple[str, ...]
    documents: pl.DataFrame
    grades: pl.DataFrame
    rules: tuple[str, ...] = ()
    rule_change: str = ""
    judging_rule: JudgingRule | None = None

    def __str__(self) -> str:
        n_queries = len(self.same) + len(self.changed) + len(self.added)
        numbers = {
            "the same": len(self.same),
            "with changed judgments": len(self.changed),
            "new": len(self.added),
            "gone": len(self.gone),
        }
        counts = [f"{number:,} {what}" for what, number in numbers.items() if number]
        text = f"{format_count(n_queries, 'query', 'queries')}: {', '.join(counts)}"
        if self.rule_change:
            text += f"; {self.rule_change}"
        return text

    def find_replaced(self) -> list[tuple[str, str, str]]:
        """Return query, old and new document where one relevant document took the place of another: a new id, perhaps.

        Both have the same relevance, and no other document of the query came or went with it. Groups of documents are
        not replaced by groups with one of these documents.
        """
        is_changed = pl.col("query_id").is_in(pl.Series(self.changed, dtype=pl.String).implode())
        documents = self.documents.filter(is_changed)
        gone = documents.filter(pl.col("new").is_null() & (pl.col("old") > 0))
        added = documents.filter(pl.col("old").is_null() & (pl.col("new") > 0))
        pairs = gone.join(added, on=["query_id"], suffix="_added").filter(pl.col("old") == pl.col("new_added"))
        has_other_successor = pl.struct("query_id", "doc_id").is_duplicated()
        has_other_predecessor = pl.struct("query_id", "doc_id_added").is_duplicated()
        replaced = pairs.filter(~has_other_successor & ~has_other_predecessor)
        rows = replaced.select("query_id", "doc_id", "doc_id_added").sort(pl.all()).rows()
        rule = self.judging_rule
        if rule is None:
            return rows
        return [row for row in rows if not rule.have_common_document(row[1], row[2])]


def compare_judgments(old: Qrels, new: Qrels) -> Changes:
    """Return what differs between two sets of judgments.

    Parameters
    ----------
    old, new : Qrels

    Examples
    --------
    >>> old = Qrels({"q1": {"a": 1}, "q2": {"a": 1}})
    >>> changes = compare_judgments(old, Qrels({"q1": {"a": 1, "b": 2}, "q3": {"a": 1}}))
    >>> str(changes)
    '2 queries: 1 with changed judgments, 1 new, 1 gone'
    >>> changes.documents.sort("query_id", "doc_id").rows()
    [('q1', 'b', None, 2.0), ('q2', 'a', 1.0, None), ('q3', 'a', None, 1.0)]
    """
    old_rule = old.judging_rule
    new_rule = new.judging_rule
    if old_rule is not None and new_rule is not None:  # qrels of one rule differ by run: compare what is judged
        judgments = _join_judgments(old_rule.list_judged(old), new_rule.list_judged(new), PAIR)
        documents = _select_differing(judgments)
        changed = set(documents["query_id"])
        rule_change = old_rule.describe_change(new_rule)
        common_rule = old_rule
    else:
        judgments = _join_judgments(old.to_polars(), new.to_polars(), PAIR)
        documents = _select_differing(judgments)
        changed = set(documents["query_id"]) | _find_changed_subtopics(old, new)
        rule_change = ""
        common_rule = None
    changed |= set(old.unanswerable) ^ set(new.unanswerable)
    old_queries = set(old.in_order.queries["query_id"])
    new_queries = set(new.in_order.queries["query_id"])
    common = old_queries & new_queries
    rules: tuple[str, ...] = ()
    if old_rule != new_rule:
        rules = (str(old_rule or DOCUMENTS.what), str(new_rule or DOCUMENTS.what))
        changed |= common
    return Changes(
        same=tuple(sorted(common - changed)),
        changed=tuple(sorted(common & changed)),
        added=tuple(sorted(new_queries - old_queries)),
        gone=tuple(sorted(old_queries - new_queries)),
        documents=documents,
        grades=judgments.group_by("old", "new").agg(n=pl.len()).sort("old", "new"),
        rules=rules,
        rule_change=rule_change,
        judging_rule=common_rule,
    )


def _find_changed_subtopics(old: Qrels, new: Qrels) -> set[str]:
    """Return the queries whose judgments of subtopics differ."""
    if old.subtopics is None and new.subtopics is None:
        return set()
    judgments = _join_judgments(_take_subtopics(old), _take_subtopics(new), (*PAIR, "subtopic"))
    return set(_select_differing(judgments)["query_id"])


def _take_subtopics(qrels: Qrels) -> pl.DataFrame:
    """Return the judgments of subtopics; those of documents, with an empty subtopic, if there are none."""
    if qrels.subtopics is None:
        return qrels.to_polars().with_columns(subtopic=pl.lit(""))
    return qrels.subtopics


def _join_judgments(old: pl.DataFrame, new: pl.DataFrame, keys: tuple[str, ...]) -> pl.DataFrame:
    """Return the keys with old and new, the relevance in both sets; null where a set lacks the judgment."""
    relevance = pl.col("relevance").cast(pl.Float64)
    old_judgments = old.select(*keys, old=relevance)
    new_judgments = new.select(*keys, new=relevance)
    return old_judgments.join(new_judgments, on=[*keys], how="full", coalesce=True)


def _select_differing(judgments: pl.DataFrame) -> pl.DataFrame:
    """Return the joined judgments whose old and new relevance differ."""
    return judgments.filter(pl.col("old").ne_missing(pl.col("new")))
