"""What differs between two sets of judgments: queries and documents."""

from dataclasses import dataclass

import polars as pl

from deadheat.data.tables import Qrels
from deadheat.errors import counted

PAIR = ("query_id", "doc_id")
DIFFERS = pl.col("old").ne_missing(pl.col("new"))


@dataclass(frozen=True, eq=False)
class Changes:
    """What differs between two sets of judgments.

    Attributes
    ----------
    same, changed, added, gone : tuple of str
        Queries, sorted: those with equal judgments, those with others, and those of one set alone.
    documents : polars.DataFrame
        query_id, doc_id, old and new relevance of the judgments that differ; null where there is none.
    grades : polars.DataFrame
        old, new, n: how many judgments there are of each pair of grades, those that are the same too.
    """

    same: tuple[str, ...]
    changed: tuple[str, ...]
    added: tuple[str, ...]
    gone: tuple[str, ...]
    documents: pl.DataFrame
    grades: pl.DataFrame

    def __str__(self) -> str:
        n_queries = counted(len(self.same) + len(self.changed) + len(self.added), "query", "queries")
        return (
            f"{n_queries}: {len(self.same):,} the same, {len(self.changed):,} with changed judgments,"
            f" {len(self.added):,} new, {len(self.gone):,} gone"
        )

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
    '2 queries: 0 the same, 1 with changed judgments, 1 new, 1 gone'
    >>> found.documents.sort("query_id", "doc_id").rows()
    [('q1', 'b', None, 2.0), ('q2', 'a', 1.0, None), ('q3', 'a', None, 1.0)]
    """
    judgments = _joined([one.to_polars() for one in (old, new)], PAIR)
    documents = judgments.filter(DIFFERS)
    changed = set(documents["query_id"])
    if old.subtopics is not None or new.subtopics is not None:
        frames = [
            one.to_polars().with_columns(subtopic=pl.lit("")) if one.subtopics is None else one.subtopics
            for one in (old, new)
        ]
        changed |= set(_joined(frames, (*PAIR, "subtopic")).filter(DIFFERS)["query_id"])
    before, after = (set(one.in_order[0]["query_id"]) for one in (old, new))
    both = before & after
    same, differing, added, gone = map(sorted, (both - changed, both & changed, after - before, before - after))
    return Changes(
        same=tuple(same),
        changed=tuple(differing),
        added=tuple(added),
        gone=tuple(gone),
        documents=documents,
        grades=judgments.group_by("old", "new").agg(n=pl.len()).sort("old", "new"),
    )


def _joined(frames: list[pl.DataFrame], keys: tuple[str, ...]) -> pl.DataFrame:
    old, new = (
        frame.select(*keys, pl.col("relevance").cast(pl.Float64).alias(name))
        for frame, name in zip(frames, ("old", "new"), strict=True)
    )
    return old.join(new, on=[*keys], how="full", coalesce=True)
