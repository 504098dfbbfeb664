"""compare(): are differences between systems more than chance, and do ties decide them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from deadheat.arguments import check_choice, generator, level, resamples
from deadheat.comparison.comparison import Comparison, Design
from deadheat.comparison.pairs import TESTS, TUKEY, compare_pairs, pairs_of
from deadheat.data.tables import Qrels, Run
from deadheat.errors import BaselineMismatchError, NoCommonQueryError, ParameterError
from deadheat.evaluation.evaluate import evaluate, parse_measures, warn_of_missing
from deadheat.evaluation.evaluation import check_alike
from deadheat.evaluation.intervals import METHODS, PROPORTION, cluster_codes
from deadheat.evaluation.saved import opened
from deadheat.placements import policies
from deadheat.placements.place import rounded
from deadheat.stats import ALTERNATIVES, CLUSTERED, CORRECTIONS, adjust, significant
from deadheat.wording import Plain, counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from deadheat.arrays import FloatArray
    from deadheat.comparison.comparison import Pair
    from deadheat.data.precision import ScorePrecision
    from deadheat.data.tables import Source
    from deadheat.evaluation.evaluation import Evaluation
    from deadheat.evaluation.intervals import Cluster
    from deadheat.measures.notation import MeasureLike


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
    rng: np.random.Generator | int | None = 0,
    ties: str = "expected",
    missing: str | None = None,
    no_relevant: str = "zero",
    score_precision: ScorePrecision = None,
    check_duplicates: bool = True,
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
    method : {"auto", "bca", "percentile", "t"}, default "auto"
        Of the intervals. "auto" is that of :meth:`Scores.interval` for means, and "bca" for differences.
    cluster, queries
        As for :meth:`Scores.interval`: clusters are resampled, and their signs flipped, whole.
    rng : numpy.random.Generator or int, default 0
    ties, missing, no_relevant, score_precision, check_duplicates
        As for :func:`evaluate`.

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
    design = Design(baseline, test, correction, alternative, confidence_level, n_resamples, method, rng)
    named = _named(runs)
    check_design(design, list(named), has_clusters=cluster is not None)
    chosen, judgments = parse_measures(measures), Qrels.of(qrels)
    evaluations: dict[str, Evaluation] = {}
    by_doc_id: dict[str, list[FloatArray]] = {}
    if check_duplicates:
        judgments.check_duplicates()
    for number, (name, run) in enumerate(named.items()):
        if check_duplicates:
            run.check_duplicates()
        evaluations[name] = evaluate(
            judgments,
            run,
            chosen,
            ties=ties,
            rng=generator(rng, number),  # of each run, its own draws
            missing="empty" if missing is None else missing,
            no_relevant=no_relevant,
            score_precision=score_precision,
            check_duplicates=False,
        )
        by_doc_id[name] = _by_doc_id(evaluations[name], judgments, rounded(run, score_precision))
    lacking = {name: one.missing_queries for name, one in evaluations.items() if one.missing_queries}
    if lacking and missing is None:
        warn_of_missing(lacking, len(next(iter(evaluations.values())).query_ids))
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
    rng: np.random.Generator | int | None = 0,
) -> Comparison:
    """Compare evaluations that there are already, or that were loaded from files.

    Parameters
    ----------
    evaluations : dict of str to Evaluation, or sequence of Evaluation
        Or paths of saved ones; of the same qrels, under the same conventions, with the same measures.
    baseline, test, correction, alternative, confidence_level, n_resamples, method, cluster, queries, rng
        As for :func:`compare`. What trec_eval's rule would say is not known without the runs.

    Returns
    -------
    Comparison

    Raises
    ------
    BaselineMismatchError
        They are of different qrels, conventions or measures.
    """
    named: dict[str, Evaluation]
    if isinstance(evaluations, Mapping):
        named = {str(name): opened(one) for name, one in evaluations.items()}
    else:
        named = _unique([(one.name, one) for one in map(opened, evaluations)])
    design = Design(baseline, test, correction, alternative, confidence_level, n_resamples, method, rng)
    check_design(design, list(named), has_clusters=cluster is not None)
    first, *others = named.items()
    for other in others:
        _check_comparable(first, other)
    _check_shared(named, design)
    return assemble(named, design, cluster, queries, {})


def _check_comparable(one: tuple[str, Evaluation], other: tuple[str, Evaluation]) -> None:
    """Raise `BaselineMismatchError` if two named evaluations are not of the same qrels, conventions and measures."""
    (name, first), (other_name, second) = one, other
    check_alike(first, second, f"{name} and {other_name}")
    left, right = (list(map(str, each.measures)) for each in (first, second))
    if set(left) != set(right):
        held = " and ".join(", ".join(measures) for measures in (left, right))
        raise BaselineMismatchError(
            f"{name} and {other_name} were evaluated with different measures ({held})",
            hint="evaluate both with the same",
        )


def _named(runs: Mapping[str, Source] | Sequence[Source]) -> dict[str, Run]:
    if isinstance(runs, Mapping):
        return {str(name): run if isinstance(run, Run) else Run(run, name=str(name)) for name, run in runs.items()}
    if isinstance(runs, str | Path) or not isinstance(runs, Iterable):
        raise ParameterError(argument="runs", given=runs, allowed="a dict of name to run, or a list of runs")
    return _unique([(run.name, run) for run in map(Run.of, runs)])


def _unique(named: list[tuple[str, Any]]) -> dict[str, Any]:
    names = [name for name, _ in named]
    for name in names:
        if names.count(name) > 1:
            raise ParameterError(f"two runs are named {name!r}", hint="give a dict of name to run")
    return dict(named)


def check_design(design: Design, names: list[str], *, has_clusters: bool) -> None:
    """Raise `ParameterError` if systems of these names, with or without clusters, cannot be compared so."""
    if len(names) < 2:
        raise ParameterError("a comparison needs two runs or more", given=len(names))
    if design.baseline is not None and design.baseline not in names:
        raise ParameterError(argument="baseline", given=design.baseline, allowed=names)
    check_choice("test", design.test, TESTS)
    check_choice("correction", design.correction, CORRECTIONS)
    check_choice("alternative", design.alternative, ALTERNATIVES)
    if design.method == PROPORTION:
        hint = "'auto' takes it for the means of measures that are 0 or 1; 'bca', 'percentile' and 't' are for both"
        problem = f"method={PROPORTION!r} is of means"
        raise ParameterError(problem, given=Plain("a comparison, which has differences"), hint=hint)
    check_choice("method", design.method, METHODS)
    level("confidence_level", design.confidence_level)
    resamples(design.n_resamples)
    generator(design.rng)
    if has_clusters and design.test not in {*CLUSTERED, TUKEY}:
        allowed = (*CLUSTERED, TUKEY)
        raise ParameterError(argument="test", given=design.test, allowed=allowed, beside={"cluster": None})
    if design.test == TUKEY and design.alternative != "two-sided":
        raise ParameterError(
            argument="alternative", given=design.alternative, allowed="'two-sided'", beside={"test": TUKEY}
        )


def _by_doc_id(evaluation: Evaluation, qrels: Qrels, run: Run) -> list[FloatArray]:
    """Give the scores under trec_eval's rule, for each measure of shape (n_queries,)."""
    placements = evaluation.placements
    ranked = policies.by_rule(placements, qrels, run, "doc_id")
    return [measure.mean(ranked) for measure in evaluation.measures]


def assemble(
    evaluations: Mapping[str, Evaluation],
    design: Design,
    cluster: Cluster,
    queries: Source | None,
    by_doc_id: Mapping[str, list[FloatArray]],
) -> Comparison:
    """Compare evaluations that are known to be comparable; `by_doc_id` are their scores under trec_eval's rule."""
    ids = np.array(sorted(set().union(*(one.query_ids.tolist() for one in evaluations.values()))), dtype=object)
    codes = cluster_codes(cluster, queries, ids)
    pairs, differences = compare_pairs(evaluations, ids, design, codes, by_doc_id)
    return Comparison(pairs, dict(evaluations), design, ids, differences, codes, by_doc_id)


def _check_shared(evaluations: Mapping[str, Evaluation], design: Design) -> None:
    """Raise an error if a pair has no query in common, as that of disjoint runs with missing="skip"."""
    names = list(evaluations)
    ids = [set(one.query_ids.tolist()) for one in evaluations.values()]
    for system, baseline in pairs_of(names, design.baseline):
        one, other = sorted((system, baseline))
        if ids[one].isdisjoint(ids[other]):
            sizes = f"{len(ids[one])} and {counted(len(ids[other]), 'query', 'queries')}"
            raise NoCommonQueryError(f"{names[one]} and {names[other]} have no query in common: {sizes}")


def corrected_together(found: dict[str | tuple[str, ...], Comparison]) -> dict[str | tuple[str, ...], Comparison]:
    """Correct the p values of all strata for all rows of each measure; Tukey's test has its own families."""
    parts = list(found.values())
    if not parts or parts[0].design.test == TUKEY:
        return found
    design = parts[0].design
    rows = [(stratum, pair) for stratum, part in found.items() for pair in part.pairs]
    adjusted = np.empty(len(rows))
    for measure in dict.fromkeys(pair.measure for _, pair in rows):
        own = [n for n, (_, pair) in enumerate(rows) if pair.measure == measure]
        adjusted[own] = adjust([rows[n][1].p_value for n in own], design.correction)
    pairs: dict[str | tuple[str, ...], list[Pair]] = {stratum: [] for stratum in found}
    is_significant = significant(adjusted, 1 - design.confidence_level).tolist()
    for (stratum, pair), p, shown in zip(rows, adjusted.tolist(), is_significant, strict=True):
        pairs[stratum].append(replace(pair, p_adjusted=p, significant=shown))
    return {stratum: replace(part, pairs=tuple(pairs[stratum])) for stratum, part in found.items()}
