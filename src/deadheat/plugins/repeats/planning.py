"""What repeats tell of the variance of values, and how many queries and repeats an interval of some width needs."""

import math

import numpy as np
import polars as pl

from deadheat.core.arrays import special
from deadheat.core.checks import as_level, as_positive
from deadheat.core.errors import ParameterError
from deadheat.core.evaluation.scores import Scores
from deadheat.plugins.repeats.repeated import Repeated
from deadheat.plugins.repeats.variances import VarianceComponents, variance_components

PLANNED = (1, 2, 3, 5, 10, 20)  # repeats of a plan


def variance_components_of(scores: Scores) -> VarianceComponents:
    """Return the variance of single values, as :attr:`Scores.variance_components` says."""
    repeated: Repeated | None = scores.repeats
    if repeated is None:
        raise ParameterError("there are no repeats", hint="evaluate Repeats([run, other, ...])")
    kept = repeated.select(scores.kept)
    return variance_components(kept.values, kept.tie_variances)


def plan_repeats(scores: Scores, width: float, confidence_level: float) -> pl.DataFrame:
    """Return how many queries an interval of a width needs, as :meth:`Scores.plan_repeats` says."""
    if scores.is_weighted:
        raise ParameterError("a plan is not for weighted queries", hint="evaluate without weights")
    components = variance_components_of(scores)
    half_width = as_positive("width", width) / 2
    level = as_level("confidence_level", confidence_level)
    of_queries = max(components.queries, 0.0)
    shared = max(float(np.nan_to_num(components.shared)), 0.0)
    noise = max(components.repeats - shared, 0.0)
    allowed = (half_width / special.ndtri((1 + level) / 2)) ** 2
    n_queries = []
    for n_repeats in PLANNED:
        left = allowed - shared / n_repeats  # what the variance of the mean over queries may be
        of_query = of_queries + noise / n_repeats
        n_queries.append(math.ceil(of_query / left) if left > 0 else None)
    return pl.DataFrame({"n_repeats": list(PLANNED), "n_queries": n_queries}, schema_overrides={"n_queries": pl.Int64})
