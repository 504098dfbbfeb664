"""Agreement with trec_eval, through pytrec_eval, in its measures of sets, multiples, interpolation and gains."""

import random
import warnings
from collections.abc import Mapping
from typing import TypeAlias

import numpy as np
import pytest

import deadheat as dh
from deadheat.core.report.as_data import trec_name
from support.other_tools import of_ir_measures
from support.shared_data import SOME_RUNS, needs_shared_data, qrels_dict, run_dict, sources_of

Judged: TypeAlias = Mapping[str, Mapping[str, int]]
Scored: TypeAlias = Mapping[str, Mapping[str, float]]

MULTIPLES = ("0.20", "0.40", "0.60", "0.80", "1.00", "1.20", "1.40", "1.60", "1.80", "2.00")
NAMES = [
    *("set_map", "set_relative_P", "utility", "num_nonrel_judged_ret"),
    *(f"relative_P_{k}" for k in (5, 10, 15, 20, 30, 100, 200, 500, 1000)),
    "11pt_avg",
    "gm_bpref",
    "gm_map",
    "G",
    "infAP",
    "ndcg_rel",
    "Rndcg",
    "binG",
    *(f"iprec_at_recall_{tenth / 10:.2f}" for tenth in range(11)),
    *(f"Rprec_mult_{multiple}" for multiple in MULTIPLES),
]
"""As pytrec_eval names its results for the default parameters."""

GRADED = {"ndcg_rel", "G"}
"""Measures without a lowest relevant level."""


def stems() -> set[str]:
    """Return what is asked of pytrec_eval."""
    pytrec_eval = pytest.importorskip("pytrec_eval")
    return {stem for stem in pytrec_eval.supported_measures if any(name.startswith(stem) for name in NAMES)}


def assert_agree(qrels: Judged, run: Scored, rel: int) -> None:
    """Compare every measure for every query that both have."""
    pytrec_eval = pytest.importorskip("pytrec_eval")
    theirs = pytrec_eval.RelevanceEvaluator(qrels, stems(), relevance_level=rel).evaluate(run)
    measures = {name: dh.parse_measure(name) for name in NAMES}
    measures |= {name: measure(rel=rel) for name, measure in measures.items() if name not in GRADED}
    evaluation = dh.evaluate(
        qrels, run, list(measures.values()), ties="doc_id", score_precision="float32", missing="skip"
    )
    assert list(evaluation.query_ids) == sorted(theirs)
    for name, measure in measures.items():
        expected = [theirs[query][name] for query in evaluation.query_ids]
        np.testing.assert_allclose(
            evaluation[measure].values, expected, rtol=0, atol=1e-9, equal_nan=False, err_msg=name
        )


@needs_shared_data
@pytest.mark.parametrize("rel", [1, 2])
@pytest.mark.parametrize("name", SOME_RUNS)
def test_real_runs(name: str, rel: int) -> None:
    """Ties broken by document id, scores as the float32 that trec_eval keeps."""
    qrels, run = sources_of(name)
    assert_agree(qrels_dict(qrels), run_dict(run), rel)


@pytest.mark.parametrize("n_scores", [3, 10_000])
@pytest.mark.parametrize("rel", [1, 2])
def test_random_runs(rel: int, n_scores: int) -> None:
    """With documents of the pool that were not judged, and queries without a relevant document."""
    rng = random.Random(7 * rel + n_scores)
    qrels: dict[str, dict[str, int]] = {}
    run: dict[str, dict[str, float]] = {}
    for number in range(300):
        docs = [f"d{doc}" for doc in range(rng.randint(2, 40))]
        levels = rng.choice([(0, 1), (-1, 0, 1, 2), (-2, 0, 0, 0, 1, 3), (0, 0, 0, 4)])
        qrels[f"q{number}"] = {"judged": 0} | {doc: rng.choice(levels) for doc in rng.sample(docs, len(docs) // 2 + 1)}
        retrieved = rng.sample(docs, rng.randint(1, len(docs)))
        run[f"q{number}"] = {doc: rng.randrange(n_scores) / 8 for doc in retrieved}
    assert_agree(qrels, run, rel)


@pytest.mark.parametrize("name", NAMES)
def test_names_are_read_and_printed(name: str) -> None:
    """What trec_eval prints leads to the measure, and back."""
    assert trec_name(dh.parse_measure(name)) == name


@pytest.mark.slow
@needs_shared_data
@pytest.mark.parametrize("name", ["en.bm25", "Olz-gpt4o"])
def test_ir_measures_agrees_in_its_own_notation(name: str) -> None:
    """It asks trec_eval for these; the names are the same."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ir_measures = pytest.importorskip("ir_measures")
    qrels, run = sources_of(name)
    notations = ["IPrec@0.1", "IPrec@0.8", "IPrec(rel=2)@0.5", "infAP", "SetAP", "SetRelP"]
    theirs = ir_measures.calc_aggregate(map(of_ir_measures, notations), qrels_dict(qrels), run_dict(run))
    means = dh.evaluate(qrels, run, notations, ties="doc_id", score_precision="float32").means()
    expected = [theirs[of_ir_measures(notation)] for notation in notations]
    assert list(means.values()) == pytest.approx(expected, abs=1e-9)
