"""How sure a mean over queries is, and how much of its error is the order of ties."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import hypot
from typing import TYPE_CHECKING, TypeAlias, TypedDict

import numpy as np

from deadheat.errors import DataError, ParameterError
from deadheat.stats import interval_bounds, standard_errors

if TYPE_CHECKING:
    from collections.abc import Sequence

    from deadheat.arrays import IntArray, TextArray
    from deadheat.data import Source
    from deadheat.scores import Scores

Cluster: TypeAlias = "str | Mapping[str, object] | Iterable[object] | None"
"""A column of the queries table, a dict of query_id to cluster, or one label for each query in the order of the ids."""
PANDAS_NULLS = ("NAType", "NaTType")  # known by name, as pandas may not be there


class IntervalOptions(TypedDict, total=False):
    """The options of `intervals`, for those who pass them on."""

    method: str
    confidence_level: float
    n_resamples: int
    cluster: Cluster
    queries: Source | None
    rng: np.random.Generator | int | None


@dataclass(frozen=True)
class Interval:
    """A confidence interval of a mean over queries.

    Attributes
    ----------
    mean, low, high : float
        NaN ends where fewer than two queries (or clusters) have a value.
    standard_error : float
        Of `mean` as it is reported.
    query_standard_error : float
        Of a mean of exact expected scores: only the choice of queries is left in it.
    tie_standard_error : float
        Spread of the mean over random tie-breaks for these queries: what one of them would add.
    method : {"bca", "percentile", "t"}
    confidence_level : float
    n_queries : int
        Queries that have a value.
    n_clusters : int or None
        Clusters that they fall into, if they were given.

    Notes
    -----
    With exact means (``ties="expected"``) `standard_error` is `query_standard_error`. A rule such as document ids
    breaks ties with a bias that no standard error covers: it lies between ``mean_tie_min`` and ``mean_tie_max``.
    """

    mean: float
    low: float
    high: float
    standard_error: float
    query_standard_error: float
    tie_standard_error: float
    method: str
    confidence_level: float
    n_queries: int
    n_clusters: int | None = None

    @property
    def random_standard_error(self) -> float:
        """Standard error of a mean that one random tie-break gave: queries and ties together."""
        return hypot(self.query_standard_error, self.tie_standard_error)

    @property
    def tie_share(self) -> float:
        """Share of the ties in the variance of a mean that one random tie-break gave, from 0 to 1."""
        whole = self.random_standard_error
        return (self.tie_standard_error / whole) ** 2 if whole else 0.0


def intervals(
    scores: Sequence[Scores],
    *,
    method: str = "bca",
    confidence_level: float = 0.95,
    n_resamples: int = 10_000,
    cluster: Cluster = None,
    queries: Source | None = None,
    rng: np.random.Generator | int | None = 0,
) -> list[Interval]:
    """Give the intervals of several scores of the same queries, from the same resamples.

    Parameters
    ----------
    scores : sequence of Scores
    method : {"bca", "percentile", "t"}, default "bca"
        Bootstrap, bias-corrected and accelerated or by percentiles; or Student's t.
    confidence_level : float, default 0.95
    n_resamples : int, default 10,000
    cluster : str, dict or sequence, optional
        What queries share that are not independent, such as a document: a column of `queries`, a dict of query_id to
        cluster, or a label for each query. Clusters are resampled whole.
    queries : path or frame, optional
        The queries table of `cluster`.
    rng : numpy.random.Generator or int, default 0

    Returns
    -------
    list of Interval
    """
    values = np.column_stack([one.values for one in scores])
    expected = np.column_stack([one.tie_mean for one in scores])
    codes = cluster_codes(cluster, queries, scores[0].query_ids)
    low, high = interval_bounds(
        values, method=method, confidence_level=confidence_level, n_resamples=n_resamples, cluster=codes, rng=rng
    )
    reported, of_queries = standard_errors(values, cluster=codes), standard_errors(expected, cluster=codes)
    return [
        Interval(
            one.mean,
            float(low[n]),
            float(high[n]),
            float(reported[n]),
            float(of_queries[n]),
            one.mean_tie_std,
            method,
            confidence_level,
            one.n_queries,
            None if codes is None else len(np.unique(codes[one.kept])),
        )
        for n, one in enumerate(scores)
    ]


def cluster_codes(cluster: Cluster, queries: Source | None, query_ids: TextArray) -> IntArray | None:
    """Return a number for the cluster of each query, of shape (n_queries,); None without clusters."""
    if queries is not None and not isinstance(cluster, str):
        given = "none" if cluster is None else type(cluster).__name__
        msg = f"queries is the table of a column of clusters: name it, as in cluster='document', got {given}"
        raise ParameterError(msg)
    if cluster is None:
        return None
    labels = [_text(label) for label in _labels(cluster, queries, query_ids.tolist())]
    lacking = [query for query, label in zip(query_ids.tolist(), labels, strict=True) if label is None]
    if lacking:
        msg = f"cluster must name the cluster of every query; {len(lacking)} have none, such as {lacking[0]!r}"
        if isinstance(cluster, str):
            raise DataError(msg, path=getattr(queries, "where", None))
        raise ParameterError(msg)
    return np.unique(np.array(labels, np.str_), return_inverse=True)[1]


def _text(label: object) -> str | None:
    """Return a label as a table of queries has it: without blanks around it, None for null, NaN and empty text."""
    is_nan = isinstance(label, float | np.floating) and bool(np.isnan(label))
    if label is None or is_nan or type(label).__name__ in PANDAS_NULLS:
        return None
    return str(label).strip() or None


def _labels(cluster: Cluster, queries: Source | None, query_ids: list[str]) -> list[object]:
    if isinstance(cluster, str):
        from deadheat.queries import Queries

        if queries is None:
            msg = f"cluster={cluster!r} is a column: name the table that has it, as in queries='queries.csv'"
            raise ParameterError(msg)
        return list(Queries.of(queries).column(cluster, query_ids))
    if isinstance(cluster, Mapping):
        return [cluster.get(query) for query in query_ids]
    if not isinstance(cluster, Iterable):
        msg = f"cluster must be a column of queries, a dict of query_id to cluster, or their labels, got {cluster!r}"
        raise ParameterError(msg)
    labels = list(cluster)
    if len(labels) != len(query_ids):
        msg = f"cluster must have a label for each of the {len(query_ids)} queries, got {len(labels)}"
        raise ParameterError(msg)
    return labels
