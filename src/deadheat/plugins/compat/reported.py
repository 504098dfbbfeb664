"""Numbers that somebody reported for measures, read to the digits in which they were written."""

import math
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from deadheat.core.errors import ParameterError
from deadheat.core.measures import Measure, parse_measure
from deadheat.core.measures.notation import MeasureLike, split_notation

NUMBER = re.compile(r"\s*([+-]?(?=\.?\d)\d*(?:\.(\d*))?(?:[eE]([+-]?0{0,9}\d{1,2}))?)\s*(%?)\s*")
EQUALS_BEFORE_VALUE = re.compile(r"\s*=\s*(?=[^=]*$)|\s*=\s*(?=[-+.\d%]+(?:[\s,]|$))")  # not those in parentheses
FINEST = 5e-7  # what tools that compute in 32 bits may be off by
SLACK = 1 + 1e-9
EXAMPLE = "nDCG@10=0.6807"


@dataclass(frozen=True)
class Reported:
    """A number that somebody reported for a measure.

    Attributes
    ----------
    measure : Measure
    text : str
        As it was written.
    value : float
        As a share, if it is a percentage.
    half_unit : float
        Half a unit of its last digit: values this close print so.
    is_percent : bool
    """

    measure: Measure
    text: str
    value: float
    half_unit: float
    is_percent: bool

    def is_printed_from(self, value: float) -> bool:
        """Tell whether a value prints as this number, to its digits."""
        return self.is_between(value, value)

    def is_between(self, low: float, high: float) -> bool:
        """Tell whether some value between two prints as this number."""
        distance = max(low - self.value, self.value - high)
        return distance <= max(self.half_unit, FINEST) * SLACK

    @property
    def is_possible(self) -> bool:
        """Whether the measure can have such a value for any data."""
        if self.measure.total or self.measure.geometric:
            return True  # the range of the measure is that of a query, or of a logarithm
        low, high = self.measure.range
        return self.is_between(low, high)

    def to_reported_unit(self, value: float) -> float:
        """Return a value in the unit of this number: of a share, a percentage if this is one."""
        if self.is_percent:
            return value * 100
        return value


def parse_reported(measure: MeasureLike, given: float | str) -> Reported:
    """Read a reported number.

    Parameters
    ----------
    measure : measure or str
    given : float or str
        A text keeps the zeros at its end: "0.680" says one digit more than 0.68. With a percent sign, or above the
        highest value that the measure can have and up to 100, it is a percentage.

    Examples
    --------
    >>> reported = parse_reported("nDCG@10", "0.6807")
    >>> reported.is_printed_from(0.68074), reported.is_printed_from(0.68076)
    (True, False)
    >>> parse_reported("nDCG@10", 68.5).value, parse_reported("RR", "50%").is_percent
    (0.685, True)
    """
    parsed_measure = parse_measure(measure)
    text = str(given).strip()
    match = NUMBER.fullmatch(text)
    value = float(match[1]) if match else math.nan
    if match is None or isinstance(given, bool) or not math.isfinite(value):
        raise ParameterError(argument="reported", given=given, allowed=f"a finite number, such as in {EXAMPLE}")
    decimals, exponent, percent_sign = match[2] or "", int(match[3] or 0), match[4]
    half_unit = 0.5 * 10.0 ** (exponent - len(decimals))
    low, high = parsed_measure.range
    is_above_range = high == 1 and low == 0 and high < value - max(half_unit, FINEST) <= 100
    if percent_sign or is_above_range:
        return Reported(parsed_measure, text, value / 100, half_unit / 100, is_percent=True)
    return Reported(parsed_measure, text, value, half_unit, is_percent=False)


def parse_all_reported(given: Iterable[tuple[MeasureLike, float | str]]) -> tuple[Reported, ...]:
    """Read the numbers that were reported for measures, one for each."""
    numbers = tuple(parse_reported(measure, value) for measure, value in given)
    n_numbers_of = Counter(number.measure for number in numbers)
    for measure, n_numbers in n_numbers_of.items():
        if n_numbers > 1:
            raise ParameterError(f"two numbers are reported for {measure.label}", argument="reported")
    return numbers


def split_reported_texts(texts: Iterable[str]) -> list[tuple[str, str]]:
    """Split texts such as ``nDCG@10=0.6807``, several with commas or spaces between, or repeated.

    Examples
    --------
    >>> split_reported_texts(["nDCG(gain='exp')@10=0.68, AP=41.2%"])
    [("nDCG(gain='exp')@10", '0.68'), ('AP', '41.2%')]
    """
    parts: list[str] = []
    for text in texts:
        without_blanks = EQUALS_BEFORE_VALUE.sub("=", text)
        parts += split_notation(without_blanks)
    pairs: list[tuple[str, str]] = []
    for part in parts:
        measure, _, value = part.rpartition("=")
        if not measure or not value:
            raise ParameterError(argument="reported", given=part, allowed=f"measures with values, such as {EXAMPLE}")
        pairs.append((measure, value))
    return pairs
