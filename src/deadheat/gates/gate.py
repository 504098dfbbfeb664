"""gate(): does an evaluation reach its thresholds, and is it no worse than a baseline."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from deadheat.arguments import Rng, generator
from deadheat.arrays import IntArray
from deadheat.data.queries import Queries
from deadheat.data.tables import Source, Table
from deadheat.errors import DataError, ParameterError, UnlabelledQueriesWarning
from deadheat.evaluation.evaluate import checked, opened
from deadheat.evaluation.evaluation import Evaluation
from deadheat.evaluation.intervals import Cluster, cluster_codes, cluster_name
from deadheat.evaluation.strata import columns_of, groups, is_assigned, label, names_of
from deadheat.gates.checks import Subset, check_family, paired, regressions
from deadheat.gates.notation import Gates, Threshold, parse_all
from deadheat.gates.result import Check, GateOptions, GateResult, check_flag
from deadheat.measures import Measure, parse_measure
from deadheat.measures.stored import StoredMeasure
from deadheat.wording import Advice, Plain


def gate(
    evaluation: Evaluation | str | Path,
    checks: Gates = (),
    *,
    baseline: Evaluation | str | Path | None = None,
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
) -> GateResult:
    """Check whether an evaluation reaches thresholds, and whether it is no worse than a baseline.

    Parameters
    ----------
    evaluation : Evaluation or path
        Or the path of a saved one.
    checks : str, Threshold or iterable of them
        ``"nDCG@10 >= 0.8"`` is about the mean, or the total for a count such as NumRet; ``low(...)`` and ``high(...)``
        are the ends of its confidence interval; ``tie_min(...)``, ``tie_max(...)`` and ``tie_std(...)`` are its
        smallest and largest value and its standard deviation over tie orders. ``"each(language): nDCG@10 >= 0.5"`` is
        checked within each stratum of queries. The operators are ``>=``, ``>``, ``<=``, ``<``; numbers closer than
        1e-12 are equal. NaN never passes, nor does the end of an unknown interval (see :attr:`Interval.is_known`).
    baseline : Evaluation or path, optional
        For the same qrels and queries, under the same conventions. Every measure that both have is compared.
    no_regression : bool, optional
        Fail a measure whose mean is significantly lower than the baseline's (a one-sided paired t test). With few
        queries a pass proves little: ``Check.detectable`` is the loss that the test would find. True by default if
        there is a baseline and no `no_worse_than`.
    no_worse_than : float, optional
        Fail a measure unless a loss of this size or more is ruled out (non-inferiority): the lower bound of the
        difference, one-sided, is above ``-no_worse_than``. In the units of each measure; above 0.
    by : str or sequence of str, optional
        Columns of `queries`: every gate is also checked within each stratum. Over the strata of a check, p values are
        corrected (Holm), and intervals hold simultaneously (Bonferroni).
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
        As for :func:`evaluate`; not for a saved evaluation, which has no judgments of what was not retrieved.

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
        The baseline has other qrels, queries or conventions.

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
    if isinstance(checks, Mapping | Table) or not isinstance(evaluation, Evaluation | str | Path):
        raise ParameterError(
            given=Plain(f"{type(evaluation).__name__} and {type(checks).__name__}"),
            allowed="an Evaluation or the path of a saved one, and gates such as 'RR >= 0.8'",
            hint="write dh.gate(dh.evaluate(qrels, run, ['RR']), ['RR >= 0.8'])",
        )
    thresholds = parse_all(checks)
    asked = _asked(thresholds, baseline, no_regression, no_worse_than)
    options = GateOptions(
        no_regression=asked,
        no_worse_than=no_worse_than,
        alpha=alpha,
        confidence_level=confidence_level,
        method=method,
        n_resamples=n_resamples,
        rng=rng,
        cluster=cluster_name(cluster),
        by=tuple(names_of(by)) if by else (),
        pool_languages=pool_languages,
        allow_unknown=allow_unknown,
    )
    own = opened(evaluation)
    if collection is not None and own.qrels is None:
        raise ParameterError(
            "a saved evaluation has no qrels",
            argument="collection",
            hint="give it to evaluate(), before the evaluation is saved",
        )
    if own.qrels is not None:
        checked(own.qrels, collection, own.conventions.rel, strict=strict)
    before = None if baseline is None else opened(baseline)
    has_strata = options.by or any(one.by for one in thresholds)  # whose table needs no clusters
    codes = cluster_codes(cluster, queries if isinstance(cluster, str) or not has_strata else None, own.query_ids)
    table, ids = None if queries is None else Queries.of(queries), own.query_ids.tolist()
    languages = () if table is None else table.languages(ids)
    family_of = partial(_subsets, table=table, query_ids=ids, pool_languages=pool_languages)
    found = _thresholds(own, thresholds, family_of, options, codes)
    name = None
    not_compared: tuple[str, ...] = ()
    if before is not None:
        pairs, not_compared = paired(own, before, codes)
        compared = [
            check for by in dict.fromkeys([(), options.by]) for check in regressions(pairs, family_of(by), options)
        ]
        found += _in_order(compared, [check.gate for check in compared])
        name = before.name + " (baseline)" * (before.name == own.name)
    languages = languages if len(languages) > 1 else ()
    return GateResult(own.name, tuple(found), len(ids), name, not_compared, options, languages, own)


def measures_of(checks: Sequence[Threshold], baseline: Evaluation | None = None) -> list[Measure]:
    """Return the measures to evaluate for gates and for a comparison with a baseline.

    Raises
    ------
    MeasureError
        A gate's measure cannot be parsed.
    """
    wanted = [parse_measure(check.measure) for check in checks]
    known = [] if baseline is None else [one for one in baseline.measures if not isinstance(one, StoredMeasure)]
    return list(dict.fromkeys((*wanted, *known)))


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
    chosen = no_worse_than is None if no_regression is None else check_flag("no_regression", no_regression)
    asked = baseline is not None and chosen
    if not thresholds and not asked and no_worse_than is None:
        raise ParameterError(
            "nothing to check", hint="give gates such as ['nDCG@10 >= 0.8', 'low(RR) > 0.7'], or a baseline"
        )
    if baseline is not None and not asked and no_worse_than is None:
        raise ParameterError(
            "there is a baseline, but nothing to check against it",
            hint="give no_worse_than=0.01, or leave no_regression=False out",
        )
    return asked


def _thresholds(
    own: Evaluation,
    thresholds: Sequence[Threshold],
    family_of: Callable[[Sequence[str]], Sequence[Subset]],
    options: GateOptions,
    cluster: IntArray | None,
) -> list[Check]:
    """Check the thresholds, over all queries and by the requested strata, each family at once."""
    one_stream = replace(options, rng=generator(options.rng))  # every subset draws its own resamples from it
    asked: dict[tuple[str, ...], list[Threshold]] = {}
    for one in thresholds:
        for columns in dict.fromkeys([one.by] if one.by else [(), options.by]):
            asked.setdefault(columns, []).append(one)
    found = [
        check
        for columns, of_family in asked.items()
        for check in check_family(own, of_family, family_of(columns), one_stream, cluster)
    ]
    return _in_order(found, [one.text for one in thresholds])


def _in_order(found: Sequence[Check], gates: Sequence[str]) -> list[Check]:
    """Return the checks grouped by gate, each once: two families may share strata."""
    place = {gate: n for n, gate in reversed(list(enumerate(gates)))}
    once = {(check.gate, check.threshold, check.by, check.stratum): check for check in found}
    return sorted(once.values(), key=lambda check: place[check.gate])


def _subsets(
    by: Sequence[str], table: Queries | None, query_ids: list[str], *, pool_languages: bool
) -> tuple[Subset, ...]:
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
    columns: list[str] = []
    if table is not None:
        table.check_columns(by)
        columns = columns_of(table, query_ids, by, pool_languages=pool_languages)
    if table is None or not columns:
        return (Subset("", "", np.ones(len(query_ids), np.bool_)),)
    with warnings.catch_warnings(action="ignore", category=UnlabelledQueriesWarning):  # they are a stratum, with a name
        found = groups(query_ids, columns, table, pool_languages=True)
    if not any(map(is_assigned, found)):
        raise DataError(
            f"no evaluated query has a {' and a '.join(columns)}: there is nothing to check by", path=table.where
        )
    return tuple(Subset(", ".join(columns), label(stratum), keep) for stratum, keep in found.items())
