"""Ties ordered by a second score: what both keys leave is averaged, whatever the measure, the policy and the engine."""

import json
import math
import random
import re
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import deadheat as dh
from oracle.expected import expected_moments
from oracle.orders import pick_order, rank
from oracle.random_cases import Batch, Case, draw_batch
from oracle.variants import VARIANTS, Variant

FIRST = draw_batch(31, 60, (-1, 0, 1, 2), max_docs=7)
LACKING = -math.inf


def second_scores(batch: Batch, seed: int) -> dict[str, dict[str, float]]:
    """Draw another run with few levels, which lacks some documents and has some of its own."""
    rng = random.Random(seed)
    found = {
        query: {doc: float(rng.randrange(3)) for doc in case.scores if rng.random() < 0.8} | {"only here": 9.0}
        for query, case in batch.cases.items()
    }
    return {query: documents for query, documents in found.items() if rng.random() < 0.9}


def by_both(case: Case, *others: dict[str, float]) -> Case:
    """Return the case with the place of each document among the pairs of scores, by Python's order of tuples."""
    keys = {doc: (score, *(other.get(doc, LACKING) for other in others)) for doc, score in case.scores.items()}
    places = {key: float(n) for n, key in enumerate(sorted(set(keys.values())))}
    return Case(case.judged, {doc: places[key] for doc, key in keys.items()})


SECOND, THIRD = second_scores(FIRST, 32), second_scores(FIRST, 33)
BOTH = Batch({query: by_both(case, SECOND.get(query, {})) for query, case in FIRST.cases.items()})
ALL = Batch({query: by_both(case, SECOND.get(query, {}), THIRD.get(query, {})) for query, case in FIRST.cases.items()})


@pytest.mark.plugins("diversity", "more_measures")
@pytest.mark.parametrize("variant", VARIANTS, ids=lambda variant: variant.notation(None))
def test_what_both_keys_leave_is_averaged(variant: Variant) -> None:
    """Mean, variance and extremes are those over the orders that both keys allow."""
    notations = {cutoff: variant.notation(cutoff) for cutoff in variant.cutoffs}
    evaluation = dh.evaluate(FIRST.qrels, FIRST.run, list(notations.values()), missing="empty", then_by=SECOND)
    for cutoff, notation in notations.items():
        found = expected_moments(variant, cutoff, BOTH)
        scores = evaluation[notation]
        np.testing.assert_allclose(scores.values, [one.mean for one in found], rtol=0, atol=1e-12)
        np.testing.assert_allclose(scores.tie_std**2, [one.variance for one in found], rtol=0, atol=1e-12)
        np.testing.assert_allclose(scores.tie_min, [one.minimum for one in found], rtol=0, atol=1e-12)
        np.testing.assert_allclose(scores.tie_max, [one.maximum for one in found], rtol=0, atol=1e-12)


@pytest.mark.parametrize("ties", ["best", "worst", "doc_id", "input"])
def test_policies_see_what_both_keys_leave(ties: str) -> None:
    names = {name: Variant(name, {}, (3,)) for name in ("AP", "nDCG", "RR")}
    evaluation = dh.evaluate(
        FIRST.qrels, FIRST.run, [f"{name}@3" for name in names], ties=ties, missing="empty", then_by=SECOND
    )
    for name, variant in names.items():
        expected = [
            variant.reference(3, case.judged, FIRST.scale)(
                rank(pick_order(ties, case.scores, case.judged), case.judged)
            )
            for case in BOTH.cases.values()
        ]
        np.testing.assert_allclose(evaluation[f"{name}@3"].values, expected, rtol=0, atol=1e-12)


def rows(run: dict[str, dict[str, float]]) -> pl.DataFrame:
    return dh.Run(run).to_polars()


@pytest.mark.parametrize(
    "form",
    [
        lambda frame: frame,
        lambda frame: frame.sample(fraction=1.0, shuffle=True, seed=1),
        lambda frame: frame.lazy(),
        lambda frame: frame.to_pandas(),
        lambda frame: pytest.importorskip("duckdb").from_arrow(frame.to_arrow()),
    ],
    ids=["together", "apart", "lazy", "pandas", "duckdb"],
)
def test_every_engine_takes_a_second_key(form: Callable[[pl.DataFrame], Any]) -> None:
    """Against the evaluation of the places by both keys, and three keys."""
    frame = rows(FIRST.run)
    expected = dh.evaluate(FIRST.qrels, BOTH.run, ["AP", "nDCG@3"], missing="empty")
    found = dh.evaluate(FIRST.qrels, form(frame), ["AP", "nDCG@3"], missing="empty", then_by=form(rows(SECOND)))
    assert found.to_dict() == expected.to_dict()
    three = dh.evaluate(FIRST.qrels, form(frame), ["AP", "nDCG@3"], missing="empty", then_by=[SECOND, rows(THIRD)])
    assert three.to_dict() == dh.evaluate(FIRST.qrels, ALL.run, ["AP", "nDCG@3"], missing="empty").to_dict()


def test_notes_count_ties_and_what_the_other_run_lacks() -> None:
    run = {"q": {"a": 3, "b": 3, "c": 3, "d": 1}}
    ev = dh.evaluate({"q": {"a": 1}}, run, "RR", then_by=dh.Run({"q": {"b": 7.5, "d": 1.0}}, name="bm25"))
    (note,) = ev.notes
    assert re.findall(r"\b(?:bm25|\d+)\b", note) == ["3", "bm25", "2"]  # tied, ordered by, not in it
    assert ev.means() == {"RR": (1 / 2 + 1 / 3) / 2}  # b is first; a and c tie behind it


def test_tuples_of_scores_are_keys() -> None:
    nested = {
        query: {doc: (score, SECOND.get(query, {}).get(doc, LACKING)) for doc, score in documents.items()}
        for query, documents in FIRST.run.items()
    }
    lists = {query: list(documents.items()) for query, documents in nested.items()}
    expected = dh.evaluate(FIRST.qrels, BOTH.run, ["AP", "nDCG@3"], missing="empty").to_dict()
    for given in (nested, lists):
        assert dh.evaluate(FIRST.qrels, given, ["AP", "nDCG@3"], missing="empty").to_dict() == expected


def test_a_column_of_the_same_table_is_a_key(tmp_path: Path) -> None:
    first, second = rows(FIRST.run), rows(SECOND).rename({"score": "bm25"})
    table = first.join(second, on=["query_id", "doc_id"], how="left").with_columns(pl.col("bm25").fill_null(-99.0))
    expected = dh.evaluate(FIRST.qrels, BOTH.run, ["AP"], missing="empty").to_dict()
    table.write_csv(tmp_path / "llm.csv")
    table.write_parquet(tmp_path / "llm.parquet")
    for given in (table, table.lazy(), table.to_pandas(), tmp_path / "llm.csv", str(tmp_path / "llm.parquet")):
        assert dh.evaluate(FIRST.qrels, given, ["AP"], missing="empty", then_by="bm25").to_dict() == expected
        if not isinstance(given, str):  # in a dict it is a document
            found: Any = dh.evaluate(FIRST.qrels, {"x": given}, ["AP"], missing="empty", then_by="bm25")
            assert found["x"].to_dict() == expected
    with pytest.raises(dh.errors.ColumnError, match="Did you mean 'bm25'"):
        dh.evaluate(FIRST.qrels, tmp_path / "llm.csv", then_by="bm52")


def test_every_key_is_rounded_first() -> None:
    run, other = {"q": {"a": 0.301, "b": 0.302, "c": 0.1}}, {"q": {"a": 5.01, "b": 5.02, "c": 9.0}}
    qrels = {"q": {"a": 1}}
    assert dh.evaluate(qrels, run, "RR", then_by=other).means() == {"RR": 0.5}
    assert dh.evaluate(qrels, run, "RR", then_by=other, score_precision=2).means() == {"RR": 0.5}
    assert dh.evaluate(qrels, run, "RR", then_by=other, score_precision=1).means() == {"RR": 0.75}
    keyed = dh.Run(run).then_by(other)
    with pytest.raises(dh.errors.ParameterError, match="cannot be rounded"):
        dh.evaluate(qrels, keyed, "RR", score_precision=1)
    rounded = dh.Run(run).then_by(other, score_precision=1)
    assert dh.evaluate(qrels, rounded, "RR", score_precision=1).means() == {"RR": 0.75}


def test_many_documents_keep_their_order() -> None:
    """Ranks of more levels than float16 or float32 would hold."""
    rng = np.random.default_rng(5)
    n = 70_000
    frame = pl.DataFrame(
        {"query_id": "q", "doc_id": [f"d{number}" for number in range(n)], "score": rng.integers(0, 2, n) * 1.0}
    )
    other = frame.with_columns(score=pl.Series(rng.permutation(n) * 1.0))
    keyed = dh.Run(frame).then_by(other).to_polars()["score"].to_numpy()
    order = np.lexsort((other["score"].to_numpy(), frame["score"].to_numpy()))
    assert all(low < high for low, high in pairwise(keyed[order].tolist()))


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ({"a": (1, 2), "b": (1,)}, r"tuple of 2 numbers.*\(1,\)"),
        ({"a": (1, 2), "b": 3}, "tuple of 2 numbers"),
        ({"a": (1, 2), "b": (1, "x")}, "not a number"),
        ({"a": (1, math.nan)}, "NaN"),
    ],
)
def test_tuples_that_are_no_keys(scores: dict[str, object], message: str) -> None:
    with pytest.raises(dh.errors.DataError, match=message):
        dh.evaluate({"q": {"a": 1}}, {"q": scores})


@pytest.mark.plugins("exports")
@pytest.mark.parametrize("score", [[[]], [[1.0]], [[1.0], [2.0]]])
def test_a_part_of_a_score_is_no_list(score: object, tmp_path: Path) -> None:
    """`[[]]` raised an IndexError; found by the fuzzer."""
    hit = {"_index": "i", "_id": "a", "_score": score}
    details = {"q": {"unrated_docs": [], "hits": [{"hit": hit, "rating": None}]}}
    (tmp_path / "x.json").write_text(json.dumps({"metric_score": 0.5, "details": details, "failures": {}}))
    with pytest.raises(dh.errors.DataError, match=r"score .* is not a number"):
        dh.read_run(tmp_path / "x.json")


def test_lists_of_scores_are_keys_too(tmp_path: Path) -> None:
    """They were taken for the lists of a run called q."""
    qrels, tuples = {"q": {"d": 1}}, {"q": {"d": (1, 2), "e": (1, 3), "f": (0, 9)}}
    lists = {query: {doc: list(score) for doc, score in own.items()} for query, own in tuples.items()}
    pairs = {query: list(own.items()) for query, own in lists.items()}
    expected = dh.evaluate(qrels, tuples, ["RR", "AP"])
    assert expected.means()["RR"] == 1 / 2
    for number, given in enumerate((lists, pairs)):
        path = tmp_path / f"{number}.json"
        path.write_text(json.dumps(given))
        for source in (given, path, dh.Run(path)):
            found = dh.evaluate(qrels, source, ["RR", "AP"])
            assert (found.to_dict(), found.notes) == (expected.to_dict(), expected.notes)
    floats = {"q": {"d": [1.5, 2.0], "e": [1.5, 3.0]}}
    assert dh.evaluate(qrels, floats, "RR").means() == {"RR": 1 / 2}


def test_lists_of_whole_numbers_are_ids_where_the_queries_say_so() -> None:
    found: Any = dh.evaluate({"q": {"1": 1}}, {"one": {"q": [1, 2]}, "other": {"q": [2, 1]}}, "RR")
    assert {name: own.means() for name, own in found.items()} == {"one": {"RR": 1.0}, "other": {"RR": 0.5}}


@pytest.mark.plugins("bounds")
def test_places_by_several_keys_are_not_rounded_again() -> None:
    """Of 1,200 places bfloat16 keeps 256 apart: a run that was ordered before says what is right."""
    rng = np.random.default_rng(0)
    docs = [f"d{n:04}" for n in range(1_200)]
    run, first = ({"q": dict(zip(docs, rng.permutation(1_200) // n * 1.0, strict=True))} for n in (2, 1))
    qrels = {"q": {doc: int(rng.integers(2)) for doc in docs[::3]}}
    ordered = dh.Run(run).then_by(first, score_precision="bfloat16")
    both: list[tuple[Any, dict[str, Any]]] = [(run, {"then_by": first, "score_precision": "bfloat16"}), (ordered, {})]
    found, right = (dh.evaluate(qrels, one, ["AP", "RR"], unjudged="bounds", **options) for one, options in both)
    for name in ("AP", "RR"):
        one, other = found[name], right[name]
        assert (one.mean, one.unjudged_min, one.unjudged_max) == (other.mean, other.unjudged_min, other.unjudged_max)
        assert other.unjudged_max[0] <= 1
