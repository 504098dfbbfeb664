"""What usually means wrong data, as a warning: ids that do not match, missing queries, levels that nothing reaches."""

import re
import warnings
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from deadheat.core.data.chunk_doubts import describe_other_chunks
from deadheat.core.data.document_table import DocumentTable
from deadheat.core.data.qrels import Qrels
from deadheat.core.data.run import Run
from deadheat.core.data.sources import Source, as_path
from deadheat.core.data.swapped import looks_swapped
from deadheat.core.errors import DeadheatWarning, NothingJudgedWarning
from deadheat.core.evaluation.evaluation import Evaluation
from deadheat.core.evaluation.query_columns import heavy
from deadheat.core.io.texts import hint_at_texts
from deadheat.core.libraries import polars as pl
from deadheat.core.measures import Measure
from deadheat.core.placements.matching import hint_at_lost_zeros
from deadheat.core.wording import format_count, format_list

LOOKED = 100  # documents, among which one with zeros in front is looked for
PADDED = re.compile("^0+[0-9]+$", re.MULTILINE)


def warn(
    evaluations: Mapping[str, Evaluation], qrels: Qrels, runs: Mapping[str, Run], *, missing: str | None = "empty"
) -> None:
    """Warn the caller of the calling function.

    Parameters
    ----------
    evaluations, runs : mapping of str to Evaluation, to Run
    qrels : Qrels
    missing : str or None
        As the user gave it: None did not confirm that missing queries count as empty rankings.
    """
    lacking = _missing(evaluations) if missing is None else ()
    first = next(iter(evaluations.values()))
    of_levels = list(find_missed_levels(first.measures, first.placements.max_relevance, qrels.where))
    if of_levels and any(looks_swapped(qrels, run) for run in runs.values()):
        of_levels = []  # the advice on levels would mislead
    of_ids = (told for name, run in runs.items() for told in _ids(evaluations[name], qrels, run))
    _tell([*of_levels, *lacking, *_heavy(first), *of_ids])


def warn_of_form(evaluation: Evaluation, qrels: Qrels, run: Run) -> None:
    """Warn of what no report says: ids that differ in their form alone, and one table for qrels and run."""
    _tell([*_unequal(evaluation, run), *_other_chunks(qrels, run), *_one_table(evaluation, qrels, run)])


def warn_of_one_table(evaluation: Evaluation, qrels: Source, run: Source) -> None:
    """Warn of qrels and run that are one table, as the caller gave them."""
    _tell(_one_table(evaluation, qrels, run))


def _tell(told: Iterable[DeadheatWarning]) -> None:
    for one in told:
        warnings.warn(one, stacklevel=4)


def _missing(evaluations: Mapping[str, Evaluation]) -> Iterator[DeadheatWarning]:
    """Find runs that lack most queries, which then count as empty rankings by default.

    Search engines leave some queries without a result, and `Evaluation` shows these. A mean of mostly empty rankings
    usually means wrong ids or an incomplete run, unless they were given with empty lists.
    """
    named = []
    for name, evaluation in evaluations.items():
        absent = evaluation.missing_queries
        if 2 * len(absent) > len(evaluation.query_ids):
            queries = format_count(len(evaluation.query_ids), "query", "queries")
            examples = format_list([*map(repr, absent)])
            named.append(f"{name} lacks {len(absent):,} of {queries} of the qrels ({examples})")
    if named:
        yield DeadheatWarning(
            f"{'; '.join(named)}: they count as empty rankings, 0 by most measures. missing='empty' confirms that this"
            " is intended; missing='skip' leaves them out"
        )


def _heavy(evaluation: Evaluation) -> Iterator[DeadheatWarning]:
    """Find queries with more than a tenth of the weight, on which a mean hangs."""
    if found := heavy(evaluation.query_ids, evaluation.weights):
        told = format_list([f"{query} ({share:.0%})" for query, share in found.items()])
        yield DeadheatWarning(
            f"{evaluation.name}: means depend on few queries, each with more than a tenth of the weight: {told}"
        )


def find_missed_levels(measures: Iterable[Measure], highest: float, where: str) -> Iterator[DeadheatWarning]:
    """Find that no relevance reaches the level that measures have by default; who names a level knows of it.

    Parameters
    ----------
    measures : iterable of Measure
    highest : float
        The highest relevance of the judgments.
    where : str
        What the judgments are called in messages.
    """
    level_of_measure = {measure: float(getattr(measure, "rel", 0)) for measure in measures}
    missed = []
    for measure, level in level_of_measure.items():
        if 0 < highest < level and "rel=" not in str(measure):
            missed.append(measure)
    if not missed:
        return
    level = level_of_measure[missed[0]]
    count, find = ("counts", "it finds") if len(missed) == 1 else ("count", "they find")
    yield DeadheatWarning(
        f"{where}: the highest relevance is {highest:g}, and {format_list([measure.label for measure in missed])}"
        f" {count} documents as relevant from rel={level:g}: {find} none. Lower it, as in"
        f" {type(missed[0]).__name__}(rel={highest:g})"
    )


def _ids(evaluation: Evaluation, qrels: Qrels, run: Run) -> Iterator[DeadheatWarning]:
    """Find that no retrieved document is judged, or some are not found: usually ids are written in different ways."""
    yield from _unequal(evaluation, run)
    yield from _other_chunks(qrels, run)
    if len(evaluation.placements.query):
        yield from _lost_zeros(evaluation, qrels, run)
    if not evaluation.placements.is_unmatched:
        return
    some = {table.where: table.rows.sample_documents(3) for table in (run, qrels)}
    examples = "; ".join(f"{where} has {', '.join(map(repr, ids))}" for where, ids in some.items())
    hint = hint_at_lost_zeros(*some.values()) + hint_at_texts(*some.values())
    yield NothingJudgedWarning(f"no retrieved document is judged: are the document ids written alike? {examples}{hint}")


def _unequal(evaluation: Evaluation, run: Run) -> Iterator[DeadheatWarning]:
    return (DeadheatWarning("{found}; they count as different", run.where, found=found) for found in evaluation.alike)


def _other_chunks(qrels: Qrels, run: Run) -> Iterator[DeadheatWarning]:
    """Find a run whose chunks are others than those that were judged."""
    found = describe_other_chunks(qrels, run)
    if found:
        yield DeadheatWarning("{found}", run.where, found=found)


def _lost_zeros(evaluation: Evaluation, qrels: Qrels, run: Run) -> Iterator[DeadheatWarning]:
    """Find judged documents with zeros in front that the run lost."""
    # what follows reads all rows; who reads ids as numbers loses the zeros of all of them
    if not _shows_zeros(qrels) or _shows_zeros(run):
        return
    judged = qrels.to_polars()["doc_id"].unique()
    found = pl.Series(evaluation.placements.doc_ids.tolist(), dtype=pl.String)
    padded = judged.filter(judged.str.contains(PADDED.pattern) & ~judged.is_in(found.implode()))
    retrieved = run.rows.find_documents(padded.str.strip_chars_start("0").unique())
    lost = padded.filter(padded.str.strip_chars_start("0").is_in(retrieved.implode()))
    if len(lost):
        yield NothingJudgedWarning(
            f"{format_count(len(lost), 'judged document')} such as {lost[0]!r} of {qrels.where}"
            f" {'is' if len(lost) == 1 else 'are'} not retrieved, and {lost[0].lstrip('0')!r} is: zeros in front were"
            f" lost in {run.where}, read ids as text"
        )


def _shows_zeros(table: DocumentTable) -> bool:
    """Tell whether one of the first documents of a table is a number with zeros in front."""
    documents = table.rows.sample_documents(LOOKED)
    return PADDED.search("\n".join(documents)) is not None  # in a tenth of the time that a look at each takes


def _one_table(evaluation: Evaluation, qrels: Source, run: Source) -> Iterator[DeadheatWarning]:
    """Find that qrels and run are one table, and so are its judged and retrieved documents: others are missing.

    Ragas has two columns of documents in one table; a format with features, such as LETOR, has all documents.
    """
    path, other = (one.path if isinstance(one, DocumentTable) else as_path(one) for one in (qrels, run))
    is_one = run is qrels if path is None else path == other and path.is_file()
    placed = evaluation.placements
    are_all = len(placed.query) == len(placed.judged_query) == int(placed.n_retrieved.sum())
    if is_one and are_all and (path is None or not _has_all(path)):
        yield DeadheatWarning(
            f"{path or 'one table'}: qrels and run are the same, so only retrieved documents are judged, and recall, AP"
            " and nDCG are higher than they are among all relevant documents: give these as qrels"
        )


def _has_all(path: Path) -> bool:
    """Tell whether a file is of a format that has the judgments and the scores of all documents."""
    from deadheat.core.io.formats import find_format  # dicts need no formats of files

    return find_format(path, None).has_all
