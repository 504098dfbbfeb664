"""What the replacements share: judgments made ready once, runs as dicts, values by query under trec_eval's names."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from itertools import repeat
from typing import TYPE_CHECKING, Generic, TypeVar

import numpy as np

from deadheat.compat.defaults import OF_TREC_EVAL
from deadheat.data.tables import Qrels, Run
from deadheat.measures import Measure
from deadheat.placements import policies
from deadheat.placements.condensing import condense
from deadheat.placements.place import engine_of
from deadheat.placements.placements import Placements
from deadheat.placements.prepared import Prepared

if TYPE_CHECKING:
    import polars as pl

NOISE = 1e-12  # by which the extremes of a value differ from rounding alone
Nested = Mapping[str, Mapping[str, float]]
Key = TypeVar("Key", bound=Hashable)


class Evaluator(Generic[Key]):
    """Values of runs against the same judgments.

    Parameters
    ----------
    qrels : mapping of mapping
    named : mapping of key to Measure
        The measures by what the values are called; None for a value that is always 0.
    ties : str
        A tie policy.
    judged_only : bool
        Whether unjudged documents are taken out of the runs first.
    subtopics : polars.DataFrame, optional
        Of the judgments, as `Qrels.subtopics`.
    """

    def __init__(
        self,
        qrels: Nested,
        named: Mapping[Key, Measure | None],
        *,
        ties: str,
        judged_only: bool,
        subtopics: pl.DataFrame | None = None,
    ) -> None:
        self._named, self._ties, self._judged_only, self._subtopics = named, ties, judged_only, subtopics
        is_empty = hasattr(qrels, "values") and all(own == {} for own in qrels.values())
        self._prepared = None if is_empty else Prepared(qrels)

    def by_query(self, run: Nested) -> dict[str, dict[Key, float]]:
        """Return ``{query: {key: value}}`` of the queries of a run that have judgments, in its order."""
        prepared = self._prepared
        queries = prepared.common(run) if prepared else []
        if prepared is None or not queries:
            return {}
        placements = self._place(prepared, run, queries, self._ties)
        zeros = [0.0] * len(queries)
        values = [zeros if one is None else one.mean(placements).tolist() for one in self._named.values()]
        rows: Iterable[tuple[float, ...]] = zip(*values, strict=True) if values else repeat((), len(queries))
        of_queries: Iterable[dict[Key, float]] = map(dict, map(zip, repeat(tuple(self._named)), rows))
        ids: list[str] = placements.query_ids.tolist()
        found = dict(zip(ids, of_queries, strict=True))
        return found if list(found) == queries else {query: found[query] for query in queries}

    def count(self, run: Nested) -> tuple[int, int]:
        """Return how many values a run has, and how many of them the order of its ties could change."""
        measures = [one for one in self._named.values() if one is not None]
        queries = self._prepared.common(run) if self._prepared else []
        if self._prepared is None or not queries:
            return 0, 0
        placements = self._place(self._prepared, run, queries, "expected")
        has_ties = np.bincount(placements.query[placements.tied > 1], minlength=placements.n_queries) > 0
        extremes = [one.extremes(placements.select(has_ties)) for one in measures] if has_ties.any() else []
        return len(queries) * len(measures), sum(int((high - low > NOISE).sum()) for low, high in extremes)

    def _place(self, prepared: Prepared, run: Nested, queries: list[str], ties: str) -> Placements:
        """Return the placements of some queries after a tie policy."""
        retrieved = {query: run[query] for query in queries if run[query]}
        if (ties == OF_TREC_EVAL and self._subtopics is None) or not retrieved:
            placements = prepared.place(run, queries)
        else:
            qrels = Qrels({query: prepared.mapping[query] for query in queries})
            qrels.subtopics = self._subtopics
            engine = engine_of(qrels, Run(retrieved))
            placements = engine.place()
            if ties in policies.LOOK_AT_RUN:
                placements = policies.by_rule(placements, engine, ties)
            else:
                placements = policies.apply(placements, ties, None)
        return condense(placements) if self._judged_only else placements
