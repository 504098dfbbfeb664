"""Strata, what Evaluation.by() returns: an evaluation of each stratum of queries, and averages over them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, Unpack

import numpy as np

from deadheat.core.arrays import BoolArray, FloatArray, IntArray, run_starts
from deadheat.core.checks import as_count
from deadheat.core.data.flat_names import Numbers
from deadheat.core.data.queries import Queries
from deadheat.core.data.renderable import Plottable, Renderable, make_frame
from deadheat.core.data.sources import Source
from deadheat.core.errors import ParameterError
from deadheat.core.evaluation.evaluation import Evaluation
from deadheat.core.evaluation.interval_estimates import estimate_intervals
from deadheat.core.evaluation.intervals import KNOWN, Cluster, Interval, IntervalArguments, IntervalOptions, method_of
from deadheat.core.evaluation.query_columns import cluster_codes
from deadheat.core.evaluation.reported import ReportedNumbers, report_numbers
from deadheat.core.evaluation.scores import Scores
from deadheat.core.evaluation.strata_intervals import estimate_bounded_ends
from deadheat.core.evaluation.strata_numbers import (
    StrataNumbers,
    are_means_of_values,
    collect_numbers,
    compute_numbers,
    compute_totals,
    report_means,
)
from deadheat.core.evaluation.stratum import (
    Stratum,
    averages_schema,
    check_columns,
    keys_of,
    label,
    names_of,
    summary_schema,
)
from deadheat.core.evaluation.stratum_places import StratumPlaces, groups
from deadheat.core.kernels.ranks import first_ranks
from deadheat.core.libraries import polars as pl
from deadheat.core.measures import Measure
from deadheat.core.measures.selection import ByMeasure
from deadheat.core.random_generators import Rng
from deadheat.core.settings import BOUNDED
from deadheat.core.wording import escape_invisible

MOST_SHOWN = 24  # strata in a line
MOST_KEPT = 1_000  # strata: of more, those that were made before are dropped when others are made
READ_AHEAD = 10_000  # queries: strata that are asked for in turn are made several at a time, which is faster


class Strata(Plottable, Renderable, Mapping[Stratum, Evaluation], figures="strata", shown=("strata",)):
    """An evaluation of each stratum of queries. Returned by :meth:`Evaluation.by`.

    A sorted mapping of stratum to `Evaluation`: first levels (easy, medium, hard; low, medium, high) from low to high,
    then numbers by size, then other values alphabetically, with numbers inside them by size. Queries without a value
    in a column are in the stratum "(none)", which comes last. An evaluation is made when it is asked for.

    Attributes
    ----------
    columns : tuple of str
        Columns of the queries table.
    smallest : int
    whole : Evaluation
        Of all queries.
    queries : Queries
    small : tuple
        The strata with fewer than `smallest` queries.
    unassigned : tuple of str
        Queries that have no value in a column.
    """

    def __init__(
        self,
        whole: Evaluation,
        places: StratumPlaces,
        columns: Sequence[str],
        queries: Queries,
        smallest: int,
    ) -> None:
        self.columns, self.smallest = tuple(columns), smallest
        self.whole, self.queries, self._places = whole, queries, places
        self._made: dict[int, Evaluation] = {}  # by the number of the stratum
        self._changed: dict[Stratum, Evaluation] = {}  # by features
        self._numbers: dict[Measure, StrataNumbers] = {}
        for part in whole.features.values():
            self._changed.update(part.in_strata(self, columns, queries))

    # A mapping would compare evaluations, and make one of each stratum; results of deadheat equal themselves alone.
    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)

    def __len__(self) -> int:
        return len(self._places)

    def __iter__(self) -> Iterator[Stratum]:
        return iter(self._places)

    def __getitem__(self, stratum: Stratum) -> Evaluation:
        if stratum in self._changed:
            return self._changed[stratum]
        number = self._places.number_of_stratum[stratum]
        if number not in self._made:
            self._make(number)
        return self._made[number]

    def __contains__(self, stratum: object) -> bool:
        return stratum in self._places.number_of_stratum

    def _make(self, number: int) -> None:
        """Make the evaluation of a stratum; where strata are asked for in turn, those of the next ones, too."""
        last = number + 1
        if number == 0 or number - 1 in self._made:
            bounds = self._places.bounds
            last = max(last, int(np.searchsorted(bounds, bounds[number] + READ_AHEAD, side="right")) - 1)
        if len(self._made) > MOST_KEPT:
            self._made.clear()
        numbers = range(number, min(last, len(self)))
        sets = [self._places.places_at(place) for place in numbers]
        self._made.update(zip(numbers, self.whole.split(sets), strict=True))

    @cached_property
    def small(self) -> tuple[Stratum, ...]:
        """The strata with fewer than `smallest` queries."""
        return tuple(self._places.strata_at(np.flatnonzero(self._places.sizes < self.smallest)))

    @cached_property
    def unassigned(self) -> tuple[str, ...]:
        """Queries that have no value in a column."""
        is_lacking = np.repeat(~self._places.are_assigned, self._places.sizes)
        ids = self.whole.query_ids[self._places.places[is_lacking]]
        return tuple(sorted(ids.tolist()))

    @property
    def n_repeated(self) -> int:
        """How many more queries the strata have than there are, as some have several values."""
        return len(self._places.places) - len(np.unique(self._places.places))

    def __repr__(self) -> str:
        first = np.arange(min(len(self), MOST_SHOWN))
        sizes = []
        for stratum, size in zip(self._places.strata_at(first), self._places.sizes.tolist(), strict=False):
            sizes.append(f"{label(stratum)}: {size}")
        if len(self) > MOST_SHOWN:
            sizes.append(f"and {len(self) - MOST_SHOWN:,} more")
        return escape_invisible(f"<Strata of {self.whole.name} by {', '.join(self.columns)}: {'; '.join(sizes)}>")

    def summary(
        self,
        method: str = "auto",
        *,
        confidence_level: float = 0.95,
        n_resamples: int = 10_000,
        rng: Rng = 0,
        cluster: Cluster = None,
        queries: Source | None = None,
    ) -> pl.DataFrame:
        """Return a row for each stratum and measure.

        Parameters
        ----------
        method, confidence_level, n_resamples, rng
            Of the intervals, as for :meth:`Scores.interval`.
        cluster, queries : optional
            As for :meth:`Scores.interval`; by default a column of clusters is one of the queries table.

        Returns
        -------
        polars.DataFrame
            The stratum columns, measure, n_queries (with a value), mean, low, high, standard_error, tie_std, tie_min,
            tie_max (of the mean over tie orders), is_small, and for the interval ci_method, known and unknown (the
            reason, or empty). With one query or none, low, high and standard_error are null, except the ends of
            "clopper-pearson".
        """
        options: Any = vars(IntervalOptions.of(locals()))
        rows = []
        numbers_by_measure = {measure: self.numbers(measure) for measure in self.whole.measures}
        for place, (stratum, intervals) in enumerate(self.intervals(**options).items()):
            for (measure, numbers), interval in zip(numbers_by_measure.items(), intervals.values(), strict=True):
                n_queries = int(numbers.n_queries[place])
                row = (
                    *keys_of(stratum),
                    measure.label,
                    n_queries,
                    float(numbers.mean[place]),
                    interval.low,
                    interval.high,
                    interval.standard_error,
                    float(numbers.mean_tie_std[place]),
                    float(numbers.mean_tie_min[place]),
                    float(numbers.mean_tie_max[place]),
                    n_queries < self.smallest,
                    *(getattr(interval, attribute) for attribute in KNOWN.values()),
                )
                rows.append(row)
        return make_frame(rows, dict.fromkeys(self.columns, pl.String) | summary_schema())

    def to_polars(self) -> pl.DataFrame:
        """Return :meth:`summary` with its defaults."""
        return self.summary()

    def named_numbers(self) -> Numbers:
        """Give the numbers of :meth:`to_flat` with the parts of their names."""
        for stratum, part in self.items():
            name = ", ".join(map(" ".join, zip(self.columns, keys_of(stratum), strict=True)))
            yield from (((name, *parts), number) for parts, number in part.named_numbers())

    def intervals(self, **options: Unpack[IntervalArguments]) -> dict[Stratum, dict[str, Interval]]:
        """Return, for each stratum, a confidence interval of each measure's mean, by the name that was asked for.

        Parameters
        ----------
        **options
            As for :meth:`Scores.interval`; by default a column of clusters is one of the queries table.
        """
        asked = IntervalOptions(**options)
        table = self.queries if asked.queries is None and isinstance(asked.cluster, str) else asked.queries
        codes = cluster_codes(asked.cluster, table, self.whole.query_ids)
        ends = self._bounded_ends(asked)
        options_of_stratum = replace(asked, cluster=None, queries=None)
        intervals: dict[Stratum, dict[str, Interval]] = {}
        for number, (stratum, part) in enumerate(self.items()):
            if codes is not None:
                options_of_stratum = replace(asked, cluster=codes[self._places.places_at(number)], queries=None)
            ends_of_stratum = {measure: (low[number], high[number]) for measure, (low, high) in ends.items()}
            estimates = estimate_intervals(list(part), options_of_stratum, ends_of_stratum)
            labels = [measure.label for measure in part.measures]
            intervals[stratum] = ByMeasure(zip(labels, estimates, strict=True), rel=part.conventions.rel)
        return intervals

    def _bounded_ends(self, options: IntervalOptions) -> dict[Measure, FloatArray]:
        """Return the ends of Gaffke's intervals of all strata by measure, each of shape (2, n_strata).

        Strata of one size are searched together, one measure at a time. Alone, a stratum is searched for all its
        measures at once: so nothing is returned where there are fewer strata than searches.
        """
        if options.cluster is not None or self._changed:
            return {}
        bounded = []
        for scores in self.whole:
            method = method_of(options.method, scores.measure, has_clusters=False)
            if method == BOUNDED and scores.weights is None:
                bounded.append(scores)
        n_searches = len(bounded) * len(np.unique(self.sizes))
        if n_searches >= len(self):
            return {}
        return {
            scores.measure: estimate_bounded_ends(scores, self._places, options.confidence_level) for scores in bounded
        }

    def averages(self, within: str | None = None) -> pl.DataFrame:
        """Return the averages over strata of each measure, and how far apart the strata are.

        Parameters
        ----------
        within : str, optional
            One of several stratum columns: for each of its values, averages over the strata that share it.

        Returns
        -------
        polars.DataFrame
            The column `within` if it is given, measure, micro (mean over all queries), macro (mean over the strata's
            means), n_strata (that have a mean), variance and std (of the strata's means; the divisor is n_strata, as
            in ``np.var``; null for fewer than two), lowest and highest (the strata with these means). Queries in the
            stratum "(none)" count in micro only.
        """
        if within is not None and (within not in self.columns or len(self.columns) < 2):
            raise ParameterError(
                argument="within",
                given=within,
                allowed=self.columns if len(self.columns) > 1 else "one of several stratum columns",
            )
        strata = np.arange(len(self))
        if within is None:
            averages = [self._average(measure, strata, None) for measure in self.whole.measures]
            return make_frame(averages, averages_schema())
        column = self.columns.index(within)
        codes = self._places.codes[:, column]
        by_code = np.argsort(codes, kind="stable")
        rows = []
        for numbers in np.split(by_code, run_starts(codes[by_code])[1:]):
            value = self._places.labels_at(column, numbers[:1]).item()
            rows += [(value, *self._average(measure, numbers, column)) for measure in self.whole.measures]
        return make_frame(rows, {within: pl.String} | averages_schema())

    def _average(self, measure: Measure, strata: IntArray, column: int | None) -> tuple[float | str | None, ...]:
        """Return what `averages_schema` names, of one measure over some strata, which share the label of a column."""
        scores = self._scores_of(measure, strata)
        means = self.numbers(measure).mean[strata]
        has_mean = self._places.are_assigned[strata] & ~np.isnan(means)
        values = means[has_mean]
        if not len(values):
            return measure.label, scores.mean, None, 0, None, None, None, None
        variance = float(np.var(values)) if len(values) > 1 else float("nan")
        ranks = first_ranks(values)
        ends = strata[has_mean][[ranks.argmax(), ranks.argmin()]]
        keys = []
        for place in range(len(self.columns)):
            if place != column:
                keys.append(self._places.labels_at(place, ends).to_list())
        lowest, highest = (", ".join(labels) for labels in zip(*keys, strict=True))
        macro = float(values.mean())
        return measure.label, scores.mean, macro, len(values), variance, variance**0.5, lowest, highest

    def _scores_of(self, measure: Measure, strata: IntArray) -> Scores:
        """Return the scores of the queries of some strata, each once."""
        is_in = np.zeros(len(self.whole.query_ids), np.bool_)
        if len(strata) == len(self):
            is_in[self._places.places] = True
        else:
            is_in[np.concatenate([self._places.places_at(number) for number in strata.tolist()])] = True
        if is_in.all():
            return self.whole[measure]
        scores = self.whole[measure].select(np.flatnonzero(is_in))
        for part in self.whole.features.values():
            evaluations = [self[stratum] for stratum in self._places.strata_at(strata)]
            scores = part.in_union(self.whole.select(is_in), evaluations)[measure]
        return scores

    @property
    def sizes(self) -> IntArray:
        """How many queries each stratum has, of shape (n_strata,)."""
        return self._places.sizes

    def count_queries(self, which: BoolArray) -> IntArray:
        """Return how many queries of each stratum are among some.

        Parameters
        ----------
        which : ndarray of bool, shape (n_queries,)
            Of the queries of the whole.

        Returns
        -------
        ndarray of int, shape (n_strata,)
        """
        return self._places.count_queries(which)

    def reported(self, measure: Measure) -> list[ReportedNumbers]:
        """Return what is reported of each stratum by a measure that was evaluated.

        Parameters
        ----------
        measure : Measure
        """
        if self._has_estimates(measure):
            return [report_numbers(part[measure]) for part in self.values()]
        if measure.total:
            return compute_totals(self.whole[measure], self._places)
        return report_means(self.numbers(measure))

    def _has_estimates(self, measure: Measure) -> bool:
        """Tell whether parts may estimate means with more than the values of the whole."""
        return bool(self._changed) or not are_means_of_values(self.whole[measure])

    def numbers(self, measure: Measure) -> StrataNumbers:
        """Return the numbers of all strata of a measure that was evaluated, as arrays.

        Parameters
        ----------
        measure : Measure
        """
        if measure not in self._numbers:
            scores = self.whole[measure]
            if self._has_estimates(measure):
                self._numbers[measure] = collect_numbers([part[measure] for part in self.values()])
            else:
                self._numbers[measure] = compute_numbers(scores, self._places)
        return self._numbers[measure]


def strata_of_evaluation(
    evaluation: Evaluation, columns: str | Sequence[str], queries: Source, *, smallest: int, pool_languages: bool
) -> Strata:
    """Return the strata of an evaluation, as :meth:`Evaluation.by` does, which warns in the name of its caller."""
    as_count("smallest", smallest, low=0)
    names = names_of(columns)
    table = Queries.of(queries, names)
    check_columns(names, table)
    places = groups(evaluation.query_ids, names, table, pool_languages=pool_languages, stacklevel=4)
    return Strata(evaluation, places, names, table, smallest)
