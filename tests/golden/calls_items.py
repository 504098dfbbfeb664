"""What a recommender shows: coverage, popularity, novelty, exposure."""

from __future__ import annotations

import deadheat as dh
from golden.data import GRADED, GRADED_RUN, QRELS, RUNS, TRAINING
from golden.entries import entry
from golden.plain import Numbers

GROUPS = {f"d{number}": ("one", "two", "two")[number % 3] for number in range(12)}
POPULARITY = {f"d{number}": 1 + number * number for number in range(12)}
OPTIONS: dict[str, Numbers] = {
    "plain": {},
    "popularity": {"popularity": POPULARITY, "n_users": 500},
    "catalogue": {"popularity": POPULARITY, "n_users": 500, "n_items": 40, "head": 0.1},
}


@entry(OPTIONS)
def of_run(options: Numbers) -> Numbers:
    profile = dh.item_profile(GRADED_RUN, cutoff=3, **options)
    bounds = {"tie_min": profile.tie_min, "tie_max": profile.tie_max}
    return {"means": profile.means(), "items": profile.to_polars(), "queries": profile.of_queries(), **bounds}


@entry()
def of_training() -> Numbers:
    profile = dh.item_profile(RUNS["fair"], "training.csv", cutoff=5)
    return {"n_rows": len(TRAINING), **profile.to_flat()}


@entry()
def of_evaluation() -> Numbers:
    return dh.evaluate(QRELS, RUNS["fair"], "RR").item_profile(4, POPULARITY, n_users=500).means()


@entry()
def popularity() -> object:
    return dh.popularity([[0, 1, 2], [0, 1], [0, 4]], 6)


@entry({"all": {}, "groups": {"groups": GROUPS}, "cut": {"cutoff": 3}, "rbp": {"discount": "exp(0.7)"}})
def exposure(options: Numbers) -> Numbers:
    found = dh.exposure(GRADED_RUN, GRADED, **options)
    return {**exposure_of(found), "gini": found.gini}


def exposure_of(found: dh.Exposure) -> Numbers:
    """Return the tables of exposure."""
    tables: Numbers = {
        "means": found.means(),
        "items": found.items,
        "queries": found.queries,
        "amortised": found.amortised,
    }
    if found.groups is not None:
        tables |= {"groups": found.groups, "pairs": found.pairs}
    return tables


@entry()
def exposure_of_several_runs() -> Numbers:
    few = list(QRELS)[:6]
    runs = [{query: run[query] for query in few} for run in RUNS.values()]
    return dh.exposure(runs, {query: QRELS[query] for query in few}, GROUPS).to_flat()
