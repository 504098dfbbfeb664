"""compare(): are differences between systems more than chance, and do ties decide them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from deadheat.arguments import Rng, by_name, generator, positive
from deadheat.arrays import FloatArray
from deadheat.comparison.comparison import Comparison, assemble
from deadheat.comparison.pairs import Design, pairs_of
from deadheat.data.precision import ScorePrecision
from deadheat.data.tables import Qrels, Run, Source
from deadheat.errors import DataError, ParameterError
from deadheat.evaluation.conventions import Conventions
from deadheat.evaluation.evaluate import (
    checked,
    engine_under,
    evaluate_under,
    keys_of,
    opened,
    parse_measures,
)
from deadheat.evaluation.evaluation import Evaluation, check_alike
from deadheat.evaluation.intervals import Cluster
from deadheat.evaluation.warned import warn, warn_of_one_table
from deadheat.measures import Measure
from deadheat.measures.notation import MeasureLike
from deadheat.placements import policies
from deadheat.placements.place import engine_of
from deadheat.wording import counted


def compare(
    qrels: Source,
    runs: Mapping[str, Source] | Sequence[Source],
    measures: MeasureLike | Iterable[MeasureLike] | None = None,
    *,
    baseline: str | None = None,
    test: str = "randomization",
    correction: str = "holm",
    alternative: str = "two-sided",
    confidence_level: float = 0.95,
    n_resamples: int = 10_000,
    method: str = "auto",
    cluster: Cluster = None,
    queries: Source | None = None,
    rng: Rng = 0,
    ties: str = "expected",
    missing: str | None = None,
    no_relevant: str = "zero",
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
    margin: float | None = None,
    detect: float | None = None,
) -> Comparison:
    """Compare runs by pairs over the same queries, and say what ties could make of every difference.

    Parameters
    ----------
    qrels : path, dict of dict, dataframe or Qrels
    runs : dict of str to run, or sequence of runs
        Two and more, by name; those of a sequence go by the names of their files.
    measures : measure or iterable of measures, optional
        By default those of :func:`evaluate`.
    baseline : str, optional
        Name of the run that all others are compared with; by default every pair is compared.
    test : {"randomization", "bootstrap-t", "bootstrap", "t", "wilcoxon", "sign", "tukey"}, default "randomization"
        Paired tests; "wilcoxon" and "sign" are not of the mean difference; Tukey's HSD (by randomisation) accounts for
        all pairs by itself.
    correction : {"holm", "bonferroni", "bh", "none"}, default "holm"
        For the number of rows of one measure.
    alternative : {"two-sided", "greater", "less"}, default "two-sided"
        Of the difference, system - baseline.
    confidence_level : float, default 0.95
        Of the intervals, between 0 and 1; ``1 - confidence_level`` is the level of significance.
    n_resamples : int, default 10,000
        99 or more.
    method : {"auto", "bca", "bootstrap-t", "percentile", "t"}, default "auto"
        Of the intervals. "auto" is that of :meth:`Scores.interval` for means, and "t" for differences.
    cluster, queries
        As for :meth:`Scores.interval`: clusters are resampled, and their signs flipped, whole.
    rng : numpy.random.Generator or int, default 0
    ties, missing, no_relevant, score_precision, check_duplicates, ascending, rel, judged_only, depth
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
    design = Design(
        baseline=baseline,
        test=test,
        correction=correction,
        alternative=alternative,
        confidence_level=confidence_level,
        n_resamples=n_resamples,
        method=method,
        rng=rng,
    )
    margin, detect = _sizes(margin=margin, detect=detect)
    conventions = Conventions(
        ties,
        "empty" if missing is None else missing,
        no_relevant,
        score_precision,
        rel,
        judged_only,
        depth,
        unjudged,
        unjudged_max_rel,
    )
    read = named_runs(runs, ascending=ascending, then_by=then_by, score_precision=conventions.score_precision)
    named = {name: run.normalized(normalize_ids) for name, run in read.items()}
    design.check_systems(list(named), has_clusters=cluster is not None)
    chosen = parse_measures(measures)
    judgments = checked(Qrels.of(qrels).normalized(normalize_ids), collection, rel, strict=strict)
    found = compare_under(
        design,
        conventions,
        judgments,
        named,
        chosen,
        cluster=cluster,
        queries=queries,
        check_duplicates=check_duplicates,
    )
    given = list(runs.values() if isinstance(runs, Mapping) else runs)
    warned = dict(list(named.items())[: len(given)])  # a single run stands beside its other order
    warn(found.evaluations, judgments, warned, missing=missing)
    for source, name in zip(given, warned, strict=True):
        warn_of_one_table(found.evaluations[name], qrels, source)
    return replace(found, margin=margin, detect=detect)


def _sizes(**given: float | None) -> list[float | None]:
    """Return sizes by the name of their argument, checked; None where one is not asked for."""
    return [None if size is None else positive(name, size) for name, size in given.items()]


def compare_under(
    design: Design,
    conventions: Conventions,
    qrels: Qrels,
    runs: Mapping[str, Run],
    measures: Sequence[Measure],
    *,
    cluster: Cluster = None,
    queries: Source | None = None,
    check_duplicates: bool = True,
) -> Comparison:
    """Compare runs by a design that was checked for them, without warnings."""
    evaluations: dict[str, Evaluation] = {}
    by_doc_id: dict[str, list[FloatArray]] = {}
    if check_duplicates:
        qrels.check_duplicates()
    for number, (name, run) in enumerate(runs.items()):
        if check_duplicates:
            run.check_duplicates()
        rng = generator(design.rng, number)  # of each run, its own draws
        engine = engine_under(conventions, engine_of(qrels, run, conventions.score_precision), measures, rng)
        one = evaluations[name] = evaluate_under(conventions, qrels, run, measures, rng, engine=engine)
        ranked = policies.by_rule(one.placements, engine, "doc_id")
        by_doc_id[name] = [measure.mean(ranked) for measure in one.measures]
    _check_shared(evaluations, design)
    return assemble(evaluations, design, cluster, queries, by_doc_id)


def compare_evaluations(
    evaluations: Mapping[str, Evaluation | str | Path] | Sequence[Evaluation | str | Path],
    *,
    baseline: str | None = None,
    test: str = "randomization",
    correction: str = "holm",
    alternative: str = "two-sided",
    confidence_level: float = 0.95,
    n_resamples: int = 10_000,
    method: str = "auto",
    cluster: Cluster = None,
    queries: Source | None = None,
    rng: Rng = 0,
    margin: float | None = None,
    detect: float | None = None,
) -> Comparison:
    """Compare evaluations that there are already, or that were loaded from files.

    Parameters
    ----------
    evaluations : dict of str to Evaluation, or sequence of Evaluation
        Or paths of saved ones; of the same qrels, under the same conventions, with the same measures.
    baseline, test, correction, alternative, confidence_level, n_resamples, method, cluster, queries, rng
        As for :func:`compare`. What ties broken by document id, as trec_eval, give is not known without the runs.
    margin, detect
        As for :func:`compare`.

    Returns
    -------
    Comparison

    Raises
    ------
    DataError
        They are of different qrels, conventions or measures.
    """
    given = evaluations.items() if isinstance(evaluations, Mapping) else ((None, one) for one in evaluations)
    read = [(name, opened(one)) for name, one in given]
    named = by_name((one.name if name is None else name, one) for name, one in read)
    design = Design(
        baseline=baseline,
        test=test,
        correction=correction,
        alternative=alternative,
        confidence_level=confidence_level,
        n_resamples=n_resamples,
        method=method,
        rng=rng,
    )
    margin, detect = _sizes(margin=margin, detect=detect)
    return replace(compare_evaluated(design, named, cluster, queries), margin=margin, detect=detect)


def compare_evaluated(
    design: Design, evaluations: Mapping[str, Evaluation], cluster: Cluster = None, queries: Source | None = None
) -> Comparison:
    """Do what :func:`compare_evaluations` does, under a given design."""
    design.check_systems(list(evaluations), has_clusters=cluster is not None)
    first, *others = evaluations.items()
    for other in others:
        _check_comparable(first, other)
    _check_shared(evaluations, design)
    return assemble(evaluations, design, cluster, queries, {})


def _check_comparable(one: tuple[str, Evaluation], other: tuple[str, Evaluation]) -> None:
    """Raise `DataError` if two named evaluations are not of the same qrels, conventions and measures."""
    names = f"{one[0]} and {other[0]}"
    check_alike(one[1], other[1], names)
    left, right = (list(map(str, each.measures)) for _, each in (one, other))
    if set(left) != set(right):
        held = f"{', '.join(left)} and {', '.join(right)}"
        raise DataError(f"{names} were evaluated with different measures ({held})", hint="evaluate both with the same")


def named_runs(
    runs: Mapping[str, Source] | Sequence[Source],
    *,
    ascending: bool = False,
    then_by: Source | Sequence[Source] | None = None,
    score_precision: ScorePrecision = None,
) -> dict[str, Run]:
    """Return runs by name, those of a sequence by the names of their files; with their ties ordered as `then_by` says.

    A single run stays, beside itself in that order.
    """
    if isinstance(runs, str | Path) or not isinstance(runs, Iterable):
        raise ParameterError(argument="runs", given=runs, allowed="a dict of name to run, or a list of runs")
    given = runs.items() if isinstance(runs, Mapping) else ((None, run) for run in runs)
    read = [
        (name, source, Run.of(source, ascending=ascending))
        if name is None or isinstance(source, Run)
        else (name, source, Run(source, name=name, ascending=ascending))
        for name, source in given
    ]
    sources = by_name((run.name if name is None else name, source) for name, source, run in read)
    named = dict(zip(sources, (run for *_, run in read), strict=True))
    if then_by is None:
        return named
    keys = {name: keys_of(source, then_by) for name, source in sources.items()}
    keyed = {name: run.then_by(*keys[name], score_precision=score_precision) for name, run in named.items()}
    if len(named) > 1:
        return keyed
    ((name, run),) = keyed.items()
    labels = [one if isinstance(one, str) and not Path(one).exists() else Run.of(one).name for one in keys[name]]
    return {**named, ", then ".join([name, *labels]): run}


def _check_shared(evaluations: Mapping[str, Evaluation], design: Design) -> None:
    """Raise an error if a pair has no query in common, as that of disjoint runs with missing="skip"."""
    names = list(evaluations)
    ids = [set(one.query_ids.tolist()) for one in evaluations.values()]
    for system, baseline in pairs_of(names, design.baseline):
        one, other = sorted((system, baseline))
        if ids[one].isdisjoint(ids[other]):
            sizes = f"{len(ids[one])} and {counted(len(ids[other]), 'query', 'queries')}"
            raise DataError(f"{names[one]} and {names[other]} have no query in common: {sizes}")
