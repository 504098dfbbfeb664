"""What a measure has over all orders of the ties of each query of a batch."""

from oracle.orders import Moments, moments
from oracle.pairs import query_weight
from oracle.random_cases import Batch
from oracle.variants import Variant


def expected_moments(variant: Variant, cutoff: float | None, batch: Batch) -> list[Moments]:
    """Enumerate every query of a batch."""
    found = [
        moments(variant.reference(cutoff, case.judged, batch.scale), case.rankings) for case in batch.cases.values()
    ]
    if variant.name != "GAUC":
        return found
    rel, weight = float(str(variant.parameters.get("rel", 1))), str(variant.parameters.get("weight", "judged"))
    weights = [query_weight(case.rankings[0][0], rel, weight) for case in batch.cases.values()]
    mean = sum(weights) / max(sum(weight > 0 for weight in weights), 1) or 1.0
    return [Moments(own.mean / mean, own.variance / mean**2, own.minimum / mean, own.maximum / mean) for own in found]
