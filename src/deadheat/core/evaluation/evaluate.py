"""evaluate(): from qrels and a run, in whatever form they are given, to exact scores by query.

It reads, checks and warns; `evaluate_runs.py` has the numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Never, Unpack, overload

from deadheat.core import hooks
from deadheat.core.checks import name_items, refuse_arguments
from deadheat.core.data.document_table import DocumentTable
from deadheat.core.data.excluding import as_argument, read_exclusion
from deadheat.core.data.judging import JudgesRuns, find_kind, find_kind_of_qrels, judges_runs
from deadheat.core.data.kind_of_judgments import DOCUMENTS
from deadheat.core.data.qrels import Qrels
from deadheat.core.data.rounding import ScorePrecision
from deadheat.core.data.run import Run
from deadheat.core.data.sources import Source, as_path
from deadheat.core.errors import Advice, ParameterError
from deadheat.core.evaluation.evaluate_runs import evaluate_many
from deadheat.core.evaluation.evaluation import Evaluation
from deadheat.core.evaluation.evaluations import Evaluations
from deadheat.core.evaluation.query_columns import Weights
from deadheat.core.evaluation.systems import System, are_runs, find_systems, has_system, is_system
from deadheat.core.evaluation.together import check_asked, feature_named, feature_of
from deadheat.core.evaluation.warned import warn, warn_of_one_table
from deadheat.core.io.duplicates import refuse_merging
from deadheat.core.measures.base import Measure
from deadheat.core.measures.notation import Measures, parse_measures
from deadheat.core.measures.selection import choose_measures
from deadheat.core.placements.place import open_judgments, open_pair
from deadheat.core.plugin_records import Feature
from deadheat.core.random_generators import Rng
from deadheat.core.settings import ConventionArguments, Conventions


class EvaluationArguments(ConventionArguments, total=False):
    """The keyword arguments of :func:`evaluate`, for type checkers."""

    rng: Rng
    ascending: bool
    doc_id_of: str | None
    duplicates: str
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
    ascending: bool = False,
    doc_id_of: str | None = None,
    duplicates: str = "error",
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
    exclude: Source | None = None,
    **gone: Never,
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
    ascending : bool, default False
        Lower scores rank first, as of distances.
    doc_id_of : str, optional
        Ids of runs are those of chunks, such as ``d1#0``, and judgments are of documents: what stands before the last
        "#" is the document, for ``doc_id_of="#"``, or what the group of a regular expression finds, as in
        ``"(.+)_chunk[0-9]+$"``. It goes with ``duplicates="best"`` or ``"first"``. Ids of the qrels stay as they are.
    duplicates : {"error", "best", "first", "trust"}, default "error"
        What becomes of a document that a run has twice for a query, such as a page of which several chunks are found.
        It is an error; or one row stays, in its place, the one with the best score or the first one, before anything is
        counted, and `notes` say how many are left out. "trust" takes it for granted that none does: nobody looks, and a
        pair that comes twice is an error only if the document is judged. Judgments are always looked at: those that
        come twice with one relevance are merged, and `notes` say so; with two they are an error.
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
    exclude : {"self"}, dict, rows, path, dataframe or Qrels, optional
        Documents to leave out before anything is counted. With "self" those with the id of their query, out of the
        run, as BEIR does. Otherwise pairs, ``{query_id: [doc_id]}`` or anything with a query_id and a doc_id, such as
        other qrels, whatever their grades, or a file of BRIGHT's ``excluded_ids``: out of the run and of the qrels, so
        that R and the ideal are without them too. Notes say how many were left out, and saved evaluations keep which.
        Not for spans.

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
    >>> chunks = [("q1", "d2", 0.9), ("q1", "d2", 0.7), ("q1", "d1", 0.1)]
    >>> evaluate(qrels, chunks, "RR", duplicates="best").means()
    {'RR': 0.5}
    """
    refuse_arguments("evaluate", gone)
    # every keyword argument by its name
    options: Any = {name: value for name, value in locals().items() if name in EvaluationArguments.__annotations__}
    exclusion = read_exclusion(exclude)
    options["exclude"] = as_argument(exclusion)
    if not judges_runs(qrels):
        run = find_systems(run, ascending=ascending, duplicates=duplicates)
    check_asked(options, find_features(qrels, run))
    if is_system(run):
        return _evaluate_system(qrels, run, measures, options)
    if isinstance(run, Mapping) and has_system(run.values()):
        return _evaluate_systems(qrels, run, measures, options)
    if judges_runs(qrels):
        return _evaluate_judged(qrels, run, measures, options)
    conventions = Conventions.of(options)
    chosen = parse_measures(measures)  # before anything is read; those of other kinds of judgments are chosen then
    evaluate_runs: Callable[..., Any] = evaluate_many
    if judge is not None:
        evaluate_runs = hooks.service("judge").labels_of(judge, normalize_ids, exclusion).evaluate_many
    has_several_runs = are_runs(run, qrels)
    read_named = partial(Run.of, ascending=ascending, doc_id_of=doc_id_of, duplicates=duplicates)
    judgments: Qrels | None = None  # once they have been read and checked, beside the first run
    evaluations = Evaluations()
    for batch in _list_batches(run, has_several_runs=has_several_runs):
        runs: list[Run] = []
        for name, source in batch:
            opened_qrels, opened_run = open_pair(
                qrels if judgments is None else judgments,
                read_named(source, name=name) if has_several_runs else source,
                ascending=ascending and not has_several_runs,  # `Run.of` has turned several runs round already
                doc_id_of=doc_id_of,
                duplicates=duplicates,
            )
            if judgments is None:
                remaining_qrels = exclusion.of_qrels(opened_qrels.normalized(normalize_ids))
                judgments = check_collection(remaining_qrels, collection, rel, strict=strict)
                check_asked(options, find_features(judgments, run))
                chosen = _choose_for(judgments, measures, chosen)
            tie_keys = find_tie_keys(source, then_by)
            remaining_run = exclusion.of_run(opened_run.normalized(normalize_ids))
            runs.append(remaining_run.then_by(*tie_keys, score_precision=conventions.score_precision))
        assert judgments is not None  # noqa: S101 - each batch has a run
        results = evaluate_runs(conventions, judgments, runs, chosen, [rng] * len(runs))
        for (name, source), opened_run, (unweighted, _) in zip(batch, runs, results, strict=True):
            evaluation = _weigh(unweighted, weights, queries)
            evaluations[name] = evaluation
            warn({opened_run.where: evaluation}, judgments, {opened_run.where: opened_run}, missing=missing)
            warn_of_one_table(evaluation, qrels, source)
    return evaluations if has_several_runs else evaluations[""]


def _list_batches(
    run: Any,  # noqa: ANN401 - a source, or a mapping of them
    *,
    has_several_runs: bool,
) -> Iterable[Sequence[tuple[str, Source]]]:
    """Return the names and sources of runs, in batches that are read and evaluated one after the other.

    A single run has an empty name.
    """
    if not has_several_runs:
        return [[("", run)]]
    from deadheat.core.io.splitting import group_in_pieces  # for several runs

    sources: dict[str, Source] = name_items(run.items())
    return group_in_pieces(list(sources.items()), lambda item: as_path(item[1]))


def _choose_for(qrels: Qrels, measures: Measures, parsed: tuple[Measure, ...]) -> tuple[Measure, ...]:
    """Return the measures under the kind of the judgments; of documents, those that were parsed before."""
    kind = find_kind_of_qrels(qrels)
    if kind is DOCUMENTS:
        return parsed
    return choose_measures(kind, measures)


def _weigh(evaluation: Evaluation, weights: Weights | None, queries: Source | None) -> Evaluation:
    """Return the evaluation with weights if some were given, or a table of queries that may have them."""
    if weights is None and queries is None:
        return evaluation
    return evaluation.weighted(weights, queries)


def find_features(qrels: Source, *runs: Source) -> list[Feature]:
    """Return the features that the kind of the judgments, and systems of several runs, stand for."""
    kinds = dict.fromkeys(run.kind_of_system for run in runs if is_system(run))
    features = [feature_named(kind) for kind in kinds]
    if judges_runs(qrels):
        features.append(feature_of(find_kind(qrels)))
    elif isinstance(qrels, Qrels):
        kind = find_kind_of_qrels(qrels)
        is_of_documents = kind.retrieved == DOCUMENTS.retrieved  # qrels that were made for one run have been checked
        if kind is not DOCUMENTS and is_of_documents:
            features.append(feature_of(kind))
    return features


def _evaluate_system(qrels: Source, system: System, measures: Measures, options: EvaluationArguments) -> Evaluation:
    """Evaluate each of several runs of one system, and put them together."""
    missing = options["missing"]
    weights = options["weights"]
    queries = options["queries"]
    options_of_run: Any = dict(options)
    if missing == "skip":
        options_of_run["missing"] = "empty"  # the system lacks a query only if all of its runs do
    options_of_run["weights"] = None
    options_of_run["queries"] = None
    options_of_run["ascending"] = options["ascending"] and not system.is_ascending
    judgments = qrels if judges_runs(qrels) else open_judgments(qrels, system.runs)
    evaluations = [evaluate(judgments, run, measures, **options_of_run) for run in system.runs]
    return _weigh(system.together(evaluations, missing or Conventions.missing), weights, queries)


def _evaluate_systems(
    qrels: Source,
    systems: Mapping[str, Source],
    measures: Measures,
    options: Any,  # noqa: ANN401 - as of evaluate
) -> Evaluations:
    """Evaluate several systems, some of which were run several times."""
    results: dict[str, Any] = name_items(
        (name, evaluate(qrels, system, measures, **options)) for name, system in systems.items()
    )
    return Evaluations({name: evaluation.called(name) for name, evaluation in results.items()})


def _evaluate_judged(
    judgments: JudgesRuns, run: Source, measures: Measures, options: EvaluationArguments
) -> Evaluation | Evaluations:
    """Evaluate runs, each under the judgments of what it retrieved."""
    kind = judgments.kind_of_judgments
    refuse_merging(options["duplicates"], kind.what)
    if options["doc_id_of"] is not None:
        raise ParameterError(f"is not for {kind.what}", argument="doc_id_of", given=options["doc_id_of"])
    chosen = choose_measures(kind, measures)
    options_of_run: Any = {**options, "ascending": False, "duplicates": "error"}  # as they are read
    has_several_runs = are_runs(run, is_run=kind.is_run)
    sources: Any = run if has_several_runs else {"": run}
    ascending = options["ascending"]
    pairs: dict[str, Any] = name_items(
        (name, judgments.judge(source, name=str(name), ascending=ascending)) for name, source in sources.items()
    )
    evaluations = Evaluations()
    for name, (qrels, judged_run) in pairs.items():
        evaluations[name] = evaluate(qrels, judged_run, chosen, **options_of_run)
    if has_several_runs:
        return evaluations
    return evaluations[""]


def check_collection(qrels: Qrels, collection: Source | None, rel: float | None, *, strict: bool) -> Qrels:
    """Return the qrels; if there is a collection, warn of relevant documents that it lacks, or raise if `strict`."""
    if collection is not None:
        from deadheat.core.data.known_ids import check_known_documents  # few evaluations ask for it

        return check_known_documents(qrels, collection, rel=rel, strict=strict)
    if strict:
        raise ParameterError(
            "is about ids that are not in the collection", argument="strict", hint=Advice("collection")
        )
    return qrels


def find_tie_keys(run: Source, then_by: Source | Sequence[Source] | None) -> list[Source]:
    """Return the runs whose scores order ties; for the name of a column, that column of the run's table as a run."""
    if then_by is None:
        return []
    keys: list[Source] = [then_by]
    if isinstance(then_by, list | tuple) and not _is_row(then_by):
        keys = list(then_by)
    if isinstance(run, DocumentTable) or not any(isinstance(key, str) for key in keys):
        return keys
    columns = _list_columns(run)
    for place, key in enumerate(keys):
        if isinstance(key, str) and key in columns:
            keys[place] = Run(run, name=key, columns={"score": key})
    return keys


def _is_row(then_by: Sequence[Source]) -> bool:
    """Tell whether the first item is a tuple: then the list is one run, row by row, and no list of runs."""
    return isinstance(next(iter(then_by), None), tuple)


def _list_columns(run: Source) -> list[str]:
    """Return the columns of a dataframe; none of another source."""
    collect_schema = getattr(run, "collect_schema", None)  # of a lazy frame, `columns` are expensive
    if collect_schema:
        return list(collect_schema())
    return list(getattr(run, "columns", ()))
