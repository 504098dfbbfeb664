"""holes(): which unjudged documents tell most, so that they are judged first."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import cast

import numpy as np
import polars as pl

from deadheat.core.arrays import FloatArray, IntArray
from deadheat.core.checks import as_count, check_choice
from deadheat.core.data.changes import PAIR
from deadheat.core.data.document_table import check_tables
from deadheat.core.data.flat_names import Numbers
from deadheat.core.data.qrels import Qrels
from deadheat.core.data.renderable import Renderable
from deadheat.core.data.rounding import ScorePrecision
from deadheat.core.data.run import Run
from deadheat.core.data.sources import Source
from deadheat.core.errors import MeasureError, ParameterError
from deadheat.core.evaluation.evaluate_runs import evaluate_under
from deadheat.core.evaluation.together import check_of_documents
from deadheat.core.measures import Measure, parse_measure
from deadheat.core.measures.notation import MeasureLike
from deadheat.core.phases import phase
from deadheat.core.placements.placements import Placements
from deadheat.core.settings import Conventions
from deadheat.core.wording import escape_invisible, format_count
from deadheat.plugins.bounds.documents import Unjudged, answered, left_after, unjudged_documents
from deadheat.plugins.bounds.ends import deepest_counted, ends, has_ends
from deadheat.plugins.bounds.part import PlacedBounds
from deadheat.plugins.compare.compare import named_runs

DEEPEST = 100  # ranks that are looked at where all documents count
AT_ONCE = 1 << 20  # rows of copied judgments, placements and ties that are held at a time


@dataclass(frozen=True, eq=False, repr=False)
class Holes(Renderable):
    """The unjudged documents of some runs, those first that should be judged first.

    Attributes
    ----------
    measure : Measure
    by : {"range", "decision"}
    names : tuple of str
        Of the runs.
    documents : polars.DataFrame
        query_id, doc_id, relevance (empty, to be filled in), weight, and for each run ``rank NAME``: the rank, of a
        tie its first one.
    ranges : dict of str to (float, float)
        Of each run, the least and the greatest mean over all labels of its unjudged documents.
    depth : int
        Ranks that were looked at.
    n_unjudged : int
        Unjudged documents that a run has up to that depth, by query.
    n_below : int
        Those below it in all runs that count too, but are not in `documents`.
    n_queries : int
        Queries of the qrels, over which all means are.
    missing_queries : dict of str to tuple of str
        Of each run, the queries of the qrels that it lacks: they count as empty rankings.
    unjudged_queries : dict of str to tuple of str
        Of each run, its queries that the qrels lack: they are left out.
    """

    measure: Measure
    by: str
    names: tuple[str, ...]
    documents: pl.DataFrame
    ranges: Mapping[str, tuple[float, float]]
    depth: int
    n_unjudged: int
    n_below: int
    n_queries: int
    missing_queries: Mapping[str, tuple[str, ...]]
    unjudged_queries: Mapping[str, tuple[str, ...]]

    def __repr__(self) -> str:
        return escape_invisible(
            f"<Holes of {', '.join(self.names)} by {self.measure.label}:"
            f" {format_count(len(self.documents), 'document')} of {self.n_unjudged:,} unjudged>"
        )

    def to_polars(self) -> pl.DataFrame:
        """Return :attr:`documents`."""
        return self.documents

    def named_numbers(self) -> Numbers:
        """Give the numbers of :meth:`to_flat` with the parts of their names."""
        yield ("n_unjudged",), self.n_unjudged
        for name, both in self.ranges.items():
            yield from zip(((name, "unjudged_min"), (name, "unjudged_max")), both, strict=True)


def holes(
    qrels: Source,
    runs: Mapping[str, Source] | Sequence[Source] | str | Path | Run,
    measure: MeasureLike = "nDCG@10",
    *,
    by: str = "range",
    n: int | None = None,
    depth: int | None = None,
    unjudged_max_rel: float | None = None,
    score_precision: ScorePrecision = None,
    ascending: bool = False,
    duplicates: str = "error",
) -> Holes:
    """Rank the unjudged documents of runs by how much a judgment would tell.

    Parameters
    ----------
    qrels : path, dict of dict, dataframe or Qrels
    runs : dict of str to run, sequence of runs, or path or Run of a single one
    measure : measure or str, default "nDCG@10"
        One that has bounds over unjudged documents.
    by : {"range", "decision"}, default "range"
        By "range", the weight of a document is how much its judgment takes off the range of the mean (the greatest
        minus the least over all labels), averaged over the answers 0 and `unjudged_max_rel`, and over the runs. A
        run that did not retrieve the document counts too: a relevant one that it lacks changes its R or its ideal, and
        may widen its range, so that weights below 0 are possible. By
        "decision", with two runs or more, it is how far these two answers are apart in the difference of two runs,
        while other unjudged documents have no gain; averaged over the pairs of runs.
    n : int, optional
        The first ones only.
    depth : int, optional
        Documents that a run has up to this rank; by default the cutoff of the measure if documents below it do not
        count. They do in R@k, F@k, AP@k and nDCG@k, through R or the ideal: then, and without a cutoff, it is 100 (or
        the cutoff, if that is deeper), and `Holes.n_below` says how many more there are.
    unjudged_max_rel : float, optional
        The highest relevance that a document can have; by default the highest in the qrels.
    score_precision, ascending, duplicates
        As for :func:`evaluate`.

    Returns
    -------
    Holes

    Raises
    ------
    MeasureError
        The measure has no bounds.
    ParameterError
        Another option is out of its range.

    Examples
    --------
    >>> qrels = {"q": {"a": 1}}
    >>> found = holes(qrels, {"one": {"q": {"x": 3, "a": 2, "y": 1}}}, "RR")
    >>> found.to_polars().select("doc_id", "weight").rows()
    [('x', 0.5), ('y', 0.0)]
    """
    parsed = parse_measure(measure)
    if not has_ends(parsed):
        raise MeasureError("there are no bounds over unjudged documents for it", measure=str(parsed))
    check_choice("by", by, ("range", "decision"))
    listed = [runs] if isinstance(runs, str | Path | Run) else runs
    named = named_runs(listed, ascending=ascending, duplicates=duplicates)
    if not named:
        raise ParameterError(argument="runs", given=runs, allowed="one run or more")
    if by == "decision" and len(named) < 2:
        raise ParameterError(argument="by", given=by, allowed="'range' for a single run")
    deepest = deepest_counted(parsed)
    if depth is None:
        depth = deepest or max(parsed.deepest or 0, DEEPEST)
    depth = as_count("depth", depth)
    limit = None if n is None else as_count("n", n)
    judged = Qrels.of(qrels)
    check_of_documents("a list of documents to judge", judged)
    conventions = Conventions(score_precision=score_precision, unjudged="bounds", unjudged_max_rel=unjudged_max_rel)
    check_tables(judged, *named.values())
    evaluations = {}
    ranges = {}
    bounds_of_runs = {}
    for name, run in named.items():
        evaluation = evaluate_under(conventions, judged, run, [parsed])
        scores = evaluation[parsed]
        evaluations[name] = evaluation
        ranges[name] = (scores.mean_unjudged_min, scores.mean_unjudged_max)
        documents = unjudged_documents(judged, run, conventions.score_precision)
        bounds_of_runs[name] = _run_bounds(documents, cast("PlacedBounds", scores.unjudged))
    frames = [bounds.frame for bounds in bounds_of_runs.values()]
    highest = pl.concat(frames).group_by(*PAIR).agg(pl.col("rank").min())
    to_weigh = highest.filter(pl.col("rank") <= depth).select(*PAIR).sort(*PAIR)
    is_below = pl.col("rank").is_between(depth, deepest or pl.col("rank"), closed="right")
    with phase("weighing documents"):
        weighted = _weigh_documents(bounds_of_runs, to_weigh, by)
    return Holes(
        measure=parsed,
        by=by,
        names=tuple(named),
        documents=weighted.head(limit or len(weighted)),
        ranges=ranges,
        depth=depth,
        n_unjudged=len(weighted),
        n_below=len(highest.filter(is_below)),
        n_queries=len(next(iter(evaluations.values())).query_ids),
        missing_queries={name: evaluation.missing_queries for name, evaluation in evaluations.items()},
        unjudged_queries={name: evaluation.unjudged_queries for name, evaluation in evaluations.items()},
    )


@dataclass(frozen=True, eq=False)
class _RunBounds:
    """A run: its bounds, and a frame of its unjudged documents: query_id, doc_id, rank, a tie of equal judgments."""

    bounds: PlacedBounds
    frame: pl.DataFrame

    def effects(self, by: str) -> tuple[pl.DataFrame, pl.DataFrame]:
        """Return what a judgment changes: of a document in each tie, and by query of one that is not retrieved.

        By range, what it takes off the range, over both answers; by decision, how far the answers are apart.
        """
        placements, unjudged = self.bounds.placements, self.bounds.unjudged
        ties, queries = np.unique(self.frame["tie"].to_numpy()), np.arange(placements.n_queries)
        of_queries, nowhere = np.zeros(len(queries)), np.zeros_like(queries)
        if by == "range":
            of_queries -= 2 * self._told(by, placements, unjudged, 0)
        of_ties = of_queries[unjudged.query[ties]]
        for label, sign in ((self.bounds.top, 1), (0.0, -1)):
            for part in self._parts(ties):
                own = ties[part]
                judged = answered(placements, unjudged.query[own], label, unjudged.above[own], unjudged.tied[own])
                of_ties[part] += self._told(by, judged, left_after(unjudged, own), sign)
            judged = answered(placements, queries, label, nowhere, nowhere)
            of_queries += self._told(by, judged, unjudged, sign)
        if by == "range":  # fewer labels are left: what is below 0 is rounding error
            of_ties = np.maximum(of_ties, 0.0)
        return pl.DataFrame({"tie": ties, "effect": of_ties}), pl.DataFrame(
            {"query_id": pl.Series(placements.query_ids.tolist(), dtype=pl.String), "effect": of_queries}
        )

    def _told(self, by: str, placements: Placements, unjudged: Unjudged, sign: int) -> FloatArray:
        """Return what one answer adds to an effect."""
        if by == "decision":
            return sign * self.bounds.measure.mean(placements)
        low, high = ends(self.bounds.measure, placements, unjudged, self.bounds.top)
        return (low - high) / 2

    def _parts(self, ties: IntArray) -> Iterator[slice]:
        """Give ranges of ties, of whose queries copies fit into memory."""
        placements, unjudged = self.bounds.placements, self.bounds.unjudged
        copied = np.concatenate((placements.judged_query, placements.query, unjudged.query))
        sizes = np.bincount(copied, minlength=placements.n_queries)[unjudged.query[ties]] + 1
        stops = np.cumsum(sizes)
        start = 0
        while start < len(ties):
            stop = max(start + 1, int(np.searchsorted(stops, (stops[start] - sizes[start]) + AT_ONCE, side="right")))
            yield slice(start, stop)
            start = stop


def _run_bounds(documents: pl.DataFrame, bounds: PlacedBounds) -> _RunBounds:
    """Return the bounds of a run with its unjudged documents, each with a tie in which a judgment does the same."""
    placements, unjudged, deepest = bounds.placements, bounds.unjudged, bounds.measure.deepest
    codes = pl.DataFrame(
        {"query_id": pl.Series(placements.query_ids.tolist(), dtype=pl.String), "code": np.arange(placements.n_queries)}
    )
    ties = pl.DataFrame({"code": unjudged.query, "above": unjudged.above, "tie": np.arange(len(unjudged.query))})
    if deepest is not None:  # one tie is as good as another below
        ties = ties.with_columns(pl.col("tie").min().over("code", pl.col("above").clip(upper_bound=deepest)))
    return _RunBounds(
        bounds,
        documents.join(codes, on="query_id")
        .join(ties, on=["code", "above"])
        .select("query_id", "doc_id", "tie", rank=pl.col("above") + 1),
    )


def _weigh_documents(bounds_of_runs: Mapping[str, _RunBounds], documents: pl.DataFrame, by: str) -> pl.DataFrame:
    """Return documents with their weights, and the rank that each run has them at."""
    effects = [_find_effects(bounds, documents, by) for bounds in bounds_of_runs.values()]
    parts = effects
    if by == "decision":
        parts = [np.abs(effect - other_effect) for effect, other_effect in combinations(effects, 2)]
    n_queries = next(iter(bounds_of_runs.values())).bounds.placements.n_queries
    weight = sum(parts, np.zeros(len(documents))) / (len(parts) * n_queries)
    weighted = documents.with_columns(relevance=pl.lit(None, pl.Float64), weight=weight)
    for name, bounds in bounds_of_runs.items():
        ranks = bounds.frame.select("query_id", "doc_id", pl.col("rank").alias(f"rank {name}"))
        weighted = weighted.join(ranks, on=["query_id", "doc_id"], how="left")
    return weighted.sort("weight", "query_id", "doc_id", descending=[True, False, False])


def _find_effects(bounds: _RunBounds, documents: pl.DataFrame, by: str) -> FloatArray:
    """Return what a judgment of each document changes for a run, also of one that the run did not retrieve."""
    pair = ["query_id", "doc_id"]
    of_documents = replace(bounds, frame=bounds.frame.join(documents, on=pair, how="semi"))
    effects_of_ties, effects_of_queries = of_documents.effects(by)
    retrieved = of_documents.frame.join(effects_of_ties, on="tie")
    joined = documents.join(retrieved, on=pair, how="left", maintain_order="left")
    joined = joined.join(effects_of_queries, on="query_id", how="left", suffix="_lost", maintain_order="left")
    return joined.select(pl.coalesce("effect", "effect_lost")).to_series().to_numpy()
