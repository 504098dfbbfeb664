"""coarsen(): a run with fewer different scores, as a reranker with few levels or a short number format gives.

coarsening_profile(): what a run loses as its scores become coarser, and what its ties then decide.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any, cast

import numpy as np
import polars as pl

from deadheat.arrays import FloatArray, IntArray, TextArray, members, run_starts
from deadheat.comparison.compare import named_runs
from deadheat.comparison.flips import Flip, TieSums, flip, gap_of, normal_errors_of, side_of
from deadheat.comparison.pairs import pairs_of
from deadheat.data.renderable import Plottable, frame_of
from deadheat.data.rows import MemoryRows, round_and_warn
from deadheat.data.tables import Qrels, Run, Source, check_each
from deadheat.errors import (
    FLOATS,
    MAX_DECIMALS,
    ROUNDING,
    ParameterError,
    Plain,
    Rng,
    UnknownMeasureError,
    as_count,
    as_rng,
    changed,
    check_choice,
    counted,
    did_you_mean,
    generator,
    is_number,
    whole,
)
from deadheat.evaluation.evaluate import EvaluationArguments, are_runs, evaluate, evaluate_beside, keys_of
from deadheat.evaluation.evaluation import Evaluation
from deadheat.evaluation.scores import TieSpread
from deadheat.evaluation.warned import warn
from deadheat.io.guarding import check_threads
from deadheat.measures import Measure
from deadheat.measures.notation import ByMeasure, MeasureLike, parse_measures
from deadheat.measures.orders import RULE_OF_THREE
from deadheat.placements.placements import Placements
from deadheat.settings import Conventions
from deadheat.stats.units import NEGLIGIBLE_DIFFERENCE

LEVELS = (2, 3, 5, 10, 20, 50, 100)
AS_GIVEN = "as given"
MOST_PAIRS = 500
MOST_LEVELS = 2**31
LARGE = 2.0**1022  # two such numbers may differ by more than the largest one


def coarsen(
    run: Source,
    *,
    levels: int | None = None,
    decimals: int | None = None,
    dtype: str | None = None,
    per_query: bool = False,
) -> Run:
    """Return a run whose scores are coarser, so that more of them tie.

    Exactly one of `levels`, `decimals` and `dtype` says how.

    Parameters
    ----------
    run : path, dict, dataframe or Run
    levels : int, optional
        So many intervals of equal width between the lowest and the highest score; all scores of an interval become
        one. The lowest and the highest score stay, the others are spaced equally between them, so that a run with
        this many equally spaced scores does not change. With one level all become the lowest.
    decimals : int, optional
        Decimals to round to, from 0 to 15.
    dtype : {"float32", "float16", "bfloat16"}, optional
        The format of numbers to round to.
    per_query : bool, default False
        Whether the lowest and the highest score are those of each query, not of the run.

    Returns
    -------
    Run
        In memory; its name and its notes say what was done. Infinite scores stay infinite, beyond the levels of the
        others.

    Raises
    ------
    ParameterError
        None of the three is given, or two are; or a number is not allowed.
    DataError
        The run cannot be read.

    Examples
    --------
    >>> run = {"q": {"a": 0.0, "b": 0.3, "c": 0.4, "d": 0.9, "e": 1.0}}
    >>> coarsen(run, levels=3).to_dict()
    {'q': {'a': 0.0, 'b': 0.0, 'c': 0.5, 'd': 1.0, 'e': 1.0}}
    >>> found = coarsen(Run(run, name="fine"), decimals=0)
    >>> found.to_dict()
    {'q': {'a': 0.0, 'b': 0.0, 'c': 0.0, 'd': 1.0, 'e': 1.0}}
    >>> found.name, found.notes
    ('fine, 0 decimals', ('scores coarsened to 0 decimals: 5 different ones became 2',))
    """
    given = {"levels": levels, "decimals": decimals, "dtype": dtype}
    check_one_way([name for name, one in given.items() if one is not None], per_query=per_query)
    check_coarse(levels=levels, decimals=decimals, dtype=dtype)
    table = Run.of(run)
    if table.by_keys is not None:
        raise ParameterError(
            "scores by several keys are ranks, which cannot be coarsened", hint="coarsen each run first"
        )
    frame = table.to_polars()
    done, within = coarse_name(levels, decimals, dtype), " a query" if per_query else ""
    if levels is None:
        precision, how = dtype if decimals is None else decimals, done
        scores = pl.Series("score", round_and_warn(frame["score"].to_numpy(), precision))
    else:
        scores, how = _at_levels(frame, levels, per_query=per_query), f"{done} of equal width{within}"
    before, after = frame["score"].n_unique(), scores.n_unique()
    return changed(
        table,
        name=f"{table.name}, {done}{within}",
        rows=MemoryRows(frame.with_columns(scores)),
        notes=(*table.notes, f"scores coarsened to {how}: {before:,} different ones became {after:,}"),
    )


def check_one_way(given: Collection[str], *, per_query: bool) -> None:
    """Raise `ParameterError` unless one of the ways to make scores coarser is given."""
    if len(given) != 1:
        raise ParameterError(
            argument="levels, decimals and dtype",
            given=Plain(" and ".join(given) or "none of them"),
            allowed="one of them, not the others",
        )
    if per_query and "levels" not in given:
        raise ParameterError("per_query is for levels", given=Plain(next(iter(given))))


def check_coarse(*, levels: int | None = None, decimals: int | None = None, dtype: str | None = None) -> None:
    """Raise `ParameterError` for a number of levels or decimals, or a format, that there is not."""
    if levels is not None and as_count("levels", levels) > MOST_LEVELS:
        raise ParameterError(argument="levels", given=levels, allowed=f"at most {MOST_LEVELS:,}")
    if dtype is not None:
        check_choice("dtype", dtype, FLOATS)
    if decimals is not None and whole(decimals) not in range(MAX_DECIMALS + 1):
        raise ParameterError(argument="decimals", given=decimals, allowed=f"a whole number from 0 to {MAX_DECIMALS}")


def coarse_name(levels: int | None = None, decimals: int | None = None, dtype: str | None = None) -> str:
    """Return what was done to scores, in words.

    Examples
    --------
    >>> coarse_name(levels=3), coarse_name(decimals=1), coarse_name(dtype="bfloat16")
    ('3 levels', '1 decimal', 'bfloat16')
    """
    if levels is not None:
        return counted(levels, "level")
    return counted(decimals, "decimal") if decimals is not None else str(dtype)


def _at_levels(frame: pl.DataFrame, levels: int, *, per_query: bool) -> pl.Series:
    """Return each finite score at its level, one of so many between the lowest and the highest score of its list."""
    score = pl.col("score")
    finite = pl.when(score.is_finite()).then(score)
    low, high = finite.min(), finite.max()
    if per_query:
        low, high = low.over("query_id"), high.over("query_id")
    # NumPy's division: Polars multiplies by the inverse of a number, which of the smallest ones is infinite
    ends = frame.select(score, low.alias("low"), high.alias("high")).fill_null(0.0)
    scores, lowest, highest = (ends[name].to_numpy() for name in ("score", "low", "high"))
    is_moved = np.isfinite(scores) & (highest > lowest)
    own, start, end = (np.where(is_moved, column, 0.0) for column in (scores, lowest, highest))
    # of large numbers the halves, as their span may be infinite
    factor = np.where(np.maximum(np.abs(start), np.abs(end)) > LARGE, 0.5, 1.0)
    span = np.where(is_moved, end * factor - start * factor, 1.0)
    place = (own * factor - start * factor) / span
    share = np.clip(np.floor(place * levels), 0, levels - 1) / max(levels - 1, 1)
    away = np.minimum(share, 1 - share) * span / factor
    moved = np.where(share <= 0.5, start + away, end - away)  # so that both ends are exact
    return pl.Series("score", np.where(is_moved, moved, scores) + 0.0)


@dataclass(frozen=True)
class CoarseScores:
    """One run, with coarser scores, by one measure: means over queries.

    Attributes
    ----------
    run, measure : str
    scores : str
        How coarse they are: "3 levels", "1 decimal", "bfloat16", or "as given".
    n_queries : int
    n_distinct : int
        Different scores in the run.
    share_tied : float
        Share of the documents that have the score of another one of their query.
    value : float
        The exact mean over all orders of the ties.
    tie_std, tie_min, tie_max : float
        Standard deviation of that mean if ties are broken at random; the least and the most it can be.
    doc_id : float
        The mean with ties broken by document id, as trec_eval (descending).
    original : float
        The exact mean with the scores as given.
    error : float
        ``doc_id - original``.
    change : float
        ``value - original``: what coarser scores cost, whatever is done about ties.
    wrong_winner : float
        The probability that random orders of ties put this run on the wrong side of another one, where that is
        highest; NaN without another run, or if the exact means with the scores as given are equal.
    rival : str or None
        The other run.
    """

    run: str
    scores: str
    measure: str
    n_queries: int
    n_distinct: int
    share_tied: float
    value: float
    tie_std: float
    tie_min: float
    tie_max: float
    doc_id: float
    original: float
    error: float
    change: float
    wrong_winner: float = math.nan
    rival: str | None = None


@dataclass(frozen=True)
class CoarsePair:
    """Two runs with coarser scores by one measure.

    Attributes
    ----------
    measure, system, baseline, scores : str
    original : float
        Exact difference of the means with the scores as given, system less baseline.
    difference : float
        The same with the coarser scores.
    wrong_winner : float
        Probability that random orders of the ties give a difference of the other sign than `original` has.
    no_winner : float
        Probability that they give none; not known, and 0, where the others are sampled or normal.
    method : {"exact", "grid", "sampled", "normal", "none"}
        How the probabilities were found, as for `Pair.flip_method`.
    standard_error : float
        Of a sampled probability; of a normal one the most that it can be off, which is proved; else 0.
    """

    measure: str
    system: str
    baseline: str
    scores: str
    original: float
    difference: float
    wrong_winner: float
    no_winner: float
    method: str
    standard_error: float


@dataclass(frozen=True, eq=False)
class CoarseningProfile(Plottable):
    """What runs lose as their scores become coarser. Made by :func:`coarsening_profile`.

    Attributes
    ----------
    rows : tuple of CoarseScores
        By measure, then run, then from the scores as given to what was asked for, in that order.
    pairs : tuple of CoarsePair
        Two runs each; empty for a single run.
    n_queries : int
    per_query : bool
        Whether levels lie between the lowest and the highest score of each query.
    evaluations : dict of str to Evaluation
        Of each run with its scores as given.
    """

    rows: tuple[CoarseScores, ...]
    pairs: tuple[CoarsePair, ...]
    n_queries: int
    per_query: bool
    evaluations: Mapping[str, Evaluation]

    def __repr__(self) -> str:
        runs, measures = (dict.fromkeys(getattr(row, name) for row in self.rows) for name in ("run", "measure"))
        return (
            f"<CoarseningProfile of {', '.join(runs)} by {', '.join(measures)}:"
            f" {counted(self.n_queries, 'query', 'queries')}>"
        )

    def to_polars(self) -> pl.DataFrame:
        """Return a row for each run, measure and coarsening, with the fields of `CoarseScores`; null for no number."""
        return frame_of(list(map(asdict, self.rows))).cast({"rival": pl.String})  # of a single run all are null


def coarsening_profile(
    qrels: Source,
    runs: Source | Mapping[str, Source] | Sequence[Source],
    measures: MeasureLike | Iterable[MeasureLike] | None = None,
    *,
    levels: Iterable[int] | None = None,
    decimals: Iterable[int] | None = None,
    dtypes: Iterable[str] | None = None,
    per_query: bool = False,
    baseline: str | None = None,
    missing: str | None = None,
    no_relevant: str | None = None,
    check_duplicates: bool = True,
    ascending: bool = False,
    rng: Rng = 0,
) -> CoarseningProfile:
    """Measure what runs lose as their scores become coarser: how many levels a reranker needs, what bfloat16 costs.

    Parameters
    ----------
    qrels : path, dict of dict, dataframe or Qrels
    runs : run, list of runs, or dict of str to run
        With two and more: how likely random orders of the ties name the wrong winner.
    measures : measure or iterable of measures, optional
        As for :func:`evaluate`.
    levels : iterable of int, optional
        Numbers of levels, as for :func:`coarsen`; 2, 3, 5, 10, 20, 50 and 100 if nothing is given.
    decimals : iterable of int, optional
    dtypes : iterable of str, optional
        At most one of the three may be given.
    per_query : bool, default False
        As for :func:`coarsen`.
    baseline : str, optional
        Compare all other runs with this one; by default every pair.
    missing, no_relevant, check_duplicates, ascending
        As for :func:`evaluate`.
    rng : numpy.random.Generator or int, default 0
        For orders of ties, which are drawn where the chance of a wrong winner can be found in no other way.

    Returns
    -------
    CoarseningProfile

    Raises
    ------
    ParameterError
        An argument is not allowed, or there are more than 500 pairs.
    DataError
        The data cannot be evaluated.

    Examples
    --------
    Scores that separate everything; with two levels they leave ties, and document ids are of no help:

    >>> qrels = {"q": {"c": 1}}
    >>> run = {"q": {"c": 0.9, "d": 0.8, "b": 0.3, "a": 0.1}}
    >>> found = coarsening_profile(qrels, run, "RR", levels=[2, 9])
    >>> [(row.scores, row.share_tied, row.value, row.error) for row in found.rows]
    [('as given', 0.0, 1.0, 0.0), ('2 levels', 1.0, 0.75, -0.5), ('9 levels', 0.0, 1.0, 0.0)]
    """
    check_threads()
    as_rng("rng", rng)
    ways = _ways(per_query=per_query, levels=levels, decimals=decimals, dtypes=dtypes)
    conventions = Conventions.of(locals())
    chosen, judged, named = parse_measures(measures), Qrels.of(qrels), _named(runs, ascending=ascending)
    if baseline is not None and baseline not in named:
        raise ParameterError(argument="baseline", given=baseline, allowed=list(named))
    places = pairs_of(list(named), () if baseline is None else (baseline,))
    if baseline is None and len(places) > MOST_PAIRS:
        raise ParameterError(
            f"{len(named):,} runs make {len(places):,} pairs, more than {MOST_PAIRS}",
            hint="give baseline, the run to compare the others with",
        )
    check_each(judged, *named.values(), is_asked=check_duplicates)
    steps: dict[str, dict[str, Evaluation]] = {}
    rows: list[CoarseScores] = []
    for way in ({}, *ways):
        scores = coarse_name(**way) if way else AS_GIVEN
        steps[scores] = {}
        for name, given in named.items():
            run = coarsen(given, **way, per_query=per_query) if way else given
            steps[scores][name], traditional = evaluate_beside(conventions, judged, run, chosen, "doc_id")
            frame = run.to_polars()
            n_distinct, n_tied = frame["score"].n_unique(), int(frame.select("query_id", "score").is_duplicated().sum())
            rows += [
                CoarseScores(
                    run=name,
                    scores=scores,
                    measure=str(own.measure),
                    n_queries=own.n_queries,
                    n_distinct=n_distinct,
                    share_tied=n_tied / max(frame.height, 1),
                    value=own.mean,
                    tie_std=own.mean_tie_std,
                    tie_min=own.mean_tie_min,
                    tie_max=own.mean_tie_max,
                    doc_id=doc_id.mean,
                    original=original.mean,
                    error=doc_id.mean - original.mean,
                    change=own.mean - original.mean,
                )
                for own, doc_id, original in zip(steps[scores][name], traditional, steps[AS_GIVEN][name], strict=True)
            ]
        if not way:
            warn(steps[AS_GIVEN], judged, named, missing=missing)
    pairs = tuple(pair for measure in chosen for pair in _compare(measure, steps, places, rng))
    measure_names, names, first = list(map(str, chosen)), list(named), steps[AS_GIVEN]
    rows.sort(key=lambda row: (measure_names.index(row.measure), names.index(row.run)))
    return CoarseningProfile(
        tuple(_with_rivals(rows, pairs)), pairs, max(len(one.query_ids) for one in first.values()), per_query, first
    )


def _ways(*, per_query: bool, **asked: Iterable[object] | None) -> list[dict[str, Any]]:
    """Return the ways to make scores coarser, as arguments of :func:`coarsen`: checked, each once."""
    given = {name: one for name, one in asked.items() if one is not None} or {"levels": LEVELS}
    check_one_way(given, per_query=per_query)
    ((name, values),) = given.items()
    is_single = isinstance(values, str) or not isinstance(cast("object", values), Iterable)
    ways: list[dict[str, Any]] = [
        {name.replace("dtypes", "dtype"): one} for one in dict.fromkeys([values] if is_single else values)
    ]
    if not ways:
        raise ParameterError(argument=name, given=[], allowed="at least one")
    for way in ways:
        check_coarse(**way)
    return ways


def _named(runs: Source | Mapping[str, Source] | Sequence[Source], *, ascending: bool) -> dict[str, Run]:
    """Return the runs by name: one, several by name, or a list of several."""
    is_list = isinstance(runs, list | tuple) and not isinstance(next(iter(runs), None), tuple)
    found = named_runs(cast("Sequence[Source]", runs if is_list or are_runs(runs) else [runs]), ascending=ascending)
    if not found:
        raise ParameterError(argument="runs", given=runs, allowed="one run or several")
    return {name: run.renamed(name) for name, run in found.items()}


def _compare(
    measure: Measure, steps: Mapping[str, Mapping[str, Evaluation]], places: Sequence[tuple[str, str]], rng: Rng
) -> Iterator[CoarsePair]:
    """Compare the runs of each pair, for all scores, with the difference that the scores as given show."""
    ids = np.array(sorted({query for one in steps[AS_GIVEN].values() for query in one.query_ids.tolist()}), object)
    sums = {
        scores: TieSums(
            {name: side_of(one, measure, members(ids, one.query_ids), rng=rng) for name, one in found.items()}
        )
        for scores, found in (steps.items() if places else ())
    }
    for a, b in places:
        original = _difference(sums[AS_GIVEN], a, b)
        for scores, own in sums.items():
            wrong, no_winner = winner(own, a, b, original)
            yield CoarsePair(
                measure=str(measure),
                system=a,
                baseline=b,
                scores=scores,
                original=original,
                difference=_difference(own, a, b),
                wrong_winner=wrong.probability,
                no_winner=no_winner,
                method=wrong.method,
                standard_error=wrong.standard_error,
            )


def _difference(sums: TieSums, a: str, b: str) -> float:
    """Return the exact difference of two means over the queries that both have; NaN if there is none."""
    difference = sums.sides[a].mean - sums.sides[b].mean
    kept = difference[~np.isnan(difference)]
    return float(kept.mean()) if len(kept) else math.nan


def winner(sums: TieSums, a: str, b: str, sign: float) -> tuple[Flip, float]:
    """Return how likely random orders of the ties give a difference of the wrong sign, and how likely none at all.

    Parameters
    ----------
    sums : TieSums
        Of several systems.
    a, b : str
        Two systems.
    sign : float
        The right sign of the difference, a less b; if it is 0 but for rounding, neither is right, and both are NaN.
    """
    gap = gap_of(sums.sides[a], sums.sides[b])
    keep = ~np.isnan(gap.values)
    n = int(keep.sum())
    if not (abs(sign) > NEGLIGIBLE_DIFFERENCE and n):  # NaN too
        return Flip(math.nan, can_flip=False, method="none"), math.nan
    lowest, highest, mean = (float(part[keep].sum()) / n for part in (gap.low, gap.high, gap.mean))
    variances = [side.variance[None, keep] for side in gap.parts]
    far = [np.maximum(side.high - side.mean, side.mean - side.low)[None, keep] for side in gap.parts]
    most_off = normal_errors_of(np.array([n * mean]), variances, far, np.array([gap.is_exact]))
    of_sign = partial(flip, mean, float(gap.variance[keep].sum()) / n**2, lowest, highest, most_off=float(most_off[0]))
    signs = math.copysign(math.inf, sign), math.copysign(math.inf, -sign)
    wrong, right = (of_sign(sign=one) for one in signs)
    if wrong.can_flip or right.can_flip:
        found = sums.distributions(a, b, keep, max(wrong.standard_error, right.standard_error))
        wrong, right = (of_sign(found, sign=one) for one in signs)
    neither = max(0.0, 1.0 - wrong.probability - right.probability)
    error, methods = max(wrong.standard_error, right.standard_error), {wrong.method, right.method}
    method = next((one for one in ("normal", "sampled", "grid", "none") if one in methods), "exact")
    # normal and drawn probabilities, and rounding on a grid, do not add up exactly
    none = 0.0 if method in {"normal", "sampled"} or neither < ROUNDING else neither
    return replace(wrong, method=method, standard_error=error), none


def _with_rivals(rows: Iterable[CoarseScores], pairs: Iterable[CoarsePair]) -> Iterator[CoarseScores]:
    """Yield each row with the other run for which random orders of ties are most likely to name the wrong winner."""
    worst: dict[tuple[str, str, str], tuple[float, str]] = {}
    for pair in sorted(pairs, key=lambda pair: -pair.wrong_winner):
        if not math.isnan(pair.wrong_winner):
            for run, rival in ((pair.system, pair.baseline), (pair.baseline, pair.system)):
                worst.setdefault((pair.measure, pair.scores, run), (pair.wrong_winner, rival))
    for row in rows:
        wrong, other = worst.get((row.measure, row.scores, row.run), (math.nan, None))
        yield replace(row, wrong_winner=wrong, rival=other)


CELLS = 1 << 19  # documents that are ordered together, in all drawn orders: some tens of MB
FEWEST_DRAWS = 2  # of which there is a standard error
EXACT = {  # scales with which nothing is drawn
    0: "noise of scale 0: ties are in the order of the second score",
    math.inf: "noise of infinite scale: plain ties, exact means",
}
BEST, FINITE, WORST, LACKING = range(4)  # what a second score can be; noise moves the finite ones alone


@dataclass(frozen=True, eq=False)
class ConfidenceScores:
    """The scores of one measure, means over drawn orders.

    Attributes
    ----------
    measure : Measure
    query_ids : ndarray of str, shape (n_queries,)
    values : ndarray of float, shape (n_queries,)
        Means over the drawn orders; NaN where a query has no value.
    standard_errors : ndarray of float, shape (n_queries,)
        Of the values, by the draws (Monte Carlo); 0 where no order can change a value. Where all draws agree though
        another order would not, 3 / n_draws times how far that could be off: an order that was never drawn has a
        probability of at most that much, at a confidence of 95% (the rule of three).
    mean : float
        Over the queries that have a value.
    standard_error : float
        Of the mean, by the draws; it says nothing of the choice of queries.
    """

    measure: Measure
    query_ids: TextArray
    values: FloatArray
    standard_errors: FloatArray
    mean: float
    standard_error: float

    def __repr__(self) -> str:
        return f"<ConfidenceScores {self.measure}: {self.mean:.4f} ± {self.standard_error:.4f}>"


@dataclass(frozen=True, eq=False)
class ConfidenceEvaluation:
    """An evaluation in orders that an uncertain second score gives ties. Made by :func:`evaluate_with_confidence`.

    Attributes
    ----------
    scores : tuple of ConfidenceScores
        One for each measure.
    name, then_by : str
        The run, and the second score.
    query_ids : ndarray of str, shape (n_queries,)
    scale : float
    n_draws : int
        Orders that were drawn; 0 where the values are exact.
    notes : tuple of str
        How the values were found, and what was assumed to read the data.
    """

    scores: tuple[ConfidenceScores, ...]
    name: str
    then_by: str
    query_ids: TextArray
    scale: float
    n_draws: int
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        shown = ", ".join(f"{one.measure} {one.mean:.4f} ± {one.standard_error:.4f}" for one in self.scores)
        drawn = counted(self.n_draws, "drawn order") if self.n_draws else "exact"
        return f"<ConfidenceEvaluation of {self.name}: {shown}; {drawn}>"

    def __getitem__(self, measure: MeasureLike) -> ConfidenceScores:
        held: dict[Any, ConfidenceScores] = ByMeasure((str(one.measure), one) for one in self.scores)
        if measure not in held:
            raise UnknownMeasureError(
                f"{measure} was not evaluated; there are {', '.join(held)}", hint=did_you_mean(measure, held)
            )
        return held[measure]

    def __iter__(self) -> Iterator[ConfidenceScores]:
        return iter(self.scores)

    def means(self) -> dict[str, float]:
        """Return the mean of each measure, by its notation."""
        return {str(one.measure): one.mean for one in self.scores}

    def standard_errors(self) -> dict[str, float]:
        """Return the Monte Carlo standard error of each mean."""
        return {str(one.measure): one.standard_error for one in self.scores}

    def to_polars(self) -> pl.DataFrame:
        """Return query_id, measure, value and standard_error, a row for each query and measure; null for no value."""
        ids = self.query_ids.tolist()
        return frame_of(
            {
                "query_id": pl.Series(ids * len(self.scores), dtype=pl.String),
                "measure": [str(one.measure) for one in self.scores for _ in ids],
                "value": np.concatenate([one.values for one in self.scores]),
                "standard_error": np.concatenate([one.standard_errors for one in self.scores]),
            }
        )


def evaluate_with_confidence(
    qrels: Source,
    run: Source,
    then_by: Source,
    measures: MeasureLike | Iterable[MeasureLike] | None = None,
    *,
    scale: float,
    n_draws: int = 1000,
    rng: Rng = 0,
    missing: str | None = None,
    no_relevant: str | None = None,
    check_duplicates: bool = True,
) -> ConfidenceEvaluation:
    r"""Evaluate a run whose ties are ordered by a second score that is uncertain itself.

    Each tied document has the second score plus noise, and ties are ordered by the sum. With noise of the Gumbel
    distribution the order is that of Plackett and Luce: the next document of a tie is one of those that are left, with
    probability

    .. math:: \frac{\exp(s_i / b)}{\sum_j \exp(s_j / b)}

    where s is the second score and b the scale. No closed form is known for the mean of a measure over these orders:
    they are drawn, and the standard error says how far that may be off. Documents that do not tie by the first score
    stay where they are.

    Parameters
    ----------
    qrels, run : path, dict of dict, dataframe, Qrels or Run
    then_by : run
        The second score, such as that of the first stage; or the name of another column of a dataframe. A document that
        it lacks comes after all of its tie that it has; infinite scores get no noise.
    measures : measure or iterable of measures, optional
        As for :func:`evaluate`.
    scale : float
        Of the noise, in units of the second score, from 0 (the second score is certain: ``evaluate(..., then_by=)``)
        to infinity (it says nothing: plain ties). Both of these are exact, and nothing is drawn.
    n_draws : int, default 1000
        Orders to draw, 2 or more.
    rng : numpy.random.Generator or int, default 0
    missing, no_relevant, check_duplicates
        As for :func:`evaluate`.

    Returns
    -------
    ConfidenceEvaluation

    Raises
    ------
    ParameterError
        The scale is below 0 or no number, or there are too few draws.
    DataError
        The data cannot be evaluated.

    References
    ----------
    J. I. Yellott, "The relationship between Luce's choice axiom, Thurstone's theory of comparative judgment, and the
    double exponential distribution", 1977. doi:10.1016/0022-2496(77)90026-8

    Examples
    --------
    The language model gives both 3. BM25 prefers the relevant one by 1: with noise of scale 1 it comes first with
    probability e / (1 + e) = 0.731.

    >>> qrels, llm = {"q": {"a": 1}}, {"q": {"a": 3, "b": 3}}
    >>> bm25 = {"q": {"a": 8.0, "b": 7.0}}
    >>> found = evaluate_with_confidence(qrels, llm, bm25, "P@1", scale=1.0, n_draws=10_000)
    >>> round(found["P@1"].mean, 2), round(found["P@1"].standard_error, 4)
    (0.73, 0.0044)
    >>> [evaluate_with_confidence(qrels, llm, bm25, "P@1", scale=b).means()["P@1"] for b in (0, float("inf"))]
    [1.0, 0.5]
    """
    if not is_number(scale) or not scale >= 0:
        raise ParameterError(argument="scale", given=scale, allowed="a number from 0 on; infinity for plain ties")
    n_draws = as_count("n_draws", n_draws, FEWEST_DRAWS)
    as_rng("rng", rng)
    chosen = parse_measures(measures)
    keys = keys_of(run, then_by)
    if len(keys) != 1:
        raise ParameterError(argument="then_by", given=Plain(counted(len(keys), "run")), allowed="one run")
    judged, first, other = Qrels.of(qrels), Run.of(run), Run.of(keys[0])
    check_each(other, is_asked=check_duplicates)
    plain = evaluate(
        judged,
        first,
        chosen,
        **EvaluationArguments(missing=missing, no_relevant=no_relevant, check_duplicates=check_duplicates)
        | {"then_by": other if scale == 0 else None},
    )
    if scale in EXACT:
        n_draws, notes = 0, [EXACT[scale]]
        each = [(one.measure, one.values, one.values * 0.0) for one in plain]
    else:
        orders = _JudgedTies.of(plain.placements, first.to_polars(), other.to_polars())
        each = list(zip(chosen, *_draw(orders, chosen, float(scale), n_draws, generator(rng)), strict=True))
        n_lacking = int((orders.kind == LACKING).sum())
        lacking = f"last in their ties, as {other.name} lacks them: {counted(n_lacking, 'document')}"
        drawn = (
            f"means over {n_draws:,} orders of ties, drawn by {other.name} with Gumbel noise of scale {scale:g}"
            " (Plackett-Luce), with their standard errors: no closed form is known"
        )
        notes = [lacking, drawn] if n_lacking else [drawn]
    return ConfidenceEvaluation(
        scores=tuple(_scores(plain, *of_measure) for of_measure in each),
        name=first.name,
        then_by=other.name,
        query_ids=plain.query_ids,
        scale=float(scale),
        n_draws=n_draws,
        notes=(*notes, *plain.notes),
    )


@dataclass(frozen=True, eq=False)
class _JudgedTies:
    """The ties that hold judged documents, and their second scores.

    Attributes
    ----------
    placements : Placements
        Before ties are ordered.
    tie : ndarray of int, shape (n_documents,)
        Of each document in such a tie, ascending.
    kind : ndarray of int, shape (n_documents,)
        Of its second score.
    second : ndarray of float, shape (n_documents,)
        The second score; 0 where it is not finite.
    document, row : ndarray of int, shape (n_judged,)
        The judged ones: their places in these arrays, and in the placements.
    """

    placements: Placements
    tie: IntArray
    kind: IntArray
    second: FloatArray
    document: IntArray
    row: IntArray

    @classmethod
    def of(cls, placements: Placements, run: pl.DataFrame, other: pl.DataFrame) -> _JudgedTies:
        """Find the ties of a run, and the second score of each of their documents."""
        pair = ("query_id", "doc_id")
        tied = np.flatnonzero(placements.tied > 1)
        judged = pl.DataFrame(
            {
                "query_id": pl.Series(placements.query_ids[placements.query[tied]].tolist(), dtype=pl.String),
                "doc_id": pl.Series(placements.doc_ids[tied].tolist(), dtype=pl.String),
                "row": tied,
            }
        )
        # a document with several subtopics has a row for each: they share its place
        held = (
            run.select(*pair, "score")
            .join(judged.group_by(pair, maintain_order=True).agg("row"), on=pair, how="left", maintain_order="left")
            .filter(pl.col("row").is_not_null().any().over("query_id", "score"))
            .filter(pl.len().over("query_id", "score") > 1)
            .sort("query_id", "score", "doc_id")
            .join(other.select(*pair, pl.col("score").alias("second")), on=pair, how="left", maintain_order="left")
        )
        tie = held.select(tie=pl.struct("query_id", "score").rle_id())["tie"].to_numpy().astype(np.int64)
        second = held["second"].to_numpy()
        kind = np.select(
            [held["second"].is_null().to_numpy(), second == np.inf, second == -np.inf], [LACKING, BEST, WORST], FINITE
        )
        placed = held.select("row").with_row_index("document").explode("row").drop_nulls()
        return cls(
            placements,
            tie,
            kind,
            np.where(kind == FINITE, second, 0.0),
            placed["document"].to_numpy().astype(np.int64),
            placed["row"].to_numpy().astype(np.int64),
        )

    def draw(self, scale: float, n: int, rng: np.random.Generator) -> IntArray:
        """Draw the documents above each row of the placements in n orders, of shape (n, n_rows)."""
        shape = n, len(self.tie)
        noise = rng.gumbel(size=shape)
        with np.errstate(over="ignore"):  # noise that is beyond all numbers still orders documents, by itself
            noisy = np.where(self.kind == FINITE, self.second + scale * noise, 0.0)
        tie, kind = np.broadcast_to(self.tie, shape), np.broadcast_to(self.kind, shape)
        # where the noise is too small to move a sum, it orders equal ones all the same
        order = np.lexsort((-noise, -noisy, kind, tie), axis=-1)
        starts = run_starts(self.tie)
        within = np.arange(len(self.tie)) - np.repeat(starts, np.diff(starts, append=len(self.tie)))
        rank = np.empty(shape, np.int64)
        np.put_along_axis(rank, order, np.broadcast_to(within, shape), axis=-1)
        above = np.repeat(self.placements.above[None], n, axis=0)
        above[:, self.row] += rank[:, self.document]
        return above

    def free(self) -> Placements:
        """Return placements whose ties are of the documents that noise can order in any way."""
        order = np.lexsort((self.kind, self.tie))
        starts, of_ties = run_starts(self.tie[order], self.kind[order]), run_starts(self.tie)
        sizes = np.diff(starts, append=len(order))
        before, tied = np.empty((2, len(order)), np.int64)
        before[order], tied[order] = np.repeat(starts, sizes), np.repeat(sizes, sizes)
        before -= np.repeat(of_ties, np.diff(of_ties, append=len(order)))
        above, of_rows = self.placements.above.copy(), np.ones(len(self.placements.above), np.int64)
        above[self.row] += before[self.document]
        of_rows[self.row] = tied[self.document]
        return self.placed(above[None], of_rows)

    def placed(self, above: IntArray, tied: IntArray | None = None) -> Placements:
        """Return placements in which every order of every query is a query; without ties, unless they are given."""
        own, n = self.placements, len(above)
        codes = np.arange(n)[:, None] * own.n_queries
        query, judged_query = (codes + own.query).ravel(), (codes + own.judged_query).ravel()
        relevance = np.tile(own.relevance, n)
        order = np.lexsort((-relevance, above.ravel(), query))
        return replace(
            own,
            query_ids=np.tile(own.query_ids, n),
            n_retrieved=np.tile(own.n_retrieved, n),
            query=query[order],
            documents=np.tile(own.doc_ids, n)[order],
            relevance=relevance[order],
            above=above.ravel()[order],
            tied=np.ones(len(query), np.int64) if tied is None else tied[order],
            judged_query=judged_query,
            judged_relevance=np.tile(own.judged_relevance, n),
            ends_in_tie=None,
        )


def _draw(
    orders: _JudgedTies, measures: tuple[Measure, ...], scale: float, n_draws: int, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Draw orders, some at once; return means and their standard errors, each of shape (n_measures, n_queries)."""
    own = orders.placements
    at_once = max(1, CELLS // max(1, len(orders.tie), len(own.query), len(own.judged_query), own.n_queries))
    first, off, squares = np.zeros((3, len(measures), own.n_queries))
    for start in range(0, n_draws, at_once):
        n = min(at_once, n_draws - start)
        placed = orders.placed(orders.draw(scale, n, rng))
        for place, measure in enumerate(measures):
            values = measure.mean(placed).reshape(n, own.n_queries)
            if start == 0:
                first[place] = values[0]
            # sums of how far values are from those of the first order, and of the squares, lose nothing
            off[place] += (values - first[place]).sum(axis=0)
            squares[place] += ((values - first[place]) ** 2).sum(axis=0)
    variance = np.maximum(squares - off**2 / n_draws, 0.0) / (n_draws - 1)
    # where all draws agree, another order may give another value all the same
    free = orders.free()
    ends = np.array([TieSpread(measure, free).extremes for measure in measures])
    furthest = np.abs(ends - first[:, None]).max(axis=1)
    unseen = np.where(furthest > NEGLIGIBLE_DIFFERENCE, RULE_OF_THREE / n_draws * furthest, 0.0)
    errors = np.where(np.sqrt(variance) <= NEGLIGIBLE_DIFFERENCE, unseen, np.sqrt(variance / n_draws))
    return first + off / n_draws, errors


def _scores(plain: Evaluation, measure: Measure, means: FloatArray, errors: FloatArray) -> ConfidenceScores:
    """Return the scores of a measure; a query without a value keeps none."""
    kept = plain[str(measure)].kept
    values, errors = (np.where(kept, column, np.nan) for column in (means, errors))
    found = replace(plain[str(measure)], values=values)
    # drawn orders of different queries are independent
    error = math.sqrt(float((errors[kept] ** 2).sum())) / found.n_queries if found.n_queries else math.nan
    if measure.geometric:  # to first order
        error *= found.mean
    return ConfidenceScores(measure, plain.query_ids, values, errors, found.mean, error)
