"""The same rankings under other judgments: scored again from what was kept."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias, cast

import numpy as np
import polars as pl

from deadheat.core import hooks
from deadheat.core.arrays import BoolArray
from deadheat.core.data.changes import compare_judgments
from deadheat.core.data.judging import JudgesAgain, find_kind, find_kind_of_qrels, judges_runs
from deadheat.core.data.kind_of_judgments import DOCUMENTS, KindOfJudgments
from deadheat.core.data.qrels import Qrels
from deadheat.core.data.run import Run
from deadheat.core.data.sources import Source
from deadheat.core.errors import DataError, NotKeptError, ParameterError
from deadheat.core.evaluation.evaluate_runs import evaluate_under
from deadheat.core.evaluation.evaluation import UNKNOWN, Evaluation
from deadheat.core.evaluation.query_columns import Weights, source_of_weights
from deadheat.core.evaluation.reconciling import Rejudged
from deadheat.core.evaluation.shared_weights import name_source
from deadheat.core.evaluation.together import check_use, describe_kind
from deadheat.core.evaluation.warned import warn
from deadheat.core.measures import Measure, NumRet
from deadheat.core.measures.custom import StoredMeasure
from deadheat.core.measures.notation import MeasureLike, parse_measures
from deadheat.core.placements.place import choose_engine
from deadheat.core.placements.top_rows import TopRowsEngine
from deadheat.core.settings import ConventionArguments, Conventions
from deadheat.core.wording import format_count, format_list
from deadheat.plugins.bounds.ends import deepest_counted, has_ends
from deadheat.plugins.weeks.renaming import rename_documents

CUT = "of the ranking the first {:,} documents of each list are known"
Unknown: TypeAlias = dict[str, tuple[str, ...]]


def rescore_evaluation(
    evaluation: Evaluation,
    qrels: Source | None,
    measures: MeasureLike | Iterable[MeasureLike] | None,
    ids: Mapping[str, str] | str | Path | None,
    conventions: ConventionArguments,
    *,
    weights: Weights | None = None,
    queries: Source | None = None,
) -> Evaluation:
    """Do what :meth:`Evaluation.rescored` does."""
    if evaluation.ties == UNKNOWN:  # there was no ranking
        check_use("rescore", [evaluation])
    kind = find_kind_of_qrels(evaluation.qrels)
    if ids is not None:
        _check_renames(kind, qrels)
    judgments = _read_judgments(evaluation, qrels)
    run = evaluation.run
    if ids is not None and run is not None:
        run = rename_documents(run, ids)
    changed_conventions = _select_given(conventions)
    if qrels is not None:
        judgments.check_duplicates()
    if "missing" not in changed_conventions:
        judgments = _drop_queries(judgments, find_unasked_queries(evaluation, judgments))
    if measures is None:
        chosen_measures = evaluation.measures
    else:
        chosen_measures = kind.as_judged(parse_measures(measures))
    new_conventions = replace(evaluation.conventions, **changed_conventions)
    rescored_evaluation, unknown = rescore(evaluation, judgments, chosen_measures, new_conventions, run)
    _refuse_unknown(evaluation, unknown)
    if weights is None and queries is None:
        rescored_evaluation = copy_weights(rescored_evaluation, evaluation)
    else:
        rescored_evaluation = rescored_evaluation.weighted(weights, queries)
    # with a known depth the list was cut, and a document behind it may be judged
    if run is not None and qrels is not None and rescored_evaluation.known_depth is None:
        warn({run.where: rescored_evaluation}, judgments, {run.where: run}, missing=conventions.get("missing"))
    return rescored_evaluation


def _check_renames(kind: KindOfJudgments, qrels: Source | None) -> None:
    """Raise `ParameterError` without new judgments, or where not documents are judged: these cannot be renamed."""
    if qrels is None:
        raise ParameterError("needs the judgments that have the new ids: give them too", argument="ids")
    if kind.retrieved != DOCUMENTS.retrieved:
        raise ParameterError(
            f"renames documents, and not those of {kind.retrieved}", argument="ids", hint="evaluate the run again"
        )


def _read_judgments(evaluation: Evaluation, qrels: Source | None) -> Qrels:
    """Return the judgments that were given, for the ranking of an evaluation; without any, its own."""
    if qrels is None:
        return evaluation.qrels
    if judges_runs(qrels):
        return adapt_judgments(evaluation, cast("JudgesAgain", qrels))
    return adapt_judgments(evaluation, Qrels.of(qrels))


def _select_given(conventions: ConventionArguments) -> dict[str, Any]:
    """Return the conventions that were given: `missing` is not if it is None."""
    given: dict[str, Any] = {}
    for name, value in conventions.items():
        if name != "missing" or value is not None:
            given[name] = value
    return given


def _refuse_unknown(evaluation: Evaluation, unknown: Unknown) -> None:
    """Raise `NotKeptError` if measures look at documents that were not kept."""
    if not unknown:
        return
    texts: list[str] = []
    for label, query_ids in unknown.items():
        n_queries = format_count(len(query_ids), "query", "queries")
        listed_queries = format_list([repr(query_id) for query_id in query_ids])
        texts.append(f"{label} ({n_queries}: {listed_queries})")
    raise NotKeptError(
        f"{evaluation.name} was saved with too little of its ranking for {', '.join(texts)}",
        queries=unknown,
        hint="leave these measures out, or evaluate the run again and save more of it (save_depth, --save-depth)",
    )


def adapt_judgments(evaluation: Evaluation, judgments: Qrels | JudgesAgain) -> Qrels:
    """Return judgments for the ranking of an evaluation: of another kind than documents, those of what it retrieved.

    Parameters
    ----------
    evaluation : Evaluation
    judgments : Qrels or JudgesAgain
        Qrels that judgments of another kind made are those of one run, which is another one perhaps.

    Raises
    ------
    DataError
        The two are of different kinds, or of a file that keeps too little of them.
    """
    before = find_kind_of_qrels(evaluation.qrels)
    now = find_kind_of_qrels(judgments) if isinstance(judgments, Qrels) else find_kind(judgments)
    before.check_known(evaluation.name)
    now.check_known("the reference")
    if before.what != now.what:
        judged_before = describe_kind(before)
        judged_now = describe_kind(now)
        hint = f"give {judged_before}"
        if before is DOCUMENTS:
            hint = f"evaluate a run of {now.retrieved} against the {judged_now}"
        raise DataError(
            f"{evaluation.name} has judgments of {judged_before}, and the new ones are of {judged_now}", hint=hint
        )
    if not isinstance(judgments, Qrels):
        return judgments.judge_again(evaluation.qrels)
    if judgments.judging_rule is not None:
        judgments = judgments.judging_rule.judge_again(judgments, evaluation.qrels)
    if evaluation.conventions.exclude is None:
        return judgments
    remaining: Qrels = hooks.service("exclude_again").exclude_again(judgments, evaluation.qrels)
    return remaining


def find_unasked_queries(evaluation: Evaluation, qrels: Qrels) -> set[str]:
    """Return the queries of newer judgments that an earlier evaluation has neither judgments nor a ranking for."""
    known_queries = {*evaluation.query_ids.tolist(), *evaluation.missing_queries, *evaluation.unjudged_queries}
    return set(qrels.in_order.queries["query_id"]) - known_queries


def _drop_queries(qrels: Qrels, queries: set[str]) -> Qrels:
    """Return judgments without those of some queries, unless these are all, and with a note that says so."""
    judged = set(qrels.to_polars()["query_id"].unique())
    if not queries or judged <= queries:
        return qrels
    # some queries have no judgment, and subtopics or the like alone
    all_queries = judged.union(qrels.bare, *(frame["query_id"].unique() for frame in qrels.beside().values()))
    new_id_of = {query_id: query_id for query_id in all_queries - queries}
    note = f"queries left out, which the ranking was never asked: {format_list(sorted(queries))}"
    return qrels.of_queries(new_id_of, note)


def copy_weights(evaluation: Evaluation, *others: Evaluation) -> Evaluation:
    """Return an evaluation whose queries have the weights that they have in others, if these have any."""
    weights: dict[str, float] = {}
    source = ""
    for other in others:
        if other.weights is not None:
            weights |= zip(other.query_ids.tolist(), other.weights.tolist(), strict=True)
            source = source_of_weights(other.notes)
    if not weights:
        return evaluation
    return name_source(evaluation.weighted(weights), source)


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
        Ties are broken at random, or the evaluation has a judge's labels.
    """
    run = run or evaluation.run
    if run is None:
        verb = "saved" if evaluation.origin else "made"
        raise DataError(
            f"{evaluation.name} was {verb} without its ranking, and cannot be scored again",
            hint="evaluate the run again, and save it with a depth above 0",
        )
    run.rows.check_same()
    if any(scores.predicted is not None for scores in evaluation):
        raise ParameterError(
            f"{evaluation.name} has a judge's labels, and cannot be scored again", hint="evaluate the run again"
        )
    if conventions.ties == "random":
        raise ParameterError(
            argument="ties", given="random", allowed="another policy: the order that was drawn is not known"
        )
    lost_measures = [measure for measure in measures if _is_lost(evaluation, measure)]
    known_measures = [measure for measure in measures if measure not in lost_measures]
    engine = choose_engine(qrels, run, conventions.score_precision)
    scored = evaluate_under(conventions, qrels, run, known_measures, engine=engine)
    is_unknown_by: dict[Measure, BoolArray] = {}
    for measure in lost_measures:
        is_unknown_by[measure] = np.full(len(scored.query_ids), fill_value=True)
    parts: dict[str, Any] = {"origin": evaluation.origin, "known_depth": evaluation.known_depth}
    if isinstance(engine, TopRowsEngine):
        is_unknown_by |= _find_unknown(scored, engine.known)
        if not engine.known["is_whole"].all():
            parts["known_depth"] = engine.depth
            parts["notes"] = (*scored.notes, CUT.format(engine.depth))
    unknown: Unknown = {}
    for measure, is_unknown in is_unknown_by.items():
        unknown[measure.label] = tuple(scored.query_ids[is_unknown].tolist())
    known_scores = (scores for scores in scored if scores.measure not in is_unknown_by)
    return Evaluation(known_scores, **scored.parts() | parts), unknown


def _is_lost(evaluation: Evaluation, measure: Measure) -> bool:
    """Tell whether the values alone were kept: of a function that is not in the file, or judgments of an ontology."""
    if isinstance(measure, StoredMeasure):
        return True
    return evaluation.graded is not None and measure.by_ontology


def _find_unknown(evaluation: Evaluation, known: pl.DataFrame) -> dict[Measure, BoolArray]:
    """Return the measures that look at ranks that are not known, and of which queries.

    Parameters
    ----------
    evaluation : Evaluation
        From the ranks that are known.
    known : polars.DataFrame
        query_id, is_whole and n_known, as `TopRowsEngine` has them.
    """
    placements = evaluation.placements
    conventions = evaluation.conventions
    queries = pl.DataFrame({"query_id": evaluation.query_ids.tolist()}, schema={"query_id": pl.String})
    known = queries.join(known, on="query_id", how="left", maintain_order="left")
    is_whole = known["is_whole"].fill_null(value=True).to_numpy()  # a query that the run lacks
    n_known = known["n_known"].fill_null(0).to_numpy()
    if conventions.depth is not None:
        is_whole = is_whole | (n_known >= conventions.depth)
    has_bounds = conventions.unjudged == "bounds"
    if not has_bounds:  # where all that is judged is found, nothing else is to be known
        n_found = np.bincount(placements.query, minlength=len(n_known))
        n_judged = np.bincount(placements.judged_query, minlength=len(n_known))
        is_whole = is_whole | (n_found == n_judged)
    if conventions.judged_only:
        n_known = placements.n_retrieved
    reaching = replace(placements, n_retrieved=np.where(is_whole, placements.n_retrieved, n_known + 1))
    are_failures_open = evaluation.run is not None and evaluation.run.are_failures_open
    unknown: dict[Measure, BoolArray] = {}
    for measure in evaluation.measures:
        # looks at a document behind those that are known
        is_open = n_known < measure.looked_at(reaching)
        if has_bounds and has_ends(measure):
            is_open = n_known < (deepest_counted(measure) or np.inf)
        elif are_failures_open or (conventions.judged_only and isinstance(measure, NumRet)):
            is_open = ~is_whole
        is_unknown = is_open & ~is_whole
        if is_unknown.any():
            unknown[measure] = is_unknown
    return unknown


def rescore_others(evaluations: Mapping[str, Evaluation], reference: str, others: Mapping[str, Evaluation]) -> Rejudged:
    """Score the other rankings under the judgments of the reference; return also what cannot be compared then."""
    newest = evaluations[reference].qrels
    rejudged = dict(evaluations)
    changes = {}
    left_out: dict[Measure, None] = {}
    not_asked = {}
    for name, evaluation in others.items():
        changes[name] = compare_judgments(evaluation.qrels, newest)
        conventions = evaluation.conventions
        allowing = conventions
        if conventions.missing == "error":  # newer judgments may have queries that the run was never asked
            allowing = replace(conventions, missing="empty")
        judgments = adapt_judgments(evaluation, newest)
        rescored, unknown = rescore(evaluation.called(name), judgments, evaluation.measures, allowing)
        if _retrieves_judged(evaluation, evaluation.qrels) and not _retrieves_judged(rescored, judgments):
            raise _make_nothing_judged_error(name, reference, judgments)
        parts = rescored.parts() | {"conventions": conventions, "name": evaluation.name}
        rejudged[name] = copy_weights(Evaluation(rescored, **parts), evaluation, evaluations[reference])
        not_asked[name] = find_unasked_queries(evaluation, newest)
        for measure in evaluation.measures:
            if measure.label in unknown:
                left_out[measure] = None
    return Rejudged(rejudged, changes, tuple(left_out), not_asked)


def _make_nothing_judged_error(name: str, reference: str, judgments: Qrels) -> DataError:
    """Return the error of a ranking of which nothing is judged any more."""
    rule = judgments.judging_rule
    if rule is not None:
        return DataError(
            rule.describe_unknown(name, reference), hint="if documents have new ids, evaluate the run again"
        )
    return DataError(
        f"no document that {name} retrieved is judged any more by the judgments of {reference}",
        hint="if documents have new ids, use deadheat rescore --ids",
    )


def _retrieves_judged(evaluation: Evaluation, judgments: Qrels) -> bool:
    """Tell whether a retrieved document is judged, or known to judgments of another kind."""
    if judgments.judging_rule is None:
        return len(evaluation.placements.query) > 0
    return judgments.judging_rule.knows_any(judgments)
