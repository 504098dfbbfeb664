"""Pair: one row of a comparison; all rows at once, as columns of one matrix; and pairs of bare lists of values."""

import math
import os
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from dataclasses import dataclass, fields, replace
from functools import cache, cached_property, partial
from itertools import combinations
from typing import Any, TypeVar, overload

import numpy as np

from deadheat.arrays import AnyArray, ArrayLike, BoolArray, FloatArray, IntArray, run_starts, with_own_arithmetic
from deadheat.comparison.flips import (
    FEW_SIDES,
    LITTLE,
    Flip,
    Side,
    TieSums,
    flip,
    gap_of,
    normal_errors_of,
    normal_flips,
)
from deadheat.data.renderable import InNotebooks
from deadheat.errors import (
    ParameterError,
    Rng,
    array_of,
    format_p_value,
    generator,
    is_share_known,
    rounded,
    warn_of_time,
)
from deadheat.evaluation.intervals import BEARABLE_SKEWNESS, Interval, IntervalOptions, cluster_codes, why_unknown
from deadheat.kernels import weighting
from deadheat.measures import Custom, Measure, unit_of
from deadheat.phases import phase
from deadheat.settings import BOUNDED, CLUSTERED, OF_MAXIMA, PROPORTION, RANDOMIZATION, SKEWED, TUKEY, Design
from deadheat.stats import (
    adjust,
    interval_bounds,
    is_doubtful,
    p_values,
    proportion_bounds,
    significant,
    skewness,
    standard_errors,
    tukey_p_values,
)
from deadheat.stats.families import Block, Blocks, flip_family, shared_bounds, undecided
from deadheat.stats.units import NEGLIGIBLE_DIFFERENCE, as_alternative, unit_sums
from deadheat.stats.variances import rerun_probability, shared_of, shared_p_value, widened

K = TypeVar("K", bound=Hashable)

MULTIPLIED = ("holm", "bonferroni")  # the corrections that multiply the least p by the number of tests
COUNTED = (RANDOMIZATION, "bootstrap-t", "bootstrap", TUKEY)  # the tests whose p is a count of resamples
NEED_SPREAD = ("t", "bootstrap", "bootstrap-t")
OF_SIGNS = (RANDOMIZATION, "wilcoxon", "sign")  # k differences that are not 0 have 2^k patterns of signs
LIKELY = 0.05  # probability of a reversal that is worth saying
MOST_CELLS = 1 << 19  # judged documents of many sides whose orders are looked at; with more, those of the leading
LEADING = 3  # systems
BLOCK, PAIRS = 1 << 20, (64, 1024)  # values of pairs at a time; fewest and most pairs
HELD = 1 << 25  # values of pairs that stay in memory while signs are drawn: 256 MB
BYTES = 300  # of memory for a pair
SECONDS, FLIP_SECONDS = 1.2e-5, 1.5e-9  # of a pair, and of one of its flips on a core
SHOWN = 100  # pairs that are written out
KEPT = 1 << 16  # pairs whose objects stay


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
        ``mean - baseline_mean``; of geometric means the difference of their logarithms, as all numbers but these two.
    low, high : float
        Its confidence interval, not corrected for the number of comparisons.
    p_value, p_adjusted : float
        Before and after the correction over all rows of the measure; Tukey's test needs none. NaN without a query; of
        "t", "bootstrap" and "bootstrap-t" also with a single query or cluster, and where all differences are the same
        and not 0.
    significant : bool
        Whether ``p_adjusted < 1 - confidence_level``, by more than rounding, and it is not undecided.
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
        Of a sampled probability the standard error, of a normal one the most that it can be off; else 0. Where it is
        above 0.05, or larger than the probability, reports call the probability unknown.
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
        Of two systems with repeats: that running both once more, on these queries, reverses their order; else NaN.
    rerun_unknown : str
        Why `rerun_probability` is NaN though a system has repeats, as with weights, which it leaves out, or beside a
        system with a single run, whose noise nothing tells; else empty.
    method : {"bca", "bootstrap-t", "percentile", "t", "ppi"}
        Of the interval; "ppi" (prediction-powered inference) with a judge's labels that help.
    skewness : float
        Sample skewness (G1) of the differences over queries, or of what clusters differ by; NaN with fewer than three,
        and where all are equal.
    doubtful : bool
        Whether the skewness is so large for the number of queries that the test, which holds its level for symmetric
        differences or many queries, may reject equal systems more often than it promises: `test="bootstrap-t"` is
        nearer to its level (:func:`deadheat.stats.is_doubtful`). Never of "wilcoxon" and "sign", which test no mean.
    simultaneous_low, simultaneous_high : float
        With the correction "max-t", of two rows and more: its interval where the intervals of all rows of the measure
        shall hold together. It excludes 0 wherever the difference is significant. Without an end on the side that a
        one-sided test does not look at; NaN with other corrections.
    undecided : bool
        Whether other resamples may take `p_adjusted` to the other side of the level: less than 1 seed in 100 reverses
        what is not undecided.
    n_resamples : int
        Resamples that `p_adjusted` was counted in; 0: none, or all patterns of signs, so that it has no error.
    p_is_bound : bool
        Whether no resample was as extreme, so that `p_adjusted` is only known to be at most what it says.
    judged : JudgeContribution or None
        With ``compare(judge=)``: what the judge's labels add. Where they count (`is_estimated`), difference, interval,
        standard error and p value are those of prediction-powered inference; means, effect size, std, wins, draws,
        losses, skewness and what ties can reverse are by the human labels alone, and tables name them so.
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
    rerun_unknown: str = ""
    simultaneous_low: float = math.nan
    simultaneous_high: float = math.nan
    undecided: bool = False
    n_resamples: int = 0
    p_is_bound: bool = False
    judged: JudgeContribution | None = None

    @property
    def judge_weight(self) -> float:
        """What a judge's labels count, from 0 to 1; NaN without a judge."""
        return math.nan if self.judged is None else self.judged.weight

    @property
    def is_estimated(self) -> bool:
        """Whether the labels of a judge count in the difference."""
        return self.judged is not None and self.judged.weight > 0

    def __repr__(self) -> str:
        """Return the difference with its ends and what is said of it, rounded."""
        by_human = "by human labels " if self.is_estimated else ""
        low, high = self.ends
        ends = f"[{rounded(low)}, {rounded(high)}]{'' if self.is_known else '?'}"
        p = f"p {format_p_value(self.p_adjusted, is_bound=self.p_is_bound)}{' (undecided)' if self.undecided else ''}"
        flips = ""
        if self.can_flip:
            is_known = is_share_known(self.flip_probability, self.flip_standard_error)
            chance = f"probability {rounded(self.flip_probability)}" if is_known else "unknown probability"
            flips = f", ties reverse the sign with {chance}"
        return (
            f"<Pair {self.measure}: {self.system} - {self.baseline} ="
            f" {rounded(self.difference)}{unit_of(self.measure)} {ends},"
            f" {'no p value' if math.isnan(self.p_adjusted) else p},"
            f" {by_human}{self.wins} wins, {self.draws} draws, {self.losses} losses{flips}>"
        )

    @property
    def is_simultaneous(self) -> bool:
        """Whether the pair has an interval that holds together with those of all rows of its measure."""
        return not math.isnan(self.simultaneous_low)

    @property
    def ends(self) -> tuple[float, float]:
        """The interval that tables show: the simultaneous one where there is one, else the pair's own."""
        return (self.simultaneous_low, self.simultaneous_high) if self.is_simultaneous else (self.low, self.high)

    @property
    def is_known(self) -> bool:
        """Whether the interval says where the difference may lie: there are queries enough, and they differ."""
        return not self.unknown

    @property
    def unknown(self) -> str:
        """Why it does not, as for `Interval.unknown`; empty if it does."""
        return why_unknown(self.low, self.high, self.n_queries, self.n_clusters, self.method, self.n_effective)


OF_HUMANS = (
    *("mean", "baseline_mean", "effect_size", "std", "wins", "draws", "losses", "skewness"),
    *("flip_probability", "can_flip", "flip_method", "flip_standard_error", "tie_standard_error"),
    *("expected_difference", "doc_id_difference", "doc_id_reverses"),
)
"""The fields of a pair that are by human labels alone, whatever a judge's labels do to its difference."""


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
    return float(least_ps(Pairs.of([pair]), design)[0])


def units_of(pairs: "Pairs") -> FloatArray:
    """Return what :func:`n_units` does for each of many pairs, of shape (n_pairs,)."""
    columns = [pairs.column(name) for name in ("n_queries", "n_clusters", "n_effective")]
    starts = run_starts(*columns)
    n_queries, n_clusters, n_effective = (column[starts].astype(np.float64) for column in columns)
    units = np.fmin(np.where(np.isnan(n_clusters), n_queries, n_clusters), np.floor(n_effective))
    return np.repeat(units, np.diff(starts, append=len(pairs)))


def least_ps(pairs: "Pairs", design: Design) -> FloatArray:
    """Return what :func:`least_p` does for each of many pairs, of shape (n_pairs,)."""
    if design.test not in OF_SIGNS:
        return np.zeros(len(pairs))
    differing = np.fmin(pairs.column("wins") + pairs.column("losses"), pairs.column("n_clusters").astype(np.float64))
    least = np.minimum(1.0, 0.5 ** (differing - (design.alternative == "two-sided")))
    return np.where(pairs.column("exact_p_value"), least, 0.0)


def least_adjusted(pairs: "Pairs", design: Design) -> tuple[int, float]:
    """Return for how many tests p values are corrected, and what those of resamples cannot fall below then; else 0."""
    is_tested = ~np.isnan(pairs.column("p_value").astype(np.float64))
    n_tests = max(Counter(pairs.column("measure")[is_tested].tolist()).values(), default=0)
    n_resamples = n_resamples_of(pairs)
    is_multiplied = design.correction in MULTIPLIED and n_resamples > 0
    return n_tests, min(1.0, n_tests / (n_resamples + 1)) if is_multiplied else 0.0


def n_resamples_of(pairs: "Pairs") -> int:
    """Return the most resamples that the p value of a pair was counted in; 0 if none was counted."""
    return int(pairs.column("n_resamples").max(initial=0))


def is_least(p_value: float, n_resamples: int) -> bool:
    """Return whether a p value is the least that resamples give, as none of them was as extreme."""
    return n_resamples > 0 and p_value * (n_resamples + 1) < 1.5


def beyond_resamples(n_tests: int, design: Design) -> str:
    """Say what can be significant where the correction for so many tests raises p of resamples above the level."""
    n_enough = math.ceil(n_tests / (1 - design.confidence_level))
    return f"only exact p can be significant. Use the correction max-t, a baseline, or {n_enough:,} resamples"


class Pairs(Sequence[Pair]):
    """Pairs as columns, so that very many fit into memory: the object of each is made when it is asked for.

    Parameters
    ----------
    columns : mapping of str to array or list of length n_pairs
        By the names of the fields of `Pair`; those that lack have their default.
    """

    def __init__(self, columns: Mapping[str, Sequence[Any] | AnyArray]) -> None:
        self._columns = dict(columns)

    @classmethod
    def of(cls, pairs: Sequence[Pair]) -> "Pairs":
        """Return pairs that are objects as columns."""
        return cls({one.name: [getattr(pair, one.name) for pair in pairs] for one in fields(Pair)})

    @classmethod
    def joined(cls, each: "Sequence[Pairs]") -> "Pairs":
        """Return pairs one after the other; a single sequence as it is."""
        if len(each) == 1:
            return each[0]
        return cls({own.name: np.concatenate([one.column(own.name) for one in each]) for own in fields(Pair)})

    def __len__(self) -> int:
        return len(self._columns["measure"])

    @overload
    def __getitem__(self, place: int) -> Pair: ...

    @overload
    def __getitem__(self, place: slice) -> tuple[Pair, ...]: ...

    def __getitem__(self, place: int | slice) -> Pair | tuple[Pair, ...]:
        if len(self) <= KEPT:
            return self._all[place]
        found = self._made(place if isinstance(place, slice) else [place])
        return found if isinstance(place, slice) else found[0]

    def __iter__(self) -> Iterator[Pair]:
        for start in range(0, len(self), KEPT):
            yield from self[start : start + KEPT]

    @cached_property
    def _all(self) -> tuple[Pair, ...]:
        return self._made(slice(None))

    def _made(self, places: slice | list[int]) -> tuple[Pair, ...]:
        columns = [np.asarray(column)[places].tolist() for column in self._columns.values()]
        # one NaN for all, so that pairs that are made twice are equal
        rows: Any = ((math.nan if value != value else value for value in row) for row in zip(*columns, strict=True))  # noqa: PLR0124 - NaN
        return tuple(Pair(**dict(zip(self._columns, row, strict=True))) for row in rows)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Sequence)
            and len(self) == len(other)
            and all(own == its for own, its in zip(self, other, strict=True))
        )

    __hash__ = None  # type: ignore[assignment]  # as of a list

    def __repr__(self) -> str:
        return repr(self[:]) if len(self) <= SHOWN else f"<{len(self):,} pairs, of which the first is {self[0]!r}>"

    def column(self, name: str) -> AnyArray:
        """Return a field of all pairs, of shape (n_pairs,)."""
        if name in {"unknown", "is_known"}:
            return self._unknown if name == "unknown" else self._unknown == ""
        if name in self._columns:
            return np.asarray(self._columns[name])
        default = getattr(Pair, name)
        return np.broadcast_to(np.array(default, object if default is None else None), len(self))

    @cached_property
    def _unknown(self) -> AnyArray:
        """Why intervals say nothing, as `Pair.unknown`: asked once for all that differ in nothing that decides it."""
        width = np.nan_to_num(self.column("high") - self.column("low"), posinf=np.inf)
        names = ("n_queries", "n_clusters", "method", "n_effective")
        columns = (np.where((width > 0) & np.isfinite(width), 1.0, width), *map(self.column, names))
        starts = run_starts(*columns)
        found = [*map(cache(partial(why_unknown, 0.0)), *(column[starts].tolist() for column in columns))]
        return np.repeat(np.array(found, object), np.diff(starts, append=len(self)))

    def where(self, which: BoolArray | IntArray | slice) -> "Pairs":
        """Return some of the pairs."""
        return Pairs({name: np.asarray(column)[which] for name, column in self._columns.items()})

    def by(self, measure: str) -> "Pairs":
        """Return the pairs by one measure: views of the columns where they follow each other."""
        places = np.flatnonzero(self.column("measure") == measure)
        row = slice(*(places[[0, -1]] + (0, 1)).tolist()) if len(places) else slice(0)
        return self.where(row if row.stop - (row.start or 0) == len(places) else places)

    def changed(self, **columns: Sequence[Any] | AnyArray) -> "Pairs":
        """Return the pairs with other columns in place of some."""
        return Pairs({**self._columns, **columns})


@dataclass(frozen=True, eq=False)
class Stack:
    """The sides of all measures, one below the other, of shape (n_measures * n_sides, n_queries) each.

    Attributes
    ----------
    sides : tuple of Side
    values, mean, variance, low, high, by_doc_id : ndarray of float
    deviation : ndarray of float
        The most that a value can be from its mean over tie orders.
    weights : ndarray of float, or None
        None: all queries count the same.
    sign : ndarray of float, shape (n_measures * n_sides,)
        -1 where less is better.
    is_exact, is_geometric : ndarray of bool, shape (n_measures * n_sides,)
    """

    sides: tuple[Side, ...]
    values: FloatArray
    mean: FloatArray
    variance: FloatArray
    low: FloatArray
    high: FloatArray
    by_doc_id: FloatArray
    deviation: FloatArray
    weights: FloatArray | None
    sign: FloatArray
    is_exact: BoolArray
    is_geometric: BoolArray

    @classmethod
    def of(cls, measures: Sequence[Mapping[K, Side]]) -> "Stack":
        """Return the sides of measures, each with the same keys."""
        sides = tuple(side for of_measure in measures for side in of_measure.values())
        columns = {
            name: np.stack([getattr(side, name) for side in sides])
            for name in ("values", "mean", "variance", "low", "high", "by_doc_id")
        }
        has_weights = any(side.weights is not None for side in sides)
        weights = (np.ones_like(side.values) if side.weights is None else side.weights for side in sides)
        mean, low, high = (columns[name] for name in ("mean", "low", "high"))
        return cls(
            sides,
            **columns,
            deviation=np.maximum(high - mean, mean - low),
            weights=np.stack([*weights]) if has_weights else None,
            sign=np.array([side.measure.sign for side in sides]),
            is_exact=np.array([side.is_exact for side in sides], np.bool_),
            is_geometric=np.array([side.measure.geometric and not side.parts for side in sides], np.bool_),  # no gap
        )


@with_own_arithmetic
def compare_sides(
    asked: Sequence[Measure],
    measures: Sequence[Mapping[K, Side]],
    places: Sequence[tuple[K, K]],
    *,
    name_of: Callable[[K], str] = str,
    design: Design,
    cluster: IntArray | None,
) -> Pairs:
    """Compare some pairs of sides, in blocks of pairs, so that memory does not grow with their number but for results.

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
    Pairs
        By measure, then in the order of `places`.
    """
    if design.test == TUKEY:
        _check_tukey(measures, places, name_of)
    if design.test not in CLUSTERED and any(side.repeats is not None for own in measures for side in own.values()):
        raise ParameterError(argument="test", given=design.test, allowed=CLUSTERED, beside={"runs": "repeats"})
    if any(side.repeats is not None for own in measures for side in own.values()):
        design = design.without_maxima({"runs": "repeats"})
    n_sides = len(measures[0])
    if n_sides * len(measures) > FEW_SIDES:
        share = FEW_SIDES / (n_sides * len(measures))
        measures = [
            {
                key: replace(side, share=share, parts=tuple(replace(part, share=share) for part in side.parts))
                for key, side in sides.items()
            }
            for sides in measures
        ]
    stack, row = Stack.of(measures), {key: n for n, key in enumerate(measures[0])}
    of_keys = np.fromiter((row[key] for pair in places for key in pair), np.int32, 2 * len(places)).reshape(-1, 2)
    first, second = (np.concatenate([own + n * n_sides for n in range(len(measures))]) for own in of_keys.T)
    size = _size_of_blocks(stack)
    blocks = [(first[start : start + size], second[start : start + size]) for start in range(0, len(first), size)]
    if len(blocks) > 1 and not isinstance(design.rng, int):  # all blocks share the resamples
        design = replace(design, rng=int(generator(design.rng).integers(1 << 63)))
    n_flips = design.n_resamples if design.test == RANDOMIZATION else 0
    warn_of_time(  # before anything is computed
        f"comparing {len(first):,} pairs, in {len(first) * BYTES / 1e9:.1f} GB of memory,",
        len(first) * (SECONDS + n_flips * FLIP_SECONDS / (os.cpu_count() or 1)),
        ": with a baseline, or fewer measures, they are fewer",
    )
    columns: dict[str, Any] = {}
    with phase("comparing pairs", len(first)) as advance, ThreadPoolExecutor(os.cpu_count()) as beside:
        described = (beside.map if len(blocks) > 1 else map)(
            lambda block: _described(stack, block[0], block[1], design, cluster), blocks
        )
        for start, found in zip(range(0, len(first), size), described, strict=True):
            for name, column in found.items():
                if name not in columns:
                    columns[name] = np.empty(len(first), column.dtype)
                columns[name][start : start + len(column)] = column
            advance(len(found["difference"]))
    with phase("testing differences"):
        columns |= _tested(measures, stack, first, second, blocks, design, cluster)
    if any(side.repeats is not None for side in stack.sides):
        _repeated(columns, stack, first, second, design, cluster)
    columns |= corrected(columns, design, np.repeat(np.arange(len(measures)), len(places)))
    with phase("flips", len(first)) as advance:
        _refine(columns, measures, places, advance)
    names = np.array([name_of(key) for key in row], object)
    unknown = np.broadcast_to(np.array(None, object), len(first))  # of very many pairs, without memory for each
    return Pairs(
        {
            "measure": np.repeat(np.array([one.label for one in asked], object), len(places)),
            "system": names[first % n_sides],
            "baseline": names[second % n_sides],
            **columns,
            "n_clusters": columns.get("n_clusters", unknown),
            "n_effective": columns.get("n_effective", unknown),
            "method": np.broadcast_to(np.array(design.difference_method, object), len(first)),
        }
    )


def _described(stack: Stack, a: IntArray, b: IntArray, design: Design, cluster: IntArray | None) -> dict[str, AnyArray]:
    """Return what needs no test of some pairs of rows: means, intervals, effect sizes, wins, and what ties can do."""
    gap = stack.values[a] - stack.values[b]
    keep = ~np.isnan(gap)
    weights = None if stack.weights is None else stack.weights[a]
    own = keep.astype(np.float64) if weights is None else np.where(keep, weights, 0.0)
    own /= np.maximum(own.max(axis=1, keepdims=True, initial=0.0), np.finfo(float).tiny)
    n, total = keep.sum(axis=1, dtype=np.int32), own.sum(axis=1)
    is_plain = weights is None and bool(keep.all())

    def weighed(values: FloatArray, power: int = 1) -> FloatArray:
        return values if is_plain else np.where(keep, own**power * values, 0.0)

    def summed(values: FloatArray, power: int = 1) -> FloatArray:
        return np.asarray(weighed(values, power).sum(axis=1))

    expected, variance = stack.mean[a] - stack.mean[b], stack.variance[a] + stack.variance[b]
    with np.errstate(divide="ignore", invalid="ignore"):  # of pairs without a query
        mean, its, other, of_exact, of_rule = (
            summed(values) / total
            for values in (gap, stack.values[a], stack.values[b], expected, stack.by_doc_id[a] - stack.by_doc_id[b])
        )
        its, other = (np.exp(each, out=each, where=stack.is_geometric[a]) for each in (its, other))
        std = np.where(n > 1, np.sqrt(summed((gap - mean[:, None]) ** 2) / (total * (n - 1) / n)), np.nan)
        tie_error = np.sqrt(summed(variance, 2)) / total
        effect = np.where(
            (std > NEGLIGIBLE_DIFFERENCE) | np.isnan(std),
            mean / std,
            np.where(np.abs(mean) > NEGLIGIBLE_DIFFERENCE, np.copysign(np.inf, mean), 0.0),
        )
    better = stack.sign[a, None] * gap
    options: dict[str, Any] = {"cluster": cluster, "weights": None if weights is None else weights.T}
    low, high = interval_bounds(
        gap.T,
        method=design.difference_method,
        confidence_level=design.confidence_level,
        n_resamples=design.n_resamples,
        rng=design.rng,
        **options,
    )
    skew, sizes = skewness(gap.T, **options)
    is_other = (np.abs(of_rule) > NEGLIGIBLE_DIFFERENCE) & (np.abs(of_exact) > NEGLIGIBLE_DIFFERENCE)
    return {
        "mean": its,
        "baseline_mean": other,
        "difference": mean,
        "low": low,
        "high": high,
        "effect_size": effect,
        "wins": (better > NEGLIGIBLE_DIFFERENCE).sum(axis=1, dtype=np.int32),
        "draws": (np.abs(gap) <= NEGLIGIBLE_DIFFERENCE).sum(axis=1, dtype=np.int32),
        "losses": (better < -NEGLIGIBLE_DIFFERENCE).sum(axis=1, dtype=np.int32),
        "n_queries": n,
        "standard_error": standard_errors(np.where(keep, expected, np.nan).T, **options),
        "tie_standard_error": np.where(n > 0, tie_error, np.nan),
        "std": std,
        "expected_difference": of_exact,
        "doc_id_difference": of_rule,
        "doc_id_reverses": is_other & (of_rule * of_exact < 0),
        "skewness": skew,
        "doubtful": is_doubtful(skew, sizes, design.test),
        **_worth(stack, a, own, keep, cluster),
        **_flips(stack, a, b, weighed, np.maximum(total, 1.0)),
    }


def _worth(
    stack: Stack, a: IntArray, own: FloatArray, keep: BoolArray, cluster: IntArray | None
) -> dict[str, AnyArray]:
    """Return how many clusters the queries of pairs fall into, and how many they are worth, if they have weights."""
    found = {}
    if cluster is not None:
        found["n_clusters"] = np.array([len(np.unique(cluster[kept])) for kept in keep], object)
    if stack.weights is not None:
        found["n_effective"] = np.array(
            [
                None if stack.sides[row].weights is None else weighting.effective_number(of_pair[of_pair > 0])
                for of_pair, row in zip(own, a.tolist(), strict=True)
            ],
            object,
        )
    return found


def _flips(
    stack: Stack, a: IntArray, b: IntArray, weighed: Callable[..., FloatArray], n: FloatArray
) -> dict[str, AnyArray]:
    """Return what tie orders do to the signs of differences, by normal distributions where no order says it."""
    difference = weighed(stack.mean[a] - stack.mean[b]).sum(axis=1)
    lowest = weighed(stack.low[a] - stack.high[b]).sum(axis=1) / n
    highest = weighed(stack.high[a] - stack.low[b]).sum(axis=1) / n
    variances = [weighed(stack.variance[rows], 2) for rows in (a, b)]
    deviations = [weighed(stack.deviation[rows]) for rows in (a, b)]
    variance = sum(of_side.sum(axis=1) for of_side in variances) / n**2
    most_off = normal_errors_of(difference, variances, deviations, stack.is_exact[a] & stack.is_exact[b])
    probability, can_flip, method, error = normal_flips(
        difference / n, variance, lowest, highest, most_off, difference / n
    )
    return {
        "flip_probability": probability,
        "can_flip": can_flip,
        "flip_method": method,
        "flip_standard_error": error,
    }


def _refine(
    columns: dict[str, Any],
    measures: Sequence[Mapping[K, Side]],
    places: Sequence[tuple[K, K]],
    advance: Callable[[int], None],
) -> None:
    """Put exact probabilities of a reversal, or those of drawn orders, in place of normal ones that may be off.

    Of many systems those of pairs alone that may well be reversed: others are not shown. Of very many those of the
    systems that lead.
    """
    doubtful = columns["flip_method"] == "normal"
    known = [side for sides in measures for side in sides.values() if doubtful.any() and side.can_draw]
    if known and known[0].share < LITTLE:
        n_cells = sum(len(side.placements.query) for side in known)
        doubtful &= columns["flip_probability"] + columns["flip_standard_error"] >= LIKELY
        if n_cells > MOST_CELLS:
            doubtful &= np.concatenate([_are_leading(sides, places) for sides in measures])
    for n, sides in enumerate(measures):
        sums = TieSums(sides)
        for place in np.flatnonzero(doubtful[n * len(places) : (n + 1) * len(places)]).tolist():
            row = n * len(places) + place
            found = _reversal(sums, *places[place], columns["flip_standard_error"][row])
            if found:
                columns["flip_probability"][row] = found.probability
                columns["can_flip"][row] = found.can_flip
                columns["flip_method"][row] = found.method
                columns["flip_standard_error"][row] = found.standard_error
    advance(len(doubtful))


def _are_leading(sides: Mapping[K, Side], places: Sequence[tuple[K, K]]) -> BoolArray:
    """Tell which pairs are of two systems that lead by a measure, or of one of them and one of few baselines."""
    of_some = {key: side for key, side in sides.items() if not np.isnan(side.values).all()}
    means = {key: side.measure.sign * float(np.nanmean(side.values)) for key, side in of_some.items()}
    leading = set(sorted(means, key=means.__getitem__, reverse=True)[:LEADING])
    baselines = {baseline for _, baseline in places}
    others = baselines if len(baselines) <= LEADING else leading
    return np.array([system in leading and baseline in others for system, baseline in places], np.bool_)


def pairs_of(names: Sequence[str], baselines: Sequence[str]) -> list[tuple[str, str]]:
    """Return (system, baseline) of each pair: of every two, or of all with each baseline."""
    if not baselines:
        return [(second, first) for first, second in combinations(names, 2)]
    done = {baseline: set(baselines[:n]) for n, baseline in enumerate(baselines)}  # of two baselines one pair is enough
    return [(name, one) for one in baselines for name in names if name != one and name not in done[one]]


def _check_tukey(
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
                f" {next(iter(sides.values())).measure.label} only {n_shared}, where a pair has {n_of_pair}."
                f" {name} has the fewest, {n_own[name]}",
                hint="leave it out, or choose another test",
            )


def _tested(  # noqa: PLR0917 - what is tested, and how
    measures: Sequence[Mapping[K, Side]],
    stack: Stack,
    first: IntArray,
    second: IntArray,
    blocks: Sequence[tuple[IntArray, IntArray]],
    design: Design,
    cluster: IntArray | None,
) -> dict[str, AnyArray]:
    """Return p values, whether they are exact and what they were counted in, and what maxima of flips make of them."""
    n_sides = len(measures[0])
    families = [
        (slice(n * n_sides, (n + 1) * n_sides), a, b)
        for n, (a, b) in enumerate(zip(np.split(first, len(measures)), np.split(second, len(measures)), strict=True))
    ]
    if design.test == TUKEY:
        each = [_by_tukey(stack, rows, a, b, design, cluster) for rows, a, b in families]
    elif design.test == RANDOMIZATION:
        drawn = generator(design.rng)
        n_signs = stack.values.shape[1] if cluster is None else len(np.unique(cluster))
        most_flips = design.most_flips(len(first), n_signs * len(measures))
        each = [  # the same signs for all measures
            _by_flips(stack, rows, a, b, design, cluster, rng=deepcopy(drawn), most_flips=most_flips)
            for rows, a, b in families
        ]
    else:
        each = [_tested_block(stack, a, b, design, cluster) for a, b in blocks]
    found = {name: np.concatenate([columns[name] for columns in each]) for name in each[0]}
    is_empty = np.concatenate([np.isnan(stack.values[a] - stack.values[b]).all(axis=1) for a, b in blocks])
    for name in found.keys() & {"p_value", "p_adjusted", "simultaneous_low", "simultaneous_high"}:
        found[name][is_empty] = np.nan  # nothing was tested, as in a stratum that one of the two lacks
    return found


def _by_tukey(  # noqa: PLR0917 - what is tested, and how
    stack: Stack, rows: slice, a: IntArray, b: IntArray, design: Design, cluster: IntArray | None
) -> dict[str, AnyArray]:
    """Return what Tukey's test says of the pairs of one measure."""
    of_all = tukey_p_values(
        stack.values[rows].T,
        cluster=cluster,
        weights=None if stack.weights is None else stack.weights[rows.start],
        n_resamples=design.n_resamples,
        rng=design.rng,
    )
    return {
        "p_value": of_all[a - rows.start, b - rows.start],
        "exact_p_value": np.zeros(len(a), np.bool_),
        "n_resamples": np.full(len(a), design.n_resamples),
    }


def _by_flips(  # noqa: PLR0917 - what is tested, and how
    stack: Stack,
    rows: slice,
    a: IntArray,
    b: IntArray,
    design: Design,
    cluster: IntArray | None,
    *,
    rng: np.random.Generator,
    most_flips: int,
) -> dict[str, AnyArray]:
    """Return what sign flips say of the pairs of one measure."""
    alternative = as_alternative(design.alternative)
    found = flip_family(
        _family(stack, rows, a, b, cluster),
        correction=design.correction,
        level=1 - design.confidence_level,
        alternative=alternative,
        n_resamples=design.n_resamples,
        most_flips=most_flips,
        rng=rng,
        n_families=design.n_strata,
    )
    columns: dict[str, AnyArray] = {
        "p_value": found.p_values,
        "exact_p_value": found.is_exact,
        "n_resamples": np.where(found.is_exact, 0, found.n_counted),
    }
    if found.p_adjusted is None:
        return columns
    columns["p_adjusted"] = found.p_adjusted
    if len(a) == 1:
        return columns | {"simultaneous_low": np.full(1, np.nan), "simultaneous_high": np.full(1, np.nan)}
    columns["n_resamples"] = np.full(len(a), found.n_counted)
    size = _size_of_blocks(stack)
    ends = [
        shared_bounds(
            (stack.values[a[start : start + size]] - stack.values[b[start : start + size]]).T,
            found.critical,
            alternative=alternative,
            cluster=cluster,
            weights=None if stack.weights is None else stack.weights[a[start : start + size]].T,
        )
        for start in range(0, len(a), size)
    ]
    low, high = np.concatenate(ends, axis=1)
    return columns | {"simultaneous_low": low, "simultaneous_high": high}


def _family(stack: Stack, rows: slice, a: IntArray, b: IntArray, cluster: IntArray | None) -> Blocks:
    """Return the pairs of one measure, by unit; those of systems that lack no value by the values of each system."""
    values = stack.values[rows]
    weights = None if stack.weights is None else _scale_weights(stack.weights[rows], ~np.isnan(values))
    if not np.isnan(values).any() and (weights is None or (weights == weights[0]).all()):
        weighed = values if weights is None else weights * values
        block = Block(unit_sums(weighed.T, cluster)[0].T, a - rows.start, b - rows.start)
        return lambda: (block,)
    size = _size_of_blocks(stack)

    def blocks() -> Iterator[Block]:
        for start in range(0, len(a), size):
            places = a[start : start + size]
            differences = stack.values[places] - stack.values[b[start : start + size]]
            differences[np.abs(differences) < NEGLIGIBLE_DIFFERENCE] = 0.0
            if weights is not None:
                differences *= weights[places - rows.start]
            sums, _ = unit_sums(np.nan_to_num(differences).T, cluster)
            yield Block(sums.T, np.arange(len(places)))

    if len(a) * values.shape[1] > HELD:
        return blocks
    held = tuple(blocks())
    return lambda: held


def _scale_weights(weights: FloatArray, is_known: BoolArray) -> FloatArray:
    """Return weights of which the largest of a known value is between 0.5 and 1.

    So weighted differences of small weights are not taken for rounding errors; a power of 2 changes no digit.
    """
    _, exponent = np.frexp(weights.max(where=is_known, initial=0.0))
    return np.ldexp(weights, -exponent)


def _size_of_blocks(stack: Stack) -> int:
    """Return how many pairs are looked at together."""
    return int(np.clip(BLOCK // max(stack.values.shape[1], 1), *PAIRS))


def corrected(columns: Mapping[str, AnyArray], design: Design, families: AnyArray) -> dict[str, AnyArray]:
    """Return p values corrected within each family, and what they decide.

    Parameters
    ----------
    columns : mapping of str to array
        "p_value", "exact_p_value" and "n_resamples" of all pairs; "p_adjusted" where it is known already.
    design : Design
    families : ndarray of shape (n_pairs,)
        The family of each pair: its measure.
    """
    level = 1 - design.confidence_level
    raw = np.asarray(columns["p_value"], np.float64)
    n_counted = np.asarray(columns["n_resamples"])
    is_by_maxima = design.test == RANDOMIZATION and design.correction in OF_MAXIMA
    if is_by_maxima:
        adjusted = np.asarray(columns["p_adjusted"], np.float64)
        least = adjusted / design.n_strata
        is_open = undecided(least, n_counted, "none", level / design.n_strata)
    else:
        correction = "none" if design.test == TUKEY else design.correction  # it accounts for all pairs by itself
        adjusted, least = np.empty(len(raw)), raw
        is_open = np.zeros(len(raw), np.bool_)
        for family in dict.fromkeys(families.tolist()):
            own = families == family
            adjusted[own] = adjust(raw[own], correction)
            is_open[own] = undecided(raw[own], n_counted[own], correction, level)
    return {
        "p_adjusted": adjusted,
        "undecided": is_open,
        "significant": significant(adjusted, level) & ~is_open,
        "p_is_bound": (n_counted > 0) & (least * (n_counted + 1) < 1.5),
    }


def _tested_block(
    stack: Stack, a: IntArray, b: IntArray, design: Design, cluster: IntArray | None
) -> dict[str, AnyArray]:
    """Return the p values of some pairs of rows, whether they are exact, and what they were counted in."""
    differences = (stack.values[a] - stack.values[b]).T
    options: dict[str, Any] = {"cluster": cluster, "weights": None if stack.weights is None else stack.weights[a].T}
    found = p_values(
        differences,
        test=design.test,
        alternative=design.alternative,
        n_resamples=design.n_resamples,
        rng=design.rng,
        **options,
    )
    is_counted = ~found.is_exact & (design.test in COUNTED)
    p_value = found.p_values
    if design.test in NEED_SPREAD:
        alike = (standard_errors(differences, **options) == 0) & (np.abs(np.nansum(differences, axis=0)) > 0)
        # the same difference for every query: nothing says how large chance is
        p_value = np.where(alike, np.nan, p_value)
    return {
        "p_value": p_value,
        "exact_p_value": found.is_exact,
        "n_resamples": np.where(is_counted, design.n_resamples, 0),
    }


def _repeated(  # noqa: PLR0917 - what is compared, and how
    columns: dict[str, Any], stack: Stack, first: IntArray, second: IntArray, design: Design, cluster: IntArray | None
) -> None:
    """Put the noise that the queries of a repeat share into intervals, errors and p values of systems with repeats."""
    columns["rerun_probability"] = np.full(len(first), math.nan)
    columns["rerun_unknown"] = np.full(len(first), "", object)
    for n, (a, b) in enumerate(zip(first.tolist(), second.tolist(), strict=True)):
        difference = stack.values[a] - stack.values[b]
        keep = ~np.isnan(difference)
        shared = [
            shared_of(side.repeats[keep]) for side in (stack.sides[a], stack.sides[b]) if side.repeats is not None
        ]
        if not shared:
            continue
        mean, spread = float(columns["difference"][n]), math.sqrt(sum(one.variance for one in shared))
        columns["low"][n], columns["high"][n] = widened(
            mean, (float(columns["low"][n]), float(columns["high"][n])), shared, design.confidence_level
        )
        if any(one.variance for one in shared):
            own = None if stack.weights is None else stack.weights[a]
            error = float(standard_errors(difference[:, None], cluster=cluster, weights=own)[0])
            worth = math.inf if own is None else weighting.effective_number(own[keep])
            freedom = min(int(keep.sum()) if cluster is None else len(np.unique(cluster[keep])), worth) - 1
            side = as_alternative(design.alternative)
            columns["p_value"][n] = max(columns["p_value"][n], shared_p_value(mean, error, freedom, shared, side))
        columns["standard_error"][n] = math.hypot(columns["standard_error"][n], spread)
        unknown = _why_no_rerun(stack, a, b, keep)
        columns["rerun_unknown"][n] = unknown
        if not unknown:
            columns["rerun_probability"][n] = rerun_probability(mean, shared)


def _why_no_rerun(stack: Stack, system: int, baseline: int, keep: BoolArray) -> str:
    """Return why it is not known how likely running two systems once more reverses their order; empty if it is.

    Parameters
    ----------
    stack : Stack
    system, baseline : int
        Their rows, of which at least one has repeats.
    keep : ndarray of bool, shape (n_queries,)
        The queries with a value of both.
    """
    for row, role in ((system, "system"), (baseline, "baseline")):
        repeats = stack.sides[row].repeats
        if repeats is None:
            return f"the {role} has a single run"
        if not shared_of(repeats[keep]).freedom:
            return f"fewer than two queries have a value in every repeat of the {role}"
    if stack.weights is not None and not weighting.are_equal(stack.weights[system][keep]):
        return "the queries have weights"
    return ""


def _reversal(sums: TieSums, a: Hashable, b: Hashable, normal_error: float) -> Flip | None:
    """Return what tie orders do to the sign of the difference of two systems: exact if possible, sampled if need be.

    None if neither is feasible, or the normal distribution, which is off by so much at most, will do.
    """
    gap = gap_of(sums.sides[a], sums.sides[b])
    keep: BoolArray = ~np.isnan(gap.values)
    found = sums.distributions(a, b, keep, normal_error)
    if not found:
        return None
    own = gap.factors(keep)
    n = max(float(own.sum()), 1.0)
    lowest, highest = (float((own * end[keep]).sum() / n) for end in (gap.low, gap.high))
    difference, variance = float((own * gap.mean[keep]).sum() / n), float((own**2 * gap.variance[keep]).sum() / n**2)
    return flip(difference, variance, lowest, highest, found)


@with_own_arithmetic
def interval(
    values: ArrayLike,
    method: str = "auto",
    *,
    limits: tuple[float, float] | None = None,
    confidence_level: float = 0.95,
    n_resamples: int = 10_000,
    cluster: Iterable[object] | None = None,
    rng: Rng = 0,
) -> Interval:
    """Return a confidence interval of the mean of values, as :meth:`Scores.interval` of a measure.

    Parameters
    ----------
    values : array-like of float, shape (n,)
        One for each query, or whatever was drawn independently; NaN is left out.
    method : str, default "auto"
        As for :meth:`Scores.interval`. "auto": "gaffke" with `limits`; without "skewed-t", which needs 20 values.
    limits : tuple of float, optional
        The least and the greatest value that there can be, such as (0, 1).
    confidence_level, n_resamples, rng
        As there.
    cluster : iterable, optional
        What dependent values share: a label for each.

    Returns
    -------
    Interval
        Its `unknown` says why the ends mean nothing, such as "only 3 queries".

    Raises
    ------
    ParameterError
        Values are not numbers, or are beyond the limits, or the method does not apply to them.

    Examples
    --------
    >>> found = interval([0.2, 0.4, 0.4, 0.5, 0.9, 1.0], "t")
    >>> round(found.mean, 3), round(found.low, 3), round(found.high, 3)
    (0.567, 0.237, 0.896)
    """
    options = IntervalOptions(method=method, confidence_level=confidence_level, n_resamples=n_resamples, rng=rng)
    numbers, codes = _numbers("values", values), _codes(cluster, values)
    kept = numbers[~np.isnan(numbers)]
    ends = array_of("limits", (-np.inf, np.inf) if limits is None else limits, np.float64, "two numbers")
    if ends.shape != (2,) or not ends[0] <= ends[1]:
        raise ParameterError(argument="limits", given=limits, allowed="two numbers, the lower one first")
    low, high = ends.tolist()
    if len(kept) and not low <= kept.min() <= kept.max() <= high:
        raise ParameterError(
            argument="values", given=(float(kept.min()), float(kept.max())), allowed=f"from {low:g} to {high:g}"
        )
    n_clusters = None if codes is None else len(np.unique(codes[~np.isnan(numbers)]))
    error = float(standard_errors(numbers[:, None], cluster=codes)[0])
    used = method
    if method == "auto":
        used = SKEWED if limits is None else BOUNDED
    if used == BOUNDED and limits is None:
        raise ParameterError(argument="limits", given=limits, allowed="two numbers", beside={"method": BOUNDED})
    if used == PROPORTION:
        if codes is not None or not np.isin(kept, (0.0, 1.0)).all():
            raise ParameterError(argument="method", given=used, allowed="another: it is of independent zeros and ones")
        ends = proportion_bounds(float(kept.sum()), len(kept), options.confidence_level)
    else:
        ends = np.column_stack(
            interval_bounds(
                numbers[:, None],
                method=used,
                confidence_level=options.confidence_level,
                n_resamples=options.n_resamples,
                cluster=codes,
                rng=options.rng,
                limits=(low, high),
            )
        )[0]
    of_values = float(skewness(numbers[:, None], cluster=codes)[0][0])
    return Interval(
        float(kept.mean()) if len(kept) else math.nan,
        float(ends[0]),
        float(ends[1]),
        error,
        error,
        0.0,
        used,
        options.confidence_level,
        len(kept),
        n_clusters,
        skewness=of_values if used in BEARABLE_SKEWNESS and not math.isnan(of_values) else None,
    )


@with_own_arithmetic
def paired_test(
    a: ArrayLike,
    b: ArrayLike,
    test: str = "randomization",
    *,
    alternative: str = "two-sided",
    method: str = "auto",
    confidence_level: float = 0.95,
    n_resamples: int = 10_000,
    cluster: Iterable[object] | None = None,
    rng: Rng = 0,
) -> Pair:
    """Test whether the mean of paired values differs, as :func:`compare` does for two systems.

    Parameters
    ----------
    a, b : array-like of float, shape (n,)
        The values of two systems for the same queries; a pair with a NaN is left out.
    test : {"randomization", "bootstrap-t", "bootstrap", "t", "wilcoxon", "sign"}, default "randomization"
    alternative : {"two-sided", "greater", "less"}, default "two-sided"
        "greater": a is greater than b.
    method, confidence_level, n_resamples, rng
        As for :func:`compare`; the interval is that of the mean of a - b.
    cluster : iterable, optional
        What dependent pairs share: a label for each.

    Returns
    -------
    Pair
        Among others `difference`, `low`, `high`, `p_value`, `effect_size`, `wins`, `doubtful`.

    Raises
    ------
    ParameterError
        The values are no numbers, the lists are not of one length, or an option has an unknown value.

    Notes
    -----
    With fewer than 25 pairs (or clusters) a p near 0.05 decides nothing: so few do not show how skewed differences are.
    In simulations of skewed differences the default test finds 8 to 15% in place of 5% with 10 to 20 of them, 95%
    intervals cover in 80 to 92%, and half of such sets look harmless (docs/simulations.md). "bootstrap-t" is nearer to
    its level, and does not hold it either.

    Examples
    --------
    >>> found = paired_test([0.9, 0.8, 0.7, 0.9, 0.6, 0.8], [0.7, 0.7, 0.6, 0.5, 0.5, 0.9])
    >>> round(found.difference, 3), round(found.p_value, 3), found.wins
    (0.133, 0.156, 5)
    """
    design = Design.of(locals())
    design.check_systems(["a", "b"], has_clusters=cluster is not None)
    one, other = _numbers("a", a), _numbers("b", b)
    if len(one) != len(other):
        raise ParameterError(argument="b", given=len(other), allowed=f"as many values as a, {len(one)}")
    measure = Custom("values", float)
    sides = {"a": side_of_values(measure, one), "b": side_of_values(measure, other)}
    return compare_sides([measure], [sides], [("a", "b")], design=design, cluster=_codes(cluster, a))[0]


def _numbers(name: str, values: ArrayLike) -> FloatArray:
    allowed = "finite numbers, at least one"
    numbers = array_of(name, values, np.float64, allowed)
    if numbers.ndim != 1 or not len(numbers) or np.isinf(numbers).any():
        raise ParameterError(argument=name, given=values, allowed=allowed)
    return numbers


def _codes(cluster: Iterable[object] | None, values: ArrayLike) -> IntArray | None:
    return cluster_codes(cluster, None, np.array([str(n) for n in range(np.size(values))], dtype=object))


def side_of_values(measure: Measure, values: FloatArray) -> Side:
    """Return values without ties as a side of a comparison."""
    return Side(
        measure,
        evaluation=None,  # nothing ties: no order is drawn
        own=~np.isnan(values),
        values=values,
        mean=values,
        variance=np.zeros(len(values)),
        low=values,
        high=values,
        by_doc_id=np.full(len(values), math.nan),
        is_exact=True,
        rng=0,
    )
