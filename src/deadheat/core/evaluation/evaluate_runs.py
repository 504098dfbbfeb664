"""From qrels and runs that were read to exact scores by query: the numbers, without reading and without warnings.

Some costs of a run do not depend on its size: joins, and calls of each measure. So several runs are placed and scored
as one run, which has the queries of all of them, where :func:`_can_be_evaluated_together` allows it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from deadheat.core.arrays import BoolArray, FloatArray, is_member
from deadheat.core.data.chunk_doubts import describe_chunks
from deadheat.core.data.doubts import describe_negative_labels
from deadheat.core.data.judging import find_kind_of_qrels
from deadheat.core.data.qrels import Qrels
from deadheat.core.data.run import Run
from deadheat.core.data.similar_ids import list_similar_ids
from deadheat.core.errors import Advice, DataError, ParameterError
from deadheat.core.evaluation.evaluation import Evaluation
from deadheat.core.evaluation.modes import Mode, Placed, modes_on
from deadheat.core.evaluation.scores import Scores
from deadheat.core.evaluation.tie_spread import TieSpread
from deadheat.core.evaluation.together import check_asked, feature_of
from deadheat.core.measures import Measure
from deadheat.core.measures.selection import set_rel
from deadheat.core.phases import phase
from deadheat.core.placements import policies
from deadheat.core.placements.place import Engine, choose_engine
from deadheat.core.placements.placements import Placements
from deadheat.core.random_generators import Rng
from deadheat.core.settings import Conventions
from deadheat.core.wording import format_count, format_list

MOST_TOGETHER = 64  # runs that are placed together; the next ones use the memory of their columns again


def evaluate_many(
    conventions: Conventions,
    qrels: Qrels,
    runs: Sequence[Run],
    measures: Sequence[Measure],
    rngs: Sequence[Rng] | None = None,
    *,
    rule: str | None = None,
) -> Iterator[tuple[Evaluation, list[FloatArray]]]:
    """Evaluate runs, each with the result of :func:`evaluate_under`; runs with rows in memory are evaluated together.

    Parameters
    ----------
    conventions : Conventions
    qrels : Qrels
    runs : sequence of Run
    measures : sequence of Measure
    rngs : sequence of numpy.random.Generator or int, optional
        For ``ties="random"``, one for each run.
    rule : {"doc_id", "input"}, optional
        A second way to break ties, for `values_by_rule`.

    Yields
    ------
    evaluation : Evaluation
    values_by_rule : list of ndarray of float, shape (n_queries,)
        The values of each measure if the rule breaks the ties, NaN for queries that do not count; empty without a rule.
    """
    measures = find_kind_of_qrels(qrels).as_judged(measures)
    check_conventions(conventions, qrels, measures)
    if _can_be_evaluated_together(conventions, qrels, runs, measures):
        for first in range(0, len(runs), MOST_TOGETHER):
            yield from _evaluate_together(conventions, qrels, runs[first : first + MOST_TOGETHER], measures, rule)
        return
    for run, rng in zip(runs, rngs or [None] * len(runs), strict=True):
        if rule is None:
            yield evaluate_under(conventions, qrels, run, measures, rng), []
        else:
            yield _evaluate_with_rule(conventions, qrels, run, measures, rng, rule=rule)


def _can_be_evaluated_together(
    conventions: Conventions, qrels: Qrels, runs: Sequence[Run], measures: Sequence[Measure]
) -> bool:
    """Tell whether there are several runs, in which each query's values depend on its own rows and judgments alone."""
    if len(runs) < 2 or conventions.depth is not None or conventions.judged_only:
        return False
    from deadheat.core.measures.orders import OrdersMeasure  # for several runs
    from deadheat.core.placements.stacked_runs import can_be_stacked

    if conventions.ties == "random" or any(isinstance(measure, OrdersMeasure) for measure in measures):
        return False  # each run has random numbers of its own
    if any(measure.only_total for measure in measures):
        return False  # such a measure looks at all queries at once
    if any(modes_on(conventions, qrels, run) for run in runs):
        return False
    return can_be_stacked(qrels, runs)


def _evaluate_with_rule(
    conventions: Conventions, qrels: Qrels, run: Run, measures: Sequence[Measure], rng: Rng, *, rule: str
) -> tuple[Evaluation, list[FloatArray]]:
    """Evaluate one run; return the evaluation and the values by a rule, as :func:`evaluate_many` yields them."""
    policies.check_row_order(run, rule)
    engine = choose_engine(qrels, run, conventions.score_precision, rule=rule)
    engine = shorten_lists(conventions, engine, measures, rng, modes_on(conventions, qrels, run))
    evaluation = evaluate_under(conventions, qrels, run, measures, rng, engine=engine)
    ranked = policies.break_by_rule(evaluation.placements, engine, rule)
    return evaluation, [_values_after(scores, ranked) for scores in evaluation]


def _values_after(scores: Scores, ranked: Placements) -> FloatArray:
    """Return the values of other placements of the same run, NaN for queries that do not count."""
    return np.where(scores.kept, scores.spread.of(ranked), np.nan)


def _evaluate_together(
    conventions: Conventions, qrels: Qrels, runs: Sequence[Run], measures: Sequence[Measure], rule: str | None
) -> Iterator[tuple[Evaluation, list[FloatArray]]]:
    """Place runs as one, and yield the evaluation of each as :func:`evaluate_many` does."""
    from deadheat.core.placements.stacked_runs import StackedRunsEngine  # for several runs

    engine = StackedRunsEngine(qrels, runs, conventions.score_precision)
    with phase("placing runs"):
        placements = engine.place()
    ranked = policies.apply(placements, conventions.ties, None, engine)
    ranked_by_rule = None
    if rule is not None:
        ranked_by_rule = policies.break_by_rule(placements, engine, rule)
    with phase("evaluating runs"):
        scores_of_all = []
        for measure in set_rel(measures, conventions.rel):
            scores_of_all.append(make_scores(measure, placements, ranked, conventions, qrels))
        values_by_rule = []
        if ranked_by_rule is not None:
            values_by_rule = [_values_after(scores, ranked_by_rule) for scores in scores_of_all]
    n_queries = placements.n_queries // len(runs)
    for number, run in enumerate(runs):
        rows = slice(number * n_queries, (number + 1) * n_queries)
        placed = replace(placements.part(rows.start, rows.stop), unjudged_queries=engine.unjudged[number])
        is_absent = find_absent(run, placed)
        absent = list_absent(conventions, run, placed, is_absent)
        scores_of_run = []
        for scores in scores_of_all:
            scores_of_run.append(replace(scores, query_ids=placed.query_ids, values=scores.values[rows], rows=rows))
        values_of_run = [values[rows] for values in values_by_rule]
        if conventions.missing == "skip" and absent:
            is_present = ~is_absent
            scores_of_run = [scores.select(is_present) for scores in scores_of_run]
            values_of_run = [values[is_present] for values in values_of_run]
            placed = placed.select(is_present)
        yield make_evaluation(conventions, qrels, run, placed, scores_of_run, absent), values_of_run


def evaluate_under(
    conventions: Conventions,
    qrels: Qrels,
    run: Run,
    measures: Sequence[Measure],
    rng: Rng = None,
    *,
    engine: Engine | None = None,
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
    """
    measures = find_kind_of_qrels(qrels).as_judged(measures)
    check_conventions(conventions, qrels, measures)
    modes = modes_on(conventions, qrels, run)
    for mode in modes:
        conventions = mode.prepare(conventions, qrels, run)
    ties = conventions.ties
    policies.check_row_order(run, ties)
    if engine is None:
        rule = ties if ties in policies.LOOK_AT_RUN else None
        engine = choose_engine(qrels, run, conventions.score_precision, rule=rule)
    engine = shorten_lists(conventions, engine, measures, rng, modes)
    with phase(f"placing {run.name}"):
        placements = engine.place()
    is_absent = find_absent(run, placements)
    absent = list_absent(conventions, run, placements, is_absent)
    if conventions.missing == "skip":
        placements = placements.select(~is_absent)
    ranked = policies.apply(placements, ties, rng, engine)
    with phase(f"evaluating {run.name}"):
        scores = []
        for measure in set_rel(measures, conventions.rel):
            scores.append(make_scores(measure, placements, ranked, conventions, qrels))
        for mode in modes:
            scores = mode.finish(scores, Placed(conventions, qrels, run, placements, ranked))
    return make_evaluation(conventions, qrels, run, placements, scores, absent)


def check_conventions(conventions: Conventions, qrels: Qrels, measures: Sequence[Measure]) -> None:
    """Raise `ParameterError` for conventions that do not go with the kind of judgments or with a measure."""
    if qrels.judging_rule is not None:
        check_asked(vars(conventions), [feature_of(qrels.judging_rule.kind)])
    check_measures(conventions, measures)


def check_measures(conventions: Conventions, measures: Sequence[Measure]) -> None:
    """Raise `ParameterError` if ``no_relevant="one"`` is asked for with a measure whose best value is not 1."""
    if conventions.no_relevant != "one":
        return
    for measure in measures:
        if measure.asks_for_relevant and not measure.is_share:
            raise ParameterError(
                f"is for measures from 0 to 1, the best, which {measure.label} is not",
                argument="no_relevant",
                given="one",
                hint=Advice("no_relevant", "skip", when=f"to leave such queries out of {measure.label}, too, "),
            )


def find_absent(run: Run, placements: Placements) -> BoolArray:
    """Tell which queries a run lacks, of shape (n_queries,).

    A query that was given with an empty list is not absent: it was asked, and nothing was found for it.
    """
    if not run.bare:
        return placements.lacking
    return placements.lacking & ~is_member(placements.query_ids, np.array(run.bare, object))


def list_absent(conventions: Conventions, run: Run, placements: Placements, is_absent: BoolArray) -> tuple[str, ...]:
    """Return the queries that a run lacks; raise if that is to be an error."""
    absent = tuple(placements.query_ids[is_absent].tolist())
    if absent and conventions.missing == "error":
        queries = format_count(placements.n_queries, "query", "queries")
        listed = format_list([repr(query_id) for query_id in absent])
        raise DataError(f"{run.where} lacks {len(absent)} of {queries} of the qrels: {listed}")
    return absent


def make_evaluation(  # noqa: PLR0917 - an evaluation has so many parts
    conventions: Conventions,
    qrels: Qrels,
    run: Run,
    placements: Placements,
    scores: Sequence[Scores],
    absent: tuple[str, ...],
) -> Evaluation:
    """Return the evaluation of a run that has been placed and scored, with notes on the ids and the labels."""
    notes_on_ids = list_similar_ids(qrels.rows, run.rows, absent, placements.unjudged_queries)
    if placements.is_unmatched:
        notes_on_ids += tuple(filter(None, [describe_chunks(qrels, run)]))
    notes = [*qrels.notes, *run.notes]
    notes += _note_of_empty_lists(run, placements)
    notes += describe_negative_labels(placements.judged_relevance, qrels.source_form)
    notes += notes_on_ids
    return Evaluation(
        scores,
        name=run.name,
        query_ids=placements.query_ids,
        conventions=conventions,
        missing_queries=absent,
        unjudged_queries=placements.unjudged_queries,
        placements=placements,
        qrels=qrels,
        notes=tuple(notes),
        alike=notes_on_ids,
        run=run,
    )


def _note_of_empty_lists(run: Run, placements: Placements) -> list[str]:
    """Return a note that lists the judged queries with an empty list of results; no note if there are none."""
    if not run.bare:
        return []
    empty = sorted(set(run.bare).intersection(placements.query_ids.tolist()))
    if not empty:
        return []
    queries = format_count(len(empty), "query", "queries")
    return [f"{queries} with an empty list of results ({format_list(empty)})"]


def shorten_lists(
    conventions: Conventions,
    engine: Engine,
    measures: Sequence[Measure],
    rng: Rng = None,
    modes: Sequence[Mode] = (),
) -> Engine:
    """Return an engine that shortens lists if conventions have a depth or judged_only; else the same engine.

    Parameters
    ----------
    conventions : Conventions
    engine : Engine
    measures : sequence of Measure
        Those that will be computed: if all have a cutoff up to the depth, the depth may cut a tie.
    rng : numpy.random.Generator or int, optional
        For ``ties="random"``.
    modes : sequence of Mode, default ()
        The modes of the evaluation. With any mode, all ranks up to the depth count, whatever the cutoffs are.
    """
    if conventions.depth is None and not conventions.judged_only:
        return engine
    from deadheat.core.placements.shorter_lists import ShorteningEngine  # few evaluations cut lists

    if isinstance(engine, ShorteningEngine):
        return engine
    depths = [measure.deepest for measure in measures]
    deepest = None
    if not modes and None not in depths:
        deepest = max(depths, default=None)  # type: ignore[type-var]
    return ShorteningEngine(
        engine,
        depth=conventions.depth,
        judged_only=conventions.judged_only,
        ties=conventions.ties,
        rng=rng,
        deepest=deepest,
    )


def make_scores(
    measure: Measure, placements: Placements, ranked: Placements, conventions: Conventions, qrels: Qrels | None
) -> Scores:
    """Return the scores of one measure, with NaN for queries that do not count.

    Parameters
    ----------
    measure : Measure
    placements : Placements
    ranked : Placements
        The placements after the tie policy; the same object if the policy changes nothing.
    conventions : Conventions
    qrels : Qrels or None
        They say which queries are unanswerable.
    """
    spread = TieSpread(measure, placements, conventions.no_relevant)
    if ranked is placements:
        values = spread.mean
    else:
        values = spread.of(ranked)
    query_ids = placements.query_ids
    if conventions.no_relevant == "skip":
        values = np.where(spread.has_relevant, values, np.nan)
    elif conventions.no_relevant is None and qrels and qrels.unanswerable and measure.asks_for_relevant:
        is_unanswerable = is_member(query_ids, np.array(qrels.unanswerable, object))
        values = np.where(is_unanswerable, np.nan, values)
    return Scores(measure, query_ids, values, spread)
