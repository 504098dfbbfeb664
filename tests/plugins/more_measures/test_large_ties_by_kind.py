"""Large ties of judged documents, relevant and not: binG, infAP and nDCGRel equal other programmes over all orders."""

import math

import numpy as np
import pytest

import deadheat as dh
from oracle.graded import gain_at_documents
from oracle.prefix_counts import Array, LargeTie

SIZES = [(60, 20, 10), (200, 30, 25), (900, 5, 100), (50, 0, 9)]


def tied(size: int, n_nonrelevant: int, n_relevant: int) -> tuple[LargeTie, dict[str, int], dict[str, float]]:
    """Return the tie below a few other documents, the judgments and the scores; one relevant document is missed."""
    tie = LargeTie([0, None, 1][: 3 if n_nonrelevant else 0], size, (n_nonrelevant, n_relevant))
    scores = {f"a{place}": 9.0 - place for place in range(len(tie.above))} | {f"t{doc}": 1.0 for doc in range(size)}
    judged = {f"a{place}": kind for place, kind in enumerate(tie.above) if kind is not None}
    judged |= {f"t{doc}": int(doc >= n_nonrelevant) for doc in range(n_nonrelevant + n_relevant)} | {"unretrieved": 1}
    return tie, judged, scores


@pytest.mark.parametrize(("size", "n_nonrelevant", "n_relevant"), SIZES)
def test_of_counts_above(size: int, n_nonrelevant: int, n_relevant: int) -> None:
    tie, judged, scores = tied(size, n_nonrelevant, n_relevant)
    n_all = sum(judged.values())

    def gain(rank: int, kind: int, first: Array, second: Array) -> Array:
        # states that no order reaches have more relevant documents than ranks
        return kind / np.log2(np.maximum(1 + rank - second, 2)) / n_all + 0 * first

    def inferred(rank: int, kind: int, first: Array, second: Array) -> Array:
        above = first + second
        return kind * (1 + above * (second + 1e-5) / (above + 2e-5)) / rank / n_all

    found = dh.evaluate({"q": judged}, {"q": scores}, ["binG", "infAP"])
    for notation, increment in (("binG", gain), ("infAP", inferred)):
        mean, variance = tie.moments(increment)
        assert not found[notation].standard_error.any()
        assert found[notation].values[0] == pytest.approx(mean, rel=1e-11)
        assert found[notation].tie_std[0] ** 2 == pytest.approx(variance, rel=1e-8, abs=1e-14)


@pytest.mark.slow
def test_logarithms_of_a_large_tie() -> None:
    """One relevant document: its rank is uniform."""
    n = 3000
    run = {"q": {"a": 1.0, **{f"d{number}": 1.0 for number in range(n - 1)}}}
    rank = np.arange(1, n + 1)
    found = dh.evaluate({"q": {"a": 1}}, run, ["GMAP", "yaap", "IPrec@0.5"])
    expected = {
        "GMAP": np.log(1 / rank),
        "yaap": np.log((1 + 1 / rank) / (2 - 1 / rank)),
        "IPrec@0.5": 1 / rank,
    }
    for notation, values in expected.items():
        assert found[notation].values[0] == pytest.approx(values.mean(), rel=1e-11)
        assert found[notation].tie_std[0] == pytest.approx(values.std(), rel=1e-9)


@pytest.mark.slow
def test_ndcg_at_documents_of_two_ties() -> None:
    """Two relevant documents, each in a tie of its own: every pair of ranks is as likely."""
    judged, sizes = {"a": 2.0, "b": 1.0}, (30, 40)
    scores = {"a": 2.0, **{f"x{n}": 2.0 for n in range(sizes[0] - 1)}}
    scores |= {"b": 1.0, **{f"y{n}": 1.0 for n in range(sizes[1] - 1)}}
    values = []
    for first in range(sizes[0]):
        for second in range(sizes[1]):
            ranking: list[tuple[str, float | None]] = [("", None)] * sum(sizes)
            ranking[first], ranking[sizes[0] + second] = ("a", 2.0), ("b", 1.0)
            values.append(gain_at_documents(ranking, judged, 2.0))
    found = dh.evaluate({"q": judged}, {"q": scores}, ["nDCGRel"])["nDCGRel"]
    assert found.values[0] == pytest.approx(math.fsum(values) / len(values), rel=1e-12)
    assert found.tie_std[0] == pytest.approx(np.std(values), rel=1e-10)
