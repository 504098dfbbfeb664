"""trec_eval: its lines, computed by deadheat.

Versions 9 and 10 differ: 10 compares scores in 64 bits, 9 in 32; 10 prints topics that the run lacks with -c -q, and
stops at them without -c, where 9 leaves them out; 10 rounds the number of documents at a recall level, 9 does so in
part; 10 has rbp, rbp_resid and unj too.

The measures themselves, with their parameters, are in `trec_measures`.
"""

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from deadheat.core.arrays import BoolArray, FloatArray
from deadheat.core.data.qrels import Qrels
from deadheat.core.data.run import Run
from deadheat.core.errors import DataError
from deadheat.core.io.files import blocks
from deadheat.core.measures import Measure
from deadheat.core.placements import policies
from deadheat.core.placements.place import choose_engine
from deadheat.core.placements.placements import Placements
from deadheat.core.placements.shorter_lists import condense, truncate
from deadheat.core.wording import escape_commands, escape_invisible, format_count, format_list, format_rounded
from deadheat.plugins.compat.evaluating import OF_TREC_EVAL
from deadheat.plugins.compat.trec_measures import PrintedValue, list_printed_values

# Six fields at the beginning of a line, which is no comment, and what follows them. `\s` is what C's isspace takes
TRAILING_TEXT = re.compile(rb"^([^\S\n]*[^\s#]\S*(?:[^\S\n]+\S+){5})[^\S\n]+\S[^\n]*", re.MULTILINE)

# What `relstring` shows of a document that has no digit for its relevance
UNJUDGED = "-"
NEGATIVE = "."
ABOVE_NINE = ">"
TIED = "?"  # which of several documents has this rank is not known


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
        Parameters by measure, as `parse_requests` returns them.
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
    placements = _place(qrels, run, complete=complete, version=version, ties=ties)
    missing = placements.missing
    levels = np.unique(placements.judged_relevance).tolist()
    printed_values = list_printed_values(measures, level, version, n_documents=n_documents, levels=levels)
    evaluated = placements
    if depth is not None:
        evaluated = truncate(evaluated, depth)
    if judged_only:
        evaluated = condense(evaluated)
    values_by_name: dict[str, FloatArray] = {}
    for printed_value in printed_values:
        if printed_value.measure is not None:
            values = _compute_values(printed_value, printed_value.measure, evaluated, missing)
            values_by_name[printed_value.name] = values
    if note is not None and ties == "expected":
        estimates = _describe_estimates(printed_values, evaluated)
        if estimates:
            note(f"estimated: {estimates}")
    if has_queries:
        # version 10 prints topics that the run lacks, too
        is_shown = ~missing if version == 9 else np.ones_like(missing)
        yield from _format_topics(printed_values, evaluated, values_by_name, is_shown)
    if has_summary:
        n_relevant = None
        if complete:
            n_relevant = int((placements.judged_relevance > 0).sum())
        yield from _format_summary(printed_values, values_by_name, tag, n_relevant)


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


def _describe_estimates(printed_values: Sequence[PrintedValue], placements: Placements) -> str:
    """Say which values are means over drawn orders, and how far those of a topic may be off; empty if none is."""
    estimated_names: list[str] = []
    largest_n_topics = 0
    largest_error = 0.0
    for printed_value in printed_values:
        if printed_value.measure is None:
            continue
        errors = printed_value.measure.standard_error(placements)
        n_topics = int(np.count_nonzero(errors > 0))
        if not n_topics:
            continue
        estimated_names.append(printed_value.name)
        largest_n_topics = max(largest_n_topics, n_topics)
        largest_error = max(largest_error, float(errors[errors > 0].max()))
    if not estimated_names:
        return ""
    topics = format_count(largest_n_topics, "topic")
    error = format_rounded(largest_error)
    names = ", ".join(estimated_names)
    return f"{names}: orders of ties were drawn for up to {topics}, with a standard error of up to {error}"


def _place(qrels: Qrels, run: Run, *, complete: bool, version: int, ties: str) -> Placements:
    """Return the placements of the topics that count, after the tie policy."""
    # version 10 holds a score in 64 bits, earlier ones in 32; under the other policies all bits count
    precision = "float32" if ties == OF_TREC_EVAL and version < 10 else None
    engine = choose_engine(qrels, run, precision)
    placements = engine.place()
    missing = placements.missing
    if not complete and missing.any():
        if version > 9:
            missing_topics = placements.query_ids[missing].tolist()
            listed_topics = format_list([repr(topic) for topic in missing_topics])
            raise DataError(
                f"{run.where} lacks {format_count(len(missing_topics), 'topic')} of the qrels:"
                f" {listed_topics}; trec_eval 10 stops here",
                hint="-c counts them with 0, and --like 9 leaves them out",
            )
        if missing.all():
            raise DataError(
                f"{run.where} has no document for any topic of the qrels, and trec_eval leaves such topics out",
                hint="-c counts them with 0",
            )
        placements = placements.select(~missing)
    return policies.apply(placements, ties, engine=engine)


def _compute_values(
    printed_value: PrintedValue, measure: Measure, placements: Placements, missing: BoolArray
) -> FloatArray:
    """Return the values of all topics; of one that the run lacks it is 0, whatever an empty list would have."""
    values = measure.mean(placements)
    # counts and logarithms are those of a topic without results, too
    if printed_value.name in {"num_q", "num_rel"} or printed_value.trec_measure.is_geometric:
        return values
    return np.where(missing, 0.0, values)


def _format_topics(
    printed_values: Sequence[PrintedValue],
    placements: Placements,
    values_by_name: Mapping[str, FloatArray],
    is_shown: BoolArray,
) -> Iterator[str]:
    """Give the lines of each topic that is shown."""
    texts_by_name: dict[str, list[str]] = {}
    for printed_value in printed_values:
        if not printed_value.trec_measure.has_queries:
            continue
        if printed_value.measure is None:
            n_documents = int(float(printed_value.parameters[0]))
            texts = _format_relevance_strings(placements, n_documents)
        else:
            values = values_by_name[printed_value.name].tolist()
            texts = [_format_number(printed_value, value) for value in values]
        texts_by_name[printed_value.name] = texts
    for topic in np.flatnonzero(is_shown).tolist():
        topic_id = escape_commands(escape_invisible(placements.query_ids[topic]))
        for name, texts in texts_by_name.items():
            yield _format_line(name, topic_id, texts[topic])


def _format_summary(
    printed_values: Sequence[PrintedValue],
    values_by_name: Mapping[str, FloatArray],
    tag: str,
    n_relevant: int | None,
) -> Iterator[str]:
    """Give the lines of all topics together.

    With -c trec_eval counts all relevance above 0 as `num_rel`, whatever -l says: `n_relevant` is this number.
    """
    for printed_value in printed_values:
        if not printed_value.trec_measure.has_summary:
            continue
        if printed_value.measure is None:  # runid
            text = escape_commands(escape_invisible(tag))
        else:
            values = values_by_name[printed_value.name].tolist()
            summary = _summarize(printed_value, values)
            if printed_value.name == "num_rel" and n_relevant is not None:
                summary = n_relevant
            text = _format_number(printed_value, summary)
        yield _format_line(printed_value.name, "all", text)


def _summarize(printed_value: PrintedValue, values: Sequence[float]) -> float:
    """Return the sum of counts, the geometric mean of logarithms, else the mean."""
    total = float(sum(values))
    if printed_value.trec_measure.printed == "count":
        return total
    mean = total / len(values)
    if printed_value.trec_measure.is_geometric:
        return math.exp(mean)
    return mean


def _format_number(printed_value: PrintedValue, value: float) -> str:
    if printed_value.trec_measure.printed == "count":
        return str(int(value))
    return f"{value:6.4f}"


def _format_line(name: str, topic_id: str, value: str) -> str:
    return f"{name:<22}\t{topic_id}\t{value}"


def _format_relevance_strings(placements: Placements, n_documents: int) -> list[str]:
    """Return the relevance of the first documents of each list, in quotes, one character for each document."""
    characters_of_topics: list[list[str]] = []
    for n_retrieved in placements.n_retrieved.tolist():
        characters_of_topics.append([UNJUDGED] * min(n_documents, n_retrieved))
    rows = np.flatnonzero(placements.above < n_documents)
    topics = placements.query[rows].tolist()
    above = placements.above[rows].tolist()
    tied = placements.tied[rows].tolist()
    relevances = placements.relevance[rows].tolist()
    for topic, n_above, n_tied, relevance in zip(topics, above, tied, relevances, strict=True):
        characters = characters_of_topics[topic]
        character = TIED if n_tied > 1 else _format_relevance(relevance)
        end_of_tie = min(n_above + n_tied, len(characters))  # the string may end within the tie
        for rank in range(n_above, end_of_tie):
            characters[rank] = character
    return [f"'{''.join(characters)}'" for characters in characters_of_topics]


def _format_relevance(relevance: float) -> str:
    """Return the character of a relevance."""
    if relevance < 0:
        return NEGATIVE
    if relevance > 9:
        return ABOVE_NINE
    return str(int(relevance))
