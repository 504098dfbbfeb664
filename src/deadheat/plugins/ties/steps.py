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
        label = self.measure.label
        yield (label, "value"), self.value
        yield (label, "tie_min"), self.tie_min
        yield (label, "tie_max"), self.tie_max


def steps_of(evaluation: Evaluation, measure: MeasureLike, query_id: str, run: Source | None) -> Steps:
    """Return how the value of a measure for one query comes about, as :meth:`Evaluation.steps` says."""
    as_text("query_id", query_id)
    scores = evaluation[measure]
    run_of_documents = None if run is None else Run.of(run)
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
    return _find_steps(scores, placements, evaluation.conventions, query_id, run_of_documents, name=evaluation.name)


@use_default_arithmetic
def _find_steps(
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
    measure, ties = scores.measure, conventions.ties
    query_ids = scores.query_ids.tolist()
    if query_id not in query_ids:
        raise DataError(f"query {query_id!r} was not evaluated", hint=did_you_mean(query_id, query_ids))
    _check_policy(ties, run)
    place = query_ids.index(query_id)
    before_policy = placements.select(scores.query_ids == query_id)
    ranking = None if run is None else _read_ranking(run, before_policy, conventions)
    if ties in policies.POLICIES or ranking is None:
        placements = policies.apply(before_policy, ties)
    else:
        placements = _order(before_policy, ranking)
    value = float(measure.mean(placements)[0])
    sums = _find_sums(measure, placements, value)
    listed = _list_judged(placements)
    n_judged = listed.height
    if ranking is not None and run is not None and run.by_keys is None:  # else the rank of others is not that of scores
        listed = _add_others(listed, before_policy, ranking, ties)
    lacks_relevant = measure.asks_for_relevant and not scores.has_relevant[place]
    if lacks_relevant and not scores.kept[place]:
        value = math.nan
    elif scores.spread.is_right[scores.rows][place]:
        value = 1.0
    lowest_relevant: Any = getattr(measure, "rel", LOWEST_POSITIVE)
    n_relevant = (placements.judged_relevance >= lowest_relevant).sum()
    n_retrieved_relevant = (placements.relevance >= lowest_relevant).sum()
    return Steps(
        name=name,
        measure=measure,
        query_id=query_id,
        documents=_tabulate_documents(measure, placements, sums, listed),
        divisor=sums.divisor,
        value=value,
        tie_min=float(scores.tie_min[place]),
        tie_max=float(scores.tie_max[place]),
        ties=ties,
        ideal=_tabulate_ideal(measure, placements),
        n_unjudged=int(placements.n_retrieved[0]) - n_judged,
        n_missed=int(n_relevant - n_retrieved_relevant),
        lacks_relevant=bool(lacks_relevant),
    )


def _check_policy(ties: str, run: Run | None) -> None:
    """Raise `ParameterError` for a tie policy under which the ranks of documents are not known."""
    needs_scores = ties not in policies.POLICIES
    has_scores = run is not None and run.by_keys is None
    if ties == "random" or (needs_scores and not has_scores):
        raise ParameterError(
            argument="ties",
            given=ties,
            allowed=policies.POLICIES,
            hint="with the run, by doc_id and input too" if run is None else None,
        )


@dataclass(frozen=True, eq=False)
class Sums:
    """What a measure comes to down the list of one query.

    Attributes
    ----------
    reached : ndarray of float, shape (n_ties,)
        The sum after each tie with a judged document: that of the list that ends there. Of a measure that is no sum,
        its value.
    divisor : float
        What the last sum is divided by; 1 if it is the value.
    is_sum : bool
        Whether each document adds something to it.
    """

    reached: FloatArray
    divisor: float
    is_sum: bool


def _find_sums(measure: Measure, placements: Placements, value: float) -> Sums:
    """Return the sums of a measure down the list, given its value for the whole list."""
    cut = _cut_after_ties(placements)
    if isinstance(measure, SumMeasure) and not getattr(measure, "is_conditional", False):
        sums = measure.moment(cut, squares=False)
        divisors = measure.divisor(cut)
        is_same = not len(sums) or math.isclose(divide_or_zero(sums, divisors)[-1], value, abs_tol=EQUAL)
        if is_same and len(np.unique(divisors)) <= 1:
            return Sums(sums, float(measure.divisor(placements)[0]), is_sum=True)
    return Sums(measure.mean(cut), 1.0, is_sum=isinstance(measure, RR | Hit))


def _cut_after_ties(placements: Placements) -> Placements:
    """Return the placements of a query for each of its ties: those of the list that ends there."""
    n_documents = len(placements.query)
    starts = placements.tie_starts
    stops = np.append(starts, n_documents)[1:]
    copies = placements.select(np.zeros(len(starts), np.int64))
    ends = (placements.above + placements.tied)[starts]
    row_of_copy = np.tile(np.arange(n_documents), len(starts))
    is_in_list = row_of_copy < stops[copies.query]
    return replace(copies.rows(is_in_list), n_retrieved=ends, before=None)


def _read_ranking(run: Run, before_policy: Placements, conventions: Conventions) -> pl.DataFrame:
    """Return doc_id and score of a query's documents, by score; where it breaks ties, in the order of the policy."""
    ranking = run.to_polars().filter(pl.col("query_id") == before_policy.query_ids[0]).select("doc_id", "score")
    judged_ids = before_policy.doc_ids.tolist()
    lacking = set(judged_ids).difference(ranking["doc_id"])
    if lacking:
        raise DataError("is not the run that was evaluated", found=f"a list without {min(lacking)!r}", path=run.where)
    precision = None if run.by_keys else conventions.score_precision
    scores = round_scores(ranking["score"].to_numpy(), precision)
    ranking = ranking.with_columns(score=pl.Series(scores, dtype=pl.Float64))
    keys = ["score", "doc_id"] if conventions.ties == "doc_id" else ["score"]
    ranking = ranking.sort(keys, descending=True, maintain_order=True)
    if conventions.judged_only:
        ranking = ranking.filter(pl.col("doc_id").is_in(judged_ids))
    return ranking


def _order(before_policy: Placements, ranking: pl.DataFrame) -> Placements:
    """Return the placements with the documents in the order of a ranking, without ties."""
    place_of = {doc_id: place for place, doc_id in enumerate(ranking["doc_id"])}
    places = [place_of[doc_id] for doc_id in before_policy.doc_ids.tolist()]
    return before_policy.moved(np.array(places, np.int64))


def _list_judged(placements: Placements) -> pl.DataFrame:
    """Return a row a judged document: doc_id, above, tied, relevance, row (its number), and a score of null."""
    n_judged = len(placements.query)
    return pl.DataFrame(
        {
            "doc_id": placements.doc_ids.tolist(),
            "above": placements.above,
            "tied": placements.tied,
            "relevance": placements.relevance,
            "row": np.arange(n_judged),
            "score": [None] * n_judged,
        },
        schema_overrides={"doc_id": pl.String, "above": pl.Int64, "tied": pl.Int64, "score": pl.Float64},
    )


def _add_others(judged: pl.DataFrame, before_policy: Placements, ranking: pl.DataFrame, ties: str) -> pl.DataFrame:
    """Return the judged documents with their scores, and the others down to the last of them, in rank order."""
    if ties in policies.POLICIES:
        rank = pl.col("score").rank("min", descending=True).cast(pl.Int64) - 1
        ranking = ranking.with_columns(above=rank, tied=pl.len().over("score").cast(pl.Int64))
    else:
        ranking = ranking.with_columns(above=pl.int_range(pl.len(), dtype=pl.Int64), tied=pl.lit(1, pl.Int64))
    if ties in {"best", "worst"}:  # the judged documents of a tie come before, or after, the others
        above = pl.DataFrame({"above": before_policy.above}, schema={"above": pl.Int64})
        n_judged_of_tie = above.group_by("above").len("n_judged")
        ranking = ranking.join(n_judged_of_tie, on="above", how="left", maintain_order="left")
        n_judged = pl.col("n_judged").fill_null(0).cast(pl.Int64)
        n_before = n_judged if ties == "best" else 0
        ranking = ranking.with_columns(above=pl.col("above") + n_before, tied=pl.col("tied") - n_judged)
        ranking = ranking.drop("n_judged")
    end = int((before_policy.above + before_policy.tied).max(initial=0))
    others = ranking.join(judged, on="doc_id", how="anti").filter(pl.col("above") < end)
    scores = ranking.select("doc_id", "score")
    judged = judged.drop("score").join(scores, on="doc_id", how="left", maintain_order="left")
    return pl.concat([judged, others], how="diagonal").sort(
        "above", pl.col("relevance").fill_null(-np.inf), "doc_id", descending=[False, True, False]
    )


@dataclass(frozen=True, eq=False)
class ListedRows:
    """Where the listed documents of one query stand, of shape (n_rows,) each.

    Attributes
    ----------
    judged_row : ndarray of int
        The number among the judged documents; of an unjudged document one more than the last.
    above, tied : ndarray of int
        How many documents are above its tie, and in it.
    """

    judged_row: IntArray
    above: IntArray
    tied: IntArray

    def align(self, values: FloatArray) -> FloatArray:
        """Return values of judged documents row by row; 0 for a document that is not judged."""
        return np.append(values, 0.0)[self.judged_row]


def _tabulate_documents(measure: Measure, placements: Placements, sums: Sums, listed: pl.DataFrame) -> pl.DataFrame:
    """Return the documents with what a measure makes of them, down to the last rank that it looks at."""
    n_judged = len(placements.query)
    judged_row = np.nan_to_num(listed["row"].to_numpy(), nan=n_judged).astype(np.int64)
    rows = ListedRows(judged_row, listed["above"].to_numpy(), listed["tied"].to_numpy())
    columns = _find_parts(measure, placements, sums.reached, rows) if sums.is_sum else {}
    if "part" in columns:
        columns["sum"] = np.cumsum(columns["part"])
    else:
        last_of_ties = np.append(placements.tie_starts, n_judged)[1:] - 1
        sum_of_row = np.full(n_judged + 1, np.nan)
        sum_of_row[last_of_ties] = sums.reached
        columns["sum"] = sum_of_row[judged_row]
    first = listed["above"] + 1
    last = listed["above"] + listed["tied"]
    # column by column: expressions of Polars would take as long as all else
    shown = {"first": first, "last": last}
    for name in ("doc_id", "score", "relevance"):
        shown[name] = listed[name]
    for name, values in columns.items():
        shown[name] = pl.Series(values, nan_to_null=True)
    documents = pl.DataFrame(shown)
    if measure.deepest is None:
        return documents
    n_seen = int((first <= measure.deepest).sum())
    return documents[:n_seen]


def _find_parts(
    measure: Measure, placements: Placements, reached: FloatArray, rows: ListedRows
) -> dict[str, FloatArray]:
    """Return what a measure makes of each row, and `part`, what the row adds to the sum, where that is known."""
    if isinstance(measure, WeightedMeasure):
        return _weigh_gains(measure, placements, rows)
    if isinstance(measure, ERR):
        return _stop_reading(measure, placements, rows)
    if measure.binary:
        return _share_increases(measure, placements, reached, rows)
    return {}


def _weigh_gains(measure: WeightedMeasure, placements: Placements, rows: ListedRows) -> dict[str, FloatArray]:
    """Return gain, mean weight of the ranks of its tie, and part of each row."""
    end = rows.above + rows.tied
    if measure.cutoff is not None:
        end = np.minimum(end, measure.cutoff)
    deepest = int(end.max(initial=1))
    weight_down_to = np.append(0.0, np.cumsum(measure.weights(deepest)))
    weight_of_tie = weight_down_to[np.maximum(end, 0)] - weight_down_to[np.minimum(rows.above, end)]
    weight = weight_of_tie / rows.tied
    gain = rows.align(measure.gains(placements)[1])
    return {"gain": gain, "weight": weight, "part": gain * weight}


def _stop_reading(measure: ERR, placements: Placements, rows: ListedRows) -> dict[str, FloatArray]:
    """Return of each row the probability to stop, to come to it and stop, and its part; none if others stop, too."""
    stops_at_unjudged = measure.stops(placements, np.zeros(1))[0]
    if stops_at_unjudged:
        return {}
    stop = measure.stops(placements, placements.relevance)
    stops_here, part = _cascade(measure, placements, stop)
    return {"stop": rows.align(stop), "stops_here": rows.align(stops_here), "part": rows.align(part)}


def _share_increases(
    measure: Measure, placements: Placements, reached: FloatArray, rows: ListedRows
) -> dict[str, FloatArray]:
    """Return the part of each row, where a tie's increase is the same for each relevant document; of AP precision."""
    starts = placements.tie_starts
    is_counted = (placements.relevance >= getattr(measure, "rel", 0)).astype(np.float64)
    increase = np.diff(reached, prepend=0.0)
    share = divide_or_zero(increase, segment_sums(is_counted, starts))
    n_of_tie = np.diff(np.append(starts, len(is_counted)))
    part = rows.align(is_counted * np.repeat(share, n_of_tie))
    if not isinstance(measure, AP):
        return {"part": part}
    is_relevant = rows.align(is_counted) > 0
    precision = np.where(rows.tied == 1, np.cumsum(is_relevant) / (rows.above + 1), np.nan)
    return {"precision": np.where(is_relevant, part, precision), "part": part}


def _cascade(measure: ERR, placements: Placements, stop: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the probability to stop at each document, and its contribution, averaged over the orders of its tie.

    At place j + 1 of a tie the user is with the mean probability to pass j of the others, over all choices of j.
    """
    stops_here = np.zeros(len(stop))
    part = np.zeros(len(stop))
    starts = placements.tie_starts
    ends = np.append(starts, len(stop))[1:]
    arrives = 1.0
    for first, end in zip(starts.tolist(), ends.tolist(), strict=True):
        above, tied = int(placements.above[first]), int(placements.tied[first])
        n_inside = tied if measure.cutoff is None else max(0, min(tied, measure.cutoff - above))
        stop_of_tie = stop[first:end]
        rank = above + 1.0 + np.arange(n_inside)
        for row in range(first, end):
            if row > first and stop[row] == stop[row - 1]:
                stops_here[row] = stops_here[row - 1]
                part[row] = part[row - 1]
                continue
            passed = _pass_others(np.delete(stop_of_tie, row - first), tied)
            chance = arrives * stop[row] * passed[:n_inside] / tied
            stops_here[row] = chance.sum()
            part[row] = (chance / rank).sum()
        arrives *= float(np.prod(1 - stop_of_tie))
    return stops_here, part


def _pass_others(stop_of_others: FloatArray, tied: int) -> FloatArray:
    """Return the mean probability to pass 0 .. tied - 1 of the other documents of a tie, over all choices.

    Parameters
    ----------
    stop_of_others : ndarray of float
        The probability to stop at each other judged document; those that are not judged never stop anybody.
    tied : int
        Documents of the tie.
    """
    n_unjudged = tied - 1 - len(stop_of_others)
    passed = np.ones(tied)
    for n, stop in enumerate(stop_of_others, n_unjudged + 1):
        j = np.arange(n + 1)
        passed[: n + 1] = ((n - j) * passed[: n + 1] + j * (1 - stop) * np.append(0.0, passed[:n])) / n
    return passed


def _tabulate_ideal(measure: Measure, placements: Placements) -> pl.DataFrame | None:
    """Return the ideal ranking, whose sum is the divisor, or the value of IDCG; None of other measures."""
    share = measure.share if isinstance(measure, IDCG) else measure
    if not isinstance(share, nDCG) or share.floor != "zero":
        return None
    relevance = placements.judged_relevance if share.ideal == "judged" else placements.relevance
    gain = compute_gains(share.gain, relevance)
    order = np.argsort(-gain, kind="stable")[: share.cutoff]
    weight = share.weights(max(1, len(order)))[: len(order)]
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
