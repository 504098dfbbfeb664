"""What a file format is: one file that says how it is read and written, found by its name in the registry."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Sized
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Self, cast

from deadheat.core.errors import DataError, ParameterError
from deadheat.core.io.columns import resolve_columns
from deadheat.core.io.kinds import ANSWERABLE, SUBTOPIC, TEXTS, VALUE_COLUMN, Kind
from deadheat.core.io.list_order import ListOrder
from deadheat.core.io.nested import Nested
from deadheat.core.io.notes import Notes
from deadheat.core.io.results import ASSUMED, Listing, note_merged_judgments
from deadheat.core.io.writing import Compression
from deadheat.core.libraries import polars as pl
from deadheat.core.wording import format_count, format_list

if TYPE_CHECKING:
    import narwhals as nw

    from deadheat.core.io.id_columns import IdRuns
    from deadheat.core.io.lazy import Reading

FORMATS: dict[str, Format] = {}
SAMPLE = 200  # rows of a text in which columns of numbers are looked for
FEWEST = 3  # documents of a query from which an order says something
ROWS = 20_000  # of a run, in which ranks are compared with scores


@dataclass(frozen=True)
class Content:
    """What a file holds.

    Attributes
    ----------
    rows : dict of dict, polars.DataFrame, narwhals.LazyFrame or pathlib.Path
        Of a dict, the numbers are not yet checked; a lazy frame is of an engine, or of a file that is not in memory; a
        path is that of a TREC run that is larger than memory.
    notes : tuple of str or Ranked
        What was done to read it that people should know.
    ranks : polars.DataFrame or None
        query_id, rank and score of the first rows of a run that has both.
    subtopics : polars.DataFrame or None
        query_id, doc_id, subtopic and relevance of qrels that have several subtopics.
    unanswerable : tuple of str
        Queries that qrels call unanswerable, sorted.
    hashes : polars.Series or None
        Those of the document ids, by :func:`~deadheat.core.io.splitting.hash_doc_ids`, if they were found on the way.
    query_runs : IdRuns or None
        Of a data frame, if they were found on the way.
    reading : Reading or None
        How the rows of a lazy frame are to be read, if they are not yet checked.
    is_trec : bool
        Whether these are rows as TREC has them.
    read_by : str
        The service that reads this file in our place, by its ``content_of_qrels``; empty where the content was read.
    list_order : {"rise", "fall"}, optional
        Of a run in lists, where the scores of every list rise from its first result to its last, or fall; two results
        do so by chance.
    columns : mapping of str to str
        Those that were read, from canonical name to name in the source; empty of what has no names.
    """

    rows: Nested | pl.DataFrame | nw.LazyFrame[Any] | Path
    notes: Notes = ()
    ranks: pl.DataFrame | None = None
    subtopics: pl.DataFrame | None = None
    unanswerable: tuple[str, ...] = ()
    hashes: pl.Series | None = None
    query_runs: IdRuns | None = None
    reading: Reading | None = None
    is_trec: bool = False
    read_by: str = ""
    list_order: ListOrder | None = None
    columns: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of_lists(cls, listing: Listing, columns: Mapping[str, str] | None = None) -> Self:
        """Return the documents that were in lists, perhaps in a column of a table."""
        order = listing.order if listing.longest >= FEWEST else None
        return cls(listing.documents, listing.notes, list_order=order, columns=columns or {})


CASES = Content({}, read_by="cases")


@dataclass(frozen=True, kw_only=True)
class Format:
    """A format of files that hold qrels or a run.

    Attributes
    ----------
    name : str
        What ``format=`` takes.
    suffixes : tuple of str
        How the names of such files end, in lower case.
    read : callable
        Takes a path, the kind, and names of columns that the user says; returns the `Content`. A `polars.DataFrame` has
        checked rows in file order: query_id, doc_id, and relevance, score or rank, or none of these.
    write : callable
        Takes checked rows, a binary file, the kind, the tag of a run, and how to compress.
    locate : callable
        Takes a path, the kind, a query, a document and names of columns, and returns the 1-based lines of this pair, if
        there are lines.
    columns : callable or None
        Takes a path, and returns the names of its columns, by which qrels and runs differ; None: it has no names.
    recognises : callable or None
        Takes the first bytes of a file whose name says TREC or nothing, and tells whether it is of this format.
    has_tag : bool
        Whether a run has a tag, so that its rows, without names of columns, are no qrels.
    has_subtopics : bool
        Whether qrels may have a subtopic in each row.
    has_all : bool
        Whether one file has the judgments and the scores of all documents, and may be qrels and run at once.
    is_text : bool
        Whether it is text, which has no control characters in ids, and may be compressed as a whole.
    splits_at : str
        A regular expression of what separates fields, and no id can hold; empty where ids are quoted.
    """

    name: str
    suffixes: tuple[str, ...]
    read: Callable[[Path, Kind, Mapping[str, str]], Content]
    write: Callable[[pl.DataFrame, IO[bytes], Kind, str, Compression], None]
    locate: Callable[[Path, Kind, str, str, Mapping[str, str]], list[int]] = lambda *_: []
    columns: Callable[[Path], Iterable[object]] | None = None
    recognises: Callable[[bytes], bool] | None = None
    has_tag: bool = False
    has_subtopics: bool = False
    has_all: bool = False
    is_text: bool = True
    splits_at: str = ""


def is_judged(row: Sequence[object], unanswerable: set[str], where: str | Path, line: int | None) -> bool:
    """Tell whether a row of qrels judges a document; if it says that its query is not answerable, keep that.

    Parameters
    ----------
    row : sequence of (object, object, object)
        Whether the query is answerable, the query, and the document.
    unanswerable : set of str
        Takes the query.
    where, line
        For messages.
    """
    flag = str(row[0]).lower()
    if flag not in {"true", "false", "none", ""}:
        raise DataError(ANSWERABLE, given=row[0], allowed="true or false", path=where, line=line)
    if flag == "false":
        unanswerable.add(str(row[1]))
    is_bare = row[2] is None or (isinstance(row[2], Sized) and not len(row[2]))
    return flag != "false" or not is_bare


def which_judged(
    rows: Sequence[tuple[int | None, Mapping[str, Any]]], given: Mapping[str, str], where: str | Path
) -> tuple[list[bool], tuple[str, ...]]:
    """Return which rows, each with its line, judge a document, and the queries that are not answerable, sorted."""
    known, unanswerable = list(dict.fromkeys(name for _, row in rows for name in row)), set[str]()
    names = resolve_columns(known, "qrels", where=where, given=given)
    keys = (ANSWERABLE, names["query_id"], names["doc_id"])
    found = [is_judged([*map(row.get, keys)], unanswerable, where, line) for line, row in rows]
    return found, tuple(sorted(unanswerable))


def split_off(rows: pl.DataFrame, where: object, notes: Notes = ()) -> Content:
    """Return the judgments without subtopics, those with them if there are several, and a note.

    Without subtopics, a document has the highest relevance that it has for one. Of equal rows one stays, and a note
    says so; two grades of a document for one subtopic stay, so that they are found as duplicates. A column that always
    holds the same has no subtopics.

    Parameters
    ----------
    rows : polars.DataFrame
        query_id, doc_id, subtopic and relevance; without the last, each is relevant.
    where : object
        Where they are from, for the note.
    notes : tuple of str
        What is known about them already.
    """
    if VALUE_COLUMN["qrels"] not in rows.columns:
        rows, notes = rows.with_columns(relevance=1.0), (*notes, ASSUMED["qrels"])
    rows = rows.with_columns(pl.col(SUBTOPIC).fill_null(""))
    n_topics = rows[SUBTOPIC].n_unique()
    if n_topics < 2:
        return Content(rows.drop(SUBTOPIC), notes)
    n_rows = len(rows)
    rows = rows.unique(maintain_order=True)
    is_contradicted = rows.select("query_id", "doc_id", SUBTOPIC).is_duplicated()
    if is_contradicted.any():  # others may have several grades, each for a subtopic: these are no duplicates
        contradicted = rows.filter(is_contradicted).drop(SUBTOPIC)
        others = rows.filter(~is_contradicted).drop(SUBTOPIC).join(contradicted, on=["query_id", "doc_id"], how="anti")
        highest = others.group_by("query_id", "doc_id", maintain_order=True).agg(pl.col("relevance").max())
        return Content(pl.concat([contradicted, highest]), notes)
    if n_equal := n_rows - len(rows):
        notes = (*notes, note_merged_judgments(n_equal))
    plain = rows.drop(SUBTOPIC)
    highest = plain.group_by("query_id", "doc_id", maintain_order=True).agg(pl.col("relevance").max())
    n_merged = len(plain) - len(highest)
    merged = f", {format_count(n_merged, 'row')} merged" if n_merged else ""
    note = f"{where} has {n_topics} subtopics; without them a document has its highest relevance{merged}"
    return Content(
        highest,
        (*notes, note),
        subtopics=rows.select("query_id", "doc_id", SUBTOPIC, "relevance"),
    )


def frame_of_rows(rows: Iterable[Sequence[str | float | None]], names: Iterable[str]) -> pl.DataFrame:
    """Return rows as columns with these names: ids and subtopics are text, the others numbers."""
    return pl.DataFrame(
        [*rows], schema={name: pl.String if name in TEXTS else pl.Float64 for name in names}, orient="row"
    )


def ranks_of(rows: pl.LazyFrame) -> pl.DataFrame | None:
    """Return query_id, rank and score of the first rows as numbers, null where they are none; None if nothing is read.

    Nothing is refused here: whatever is wrong with a file was found before.
    """
    number = pl.col("rank", "score").cast(pl.String).str.strip_chars().cast(pl.Float64, strict=False)
    try:
        return rows.with_columns(number).collect()
    except pl.exceptions.PolarsError:
        return None


def register(form: Format) -> None:
    """Make a format known by its name and its endings, which no other has."""
    if isinstance(cast("object", form.suffixes), str):
        raise ParameterError(
            argument="suffixes", given=form.suffixes, allowed="a tuple of endings", hint=f"write ({form.suffixes!r},)"
        )
    for known in FORMATS.values():
        if known.read.__module__ == form.read.__module__:
            continue  # one that is defined again
        taken = {known.name, *known.suffixes} & {form.name, *form.suffixes}
        if taken:
            raise ParameterError(
                f"{format_list(sorted(taken))} of the file format {form.name} is taken by the format {known.name}",
                hint="choose another name or ending",
            )
    FORMATS[form.name] = form
