"""Placements of a dict of dicts: judged documents are looked up and scores counted, without building a frame."""

from __future__ import annotations

import numpy as np
import polars as pl

from deadheat.arrays import FloatArray, IntArray
from deadheat.data.precision import ScorePrecision, round_and_warn, round_scores
from deadheat.data.rows import MappingRows
from deadheat.data.tables import Qrels, Run
from deadheat.io.mappings import look_up, series_of_ids
from deadheat.placements.contiguous import InBlocks, count_above_and_tied
from deadheat.placements.placements import Placements, SomeTexts, no_common_query, sort_rows
from deadheat.placements.subtopics import subtopics_of


class Mapping(InBlocks):
    """An engine for a run that is a dict of dicts.

    Parameters
    ----------
    qrels : Qrels
    judged : MappingRows
        Rows of the qrels.
    run : Run
    retrieved : MappingRows
        Rows of the run.
    precision : str, int or None
        To which the scores are rounded.
    """

    def __init__(
        self, qrels: Qrels, judged: MappingRows, run: Run, retrieved: MappingRows, precision: ScorePrecision
    ) -> None:
        self._qrels, self._judged, self._run, self._retrieved = qrels, judged, run, retrieved
        self._precision = precision
        query_ids = sorted(judged.mapping)
        self._found = look_up(retrieved.mapping, judged.mapping, query_ids, run.where, qrels.where)
        self._scores = round_and_warn(self._found.scores, precision)
        super().__init__(query_ids, self._found.bounds)

    def place(self) -> Placements:
        """Return the placements: look up the judged documents and count scores."""
        judgments, retrieved, query_ids = self._judged.mapping, self._retrieved.mapping, self._query_ids
        unjudged = sorted(retrieved.keys() - judgments.keys())
        if len(unjudged) == len(retrieved):
            raise no_common_query(self._qrels, self._run, query_ids, unjudged)
        self._retrieved.numbers(unjudged)  # bad scores of unjudged queries are refused too, as in a frame
        found = self._found
        code = np.repeat(np.arange(len(query_ids)), np.diff(found.judged_bounds))
        rows = np.flatnonzero(~np.isnan(found.own))
        above, tied, ends_in_tie = count_above_and_tied(
            self._scores, self._bounds, code[rows], round_scores(found.own[rows], self._precision)
        )
        return sort_rows(
            np.array(query_ids, dtype=object),
            np.diff(self._bounds),
            judged_query=code,
            judged_relevance=found.relevance,
            rows=(code[rows], SomeTexts(found.docs, rows), found.relevance[rows], above, tied),
            unjudged_queries=tuple(unjudged),
            ends_in_tie=ends_in_tie,
            subtopics=subtopics_of(self._qrels.subtopics, query_ids),
        )

    def _all_scores(self) -> FloatArray:
        return self._scores

    def _documents(self, rows: IntArray) -> pl.Series:
        found: list[str] = []
        block = np.searchsorted(self._bounds, rows, side="right") - 1
        starts = np.flatnonzero(np.diff(block, prepend=-1))
        blocks: list[int] = block[starts].tolist()
        for n, own in zip(blocks, np.split(rows, starts[1:]), strict=True):
            documents = list(self._retrieved.mapping[self._query_ids[n]])
            found += map(documents.__getitem__, (own - self._bounds[n]).tolist())
        return series_of_ids(found, self._run.where)
