"""What a file format is: one file that says how it is read and written, found by its name in the registry."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Sized
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, cast

from deadheat.core.errors import Advice, DataError, ParameterError
from deadheat.core.io.columns import resolve_columns
from deadheat.core.io.content import Content
from deadheat.core.io.kinds import ANSWERABLE, KEYS, SUBTOPIC, TEXTS, VALUE_COLUMN, Kind
from deadheat.core.io.notes import Notes
from deadheat.core.io.results import ASSUMED, note_merged_judgments
from deadheat.core.libraries import polars as pl
from deadheat.core.wording import format_count, format_list

if TYPE_CHECKING:
    from deadheat.core.io.writing import Compression

FORMATS: dict[str, Format] = {}
SAMPLED_ROWS = 200  # of a text, in which columns of numbers are looked for


LABELLED_CASES = Content({}, read_by="cases")  # what a format returns for a file that the service has to read


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
        Takes a path, the kind, and names of columns that the user gives; returns the `Content`. A `polars.DataFrame`
        has checked rows in file order: query_id, doc_id, and relevance, score or rank, or none of these.
    write : callable
        Takes checked rows, a binary file, the kind, the tag of a run, and how to compress.
    locate : callable
        Takes a path, the kind, a query, a document and names of columns, and returns the 1-based lines of this pair, if
        there are lines.
    columns : callable or None
        Takes a path, and returns the names of its columns, by which qrels and runs differ; None: it has no names.
    recognises : callable or None
        Takes the first bytes of a file whose name says TREC or nothing, and tells whether it is of this format.
    describe_row : callable
        Takes the fields of the first row of a file that another format cannot read, and the kind; returns what such a
        row is in this format, for advice to read it so, or "" if it is none. For formats that no file name says.
    has_tag : bool
        Whether a run has a tag.
    shows_kind : bool
        Whether rows without names of columns show whether they are qrels or a run, by how many fields they have.
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
    describe_row: Callable[[Sequence[str], Kind], str] = lambda *_: ""
    has_tag: bool = False
    shows_kind: bool = False
    has_subtopics: bool = False
    has_all: bool = False
    is_text: bool = True
    splits_at: str = ""


def read_answerable(flag: object, where: str | Path, line: int | None) -> bool:
    """Return whether a row of qrels counts its query as answerable: it does so unless it says the contrary.

    Parameters
    ----------
    flag : object
        What its column "answerable" holds.
    where, line
        For messages.

    Raises
    ------
    DataError
        The flag is neither true nor false.
    """
    text = str(flag).lower()
    if text not in {"true", "false", "none", ""}:
        raise DataError(ANSWERABLE, given=flag, allowed="true or false", path=where, line=line)
    return text != "false"


def find_judged_rows(
    rows: Sequence[tuple[int | None, Mapping[str, Any]]], given: Mapping[str, str], where: str | Path
) -> tuple[list[bool], tuple[str, ...]]:
    """Return which rows of qrels judge a document, and the queries that are not answerable, sorted.

    A row without a document only says that its query is not answerable.

    Parameters
    ----------
    rows : sequence of (int or None, mapping)
        Each with its line, for messages.
    given : mapping of str to str
        Names of columns that the user gives, by canonical name.
    where : str or path
        For messages.
    """
    names: dict[str, None] = {}  # a dict, which keeps their order
    for _, row in rows:
        names |= dict.fromkeys(row)
    columns = resolve_columns(list(names), "qrels", where=where, given=given)
    are_judged: list[bool] = []
    unanswerable: set[str] = set()
    for line, row in rows:
        is_answerable = read_answerable(row.get(ANSWERABLE), where, line)
        if not is_answerable:
            unanswerable.add(str(row.get(columns["query_id"])))
        are_judged.append(is_answerable or _has_documents(row.get(columns["doc_id"])))
    return are_judged, tuple(sorted(unanswerable))


def _has_documents(doc_ids: object) -> bool:
    """Tell whether a document, or a list of documents, is there and not empty."""
    if isinstance(doc_ids, Sized):
        return len(doc_ids) > 0
    return doc_ids is not None


def split_off_subtopics(rows: pl.DataFrame, where: object, notes: Notes = ()) -> Content:
    """Return judgments by document alone, and those by subtopic beside them if there are several subtopics.

    A document gets its highest relevance for any subtopic. Of equal rows one stays, and a note says so. If a document
    has two grades for one subtopic, both rows stay, so that they are found as duplicates. A column with one value
    throughout holds no subtopics.

    Parameters
    ----------
    rows : polars.DataFrame
        query_id, doc_id, subtopic and relevance; without the last, each is relevant.
    where : object
        The source, for the note.
    notes : tuple of str
        Notes on the rows so far.
    """
    if VALUE_COLUMN["qrels"] not in rows.columns:
        rows = rows.with_columns(relevance=1.0)
        notes = (*notes, ASSUMED["qrels"])
    rows = rows.with_columns(pl.col(SUBTOPIC).fill_null(""))
    n_subtopics = rows[SUBTOPIC].n_unique()
    if n_subtopics < 2:
        return Content(rows.drop(SUBTOPIC), notes)
    distinct = rows.unique(maintain_order=True)
    is_contradicted = distinct.select(*KEYS, SUBTOPIC).is_duplicated()
    if is_contradicted.any():
        return Content(_keep_contradicted(distinct, is_contradicted), notes)
    n_equal = len(rows) - len(distinct)
    if n_equal:
        notes = (*notes, note_merged_judgments(n_equal))
    highest = _take_highest_relevance(distinct)
    note = f"{where} has {n_subtopics} subtopics; without them a document has its highest relevance"
    n_merged = len(distinct) - len(highest)
    if n_merged:
        note += f", {format_count(n_merged, 'row')} merged"
    subtopics = distinct.select(*KEYS, SUBTOPIC, "relevance")
    return Content(highest, (*notes, note), subtopics=subtopics)


def _take_highest_relevance(rows: pl.DataFrame) -> pl.DataFrame:
    """Return a row for each query and document, with its highest relevance."""
    return rows.group_by(*KEYS, maintain_order=True).agg(pl.col("relevance").max())


def _keep_contradicted(rows: pl.DataFrame, is_contradicted: pl.Series) -> pl.DataFrame:
    """Return the rows that contradict each other, all of them, and the highest relevance of each other document.

    Other documents may have several grades, each for a subtopic: these are no duplicates.
    """
    contradicted = rows.filter(is_contradicted).drop(SUBTOPIC)
    rest = rows.filter(~is_contradicted).drop(SUBTOPIC).join(contradicted, on=KEYS, how="anti")
    return pl.concat([contradicted, _take_highest_relevance(rest)])


def frame_of_rows(rows: Iterable[Sequence[str | float | None]], names: Iterable[str]) -> pl.DataFrame:
    """Return rows as columns with these names: ids and subtopics are text, the others numbers."""
    schema = {name: pl.String if name in TEXTS else pl.Float64 for name in names}
    return pl.DataFrame(list(rows), schema=schema, orient="row")


def collect_ranks(rows: pl.LazyFrame) -> pl.DataFrame | None:
    """Return query_id, rank and score of rows, null where a field is no number; None if they cannot be read.

    Nothing is refused here: whatever is wrong with a file was found before.
    """
    number = pl.col("rank", "score").cast(pl.String).str.strip_chars().cast(pl.Float64, strict=False)
    try:
        return rows.with_columns(number).collect()
    except pl.exceptions.PolarsError:
        return None


def advise_on_row(fields: Sequence[str], kind: Kind) -> Advice | None:
    """Return advice to read a file as the format that its first row may be of; None if no format says so."""
    for file_format in FORMATS.values():
        description = file_format.describe_row(fields, kind)
        if description:
            return Advice("format", file_format.name, of="qrels and runs", when=f"if that line is {description}, ")
    return None


def register(form: Format) -> None:
    """Make a format known by its name and its endings, which no other has."""
    if isinstance(cast("object", form.suffixes), str):
        raise ParameterError(
            argument="suffixes", given=form.suffixes, allowed="a tuple of endings", hint=f"write ({form.suffixes!r},)"
        )
    for known in FORMATS.values():
        if known.read.__module__ == form.read.__module__:
            continue  # the same module is loaded again
        shared = {known.name, *known.suffixes} & {form.name, *form.suffixes}
        if shared:
            raise ParameterError(
                f"{format_list(sorted(shared))} of the file format {form.name} is taken by the format {known.name}",
                hint="choose another name or ending",
            )
    FORMATS[form.name] = form
