"""The result of explain(): which conventions reproduce reported values."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from deadheat.core.data.flat_names import Numbers
from deadheat.core.data.renderable import Renderable
from deadheat.core.wording import escape_invisible, format_count
from deadheat.plugins.compat.reported import Reported
from deadheat.plugins.compat.tools import describe


@dataclass(frozen=True)
class Match:
    """One way to compute measures that gives the reported values.

    Attributes
    ----------
    tool : str
        The tool that is known to compute so; empty if none is.
    settings : dict
        What this way sets, of everything that matters for these measures and data.
    changes : dict
        The settings that are not the tool's usual ones; without a tool, those of the tool that is nearest. Of a tool
        with several tie rules (ranx), none is the usual one.
    nearest : str
        The tool, or the one that computes nearly so.
    values : dict of str to float
        By the name of the measure; of percentages as percentages.
    measures : dict of str to str
        What computes it in deadheat's notation.
    """

    tool: str
    settings: Mapping[str, Any]
    changes: Mapping[str, Any]
    nearest: str
    values: Mapping[str, float]
    measures: Mapping[str, str] = field(repr=False)

    @property
    def value(self) -> float:
        """The value of the first measure."""
        return next(iter(self.values.values()))

    @property
    def description(self) -> str:
        """The settings in words: those that are not the tool's usual ones.

        Of a tool as it is, its tie rule, and what it does with queries that the run lacks.
        """
        shown = self.changes
        if not shown:
            shown = {name: self.settings[name] for name in ("ties", "missing") if name in self.settings}
        if not shown:
            return "as it is"
        return "; ".join(describe(name, value) for name, value in shown.items())


@dataclass(frozen=True)
class Range:
    """What the order of ties alone makes of a measure in deadheat's own reading.

    Attributes
    ----------
    mean, low, high : float
        Of percentages as percentages.
    is_inside : bool
        Whether some order of the ties may give the reported number.
    skips_missing : bool, default False
        Whether queries that the run lacks are left out, as in the likeliest match, or else the nearest way; otherwise
        they count 0.
    """

    mean: float
    low: float
    high: float
    is_inside: bool
    skips_missing: bool = False


@dataclass(frozen=True, repr=False)
class Explanation(Renderable):
    """Which conventions reproduce reported values.

    Attributes
    ----------
    name : str
        Label of the run.
    reported : tuple of Reported
    matches : tuple of Match
        Likeliest first; empty if nothing reproduces the values.
    nearest : tuple of Match
        Without a match, the ways that come nearest.
    n_tried : int
        Ways that were tried: combinations of conventions that differ for these data.
    n_values : int
        Different values among them, of the first measure to its digits.
    chance : float
        The probability that some way fits a number drawn at random between the lowest and the highest value that was
        found; with several measures, about that for all of them.
    fitting : dict of str to int
        For each measure, how many ways fit its number alone.
    ranges : dict of str to Range
        For each measure, what the order of ties alone allows.
    n_queries : int
        Queries of the qrels.
    missing_queries : tuple of str
        Those that the run lacks: some tools count them as 0, others leave them out.
    """

    name: str
    reported: tuple[Reported, ...]
    matches: tuple[Match, ...]
    nearest: tuple[Match, ...]
    n_tried: int
    n_values: int
    chance: float
    fitting: Mapping[str, int]
    ranges: Mapping[str, Range]
    n_queries: int
    missing_queries: tuple[str, ...]

    def __repr__(self) -> str:
        numbers = ", ".join(f"{number.measure.label}={number.text}" for number in self.reported)
        result = "nothing reproduces it"
        if self.matches:
            tools = ", ".join(self.tools) or "no known tool"
            result = f"{format_count(len(self.matches), 'way')} of {self.n_tried:,}, {tools}"
        return escape_invisible(f"<Explanation of {self.name}, {numbers}: {result}>")

    @property
    def tools(self) -> tuple[str, ...]:
        """The tools that give the reported values, likeliest first."""
        names = [match.tool for match in self.matches if match.tool]
        return tuple(dict.fromkeys(names))

    def to_polars(self) -> pl.DataFrame:
        """Return tool, nearest, settings (in words) and the value of each measure, a row for each match."""
        labels = [number.measure.label for number in self.reported]
        rows = []
        for match in self.matches:
            values = [match.values[label] for label in labels]
            rows.append((match.tool or None, match.nearest, match.description, *values))
        schema = dict.fromkeys(("tool", "nearest", "settings"), pl.String) | dict.fromkeys(labels, pl.Float64)
        return pl.DataFrame(rows, schema=schema, orient="row")

    def named_numbers(self) -> Numbers:
        """Give the numbers of :meth:`to_flat` with the parts of their names."""
        yield ("n_matches",), len(self.matches)
        yield ("n_tried",), self.n_tried
        for label, tie_range in self.ranges.items():
            yield (label, "tie_min"), tie_range.low
            yield (label, "tie_max"), tie_range.high
