"""Geometric means over queries: of values, of the ends that ties allow, and of intervals."""

import math
import random
from pathlib import Path

import numpy as np
import pytest

import deadheat as dh
from deadheat import figures
from deadheat.core.report.text import as_text
from deadheat.plugins.gates.report import report_gate
from deadheat.plugins.weeks.report_history import report_history
from support.command import ok
from support.figure_data import rows_of, title_of

QRELS = {f"q{query}": {f"d{doc}": int(doc % 4 == query % 3) for doc in range(12)} for query in range(9)}


def scores_of(n_scores: int) -> dict[str, dict[str, float]]:
    """Draw a run with so many different scores."""
    rng = random.Random(n_scores)
    return {query: {doc: float(rng.randrange(n_scores)) for doc in docs} for query, docs in QRELS.items()}


@pytest.mark.parametrize(("name", "measure", "average"), [("gm_map", "GMAP", "AP"), ("gm_bpref", "GMbpref", "bpref")])
def test_trec_eval_has_the_same_mean(name: str, measure: str, average: str) -> None:
    pytrec_eval = pytest.importorskip("pytrec_eval")
    run = scores_of(1000)
    theirs = pytrec_eval.RelevanceEvaluator(QRELS, {name}).evaluate(run)
    aggregated = pytrec_eval.compute_aggregated_measure(name, [values[name] for values in theirs.values()])
    evaluation = dh.evaluate(QRELS, run, [measure, average], ties="doc_id")
    assert evaluation[measure].mean == pytest.approx(aggregated, abs=1e-12)
    product = math.prod(np.maximum(evaluation[average].values, 1e-5))
    assert evaluation[measure].mean == pytest.approx(product ** (1 / len(QRELS)), abs=1e-12)
    assert evaluation.means()[measure] == evaluation[measure].mean


def test_ends_and_intervals_are_of_the_same_kind() -> None:
    scores = dh.evaluate(QRELS, scores_of(3), ["GMAP"])["GMAP"]
    assert scores.mean_tie_min == pytest.approx(math.exp(scores.tie_min.mean()))
    assert 0 < scores.mean_tie_min < scores.mean < scores.mean_tie_max < 1
    assert scores.reachable == 1
    assert scores.mean_tie_std == pytest.approx(scores.mean * math.sqrt((scores.tie_std**2).sum()) / len(QRELS))
    logarithms = np.log(np.maximum(dh.evaluate(QRELS, scores_of(3), ["AP"], ties="doc_id")["AP"].values, 1e-5))
    untied = dh.evaluate(QRELS, scores_of(3), ["GMAP"], ties="doc_id")["GMAP"]
    interval = untied.interval("t")
    half = 2.306004 * logarithms.std(ddof=1) / math.sqrt(len(QRELS))  # Student's t with 8 degrees of freedom
    assert (interval.low, interval.high) == pytest.approx(
        tuple(math.exp(logarithms.mean() + sign * half) for sign in (-1, 1)), rel=1e-6
    )
    assert interval.standard_error == pytest.approx(untied.mean * logarithms.std(ddof=1) / math.sqrt(len(QRELS)))


def test_saved_and_read_back(tmp_path: Path) -> None:
    evaluation = dh.evaluate(QRELS, scores_of(3), ["GMAP", "AP"])
    evaluation.save(tmp_path / "saved.json")
    again = dh.load_evaluation(tmp_path / "saved.json")
    assert again.means() == evaluation.means()


def test_reports_say_so(tmp_path: Path) -> None:
    (tmp_path / "qrels.json").write_text('{"q": {"a": 1}, "r": {"a": 1}}')
    (tmp_path / "run.json").write_text('{"q": {"a": 2, "b": 1}, "r": {"a": 1, "b": 2, "c": 3, "d": 4}}')
    files = [str(tmp_path / name) for name in ("qrels.json", "run.json")]
    out = ok("evaluate", *files, "-m", "gm_map")
    assert "gm_map: the values of queries, and their differences, are in logarithms" in " ".join(out.split())
    assert "0.5000" in out
    assert ok("evaluate", *files, "-m", "gm_map", "--format", "trec", "--per-query").splitlines()[1:] == [
        "gm_map                \tall\t0.5000"
    ]


def test_quantiles_are_of_values_and_not_of_logarithms() -> None:
    found = dh.evaluate(QRELS, scores_of(3), ["GMAP", "AP"])
    wanted = found["AP"].quantile(0.5)
    assert found["GMAP"].quantile(0.5).value == pytest.approx(np.median(np.exp(found["GMAP"].values)))
    assert 0 < found["GMAP"].quantile(0.5).low <= found["GMAP"].quantile(0.5).high <= wanted.high


@pytest.fixture
def two() -> dict[str, dh.Evaluation]:
    found = {name: dh.evaluate(QRELS, scores_of(n), ["GMAP", "AP"]) for name, n in (("old", 3), ("new", 7))}
    return {name: one.called(name) for name, one in found.items()}


@pytest.mark.slow
def test_levels_of_a_comparison_are_values_and_differences_logarithms(two: dict[str, dh.Evaluation]) -> None:
    pair = dh.compare_evaluations(two)["GMAP"][0]
    levels = {name: math.prod(np.exp(one["GMAP"].values)) ** (1 / len(QRELS)) for name, one in two.items()}
    assert (pair.mean, pair.baseline_mean) == pytest.approx((levels["new"], levels["old"]))
    assert pair.difference == pytest.approx(math.log(levels["new"] / levels["old"]))
    assert f"new - old = {pair.difference:.4f} in logarithms" in repr(pair)
    verdict = dh.compare_evaluations(two).judge(0.01)
    assert verdict.facts["GMAP"].startswith(f"new {max(levels.values()):.4f}, old {min(levels.values()):.4f}")
    assert verdict.facts["difference"] == f"+{abs(pair.difference):.4f} in logarithms, new - old"
    assert "margin 0.01 in logarithms" in verdict.facts
    assert "logarithms" not in str(dh.compare_evaluations(two).judge(measure=dh.AP()))


def test_levels_of_gates_are_values_and_differences_logarithms(two: dict[str, dh.Evaluation]) -> None:
    old, new = sorted(two.values(), key=lambda one: -one["GMAP"].mean)
    result = dh.gate(new, ["GMAP >= 0.99"], baseline=old, no_worse_than=0.001)
    level, no_worse = (check for check in result.checks if check.measure == "GMAP")
    worst = np.exp(new["GMAP"].values).min()
    assert level.worst.startswith("lowest: ")
    assert float(level.worst.split(",")[0].split()[-1]) == pytest.approx(worst, abs=0.005)
    assert (no_worse.mean, no_worse.baseline_mean) == (new["GMAP"].mean, old["GMAP"].mean)
    assert no_worse.value == pytest.approx(math.log(new["GMAP"].mean / old["GMAP"].mean))
    assert no_worse.gate == "GMAP > baseline - 0.001 in logarithms"
    assert no_worse.reason.startswith(f"worse by {-no_worse.value:.4g} in logarithms; a loss of 0.001 in logarithms or")
    assert no_worse.worst.startswith("largest losses in logarithms: ")
    assert "GMAP: the values of queries, and their differences, are in" in as_text(report_gate(result))
    for trivial in ("GMAP >= 0", "GMAP > -3"):
        (check,) = dh.gate(new, [trivial]).checks
        assert "proves nothing: no ranking is below 1e-05" in check.reason, check.reason
    assert not dh.gate(new, ["GMAP > 0.0001"]).checks[0].proves_little
    (spread,) = dh.gate(new, ["tie_std(GMAP) < 0"]).checks
    widest = (new["GMAP"].tie_std * new["GMAP"].mean).max()
    assert float(spread.worst.split(",")[0].split()[-1]) == pytest.approx(widest, abs=0.005)


def test_a_history_says_that_a_step_is_of_logarithms(two: dict[str, dh.Evaluation]) -> None:
    found = dh.history(list(two.values()))
    pair, report = found.since["GMAP"][-1], report_history(found)
    assert pair is not None
    assert (pair.mean, pair.baseline_mean) == pytest.approx((two["new"]["GMAP"].mean, two["old"]["GMAP"].mean))
    size = f"{abs(math.log(pair.mean / pair.baseline_mean)):.4f} in logarithms to {pair.mean:.4f}"
    assert size in report.headline
    assert "in logarithms" not in report.opening  # of AP
    assert "in logarithms" in title_of(figures.history(found, "GMAP"))


@pytest.mark.slow
def test_figures_of_pairs_name_the_unit_of_a_difference(two: dict[str, dh.Evaluation]) -> None:
    compared = dh.compare_evaluations(two)
    title = title_of(figures.differences(compared, "GMAP", system="new", baseline="old"))
    assert f"{compared['GMAP'][0].difference:+.3f} in logarithms" in title
    for draw in (figures.differences, figures.scatter, figures.power):
        assert "GMAP in logarithms" in draw(compared, "GMAP").to_json() or "of old in logarithms" in str(
            draw(compared, "GMAP").to_dict()
        )
        assert "logarithms" not in draw(compared, "AP").to_json()


@pytest.mark.slow
def test_figures_of_ties_have_levels_that_are_values() -> None:
    profile = dh.tie_profile(scores_of(3), qrels=QRELS, measures=["GMAP", "AP"])
    exact, rule = (dh.evaluate(QRELS, scores_of(3), "GMAP", ties=ties)["GMAP"] for ties in ("expected", "doc_id"))
    row = rows_of(figures.traditional(profile, "GMAP"))[0]
    levels = [row[name] for name in ("exact", "traditional", "tie_min", "tie_max")]
    assert levels == pytest.approx([exact.mean, rule.mean, exact.mean_tie_min, exact.mean_tie_max])
    (found,) = [one.difference for one in profile.stability if one.difference.measure.geometric]
    assert (found.exact, found.traditional) == pytest.approx((exact.mean, rule.mean))
    assert found.difference == pytest.approx(rule.mean - exact.mean)
    assert (found.mean, found.std) == pytest.approx(
        (np.abs(rule.values - exact.values).mean(), exact.values.std(ddof=1))
    )
    for draw in (figures.tie_ratio, figures.largest_tie, figures.tie_histogram):
        assert "in logarithms" in draw(profile, "GMAP").to_json()
        assert "in logarithms" not in draw(profile, "AP").to_json()


def test_bounds_of_judged_means_are_values() -> None:
    judge = {query: {doc: 1 - rel if doc == "d3" else rel for doc, rel in own.items()} for query, own in QRELS.items()}
    runs = {f"run{n}": scores_of(n) for n in (3, 5, 7)}
    (found,) = dh.judge_agreement(QRELS, judge, runs=runs, measures="GMAP").conclusions
    for n, (name, run) in enumerate(runs.items()):
        interval = dh.evaluate(QRELS, run, "GMAP")["GMAP"].interval("t")
        assert found.ends[0, n] == pytest.approx((interval.low, interval.high)), name
        assert found.biases[n].baseline_mean == pytest.approx(interval.mean)


@pytest.mark.slow
def test_gaps_between_languages_are_differences_of_logarithms() -> None:
    found = {
        (name, language): dh.evaluate(QRELS, scores_of(n), "GMAP").called(name)
        for n, (name, language) in enumerate([("a", "en"), ("a", "fr"), ("b", "en"), ("b", "fr")], start=3)
    }
    compared = dh.compare_languages({of: {name: found[name, of] for name in ("a", "b")} for of in ("en", "fr")})
    (pair,) = (one.pair for one in compared.interactions)
    level = {key: one["GMAP"].mean for key, one in found.items()}
    gaps = {name: math.log(level[name, "fr"] / level[name, "en"]) for name in ("a", "b")}
    assert (pair.mean, pair.baseline_mean) == pytest.approx((gaps[pair.system], gaps[pair.baseline]))
    for one in compared.differences:
        wanted = level[one.system, one.pair.system], level[one.system, one.pair.baseline]
        assert (one.pair.mean, one.pair.baseline_mean) == pytest.approx(wanted)
