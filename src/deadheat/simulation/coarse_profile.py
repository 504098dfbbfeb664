"""coarsening_profile(): what a run loses as its scores become coarser, and what its ties then decide."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from itertools import combinations
from typing import TypeVar, cast

import numpy as np
import polars as pl

from deadheat.arguments import Rng, check_rng
from deadheat.arrays import TextArray, members
from deadheat.comparison.compare import named_runs
from deadheat.comparison.sides import side_of
from deadheat.data.drawn import Drawn
from deadheat.data.tables import Qrels, Run, Source
from deadheat.errors import ParameterError
from deadheat.evaluation.conventions import Conventions
from deadheat.evaluation.evaluate import (
    are_runs,
    evaluate_under,
    parse_measures,
    score_of,
    warn_of_levels,
    warn_of_missing,
    warn_of_unmatched,
)
from deadheat.evaluation.evaluation import Evaluation
from deadheat.evaluation.scores import Scores
from deadheat.io.forking import check_threads
from deadheat.measures import Measure
from deadheat.measures.notation import MeasureLike
from deadheat.placements.place import engine_of
from deadheat.placements.policies import by_rule
from deadheat.simulation.coarsening import check_coarse, coarse_name, coarsen
from deadheat.simulation.winners import Winner, Winners
from deadheat.stats.units import NEGLIGIBLE_DIFFERENCE
from deadheat.wording import Plain, counted

T = TypeVar("T")

LEVELS = (2, 3, 5, 10, 20, 50, 100)
AS_GIVEN = "as given"
MOST_PAIRS = 500


@dataclass(frozen=True)
class Coarse:
    """One way to make scores coarser.

    Attributes
    ----------
    levels, decimals : int or None
    dtype : str or None
        All three are None for the scores as they are.
    """

    levels: int | None = None
    decimals: int | None = None
    dtype: str | None = None

    @property
    def name(self) -> str:
        """What is done, in words."""
        return AS_GIVEN if self == Coarse() else coarse_name(self.levels, self.decimals, self.dtype)


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
class CoarseningProfile(Drawn):
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
        check_threads()
        columns = {one.name: [getattr(row, one.name) for row in self.rows] for one in fields(CoarseScores)}
        return _frame(columns, {"rival": pl.String, "wrong_winner": pl.Float64})

    def pairs_to_polars(self) -> pl.DataFrame:
        """Return a row for each pair of runs, measure and coarsening, with the fields of `CoarsePair`."""
        check_threads()
        columns = {one.name: [getattr(pair, one.name) for pair in self.pairs] for one in fields(CoarsePair)}
        return _frame(columns, {})

    def to_dict(self) -> dict[str, list[dict[str, object]]]:
        """Return rows and pairs as dicts."""
        return {"rows": [asdict(row) for row in self.rows], "pairs": [asdict(pair) for pair in self.pairs]}


def _frame(columns: dict[str, list[object]], schema: dict[str, type[pl.DataType]]) -> pl.DataFrame:
    return pl.DataFrame(columns, schema_overrides=schema).with_columns(pl.col(pl.Float64).fill_nan(None))


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
    no_relevant: str = "zero",
    check_duplicates: bool = True,
    ascending: bool = False,
    rng: Rng = 0,
) -> CoarseningProfile:
    """Say what runs lose as their scores become coarser: how many levels a reranker needs, what bfloat16 costs.

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
    check_rng(rng)
    ways = _ways(levels, decimals, dtypes, per_query=per_query)
    conventions = Conventions("expected", "empty" if missing is None else missing, no_relevant, None)
    chosen, judged, named = parse_measures(measures), Qrels.of(qrels), _named(runs, ascending=ascending)
    places = _pairs_of(list(named), baseline)
    if check_duplicates:
        for table in (judged, *named.values()):
            table.check_duplicates()
    found = [_Step.of(Coarse(), conventions, judged, named, chosen)]
    first = found[0].evaluations
    lacking = {name: one.missing_queries for name, one in first.items() if one.missing_queries}
    if lacking and missing is None:
        warn_of_missing(lacking, len(next(iter(first.values())).query_ids))
    warn_of_levels(next(iter(first.values())), judged)
    for name, run in named.items():
        warn_of_unmatched(first[name], judged, run)
    for way in ways:
        coarser = {name: coarsen(run, **asdict(way), per_query=per_query) for name, run in named.items()}
        found.append(_Step.of(way, conventions, judged, coarser, chosen))
    pairs = tuple(pair for measure in chosen for pair in _compare(measure, found, places, rng))
    worst = _by_run(pairs)
    rows = tuple(
        _with_rival(row, worst)
        for measure in chosen
        for name in named
        for step in found
        for row in [step.row(name, measure, found[0])]
    )
    n_queries = max(len(one.query_ids) for one in first.values())
    return CoarseningProfile(rows, pairs, n_queries, per_query, first)


def _ways(
    levels: Iterable[int] | None, decimals: Iterable[int] | None, dtypes: Iterable[str] | None, *, per_query: bool
) -> list[Coarse]:
    """Return the ways to make scores coarser, checked, each once."""
    given = {
        name: one for name, one in (("levels", levels), ("decimals", decimals), ("dtypes", dtypes)) if one is not None
    }
    if len(given) > 1:
        shown = Plain(" and ".join(given))
        raise ParameterError(argument="levels, decimals and dtypes", given=shown, allowed="one of them, not the others")
    if per_query and given.keys() - {"levels"}:
        raise ParameterError("per_query is for levels", given=Plain(next(iter(given))))
    if dtypes is not None:
        found = [Coarse(dtype=one) for one in _each("dtypes", dtypes)]
    elif decimals is not None:
        found = [Coarse(decimals=one) for one in _each("decimals", decimals)]
    else:
        found = [Coarse(levels=one) for one in _each("levels", LEVELS if levels is None else levels)]
    for one in found:
        check_coarse(**asdict(one))
    return found


def _each(name: str, given: Iterable[T]) -> list[T]:
    """Return what was given, each once; a single one is a list of it."""
    is_single = isinstance(given, str) or not isinstance(cast("object", given), Iterable)
    listed: list[T] = [given] if is_single else list(dict.fromkeys(given))  # type: ignore[list-item]
    if not listed:
        raise ParameterError(argument=name, given=listed, allowed="at least one")
    return listed


def _named(runs: Source | Mapping[str, Source] | Sequence[Source], *, ascending: bool) -> dict[str, Run]:
    """Return the runs by name: one, several by name, or a list of several."""
    is_several = isinstance(runs, list | tuple) and not isinstance(next(iter(runs), None), tuple)
    found = named_runs(runs if are_runs(runs) or is_several else [runs], ascending=ascending)  # type: ignore[arg-type]
    if not found:
        raise ParameterError(argument="runs", given=runs, allowed="one run or several")
    return {name: run.renamed(name) for name, run in found.items()}


def _pairs_of(names: Sequence[str], baseline: str | None) -> list[tuple[int, int]]:
    if baseline is not None and baseline not in names:
        raise ParameterError(argument="baseline", given=baseline, allowed=names)
    if baseline is not None:
        place = names.index(baseline)
        return [(n, place) for n in range(len(names)) if n != place]
    found = [(second, first) for first, second in combinations(range(len(names)), 2)]
    if len(found) > MOST_PAIRS:
        raise ParameterError(
            f"{len(names):,} runs make {len(found):,} pairs, more than {MOST_PAIRS}",
            hint="give baseline, the run to compare the others with",
        )
    return found


@dataclass(frozen=True, eq=False)
class _Step:
    """All runs, with scores as coarse.

    Attributes
    ----------
    way : Coarse
    evaluations : dict of str to Evaluation
    by_doc_id : dict of (str, Measure) to float
        The mean if ties are broken by document id.
    spread : dict of str to (int, float)
        Different scores of a run, and the share of its documents in ties.
    """

    way: Coarse
    evaluations: dict[str, Evaluation]
    by_doc_id: dict[tuple[str, Measure], float]
    spread: dict[str, tuple[int, float]]

    @classmethod
    def of(
        cls, way: Coarse, conventions: Conventions, qrels: Qrels, runs: Mapping[str, Run], measures: Sequence[Measure]
    ) -> _Step:
        """Evaluate every run."""
        step = cls(way, {}, {}, {})
        for name, run in runs.items():
            engine = engine_of(qrels, run)
            one = step.evaluations[name] = evaluate_under(conventions, qrels, run, measures, engine=engine)
            ranked = by_rule(one.placements, engine, "doc_id")
            for measure in measures:
                scores = score_of(measure, one.placements, ranked, conventions.no_relevant)
                step.by_doc_id[name, measure] = scores.mean
            frame = run.to_polars()
            is_tied = frame.select(pl.struct("query_id", "score").is_duplicated().alias("tied"))["tied"]
            step.spread[name] = frame["score"].n_unique(), float(is_tied.sum()) / max(frame.height, 1)
        return step

    def scores(self, name: str, measure: Measure) -> Scores:
        """Return the scores of a run."""
        return self.evaluations[name][str(measure)]

    def row(self, name: str, measure: Measure, first: _Step) -> CoarseScores:
        """Return the row of a run."""
        scores, original = self.scores(name, measure), first.scores(name, measure).mean
        n_distinct, share_tied = self.spread[name]
        doc_id = self.by_doc_id[name, measure]
        return CoarseScores(
            run=name,
            scores=self.way.name,
            measure=str(measure),
            n_queries=scores.n_queries,
            n_distinct=n_distinct,
            share_tied=share_tied,
            value=scores.mean,
            tie_std=scores.mean_tie_std,
            tie_min=scores.mean_tie_min,
            tie_max=scores.mean_tie_max,
            doc_id=doc_id,
            original=original,
            error=doc_id - original,
            change=scores.mean - original,
        )


def _compare(
    measure: Measure, steps: Sequence[_Step], places: Sequence[tuple[int, int]], rng: Rng
) -> Iterator[CoarsePair]:
    """Compare the runs of each pair at each step with the difference of the first."""
    if not places:
        return
    names = list(steps[0].evaluations)
    ids = _all_ids(steps[0])
    of_step = [
        Winners(
            [
                side_of(step.scores(name, measure), one, members(ids, one.query_ids), None, rng)
                for name, one in step.evaluations.items()
            ]
        )
        for step in steps
    ]
    for a, b in places:
        original = _difference(of_step[0], a, b)
        # what is equal but for rounding has no winner
        sign = original if abs(original) > NEGLIGIBLE_DIFFERENCE else 0.0
        for step, winners in zip(steps, of_step, strict=True):
            found: Winner = winners.between(a, b, sign)
            yield CoarsePair(
                measure=str(measure),
                system=names[a],
                baseline=names[b],
                scores=step.way.name,
                original=original,
                difference=_difference(winners, a, b),
                wrong_winner=found.wrong,
                no_winner=found.none,
                method=found.method,
                standard_error=found.standard_error,
            )


def _all_ids(step: _Step) -> TextArray:
    ids = sorted(set().union(*(one.query_ids.tolist() for one in step.evaluations.values())))
    return np.array(ids, dtype=object)


def _difference(winners: Winners, a: int, b: int) -> float:
    """Return the exact difference of two means over the queries that both have; NaN if there is none."""
    difference = winners.sides[a].mean - winners.sides[b].mean
    kept = difference[~np.isnan(difference)]
    return float(kept.mean()) if len(kept) else math.nan


def _by_run(pairs: Iterable[CoarsePair]) -> dict[tuple[str, str, str], tuple[CoarsePair, str]]:
    """Return, by measure, scores and run, the pair that is most likely to have the wrong winner, and the other run."""
    found: dict[tuple[str, str, str], tuple[CoarsePair, str]] = {}
    for pair in pairs:
        if math.isnan(pair.wrong_winner):
            continue
        for own, other in ((pair.system, pair.baseline), (pair.baseline, pair.system)):
            key = pair.measure, pair.scores, own
            if key not in found or pair.wrong_winner > found[key][0].wrong_winner:
                found[key] = pair, other
    return found


def _with_rival(row: CoarseScores, worst: Mapping[tuple[str, str, str], tuple[CoarsePair, str]]) -> CoarseScores:
    """Return a row with the other run for which random orders of ties are most likely to name the wrong winner."""
    key = row.measure, row.scores, row.run
    if key not in worst:
        return row
    pair, rival = worst[key]
    return replace(row, wrong_winner=pair.wrong_winner, rival=rival)
