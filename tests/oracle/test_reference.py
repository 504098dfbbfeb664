"""The reference itself, on rankings without ties, against trec_eval, ir_measures, scikit-learn and ranx."""

import random
import warnings

import numpy as np
import pytest
import pytrec_eval

from oracle.orders import moments, pick_order, rank, weighted_rankings
from oracle.random_cases import Case
from oracle.reference import REFERENCE
from oracle.variants import Variant
from support.other_tools import of_ir_measures

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import ir_measures

IDS = [f"d{number}" for number in range(12)]
CUTOFFS = (1, 2, 3, 5, 10, 100)


def draw_untied(seed: int, levels: tuple[int, ...], n_cases: int = 150) -> dict[str, Case]:
    """Draw cases with distinct scores, some documents unjudged and some relevant ones not retrieved."""
    rng = random.Random(seed)
    cases = {}
    for number in range(n_cases):
        docs = rng.sample(IDS, k=rng.randint(1, len(IDS)))
        judged = {doc: rng.choice(levels) for doc in IDS if rng.random() < 0.8} or {"d1": 1}
        scores = dict(zip(docs, rng.sample(range(100), k=len(docs)), strict=True))
        cases[str(number + 1)] = Case(judged, {doc: float(score) for doc, score in scores.items()})
    return cases


GRADED = draw_untied(1, (-1, 0, 0, 1, 2, 3))
BINARY = draw_untied(2, (0, 0, 1))


def reference_values(cases: dict[str, Case], name: str, **parameters: object) -> dict[str, float]:
    """Evaluate a reference on every case."""
    scale = max(relevance for case in cases.values() for relevance in case.judged.values())
    return {
        query: REFERENCE[name](
            rank(pick_order("input", case.scores, case.judged), case.judged), case.judged, scale, **parameters
        )
        for query, case in cases.items()
    }


def qrels_of(cases: dict[str, Case]) -> dict[str, dict[str, int]]:
    """Judgments as dict of dicts of integers."""
    return {query: {doc: int(level) for doc, level in case.judged.items()} for query, case in cases.items()}


def run_of(cases: dict[str, Case]) -> dict[str, dict[str, float]]:
    """Scores as dict of dicts."""
    return {query: dict(case.scores) for query, case in cases.items()}


TREC_EVAL = [
    ("map", "AP", {}),
    *((f"map_cut_{k}", "AP", {"cutoff": k}) for k in CUTOFFS),
    ("ndcg", "nDCG", {}),
    *((f"ndcg_cut_{k}", "nDCG", {"cutoff": k}) for k in CUTOFFS),
    *((f"P_{k}", "P", {"cutoff": k}) for k in CUTOFFS),
    *((f"recall_{k}", "R", {"cutoff": k}) for k in CUTOFFS),
    *((f"success_{k}", "Hit", {"cutoff": k}) for k in CUTOFFS),
    ("recip_rank", "RR", {}),
    ("Rprec", "Rprec", {}),
    ("bpref", "bpref", {}),
    ("set_P", "P", {}),
    ("set_recall", "R", {}),
    ("set_F", "F", {}),
    ("num_ret", "NumRet", {}),
    ("num_rel", "NumRel", {}),
    ("num_rel_ret", "NumRelRet", {}),
    ("num_q", "NumQ", {}),
]


@pytest.mark.parametrize("rel", [1, 2])
@pytest.mark.parametrize(("trec_eval", "name", "parameters"), TREC_EVAL, ids=[entry[0] for entry in TREC_EVAL])
def test_trec_eval_agrees(trec_eval: str, name: str, parameters: dict[str, int], rel: int) -> None:
    """pytrec_eval gives the same value for every query."""
    if name not in {"nDCG", "NumRet", "NumQ"}:
        parameters = parameters | {"rel": rel}
    stem, _, cutoff = trec_eval.rpartition("_")
    wanted = f"{stem}.{cutoff}" if cutoff.isdigit() else trec_eval
    evaluator = pytrec_eval.RelevanceEvaluator(qrels_of(GRADED), {wanted}, relevance_level=rel)
    theirs = evaluator.evaluate(run_of(GRADED))
    ours = reference_values(GRADED, name, **parameters)
    assert {query: values[trec_eval] for query, values in theirs.items()} == pytest.approx(ours, abs=1e-12)


IR_MEASURES = [
    ("P@3", "P", {"cutoff": 3}),
    ("P(rel=2)@3", "P", {"cutoff": 3, "rel": 2}),
    ("AP(rel=2)@5", "AP", {"cutoff": 5, "rel": 2}),
    ("nDCG@5", "nDCG", {"cutoff": 5}),
    ("nDCG(gains={0:0,1:1,2:5,3:9})@5", "nDCG", {"cutoff": 5, "gain": {0: 0, 1: 1, 2: 5, 3: 9}}),
    ("nDCG(dcg='exp-log2')@5", "nDCG", {"cutoff": 5, "gain": "exp"}),
    ("RR@3", "RR", {"cutoff": 3}),
    ("Success@3", "Hit", {"cutoff": 3}),
    ("Judged@3", "Judged", {"cutoff": 3}),
    ("Judged@20", "Judged", {"cutoff": 20}),
    ("SetF", "F", {}),
    ("ERR@5", "ERR", {"cutoff": 5, "max_rel": 4}),
    ("ERR@20", "ERR", {"cutoff": 20, "max_rel": 4}),
]


@pytest.mark.parametrize(("notation", "name", "parameters"), IR_MEASURES, ids=[entry[0] for entry in IR_MEASURES])
def test_ir_measures_agrees(notation: str, name: str, parameters: dict[str, object]) -> None:
    """ir_measures gives the same value for every query, to the five digits of gdeval where that computes it."""
    cases = draw_untied(3, (0, 0, 1, 2, 3))
    measure = of_ir_measures(notation)
    theirs = {
        metric.query_id: metric.value for metric in ir_measures.iter_calc([measure], qrels_of(cases), run_of(cases))
    }
    ours = reference_values(cases, name, **parameters)
    tolerance = 1e-5 if name == "ERR" or "exp" in notation else 1e-12
    assert theirs == pytest.approx({query: ours[query] for query in theirs}, abs=tolerance)
    assert len(theirs) > len(cases) / 2


RANX = [
    ("rbp.80", "RBP", {"p": 0.8}),
    ("rbp.50", "RBP", {"p": 0.5}),
    ("dcg@5", "DCG", {"cutoff": 5}),
    ("dcg_burges@5", "DCG", {"cutoff": 5, "gain": "exp"}),
    ("ndcg_burges@5", "nDCG", {"cutoff": 5, "gain": "exp"}),
]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:unsafe cast from uint64")
@pytest.mark.parametrize(("metric", "name", "parameters"), RANX, ids=[entry[0] for entry in RANX])
def test_ranx_agrees(metric: str, name: str, parameters: dict[str, object]) -> None:
    """ranx gives the same value for every query that has a relevant document; its RBP is binary on binary qrels."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ranx = pytest.importorskip("ranx")
    cases = BINARY if name == "RBP" else GRADED
    cases = {query: case for query, case in cases.items() if max(case.judged.values()) > 0}
    run = ranx.Run(run_of(cases))
    ranx.evaluate(ranx.Qrels(qrels_of(cases)), run, metric)
    assert dict(run.scores[metric]) == pytest.approx(reference_values(cases, name, **parameters), abs=1e-12)


@pytest.mark.parametrize("cutoff", [None, 1, 3, 5])
@pytest.mark.parametrize("n_scores", [1, 2, 3, 20])
def test_scikit_learn_averages_over_ties_alike(cutoff: int | None, n_scores: int) -> None:
    """scikit-learn's DCG and nDCG, which average over ties, are the means over all orders."""
    metrics = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(5)
    for _ in range(10):
        relevance, score = rng.integers(0, 4, size=6), rng.integers(0, n_scores, size=6)
        relevance[0] = 1
        judged = {f"d{doc}": float(level) for doc, level in enumerate(relevance)}
        rankings = weighted_rankings({f"d{doc}": float(value) for doc, value in enumerate(score)}, judged)
        for name, theirs in (("DCG", metrics.dcg_score), ("nDCG", metrics.ndcg_score)):
            ours = moments(Variant(name, {}, ()).reference(cutoff, judged, 3), rankings)
            assert ours.mean == pytest.approx(theirs([relevance], [score], k=cutoff), abs=1e-12)
