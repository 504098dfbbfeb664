"""What a retriever is and returns; retrieve(): its run, checked and cut without breaking ties; what several share."""

import hashlib
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NoReturn, Protocol, Self, runtime_checkable

import numpy as np
import polars as pl

from deadheat.core.arrays import FloatArray, IntArray, TextArray, run_starts
from deadheat.core.checks import as_count
from deadheat.core.data.run import Run
from deadheat.core.data.sources import make_label
from deadheat.core.errors import DataError, DuplicateError, ParameterError, SourceTypeError
from deadheat.core.io.files import BLOCK, check_readable
from deadheat.core.io.unpacking import open_file
from deadheat.core.structures import T, group_values
from deadheat.core.wording import quote_text
from deadheat.plugins.bench.collection import Collection
from deadheat.plugins.bench.ontology import listed
from deadheat.plugins.bench.retrievers.result_tables import find_by_phrase, open_results

STRINGS = ("best", "joined")
SCHEMA = {"query_id": pl.String, "doc_id": pl.String, "score": pl.Float64}


@dataclass(frozen=True, eq=False)
class Hits:
    """What a search found, as columns: a row for each text and document.

    Attributes
    ----------
    text : ndarray of int, shape (n_hits,)
        Index of the text.
    doc_id : ndarray of str, shape (n_hits,)
    score : ndarray of float, shape (n_hits,)

    Examples
    --------
    >>> Hits.of_dicts([{"d1": 0.5}, {}, {"d1": 0.2, "d2": 0.1}]).text.tolist()
    [0, 2, 2]
    """

    text: IntArray
    doc_id: TextArray
    score: FloatArray

    @classmethod
    def of_parts(cls, documents: TextArray, parts: Sequence[tuple[IntArray, FloatArray]]) -> Self:
        """Put together what each text found: (index into `documents`, score), an array each."""
        return cls(
            text=np.repeat(np.arange(len(parts)), [len(found) for found, _ in parts]),
            doc_id=documents[np.concatenate([np.zeros(0, np.int64), *(found for found, _ in parts)])],
            score=np.concatenate([np.zeros(0), *(scores.astype(np.float64) for _, scores in parts)]),
        )

    @classmethod
    def of_dicts(cls, found: Sequence[object], *, name: str = "a search") -> Self:
        """Put together a dict ``{doc_id: score}`` for each text; errors call the search by its name."""
        rows: list[tuple[int, str, float]] = []
        for number, documents in enumerate(found):
            if not isinstance(documents, Mapping):
                raise SourceTypeError(
                    f"{name} must return a dict {{doc_id: score}} for each text",
                    found=f"{documents!r} for text {number}",
                )
            for doc, score in documents.items():
                if isinstance(score, str) or not hasattr(score, "__float__"):
                    raise DataError(f"{name}: score of document {doc!r} must be a number", given=score)
                rows.append((number, doc, float(score)))
        text, ids, scores = zip(*rows, strict=True) if rows else ((), (), ())
        return cls(np.array(text, np.int64), np.array(ids, dtype=object), np.array(scores, np.float64))


@runtime_checkable
class Retriever(Protocol):
    """Finds documents for texts. Any object with these two methods and a name is one.

    Attributes
    ----------
    name : str
        What reports call it.

    Notes
    -----
    A retriever that cuts its list at k decides between the documents that tie with the k-th one, without saying so.
    Those of deadheat return **all** of them, so that lists may be longer than k, and tie statistics stay exact; what
    other retrievers cut cannot be brought back.

    Finished runs are used again by another call only if there is an attribute ``key``: text, or anything else
    that JSON can hold, that changes whenever the results may (parameters, version, data). A function may have
    one as well: ``search.key = "v2"``. Without it its runs are always made again.
    """

    name: str

    def index(self, documents: Collection) -> None:
        """Take the documents that are to be searched."""

    def search(self, texts: Sequence[str], k: int) -> Hits | Sequence[Mapping[str, float]]:
        """Return the k best documents of each text: `Hits`, or a dict ``{doc_id: score}`` for each text."""


def retrieve(retriever: Retriever, query_ids: Sequence[str], texts: Sequence[str], k: int) -> pl.DataFrame:
    """Search for texts, and return the run.

    Parameters
    ----------
    retriever : Retriever
        With its documents, if it needs any.
    query_ids, texts : sequence of str, shape (n_texts,)
    k : int
        Documents for each text. Those that tie with the k-th one stay, all of them.

    Returns
    -------
    polars.DataFrame
        query_id, doc_id and score, in the order of the texts, the highest score first and equal ones in the
        retriever's order.

    Raises
    ------
    DataError
        The retriever returned a score that is not a number, a document twice, or an id that is not text.
    """
    found = (
        retriever.look_up(query_ids, texts)
        if isinstance(retriever, RunFile)
        else _frame(retriever.name, retriever.search(texts, k), query_ids)
    )
    return best(found, query_ids, k)


def best(found: pl.DataFrame, query_ids: Sequence[str], k: int) -> pl.DataFrame:
    """Return the k best documents of each query, and those that tie with the k-th one, as `retrieve` does."""
    return (
        found.filter(pl.col("score").rank("min", descending=True).over("query_id") <= k)
        .join(pl.DataFrame({"query_id": query_ids, "place": range(len(query_ids))}), on="query_id")
        .sort("place", "score", descending=[False, True], maintain_order=True)
        .select(*SCHEMA)
    )


def _frame(name: str, hits: object, query_ids: Sequence[str]) -> pl.DataFrame:
    """Return what a search returned as a frame, or say what is wrong with it."""
    if not isinstance(hits, Hits):
        if not isinstance(hits, list | tuple) or len(hits) != len(query_ids):
            raise SourceTypeError(
                f"{name} must return a dict {{doc_id: score}} for each of the {len(query_ids)} texts",
                found=f"{len(hits)} results" if isinstance(hits, list | tuple) else type(hits).__name__,
            )
        hits = Hits.of_dicts(hits, name=name)
    try:
        frame = pl.DataFrame(
            {
                "query_id": np.asarray(hits.text).tolist(),
                "doc_id": np.asarray(hits.doc_id, dtype=object).tolist(),
                "score": np.asarray(hits.score, np.float64) + 0.0,  # -0.0 becomes 0.0, with which it ties
            },
            schema={**SCHEMA, "query_id": pl.Int64},
        )
    except (pl.exceptions.PolarsError, TypeError, ValueError) as error:
        raise SourceTypeError(
            f"{name} must return columns of one length: indices of texts, document ids as text, and numbers",
            found=str(error).partition("\n")[0],
        ) from error
    if not frame["query_id"].is_between(0, len(query_ids) - 1).all():
        raise SourceTypeError(f"{name} returned an index of a text that is not from 0 to {len(query_ids) - 1}")
    frame = frame.with_columns(pl.Series("query_id", query_ids).gather(frame["query_id"]))
    if len(frame):
        try:
            Run(frame, name=name).check_duplicates()  # which refuses empty ids and NaN too
        except DuplicateError as error:
            error.hint = "return each document of a text once"
            raise
    return frame


class Function:
    """A function ``f(texts, k)`` that returns a dict ``{doc_id: score}`` for each text.

    Parameters
    ----------
    function : callable
    name : str, optional
        By default the function's.

    Notes
    -----
    Finished runs are reused by the function's attribute ``key``, see `Retriever`. Without one they are always made
    again: we cannot see what a function reads from elsewhere.
    """

    def __init__(
        self, function: Callable[[Sequence[str], int], Hits | Sequence[Mapping[str, float]]], *, name: str | None = None
    ) -> None:
        self.function = function
        self.name = name or str(getattr(function, "__name__", type(function).__name__))

    @property
    def key(self) -> dict[str, object] | None:
        """What its results depend on, if the function says so."""
        key: object = getattr(self.function, "key", None)
        return None if key is None else {"retriever": "function", "key": key}

    def index(self, documents: Collection) -> None:
        """Do nothing: the function knows its documents."""

    def search(self, texts: Sequence[str], k: int) -> Hits | Sequence[Mapping[str, float]]:
        """Return what the function returns."""
        return self.function(texts, k)


def _digest(path: Path) -> str:
    """Return the SHA-256 of a file."""
    digest = hashlib.sha256()
    with open_file(path) as file:
        while piece := file.read(BLOCK):
            digest.update(piece)
    return digest.hexdigest()


class RunFile:
    """What a system has already found, read from run files and looked up by the ids of the cases, or by their texts.

    Parameters
    ----------
    *paths : path
        As for `read_run`: TREC, CSV, TSV, Parquet, JSON Lines, JSON; or an Excel workbook. Several, such as one a
        language, are one run; a query may appear in only one of them. Queries that are no ids of cases are found by
        the texts of the cases, whatever their upper case and blanks.
    name : str, optional
        By default the files', without their format.
    columns : dict of str to str, optional
        Names of columns that are not recognised, such as ``{"text": "symptom", "doc_id": "hit"}``.
    ascending : bool, default False
        Whether lower scores rank first, as of distances.

    Raises
    ------
    ParameterError
        There is no path.
    """

    def __init__(
        self,
        *paths: str | Path,
        name: str | None = None,
        columns: Mapping[str, str] | None = None,
        ascending: bool = False,
    ) -> None:
        if not paths:
            raise ParameterError(
                "needs the path of a run file, or of several, as in \"run('de.run', 'en.run')\"", argument="run"
            )
        self.paths = tuple(Path(check_readable(path)) for path in paths)
        self.name = name or "+".join(map(make_label, self.paths))
        self.columns = dict(columns or {})
        self.ascending = ascending

    def __repr__(self) -> str:
        return f"RunFile({', '.join(repr(str(path)) for path in self.paths)})"

    @property
    def key(self) -> dict[str, object]:
        """The content of the files, and how they are read."""
        key: dict[str, object] = {"retriever": "run", "sha256": [_digest(path) for path in self.paths]}
        if self.columns:
            key["columns"] = self.columns
        if self.ascending:
            key["ascending"] = True
        return key

    def index(self, documents: Collection) -> None:
        """Do nothing: the run holds what was found."""

    def search(self, texts: Sequence[str], k: int) -> NoReturn:  # noqa: ARG002 - as every retriever
        """Refuse: a run file knows ids of cases, not texts."""
        raise ParameterError(
            f"{self!r} knows what was found for the ids of {len(texts)} cases, not for their texts", hint="call look_up"
        )

    def look_up(self, query_ids: Sequence[str], texts: Sequence[str], *, of: str = "") -> pl.DataFrame:
        """Return query_id, doc_id and score of some cases; one that the run lacks has no row.

        Parameters
        ----------
        query_ids, texts : sequence of str, shape (n_cases,)
        of : str, optional
            What errors call the cases.

        Raises
        ------
        DataError
            The run has none of the cases.
        """
        found = self._rows.filter(pl.col("query_id").is_in(list(query_ids)))
        by_phrase = self.find_by_phrase(query_ids, texts)
        if by_phrase:
            cases = pl.DataFrame({"case_id": [*by_phrase], "query_id": [*by_phrase.values()]})
            of_cases = cases.join(self._rows, on="query_id", maintain_order="left_right")
            found = pl.concat([found, of_cases.select(pl.col("case_id").alias("query_id"), "doc_id", "score")])
        if found.is_empty():
            held = ", ".join(map(repr, self._rows["query_id"].unique(maintain_order=True).head(3).to_list()))
            whose = f"{len(query_ids)} cases{of and f' of {of}'}, such as {query_ids[0]!r} ({quote_text(texts[0])})"
            raise DataError(
                f"has none of the {whose}, by their ids or texts; it has {held}, ...",
                hint="Are they written alike? A retriever needs a run of every set and language: give the run files"
                f" of all as one, as in \"run('de.run', 'en.run', name={self.name!r})\"",
                path=", ".join(map(str, self.paths)),
            )
        return found

    def find_by_phrase(self, query_ids: Sequence[str], texts: Sequence[str]) -> dict[str, str]:
        """Return, of cases whose ids the run lacks, its query that is their text, by the ids of the cases."""
        try:
            return find_by_phrase(self._rows, query_ids, texts)
        except DataError as error:
            error.path = self.paths[0]
            raise

    @cached_property
    def queries(self) -> list[str]:
        """The queries of the run: ids of cases, or phrases."""
        return self._rows["query_id"].unique(maintain_order=True).to_list()

    @cached_property
    def _rows(self) -> pl.DataFrame:
        frames: list[pl.DataFrame] = []
        owners: dict[str, int] = {}
        for place, path in enumerate(self.paths):
            run = open_results(path, self.name, self.columns, ascending=self.ascending)
            try:
                run.check_duplicates()
            except DuplicateError as error:
                error.hint = "deadheat convert RUN ONCE.run --duplicates best keeps one row of each"
                raise
            frames.append(run.to_polars().select(*SCHEMA))
            for query in frames[-1]["query_id"].unique(maintain_order=True).to_list():
                if owners.setdefault(query, place) != place:
                    raise DuplicateError(
                        f"has query {query!r}, as {self.paths[owners[query]]} has",
                        hint="in the files of one run each query may appear once",
                        path=path,
                    )
        return pl.concat(frames)


@dataclass(frozen=True, eq=False)
class Strings:
    """The strings of a collection, those of a document together.

    Attributes
    ----------
    texts : list of str
    starts : ndarray of int, shape (n_documents,)
        Where those of each document start.
    doc_ids : ndarray of str, shape (n_documents,)
        Of each document; all have a string, their text.
    """

    texts: list[str]
    starts: IntArray
    doc_ids: TextArray

    @classmethod
    def of(cls, documents: Collection, strings: str = "best") -> Self:
        """Take the strings of a collection one by one, or those of each document joined by spaces."""
        texts, owner = documents.strings()
        starts = run_starts(owner)
        if strings == "joined":
            texts = [" ".join(own) for own in group_values(zip(owner.tolist(), texts, strict=True)).values()]
            starts = np.arange(len(texts))
        return cls(texts, starts, np.array(documents.ids, dtype=object))

    def best(self, scores: FloatArray) -> FloatArray:
        """Return the highest score of each document.

        Parameters
        ----------
        scores : ndarray of shape (..., n_strings)

        Returns
        -------
        ndarray of shape (..., n_documents)
        """
        # every document here has a string: none is empty
        return scores if len(self.starts) == len(self.texts) else np.maximum.reduceat(scores, self.starts, axis=-1)


def top(scores: FloatArray, k: int, above: float | None = None) -> tuple[IntArray, FloatArray]:
    """Return the places of the k highest scores and of all that tie with the last of them, highest first; and these.

    NaN, which is an error later on, counts as the highest.

    Parameters
    ----------
    scores : ndarray of shape (n,)
    k : int
    above : float, optional
        Scores of that or less are left out.

    Examples
    --------
    >>> places, scores = top(np.array([0.1, 0.3, 0.2, 0.2]), 2)
    >>> places.tolist(), scores.tolist()
    ([1, 2, 3], [0.3, 0.2, 0.2])
    """
    places = np.arange(len(scores)) if above is None else np.flatnonzero(~(scores <= above))
    if k < len(places):
        places = places[~(scores[places] < np.partition(scores[places], -k)[-k])]
    places = places[np.argsort(-scores[places], kind="stable")]
    return places, scores[places]


def options_of(retriever: object, *names: str) -> dict[str, object]:
    """Return some attributes by name."""
    return {name: getattr(retriever, name) for name in names}


def written(name: str, kind: type, options: Mapping[str, object]) -> str:
    """Return a name with the options that are not the defaults of a class, as `make_retriever` reads them."""
    defaults = inspect.signature(kind).parameters
    changed = {key: value for key, value in options.items() if value != defaults[key].default}
    # a number without a fraction as people write it
    plain = {key: int(one) if isinstance(one, float) and one.is_integer() else one for key, one in changed.items()}
    return name + (f"({', '.join(f'{key}={one!r}' for key, one in plain.items())})" if plain else "")


def check_search(retriever: object, made: T | None, texts: Sequence[str], k: int) -> T:
    """Return what `index` made; raise if it was not called, `texts` is not a list of texts, or k is not a count."""
    as_count("k", k)
    several: Sequence[object] = listed("texts", "texts", texts)
    for odd in (one for one in several if not isinstance(one, str)):
        raise ParameterError(argument="texts", found=f"{odd!r} ({type(odd).__name__}) in it", allowed="a list of texts")
    if made is None:
        raise ParameterError(f"{retriever!r} has no documents yet", hint="call index(collection) before search")
    return made
