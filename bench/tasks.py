"""The work of one whole process: read qrels and a run, evaluate, print the means as JSON."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

Means = dict[str, float]

FIVE = ("nDCG@10", "AP", "RR", "P@10", "R@100")
THREE = ("RR", "nDCG@10", "AP")
TREC_EVAL = {"nDCG@10": "ndcg_cut_10", "AP": "map", "RR": "recip_rank", "P@10": "P_10", "R@100": "recall_100"}
RANX = {"nDCG@10": "ndcg@10", "AP": "map", "RR": "mrr", "P@10": "precision@10", "R@100": "recall@100"}
FORTY = (
    *(f"{name}@{cutoff}" for name in ("nDCG", "P", "R", "RR", "AP", "F", "DCG") for cutoff in (1, 5, 10, 100)),
    *("nDCG", "AP", "RR", "RBP", "ERR@10", "nERR@10", "Q", "Rprec", "bpref", "Judged@10", "Hit@10", "NumRelRet"),
)


def deadheat(qrels: str, run: str, ties: str = "expected", count: str = "5", check: str = "check") -> Means:
    import deadheat as dh

    evaluate = dh.evaluate  # modules are loaded when a name is first asked for: that is no evaluation yet
    chosen = FIVE if count == "5" else FORTY[: int(count)]
    begin = time.perf_counter()
    if check == "check":
        means = evaluate(qrels, run, chosen, ties=ties).means()
    else:
        means = evaluate(qrels, run, chosen, ties=ties, duplicates="trust").means()
    return {**means, "seconds": time.perf_counter() - begin}


def first(tool: str) -> Means:
    """Evaluate 50 queries x 100 documents in dicts, the first evaluation of its process."""
    qrels = {f"q{query}": {f"d{5 * doc}": doc % 3 for doc in range(20)} for query in range(50)}
    run = {
        f"q{query}": {f"d{doc}": float((7919 * doc + 31 * query) % 101) for doc in range(100)} for query in range(50)
    }
    if tool == "deadheat":
        import deadheat as dh

        return dh.evaluate(qrels, run, FIVE).means()
    if tool == "ir_measures":
        import ir_measures

        chosen = [ir_measures.parse_measure(name) for name in FIVE]
        return {str(name): value for name, value in ir_measures.calc_aggregate(chosen, qrels, run).items()}
    import pytrec_eval

    values = pytrec_eval.RelevanceEvaluator(qrels, set(TREC_EVAL.values())).evaluate(run)
    return {name: sum(of_query[theirs] for of_query in values.values()) / 50 for name, theirs in TREC_EVAL.items()}


def deadheat_many(qrels: str, *runs: str) -> Means:
    import deadheat as dh

    return dh.evaluate(qrels, {run: Path(run) for run in runs}, FIVE)[runs[-1]].means()


def pytrec_eval(qrels: str, *runs: str) -> Means:
    import pytrec_eval as peer

    with open(qrels) as file:  # noqa: PTH123 - as its documentation does
        judged = peer.parse_qrel(file)
    evaluator, values = peer.RelevanceEvaluator(judged, set(TREC_EVAL.values())), {}
    for run in runs:
        with open(run) as file:  # noqa: PTH123 - as its documentation does
            retrieved = peer.parse_run(file)
        values = evaluator.evaluate(retrieved)
    # over the queries of the qrels, as `trec_eval -c`
    return {
        name: sum(of_query[theirs] for of_query in values.values()) / len(judged) for name, theirs in TREC_EVAL.items()
    }


def compare_many(n_systems: str, n_queries: str, n_measures: str, n_docs: str) -> Means:
    """Compare systems whose documents tie, five and five, of which all pairs are tested."""
    import numpy as np

    import deadheat as dh

    rng, docs = np.random.default_rng(29), [f"d{n}" for n in range(int(n_docs))]
    n_judged, n_levels = min(200, len(docs) // 2), len(docs) // 5
    qrels = {f"q{q}": {doc: int(rng.integers(4)) for doc in docs[:n_judged]} for q in range(int(n_queries))}
    runs = {}
    for n in range(int(n_systems)):
        merit = (0.5 + n / int(n_systems)) * rng.random(len(docs))
        runs[f"s{n}"] = {
            query: dict(zip(docs, np.floor(n_levels * merit * rng.random(len(docs))), strict=True)) for query in qrels
        }
    begin = time.perf_counter()
    found = dh.compare(qrels, runs, FIVE[: int(n_measures)])
    return {"pairs": float(len(found.pairs)), "seconds": time.perf_counter() - begin}


def ir_measures(qrels: str, run: str) -> Means:
    import ir_measures as peer

    chosen = [peer.parse_measure(name) for name in FIVE]
    means = peer.calc_aggregate(chosen, peer.read_trec_qrels(qrels), peer.read_trec_run(run))
    return {str(measure): value for measure, value in means.items()}


def ranx(qrels: str, run: str) -> Means:
    import ranx as peer

    judged, retrieved = peer.Qrels.from_file(qrels, kind="trec"), peer.Run.from_file(run, kind="trec")
    means = peer.evaluate(judged, retrieved, list(RANX.values()), make_comparable=True)
    return {name: float(means[theirs]) for name, theirs in RANX.items()}


def reading(run: str) -> Means:
    """What no evaluation that reads with Polars can undercut: its import, and the three columns that are needed."""
    import polars as pl

    names = ("query_id", "Q0", "doc_id", "rank", "score", "tag")
    schema = {name: pl.Float64 if name == "score" else pl.String for name in names}
    rows = pl.scan_csv(run, has_header=False, separator=" ", quote_char=None, schema=schema)
    return {"rows": float(rows.select("query_id", "doc_id", "score").collect(engine="streaming").height)}


def rows_of_csv(tool: str, run: str, n_rows: str) -> Means:
    """Read a CSV run with nothing but the columns that an evaluation needs, its ids as text."""
    names = ["query_id", "doc_id", "score"]
    scores: Any
    if tool == "deadheat":
        import deadheat as dh

        scores = dh.read_run(run).to_polars()["score"]
    elif tool == "Polars":
        import polars as pl

        types = {"query_id": pl.String, "doc_id": pl.String, "score": pl.Float64}
        scores = pl.read_csv(run, columns=names, schema_overrides=types)["score"]
    else:
        import pandas as pd

        scores = pd.read_csv(run, usecols=names, dtype={"query_id": str, "doc_id": str, "score": float})["score"]
    assert len(scores) == int(n_rows)
    return {"score": float(scores.mean())}


TASKS: dict[str, Callable[..., Means]] = {
    "deadheat": deadheat,
    "first": first,
    "deadheat_many": deadheat_many,
    "compare_many": compare_many,
    "reading": reading,
    "rows_of_csv": rows_of_csv,
    "pytrec_eval": pytrec_eval,
    "ir_measures": ir_measures,
    "ranx": ranx,
}

if __name__ == "__main__":
    print(json.dumps(TASKS[sys.argv[1]](*sys.argv[2:])))
