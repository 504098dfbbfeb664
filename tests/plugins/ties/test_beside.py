"""A rule that breaks ties beside the exact values: both are what evaluate() gives, and the rule is trec_eval's."""

from __future__ import annotations

import math
from statistics import fmean, stdev

import numpy as np
import pytest
import pytrec_eval

import deadheat as dh
from deadheat import Qrels, Run
from deadheat.core.evaluation.rule_difference import difference_of, differences
from deadheat.core.settings import Conventions
from deadheat.errors import DataError, ParameterError
from deadheat.plugins.ties.beside import evaluate_beside
from oracle.random_cases import BATCHES, Batch
from support.error_parts import raises_parts
from support.random_runs import QRELS, RUNS

EXACT = Conventions()
MEASURES = [*map(dh.parse_measure, ("nDCG@5", "AP", "RR", "P@3", "ERR@3", "bpref", "MR", "FRP@2", "NumRelRet", "GMAP"))]


def both(
    qrels: object, run: object, rule: str = "doc_id", conventions: Conventions = EXACT
) -> tuple[dh.Evaluation, dh.Evaluation]:
    return evaluate_beside(conventions, Qrels.of(qrels), Run.of(run), MEASURES, rule)


@pytest.mark.slow
@pytest.mark.parametrize("batch", BATCHES.values(), ids=BATCHES.keys())
@pytest.mark.parametrize("rule", ["doc_id", "input"])
@pytest.mark.parametrize("missing", ["empty", "skip"])
@pytest.mark.parametrize("no_relevant", ["zero", "skip"])
def test_both_are_what_evaluate_gives(batch: Batch, rule: str, missing: str, no_relevant: str) -> None:
    exact, traditional = both(batch.qrels, batch.run, rule, Conventions("expected", missing, no_relevant))
    for ties, found in (("expected", exact), (rule, traditional)):
        wanted = dh.evaluate(batch.qrels, batch.run, MEASURES, ties=ties, missing=missing, no_relevant=no_relevant)
        assert found.conventions == wanted.conventions
        assert found.missing_queries == wanted.missing_queries
        for scores in wanted:
            for name in ("values", "tie_mean", "tie_std", "tie_min", "tie_max"):
                np.testing.assert_array_equal(getattr(found[scores.measure], name), getattr(scores, name), err_msg=name)


def test_document_ids_break_ties_as_in_trec_eval() -> None:
    names = {"ndcg_cut_5": "nDCG@5", "map": "AP", "recip_rank": "RR", "P_5": "P@5"}
    evaluator = pytrec_eval.RelevanceEvaluator(QRELS, set(pytrec_eval.supported_measures))
    for run in RUNS.values():
        scores = {query: {doc: float(score) for doc, score in documents.items()} for query, documents in run.items()}
        theirs = evaluator.evaluate(scores)
        measures = [*map(dh.parse_measure, names.values())]
        _, traditional = evaluate_beside(EXACT, Qrels(QRELS), Run(run), measures, "doc_id")
        for name, measure in names.items():
            ours = dict(zip(traditional.query_ids, traditional[measure].values, strict=True))
            assert ours == pytest.approx({query: found[name] for query, found in theirs.items()}, abs=1e-12)


def test_the_difference_is_what_plain_python_counts() -> None:
    qrels, run = BATCHES["graded"].qrels, BATCHES["graded"].run
    exact, traditional = both(qrels, run)
    for one, other in zip(exact, traditional, strict=True):
        pairs = [(a, b) for a, b in zip(one.values.tolist(), other.values.tolist(), strict=True) if not math.isnan(a)]
        apart = [abs(b - a) for a, b in pairs]
        found = difference_of(one, other, "doc_id")
        assert found.n_queries == len(pairs)
        assert found.mean == pytest.approx(fmean(apart), abs=1e-12)
        assert found.max == pytest.approx(max(apart), abs=1e-12)
        assert found.std == pytest.approx(stdev(a for a, _ in pairs))
        assert found.traditional_std == pytest.approx(stdev(b for _, b in pairs))
        level = sum if one.measure.total else fmean
        of_both = [level(column) for column in zip(*pairs, strict=True)]
        if one.measure.geometric:
            of_both = [math.exp(each) for each in of_both]
        assert [found.exact, found.traditional] == pytest.approx(of_both)
        assert found.difference == pytest.approx(of_both[1] - of_both[0], abs=1e-12)
        if found.query_id:
            place = one.query_ids.tolist().index(found.query_id)
            assert abs(other.values[place] - one.values[place]) == found.max
        else:
            assert max(apart) < 1e-12


def test_rounding_alone_is_no_difference() -> None:
    """Three relevant documents in a tie of three: the mean over its orders is summed in another way."""
    exact, traditional = both({"q": {"a": 1, "b": 1, "c": 1}}, {"q": {"a": 1, "b": 1, "c": 1, "d": 0}})
    for one, other in zip(exact, traditional, strict=True):
        assert differences(one, other).tolist() == [0.0]
        assert difference_of(one, other, "doc_id").query_id == ""


def test_without_queries_that_count() -> None:
    conventions = Conventions("expected", "empty", "skip")
    exact, traditional = both({"q": {"a": 0}}, {"q": {"a": 1, "b": 1}}, "doc_id", conventions)
    found = difference_of(exact["RR"], traditional["RR"], "doc_id")
    assert found.n_queries == 0
    assert math.isnan(found.mean)
    assert math.isnan(found.max)
    assert math.isnan(found.difference)


def test_what_is_refused() -> None:
    with raises_parts(ParameterError, argument="beside", given="best", allowed=("doc_id", "input")):
        dh.tie_profile({"q": {"a": 1}}, {"q": {"a": 1}}, beside="best")


def test_a_source_without_order_has_no_input_order() -> None:
    duckdb = pytest.importorskip("duckdb", reason="duckdb is not installed")
    rows = duckdb.sql("select 'q' as query_id, 'a' as doc_id, 1.0 as score")
    with pytest.raises(DataError):
        both({"q": {"a": 1}}, rows, "input")
    assert both({"q": {"a": 1}}, rows)[1]["RR"].mean == 1.0
