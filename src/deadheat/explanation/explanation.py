"""Explanation and its matches: the conventions under which a run has the values that were reported."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from deadheat.data.flat import Numbers
from deadheat.data.shown import Shown
from deadheat.explanation.reported import Reported
from deadheat.explanation.settings import describe
from deadheat.wording import counted


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
    def told(self) -> str:
        """The settings in words: those that are not the tool's usual ones.

        Of a tool as it is, its tie rule, and what it does with queries that the run lacks.
        """
        usual = {name: self.settings[name] for name in ("ties", "missing") if name in self.settings}
        said = self.changes or usual
        return "; ".join(describe(name, value) for name, value in said.items()) or "as it is"


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
class Explanation(Shown):
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
        given = ", ".join(f"{one.measure.label}={one.text}" for one in self.reported)
        tools = ", ".join(dict.fromkeys(one.tool for one in self.matches if one.tool)) or "no known tool"
        found = f"{counted(len(self.matches), 'way')} of {self.n_tried:,}, {tools}"
        return f"<Explanation of {self.name}, {given}: {found if self.matches else 'nothing reproduces it'}>"

    @property
    def tools(self) -> tuple[str, ...]:
        """The tools that give the reported values, likeliest first."""
        return tuple(dict.fromkeys(one.tool for one in self.matches if one.tool))

    def to_polars(self) -> pl.DataFrame:
        """Return tool, nearest, settings (in words) and the value of each measure, a row for each match."""
        names = [one.measure.label for one in self.reported]
        schema: dict[str, type[pl.DataType]] = {
            "tool": pl.String,
            "nearest": pl.String,
            "settings": pl.String,
            **dict.fromkeys(names, pl.Float64),
        }
        rows = [
            (one.tool or None, one.nearest, one.told, *(one.values[name] for name in names)) for one in self.matches
        ]
        return pl.DataFrame(rows, schema=schema, orient="row")

    def named_numbers(self) -> Numbers:
        """Give the numbers of :meth:`to_flat` with the parts of their names."""
        yield ("n_matches",), len(self.matches)
        yield ("n_tried",), self.n_tried
        for name, found in self.ranges.items():
            yield (name, "tie_min"), found.low
            yield (name, "tie_max"), found.high
