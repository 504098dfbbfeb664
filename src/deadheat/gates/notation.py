"""Parse gates: ``nDCG@10 >= 0.8``, ``low(RR) > 0.7``."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TypeAlias, cast

from deadheat.errors import MeasureError, ParameterError
from deadheat.io.values import is_number
from deadheat.measures import parse_measure
from deadheat.measures.base import ALIASES, REGISTRY
from deadheat.measures.notation import LONGEST
from deadheat.wording import Asked, as_given, did_you_mean, joined

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
EQUAL = 1e-12  # relative: two numbers closer than this are equal in theory

OPERATORS = (">=", "<=", ">", "<")
GATE = re.compile(r"(?P<left>.+)(?P<operator>>=|<=|>|<)(?P<bound>.*)", re.DOTALL)
EACH = re.compile(r"each\s*\((?P<columns>[^()]*)\)\s*:(?P<rest>.*)", re.DOTALL)
CALL = re.compile(r"(?P<name>\w+)\s*\((?P<inner>.*)\)", re.DOTALL)


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
    by : tuple of str
        The columns of ``each(...)``: the gate is checked within each stratum of queries, not over all queries.
    asked : str
        The name of the measure as it is written, if that is not its notation; gates that differ in it are equal.
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
        return Asked(self.asked, self.measure) if self.asked else self.measure

    def holds(self, value: float) -> bool:
        """Return whether a value passes; NaN never does. Values that differ only by rounding are equal."""
        if math.isclose(value, self.bound, rel_tol=EQUAL, abs_tol=EQUAL):
            return self.operator in {">=", "<="}
        return value > self.bound if self.operator[0] == ">" else value < self.bound


Gates: TypeAlias = "str | Threshold | Iterable[str | Threshold]"
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
        raise ParameterError(f"a gate of {len(gate):,} characters, {as_given(gate)}", allowed=f"{LONGEST:,} or fewer")
    by, compared = split_each(gate.strip())
    parts = GATE.fullmatch(compared)
    if parts is None:
        raise ParameterError(
            f"cannot read the gate {gate!r}",
            hint=f"it needs one of {', '.join(OPERATORS)} and a number, as in {EXAMPLE}",
        )
    left, operator, right = parts["left"].strip(), parts["operator"], parts["bound"].strip()
    bound = float(right) if is_number(right) else math.nan
    if not math.isfinite(bound):
        raise ParameterError(f"cannot read the gate {gate!r}: {right!r} is not a number; write it like {EXAMPLE}")
    quantity, measure = parse_left(left)
    asked = str(measure) if isinstance(measure, Asked) else ""
    return Threshold(getattr(measure, "notation", measure), quantity, operator, bound, by, asked)


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
        return call["name"], _canonical(call["inner"].strip())
    if call is not None and call["name"] not in {*REGISTRY, *ALIASES} and _parsed(call["inner"]):
        raise ParameterError(
            f"unknown quantity {call['name']!r} in {text!r}",
            hint=joined(did_you_mean(call["name"], QUANTITIES), f"Quantities: {', '.join(QUANTITIES)}"),
        )
    return "mean", _canonical(text)


def parse_all(gates: Gates) -> tuple[Threshold, ...]:
    """Parse one gate or several, some of which may be parsed already; each counts once."""
    if isinstance(gates, str | Threshold):
        gates = (gates,)
    return tuple(dict.fromkeys(gate if isinstance(gate, Threshold) else parse_gate(gate) for gate in gates))


def _canonical(notation: str) -> str:
    """Return a measure's name as it prints; what cannot be parsed may be the name of a custom measure."""
    if not notation:
        raise ParameterError(f"a gate needs a measure, as in {EXAMPLE}")
    return _parsed(notation) or notation


def _parsed(notation: str) -> str | None:
    """Return a measure's name as it prints; None if it cannot be parsed."""
    try:
        return parse_measure(notation).label
    except MeasureError:
        return None
