"""Real runs: the recorded statistics of the HPO runs, and 2,000 random tie-breaks of an LLM's labels."""

import itertools

import numpy as np
import pytest

import deadheat as dh
from support.shared_data import (
    HPO_RUNS,
    hpo_qrels,
    hpo_run,
    llm_qrels,
    llm_run,
    needs_shared_data,
    qrels_dict,
    run_dict,
    tie_statistics,
)

pytestmark = needs_shared_data

POLICIES = {
    "docid_ascending": "input",  # the files are written so
    "best": "best",
    "worst": "worst",
    "trec_eval_docid_descending": "doc_id",
}


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("name", HPO_RUNS)
def test_recorded_tie_statistics(name: str, policy: str) -> None:
    """MRR and nDCG@10 in four orders of the ties, over all queries of the qrels."""
    recorded = tie_statistics()[name]
    evaluation = dh.evaluate(hpo_qrels(name), hpo_run(name), ["RR", "nDCG@10"], ties=POLICIES[policy], missing="empty")
    assert len(evaluation["RR"].query_ids) == recorded["queries_in_qrels"]
    assert evaluation["RR"].mean == pytest.approx(recorded["mrr"][policy], abs=1e-12)
    assert evaluation["nDCG@10"].mean == pytest.approx(recorded["ndcg@10"][policy], abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("name", HPO_RUNS)
def test_recorded_extremes_bound_the_exact_mean(name: str) -> None:
    """Worst and best are the bounds of the mean over queries; the queries whose value depends on ties are those."""
    recorded = tie_statistics()[name]
    evaluation = dh.evaluate(hpo_qrels(name), hpo_run(name), ["RR", "nDCG@10"], missing="empty")
    for measure, key in (("RR", "mrr"), ("nDCG@10", "ndcg@10")):
        scores = evaluation[measure]
        assert scores.mean_tie_min == pytest.approx(recorded[key]["worst"], abs=1e-12)
        assert scores.mean_tie_max == pytest.approx(recorded[key]["best"], abs=1e-12)
        depends = int((scores.tie_max - scores.tie_min > 1e-12).sum())
        assert depends == recorded[f"queries_{key.replace('@', '')}_depends_on_tie_order"]
        assert int((scores.tie_std > 0).sum()) == depends
        if depends:
            assert recorded[key]["worst"] < scores.mean < recorded[key]["best"]


def test_bm25_on_short_text_is_half_ties() -> None:
    """A third of MRR and of nDCG@10 hang on the order of ties."""
    evaluation = dh.evaluate(hpo_qrels("enx.bm25"), hpo_run("enx.bm25"), ["RR", "nDCG@10"], missing="empty")
    rr, ndcg = evaluation["RR"], evaluation["nDCG@10"]
    assert (round(rr.mean_tie_min, 4), round(rr.mean_tie_max, 4)) == (0.2434, 0.3531)
    assert (round(ndcg.mean_tie_min, 4), round(ndcg.mean_tie_max, 4)) == (0.2765, 0.3828)
    assert 0.2434 < rr.mean < 0.3531
    assert 0.2765 < ndcg.mean < 0.3828


@pytest.mark.parametrize("name", ["en.bm25", "de.bm25", "enx.minilm-2dec"])
def test_share_of_queries_with_ties(name: str) -> None:
    """A tie that reaches into the top 10, counted by hand, is recorded alike."""
    recorded, run = tie_statistics()[name], run_dict(hpo_run(name))
    inside, across = 0, 0
    for docs in run.values():
        ordered = sorted(docs.values(), reverse=True)
        inside += any(first == second for first, second in itertools.pairwise(ordered[:10]))
        across += len(ordered) > 10 and ordered[9] == ordered[10]
    assert inside / recorded["queries_in_qrels"] == pytest.approx(recorded["fraction_tie_in_top10"])
    assert across / recorded["queries_in_qrels"] == pytest.approx(recorded["fraction_tie_across_rank_10_11"])


@pytest.mark.slow
@pytest.mark.parametrize("collection", ["en", "de"])
@pytest.mark.parametrize("system", ["bm25", "minilm-2dec"])
def test_graded_judgments(collection: str, system: str) -> None:
    """Ontology grades 1 to 3: the mean over random tie-breaks of graded measures approaches the exact one."""
    name = f"{collection}.{system}"
    qrels = hpo_qrels(name).with_name(f"hpo-{collection}.graded.qrels.gz")
    measures = ["nDCG(gain='exp')@10", "ERR@10", "Q", "GAP", "nERR"]
    exact = dh.evaluate(qrels, hpo_run(name), measures, missing="empty")
    rng = np.random.default_rng(2)
    draws = [
        dh.evaluate(qrels, hpo_run(name), measures, ties="random", rng=rng, missing="empty").means() for _ in range(40)
    ]
    for measure in measures:
        scores, drawn = exact[measure], np.array([draw[measure] for draw in draws])
        assert abs(drawn.mean() - scores.mean) <= 4.5 * scores.mean_tie_std / np.sqrt(len(draws)) + 1e-12
        assert (drawn >= scores.mean_tie_min - 1e-12).all()
        assert (drawn <= scores.mean_tie_max + 1e-12).all()


N_TIE_BREAKS = 2_000
TREC_EVAL = {"ndcg_cut_10": "nDCG@10", "map": "AP", "recip_rank": "RR", "P_10": "P@10"}


@pytest.fixture(scope="module")
def tie_breaks() -> dict[str, np.ndarray]:
    """Values of every query in 2,000 random orders by pytrec_eval, of shape (n_tie_breaks, n_queries)."""
    pytrec_eval = pytest.importorskip("pytrec_eval")
    qrels, run = qrels_dict(llm_qrels()), run_dict(llm_run("Olz-gpt4o"))
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, {"ndcg_cut.10", "map", "recip_rank", "P.10"})
    docs = {query: list(scores) for query, scores in run.items()}
    base = {query: np.array(list(scores.values())) for query, scores in run.items()}
    rng = np.random.default_rng(2026)
    queries = sorted(qrels)
    found = {measure: np.empty((N_TIE_BREAKS, len(queries))) for measure in TREC_EVAL}
    for draw in range(N_TIE_BREAKS):
        # Steps of 1/1024 are exact in the float32 that trec_eval keeps, and add up to less than one label.
        broken = {
            query: dict(zip(docs[query], (labels + rng.permutation(len(labels)) / 1024).tolist(), strict=True))
            for query, labels in base.items()
        }
        values = evaluator.evaluate(broken)
        for measure, array in found.items():
            array[draw] = [values[query][measure] for query in queries]
    return found


@pytest.mark.slow
@pytest.mark.parametrize("trec_eval", TREC_EVAL)
def test_random_tie_breaks_scatter_around_the_exact_mean(trec_eval: str, tie_breaks: dict[str, np.ndarray]) -> None:
    """Their mean, their variance, and their mean and variance for every query fit the exact ones."""
    measure = TREC_EVAL[trec_eval]
    scores = dh.evaluate(llm_qrels(), llm_run("Olz-gpt4o"), [measure])[measure]
    assert list(scores.query_ids) == sorted(qrels_dict(llm_qrels()))
    drawn, by_query = tie_breaks[trec_eval].mean(axis=1), tie_breaks[trec_eval]
    error = drawn.mean() - scores.mean
    assert abs(error) <= 4 * scores.mean_tie_std / np.sqrt(N_TIE_BREAKS)
    # (n - 1) s^2 / sigma^2 is close to chi-square with n - 1 degrees of freedom: mean n - 1, variance 2 (n - 1).
    ratio = drawn.var(ddof=1) / scores.mean_tie_std**2
    assert abs(ratio - 1) <= 4 * np.sqrt(2 / (N_TIE_BREAKS - 1))
    query_error = np.abs(by_query.mean(axis=0) - scores.values)
    assert (query_error <= 5 * scores.tie_std / np.sqrt(N_TIE_BREAKS) + 1e-12).all()
    assert by_query.var(axis=0, ddof=1).sum() == pytest.approx((scores.tie_std**2).sum(), rel=0.05)
    assert (by_query >= scores.tie_min - 1e-9).all()
    assert (by_query <= scores.tie_max + 1e-9).all()
    assert scores.mean_tie_min - 1e-9 <= drawn.min()
    assert drawn.max() <= scores.mean_tie_max + 1e-9


def test_llm_labels_say_anything_between_a_tenth_and_nine_tenths() -> None:
    """The figures of the design: nDCG@10 from 0.10 to 0.87, by document id, as trec_eval, 0.47."""
    qrels, run = llm_qrels(), llm_run("NISTRetrieval-instruct0")
    worst_to_best = dh.evaluate(qrels, run, ["nDCG@10"])["nDCG@10"]
    by_id = dh.evaluate(qrels, run, ["nDCG@10"], ties="doc_id")["nDCG@10"]
    assert round(worst_to_best.mean_tie_min, 2) == 0.10
    assert round(worst_to_best.mean_tie_max, 2) == 0.87
    assert round(by_id.mean, 2) == 0.47


@pytest.mark.slow
@pytest.mark.parametrize("name", ["NISTRetrieval-instruct0", "Olz-gpt4o"])
def test_a_value_that_no_order_changes_has_no_spread_at_all(name: str) -> None:
    notations = ["MaxRel@1", "MaxRel@2", "MaxRel@5", "Hit", "Hit(rel=3)@100", "TMHits@100", "RBP(p=0.5)", "ERR", "AP"]
    for scores in dh.evaluate(llm_qrels(), llm_run(name), notations):
        np.testing.assert_array_equal(scores.tie_std[scores.tie_max == scores.tie_min], 0, str(scores.measure))
