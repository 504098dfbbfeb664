"""The documents of each query as lists, as search libraries return them or users write them: known by their form.

No library is imported. A list holds ids, pairs of an id and a number, or results, of which the forms that plugins
register and the names of columns say where their id and number are.
"""

import warnings
from collections.abc import Callable, Mapping, Sequence, Set as AbstractSet
from dataclasses import dataclass, field
from numbers import Real
from typing import Any, Literal, get_args

from deadheat.core import hooks
from deadheat.core.checks import check_choice
from deadheat.core.errors import ABSENT, DataError, DeadheatWarning, DuplicateError, ParameterError, SourceTypeError
from deadheat.core.io.columns import have_offsets
from deadheat.core.io.forms import known_forms
from deadheat.core.io.ids import ids_to_text, is_id
from deadheat.core.io.kinds import ANSWERABLE, COLUMN_NAMES, DISTANCES, EITHER_WAY, GIVE_AS_SPANS, VALUE_COLUMN, Kind
from deadheat.core.io.nested import Nested
from deadheat.core.io.notes import Notes, Ranked
from deadheat.core.io.result_parts import (
    GRADES,
    PADDING,
    describe_near_paths,
    describe_object,
    find_numbers,
    find_results,
    get_at_path,
    get_member,
    guess_shape,
    is_grade,
    is_result_set,
    list_paths,
    split_pair,
    split_result_set,
    to_python_number,
)
from deadheat.core.io.values import check_number
from deadheat.core.wording import format_count, format_list

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
        lists = split_result_set(results, self.where)
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
        ids_to_text(list(self._ids.values()), self.where)  # raises for a mix of both
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
        return (note_merged_judgments(self._n_merged),) if self._n_merged else ()

    def documents(self, given: object, query: object) -> Mapping[str, Any]:
        """Return the documents of one query; in a ranked list their number is minus the rank, of judgments it is 1."""
        results = find_results(given, self.kind)
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
        return self._once(ids_to_text(docs, self.where), numbers, query, results)

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
                return [one[0] for one in results], [to_python_number(one[1]) for one in results]
        parts = [self._part(result, query, place) for place, result in enumerate(results, 1)]
        return [doc for doc, _ in parts], [number for _, number in parts]

    def _part(self, result: object, query: object, place: int) -> tuple[Any, Any]:
        """Return the id and the number of one result; None for a number that is not there."""
        held, paired = split_pair(result)
        key = (type(held), tuple(held if isinstance(held, dict) else getattr(held, "__dict__", ())))
        if key not in self._paths:
            self._paths[key] = self._find_paths(held)
        id_path, number_path = self._paths[key]
        what = f"result {place} for query {query!r}"
        if callable(self.id):
            doc = self._picked(self.id, result, what)
        else:
            doc = ABSENT if id_path is None else get_at_path(held, id_path)
        if doc is ABSENT or doc is None:
            raise self._no_id(held, what)
        if not is_id(doc):
            raise SourceTypeError(
                f"the id of {what} is not an id",
                found=describe_object(doc),
                allowed="text or a whole number",
                path=self.where,
            )
        if callable(self.number):
            return doc, to_python_number(self.number(result))
        number = paired if paired is not None and self.number is None else ABSENT
        if number is ABSENT and number_path:
            number = get_at_path(held, number_path)
        if number is not ABSENT:
            return doc, to_python_number(number)
        if self.number is not None:
            raise DataError(
                f"{what} has no {VALUE_COLUMN[self.kind]} at {self.number!r}",
                hint=describe_near_paths(self.number, held),
                path=self.where,
            )
        if self.kind == "run":
            self._refuse_distance(held)
        return doc, None

    def _refuse_distance(self, held: object) -> None:
        """Raise for a result with a distance and no score: only the user knows whether lower ones are better."""
        name = next((name for name in DISTANCES if get_member(held, name) is not ABSENT), "")
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
        by_names = guess_shape(held, self.kind)
        shapes = known_forms().shapes
        shape = next((one for one in shapes if all(get_member(held, name) is not ABSENT for name in one.has)), by_names)
        paths = [getattr(shape, self.kind), getattr(by_names, self.kind)] if self.number is None else [self.number]
        known = [path for path in paths if isinstance(path, str) and path]
        # the first, unless another is there: inside, each differs
        number = next((path for path in known if get_at_path(held, path) is not ABSENT), next(iter(known), ""))
        if shape.assumes is not None and number == shape.run:
            self._assumed = shape.assumes
        return (self.id if isinstance(self.id, str) else shape.id) or None, number

    def _picked(self, pick: Callable[[Any], Any], result: object, what: str) -> Any:  # noqa: ANN401 - what a user's function returns
        try:
            return pick(result)
        except (AttributeError, LookupError, TypeError) as error:
            is_pair = split_pair(result)[1] is not None
            raise SourceTypeError(
                f"id= cannot find the id of {what}: {error}",
                found="a pair of a document and its score" if is_pair else describe_object(result),
                hint="the function is given the pair: its first part is the document" if is_pair else None,
                path=self.where,
            ) from error

    def _of_grades(self, results: Sequence[Any]) -> tuple[str, list[Any]] | None:
        """Return the grades of results without a score, and their name; else keep which numbers every result has."""
        held = [split_pair(result)[0] for result in results]
        if any(map(is_id, held)):
            return None
        for name in known_forms().judged:
            if any(get_member(one, name) is not ABSENT for one in held):
                return None
        for name in GRADES if self.kind == "run" else ():
            own = [get_member(one, name) for one in held]
            if any(is_grade(one) for one in own):
                return name, [None if one is ABSENT else to_python_number(one) for one in own]
        if len(held) > 1 or (held and self.kind == "qrels"):
            self._unused.append(set.intersection(*(set(find_numbers(one, self.kind)) for one in held)))
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
            found=f"{describe_object(given)} for query {query!r}",
            allowed=LISTS[self.kind],
            hint=next((hint for applies, hint in hints if applies), ""),
            path=self.where,
            line=self.line,
        )

    def _no_id(self, held: object, what: str) -> DataError | SourceTypeError:
        """Return the error for a result whose id is not found, with the line that would work."""
        known = (*COLUMN_NAMES[self.kind]["doc_id"], "id", "_id") if self.id is None else (self.id,)
        paths = list_paths(held)
        example = next(iter(paths), "")
        if "." not in example and any(get_at_path(held, path) is None for path in known if isinstance(path, str)):
            return DataError(f"the id of {what} is None", allowed="text or a whole number", path=self.where)
        if self.id is not None:
            place = "id" if callable(self.id) else self.id
            return DataError(f"{what} has no id at {place!r}", hint=describe_near_paths(place, held), path=self.where)
        if self.kind == "qrels" and get_member(held, ANSWERABLE) is not ABSENT:
            return SourceTypeError(
                f"{what} has no id, but says {ANSWERABLE}",
                found=describe_object(held),
                allowed=f"an id, or {ANSWERABLE} in a table with the columns query_id and doc_id",
                hint="in a dict write [], which counts as a query without a relevant document",
                path=self.where,
            )
        likely = [path for path in paths if is_id(get_at_path(held, path))]  # others would be refused
        if likely:
            advice = f'write {CALL[self.kind]}(results, id="{likely[0]}")'
        else:
            advice = "give the ids themselves"
        if len(likely) > 1:
            advice += f", or another of {', '.join(map(repr, likely[1:7]))}"
        advice = hooks.advice_on_missing("the results of a search library", "objects") or advice
        return SourceTypeError(
            f"cannot find the id of {what}", found=describe_object(held), hint=advice, path=self.where
        )


def read_lists(source: Mapping[Any, Any], kind: Kind, where: str) -> Listing:
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


def note_merged_judgments(n_merged: int, example: str = "") -> str:
    """Return the note on judgments of which another one says the same.

    Parameters
    ----------
    n_merged : int
    example : str, default ""
        Which document of which query, in words.

    Examples
    --------
    >>> note_merged_judgments(2)
    '2 judgments that repeat others are merged'
    """
    judgments = format_count(n_merged, "judgment that repeats another one is", "judgments that repeat others are")
    return f"{judgments} merged{f', as {example}' if example else ''}"


def _advice_on_indices(results: Sequence[object]) -> str:
    """Return what to write where results with one id are from several indices; empty where they are from one."""
    for shape in known_forms().shapes:
        if shape.within:
            indices = sorted({str(get_at_path(result, shape.within)) for result in results})
            if len(indices) > 1:
                new_id = f"id=lambda hit: hit[{shape.within!r}] + '/' + hit[{shape.id!r}]"
                return f"it is in {', '.join(indices)}: write {new_id}"
    return ""


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
