"""The measures of trec_eval: their names and parameters, and which of our measures computes each.

Which measure of ours each of its measures is follows from the registry, where each class names what trec_eval calls
it. Here is only what trec_eval itself decides: order, default cutoffs, and how a value is printed and averaged.
"""

import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal

import numpy as np

from deadheat.core.arrays import FloatArray
from deadheat.core.errors import MeasureError, UnknownMeasureError
from deadheat.core.measures import Measure, parse_measure
from deadheat.core.measures.parameters import Only, parameter, parameters
from deadheat.core.wording import did_you_mean
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


OFFICIAL = ("all_trec", "official")
SET = ("all_trec", "set")
OFFICIAL_AND_SET = ("all_trec", "official", "set")

PRINTED_MEASURES = (  # in the order in which trec_eval prints them
    TrecMeasure("runid", printed="text", has_queries=False, nicknames=OFFICIAL_AND_SET),
    TrecMeasure("num_q", printed="count", has_queries=False, nicknames=OFFICIAL_AND_SET),
    TrecMeasure("num_ret", printed="count", nicknames=OFFICIAL_AND_SET),
    TrecMeasure("num_rel", printed="count", nicknames=OFFICIAL_AND_SET),
    TrecMeasure("num_rel_ret", printed="count", nicknames=OFFICIAL_AND_SET),
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


@dataclass(frozen=True)
class PrintedValue:
    """A value that trec_eval prints for each query.

    Attributes
    ----------
    name : str
        As it is printed.
    trec_measure : TrecMeasure
    measure : Measure or None
        Our measure that computes it; None for a text.
    parameters : tuple of str
    """

    name: str
    trec_measure: TrecMeasure
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


def list_measures(version: int = 9) -> list[str]:
    """Return the names of the measures that a version of trec_eval has, in its order."""
    return [measure.name for measure in PRINTED_MEASURES if measure.since <= version]


def list_members(nickname: str, version: int = 9) -> list[str]:
    """Return the measures of a nickname."""
    return [name for name in list_measures(version) if nickname in MEASURES[name].nicknames]


def parse_requests(measures: Iterable[str], version: int = 9) -> dict[str, list[str]]:
    """Return the parameters of each requested measure, none for its defaults; nicknames are replaced.

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
    >>> parse_requests(["ndcg_cut.5,10", "ndcg_cut_20", "map"])
    {'ndcg_cut': ['5', '10', '20'], 'map': []}
    """
    requests: dict[str, list[str]] = {}
    known_names = list_measures(version)
    for request in measures:
        if request in NICKNAMES:
            members: dict[str, list[str]] = {name: [] for name in list_members(request, version)}
            requests = members | requests
            continue
        name, parameter_text = _split_request(str(request), known_names)
        if name not in known_names:
            raise _make_unknown_measure_error(str(request), name, version)
        texts = requests.setdefault(name, [])
        if not parameter_text:
            continue
        if texts and MEASURES[name].takes == "numbers":
            raise MeasureError(
                "its numbers make one value together and were given twice",
                given=parameter_text,
                measure=name,
                hint="call the command once for each of them",
            )
        texts.extend(parameter_text.split(","))
    return requests


def _split_request(request: str, known_names: Collection[str]) -> tuple[str, str]:
    """Split a request such as ``P.5,10`` or ``P_5`` into a name and the text of its parameters.

    Names contain underscores, too: only where the whole is no name can the last underscore begin the parameters.
    """
    name, _, parameter_text = request.partition(".")
    if name in known_names:
        return name, parameter_text
    match = UNDERSCORED.fullmatch(request)
    if match:
        return match["name"], match["parameters"]
    return name, parameter_text


def _make_unknown_measure_error(request: str, name: str, version: int) -> UnknownMeasureError:
    names = [*NICKNAMES, *list_measures(version)]
    if name in MEASURES:
        hint = f"trec_eval {MEASURES[name].since} has it"
        return UnknownMeasureError(f"trec_eval {version} has no measure {name!r}", hint=hint)
    if "prefs" in name or name.endswith(("_jg", "_avgjg")):
        return UnknownMeasureError(
            f"deadheat does not compute {name!r} of trec_eval", hint=f"here are {', '.join(names)}"
        )
    hint = did_you_mean(request, names) or f"All: {', '.join(names)}"
    return UnknownMeasureError(f"trec_eval {version} has no measure {request!r}", hint=hint)


def list_printed_values(
    requests: Mapping[str, Sequence[str]],
    rel: float,
    version: int = 9,
    *,
    n_documents: float = 0,
    levels: Collection[float] = (),
) -> list[PrintedValue]:
    """Return the values of requested measures, in trec_eval's order.

    Parameters
    ----------
    requests : mapping of str to sequence of str
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
    printed_values: list[PrintedValue] = []
    for name in list_measures(version):
        if name in requests:
            printed_values += _list_values_of_measure(MEASURES[name], tuple(requests[name]), settings, levels)
    return printed_values


def _list_values_of_measure(
    trec_measure: TrecMeasure, texts: tuple[str, ...], settings: Mapping[str, Any], levels: Collection[float]
) -> Iterator[PrintedValue]:
    """Give the values of one measure for the texts behind its dot, and for its defaults if there are none."""
    if trec_measure.takes == "cutoffs":
        texts = tuple(_read_cutoff(trec_measure, text) for text in texts)
    elif trec_measure.takes != "pairs":
        for text in texts:
            _read_number(trec_measure, text)
    if trec_measure.printed == "text":
        name = _format_name(trec_measure, texts)
        yield PrintedValue(name, trec_measure, None, texts or trec_measure.defaults)
    elif trec_measure.has_values:
        distinct = set(texts or trec_measure.defaults)
        for text in sorted(distinct, key=float):
            name = _format_name(trec_measure, (text,))
            measure = _apply_settings(parse_measure(name), {}, settings)
            yield PrintedValue(name, trec_measure, measure, texts)
    else:
        measure = parse_measure(trec_measure.name)
        if trec_measure.name == "11pt_avg" and texts:
            measure = AveragePrecisionAtPoints()
        measure = _apply_settings(measure, _read_parameters(trec_measure, texts, levels), settings)
        yield PrintedValue(_format_name(trec_measure, texts), trec_measure, measure, texts)


def _apply_settings(measure: Measure, own_parameters: Mapping[str, Any], settings: Mapping[str, Any]) -> Measure:
    """Return a measure with those settings of the whole call that it takes, and parameters of its own over them."""
    accepted = {field.name for field in fields(measure)}
    shared_parameters = {name: value for name, value in settings.items() if name in accepted}
    return measure(**{**shared_parameters, **own_parameters})


def _read_number(trec_measure: TrecMeasure, text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise MeasureError(
            given=text, allowed="numbers", measure=trec_measure.name, hint=_suggest_notation(trec_measure)
        )
    return number


def _read_cutoff(trec_measure: TrecMeasure, text: str) -> str:
    """Return a cutoff as trec_eval reads it: the whole number that it begins with, as 23 of ``23.5``."""
    match = CUTOFF.fullmatch(text)
    cutoff = int(match["whole"]) if match else 0
    if cutoff < 1:
        raise MeasureError(
            given=text,
            allowed="whole numbers from 1 on",
            measure=trec_measure.name,
            hint=_suggest_notation(trec_measure),
        )
    return str(cutoff)


def _suggest_notation(trec_measure: TrecMeasure) -> str:
    """Return the advice how to write the parameters of a measure."""
    if not trec_measure.defaults:
        return f"write it like {trec_measure.name}"
    return f"write it like {trec_measure.name}.{','.join(trec_measure.defaults[:3])}"


def _format_name(trec_measure: TrecMeasure, texts: Sequence[str]) -> str:
    """Return the name of a value with its parameters, as trec_eval prints it."""
    name = trec_measure.name
    if trec_measure.takes == "none" or not texts:
        return name
    if trec_measure.takes == "cutoffs":
        return f"{name}_{texts[0]}"
    if trec_measure.takes == "shares":
        return f"{name}_{float(texts[0]):.2f}"
    return f"{name}_{','.join(texts)}"


def _read_parameters(trec_measure: TrecMeasure, texts: Sequence[str], levels: Collection[float]) -> dict[str, Any]:
    """Return the parameters that make one value together, by the names that our measure has for them."""
    if not texts or trec_measure.takes == "none":
        return {}
    if trec_measure.takes == "pairs":
        return _read_pairs(trec_measure, texts, levels)
    if trec_measure.name == "11pt_avg":
        return {"points": _read_recall_levels(trec_measure, texts)}
    numbers = [_read_number(trec_measure, text) for text in texts]
    n_expected = len(trec_measure.defaults)
    if len(numbers) != n_expected:
        example = f"{trec_measure.name}.{','.join(trec_measure.defaults)}"
        raise MeasureError(
            found=",".join(texts),
            allowed=f"{n_expected} numbers behind the dot, such as {example}",
            measure=trec_measure.name,
        )
    if trec_measure.name == "set_F":  # its x is the square of van Rijsbergen's beta
        return {"beta": math.sqrt(max(numbers[0], 0.0))}
    return dict(zip("abcd", numbers, strict=True))  # of utility


def _read_pairs(trec_measure: TrecMeasure, texts: Sequence[str], levels: Collection[float]) -> dict[str, Any]:
    """Return the parameters in pairs such as ``1=3.5``, the gain of a level, or ``p=0.8``, a parameter by its name.

    Levels without a gain have their own value as gain.
    """
    named: dict[str, Any] = {}
    gains: dict[float, float] = {}
    pairs = [text.partition("=") for text in texts]
    if not all(equals_sign for _, equals_sign, _ in pairs):
        raise MeasureError(
            found=",".join(texts), allowed=f"pairs such as {trec_measure.name}.1=3,2=9", measure=trec_measure.name
        )
    for name, _, text in pairs:
        number = _read_number(trec_measure, text)
        if name.lstrip("-").isdigit():
            gains[int(name)] = number
        else:
            named[name] = number
    if gains:
        default_gains: dict[float, float] = {level: level for level in levels if level > 0}
        named["gain"] = default_gains | gains
    return named


def _read_recall_levels(trec_measure: TrecMeasure, texts: Sequence[str]) -> tuple[float, ...]:
    """Return the recall levels of 11pt_avg. trec_eval takes any number of them, and reads them from the last one on."""
    levels = tuple(_read_number(trec_measure, text) for text in texts)
    if list(levels) != sorted(levels) or levels[0] < 0 or levels[-1] > 1:
        raise MeasureError(
            given=",".join(texts),
            allowed="recall levels from 0 to 1, the lowest first",
            measure=trec_measure.name,
            hint="write it like 11pt_avg.0.25,0.5,0.75",
        )
    return levels
