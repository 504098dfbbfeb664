"""Tests of "the mean difference is 0" for paired differences, column by column."""

import numpy as np

from deadheat.core.arrays import ArrayLike, use_default_arithmetic
from deadheat.core.checks import as_resamples, check_choice
from deadheat.core.design import CLUSTERED, TESTS
from deadheat.core.errors import ParameterError
from deadheat.core.random_generators import Rng, random_generator
from deadheat.core.stats.alternatives import as_alternative
from deadheat.core.stats.bootstrap_tests import bootstrap_p_values
from deadheat.core.stats.randomization import randomization_p_values
from deadheat.core.stats.rank_tests import sign_p_values, wilcoxon_p_values
from deadheat.core.stats.significance import Significance
from deadheat.core.stats.student_tests import student_p_values
from deadheat.core.stats.units import NEGLIGIBLE_DIFFERENCE, as_clusters, as_matrix, as_weights


@use_default_arithmetic
def p_values(
    differences: ArrayLike,
    *,
    test: str,
    alternative: str = "two-sided",
    n_resamples: int = 10_000,
    cluster: ArrayLike | None = None,
    rng: Rng = None,
    weights: ArrayLike | None = None,
) -> Significance:
    """Test for each column whether the mean of its differences is 0.

    Differences below 1e-12 in absolute value count as 0.

    "randomization" gives each unit a random sign; with up to 30 units that differ from 0 it counts all sign patterns
    and is exact. It tests "each difference is as likely d as -d"; as a test of "the mean is 0" it is off by the
    skewness of the differences, and so is "t" (see `skewness`). "bootstrap" centres the resampled means; "bootstrap-t"
    divides each by its own standard error, which makes up for much of the skewness. Resampled p-values are
    (b + 1) / (m + 1), where b of m resamples are at least as extreme as the data.

    "wilcoxon", exact up to 200 differences and then normal, and "sign" leave zeros out; both test whether the
    differences lie as often and as far above 0 as below it, not their mean.

    Parameters
    ----------
    differences : array-like of shape (n_queries, n_columns)
        System minus baseline, query by query; NaN where a value is missing: the row is left out of that column.
    test : {"randomization", "bootstrap-t", "bootstrap", "t", "wilcoxon", "sign"}
    alternative : {"two-sided", "greater", "less"}, default "two-sided"
        "greater": the mean difference is above 0.
    n_resamples : int, default 10000
        For "bootstrap" and "bootstrap-t", and for "randomization" where it is not exact.
    cluster : array-like of int, shape (n_queries,), optional
        Code of each query's cluster; clusters are drawn, or change sign, as a whole. Not for "wilcoxon" and "sign".
    rng : numpy.random.Generator or int, optional
    weights : array-like of float, shape (n_queries,) or that of `differences`, optional
        How much each query counts, above 0 where there is a value; the weighted mean difference is tested then. Not for
        "wilcoxon" and "sign".

    Returns
    -------
    Significance
        The p-value is 1 where all differences are 0 and where there are none; "t", "bootstrap" and "bootstrap-t" need
        two units and give NaN with fewer.

    Raises
    ------
    ParameterError

    References
    ----------
    Smucker, Allan and Carterette 2007, https://doi.org/10.1145/1321440.1321528, for randomisation and bootstrap.
    Phipson and Smyth 2010, https://doi.org/10.2202/1544-6115.1585, for (b + 1) / (m + 1).
    Hall 1992, The Bootstrap and Edgeworth Expansion, https://doi.org/10.1007/978-1-4612-4384-7, for "bootstrap-t".

    Examples
    --------
    >>> significance = p_values([[0.5, 0.0], [0.25, 0.0], [0.25, 0.0]], test="randomization")
    >>> significance.p_values.tolist(), significance.is_exact.tolist()
    ([0.25, 1.0], [True, True])
    """
    check_choice("test", test, TESTS)
    side = as_alternative(alternative)
    n_resamples = as_resamples("n_resamples", n_resamples)
    values = as_matrix("differences", differences)
    codes = as_clusters(cluster, len(values))
    weights = as_weights(weights, values)
    if test not in CLUSTERED:
        for name, given in (("cluster", codes), ("weights", weights)):
            if given is not None:
                raise ParameterError(argument="test", given=test, allowed=CLUSTERED, beside={name: None})
    values = np.where(np.abs(values) < NEGLIGIBLE_DIFFERENCE, 0.0, values)
    if test == "randomization":
        weighted = values if weights is None else values * weights
        generator = random_generator(rng)
        return randomization_p_values(weighted, alternative=side, n_resamples=n_resamples, cluster=codes, rng=generator)
    if test in {"bootstrap", "bootstrap-t"}:
        return bootstrap_p_values(
            values,
            is_studentized=test == "bootstrap-t",
            alternative=side,
            n_resamples=n_resamples,
            cluster=codes,
            rng=random_generator(rng),
            weights=weights,
        )
    if test == "t":
        return student_p_values(values, alternative=side, cluster=codes, weights=weights)
    if test == "wilcoxon":
        return wilcoxon_p_values(values, side)
    return sign_p_values(values, side)
