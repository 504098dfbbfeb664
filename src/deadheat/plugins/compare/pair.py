"""A difference of two systems by one measure, with what its test says; and many of them as columns."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache, cached_property, partial
from typing import Any, overload

import numpy as np

from deadheat.core.arrays import AnyArray, BoolArray, IntArray, run_starts
from deadheat.core.data.renderable import InNotebooks
from deadheat.core.evaluation.intervals import why_unknown
from deadheat.core.measures import unit_of
from deadheat.core.wording import format_p_value, format_rounded, is_share_known

SHOWN = 100  # pairs that are written out
KEPT = 1 << 16  # pairs whose objects stay


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
    can_flip : bool or None
        Whether any order of the ties reverses it; None of values that came without rankings.
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
        Whether the p value has no error from resampling, nor, with "wilcoxon", from the normal distribution, and is no
        bound.
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
        Resamples that `p_adjusted` was counted in; 0: none, as with all patterns of signs, or a bound of them.
    p_is_bound : bool
        Whether `p_adjusted` is only known to be at most what it says: no resample was as extreme, or resamples of so
        many queries were not needed to know that.
    judged : JudgeContribution, of the plugin judges, or None
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
    can_flip: bool | None
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
    judged: Any = None

    @property
    def judge_weight(self) -> float:
        """What a judge's labels count, from 0 to 1; NaN without a judge."""
        return math.nan if self.judged is None else self.judged.weight

    @property
    def is_estimated(self) -> bool:
        """Whether more than the values of queries counts in the difference, such as the labels of a judge."""
        return self.judged is not None and self.judged.weight > 0

    @property
    def values_are_by(self) -> str:
        """What the values of queries are by where the difference is estimated, as ``human labels``; else empty."""
        return str(self.judged.values_are_by) if self.is_estimated else ""

    @property
    def estimated_with(self) -> str:
        """How the difference is estimated, such as ``with the judge's labels``; empty where it is of the values."""
        return str(self.judged.differences_are) if self.is_estimated else ""

    def __repr__(self) -> str:
        """Return the difference with its ends and what is said of it, rounded."""
        by_whom = f"by {self.values_are_by} " if self.is_estimated else ""
        low, high = self.ends
        ends = f"[{format_rounded(low)}, {format_rounded(high)}]{'' if self.is_known else '?'}"
        p = f"p {format_p_value(self.p_adjusted, is_bound=self.p_is_bound)}{' (undecided)' if self.undecided else ''}"
        flips = ""
        if self.can_flip:
            is_known = is_share_known(self.flip_probability, self.flip_standard_error)
            chance = f"probability {format_rounded(self.flip_probability)}" if is_known else "unknown probability"
            flips = f", ties reverse the sign with {chance}"
        return (
            f"<Pair {self.measure}: {self.system} - {self.baseline} ="
            f" {format_rounded(self.difference)}{unit_of(self.measure)} {ends},"
            f" {'no p value' if math.isnan(self.p_adjusted) else p},"
            f" {by_whom}{self.wins} wins, {self.draws} draws, {self.losses} losses{flips}>"
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
