"""What a source holds: objects, and folders that other tools write.

Recognisers are asked in one order; each returns the rows of an object, or None for what it does not know. Objects of
other libraries are recognised by their form, ir_datasets by its name. Frames come last: Narwhals is slow to load, and
dicts do not need it.

JSON documents that other tools write, each recognised by its form: one function for each, which `export` registers.

Judgments of OpenSearch's Search Relevance Workbench, predictions of MTEB, ratings of Quepid, requests and responses of
``_rank_eval``, and responses of ``_search``, of Elasticsearch and OpenSearch; results of Chroma.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from numbers import Real
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from deadheat.errors import (
    ABSENT,
    DataError,
    DuplicateError,
    FileFormatError,
    SourceTypeError,
    SwappedFilesError,
    counted,
    did_you_mean,
    package,
    shown,
    three,
)
from deadheat.io.files import CATALOGUE, in_catalogue
from deadheat.io.formats.base import Content
from deadheat.io.kinds import OTHER_KIND, VALUE_COLUMN, Kind, refuse_columns
from deadheat.io.objects import parsed, read_text
from deadheat.io.results import Listing, Reader, is_of_chroma, nested_of, results_in, value_at
from deadheat.io.values import check_ids_of_row, copied, is_number, is_plain

OF_CASES = "judgments are the expected ids of labelled cases"
SWAPPED = "were qrels and run given in the wrong order?"
_DATA_SETS: dict[Kind, tuple[str, str, str]] = {  # of ir_datasets
    "qrels": ("has_qrels", "qrels_iter", "judgments (qrels)"),
    "run": ("has_scoreddocs", "scoreddocs_iter", "run (scoreddocs)"),
}


_RESPONSES = (".json", ".json.gz", ".json.zst")
_RESPONSE = '{"hits": {"hits": [...]}}, the response of a search'
_PREDICTIONS = "_predictions.json"  # of MTEB, after the name of the task


def read_object(source: object, kind: Kind, where: str, given: Mapping[str, str]) -> Content:
    """Return what an object holds.

    Parameters
    ----------
    source : object
    kind : {"qrels", "run"}
    where : str
        For messages.
    given : mapping of str to str
        Names of columns that the user says.

    Raises
    ------
    MissingDependencyError
        A data set of ir_datasets is named, and the package is not there.
    SourceTypeError
        The object holds the other kind, or several tables; or another function takes it; or nothing is known of it.
    """
    # a frame of Spark has a column for every attribute that it is asked for
    of_spark = type(source).__module__.startswith("pyspark.sql.")
    recognisers = () if of_spark else (_of_mapping, _of_deadheat, _of_data_set, _of_ranx)
    found = (recognise(source, kind, where, given) for recognise in recognisers)
    return next((one for one in found if one is not None), None) or _of_frame(source, kind, where, given)


def _of_frame(source: object, kind: Kind, where: str, given: Mapping[str, str]) -> Content:
    from deadheat.io.frames import canonical

    return canonical(source, kind, where, given, is_large=isinstance(source, pl.LazyFrame))


def _of_mapping(source: object, kind: Kind, where: str, given: Mapping[str, str]) -> Content | None:
    """Read a dict of dicts, of lists, or a document of another tool."""
    if not isinstance(source, Mapping):
        return None
    refuse_columns(given, kind, "a dict")
    first = next(iter(source.values()), None)
    if hasattr(first, "to_pandas") and hasattr(first, "features"):  # as Hugging Face's load_dataset returns it
        raise SourceTypeError(
            found=f"a dict of the splits {three(list(map(str, source)))}",
            allowed=f"one table with query_id, doc_id and {VALUE_COLUMN[kind]}",
            hint=f"give one of them, such as dataset[{next(iter(source))!r}]",
        )
    listing = exported(source, kind, where) or Listing(source)
    if is_plain(listing.documents):
        listing = replace(listing, documents=copied(listing.documents))
    else:
        listing = nested_of(listing.documents, kind, where)
    return Content.of_lists(listing)


def _of_deadheat(source: Any, kind: Kind, _where: str, _: Mapping[str, str]) -> Content | None:  # noqa: ANN401 - anything
    """Read labelled cases; raise for an evaluation and for a matrix, with the function that takes them."""
    if kind == "qrels" and getattr(type(source), "are_cases", False):
        return Content(source.qrels().to_dict(), (OF_CASES,))
    if getattr(type(source), "is_evaluation", False):
        raise SourceTypeError(
            found="an evaluation",
            allowed=kind,
            hint="dh.compare_evaluations({'a': ev, 'b': other}) compares evaluations,"
            " dh.gate(ev, 'RR >= 0.8') checks one",
        )
    dtype_kind = getattr(getattr(source, "dtype", None), "kind", "f")
    if getattr(source, "ndim", 0) == 2 and dtype_kind in "fiub" and not hasattr(source, "columns"):
        hint = "dh.evaluate_dense(scores, relevant) takes a matrix of scores, queries by documents"
        if dtype_kind in "iu":
            hint += "; if it has the ids of documents, a row for each query, write dict(enumerate(ids))"
        raise SourceTypeError(found=f"a matrix of shape {tuple(getattr(source, 'shape', ()))}", allowed=kind, hint=hint)
    return None


def _of_data_set(source: Any, kind: Kind, where: str, given: Mapping[str, str]) -> Content | None:  # noqa: ANN401 - anything
    """Read a data set of ir_datasets, or its name; its tuples have names too."""
    if in_catalogue(source):
        where = source
        data_sets = package("ir_datasets", f"{source} needs the package ir_datasets", "ir-datasets")
        try:
            source = data_sets.load(source.removeprefix(CATALOGUE))
        except KeyError:
            raise DataError(
                "ir_datasets has no data set of this name",
                hint="names are listed at https://ir-datasets.com",
                path=where,
            ) from None
    if not all(hasattr(source, has) for has, _, _ in _DATA_SETS.values()):
        return None
    has, rows, what = _DATA_SETS[kind]
    if not getattr(source, has)():
        raise DataError(
            f"this data set of ir_datasets has no {what}",
            hint="other data sets below it may, such as one that ends in /test or /judged",
            path=where,
        )
    try:
        found = list(getattr(source, rows)())
    except (OSError, RuntimeError) as error:  # ir_datasets fetches files when they are needed
        raise DataError(
            "ir_datasets cannot fetch it",
            found=f"{error!s:.80}",
            hint="the cause is in the messages above",
            path=where,
        ) from error
    return replace(_of_frame(found, kind, where, given), is_trec=True)


def _of_ranx(source: Any, kind: Kind, where: str, given: Mapping[str, str]) -> Content | None:  # noqa: ANN401 - anything
    """Read the dicts in an object of ranx."""
    if not hasattr(source, "to_dict") or hasattr(source, "columns"):
        return None
    if hasattr(source, kind):
        return _of_mapping(source.to_dict(), kind, where, given)
    if hasattr(source, OTHER_KIND[kind]):
        raise SourceTypeError(found=f"a {OTHER_KIND[kind]} of ranx", allowed=kind, hint=SWAPPED)
    return None


def file_in(folder: Path, kind: Kind | None = None) -> tuple[Path, str]:
    """Return the file in a folder of BEIR or of MTEB's predictions, and a note that says which.

    Parameters
    ----------
    folder : pathlib.Path
    kind : {"qrels", "run"}, optional
        What is wanted, if that is known.

    Raises
    ------
    DataError
        The folder is neither, or has several files to choose from.
    SwappedFilesError
        It holds the other kind.
    """
    qrels, predictions = sorted(folder.glob("qrels/*.tsv")), sorted(folder.glob(f"*{_PREDICTIONS}"))
    holds: Kind = "qrels" if qrels else "run"
    if not (qrels or predictions):
        raise DataError(
            "is a directory",
            allowed=f"a file, a data set of BEIR (with qrels/*.tsv), predictions of MTEB (*{_PREDICTIONS}), or"
            " responses of searches (a .json file for each query, named by it)",
            path=folder,
        )
    if kind not in (None, holds):
        raise SwappedFilesError(
            "is a data set of BEIR, which has judgments" if qrels else "is predictions of MTEB, which are runs",
            allowed=OTHER_KIND[holds],
            hint=SWAPPED,
            path=folder,
        )
    chosen = [one for one in qrels if one.stem == "test"] or qrels or predictions
    if len(chosen) > 1:
        what, hint = "splits" if qrels else "tasks", f"name the file: {chosen[0]}"
        raise DataError(
            f"holds several {what}",
            found=", ".join(one.relative_to(folder).as_posix() for one in chosen),
            allowed="one",
            hint=hint,
            path=folder,
        )
    if not qrels:
        return chosen[0], f"run from {chosen[0].name}"
    others = ", ".join(one.stem for one in qrels if one != chosen[0])
    note = f"qrels of the split {chosen[0].stem} of {folder.name}"
    return chosen[0], f"{note}; others: {others}" if others else note


def responses_in(folder: Path, kind: Kind | None = None) -> list[Path]:
    """Return the files of a folder with the response to one search in each; none if the folder is of BEIR or MTEB.

    Parameters
    ----------
    folder : pathlib.Path
    kind : {"qrels", "run"}, optional
        What is wanted, if that is known: responses are a run.
    """
    if kind == "qrels" or any(folder.glob("qrels/*.tsv")) or any(folder.glob(f"*{_PREDICTIONS}")):
        return []
    return sorted(one for one in folder.iterdir() if one.name.endswith(_RESPONSES) and one.is_file())


def read_responses(files: Sequence[Path], folder: Path) -> Content:
    """Return the run in the responses to searches: the name of each file, without its ending, is the query.

    Raises
    ------
    DataError
        A file is no response; the message names it.
    DuplicateError
        Two files are called by the same query.
    """
    found: dict[str, object] = {}
    for path in files:
        query = path.name[: path.name.rindex(".json")]
        held = parsed(read_text(path, _RESPONSE), path)
        if not is_response(held):
            raise DataError(
                found=shown(json.dumps(held)),
                allowed=_RESPONSE,
                hint="each file of the folder is the response to one query, which it is named by",
                path=path,
            )
        check_ids_of_row(query, query, path)
        if query in found:
            raise DuplicateError(f"two files of query {query!r}", allowed="one", path=path)
        found[query] = held
    listing = exported(found, "run", str(folder)) or Listing({})
    for query, documents in listing.documents.items():
        for doc in documents:
            check_ids_of_row(query, doc, folder)
    what = "response" if len(files) == 1 else "responses"
    note = f"{counted(len(files), 'file')} with the {what} of searches, named by the query"
    return Content.of_lists(replace(listing, notes=(note, *listing.notes)))


Document = Mapping[Any, Any]

SAVED = {  # what deadheat itself writes, and what it is for
    "deadheat evaluation": "deadheat compare, gate and report take it in place of qrels and run",
    "deadheat accumulator": "Accumulator.resume() takes it",
}
_WORDS = {dict: "an object", list: "a list", str: "text", int: "a whole number", Real: "a number"}
_JUDGMENTS = "judgmentRatings"
_MTEB = "mteb_model_meta"


class Export(NamedTuple):
    """A JSON document of another tool that holds qrels or a run; how it is recognised, and read."""

    name: str
    kind: Kind
    matches: Callable[[Document], object]
    read: Callable[[Document, str], Listing]
    instead: str


EXPORTS: list[Export] = []


def export(
    name: str,
    kind: Kind,
    matches: Callable[[Document], object],
    instead: str = SWAPPED,
) -> Callable[[Callable[[Document, str], Listing]], None]:
    """Register a function that reads a document and takes it and where it comes from.

    Parameters
    ----------
    name : str
        What it is, with its article, for messages.
    kind : {"qrels", "run"}
    matches : callable
        Takes the document, a dict; tells whether it has this form. It looks at few of its parts.
    instead : str
        What to give if the other kind is wanted.
    """
    return lambda read: EXPORTS.append(Export(name, kind, matches, read, instead))


def exported(held: Document, kind: Kind, where: str) -> Listing | None:
    """Return the queries in a document of another tool, and notes; None if its form is not known.

    Raises
    ------
    SwappedFilesError
        The document holds the other kind.
    DataError
        It has the form, but cannot be evaluated.
    """
    if str(held.get("kind")) in SAVED and "format" in held:
        raise FileFormatError(
            f"is a saved {held['kind'].removeprefix('deadheat ')}", allowed=kind, hint=SAVED[held["kind"]], path=where
        )
    found = next((one for one in EXPORTS if one.matches(held)), None)
    if found is None:
        return None
    if found.kind != kind:
        what = {"qrels": "judgments", "run": "results"}
        raise SwappedFilesError(
            f"{found.name} holds {what[OTHER_KIND[kind]]}, expected {what[kind]}", hint=found.instead, path=where
        )
    return found.read(held, where)


def part(held: Any, key: str, kinds: tuple[type, ...], place: str, where: str) -> Any:  # noqa: ANN401 - of JSON
    """Return what an object in a document holds under a key.

    Parameters
    ----------
    held : dict
    key : str
    kinds : tuple of type
        What may be there; true and false are no numbers.
    place : str
        Where the object is in the document, such as ``"requests[0]"``.
    where : str
        Where the document comes from.

    Raises
    ------
    DataError
        It is no object, it lacks the key, or something else is there; with the path inside the document.

    Examples
    --------
    >>> part({"ratings": [1]}, "ratings", (list, dict), "requests[0]", "x.json")
    [1]
    >>> part({"ratings": 5}, "ratings", (list, dict), "requests[0]", "x.json")
    Traceback (most recent call last):
        ...
    deadheat.errors.DataError: x.json: requests[0].ratings is 5, expected a list or an object
    """
    if not isinstance(held, Mapping):
        raise DataError(f"{place} is {held!r:.60}", allowed=f"an object with {key!r}", path=where)
    if key not in held:
        raise DataError(
            f"{place} has no {key!r}",
            hint=did_you_mean(key, map(str, held)) or f"it has {', '.join(map(repr, [*held][:6])) or 'no keys'}",
            path=where,
        )
    found = held[key]
    if not isinstance(found, kinds) or (isinstance(found, bool) and not {int, Real}.isdisjoint(kinds)):
        raise DataError(
            f"{place}.{key}".lstrip(".") + f" is {found!r:.60}",
            allowed=" or ".join(_WORDS[kind] for kind in kinds),
            path=where,
        )
    return found


def _are_all(held: object, matches: Callable[[Any], object]) -> bool:
    """Tell whether this is a list, not empty, whose items all match."""
    return isinstance(held, list) and bool(held) and all(map(matches, held))


def _judgment_lists(held: Document) -> list[Document]:
    """Return the documents that have judgments: the one given, or those that a search for judgments found."""
    hits = [hit.get("_source") for hit in results_in(held.get("hits")) or () if isinstance(hit, dict)]
    return [one for one in (held, *hits) if isinstance(one, dict) and isinstance(one.get(_JUDGMENTS), list)]


@export("a list of judgments of OpenSearch", "qrels", _judgment_lists)
def _read_judgments(held: Document, where: str) -> Listing:
    found = _judgment_lists(held)
    if len(found) > 1:
        names = three([str(one.get("name")) for one in found])
        raise DataError(f"{len(found)} lists of judgments: {names}", allowed="one", hint="save one of them", path=where)
    return _rated(found[0][_JUDGMENTS], "query", (str,), _JUDGMENTS, where)


@export(
    "a _rank_eval request",
    "qrels",
    lambda held: _are_all(held.get("requests"), lambda one: isinstance(one, dict) and "ratings" in one),
    instead="the run is in the response, or in the responses of _search as {query: response}",
)
def _read_request(held: Document, where: str) -> Listing:
    return _rated(held["requests"], "id", (str, int), "requests", where)


def _rated(items: list[Any], key: str, kinds: tuple[type, ...], place: str, where: str) -> Listing:
    """Read the lists of ratings of queries, which have their name under a key."""
    found: dict[Any, list[Any]] = {}
    for n, one in enumerate(items):
        query = part(one, key, kinds, own := f"{place}[{n}]", where)
        if query in found:
            raise DuplicateError(f"{key} {query!r} appears twice in {place}", allowed="once", path=where)
        found[query] = [*part(one, "ratings", (list,), own, where)]
        for m, rating in enumerate(found[query]):
            given = part(rating, "rating", (Real, str), f"{own}.ratings[{m}]", where)
            if isinstance(given, str):  # as OpenSearch's workbench keeps it
                if not is_number(given):
                    raise DataError(f"{own}.ratings[{m}].rating is not a number", given=given, path=where)
                found[query][m] = {**rating, "rating": float(given)}
    return Reader("qrels", where).read(found)


def _are_scores(held: object) -> bool:
    """Tell whether a dict has documents with numbers below its first key."""
    documents = next(iter(held.values()), None) if isinstance(held, dict) else None
    return isinstance(documents, dict) and all(isinstance(number, int | float) for number in documents.values())


@export(
    "a file of MTEB predictions",
    "run",
    lambda held: isinstance(held.get(_MTEB), dict),
    instead="the judgments are in the task's data set: task.load_data(), then task.dataset",
)
def _read_mteb(held: Document, where: str) -> Listing:
    """Read predictions by subset and split, or by one or the other."""
    parts = {name: one for name, one in held.items() if name != _MTEB and isinstance(one, dict)}
    found = {(name,): one for name, one in parts.items() if _are_scores(one)}
    found |= {(name, split): some for name, one in parts.items() for split, some in one.items() if _are_scores(some)}
    if not found:
        raise DataError(
            "no task of retrieval",
            found=f"{next(iter(parts.values()), None)!r:.60}",
            allowed="{query: {document: score}}",
            path=where,
        )
    tests = [path for path in found if path[-1] == "test"]
    names = ["/".join(path) for path in found]
    if len(found) > 1 and len(tests) != 1:
        keys = "".join(f"[{name!r}]" for name in next(iter(found)))
        raise DataError(
            "several subsets or splits",
            found=", ".join(names),
            allowed="one",
            hint=f"write dh.read_run(json.load(open({where!r})){keys})",
            path=where,
        )
    path = next(iter(tests or found))
    others = ", ".join(name for name in names if name != "/".join(path))
    note = f"predictions of MTEB by {held[_MTEB].get('model_name')}: {'/'.join(path)}"
    return Listing(found[path], (note + (f"; others: {others}" if others else ""),))


def _quepid_text(query: object) -> str | None:
    found = query.get("query", query.get("query_text")) if isinstance(query, dict) else None
    return found if isinstance(found, str) else None


@export(
    "an export of ratings from Quepid",
    "qrels",
    lambda held: _are_all(held.get("queries"), lambda one: _quepid_text(one) and "ratings" in one),
    instead="export a snapshot as CSV",
)
def _read_quepid(held: Document, where: str) -> Listing:
    """Read ratings as Quepid's API gives them, in lists, and as a case has them, in dicts."""
    found: dict[str, list[Any]] = {}
    n_unrated = 0
    for n, query in enumerate(held["queries"]):
        place, text = f"queries[{n}].ratings", str(_quepid_text(query))
        if text in found:
            raise DuplicateError(f"query {text!r} appears twice", allowed="once", path=where)
        ratings = part(query, "ratings", (dict, list), f"queries[{n}]", where)
        if isinstance(ratings, list):
            kinds: dict[str, tuple[type, ...]] = {"doc_id": (str, int), "rating": (object,)}
            each = [
                [part(one, key, kinds[key], f"{place}[{m}]", where) for key in kinds] for m, one in enumerate(ratings)
            ]
        else:
            each = [*ratings.items()]
        found[text] = [(doc, rating) for doc, rating in each if rating is not None]
        check_ids_of_row(text, text, Path(where))  # also of a query without a rating, which makes no row
        n_unrated += len(ratings) - len(found[text])
    notes: tuple[str, ...] = (f"{counted(n_unrated, 'unrated document')} left out",) if n_unrated else ()
    if unrated := [query for query, own in found.items() if not own]:  # nobody looked: something may be relevant
        notes += (f"{counted(len(unrated), 'query', 'queries')} without a rating left out ({three(unrated)})",)
    reader = Reader("qrels", where)
    rated = reader.read({query: own for query, own in found.items() if own})
    return replace(rated, notes=(*notes, *reader.merged()))


@export(
    "a _rank_eval response",
    "run",
    lambda held: isinstance(held.get("details"), dict | list) and isinstance(held.get("metric_score"), int | float),
    instead="it rates retrieved documents alone: give the request, which has all ratings",
)
def _read_rank_eval(held: Document, where: str) -> Listing:
    """Return the hits of each query, with notes on what the response itself says is missing."""
    lists = {
        query: part(one, "hits", (list,), f"details.{query}", where)
        for query, one in part(held, "details", (dict,), "", where).items()
    }
    for query, hits in lists.items():
        for n, hit in enumerate(hits):
            part(hit, "hit", (dict,), f"details.{query}.hits[{n}]", where)
    listing = Reader("run", where).read(lists)
    notes = listing.notes
    ratings = [hit.get("rating") for hits in lists.values() for hit in hits]
    if unrated := ratings.count(None):
        notes += (f"{unrated:,} of {counted(len(ratings), 'hit')} are unrated",)
    return replace(
        listing, notes=notes + _told_failed(list(part({"failures": {}, **held}, "failures", (dict,), "", where)))
    )


def _told_failed(queries: Sequence[str]) -> tuple[str, ...]:
    told = f"{counted(len(queries), 'query', 'queries')} failed in the search engine: {three(queries)}"
    return (told,) if queries else ()


@export(
    "the error of a search engine",
    "run",
    lambda held: set(held) == {"error", "status"} and isinstance(held["status"], int),
)
def _refuse_error(held: Document, where: str) -> Listing:
    """Raise for what a search engine answers instead of hits: ``{"error": {...}, "status": 404}``."""
    error = held["error"]
    reason = error.get("reason", error) if isinstance(error, dict) else error
    raise DataError(
        "the search engine answered with an error",
        found=f"{held['status']}, {reason!s:.200}",
        hint="search again",
        path=where,
    )


@export("results of Chroma", "run", lambda held: is_of_chroma(held) or is_of_chroma(next(iter(held.values()), None)))
def _read_chroma(held: Document, where: str) -> Listing:
    """Read what one call returned for its queries, or ``{query: results}``."""
    return Reader("run", where).read(held)


def is_response(held: object) -> bool:
    """Return whether an object is the response to one search."""
    hits = held.get("hits") if isinstance(held, dict) else None
    return isinstance(hits, dict) and isinstance(hits.get("hits"), list)


@export(
    "a response without its query",
    "run",
    lambda held: is_response(held) or _are_all(held.get("responses"), lambda one: isinstance(one, dict)),  # of _msearch
)
def _refuse_response(held: Document, where: str) -> Listing:
    what = "responses of _msearch do" if "responses" in held else "a response of _search does"
    raise DataError(
        f"{what} not say the query",
        hint="save {query: response}, one response for each query; or a folder with a file of one response for each"
        " query, named by it (q1.json), and give the folder",
        path=where,
    )


def _has_hits(held: object) -> bool:
    """Return whether an object is a response, and not documents with numbers, of which one may be called hits."""
    return isinstance(held, dict) and isinstance(held.get("hits"), dict | list)


def _has_failed(held: object) -> bool:
    return isinstance(held, dict) and isinstance(held.get("error"), dict) and "hits" not in held


@export(
    "a dict of _search responses",
    "run",
    lambda held: _has_hits(next((one for one in held.values() if not _has_failed(one)), None)),
)
def _read_responses(held: Document, where: str) -> Listing:
    """Read ``{query: response}``, without those that are errors: the run lacks their queries."""
    failed = [query for query, response in held.items() if _has_failed(response)]
    held = {query: response for query, response in held.items() if not _has_failed(response)}
    for query, response in held.items():
        if results_in(response) is None:
            raise DataError(f"query {query!r} has no hits", found=f"{response!r:.60}", path=where)
    listing = Reader("run", where).read(held)
    notes = listing.notes
    if partial := [query for query, response in held.items() if _is_partial(response)]:
        queries = counted(len(partial), "query", "queries")
        notes += (f"{queries} with partial results, as shards failed or time ran out: {three(partial)}",)
    return replace(listing, notes=notes + _told_failed(failed))


def _is_partial(response: object) -> bool:
    parts = (value_at(response, path) for path in ("timed_out", "_shards.failed"))
    return any(one is not ABSENT and one for one in parts)
