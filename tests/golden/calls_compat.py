"""The interfaces of other tools."""

from __future__ import annotations

from typing import Any

from deadheat.compat import pytrec_eval, ranx
from golden.data import GRADED, GRADED_RUN, QRELS, RUNS
from golden.entries import entry
from golden.plain import Numbers
from golden.results import pairs_of

WHOLE: dict[str, Any] = {query: {doc: int(grade) for doc, grade in judged.items()} for query, judged in GRADED.items()}


@entry(["expected", "doc_id"])
def of_pytrec_eval(policy: str) -> Numbers:
    measures = {"map", "ndcg_cut.3,5", "P.5", "recip_rank", "bpref", "Rprec", "num_rel_ret", "infAP", "gm_map"}
    evaluator = pytrec_eval.RelevanceEvaluator(WHOLE, measures, ties=policy)
    return evaluator.evaluate(GRADED_RUN)


@entry()
def of_ranx() -> Numbers:
    run = {query: GRADED_RUN.get(query, {"d99": 1.0}) for query in WHOLE}
    metrics = ["ndcg@3", "map", "mrr", "precision@5", "recall@5", "hit_rate@3", "f1@3", "r-precision", "bpref"]
    return dict(ranx.evaluate(WHOLE, run, metrics))


@entry()
def of_ranx_compared() -> Numbers:
    return pairs_of(ranx.compare(QRELS, list(RUNS.values()), ["mrr", "map"]))
