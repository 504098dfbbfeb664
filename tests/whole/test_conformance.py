"""Mean, variance, minimum and maximum of every registered measure equal the enumeration of all tie orders."""

import math

import numpy as np
import pytest

import deadheat as dh
from oracle.expected import expected_moments
from oracle.orders import count_orders, tie_groups
from oracle.random_cases import BATCHES, Batch, Case
from oracle.reference import REFERENCE
from oracle.variants import VARIANTS, Variant

TOLERANCE = 1e-12
COMMON = {"AP", "ERR", "Hit", "P", "R", "RR", "nDCG"}
"""Measures of which every test run tries all that varies: most people use no other."""
FEW_ORDERS = Batch({query: case for query, case in BATCHES["graded"].cases.items() if count_orders(case.scores) <= 120})
PROBABILITIES = Variant("ERR", {"stop": "identity"}, (None, 1, 3))
"""Grades that are stop probabilities themselves, so only for scales up to 1."""


def assert_conforms(variant: Variant, batch: Batch) -> None:
    """Compare each cutoff of a measure with the enumeration."""
    evaluation = dh.evaluate(
        batch.qrels, batch.run, [variant.notation(cutoff) for cutoff in variant.cutoffs], missing="empty"
    )
    for cutoff in variant.cutoffs:
        scores = evaluation[variant.notation(cutoff)]
        assert list(scores.query_ids) == list(batch.cases)
        lowest, highest = scores.measure.range  # which intervals take for limits
        assert np.nanmin(scores.tie_min, initial=highest) >= lowest - TOLERANCE, variant.notation(cutoff)
        assert np.nanmax(scores.tie_max, initial=lowest) <= highest + TOLERANCE, variant.notation(cutoff)
        expected = expected_moments(variant, cutoff, batch)
        for label, actual, wanted in (
            ("mean", scores.values, [moment.mean for moment in expected]),
            ("variance", scores.tie_std**2, [moment.variance for moment in expected]),
            ("min", scores.tie_min, [moment.minimum for moment in expected]),
            ("max", scores.tie_max, [moment.maximum for moment in expected]),
        ):
            wrong = ~np.isclose(actual, wanted, rtol=0, atol=TOLERANCE, equal_nan=True)
            first = list(batch.cases.values())[int(np.argmax(wrong))]
            assert not wrong.any(), (
                f"{label} of {variant.notation(cutoff)} is wrong for {wrong.sum()} of {len(wrong)} queries; "
                f"scale {batch.scale}, judged {first.judged}, scores {first.scores}: "
                f"got {actual[np.argmax(wrong)]}, enumerated {wanted[int(np.argmax(wrong))]}"
            )


@pytest.mark.parametrize("batch", BATCHES.values(), ids=BATCHES.keys())
@pytest.mark.parametrize("variant", VARIANTS, ids=lambda variant: variant.notation(None))
def test_moments_equal_enumeration(variant: Variant, batch: Batch) -> None:
    """Closed forms and enumeration agree."""
    assert_conforms(variant, batch)


@pytest.mark.every_case
@pytest.mark.parametrize(
    "variant",
    [variant for variant in VARIANTS if variant.name in COMMON and len(variant.parameters) <= 1],
    ids=lambda variant: variant.notation(None),
)
def test_moments_of_common_measures_equal_enumeration(variant: Variant) -> None:
    """Cases of more orders take most of the time; they are among those of the test above."""
    assert_conforms(variant, FEW_ORDERS)


@pytest.mark.parametrize("batch", [batch for batch in BATCHES.values() if batch.scale <= 1])
def test_grades_may_be_stop_probabilities(batch: Batch) -> None:
    """ERR(stop='identity') takes the grade itself as the probability to stop."""
    assert_conforms(PROBABILITIES, batch)


def test_every_registered_measure_has_a_reference() -> None:
    """No measure is registered without a definition to test it against, and without a variant that does."""
    assert set(dh.measures()) <= set(REFERENCE)
    assert set(dh.measures()) <= {variant.name for variant in VARIANTS}


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda variant: variant.notation(None))
def test_what_prints_can_be_parsed(variant: Variant) -> None:
    """Every variant survives its own notation."""
    for cutoff in variant.cutoffs:
        measure = dh.parse_measure(variant.notation(cutoff))
        assert dh.parse_measure(repr(measure)) == measure


def mid_rank_reciprocal(case: Case, rel: float) -> float:
    """G-RAG, equation 11: mean over all relevant documents of 1 / the middle rank of their tie."""
    total, above = 0.0, 0
    for group in tie_groups(case.scores):
        n_relevant = sum(case.judged.get(doc, -1) >= rel for doc in group)
        total += n_relevant * 2 / (2 * above + 1 + len(group))
        above += len(group)
    n_relevant = sum(relevance >= rel for relevance in case.judged.values())
    return total / n_relevant if n_relevant else 0.0


def mid_rank_hits(case: Case, rel: float, cutoff: int) -> float:
    """G-RAG, equation 12, as meant: mean over all relevant documents of their chance to be in the top k."""
    total, above = 0.0, 0
    for group in tie_groups(case.scores):
        n_relevant = sum(case.judged.get(doc, -1) >= rel for doc in group)
        total += n_relevant * min(1.0, max(0, cutoff - above) / len(group))
        above += len(group)
    n_relevant = sum(relevance >= rel for relevance in case.judged.values())
    return total / n_relevant if n_relevant else 0.0


@pytest.mark.parametrize("rel", [1, 2])
@pytest.mark.parametrize("batch", BATCHES.values(), ids=BATCHES.keys())
def test_mid_rank_definitions_are_functions_of_the_ties(batch: Batch, rel: int) -> None:
    """The paper's MTRR and TMHits do not vary with the order."""
    expected = {
        f"MTRR(rel={rel}, definition='mid_rank')": [mid_rank_reciprocal(case, rel) for case in batch.cases.values()]
    }
    for cutoff in (1, 2, 3, 5, 100):
        notation = f"TMHits(rel={rel}, definition='mid_rank')@{cutoff}"
        expected[notation] = [mid_rank_hits(case, rel, cutoff) for case in batch.cases.values()]
    evaluation = dh.evaluate(batch.qrels, batch.run, list(expected), missing="empty")
    for notation, values in expected.items():
        scores = evaluation[notation]
        np.testing.assert_allclose(scores.values, values, rtol=0, atol=TOLERANCE)
        np.testing.assert_array_equal(scores.tie_std, 0)
        np.testing.assert_array_equal(scores.tie_min, scores.values)
        np.testing.assert_array_equal(scores.tie_max, scores.values)


@pytest.mark.slow
@pytest.mark.parametrize("batch", BATCHES.values(), ids=BATCHES.keys())
def test_no_spread_where_no_order_matters(batch: Batch) -> None:
    """Rounding leaves no standard deviation where all orders give one value: it is 0, not nearly so."""
    notations = [variant.notation(cutoff) for variant in VARIANTS for cutoff in variant.cutoffs]
    evaluation = dh.evaluate(batch.qrels, batch.run, notations, missing="empty")
    for notation in notations:
        scores = evaluation[notation]
        same = scores.tie_max - scores.tie_min < TOLERANCE
        assert scores.tie_std[same].max(initial=0) < TOLERANCE, notation
        np.testing.assert_array_equal(scores.tie_std[scores.tie_max == scores.tie_min], 0, notation)


@pytest.mark.slow
@pytest.mark.parametrize("batch", BATCHES.values(), ids=BATCHES.keys())
def test_without_ties_nothing_is_looked_for(batch: Batch) -> None:
    """All orders are one: what the spread takes from the mean is what the measures find, where they look."""
    untied = {query: {doc: -place for place, doc in enumerate(run)} for query, run in batch.run.items()}
    notations = [variant.notation(cutoff) for variant in VARIANTS for cutoff in variant.cutoffs]
    evaluation = dh.evaluate(batch.qrels, untied, notations, missing="empty")
    assert not evaluation.placements.have_ties
    for scores in evaluation:
        low, high = scores.measure.extremes(evaluation.placements)
        variance = scores.measure.variance(evaluation.placements)
        np.testing.assert_allclose(scores.spread.extremes, (low, high), rtol=1e-12, atol=1e-12)
        assert np.nanmax(np.append(variance, 0)) < TOLERANCE
        np.testing.assert_array_equal(scores.tie_std, np.where(scores.kept, 0.0, np.nan), scores.measure.label)


def test_mean_over_queries_has_its_own_spread() -> None:
    """Ties of different queries are independent: variances of the mean add, extremes average."""
    batch = BATCHES["graded"]
    variant = Variant("nDCG", {}, (3,))
    expected = expected_moments(variant, 3, batch)
    scores = dh.evaluate(batch.qrels, batch.run, ["nDCG@3"], missing="empty")["nDCG@3"]
    n_queries = len(expected)
    assert scores.mean == pytest.approx(math.fsum(moment.mean for moment in expected) / n_queries, abs=TOLERANCE)
    assert scores.mean_tie_std == pytest.approx(
        math.sqrt(math.fsum(moment.variance for moment in expected)) / n_queries, abs=TOLERANCE
    )
    assert scores.mean_tie_min == pytest.approx(
        math.fsum(moment.minimum for moment in expected) / n_queries, abs=TOLERANCE
    )
    assert scores.mean_tie_max == pytest.approx(
        math.fsum(moment.maximum for moment in expected) / n_queries, abs=TOLERANCE
    )
