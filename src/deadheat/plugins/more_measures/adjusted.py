"""What an order is worth beside a random one of the same documents: Adjusted."""

from dataclasses import replace
from typing import Any

import numpy as np

from deadheat.core.arrays import BoolArray, FloatArray, IntArray
from deadheat.core.errors import MeasureError
from deadheat.core.measures.base import Measure
from deadheat.core.measures.notation import parse_measure
from deadheat.core.measures.parameters import Only, parameter
from deadheat.core.measures.registration import REGISTRY, register
from deadheat.core.placements.placements import Placements
from deadheat.core.scalars import ROUNDING


def _check_measure(value: Any) -> Measure:  # noqa: ANN401 - a check takes whatever the user gave
    measure = parse_measure(value)
    is_registered = REGISTRY.get(type(measure).__name__) is type(measure)
    if not is_registered or measure.geometric or measure.only_total or isinstance(measure, Adjusted):
        raise ValueError
    return measure


MEASURE = Only("a measure or its notation, such as nDCG@10; no custom or geometric one", _check_measure)


@register(
    "adjusted for chance",
    "Adjusted(M) = (M - mean of M over all orders) / (best of M over all orders - that mean)",
    range=(-np.inf, 1.0),
)
class Adjusted(Measure):
    r"""A measure M on a scale from 0, a random order of the retrieved documents, to 1, the best order of them.

    .. math:: \text{Adjusted}(M) = \frac{M - E[M]}{\max M - E[M]}

    Mean and maximum are over all orders of the documents that were retrieved for the query: of an M of which lower is
    better the minimum takes the place of the maximum, and higher is better all the same. It is below 0 where the order
    is worse than a random one. What was not retrieved counts in M alone. Where all orders have the same value, as
    without a relevant document, there is none (NaN), and the query is left out of the mean. It is a mean of ratios;
    PyKEEN's adjusted mean rank index is a ratio of means, with ranks among all entities.

    References
    ----------
    Adjustment for chance: Hubert and Arabie 1985, https://doi.org/10.1007/BF01908075; of ranks: Berrendorf et al. 2020,
    https://doi.org/10.48550/arXiv.2002.06914.

    Examples
    --------
    >>> from deadheat import evaluate
    >>> means = evaluate({"q": {"a": 1}}, {"q": {"a": 0.5, "b": 0.5, "c": 0.1}}, ["RR", "Adjusted(RR)"]).means()
    >>> {name: round(mean, 4) for name, mean in means.items()}
    {'RR': 0.75, 'Adjusted(RR)': 0.3571}
    """

    measure: Measure = parameter("nDCG", MEASURE, "the measure M that is adjusted; it is written without its name")

    def __init__(self, measure: "Measure | type[Measure] | str" = "nDCG") -> None:
        Measure.__init__(self, measure=measure)

    def __repr__(self) -> str:
        return f"Adjusted({self.measure})"

    def __matmul__(self, cutoff: float) -> "Adjusted":
        """Refuse: the cutoff is that of the measure inside."""
        raise MeasureError(
            "Adjusted takes no cutoff", found=f"@{cutoff}", hint=f"write it inside: Adjusted({self.measure}@{cutoff})"
        )

    @property
    def is_quality(self) -> bool:  # type: ignore[override]  # of most measures it is the class that says it
        """Whether the measure inside says how good a ranking is."""
        return self.measure.is_quality

    @property
    def binary(self) -> bool:  # type: ignore[override]  # as above
        """Whether the measure inside tells no grades apart."""
        return self.measure.binary

    @property
    def asks_for_relevant(self) -> bool:
        """Whether the measure inside looks for relevant documents."""
        return self.measure.asks_for_relevant

    def has_relevant(self, placements: Placements) -> BoolArray:
        """Tell which queries have a document that counts as relevant for the measure inside."""
        return self.measure.has_relevant(placements)

    def classes(self, relevance: FloatArray) -> FloatArray:
        """Return the classes of the measure inside."""
        return self.measure.classes(relevance)

    def can_list_orders(self, placements: Placements) -> bool:
        """Whether the measure inside sees only relevance and rank."""
        return self.measure.can_list_orders(placements)

    def scale(self, placements: Placements) -> tuple[FloatArray, FloatArray]:
        """Return the mean over all orders of each query's retrieved documents, and how far the best is from it.

        The distance is NaN where no order differs from another.
        """

        def find() -> tuple[FloatArray, FloatArray]:
            one_tie = tie_all(placements)
            mean = self.measure.mean(one_tie)
            low, high = self.measure.extremes(one_tie)
            best = high if self.measure.higher_is_better else low
            differs = high - low > ROUNDING * np.maximum(np.abs(low), np.abs(high))
            return mean, np.where(differs, best - mean, np.nan)

        return placements.cached(("scale", self.key), find)

    def mean(self, placements: Placements) -> FloatArray:
        """Return the exact mean over all tie orders; NaN where all orders of the documents are equally good."""
        random, distance = self.scale(placements)
        return (self.measure.mean(placements) - random) / distance

    def variance(self, placements: Placements) -> FloatArray:
        """Return the exact variance over all tie orders."""
        _, distance = self.scale(placements)
        return self.measure.variance(placements) / distance**2

    def extremes(self, placements: Placements) -> tuple[FloatArray, FloatArray]:
        """Return the smallest and the largest value that an order of the ties can give."""
        random, distance = self.scale(placements)
        low, high = self.measure.extremes(placements)
        of_low, of_high = (low - random) / distance, (high - random) / distance
        return np.minimum(of_low, of_high), np.maximum(of_low, of_high)

    def distributions(self, placements: Placements, queries: IntArray) -> list[tuple[FloatArray, FloatArray]] | None:
        """Return those of the measure inside, on this scale; None where it has none."""
        inside = self.measure.distributions(placements, queries)
        if inside is None:
            return None
        random, distance = self.scale(placements)
        distributions = []
        for query, (values, probabilities) in zip(queries.tolist(), inside, strict=True):
            distributions.append(((values - random[query]) / distance[query], probabilities))
        return distributions

    def standard_error(self, placements: Placements) -> FloatArray:
        """Return the standard error of the mean: that of the measure inside, on this scale."""
        _, distance = self.scale(placements)
        return np.nan_to_num(self.measure.standard_error(placements) / np.abs(distance))

    def has_drawn_spread(self, placements: Placements) -> BoolArray:
        """Tell for which queries the spread of the measure inside is that of drawn orders."""
        return self.measure.has_drawn_spread(placements)

    def reachable(self, placements: Placements) -> FloatArray:
        """Return 1, the best order of any list; NaN where nothing is relevant."""
        return np.where(self.has_relevant(placements), 1.0, np.nan)


def tie_all(placements: Placements) -> Placements:
    """Return the placements as if all documents of each query were one tie."""

    def tie() -> Placements:
        rows = np.lexsort((-placements.relevance, placements.query))
        arranged = placements.rows(rows)
        query: IntArray = arranged.query
        return replace(arranged, above=np.zeros_like(query), tied=placements.n_retrieved[query], before=None)

    return placements.cached("all in one tie", tie)
