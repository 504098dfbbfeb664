"""What gate() returns: every check with its value, and why it failed."""

from __future__ import annotations

from dataclasses import dataclass, field, fields

import polars as pl

from deadheat.data.shown import Numbers, Shown, frame_of
from deadheat.errors import counted, rounded
from deadheat.evaluation.evaluation import Evaluation
from deadheat.evaluation.reconciling import Reconciled
from deadheat.settings import GateOptions

QUESTIONS = ("no_regression", "no_worse_than")


@dataclass(frozen=True, repr=False)
class Check:
    """One gate, over all queries or in one stratum, and what came of it.

    Attributes
    ----------
    gate : str
        As it is written: ``"low(nDCG@10) >= 0.75"``, or ``"nDCG@10 > baseline - 0.01"``.
    measure : str
        As it is written; of a comparison by the name by which it was asked for.
    quantity : str
        "mean", "low", "high", "tie_min", "tie_max" or "tie_std"; "difference" of a comparison with a baseline. Of
        counts it is about the total over queries, not the mean.
    value : float
        Of the quantity; a difference is the evaluation's mean (of a count: total) minus the baseline's.
    operator : {">=", "<=", ">", "<"}
    threshold : float
        What the value is held against; of a comparison the margin, with the sign of a change for the worse.
    passed : bool
    reason : str
        Why it failed, or why its passing proves little; else empty.
    n_queries : int
        Queries with a value; of a comparison, with a value in both.
    mean, baseline_mean : float or None
        Of a comparison: the means, or totals, over these queries.
    p_value : float or None
        Of a comparison: of "no_regression" how likely a loss as large as this is if there is none; of "no_worse_than"
        how likely a difference as good as this is if the true one is a loss of the margin.
    bound : float or None
        Of a comparison: the one-sided confidence bound of the difference at ``1 - alpha``, of "no_regression" on its
        better side, of "no_worse_than" on its worse side.
    question : str
        Of a comparison: "no_regression" or "no_worse_than"; else empty.
    p_adjusted : float or None
        Of a comparison: the p value that decides, corrected over the strata of the check (Holm).
    detectable : float or None
        Of "no_regression": the smallest loss that a test of so many queries finds with a power of 80 %; None where the
        differences do not vary or are too few.
    reachable : float or None
        Of a threshold: the best value that the judgments allow; None where they set no limit, or it is not known.
    is_beyond : bool
        Whether no ranking can reach the threshold.
    proves_little : bool
        Whether the gate passed, but for reasons that say little of the ranking: `reason` says why.
    by, stratum : str
        The stratum columns and their values in this stratum; empty for all queries.
    confidence_level : float or None
    method : str
        Of the interval that a threshold on its ends is about: its level is higher in strata, so that all of them hold
        at once.
    worst : str
        Of a failed gate: the three queries that pulled the value furthest to the wrong side, with their values, or
        differences from the baseline; empty if it passed, or if all are equal.
    causes : tuple of str
        What `reason` says, as words that a program can look for, such as "unknown", "missed" or "significant".
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
    question: str = ""
    p_adjusted: float | None = None
    detectable: float | None = None
    reachable: float | None = None
    is_beyond: bool = False
    proves_little: bool = False
    by: str = ""
    stratum: str = ""
    confidence_level: float | None = None
    method: str = ""
    worst: str = ""
    causes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        result = f"passed with {rounded(self.value)}" if self.passed else "failed"
        return f"<Check {self.title}: {', '.join(filter(None, (result, self.reason)))}>"

    @property
    def is_regression(self) -> bool:
        """Whether it compares with a baseline."""
        return bool(self.question)

    @property
    def margin(self) -> float:
        """How far it is from failing, below 0 if it failed: of the value, or of a comparison's bound.

        A regression that a correction over strata spares may have a bound below 0, and pass.
        """
        decides = self.value if self.bound is None else self.bound
        return (decides - self.threshold) * (1 if self.operator[0] == ">" else -1)

    @property
    def title(self) -> str:
        """The gate, with its stratum if it has one."""
        return f"{self.gate} [{self.by}: {self.stratum}]" if self.by else self.gate

    @property
    def why(self) -> str:
        """The reason, with the queries that are behind a failure."""
        return "; ".join(filter(None, (self.reason, self.worst)))


@dataclass(frozen=True)
class GateResult(Shown):
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
    languages : tuple of str
        Of the queries, if a table tells several; kept apart unless ``options.pool_languages``.
    evaluation : Evaluation or None
        What was checked.
    together : Reconciled or None
        How evaluation and baseline were brought together, if their judgments differ.
    """

    name: str
    checks: tuple[Check, ...]
    n_queries: int
    baseline: str | None = None
    not_compared: tuple[str, ...] = ()
    options: GateOptions = GateOptions()
    languages: tuple[str, ...] = ()
    evaluation: Evaluation | None = field(default=None, repr=False, compare=False)
    together: Reconciled | None = field(default=None, repr=False, compare=False)

    def __bool__(self) -> bool:
        return self.passed

    def __repr__(self) -> str:
        failed = "; ".join(f"{check.title} ({check.why})" for check in self.failures)
        return f"<GateResult {self.summary}{': ' if failed else ''}{failed}>"

    @property
    def passed(self) -> bool:
        """Whether every check passed, and there is one."""
        return bool(self.checks) and not self.failures

    @property
    def failures(self) -> tuple[Check, ...]:
        """The checks that failed."""
        return tuple(check for check in self.checks if not check.passed)

    @property
    def proving_little(self) -> tuple[Check, ...]:
        """The checks that passed and prove little, as a loss that was not significant for want of queries."""
        return tuple(check for check in self.checks if check.proves_little)

    @property
    def summary(self) -> str:
        """What came of it, in a few words; that a gate passed without proving much comes first."""
        weak, gates = self.proving_little, counted(len(self.checks), "gate")
        if self.failures:
            return f"{self.name}: {len(self.failures)} of {gates} failed"
        more = f", and {len(weak) - 1} more" if len(weak) > 1 else ""
        return f"{self.name}: {gates} passed" + (f", but {weak[0].title} {weak[0].reason}{more}" if weak else "")

    def named_numbers(self) -> Numbers:
        """Give the numbers of :meth:`to_flat` with the parts of their names."""
        yield ("passed",), self.passed
        yield ("n_failed",), len(self.failures)
        for check in self.checks:
            names = (check.gate, *([f"{check.by}: {check.stratum}"] if check.by else []))
            for name in ("value", "margin", "passed", "p_adjusted", "n_queries"):
                yield (*names, name), getattr(check, name)

    def to_polars(self) -> pl.DataFrame:
        """Return a row for each check, with the fields of `Check`; null where there is no number."""
        types = {"float": pl.Float64, "bool": pl.Boolean, "int": pl.Int64, "float | None": pl.Float64}
        schema = {one.name: types.get(str(one.type), pl.String) for one in fields(Check) if one.name != "causes"}
        return frame_of({name: [getattr(check, name) for check in self.checks] for name in schema}, schema)
