"""What holds for every input: order of rows, scale of scores, bounds, and rounding."""

import math
import random
from collections.abc import Callable, Mapping
from typing import TypeAlias

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings, strategies as st

import deadheat as dh

Nested: TypeAlias = Mapping[str, Mapping[str, float]]
Drawn: TypeAlias = dict[str, tuple[dict[str, int], dict[str, float]]]

MEASURES = [
    "P@2",
    "R",
    "F@3",
    "Hit@2",
    "RR",
    "RR(rel=2)@3",
    "AP",
    "AP(norm='retrieved')@3",
    "AR@3",
    "nDCG@3",
    "nDCG(gain='exp')",
    "RBP",
    "RBPResidual@3",
    "ERR",
    "nERR@3",
    "MR@3",
    "FRP@3",
    "GAP",
    "Q",
    "Rprec",
    "bpref",
    "Judged@3",
    "NumRelRet@2",
]
FIELDS = ("values", "tie_std", "tie_min", "tie_max")

doc_ids = st.sampled_from([f"d{number}" for number in range(15)])
scores = st.sampled_from([-1.5, -0.0, 0.0, 0.25, 1.0, 3.0])
judgments = st.dictionaries(doc_ids, st.integers(-1, 3), min_size=1)
retrieved = st.dictionaries(doc_ids, scores, min_size=1)
queries = st.dictionaries(st.sampled_from("abcd"), st.tuples(judgments, retrieved), min_size=1)

# random data may have no retrieved document that is judged
pytestmark = pytest.mark.filterwarnings("ignore::deadheat.core.errors.DeadheatWarning")


def inputs(drawn: Drawn) -> tuple[Nested, Nested]:
    """Split what was drawn into qrels and run."""
    return {query: judged for query, (judged, _) in drawn.items()}, {query: run for query, (_, run) in drawn.items()}


def arrays(evaluation: dh.Evaluation) -> dict[tuple[str, str], np.ndarray]:
    """All numbers of an evaluation."""
    return {(measure, field): getattr(evaluation[measure], field) for measure in MEASURES for field in FIELDS}


def assert_same(first: dh.Evaluation, second: dh.Evaluation) -> None:
    """Compare every number exactly."""
    ours, theirs = arrays(first), arrays(second)
    for key, numbers in ours.items():
        np.testing.assert_array_equal(numbers, theirs[key], err_msg=str(key))


@pytest.mark.slow
@settings(deadline=None, max_examples=60, derandomize=True)
@given(queries)
def test_values_lie_between_the_extremes(drawn: Drawn) -> None:
    """The mean over orders and the value of any one order lie between tie_min and tie_max."""
    qrels, run = inputs(drawn)
    for ties in ("expected", "best", "worst", "doc_id", "input", "random"):
        evaluation = dh.evaluate(qrels, run, MEASURES, ties=ties, rng=5 if ties == "random" else None)
        for measure in MEASURES:
            found = evaluation[measure]
            slack = 1e-12
            assert (found.tie_min - slack <= found.values).all(), (measure, ties)
            assert (found.values <= found.tie_max + slack).all(), (measure, ties)
            # Popoviciu: no distribution on an interval spreads more than half its length.
            assert (found.tie_std <= (found.tie_max - found.tie_min) / 2 + 1e-12).all(), measure


@pytest.mark.slow
@settings(deadline=None, max_examples=40, derandomize=True)
@given(queries, st.randoms(use_true_random=False))
def test_order_of_rows_changes_nothing(drawn: Drawn, rng: random.Random) -> None:
    """Shuffled dicts and frames give the same numbers, whatever the plan."""
    qrels, run = inputs(drawn)
    original = dh.evaluate(qrels, run, MEASURES)

    def shuffled(nested: Nested) -> Nested:
        keys = rng.sample(list(nested), k=len(nested))
        return {query: dict(rng.sample(list(nested[query].items()), k=len(nested[query]))) for query in keys}

    def frame(nested: Nested, value: str) -> pl.DataFrame:
        rows = [(query, doc, number) for query, docs in nested.items() for doc, number in docs.items()]
        rng.shuffle(rows)
        return pl.DataFrame(rows, schema=["query_id", "doc_id", value], orient="row", infer_schema_length=None)

    assert_same(original, dh.evaluate(shuffled(qrels), shuffled(run), MEASURES))
    assert_same(original, dh.evaluate(frame(qrels, "relevance"), frame(run, "score"), MEASURES))


@pytest.mark.slow
@settings(deadline=None, max_examples=40, derandomize=True)
@given(queries, st.sampled_from([lambda x: 3 * x + 7, math.atan, math.exp, lambda x: x**3 - 100, lambda x: 1e300 * x]))
def test_monotone_transform_of_scores_changes_nothing(drawn: Drawn, transform: Callable[[float], float]) -> None:
    """Only the order of the scores and their equality matter."""
    qrels, run = inputs(drawn)
    transformed = {query: {doc: transform(score) for doc, score in docs.items()} for query, docs in run.items()}
    assert_same(dh.evaluate(qrels, run, MEASURES), dh.evaluate(qrels, transformed, MEASURES))


@pytest.mark.slow
@settings(deadline=None, max_examples=30, derandomize=True)
@given(queries, st.integers(-30, 30))
def test_documents_below_all_judged_ones_matter_to_few(drawn: Drawn, exponent: int) -> None:
    """An unjudged document with the lowest score changes no measure of the judged ones at a cutoff within the rest."""
    qrels, run = inputs(drawn)
    longer = {query: {**docs, "extra": -(2.0**exponent) - 10} for query, docs in run.items()}
    unaffected = ["RR", "AP", "nDCG", "ERR", "bpref", "Q", "GAP", "RBP", "Rprec", "R", "P@2", "AR@3", "MR@3", "FRP@3"]
    first, second = dh.evaluate(qrels, run, unaffected), dh.evaluate(qrels, longer, unaffected)
    for measure in unaffected:
        np.testing.assert_allclose(first[measure].values, second[measure].values, rtol=0, atol=1e-15)


PRECISIONS: list[tuple[str | int, Callable[[float], float]]] = [
    ("float32", lambda score: float(np.float32(score))),
    ("float16", lambda score: float(np.float16(score))),
    (0, lambda score: float(round(score))),
    (2, lambda score: round(score, 2)),
    (3, lambda score: round(score, 3)),
]


@pytest.mark.parametrize(("precision", "rounded"), PRECISIONS, ids=[str(name) for name, _ in PRECISIONS])
@pytest.mark.parametrize("source", ["dict", "frame"])
@pytest.mark.parametrize("ties", ["expected", "doc_id", "input"])
def test_score_precision_rounds_first(
    precision: str | int, rounded: Callable[[float], float], source: str, ties: str
) -> None:
    """Evaluating at a precision is evaluating scores that were rounded to it before."""
    rng = random.Random(17)
    run = {f"q{query}": {f"d{doc}": 1 + rng.randint(0, 30_000) / 2**20 for doc in range(40)} for query in range(20)}
    qrels = {
        query: {doc: rng.choice([0, 0, 1, 2]) for doc in docs if rng.random() < 0.5} for query, docs in run.items()
    }
    by_hand = {query: {doc: rounded(score) for doc, score in docs.items()} for query, docs in run.items()}
    given_run: object = run
    if source == "frame":
        rows = [(query, doc, score) for query, docs in run.items() for doc, score in docs.items()]
        given_run = pl.DataFrame(rows, schema=["query_id", "doc_id", "score"], orient="row")
    evaluation = dh.evaluate(qrels, given_run, MEASURES, score_precision=precision, ties=ties)
    assert_same(evaluation, dh.evaluate(qrels, by_hand, MEASURES, ties=ties))
    full = dh.evaluate(qrels, run, MEASURES, ties=ties)
    assert (full["nDCG@3"].values != evaluation["nDCG@3"].values).any() or precision == "float32"


def test_float32_merges_what_float64_keeps_apart() -> None:
    """1 and 1 + 2^-30 are one score in float32."""
    qrels, run = {"q": {"a": 1}}, {"q": {"a": 1.0, "b": 1.0 + 2.0**-30}}
    assert dh.evaluate(qrels, run, ["RR"])["RR"].values[0] == 1 / 2
    assert dh.evaluate(qrels, run, ["RR"], score_precision="float32")["RR"].values[0] == (1 + 1 / 2) / 2


@pytest.mark.parametrize(
    ("step", "expected"), [(2.0**-7, 1 / 2), (2.0**-9, (1 + 1 / 2) / 2), (2.0**-8, (1 + 1 / 2) / 2)]
)
def test_bfloat16_keeps_eight_bits(step: float, expected: float) -> None:
    """Next to 1 it has steps of 2^-7; half a step rounds to even."""
    qrels, run = {"q": {"a": 1}}, {"q": {"a": 1.0, "b": 1.0 + step}}
    assert dh.evaluate(qrels, run, ["RR"], score_precision="bfloat16")["RR"].values[0] == expected
