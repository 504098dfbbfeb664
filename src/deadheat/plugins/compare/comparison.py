"""Comparison: pairs of systems, how sure their difference is, and what ties do to it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any

import numpy as np

from deadheat.core import hooks, stats
from deadheat.core.arrays import BoolArray, FloatArray, IntArray, TextArray, align_values, is_member
from deadheat.core.checks import as_count, as_level, as_positive
from deadheat.core.data.chunk_doubts import describe_other_chunks
from deadheat.core.data.flat_names import Numbers
from deadheat.core.data.renderable import Plottable, Renderable, make_frame
from deadheat.core.data.sources import Source
from deadheat.core.design import MAX_T_CORRECTIONS, TUKEY, Design
from deadheat.core.errors import DataError
from deadheat.core.evaluation.evaluation import UNKNOWN, Evaluation
from deadheat.core.evaluation.facts import NOTABLE, TOP, unjudged_share
from deadheat.core.evaluation.interval_estimates import estimate_intervals
from deadheat.core.evaluation.intervals import KNOWN, Cluster, Interval, IntervalOptions
from deadheat.core.evaluation.query_columns import cluster_codes
from deadheat.core.evaluation.reconciling import Reconciled
from deadheat.core.evaluation.scores import Scores
from deadheat.core.evaluation.shared_weights import SharedWeights
from deadheat.core.evaluation.stratum import Stratum
from deadheat.core.evaluation.stratum_places import groups
from deadheat.core.evaluation.systems import kind_of_runs
from deadheat.core.evaluation.together import check_use
from deadheat.core.libraries import polars as pl
from deadheat.core.measures import Measure
from deadheat.core.measures.notation import MeasureLike
from deadheat.core.phases import lasting
from deadheat.core.random_generators import Rng
from deadheat.core.stats.power import check_power
from deadheat.core.stats.student_tests import t_tail
from deadheat.core.wording import UNIT, escape_invisible, format_count
from deadheat.plugins.compare.comparison_parts import ComparisonPart
from deadheat.plugins.compare.deciding import Grounds
from deadheat.plugins.compare.deciding_queries import tabulate_deciding_queries
from deadheat.plugins.compare.flips import Side, make_side, over_all
from deadheat.plugins.compare.intervals_by_name import IntervalsByName
from deadheat.plugins.compare.least_p import n_units
from deadheat.plugins.compare.margins import estimated_within, planned, within_margins
from deadheat.plugins.compare.one_rule import RankedSystems, find_significant_by_one_rule, one_rule_schema
from deadheat.plugins.compare.pair import Pair, Pairs
from deadheat.plugins.compare.pairs import compare_sides, list_pairs
from deadheat.plugins.compare.robustness import SystemOrders, orders_of, rank_intervals
from deadheat.plugins.compare.testing import correct_p_values
from deadheat.plugins.compare.verdict import Lacking, Verdict, Within
from deadheat.plugins.compare.verdict_facts import describe_missing

KEYS = ("measure", "system", "baseline")

FLAT = ("difference", "low", "high")  # of a pair, as many times as large for totals; and what is not:
FLAT_TESTED = ("p_value", "p_adjusted", "significant", "effect_size", "flip_probability", "wins", "draws", "losses")
DECIDING = 3  # queries that a verdict names at most as those that decide by their weight


def sizes_schema() -> dict[str, type[pl.DataType]]:
    """Return the columns of the numbers of queries that are needed."""
    return {
        **dict.fromkeys(KEYS, pl.String),
        **dict.fromkeys(("target", "std"), pl.Float64),
        **dict.fromkeys(("n_queries", "n_clusters"), pl.Int64),
        "power": pl.Float64,
        "n_needed": pl.Int64,
        "detectable_difference": pl.Float64,
    }


def ranks_schema() -> dict[str, type[pl.DataType]]:
    """Return the columns of the ranks of systems."""
    return {
        **dict.fromkeys(("measure", "system"), pl.String),
        **dict.fromkeys(("rank", "low", "high"), pl.Int64),
        "p_best": pl.Float64,
        "n_queries": pl.Int64,
    }


# fields of a pair that every table shows; the others are details
OF_TIES = {
    *("flip_probability", "can_flip", "flip_method", "flip_standard_error", "tie_standard_error"),
    *("expected_difference", "doc_id_difference", "doc_id_reverses"),
}
"""Columns of pairs that say what orders of ties make of a difference."""
COLUMNS = (
    *(*KEYS, "mean", "baseline_mean", *FLAT, "p_value", "p_adjusted", "significant", "effect_size"),
    *("wins", "draws", "losses", "flip_probability", "can_flip"),
)


def knows_ties(comparison: Comparison) -> bool:
    """Tell whether it is known what orders of ties make of the values that are compared."""
    return any(evaluation.ties != UNKNOWN for evaluation in comparison.evaluations.values())


@dataclass(frozen=True, eq=False)
class Comparison(Plottable, Renderable, figures="comparison", shown=("forest", "differences", "traditional")):
    """Systems compared by pairs. Made by :func:`compare`.

    Attributes
    ----------
    pairs : sequence of Pair
        By measure, then in the order of the systems.
    evaluations : dict of str to Evaluation
        By the name of the system.
    design : Design
    query_ids : ndarray of str, shape (n_queries,)
        The queries of all evaluations.
    cluster : ndarray of int, shape (n_queries,), or None
    by_doc_id : mapping of str to list of ndarray
        The scores of each system with ties broken by document id, as trec_eval, by measure; empty where the runs are
        not at hand.
    n_strata : int
        Strata over all of which p values are corrected; 1 for a whole.
    margin, detect : float or None
        By how much a system may be worse, and a difference that is to be detected, if these are to be shown too.
    together : Reconciled or None
        How evaluations under different judgments were brought together.
    shared_weights : SharedWeights or None
        How evaluations with different weights were brought under the same.
    later : str or None
        Of two saves the later one: the verdict says whether it is better or worse than the other.
    parts : mapping of str to ComparisonPart
        What features make of the whole of it, by their keys, such as a judge's labels.
    """

    pairs: Pairs
    evaluations: Mapping[str, Evaluation]
    design: Design
    query_ids: TextArray
    cluster: IntArray | None
    by_doc_id: Mapping[str, list[FloatArray]]
    n_strata: int = 1
    margin: float | None = None
    detect: float | None = None
    together: Reconciled | None = None
    shared_weights: SharedWeights | None = None
    later: str | None = None
    parts: Mapping[str, ComparisonPart[Comparison]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Raise `ParameterError` if systems have repeats, with which a margin or planning cannot be shown."""
        if self.margin is not None or self.detect is not None:
            self._check_use("margin" if self.detect is None else "detect")

    def __repr__(self) -> str:
        n_significant = int(self.pairs.column("significant").sum())
        n_doubtful = int(self.pairs.column("doubtful").sum())
        labels = ", ".join(measure.label for measure in self.measures)
        n_pairs = format_count(len(self.pairs), "difference")
        facts = [f"{n_significant} of {n_pairs} significant"]
        if knows_ties(self):
            n_reversible = int(self.pairs.column("can_flip").sum())
            facts.append(f"{n_reversible} reversible by tie order")
        else:
            facts.append("reversals by tie order unknown")
        if n_doubtful:
            facts.append(f"{n_doubtful} with a p value in doubt (skewed)")
        return escape_invisible(f"<Comparison of {', '.join(self.systems)} by {labels}: {', '.join(facts)}>")

    @cached_property
    def unjudged_outer_bounds(self) -> tuple[Any, ...]:
        """How far labels of unjudged documents can move each difference at most; with ``unjudged="bounds"``.

        Each is an `OuterBound`. Its `is_attained` says whether some labels give both ends: by P, DCG, RBP, R, F and
        nDCG, of documents that are known by their ids. Else a document that both systems retrieve counts as if it had
        two labels.
        """
        bounds = hooks.service("bounds_of_differences")
        names = list_pairs(self.systems, self.design.against)
        return tuple(bounds.outer_bounds(self.evaluations, names, self.query_ids))

    @cached_property
    def differences(self) -> FloatArray:
        """Of each query and pair, by human labels, shape (n_queries, n_pairs); NaN where one of both has no value."""
        return self._differences(range(len(self.pairs)))

    def _differences(self, places: Iterable[int]) -> FloatArray:
        """Return the differences of some pairs."""
        values: dict[tuple[str, str], FloatArray] = {}
        columns = []
        for place in places:
            pair = self.pairs[place]
            for name in (pair.system, pair.baseline):
                if (name, pair.measure) not in values:
                    scores = self.evaluations[name][pair.measure]
                    values[name, pair.measure] = align_values(scores.values, scores.query_ids, self.query_ids)
            columns.append(values[pair.system, pair.measure] - values[pair.baseline, pair.measure])
        if not columns:
            return np.zeros((len(self.query_ids), 0))
        return np.column_stack(columns)

    @property
    def by_judge(self) -> Mapping[str, Evaluation]:
        """Of each system by a judge's labels, which help to estimate the differences; empty without a judge."""
        part: Any = self.parts.get("judge")
        return {} if part is None else part.evaluations

    @property
    def systems(self) -> tuple[str, ...]:
        """Names of the systems."""
        return tuple(self.evaluations)

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The measures that they are compared by."""
        return next(iter(self.evaluations.values())).measures

    def __getitem__(self, measure: MeasureLike) -> tuple[Pair, ...]:
        name = next(iter(self.evaluations.values()))[measure].measure.label
        return tuple(pair for pair in self.pairs if pair.measure == name)  # the same objects, if they are kept

    @cached_property
    def intervals(self) -> dict[tuple[str, str], Interval]:
        """The interval of each system's mean, by (system, measure); systems of the same queries share resamples.

        Other names of a measure find it too.
        """
        named_by_queries: dict[tuple[str, ...], list[tuple[str, Scores]]] = {}
        for name, evaluation in self.evaluations.items():
            query_ids = tuple(evaluation.query_ids)
            named_by_queries.setdefault(query_ids, []).extend((name, scores) for scores in evaluation)
        intervals = IntervalsByName(next(iter(self.evaluations.values())).conventions.rel)
        labels = {str(measure): measure.label for measure in self.measures}  # evaluations may have other names
        for query_ids, named_scores in named_by_queries.items():
            cluster = None
            if self.cluster is not None:
                is_evaluated = is_member(self.query_ids, np.array(query_ids, dtype=object))
                cluster = self.cluster[is_evaluated].tolist()
            options = IntervalOptions.of(vars(self.design), cluster=cluster)
            estimates = estimate_intervals([scores for _, scores in named_scores], options)
            for (name, scores), interval in zip(named_scores, estimates, strict=True):
                intervals[name, labels[str(scores.measure)]] = interval
        return intervals

    def scores_by_doc_id(self, system: str, measure: MeasureLike) -> Scores | None:
        """Return the scores of a system with its ties broken by document id, as trec_eval; None if not known."""
        if system not in self.by_doc_id:
            return None
        evaluation = self.evaluations[system]
        scores = evaluation[measure]
        place = evaluation.measures.index(scores.measure)
        return replace(scores, values=self.by_doc_id[system][place])

    @cached_property
    def verdict(self) -> Verdict:
        """Who leads by the first measure of quality, whether by more than chance, and whether ties can reverse it."""
        return self.judge()

    def judge(
        self, margin: float | None = None, *, measure: Measure | None = None, unit: tuple[str, str] = UNIT
    ) -> Verdict:
        """Return the verdict, with what a margin shows if there is one.

        Parameters
        ----------
        margin : float, optional
            As for :meth:`equivalence`; of counts it is one of totals.
        measure : Measure, optional
            One of `measures`, by which to judge; by default the first of quality.
        unit : tuple of str, default ("query", "queries")
            What a query is called.
        """
        levels = {}
        for compared in self.measures:
            levels[compared.label] = {name: own[compared].reported() for name, own in self.evaluations.items()}
        measures = list(self.measures)
        if measure is not None:
            measures = [measure] + [other for other in self.measures if other != measure]
        within: dict[tuple[str, str], Within] = {}
        if margin is not None:
            first = next((candidate for candidate in measures if candidate.is_quality), measures[0])
            within = self._test_margin(first, margin)
        query_ids = set(self.query_ids.tolist())
        missing = {}
        for name, evaluation in self.evaluations.items():
            missing[name] = [query_id for query_id in evaluation.missing_queries if query_id in query_ids]
        first_evaluation = next(iter(self.evaluations.values()))
        return Grounds(
            pairs=self.pairs,
            levels=levels,
            measures=measures,
            design=self.design,
            ties=first_evaluation.ties,
            within=within,
            detectable=self._detectable,
            lacking=self._lacking,
            by_weight=self._by_weight,
            other_chunks=self._describe_other_chunks,
            unit=unit,
            later=self.later,
            missing=describe_missing(missing, len(query_ids), first_evaluation.conventions.missing, unit),
        ).verdict()

    def _test_margin(self, measure: Measure, margin: float) -> dict[tuple[str, str], Within]:
        """Return what the tests of a margin say about each pair by one measure; of counts it is one of totals."""
        places = np.flatnonzero(self.pairs.column("measure") == measure.label).tolist()
        n_queries = np.ones(len(places), np.int64)
        if measure.total:
            n_queries = np.array([max(self.pairs[place].n_queries, 1) for place in places])
        tests = self._within(places, as_positive("margin", margin) / n_queries)
        within = {}
        for place, test in zip(places, tests, strict=True):
            pair = self.pairs[place]
            within[pair.system, pair.baseline] = replace(test, margin=margin)
        return within

    def _describe_other_chunks(self, system: str) -> str:
        """Say that a system has other chunks than those that were judged; "" if nothing shows that."""
        evaluation = self.evaluations[system]
        if evaluation.run is None:
            return ""
        doubt = describe_other_chunks(evaluation.qrels, evaluation.run)
        return f"{system}: {doubt}" if doubt else ""

    @cached_property
    def weights(self) -> FloatArray | None:
        """How much each query counts in each pair, of shape (n_queries, n_pairs); None: all the same."""
        if not any(scores.is_weighted for evaluation in self.evaluations.values() for scores in evaluation):
            return None
        equal: FloatArray = np.ones(len(self.query_ids))
        columns: list[FloatArray] = []
        for pair in self.pairs:
            scores = self.evaluations[pair.system][pair.measure]
            if scores.weights is None or not scores.is_weighted:
                columns.append(equal)
            else:
                is_evaluated = is_member(self.query_ids, scores.query_ids)
                columns.append(over_all(scores.weights, is_evaluated, 1.0))
        return np.column_stack(columns)

    def _errors_of(self, places: Sequence[int]) -> FloatArray:
        """Return the standard errors of some differences, as these are estimated: with a judge, by its labels too."""
        errors = stats.standard_errors(
            self._differences(places),
            cluster=self.cluster,
            weights=None if self.weights is None else self.weights[:, list(places)],
        )
        for n, place in enumerate(places):
            if self.pairs[place].is_estimated:
                errors[n] = self.pairs[place].standard_error
        return errors

    def _detectable(self, pair: Pair) -> tuple[float | None, int]:
        """Return the difference that the queries of a pair find with a power of 80%, and for how many tests.

        None with repeats, of which a power would have to know more.

        Holm's correction begins with the level of Bonferroni's; that of maxima has the level of its intervals.
        """
        n_tests = 1
        if any(self.evaluations[name][pair.measure].several_runs for name in (pair.system, pair.baseline)):
            return None, n_tests
        if self.design.test != TUKEY and self.design.correction in {"holm", "bonferroni", *MAX_T_CORRECTIONS}:
            p_values = self.pairs.by(pair.measure).column("p_value").astype(np.float64)
            n_tests = self.n_strata * max(int((~np.isnan(p_values)).sum()), 1)
        error = float(self._errors_of([self._place_of(pair)])[0])
        level = (1 - self.design.confidence_level) / n_tests
        width = pair.simultaneous_high - pair.simultaneous_low
        if math.isfinite(width) and error > 0:
            tail = float(t_tail(np.array([width / 2]), np.array([error]), n_units(pair) - 1)[0])
            level = max(level, 2 * tail)
        design = replace(self.design, confidence_level=1 - level)
        return planned(pair.difference, error, pair, design, 0.8).get("detectable_difference"), n_tests

    def _place_of(self, pair: Pair) -> int:
        """Return the place of a pair among all."""
        is_it = np.logical_and.reduce([self.pairs.column(name) == getattr(pair, name) for name in KEYS])
        return int(np.flatnonzero(is_it)[0])

    def _by_weight(self, pair: Pair) -> tuple[float, dict[str, float]] | None:
        """Return the unweighted difference of a pair, and the few queries without which the weighted one is gone.

        None without weights, and where a judge's labels count, so that no queries alone decide.
        """
        if self.weights is None or pair.n_effective is None or pair.is_estimated:
            return None
        place = self._place_of(pair)
        values = self._differences([place])[:, 0]
        weights = self.weights[:, place]
        kept = np.flatnonzero(~np.isnan(values))
        pulls = weights[kept] * values[kept] * math.copysign(1.0, pair.difference)
        order = np.argsort(-pulls, kind="stable")
        left = pulls.sum() - np.cumsum(pulls[order])  # without the first, the first two, ...
        n_deciding = int(np.argmax(left <= stats.NEGLIGIBLE_DIFFERENCE)) + 1
        unweighted = float(values[kept].mean())
        if not n_deciding <= DECIDING < len(kept):
            return unweighted, {}
        deciding = kept[order[:n_deciding]]
        shares = weights[deciding] / weights[kept].sum()
        return unweighted, dict(zip(self.query_ids[deciding].tolist(), shares.tolist(), strict=True))

    @property
    def options_of_intervals(self) -> IntervalOptions:
        """How intervals of means are made that go with those of the differences."""
        if self.cluster is None:
            return IntervalOptions.of(vars(self.design), cluster=None)
        clusters = dict(zip(self.query_ids.tolist(), self.cluster.tolist(), strict=True))
        return IntervalOptions.of(vars(self.design), cluster=clusters)

    def refuse_parts(self, what: str) -> None:
        """Raise for something that would leave out what a part counts in differences, such as a judge's labels."""
        for part in self.parts.values():
            part.refuse(what)

    def _check_use(self, name: str) -> None:
        check_use(name, self.evaluations.values(), is_named=False)

    def _within(self, places: Sequence[int], margins: FloatArray) -> list[Within]:
        """Return what the tests of margins say about some of the pairs."""
        places = list(places)
        pairs = [self.pairs[place] for place in places]
        self._check_use("margin")
        tests = within_margins(
            pairs,
            self._differences(places),
            margins,
            self.measures,
            design=self.design,
            cluster=self.cluster,
            weights=None if self.weights is None else self.weights[:, places],
        )
        signs = {measure.label: measure.sign for measure in self.measures}
        for n, pair in enumerate(pairs):
            if pair.is_estimated:
                tests[n] = estimated_within(pair, float(margins[n]), signs[pair.measure], self.design)
        return tests

    @cached_property
    def _known_bounds(self) -> dict[tuple[str, str, str], Any]:
        """Bounds by measure, system and baseline; `_bound_over_labels` adds others, as several verdicts ask it."""
        return {(bound.measure, bound.system, bound.baseline): bound for bound in self.unjudged_outer_bounds}

    def _lacking(self, pair: Pair, rival: str) -> Lacking | None:
        """Return what is not judged of two systems; None where that is little of the rival, or not known.

        Nor where qrels name relevant documents alone, which all others are not by design, and both lack as many. Where
        a judge's labels count, what labels could make of the difference is not known.
        """
        measure = next(candidate for candidate in self.measures if candidate.label == pair.measure)
        system, baseline = self.evaluations[pair.system], self.evaluations[pair.baseline]
        depth = min(getattr(measure, "cutoff", None) or TOP, TOP)
        system_share = unjudged_share(system.placements, depth) or 0.0
        baseline_share = unjudged_share(baseline.placements, depth) or 0.0
        rival_share, leader_share = system_share, baseline_share
        if rival == pair.baseline:
            rival_share, leader_share = baseline_share, system_share
        has_nonrelevant = bool((system.placements.judged_relevance <= 0).any())
        if rival_share < NOTABLE or (rival_share - leader_share < NOTABLE and not has_nonrelevant):
            return None
        bound = None
        if not pair.is_estimated:  # else with other labels, which the bounds do not know
            bound = self._bound_over_labels(pair, measure)
        if bound is None:
            return Lacking(depth, system_share, baseline_share, math.nan, math.nan)
        return Lacking(depth, system_share, baseline_share, bound.low, bound.high, bound.is_attained)

    def _bound_over_labels(self, pair: Pair, measure: Measure) -> Any:  # noqa: ANN401 - of a plugin
        """Return how far labels of unjudged documents can move a difference; None where that is not known."""
        bounds = hooks.find_service("bounds_of_differences")
        if bounds is None:
            return None
        key = (pair.measure, pair.system, pair.baseline)
        if key not in self._known_bounds:
            system, baseline = self.evaluations[pair.system], self.evaluations[pair.baseline]
            self._known_bounds[key] = bounds.bound_of_pair(system, baseline, measure, self.query_ids)
        return self._known_bounds[key]

    def to_polars(self, *, details: bool = False) -> pl.DataFrame:
        """Return a row for each pair and measure; null where there is no number.

        Where values came without their rankings there is no column of ties.

        Parameters
        ----------
        details : bool, default False
            Whether to add what is behind the numbers: n_queries, standard errors, how the flip probability was
            found, the difference with ties broken by document id, as trec_eval, how skewed the differences are,
            n_clusters, and of the intervals ci_method, known and unknown (why not).

        With a judge, what is by human labels alone (means, effect_size, wins, flip_probability, ...) has names that
        begin with ``human_``, and there are ``human_difference`` with its interval and p value, and ``judge_weight``,
        ``judge_correlation``, ``judge_n_effective`` and ``judge_n_others``.
        """
        field_of = {name: name for name in COLUMNS}
        if details:
            hidden = {*KNOWN.values(), "judged", "rerun_unknown"}
            field_of = {field.name: field.name for field in fields(Pair) if field.name not in hidden}
            field_of |= KNOWN
        columns: dict[str, Any] = {}
        for name, field_name in field_of.items():
            if name in OF_TIES and not knows_ties(self):
                continue
            column = self.pairs.column(field_name)
            columns[name] = column if column.dtype == np.float64 else column.tolist()
        for part in self.parts.values():
            names_of_values = [name for name in columns if name in part.fields_of_values]
            for name in names_of_values:  # behind all others
                columns[f"{part.prefix}{name}"] = columns.pop(name)
            columns |= part.columns_of(self.pairs)
        return make_frame(columns)

    def named_numbers(self) -> Numbers:
        """Give the numbers of :meth:`to_flat` with the parts of their names."""
        yield from self._numbers_of_systems()
        totals = {measure.label for measure in self.measures if measure.total}
        for pair in self.pairs:
            scale = pair.n_queries if pair.measure in totals else 1
            systems = (pair.system, pair.baseline)
            for name in FLAT:
                yield (pair.measure, systems, name), scale * getattr(pair, name)
            for name in (*FLAT_TESTED, "n_queries"):
                label = name
                for part in self.parts.values():
                    if name in part.fields_of_values:
                        label = f"{part.prefix}{name}"
                yield (pair.measure, systems, label), getattr(pair, name)
            for part in self.parts.values():
                for name, number in part.numbers_of(pair, scale):
                    yield (pair.measure, systems, name), number

    def _numbers_of_systems(self) -> Numbers:
        """Give the numbers of single systems; where differences are estimated with more, these have a prefix."""
        for system, evaluation in self.evaluations.items():
            for labels, number in evaluation.named_numbers():
                if labels == ("n_queries",):
                    continue
                measure, *names = labels
                for part in self.parts.values():
                    name = names[0] if names else "mean"
                    names = [f"{part.prefix}{name}"]
                yield (measure, system, *names), number

    def to_markdown(self, *, digits: int | None = None, compact: bool = True) -> str:
        """Return what prints as GitHub-flavoured Markdown.

        Parameters
        ----------
        digits : int, optional
            Decimals, by default 4.
        compact : bool, default True
            One table, with marks of significance and a caption, and the notes that could change the decision; False:
            every table and note. With a judge's labels all tables are shown.
        """
        return self._render("markdown", digits, compact=compact)

    def to_latex(self, *, digits: int | None = None, compact: bool = True) -> str:
        """Return the tables as LaTeX, for the packages booktabs and textcomp; what is said of them is in comments.

        Parameters
        ----------
        digits, compact
            As for :meth:`to_markdown`; the compact table is a float with caption and label.
        """
        return self._render("latex", digits, compact=compact)

    def to_html(self, *, full: bool = False, digits: int | None = None, compact: bool = True) -> str:
        """Return what prints as a piece of HTML without scripts, for light and dark pages; or a whole page.

        Parameters
        ----------
        full : bool, default False
            A document that needs no other file and no network, as ``deadheat report`` writes it, without rankings.
        digits, compact
            As for :meth:`to_markdown`; of a piece.
        """
        if full:
            return super().to_html(full=True, digits=digits)
        return self._render("html", digits, compact=compact)

    def by(
        self, columns: str | Sequence[str], queries: Source, *, pool_languages: bool = False
    ) -> dict[Stratum, Comparison]:
        """Compare within each stratum of queries; p values are corrected over all rows of a measure, in all strata.

        Those of Tukey's test are within each stratum only. A pair of which one has no query in a stratum has a row
        without numbers there.

        Parameters
        ----------
        columns : str or sequence of str
            Columns of the queries table.
        queries : path or frame
        pool_languages : bool, default False
            As for :meth:`Evaluation.by`.

        Returns
        -------
        dict of str (of several columns: tuple) to Comparison
        """
        places = groups(self.query_ids, columns, queries, pool_languages=pool_languages, stacklevel=3)
        parts_in = [part.in_strata(columns, queries) for part in self.parts.values()]
        design = replace(self.design, n_strata=len(places))
        if len(self.pairs) == len(self.measures) and design.correction in MAX_T_CORRECTIONS:
            design = replace(design, correction="holm")  # of one row in each stratum
        places_in = {name: self._places_in(evaluation) for name, evaluation in self.evaluations.items()}
        comparisons = {}
        with lasting("comparing strata", len(places)) as advance:
            for stratum, is_in_stratum in places.items():
                comparison = self._compare_stratum(is_in_stratum, places_in, design)
                for part_in in parts_in:
                    comparison = part_in(stratum).add_to(comparison)
                comparisons[stratum] = comparison
                advance(1)
        return correct_over_strata(comparisons, design)

    def _compare_stratum(
        self, is_in_stratum: BoolArray | IntArray, places_in: Mapping[str, IntArray], design: Design
    ) -> Comparison:
        """Compare over some of the queries, without parts; `places_in` says where each evaluation has each query."""
        evaluations, by_doc_id = {}, {}
        for name, evaluation in self.evaluations.items():
            places = places_in[name][is_in_stratum]
            places = places[places >= 0]
            evaluations[name] = evaluation.select(places)
            if name in self.by_doc_id:
                by_doc_id[name] = [values[places] for values in self.by_doc_id[name]]
        cluster = None if self.cluster is None else self.cluster[is_in_stratum].tolist()
        comparison = assemble(evaluations, design, cluster, None, by_doc_id)
        return replace(comparison, margin=self.margin, detect=self.detect)

    def _places_in(self, evaluation: Evaluation) -> IntArray:
        """Return the place of each query in an evaluation, whose queries are in the same order; -1: it lacks it."""
        has_query = is_member(self.query_ids, evaluation.query_ids)
        return np.where(has_query, np.cumsum(has_query) - 1, -1)

    def equivalence(self, margin: float) -> pl.DataFrame:
        """Test whether a system is no worse than its baseline by a margin, and whether both are equivalent.

        Parameters
        ----------
        margin : float
            Above 0.

        Returns
        -------
        polars.DataFrame
            measure, system, baseline, difference, margin, p_no_worse, no_worse, p_equivalent, equivalent: one-sided
            paired t tests, two of them for equivalence (TOST), at ``1 - confidence_level``, not corrected; p is 0 or 1
            where all differences are the same. Neither is shown by fewer than 5 queries or clusters. Of a rank, more
            is worse.

        References
        ----------
        D. J. Schuirmann 1987, https://doi.org/10.1007/BF01068419
        """
        margins = np.full(len(self.pairs), as_positive("margin", margin))
        tests = self._within(range(len(self.pairs)), margins)
        columns = {name: self.pairs.column(name).tolist() for name in (*KEYS, "difference")}
        for field_of_test in fields(Within):
            columns[field_of_test.name] = [getattr(test, field_of_test.name) for test in tests]
        return make_frame(columns)

    def sample_sizes(
        self, difference: float | None = None, *, power: float = 0.8, pair: Pair | None = None
    ) -> pl.DataFrame:
        """Say how many queries it takes to detect a difference, and which difference these queries can detect.

        Parameters
        ----------
        difference : float, optional
            Its size, above 0; by default the one that was found.
        power : float, default 0.8
            Probability of a significant result if the difference is there.
        pair : Pair, optional
            Of `pairs`; by default all of them.

        Returns
        -------
        polars.DataFrame
            measure, system, baseline, target (the difference to detect), std, n_queries, n_clusters (null without),
            power (of these queries), n_needed (queries; null if a thousand million are too few, as for a difference
            of 0 or of the other sign than the `alternative`), detectable_difference: by a paired t test at
            ``1 - confidence_level``, not corrected. With clusters the test takes these, `n_needed` is for more of
            the same size, and `std` that of independent queries with as large a standard error. A power worked out
            from the difference that was found repeats its p value.

        References
        ----------
        T. Sakai, "Statistical significance, power, and sample sizes", SIGIR 2016. doi:10.1145/2911451.2911492
        """
        design = self.design
        check_power(power, design.confidence_level)
        self._check_use("detect")
        towards = -1.0 if design.alternative == "less" else 1.0
        wanted = None if difference is None else towards * as_positive("difference", difference)
        places = range(len(self.pairs)) if pair is None else [self._place_of(pair)]
        rows = []
        for place, error in zip(places, self._errors_of(places).tolist(), strict=True):
            planned_pair = self.pairs[place]
            target = planned_pair.difference if wanted is None else wanted
            n_independent = planned_pair.n_effective
            if n_independent is None:
                n_independent = planned_pair.n_queries
            row = {
                "measure": planned_pair.measure,
                "system": planned_pair.system,
                "baseline": planned_pair.baseline,
                "n_queries": planned_pair.n_queries,
                "n_clusters": planned_pair.n_clusters,
                "target": target,
                "std": error * math.sqrt(n_independent),
            }
            rows.append(row | planned(target, error, planned_pair, design, power))
        return make_frame(rows, sizes_schema())

    def queries(self, n: int = 10) -> pl.DataFrame:
        """Return the queries that decide each pair: the best and worst of the system, and those that hang on ties.

        Parameters
        ----------
        n : int, default 10
            Queries of each kind, at most: only those that differ, or that ties move.

        Returns
        -------
        polars.DataFrame
            measure, system, baseline, kind ("best", "worst", "ties": the most extreme first), query_id, difference
            (value - baseline_value), value, baseline_value (under the tie policy), tie_min and tie_max (of the
            difference, over all orders of the ties of both), weight (null without weights). With weights the most
            extreme are those that move the mean most: weight times difference.
        """
        return tabulate_deciding_queries(
            self.evaluations,
            self.measures,
            self.pairs,
            self.query_ids,
            weights_of_pairs=self.weights,
            n=as_count("n", n),
        )

    def rank_intervals(
        self,
        measure: MeasureLike | None = None,
        *,
        confidence_level: float | None = None,
        n_resamples: int | None = None,
        rng: Rng = None,
    ) -> pl.DataFrame:
        """Return where the rank of each system may lie, had queries and tie orders been others.

        A bootstrap over both: each resample draws queries (or clusters) with replacement, and breaks the ties of every
        drawn query at random, for each system by itself, whatever the tie policy is.

        Parameters
        ----------
        measure : measure, optional
            By default all.
        confidence_level, n_resamples, rng
            By default those of the comparison.

        Returns
        -------
        polars.DataFrame
            measure, system, rank (by the exact mean), low and high (of the rank in resamples, at the confidence level),
            p_best (the share of resamples in which it is first), n_queries (for which all systems have a value; null
            ranks without one). Systems of equal mean share ranks, of which `low` takes the first and `high` the last;
            `p_best` is divided among them.

        References
        ----------
        Efron and Tibshirani 1993, An Introduction to the Bootstrap. Xie, Singh and Zhang, "Confidence intervals for
        population ranks in the presence of ties and near ties", JASA 104 (2009): where systems are nearly equal, a
        bootstrap of ranks does not keep its level, and `p_best` says more.
        """
        options = Design(
            confidence_level=self.design.confidence_level if confidence_level is None else confidence_level,
            n_resamples=self.design.n_resamples if n_resamples is None else n_resamples,
            rng=self.design.rng if rng is None else rng,
        )
        self._check_use("ranks")
        self.refuse_parts("a range of ranks")
        measures = self.measures
        if measure is not None:
            first_evaluation = next(iter(self.evaluations.values()))
            measures = (first_evaluation[measure].measure,)
        rows = []
        for ranked_by in measures:
            rows_of_measure = rank_intervals(self.evaluations, ranked_by, self.query_ids, self.cluster, design=options)
            rows += [{"measure": ranked_by.label, **row} for row in rows_of_measure]
        return make_frame(rows, ranks_schema())

    def orders(self, *, p: float = 0.9) -> SystemOrders:
        """Return how far orders of the systems agree: by each two measures, and by document id, as trec_eval.

        Parameters
        ----------
        p : float, default 0.9
            Persistence of rank-biased overlap.
        """
        self.refuse_parts("an order of systems")
        return orders_of(
            self.evaluations,
            self.pairs,
            self.scores_by_doc_id if self.by_doc_id else None,
            as_level("p", p, example="0.9"),
        )

    def significant_by_one_rule(self) -> pl.DataFrame:
        """Return the pairs that are significant either under the tie policy alone, or by document id alone.

        Returns
        -------
        polars.DataFrame
            measure, system, baseline, rule ("doc_id": by document id, as trec_eval, or the tie policy: under which
            the pair is significant), difference and p_adjusted, and the same by document id. Empty where the runs are
            not at hand, with a judge, and of a stratum whose p values are corrected together with those of others.
        """
        is_of_strata = self.n_strata > 1 and self.design.correction != "none"
        if not self.by_doc_id or self.parts or is_of_strata:
            return make_frame([], one_rule_schema())
        systems = RankedSystems(self.pairs, self.evaluations, self.by_doc_id, self.query_ids, self.cluster, self.design)
        return find_significant_by_one_rule(systems)


def assemble(
    evaluations: Mapping[str, Evaluation],
    design: Design,
    cluster: Cluster,
    queries: Source | None,
    by_doc_id: Mapping[str, list[FloatArray]],
) -> Comparison:
    """Compare evaluations that are known to be comparable; `by_doc_id` are the scores of each, by measure."""
    all_query_ids: set[str] = set()
    for evaluation in evaluations.values():
        all_query_ids.update(evaluation.query_ids.tolist())
    query_ids = np.array(sorted(all_query_ids), dtype=object)
    codes = cluster_codes(cluster, queries, query_ids)
    measures = next(iter(evaluations.values())).measures
    sides: list[dict[str, Side]] = [{} for _ in measures]
    weighted_by_doc_id = {}
    for name, evaluation in evaluations.items():
        if name in by_doc_id:
            weighted_by_doc_id[name] = _leave_out_weightless(by_doc_id[name], evaluation)
        is_evaluated = is_member(query_ids, evaluation.query_ids)
        for sides_of_measure, measure in zip(sides, measures, strict=True):
            sides_of_measure[name] = make_side(
                evaluation, measure, is_evaluated, weighted_by_doc_id.get(name), design.rng
            )
        for scores in evaluation:
            scores.spread.forget()
    runs = kind_of_runs(evaluations.values())
    if runs:
        design = design.without_maxima({"runs": runs})
    places = list_pairs(list(evaluations), design.against)
    pairs = compare_sides(measures, sides, places, design=design, cluster=codes)
    named_evaluations = {name: evaluation.called(name) for name, evaluation in evaluations.items()}
    return Comparison(pairs, named_evaluations, design, query_ids, codes, weighted_by_doc_id)


def _leave_out_weightless(by_doc_id: Sequence[FloatArray], evaluation: Evaluation) -> list[FloatArray]:
    """Return scores by document id, by measure, without those of queries of weight 0, which have no value either."""
    columns = []
    for scores, values in zip(evaluation, by_doc_id, strict=True):
        columns.append(np.where(scores.kept, values, np.nan))
    return columns


def check_queries_shared(evaluations: Mapping[str, Evaluation], design: Design) -> None:
    """Raise an error if a pair has no query in common, as that of disjoint runs with missing="skip"."""
    query_ids = {name: set(evaluation.query_ids.tolist()) for name, evaluation in evaluations.items()}
    names = list(query_ids)
    for pair in list_pairs(names, design.against):
        first, second = sorted(pair, key=names.index)
        if query_ids[first].isdisjoint(query_ids[second]):
            n_of_second = format_count(len(query_ids[second]), "query", "queries")
            raise DataError(f"{first} and {second} have no query in common: {len(query_ids[first])} and {n_of_second}")


def correct_over_strata(comparisons: dict[Stratum, Comparison], design: Design) -> dict[Stratum, Comparison]:
    """Correct the p values of all strata for all rows of each measure; Tukey's test has its own families.

    Those by maxima of sign flips are corrected already.
    """
    if design.test == TUKEY:
        return comparisons
    comparisons = {stratum: replace(part, n_strata=len(comparisons)) for stratum, part in comparisons.items()}
    if design.correction in MAX_T_CORRECTIONS:
        return comparisons
    columns = {}
    for name in ("measure", "p_value", "n_resamples", "p_is_bound"):
        columns[name] = np.concatenate([part.pairs.column(name) for part in comparisons.values()])
    corrected_columns = correct_p_values(columns, design, columns["measure"])
    start = 0
    corrected = {}
    for stratum, part in comparisons.items():
        rows = slice(start, start + len(part.pairs))
        corrected_rows = {name: column[rows] for name, column in corrected_columns.items()}
        corrected[stratum] = replace(part, pairs=part.pairs.changed(**corrected_rows))
        start = rows.stop
    return corrected
