"""AUC and its kin, areas under curves and ideals of retrieved documents, beside scikit-learn, SciPy and ir_measures."""

import random
import warnings

import numpy as np
import pytest
import scipy

import deadheat as dh
from support.other_tools import of_ir_measures
from support.shared_data import SOME_LLM_RUNS, llm_qrels, llm_run, needs_shared_data, qrels_dict, run_dict

Nested = dict[str, dict[str, float]]


def drawn(seed: int, n_scores: int) -> tuple[Nested, Nested]:
    """Draw judgments of 60 queries and a run that retrieves all judged documents, and some others."""
    rng = random.Random(seed)
    qrels: Nested = {}
    run: Nested = {}
    for number in range(60):
        docs = [f"d{doc}" for doc in range(rng.randint(2, 30))]
        qrels[f"q{number:02}"] = {doc: rng.choice((0, 0, 1, 2)) for doc in docs}
        run[f"q{number:02}"] = {doc: rng.randrange(n_scores) / 4 for doc in [*docs, "x", "y"]}
    return qrels, run


def columns_of(qrels: Nested, run: Nested, query: str) -> tuple[list[float], list[float]]:
    """Return relevance and score of the judged documents that were retrieved."""
    common = [doc for doc in qrels.get(query, {}) if doc in run[query]]
    return [qrels[query][doc] for doc in common], [run[query][doc] for doc in common]


def assert_auc_is_that_of_scikit_learn(qrels: Nested, run: Nested) -> None:
    from sklearn.metrics import roc_auc_score

    scores = dh.evaluate(qrels, run, ["AUC"])["AUC"]
    for query, value in zip(scores.query_ids, scores.values.tolist(), strict=True):
        relevance, own = columns_of(qrels, run, query) if query in run else ([], [])
        labels = [one >= 1 for one in relevance]
        if len(set(labels)) < 2:
            assert np.isnan(value)
        else:
            assert value == pytest.approx(roc_auc_score(labels, own), abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("n_scores", [1, 3, 10_000])
def test_a_tie_counts_a_half_as_in_scikit_learn(n_scores: int) -> None:
    assert_auc_is_that_of_scikit_learn(*drawn(1, n_scores))


@pytest.mark.slow
@needs_shared_data
@pytest.mark.parametrize("name", SOME_LLM_RUNS)
def test_auc_of_real_runs(name: str) -> None:
    qrels = {query: {doc: float(one) for doc, one in own.items()} for query, own in qrels_dict(llm_qrels()).items()}
    assert_auc_is_that_of_scikit_learn(qrels, run_dict(llm_run(name)))


def test_variance_over_ties_is_that_of_mann_and_whitney() -> None:
    """All tied: SciPy's z without continuity and tie corrections has the standard deviation in it."""
    qrels: Nested = {"q": {f"d{doc}": doc % 3 == 0 for doc in range(20)}}
    scores = dh.evaluate(qrels, {"q": dict.fromkeys(qrels["q"], 1.0)}, ["AUC"])["AUC"]
    n_relevant, n_others = 7, 13
    found = scipy.stats.mannwhitneyu(
        range(n_relevant), range(10, 10 + n_others), use_continuity=False, method="asymptotic"
    )
    assert found.pvalue > 0
    expected = np.sqrt(n_relevant * n_others * 21 / 12) / (n_relevant * n_others)
    assert (scores.values[0], scores.tie_std[0]) == pytest.approx((0.5, expected), abs=1e-12)


@pytest.mark.parametrize("weight", ["judged", "relevant"])
def test_gauc_is_the_weighted_mean(weight: str) -> None:
    from sklearn.metrics import roc_auc_score

    qrels, run = drawn(3, 4)
    total = weights = 0.0
    for query in qrels:
        relevance, own = columns_of(qrels, run, query)
        labels = [one >= 1 for one in relevance]
        if len(set(labels)) == 2:
            n = len(labels) if weight == "judged" else sum(labels)
            total, weights = total + n * roc_auc_score(labels, own), weights + n
    found = dh.evaluate(qrels, run, [f"GAUC(weight='{weight}')"])
    assert next(iter(found.means().values())) == pytest.approx(total / weights, abs=1e-12)


def test_area_under_the_curve_that_scikit_learn_draws() -> None:
    """For distinct scores and relevant documents that are all retrieved: it takes others for not relevant."""
    from sklearn.metrics import auc, precision_recall_curve

    qrels, run = drawn(4, 10_000)
    run = {
        query: {doc: float(place) for place, doc in enumerate(sorted(own, key=own.__getitem__))}
        for query, own in run.items()
    }
    scores = dh.evaluate(qrels, run, ["AUPRC"])["AUPRC"]
    for query, value in zip(scores.query_ids, scores.values.tolist(), strict=True):
        labels = [qrels[query].get(doc, 0) >= 1 for doc in run[query]]
        if any(labels):
            precision, recall, _ = precision_recall_curve(labels, list(run[query].values()))
            assert value == pytest.approx(auc(recall, precision), abs=1e-12)


@pytest.mark.parametrize("n_scores", [2, 10_000])
@pytest.mark.parametrize("cutoff", [None, 1, 5])
def test_the_ideal_of_retrieved_documents_is_that_of_scikit_learn(n_scores: int, cutoff: int | None) -> None:
    """ndcg_score sees the list alone, and averages over ties as deadheat does."""
    from sklearn.metrics import ndcg_score

    qrels, run = drawn(5, n_scores)
    run = {
        query: {doc: score for place, (doc, score) in enumerate(own.items()) if place % 3} for query, own in run.items()
    }
    at = "" if cutoff is None else f"@{cutoff}"
    scores = dh.evaluate(qrels, run, [f"nDCG(ideal='retrieved'){at}"], missing="skip")
    own = next(iter(scores))
    for query, value in zip(own.query_ids, own.values.tolist(), strict=True):
        gains = [[qrels[query].get(doc, 0) for doc in run[query]]]
        if len(gains[0]) > 1:
            assert value == pytest.approx(ndcg_score(gains, [list(run[query].values())], k=cutoff), abs=1e-12)


def test_accuracy_is_that_of_ir_measures_where_it_has_one() -> None:
    """It leaves out queries without a relevant document in the top k, and divides by zero where all are relevant."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ir_measures = pytest.importorskip("ir_measures")
    qrels, run = drawn(6, 10_000)
    names = ["Accuracy", "Accuracy(rel=2)", "Accuracy@5"]
    run = {query: own | {"z": -1.0 - place} for place, (query, own) in enumerate(run.items())}  # one that is not
    ours = dh.evaluate(qrels, run, names, ties="doc_id")
    compared = 0
    for name in names:
        ours_by_query = dict(zip(ours[name].query_ids, ours[name].values.tolist(), strict=True))
        for query in qrels:
            try:
                measure = of_ir_measures(name)
                own = {query: {doc: int(one) for doc, one in qrels[query].items()}}
                theirs = list(ir_measures.iter_calc([measure], own, {query: run[query]}))
            except ZeroDivisionError:
                assert ours_by_query[query] == 1
                continue
            if not theirs or theirs[0].value == 0:
                continue
            compared += 1
            assert ours_by_query[query] == pytest.approx(theirs[0].value, abs=1e-12)
    assert compared > 100


def test_hole_is_what_judged_leaves() -> None:
    qrels, run = drawn(7, 3)
    found = dh.evaluate(qrels, run, ["Hole@2", "Judged@2", "unj_2"])
    np.testing.assert_allclose(found["Hole@2"].values, 1 - found["Judged@2"].values, atol=1e-12)
    assert dh.parse_measure("unj_2") == dh.parse_measure("Hole@2")


def test_capped_recall_and_the_curve_are_read() -> None:
    """BEIR divides by the relevant documents or by k, whichever is less."""
    assert dh.parse_measure("R_cap@10") == dh.parse_measure("RelP@10")
    found = dh.evaluate({"q": {"a": 1, "b": 1, "c": 1}}, {"q": ["a", "x", "b"]}, ["R_cap@2", "pr_curve"])
    assert found.means()["R_cap@2"] == 1 / 2
    assert [name for name in found.means() if name.startswith("IPrec")] == [f"IPrec@{n / 10:g}" for n in range(11)]
