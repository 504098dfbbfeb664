"""Agreement with the tools behind ir_measures: cwl_eval, its own Compat, and pyndeval; per query, without ties."""

import random
import warnings

import pytest

import deadheat as dh
from support.other_tools import of_ir_measures
from support.shared_data import LLM_RUNS, SOME_LLM_RUNS, llm_qrels, llm_run, needs_shared_data, qrels_dict, run_dict

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    ir_measures = pytest.importorskip("ir_measures")

Judged = dict[str, dict[str, int]]
Scored = dict[str, dict[str, float]]

CWL = {  # ours by theirs; it looks at 1000 ranks, and needs to be told the highest relevance
    "INSQ(max_rel=3)": "INSQ(max_rel=3, ranks=1000)",
    "INSQ(T=2.5, max_rel=3)": "INSQ(T=2.5, max_rel=3, ranks=1000)",
    "INSQ(min_rel=1, max_rel=3)": "INSQ(min_rel=1, max_rel=3, ranks=1000)",
    "SDCG(max_rel=3)@10": "SDCG(max_rel=3)@10",
    "BPM(max_rel=3)@10": "BPM(max_rel=3)@10",
    "BPM(T=2.0, max_rel=4)@5": "BPM(T=2, max_rel=4)@5",
    "INST(max_rel=3)": "INST(max_rel=3, ranks=1000)",
    "INST(T=2.0, max_rel=3)": "INST(T=2, max_rel=3, ranks=1000)",
    "NERR8(max_rel=3)@10": "NERR8(max_rel=3)@10",
    "NERR9(max_rel=3)@10": "NERR9(max_rel=3)@10",
    "NERR10(max_rel=3)": "NERR10(max_rel=3, ranks=1000)",
    "NERR10(p=0.5, max_rel=3)": "NERR10(p=0.5, max_rel=3, ranks=1000)",
    "NERR11(max_rel=3)": "NERR11(max_rel=3, ranks=1000)",
}
COMPAT = {name: name for name in ("Compat", "Compat(p=0.5)", "Compat(normalize=False)")}


def drawn(seed: int) -> tuple[Judged, Scored]:
    """Draw judgments of 80 queries and a run without ties."""
    rng = random.Random(seed)
    qrels: Judged = {}
    run: Scored = {}
    for number in range(80):
        docs = [f"d{doc}" for doc in range(rng.randint(1, 40))]
        qrels[f"q{number}"] = {doc: rng.choice((-1, 0, 0, 1, 2, 3)) for doc in docs if rng.random() < 0.8} or {"d0": 3}
        found = rng.sample(docs, rng.randint(1, len(docs)))
        run[f"q{number}"] = {doc: float(len(found) - place) for place, doc in enumerate(found)}
    return qrels, run


def untied(run: Scored) -> Scored:
    """Return a run in the order of its scores and then of ids, without ties; its scores are 1.5, 2.5 and so on."""
    found = {}
    for query, docs in run.items():
        order = sorted(docs, key=lambda doc: (docs[doc], doc))
        found[query] = {doc: place + 1.5 for place, doc in enumerate(order)}
    return found


def assert_agree(names: dict[str, str], qrels: Judged, run: Scored) -> None:
    """Compare every measure for every query that both have."""
    evaluation = dh.evaluate(qrels, run, list(names.values()), missing="skip")
    for theirs, ours in names.items():
        measure = of_ir_measures(theirs)
        expected = {one.query_id: one.value for one in ir_measures.iter_calc([measure], qrels, run)}
        own = dict(zip(evaluation[ours].query_ids, evaluation[ours].values.tolist(), strict=True))
        assert own == pytest.approx(expected, abs=1e-9), theirs


def test_cwl_eval() -> None:
    pytest.importorskip("cwl")
    assert_agree(CWL, *drawn(1))


@needs_shared_data
def test_cwl_eval_of_a_real_run() -> None:
    pytest.importorskip("cwl")
    assert_agree(CWL, qrels_dict(llm_qrels()), untied(run_dict(llm_run(LLM_RUNS[0]))))


def test_cwl_eval_misses_what_is_wanted_where_thirds_are_rounded() -> None:
    """1/3 + 1/3 + 1 + 1/3 is a little less than 2 in doubles, so its user reads on; ours stops."""
    pytest.importorskip("cwl")
    qrels, run = {"q": {"a": 1, "b": 1, "c": 3, "d": 1}}, {"q": {"a": 5.5, "b": 4.5, "c": 3.5, "d": 2.5, "x": 1.5}}
    measure = of_ir_measures("BPM(T=2.0, max_rel=3)@5")
    assert ir_measures.calc_aggregate([measure], qrels, run)[measure] == pytest.approx(2 / 5)
    assert dh.evaluate(qrels, run, ["BPM(T=2, max_rel=3)@5"])["BPM(T=2, max_rel=3)@5"].mean == pytest.approx(2 / 4)


def test_compat() -> None:
    assert_agree(COMPAT, *drawn(2))


def test_our_provider_computes_compat_for_ir_measures() -> None:
    from deadheat.plugins.compat.ir_measures_provider import ours  # needs ir_measures

    assert ours(of_ir_measures("Compat(p=0.5)")) == dh.parse_measure("Compat(p=0.5)")
    assert ours(of_ir_measures("Compat(normalize=False)")) == dh.parse_measure("Compat(normalize=False)")


@pytest.mark.slow
@needs_shared_data
@pytest.mark.parametrize("name", SOME_LLM_RUNS)
def test_compat_of_real_runs(name: str) -> None:
    run = {query: dict(list(reversed(docs.items()))[:200]) for query, docs in untied(run_dict(llm_run(name))).items()}
    assert_agree(COMPAT, qrels_dict(llm_qrels()), run)


def test_compat_of_ir_measures_takes_documents_that_were_not_retrieved_for_score_0() -> None:
    """So they come before those of a negative score, and the ideal is not the nearest one."""
    qrels = {"q": {"a": 1, "z": 1}}
    positive, negative = ({"q": {"a": shift + 2.0, "b": shift + 1.0}} for shift in (0, -5))
    measure = of_ir_measures("Compat")
    theirs = [ir_measures.calc_aggregate([measure], qrels, run)[measure] for run in (positive, negative)]
    ours = [dh.evaluate(qrels, run, ["Compat"]).means()["Compat"] for run in (positive, negative)]
    assert ours == pytest.approx([theirs[0]] * 2)
    assert theirs[1] < theirs[0]
