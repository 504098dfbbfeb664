"""The scores of one measure, query by query: how far ties can move them, and how certain their mean is."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from deadheat.core import hooks
from deadheat.core.arrays import ArrayLike, BoolArray, FloatArray, IntArray, TextArray, places_of, with_own_arithmetic
from deadheat.core.data.flat_names import Numbers
from deadheat.core.data.renderable import InNotebooks
from deadheat.core.data.sources import Source
from deadheat.core.errors import ParameterError
from deadheat.core.evaluation.intervals import BEARABLE_SKEWNESS, Cluster, Interval, IntervalOptions, method_of
from deadheat.core.evaluation.parts import EstimatesMean, MeanEstimate, ScorePart
from deadheat.core.evaluation.query_columns import cluster_codes
from deadheat.core.evaluation.tie_spread import TieSpread
from deadheat.core.kernels import weighting
from deadheat.core.kernels.agreement import n_swapped_pairs
from deadheat.core.kernels.ranks import first_ranks
from deadheat.core.libraries import polars as pl
from deadheat.core.measures import Measure
from deadheat.core.phases import phase
from deadheat.core.random_generators import Rng
from deadheat.core.settings import PROPORTION, SKEWED
from deadheat.core.structures import group_values
from deadheat.core.wording import escape_invisible, format_count

BOUNDS = "bounds"  # the part and the service of bounds over unjudged documents
GEOMETRIC = "geometric"  # the step that takes the interval of a mean logarithm to that of the geometric mean


@dataclass(frozen=True, eq=False)
class Scores(InNotebooks):
    r"""The scores of one measure, one for each query. Its arrays cannot be written to.

    Attributes
    ----------
    measure : Measure
    query_ids : ndarray of str, shape (n_queries,)
    values : ndarray of float, shape (n_queries,)
        Under the tie policy of the evaluation; NaN where the query has no value and is left out.
    spread : TieSpread
        Over all tie orders.
    rows : ndarray of int, shape (n_queries,), or slice
        The places of the queries in `spread`.
    weights : ndarray of float, shape (n_queries,), or None
        How much each query counts in means, which are :math:`\sum w x / \sum w`; None: all the same. A query of weight
        0 has no value. Totals have no weights.
    parts : mapping of str to ScorePart
        What features know of these queries beside their values, by their keys: repeats, bounds over unjudged documents,
        a judge's labels.
    """

    is_evaluation: ClassVar[bool] = True  # iterating over an evaluation gives scores, which are refused as it is

    measure: Measure
    query_ids: TextArray
    values: FloatArray
    spread: TieSpread = field(repr=False)
    rows: IntArray | slice = field(default_factory=lambda: slice(None), repr=False)
    weights: FloatArray | None = field(default=None, repr=False)
    parts: Mapping[str, ScorePart] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        self.query_ids.flags.writeable = False
        self.values.flags.writeable = False

    def __repr__(self) -> str:
        level = f"total {self.total:.4f}" if self.measure.total else f"{self.mean:.4f}"
        return escape_invisible(
            f"<Scores {self.measure.label}: {level} over {format_count(self.n_queries, 'query', 'queries')}>"
        )

    def with_part(self, key: str, part: ScorePart | None) -> Scores:
        """Return the scores with a part in the place of the one of its key; None: without it."""
        parts = {name: own for name, own in self.parts.items() if name != key}
        if part is not None:
            parts[key] = part
        return replace(self, parts=parts)

    @property
    def repeats(self) -> Any:  # noqa: ANN401 - Repeated, of a plugin, or None
        """The values of each run of a system that was run several times, of which `values` are the means."""
        return self.parts.get("repeats")

    @property
    def several_runs(self) -> str:
        """What messages call the runs of a system over which `values` are means; empty for one run.

        Such a system has no ranking to look at, and more noise than that over queries.
        """
        for part in self.parts.values():
            called: str = getattr(part, "several_runs", "")
            if called:
                return called
        return ""

    @property
    def unjudged(self) -> ScorePart | None:
        """Bounds over unjudged documents; None if they were not asked for."""
        return self.parts.get(BOUNDS)

    @property
    def predicted(self) -> Any:  # noqa: ANN401 - of the plugin judges
        """Values by the labels of a judge, of these queries and of others; None without a judge."""
        return self.parts.get("judge")

    def columns(self) -> dict[str, FloatArray | None]:
        """Return the columns of the parts by name, NaN where a query does not count; None of this measure has none."""
        found: dict[str, FloatArray | None] = {}
        for part in self.parts.values():
            for name, column in part.columns().items():
                found[name] = None if column is None else self._of_kept(column)
        return found

    def means_of_columns(self) -> dict[str, float | None]:
        """Return the means of :meth:`columns` over the queries, as `mean` is that of the values."""
        return {name: None if column is None else self._mean(column) for name, column in self.columns().items()}

    @cached_property
    def kept(self) -> BoolArray:
        """Which queries count, of shape (n_queries,)."""
        return ~np.isnan(self.values)

    @cached_property
    def n_queries(self) -> int:
        """Number of queries that count."""
        return int(self.kept.sum())

    @property
    def is_weighted(self) -> bool:
        """Whether the queries that count do not all count the same."""
        return self.weights is not None and not weighting.are_equal(self.weights[self.kept])

    @property
    def n_effective(self) -> float:
        """How many queries of equal weight give a mean as precise (Kish): without weights, the number of queries."""
        return float(self.n_queries) if self.weights is None else weighting.effective_number(self.weights[self.kept])

    @cached_property
    def mean(self) -> float:
        """Mean over the queries that count; NaN if there are none. Of logarithms (GMAP), the geometric mean.

        With a judge's labels for more queries (``judge=``) it is estimated from both; `human_mean` is that of humans.
        """
        return self.mean_of_values if self.estimated_mean is None else self.estimated_mean.estimate

    @property
    def human_mean(self) -> float:
        """Mean over the queries of the qrels, whatever a judge says of others."""
        return self.mean_of_values

    @property
    def mean_of_values(self) -> float:
        """Mean of the values of the queries that count, with which a part may estimate another."""
        return self._mean(self.values)

    @cached_property
    def estimated_mean(self) -> MeanEstimate | None:
        """The mean as a part estimates it, with more than these values; None where none does."""
        for part in self.parts.values():
            if isinstance(part, EstimatesMean):
                return part.estimate_mean(self)
        return None

    @property
    def powered(self) -> Any:  # noqa: ANN401 - of the plugin judges
        """What the labels of a judge add to the mean (prediction-powered inference); None without a judge."""
        return self.estimated_mean

    @property
    def is_estimated(self) -> bool:
        """Whether more than the values counts in the mean, such as a judge's labels: it is not `mean_of_values`."""
        return self.estimated_mean is not None and self.estimated_mean.weight > 0

    @property
    def variance_components(self) -> Any:  # noqa: ANN401 - VarianceComponents, of a plugin
        """The variance of single values, split into queries, repeats and ties; with :class:`Repeats` only."""
        return hooks.service("repeats").variance_components_of(self)

    def plan_repeats(self, width: float, *, confidence_level: float = 0.95) -> pl.DataFrame:
        """Return how many queries an interval of a width needs, for several numbers of repeats.

        Parameters
        ----------
        width : float
            Of the interval, from end to end.
        confidence_level : float, default 0.95

        Returns
        -------
        polars.DataFrame
            n_repeats, and n_queries: null where a shared effect of repeats alone makes it wider. By the components of
            variance and a normal distribution.

        Examples
        --------
        >>> from deadheat import Repeats, evaluate
        >>> qrels = {f"q{n}": {"a": 1} for n in range(8)}
        >>> runs = [{f"q{n}": ["a", "b"] if (n * seed) % 3 else ["b", "a"] for n in range(8)} for seed in (1, 2, 4, 5)]
        >>> evaluate(qrels, Repeats(runs), "RR")["RR"].plan_repeats(0.2)["n_repeats"].to_list()
        [1, 2, 3, 5, 10, 20]
        """
        plan: pl.DataFrame = hooks.service("repeats").plan_repeats(self, width, confidence_level)
        return plan

    @property
    def total(self) -> float:
        """Sum over the queries that count: the number reported for counts."""
        return float(np.nansum(self.values))

    @property
    def std(self) -> float:
        """Standard deviation over queries (the divisor is n - 1); NaN for fewer than two."""
        return weighting.std(self.values[self.kept], self._weights_of(self.kept))

    @cached_property
    def tie_mean(self) -> FloatArray:
        """Exact mean over all tie orders, of shape (n_queries,), whatever the policy."""
        return self._of_kept(self.spread.mean[self.rows])

    @cached_property
    def tie_std(self) -> FloatArray:
        """Standard deviation over all tie orders, of shape (n_queries,), whatever the policy."""
        return self._of_kept(self.spread.std[self.rows])

    @cached_property
    def tie_min(self) -> FloatArray:
        """Smallest value over the orders of the ties, of shape (n_queries,)."""
        return self._of_kept(self.spread.extremes[0][self.rows])

    @cached_property
    def tie_max(self) -> FloatArray:
        """Largest value over the orders of the ties, of shape (n_queries,)."""
        return self._of_kept(self.spread.extremes[1][self.rows])

    @property
    def has_unjudged_bounds(self) -> bool:
        """Whether there are bounds over unjudged documents: they were asked for, and the measure has some."""
        return self.unjudged is not None and bool(hooks.service(BOUNDS).has_ends(self.measure))

    @cached_property
    def unjudged_min(self) -> FloatArray:
        """Least value of each query if its retrieved unjudged documents had any relevance, of shape (n_queries,)."""
        return self._of_kept(hooks.service(BOUNDS).ends_of(self)[0])

    @cached_property
    def unjudged_max(self) -> FloatArray:
        """Greatest value of each query if its retrieved unjudged documents had any relevance."""
        return self._of_kept(hooks.service(BOUNDS).ends_of(self)[1])

    @property
    def mean_unjudged_min(self) -> float:
        """Mean over queries of `unjudged_min`: the least mean that labels of unjudged documents can give."""
        return self._mean(self.unjudged_min)

    @property
    def mean_unjudged_max(self) -> float:
        """Mean over queries of `unjudged_max`: the greatest mean that labels of unjudged documents can give."""
        return self._mean(self.unjudged_max)

    @property
    def mean_tie_std(self) -> float:
        """Standard deviation of the mean over queries when each query's ties are broken at random.

        Of a geometric mean to first order: the mean times the standard deviation of the mean logarithm. NaN where a
        judge's labels count in the mean: ties change their values too, and `human_tie_std` is of human labels alone.
        """
        return math.nan if self.is_estimated else self.tie_std_of_values

    @property
    def mean_tie_min(self) -> float:
        """Mean over queries of `tie_min`: the smallest mean that tie orders alone can produce.

        NaN where a judge's labels count in the mean; `human_tie_min` is of human labels alone.
        """
        return math.nan if self.is_estimated else self.tie_min_of_values

    @property
    def mean_tie_max(self) -> float:
        """Mean over queries of `tie_max`: the largest mean that tie orders alone can produce.

        NaN where a judge's labels count in the mean; `human_tie_max` is of human labels alone.
        """
        return math.nan if self.is_estimated else self.tie_max_of_values

    @property
    def human_tie_std(self) -> float:
        """What `mean_tie_std` is of `human_mean`."""
        return self.tie_std_of_values

    @property
    def human_tie_min(self) -> float:
        """What `mean_tie_min` is of `human_mean`."""
        return self.tie_min_of_values

    @property
    def human_tie_max(self) -> float:
        """What `mean_tie_max` is of `human_mean`."""
        return self.tie_max_of_values

    @property
    @with_own_arithmetic
    def tie_std_of_values(self) -> float:
        """What `mean_tie_std` is of `mean_of_values`."""
        own = weighting.relative(self._weights_of(self.kept), self.n_queries)
        found = float(np.sqrt(((own * self.tie_std[self.kept]) ** 2).sum()) / own.sum()) if len(own) else math.nan
        return found * self.mean_of_values if self.measure.geometric else found

    @cached_property
    def tie_min_of_values(self) -> float:
        """What `mean_tie_min` is of `mean_of_values`."""
        return self._mean(self.tie_min)

    @cached_property
    def tie_max_of_values(self) -> float:
        """What `mean_tie_max` is of `mean_of_values`."""
        return self._mean(self.tie_max)

    @property
    @with_own_arithmetic
    def total_tie_std(self) -> float:
        """Standard deviation of the total when each query's ties are broken at random; NaN where ties are unknown."""
        return math.sqrt(self._total_of(self.tie_std**2))

    @property
    def total_tie_min(self) -> float:
        """Sum over queries of `tie_min`: the smallest total that tie orders alone can produce."""
        return self._total_of(self.tie_min)

    @property
    def total_tie_max(self) -> float:
        """Sum over queries of `tie_max`: the largest total that tie orders alone can produce."""
        return self._total_of(self.tie_max)

    def _total_of(self, over_orders: FloatArray) -> float:
        """Return the sum over queries of a number over the orders of ties; NaN where nothing is known of them."""
        return float(np.nansum(over_orders)) if self.measure.knows_ties else math.nan

    def reported(self, of_ties: str = "") -> float:
        """Return the mean, of a count the total; or its ``"tie_std"``, ``"tie_min"`` or ``"tie_max"``."""
        level = "total" if self.measure.total else "mean"
        return float(getattr(self, f"{level}_{of_ties}" if of_ties else level))

    def named_numbers(self) -> Numbers:
        """Give what is reported, with the parts of the names."""
        yield (self.measure.label,), self.reported()
        if self.measure.knows_ties:
            for of_ties in ("tie_std", "tie_min", "tie_max"):
                yield (self.measure.label, of_ties), self.reported(of_ties)
        for name, mean in self.means_of_columns().items():
            if mean is not None:
                yield (self.measure.label, name), mean

    @property
    def has_relevant(self) -> BoolArray:
        """Which queries have a document that counts as relevant for the measure, of shape (n_queries,)."""
        return self.spread.has_relevant[self.rows]

    @property
    def reachable(self) -> float:
        """Mean over the queries that count of the best value that their judgments allow; NaN if they set no limit."""
        return self._mean(self.ideal.values, self.kept)

    @property
    def ideal(self) -> Scores:
        """The same with the best value that the judgments allow for each query; NaN where they set no limit."""
        values = np.where(self.kept, self.spread.reachable[self.rows], np.nan)
        return replace(self, values=values, parts={})

    @cached_property
    def standard_error(self) -> FloatArray:
        """Monte Carlo error of `tie_mean`, of shape (n_queries,): 0, except for a sampled `Custom`."""
        return self.spread.standard_error[self.rows]

    def interval(
        self,
        method: str = "auto",
        *,
        confidence_level: float = 0.95,
        n_resamples: int = 10_000,
        cluster: Cluster = None,
        queries: Source | None = None,
        rng: Rng = 0,
    ) -> Interval:
        """Return a confidence interval of the mean, with its error split into queries and ties.

        Parameters
        ----------
        method : {"auto", "bca", "bootstrap-t", "percentile", "t", "skewed-t", "gaffke", "clopper-pearson"}
            "auto", the default, is "clopper-pearson" for measures that are 0 or 1 in every order (Hit, P@1) without
            clusters; "skewed-t" for those without a lowest or a highest value (DCG, FRP); "gaffke" for all others.
            `Interval.method` says which was used.

            "gaffke" is for values between two limits, such as 0 and 1; "clopper-pearson" is the exact interval of a
            proportion, conservative where ties make values fractions; "t" is Student's t, and "skewed-t" corrects it
            for the skewness of the values. "bca", "bootstrap-t" and "percentile" are bootstraps, "bca" bias-corrected
            and accelerated.
        confidence_level : float, default 0.95
            Between 0 and 1.
        n_resamples : int, default 10,000
            Of bootstraps, 99 or more.
        cluster : str, dict or sequence, optional
            What dependent queries share, such as a document: a column of `queries`, a dict of query_id to cluster, or
            a label for each query. Clusters are resampled whole.
        queries : path or frame, optional
            The queries table of `cluster`.
        rng : numpy.random.Generator or int, default 0

        Returns
        -------
        Interval

        Raises
        ------
        ParameterError
            A parameter is out of its range, a query has no cluster, or the method does not apply to the measure.

        References
        ----------
        B. Efron, "Better Bootstrap Confidence Intervals", JASA 82 (1987). doi:10.1080/01621459.1987.10478410
        C. J. Clopper, E. S. Pearson, "The Use of Confidence or Fiducial Limits", Biometrika 26 (1934).
        doi:10.1093/biomet/26.4.404

        Examples
        --------
        >>> from deadheat import evaluate
        >>> qrels = {f"q{n}": {"a": 1} for n in range(8)}
        >>> run = {f"q{n}": {"a": n % 3, "b": 1} for n in range(8)}
        >>> interval = evaluate(qrels, run, "RR")["RR"].interval("t")
        >>> round(interval.mean, 3), round(interval.low, 3), round(interval.high, 3)
        (0.719, 0.544, 0.893)
        >>> round(interval.query_standard_error, 3), round(interval.tie_standard_error, 3)
        (0.074, 0.054)

        Two hits in two queries prove little, and values without a limit prove nothing:

        >>> few = evaluate({"q1": {"a": 1}, "q2": {"b": 1}}, {"q1": {"a": 1}, "q2": {"b": 1}}, ["Hit@1", "RR", "DCG"])
        >>> hits, ranks = few["Hit@1"].interval(), few["RR"].interval()
        >>> hits.method, round(hits.low, 3), hits.high, hits.is_known
        ('clopper-pearson', 0.158, 1.0, True)
        >>> ranks.method, round(ranks.low, 2), ranks.high, ranks.is_known
        ('gaffke', 0.16, 1.0, True)
        >>> few["DCG"].interval().unknown
        'only 2 queries'
        """
        return intervals([self], IntervalOptions.of(locals()))[0]

    def quantile(self, quantile: float, *, confidence_level: float = 0.95) -> Interval:
        """Return a quantile over queries, such as the median, with its exact interval.

        Parameters
        ----------
        quantile : float
            Between 0 and 1; 0.5 is the median.
        confidence_level : float, default 0.95

        Returns
        -------
        Interval
            `value` is the quantile, by linear interpolation; the ends are values of queries, and cover that of all
            queries with the confidence level at least, whatever the distribution. Where there are too few queries for
            an end, as for a median of fewer than six, it is the lowest or highest value of the measure, and `unknown`
            says so. Each query counts the same, whatever weights there are, and a judge's labels count in none.

        Raises
        ------
        ParameterError
            The quantile or the level is not between 0 and 1, or there are repeats.

        Examples
        --------
        >>> from deadheat import evaluate
        >>> qrels = {f"q{n}": {"a": 1} for n in range(9)}
        >>> run = {f"q{n}": {"a": n % 3, "b": 1} for n in range(9)}
        >>> median = evaluate(qrels, run, "RR")["RR"].quantile(0.5)
        >>> median.value, median.low, median.high
        (0.75, 0.5, 1.0)
        """
        from deadheat.core import stats  # slow to import, and only intervals need it

        if self.several_runs:
            raise ParameterError(
                f"a quantile is not for systems with {self.several_runs}, whose noise its interval would leave out"
            )
        values = self.measure.level_of(self.values)
        low, high = stats.quantile_bounds(values, quantile, confidence_level)
        lowest, highest = self.limits
        kept = values[self.kept]
        return Interval(
            mean=self.mean_of_values,
            low=max(low, lowest),
            high=min(high, highest),
            standard_error=math.nan,
            query_standard_error=math.nan,
            tie_standard_error=math.nan,
            method="binomial",
            confidence_level=confidence_level,
            n_queries=self.n_queries,
            quantile=quantile,
            at=float(np.quantile(kept, quantile)) if len(kept) else math.nan,
            open_ends=("low",) * math.isinf(low) + ("high",) * math.isinf(high),
        )

    def select(self, keep: BoolArray | IntArray) -> Scores:
        """Return the scores of some queries.

        Parameters
        ----------
        keep : ndarray of bool, shape (n_queries,), or of int
            Which queries; or their places, in another order.
        """
        parts = {}
        for key, part in self.parts.items():
            selected = part.select(keep)
            if selected is not None:
                parts[key] = selected
        return replace(
            self,
            query_ids=self.query_ids[keep],
            values=self.values[keep],
            rows=self._rows_of(places_of(keep)),
            weights=None if self.weights is None else self.weights[keep],
            parts=parts,
        )

    def _rows_of(self, places: IntArray) -> IntArray:
        """Return the places in `spread` of the queries at some places here."""
        if isinstance(self.rows, slice) and self.rows == slice(None):
            return places
        return np.arange(self.spread.placements.n_queries)[self.rows][places]

    def weighted(self, weights: FloatArray | None) -> Scores:
        """Return the scores with these weights, if any: a query of weight 0 loses its value; totals have no weights."""
        if weights is None or self.measure.total:
            return self
        return replace(self, weights=weights, values=np.where(weights > 0, self.values, np.nan))

    @property
    def value_limits(self) -> tuple[float, float]:
        """Lowest and highest value that a query can have on judgments such as these."""
        return self.measure.limits(self.spread.placements)

    @property
    def limits(self) -> tuple[float, float]:
        """Lowest and highest value that the mean can have; the values of a geometric measure are logarithms."""
        low, high = self.value_limits
        return self.measure.level_of(low), self.measure.level_of(high)

    def _of_kept(self, values: FloatArray) -> FloatArray:
        own = np.where(self.kept, values, np.nan)
        own.flags.writeable = False
        return own

    def _weights_of(self, kept: BoolArray) -> FloatArray | None:
        return None if self.weights is None else self.weights[kept]

    def _mean(self, values: FloatArray, kept: BoolArray | None = None) -> float:
        kept = ~np.isnan(values) if kept is None else kept
        mean = weighting.mean(values[kept], None if self.weights is None else self.weights[kept])
        return math.exp(mean) if self.measure.geometric else mean


@with_own_arithmetic
def intervals(scores: Sequence[Scores], options: IntervalOptions) -> list[Interval]:
    """Return the intervals of several scores of the same queries, from the same resamples.

    Parameters
    ----------
    scores : sequence of Scores
    options : IntervalOptions

    Raises
    ------
    ParameterError
        The method does not apply to a measure or to clusters, or a query has no cluster.
    """
    from deadheat.core import stats  # slow to import, and only intervals need it

    codes = cluster_codes(options.cluster, options.queries, scores[0].query_ids)
    if codes is not None:
        _refuse_clusters(scores)
    n_clusters = [None if codes is None else len(np.unique(codes[one.kept])) for one in scores]
    weights = weights_beside(scores)
    error, query_error = (
        stats.standard_errors(np.column_stack(columns), cluster=codes, weights=weights).tolist()
        for columns in ([one.values for one in scores], [one.tie_mean for one in scores])
    )
    methods = [
        method_of(
            options.method,
            one.measure,
            has_clusters=n is not None,
            has_weights=one.is_weighted,
        )
        for one, n in zip(scores, n_clusters, strict=True)
    ]
    low, high = _ends(scores, methods, codes, weights, options).tolist()
    skewness = _skewness(scores, methods, codes, weights)
    found = [
        Interval(
            weighting.mean(one.values[one.kept], None if weights is None else weights[one.kept, n]),
            low[n],
            high[n],
            error[n],
            query_error[n],
            one.tie_std_of_values,
            methods[n],
            options.confidence_level,
            one.n_queries,
            n_clusters[n],
            n_effective=one.n_effective if one.is_weighted else None,
            skewness=skewness[n],
        )
        for n, one in enumerate(scores)
    ]
    return [_changed(interval, one) for interval, one in zip(found, scores, strict=True)]


def _refuse_clusters(scores: Sequence[Scores]) -> None:
    """Raise `ParameterError` if a mean is estimated with more than its values, which know no clusters."""
    for one in scores:
        for part in one.parts.values():
            if isinstance(part, EstimatesMean):
                raise ParameterError(argument="cluster", found="some", allowed="none", beside={part.argument: None})


def _changed(interval: Interval, scores: Scores) -> Interval:
    """Return an interval as the parts of its scores change it, in the order of the registry."""
    for step in hooks.order_interval_steps(scores.parts):
        if step == GEOMETRIC:
            interval = _exponentiated(interval, scores)
        elif step in scores.parts:
            interval = scores.parts[step].change_interval(interval, scores)
    return interval


def _ends(
    scores: Sequence[Scores],
    methods: Sequence[str],
    codes: IntArray | None,
    weights: FloatArray | None,
    options: IntervalOptions,
) -> FloatArray:
    """Return the ends of the intervals, of shape (2, n_scores): those by one method and in one range at once."""
    from deadheat.core import stats  # as above

    ends = np.empty((2, len(scores)))
    alike = group_values(((method, scores[n].value_limits), n) for n, method in enumerate(methods))
    for (method, limits), own in alike.items():
        if method == PROPORTION:
            bounds = [
                stats.proportion_bounds(scores[n].total, scores[n].n_queries, options.confidence_level) for n in own
            ]
            ends[:, own] = np.column_stack(bounds)
            continue
        with phase("estimating intervals"):
            low, high = stats.interval_bounds(
                np.column_stack([scores[n].values for n in own]),
                method=method,
                confidence_level=options.confidence_level,
                n_resamples=options.n_resamples,
                cluster=codes,
                rng=options.rng,
                limits=limits,
                weights=None if weights is None else weights[:, own],
            )
        # an infinite end is not known, and no limit makes it so
        found = np.stack([low, high])
        if method in {SKEWED, "bootstrap-t"}:
            found = np.where(np.isinf(found), found, np.clip(found, *limits))
        ends[:, own] = found
    return ends


def _skewness(
    scores: Sequence[Scores], methods: Sequence[str], codes: IntArray | None, weights: FloatArray | None
) -> list[float | None]:
    """Return the skewness of the values that each interval is of; None where it does not matter or is not known."""
    from deadheat.core import stats  # as above

    found: list[float | None] = [None] * len(scores)
    places = [n for n, method in enumerate(methods) if method in BEARABLE_SKEWNESS]
    if not places:
        return found
    skewness = stats.skewness(
        np.column_stack([scores[n].values for n in places]),
        cluster=codes,
        weights=None if weights is None else weights[:, places],
    )[0]
    for n, of_scores in zip(places, skewness.tolist(), strict=True):
        if not math.isnan(of_scores):
            found[n] = of_scores
    return found


def _exponentiated(found: Interval, scores: Scores) -> Interval:
    """Return the interval of a geometric mean from that of the mean logarithm; its errors are to first order."""
    if not scores.measure.geometric:
        return found
    low, high = np.exp([found.low, found.high]).tolist()
    return replace(
        found,
        mean=scores.mean_of_values,
        low=low,
        high=high,
        standard_error=found.standard_error * scores.mean,
        query_standard_error=found.query_standard_error * scores.mean,
    )


def order_by_mean(scores: Sequence[Scores]) -> list[int]:
    """Return the places of some scores of one measure, the best mean first; those without a mean come last.

    Equal means, also those that differ by rounding alone, stay in their order.
    """
    means = np.array([one.measure.sign * one.mean for one in scores], np.float64)
    order: list[int] = np.argsort(first_ranks(means), kind="stable").tolist()
    return order


def n_swapped(values: ArrayLike, others: ArrayLike) -> int:
    """Return how many pairs two lists of values put in opposite orders, by more than floating point leaves of a tie.

    Examples
    --------
    >>> n_swapped([1, 2, 3], [2, 1, 3]), n_swapped([0.1 + 0.2, 0.3], [1, 2])
    (1, 0)
    """
    first, second = (first_ranks(np.asarray(means, np.float64)) for means in (values, others))
    have_both = ~(np.isnan(first) | np.isnan(second))
    return n_swapped_pairs(first[have_both].astype(np.int64), second[have_both].astype(np.int64))


def weights_beside(scores: Sequence[Scores]) -> FloatArray | None:
    """Return the weights of scores of the same queries, of shape (n_queries, n_scores); None where all are equal."""
    columns = [np.ones(len(one.values)) if one.weights is None else one.weights for one in scores]
    return np.column_stack(columns) if any(one.is_weighted for one in scores) else None
