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
from deadheat.core.data.kind_of_judgments import DOCUMENTS
from deadheat.core.data.qrels import Qrels
from deadheat.core.data.rows import MemoryRows
from deadheat.core.data.run import Run
from deadheat.core.data.sources import Source
from deadheat.core.errors import ColumnError, DataError, NotKeptError, ParameterError
from deadheat.core.evaluation.evaluate_runs import evaluate_under
from deadheat.core.evaluation.evaluation import UNKNOWN, Evaluation
from deadheat.core.evaluation.query_columns import Weights, source_of_weights
from deadheat.core.evaluation.reconciling import Rejudged
from deadheat.core.evaluation.shared_weights import name_source
from deadheat.core.evaluation.together import check_use, describe_kind
from deadheat.core.evaluation.warned import warn
from deadheat.core.io.files import check_path
from deadheat.core.io.records import Wanted, as_text, as_written, read_records
from deadheat.core.measures import Measure, NumRet
from deadheat.core.measures.custom import StoredMeasure
from deadheat.core.measures.notation import MeasureLike, parse_measures
from deadheat.core.placements.place import choose_engine
from deadheat.core.placements.top_rows import TopRows, TopRowsEngine
from deadheat.core.settings import ConventionArguments, Conventions
from deadheat.core.structures import copy_with
from deadheat.core.wording import format_count, format_list
from deadheat.plugins.bounds.ends import deepest_counted, has_ends

OLD_NEW = ("old", "new")
CUT = "of the ranking the first {:,} documents of each list are known"
Unknown: TypeAlias = dict[str, tuple[str, ...]]
RENAMED = Wanted(what="renamed ids", expected="a list of objects with old and new", number=as_written)


def rescored(
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
    if ids is not None and qrels is None:
        raise ParameterError("needs the judgments that have the new ids: give them too", argument="ids")
    if ids is not None and kind.retrieved != DOCUMENTS.retrieved:
        raise ParameterError(
            f"renames documents, and not those of {kind.retrieved}", argument="ids", hint="evaluate the run again"
        )
    if qrels is None:
        judgments = evaluation.qrels
    else:
        judgments = judgments_for(evaluation, cast("JudgesAgain", qrels) if judges_runs(qrels) else Qrels.of(qrels))
    run = evaluation.run if ids is None or evaluation.run is None else renamed(evaluation.run, ids)
    given: dict[str, Any] = {name: one for name, one in conventions.items() if (name, one) != ("missing", None)}
    if qrels is not None:
        judgments.check_duplicates()
    if "missing" not in given:
        judgments = _without(judgments, never_asked(evaluation, judgments))
    if measures is None:
        chosen = evaluation.measures
    else:
        chosen = kind.as_judged(parse_measures(measures))
    found, unknown = rescore(
        evaluation,
        judgments,
        chosen,
        replace(evaluation.conventions, **given),
        run,
    )
    _refuse_unknown(evaluation, unknown)
    if weights is None and queries is None:
        found = weighted_as(found, evaluation)
    else:
        found = found.weighted(weights, queries)
    if run is not None and qrels is not None and found.known_depth is None:  # what was cut may be judged
        warn({run.where: found}, judgments, {run.where: run}, missing=conventions.get("missing"))
    return found


def _refuse_unknown(evaluation: Evaluation, unknown: Unknown) -> None:
    """Raise `NotKeptError` if measures look at documents that were not kept."""
    if not unknown:
        return
    told = ", ".join(
        f"{name} ({format_count(len(own), 'query', 'queries')}: {format_list([*map(repr, own)])})"
        for name, own in unknown.items()
    )
    raise NotKeptError(
        f"{evaluation.name} was saved with too little of its ranking for {told}",
        queries=unknown,
        hint="leave these measures out, or evaluate the run again and save more of it (save_depth, --save-depth)",
    )


def judgments_for(evaluation: Evaluation, judgments: Qrels | JudgesAgain) -> Qrels:
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


def never_asked(evaluation: Evaluation, qrels: Qrels) -> set[str]:
    """Return the queries of newer judgments that an earlier evaluation has neither judgments nor a ranking for."""
    asked = {*evaluation.query_ids.tolist(), *evaluation.missing_queries, *evaluation.unjudged_queries}
    return {*qrels.in_order.queries["query_id"]} - asked


def _without(qrels: Qrels, queries: set[str]) -> Qrels:
    """Return judgments without those of some queries, unless these are all, and with a note that says so."""
    judged = {*qrels.to_polars()["query_id"].unique()}
    if not queries or judged <= queries:
        return qrels
    beside = [frame["query_id"].unique() for frame in qrels.beside().values()]
    kept = judged.union(qrels.bare, *beside) - queries
    return qrels.of_queries(
        dict(zip(kept, kept, strict=True)),
        f"queries left out, which the ranking was never asked: {format_list(sorted(queries))}",
    )


def weighted_as(evaluation: Evaluation, *others: Evaluation) -> Evaluation:
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
        pairs = pl.DataFrame(
            [[*map(as_text, held)] for held in (ids, ids.values())], schema=dict.fromkeys(OLD_NEW, pl.String)
        )
    else:
        if not isinstance(ids, str | Path):
            raise ParameterError(argument="ids", given=ids, allowed="a dict of old id to new, or the path of a table")
        path = check_path(ids)
        table = read_records(path, wanted=RENAMED).frame
        if not {*OLD_NEW} <= {*table.columns}:
            raise ColumnError(given=", ".join(table.columns), allowed="columns old and new", path=path)
        pairs = table.select(pl.col(OLD_NEW).cast(pl.String)).unique(maintain_order=True)
    wrong = pairs.filter(pairs["old"].is_duplicated() | pl.any_horizontal(pl.col(OLD_NEW).fill_null("") == ""))
    if len(wrong):
        raise DataError(
            "renames an id twice, or lacks one",
            found=", ".join(f"{old!r}: {new!r}" for old, new in wrong.head(3).rows()),
            allowed="one new id of each",
            path=path,
        )
    frame = run.to_polars()
    n_found = len(pairs.filter(pairs["old"].is_in(frame["doc_id"].implode())))
    if not n_found:
        raise DataError(
            f"none of the {len(pairs):,} old ids is in the ranking of {run.name}",
            hint="each row has the id in the ranking first, then that in the qrels",
            path=path,
        )
    new = pl.col("doc_id").replace(pairs["old"], pairs["new"])
    frame, failures = frame.with_columns(new), None if run.failures is None else run.failures.with_columns(new)
    held, note = run.rows, f"documents renamed in the ranking: {n_found:,} of {len(pairs):,}"
    rows = TopRows(frame, held.queries, held.depth) if isinstance(held, TopRows) else MemoryRows(frame)
    found = copy_with(run, rows=rows, failures=failures, notes=(*run.notes, note))
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
        Ties are broken at random, or the evaluation has a judge's labels.
    """
    run = run or evaluation.run
    if run is None:
        raise DataError(
            f"{evaluation.name} was {'saved' if evaluation.origin else 'made'} without its ranking, and cannot be"
            " scored again",
            hint="evaluate the run again, and save it with a depth above 0",
        )
    run.rows.check_same()
    if any(one.predicted is not None for one in evaluation):
        raise ParameterError(
            f"{evaluation.name} has a judge's labels, and cannot be scored again", hint="evaluate the run again"
        )
    if conventions.ties == "random":
        raise ParameterError(
            argument="ties", given="random", allowed="another policy: the order that was drawn is not known"
        )
    # of a function that is not in the file, or the judgments of an ontology, the values alone were kept
    lost: list[Measure] = []
    for measure in measures:
        is_by_ontology = evaluation.graded is not None and measure.by_ontology
        if is_by_ontology or isinstance(measure, StoredMeasure):
            lost.append(measure)
    engine = choose_engine(qrels, run, conventions.score_precision)
    found = evaluate_under(conventions, qrels, run, [one for one in measures if one not in lost], engine=engine)
    unknown: dict[Measure, BoolArray] = {one: np.full(len(found.query_ids), fill_value=True) for one in lost}
    if isinstance(engine, TopRowsEngine):
        unknown |= _lacking(found, engine.known)
    parts: dict[str, Any] = {"origin": evaluation.origin, "known_depth": evaluation.known_depth}
    if isinstance(engine, TopRowsEngine) and not engine.known["is_whole"].all():
        parts |= {"known_depth": engine.depth, "notes": (*found.notes, CUT.format(engine.depth))}
    queries = {one.label: tuple(found.query_ids[which].tolist()) for one, which in unknown.items()}
    return Evaluation((scores for scores in found if scores.measure not in unknown), **found.parts() | parts), queries


def _lacking(found: Evaluation, known: pl.DataFrame) -> dict[Measure, BoolArray]:
    """Return the measures that look at ranks that are not known, and of which queries.

    Parameters
    ----------
    found : Evaluation
        From the ranks that are known.
    known : polars.DataFrame
        query_id, is_whole and n_known, as `TopRowsEngine` has them.
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
    is_anywhere = found.run is not None and found.run.are_failures_open
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
        elif is_anywhere or (conventions.judged_only and isinstance(measure, NumRet)):
            is_open = ~is_whole
        lacking[measure] = is_open & ~is_whole
    return {measure: own for measure, own in lacking.items() if own.any()}


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
        allowing = replace(conventions, missing="empty") if conventions.missing == "error" else conventions
        judgments = judgments_for(evaluation, newest)
        rescored, unknown = rescore(evaluation.called(name), judgments, evaluation.measures, allowing)
        if _retrieves_judged(evaluation, evaluation.qrels) and not _retrieves_judged(rescored, judgments):
            raise _retrieves_none(name, reference, judgments)
        parts = rescored.parts() | {"conventions": conventions, "name": evaluation.name}
        rejudged[name] = weighted_as(Evaluation(rescored, **parts), evaluation, evaluations[reference])
        not_asked[name] = never_asked(evaluation, newest)
        for measure in evaluation.measures:
            if measure.label in unknown:
                left_out[measure] = None
    return Rejudged(rejudged, changes, tuple(left_out), not_asked)


def _retrieves_none(name: str, reference: str, judgments: Qrels) -> DataError:
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
