"""explain(): the conventions that tools really use, searched for those that give a reported number."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from itertools import chain, combinations, product
from typing import Any, cast

import numpy as np
import polars as pl

from deadheat.core.arrays import BoolArray, FloatArray, IntArray, is_member, use_default_arithmetic
from deadheat.core.data.flat_names import Numbers
from deadheat.core.data.qrels import Qrels
from deadheat.core.data.renderable import Renderable
from deadheat.core.data.rows import MemoryRows
from deadheat.core.data.run import Run
from deadheat.core.data.sources import Source
from deadheat.core.errors import DataError, ParameterError
from deadheat.core.evaluation.evaluate import find_tie_keys
from deadheat.core.evaluation.scores import Scores
from deadheat.core.evaluation.tie_spread import TieSpread
from deadheat.core.evaluation.together import check_of_documents
from deadheat.core.measures import Measure, parse_measure
from deadheat.core.measures.notation import MeasureLike, split_notation
from deadheat.core.placements import policies
from deadheat.core.placements.place import choose_engine, open_pair
from deadheat.core.placements.placements import Placements
from deadheat.core.placements.shorter_lists import condense, truncate
from deadheat.core.wording import escape_invisible, format_count
from deadheat.plugins.compat.tools import (
    WORDS,
    Tool,
    ToolSettings,
    describe,
    entries_of,
    open_settings,
    order_of,
    under,
    values_of,
)

DEPTHS = (5, 10, 20, 50, 100, 1000)  # at which lists are usually cut
SCALES = (4,)  # up to which relevance a tool's ERR goes, whatever the judgments are
LEVELS = 8  # of relevance that are tried as the lowest relevant one
N_NEAREST = 3
MOST_OPTIONS = 2  # of a tool that somebody is thought to have set
SAME = 12  # decimals to which values are the same
ALWAYS = (*("ties", "score_precision", "depth", "judged_only", "judgments", "identical_ids", "missing", "no_relevant"),)
MOST_SORTED = 300_000  # documents of a run that are sorted one by one in Python
PASSES = {"quicksort": 1, "quicksort twice": 2}
MIRRORED = {"doc_id ascending": "doc_id", "input reversed": "input"}
NUMBER = re.compile(r"\s*([+-]?(?=\.?\d)\d*(?:\.(\d*))?(?:[eE]([+-]?0{0,9}\d{1,2}))?)\s*(%?)\s*")
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
        return max(low - self.value, self.value - high) <= max(self.half_unit, FINEST) * SLACK

    @property
    def is_possible(self) -> bool:
        """Whether the measure can have such a value for any data."""
        # ranges are of queries, and of logarithms
        return self.measure.total or self.measure.geometric or self.is_between(*self.measure.range)

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
    value = float(match[1]) if match else math.nan
    if match is None or isinstance(given, bool) or not math.isfinite(value):
        raise ParameterError(argument="reported", given=given, allowed=f"a finite number, such as in {EXAMPLE}")
    half_unit = 0.5 * 10.0 ** (int(match[3] or 0) - len(match[2] or ""))
    low, high = parsed.range
    is_percent = bool(match[4]) or (high == 1 and low == 0 and high < value - max(half_unit, FINEST) <= 100)
    scale = 100 if is_percent else 1
    return Reported(parsed, text, value / scale, half_unit / scale, is_percent)


def all_reported(given: Iterable[tuple[MeasureLike, float | str]]) -> tuple[Reported, ...]:
    """Read the numbers that were reported for measures, one for each."""
    found = tuple(reported(measure, value) for measure, value in given)
    for measure, n in Counter(one.measure for one in found).items():
        if n > 1:
            raise ParameterError(f"two numbers are reported for {measure.label}", argument="reported")
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
        said = self.changes or {name: self.settings[name] for name in ("ties", "missing") if name in self.settings}
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
        given = ", ".join(f"{one.measure.label}={one.text}" for one in self.reported)
        ways = (
            f"{format_count(len(self.matches), 'way')} of {self.n_tried:,}, {', '.join(self.tools) or 'no known tool'}"
        )
        return escape_invisible(
            f"<Explanation of {self.name}, {given}: {ways if self.matches else 'nothing reproduces it'}>"
        )

    @property
    def tools(self) -> tuple[str, ...]:
        """The tools that give the reported values, likeliest first."""
        return tuple(dict.fromkeys(one.tool for one in self.matches if one.tool))

    def to_polars(self) -> pl.DataFrame:
        """Return tool, nearest, settings (in words) and the value of each measure, a row for each match."""
        names = [one.measure.label for one in self.reported]
        return pl.DataFrame(
            [(one.tool or None, one.nearest, one.told, *(one.values[name] for name in names)) for one in self.matches],
            schema=dict.fromkeys(("tool", "nearest", "settings"), pl.String) | dict.fromkeys(names, pl.Float64),
            orient="row",
        )

    def named_numbers(self) -> Numbers:
        """Give the numbers of :meth:`to_flat` with the parts of their names."""
        yield ("n_matches",), len(self.matches)
        yield ("n_tried",), self.n_tried
        for name, found in self.ranges.items():
            yield (name, "tie_min"), found.low
            yield (name, "tie_max"), found.high


def explain(
    qrels: Source,
    run: Source,
    reported: Mapping[MeasureLike, float | str],
    *,
    ascending: bool = False,
    duplicates: str = "error",
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
    ascending : bool, default False
        Lower scores rank first, as of distances.
    duplicates : {"error", "best", "first", "trust"}, default "error"
        As for :func:`deadheat.evaluate`.
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
    if not isinstance(cast("object", reported), Mapping) or not reported:
        raise ParameterError(
            argument="reported", given=reported, allowed='a dict of numbers by measure, such as {"nDCG@10": 0.6807}'
        )
    wanted = all_reported(reported.items())
    judged, retrieved = open_pair(qrels, run, ascending=ascending, duplicates=duplicates)
    return explain_reported(judged, retrieved.then_by(*find_tie_keys(run, then_by)), wanted)


@use_default_arithmetic
def explain_reported(qrels: Qrels, run: Run, wanted: Sequence[Reported]) -> Explanation:
    """Do what :func:`explain` does, for data and numbers that are read already, without a check for duplicates."""
    check_of_documents("an explanation of other values", qrels)
    search = Search(JudgedRun(qrels, run), tuple(wanted))
    found, plain = list(search.ways()), search.judged.plain
    fitting = [
        way for way in found if all(one.is_printed_from(own) for one, own in zip(wanted, way.values, strict=True))
    ]
    away = sorted(found, key=lambda way: max(abs(own - one.value) for one, own in zip(wanted, way.values, strict=True)))
    likeliest = next(iter(fitting or away), None)
    # the values of each measure as whole numbers of units of the last reported digit
    units = [
        np.round(np.array([way.values[n] for way in found]) / (2 * max(one.half_unit, FINEST)))
        for n, one in enumerate(wanted)
    ]
    return Explanation(
        name=run.name,
        reported=tuple(wanted),
        matches=tuple(search.match(one) for one in fitting),
        nearest=() if fitting else tuple(search.match(one) for one in away[:N_NEAREST]),
        n_tried=len(found),
        n_values=len(set(units[0].tolist())),
        # which share of the numbers between the lowest and the highest value some value prints as
        chance=math.prod(float(len(np.unique(own)) / (own.max() - own.min() + 1)) for own in units) if found else 0.0,
        fitting={
            one.measure.label: sum(one.is_printed_from(way.values[n]) for way in found) for n, one in enumerate(wanted)
        },
        ranges={
            one.measure.label: _tie_range(one, plain, likeliest is not None and likeliest.settings[n].missing == "skip")
            for n, one in enumerate(wanted)
        },
        n_queries=plain.n_queries,
        missing_queries=tuple(plain.query_ids[plain.missing].tolist()),
    )


def _tie_range(one: Reported, plain: Placements, skips_missing: bool) -> Range:  # noqa: FBT001 - of a Range
    """Return what the order of ties alone makes of a measure."""
    if skips_missing:
        plain = plain.select(~plain.missing)
    spread = TieSpread(one.measure, plain)
    scores = Scores(one.measure, plain.query_ids, spread.mean, spread)
    mean, low, high = (scores.reported(of) for of in ("", "tie_min", "tie_max"))
    return Range(
        one.printed(mean),
        one.printed(low),
        one.printed(high),
        one.is_between(low, high),
        skips_missing,
    )


class JudgedRun:
    """A run against judgments, under settings.

    Parameters
    ----------
    qrels, run : Qrels, Run

    Attributes
    ----------
    plain : Placements
        With all bits of the scores.
    """

    def __init__(self, qrels: Qrels, run: Run) -> None:
        self._qrels, self._run, self.unanswerable = qrels, run, qrels.unanswerable
        self._engine = cache(lambda precision: choose_engine(qrels, run, precision))
        self._whole = cache(lambda precision: self._engine(precision).place())
        self._ranked = cache(self._make_ranked)
        self._shortened = cache(self._make_shortened)
        self.plain: Placements = self._whole(None)

    @cached_property
    def without_identical(self) -> "JudgedRun | None":
        """The same run without the documents that have the id of their query; None if it has none, or nothing else."""
        rows = self._run.to_polars()
        others = rows.filter(pl.col("query_id") != pl.col("doc_id"))
        is_judged = others["query_id"].is_in(self.plain.query_ids.tolist()).any()
        if len(others) == len(rows) or not is_judged:
            return None
        return JudgedRun(self._qrels, self._run.with_rows(MemoryRows(others)))

    @cached_property
    def precisions(self) -> Sequence[str | None]:
        """The precisions that tell: 32 bits only where they make a difference."""
        one, other = self._whole(None), self._whole("float32")
        is_same = np.array_equal(one.above, other.above) and np.array_equal(one.tied, other.tied)
        return (None,) if is_same else (None, "float32")

    @cached_property
    def ties(self) -> Sequence[str]:
        """The tie rules that can be told for this run; without ties of judged documents, one."""
        if not any((self._whole(one).tied > 1).any() for one in self.precisions):
            return ("doc_id",)
        rules = ["doc_id", "doc_id ascending", "expected", "best", "worst"]
        try:
            policies.check_row_order(self._run, "input")
        except DataError:
            return rules
        rules += ["input", "input reversed"]
        return [*rules, *PASSES] if int(self.plain.n_retrieved.sum()) <= MOST_SORTED else rules

    @cached_property
    def judgments(self) -> Sequence[str]:
        """Which judgments a tool may know, where it makes a difference."""
        plain = self.plain
        found = ["all", "retrieved"] if len(plain.query) < len(plain.judged_query) else ["all"]
        is_below = (plain.above >= self._n_above_0[plain.query]) & (plain.relevance > 0)
        return [*found, "above 0"] if is_below.any() else found

    @cached_property
    def _n_above_0(self) -> IntArray:
        """How many documents of each query have a score above 0, of shape (n_queries,)."""
        counts = dict(self._run.to_polars().group_by("query_id").agg((pl.col("score") > 0).sum()).iter_rows())
        return np.array([counts.get(query, 0) for query in self.plain.query_ids.tolist()], np.int64)

    def place(self, settings: ToolSettings) -> Placements | None:
        """Return the placements under settings; None where which documents remain depends on the order of a tie."""
        if settings.identical_ids == "dropped" and self.without_identical is not None:
            return self.without_identical.place(replace(settings, identical_ids="kept"))
        return self._shortened(
            settings.ties,
            settings.score_precision if settings.score_precision in self.precisions else None,
            settings.depth,
            settings.judged_only,
            settings.judgments,
        )

    def _make_ranked(self, ties: str, precision: str | None) -> Placements:
        whole = self._whole(precision)
        if ties in PASSES:
            return whole.moved(self._positions(whole, precision, PASSES[ties]))
        if ties not in MIRRORED:
            return policies.apply(whole, ties, engine=self._engine(precision))
        tied, first = np.flatnonzero(whole.tied > 1), np.zeros_like(whole.above)
        if len(tied):
            first[tied] = whole.tied[tied] - 1 - self._engine(precision).count_first(whole, tied, MIRRORED[ties])
        return whole.moved(whole.above + first)

    def _positions(self, whole: Placements, precision: str | None, n_passes: int) -> IntArray:
        """Return the 0-based rank of each judged document after an unstable sort of the lists in their order."""
        frame = self._run.rounded(precision).to_polars().filter(pl.col("query_id").is_in(whole.query_ids.tolist()))
        places: dict[tuple[str, str], int] = {}
        for (query,), own in frame.group_by("query_id", maintain_order=True):
            documents = own["doc_id"].to_list()
            keys, order = (-own["score"].cast(pl.Float64).to_numpy()).tolist(), list(range(len(documents)))
            for _ in range(n_passes):
                order = [order[n] for n in order_of([keys[n] for n in order])]
            places |= {(str(query), documents[n]): rank for rank, n in enumerate(order)}
        queries = whole.query_ids[whole.query].tolist()
        return np.array([places[pair] for pair in zip(queries, whole.doc_ids.tolist(), strict=True)], np.int64)

    def _make_shortened(
        self,
        ties: str,
        precision: str | None,
        depth: int | None,
        judged_only: bool,  # noqa: FBT001 - a key of the cache
        judgments: str,
    ) -> Placements | None:
        found = self._ranked(ties, precision)
        if judgments == "above 0" and judged_only:
            return None  # the ranks below are others, and no tool does both
        if depth is not None:
            try:
                found = truncate(found, depth)
            except ParameterError:
                return None
        if judged_only:
            found = condense(found)
        if judgments != "all":  # as if no other document than those retrieved were judged
            order = np.lexsort((-found.relevance, found.query))
            query, relevance = found.query[order], found.relevance[order]
            found = replace(found, judged_query=query, judged_relevance=relevance, _of_judgments={})
        if judgments == "above 0":
            is_below = found.above >= self._n_above_0[found.query]
            found = replace(found, relevance=np.where(is_below, np.minimum(found.relevance, 0.0), found.relevance))
        return found


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


@dataclass(frozen=True, eq=False)
class Search:
    """The ways to compute some measures of a run."""

    judged: JudgedRun
    wanted: tuple[Reported, ...]
    known: dict[object, tuple[FloatArray, BoolArray]] = field(default_factory=dict, repr=False)  # values by query

    @cached_property
    def levels(self) -> list[float]:
        """The relevance above 0 that occurs, ascending."""
        return [one for one in np.unique(self.judged.plain.judged_relevance).tolist() if one > 0]

    @cached_property
    def choices(self) -> dict[str, Sequence[Any]]:
        """What each setting can be, where it matters for these measures and data; the first is the usual one."""
        judged, plain, measures = self.judged, self.judged.plain, [one.measure for one in self.wanted]
        longest = int(plain.n_retrieved.max(initial=0))
        some_lack_relevant = any(
            not under(one, ToolSettings(rel=rel), self.levels).has_relevant(plain).all()
            for one in measures
            for rel in self.levels[:LEVELS] or [1]
        )
        known: dict[str, Sequence[Any]] = {
            "ties": judged.ties,
            "score_precision": judged.precisions,
            "depth": [None, *(one for one in DEPTHS if one < longest)],
            "judged_only": [False, True] if len(plain.query) < int(plain.n_retrieved.sum()) else [False],
            "judgments": judged.judgments,
            "identical_ids": ["kept"] if judged.without_identical is None else ["kept", "dropped"],
            "missing": ["empty", "skip"] if plain.missing.any() else ["empty"],
            "no_relevant": ["zero", *["skip", "one"] * some_lack_relevant, *["answerable"] * bool(judged.unanswerable)],
            "rel": [1.0, *(one for one in self.levels if one != 1)][:LEVELS],
            "gain": [*WORDS["gain"]] if any(one != 1 for one in self.levels) else ["linear"],
            **{name: [*WORDS[name]] for name in ("discount", "ideal", "ap_norm", "p_norm", "r_norm")},
            "max_rel": [None, *(one for one in SCALES if one > max(self.levels, default=0))],
        }
        mattering = {*ALWAYS, *(name for one in measures for name in open_settings(one))}
        return {name: values if name in mattering else values[:1] for name, values in known.items()}

    def ways(self) -> Iterator[Way]:
        """Give all ways, likeliest first; of those of a tool that give the same values, the simplest."""
        # the tools that compute all measures, those with fewer options set first
        of_tools = (
            (entries[0].name, entries, changes)
            for n_set in range(MOST_OPTIONS + 1)
            for entries in self._tools
            for changes in _changes(self._options_of(entries), n_set)
        )
        # settings that no tool is known to have, but that are near one
        known = self.choices | {"judgments": [one for one in self.choices["judgments"] if one != "above 0"]}
        near_tools = (
            ("", entries, changes)
            for n_changed, names in ((1, {one[0].name for one in self._tools}), (2, {"trec_eval", "deadheat"}))
            for entries in self._tools
            if entries[0].name in names
            for changes in _changes(known, n_changed)
        )
        seen: dict[str, set[tuple[float, ...]]] = {"": set()}
        for name, entries, changes in chain(of_tools, near_tools):
            settings = tuple(self._canonical(tool.settings, changes, tool if name else None) for tool in entries)
            values = tuple(
                round(self._value(one.measure, own), SAME) for one, own in zip(self.wanted, settings, strict=True)
            )
            if not any(map(math.isnan, values)) and values not in seen.setdefault(name, set()):
                seen[name].add(values)
                seen[""].add(values)
                yield Way(name, entries, settings, values)

    def _options_of(self, tools: Sequence[Tool]) -> dict[str, list[Any]]:
        """Return what each option of some tools can be."""
        found: dict[str, list[Any]] = {}
        for tool in tools:
            for name in tool.options:
                found[name] = [value for value in self.choices[name] if value in tool.words.get(name, (value,))]
        return found

    @cached_property
    def _tools(self) -> list[tuple[Tool, ...]]:
        """What each tool does for the measures, if it computes all of them, for these judgments and ties."""
        rules, highest = self.choices["ties"], max(self.levels, default=0)
        return [
            entries
            for entries in entries_of([one.measure for one in self.wanted])
            if (len(rules) == 1 or all(tool.settings.ties in rules for tool in entries))
            and all(tool.settings.max_rel is None or highest <= tool.settings.max_rel for tool in entries)
        ]

    def _canonical(self, settings: ToolSettings, changes: dict[str, Any], tool: Tool | None) -> ToolSettings:
        """Return changed settings, with the usual value wherever it makes no difference for these measures and data.

        Of a tool only its options are changed.
        """
        changed = replace(
            settings, **{name: value for name, value in changes.items() if tool is None or name in tool.options}
        )
        if changed.judgments == "above 0" and "above 0" not in self.choices["judgments"]:
            changed = replace(changed, judgments="retrieved")
        return replace(
            changed,
            **{
                name: values[0]
                for name, values in self.choices.items()
                if len(values) == 1 or getattr(changed, name) not in values
            },
        )

    def _value(self, measure: Measure, settings: ToolSettings) -> float:
        """Return the mean of a measure over the queries that count; NaN if there is none."""
        placements = self.judged.place(settings)
        if placements is None:
            return math.nan
        measure = under(measure, settings, self.levels)
        key = (measure, settings.ideal, settings.ap_norm, settings.p_norm, settings.r_norm, id(placements))
        if key not in self.known:
            self.known[key] = (values_of(measure, settings, placements), measure.has_relevant(placements))
        values, has_relevant = self.known[key]
        counts = ~np.isnan(values)
        if settings.missing == "skip":
            counts = counts & ~self.judged.plain.missing
        if settings.no_relevant == "skip":
            counts = counts & has_relevant
        elif settings.no_relevant == "answerable" and measure.asks_for_relevant:
            counts = counts & ~is_member(placements.query_ids, np.array(self.judged.unanswerable, object))
        elif settings.no_relevant == "one" and measure.asks_for_relevant:
            if not measure.is_share:
                return math.nan
            values = np.where(has_relevant, values, 1.0)
        kept = values[counts]
        if not len(kept):
            return math.nan
        return float(measure.level_of(kept.sum() if measure.total else kept.mean()))

    def match(self, way: Way) -> Match:
        """Return a way as it is shown."""
        mattering = [name for name, values in self.choices.items() if len(values) > 1]
        first, tool = way.settings[0], way.nearest[0]
        settings = {name: getattr(first, name) for name in mattering}
        changes: dict[str, Any] = {}
        for one, own, nearest in zip(self.wanted, way.settings, way.nearest, strict=True):
            if own != first:
                settings[one.measure.label] = {
                    key: value for key, value in own.differences(first).items() if key in mattering
                }
            changes |= own.differences(self._canonical(nearest.settings, {}, nearest))
        # a tool with several tie rules has no usual one
        rules = {entries[0].settings.ties for entries in self._tools if entries[0].name == tool.name}
        if "ties" not in changes and len(rules) > 1:
            changes = {"ties": first.ties, **changes}
        return Match(
            tool=way.tool,
            settings=settings,
            changes=changes,
            nearest=tool.name,
            values={one.measure.label: one.printed(own) for one, own in zip(self.wanted, way.values, strict=True)},
            measures={
                one.measure.label: str(under(one.measure, own, self.levels))
                for one, own in zip(self.wanted, way.settings, strict=True)
            },
        )


def _changes(choices: Mapping[str, Sequence[Any]], n: int) -> Iterator[dict[str, Any]]:
    """Give all values of each `n` settings."""
    return (
        dict(zip(names, values, strict=True))
        for names in combinations(choices, n)
        for values in product(*(choices[name] for name in names))
    )
