"""evaluate(judge=): means from few human labels and many of a judge, against the formula and in simulations."""

from __future__ import annotations

import json
import re
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from scipy import stats as scipy_stats

import deadheat as dh
from deadheat import Scores
from deadheat.core.evaluation.intervals import IntervalOptions
from deadheat.core.report.as_data import as_json
from deadheat.core.report.of_evaluation import report_evaluations
from deadheat.errors import DataError, ParameterError
from deadheat.plugins.judges.predicted import Predicted
from deadheat.plugins.judges.prediction import powered_mean
from support.command import call, ok

if TYPE_CHECKING:
    from pathlib import Path

Labels = dict[str, dict[str, int]]
RNG = np.random.default_rng(3)
ALL: Labels = {f"q{q:03}": {f"d{d}": int(RNG.integers(0, 3)) for d in range(10)} for q in range(246)}
JUDGE: Labels = {
    q: {d: int(np.clip(g + RNG.choice([-1, 0, 0, 0, 1]), 0, 2)) for d, g in own.items()} for q, own in ALL.items()
}
HUMAN: Labels = dict(list(ALL.items())[::3])
RUN = {q: {d: g * 0.5 + float(RNG.integers(0, 3)) for d, g in own.items()} for q, own in ALL.items()}


def test_the_mean_is_that_of_prediction_powered_inference() -> None:
    found = dh.evaluate(HUMAN, RUN, ["nDCG@5", "NumRel"], judge=JUDGE)
    by_human, by_judge = (dh.evaluate(labels, RUN, "nDCG@5").to_dict() for labels in (HUMAN, JUDGE))
    known, same, others = (
        np.array([one[query]["nDCG@5"] for query in queries])
        for one, queries in ((by_human, HUMAN), (by_judge, HUMAN), (by_judge, sorted(ALL.keys() - HUMAN.keys())))
    )
    wanted, scores = powered_mean(known, same, others), found["nDCG@5"]
    assert scores.mean == pytest.approx(wanted.estimate, rel=1e-12)
    assert scores.human_mean == pytest.approx(known.mean(), rel=1e-12)
    interval = scores.interval("t")
    assert (interval.low, interval.high) == pytest.approx((wanted.low, wanted.high), rel=1e-9)
    assert interval.judge_weight == wanted.weight > 0
    assert interval.n_effective == pytest.approx(wanted.n_effective, rel=1e-12)
    assert wanted.n_effective > len(HUMAN)
    assert interval.alone is not None
    human = dh.evaluate(HUMAN, RUN, "nDCG@5")["nDCG@5"].interval("t")
    assert (interval.alone.low, interval.alone.high) == (human.low, human.high)
    assert interval.high - interval.low < human.high - human.low
    assert found["NumRel"].powered is None  # a total is of these queries
    assert found["NumRel"].total == sum(grade > 0 for own in HUMAN.values() for grade in own.values())


def fields_of(interval: dh.Interval) -> str:
    """Return all fields as text: from Python 3.13 on records with NaN are never equal."""
    return repr(asdict(interval))


@pytest.mark.parametrize("form", ["dicts", "files"])
def test_the_judge_counts_for_each_of_several_runs(form: str, tmp_path: Path) -> None:
    """Runs in files are placed together where nothing but the judgments is asked about."""
    runs: dict[str, Any] = {
        "a": RUN,
        "b": {query: {doc: -1.0 * score for doc, score in own.items()} for query, own in RUN.items()},
    }
    if form == "files":
        for name, run in runs.items():
            rows = (f"{query} Q0 {doc} 1 {score} x\n" for query, own in run.items() for doc, score in own.items())
            (tmp_path / f"{name}.run").write_text("".join(rows))
        runs = {name: tmp_path / f"{name}.run" for name in runs}
    found = dh.evaluate(HUMAN, runs, "nDCG@5", judge=JUDGE)
    for name, run in runs.items():
        alone = dh.evaluate(HUMAN, run, "nDCG@5", judge=JUDGE)["nDCG@5"]
        assert found[name]["nDCG@5"].mean == alone.mean
        assert fields_of(found[name]["nDCG@5"].interval("t")) == fields_of(alone.interval("t"))
        assert alone.powered is not None


def test_a_judge_that_adds_nothing_leaves_all_as_it_was() -> None:
    constant = {query: dict.fromkeys(own, 1) for query, own in ALL.items()}
    scores = dh.evaluate(HUMAN, RUN, "nDCG@5", judge=constant)["nDCG@5"]
    human = dh.evaluate(HUMAN, RUN, "nDCG@5")["nDCG@5"]
    assert scores.mean == human.mean
    own, alone = scores.interval(), human.interval()
    assert (own.low, own.high, own.judge_weight, own.alone) == (alone.low, alone.high, 0, None)


def test_strata_have_the_judge_of_their_queries(tmp_path: Path) -> None:
    """Each is what it would be if there were no other queries."""
    kind = {query: "even" if n % 2 else "odd" for n, query in enumerate(ALL)}
    lines = [f"{query},{one},{query[1]}\n" for query, one in kind.items()]
    (tmp_path / "queries.csv").write_text("query_id,kind,ten\n" + "".join(lines), encoding="utf-8")
    strata = dh.evaluate(HUMAN, RUN, ["nDCG@5", "NumRel"], judge=JUDGE).by("kind", tmp_path / "queries.csv")
    assert list(strata) == ["even", "odd"]
    assert strata.averages()["micro"][0] == strata.whole["nDCG@5"].mean
    both = strata.whole.by(["kind", "ten"], tmp_path / "queries.csv").averages(within="kind")
    for name, part in strata.items():
        micro = both.filter(kind=name, measure="nDCG@5")["micro"].item()
        assert micro == pytest.approx(part["nDCG@5"].mean, rel=1e-12)
        human, judge = ({q: own for q, own in one.items() if kind[q] == name} for one in (HUMAN, JUDGE))
        alone = dh.evaluate(human, RUN, "nDCG@5", judge=judge)["nDCG@5"].interval("t")
        found = part["nDCG@5"].interval("t")
        assert fields_of(found) == fields_of(alone)
        assert found.judge_weight
        assert strata.summary("t").filter(kind=name, measure="nDCG@5")["mean"].item() == alone.mean


def test_a_stratum_without_a_value_needs_no_labels_of_the_judge() -> None:
    human: Labels = {"q1": {"a": 1}, "q2": {"a": 1}, "q3": {"a": 0}}
    judge: Labels = {"q1": {"a": 1}, "q2": {"a": 1}, "q4": {"a": 1}}
    run = {query: ["a", "b"] for query in ("q1", "q2", "q3", "q4")}
    table = {query: {"l": "z" if query == "q3" else "x"} for query in run}
    strata = dh.evaluate(human, run, "RR", judge=judge, no_relevant="skip").by("l", table)
    assert (strata["x"].means(), strata["z"]["RR"].n_queries) == ({"RR": 1.0}, 0)
    assert strata.averages()["macro"].to_list() == [1.0]


def test_weights_count_in_all_three_means() -> None:
    """With a weight in place of the folds' (50 queries or more), by the definition of a weighted mean."""
    rng = np.random.default_rng(8)
    weights = {query: float(rng.integers(1, 5)) for query in ALL}
    human = dict(list(ALL.items())[:50])
    scores = dh.evaluate(human, RUN, "nDCG@5", judge=JUDGE, weights=weights)["nDCG@5"]
    by_human, by_judge = (dh.evaluate(labels, RUN, "nDCG@5").to_dict() for labels in (human, JUDGE))
    own, others = ([*human], [query for query in ALL if query not in human])
    w, v = (np.array([weights[query] for query in some]) for some in (own, others))
    y, f = (np.array([one[query]["nDCG@5"] for query in own]) for one in (by_human, by_judge))
    g = np.array([by_judge[query]["nDCG@5"] for query in others])
    interval = scores.interval("t")
    weight = interval.judge_weight
    assert weight
    assert 0 < weight < 1
    means = np.average(y, weights=w), np.average(f, weights=w), np.average(g, weights=v)
    assert interval.mean == pytest.approx(means[0] + weight * (means[2] - means[1]), abs=1e-12)
    # the jackknife's error of a ratio of sums
    own_error = ((w * (y - weight * f - means[0] + weight * means[1]) / (w.sum() - w)) ** 2).sum() * 49 / 50
    error = own_error + weight**2 * ((v * (g - means[2]) / (v.sum() - v)) ** 2).sum() * 195 / 196
    alone = ((w * (y - means[0]) / (w.sum() - w)) ** 2).sum() * 49 / 50
    kish = w.sum() ** 2 / (w**2).sum()
    assert interval.n_effective == pytest.approx(kish * alone / error, rel=1e-9)
    equal = dh.evaluate(HUMAN, RUN, "nDCG@5", judge=JUDGE, weights=dict.fromkeys(ALL, 2.0))["nDCG@5"]
    plain = dh.evaluate(HUMAN, RUN, "nDCG@5", judge=JUDGE)["nDCG@5"]
    assert (equal.mean, equal.interval("t").low) == pytest.approx((plain.mean, plain.interval("t").low), rel=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("n", [10, 25])
def test_weighted_intervals_hold_their_level(n: int) -> None:
    """Weights that values hang on, few queries with human labels; the truth is the weighted mean of many."""
    rng = np.random.default_rng(n)

    def drawn(n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        shared = rng.normal(size=n)
        return np.exp(0.9 * rng.normal(size=n) + 0.2 * shared), shared + rng.normal(size=n), shared

    weights, values, _ = drawn(10**6)
    truth, covered, narrower = np.average(values, weights=weights), 0, 0
    for _ in range(400):
        (w, y, f), (v, _, g) = drawn(n), drawn(200)
        both = powered_mean(y, f, g, weights=w, other_weights=v)
        alone = powered_mean(y, f, np.zeros(0), weights=w)
        covered += both.low <= truth <= both.high
        narrower += both.high - both.low < alone.high - alone.low
    assert covered >= 0.92 * 400
    assert narrower > 200


def test_few_human_labels_make_a_mean_alone() -> None:
    """Of 39 labelled queries, or as few by weight; a difference may use the judge."""
    few = dict(list(HUMAN.items())[:39])
    found = dh.evaluate(few, RUN, "nDCG@5", judge=JUDGE)
    interval = found["nDCG@5"].interval()
    human = dh.evaluate(few, RUN, "nDCG@5")["nDCG@5"].interval()
    assert interval.judge_weight == 0
    assert (interval.mean, interval.low, interval.high) == (human.mean, human.low, human.high)
    text = " ".join(str(found.to_markdown()).split())
    assert "human labels alone make 1 of 1 mean: the judge counts from 40 labelled queries on" in text
    weights = {query: 9.0 if n % 5 else 1.0 for n, query in enumerate(ALL)}
    assert dh.evaluate(few | dict(list(HUMAN.items())[:44]), RUN, "nDCG@5", judge=JUDGE)["nDCG@5"].is_estimated
    by_weight = dh.evaluate(dict(list(HUMAN.items())[:44]), RUN, "nDCG@5", judge=JUDGE, weights=weights)["nDCG@5"]
    assert by_weight.n_effective < 40
    assert not by_weight.is_estimated


def test_what_it_does_not_go_with() -> None:
    found = dh.evaluate(HUMAN, RUN, "nDCG@5", judge=JUDGE)
    with pytest.raises(ParameterError, match="cluster"):
        found["nDCG@5"].interval(cluster=[1, 2] * 41)
    with pytest.raises(DataError, match="164 queries without a weight"):
        found.weighted(dict.fromkeys(HUMAN, 1.0))
    with pytest.raises(ParameterError, match="cannot be saved"):
        found.save("x.json")
    with pytest.raises(DataError, match="2 of 82 queries"):
        dh.evaluate(HUMAN, RUN, "nDCG@5", judge=dict(list(JUDGE.items())[5:]))
    assert found.select(np.arange(82) < 9)["nDCG@5"].powered is None


def test_what_would_mix_two_estimates_is_refused(tmp_path: Path) -> None:
    """Means are estimated with the judge's labels; what compares values would do so by human labels alone."""
    found = dh.evaluate(HUMAN, RUN, "nDCG@5", judge=JUDGE).called("judged")
    human = dh.evaluate(HUMAN, RUN, "nDCG@5").called("human")
    table = {query: {"kind": "even" if int(query[1:]) % 2 else "odd"} for query in ALL}
    both = {"judged": found, "human": human}
    queries = {query: {"language": "en" if int(query[1:]) % 2 else "fr", "pair_id": query} for query in ALL}
    refused: dict[str, Any] = {
        "a history": lambda: dh.history([human, found]),
        "a history ": lambda: dh.history([human], reference=found),
        "a leaderboard": lambda: dh.leaderboard({"task": both}),
        "a comparison of evaluations": lambda: dh.compare_evaluations(both),
        "a comparison of languages": lambda: dh.compare_languages({"en": found, "fr": human}),
        "a comparison of languages ": lambda: dh.compare_languages({"a": found}, queries=queries),
        "a baseline": lambda: dh.gate(found, baseline=human),
        "a baseline ": lambda: dh.gate(human, baseline=found),
        "a check of strata": lambda: dh.gate(found, "nDCG@5 >= 0.1", by="kind", queries=table),
        "cannot check 'tie_min": lambda: dh.gate(found, "tie_min(nDCG@5) >= 0.1"),
        "judge must be None with unjudged='bounds'": lambda: dh.evaluate(
            HUMAN, RUN, "nDCG@5", judge=JUDGE, unjudged="bounds"
        ),
        "judge must be None with unjudged='bounds' ": lambda: dh.compare(
            HUMAN, {"a": RUN, "b": RUN}, "nDCG@5", judge=JUDGE, unjudged="bounds"
        ),
    }
    for message, action in refused.items():
        with pytest.raises(ParameterError, match=re.escape(message.strip())):
            action()
    human.save(tmp_path / "human.json")
    with pytest.raises(ParameterError, match="a history"):
        dh.history([tmp_path / "human.json", found])


def test_a_mean_with_a_judge_has_no_tie_range_that_is_not_its_own() -> None:
    """The range over tie orders is of the human labels, and may lie beside the estimate: it has names of its own."""
    found = dh.evaluate(HUMAN, RUN, "nDCG@5", judge=JUDGE)
    human = dh.evaluate(HUMAN, RUN, "nDCG@5")["nDCG@5"]
    scores = found["nDCG@5"]
    assert np.isnan([scores.mean_tie_std, scores.mean_tie_min, scores.mean_tie_max]).all()
    own = (scores.human_tie_std, scores.human_tie_min, scores.human_tie_max)
    assert own == (human.mean_tie_std, human.mean_tie_min, human.mean_tie_max)
    assert human.human_tie_max == human.mean_tie_max
    flat = found.to_flat()
    assert flat["ndcg_at_5"] == scores.mean
    assert "ndcg_at_5.tie_min" not in flat
    interval = scores.interval()
    assert np.isnan(interval.tie_standard_error)
    assert interval.alone is not None
    assert interval.alone.tie_standard_error == human.mean_tie_std
    strata = found.by("kind", {query: {"kind": "all"} for query in ALL}).summary()
    assert strata["mean"].item() == scores.mean
    assert strata["tie_min"].item() is None
    assert scores.quantile(0.5).mean == scores.human_mean
    row = json.loads(as_json(report_evaluations([found], "human")))
    assert row["scores"]["run"]["nDCG@5"]["tie_min"] is None
    assert row["judge"]["run"]["nDCG@5"]["human_tie_min"] == human.mean_tie_min
    text = " ".join(str(found).split())
    assert "no order of equal scores changes any value" not in text
    assert "tie order by human labels moves nDCG@5 of run by up to" in text
    useless = dh.evaluate(HUMAN, RUN, "nDCG@5", judge={query: dict.fromkeys(own, 1) for query, own in ALL.items()})
    assert useless["nDCG@5"].mean_tie_min == human.mean_tie_min  # the mean is that of human labels


def test_thresholds_of_gates_are_of_the_estimate() -> None:
    found = dh.evaluate(HUMAN, RUN, "nDCG@5", judge=JUDGE)
    low = found["nDCG@5"].interval().low
    assert dh.gate(found, f"low(nDCG@5) >= {low - 1e-9}").passed
    assert not dh.gate(found, f"low(nDCG@5) >= {low + 1e-6}").passed
    assert dh.gate(found, f"nDCG@5 >= {found['nDCG@5'].mean - 1e-9}").passed


def test_intervals_with_and_without_the_judge_are_made_once_and_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of the human labels alone are Student's t, if that is the method asked for."""
    evaluation, calls = dh.evaluate(HUMAN, RUN, "nDCG@5", judge=JUDGE), []
    intervals = dh.Evaluation.intervals

    def counted(self: dh.Evaluation, **options: Any) -> Any:  # noqa: ANN401 - as it is
        calls.append(options)
        return intervals(self, **options)

    monkeypatch.setattr(dh.Evaluation, "intervals", counted)
    report = report_evaluations([evaluation], "human", intervals=IntervalOptions(method="t"))
    row = json.loads(as_json(report))["judge"]["run"]["nDCG@5"]
    human = dh.evaluate(HUMAN, {query: RUN[query] for query in HUMAN}, "nDCG@5")["nDCG@5"].values
    wanted = scipy_stats.t.interval(0.95, len(human) - 1, human.mean(), scipy_stats.sem(human))
    assert (row["human_low"], row["human_high"]) == pytest.approx(wanted)
    assert len(calls) == 1


@pytest.mark.slow
def test_commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, labels in (("human", HUMAN), ("llm", JUDGE)):
        rows = [f"{query} 0 {doc} {grade}\n" for query, own in labels.items() for doc, grade in own.items()]
        (tmp_path / f"{name}.txt").write_text("".join(rows), encoding="utf-8")
    rows = [f"{query} Q0 {doc} 1 {score} x\n" for query, own in RUN.items() for doc, score in own.items()]
    (tmp_path / "one.run").write_text("".join(rows), encoding="utf-8")
    found = dh.evaluate(HUMAN, RUN, "nDCG@5", judge=JUDGE)["nDCG@5"]
    document = json.loads(ok("evaluate", "human.txt", "one.run", "--judge", "llm.txt", "-m", "nDCG@5", "--format=json"))
    row = document["judge"]["one"]["nDCG@5"]
    interval = found.interval()
    assert interval.alone is not None
    told = [row[name] for name in ("human", "with", "judge_low", "judge_high", "human_low", "weight", "n_effective")]
    wanted = [found.human_mean, found.mean, interval.low, interval.high, interval.alone.low]
    assert told == pytest.approx([*wanted, interval.judge_weight, interval.n_effective])
    out = " ".join(ok("evaluate", "human.txt", "one.run", "--judge", "llm.txt", "-m", "nDCG@5").split())
    assert "labelled 164 queries beside 82 with human labels, which must be a random sample of all" in out
    assert f" {interval.n_effective:.1f}\n" in ok("evaluate", "human.txt", "one.run", "--judge=llm.txt", "-m", "nDCG@5")
    kinds = [f"{query},{'even' if n % 2 else 'odd'},{n + 1}\n" for n, query in enumerate(ALL)]
    (tmp_path / "queries.csv").write_text("query_id,kind,asked\n" + "".join(kinds), encoding="utf-8")
    options = ("--judge", "llm.txt", "--queries", "queries.csv", "-m", "nDCG@5", "--format=json")
    own = json.loads(ok("evaluate", "human.txt", "one.run", "--by", "kind", *options))["judge"]
    strata = dh.evaluate(HUMAN, RUN, "nDCG@5", judge=JUDGE).by("kind", "queries.csv")
    assert {name: one["one"]["nDCG@5"]["with"] for name, one in own.items()} == {
        name: one["nDCG@5"].mean for name, one in strata.items()
    }
    own = json.loads(ok("evaluate", "human.txt", "one.run", "--weights", "asked", *options))["judge"]["one"]["nDCG@5"]
    weighted = dh.evaluate(HUMAN, RUN, "nDCG@5", judge=JUDGE, weights="asked", queries="queries.csv")["nDCG@5"]
    assert (own["with"], own["human"]) == (weighted.mean, weighted.human_mean)
    assert "--judge" in call("evaluate", "human.txt", "one.run", "--judge", "llm.txt", "--save", "x.json").stderr
    gates = ("gate", "human.txt", "one.run", "--judge", "llm.txt")
    assert call(*gates, "-c", f"low(nDCG@5) >= {interval.low - 1e-6}").exit_code == 0
    assert call(*gates, "-c", f"low(nDCG@5) >= {interval.low + 1e-6}").exit_code == 1


@pytest.mark.slow
@pytest.mark.parametrize("n", [10, 25, 40])
def test_intervals_cover_as_those_of_human_labels_do(n: int) -> None:
    """Values between 0 and 1 that pile up at 1, with a judge that correlates at about 0.6, of 100 more queries."""
    rng = np.random.default_rng(n)
    spread = dh.evaluate(HUMAN, RUN, "nDCG@5")["nDCG@5"].spread
    covered = {"both": 0, "alone": 0}
    truth = np.clip(rng.normal(0.7, 0.3, 10**6), 0, 1).mean()
    for _ in range(200):
        shared = rng.normal(0, 0.23, n + 100)
        human, judge = (np.clip(0.7 + shared + rng.normal(0, 0.19, n + 100), 0, 1) for _ in range(2))
        ids = np.array([f"q{q}" for q in range(n)], object)
        scores = Scores(
            spread.measure,
            ids,
            human[:n],
            spread,
            rows=np.arange(n) % 20,
            parts={"judge": Predicted(judge[:n], judge[n:], None)},
        )
        own = scores.interval(n_resamples=400)
        covered["both"] += own.low <= truth <= own.high
        alone = own.alone or own
        covered["alone"] += alone.low <= truth <= alone.high
    assert covered["both"] / 200 >= 0.93
    assert covered["both"] >= covered["alone"] - 6


@pytest.mark.slow
@pytest.mark.parametrize("n", [5, 10, 25, 40])
def test_intervals_of_skewed_values_cover(n: int) -> None:
    """Of values of which four in five are 0, with a judge that is right on nine in ten queries, of 200 more."""
    rng = np.random.default_rng(n)
    spread = dh.evaluate(HUMAN, RUN, "nDCG@5")["nDCG@5"].spread
    covered = 0
    for _ in range(200):
        human, other = np.where(rng.random((2, n + 200)) < 0.8, 0.0, rng.random((2, n + 200)))
        judge = np.where(rng.random(n + 200) < 0.9, human, other)
        scores = Scores(
            spread.measure,
            np.array([f"q{q}" for q in range(n)], object),
            human[:n],
            spread,
            rows=np.arange(n),
            parts={"judge": Predicted(judge[:n], judge[n:], None)},
        )
        own = scores.interval(n_resamples=400)
        covered += own.low <= 0.1 <= own.high
    assert covered >= 0.93 * 200
