"""Confidence intervals of means over queries, by which method, and how much of their error is of ties."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias, TypedDict

import numpy as np

from deadheat.core.data.renderable import InNotebooks
from deadheat.core.data.sources import Source
from deadheat.core.errors import ParameterError
from deadheat.core.measures import Measure
from deadheat.core.random_generators import Rng
from deadheat.core.scalars import as_integer
from deadheat.core.settings import BOUNDED, OF_ANY_MEANS, PROPORTION, SKEWED, Estimation
from deadheat.core.wording import format_count, format_rounded

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
    allowed = ["auto", *OF_ANY_MEANS]
    if is_bounded:
        allowed.append(BOUNDED)
    if method == BOUNDED and not is_bounded:
        raise ParameterError(
            argument="method",
            given=method,
            allowed=allowed,
            hint=f"{BOUNDED!r} is for measures with a lowest and a highest value",
            measure=str(measure),
        )
    if method == PROPORTION and is_grouped:
        needed = "independent queries" if has_clusters else "queries that count the same"
        raise ParameterError(
            argument="method",
            given=method,
            allowed=allowed,
            beside={"cluster" if has_clusters else "weights": None},
            hint=f"{PROPORTION!r} needs {needed}",
        )
    if method == PROPORTION and not is_proportion:
        raise ParameterError(
            argument="method",
            given=method,
            allowed=allowed,
            hint=f"{PROPORTION!r} is for measures that are 0 or 1 in every order (Hit, P@1)",
            measure=str(measure),
        )
    return method
