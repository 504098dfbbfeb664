"""Numbers as somebody wrote them down: their digits, and whether they are percentages."""

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass

from deadheat.errors import ParameterError
from deadheat.measures import Measure, parse_measure
from deadheat.measures.notation import MeasureLike, split_notation

NUMBER = re.compile(r"\s*([+-]?(?=\.?\d)\d*(?:\.(\d*))?(?:[eE]([+-]?\d+))?)\s*(%?)\s*")
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
        return abs(value - self.value) <= max(self.half_unit, FINEST) * SLACK

    @property
    def is_possible(self) -> bool:
        """Whether the measure can have such a value for any data."""
        low, high = self.measure.range
        is_other = self.measure.total or self.measure.geometric  # whose ranges are of queries, and of logarithms
        return is_other or low - self.half_unit <= self.value <= high + self.half_unit

    def printed(self, value: float) -> float:
        """Return what a value would be as reported: of a share, a percentage if this is one."""
        return value * 100 if self.is_percent else value


def reported(measure: MeasureLike, given: float | str) -> Reported:
    """Read a reported number.

    Parameters
    ----------
    measure : measure or str
    given : float or str
        A text keeps the zeros at its end: "0.680" says one digit more than 0.68. With a percent sign, or above the
        highest value that the measure can have and up to 100, it is a percentage.

    Examples
    --------
    >>> one = reported("nDCG@10", "0.6807")
    >>> one.is_printed_from(0.68074), one.is_printed_from(0.68076)
    (True, False)
    >>> reported("nDCG@10", 68.5).value, reported("RR", "50%").is_percent
    (0.685, True)
    """
    parsed, text = parse_measure(measure), str(given).strip()
    match = NUMBER.fullmatch(text)
    if match is None or isinstance(given, bool):
        raise ParameterError(argument="reported", given=given, allowed=f"a number, such as in {EXAMPLE}")
    value = float(match[1])
    if not math.isfinite(value):
        raise ParameterError(argument="reported", given=given, allowed="a finite number")
    half_unit = 0.5 * 10.0 ** (int(match[3] or 0) - len(match[2] or ""))
    low, high = parsed.range
    is_percent = bool(match[4]) or (high == 1 and low == 0 and high < value - half_unit <= 100)
    scale = 100 if is_percent else 1
    return Reported(parsed, text, value / scale, half_unit / scale, is_percent)


def all_reported(given: Iterable[tuple[MeasureLike, float | str]]) -> tuple[Reported, ...]:
    """Read the numbers that were reported for measures, one for each."""
    found = tuple(reported(measure, value) for measure, value in given)
    names = [one.measure for one in found]
    for one in found:
        if names.count(one.measure) > 1:
            raise ParameterError(f"two numbers are reported for {one.measure.label}", argument="reported")
    return found


def read_reported(texts: Iterable[str]) -> list[tuple[str, str]]:
    """Read texts such as ``nDCG@10=0.6807``, several with commas or spaces between, or repeated.

    Examples
    --------
    >>> read_reported(["nDCG(gain='exp')@10=0.68, AP=41.2%"])
    [("nDCG(gain='exp')@10", '0.68'), ('AP', '41.2%')]
    """
    plain = [re.sub(r"\s*=\s*(?=[^=]*$)|\s*=\s*(?=[-+.\d%]+(?:[\s,]|$))", "=", text) for text in texts]
    parts = [part.rpartition("=") for text in plain for part in split_notation(text)]
    for measure, equals, value in parts:
        if not (measure and value):
            raise ParameterError(
                argument="reported", given=measure + equals + value, allowed=f"measures with values, such as {EXAMPLE}"
            )
    return [(measure, value) for measure, _, value in parts]
