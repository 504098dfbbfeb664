"""The lists of a run under every tie rule, depth and view of the judgments; it is placed once for each precision."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache, cached_property

import numpy as np
import polars as pl

from deadheat.arrays import IntArray
from deadheat.data.tables import Qrels, Run
from deadheat.errors import DataError, ParameterError
from deadheat.explanation.quicksort import order_of
from deadheat.explanation.tools import ToolSettings
from deadheat.placements import policies
from deadheat.placements.place import engine_of
from deadheat.placements.placements import Placements
from deadheat.placements.shortened import condense, truncate

MOST_SORTED = 300_000  # documents of a run that are sorted one by one in Python
PASSES = {"quicksort": 1, "quicksort twice": 2}
MIRRORED = {"doc_id ascending": "doc_id", "input reversed": "input"}


class Lists:
    """A run against judgments, under settings.

    Parameters
    ----------
    qrels, run : Qrels, Run

    Attributes
    ----------
    plain : Placements
        With all bits of the scores.
    """

    def __init__(self, qrels: Qrels, run: Run) -> None:
        self._run = run
        self._engine = cache(lambda precision: engine_of(qrels, run, precision))
        self._whole = cache(lambda precision: self._engine(precision).place())
        self._ranked = cache(self._make_ranked)
        self._shortened = cache(self._make_shortened)
        self.plain: Placements = self._whole(None)

    @cached_property
    def precisions(self) -> Sequence[str | None]:
        """The precisions that tell: 32 bits only where they make a difference."""
        one, other = self._whole(None), self._whole("float32")
        are_same = np.array_equal(one.above, other.above) and np.array_equal(one.tied, other.tied)
        return (None,) if are_same else (None, "float32")

    @cached_property
    def ties(self) -> Sequence[str]:
        """The tie rules that can be told for this run; without ties of judged documents, one."""
        if not any((self._whole(one).tied > 1).any() for one in self.precisions):
            return ("doc_id",)
        rules = ["doc_id", "doc_id ascending", "expected", "best", "worst"]
        try:
            policies.check_row_order(self._run, "input")
        except DataError:
            return rules
        rules += ["input", "input reversed"]
        return [*rules, *PASSES] if int(self.plain.n_retrieved.sum()) <= MOST_SORTED else rules

    @cached_property
    def judgments(self) -> Sequence[str]:
        """Which judgments a tool may know, where it makes a difference."""
        plain = self.plain
        found = ["all", "retrieved"] if len(plain.query) < len(plain.judged_query) else ["all"]
        is_below = (plain.above >= self._n_above_0[plain.query]) & (plain.relevance > 0)
        return [*found, "above 0"] if is_below.any() else found

    @cached_property
    def _n_above_0(self) -> IntArray:
        """How many documents of each query have a score above 0, of shape (n_queries,)."""
        rows = self._run.to_polars().group_by("query_id").agg(n=(pl.col("score") > 0).sum())
        counts = dict(zip(rows["query_id"].to_list(), rows["n"].to_list(), strict=True))
        return np.array([counts.get(query, 0) for query in self.plain.query_ids.tolist()], np.int64)

    def place(self, settings: ToolSettings) -> Placements | None:
        """Return the placements under settings; None where which documents remain depends on the order of a tie."""
        return self._shortened(
            settings.ties,
            settings.score_precision if settings.score_precision in self.precisions else None,
            settings.depth,
            settings.judged_only,
            settings.judgments,
        )

    def _make_ranked(self, ties: str, precision: str | None) -> Placements:
        whole = self._whole(precision)
        if ties in policies.LOOK_AT_RUN:
            return policies.by_rule(whole, self._engine(precision), ties)
        if ties in PASSES:
            return whole.moved(self._positions(whole, precision, PASSES[ties]))
        if ties not in MIRRORED:
            return policies.apply(whole, ties)
        tied, first = np.flatnonzero(whole.tied > 1), np.zeros_like(whole.above)
        if len(tied):
            first[tied] = whole.tied[tied] - 1 - self._engine(precision).count_first(whole, tied, MIRRORED[ties])
        return whole.moved(whole.above + first)

    def _positions(self, whole: Placements, precision: str | None, n_passes: int) -> IntArray:
        """Return the 0-based rank of each judged document after an unstable sort of the lists in their order."""
        frame = self._run.rounded(precision).to_polars().select("query_id", "doc_id", "score")
        wanted = dict.fromkeys(whole.query_ids.tolist())
        places: dict[tuple[str, str], int] = {}
        for (query,), own in frame.group_by("query_id", maintain_order=True):
            if query in wanted:
                documents = own["doc_id"].to_list()
                keys, order = (-own["score"].cast(pl.Float64).to_numpy()).tolist(), list(range(len(documents)))
                for _ in range(n_passes):
                    order = [order[n] for n in order_of([keys[n] for n in order])]
                places |= {(str(query), documents[n]): rank for rank, n in enumerate(order)}
        pairs = zip(whole.query_ids[whole.query].tolist(), whole.doc_ids.tolist(), strict=True)
        return np.array([places[pair] for pair in pairs], np.int64)

    def _make_shortened(
        self,
        ties: str,
        precision: str | None,
        depth: int | None,
        judged_only: bool,  # noqa: FBT001 - a key of the cache
        judgments: str,
    ) -> Placements | None:
        found = self._ranked(ties, precision)
        if judgments == "above 0" and judged_only:
            return None  # the ranks below are others, and no tool does both
        if depth is not None:
            try:
                found = truncate(found, depth)
            except ParameterError:
                return None
        if judged_only:
            found = condense(found)
        if judgments != "all":  # as if no other document than those retrieved were judged
            order = np.lexsort((-found.relevance, found.query))
            query, relevance = found.query[order], found.relevance[order]
            found = replace(found, judged_query=query, judged_relevance=relevance, _of_judgments={})
        if judgments == "above 0":
            is_below = found.above >= self._n_above_0[found.query]
            found = replace(found, relevance=np.where(is_below, np.minimum(found.relevance, 0.0), found.relevance))
        return found
