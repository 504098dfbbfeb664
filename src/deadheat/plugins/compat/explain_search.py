"""The search for conventions: all ways in which tools would compute some measures of a run, with their values."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations, product
from typing import Any

import numpy as np

from deadheat.core.arrays import BoolArray, FloatArray, is_member
from deadheat.core.measures import Measure
from deadheat.core.placements.placements import Placements
from deadheat.plugins.compat.explanation import Match
from deadheat.plugins.compat.judged_run import JudgedRun
from deadheat.plugins.compat.reported import Reported
from deadheat.plugins.compat.tools import WORDS, Tool, ToolSettings, entries_of, open_settings, under, values_of

DEPTHS = (5, 10, 20, 50, 100, 1000)  # at which lists are usually cut
SCALES = (4,)  # up to which relevance a tool's ERR goes, whatever the judgments are
MOST_LEVELS = 8  # of relevance that are tried as the lowest relevant one
MOST_OPTIONS = 2  # of a tool that somebody is thought to have set
SAME_DECIMALS = 12  # to which values are the same
# settings that matter for every measure
SETTINGS_OF_LISTS = (
    "ties",
    "score_precision",
    "depth",
    "judged_only",
    "judgments",
    "identical_ids",
    "missing",
    "no_relevant",
)


@dataclass(frozen=True)
class Candidate:
    """Changes of what a tool does, to be tried.

    Attributes
    ----------
    tool_name : str
        Empty if the changes are no options of the tool.
    entries : tuple of Tool
        What the tool does for each measure.
    changes : dict
        The settings that are changed, by their names.
    """

    tool_name: str
    entries: tuple[Tool, ...]
    changes: Mapping[str, Any]


@dataclass(frozen=True)
class Way:
    """One way to compute all measures, with what it gives.

    Attributes
    ----------
    tool : str
        Empty if no tool is known to compute so.
    nearest : tuple of Tool
        What the tool, or the nearest one, does for each measure.
    settings : tuple of ToolSettings
        Of each measure.
    values : tuple of float
    """

    tool: str
    nearest: tuple[Tool, ...]
    settings: tuple[ToolSettings, ...]
    values: tuple[float, ...]


@dataclass(frozen=True)
class QueryValues:
    """A measure's values by query, each of shape (n_queries,).

    Attributes
    ----------
    values : ndarray of float
        NaN where there is none.
    has_relevant : ndarray of bool
    """

    values: FloatArray
    has_relevant: BoolArray


@dataclass(frozen=True, eq=False)
class Search:
    """The ways to compute some measures of a run.

    Attributes
    ----------
    judged : JudgedRun
    numbers : tuple of Reported
        One for each measure.
    """

    judged: JudgedRun
    numbers: tuple[Reported, ...]
    _query_values: dict[object, QueryValues] = field(default_factory=dict, repr=False)  # computed so far

    @cached_property
    def levels(self) -> list[float]:
        """The relevance above 0 that occurs, ascending."""
        levels = np.unique(self.judged.plain.judged_relevance)
        return levels[levels > 0].tolist()

    @cached_property
    def choices(self) -> dict[str, Sequence[Any]]:
        """What each setting can be, where it matters for these measures and data; the first is the usual one."""
        relevant_settings = set(SETTINGS_OF_LISTS)
        for number in self.numbers:
            relevant_settings.update(open_settings(number.measure))
        choices = self._list_choices()
        for name, values in choices.items():
            if name not in relevant_settings:
                choices[name] = values[:1]
        return choices

    def _list_choices(self) -> dict[str, Sequence[Any]]:
        """Return what each setting can be for these data, whatever the measures are; the first is the usual one."""
        judged = self.judged
        placements = judged.plain
        longest = int(placements.n_retrieved.max(initial=0))
        has_unjudged = len(placements.query) < int(placements.n_retrieved.sum())
        has_grades = any(level != 1 for level in self.levels)
        highest = max(self.levels, default=0)
        lowest_relevant = [1.0]
        lowest_relevant += [level for level in self.levels if level != 1]
        return {
            "ties": judged.ties,
            "score_precision": judged.precisions,
            "depth": [None, *(depth for depth in DEPTHS if depth < longest)],
            "judged_only": [False, True] if has_unjudged else [False],
            "judgments": judged.judgments,
            "identical_ids": ["kept"] if judged.without_identical is None else ["kept", "dropped"],
            "missing": ["empty", "skip"] if placements.missing.any() else ["empty"],
            "no_relevant": self._list_choices_of_no_relevant(),
            "rel": lowest_relevant[:MOST_LEVELS],
            "gain": list(WORDS["gain"]) if has_grades else ["linear"],
            "discount": list(WORDS["discount"]),
            "ideal": list(WORDS["ideal"]),
            "ap_norm": list(WORDS["ap_norm"]),
            "p_norm": list(WORDS["p_norm"]),
            "r_norm": list(WORDS["r_norm"]),
            "max_rel": [None, *(scale for scale in SCALES if scale > highest)],
        }

    def _list_choices_of_no_relevant(self) -> list[str]:
        """Return how queries without a relevant document can count; only as 0 if each query has one."""
        choices = ["zero"]
        if self._lacks_relevant():
            choices += ["skip", "one"]
        if self.judged.unanswerable:
            choices.append("answerable")
        return choices

    def _lacks_relevant(self) -> bool:
        """Tell whether a query has no relevant document, by some measure and some lowest relevant level."""
        for number in self.numbers:
            for rel in self.levels[:MOST_LEVELS] or [1]:
                measure = under(number.measure, ToolSettings(rel=rel), self.levels)
                if not measure.has_relevant(self.judged.plain).all():
                    return True
        return False

    def ways(self) -> Iterator[Way]:
        """Give all ways, likeliest first; of those of a tool that give the same values, the simplest.

        Settings that no tool is known to have are given only if no tool gives their values.
        """
        seen_values: set[tuple[float, ...]] = set()
        seen_values_of_tools: dict[str, set[tuple[float, ...]]] = {}
        for candidate in self._list_candidates():
            way = self._compute(candidate)
            if any(map(math.isnan, way.values)):
                continue
            seen = seen_values
            if way.tool:
                seen = seen_values_of_tools.setdefault(way.tool, set())
            if way.values in seen:
                continue
            seen.add(way.values)
            seen_values.add(way.values)
            yield way

    def _list_candidates(self) -> Iterator[Candidate]:
        """Give what is tried, likeliest first."""
        # the tools that compute all measures, those with fewer options set first
        for n_set in range(MOST_OPTIONS + 1):
            for entries in self._tools:
                for changes in _combine(self._list_options(entries), n_set):
                    yield Candidate(entries[0].name, entries, changes)
        # settings that no tool is known to have, but that are near one: first one change of any tool, then two changes
        # of those that most people use
        choices = dict(self.choices)
        choices["judgments"] = [judgments for judgments in choices["judgments"] if judgments != "above 0"]
        for entries in self._tools:
            for changes in _combine(choices, 1):
                yield Candidate("", entries, changes)
        for entries in self._tools:
            if entries[0].name in {"trec_eval", "deadheat"}:
                for changes in _combine(choices, 2):
                    yield Candidate("", entries, changes)

    def _compute(self, candidate: Candidate) -> Way:
        """Compute all measures as a candidate does."""
        settings_of_measures: list[ToolSettings] = []
        values: list[float] = []
        for number, tool in zip(self.numbers, candidate.entries, strict=True):
            changes = candidate.changes
            if candidate.tool_name:  # of several measures only some may have an option of the tool
                changes = {name: value for name, value in changes.items() if name in tool.options}
            settings = self._simplify(replace(tool.settings, **changes))
            settings_of_measures.append(settings)
            values.append(round(self._compute_mean(number.measure, settings), SAME_DECIMALS))
        return Way(candidate.tool_name, candidate.entries, tuple(settings_of_measures), tuple(values))

    def _list_options(self, tools: Sequence[Tool]) -> dict[str, list[Any]]:
        """Return what each option of a tool can be."""
        options: dict[str, list[Any]] = {}
        for tool in tools:
            for name in tool.options:
                choices = self.choices[name]
                allowed = tool.words.get(name, choices)
                options[name] = [value for value in choices if value in allowed]
        return options

    @cached_property
    def _tools(self) -> list[tuple[Tool, ...]]:
        """What each tool does for the measures, if it computes all of them, for these judgments and ties."""
        measures = [number.measure for number in self.numbers]
        return [entries for entries in entries_of(measures) if self._fits_data(entries)]

    def _fits_data(self, entries: Sequence[Tool]) -> bool:
        """Tell whether the tie rules of a tool are repeated here, and its scale goes up to the highest relevance."""
        rules = self.choices["ties"]
        highest = max(self.levels, default=0)
        for tool in entries:
            if len(rules) > 1 and tool.settings.ties not in rules:
                return False
            if tool.settings.max_rel is not None and highest > tool.settings.max_rel:
                return False
        return True

    def _simplify(self, settings: ToolSettings) -> ToolSettings:
        """Return settings with the usual value wherever it makes no difference for these measures and data."""
        if settings.judgments == "above 0" and "above 0" not in self.choices["judgments"]:
            settings = replace(settings, judgments="retrieved")
        usual_values: dict[str, Any] = {}
        for name, values in self.choices.items():
            if len(values) == 1 or getattr(settings, name) not in values:
                usual_values[name] = values[0]
        return replace(settings, **usual_values)

    def _compute_mean(self, measure: Measure, settings: ToolSettings) -> float:
        """Return the mean of a measure over the queries that count; NaN if there is none."""
        placements = self.judged.place(settings)
        if placements is None:
            return math.nan
        measure = under(measure, settings, self.levels)
        by_query = self._compute_by_query(measure, settings, placements)
        values = by_query.values
        is_counted = ~np.isnan(values)
        if settings.missing == "skip":
            is_counted &= ~self.judged.plain.missing
        if settings.no_relevant == "skip":
            is_counted &= by_query.has_relevant
        elif settings.no_relevant == "answerable" and measure.asks_for_relevant:
            unanswerable = np.array(self.judged.unanswerable, object)
            is_counted &= ~is_member(placements.query_ids, unanswerable)
        elif settings.no_relevant == "one" and measure.asks_for_relevant:
            if not measure.is_share:
                return math.nan
            values = np.where(by_query.has_relevant, values, 1.0)
        counted_values = values[is_counted]
        if not len(counted_values):
            return math.nan
        result = counted_values.sum() if measure.total else counted_values.mean()
        return float(measure.level_of(result))

    def _compute_by_query(self, measure: Measure, settings: ToolSettings, placements: Placements) -> QueryValues:
        """Return a measure's values by query; they are computed once for the same measure, divisors and placements."""
        # `JudgedRun` keeps its placements, so that an id is that of the same ones
        key = (measure, settings.ideal, settings.ap_norm, settings.p_norm, settings.r_norm, id(placements))
        if key not in self._query_values:
            values = values_of(measure, settings, placements)
            self._query_values[key] = QueryValues(values, measure.has_relevant(placements))
        return self._query_values[key]

    def match(self, way: Way) -> Match:
        """Return a way as it is shown: only settings that can differ, and what is changed of the tool."""
        shown_names = [name for name, values in self.choices.items() if len(values) > 1]
        first_settings = way.settings[0]
        tool_name = way.nearest[0].name
        shown_settings = {name: getattr(first_settings, name) for name in shown_names}
        changes: dict[str, Any] = {}
        values: dict[str, float] = {}
        notations: dict[str, str] = {}
        for number, settings, value, tool in zip(self.numbers, way.settings, way.values, way.nearest, strict=True):
            label = number.measure.label
            if settings != first_settings:
                differences = settings.differences(first_settings)
                shown_settings[label] = {name: differences[name] for name in differences if name in shown_names}
            changes |= settings.differences(self._simplify(tool.settings))
            values[label] = number.to_reported_unit(value)
            notations[label] = str(under(number.measure, settings, self.levels))
        # a tool with several tie rules has no usual one
        rules = {entries[0].settings.ties for entries in self._tools if entries[0].name == tool_name}
        if "ties" not in changes and len(rules) > 1:
            changes = {"ties": first_settings.ties, **changes}
        return Match(
            tool=way.tool,
            settings=shown_settings,
            changes=changes,
            nearest=tool_name,
            values=values,
            measures=notations,
        )


def _combine(choices: Mapping[str, Sequence[Any]], n_settings: int) -> Iterator[dict[str, Any]]:
    """Give all values of each `n_settings` settings."""
    for names in combinations(choices, n_settings):
        for values in product(*(choices[name] for name in names)):
            yield dict(zip(names, values, strict=True))
