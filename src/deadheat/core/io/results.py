"""The documents of each query as lists, as search libraries return them or users write them: known by their form.

No library is imported. A list holds ids, pairs of an id and a number, or results, of which the forms that plugins
register and the names of columns say where their id and number are.
"""

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from deadheat.core.errors import ABSENT, DataError, DeadheatWarning, ParameterError, SourceTypeError
from deadheat.core.io.columns import have_offsets
from deadheat.core.io.duplicates import MERGING, check_rule, get_merging, note_left_out
from deadheat.core.io.forms import Shape, known_forms
from deadheat.core.io.groups import GroupMember, are_groups, list_groups, looks_graded
from deadheat.core.io.ids import ids_to_text, is_id
from deadheat.core.io.kinds import ADVICE_ON_DISTANCES, DISTANCES, GIVE_AS_SPANS, VALUE_COLUMN, Kind
from deadheat.core.io.list_order import CommonOrder, ListOrder
from deadheat.core.io.nested import Nested
from deadheat.core.io.notes import Notes, Ranked
from deadheat.core.io.object_rows import is_row_type
from deadheat.core.io.result_errors import CALL, make_no_id_error, make_no_list_error, make_repeated_error
from deadheat.core.io.result_parts import (
    GRADES,
    describe_near_paths,
    describe_object,
    find_numbers,
    find_results,
    get_at_path,
    get_member,
    guess_shape,
    is_grade,
    split_pair,
    split_result_set,
    to_python_number,
)
from deadheat.core.io.values import check_number
from deadheat.core.wording import format_count, format_list

# Where a part of a result is: a name, a dotted path of names, or a function of the result
Pick = str | Callable[[Any], Any]


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
        Whether the scores of every list rise from its first result to its last, or fall; None: neither.
    longest : int
        Results of the longest list that has such an order.
    groups : list of GroupMember
        Of relevant documents in groups, which document is in which.
    """

    documents: Nested
    notes: Notes = ()
    order: ListOrder | None = None
    longest: int = 0
    groups: Sequence[GroupMember] = ()


RANKED = Ranked("ranked lists without scores: in strict order, no ties")
RANKED_BY_COLUMN = Ranked("ranked by the column rank, without scores: equal ranks tie")
GROUP = "group"  # what relevant documents in groups have in the place of a relevance
ADVICE_ON_GROUPS = "write [['a'], ['b']] where both documents are needed, [['a', 'b']] where one of them is enough"
ASSUMED: dict[Kind, str | Ranked] = {
    "run": RANKED,
    "qrels": "relevant documents are listed without grades: each has relevance 1",
}


@dataclass(frozen=True)
class _Paths:
    """Where the parts of a result are.

    Attributes
    ----------
    id : str or None
        "" if the result is its id; None if it has none.
    number : str
        "" if it has none.
    """

    id: str | None
    number: str


@dataclass
class Reader:
    """Reads the results of queries as documents with numbers, and keeps what it sees, for notes on all queries.

    Attributes
    ----------
    kind : {"qrels", "run"}
    where : str
        For messages.
    id, number : str or callable, optional
        Where they are in a result, if its form does not say.
    duplicates : {"error", "best", "first", "trust"}
        What to do if a document comes twice: raise, keep its best number, or keep its first place. "trust" raises, too,
        as a list is looked at in any case.
    lower_first : bool
        Whether lower numbers are better.
    line : int or None
        Of the query that is read, for messages.
    """

    kind: Kind
    where: str
    id: Pick | None = None
    number: Pick | None = None
    duplicates: str = "error"
    lower_first: bool = False
    line: int | None = None
    # by the type of a result and its names
    _paths: dict[tuple[type, tuple[Any, ...]], _Paths] = field(default_factory=dict)
    # one id that is text (True), and one that is a number (False)
    _example_ids: dict[bool, Any] = field(default_factory=dict)
    # by the name of the numbers, "" for none: the first query with them
    _first_queries: dict[str, Any] = field(default_factory=dict)
    # what the form of the results says about their numbers
    _note_of_form: Ranked | None = None
    # names of numbers that all results without a known number have; None before the first query with such results
    _unused_names: set[str] | None = None
    _orders: CommonOrder = field(default_factory=CommonOrder)
    _groups: list[GroupMember] = field(default_factory=list)
    _are_all_graded: bool = True  # whether each group looks like a document and its relevance
    _n_merged: int = 0  # judgments that repeat others
    _n_left_out: int = 0  # results that repeat a document
    _n_kept: int = 0

    def __post_init__(self) -> None:
        check_rule(self.duplicates)
        merging = get_merging()
        if self.kind == "run" and merging is not None:
            self.duplicates = merging.duplicates
            self.lower_first = merging.lower_first
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
        notes: list[str | Ranked] = []
        lists = split_result_set(results, self.where)
        if lists is not None:
            results = lists
        if isinstance(results, list) and results and all(isinstance(query_results, list) for query_results in results):
            results = dict(enumerate(results))
            notes.append("queries are called by their place in the list, from 0")
        if not isinstance(results, Mapping):
            hint = f"write {CALL[self.kind]}({{query: results for query, results in zip(queries, all_results)}})"
            if isinstance(results, list) and results and is_row_type(type(results[0])):
                hint = f"write dh.read_{self.kind}(results), as each says its query"
            raise SourceTypeError(
                f"cannot tell queries apart in {type(results).__name__}",
                allowed="a dict {query: results}",
                hint=hint,
            )
        documents: dict[Any, Any] = {}
        for query, query_results in results.items():
            documents[query] = self.read_documents(query_results, query)
        notes += self.note_assumptions()
        notes += self.note_merged()
        return self.make_listing(documents, tuple(notes))

    def make_listing(self, documents: Nested, notes: Notes) -> Listing:
        """Return the documents of all queries with the order of their scores."""
        has_scores = VALUE_COLUMN["run"] in self._first_queries
        if not has_scores or self._orders.order is None:
            return Listing(documents, notes, groups=self._groups)
        return Listing(documents, notes, self._orders.order, self._orders.longest)

    def note_assumptions(self) -> Notes:
        """Return what was assumed of all queries; raise if their documents are given in several ways.

        Warn if all results have a number that was not used.
        """
        ids_to_text(list(self._example_ids.values()), self.where)  # raises for a mix of both
        if len(self._first_queries) > 1:
            (name, query), (other_name, other_query) = sorted(self._first_queries.items(), reverse=True)[:2]
            raise SourceTypeError(
                f"documents for query {query!r} have a {name}, those for {other_query!r} have {other_name or 'none'}",
                allowed="one shape for all queries",
                hint=ADVICE_ON_GROUPS if GROUP in self._first_queries else None,
                path=self.where,
            )
        if self._note_of_form is not None:
            return (self._note_of_form,)
        usual_name = VALUE_COLUMN[self.kind]
        name = next(iter(self._first_queries), usual_name)
        if not name:
            self._warn_of_numbers()
            return (ASSUMED[self.kind],)
        if name == GROUP and self._are_all_graded:
            message = (
                "each group is two texts, of which the second is a small number; if that is the relevance of the first,"
                " write it as a number"
            )
            warnings.warn(DeadheatWarning(message, self.where), stacklevel=2)
        if name in {usual_name, GROUP}:
            return ()
        return (f"the {name} of each result counts as its score",)

    def note_merged(self) -> Notes:
        """Return notes on the judgments that repeat others, and on the results that are left out, if there are any."""
        notes = []
        if self._n_merged:
            notes.append(note_merged_judgments(self._n_merged))
        if self._n_left_out:
            n_results = self._n_left_out + self._n_kept
            notes.append(note_left_out(self._n_left_out, n_results, self.duplicates))
        return tuple(notes)

    def read_documents(self, given: object, query: object) -> Mapping[str, Any]:
        """Return the documents of one query with their numbers.

        If they have none, the number is minus the rank in a run, and 1 in qrels.
        """
        results = find_results(given, self.kind)
        if results is None:
            return self._read_mapping(given, query)
        has_known_form = self.id is None and self.number is None
        if self.kind == "qrels" and has_known_form and are_groups(results):
            return self._read_groups(results, query)
        docs, numbers = self._read_results(results, query)
        name = VALUE_COLUMN[self.kind]
        if self.number is None and not _has_any(numbers):
            name_of_grades = self._find_grades(results)
            if name_of_grades:
                name = name_of_grades
                numbers = _read_grades(results, name)
        self._check_complete(numbers, name, query)
        has_numbers = _has_any(numbers)
        if docs:
            self._keep_form(query, name if has_numbers else "", docs[0])
        if has_numbers and self.kind == "run":
            self._orders.add(numbers)
        if not has_numbers:
            numbers = self._make_numbers(len(docs))
        return self._keep_each_once(ids_to_text(docs, self.where), numbers, results, query)

    def _read_groups(self, results: Sequence[Any], query: object) -> Mapping[str, Any]:
        """Return the documents of a query that are in groups, with the relevance 1, and keep the groups."""
        (query_id,) = ids_to_text([query], self.where)
        documents: dict[str, int] = {}
        groups = list_groups(results, query, self.where, self.line)
        self._are_all_graded = self._are_all_graded and all(map(looks_graded, groups))
        for place, group in enumerate(groups, 1):
            for doc in group:
                documents[doc] = 1
                self._groups.append(GroupMember(query_id, doc, str(place)))
        self._keep_form(query, GROUP, next(iter(documents)))
        return documents

    def _check_complete(self, numbers: Sequence[Any], name: str, query: object) -> None:
        """Raise `DataError` where some results of a query have a number and others have none."""
        if _has_any(numbers) and any(number is None for number in numbers):
            raise DataError(
                f"result {numbers.index(None) + 1} for query {query!r} has no {name}, others have one",
                allowed=f"a {name} for all or for none",
                path=self.where,
            )

    def _make_numbers(self, n_documents: int) -> list[int]:
        """Return the numbers of documents that have none: minus their rank, or the relevance 1."""
        if self.kind == "qrels":
            return [1] * n_documents
        return [-rank for rank in range(1, n_documents + 1)]

    def _read_mapping(self, given: object, query: object) -> Mapping[str, Any]:
        """Return the documents of a query that are a dict with their numbers already."""
        if not isinstance(given, Mapping) or any(isinstance(number, list | Mapping) for number in given.values()):
            raise make_no_list_error(given, query, self.kind, self.where, self.line)
        if given:
            self._keep_form(query, VALUE_COLUMN[self.kind], next(iter(given)))
        return given

    def _keep_form(self, query: object, name: str, doc: object) -> None:
        """Keep how the documents of a query are given: an id, and the name of their numbers ("" if they have none)."""
        self._first_queries.setdefault(name, query)
        if is_id(doc):
            self._example_ids.setdefault(isinstance(doc, str), doc)

    def _read_results(self, results: Sequence[Any], query: object) -> tuple[list[Any], list[Any]]:
        """Return the id and the number of each result; None for a number that is not there."""
        if self.id is None and self.number is None:
            # ids alone, and pairs, need no look for paths
            if all(map(is_id, results)):
                return list(results), [None] * len(results)
            if all(isinstance(pair, tuple | list) and len(pair) == 2 and is_id(pair[0]) for pair in results):
                return [pair[0] for pair in results], [to_python_number(pair[1]) for pair in results]
        docs = []
        numbers = []
        for place, result in enumerate(results, 1):
            what = f"result {place} for query {query!r}"
            item, paired_number = split_pair(result)
            paths = self._get_paths(item)
            docs.append(self._read_id(result, item, paths, what))
            numbers.append(self._read_number(result, item, paired_number, paths, what))
        return docs, numbers

    def _read_id(self, result: object, item: object, paths: _Paths, what: str) -> Any:  # noqa: ANN401 - text or a number
        """Return the id of a result; `item` is the object in a pair of one and a number, else the result itself."""
        doc: Any = ABSENT
        if callable(self.id):
            doc = self._pick_id(self.id, result, what)
        elif paths.id is not None:
            doc = get_at_path(item, paths.id)
        if doc is ABSENT or doc is None:
            raise make_no_id_error(item, what, self.id, self.kind, self.where)
        if not is_id(doc):
            raise SourceTypeError(
                f"the id of {what} is not an id",
                found=describe_object(doc),
                allowed="text or a whole number",
                path=self.where,
            )
        return doc

    def _read_number(self, result: object, item: object, paired_number: object, paths: _Paths, what: str) -> Any:  # noqa: ANN401 - checked with all numbers
        """Return the number of a result; None if it has none."""
        if callable(self.number):
            return to_python_number(self.number(result))
        if paired_number is not None and self.number is None:
            return to_python_number(paired_number)
        if paths.number:
            number = get_at_path(item, paths.number)
            if number is not ABSENT:
                return to_python_number(number)
        if self.number is not None:
            raise DataError(
                f"{what} has no {VALUE_COLUMN[self.kind]} at {self.number!r}",
                hint=describe_near_paths(self.number, item),
                path=self.where,
            )
        if self.kind == "run":
            self._refuse_distance(item)
        return None

    def _refuse_distance(self, item: object) -> None:
        """Raise for a result with a distance and no score: only the user knows whether lower ones are better."""
        for name in DISTANCES:
            if get_member(item, name) is not ABSENT:
                advice = ADVICE_ON_DISTANCES.format(ascending="give ascending=True (--ascending)")
                raise DataError(
                    f"results have a {name} and no score",
                    hint=f"call it 'score'; {advice}",
                    python=f"{CALL['run']}(results, score={name!r}) reads it under its name",
                    path=self.where,
                )

    def _get_paths(self, item: object) -> _Paths:
        """Return where id and number are in results of this form, which is looked for once."""
        names = item if isinstance(item, dict) else getattr(item, "__dict__", ())
        form = (type(item), tuple(names))
        if form not in self._paths:
            self._paths[form] = self._find_paths(item)
        return self._paths[form]

    def _find_paths(self, item: object) -> _Paths:
        """Find where id and number are in a result."""
        if is_id(item) and self.id is None:
            return _Paths("", "")
        by_names = guess_shape(item, self.kind)
        shape = _find_registered_shape(item) or by_names
        candidates: list[object] = [self.number]
        if self.number is None:
            candidates = [getattr(shape, self.kind), getattr(by_names, self.kind)]
        number_paths = [path for path in candidates if isinstance(path, str) and path]
        number_path = _choose_path(item, number_paths)
        if shape.assumes is not None and number_path == shape.run:
            self._note_of_form = shape.assumes
        id_path = self.id if isinstance(self.id, str) else shape.id
        return _Paths(id_path or None, number_path)

    def _pick_id(self, pick: Callable[[Any], Any], result: object, what: str) -> Any:  # noqa: ANN401 - what a user's function returns
        """Return what the user's function takes for the id of a result."""
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

    def _find_grades(self, results: Sequence[Any]) -> str:
        """Return the name of the grades by which results without a score are ranked; "" if there are none.

        If there are none, keep the names of their other numbers, to warn of them at the end.
        """
        items = [split_pair(result)[0] for result in results]
        if any(map(is_id, items)):
            return ""
        for name in known_forms().judged:
            if any(get_member(item, name) is not ABSENT for item in items):
                return ""  # its numbers judge it
        if self.kind == "run":
            for name in GRADES:
                if any(is_grade(get_member(item, name)) for item in items):
                    return name
        # a single result in a list says nothing: any of its numbers may be a score
        if len(items) > 1 or (items and self.kind == "qrels"):
            for item in items:
                self._keep_unused(set(find_numbers(item, self.kind)))
        return ""

    def _keep_unused(self, names: set[str]) -> None:
        """Keep the names of numbers that this result has as well as all results before it."""
        if self._unused_names is None:
            self._unused_names = names
        else:
            self._unused_names &= names

    def _warn_of_numbers(self) -> None:
        """Warn of numbers that every result has, and that may be the scores, or the relevance of judgments."""
        names = sorted((self._unused_names or set()) - {self.id})
        if not names:
            return
        value = VALUE_COLUMN[self.kind]
        are_numbers = "is a number" if len(names) == 1 else "are numbers"
        advice = f"If that is the {value}, call it {value!r}, or write {CALL[self.kind]}(results, {value}={names[0]!r})"
        if self.kind == "run":
            consequence = "rank as they are listed"
            advice += ", with ascending=True if lower ones are better"
        else:
            consequence = "all count as 1"
            if have_offsets(names):
                advice = GIVE_AS_SPANS
        message = (
            f"results have no {value} under a known name and {consequence}, but {format_list(names)} {are_numbers} in"
            f" every one. {advice}"
        )
        warnings.warn(DeadheatWarning(message, self.where), stacklevel=2)

    def _keep_each_once(
        self, docs: Sequence[str], numbers: Sequence[Any], results: Sequence[Any], query: object
    ) -> dict[str, Any]:
        """Return each document with its number, once."""
        number_of_doc = dict(zip(docs, numbers, strict=True))
        n_repeated = len(docs) - len(number_of_doc)
        if n_repeated and self.duplicates not in MERGING:
            are_equal = all(number_of_doc[doc] == number for doc, number in zip(docs, numbers, strict=True))
            if self.kind == "qrels" and are_equal:
                self._n_merged += n_repeated
                return number_of_doc
            raise make_repeated_error(docs, numbers, results, query, kind=self.kind, where=self.where, line=self.line)
        if n_repeated:
            number_of_doc = self._choose_numbers(docs, numbers, query)
        self._n_kept += len(number_of_doc)
        self._n_left_out += n_repeated
        return number_of_doc

    def _choose_numbers(self, docs: Sequence[str], numbers: Sequence[Any], query: object) -> dict[str, Any]:
        """Return each document with its best number or its first, at the place of that number."""
        chosen: dict[str, Any] = {}
        for doc, number in zip(docs, numbers, strict=True):
            check_number(self.kind, str(query), doc, number, self.where)  # NaN is neither better nor worse
            if doc not in chosen:
                chosen[doc] = number
            elif self.duplicates == "best" and self._is_better(number, chosen[doc]):
                del chosen[doc]  # so that it goes to the end
                chosen[doc] = number
        return chosen

    def _is_better(self, number: Any, other: Any) -> bool:  # noqa: ANN401 - checked numbers
        return bool(number < other) if self.lower_first else bool(number > other)


def _has_any(numbers: Sequence[Any]) -> bool:
    return any(number is not None for number in numbers)


def _find_registered_shape(item: object) -> Shape | None:
    """Return the first shape, of those that plugins register, whose keys or attributes a result has."""
    for shape in known_forms().shapes:
        if all(get_member(item, name) is not ABSENT for name in shape.has):
            return shape
    return None


def _choose_path(item: object, paths: Sequence[str]) -> str:
    """Return the first path that leads to something; else the first, as results of one form may differ inside."""
    for path in paths:
        if get_at_path(item, path) is not ABSENT:
            return path
    return paths[0] if paths else ""


def _read_grades(results: Sequence[Any], name: str) -> list[Any]:
    """Return the grade of each result, under one name; None where it is not there."""
    grades: list[Any] = []
    for result in results:
        item, _ = split_pair(result)
        grade = get_member(item, name)
        grades.append(None if grade is ABSENT else to_python_number(grade))
    return grades


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
    documents: dict[Any, Any] = {query: reader.read_documents(given, query) for query, given in source.items()}
    assumptions = reader.note_assumptions()
    return reader.make_listing(documents, (*assumptions, *reader.note_merged()))


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
    if example:
        return f"{judgments} merged, as {example}"
    return f"{judgments} merged"
