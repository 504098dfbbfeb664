"""What differs between two sets of judgments: queries and documents."""

from __future__ import annotations

from dataclasses import dataclass

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
        Queries, sorted: those with equal judgments, those with others, and those of one set alone.
    documents : polars.DataFrame
        query_id, doc_id, old and new relevance of the judgments that differ; null where there is none. Of judgments of
        another kind than documents, doc_id is the name of what is judged.
    grades : polars.DataFrame
        old, new, n: how many judgments there are of each pair of grades, those that are the same too.
    rules : tuple of str
        If the judgments are of another kind than documents, and have another rule than before: the old and the new one.
    of_rules : str
        What the new rule asks for, in a few words.
    judging_rule : JudgingRule or None
        Of the old judgments, if both are of another kind than documents.
    """

    same: tuple[str, ...]
    changed: tuple[str, ...]
    added: tuple[str, ...]
    gone: tuple[str, ...]
    documents: pl.DataFrame
    grades: pl.DataFrame
    rules: tuple[str, ...] = ()
    of_rules: str = ""
    judging_rule: JudgingRule | None = None

    def __str__(self) -> str:
        n_queries = format_count(len(self.same) + len(self.changed) + len(self.added), "query", "queries")
        numbers = {
            "the same": len(self.same),
            "with changed judgments": len(self.changed),
            "new": len(self.added),
            "gone": len(self.gone),
        }
        text = f"{n_queries}: " + ", ".join(f"{number:,} {what}" for what, number in numbers.items() if number)
        return f"{text}; {self.of_rules}" if self.of_rules else text

    def replaced(self) -> list[tuple[str, str, str]]:
        """Return query, old and new document where one relevant document came for another: it may be renamed."""
        rows = self.documents.filter(pl.col("query_id").is_in(pl.Series(self.changed, dtype=pl.String).implode()))
        gone = rows.filter(pl.col("new").is_null() & (pl.col("old") > 0))
        come = rows.filter(pl.col("old").is_null() & (pl.col("new") > 0))
        both = gone.join(come, on=["query_id"], suffix="_new").filter(pl.col("old") == pl.col("new_new"))
        alone = ~pl.struct("query_id", "doc_id").is_duplicated() & ~pl.struct("query_id", "doc_id_new").is_duplicated()
        return both.filter(alone).select("query_id", "doc_id", "doc_id_new").sort(pl.all()).rows()


def changes(old: Qrels, new: Qrels) -> Changes:
    """Return what differs between two sets of judgments.

    Parameters
    ----------
    old, new : Qrels

    Examples
    --------
    >>> found = changes(Qrels({"q1": {"a": 1}, "q2": {"a": 1}}), Qrels({"q1": {"a": 1, "b": 2}, "q3": {"a": 1}}))
    >>> str(found)
    '2 queries: 1 with changed judgments, 1 new, 1 gone'
    >>> found.documents.sort("query_id", "doc_id").rows()
    [('q1', 'b', None, 2.0), ('q2', 'a', 1.0, None), ('q3', 'a', None, 1.0)]
    """
    own, other = old.judging_rule, new.judging_rule
    have_rules = own is not None and other is not None
    rules: tuple[str, ...] = ()
    of_rules = ""
    if own is not None and other is not None:  # they differ in nothing if they were held against other runs
        judgments = _joined([own.judged(old), other.judged(new)], PAIR)
        of_rules = own.change_to(other)
    else:
        judgments = _joined([qrels.to_polars() for qrels in (old, new)], PAIR)
    differs = pl.col("old").ne_missing(pl.col("new"))
    documents = judgments.filter(differs)
    changed = set(documents["query_id"])
    if not have_rules and (old.subtopics is not None or new.subtopics is not None):
        frames = [
            one.to_polars().with_columns(subtopic=pl.lit("")) if one.subtopics is None else one.subtopics
            for one in (old, new)
        ]
        changed |= set(_joined(frames, (*PAIR, "subtopic")).filter(differs)["query_id"])
    changed |= set(old.unanswerable) ^ set(new.unanswerable)
    before, after = (set(one.in_order[0]["query_id"]) for one in (old, new))
    both = before & after
    if own != other:
        rules = (str(own), str(other))
        changed |= both
    same, differing, added, gone = map(sorted, (both - changed, both & changed, after - before, before - after))
    return Changes(
        same=tuple(same),
        changed=tuple(differing),
        added=tuple(added),
        gone=tuple(gone),
        documents=documents,
        grades=judgments.group_by("old", "new").agg(n=pl.len()).sort("old", "new"),
        rules=rules,
        of_rules=of_rules,
        judging_rule=own if have_rules else None,
    )


def _joined(frames: list[pl.DataFrame], keys: tuple[str, ...]) -> pl.DataFrame:
    old, new = (
        frame.select(*keys, pl.col("relevance").cast(pl.Float64).alias(name))
        for frame, name in zip(frames, ("old", "new"), strict=True)
    )
    return old.join(new, on=[*keys], how="full", coalesce=True)
