"""The scores of one measure, query by query: how far ties can move them, and how certain their mean is.

There are three means. `mean_of_values` is that of the values of these queries. `estimated_mean` is what a part
estimates with more than these values, such as a judge's labels for other queries. `mean` is the one to report: the
estimate if there is one, else `mean_of_values`. `tie_std_of_values`, `tie_min_of_values` and `tie_max_of_values` say
how far tie orders move `mean_of_values`. The public names of these four are `human_mean`, `human_tie_std`,
`human_tie_min` and `human_tie_max`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from deadheat.core import hooks
from deadheat.core.arrays import BoolArray, FloatArray, IntArray, TextArray, find_places, use_default_arithmetic
from deadheat.core.data.flat_names import Numbers
from deadheat.core.data.renderable import InNotebooks
from deadheat.core.data.sources import Source
from deadheat.core.errors import ParameterError
from deadheat.core.evaluation.intervals import BEARABLE_SKEWNESS, Cluster, Interval, IntervalOptions, method_of
from deadheat.core.evaluation.parts import EstimatesMean, MeanEstimate, ScorePart
from deadheat.core.evaluation.query_columns import cluster_codes
from deadheat.core.evaluation.tie_spread import TieSpread
from deadheat.core.kernels import weighting
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
        What features know of these queries beside their values, by the keys of the features: repeats, bounds over
        unjudged documents, a judge's labels.
    """

    is_evaluation: ClassVar[bool] = True  # readers of runs refuse scores as they refuse an evaluation

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
        level = f"{self.mean:.4f}"
        if self.measure.total:
            level = f"total {self.total:.4f}"
        queries = format_count(self.n_queries, "query", "queries")
        return escape_invisible(f"<Scores {self.measure.label}: {level} over {queries}>")

    def with_part(self, key: str, part: ScorePart | None) -> Scores:
        """Return the scores with this part in place of the one with its key; without one if `part` is None."""
        parts = dict(self.parts)
        parts.pop(key, None)
        if part is not None:
            parts[key] = part
        return replace(self, parts=parts)

    @property
    def repeats(self) -> Any:  # noqa: ANN401 - Repeated, of a plugin, or None
        """The values of each run of a system that was run several times, of which `values` are the means."""
        return self.parts.get("repeats")

    @property
    def several_runs(self) -> str:
        """The word for the runs of a system over which `values` are means, for messages; empty for one run.

        Such a system has no ranking to look at, and more noise than that over queries.
        """
        for part in self.parts.values():
            word: str = getattr(part, "several_runs", "")
            if word:
                return word
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
        """Return the columns of the parts by name, NaN where a query does not count.

        None instead of a column says that this measure has none.
        """
        columns: dict[str, FloatArray | None] = {}
        for part in self.parts.values():
            for name, column in part.columns().items():
                columns[name] = None
                if column is not None:
                    columns[name] = self._blank_uncounted(column)
        return columns

    def means_of_columns(self) -> dict[str, float | None]:
        """Return the mean of each of :meth:`columns` over the queries that count."""
        means: dict[str, float | None] = {}
        for name, column in self.columns().items():
            means[name] = None
            if column is not None:
                means[name] = self._mean(column)
        return means

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
        if self.weights is None:
            return float(self.n_queries)
        return weighting.effective_number(self.weights[self.kept])

    @cached_property
    def mean(self) -> float:
        """Mean over the queries that count; NaN if there are none. Of logarithms (GMAP), the geometric mean.

        With a judge's labels for more queries (``judge=``) it is estimated from both; `human_mean` is that of humans.
        """
        if self.estimated_mean is not None:
            return self.estimated_mean.estimate
        return self.mean_of_values

    @property
    def human_mean(self) -> float:
        """Mean over the queries of the qrels, by human labels alone; the same as `mean` without a judge."""
        return self.mean_of_values

    @property
    def mean_of_values(self) -> float:
        """Mean of the values of the queries that count; NaN if there are none."""
        return self._mean(self.values)

    @cached_property
    def estimated_mean(self) -> MeanEstimate | None:
        """The mean as a part estimates it, with more than the values of these queries; None if no part does."""
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
        """Whether `mean` differs from `mean_of_values`, as more counts than the values, such as a judge's labels."""
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
        return weighting.std(self.values[self.kept], self._select_weights(self.kept))

    @cached_property
    def tie_mean(self) -> FloatArray:
        """Exact mean over all tie orders, of shape (n_queries,), whatever the policy."""
        return self._blank_uncounted(self.spread.mean[self.rows])

    @cached_property
    def tie_std(self) -> FloatArray:
        """Standard deviation over all tie orders, of shape (n_queries,), whatever the policy."""
        return self._blank_uncounted(self.spread.std[self.rows])

    @cached_property
    def tie_min(self) -> FloatArray:
        """Smallest value over the orders of the ties, of shape (n_queries,)."""
        return self._blank_uncounted(self.spread.extremes[0][self.rows])

    @cached_property
    def tie_max(self) -> FloatArray:
        """Largest value over the orders of the ties, of shape (n_queries,)."""
        return self._blank_uncounted(self.spread.extremes[1][self.rows])

    @property
    def has_unjudged_bounds(self) -> bool:
        """Whether there are bounds over unjudged documents: they were asked for, and the measure has some."""
        return self.unjudged is not None and bool(hooks.service(BOUNDS).has_ends(self.measure))

    @cached_property
    def unjudged_min(self) -> FloatArray:
        """Least value of each query if its retrieved unjudged documents had any relevance, of shape (n_queries,)."""
        return self._blank_uncounted(hooks.service(BOUNDS).ends_of(self)[0])

    @cached_property
    def unjudged_max(self) -> FloatArray:
        """Greatest value of each query if its retrieved unjudged documents had any relevance."""
        return self._blank_uncounted(hooks.service(BOUNDS).ends_of(self)[1])

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
        if self.is_estimated:
            return math.nan
        return self.tie_std_of_values

    @property
    def mean_tie_min(self) -> float:
        """Mean over queries of `tie_min`: the smallest mean that tie orders alone can produce.

        NaN where a judge's labels count in the mean; `human_tie_min` is of human labels alone.
        """
        if self.is_estimated:
            return math.nan
        return self.tie_min_of_values

    @property
    def mean_tie_max(self) -> float:
        """Mean over queries of `tie_max`: the largest mean that tie orders alone can produce.

        NaN where a judge's labels count in the mean; `human_tie_max` is of human labels alone.
        """
        if self.is_estimated:
            return math.nan
        return self.tie_max_of_values

    @property
    def human_tie_std(self) -> float:
        """Standard deviation of `human_mean` when each query's ties are broken at random."""
        return self.tie_std_of_values

    @property
    def human_tie_min(self) -> float:
        """Smallest `human_mean` that tie orders alone can produce."""
        return self.tie_min_of_values

    @property
    def human_tie_max(self) -> float:
        """Largest `human_mean` that tie orders alone can produce."""
        return self.tie_max_of_values

    @property
    @use_default_arithmetic
    def tie_std_of_values(self) -> float:
        """Standard deviation of `mean_of_values` when each query's ties are broken at random."""
        weights = weighting.divide_by_largest(self._select_weights(self.kept), self.n_queries)
        if not len(weights):
            return math.nan
        variance_of_sum = ((weights * self.tie_std[self.kept]) ** 2).sum()
        std = float(np.sqrt(variance_of_sum) / weights.sum())
        if self.measure.geometric:
            return std * self.mean_of_values  # the values are logarithms: to first order
        return std

    @cached_property
    def tie_min_of_values(self) -> float:
        """Smallest `mean_of_values` that tie orders alone can produce."""
        return self._mean(self.tie_min)

    @cached_property
    def tie_max_of_values(self) -> float:
        """Largest `mean_of_values` that tie orders alone can produce."""
        return self._mean(self.tie_max)

    @property
    @use_default_arithmetic
    def total_tie_std(self) -> float:
        """Standard deviation of the total when each query's ties are broken at random; NaN where ties are unknown."""
        return math.sqrt(self._add_up(self.tie_std**2))

    @property
    def total_tie_min(self) -> float:
        """Sum over queries of `tie_min`: the smallest total that tie orders alone can produce."""
        return self._add_up(self.tie_min)

    @property
    def total_tie_max(self) -> float:
        """Sum over queries of `tie_max`: the largest total that tie orders alone can produce."""
        return self._add_up(self.tie_max)

    def _add_up(self, tie_numbers: FloatArray) -> float:
        """Return the sum over queries of what ties do to each; NaN for a measure that does not know ties."""
        if not self.measure.knows_ties:
            return math.nan
        return float(np.nansum(tie_numbers))

    def reported(self, of_ties: str = "") -> float:
        """Return the mean, or the total of a count; or the ``"tie_std"``, ``"tie_min"`` or ``"tie_max"`` of either."""
        name = "total" if self.measure.total else "mean"
        if of_ties:
            name = f"{name}_{of_ties}"
        return float(getattr(self, name))

    def named_numbers(self) -> Numbers:
        """Yield the numbers that :meth:`Evaluation.to_flat` returns, with the parts of their names."""
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
        """Scores with the best value that the judgments allow for each query; NaN where they set no limit."""
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
        options = IntervalOptions(
            method=method,
            confidence_level=confidence_level,
            n_resamples=n_resamples,
            cluster=cluster,
            queries=queries,
            rng=rng,
        )
        return estimate_intervals([self], options)[0]

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
        open_ends = []
        if math.isinf(low):
            open_ends.append("low")
        if math.isinf(high):
            open_ends.append("high")
        counted = values[self.kept]
        estimate = math.nan
        if len(counted):
            estimate = float(np.quantile(counted, quantile))
        lowest, highest = self.limits
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
            at=estimate,
            open_ends=tuple(open_ends),
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
            rows=self._find_rows(find_places(keep)),
            weights=self._select_weights(keep),
            parts=parts,
        )

    def _find_rows(self, places: IntArray) -> IntArray:
        """Return the places in `spread` of the queries at some places here."""
        if isinstance(self.rows, slice) and self.rows == slice(None):
            return places
        return np.arange(self.spread.placements.n_queries)[self.rows][places]

    def weighted(self, weights: FloatArray | None) -> Scores:
        """Return the scores with these weights, if any. A query of weight 0 loses its value; totals have no weights."""
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

    def _blank_uncounted(self, values: FloatArray) -> FloatArray:
        """Return values with NaN for queries that do not count; they cannot be written to."""
        counted = np.where(self.kept, values, np.nan)
        counted.flags.writeable = False
        return counted

    def _select_weights(self, queries: BoolArray | IntArray) -> FloatArray | None:
        if self.weights is None:
            return None
        return self.weights[queries]

    def _mean(self, values: FloatArray, counts: BoolArray | None = None) -> float:
        """Return the mean of the values of the queries that count: by default those that have one."""
        if counts is None:
            counts = ~np.isnan(values)
        mean = weighting.mean(values[counts], self._select_weights(counts))
        if self.measure.geometric:
            return math.exp(mean)
        return mean


@use_default_arithmetic
def estimate_intervals(scores_by_column: Sequence[Scores], options: IntervalOptions) -> list[Interval]:
    """Return the intervals of several scores of the same queries, all from the same resamples.

    Parameters
    ----------
    scores_by_column : sequence of Scores
        Those of one measure are a column of the arrays below.
    options : IntervalOptions

    Raises
    ------
    ParameterError
        The method does not apply to a measure or to clusters, or a query has no cluster.
    """
    from deadheat.core import stats  # slow to import, and only intervals need it

    cluster = cluster_codes(options.cluster, options.queries, scores_by_column[0].query_ids)
    if cluster is not None:
        _refuse_clusters(scores_by_column)
    weights = stack_weights(scores_by_column)
    values = np.column_stack([scores.values for scores in scores_by_column])
    tie_means = np.column_stack([scores.tie_mean for scores in scores_by_column])
    errors = stats.standard_errors(values, cluster=cluster, weights=weights).tolist()
    query_errors = stats.standard_errors(tie_means, cluster=cluster, weights=weights).tolist()
    methods = []
    for scores in scores_by_column:
        has_weights = scores.is_weighted
        method = method_of(options.method, scores.measure, has_clusters=cluster is not None, has_weights=has_weights)
        methods.append(method)
    low, high = _estimate_ends(scores_by_column, methods, cluster, weights, options).tolist()
    skewness = _estimate_skewness(scores_by_column, methods, cluster, weights)
    intervals = []
    for column, scores in enumerate(scores_by_column):
        n_effective = None
        if scores.is_weighted:
            n_effective = scores.n_effective
        weights_of_column = None
        if weights is not None:
            weights_of_column = weights[scores.kept, column]
        n_clusters = None
        if cluster is not None:
            n_clusters = len(np.unique(cluster[scores.kept]))
        interval = Interval(
            mean=weighting.mean(scores.values[scores.kept], weights_of_column),
            low=low[column],
            high=high[column],
            standard_error=errors[column],
            query_standard_error=query_errors[column],
            tie_standard_error=scores.tie_std_of_values,
            method=methods[column],
            confidence_level=options.confidence_level,
            n_queries=scores.n_queries,
            n_clusters=n_clusters,
            n_effective=n_effective,
            skewness=skewness[column],
        )
        intervals.append(_change_by_parts(interval, scores))
    return intervals


def _refuse_clusters(scores_by_column: Sequence[Scores]) -> None:
    """Raise `ParameterError` if a part estimates a mean, which it cannot with clusters."""
    for scores in scores_by_column:
        for part in scores.parts.values():
            if isinstance(part, EstimatesMean):
                raise ParameterError(argument="cluster", found="some", allowed="none", beside={part.argument: None})


def _change_by_parts(interval: Interval, scores: Scores) -> Interval:
    """Return an interval after each part of its scores has changed it, in the order of the registry."""
    for step in hooks.order_interval_steps(scores.parts):
        if step == GEOMETRIC:
            interval = _exponentiate(interval, scores)
        elif step in scores.parts:
            interval = scores.parts[step].change_interval(interval, scores)
    return interval


def _estimate_ends(
    scores_by_column: Sequence[Scores],
    methods: Sequence[str],
    cluster: IntArray | None,
    weights: FloatArray | None,
    options: IntervalOptions,
) -> FloatArray:
    """Return the ends of the intervals, of shape (2, n_scores).

    Scores with the same method and the same limits are estimated together, from the same resamples.
    """
    from deadheat.core import stats  # as above

    ends = np.empty((2, len(scores_by_column)))
    columns_by_key = []
    for column, (method, scores) in enumerate(zip(methods, scores_by_column, strict=True)):
        columns_by_key.append(((method, scores.value_limits), column))
    for (method, limits), columns in group_values(columns_by_key).items():
        if method == PROPORTION:
            for column in columns:
                scores = scores_by_column[column]
                ends[:, column] = stats.proportion_bounds(scores.total, scores.n_queries, options.confidence_level)
            continue
        with phase("estimating intervals"):
            bounds = np.stack(
                stats.interval_bounds(
                    np.column_stack([scores_by_column[column].values for column in columns]),
                    method=method,
                    confidence_level=options.confidence_level,
                    n_resamples=options.n_resamples,
                    cluster=cluster,
                    rng=options.rng,
                    limits=limits,
                    weights=None if weights is None else weights[:, columns],
                )
            )
        if method in {SKEWED, "bootstrap-t"}:
            # an infinite end is one that is not known, and a limit does not make it known
            bounds = np.where(np.isinf(bounds), bounds, np.clip(bounds, *limits))
        ends[:, columns] = bounds
    return ends


def _estimate_skewness(
    scores_by_column: Sequence[Scores], methods: Sequence[str], cluster: IntArray | None, weights: FloatArray | None
) -> list[float | None]:
    """Return the skewness of each column of values; None where its method does not need it, or it is not known."""
    from deadheat.core import stats  # as above

    skewness: list[float | None] = [None] * len(scores_by_column)
    columns = [column for column, method in enumerate(methods) if method in BEARABLE_SKEWNESS]
    if not columns:
        return skewness
    estimates = stats.skewness(
        np.column_stack([scores_by_column[column].values for column in columns]),
        cluster=cluster,
        weights=None if weights is None else weights[:, columns],
    )[0]
    for column, estimate in zip(columns, estimates.tolist(), strict=True):
        if not math.isnan(estimate):
            skewness[column] = estimate
    return skewness


def _exponentiate(interval: Interval, scores: Scores) -> Interval:
    """Return the interval of a geometric mean, given that of the mean logarithm; its errors are first-order ones."""
    if not scores.measure.geometric:
        return interval
    low, high = np.exp([interval.low, interval.high]).tolist()
    return replace(
        interval,
        mean=scores.mean_of_values,
        low=low,
        high=high,
        standard_error=interval.standard_error * scores.mean,
        query_standard_error=interval.query_standard_error * scores.mean,
    )


def stack_weights(scores_by_column: Sequence[Scores]) -> FloatArray | None:
    """Return the weights of scores of the same queries, of shape (n_queries, n_scores); None where all are equal."""
    if not any(scores.is_weighted for scores in scores_by_column):
        return None
    columns: list[FloatArray] = []
    for scores in scores_by_column:
        if scores.weights is None:
            columns.append(np.ones(len(scores.values)))
        else:
            columns.append(scores.weights)
    return np.column_stack(columns)
