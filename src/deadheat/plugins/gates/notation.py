"""Gates as they are written, ``nDCG@10 >= 0.8`` or ``[tool.deadheat.gates]``, and what comes of them: `GateResult`."""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, TypeAlias, cast

import polars as pl

from deadheat.core.checks import as_list, check_choice
from deadheat.core.data.flat_names import Numbers
from deadheat.core.data.renderable import Renderable, make_frame
from deadheat.core.errors import FileFormatError, ParameterError
from deadheat.core.evaluation.evaluation import Evaluation
from deadheat.core.evaluation.reconciling import Reconciled
from deadheat.core.evaluation.shared_weights import SharedWeights
from deadheat.core.io.files import check_readable, decode_utf8, read_all
from deadheat.core.io.values import is_number_text
from deadheat.core.measures.base import Measure
from deadheat.core.measures.custom import StoredMeasure
from deadheat.core.measures.notation import LONGEST, measure_named, parse_measure
from deadheat.core.measures.registration import registered_names
from deadheat.core.scalars import NOISE, ROUNDING
from deadheat.core.wording import (
    did_you_mean,
    escape_invisible,
    format_count,
    format_given,
    format_rounded,
    join_sentences,
)
from deadheat.plugins.gates.settings import GateOptions

QUANTITIES = {
    "mean": "the mean over the queries",
    "low": "the lower end of its confidence interval",
    "high": "the upper end of its confidence interval",
    "tie_min": "the smallest mean over tie orders",
    "tie_max": "the largest mean over tie orders",
    "tie_std": "the standard deviation of the mean over tie orders",
}
LOWER_IS_BETTER = ("tie_std",)  # whatever the measure
EXAMPLE = "'nDCG@10 >= 0.8' or 'low(RR) > 0.7'"

# no "=" before the operator: => is none
GATE = re.compile(r"(?P<left>.*[^=])(?P<operator>>=|<=|>|<)(?P<bound>.*)", re.DOTALL)
EACH = re.compile(r"each\s*\((?P<columns>[^()]*)\)\s*:(?P<rest>.*)", re.DOTALL)
CALL = re.compile(r"(?P<name>\w+)\s*\((?P<inner>.*)\)", re.DOTALL)

TABLE = "tool.deadheat.gates"
FILES = ("baseline", "queries")
COLUMNS = ("weights",)  # of the table of queries
LISTS = {"checks": "gates, such as ['nDCG@10 >= 0.8']", "by": "columns, such as ['language']"}
MOST_POINTS = 1000  # in a line
PLAIN = ("no_regression", "pool_languages", "allow_unknown", "no_worse_than", "alpha", "confidence_level")


PRESETS: dict[str, tuple[str, ...]] = {
    "rag": (
        "P@3 > 0.8",
        "P@5 > 0.7",
        "P@10 > 0.6",
        "R@5 > 0.7",
        "R@10 > 0.9",
        "R@20 > 0.95",
        "F@5 > 0.7",
        "RR > 0.8",
        "nDCG(gain='exp')@5 > 0.85",
        "nDCG(gain='exp')@10 > 0.8",
        "Hit@10 > 0.95",
    ),
}
SOURCES: dict[str, str] = {
    "rag": 'targets of "Ranking Metrics", German notes on retrieval for language models: its'
    " authors' goals, not fixed rules; nDCG with their gain, 2^rel - 1",
}


@dataclass(frozen=True)
class Threshold:
    """A quantity of a measure, and the number that it is compared with.

    Attributes
    ----------
    measure : str
        Its notation.
    quantity : str
        One of `QUANTITIES`.
    operator : {">=", "<=", ">", "<"}
    bound : float
        The number, which a `Check` calls its threshold: the bound of that is the end of an interval.
    by : tuple of str
        The columns of ``each(...)``: the gate is checked within each stratum of queries, not over all queries.
    asked : str
        The name of the measure as it is written, if that is not its notation; gates that differ only in it are equal.
    """

    measure: str
    quantity: str
    operator: str
    bound: float
    by: tuple[str, ...] = ()
    asked: str = field(default="", compare=False)

    def __str__(self) -> str:
        return (f"each({', '.join(self.by)}): " if self.by else "") + self.text

    @property
    def text(self) -> str:
        """The comparison, without the strata."""
        left = self.label if self.quantity == "mean" else f"{self.quantity}({self.label})"
        return f"{left} {self.operator} {self.bound:.15g}"

    @property
    def label(self) -> str:
        """The name of the measure, as it is written."""
        return self.asked or self.measure

    def holds(self, value: float) -> bool:
        """Return whether a value passes; NaN never does. Values that differ only by rounding are equal."""
        if math.isclose(value, self.bound, rel_tol=ROUNDING, abs_tol=NOISE):
            return self.operator in {">=", "<="}
        return value > self.bound if self.operator[0] == ">" else value < self.bound


Gates: TypeAlias = str | Threshold | Iterable[str | Threshold]
"""Gates as users give them: strings, or parsed thresholds."""


def parse_gate(gate: str) -> Threshold:
    """Parse a gate.

    Parameters
    ----------
    gate : str
        ``MEASURE OPERATOR NUMBER`` or ``QUANTITY(MEASURE) OPERATOR NUMBER``; a leading ``each(COLUMN):`` checks it
        within each stratum. A measure that is not in the registry may be a `Custom` one, known only to its evaluation.

    Returns
    -------
    Threshold

    Raises
    ------
    ParameterError
        The gate cannot be parsed.

    Examples
    --------
    >>> threshold = parse_gate("low(P(rel=2)@5) >= .30")
    >>> threshold.quantity, threshold.measure, str(threshold)
    ('low', 'P(rel=2)@5', 'low(P(rel=2)@5) >= 0.3')
    >>> parse_gate("each(language, difficulty): RR > .5").by
    ('language', 'difficulty')
    >>> threshold.holds(0.1 + 0.2), threshold.holds(float("nan"))
    (True, False)
    """
    if not isinstance(cast("object", gate), str):
        raise ParameterError(f"a gate is a string such as {EXAMPLE}", given=gate)
    if len(gate) > LONGEST:
        raise ParameterError(
            f"a gate of {len(gate):,} characters, {format_given(gate)}", allowed=f"{LONGEST:,} or fewer"
        )
    by, compared = split_each(gate.strip())
    is_open = re.match(rf"(?:{'|'.join(QUANTITIES)})\s*\(", compared) and compared.count("(") > compared.count(")")
    if is_open or (parts := GATE.fullmatch(compared)) is None:
        raise ParameterError(
            f"cannot read the gate {gate!r}",
            hint=f"{'close the bracket' if is_open else 'it needs one of >=, <=, >, < and a number'}, as in {EXAMPLE}",
        )
    left, operator, right = parts["left"].strip(), parts["operator"], parts["bound"].strip()
    bound = float(right) if is_number_text(right) else math.nan
    if not math.isfinite(bound):
        raise ParameterError(f"cannot read the gate {gate!r}: {right!r} is not a number; write it like {EXAMPLE}")
    quantity, measure = parse_left(left)
    if not measure:
        raise ParameterError(f"a gate needs a measure, as in {EXAMPLE}")
    named = measure_named(measure)  # None for a custom measure
    return Threshold(str(named or measure), quantity, operator, bound, by, named.asked if named else "")


def split_each(text: str) -> tuple[tuple[str, ...], str]:
    """Return the columns of ``each(...):``, none if it is absent, and the rest of the text."""
    if not re.match(r"each\s*\(", text):
        return (), text
    found = EACH.fullmatch(text)
    columns = tuple(column.strip() for column in found["columns"].split(",")) if found else ()
    if found is None or not all(columns) or len(set(columns)) < len(columns):
        raise ParameterError(f"cannot read {text!r}", hint="strata are written as in 'each(language): nDCG@10 >= 0.8'")
    return columns, found["rest"].strip()


def parse_left(text: str) -> tuple[str, str]:
    """Parse the left side of a gate: the quantity and the name of the measure."""
    call = CALL.fullmatch(text)
    if call is not None and call["name"] in QUANTITIES:
        return call["name"], call["inner"].strip()
    if call is not None and call["name"] not in registered_names() and measure_named(call["inner"]):
        raise ParameterError(
            f"unknown quantity {call['name']!r} in {text!r}",
            hint=join_sentences(did_you_mean(call["name"], QUANTITIES), f"Quantities: {', '.join(QUANTITIES)}"),
        )
    return "mean", text


def parse_all(gates: Gates) -> tuple[Threshold, ...]:
    """Parse one gate or several, some of which may be parsed already; each counts once."""
    if isinstance(gates, str | Threshold):
        gates = (gates,)
    return tuple(
        dict.fromkeys(
            gate if isinstance(gate, Threshold) else parse_gate(gate)
            for gate in as_list("checks", gates, "gates such as 'RR >= 0.8'")
        )
    )


def measures_of(checks: Sequence[Threshold], baseline: Evaluation | None = None) -> list[Measure]:
    """Return the measures to evaluate for gates and for a comparison with a baseline.

    Raises
    ------
    MeasureError
        A gate's measure cannot be parsed.
    """
    wanted: dict[str, Measure] = {}
    for check in checks:
        measure = parse_measure(check.measure)
        wanted.setdefault(measure.label, measure)
    for measure in () if baseline is None else baseline.measures:
        # a name means the same for both: R of spans is another measure than R, until it is evaluated
        if not isinstance(measure, StoredMeasure):
            wanted.setdefault(measure.label, measure)
    return list(dict.fromkeys(wanted.values()))


def has_settings(path: str | Path) -> bool:
    """Tell whether a file is there and has a table of gates."""
    return Path(path).is_file() and _table(Path(path)) is not None


def read_settings(path: str | Path) -> tuple[tuple[str, ...], dict[str, Any]]:
    """Read the gates of a TOML file.

    Parameters
    ----------
    path : path
        The table ``[tool.deadheat.gates]`` has checks (a list), preset, baseline and queries (files, relative to this
        one), by (a list), weights (a column of queries), no_regression, pool_languages and allow_unknown (true or
        false), no_worse_than, alpha and confidence_level.

    Returns
    -------
    checks : tuple of str
        Those of its preset, and its own.
    options : dict
        The arguments of :func:`gate` that it has: by, no_regression and so on; files are named from here.

    Raises
    ------
    ParameterError
        The table is missing, or something in it is wrong.
    DataError
        There is no such file.
    """
    path = check_readable(path)
    table = _table(path)
    if table is None:
        raise ParameterError(
            f"has no table [{TABLE}]", hint=f"write one such as\n\n[{TABLE}]\nchecks = ['nDCG@10 >= 0.8']", path=path
        )
    try:
        checks = [gate for name in _texts(table, "preset") for gate in preset_gates(name)] + _texts(table, "checks")
        for key in table:
            check_choice("each key", key, (*LISTS, "preset", *FILES, *COLUMNS, *PLAIN))
        for check in checks:
            parse_gate(check)
        options: dict[str, Any] = {
            "by": tuple(_texts(table, "by")),
            **{name: str(path.parent / own) for name in FILES for own in _texts(table, name)},
            **{name: column for name in COLUMNS for column in _texts(table, name)},
            **{name: GateOptions.checked(name, table[name]) for name in PLAIN if name in table},
        }
    except ParameterError as error:
        raise ParameterError(f"[{TABLE}]: {error}", path=path) from None
    return tuple(checks), options


def _table(path: Path) -> dict[str, Any] | None:
    text = decode_utf8(read_all(path), path)
    _check_keys(text, path)
    try:
        found: object = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ParameterError(f"is not TOML: {error}", path=path) from None
    except (RecursionError, ValueError) as error:  # thousands of brackets, or of digits
        raise FileFormatError(f"TOML that cannot be read: {error}", path=path) from None
    for key in TABLE.split("."):
        found = found.get(key) if isinstance(found, dict) else None
    if found is not None and not isinstance(found, dict):
        raise ParameterError(f"{TABLE} must be a table", given=found, path=path)
    return found


def _check_keys(text: str, path: Path) -> None:
    """Refuse keys of so many parts that tomllib takes minutes for them: its time is quadratic in their number."""
    for line, content in enumerate(text.split("\n"), 1):
        if (n_points := content.count(".")) > MOST_POINTS:
            raise FileFormatError(
                f"TOML with {n_points:,} points in one line", allowed=f"{MOST_POINTS:,} or less", path=path, line=line
            )


def _texts(table: Mapping[str, Any], key: str) -> list[str]:
    """Return what the table says of a key, one text or, of some keys, a list of them; none where it lacks the key."""
    value = table.get(key, [])
    given = value if isinstance(value, list) and (key in LISTS or key not in table) else [value]
    if any(not isinstance(text, str) for text in given):
        raise ParameterError(f"{key} must be {f'a list of {LISTS[key]}' if key in LISTS else 'a text'}", given=value)
    return given


def preset_gates(name: str) -> tuple[str, ...]:
    """Return the gates of a preset."""
    check_choice("preset", name, PRESETS)
    return PRESETS[name]


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
        Of the quantity; a difference is the evaluation's mean (of a count: total) minus the baseline's, of geometric
        means that of their logarithms, as are `threshold`, `bound` and `detectable` of a comparison.
    operator : {">=", "<=", ">", "<"}
    threshold : float
        What the value is held against; of a comparison the margin, with the sign of a change for the worse.
    passed : bool
    because : str
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
        differences do not vary or are too few, or the measure cannot lose as much.
    reachable : float or None
        Of a threshold: the best value that the judgments allow; None where they set no limit, or it is not known.
    is_beyond : bool
        Whether no ranking can reach the threshold.
    proves_little : bool
        Whether the gate passed, but for reasons that say little of the ranking.
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
        What `because` says, as words that a program can look for, such as "unknown", "missed" or "significant".
    n_units : int or None
        Of a comparison: what its test counts, queries or clusters; by weight what they are worth.
    tie_range : tuple of float, or None
        Of a threshold on a mean or total that some orders of the ties reach and others do not: from what to what the
        value goes over them.
    """

    gate: str
    measure: str
    quantity: str
    value: float
    operator: str
    threshold: float
    passed: bool
    because: str
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
    n_units: int | None = None
    tie_range: tuple[float, float] | None = None

    def __repr__(self) -> str:
        result = f"passed with {format_rounded(self.value)}" if self.passed else "failed"
        return escape_invisible(f"<Check {self.title}: {', '.join(filter(None, (result, self.reason)))}>")

    @property
    def is_regression(self) -> bool:
        """Whether it compares with a baseline, by either question."""
        return bool(self.question)

    @property
    def margin(self) -> float:
        """How far it is from failing, below 0 if it missed its threshold: of the value, or of a comparison's bound.

        What is not known fails with any margin. A regression that a correction over strata spares may have a bound
        below 0, and pass.
        """
        decides = self.value if self.bound is None else self.bound
        return (decides - self.threshold) * (1 if self.operator[0] == ">" else -1)

    @property
    def title(self) -> str:
        """The gate, with its stratum if it has one."""
        return f"{self.gate} [{self.by}: {self.stratum}]" if self.by else self.gate

    @property
    def weakness(self) -> str:
        """What its passing proves, if that is little or nothing; else empty."""
        if not self.proves_little:
            return ""
        return "proves little" if {"unknown", "trivial", "needs"}.isdisjoint(self.causes) else "proves nothing"

    @property
    def reason(self) -> str:
        """Why it failed, or that its passing proves little, and why; else empty."""
        return ": ".join(filter(None, (self.weakness, self.because)))

    @property
    def why(self) -> str:
        """The reason, with the queries that are behind a failure."""
        return "; ".join(filter(None, (self.reason, self.worst)))


@dataclass(frozen=True)
class GateResult(Renderable):
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
    evaluation : Evaluation
        What was checked.
    together : Reconciled or None
        How evaluation and baseline were brought together, if their judgments differ.
    shared_weights : SharedWeights or None
        How the baseline came by the weights of the evaluation, if it had others.
    baseline_file : str
        The name of the baseline's file, where a folder was given; else empty.
    is_unchanged : bool
        Whether every query has the value of the baseline by every measure that was compared, as where the baseline is
        a save of this run itself.
    """

    name: str
    checks: tuple[Check, ...]
    n_queries: int
    baseline: str | None = None
    not_compared: tuple[str, ...] = ()
    options: GateOptions = GateOptions()
    languages: tuple[str, ...] = ()
    evaluation: Evaluation = field(kw_only=True, repr=False, compare=False)
    together: Reconciled | None = field(default=None, repr=False, compare=False)
    shared_weights: SharedWeights | None = field(default=None, repr=False, compare=False)
    baseline_file: str = field(default="", kw_only=True)
    is_unchanged: bool = field(default=False, kw_only=True)

    def __bool__(self) -> bool:
        return self.passed

    def __repr__(self) -> str:
        failed = "; ".join(f"{check.title} ({check.why})" for check in self.failures)
        return escape_invisible(f"<GateResult {self.summary}{': ' if failed else ''}{failed}>")

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
        weak, gates = self.proving_little, format_count(len(self.checks), "gate")
        if self.failures:
            return f"{self.name}: {len(self.failures)} of {gates} failed"
        more = f", and {len(weak) - 1} more" if len(weak) > 1 else ""
        told = f", but {weak[0].title} {weak[0].reason}{more}" if weak else ""
        lost = self.together.left_out if self.together else ()
        return f"{self.name}: {gates} passed{told}" + (f"; not compared: {', '.join(lost)}" if lost else "")

    def named_numbers(self) -> Numbers:
        """Give the numbers of :meth:`to_flat` with the parts of their names."""
        yield ("passed",), self.passed
        yield ("n_failed",), len(self.failures)
        for check in self.checks:
            names = (check.gate, *([f"{check.by}: {check.stratum}"] if check.by else []))
            yield from (
                ((*names, name), getattr(check, name))
                for name in ("value", "margin", "passed", "p_adjusted", "n_queries")
            )

    def to_polars(self) -> pl.DataFrame:
        """Return a row for each check, with the fields of `Check`; null where there is no number."""
        types = {"float": pl.Float64, "bool": pl.Boolean, "int": pl.Int64, "float | None": pl.Float64}
        schema = {
            "reason" if one.name == "because" else one.name: types.get(str(one.type), pl.String)
            for one in fields(Check)
            if one.name not in {"causes", "n_units", "tie_range"}
        }
        return make_frame({name: [getattr(check, name) for check in self.checks] for name in schema}, schema)
