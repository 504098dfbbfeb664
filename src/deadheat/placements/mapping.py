"""Placements of a dict of dicts: judged documents are looked up and scores counted, without building a frame."""

from itertools import pairwise
from typing import cast

import numpy as np

from deadheat.arrays import IntArray, run_starts
from deadheat.data.precision import ScorePrecision, round_and_warn, round_scores
from deadheat.data.rows import MappingRows
from deadheat.data.tables import Qrels, Run
from deadheat.io.mappings import check_ids, look_up
from deadheat.placements.contiguous import count_above_and_tied, highest, rows_of_ties
from deadheat.placements.placements import Placements, no_common_query, passages_of, sort_rows, subtopics_of


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
        self._found = look_up(self._retrieved.mapping, self._judged, self._query_ids, run.where, qrels.where)
        self._scores = round_and_warn(self._found.scores, precision)

    def place(self) -> Placements:
        """Return the placements: look up the judged documents and count scores."""
        judgments, retrieved, query_ids = self._judged, self._retrieved.mapping, self._query_ids
        unjudged = sorted(retrieved.keys() - judgments.keys())
        if len(unjudged) == len(retrieved):
            raise no_common_query(self._qrels, self._run, query_ids, unjudged)
        self._retrieved.numbers(unjudged)  # bad scores of unjudged queries are refused too, as in a frame
        found = self._found
        code = np.repeat(np.arange(len(query_ids)), np.diff(found.judged_bounds))
        rows = np.flatnonzero(~np.isnan(found.own))
        above, tied, ends_in_tie = count_above_and_tied(
            self._scores, found.bounds, code[rows], round_scores(found.own[rows], self._precision)
        )
        return sort_rows(
            np.array(query_ids, dtype=object),
            np.diff(found.bounds),
            judged_query=code,
            judged_relevance=found.relevance,
            rows=(code[rows], np.array(found.docs, dtype=object)[rows], found.relevance[rows], above, tied),
            unjudged_queries=tuple(unjudged),
            ends_in_tie=ends_in_tie,
            top_score=highest(self._scores, found.bounds),
            subtopics=subtopics_of(self._qrels.subtopics, query_ids),
            passages=passages_of(self._qrels.passages, query_ids),
        )

    def count_first(self, placements: Placements, rows: IntArray, rule: str) -> IntArray:
        """Count, for each of the given placements, the documents of its tie that a rule puts before it."""
        starts = run_starts(placements.query[rows], placements.above[rows])
        codes = dict(zip(self._query_ids, range(len(self._query_ids)), strict=True))
        queries = placements.query_ids[placements.query[rows[starts]]].tolist()
        block = np.array([codes[query] for query in queries])
        above, sizes, bounds = placements.above[rows[starts]], placements.tied[rows[starts]], self._found.bounds
        found = rows_of_ties(self._scores, bounds, block, above, sizes) - np.repeat(bounds[block], sizes)
        places, judged = found.tolist(), placements.doc_ids[rows].tolist()
        documents = {query: [*self._retrieved.mapping[query]] for query in dict.fromkeys(queries)}
        ties, of_judged = pairwise([0, *np.cumsum(sizes).tolist()]), pairwise([*starts.tolist(), len(rows)])
        first = list[int]()
        for query, of_tie, of_own in zip(queries, ties, of_judged, strict=True):
            tie = [documents[query][place] for place in places[slice(*of_tie)]]
            if rule == "doc_id":
                check_ids(tie, self._run.where)  # numbers and text have no order
                tie.sort(reverse=True)  # the order of code points is that of UTF-8 bytes
            first += map(dict(zip(tie, range(len(tie)), strict=True)).__getitem__, judged[slice(*of_own)])
        return np.array(first)
