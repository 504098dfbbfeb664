"""From evaluations to compared pairs: all measures and pairs of systems at once, as columns of one matrix."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from deadheat.arrays import members
from deadheat.comparison import Pair
from deadheat.errors import ParameterError
from deadheat.stats import TESTS as SINGLE_TESTS
from deadheat.stats import adjust, interval_bounds, p_values, significant, standard_errors, tukey_p_values
from deadheat.stats.flips import flip, summands
from deadheat.stats.sums import comparable
from deadheat.stats.units import NEGLIGIBLE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from deadheat.arrays import BoolArray, FloatArray, IntArray, TextArray
    from deadheat.comparison import Design
    from deadheat.evaluation import Evaluation
    from deadheat.measures import Measure
    from deadheat.stats.flips import Flip
    from deadheat.stats.sums import Summands

    Places = Sequence[tuple[int, int]]

TUKEY = "tukey"
TESTS = (*SINGLE_TESTS, TUKEY)
NEED_SPREAD = ("t", "bootstrap")


@dataclass(frozen=True, eq=False)
class Side:
    """One system by one measure, over the queries of all systems; NaN where it has no value.

    Attributes
    ----------
    own : ndarray of bool, shape (n_queries,)
        The queries that the evaluation has.
    values, mean, variance, low, high, by_doc_id : ndarray of shape (n_queries,)
        Under the tie policy; then over all tie orders: mean, variance, extremes; and under trec_eval's rule.
    """

    measure: Measure
    evaluation: Evaluation
    own: BoolArray
    values: FloatArray
    mean: FloatArray
    variance: FloatArray
    low: FloatArray
    high: FloatArray
    by_doc_id: FloatArray

    def summands(self, keep: BoolArray) -> Summands | None:
        """Return the exact distributions over tie orders of some of the queries, where they are feasible."""
        if not self.evaluation.has_placements:
            return None
        return summands(self.measure, self.evaluation.placements, keep[self.own])


def compare_pairs(
    evaluations: Mapping[str, Evaluation],
    query_ids: TextArray,
    design: Design,
    cluster: IntArray | None,
    by_doc_id: Mapping[str, Sequence[FloatArray]],
) -> tuple[tuple[Pair, ...], FloatArray]:
    """Compare every pair that the design asks for.

    Parameters
    ----------
    evaluations : mapping of str to Evaluation
        With the same measures.
    query_ids : ndarray of str, shape (n_queries,)
        Of all evaluations together, sorted.
    design : Design
    cluster : ndarray of int, shape (n_queries,), or None
    by_doc_id : mapping of str to sequence of ndarray
        The scores of each evaluation under trec_eval's rule, by measure; empty if they are not known.

    Returns
    -------
    pairs : tuple of Pair
    differences : ndarray of shape (n_queries, n_pairs)
    """
    names = list(evaluations)
    places = pairs_of(names, design.baseline)
    own = {name: members(query_ids, one.query_ids) for name, one in evaluations.items()}
    measures = [
        [_side(one, measure, own[name], by_doc_id.get(name)) for name, one in evaluations.items()]
        for measure in map(str, evaluations[names[0]].measures)
    ]
    if design.test == TUKEY:
        _check_shared(names, measures, places)
    differences = np.column_stack([sides[a].values - sides[b].values for sides in measures for a, b in places])
    exact = np.column_stack([sides[a].mean - sides[b].mean for sides in measures for a, b in places])
    low, high = interval_bounds(
        differences,
        method=design.method,
        confidence_level=design.confidence_level,
        n_resamples=design.n_resamples,
        cluster=cluster,
        rng=design.rng,
    )
    raw, adjusted, is_exact = _tested(differences, measures, places, design, cluster)
    is_significant = significant(adjusted, 1 - design.confidence_level)
    errors = standard_errors(np.where(np.isnan(differences), np.nan, exact), cluster=cluster)
    pairs: list[Pair] = []
    for sides in measures:
        for (a, b), found in zip(places, _flips(sides, places), strict=True):
            n = len(pairs)
            pairs.append(
                Pair(
                    measure=str(sides[a].measure),
                    system=names[a],
                    baseline=names[b],
                    low=float(low[n]),
                    high=float(high[n]),
                    p_value=float(raw[n]),
                    p_adjusted=float(adjusted[n]),
                    significant=bool(is_significant[n]),
                    exact_p_value=bool(is_exact[n]),
                    standard_error=float(errors[n]),
                    flip_probability=found.probability,
                    can_flip=found.can_flip,
                    flip_method=found.method,
                    **_described(sides[a], sides[b]),
                )
            )
    return tuple(pairs), differences


def pairs_of(names: list[str], baseline: str | None) -> Places:
    """Return (system, baseline) of each pair, as places in `names`."""
    if baseline is None:
        return [(second, first) for first, second in combinations(range(len(names)), 2)]
    place = names.index(baseline)
    return [(n, place) for n in range(len(names)) if n != place]


def _side(evaluation: Evaluation, measure: str, own: BoolArray, by_doc_id: Sequence[FloatArray] | None) -> Side:
    scores = evaluation[measure]  # by its name: evaluations may hold the same measures in another order

    def spread(values: FloatArray) -> FloatArray:
        everywhere = np.full(len(own), np.nan)
        everywhere[own] = values
        return everywhere

    nothing = np.full(len(scores.values), np.nan)
    return Side(
        scores.measure,
        evaluation,
        own,
        spread(scores.values),
        spread(scores.tie_mean),
        spread(scores.tie_std**2),
        spread(scores.tie_min),
        spread(scores.tie_max),
        spread(nothing if by_doc_id is None else by_doc_id[evaluation.measures.index(scores.measure)]),
    )


def _check_shared(names: Sequence[str], measures: Sequence[Sequence[Side]], places: Places) -> None:
    """Raise if Tukey's test, which takes the queries with a value for all systems, had fewer than a pair has."""
    for sides in measures:
        present = np.column_stack([~np.isnan(side.values) for side in sides])
        n_shared = int(present.all(axis=1).sum())
        n_of_pair = max(int((present[:, a] & present[:, b]).sum()) for a, b in places)
        if n_shared < n_of_pair:
            n_own = present.sum(axis=0)
            msg = (
                f"test='tukey' takes the queries that have a value for all systems: by {sides[0].measure} only"
                f" {n_shared}, where a pair has {n_of_pair}. {names[int(n_own.argmin())]} has the fewest,"
                f" {n_own.min()}: leave it out, or choose another test"
            )
            raise ParameterError(msg)


def _tested(
    differences: FloatArray,
    measures: Sequence[Sequence[Side]],
    places: Places,
    design: Design,
    cluster: IntArray | None,
) -> tuple[FloatArray, FloatArray, BoolArray]:
    """Return p values, corrected p values and whether they are exact, each of shape (n_pairs,)."""
    is_empty = np.isnan(differences).all(axis=0)  # nothing was tested, as in a stratum that one of the two lacks
    if design.test == TUKEY:
        by_pair = []
        for sides in measures:
            values = np.column_stack([side.values for side in sides])
            matrix = tukey_p_values(values, n_resamples=design.n_resamples, cluster=cluster, rng=design.rng)
            by_pair += [matrix[a, b] for a, b in places]
        raw = np.where(is_empty, np.nan, by_pair)
        return raw, raw, np.zeros(len(raw), np.bool_)  # the test accounts for all pairs by itself
    found = p_values(
        differences,
        test=design.test,
        alternative=design.alternative,
        n_resamples=design.n_resamples,
        cluster=cluster,
        rng=design.rng,
    )
    raw = np.where(is_empty, np.nan, found.p_values)
    if design.test in NEED_SPREAD:
        alike = (standard_errors(differences, cluster=cluster) == 0) & (np.abs(np.nansum(differences, axis=0)) > 0)
        raw = np.where(alike, np.nan, raw)  # the same difference for every query: nothing says how large chance is
    of_measures = raw.reshape(len(measures), -1)
    adjusted = np.concatenate([adjust(of_measure, design.correction) for of_measure in of_measures])
    return raw, adjusted, found.is_exact


def _flips(sides: Sequence[Side], places: Places) -> list[Flip]:
    """Say for each pair what random tie-breaks can do to the sign of its exact mean difference."""
    known: dict[tuple[int, bytes], Summands | None] = {}

    def find(place: int, keep: BoolArray) -> Summands | None:
        key = place, keep.tobytes()
        if key not in known:
            known[key] = sides[place].summands(keep)
        return known[key]

    flips = []
    for a, b in places:
        one, other = sides[a], sides[b]
        keep = ~np.isnan(one.values - other.values)
        n = max(int(keep.sum()), 1)
        lowest, highest = (one.low - other.high)[keep].sum() / n, (one.high - other.low)[keep].sum() / n
        known_of_pair = (
            float((one.mean - other.mean)[keep].sum() / n),
            float((one.variance + other.variance)[keep].sum() / n**2),
            float(lowest),
            float(highest),
        )
        found = flip(*known_of_pair)
        if found.method == "normal" and (own := find(a, keep)) and (others := find(b, keep)):
            found = flip(*known_of_pair, comparable(own, others))
        flips.append(found)
    return flips


def _described(one: Side, other: Side) -> dict[str, Any]:
    """Return what needs no test: means, effect size, wins, and what trec_eval's rule says."""
    difference = one.values - other.values
    keep = ~np.isnan(difference)
    kept = difference[keep]
    n = len(kept)
    mean = float(kept.mean()) if n else np.nan
    std = float(kept.std(ddof=1)) if n > 1 else np.nan
    better = kept if one.measure.higher_is_better else -kept
    exact, by_rule = (one.mean - other.mean)[keep], (one.by_doc_id - other.by_doc_id)[keep]
    of_rule = float(by_rule.mean()) if n else np.nan
    expected = float(exact.mean()) if n else np.nan
    return {
        "mean": float(one.values[keep].mean()) if n else np.nan,
        "baseline_mean": float(other.values[keep].mean()) if n else np.nan,
        "difference": mean,
        "effect_size": _effect_size(mean, std),
        "wins": int((better > NEGLIGIBLE).sum()),
        "draws": int((np.abs(kept) <= NEGLIGIBLE).sum()),
        "losses": int((better < -NEGLIGIBLE).sum()),
        "n_queries": n,
        "std": std,
        "tie_standard_error": float(np.sqrt((one.variance + other.variance)[keep].sum()) / n) if n else np.nan,
        "expected_difference": expected,
        "doc_id_difference": of_rule,
        "doc_id_reverses": bool(of_rule * expected < 0 and abs(of_rule) > NEGLIGIBLE and abs(expected) > NEGLIGIBLE),
    }


def _effect_size(mean: float, std: float) -> float:
    """Return mean / std; 0 where nothing differs, infinite where all differences are the same."""
    if std > NEGLIGIBLE or np.isnan(std):
        return mean / std
    return float(np.copysign(np.inf, mean)) if abs(mean) > NEGLIGIBLE else 0.0
