"""Other tools, each called in one way: judgments and a run as dicts, the name of a metric, and the mean that comes out.

A tool that is not installed raises ImportError, or pytest skips.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from functools import cache
from importlib import import_module
from statistics import fmean
from typing import Any

Nested = dict[str, dict[str, Any]]
Tool = Callable[[Nested, Nested, str], float]


def pytrec_eval(qrels: Nested, run: Nested, metric: str) -> float:
    """trec_eval 9 through pytrec_eval, and the mean over the queries that it returns."""
    import pytrec_eval as tool

    name, _, cutoff = metric.rpartition("_")
    asked = f"{name}.{cutoff}" if cutoff.isdigit() else metric
    return fmean(own[metric] for own in tool.RelevanceEvaluator(qrels, {asked}).evaluate(run).values())


def of_ir_measures(notation: str) -> Any:  # noqa: ANN401 - ir_measures has no types
    """A measure of ir_measures from its notation, which is Python: an object, made without its parser."""
    from ir_measures.measures import registry

    return eval(notation, {}, registry)  # noqa: S307 - the notations are those of the tests


@cache
def why_ir_measures_cannot_read() -> str:
    """Why its own parser, and so its command, fails on this Python: 0.4.3 does from 3.14 on. Empty where it works."""
    import ir_measures as tool

    try:
        tool.parse_measure("nDCG@10")
    except AttributeError as error:
        return f"ir_measures cannot read 'nDCG@10' on this Python: {error}"
    return ""


def ir_measures(qrels: Nested, run: Nested, metric: str) -> float:
    """The aggregate of ir_measures, by its default providers."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import ir_measures as tool

        measure = of_ir_measures(metric)
        return float(tool.calc_aggregate([measure], qrels, run)[measure])


def ranx(qrels: Nested, run: Nested, metric: str) -> float:
    """The mean of ranx, with the queries of the qrels."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import ranx as tool

        return float(tool.evaluate(tool.Qrels(qrels), tool.Run(run), metric, make_comparable=True))


def _lists(qrels: Nested, run: Nested) -> list[tuple[list[int], list[float]]]:
    return [([qrels[query].get(one, 0) for one in own], list(own.values())) for query, own in run.items()]


def scikit_learn(qrels: Nested, run: Nested, metric: str) -> float:
    """A metric of scikit-learn on the list of each query, and the mean."""
    from sklearn import metrics

    name, _, cutoff = metric.partition("@")
    if name == "ndcg_score":
        k = int(cutoff) if cutoff else None
        return fmean(metrics.ndcg_score([levels], [scores], k=k) for levels, scores in _lists(qrels, run))
    score = getattr(metrics, name)
    return fmean(score([one > 0 for one in levels], scores) for levels, scores in _lists(qrels, run))


def torchmetrics(qrels: Nested, run: Nested, metric: str) -> float:
    """A functional metric of torchmetrics.retrieval on the list of each query, and the mean."""
    import torch

    tool: Any = import_module("torchmetrics.functional.retrieval")
    name, _, cutoff = metric.partition("@")
    options = {"top_k": int(cutoff)} if cutoff else {}
    score = getattr(tool, name)
    is_graded = name == "retrieval_normalized_dcg"
    return fmean(
        float(
            score(torch.tensor(scores), torch.tensor(levels if is_graded else [one > 0 for one in levels]), **options)
        )
        for levels, scores in _lists(qrels, run)
    )


def beir(qrels: Nested, run: Nested, metric: str) -> float:
    """BEIR's EvaluateRetrieval; five digits are what it returns."""
    tool: Any = import_module("beir.retrieval.evaluation").EvaluateRetrieval
    name, _, cutoff = metric.partition("@")
    copies = {query: dict(own) for query, own in run.items()}
    if name in {"MRR", "R_cap"}:
        custom: dict[str, float] = tool.evaluate_custom(qrels, copies, [int(cutoff)], metric=name.lower())
        return custom[metric]
    found: dict[str, float] = {}
    for part in tool.evaluate(qrels, copies, [int(cutoff)]):
        found |= part
    return found[metric]


def sentence_transformers(qrels: Nested, run: Nested, metric: str) -> float:
    """The metrics of its InformationRetrievalEvaluator, from lists of scores."""
    evaluation: Any = import_module("sentence_transformers.sentence_transformer.evaluation")
    name, _, cutoff = metric.partition("@")
    k = int(cutoff)
    relevant = {query: {one for one, level in own.items() if level > 0} for query, own in qrels.items()}
    relevant = {query: own for query, own in relevant.items() if own and query in run}
    cutoffs = {f"{group}_at_k": [k] for group in ("accuracy", "precision_recall", "ndcg", "mrr", "map")}
    documents = {one: "" for own in run.values() for one in own}
    tool = evaluation.InformationRetrievalEvaluator(dict.fromkeys(relevant, ""), documents, relevant, **cutoffs)
    lists = [[{"corpus_id": one, "score": score} for one, score in run[query].items()] for query in relevant]
    return float(tool.compute_metrics(lists)[f"{name}@k"][k])


TOOLS: dict[str, Tool] = {
    "pytrec_eval": pytrec_eval,
    "ir_measures": ir_measures,
    "ranx": ranx,
    "scikit-learn": scikit_learn,
    "torchmetrics": torchmetrics,
    "BEIR": beir,
    "sentence-transformers": sentence_transformers,
}
MODULES = {
    "scikit-learn": "sklearn",
    "BEIR": "beir",
    "sentence-transformers": "sentence_transformers",
    "torchmetrics": "torchmetrics",
    "pytrec_eval": "pytrec_eval",
    "ir_measures": "ir_measures",
    "ranx": "ranx",
}


def same(one: float, other: float) -> bool:
    """Tell whether two values are the same to the digits that tools return: five, or 32 bits."""
    return math.isclose(one, other, rel_tol=0, abs_tol=6e-6)
