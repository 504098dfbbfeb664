"""The options of gates, as :func:`gate` takes them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from deadheat.core.checks import as_flag, as_level, as_positive
from deadheat.core.settings import Estimation, setting


@dataclass(frozen=True, kw_only=True)
class GateOptions(Estimation):
    """How gates are checked, as :func:`gate` takes it.

    Attributes
    ----------
    no_regression : bool
        Whether a significant loss against the baseline fails.
    no_worse_than : float or None
        The loss against the baseline that has to be ruled out, if one has.
    alpha : float
        Level of both tests.
    method, confidence_level, n_resamples, rng
        Of the intervals.
    cluster : str or None
        The column of the clusters, "given" if they came otherwise, None without clusters.
    by : tuple of str
        The columns of the strata that every gate is checked in as well.
    pool_languages, allow_unknown : bool
    """

    no_regression: bool = setting(default=False, allowed=as_flag)
    no_worse_than: float | None = setting(None, as_positive)
    alpha: float = setting(0.05, partial(as_level, high=0.5, example="0.05"))
    cluster: str | None = None
    by: tuple[str, ...] = ()
    pool_languages: bool = setting(default=False, allowed=as_flag)
    allow_unknown: bool = setting(default=False, allowed=as_flag)
