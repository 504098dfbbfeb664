"""How many documents a search goes through in vain: ESL."""

from __future__ import annotations

import numpy as np

from deadheat.arrays import FloatArray
from deadheat.measures.base import JointMeasure, register
from deadheat.measures.parameters import Cutoff, parameter
from deadheat.measures.top import RelevanceMeasure
from deadheat.placements.placements import Placements


@register
class ESL(JointMeasure, RelevanceMeasure):
    r"""Expected search length: documents that are not relevant above the s-th relevant one.

    .. math:: \text{ESL} = T_s - s

    with :math:`T_s` the rank of the s-th relevant document (s is ``wanted``). Its mean over the orders of ties is
    t - b + (s - b) (n - r) / (r + 1), where the tie that holds it has n documents, r of them relevant, below t
    documents of which b are relevant. Unjudged documents are not relevant. Where fewer than s are retrieved, a search
    goes through all others in vain: their number counts. A query that the run lacks has no value (NaN) and is left out
    of the mean.

    References
    ----------
    Cooper 1968, https://doi.org/10.1002/asi.5090190108, who defined it for weak orderings, which is: over ties.

    Examples
    --------
    >>> from deadheat import evaluate
    >>> run = {"q": {"a": 2, "b": 2, "c": 2, "d": 1}}
    >>> evaluate({"q": {"a": 1, "d": 1}}, run, ["ESL", "ESL(wanted=2)"]).means()
    {'ESL': 1.0, 'ESL(wanted=2)': 2.0}
    """

    title = "expected search length"
    formula = "ESL = documents that are not relevant above the s-th relevant one (s = wanted)"
    range = (0.0, np.inf)
    higher_is_better = False

    wanted: int = parameter(1, Cutoff(optional=False), "relevant documents that the search is for")

    def find_moments(self, placements: Placements) -> tuple[FloatArray, FloatArray]:
        """Compute mean and variance over all tie orders."""
        found = placements.relevant(self.rel)
        n_found = placements.by_query(found.count, found.query)
        mean = np.where(placements.missing, np.nan, placements.n_retrieved - n_found)
        variance = np.zeros(placements.n_queries)
        own = (found.before < self.wanted) & (self.wanted <= found.before + found.count)
        query, n, r = found.query[own], found.tied[own], found.count[own]
        place = self.wanted - found.before[own]  # among the relevant documents of its tie
        mean[query] = found.above[own] - found.before[own] + place * ((n - r) / (r + 1))
        # of an order statistic of a draw without replacement
        variance[query] = place * (r + 1 - place) * (n - r) * ((n + 1.0) / ((r + 1.0) ** 2 * (r + 2)))
        return mean, variance
