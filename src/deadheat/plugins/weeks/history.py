"""history(): saved evaluations in order of time, and what changed at each step."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from deadheat.core.arrays import TextArray, align_values
from deadheat.core.checks import as_count
from deadheat.core.data.flat_names import Numbers
from deadheat.core.data.renderable import Plottable, Renderable, make_frame
from deadheat.core.data.sources import Source
from deadheat.core.design import CLUSTERED, Design
from deadheat.core.errors import ParameterError
from deadheat.core.evaluation.evaluation import Evaluation
from deadheat.core.evaluation.intervals import Cluster
from deadheat.core.evaluation.query_columns import Weights, cluster_codes
from deadheat.core.evaluation.read_saved import measure_of
from deadheat.core.evaluation.together import check_use
from deadheat.core.scalars import NOISE
from deadheat.core.wording import escape_invisible, format_count
from deadheat.plugins.compare.pair import Pair
from deadheat.plugins.weeks.alike import reconcile_steps, select_alike, share_weights_of_steps, weigh_steps
from deadheat.plugins.weeks.comparing import compare_steps
from deadheat.plugins.weeks.history_sources import collect_evaluations, read_given_steps, sort_by_time
from deadheat.plugins.weeks.steps import Step, places_before, with_labels

OF_MEAN = ("mean", "low", "high", "tie_min", "tie_max", "n_queries")
OF_PAIR: dict[str, type[pl.DataType]] = {
    "difference": pl.Float64,
    "difference_low": pl.Float64,
    "difference_high": pl.Float64,
    "n_shared": pl.Int64,
    "p_adjusted": pl.Float64,
    "significant": pl.Boolean,
}
MOVED_QUERIES: dict[str, type[pl.DataType]] = {
    "measure": pl.String,
    "kind": pl.String,
    "query_id": pl.String,
    "difference": pl.Float64,
    "value": pl.Float64,
    "weight": pl.Float64,
}


@dataclass(frozen=True, eq=False)
class History(Plottable, Renderable, figures="history", shown=("history",)):
    """Evaluations in order of time. Made by :func:`history`.

    Attributes
    ----------
    steps : tuple of Step
    measures : tuple of str
        Those that all have.
    query_ids : ndarray of str, shape (n_queries,)
        Of all steps together; a step compares those that its two evaluations share.
    before : tuple of (int or None)
        The place of the step before each: if a system comes again after others, its own last one; None for the first.
    since : dict of str to tuple of (Pair or None)
        By measure, each step against the one before; None for the first, and where they cannot be compared.
    to_reference : dict of str to tuple of (Pair or None)
        By measure, each step against the reference; empty without one.
    reference : int or None
        The place of the reference.
    design : Design
        Of the tests; p values are corrected over the steps.
    notes : tuple of str
    """

    steps: tuple[Step, ...]
    measures: tuple[str, ...]
    query_ids: TextArray
    before: tuple[int | None, ...]
    since: dict[str, tuple[Pair | None, ...]]
    to_reference: dict[str, tuple[Pair | None, ...]]
    reference: int | None
    design: Design
    notes: tuple[str, ...] = ()

    @property
    def take_turns(self) -> bool:
        """Whether there are several systems, each with steps of its own."""
        return self.before.count(None) > 1

    @cached_property
    def totals(self) -> frozenset[str]:
        """The measures that are counts: they are shown as totals over queries, as in every table."""
        of_first = self.steps[0].means
        return frozenset(name for name in self.measures if measure_of(name, of_first[name]).total)

    def mean_of(self, place: int, measure: str) -> float:
        """Return the mean of a step, or of a count the total."""
        mean: float = self.steps[place].means[measure]["mean"]
        if measure in self.totals:
            return mean * int(self.steps[place].means[measure]["n_queries"])
        return mean

    def difference_of(self, pair: Pair) -> float:
        """Return the difference of two steps, or of a count that of their totals."""
        if pair.measure in self.totals:
            return pair.difference * pair.n_queries
        return pair.difference

    def __repr__(self) -> str:
        return escape_invisible(
            f"<History of {format_count(len(self.steps), 'evaluation')} by {', '.join(self.measures)}>"
        )

    def to_polars(self) -> pl.DataFrame:
        """Return a row for each step and measure, in order of time.

        Columns: time, label, commit, name, measure, mean, low, high, tie_min, tie_max, n_queries, n_effective (of
        how many queries of equal weight these are worth; null without weights), difference, difference_low,
        difference_high, n_shared, p_adjusted and significant against the step before, the same behind ``reference_``,
        comparable, and what changed in the judgments. Of counts means and differences are totals, and low and high
        null: these have no interval.
        """
        types: dict[str, type[pl.DataType]]  # of columns that may be all null
        types = dict.fromkeys(("low", "high", "n_effective"), pl.Float64)
        for prefix in ("", "reference_") if self.to_reference else ("",):
            types |= {f"{prefix}{name}": dtype for name, dtype in OF_PAIR.items()}
        return make_frame(self.rows()).cast(types)  # type: ignore[arg-type]  # columns by name

    def rows(self) -> list[dict[str, Any]]:
        """Return the same as dicts."""
        rows: list[dict[str, Any]] = []
        for place, step in enumerate(self.steps):
            for measure in self.measures:
                is_total = measure in self.totals
                origin = step.origin
                row: dict[str, Any] = {"time": origin.time, "label": origin.label, "commit": origin.commit}
                row |= {"name": step.name, "measure": measure}
                row |= _of_mean(step.means[measure], is_total=is_total)
                row |= _of_pair("", self.since[measure][place], is_total=is_total)
                if self.to_reference:
                    row |= _of_pair("reference_", self.to_reference[measure][place], is_total=is_total)
                row |= {"comparable": step.is_comparable, "changed": step.changed}
                rows.append(row)
        return rows

    def queries(self, n: int = 5) -> pl.DataFrame:
        """Return the queries that fell and rose most at the last step, by measure.

        None without a step before it, or where its judgments are others. With weights the queries that move the mean
        most come first: those with the largest weight times difference.

        Parameters
        ----------
        n : int, default 5
            So many of each kind.

        Returns
        -------
        polars.DataFrame
            measure, kind ("fell" or "rose"), query_id, difference, value, weight (null without weights).
        """
        n = as_count("n", n)
        rows: list[tuple[object, ...]] = []
        for measure in self.measures:
            rows += self._moved_queries(measure, n)
        return make_frame(rows, MOVED_QUERIES)

    def _moved_queries(self, measure: str, n: int) -> list[tuple[object, ...]]:
        """Return the rows of :meth:`queries` by one measure."""
        place_before = self.before[-1]
        pair = self.since[measure][-1]
        if place_before is None or pair is None:
            return []
        before, last = self.steps[place_before], self.steps[-1]
        values = align_values(last.values[measure], last.query_ids, self.query_ids)
        differences = values - align_values(before.values[measure], before.query_ids, self.query_ids)
        differences = np.where(np.abs(differences) > NOISE, differences, 0.0)  # NaN, of one of both alone, too
        weights = None
        pulls = differences
        if last.weights is not None and pair.n_effective is not None:  # totals have none
            weights = align_values(last.weights, last.query_ids, self.query_ids)
            pulls = np.nan_to_num(weights) * differences
        rows: list[tuple[object, ...]] = []
        for kind, sign in (("fell", -1), ("rose", 1)):
            order = np.argsort(-sign * pulls, kind="stable")
            for query in order[:n].tolist():
                if sign * pulls[query] > 0:
                    weight = None if weights is None else float(weights[query])
                    query_id = str(self.query_ids[query])
                    rows.append((measure, kind, query_id, float(differences[query]), float(values[query]), weight))
        return rows

    def named_numbers(self) -> Numbers:
        """Give the numbers of :meth:`to_flat` with the parts of their names: those of the last step."""
        for measure in self.measures:
            yield (measure,), self.mean_of(-1, measure)
            if pair := self.since[measure][-1]:
                yield (measure, "difference"), self.difference_of(pair)


def _of_mean(means: Mapping[str, Any], *, is_total: bool) -> dict[str, Any]:
    """Return the columns of a mean, of a count those of the total, which has no interval."""
    columns = {name: means[name] for name in OF_MEAN}
    if is_total:
        for name in ("mean", "tie_min", "tie_max"):
            columns[name] *= means["n_queries"]
        columns |= {"low": None, "high": None}
    return {**columns, "n_effective": means.get("n_effective")}


def _of_pair(prefix: str, pair: Pair | None, *, is_total: bool) -> dict[str, Any]:
    """Return the columns of a difference, of a count those of the difference of totals; all None without a pair."""
    if pair is None:
        return {f"{prefix}{name}": None for name in OF_PAIR}
    scale = pair.n_queries if is_total else 1
    return {
        f"{prefix}difference": scale * pair.difference,
        f"{prefix}difference_low": scale * pair.low,
        f"{prefix}difference_high": scale * pair.high,
        f"{prefix}n_shared": pair.n_queries,
        f"{prefix}p_adjusted": pair.p_adjusted,
        f"{prefix}significant": pair.significant,
    }


def has_other_queries(found: History, measure: str, place: int) -> bool:
    """Tell whether a step, or the one before it, has a value for queries that the other has none for."""
    pair, before = found.since[measure][place], found.before[place]
    if pair is None or before is None:
        return False
    n_queries = found.steps[place].means[measure]["n_queries"]
    n_before = found.steps[before].means[measure]["n_queries"]
    return bool(pair.n_queries < max(n_queries, n_before))


def history(
    source: str | Path | Iterable[str | Path | Evaluation],
    *,
    reference: str | Path | Evaluation | None = None,
    judgments: str | None = None,
    weights: Weights | None = None,
    cluster: Cluster = None,
    queries: Source | None = None,
    test: str = "randomization",
    confidence_level: float = 0.95,
    n_resamples: int = 10_000,
    rng: int = 0,
) -> History:
    """Put saved evaluations in order of time, and say what changed at each step: over the queries that its two share.

    Parameters
    ----------
    source : path of a folder, or iterable of paths and evaluations
        What ``deadheat evaluate --save`` wrote; other files of a folder are left out, and named.
    reference : path or Evaluation, optional
        Each step is compared with it too; it need not be among them.
    judgments : {"rescore", "shared", "strict"}, optional
        Where judgments changed: score earlier rankings again under the newest ones; or take the queries whose
        judgments are the same in all; or raise. By default "rescore" where the rankings were kept; else values stay
        as they are, and steps under other judgments are marked and not compared.
    weights
        As for :func:`evaluate`, of every step; by default steps of other weights are brought under those of the last
        one, and `notes` say so.
    cluster
        As for :func:`compare`: differences are tested, and their intervals made, by whole clusters.
    queries : path, frame or Queries, optional
        The table with the columns of `weights` and `cluster`.
    test : str, default "randomization"
        As for :func:`compare`; p values are corrected (Holm) over the steps of a measure.
    confidence_level : float, default 0.95
    n_resamples : int, default 10,000
    rng : int, default 0

    Returns
    -------
    History

    Raises
    ------
    DataError
        There is no saved evaluation; or none, or not the reference, has the conventions and a measure of the last one.
    ParameterError
        The means of one are estimated with a judge's labels, and tests would be of human labels alone.

    Examples
    --------
    >>> from deadheat import evaluate
    >>> qrels = {f"q{n}": {"a": 1} for n in range(6)}
    >>> runs = [{query: {"a": 1, "b": score} for query in qrels} for score in (2, 1, 0)]
    >>> found = history([evaluate(qrels, run, "RR") for run in runs])
    >>> [step.means["RR"]["mean"] for step in found.steps], [pair and pair.difference for pair in found.since["RR"]]
    ([0.5, 0.75, 1.0], [None, 0.25, 0.25])
    """
    design = Design(test=test, correction="holm", confidence_level=confidence_level, n_resamples=n_resamples, rng=rng)
    if cluster is not None and test not in CLUSTERED:
        raise ParameterError(argument="test", given=test, allowed=CLUSTERED, beside={"cluster": None})
    notes: list[str] = []
    given = collect_evaluations(source, reference, notes)
    check_use("history", given.in_memory())
    steps = read_given_steps(given, notes)
    steps = weigh_steps(steps, given.by_name, weights, _table_of_weights(queries, weights, cluster))
    steps = sort_by_time(steps, notes)

    steps, notations = select_alike(steps, given.reference, notes)
    steps = share_weights_of_steps(steps, given.by_name, given.reference, notes)
    sources = [given.by_name[step.file] for step in steps]
    steps = reconcile_steps(steps, sources, judgments, notes)
    labels = _labels_of_last(steps, notations)
    measures = tuple(labels.values())
    steps = [with_labels(step, labels) for step in steps]
    if not any(measure_of(label, steps[-1].means[label]).knows_ties for label in measures):
        notes.append("what ties make of values is not known without rankings")

    query_ids = _query_ids_of(steps)
    codes = cluster_codes(cluster, queries if isinstance(cluster, str) else None, query_ids)
    if codes is not None:
        notes.append(_describe_clusters(cluster, len(np.unique(codes))))
    before = places_before(steps)
    since = compare_steps(steps, measures, query_ids, before, design=design, cluster=codes)
    place_of_reference: int | None = None
    to_reference: dict[str, tuple[Pair | None, ...]] = {}
    if given.reference is not None:
        place_of_reference = [step.file for step in steps].index(given.reference)
        baselines: list[int | None] = [place_of_reference] * len(steps)
        baselines[place_of_reference] = None
        to_reference = compare_steps(steps, measures, query_ids, baselines, design=design, cluster=codes)
    return History(
        steps=tuple(steps),
        measures=measures,
        query_ids=query_ids,
        before=before,
        since=since,
        to_reference=to_reference,
        reference=place_of_reference,
        design=design,
        notes=tuple(notes),
    )


def _table_of_weights(queries: Source | None, weights: Weights | None, cluster: Cluster) -> Source | None:
    """Return the table of queries; None if it is for the clusters alone."""
    has_column_of_clusters = isinstance(cluster, str)
    has_column_of_weights = isinstance(weights, str)
    if has_column_of_clusters and not has_column_of_weights:
        return None
    return queries


def _labels_of_last(steps: Sequence[Step], notations: Sequence[str]) -> dict[str, str]:
    """Return the names by which the last step was asked for measures, by notation; of those that steps still have."""
    labels: dict[str, str] = {}
    for notation in notations:
        if notation in steps[0].means:
            labels[notation] = steps[-1].means[notation]["label"]
    return labels


def _query_ids_of(steps: Sequence[Step]) -> TextArray:
    """Return the ids of the queries of all steps together, sorted."""
    query_ids: set[str] = set()
    for step in steps:
        query_ids.update(map(str, step.query_ids))
    return np.array(sorted(query_ids), dtype=object)


def _describe_clusters(cluster: Cluster, n_clusters: int) -> str:
    """Say by which clusters differences are tested, and how many there are."""
    count = format_count(n_clusters, "cluster")
    of = f" of {cluster}" if isinstance(cluster, str) else ""
    return f"differences are tested by whole clusters of queries: {count}{of}"
