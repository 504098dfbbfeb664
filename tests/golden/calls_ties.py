"""The ties of a run, steps of a value, coarser scores, simulated rerankers, confidence, explanations."""

from __future__ import annotations

import deadheat as dh
from golden.data import GRADED, GRADED_RUN, QRELS, REAL_QRELS, REAL_RUNS, RUNS
from golden.entries import entry
from golden.plain import Numbers, attributes
from golden.results import means_of

COARSER: dict[str, Numbers] = {
    "levels": {"levels": 3},
    "decimals": {"decimals": 0},
    "type": {"dtype": "float16"},
    "query": {"levels": 3, "per_query": True},
}
STEPS = ["nDCG@3", "AP", "ERR@3", "RR", "RBP", "P@3", "bpref", "Q", "DCG(gain='exp')@3"]


@entry({"run alone": (GRADED_RUN, None), "judged": (GRADED_RUN, GRADED), "real": (REAL_RUNS["TREMA-CoT"], REAL_QRELS)})
def profile(sources: tuple[object, object]) -> Numbers:
    run, qrels = sources
    found = dh.tie_profile(run, qrels, measures=["nDCG@10", "RR"] if qrels is not None else None)
    return found.to_flat()


@entry()
def profile_by_query() -> object:
    return dh.tie_profile(GRADED_RUN, GRADED, measures=["RR", "nDCG@3"]).per_query()


@entry(STEPS)
def steps(measure: str) -> Numbers:
    """How the value of a query comes about, document by document."""
    evaluation = dh.evaluate(GRADED, GRADED_RUN, measure)
    found: Numbers = {}
    for query in ("q01", "q04"):
        table = evaluation.steps(measure, query, GRADED_RUN)
        found[query] = {
            **attributes(table, "value divisor tie_min tie_max n_unjudged n_missed"),
            "rows": table.to_polars(),
        }
    return found


@entry({"levels": {"levels": [2, 4]}, "decimals": {"decimals": [0, 1]}, "types": {"dtypes": ["float16", "bfloat16"]}})
def coarsening(options: Numbers) -> object:
    profile = dh.coarsening_profile(QRELS, RUNS, ["nDCG@3", "RR"], **options)
    return profile.to_polars()


@entry(
    {
        "levels": {"levels": 3},
        "decimals": {"decimals": 0},
        "type": {"dtype": "float16"},
        "query": {"levels": 3, "per_query": True},
    }
)
def coarse_scores(options: Numbers) -> Numbers:
    return means_of(dh.evaluate(QRELS, dh.coarsen(RUNS["fair"], **options), ["nDCG@3", "RR"]))


@entry()
def rerankers() -> object:
    return dh.simulate_rerankers(20, rng=3).summary()


@entry()
def scenarios() -> object:
    return dh.simulate_scenarios(20, rng=3).summary()


@entry()
def confidence() -> Numbers:
    found = dh.evaluate_with_confidence(GRADED, GRADED_RUN, RUNS["fair"], ["nDCG@3", "RR"], scale=0.7, n_draws=200)
    return {"means": found.means(), "errors": found.standard_errors()}


@entry({"rr": {"RR": 0.5}, "two": {"AP": "0.47", "RR": "0.91"}})
def explanation(reported: dict[str, object]) -> Numbers:
    found = dh.explain(QRELS, RUNS["fair"], reported)  # type: ignore[arg-type]
    return {**attributes(found, "n_tried n_values chance n_queries"), "flat": found.to_flat()}
