"""Placements of a run that is a dict of dicts, without building a frame."""

from __future__ import annotations

from itertools import pairwise
from typing import cast

import numpy as np

from deadheat.core.arrays import IntArray, codes_of, run_starts
from deadheat.core.data.qrels import Qrels
from deadheat.core.data.rounding import ScorePrecision, round_and_warn, round_scores
from deadheat.core.data.rows import MappingRows
from deadheat.core.data.run import Run
from deadheat.core.io.nested import look_up_judged
from deadheat.core.placements.beside import find_beside
from deadheat.core.placements.placements import (
    Listed,
    Placements,
    refuse_no_common_query,
    sort_rows,
)
from deadheat.core.placements.score_counts import count_above_and_tied
from deadheat.core.placements.tied_rows import (
    rows_of_ties,
)


class OfDicts:
    """An engine for a run that is a dict of dicts.

    Parameters
    ----------
    qrels : Qrels
    run : Run
        With `MappingRows`.
    precision : str, int or None
        To which the scores are rounded.
    """

    def __init__(self, qrels: Qrels, run: Run, precision: ScorePrecision) -> None:
        self._qrels, self._run, self._precision = qrels, run, precision
        self._judged = qrels.rows.mapping if isinstance(qrels.rows, MappingRows) else qrels.to_dict()
        self._retrieved = cast("MappingRows", run.rows)
        self._query_ids = sorted(self._judged)
        self._found = look_up_judged(self._retrieved.mapping, self._judged, self._query_ids, run.where, qrels.where)
        self._scores = round_and_warn(self._found.scores, precision)

    def place(self) -> Placements:
        """Return the placements: look up the judged documents and count scores."""
        query_ids, found, retrieved = self._query_ids, self._found, self._retrieved.mapping
        unjudged = sorted(self._retrieved.mapping.keys() - self._judged.keys())
        if len(unjudged) == len(self._retrieved.mapping):
            refuse_no_common_query(self._qrels, self._run, query_ids, unjudged)
        self._retrieved.numbers(unjudged)  # bad scores of unjudged queries are refused too, as in a frame
        code = np.repeat(np.arange(len(query_ids)), np.diff(found.judged_bounds))
        rows = np.flatnonzero(~np.isnan(found.own))
        above, tied, ends_in_tie, top_score = count_above_and_tied(
            self._scores, found.bounds, code[rows], round_scores(found.own[rows], self._precision)
        )
        return sort_rows(
            np.array(query_ids, dtype=object),
            np.diff(found.bounds),
            judged_query=code,
            judged_relevance=found.relevance,
            rows=(code[rows], Listed(found.docs, rows), found.relevance[rows], above, tied),
            unjudged_queries=tuple(unjudged),
            ends_in_tie=ends_in_tie,
            top_score=top_score,
            retrieves_itself=np.array([query in retrieved.get(query, ()) for query in query_ids], np.bool_),
            beside=find_beside(self._qrels, query_ids),
        )

    def count_first(self, placements: Placements, rows: IntArray, rule: str) -> IntArray:
        """Count, for each of the given placements, the documents of its tie that a rule puts before it."""
        starts = run_starts(placements.query[rows], placements.above[rows])
        queries = placements.query_ids[placements.query[rows[starts]]]
        block = codes_of(queries, self._query_ids)
        above, sizes, bounds = placements.above[rows[starts]], placements.tied[rows[starts]], self._found.bounds
        found = rows_of_ties(self._scores, bounds, block, above, sizes) - np.repeat(bounds[block], sizes)
        places, judged = found.tolist(), placements.doc_ids[rows].tolist()
        documents = {query: [*self._retrieved.mapping[query]] for query in dict.fromkeys(queries.tolist())}
        ties, of_judged = pairwise([0, *np.cumsum(sizes).tolist()]), pairwise([*starts.tolist(), len(rows)])
        first = list[int]()
        for query, of_tie, of_own in zip(queries, ties, of_judged, strict=True):
            tie = [documents[query][place] for place in places[slice(*of_tie)]]
            if rule == "doc_id":
                tie.sort(reverse=True)  # the order of code points is that of UTF-8 bytes
            first += map(dict(zip(tie, range(len(tie)), strict=True)).__getitem__, judged[slice(*of_own)])
        return np.array(first)
