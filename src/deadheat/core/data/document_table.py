"""The base of qrels and runs: a checked table of (query, document, number)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast

from deadheat.core import hooks
from deadheat.core.checks import as_text, check_choice
from deadheat.core.data.renderable import InNotebooks
from deadheat.core.data.rounding import ScorePrecision
from deadheat.core.data.rows import MappingRows, MemoryRows, Rows
from deadheat.core.data.source_columns import SourceColumns, source_columns_of
from deadheat.core.data.sources import Source, column_of_runs, label_of, path_of
from deadheat.core.data.unread_rows import LazyRows, UnreadRows, UnreadTrec
from deadheat.core.errors import DuplicateError, SourceTypeError
from deadheat.core.io.columns import check_given
from deadheat.core.io.files import CATALOGUE, FileState, is_in_catalogue
from deadheat.core.io.folders import choose_file, read_folder
from deadheat.core.io.formats import Content, chosen_format, is_too_large, locate, scan
from deadheat.core.io.formats.trec import ranks_of_file
from deadheat.core.io.guarding import check_threads, guard_polars
from deadheat.core.io.ids import FORMS
from deadheat.core.io.kinds import Kind
from deadheat.core.io.nested import Nested, check_mapping
from deadheat.core.io.notes import Notes
from deadheat.core.io.result_errors import LEAVE_OUT_PADDING
from deadheat.core.io.result_parts import PADDING
from deadheat.core.io.sources import read_object
from deadheat.core.libraries import is_polars_frame, polars as pl
from deadheat.core.phases import phase
from deadheat.core.structures import copy_with
from deadheat.core.wording import escape_invisible

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
        Stored as the source allows.
    notes : tuple of str
        What was assumed or skipped to read the source, for people.
    by_keys : tuple of one precision, or None
        Not None if the scores are ranks by several keys, whose scores were rounded so.
    failures : polars.DataFrame or None
        What :func:`deadheat.read_judgments` found to be no grade.
    id_form : str or None
        The form of Unicode that :meth:`normalized` brought the ids to.
    """

    kind: ClassVar[Kind]
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
        self.path = path_of(source)
        if name is not None:
            as_text("name", name)
        self.name = name or (label_of(self.path) if self.path else self.kind)
        if name is None and self.path is None and is_in_catalogue(source):
            self.name = str(source).removeprefix(CATALOGUE)
        self.format = None if format is None else chosen_format("", format)
        self.columns = {} if columns is None else check_given(columns)
        self.notes: tuple[str, ...] = ()
        with nullcontext() if isinstance(source, Mapping) else guard_polars(self.where):  # dicts need no Polars
            self.rows = self._read(source)

    def _read(self, source: Source) -> Rows:
        file = None if self.path is None else FileState.of(self.path)
        content = self._scan(self.path) if self.path else read_object(source, self.kind, self.where, self.columns)
        self.notes = tuple(map(str, content.notes))
        self.source_columns = source_columns_of(source, self.path, content.columns)
        content = self._take_in(content)
        if isinstance(content.rows, Mapping):
            return self._hold(check_mapping(content.rows, self.kind, self.where))
        match content.rows:
            case pl.DataFrame() as frame:
                return MemoryRows(frame, content.hashes, content.query_runs)
            case Path() as path:
                return UnreadTrec(path)
            case lazy:
                if content.reading is None:
                    return LazyRows(lazy, self.where)
                return UnreadRows(lazy, content.reading, self.where, file)

    def _take_in(self, content: Content) -> Content:
        """Keep what the source says beside its rows, warn of what looks wrong, and return what is to be stored."""
        return content

    def _hold(self, nested: Nested) -> Rows:
        """Return the rows of checked dicts."""
        return MappingRows(nested, self.kind, self.where)

    def _scan(self, path: Path) -> Content:
        if path.is_dir():
            together = read_folder(path, self.kind)
            if together is not None:
                return together
            path, note = choose_file(path, self.kind)
            self.path = path
            content = self._scan(path)
            return replace(content, notes=(note, *content.notes))
        if self.kind == "run" and not self.columns and is_too_large(path, self.format):  # `scan` refuses columns
            return Content(path, ranks=ranks_of_file(path))
        with phase(f"reading {path.name}"):
            content = scan(path, self.kind, format=self.format, columns=self.columns)
        if content.read_by:
            content = hooks.service(content.read_by).content_of_qrels(path, self.format)
        return content

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
        held = MemoryRows(rows) if is_polars_frame(rows) else MappingRows(rows, cls.kind, name)
        return copy_with(cls.__new__(cls), path=None, name=name, format=None, columns={}, notes=(), rows=held)

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
        ids = pl.col("query_id", "doc_id").str.normalize(as_form)
        queries = {name: pl.Series(held) for name in ("bare", "unanswerable") if (held := getattr(self, name, ()))}
        found = self.with_rows(
            self.rows.normalize(as_form),
            id_form=form,
            **{key: frame.with_columns(ids) for key, frame in self.beside().items()},
            **{name: tuple(held.str.normalize(as_form).unique().sort()) for name, held in queries.items()},
        )
        found.check_duplicates()
        if self.kind == "run":
            found.notes = (*self.notes, f"ids in Unicode form {form}, as asked")
        return found

    def beside(self) -> dict[str, pl.DataFrame]:
        """Return the tables beside the rows, each with a query_id and a doc_id, by their keys."""
        found = {}
        for key in hooks.names_beside():
            frame = getattr(self, key, None)
            if frame is not None:
                found[key] = frame
        return found

    def with_rows(self, rows: Rows, **attributes: Any) -> Self:  # noqa: ANN401 - of any attribute
        """Return the table with other rows, which are checked, and other attributes that go with them."""
        found = copy_with(self, rows=rows, **attributes)
        vars(found).pop("in_order", None)
        vars(found).pop("fingerprint", None)
        return found

    def noted(self, notes: Notes) -> Self:
        """Return the table with notes on how its rows were found, and its numbers checked."""
        if isinstance(self.rows, MappingRows):
            self.rows.numbers(list(self.rows.mapping))
        return copy_with(self, notes=(*map(str, notes), *self.notes))

    def __repr__(self) -> str:
        return escape_invisible(f"<{type(self).__name__} {self.name}>")

    @property
    def where(self) -> str:
        """Where the rows come from, for messages."""
        return str(self.path) if self.path else self.name

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
            self.rows.check_duplicates = True
            return
        with guard_polars(self.where):
            found = self.rows.repeated_pairs()
        if found is not None and len(found):
            raise self.duplicate(found)
        self.rows.are_unique = True

    def duplicate(self, found: pl.DataFrame) -> DuplicateError:
        """Return the error for repeated pairs: query_id, doc_id and n of each."""
        padding = found.filter(pl.col("doc_id") == PADDING) if self.kind == "run" else found.clear()
        query, doc, count = padding.row(0) if len(padding) else found.row(0)
        what = self._describe_duplicate(query, doc, count)
        lines = locate(self.path, self.kind, query, doc, format=self.format, columns=self.columns) if self.path else []
        at = _describe_lines(lines)
        more = f"; {len(found) - 1:,} more pairs are repeated" if len(found) > 1 else ""
        column = column_of_runs(self.path, self.name) if self.kind == "run" and self.path is not None else None
        hint = None
        if column is not None:
            hint = f"column {column!r} tells several runs apart, which evaluate and compare read"
        elif len(padding):
            hint = LEAVE_OUT_PADDING
        return DuplicateError(
            f"{what}{at}{more}",
            hint=hint,
            path=self.path or self.name,
            line=lines[1] if len(lines) > 1 else None,
        )

    def _describe_duplicate(self, query: str, doc: str, count: int) -> str:
        """Say what comes how often, and what is allowed."""
        return f"document {doc!r} is retrieved {count} times for query {query!r}; each pair may appear only once"


def check_each(*tables: DocumentTable | None, is_asked: bool = True) -> None:
    """Raise `DuplicateError` if a table repeats a (query, document) pair; None is no table.

    Runs are looked at where that is asked for; judgments, which are fewer, always.
    """
    for table in tables:
        if table is not None and (is_asked or table.kind == "qrels"):
            table.check_duplicates()


def _describe_lines(lines: Sequence[int]) -> str:
    """Name the first of some lines in brackets, each once; nothing without any."""
    numbers = list(dict.fromkeys(lines))[:5]
    if not numbers:
        return ""
    return f" ({'line' if len(numbers) == 1 else 'lines'} {', '.join(map(str, numbers))})"
