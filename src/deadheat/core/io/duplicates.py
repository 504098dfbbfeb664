"""What becomes of a document that a run has twice for a query, such as a page of which several chunks are found."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from deadheat.core.checks import check_choice
from deadheat.core.errors import ParameterError
from deadheat.core.io.kinds import KEYS
from deadheat.core.libraries import polars as pl
from deadheat.core.wording import format_count

# Raise; keep the row with the best score; keep the first row; take it for granted that no document comes twice.
DUPLICATES = ("error", "best", "first", "trust")
MERGING = ("best", "first")  # under these, one row of each document is left


@dataclass(frozen=True)
class Merging:
    """How lists of documents are read in which one may come twice.

    Attributes
    ----------
    duplicates : {"best", "first"}
    lower_first : bool
        Whether the lowest score is the best.
    """

    duplicates: str
    lower_first: bool


_merging: ContextVar[Merging | None] = ContextVar("merging", default=None)


@contextmanager
def reading_lists(merging: Merging) -> Iterator[None]:
    """Have all lists of a run that are read inside read so: by formats and by readers of objects, which plugins add."""
    token = _merging.set(merging)
    try:
        yield
    finally:
        _merging.reset(token)


def get_merging() -> Merging | None:
    """Return how the lists of a run are to be read; None where nobody said it."""
    return _merging.get()


def check_rule(duplicates: str) -> str:
    """Return a rule, or raise `ParameterError` if it is none."""
    check_choice("duplicates", duplicates, DUPLICATES)
    return duplicates


def refuse_merging(duplicates: str, what: str) -> None:
    """Raise `ParameterError` for a rule that merges documents, where a run has something else, such as spans."""
    if check_rule(duplicates) in MERGING:
        raise ParameterError(f"is not for {what}", argument="duplicates", given=duplicates)


def merge_rows(frame: pl.DataFrame, duplicates: str) -> pl.DataFrame:
    """Return the rows of a run, of which one is left for each document of a query.

    It stays in its place: the row with the highest score, the first of these if several have it; or the first row.

    Parameters
    ----------
    frame : polars.DataFrame
        query_id, doc_id and score.
    duplicates : {"best", "first"}

    Examples
    --------
    >>> rows = [("q", "a", 1.0), ("q", "b", 0.9), ("q", "a", 3.0), ("q", "a", 3.0)]
    >>> frame = pl.DataFrame(rows, ["query_id", "doc_id", "score"], orient="row")
    >>> merge_rows(frame, "best").rows()
    [('q', 'b', 0.9), ('q', 'a', 3.0)]
    >>> merge_rows(frame, "first").rows()
    [('q', 'a', 1.0), ('q', 'b', 0.9)]
    """
    if duplicates == "best":
        is_best = pl.col("score") == pl.col("score").max().over(KEYS)
        frame = frame.filter(is_best)
    return frame.unique(KEYS, keep="first", maintain_order=True)


def note_left_out(n_left_out: int, n_results: int, duplicates: str) -> str:
    """Return the note on results that repeat a document.

    Examples
    --------
    >>> note_left_out(1, 3, "best")
    '1 of 3 results repeat a document: its best counts'
    """
    results = format_count(n_results, "result")
    return f"{n_left_out:,} of {results} repeat a document: its {duplicates} counts"
