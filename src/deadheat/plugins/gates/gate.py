"""gate(): does an evaluation reach its thresholds, and is it no worse than a baseline; each check, and why it fails."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from deadheat.core.arrays import IntArray, is_member
from deadheat.core.data.document_table import DocumentTable
from deadheat.core.data.queries import Queries
from deadheat.core.data.sources import Source
from deadheat.core.errors import Advice, ParameterError
from deadheat.core.evaluation.evaluate import check_collection
from deadheat.core.evaluation.evaluation import Evaluation
from deadheat.core.evaluation.intervals import Cluster, cluster_name
from deadheat.core.evaluation.labels import Labelled, distinct_labels
from deadheat.core.evaluation.open_evaluations import open_evaluation
from deadheat.core.evaluation.query_columns import cluster_codes
from deadheat.core.evaluation.reconciling import Reconciled, reconcile
from deadheat.core.evaluation.shared_weights import SharedWeights, share_weights
from deadheat.core.evaluation.stratum import names_of
from deadheat.core.random_generators import Rng, random_generator
from deadheat.plugins.gates.baseline import Baseline, open_baseline
from deadheat.plugins.gates.notation import Check, GateResult, Gates, Threshold, parse_all
from deadheat.plugins.gates.paired_values import pair_values
from deadheat.plugins.gates.regressions import check_regressions
from deadheat.plugins.gates.settings import GateOptions
from deadheat.plugins.gates.subsets import list_families, list_subsets
from deadheat.plugins.gates.thresholds import check_family


def gate(
    evaluation: Evaluation | str | Path,
    checks: Gates = (),
    *,
    baseline: Evaluation | Baseline | str | Path | None = None,
    no_regression: bool | None = None,
    no_worse_than: float | None = None,
    by: str | Sequence[str] = (),
    pool_languages: bool = False,
    allow_unknown: bool = False,
    alpha: float = 0.05,
    confidence_level: float = 0.95,
    method: str = "auto",
    n_resamples: int = 10_000,
    cluster: Cluster = None,
    queries: Source | None = None,
    rng: Rng = 0,
    collection: Source | None = None,
    strict: bool = False,
    judgments: str | None = None,
) -> GateResult:
    """Check whether an evaluation reaches thresholds, and whether it is no worse than a baseline.

    Parameters
    ----------
    evaluation : Evaluation or path
        Or the path of a saved one. If it was made with a judge's labels (``judge=``), thresholds are of the means that
        are estimated with their help; strata, a baseline and thresholds of tie orders are refused.
    checks : str, Threshold or iterable of them
        ``"nDCG@10 >= 0.8"`` is about the mean, or the total for a count such as NumRet; ``low(...)`` and ``high(...)``
        are the ends of its confidence interval; ``tie_min(...)``, ``tie_max(...)`` and ``tie_std(...)`` are its
        smallest and largest value and its standard deviation over tie orders. ``"each(language): nDCG@10 >= 0.5"`` is
        checked within each stratum of queries. The operators are ``>=``, ``>``, ``<=``, ``<``; numbers closer than
        1e-12 are equal. NaN never passes, nor does the end of an unknown interval (see :attr:`Interval.is_known`).
    baseline : Evaluation or path, optional
        Under the same conventions. Every measure that both have is compared. Of a folder it is the newest saved
        evaluation of the same run, or without one of the same label, which is not `evaluation` itself.
    no_regression : bool, optional
        Fail a measure whose mean is significantly lower than the baseline's (a one-sided paired t test). With few
        queries a pass proves little: ``Check.detectable`` is the loss that the test would find. True by default if
        there is a baseline and no `no_worse_than`.
    no_worse_than : float, optional
        Fail a measure unless a loss of this size or more is ruled out (non-inferiority): the lower bound of the
        difference, one-sided, is above ``-no_worse_than``. In the units of each measure (of GMAP and
        GMbpref in logarithms); above 0. Where differences are skewed, passing proves little unless Gaffke's
        bound, for which the range of the measure is enough, agrees.
    by : str or sequence of str, optional
        Columns of `queries`: every gate is also checked within each stratum of each column; ``"a:b"`` is for the
        combinations of two. Over the strata of a check, p values are corrected (Holm), and intervals hold
        simultaneously (Bonferroni).
    pool_languages : bool, default False
        Whether queries in different languages may be checked together; otherwise every gate is checked in each
        language if `queries` has several.
    allow_unknown : bool, default False
        Whether a gate may pass with fewer than 5 queries (or clusters), or with an interval of zero width; a comparison
        in which all values are equal passes in any case.
    alpha : float, default 0.05
        Level of the tests, not corrected for the number of measures: of 20 measures that did not change, one is
        expected to show a regression.
    confidence_level, method, n_resamples, rng
        Of the intervals, as for :meth:`Scores.interval`.
    cluster : str, dict or sequence, optional
        As for :meth:`Scores.interval`, for intervals and tests.
    queries : path, frame or Queries, optional
        The table with the columns of `by`, ``each(...)`` and `cluster`.
    collection, strict
        As for :func:`evaluate`.
    judgments : {"rescore", "shared", "strict"}, optional
        As for :func:`compare_evaluations`, if the baseline is of other qrels; thresholds are checked as evaluated.

    Returns
    -------
    GateResult
        True if every check passed. Its summary first names checks that passed but prove little.

    Raises
    ------
    ParameterError
        A gate cannot be parsed, or there is none.
    UnknownMeasureError
        The evaluation lacks a measure, or shares none with the baseline.
    DataError
        The baseline has other queries or conventions, or other qrels, and cannot be brought under the same. Of a folder
        no saved evaluation fits, or several do.

    References
    ----------
    Holm 1979, https://www.jstor.org/stable/4615733. Non-inferiority: Schuirmann 1987,
    https://doi.org/10.1007/BF01068419.

    Examples
    --------
    >>> from deadheat import evaluate
    >>> ev = evaluate({"q1": {"a": 1}}, {"q1": {"a": 0.5, "b": 0.5}}, ["RR"])
    >>> gate(ev, ["RR >= 0.75", "tie_min(RR) > 0.5"])
    <GateResult run: 1 of 2 gates failed: tie_min(RR) > 0.5 (0.5 is not above 0.5)>
    """
    if isinstance(checks, Mapping | DocumentTable) or not isinstance(evaluation, Evaluation | str | Path):
        raise ParameterError(
            found=f"{type(evaluation).__name__} and {type(checks).__name__}",
            allowed="an Evaluation or the path of a saved one, and gates such as 'RR >= 0.8'",
            hint="write dh.gate(dh.evaluate(qrels, run, ['RR']), ['RR >= 0.8'])",
        )
    thresholds = parse_all(checks)
    options = GateOptions(
        no_regression=_asks_for_regressions(thresholds, baseline, no_regression, no_worse_than),
        no_worse_than=no_worse_than,
        alpha=alpha,
        confidence_level=confidence_level,
        method=method,
        n_resamples=n_resamples,
        rng=rng,
        cluster=cluster_name(cluster),
        by=tuple(names_of(by, "by")) if by else (),
        pool_languages=pool_languages,
        allow_unknown=allow_unknown,
    )
    current = open_evaluation(evaluation)
    check_collection(current.qrels, collection, current.conventions.rel, strict=strict)
    opened_baseline = None if baseline is None else open_baseline(baseline, current.name, current)
    # cluster_codes refuses a table that nothing uses
    has_strata = bool(options.by) or any(threshold.by for threshold in thresholds)
    has_other_use = has_strata or current.weights is not None
    table_of_clusters = queries if isinstance(cluster, str) or not has_other_use else None
    codes = cluster_codes(cluster, table_of_clusters, current.query_ids)
    table = None if queries is None else Queries.of(queries)
    query_ids = current.query_ids.tolist()
    languages = () if table is None else table.languages(query_ids)
    families = list_families(options.by, table)
    checks_of_thresholds = _check_thresholds(current, thresholds, families, table, options=options, cluster=codes)
    comparison = BaselineChecks(_name(current))
    if opened_baseline is not None:
        comparison = _check_baseline(
            current, opened_baseline, families, table, options=options, cluster=codes, judgments=judgments
        )
    return GateResult(
        name=comparison.name,
        checks=_sort_checks(thresholds, [*checks_of_thresholds, *comparison.checks]),
        n_queries=len(query_ids),
        baseline=comparison.baseline_name,
        baseline_file="" if opened_baseline is None else opened_baseline.file,
        is_unchanged=comparison.is_unchanged,
        not_compared=comparison.not_compared,
        options=options,
        languages=languages if len(languages) > 1 else (),
        evaluation=current,
        together=comparison.together,
        shared_weights=comparison.shared_weights,
    )


def _asks_for_regressions(
    thresholds: Sequence[Threshold], baseline: object, no_regression: object, no_worse_than: float | None
) -> bool:
    """Return whether to test for a regression; raise if there is nothing to check, or no baseline to compare with."""
    if baseline is None:
        for name, given in (("no_regression", no_regression), ("no_worse_than", no_worse_than)):
            if given is not None and given is not False:
                raise ParameterError(
                    "needs a baseline, and there is none", argument=name, given=given, hint=Advice("baseline")
                )
    if no_regression is None:
        is_asked = no_worse_than is None
    else:
        is_asked = GateOptions.checked("no_regression", no_regression)
    if baseline is None and not thresholds:
        raise ParameterError(
            "nothing to check", hint="give gates such as ['nDCG@10 >= 0.8', 'low(RR) > 0.7'], or a baseline"
        )
    if baseline is not None and not is_asked and no_worse_than is None:
        raise ParameterError(
            "there is a baseline, but nothing to check against it",
            hint="give no_worse_than=0.01, or leave no_regression=False out",
        )
    return baseline is not None and is_asked


def _check_thresholds(
    evaluation: Evaluation,
    thresholds: Sequence[Threshold],
    families: Sequence[tuple[str, ...]],
    table: Queries | None,
    *,
    options: GateOptions,
    cluster: IntArray | None,
) -> list[Check]:
    """Check thresholds in each family of subsets, or in the strata that a threshold names."""
    by_family: dict[tuple[str, ...], list[Threshold]] = {}
    for threshold in thresholds:
        for columns in [threshold.by] if threshold.by else families:
            by_family.setdefault(columns, []).append(threshold)
    one_stream = replace(options, rng=random_generator(options.rng))  # every subset draws its own resamples from it
    query_ids = evaluation.query_ids.tolist()
    checks = []
    for columns, of_family in by_family.items():
        subsets = list_subsets(columns, table, query_ids, pool_languages=options.pool_languages)
        checks += check_family(evaluation, of_family, subsets, one_stream, cluster)
    return checks


@dataclass(frozen=True)
class BaselineChecks:
    """What came of the comparison with a baseline.

    Attributes
    ----------
    name : str
        What the evaluation is called.
    baseline_name : str or None
        None without a baseline, and then nothing was checked.
    checks : tuple of Check
    is_unchanged : bool
        Whether both have the same values.
    not_compared : tuple of str
        The measures that only one of the two has.
    together : Reconciled or None
        How they were brought together, if their judgments differ.
    shared_weights : SharedWeights or None
        How they came by the same weights, if they had others.
    """

    name: str
    baseline_name: str | None = None
    checks: tuple[Check, ...] = ()
    is_unchanged: bool = False
    not_compared: tuple[str, ...] = ()
    together: Reconciled | None = None
    shared_weights: SharedWeights | None = None


def _check_baseline(
    evaluation: Evaluation,
    opened: Baseline,
    families: Sequence[tuple[str, ...]],
    table: Queries | None,
    *,
    options: GateOptions,
    cluster: IntArray | None,
    judgments: str | None,
) -> BaselineChecks:
    """Compare an evaluation with its baseline in each family of subsets."""
    name, baseline_name = _name_both(evaluation, opened.evaluation)
    named, shared_weights = share_weights({name: evaluation, baseline_name: opened.evaluation}, name)
    named, together = reconcile(named, judgments)
    current, baseline = named[name], named[baseline_name]
    if cluster is not None:
        cluster = cluster[is_member(evaluation.query_ids, current.query_ids)]
    pairing = pair_values(current, baseline, cluster)
    query_ids = current.query_ids.tolist()
    checks = []
    for columns in families:
        subsets = list_subsets(columns, table, query_ids, pool_languages=options.pool_languages)
        checks += check_regressions(pairing.pairs, subsets, options)
    return BaselineChecks(
        name=name,
        baseline_name=baseline_name,
        checks=tuple(checks),
        is_unchanged=pairing.pairs.are_equal,
        not_compared=pairing.not_compared,
        together=together,
        shared_weights=shared_weights,
    )


def _name(evaluation: Evaluation) -> str:
    """Return what an evaluation is called: by the label that somebody gave it when it was saved, or by its run."""
    labels = distinct_labels([Labelled.of(evaluation)])
    return evaluation.name if labels is None else labels[0]


def _name_both(evaluation: Evaluation, baseline: Evaluation) -> tuple[str, str]:
    """Return what an evaluation and its baseline are called: by their labels, or by their runs."""
    labels = distinct_labels([Labelled.of(evaluation), Labelled.of(baseline)])
    if labels is not None:
        return labels[0], labels[1]
    name = _name(evaluation)
    baseline_name = _name(baseline)
    if name == baseline_name:
        baseline_name += " (baseline)"
    return name, baseline_name


def _sort_checks(thresholds: Sequence[Threshold], checks: Sequence[Check]) -> tuple[Check, ...]:
    """Return checks in the order in which their gates were given, those against the baseline last; each once."""
    gates = dict.fromkeys([threshold.text for threshold in thresholds])
    gates |= dict.fromkeys([check.gate for check in checks])
    places = {gate: place for place, gate in enumerate(gates)}
    distinct = {
        (check.gate, check.threshold, check.by, check.stratum): check for check in checks
    }  # families share strata
    return tuple(sorted(distinct.values(), key=lambda check: places[check.gate]))
