"""evaluate_with_confidence(): what a run is worth if a second score, uncertain itself, orders its ties."""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import polars as pl

from deadheat.core.arrays import FloatArray, IntArray, TextArray, run_starts
from deadheat.core.checks import as_count
from deadheat.core.data.document_table import check_tables
from deadheat.core.data.judging import find_kind_of_qrels
from deadheat.core.data.qrels import Qrels
from deadheat.core.data.renderable import make_frame
from deadheat.core.data.run import Run
from deadheat.core.data.sources import Source
from deadheat.core.errors import ParameterError, UnknownMeasureError
from deadheat.core.evaluation.evaluate import EvaluationArguments, evaluate, find_tie_keys
from deadheat.core.evaluation.evaluation import Evaluation
from deadheat.core.evaluation.tie_spread import TieSpread
from deadheat.core.measures import Measure
from deadheat.core.measures.notation import MeasureLike, parse_measures
from deadheat.core.measures.orders import RULE_OF_THREE
from deadheat.core.measures.selection import ByMeasure, choose_measures
from deadheat.core.placements.placements import Placements
from deadheat.core.random_generators import Rng, check_rng, random_generator
from deadheat.core.scalars import is_number
from deadheat.core.stats.units import NEGLIGIBLE_DIFFERENCE
from deadheat.core.wording import did_you_mean, escape_invisible, format_count

CELLS = 1 << 19  # documents that are ordered together, in all drawn orders: some tens of MB
FEWEST_DRAWS = 2  # of which there is a standard error
EXACT = {  # scales with which nothing is drawn
    0: "noise of scale 0: ties are in the order of the second score",
    math.inf: "noise of infinite scale: plain ties, exact means",
}
BEST, FINITE, WORST, LACKING = range(4)  # what a second score can be; noise moves the finite ones alone


@dataclass(frozen=True, eq=False)
class ConfidenceScores:
    """The scores of one measure, means over drawn orders.

    Attributes
    ----------
    measure : Measure
    query_ids : ndarray of str, shape (n_queries,)
    values : ndarray of float, shape (n_queries,)
        Means over the drawn orders; NaN where a query has no value.
    standard_errors : ndarray of float, shape (n_queries,)
        Of the values, by the draws (Monte Carlo); 0 where no order can change a value. Where all draws agree though
        another order would not, 3 / n_draws times how far that could be off: an order that was never drawn has a
        probability of at most that much, at a confidence of 95% (the rule of three).
    mean : float
        Over the queries that have a value.
    standard_error : float
        Of the mean, by the draws; it says nothing of the choice of queries.
    """

    measure: Measure
    query_ids: TextArray
    values: FloatArray
    standard_errors: FloatArray
    mean: float
    standard_error: float

    def __repr__(self) -> str:
        return escape_invisible(f"<ConfidenceScores {self.measure.label}: {self.mean:.4f} ± {self.standard_error:.4f}>")


@dataclass(frozen=True, eq=False)
class ConfidenceEvaluation:
    """An evaluation in orders that an uncertain second score gives ties. Made by :func:`evaluate_with_confidence`.

    Attributes
    ----------
    scores : tuple of ConfidenceScores
        One for each measure.
    name, then_by : str
        The run, and the second score.
    query_ids : ndarray of str, shape (n_queries,)
    scale : float
    n_draws : int
        Orders that were drawn; 0 where the values are exact.
    notes : tuple of str
        How the values were found, and what was assumed to read the data.
    """

    scores: tuple[ConfidenceScores, ...]
    name: str
    then_by: str
    query_ids: TextArray
    scale: float
    n_draws: int
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        shown = ", ".join(f"{one.measure.label} {one.mean:.4f} ± {one.standard_error:.4f}" for one in self.scores)
        drawn = format_count(self.n_draws, "drawn order") if self.n_draws else "exact"
        return escape_invisible(f"<ConfidenceEvaluation of {self.name}: {shown}; {drawn}>")

    def __getitem__(self, measure: MeasureLike) -> ConfidenceScores:
        held: dict[Any, ConfidenceScores] = ByMeasure((one.measure.label, one) for one in self.scores)
        if measure not in held:
            raise UnknownMeasureError(
                f"{measure} was not evaluated; there are {', '.join(held)}", hint=did_you_mean(measure, held)
            )
        return held[measure]

    def __iter__(self) -> Iterator[ConfidenceScores]:
        return iter(self.scores)

    def means(self) -> dict[str, float]:
        """Return the mean of each measure, by the name by which it was asked for."""
        return {one.measure.label: one.mean for one in self.scores}

    def standard_errors(self) -> dict[str, float]:
        """Return the Monte Carlo standard error of each mean."""
        return {one.measure.label: one.standard_error for one in self.scores}

    def to_polars(self) -> pl.DataFrame:
        """Return query_id, measure, value and standard_error, a row for each query and measure; null for no value."""
        ids = self.query_ids.tolist()
        return make_frame(
            {
                "query_id": pl.Series(ids * len(self.scores), dtype=pl.String),
                "measure": [one.measure.label for one in self.scores for _ in ids],
                "value": np.concatenate([one.values for one in self.scores]),
                "standard_error": np.concatenate([one.standard_errors for one in self.scores]),
            }
        )


def evaluate_with_confidence(
    qrels: Source,
    run: Source,
    then_by: Source,
    measures: MeasureLike | Iterable[MeasureLike] | None = None,
    *,
    scale: float,
    n_draws: int = 1000,
    rng: Rng = 0,
    missing: str | None = None,
    no_relevant: str | None = None,
    duplicates: str = "error",
) -> ConfidenceEvaluation:
    r"""Evaluate a run whose ties are ordered by a second score that is uncertain itself.

    Each tied document has the second score plus noise, and ties are ordered by the sum. With noise of the Gumbel
    distribution the order is that of Plackett and Luce: the next document of a tie is one of those that are left, with
    probability

    .. math:: \frac{\exp(s_i / b)}{\sum_j \exp(s_j / b)}

    where s is the second score and b the scale. No closed form is known for the mean of a measure over these orders:
    they are drawn, and the standard error says how far that may be off. Documents that do not tie by the first score
    stay where they are.

    Parameters
    ----------
    qrels, run : path, dict of dict, dataframe, Qrels or Run
    then_by : run
        The second score, such as that of the first stage; or the name of another column of a dataframe. A document that
        it lacks comes after all of its tie that it has; infinite scores get no noise.
    measures : measure or iterable of measures, optional
        As for :func:`evaluate`.
    scale : float
        Of the noise, in units of the second score, from 0 (the second score is certain: ``evaluate(..., then_by=)``)
        to infinity (it says nothing: plain ties). Both of these are exact, and nothing is drawn.
    n_draws : int, default 1000
        Orders to draw, 2 or more.
    rng : numpy.random.Generator or int, default 0
    missing, no_relevant, duplicates
        As for :func:`evaluate`.

    Returns
    -------
    ConfidenceEvaluation

    Raises
    ------
    ParameterError
        The scale is below 0 or no number, or there are too few draws.
    DataError
        The data cannot be evaluated.

    References
    ----------
    J. I. Yellott, "The relationship between Luce's choice axiom, Thurstone's theory of comparative judgment, and the
    double exponential distribution", 1977. doi:10.1016/0022-2496(77)90026-8

    Examples
    --------
    The language model gives both 3. BM25 prefers the relevant one by 1: with noise of scale 1 it comes first with
    probability e / (1 + e) = 0.731.

    >>> qrels, llm = {"q": {"a": 1}}, {"q": {"a": 3, "b": 3}}
    >>> bm25 = {"q": {"a": 8.0, "b": 7.0}}
    >>> found = evaluate_with_confidence(qrels, llm, bm25, "P@1", scale=1.0, n_draws=10_000)
    >>> round(found["P@1"].mean, 2), round(found["P@1"].standard_error, 4)
    (0.73, 0.0044)
    >>> [evaluate_with_confidence(qrels, llm, bm25, "P@1", scale=b).means()["P@1"] for b in (0, float("inf"))]
    [1.0, 0.5]
    """
    if not is_number(scale) or not scale >= 0:
        raise ParameterError(argument="scale", given=scale, allowed="a number from 0 on; infinity for plain ties")
    n_draws = as_count("n_draws", n_draws, FEWEST_DRAWS)
    check_rng("rng", rng)
    parse_measures(measures)  # before anything is read
    keys = find_tie_keys(run, then_by)
    if len(keys) != 1:
        raise ParameterError(argument="then_by", found=format_count(len(keys), "run"), allowed="one run")
    judged, first = Qrels.of(qrels), Run.of(run, duplicates=duplicates)
    other = Run.of(keys[0], duplicates=duplicates)
    chosen = choose_measures(find_kind_of_qrels(judged), measures)
    check_tables(other)
    plain = evaluate(
        judged,
        first,
        chosen,
        **EvaluationArguments(missing=missing, no_relevant=no_relevant) | {"then_by": other if scale == 0 else None},
    )
    if scale in EXACT:
        n_draws, notes = 0, [EXACT[scale]]
        each = [(one.measure, one.values, one.values * 0.0) for one in plain]
    else:
        orders = _JudgedTies.of(plain.placements, first.to_polars(), other.to_polars())
        each = list(zip(chosen, *_draw(orders, chosen, float(scale), n_draws, random_generator(rng)), strict=True))
        n_lacking = int((orders.kind == LACKING).sum())
        lacking = f"last in their ties, as {other.name} lacks them: {format_count(n_lacking, 'document')}"
        drawn = (
            f"means over {n_draws:,} orders of ties, drawn by {other.name} with Gumbel noise of scale {scale:g}"
            " (Plackett-Luce), with their standard errors: no closed form is known"
        )
        notes = [lacking, drawn] if n_lacking else [drawn]
    return ConfidenceEvaluation(
        scores=tuple(_scores(plain, *of_measure) for of_measure in each),
        name=first.name,
        then_by=other.name,
        query_ids=plain.query_ids,
        scale=float(scale),
        n_draws=n_draws,
        notes=(*notes, *plain.notes),
    )


@dataclass(frozen=True, eq=False)
class _JudgedTies:
    """The ties that hold judged documents, and their second scores.

    Attributes
    ----------
    placements : Placements
        Before ties are ordered.
    tie : ndarray of int, shape (n_documents,)
        Of each document in such a tie, ascending.
    kind : ndarray of int, shape (n_documents,)
        Of its second score.
    second : ndarray of float, shape (n_documents,)
        The second score; 0 where it is not finite.
    document, row : ndarray of int, shape (n_judged,)
        The judged ones: their places in these arrays, and in the placements.
    """

    placements: Placements
    tie: IntArray
    kind: IntArray
    second: FloatArray
    document: IntArray
    row: IntArray

    @classmethod
    def of(cls, placements: Placements, run: pl.DataFrame, other: pl.DataFrame) -> Self:
        """Find the ties of a run, and the second score of each of their documents."""
        pair = ("query_id", "doc_id")
        tied = np.flatnonzero(placements.tied > 1)
        judged = pl.DataFrame(
            {
                "query_id": pl.Series(placements.query_ids[placements.query[tied]].tolist(), dtype=pl.String),
                "doc_id": pl.Series(placements.doc_ids[tied].tolist(), dtype=pl.String),
                "row": tied,
            }
        )
        # a document with several subtopics has a row for each: they share its place
        held = (
            run.select(*pair, "score")
            .join(judged.group_by(pair, maintain_order=True).agg("row"), on=pair, how="left", maintain_order="left")
            .filter(pl.col("row").is_not_null().any().over("query_id", "score"))
            .filter(pl.len().over("query_id", "score") > 1)
            .sort("query_id", "score", "doc_id")
            .join(other.select(*pair, pl.col("score").alias("second")), on=pair, how="left", maintain_order="left")
        )
        tie = held.select(tie=pl.struct("query_id", "score").rle_id())["tie"].to_numpy().astype(np.int64)
        second = held["second"].to_numpy()
        kind = np.select(
            [held["second"].is_null().to_numpy(), second == np.inf, second == -np.inf], [LACKING, BEST, WORST], FINITE
        )
        placed = held.select("row").with_row_index("document").explode("row").drop_nulls()
        return cls(
            placements,
            tie,
            kind,
            np.where(kind == FINITE, second, 0.0),
            placed["document"].to_numpy().astype(np.int64),
            placed["row"].to_numpy().astype(np.int64),
        )

    def draw(self, scale: float, n: int, rng: np.random.Generator) -> IntArray:
        """Draw the documents above each row of the placements in n orders, of shape (n, n_rows)."""
        shape = n, len(self.tie)
        noise = rng.gumbel(size=shape)
        with np.errstate(over="ignore"):  # noise that is beyond all numbers still orders documents, by itself
            noisy = np.where(self.kind == FINITE, self.second + scale * noise, 0.0)
        tie, kind = np.broadcast_to(self.tie, shape), np.broadcast_to(self.kind, shape)
        # where the noise is too small to move a sum, it orders equal ones all the same
        order = np.lexsort((-noise, -noisy, kind, tie), axis=-1)
        starts = run_starts(self.tie)
        within = np.arange(len(self.tie)) - np.repeat(starts, np.diff(starts, append=len(self.tie)))
        rank = np.empty(shape, np.int64)
        np.put_along_axis(rank, order, np.broadcast_to(within, shape), axis=-1)
        above = np.repeat(self.placements.above[None], n, axis=0)
        above[:, self.row] += rank[:, self.document]
        return above

    def free(self) -> Placements:
        """Return placements whose ties are of the documents that noise can order in any way."""
        order = np.lexsort((self.kind, self.tie))
        starts, of_ties = run_starts(self.tie[order], self.kind[order]), run_starts(self.tie)
        sizes = np.diff(starts, append=len(order))
        before, tied = np.empty((2, len(order)), np.int64)
        before[order], tied[order] = np.repeat(starts, sizes), np.repeat(sizes, sizes)
        before -= np.repeat(of_ties, np.diff(of_ties, append=len(order)))
        above, of_rows = self.placements.above.copy(), np.ones(len(self.placements.above), np.int64)
        above[self.row] += before[self.document]
        of_rows[self.row] = tied[self.document]
        return self.placed(above[None], of_rows)

    def placed(self, above: IntArray, tied: IntArray | None = None) -> Placements:
        """Return placements in which every order of every query is a query; without ties, unless they are given."""
        own, n = self.placements, len(above)
        codes = np.arange(n)[:, None] * own.n_queries
        query, judged_query = (codes + own.query).ravel(), (codes + own.judged_query).ravel()
        relevance = np.tile(own.relevance, n)
        of_each_order = np.tile(np.arange(own.n_queries), n)
        beside = {key: rows.select(of_each_order) for key, rows in own.beside.items()}
        order = np.lexsort((-relevance, above.ravel(), query))
        return replace(
            own,
            query_ids=np.tile(own.query_ids, n),
            n_retrieved=np.tile(own.n_retrieved, n),
            query=query[order],
            documents=np.tile(own.doc_ids, n)[order],
            relevance=relevance[order],
            above=above.ravel()[order],
            tied=np.ones(len(query), np.int64) if tied is None else tied[order],
            judged_query=judged_query,
            judged_relevance=np.tile(own.judged_relevance, n),
            ends_in_tie=None,
            beside=beside,
        )


def _draw(
    orders: _JudgedTies, measures: tuple[Measure, ...], scale: float, n_draws: int, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Draw orders, some at once; return means and their standard errors, each of shape (n_measures, n_queries)."""
    own = orders.placements
    at_once = max(1, CELLS // max(1, len(orders.tie), len(own.query), len(own.judged_query), own.n_queries))
    first, off, squares = np.zeros((3, len(measures), own.n_queries))
    for start in range(0, n_draws, at_once):
        n = min(at_once, n_draws - start)
        placed = orders.placed(orders.draw(scale, n, rng))
        for place, measure in enumerate(measures):
            values = measure.mean(placed).reshape(n, own.n_queries)
            if start == 0:
                first[place] = values[0]
            # sums of how far values are from those of the first order, and of the squares, lose nothing
            off[place] += (values - first[place]).sum(axis=0)
            squares[place] += ((values - first[place]) ** 2).sum(axis=0)
    variance = np.maximum(squares - off**2 / n_draws, 0.0) / (n_draws - 1)
    # where all draws agree, another order may give another value all the same
    free = orders.free()
    ends = np.array([TieSpread(measure, free).extremes for measure in measures])
    furthest = np.abs(ends - first[:, None]).max(axis=1)
    unseen = np.where(furthest > NEGLIGIBLE_DIFFERENCE, RULE_OF_THREE / n_draws * furthest, 0.0)
    errors = np.where(np.sqrt(variance) <= NEGLIGIBLE_DIFFERENCE, unseen, np.sqrt(variance / n_draws))
    return first + off / n_draws, errors


def _scores(plain: Evaluation, measure: Measure, means: FloatArray, errors: FloatArray) -> ConfidenceScores:
    """Return the scores of a measure; a query without a value keeps none."""
    kept, is_right = plain[str(measure)].kept, plain[str(measure)].spread.is_right
    means, errors = np.where(is_right, 1.0, means), np.where(is_right, 0.0, errors)
    values, errors = (np.where(kept, column, np.nan) for column in (means, errors))
    found = replace(plain[str(measure)], values=values)
    # drawn orders of different queries are independent
    error = math.sqrt(float((errors[kept] ** 2).sum())) / found.n_queries if found.n_queries else math.nan
    if measure.geometric:  # to first order
        error *= found.mean
    return ConfidenceScores(measure, plain.query_ids, values, errors, found.mean, error)
