"""Differences that are known for few queries, with the help of a judge's labels for these and many more."""

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

import numpy as np

from deadheat.arrays import FloatArray, TextArray, aligned
from deadheat.comparison.pairs import JudgeContribution, Pair, Pairs
from deadheat.errors import ParameterError, Plain
from deadheat.evaluation.evaluation import Evaluation
from deadheat.kernels.weighting import effective_number, linearised
from deadheat.measures.notation import MeasureLike
from deadheat.settings import Design
from deadheat.stats.prediction import Powered, powered_mean, sample_doubt

POWERED = "ppi"  # the method of an interval
OF_MEANS = ("randomization", "bootstrap-t", "bootstrap", "t")  # tests of the mean difference


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
    found = []
    for pair, own in zip(pairs, differences.T, strict=True):
        two = {name: judge[name] for name in (pair.system, pair.baseline)}
        both, others = (values[:, 0] - values[:, 1] for values in values_of(two, pair.measure, query_ids))
        kept, known = ~np.isnan(own) & ~np.isnan(both), ~np.isnan(others)
        weights, of_others = None, None
        if judge[pair.system][pair.measure].weights is not None:
            ends = zip(values_of(two, pair.measure, query_ids, "weights"), (kept, known), strict=True)
            weights, of_others = (columns[some, 0] for columns, some in ends)
        powered = powered_mean(
            linearised(own[kept], weights),
            linearised(both[kept], weights),
            linearised(others[known], of_others),
            confidence_level=design.confidence_level,
        )
        human = {name: getattr(pair, name) for name in ("difference", "low", "high", "p_value")}
        n_effective = powered.n_effective * (1 if weights is None else effective_number(weights) / len(weights))
        added = JudgeContribution(powered.weight, powered.correlation, n_effective, int(known.sum()), **human)
        numbers: dict[str, Any] = {  # without weight those of the human labels stay
            "difference": powered.estimate,
            "low": powered.low,
            "high": powered.high,
            "p_value": _one_sided(powered, design.alternative),
            "standard_error": powered.standard_error,
            "method": POWERED,
            "exact_p_value": False,
            "n_queries": int(kept.sum()),
        }
        found.append(replace(pair, judged=added, **(numbers if powered.weight else {})))
    return Pairs({one.name: [getattr(pair, one.name) for pair in found] for one in fields(Pair)})


def _one_sided(powered: Powered, alternative: str) -> float:
    """Return the p value of the alternative, from the two-sided one of a symmetric test."""
    if alternative == "two-sided":
        return powered.p_value
    is_in_favour = (powered.estimate > 0) == (alternative == "greater")
    return powered.p_value / 2 if is_in_favour else 1 - powered.p_value / 2


def values_of(
    evaluations: Mapping[str, Evaluation], measure: MeasureLike, query_ids: TextArray, name: str = "values"
) -> tuple[FloatArray, FloatArray]:
    """Return the values, or weights, for some queries and for all others, of shape (n_queries, n_systems).

    NaN where none is.
    """
    each = [one[measure] for one in evaluations.values()]
    others = sorted({query for one in each for query in one.query_ids.tolist()}.difference(query_ids.tolist()))
    own, rest = (
        np.column_stack([aligned(getattr(one, name), one.query_ids, ids) for one in each])
        for ids in (query_ids, np.array(others, object))
    )
    return own, rest


def sampling_doubts(judge: Mapping[str, Evaluation], query_ids: TextArray) -> dict[str, float]:
    """Return p values below `SUSPECT`, by measure, of no difference between queries with human labels and others.

    Of the mean over systems by the judge's labels, by Welch's t test: what a random sample differs in by chance alone.
    """
    found = {}
    for scores in next(iter(judge.values())):
        measure = scores.measure.label
        means = [values.mean(axis=1) for values in values_of(judge, measure, query_ids)]
        if (p := sample_doubt(*means)) is not None:
            found[measure] = p
    return found


def check_judge(design: Design, *, has_clusters: bool) -> None:
    """Raise `ParameterError` if a judge's labels cannot help such a comparison."""
    beside = {"judge": None}
    if design.test not in OF_MEANS:
        raise ParameterError(argument="test", given=design.test, allowed=OF_MEANS, beside=beside)
    if has_clusters:
        raise ParameterError(argument="cluster", given=Plain("some"), allowed="none", beside=beside)
