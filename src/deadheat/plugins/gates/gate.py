"""gate(): does an evaluation reach its thresholds, and is it no worse than a baseline; each check, and why it fails."""

import math
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np

from deadheat.core import stats
from deadheat.core.arrays import BoolArray, FloatArray, IntArray, TextArray, is_member
from deadheat.core.data.document_table import DocumentTable
from deadheat.core.data.queries import Queries
from deadheat.core.data.sources import Source
from deadheat.core.errors import Advice, DataError, ParameterError, UnknownMeasureError, UnlabelledQueriesWarning
from deadheat.core.evaluation.evaluate import check_collection
from deadheat.core.evaluation.evaluation import Evaluation
from deadheat.core.evaluation.interval_estimates import estimate_intervals, stack_weights
from deadheat.core.evaluation.intervals import FEWEST, Cluster, Interval, IntervalOptions, cluster_name
from deadheat.core.evaluation.labels import Labelled, distinct_labels
from deadheat.core.evaluation.open_evaluations import open_evaluation
from deadheat.core.evaluation.query_columns import cluster_codes
from deadheat.core.evaluation.reconciling import reconciled
from deadheat.core.evaluation.scores import Scores
from deadheat.core.evaluation.shared_weights import share_weights
from deadheat.core.evaluation.stratum import columns_of, groupings_of, is_assigned, label, names_of
from deadheat.core.evaluation.stratum_places import groups
from deadheat.core.evaluation.together import check_use
from deadheat.core.kernels import weighting
from deadheat.core.measures import Measure, unit_of
from deadheat.core.random_generators import Rng, random_generator
from deadheat.core.scalars import NOISE
from deadheat.core.settings import BOUNDED, PROPORTION
from deadheat.core.structures import group_values
from deadheat.core.wording import format_count, format_for_people, format_p_value
from deadheat.plugins.gates.baseline import Baseline, open_baseline
from deadheat.plugins.gates.notation import LOWER_IS_BETTER, QUESTIONS, Check, GateResult, Gates, Threshold, parse_all
from deadheat.plugins.gates.settings import GateOptions

FEWEST_BEYOND = 10  # resampled means beyond either end of an interval, at least, in strata
ENDS = ("low", "high")  # of a confidence interval
MOST_QUERIES = 3  # named behind a failure
MISSED = {">=": "below", ">": "not above", "<=": "above", "<": "not below"}
# why a threshold failed, or why its passing proves little
FAILED = {
    "no query": "no query has a value",
    "unknown": "cannot be known: {unknown}",
    "no interval": "no interval: it takes two queries with a value, or two clusters, and there is {unknown}",
    "missed": "{value:.{digits}g} is {missed} {bound:.15g}",
}
PASSED = {
    "unknown": "{unknown}",
    "trivial": "no ranking is {side} {easiest:.4g}",
    "luck": "one random order of the ties gave this value",
    "missing": "{left_out} left out, with which as empty rankings it fails",
}
BEYOND_REACH = {  # by whether it is the end of an interval
    False: ", which cannot be reached: the judgments allow at {end} {reachable:.4g}",
    True: ", which cannot be reached: with {units} the interval of the ideal ranking ends at {reachable:.4g}",
}
POWER = 0.8
# of the comparison with a baseline
REASONS = {
    "no query": "no query has a value in both",
    "unknown": "cannot be known with {units}",
    "needs": "a test needs two queries, or two clusters; there is {units}",
    "worse": "worse by {loss:.4g}{unit}",
    "significant": "worse by {loss:.4g}{unit}, significantly ({p})",
    "not significant": "worse by {loss:.4g}{unit}, but not significantly ({p})",
    "not ruled out": "a loss of {margin:.15g}{unit} or more is not ruled out ({p})",
    "lost": "{lost} left out, with a value only in the baseline",
    "power": "with {units} only a loss of {detectable:.2g}{unit} or more would be found (power {power:.0%})",
    "few": "with {units}",
    # a sample with few large losses, or gains, may have missed others, which a t test ignores
    "skewed gains": "differences too skewed ({skewness:+.1f}) for {units}: a t test finds losses too easily",
    "skewed losses": "differences too skewed ({skewness:+.1f}) for {units}: a t test rules out losses too easily",
    "constant": "all differences of {units} are equal",
}


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
    options = GateOptions.of(
        locals(),
        no_regression=_asked(thresholds, baseline, no_regression, no_worse_than),
        cluster=cluster_name(cluster),
        by=tuple(names_of(by, "by")) if by else (),
    )
    own = open_evaluation(evaluation)
    check_collection(own.qrels, collection, own.conventions.rel, strict=strict)
    known = None if baseline is None else open_baseline(baseline, own.name, own)
    # cluster_codes refuses a table that nothing uses
    has_other_use = bool(options.by) or any(one.by for one in thresholds) or own.weights is not None
    codes = cluster_codes(cluster, queries if isinstance(cluster, str) or not has_other_use else None, own.query_ids)
    table, ids = None if queries is None else Queries.of(queries), own.query_ids.tolist()
    languages = () if table is None else table.languages(ids)
    families = [(), *([options.by] if table is None else groupings_of(options.by, table))] if options.by else [()]
    family_of = partial(_subsets, table=table, pool_languages=pool_languages)
    one_stream = replace(options, rng=random_generator(options.rng))  # every subset draws its own resamples from it
    asked = group_values((columns, one) for one in thresholds for columns in ([one.by] if one.by else families))
    found = [
        check
        for columns, of_family in asked.items()
        for check in check_family(own, of_family, family_of(columns, query_ids=ids), one_stream, codes)
    ]
    own_name = _name_of(own)
    name = together = shared_weights = None
    not_compared: tuple[str, ...] = ()
    is_unchanged = False
    if known is not None:
        before = known.evaluation
        own_name, name = _names_of(own, before)
        named, shared_weights = share_weights({own_name: own, name: before}, own_name)
        named, together = reconciled(named, judgments)
        one, other = named.values()
        pairs, not_compared = paired(
            one, other, None if codes is None else codes[is_member(own.query_ids, one.query_ids)]
        )
        is_unchanged = pairs.are_equal
        found += [
            check
            for by in families
            for check in regressions(pairs, family_of(by, query_ids=one.query_ids.tolist()), options)
        ]
    gates = dict.fromkeys((*(one.text for one in thresholds), *(check.gate for check in found)))
    place = {text: n for n, text in enumerate(gates)}
    once = {(check.gate, check.threshold, check.by, check.stratum): check for check in found}  # families share strata
    found = sorted(once.values(), key=lambda check: place[check.gate])
    return GateResult(
        name=own_name,
        checks=tuple(found),
        n_queries=len(ids),
        baseline=name,
        baseline_file="" if known is None else known.file,
        is_unchanged=is_unchanged,
        not_compared=not_compared,
        options=options,
        languages=languages if len(languages) > 1 else (),
        evaluation=own,
        together=together,
        shared_weights=shared_weights,
    )


def _name_of(evaluation: Evaluation) -> str:
    """Return what an evaluation is called: by the label that somebody gave it when it was saved, or by its run."""
    labels = distinct_labels([Labelled.of(evaluation)])
    return evaluation.name if labels is None else labels[0]


def _names_of(evaluation: Evaluation, baseline: Evaluation) -> tuple[str, str]:
    """Return what an evaluation and its baseline are called: by their labels, or by their runs."""
    labels = distinct_labels([Labelled.of(evaluation), Labelled.of(baseline)])
    if labels is not None:
        return labels[0], labels[1]
    own, other = _name_of(evaluation), _name_of(baseline)
    if own == other:
        other += " (baseline)"
    return own, other


def _asked(
    thresholds: Sequence[Threshold], baseline: object, no_regression: object, no_worse_than: float | None
) -> bool:
    """Return whether to test for a regression; raise if there is nothing to check, or no baseline to compare with."""
    if baseline is None:
        for name, given in (("no_regression", no_regression), ("no_worse_than", no_worse_than)):
            if given is not None and given is not False:
                raise ParameterError(
                    "needs a baseline, and there is none", argument=name, given=given, hint=Advice("baseline")
                )
    asked = no_worse_than is None if no_regression is None else GateOptions.checked("no_regression", no_regression)
    if baseline is None and not thresholds:
        raise ParameterError(
            "nothing to check", hint="give gates such as ['nDCG@10 >= 0.8', 'low(RR) > 0.7'], or a baseline"
        )
    if baseline is not None and not asked and no_worse_than is None:
        raise ParameterError(
            "there is a baseline, but nothing to check against it",
            hint="give no_worse_than=0.01, or leave no_regression=False out",
        )
    return baseline is not None and asked


def _subsets(
    by: Sequence[str], table: Queries | None, query_ids: list[str], *, pool_languages: bool
) -> "tuple[Subset, ...]":
    """Return the strata of some columns as one family, in each language if there are several; else all queries.

    Raises
    ------
    ParameterError
        There is no table.
    DataError
        It lacks a column, or has none of the queries, or has no value for any of them.
    """
    if table is None and by:
        raise ParameterError(
            "needs a queries table", argument="by", given=", ".join(by), hint=Advice("queries", "queries.csv")
        )
    columns = [] if table is None else columns_of(table, query_ids, by, pool_languages=pool_languages)
    if table is None or not columns:
        return (Subset("", "", np.arange(len(query_ids))),)
    table.check_columns(by)
    with warnings.catch_warnings(action="ignore", category=UnlabelledQueriesWarning):  # they are a stratum, with a name
        found = groups(query_ids, columns, table, pool_languages=True)
    if not any(map(is_assigned, found)):
        raise DataError(
            f"no evaluated query has a {' and a '.join(columns)}: there is nothing to check by", path=table.where
        )
    return tuple(Subset(", ".join(columns), label(stratum), places) for stratum, places in found.items())


@dataclass(frozen=True, eq=False)
class Subset:
    """A subset of the queries.

    Attributes
    ----------
    by, stratum : str
        The stratum columns and their values; empty for all queries.
    places : ndarray of int
        Of its queries.
    """

    by: str
    stratum: str
    places: IntArray


def check_family(
    evaluation: Evaluation,
    thresholds: Sequence[Threshold],
    family: Sequence[Subset],
    options: GateOptions,
    cluster: IntArray | None,
) -> Iterator[Check]:
    """Check thresholds in each subset of a family.

    Intervals hold for all subsets at once: their level is raised to ``1 - (1 - level) / n_subsets`` (Bonferroni). The
    intervals of one subset share their resamples; many strata need more of them.

    Parameters
    ----------
    evaluation : Evaluation
    thresholds : sequence of Threshold
    family : sequence of Subset
    options : GateOptions
    cluster : ndarray of int, shape (n_queries,), or None
        The code of each query's cluster.

    Raises
    ------
    ParameterError
        A gate asks for an interval of a count, which is reported as a total and has none.
    """
    for one in thresholds:
        if evaluation[one.label].measure.total and one.quantity in ENDS:
            raise ParameterError(
                f"cannot check {str(one)!r}: {one.label} is a count, whose total over these queries has no "
                f"interval; check the total, as in '{one.label} {one.operator} {one.bound:.15g}'"
            )
        if one.quantity.startswith("tie_") and not evaluation[one.label].measure.knows_ties:
            raise ParameterError(
                f"cannot check {str(one)!r}: the values came without their rankings, so nothing is known of their ties",
                hint="evaluate the run with deadheat",
            )
        if one.quantity.startswith("tie_") and evaluation[one.label].is_estimated:
            raise ParameterError(
                f"cannot check {str(one)!r}: it is not known how far ties move a mean that a judge's labels help to"
                " estimate",
                hint="evaluate without a judge",
            )
    if any(subset.by for subset in family):
        check_use("gate by strata", [evaluation])
    level = 1 - (1 - options.confidence_level) / len(family)
    # the further out an end, the more resamples it takes to see it
    least = math.ceil(2 * FEWEST_BEYOND / (1 - level)) if len(family) > 1 else 0
    raised = replace(options, confidence_level=level, n_resamples=max(options.n_resamples, least))
    names = list(dict.fromkeys(one.measure for one in thresholds if one.quantity in ENDS))
    for subset in family:
        is_whole = len(subset.places) == len(evaluation.query_ids)
        own = evaluation if is_whole else evaluation.select(subset.places)
        of_subset = IntervalOptions.of(vars(raised), cluster=None if cluster is None else cluster[subset.places])
        ends = (
            dict(zip(names, estimate_intervals([own[name] for name in names], of_subset), strict=True)) if names else {}
        )
        # with a seed of their own, which does not change what others draw
        best = estimate_intervals([own[name].ideal for name in names], replace(of_subset, rng=0)) if names else []
        # of methods whose ends are never above those of higher values
        best_ends = {name: one for name, one in zip(names, best, strict=True) if one.method in {PROPORTION, BOUNDED}}
        for one in thresholds:
            yield _reached(
                one,
                own[one.measure],
                ends[one.measure] if one.quantity in ENDS else None,
                best_ends.get(one.measure) if one.quantity in ENDS else None,
                subset,
                evaluation=evaluation,
                options=options,
            )


def _reached(
    threshold: Threshold,
    scores: Scores,
    interval: Interval | None,
    of_ideal: Interval | None,
    subset: Subset,
    *,
    evaluation: Evaluation,
    options: GateOptions,
) -> Check:
    """Return the check of a threshold in a subset; of the causes that hold, the first says why it came out so."""
    quantity, bound, measure = threshold.quantity, threshold.bound, scores.measure
    if interval is not None:
        value = getattr(interval, quantity)
    else:
        value = scores.reported("" if quantity == "mean" else quantity) if scores.n_queries else math.nan
    unknown = "" if interval is None else interval.unknown
    passed = threshold.holds(value) and (not unknown or options.allow_unknown)
    rises, is_higher_better = threshold.operator[0] == ">", quantity not in LOWER_IS_BETTER and measure.higher_is_better
    best, easiest = _limits(threshold, scores, of_ideal, is_higher_better=is_higher_better)
    n_left_out = 0 if subset.by else _n_left_out(threshold, scores, evaluation)
    if passed:
        found = _doubts(threshold, scores, unknown, easiest, n_left_out, ties=evaluation.ties)
    else:
        found = {
            "no query": not scores.n_queries,
            "unknown": unknown and not options.allow_unknown,
            "no interval": math.isnan(value),
            "missed": True,
        }
    cause = next((name for name, holds in found.items() if holds), "")
    why = (PASSED if passed else FAILED)[cause] if cause else ""
    # an interval may go beyond its mean: nothing is said of the end on that side
    has_limit = not math.isnan(best) and is_higher_better == rises and quantity != ("high" if rises else "low")
    is_beyond = not passed and has_limit and not threshold.holds(best)
    digits = next((n for n in range(4, 15) if f"{value:.{n}g}" != f"{bound:.{n}g}"), 15)  # until they can be told apart
    return Check(
        gate=threshold.text,
        measure=threshold.label,
        quantity=quantity,
        value=value,
        operator=threshold.operator,
        threshold=bound,
        passed=passed,
        because=f"{why}{BEYOND_REACH[quantity in ENDS] * is_beyond}".format(
            units=format_count(scores.n_queries, "query", "queries"),
            unknown=unknown,
            value=value,
            digits=digits,
            missed=MISSED[threshold.operator],
            bound=bound,
            side="below" if rises else "above",
            easiest=easiest,
            left_out=format_count(n_left_out, "missing query", "missing queries"),
            end="most" if measure.higher_is_better else "least",
            reachable=best,
        ),
        n_queries=scores.n_queries,
        reachable=None if math.isnan(best) else best,
        is_beyond=is_beyond,
        proves_little=passed and bool(cause),
        by=subset.by,
        stratum=subset.stratum,
        confidence_level=None if interval is None else interval.confidence_level,
        method="" if interval is None else interval.method,
        worst="" if passed else _worst(threshold, scores),
        causes=(cause,) if cause else (),
        tie_range=_tie_range(threshold, scores),
    )


def _tie_range(threshold: Threshold, scores: Scores) -> tuple[float, float] | None:
    """Return between what the order of ties moves a mean, or total, if some orders reach the threshold only."""
    if threshold.quantity != "mean" or not scores.n_queries or scores.is_estimated:
        return None
    low, high = scores.reported("tie_min"), scores.reported("tie_max")
    if threshold.holds(low) == threshold.holds(high):
        return None
    return low, high


def _limits(
    threshold: Threshold, scores: Scores, of_ideal: Interval | None, *, is_higher_better: bool
) -> tuple[float, float]:
    """Return the best value that the judgments allow, NaN where they set no limit, and the value that passes easiest.

    `of_ideal` is the interval of the ideal ranking, if the threshold is about the end of an interval.
    """
    low, high = scores.limits
    if scores.predicted is not None:
        best = math.nan  # the ideal ranking of the queries that a judge alone labelled is not known
    elif of_ideal is not None:
        best = getattr(of_ideal, threshold.quantity)
    elif threshold.quantity in LOWER_IS_BETTER:
        best, low, high = 0.0, 0.0, math.inf  # a spread over ties may be 0
    else:
        best = scores.reachable * (scores.n_queries if scores.measure.total else 1)
    rises = threshold.operator[0] == ">"
    if not math.isnan(best) and is_higher_better != rises:
        return best, best
    return best, low if rises else high


def _n_left_out(threshold: Threshold, scores: Scores, evaluation: Evaluation) -> int:
    """Return how many missing queries a mean leaves out that would count 0; none where it is not known what they do."""
    measure, conventions = scores.measure, evaluation.conventions
    would_count_0 = measure.higher_is_better and measure.range[0] == 0 and conventions.no_relevant in {None, "zero"}
    is_mean = threshold.quantity in {"mean", "low"} and not measure.total and not scores.is_weighted
    if conventions.missing != "skip" or not would_count_0 or not is_mean:
        return 0
    unanswerable = evaluation.unanswerable if conventions.no_relevant is None and measure.asks_for_relevant else ()
    return len({*evaluation.missing_queries}.difference(unanswerable))


def _doubts(
    threshold: Threshold, scores: Scores, unknown: str, easiest: float, n_left_out: int, *, ties: str
) -> dict[str, object]:
    """Return why passing a gate may prove little, each with whether it holds."""
    return {
        "unknown": unknown,
        "trivial": threshold.quantity not in ENDS and math.isfinite(easiest) and threshold.holds(easiest),
        "luck": ties == "random" and not threshold.quantity.startswith("tie_") and scores.tie_std_of_values,
        "missing": n_left_out and not threshold.holds(scores.mean * scores.n_queries / (scores.n_queries + n_left_out)),
    }


def _worst(threshold: Threshold, scores: Scores) -> str:
    """Return the queries furthest on the wrong side, by the values that the quantity is a mean of."""
    values: FloatArray = scores.values if threshold.quantity in {"mean", *ENDS} else getattr(scores, threshold.quantity)
    if scores.measure.geometric:  # as the value is
        values = values * scores.mean if threshold.quantity == "tie_std" else np.exp(values)
    sign = 1 if threshold.operator[0] == ">" else -1
    return lowest(
        scores.query_ids,
        sign * values,
        "lowest" if sign > 0 else "highest",
        below=math.inf if scores.measure.total else sign * threshold.bound,  # a total is of all queries together
        weights=scores.weights,
    )


def lowest(
    query_ids: TextArray,
    values: FloatArray,
    what: str = "lowest",
    *,
    below: float = math.inf,
    weights: FloatArray | None = None,
    unit: str = "",
) -> str:
    """Return the queries with the lowest values, and how many more have that of the last one named.

    Parameters
    ----------
    query_ids : ndarray of str, shape (n_queries,)
    values : ndarray of float, shape (n_queries,)
        NaN where a query has none.
    what : {"lowest", "highest", "losses"}
        "highest": `values` are those of the queries with the other sign, which the text turns back. "losses": they are
        differences from a baseline, higher being better.
    below : float
        Only values below this are named: the others pull nothing down.
    weights : ndarray of float, shape (n_queries,), optional
        The queries are then those that pull furthest below `below`.
    unit : str, default ""
        What follows "losses".

    Examples
    --------
    >>> ids = np.array(["q1", "q2", "q3", "q4", "q5"])
    >>> lowest(ids, np.array([0.5, 0.0, 1.0, 0.0, 1 / 3]))
    'lowest: q2 0.00, q4 0.00, q5 0.33'
    >>> lowest(ids, np.array([0.0, 0.0, 0.0, 0.0, 1.0]))
    'lowest: q1 0.00, q2 0.00, q3 0.00 and 1 more of 0.00'
    >>> lowest(ids, np.array([-0.5, 0.0, 0.1, np.nan, 0.0]), "losses", below=0)
    'largest losses: q1 -0.50'
    """
    pulls = values if weights is None or math.isinf(below) else weights * (values - below)
    order = np.argsort(pulls, kind="stable")  # NaN comes last
    order = order[~np.isnan(values[order])]
    has_worst = len(order) and (what == "losses" or values[order[-1]] - values[order[0]] > NOISE)
    order = order[values[order] < below - NOISE]
    if not (has_worst and len(order)):  # where all are equal, none is behind it more than others
        return ""
    sign = -1 if what == "highest" else 1
    named = order[:MOST_QUERIES]
    shown = [f"{format_for_people(str(query_ids[place]))} {sign * values[place] + 0.0:.2f}" for place in named]
    last = values[named[-1]]
    n_more = int((np.abs(values[order[MOST_QUERIES:]] - last) < NOISE).sum())
    more = f" and {n_more:,} more of {sign * last + 0.0:.2f}" if n_more else ""
    return f"{f'largest losses{unit}' if what == 'losses' else what}: {', '.join(shown)}{more}"


@dataclass(frozen=True, eq=False)
class PairedValues:
    """The values of shared measures in an evaluation and its baseline, query by query.

    Attributes
    ----------
    measures : tuple of Measure
    values, before : ndarray of float, shape (n_queries, n_measures)
        NaN in both where either has no value.
    is_lost : ndarray of bool, shape (n_queries, n_measures)
        Where only the baseline has a value.
    cluster : ndarray of int, shape (n_queries,), or None
    query_ids : ndarray of str, shape (n_queries,)
    weights : ndarray of float, shape (n_queries, n_measures), or None
        How much each query counts.
    """

    measures: tuple[Measure, ...]
    values: FloatArray
    before: FloatArray
    is_lost: BoolArray
    cluster: IntArray | None
    query_ids: TextArray
    weights: FloatArray | None = None

    @cached_property
    def better(self) -> FloatArray:
        """The differences, above 0 where the evaluation is better."""
        return (self.values - self.before) * np.array([one.sign for one in self.measures])

    @property
    def are_equal(self) -> bool:
        """Whether both have the same values."""
        return bool(np.array_equal(self.values, self.before, equal_nan=True)) and not self.is_lost.any()

    @cached_property
    def n_queries(self) -> IntArray:
        """Queries with a value in both, of shape (n_measures,)."""
        return (~np.isnan(self.values)).sum(axis=0)

    @cached_property
    def n_units(self) -> IntArray:
        """Queries with a value in both, or their clusters, of shape (n_measures,); by weight what they are worth."""
        found, kept = self.n_queries, ~np.isnan(self.values)
        if self.cluster is not None:
            found = np.array([len(np.unique(self.cluster[column])) for column in kept.T], np.int64)
        if self.weights is not None:
            columns = zip(self.weights.T, kept.T, strict=True)
            found = np.minimum(found, [int(weighting.effective_number(own[of])) for own, of in columns])
        return found

    @cached_property
    def is_same(self) -> BoolArray:
        """Which measures have values that are all equal in both, and lost none."""
        return (
            (self.n_queries > 0)
            & ~self.is_lost.any(axis=0)
            & (np.nan_to_num(np.abs(self.better)) < stats.NEGLIGIBLE_DIFFERENCE).all(axis=0)
        )

    @cached_property
    def scales(self) -> FloatArray:
        """The factors from means to reported numbers: the number of queries for counts, reported as totals; else 1."""
        return np.where([one.total for one in self.measures], np.maximum(self.n_queries, 1.0), 1.0)

    def is_known(self, options: GateOptions) -> BoolArray:
        """Whether all values are equal, or enough for a test, of shape (n_measures,)."""
        return self.is_same | ((self.n_units >= FEWEST) | options.allow_unknown) & (self.n_queries > 0)

    def select(self, places: IntArray) -> "PairedValues":
        """Return the pairs of some queries."""
        columns = (self.values, self.before, self.is_lost, self.cluster, self.query_ids, self.weights)
        return PairedValues(self.measures, *(None if column is None else column[places] for column in columns))  # type: ignore[arg-type]


def paired(
    evaluation: Evaluation, baseline: Evaluation, cluster: IntArray | None
) -> tuple[PairedValues, tuple[str, ...]]:
    """Return the pairs of every shared measure, and the measures that only one of the two has.

    Raises
    ------
    DataError
        They have other queries.
    UnknownMeasureError
        They share no measure.
    """
    names = f"{evaluation.name} and its baseline {baseline.name}"
    if evaluation.queries_hash != baseline.queries_hash:
        ids, others = (set(one.query_ids.tolist()) for one in (evaluation, baseline))
        only = " and ".join(
            f"{len(one)} only in {name}, such as {min(one)!r}"
            for name, one in ((evaluation.name, ids - others), (baseline.name, others - ids))
            if one
        )
        why = " (missing='skip' leaves out the queries that a run lacks)" * (baseline.conventions.missing == "skip")
        raise DataError(f"{names} are of different queries: {only}", hint=f"evaluate both on the same queries{why}")
    check_use("baseline", (evaluation, baseline))
    own, of_baseline = ({str(one.measure): one for one in each} for each in (evaluation, baseline))
    shared = [name for name in own if name in of_baseline]
    if not shared:
        raise UnknownMeasureError(f"{names} share no measure: {', '.join(own)} and {', '.join(of_baseline)}")
    values, before = (np.column_stack([each[name].values for name in shared]) for each in (own, of_baseline))
    lacking, is_lost = np.isnan(values - before), np.isnan(values) & ~np.isnan(before)
    values, before = (np.where(lacking, np.nan, each) for each in (values, before))
    alone = [one.measure.label for name, one in {**of_baseline, **own}.items() if name not in shared]
    measures, weights = tuple(own[name].measure for name in shared), stack_weights([own[name] for name in shared])
    return PairedValues(measures, values, before, is_lost, cluster, evaluation.query_ids, weights), tuple(sorted(alone))


def regressions(pairs: PairedValues, family: Sequence[Subset], options: GateOptions) -> Iterator[Check]:
    """Ask the questions of all measures in each subset of a family; p values are corrected over its subsets (Holm)."""
    subsets = [pairs.select(subset.places) for subset in family]
    for question in [one for one in QUESTIONS if getattr(options, one)]:
        found = [_tested(question, of_subset, options) for of_subset in subsets]
        adjusted = np.column_stack(
            [stats.adjust(of_measure, "holm") for of_measure in np.column_stack([p_values for p_values, _ in found])]
        )
        for subset, of_subset, (p_values, bounds), p_adjusted in zip(family, subsets, found, adjusted, strict=True):
            for n, test in enumerate(zip(p_values.tolist(), p_adjusted.tolist(), bounds.tolist(), strict=True)):
                yield replace(
                    _compared(question, of_subset, n, test, options=options, n_subsets=len(family)),
                    by=subset.by,
                    stratum=subset.stratum,
                )


def _tested(question: str, pairs: PairedValues, options: GateOptions) -> tuple[FloatArray, FloatArray]:
    """Return the p value and the bound of the difference of each measure; p is NaN where a test says nothing."""
    better, level = pairs.better, 1 - options.alpha
    of_pairs: dict[str, Any] = {"cluster": pairs.cluster, "weights": pairs.weights}
    if question == "no_regression":
        p_values = stats.p_values(-better, test="t", alternative="greater", **of_pairs).p_values
        bounds = stats.interval_bounds(better, method="t", confidence_level=2 * level - 1, **of_pairs)[1]
    else:
        found = stats.no_worse(
            better, (options.no_worse_than or 0.0) / pairs.scales, confidence_level=level, **of_pairs
        )
        p_values, bounds = np.where(pairs.is_same, 0.0, found.p_values), found.low
    return np.where(pairs.is_known(options), p_values, np.nan), pairs.scales * bounds


def _compared(
    question: str,
    pairs: PairedValues,
    n: int,
    test: tuple[float, float, float],
    *,
    options: GateOptions,
    n_subsets: int,
) -> Check:
    """Return the check of one question and measure; every cause that holds says why it came out so.

    `test` has p, p adjusted and the bound of the difference.
    """
    (p_value, p_adjusted, bound), measure, column = test, pairs.measures[n], pairs.better[:, n]
    scale, n_queries, n_units = float(pairs.scales[n]), int(pairs.n_queries[n]), int(pairs.n_units[n])
    weights, kept = None if pairs.weights is None else pairs.weights[:, n], ~np.isnan(column)
    mean, before, better = (
        scale * weighting.mean(each[kept], None if weights is None else weights[kept])
        for each in (pairs.values[:, n], pairs.before[:, n], column)
    )
    is_no_regression, n_lost = question == "no_regression", int(pairs.is_lost[:, n].sum())
    detectable = _detectable(pairs, n, options.alpha / n_subsets) if is_no_regression else None
    (skewness,), sizes = stats.skewness(column[:, np.newaxis], cluster=pairs.cluster, weights=weights)
    passed, why = _decided(
        question,
        pairs,
        n,
        p_adjusted,
        better=better,
        detectable=detectable,
        skewness=skewness,
        is_skewed=bool(stats.is_doubtful(np.array([skewness]), sizes, "t")[0]),
        options=options,
        n_subsets=n_subsets,
    )
    p, unit = "p" if n_subsets == 1 else "p adjusted", unit_of(measure)
    words = {
        "units": (
            format_count(n_units, "cluster") if pairs.cluster is not None else format_count(n_units, "query", "queries")
        )
        + " by weight" * (weights is not None),
        "lost": format_count(n_lost, "query", "queries"),
        "loss": -better,
        "unit": unit,
        "margin": options.no_worse_than,
        "detectable": detectable,
        "power": POWER,
        "skewness": skewness,
        "p": f"{p} {format_p_value(p_adjusted)}",
    }
    causes = tuple(key for key, holds in why.items() if holds)
    sign, margin = (1.0, "-") if measure.higher_is_better else (-1.0, "+")
    operator = (">" if sign > 0 else "<") + "=" * is_no_regression
    size = 0.0 if is_no_regression else options.no_worse_than or 0.0
    return Check(
        gate=f"{measure.label} {operator} baseline" + (f" {margin} {size:.15g}{unit}" if size else ""),
        measure=measure.label,
        quantity="difference",
        value=mean - before,
        operator=operator,
        threshold=-sign * size,
        passed=passed,
        because="; ".join(REASONS[key].format_map(words) for key in causes),
        n_queries=n_queries,
        mean=float(measure.level_of(mean)),
        baseline_mean=float(measure.level_of(before)),
        p_value=p_value,
        bound=sign * bound,
        question=question,
        p_adjusted=p_adjusted,
        detectable=detectable,
        proves_little=passed and bool(causes),
        worst="" if passed else lowest(pairs.query_ids, column, "losses", below=0, weights=weights, unit=unit),
        causes=causes,
        n_units=n_units,
    )


def _decided(
    question: str,
    pairs: PairedValues,
    n: int,
    p_adjusted: float,
    *,
    better: float,
    detectable: float | None,
    skewness: float,
    is_skewed: bool,
    options: GateOptions,
    n_subsets: int,
) -> tuple[bool, dict[str, bool]]:
    """Return whether a comparison passes, and which causes hold: of its failure, or why its passing proves little."""
    is_no_regression, n_units = question == "no_regression", int(pairs.n_units[n])
    is_worse, is_few = better < -stats.NEGLIGIBLE_DIFFERENCE, n_units < FEWEST
    if not pairs.is_known(options)[n]:
        return False, {"unknown" if pairs.n_queries[n] else "no query": True}
    if pairs.is_same[n]:
        return True, {}
    if math.isnan(p_adjusted):  # there is no test of so few
        return is_no_regression and not is_worse, {"worse": is_no_regression and is_worse, "needs": True}
    is_shown, is_lost = bool(stats.significant(p_adjusted, options.alpha)), bool(pairs.is_lost[:, n].any())
    if is_no_regression and is_shown:
        return False, {"significant": True, "skewed gains": is_skewed and skewness > 0}
    if is_no_regression:
        return True, {
            "lost": is_lost,
            "few" if detectable is None else "power": is_worse or is_few,
            "not significant": is_worse,
        }
    if not is_shown:
        return False, {"worse": is_worse, "not ruled out": True}
    return True, {
        "lost": is_lost,
        "few": is_few,
        "skewed losses": is_skewed and skewness < 0 and not _is_sure(pairs, n, options, n_subsets),
        "constant": math.isnan(skewness) and n_units > 2 and better < 0,
    }


def _is_sure(pairs: PairedValues, n: int, options: GateOptions, n_subsets: int) -> bool:
    """Tell whether Gaffke's bound, which needs no normal distribution, rules out a loss of the margin as well."""
    most = float(np.ptp(pairs.measures[n].range))  # that a query may lose or gain
    margin, is_plain = options.no_worse_than, pairs.cluster is None and pairs.weights is None
    if margin is None or not is_plain or math.isinf(most):
        return False
    tail = options.alpha / n_subsets
    bounds = stats.interval_bounds(
        pairs.better[:, [n]],
        method=BOUNDED,
        confidence_level=1 - 2 * tail,
        n_resamples=max(2_000, math.ceil(FEWEST_BEYOND / tail)),
        limits=(-most, most),
        rng=0,
    )
    return float(bounds[0][0]) > -margin


def _detectable(pairs: PairedValues, n: int, alpha: float) -> float | None:
    """Return the smallest loss that the test would find with a power of 80 %; None if it would find none."""
    n_units, weights = int(pairs.n_units[n]), None if pairs.weights is None else pairs.weights[:, n]
    (error,) = stats.standard_errors(pairs.better[:, [n]], cluster=pairs.cluster, weights=weights).tolist()
    if n_units < 2 or not error > 0:
        return None
    found = float(pairs.scales[n]) * stats.detectable_difference(
        error * math.sqrt(n_units), n_units, power=POWER, confidence_level=1 - alpha, alternative="greater"
    )
    return found if found <= np.ptp(pairs.measures[n].range) else None
