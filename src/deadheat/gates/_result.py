"""What gate() returns: every check with its value, and why it failed."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from deadheat import arguments
from deadheat.errors import check_choice
from deadheat.stats import METHODS

if TYPE_CHECKING:
    from collections.abc import Callable

    import polars as pl

# what each number of the options may be
NUMBERS: dict[str, Callable[[float], float]] = {
    "no_worse_than": partial(arguments.not_negative, "no_worse_than", example="0.01"),
    "alpha": partial(arguments.level, "alpha", high=0.5, example="0.05"),
    "confidence_level": partial(arguments.level, "confidence_level"),
}


@dataclass(frozen=True)
class GateOptions:
    """How gates were checked; the arguments of :func:`gate`.

    Attributes
    ----------
    no_worse_than, alpha : float
        Margin and level of the regression tests.
    confidence_level : float
    method : str
    n_resamples : int
        Of the intervals.
    cluster : str or None
        The column of the clusters, "given" if they came otherwise, None without clusters.
    """

    no_worse_than: float = 0.0
    alpha: float = 0.05
    confidence_level: float = 0.95
    method: str = "bca"
    n_resamples: int = 10_000
    cluster: str | None = None


def check_options(options: GateOptions) -> GateOptions:
    """Return options with plain numbers; raise `ParameterError` if one of them is not allowed."""
    check_choice("method", options.method, METHODS)
    numbers: dict[str, Any] = {name: check(getattr(options, name)) for name, check in NUMBERS.items()}
    return replace(options, n_resamples=arguments.resamples(options.n_resamples), **numbers)


@dataclass(frozen=True)
class Check:
    """One gate and what came of it.

    Attributes
    ----------
    gate : str
        As it is written: ``"low(nDCG@10) >= 0.75"``, or ``"nDCG@10 >= baseline - 0.01"``.
    measure : str
    quantity : str
        "mean", "low", "high", "tie_min", "tie_max" or "tie_std"; "difference" of a regression.
    value : float
        Of the quantity; a difference is the evaluation's mean minus the baseline's.
    operator : {">=", "<=", ">", "<"}
    threshold : float
        What the value is held against; of a regression the margin, with the sign of a change for the worse.
    passed : bool
    reason : str
        Why it failed, or what a passed regression hides; else empty.
    n_queries : int
        Queries with a value; of a regression, with a value in both.
    mean, baseline_mean : float or None
        Of a regression: the means over these queries.
    p_value : float or None
        Of a regression: how likely a change for the worse as large as this is, if the true one is the margin.
    bound : float or None
        Of a regression: the one-sided confidence bound of the difference on its better side, at ``1 - alpha``.
    """

    gate: str
    measure: str
    quantity: str
    value: float
    operator: str
    threshold: float
    passed: bool
    reason: str
    n_queries: int
    mean: float | None = None
    baseline_mean: float | None = None
    p_value: float | None = None
    bound: float | None = None

    @property
    def is_regression(self) -> bool:
        """Whether it compares with a baseline."""
        return self.quantity == "difference"


@dataclass(frozen=True)
class GateResult:
    """Checks of an evaluation; true if all passed. Made by :func:`gate`.

    Attributes
    ----------
    name : str
        Of the evaluation.
    checks : tuple of Check
    n_queries : int
    baseline : str or None
        The name of the baseline.
    not_compared : tuple of str
        Measures that only one of evaluation and baseline has.
    options : GateOptions
    """

    name: str
    checks: tuple[Check, ...]
    n_queries: int
    baseline: str | None = None
    not_compared: tuple[str, ...] = ()
    options: GateOptions = GateOptions()

    def __bool__(self) -> bool:
        return self.passed

    def __repr__(self) -> str:
        failed = "; ".join(f"{check.gate} ({check.reason})" for check in self.failures)
        return f"<GateResult {self.summary}{': ' if failed else ''}{failed}>"

    @property
    def passed(self) -> bool:
        """Whether every check passed."""
        return not self.failures

    @property
    def failures(self) -> tuple[Check, ...]:
        """The checks that failed."""
        return tuple(check for check in self.checks if not check.passed)

    @property
    def summary(self) -> str:
        """What came of it, in a few words."""
        n_checks, n_failed = len(self.checks), len(self.failures)
        gates = f"{n_checks} gate" if n_checks == 1 else f"{n_checks} gates"
        return f"{self.name}: {n_failed} of {gates} failed" if n_failed else f"{self.name}: {gates} passed"

    def to_polars(self) -> pl.DataFrame:
        """Return a row for each check, with the fields of `Check`; null where there is no number."""
        import polars as pl

        types = {"float": pl.Float64, "bool": pl.Boolean, "int": pl.Int64, "float | None": pl.Float64}
        schema = {one.name: types.get(str(one.type), pl.String) for one in fields(Check)}
        columns = {name: [getattr(check, name) for check in self.checks] for name in schema}
        return pl.DataFrame(columns, schema=schema).with_columns(pl.col(pl.Float64).fill_nan(None))
