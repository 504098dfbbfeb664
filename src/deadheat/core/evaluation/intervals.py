"""Means over queries: how much each counts, confidence intervals, how much of the error is of ties; and strata.

Columns of a table of queries say which queries are in which stratum.
"""

import json
import math
import re
import warnings
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import product
from typing import Any, TypeAlias, TypedDict

import numpy as np
import polars as pl

from deadheat.core.arrays import FloatArray, IntArray, TextArray
from deadheat.core.checks import as_list
from deadheat.core.data.queries import Queries
from deadheat.core.data.renderable import InNotebooks
from deadheat.core.data.tables import Source
from deadheat.core.errors import (
    Advice,
    ColumnError,
    DataError,
    DeadheatWarning,
    ParameterError,
    UnlabelledQueriesWarning,
)
from deadheat.core.kernels.weighting import are_equal
from deadheat.core.measures import Measure
from deadheat.core.random_generators import Rng
from deadheat.core.scalars import as_integer
from deadheat.core.settings import BOUNDED, PROPORTION, SKEWED, Estimation
from deadheat.core.wording import format_count, format_list, format_rounded

# A column of the queries table, a dict of query_id to cluster, or one label for each query in the order of the ids
Cluster: TypeAlias = str | Mapping[str, object] | Iterable[object] | None
FEWEST = 5  # queries or clusters: fewer do not show how much others would differ
FEW = 25  # queries or clusters: fewer do not show how skewed differences are, and p is too small (docs/simulations.md)
FEWEST_UNBOUNDED = 20  # of values without a highest one, of which auto takes the skewed-t: see docs/simulations.md
FEWEST_RESAMPLED = 50  # queries or clusters: of fewer, BCa of values from 0 to 1 covers less than 93%
# Skewness over the root of n from which an interval may cover less than it says: see docs/simulations.md
BEARABLE_SKEWNESS = {SKEWED: 0.3, "bootstrap-t": 0.3, "t": 0.2, "bca": 0.2, "percentile": 0.2}
VISIBLE_SKEWNESS = 1.0  # a smaller one of few queries says nothing
# What tables and files hold of an interval besides its numbers: the columns, and the attributes of `Interval`
KNOWN = {"ci_method": "method", "known": "is_known", "unknown": "unknown"}
NULLS = ("None", "nan", "<NA>", "NaT")  # as values that are none are written; pandas may not be installed


class IntervalArguments(TypedDict, total=False):
    """The fields of `IntervalOptions`, for type checkers: the keyword arguments of methods that build one."""

    method: str
    confidence_level: float
    n_resamples: int
    rng: Rng
    cluster: Cluster
    queries: Source | None


@dataclass(frozen=True, kw_only=True)
class IntervalOptions(Estimation):
    """The options of confidence intervals, as :meth:`Scores.interval` takes them.

    Attributes
    ----------
    cluster : str, dict, sequence or None
    queries : path, frame, Queries or None
        The table that has the column `cluster`.
    """

    cluster: Cluster = None
    queries: Source | None = None

    def to_dict(self) -> dict[str, object]:
        """Return the options as plain values, for reports and files; clusters as their column or "given"."""
        return {
            "method": self.method,
            "confidence_level": self.confidence_level,
            "n_resamples": self.n_resamples,
            "cluster": cluster_name(self.cluster),
            "rng": "generator" if isinstance(self.rng, np.random.Generator) else as_integer(self.rng),
        }


def cluster_name(cluster: Cluster) -> str | None:
    """Return the column of clusters, "given" if they came otherwise, None if there are none."""
    return cluster if cluster is None or isinstance(cluster, str) else "given"


@dataclass(frozen=True, repr=False)
class Interval(InNotebooks):
    """A confidence interval of a mean over queries.

    Attributes
    ----------
    mean, low, high : float
        NaN ends where fewer than two queries (or clusters) have a value; of "clopper-pearson" and "gaffke" only where
        none has. Of "skewed-t" and "bootstrap-t" not beyond the range of the measure; of "bootstrap-t" infinite where
        too few values differ.
    standard_error : float
        Of `mean` as it is reported.
    query_standard_error : float
        Of the mean of exact expected scores: the part that comes from the choice of queries.
    tie_standard_error : float
        Standard deviation of the mean over random tie-breaks of these queries: what one tie-break would add.
    method : {"bca", "bootstrap-t", "percentile", "t", "skewed-t", "gaffke", "clopper-pearson", "binomial"}
        The method that was used, also where "auto" chose it; "binomial" for a quantile.
    confidence_level : float
    n_queries : int
        Queries that have a value.
    n_clusters : int or None
        Clusters of these queries, if clusters were given.
    quantile, at : float
        Of :meth:`Scores.quantile`: which one, as 0.5 for the median, and its estimate; None of a mean.
    n_effective : float or None
        With weights: how many queries of equal weight give a mean as precise. With a judge: how many with human labels.
    judge_weight : float or None
        With a judge: what its labels count, from 0 (nothing: all is as without them) to 1.
    alone : Interval or None
        Where they count: the interval of the human labels alone.
    open_ends : tuple of str
        Of a quantile: "low" or "high" where there are too few values for that end, which is then the measure's own.
    skewness : float or None
        Of the values, with clusters or weights of what each adds to the mean; None where it does not matter, as of
        "gaffke" and "clopper-pearson", or is not known.

    Notes
    -----
    With exact means (``ties="expected"``) `standard_error` is `query_standard_error`. A rule such as document ids
    breaks ties with a bias that no standard error covers: the result lies between ``mean_tie_min`` and
    ``mean_tie_max``.
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
    quantile: float | None = None
    at: float | None = None
    open_ends: tuple[str, ...] = ()
    n_effective: float | None = None
    judge_weight: float | None = None
    alone: "Interval | None" = None
    skewness: float | None = None

    @property
    def value(self) -> float:
        """What the ends are around: the mean, or the quantile."""
        return self.mean if self.at is None else self.at

    def __repr__(self) -> str:
        """Return the mean with its ends, rounded; a question mark means that these cannot be known."""
        ends = f"[{format_rounded(self.low)}, {format_rounded(self.high)}]{'' if self.is_known else '?'}"
        over = format_count(self.n_queries, "query", "queries")
        over += "" if self.n_effective is None else f" as good as {self.n_effective:.1f}"
        grouped = "" if self.n_clusters is None else f" in {format_count(self.n_clusters, 'cluster')}"
        return (
            f"<Interval {format_rounded(self.value)} {ends}, {100 * self.confidence_level:g}% {self.method},"
            f" {over}{grouped}>"
        )

    @property
    def is_known(self) -> bool:
        """Whether the ends say where the mean may lie: there are enough values, and they differ."""
        return not self.unknown

    @property
    def unknown(self) -> str:
        """Why the ends are not known, such as "only 3 queries" or "all 25 values are equal"; empty if they are."""
        if self.quantile is not None:
            ends = " and ".join(self.open_ends)
            few = f"only {format_count(self.n_queries, 'query', 'queries')}, too few for the {ends} end"
            return f"{few}: it is that of the measure" if ends else ""
        return why_unknown(self.low, self.high, self.n_queries, self.n_clusters, self.method, self.n_effective)

    @property
    def doubtful(self) -> bool:
        """Whether the values are so skewed that the ends may cover the mean less often than they say.

        A sample can lack the rare large values, and then does not show its skewness: no doubt is no proof.
        """
        if self.skewness is None or not self.is_known:
            return False
        n_units = self.n_queries if self.n_clusters is None else self.n_clusters
        bearable = BEARABLE_SKEWNESS[self.method] * math.sqrt(n_units)
        return abs(self.skewness) > max(VISIBLE_SKEWNESS, bearable)

    @property
    def tie_share(self) -> float:
        """Share of the ties in the variance of the mean after one random tie-break, from 0 to 1."""
        whole = math.hypot(self.query_standard_error, self.tie_standard_error)
        return (self.tie_standard_error / whole) ** 2 if whole else 0.0


def why_unknown(  # noqa: PLR0917 - the fields of an interval
    low: float,
    high: float,
    n_queries: int,
    n_clusters: int | None,
    method: str,
    n_effective: float | None = None,
) -> str:
    """Return why an interval says nothing about other queries, or an empty string if it does.

    Parameters
    ----------
    low, high : float
    n_queries : int
        Queries that have a value.
    n_clusters : int or None
        Clusters of these queries, if there are any.
    method : str
        The method that was used. Clopper and Pearson's interval, and Gaffke's, are known for any number of queries,
        the skewed t and the bootstrap-t with 20 or more.
    n_effective : float, optional
        What these queries are worth by their weights.

    Examples
    --------
    >>> why_unknown(0.4, 0.9, 3, None, "t"), why_unknown(1.0, 1.0, 25, None, "bca")
    ('only 3 queries', 'all 25 values are equal')
    """
    if not n_queries:
        return "no query has a value"
    if method == PROPORTION or (method == BOUNDED and n_clusters is n_effective is None):
        return ""
    fewest = FEWEST_UNBOUNDED if method in {SKEWED, "bootstrap-t"} else FEWEST
    if n_effective is not None and n_effective < fewest:
        return f"by weight {format_count(n_queries, 'query is', 'queries are')} worth only {n_effective:.1f}"
    of_queries = (n_queries, ("query", "queries"), "values")
    n_units, nouns, units = of_queries if n_clusters is None else (n_clusters, ("cluster", "clusters"), "clusters")
    if n_units < fewest:
        return f"only {format_count(n_units, *nouns)}"
    if math.isinf(high - low):
        return f"too few of the {n_units:,} {units} differ"
    return "" if low < high else f"all {n_units:,} {units} are equal"


def method_of(method: str, measure: Measure, *, has_clusters: bool, has_weights: bool = False) -> str:
    """Return the method to use for a measure: what "auto" chooses, or the requested one.

    Parameters
    ----------
    method : str
    measure : Measure
    has_clusters : bool
    has_weights : bool, default False

    Raises
    ------
    ParameterError
        The method does not apply to this measure, or not to clusters or weights.
    """
    is_grouped = has_clusters or has_weights
    is_proportion = measure.is_zero_or_one and not is_grouped
    is_bounded = measure.has_limits
    if method == "auto":
        if is_proportion:
            return PROPORTION
        return BOUNDED if is_bounded else SKEWED
    if method == BOUNDED and not is_bounded:
        raise ParameterError(
            f"method={BOUNDED!r} is for measures with a lowest and a highest value",
            found=str(measure),
            hint="allowed here are 'auto', 'bca', 'bootstrap-t', 'percentile', 't' and 'skewed-t'",
        )
    if method == PROPORTION and not is_proportion:
        needed = f"needs independent queries{'' if has_clusters else ' that count the same'}"
        why = needed if is_grouped else "is for measures that are 0 or 1 in every order (Hit, P@1)"
        raise ParameterError(
            f"method={PROPORTION!r} {why}",
            found="clusters" if has_clusters else "weights" if has_weights else str(measure),
            hint="allowed here are 'auto', 'bca', 'bootstrap-t', 'percentile', 't', 'skewed-t'"
            + ", 'gaffke'" * is_bounded,
        )
    return method


def _column_of(argument: str, given: object, queries: Source | None, example: str) -> Queries | None:
    """Return the table of queries that has a column, if that is given; raise if a table or a column is missing."""
    if isinstance(given, str):
        if queries is None:
            raise ParameterError(
                "is a column of a table", argument=argument, given=given, hint=Advice("queries", "queries.csv")
            )
        return Queries.of(queries, [given])
    if queries is not None:
        raise ParameterError(
            f"queries is the table that has the column of {argument.removesuffix('s')}s: name the column, as in"
            f" {argument}={example!r}",
            found="none" if given is None else type(given).__name__,
        )
    return None


def cluster_codes(cluster: Cluster, queries: Source | None, query_ids: TextArray) -> IntArray | None:
    """Return the number of each query's cluster, of shape (n_queries,); None without clusters."""
    table, ids = _column_of("cluster", cluster, queries, "document"), query_ids.tolist()
    if cluster is None:
        return None
    if table is not None:
        found: Sequence[object] = table.column(str(cluster), ids)
    elif isinstance(cluster, Mapping):
        given = {str(query): label for query, label in cluster.items()}
        found = [given.get(query) for query in ids]
    else:
        found = as_list("cluster", cluster, "a column of queries, a dict of query_id to cluster, or their labels")
    if len(found) != len(ids):
        raise ParameterError(
            f"must have a label for each of the {format_count(len(ids), 'query', 'queries')}",
            argument="cluster",
            given=len(found),
        )
    labels = list(map(_text, found))
    if lacking := [query for query, label in zip(ids, labels, strict=True) if label is None]:
        problem = f"must name the cluster of every query; {len(lacking)} without one, such as {lacking[0]!r}"
        kind, path = (ParameterError, None) if table is None else (DataError, table.where)
        raise kind(problem, argument="cluster", path=path)
    return np.unique(np.array(labels, np.str_), return_inverse=True)[1]


def _text(label: object) -> str | None:
    """Return a label as a table of queries has it: stripped; None for null, NaN and empty text."""
    return None if not isinstance(label, str) and str(label) in NULLS else str(label).strip() or None


# A column of the queries table, or a dict of query_id to a number from 0 on
Weights: TypeAlias = str | Mapping[str, float]
HEAVY = 0.1  # share of the weight that one query may have unsaid


def weights_of(weights: Weights | None, queries: Source | None, query_ids: TextArray) -> FloatArray:
    """Return the weight of each query, of shape (n_queries,).

    Parameters
    ----------
    weights : str or mapping
    queries : path, frame or Queries, optional
        The table that has the column.
    query_ids : ndarray of str, shape (n_queries,)

    Raises
    ------
    ParameterError
        There is no table, or no mapping of numbers.
    DataError
        A query has no weight, or one that is below 0 or no number; or all have 0.
    """
    table, ids = _column_of("weights", weights, queries, "frequency"), query_ids.tolist()
    where = None if table is None else table.where
    if table is not None:
        table.check_common(ids)
        given = dict(zip(ids, table.column(str(weights), ids, has_numbers=True), strict=True))
    elif isinstance(weights, Mapping):
        given = {str(query): weight for query, weight in weights.items()}
    else:
        raise ParameterError(
            argument="weights", given=weights, allowed="a column of queries, or a dict of query_id to a number"
        )
    if lacking := [query for query in ids if given.get(query) is None]:
        raise DataError(
            f"{format_count(len(lacking), 'query', 'queries')} without a weight: {format_list([*map(repr, lacking)])}",
            hint="0 leaves a query out",
            path=where,
        )
    found = np.array([_number(given[query]) for query in ids])
    if wrong := [query for query, one in zip(ids, found, strict=True) if not 0 <= one < math.inf]:
        raise DataError(
            f"the weight of query {wrong[0]!r}", given=given[wrong[0]], allowed="a number from 0 on", path=where
        )
    if not found.any():
        raise DataError("all weights are 0: no query counts", path=where)
    return found


def heavy(query_ids: TextArray, weights: FloatArray | None) -> dict[str, float]:
    """Return the share in the weight of each query that has more than a tenth, the largest first; none of equal ones.

    Examples
    --------
    >>> heavy(np.array(["q1", "q2"], dtype=object), np.array([1.0, 3.0])), heavy(np.array(["q1"]), np.array([2.0]))
    ({'q2': 0.75, 'q1': 0.25}, {})
    """
    if weights is None or are_equal(weights):
        return {}
    shares = weights / weights.sum()
    return {str(query_ids[n]): float(shares[n]) for n in np.argsort(-shares, kind="stable") if shares[n] > HEAVY}


def _number(given: object) -> float:
    """Return a weight as a number; NaN if it is not one."""
    try:
        return float(given)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return math.nan


Stratum: TypeAlias = str | tuple[str, ...]  # the value of one column, or a tuple of the values of several

SMALLEST = 10  # queries: strata with fewer are marked as small
NONE = "(none)"  # the value of queries without one
TAG = "|"  # between the values of a query that has several
# Words with an order of their own, which is not alphabetical
LEVELS = (("very easy",), ("easy", "low"), ("medium", "moderate"), ("hard", "difficult", "high"), ("very hard",))
NUMBERS = ("mean", "low", "high", "standard_error", "tie_std", "tie_min", "tie_max")
SUMMARY: dict[str, type[pl.DataType]] = {
    "measure": pl.String,
    "n_queries": pl.Int64,
    **dict.fromkeys(NUMBERS, pl.Float64),
    "is_small": pl.Boolean,
    **dict.fromkeys(KNOWN, pl.String),
    "known": pl.Boolean,
}
AVERAGES: dict[str, type[pl.DataType]] = {
    "measure": pl.String,
    **dict.fromkeys(("micro", "macro"), pl.Float64),
    "n_strata": pl.Int64,
    **dict.fromkeys(("variance", "std"), pl.Float64),
    **dict.fromkeys(("lowest", "highest"), pl.String),
}


def groups(
    query_ids: Iterable[str],
    columns: str | Sequence[str],
    queries: Source,
    *,
    pool_languages: bool = False,
    stacklevel: int = 2,
) -> dict[Stratum, IntArray]:
    """Return which queries are in which stratum, by their places.

    Parameters
    ----------
    query_ids : iterable of str, shape (n_queries,)
    columns : str or sequence of str
        Columns of the queries table; with several, every combination that occurs is a stratum. A query with several
        values, ``a|b``, is in the stratum of each.
    queries : path, frame or Queries
    pool_languages : bool, default False
        Whether queries of different languages may fall into one stratum; without it that gives a warning.
    stacklevel : int, default 2
        Of warnings, as for :func:`warnings.warn`: 2 is the caller.

    Returns
    -------
    dict of str (of several columns: tuple) to ndarray of int
        Ascending. In the order of :class:`Strata`; the strata "(none)", of queries without a value, come last.
    """
    ids, names = list(query_ids), names_of(columns)
    table = Queries.of(queries, names)
    labels = [table.column(name, ids) for name in names]
    table.check_common(ids)
    languages = [] if pool_languages else table.languages(ids)
    if len(languages) > 1 and table.language_column not in names:
        warnings.warn(
            f"strata by {', '.join(names)} average over queries in {len(languages)} languages"
            f" ({', '.join(languages)}): pass columns={[table.language_column, *names]!r} to keep them apart,"
            " or pool_languages=True if that is intended",
            DeadheatWarning,
            stacklevel=stacklevel,
        )
    if lacking := [query for query, *values in zip(ids, *labels, strict=True) if None in values]:
        warnings.warn(
            f"{len(lacking)} of {format_count(len(ids), 'query', 'queries')} ({format_list(lacking)}) have no"
            f" {' or no '.join(names)} in {table.where}: they form the stratum {NONE!r}",
            UnlabelledQueriesWarning,
            stacklevel=stacklevel,
        )
    found: dict[tuple[str, ...], list[int]] = {}
    for place, values in enumerate(zip(*labels, strict=True)):
        for stratum in product(*map(tags_of, values)):
            found.setdefault(stratum, []).append(place)
    places: dict[Stratum, IntArray] = {}
    for stratum in sorted(found, key=order):
        places[stratum if len(names) > 1 else stratum[0]] = np.array(found[stratum], np.int64)
    return places


def tags_of(value: str | None) -> tuple[str, ...]:
    """Return the values of a cell, each once; several are written with bars between them, or as a list of JSON.

    Examples
    --------
    >>> tags_of("phone | new"), tags_of('["phone", "new"]'), tags_of(None)
    (('phone', 'new'), ('phone', 'new'), ('(none)',))
    >>> tags_of('[null, "new"]')
    ('new',)
    """
    parts: list[object] = list((value or "").split(TAG))
    if value is not None and value.startswith("["):
        with suppress(ValueError):
            parts = json.loads(value)
    return tuple(dict.fromkeys(filter(None, (str(one).strip() for one in parts if one is not None)))) or (NONE,)


def groupings_of(by: Sequence[str], table: Queries) -> list[tuple[str, ...]]:
    """Return the columns of each set of strata: each by itself; ``a:b``, unless it is a column, for combinations."""
    names_of(by)
    return [(one,) if one in table.columns else tuple(one.split(":")) for one in by]


def columns_of(queries: Queries, query_ids: Sequence[str], by: Sequence[str], *, pool_languages: bool) -> list[str]:
    """Return the requested stratum columns, after the language column if the queries are in several languages.

    Raises
    ------
    DataError
        The table has none of the queries, even if it is not needed for strata.
    """
    queries.check_common(query_ids)
    column = queries.language_column
    if column is None or column in by or pool_languages or len(queries.languages(query_ids)) < 2:
        return list(by)
    return [column, *by]


def names_of(columns: str | Sequence[str]) -> list[str]:
    """Return the names of stratum columns, each once; raise if there are none."""
    allowed = "a column of the queries table, or several different ones"
    names = [columns] if isinstance(columns, str) else as_list("columns", columns, allowed)
    if not names or not all(isinstance(name, str) for name in names) or len(set(names)) < len(names):
        raise ParameterError(argument="columns", given=columns, allowed=allowed)
    return names


def check_columns(names: Sequence[str], table: Queries) -> None:
    """Raise `ColumnError` if the table lacks a column, or the result has another column of that name."""
    table.check_columns(names)
    if taken := {*SUMMARY, *AVERAGES}.intersection(names):  # it would appear twice in one of these frames
        raise ColumnError(
            f"the stratum column {min(taken)!r} has the same name as a column of the result",
            hint="give it another name",
            path=table.where,
        )


def keys_of(stratum: Stratum) -> tuple[str, ...]:
    """Return the values of a stratum as a tuple, even of a single column."""
    return (stratum,) if isinstance(stratum, str) else stratum


def label(stratum: Stratum) -> str:
    """Return a stratum as text.

    Examples
    --------
    >>> label("de"), label(("de", "hard"))
    ('de', 'de, hard')
    """
    return ", ".join(keys_of(stratum))


def is_assigned(stratum: Stratum) -> bool:
    """Return whether the queries of a stratum have a value in every column."""
    return NONE not in keys_of(stratum)


def strata_of(found: Any, columns: Sequence[str], queries: Source) -> Any:  # noqa: ANN401 - an Evaluation or a Comparison
    """Return its strata, without a warning of queries that have no value: for reports, which name them."""
    with warnings.catch_warnings(action="ignore", category=UnlabelledQueriesWarning):
        return found.by(columns, queries, pool_languages=True)


def order(stratum: Stratum) -> list[tuple[Any, ...]]:
    """Return the sort key of a stratum.

    Examples
    --------
    >>> sorted(["hard", "(none)", "Medium", "k10", "easy", "k9", "10", "9.5"], key=order)
    ['easy', 'Medium', 'hard', '9.5', '10', 'k9', 'k10', '(none)']
    """
    return [_order(key) for key in keys_of(stratum)]


def _order(value: str) -> tuple[Any, ...]:
    """Return the sort key of a column's value: levels come first, then numbers, other values, "(none)"."""
    word = " ".join(value.casefold().replace("_", " ").replace("-", " ").split())
    rank = next((place for place, words in enumerate(LEVELS) if word in words), None)
    if rank is not None:
        return 0, rank, value
    if re.fullmatch(r"[+-]?[0-9]+(\.[0-9]+)?", value):
        return 1, float(value), value
    parts = re.split("([0-9]+)", value)
    # a longer number is larger; Python limits the digits of what int() converts
    parts[1::2] = [f"{len(digits):09}{digits}" for digits in (one.lstrip("0") for one in parts[1::2])]
    return 3 if value == NONE else 2, parts, value
