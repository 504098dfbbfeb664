"""What a comparison says beside its pairs: ranks and orders of systems."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from itertools import combinations, pairwise
from typing import Any

import numpy as np

from deadheat.core.arrays import (
    BoolArray,
    FloatArray,
    IntArray,
    TextArray,
    is_member,
    sum_by_code,
    use_default_arithmetic,
)
from deadheat.core.data.flat_names import Numbers
from deadheat.core.data.renderable import Renderable, make_frame
from deadheat.core.design import Design
from deadheat.core.evaluation.evaluation import Evaluation
from deadheat.core.evaluation.scores import Scores
from deadheat.core.kernels import agreement, overlap
from deadheat.core.libraries import polars as pl
from deadheat.core.measures import Measure
from deadheat.core.random_generators import random_generator
from deadheat.core.stats.ranks import ranks, resampled_ranks, summarize_ranks
from deadheat.core.wording import MOST_OFF, escape_invisible
from deadheat.plugins.compare.flips import Side, make_side
from deadheat.plugins.compare.orders import MAX_ORDERS, draw_values, list_order_values
from deadheat.plugins.compare.pair import Pair

OVER_TIES = tuple(f"tie_tau{of}{end}" for of in ("", "_ap") for end in ("", "_low", "_high"))  # fields


@dataclass(frozen=True)
class OrderAgreement:
    """How far two orders of systems by their means agree.

    Attributes
    ----------
    first, second : str
        What the orders are by; the first is the reference of `tau_ap`.
    n_systems : int
        Systems with a mean in both.
    tau_b, tau_ap, rbo : float
        tau-b; tau-AP and rank-biased overlap, means over the orders of equal means.
    swapped : tuple of (str, str)
        Neighbours of the first order that the second has the other way round.
    tie_tau : float
        Mean of tau between the first order and that which ties of documents broken at random give: over its pairs with
        different exact means, an equal mean counting as the same order. NaN where not all pairs were compared.
    tie_tau_low, tie_tau_high : float
        Its range over all orders of the ties, if every pair could change by itself: no order leaves it.
    tie_tau_ap, tie_tau_ap_low, tie_tau_ap_high : float
        The same of tau-AP, of the order by exact means with that of broken ties as the reference: a pair counts by the
        rank of its lower system in the exact order.
    tie_unknown : str
        Why `tie_tau` or `tie_tau_ap` is NaN; empty if both are known.
    n_queries : int or None
        Queries that both means of every system are over; None of orders of one comparison, as its tables say.
    """

    first: str
    second: str
    n_systems: int
    tau_b: float
    tau_ap: float
    rbo: float
    swapped: tuple[tuple[str, str], ...]
    tie_tau: float
    tie_tau_low: float
    tie_tau_high: float
    tie_tau_ap: float
    tie_tau_ap_low: float
    tie_tau_ap_high: float
    tie_unknown: str = ""
    n_queries: int | None = None


@dataclass(frozen=True, eq=False)
class SystemOrders(Renderable):
    """How far orders of the same systems agree. Made by :meth:`Comparison.orders` and :func:`agree_systems`.

    Attributes
    ----------
    pairs : tuple of OrderAgreement
    p : float
        Persistence of rank-biased overlap.
    left_out : tuple of str
        Systems that one side lacks.
    only_first, only_second : tuple of str
        Queries that one side lacks; they are left out.
    """

    pairs: tuple[OrderAgreement, ...]
    p: float
    left_out: tuple[str, ...] = ()
    only_first: tuple[str, ...] = ()
    only_second: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return escape_invisible(
            f"<SystemOrders by {', '.join(f'{one.first} / {one.second} {one.tau_b:.4f}' for one in self.pairs)}>"
        )

    def to_polars(self) -> pl.DataFrame:
        """Return a row for each two orders, with the attributes of :class:`OrderAgreement`; null without a value."""
        rows = []
        for pair in self.pairs:
            swapped = ", ".join(f"{a} / {b}" for a, b in pair.swapped)
            rows.append(tuple((asdict(pair) | {"swapped": swapped}).values()))
        types: dict[str, type[pl.DataType]] = {
            **dict.fromkeys(("first", "second", "swapped", "tie_unknown"), pl.String),
            **dict.fromkeys(("n_systems", "n_queries"), pl.Int64),
        }
        return make_frame(rows, {one.name: types.get(one.name, pl.Float64) for one in fields(OrderAgreement)})

    def named_numbers(self) -> Numbers:
        """Give the numbers of :meth:`to_flat` with the parts of their names."""
        for one in self.pairs:
            yield from (((one.first, one.second, name), getattr(one, name)) for name in ("tau_b", "tau_ap", "rbo"))


@use_default_arithmetic
def orders_of(
    evaluations: Mapping[str, Evaluation],
    pairs: Sequence[Pair],
    by_doc_id: Callable[[str, Measure], Scores | None] | None,
    p: float,
) -> SystemOrders:
    """Return how far orders of systems agree: as measured and by trec_eval's tie rule, and by each two measures.

    Parameters
    ----------
    evaluations : mapping of str to Evaluation
    pairs : sequence of Pair
        Of these systems.
    by_doc_id : callable, optional
        Returns the scores of a system with ties broken by document id.
    p : float
    """
    measures = [one for one in next(iter(evaluations.values())).measures if one.is_quality]
    totals = {one: totals_of(one, [own[one] for own in evaluations.values()]) for one in measures}
    of_measure = {one: [pair for pair in pairs if pair.measure == one.label] for one in measures}
    against = [(one, other.label, totals[other]) for one, other in combinations(measures, 2)]
    if by_doc_id:
        ruled = {one: totals_of(one, [by_doc_id(name, one) for name in evaluations]) for one in measures}
        against = [*((one, f"{one.label}, by document id", ruled[one]) for one in measures), *against]
    found = (
        order_agreement(
            (one.label, name),
            list(evaluations),
            (totals[one], of_other),
            of_measure[one],
            p,
            higher_is_better=one.higher_is_better,
        )
        for one, name, of_other in against
    )
    return SystemOrders(tuple(found), p)


def totals_of(measure: Measure, scores: Sequence[Scores | None]) -> FloatArray:
    """Return the mean of each system, of which more is better; NaN without one."""
    return np.array([math.nan if one is None else measure.sign * one.reported() for one in scores])


@use_default_arithmetic
def order_agreement(
    names: tuple[str, str],
    systems: Sequence[str],
    totals: tuple[FloatArray, FloatArray],
    pairs: Sequence[Pair],
    p: float,
    *,
    higher_is_better: bool,
) -> OrderAgreement:
    """Return how far two orders of systems agree.

    Parameters
    ----------
    names : tuple of two str
        What the orders are by.
    systems : sequence of str
    totals : tuple of two ndarray of shape (n_systems,)
        More is better; NaN leaves a system out.
    pairs : sequence of Pair
        By the measure of the first order, which know what ties can do to it.
    p : float
    higher_is_better : bool
        Of this measure.
    """
    both = np.vstack(totals)
    is_kept = ~np.isnan(both).any(axis=0)
    kept = np.array(systems, object)[is_kept].tolist()
    first, last = ranks(both[:, is_kept])
    above = first.astype(np.int64) - 1
    tied = (last - first + 1).astype(np.int64)
    return OrderAgreement(
        *names,
        n_systems=len(kept),
        tau_b=agreement.tau(above[0], above[1]).tau_b,
        tau_ap=agreement.tau_ap(above[0], above[1]),
        rbo=overlap.rank_biased_overlap(above, tied, p, "a").extrapolated,
        swapped=_find_swapped(kept, above[0], above[1]),
        **_over_ties(pairs, len(systems), higher_is_better=higher_is_better),
    )


def _find_swapped(systems: Sequence[str], above: IntArray, above_by_other: IntArray) -> tuple[tuple[str, str], ...]:
    """Return the neighbours of an order that another has the other way round.

    Parameters
    ----------
    systems : sequence of str
    above, above_by_other : ndarray of int, shape (n_systems,)
        How many systems are above each, in the order and in the other one.
    """
    swapped = []
    for better, worse in pairwise(np.argsort(above, kind="stable").tolist()):
        if above[better] < above[worse] and above_by_other[better] > above_by_other[worse]:
            swapped.append((systems[better], systems[worse]))
    return tuple(swapped)


def _over_ties(pairs: Sequence[Pair], n_systems: int, *, higher_is_better: bool) -> dict[str, Any]:
    """Return mean, least and greatest tau and tau-AP of the order by exact means with those that tie orders give."""
    why_unknown = _explain_unknown(pairs, n_systems)
    if why_unknown:
        return {**dict.fromkeys(OVER_TIES, math.nan), "tie_unknown": why_unknown}
    ordered = [pair for pair in pairs if not math.isnan(pair.flip_probability)]
    chances = np.array([pair.flip_probability for pair in ordered])
    errors = np.array([pair.flip_standard_error for pair in ordered])
    can_flip = np.array([pair.can_flip is True for pair in ordered])
    weights_of_pairs = {
        "tie_tau": np.ones(len(ordered)),
        "tie_tau_ap": _weigh_for_tau_ap(pairs, higher_is_better=higher_is_better),
    }
    values: dict[str, Any] = {}
    for name, weights in weights_of_pairs.items():
        shares = weights / weights.sum()
        values[name] = 1 - 2 * float(shares @ chances)
        if shares @ errors > MOST_OFF:
            values[name] = math.nan
            values["tie_unknown"] = "the probabilities that ties reverse pairs are not known well enough"
        values[f"{name}_low"] = 1 - 2 * float(shares @ can_flip)
        values[f"{name}_high"] = 1.0
    return values


def _explain_unknown(pairs: Sequence[Pair], n_systems: int) -> str:
    """Return why it is not known what ties do to an order; empty if it is."""
    if len(pairs) < math.comb(n_systems, 2):
        return "it takes every pair of systems, and only those with a baseline were compared"
    if pairs and all(pair.n_queries > 0 and math.isnan(pair.tie_standard_error) for pair in pairs):
        return "the values came without rankings"
    if all(math.isnan(pair.flip_probability) for pair in pairs):
        return "no two systems have different exact means"
    return ""


def _weigh_for_tau_ap(pairs: Sequence[Pair], *, higher_is_better: bool) -> FloatArray:
    """Return the weight in tau-AP of each pair with different exact means.

    It is one over the number of systems above the lower one. Of m systems with equal means and t above them, each has
    ranks t + 1 to t + m in its turn.
    """
    lower = []
    n_equal: Counter[str] = Counter()
    for pair in pairs:
        if math.isnan(pair.flip_probability):
            n_equal.update((pair.system, pair.baseline))
        else:
            is_system_better = (pair.expected_difference > 0) == higher_is_better
            lower.append(pair.baseline if is_system_better else pair.system)
    weights = {}
    for name, n_above in Counter(lower).items():
        weights[name] = np.mean(1 / np.arange(n_above, n_above + n_equal[name] + 1))
    return np.array([weights[name] for name in lower])


STEPS = 1_000  # values that stand for the distribution of a query, all equally likely
MOST_DRAWN = 1 << 26  # units that get a tie-break of their own, in all resamples of all systems: some seconds
MOST_POOLED = 1 << 24  # values of all queries and systems: 134 MB


@use_default_arithmetic
def rank_intervals(
    evaluations: Mapping[str, Evaluation],
    measure: Measure,
    query_ids: TextArray,
    cluster: IntArray | None,
    *,
    design: Design,
) -> list[dict[str, Any]]:
    """Return system, rank, low, high, p_best and n_queries of each, as `Comparison.rank_intervals` has them.

    Each resample draws as many queries (or clusters) as there are, and breaks the ties of every drawn query at random,
    for each system by itself: what queries and tie orders might have been. The value of a query comes from its exact
    distribution over tie orders where that is known or can be listed (in steps of 0.1%), else from drawn orders. Where
    there are so many queries that drawing each would take long, or no order can be drawn (a saved evaluation of an
    early version), the ties of all drawn queries together move the mean by a normal number of the exact variance.

    Parameters
    ----------
    evaluations : mapping of str to Evaluation
    measure : Measure
    query_ids : ndarray of str, shape (n_queries,)
        Of all evaluations together, sorted.
    cluster : ndarray of int, shape (n_queries,), or None
    design : Design
        Of which confidence level, number of resamples and seed count.
    """
    sides = []
    for evaluation in evaluations.values():
        sides.append(make_side(evaluation, measure, is_member(query_ids, evaluation.query_ids)))
    keep: BoolArray = np.asarray(~np.isnan(np.column_stack([side.mean for side in sides])).any(axis=1))
    n_queries = int(keep.sum())
    if not n_queries:
        return [{"system": name, "n_queries": 0} for name in evaluations]
    units: IntArray = np.arange(n_queries)
    if cluster is not None:
        units = np.unique(cluster[keep], return_inverse=True)[1]
    n_units = int(units.max()) + 1
    generator = random_generator(design.rng)
    factors = sides[0].factors(keep)
    means = np.column_stack([sum_by_code(units, factors * side.mean[keep], n_units) for side in sides])
    tie_variances = [np.nan_to_num(side.variance[keep]) for side in sides]  # NaN where nothing is known of ties
    variances = np.column_stack([sum_by_code(units, factors**2 * variance, n_units) for variance in tie_variances])
    n_drawn = n_units * len(sides) * design.n_resamples
    n_pooled = n_queries * len(sides) * STEPS
    pools = None
    if n_drawn <= MOST_DRAWN and n_pooled <= MOST_POOLED and variances.any():
        pools = [_pool(side, keep, units, n_units, generator) for side in sides]
    higher = sides[0].measure.higher_is_better
    best, worst = resampled_ranks(
        means,
        variances,
        np.bincount(units, factors, minlength=n_units),
        pools=pools,
        higher_is_better=higher,
        n_resamples=design.n_resamples,
        rng=generator,
    )
    by_mean = means.sum(axis=0, keepdims=True) / factors.sum()
    (rank,), _ = ranks(by_mean if higher else -by_mean)
    summary = summarize_ranks(best, worst, design.confidence_level)
    rows = []
    for place, name in enumerate(evaluations):
        rows.append(
            {
                "system": name,
                "rank": rank[place].item(),
                "low": summary.low[place].item(),
                "high": summary.high[place].item(),
                "p_best": summary.p_best[place].item(),
                "n_queries": n_queries,
            }
        )
    return rows


def _pool(side: Side, keep: BoolArray, units: IntArray, n_units: int, rng: np.random.Generator) -> FloatArray | None:
    """Return sums over the queries of each unit in orders of their ties, all equally likely: (n_units, n_draws).

    None where no order can be listed or drawn.
    """
    if not side.can_draw:
        return None
    moved = side.moved(keep)
    drawn: FloatArray | None = np.zeros((0, 1))
    if moved.any():
        queries = np.flatnonzero(moved[side.is_evaluated])
        parts = side.measure.distributions(side.placements, queries)
        if not parts:
            parts = list_order_values(side.measure, side.placements, queries, MAX_ORDERS)
        if parts:
            drawn = np.array([_steps(*part) for part in parts])
        else:
            drawn = draw_values(side.measure, side.placements, moved[side.is_evaluated], rng)
    if drawn is None:
        return None
    values = np.broadcast_to(side.mean[keep][:, None], (int(keep.sum()), drawn.shape[1])).copy()
    # each query's own order of draws, as those of one unit are added
    values[moved[keep]] = rng.permuted(drawn, axis=1)
    sums = np.zeros((n_units, drawn.shape[1]))
    np.add.at(sums, units, side.factors(keep)[:, None] * values)
    return sums


def _steps(values: FloatArray, probabilities: FloatArray) -> FloatArray:
    """Return a thousand values that are as frequent as a distribution makes them."""
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(probabilities[order])
    return values[order][np.searchsorted(reached, (np.arange(STEPS) + 0.5) / STEPS * reached[-1])]
