"""Arrays of labels and scores, as scikit-learn and LightGBM hold them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import deadheat as dh
from support.error_parts import raises_parts

LABELS, SCORES = [1, 0, 0, 1, 2], [0.9, 0.9, 0.1, 0.3, 0.3]
WANTED = {"0": {"RR": 0.75}, "1": {"RR": 1.0}}


@pytest.mark.parametrize(
    ("args", "options"),
    [
        (([2, 3],), {}),
        ((), {"group_sizes": [2, 3]}),
        ((), {"group_sizes": np.array([2, 3], np.uint8)}),
        (([0, 0, 1, 1, 1],), {}),
        ((), {"groups": ["0", "0", "1", "1", "1"]}),
    ],
)
def test_groups_and_sizes(args: tuple[Any, ...], options: dict[str, Any]) -> None:
    qrels, run = dh.from_arrays(LABELS, SCORES, *args, **options)
    assert dh.evaluate(qrels, run, ["RR"]).to_dict() == WANTED


def test_rows_of_a_group_need_not_be_adjacent() -> None:
    order = [3, 0, 2, 4, 1]
    groups = np.array([7, 7, 9, 9, 9])[order]
    qrels, run = dh.from_arrays(np.array(LABELS)[order], np.array(SCORES)[order], groups=groups)
    assert dh.evaluate(qrels, run, ["RR"]).to_dict() == {"7": WANTED["0"], "9": WANTED["1"]}


def test_a_size_of_zero_is_no_query() -> None:
    qrels, run = dh.from_arrays(LABELS, SCORES, group_sizes=[2, 0, 3])
    assert list(dh.evaluate(qrels, run, ["RR"]).to_dict()) == ["0", "2"]


@pytest.mark.parametrize("seed", range(5))
def test_ndcg_of_scikit_learn(seed: int) -> None:
    """It averages over ties too, by the mean gain of each tie: the same mean, computed by others."""
    metrics = pytest.importorskip("sklearn.metrics", reason="scikit-learn is in the test extra")
    rng = np.random.default_rng(seed)
    labels, scores = rng.integers(0, 4, (20, 12)), rng.integers(0, 5, (20, 12)).astype(float)
    found = dh.evaluate(*dh.from_arrays(labels, scores), ["nDCG@5", "nDCG"]).means()
    assert found["nDCG@5"] == pytest.approx(metrics.ndcg_score(labels, scores, k=5), abs=1e-12)
    assert found["nDCG"] == pytest.approx(metrics.ndcg_score(labels, scores), abs=1e-12)


def test_two_dimensions_name_documents_by_column() -> None:
    qrels, run = dh.from_arrays([[1, 0], [0, 1]], [[0.2, 0.1], [0.4, 0.4]], doc_ids=["a", "b"])
    assert qrels.to_dict() == {"0": {"a": 1, "b": 0}, "1": {"a": 0, "b": 1}}
    assert run.to_dict() == {"0": {"a": 0.2, "b": 0.1}, "1": {"a": 0.4, "b": 0.4}}


@pytest.mark.parametrize(
    ("args", "options", "message"),
    [
        (([1, 0], [1]), {"group_sizes": [2]}, r"scores must .*, \(2,\), got shape \(1,\)"),
        (([1, 0], [1, 2]), {}, "need groups= .* or group_sizes="),
        (([1, 0], [1, 2], [1, 1]), {}, ": write groups= or group_sizes="),
        (([1, 0], [1, 2], [3]), {}, "groups_or_sizes must .* 2 rows"),
        (([1, 0], [1, 2]), {"group_sizes": [1, 2]}, "got 2 numbers that sum to 3, the lowest 1"),
        (([1, 0], [1, 2]), {"group_sizes": [3]}, "got 1 number that sums to 3, the lowest 3"),
        (([1, 0], [1, 2]), {"group_sizes": [3, -1]}, "group_sizes must .* from 0 on, .* lowest -1"),
        (([1, 0], [1, 2]), {"group_sizes": [0.5, 1.5]}, r"got shape \(2,\), dtype float64"),
        (([1, 0], [1, 2]), {"group_sizes": [1.0, 1.0]}, r"got shape \(2,\), dtype float64"),
        (([1, 0], [1, 2]), {"group_sizes": [[2]]}, r"got shape \(1, 1\)"),
        (([1, 0], [1, 2]), {"group_sizes": ["a"]}, "got text"),
        (([1, 0], [1, 2]), {"groups": [1.0, 2.0]}, "all whole numbers"),
        (([1, 0], [1, 2]), {"groups": np.array([7, "7"], object)}, "all whole numbers"),
        (([1, 0], [1, 2], [2]), {"groups": [1, 1]}, "^groups_or_sizes and groups .* one of them"),
        (([[1, 0]], [[1, 2]]), {"group_sizes": [2]}, "row of labels is a query"),
        (([], []), {"group_sizes": []}, "empty"),
        (([[1], [1, 0]], [[1], [1, 2]]), {}, "labels must .* one length"),
        ((["a"], [1]), {"group_sizes": [1]}, "labels must be an array of numbers, got 'a'$"),
        (([1], ["0.5"]), {"group_sizes": [1]}, "scores must be .* numbers, got '0.5'; .*asarray.scores, float"),
        (([1, None], [1, 2]), {"group_sizes": [2]}, "labels must be .* numbers, got None; leave out the rows"),
        ((np.array([1, 0], object), [1, 2]), {"group_sizes": [2]}, "got an array of object; .*asarray.labels, float"),
        (({"q": {"a": 1}}, [1]), {"group_sizes": [1]}, "labels must be .* numbers, got {'q'.*; evaluate.* a dict"),
        (([1 + 2j], [1]), {"group_sizes": [1]}, "labels must be .* numbers, got .1.2j"),
        (([1, 0], [1, float("nan")]), {"group_sizes": [2]}, "NaN"),
        (([1, 0], [1, 2]), {"group_sizes": [2], "doc_ids": ["a"]}, r"doc_ids must be shape \(2,\)"),
    ],
)
def test_bad_input(args: tuple[Any, ...], options: dict[str, Any], message: str) -> None:
    with pytest.raises(dh.DeadheatError, match=message):
        dh.from_arrays(*args, **options)


def test_a_document_twice_is_an_error() -> None:
    qrels, run = dh.from_arrays([1, 0], [1, 2], group_sizes=[2], doc_ids=["a", "a"])
    with pytest.raises(dh.DeadheatError, match="'a' is judged 2 times"):
        dh.evaluate(qrels, run, ["RR"])


@pytest.mark.parametrize("argument", ["labels", "scores", "groups", "doc_ids"])
def test_a_mask_is_refused(argument: str) -> None:
    """It was ignored."""
    given: dict[str, Any] = {"labels": [1, 0, 1], "scores": [1.0, 2.0, 3.0], "groups": [1, 1, 2], "doc_ids": [1, 2, 3]}
    given[argument] = np.ma.array(given[argument], mask=[False, True, False])
    with raises_parts(
        dh.errors.ParameterError, argument=argument, found="a masked array", allowed="an array without a mask"
    ):
        dh.from_arrays(given.pop("labels"), given.pop("scores"), **given)
    assert dh.from_arrays(np.ma.array([1, 0]), [1, 2], group_sizes=[2])[0].to_dict() == {"0": {"0": 1, "1": 0}}


@pytest.mark.parametrize("argument", ["groups", "doc_ids"])
def test_text_and_numbers_are_not_merged(argument: str) -> None:
    """NumPy makes "1" of 1."""
    given: dict[str, Any] = {"groups": [1, 1, 2, 2], argument: [1, "1", 2, 2]}
    with raises_parts(
        dh.errors.ParameterError, "all text or all whole numbers", argument=argument, found="an array of object"
    ):
        dh.from_arrays([1, 0, 1, 0], [1, 2, 3, 4], **given)


LONGER = pytest.mark.skipif(np.finfo(np.longdouble).nmant < 60, reason="longdouble is float64 here")


@pytest.mark.parametrize("dtype", [np.int64, np.uint64, pytest.param(np.longdouble, marks=LONGER)])
def test_numbers_that_float64_would_merge_are_refused(dtype: Any) -> None:  # noqa: ANN401 - a type of NumPy
    """They tied."""
    large = np.array([2**53, 2**53 + 1], dtype)
    message = r"hold 9007199254740993(\.0)?, an integer or decimal beyond 2\*\*53"
    with pytest.raises(dh.errors.DataError, match=f"scores {message}"):
        dh.from_arrays([1, 0], large, group_sizes=[2])
    with pytest.raises(dh.errors.DataError, match=f"labels {message}"):
        dh.from_arrays(large, [1, 0], group_sizes=[2])
    run: Any = {"q": dict(zip("ab", large, strict=True))}
    for given in (run, {"q": list(run["q"].items())}, {"q": {doc: (score, 1) for doc, score in run["q"].items()}}):
        with pytest.raises(dh.errors.DataError, match=r"740993.*beyond 2\*\*53"):
            dh.evaluate({"q": "a"}, given, "RR")


@LONGER
def test_long_doubles_that_float64_holds_are_read() -> None:
    large = np.array([2.0**60, 2.0**61], np.longdouble)
    assert dh.evaluate(*dh.from_arrays([1, 0], large, group_sizes=[2]), "RR").means() == {"RR": 0.5}
