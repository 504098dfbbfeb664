"""Strata, what Evaluation.by() returns: an evaluation of each stratum of queries, and averages over them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Unpack

import numpy as np

from deadheat.core.arrays import IntArray
from deadheat.core.checks import as_count
from deadheat.core.data.flat_names import Numbers
from deadheat.core.data.queries import Queries
from deadheat.core.data.renderable import Plottable, Renderable, make_frame
from deadheat.core.data.sources import Source
from deadheat.core.errors import ParameterError
from deadheat.core.evaluation.evaluation import Evaluation
from deadheat.core.evaluation.intervals import KNOWN, Cluster, Interval, IntervalArguments, IntervalOptions
from deadheat.core.evaluation.query_columns import cluster_codes
from deadheat.core.evaluation.stratum import (
    Stratum,
    averages_schema,
    check_columns,
    groups,
    is_assigned,
    keys_of,
    label,
    names_of,
    order,
    summary_schema,
)
from deadheat.core.kernels.ranks import first_ranks
from deadheat.core.libraries import polars as pl
from deadheat.core.measures import Measure
from deadheat.core.random_generators import Rng
from deadheat.core.structures import group_values
from deadheat.core.wording import escape_invisible


class Strata(Plottable, Renderable, dict[Stratum, Evaluation], figures="strata", shown=("strata",)):
    """An evaluation of each stratum of queries. Returned by :meth:`Evaluation.by`.

    A sorted dict of stratum to `Evaluation`: first levels (easy, medium, hard; low, medium, high) from low to high,
    then numbers by size, then other values alphabetically, with numbers inside them by size. Queries without a value
    in a column are in the stratum "(none)", which comes last.

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
        places: Mapping[Stratum, IntArray],
        columns: Sequence[str],
        queries: Queries,
        smallest: int,
    ) -> None:
        self.columns, self.smallest = tuple(columns), smallest
        self.whole, self.queries, self._places = whole, queries, dict(places)
        super().__init__(zip(places, whole.split(list(places.values())), strict=True))
        for part in whole.features.values():
            self.update(part.in_strata(self, columns, queries))
        self.small = tuple(stratum for stratum, part in self.items() if len(part.query_ids) < smallest)
        lacking = [part.query_ids for stratum, part in self.items() if not is_assigned(stratum)]
        self.unassigned: tuple[str, ...] = tuple(sorted(query for ids in lacking for query in ids.tolist()))

    def __repr__(self) -> str:
        sizes = "; ".join(f"{label(stratum)}: {len(part.query_ids)}" for stratum, part in self.items())
        return escape_invisible(f"<Strata of {self.whole.name} by {', '.join(self.columns)}: {sizes}>")

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
        rows = [
            (
                *keys_of(stratum),
                scores.measure.label,
                scores.n_queries,
                *(scores.mean, interval.low, interval.high, interval.standard_error),
                *(scores.mean_tie_std, scores.mean_tie_min, scores.mean_tie_max),
                scores.n_queries < self.smallest,
                *(getattr(interval, attribute) for attribute in KNOWN.values()),
            )
            for stratum, found in self.intervals(**options).items()
            for scores, interval in zip(self[stratum], found.values(), strict=True)
        ]
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
        clusters = {stratum: None if codes is None else codes[self._places[stratum]] for stratum in self}
        return {
            stratum: part.intervals(**options | {"cluster": clusters[stratum], "queries": None})
            for stratum, part in self.items()
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
        place = None if within is None else self.columns.index(within)
        found = group_values(("" if place is None else stratum[place], stratum) for stratum in self)
        rows = [
            (*([] if within is None else [value]), measure.label, *self._average(measure, found[value], place))
            for value in sorted(found, key=order)
            for measure in self.whole.measures
        ]
        return make_frame(rows, ({within: pl.String} if within else {}) | averages_schema())

    def _average(self, measure: Measure, strata: list[Stratum], place: int | None) -> tuple[float | str | None, ...]:
        """Return what `averages_schema` names, of one measure over some strata that share the column at `place`."""
        keep = np.unique(np.concatenate([self._places[one] for one in strata]))
        are_all = len(keep) == len(self.whole.query_ids)
        scores = self.whole[measure] if are_all else self.whole[measure].select(keep)
        for part in self.whole.features.values():
            if not are_all:
                scores = part.in_union(self.whole.select(keep), [self[one] for one in strata if one in self])[measure]
        found = {one: self[one][measure].mean for one in strata if is_assigned(one)}
        means = {one: mean for one, mean in found.items() if not np.isnan(mean)}
        if not means:
            return scores.mean, None, 0, None, None, None, None
        values = np.array(list(means.values()))
        variance = float(np.var(values)) if len(values) > 1 else float("nan")
        ranks = first_ranks(values)
        strata_with_mean = list(means)
        ends = (strata_with_mean[int(ranks.argmax())], strata_with_mean[int(ranks.argmin())])
        names = [", ".join(key for n, key in enumerate(keys_of(end)) if n != place) for end in ends]
        return scores.mean, float(values.mean()), len(values), variance, variance**0.5, *names


def strata_of_evaluation(
    evaluation: Evaluation, columns: str | Sequence[str], queries: Source, *, smallest: int, pool_languages: bool
) -> Strata:
    """Return the strata of an evaluation, as :meth:`Evaluation.by` does, which warns in the name of its caller."""
    as_count("smallest", smallest, low=0)
    names = names_of(columns)
    table = Queries.of(queries, names)
    check_columns(names, table)
    places = groups(evaluation.query_ids.tolist(), names, table, pool_languages=pool_languages, stacklevel=4)
    return Strata(evaluation, places, names, table, smallest)
