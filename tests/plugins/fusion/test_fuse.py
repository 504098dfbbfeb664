"""fuse() as a caller sees it: exact ties, what is refused, and what goes on from the result."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import deadheat as dh
from deadheat.errors import DataError, DuplicateError, ParameterError
from deadheat.plugins.fusion.base import METHODS
from deadheat.plugins.fusion.catalogue import make_method
from deadheat.plugins.fusion.norms import NORMS
from support.error_parts import raises_parts

BM25 = {"q": {"x": 1, "y": 1, "z": 0}}
DENSE = {"q": {"z": 2, "x": 1}}
LEARNED = [name for name in METHODS if not make_method(name, ["a", "b"], None, {}).is_fitted]


def fused(method: str, runs: Any, **options: Any) -> dict[str, dict[str, float]]:  # noqa: ANN401 - of fuse
    if method in LEARNED:
        options.setdefault("qrels", {"q": {"x": 1}, "r": {"x": 1}})
    return dh.fuse(runs, method, **options).to_dict()


def test_ranks_of_a_tie_are_averaged() -> None:
    found = dh.fuse({"bm25": BM25, "dense": DENSE}).to_dict()["q"]
    of_tie = (1 / 61 + 1 / 62) / 2
    assert found == pytest.approx({"x": of_tie + 1 / 62, "y": of_tie, "z": 1 / 63 + 1 / 61}, abs=1e-15)
    assert list(found) == ["x", "z", "y"]


@pytest.mark.parametrize(("ties", "ranks"), [("doc_id", {"x": 2, "y": 1, "z": 3}), ("input", {"x": 1, "y": 2, "z": 3})])
def test_ties_are_broken_where_that_is_asked_for(ties: str, ranks: dict[str, int]) -> None:
    found = dh.fuse([BM25, {"q": {"other": 1}}], ties=ties).to_dict()["q"]
    assert {doc: 1 / found[doc] - 60 for doc in ranks} == pytest.approx(ranks)


def test_ties_that_fusion_makes_stay_ties() -> None:
    """Of three runs, sums of the same numbers in another order differ in their last digit."""
    docs = ["a", "b", "c"]
    runs = [{"q": {doc: -((place + shift) % 3) for place, doc in enumerate(docs)}} for shift in range(3)]
    for method in ("rrf", "isr", "rbc", "bordafuse"):
        scores = fused(method, runs)["q"]
        assert len({*scores.values()}) == 1, method
    assert len({*fused("wsum", runs, norm="zmuv")["q"].values()}) == 1


def test_the_result_goes_on() -> None:
    run = dh.fuse({"bm25": BM25, "dense": DENSE}, name="hybrid")
    assert run.name == "hybrid"
    assert dh.evaluate({"q": {"z": 1}}, run, "RR").means() == {"RR": 0.5}
    qrels = {f"q{n}": {"x": 1} for n in range(5)}
    runs = {name: dict.fromkeys(qrels, own["q"]) for name, own in (("bm25", BM25), ("dense", DENSE))}
    comparison = dh.compare(qrels, {**runs, "hybrid": dh.fuse(runs)}, "RR", baseline="hybrid")
    assert [pair.system for pair in comparison.pairs] == ["bm25", "dense"]


def test_runs_are_read_in_every_form(tmp_path: Path) -> None:
    path = tmp_path / "dense.run"
    path.write_text("q Q0 z 1 2 t\nq Q0 x 2 1 t\n")
    frame = pl.DataFrame({"query_id": "q", "doc_id": ["x", "y", "z"], "score": [1, 1, 0]})
    assert dh.fuse([frame, path]).to_dict() == dh.fuse([BM25, DENSE]).to_dict()
    assert dh.fuse([frame, path]).name == "rrf(run, dense)"
    assert dh.fuse([BM25, DENSE]).name == "rrf(run 1, run 2)"


@pytest.mark.parametrize("method", METHODS)
def test_a_query_that_a_run_lacks_is_fused_from_the_others(method: str) -> None:
    """It ranks as with the others alone."""
    first = {"q": {"x": 3, "y": 2, "z": 1}, "r": {"x": 3, "y": 2}}
    second = {"q": {"z": 2, "x": 1}, "r": {"y": 2, "x": 1}}
    lacking = {"q": {"z": 2, "x": 1}}
    options: Any = {"qrels": {"q": {"x": 1}}} if method in LEARNED else {}
    run = dh.fuse({"a": first, "b": second, "c": lacking}, method, **options)
    alone = dh.fuse({"a": first, "b": second}, method, **options)
    assert list(run.to_dict()["r"]) == list(alone.to_dict()["r"])
    assert "1 query without c, fused from the others: r" in run.notes


def test_queries_without_results_stay_asked() -> None:
    run = dh.fuse([{"q": {"x": 1}, "r": {}}, {"q": {"y": 1}, "r": {}}])
    assert run.bare == ("r",)
    assert run.notes == ()
    filled = dh.fuse([{"q": {"x": 1}, "r": {}}, {"q": {"y": 1}, "r": {"z": 1}}])
    assert filled.bare == ()
    assert filled.notes == ()


def norms_of(method: str) -> list[str | None]:
    """Return the normalizations that a method takes."""
    cls = METHODS[method]
    if not cls.uses_scores:
        return [None]
    return [None, *(norm for norm in NORMS if norm != "borda" or not cls.uses_ranks)]


@pytest.mark.parametrize(("method", "norm"), [(method, norm) for method in METHODS for norm in norms_of(method)])
def test_no_score_is_nan(method: str, norm: str | None) -> None:
    """Of one document, of equal scores, of zeros, of a document that all runs but one lack."""
    runs = [
        {"q": {"x": 0.5, "y": 0.5}, "r": {"x": 0.0}},
        {"q": {"x": 0.0, "z": 0.0}, "r": {"x": 3.0, "y": 1e-12}},
        {"q": {"z": 1.0}},
    ]
    found = fused(method, runs, norm=norm)
    assert all(np.isfinite([*own.values()]).all() for own in found.values())
    assert {query: {*own} for query, own in found.items()} == {"q": {"x", "y", "z"}, "r": {"x", "y"}}


def test_a_window_has_the_first_ranks() -> None:
    first = {"q": {"a": 3, "b": 2, "c": 2, "d": 1}}
    found = fused("rrf", [first, {"q": {"e": 1}}], window=2)["q"]
    assert found == pytest.approx({"a": 1 / 61, "e": 1 / 61, "b": 0.5 / 62, "c": 0.5 / 62})  # one of the tie is in
    assert {*fused("sum", [first, {"q": {"e": 1}}], window=2)["q"]} == {"a", "b", "c", "e"}
    assert {*fused("sum", [first, {"q": {"e": 1}}], window=1)["q"]} == {"a", "e"}


def test_infinite_scores_have_ranks_alone() -> None:
    runs = [{"q": {"a": float("inf"), "b": 1}}, {"q": {"b": 1}}]
    assert fused("rrf", runs)["q"] == pytest.approx({"b": 1 / 62 + 1 / 61, "a": 1 / 61})
    assert {*fused("sum", runs, norm="rank")["q"]} == {"a", "b"}
    for options in ({}, {"norm": "min-max"}):
        with pytest.raises(DataError, match=r"run 1 has 1 .*\('a'\)"):
            fused("sum", runs, **options)


def test_scores_that_overflow_are_refused() -> None:
    with pytest.raises(DataError, match=r"'a' .*'q' the score inf"):
        fused("sum", [{"q": {"a": 1e308}}, {"q": {"a": 1e308}}])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "rff"}, "method must be one of .*rrf"),
        ({"method": "wsum", "k": 60}, "k is no parameter of wsum, got 60; .*k is of rrf"),
        ({"method": "sum", "weights": [1, 2]}, "weights are not for sum"),
        ({"method": "wsum", "weights": [1]}, "2 numbers, one for each of a, b"),
        ({"method": "wsum", "weights": {"a": 1}}, "a weight for each of a, b"),
        ({"method": "wsum", "weights": [1, -1]}, "weights"),
        ({"method": "wsum", "weights": [0, 0]}, "not all of them 0"),
        ({"norm": "min-max"}, "norm changes no rank, and rrf looks at ranks alone"),
        ({"method": "segfuse", "norm": "borda", "qrels": {"q": {"x": 1}}}, "ranks documents that a run lacks"),
        ({"method": "wsum", "norm": "minmax"}, "min-max"),
        ({"ties": "best"}, "one of .expected., .doc_id., .input."),
        ({"window": 0}, "window"),
        ({"method": "mapfuse"}, "qrels is needed: mapfuse learns from judgments"),
        ({"qrels": {"q": {"x": 1}}}, "qrels is for methods that learn, which rrf is not"),
        ({"k": -1}, "k"),
    ],
)
def test_what_does_not_go_together_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        dh.fuse({"a": BM25, "b": DENSE}, **options)


def test_it_takes_two_runs() -> None:
    with pytest.raises(ParameterError, match="two runs or more"):
        dh.fuse([BM25])
    with raises_parts(ParameterError, argument="runs", given="bm25.run"):
        dh.fuse("bm25.run")
    with pytest.raises(DuplicateError):
        dh.fuse([[("q", "x", 1), ("q", "x", 2)], BM25])


def test_judgments_have_a_query_of_the_runs() -> None:
    with pytest.raises(DataError, match=r"^qrels: no query "):
        dh.fuse([BM25, DENSE], "mapfuse", qrels={"other": {"x": 1}})


def test_what_learned_from_the_same_queries_says_so() -> None:
    run = dh.fuse([BM25, DENSE], "mapfuse", qrels={"q": {"x": 1}})
    assert run.notes == ("mapfuse learned from 1 query of these: values on them are not held out, as tuning has them",)
    assert run.notes[0] in dh.evaluate({"q": {"x": 1}}, run, "RR").notes


def test_weights_go_by_name_or_order() -> None:
    runs = {"bm25": BM25, "dense": DENSE}
    by_name = dh.fuse(runs, "wsum", weights={"dense": 0.7, "bm25": 0.3}).to_dict()
    assert by_name == dh.fuse(runs, "wsum", weights=(0.3, 0.7)).to_dict()
    assert by_name == dh.fuse(runs, "wsum", weights=np.array([0.3, 0.7])).to_dict()
    doubled = dh.fuse(runs, "rrf", weights=[2, 1]).to_dict()["q"]
    assert doubled["y"] == pytest.approx(2 * (1 / 61 + 1 / 62) / 2)


def test_documents_with_one_hash_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = dh.fuse([BM25, DENSE]).to_dict()
    monkeypatch.setattr(pl.Series, "hash", lambda self: pl.Series([7] * len(self), dtype=pl.UInt64))
    assert dh.fuse([BM25, DENSE]).to_dict() == expected


def test_rows_of_a_query_need_not_be_together() -> None:
    rows = [("q", "x", 1), ("r", "y", 5), ("q", "y", 1), ("q", "z", 0)]
    found = dh.fuse([rows, {"q": DENSE["q"], "r": {"y": 1}}]).to_dict()
    assert found["q"] == dh.fuse([BM25, DENSE]).to_dict()["q"]
    assert found["r"] == pytest.approx({"y": 2 / 61})
