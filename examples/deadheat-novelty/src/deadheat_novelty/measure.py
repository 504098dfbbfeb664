"""The measure ``Novelty``: new documents count 1, known ones less."""

import numpy as np

from deadheat import api


@api.register_measure("novelty", "Novelty@k = (new + known * seen) / k, of the top k", aliases=("new_share",))
class Novelty(api.RelevanceMeasure, api.WeightedMeasure):
    """Share of the top k that is new: documents of relevance `new` or more count 1, other relevant ones `known`."""

    binary = False  # it tells relevant documents apart

    new: float = api.parameter(2, api.Number(), "lowest relevance that is new")
    known: float = api.parameter(0.2, api.Number(low=0, high=1), "what a relevant document counts that is not new")

    def gains(self, placements: api.Placements) -> tuple[object, api.FloatArray]:
        """Return a name for the gains, and the gain of each judged document that is retrieved."""
        is_relevant = placements.relevance >= self.rel
        is_new = placements.relevance >= self.new
        gains = np.where(is_relevant, np.where(is_new, 1.0, self.known), 0.0)
        return ("novelty", self.rel, self.new, self.known), gains

    def weights(self, n_ranks: int) -> api.FloatArray:
        """Return the weight of each rank."""
        return np.ones(n_ranks)

    def divisor(self, placements: api.Placements) -> api.FloatArray:
        """Return k; without a cutoff the number of retrieved documents."""
        return self.k(placements).astype(np.float64)
