"""Differences between systems, estimated with the labels of a judge beside human ones."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache
from typing import Any, ClassVar
from warnings import catch_warnings

import numpy as np

from deadheat.core import stats
from deadheat.core.arrays import FloatArray, TextArray, align_values, use_default_arithmetic
from deadheat.core.data.sources import Source
from deadheat.core.design import Design
from deadheat.core.errors import ParameterError
from deadheat.core.evaluation.evaluation import Evaluation
from deadheat.core.evaluation.stratum import Stratum
from deadheat.core.evaluation.stratum_places import groups
from deadheat.core.kernels import weighting
from deadheat.core.measures import Measure
from deadheat.core.report.model import Column, Fact, Table
from deadheat.plugins.compare.comparison import Comparison, correct_over_strata
from deadheat.plugins.compare.pair import Pair, Pairs
from deadheat.plugins.judges.by_labels import check_judge_has_values, labelled_by_none, refuse_bounds
from deadheat.plugins.judges.predicted import JUDGE
from deadheat.plugins.judges.prediction import Powered, powered_mean
from deadheat.plugins.judges.values_by_system import values_of


@dataclass(frozen=True)
class JudgeContribution:
    """What a judge adds to a difference that humans know for some queries.

    Attributes
    ----------
    weight : float
        What its labels count, from 0 to 1; 0: they add nothing, and the result is that of the human labels.
    correlation : float
        Of the differences by query under both labels.
    n_effective : float
        As many queries with human labels alone would give this standard error.
    n_others : int
        Queries that only the judge labelled.
    difference, low, high, p_value : float
        By the human labels alone.
    """

    values_are_by: ClassVar[str] = "human labels"
    differences_are: ClassVar[str] = "with the judge's labels"

    weight: float
    correlation: float
    n_effective: float
    n_others: int
    difference: float
    low: float
    high: float
    p_value: float


OF_HUMANS = (
    *("mean", "baseline_mean", "effect_size", "std", "wins", "draws", "losses", "skewness"),
    *("flip_probability", "can_flip", "flip_method", "flip_standard_error", "tie_standard_error"),
    *("expected_difference", "doc_id_difference", "doc_id_reverses"),
)
"""The fields of a pair that are by human labels alone, whatever a judge's labels do to its difference."""
BY_HUMANS = ("difference", "low", "high", "p_value")
"""What a contribution has of the human labels alone; all else is of the judge."""


@dataclass(frozen=True, eq=False)
class JudgedDifferences:
    """Evaluations by the labels of a judge, as a part of a comparison.

    Attributes
    ----------
    evaluations : mapping of str to Evaluation
        Of each system under the judge's labels, for the queries that humans labelled and others.
    """

    evaluations: Mapping[str, Evaluation]

    fields_of_values = OF_HUMANS
    prefix = "human_"
    values_are_by = JudgeContribution.values_are_by
    differences_are = JudgeContribution.differences_are

    def add_to(self, comparison: Comparison) -> Comparison:
        """Return a comparison whose differences are estimated with the judge's labels, and corrected."""
        design = comparison.design
        if design.test not in stats.CLUSTERED:
            raise ParameterError(argument="test", given=design.test, allowed=stats.CLUSTERED, beside={"judge": None})
        if comparison.cluster is not None:
            raise ParameterError(argument="cluster", found="some", allowed="none", beside={"judge": None})
        refuse_bounds((*comparison.evaluations.values(), *self.evaluations.values()))
        evaluations = {}
        for name, human in comparison.evaluations.items():
            judge = self.evaluations[name]
            for scores in human:
                by_judge = judge[scores.measure]
                values = align_values(by_judge.values, by_judge.query_ids, human.query_ids)
                check_judge_has_values(scores, values, judge.qrels.where)
            own = {"unjudged_queries": labelled_by_none(human, judge)}
            evaluations[name] = Evaluation([*human], **human.parts() | own)
        found = replace(
            comparison,
            evaluations=evaluations,
            pairs=judged_pairs(
                comparison.pairs, comparison.differences, comparison.query_ids, self.evaluations, design
            ),
            parts={**comparison.parts, JUDGE: self},
        )
        return correct_over_strata({(): found}, design)[()]

    def in_strata(self, columns: str | Sequence[str], queries: Source) -> Callable[[Stratum], JudgedDifferences]:
        """Return what gives the evaluations of the queries of a stratum, which may have none."""
        with catch_warnings(action="ignore"):  # of queries without a value, which the human labels have warned of
            places = {
                name: groups(one.query_ids.tolist(), columns, queries, pool_languages=True)
                for name, one in self.evaluations.items()
            }

        def in_stratum(stratum: Stratum) -> JudgedDifferences:
            none = np.zeros(0, np.int64)
            selected = {}
            for name, evaluation in self.evaluations.items():
                selected[name] = evaluation.select(places[name].get(stratum, none))
            return JudgedDifferences(selected)

        return in_stratum

    def refuse(self, what: str) -> None:
        """Raise `ParameterError` for something that would be by human labels alone."""
        raise ParameterError(
            f"{what} is not for a comparison with a judge's labels: it would be by human labels alone",
            hint="compare without a judge",
        )

    def columns_of(self, pairs: Pairs) -> dict[str, list[Any]]:
        """Return what the judge adds to each pair, and what the human labels alone say."""
        columns = {}
        for own in fields(JudgeContribution):
            whose = "human" if own.name in BY_HUMANS else "judge"
            columns[f"{whose}_{own.name}"] = [getattr(pair.judged, own.name) for pair in pairs]
        return columns

    def numbers_of(self, pair: Pair, scale: float) -> Iterable[tuple[str, float]]:
        """Give the difference by human labels, and what the judge counts."""
        yield "human_difference", scale * pair.judged.difference
        yield "judge_weight", pair.judged.weight

    def tabulate_pairs(
        self, parts: Mapping[tuple[str, ...], Comparison], leading: Iterable[Column], measure: Measure
    ) -> Table:
        """Return what the human labels alone say of each pair, and what a judge's labels add."""
        from deadheat.plugins.judges.report_of_differences import tabulate_pairs

        return tabulate_pairs(parts, leading, measure)

    def tell(self, comparison: Comparison, parts: Mapping[tuple[str, ...], Comparison]) -> list[Fact]:
        """Say what was assumed of a judge's labels, and whether they help."""
        from deadheat.plugins.judges.report_of_differences import tell_judge

        return tell_judge(comparison, parts)


@use_default_arithmetic
def judged_pairs(
    pairs: Pairs,
    differences: FloatArray,
    query_ids: TextArray,
    judge: Mapping[str, Evaluation],
    design: Design,
) -> Pairs:
    """Return the pairs with what a judge adds; p values are not corrected yet.

    Parameters
    ----------
    pairs : Pairs
        By human labels.
    differences : ndarray of shape (n_queries, n_pairs)
    query_ids : ndarray of str, shape (n_queries,)
        Those with human labels.
    judge : mapping of str to Evaluation
        Of each system under the judge's labels, over more queries.
    design : Design
    """
    found, names = [], list(judge)
    known_of = cache(lambda measure, what: values_of(judge, measure, query_ids, what))  # of all systems
    for pair, own in zip(pairs, differences.T, strict=True):
        a, b = names.index(pair.system), names.index(pair.baseline)
        both, others = (values[:, a] - values[:, b] for values in known_of(pair.measure, "values"))
        kept, known = ~np.isnan(own) & ~np.isnan(both), ~np.isnan(others)
        weights, of_others = None, None
        if judge[pair.system][pair.measure].weights is not None:
            ends = zip(known_of(pair.measure, "weights"), (kept, known), strict=True)
            weights, of_others = (columns[some, a] for columns, some in ends)
        predicted = others[known]
        if judge[pair.system][pair.measure].measure.total:  # it is of these queries alone, which humans judged
            predicted, of_others = predicted[:0], None
        powered = powered_mean(
            own[kept],
            both[kept],
            predicted,
            weights=weights,
            other_weights=of_others,
            confidence_level=design.confidence_level,
        )
        human = {name: getattr(pair, name) for name in ("difference", "low", "high", "p_value")}
        worth = 1 if weights is None else weighting.effective_number(weights) / len(weights)
        added = JudgeContribution(
            powered.weight, powered.correlation, worth * powered.n_effective, int(known.sum()), **human
        )
        numbers: dict[str, Any] = {  # without weight those of the human labels stay
            "difference": powered.estimate,
            "low": powered.low,
            "high": powered.high,
            "p_value": _one_sided(powered, design.alternative),
            "standard_error": powered.standard_error,
            "method": "ppi",
            "exact_p_value": False,
            "n_resamples": 0,
            "p_is_bound": False,
            "n_queries": int(kept.sum()),
            "doubtful": bool(stats.is_doubtful(np.array([pair.skewness]), np.array([kept.sum()]), "t")[0]),
        }
        found.append(replace(pair, judged=added, **(numbers if powered.weight else {})))
    return Pairs.of(found)


def _one_sided(powered: Powered, alternative: str) -> float:
    """Return the p value of the alternative, from the two-sided one of a symmetric test."""
    if alternative == "two-sided":
        return powered.p_value
    return powered.p_value / 2 if (powered.estimate > 0) == (alternative == "greater") else 1 - powered.p_value / 2
