"""From qrels and a run to exact scores by query: evaluate(), and what commands share with it.

What a run costs however small it is (joins, calls of each measure) is paid once for runs that are evaluated together:
they are placed and scored as one run with the queries of all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Unpack, cast, overload

import numpy as np

from deadheat.core import hooks
from deadheat.core.arrays import BoolArray, FloatArray, is_member
from deadheat.core.checks import by_name
from deadheat.core.data.document_table import DocumentTable
from deadheat.core.data.doubts import describe_negative_labels
from deadheat.core.data.judging import JudgesRuns, find_kind, judges_runs
from deadheat.core.data.qrels import Qrels
from deadheat.core.data.rounding import ScorePrecision
from deadheat.core.data.run import Run
from deadheat.core.data.similar_ids import list_similar_ids
from deadheat.core.data.sources import Source, as_path
from deadheat.core.errors import Advice, DataError, ParameterError
from deadheat.core.evaluation.evaluation import Evaluation
from deadheat.core.evaluation.evaluations import Evaluations
from deadheat.core.evaluation.modes import Mode, Placed, modes_on
from deadheat.core.evaluation.query_columns import Weights
from deadheat.core.evaluation.scores import Scores
from deadheat.core.evaluation.systems import System, are_runs, find_systems, is_system
from deadheat.core.evaluation.tie_spread import TieSpread
from deadheat.core.evaluation.together import check_asked, feature_named, feature_of
from deadheat.core.evaluation.warned import warn, warn_of_one_table
from deadheat.core.io.splitting import group_in_pieces
from deadheat.core.measures import Measure
from deadheat.core.measures.notation import Measures, parse_measures
from deadheat.core.measures.orders import OrdersMeasure
from deadheat.core.measures.selection import measures_under, set_rel
from deadheat.core.phases import phase
from deadheat.core.placements import policies
from deadheat.core.placements.place import Engine, choose_engine, judgments_beside, open_pair
from deadheat.core.placements.placements import Placements
from deadheat.core.plugin_records import Feature
from deadheat.core.random_generators import Rng
from deadheat.core.settings import ConventionArguments, Conventions
from deadheat.core.wording import format_count, format_list

MOST_TOGETHER = 64  # runs that are placed together: their columns are memory that is used again


def evaluate_many(
    conventions: Conventions,
    qrels: Qrels,
    runs: Sequence[Run],
    measures: Sequence[Measure],
    rngs: Sequence[Rng] | None = None,
    *,
    rule: str | None = None,
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

    Yields
    ------
    evaluation : Evaluation
    by_rule : list of ndarray of float, shape (n_queries,)
        The values of each measure under the rule, NaN for queries that do not count; empty without a rule.
    """
    check_conventions(conventions, qrels, measures)
    are_whole = conventions.depth is None and not conventions.judged_only
    is_drawn = conventions.ties == "random" or any(isinstance(one, OrdersMeasure) for one in measures)
    are_of_queries = not any(one.only_total for one in measures)  # others look at all queries at once
    are_in_modes = any(modes_on(conventions, qrels, run) for run in runs)
    can_share = len(runs) > 1 and are_whole and not is_drawn and are_of_queries and not are_in_modes
    if can_share:
        from deadheat.core.placements.stacked_runs import can_be_stacked  # for several runs

        if can_be_stacked(qrels, runs):
            for first in range(0, len(runs), MOST_TOGETHER):
                yield from _together(conventions, qrels, runs[first : first + MOST_TOGETHER], measures, rule)
            return
    for run, rng in zip(runs, rngs or [None] * len(runs), strict=True):
        if rule:
            policies.check_row_order(run, rule)
        engine = choose_engine(qrels, run, conventions.score_precision)
        if rule:
            engine = engine_under(conventions, engine, measures, rng, modes_on(conventions, qrels, run))
        found = evaluate_under(conventions, qrels, run, measures, rng, engine=engine)
        ranked = policies.break_by_rule(found.placements, engine, rule) if rule else None
        yield found, [] if ranked is None else [np.where(own.kept, own.spread.of(ranked), np.nan) for own in found]


def _together(
    conventions: Conventions, qrels: Qrels, runs: Sequence[Run], measures: Sequence[Measure], rule: str | None
) -> Iterator[tuple[Evaluation, list[FloatArray]]]:
    from deadheat.core.placements.stacked_runs import StackedRunsEngine  # for several runs

    engine = StackedRunsEngine(qrels, runs, conventions.score_precision)
    with phase("placing runs"):
        placements = engine.place()
    ranked = policies.apply(placements, conventions.ties, None, engine)
    by_rule = policies.break_by_rule(placements, engine, rule) if rule else None
    with phase("evaluating runs"):
        scores = [score_of(one, placements, ranked, conventions, qrels) for one in set_rel(measures, conventions.rel)]
        ruled = [] if by_rule is None else [np.where(one.kept, one.spread.of(by_rule), np.nan) for one in scores]
    n_queries = placements.n_queries // len(runs)
    for n, run in enumerate(runs):
        rows = slice(n * n_queries, (n + 1) * n_queries)
        placed = replace(placements.part(rows.start, rows.stop), unjudged_queries=engine.unjudged[n])
        is_absent = absent_queries(run, placed)
        lacking = lacking_of(conventions, run, placed, is_absent)
        own = [replace(one, query_ids=placed.query_ids, values=one.values[rows], rows=rows) for one in scores]
        values = [one[rows] for one in ruled]
        if conventions.missing == "skip" and lacking:
            keep = ~is_absent
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
    check_conventions(conventions, qrels, measures)
    modes = modes_on(conventions, qrels, run)
    for mode in modes:
        conventions = mode.prepare(conventions, qrels, run)
    ties = conventions.ties
    policies.check_row_order(run, ties)
    engine = engine or choose_engine(qrels, run, conventions.score_precision)
    engine = engine_under(conventions, engine, measures, rng, modes)
    with phase(f"placing {run.name}"):
        placements = engine.place()
    is_absent = absent_queries(run, placements)
    lacking = lacking_of(conventions, run, placements, is_absent)
    if conventions.missing == "skip":
        placements = placements.select(~is_absent)
    ranked = policies.apply(placements, ties, rng, engine)
    with phase(f"evaluating {run.name}"):
        own = set_rel(measures, conventions.rel)
        scores = [score_of(measure, placements, ranked, conventions, qrels) for measure in own]
        for mode in modes:
            scores = mode.finish(scores, Placed(conventions, qrels, run, placements, ranked))
    return evaluation_of(conventions, qrels, run, placements, scores, lacking)


def check_conventions(conventions: Conventions, qrels: Qrels, measures: Sequence[Measure]) -> None:
    """Raise `ParameterError` for conventions that do not go with the kind of the judgments, or with measures."""
    if qrels.judging_rule is not None:
        check_asked(vars(conventions), [feature_of(qrels.judging_rule.kind)])
    check_measures(conventions, measures)


def check_measures(conventions: Conventions, measures: Sequence[Measure]) -> None:
    """Raise `ParameterError` if queries without a relevant document are to score 1 by a measure that is no share."""
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


def absent_queries(run: Run, placements: Placements) -> BoolArray:
    """Return which queries a run lacks; one that was given with an empty list was asked, and nothing was found."""
    if not run.bare:
        return placements.lacking
    return placements.lacking & ~is_member(placements.query_ids, np.array(run.bare, object))


def lacking_of(conventions: Conventions, run: Run, placements: Placements, missing: BoolArray) -> tuple[str, ...]:
    """Return the queries that a run lacks; raise if that is to be an error."""
    lacking = tuple(placements.query_ids[missing].tolist())
    if lacking and conventions.missing == "error":
        raise DataError(
            f"{run.where} lacks {len(lacking)} of {format_count(placements.n_queries, 'query', 'queries')} of the"
            f" qrels: {format_list([*map(repr, lacking)])}"
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
    found = list_similar_ids(qrels.rows, run.rows, lacking, placements.unjudged_queries)
    return Evaluation(
        scores,
        name=run.name,
        query_ids=placements.query_ids,
        conventions=conventions,
        missing_queries=lacking,
        unjudged_queries=placements.unjudged_queries,
        placements=placements,
        qrels=qrels,
        notes=(
            *qrels.notes,
            *run.notes,
            *_note_of_empty_lists(run, placements),
            *describe_negative_labels(placements.judged_relevance, qrels.source_form),
            *found,
        ),
        alike=found,
        run=run,
    )


def _note_of_empty_lists(run: Run, placements: Placements) -> list[str]:
    """Return the note on the judged queries that were given with an empty list of results; none without any."""
    if not run.bare:
        return []
    empty = sorted(set(run.bare).intersection(placements.query_ids.tolist()))
    if not empty:
        return []
    return [f"{format_count(len(empty), 'query', 'queries')} with an empty list of results ({format_list(empty)})"]


def engine_under(
    conventions: Conventions,
    engine: Engine,
    measures: Sequence[Measure],
    rng: Rng = None,
    modes: Sequence[Mode] = (),
) -> Engine:
    """Return the engine, with the lists shortened as conventions say.

    Parameters
    ----------
    conventions : Conventions
    engine : Engine
    measures : sequence of Measure
        What its placements are for: those that look at no more than the depth may be had where it cuts a tie.
    rng : numpy.random.Generator or int, optional
        For ``ties="random"``.
    modes : sequence of Mode, default ()
        What the run is evaluated in; in any of them all ranks up to the depth count.
    """
    if conventions.depth is None and not conventions.judged_only:
        return engine
    from deadheat.core.placements.shorter_lists import ShorteningEngine  # few evaluations cut lists

    if isinstance(engine, ShorteningEngine):
        return engine
    depths = [one.deepest for one in measures]
    are_all_needed = None in depths or bool(modes)
    return ShorteningEngine(
        engine,
        depth=conventions.depth,
        judged_only=conventions.judged_only,
        ties=conventions.ties,
        rng=rng,
        deepest=None if are_all_needed else max(depths, default=None),  # type: ignore[type-var]
    )


def score_of(
    measure: Measure, placements: Placements, ranked: Placements, conventions: Conventions, qrels: Qrels | None
) -> Scores:
    """Return the scores of one measure; `ranked` are the placements after the tie policy."""
    spread = TieSpread(measure, placements, conventions.no_relevant)
    return _counting(spread, spread.mean if ranked is placements else spread.of(ranked), conventions, qrels)


def _counting(spread: TieSpread, values: FloatArray, conventions: Conventions, qrels: Qrels | None) -> Scores:
    """Return scores without the values of queries that do not count."""
    ids = spread.placements.query_ids
    if conventions.no_relevant == "skip":
        values = np.where(spread.has_relevant, values, np.nan)
    elif conventions.no_relevant is None and qrels and qrels.unanswerable and spread.measure.asks_for_relevant:
        values = np.where(is_member(ids, np.array(qrels.unanswerable, object)), np.nan, values)
    return Scores(spread.measure, ids, values, spread)


class EvaluationArguments(ConventionArguments, total=False):
    """The keyword arguments of :func:`evaluate`, for type checkers."""

    rng: Rng
    check_duplicates: bool
    ascending: bool
    then_by: Source | Sequence[Source] | None
    collection: Source | None
    strict: bool
    normalize_ids: str | None
    weights: Weights | None
    queries: Source | None
    judge: Source | None


@overload
def evaluate(  # type: ignore[overload-overlap]  # a dict of runs is a source too, for who has only `object`
    qrels: Source, run: Mapping[str, Run | Path], measures: Measures = None, **options: Unpack[EvaluationArguments]
) -> Evaluations: ...


@overload
def evaluate(
    qrels: Source, run: Source, measures: Measures = None, **options: Unpack[EvaluationArguments]
) -> Evaluation: ...


def evaluate(
    qrels: Source,
    run: Source,
    measures: Measures = None,
    *,
    ties: str = "expected",
    rng: Rng = None,
    missing: str | None = None,
    no_relevant: str | None = None,
    score_precision: ScorePrecision = None,
    check_duplicates: bool = True,
    ascending: bool = False,
    then_by: Source | Sequence[Source] | None = None,
    rel: float | None = None,
    judged_only: bool = False,
    depth: int | None = None,
    unjudged: str = "zero",
    unjudged_max_rel: float | None = None,
    collection: Source | None = None,
    strict: bool = False,
    normalize_ids: str | None = None,
    weights: Weights | None = None,
    queries: Source | None = None,
    judge: Source | None = None,
) -> Evaluation | Evaluations:
    """Evaluate a run against relevance judgments, exactly where scores tie.

    Parameters
    ----------
    qrels : path, dict of dict, dataframe or Qrels
        Columns query_id, doc_id, relevance; or ``{query_id: {doc_id: relevance}}``.
    run : path, dict, dataframe or Run
        Columns query_id, doc_id, score; or ``{query_id: {doc_id: score}}``; or ranked lists ``{query_id: [doc_id]}``.
        Or several by name: ``{"bm25": run, "dense": other}``, where each is a `Run`, a path, a dataframe or a dict. A
        system that was run several times is :class:`Repeats`, or a table with a column ``repeat``.
    measures : measure or iterable of measures, optional
        Measures or their notation; by default nDCG@10, AP, RR, P@10 and R@100. Results have the names that are written
        here: ``"MAP"`` stays MAP, though its notation is AP.
    ties : {"expected", "best", "worst", "doc_id", "input", "random"}, default "expected"
        How ties are scored: by the mean over their orders, the best or the worst order for the judged documents, the
        order of document ids (descending, as in trec_eval), that of the input, or one drawn with `rng`.
    rng : numpy.random.Generator or int, optional
        For ``ties="random"``; the same seed gives the same order.
    missing : {"empty", "skip", "error"}, default "empty"
        Queries of the qrels that the run lacks count as empty rankings, are left out, or are an error. If `missing` is
        not given and the run lacks more than half of the queries, a `DeadheatWarning` names them.
    no_relevant : {"zero", "skip", "one", "correct_if_empty"}, optional
        Queries without a relevant document score 0 (for MR and FRP their worst value), or are left out. With "one" they
        score 1, as LightGBM and XGBoost have it, which is for measures from 0 to 1 only; with "correct_if_empty" those
        measures score 1 if nothing is retrieved for them. By default they score 0, but queries that the qrels
        call unanswerable (``answerable=False``) count only in measures that look for nothing relevant, such as
        `Abstain`, which reports them apart, `Judged` and `NumRet`.
    score_precision : {"float32", "float16", "bfloat16"} or int, optional
        Round all scores first, to a floating-point format or to this many decimals.
    check_duplicates : bool, default True
        Whether to look for (query, document) pairs that a run has twice. Without it, such a pair is an error only if
        the document is judged. Judgments are always looked at: those that come twice with one relevance are merged,
        and `notes` say so; with two they are an error.
    ascending : bool, default False
        Lower scores rank first, as of distances.
    then_by : run or list of runs, optional
        Ties are ordered by the scores of this run, then by those of the next, as of the first stage whose results were
        reranked; what still ties is averaged. A text that names no file is another column of the run's table. A
        document that such a run lacks comes after all that it has; the notes of the evaluation say how many do.
    rel : float, optional
        Lowest relevance that counts as relevant, for every measure that has such a level and names no other: with
        ``rel=2``, P@5 is P(rel=2)@5. Gains stay as they are (trec_eval's -l).
    judged_only : bool, default False
        Whether unjudged documents are taken out of the lists first, those of negative relevance too: condensed lists
        (trec_eval's -J).
    depth : int, optional
        Look at so many documents of each list, and then take out unjudged ones (trec_eval's -M). Under
        ``ties="expected"`` the cut must not go through a tie with judged documents, unless all measures have a cutoff
        up to it, so that it makes no difference; under other policies they say which documents remain, and the range
        over tie orders is that of the remaining list.
    unjudged : {"zero", "bounds"}, default "zero"
        A document without a judgment has no gain. With "bounds", `Scores.unjudged_min` and `Scores.unjudged_max` are
        the least and the greatest value if each retrieved unjudged document had any relevance from 0 to a top, exact
        and attained; all rows of the run are read for it. Not for ``ties="best"`` and ``"worst"``, ``judged_only`` and
        ``no_relevant="skip"``: there, labels change the order, the lists or the queries that count.
    unjudged_max_rel : float, optional
        That top; by default the highest relevance in the qrels.
    collection : path, dataframe, mapping or iterable of ids, optional
        All documents that can be found: ids, ``{id: text}``, a `Collection`, a dataframe, or a file (a table with a
        column such as doc_id, an ontology, or one id a line). Relevant documents that are not in it give a warning.
    strict : bool, default False
        Whether they are an error.
    normalize_ids : {"NFC", "NFD", "NFKC", "NFKD"}, optional
        Read all ids, also those of `then_by`, `judge` and `collection`, in this form of Unicode. Without it, ids that
        differ in their form are different. Not for spans.
    weights : str or dict, optional
        How much each query counts in means, such as how often it is asked: a column of `queries`, or a dict of query_id
        to a number from 0 on. As for :meth:`Evaluation.weighted`; a `DeadheatWarning` names a query with more than a
        tenth of the weight.
    queries : path, frame or Queries, optional
        The table that has that column.
    judge : path, dict, dataframe, Qrels or Run, optional
        Labels of a judge, such as a language model; of a run the scores are the grades. They are of more queries than
        the qrels, which are a random sample of all: means and their intervals are estimated from both
        (prediction-powered inference, see :func:`compare`), `Scores.human_mean` and `Interval.alone` are those of the
        qrels, `Interval.judge_weight` and `Interval.n_effective` say what the judge adds, in each stratum by itself.
        Of fewer than 40 queries with human labels (by weight, worth fewer) all is as without the judge. With weights
        all of its queries need one. Not with clusters or repeats.

    Returns
    -------
    Evaluation
        For several runs a dict of them, by name.

    Raises
    ------
    DataError
        The data cannot be evaluated; the message names the place.
    MeasureError, ParameterError
        A measure or an option is unknown.

    Examples
    --------
    >>> qrels = {"q1": {"d1": 1}}
    >>> run = {"q1": {"d1": 0.5, "d2": 0.5}}
    >>> ev = evaluate(qrels, run, ["RR", "P@1"])
    >>> ev.means()
    {'RR': 0.75, 'P@1': 0.5}
    >>> float(ev["RR"].tie_min[0]), float(ev["RR"].tie_max[0])
    (0.5, 1.0)
    >>> {name: one.means() for name, one in evaluate(qrels, {"a": run, "b": {"q1": ["d1"]}}, "RR").items()}
    {'a': {'RR': 0.75}, 'b': {'RR': 1.0}}
    >>> evaluate(qrels, run, "RR", then_by={"q1": {"d1": 7, "d2": 9}}).means()
    {'RR': 0.5}
    """
    options: Any = {name: value for name, value in locals().items() if name in EvaluationArguments.__annotations__}
    if not judges_runs(qrels):
        run = find_systems(run, ascending=ascending)
    check_asked(options, features_given(qrels, run))
    if is_system(run):
        return _evaluate_system(qrels, run, measures, options)
    if isinstance(run, Mapping) and any(map(is_system, run.values())):
        each: dict[str, Any] = by_name((name, evaluate(qrels, one, measures, **options)) for name, one in run.items())
        return Evaluations({name: one.called(name) for name, one in each.items()})
    if judges_runs(qrels):
        return _evaluate_judged(qrels, run, measures, options)
    conventions = Conventions.of(options)
    chosen, given = parse_measures(measures), qrels
    labels = None if judge is None else hooks.service("judge").labels_of(judge, normalize_ids)
    evaluate_runs = evaluate_many if labels is None else labels.evaluate_many
    sources: dict[str, Source] = by_name(run.items()) if (is_several := are_runs(run, qrels)) else {"": run}
    judged: Qrels | None = None
    found = Evaluations()
    items = list(sources.items())
    for piece in group_in_pieces(items, lambda item: as_path(item[1])) if is_several else [items]:
        runs: list[Run] = []
        for name, source in piece:
            one = Run.of(source, ascending=ascending, name=name) if is_several else source
            judgments, read = open_pair(
                qrels if judged is None else judged,
                one,
                check_duplicates=check_duplicates,
                ascending=ascending and not is_several,  # it is read already
            )
            if judged is None:
                judged = checked(judgments.normalized(normalize_ids), collection, rel, strict=strict)
            keys, precision = keys_of(source, then_by), conventions.score_precision
            runs.append(read.normalized(normalize_ids).then_by(*keys, score_precision=precision))
        assert judged is not None  # noqa: S101 - a piece has a run
        evaluations = evaluate_runs(conventions, judged, runs, chosen, [rng] * len(runs))
        for (name, source), read, (evaluation, _) in zip(piece, runs, evaluations, strict=True):
            found[name] = evaluation if weights is None and queries is None else evaluation.weighted(weights, queries)
            warn({read.where: found[name]}, judged, {read.where: read}, missing=missing)
            warn_of_one_table(found[name], given, source)
    return found if is_several else found[""]


def features_given(qrels: Source, *runs: Source) -> list[Feature]:
    """Return the features that are known by what is given: the kind of judgments, and of systems of several runs."""
    kinds = dict.fromkeys(run.kind_of_system for run in runs if is_system(run))
    given = [feature_named(kind) for kind in kinds]
    if judges_runs(qrels):
        given.append(feature_of(find_kind(qrels)))
    return given


def _evaluate_system(qrels: Source, system: System, measures: Measures, options: EvaluationArguments) -> Evaluation:
    """Evaluate each of several runs of one system, and put them together."""
    missing, weights, queries = options["missing"], options["weights"], options["queries"]
    own: Any = {
        **options,
        "missing": "empty" if missing == "skip" else missing,
        "weights": None,
        "queries": None,
        "ascending": options["ascending"] and not system.is_ascending,
    }
    judgments = qrels if judges_runs(qrels) else judgments_beside(qrels, system.runs)
    evaluations = [evaluate(judgments, run, measures, **own) for run in system.runs]
    found = system.together(evaluations, missing or Conventions.missing)
    return found if weights is None and queries is None else found.weighted(weights, queries)


def _evaluate_judged(
    judgments: JudgesRuns, run: Source, measures: Measures, options: EvaluationArguments
) -> Evaluation | Evaluations:
    """Evaluate runs, each under the judgments of what it retrieved."""
    chosen = measures_under(judgments.kind_of_judgments, measures)
    own: Any = {**options, "ascending": False, "check_duplicates": False}  # as they are read
    runs = run if are_runs(run, is_run=judgments.kind_of_judgments.is_run) else {"": run}
    pairs = by_name(
        (name, judgments.judge(one, name=str(name), ascending=options["ascending"])) for name, one in runs.items()
    )
    found: Any = Evaluations({name: evaluate(*pair, chosen, **own) for name, pair in pairs.items()})
    return found.get("", found)


def checked(qrels: Qrels, collection: Source | None, rel: float | None, *, strict: bool) -> Qrels:
    """Return the qrels, held against a collection if there is one."""
    if collection is not None:
        from deadheat.core.data.known_ids import check_known_documents  # few evaluations ask for it

        return check_known_documents(qrels, collection, rel=rel, strict=strict)
    if strict:
        raise ParameterError(
            "is about ids that are not in the collection", argument="strict", hint=Advice("collection")
        )
    return qrels


def keys_of(run: Source, then_by: Source | Sequence[Source] | None) -> list[Source]:
    """Return the runs to order ties by; the name of a column is one of a dataframe."""
    if then_by is None:
        return []
    is_several = isinstance(then_by, list | tuple) and not isinstance(next(iter(then_by), None), tuple)
    keys = list(cast("Sequence[Source]", then_by)) if is_several else [then_by]
    if isinstance(run, DocumentTable) or not any(isinstance(key, str) for key in keys):
        return keys
    schema = getattr(run, "collect_schema", None)  # of a lazy frame the columns alone are expensive
    columns = list(schema() if schema else getattr(run, "columns", ()))
    return [
        Run(run, name=key, columns={"score": key}) if isinstance(key, str) and key in columns else key for key in keys
    ]
