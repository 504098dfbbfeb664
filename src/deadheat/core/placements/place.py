"""From two sources to placements: place() opens both, chooses an engine for them, and has it find the placements.

`choose_engine` knows the engine for each kind of rows, and imports only that one. Two more engines are made elsewhere,
by evaluations: `StackedRunsEngine` for several runs, and `ShorteningEngine` around another engine.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import TYPE_CHECKING, Never, Protocol

from deadheat.core.arrays import IntArray
from deadheat.core.checks import refuse_arguments
from deadheat.core.data.document_table import check_tables
from deadheat.core.data.excluding import read_exclusion
from deadheat.core.data.qrels import Qrels
from deadheat.core.data.rounding import ScorePrecision
from deadheat.core.data.rows import MappingRows, MemoryRows
from deadheat.core.data.run import Run
from deadheat.core.data.source_columns import refuse_one_column
from deadheat.core.data.sources import Source
from deadheat.core.data.swapped import looks_swapped
from deadheat.core.data.unread_rows import LazyRows, UnreadRows
from deadheat.core.errors import DeadheatWarning, ParameterError
from deadheat.core.placements.passes import find_passes
from deadheat.core.placements.placements import Placements

if TYPE_CHECKING:
    from deadheat.core.placements.contiguous import ContiguousEngine


class Engine(Protocol):
    """Finds placements. There is a class for each way to store rows, and one for shortened lists."""

    def place(self) -> Placements:
        """Return the placements of the judged documents."""

    def count_first(self, placements: Placements, rows: IntArray, rule: str) -> IntArray:
        """Count, for each of the given placements, the documents of its tie that a rule puts before it.

        Parameters
        ----------
        placements : Placements
            Those of the engine, or of some of its queries.
        rows : ndarray of int, shape (n,)
            Rows of documents that tie with others, ascending.
        rule : {"doc_id", "input"}
            Document ids, descending by UTF-8 bytes (as trec_eval sorts), or the order of the rows.

        Returns
        -------
        ndarray of int, shape (n,)
        """


def place(
    qrels: Source,
    run: Source,
    *,
    doc_id_of: str | None = None,
    duplicates: str = "error",
    score_precision: ScorePrecision = None,
    exclude: Source | None = None,
    **gone: Never,
) -> Placements:
    """Reduce a run to the placements of its judged documents.

    Parameters
    ----------
    qrels, run : path, dict of dict, tuples, dataframe, Qrels or Run
    doc_id_of : str, optional
    duplicates : {"error", "best", "first", "trust"}, default "error"
        As for :func:`deadheat.evaluate`.
    score_precision : {"float32", "float16", "bfloat16"} or int, optional
        Round all scores first, to a floating-point format or to this many decimals.
    exclude : {"self"}, dict, rows, path, dataframe or Qrels, optional
        Documents to leave out first, as for :func:`evaluate`.

    Returns
    -------
    Placements

    Raises
    ------
    DataError
        The subclass that says what is wrong with the data.

    Examples
    --------
    >>> place({"q1": {"d2": 1}}, {"q1": {"d1": 0.9, "d2": 0.5, "d3": 0.5}}).to_polars().row(0)
    ('q1', 'd2', 1.0, 1, 2)
    """
    refuse_arguments("place", gone)
    qrels, run = open_pair(qrels, run, doc_id_of=doc_id_of, duplicates=duplicates)
    exclusion = read_exclusion(exclude)
    qrels = exclusion.of_qrels(qrels)
    run = exclusion.of_run(run)
    return choose_engine(qrels, run, score_precision).place()


def open_judgments(qrels: Source, runs: Iterable[Source]) -> Qrels:
    """Read judgments for runs; they need no ids of queries if a run has none either."""
    for run in runs:
        by_position: Qrels | None = run.rows.qrels_by_position(qrels) if isinstance(run, Run) else None
        if by_position is not None:
            return by_position
    return Qrels.of(qrels)


def open_pair(
    qrels: Source,
    run: Source,
    *,
    ascending: bool = False,
    doc_id_of: str | None = None,
    duplicates: str = "error",
) -> tuple[Qrels, Run]:
    """Read both sources and check each by itself."""
    qrels = open_judgments(qrels, [run])
    run = Run.of(run, ascending=ascending, doc_id_of=doc_id_of, duplicates=duplicates)
    if looks_swapped(qrels, run):
        warnings.warn(
            f"{qrels.where} holds fractions and {run.where} small whole numbers: were qrels and run given"
            " in the wrong order?",
            DeadheatWarning,
            stacklevel=3,
        )
    check_tables(qrels, run)
    return qrels, run


def choose_engine(qrels: Qrels, run: Run, precision: ScorePrecision = None, *, rule: str | None = None) -> Engine:
    """Return the engine for a run and a precision of scores; to round them, rows of other libraries go to Polars.

    Parameters
    ----------
    qrels, run : Qrels, Run
    precision : str, int or None
    rule : {"doc_id", "input"}, optional
        What the engine will be asked to count by. One that passes over rows counts by it in the pass that finds the
        placements.
    """
    refuse_one_column(qrels.source_columns, run.source_columns, qrels.where)
    if run.by_keys is not None:
        _check_ranks_are_not_rounded(run.by_keys, precision)
        precision = None
    engine_of_rows: Engine | None = run.rows.engine(qrels, run, precision)
    if engine_of_rows is not None:
        return engine_of_rows
    if isinstance(run.rows, MappingRows):
        from deadheat.core.placements.mapping_engine import MappingEngine

        return MappingEngine(qrels, run, precision)
    from deadheat.core.placements.contiguous import ContiguousEngine
    from deadheat.core.placements.top_rows import TopRows, TopRowsEngine

    if isinstance(run.rows, TopRows):
        return TopRowsEngine(qrels, run, precision)
    passes = find_passes(run)
    if passes is not None:
        by_query: Engine = passes.ByQuery(qrels, run, precision, rule)
        return by_query
    if isinstance(run.rows, UnreadRows):
        return hold_in_memory(qrels, run, precision)
    run = run.rounded(precision)
    if isinstance(run.rows, LazyRows):
        from deadheat.core.placements.relational import RelationalEngine, can_join  # they need Narwhals

        if can_join(qrels, run):
            return RelationalEngine(qrels, run)
    rows = run.rows
    if not isinstance(rows, MemoryRows):
        rows = MemoryRows(run.to_polars())
    return ContiguousEngine(qrels, run, rows.blocks)


def _check_ranks_are_not_rounded(precisions: tuple[ScorePrecision], precision: ScorePrecision) -> None:
    """Raise `ParameterError` for a precision of ranks by several keys, unless it is that of one of the keys."""
    if precision in {None, *precisions}:
        return
    raise ParameterError(
        "scores by several keys are ranks, which cannot be rounded",
        hint="round the scores of each key first: Run.then_by(..., score_precision=)",
    )


def hold_in_memory(qrels: Qrels, run: Run, precision: ScorePrecision) -> ContiguousEngine:
    """Return the engine for a run with `UnreadRows`, whose rows are all checked and taken into memory."""
    from deadheat.core.placements.contiguous import ContiguousEngine

    rows = run.rows
    if isinstance(rows, UnreadRows) and rows.duplicates == "error":
        run.check_duplicates(now=True)
    held = run.rounded(precision)
    frame = held.to_polars()
    if isinstance(rows, UnreadRows):
        run.notes = tuple(dict.fromkeys((*run.notes, *rows.notes())))
    return ContiguousEngine(qrels, held, MemoryRows(frame).blocks)
