"""trec_eval: its lines, computed by deadheat.

Versions 9 and 10 differ: 10 compares scores in 64 bits, 9 in 32; 10 prints topics that the run lacks with -c -q, and
stops at them without -c, where 9 leaves them out; 10 rounds the number of documents at a recall level, 9 does so in
part; 10 has rbp, rbp_resid and unj too.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from deadheat.arrays import BoolArray, FloatArray
from deadheat.compat.evaluating import OF_TREC_EVAL
from deadheat.compat.trec_names import PrintedValue, columns
from deadheat.data.tables import Qrels, Run
from deadheat.errors import DataError
from deadheat.measures import Measure
from deadheat.placements import policies
from deadheat.placements.place import engine_of
from deadheat.placements.placements import Placements
from deadheat.placements.shortened import condense, truncate
from deadheat.wording import counted, printable, rounded, three

VERSIONS = (9, 10)
KEPT = {"num_q", "num_rel"}  # values that a topic without results has too
UNJUDGED, BELOW, BEYOND, UNKNOWN = "-", ".", ">", "?"  # in the place of a relevance; the last one inside a tie


@dataclass(frozen=True, kw_only=True)
class TrecOptions:
    """What trec_eval's options say.

    Attributes
    ----------
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
    """

    level: float = 1
    complete: bool = False
    has_queries: bool = False
    has_summary: bool = True
    judged_only: bool = False
    depth: int | None = None
    n_documents: int = 0
    version: int = 9
    ties: str = OF_TREC_EVAL


def trec_eval(
    qrels: Qrels,
    run: Run,
    measures: Mapping[str, Sequence[str]],
    options: TrecOptions,
    tag: str,
    *,
    note: Callable[[str], object] | None = None,
) -> Iterator[str]:
    """Yield the lines that trec_eval prints.

    Parameters
    ----------
    qrels, run : Qrels, Run
    measures : mapping of str to sequence of str
        Parameters by measure, as `requested` returns them.
    options : Options
    tag : str
        Of the run.
    note : callable, optional
        Is told of values that are means over drawn orders, as there are too many to count.

    Raises
    ------
    DataError
        The run lacks a topic, at which trec_eval 10 stops.

    Examples
    --------
    >>> qrels, run = Qrels({"q": {"a": 1}}), Run({"q": {"a": 0.5, "b": 0.5}})
    >>> for line in trec_eval(qrels, run, {"map": [], "P": ["1", "2"], "runid": []}, TrecOptions(), "bm25"):
    ...     print(line.expandtabs(1))
    runid                  all bm25
    map                    all 0.5000
    P_1                    all 0.0000
    P_2                    all 0.5000
    """
    placements = _placed(qrels, run, options)
    levels = np.unique(placements.judged_relevance).tolist()
    chosen = columns(measures, options.level, options.version, n_documents=options.n_documents, levels=levels)
    missing = placements.missing
    shorter = placements if options.depth is None else truncate(placements, options.depth)
    ranked = condense(shorter) if options.judged_only else shorter
    values = {one.name: _values(one, one.measure, ranked, missing) for one in chosen if one.measure is not None}
    if note is not None and options.ties == "expected" and (estimated := _estimated(chosen, ranked)):
        note(f"estimated: {estimated}")
    if options.has_queries:
        yield from _by_query(chosen, ranked, values, ~missing if options.version == 9 else np.ones_like(missing))
    if options.has_summary:
        n_relevant = int((placements.judged_relevance > 0).sum()) if options.complete else None
        yield from _summary(chosen, values, tag, n_relevant)


def _estimated(chosen: Sequence[PrintedValue], placements: Placements) -> str:
    """Say which values are means over drawn orders, and how far those of a topic may be off; empty if none is."""
    errors = {one.name: one.measure.standard_error(placements) for one in chosen if one.measure is not None}
    drawn = {name: own[own > 0] for name, own in errors.items() if (own > 0).any()}
    if not drawn:
        return ""
    topics = counted(max(map(len, drawn.values())), "topic")
    error = rounded(max(float(own.max()) for own in drawn.values()))
    return f"{', '.join(drawn)}: orders of ties were drawn for up to {topics}, with a standard error of up to {error}"


def _placed(qrels: Qrels, run: Run, options: TrecOptions) -> Placements:
    """Return the placements of the topics that count, after the tie policy."""
    # version 10 holds a score in 64 bits, earlier ones in 32; under the other policies all bits count
    in_32_bits = options.ties == OF_TREC_EVAL and options.version < VERSIONS[1]
    engine = engine_of(qrels, run, "float32" if in_32_bits else None)
    placements = engine.place()
    missing = placements.missing
    if not options.complete and missing.any():
        if options.version > VERSIONS[0]:
            lacking = placements.query_ids[missing].tolist()
            raise DataError(
                f"{run.where} lacks {counted(len(lacking), 'topic')} of the qrels: {three([*map(repr, lacking)])};"
                " trec_eval 10 stops here",
                hint="-c counts them with 0, and --like 9 leaves them out",
            )
        placements = placements.select(~missing)
    return policies.apply(placements, options.ties, engine=engine)


def _values(one: PrintedValue, measure: Measure, placements: Placements, missing: BoolArray) -> FloatArray:
    """Return the values of all topics; of one that the run lacks it is 0, whatever an empty list would have."""
    values = measure.mean(placements)
    return values if one.name in KEPT or one.of.is_geometric else np.where(missing, 0.0, values)


def _by_query(
    chosen: Sequence[PrintedValue], placements: Placements, values: Mapping[str, FloatArray], is_shown: BoolArray
) -> Iterator[str]:
    of_text = [one for one in chosen if one.measure is None and one.of.has_queries]
    texts = {one.name: _relevance_texts(placements, int(float(one.parameters[0]))) for one in of_text}
    shown = [one for one in chosen if one.of.has_queries]
    listed = {name: own.tolist() for name, own in values.items()}
    for number, query in enumerate(placements.query_ids.tolist()):
        if is_shown[number]:
            for one in shown:
                value = (
                    f"'{texts[one.name][number]}'" if one.measure is None else _number(one, listed[one.name][number])
                )
                yield _line(one.name, printable(query), value)


def _summary(
    chosen: Sequence[PrintedValue], values: Mapping[str, FloatArray], tag: str, n_relevant: int | None
) -> Iterator[str]:
    for one in chosen:
        if not one.of.has_summary:
            continue
        if one.measure is None:
            yield _line(one.name, "all", printable(tag))
            continue
        total = float(sum(values[one.name].tolist()))
        if one.name == "num_rel" and n_relevant is not None:
            total = n_relevant  # with -c trec_eval counts all relevance above 0, whatever -l says
        mean = total / len(values[one.name])
        value = total if one.of.printed == "count" else math.exp(mean) if one.of.is_geometric else mean
        yield _line(one.name, "all", _number(one, value))


def _number(one: PrintedValue, value: float) -> str:
    return str(int(value)) if one.of.printed == "count" else f"{value:6.4f}"


def _line(name: str, query: str, value: str) -> str:
    return f"{name:<22}\t{query}\t{value}"


def _relevance_texts(placements: Placements, size: int) -> list[str]:
    """Return the relevance of the first documents of each list, one character for each."""
    texts = [[UNJUDGED] * min(size, n) for n in placements.n_retrieved.tolist()]
    rows = np.flatnonzero(placements.above < size)
    columns_of_rows = (placements.query, placements.above, placements.tied, placements.relevance)
    for query, above, tied, relevance in zip(*(column[rows].tolist() for column in columns_of_rows), strict=True):
        character = BELOW if relevance < 0 else BEYOND if relevance > 9 else str(int(relevance))
        own = texts[query]
        own[above : above + tied] = [character if tied == 1 else UNKNOWN] * len(own[above : above + tied])
    return ["".join(own) for own in texts]
