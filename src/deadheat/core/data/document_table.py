"""The base of qrels and runs: a checked table of (query, document, number)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast

from deadheat.core import hooks
from deadheat.core.checks import as_text, check_choice
from deadheat.core.data.renderable import InNotebooks
from deadheat.core.data.rounding import ScorePrecision
from deadheat.core.data.rows import MappingRows, MemoryRows, Rows
from deadheat.core.data.source_columns import SourceColumns, find_source_columns
from deadheat.core.data.sources import Source, as_path, find_run_column, make_label
from deadheat.core.data.unread_rows import LazyRows, UnreadRows
from deadheat.core.errors import Advice, DuplicateError, SourceTypeError
from deadheat.core.io.columns import check_given
from deadheat.core.io.content import Content
from deadheat.core.io.files import CATALOGUE, FileState, is_in_catalogue
from deadheat.core.io.guarding import check_threads, guard_polars
from deadheat.core.io.ids import FORMS
from deadheat.core.io.kinds import Kind
from deadheat.core.io.nested import Nested, check_mapping
from deadheat.core.io.notes import Notes
from deadheat.core.io.result_errors import KEEP_ONE, LEAVE_OUT_PADDING
from deadheat.core.io.result_parts import PADDING
from deadheat.core.io.sources import read_object
from deadheat.core.libraries import is_polars_frame, polars as pl
from deadheat.core.phases import phase
from deadheat.core.structures import copy_with
from deadheat.core.wording import escape_invisible, format_count

if TYPE_CHECKING:
    from deadheat.core.data.table_facts import TableFacts


class DocumentTable(InNotebooks):
    """Rows of (query_id, doc_id, number): the base of `Qrels` and `Run`.

    Attributes
    ----------
    name : str
        Label of the table: what the caller gave, or the file name without its format.
    path : pathlib.Path or None
        The file that it was read from.
    rows : Rows
        In the form that the source allows: dicts, a frame, or rows that are not in memory.
    notes : tuple of str
        What was assumed or skipped to read the source, for people.
    by_keys : tuple of one precision, or None
        If the scores are ranks by several keys: the precision that the keys were rounded to, alone in a tuple, as it
        may be None. None for scores.
    failures : polars.DataFrame or None
        The documents for which :func:`deadheat.read_judgments` found no grade in the answer.
    id_form : str or None
        The form of Unicode that :meth:`normalized` brought the ids to.
    """

    kind: ClassVar[Kind]
    duplicates: str = "error"  # what becomes of a document that a run has twice for a query
    doc_id_of: str | None = None  # what the ids of its chunks are made ids of documents by
    by_keys: tuple[ScorePrecision] | None = None
    failures: pl.DataFrame | None = None
    id_form: str | None = None
    source_columns: SourceColumns | None = None  # which columns its rows were read from

    def __init__(
        self,
        source: Source,
        *,
        name: str | None = None,
        format: str | None = None,  # noqa: A002 - the word that users look for
        columns: Mapping[str, str] | None = None,
    ) -> None:
        self.path = as_path(source)
        if name is not None:
            as_text("name", name)
        self.name = name or self._label_source(source)
        self.format: str | None = None
        if format is not None:
            from deadheat.core.io.formats import choose_format  # dicts need no formats of files

            self.format = choose_format("", format)
        self.columns: dict[str, str] = {}
        if columns is not None:
            self.columns = check_given(columns)
        self.notes: tuple[str, ...] = ()
        if isinstance(source, Mapping):  # dicts need no Polars
            self.rows = self._read(source)
        else:
            with guard_polars(self.where):
                self.rows = self._read(source)

    def _label_source(self, source: Source) -> str:
        """Return the name of a table if the caller gave none: that of the file or data set, else its kind."""
        if self.path is not None:
            return make_label(self.path)
        if is_in_catalogue(source):
            return str(source).removeprefix(CATALOGUE)
        return self.kind

    def _read(self, source: Source) -> Rows:
        """Return the rows of a source, and keep what it says beside them."""
        file = None
        if self.path is not None:
            file = FileState.of(self.path)  # before it is read, so that a later change is seen
        content = self._prepare(self._load(source))
        self.notes = tuple(map(str, content.notes))
        self.source_columns = find_source_columns(source, self.path, content.columns)
        self._keep_attributes(content)
        self._check_order(content)
        return self._store(content, file)

    def _load(self, source: Source) -> Content:
        """Return what a file or an object holds."""
        if self.path is None:
            return read_object(source, self.kind, self.where, self.columns)
        return self._load_file(self.path)

    def _load_file(self, path: Path) -> Content:
        """Return what a file holds; of a folder, what all its files hold, or the one that is to be read."""
        from deadheat.core.io.folders import choose_file, read_folder
        from deadheat.core.io.formats import is_too_large, scan  # dicts need no formats of files
        from deadheat.core.io.formats.trec import read_first_ranks

        if path.is_dir():
            content_of_all_files = read_folder(path, self.kind, self.columns)
            if content_of_all_files is not None:
                return content_of_all_files
            file, note = choose_file(path, self.kind)
            self.path = file
            content = self._load_file(file)
            return replace(content, notes=(note, *content.notes))
        is_run_without_columns = self.kind == "run" and not self.columns  # `scan` refuses columns of a TREC file
        if is_run_without_columns and is_too_large(path, self.format):
            return Content(path, ranks=read_first_ranks(path))
        with phase(f"reading {path.name}"):
            content = scan(path, self.kind, format=self.format, columns=self.columns)
        if content.read_by:
            content = hooks.service(content.read_by).content_of_qrels(path, self.format)
        return content

    def _prepare(self, content: Content) -> Content:
        """Return the content as this kind of table keeps it: with other rows, or with more notes."""
        return content

    def _keep_attributes(self, content: Content) -> None:
        """Keep what the source says beside its rows."""

    def _check_order(self, content: Content) -> None:
        """Warn the user of rows whose order contradicts their numbers."""

    def _store(self, content: Content, file: FileState | None) -> Rows:
        """Return the rows as they are stored, those of dicts checked.

        Parameters
        ----------
        content : Content
        file : FileState or None
            The state of the file, to see later whether rows that are not in memory have changed.
        """
        rows = content.rows
        if isinstance(rows, Mapping):
            return self._store_dicts(check_mapping(rows, self.kind, self.where))
        if is_polars_frame(rows):
            return MemoryRows(rows, content.hashes, content.query_runs)
        if isinstance(rows, Path):
            from deadheat.core.data.unread_trec import UnreadTrec  # few files are larger than memory

            return UnreadTrec(rows)
        if content.reading is None:
            return LazyRows(rows, self.where)
        return UnreadRows(rows, content.reading, self.where, file)

    def _store_dicts(self, nested: Nested) -> Rows:
        """Return the rows of checked dicts."""
        return MappingRows(nested, self.kind, self.where)

    @classmethod
    def of(cls, source: Source) -> Self:
        """Return `source` itself if it is of this class, else read it."""
        if isinstance(source, cls):
            return source
        if isinstance(source, DocumentTable):
            raise SourceTypeError(given=source, allowed=cls.kind, hint="are the arguments swapped?")
        return cls(source)

    @classmethod
    def of_checked(cls, rows: pl.DataFrame | Nested, name: str) -> Self:
        """Return a table of rows that need no check: dicts, or three columns as `to_polars` returns them."""
        stored: Rows
        if is_polars_frame(rows):
            stored = MemoryRows(rows)
        else:
            stored = MappingRows(rows, cls.kind, name)
        return copy_with(cls.__new__(cls), path=None, name=name, format=None, columns={}, notes=(), rows=stored)

    def normalized(self, form: str | None) -> Self:
        """Return the table, in memory, with its ids in a form of Unicode: "NFC", "NFD", "NFKC" or "NFKD"; None: as is.

        Raises
        ------
        DuplicateError
            Two documents of a query have one id then.
        """
        if form is not None:
            check_choice("normalize_ids", form, FORMS)
        if form in {None, self.id_form}:
            return self
        as_form = cast("Any", form)
        normalized_ids = pl.col("query_id", "doc_id").str.normalize(as_form)
        attributes: dict[str, Any] = {"id_form": form}
        for key, frame in self.beside().items():
            attributes[key] = frame.with_columns(normalized_ids)
        for name in ("bare", "unanswerable"):
            queries = getattr(self, name, ())
            if queries:
                attributes[name] = tuple(pl.Series(queries).str.normalize(as_form).unique().sort())
        table = self._normalize_rows(as_form, attributes)
        table.check_duplicates()
        if self.kind == "run":
            table.notes = (*table.notes, f"ids in Unicode form {form}, as asked")
        return table

    def _normalize_rows(self, form: Any, attributes: Mapping[str, Any]) -> Self:  # noqa: ANN401 - a literal of Polars
        """Return the table with its rows in a form of Unicode, and other attributes that go with them."""
        return self.with_rows(self.rows.normalize(form), **attributes)

    def beside(self) -> dict[str, pl.DataFrame]:
        """Return the tables that belong to the rows, such as judgments of subtopics, by the names of their attributes.

        Each has a query_id and a doc_id.
        """
        tables = {}
        for key in hooks.list_tables_beside():
            frame = getattr(self, key, None)
            if frame is not None:
                tables[key] = frame
        return tables

    def with_rows(self, rows: Rows, **attributes: Any) -> Self:  # noqa: ANN401 - of any attribute
        """Return the table with other rows, which are checked, and other attributes that go with them."""
        table = copy_with(self, rows=rows, **attributes)
        table.drop_computed()
        return table

    def drop_computed(self) -> None:
        """Drop what was computed from the rows that the table had before."""
        vars(self).pop("in_order", None)
        vars(self).pop("fingerprint", None)

    def noted(self, notes: Notes) -> Self:
        """Return the table with more notes, before its own; raise if a number of a dict cannot be evaluated."""
        if isinstance(self.rows, MappingRows):
            self.rows.numbers(list(self.rows.mapping))
        return copy_with(self, notes=(*map(str, notes), *self.notes))

    def __repr__(self) -> str:
        return escape_invisible(f"<{type(self).__name__} {self.name}>")

    @property
    def where(self) -> str:
        """Where the rows come from, for messages."""
        if self.path is None:
            return self.name
        return str(self.path)

    def to_polars(self) -> pl.DataFrame:
        """Return the rows as a Polars frame, in the order of the source."""
        if isinstance(self.rows, MemoryRows):
            check_threads()  # what the caller does with them would hang
            return self.rows.frame.clone()  # whose columns the caller may replace
        with guard_polars(self.where):
            return self.rows.frame.clone()

    def to_dict(self) -> dict[str, dict[str, float]]:
        """Return the rows as ``{query_id: {doc_id: number}}``."""
        return self.rows.to_dict()

    def facts(self) -> TableFacts:
        """Return how many queries and documents there are, how many tie, and what was assumed to read them.

        Examples
        --------
        >>> from deadheat import Run
        >>> facts = Run({"q1": ["d1", "d2"], "q2": ["d1"]}).facts()
        >>> facts.n_queries, facts.n_rows, facts.most, facts.n_tied_queries
        (2, 3, 2, 0)
        >>> facts.notes
        ('ranked lists without scores: in strict order, no ties',)
        """
        from deadheat.core.data.table_facts import count_facts  # few ask for them

        return count_facts(self.to_polars(), getattr(self, "bare", ()), self.notes)

    def check_duplicates(self, *, now: bool = False) -> None:
        """Raise `DuplicateError` if a (query, document) pair is repeated, which a dict cannot do.

        A run in a cluster or a large file is checked when it is placed, in the same pass, and raises then.

        Parameters
        ----------
        now : bool, default False
            Whether such a run is checked in a pass of its own.
        """
        if self.rows.are_unique:
            return
        if isinstance(self.rows, UnreadRows) and self.kind == "run" and not now:
            if self.rows.duplicates == "trust":
                self.rows.duplicates = "error"
            return
        with guard_polars(self.where), phase(f"looking for repeated pairs in {self.name}"):
            pairs = self.rows.repeated_pairs()
        if pairs is not None and len(pairs):
            raise self.make_duplicate_error(pairs)
        self.rows.are_unique = True

    def make_duplicate_error(self, pairs: pl.DataFrame) -> DuplicateError:
        """Return the error for repeated pairs: query_id, doc_id and n of each."""
        from deadheat.core.io.formats import locate  # dicts need no formats of files

        query, doc, count = pairs.row(0)
        is_padding = False
        if self.kind == "run":
            padding = pairs.filter(pl.col("doc_id") == PADDING)
            if len(padding):
                query, doc, count = padding.row(0)
                is_padding = True
        lines: Sequence[int] = []
        if self.path is not None and self.path.is_file():
            lines = locate(self.path, self.kind, query, doc, format=self.format, columns=self.columns)
        text = f"{self._describe_duplicate(query, doc, count)}{_describe_lines(lines)}"
        if len(pairs) > 1:
            others = format_count(len(pairs) - 1, "more pair is", "more pairs are")
            text += f"; {others} repeated"
        return DuplicateError(
            text,
            hint=self._hint_at_cause(is_padding=is_padding),
            path=self.path or self.name,
            line=lines[1] if len(lines) > 1 else None,
        )

    def _hint_at_cause(self, *, is_padding: bool) -> str | Advice | None:
        """Return a hint why a run repeats a pair: several runs, padding of lists, or chunks of documents."""
        if self.kind == "qrels":
            return None
        if self.path is not None:
            column = find_run_column(self.path, self.name)
            if column is not None:
                return f"column {column!r} tells several runs apart, which evaluate and compare read"
        if is_padding:
            return LEAVE_OUT_PADDING
        return KEEP_ONE

    def _describe_duplicate(self, query: str, doc: str, count: int) -> str:
        """Say how often a pair comes, and what is allowed."""
        return f"document {doc!r} is retrieved {count} times for query {query!r}; each pair may appear only once"


def check_tables(*tables: DocumentTable | None) -> None:
    """Raise `DuplicateError` if a table repeats a (query, document) pair; None is no table.

    Runs that are trusted are not looked at.
    """
    for table in tables:
        if table is not None and table.duplicates != "trust":
            table.check_duplicates()


def _describe_lines(lines: Sequence[int]) -> str:
    """Name the first of some lines in brackets, without repetition; nothing without any."""
    numbers = list(dict.fromkeys(lines))[:5]
    if not numbers:
        return ""
    if len(numbers) == 1:
        return f" (line {numbers[0]})"
    return f" (lines {', '.join(map(str, numbers))})"
