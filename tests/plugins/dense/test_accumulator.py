"""Batches give what one matrix of all queries gives, in whatever order and in how many processes they come."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import deadheat as dh
from deadheat.errors import DataError, DuplicateError, FileFormatError, ParameterError, SourceTypeError
from support.error_parts import raises_parts
from support.tampering import seal

MEASURES = ["nDCG@5", "AP", "RR", "ERR@5", "GMAP"]
Case = tuple[np.ndarray, np.ndarray, np.ndarray, list[str]]


def random_case(seed: int) -> Case:
    """Return scores, relevance, a mask and ids; few queries have the highest relevance, on which ERR depends."""
    rng = np.random.default_rng(seed)
    shape = (40, 25)
    relevance = rng.integers(0, 3, shape) * (rng.random(shape) < 0.3)
    relevance[rng.integers(0, 40, 2), 3] = 4
    relevance[rng.integers(0, 40, 5)] = 0
    ids = [f"q{one}" for one in rng.permutation(1000)[:40]]
    return rng.integers(0, 5, shape).astype(np.float32), relevance, rng.random(shape) < 0.8, ids


def values(found: dh.Evaluation) -> list[bytes]:
    """Return all numbers of an evaluation, to the bit."""
    return [getattr(scores, name).tobytes() for scores in found for name in ("values", "tie_std", "tie_min", "tie_max")]


def in_batches(case: Case, bounds: list[int], accumulator: dh.Accumulator, *, with_ids: bool = True) -> dh.Accumulator:
    """Add the queries between bounds, batch by batch."""
    scores, relevance, mask, ids = case
    for start, stop in pairwise(bounds):
        part = slice(start, stop)
        accumulator.add(scores[part], relevance[part], mask=mask[part], query_ids=ids[part] if with_ids else None)
    return accumulator


@pytest.mark.slow
@pytest.mark.parametrize("ties", ["expected", "best", "worst", "random"])
@pytest.mark.parametrize("with_ids", [True, False])
def test_what_one_matrix_gives(ties: str, *, with_ids: bool) -> None:
    case = scores, relevance, mask, ids = random_case(1)
    rng = 7 if ties == "random" else None
    wanted = dh.evaluate_dense(
        scores, relevance, MEASURES, mask=mask, query_ids=ids if with_ids else None, ties=ties, rng=rng
    )
    for bounds in ([0, 40], [0, 1, 2, 17, 40], list(range(41))):
        accumulator = dh.Accumulator(MEASURES, ties=ties, rng=rng)
        found = in_batches(case, bounds, accumulator, with_ids=with_ids)
        assert values(found.evaluation()) == values(wanted)
        assert found.means() == wanted.means()
        assert found.evaluation().qrels_hash == wanted.qrels_hash
        assert found.evaluation().query_ids.tolist() == wanted.query_ids.tolist()


def test_what_dicts_give() -> None:
    """Of the queries with judgments; a dict of qrels has no others."""
    case = scores, relevance, mask, ids = random_case(2)
    found = in_batches(case, [0, 13, 26, 40], dh.Accumulator(MEASURES, no_relevant="skip"))
    qrels = {q: {f"{d}": int(row[d]) for d in np.flatnonzero(row)} for q, row in zip(ids, relevance, strict=True)}
    run = {q: {f"{d}": float(scores[n, d]) for d in np.flatnonzero(mask[n])} for n, q in enumerate(ids)}
    wanted = dh.evaluate({q: own for q, own in qrels.items() if own}, run, MEASURES, no_relevant="skip")
    assert found.means() == wanted.means()
    for measure in MEASURES:
        for name in ("mean_tie_std", "mean_tie_min", "mean_tie_max", "n_queries", "std"):
            # sums of the same numbers, among others that are 0
            assert getattr(found[measure], name) == pytest.approx(getattr(wanted[measure], name), rel=1e-14)


def test_the_summary_at_any_time() -> None:
    case = random_case(3)
    accumulator = dh.Accumulator(["RR", "P@1"])
    in_batches(case, [0, 10], accumulator)
    first = accumulator.summary()
    in_batches(case, [10, 40], accumulator)
    assert first.columns == ["measure", "mean", "tie_std", "tie_min", "tie_max", "n_queries", "n_without_relevant"]
    assert first["n_queries"].to_list() == [10, 10]
    assert accumulator.summary()["n_queries"].to_list() == [40, 40]
    row = accumulator.summary().row(0, named=True)
    scores = dh.evaluate_dense(case[0], case[1], ["RR"], mask=case[2], query_ids=case[3])["RR"]
    assert row["mean"] == scores.values.mean()
    assert row["tie_std"] == pytest.approx(np.sqrt((scores.tie_std**2).sum()) / 40, rel=1e-15)
    assert len(accumulator) == accumulator.n_queries == 40
    assert case[3][0] in accumulator
    assert "none" not in accumulator
    assert repr(accumulator) == "<Accumulator scores: 40 queries, RR, P@1>"


def test_merged_in_any_order() -> None:
    case = random_case(4)
    parts = [in_batches(case, bounds, dh.Accumulator(MEASURES)) for bounds in ([0, 5, 9], [9, 30], [30, 40])]
    whole = in_batches(case, [0, 40], dh.Accumulator(MEASURES))
    for order in ([0, 1, 2], [2, 0, 1], [1, 2, 0]):
        first, *others = (pickle.loads(pickle.dumps(parts[n])) for n in order)  # noqa: S301 - its own bytes
        first.merge(*others, dh.Accumulator(MEASURES))
        assert values(first.evaluation()) == values(whole.evaluation())
        assert others[0].n_queries == parts[order[1]].n_queries
    numbered = [in_batches(case, bounds, dh.Accumulator(MEASURES), with_ids=False) for bounds in ([0, 9], [9, 40])]
    numbered[0].merge(numbered[1])
    wanted = dh.evaluate_dense(case[0], case[1], MEASURES, mask=case[2])
    assert values(numbered[0].evaluation()) == values(wanted)


ELSEWHERE = """
import pickle, sys
import deadheat as dh
measures, batch = pickle.load(sys.stdin.buffer)
accumulator = dh.Accumulator(measures)
accumulator.add(**batch)
pickle.dump(accumulator, sys.stdout.buffer)
"""


@pytest.mark.slow
def test_merged_across_processes() -> None:
    scores, relevance, mask, ids = case = random_case(5)
    found = []
    for part in (slice(21), slice(21, 40)):
        batch = {"scores": scores[part], "relevant": relevance[part], "mask": mask[part], "query_ids": ids[part]}
        done = subprocess.run(
            [sys.executable, "-c", ELSEWHERE], input=pickle.dumps((MEASURES, batch)), capture_output=True, check=True
        )
        found.append(pickle.loads(done.stdout))  # noqa: S301 - what the process above wrote
    found[1].merge(found[0])
    assert values(found[1].evaluation()) == values(in_batches(case, [0, 40], dh.Accumulator(MEASURES)).evaluation())


def test_a_query_that_comes_again() -> None:
    case = random_case(6)
    once = in_batches(case, [0, 40], dh.Accumulator(MEASURES, repeated="once"))
    wanted = once.means()
    in_batches(case, [3, 20, 25], once)
    assert (once.means(), once.n_queries) == (wanted, 40)
    with pytest.raises(DuplicateError, match=r"batch .*'q\d+'.* other ranks"):
        once.add(-case[0][:2], case[1][:2], query_ids=case[3][:2])
    never = in_batches(case, [0, 5], dh.Accumulator(MEASURES))
    with pytest.raises(DuplicateError, match=r"'q\d+'.*repeated='once'"):
        in_batches(case, [4, 9], never)
    assert never.n_queries == 5
    with pytest.raises(DuplicateError, match="accumulator 'scores' has"):
        never.merge(never)


def test_a_batch_that_is_refused_counts_for_nothing() -> None:
    accumulator = dh.Accumulator(["RR"])
    accumulator.add([[0.1, 0.2]], [[1]], query_ids=["a"])
    with pytest.raises(DataError):
        accumulator.add([[0.1, float("nan")], [0.1, 0.2]], [[1], [0]], query_ids=["b", "c"])
    with pytest.raises(DataError, match=r"only one .*query_ids="):
        accumulator.add([[0.1, 0.2]], [[1]])
    assert accumulator.means() == {"RR": 1.0}
    assert accumulator.n_queries == 1


def test_batches_without_relevant_documents() -> None:
    accumulator = dh.Accumulator(["RR", "nDCG@5"])
    with pytest.raises(ParameterError, match="has no query yet"):
        accumulator.means()
    accumulator.add([[0.1, 0.2]], [[]])
    assert accumulator.means() == {"RR": 0.0, "nDCG@5": 0.0}
    accumulator.add([[0.1, 0.2]], [[1]])
    assert accumulator.means() == {"RR": 0.5, "nDCG@5": 0.5}


@pytest.mark.parametrize("with_ids", [True, False])
def test_saved_and_resumed(tmp_path: Path, *, with_ids: bool) -> None:
    case, path = random_case(7), tmp_path / "folder" / "state.json"
    first = dh.Accumulator(MEASURES)
    first.save(path)  # before the first batch
    empty = dh.Accumulator(MEASURES)
    empty.resume(path)
    assert empty.n_queries == 0
    in_batches(case, [0, 4, 19], first, with_ids=with_ids)
    first.save(path)
    later = dh.Accumulator(MEASURES)
    later.resume(path)
    assert (later.means(), later.n_queries) == (first.means(), 19)
    in_batches(case, [19, 40], later, with_ids=with_ids)
    whole = in_batches(case, [0, 40], dh.Accumulator(MEASURES), with_ids=with_ids)
    assert values(later.evaluation()) == values(whole.evaluation())
    assert later.evaluation().qrels_hash == whole.evaluation().qrels_hash
    assert [one.name for one in path.parent.iterdir()] == ["state.json"]  # no temporary file is left
    head = json.loads(path.read_text())
    assert (head["n_queries"], head["means"]) == (19, first.means())


@pytest.mark.parametrize("made", [dh.Run, dh.Qrels])
def test_a_state_in_place_of_other_data_is_told_who_takes_it(tmp_path: Path, made: Callable[[Path], object]) -> None:
    accumulator = dh.Accumulator(["RR"])
    accumulator.add([[0.1, 0.2]], [[1]])
    accumulator.save(tmp_path / "state.json")
    with raises_parts(FileFormatError, hint="Accumulator.resume() takes it", problem="is a saved accumulator"):
        made(tmp_path / "state.json")


def test_a_save_that_fails_leaves_the_earlier_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, accumulator = tmp_path / "state.json", dh.Accumulator(["RR"])
    accumulator.add([[0.1, 0.2]], [[1]])
    accumulator.save(path)
    before = path.read_bytes()
    accumulator.add([[0.1, 0.2]], [[0]])
    monkeypatch.setattr("os.fsync", lambda _: (_ for _ in ()).throw(OSError("the disk is full")))
    with pytest.raises(OSError, match="the disk is full"):
        accumulator.save(path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_a_state_of_other_measures_or_conventions(tmp_path: Path) -> None:
    path, accumulator = tmp_path / "state.json", dh.Accumulator(["RR", "AP"])
    accumulator.add([[0.1, 0.2]], [[1]])
    accumulator.save(path)
    dh.Accumulator(["AP", "MRR"]).resume(path)  # the same ones
    for other, message in (
        (dh.Accumulator(["RR"]), r"was made with measures=\['AP', 'RR'\], and this accumulator has \['RR'\]"),
        (dh.Accumulator(["RR", "AP"], ties="best"), "was made with ties='expected', and this accumulator has 'best'"),
        (dh.Accumulator(["RR", "AP"], no_relevant="skip"), "was made with no_relevant='zero'"),
    ):
        with pytest.raises(DataError, match=message):
            other.resume(path)
        with pytest.raises(DataError, match=message):
            other.merge(accumulator)
        assert other.n_queries == 0
    with_ids = dh.Accumulator(["RR", "AP"])
    with_ids.add([[0.1, 0.2]], [[1]], query_ids=["a"])
    with pytest.raises(DataError, match=r"state.*only one .*query_ids="):
        with_ids.resume(path)


def test_files_that_are_no_state(tmp_path: Path) -> None:
    path, accumulator = tmp_path / "x.json", dh.Accumulator(["RR"])
    accumulator.add([[0.1, 0.2]], [[1]])
    path.write_text('{"q": {"d": 1}}')
    with pytest.raises(DataError, match="exists and is not the state"):
        accumulator.save(path)
    with raises_parts(
        FileFormatError,
        allowed="the state of an accumulator",
        hint="Accumulator.save writes one",
        problem="holds something else",
    ):
        accumulator.resume(path)
    with pytest.raises(DataError):
        accumulator.resume(tmp_path / "none.json")
    evaluation = tmp_path / "evaluation.json"
    accumulator.evaluation().save(evaluation)
    with pytest.raises(DataError, match="it would be replaced"):
        accumulator.save(evaluation)
    with pytest.raises(FileFormatError, match="holds something else"):
        accumulator.resume(evaluation)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"format": 2}, f"has format 2, written by deadheat '{dh.__version__}'"),
        ({"conventions": {"ties": "x"}}, "ties must be one of"),
        ({"conventions": {"x": 1}}, "cannot be read as the state"),
        ({"measures": None}, "cannot be read as the state"),
        ({"data": {}}, "cannot be read as the state"),
        ({"data": {"queries": "AAAA", "judged": ""}}, "cannot be read as the state"),
    ],
)
def test_a_state_that_was_changed(changes: dict[str, Any], message: str, tmp_path: Path) -> None:
    path, accumulator = tmp_path / "state.json", dh.Accumulator(["RR"])
    accumulator.add([[0.1, 0.2]], [[1]])
    accumulator.save(path)
    document = json.loads(path.read_text()) | changes
    path.write_text(json.dumps(document))
    with pytest.raises(DataError, match=r"SHA-256 differs|has format"):
        dh.Accumulator(["RR"]).resume(path)
    seal(document)
    path.write_text(json.dumps(document))
    with pytest.raises(dh.DeadheatError, match=message):
        dh.Accumulator(["RR"]).resume(path)
    path.write_text(path.read_text()[:100])
    with pytest.raises(FileFormatError, match="is damaged or incomplete"):
        dh.Accumulator(["RR"]).resume(path)


def test_bad_arguments() -> None:
    for options, message in (
        ({"ties": "doc_id"}, "ties must be one of"),
        ({"repeated": "twice"}, "repeated must be one of 'error', 'once'"),
        ({"ties": "random", "rng": np.random.default_rng(1)}, "rng must be a whole number from 0 on, or None"),
    ):
        with pytest.raises(ParameterError, match=message):
            dh.Accumulator(["RR"], **options)
    with raises_parts(SourceTypeError, found="str", allowed="an Accumulator"):
        dh.Accumulator(["RR"]).merge("x")  # type: ignore[arg-type]


def test_random_ties_are_drawn_once() -> None:
    accumulator = dh.Accumulator(["RR"], ties="random")
    accumulator.add(np.zeros((50, 20)), [[3]] * 50)
    first = accumulator.means()
    accumulator.merge(dh.Accumulator(["RR"], ties="random"))
    assert accumulator.means() == first
