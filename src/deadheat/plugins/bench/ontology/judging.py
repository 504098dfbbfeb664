"""Similarities as relevance: what queries expect, how similar all terms are to it, and what random rankings reach."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache, reduce

import numpy as np
import polars as pl

from deadheat.core.arrays import FloatArray, IntArray
from deadheat.core.checks import check_choice
from deadheat.core.data.qrels import Qrels
from deadheat.core.data.run import Run
from deadheat.core.errors import DataError
from deadheat.core.structures import group_values
from deadheat.core.wording import format_list

MAX_CELLS = 1 << 23  # 64 MB of similarities are kept
UNKNOWN = -1
KEYS = ["query_id", "doc_id"]


def best_of_random(n_terms: int, cutoffs: Sequence[int]) -> FloatArray:
    r"""Return the probability that the i-th best of all terms is the best in the top k of a random ranking.

    .. math:: \frac{k}{N - i + 1} \prod_{l < i} \frac{N - k - l + 1}{N - l + 1}

    as for `MaxRel`, with all N terms in one tie.

    Returns
    -------
    ndarray of shape (n_cutoffs, n_terms)
    """
    left = np.arange(n_terms, 0, -1.0)
    k = np.minimum(cutoffs, n_terms)[:, None]
    none_yet = np.cumprod(np.maximum(left - k, 0.0) / left, axis=1)
    return np.insert(none_yet[:, :-1], 0, 1.0, axis=1) * np.minimum(k / left, 1.0)


class Expected:
    """The expected terms of each query, and how similar all terms are to them.

    Parameters
    ----------
    ids : sequence of str
        The terms, sorted.
    qrels : Qrels
        Documents of positive relevance are expected.
    similarities : callable
        How similar every term is to one, given by its index in `ids`.
    ontology : str
        What errors call it.
    aggregate : {"best", "mean"}

    Attributes
    ----------
    of_query : dict of str to tuple of int
        The expected terms of each query as indices, sorted, `UNKNOWN` for ids that the ontology lacks.
    unknown : set of str
        Those ids.
    """

    def __init__(
        self,
        ids: Sequence[str],
        qrels: Qrels,
        similarities: Callable[[int], FloatArray],
        *,
        ontology: str,
        aggregate: str,
    ) -> None:
        check_choice("aggregate", aggregate, ("best", "mean"))
        self.ids, self.aggregate = ids, aggregate
        wanted = qrels.to_polars().filter(pl.col("relevance") > 0)
        if not len(wanted):
            raise DataError("no document has a positive relevance, so that nothing is expected", path=qrels.where)
        codes = codes_of(ids, wanted["doc_id"])
        unknown = wanted["doc_id"].filter(codes == UNKNOWN)
        if len(unknown) == len(wanted):
            raise DataError(
                f"none of the {len(wanted):,} expected ids is a term of {ontology}: they are "
                f"{format_list([*map(repr, unknown.unique().sort())])}, its terms {format_list([*map(repr, ids)])}",
                hint="Are they of the same ontology, and written alike?",
                path=qrels.where,
            )
        self.unknown = set(unknown)
        grouped = wanted.with_columns(code=codes).group_by("query_id").agg(pl.col("code").sort())
        self.of_query: dict[str, tuple[int, ...]] = dict.fromkeys(qrels.in_order.queries["query_id"].to_list(), ())
        self.of_query |= {query: tuple(found) for query, found in grouped.iter_rows()}
        self._similarities = lru_cache(max(1, MAX_CELLS // len(ids)))(similarities)

    def relevance(self, terms: tuple[int, ...]) -> FloatArray:
        """Return the best or mean similarity of each term to some expected ones, of shape (n_terms,)."""
        rows = [self._similarities(code) for code in terms if code != UNKNOWN]
        if not rows:
            return np.zeros(len(self.ids))
        return reduce(np.maximum, rows) if self.aggregate == "best" else reduce(np.add, rows) / len(terms)


def codes_of(ids: Sequence[str], doc_ids: pl.Series) -> pl.Series:
    """Return the index of each id in the sorted terms, `UNKNOWN` for one that is not there."""
    terms = pl.DataFrame({"doc_id": ids, "code": np.arange(len(ids))})
    coded = doc_ids.to_frame("doc_id").join(terms, on="doc_id", how="left", maintain_order="left")
    return coded["code"].fill_null(UNKNOWN)


def best_terms(relevance: FloatArray, depth: int) -> IntArray:
    """Return the indices of the `depth` highest values above 0; of equal ones the first, on every platform."""
    lowest = np.partition(relevance, -depth)[-depth] if depth < len(relevance) else 0.0
    places = np.flatnonzero((relevance >= lowest) & (relevance > 0))
    return places[np.argsort(-relevance[places], kind="stable")][:depth]


def pairs_of(qrels: Qrels, runs: Sequence[Run]) -> tuple[pl.DataFrame, int]:
    """Return what is judged or retrieved for the queries of the qrels, each pair once; and the longest list."""
    judged, queries = qrels.to_polars().select(KEYS), qrels.in_order.queries
    lists = [run.to_polars().select(KEYS).join(queries, on="query_id", how="semi") for run in runs]
    longest = max((length for one in lists for length in one["query_id"].value_counts()["count"]), default=0)
    return pl.concat([judged, *lists]).unique().sort(KEYS), longest


def relevance_of(expected: Expected, pairs: pl.DataFrame, codes: IntArray, depth: int) -> pl.DataFrame:
    """Return query_id, doc_id and relevance of the pairs, and of the best terms beside them."""
    sizes = pairs.group_by("query_id", maintain_order=True).len()
    query_ids = sizes["query_id"].to_list()
    bounds = [0, *sizes["len"].cum_sum().to_list()]
    numbers_by_terms = group_values((expected.of_query[query_id], n) for n, query_id in enumerate(query_ids))
    values = np.zeros(len(codes))
    more_queries: list[IntArray] = []
    more_terms: list[IntArray] = []
    more_values: list[FloatArray] = []
    for terms, numbers in numbers_by_terms.items():
        relevance = expected.relevance(terms)
        relevance_by_code = np.append(relevance, 0.0)  # the last index is that of `UNKNOWN`
        best = best_terms(relevance, depth) if depth else np.zeros(0, np.int64)
        for number in numbers:
            rows = slice(bounds[number], bounds[number + 1])
            values[rows] = relevance_by_code[codes[rows]]
            not_retrieved = np.setdiff1d(best, codes[rows], assume_unique=True)
            more_queries.append(np.full(len(not_retrieved), number))
            more_terms.append(not_retrieved)
            more_values.append(relevance[not_retrieved])
    more = pl.DataFrame(
        {
            "query_id": pl.Series(query_ids, dtype=pl.String).gather(np.concatenate(more_queries)),
            "doc_id": pl.Series(expected.ids).gather(np.concatenate(more_terms)),
            "relevance": np.concatenate(more_values),
        }
    )
    return pl.concat([pairs.with_columns(relevance=pl.Series(values)), more])
