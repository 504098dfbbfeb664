"""How much a ranking overlaps with the ideal one that is nearest to it: Compat."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from deadheat.arrays import BoolArray, FloatArray, IntArray, run_starts
from deadheat.kernels import prefix_counts
from deadheat.kernels.segments import ratio
from deadheat.measures.base import register
from deadheat.measures.gains import LOWEST_POSITIVE
from deadheat.measures.parameters import Cutoff, Flag, Number, parameter
from deadheat.measures.prefix import GainTies, KindTies, MeanMeasure, along
from deadheat.placements.placements import Placements


@register
class Compat(MeanMeasure):
    r"""Compatibility: rank-biased overlap with the ideal ranking that is nearest to the list.

    .. math:: \text{Compat} = \frac{1}{Z} \sum_{i=1}^{D} p^{i-1}\, \frac{|I_i \cap L_i|}{i}

    with the top i of the list :math:`L_i` and of an ideal ranking :math:`I_i`: the documents of positive relevance, the
    highest first, those of one relevance in the order of the list, and D the length of the longer one, as in
    ir_measures. The authors' program goes on to rank 1,000, whatever the lengths are, and counts what the two share at
    those ranks too: ``Compat(depth=1000)``. Z is the value of the ideal ranking itself, or with
    ``normalize=False`` the sum of the weights of all ranks, both to the same depth. The mean over ties is
    exact; variance and extremes are too, but for large ties of many levels, where they are those of 10,000 drawn
    orders. Documents that were not retrieved come last in their level; ir_measures takes their score for 0, so that
    they come first where scores are negative.

    References
    ----------
    Clarke, Vtyurina and Smucker 2021, https://doi.org/10.1145/3451161; rank-biased overlap: Webber, Moffat and Zobel
    2010, https://doi.org/10.1145/1852102.1852106.

    Examples
    --------
    >>> from deadheat import evaluate
    >>> run = {"q": {"a": 0.5, "b": 0.5}}
    >>> round(evaluate({"q": {"a": 1}}, run, ["Compat(p=0.5)"]).means()["Compat(p=0.5)"], 4)
    0.6

    A list with one of ten documents:

    >>> short = evaluate({"q": {f"d{n}": 1 for n in range(10)}}, {"q": {"d0": 1.0}}, ["Compat", "Compat(depth=1000)"])
    >>> {name: round(mean, 4) for name, mean in short.means().items()}
    {'Compat': 0.3254, 'Compat(depth=1000)': 0.2345}
    """

    title = "compatibility"
    formula = "Compat = 1/Z ∑ p^(i - 1) X_i / i, X_i the documents that the top i shares with the ideal one"

    p: float = parameter(0.95, Number(low=0, high=1, open_low=True, open_high=True), "persistence")
    normalize: bool = parameter(True, Flag(), "whether the ideal ranking has 1")  # noqa: FBT003 - a default
    depth: int | None = parameter(None, Cutoff(), "rank at which the sums end; None: the end of the longer list")

    def has_relevant(self, placements: Placements) -> BoolArray:
        """Tell which queries have a document of positive relevance."""
        return placements.n_relevant(LOWEST_POSITIVE) > 0

    def codes(self, relevance: FloatArray) -> FloatArray:
        """Return the positive relevance, else 0."""
        return np.where(relevance > 0, relevance, 0.0)

    def divisor(self, placements: Placements) -> FloatArray:
        """Return Z."""
        depth, n_ideal = self._depth(placements), placements.n_relevant(LOWEST_POSITIVE)
        if not self.normalize:
            return (1 - float(self.p) ** depth) / (1 - self.p)
        rank = np.arange(int(depth.max(initial=0)) + 1.0)
        full = np.append(0.0, np.cumsum(float(self.p) ** rank[:-1]))  # of ranks that the ideal list fills
        harmonic, n_ideal = self._harmonic(placements), np.minimum(n_ideal, depth)
        return full[n_ideal] + n_ideal * (harmonic[depth] - harmonic[n_ideal])

    def ties(self, placements: Placements) -> tuple[KindTies, prefix_counts.Added]:
        """Return the ties with a document of positive relevance.

        The c-th document of a level adds to the overlap from its rank on, but not above the rank that c documents of
        this level have in the ideal ranking.
        """
        codes = self.codes(placements.relevance)
        found = GainTies.of(placements, codes)
        higher, before = self._levels(placements, found, codes)
        ends, harmonic = self._depth(placements)[found.ties.query], self._harmonic(placements)

        def added(ties: IntArray, j: int, kind: int, seen: Sequence[IntArray]) -> FloatArray:
            n_axes = seen[0].ndim
            ideal = along(higher[ties, kind] + before[ties, kind] + 1, n_axes) + seen[kind]
            rank = np.maximum(along(found.above[ties] + j, n_axes), ideal)
            end = along(ends[ties], n_axes)
            return (
                harmonic[end] - harmonic[np.minimum(rank, end + 1) - 1]
            )  # beyond the depth, and states that no order reaches

        return found.ties, added

    def exact_mean(self, placements: Placements) -> FloatArray:
        """Return the mean over all tie orders, a sum over the levels: each adds by its own documents alone."""
        found = GainTies.of(placements, self.codes(placements.relevance))
        higher, before = self._levels(placements, found, self.codes(placements.relevance))
        harmonic, depth = self._harmonic(placements), self._depth(placements)
        tie, kind = np.nonzero(found.ties.counts)
        query, above = found.ties.query[tie], found.above[tie]
        first, ends = (higher + before)[tie, kind] + 1, depth[query]

        def added(ties: IntArray, j: int, _kind: int, seen: Sequence[IntArray]) -> FloatArray:
            rank, end = np.maximum(along(above[ties] + j, 1), along(first[ties], 1) + seen[0]), along(ends[ties], 1)
            return harmonic[end] - harmonic[np.minimum(rank, end + 1) - 1]

        means = prefix_counts.moments(found.ties.tied[tie], found.ties.counts[tie, kind][:, None], added)[0]
        return ratio(placements.by_query(means, query), self.divisor(placements))

    def of_rankings(self, rankings: FloatArray, placements: Placements, query: int) -> FloatArray:
        """Return the value of each ranking."""
        own = placements.judged_relevance[placements.judged_query == query]
        depth, harmonic = int(self._depth(placements)[query]), self._harmonic(placements)
        total = np.zeros(len(rankings))
        for level in np.unique(own[own > 0]).tolist():
            is_own = rankings == level
            ideal = (own > level).sum() + np.cumsum(is_own, axis=1)
            rank = np.minimum(np.maximum(np.arange(1, rankings.shape[1] + 1), ideal), depth + 1)
            total += np.where(is_own, harmonic[depth] - harmonic[rank - 1], 0.0).sum(axis=1)
        return total / (self.divisor(placements)[query] or 1.0)

    def _depth(self, placements: Placements) -> IntArray:
        longer = np.maximum(placements.n_retrieved, placements.n_relevant(LOWEST_POSITIVE))
        return longer if self.depth is None else np.full(len(longer), self.depth)

    def _harmonic(self, placements: Placements) -> FloatArray:
        """Return the sums of p^(i - 1) / i over the first ranks: none, one and so on."""

        def find() -> FloatArray:
            rank = np.arange(1.0, int(self._depth(placements).max(initial=0)) + 1)
            return np.append(0.0, np.cumsum(float(self.p) ** (rank - 1) / rank))

        return placements.cached(("harmonic of Compat", self.p, self.depth), find)

    @staticmethod
    def _levels(placements: Placements, found: GainTies, codes: FloatArray) -> tuple[IntArray, IntArray]:
        """Return how many judged documents are of a higher level, and how many of the same are above the tie.

        Both have the shape (n_ties, n_kinds).
        """
        query, level, above = placements.query[found.rows], codes[found.rows], placements.above[found.rows]
        judged = placements.judged_relevance > 0
        of_judged, of_levels = placements.judged_query[judged], placements.judged_relevance[judged]
        values = np.unique(of_levels)
        size = len(values) + 1
        ascending = np.sort(of_judged * size - np.searchsorted(values, of_levels))  # the highest level first
        kinds = run_starts(query, above, level)
        key = query[kinds] * size - np.searchsorted(values, level[kinds])
        n_higher = np.searchsorted(ascending, key) - np.searchsorted(ascending, query[kinds] * size - size + 1)
        order = np.lexsort((above, -level, query))
        first = run_starts(query[order], level[order])
        place = np.empty(len(order), np.int64)
        sizes = np.diff(np.append(first, len(order)))
        place[order] = np.arange(len(order)) - np.repeat(first, sizes)
        has = found.ties.counts > 0
        higher, before = np.zeros(has.shape, np.int64), np.zeros(has.shape, np.int64)
        higher[has], before[has] = n_higher, place[kinds]
        return higher, before
