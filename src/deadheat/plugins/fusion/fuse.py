"""fuse(): one run made of several."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import polars as pl

from deadheat.core.arrays import FloatArray
from deadheat.core.checks import as_count, as_number, check_choice, name_items
from deadheat.core.data.qrels import Qrels
from deadheat.core.data.rows import MemoryRows
from deadheat.core.data.run import Run
from deadheat.core.data.sources import Source
from deadheat.core.errors import DataError, ParameterError
from deadheat.core.structures import copy_with
from deadheat.core.wording import format_count, format_list
from deadheat.plugins.fusion.base import METHODS, WEIGHTS, Method
from deadheat.plugins.fusion.catalogue import make_method
from deadheat.plugins.fusion.judged import JudgedPool
from deadheat.plugins.fusion.norms import NORMS, Norm
from deadheat.plugins.fusion.pool import TIES, Pool, check_finite, order_within, pool_runs

Weights: TypeAlias = Sequence[float] | FloatArray | Mapping[str, float]


@dataclass(frozen=True)
class Recipe:
    """What is done with the runs: a normalization, perhaps, and a method with its parameters.

    Attributes
    ----------
    method : Method
    norm : Norm or None
    """

    method: Method
    norm: Norm | None = None

    def scale(self, pool: Pool) -> Pool:
        """Return the pool with the scores on the scale of the normalization, checked if scores count."""
        if self.method.uses_scores and (self.norm is None or self.norm.uses_scores):
            check_finite(pool, self.method.name if self.norm is None else f"norm={self.norm.name!r}")
        return pool if self.norm is None else self.norm.apply(pool)

    def fuse(self, scaled: Pool) -> FloatArray:
        """Return the scores of the candidates of a pool that `scale` returned.

        Raises
        ------
        DataError
            A score is no number, or too large for one.
        """
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            scores = self.method.fuse(scaled)
        if not np.isfinite(scores).all():
            place = int(np.flatnonzero(~np.isfinite(scores))[0])
            query = scaled.query_ids[int(scaled.query[place])]
            raise DataError(
                f"{self.method.name} gives {scaled.doc_ids[place]!r} of query {query!r} the score {scores[place]},"
                " which does not rank",
                hint="scores are too large: give norm='min-max'",
            )
        return scores

    def describe(self) -> str:
        """Return the method with its parameters, as a report names it."""
        parts = [] if self.norm is None else [self.norm.name]
        parts += [format_parameter(*one) for one in self.method.parameters().items()]
        return f"{self.method.name} ({', '.join(parts)})" if parts else self.method.name


def format_parameter(name: str, value: Any) -> str:  # noqa: ANN401 - of any parameter
    """Return a parameter as it is given on the command line.

    Examples
    --------
    >>> format_parameter("k", 60.0), format_parameter("weights", (0.3, 0.7))
    ('k=60', 'weights=0.3,0.7')
    """
    numbers = value if isinstance(value, tuple) else (value,)
    return f"{name}={','.join(f'{number:g}' for number in numbers)}"


def fuse(
    runs: Mapping[Any, Source] | Sequence[Source],
    method: str = "rrf",
    *,
    norm: str | None = None,
    weights: Weights | None = None,
    k: float | None = None,
    phi: float | None = None,
    gamma: float | None = None,
    sigma: float | None = None,
    n_segments: int | None = None,
    w: int | None = None,
    window: int | None = None,
    ties: str = "expected",
    qrels: Source | None = None,
    rel: float = 1,
    duplicates: str = "error",
    name: str | None = None,
) -> Run:
    """Return one run made of several: by reciprocal ranks, weighted scores, and 26 other methods.

    Parameters
    ----------
    runs : dict of str to run, or list of runs
        Two or more, in any form that is read. A query that one of them lacks is fused from the others.
    method : str, default "rrf"
        By ranks: rrf, isr, log_isr, logn_isr, rbc, bordafuse, w_bordafuse, condorcet, w_condorcet. By scores: min, max,
        med, sum, anz, mnz, gmnz, wmnz, wsum, mixed, arithmetic_mean, geometric_mean, harmonic_mean. From judgments:
        mapfuse, bayesfuse, posfuse, probfuse, segfuse, slidefuse. docs/guide/fusion.md has their formulas.
    norm : {"min-max", "max", "sum", "zmuv", "rank", "borda", "l2", "dbsf"}, optional
        Bring the scores of each run and query to one scale first. Not for methods that look at ranks alone.
    weights : sequence of float, or dict of str to float, optional
        Of the runs, for rrf, wsum, wmnz, mixed, w_bordafuse, w_condorcet and the means; by default 1 each.
    k : float, optional
        Of rrf, by default 60: the larger, the less the first ranks differ.
    phi : float, optional
        Of rbc, by default 0.8.
    gamma : float, optional
        Of gmnz, by default 1.
    sigma : float, optional
        Of logn_isr, by default 0.01.
    n_segments : int, optional
        Of probfuse, by default 25.
    w : int, optional
        Of slidefuse, by default 5: ranks on each side.
    window : int, optional
        Of each run the first ranks that count, as `rank_window_size` in Elasticsearch. Methods that look at scores keep
        a tie that it cuts whole; those that sum a function of the rank take the mean over its orders.
    ties : {"expected", "doc_id", "input"}, default "expected"
        What ranks equal scores have: the exact mean over all orders of each run's ties; or those by descending document
        id, as trec_eval has them, or of the order of the rows.
    qrels : path, dict, dataframe or Qrels, optional
        Judgments for methods that learn. What they score on the same queries flatters them: :func:`tune_fusion` has the
        values on others.
    rel : float, default 1
        The lowest relevance of a relevant document, for methods that learn.
    duplicates : {"error", "best", "first", "trust"}, default "error"
        As for :func:`evaluate`; "trust" looks all the same.
    name : str, optional
        Label of the result.

    Returns
    -------
    Run
        Each query from the best document to the worst; equal scores are ties, which evaluation averages over. Its
        `notes` say what is worth knowing.

    Raises
    ------
    DataError
        A run cannot be read, or its scores cannot be computed with.
    ParameterError
        There is no such method or normalization, or a parameter is not of this method.

    Examples
    --------
    Of the ties of the first run, each document gets the mean of both ranks:

    >>> bm25, dense = {"q": {"x": 1, "y": 1, "z": 0}}, {"q": {"z": 2, "x": 1}}
    >>> run = fuse({"bm25": bm25, "dense": dense})
    >>> {doc: round(score, 5) for doc, score in run.to_dict()["q"].items()}
    {'x': 0.03239, 'z': 0.03227, 'y': 0.01626}
    >>> fuse([bm25, dense], "wsum", norm="min-max", weights=[0.3, 0.7]).to_dict()
    {'q': {'z': 0.7, 'x': 0.3, 'y': 0.3}}
    """
    return fuse_runs(
        runs,
        method,
        norm=norm,
        weights=weights,
        parameters={"k": k, "phi": phi, "gamma": gamma, "sigma": sigma, "n_segments": n_segments, "w": w},
        window=window,
        ties=ties,
        qrels=qrels,
        rel=rel,
        duplicates=duplicates,
        name=name,
    ).run


@dataclass(frozen=True, eq=False)
class FusedRuns:
    """Runs, and what was made of them.

    Attributes
    ----------
    inputs : list of Run
    run : Run
        The result.
    pool : Pool
        Before the normalization.
    recipe : Recipe
        Of a method that learns with what it learned.
    """

    inputs: list[Run]
    run: Run
    pool: Pool
    recipe: Recipe


def fuse_runs(
    runs: Mapping[Any, Source] | Sequence[Source],
    method: str,
    *,
    norm: str | None,
    weights: Weights | None,
    parameters: Mapping[str, float | None],
    window: int | None = None,
    ties: str = "expected",
    qrels: Source | None = None,
    rel: float = 1,
    duplicates: str = "error",
    name: str | None = None,
) -> FusedRuns:
    """Fuse runs as :func:`fuse` does, and keep what a report needs."""
    inputs = read_runs(runs, duplicates)
    names = [run.name for run in inputs]
    recipe = make_recipe(method, names, norm=norm, weights=weights, parameters=parameters)
    pool = make_pool(inputs, ties=ties, window=window)
    scaled = recipe.scale(pool)
    notes = notes_of_pool(inputs, pool)
    if not recipe.method.is_fitted:
        if qrels is None:
            raise ParameterError(f"is needed: {method} learns from judgments", argument="qrels")
        judged = JudgedPool.of(scaled, Qrels.of(qrels), as_number("rel", rel))
        recipe = Recipe(recipe.method.fit(judged), recipe.norm)
        n_judged = format_count(int(judged.keep.sum()), "query", "queries")
        notes.append(f"{method} learned from {n_judged} of these: values on them are not held out, as tuning has them")
    elif qrels is not None:
        raise ParameterError(f"is for methods that learn, which {method} is not", argument="qrels", hint="leave it out")
    found = make_run(scaled, recipe.fuse(scaled), name or f"{method}({', '.join(names)})", notes)
    empty = sorted({query for run in inputs for query in run.bare}.difference(pool.query_ids.to_list()))
    return FusedRuns(inputs, copy_with(found, bare=tuple(empty)), pool, recipe)


def fuse_settings(
    runs: Sequence[Run],
    method: str,
    settings: Sequence[Mapping[str, Any]],
    *,
    norm: str | None = None,
    ties: str = "expected",
    learned: Sequence[FloatArray] | None = None,
) -> Iterator[Run]:
    """Yield the runs fused under each of several settings, whose documents are brought together once.

    Documents are in the order in which the runs have them.

    Parameters
    ----------
    runs : sequence of Run
    method, norm, ties : str
        As for :func:`fuse`.
    settings : sequence of dict
        Parameters and weights.
    learned : sequence of ndarray of float, optional
        What a method that learns has learned of each run.
    """
    inputs = read_runs(list(runs))
    names = [run.name for run in inputs]
    scaled = None
    for setting in settings:
        parameters = {key: value for key, value in setting.items() if key != WEIGHTS}
        recipe = make_recipe(method, names, norm=norm, weights=setting.get(WEIGHTS), parameters=parameters)
        if learned is not None:
            method_that_learned: Any = recipe.method
            recipe = replace(recipe, method=replace(method_that_learned, learned=tuple(learned)))
        if scaled is None:
            scaled = recipe.scale(make_pool(inputs, ties=ties, window=None))
        yield make_run(scaled, recipe.fuse(scaled), f"{method}({', '.join(names)})", (), best_first=False)


def learn(
    runs: Sequence[Run],
    method: str,
    qrels: Qrels,
    *,
    norm: str | None = None,
    ties: str = "expected",
    parameters: Mapping[str, Any],
) -> tuple[FloatArray, ...]:
    """Return what a method learns of each run from judgments."""
    inputs = read_runs(list(runs))
    recipe = make_recipe(method, [run.name for run in inputs], norm=norm, parameters=parameters)
    scaled = recipe.scale(make_pool(inputs, ties=ties, window=None))
    fitted: Any = recipe.method.fit(JudgedPool.of(scaled, qrels))
    return tuple(fitted.of_runs)


def read_runs(runs: Mapping[Any, Source] | Sequence[Source], duplicates: str = "error") -> list[Run]:
    """Return the runs, checked, each with a name of its own."""
    if isinstance(runs, Mapping):
        named = name_items(runs.items())
        found = [Run.of(source, duplicates=duplicates, name=name) for name, source in named.items()]
    elif isinstance(runs, list | tuple):
        found = _with_own_names([Run.of(source, duplicates=duplicates) for source in runs])
    else:
        raise ParameterError(argument="runs", given=runs, allowed="a dict of runs by name, or a list of them")
    if len(found) < 2:
        raise ParameterError(argument="runs", given=len(found), allowed="two runs or more")
    for run in found:
        run.check_duplicates(now=True)
    return found


def _with_own_names(runs: Sequence[Run]) -> list[Run]:
    """Return runs that are renamed where others have the same name: run 1, run 2."""
    names = [run.name for run in runs]
    found = []
    for number, run in enumerate(runs, 1):
        found.append(run if names.count(run.name) == 1 else run.renamed(f"{run.name} {number}"))
    return found


def make_recipe(
    method: str,
    runs: Sequence[str],
    *,
    norm: str | None,
    weights: Any = None,  # noqa: ANN401 - checked here
    parameters: Mapping[str, Any],
) -> Recipe:
    """Return a recipe for runs of some names; raise `ParameterError` if its parts do not go together."""
    made = make_method(method, runs, weights, parameters)
    if norm is None:
        return Recipe(made)
    check_choice("norm", norm, NORMS)
    if not made.uses_scores:
        raise ParameterError(
            f"changes no rank, and {method} looks at ranks alone", argument="norm", given=norm, hint="leave it out"
        )
    if norm == "borda" and made.uses_ranks:
        raise ParameterError(
            f"ranks documents that a run lacks, of which {method} has no rank", argument="norm", given=norm
        )
    return Recipe(made, NORMS[norm]())


def make_pool(runs: Sequence[Run], *, ties: str, window: int | None) -> Pool:
    """Return the pool of some runs, perhaps of their first ranks alone."""
    check_choice("ties", ties, TIES)
    pool = pool_runs(runs, ties)
    return pool if window is None else pool.within(as_count("window", window))


def notes_of_pool(runs: Sequence[Run], pool: Pool) -> list[str]:
    """Return what was assumed to read the runs, and which queries some of them lack."""
    notes = [f"{run.name}: {note}" for run in runs for note in run.notes]
    asked = [{*run.bare} for run in runs]
    for run, ranked, bare in zip(runs, pool.runs, asked, strict=True):
        lacking = pool.query_ids.filter(pl.Series(ranked.n_documents == 0))
        lacking_ids = [query for query in lacking.to_list() if query not in bare]
        if lacking_ids:
            n_lacking = format_count(len(lacking_ids), "query", "queries")
            notes.append(f"{n_lacking} without {run.name}, fused from the others: {format_list(lacking_ids)}")
    return notes


def make_run(pool: Pool, scores: FloatArray, name: str, notes: Sequence[str], *, best_first: bool = True) -> Run:
    """Return the candidates as a run, each query from the best to the worst, or in the order of the pool."""
    doc_ids = pool.doc_ids
    if best_first:
        order = order_within(pool.bounds, -scores)
        doc_ids = doc_ids.gather(order)
        scores = scores[order]
    frame = pl.DataFrame({"query_id": pool.query_ids.gather(pool.query), "doc_id": doc_ids, "score": scores})
    run = Run.of_checked(frame, name)
    assert isinstance(run.rows, MemoryRows)  # noqa: S101 - of a frame
    run.rows.are_unique = True
    return copy_with(run, notes=tuple(notes))


def looks_at_scores(method: str) -> bool:
    """Tell whether a normalization changes what a method gives."""
    return method not in METHODS or METHODS[method].uses_scores
