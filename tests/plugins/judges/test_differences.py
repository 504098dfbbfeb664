"""compare(judge=): differences from few human labels and many of a judge."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy import stats

import deadheat as dh
from deadheat.core.report.cells import format_cell
from deadheat.core.report.shown import report_of
from deadheat.errors import DataError, FigureError, ParameterError
from deadheat.plugins.compare.margins import estimated_within
from deadheat.plugins.judges.prediction import powered_mean
from deadheat.plugins.judges.sampling import sample_doubt, strata_doubt
from support.command import call, ok

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

Labels = dict[str, dict[str, int]]
RNG = np.random.default_rng(3)
ALL: Labels = {f"q{q:02}": {f"d{d}": int(RNG.integers(0, 3)) for d in range(10)} for q in range(60)}
JUDGE: Labels = {
    q: {d: int(np.clip(g + RNG.choice([-1, 0, 0, 0, 1]), 0, 2)) for d, g in own.items()} for q, own in ALL.items()
}
HUMAN: Labels = dict(list(ALL.items())[::3])
RUNS = {
    name: {q: {d: g * skill + float(RNG.integers(0, 3)) for d, g in own.items()} for q, own in ALL.items()}
    for name, skill in (("good", 0.9), ("poor", 0.3))
}
USELESS: Labels = {q: {d: int(RNG.integers(0, 3)) for d in own} for q, own in ALL.items()}


def values(labels: Labels, queries: list[str]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    found = [dh.evaluate(labels, RUNS[name], ["nDCG@5"]).to_dict() for name in ("poor", "good")]
    return np.array([found[0][query]["nDCG@5"] - found[1][query]["nDCG@5"] for query in queries])


def test_the_difference_is_that_of_prediction_powered_inference() -> None:
    (pair,) = dh.compare(HUMAN, RUNS, "nDCG@5", judge=JUDGE).pairs
    others = [query for query in ALL if query not in HUMAN]
    known, predicted = (values(labels, list(HUMAN)) for labels in (HUMAN, JUDGE))
    expected = powered_mean(known, predicted, values(JUDGE, others))
    assert 0 < pair.judge_weight < 1
    assert pair.judge_weight == pytest.approx(expected.weight)
    assert (pair.difference, pair.low, pair.high) == pytest.approx((expected.estimate, expected.low, expected.high))
    assert pair.p_adjusted == pair.p_value == pytest.approx(expected.p_value)
    assert pair.judged is not None
    assert pair.judged.n_others == 40
    assert pair.judged.n_effective > len(HUMAN)
    (human,) = dh.compare(HUMAN, RUNS, "nDCG@5").pairs
    assert (pair.judged.difference, pair.judged.p_value) == (human.difference, human.p_value)
    assert pair.high - pair.low < human.high - human.low
    assert np.isnan(human.judge_weight)
    assert pair.method == "ppi"
    (as_run,) = dh.compare(HUMAN, RUNS, "nDCG@5", judge=dh.Run(JUDGE)).pairs
    assert (as_run.difference, as_run.p_value) == (pair.difference, pair.p_value)


def test_a_judge_that_reverses_the_difference_is_said_so() -> None:
    """Of 20 queries that humans judged, 11 are for A; of 300 that the judge did, a third: no two scores tie."""
    is_for_a = {f"q{n:03}": n < 11 if n < 20 else n % 3 == 0 for n in range(300)}
    judge = {query: {"a": int(own), "b": int(not own)} for query, own in is_for_a.items()}
    runs = {"A": {query: {"a": 2, "b": 1} for query in judge}, "B": {query: {"a": 1, "b": 2} for query in judge}}
    found = dh.compare({q: judge[q] for q in list(judge)[:20]}, runs, "P@1", judge=judge)
    (pair,) = found.pairs
    assert (pair.mean, pair.baseline_mean) == pytest.approx((9 / 20, 11 / 20))
    assert pair.difference > 0 > pair.expected_difference
    verdict = found.verdict
    assert (verdict.outcome, verdict.leader) == ("contradicted", "A")
    assert verdict.headline.startswith("No clear winner: A leads B ")
    assert verdict.facts["P@1"].startswith("A 0.5500, B 0.4500 by human ")
    assert verdict.facts["doubt"].endswith(" B is ahead")
    assert verdict.facts["difference"].endswith(", with the judge's labels")
    assert "ties" not in verdict.facts


def test_equal_human_means_are_not_called_no_difference() -> None:
    """Of 20 queries that humans judged, ten are for A; of 300 that the judge did, two thirds."""
    is_for_a = {f"q{n:03}": n % 2 == 0 if n < 20 else n % 3 > 0 for n in range(300)}
    judge = {query: {"a": int(own), "b": int(not own)} for query, own in is_for_a.items()}
    runs = {"A": {query: {"a": 2, "b": 1} for query in judge}, "B": {query: {"a": 1, "b": 2} for query in judge}}
    found = dh.compare({q: judge[q] for q in list(judge)[:20]}, runs, "P@1", judge=judge)
    (pair,) = found.pairs
    assert pair.mean == pair.baseline_mean == 0.5
    assert pair.is_estimated
    verdict = found.verdict
    assert (verdict.outcome, verdict.leader) == ("same mean", None)
    assert verdict.headline.startswith("No clear winner: ")
    assert "same mean P@1 by human labels" in verdict.headline
    assert verdict.facts["difference"].endswith(", with the judge's labels")


def test_margins_test_the_difference_that_is_shown() -> None:
    """By Student's t of the estimate; "no worse" where the one-sided bound of its interval is above the margin."""
    found = dh.compare(HUMAN, RUNS, "nDCG@5", judge=JUDGE)
    (pair,) = found.pairs
    assert pair.is_estimated
    for alternative in (0.9, 1.1):
        margin = abs(pair.difference) * alternative
        row = found.equivalence(margin).row(0, named=True)
        t = stats.t(len(HUMAN) - 1)
        tails = [t.sf((margin + side * pair.difference) / pair.standard_error) for side in (1, -1)]
        assert row["difference"] == pair.difference
        assert row["p_no_worse"] == pytest.approx(tails[0])
        assert row["p_equivalent"] == pytest.approx(max(tails))
        human = dh.compare(HUMAN, RUNS, "nDCG@5").equivalence(margin).row(0, named=True)
        assert abs(human["p_no_worse"] - row["p_no_worse"]) > 1e-3
        assert found.judge(margin).no_worse == row["no_worse"]
    (wide,) = dh.compare(HUMAN, RUNS, "nDCG@5", judge=JUDGE, confidence_level=0.9).pairs
    assert found.equivalence(-wide.low + 1e-6)["no_worse"].item()
    assert not found.equivalence(-wide.low - 1e-6)["no_worse"].item()
    less_is_better = dh.compare(HUMAN, RUNS, "MR", judge=JUDGE)
    (pair,) = less_is_better.pairs
    assert pair.is_estimated
    tail = stats.t(pair.n_queries - 1).sf((2.0 - pair.difference) / pair.standard_error)
    assert less_is_better.equivalence(2.0)["p_no_worse"].item() == pytest.approx(tail)


@pytest.mark.slow
def test_systems_that_are_worse_by_the_margin_are_rarely_shown_no_worse() -> None:
    """The true difference is the margin: in 2,000 drawn samples of 25 queries, and 200 of a judge, at the level 5%."""
    rng = np.random.default_rng(4)
    found = dh.compare(HUMAN, RUNS, "nDCG@5", judge=JUDGE)
    (drawn,) = found.pairs
    assert drawn.judged is not None
    margin, n_shown, n_helped, n_drawn = 0.1, 0, 0, 2_000
    for _ in range(n_drawn):
        shared, others = rng.normal(size=25), rng.normal(size=200)
        known = -margin + 0.2 * (shared + 0.6 * rng.normal(size=25))
        predicted = 0.2 * (shared + 0.6 * rng.normal(size=25))
        estimate = powered_mean(known, predicted, 0.2 * (others + 0.6 * rng.normal(size=200)))
        pair = replace(
            drawn,
            difference=estimate.estimate,
            standard_error=estimate.standard_error,
            n_queries=25,
            judged=replace(drawn.judged, weight=estimate.weight),
        )
        n_helped += pair.is_estimated
        n_shown += estimated_within(pair, margin, 1.0, found.design).no_worse
    assert n_helped > 0.95 * n_drawn
    assert 0.03 < n_shown / n_drawn < 0.07


def test_a_plan_takes_the_error_of_the_difference_that_is_shown() -> None:
    """The power by the noncentral t distribution, of the standard error with the judge's labels."""
    found = dh.compare(HUMAN, RUNS, "nDCG@5", judge=JUDGE)
    (pair,) = found.pairs
    row = found.sample_sizes(0.1).row(0, named=True)
    freedom = len(HUMAN) - 1
    critical, shift = stats.t(freedom).ppf(0.975), 0.1 / pair.standard_error
    power = stats.nct.sf(critical, freedom, shift) + stats.nct.cdf(-critical, freedom, shift)
    assert row["power"] == pytest.approx(power, rel=1e-6)
    assert row["std"] == pytest.approx(pair.standard_error * np.sqrt(len(HUMAN)))
    human = dh.compare(HUMAN, RUNS, "nDCG@5").sample_sizes(0.1).row(0, named=True)
    assert row["n_needed"] < human["n_needed"]


def test_rows_name_what_is_by_human_labels_alone() -> None:
    """A row of a pair has two sets of columns: the difference with the judge, and all that is by human labels."""
    found = dh.compare(HUMAN, RUNS, ["nDCG@5", "NumRelRet"], judge=JUDGE)
    pair, total = found.pairs
    row = found.to_polars(details=True).row(0, named=True)
    mixed = {"mean", "baseline_mean", "effect_size", "std", "wins", "draws", "losses", "flip_probability"}
    assert mixed.isdisjoint(row)
    assert {name: row[f"human_{name}"] for name in mixed} == {name: getattr(pair, name) for name in mixed}
    assert row["human_mean"] - row["human_baseline_mean"] == pytest.approx(row["human_difference"])
    assert row["human_difference"] / row["human_std"] == pytest.approx(row["human_effect_size"])
    assert row["difference"] == pair.difference != row["human_difference"]
    assert mixed <= set(dh.compare(HUMAN, RUNS, "nDCG@5").to_polars(details=True).columns)
    flat = found.to_flat()
    assert flat["ndcg_at_5.good.human_mean"] == pair.baseline_mean
    of_pair = {name.rpartition(".")[2]: flat[name] for name in flat if name.startswith("ndcg_at_5.poor_vs_good.")}
    assert (of_pair["difference"], of_pair["human_wins"]) == (pair.difference, pair.wins)
    assert "effect_size" not in of_pair
    assert "ndcg_at_5.good" not in flat
    assert total.judge_weight == 0  # a total is of these queries alone
    assert total.difference == dh.compare(HUMAN, RUNS, "NumRelRet").pairs[0].difference
    assert f"by human labels {pair.wins} wins" in repr(pair)
    text = found.to_markdown()
    (means,) = re.findall("nDCG@5: means.*", text)
    (differences,) = re.findall("nDCG@5: differences.*", text)
    assert "by human labels alone" in means
    assert "with the judge's labels" in differences
    assert found.verdict.headline.startswith("good beats poor")
    facts = found.verdict.facts
    assert facts["nDCG@5"] == f"good {pair.baseline_mean:.4f}, poor {pair.mean:.4f} by human labels"
    assert facts["difference"].endswith(", with the judge's labels")
    assert facts["ties"].endswith(", by human labels")


def test_what_would_be_by_human_labels_alone_is_refused() -> None:
    found = dh.compare(HUMAN, RUNS, "nDCG@5", judge=JUDGE)
    own = dh.evaluate(HUMAN, RUNS["good"], "nDCG@5", judge=JUDGE)
    refused: dict[str, Callable[[], object]] = {
        "a range of ranks": found.rank_intervals,
        "an order of systems": found.orders,
        "a page": lambda: found.to_html(full=True),
        "a page ": lambda: own.to_html(full=True),
    }
    for message, action in refused.items():
        with pytest.raises(ParameterError, match=message.strip()):
            action()
    drawn: list[Callable[[], object]] = [
        found.plot,
        own.plot,
        lambda: dh.figures.forest(found),
        lambda: dh.figures.forest(systems=[own]),
        lambda: own.by("half", {q: {"half": q < "q30"} for q in ALL}).plot(),
    ]
    for draw in drawn:
        with pytest.raises(FigureError, match="judge"):
            draw()


def test_one_sided_p_values() -> None:
    both, greater, less = (
        dh.compare(HUMAN, RUNS, "nDCG@5", judge=JUDGE, alternative=name).pairs[0]
        for name in ("two-sided", "greater", "less")
    )
    t = both.difference / both.standard_error
    assert greater.p_value == pytest.approx(stats.t.sf(t, len(HUMAN) - 1))
    assert less.p_value == pytest.approx(stats.t.cdf(t, len(HUMAN) - 1))


def test_a_judge_that_knows_nothing_changes_nothing() -> None:
    found = dh.compare(HUMAN, RUNS, "nDCG@5", judge={q: {d: 2 - g for d, g in own.items()} for q, own in JUDGE.items()})
    human = dh.compare(HUMAN, RUNS, "nDCG@5")
    assert found.pairs[0].judge_weight == 0
    assert found.pairs[0].p_adjusted == human.pairs[0].p_adjusted
    assert (found.pairs[0].low, found.pairs[0].high) == (human.pairs[0].low, human.pairs[0].high)
    assert "adds nothing to 1 of 1 difference" in " ".join(str(found).split())


def test_weights_count_in_all_means() -> None:
    """The difference is the mean of the differences of one system's values, as an evaluation weighs them."""
    weights = {query: 1.0 + n % 4 for n, query in enumerate(JUDGE)}
    (pair,) = dh.compare(HUMAN, RUNS, "nDCG@5", judge=JUDGE, weights=weights).pairs
    assert pair.judged is not None
    each = [[dh.evaluate(labels, run, "nDCG@5")["nDCG@5"] for run in RUNS.values()] for labels in (HUMAN, JUDGE)]
    human, judge = (one[0].values - one[1].values for one in each)
    ids, own = each[1][0].query_ids, np.isin(each[1][0].query_ids, each[0][0].query_ids)
    w = np.array([weights[query] for query in ids])
    wanted = powered_mean(human, judge[own], judge[~own], weights=w[own], other_weights=w[~own])
    sign = 1 if (pair.system, pair.baseline) == tuple(RUNS) else -1
    assert pair.difference == pytest.approx(sign * wanted.estimate, rel=1e-9)
    assert pair.standard_error == pytest.approx(wanted.standard_error, rel=1e-9)
    assert pair.judged.weight == pytest.approx(wanted.weight, rel=1e-9)
    assert pair.judged.difference == pytest.approx(sign * np.average(human, weights=w[own]), rel=1e-9)


@pytest.mark.slow
def test_saved_evaluations_are_scored_again_by_the_judge(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, run in RUNS.items():
        dh.evaluate(HUMAN, run, "nDCG@5").called(name).save(f"{name}.json")
    rows = [f"{query} 0 {doc} {grade}\n" for query, own in JUDGE.items() for doc, grade in own.items()]
    (tmp_path / "llm.txt").write_text("".join(rows), encoding="utf-8")
    names = [f"{name}.json" for name in RUNS]
    document = json.loads(ok("compare", *names, "--judge", "llm.txt", "--format", "json"))
    (pair,) = dh.compare(HUMAN, RUNS, "nDCG@5", judge=JUDGE).pairs
    (again,) = dh.compare_evaluations(names, judge="llm.txt").pairs
    assert (again.difference, again.low) == pytest.approx((pair.difference, pair.low), rel=1e-9)
    weights = {query: 1.0 + n % 4 for n, query in enumerate(JUDGE)}
    (weighted,) = dh.compare_evaluations(names, judge="llm.txt", weights=weights).pairs
    (wanted,) = dh.compare(HUMAN, RUNS, "nDCG@5", judge=JUDGE, weights=weights).pairs
    assert (weighted.difference, weighted.judge_weight) == pytest.approx((wanted.difference, wanted.judge_weight))
    row = document["pairs"][pair.system][pair.baseline]["nDCG@5"]
    assert row["judge_weight"] == pytest.approx(pair.judge_weight)
    assert row["difference"] == pytest.approx(pair.difference, rel=1e-9)


def test_a_saved_ranking_lacks_a_query_of_the_judge_as_its_run_does() -> None:
    lost = next(query for query in JUDGE if query not in HUMAN)
    first, *others = RUNS
    runs = {first: {query: own for query, own in RUNS[first].items() if query != lost}, **{n: RUNS[n] for n in others}}
    saved = {name: dh.evaluate(HUMAN, run, "nDCG@5", missing="empty").called(name) for name, run in runs.items()}
    (pair,) = dh.compare(HUMAN, runs, "nDCG@5", judge=JUDGE, missing="empty").pairs
    (again,) = dh.compare_evaluations(saved, judge=JUDGE).pairs
    assert (again.difference, again.judge_weight) == pytest.approx((pair.difference, pair.judge_weight), rel=1e-9)


def test_strata_have_the_judge_of_their_queries() -> None:
    queries = {q: {"half": "first" if q < "q30" else "second"} for q in ALL}
    parts = dh.compare(HUMAN, RUNS, "nDCG@5", judge=JUDGE).by("half", queries)
    for name, part in parts.items():
        own = {q for q, labels in queries.items() if labels["half"] == name}
        (alone,) = dh.compare(
            {q: labels for q, labels in HUMAN.items() if q in own},
            RUNS,
            "nDCG@5",
            judge={q: labels for q, labels in JUDGE.items() if q in own},
        ).pairs
        (pair,) = part.pairs
        assert (pair.difference, pair.p_value, pair.judge_weight) == pytest.approx(
            (alone.difference, alone.p_value, alone.judge_weight)
        )


def test_queries_that_are_no_sample_are_told() -> None:
    """Only queries on which both systems do well have human labels."""
    runs = {name: {q: dict(own) for q, own in run.items()} for name, run in RUNS.items()}
    easy = set(list(ALL)[:15])
    for run in runs.values():
        for query in easy:
            run[query] = {d: float(g) for d, g in JUDGE[query].items()}
        for query in set(ALL) - easy:
            run[query] = {d: -float(g) for d, g in JUDGE[query].items()}
    found = dh.compare({q: ALL[q] for q in sorted(easy)}, runs, "nDCG@5", judge=JUDGE)
    assert "are these a random sample?" in " ".join(str(found).split())
    assert "are these a random sample?" not in " ".join(str(dh.compare(HUMAN, RUNS, "nDCG@5", judge=JUDGE)).split())


@pytest.mark.slow
def test_queries_of_other_strata_are_no_sample(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Against the exact hypergeometric distribution of two strata."""
    for known, others in (([18, 2], [22, 18]), ([15, 0], [5, 20]), ([3, 9], [9, 27])):
        one, other = np.array(known), np.array(others)
        both, n = one + other, one.sum()
        counts = np.arange(n + 1)
        chance = stats.hypergeom(both.sum(), both[0], n).pmf(counts)
        apart = np.abs(counts - n * both[0] / both.sum())
        exact = chance[apart >= apart[one[0]] - 1e-9].sum()
        found = strata_doubt(one, other)
        assert (found is None) if exact > 0.01 else found == pytest.approx(exact, abs=0.003)
    monkeypatch.chdir(tmp_path)
    rows = [f"{q},{'first' if q < 'q30' else 'second'}\n" for q in ALL]
    (tmp_path / "queries.csv").write_text("query_id,half\n" + "".join(rows), "utf-8")
    tables = {"sample": HUMAN, "half": dict([*ALL.items()][:26]), "judge": JUDGE}
    for name, labels in tables.items():
        rows = [f"{q} 0 {d} {g}\n" for q, own in labels.items() for d, g in own.items()]
        (tmp_path / f"{name}.txt").write_text("".join(rows), "utf-8")
    for name, run in RUNS.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(run), "utf-8")
    options = ["-m", "nDCG@5", "--judge", "judge.txt", "--queries", "queries.csv", "--by", "half"]
    for command in ("compare", "evaluate"):
        sample, half = (
            " ".join(ok(command, f"{name}.txt", "good.json", "poor.json", *options).split())
            for name in ("sample", "half")
        )
        assert "other strata" not in sample
        assert "are of other strata than those of the judge (p = 0.0001)" in half


def test_whether_they_are_a_sample_is_asked_by_welchs_test() -> None:
    one, other = RNG.random(9), RNG.random(30) ** 2 - 0.5
    expected = stats.ttest_ind(one, other, equal_var=False).pvalue
    assert sample_doubt(one, np.append(other, np.nan)) == pytest.approx(expected)
    assert sample_doubt(one, one) is None


@pytest.mark.parametrize("options", [{"test": "wilcoxon"}, {"test": "tukey"}, {"cluster": dict.fromkeys(ALL, "a")}])
def test_what_does_not_go_with_a_judge(options: dict[str, object]) -> None:
    with pytest.raises(ParameterError, match="judge"):
        dh.compare(HUMAN, RUNS, "nDCG@5", judge=JUDGE, **options)  # type: ignore[arg-type]  # of each option


@pytest.mark.slow
def test_a_judge_that_lacks_queries_with_human_labels_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where the files of people and of the judge are swapped; `evaluate` and `compare` say the same sentence."""
    monkeypatch.chdir(tmp_path)
    message = "gives no nDCG@5 for 40 of 60 queries with human labels"
    with pytest.raises(DataError, match=message):
        dh.evaluate(JUDGE, RUNS["good"], "nDCG@5", judge=HUMAN)
    with pytest.raises(DataError, match=message):
        dh.compare(JUDGE, RUNS, "nDCG@5", judge=HUMAN)
    with pytest.raises(DataError, match="gives no RR for 40 of 60"):
        dh.compare(JUDGE, RUNS, "RR", judge=HUMAN, weights={query: 1 + (query < "q30") for query in ALL})
    saves = {name: dh.evaluate(JUDGE, run, "nDCG@5") for name, run in RUNS.items()}
    with pytest.raises(DataError, match=message):
        dh.compare_evaluations(saves, judge=HUMAN)
    documents = {"human": HUMAN, "judge": JUDGE, **RUNS}
    for name, document in documents.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(document), encoding="utf-8")
    told = []
    for command in ("evaluate", "compare"):
        result = call(command, "judge.json", "good.json", "poor.json", "-m", "nDCG@5", "--judge", "human.json")
        assert result.exit_code == 3
        told.append(result.stderr)
    assert told[0] == told[1]
    assert message in " ".join(told[0].split())
    # a query that no run has a value for needs no label of the judge
    (pair,) = dh.compare(HUMAN | {"other": {"d": 1}}, RUNS, "nDCG@5", judge=JUDGE, missing="skip").pairs
    assert pair.judge_weight > 0


@pytest.mark.slow
def test_a_judge_that_is_also_a_system_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By its labels, whatever it is called, in Python and on the command line."""
    monkeypatch.chdir(tmp_path)
    text = "the labels of the judge are the scores of good, which they favour"
    assert text in words_of(dh.compare(HUMAN, RUNS, "nDCG@5", judge=dh.Run(RUNS["good"])))
    assert text in words_of(dh.evaluate(HUMAN, dh.Run(RUNS["good"], name="good"), "nDCG@5", judge=RUNS["good"]))
    assert "they favour" not in words_of(dh.compare(HUMAN, RUNS, "nDCG@5", judge=JUDGE))
    # other scores of the same documents are of another judge
    other = {query: {doc: score + (doc == "d3") for doc, score in own.items()} for query, own in RUNS["good"].items()}
    assert "they favour" not in words_of(dh.compare(HUMAN, RUNS, "nDCG@5", judge=other))
    saves = {name: dh.evaluate(HUMAN, run, "nDCG@5") for name, run in RUNS.items()}
    assert text in words_of(dh.compare_evaluations(saves, judge=RUNS["good"]))
    for name, run in RUNS.items():
        lines = [f"{query} Q0 {doc} 1 {score} x\n" for query, own in run.items() for doc, score in own.items()]
        (tmp_path / f"{name}.run").write_text("".join(lines), encoding="utf-8")
    (tmp_path / "human.json").write_text(json.dumps(HUMAN), encoding="utf-8")
    for command in ("compare", "evaluate"):
        out = ok(command, "human.json", "good.run", "poor.run", "-m", "nDCG@5", "--judge", "good.run")
        assert text in " ".join(out.split())


def words_of(result: object) -> str:
    """Return a report without its line breaks."""
    return " ".join(str(result).split())


@pytest.mark.slow
def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, labels in (("human", HUMAN), ("judge", JUDGE)):
        lines = [f"{q} 0 {d} {g}\n" for q, own in labels.items() for d, g in own.items()]
        (tmp_path / f"{name}.qrels").write_text("".join(lines), encoding="utf-8")
    for name, run in RUNS.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(run), encoding="utf-8")
    arguments = ("compare", "human.qrels", "good.json", "poor.json", "-m", "nDCG@5", "--judge", "judge.qrels")
    out = ok(*arguments)
    assert "nDCG@5: what the judge adds" in out
    row = json.loads(ok(*arguments, "--format", "json"))["pairs"]["poor"]["good"]["nDCG@5"]
    (pair,) = dh.compare(HUMAN, RUNS, "nDCG@5", judge=JUDGE).pairs
    assert row["judge_weight"] == pytest.approx(pair.judge_weight)
    assert row["difference"] == pytest.approx(pair.difference)
    assert row["judge_n_effective"] == (pair.judged.n_effective if pair.judged else None)
    assert row["human_difference"] == pytest.approx(pair.judged.difference if pair.judged else None)
    assert call(*arguments, "--test", "sign").exit_code == 2
    for option in ("--compact", "--orders", "--ranks"):
        assert call(*arguments, option).exit_code == 2
    assert call(*arguments, "--figures", "drawn").exit_code == 2
    assert row["human_mean"] == pytest.approx(pair.mean)
    assert "mean" not in row
    header, values = ok(*arguments, "--format", "csv").splitlines()[:2]
    in_csv = dict(zip(header.split(","), values.split(","), strict=True))
    assert float(in_csv["human_mean"]) == pytest.approx(pair.mean)
    assert "effect_size" not in in_csv
    (tmp_path / "grades.json").write_text(json.dumps(JUDGE), encoding="utf-8")
    lines = [f"{q} Q0 {d} 1 {g} llm\n" for q, own in JUDGE.items() for d, g in own.items()]
    (tmp_path / "grades.run").write_text("".join(lines), encoding="utf-8")
    as_run = json.loads(ok(*arguments[:-1], "grades.run", "--format", "json"))["pairs"]["poor"]["good"]["nDCG@5"]
    assert as_run["difference"] == row["difference"]


def test_systems_that_lack_different_queries_are_compared_query_by_query() -> None:
    lacking = {"good": "q01", "poor": "q04"}  # neither has human labels
    runs = {name: {q: own for q, own in run.items() if q != lacking[name]} for name, run in RUNS.items()}
    (pair,) = dh.compare(HUMAN, runs, "nDCG@5", judge=JUDGE, missing="skip").pairs
    others = [query for query in ALL if query not in HUMAN and query not in lacking.values()]
    known, predicted = (values(labels, list(HUMAN)) for labels in (HUMAN, JUDGE))
    expected = powered_mean(known, predicted, values(JUDGE, others))
    assert pair.judged is not None
    assert pair.judged.n_others == 38
    assert (pair.difference, pair.low, pair.high) == pytest.approx((expected.estimate, expected.low, expected.high))


def test_an_interval_of_human_labels_without_width_has_a_question_mark() -> None:
    human = {f"q{n}": {"a": 1, "b": 0} for n in range(6)}
    judge = {f"q{n}": {"a": 1, "b": 0} for n in range(20)}
    first = {query: {"a": 2.0, "b": 1.0} for query in judge}
    found = dh.compare(human, {"x": first, "y": first}, "RR", judge=judge)
    added = next(table for table in report_of(found).tables if table.key == "judge")
    assert [format_cell(cell) for cell in added.rows[0].cells[0]].count("[0.0000, 0.0000]?") == 2
