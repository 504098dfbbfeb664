"""The documents of each query as lists, as search libraries return them or users write them: known by their form.

No library is imported. A list holds ids, pairs of an id and a number, or results, of which the forms that plugins
register and the names of columns say where their id and number are.
"""

import math
import re
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set as AbstractSet
from dataclasses import dataclass, field
from decimal import Decimal
from numbers import Integral, Rational, Real
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np

from deadheat.core import hooks
from deadheat.core.checks import check_choice
from deadheat.core.errors import (
    ABSENT,
    ColumnError,
    DataError,
    DeadheatWarning,
    DuplicateError,
    ParameterError,
    SourceTypeError,
)
from deadheat.core.io.forms import Shape, known_forms
from deadheat.core.io.kinds import (
    ALL_OFFSETS,
    ANSWERABLE,
    COLUMN_NAMES,
    DISTANCES,
    EITHER_WAY,
    GIVE_AS_SPANS,
    NO_SCORES,
    VALUE_COLUMN,
    Kind,
    have_offsets,
    value_column,
)
from deadheat.core.io.notes import Notes, Ranked
from deadheat.core.io.values import Nested, check_number, is_id, text_of_ids
from deadheat.core.scalars import is_number
from deadheat.core.wording import did_you_mean, format_count, format_list

Repeated = Literal["error", "best", "first"]
# Where a part of a result is: a name, a dotted path of names, or a function of the result
Pick = str | Callable[[Any], Any]


ListOrder = Literal["rise", "fall"]


@dataclass(frozen=True)
class Listing:
    """The documents of queries, and what is known of the lists that they were in.

    Attributes
    ----------
    documents : dict of dict
        ``{query: {document: number}}``; the numbers are not yet checked.
    notes : tuple of str or Ranked
        What was assumed.
    order : {"rise", "fall"}, optional
        Where the scores of every list rise from its first result to its last, or fall; else None.
    longest : int
        Results of the longest list that has such an order.
    """

    documents: Nested
    notes: Notes = ()
    order: ListOrder | None = None
    longest: int = 0


RANKED = Ranked("ranked lists without scores: in strict order, no ties")
RANKED_BY_COLUMN = Ranked("ranked by the column rank, without scores: equal ranks tie")
ASSUMED: dict[Kind, str | Ranked] = {
    "run": RANKED,
    "qrels": "relevant documents are listed without grades: each has relevance 1",
}
CALL: dict[Kind, str] = {"run": "dh.Run.of_results", "qrels": "dh.Qrels.of_results"}
LISTS: dict[Kind, str] = {
    "run": "a dict {document: score}, or a list of results, of ids or of (id, score), best first",
    "qrels": "a dict {document: relevance}, or a set, list or single id of relevant documents",
}
LOOKED = 100  # lists whose order is looked at from end to end
_PLAIN = {float, int, bool, str, type(None)}
_GRADES = ("grade", "rating", "relevance", "confidence")  # of a language model: scores of results that have no other
_GRADE = re.compile(r"\s*[0-9]+(\.[0-9]+)?\s*(/\s*[0-9]+\s*)?", re.ASCII)  # "8", "8/10"
PADDING = "-1"  # the id that search libraries fill lists up with
LEAVE_OUT_PADDING = "FAISS and others fill lists up with -1, which is no document: leave these out first"


@dataclass
class Reader:
    """How the results of queries become documents with numbers; it keeps what was found, for notes on all of them.

    Attributes
    ----------
    kind : {"qrels", "run"}
    where : str
        For messages.
    id, number : str or callable, optional
        Where they are in a result, if its form does not say.
    repeated : {"error", "best", "first"}
        What to do if a document comes twice: raise, keep its best number, or keep its first place.
    lower_first : bool
        Whether lower numbers are better.
    line : int or None
        Of the query that is read, for messages.
    """

    kind: Kind
    where: str
    id: Pick | None = None
    number: Pick | None = None
    repeated: Repeated = "error"
    lower_first: bool = False
    line: int | None = None
    _paths: dict[tuple[type, tuple[Any, ...]], tuple[str | None, str]] = field(default_factory=dict)  # by form
    _ids: dict[bool, Any] = field(default_factory=dict)  # that are text or not, one of each
    _found: dict[str, Any] = field(default_factory=dict)  # by the name of the numbers, the first query with them
    _assumed: Ranked | None = None  # with the numbers of a form
    _unused: list[set[str]] = field(default_factory=list)  # numbers of queries without any
    _orders: set[ListOrder | Literal["mixed"]] = field(default_factory=set)  # of the numbers of lists
    _longest: int = 0  # of the lists with an order
    _n_ordered: int = 0  # lists with an order
    _n_merged: int = 0  # judgments that repeat others
    _n_left_out: int = 0
    _n_kept: int = 0

    def __post_init__(self) -> None:
        check_choice("repeated", self.repeated, get_args(Repeated))
        for argument, pick in {"id": self.id, VALUE_COLUMN[self.kind]: self.number}.items():
            if not (pick is None or isinstance(pick, str) or callable(pick)):
                raise ParameterError(
                    argument=argument, given=pick, allowed="a name, a dotted path, or a function of one result"
                )

    def read(self, results: object) -> Listing:
        """Return the documents of all queries, and what was assumed.

        Raises
        ------
        SourceTypeError
            The results have no known form.
        DuplicateError
            A document comes twice.
        """
        notes: Notes = ()
        lists = lists_of_queries(results, self.where)
        if lists is not None:
            results = lists
        if not isinstance(results, Mapping):
            if not (isinstance(results, list) and results and all(isinstance(one, list) for one in results)):
                raise SourceTypeError(
                    f"cannot tell queries apart in {type(results).__name__}",
                    allowed="a dict {query: results}",
                    hint=f"write {CALL[self.kind]}({{query: results for query, results in zip(queries, all_results)}})",
                )
            results, notes = dict(enumerate(results)), ("queries are called by their place in the list, from 0",)
        found: dict[Any, Any] = {query: self.documents(given, query) for query, given in results.items()}
        notes += (*self.assumed(), *self.merged())
        if self._n_left_out:
            n_results = format_count(self._n_left_out + self._n_kept, "result")
            notes += (f"{self._n_left_out:,} of {n_results} repeat a document: its {self.repeated} counts",)
        return self.listing(found, notes)

    def listing(self, documents: Nested, notes: Notes) -> Listing:
        """Return the documents of all queries with the order of their scores."""
        has_scores = VALUE_COLUMN["run"] in self._found
        if has_scores and len(self._orders) == 1:
            order = next(iter(self._orders))
            if order != "mixed":
                return Listing(documents, notes, order, self._longest)
        return Listing(documents, notes)

    def assumed(self) -> Notes:
        """Return what was assumed of all queries; raise if they are given in several ways, warn of unused numbers."""
        text_of_ids(list(self._ids.values()), self.where)  # raises for a mix of both
        if len(self._found) > 1:
            (name, query), (other, without) = sorted(self._found.items(), reverse=True)[:2]
            raise SourceTypeError(
                f"documents for query {query!r} have a {name}, those for {without!r} have {other or 'none'}",
                allowed="one shape for all queries",
                path=self.where,
            )
        name = next(iter(self._found), VALUE_COLUMN[self.kind])
        if self._assumed is not None:
            return (self._assumed,)
        if not name:
            self._warn_of_numbers()
            return (ASSUMED[self.kind],)
        return () if name == VALUE_COLUMN[self.kind] else (f"the {name} of each result counts as its score",)

    def merged(self) -> Notes:
        """Return a note on the judgments that repeat others, if there are any."""
        return (note_of_merged(self._n_merged),) if self._n_merged else ()

    def documents(self, given: object, query: object) -> Mapping[str, Any]:
        """Return the documents of one query; in a ranked list their number is minus the rank, of judgments it is 1."""
        results = results_in(given, self.kind)
        if results is None:
            if not isinstance(given, Mapping) or any(isinstance(one, list | Mapping) for one in given.values()):
                raise self._no_list(given, query)
            if given:
                self._saw(query, VALUE_COLUMN[self.kind], next(iter(given)))
            return given
        docs, numbers = self._parts(results, query)
        name = VALUE_COLUMN[self.kind]
        if self.number is None and all(number is None for number in numbers):
            name, numbers = self._of_grades(results) or (name, numbers)
        n_numbers = sum(number is not None for number in numbers)
        if n_numbers not in (0, len(docs)):
            raise DataError(
                f"result {numbers.index(None) + 1} for query {query!r} has no {name}, others have one",
                allowed=f"a {name} for all or for none",
                path=self.where,
            )
        if docs:
            self._saw(query, name if n_numbers else "", docs[0])
        if not n_numbers:
            numbers = [-place for place in range(1, len(docs) + 1)] if self.kind == "run" else [1] * len(docs)
        elif self.kind == "run" and len(self._orders) < 2:  # more say nothing: the lists have no one order
            self._keep_order(numbers)
        return self._once(text_of_ids(docs, self.where), numbers, query, results)

    def _keep_order(self, numbers: Sequence[Any]) -> None:
        """Keep whether the scores of a list rise or fall."""
        if self._n_ordered >= LOOKED and len(numbers) > 1:
            numbers = [numbers[0], numbers[-1]]  # looking at all of many lists takes time
        order = _order_of(numbers)
        if order is not None:
            self._orders.add(order)
            self._n_ordered += 1
            self._longest = max(self._longest, len(numbers))

    def _saw(self, query: object, number: str, doc: object) -> None:
        """Keep how the documents of a query are given: the name of their numbers, empty without any; and an id."""
        self._found.setdefault(number, query)
        if is_id(doc):
            self._ids.setdefault(isinstance(doc, str), doc)

    def _parts(self, results: Sequence[Any], query: object) -> tuple[list[Any], list[Any]]:
        """Return ids and numbers; None for numbers that are not there."""
        if self.id is None and self.number is None:
            if all(map(is_id, results)):
                return list(results), [None] * len(results)
            if all(isinstance(one, tuple | list) and len(one) == 2 and is_id(one[0]) for one in results):
                return [one[0] for one in results], [_plain(one[1]) for one in results]
        parts = [self._part(result, query, place) for place, result in enumerate(results, 1)]
        return [doc for doc, _ in parts], [number for _, number in parts]

    def _part(self, result: object, query: object, place: int) -> tuple[Any, Any]:
        """Return the id and the number of one result; None for a number that is not there."""
        held, paired = _unpaired(result)
        key = (type(held), tuple(held if isinstance(held, dict) else getattr(held, "__dict__", ())))
        if key not in self._paths:
            self._paths[key] = self._find_paths(held)
        id_path, number_path = self._paths[key]
        what = f"result {place} for query {query!r}"
        if callable(self.id):
            doc = self._picked(self.id, result, what)
        else:
            doc = ABSENT if id_path is None else value_at(held, id_path)
        if doc is ABSENT or doc is None:
            raise self._no_id(held, what)
        if not is_id(doc):
            raise SourceTypeError(
                f"the id of {what} is not an id",
                found=described(doc),
                allowed="text or a whole number",
                path=self.where,
            )
        if callable(self.number):
            return doc, _plain(self.number(result))
        number = paired if paired is not None and self.number is None else ABSENT
        if number is ABSENT and number_path:
            number = value_at(held, number_path)
        if number is not ABSENT:
            return doc, _plain(number)
        if self.number is not None:
            raise DataError(
                f"{what} has no {VALUE_COLUMN[self.kind]} at {self.number!r}",
                hint=_near(self.number, held),
                path=self.where,
            )
        if self.kind == "run":
            self._refuse_distance(held)
        return doc, None

    def _refuse_distance(self, held: object) -> None:
        """Raise for a result with a distance and no score: only the user knows whether lower ones are better."""
        name = next((name for name in DISTANCES if _member(held, name) is not ABSENT), "")
        if name:
            raise DataError(
                f"results have a {name} and no score",
                hint=f"call it 'score'; {EITHER_WAY.format(ascending='give ascending=True (--ascending)')}",
                python=f"{CALL['run']}(results, score={name!r}) reads it under its name",
                path=self.where,
            )

    def _find_paths(self, held: object) -> tuple[str | None, str]:
        """Return where id and number are in results of this form: None or empty if nowhere; "" is the result itself."""
        if is_id(held) and self.id is None:
            return "", ""
        by_names = _by_names(held, self.kind)
        shapes = known_forms().shapes
        shape = next((one for one in shapes if all(_member(held, name) is not ABSENT for name in one.has)), by_names)
        paths = [getattr(shape, self.kind), getattr(by_names, self.kind)] if self.number is None else [self.number]
        known = [path for path in paths if isinstance(path, str) and path]
        # the first, unless another is there: inside, each differs
        number = next((path for path in known if value_at(held, path) is not ABSENT), next(iter(known), ""))
        if shape.assumes is not None and number == shape.run:
            self._assumed = shape.assumes
        return (self.id if isinstance(self.id, str) else shape.id) or None, number

    def _picked(self, pick: Callable[[Any], Any], result: object, what: str) -> Any:  # noqa: ANN401 - what a user's function returns
        try:
            return pick(result)
        except (AttributeError, LookupError, TypeError) as error:
            is_pair = _unpaired(result)[1] is not None
            raise SourceTypeError(
                f"id= cannot find the id of {what}: {error}",
                found="a pair of a document and its score" if is_pair else described(result),
                hint="the function is given the pair: its first part is the document" if is_pair else None,
                path=self.where,
            ) from error

    def _of_grades(self, results: Sequence[Any]) -> tuple[str, list[Any]] | None:
        """Return the grades of results without a score, and their name; else keep which numbers every result has."""
        held = [_unpaired(result)[0] for result in results]
        if any(map(is_id, held)):
            return None
        for name in known_forms().judged:
            if any(_member(one, name) is not ABSENT for one in held):
                return None
        for name in _GRADES if self.kind == "run" else ():
            own = [_member(one, name) for one in held]
            if any(_is_grade(one) for one in own):
                return name, [None if one is ABSENT else _plain(one) for one in own]
        if len(held) > 1 or (held and self.kind == "qrels"):
            self._unused.append(set.intersection(*(set(_numbers_in(one, self.kind)) for one in held)))
        return None

    def _warn_of_numbers(self) -> None:
        """Warn of numbers that every result has, and that may be the scores, or the relevance of judgments."""
        names = sorted(set.intersection(*self._unused) - {self.id}) if self._unused else []
        if names:
            value, what = VALUE_COLUMN[self.kind], "is a number" if len(names) == 1 else "are numbers"
            instead = {"run": "rank as they are listed", "qrels": "all count as 1"}[self.kind]
            direction = ", with ascending=True if lower ones are better" if self.kind == "run" else ""
            advice = (
                f"If that is the {value}, call it {value!r}, or write"
                f" {CALL[self.kind]}(results, {value}={names[0]!r}){direction}"
            )
            if self.kind == "qrels" and have_offsets(names):
                advice = GIVE_AS_SPANS
            warnings.warn(
                DeadheatWarning(
                    f"results have no {value} under a known name and {instead}, but {format_list(names)} {what} in"
                    f" every one. {advice}",
                    self.where,
                ),
                stacklevel=2,
            )

    def _once(
        self, texts: Sequence[str], numbers: Sequence[Any], query: object, results: Sequence[Any]
    ) -> dict[str, Any]:
        """Return each document with its number, once."""
        kept = dict(zip(texts, numbers, strict=True))
        if len(kept) < len(texts):
            are_equal = all(kept[doc] == number for doc, number in zip(texts, numbers, strict=True))
            if self.repeated == "error" and self.kind == "qrels" and are_equal:
                self._n_merged += len(texts) - len(kept)
                return kept
            if self.repeated == "error":
                raise self._repeats(texts, numbers, query, results)
            kept = {}
            for doc, number in zip(texts, numbers, strict=True):
                check_number(self.kind, str(query), doc, number, self.where)  # NaN is neither better nor worse
                if doc not in kept or (
                    self.repeated == "best" and (number < kept[doc] if self.lower_first else number > kept[doc])
                ):
                    kept.pop(doc, None)  # so that it has the place of the number that counts
                    kept[doc] = number
        self._n_kept += len(kept)
        self._n_left_out += len(texts) - len(kept)
        return kept

    def _repeats(
        self, texts: Sequence[str], numbers: Sequence[Any], query: object, results: Sequence[Any]
    ) -> DuplicateError:
        is_padded = self.kind == "run" and texts.count(PADDING) > 1
        twice = PADDING if is_padded else next(doc for n, doc in enumerate(texts) if doc in texts[:n])
        places = [place for place, doc in enumerate(texts, 1) if doc == twice]
        advice = _advice_on_indices([results[place - 1] for place in places])
        grades = ""
        if self.kind == "qrels":
            grades = f" with relevance {' and '.join(str(numbers[place - 1]) for place in places[:5])}"
        if is_padded:
            in_python = None
        elif advice:
            in_python = advice
        else:
            in_python = f'write {CALL[self.kind]}(results, repeated="best") for its best result, "first" for the first'
        return DuplicateError(
            f"document {twice!r} comes {len(places)} times for query {query!r}"
            f" (results {', '.join(map(str, places[:5]))}){grades}",
            allowed="once",
            hint=LEAVE_OUT_PADDING if is_padded else None,
            python=in_python,
            path=self.where,
            line=self.line,
        )

    def _no_list(self, given: object, query: object) -> SourceTypeError:
        keys = ", ".join(map(repr, list(given)[:6])) if isinstance(given, Mapping) else ""
        missing = hooks.advice_on_missing("the results of a search library", "objects")
        hints = (
            (isinstance(given, AbstractSet), "a set has no order: give a list, best first"),
            (is_id(given), "write [id] for a single document"),
            (is_result_set(given), "it has the results of several queries: give it alone, or query for one at a time"),
            (bool(missing), missing),
            (isinstance(given, Mapping), f"its keys are {keys}: give the list that is in it"),
        )
        return SourceTypeError(
            found=f"{described(given)} for query {query!r}",
            allowed=LISTS[self.kind],
            hint=next((hint for applies, hint in hints if applies), ""),
            path=self.where,
            line=self.line,
        )

    def _no_id(self, held: object, what: str) -> DataError | SourceTypeError:
        """Return the error for a result whose id is not found, with the line that would work."""
        known = (*COLUMN_NAMES[self.kind]["doc_id"], "id", "_id") if self.id is None else (self.id,)
        paths = _paths_in(held)
        example = next(iter(paths), "")
        if "." not in example and any(value_at(held, path) is None for path in known if isinstance(path, str)):
            return DataError(f"the id of {what} is None", allowed="text or a whole number", path=self.where)
        if self.id is not None:
            place = "id" if callable(self.id) else self.id
            return DataError(f"{what} has no id at {place!r}", hint=_near(place, held), path=self.where)
        if self.kind == "qrels" and _member(held, ANSWERABLE) is not ABSENT:
            return SourceTypeError(
                f"{what} has no id, but says {ANSWERABLE}",
                found=described(held),
                allowed=f"an id, or {ANSWERABLE} in a table with the columns query_id and doc_id",
                hint="in a dict write [], which counts as a query without a relevant document",
                path=self.where,
            )
        likely = [path for path in paths if is_id(value_at(held, path))]  # others would be refused
        if likely:
            advice = f'write {CALL[self.kind]}(results, id="{likely[0]}")'
        else:
            advice = "give the ids themselves"
        if len(likely) > 1:
            advice += f", or another of {', '.join(map(repr, likely[1:7]))}"
        advice = hooks.advice_on_missing("the results of a search library", "objects") or advice
        return SourceTypeError(f"cannot find the id of {what}", found=described(held), hint=advice, path=self.where)


def nested_of(source: Mapping[Any, Any], kind: Kind, where: str) -> Listing:
    """Turn lists, tuples, sets, arrays or single documents by query into a dict of dicts, and say what was assumed.

    Raises
    ------
    SourceTypeError
        The documents of a query have a shape that cannot be read, or another one than those of another query.
    DuplicateError
        A document appears twice.
    """
    reader = Reader(kind, where)
    documents: dict[Any, Any] = {query: reader.documents(given, query) for query, given in source.items()}
    return reader.listing(documents, (*reader.assumed(), *reader.merged()))


def note_of_merged(n_merged: int, example: str = "") -> str:
    """Return the note on judgments of which another one says the same.

    Parameters
    ----------
    n_merged : int
    example : str, default ""
        Which document of which query, in words.

    Examples
    --------
    >>> note_of_merged(2)
    '2 judgments that repeat others are merged'
    """
    judgments = format_count(n_merged, "judgment that repeats another one is", "judgments that repeat others are")
    return f"{judgments} merged{f', as {example}' if example else ''}"


def lists_of_rows(
    rows: Iterable[tuple[int | None, Mapping[str, Any]]], columns: Mapping[str, str], kind: Kind, path: str | Path
) -> Listing:
    """Read rows that have a list of documents each, with or without a list of numbers beside it.

    Parameters
    ----------
    rows : iterable of (int or None, mapping)
        The line of each, and its fields.
    columns : mapping of str to str
        From canonical name to name in the rows.
    kind : {"qrels", "run"}
    path : str or path
        For messages.
    """
    value = columns.get(value_column(columns) or "")
    found: dict[str, Mapping[str, float]] = {}
    reader = Reader(kind, str(path))
    unused = UnusedNumbers(columns)
    for line, row in rows:
        reader.line = line
        query, documents = row.get(columns["query_id"]), row.get(columns["doc_id"])
        if not is_id(query):
            raise DataError(
                f"{columns['query_id']} {query!r:.60} is not an id",
                allowed="text or a whole number",
                path=path,
                line=line,
            )
        if str(query) in found:  # also as 1 and "1"
            raise DuplicateError(f"query {str(query)!r} has two lists", allowed="one", path=path, line=line)
        listed, numbers = results_in(documents, kind), None if value is None else row.get(value)
        if listed is not None and numbers is not None:
            if (in_order := results_in(numbers)) is None or len(in_order) != len(listed):
                raise ColumnError(
                    f"{value} of query {query!r} is not a list of {format_count(len(listed), 'number')}",
                    allowed=f"one for each of {columns['doc_id']}",
                    path=path,
                    line=line,
                )
            scores = [_of_rank(one, query, path, line) for one in in_order] if "rank" in columns else in_order
            listed = list(zip(listed, scores, strict=True))
        if kind == "run" and value is None and listed:
            unused.look_at(row, len(listed))
        found[str(query)] = reader.documents(documents if listed is None else listed, query)
    assumed = reader.assumed()
    unused.warn(str(path))
    if "rank" in columns and not assumed:
        return Listing(found, (RANKED_BY_COLUMN,))
    return reader.listing(found, (*assumed, *reader.merged()))


class UnusedNumbers:
    """Columns with a number for each retrieved document, which may be their scores.

    Parameters
    ----------
    columns : mapping of str to str
        Those that are read, from canonical name to name in the rows.
    """

    def __init__(self, columns: Mapping[str, str]) -> None:
        self.columns = columns
        self.names: set[str] | None = None  # None before the first row

    def look_at(self, row: Mapping[str, Any], n_documents: int) -> None:
        """Keep the columns that have so many numbers in this row, too."""
        if self.names is None:
            self.names = {*row} - {*self.columns.values()} - NO_SCORES
        for name in [*self.names]:
            numbers = results_in(row.get(name))
            if numbers is None or len(numbers) != n_documents or not all(map(_is_grade, numbers)):
                self.names.remove(name)

    def warn(self, where: str) -> None:
        """Warn the user of columns that had numbers in all rows."""
        if self.names:
            name = min(self.names)
            warnings.warn(
                DeadheatWarning(
                    f"the results of each query have no scores and rank as they are listed, but {name!r} has a number"
                    f" for each of {self.columns['doc_id']!r}. If these are the scores, give"
                    f" columns={{'score': {name!r}}} (--columns run.score={name}), and ascending=True (--ascending) if"
                    " lower ones are better",
                    where,
                ),
                stacklevel=2,
            )


def _of_rank(rank: Any, query: object, path: str | Path, line: int | None) -> float:  # noqa: ANN401 - checked here
    """Return the score that a rank counts as."""
    if is_number(rank) and 1 <= rank < math.inf and rank % 1 == 0:
        return -float(rank)
    raise DataError(f"rank for query {query!r} is {rank!r:.40}", allowed="a whole number from 1", path=path, line=line)


def results_in(given: object, kind: Kind = "run") -> Sequence[Any] | None:
    """Return the list of results in what a search returned for one query; None if there is none in an order.

    Judgments may be a single id, or a set.

    Examples
    --------
    >>> results_in({"took": 3, "hits": {"hits": [{"_id": "d1"}]}})
    [{'_id': 'd1'}]
    """
    if kind == "qrels" and (is_id(given) or isinstance(given, AbstractSet)):
        return sorted(given, key=str) if isinstance(given, AbstractSet) else [given]
    if given is None or isinstance(given, str | bytes | list | tuple):
        return given if isinstance(given, list | tuple) else None
    to_list = getattr(given, "tolist", None) or getattr(given, "to_list", None)  # arrays, Series
    if callable(to_list) and getattr(given, "ndim", 1) == 1:
        return list(to_list())
    lists = lists_of_queries(given, "results")
    if lists is not None:
        return lists[0] if len(lists) == 1 else None
    for path in known_forms().holders:
        held = value_at(given, path)
        if isinstance(held, list | tuple):
            return held
    return list(given) if isinstance(given, Iterable) and not isinstance(given, Collection) else None


def _advice_on_indices(results: Sequence[object]) -> str:
    """Return what to write where results with one id are from several indices; empty where they are from one."""
    for shape in known_forms().shapes:
        if shape.within:
            indices = sorted({str(value_at(result, shape.within)) for result in results})
            if len(indices) > 1:
                new_id = f"id=lambda hit: hit[{shape.within!r}] + '/' + hit[{shape.id!r}]"
                return f"it is in {', '.join(indices)}: write {new_id}"
    return ""


def is_result_set(given: object) -> bool:
    """Tell whether this is what a search for several queries returned as one object, as that of Chroma."""
    return any(one.matches(given) for one in known_forms().result_sets)


def lists_of_queries(given: Any, where: str) -> list[list[dict[str, Any]]] | None:  # noqa: ANN401 - anything
    """Return the results of each query in what a search for several queries returned; None of other objects."""
    for one in known_forms().result_sets:
        if one.matches(given):
            return one.lists(given, where)
    return None


def value_at(held: object, path: str) -> Any:  # noqa: ANN401 - whatever is there
    """Return what a dotted path of keys and attributes leads to, an empty one to the object; a key may have dots.

    Examples
    --------
    >>> value_at({"metadata": {"doc.id": "d1"}}, "metadata.doc.id")
    'd1'
    """
    if not path:
        return held
    found = _member(held, path)
    head, dot, rest = path.partition(".")
    if found is not ABSENT or not dot:
        return found
    inner = _member(held, head)
    return ABSENT if inner is ABSENT else value_at(inner, rest)


def _member(held: object, name: str) -> Any:  # noqa: ANN401 - whatever is there
    return held.get(name, ABSENT) if isinstance(held, Mapping) else getattr(held, name, ABSENT)


def _unpaired(result: object) -> tuple[object, object]:
    """Return an object and its number, of a pair of both; else the object and None."""
    if isinstance(result, tuple | list) and len(result) == 2:
        is_text = isinstance(result[1], str) and not hasattr(result, "_fields")  # a grade, or what is reported as none
        if is_text or is_numeric(result[1]):
            return result[0], result[1]
    return result, None


def _is_grade(held: object) -> bool:
    """Return whether a value is a number, or text as of language models that grade: 8, "8" or "8/10"."""
    is_text = isinstance(held, str) and _GRADE.fullmatch(held) is not None
    return is_text or (is_numeric(held) and not isinstance(held, bool))


def _numbers_in(held: object, kind: Kind) -> Iterator[str]:
    """Yield the paths in a result to numbers that may be its score; in its metadata those of known names."""
    names = COLUMN_NAMES["run"]
    if kind == "run":
        known = (*names["score"], *_GRADES, *DISTANCES)
        others = {*known_forms().no_scores, *ALL_OFFSETS, *names["doc_id"], *names["rank"], "id"}
    else:
        known = COLUMN_NAMES["qrels"]["relevance"]
        others = {*known_forms().no_scores, *names["doc_id"], *names["rank"], "id", *names["score"], *DISTANCES}
    paths = names_in(held)
    for inner in known_forms().places_of_scores:
        if _member(held, inner) is not ABSENT:
            paths += [f"{inner}.{name}" for name in known]
    for path in paths:
        if path not in others and _is_grade(value_at(held, path)):
            yield path


def is_numeric(held: object) -> bool:
    """Return whether a value is a number, perhaps in an array or tensor without dimensions."""
    return isinstance(held, Real | Decimal) or (hasattr(held, "__float__") and getattr(held, "ndim", 1) == 0)


def _plain(number: Any) -> Any:  # noqa: ANN401 - checked with all numbers
    """Return a number of another library as Python's."""
    if type(number) in _PLAIN:
        return number
    if isinstance(number, Integral):
        return int(number)
    is_longer = isinstance(number, Rational | Decimal | np.longdouble)  # refused later where float64 would merge it
    return float(number) if is_numeric(number) and not is_longer else number


def _order_of(numbers: Sequence[Any]) -> ListOrder | Literal["mixed"] | None:
    """Return the order of numbers; None where all are equal, or some are not numbers."""
    if not all(issubclass(kind, Real) for kind in {*map(type, numbers)}):
        return None
    first, last = numbers[0], numbers[-1]
    if first < last and sorted(numbers) == numbers:
        return "rise"
    if first > last and sorted(numbers, reverse=True) == numbers:
        return "fall"
    return "mixed" if min(numbers) < max(numbers) else None


def _by_names(held: object, kind: Kind) -> Shape:
    """Return the shape of a result whose parts have names that tables have too, or ``id``; those that it has."""
    names = COLUMN_NAMES[kind]
    ids = () if is_id(held) else (*names["doc_id"], "id")  # text has methods of such names
    one_id = next((name for name in ids if is_id(_member(held, name))), "")
    # the score of a result is no relevance
    numbers = [name for name in names[VALUE_COLUMN[kind]] if kind == "run" or name != "score"]
    number = next((name for name in numbers if _member(held, name) is not ABSENT), "")
    return Shape((), one_id, run=number, qrels=number)  # of which that of the kind counts


def names_in(held: object) -> list[str]:
    """Return the keys or public attributes of a result that are no methods."""
    if isinstance(held, Mapping):
        return [name for name in held if isinstance(name, str)]
    if is_id(held) or held is None or isinstance(held, Real | list | tuple):
        return []
    return [name for name in getattr(held, "__dict__", {}) if not name.startswith("_")]


def _paths_in(held: object) -> list[str]:
    """Return the paths in a result that may lead to its id, the likeliest first."""
    names = names_in(held)
    inner = []
    for place in known_forms().places_of_ids:
        if place in names:
            inner += [f"{place}.{name}" for name in names_in(_member(held, place))]
    return [*inner, *names]


def _near(path: str, held: object) -> str:
    """Return ``Did you mean ...?`` for a path that leads nowhere, or the paths that are there."""
    paths = _paths_in(held)
    return did_you_mean(path, paths) or (f"it has {', '.join(map(repr, paths[:6]))}" if paths else "")


def described(held: object, limit: int = 60) -> str:
    """Return what an object is, for a message: its type, and how it shows itself, cut.

    Examples
    --------
    >>> described(1.5), described({1, 2}), described("x" * 99, 9)
    ('float 1.5', 'set {1, 2}', "str 'xxxxxxxx...")
    """
    text = repr(held)
    text = text if len(text) <= limit else f"{text[:limit]}..."
    name = type(held).__name__
    return text if text.startswith(name) else f"{name} {text}"
