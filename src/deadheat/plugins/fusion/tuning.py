"""tune_fusion(): the parameters that are best on all queries, and what they are worth on queries they never saw."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from deadheat.core.arrays import BoolArray, FloatArray, IntArray, TextArray
from deadheat.core.checks import as_count, as_number
from deadheat.core.data.judging import find_kind_of_qrels
from deadheat.core.data.qrels import Qrels
from deadheat.core.data.run import Run
from deadheat.core.data.sources import Source
from deadheat.core.errors import DataError, ParameterError
from deadheat.core.evaluation.evaluate import evaluate
from deadheat.core.evaluation.evaluate_runs import make_scores
from deadheat.core.evaluation.intervals import Cluster
from deadheat.core.evaluation.query_columns import cluster_codes
from deadheat.core.measures import Measure
from deadheat.core.measures.selection import choose_measures
from deadheat.core.random_generators import Rng, random_generator
from deadheat.core.settings import Conventions
from deadheat.core.wording import format_count
from deadheat.plugins.compare.compare import compare_evaluations
from deadheat.plugins.fusion.base import METHODS, WEIGHTS, Method, parameters_of
from deadheat.plugins.fusion.fuse import Recipe, make_pool, make_recipe, make_run, notes_of_pool, read_runs
from deadheat.plugins.fusion.judged import JudgedPool
from deadheat.plugins.fusion.pool import Pool
from deadheat.plugins.fusion.tuned import TunedFusion

Grid = int | Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Any]]
STEPS_OF_TWO = 21  # values of the weight of two runs
STEPS_OF_MORE = 11  # of each weight of three runs, of which those that add to 1 are tried
MOST_SETTINGS = 20_000


def tune_fusion(
    qrels: Source,
    runs: Mapping[Any, Source] | Sequence[Source],
    measure: str | Measure = "nDCG@10",
    method: str = "rrf",
    *,
    norm: str | None = None,
    grid: Grid | None = None,
    folds: int = 10,
    rng: Rng = 0,
    cluster: Cluster = None,
    queries: Source | None = None,
    window: int | None = None,
    ties: str = "expected",
    rel: float = 1,
    duplicates: str = "error",
    name: str | None = None,
) -> TunedFusion:
    """Tune a fusion, and say what it is worth on queries that it was not tuned on.

    Parameters
    ----------
    qrels : path, dict, dataframe or Qrels
    runs : dict of str to run, or list of runs
    measure : str or Measure, default "nDCG@10"
    method, norm, window, ties
        As for :func:`fuse`.
    grid : dict of str to list, list of dicts, or int, optional
        What is tried: values of each parameter, as ``{"k": [10, 60]}``, in all combinations; or the settings
        themselves, as ``[{"weights": [0.3, 0.7]}]``; or the number of values of a weight, of which all add to 1. By
        default 21 values of the weight of two runs (of more 11 of each), or values of the method's parameter; a method
        that learns has its default.
    folds : int, default 10
        Parts of the queries: what is best on the others, and was learned from them, scores each.
    rng : numpy.random.Generator or int, default 0
        Draws the parts.
    cluster, queries : optional
        Queries that share a value of this column stay in one part, and are resampled as a whole; as for
        :meth:`Scores.interval`.
    rel : float, default 1
        The lowest relevance of a relevant document, for methods that learn.
    duplicates : {"error", "best", "first", "trust"}, default "error"
        As for :func:`fuse`.
    name : str, optional
        Label of the result.

    Returns
    -------
    TunedFusion
        With the values that are held out, as an `Evaluation` that goes into :func:`compare_evaluations`.

    Raises
    ------
    DataError
        There are fewer than two queries (or clusters) with judgments.
    ParameterError
        A parameter is not of this method.

    Examples
    --------
    >>> qrels = {f"q{n}": {"a": 1} for n in range(4)}
    >>> good, bad = ({query: {"a": s, "b": 0.5} for query in qrels} for s in (1, 0))
    >>> found = tune_fusion(qrels, {"good": good, "bad": bad}, "RR", "wsum", grid=3, folds=2)
    >>> found.parameters, found.held_out.means(), found.in_sample
    ({'weights': (1.0, 0.0)}, {'RR': 1.0}, 1.0)
    """
    inputs = read_runs(runs, duplicates)
    names = [run.name for run in inputs]
    label = name or f"{method}({', '.join(names)})"
    judgments = Qrels.of(qrels)
    judgments.check_duplicates()
    (chosen_measure,) = choose_measures(find_kind_of_qrels(judgments), measure)
    settings = settings_of(method, grid, len(inputs))
    recipes = [_make_recipe(method, names, norm, setting) for setting in settings]
    pool = make_pool(inputs, ties=ties, window=window)
    scaled = recipes[0].scale(pool)
    task = Task.of(scaled, judgments, chosen_measure, as_number("rel", rel))
    codes = cluster_codes(cluster, queries, task.query_ids)
    fold_of_query = draw_folds(codes, len(task.query_ids), as_count("folds", folds, 2), rng)
    values, chosen = _try_settings(task, recipes, fold_of_query)
    best = _best_of(values, np.ones(len(task.query_ids), np.bool_), chosen_measure)
    recipe = recipes[best]
    notes = notes_of_pool(inputs, pool)
    if recipe.method.is_fitted:
        in_sample = float(np.nanmean(values[best]))
    else:
        recipe = Recipe(recipe.method.fit(task.judged), recipe.norm)
        in_sample = float(np.nanmean(task.score(recipe.fuse(task.judged.pool))))
    run = make_run(scaled, recipe.fuse(scaled), label, [*notes, *_notes_of_run(task, recipes)])
    run_held_out = _run_held_out(task, recipes, fold_of_query, chosen, name=label, notes=notes)
    held_out = evaluate(judgments, run_held_out, chosen_measure)
    evaluations = {run.name: evaluate(judgments, run, chosen_measure) for run in inputs}
    comparison = None
    if len(task.query_ids) > 1:
        named = {**evaluations, label: held_out}
        comparison = compare_evaluations(named, baseline=label, cluster=cluster, queries=queries, rng=0)
    return TunedFusion(
        name=label,
        measure=chosen_measure,
        settings=tuple(one.method.parameters() for one in recipes),
        recipe=recipe,
        query_ids=task.query_ids,
        values=values,
        fold_of_query=fold_of_query,
        chosen=tuple(chosen),
        best=best,
        in_sample=in_sample,
        held_out=held_out,
        evaluations=evaluations,
        comparison=comparison,
        run=run,
        clusters=codes,
    )


@dataclass(frozen=True, eq=False)
class Task:
    """What is tuned: judged candidates, and the measure of their order.

    Attributes
    ----------
    judged : JudgedPool
        Of all candidates, on the scale of the normalization.
    measure : Measure
    query_ids : ndarray of str, shape (n_queries,)
        Of the qrels.
    query_of_pool : ndarray of int, shape (n_queries of the pool,)
        The place of each query among these; -1 without judgments.
    """

    judged: JudgedPool
    measure: Measure
    query_ids: TextArray
    query_of_pool: IntArray

    @classmethod
    def of(cls, pool: Pool, qrels: Qrels, measure: Measure, rel: float) -> Task:
        """Return the task of a pool."""
        are_judged = JudgedPool.of(pool, qrels, rel).keep
        judged = JudgedPool.of(pool.select_queries(are_judged), qrels, rel)
        query_ids = np.array(qrels.in_order.queries["query_id"].to_list(), dtype=object)
        return cls(judged, measure, query_ids, judged.query_of_pool)

    def score(self, scores: FloatArray) -> FloatArray:
        """Return the value of the measure for each query; 0 where no run has the query."""
        placements = self.judged.place_all(scores)
        return make_scores(self.measure, placements, placements, Conventions(), self.judged.qrels).values

    def are_in_pool(self, queries: BoolArray) -> BoolArray:
        """Return which queries of the pool are some queries of the qrels."""
        found = queries[np.maximum(self.query_of_pool, 0)]
        found[self.query_of_pool < 0] = False
        return found


def settings_of(method: str, grid: Grid | None, n_runs: int) -> list[dict[str, Any]]:
    """Return the settings that a grid stands for.

    Examples
    --------
    >>> settings_of("rrf", {"k": [10, 60]}, 2), settings_of("wsum", 3, 2)[1]
    ([{'k': 10}, {'k': 60}], {'weights': (0.5, 0.5)})
    """
    cls: type[Method] | None = METHODS.get(method)
    if grid is None and cls is not None:
        grid = _default_grid(cls, n_runs)
    if isinstance(grid, int) and not isinstance(grid, bool):
        settings = [{WEIGHTS: weights} for weights in weights_of_grid(as_count("grid", grid, 2), n_runs)]
    elif isinstance(grid, Mapping):
        values = [[(key, value) for value in list(own)] for key, own in grid.items()]
        settings = [dict(pairs) for pairs in itertools.product(*values)]
    elif isinstance(grid, list | tuple) and all(isinstance(one, Mapping) for one in grid):
        settings = [dict(one) for one in grid]
    else:
        allowed = "a dict of lists of values, a list of settings, or the number of values of a weight"
        raise ParameterError(argument="grid", given=grid, allowed=allowed)
    if not 0 < len(settings) <= MOST_SETTINGS:
        given = format_count(len(settings), "setting")
        raise ParameterError(argument="grid", given=given, allowed=f"from 1 to {MOST_SETTINGS:,} settings")
    return settings


def _default_grid(cls: type[Method], n_runs: int) -> Grid:
    """Return what is tried of a method if nobody says."""
    if not cls().is_fitted:
        return [{}]
    own = {one.name: one.metadata["grid"] for one in parameters_of(cls) if one.metadata["grid"]}
    if own:
        return own
    if cls.takes_weights:
        return STEPS_OF_TWO if n_runs == 2 else STEPS_OF_MORE
    return [{}]


def weights_of_grid(n_values: int, n_runs: int) -> Iterator[tuple[float, ...]]:
    """Yield weights that add to 1, each one of so many values from 0 to 1; the first run has the highest first."""
    steps = n_values - 1
    for parts in itertools.product(range(steps, -1, -1), repeat=n_runs - 1):
        last = steps - sum(parts)
        if last >= 0:
            yield tuple(part / steps for part in (*parts, last))


def _make_recipe(method: str, names: Sequence[str], norm: str | None, setting: Mapping[str, Any]) -> Recipe:
    """Return the recipe of one setting."""
    parameters = {key: value for key, value in setting.items() if key != WEIGHTS}
    return make_recipe(method, names, norm=norm, weights=setting.get(WEIGHTS), parameters=parameters)


def draw_folds(clusters: IntArray | None, n_queries: int, folds: int, rng: Rng) -> IntArray:
    """Return the part of each query, of shape (n_queries,): parts of about as many clusters, which stay whole."""
    units = np.arange(n_queries) if clusters is None else clusters
    n_units = int(units.max()) + 1 if len(units) else 0
    if n_units < 2:
        kind = ("query", "queries") if clusters is None else ("cluster", "clusters")
        raise DataError(f"cross-validation takes two {kind[1]} with judgments, there is {format_count(n_units, *kind)}")
    n_folds = min(folds, n_units)
    fold_of_unit = random_generator(rng).permutation(np.arange(n_units) % n_folds)
    return np.asarray(fold_of_unit[units])


def _best_of(values: FloatArray, queries: BoolArray, measure: Measure) -> int:
    """Return the setting with the best mean over some queries, the first of equal ones."""
    own = values[:, queries]
    has_value = ~np.isnan(own)
    counts = np.maximum(has_value.sum(axis=1), 1)
    means = measure.sign * np.where(has_value, own, 0.0).sum(axis=1) / counts
    return int(np.flatnonzero(means >= means.max() - 1e-12)[0])


def _try_settings(task: Task, recipes: Sequence[Recipe], fold_of_query: IntArray) -> tuple[FloatArray, list[int]]:
    """Return the values of all settings, of shape (n_settings, n_queries), and which one each part gets.

    Those of a method that learns are of queries that it did not learn from.
    """
    n_folds = int(fold_of_query.max()) + 1
    if recipes[0].method.is_fitted:
        values = np.stack([task.score(recipe.fuse(task.judged.pool)) for recipe in recipes])
        chosen = [_best_of(values, fold_of_query != fold, task.measure) for fold in range(n_folds)]
        return values, chosen
    values = np.stack([_score_by_parts(task, recipe, fold_of_query) for recipe in recipes])
    if len(recipes) == 1:
        return values, [0] * n_folds
    chosen = []
    for fold in range(n_folds):
        rest = fold_of_query != fold
        inner = np.stack([_score_by_parts(task, recipe, fold_of_query, rest) for recipe in recipes])
        chosen.append(_best_of(inner, rest, task.measure))
    return values, chosen


def _score_by_parts(task: Task, recipe: Recipe, fold_of_query: IntArray, among: BoolArray | None = None) -> FloatArray:
    """Return the value of each query by what was learned from the other parts, of some queries alone."""
    among = np.ones(len(fold_of_query), np.bool_) if among is None else among
    values = np.full(len(fold_of_query), np.nan)
    for fold in np.unique(fold_of_query[among]).tolist():
        own = among & (fold_of_query == fold)
        fitted = _fit(task, recipe, among & ~own)
        values[own] = task.score(fitted.fuse(task.judged.pool))[own]
    return values


def _fit(task: Task, recipe: Recipe, queries: BoolArray) -> Recipe:
    """Return a recipe that learned from some queries, if it learns."""
    judged = task.judged.select(task.are_in_pool(queries))
    return replace(recipe, method=recipe.method.fit(judged))


def _run_held_out(
    task: Task,
    recipes: Sequence[Recipe],
    fold_of_query: IntArray,
    chosen: Sequence[int],
    *,
    name: str,
    notes: Sequence[str],
) -> Run:
    """Return the judged queries, each fused by what the other parts chose and taught."""
    pool = task.judged.pool
    scores = np.zeros(len(pool.query))
    learns = not recipes[0].method.is_fitted
    parts: list[tuple[Recipe, BoolArray]] = []
    if learns:
        for fold, setting in enumerate(chosen):
            own = fold_of_query == fold
            parts.append((_fit(task, recipes[setting], ~own), own))
    else:
        for setting in dict.fromkeys(chosen):
            folds = [fold for fold, other in enumerate(chosen) if other == setting]
            parts.append((recipes[setting], np.isin(fold_of_query, folds)))
    for recipe, queries in parts:
        candidates = task.are_in_pool(queries)[pool.query]
        scores[candidates] = recipe.fuse(pool)[candidates]
    told = f"held out: each of {len(chosen)} parts of the queries was fused by what the others chose"
    return make_run(pool, scores, name, [*notes, told])


def _notes_of_run(task: Task, recipes: Sequence[Recipe]) -> list[str]:
    """Say that values of the tuned run are not held out, if something was chosen or learned."""
    if len(recipes) == 1 and recipes[0].method.is_fitted:
        return []
    n_queries = format_count(len(task.query_ids), "query", "queries")
    return [f"tuned on {n_queries}: values on them are not held out"]
