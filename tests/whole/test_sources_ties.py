"""The worked examples on ties: the tied-metrics notebook, G-RAG, and McSherry & Najork with the formulas mended."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

import deadheat as dh
from oracle.orders import tie_groups
from oracle.random_cases import BATCHES

# The notebook on MTRR and TMHits@K (source 1)

DOCS = ["doc1", "doc2", "doc3", "doc4", "doc5"]
SCENARIOS = {
    "No Ties": ([0.9, 0.8, 0.7, 0.6, 0.5], "doc2"),
    "Simple Tie": ([0.9, 0.8, 0.8, 0.6, 0.5], "doc2"),
    "Complex Tie": ([0.8, 0.8, 0.8, 0.6, 0.5], "doc2"),
    "Multiple Ties": ([0.9, 0.8, 0.8, 0.6, 0.6], "doc3"),
}
MTRR = {
    "No Ties": 1 / 2,
    "Simple Tie": (1 / 2 + 1 / 3) / 2,
    "Complex Tie": (1 + 1 / 2 + 1 / 3) / 3,
    "Multiple Ties": (1 / 2 + 1 / 3) / 2,
}
TM_HITS = {
    1: {"No Ties": 0, "Simple Tie": 0, "Complex Tie": 1 / 3, "Multiple Ties": 0},
    2: {"No Ties": 1, "Simple Tie": 1 / 2, "Complex Tie": 2 / 3, "Multiple Ties": 1 / 2},
    3: dict.fromkeys(SCENARIOS, 1),
    5: dict.fromkeys(SCENARIOS, 1),
}
IN_THE_ORDER_GIVEN = {"No Ties": 1 / 2, "Simple Tie": 1 / 2, "Complex Tie": 1 / 2, "Multiple Ties": 1 / 3}

NOTEBOOK_RUN = {name: dict(zip(DOCS, scores, strict=True)) for name, (scores, _) in SCENARIOS.items()}
NOTEBOOK_QRELS = {name: {doc: int(doc == relevant) for doc in DOCS} for name, (_, relevant) in SCENARIOS.items()}


def by_query(scores: dh.Scores) -> dict[str, float]:
    """Values by query id."""
    return dict(zip(scores.query_ids, scores.values.tolist(), strict=True))


@pytest.mark.parametrize("name", ["MTRR", "RR"])
def test_notebook_mtrr_is_the_mean_reciprocal_rank_over_orders(name: str) -> None:
    """The notebook's MTRR is what McSherry & Najork call RR."""
    evaluation = dh.evaluate(NOTEBOOK_QRELS, NOTEBOOK_RUN, [name])
    assert by_query(evaluation[name]) == pytest.approx(MTRR, abs=1e-15)


@pytest.mark.parametrize("cutoff", TM_HITS)
@pytest.mark.parametrize("name", ["TMHits", "Hit"])
def test_notebook_tmhits_is_the_chance_of_a_hit(name: str, cutoff: int) -> None:
    """The notebook's TMHits@k is the mean of Hit@k."""
    evaluation = dh.evaluate(NOTEBOOK_QRELS, NOTEBOOK_RUN, [f"{name}@{cutoff}"])
    assert by_query(evaluation[f"{name}@{cutoff}"]) == pytest.approx(TM_HITS[cutoff], abs=1e-15)


def test_notebook_traditional_mrr_follows_the_order_given() -> None:
    """Its traditional MRR is the policy input, which moves with the order of the file."""
    evaluation = dh.evaluate(NOTEBOOK_QRELS, NOTEBOOK_RUN, ["RR"], ties="input")
    assert by_query(evaluation["RR"]) == pytest.approx(IN_THE_ORDER_GIVEN)


COMPLEXITY = {
    "Small ties": ([2, 2], 2 * 2, True),
    "Medium ties": ([3, 3, 2], 6 * 6 * 2, True),
    "Large tie": ([5], 120, True),
    "Very large tie": ([8], 40_320, False),  # it would draw 4,032 of them
    "Multiple large ties": ([4, 4, 3], 24 * 24 * 6, True),
}


@pytest.mark.parametrize(("sizes", "n_orders", "feasible"), COMPLEXITY.values(), ids=COMPLEXITY.keys())
def test_notebook_complexity_counts_orders(sizes: list[int], n_orders: int, feasible: bool) -> None:  # noqa: FBT001 - a column of the notebook's table
    """Three untied documents follow the ties in each of the notebook's cases."""
    scores = [100.0 - tie for tie, size in enumerate(sizes) for _ in range(size)] + [3.0, 2.0, 1.0]
    complexity = dh.tie_complexity(scores)
    assert complexity.sizes == tuple(sizes)
    assert complexity.n_orders == n_orders
    assert complexity.feasible is feasible
    assert complexity.n_groups == len(complexity.groups) == len(sizes)
    assert complexity.max_size == max(sizes)
    assert complexity.samples_by_rule_of_thumb == (4_032 if sizes == [8] else 1_000)
    assert dh.tie_complexity(scores, max_orders=n_orders).feasible
    assert not dh.tie_complexity(scores, max_orders=n_orders - 1).feasible


def test_complexity_names_the_documents_of_each_tie() -> None:
    """Only ties of two and more are groups."""
    complexity = dh.tie_complexity(SCENARIOS["Multiple Ties"][0], doc_ids=DOCS)
    assert [(group.score, group.doc_ids, group.size) for group in complexity.groups] == [
        (0.8, ("doc2", "doc3"), 2),
        (0.6, ("doc4", "doc5"), 2),
    ]


def test_complexity_counts_orders_exactly_however_many() -> None:
    """1,000 tied documents have 1000! orders, an integer beyond any float."""
    complexity = dh.tie_complexity([0.5] * 1_000)
    assert complexity.n_orders == math.factorial(1_000)
    assert not complexity.feasible
    assert complexity.samples_by_rule_of_thumb == 10_000


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_notebook_orders_can_be_listed(scenario: str) -> None:
    """Every order with its reciprocal rank; their mean is the exact mean."""
    scores, relevant = SCENARIOS[scenario]
    listed = dh.tie_orders(scores, [int(doc == relevant) for doc in DOCS], measure="RR", doc_ids=DOCS)
    groups = [list(itertools.permutations(group)) for group in tie_groups(NOTEBOOK_RUN[scenario])]
    expected = [tuple(itertools.chain(*parts)) for parts in itertools.product(*groups)]
    assert sorted(map(tuple, listed.orders)) == sorted(expected)
    np.testing.assert_allclose(listed.values, [1 / (order.index(relevant) + 1) for order in listed.orders])
    assert listed.mean == pytest.approx(MTRR[scenario], abs=1e-15)
    table = dh.tie_orders(scores, [int(doc == relevant) for doc in DOCS], measures="RR Hit@3", doc_ids=DOCS).to_polars()
    ranks = [order.index(relevant) + 1 for order in listed.orders]
    assert table["first_relevant"].to_list() == ranks
    assert table.columns == ["order", "first_relevant", "RR", "Hit@3"]
    assert table["RR"].to_list() == pytest.approx([1 / rank for rank in ranks])
    assert table["Hit@3"].to_list() == [float(rank <= 3) for rank in ranks]


# G-RAG itself (tie_math, section 10)


def one_tie(n_relevant: int, n_docs: int, *, above: int = 0) -> tuple[dict[str, int], dict[str, float]]:
    """Build one tie of which the first documents are relevant, below untied documents that are not."""
    docs = [f"d{number}" for number in range(n_docs)]
    scores = {f"a{number}": 10.0 + number for number in range(above)} | dict.fromkeys(docs, 1.0)
    return {doc: int(number < n_relevant) for number, doc in enumerate(docs)}, scores


def value(judged: dict[str, int], scores: dict[str, float], measure: str) -> float:
    """Mean over orders for one query."""
    return float(dh.evaluate({"q": judged}, {"q": scores}, [measure])[measure].values[0])


MID_RANK = "MTRR(definition='mid_rank')"


def test_paper_mtrr_is_the_reciprocal_of_the_middle_rank() -> None:
    """It is lower than the mean of the reciprocals, and looks at every relevant document."""
    assert value(*one_tie(1, 2), MID_RANK) == pytest.approx(1 / ((1 + 2) / 2))
    assert value(*one_tie(1, 2), "MTRR") == pytest.approx((1 + 1 / 2) / 2)
    assert value(*one_tie(2, 3), MID_RANK) == pytest.approx(1 / ((1 + 3) / 2))
    assert value(*one_tie(2, 3), "RR") == pytest.approx((1 + 1 + 1 / 2) / 3)
    assert value(*one_tie(2, 3), "DCG(discount='linear')") / 2 == pytest.approx((1 + 1 / 2 + 1 / 3) / 3)


@pytest.mark.parametrize("policy", ["expected", "best", "worst", "doc_id", "input", "random"])
@pytest.mark.parametrize(("notation", "expected"), [(MID_RANK, 1 / 1.5), ("TMHits(definition='mid_rank')@1", 1 / 2)])
def test_paper_formulas_are_of_the_ties_under_every_policy(notation: str, expected: float, policy: str) -> None:
    """One relevant document of two: whatever the order, the ties are the same."""
    scores = dh.evaluate({"q": {"a": 1}}, {"q": {"a": 1.0, "b": 1.0}}, [notation], ties=policy, rng=1)[notation]
    assert scores.values[0] == scores.tie_mean[0] == scores.tie_min[0] == scores.tie_max[0] == pytest.approx(expected)
    assert dh.tie_orders([1, 1], [1, 0], notation).values == pytest.approx([expected, expected])


def test_paper_tmhits_is_recall_once_its_formula_is_mended() -> None:
    """Equation 12 as printed gives 4 with two documents above a tie of two, and 1 with exactly ten above."""
    hits = "TMHits(definition='mid_rank')@10"
    assert value(*one_tie(1, 2, above=2), hits) == 1
    assert value(*one_tie(1, 2, above=10), hits) == 0
    assert value(*one_tie(1, 4, above=9), hits) == pytest.approx((10 - 9) / 4)
    assert value(*one_tie(1, 16), hits) == pytest.approx(10 / 16)
    batch = BATCHES["graded"]
    for cutoff in (1, 2, 3, 5):
        evaluation = dh.evaluate(
            batch.qrels, batch.run, [f"TMHits(definition='mid_rank')@{cutoff}", f"R@{cutoff}"], missing="empty"
        )
        means = list(evaluation.means().values())
        assert means[0] == pytest.approx(means[1], abs=1e-14)


# McSherry & Najork (source 2)

TIES: list[list[tuple[int, ...]]] = [
    [(1, 0)],
    [(1, 0, 0, 0, 0, 0, 0, 0, 0, 0)],
    [(1, 1, 0)],
    [(0, 0), (1, 0, 0), (1, 1)],
    [(1,), (0, 1, 0, 1), (0,), (1, 1, 1, 0)],
    [(0, 0, 0), (0,), (1,), (1, 0, 0)],
    [(0, 0, 0)],
]
"""Rankings as relevance by tie, highest score first."""


def paper_inputs(ties: list[tuple[int, ...]]) -> tuple[dict[str, int], dict[str, float]]:
    """Name the documents, and add one relevant document that is not retrieved: the paper ignores it."""
    judged = {f"d{tie}-{place}": level for tie, levels in enumerate(ties) for place, level in enumerate(levels)}
    scores = {doc: -float(doc[1 : doc.index("-")]) for doc in judged}
    return judged | {"unretrieved": 1}, scores


def expected_relevant(ties: list[tuple[int, ...]], k: int) -> Fraction:
    """R_c + (k - t_c) r_c / n_c."""
    total, above = Fraction(0), 0
    for levels in ties:
        inside = max(0, min(len(levels), k - above))
        total += Fraction(inside * sum(levels), len(levels))
        above += len(levels)
    return total


def average_precision_sum(ties: list[tuple[int, ...]], k: int) -> Fraction:
    """Sum over ranks j of r/n (R + (j - t - 1) (r - 1)/(n - 1) + 1) / j; the fraction is 0 in a tie of one."""
    total, above, relevant_above = Fraction(0), 0, 0
    for levels in ties:
        n, r = len(levels), sum(levels)
        for j in range(above + 1, min(above + n, k) + 1):
            inside = (j - above - 1) * Fraction(r - 1, n - 1) if n > 1 else Fraction(0)
            total += Fraction(r, n) * (relevant_above + inside + 1) / j
        above, relevant_above = above + n, relevant_above + r
    return total


def none_among(x: int, r: int, n: int) -> Fraction:
    """f(x, r, n): share of the orders of which the first x documents are irrelevant; 1 for x = 0."""
    return Fraction(1) if x == 0 else (1 - Fraction(r, n - x + 1)) * none_among(x - 1, r, n)


def mended_reciprocal_rank(ties: list[tuple[int, ...]], k: int) -> Fraction:
    """Sum over ranks j of the first tie with a relevant document of [f(j - t - 1) - f(j - t)] / j."""
    above = 0
    for levels in ties:
        n, r = len(levels), sum(levels)
        if r:
            return sum(
                (
                    (none_among(x - 1, r, n) - none_among(x, r, n)) / (above + x)
                    for x in range(1, min(n, k - above) + 1)
                ),
                Fraction(0),
            )
        above += n
    return Fraction(0)


def gain_sum(ties: list[tuple[int, ...]], k: int) -> float:
    """Sum over ties of the mean gain times the discounts of its ranks up to k, with D(i) = 1 / ln(1 + i)."""
    total, above = 0.0, 0
    for levels in ties:
        discounts = math.fsum(1 / math.log(1 + i) for i in range(above + 1, min(above + len(levels), k) + 1))
        total += sum(2**level - 1 for level in levels) / len(levels) * discounts
        above += len(levels)
    return total


@pytest.mark.parametrize("ties", TIES, ids=str)
@pytest.mark.parametrize("k", [1, 2, 3, 4, 5])
def test_closed_forms_of_the_paper(ties: list[tuple[int, ...]], k: int) -> None:
    """Each of the six measures, divided by the relevant documents retrieved as the paper does."""
    judged, scores = paper_inputs(ties)
    n_retrieved_relevant = sum(map(sum, ties))
    divisor = n_retrieved_relevant or 1
    count = expected_relevant(ties, k)
    assert value(judged, scores, f"P@{k}") == pytest.approx(float(count / k))
    assert value(judged, scores, f"R(norm='retrieved_all')@{k}") == pytest.approx(float(count / divisor))
    assert value(judged, scores, f"F(norm='retrieved_all')@{k}") == pytest.approx(
        float(2 * count / (k + n_retrieved_relevant))
    )
    assert value(judged, scores, f"AP(norm='retrieved_all')@{k}") == pytest.approx(
        float(average_precision_sum(ties, k) / divisor)
    )
    assert value(judged, scores, f"RR@{k}") == pytest.approx(float(mended_reciprocal_rank(ties, k)))
    assert value(judged, scores, f"DCG(gain='exp', discount='log({math.e})')@{k}") == pytest.approx(gain_sum(ties, k))


@pytest.mark.parametrize(
    ("n", "r", "expected"),
    [(2, 1, (1 + 1 / 2) / 2), (3, 2, (1 + 1 + 1 / 2) / 3), (10, 1, math.fsum(1 / rank for rank in range(1, 11)) / 10)],
)
def test_reciprocal_rank_of_one_tie(n: int, r: int, expected: float) -> None:
    """The printed formula gives 1/2, 1/3 and 1.929 here."""
    assert value(*one_tie(r, n), "RR") == pytest.approx(expected, abs=1e-15)
    printed = sum(none_among(x, r, n) / x for x in range(1, n + 1))
    assert float(printed) != pytest.approx(expected, abs=0.1)


def test_ideal_of_the_paper_is_that_of_the_retrieved() -> None:
    """With every judged document retrieved its nDCG is ours; the base of the logarithm cancels."""
    ties = [(0, 3), (1, 2, 0), (3,)]
    judged, scores = paper_inputs(ties)
    del judged["unretrieved"]
    ideal = gain_sum([(level,) for level in sorted(itertools.chain(*ties), reverse=True)], 4)
    assert value(judged, scores, "nDCG(gain='exp')@4") == pytest.approx(gain_sum(ties, 4) / ideal)
