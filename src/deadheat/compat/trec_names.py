"""trec_eval's measures: in which order it prints them, with which parameters, and which measure of ours each is.

What is computed follows from the registry of measures, where each class names what trec_eval calls it. Here is only
what trec_eval itself decides: order, default cutoffs, how a value is printed and averaged.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache
from typing import Literal

from deadheat.errors import UnknownMeasureError
from deadheat.measures import Measure, parse_measure

Parameters = Literal["none", "cutoffs", "shares", "numbers", "pairs"]
Printed = Literal["number", "count", "text"]

CUTOFFS = ("5", "10", "15", "20", "30", "100", "200", "500", "1000")
TENTHS = tuple(f"{n / 10:.1f}" for n in range(11))


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
    takes: Parameters = "none"
    defaults: tuple[str, ...] = ()
    printed: Printed = "number"
    has_queries: bool = True
    has_summary: bool = True
    nicknames: tuple[str, ...] = ("all_trec",)
    since: int = 9

    @property
    def has_values(self) -> bool:
        """Whether each parameter makes a value of its own."""
        return self.takes in {"cutoffs", "shares"}

    @property
    def is_sum(self) -> bool:
        """Whether all queries together have the sum of their values, not the mean."""
        return self.printed == "count"

    @property
    def is_geometric(self) -> bool:
        """Whether all queries together have the geometric mean; single values are logarithms."""
        return self.name.startswith("gm_")


OFFICIAL, SET, BOTH = ("all_trec", "official"), ("all_trec", "set"), ("all_trec", "official", "set")

MEASURES = {
    one.name: one
    for one in (  # in the order in which trec_eval prints them
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
        TrecMeasure("Rprec_mult", "shares", tuple(f"{n / 5:.1f}" for n in range(1, 11))),
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
}
NICKNAMES = ("official", "set", "all_trec")


@dataclass(frozen=True)
class Column:
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


def known(version: int = 9) -> list[str]:
    """Return the names of the measures that a version of trec_eval has and deadheat computes, in trec_eval's order."""
    return [one.name for one in MEASURES.values() if one.since <= version and _is_computed(one)]


def members(nickname: str, version: int = 9) -> list[str]:
    """Return the measures of a nickname."""
    return [name for name in known(version) if nickname in MEASURES[name].nicknames]


@cache
def _is_computed(one: TrecMeasure) -> bool:
    if one.printed == "text":
        return True
    try:
        parse_measure(_printed(one, one.defaults[:1]))
    except UnknownMeasureError:
        return False
    return True


def columns(wanted: Mapping[str, Sequence[str]], rel: float, version: int = 9) -> list[Column]:
    """Return the values of measures, in trec_eval's order.

    Parameters
    ----------
    wanted : mapping of str to sequence of str
        The parameters of each measure; none for its defaults.
    rel : float
        Lowest relevance that counts as relevant.
    version : int, default 9
        Of trec_eval.
    """
    found: list[Column] = []
    for name in known(version):
        if name in wanted:
            found += _columns(MEASURES[name], tuple(wanted[name]), rel)
    return found


def _columns(one: TrecMeasure, given: tuple[str, ...], rel: float) -> Iterable[Column]:
    if one.printed == "text":
        return [Column(_printed(one, given), one, None, given or one.defaults)]
    if not one.has_values:
        measure = _with_rel(parse_measure(one.name), rel)
        return [Column(_printed(one, given), one, _with_numbers(one, measure, given), given)]
    values = sorted(set(given or one.defaults), key=float)
    return [
        Column(name, one, _with_rel(parse_measure(name), rel), (value,))
        for value in values
        for name in [_printed(one, (value,))]
    ]


def _printed(one: TrecMeasure, given: Sequence[str]) -> str:
    """Return a name with parameters, as trec_eval prints it."""
    if one.takes == "none" or not given:
        return one.name
    if one.takes == "cutoffs":
        return f"{one.name}_{int(given[0])}"
    if one.takes == "shares":
        return f"{one.name}_{float(given[0]):.2f}"
    return f"{one.name}_{','.join(given)}" if tuple(given) != one.defaults else one.name


def _with_rel(measure: Measure, rel: float) -> Measure:
    return measure(rel=rel) if any(field.name == "rel" for field in fields(measure)) else measure


def _with_numbers(one: TrecMeasure, measure: Measure, given: Sequence[str]) -> Measure:
    """Return a measure with its parameters, which trec_eval gives no names."""
    if not given:
        return measure
    return measure
