"""A run against judgments, placed as each tool would place it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property

import numpy as np
import polars as pl

from deadheat.core.arrays import BoolArray, IntArray
from deadheat.core.data.qrels import Qrels
from deadheat.core.data.rows import MemoryRows
from deadheat.core.data.run import Run
from deadheat.core.errors import DataError, ParameterError
from deadheat.core.placements import policies
from deadheat.core.placements.place import choose_engine
from deadheat.core.placements.placements import Placements
from deadheat.core.placements.shorter_lists import condense, truncate
from deadheat.plugins.compat.tools import ToolSettings, order_of

MOST_SORTED = 300_000  # documents of a run that are sorted one by one in Python
N_SORTS = {"quicksort": 1, "quicksort twice": 2}  # by tie rules that an unstable sort makes
MIRRORED_RULES = {"doc_id ascending": "doc_id", "input reversed": "input"}  # by rules with the opposite order


@dataclass(frozen=True)
class ListSettings:
    """The settings of a tool that decide which documents it sees, at which ranks, and with which judgments.

    Attributes
    ----------
    ties : str
    score_precision : str or None
    depth : int or None
    judged_only : bool
    judgments : {"all", "retrieved", "above 0"}
    """

    ties: str
    score_precision: str | None
    depth: int | None
    judged_only: bool
    judgments: str


class JudgedRun:
    """A run against judgments, under settings.

    Parameters
    ----------
    qrels, run : Qrels, Run

    Attributes
    ----------
    plain : Placements
        With all bits of the scores.
    unanswerable : tuple of str
        Queries that the qrels call unanswerable.
    """

    def __init__(self, qrels: Qrels, run: Run) -> None:
        self._qrels = qrels
        self._run = run
        self.unanswerable = qrels.unanswerable
        self._choose_engine = cache(lambda precision: choose_engine(qrels, run, precision))
        self._place_all = cache(lambda precision: self._choose_engine(precision).place())
        self._break_ties = cache(self._compute_ranks)
        self._place_lists = cache(self._compute_lists)
        self.plain: Placements = self._place_all(None)

    @cached_property
    def without_identical(self) -> "JudgedRun | None":
        """The same run without the documents that have the id of their query; None if it has none, or nothing else."""
        rows = self._run.to_polars()
        remaining = rows.filter(pl.col("query_id") != pl.col("doc_id"))
        if len(remaining) == len(rows):
            return None
        is_judged = remaining["query_id"].is_in(self.plain.query_ids.tolist())
        if not is_judged.any():
            return None
        return JudgedRun(self._qrels, self._run.with_rows(MemoryRows(remaining)))

    @cached_property
    def precisions(self) -> Sequence[str | None]:
        """The precisions that matter: 32 bits only where they make a difference."""
        exact = self._place_all(None)
        rounded = self._place_all("float32")
        if np.array_equal(exact.above, rounded.above) and np.array_equal(exact.tied, rounded.tied):
            return (None,)
        return (None, "float32")

    @cached_property
    def ties(self) -> Sequence[str]:
        """The tie rules that matter for this run; without ties of judged documents, one."""
        if not any(self._place_all(precision).have_ties for precision in self.precisions):
            return ("doc_id",)
        rules = ["doc_id", "doc_id ascending", "expected", "best", "worst"]
        try:
            policies.check_row_order(self._run, "input")
        except DataError:
            return rules
        rules += ["input", "input reversed"]
        if int(self.plain.n_retrieved.sum()) <= MOST_SORTED:
            rules += N_SORTS
        return rules

    @cached_property
    def judgments(self) -> Sequence[str]:
        """Which judgments a tool may know, where it makes a difference."""
        placements = self.plain
        choices = ["all"]
        if len(placements.query) < len(placements.judged_query):
            choices.append("retrieved")
        is_below_0 = self._find_scores_up_to_0(placements)
        if (is_below_0 & (placements.relevance > 0)).any():
            choices.append("above 0")
        return choices

    @cached_property
    def _n_above_0(self) -> IntArray:
        """How many documents of each query have a score above 0, of shape (n_queries,)."""
        counted = self._run.to_polars().group_by("query_id").agg((pl.col("score") > 0).sum())
        n_by_query = dict(counted.iter_rows())
        counts = [n_by_query.get(query_id, 0) for query_id in self.plain.query_ids.tolist()]
        return np.array(counts, np.int64)

    def _find_scores_up_to_0(self, placements: Placements) -> BoolArray:
        """Tell for each judged document whether its score is 0 or below, of shape (n_rows,)."""
        return placements.above >= self._n_above_0[placements.query]

    def place(self, settings: ToolSettings) -> Placements | None:
        """Return the placements under settings; None where which documents remain depends on the order of a tie."""
        if settings.identical_ids == "dropped" and self.without_identical is not None:
            return self.without_identical.place(replace(settings, identical_ids="kept"))
        precision = settings.score_precision
        if precision not in self.precisions:
            precision = None
        list_settings = ListSettings(settings.ties, precision, settings.depth, settings.judged_only, settings.judgments)
        return self._place_lists(list_settings)

    def _compute_ranks(self, ties: str, precision: str | None) -> Placements:
        """Return the placements of whole lists under a tie rule."""
        placements = self._place_all(precision)
        if ties in N_SORTS:
            return placements.moved(self._sort_unstably(placements, precision, N_SORTS[ties]))
        engine = self._choose_engine(precision)
        if ties not in MIRRORED_RULES:
            return policies.apply(placements, ties, engine=engine)
        # documents of its tie that come before a document, by the mirrored rule: those behind it by the other one
        n_before = np.zeros_like(placements.above)
        tied_rows = np.flatnonzero(placements.tied > 1)
        if len(tied_rows):
            n_behind = engine.count_first(placements, tied_rows, MIRRORED_RULES[ties])
            n_before[tied_rows] = placements.tied[tied_rows] - 1 - n_behind
        return placements.moved(placements.above + n_before)

    def _sort_unstably(self, placements: Placements, precision: str | None, n_sorts: int) -> IntArray:
        """Return the 0-based rank of each judged document after unstable sorts of the lists in their order."""
        is_evaluated = pl.col("query_id").is_in(placements.query_ids.tolist())
        frame = self._run.rounded(precision).to_polars().filter(is_evaluated)
        rank_of: dict[tuple[str, str], int] = {}
        for (query_id,), rows in frame.group_by("query_id", maintain_order=True):
            doc_ids = rows["doc_id"].to_list()
            keys = (-rows["score"].cast(pl.Float64).to_numpy()).tolist()
            order = list(range(len(doc_ids)))
            for _ in range(n_sorts):
                keys_in_order = [keys[row] for row in order]
                order = [order[place] for place in order_of(keys_in_order)]
            for rank, row in enumerate(order):
                rank_of[str(query_id), doc_ids[row]] = rank
        query_ids = placements.query_ids[placements.query].tolist()
        pairs = zip(query_ids, placements.doc_ids.tolist(), strict=True)
        return np.array([rank_of[pair] for pair in pairs], np.int64)

    def _compute_lists(self, settings: ListSettings) -> Placements | None:
        """Return the placements of lists that are cut or condensed, with the judgments that a tool knows."""
        placements = self._break_ties(settings.ties, settings.score_precision)
        if settings.judgments == "above 0" and settings.judged_only:
            return None  # condensed lists have other ranks than `_n_above_0` counts, and no tool does both
        if settings.depth is not None:
            try:
                placements = truncate(placements, settings.depth)
            except ParameterError:
                return None
        if settings.judged_only:
            placements = condense(placements)
        if settings.judgments != "all":
            placements = _forget_judgments_not_retrieved(placements)
        if settings.judgments == "above 0":
            is_below_0 = self._find_scores_up_to_0(placements)
            relevance = np.where(is_below_0, np.minimum(placements.relevance, 0.0), placements.relevance)
            placements = replace(placements, relevance=relevance)
        return placements


def _forget_judgments_not_retrieved(placements: Placements) -> Placements:
    """Return placements as if no other document than those retrieved were judged."""
    order = np.lexsort((-placements.relevance, placements.query))  # judgments are by query, the highest first
    return replace(
        placements,
        judged_query=placements.query[order],
        judged_relevance=placements.relevance[order],
        _of_judgments={},  # results that were computed for all judgments
    )
