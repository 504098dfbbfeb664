"""explain() finds the conventions of tools, for values that the tools themselves compute of real runs with ties."""

from __future__ import annotations

import math
import random
import warnings
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

import deadheat as dh
from support.other_tools import of_ir_measures
from support.shared_data import llm_qrels, llm_run, needs_shared_data, qrels_dict, run_dict

pytestmark = needs_shared_data
RUNS = ("Olz-gpt4o", "RMITIR-llama38b")
NESTED = dict[str, dict[str, Any]]


def data(name: str) -> tuple[NESTED, NESTED]:
    """Copies of the judgments and of a run, without some judgments, two queries of the run, and some documents."""
    rng = random.Random(7)
    qrels = {
        query: {one: level for one, level in own.items() if rng.random() < 0.7}
        for query, own in qrels_dict(llm_qrels()).items()
    }
    lacking = sorted(qrels)[3:5]
    run = {
        query: {one: score for one, score in own.items() if rng.random() < 0.9}
        for query, own in run_dict(llm_run(name)).items()
        if query not in lacking
    }
    return qrels, run


def arrays(qrels: NESTED, run: NESTED) -> list[tuple[list[int], list[float]]]:
    """Relevance (0 without a judgment) and score of what each query retrieves."""
    return [([qrels[q].get(one, 0) for one in own], list(own.values())) for q, own in run.items()]


def check(
    tool: str, qrels: NESTED, run: NESTED, values: dict[str, float], *, digits: int = 4, alone: bool = True
) -> dh.Explanation:
    """Each value by itself, and all together, are what the tool computes; four digits are enough."""
    for name, value in values.items() if alone else ():
        found = dh.explain(qrels, run, {name: f"{value:.{digits}f}"})
        assert tool in found.tools, (name, value, found)
        (first, *_) = (one for one in found.matches if one.tool == tool)
        assert first.value == pytest.approx(value, abs=1e-5), name
    whole = dh.explain(qrels, run, {name: f"{value:.{digits}f}" for name, value in values.items()})
    assert tool in whole.tools
    assert len(whole.tools) <= 5
    return whole


@pytest.mark.slow
@pytest.mark.parametrize("name", RUNS)
@pytest.mark.parametrize(
    ("level", "complete", "judged_only"), [(1, False, False), (1, True, False), (2, False, False), (1, False, True)]
)
def test_trec_eval(name: str, level: int, complete: bool, judged_only: bool) -> None:  # noqa: FBT001 - cases
    pytrec_eval = pytest.importorskip("pytrec_eval")
    qrels, run = data(name)
    measures = {"ndcg_cut.10", "map", "recip_rank", "P.10", "recall.20"}
    evaluator = pytrec_eval.RelevanceEvaluator(
        qrels, measures, relevance_level=level, judged_docs_only_flag=judged_only
    )
    by_query = evaluator.evaluate(run)
    n_queries = len(qrels) if complete else len(by_query)
    trec = {"nDCG@10": "ndcg_cut_10", "AP": "map", "RR": "recip_rank", "P@10": "P_10", "R@20": "recall_20"}
    values = {ours: math.fsum(own[its] for own in by_query.values()) / n_queries for ours, its in trec.items()}
    found = check("trec_eval", qrels, run, values, alone=complete)
    assert found.tools[0] == "trec_eval" or complete
    first = next(one for one in found.matches if one.tool == "trec_eval")
    asked = {"rel": level != 1, "missing": complete, "judged_only": judged_only}
    assert set(first.changes) == {option for option, is_set in asked.items() if is_set}


@pytest.mark.slow
@pytest.mark.parametrize("name", RUNS)
def test_ir_measures(name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ir_measures = pytest.importorskip("ir_measures")
    qrels, run = data(name)
    notations = ["nDCG@10", "AP", "RR@10", "RR", "P@10"]
    parsed = {one: of_ir_measures(one) for one in notations}
    found = ir_measures.calc_aggregate(list(parsed.values()), qrels, run)
    check("ir_measures", qrels, run, {one: found[parsed[one]] for one in notations})


@pytest.mark.parametrize("is_comparable", [False, True])
@pytest.mark.parametrize("name", [RUNS[0], pytest.param(RUNS[1], marks=pytest.mark.slow)])
def test_ranx(name: str, is_comparable: bool) -> None:  # noqa: FBT001 - a case
    """Its sort is unstable: only its own algorithm leaves equal scores in this order."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ranx = pytest.importorskip("ranx")
    qrels, run = data(name)
    if not is_comparable:
        qrels = {query: own for query, own in qrels.items() if query in run}
    metrics = {"nDCG@10": "ndcg@10", "AP": "map", "RR@10": "mrr@10", "P@10": "precision@10", "R@20": "recall@20"}
    theirs = ranx.evaluate(ranx.Qrels(qrels), ranx.Run(run), list(metrics.values()), make_comparable=is_comparable)
    check("ranx", qrels, run, {ours: float(theirs[its]) for ours, its in metrics.items()})
    burges = float(ranx.evaluate(ranx.Qrels(qrels), ranx.Run(run), "ndcg_burges@10", make_comparable=is_comparable))
    (first, *_) = dh.explain(qrels, run, {"nDCG@10": f"{burges:.6f}"}).matches
    ties = "quicksort twice" if is_comparable else "quicksort"
    assert (first.tool, dict(first.changes)) == ("ranx", {"ties": ties, "gain": "exp"})


@pytest.mark.slow
@pytest.mark.parametrize("name", RUNS)
def test_scikit_learn(name: str) -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    qrels, run = data(name)
    rows = arrays(qrels, run)
    values = {
        "nDCG@10": fmean(metrics.ndcg_score([levels], [scores], k=10) for levels, scores in rows),
        "AP": fmean(metrics.average_precision_score([one >= 1 for one in levels], scores) for levels, scores in rows),
    }
    kept = {query: own for query, own in qrels.items() if query in run}
    found = check("scikit-learn", kept, run, values, digits=5)
    assert found.tools == ("scikit-learn",)
    assert len(qrels) > len(kept)
    check("scikit-learn", qrels, run, values, digits=5)
    check("scikit-learn", qrels, run, {name: value * len(kept) / len(qrels) for name, value in values.items()})


@pytest.mark.parametrize("name", RUNS)
def test_torchmetrics(name: str) -> None:
    """It computes nDCG as scikit-learn does, in 32 bits."""
    retrieval = pytest.importorskip("torchmetrics.functional.retrieval")
    torch = pytest.importorskip("torch")
    qrels, run = data(name)
    kept = {query: own for query, own in qrels.items() if query in run}
    tensors = [(torch.tensor(scores), torch.tensor(levels)) for levels, scores in arrays(qrels, run)]
    ndcg = fmean(float(retrieval.retrieval_normalized_dcg(*one, top_k=10)) for one in tensors)
    check("torchmetrics", kept, run, {"nDCG@10": ndcg}, digits=6)


def without_ties(run: NESTED, lowest: float) -> NESTED:
    """Return a run in the order of its scores and then of its rows; the lowest new score is given, no two are equal."""
    return {
        query: {one: lowest + len(own) - place for place, one in enumerate(sorted(own, key=lambda one: -own[one]), 1)}
        for query, own in run.items()
    }


TORCH = {
    "RR": ("reciprocal_rank", None),
    "RR@3": ("reciprocal_rank", 3),
    "P@10": ("precision", 10),
    "R@20": ("recall", 20),
    "R@200": ("recall", 200),
    "AP": ("average_precision", None),
    "AP@100": ("average_precision", 100),
    "Hit@1": ("hit_rate", 1),
    "Rprec": ("r_precision", None),
    "nDCG@10": ("normalized_dcg", 10),
}


def of_torch(qrels: NESTED, run: NESTED, rel: int) -> dict[str, float]:
    """Return what the metrics of torchmetrics are, with its aggregation over queries."""
    retrieval = pytest.importorskip("torchmetrics.retrieval")
    torch = pytest.importorskip("torch")
    named = {one: "".join(part.title() for part in name.split("_")) for one, (name, _) in TORCH.items()}
    named |= {"RR": "MRR", "RR@3": "MRR", "AP": "MAP", "AP@100": "MAP", "nDCG@10": "NormalizedDCG"}
    rows = arrays(qrels, run)
    index = torch.tensor([number for number, (levels, _) in enumerate(rows) for _ in levels])
    scores = torch.tensor([score for _, own in rows for score in own])
    levels = torch.tensor([level for own, _ in rows for level in own])
    found = {}
    for name, (_, cutoff) in TORCH.items():
        options = {} if name == "Rprec" else {"top_k": cutoff}
        metric = getattr(retrieval, f"Retrieval{named[name]}")(empty_target_action="neg", **options)
        found[name] = float(metric(scores, levels if name == "nDCG@10" else levels >= rel, indexes=index))
    return found


@pytest.mark.parametrize("lowest", [0.5, -120.5])
@pytest.mark.parametrize("name", RUNS)
def test_torchmetrics_without_ties(name: str, lowest: float) -> None:
    """It sees the judgments of what is retrieved, and for most measures finds nothing where scores are not above 0."""
    qrels, run = data(name)
    run = without_ties(run, lowest)
    kept = {query: own for query, own in qrels.items() if query in run}
    found = check("torchmetrics", kept, run, of_torch(kept, run, 1), digits=5)
    assert found.tools == ("torchmetrics",)
    (first, *_) = found.matches
    assert first.settings["judgments"] == ("retrieved" if lowest > 0 else "above 0")
    strict = {name: value for name, value in of_torch(kept, run, 2).items() if name != "nDCG@10"}
    (first, *_) = check("torchmetrics", kept, run, strict).matches  # its means have 32 bits
    assert dict(first.changes) == {"rel": 2}


@pytest.mark.parametrize("name", RUNS)
def test_torchmetrics_has_an_order_of_its_own(name: str) -> None:
    """Not that of the rows, or any other that is tried: so nothing is said to be its, but for nDCG."""
    qrels, run = data(name)
    kept = {query: own for query, own in qrels.items() if query in run}
    theirs = of_torch(kept, run, 1)
    for metric in ("RR", "P@10", "AP"):
        assert "torchmetrics" not in dh.explain(kept, run, {metric: f"{theirs[metric]:.5f}"}).tools


@pytest.mark.parametrize("name", RUNS)
def test_rbp_of_cwl_eval(name: str) -> None:
    """ir_measures asks it for RBP; it leaves equal scores in their order."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ir_measures = pytest.importorskip("ir_measures")
    pytest.importorskip("cwl")
    qrels, run = data(name)
    values = {}
    for level, p in ((1, 0.8), (1, 0.95), (2, 0.8)):
        measure = ir_measures.RBP(rel=level, p=p)
        value = ir_measures.calc_aggregate([measure], qrels, run)[measure]
        values[level, p] = value
        (first, *_) = dh.explain(qrels, run, {f"RBP(p={p})": f"{value:.6f}"}).matches
        assert (first.tool, dict(first.changes)) == ("ir_measures", {} if level == 1 else {"rel": level})


@pytest.mark.parametrize("name", RUNS)
def test_beir(name: str) -> None:
    evaluation = pytest.importorskip("beir.retrieval.evaluation")
    qrels, run = data(name)
    qrels = {query: own for query, own in qrels.items() if max(own.values()) > 0}  # else R_cap divides by 0
    ndcg, ap, recall, precision = evaluation.EvaluateRetrieval.evaluate(qrels, run, [10])
    values = {"nDCG@10": ndcg["NDCG@10"], "AP@10": ap["MAP@10"], "R@10": recall["Recall@10"], "P@10": precision["P@10"]}
    check("BEIR", qrels, run, values, digits=5)
    rr = evaluation.EvaluateRetrieval.evaluate_custom(qrels, run, [10], metric="mrr")["MRR@10"]
    capped = evaluation.EvaluateRetrieval.evaluate_custom(qrels, run, [10], metric="r_cap")["R_cap@10"]
    found = check("BEIR", qrels, run, {"RR@10": rr, "nDCG@10": ndcg["NDCG@10"], "R@10": capped}, digits=5)
    assert found.tools == ("BEIR",)


@pytest.mark.parametrize("name", RUNS)
def test_sentence_transformers(name: str) -> None:
    evaluation = pytest.importorskip("sentence_transformers.sentence_transformer.evaluation")
    qrels, run = data(name)
    relevant = {query: {one for one, level in own.items() if level >= 1} for query, own in qrels.items()}
    relevant = {query: own for query, own in relevant.items() if own and query in run}
    documents = {one: "" for own in run.values() for one in own}
    evaluator = evaluation.InformationRetrievalEvaluator(
        dict.fromkeys(relevant, ""), documents, relevant, map_at_k=[10], ndcg_at_k=[10], mrr_at_k=[10]
    )
    lists = [[{"corpus_id": one, "score": score} for one, score in run[query].items()] for query in relevant]
    theirs = evaluator.compute_metrics(lists)
    values = {"nDCG@10": theirs["ndcg@k"][10], "RR@10": theirs["mrr@k"][10], "AP@10": theirs["map@k"][10]}
    assert check("sentence-transformers", qrels, run, values).tools == ("sentence-transformers",)


@pytest.mark.slow
@pytest.mark.parametrize("name", RUNS)
def test_gdeval(name: str) -> None:
    """The script of TREC's web tracks, as ir_measures runs it, where Perl is."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ir_measures = pytest.importorskip("ir_measures")
    measure = ir_measures.nDCG(dcg="exp-log2") @ 10
    if not ir_measures.providers.registry["gdeval"].is_available():
        pytest.skip("gdeval needs Perl")
    qrels, run = data(name)
    number = {query: str(n) for n, query in enumerate(run, 1)}
    kept = {number[query]: own for query, own in qrels.items() if query in run}
    run = {number[query]: own for query, own in run.items()}
    by_query = ir_measures.providers.registry["gdeval"].iter_calc([measure], kept, run)
    value = fmean(one.value for one in by_query)
    check("gdeval", kept, run, {"nDCG@10": value})
    by_query = ir_measures.providers.registry["gdeval"].iter_calc([ir_measures.ERR @ 10], kept, run)
    found = check("gdeval", kept, run, {"ERR@10": fmean(one.value for one in by_query)})
    assert found.tools[0] == "ir_measures"  # which asks gdeval
    assert found.matches[0].measures == {"ERR@10": "ERR(max_rel=4)@10"}


@pytest.mark.slow
@pytest.mark.parametrize("reported", ["0.0071", "0.123456", "0.99"])
def test_nothing_reproduces_a_wrong_value(reported: str) -> None:
    found = dh.explain(*data("Olz-gpt4o"), {"nDCG@10": reported})
    assert not found.matches
    assert not found.tools
    assert "Nothing that was tried reproduces nDCG@10 = " + reported in str(found)
    assert len(found.nearest) == 3


@pytest.mark.slow
def test_the_number_of_the_issue() -> None:
    """trec_eval computes it; the order of ties alone could have made it anything from 0.47 to 0.84."""
    paths: tuple[Path, Path] = (llm_qrels(), llm_run("Olz-gpt4o"))
    found = dh.explain(*paths, {"nDCG@10": 0.6807})
    assert found.matches[0].tool == "trec_eval"
    assert round(found.matches[0].value, 4) == 0.6807
    spread = dh.evaluate(*paths, "nDCG@10")["nDCG@10"]
    ours = found.ranges["nDCG@10"]
    assert (ours.low, ours.mean, ours.high) == pytest.approx((spread.mean_tie_min, spread.mean, spread.mean_tie_max))
    assert ours.is_inside
