"""How confidence intervals were made, and which of them mean little, in words that all reports share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Protocol

from deadheat.core.evaluation.intervals import FEWEST_RESAMPLED, Interval
from deadheat.core.report.cells import DOUBT, Span
from deadheat.core.report.model import Fact, note_fact
from deadheat.core.structures import group_values
from deadheat.core.wording import UNIT, format_count, format_in_brackets, format_list, format_seed

METHODS = {  # in the order in which they are named
    "clopper-pearson": "Clopper-Pearson",
    "gaffke": "Gaffke's bounds",
    "bootstrap-t": "bootstrap-t (no narrower than Student's t)",
    "percentile": "percentile bootstrap",
    "t": "Student's t",
    "skewed-t": "Student's t, corrected for skewness",
    "bca": "BCa bootstrap",
    "ppi": "prediction-powered inference",
}
BOOTSTRAPS = ("bca", "percentile")  # whose intervals of few queries are too narrow: docs/figures/coverage.py
DRAWN = ("bca", "bootstrap-t", "percentile")  # methods whose intervals are of drawn samples
OTHERS = "others"


class Known(Protocol):
    """What has ends that may not be known: an interval, or an estimate with one."""

    @property
    def is_known(self) -> bool:
        """Whether the ends say where the number may lie."""
        ...

    @property
    def unknown(self) -> str:
        """Why the ends are not known; empty if they are."""
        ...


class WithEnds(Known, Protocol):
    """An interval, or something that has one, such as a pair of systems."""

    @property
    def low(self) -> float:
        """The lower end."""
        ...

    @property
    def high(self) -> float:
        """The upper end."""
        ...

    @property
    def method(self) -> str:
        """How the interval was made."""
        ...

    @property
    def n_queries(self) -> int:
        """How many queries it is of."""
        ...

    @property
    def n_clusters(self) -> int | None:
        """How many clusters these are; None without clusters."""
        ...


def interval_cell(interval: WithEnds) -> Span:
    """Return the ends of an interval, or of that of a pair, as a cell."""
    return Span(interval.low, interval.high, interval.is_known)


def describe_methods(methods: Iterable[tuple[str, str]], units: str, n_resamples: int, seed: int | None) -> str:
    """Return how intervals were made.

    Parameters
    ----------
    methods : iterable of (str, str)
        The measure, or whatever else has intervals, and the method of each.
    units : str
        What was resampled.
    n_resamples : int
    seed : int or None
    """
    names_by_method = group_values((method, name) for name, method in dict.fromkeys(methods))
    used_methods = sorted(names_by_method, key=list(METHODS).index)
    descriptions = []
    for method in used_methods:
        description = METHODS[method]
        is_last = method == used_methods[-1]
        if is_last:
            description += f" over {units}"
        if method in DRAWN:
            description += f", {n_resamples:,} resamples{format_seed(seed)}"
        if len(used_methods) > 1:
            names = OTHERS if is_last else format_list(names_by_method[method])
            description = f"{names}: {description}"
        descriptions.append(description)
    return "; ".join(descriptions)


def warn_of_few_units(intervals: Iterable[WithEnds], unit: tuple[str, str] = UNIT) -> str:
    """Return a warning if bootstrap intervals rest on few queries or clusters, or an empty string.

    Those that cannot be known are not counted: `tell_unknown_intervals` reports them.
    """
    sizes = []
    for interval in intervals:
        if not interval.is_known or interval.method not in BOOTSTRAPS:
            continue
        if interval.n_clusters is None:
            sizes.append((interval.n_queries, *unit))
        else:
            sizes.append((interval.n_clusters, "cluster", "clusters"))
    if not sizes:
        return ""
    number, noun, plural = min(sizes)
    return warn_of_narrow_bootstrap(number, noun, plural)


def warn_of_narrow_bootstrap(number: int, noun: str, plural: str) -> str:
    """Return the warning of a bootstrap of so few queries or clusters, or an empty string where they are enough."""
    if number >= FEWEST_RESAMPLED:
        return ""
    return (
        f"a bootstrap of {format_count(number, noun, plural)} gives intervals that are too narrow: the method auto is"
        " better there"
    )


def tell_unknown_intervals(named_intervals: Iterable[tuple[str, Known]]) -> Iterator[Fact]:
    """Say which intervals have a question mark, and why; and of which means the values are so skewed that they may.

    Parameters
    ----------
    named_intervals : iterable of (str, Known)
        All that have ends, with what they are of.
    """
    all_intervals = list(named_intervals)
    unknown = [(interval.unknown, name) for name, interval in all_intervals if not interval.is_known]
    names_by_reason = group_values(unknown)
    have_one_reason = len(names_by_reason) == 1 and len(unknown) == len(all_intervals)
    reasons = []
    for reason, names in names_by_reason.items():
        reasons.append(reason if have_one_reason else reason + format_in_brackets(names, "interval"))
    text = brief = ""
    if reasons:
        text = f"cannot be known: {'; '.join(reasons)}"
        brief = f"cannot be known: {'; '.join(names_by_reason)}"
    yield note_fact(DOUBT, text, brief=brief)
    yield _tell_skewed(all_intervals)


def _tell_skewed(named_intervals: Iterable[tuple[str, Known]]) -> Fact:
    """Name the means of values so skewed that their intervals may be too narrow."""
    skewed = []
    for name, interval in named_intervals:
        if isinstance(interval, Interval) and interval.doubtful:
            skewed.append(f"{name}: {interval.skewness:+.1f}")
    if not skewed:
        return note_fact("skewed", "")
    brief = "so few values may lack the rare extreme ones: intervals may cover less than they say"
    return note_fact("skewed", brief + format_in_brackets(skewed, "interval"), brief=brief)
