"""How sure a mean over queries is, and how much of its error is the order of ties."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import hypot
from typing import TYPE_CHECKING, TypeAlias, TypedDict

import numpy as np

from deadheat import stats
from deadheat.arguments import check_choice
from deadheat.errors import DataError, ParameterError
from deadheat.stats import interval_bounds, proportion_bounds, standard_errors
from deadheat.wording import Advice, Plain, counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from deadheat.arrays import IntArray, TextArray
    from deadheat.data.tables import Source
    from deadheat.evaluation.scores import Scores
    from deadheat.measures import Measure

Cluster: TypeAlias = "str | Mapping[str, object] | Iterable[object] | None"
"""A column of the queries table, a dict of query_id to cluster, or one label for each query in the order of the ids."""
PROPORTION = "clopper-pearson"
METHODS = ("auto", *stats.METHODS, PROPORTION)
FEWEST = 5  # queries or clusters: of fewer values nobody can know how much others would differ
KNOWN = {"ci_method": "method", "known": "is_known", "unknown": "unknown"}
"""What tables and files hold of an interval beside its numbers: the columns, and the attributes of `Interval`."""
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
        NaN ends where fewer than two queries (or clusters) have a value; of "clopper-pearson" only where none has.
    standard_error : float
        Of `mean` as it is reported.
    query_standard_error : float
        Of a mean of exact expected scores: only the choice of queries is left in it.
    tie_standard_error : float
        Spread of the mean over random tie-breaks for these queries: what one of them would add.
    method : {"bca", "percentile", "t", "clopper-pearson"}
        The one that was used, also where "auto" chose it.
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
    def is_known(self) -> bool:
        """Whether the ends say where the mean may lie: there are values enough, and they differ."""
        return not self.unknown

    @property
    def unknown(self) -> str:
        """Why the ends are not known, such as "only 3 queries" or "all 25 values are equal"; empty if they are."""
        return why_unknown(self.low, self.high, self.n_queries, self.n_clusters, self.method)

    @property
    def random_standard_error(self) -> float:
        """Standard error of a mean that one random tie-break gave: queries and ties together."""
        return hypot(self.query_standard_error, self.tie_standard_error)

    @property
    def tie_share(self) -> float:
        """Share of the ties in the variance of a mean that one random tie-break gave, from 0 to 1."""
        whole = self.random_standard_error
        return (self.tie_standard_error / whole) ** 2 if whole else 0.0


def why_unknown(low: float, high: float, n_queries: int, n_clusters: int | None, method: str) -> str:
    """Return why an interval says nothing of other queries, or an empty string if it does.

    Parameters
    ----------
    low, high : float
    n_queries : int
        Queries that have a value.
    n_clusters : int or None
        Clusters that they fall into, if there are any.
    method : str
        The one that was used. Clopper and Pearson's interval is known for any number of queries.

    Examples
    --------
    >>> why_unknown(0.4, 0.9, 3, None, "t"), why_unknown(1.0, 1.0, 25, None, "bca")
    ('only 3 queries', 'all 25 values are equal')
    """
    if not n_queries:
        return "no query has a value"
    if method == PROPORTION:
        return ""
    if n_clusters is not None and n_clusters < FEWEST:
        return f"only {counted(n_clusters, 'cluster')}"
    if n_queries < FEWEST:
        return f"only {counted(n_queries, 'query', 'queries')}"
    if low < high:
        return ""
    return f"all {n_queries:,} values are equal" if n_clusters is None else f"all {n_clusters:,} clusters are equal"


def method_of(method: str, measure: Measure, *, has_clusters: bool) -> str:
    """Return the method that is used for a measure: what "auto" chooses, or the one that was asked for.

    Raises
    ------
    ParameterError
        There is no such method, or it is not for this measure or not for clusters.
    """
    check_choice("method", method, METHODS)
    is_proportion = measure.is_zero_or_one and not has_clusters
    if method == "auto":
        return PROPORTION if is_proportion else "bca"
    if method == PROPORTION and not is_proportion:
        if has_clusters:
            problem, given = f"method={PROPORTION!r} takes independent queries", "clusters"
        else:
            problem = f"method={PROPORTION!r} is of measures that are 0 or 1 in every order (Hit, P@1)"
            given = str(measure)
        hint = "allowed here are 'auto', 'bca', 'percentile' and 't'"
        raise ParameterError(problem, given=Plain(given), hint=hint)
    return method


def intervals(
    scores: Sequence[Scores],
    *,
    method: str = "auto",
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
    method : {"auto", "bca", "percentile", "t", "clopper-pearson"}, default "auto"
        "auto" is "clopper-pearson" for measures that are 0 or 1 in every order (``Measure.is_zero_or_one``: Hit, P@1)
        without clusters, and "bca" for all others. Bootstrap, bias-corrected and accelerated or by percentiles;
        Student's t; or the exact interval of a proportion (:func:`deadheat.stats.proportion_bounds`).
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

    Raises
    ------
    ParameterError
        A parameter is out of its range, or a measure or clusters are not for the method.
    """
    values = np.column_stack([one.values for one in scores])
    expected = np.column_stack([one.tie_mean for one in scores])
    codes = cluster_codes(cluster, queries, scores[0].query_ids)
    methods = [method_of(method, one.measure, has_clusters=codes is not None) for one in scores]
    low, high = np.empty((2, len(scores)))
    for used in dict.fromkeys(methods):
        own = [n for n, its in enumerate(methods) if its == used]
        if used == PROPORTION:
            ends = [proportion_bounds(scores[n].total, scores[n].n_queries, confidence_level) for n in own]
            low[own], high[own] = np.array(ends).T
        else:
            low[own], high[own] = interval_bounds(
                values[:, own],
                method=used,
                confidence_level=confidence_level,
                n_resamples=n_resamples,
                cluster=codes,
                rng=rng,
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
            methods[n],
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
        raise ParameterError(
            "queries is the table of a column of clusters: name it, as in cluster='document'", given=Plain(given)
        )
    if cluster is None:
        return None
    labels = [_text(label) for label in _labels(cluster, queries, query_ids.tolist())]
    lacking = [query for query, label in zip(query_ids.tolist(), labels, strict=True) if label is None]
    if lacking:
        problem = f"must name the cluster of every query; {len(lacking)} have none, such as {lacking[0]!r}"
        if isinstance(cluster, str):
            raise DataError(problem, argument="cluster", path=getattr(queries, "where", None))
        raise ParameterError(problem, argument="cluster")
    return np.unique(np.array(labels, np.str_), return_inverse=True)[1]


def _text(label: object) -> str | None:
    """Return a label as a table of queries has it: without blanks around it, None for null, NaN and empty text."""
    is_nan = isinstance(label, float | np.floating) and bool(np.isnan(label))
    if label is None or is_nan or type(label).__name__ in PANDAS_NULLS:
        return None
    return str(label).strip() or None


def _labels(cluster: Cluster, queries: Source | None, query_ids: list[str]) -> list[object]:
    if isinstance(cluster, str):
        from deadheat.data.queries import Queries

        if queries is None:
            hint = Advice("queries", "queries.csv")
            raise ParameterError("is a column of a table", argument="cluster", given=cluster, hint=hint)
        return list(Queries.of(queries).column(cluster, query_ids))
    if isinstance(cluster, Mapping):
        return [cluster.get(query) for query in query_ids]
    if not isinstance(cluster, Iterable):
        raise ParameterError(
            argument="cluster",
            given=cluster,
            allowed="a column of queries, a dict of query_id to cluster, or their labels",
        )
    labels = list(cluster)
    if len(labels) != len(query_ids):
        queries = counted(len(query_ids), "query", "queries")
        raise ParameterError(f"must have a label for each of the {queries}", argument="cluster", given=len(labels))
    return labels
