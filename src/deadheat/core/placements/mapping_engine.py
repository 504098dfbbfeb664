"""Placements of a run that is a dict of dicts, without building a frame."""

from __future__ import annotations

from itertools import pairwise
from typing import cast

import numpy as np

from deadheat.core.arrays import BoolArray, IntArray, find_codes, run_starts
from deadheat.core.data.qrels import Qrels
from deadheat.core.data.rounding import ScorePrecision, round_and_warn, round_scores
from deadheat.core.data.rows import MappingRows
from deadheat.core.data.run import Run
from deadheat.core.io.nested import look_up_judged
from deadheat.core.placements.beside import find_beside
from deadheat.core.placements.building import PlacedRows, RetrievedLists, build_placements
from deadheat.core.placements.matching import refuse_no_common_query
from deadheat.core.placements.placements import Placements, TextRows
from deadheat.core.placements.score_counts import count_above_and_tied
from deadheat.core.placements.tied_rows import find_tied_rows


class MappingEngine:
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
        self._qrels = qrels
        self._run = run
        self._precision = precision
        self._retrieved = cast("MappingRows", run.rows)
        if isinstance(qrels.rows, MappingRows):
            self._judged = qrels.rows.mapping
        else:
            self._judged = qrels.to_dict()
        self._query_ids = sorted(self._judged)
        self._numbers = look_up_judged(self._retrieved.mapping, self._judged, self._query_ids, run.where, qrels.where)
        self._scores = round_and_warn(self._numbers.scores, precision)

    def place(self) -> Placements:
        """Return the placements of the judged documents that were looked up, by counts of scores."""
        unjudged = self._check_unjudged_queries()
        numbers = self._numbers
        judged_query = np.repeat(np.arange(len(self._query_ids)), numbers.n_judged)
        retrieved = np.flatnonzero(~np.isnan(numbers.judged_scores))  # judgments whose document was retrieved
        scores = round_scores(numbers.judged_scores[retrieved], self._precision)
        query = judged_query[retrieved]
        counts = count_above_and_tied(self._scores, numbers.bounds, query, scores)
        lists = RetrievedLists(
            query_ids=np.array(self._query_ids, dtype=object),
            n_retrieved=numbers.n_retrieved,
            ends_in_tie=counts.ends_in_tie,
            top_score=counts.top_score,
            retrieves_itself=self._find_self_retrieving(),
        )
        rows = PlacedRows(
            query=query,
            documents=TextRows(numbers.docs, retrieved),
            relevance=numbers.relevance[retrieved],
            above=counts.above,
            tied=counts.tied,
        )
        return build_placements(
            lists,
            rows,
            judged_query=judged_query,
            judged_relevance=numbers.relevance,
            unjudged_queries=tuple(unjudged),
            beside=find_beside(self._qrels, self._query_ids),
        )

    def _check_unjudged_queries(self) -> list[str]:
        """Return the queries of the run without judgments; raise if it has no others, or for a bad score of theirs."""
        unjudged = sorted(self._retrieved.mapping.keys() - self._judged.keys())
        if len(unjudged) == len(self._retrieved.mapping):
            refuse_no_common_query(self._qrels, self._run, self._query_ids, unjudged)
        if unjudged:
            self._retrieved.numbers(unjudged)  # raises for a bad score, as a frame of the same rows does
        return unjudged

    def _find_self_retrieving(self) -> BoolArray:
        """Tell which queries retrieve a document that has their id, of shape (n_queries,)."""
        retrieved = self._retrieved.mapping
        return np.array([query_id in retrieved.get(query_id, ()) for query_id in self._query_ids], np.bool_)

    def count_first(self, placements: Placements, rows: IntArray, rule: str) -> IntArray:
        """Count, for each of the given placements, the documents of its tie that a rule puts before it."""
        starts = run_starts(placements.query[rows], placements.above[rows])  # where each tie starts among `rows`
        bounds = [*starts.tolist(), len(rows)]
        first_rows = rows[starts]
        sizes = placements.tied[first_rows]
        query_ids = placements.query_ids[placements.query[first_rows]].tolist()
        ties = self._list_ties(query_ids, placements.above[first_rows], sizes)
        judged_docs = placements.doc_ids[rows].tolist()
        n_before = list[int]()
        for tie, (first, last) in zip(ties, pairwise(bounds), strict=True):
            if rule == "doc_id":
                tie.sort(reverse=True)  # the order of code points is that of UTF-8 bytes
            place_in_tie = dict(zip(tie, range(len(tie)), strict=True))
            n_before += [place_in_tie[doc] for doc in judged_docs[first:last]]
        return np.array(n_before)

    def _list_ties(self, query_ids: list[str], above: IntArray, sizes: IntArray) -> list[list[str]]:
        """Return the documents of each tie, in input order; the arguments have one value for each tie."""
        bounds = self._numbers.bounds
        block = find_codes(np.array(query_ids, dtype=object), self._query_ids)
        rows = find_tied_rows(self._scores, bounds, block, above, sizes)
        places = (rows - np.repeat(bounds[block], sizes)).tolist()  # in the dict of the query
        documents = {query_id: list(self._retrieved.mapping[query_id]) for query_id in set(query_ids)}
        ties = []
        ends = np.cumsum(sizes).tolist()
        for query_id, (first, last) in zip(query_ids, pairwise([0, *ends]), strict=True):
            documents_of_query = documents[query_id]
            ties.append([documents_of_query[place] for place in places[first:last]])
        return ties
