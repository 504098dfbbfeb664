"""Judging: what each query expects, the relevance that its documents get from similarities of terms, and chance."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, reduce

import numpy as np
import polars as pl

from deadheat.arguments import check_choice
from deadheat.arrays import FloatArray, IntArray
from deadheat.benchmark.ontology.names import first_few
from deadheat.data.tables import Qrels, Run
from deadheat.errors import DataError

AGGREGATES = ("best", "mean")
MAX_CELLS = 1 << 23  # 64 MB of similarities are kept
UNKNOWN = -1
KEYS = ["query_id", "doc_id"]


@dataclass(frozen=True)
class Chance:
    """The expected MaxRel of a random ranking of all terms.

    Attributes
    ----------
    kind : str
        The kind of similarity.
    max_rel : dict of int to float
        By cutoff, the mean over the queries.
    standard_error : dict of int to float
        The error of the mean due to the sample of terms: 0 where nothing was sampled.
    n_queries : int
        Queries, or terms that were drawn in their place.
    """

    kind: str
    max_rel: dict[int, float]
    standard_error: dict[int, float]
    n_queries: int


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
    outside = np.maximum(left - k, 0.0) / left
    none_before = np.concatenate((np.ones((len(k), 1)), np.cumprod(outside, axis=1)[:, :-1]), axis=1)
    return none_before * np.minimum(k / left, 1.0)


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
        check_choice("aggregate", aggregate, AGGREGATES)
        self.n_terms, self.aggregate = len(ids), aggregate
        judgments = qrels.to_polars()
        wanted = judgments.filter(pl.col("relevance") > 0)
        if not len(wanted):
            raise DataError(
                f"no document of {len(judgments):,} has a positive relevance, so that nothing is expected",
                path=qrels.where,
            )
        codes = codes_of(ids, wanted["doc_id"])
        unknown = wanted["doc_id"].filter(codes == UNKNOWN)
        if len(unknown) == len(wanted):
            raise DataError(
                f"none of the {len(wanted):,} expected ids is a term of {ontology}: they are "
                f"{first_few(unknown.unique().sort().to_list(), 3)}, its terms {first_few(ids, 3)}",
                hint="Are they of the same ontology, and written alike?",
                path=qrels.where,
            )
        self.unknown = set(unknown)
        grouped = wanted.with_columns(code=codes).group_by("query_id").agg(pl.col("code").sort())
        self.of_query: dict[str, tuple[int, ...]] = dict.fromkeys(qrels.in_order[0]["query_id"].to_list(), ())
        self.of_query |= {query: tuple(found) for query, found in grouped.iter_rows()}
        self._similarities = lru_cache(max(1, MAX_CELLS // self.n_terms))(similarities)

    def relevance(self, terms: tuple[int, ...]) -> FloatArray:
        """Return the best or mean similarity of each term to some expected ones, of shape (n_terms,)."""
        rows = [self._similarities(code) for code in terms if code != UNKNOWN]
        if not rows:
            return np.zeros(self.n_terms)
        if self.aggregate == "best":
            return reduce(np.maximum, rows)
        return reduce(np.add, rows) / len(terms)


def codes_of(ids: Sequence[str], found: pl.Series) -> pl.Series:
    """Return the index of each id in the sorted terms, `UNKNOWN` for one that is not there."""
    known = pl.DataFrame({"doc_id": ids, "code": np.arange(len(ids))})
    return (
        found.to_frame("doc_id").join(known, on="doc_id", how="left", maintain_order="left")["code"].fill_null(UNKNOWN)
    )


def best_terms(relevance: FloatArray, depth: int) -> IntArray:
    """Return the indices of the `depth` highest values above 0; of equal ones the first, on every platform."""
    if depth < len(relevance):
        lowest = np.partition(relevance, -depth)[-depth]
        higher = np.flatnonzero(relevance > lowest)
        places = np.append(higher, np.flatnonzero(relevance == lowest)[: depth - len(higher)])
    else:
        places = np.arange(len(relevance))
    return places[relevance[places] > 0]


def pairs_of(qrels: Qrels, runs: Sequence[Run]) -> tuple[pl.DataFrame, int]:
    """Return what is judged or retrieved for the queries of the qrels, each pair once; and the longest list."""
    judged, queries = qrels.to_polars().select(KEYS), qrels.in_order[0]
    lists = [run.to_polars().select(KEYS).join(queries, on="query_id", how="semi") for run in runs]
    lengths = [length for one in lists for length in one.group_by("query_id").len()["len"].to_list()]
    return pl.concat([judged, *lists]).unique().sort(KEYS), max(lengths, default=0)


def relevance_of(
    expected: Expected, pairs: pl.DataFrame, codes: IntArray, depth: int
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the pairs with their relevance, and query_id, code and relevance of the best terms beside them."""
    sizes = pairs.group_by("query_id", maintain_order=True).len()
    queries, bounds = sizes["query_id"].to_list(), [0, *sizes["len"].cum_sum().to_list()]
    alike: dict[tuple[int, ...], list[int]] = {}
    for number, query in enumerate(queries):
        alike.setdefault(expected.of_query[query], []).append(number)
    values = np.zeros(len(codes))
    more: list[tuple[int, IntArray, FloatArray]] = []
    for terms, numbers in alike.items():
        relevance = expected.relevance(terms)
        looked_up = np.append(relevance, 0.0)  # the last index is that of `UNKNOWN`
        best = best_terms(relevance, depth) if depth else np.zeros(0, np.int64)
        for number in numbers:
            own = slice(bounds[number], bounds[number + 1])
            values[own] = looked_up[codes[own]]
            others = np.setdiff1d(best, codes[own], assume_unique=True)
            more.append((number, others, relevance[others]))
    repeated = np.repeat([number for number, *_ in more], [len(others) for _, others, _ in more])
    columns = {
        "query_id": pl.Series(queries, dtype=pl.String).gather(repeated),
        "code": np.concatenate([others for _, others, _ in more]),
        "relevance": np.concatenate([relevance for *_, relevance in more]),
    }
    return pairs.with_columns(relevance=pl.Series(values)), pl.DataFrame(columns)
