"""The same ranking under other judgments, measures or conventions: what a saved evaluation keeps is scored again."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
import polars as pl

from deadheat.arrays import BoolArray
from deadheat.data.tables import Qrels, Run, Source
from deadheat.errors import DataError, NotKeptError, ParameterError
from deadheat.evaluation.evaluate import evaluate_under, parse_measures
from deadheat.evaluation.evaluation import Evaluation
from deadheat.measures import MaxRel, Measure, NumRet
from deadheat.measures.notation import MeasureLike
from deadheat.measures.stored import StoredMeasure
from deadheat.measures.unjudged import deepest_counted, has_ends
from deadheat.placements.kept import Kept, KeptRows
from deadheat.placements.place import engine_of
from deadheat.settings import ConventionArguments, Conventions
from deadheat.wording import counted, three

Unknown: TypeAlias = dict[str, tuple[str, ...]]


def rescored(
    evaluation: Evaluation,
    qrels: Source | None,
    measures: MeasureLike | Iterable[MeasureLike] | None,
    conventions: ConventionArguments,
) -> Evaluation:
    """Do what :meth:`Evaluation.rescored` does."""
    judgments = evaluation.qrels if qrels is None else Qrels.of(qrels)
    if judgments is None:
        raise DataError(f"{evaluation.name} was saved without its judgments", hint="give them")
    if qrels is not None:
        judgments.check_duplicates()
    given: dict[str, Any] = {name: one for name, one in conventions.items() if (name, one) != ("missing", None)}
    changed = replace(evaluation.conventions, **given)
    asked = evaluation.measures if measures is None else parse_measures(measures)
    found, unknown = rescore(evaluation, judgments, asked, changed)
    if unknown:
        told = ", ".join(f"{name} ({of_queries(ids)})" for name, ids in unknown.items())
        problem = f"{evaluation.name} was saved with too little of its ranking for {told}"
        hint = "leave these measures out, or evaluate the run again"
        raise NotKeptError(problem, queries=unknown, hint=hint)
    return found


def of_queries(ids: Sequence[str]) -> str:
    """Return how many queries there are, and the first ones."""
    return f"{counted(len(ids), 'query', 'queries')}: {three([*map(repr, ids)])}"


def rescore(
    evaluation: Evaluation, qrels: Qrels, measures: Sequence[Measure], conventions: Conventions, run: Run | None = None
) -> tuple[Evaluation, Unknown]:
    """Score the ranking of an evaluation again.

    Parameters
    ----------
    evaluation : Evaluation
    qrels : Qrels
    measures : sequence of Measure
    conventions : Conventions
    run : Run, optional
        Its ranking, if not as it was kept.

    Returns
    -------
    evaluation : Evaluation
        Of the measures that can be known for every query.
    unknown : dict of str to tuple of str
        The other measures, and the queries for which the value depends on what was not kept.

    Raises
    ------
    DataError
        The evaluation has no ranking.
    ParameterError
        Ties are broken at random.
    """
    run = run or evaluation.run
    if run is None:
        hint = "evaluate the run again; to save keeps its ranking unless the depth is 0"
        raise DataError(f"{evaluation.name} was saved without its ranking, and cannot be scored again", hint=hint)
    if conventions.ties == "random":
        problem = "cannot be scored again: the order that was drawn is not known"
        raise ParameterError(problem, argument="ties", given="random")
    is_lost = {one: _is_lost(evaluation, one) for one in measures}
    engine = engine_of(qrels, run, conventions.score_precision)
    found = evaluate_under(conventions, qrels, run, [one for one in measures if not is_lost[one]], engine=engine)
    lacking = _lacking(found, engine.known) if isinstance(engine, Kept) else {}
    unknown = {one: np.full(len(found.query_ids), fill_value=True) for one in measures if is_lost[one]} | lacking
    kept = [scores for scores in found if scores.measure not in unknown]
    depth = run.rows.depth if isinstance(run.rows, KeptRows) else None
    again = Evaluation(kept, **found.parts() | {"origin": evaluation.origin, "known_depth": depth})
    return again, {one.label: tuple(found.query_ids[which].tolist()) for one, which in unknown.items()}


def _is_lost(evaluation: Evaluation, measure: Measure) -> bool:
    """Tell whether a measure has nothing but its values: its function, or its own judgments, were not kept."""
    return isinstance(measure, StoredMeasure) or (evaluation.graded is not None and isinstance(measure, MaxRel))


def _lacking(found: Evaluation, known: pl.DataFrame) -> dict[Measure, BoolArray]:
    """Return the measures that look at ranks that are not known, and of which queries.

    Parameters
    ----------
    found : Evaluation
        From the ranks that are known.
    known : polars.DataFrame
        query_id, is_whole and n_known, as `Kept` has them.
    """
    placements, conventions = found.placements, found.conventions
    own = pl.DataFrame({"query_id": found.query_ids.tolist()}, schema={"query_id": pl.String}).join(
        known, on="query_id", how="left", maintain_order="left"
    )
    is_whole = own["is_whole"].fill_null(value=True).to_numpy()  # a query that the run lacks
    n_known = own["n_known"].fill_null(0).to_numpy()
    if conventions.depth is not None:
        is_whole = is_whole | (n_known >= conventions.depth)
    has_bounds = conventions.unjudged == "bounds"
    if not has_bounds:  # where all that is judged is found, nothing else is to be known
        n_found, n_judged = (
            np.bincount(of, minlength=len(n_known)) for of in (placements.query, placements.judged_query)
        )
        is_whole = is_whole | (n_found == n_judged)
    if conventions.judged_only:
        n_known = placements.n_retrieved
    reaching = replace(placements, n_retrieved=np.where(is_whole, placements.n_retrieved, n_known + 1))
    lacking = {}
    for measure in found.measures:
        is_open = n_known < measure.looked_at(reaching)
        if has_bounds and has_ends(measure):
            is_open = n_known < (deepest_counted(measure) or np.inf)
        elif conventions.judged_only and isinstance(measure, NumRet):
            is_open = ~is_whole
        if (is_open & ~is_whole).any():
            lacking[measure] = is_open & ~is_whole
    return lacking
