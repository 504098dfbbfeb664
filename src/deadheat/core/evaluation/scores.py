"""The scores of one measure, query by query: how far ties can move them, and how certain their mean is.

There are three means. `mean_of_values` is that of the values of these queries. `estimated_mean` is what a part
estimates with more than these values, such as a judge's labels for other queries. `mean` is the one to report: the
estimate if there is one, else `mean_of_values`. `tie_std_of_values`, `tie_min_of_values` and `tie_max_of_values` say
how far tie orders move `mean_of_values`. The public names of these four are `human_mean`, `human_tie_std`,
`human_tie_min` and `human_tie_max`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from deadheat.core import hooks
from deadheat.core.arrays import BoolArray, FloatArray, IntArray, TextArray, find_places, use_default_arithmetic
from deadheat.core.data.flat_names import Numbers
from deadheat.core.data.renderable import InNotebooks
from deadheat.core.data.sources import Source
from deadheat.core.evaluation.parts import EstimatesMean, MeanEstimate, ScorePart
from deadheat.core.evaluation.tie_spread import TieSpread
from deadheat.core.kernels import weighting
from deadheat.core.libraries import polars as pl
from deadheat.core.measures import Measure
from deadheat.core.random_generators import Rng
from deadheat.core.wording import escape_invisible, format_count

if TYPE_CHECKING:
    from deadheat.core.evaluation.intervals import Cluster, Interval

BOUNDS = "bounds"  # the part and the service of bounds over unjudged documents


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
        from deadheat.core.evaluation.interval_estimates import estimate_intervals  # few scores have intervals
        from deadheat.core.evaluation.intervals import IntervalOptions

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
        from deadheat.core.evaluation.interval_estimates import estimate_quantile  # few scores have intervals

        return estimate_quantile(self, quantile, confidence_level)

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
