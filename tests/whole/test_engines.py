"""Every engine finds the same placements in the real runs."""

from __future__ import annotations

import numpy as np
import pytest

import deadheat as dh
from deadheat.core.placements.contiguous import ContiguousEngine
from deadheat.core.placements.mapping_engine import MappingEngine
from deadheat.core.placements.place import choose_engine
from deadheat.core.placements.policies import break_by_rule
from deadheat.plugins.engines.by_query import ByQuery
from support.cut_in_parts import cut
from support.shared_data import SOME_RUNS, needs_shared_data, sources_of

COLUMNS = ("query_ids", "n_retrieved", "query", "relevance", "above", "tied", "judged_relevance", "unjudged_queries")


@pytest.mark.slow
@needs_shared_data
@pytest.mark.parametrize("name", SOME_RUNS)
def test_every_engine_places_real_runs_alike(name: str) -> None:
    qrels, run = map(str, sources_of(name))
    judged, read = dh.Qrels(qrels), dh.Run(run)
    rows = read.to_polars()
    runs = {
        ContiguousEngine: dh.Run(rows.sample(fraction=1, shuffle=True, seed=1)),
        MappingEngine: dh.Run(read.to_dict()),
        ByQuery: cut(rows),
    }
    found = []
    for kind, one in runs.items():
        engine = choose_engine(judged, one)
        assert type(engine) is kind
        placements = engine.place()
        found.append((placements, break_by_rule(placements, engine, "doc_id").to_polars()))
    (expected, ranked), *others = found
    for placements, other in others:
        assert placements.to_polars().equals(expected.to_polars())
        assert other.equals(ranked)
        for column in COLUMNS:
            np.testing.assert_array_equal(getattr(placements, column), getattr(expected, column), err_msg=column)
