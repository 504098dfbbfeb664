"""Languages: differences and gaps of systems on the same queries in several languages."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl

from deadheat.core import stats
from deadheat.core.arrays import FloatArray, IntArray, TextArray, is_member
from deadheat.core.checks import as_positive
from deadheat.core.data.flat_names import Numbers
from deadheat.core.data.renderable import Plottable, Renderable, make_frame
from deadheat.core.design import TUKEY, Design
from deadheat.core.evaluation.evaluation import Evaluation
from deadheat.core.evaluation.intervals import KNOWN
from deadheat.core.measures import Measure
from deadheat.core.structures import group_values
from deadheat.core.wording import escape_invisible, format_count
from deadheat.plugins.compare.flips import Side, make_side, subtract_sides
from deadheat.plugins.compare.margins import planned, within_margins
from deadheat.plugins.compare.pair import Pair
from deadheat.plugins.compare.pairs import compare_sides, list_pairs
from deadheat.plugins.languages.system_means import AcrossLanguages, SystemInLanguages, compute_across, values_in_all

# the columns of a row across languages; the means of the languages stand after the first three
SPREADS: dict[str, type[pl.DataType]] = {
    "measure": pl.String,
    "system": pl.String,
    "n_queries": pl.Int64,
    "mean": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "variance": pl.Float64,
    "variance_low": pl.Float64,
    "variance_high": pl.Float64,
    "variance_by_chance": pl.Float64,
    "variance_of_one_order": pl.Float64,
    "variance_tie_min": pl.Float64,
    "variance_tie_max": pl.Float64,
    "worst": pl.String,
    "best": pl.String,
    "worst_mean": pl.Float64,
    "p_worst": pl.Float64,
}
KEYS = ("measure", "system", "n_queries")
# fields of a pair that no row of languages has: each row names its system and its languages itself
NOT_SHOWN = {*KNOWN.values(), "system", "baseline", "judged", "rerun_unknown"}
PAIR_FIELDS = [field.name for field in fields(Pair) if field.name not in NOT_SHOWN]

SystemKey = tuple[str, str]  # a system and a language
Gap = tuple[str, str]  # a language, and the one that is subtracted from it


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
class TestedDifferences:
    """The differences between languages, with their values query by query.

    Attributes
    ----------
    differences : tuple of LanguageDifference
        By measure.
    values : ndarray of float, shape (n_queries, n_differences)
        NaN where a query lacks one of the two values.
    """

    differences: tuple[LanguageDifference, ...]
    values: FloatArray


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
        query_ids = [set(self._ids_of(language).tolist()) for language in self.languages]
        return len(set.intersection(*query_ids))

    @cached_property
    def _sides(self) -> list[dict[SystemKey, Side]]:
        """The sides by measure: each of a system and a language."""
        is_asked = {language: is_member(self.query_ids, self._ids_of(language)) for language in self.languages}
        sides_by_measure = []
        for measure in self.measures:
            sides: dict[SystemKey, Side] = {}
            for name in self.systems:
                for language, evaluations in self.evaluations.items():
                    side = make_side(evaluations[name], measure, is_asked[language], rng=self.design.rng)
                    sides[name, language] = side
            if self.design.test == TUKEY:
                sides = _limit_to_shared(sides)
            sides_by_measure.append(sides)
        return sides_by_measure

    def _ids_of(self, language: str) -> TextArray:
        first_system = next(iter(self.evaluations[language].values()))
        return first_system.query_ids

    @cached_property
    def _tested(self) -> TestedDifferences:
        places: list[tuple[SystemKey, SystemKey]] = []
        for name in self.systems:
            for earlier, later in combinations(self.languages, 2):
                places.append(((name, later), (name, earlier)))
        pairs = compare_sides(
            self.measures,
            self._sides,
            places,
            name_of=lambda key: key[1],
            design=self.design,
            cluster=self.cluster,
        )
        values = []
        for sides in self._sides:
            for system_key, baseline_key in places:
                values.append(sides[system_key].values - sides[baseline_key].values)
        systems = [system_key[0] for system_key, _ in places] * len(self.measures)
        return TestedDifferences(tuple(map(LanguageDifference, systems, pairs)), np.column_stack(values))

    @property
    def differences(self) -> tuple[LanguageDifference, ...]:
        """Each system in each language against each language before it, by measure.

        P values are corrected over all rows of a measure.
        """
        return self._tested.differences

    @cached_property
    def interactions(self) -> tuple[Interaction, ...]:
        """Each system's gap between two languages against that of each other system; none of a single system.

        P values are corrected over all rows of a measure.
        """
        if len(self.systems) < 2:
            return ()
        gaps: list[Gap] = [(later, earlier) for earlier, later in combinations(self.languages, 2)]
        places: list[tuple[tuple[Gap, str], tuple[Gap, str]]] = []
        for gap in gaps:
            for system, baseline in list_pairs(self.systems, self.design.against):
                places.append(((gap, system), (gap, baseline)))
        pairs = compare_sides(
            self.measures,
            [self._gaps_of(sides, gaps) for sides in self._sides],
            places,
            name_of=lambda key: key[1],
            design=self.design,
            cluster=self.cluster,
        )
        gap_of_pair = [system_gap[0] for system_gap, _ in places] * len(self.measures)
        interactions = []
        for (language, subtracted), pair in zip(gap_of_pair, pairs, strict=True):
            interactions.append(Interaction(language, subtracted, pair))
        return tuple(interactions)

    def _gaps_of(self, sides: Mapping[SystemKey, Side], gaps: Sequence[Gap]) -> dict[tuple[Gap, str], Side]:
        """Return each system in one language less the same system in another, by one measure."""
        gap_sides = {}
        for gap in gaps:
            language, subtracted = gap
            for name in self.systems:
                gap_sides[gap, name] = subtract_sides(sides[name, language], sides[name, subtracted])
        return gap_sides

    @cached_property
    def across(self) -> tuple[AcrossLanguages, ...]:
        """Each system across the languages, by measure; none by measures that are totals or geometric means."""
        rows: list[tuple[Measure, str, dict[str, Side]]] = []
        for measure, sides in zip(self.measures, self._sides, strict=True):
            if measure.total or measure.geometric:
                continue
            for name in self.systems:
                sides_of_system = {language: sides[name, language] for language in self.languages}
                rows.append((measure, name, sides_of_system))
        if not rows:
            return ()
        values = np.column_stack([values_in_all(list(sides.values())) for _, _, sides in rows])
        # drawn at once: all rows share the resamples
        resampled = stats.resampled_means(
            values, n_resamples=self.design.n_resamples, cluster=self.cluster, rng=self.design.rng
        )
        n_languages = len(self.languages)
        resampled_by_row = resampled.reshape(len(resampled), -1, n_languages)
        lows, highs = stats.interval_bounds(
            values.reshape(len(values), -1, n_languages).mean(axis=2),
            method=self.design.difference_method,
            confidence_level=self.design.confidence_level,
            cluster=self.cluster,
            rng=self.design.rng,
            means=resampled_by_row.mean(axis=2),
        )
        across = []
        for place, (measure, name, sides_of_system) in enumerate(rows):
            system = SystemInLanguages(
                measure, name, sides_of_system, resampled_by_row[:, place], float(lows[place]), float(highs[place])
            )
            across.append(compute_across(system, confidence_level=self.design.confidence_level, cluster=self.cluster))
        return tuple(across)

    def to_polars(self) -> pl.DataFrame:
        """Return a row for each measure and system: the mean of each language, and what is said across them.

        Returns
        -------
        polars.DataFrame
            measure, system, n_queries, mean_LANGUAGE of each, and the other numbers of `AcrossLanguages`.
        """
        rows = []
        for system in self.across:
            row = {name: getattr(system, name) for name in SPREADS}
            for language, mean in system.means.items():
                row[f"mean_{language}"] = mean
            rows.append(row)
        mean_columns = [f"mean_{language}" for language in self.languages]
        schema = {**SPREADS, **dict.fromkeys(mean_columns, pl.Float64)}
        after_means = [name for name in SPREADS if name not in KEYS]
        return make_frame(rows, schema).select([*KEYS, *mean_columns, *after_means])

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
        rows: list[dict[str, Any]] = []
        for difference in self.differences:
            pair = difference.pair
            row: dict[str, Any] = {"system": difference.system, "language": pair.system, "against": pair.baseline}
            rows.append(row | _row_of_pair(pair))
        if margin is not None:
            for row, (p_equivalent, is_equivalent) in zip(rows, self.equivalence(margin), strict=True):
                row.update(margin=margin, p_equivalent=p_equivalent, equivalent=is_equivalent)
        return make_frame(rows)

    def equivalence(self, margin: float) -> list[tuple[float, bool]]:
        """Return for each difference the p value of equivalence up to a margin, and whether it is shown."""
        n_differences = len(self.differences)
        tested = within_margins(
            [difference.pair for difference in self.differences],
            self._tested.values,
            np.full(n_differences, as_positive("margin", margin)),
            self.measures,
            design=self.design,
            cluster=self.cluster,
        )
        return [(pair.p_equivalent, pair.equivalent) for pair in tested]

    def interactions_to_polars(self) -> pl.DataFrame:
        """Return a row for each pair of systems, pair of languages and measure.

        Returns
        -------
        polars.DataFrame
            language, against, system, baseline, gap and baseline_gap (of these languages), and the columns of
            :meth:`Comparison.to_polars` with details.
        """
        if not self.interactions:
            # a row that is taken away again leaves its columns
            columns = _row_of_interaction(Interaction("", "", self.differences[0].pair))
            return make_frame([columns]).clear()
        return make_frame([_row_of_interaction(interaction) for interaction in self.interactions])

    def detectable(self, power: float = 0.8) -> dict[str, tuple[float, float]]:
        """Return the differences between languages that these queries find: the least and the most, by measure.

        By a paired t test at ``1 - confidence_level``, two-sided or as the design says, not corrected.

        Parameters
        ----------
        power : float, default 0.8
        """
        errors = stats.standard_errors(self._tested.values, cluster=self.cluster).tolist()
        known: list[tuple[str, float]] = []
        for difference, error in zip(self.differences, errors, strict=True):
            pair = difference.pair
            plan = planned(pair.difference, error, pair, self.design, power)
            detectable = plan.get("detectable_difference")
            if detectable is not None:
                known.append((pair.measure, detectable))
        by_measure = group_values(known)
        return {measure: (min(detectable), max(detectable)) for measure, detectable in by_measure.items()}

    def named_numbers(self) -> Numbers:
        """Give the numbers of :meth:`to_flat` with the parts of their names."""
        yield ("n_queries",), len(self.query_ids)
        for system in self.across:
            for language, mean in system.means.items():
                yield (system.measure, system.system, language), mean
            for name in ("mean", "variance", "variance_low", "variance_high", "worst_mean"):
                yield (system.measure, system.system, name), getattr(system, name)
        for difference in self.differences:
            pair = difference.pair
            languages = (pair.system, pair.baseline)
            for name in ("difference", "low", "high", "p_value", "p_adjusted"):
                yield (pair.measure, difference.system, languages, name), getattr(pair, name)


def _limit_to_shared(sides: Mapping[SystemKey, Side]) -> dict[SystemKey, Side]:
    """Return the sides over the queries that have a value in all, which Tukey's test takes."""
    values = np.column_stack([side.values for side in sides.values()])
    is_in_all = ~np.isnan(values).any(axis=1)
    return {key: replace(side, values=np.where(is_in_all, side.values, np.nan)) for key, side in sides.items()}


def _row_of_pair(pair: Pair) -> dict[str, Any]:
    row = {name: getattr(pair, name) for name in PAIR_FIELDS}
    for column, field in KNOWN.items():
        row[column] = getattr(pair, field)
    return row


def _row_of_interaction(interaction: Interaction) -> dict[str, Any]:
    pair = interaction.pair
    row = {
        "language": interaction.language,
        "against": interaction.baseline,
        "system": pair.system,
        "baseline": pair.baseline,
        "gap": pair.mean,
        "baseline_gap": pair.baseline_mean,
    }
    for name, value in _row_of_pair(pair).items():
        if name not in {"mean", "baseline_mean"}:
            row[name] = value
    return row
