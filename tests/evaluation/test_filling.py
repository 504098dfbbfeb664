"""Holes of human labels filled by a judge, against enumeration of labels, qrels that are whole, and hidden labels."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import deadheat as dh
from deadheat.errors import DataError, ParameterError
from deadheat.evaluation.filling import filling
from support.shared_data import llm_qrels, llm_run, needs_shared_data

if TYPE_CHECKING:
    from collections.abc import Callable

Labels = dict[str, dict[str, float]]
MEASURES = ["nDCG@3", "P@2", "AP", "RR", "R@2", "ERR"]
HUMAN: Labels = {"q1": {"a": 2, "b": 0, "c": 1}, "q2": {"a": 1, "b": 0}, "q3": {"c": 2, "d": 0}}
JUDGE: Labels = {
    "q1": {"a": 3, "b": 1, "c": 1, "d": 3, "gone": 1},
    "q2": {"a": 1, "b": 1, "c": 3},
    "q3": {"c": 3, "d": 1},
    "other": {"a": 1},
}
RUN: Labels = {
    "q1": {"d": 3, "a": 2, "b": 2, "c": 1, "unseen": 1},
    "q2": {"c": 2, "b": 2, "a": 1},
    "q3": {"d": 2, "c": 1},
}


def merged(*labels: Labels) -> Labels:
    """Return the labels of the queries of the first, of which the last counts."""
    return {query: {doc: grade for one in labels for doc, grade in one[query].items()} for query in labels[0]}


def test_documents_that_the_judge_alone_has_labelled_may_tie() -> None:
    """Of two such documents in a tie one is in the top 2: the value of a filling says how many of them are relevant."""
    human, judge = {"q": {"a": 1}, "p": {"a": 1, "b": 0}}, {"q": {"a": 1, "b": 1, "c": 0}, "p": {"a": 1, "b": 0}}
    run = {"q": {"a": 3, "b": 2, "c": 2}, "p": {"a": 3, "b": 2}}
    scores = dh.evaluate(human, run, "P@2", unjudged="judge", judge=judge)["P@2"]
    assert scores.filled is not None
    shares = [np.mean(scores.filled.draws[:, 1] == value) for value in (0.5, 0.75, 1.0)]
    assert sum(shares) == pytest.approx(1)
    assert scores.tie_std[1] == pytest.approx(0.25 * shares[1] ** 0.5)
    assert scores.tie_min[1] == pytest.approx(0.5 + 0.5 * shares[2])
    assert scores.tie_max[1] == pytest.approx(1 - 0.5 * shares[0])


def test_every_filling_is_a_labelling_of_the_holes() -> None:
    found = dh.evaluate(HUMAN, RUN, MEASURES, unjudged="judge", judge=JUDGE)
    holes = [("q1", "d"), ("q1", "gone"), ("q2", "c")]
    possible: dict[str, set[tuple[float, ...]]] = {name: set() for name in MEASURES}
    for levels in product((0, 1, 2), repeat=3):
        own: Labels = {query: {} for query in HUMAN}
        for (query, doc), level in zip(holes, levels, strict=True):
            own[query][doc] = level
        for scores in dh.evaluate(merged(HUMAN, own), RUN, MEASURES):
            possible[scores.measure.label].add(tuple(scores.values.round(9).tolist()))
    for scores in found:
        assert scores.filled is not None
        drawn = set(map(tuple, scores.filled.draws.round(9).tolist()))
        assert drawn <= possible[scores.measure.label]
        assert len(drawn) > 1
        np.testing.assert_allclose(scores.values, scores.filled.draws.mean(0), rtol=1e-12)
        low, high = scores.fill_interval(0.9)
        means = sorted(scores.filled.draws.mean(1))
        assert means[0] <= low <= high <= means[-1]
        assert np.mean([low <= one <= high for one in means]) >= 0.9
        assert scores.mean_unjudged_min <= low <= high <= scores.mean_unjudged_max


def test_the_value_if_the_judge_is_right_is_that_of_all_labels() -> None:
    found = dh.evaluate(HUMAN, RUN, MEASURES, unjudged="judge", judge=JUDGE)
    for scores in dh.evaluate(merged(HUMAN, JUDGE, HUMAN), RUN, MEASURES):
        assert found[scores.measure].filled is not None
        np.testing.assert_allclose(found[scores.measure].filled.by_judge, scores.values, rtol=1e-12)  # type: ignore[union-attr]
        assert found[scores.measure].mean_by_judge == pytest.approx(scores.mean, rel=1e-12)


def test_shares_of_ranks_that_rest_on_the_judge() -> None:
    """P@2: of the first query d is first, of the second c shares ranks 1 and 2 with b, of the third nothing."""
    found = dh.evaluate(HUMAN, RUN, ["P@2", "P@1", "AP"], unjudged="judge", judge=JUDGE)
    shares = {scores.measure.label: scores.filled.shares.tolist() for scores in found if scores.filled}
    assert shares["P@2"] == pytest.approx([1 / 2, 1 / 2, 0])
    assert shares["P@1"] == pytest.approx([1, 1 / 2, 0])
    assert shares["AP"] == pytest.approx([1 / 5, 1 / 3, 0])
    assert found["P@1"].judge_share == pytest.approx(1 / 2)


def test_without_holes_all_is_as_human_labels_say() -> None:
    found = dh.evaluate(HUMAN, RUN, MEASURES, unjudged="judge", judge=HUMAN)
    for scores in dh.evaluate(HUMAN, RUN, MEASURES):
        own = found[scores.measure]
        np.testing.assert_allclose(own.values, scores.values, rtol=1e-12)
        np.testing.assert_allclose(own.tie_std, scores.tie_std, atol=1e-12)
        assert own.fill_interval() == pytest.approx((scores.mean, scores.mean))
        assert own.judge_share == 0


def test_documents_are_in_bands_by_their_places() -> None:
    """The last half of a list, the quarter before, and so on; the first 1/64 has a band of its own."""
    docs = [f"d{n:03}" for n in range(128)]
    qrels, run = dh.Qrels({"q": dict.fromkeys(docs, 1)}), dh.Run({"q": {doc: -float(n) for n, doc in enumerate(docs)}})
    found = filling(qrels, qrels, run, dh.place(qrels, run), precision=None, rng=0)
    assert found.counts.sum((0, 1, 3)).tolist() == [2, 2, 4, 8, 16, 32, 64, 0]


def test_the_same_seed_gives_the_same_and_intervals_have_both_errors() -> None:
    first, again, other = (
        dh.evaluate(HUMAN, RUN, "nDCG@3", unjudged="judge", judge=JUDGE, rng=seed)["nDCG@3"] for seed in (1, 1, 2)
    )
    assert first.fill_interval() == again.fill_interval()
    assert first.mean != other.mean
    whole, own = first.interval("t"), first.fill_interval()
    alone = dh.interval(first.values, method="t")
    for end, of_queries, of_fill in zip((whole.low, whole.high), (alone.low, alone.high), own, strict=True):
        wanted = np.hypot(of_queries - first.mean, of_fill - first.mean)
        assert abs(end - first.mean) == pytest.approx(wanted) or end in {0.0, 1.0}
    assert first.filled is not None
    assert whole.standard_error == pytest.approx(np.hypot(alone.standard_error, first.filled.draws.mean(1).std(ddof=1)))
    part = dh.evaluate(HUMAN, RUN, "nDCG@3", unjudged="judge", judge=JUDGE).select(np.array([True, False, True]))
    assert part["nDCG@3"].filled is not None
    assert part["nDCG@3"].filled.draws.shape[1] == 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"judge": None}, "needs a judge's labels"),
        ({"ties": "doc_id"}, "ties must be 'expected'"),
        ({"depth": 3}, "depth must be"),
        ({"judged_only": True}, "judged_only"),
        ({"no_relevant": "skip"}, "no_relevant must be"),
    ],
)
def test_what_it_does_not_go_with(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        dh.evaluate(HUMAN, RUN, "RR", **({"unjudged": "judge", "judge": JUDGE} | options))


def test_errors_of_what_cannot_be_filled() -> None:
    with pytest.raises(DataError, match="no document of a query in common"):
        dh.evaluate(HUMAN, RUN, "RR", unjudged="judge", judge={"q1": {"d": 1}})
    with pytest.raises(DataError, match="different grades"):
        dh.evaluate(HUMAN, RUN, "RR", unjudged="judge", judge={"q1": {"a": 0, **{f"d{n}": n for n in range(99)}}})
    with pytest.raises(ParameterError, match="unjudged must be one of 'zero', 'bounds'"):
        dh.compare(HUMAN, {"one": RUN, "other": RUN}, "RR", unjudged="judge", judge=JUDGE)


@pytest.fixture(scope="module")
def human() -> Labels:
    """The labels of people in LLMJudge."""
    return dh.read_qrels(llm_qrels()).to_dict()


def run_of(name: str) -> dh.Run:
    """Return the labels of a team, as a run."""
    return dh.read_run(llm_run(name))


def covered(human: Labels, keeps: Callable[[str, str], bool], system: str, judge: str) -> bool:
    """Tell whether the interval from some of the labels holds the value by all."""
    known = {query: {doc: grade for doc, grade in docs.items() if keeps(query, doc)} for query, docs in human.items()}
    run = run_of(system)
    found = dh.evaluate(known, run, "nDCG@10", unjudged="judge", judge=run_of(judge))["nDCG@10"]
    low, high = found.fill_interval()
    bounds = dh.evaluate(known, run, "nDCG@10", unjudged="bounds")["nDCG@10"]
    assert bounds.mean_unjudged_min - 1e-9 <= low <= high <= bounds.mean_unjudged_max + 1e-9
    return low <= dh.evaluate(human, run, "nDCG@10").means()["nDCG@10"] <= high


@needs_shared_data
@pytest.mark.slow
def test_hidden_labels_are_covered(human: Labels) -> None:
    """Of two systems with 30, 60 and 90% hidden at random, four times; docs/guide/judges.md has more."""
    rng = np.random.default_rng(7)
    found = [
        covered(human, lambda _, __, share=share: rng.random() > share, system, "Olz-gpt4o")  # type: ignore[misc]
        for share in (0.3, 0.6, 0.9) * 4
        for system in ("TREMA-CoT", "prophet-setting1")
    ]
    assert sum(found) >= 20


@needs_shared_data
@pytest.mark.slow
def test_what_one_system_alone_found_is_covered(human: Labels) -> None:
    """Each system in turn was not in the pool, which lacks what it alone has among its first ten."""
    names = ["TREMA-CoT", "prophet-setting1", "h2oloo-zeroshot1"]
    firsts = {
        name: {(query, doc) for query, doc, above, _ in run_of(name).positions().rows() if above < 10} for name in names
    }
    found = []
    for name in names:
        own = firsts[name].difference(*(firsts[other] for other in names if other != name))
        found.append(covered(human, lambda query, doc, own=own: (query, doc) not in own, name, "Olz-gpt4o"))  # type: ignore[misc]
    assert sum(found) >= 2
