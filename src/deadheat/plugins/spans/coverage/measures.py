"""Measures of what the top k covers of judged spans, character by character: recall, precision, IoU and density.

Chunks may overlap, and each character counts once. A run of chunks held against spans has them (`deadheat.Spans`);
without spans every document is one character, and a relevant one is a span.
"""

import zlib
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from deadheat.core.arrays import BoolArray, FloatArray, IntArray
from deadheat.core.kernels.segments import divide_or_zero
from deadheat.core.libraries import polars as pl
from deadheat.core.measures.families import CutMeasure, JointMeasure, computed_once
from deadheat.core.measures.orders import OrdersMeasure, summarize_values
from deadheat.core.measures.parameters import Number, parameter, parameters
from deadheat.core.measures.registration import register
from deadheat.core.measures.top import REL
from deadheat.core.placements.placements import Placements
from deadheat.plugins.spans.coverage.top import CutTie, Pieces, Top, top_of
from deadheat.plugins.spans.passages import Passages, passages_in


@dataclass(frozen=True, eq=False)
class Text:
    """Where the documents of the placements are on one line, and what is relevant there.

    Attributes
    ----------
    row : ndarray of int, shape (n_rows,)
        The rows of the placements, in order of `low`.
    low, high : ndarray of int, shape (n_rows,)
    relevant : Pieces
    total : ndarray of float, shape (n_queries,)
        How much is relevant to each query, retrieved or not.
    """

    row: IntArray
    low: IntArray
    high: IntArray
    relevant: Pieces
    total: FloatArray


def _places(passages: Passages, placements: Placements) -> IntArray:
    """Return the passage of each row of the placements."""
    rows = placements.pairs(np.arange(len(placements.query))).with_columns(query=pl.Series(placements.query))
    known = pl.DataFrame({"query": passages.query, "doc_id": passages.doc_ids}).with_row_index("place")
    return rows.join(known, on=["query", "doc_id"], how="left", maintain_order="left")["place"].to_numpy()


@parameters
class CoverageMeasure(CutMeasure):
    """A measure of what the top k covers, each character once."""

    rel: float = parameter(1, Number(), REL)

    @computed_once("rel")
    def text(self, placements: Placements) -> Text:
        """Return the line of the chunks and spans; without spans each document is a point."""
        own = passages_in(placements)
        if own is None:
            row = np.arange(len(placements.query))
            is_relevant = placements.relevance >= self.rel
            relevant, _ = Pieces.of(row[is_relevant], row[is_relevant] + 1)
            return Text(row, row, row + 1, relevant, placements.n_relevant(self.rel).astype(np.float64))
        place = _places(own, placements)
        of_document = own.query.astype(np.int64) * (int(own.document.max(initial=0)) + 1) + own.document
        block = np.unique(of_document, return_inverse=True)[1]
        length = np.zeros(int(block.max(initial=-1)) + 1, np.int64)
        np.maximum.at(length, block, own.end)
        base = (np.cumsum(length) - length)[block]
        low, high = own.start + base, own.end + base
        spans = np.flatnonzero(own.relevance >= self.rel)  # a chunk has NaN
        spans = spans[np.argsort(low[spans], kind="stable")]
        relevant, first = Pieces.of(low[spans], high[spans])
        total = placements.by_query(relevant.end - relevant.begin, own.query[spans[first]])
        row = np.argsort(low[place], kind="stable")
        return Text(row, low[place][row], high[place][row], relevant, total)

    @computed_once("rel", "cutoff")
    def top(self, placements: Placements) -> Top:
        """Return what the top k covers."""
        text = self.text(placements)
        return top_of(
            text.low,
            text.high,
            text.relevant,
            query=placements.query[text.row],
            above=placements.above[text.row],
            tied=placements.tied[text.row],
            cutoff=self.cutoff,
            n_queries=placements.n_queries,
        )

    def has_relevant(self, placements: Placements) -> BoolArray:
        """Tell which queries have something relevant."""
        return self.text(placements).total > 0

    def can_list_orders(self, placements: Placements) -> bool:
        """Whether there are no passages: documents of one relevance may differ in theirs."""
        return passages_in(placements) is None


@register(
    "character recall",
    "CharRecall@k = |characters of the top k in spans| / |characters of the spans|",
    aliases=("TokenRecall",),
)
class CharRecall(CoverageMeasure):
    r"""Share of the characters of the spans that the top k covers.

    .. math:: \text{CharRecall}@k = \frac{|\bigcup_{i \le k} d_i \cap S|}{|S|}

    with the characters S of all relevant spans; each counts once, also where spans or chunks overlap. Offsets may
    count tokens. Without spans a document is one character, and it is R. Over the orders of a tie of t chunks, of which
    j are in the top k, a character that c of them cover is missed with probability
    C(t - c, j) / C(t, j): mean and variance are exact. So are the extremes, by dynamic programming
    over the chunks in order of their start; ``ties="best"`` and ``"worst"`` order chunks by relevance, which need not
    give them.

    References
    ----------
    Smith and Troynikov 2024, Evaluating chunking strategies for retrieval,
    https://www.trychroma.com/research/evaluating-chunking, with tokens.

    Examples
    --------
    >>> import deadheat as dh
    >>> chunks = [("q", "d", 0, 20, 0.5), ("q", "d", 20, 40, 0.5)]
    >>> dh.evaluate(dh.Spans([("q", "d", 10, 40)]), chunks, ["CharRecall@1"]).means()
    {'CharRecall@1': 0.5}
    """

    def mean(self, placements: Placements) -> FloatArray:
        """Return the exact mean over all tie orders."""
        return divide_or_zero(self.top(placements).mean, self.text(placements).total)

    def variance(self, placements: Placements) -> FloatArray:
        """Return the exact variance over all tie orders."""
        found = np.zeros(placements.n_queries)
        for tie in self.top(placements).ties:
            found[tie.query] = tie.variance()
        return divide_or_zero(found, self.text(placements).total ** 2)

    def extremes(self, placements: Placements) -> tuple[FloatArray, FloatArray]:
        """Return the smallest and the largest value."""
        top, total = self.top(placements), self.text(placements).total
        low, high = top.relevant.copy(), top.relevant.copy()
        for tie in top.ties:
            own = tie.of_relevant()
            low[tie.query] += own.best(np.array([-1.0, 0, 0]))[0]
            high[tie.query] += own.best(np.array([1.0, 0, 0]))[0]
        return divide_or_zero(low, total), divide_or_zero(high, total)


@parameters
class ShareMeasure(CoverageMeasure, JointMeasure):
    """A ratio of two sums that both depend on which chunks of a tie are in the top k."""

    divisor: ClassVar[tuple[int, int, int, int]]
    """How often what counts below the line: relevant characters, all characters of the top k, the lengths of its chunks
    added up, and all relevant characters."""

    def share(self, amounts: FloatArray, total: FloatArray | float) -> FloatArray:
        """Return the value of each list.

        Parameters
        ----------
        amounts : ndarray of shape (3, n_lists)
            Relevant characters, all characters, and the lengths of its chunks added up.
        total : ndarray of shape (n_lists,) or float
            All relevant characters.
        """
        return divide_or_zero(amounts[0], self.divisor[:3] @ amounts + self.divisor[3] * total)

    def find_moments(self, placements: Placements) -> tuple[FloatArray, ...]:
        """Compute mean, variance, the error of a sample's mean, minimum and maximum."""
        sure, total = self._sure(placements), self.text(placements).total
        mean = self.share(sure, total)
        found = np.stack([mean, np.zeros_like(mean), np.zeros_like(mean), mean, mean])
        for tie in self.top(placements).ties:
            seed = zlib.crc32(placements.query_ids[tie.query].encode())
            found[:, tie.query] = self._of_tie(tie, sure[:, tie.query], total[tie.query], seed)
        return tuple(found)

    def _of_tie(self, tie: CutTie, sure: FloatArray, total: float, seed: int) -> tuple[float, ...]:
        """Return the five numbers of a query whose top k ends in a tie, given what it holds in every order."""
        values = self.share(sure[:, None] + tie.amounts(tie.subsets(seed)), total)
        return summarize_values(
            values, is_listed=tie.is_listed, furthest_from=lambda _: float(np.ptp(self._range(tie, sure, total)))
        )

    def _sure(self, placements: Placements) -> FloatArray:
        """Return the amounts of each query that are in the top k in every order, of shape (3, n_queries)."""
        top = self.top(placements)
        return np.stack([top.relevant, top.length, top.sizes]) + np.multiply.outer((0, 1, 1), self._others(placements))

    def _others(self, placements: Placements) -> FloatArray:
        """Return how many unjudged documents are in the top k in every order; with passages there are none."""
        if passages_in(placements) is not None:
            return np.zeros(placements.n_queries)
        inside = self.inside(placements.above, placements.tied)
        is_in, n_queries = inside == placements.tied, placements.n_queries
        n_sure = self.depth(placements).astype(np.int64)
        cut = (inside > 0) & ~is_in
        n_sure[placements.query[cut]] = placements.above[cut]
        return (n_sure - np.bincount(placements.query[is_in], minlength=n_queries)).astype(np.float64)

    def extremes(self, placements: Placements) -> tuple[FloatArray, FloatArray]:
        """Return the smallest and the largest value."""
        _, _, error, low, high = self.moments(placements)
        low, high, sure, total = low.copy(), high.copy(), self._sure(placements), self.text(placements).total
        for tie in self.top(placements).ties:
            if error[code := tie.query]:
                low[code], high[code] = self._range(tie, sure[:, code], total[code])
        return low, high

    def _range(self, tie: CutTie, sure: FloatArray, total: float) -> tuple[float, float]:
        """Return the smallest and the largest value that the subsets of a tie give, by Dinkelbach's method.

        A subset has a value above v if what is relevant less v times its divisor is above 0. The subset with the
        largest such difference gives the next v, until none is better.
        """

        def beyond(value: float, sign: int) -> float:
            weights = np.array([1.0, 0, 0]) - value * np.array(self.divisor[:3])
            return float(self.share(sure + tie.best(sign * weights), total))

        found = []
        for sign in (-1, 1):
            value = beyond(0, sign)
            while sign * ((other := beyond(value, sign)) - value) > 0:
                value = other
            found.append(value)
        return found[0], found[1]

    standard_error = OrdersMeasure.standard_error  # 0 but for ties with more than 10,000 subsets that differ


@register(
    "character precision",
    "CharPrecision@k = |characters of the top k in spans| / |characters of the top k|",
    aliases=("TokenPrecision",),
)
class CharPrecision(ShareMeasure):
    r"""Share of the characters of the top k that are in spans.

    .. math:: \text{CharPrecision}@k = \frac{|\bigcup_{i \le k} d_i \cap S|}{|\bigcup_{i \le k} d_i|}

    Each character counts once; `CharDensity` counts those of overlapping chunks as often as they are retrieved. It is a
    ratio of two sums that both depend on the order of a tie: the subsets of the tie that can be in the top k are listed
    up to 10,000, so mean and variance are exact. Of larger ties 100 to 10,000 subsets are drawn, the fewer the larger
    the tie, and ``Scores.standard_error`` says how far the mean may be off. The extremes are exact for any tie: dynamic
    programming as for `CharRecall`, of the numerator less a rate times the denominator, until no list is better than
    the rate (Dinkelbach's method). Without spans a document is one character.

    References
    ----------
    As for `CharRecall`. Dinkelbach 1967, On nonlinear fractional programming, https://doi.org/10.1287/mnsc.13.7.492.

    Examples
    --------
    >>> import deadheat as dh
    >>> chunks = [("q", "d", 0, 20, 0.5), ("q", "d", 10, 40, 0.4)]
    >>> dh.evaluate(dh.Spans([("q", "d", 10, 40)]), chunks, ["CharPrecision@1", "CharPrecision@2"]).means()
    {'CharPrecision@1': 0.5, 'CharPrecision@2': 0.75}
    """

    divisor = (0, 1, 0, 0)


@register(
    "intersection over union of characters",
    "CharIoU@k = |characters of the top k in spans| / |characters of the top k or of spans|",
    aliases=("TokenIoU",),
)
class CharIoU(ShareMeasure):
    r"""Characters of the top k in spans, over those in either: intersection over union.

    .. math:: \text{CharIoU}@k = \frac{|\bigcup_{i \le k} d_i \cap S|}{|\bigcup_{i \le k} d_i \cup S|}

    Conventions, and what is exact, are those of `CharPrecision`.

    References
    ----------
    As for `CharRecall`, which counts characters of overlapping chunks in the union as often as they are retrieved.

    Examples
    --------
    >>> import deadheat as dh
    >>> dh.evaluate(dh.Spans([("q", "d", 10, 40)]), [("q", "d", 0, 20, 0.5)], ["CharIoU@1"]).means()
    {'CharIoU@1': 0.25}
    """

    divisor = (-1, 1, 0, 1)


@register(
    "density of relevant characters",
    "CharDensity@k = |characters of the top k in spans| / ∑ |d_i| over i ≤ k",
    aliases=("TokenDensity",),
)
class CharDensity(ShareMeasure):
    r"""Characters of spans, each once, over the lengths of the chunks in the top k.

    .. math:: \text{CharDensity}@k = \frac{|\bigcup_{i \le k} d_i \cap S|}{\sum_{i \le k} |d_i|}

    What a prompt of the top k is worth: overlapping chunks repeat characters, which are paid for each time.
    Conventions, and what is exact, are those of `CharPrecision`.

    References
    ----------
    As for `CharRecall`, which calls it precision.

    Examples
    --------
    >>> import deadheat as dh
    >>> chunks = [("q", "d", 0, 20, 0.5), ("q", "d", 10, 40, 0.4)]
    >>> dh.evaluate(dh.Spans([("q", "d", 10, 40)]), chunks, ["CharDensity@2"]).means()
    {'CharDensity@2': 0.6}
    """

    divisor = (0, 0, 1, 0)
