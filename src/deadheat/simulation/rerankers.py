"""simulate_rerankers(): simulated queries, judgments and runs, many queries at once."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import astuple, dataclass
from typing import TypeAlias

import numpy as np
import polars as pl

from deadheat.arguments import Rng, as_count, check_rng, generator
from deadheat.arrays import BoolArray, FloatArray, IntArray
from deadheat.data.tables import Qrels, Run
from deadheat.io.forking import check_threads
from deadheat.simulation.presets import KINDS, PRESETS, QUERY_TYPES, QueryType, Reranker, chosen
from deadheat.simulation.simulated import Simulation

Rerankers: TypeAlias = Iterable[str | Reranker] | str | Reranker | None
QueryTypes: TypeAlias = Iterable[str | QueryType] | str | QueryType | None

TIED_AT_LEAST, TIED_AT_MOST = 2, 4  # documents of one tie of a query
OF_QUERIES, OF_RERANKERS = 1, 2  # streams of random numbers


def simulate_rerankers(
    n_queries: int = 100, presets: Rerankers = None, rng: Rng = 0, *, query_types: QueryTypes = None
) -> Simulation:
    """Simulate queries with judged documents, and the runs of rerankers that tie more or less often.

    A document has a random score; that of a relevant one is mostly raised. The score is set to the nearest level that
    the reranker has. Then each document in turn gives its score to another one with the probability of the reranker.

    Parameters
    ----------
    n_queries : int, default 100
    presets : names or Reranker, or several of them, optional
        "low", "medium", "high" and "very-high": with 20, 10, 5 and 3 levels, and a probability of ties of 0.1, 0.3, 0.5
        and 0.7. By default all four.
    rng : int, numpy.random.Generator or None, default 0
        With the same seed a reranker gives the same scores, whatever other rerankers there are.
    query_types : names or QueryType, or several of them, optional
        "simple factual", "complex reasoning", "multi-hop" and "ambiguous", which follow each other in turn (the
        default); "plain": all alike, easier, with ties of the reranker alone.

    Returns
    -------
    Simulation
        ``qrels``, ``runs`` by name, ``queries``, ``summary()`` and ``write(folder)``.

    Raises
    ------
    ParameterError
        There is no such preset or type of query, or a number is not allowed.

    Examples
    --------
    >>> found = simulate_rerankers(200, ["low", "very-high"])
    >>> list(found.runs), found.queries["query_type"].n_unique()
    (['low', 'very-high'], 4)
    >>> found.summary().select("reranker", "measure", pl.col("mean_difference").round(2)).rows()
    [('low', 'RR', 0.06), ('low', 'Hit@5', 0.03), ('very-high', 'RR', 0.18), ('very-high', 'Hit@5', 0.19)]
    """
    check_threads()
    n_queries = as_count("n_queries", n_queries)
    check_rng(rng)
    rerankers = chosen("presets", presets, PRESETS, PRESETS)
    kinds = chosen("query_types", query_types, KINDS, QUERY_TYPES)
    made = _make_queries(n_queries, kinds, generator(rng, OF_QUERIES))
    query_ids = _numbered("q", n_queries)
    frame = made.frame(query_ids)
    relevance = made.is_relevant[made.has_document].astype(np.float64)
    qrels = Qrels.of_checked(frame.with_columns(relevance=relevance), "simulated")
    runs = {}
    for one in rerankers:
        key = hashlib.sha256(repr(astuple(one)).encode()).digest()  # the random numbers of each are its own
        scores = _draw_scores(one, made, generator(rng, OF_RERANKERS, *key))[made.has_document]
        runs[one.name] = Run.of_checked(frame.with_columns(score=scores), one.name)
    types = pl.Series([kind.name for kind in kinds], dtype=pl.String).gather(made.kind.tolist())
    queries = pl.DataFrame({"query_id": query_ids, "query_type": types})
    return Simulation(qrels, runs, queries, rerankers, kinds)


@dataclass(frozen=True, eq=False)
class MadeQueries:
    """Queries and their documents.

    Attributes
    ----------
    kinds : tuple of QueryType
    kind : ndarray of int, shape (n_queries,)
        Of each query, its place in `kinds`.
    has_document : ndarray of bool, shape (n_queries, most_documents)
        Where there is a document.
    is_relevant : ndarray of bool, shape (n_queries, most_documents)
    """

    kinds: tuple[QueryType, ...]
    kind: IntArray
    has_document: BoolArray
    is_relevant: BoolArray

    @property
    def n_documents(self) -> IntArray:
        """Documents of each query, of shape (n_queries,)."""
        return self.has_document.sum(axis=1)

    def of_kind(self, name: str) -> FloatArray:
        """Return a number of each query's kind, of shape (n_queries, 1), or a pair of numbers, (n_queries, 2)."""
        return np.array([getattr(kind, name) for kind in self.kinds], np.float64).reshape(len(self.kinds), -1)[
            self.kind
        ]

    def frame(self, query_ids: pl.Series) -> pl.DataFrame:
        """Return query_id and doc_id of each document."""
        query, place = np.nonzero(self.has_document)
        of_document = query_ids.gather(query.tolist())
        doc_ids = _numbered("d", self.has_document.shape[1]).gather(place.tolist())
        return pl.DataFrame({"query_id": of_document, "doc_id": of_document + "-" + doc_ids})


def _numbered(letter: str, n: int) -> pl.Series:
    """Return q1, q2 and so on, with zeros in front, so that texts sort as numbers."""
    numbers = pl.Series(np.arange(1, n + 1)).cast(pl.String).str.zfill(len(str(n)))
    return letter + numbers


def _make_queries(n_queries: int, kinds: tuple[QueryType, ...], rng: np.random.Generator) -> MadeQueries:
    """Draw how many documents each query has, and which of them are relevant; kinds follow each other in turn."""
    kind = np.arange(n_queries) % len(kinds)
    few, many = np.array([one.n_documents for one in kinds])[kind].T
    least, most = np.array([one.n_relevant for one in kinds])[kind].T
    n_documents = rng.integers(few, many, endpoint=True)
    n_relevant = rng.integers(np.minimum(least, n_documents), np.minimum(most, n_documents), endpoint=True)
    has_document = np.arange(n_documents.max()) < n_documents[:, None]
    is_relevant = has_document & (_random_places(has_document, rng) < n_relevant[:, None])
    return MadeQueries(kinds, kind, has_document, is_relevant)


def _random_places(has_document: BoolArray, rng: np.random.Generator) -> IntArray:
    """Return the places 0, 1, ... of the documents of each query in a random order."""
    keys = np.where(has_document, rng.random(has_document.shape), np.inf)
    return keys.argsort(axis=1).argsort(axis=1)


def _draw_scores(one: Reranker, made: MadeQueries, rng: np.random.Generator) -> FloatArray:
    """Draw the scores of a reranker, of shape (n_queries, most_documents)."""
    shape = made.has_document.shape
    scores: FloatArray = rng.uniform(one.lowest, one.highest, shape)
    low, high = np.hsplit(made.of_kind("raised"), 2)
    is_raised = made.is_relevant & (rng.random(shape) < made.of_kind("performance"))
    scores += is_raised * rng.uniform(low, high, shape)
    scores = np.clip(_tie_some(scores, made, rng), 0.0, 1.0)
    if one.levels is not None:
        scores = _nearest_level(scores, one.levels)
    return _give_scores(scores, made, one.tie_probability, rng)


def _tie_some(scores: FloatArray, made: MadeQueries, rng: np.random.Generator) -> FloatArray:
    """Give two to four documents of a query the score of one of its documents, as often as its kind says."""
    n_documents = made.n_documents
    is_hit = (rng.random(len(scores)) < made.of_kind("tie_probability")[:, 0]) & (n_documents >= TIED_AT_LEAST)
    size = rng.integers(TIED_AT_LEAST, np.clip(n_documents, TIED_AT_LEAST, TIED_AT_MOST), endpoint=True)
    value = scores[np.arange(len(scores)), rng.integers(n_documents)]
    tied = is_hit[:, None] & (_random_places(made.has_document, rng) < size[:, None])
    return np.where(tied, value[:, None], scores)


def _nearest_level(scores: FloatArray, levels: int) -> FloatArray:
    """Return the nearest of equally spaced levels from 0 to 1, of two the lower one."""
    if levels == 1:
        return np.zeros_like(scores)
    return np.ceil(scores * (levels - 1) - 0.5) / (levels - 1) + 0.0


def _give_scores(scores: FloatArray, made: MadeQueries, probability: float, rng: np.random.Generator) -> FloatArray:
    """Let each document in turn give its score to another one: what it gives may have been given to it."""
    n_documents, rows = made.n_documents, np.arange(len(scores))
    for place in range(scores.shape[1]):
        gives = (rng.random(len(rows)) < probability) & (place < n_documents) & (n_documents > 1)
        other = rng.integers(np.maximum(n_documents - 1, 1))
        other += other >= place
        scores[rows[gives], other[gives]] = scores[gives, place]
    return scores
