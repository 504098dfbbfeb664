"""coarsening_profile(): what a run loses as its scores become coarser, and what its ties then decide."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any, cast

import numpy as np
import polars as pl

from deadheat.core.arrays import is_member
from deadheat.core.data.document_table import check_tables
from deadheat.core.data.judging import find_kind_of_qrels
from deadheat.core.data.qrels import Qrels
from deadheat.core.data.renderable import Plottable, make_frame
from deadheat.core.data.run import Run
from deadheat.core.data.sources import Source
from deadheat.core.errors import ParameterError
from deadheat.core.evaluation.evaluation import Evaluation
from deadheat.core.evaluation.systems import are_runs
from deadheat.core.evaluation.warned import warn
from deadheat.core.io.guarding import check_threads
from deadheat.core.measures import Measure
from deadheat.core.measures.notation import MeasureLike, parse_measures
from deadheat.core.measures.selection import choose_measures
from deadheat.core.random_generators import Rng, check_rng
from deadheat.core.scalars import ROUNDING
from deadheat.core.settings import Conventions
from deadheat.core.stats.units import NEGLIGIBLE_DIFFERENCE
from deadheat.core.wording import escape_invisible, format_count
from deadheat.plugins.compare.compare import named_runs
from deadheat.plugins.compare.flips import Flip, TieSums, flip, make_side, normal_errors_of, subtract_sides
from deadheat.plugins.compare.pairs import list_pairs
from deadheat.plugins.ties.beside import evaluate_beside
from deadheat.plugins.ties.coarsening import check_coarse, check_one_way, coarse_name, coarsen

LEVELS = (2, 3, 5, 10, 20, 50, 100)
AS_GIVEN = "as given"
MOST_PAIRS = 500


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
class CoarseningProfile(Plottable, figures="coarsening", shown=("coarsening",)):
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
        return escape_invisible(
            f"<CoarseningProfile of {', '.join(runs)} by {', '.join(measures)}:"
            f" {format_count(self.n_queries, 'query', 'queries')}>"
        )

    def to_polars(self) -> pl.DataFrame:
        """Return a row for each run, measure and coarsening, with the fields of `CoarseScores`; null for no number."""
        return make_frame(list(map(asdict, self.rows))).cast({"rival": pl.String})  # of a single run all are null


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
    ascending: bool = False,
    duplicates: str = "error",
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
    missing, no_relevant, ascending, duplicates
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
    check_rng("rng", rng)
    ways = _ways(per_query=per_query, levels=levels, decimals=decimals, dtypes=dtypes)
    conventions = Conventions.of(locals())
    parse_measures(measures)  # before anything is read
    judged, named = Qrels.of(qrels), _named(runs, ascending=ascending, duplicates=duplicates)
    chosen = choose_measures(find_kind_of_qrels(judged), measures)
    if baseline is not None and baseline not in named:
        raise ParameterError(argument="baseline", given=baseline, allowed=list(named))
    places = list_pairs(list(named), () if baseline is None else (baseline,))
    if baseline is None and len(places) > MOST_PAIRS:
        raise ParameterError(
            f"{len(named):,} runs make {len(places):,} pairs, more than {MOST_PAIRS}",
            hint="give baseline, the run to compare the others with",
        )
    check_tables(judged, *named.values())
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
                    measure=own.measure.label,
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
    measure_names, names, first = [measure.label for measure in chosen], list(named), steps[AS_GIVEN]
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


def _named(
    runs: Source | Mapping[str, Source] | Sequence[Source], *, ascending: bool, duplicates: str
) -> dict[str, Run]:
    """Return the runs by name: one, several by name, or a list of several."""
    is_list = isinstance(runs, list | tuple) and not isinstance(next(iter(runs), None), tuple)
    given = cast("Sequence[Source]", runs if is_list or are_runs(runs) else [runs])
    found = named_runs(given, ascending=ascending, duplicates=duplicates)
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
            {name: make_side(one, measure, is_member(ids, one.query_ids), rng=rng) for name, one in found.items()}
        )
        for scores, found in (steps.items() if places else ())
    }
    for a, b in places:
        original = _difference(sums[AS_GIVEN], a, b)
        for scores, own in sums.items():
            wrong, no_winner = winner(own, a, b, original)
            yield CoarsePair(
                measure=measure.label,
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
    gap = subtract_sides(sums.sides[a], sums.sides[b])
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
