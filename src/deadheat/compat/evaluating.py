"""What the replacements share: judgments made ready once, runs as dicts, values by query under trec_eval's names."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from itertools import repeat
from typing import Generic, TypeVar

from deadheat.compat.defaults import OF_TREC_EVAL
from deadheat.data.tables import Qrels, Run
from deadheat.measures import Measure
from deadheat.placements import policies
from deadheat.placements.condensing import condense
from deadheat.placements.place import engine_of
from deadheat.placements.placements import Placements
from deadheat.placements.prepared import Prepared

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
    """

    def __init__(self, qrels: Nested, named: Mapping[Key, Measure | None], *, ties: str, judged_only: bool) -> None:
        self._named, self._ties, self._judged_only = named, ties, judged_only
        is_empty = hasattr(qrels, "values") and all(own == {} for own in qrels.values())
        self._prepared = None if is_empty else Prepared(qrels)

    def by_query(self, run: Nested) -> dict[str, dict[Key, float]]:
        """Return ``{query: {key: value}}`` of the queries of a run that have judgments, in its order."""
        prepared = self._prepared
        queries = prepared.common(run) if prepared else []
        if prepared is None or not queries:
            return {}
        placements = self._place(prepared, run, queries)
        zeros = [0.0] * len(queries)
        values = [zeros if one is None else one.mean(placements).tolist() for one in self._named.values()]
        rows: Iterable[tuple[float, ...]] = zip(*values, strict=True) if values else repeat((), len(queries))
        of_queries: Iterable[dict[Key, float]] = map(dict, map(zip, repeat(tuple(self._named)), rows))
        ids: list[str] = placements.query_ids.tolist()
        found = dict(zip(ids, of_queries, strict=True))
        return found if list(found) == queries else {query: found[query] for query in queries}

    def _place(self, prepared: Prepared, run: Nested, queries: list[str]) -> Placements:
        """Return the placements of some queries after the tie policy."""
        retrieved = {query: run[query] for query in queries if run[query]}
        if self._ties == OF_TREC_EVAL or not retrieved:
            placements = prepared.place(run, queries)
        else:
            engine = engine_of(Qrels({query: prepared.mapping[query] for query in queries}), Run(retrieved))
            placements = engine.place()
            if self._ties in policies.LOOK_AT_RUN:
                placements = policies.by_rule(placements, engine, self._ties)
            else:
                placements = policies.apply(placements, self._ties, None)
        return condense(placements) if self._judged_only else placements
