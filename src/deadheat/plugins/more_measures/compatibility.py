"""Compat, rank-biased overlap with the nearest ideal ranking."""

from collections.abc import Callable

import numpy as np

from deadheat.core.arrays import FloatArray, IntArray
from deadheat.core.kernels import prefix_counts
from deadheat.core.kernels.segments import divide_or_zero, scan_before
from deadheat.core.measures.families import computed_once, ranks_to
from deadheat.core.measures.gains import LOWEST_POSITIVE, PositiveMeasure
from deadheat.core.measures.parameters import CUTOFF, FLAG, Number, parameter
from deadheat.core.measures.prefix import GainTies, KindTies, MeanMeasure, shape_for_states
from deadheat.core.measures.registration import register
from deadheat.core.placements.placements import Placements


@register(
    "compatibility", "Compat = 1/Z ∑ p^(i - 1) X_i / i, X_i the documents that the top i shares with the ideal one"
)
class Compat(PositiveMeasure, MeanMeasure):
    r"""Compatibility: rank-biased overlap with the ideal ranking that is nearest to the list.

    .. math:: \text{Compat} = \frac{1}{Z} \sum_{i=1}^{D} p^{i-1}\, \frac{|I_i \cap L_i|}{i}

    with the top i of the list :math:`L_i` and of an ideal ranking :math:`I_i`: the documents of positive relevance, the
    highest first, those of one relevance in the order of the list, and D the length of the longer one, as in
    ir_measures. The authors' program goes on to rank 1,000, whatever the lengths are, and counts what the two share at
    those ranks too: ``Compat(depth=1000)``. Z is the value of the ideal ranking itself, or with
    ``normalize=False`` the sum of the weights of all ranks, both to the same depth. The mean over ties is
    exact; variance and extremes are too, but for large ties of many levels, where they are those of 100 to 10,000
    drawn orders. Documents that were not retrieved come last in their level; ir_measures takes their score for 0, so
    that they come first where scores are negative.

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

    p: float = parameter(0.95, Number(low=0, high=1, open_low=True, open_high=True), "persistence")
    normalize: bool = parameter(True, FLAG, "whether the ideal ranking has 1")  # noqa: FBT003 - a default
    depth: int | None = parameter(None, CUTOFF, "rank at which the sums end; None: the end of the longer list")

    def codes(self, relevance: FloatArray) -> FloatArray:
        """Return the positive relevance, else 0."""
        return np.where(relevance > 0, relevance, 0.0)

    def divisor(self, placements: Placements) -> FloatArray:
        """Return Z."""
        depth, n_ideal = self._depth(placements), placements.n_relevant(LOWEST_POSITIVE)
        if not self.normalize:
            return (1 - float(self.p) ** depth) / (1 - self.p)
        rank = ranks_to(self, int(depth.max(initial=0)))
        full = np.append(0.0, np.cumsum(float(self.p) ** (rank - 1)))  # of ranks that the ideal list fills
        harmonic, n_ideal = self._harmonic(placements), np.minimum(n_ideal, depth)
        return full[n_ideal] + n_ideal * (harmonic[depth] - harmonic[n_ideal])

    def ties(self, placements: Placements) -> tuple[KindTies, prefix_counts.Added]:
        """Return the ties with a document of positive relevance.

        The c-th document of a level adds to the overlap from its rank on, but not above the rank that c documents of
        this level have in the ideal ranking.
        """
        found, first, worth = self._levels(placements)
        return found, lambda ties, j, kind, seen: worth(ties, j, first[ties, kind], seen[kind])

    @computed_once("key")
    def mean(self, placements: Placements) -> FloatArray:
        """Return the mean over all tie orders, a sum over the levels: each adds by its own documents alone."""
        found, first, worth = self._levels(placements)
        tie, kind = np.nonzero(found.counts)
        means = prefix_counts.moments(
            found.tied[tie],
            found.tied[tie],
            found.counts[tie, kind][:, None],
            lambda index, j, _, seen: worth(tie[index], j, first[tie, kind][index], seen[0]),
        )[0]
        return divide_or_zero(placements.by_query(means, found.query[tie]), self.divisor(placements))

    def score_rankings(self, rankings: FloatArray, placements: Placements, query: int) -> FloatArray:
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

    @computed_once("p", "depth")
    def _harmonic(self, placements: Placements) -> FloatArray:
        """Return the sums of p^(i - 1) / i over the first ranks: none, one and so on."""
        rank = ranks_to(self, int(self._depth(placements).max(initial=0)))
        return np.append(0.0, np.cumsum(float(self.p) ** (rank - 1) / rank))

    def _levels(
        self, placements: Placements
    ) -> tuple[GainTies, IntArray, Callable[[IntArray, int, IntArray, IntArray], FloatArray]]:
        """Return the ties, and the ideal rank of the first document of each level in each, of shape (n_ties, n_kinds).

        The third gives what rank j of some ties adds, by this ideal rank and the documents of the level above rank j.
        """
        values = np.unique(placements.judged_relevance)
        # levels are counted from 1: sums of relevance may be beyond float64
        levels = np.where(placements.relevance > 0, 1.0 + np.searchsorted(values, placements.relevance), 0.0)
        found = GainTies.from_gains(placements, levels)
        tie, kind = np.nonzero(found.counts)
        query = found.query[tie]
        key = query * len(values) - (found.levels[tie, kind].astype(np.int64) - 1)  # the highest level first
        judged = placements.judged_query * len(values) - np.searchsorted(values, placements.judged_relevance)
        n_higher = np.searchsorted(judged, key) - np.searchsorted(placements.judged_query, query)
        order = np.argsort(key, kind="stable")
        first = np.zeros(found.counts.shape, np.int64)
        n_above = scan_before(found.counts[tie, kind][order].astype(np.float64), key[order], np.add)
        first[tie[order], kind[order]] = n_higher[order] + n_above + 1
        ends, harmonic = self._depth(placements)[found.query], self._harmonic(placements)

        def worth(ties: IntArray, j: int, first: IntArray, seen: IntArray) -> FloatArray:
            rank = np.maximum(shape_for_states(found.above[ties] + j, [seen]), shape_for_states(first, [seen]) + seen)
            end = shape_for_states(ends[ties], [seen])
            # 0 beyond the depth, and in states that no order reaches
            return harmonic[end] - harmonic[np.minimum(rank, end + 1) - 1]

        return found, first, worth
