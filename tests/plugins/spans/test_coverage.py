"""Characters of the top k in spans: beside sets of characters over all orders of ties, and beside large samples."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import deadheat as dh
from deadheat.plugins.spans.coverage import top as coverage
from oracle.passages import Case, Place, covered, drawn, moments

NAMES = ("CharRecall", "CharPrecision", "CharIoU", "CharDensity")


def evaluated(cases: Sequence[Case], measures: Sequence[str]) -> dh.Evaluation:
    spans = [(f"q{n:04}", *span) for n, case in enumerate(cases) for span in case.spans]
    chunks = [(f"q{n:04}", *chunk, score) for n, case in enumerate(cases) for chunk, score in case.chunks.items()]
    found = dh.evaluate(dh.Spans(spans), chunks, list(measures))
    assert isinstance(found, dh.Evaluation)
    return found


def of_top(name: str, case: Case, cutoff: int | None, order: Sequence[Place]) -> float:
    return covered(order[:cutoff], case.spans)[name]


@pytest.mark.slow
def test_characters_over_all_orders() -> None:
    """1,000 small cases: overlapping, nested and empty chunks, nested spans, spans across chunks, several documents."""
    rng = random.Random(37)
    cases = [drawn(rng) for _ in range(1_000)]
    cutoffs = (1, 2, 3, None)
    wanted = {
        (name, cutoff): [moments(partial(of_top, name, case, cutoff), case) for case in cases[n::4]]
        for name in NAMES
        for n, cutoff in enumerate(cutoffs)
    }
    for (name, cutoff), expected in wanted.items():
        measure = f"{name}@{cutoff}" if cutoff else name
        scores = evaluated(cases[cutoffs.index(cutoff) :: 4], [measure])[measure]
        for label, found, own in (
            ("mean", scores.values, [one.mean for one in expected]),
            ("variance", scores.tie_std**2, [one.variance for one in expected]),
            ("min", scores.tie_min, [one.minimum for one in expected]),
            ("max", scores.tie_max, [one.maximum for one in expected]),
        ):
            np.testing.assert_allclose(found, own, atol=1e-12, err_msg=f"{label} of {measure}")


def test_worked_ranges() -> None:
    """The least of two chunks that are taken of three is of those that overlap, the most of those that do not."""
    chunks = {("d", 0, 10): 1.0, ("d", 2, 12): 1.0, ("d", 20, 30): 1.0}
    scores = evaluated([Case([("d", 0, 40)], chunks)], ["CharRecall@2"])["CharRecall@2"]
    assert (scores.tie_min[0], scores.tie_max[0]) == (12 / 40, 20 / 40)
    assert scores.values[0] == pytest.approx((12 + 20 + 20) / 3 / 40)
    higher = Case([("d", 0, 40)], {**chunks, ("d", 18, 28): 2.0})
    scores = evaluated([higher], ["CharRecall@2"])["CharRecall@2"]
    assert (scores.tie_min[0], scores.tie_max[0]) == (12 / 40, 20 / 40)


def large(n_chunks: int) -> Case:
    rng = random.Random(5)
    starts = rng.sample(range(4_000), n_chunks)
    chunks = {(rng.choice("de"), start, start + rng.randrange(1, 300)): 1.0 for start in starts}
    return Case.__new__(Case) if not chunks else _unordered([("d", 500, 900), ("e", 0, 700), ("d", 600, 2_000)], chunks)


def _unordered(spans: Sequence[Place], chunks: dict[Place, float]) -> Case:
    """Return a case whose orders are too many to list."""
    found = Case.__new__(Case)
    object.__setattr__(found, "spans", spans)
    object.__setattr__(found, "chunks", chunks)
    return found


@pytest.mark.slow
def test_large_ties_beside_a_sample() -> None:
    """Mean and variance of recall are closed forms; of ratios a sample is drawn, whose error is told."""
    case, n = large(60), 1_500
    rng, names = random.Random(6), [f"{name}@8" for name in NAMES]
    values = {name: [] for name in NAMES}  # type: dict[str, list[float]]
    for _ in range(n):
        for name, value in covered(rng.sample(sorted(case.chunks), 8), case.spans).items():
            values[name].append(value)
    evaluation = evaluated([case], names)
    for name, own in values.items():
        scores, error = evaluation[f"{name}@8"], np.std(own) / math.sqrt(n)
        assert scores.values[0] == pytest.approx(np.mean(own), abs=5 * math.hypot(error, scores.standard_error[0]))
        assert scores.tie_std[0] == pytest.approx(np.std(own), rel=0.15)
        assert (scores.standard_error[0] > 0) == (name != "CharRecall")
    recall = evaluation["CharRecall@8"]
    assert recall.tie_min[0] <= min(values["CharRecall"]) <= max(values["CharRecall"]) <= recall.tie_max[0]
    assert evaluated([case], names)["CharIoU@8"].values[0] == evaluation["CharIoU@8"].values[0]


@pytest.mark.slow
def test_ranges_of_larger_ties_are_those_of_all_subsets(monkeypatch: pytest.MonkeyPatch) -> None:
    """14 chunks of which 5 are taken: dynamic programming and 2,002 subsets agree, also where 100 are drawn."""
    case = large(14)
    every = [covered(some, case.spans) for some in itertools.combinations(case.chunks, 5)]
    listed = evaluated([case], [f"{name}@5" for name in NAMES])
    monkeypatch.setattr(coverage, "MAX_SUBSETS", 100)
    drawn_ones = evaluated([case], [f"{name}@5" for name in NAMES])
    for name in NAMES:
        values = [one[name] for one in every]
        for scores in (listed[f"{name}@5"], drawn_ones[f"{name}@5"]):
            assert (scores.tie_min[0], scores.tie_max[0]) == (min(values), max(values))
        scores = listed[f"{name}@5"]
        assert (scores.values[0], scores.tie_std[0]) == pytest.approx((np.mean(values), np.std(values)))


def test_ranges_are_exact_where_subsets_are_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two subsets are drawn of each tie that has more: the range is that of all; a mean that may be off says so."""
    monkeypatch.setattr(coverage, "MAX_SUBSETS", 2)
    rng = random.Random(7)
    cases = [drawn(rng, length=8) for _ in range(60)]
    n_drawn = 0
    for name in NAMES:
        scores = evaluated(cases, [f"{name}@2"])[f"{name}@2"]
        expected = [moments(partial(of_top, name, case, 2), case) for case in cases]
        assert scores.tie_min.tolist() == [one.minimum for one in expected]
        assert scores.tie_max.tolist() == [one.maximum for one in expected]
        is_off = np.abs(scores.values - [one.mean for one in expected]) > 1e-12
        assert (scores.standard_error[is_off] > 0).all()
        n_drawn += int((scores.standard_error > 0).sum())
    assert n_drawn > 30


def test_ranges_of_large_ties_with_unjudged_documents() -> None:
    """Without spans a document is one character: the range is that of precision, with 8 of 30 taken."""
    qrels = {"q": {f"d{n}": int(n < 3) for n in range(12)}}
    run = {"q": {"top": 2.0, **{f"d{n}": 1.0 for n in range(30)}}}
    names = ["P@9", "CharPrecision@9", "CharDensity@9", "CharIoU@9"]
    for scores in (dh.evaluate(qrels, run, name)[name] for name in names):
        assert (scores.mean_tie_min, scores.mean_tie_max) == (0, 3 / 9)


def test_saved_selected_and_under_policies(tmp_path: Path) -> None:
    """What is saved keeps chunks and spans; strata and policies look at the same text."""
    cases = [drawn(random.Random(n)) for n in range(6)]
    evaluation = evaluated(cases, ["CharRecall@2", "CharIoU@1"])
    evaluation.save(tmp_path / "kept.json")
    again = dh.load_evaluation(tmp_path / "kept.json")
    assert again.means() == evaluation.means()
    assert again.rescored(measures=["CharDensity@2", "CharRecall@2"]).means() == pytest.approx(
        evaluated(cases, ["CharDensity@2", "CharRecall@2"]).means()
    )
    part = evaluation.placements.select(np.array([4, 1]))
    measure = dh.CharRecall @ 2
    assert measure.mean(part).tolist() == evaluation["CharRecall@2"].values[[4, 1]].tolist()
