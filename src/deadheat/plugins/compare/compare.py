"""compare() and its kin: from runs, or evaluations made before, to a `Comparison`."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Never

from deadheat.core import hooks
from deadheat.core.checks import as_list, as_positive, name_items, refuse_arguments
from deadheat.core.data.document_table import check_tables
from deadheat.core.data.excluding import as_argument, read_exclusion
from deadheat.core.data.judging import find_kind_of_qrels, judges_runs
from deadheat.core.data.qrels import Qrels
from deadheat.core.data.rounding import ScorePrecision
from deadheat.core.data.run import Run
from deadheat.core.data.sources import Source, as_path, make_label
from deadheat.core.design import Design
from deadheat.core.errors import DataError
from deadheat.core.evaluation.evaluate import (
    EvaluationArguments,
    check_collection,
    evaluate,
    find_features,
    find_tie_keys,
)
from deadheat.core.evaluation.evaluate_runs import evaluate_many
from deadheat.core.evaluation.evaluation import Evaluation
from deadheat.core.evaluation.intervals import Cluster
from deadheat.core.evaluation.labels import find_later, name_by_labels
from deadheat.core.evaluation.open_evaluations import by_own_name, open_evaluation
from deadheat.core.evaluation.query_columns import Weights
from deadheat.core.evaluation.reconciling import reconcile
from deadheat.core.evaluation.shared_weights import share_weights
from deadheat.core.evaluation.systems import find_systems, is_system
from deadheat.core.evaluation.together import check_asked, check_use
from deadheat.core.evaluation.warned import warn, warn_of_one_table
from deadheat.core.measures import Measure
from deadheat.core.measures.notation import MeasureLike
from deadheat.core.measures.selection import choose_measures
from deadheat.core.placements.place import open_judgments
from deadheat.core.random_generators import Rng, random_generator
from deadheat.core.settings import Conventions
from deadheat.plugins.compare.comparison import Comparison, assemble, check_queries_shared
from deadheat.plugins.compare.comparison_parts import OtherLabels


def compare(
    qrels: Source,
    runs: Mapping[str, Source] | Sequence[Source],
    measures: MeasureLike | Iterable[MeasureLike] | None = None,
    *,
    baseline: str | Sequence[str] | None = None,
    test: str = "randomization",
    correction: str | None = None,
    alternative: str = "two-sided",
    confidence_level: float = 0.95,
    n_resamples: int = 10_000,
    method: str = "auto",
    cluster: Cluster = None,
    queries: Source | None = None,
    rng: Rng = 0,
    ties: str = "expected",
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
    margin: float | None = None,
    detect: float | None = None,
    judge: Source | None = None,
    weights: Weights | None = None,
    exclude: Source | None = None,
    **gone: Never,
) -> Comparison:
    """Compare runs by pairs over the same queries, and say what ties could make of every difference.

    Parameters
    ----------
    qrels : path, dict of dict, dataframe or Qrels
    runs : dict of str to run, or sequence of runs
        Two or more, by name; those of a sequence have the names of their files. A system that was run several times
        is :class:`Repeats`: tests carry the noise of repeats, and are no less strict than a t test that does.
    measures : measure or iterable of measures, optional
        By default those of :func:`evaluate`.
    baseline : str or sequence of str, optional
        Name of the run that all others are compared with, or several; by default every pair is compared.
    test : {"randomization", "bootstrap-t", "bootstrap", "t", "wilcoxon", "sign", "tukey"}, default "randomization"
        Paired tests; "wilcoxon" and "sign" do not test the mean difference; Tukey's HSD (by randomisation) accounts for
        all pairs by itself.
    correction : {"max-t", "max-t-step-down", "holm", "bonferroni", "bh", "none"}, optional
        For the number of rows of one measure. "max-t", the default with `test="randomization"`: by the largest
        studentised difference of each resample, whose sign flips all rows share; it gives intervals that hold
        together, `Pair.simultaneous_low` and `simultaneous_high`. "max-t-step-down" finds a little more, without
        intervals. "holm" is the default with other tests, with repeats and with a judge.
    alternative : {"two-sided", "greater", "less"}, default "two-sided"
        Of the difference, system - baseline.
    confidence_level : float, default 0.95
        Of the intervals, between 0 and 1; ``1 - confidence_level`` is the level of significance.
    n_resamples : int, default 10,000
        99 or more. With the default, also if it is given, more sign flips are drawn, up to a million, where these
        leave it open which differences are significant, if that takes no more than some seconds. None are drawn where
        they would be 2**30 signs or more, of 107,375 queries with the default, and Hoeffding's inequality shows that p
        is below 1 / (n_resamples + 1).
    method : {"auto", "bca", "bootstrap-t", "percentile", "t"}, default "auto"
        Of the intervals. "auto" is that of :meth:`Scores.interval` for means, and "t" for differences.
    cluster, queries
        As for :meth:`Scores.interval`: clusters are resampled, and their signs flipped, whole.
    rng : numpy.random.Generator or int, default 0
    ties, missing, no_relevant, score_precision, ascending, doc_id_of, duplicates, rel, judged_only, depth
        As for :func:`evaluate`.
    then_by : run or list of runs, optional
        As for :func:`evaluate`, of every run; a single run is compared with itself, its ties so ordered.
    unjudged, unjudged_max_rel
        As for :func:`evaluate`; with "bounds" there are `Comparison.unjudged_outer_bounds`.
    collection, strict, normalize_ids
        As for :func:`evaluate`.
    margin : float, optional
        Also show whether systems are no worse than their baseline by it: :meth:`Comparison.equivalence`.
    detect : float, optional
        Also show how many queries it takes to detect a difference of this size: :meth:`Comparison.sample_sizes`.
    judge : path, dict of dict, dataframe or Qrels, optional
        Labels of a judge, such as a language model, for the queries of `qrels`, which must be a random sample, and for
        more: differences are estimated from both (prediction-powered inference), and `Pair.judge_weight` says how much
        the judge counts. Means, effect sizes, wins and what ties can reverse are by the human labels, and named so.
    weights : str or dict, optional
        As for :func:`evaluate`, or a column of `queries`: means, intervals and tests are weighted. Not for "wilcoxon"
        and "sign". With a judge, all queries that it labelled need one.
    exclude : {"self"}, dict, rows, path, dataframe or Qrels, optional
        Documents to leave out first, as for :func:`evaluate`.

    Returns
    -------
    Comparison

    Raises
    ------
    ParameterError
        An option is not known, a name is not that of a run, or there are fewer than two runs.
    DataError
        A run or the qrels cannot be evaluated.

    References
    ----------
    M. D. Smucker, J. Allan, B. Carterette, "A comparison of statistical significance tests for information retrieval
    evaluation", CIKM 2007. doi:10.1145/1321440.1321528

    Examples
    --------
    >>> qrels = {f"q{n}": {"a": 1} for n in range(9)}
    >>> good = {f"q{n}": {"a": 2, "b": 1} for n in range(9)}
    >>> tied = {f"q{n}": {"a": 1, "b": 1} for n in range(9)}
    >>> (pair,) = compare(qrels, {"tied": tied, "good": good}, "RR", baseline="tied").pairs
    >>> pair.difference, round(pair.p_value, 4), pair.wins, pair.can_flip
    (0.25, 0.0039, 9, False)
    """
    refuse_arguments("compare", gone)
    design = Design.of(locals())
    margin, detect = _sizes(margin=margin, detect=detect)
    exclusion = read_exclusion(exclude)
    exclude = as_argument(exclusion)
    conventions = Conventions.of(locals())
    listed = list(runs) if isinstance(runs, list | tuple) else []
    if not judges_runs(qrels):
        find = partial(find_systems, ascending=ascending, duplicates=duplicates)
        listed = [find(one) for one in listed]
        if isinstance(runs, Mapping):
            runs = {name: find(one) for name, one in runs.items()}
        runs = listed or runs
    listed = list(runs.values()) if isinstance(runs, Mapping) else listed
    check_asked(locals(), find_features(qrels, *listed))
    if any(map(is_system, listed)) or judges_runs(qrels):
        options: Any = {name: one for name, one in locals().items() if name in EvaluationArguments.__annotations__}
        return replace(_compare_each(design, qrels, runs, measures, cluster, options), margin=margin, detect=detect)
    sources, opened = _open_runs(
        runs, ascending=ascending, doc_id_of=doc_id_of, duplicates=duplicates, normalize_ids=normalize_ids
    )
    opened_qrels = open_judgments(qrels, listed).normalized(normalize_ids)
    judgments = check_collection(exclusion.of_qrels(opened_qrels), collection, rel, strict=strict)
    remaining = {name: exclusion.of_run(run) for name, run in opened.items()}
    named = _order_ties(sources, remaining, then_by, conventions.score_precision, duplicates)
    design.check_systems(list(named), has_clusters=cluster is not None, has_weights=weights is not None)
    check_asked(locals(), find_features(judgments, *listed))
    found = compare_under(
        design,
        conventions,
        judgments,
        named,
        choose_measures(find_kind_of_qrels(judgments), measures),
        cluster=cluster,
        queries=queries,
        judge=None if judge is None else hooks.service("judge").labels_of(judge, normalize_ids, exclusion),
        weights=weights,
    )
    warn(found.evaluations, judgments, {name: named[name] for name in sources}, missing=missing)
    for name, source in sources.items():
        warn_of_one_table(found.evaluations[name], qrels, source)
    return replace(found, margin=margin, detect=detect)


def _compare_each(  # noqa: PLR0917 - as they were given
    design: Design,
    qrels: Source,
    runs: Mapping[str, Source] | Sequence[Source],
    measures: MeasureLike | Iterable[MeasureLike] | None,
    cluster: Cluster,
    options: EvaluationArguments,
) -> Comparison:
    """Compare systems of several runs, or with judgments of their own: each is evaluated by itself."""
    queries = options["queries"]
    if not isinstance(runs, Mapping):
        runs = name_items((one.name if is_system(one) else _name_of(one, options["duplicates"]), one) for one in runs)
    own: Any = {
        **options,
        "queries": queries if isinstance(options["weights"], str) else None,
        "rng": random_generator(design.rng),  # each run has draws of its own
    }
    evaluations: Any = evaluate(qrels, runs, measures, **own)
    return compare_evaluated(design, evaluations, cluster, _of_clusters(cluster, queries, options["weights"]))


def _name_of(run: Source, duplicates: str) -> str:
    """Return the name of a run that has none of its own: that of its file."""
    path = as_path(run)
    return make_label(path) if path else Run.of(run, duplicates=duplicates).name


def _sizes(**given: float | None) -> list[float | None]:
    """Return sizes by the name of their argument, checked; None where one is not asked for."""
    return [None if size is None else as_positive(name, size) for name, size in given.items()]


def compare_under(
    design: Design,
    conventions: Conventions,
    qrels: Qrels,
    runs: Mapping[str, Run],
    measures: Sequence[Measure],
    *,
    cluster: Cluster = None,
    queries: Source | None = None,
    judge: OtherLabels[Comparison] | None = None,
    weights: Weights | None = None,
) -> Comparison:
    """Compare runs by a design that was checked for them, without warnings."""
    if judge is not None:
        design = judge.change_design(design)
    check_tables(qrels, *runs.values(), None if judge is None else judge.qrels)
    each = list(
        evaluate_many(
            conventions,
            qrels,
            list(runs.values()),
            measures,
            [random_generator(design.rng, number) for number in range(len(runs))],  # each run has draws of its own
            rule="doc_id",
        )
    )
    evaluations = {name: one for name, (one, _) in zip(runs, each, strict=True)}
    check_queries_shared(evaluations, design)
    weighed = {name: one if weights is None else one.weighted(weights, queries) for name, one in evaluations.items()}
    by_doc_id = {name: by_rule for name, (_, by_rule) in zip(runs, each, strict=True)}
    found = assemble(weighed, design, cluster, _of_clusters(cluster, queries, weights), by_doc_id)
    if judge is None:
        return found
    return judge.help_runs(found, conventions, runs, measures, weights, queries)


def compare_evaluations(
    evaluations: Mapping[str, Evaluation | str | Path] | Sequence[Evaluation | str | Path],
    *,
    baseline: str | Sequence[str] | None = None,
    test: str = "randomization",
    correction: str | None = None,
    alternative: str = "two-sided",
    confidence_level: float = 0.95,
    n_resamples: int = 10_000,
    method: str = "auto",
    cluster: Cluster = None,
    queries: Source | None = None,
    rng: Rng = 0,
    margin: float | None = None,
    detect: float | None = None,
    judgments: str | None = None,
    weights: Weights | None = None,
    judge: Source | None = None,
) -> Comparison:
    """Compare evaluations, made before or loaded from files.

    Parameters
    ----------
    evaluations : dict of str to Evaluation, or sequence of Evaluation
        Or paths of saved ones; under the same conventions, with the same measures. Those of a sequence are named by
        their labels, where these tell them apart; else by their runs.
    baseline, test, correction, alternative, confidence_level, n_resamples, method, cluster, queries, rng
        As for :func:`compare`. What ties broken by document id, as trec_eval, give is not known without the runs.
    margin, detect
        As for :func:`compare`.
    judgments : {"rescore", "shared", "strict"}, optional
        What to do if their qrels differ: score the rankings of earlier ones again under the newest judgments (by the
        time at which they were saved; the default where their rankings were kept, and new queries that they were not
        asked are left out), compare the queries whose judgments are equal, or raise.
    weights : str or dict, optional
        As for :func:`compare`; by default those that the evaluations have: of different ones those of the latest save.
    judge : path, dict of dict, dataframe or Qrels, optional
        As for :func:`compare`: its labels score the rankings that the evaluations keep.

    Returns
    -------
    Comparison

    Raises
    ------
    DataError
        They are of different conventions or measures, or of different qrels that cannot be brought together.

    Examples
    --------
    >>> from deadheat import evaluate
    >>> qrels = {"q1": {"a": 1}, "q2": {"b": 1}}
    >>> one = evaluate(qrels, {"q1": {"a": 2, "b": 1}, "q2": {"a": 2, "b": 1}}, "RR")
    >>> other = evaluate(qrels, {"q1": {"a": 1, "b": 1}, "q2": {"b": 1}}, "RR")
    >>> (pair,) = compare_evaluations({"one": one, "other": other}).pairs
    >>> pair.system, pair.baseline, pair.difference
    ('other', 'one', 0.125)
    """
    named = _named(evaluations)
    design = Design.of(locals())
    margin, detect = _sizes(margin=margin, detect=detect)
    found = compare_evaluated(
        design,
        named,
        cluster,
        queries,
        judgments,
        weights=weights,
        judge=None if judge is None else hooks.service("judge").labels_of(judge),
    )
    return replace(found, margin=margin, detect=detect)


def _named(
    evaluations: Mapping[str, Evaluation | str | Path] | Sequence[Evaluation | str | Path],
) -> dict[str, Evaluation]:
    """Return evaluations by the names that a mapping has for them; those of a list by their labels, or their own."""
    if isinstance(evaluations, Mapping):
        return by_own_name(evaluations)
    opened = [
        open_evaluation(evaluation)
        for evaluation in as_list("evaluations", evaluations, "a dict {name: evaluation}, or a list of them")
    ]
    return name_by_labels(opened) or by_own_name(opened)


def compare_evaluated(
    design: Design,
    evaluations: Mapping[str, Evaluation],
    cluster: Cluster = None,
    queries: Source | None = None,
    judgments: str | None = None,
    *,
    weights: Weights | None = None,
    judge: OtherLabels[Comparison] | None = None,
) -> Comparison:
    """Do what :func:`compare_evaluations` does, under a given design."""
    given = evaluations
    if judge is not None:
        design = judge.change_design(design)
    check_use("compare_evaluations", evaluations.values())
    if weights is not None:
        evaluations = {name: one.weighted(weights, queries) for name, one in evaluations.items()}
    design.check_systems(
        list(evaluations),
        has_clusters=cluster is not None,
        has_weights=any(one.weights is not None for one in evaluations.values()),
    )
    evaluations, shared_weights = share_weights(evaluations)
    evaluations, together = reconcile(evaluations, judgments)
    (first, one), *others = evaluations.items()
    for name, other in others:
        left, right = (list(map(str, each.measures)) for each in (one, other))
        if set(left) != set(right):
            names, other_names = (", ".join(measure.label for measure in each.measures) for each in (one, other))
            raise DataError(
                f"{first} and {name} were evaluated with different measures ({names} and {other_names})",
                hint="evaluate both with the same",
            )
    check_queries_shared(evaluations, design)
    found = replace(
        assemble(evaluations, design, cluster, _of_clusters(cluster, queries, weights), {}),
        together=together,
        shared_weights=shared_weights,
        later=find_later(evaluations),
    )
    if judge is None:
        return found
    return judge.help_evaluations(found, given, weights, queries)


def _of_clusters(cluster: Cluster, queries: Source | None, weights: Weights | None) -> Source | None:
    """Return the table of queries for clusters: none where it was given for weights alone."""
    return None if isinstance(weights, str) and not isinstance(cluster, str) else queries


def named_runs(
    runs: Mapping[str, Source] | Sequence[Source],
    *,
    ascending: bool = False,
    duplicates: str = "error",
) -> dict[str, Run]:
    """Return runs by name, those of a sequence by the names of their files."""
    _, opened = _open_runs(runs, ascending=ascending, duplicates=duplicates)
    return opened


def _open_runs(
    runs: Mapping[str, Source] | Sequence[Source],
    *,
    ascending: bool = False,
    doc_id_of: str | None = None,
    duplicates: str = "error",
    normalize_ids: str | None = None,
) -> tuple[dict[str, Source], dict[str, Run]]:
    """Return what was given as runs, by their names, and the runs."""
    listed = as_list("runs", runs, "a dict of name to run, or a list of runs")
    given = runs.items() if isinstance(runs, Mapping) else ((None, run) for run in listed)
    read = partial(Run.of, ascending=ascending, doc_id_of=doc_id_of, duplicates=duplicates)
    opened = []
    for name, source in given:
        label = None if name is None else str(name)
        opened.append((name, source, read(source, name=label)))
    sources = name_items((run.name if name is None else name, source) for name, source, run in opened)
    normalized = [run.normalized(normalize_ids) for *_, run in opened]
    return sources, dict(zip(sources, normalized, strict=True))


def _order_ties(
    sources: Mapping[str, Source],
    named: dict[str, Run],
    then_by: Source | Sequence[Source] | None,
    score_precision: ScorePrecision,
    duplicates: str,
) -> dict[str, Run]:
    """Return runs with their ties ordered as `then_by` says; a single run stays, beside itself in that order."""
    if then_by is None:
        return named
    keys = {name: find_tie_keys(source, then_by) for name, source in sources.items()}
    keyed = {name: run.then_by(*keys[name], score_precision=score_precision) for name, run in named.items()}
    if len(named) > 1:
        return keyed
    ((name, run),) = keyed.items()
    labels = [
        one if isinstance(one, str) and not Path(one).exists() else Run.of(one, duplicates=duplicates).name
        for one in keys[name]
    ]
    return {**named, ", then ".join([name, *labels]): run}
