"""The same ranking under other judgments, measures or conventions: what a saved evaluation keeps is scored again."""

from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import polars as pl

from deadheat.arrays import BoolArray
from deadheat.data.rows import MemoryRows
from deadheat.data.tables import Qrels, Run, Source
from deadheat.errors import ColumnError, DataError, NotKeptError, ParameterError
from deadheat.evaluation.evaluate import parse_measures
from deadheat.evaluation.evaluation import Evaluation
from deadheat.evaluation.under import evaluate_under
from deadheat.evaluation.warned import warn
from deadheat.io.records import Wanted, read_records
from deadheat.io.source import path_named
from deadheat.measures import MaxRel, Measure, NumRet
from deadheat.measures.notation import MeasureLike
from deadheat.measures.stored import StoredMeasure
from deadheat.measures.unjudged import deepest_counted, has_ends
from deadheat.placements.kept import Kept, KeptRows
from deadheat.placements.place import engine_of
from deadheat.settings import ConventionArguments, Conventions
from deadheat.wording import Plain, counted, three

OLD_NEW = ("old", "new")
CUT = "of the ranking the first {:,} documents of each list are known"
Unknown: TypeAlias = dict[str, tuple[str, ...]]


RENAMED = Wanted(what="renamed ids", expected="a list of objects with old and new", as_written=True)


def rescored(
    evaluation: Evaluation,
    qrels: Source | None,
    measures: MeasureLike | Iterable[MeasureLike] | None,
    ids: Mapping[str, str] | str | Path | None,
    conventions: ConventionArguments,
) -> Evaluation:
    """Do what :meth:`Evaluation.rescored` does."""
    judgments = evaluation.qrels if qrels is None else Qrels.of(qrels)
    if judgments is None:
        raise DataError(f"{evaluation.name} was saved without its judgments", hint="give qrels")
    if ids is not None and qrels is None:
        raise ParameterError("needs the judgments that have the new ids: give them too", argument="ids")
    run = evaluation.run if ids is None or evaluation.run is None else renamed(evaluation.run, ids)
    given: dict[str, Any] = {name: one for name, one in conventions.items() if (name, one) != ("missing", None)}
    if qrels is not None:
        judgments.check_duplicates()
    asked = evaluation.measures if measures is None else parse_measures(measures)
    found, unknown = rescore(evaluation, judgments, asked, replace(evaluation.conventions, **given), run)
    if unknown:
        told = ", ".join(
            f"{name} ({counted(len(own), 'query', 'queries')}: {three([*map(repr, own)])})"
            for name, own in unknown.items()
        )
        raise NotKeptError(
            f"{evaluation.name} was saved with too little of its ranking for {told}",
            queries=unknown,
            hint="leave these measures out, or evaluate the run again",
        )
    found = weighted_as(found, evaluation)
    if run is not None and qrels is not None and found.known_depth is None:  # what was cut may be judged
        warn({run.where: found}, judgments, {run.where: run}, missing=conventions.get("missing"))
    return found


def weighted_as(evaluation: Evaluation, *others: Evaluation) -> Evaluation:
    """Return an evaluation whose queries have the weights that they have in others, if these have any."""
    own: dict[str, float] = {}
    for one in others:
        if one.weights is not None:
            own |= zip(one.query_ids.tolist(), one.weights.tolist(), strict=True)
    return evaluation.weighted(own) if own else evaluation


def renamed(run: Run, ids: Mapping[str, str] | str | Path) -> Run:
    """Return a ranking with other ids of documents.

    Parameters
    ----------
    run : Run
    ids : mapping of str to str, or path
        The new id of each old one: of a file the columns old and new.

    Raises
    ------
    DataError
        An id is not there, has two new ones, or none of them is in the ranking.
    """
    path = None
    if isinstance(ids, Mapping):
        pairs = pl.DataFrame({"old": list(ids), "new": list(ids.values())}, schema=dict.fromkeys(OLD_NEW, pl.String))
    else:
        path = path_named(ids)
        table = read_records(path, wanted=RENAMED).frame
        if not {*OLD_NEW} <= {*table.columns}:
            raise ColumnError(given=", ".join(table.columns), allowed="columns old and new", path=path)
        pairs = table.select(pl.col(OLD_NEW).cast(pl.String)).unique(maintain_order=True)
    wrong = pairs.filter(pairs["old"].is_duplicated() | pl.any_horizontal(pl.col(OLD_NEW).fill_null("") == ""))
    if len(wrong):
        told = ", ".join(f"{old!r}: {new!r}" for old, new in wrong.head(3).rows())
        raise DataError("renames an id twice, or lacks one", given=Plain(told), allowed="one new id of each", path=path)
    frame = run.to_polars()
    n_found = len(pairs.filter(pairs["old"].is_in(frame["doc_id"].implode())))
    if not n_found:
        raise DataError(
            f"none of the {len(pairs):,} old ids is in the ranking of {run.name}",
            hint="each row has the id in the ranking first, then that in the qrels",
            path=path,
        )
    found, rows = copy(run), run.rows
    frame = frame.with_columns(pl.col("doc_id").replace(pairs["old"], pairs["new"]))
    found.rows = KeptRows(frame, rows.queries, rows.depth) if isinstance(rows, KeptRows) else MemoryRows(frame)
    found.notes = (*run.notes, f"documents renamed in the ranking: {n_found:,} of {len(pairs):,}")
    found.check_duplicates()
    return found


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
        raise DataError(
            f"{evaluation.name} was saved without its ranking, and cannot be scored again",
            hint="evaluate the run again, and save it with a depth above 0",
        )
    if conventions.ties == "random":
        raise ParameterError(
            argument="ties", given="random", allowed="another policy: the order that was drawn is not known"
        )
    # of a function that is not in the file, or the judgments of an ontology, the values alone were kept
    kinds = StoredMeasure if evaluation.graded is None else StoredMeasure | MaxRel
    lost = [one for one in measures if isinstance(one, kinds)]
    engine = engine_of(qrels, run, conventions.score_precision)
    found = evaluate_under(conventions, qrels, run, [one for one in measures if one not in lost], engine=engine)
    unknown: dict[Measure, BoolArray] = {one: np.full(len(found.query_ids), fill_value=True) for one in lost}
    if isinstance(engine, Kept):
        unknown |= _lacking(found, engine.known)
    kept = [scores for scores in found if scores.measure not in unknown]
    parts: dict[str, Any] = {"origin": evaluation.origin, "known_depth": evaluation.known_depth}
    if isinstance(engine, Kept) and not engine.known["is_whole"].all():
        parts |= {"known_depth": engine.depth, "notes": (*found.notes, CUT.format(engine.depth))}
    again = Evaluation(kept, **found.parts() | parts)
    return again, {one.label: tuple(found.query_ids[which].tolist()) for one, which in unknown.items()}


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
        lacking[measure] = is_open & ~is_whole
    return {measure: own for measure, own in lacking.items() if own.any()}
