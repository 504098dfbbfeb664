"""Statistics over queries: pure functions of matrices with a row for each query.

A column is a measure of one system, or a difference of two. All columns are computed together, and share resamples.
"""

from deadheat.core.design import ALTERNATIVES, CLUSTERED, CORRECTIONS, TESTS
from deadheat.core.stats.intervals import METHODS, interval_bounds, standard_errors
from deadheat.core.stats.paired_tests import p_values
from deadheat.core.stats.power import MAX_QUERIES, detectable_difference, power, sample_size
from deadheat.core.stats.proportions import proportion_bounds
from deadheat.core.stats.quantiles import quantile_bounds
from deadheat.core.stats.ranks import ranks, resampled_ranks
from deadheat.core.stats.resamples import bootstrap_means, resampled_means
from deadheat.core.stats.sign_sums import sign_flip_sums
from deadheat.core.stats.significance import Significance, adjust, significant
from deadheat.core.stats.skewed_differences import is_doubtful, skewness
from deadheat.core.stats.student_tests import Equivalence, equivalent, no_worse
from deadheat.core.stats.tukey import tukey_p_values
from deadheat.core.stats.units import NEGLIGIBLE_DIFFERENCE

__all__ = [
    "ALTERNATIVES",
    "CLUSTERED",
    "CORRECTIONS",
    "MAX_QUERIES",
    "METHODS",
    "NEGLIGIBLE_DIFFERENCE",
    "TESTS",
    "Equivalence",
    "Significance",
    "adjust",
    "bootstrap_means",
    "detectable_difference",
    "equivalent",
    "interval_bounds",
    "is_doubtful",
    "no_worse",
    "p_values",
    "power",
    "proportion_bounds",
    "quantile_bounds",
    "ranks",
    "resampled_means",
    "resampled_ranks",
    "sample_size",
    "sign_flip_sums",
    "significant",
    "skewness",
    "standard_errors",
    "tukey_p_values",
]
