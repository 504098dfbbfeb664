"""explain(): the conventions that tools really use, searched for those that give a reported value."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, combinations, product
from typing import Any

import numpy as np

from deadheat.arrays import BoolArray, FloatArray
from deadheat.data.tables import Qrels, Run, Source
from deadheat.evaluation.evaluate import keys_of
from deadheat.evaluation.scores import Scores, TieSpread
from deadheat.explanation.explanation import Explanation, Match, Range
from deadheat.explanation.lists import Lists
from deadheat.explanation.readings import open_settings, under, values_of
from deadheat.explanation.reported import Reported, all_reported
from deadheat.explanation.settings import DISCOUNTS, GAINS, IDEALS, Settings
from deadheat.explanation.tools import Tool, entries_of
from deadheat.measures import Measure
from deadheat.measures.notation import MeasureLike
from deadheat.placements.place import open_pair

DEPTHS = (5, 10, 20, 50, 100, 1000)  # at which lists are usually cut
SCALES = (4,)  # up to which relevance a tool's ERR goes, whatever the judgments are
LEVELS = 8  # of relevance that are tried as the lowest relevant one
N_NEAREST = 3
MOST_OPTIONS = 2  # of a tool that somebody is thought to have set
ROUNDLY = {"trec_eval", "deadheat"}  # tools of which two settings are changed at once
SAME = 12  # decimals to which values are the same
ALWAYS = ("ties", "score_precision", "depth", "judged_only", "judgments", "missing", "no_relevant")


def explain(
    qrels: Source,
    run: Source,
    reported: Mapping[MeasureLike, float | str],
    *,
    check_duplicates: bool = True,
    ascending: bool = False,
    then_by: Source | Sequence[Source] | None = None,
) -> Explanation:
    """Find the conventions under which a run has the values that somebody reported.

    Tools break ties in different ways, keep 32 or 64 bits of a score, have different gains, ideals and divisors, and
    count or leave out queries. All that known tools do is tried, each with its options, and every change of one
    setting of a tool; of two settings for trec_eval and deadheat.

    Parameters
    ----------
    qrels, run : path, dict of dict, dataframe, Qrels or Run
        As for :func:`deadheat.evaluate`; under ``"input"`` ties are in the order of the run.
    reported : dict of measure to float or str
        A value is reproduced if it is the reported one to its digits. A text keeps zeros at its end, as "0.680"; one
        above the range of its measure and up to 100, or with a percent sign, is a percentage. Parameters that a
        measure names are as they are: ``"AP(rel=2)"``.
    check_duplicates : bool, default True
        Whether to look for repeated (query, document) pairs.
    ascending : bool, default False
        Lower scores rank first, as of distances.
    then_by : run or list of runs, optional
        As for :func:`deadheat.evaluate`.

    Returns
    -------
    Explanation
        ``.matches``, likeliest first, each with ``.tool``, ``.settings`` and ``.value``.

    Raises
    ------
    ParameterError
        Nothing is reported, or it is no number.
    DataError
        The data cannot be evaluated.

    Examples
    --------
    >>> qrels, run = {"q": {"a": 1, "c": 1}}, {"q": {"a": 0.5, "b": 0.5, "c": 0.1}}
    >>> explain(qrels, run, {"RR": "0.50"}).matches[0].tool
    'trec_eval'
    >>> explain(qrels, run, {"RR": 0.75}).tools
    ('deadheat',)
    >>> explain(qrels, run, {"RR": 0.2})
    <Explanation of run, RR=0.2: nothing reproduces it>
    """
    wanted = all_reported(reported)
    keys = keys_of(run, then_by)
    judged, retrieved = open_pair(qrels, run, check_duplicates=check_duplicates, ascending=ascending)
    if keys:
        retrieved = retrieved.then_by(*keys)
    return explain_reported(judged, retrieved, wanted)


def explain_reported(qrels: Qrels, run: Run, wanted: Sequence[Reported]) -> Explanation:
    """Do what :func:`explain` does, for data and numbers that are read already, without a check for duplicates."""
    search = Search(Lists(qrels, run), tuple(wanted))
    found = list(search.ways())
    fitting = [one for one in found if one.fits(wanted)]
    away = sorted(found, key=lambda one: one.distance(wanted))
    likeliest = next(iter(fitting or away), None)
    names = [one.measure.label for one in wanted]
    printed = [np.array([one.values[n] for one in found]) for n in range(len(wanted))]
    return Explanation(
        run.name,
        tuple(wanted),
        tuple(search.match(one) for one in fitting),
        () if fitting else tuple(search.match(one) for one in away[:N_NEAREST]),
        len(found),
        len(set(_digits(printed[0], wanted[0]).tolist())) if found else 0,
        math.prod(_chance(values, one) for values, one in zip(printed, wanted, strict=True)) if found else 0.0,
        {
            name: sum(one.is_printed_from(way.values[n]) for way in found)
            for n, (name, one) in enumerate(zip(names, wanted, strict=True))
        },
        {
            name: search.tie_range(one, skips_missing=_skips_missing(likeliest, n))
            for n, (name, one) in enumerate(zip(names, wanted, strict=True))
        },
        search.n_queries,
        search.missing_queries,
    )


@dataclass(frozen=True)
class Way:
    """One way to compute all measures, with what it gives.

    Attributes
    ----------
    tool : str
        Empty if no tool is known to compute so.
    nearest : tuple of Tool
        What the tool, or the nearest one, does for each measure.
    settings : tuple of Settings
        Of each measure.
    values : tuple of float
    """

    tool: str
    nearest: tuple[Tool, ...]
    settings: tuple[Settings, ...]
    values: tuple[float, ...]

    def fits(self, wanted: Sequence[Reported]) -> bool:
        """Tell whether all values print as they were reported."""
        return all(one.is_printed_from(value) for one, value in zip(wanted, self.values, strict=True))

    def distance(self, wanted: Sequence[Reported]) -> float:
        """Return how far the value that is furthest away is from what was reported."""
        return max(abs(value - one.value) for one, value in zip(wanted, self.values, strict=True))


class Search:
    """The ways to compute some measures of a run.

    Parameters
    ----------
    lists : Lists
    wanted : tuple of Reported
    """

    def __init__(self, lists: Lists, wanted: tuple[Reported, ...]) -> None:
        self._lists, self._wanted = lists, wanted
        self._measures = [one.measure for one in wanted]
        self._by_query: dict[object, tuple[FloatArray, BoolArray]] = {}

    @cached_property
    def levels(self) -> list[float]:
        """The relevance above 0 that occurs, ascending."""
        found: list[float] = np.unique(self._lists.plain.judged_relevance).tolist()
        return [one for one in found if one > 0]

    @cached_property
    def choices(self) -> dict[str, Sequence[Any]]:
        """What each setting can be, where it matters for these measures and data; the first is the usual one."""
        lists, plain = self._lists, self._lists.plain
        longest = int(plain.n_retrieved.max(initial=0))
        are_graded = [one for one in self.levels if one not in {0, 1}]
        known: dict[str, Sequence[Any]] = {
            "ties": lists.ties,
            "score_precision": lists.precisions,
            "depth": [None, *(one for one in DEPTHS if one < longest)],
            "judged_only": [False, True] if len(plain.query) < int(plain.n_retrieved.sum()) else [False],
            "judgments": lists.judgments,
            "missing": ["empty", "skip"] if plain.missing.any() else ["empty"],
            "no_relevant": ["zero", "skip"] if self._some_lack_relevant else ["zero"],
            "rel": [1.0, *(one for one in self.levels if one != 1)][:LEVELS],
            "gain": [*GAINS] if are_graded else ["linear"],
            "discount": [*DISCOUNTS],
            "ideal": [*IDEALS],
            "ap_norm": ["R", "min", "retrieved", "steps"],
            "p_norm": ["k", "retrieved"],
            "r_norm": ["R", "min"],
            "max_rel": [None, *(one for one in SCALES if one > max(self.levels, default=0))],
        }
        mattering = {*ALWAYS, *(name for one in self._measures for name in open_settings(one))}
        return {name: values if name in mattering else values[:1] for name, values in known.items()}

    @cached_property
    def _some_lack_relevant(self) -> bool:
        plain = self._lists.plain
        return any(
            not under(one, Settings(rel=rel), self.levels).has_relevant(plain).all()
            for one in self._measures
            for rel in self.levels[:LEVELS] or [1]
        )

    def ways(self) -> Iterator[Way]:
        """Give all ways, likeliest first; of those of a tool that give the same values, the simplest."""
        seen: dict[str, set[tuple[float, ...]]] = {}
        known: set[tuple[float, ...]] = set()
        for name, entries, changes in chain(self._of_tools(), self._near_tools()):
            settings = tuple(self._canonical(tool.settings, changes, tool if name else None) for tool in entries)
            values = self._values(settings)
            own = known if not name else seen.setdefault(name, set())
            if values is None or values in own:
                continue
            own.add(values)
            known.add(values)
            yield Way(name, entries, settings, values)

    def _of_tools(self) -> Iterator[tuple[str, tuple[Tool, ...], dict[str, Any]]]:
        """Give the tools that compute all measures, with their options; those with fewer options set first."""
        for n_set in range(MOST_OPTIONS + 1):
            for entries in self._tools:
                options = dict.fromkeys(name for tool in entries for name in tool.options)
                for names in combinations(options, n_set):
                    for values in product(*(self.choices[name] for name in names)):
                        yield entries[0].name, entries, dict(zip(names, values, strict=True))

    @cached_property
    def _tools(self) -> list[tuple[Tool, ...]]:
        """What each tool does for the measures, if it computes all of them, for these judgments and ties."""
        rules, highest = self.choices["ties"], max(self.levels, default=0)
        return [
            entries
            for entries in entries_of(self._measures)
            if (len(rules) == 1 or all(tool.settings.ties in rules for tool in entries))
            and all(tool.settings.max_rel is None or highest <= tool.settings.max_rel for tool in entries)
        ]

    def _near_tools(self) -> Iterator[tuple[str, tuple[Tool, ...], dict[str, Any]]]:
        """Give the settings that no tool is known to have, but that are near one."""
        for n_changed, tools in ((1, self._tools), (2, [one for one in self._tools if one[0].name in ROUNDLY])):
            for entries in tools:
                known = self.choices | {"judgments": [one for one in self.choices["judgments"] if one != "above 0"]}
                for names in combinations(known, n_changed):
                    for values in product(*(known[name] for name in names)):
                        yield "", entries, dict(zip(names, values, strict=True))

    def _canonical(self, settings: Settings, changes: dict[str, Any], tool: Tool | None) -> Settings:
        """Return changed settings, with the usual value wherever it makes no difference for these measures and data.

        Of a tool only its options are changed.
        """
        own = {name: value for name, value in changes.items() if tool is None or name in tool.options}
        changed = settings.changed(own)
        if changed.judgments == "above 0" and "above 0" not in self.choices["judgments"]:
            changed = changed.changed({"judgments": "retrieved"})
        usual = {
            name: values[0]
            for name, values in self.choices.items()
            if len(values) == 1 or getattr(changed, name) not in values
        }
        return changed.changed(usual)

    def _values(self, settings: Sequence[Settings]) -> tuple[float, ...] | None:
        found = [self._value(n, own) for n, own in enumerate(settings)]
        return None if any(map(math.isnan, found)) else tuple(round(value, SAME) for value in found)

    def _value(self, number: int, settings: Settings) -> float:
        """Return the mean of a measure over the queries that count; NaN if there is none."""
        placements = self._lists.place(settings)
        if placements is None:
            return math.nan
        measure = under(self._measures[number], settings, self.levels)
        key = (measure, settings.ideal, settings.ap_norm, settings.p_norm, settings.r_norm, id(placements))
        if key not in self._by_query:
            self._by_query[key] = (values_of(measure, settings, placements), measure.has_relevant(placements))
        values, has_relevant = self._by_query[key]
        counts = ~np.isnan(values)
        if settings.missing == "skip":
            counts = counts & ~self._lists.plain.missing
        if settings.no_relevant == "skip":
            counts = counts & has_relevant
        return _mean(measure, values[counts])

    def match(self, way: Way) -> Match:
        """Return a way as it is shown."""
        mattering = [name for name, values in self.choices.items() if len(values) > 1]
        names = [one.label for one in self._measures]
        first = way.settings[0]
        settings = {name: getattr(first, name) for name in mattering}
        changes: dict[str, Any] = {}
        for name, own, tool in zip(names, way.settings, way.nearest, strict=True):
            if own != first:
                settings[name] = {key: value for key, value in own.differences(first).items() if key in mattering}
            changes |= own.differences(self._canonical(tool.settings, {}, tool))
        if "ties" not in changes and self._has_tie_rules(way.nearest):
            changes = {"ties": first.ties, **changes}
        return Match(
            way.tool,
            settings,
            changes,
            way.nearest[0].name,
            {name: one.printed(value) for name, one, value in zip(names, self._wanted, way.values, strict=True)},
            {
                name: str(under(one, own, self.levels))
                for name, one, own in zip(names, self._measures, way.settings, strict=True)
            },
        )

    def _has_tie_rules(self, nearest: tuple[Tool, ...]) -> bool:
        """Tell whether a tool, as ranx, has several tie rules for the same measure, so that none is the usual one."""
        rules = {entries[0].settings.ties for entries in self._tools if entries[0].name == nearest[0].name}
        return len(rules) > 1

    @property
    def n_queries(self) -> int:
        """Queries of the qrels."""
        return self._lists.plain.n_queries

    @property
    def missing_queries(self) -> tuple[str, ...]:
        """Queries of the qrels that the run lacks."""
        plain = self._lists.plain
        return tuple(plain.query_ids[plain.missing].tolist())

    def tie_range(self, one: Reported, *, skips_missing: bool = False) -> Range:
        """Return what the order of ties alone makes of a measure."""
        plain = self._lists.plain
        if skips_missing:
            plain = plain.select(~plain.missing)
        spread = TieSpread(one.measure, plain)
        scores = Scores(one.measure, plain.query_ids, spread.mean, spread)
        level = "total" if one.measure.total else "mean"
        mean, low, high = (getattr(scores, name) for name in (level, f"{level}_tie_min", f"{level}_tie_max"))
        slack = max(one.half_unit, 0.0)
        shown = [one.printed(value) for value in (mean, low, high)]
        return Range(shown[0], shown[1], shown[2], low - slack <= one.value <= high + slack, skips_missing)


def _skips_missing(way: Way | None, number: int) -> bool:
    """Tell whether a way leaves out the queries that the run lacks, for one of its measures."""
    return way is not None and way.settings[number].missing == "skip"


def _mean(measure: Measure, values: FloatArray) -> float:
    if not len(values):
        return math.nan
    if measure.total:
        return float(values.sum())
    return math.exp(float(values.mean())) if measure.geometric else float(values.mean())


def _digits(values: FloatArray, one: Reported) -> FloatArray:
    """Return values as whole numbers of units of the last reported digit."""
    rounded: FloatArray = np.round(values / (2 * max(one.half_unit, 5e-7)))
    return rounded


def _chance(values: FloatArray, one: Reported) -> float:
    """Return which share of the numbers between the lowest and the highest value some value prints as."""
    units = _digits(values, one)
    return float(len(np.unique(units)) / (units.max() - units.min() + 1))
