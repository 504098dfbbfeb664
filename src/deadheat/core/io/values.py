"""Scores and relevances of users: as text, of which float64 may hold less, and in dicts of dicts, as arrays.

The decimal mark of a text is said by the user, or found where a column can be read in one way only.
"""

from __future__ import annotations

import math
import re
import struct
import unicodedata
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from decimal import Context, Decimal
from functools import partial
from itertools import chain, compress, repeat
from numbers import Integral, Rational, Real
from pathlib import Path
from typing import Any, cast

import numpy as np

from deadheat.core.arrays import AnyArray, BoolArray, FloatArray, IntArray
from deadheat.core.checks import check_choice
from deadheat.core.errors import Advice, DataError, DuplicateError, MalformedRowError, SourceTypeError
from deadheat.core.io.files import WithValue
from deadheat.core.io.kinds import VALUE_COLUMN, Kind
from deadheat.core.libraries import polars as pl
from deadheat.core.scalars import LARGEST_INTEGER
from deadheat.core.structures import group_values
from deadheat.core.wording import format_given, quote_text

Nested = Mapping[str, Mapping[str, float]]

PACKED = 1 << 12  # numbers, of several queries where they have few
NUL = "\0"
_ABSENT = math.nan  # no number is NaN
_EXACT = (Rational, Decimal)
_PLAIN_NUMBERS = (int, float, np.integer, np.floating, np.bool_)
FORMS = ("NFC", "NFD", "NFKC", "NFKD")
BEYOND = "an integer or decimal beyond 2**53, where float64 merges neighbours; rescale it"


def frame_of_mapping(mapping: Nested, kind: Kind, where: str) -> pl.DataFrame:
    """Build a frame from a checked dict of dicts, in its order."""
    lengths = [len(documents) for documents in mapping.values()]
    return pl.DataFrame(
        {
            "query_id": series_of_ids(list(mapping), where).gather(np.repeat(np.arange(len(lengths)), lengths)),
            "doc_id": series_of_ids(list(chain.from_iterable(mapping.values())), where),
            VALUE_COLUMN[kind]: all_numbers(mapping, list(mapping), kind, where) + 0.0,  # -0.0 becomes 0.0
        }
    )


def check_mapping(source: Mapping[Any, Any], kind: Kind, where: str) -> dict[str, Mapping[str, float]]:
    """Return the queries of a dict of dicts with their ids checked.

    A query without a document stays: in qrels nothing is relevant for it, in a run nothing was retrieved.

    :func:`all_numbers` checks the numbers, once.
    """
    if not is_plain(source):
        query, documents = next(one for one in source.items() if not isinstance(one[1], Mapping))
        raise SourceTypeError(
            found=f"{documents!r} for {query!r}",
            allowed=f"a dict of dicts {{query: {{document: {VALUE_COLUMN[kind]}}}}}",
        )
    if not source:
        raise DataError("empty: it has no queries", path=where)
    mapping: dict[str, Mapping[str, float]]
    mapping = dict(zip(text_of_ids(list(source), where), source.values(), strict=True))
    first = [*map(next, map(iter, filter(None, mapping.values())))]  # document of each query
    if not set(map(type, first)) <= {str}:
        first = text_of_ids(first, where)  # raises for a mix of both
        mapping = {
            query: dict(zip(text_of_ids(list(documents), where), documents.values(), strict=True))
            for query, documents in mapping.items()
        }
    _check_all_ids(mapping, where)
    return mapping


def _check_all_ids(mapping: Mapping[Any, Mapping[Any, Any]], where: str) -> None:
    """Raise for the first id of a dict of dicts that is wrong; joined, ids are seen through ten times as fast."""
    for ids in (mapping, *mapping.values()):
        try:
            text = "".join(ids)
        except TypeError:
            check_ids([*ids], where)
            raise
        if NUL in text or "" in ids or not text.isascii():  # perhaps a lone surrogate
            check_ids([*ids], where)


def is_plain(source: Mapping[Any, Any]) -> bool:
    """Return whether each query has a mapping of documents to numbers."""
    types = set(map(type, source.values()))
    return types == {dict} or all(issubclass(one, Mapping) for one in types)


def has_numbers(source: Mapping[Any, Any]) -> bool:
    """Tell whether this looks like a dict of dicts of numbers, as no document of another tool does.

    To look at all numbers takes long: it is all of the first query, and the last one of the others.

    Examples
    --------
    >>> has_numbers({"q1": {"d1": 2.5, "d2": 1}, "q2": {}}), has_numbers({"q1": {"hits": [{"_id": "d1"}]}})
    (True, False)
    """
    types: set[type] = set()
    for documents in source.values():
        if type(documents) is not dict:
            return False
        if not types:
            types.update(map(type, documents.values()))
        elif documents:
            types.add(type(next(reversed(documents.values()))))
    return all(issubclass(kind, _PLAIN_NUMBERS) for kind in types)


def copied(source: Mapping[Any, Mapping[Any, Any]]) -> dict[Any, dict[Any, Any]]:
    """Return a copy of a dict of dicts, which stays what it is whatever the caller does with the original.

    Numbers cannot be changed, but arrays without a dimension can, which libraries of tensors give for a number: where
    the first number of a query is one, the numbers of the query are taken out of them. Complex numbers of NumPy become
    Python's, which no reader takes for real ones.

    Examples
    --------
    >>> given = {"q": {"d": np.array(1.0)}}
    >>> copy = copied(given)
    >>> given["q"]["d"][...] = 5.0
    >>> copy
    {'q': {'d': 1.0}}
    """
    copies = {query: dict(documents) for query, documents in source.items()}
    for query, documents in copies.items():
        first = next(iter(documents.values()), None)
        if not isinstance(first, _PLAIN_NUMBERS) and hasattr(first, "item"):
            copies[query] = {doc: _number_in(value) for doc, value in documents.items()}
    return copies


def _number_in(value: Any) -> Any:  # noqa: ANN401 - it may be anything
    """Return the number in an array without a dimension, and any other value as it is."""
    return value.item() if getattr(value, "ndim", None) == 0 else value


def series_of_ids(ids: Sequence[Any], where: str) -> pl.Series:
    """Return ids as a text column."""
    try:
        column = pl.Series(ids, dtype=pl.String)
    except (TypeError, UnicodeEncodeError):
        check_ids(ids, where)
        raise
    refuse_nul(column, where)
    return column


def refuse_nul(ids: pl.Series, where: str) -> None:
    """Raise DataError for an id with a NUL, which NumPy and many libraries take for the end of a text."""
    wrong = ids.filter(ids.str.contains(NUL, literal=True))
    if len(wrong):
        raise id_with_nul(wrong[0], where)


def id_with_nul(given: str, where: str) -> DataError:
    """Return the error for an id with a NUL."""
    return DataError(f"id {given!r} contains the control character U+0000", allowed="text without it", path=where)


def check_ids(ids: Sequence[Any], where: str) -> None:
    """Raise for the first id that is not text, or not text that a file can hold."""
    with suppress(TypeError, UnicodeEncodeError):
        text = "".join(ids)
        text.encode()  # finds other types and lone surrogates ten times as fast as a loop
        if all(ids) and NUL not in text:
            return
    for given in ids:
        if not isinstance(given, str):
            raise SourceTypeError(
                "ids are text",
                found=f"{given!r:.60} ({type(given).__name__})",
                hint="write str(id) for every id" if is_id(given) else None,
                path=where,
            )
        if not given:
            raise DataError("an id is an empty string", allowed="text", path=where)
        if NUL in given:
            raise id_with_nul(given, where)
        if is_broken(given):
            raise DataError(f"id {given!r} has a lone surrogate", allowed="text that UTF-8 can hold", path=where)


def is_id(given: object) -> bool:
    """Return whether a value is text or a whole number; true and false are neither."""
    return isinstance(given, str | Integral) and not isinstance(given, bool)


def text_of_ids(ids: Sequence[Any], where: str | Path) -> list[str]:
    """Return ids as text, whole numbers as `str` writes them; raise for a mix of both: 7 and "7" may be one document.

    Examples
    --------
    >>> text_of_ids([7, 12], "run"), text_of_ids(["007"], "run")
    (['7', '12'], ['007'])
    """
    kinds = set(map(type, ids))
    if kinds <= {str}:
        return list(ids)
    texts = {kind for kind in kinds if issubclass(kind, str)}
    others = kinds - texts
    if any(issubclass(kind, bool) or not issubclass(kind, Integral) for kind in others):
        check_ids([one for one in ids if type(one) in others and not is_id(one)], str(where))
    if texts and others:
        text, number = (next(one for one in ids if type(one) in some) for some in (texts, others))
        raise SourceTypeError(
            f"ids are text ({text!r}) and numbers ({number!r})",
            allowed="one or the other in a table",
            hint="write str(id) for every id",
            path=where,
        )
    try:
        return list(map(str, ids))
    except ValueError:  # of whole numbers with thousands of digits
        raise SourceTypeError("an id is a number of thousands of digits", allowed="text", path=where) from None


def is_broken(text: str) -> bool:
    """Tell whether a text has a lone surrogate (half a character), which UTF-8 cannot hold."""
    return not text.isascii() and any("\ud800" <= char <= "\udfff" for char in text)


def all_numbers(mapping: Nested, queries: Sequence[str], kind: Kind, where: str) -> FloatArray:
    """Return the checked numbers of the given queries of a dict of dicts, concatenated in its order.

    Numbers are checked one by one only if some number may be wrong.
    """
    numbers, at = np.empty(sum(len(mapping[query]) for query in queries)), 0
    n_queries = 1 + PACKED * len(queries) // (len(numbers) + 1)
    with _checked_numbers(numbers, mapping, queries, kind, where):
        for first in range(0, len(queries), n_queries):
            some = (mapping[query].values() for query in queries[first : first + n_queries])
            at = _pack([*chain.from_iterable(some)], numbers, at)
    return numbers


@dataclass(frozen=True, eq=False)
class LookedUp:
    """The numbers of a run and of its judgments, query by query.

    Attributes
    ----------
    scores : ndarray of float, shape (n_rows,)
    bounds : ndarray of int, shape (n_queries + 1,)
        Where the scores of each query start, and their number.
    docs : list of str, of length n_judged
        The judged documents.
    relevance : ndarray of float, shape (n_judged,)
    own : ndarray of float, shape (n_judged,)
        Their scores, NaN where the query lacks the document.
    judged_bounds : ndarray of int, shape (n_queries + 1,)
        Where the judgments of each query start, and their number.
    """

    scores: FloatArray
    bounds: IntArray
    docs: list[str]
    relevance: FloatArray
    own: FloatArray
    judged_bounds: IntArray


def look_up(run: Nested, qrels: Nested, queries: Sequence[str], run_where: str, qrels_where: str) -> LookedUp:
    """Look up the judged documents while the scores are read: each dict is in the processor's cache then.

    Parameters
    ----------
    run, qrels : dict of dict
    queries : sequence of str, shape (n_queries,)
        Those that have judgments; the run may lack some.
    run_where, qrels_where : str
        For messages.

    Raises
    ------
    DataError
        For the first number that cannot be evaluated.
    """
    retrieved = {query: run.get(query, {}) for query in queries}
    scores, at, bounds, judged_bounds = np.empty(sum(map(len, retrieved.values()))), 0, [0], [0]
    docs, relevance, own, some = list[str](), list[float](), list[float](), list[float]()
    with _checked_numbers(scores, retrieved, queries, "run", run_where):
        for query, documents in retrieved.items():
            judged = qrels[query]
            some += documents.values()
            if len(some) > PACKED:
                at, some = _pack(some, scores, at), []
            own += map(documents.get, judged, repeat(_ABSENT))
            docs += judged
            relevance += judged.values()
            bounds.append(at + len(some))
            judged_bounds.append(len(docs))
        _pack(some, scores, at)
    levels, found_scores = np.empty((2, len(docs)))
    _pack(own, found_scores, 0)
    with _checked_numbers(levels, qrels, queries, "qrels", qrels_where):
        _pack(relevance, levels, 0)
    return LookedUp(scores, np.array(bounds), docs, levels, found_scores, np.array(judged_bounds))


def _pack(values: Collection[Any], numbers: FloatArray, start: int) -> int:
    """Write values into an array from a place on, and return the place after them.

    That is faster than np.fromiter, and text is refused, which np.fromiter would read as numbers.
    """
    # a call with nothing but *values makes one tuple of them; with arguments before these, a list and then a tuple
    partial(struct.pack_into, f"{len(values)}d", numbers.data, start * numbers.itemsize)(*values)
    return start + len(values)


@contextmanager
def _checked_numbers(
    numbers: FloatArray, mapping: Nested, queries: Sequence[str], kind: Kind, where: str
) -> Iterator[None]:
    """Raise for the first number that cannot be evaluated: that cannot be packed inside, or is doubtful afterwards.

    Doubtful are NaN, infinity in qrels, and what may be an integer that was rounded.
    """
    try:
        yield
    except (struct.error, TypeError, ValueError, ArithmeticError):  # overflow, arrays, and decimals that signal
        for query in queries:
            for doc, value in mapping[query].items():
                check_number(kind, query, doc, value, where)
        raise
    if not len(numbers) or (numbers.min() > -LARGEST_INTEGER and numbers.max() < LARGEST_INTEGER):
        return
    is_doubtful, start = ~(np.abs(numbers) < LARGEST_INTEGER), 0
    for query in queries:
        documents = mapping[query].items()
        own = is_doubtful[start : start + len(documents)]
        start += len(documents)
        for doc, value in compress(documents, own) if own.any() else ():
            check_number(kind, query, doc, value, where)


def is_beyond(value: Any) -> bool:  # noqa: ANN401 - any exact number
    """Tell whether float64 may merge an integer or decimal with its neighbours; infinity is not such a number."""
    return not -LARGEST_INTEGER <= value <= LARGEST_INTEGER and value not in {math.inf, -math.inf}


def are_beyond(values: AnyArray) -> BoolArray:
    """Tell which numbers of an array float64 may merge with neighbours: whole ones beyond 2**53, and longer floats."""
    beyond: BoolArray = (values > LARGEST_INTEGER) | (values < -LARGEST_INTEGER)
    return beyond if values.dtype.kind in "iu" else beyond & (values.astype(np.float64) != values)


def normalized_keys(given: Mapping[Any, Any], form: str) -> dict[Any, Any]:
    r"""Return a dict with its keys in a form of Unicode; raise DuplicateError if two are one then.

    Examples
    --------
    >>> normalized_keys({"Mu\u0308ller": 1}, "NFC") == {"M\u00fcller": 1}
    True
    """
    names = [unicodedata.normalize(cast("Any", form), key) if isinstance(key, str) else key for key in given]
    if len({*names}) < len(names):
        twice = next(name for name, own in group_values(zip(names, names, strict=True)).items() if len(own) > 1)
        raise DuplicateError(f"two ids are {twice!r} in Unicode form {form}", allowed="ids that differ in it")
    return dict(zip(names, given.values(), strict=True))


def check_number(kind: Kind, query: str, doc: str, value: Any, where: str) -> None:  # noqa: ANN401 - it may be anything
    """Raise if a value is not a number that can be evaluated."""
    place = f"{VALUE_COLUMN[kind]} of document {doc!r} for query {query!r}"
    is_grade = isinstance(value, str) and value[:1].isdigit()
    try:
        number = None if isinstance(value, str | bytes) else float(value)
    except (TypeError, ValueError):
        number = None
    except OverflowError:
        number = float("inf")
    if number is None:
        msg = f"{place} is not a number: {value!r}"
    elif np.isnan(number):
        msg = f"{place} is NaN"
    elif isinstance(value, Real | Decimal) and is_beyond(value) and (isinstance(value, _EXACT) or value != number):
        msg = f"{place} is {format_given(value)}, {BEYOND}"
    elif kind == "qrels" and np.isinf(number):
        msg = f"{place} is infinite: {value!r}"
    else:
        return
    python = 'float(text.partition("/")[0]) reads grades such as "8" and "8/10"' if is_grade else None
    raise DataError(msg, python=python, path=where)


# What Polars reads as a float. Python's float() accepts more: "1_0", and digits of other scripts.
_NUMBER = re.compile(
    r"[+-]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?|inf|infinity|nan)", re.IGNORECASE | re.ASCII
)
_INTEGER = re.compile(r"[+-]?[0-9]+", re.ASCII)
# C0, DEL and C1, some of which end lines or move the cursor, and the two non-ASCII characters that end lines.
CONTROL = "[\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff]"
_FIND_CONTROL = re.compile(CONTROL)
LINE_ENDS = r"lines end with \n or \r\n"


def is_number(text: str) -> bool:
    """Return whether a text is a number as files have them."""
    return _NUMBER.fullmatch(text) is not None


def read_value(text: str, kind: Kind, *, path: Path, line: int | None, name: str = "") -> float:
    """Return the score, rank or relevance in `text`, or raise DataError."""
    name = name or VALUE_COLUMN[kind]
    if not _NUMBER.fullmatch(text):
        raise DataError(
            f"{name} must be a number",
            given=text,
            found=None if text else "an empty field",
            hint="leave out what is not judged, or add the file to the qrels: deadheat convert --add"
            if not text and kind == "qrels"
            else None,
            path=path,
            line=line,
        )
    value = float(text)
    if math.isnan(value):
        raise DataError(f"{name} must be a number", found=f"NaN ({text!r})", path=path, line=line)
    if math.isinf(value) and kind == "qrels":
        raise DataError(f"{name} must be finite", given=text, path=path, line=line)
    if math.isinf(value) and any(char.isdigit() for char in text):
        raise DataError(f"{name} is beyond the range of float64: {quote_text(text)}", path=path, line=line)
    if abs(value) >= LARGEST_INTEGER and not math.isinf(value) and not _is_held(text, value):
        raise DataError(f"{name} is {quote_text(text)}, {BEYOND}", path=path, line=line)
    return value


def _is_held(text: str, value: float) -> bool:
    """Tell whether a large number is what float64 makes of its text: exactly, rounded to its digits, or in short."""
    given = Decimal(text)  # int() refuses thousands of digits
    if _INTEGER.fullmatch(text):
        return not is_beyond(given)
    n_digits = len(text.lower().partition("e")[0].strip("+-").replace(".", "").lstrip("0"))
    return given in {Decimal(value), Decimal(repr(value)), Context(prec=n_digits).plus(Decimal(value))}


def as_python(values: Sequence[Any]) -> Sequence[Any]:
    """Return values of one type as they are; of several, NumPy's numbers as Python's, to whose precision none is cut.

    Examples
    --------
    >>> as_python([np.float32(0.5), 0.1])
    [0.5, 0.1]
    """
    kinds = {*map(type, values)}
    if len(kinds) == 1 or not any(issubclass(kind, np.generic) for kind in kinds):
        return values
    return [one.item() if isinstance(one, np.generic) else one for one in values]


def check_ids_of_row(query_id: str, doc_id: str, path: Path, line: int | None = None) -> None:
    """Raise MalformedRowError if an id contains a control character."""
    if query_id.isprintable() and doc_id.isprintable():
        return
    for name, given in (("query_id", query_id), ("doc_id", doc_id)):
        if found := _FIND_CONTROL.search(given):
            is_mark = found[0] == "\ufeff"
            raise MalformedRowError(
                f"{name} {quote_text(given)} contains a byte order mark, which only the start of a file may have"
                if is_mark
                else f"{name} {quote_text(given)} contains the control character U+{ord(found[0]):04X}; ids have none,"
                f" and {LINE_ENDS}",
                hint="were files concatenated?" if is_mark else None,
                path=path,
                line=line,
            )


def check_comment(comment: str, path: Path, line: int) -> None:
    """Raise MalformedRowError for a control character in a comment: after some of them another row may follow."""
    if found := _FIND_CONTROL.search(comment.replace("\t", " ").rstrip("\r")):
        raise MalformedRowError(
            f"a comment contains the control character U+{ord(found[0]):04X}: {quote_text(comment)}",
            hint=LINE_ENDS,
            path=path,
            line=line,
        )


def holds_controls(frame: pl.DataFrame) -> bool:
    """Return whether an id contains a control character."""
    return any(ids.str.contains(CONTROL).any() for ids in frame.select("query_id", "doc_id"))


def holds_only_ids(frame: pl.DataFrame) -> bool:
    """Return whether no id is null or empty."""
    return not any(ids.null_count() or (ids == "").any() for ids in frame.select("query_id", "doc_id"))


def are_plain(values: pl.Series) -> bool:
    """Return whether all are numbers, finite and so small that float64 holds them exactly as they were written."""
    chunks = map(pl.Series.to_numpy, values.get_chunks())  # one by one, as one array of all is a copy of a large file
    # null is NaN, which is neither below nor above another number
    return all(one.min() > -LARGEST_INTEGER and one.max() < LARGEST_INTEGER for one in chunks if len(one))


MARKS = (",", ".")
_decimal: ContextVar[str | None] = ContextVar("decimal", default=None)
_GROUPED = {mark: re.compile(rf"[+-]?[1-9][0-9]{{0,2}}(?:\{mark}[0-9]{{3}})+", re.ASCII) for mark in MARKS}
_SHORT = re.compile(r"[+-]?[0-9]{1,3}", re.ASCII)  # no thousands to group


def decimal(mark: str) -> AbstractContextManager[None]:
    """Set the decimal mark of numbers in CSV and TSV files; the other mark may group thousands.

    By default it is the point. In files with semicolons it may also be the comma, where the numbers of a column can be
    read in one way only: a column of ``999`` and ``1.500`` is an error without this.

    Parameters
    ----------
    mark : {",", "."}

    Raises
    ------
    ParameterError
        If it is neither.

    Examples
    --------
    >>> import deadheat as dh
    >>> with dh.decimal(","):
    ...     pass  # dh.evaluate("qrels.csv", "run.csv")
    """
    check_choice("decimal", mark, MARKS)
    return WithValue(_decimal, mark)


def given_decimal() -> str | None:
    """Return the mark that :func:`decimal` set."""
    return _decimal.get()


def may_be_number(text: str, *, has_semicolons: bool) -> bool:
    """Return whether a text is a number if its marks are what they may be."""
    given = _decimal.get()
    if given is not None:
        text = text.replace(MARKS[given == ","], "").replace(given, ".")
    return is_number(text.replace(",", ".") if has_semicolons else text)


@dataclass
class DecimalColumn:
    """The numbers of a column, as they are read one after the other.

    Parameters
    ----------
    name : str
    path : pathlib.Path
        For messages.
    has_semicolons : bool
        Whether the marks of the file tell which one is the decimal mark; else it is the point, if none was given.

    Examples
    --------
    >>> column = DecimalColumn("score", Path("x.csv"), has_semicolons=True)
    >>> column.plain("0,5", 2), column.plain("-1,25", 3), column.notes()
    ('0.5', '-1.25', ("column 'score': ',' is the decimal mark",))
    """

    name: str
    path: Path
    has_semicolons: bool
    _first: dict[str, tuple[str, int]] = field(default_factory=dict)  # number with each mark, and its line
    _may_be_grouped: bool = True

    def plain(self, text: str, line: int) -> str:
        """Return a number with a point as its decimal mark; a text that is no number stays one."""
        given = _decimal.get()
        if given is None:
            return self._of_unknown_mark(text, line) if self.has_semicolons else text
        other = MARKS[given == ","]
        whole, mark, rest = text.partition(given)
        if _GROUPED[other].fullmatch(whole):
            whole = whole.replace(other, "")
        elif other in text:
            raise MalformedRowError(
                f"column {self.name!r} has {text!r}, where {other!r} does not group thousands",
                allowed=f"numbers with {given!r} as their decimal mark",
                path=self.path,
                line=line,
            )
        return whole + mark.replace(",", ".") + rest

    def _of_unknown_mark(self, text: str, line: int) -> str:
        marks = [mark for mark in MARKS if mark in text]
        for mark in marks:
            self._first.setdefault(mark, (text, line))
        self._may_be_grouped &= (_GROUPED[marks[0]] if marks else _SHORT).fullmatch(text) is not None
        if len(self._first) > 1:
            (_, comma), (_, point) = (self._first[mark] for mark in MARKS)
            raise self._error(
                f"column {self.name!r} has numbers with commas (line {comma}) and with points (line {point})", line
            )
        if any(text.count(mark) > 1 for mark in marks):
            raise self._error(f"column {self.name!r} has {text!r}", line)
        return text.replace(",", ".")

    def _error(self, problem: str, line: int) -> MalformedRowError:
        return MalformedRowError(
            problem,
            hint=Advice("decimal", when="to say which mark is the decimal one, ',' or '.', "),
            python="as with dh.decimal(','):",
            path=self.path,
            line=line,
        )

    def notes(self) -> tuple[str, ...]:
        """Return which mark was taken for the decimal mark; raise if the marks may as well group thousands."""
        for mark, (text, line) in self._first.items() if self._may_be_grouped else ():
            both = f"{text.replace(mark, '')} or {text.replace(mark, '.').rstrip('0').rstrip('.')}"
            raise self._error(f"column {self.name!r} can be read in two ways: {text!r} is {both}", line)
        return tuple(f"column {self.name!r}: {mark!r} is the decimal mark" for mark in self._first)
