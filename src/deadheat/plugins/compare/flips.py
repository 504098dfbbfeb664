"""Random tie-breaks and the sign of a difference: which of two systems is ahead may depend on the order of ties alone.

The ties of two systems and of different queries are broken independently. The value of a query in each order has a
closed form or is listed, and its distribution is exact; so is that of a sum over queries if it takes few values, and
else it is computed on a grid. Where a query has too many orders, the mean over queries is taken as normal if that is
proved to be close; else orders are drawn.
"""

import hashlib
import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

import numpy as np

from deadheat.core.arrays import BoolArray, FloatArray, IntArray, TextArray, special
from deadheat.core.evaluation.evaluation import Evaluation
from deadheat.core.evaluation.parts import ScorePart
from deadheat.core.kernels.weighting import divide_by_largest
from deadheat.core.measures import Measure
from deadheat.core.measures.custom import StoredMeasure
from deadheat.core.placements.placements import Placements
from deadheat.core.random_generators import Rng, random_generator
from deadheat.core.scalars import ROUNDING
from deadheat.core.structures import T
from deadheat.plugins.compare.orders import (
    MAX_ORDERS,
    DrawnSums,
    draw_sums,
    list_order_values,
    n_draws,
    probability_below,
)
from deadheat.plugins.compare.sum_distributions import (
    MAX_VALUES,
    ON_GRID,
    Distribution,
    IndependentSum,
    match_distributions,
)

BERRY_ESSEEN = 0.5606  # for values of different distributions: Tyurin 2009
PROVED = 0.005  # what the normal distribution may be off
FEW_SIDES, MANY_SIDES = 8, 24  # systems times measures: with more than the first, what is spent on orders is shared
LITTLE = FEW_SIDES / MANY_SIDES  # with less, only flips that may well happen are refined, on coarser grids
FEW, DEAR = 400, 0.05  # where fewer orders than that are cheap, a larger bound will do: they would say little more


@dataclass(frozen=True)
class Flip:
    """How likely a random tie-break reverses the sign of a difference.

    Attributes
    ----------
    probability : float
        Of the strictly opposite sign; NaN where there is no difference to reverse.
    can_flip : bool
        Whether some order of the ties gives the opposite sign (without a difference: one sign as well as the other).
    method : {"exact", "grid", "sampled", "normal", "none"}
        From the exact distributions or extremes; from the exact distributions of the queries, summed on a grid; from
        random orders; from a normal distribution of the exact variance; or nothing to compute: no difference, or no
        tie that can move it.
    standard_error : float
        Of a sampled probability; of a normal one the most that it can be off, which is proved; else 0.
    """

    probability: float
    can_flip: bool
    method: str
    standard_error: float = 0.0


def flip(
    difference: float,
    tie_variance: float,
    lowest: float,
    highest: float,
    distributions: tuple[Distribution, Distribution] | tuple[DrawnSums, DrawnSums] | None = None,
    *,
    sign: float | None = None,
    most_off: float = 1.0,
) -> Flip:
    r"""Return the probability that random tie-breaks of both systems reverse the sign of their difference.

    .. math:: \Pr[\operatorname{sign}(d) \cdot D < 0]

    A tie-break that leaves no difference reverses no sign. On a grid the result is off by no more than the probability
    of a difference that is not 0 but within rounding of it: for real runs below 0.001, and in effect below 0.0001.

    Where the distribution of D is not known, :math:`D \approx N(d, \sigma^2)`, which for few queries can be far off.
    How far is bounded by :math:`\sigma^2 / (\sigma^2 + d^2)` (Cantelli).

    Parameters
    ----------
    difference : float
        Exact mean difference, system less baseline, over all tie orders: d.
    tie_variance : float
        Variance of the difference over random tie-breaks.
    lowest, highest : float
        Exact extremes of the difference over tie orders.
    distributions : tuple of Distribution or of DrawnSums, optional
        Of the sums of system and baseline over the same queries: both exact or on the same grid, as
        :func:`~deadheat.plugins.compare.sum_distributions.match_distributions` gives them; or sums that were drawn.
    sign : float, optional
        A number of the sign that is not to be reversed; by default d.
    most_off : float, default 1
        The most that the normal distribution can be off.

    Returns
    -------
    Flip

    Examples
    --------
    The sums are 0.5 or 1, and 0.5 or 1.5: the system is ahead in one case of four.

    >>> from deadheat.plugins.compare.sum_distributions import Distribution
    >>> system = Distribution(np.array([0.5, 1.0]), np.array([0.5, 0.5]))
    >>> baseline = Distribution(np.array([0.5, 1.5]), np.array([0.5, 0.5]))
    >>> flip(-0.25, 0.3125, -1.0, 0.5, (system, baseline))
    Flip(probability=0.25, can_flip=True, method='exact', standard_error=0.0)
    >>> flip(-0.25, 0.3125, -1.0, 0.5).method
    'normal'
    """
    numbers = (difference, tie_variance, lowest, highest, most_off, difference if sign is None else sign)
    columns = normal_flips(*(np.array([number]) for number in numbers))
    normal_flip = Flip(*(column.tolist()[0] for column in columns))
    if not normal_flip.can_flip or distributions is None:
        return normal_flip
    ahead, behind = distributions if numbers[-1] > 0 else distributions[::-1]
    if isinstance(ahead, DrawnSums) or isinstance(behind, DrawnSums):
        probability, error = probability_below(ahead, behind)  # type: ignore[arg-type]  # both are
        return Flip(probability, can_flip=True, method="sampled", standard_error=error)
    return Flip(
        _probability_below(ahead, behind),
        can_flip=True,
        method="grid" if ahead.rounding or behind.rounding else "exact",
    )


def normal_flips(  # noqa: PLR0917 - the numbers of differences
    difference: FloatArray,
    tie_variance: FloatArray,
    lowest: FloatArray,
    highest: FloatArray,
    most_off: FloatArray,
    sign: FloatArray,
) -> tuple[FloatArray, BoolArray, TextArray, FloatArray]:
    """Return what :func:`flip` does without distributions, of many differences.

    Parameters
    ----------
    difference, tie_variance, lowest, highest : ndarray of shape (n,)
    most_off : ndarray of shape (n,)
        The most that the normal distribution can be off, as :func:`normal_errors` gives it.
    sign : ndarray of shape (n,)
        Numbers of the sign that is not to be reversed; none is where they are 0 but for rounding.

    Returns
    -------
    probability, can_flip, method, standard_error : ndarray of shape (n,)
        As the fields of :class:`Flip`.
    """
    equal = ROUNDING * np.maximum(1.0, np.maximum(np.abs(lowest), np.abs(highest)))
    is_none = ~(np.abs(sign) >= equal)  # equal, or NaN
    is_fixed = highest - lowest < equal
    can_flip = ~is_none & ~is_fixed & (np.where(sign > 0, lowest, -highest) <= -equal)
    ahead = difference * np.sign(sign)
    probability = np.where(is_none, math.nan, ahead <= -equal)
    standard_error = np.zeros(len(difference))
    probability[can_flip], standard_error[can_flip] = _normal(
        *(column[can_flip] for column in (ahead, tie_variance, most_off))
    )
    # two million pairs share three texts
    method = np.array(["exact", "none", "normal"], object)[np.where(can_flip, 2, is_none | is_fixed)]
    return probability, can_flip, method, standard_error


def _normal(ahead: FloatArray, variance: FloatArray, most_off: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the normal probabilities of the other side, and the most that each can be off."""
    deviations, cantelli = np.copysign(np.inf, ahead), np.ones(len(ahead))
    np.divide(ahead, np.sqrt(variance), out=deviations, where=variance > 0)
    np.divide(variance, variance + ahead**2, out=cantelli, where=variance + ahead**2 > 0)
    return special.ndtr(-deviations), np.minimum(most_off, cantelli)


def normal_errors(difference: FloatArray, variance: FloatArray, third: FloatArray, largest: FloatArray) -> FloatArray:
    r"""Bound how far the probability that a sum of independent values has the other sign is from a normal one.

    .. math:: \min\Bigl(0.5606\, \frac{\sum_i m_i \sigma_i^2}{s^3},
              \exp\frac{-d^2}{2 (s^2 + m d / 3)}\Bigr), \quad s^2 = \sum_i \sigma_i^2, \quad m = \max_i m_i

    with :math:`\sigma_i^2` the variance of each value, and :math:`m_i` the most that it can be from its mean. The first
    is the theorem of Berry and Esseen, with the third moment of each value bounded by these two. The second,
    Bernstein's inequality, bounds the probability itself, and the normal one.

    Parameters
    ----------
    difference, variance : ndarray of float, shape (n_sums,)
        The mean of each sum, d, and its variance.
    third, largest : ndarray of float, shape (n_sums,)
        The sum of :math:`m_i \sigma_i^2`, and the largest :math:`m_i`.

    Returns
    -------
    ndarray of float, shape (n_sums,)

    References
    ----------
    I. Tyurin, "New estimates of the convergence rate in the Lyapunov theorem", 2009. doi:10.48550/arXiv.0912.0726

    Examples
    --------
    A hundred fair coins, of which each is worth 0 or 1:

    >>> normal_errors(np.array([0.0]), np.array([25.0]), np.array([12.5]), np.array([0.5])).round(5).tolist()
    [0.05606]
    """
    total = np.where(variance > 0, variance, 1.0)
    bernstein = np.exp(-(difference**2) / 2 / (total + largest * np.abs(difference) / 3))
    bound = np.minimum(1.0, np.minimum(BERRY_ESSEEN * third / total**1.5, bernstein))
    return np.where(variance > 0, bound, 1.0)


def _probability_below(ahead: Distribution, behind: Distribution) -> float:
    """Return the probability that a value of `ahead` is smaller than one of `behind`, which is independent of it."""
    cumulative = np.concatenate(([0.0], np.cumsum(ahead.probabilities)))
    if ahead.cells and ahead.cells == behind.cells:
        return min(1.0, _below_on_grid(ahead, behind, cumulative))
    values_ahead = ahead.values - ahead.shift
    values_behind = behind.values - behind.shift
    rounding = ROUNDING * max(np.abs(values_ahead).max(), np.abs(values_behind).max())
    n_below = np.searchsorted(values_ahead, values_behind - rounding)
    return min(1.0, float(cumulative[n_below] @ behind.probabilities))


def _below_on_grid(ahead: Distribution, behind: Distribution, cumulative: FloatArray) -> float:
    """Count cells; both are on the same grid."""
    # What rounding added is taken back: a value of `ahead` is below where it is less than this many cells above.
    shift = (ahead.shift - behind.shift) * ahead.cells
    most = math.ceil(shift - ON_GRID) - 1
    cells_apart = round((behind.values[0] - ahead.values[0]) * ahead.cells)

    def n_below(most: int) -> IntArray:
        return np.clip(np.arange(len(behind.values)) + (cells_apart + most + 1), 0, len(ahead.values))

    below = float(cumulative[n_below(most)] @ behind.probabilities)
    if not (ahead.rounding or behind.rounding) or most < 0:
        return below
    # Sums of the same values are equal, however their values were rounded.
    return below - float((cumulative[n_below(0)] - cumulative[n_below(-1)]) @ behind.probabilities)


def summands(
    measure: Measure,
    placements: Placements,
    keep: BoolArray,
    *,
    max_orders: int = MAX_ORDERS,
    max_values: int = MAX_VALUES,
    means: FloatArray | None = None,
    weights: FloatArray | None = None,
) -> IndependentSum | None:
    """Return the exact distribution of each query's value when its ties are broken at random.

    Parameters
    ----------
    measure : Measure
    placements : Placements
        From before any tie policy.
    keep : ndarray of bool, shape (n_queries,)
        The queries to sum over; the measure has a value for each.
    max_orders : int, default 10,000
        Most orders of one query, where they have to be listed; of all queries, 20 times as many.
    max_values : int, default 50,000
        Most distinct sums, also over some of the queries; 8 times as many may be formed on the way. Where there are
        more, the sums are on a grid.
    means : ndarray of float, shape (n_queries,), optional
        Over all orders, where they are known, and not those of the measure: as of queries without a relevant document
        that count 1.
    weights : ndarray of float, shape (n_queries,), optional
        The factor of each query in the sum.

    Returns
    -------
    IndependentSum or None
        None where the distributions are not in closed form and there are more orders than can be listed.

    Examples
    --------
    >>> from deadheat import RR, place
    >>> placements = place({"q": {"a": 1}}, {"q": {"a": 0.5, "b": 0.5}})
    >>> found = summands(RR(), placements, np.array([True])).exact
    >>> found.values.tolist(), found.probabilities.tolist()
    ([0.5, 1.0], [0.5, 0.5])
    """
    mean = measure.mean(placements) if means is None else means
    moved = keep & is_moved(mean, measure.variance(placements))
    queries = np.flatnonzero(moved)
    parts = measure.distributions(placements, queries) if len(queries) else []
    if parts is None:
        parts = list_order_values(measure, placements, queries, max_orders)
    if parts is None:
        return None
    fixed = mean[keep & ~moved]
    if weights is not None:
        fixed = weights[keep & ~moved] * fixed
        parts = [(weight * values, p) for weight, (values, p) in zip(weights[queries], parts, strict=True)]
    return IndependentSum.of(fixed, parts, max_values)


def is_moved(mean: FloatArray, variance: FloatArray) -> BoolArray:
    """Tell which queries the order of ties moves by more than rounding errors."""
    return np.asarray(variance > (ROUNDING * np.maximum(1.0, np.abs(mean))) ** 2)


@dataclass(frozen=True, eq=False)
class Side:
    """One system by one measure, over the queries of all systems; or one less another (:func:`subtract_sides`).

    Attributes
    ----------
    is_evaluated : ndarray of bool, shape (n_queries,)
        The queries that the evaluation has.
    evaluation : Evaluation or None
        None (of values alone): no order can be drawn.
    values, mean, variance, low, high, by_doc_id : ndarray of shape (n_queries,)
        Under the tie policy; then over all tie orders: mean, variance, extremes; and by document id, as
        trec_eval. NaN where it has no value.
    is_exact : bool
        Whether the moments and extremes are; those of a `Custom` measure may be sampled.
    rng : numpy.random.Generator, int or None
        Of the random orders.
    parts : tuple of Side
        Of a gap: the two sides.
    weights : ndarray of float, shape (n_queries,), or None
        How much each query counts in means and sums; 1 where it has no value. None: all the same.
    score_parts : mapping of str to ScorePart
        What features know of the queries that it has, by their keys.
    share : float
        What may be spent on orders, listed or drawn, as a share of what is where systems are few.
    """

    measure: Measure
    evaluation: Evaluation | None
    is_evaluated: BoolArray
    values: FloatArray
    mean: FloatArray
    variance: FloatArray
    low: FloatArray
    high: FloatArray
    by_doc_id: FloatArray
    is_exact: bool
    rng: Rng
    parts: "tuple[Side, ...]" = ()
    weights: FloatArray | None = None
    score_parts: Mapping[str, ScorePart] = field(default_factory=dict)
    share: float = 1.0

    @property
    def ranked_by_doc_id(self) -> "Side":
        """The same with ties broken by document id, as trec_eval: nothing ties."""
        values = self.by_doc_id
        return replace(
            self, values=values, mean=values, low=values, high=values, variance=np.where(np.isnan(values), np.nan, 0.0)
        )

    def factors(self, keep: BoolArray) -> FloatArray:
        """Return the factors of some queries in their sum, of shape (n_kept,): weights over the largest, or ones."""
        return divide_by_largest(None if self.weights is None else self.weights[keep], int(keep.sum()))

    @property
    def placements(self) -> Placements:
        """What the measure is computed from."""
        return cast("Evaluation", self.evaluation).placements_of(self.measure)

    @property
    def can_draw(self) -> bool:
        """Whether orders can be listed or drawn: not of a `Custom` measure from a file, nor without placements.

        Nor where a measure sees more of a document than relevance and rank.
        """
        if self.parts:
            return all(part.can_draw for part in self.parts)
        if self.evaluation is None or isinstance(self.measure, StoredMeasure):
            return False
        if any(getattr(part, "several_runs", "") for part in self.score_parts.values()):
            return False
        return self.measure.can_list_orders(self.placements)

    def summands(self, keep: BoolArray) -> IndependentSum | None:
        """Return the exact distributions over tie orders of some of the queries, where they are feasible."""
        if self.parts:
            first = self.parts[0].summands(keep)
            second = self.parts[1].summands(keep) if first else None
            return first.minus(second) if first and second else None
        return summands(
            self.measure,
            self.placements,
            keep[self.is_evaluated],
            max_orders=int(self.share * MAX_ORDERS),
            max_values=int(self.share * MAX_VALUES),
            means=self.mean[self.is_evaluated],
            weights=self._factors_of_evaluated(keep),
        )

    def _factors_of_evaluated(self, keep: BoolArray) -> FloatArray | None:
        """Return the weights of the queries that it has, over the largest of some queries; None without weights."""
        if self.weights is None:
            return None
        largest = self.weights[keep].max(initial=0.0)
        return (self.weights / largest)[self.is_evaluated]

    def moved(self, keep: BoolArray) -> BoolArray:
        """Tell which of some queries ties move, of shape (n_queries,)."""
        return keep & is_moved(self.mean, self.variance)

    def n_draws(self, keep: BoolArray) -> int:
        """Return how many orders of some queries can be drawn at a cost that does not hurt."""
        if self.parts:
            return min(part.n_draws(keep) for part in self.parts)
        return n_draws(self.placements, self.moved(keep)[self.is_evaluated], self.share)

    def drawn(self, keep: BoolArray) -> DrawnSums | None:
        """Return sums over some of the queries in random orders, where they are feasible."""
        if self.parts:
            first = self.parts[0].drawn(keep)
            second = self.parts[1].drawn(keep) if first else None
            return first.minus(second, random_generator(self.rng, 1)) if first and second else None
        placements, moved = self.placements, self.moved(keep)[self.is_evaluated]
        # A run has its own stream by what it ranks where, whatever it is called and whatever other runs there are.
        content = np.concatenate((placements.above, placements.tied, placements.relevance), dtype=np.float64).tobytes()
        rng = random_generator(self.rng, *hashlib.sha256(content).digest())
        return draw_sums(
            self.measure,
            placements,
            keep[self.is_evaluated],
            moved,
            rng,
            means=self.mean[self.is_evaluated],
            weights=self._factors_of_evaluated(keep),
            share=self.share,
        )


def make_side(
    evaluation: Evaluation,
    measure: Measure,
    is_evaluated: BoolArray,
    by_doc_id: Sequence[FloatArray] | None = None,
    rng: Rng = None,
) -> Side:
    """Return a system by a measure over the queries of all evaluations.

    Parameters
    ----------
    evaluation : Evaluation
    measure : Measure
    is_evaluated : ndarray of bool, shape (n_queries,)
        Which of these queries the evaluation has.
    by_doc_id : sequence of ndarray, optional
        The scores with ties broken by document id, as trec_eval, of each measure of the evaluation.
    rng : numpy.random.Generator, int or None
        Of random orders.
    """
    scores = evaluation[str(measure)]
    columns = np.full((6, len(is_evaluated)), np.nan)
    columns[:5, is_evaluated] = scores.values, scores.tie_mean, scores.tie_std**2, scores.tie_min, scores.tie_max
    if by_doc_id is not None:
        columns[5, is_evaluated] = by_doc_id[evaluation.measures.index(scores.measure)]
    weights = None
    if scores.weights is not None and scores.is_weighted:
        weights = over_all(scores.weights, is_evaluated, 1.0)
    return Side(
        measure=scores.measure,
        evaluation=evaluation,
        is_evaluated=is_evaluated,
        values=columns[0],
        mean=columns[1],
        variance=columns[2],
        low=columns[3],
        high=columns[4],
        by_doc_id=columns[5],
        is_exact=not np.nan_to_num(scores.standard_error).any(),
        rng=rng,
        weights=weights,
        score_parts=scores.parts,
    )


def over_all(values: FloatArray, is_evaluated: BoolArray, other: float) -> FloatArray:
    """Return the values of some queries, in the order of all, over all of them, with a number for the others."""
    values_of_all = np.full((len(is_evaluated), *values.shape[1:]), other)
    values_of_all[is_evaluated] = values
    return values_of_all


def subtract_sides(minuend: Side, subtrahend: Side) -> Side:
    """Return one side less another, such as a system in one language and in another.

    The ties of the two are broken independently, so that means subtract and variances add.
    """
    return replace(
        minuend,
        values=minuend.values - subtrahend.values,
        mean=minuend.mean - subtrahend.mean,
        variance=minuend.variance + subtrahend.variance,
        low=minuend.low - subtrahend.high,
        high=minuend.high - subtrahend.low,
        by_doc_id=minuend.by_doc_id - subtrahend.by_doc_id,
        is_exact=minuend.is_exact and subtrahend.is_exact,
        parts=(minuend, subtrahend),
    )


@dataclass(frozen=True, eq=False)
class TieSums:
    """Sums of sides over queries, and how ties distribute them; found once, as pairs share sides.

    Attributes
    ----------
    sides : mapping of key to Side
        Of one measure.
    """

    sides: Mapping[Any, Side]
    known: dict[tuple[object, Hashable, bytes], Any] = field(default_factory=dict, repr=False)

    def distributions(
        self, system: Hashable, baseline: Hashable, keep: BoolArray, normal_error: float
    ) -> tuple[Distribution, Distribution] | tuple[DrawnSums, DrawnSums] | None:
        """Return the distributions of two sums, exact or on one grid; else drawn sums.

        None where neither is feasible, or a normal distribution with this error will do in place of drawn sums.
        """
        sides = (self.sides[system], self.sides[baseline])
        if not all(side.can_draw for side in sides):
            return None
        exact_sums = self._comparable_sums(system, baseline, keep)
        if exact_sums:
            return exact_sums
        n_draws = min(side.n_draws(keep) for side in sides)
        bearable_error = DEAR if n_draws < FEW else PROVED
        if not normal_error > bearable_error:  # NaN too
            return None
        drawn_of_system = self._once(Side.drawn, system, keep)
        drawn_of_baseline = self._once(Side.drawn, baseline, keep)
        if drawn_of_system is None or drawn_of_baseline is None:
            return None
        return drawn_of_system, drawn_of_baseline

    def _comparable_sums(
        self, system: Hashable, baseline: Hashable, keep: BoolArray
    ) -> tuple[Distribution, Distribution] | None:
        """Return the distributions of two sums, exact or on one grid; None where these are not feasible."""
        sum_of_system = self._once(Side.summands, system, keep)
        if sum_of_system is None:
            return None
        sum_of_baseline = self._once(Side.summands, baseline, keep)
        if sum_of_baseline is None:
            return None
        return match_distributions(sum_of_system, sum_of_baseline, is_coarse=self.sides[system].share < LITTLE)

    def _once(self, find: Callable[[Side, BoolArray], T], place: Hashable, keep: BoolArray) -> T:
        """Return what a method finds of a side; it is asked once."""
        key = find, place, keep.tobytes()
        if key not in self.known:
            self.known[key] = find(self.sides[place], keep)
        return cast("T", self.known[key])


def normal_errors_of(
    difference: FloatArray, variances: Sequence[FloatArray], deviations: Sequence[FloatArray], is_exact: BoolArray
) -> FloatArray:
    """Return the most that normal distributions can be off; 1 where moments are sampled, which proves nothing.

    Parameters
    ----------
    difference : ndarray of shape (n_pairs,)
        Of the sums.
    variances, deviations : sequence of ndarray, shape (n_pairs, n_queries)
        Of the two sides: of each value, and the most that it can be from its mean.
    is_exact : ndarray of bool, shape (n_pairs,)
    """
    variance = sum(variances_of_side.sum(axis=1) for variances_of_side in variances)
    third = sum((square * deviation).sum(axis=1) for square, deviation in zip(variances, deviations, strict=True))
    largest = np.maximum(*(deviations_of_side.max(axis=1, initial=0.0) for deviations_of_side in deviations))
    return np.where(is_exact, normal_errors(difference, variance, third, largest), 1.0)
