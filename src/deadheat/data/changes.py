"""What differs between two sets of judgments: queries and documents."""

from dataclasses import dataclass

import polars as pl

from deadheat.data.tables import OF_DOCUMENTS, Qrels, spans_of, what_is_judged
from deadheat.wording import format_count

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
        query_id, doc_id, old and new relevance of the judgments that differ; null where there is none. Of spans, doc_id
        is the name of the span.
    grades : polars.DataFrame
        old, new, n: how many judgments there are of each pair of grades, those that are the same too.
    rules : tuple of str
        If spans ask for another overlap than before: what the old ones asked for, and the new ones.
    are_of_spans : bool
    """

    same: tuple[str, ...]
    changed: tuple[str, ...]
    added: tuple[str, ...]
    gone: tuple[str, ...]
    documents: pl.DataFrame
    grades: pl.DataFrame
    rules: tuple[str, ...] = ()
    are_of_spans: bool = False

    def __str__(self) -> str:
        n_queries = format_count(len(self.same) + len(self.changed) + len(self.added), "query", "queries")
        numbers = {
            "the same": len(self.same),
            "with changed judgments": len(self.changed),
            "new": len(self.added),
            "gone": len(self.gone),
        }
        text = f"{n_queries}: " + ", ".join(f"{number:,} {what}" for what, number in numbers.items() if number)
        if self.rules:
            old, new = self.rules
            text += f"; a chunk had to cover {old}, and has to cover {new} now"
        return text

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
    are_of_spans = OF_DOCUMENTS not in {what_is_judged(old), what_is_judged(new)}
    if are_of_spans:  # which differ in nothing if they were held against other chunks
        judgments = _joined([spans_of(qrels).with_columns(doc_id="span") for qrels in (old, new)], PAIR)
    else:
        judgments = _joined([qrels.to_polars() for qrels in (old, new)], PAIR)
    documents = judgments.filter(DIFFERS)
    changed = set(documents["query_id"])
    if not are_of_spans and (old.subtopics is not None or new.subtopics is not None):
        frames = [
            one.to_polars().with_columns(subtopic=pl.lit("")) if one.subtopics is None else one.subtopics
            for one in (old, new)
        ]
        changed |= set(_joined(frames, (*PAIR, "subtopic")).filter(DIFFERS)["query_id"])
    changed |= set(old.unanswerable) ^ set(new.unanswerable)
    before, after = (set(one.in_order[0]["query_id"]) for one in (old, new))
    both = before & after
    rules: tuple[str, ...] = ()
    if old.span_rule != new.span_rule:
        rules = (str(old.span_rule), str(new.span_rule))
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
        are_of_spans=are_of_spans,
    )


def _joined(frames: list[pl.DataFrame], keys: tuple[str, ...]) -> pl.DataFrame:
    old, new = (
        frame.select(*keys, pl.col("relevance").cast(pl.Float64).alias(name))
        for frame, name in zip(frames, ("old", "new"), strict=True)
    )
    return old.join(new, on=[*keys], how="full", coalesce=True)
