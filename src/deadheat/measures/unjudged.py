"""Bounds over unjudged documents: the least and greatest value if each retrieved one had any relevance up to a top.

The value is that under the tie policy: under "expected" the mean over tie orders. Labels are any numbers from 0 to the
top, whole or not; both ends are values that some labels give. Documents that are judged below 0 stay as they are.

P, Hit, RR, DCG, RBP and ERR never fall if a document's relevance rises: they are least if all unjudged documents have
relevance 0, and greatest if all have the top. R, F, R-precision, AP and nDCG divide by what rises with it, too: the
arguments are with the kernels.

Bounds over places: the least and greatest value if some documents of a run could be anywhere in its list.

They are the documents that a judge, whose grades rank the list, gave no grade. All others keep their order and their
ties; each of these may be above, below or inside each tie. No judgment changes, so neither does any divisor.

A measure that has bounds over unjudged documents never falls if the more relevant of two documents gets the higher of
their ranks. So its greatest value has these documents in the order of their relevance: those that nothing in the list
exceeds are first, those without a gain last. Only of the others all places in the list are tried: above and below the
judged documents, and in their ties. The least value has everything the other way round.

`Unjudged` is where the unjudged documents of a run are ranked: the ties that hold some, which placements leave out.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import combinations_with_replacement
from math import comb
from typing import Any, cast

import numpy as np
import polars as pl

from deadheat.arrays import BoolArray, FloatArray, IntArray, concatenated_ranges
from deadheat.data.rows import ScorePrecision
from deadheat.data.tables import Qrels, Run
from deadheat.errors import MeasureError, ParameterError
from deadheat.io.guarding import check_threads
from deadheat.kernels import unjudged as kernels
from deadheat.measures.average import AP
from deadheat.measures.base import Gains, Measure
from deadheat.measures.cascade import ERR
from deadheat.measures.discounted import DCG, RBP, GainMeasure, gains_of, ideal_gains, nDCG
from deadheat.measures.first import RR, Hit
from deadheat.measures.top import F, P, R, Rprec, constant_norm
from deadheat.placements.beside import coded, rows_of
from deadheat.placements.placements import Placements, sort_rows
from deadheat.settings import Conventions


@dataclass(frozen=True, eq=False)
class Unjudged:
    """The ties with unjudged documents, sorted by query and rank; a document without a tie is one of one.

    Attributes
    ----------
    query : ndarray of int, shape (n_ties,)
        Index into the query ids of the placements.
    above, tied : ndarray of int, shape (n_ties,)
        Documents above the tie, and in it.
    count : ndarray of int, shape (n_ties,)
        Unjudged documents in it, at least one.
    lost : ndarray of int, shape (n_queries,)
        Unjudged documents of each query that the run does not retrieve, but that count among the relevant ones if they
        are.
    """

    query: IntArray
    above: IntArray
    tied: IntArray
    count: IntArray
    lost: IntArray

    def counts(self) -> IntArray:
        """Return the retrieved unjudged documents of each query."""
        return np.bincount(self.query, self.count, len(self.lost)).astype(np.int64)

    def concerned(self) -> IntArray:
        """Return the queries that have an unjudged document."""
        return np.union1d(self.query, np.flatnonzero(self.lost))

    def of_query(self, code: int) -> slice:
        """Return which ties are of a query."""
        return slice(*np.searchsorted(self.query, (code, code + 1)))


def as_placed(placements: Placements) -> Unjudged:
    """Return the unjudged documents as placements alone show them: those of a tie without judged ones in strict order.

    Orders of a tie are labels of its ranks in other orders: bounds over labels contain those of the ties themselves.

    Examples
    --------
    >>> from deadheat import place
    >>> found = as_placed(place({"q": {"b": 1}}, {"q": {"a": 3, "b": 2, "c": 2, "d": 1, "e": 1}}))
    >>> found.above.tolist(), found.tied.tolist(), found.count.tolist()
    ([0, 1, 3, 4], [1, 2, 1, 1], [1, 1, 1, 1])
    """
    sizes = placements.n_retrieved
    starts = np.cumsum(sizes) - sizes
    ties = placements.tie_starts
    first, tied = starts[placements.query[ties]] + placements.above[ties], placements.tied[ties]
    width, count = np.ones((2, int(sizes.sum())), np.int64)
    count[concatenated_ranges(first, tied)] = 0
    width[first], count[first] = tied, tied - placements.tie_sizes
    place = np.flatnonzero(count)
    query = np.repeat(np.arange(len(sizes)), sizes)[place]
    return Unjudged(query, place - starts[query], width[place], count[place], np.zeros_like(sizes))


def with_ties(
    placements: Placements, run: Run, score_precision: ScorePrecision = None, depth: int | None = None
) -> Unjudged:
    """Return the ties of a run that hold unjudged documents.

    Parameters
    ----------
    placements : Placements
        Of the run, cut at the depth if there is one.
    run : Run
    score_precision : {"float32", "float16", "bfloat16"} or int, optional
    depth : int, optional

    Examples
    --------
    >>> from deadheat import Run, place
    >>> run = Run({"q": {"a": 3, "b": 2, "c": 2, "d": 1, "e": 1}})
    >>> found = with_ties(place({"q": {"b": 1}}, run), run)
    >>> found.above.tolist(), found.tied.tolist(), found.count.tolist()
    ([0, 1, 3], [1, 2, 2], [1, 1, 2])
    """
    check_threads()
    rows = coded(run.rounded(score_precision).to_polars(), placements.query_ids.tolist())
    ties = (
        rows.group_by("code", "score")
        .agg(tied=pl.len().cast(pl.Int64))
        .sort("code", "score", descending=[False, True])
        .select("code", "tied", above=(pl.col("tied").cum_sum() - pl.col("tied")).over("code"))
    )
    if depth is not None:
        ties = ties.filter(pl.col("above") < depth).with_columns(
            tied=pl.min_horizontal("tied", depth - pl.col("above"))
        )
    starts = placements.tie_starts
    judged = {"code": placements.query[starts], "above": placements.above[starts], "judged": placements.tie_sizes}
    ties = (
        ties.join(pl.DataFrame(judged), on=["code", "above"], how="left", maintain_order="left")
        .with_columns(count=pl.col("tied") - pl.col("judged").fill_null(0))
        .filter(pl.col("count") > 0)
    )
    query, above, tied, count = (ties[name].to_numpy() for name in ("code", "above", "tied", "count"))
    return Unjudged(query, above, tied, count, np.zeros_like(placements.n_retrieved))


def ungraded_rows(placements: Placements, failures: pl.DataFrame) -> tuple[BoolArray, IntArray]:
    """Return which rows are of documents that a judge gave no grade, and how many of these each query has.

    Parameters
    ----------
    placements : Placements
    failures : polars.DataFrame
        query_id and doc_id; all are retrieved.
    """
    rows = placements.pairs(np.arange(len(placements.query))).with_row_index("row")
    is_open = np.zeros(len(rows), np.bool_)
    is_open[rows.join(failures, on=["query_id", "doc_id"], how="semi")["row"].to_numpy()] = True
    query = coded(failures, placements.query_ids.tolist())["code"].to_numpy()
    return is_open, np.bincount(query, minlength=placements.n_queries).astype(np.int64)


def open_documents(qrels: Qrels, run: Run, conventions: Conventions) -> pl.DataFrame:
    """Return query_id, doc_id, above and tied of the documents that a judge failed to grade; null if not retrieved."""
    if conventions.ties == "random":
        raise ParameterError(
            argument="ties",
            given="random",
            allowed="another policy: where documents without a grade were drawn is not known",
            hint='or read the grades with failed="lowest"',
        )
    placed = run.positions(conventions.score_precision)
    if conventions.ties != "expected":  # in the order of the rule
        by = ["query_id", "above", *(["doc_id"] if conventions.ties == "doc_id" else [])]
        placed = placed.sort(by, descending=[name == "doc_id" for name in by], maintain_order=True).with_columns(
            above=pl.int_range(pl.len(), dtype=pl.Int64).over("query_id"), tied=pl.lit(1, pl.Int64)
        )
    if (depth := conventions.depth) is not None:
        placed = placed.filter(pl.col("above") < depth).with_columns(
            tied=pl.min_horizontal("tied", depth - pl.col("above"))
        )
    failures = cast("pl.DataFrame", qrels.failures)
    return failures.select("query_id", "doc_id").join(placed, on=["query_id", "doc_id"], how="left")


def open_ties(placements: Placements, documents: pl.DataFrame) -> Unjudged:
    """Return where the documents of :func:`open_documents` are ranked."""
    placed = coded(documents, placements.query_ids.tolist())
    ties = (
        placed.drop_nulls("above")
        .group_by("code", "above", "tied")
        .agg(count=pl.len().cast(pl.Int64))
        .sort("code", "above")
    )
    lost = placed.filter(pl.col("above").is_null())["code"].to_numpy()
    query, above, tied, count = (ties[name].to_numpy() for name in ("code", "above", "tied", "count"))
    return Unjudged(query, above, tied, count, np.bincount(lost, minlength=placements.n_queries).astype(np.int64))


def unjudged_documents(qrels: Qrels, run: Run, score_precision: ScorePrecision = None) -> pl.DataFrame:
    """Return query_id, doc_id, above and tied of the documents that a run retrieves and nobody judged.

    Parameters
    ----------
    qrels : Qrels
    run : Run
        Its queries without judgments are left out.
    score_precision : {"float32", "float16", "bfloat16"} or int, optional

    Examples
    --------
    >>> from deadheat import Qrels, Run
    >>> found = unjudged_documents(Qrels({"q": {"b": 1}}), Run({"q": {"a": 3, "b": 2, "c": 2}, "p": {"a": 1}}))
    >>> found.sort("above").rows()
    [('q', 'a', 0, 1), ('q', 'c', 1, 2)]
    """
    judged = qrels.to_polars().select("query_id", "doc_id")
    return (
        run.positions(score_precision)
        .join(judged, on="query_id", how="semi")
        .join(judged, on=["query_id", "doc_id"], how="anti")
    )


def answered(
    placements: Placements, queries: IntArray, relevance: float, above: IntArray, tied: IntArray
) -> Placements:
    """Return copies of some queries, each with one more document judged.

    Parameters
    ----------
    placements : Placements
    queries : ndarray of int, shape (n,)
    relevance : float
        What the document is judged as.
    above, tied : ndarray of int, shape (n,)
        Its tie; both 0 for a document that is not retrieved.
    """
    return with_judged(placements.select(queries), np.arange(len(queries)), relevance, above, tied)


def left_after(unjudged: Unjudged, ties: IntArray) -> Unjudged:
    """Return the documents that are still unjudged once one of each of some ties is judged, each in a copy."""
    rows, query = rows_of(unjudged.query, unjudged.query[ties])
    count = unjudged.count[rows] - (rows == ties[query])
    some = count > 0
    rows = rows[some]
    return Unjudged(query[some], unjudged.above[rows], unjudged.tied[rows], count[some], np.zeros_like(ties))


def with_judged(
    placements: Placements, query: IntArray, relevance: float | FloatArray, above: IntArray, tied: IntArray
) -> Placements:
    """Return the placements with more judgments, of documents that are retrieved if there is a tie that they are in.

    The highest relevance of the qrels, which is the top of some measures' scale, remains.
    """
    level, is_there = np.full(len(query), relevance), tied > 0
    own = (placements.query, placements.doc_ids, placements.relevance, placements.above, placements.tied)
    new = (query, np.full(len(query), "", dtype=object), level, above, tied)
    of_query, docs, levels, all_above, all_tied = (
        np.concatenate((some, more[is_there])) for some, more in zip(own, new, strict=True)
    )
    found = sort_rows(
        placements.query_ids,
        placements.n_retrieved,
        judged_query=np.concatenate((placements.judged_query, query)),
        judged_relevance=np.concatenate((placements.judged_relevance, level)),
        rows=(of_query, docs, levels, all_above, all_tied),
    )
    return replace(found, max_relevance=placements.max_relevance)


Ends = tuple[FloatArray, FloatArray]


def has_ends(measure: Measure) -> bool:
    """Tell whether a measure has bounds over unjudged documents; none are known for some changing divisors."""
    is_changing = (
        (isinstance(measure, RBP) and measure.top == "query")
        or (isinstance(measure, AP) and measure.is_conditional)
        or (isinstance(measure, nDCG) and measure.negative == "gain")
    )
    return type(measure) in ENDS and not is_changing


def deepest_counted(measure: Measure) -> int | None:
    """Return the rank below which judgments of retrieved documents change nothing; None: they do, through R or ideals.

    Parameters
    ----------
    measure : Measure
        One that has bounds.

    Examples
    --------
    >>> from deadheat import P, R
    >>> deepest_counted(P @ 5), deepest_counted(R @ 5)
    (5, None)
    """
    return measure.deepest if ENDS[type(measure)] is _rising else None


def ends(measure: Measure, placements: Placements, unjudged: Unjudged, top: float) -> Ends:
    """Return the least and the greatest value of each query over all relevance of its unjudged documents.

    Parameters
    ----------
    measure : Measure
    placements : Placements
        After a tie policy that leaves ties as they are, or none.
    unjudged : Unjudged
        Under the same policy.
    top : float
        The highest relevance that an unjudged document can have.

    Returns
    -------
    low, high : ndarray of shape (n_queries,)

    Raises
    ------
    MeasureError
        There are no bounds for this measure.

    Examples
    --------
    >>> from deadheat import R, place
    >>> from deadheat.measures.unjudged import as_placed
    >>> placements = place({"q": {"b": 1}}, {"q": {"a": 3, "b": 2, "c": 1}})
    >>> low, high = ends(R() @ 1, placements, as_placed(placements), top=1)
    >>> low.tolist(), high.tolist()
    ([0.0], [0.5])
    """
    if not has_ends(measure):
        raise MeasureError(
            "there are no bounds over unjudged documents for it",
            measure=str(measure),
            allowed=f"one of {', '.join(one.__name__ for one in ENDS)}",
        )
    low, high = ENDS[type(measure)](measure, placements, unjudged, top)
    exact = measure.mean(placements)
    has_some = np.isin(np.arange(placements.n_queries), unjudged.concerned())
    return np.where(has_some, low, exact), np.where(has_some, high, exact)


def _rising(measure: Any, placements: Placements, unjudged: Unjudged, top: float) -> Ends:  # noqa: ANN401 - one of `ENDS`
    """Return the ends of a measure that rises with the relevance of every document."""
    check_scale(measure, placements, top)
    query, above, tied = (
        np.repeat(column, unjudged.count) for column in (unjudged.query, unjudged.above, unjudged.tied)
    )
    low, high = (
        measure.mean(with_judged(placements, query, label, above, tied)) for label in labels_of_ends(measure, top)
    )
    return low, high


def check_scale(measure: Any, placements: Placements, top: float) -> None:  # noqa: ANN401 - one of `ENDS`
    """Raise `MeasureError` if an unjudged document can be above the top of the measure's scale."""
    has_scale = (isinstance(measure, RBP) and measure.graded) or (isinstance(measure, ERR) and measure.stop == "exp")
    if has_scale and top > (scale := measure.max_rel or placements.max_relevance):
        raise MeasureError(
            f"unjudged_max_rel={top:g} is above the top of its scale",
            measure=str(measure),
            found=f"{scale:g}",
            hint=f"write {measure(max_rel=top)}",
        )


def labels_of_ends(measure: Measure, top: float) -> tuple[float, float]:
    """Return the labels of the least and of the greatest gain."""
    if not isinstance(measure, GainMeasure) or not isinstance(measure.gain, Gains):
        return 0.0, top
    labels = np.array(_named(measure.gain, top))
    gains = gains_of(measure.gain, labels)
    return float(labels[np.argmin(gains)]), float(labels[np.argmax(gains)])


def _named(gain: Gains, top: float) -> list[float]:
    """Return the labels that a mapping allows: 0, and those up to the top that it names."""
    return sorted({0.0, *(float(level) for level in gain if 0 <= level <= top)})


def allowed_numbers(measure: Any, n_unjudged: int, top: float) -> slice:  # noqa: ANN401 - any measure with a level
    """Return how many unjudged documents can be relevant: any number, but for levels that all or none reach."""
    return slice(n_unjudged if measure.rel <= 0 else 0, (n_unjudged if measure.rel <= top else 0) + 1)


def _by_query(placements: Placements, unjudged: Unjudged, find: Callable[[int, slice], kernels.Ends]) -> Ends:
    """Return the ends that a function finds for each query that retrieves an unjudged document; 0 elsewhere."""
    low, high = np.zeros((2, placements.n_queries))
    for code in unjudged.concerned().tolist():
        low[code], high[code] = find(code, unjudged.of_query(code))
    return low, high


def _of_count(measure: Any, placements: Placements, unjudged: Unjudged, top: float) -> Ends:  # noqa: ANN401 - R or F
    """Return the ends of recall and of the F measure."""
    sums, known = measure.moment(placements, squares=False), constant_norm(measure.norm, placements, measure.rel)
    of_k, of_relevant = measure.weights() if isinstance(measure, F) else (0.0, 1.0)
    k = measure.k(placements)

    def find(code: int, own: slice) -> kernels.Ends:
        lost = 0 if measure.norm == "retrieved_all" else int(unjudged.lost[code])
        above, tied = unjudged.above[own], unjudged.tied[own]
        # how likely each document is inside the cutoff
        shares = np.append(np.repeat(measure.inside(above, tied) / tied, unjudged.count[own]), np.zeros(lost))
        total = of_k * k[code] + of_relevant * (known[code] + np.arange(len(shares) + 1))
        return kernels.ratio_ends(
            float(sums[code]), shares, total / (of_k + of_relevant), allowed_numbers(measure, len(shares), top)
        )

    return _by_query(placements, unjudged, find)


def _rprec(measure: Rprec, placements: Placements, unjudged: Unjudged, top: float) -> Ends:
    found, known = placements.relevant(measure.rel), placements.n_relevant(measure.rel)

    def find(code: int, own: slice) -> kernels.Ends:
        judged = np.zeros(int(placements.n_retrieved[code]))
        ties = slice(*np.searchsorted(found.query, (code, code + 1)))
        tied = found.tied[ties]
        judged[concatenated_ranges(found.above[ties], tied)] = np.repeat(found.count[ties] / tied, tied)
        count = unjudged.count[own]
        return kernels.rprec_ends(
            judged,
            unjudged.above[own],
            unjudged.tied[own],
            count,
            int(known[code]),
            allowed_numbers(measure, int(count.sum()) + int(unjudged.lost[code]), top),
            n_lost=int(unjudged.lost[code]),
        )

    return _by_query(placements, unjudged, find)


def _ap(measure: AP, placements: Placements, unjudged: Unjudged, top: float) -> Ends:
    found, known = placements.relevant(measure.rel), constant_norm(measure.norm, placements, measure.rel)

    def find(code: int, own: slice) -> kernels.Ends:
        ties = slice(*np.searchsorted(found.query, (code, code + 1)))
        above = np.union1d(found.above[ties], unjudged.above[own])
        tied, relevant, count = np.zeros((3, len(above)), np.int64)
        for columns, some, numbers in ((found, ties, relevant), (unjudged, own, count)):
            place = np.searchsorted(above, columns.above[some])
            tied[place], numbers[place] = columns.tied[some], columns.count[some]
        low, high = kernels.precision_sums(above, tied, measure.inside(above, tied), relevant=relevant, unjudged=count)
        lost = int(unjudged.lost[code]) if measure.norm in {"R", "min"} else 0
        low, high = np.append(np.repeat(low[0], lost), low), np.append(high, np.repeat(high[-1], lost))
        divisor = known[code] + np.arange(len(low))
        if measure.norm == "min" and measure.cutoff is not None:
            divisor = np.minimum(divisor, measure.cutoff)
        return kernels.sum_ends(low, high, divisor, allowed_numbers(measure, len(low) - 1, top))

    return _by_query(placements, unjudged, find)


def _ndcg(measure: nDCG, placements: Placements, unjudged: Unjudged, top: float) -> Ends:
    sums, is_list = measure.moment(placements, squares=False), measure.ideal == "retrieved"
    judged_query, gains = gains_of_judgments(measure, placements)
    longest = int(max(measure.depth(placements).max(initial=0), np.bincount(placements.judged_query).max(initial=0)))
    longest += int((unjudged.counts() + unjudged.lost).max(initial=0))
    discounts = measure.weights(max(longest, 1) if measure.cutoff is None else min(longest, measure.cutoff))
    prefix = np.concatenate(([0.0], np.cumsum(discounts)))

    def find(code: int, own: slice) -> kernels.Ends:
        above, tied, count = unjudged.above[own], unjudged.tied[own], unjudged.count[own]
        first = np.minimum(above, len(discounts))
        weights = (prefix[first + measure.inside(above, tied)] - prefix[first]) / tied
        judged = gains[slice(*np.searchsorted(judged_query, (code, code + 1)))]
        lost = 0 if is_list else int(unjudged.lost[code])
        return kernels.ndcg_ends(
            float(sums[code]),
            np.append(np.repeat(weights, count), np.zeros(lost)),
            judged,
            attainable_gains(measure, judged, top),
            discounts[: len(judged) + int(count.sum()) + lost],
        )

    return _by_query(placements, unjudged, find)


def gains_of_judgments(measure: nDCG, placements: Placements) -> tuple[IntArray, FloatArray]:
    """Return the query and the gain of each document of the ideal ranking: those judged, or those retrieved."""
    if measure.ideal == "retrieved":
        return placements.query, gains_of(measure.gain, placements.relevance)
    return placements.judged_query, ideal_gains(placements, measure.gain)


def attainable_gains(measure: nDCG, judged: FloatArray, top: float) -> FloatArray:
    """Return the gains above 0 that are tried for unjudged documents, ascending, given those of the judged ones.

    Those that a mapping names; else the highest, and those of judged documents below it, as the best label is one of
    them.
    """
    if isinstance(measure.gain, Gains):
        gains = gains_of(measure.gain, np.array(_named(measure.gain, top)))
        if gains.min() > 0:
            raise MeasureError("there are no bounds where no label has a gain of 0", measure=str(measure))
    else:
        highest = gains_of(measure.gain, np.array([top]))
        gains = np.append(judged[judged < highest], highest)
    return np.unique(gains[gains > 0])


ENDS: dict[type[Measure], Callable[[Any, Placements, Unjudged, float], Ends]] = {
    **dict.fromkeys((P, Hit, RR, DCG, RBP, ERR), _rising),
    R: _of_count,
    F: _of_count,
    Rprec: _rprec,
    AP: _ap,
    nDCG: _ndcg,
}


MOST = 2_000  # combinations of places that are tried for a query


def ends_anywhere(
    measure: Measure, placements: Placements, is_open: BoolArray, n_open: IntArray, values: FloatArray
) -> Ends:
    """Return the least and the greatest value of each query over all places of some documents.

    Parameters
    ----------
    measure : Measure
    placements : Placements
        With these documents behind all others.
    is_open : ndarray of bool, shape (n_rows,)
        Which judged documents they are.
    n_open : ndarray of int, shape (n_queries,)
        How many there are of each query, judged or not.
    values : ndarray of float, shape (n_queries,)
        For queries without such a document, and for measures without bounds.

    Returns
    -------
    low, high : ndarray of shape (n_queries,)
        Exact, and values of some places, unless more than 2,000 combinations were to be tried for a query: then these
        documents count as the most relevant of the list, or as not relevant, which only makes the range wider.

    Examples
    --------
    >>> from deadheat import RR, place
    >>> placements = place({"q": {"b": 1}}, {"q": {"a": 2, "c": 2, "b": 0}})
    >>> low, high = ends_anywhere(RR(), placements, np.array([True]), np.array([1]), np.zeros(1))
    >>> low.round(4).tolist(), high.tolist()
    ([0.3333], [1.0])
    """
    low, high = values.copy(), values.copy()
    for code in np.flatnonzero(n_open).tolist() if has_ends(measure) else ():
        own, rows = placements.select(np.array([code])), is_open[placements.query == code]
        low[code], high[code] = (_end(measure, own, rows, int(n_open[code]), best=best) for best in (False, True))
    return low, high


def _end(measure: Measure, own: Placements, is_open: BoolArray, n_open: int, *, best: bool) -> float:
    """Return one end of one query."""
    levels = levels_of(measure, own.relevance)
    highest = levels[~is_open].max(initial=0.0)
    order = np.flatnonzero(is_open)
    order = order[np.argsort(-levels[order] if best else levels[order], kind="stable")]
    is_top, is_none = levels[order] >= highest, levels[order] <= 0
    is_first, is_last = (is_top, is_none & ~is_top) if best else (is_none, is_top & ~is_none)
    first, middle, last = order[is_first], order[~is_first & ~is_last], order[is_last]
    n_kept = int(own.n_retrieved[0]) - n_open
    slots = _slots(own.above[~is_open], own.tied[~is_open], n_kept, best=best)
    if comb(len(slots) + len(middle) - 1, len(middle)) > MOST:
        return _outer_end(measure, own, is_open, n_open, middle=middle, best=best)
    chosen = list(combinations_with_replacement(slots, len(middle)))
    above, tied = _in_slots(own, middle, np.reshape(chosen, (len(chosen), len(middle), 2)).astype(np.int64))
    n_above = len(first) + (0 if best else n_open - len(order))  # unjudged ones are first where nothing is to be gained
    above += n_above
    above[:, first] = n_above - len(first) + np.arange(len(first))
    above[:, last] = n_above + n_kept + len(middle) + np.arange(len(last))
    tied[:, [*first, *last]] = 1
    found = measure.mean(_placed(own.select(np.zeros(len(chosen), np.int64)), above.ravel(), tied.ravel()))
    return float(found.max() if best else found.min())


def _in_slots(own: Placements, rows: IntArray, slots: IntArray) -> tuple[IntArray, IntArray]:
    """Return the documents above and tied of each row of a query, with some of them moved to slots among those kept.

    Parameters
    ----------
    own : Placements
        Of one query, with the rows that move behind all others.
    rows : ndarray of int, shape (n_moved,)
    slots : ndarray of int, shape (n_lists, n_moved, 2)
        The slot of each row that moves, from the first to the last; in one between ties they are one after the other.

    Returns
    -------
    above, tied : ndarray of int, shape (n_lists, n_rows)
    """
    above, tied = (np.tile(column, (len(slots), 1)) for column in (own.above, own.tied))
    start, size = slots[..., 0], slots[..., 1]
    for n in range(len(rows)):
        at, is_tie = start[:, n, np.newaxis], size[:, n, np.newaxis] > 0
        tied += is_tie & (own.above == at)  # the tie grows, and only what is below it moves down
        above += own.above >= at + is_tie
    for n, row in enumerate(rows.tolist()):
        together, is_tie = (slots == slots[:, n, np.newaxis]).all(2), size[:, n] > 0
        above[:, row] = start[:, n] + np.where(is_tie, together.argmax(1), n)
        tied[:, row] = np.where(is_tie, size[:, n] + together.sum(1), 1)
    return above, tied


def levels_of(measure: Any, relevance: FloatArray) -> FloatArray:  # noqa: ANN401 - any measure with bounds
    """Return what a measure sees of each relevance, from 0 on."""
    if isinstance(measure, GainMeasure):
        return gains_of(measure.gain, relevance)
    if isinstance(measure, ERR) or (isinstance(measure, RBP) and measure.graded):
        return np.maximum(relevance, 0.0)
    return (relevance >= measure.rel).astype(np.float64)


def _slots(above: IntArray, tied: IntArray, n_kept: int, *, best: bool) -> list[tuple[int, int]]:
    """Return the places to try, from the first to the last: documents above, and those of a tie, 0 for between ties.

    Among unjudged documents, a higher place is never worse; only next to a judged one may that change.
    """
    edges = np.append(0, above + tied) if best else np.append(above, n_kept)
    of_ties = {(place, size) for place, size in zip(above.tolist(), tied.tolist(), strict=True) if size > 1}
    return sorted({(edge, 0) for edge in edges.tolist()} | of_ties)


def _placed(copies: Placements, above: IntArray, tied: IntArray) -> Placements:
    """Return placements with the same documents at other ranks."""
    order = np.lexsort((-copies.relevance, above, copies.query))
    return replace(copies.rows(order), above=above[order], tied=tied[order])


def _outer_end(
    measure: Measure, own: Placements, is_open: BoolArray, n_open: int, *, middle: IntArray, best: bool
) -> float:
    """Return one end with documents of a middle relevance as the most relevant ones, or as unjudged."""
    if isinstance(measure, nDCG) and measure.ideal == "retrieved":  # which other labels would change
        return float(best)
    if not best:
        kept = np.delete(np.arange(len(is_open)), middle)
        return _end(measure, own.rows(kept), is_open[kept], n_open, best=best)
    relevance = own.relevance.copy()
    relevance[middle] = own.relevance[~is_open][levels_of(measure, own.relevance[~is_open]).argmax()]
    return _end(measure, replace(own, relevance=relevance), is_open, n_open, best=best)
