"""Pair: one row of a comparison; all rows at once, as columns of one matrix."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, TypeVar

import numpy as np

from deadheat.arrays import BoolArray, FloatArray, IntArray
from deadheat.comparison.flips import Flip, Side, TieSums, flip, gap_of, normal_error_of
from deadheat.data.shown import InNotebooks
from deadheat.errors import ParameterError
from deadheat.evaluation.intervals import why_unknown
from deadheat.io.phases import phase
from deadheat.kernels import weighting
from deadheat.measures import Measure
from deadheat.settings import TUKEY, Design
from deadheat.stats import (
    adjust,
    checks,
    interval_bounds,
    is_doubtful,
    p_values,
    significant,
    skewness,
    standard_errors,
    tukey_p_values,
)
from deadheat.stats.repeats import Shared, rerun_probability, shared_of, shared_p_value, widened
from deadheat.stats.units import NEGLIGIBLE_DIFFERENCE
from deadheat.wording import rounded

K = TypeVar("K", bound=Hashable)

NEED_SPREAD = ("t", "bootstrap", "bootstrap-t")
OF_SIGNS = ("randomization", "wilcoxon", "sign")  # k differences that are not 0 have 2^k patterns of signs
LEAST_P = 0.0001  # a smaller one is shown as a bound


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

    weight: float
    correlation: float
    n_effective: float
    n_others: int
    difference: float
    low: float
    high: float
    p_value: float


@dataclass(frozen=True, repr=False)
class Pair(InNotebooks):
    """A system against a baseline by one measure, over the queries for which both have a value.

    Attributes
    ----------
    measure, system, baseline : str
        The measure by the name by which it was asked for.
    mean, baseline_mean : float
    difference : float
        ``mean - baseline_mean``.
    low, high : float
        Its confidence interval, not corrected for the number of comparisons.
    p_value, p_adjusted : float
        Before and after the correction over all rows of the measure; Tukey's test needs none. NaN without a query; of
        "t", "bootstrap" and "bootstrap-t" also with a single query or cluster, and where all differences are the same
        and not 0.
    significant : bool
        Whether ``p_adjusted < 1 - confidence_level``, by more than rounding.
    effect_size : float
        Mean difference by the standard deviation of the differences (Cohen's d_z); infinite if all are the same.
    wins, draws, losses : int
        Queries on which the system is better (by the measure's direction), equal to within 1e-12, and worse.
    flip_probability : float
        Probability that ties broken at random reverse the sign of the exact mean difference; NaN if that is 0.
    can_flip : bool
        Whether any order of the ties reverses it.
    flip_method : {"exact", "grid", "sampled", "normal", "none"}
        How the probability was found: exact; from the exact distribution of each query, summed on a grid, to about
        0.0001; from random orders of the ties; from a normal distribution with the exact variance, where that is
        proved to be close, or no order can be drawn (a saved evaluation); or there is none to find.
    flip_standard_error : float
        Of a sampled probability the standard error, of a normal one the most that it can be off; else 0.
    n_queries : int
    standard_error : float
        Of the difference, by the choice of queries, for exact expected scores.
    tie_standard_error : float
        What one random tie-break of both systems would add.
    std : float
        Standard deviation of the differences over queries.
    exact_p_value : bool
        Whether the p value has no error from resampling, nor, with "wilcoxon", from the normal distribution.
    expected_difference : float
        The exact mean difference over all tie orders, whose sign may be reversed; under ``ties="expected"`` it is
        `difference`.
    doc_id_difference : float
        The difference with ties broken by document id, as trec_eval; NaN where the runs are not at hand.
    doc_id_reverses : bool
        Whether it has another sign than that of the exact means.
    n_clusters : int or None
        Clusters that the queries fall into, if they were given.
    n_effective : float or None
        With weights: how many queries of equal weight are worth as much (Kish). Means, their errors and tests are
        weighted; wins, draws, losses and n_queries count queries.
    rerun_probability : float
        Of systems with repeats: that running both once more, on these queries, reverses their order; else NaN.
    method : {"bca", "bootstrap-t", "percentile", "t"}
        Of the interval.
    skewness : float
        Sample skewness (G1) of the differences over queries, or of what clusters differ by; NaN with fewer than three,
        and where all are equal.
    doubtful : bool
        Whether the skewness is so large for the number of queries that the test, which holds its level for symmetric
        differences or many queries, may reject equal systems more often than it promises: `test="bootstrap-t"` is
        nearer to its level (:func:`deadheat.stats.is_doubtful`). Never of "wilcoxon" and "sign", which test no mean.
    judged : JudgeContribution or None
        With ``compare(judge=)``: what the judge's labels add. Where they count (`judge_weight` above 0), difference,
        interval and p value are those of prediction-powered inference; means, wins, losses and what ties can reverse
        are by the human labels.
    """

    measure: str
    system: str
    baseline: str
    mean: float
    baseline_mean: float
    difference: float
    low: float
    high: float
    p_value: float
    p_adjusted: float
    significant: bool
    effect_size: float
    wins: int
    draws: int
    losses: int
    flip_probability: float
    can_flip: bool
    # what is behind these
    flip_method: str
    flip_standard_error: float
    n_queries: int
    standard_error: float
    tie_standard_error: float
    std: float
    exact_p_value: bool
    expected_difference: float
    doc_id_difference: float
    doc_id_reverses: bool
    n_clusters: int | None
    method: str
    skewness: float
    doubtful: bool
    n_effective: float | None = None
    rerun_probability: float = math.nan
    judged: JudgeContribution | None = None

    @property
    def judge_weight(self) -> float:
        """What a judge's labels count, from 0 to 1; NaN without a judge."""
        return math.nan if self.judged is None else self.judged.weight

    def __repr__(self) -> str:
        """Return the difference with its ends and what is said of it, rounded."""
        ends = f"[{rounded(self.low)}, {rounded(self.high)}]{'' if self.is_known else '?'}"
        p = f"p {'=' if self.p_adjusted >= LEAST_P else '<'} {rounded(max(self.p_adjusted, LEAST_P))}"
        flips = f", ties reverse the sign with probability {rounded(self.flip_probability)}" if self.can_flip else ""
        counts = f"{self.wins} wins, {self.draws} draws, {self.losses} losses"
        return (
            f"<Pair {self.measure}: {self.system} - {self.baseline} = {rounded(self.difference)} {ends},"
            f" {'no p value' if math.isnan(self.p_adjusted) else p}, {counts}{flips}>"
        )

    @property
    def is_known(self) -> bool:
        """Whether the interval says where the difference may lie: there are queries enough, and they differ."""
        return not self.unknown

    @property
    def unknown(self) -> str:
        """Why it does not, as for `Interval.unknown`; empty if it does."""
        return why_unknown(self.low, self.high, self.n_queries, self.n_clusters, self.method, self.n_effective)


def n_units(pair: Pair) -> int:
    """Return what a pair's tests count: queries, or clusters; with weights no more whole ones than they are worth."""
    n = pair.n_queries if pair.n_clusters is None else pair.n_clusters
    return n if pair.n_effective is None else min(n, int(pair.n_effective))


def n_differing(pair: Pair) -> int:
    """Return how many queries differ; of clusters the most that can."""
    n = pair.wins + pair.losses
    return n if pair.n_clusters is None else min(n, pair.n_clusters)


def least_p(pair: Pair, design: Design) -> float:
    """Return the p value that a test of signs cannot fall below, however large the differences are; else 0.

    Examples
    --------
    Of three queries that differ one of the eight patterns of signs is all of theirs, and one the opposite.

    >>> from deadheat import compare
    >>> qrels = {f"q{n}": {"a": 1} for n in range(9)}
    >>> good = {query: {"a": 2, "b": 1} for query in qrels}
    >>> poor = {query: {"a": 1 if query < "q3" else 3, "b": 2} for query in qrels}
    >>> found = compare(qrels, {"good": good, "poor": poor}, "RR")
    >>> least_p(found.pairs[0], found.design), found.pairs[0].p_value
    (0.25, 0.25)
    """
    if design.test not in OF_SIGNS or not pair.exact_p_value:
        return 0.0
    return min(1.0, 0.5 ** (n_differing(pair) - (design.alternative == "two-sided")))


def compare_sides(
    asked: Sequence[Measure],
    measures: Sequence[Mapping[K, Side]],
    places: Sequence[tuple[K, K]],
    *,
    name_of: Callable[[K], str] = str,
    design: Design,
    cluster: IntArray | None,
) -> tuple[tuple[Pair, ...], FloatArray]:
    """Compare some pairs of sides.

    Parameters
    ----------
    asked : sequence of Measure
    measures : sequence of mapping of key to Side, shape (n_measures,)
        Each with the same keys in the same order.
    places : sequence of (key, key)
        System and baseline of each pair.
    name_of : callable
        Returns what the rows call a side, by its key.
    design : Design
    cluster : ndarray of int, shape (n_queries,), or None

    Returns
    -------
    pairs : tuple of Pair
    differences : ndarray of shape (n_queries, n_pairs)
    """
    if design.test == TUKEY:
        _check_shared(measures, places, name_of)
    differences = np.column_stack([sides[a].values - sides[b].values for sides in measures for a, b in places])
    exact = np.column_stack([sides[a].mean - sides[b].mean for sides in measures for a, b in places])
    of_sides = [sides[a].weights for sides in measures for a, _ in places]
    weights = None
    if any(own is not None for own in of_sides):
        ones = np.ones(len(differences))
        weights = np.column_stack([ones if own is None else own for own in of_sides])
    with phase("estimating intervals"):
        low, high = interval_bounds(
            differences,
            method=design.difference_method,
            confidence_level=design.confidence_level,
            n_resamples=design.n_resamples,
            cluster=cluster,
            rng=design.rng,
            weights=weights,
        )
    with phase("testing differences"):
        raw, adjusted, is_exact = tested(differences, measures, places, design, cluster, weights)
    of_repeats = _shared(measures, places, differences)
    is_significant = significant(adjusted, 1 - design.confidence_level)
    errors = standard_errors(np.where(np.isnan(differences), np.nan, exact), cluster=cluster, weights=weights)
    skew, sizes = skewness(differences, cluster=cluster, weights=weights)
    doubtful = is_doubtful(skew, sizes, design.test)
    pairs: list[Pair] = []
    for measure, sides in zip(asked, measures, strict=True):
        sums = TieSums(sides)
        with phase(f"flips of {sums.measure}", len(places)) as advance:
            for a, b in places:
                n, gap = len(pairs), gap_of(sides[a], sides[b])
                keep = ~np.isnan(gap.values)
                found, described = _reversal(sums, a, b, gap, keep), _described(gap, keep)
                if shared := of_repeats[n]:
                    mean, level = described["difference"], design.confidence_level
                    low[n], high[n] = widened(mean, (float(low[n]), float(high[n])), shared, level)
                    errors[n] = math.hypot(errors[n], math.sqrt(sum(one.variance for one in shared)))
                    described["rerun_probability"] = rerun_probability(mean, shared)
                pairs.append(
                    Pair(
                        measure=measure.label,
                        system=name_of(a),
                        baseline=name_of(b),
                        low=float(low[n]),
                        high=float(high[n]),
                        p_value=float(raw[n]),
                        p_adjusted=float(adjusted[n]),
                        significant=bool(is_significant[n]),
                        exact_p_value=bool(is_exact[n]),
                        method=design.difference_method,
                        n_clusters=None if cluster is None else len(np.unique(cluster[keep])),
                        standard_error=float(errors[n]),
                        flip_probability=found.probability,
                        can_flip=found.can_flip,
                        flip_method=found.method,
                        skewness=float(skew[n]),
                        doubtful=bool(doubtful[n]),
                        flip_standard_error=found.standard_error,
                        **described,
                    )
                )
                advance(1)
    return tuple(pairs), differences


def pairs_of(names: Sequence[str], baseline: str | None) -> list[tuple[str, str]]:
    """Return (system, baseline) of each pair."""
    if baseline is None:
        return [(second, first) for first, second in combinations(names, 2)]
    return [(name, baseline) for name in names if name != baseline]


def _check_shared(
    measures: Sequence[Mapping[K, Side]], places: Sequence[tuple[K, K]], name_of: Callable[[K], str]
) -> None:
    """Raise if Tukey's test, which takes the queries with a value for all systems, had fewer than a pair has."""
    for sides in measures:
        present = {key: ~np.isnan(side.values) for key, side in sides.items()}
        n_shared = int(np.logical_and.reduce(list(present.values())).sum())
        n_of_pair = max(int((present[a] & present[b]).sum()) for a, b in places)
        if n_shared < n_of_pair:
            n_own = {name_of(key): int(kept.sum()) for key, kept in present.items()}
            name = min(n_own, key=n_own.__getitem__)
            raise ParameterError(
                "test='tukey' takes the queries that have a value for all systems: by"
                f" {TieSums(sides).measure.label} only {n_shared}, where a pair has {n_of_pair}. {name} has the fewest,"
                f" {n_own[name]}",
                hint="leave it out, or choose another test",
            )


def tested(  # noqa: PLR0917 - what is tested, and how
    differences: FloatArray,
    measures: Sequence[Mapping[K, Side]],
    places: Sequence[tuple[K, K]],
    design: Design,
    cluster: IntArray | None,
    weights: FloatArray | None,
) -> tuple[FloatArray, FloatArray, BoolArray]:
    """Return p values, corrected p values and whether they are exact, each of shape (n_pairs,)."""
    is_empty = np.isnan(differences).all(axis=0)  # nothing was tested, as in a stratum that one of the two lacks
    if design.test == TUKEY:
        by_pair = []
        for sides in measures:
            matrix = tukey_p_values(
                np.column_stack([side.values for side in sides.values()]),
                n_resamples=design.n_resamples,
                cluster=cluster,
                rng=design.rng,
                weights=next(iter(sides.values())).weights,
            )
            column = {key: n for n, key in enumerate(sides)}
            by_pair += [matrix[column[a], column[b]] for a, b in places]
        raw = np.where(is_empty, np.nan, by_pair)
        return raw, raw, np.zeros(len(raw), np.bool_)  # the test accounts for all pairs by itself
    found = p_values(
        differences,
        test=design.test,
        alternative=design.alternative,
        n_resamples=design.n_resamples,
        cluster=cluster,
        rng=design.rng,
        weights=weights,
    )
    raw = np.where(is_empty, np.nan, found.p_values)
    for n, shared in enumerate(_shared(measures, places, differences)):
        if any(one.variance for one in shared):
            keep = ~np.isnan(differences[:, n])
            own = None if weights is None else weights[:, n]
            error = float(standard_errors(differences[:, [n]], cluster=cluster, weights=own)[0])
            worth = math.inf if own is None else weighting.effective_number(own[keep])
            freedom = min(int(keep.sum()) if cluster is None else len(np.unique(cluster[keep])), worth) - 1
            mean = weighting.mean(differences[keep, n], None if own is None else own[keep])
            side = checks.alternative(design.alternative)
            raw[n] = max(raw[n], shared_p_value(mean, error, freedom, shared, side))
    if design.test in NEED_SPREAD:
        alike = (standard_errors(differences, cluster=cluster, weights=weights) == 0) & (
            np.abs(np.nansum(differences, axis=0)) > 0
        )
        raw = np.where(alike, np.nan, raw)  # the same difference for every query: nothing says how large chance is
    adjusted = [adjust(of_measure, design.correction) for of_measure in raw.reshape(len(measures), -1)]
    return raw, np.concatenate(adjusted), found.is_exact


def _shared(
    measures: Sequence[Mapping[K, Side]], places: Sequence[tuple[K, K]], differences: FloatArray
) -> list[list[Shared]]:
    """Return what shared effects of repeats add to each difference; empty for systems that were run once."""
    both = [(sides[a], sides[b]) for sides in measures for a, b in places]
    return [
        [shared_of(side.repeats[~np.isnan(column)]) for side in pair if side.repeats is not None]
        for pair, column in zip(both, differences.T, strict=True)
    ]


def _reversal(sums: TieSums, a: Hashable, b: Hashable, gap: Side, keep: BoolArray) -> Flip:
    """Return what tie orders do to the sign of the difference of two systems: exact if possible, sampled if need be."""
    own = gap.factors(keep)
    n = max(float(own.sum()), 1.0)
    difference = float((own * gap.mean[keep]).sum())
    lowest, highest = (float((own * end[keep]).sum() / n) for end in (gap.low, gap.high))
    known = difference / n, float((own**2 * gap.variance[keep]).sum() / n**2), lowest, highest
    found = flip(*known)
    if found.method != "normal":
        return found
    if exact := sums.exact(a, b, keep):
        return flip(*known, exact)
    found = flip(*known, most_off=normal_error_of(gap.parts[0], gap.parts[1], keep, difference))
    drawn = sums.drawn(a, b, keep, found.standard_error)
    return flip(*known, drawn) if drawn else found


def _described(gap: Side, keep: BoolArray) -> dict[str, Any]:
    """Return what needs no test: means, effect size, wins, and the difference by document id, as trec_eval."""
    kept, n = gap.values[keep], int(keep.sum())
    weights = None if gap.weights is None else gap.weights[keep]
    std, own = weighting.std(kept, weights), gap.factors(keep)
    better = kept if gap.measure.higher_is_better else -kept
    columns = (gap.values, *(part.values for part in gap.parts), gap.mean, gap.by_doc_id)
    mean, its, other, expected, of_rule = (weighting.mean(column[keep], weights) for column in columns)
    return {
        "mean": its,
        "baseline_mean": other,
        "difference": mean,
        "effect_size": _effect_size(mean, std),
        "wins": int((better > NEGLIGIBLE_DIFFERENCE).sum()),
        "draws": int((np.abs(kept) <= NEGLIGIBLE_DIFFERENCE).sum()),
        "losses": int((better < -NEGLIGIBLE_DIFFERENCE).sum()),
        "n_queries": n,
        "std": std,
        "tie_standard_error": float(np.sqrt((own**2 * gap.variance[keep]).sum()) / own.sum()) if n else np.nan,
        "n_effective": None if weights is None else weighting.effective_number(weights),
        "expected_difference": expected,
        "doc_id_difference": of_rule,
        "doc_id_reverses": bool(
            of_rule * expected < 0 and abs(of_rule) > NEGLIGIBLE_DIFFERENCE and abs(expected) > NEGLIGIBLE_DIFFERENCE
        ),
    }


def _effect_size(mean: float, std: float) -> float:
    """Return mean / std; 0 where nothing differs, infinite where all differences are the same."""
    if std > NEGLIGIBLE_DIFFERENCE or np.isnan(std):
        return mean / std
    return float(np.copysign(np.inf, mean)) if abs(mean) > NEGLIGIBLE_DIFFERENCE else 0.0
