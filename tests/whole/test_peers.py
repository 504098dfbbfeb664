"""Agreement with other tools on real runs: trec_eval under its own tie rule, and those that average over ties."""

import warnings

import numpy as np
import pytest

import deadheat as dh
from support.other_tools import of_ir_measures
from support.shared_data import SOME_LLM_RUNS, SOME_RUNS, needs_shared_data, qrels_dict, run_dict, sources_of

pytestmark = needs_shared_data

CUTOFFS = (1, 3, 5, 10, 100)
TREC_EVAL = {
    "map": "AP",
    "ndcg": "nDCG",
    "recip_rank": "RR",
    "Rprec": "Rprec",
    "bpref": "bpref",
    "set_P": "P",
    "set_recall": "R",
    "set_F": "F",
    "num_q": "NumQ",
    "num_ret": "NumRet",
    "num_rel": "NumRel",
    "num_rel_ret": "NumRelRet",
}
TREC_EVAL_CUT = {"map_cut": "AP", "ndcg_cut": "nDCG", "P": "P", "recall": "R", "success": "Hit"}
GRADED = {"nDCG", "NumQ", "NumRet"}


def by_query(scores: dh.Scores) -> dict[str, float]:
    """Values by query id."""
    return dict(zip(scores.query_ids, scores.values.tolist(), strict=True))


@pytest.mark.parametrize("rel", [1, 2])
@pytest.mark.parametrize("name", SOME_RUNS)
def test_trec_eval_agrees_for_every_query(name: str, rel: int) -> None:
    """Every measure that both have, with the ties broken by document id and scores as the float32 it keeps."""
    pytrec_eval = pytest.importorskip("pytrec_eval")
    qrels, run = sources_of(name)
    wanted = {*TREC_EVAL, *(f"{stem}.{','.join(map(str, CUTOFFS))}" for stem in TREC_EVAL_CUT)}
    theirs = pytrec_eval.RelevanceEvaluator(qrels_dict(qrels), wanted, relevance_level=rel).evaluate(run_dict(run))
    pairs = [(trec, ours, "") for trec, ours in TREC_EVAL.items()]
    pairs += [(f"{stem}_{k}", ours, f"@{k}") for stem, ours in TREC_EVAL_CUT.items() for k in CUTOFFS]
    notations = {trec: ours + (f"(rel={rel})" if ours not in GRADED else "") + cutoff for trec, ours, cutoff in pairs}
    evaluation = dh.evaluate(
        qrels, run, list(notations.values()), ties="doc_id", score_precision="float32", missing="empty"
    )
    assert len(theirs) == len(run_dict(run).keys() & qrels_dict(qrels).keys())
    for trec, notation in notations.items():
        ours = by_query(evaluation[notation])
        expected = {query: values[trec] for query, values in theirs.items()}
        assert {query: ours[query] for query in expected} == pytest.approx(expected, abs=1e-9), trec


@pytest.mark.parametrize("stem", [*TREC_EVAL, *(f"{stem}_10" for stem in TREC_EVAL_CUT)])
def test_trec_eval_names_are_read(stem: str) -> None:
    """Its names stand for the same measures."""
    expected = TREC_EVAL.get(stem) or TREC_EVAL_CUT[stem.removesuffix("_10")] + "@10"
    assert dh.parse_measure(stem) == dh.parse_measure(expected)


def test_trec_eval_keeps_scores_as_float32() -> None:
    """It ties 1 and 1 + 2^-30, and puts the higher id first; with all bits the higher score comes first."""
    pytrec_eval = pytest.importorskip("pytrec_eval")
    qrels, run = {"q": {"a": 1}}, {"q": {"a": 1.0 + 2.0**-30, "b": 1.0}}
    theirs = pytrec_eval.RelevanceEvaluator(qrels, {"recip_rank"}).evaluate(run)["q"]["recip_rank"]
    assert theirs == 1 / 2
    assert dh.evaluate(qrels, run, ["RR"], ties="doc_id", score_precision="float32")["RR"].values[0] == theirs
    assert dh.evaluate(qrels, run, ["RR"], ties="doc_id")["RR"].values[0] == 1


@pytest.mark.parametrize("name", ["en.bm25", "Olz-gpt4o"])
def test_ir_measures_agrees_in_its_own_notation(name: str) -> None:
    """The notation is the same, and so are the values under trec_eval's tie rule."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ir_measures = pytest.importorskip("ir_measures")
    qrels, run = (path for path in sources_of(name))
    notations = ["nDCG@10", "AP", "AP(rel=2)", "P(rel=2)@5", "RR", "Rprec", "R@100", "Success@1", "Bpref", "SetF"]
    ours = {"Bpref": "bpref", "SetF": "F"}
    theirs = ir_measures.calc_aggregate(
        [of_ir_measures(notation) for notation in notations], qrels_dict(qrels), run_dict(run)
    )
    means = dh.evaluate(
        qrels,
        run,
        [ours.get(notation, notation) for notation in notations],
        ties="doc_id",
        score_precision="float32",
    ).means()
    assert list(means.values()) == pytest.approx([theirs[of_ir_measures(notation)] for notation in notations], abs=1e-9)


def arrays(name: str) -> list[tuple[str, list[int], list[float]]]:
    """Query id, relevance and score of the documents of one LLM's run; all are judged and retrieved."""
    qrels, run = sources_of(name)
    judged = qrels_dict(qrels)
    return [(query, [judged[query][doc] for doc in docs], list(docs.values())) for query, docs in run_dict(run).items()]


@pytest.mark.parametrize("cutoff", [1, 10, 100, None])
@pytest.mark.parametrize("name", SOME_LLM_RUNS)
def test_scikit_learn_averages_over_the_same_orders(name: str, cutoff: int | None) -> None:
    """Its ndcg_score and dcg_score average over ties unless told not to."""
    metrics = pytest.importorskip("sklearn.metrics")
    suffix = "" if cutoff is None else f"@{cutoff}"
    evaluation = dh.evaluate(*sources_of(name), ["nDCG" + suffix, "DCG" + suffix])
    for measure, score in (("nDCG", metrics.ndcg_score), ("DCG", metrics.dcg_score)):
        ours = by_query(evaluation[measure + suffix])
        theirs = {query: score([levels], [scores], k=cutoff) for query, levels, scores in arrays(name)}
        assert ours == pytest.approx(theirs, abs=1e-9)


TIE_AWARE = {
    "recall": "R(norm='retrieved_all', rel={rel})",
    "precision": "P(rel={rel})",
    "f1": "F(norm='retrieved_all', rel={rel})",
    "hits": "NumRelRet(rel={rel})",
    "mrr": "RR(rel={rel})",
    "map": "AP(rel={rel})",
    "ndcg": "nDCG(gain={gain})",
}


@pytest.mark.slow
@pytest.mark.parametrize("cutoff", [1, 5, 10, 50])
@pytest.mark.parametrize("rel", [1, 2])
@pytest.mark.parametrize("name", SOME_LLM_RUNS)
def test_tie_aware_retrieval_metrics_agrees(name: str, rel: int, cutoff: int) -> None:
    """Expected value, minimum and maximum of its seven binary measures."""
    trm = pytest.importorskip("trm")
    rows = arrays(name)
    theirs = trm.evaluate(
        [scores for _, _, scores in rows],
        [[level >= rel for level in levels] for _, levels, _ in rows],
        metrics=list(TIE_AWARE),
        k_list=[cutoff],
    )
    gain = {level: int(level >= rel) for level in range(4)}
    notations = {metric: f"{form.format(rel=rel, gain=gain)}@{cutoff}" for metric, form in TIE_AWARE.items()}
    evaluation = dh.evaluate(*sources_of(name), list(notations.values()))
    order = np.searchsorted(evaluation[notations["map"]].query_ids.astype(str), [query for query, _, _ in rows])
    for metric, notation in notations.items():
        results, scores = theirs.per_query[metric][cutoff], evaluation[notation]
        for ours, field in ((scores.values, "expected"), (scores.tie_min, "minimum"), (scores.tie_max, "maximum")):
            np.testing.assert_allclose(
                ours[order], [getattr(result, field) for result in results], rtol=0, atol=1e-9, err_msg=metric + field
            )
