"""Results as search libraries return them, recognised by their form: no library is imported."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import pairwise
from numbers import Integral, Rational, Real
from typing import Any, Literal, get_args

from deadheat.errors import DataError, DeadheatWarning, DuplicateError, ParameterError, SourceTypeError
from deadheat.io.kinds import VALUE_COLUMN, Kind, names_of
from deadheat.io.mappings import Nested, is_id, text_of_ids
from deadheat.wording import Plain, counted, did_you_mean, three

Repeated = Literal["error", "best", "first"]
Pick = str | Callable[[Any], Any]
"""Where a part of a result is: a name, a dotted path of names, or a function of the result."""

_MISSING: Any = object()
_PLAIN = {float, int, bool, str, type(None)}
CALL: dict[Kind, str] = {"run": "dh.Run.of_results", "qrels": "dh.Qrels.of_results"}
# Elasticsearch's response, plain or in its client's object; its hits; Haystack, Solr, LlamaIndex, Qdrant, others.
_LISTS = ("hits.hits", "body.hits.hits", "hits", "documents", "response.docs", "source_nodes", "points", "results")
_WHERE_IDS_ARE = ("metadata", "meta", "payload", "document", "_source")  # LangChain, Haystack, Qdrant, and others


_DISTANCE = "distance"  # of Chroma, Milvus and others; as scores, the farthest would rank first
_GRADES = ("grade", "rating", "relevance", "confidence")  # of a language model: scores of results that have no other
_GRADE = re.compile(r"\s*[0-9]+(\.[0-9]+)?\s*(/\s*[0-9]+\s*)?", re.ASCII)  # "8", "8/10"
_JUDGED = "hit"  # in a response of _rank_eval, beside its rating, which is no score


@dataclass(frozen=True)
class Shape:
    """The form of one library's results.

    Attributes
    ----------
    has : tuple of str
        Keys or attributes that every such result has.
    id : str
        Path of the document's id.
    numbers : dict of str to str
        Path of the score and of the relevance, by kind; without one there are none.
    """

    has: tuple[str, ...]
    id: str
    numbers: Mapping[Kind, str]

    def fits(self, result: object) -> bool:
        """Return whether a result has this form."""
        return all(_member(result, name) is not _MISSING for name in self.has)


SHAPES = (
    Shape((_JUDGED,), "hit._id", {"run": "hit._score", "qrels": "rating"}),  # in a response of _rank_eval
    Shape(("_id",), "_id", {"run": "_score", "qrels": "rating"}),  # Elasticsearch, OpenSearch
    Shape(("docId", "rating"), "docId", {"qrels": "rating"}),  # OpenSearch's judgments
    Shape(("corpus_id",), "corpus_id", {"run": "score", "qrels": "score"}),  # sentence-transformers, BEIR
    Shape(("node",), "node.node_id", {"run": "score"}),  # LlamaIndex
    Shape(("node_id",), "node_id", {}),
    Shape(("page_content", "metadata"), "id", {}),  # LangChain
)


@dataclass(frozen=True)
class Layout:
    """Where the parts of results of one form are, each None if it is not there.

    Attributes
    ----------
    id, number : callable or None
    """

    id: Callable[[Any], Any] | None
    number: Callable[[Any], Any] | None


@dataclass(frozen=True)
class Documents:
    """The documents of one query.

    Attributes
    ----------
    numbers : dict of str to float
        By document, in the order given. In a ranked list, minus the rank; of judged documents without a relevance, 1.
    has_numbers : bool
        Whether these were given.
    n_left_out : int
        Results whose document is there already.
    rises : bool or None
        Whether the numbers only rise from result to result; None if all are equal.
    """

    numbers: dict[str, float]
    has_numbers: bool
    n_left_out: int = 0
    rises: bool | None = None


@dataclass(frozen=True)
class Reader:
    """How the results of a query become documents with numbers.

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
    """

    kind: Kind
    where: str
    id: Pick | None = None
    number: Pick | None = None
    repeated: Repeated = "error"
    lower_first: bool = False
    _layouts: dict[tuple[type, tuple[Any, ...]], Layout] = field(default_factory=dict, compare=False, repr=False)
    _ids: dict[bool, Any] = field(default_factory=dict, compare=False, repr=False)  # that are text or not, one of each
    _found: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)  # the first query of each `saw`
    _unused: list[set[str]] = field(default_factory=list, compare=False, repr=False)  # numbers of queries without any

    def __post_init__(self) -> None:
        if self.repeated not in get_args(Repeated):
            raise ParameterError(argument="repeated", given=self.repeated, allowed=get_args(Repeated))
        picks: dict[str, Any] = {"id": self.id, VALUE_COLUMN[self.kind]: self.number}
        for argument, pick in picks.items():
            if not (pick is None or isinstance(pick, str) or callable(pick)):
                allowed = "a name, a dotted path, or a function of one result"
                raise ParameterError(argument=argument, given=pick, allowed=allowed)

    def nested(self, results: object) -> tuple[Nested, tuple[str, ...]]:
        """Return the documents of all queries, and what was assumed.

        Raises
        ------
        SourceTypeError
            The results have no known form.
        DuplicateError
            A document comes twice.
        """
        found = {query: self.documents(given, query) for query, given in self._by_query(results).items()}
        assumed = self.assumed()
        trends = {one.rises for one in found.values() if one.has_numbers} - {None}
        if VALUE_COLUMN["run"] in self._found and trends == {True} and not self.lower_first:  # grades are no distances
            _warn_of_distances(self.where)
        notes = () if isinstance(results, Mapping) else (BY_PLACE,)
        notes = (*notes, *assumed, *self._left_out(found.values()))
        return {query: one.numbers for query, one in found.items()}, notes

    def saw(self, query: object, number: str, doc: object = None) -> None:
        """Keep how the documents of a query are given: the name of their numbers, empty without any; and an id."""
        self._found.setdefault(number, query)
        if is_id(doc):
            self._ids.setdefault(isinstance(doc, str), doc)

    def assumed(self) -> tuple[str, ...]:
        """Return what was assumed of all queries; raise if they are given in several ways, warn of unused numbers."""
        text_of_ids(list(self._ids.values()), self.where)  # raises for a mix of both
        if len(self._found) > 1:
            (name, query), (other, without) = sorted(self._found.items(), reverse=True)[:2]
            problem = f"documents for query {query!r} have a {name}, those for {without!r} have {other or 'none'}"
            raise SourceTypeError(problem, allowed="one shape for all queries", path=self.where)
        name = next(iter(self._found), VALUE_COLUMN[self.kind])
        if not name:
            self._warn_of_numbers()
            return (ASSUMED[self.kind],)
        return () if name == VALUE_COLUMN[self.kind] else (f"the {name} of each result counts as its score",)

    def documents(self, given: object, query: object) -> Documents:
        """Return the documents of one query."""
        results = results_in(given)
        if results is None:
            raise self._no_list(given, query)
        parts = [self._part(result, query, place) for place, result in enumerate(results, 1)]
        texts = text_of_ids([doc for doc, _ in parts], self.where)
        name, numbers = VALUE_COLUMN[self.kind], [number for _, number in parts]
        if self.number is None and all(number is None for number in numbers):
            name, numbers = self._of_grades(results) or (name, numbers)
        n_numbers = sum(number is not None for number in numbers)
        if n_numbers not in (0, len(parts)):
            place = next(place for place, number in enumerate(numbers, 1) if number is None)
            problem = f"result {place} for query {query!r} has no {name}, others have one"
            raise DataError(problem, allowed=f"a {name} for all or for none", path=self.where)
        if parts:
            self.saw(query, name if n_numbers else "", parts[0][0])
        if not n_numbers:
            numbers = [-place for place in range(1, len(parts) + 1)] if self.kind == "run" else [1] * len(parts)
        kept = self._once(texts, numbers, query, results)
        return Documents(kept, bool(n_numbers), len(parts) - len(kept), _rises(numbers))

    def _of_grades(self, results: Sequence[Any]) -> tuple[str, list[Any]] | None:
        """Return the grades of results without a score, and their name; else keep which numbers every result has."""
        held = [_unpaired(result)[0] for result in results]
        if any(is_id(one) or _member(one, _JUDGED) is not _MISSING for one in held):
            return None
        for name in _GRADES if self.kind == "run" else ():
            own = [_member(one, name) for one in held]
            if any(_is_grade(one) for one in own):
                return name, [None if one is _MISSING else _plain(one) for one in own]
        if len(held) > 1 or (held and self.kind == "qrels"):
            self._unused.append(set.intersection(*(set(_numbers_in(one, self.kind)) for one in held)))
        return None

    def _warn_of_numbers(self) -> None:
        """Warn of numbers that every result has, and that may be the scores, or the relevance of judgments."""
        names = sorted(set.intersection(*self._unused) - {self.id}) if self._unused else []
        if not names:
            return
        value, what = VALUE_COLUMN[self.kind], "is a number" if len(names) == 1 else "are numbers"
        instead = {"run": "rank as they are listed", "qrels": "all count as 1"}[self.kind]
        message = (
            f"{self.where}: results have no {value} under a known name and {instead}, but {three(names)} {what} in"
            f" every one. If that is the {value}, call it {value!r}, or write"
            f" {CALL[self.kind]}(results, {value}={names[0]!r})"
        )
        warnings.warn(message, DeadheatWarning, stacklevel=2)

    def _by_query(self, results: object) -> Mapping[Any, Any]:
        if isinstance(results, Mapping):
            return results
        if isinstance(results, list) and results and all(isinstance(one, list) for one in results):
            return dict(enumerate(results))  # as semantic_search returns them
        raise SourceTypeError(
            f"cannot tell queries apart in {type(results).__name__}",
            allowed="a dict {query: results}",
            hint=f"write {CALL[self.kind]}({{query: results for query, results in zip(queries, all_results)}})",
        )

    def _part(self, result: object, query: object, place: int) -> tuple[Any, Any]:
        """Return the id and the number of one result; None for a number that is not there."""
        held, paired = _unpaired(result)
        key = (type(held), tuple(held if isinstance(held, dict) else getattr(held, "__dict__", ())))
        layout = self._layouts.get(key)
        if layout is None:
            layout = self._layouts[key] = self._layout(held)
        pick = layout.id
        if callable(self.id):
            doc = self._picked(self.id, result, query, place)
        else:
            doc = _MISSING if pick is None else pick(held)
        if doc is _MISSING or doc is None:
            raise self._no_id(held, query, place)
        if not is_id(doc):
            problem = f"the id of result {place} for query {query!r} is no id"
            given = Plain(described(doc))
            raise SourceTypeError(problem, given=given, allowed="text or a whole number", path=self.where)
        if callable(self.number):
            return doc, _plain(self.number(result))
        if paired is not None and self.number is None:
            return doc, _plain(paired)
        number = _MISSING if layout.number is None else layout.number(held)
        if number is not _MISSING:
            return doc, _plain(number)
        if self.number is None:
            self._refuse_distance(held)
            return doc, None
        problem = f"result {place} for query {query!r} has no {VALUE_COLUMN[self.kind]} at {self.number!r}"
        raise DataError(problem, hint=_near(held, self.number), path=self.where)

    def _picked(self, pick: Callable[[Any], Any], result: object, query: object, place: int) -> Any:  # noqa: ANN401 - what a user's function returns
        """Return the id that a user's function finds in a result."""
        try:
            return pick(result)
        except (AttributeError, LookupError, TypeError) as error:
            problem = f"id= cannot find the id of result {place} for query {query!r}: {error}"
            held, paired = _unpaired(result)
            if paired is None:
                raise SourceTypeError(problem, given=Plain(described(result)), path=self.where) from error
            example = _where_id_is(held)
            hint = f'the function is given the pair: write id=lambda one: {_as_code(held, example)}, or id="{example}"'
            raise SourceTypeError(problem, given=Plain("a pair of a document and its score"), hint=hint) from error

    def _refuse_distance(self, held: object) -> None:
        if self.kind == "run" and _member(held, _DISTANCE) is not _MISSING:
            line = f'{CALL["run"]}(results, score="{_DISTANCE}", ascending=True)'
            raise DataError("results have a distance and no score", hint=f"write {line}", path=self.where)

    def _layout(self, held: object) -> Layout:
        """Return where the parts are in results of this form."""
        if is_id(held) and self.id is None:
            return Layout(lambda one: one, None)
        by_names = _by_names(held, self.kind)
        shape = next((one for one in SHAPES if one.fits(held)), by_names)
        paths = [self.number] if self.number else [shape.numbers.get(self.kind), by_names.numbers.get(self.kind)]
        known = [
            path for path in paths if isinstance(path, str)
        ]  # the first, unless another is there: inside, each differs
        number = next((path for path in known if value_at(held, path) is not _MISSING), next(iter(known), None))
        pick = self.id if isinstance(self.id, str) else shape.id
        return Layout(_getter(held, pick) if pick else None, _getter(held, number) if number else None)

    def _once(
        self, texts: Sequence[str], numbers: Sequence[Any], query: object, results: Sequence[Any]
    ) -> dict[str, Any]:
        """Return each document with its number, once."""
        if len(set(texts)) == len(texts):
            return dict(zip(texts, numbers, strict=True))
        if self.repeated == "error":
            raise self._repeats(texts, query, results)
        kept: dict[str, Any] = {}
        for doc, number in zip(texts, numbers, strict=True):
            if doc not in kept or (self.repeated == "best" and self._is_better(number, kept[doc])):
                kept.pop(doc, None)  # so that it has the place of the number that counts
                kept[doc] = number
        return kept

    def _is_better(self, number: Any, other: Any) -> bool:  # noqa: ANN401 - any numbers
        return bool(number < other if self.lower_first else number > other)

    def _left_out(self, found: Collection[Documents]) -> tuple[str, ...]:
        left_out, kept = sum(one.n_left_out for one in found), sum(len(one.numbers) for one in found)
        if left_out:
            which = "its best" if self.repeated == "best" else "its first"
            repeat = f"{left_out:,} of {counted(left_out + kept, 'result')} repeat a document"
            return (f"{repeat}: {which} counts",)
        return ()

    def _repeats(self, texts: Sequence[str], query: object, results: Sequence[Any]) -> DuplicateError:
        twice = next(doc for n, doc in enumerate(texts) if doc in texts[:n])
        places = [place for place, doc in enumerate(texts, 1) if doc == twice]
        advice = f'write {CALL[self.kind]}(results, repeated="best") for its best result, "first" for the first'
        indices = {str(value_at(results[place - 1], "_index")) for place in places}
        if len(indices) > 1:
            advice = f"it is in {', '.join(sorted(indices))}: write id=lambda hit: hit['_index'] + '/' + hit['_id']"
        return DuplicateError(
            f"document {twice!r} comes {len(places)} times for query {query!r}"
            f" (results {', '.join(map(str, places[:5]))})",
            allowed="once",
            hint=advice,
            path=self.where,
        )

    def _no_list(self, given: object, query: object) -> SourceTypeError:
        hint = ""
        if isinstance(given, Mapping) and given and all(isinstance(one, Real) for one in given.values()):
            hint = f"dh.{self.kind.capitalize()}(...) reads {{query: {{document: {VALUE_COLUMN[self.kind]}}}}}"
        elif isinstance(given, Mapping):
            hint = f"its keys are {', '.join(map(repr, list(given)[:6]))}: give the list that is in it"
        found = Plain(f"{type(given).__name__} for query {query!r}")
        return SourceTypeError(given=found, allowed="a list of results, best first", hint=hint)

    def _no_id(self, held: object, query: object, place: int) -> DataError | SourceTypeError:
        """Return the error for a result whose id is not found, with the line that would work."""
        names, example = _names(held), _where_id_is(held)
        inner = example.partition(".")[0] if "." in example else ""
        advice = f'write {CALL[self.kind]}(results, id="{example}")' if example else "give the ids themselves"
        if inner and len(_names(_member(held, inner))) > 1:
            advice += f", or another of {', '.join(map(repr, _names(_member(held, inner))[:6]))}"
        what = f"result {place} for query {query!r}"
        paths = (*names_of(self.kind)["doc_id"], "id", "_id") if self.id is None else (self.id,)
        if not inner and any(isinstance(path, str) and value_at(held, path) is None for path in paths):
            return DataError(f"the id of {what} is None", allowed="text or a whole number", path=self.where)
        missing = "id" if callable(self.id) else str(self.id)
        if self.id is not None and (near := _near(held, missing)):
            advice = near
        if self.id is not None:
            return DataError(f"{what} has no id at {missing!r}", hint=advice, path=self.where)
        has = f" with {', '.join(map(repr, names[:6]))}" if names else ""
        found = Plain(f"{type(held).__name__}{has}")
        return SourceTypeError(f"cannot find the id of {what}", given=found, hint=advice, path=self.where)


BY_PLACE = "queries are called by their place in the list, from 0"
RANKED = "ranked lists without scores: in strict order, no ties"
RELEVANT = "documents without a relevance count as 1"
ASSUMED: dict[Kind, str] = {"run": RANKED, "qrels": RELEVANT}


def results_in(given: object) -> Sequence[Any] | None:
    """Return the list of results in what a search returned for one query; None if there is none.

    Examples
    --------
    >>> results_in({"took": 3, "hits": {"hits": [{"_id": "d1"}]}})
    [{'_id': 'd1'}]
    """
    if isinstance(given, list | tuple):
        return given
    if isinstance(given, str | bytes) or given is None:
        return None
    for path in _LISTS:
        held = value_at(given, path)
        if isinstance(held, list | tuple):
            return held
    if isinstance(given, Mapping):
        return None
    if (to_list := getattr(given, "tolist", None)) is not None and getattr(given, "ndim", 0) == 1:
        return list(to_list())
    return list(given) if isinstance(given, Iterable) and not isinstance(given, Collection) else None


def value_at(held: object, path: str) -> Any:  # noqa: ANN401 - whatever is there
    """Return what a dotted path of keys and attributes leads to; a key may have dots itself.

    Examples
    --------
    >>> value_at({"metadata": {"doc.id": "d1"}}, "metadata.doc.id")
    'd1'
    """
    found = _member(held, path)
    head, dot, rest = path.partition(".")
    if found is not _MISSING or not dot:
        return found
    inner = _member(held, head)
    return _MISSING if inner is _MISSING else value_at(inner, rest)


def _member(held: object, name: str) -> Any:  # noqa: ANN401 - whatever is there
    if isinstance(held, Mapping):
        return held.get(name, _MISSING)
    return getattr(held, name, _MISSING)


def _unpaired(result: object) -> tuple[object, object]:
    """Return an object and its number, of a pair of both; else the object and None."""
    if isinstance(result, tuple | list) and len(result) == 2:
        is_text = isinstance(result[1], str) and not hasattr(result, "_fields")  # a grade, or what is reported as none
        if is_text or _is_number(result[1]):
            return result[0], result[1]
    return result, None


def _is_grade(held: object) -> bool:
    """Return whether a value is a number, or text as of language models that grade: 8, "8" or "8/10"."""
    if isinstance(held, str):
        return _GRADE.fullmatch(held) is not None
    return _is_number(held) and not isinstance(held, bool)


def _numbers_in(held: object, kind: Kind) -> Iterator[str]:
    """Yield the paths in a result to numbers that may be its score; in its metadata those of known names."""
    names = names_of("run")
    others = {*names["doc_id"], *names["rank"], "id", *((*names["score"], _DISTANCE) if kind == "qrels" else ())}
    known = [*names["score"], *_GRADES] if kind == "run" else names_of(kind)["relevance"]
    paths = [name for name in _names(held) if not name.startswith("_")]
    paths += [f"{inner}.{name}" for inner in ("metadata", "meta") for name in known]
    yield from (path for path in paths if path not in others and _is_grade(value_at(held, path)))


def _is_number(held: object) -> bool:
    """Return whether a value is a number, perhaps in an array or tensor without dimensions."""
    return isinstance(held, Real | Decimal) or (hasattr(held, "__float__") and getattr(held, "ndim", 1) == 0)


def _plain(number: Any) -> Any:  # noqa: ANN401 - checked with all numbers
    """Return a number of another library as Python's."""
    if type(number) in _PLAIN:
        return number
    if isinstance(number, Integral):
        return int(number)
    return float(number) if _is_number(number) and not isinstance(number, Rational | Decimal) else number


def _getter(held: object, path: str) -> Callable[[Any], Any]:
    """Return a function that finds what a path leads to, in results of this form."""
    if isinstance(held, dict) and path in held:
        return lambda one: one[path]
    if "." in path or isinstance(held, Mapping):
        return lambda one: value_at(one, path)
    return lambda one: getattr(one, path, _MISSING)


def _rises(numbers: Sequence[Any]) -> bool | None:
    """Return whether numbers only rise; None if they neither rise nor fall, or are none."""
    if not all(isinstance(number, Real) for number in numbers):
        return None
    steps = {int(after > before) - int(after < before) for before, after in pairwise(numbers)} - {0}
    return steps == {1} if steps else None


def _warn_of_distances(where: str) -> None:
    message = (
        f"{where}: the scores of every query rise from the first result to the last, so its last result ranks first."
        " If they are distances, write ascending=True"
    )
    warnings.warn(message, DeadheatWarning, stacklevel=2)


def _by_names(held: object, kind: Kind) -> Shape:
    """Return the shape of a result whose parts have names that tables have too, or ``id``; those that it has."""
    names = names_of(kind)
    ids = () if is_id(held) else (*names["doc_id"], "id")  # text has methods of such names
    one_id = next((name for name in ids if is_id(_member(held, name))), "")
    # the score of a result is no relevance
    numbers = [name for name in names[VALUE_COLUMN[kind]] if kind == "run" or name != "score"]
    number = next((name for name in numbers if _member(held, name) is not _MISSING), "")
    return Shape((), one_id, {kind: number} if number else {})


def _names(held: object) -> list[str]:
    """Return the keys or public attributes of a result that are no methods."""
    if isinstance(held, Mapping):
        return [name for name in held if isinstance(name, str)]
    if is_id(held) or held is None or isinstance(held, Real | list | tuple):
        return []
    return [name for name in getattr(held, "__dict__", {}) if not name.startswith("_")]


def _where_id_is(held: object) -> str:
    """Return a path in a result that may lead to its id, as an example; empty if nothing is there."""
    names = _names(held)
    inner = next((name for name in _WHERE_IDS_ARE if name in names and _names(_member(held, name))), None)
    return f"{inner}.{_names(_member(held, inner))[0]}" if inner else next(iter(names), "")


def _as_code(held: object, path: str) -> str:
    """Return what finds a path in the first of a pair, in Python."""
    head, dot, rest = path.partition(".")
    first = f'one[0]["{head}"]' if isinstance(held, Mapping) else f"one[0].{head}"
    return f'{first}["{rest}"]' if dot else first


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


def _near(held: object, path: str) -> str:
    """Return ``Did you mean ...?`` for the name in a path that leads nowhere, or the names that are there."""
    head, dot, rest = path.partition(".")
    inner = _member(held, head)
    if dot and inner is not _MISSING:
        return _near(inner, rest)
    names = _names(held)
    return did_you_mean(head, names) or (f"it has {', '.join(map(repr, names[:6]))}" if names else "")
