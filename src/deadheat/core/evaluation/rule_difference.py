"""How far a rule that breaks ties, such as document ids, is from the exact values."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from deadheat.core.arrays import FloatArray
from deadheat.core.evaluation.evaluation import Evaluation
from deadheat.core.evaluation.scores import Scores
from deadheat.core.measures import Measure
from deadheat.core.scalars import NOISE


@dataclass(frozen=True)
class RuleDifference:
    """How far a rule that breaks ties is from the exact values of a measure.

    Attributes
    ----------
    measure : Measure
    rule : {"doc_id", "input"}
    exact, traditional : float
        The mean over queries (of counts the total), exact over all orders of the ties and under the rule. Of geometric
        means these are values, as is their `difference`, and all other numbers are of the logarithms of queries.
    mean, max : float
        Mean and largest distance of the two in a query; NaN without queries.
    distance_std : float
        Standard deviation over queries of that distance (the divisor is n - 1); NaN for fewer than two queries.
    query_id : str
        The first query with the largest distance; empty without queries, or where no query has any.
    std, traditional_std : float
        Standard deviation over queries (the divisor is n - 1) of the exact values and of those under the rule.
    n_queries : int
        Queries with a value.
    """

    measure: Measure
    rule: str
    exact: float
    traditional: float
    mean: float
    max: float
    distance_std: float
    query_id: str
    std: float
    traditional_std: float
    n_queries: int

    @property
    def difference(self) -> float:
        """The mean under the rule minus the exact mean."""
        return self.traditional - self.exact


def traditional(exact: Evaluation, values: Sequence[FloatArray], rule: str) -> Evaluation:
    """Return an evaluation with the values of its measures under a rule that breaks ties."""
    return Evaluation(
        [replace(own, values=of_rule) for own, of_rule in zip(exact, values, strict=True)],
        **exact.parts() | {"conventions": replace(exact.conventions, ties=rule)},
    )


def differences(exact: Scores, traditional: Scores) -> FloatArray:
    """Return the value under the rule minus the exact one, of shape (n_queries,); 0 where rounding alone differs."""
    found = traditional.values - exact.values
    return np.where(np.abs(found) > NOISE * np.maximum(1.0, np.abs(exact.values)), found, found * 0.0)


def difference_of(exact: Scores, traditional: Scores, rule: str) -> RuleDifference:
    """Return how far the values under a rule are from the exact ones of the same queries."""
    apart = np.abs(differences(exact, traditional))
    kept = apart[~np.isnan(apart)]
    return RuleDifference(
        exact.measure,
        rule,
        exact.reported(),
        traditional.reported(),
        float(kept.mean()) if len(kept) else float("nan"),
        float(kept.max()) if len(kept) else float("nan"),
        float(kept.std(ddof=1)) if len(kept) > 1 else float("nan"),
        str(exact.query_ids[int(np.nanargmax(apart))]) if len(kept) and kept.max() > 0 else "",
        exact.std,
        traditional.std,
        exact.n_queries,
    )
