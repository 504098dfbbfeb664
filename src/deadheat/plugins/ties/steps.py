"""How the value of a measure for one query comes about, document by document, exactly where scores tie."""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from deadheat.core.arrays import FloatArray, IntArray, use_default_arithmetic
from deadheat.core.checks import as_text
from deadheat.core.data.flat_names import Numbers
from deadheat.core.data.renderable import Renderable
from deadheat.core.data.rounding import round_scores
from deadheat.core.data.run import Run
from deadheat.core.data.sources import Source
from deadheat.core.errors import DataError, ParameterError
from deadheat.core.evaluation.evaluation import Evaluation
from deadheat.core.evaluation.scores import Scores
from deadheat.core.kernels.segments import divide_or_zero, segment_sums
from deadheat.core.measures import AP, ERR, IDCG, RR, Hit, Measure, nDCG
from deadheat.core.measures.families import SumMeasure
from deadheat.core.measures.gains import LOWEST_POSITIVE, compute_gains
from deadheat.core.measures.notation import MeasureLike
from deadheat.core.measures.weighted import WeightedMeasure
from deadheat.core.placements import policies
from deadheat.core.placements.placements import Placements
from deadheat.core.settings import Conventions
from deadheat.core.wording import did_you_mean, escape_invisible

EQUAL = 1e-9
HEADINGS = {
    "precision": "P at rank",
    "stops_here": "stops here",
    "part": "adds",
    "sum": "sum",
}
"""What columns of the documents are headed, where it is not their name."""


@dataclass(frozen=True, eq=False, repr=False)
class Steps(Renderable):
    """How the value of a measure for one query comes about.

    Attributes
    ----------
    name : str
        Label of the run.
    measure : Measure
    query_id : str
    documents : polars.DataFrame
        A row a document, in rank order: first and last (the ranks of its tie), doc_id, score (null without the run),
        relevance (null: not judged), then what the measure makes of it, and `sum` so far. Of sums of gains: gain,
        weight (the mean one of the ranks of its tie), and part, its expected contribution. Of AP: precision. Of ERR:
        stop, and stops_here, the probability that the user comes to it and stops. Other measures have the sum alone:
        the value if the list ended here.
    divisor : float
        What the sum is divided by; 1 if it is the value.
    value, tie_min, tie_max : float
        Of the query: the mean over the orders of its ties, or that of the order of the policy; and over all orders.
    ties : str
        The tie policy.
    ideal : polars.DataFrame or None
        Of nDCG and IDCG, the ideal ranking: rank, relevance, gain, weight, part, sum; the last sum is the divisor, or
        the value.
    n_unjudged : int
        Documents of the list that are not judged, and are not listed without the run.
    n_missed : int
        Relevant documents that the run did not retrieve.
    lacks_relevant : bool
        Whether the measure looks for relevant documents, and the query has none. Then `value` is not from the sum: it
        is what the conventions say, NaN where they leave the query out.
    """

    name: str
    measure: Measure
    query_id: str
    documents: pl.DataFrame
    divisor: float
    value: float
    tie_min: float
    tie_max: float
    ties: str
    ideal: pl.DataFrame | None
    n_unjudged: int
    n_missed: int
    lacks_relevant: bool = False

    def __repr__(self) -> str:
        return escape_invisible(f"<Steps {self.measure.label} of {self.name} for {self.query_id!r}: {self.value:.4f}>")

    def to_polars(self) -> pl.DataFrame:
        """Return the documents."""
        return self.documents

    def named_numbers(self) -> Numbers:
        """Give the value and its range over tie orders."""
        return (((self.measure.label, name), getattr(self, name)) for name in ("value", "tie_min", "tie_max"))


def steps_of(evaluation: Evaluation, measure: MeasureLike, query_id: str, run: Source | None) -> Steps:
    """Return how the value of a measure for one query comes about, as :meth:`Evaluation.steps` says."""
    as_text("query_id", query_id)
    scores, read = evaluation[measure], None if run is None else Run.of(run)
    if scores.several_runs:
        raise ParameterError(
            f"a mean over {scores.several_runs} has no steps",
            hint="look at the evaluation of one run by one set of labels",
        )
    if not scores.measure.knows_ties:
        raise ParameterError(
            f"the values of {evaluation.name} came without rankings, and have no steps",
            hint="evaluate the run with deadheat",
        )
    placements = evaluation.placements_of(scores.measure)
    return _steps_of(scores, placements, evaluation.conventions, query_id, read, name=evaluation.name)


@use_default_arithmetic
def _steps_of(
    scores: Scores, placements: Placements, conventions: Conventions, query_id: str, run: Run | None, *, name: str
) -> Steps:
    """Return how the value of a measure for one query comes about.

    Parameters
    ----------
    scores : Scores
        Of the measure.
    placements : Placements
        What it is computed from, before the tie policy.
    conventions : Conventions
    query_id : str
    run : Run or None
    name : str
        Of the run.
    """
    measure, ties, ids = scores.measure, conventions.ties, scores.query_ids.tolist()
    if query_id not in ids:
        raise DataError(f"query {query_id!r} was not evaluated", hint=did_you_mean(query_id, ids))
    if ties == "random" or (ties not in policies.POLICIES and (run is None or run.by_keys is not None)):
        raise ParameterError(
            argument="ties",
            given=ties,
            allowed=policies.POLICIES,
            hint="with the run, by doc_id and input too" if run is None else None,
        )
    place = ids.index(query_id)
    before = placements.select(scores.query_ids == query_id)
    own = None if run is None else _documents(run, before, conventions)
    if own is not None and conventions.judged_only:
        own = own.filter(pl.col("doc_id").is_in(before.doc_ids.tolist()))
    placements = policies.apply(before, ties) if ties in policies.POLICIES or own is None else _ordered(before, own)
    value = float(measure.mean(placements)[0])
    of_ideal = measure.share if isinstance(measure, IDCG) else measure
    reached, divisor, is_sum = _reached(measure, placements, value)
    rows = pl.DataFrame(
        {
            "doc_id": placements.doc_ids.tolist(),
            "above": placements.above,
            "tied": placements.tied,
            "relevance": placements.relevance,
            "row": np.arange(len(placements.query)),
            "score": [None] * len(placements.query),
        },
        schema_overrides={"doc_id": pl.String, "above": pl.Int64, "tied": pl.Int64, "score": pl.Float64},
    )
    n_judged = rows.height
    if own is not None and run is not None and run.by_keys is None:  # else the rank of others is not that of scores
        rows = _with_others(rows, before, own, ties)
    first, last = rows["above"] + 1, rows["above"] + rows["tied"]
    # unjudged documents stand behind the judged ones
    of_row = np.nan_to_num(rows["row"].to_numpy(), nan=n_judged).astype(np.int64)
    columns = (
        _columns(measure, placements, reached, of_row, rows["above"].to_numpy(), rows["tied"].to_numpy())
        if is_sum
        else {}
    )
    if "part" in columns:
        columns["sum"] = np.cumsum(columns["part"])
    else:
        sums = np.full(n_judged + 1, np.nan)
        sums[np.append(placements.tie_starts, n_judged)[1:] - 1] = reached
        columns["sum"] = sums[of_row]
    # column by column: expressions of Polars would take as long as all else
    shown = {"first": first, "last": last, **{name: rows[name] for name in ("doc_id", "score", "relevance")}}
    documents = pl.DataFrame(shown | {name: pl.Series(values, nan_to_null=True) for name, values in columns.items()})
    if measure.deepest is not None:
        documents = documents[: int((first <= measure.deepest).sum())]
    rel: Any = getattr(measure, "rel", LOWEST_POSITIVE)
    lacks_relevant = measure.asks_for_relevant and not scores.has_relevant[place]
    if lacks_relevant and not scores.kept[place]:
        value = math.nan
    elif scores.spread.is_right[scores.rows][place]:
        value = 1.0
    return Steps(
        name=name,
        measure=measure,
        query_id=query_id,
        documents=documents,
        divisor=divisor,
        value=value,
        tie_min=float(scores.tie_min[place]),
        tie_max=float(scores.tie_max[place]),
        ties=ties,
        ideal=_ideal(of_ideal, placements) if isinstance(of_ideal, nDCG) and of_ideal.floor == "zero" else None,
        n_unjudged=int(placements.n_retrieved[0]) - n_judged,
        n_missed=int((placements.judged_relevance >= rel).sum() - (placements.relevance >= rel).sum()),
        lacks_relevant=bool(lacks_relevant),
    )


def _reached(measure: Measure, placements: Placements, value: float) -> tuple[FloatArray, float, bool]:
    """Return the sum after each tie with a judged document, its divisor, and whether it is a sum down the list.

    It is that of the list that ends there; of a measure that is no such sum it is the value of this list.
    """
    cut = _cut(placements)
    if isinstance(measure, SumMeasure) and not getattr(measure, "is_conditional", False):
        sums, divisors = measure.moment(cut, squares=False), measure.divisor(cut)
        same = not len(sums) or math.isclose(divide_or_zero(sums, divisors)[-1], value, abs_tol=EQUAL)
        if same and len(np.unique(divisors)) <= 1:
            return sums, float(measure.divisor(placements)[0]), True
    return measure.mean(cut), 1.0, isinstance(measure, RR | Hit)


def _cut(placements: Placements) -> Placements:
    """Return the placements of a query for each of its ties: those of the list that ends there."""
    starts = placements.tie_starts
    stops = np.append(starts, len(placements.query))[1:]
    copies = placements.select(np.zeros(len(starts), np.int64))
    ends = (placements.above + placements.tied)[starts]
    place = np.tile(np.arange(len(placements.query)), len(starts))
    return replace(copies.rows(place < stops[copies.query]), n_retrieved=ends, before=None)


def _documents(run: Run, before: Placements, conventions: Conventions) -> pl.DataFrame:
    """Return doc_id and score of a query's documents, by score; where it breaks ties, in the order of the policy."""
    own = run.to_polars().filter(pl.col("query_id") == before.query_ids[0]).select("doc_id", "score")
    if lacking := {*before.doc_ids.tolist()}.difference(own["doc_id"]):
        raise DataError("is not the run that was evaluated", found=f"a list without {min(lacking)!r}", path=run.where)
    scores = round_scores(own["score"].to_numpy(), None if run.by_keys else conventions.score_precision)
    own = own.with_columns(score=pl.Series(scores, dtype=pl.Float64))
    by = ["score", "doc_id"] if conventions.ties == "doc_id" else ["score"]
    return own.sort(by, descending=True, maintain_order=True)


def _ordered(before: Placements, own: pl.DataFrame) -> Placements:
    """Return the placements with the documents in the order of these, without ties."""
    place = {doc: n for n, doc in enumerate(own["doc_id"])}
    return before.moved(np.array([place[doc] for doc in before.doc_ids.tolist()], np.int64))


def _with_others(rows: pl.DataFrame, before: Placements, own: pl.DataFrame, ties: str) -> pl.DataFrame:
    """Return the judged documents with their scores, and the others down to the last of them, in rank order."""
    if ties in policies.POLICIES:
        rank = pl.col("score").rank("min", descending=True).cast(pl.Int64) - 1
        own = own.with_columns(above=rank, tied=pl.len().over("score").cast(pl.Int64))
    else:
        own = own.with_columns(above=pl.int_range(pl.len(), dtype=pl.Int64), tied=pl.lit(1, pl.Int64))
    if ties in {"best", "worst"}:  # the judged documents of a tie come before, or after, the others
        judged = pl.DataFrame({"above": before.above}, schema={"above": pl.Int64}).group_by("above").len("n")
        own = own.join(judged, on="above", how="left", maintain_order="left")
        n = pl.col("n").fill_null(0).cast(pl.Int64)
        own = own.with_columns(above=pl.col("above") + (n if ties == "best" else 0), tied=pl.col("tied") - n).drop("n")
    end = int((before.above + before.tied).max(initial=0))
    others = own.join(rows, on="doc_id", how="anti").filter(pl.col("above") < end)
    rows = rows.drop("score").join(own.select("doc_id", "score"), on="doc_id", how="left", maintain_order="left")
    return pl.concat([rows, others], how="diagonal").sort(
        "above", pl.col("relevance").fill_null(-np.inf), "doc_id", descending=[False, True, False]
    )


def _columns(  # noqa: PLR0917 - what is known of each row
    measure: Measure, placements: Placements, reached: FloatArray, of_row: IntArray, above: IntArray, tied: IntArray
) -> dict[str, FloatArray]:
    """Return what a measure makes of each row, and `part`, what the row adds to the sum, where that is known."""

    def by_row(values: FloatArray) -> FloatArray:
        return np.append(values, 0.0)[of_row]

    if isinstance(measure, WeightedMeasure):
        end = above + tied if measure.cutoff is None else np.minimum(above + tied, measure.cutoff)
        total = np.append(0.0, np.cumsum(measure.weights(int(end.max(initial=1)))))
        weight = (total[np.maximum(end, 0)] - total[np.minimum(above, end)]) / tied
        gain = by_row(measure.gains(placements)[1])
        return {"gain": gain, "weight": weight, "part": gain * weight}
    if isinstance(measure, ERR):
        if measure.stops(placements, np.zeros(1))[0]:
            return {}  # unjudged documents stop the reading, too
        stop = measure.stops(placements, placements.relevance)
        stops_here, part = _cascade(measure, placements, stop)
        return {"stop": by_row(stop), "stops_here": by_row(stops_here), "part": by_row(part)}
    if not measure.binary:
        return {}
    starts = placements.tie_starts
    counts = (placements.relevance >= getattr(measure, "rel", 0)).astype(np.float64)
    share = divide_or_zero(np.diff(reached, prepend=0.0), segment_sums(counts, starts))  # the same for each that counts
    part = by_row(counts * np.repeat(share, np.diff(np.append(starts, len(counts)))))
    if not isinstance(measure, AP):
        return {"part": part}
    is_relevant, rank = by_row(counts) > 0, above + 1
    known = np.where(tied == 1, np.cumsum(is_relevant) / rank, np.nan)
    return {"precision": np.where(is_relevant, part, known), "part": part}


def _cascade(measure: ERR, placements: Placements, stop: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the probability to stop at each document, and its contribution, averaged over the orders of its tie.

    At place j + 1 of a tie the user is with the mean probability to pass j of the others, over all choices of j.
    """
    stops_here, part = np.zeros(len(stop)), np.zeros(len(stop))
    starts, arrive = placements.tie_starts, 1.0
    for first, end in zip(starts.tolist(), np.append(starts, len(stop))[1:].tolist(), strict=True):
        above, tied = int(placements.above[first]), int(placements.tied[first])
        n_inside = tied if measure.cutoff is None else max(0, min(tied, measure.cutoff - above))
        own, rank = stop[first:end], above + 1.0 + np.arange(n_inside)
        for row in range(first, end):
            if row > first and stop[row] == stop[row - 1]:
                stops_here[row], part[row] = stops_here[row - 1], part[row - 1]
                continue
            passed = np.ones(tied)  # of 0 .. tied - 1 others; those that are not judged never stop anybody
            for n, other in enumerate(np.delete(own, row - first), tied - len(own) + 1):
                j = np.arange(n + 1)
                passed[: n + 1] = ((n - j) * passed[: n + 1] + j * (1 - other) * np.append(0.0, passed[:n])) / n
            chance = arrive * stop[row] * passed[:n_inside] / tied
            stops_here[row], part[row] = chance.sum(), (chance / rank).sum()
        arrive *= float(np.prod(1 - own))
    return stops_here, part


def _ideal(measure: nDCG, placements: Placements) -> pl.DataFrame:
    """Return the ideal ranking, whose sum is the divisor."""
    relevance = placements.judged_relevance if measure.ideal == "judged" else placements.relevance
    gain = compute_gains(measure.gain, relevance)
    order = np.argsort(-gain, kind="stable")[: measure.cutoff]
    weight = measure.weights(max(1, len(order)))[: len(order)]
    part = gain[order] * weight
    return pl.DataFrame(
        {
            "rank": np.arange(1, len(order) + 1),
            "relevance": relevance[order],
            "gain": gain[order],
            "weight": weight,
            "part": part,
            "sum": np.cumsum(part),
        }
    )
