"""From qrels and runs that are read to evaluations, under given conventions: one run, or several as if they were one.

What a run costs however small it is (joins, calls of each measure) is paid once for runs that are evaluated together:
they are placed and scored as one run with the queries of all.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from deadheat.arrays import BoolArray, FloatArray, members
from deadheat.data.doubts import alike
from deadheat.data.rows import UnreadRows
from deadheat.data.tables import Qrels, Run
from deadheat.errors import Advice, DataError, ParameterError, Rng, counted, three
from deadheat.evaluation.evaluation import Evaluation, helped_by
from deadheat.evaluation.filling import Filling, filling
from deadheat.evaluation.scores import PlacedBounds, Scores, TieSpread
from deadheat.io.guarding import phase
from deadheat.measures import Measure
from deadheat.measures.notation import at_level
from deadheat.measures.orders import OrdersMeasure
from deadheat.measures.unjudged import (
    as_placed,
    ends_anywhere,
    open_documents,
    open_ties,
    ungraded_rows,
    unjudged_documents,
    with_ties,
)
from deadheat.placements import policies
from deadheat.placements.contiguous import Together, can_be_together
from deadheat.placements.place import Engine, engine_of
from deadheat.placements.placements import Placements
from deadheat.placements.policies import Shortened
from deadheat.settings import Conventions


def evaluate_many(
    conventions: Conventions,
    qrels: Qrels,
    runs: Sequence[Run],
    measures: Sequence[Measure],
    rngs: Sequence[Rng] | None = None,
    *,
    rule: str | None = None,
    judge: Qrels | None = None,
) -> Iterator[tuple[Evaluation, list[FloatArray]]]:
    """Evaluate runs as :func:`evaluate_under` does each, those of rows in memory together.

    Parameters
    ----------
    conventions : Conventions
    qrels : Qrels
    runs : sequence of Run
    measures : sequence of Measure
    rngs : sequence of numpy.random.Generator or int, optional
        For ``ties="random"``, one for each run.
    rule : {"doc_id", "input"}, optional
        To break ties by beside the policy of the conventions.
    judge : Qrels, optional
        Labels of a judge.

    Yields
    ------
    evaluation : Evaluation
    by_rule : list of ndarray of float, shape (n_queries,)
        The values of each measure under the rule, NaN for queries that do not count; empty without a rule.
    """
    is_plain = judge is None and not conventions.judged_only
    is_plain = is_plain and conventions.depth is None and conventions.unjudged == "zero"
    is_drawn = conventions.ties == "random" or any(isinstance(one, OrdersMeasure) for one in measures)
    are_of_queries = not any(one.only_total for one in measures)  # others look at all queries at once
    are_open = qrels.open_to is not None or any(run.are_failures_open for run in runs)
    can_share = len(runs) > 1 and is_plain and not is_drawn and are_of_queries and not are_open
    if can_share and can_be_together(qrels, runs):
        yield from _together(conventions, qrels, runs, measures, rule)
        return
    for run, rng in zip(runs, rngs or [None] * len(runs), strict=True):
        policies.check_row_order(run, rule or "")
        engine = engine_under(conventions, engine_of(qrels, run, conventions.score_precision), measures, rng)
        found = evaluate_under(conventions, qrels, run, measures, rng, engine=engine, judge=judge)
        ranked = policies.by_rule(found.placements, engine, rule) if rule else None
        yield found, [] if ranked is None else [np.where(own.kept, own.spread.of(ranked), np.nan) for own in found]


def _together(
    conventions: Conventions, qrels: Qrels, runs: Sequence[Run], measures: Sequence[Measure], rule: str | None
) -> Iterator[tuple[Evaluation, list[FloatArray]]]:
    engine = Together(qrels, runs, conventions.score_precision)
    with phase("placing runs"):
        placements = engine.place()
    ranked = policies.apply(placements, conventions.ties, None, engine)
    by_rule = policies.by_rule(placements, engine, rule) if rule else None
    with phase("evaluating runs"):
        scores = [score_of(one, placements, ranked, conventions, qrels) for one in at_level(measures, conventions.rel)]
        ruled = [] if by_rule is None else [np.where(one.kept, one.spread.of(by_rule), np.nan) for one in scores]
    n_queries = placements.n_queries // len(runs)
    for n, run in enumerate(runs):
        rows = slice(n * n_queries, (n + 1) * n_queries)
        placed = replace(placements.part(rows.start, rows.stop), unjudged_queries=engine.unjudged[n])
        lacking = lacking_of(conventions, run, placed, placed.missing)
        own = [replace(one, query_ids=placed.query_ids, values=one.values[rows], rows=rows) for one in scores]
        values = [one[rows] for one in ruled]
        if conventions.missing == "skip" and lacking:
            keep = ~placed.missing
            own, values, placed = [one.select(keep) for one in own], [one[keep] for one in values], placed.select(keep)
        yield evaluation_of(conventions, qrels, run, placed, own, lacking), values


def evaluate_under(
    conventions: Conventions,
    qrels: Qrels,
    run: Run,
    measures: Sequence[Measure],
    rng: Rng = None,
    *,
    engine: Engine | None = None,
    judge: Qrels | None = None,
) -> Evaluation:
    """Evaluate a run under given conventions, without warnings and without a check for duplicates.

    Parameters
    ----------
    conventions : Conventions
    qrels, run : Qrels, Run
    measures : sequence of Measure
    rng : numpy.random.Generator or int, optional
        For ``ties="random"``.
    engine : Engine, optional
        Of the qrels and the run; made here by default.
    judge : Qrels, optional
        Labels of a judge: they fill holes with ``unjudged="judge"``, else help to estimate the means.
    """
    if conventions.unjudged == "judge" and judge is None:
        raise ParameterError("needs a judge's labels", argument="unjudged", given="judge", hint=Advice("judge"))
    if conventions.unjudged != "judge" and judge is not None:
        human, by_judge = (evaluate_under(conventions, one, run, measures, rng) for one in (qrels, judge))
        return helped_by(human, by_judge)
    if qrels.open_to is not None:
        conventions = replace(conventions, unjudged="bounds", unjudged_max_rel=qrels.open_to)
    if run.are_failures_open:
        _check_open(conventions, run)
    ties = conventions.ties
    policies.check_row_order(run, ties)
    engine = engine_under(conventions, engine or engine_of(qrels, run, conventions.score_precision), measures, rng)
    with phase(f"placing {run.name}"):
        placements = engine.place()
    missing = engine.missing if isinstance(engine, Shortened) else placements.missing
    lacking = lacking_of(conventions, run, placements, missing)
    if conventions.missing == "skip":
        placements = placements.select(~missing)
    ranked = policies.apply(placements, ties, rng, engine)
    with phase(f"evaluating {run.name}"):
        own, holes = at_level(measures, conventions.rel), None
        if judge is None:
            scores = [score_of(measure, placements, ranked, conventions, qrels) for measure in own]
        else:
            holes = filling(qrels, judge, run, placements, precision=conventions.score_precision, rng=rng)
            spreads = [TieSpread(measure, placements, filling=holes) for measure in own]
            scores = [
                replace(_counting(spread, one.draws.mean(0), conventions, qrels), filled=one)
                for spread, one in zip(spreads, holes.of(own), strict=True)
            ]
        if conventions.unjudged != "zero":
            bounds = _bounds(conventions, qrels, run, placements, ranked, holes=holes)
            scores = [replace(one, unjudged=bounds(one.measure)) for one in scores]
        if run.are_failures_open and run.failures is not None:
            is_open, n_open = ungraded_rows(ranked, run.failures)
            scores = [
                replace(one, unjudged=ends_anywhere(one.measure, ranked, is_open, n_open, one.values)) for one in scores
            ]
    found = evaluation_of(conventions, qrels, run, placements, scores, lacking)
    if holes is not None and judge is not None:
        found.notes = (*dict.fromkeys((*found.notes, *judge.notes)), holes.told())
    return found


def _check_open(conventions: Conventions, run: Run) -> None:
    """Refuse what changes the list that documents of a run may be anywhere in, or what else may be open."""
    plain = Conventions()
    for argument in ("depth", "judged_only", "score_precision", "unjudged"):
        if (given := getattr(conventions, argument)) != getattr(plain, argument):
            raise ParameterError(
                f"cannot be combined with documents that may be anywhere in {run.name}",
                argument=argument,
                given=given,
                hint='read its grades with failed="lowest"',
            )


def lacking_of(conventions: Conventions, run: Run, placements: Placements, missing: BoolArray) -> tuple[str, ...]:
    """Return the queries that a run lacks; raise if that is to be an error."""
    lacking = tuple(placements.query_ids[missing].tolist())
    if lacking and conventions.missing == "error":
        raise DataError(
            f"{run.where} lacks {len(lacking)} of {counted(placements.n_queries, 'query', 'queries')} of the qrels:"
            f" {three([*map(repr, lacking)])}"
        )
    return lacking


def evaluation_of(  # noqa: PLR0917 - what an evaluation is made of
    conventions: Conventions,
    qrels: Qrels,
    run: Run,
    placements: Placements,
    scores: Sequence[Scores],
    lacking: tuple[str, ...],
) -> Evaluation:
    """Return the evaluation of a run that has been placed and scored, with what is to be known of its ids."""
    found = alike(qrels.rows, run.rows, lacking, placements.unjudged_queries)
    return Evaluation(
        scores,
        name=run.name,
        query_ids=placements.query_ids,
        conventions=conventions,
        missing_queries=lacking,
        unjudged_queries=placements.unjudged_queries,
        placements=placements,
        qrels=qrels,
        notes=(*qrels.notes, *run.notes, *found),
        alike=found,
        run=run,
    )


def engine_under(conventions: Conventions, engine: Engine, measures: Sequence[Measure], rng: Rng = None) -> Engine:
    """Return the engine, with the lists shortened as conventions say.

    Parameters
    ----------
    conventions : Conventions
    engine : Engine
    measures : sequence of Measure
        What its placements are for: those that look at no more than the depth may be had where it cuts a tie.
    rng : numpy.random.Generator or int, optional
        For ``ties="random"``.
    """
    if isinstance(engine, Shortened) or (conventions.depth is None and not conventions.judged_only):
        return engine
    depths = [one.deepest for one in measures]
    known = [one for one in depths if one is not None]
    all_known = len(known) == len(depths) and conventions.unjudged != "bounds"
    return Shortened(
        engine,
        depth=conventions.depth,
        judged_only=conventions.judged_only,
        ties=conventions.ties,
        rng=rng,
        deepest=max(known, default=None) if all_known else None,
    )


def _bounds(
    conventions: Conventions,
    qrels: Qrels,
    run: Run,
    placements: Placements,
    ranked: Placements,
    *,
    holes: Filling | None,
) -> Callable[[Measure], PlacedBounds]:
    """Return what makes the bounds over unjudged documents of a measure."""
    top, precision = conventions.highest_label(placements.max_relevance), conventions.score_precision
    if qrels.open_to is not None:
        documents = open_documents(qrels, run, precision)
        ties = open_ties(placements, documents)
        return lambda measure: PlacedBounds(measure, placements, ties, top, documents.drop_nulls)
    is_far = False
    if conventions.ties == "expected":
        unjudged = with_ties(placements, run, precision, conventions.depth)
        if holes is not None:
            unjudged = replace(unjudged, lost=holes.lost)
    else:
        placements, unjudged, is_far = ranked, as_placed(ranked), isinstance(run.rows, UnreadRows)
    find = None if is_far else partial(unjudged_documents, qrels, run, precision)
    return lambda measure: PlacedBounds(measure, placements, unjudged, top, find)


def score_of(
    measure: Measure, placements: Placements, ranked: Placements, conventions: Conventions, qrels: Qrels | None
) -> Scores:
    """Return the scores of one measure; `ranked` are the placements after the tie policy."""
    spread = TieSpread(measure, placements, conventions.no_relevant)
    return _counting(spread, spread.of(ranked), conventions, qrels)


def _counting(spread: TieSpread, values: FloatArray, conventions: Conventions, qrels: Qrels | None) -> Scores:
    """Return scores without the values of queries that do not count."""
    ids = spread.placements.query_ids
    if conventions.no_relevant == "skip":
        values = np.where(spread.has_relevant, values, np.nan)
    elif conventions.no_relevant is None and qrels and qrels.unanswerable and spread.measure.asks_for_relevant:
        values = np.where(members(ids, np.array(qrels.unanswerable, object)), np.nan, values)
    return Scores(spread.measure, ids, values, spread)
