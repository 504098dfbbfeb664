"""Matrices of scores: the same as dicts of the same scores, which other tests compare with all orders."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from itertools import permutations
from typing import Any, Literal

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

import deadheat as dh
from deadheat.plugins.dense import comparing
from support.error_parts import raises_parts

MEASURES = ["nDCG@5", "AP", "RR", "P@3", "R@3", "bpref", "Judged@4", "ERR@5"]


def random_case(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    shape = (int(rng.integers(1, 8)), int(rng.integers(2, 30)))
    scores = rng.integers(0, 6, shape) / rng.choice([1, 3])
    relevance = rng.integers(0, 4, shape) * (rng.random(shape) < 0.4)
    relevance[0, 0] = 1
    excluded = (rng.random(shape) < 0.2) & (relevance == 0)
    return scores, relevance, excluded


def as_dicts(scores: np.ndarray, relevance: np.ndarray, excluded: np.ndarray) -> tuple[dict[str, Any], dict[str, Any]]:
    qrels = {f"{q}": {f"{d}": int(row[d]) for d in np.flatnonzero(row)} for q, row in enumerate(relevance)}
    run = {
        f"{q}": {f"{d}": float(score) for d, score in enumerate(row) if not excluded[q, d]}
        for q, row in enumerate(scores)
    }
    return qrels, run


@pytest.mark.parametrize("ties", ["expected", "best", "worst"])
@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("many", [0, 16])
def test_dense_is_what_dicts_give(monkeypatch: pytest.MonkeyPatch, seed: int, ties: str, many: int) -> None:
    monkeypatch.setattr(comparing, "MANY", many)
    scores, relevance, excluded = random_case(seed)
    found = dh.evaluate_dense(scores, relevance, MEASURES, exclude=excluded, ties=ties)
    qrels, run = as_dicts(scores, relevance, excluded)
    wanted = dh.evaluate({q: own for q, own in qrels.items() if own}, run, MEASURES, ties=ties, missing="empty")
    for scores_of in wanted:
        mine = found[str(scores_of.measure)]
        place = [mine.query_ids.tolist().index(query) for query in scores_of.query_ids]
        for name in ("values", "tie_std", "tie_min", "tie_max"):
            np.testing.assert_allclose(getattr(mine, name)[place], getattr(scores_of, name), rtol=0, atol=1e-13)
        without = np.setdiff1d(np.arange(len(mine.values)), place)
        assert not mine.values[without].any()


def test_dense_by_enumeration() -> None:
    """RR of one query, from its definition on every order of the ties."""
    scores, relevant = [0.5, 0.9, 0.5, 0.5, 0.1], {2, 4}
    found = []
    for order in permutations(range(5)):
        ranking = sorted(order, key=lambda d: -scores[d])  # stable: ties stay in this order
        found.append(1 / next(n for n, d in enumerate(ranking, 1) if d in relevant))
    mine = dh.evaluate_dense([scores], [sorted(relevant)], ["RR"])["RR"]
    assert mine.values[0] == pytest.approx(np.mean(found), abs=1e-15)
    assert (mine.tie_min[0], mine.tie_max[0]) == (min(found), max(found))


@pytest.mark.parametrize("seed", range(20))
def test_masked_and_excluded_by_enumeration(seed: int) -> None:
    """nDCG@3 and RR, graded, from their definitions on every order of the ties of what is retrieved."""
    rng = np.random.default_rng(seed)
    scores, relevance = rng.integers(0, 3, 7), rng.integers(0, 3, 7) * (rng.random(7) < 0.6)
    relevance[0] = 2
    excluded, mask = (rng.random(7) < 0.3) & (relevance == 0), rng.random(7) < 0.8
    retrieved = np.flatnonzero(mask & ~excluded)
    ideal = sum(gain / np.log2(n + 1) for n, gain in enumerate(sorted(relevance, reverse=True)[:3], 1))
    found = []
    for order in permutations(retrieved):
        ranking = sorted(order, key=lambda d: -scores[d])  # stable: ties stay in this order
        gain = sum(relevance[d] / np.log2(n + 1) for n, d in enumerate(ranking[:3], 1))
        found.append((gain / ideal, next((1 / n for n, d in enumerate(ranking, 1) if relevance[d] > 0), 0.0)))
    mine = dh.evaluate_dense([scores], relevance[None], ["nDCG@3", "RR"], exclude=excluded[None], mask=mask[None])
    for scores_of, values in zip(mine, np.array(found).T, strict=True):
        assert scores_of.values[0] == pytest.approx(values.mean(), abs=1e-13)
        assert scores_of.tie_std[0] == pytest.approx(values.std(), abs=1e-12)
        assert scores_of.tie_min[0] == pytest.approx(values.min(), abs=1e-13)
        assert scores_of.tie_max[0] == pytest.approx(values.max(), abs=1e-13)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["float32", "float64", ">f4", "int64", "longdouble"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_long_rows_by_a_sorted_list(dtype: str, order: Literal["C", "F"]) -> None:
    """Rows of a million numbers and more are compared in other ways than short ones, and in two pieces."""
    n_documents = comparing.IN_ROW + comparing.WIDE + 5
    rng = np.random.default_rng(6)
    values = rng.integers(-9_000, 9_000, (2, n_documents)) / 4
    values[:, ::9] = [[-0.0], [2.0]]
    if dtype != "int64":
        values[0, :4] = (np.inf, -np.inf, np.inf, 0.0)
    scores = values.astype(dtype, order=order)
    mask = rng.random(scores.shape) < 0.7
    judged = [[0, 1, 3, 9, n_documents - 1], [4, 18]]
    mask[0, 3], mask[1, 18] = True, False
    found = dh.evaluate_dense(scores, judged, ["RR"], mask=mask).placements
    for query, documents in enumerate(judged):
        ordered = sorted(scores[query, mask[query]].tolist())
        own = [scores[query, document].item() for document in documents if mask[query, document]]
        ends = [(bisect_left(ordered, one), bisect_right(ordered, one)) for one in own]
        wanted = sorted((len(ordered) - last, last - first) for first, last in ends)
        rows = found.query == query
        assert sorted(zip(found.above[rows].tolist(), found.tied[rows].tolist(), strict=True)) == wanted


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int8, np.uint8, np.int64, bool])
def test_scores_of_any_number_type(dtype: type) -> None:
    scores: np.ndarray = np.array([[1, 0, 1, 1], [0, 0, 1, 0]], dtype)
    found = dh.evaluate_dense(scores, [[0], [0]], ["RR"])
    assert found.to_dict() == {
        "0": {"RR": pytest.approx(11 / 18)},
        "1": {"RR": pytest.approx((1 / 2 + 1 / 3 + 1 / 4) / 3)},
    }


def test_lists_sparse_and_arrays_say_the_same() -> None:
    scores, relevance, _ = random_case(3)
    relevance = (relevance > 0).astype(int)
    lists = [np.flatnonzero(row).tolist() for row in relevance]
    shapes = [
        relevance,
        relevance.astype(bool),
        relevance.astype(float),
        lists,
        [set(own) for own in lists],
        [np.array(own, int) for own in lists],
        sparse.csr_matrix(relevance),
        sparse.coo_array(relevance),
    ]
    found = [dh.evaluate_dense(scores, shape, MEASURES) for shape in shapes]
    assert all(one.to_dict() == found[0].to_dict() for one in found)
    assert {one.qrels_hash for one in found} == {found[0].qrels_hash}


def test_the_hash_is_that_of_the_same_qrels_as_dicts() -> None:
    found = dh.evaluate_dense([[0.5, 0.1, 0.2]], [[2, 0]], ["RR"], query_ids=["q"], doc_ids=["a", "b", "c"])
    same = dh.evaluate({"q": {"a": 1, "c": 1}}, {"q": {"a": 0.5, "b": 0.1, "c": 0.2}}, ["RR"])
    assert found.qrels_hash == same.qrels_hash
    assert found.to_dict() == same.to_dict()


def test_every_row_is_a_query() -> None:
    scores = [[0.2, 0.1], [0.1, 0.2]]
    assert dh.evaluate_dense(scores, [[0], []], ["RR"]).means() == {"RR": 0.5}
    assert dh.evaluate_dense(scores, [[0], []], ["RR"], no_relevant="skip").means() == {"RR": 1.0}


def test_all_excluded_is_an_empty_ranking() -> None:
    found = dh.evaluate_dense([[0.2, 0.1], [0.1, 0.2]], [[0], []], ["NumRet"], exclude=[[], [0, 1]])
    assert found["NumRet"].values.tolist() == [2, 0]


def test_saved_and_compared(tmp_path: object) -> None:
    rng = np.random.default_rng(0)
    relevant = [[int(rng.integers(20))] for _ in range(30)]
    one, other = (dh.evaluate_dense(rng.integers(0, 5, (30, 20)), relevant, ["RR"], name=name) for name in "ab")
    one.save(f"{tmp_path}/a.json")
    assert dh.load_evaluation(f"{tmp_path}/a.json").to_dict() == one.to_dict()
    assert dh.compare_evaluations([one, other]).to_polars().height == 1


def test_saved_with_a_query_without_judgments(tmp_path: object) -> None:
    ev = dh.evaluate_dense([[0.2, 0.1], [0.1, 0.2]], [[0], []], ["RR"])
    ev.save(f"{tmp_path}/a.json")
    found = dh.load_evaluation(f"{tmp_path}/a.json")
    assert found.to_dict() == ev.to_dict() == {"0": {"RR": 1.0}, "1": {"RR": 0.0}}


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (([[[0.5]]], [[0]]), {}, r"scores must be numbers of shape \(n_queries, n_documents\), got shape \(1, 1, 1\)"),
        (([["a"]], [[0]]), {}, "scores must be numbers"),
        (([[0.5]], {"0": ["0"]}), {}, r"relevant must be .* got dict; give the columns .* as \[\[0, 4\], \[2\]\]"),
        (([[0.5]], [[0], [0]]), {}, "relevant must be a list of 1 lists of column numbers.*got 2 lists"),
        (([[0.5]], [[1]]), {}, "names document 1 of query 0, expected a column from 0 to 0"),
        (([[0.5]], [[-1]]), {}, "names document -1 of query 0"),
        (([[0.5]], [[0, 0]]), {}, "names document 0 of query 0 twice"),
        (([[0.5]], [["0"]]), {}, "for query 0"),
        (([[0.5]], [0]), {}, "for query 0"),
        (([[0.5]], "0"), {}, "relevant must be"),
        (([[0.5]], {0: [0]}), {}, "got dict"),
        (([[0.5]], np.zeros((2, 1))), {}, r"an array of shape \(2, 1\)"),
        (([[0.5]], sparse.csr_matrix((2, 2))), {}, r"a sparse matrix of shape \(2, 2\)$"),
        (([[0.5, 1]], sparse.csr_matrix((2, 1))), {}, r"\(2, 1\); .* transpose one of both"),
        (([[0.5]], [[]]), {}, "names no relevant document"),
        (([[0.5, 0.1]], [[0]]), {"exclude": [[0]]}, "exclude names document 0 of query 0, which is judged"),
        (([[0.5, 0.1]], [[0]]), {"query_ids": ["a", "b"]}, "query_ids must be 1 ids"),
        (([[0.5, 0.1]], [[0]]), {"doc_ids": ["a", "a"]}, "doc_ids has an id twice: 'a'"),
        ((np.ma.masked_greater(np.array([[0.5, 0.9]]), 0.7), [[0]]), {}, "without a mask, got a masked array"),
        (([[0.5, 0.1]], [[0]]), {"doc_ids": [0.5, 1.5]}, "all text or all whole numbers"),
        (([[0.5, 0.1]], [[0]]), {"ties": "doc_id"}, "ties must be one of 'expected', 'best', 'worst', 'random'"),
    ],
)
def test_bad_input(arguments: tuple[Any, Any], options: dict[str, Any], message: str) -> None:
    with pytest.raises(dh.DeadheatError, match=message):
        dh.evaluate_dense(arguments[0], arguments[1], ["RR"], **options)


def test_nan_names_its_place() -> None:
    with pytest.raises(dh.DeadheatError, match=r"document 1 .*query 0 is NaN"):
        dh.evaluate_dense([[0.5, float("nan")]], [[0]], ["RR"])
    with pytest.raises(dh.DeadheatError, match=r"document d2 .*query u1 is NaN"):
        dh.evaluate_dense([[0.5, float("nan")]], [[0]], ["RR"], query_ids=["u1"], doc_ids=["d1", "d2"])


@pytest.mark.parametrize("argument", ["scores", "relevant", "exclude", "mask"])
def test_a_frame_is_refused_for_its_labels(argument: str) -> None:
    """Rows are taken by position: those of a frame in another order would be scored with others' judgments."""
    given: dict[str, Any] = {"scores": np.array([[0.5, 0.1]]), "relevant": [[0]]}
    given[argument] = pd.DataFrame([[False, True]], index=["u1"], columns=["a", "b"])
    with pytest.raises(dh.DeadheatError, match=r"got a DataFrame; give its \.to_numpy\(\).* query_ids= takes \.index"):
        dh.evaluate_dense(measures=["RR"], **given)
    given[argument] = given[argument].to_numpy()
    found = dh.evaluate_dense(measures=["RR"], query_ids=pd.Index(["u1"]), doc_ids=pd.Index(["a", "b"]), **given)
    assert found.query_ids.tolist() == ["u1"]


@pytest.mark.parametrize("scores", [pd.Series([0.1, 0.5], index=["b", "a"]), pl.DataFrame({"a": [0.1], "b": [0.5]})])
def test_other_objects_with_labels_are_refused(scores: Any) -> None:  # noqa: ANN401 - of two libraries
    with pytest.raises(dh.DeadheatError, match=r"got a (Series|DataFrame); give its"):
        dh.evaluate_dense(scores, [[0]], ["RR"])


def test_a_series_is_a_row_of_relevant_documents() -> None:
    assert dh.evaluate_dense([[0.1, 0.5]], [pd.Series([0])], ["RR"]).means() == {"RR": 0.5}
    with pytest.raises(dh.DeadheatError, match=r"query 0 .*document 1 is inf"):
        dh.evaluate_dense([[0.5, 0.5]], np.array([[0, float("inf")]]), ["RR"])


@pytest.mark.parametrize("shape", [(0, 3), (3, 0)])
def test_a_matrix_without_rows_or_columns(shape: tuple[int, int]) -> None:
    with pytest.raises(dh.DeadheatError, match=r"\(n_queries, n_documents\), at least one of each, got shape"):
        dh.evaluate_dense(np.zeros(shape), np.zeros(shape))


@pytest.mark.skipif(np.finfo(np.longdouble).nmant < 60, reason="longdouble is float64 here")
def test_long_doubles_that_float64_would_merge() -> None:
    """As scores they are compared as they are; as relevance they tied, where integers are an error."""
    large = np.array([[2**53, 2**53 + 1]], np.longdouble)
    assert dh.evaluate_dense(large, [[0]], ["RR"]).means() == {"RR": 1 / 2}
    with pytest.raises(dh.DeadheatError, match="document 1 is 9007199254740993"):
        dh.evaluate_dense([[0.5, 0.1]], large, ["RR"])


@pytest.mark.parametrize("argument", ["query_ids", "doc_ids"])
def test_ids_are_no_mix(argument: str) -> None:
    mixed: dict[str, Any] = {argument: [1, "2"]}
    masked: dict[str, Any] = {argument: np.ma.array([1, 2], mask=[True, False])}
    with pytest.raises(dh.DeadheatError, match=f"{argument} must be 2 ids, all text or all whole numbers"):
        dh.evaluate_dense([[0.5, 0.1], [0.5, 0.1]], [[0], [1]], ["RR"], **mixed)
    with raises_parts(dh.DeadheatError, found="a masked array", allowed="an array without a mask"):
        dh.evaluate_dense([[0.5, 0.1], [0.5, 0.1]], [[0], [1]], ["RR"], **masked)
