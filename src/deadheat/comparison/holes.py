"""holes(): which unjudged documents to judge first, for one system's value or for the difference of two."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np
import polars as pl

from deadheat.arguments import as_count, check_choice
from deadheat.arrays import FloatArray, IntArray
from deadheat.comparison.compare import named_runs
from deadheat.data.positions import positions
from deadheat.data.precision import ScorePrecision
from deadheat.data.shown import Numbers, Shown
from deadheat.data.tables import Qrels, Run, Source
from deadheat.errors import MeasureError, ParameterError
from deadheat.evaluation.conventions import Conventions
from deadheat.io.phases import phase
from deadheat.measures import Measure, parse_measure
from deadheat.measures.notation import MeasureLike
from deadheat.measures.unjudged import ends, has_ends
from deadheat.placements.place import engine_of
from deadheat.placements.placements import Placements
from deadheat.placements.unjudged import Unjudged, answered, answers_elsewhere, left_after, with_ties
from deadheat.wording import counted

BY = ("range", "decision")
DEEPEST = 100  # ranks that are looked at for a measure without a cutoff
AT_ONCE = 1 << 20  # rows of copied judgments, placements and ties that are held at a time


@dataclass(frozen=True, eq=False, repr=False)
class Holes(Shown, reported_by="deadheat.report.of_holes:of_holes"):
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
        Unjudged documents above that depth, by query.
    n_queries : int
        Queries of the qrels, over which all means are.
    missing_queries : dict of str to tuple of str
        Of each run, the queries of the qrels that it lacks: they count as empty rankings.
    """

    measure: Measure
    by: str
    names: tuple[str, ...]
    documents: pl.DataFrame
    ranges: Mapping[str, tuple[float, float]]
    depth: int
    n_unjudged: int
    n_queries: int
    missing_queries: Mapping[str, tuple[str, ...]]

    def __repr__(self) -> str:
        shown = counted(len(self.documents), "document")
        return f"<Holes of {', '.join(self.names)} by {self.measure.label}: {shown} of {self.n_unjudged:,} unjudged>"

    def to_polars(self) -> pl.DataFrame:
        """Return :attr:`documents`."""
        return self.documents

    def named_numbers(self) -> Numbers:
        """Give the numbers of :meth:`to_flat` with the parts of their names."""
        yield ("n_unjudged",), self.n_unjudged
        for name, (low, high) in self.ranges.items():
            yield (name, "unjudged_min"), low
            yield (name, "unjudged_max"), high


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
    check_duplicates: bool = True,
) -> Holes:
    """Rank the unjudged documents of runs by what their judgment would tell.

    Parameters
    ----------
    qrels : path, dict of dict, dataframe or Qrels
    runs : dict of str to run, sequence of runs, or path or Run of a single one
    measure : measure or str, default "nDCG@10"
        One that has bounds over unjudged documents.
    by : {"range", "decision"}, default "range"
        By "range", the weight of a document is how much its judgment takes off the range of the mean (the greatest
        minus the least over all labels), averaged over the answers 0 and `unjudged_max_rel`, and over the runs. By
        "decision", with two runs or more, it is how far these two answers are apart in the difference of two runs,
        while other unjudged documents have no gain; averaged over the pairs of runs.
    n : int, optional
        The first ones only.
    depth : int, optional
        Documents up to this rank; by default the cutoff of the measure, and 100 without one.
    unjudged_max_rel : float, optional
        The highest relevance that a document can have; by default the highest in the qrels.
    score_precision, check_duplicates
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
    check_choice("by", by, BY)
    named = named_runs([runs] if isinstance(runs, str | Path | Run) else runs)
    if not named:
        raise ParameterError(argument="runs", given=runs, allowed="one run or more")
    if by == "decision" and len(named) < 2:
        raise ParameterError(argument="by", given=by, allowed="'range' for a single run")
    depth = as_count("depth", parsed.deepest or DEEPEST if depth is None else depth)
    limit = None if n is None else as_count("n", n)
    judged = Qrels.of(qrels)
    if check_duplicates:
        judged.check_duplicates()
    conventions = Conventions(score_precision=score_precision, unjudged="bounds", unjudged_max_rel=unjudged_max_rel)
    precision = conventions.score_precision
    sides: list[_Side] = []
    for name, run in named.items():
        if check_duplicates:
            run.check_duplicates()
        with phase(f"placing {name}"):
            placements = engine_of(judged, run, precision).place()
            unjudged = with_ties(placements, run, precision)
        top = conventions.highest_label(placements.max_relevance)
        frame = _unjudged_documents(judged, run, precision, placements, unjudged, depth)
        sides.append(_Side(name, parsed, placements, unjudged, frame, top))
    with phase("weighing documents"):
        documents = (_by_range if by == "range" else _by_decision)(sides)
    documents = documents.sort("weight", "query_id", "doc_id", descending=[True, False, False])
    ranges = {side.name: side.range for side in sides}
    return Holes(
        parsed,
        by,
        tuple(named),
        documents.head(limit or len(documents)),
        ranges,
        depth,
        len(documents),
        sides[0].placements.n_queries,
        {side.name: side.missing for side in sides},
    )


@dataclass(frozen=True, eq=False)
class _Side:
    """A run: where its judged and unjudged documents are, and a frame of the latter: query_id, doc_id, tie, rank."""

    name: str
    measure: Measure
    placements: Placements
    unjudged: Unjudged
    frame: pl.DataFrame
    top: float

    @property
    def range(self) -> tuple[float, float]:
        """The least and the greatest mean."""
        low, high = ends(self.measure, self.placements, self.unjudged, self.top)
        return float(np.nanmean(low)), float(np.nanmean(high))

    @property
    def missing(self) -> tuple[str, ...]:
        """The queries that the run lacks."""
        return tuple(self.placements.query_ids[self.placements.missing].tolist())

    @property
    def rank(self) -> str:
        """The name of the column of ranks."""
        return f"rank {self.name}"

    def narrowed(self) -> pl.DataFrame:
        """Return tie and weight: how much a judgment in each tie takes off the range."""
        ties = self._ties()
        low, high = ends(self.measure, self.placements, self.unjudged, self.top)
        before = (high - low)[self.unjudged.query[ties]]
        after = np.zeros(len(ties))
        for part in self._parts(ties):
            left = left_after(self.unjudged, ties[part])
            for label in (0.0, self.top):
                judged = answered(self.placements, self.unjudged, ties[part], label)
                low, high = ends(self.measure, judged, left, self.top)
                after[part] += (high - low) / 2
        return pl.DataFrame({"tie": ties, "weight": np.maximum(before - after, 0.0)})

    def effects(self) -> tuple[pl.DataFrame, pl.DataFrame]:
        """Return how far the answers are apart: by tie, and by query of a document that is not retrieved."""
        ties, queries = self._ties(), np.arange(self.placements.n_queries)
        of_ties, of_queries = np.zeros(len(ties)), np.zeros(len(queries))
        for label, sign in ((self.top, 1), (0.0, -1)):
            for part in self._parts(ties):
                judged = answered(self.placements, self.unjudged, ties[part], label)
                of_ties[part] += sign * self.measure.mean(judged)
            of_queries += sign * self.measure.mean(answers_elsewhere(self.placements, queries, label))
        ids = pl.Series(self.placements.query_ids.tolist(), dtype=pl.String)
        return pl.DataFrame({"tie": ties, "effect": of_ties}), pl.DataFrame({"query_id": ids, "effect": of_queries})

    def _ties(self) -> IntArray:
        return np.unique(self.frame["tie"].to_numpy())

    def _parts(self, ties: IntArray) -> Iterator[slice]:
        """Give ranges of ties, of whose queries copies fit into memory."""
        n = self.placements.n_queries
        copied = np.concatenate((self.placements.judged_query, self.placements.query, self.unjudged.query))
        sizes = np.bincount(copied, minlength=n)[self.unjudged.query[ties]] + 1
        stops = np.cumsum(sizes)
        start = 0
        while start < len(ties):
            before = stops[start] - sizes[start]
            stop = max(start + 1, int(np.searchsorted(stops, before + AT_ONCE, side="right")))
            yield slice(start, stop)
            start = stop


def _unjudged_documents(  # noqa: PLR0917 - of one run
    qrels: Qrels, run: Run, precision: ScorePrecision, placements: Placements, unjudged: Unjudged, depth: int
) -> pl.DataFrame:
    """Return the unjudged documents up to a depth: query_id, doc_id, the tie that each is in, and its rank."""
    codes = pl.DataFrame(
        {"query_id": pl.Series(placements.query_ids.tolist(), dtype=pl.String), "code": np.arange(placements.n_queries)}
    )
    near = positions(run.rounded(precision)).filter(pl.col("above") < depth)
    frame = near.join(codes, on="query_id").join(
        qrels.to_polars().select("query_id", "doc_id"), on=["query_id", "doc_id"], how="anti"
    )
    ties = pl.DataFrame({"code": unjudged.query, "above": unjudged.above, "tie": np.arange(len(unjudged.query))})
    return frame.join(ties, on=["code", "above"]).select("query_id", "doc_id", "tie", rank=pl.col("above") + 1)


def _by_range(sides: Sequence[_Side]) -> pl.DataFrame:
    frames = [
        side.frame.join(side.narrowed(), on="tie").select(
            "query_id", "doc_id", pl.col("weight") / (len(sides) * side.placements.n_queries)
        )
        for side in sides
    ]
    weights = pl.concat(frames).group_by("query_id", "doc_id").agg(pl.col("weight").sum())
    return _with_ranks(weights, sides)


def _by_decision(sides: Sequence[_Side]) -> pl.DataFrame:
    every = pl.concat([side.frame.select("query_id", "doc_id") for side in sides]).unique()
    effects: list[FloatArray] = []
    every = every.sort("query_id", "doc_id")
    for side in sides:
        of_ties, of_queries = side.effects()
        own = side.frame.join(of_ties, on="tie").select("query_id", "doc_id", "effect")
        joined = every.join(own, on=["query_id", "doc_id"], how="left", maintain_order="left").join(
            of_queries, on="query_id", how="left", suffix="_lost", maintain_order="left"
        )
        found = joined.select(pl.coalesce("effect", "effect_lost").fill_null(0.0)).to_series()
        effects.append(found.to_numpy() / side.placements.n_queries)
    pairs = list(combinations(range(len(sides)), 2))
    weight = sum((np.abs(effects[a] - effects[b]) for a, b in pairs), np.zeros(len(every))) / len(pairs)
    return _with_ranks(every.with_columns(weight=weight), sides)


def _with_ranks(weights: pl.DataFrame, sides: Sequence[_Side]) -> pl.DataFrame:
    found = weights.select("query_id", "doc_id", pl.lit(None, pl.Float64).alias("relevance"), "weight")
    for side in sides:
        ranks = side.frame.select("query_id", "doc_id", pl.col("rank").alias(side.rank))
        found = found.join(ranks, on=["query_id", "doc_id"], how="left")
    return found
