"""Languages: means, differences and gaps of systems on the same queries in several languages."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl

from deadheat.core import stats
from deadheat.core.arrays import BoolArray, FloatArray, IntArray, TextArray, is_member
from deadheat.core.checks import as_positive
from deadheat.core.data.flat_names import Numbers
from deadheat.core.data.renderable import Plottable, Renderable, make_frame
from deadheat.core.design import TUKEY, Design
from deadheat.core.evaluation.evaluation import Evaluation
from deadheat.core.evaluation.intervals import FEWEST, KNOWN
from deadheat.core.measures import Measure
from deadheat.core.scalars import NOISE
from deadheat.core.structures import group_values
from deadheat.core.wording import escape_invisible, format_count
from deadheat.plugins.compare.flips import Side, gap_of, side_of
from deadheat.plugins.compare.margins import planned, within_margins
from deadheat.plugins.compare.pair import Pair
from deadheat.plugins.compare.pairs import compare_sides, pairs_of
from deadheat.plugins.languages.spread import order_range, spread_of_means

SPREADS: dict[str, type[pl.DataType]] = {
    **dict.fromkeys(("measure", "system"), pl.String),
    "n_queries": pl.Int64,
    **dict.fromkeys(("mean", "low", "high", "variance", "variance_low", "variance_high"), pl.Float64),
    **dict.fromkeys(
        ("variance_by_chance", "variance_of_one_order", "variance_tie_min", "variance_tie_max"), pl.Float64
    ),
    **dict.fromkeys(("worst", "best"), pl.String),
    **dict.fromkeys(("worst_mean", "p_worst"), pl.Float64),
}
NOT_SHOWN = {*KNOWN.values(), "system", "baseline", "judged", "rerun_unknown"}
OF_PAIR = [one.name for one in fields(Pair) if one.name not in NOT_SHOWN]


@dataclass(frozen=True)
class AcrossLanguages:
    """A system by one measure across languages, over the queries that have a value in each.

    Attributes
    ----------
    measure, system : str
    n_queries : int
        Each is one in every language.
    means : dict of str to float
        Of each language.
    ties : dict of str to tuple of float
        Between which ends tie orders keep the mean of each language.
    mean, low, high : float
        Of the means of the languages, which count the same; and its interval, over such queries.
    variance, variance_low, variance_high : float
        Of the means of the languages, divisor their number; and its interval, over such queries in these languages.
    variance_by_chance : float
        What languages of equal means would have on average, by the choice of queries.
    variance_of_one_order : float
        What a tool that breaks ties at random finds on average: the variance of the exact means, and what ties add.
    variance_tie_min, variance_tie_max : float
        Between which ties keep it: the largest is that of an order, the least may lie below that of every order.
    worst, best : str or None
        The languages with these means, by the measure's direction; None where all are equal.
    worst_mean : float
    p_worst : float
        Share of the resamples of queries in which it is the worst.
    n_units : int
        Queries, or clusters of them.
    """

    measure: str
    system: str
    n_queries: int
    means: Mapping[str, float]
    ties: Mapping[str, tuple[float, float]]
    mean: float
    low: float
    high: float
    variance: float
    variance_low: float
    variance_high: float
    variance_by_chance: float
    variance_of_one_order: float
    variance_tie_min: float
    variance_tie_max: float
    worst: str | None
    best: str | None
    worst_mean: float
    p_worst: float
    n_units: int

    @property
    def is_known(self) -> bool:
        """Whether queries (or clusters) are enough for an interval, and differ: equal ones say nothing of others."""
        return self.n_units >= FEWEST and self.variance_high - self.variance_low > NOISE


@dataclass(frozen=True)
class LanguageDifference:
    """A system in one language against the same system in another.

    Attributes
    ----------
    system : str
    pair : Pair
        Its system and baseline are the two languages.
    """

    system: str
    pair: Pair


@dataclass(frozen=True)
class Interaction:
    """The gap of a system between two languages against the gap of another system.

    Attributes
    ----------
    language, baseline : str
        The gap is that of the first less that of the second.
    pair : Pair
        Of the two systems; mean and baseline_mean are their gaps, of geometric means in logarithms too.
    """

    language: str
    baseline: str
    pair: Pair


@dataclass(frozen=True, eq=False)
class Languages(Plottable, Renderable, figures="languages", shown=("slopes",)):
    """Systems on the same queries in several languages. Made by :func:`compare_languages`.

    Attributes
    ----------
    name : str
        What the queries are called.
    evaluations : dict of str to dict of str to Evaluation
        By language and system; their query ids are those that the languages share.
    design : Design
    query_ids : ndarray of str, shape (n_queries,)
        Of all languages.
    cluster : ndarray of int, shape (n_queries,), or None
    left_out : dict of str to int
        Queries of each language that no other language has.
    clusters_differ : bool, default False
        Whether languages have the queries in different clusters, of which those that share a query were joined.
    unpaired : str, default ""
        How many queries of which languages have no partner, and count nowhere here.
    """

    name: str
    evaluations: Mapping[str, Mapping[str, Evaluation]]
    design: Design
    query_ids: TextArray
    cluster: IntArray | None
    left_out: Mapping[str, int]
    clusters_differ: bool = False
    unpaired: str = ""

    def __repr__(self) -> str:
        return escape_invisible(
            f"<Languages {', '.join(self.languages)} of {', '.join(self.systems)},"
            f" {format_count(len(self.query_ids), 'query', 'queries')}>"
        )

    @property
    def languages(self) -> tuple[str, ...]:
        """The languages."""
        return tuple(self.evaluations)

    @property
    def systems(self) -> tuple[str, ...]:
        """Names of the systems."""
        return tuple(next(iter(self.evaluations.values())))

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The measures."""
        return next(iter(next(iter(self.evaluations.values())).values())).measures

    @property
    def n_shared(self) -> int:
        """Number of queries that all languages have."""
        return len(set.intersection(*(set(self._ids_of(language).tolist()) for language in self.languages)))

    @cached_property
    def _sides(self) -> list[dict[tuple[str, str], Side]]:
        """The sides by measure: each of a system and a language."""
        own = {language: is_member(self.query_ids, self._ids_of(language)) for language in self.languages}
        found = [
            {
                (name, language): side_of(systems[name], measure, own[language], rng=self.design.rng)
                for name in self.systems
                for language, systems in self.evaluations.items()
            }
            for measure in self.measures
        ]
        return [_of_shared(of_measure) for of_measure in found] if self.design.test == TUKEY else found

    def _ids_of(self, language: str) -> TextArray:
        return next(iter(self.evaluations[language].values())).query_ids

    @cached_property
    def _of_differences(self) -> tuple[tuple[LanguageDifference, ...], FloatArray]:
        places = [
            ((name, second), (name, first))
            for name in self.systems
            for first, second in combinations(self.languages, 2)
        ]
        pairs = compare_sides(
            self.measures, self._sides, places, name_of=lambda key: key[1], design=self.design, cluster=self.cluster
        )
        differences = np.column_stack([own[a].values - own[b].values for own in self._sides for a, b in places])
        return tuple(
            map(LanguageDifference, [name for (name, _), _ in places] * len(self.measures), pairs)
        ), differences

    @property
    def differences(self) -> tuple[LanguageDifference, ...]:
        """Each system in each language against each language before it, by measure.

        P values are corrected over all rows of a measure.
        """
        return self._of_differences[0]

    @cached_property
    def interactions(self) -> tuple[Interaction, ...]:
        """Each system's gap between two languages against that of each other system; none of a single system.

        P values are corrected over all rows of a measure.
        """
        if len(self.systems) < 2:
            return ()
        gaps = [(second, first) for first, second in combinations(self.languages, 2)]
        sides = [
            {(gap, name): gap_of(*(of[name, language] for language in gap)) for gap in gaps for name in self.systems}
            for of in self._sides
        ]
        between = pairs_of(self.systems, self.design.against)
        places = [((gap, one), (gap, other)) for gap in gaps for one, other in between]
        pairs = compare_sides(
            self.measures, sides, places, name_of=lambda key: key[1], design=self.design, cluster=self.cluster
        )
        return tuple(
            Interaction(*gap, pair)
            for gap, pair in zip([gap for (gap, _), _ in places] * len(self.measures), pairs, strict=True)
        )

    @cached_property
    def across(self) -> tuple[AcrossLanguages, ...]:
        """Each system across the languages, by measure; none by measures that are totals or geometric means."""
        asked = [
            (measure, name, [of_measure[name, language] for language in self.languages])
            for measure, of_measure in zip(self.measures, self._sides, strict=True)
            if not (measure.total or measure.geometric)
            for name in self.systems
        ]
        if not asked:
            return ()
        n = len(self.languages)
        values = np.column_stack([_whole(sides) for _, _, sides in asked])
        means = stats.resampled_means(  # at once: all share the resamples
            values, n_resamples=self.design.n_resamples, cluster=self.cluster, rng=self.design.rng
        )
        lows, highs = stats.interval_bounds(
            values.reshape(len(values), -1, n).mean(axis=2),
            method=self.design.difference_method,
            confidence_level=self.design.confidence_level,
            cluster=self.cluster,
            rng=self.design.rng,
            means=means.reshape(len(means), -1, n).mean(axis=2),
        )
        return tuple(
            self._across(measure, name, sides, means[:, place * n : (place + 1) * n], (float(low), float(high)))
            for place, ((measure, name, sides), low, high) in enumerate(zip(asked, lows, highs, strict=True))
        )

    def _across(
        self, measure: Measure, name: str, sides: Sequence[Side], resampled: FloatArray, ends: tuple[float, float]
    ) -> AcrossLanguages:
        """Return a system across languages.

        Parameters
        ----------
        measure : Measure
        name : str
        sides : sequence of Side
            Of each language.
        resampled : ndarray of shape (n_resamples, n_languages)
            Their means in resamples of the queries.
        ends : tuple of float
            Of the interval of their mean.
        """
        values = _whole(sides)
        whole: BoolArray = np.asarray(~np.isnan(values).any(axis=1))
        n, n_languages = int(whole.sum()), len(sides)
        means = values[whole].mean(axis=0) if n else np.full(n_languages, np.nan)
        found = spread_of_means(
            measure.sign * values,
            confidence_level=self.design.confidence_level,
            cluster=self.cluster,
            means=measure.sign * resampled,
        )
        differ = n > 0 and float(np.ptp(means)) > stats.NEGLIGIBLE_DIFFERENCE
        order = np.argsort(measure.sign * means, kind="stable").tolist()
        exact, low, high = (  # what ties can make of the mean of each language
            np.array([float(getattr(side, column)[whole].mean()) if n else np.nan for side in sides])
            for column in ("mean", "low", "high")
        )
        least, most = order_range(low, high) if n else (np.nan, np.nan)
        by_ties = sum(float(side.variance[whole].sum()) / n**2 for side in sides) if n else np.nan
        return AcrossLanguages(
            measure=measure.label,
            system=name,
            n_queries=n,
            means=dict(zip(self.languages, means.tolist(), strict=True)),
            ties=dict(zip(self.languages, zip(low.tolist(), high.tolist(), strict=True), strict=True)),
            mean=float(means.mean()),
            low=ends[0],
            high=ends[1],
            variance=found.variance,
            variance_low=found.low,
            variance_high=found.high,
            variance_by_chance=found.by_chance,
            variance_of_one_order=float(np.var(exact) + (n_languages - 1) / n_languages**2 * by_ties),
            variance_tie_min=least,
            variance_tie_max=most,
            worst=self.languages[order[0]] if differ else None,
            best=self.languages[order[-1]] if differ else None,
            worst_mean=float(means[order[0]]),
            p_worst=float(found.p_lowest[order[0]]),
            n_units=found.n_units,
        )

    def to_polars(self) -> pl.DataFrame:
        """Return a row for each measure and system: the mean of each language, and what is said across them.

        Returns
        -------
        polars.DataFrame
            measure, system, n_queries, mean_LANGUAGE of each, and the other numbers of `AcrossLanguages`.
        """
        names = [one.name for one in fields(AcrossLanguages) if one.name not in {"means", "ties", "n_units"}]
        rows = [
            {name: getattr(one, name) for name in names} | {f"mean_{code}": mean for code, mean in one.means.items()}
            for one in self.across
        ]
        own = [f"mean_{code}" for code in self.languages]
        return make_frame(rows, {**SPREADS, **dict.fromkeys(own, pl.Float64)}).select(
            ["measure", "system", "n_queries", *own, *list(SPREADS)[3:]]
        )

    def differences_to_polars(self, margin: float | None = None) -> pl.DataFrame:
        """Return a row for each system, pair of languages and measure.

        Parameters
        ----------
        margin : float, optional
            Above 0: also test whether the languages are equivalent up to it, by two one-sided t tests at
            ``1 - confidence_level``, not corrected; five queries or clusters are the fewest.

        Returns
        -------
        polars.DataFrame
            system, language, against, and the columns of :meth:`Comparison.to_polars` with details; with a margin also
            margin, p_equivalent and equivalent.
        """
        rows = [
            {"system": one.system, "language": one.pair.system, "against": one.pair.baseline} | _of_pair(one.pair)
            for one in self.differences
        ]
        if margin is not None:
            for row, own in zip(rows, self.equivalence(margin), strict=True):
                row.update(margin=margin, p_equivalent=own[0], equivalent=own[1])
        return make_frame(rows)

    def equivalence(self, margin: float) -> list[tuple[float, bool]]:
        """Return for each difference the p value of equivalence up to a margin, and whether it is shown."""
        found, differences = self._of_differences
        tested = within_margins(
            [one.pair for one in found],
            differences,
            np.full(len(found), as_positive("margin", margin)),
            self.measures,
            design=self.design,
            cluster=self.cluster,
        )
        return [(one.p_equivalent, one.equivalent) for one in tested]

    def interactions_to_polars(self) -> pl.DataFrame:
        """Return a row for each pair of systems, pair of languages and measure.

        Returns
        -------
        polars.DataFrame
            language, against, system, baseline, gap and baseline_gap (of these languages), and the columns of
            :meth:`Comparison.to_polars` with details.
        """
        rows = [
            {
                "language": one.language,
                "against": one.baseline,
                "system": one.pair.system,
                "baseline": one.pair.baseline,
                "gap": one.pair.mean,
                "baseline_gap": one.pair.baseline_mean,
                **_of_pair(one.pair, "mean", "baseline_mean"),
            }
            for one in self.interactions or [Interaction("", "", self.differences[0].pair)]
        ]
        return make_frame(rows) if self.interactions else make_frame(rows).clear()

    def detectable(self, power: float = 0.8) -> dict[str, tuple[float, float]]:
        """Return the differences between languages that these queries find: the least and the most, by measure.

        By a paired t test at ``1 - confidence_level``, two-sided or as the design says, not corrected.

        Parameters
        ----------
        power : float, default 0.8
        """
        found, differences = self._of_differences
        errors = stats.standard_errors(differences, cluster=self.cluster).tolist()
        each = (
            (pair.measure, planned(pair.difference, error, pair, self.design, power).get("detectable_difference"))
            for pair, error in zip((one.pair for one in found), errors, strict=True)
        )
        known = group_values((measure, least) for measure, least in each if least is not None)
        return {measure: (min(own), max(own)) for measure, own in known.items()}

    def named_numbers(self) -> Numbers:
        """Give the numbers of :meth:`to_flat` with the parts of their names."""
        yield ("n_queries",), len(self.query_ids)
        for one in self.across:
            yield from (((one.measure, one.system, language), mean) for language, mean in one.means.items())
            yield from (
                ((one.measure, one.system, name), getattr(one, name))
                for name in ("mean", "variance", "variance_low", "variance_high", "worst_mean")
            )
        for difference in self.differences:
            pair = difference.pair
            yield from (
                ((pair.measure, difference.system, (pair.system, pair.baseline), name), getattr(pair, name))
                for name in ("difference", "low", "high", "p_value", "p_adjusted")
            )


def _of_shared(sides: Mapping[tuple[str, str], Side]) -> dict[tuple[str, str], Side]:
    """Return the sides over the queries that have a value in all, which Tukey's test takes."""
    whole = ~np.isnan(np.column_stack([side.values for side in sides.values()])).any(axis=1)
    return {key: replace(side, values=np.where(whole, side.values, np.nan)) for key, side in sides.items()}


def _whole(sides: Sequence[Side]) -> FloatArray:
    """Return the values of each language, NaN in all where one has none: (n_queries, n_languages)."""
    values = np.column_stack([side.values for side in sides])
    return np.where(np.isnan(values).any(axis=1, keepdims=True), np.nan, values)


def _of_pair(pair: Pair, *without: str) -> dict[str, Any]:
    own = {name: getattr(pair, name) for name in OF_PAIR if name not in without}
    return own | {name: getattr(pair, field) for name, field in KNOWN.items()}
