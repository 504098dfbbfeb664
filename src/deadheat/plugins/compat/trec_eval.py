"""trec_eval: its lines, computed by deadheat.

Versions 9 and 10 differ: 10 compares scores in 64 bits, 9 in 32; 10 prints topics that the run lacks with -c -q, and
stops at them without -c, where 9 leaves them out; 10 rounds the number of documents at a recall level, 9 does so in
part; 10 has rbp, rbp_resid and unj too.

Which measure of ours each of its measures is follows from the registry, where each class names what trec_eval calls
it. Here is only what trec_eval itself decides: order, default cutoffs, how a value is printed and averaged.
"""

import math
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal

import numpy as np

from deadheat.core.arrays import BoolArray, FloatArray
from deadheat.core.data.qrels import Qrels
from deadheat.core.data.run import Run
from deadheat.core.errors import DataError, MeasureError, UnknownMeasureError
from deadheat.core.io.files import blocks
from deadheat.core.measures import Measure, parse_measure
from deadheat.core.measures.parameters import Only, parameter, parameters
from deadheat.core.placements import policies
from deadheat.core.placements.place import choose_engine
from deadheat.core.placements.placements import Placements
from deadheat.core.placements.shorter_lists import condense, truncate
from deadheat.core.wording import (
    did_you_mean,
    escape_commands,
    escape_invisible,
    format_count,
    format_list,
    format_rounded,
)
from deadheat.plugins.compat.evaluating import OF_TREC_EVAL
from deadheat.plugins.more_measures.interpolated import InterpolatedMeasure

CUTOFFS = ("5", "10", "15", "20", "30", "100", "200", "500", "1000")
TENTHS = tuple(f"{n / 10:.1f}" for n in range(11))
FIFTHS = tuple(f"{n / 5:.1f}" for n in range(1, 11))  # to 2.0


@dataclass(frozen=True)
class TrecMeasure:
    """A measure of trec_eval.

    Attributes
    ----------
    name : str
    takes : {"none", "cutoffs", "shares", "numbers", "pairs"}
        What stands behind the dot: nothing; cutoffs or shares, each of which makes a value of its own; numbers or
        pairs such as ``1=3.5``, which make one value together.
    defaults : tuple of str
    printed : {"number", "count", "text"}
    has_queries : bool
        Whether it is printed for single queries.
    has_summary : bool
        Whether it is printed for all of them.
    nicknames : tuple of str
        Groups that it belongs to.
    since : int
        Version of trec_eval that has it.
    """

    name: str
    takes: Literal["none", "cutoffs", "shares", "numbers", "pairs"] = "none"
    defaults: tuple[str, ...] = ()
    printed: Literal["number", "count", "text"] = "number"
    has_queries: bool = True
    has_summary: bool = True
    nicknames: tuple[str, ...] = ("all_trec",)
    since: int = 9

    @property
    def has_values(self) -> bool:
        """Whether each parameter makes a value of its own."""
        return self.takes in {"cutoffs", "shares"}

    @property
    def is_geometric(self) -> bool:
        """Whether all queries together have the geometric mean; single values are logarithms."""
        return self.name.startswith("gm_")


OFFICIAL, SET, BOTH = ("all_trec", "official"), ("all_trec", "set"), ("all_trec", "official", "set")

PRINTED_MEASURES = (  # in the order in which trec_eval prints them
    TrecMeasure("runid", printed="text", has_queries=False, nicknames=BOTH),
    TrecMeasure("num_q", printed="count", has_queries=False, nicknames=BOTH),
    TrecMeasure("num_ret", printed="count", nicknames=BOTH),
    TrecMeasure("num_rel", printed="count", nicknames=BOTH),
    TrecMeasure("num_rel_ret", printed="count", nicknames=BOTH),
    TrecMeasure("map", nicknames=OFFICIAL),
    TrecMeasure("gm_map", has_queries=False, nicknames=OFFICIAL),
    TrecMeasure("Rprec", nicknames=OFFICIAL),
    TrecMeasure("bpref", nicknames=OFFICIAL),
    TrecMeasure("recip_rank", nicknames=OFFICIAL),
    TrecMeasure("iprec_at_recall", "shares", TENTHS, nicknames=OFFICIAL),
    TrecMeasure("P", "cutoffs", CUTOFFS, nicknames=OFFICIAL),
    TrecMeasure("relstring", "numbers", ("10",), printed="text", has_summary=False),
    TrecMeasure("recall", "cutoffs", CUTOFFS),
    TrecMeasure("infAP"),
    TrecMeasure("gm_bpref", has_queries=False),
    TrecMeasure("Rprec_mult", "shares", FIFTHS),
    TrecMeasure("utility", "numbers", ("1.0", "-1.0", "0.0", "0.0"), nicknames=SET),
    TrecMeasure("11pt_avg", "numbers", TENTHS),
    TrecMeasure("binG"),
    TrecMeasure("G", "pairs"),
    TrecMeasure("ndcg", "pairs"),
    TrecMeasure("ndcg_rel", "pairs"),
    TrecMeasure("Rndcg", "pairs"),
    TrecMeasure("ndcg_cut", "cutoffs", CUTOFFS),
    TrecMeasure("map_cut", "cutoffs", CUTOFFS),
    TrecMeasure("relative_P", "cutoffs", CUTOFFS),
    TrecMeasure("success", "cutoffs", ("1", "5", "10")),
    TrecMeasure("set_P", nicknames=SET),
    TrecMeasure("set_relative_P", nicknames=SET),
    TrecMeasure("set_recall", nicknames=SET),
    TrecMeasure("set_map", nicknames=SET),
    TrecMeasure("set_F", "numbers", ("1.0",), nicknames=SET),
    TrecMeasure("num_nonrel_judged_ret", printed="count"),
    TrecMeasure("yaap", nicknames=()),
    TrecMeasure("rbp", "pairs", since=10),
    TrecMeasure("rbp_resid", "pairs", since=10),
    TrecMeasure("unj", "cutoffs", ("5", "10", "20"), since=10),
)
MEASURES = {measure.name: measure for measure in PRINTED_MEASURES}
NICKNAMES = ("official", "set", "all_trec")
WORDS = (*NICKNAMES, *MEASURES)
UNDERSCORED = re.compile(r"(?P<name>.+?)_(?P<parameters>[0-9.]+(?:,[0-9.]+)*)")
CUTOFF = re.compile(r"\+?(?P<whole>[0-9]+)(?:\.[0-9]*)?")  # C reads the whole number and leaves what follows it
# Six fields at the beginning of a line, which is no comment, and what follows them. `\s` is what C's isspace takes
TRAILING_TEXT = re.compile(rb"^([^\S\n]*[^\s#]\S*(?:[^\S\n]+\S+){5})[^\S\n]+\S[^\n]*", re.MULTILINE)


@dataclass(frozen=True)
class PrintedValue:
    """A value that trec_eval prints for each query.

    Attributes
    ----------
    name : str
        As it is printed.
    of : TrecMeasure
    measure : Measure or None
        What computes it; None for what is text.
    parameters : tuple of str
    """

    name: str
    of: TrecMeasure
    measure: Measure | None
    parameters: tuple[str, ...] = ()


@parameters
class AveragePrecisionAtPoints(InterpolatedMeasure):
    """11pt_avg with parameters: interpolated precision, averaged over other recall levels than the eleven."""

    points: tuple[float, ...] = parameter((), Only("numbers from 0 to 1", tuple), "levels of recall")

    @property
    def levels(self) -> FloatArray:
        """The levels that were given."""
        return np.array(self.points)


def known(version: int = 9) -> list[str]:
    """Return the names of the measures that a version of trec_eval has, in its order."""
    return [one.name for one in MEASURES.values() if one.since <= version]


def members(nickname: str, version: int = 9) -> list[str]:
    """Return the measures of a nickname."""
    return [name for name in known(version) if nickname in MEASURES[name].nicknames]


def requested(measures: Iterable[str], version: int = 9) -> dict[str, list[str]]:
    """Return the parameters of each measure that is asked for, none for its defaults; nicknames are replaced.

    Parameters
    ----------
    measures : iterable of str
        Names, with parameters behind a dot or an underscore.
    version : int, default 9
        Of trec_eval.

    Raises
    ------
    UnknownMeasureError
        trec_eval has no such measure, or deadheat does not compute it.

    Examples
    --------
    >>> requested(["ndcg_cut.5,10", "ndcg_cut_20", "map"])
    {'ndcg_cut': ['5', '10', '20'], 'map': []}
    """
    wanted: dict[str, list[str]] = {}
    names = known(version)
    for given in measures:
        if given in NICKNAMES:
            wanted = {name: [] for name in members(given, version)} | wanted
            continue
        name, _, parameters = str(given).partition(".")
        if name not in names and (found := UNDERSCORED.fullmatch(str(given))):
            name, parameters = found["name"], found["parameters"]
        if name not in names:
            raise _unknown(str(given), name, version)
        if parameters and wanted.get(name) and MEASURES[name].takes == "numbers":
            raise MeasureError(
                "its numbers make one value together and were given twice",
                given=parameters,
                measure=name,
                hint="call the command once for each of them",
            )
        wanted.setdefault(name, []).extend(parameters.split(",") if parameters else [])
    return wanted


def _unknown(given: str, name: str, version: int) -> UnknownMeasureError:
    names = [*NICKNAMES, *known(version)]
    if name in MEASURES:
        hint = f"trec_eval {MEASURES[name].since} has it"
        return UnknownMeasureError(f"trec_eval {version} has no measure {name!r}", hint=hint)
    if "prefs" in name or name.endswith(("_jg", "_avgjg")):
        return UnknownMeasureError(
            f"deadheat does not compute {name!r} of trec_eval", hint=f"here are {', '.join(names)}"
        )
    return UnknownMeasureError(
        f"trec_eval {version} has no measure {given!r}", hint=did_you_mean(given, names) or f"All: {', '.join(names)}"
    )


def columns(
    wanted: Mapping[str, Sequence[str]],
    rel: float,
    version: int = 9,
    *,
    n_documents: float = 0,
    levels: Collection[float] = (),
) -> list[PrintedValue]:
    """Return the values of measures, in trec_eval's order.

    Parameters
    ----------
    wanted : mapping of str to sequence of str
        The parameters of each measure; none for its defaults.
    rel : float
        Lowest relevance that counts as relevant.
    version : int, default 9
        Of trec_eval.
    n_documents : float, default 0
        Documents in the collection.
    levels : collection of float, optional
        Of relevance in the qrels: their gain is their value where none is given.

    Raises
    ------
    MeasureError
        A parameter cannot be read.
    """
    settings = {"rel": rel, "N": n_documents, "rounding": f"trec_eval {version}"}
    asked = [name for name in known(version) if name in wanted]
    return [one for name in asked for one in _columns(MEASURES[name], tuple(wanted[name]), settings, levels)]


def _columns(
    one: TrecMeasure, given: tuple[str, ...], settings: dict[str, Any], levels: Collection[float]
) -> Iterator[PrintedValue]:
    if one.takes == "cutoffs":
        given = tuple(_read_cutoff(one, text) for text in given)
    elif one.takes != "pairs":
        for text in given:
            _read_number(one, text)
    if one.printed == "text":
        yield PrintedValue(_printed(one, given), one, None, given or one.defaults)
        return
    each = [(value,) for value in sorted(set(given or one.defaults), key=float)] if one.has_values else [given]
    for values in each:
        name = _printed(one, values)
        measure: Measure = parse_measure(name if one.has_values else one.name)
        if one.name == "11pt_avg" and given:
            measure = AveragePrecisionAtPoints()
        takes = {field.name for field in fields(measure)}
        own = {} if one.has_values else _named(one, given, levels)
        yield PrintedValue(name, one, measure(**own, **{key: settings[key] for key in takes & settings.keys()}), given)


def _read_number(one: TrecMeasure, text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise MeasureError(given=text, allowed="numbers", measure=one.name, hint=_example_of(one))
    return number


def _read_cutoff(one: TrecMeasure, text: str) -> str:
    """Return a cutoff as trec_eval reads it: the whole number that it begins with, as 23 of ``23.5``."""
    match = CUTOFF.fullmatch(text)
    cutoff = int(match["whole"]) if match else 0
    if cutoff < 1:
        raise MeasureError(given=text, allowed="whole numbers from 1 on", measure=one.name, hint=_example_of(one))
    return str(cutoff)


def _example_of(one: TrecMeasure) -> str:
    """Return the advice how to write the parameters of a measure."""
    if not one.defaults:
        return f"write it like {one.name}"
    return f"write it like {one.name}.{','.join(one.defaults[:3])}"


def _read_recall_levels(one: TrecMeasure, given: Sequence[str]) -> tuple[float, ...]:
    """Return the recall levels of 11pt_avg. trec_eval takes any number of them, and reads them from the last one on."""
    levels = tuple(_read_number(one, text) for text in given)
    if list(levels) != sorted(levels) or levels[0] < 0 or levels[-1] > 1:
        raise MeasureError(
            given=",".join(given),
            allowed="recall levels from 0 to 1, the lowest first",
            measure=one.name,
            hint="write it like 11pt_avg.0.25,0.5,0.75",
        )
    return levels


def _printed(one: TrecMeasure, given: Sequence[str]) -> str:
    """Return a name with parameters, as trec_eval prints it."""
    if one.takes == "none" or not given:
        return one.name
    if one.takes == "cutoffs":
        return f"{one.name}_{given[0]}"
    return f"{one.name}_{float(given[0]):.2f}" if one.takes == "shares" else f"{one.name}_{','.join(given)}"


def _named(one: TrecMeasure, given: Sequence[str], levels: Collection[float]) -> dict[str, Any]:
    """Return the parameters that trec_eval has no names for, as our measure calls them."""
    if not given or one.takes == "none":
        return {}
    refused: dict[str, Any] = {"found": ",".join(given), "measure": one.name}
    if one.takes == "pairs":  # gains of levels of relevance, or what else is given by its name
        pairs = [text.partition("=") for text in given]
        if not all(equal for _, equal, _ in pairs):
            raise MeasureError(allowed=f"pairs such as {one.name}.1=3,2=9", **refused)
        named = {name: _read_number(one, value) for name, _, value in pairs}
        gains = {int(level): named.pop(level) for level in list(named) if level.lstrip("-").isdigit()}
        return named | ({"gain": {level: level for level in levels if level > 0} | gains} if gains else {})
    if one.name == "11pt_avg":
        return {"points": _read_recall_levels(one, given)}
    numbers = [_read_number(one, text) for text in given]
    if len(numbers) != len(one.defaults):
        raise MeasureError(
            allowed=f"{len(one.defaults)} numbers behind the dot, such as {one.name}.{','.join(one.defaults)}",
            **refused,
        )
    if one.name == "set_F":  # its x is the square of van Rijsbergen's beta
        return {"beta": math.sqrt(max(numbers[0], 0.0))}
    return dict(zip("abcd", numbers, strict=True))  # of utility


UNJUDGED, BELOW, BEYOND, UNKNOWN = "-", ".", ">", "?"  # in the place of a relevance; the last one inside a tie


def trec_eval(
    qrels: Qrels,
    run: Run,
    measures: Mapping[str, Sequence[str]],
    tag: str,
    *,
    level: float = 1,
    complete: bool = False,
    has_queries: bool = False,
    has_summary: bool = True,
    judged_only: bool = False,
    depth: int | None = None,
    n_documents: int = 0,
    version: int = 9,
    ties: str = OF_TREC_EVAL,
    note: Callable[[str], object] | None = None,
) -> Iterator[str]:
    """Yield the lines that trec_eval prints.

    Parameters
    ----------
    qrels, run : Qrels, Run
    measures : mapping of str to sequence of str
        Parameters by measure, as `requested` returns them.
    tag : str
        Of the run.
    level : float, default 1
        Lowest relevance that counts as relevant (-l).
    complete : bool, default False
        Whether topics that the run lacks count, with 0 (-c).
    has_queries, has_summary : bool
        Whether each topic is printed (-q), and all together (without -n).
    judged_only : bool, default False
        Whether unjudged documents are taken out first (-J).
    depth : int, optional
        Documents of a list that are looked at (-M).
    n_documents : int, default 0
        Documents in the collection (-N).
    version : {9, 10}, default 9
    ties : str, default "doc_id"
    note : callable, optional
        Is told of values that are means over drawn orders, as there are too many to count.

    Raises
    ------
    DataError
        The run lacks a topic, at which trec_eval 10 stops.

    Examples
    --------
    >>> qrels, run = Qrels({"q": {"a": 1}}), Run({"q": {"a": 0.5, "b": 0.5}})
    >>> for line in trec_eval(qrels, run, {"map": [], "P": ["1", "2"], "runid": []}, "bm25"):
    ...     print(line.expandtabs(1))
    runid                  all bm25
    map                    all 0.5000
    P_1                    all 0.0000
    P_2                    all 0.5000
    """
    placements = ranked = _placed(qrels, run, complete=complete, version=version, ties=ties)
    levels, missing = np.unique(placements.judged_relevance).tolist(), placements.missing
    chosen = columns(measures, level, version, n_documents=n_documents, levels=levels)
    if depth is not None:
        ranked = truncate(ranked, depth)
    if judged_only:
        ranked = condense(ranked)
    values = {one.name: _values(one, one.measure, ranked, missing) for one in chosen if one.measure is not None}
    if note is not None and ties == "expected" and (estimated := _estimated(chosen, ranked)):
        note(f"estimated: {estimated}")
    if has_queries:
        yield from _by_query(chosen, ranked, values, ~missing if version == 9 else np.ones_like(missing))
    if has_summary:
        yield from _summary(chosen, values, tag, int((placements.judged_relevance > 0).sum()) if complete else None)


def cut_trailing_text(path: Path, target: Path) -> bool:
    """Write a TREC run without what follows the six fields of a line; trec_eval reads no further.

    Parameters
    ----------
    path : pathlib.Path
        Of a run, which may be compressed.
    target : pathlib.Path
        Of the file that is written.

    Returns
    -------
    bool
        Whether a line had such text.
    """
    n_cut = 0
    with target.open("wb") as file:
        for block in blocks(path):
            text, n = TRAILING_TEXT.subn(rb"\1", block)
            file.write(text)
            n_cut += n
    return n_cut > 0


def describe_fractions(qrels: Qrels) -> str:
    """Say that trec_eval would read another relevance than the one that counts here; empty if it would not."""
    relevance = qrels.to_polars()["relevance"]
    fractions = relevance.filter(relevance != relevance.round())
    if fractions.is_empty():
        return ""
    examples = format_list([f"{value:g}" for value in fractions.unique().sort().to_list()])
    are = "is not a whole number" if len(fractions) == 1 else "are not whole numbers"
    return (
        f"the relevance of {format_count(len(fractions), 'judgment')} in {qrels.where} {are} ({examples}): trec_eval"
        " would truncate it, 1.5 to 1; here it counts as it is"
    )


def _estimated(chosen: Sequence[PrintedValue], placements: Placements) -> str:
    """Say which values are means over drawn orders, and how far those of a topic may be off; empty if none is."""
    errors = {one.name: one.measure.standard_error(placements) for one in chosen if one.measure is not None}
    drawn = {name: own[own > 0] for name, own in errors.items() if (own > 0).any()}
    if not drawn:
        return ""
    topics = format_count(max(map(len, drawn.values())), "topic")
    error = format_rounded(max(float(own.max()) for own in drawn.values()))
    return f"{', '.join(drawn)}: orders of ties were drawn for up to {topics}, with a standard error of up to {error}"


def _placed(qrels: Qrels, run: Run, *, complete: bool, version: int, ties: str) -> Placements:
    """Return the placements of the topics that count, after the tie policy."""
    # version 10 holds a score in 64 bits, earlier ones in 32; under the other policies all bits count
    engine = choose_engine(qrels, run, "float32" if ties == OF_TREC_EVAL and version < 10 else None)
    placements = engine.place()
    missing = placements.missing
    if not complete and missing.any():
        if version > 9:
            lacking = placements.query_ids[missing].tolist()
            raise DataError(
                f"{run.where} lacks {format_count(len(lacking), 'topic')} of the qrels:"
                f" {format_list([*map(repr, lacking)])}; trec_eval 10 stops here",
                hint="-c counts them with 0, and --like 9 leaves them out",
            )
        if missing.all():
            raise DataError(
                f"{run.where} has no document for any topic of the qrels, and trec_eval leaves such topics out",
                hint="-c counts them with 0",
            )
        placements = placements.select(~missing)
    return policies.apply(placements, ties, engine=engine)


def _values(one: PrintedValue, measure: Measure, placements: Placements, missing: BoolArray) -> FloatArray:
    """Return the values of all topics; of one that the run lacks it is 0, whatever an empty list would have."""
    values = measure.mean(placements)
    # counts and logarithms are those of a topic without results, too
    return values if one.name in {"num_q", "num_rel"} or one.of.is_geometric else np.where(missing, 0.0, values)


def _by_query(
    chosen: Sequence[PrintedValue], placements: Placements, values: Mapping[str, FloatArray], is_shown: BoolArray
) -> Iterator[str]:
    shown = {
        one.name: _relevance_texts(placements, int(float(one.parameters[0])))
        if one.measure is None
        else [_number(one, value) for value in values[one.name].tolist()]
        for one in chosen
        if one.of.has_queries
    }
    for topic in np.flatnonzero(is_shown).tolist():
        for name, texts in shown.items():
            yield _line(name, escape_commands(escape_invisible(placements.query_ids[topic])), texts[topic])


def _summary(
    chosen: Sequence[PrintedValue], values: Mapping[str, FloatArray], tag: str, n_relevant: int | None
) -> Iterator[str]:
    for one in (one for one in chosen if one.of.has_summary):
        text = escape_commands(escape_invisible(tag))
        if one.measure is not None:
            total = float(sum(values[one.name].tolist()))
            if one.name == "num_rel" and n_relevant is not None:
                total = n_relevant  # with -c trec_eval counts all relevance above 0, whatever -l says
            mean = total / len(values[one.name])
            text = _number(one, total if one.of.printed == "count" else math.exp(mean) if one.of.is_geometric else mean)
        yield _line(one.name, "all", text)


def _number(one: PrintedValue, value: float) -> str:
    return str(int(value)) if one.of.printed == "count" else f"{value:6.4f}"


def _line(name: str, query: str, value: str) -> str:
    return f"{name:<22}\t{query}\t{value}"


def _relevance_texts(placements: Placements, size: int) -> list[str]:
    """Return the relevance of the first documents of each list, in quotes, one character for each."""
    texts = [[UNJUDGED] * min(size, n) for n in placements.n_retrieved.tolist()]
    rows = np.flatnonzero(placements.above < size)
    columns_of_rows = (placements.query, placements.above, placements.tied, placements.relevance)
    for query, above, tied, relevance in zip(*(column[rows].tolist() for column in columns_of_rows), strict=True):
        character = BELOW if relevance < 0 else BEYOND if relevance > 9 else str(int(relevance))
        own = texts[query]
        own[above : above + tied] = [character if tied == 1 else UNKNOWN] * len(own[above : above + tied])
    return [f"'{''.join(own)}'" for own in texts]
