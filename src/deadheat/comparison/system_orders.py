"""How far two orders of the same systems agree: under two tie rules, measures, judges, or sets of queries."""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations, pairwise
from typing import Any

import numpy as np
import polars as pl

from deadheat.arrays import FloatArray
from deadheat.comparison.pairs import Pair
from deadheat.data.shown import Numbers, Shown, frame_of
from deadheat.evaluation.evaluation import Evaluation
from deadheat.evaluation.scores import Scores
from deadheat.kernels import agreement
from deadheat.measures import Measure
from deadheat.stats import ranks

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


@dataclass(frozen=True, eq=False)
class SystemOrders(Shown):
    """How far orders of the same systems agree. Made by :meth:`Comparison.orders` and :func:`agree_systems`.

    Attributes
    ----------
    pairs : tuple of OrderAgreement
    p : float
        Persistence of rank-biased overlap.
    left_out : tuple of str
        Systems that one side lacks.
    """

    pairs: tuple[OrderAgreement, ...]
    p: float
    left_out: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"<SystemOrders by {', '.join(f'{one.first} / {one.second} {one.tau_b:.4f}' for one in self.pairs)}>"

    def to_polars(self) -> pl.DataFrame:
        """Return a row for each two orders, with the attributes of :class:`OrderAgreement`; null without a value."""
        return frame_of(
            [asdict(one) | {"swapped": ", ".join(f"{a} / {b}" for a, b in one.swapped)} for one in self.pairs]
        )

    def named_numbers(self) -> Numbers:
        """Give the numbers of :meth:`to_flat` with the parts of their names."""
        for one in self.pairs:
            yield from (((one.first, one.second, name), getattr(one, name)) for name in ("tau_b", "tau_ap", "rbo"))


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
    own = {one: [pair for pair in pairs if pair.measure == one.label] for one in measures}
    systems, found = list(evaluations), []
    for one in measures if by_doc_id else ():
        ruled = totals_of(one, [by_doc_id(name, one) for name in evaluations])  # type: ignore[misc]  # not None
        names = one.label, f"{one.label}, by document id"
        found.append(
            order_agreement(names, systems, (totals[one], ruled), own[one], p, higher_is_better=one.higher_is_better)
        )
    for one, other in combinations(measures, 2):
        both = totals[one], totals[other]
        found.append(
            order_agreement((one.label, other.label), systems, both, own[one], p, higher_is_better=one.higher_is_better)
        )
    return SystemOrders(tuple(found), p)


def totals_of(measure: Measure, scores: Sequence[Scores | None]) -> FloatArray:
    """Return the mean of each system, of which more is better; NaN without one."""
    sign = 1.0 if measure.higher_is_better else -1.0
    return np.array([math.nan if one is None else sign * one.reported() for one in scores])


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
    kept = ~np.isnan(both).any(axis=0)
    own = np.array(systems, object)[kept].tolist()
    first, last = ranks(both[:, kept])
    above, tied = first.astype(np.int64) - 1, (last - first + 1).astype(np.int64)
    order = np.argsort(above[0], kind="stable").tolist()
    swapped = [(a, b) for a, b in pairwise(order) if above[0, a] < above[0, b] and above[1, a] > above[1, b]]
    return OrderAgreement(
        *names,
        n_systems=len(own),
        tau_b=agreement.tau(above[0], above[1])[0],
        tau_ap=agreement.tau_ap(above[0], above[1]),
        rbo=agreement.rank_biased_overlap(above, tied, p, "a").extrapolated,
        swapped=tuple((own[a], own[b]) for a, b in swapped),
        **_over_ties(pairs, len(systems), higher_is_better=higher_is_better),
    )


def _over_ties(pairs: Sequence[Pair], n_systems: int, *, higher_is_better: bool) -> dict[str, Any]:
    """Return mean, least and greatest tau and tau-AP of the order by exact means with those that orders of ties give.

    Of m systems with equal means and t above them, each has ranks t + 1 to t + m in its turn.
    """
    ordered = [one for one in pairs if not math.isnan(one.flip_probability)]
    if not ordered or len(pairs) < n_systems * (n_systems - 1) // 2:
        return dict.fromkeys(OVER_TIES, math.nan)
    lower = [one.baseline if (one.expected_difference > 0) == higher_is_better else one.system for one in ordered]
    n_above = Counter(lower)
    n_equal = Counter(name for one in pairs if math.isnan(one.flip_probability) for name in (one.system, one.baseline))
    weights = {name: np.mean(1 / np.arange(n, n + n_equal[name] + 1)) for name, n in n_above.items()}
    reversals = np.array([(one.flip_probability, one.can_flip) for one in ordered])
    found: list[float] = []
    for own in (np.ones(len(lower)), np.array([weights[name] for name in lower])):
        found += [*(1 - 2 * (own @ reversals) / own.sum()).tolist(), 1.0]
    return dict(zip(OVER_TIES, found, strict=True))
