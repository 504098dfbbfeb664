"""judge_agreement(): what it counts, and what a judge does to conclusions, against the definitions."""

from __future__ import annotations

import copy
import json
import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from scipy import stats as scipy_stats

import deadheat as dh
from deadheat.core.report.as_data import as_json
from deadheat.core.wording import format_list
from deadheat.errors import DataError, ParameterError
from deadheat.plugins.judges.label_agreement import LabelAgreement
from deadheat.plugins.judges.report import report_judges
from support.error_parts import raises_parts
from support.figure_data import rows_of
from support.numbers_in_text import numbers_in
from support.random_runs import random_runs
from support.shared_data import LLM_RUNS, llm_qrels, llm_run, needs_shared_data

if TYPE_CHECKING:
    from collections.abc import Callable

HUMAN = {"q1": {"a": 2, "b": 0, "c": 1, "x": 1}, "q2": {"d": 1, "e": 0, "f": 2}, "q3": {"g": 1}}
JUDGE = {"q1": {"a": 2, "b": 1, "c": 1, "y": 0}, "q2": {"d": 1, "e": 1, "f": 0}, "q4": {"h": 2}}


def test_it_is_of_the_documents_that_both_labelled() -> None:
    found = dh.judge_agreement(HUMAN, JUDGE)
    assert found.only.grades.tolist() == [0, 1, 2]
    assert found.confusion.tolist() == [[0, 2, 0], [0, 2, 0], [1, 0, 1]]
    assert (found.only.only_human, found.only.only_judge) == (2, 2)
    assert found.only.query_ids.tolist() == ["q1", "q2"]


def test_the_numbers_have_their_intervals() -> None:
    sklearn = pytest.importorskip("sklearn.metrics")
    found = dh.judge_agreement(HUMAN, JUDGE)
    human, judge = [2, 0, 1, 1, 0, 2], [2, 1, 1, 1, 1, 0]
    assert found.kappa == pytest.approx(sklearn.cohen_kappa_score(human, judge), abs=1e-12)
    for own, weights in ((found.linear_kappa, "linear"), (found.quadratic_kappa, "quadratic")):
        assert float(own) == pytest.approx(sklearn.cohen_kappa_score(human, judge, weights=weights), abs=1e-12)
    assert found.alpha.low < found.alpha < found.alpha.high
    assert copy.deepcopy(found.kappa).high == found.kappa.high
    one_query = dh.judge_agreement({"q": HUMAN["q1"]}, {"q": JUDGE["q1"]})
    assert math.isnan(one_query.kappa.low)


def test_intervals_stay_within_what_a_statistic_can_be() -> None:
    found = dh.judge_agreement(
        {"a": {"x": 2, "y": 3}, "b": {"x": 2, "y": 0}, "c": {"x": 1, "y": 0}},
        {"a": {"x": 2, "y": 3}, "b": {"x": 2, "y": 1}, "c": {"x": 1, "y": 0}},
    ).only
    for name, one in found.estimates.items():
        assert (0 if name in {"agreement", "precision", "recall"} else -1) <= one.low <= one <= one.high <= 1
    for name, limits in (("precision", (0, 1)), ("recall", (0, 1)), ("inflation", (-3, 3))):
        for one in found.by_grade[name]:
            assert math.isnan(one.low) or limits[0] <= one.low <= one <= one.high <= limits[1]


def test_shares_of_the_confusion_have_intervals() -> None:
    """Gaffke's bounds, with an added query of the mean size of the queries that documents are in."""
    pairs = {"a": [(0, 0), (0, 1), (1, 1)], "b": [(0, 0), (2, 1), (2, 2)], "c": [(0, 1), (0, 0), (0, 0), (2, 0)]}
    human, judge = (
        {query: {f"{query}{n}": pair[side] for n, pair in enumerate(own)} for query, own in pairs.items()}
        for side in (0, 1)
    )
    found = dh.judge_agreement(human, judge)
    rng = np.random.default_rng(7)
    for grade in range(3):
        sizes = np.array([sum(pair[0] == grade for pair in own) for own in pairs.values()])
        for other in range(3):
            share = found.confusion_shares[grade][other]
            hits = np.array([own.count((grade, other)) for own in pairs.values()])
            assert share == pytest.approx(hits.sum() / sizes.sum())
            assert share.n_queries == np.count_nonzero(sizes)
            if share.n_queries < 2:
                assert math.isnan(share.low)
                continue
            weights = rng.dirichlet([1, 1, 1, 1], 200_000)
            added = weights[:, 3] * (sizes @ sizes) / sizes.sum()
            totals = weights[:, :3] @ sizes + added
            low = np.quantile(weights[:, :3] @ hits / totals, 0.025)
            high = np.quantile((weights[:, :3] @ hits + added) / totals, 0.975)
            assert (share.low, share.high) == pytest.approx((low, high), abs=0.02)


def test_shares_of_single_documents_are_proportions() -> None:
    """Of one document a query: Clopper and Pearson's interval."""
    human = {f"q{n}": {"a": 1} for n in range(20)}
    judge = {query: {"a": int(n >= 3)} for n, query in enumerate(human)}
    recall = dh.judge_agreement(human, judge).only.estimates["recall"]
    exact = scipy_stats.binomtest(17, 20).proportion_ci()
    assert (recall.low, recall.high) == pytest.approx((exact.low, exact.high), abs=0.01)


@pytest.mark.slow
@pytest.mark.parametrize("n_queries", [5, 25])
def test_shares_of_a_good_judge_are_covered(n_queries: int) -> None:
    """A judge that is right in 95% of the labels, and finds a tenth of the rest to be of the highest grade."""
    rng, rates = (
        np.random.default_rng(n_queries),
        np.array([[0.95, 0.045, 0.005], [0.045, 0.95, 0.005], [0, 0.05, 0.95]]),
    )
    covered: dict[str, list[bool]] = {"confusion": [], "recall": []}
    for _ in range(150):
        human = np.stack([rng.multinomial(20, [0.7, 0.2, 0.1]) for _ in range(n_queries)])
        counts = np.array([[rng.multinomial(n, own) for n, own in zip(of, rates, strict=True)] for of in human], float)
        queries = np.arange(n_queries).astype(str).astype(object)
        own = LabelAgreement("judge", np.arange(3.0), queries, counts, 0, 0, 1, 0.95)
        share = own.confusion_shares[0][2]
        covered["confusion"].append(share.is_known and share.low <= 0.005 <= share.high)
        recall = own.estimates["recall"]
        covered["recall"].append(recall.is_known and recall.low <= 1 - 2 / 3 * 0.045 <= recall.high)
    assert all(np.mean(own) >= 0.93 for own in covered.values()), {name: np.mean(own) for name, own in covered.items()}


def judged_alike(n_queries: int, n_wrong: int = 0) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, int]]]:
    """Return labels of humans and of a judge that is wrong once in some of the queries."""
    human = {f"q{n}": {"a": 1, "b": 0, "c": 1, "d": 0} for n in range(n_queries)}
    judge = {query: own | {"b": int(n < n_wrong)} for n, (query, own) in enumerate(human.items())}
    return human, judge


def test_an_interval_that_vanishes_is_marked_unknown() -> None:
    """Of 20 queries on which the judge is always right, the kappa of others is not known to be 1."""
    found = dh.judge_agreement(*judged_alike(20))
    kappa, recall = found.kappa, found.only.estimates["recall"]
    assert (kappa.low, float(kappa), kappa.high) == (1.0, 1.0, 1.0)
    assert not kappa.is_known
    assert numbers_in(kappa.unknown) == [20]
    assert repr(kappa) == "1.0000 [1.0000, 1.0000]?"
    rows = {row["statistic"]: row for row in found.to_polars().to_dicts()}
    assert (rows["kappa"]["known"], rows["kappa"]["unknown"]) == (False, kappa.unknown)
    assert (rows["recall"]["known"], rows["recall"]["unknown"]) == (True, "")
    assert (recall.low, recall.high) == pytest.approx((0.025 ** (1 / 20), 1.0), abs=0.01)
    assert repr(recall).endswith("1.0000]")
    text = " ".join(str(found).split())
    assert "[1.0000, 1.0000]?" in text
    assert f"cannot be known: {kappa.unknown}" in text
    page = found.to_html()
    assert "[1.0000, 1.0000]?" in page
    document = json.loads(as_json(report_judges(found, for_people=False)))
    assert document["judges"]["qrels"]["kappa_known"] is False
    assert document["judges"]["qrels"]["recall_known"] is True
    assert document["grades"]["qrels"]["1"]["recall_known"] is True


def test_few_queries_are_marked_unknown() -> None:
    """Also few of many: a grade that humans gave in two of 20 queries has a precision of the others, no recall."""
    found = dh.judge_agreement(*judged_alike(3, n_wrong=1))
    assert found.kappa.unknown == "only 3 queries"
    human, judge = judged_alike(20, n_wrong=7)
    human["q0"]["a"] = human["q1"]["a"] = 2
    judge |= {query: own | {"c": 2} for query, own in judge.items() if query not in {"q0", "q5"}}
    own = dh.judge_agreement(human, judge).only
    place = own.grades.tolist().index(2)
    assert own.by_grade["recall"][place].unknown == "only 2 queries"
    assert [one.unknown for one in own.confusion_shares[place]] == ["only 2 queries"] * 3
    assert own.by_grade["precision"][place].n_queries == 18
    assert own.confusion_shares[1][1].is_known
    nothing = dh.judge_agreement(human, judge, rel=9).only
    assert nothing.estimates["recall"].unknown == "there is no value"


@pytest.mark.slow
def test_no_known_interval_is_without_width() -> None:
    """Of drawn labels of five queries; that of a share never vanishes."""
    rng, n_vanished = np.random.default_rng(6), 0
    for _ in range(20):
        human, judge = ({f"q{q}": {f"d{d}": int(rng.integers(0, 3)) for d in range(3)} for q in range(5)} for _ in "ab")
        own = dh.judge_agreement(human, judge).only
        for one in (*own.estimates.values(), *own.by_grade["inflation"]):
            n_vanished += one.high == one.low
            assert one.low < one.high or not one.is_known
        for row in (*own.confusion_shares, own.by_grade["precision"], own.by_grade["recall"]):
            assert not any(one.low == one.high for one in row)
    assert n_vanished > 0


def test_intervals_of_a_bias_that_vanishes_are_not_drawn() -> None:
    human, judge = judged_alike(20)
    runs = {name: {query: {"a": 2.0, "b": score} for query in human} for name, score in (("x", 1.0), ("y", 3.0))}
    found = dh.judge_agreement(human, judge, runs=runs, measures="RR")
    assert all(not bias.is_known for bias in found.conclusions[0].biases)
    assert {row["low"] for row in rows_of(found.plot("judge_bias"))} == {None}
    assert {row["low"] for row in rows_of(found.plot("judged_means"))} == {None}
    assert "[0.0000, 0.0000]?" in str(found.to_markdown())


def test_frames_for_people_and_programs() -> None:
    found = dh.judge_agreement(HUMAN, [dh.Qrels(JUDGE, name="one"), dh.Qrels(HUMAN, name="two")])
    frame = found.to_polars()
    assert frame.filter(judge="two", statistic="kappa")["value"].item() == 1
    tau = scipy_stats.kendalltau([2, 0, 1], [2, 1, 1]).statistic
    assert found.per_query().filter(judge="one", query_id="q1")["tau_b"].item() == pytest.approx(tau)
    assert found["two"].kappa == 1.0
    with raises_parts(DataError, hint="name one: found[name]", problem="there are 2 judges (one, two)"):
        found.kappa  # noqa: B018 - it raises
    assert "alpha of all" in {fact.heading for fact in report_judges(found).facts}
    assert set(found.together) == {"nominal", "ordinal", "interval"}


def test_what_shows_nothing_is_said() -> None:
    human = {"q1": {"a": 1, "b": 0}}
    found = dh.judge_agreement(human, dh.Qrels({"q1": {"a": 1, "b": 1}}, name="llm"))
    of_grades, of_queries = found.notes
    assert of_grades.startswith("llm gives no grade but 1: ")
    assert of_queries.startswith("both labelled one query ")
    assert np.isnan(found.kappa.low)


def test_by_strata_the_counts_add_up() -> None:
    found = dh.judge_agreement(HUMAN, JUDGE)
    parts = found.by("type", {"q1": {"type": "x"}, "q2": {"type": "y"}})
    assert (parts["x"].confusion + parts["y"].confusion).tolist() == found.confusion.tolist()


@pytest.mark.parametrize(
    ("judge", "message"),
    [
        ({"q1": {"other": 1}}, "label no document of a query in common"),
        ({"q1": {"a": 10, "b": 0}}, "grades of qrels are 0 to 2, those of qrels 0 to 10: .* different scales"),
        ({"q": {str(n): n / 100 for n in range(60)}}, "has 6[0-9] different grades"),
    ],
    ids=["no document", "scales", "grades"],
)
def test_labels_that_cannot_be_compared(judge: object, message: str) -> None:
    human = {**HUMAN, "q": {str(n): n % 2 for n in range(60)}}
    with pytest.raises(DataError, match=message):
        dh.judge_agreement(human, judge)


def test_the_lowest_relevant_grade_is_a_number() -> None:
    with pytest.raises(ParameterError, match="rel must be a number, got 'a'"):
        dh.judge_agreement({"q": {"a": 1}}, {"q": {"a": 1}}, rel="a")  # type: ignore[arg-type]


def test_a_judge_with_one_grade_and_one_beyond_the_scale() -> None:
    one_grade = dh.judge_agreement(HUMAN, {"q1": {"a": 1, "b": 1, "c": 1}})
    assert math.isnan(one_grade.only.estimates["tau_b"])
    assert one_grade.kappa == 0.0
    beyond = dh.judge_agreement(HUMAN, {"q1": {"a": 3, "b": 1}})
    of_grades, of_queries = beyond.notes
    assert of_grades.startswith("qrels gives 3, which no human ")
    assert of_queries.startswith("both labelled one query ")


def test_a_grade_between_those_of_humans_is_told() -> None:
    """0, 1/2, 1 for 0, 1, 2 is another scale, though no grade is beyond that of the humans."""
    human = {"q1": {"a": 0, "b": 1, "c": 2}, "q2": {"a": 2, "b": 1}}
    halves = {query: {doc: grade / 2 for doc, grade in own.items()} for query, own in human.items()}
    (note,) = dh.judge_agreement(human, halves).notes
    assert note.startswith("qrels gives 0.5, which no ")
    assert dh.judge_agreement(human, {"q1": {"a": 2, "b": 0, "c": 1}, "q2": {"b": 2}}).notes == ()


def test_a_run_is_taken_for_its_grades() -> None:
    found = dh.judge_agreement(HUMAN, dh.Run(JUDGE, name="llm"))
    (note,) = found.notes
    assert note.startswith("llm is a run: ")
    assert found.confusion.tolist() == dh.judge_agreement(HUMAN, JUDGE).confusion.tolist()


def drawn(
    seed: int, n_queries: int = 12
) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, int]], dict[str, dict[str, dict[str, float]]]]:
    """Return human labels, those of a judge that is off by one at times, and three systems."""
    rng = np.random.default_rng(seed)
    human = {f"q{q}": {f"d{d}": int(rng.integers(0, 3)) for d in range(12)} for q in range(n_queries)}
    judge = {q: {d: int(np.clip(g + rng.integers(-1, 2), 0, 2)) for d, g in own.items()} for q, own in human.items()}
    runs = {
        name: {q: {d: g * skill + float(rng.integers(0, 3)) for d, g in own.items()} for q, own in human.items()}
        for name, skill in (("good", 2.0), ("fair", 1.0), ("poor", 0.0))
    }
    return human, judge, runs


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_conclusions_are_those_of_two_comparisons(seed: int) -> None:
    human, judge, runs = drawn(seed)
    found = dh.judge_agreement(human, judge, runs=runs, measures=["nDCG@5", "P@3"]).conclusions
    for one in found:
        measure = one.measure.label
        both = [dh.compare(labels, runs, [measure], rng=0) for labels in (human, judge)]
        means = [[of.evaluations[name][measure].mean for name in runs] for of in both]
        assert [(own.baseline_mean, own.mean) for own in one.biases] == [*zip(*means, strict=True)]
        pairs = [{(p.system, p.baseline): p for p in of.pairs} for of in both]
        ours = {(p.system, p.baseline): p for p in one.human}
        assert {key: p.p_adjusted for key, p in ours.items()} == pytest.approx(
            {key: p.p_adjusted for key, p in pairs[0].items()}
        )
        for key, own in ours.items():
            one_way, other_way = pairs[0][key], pairs[1][key]
            is_opposite = one_way.difference * other_way.difference < 0
            assert own.difference == pytest.approx(one_way.difference)
            assert (key in one.reversed) == (one_way.significant and is_opposite)
            assert (key in one.lost) == (one_way.significant and not other_way.significant and not is_opposite)
            assert (key in one.false) == (other_way.significant and not one_way.significant)
        assert one.tau_b == pytest.approx(scipy_stats.kendalltau(*means).statistic, nan_ok=True)
        spread = [np.mean([of.evaluations[name][measure].mean_tie_std for name in runs]) for of in both]
        assert one.tie_std == pytest.approx(spread)


def test_a_bias_of_other_documents_is_said() -> None:
    """The judge gives people's labels of every second document: by these alone it has no bias."""
    human, runs = random_runs()
    half = {query: dict(list(own.items())[::2]) for query, own in human.items()}
    found = dh.judge_agreement(human, dh.Qrels(half, name="llm"), runs=runs, measures="P@3")
    assert found.conclusions[0].n_labels == (8 * len(human), 4 * len(human))
    for bias in found.conclusions[0].biases:
        own, other = (dh.evaluate(labels, runs[bias.system], "P@3").means()["P@3"] for labels in (half, human))
        assert bias.difference == pytest.approx(own - other)
    told = " ".join(str(found).split())
    assert f"did not label: llm {4 * len(human)} ({8 * len(human)} by humans)" in told
    same = dh.judge_agreement(half, dh.Qrels(half, name="llm"), runs=runs, measures="P@3")
    assert {bias.difference for bias in same.conclusions[0].biases} == {0}
    assert "part of the bias" not in str(same)


@pytest.mark.slow
def test_a_favourite_is_found_by_its_bias_against_the_others() -> None:
    human, judge, runs = drawn(1, 30)
    own = {q: {d: float(g) for d, g in of.items()} for q, of in judge.items()}
    found = dh.judge_agreement(human, {"llm": dh.Qrels(judge)}, runs={**runs, "llm": own}).conclusions[0]
    assert found.favoured == ("llm",)
    assert any(
        "llm is a judge and a system" in one
        for one in dh.judge_agreement(human, {"llm": dh.Qrels(judge)}, runs={**runs, "llm": own}).notes
    )
    values = {
        name: [dh.evaluate(labels, run, ["nDCG@10"])["nDCG@10"].values for labels in (human, judge)]
        for name, run in {**runs, "llm": own}.items()
    }
    bias = {name: two[1] - two[0] for name, two in values.items()}
    others = np.mean([bias[name] for name in runs], axis=0)
    (favour,) = [one for one in found.favours if one.system == "llm"]
    assert favour.difference == pytest.approx((bias["llm"] - others).mean())


def first_relevant(labels: dict[str, int], scores: dict[str, float]) -> float:
    """Return the mean over tie orders of the first relevant rank: m of r relevant in a tie of n, at t + (n+1)/(r+1)."""
    for level in sorted(set(scores.values()), reverse=True):
        tied = [doc for doc, score in scores.items() if score == level]
        relevant = sum(labels[doc] >= 1 for doc in tied)
        if relevant:
            return sum(score > level for score in scores.values()) + (len(tied) + 1) / (relevant + 1)
    return len(scores) + 1


def mean_rank(labels: dict[str, int], scores: dict[str, float]) -> float:
    ranks = scipy_stats.rankdata([-score for score in scores.values()])
    own = [rank for rank, doc in zip(ranks, scores, strict=True) if labels[doc] >= 1]
    return sum(own) / len(own) if own else len(scores) + 1


@pytest.mark.slow
@pytest.mark.parametrize(("name", "value"), [("FRP", first_relevant), ("MR", mean_rank)])
@pytest.mark.parametrize("seed", [1, 2])
def test_of_ranks_less_is_better(name: str, value: Callable[..., float], seed: int) -> None:
    """The favourite is better off by the judge than the others, and the best systems count more in `tau_ap`."""
    human, judge, runs = drawn(seed, 30)
    human = {q: {d: int(g == 2) for d, g in own.items()} for q, own in human.items()}
    judge = {q: {d: int(g == 2) for d, g in own.items()} for q, own in judge.items()}
    runs["poor"] = {q: {d: -score for d, score in own.items()} for q, own in runs["fair"].items()}
    runs["llm"] = {q: {d: g + 0.9 * human[q][d] for d, g in own.items()} for q, own in judge.items()}
    found = dh.judge_agreement(human, {"llm": dh.Qrels(judge)}, runs=runs, measures=name)
    (one,) = found.conclusions
    each = {
        system: [np.array([value(labels[q], run[q]) for q in human]) for labels in (human, judge)]
        for system, run in runs.items()
    }
    means = [[own[side].mean() for own in each.values()] for side in (0, 1)]
    assert [[own.baseline_mean for own in one.biases], [own.mean for own in one.biases]] == [
        pytest.approx(side) for side in means
    ]
    gains = {system: own[0] - own[1] for system, own in each.items()}
    helped = {
        system
        for system, own in gains.items()
        if own.mean() > np.mean([other.mean() for key, other in gains.items() if key != system])
    }
    assert one.favoured
    assert set(one.favoured) <= helped
    # Yilmaz et al.: of the systems above each one by the judge, the part that is above it by humans
    orders = [sorted(range(len(own)), key=own.__getitem__) for own in means]
    parts = [
        np.mean([orders[0].index(other) < orders[0].index(own) for other in orders[1][:place]])
        for place, own in enumerate(orders[1])
        if place
    ]
    assert one.tau_ap == pytest.approx(2 * np.mean(parts) - 1)
    favoured = format_list(list(one.favoured))
    assert f"favours {favoured}: do not decide on {favoured} by these labels" in " ".join(str(found).split())
    assert f"llm favours {favoured}" in found.to_html(full=True)
    facts: dict[str, Any] = {fact.key: fact.value for fact in report_judges(found).facts}
    assert facts[f"conclusions_llm, {one.measure.label}"]["favoured"] == list(one.favoured)
    kinds = {row["label"]: row["kind"] for row in rows_of(found.plot("judge_bias", measure=name))}
    assert {system for system, kind in kinds.items() if kind == "favoured"} == set(one.favoured)


@pytest.mark.slow
@needs_shared_data
def test_real_judges_agree_as_was_published() -> None:
    """As in table 2 of the challenge's overview (arXiv 2408.08896)."""
    judges = {name: llm_run(name) for name in LLM_RUNS}
    found = dh.judge_agreement(llm_qrels(), judges)
    human = dh.Qrels(llm_qrels()).to_polars()
    for name, path in judges.items():
        both = human.join(dh.Run(path).to_polars(), on=["query_id", "doc_id"])
        kappa = pytest.importorskip("sklearn.metrics").cohen_kappa_score(both["relevance"], both["score"])
        assert found[name].kappa == pytest.approx(kappa, abs=1e-12)
    published = {"willia-umbrela1": 0.2863, "Olz-gpt4o": 0.2625, "TREMA-4prompts": 0.1829}
    assert {name: found[name].kappa for name in published} == pytest.approx(published, abs=5e-5)
    assert found["willia-umbrela1"].alpha == pytest.approx(0.4918, abs=5e-5)
