"""Several runs of one system: values are means over them, ties are broken in each, tests carry their noise."""

from __future__ import annotations

import json
import math
import os
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

import deadheat as dh
from deadheat.core import stats
from deadheat.errors import DataError, ParameterError
from deadheat.plugins.repeats.variances import shared_of, shared_p_value, widened
from support.command import call, ok

if TYPE_CHECKING:
    from pathlib import Path

RNG = np.random.default_rng(8)
QRELS = {f"q{n}": {f"d{d}": int(RNG.integers(0, 3)) for d in range(6)} for n in range(12)}


def run_of(seed: int, skill: float = 0.5) -> dict[str, dict[str, float]]:
    rng = np.random.default_rng(seed)
    return {q: {d: round(skill * rel + rng.random(), 1) for d, rel in docs.items()} for q, docs in QRELS.items()}


RUNS = [run_of(seed) for seed in range(4)]
OTHERS = [run_of(seed, 1.0) for seed in (10, 11)]
MEASURES = ["nDCG@3", "RR"]


@pytest.mark.slow
def test_a_page_has_what_can_be_shown_of_repeats_and_says_what_cannot() -> None:
    found = dh.evaluate(QRELS, dh.Repeats(RUNS), MEASURES)
    assert "<svg" in found.to_html(full=True)
    compared = dh.compare(QRELS, {"a": dh.Repeats(RUNS), "b": dh.Repeats(OTHERS)}, MEASURES, n_resamples=99)
    assert "<svg" in compared.to_html(full=True)
    drawn = {one.figure: one for one in dh.figures.drawings(compared, ["RR"])}
    assert drawn["forest"].chart is not None
    for name in ("ranks", "power", "cutoffs"):
        assert "repeats" in str(drawn[name].error)


def values_of(run: dict[str, dict[str, float]]) -> np.ndarray:
    return dh.evaluate(QRELS, run, "nDCG@3")["nDCG@3"].values


REPEATED = dh.Repeats(RUNS)


def test_values_are_means_over_repeats_and_ties_of_each_are_broken() -> None:
    found, each = dh.evaluate(QRELS, dh.Repeats(RUNS), MEASURES), [dh.evaluate(QRELS, run, MEASURES) for run in RUNS]
    for name in MEASURES:
        own = found[name]
        assert own.values == pytest.approx(np.mean([one[name].values for one in each], axis=0))
        assert own.tie_std == pytest.approx(np.sqrt(sum(one[name].tie_std ** 2 for one in each)) / 4)
        assert own.mean_tie_max == pytest.approx(np.mean([one[name].mean_tie_max for one in each]))
        parts = own.variance_components
        assert parts.ties == pytest.approx(np.mean([one[name].tie_std ** 2 for one in each]))
        within = np.var([one[name].values for one in each], axis=0, ddof=1).mean()
        assert parts.repeats == pytest.approx(within)
    assert found.notes[-1] == "means over 4 repeats; documents are counted in the first"


def test_intervals_carry_a_shared_effect() -> None:
    own = dh.evaluate(QRELS, dh.Repeats([RUNS[0], OTHERS[0]]), "nDCG@3")["nDCG@3"]  # repeats of different skill
    found, values = own.interval("t"), own.repeats.values if own.repeats else np.zeros((0, 0))
    low, high = stats.interval_bounds(own.values[:, None], method="t")
    shared = shared_of(values)
    assert shared.variance > 0
    ends = widened(own.mean, (float(low[0]), float(high[0])), [shared], 0.95)
    assert (found.low, found.high) == pytest.approx(tuple(np.clip(ends, 0, 1)))
    error = float(stats.standard_errors(own.values[:, None])[0])
    assert found.standard_error == pytest.approx(math.hypot(error, math.sqrt(shared.variance)))


def test_comparisons_carry_the_noise_of_repeats() -> None:
    given: dict[str, Any] = {"one": dh.Repeats(RUNS), "two": dh.Repeats(OTHERS), "single": RUNS[0]}
    found = dh.compare(QRELS, given, "nDCG@3", test="t", baseline="one", correction="none")
    pair, single = found.pairs
    one, two = (
        np.column_stack([dh.evaluate(QRELS, run, "nDCG@3")["nDCG@3"].values for run in own]) for own in (RUNS, OTHERS)
    )
    differences = (two.mean(axis=1) - one.mean(axis=1))[:, None]
    shared = [shared_of(two), shared_of(one)]
    error = float(stats.standard_errors(differences)[0])
    mean = float(differences.mean())
    assert pair.difference == pytest.approx(mean)
    assert pair.standard_error == pytest.approx(math.sqrt(error**2 + sum(part.variance for part in shared)))
    low, high = (float(end[0]) for end in stats.interval_bounds(differences, method="t"))
    assert (pair.low, pair.high) == pytest.approx(widened(mean, (low, high), shared, 0.95))
    expected = shared_p_value(mean, error, 11, shared, "two-sided")
    assert pair.p_value == pytest.approx(max(expected, float(stats.p_values(differences, test="t").p_values[0])))
    assert 0 <= pair.rerun_probability < 0.5
    assert math.isnan(single.rerun_probability)  # the noise of a single run is not known
    listed = dh.compare(QRELS, [dh.Repeats(RUNS, "one"), dh.Repeats(OTHERS, "two")], "nDCG@3", test="t").pairs[0]
    assert listed.system == "two"
    assert listed.p_value == pytest.approx(pair.p_value)
    plain = dh.compare(QRELS, {"a": RUNS[0], "b": OTHERS[0]}, "nDCG@3").pairs[0]
    assert math.isnan(plain.rerun_probability)


def test_a_rerun_beside_a_single_run_is_not_known_and_says_why() -> None:
    given: dict[str, Any] = {"one": dh.Repeats(RUNS), "single": RUNS[0]}
    for order, role in ((["one", "single"], "system"), (["single", "one"], "baseline")):
        found = dh.compare(QRELS, {name: given[name] for name in order}, "nDCG@3", test="t")
        (pair,) = found.pairs
        assert math.isnan(pair.rerun_probability)
        assert pair.rerun_unknown == f"the {role} has a single run"
        text = " ".join(str(found).split())
        assert f"reverses their order is not known, as the {role} has a single run: {order[1]} / {order[0]}" in text
        assert found.verdict.detectable is None  # no power without the noise of repeats
    plain = dh.compare(QRELS, {"a": RUNS[0], "b": OTHERS[0]}, "nDCG@3").pairs[0]
    assert plain.rerun_unknown == ""


def test_a_rerun_with_weights_is_not_known_where_it_would_be_wrong() -> None:
    """Eleven of 41 queries have nearly all of the weight, and there each run of both systems is good or bad at random.

    Over all queries alike one system is ahead in every run, so that a probability without weights is near 0; many
    pairs of runs with weights are in the other order.
    """
    rng = np.random.default_rng(1)
    queries = [f"q{n:02}" for n in range(41)]
    heavy = queries[:11]
    qrels = {query: {"a": 1} for query in queries}

    def drawn_run(rank: int) -> dict[str, list[str]]:
        """Return lists with the relevant document at a rank, in heavy queries at a random one."""
        ranks = dict.fromkeys(queries, rank) | dict.fromkeys(heavy, int(rng.integers(1, 5)))
        return {query: [*["x", "y", "z", "w"][: place - 1], "a"] for query, place in ranks.items()}

    runs = {name: [drawn_run(rank) for _ in range(6)] for name, rank in (("low", 3), ("high", 1))}
    systems = {name: dh.Repeats(some) for name, some in runs.items()}
    weights = dict.fromkeys(queries, 1e-6) | dict.fromkeys(heavy, 1.0)
    (plain,) = dh.compare(qrels, systems, "RR", test="t").pairs
    (weighted,) = dh.compare(qrels, systems, "RR", test="t", weights=weights).pairs
    (equal,) = dh.compare(qrels, systems, "RR", test="t", weights=dict.fromkeys(queries, 2.0)).pairs
    means = {
        name: [np.average([1 / len(run[query]) for query in queries], weights=list(weights.values())) for run in some]
        for name, some in runs.items()
    }
    reversals = [low > high for low in means["low"] for high in means["high"]]
    assert np.mean(reversals) > 0.2
    assert plain.rerun_probability < 0.05
    assert equal.rerun_probability == plain.rerun_probability
    assert math.isnan(weighted.rerun_probability)
    assert weighted.rerun_unknown == "the queries have weights"
    evaluations = {name: dh.evaluate(qrels, repeats, "RR", weights=weights) for name, repeats in systems.items()}
    step = dh.history(list(evaluations.values())).since["RR"][1]
    assert step is not None
    assert step.rerun_unknown == "the queries have weights"


def test_sign_flips_of_systems_with_repeats_find_no_p_below_that_of_a_t_test_with_their_shared_noise() -> None:
    """The p value of all sign flips by hand, and that of the t test; the report says that the larger one counts."""
    mixed, best = [RUNS[0], RUNS[1], OTHERS[0]], run_of(20, 3.0)  # repeats of different skill
    found = dh.compare(QRELS, {"mixed": dh.Repeats(mixed), "best": best}, "nDCG@3", correction="none")
    (pair,) = found.pairs
    repeats = np.column_stack([values_of(run) for run in mixed])
    differences = values_of(best) - repeats.mean(axis=1)
    flipped = np.array(list(product((-1, 1), repeat=len(differences)))) @ differences
    by_flips = (np.abs(flipped) >= abs(differences.sum()) - 1e-12).mean()
    error = float(stats.standard_errors(differences[:, None])[0])
    by_t = shared_p_value(float(differences.mean()), error, len(differences) - 1, [shared_of(repeats)], "two-sided")
    assert pair.p_value == pytest.approx(max(by_flips, by_t))
    assert by_t > by_flips
    told = " ".join(str(found).split())
    assert "what all queries of one repeat share widens intervals, by Student's t over the repeats, and p is" in told
    same = dh.compare(QRELS, {"one": dh.Repeats([RUNS[0]] * 3), "two": OTHERS[0]}, "nDCG@3")
    assert "share" not in str(same).replace("0.0000 shared by", "")
    assert "more than chance in all queries" not in str(same)


def test_a_one_sided_test_of_equal_means_has_a_p_value() -> None:
    swapped = dh.Repeats([OTHERS[0], RUNS[0]])
    found = dh.compare(QRELS, {"a": dh.Repeats([RUNS[0], OTHERS[0]]), "b": swapped}, "RR", alternative="greater")
    assert (found.pairs[0].difference, found.pairs[0].p_value) == (0, 1)  # all sign flips are as large


def test_a_query_that_a_repeat_lacks_is_empty_or_left_out() -> None:
    short = {query: docs for query, docs in RUNS[1].items() if query != "q3"}
    each = [dh.evaluate(QRELS, run, "RR")["RR"].values for run in RUNS[:2]]
    place = sorted(QRELS).index("q3")
    empty = dh.evaluate(QRELS, dh.Repeats([RUNS[0], short]), "RR")
    assert empty["RR"].values[place] == pytest.approx(each[0][place] / 2)
    assert empty.missing_queries == ("q3",)
    skipped = dh.evaluate(QRELS, dh.Repeats([RUNS[0], short]), "RR", missing="skip")["RR"]
    assert skipped.values[place] == each[0][place]
    assert skipped.variance_components.n_repeats == pytest.approx((23 - (11 * 4 + 1) / 23) / 11)
    none = dh.evaluate(QRELS, dh.Repeats([short, short]), "RR", missing="skip")
    assert len(none.query_ids) == 11


def test_a_table_of_queries_that_nothing_asks_for_is_refused_beside_repeats() -> None:
    qrels = {f"q{n}": {"a": 1} for n in range(20)}
    one, other = ({query: list(docs) for query in qrels} for docs in ("ab", "ba"))
    table = pl.DataFrame({"query_id": [*qrels], "language": ["de", "en"] * 10, "asked": [1, 2] * 10})
    weights: dict[str, Any] = {"weights": "asked"}
    clusters: dict[str, Any] = {"cluster": "language"}
    for runs in ({"x": dh.Repeats([one, other]), "y": other}, {"x": one, "y": other}):
        with pytest.raises(ParameterError, match=r"queries is the table that has the column of .*: name the column"):
            dh.compare(qrels, runs, "RR", queries=table)
        for given in (weights, clusters, weights | clusters):
            dh.compare(qrels, runs, "RR", queries=table, **given)


def test_a_plan_halves_the_noise_of_repeats() -> None:
    own = dh.evaluate(QRELS, dh.Repeats(RUNS), "nDCG@3")["nDCG@3"]
    parts, plan = own.variance_components, own.plan_repeats(0.1)
    shared = max(parts.shared, 0.0)
    for k, n in plan.rows():
        variance = (max(parts.queries, 0.0) + (parts.repeats - shared) / k) / max(n or 0, 1) + shared / k
        assert n is None or variance <= (0.05 / 1.959963984540054) ** 2 * (1 + 1e-9)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: dh.evaluate(QRELS, REPEATED, "RR", ties="doc_id"), "ties must be 'expected'"),
        (lambda: dh.evaluate(QRELS, REPEATED, "RR", judge=QRELS), "judge must be None with systems with repeats"),
        (lambda: dh.Repeats([RUNS[0]]), "a list of two runs or more, or a table with a column 'repeat', got 1"),
        (
            lambda: dh.evaluate(QRELS, REPEATED, "RR")["RR"].plan_repeats(0.1, confidence_level=95),
            "confidence_level must be a number between 0 and 1",
        ),
        (lambda: dh.evaluate(QRELS, RUNS[0], "RR")["RR"].variance_components, "there are no repeats"),
        (lambda: dh.compare(QRELS, {"a": REPEATED, "b": RUNS[0]}, "RR", test="sign"), "test must be one of"),
        (lambda: dh.compare(QRELS, {"a": REPEATED, "b": RUNS[0]}, "RR").equivalence(0.1), "margin is not for"),
        (
            lambda: dh.compare(QRELS, {"a": REPEATED, "b": RUNS[0]}, "RR", margin=0.01),
            "margin is not for systems with repeats",
        ),
        (
            lambda: dh.compare(QRELS, {"a": REPEATED, "b": RUNS[0]}, "RR", detect=0.01),
            "detect is not for systems with repeats",
        ),
        (
            lambda: dh.history(
                [dh.evaluate(QRELS, REPEATED, "RR"), dh.evaluate(QRELS, RUNS[0], "RR")], test="wilcoxon"
            ),
            "test must be one of .* with runs='repeats', got 'wilcoxon'",
        ),
        (
            lambda: dh.gate(dh.evaluate(QRELS, REPEATED, "RR"), baseline=dh.evaluate(QRELS, RUNS[0], "RR")),
            "a baseline is not for systems with repeats",
        ),
        (lambda: dh.leaderboard({"t": {"a": dh.evaluate(QRELS, REPEATED, "RR")}}), "a leaderboard is not for systems"),
        (lambda: dh.evaluate(QRELS, REPEATED, "RR")["RR"].quantile(0.5), "a quantile is not for systems with repeats"),
        (lambda: dh.evaluate(QRELS, REPEATED, "RR").abstention(), "abstention is not for systems with repeats"),
        (
            lambda: dh.evaluate(QRELS, REPEATED, "RR", weights={q: n + 1 for n, q in enumerate(QRELS)})[
                "RR"
            ].plan_repeats(0.1),
            "a plan is not for weighted queries",
        ),
    ],
)
def test_what_would_leave_the_noise_out_is_refused(call: Any, message: str) -> None:  # noqa: ANN401 - any function
    with pytest.raises(ParameterError, match=message):
        call()


def test_documents_without_a_grade_give_repeats_no_bounds() -> None:
    runs: list[Any] = [
        dh.read_judgments({"q": {"a": 1, "b": 2, "z": "?"} | own}, kind="run", failed="bounds")
        for own in ({}, {"a": 3})
    ]
    assert dh.evaluate({"q": {"a": 1}}, runs[0], "RR")["RR"].has_unjudged_bounds
    assert not dh.evaluate({"q": {"a": 1}}, dh.Repeats(runs), "RR")["RR"].has_unjudged_bounds


def test_repeats_are_reported() -> None:
    told = str(dh.evaluate(QRELS, dh.Repeats(RUNS), "RR"))
    assert "means over 4 repeats" in told
    assert "one" in str(dh.compare(QRELS, {"one": dh.Repeats(RUNS), "two": dh.Repeats(OTHERS)}, "RR"))


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Qrels and runs of two systems, in the working directory."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels.json").write_text(json.dumps(QRELS))
    for name, runs in (("gpt", RUNS), ("two", OTHERS)):
        for n, run in enumerate(runs):
            (tmp_path / f"{name}-{n}.json").write_text(json.dumps(run))
    return tmp_path


@pytest.mark.usefixtures("files")
def test_the_commands_take_patterns() -> None:
    own = ("qrels.json", "--repeats", "gpt=gpt-*.json", "-m", "nDCG@3", "--format", "json")
    found, expected = json.loads(ok("evaluate", *own)), dh.evaluate(QRELS, dh.Repeats(RUNS), "nDCG@3")["nDCG@3"]
    assert found["scores"]["gpt"]["nDCG@3"]["value"] == pytest.approx(expected.mean)
    parts = found["variance_components"]["gpt"]["nDCG@3"]
    assert parts["repeats"] == pytest.approx(expected.variance_components.repeats)
    both = json.loads(ok("compare", *own, "--repeats", "two=two-*.json", "--test", "t"))
    (pair,) = dh.compare(QRELS, {"gpt": dh.Repeats(RUNS), "two": dh.Repeats(OTHERS)}, "nDCG@3", test="t").pairs
    assert both["pairs"]["two"]["gpt"]["nDCG@3"]["p_value"] == pytest.approx(pair.p_value)
    beside = json.loads(ok("compare", "qrels.json", "two-0.json", *own[1:]))
    assert list(beside["pairs"]) == ["gpt"]
    for wrong, message in (("gpt", "write a name"), ("gpt=none-*", "matches 0"), ("gpt=gpt-1.json", "matches 1")):
        result = call("evaluate", "qrels.json", "--repeats", wrong)
        assert result.exit_code == 2
        assert message in result.output
    assert call("compare", "qrels.json").exit_code == 2
    assert call("evaluate", *own, "--beside", "doc_id").exit_code == 2


def test_a_run_and_repeats_have_different_names(files: Path) -> None:
    (files / "gpt.json").write_text(json.dumps(RUNS[0]))
    own = ("gpt.json", "--repeats", "gpt=gpt-*.json", "-m", "RR")
    for arguments in (("evaluate", "qrels.json", *own), ("compare", "qrels.json", "two-0.json", *own)):
        result = call(*arguments)
        assert (result.exit_code, "--repeats gpt: a file of a single run has this name too" in result.stderr) == (2, 1)


@pytest.mark.skipif(not os.path.exists("/dev/fd"), reason="this system has no /dev/fd")  # noqa: PTH110 - Path is here for types alone
@pytest.mark.parametrize("command", ["evaluate", "compare"])
def test_judgments_beside_runs_and_repeats_are_read_once(command: str, files: Path) -> None:
    """So that they may come through a pipe."""
    own = ("two-0.json", "--repeats", "gpt=gpt-*.json", "-m", "RR", "--format", "json")
    rows = "".join(f"{query} 0 {doc} {label}\n" for query, docs in QRELS.items() for doc, label in docs.items())
    (files / "qrels.txt").write_text(rows)
    reading, writing = os.pipe()
    os.write(writing, rows.encode())
    os.close(writing)
    found = json.loads(ok(command, f"/dev/fd/{reading}", *own))
    assert {**found, "qrels": "qrels.txt"} == json.loads(ok(command, "qrels.txt", *own))


def test_a_saved_evaluation_keeps_its_repeats(tmp_path: Path) -> None:
    partly = [RUNS[0], {q: docs for q, docs in RUNS[1].items() if q != "q0"}, RUNS[2]]
    own = dh.evaluate(QRELS, dh.Repeats(partly), MEASURES, missing="skip")
    other = dh.evaluate(QRELS, dh.Repeats(OTHERS), MEASURES, missing="skip")
    own.save(tmp_path / "own.json", label="own")
    other.save(tmp_path / "other.json", label="other")
    read = dh.load_evaluation(tmp_path / "own.json")
    for name in MEASURES:
        assert read[name].variance_components == own[name].variance_components
        assert read[name].repeats is not None
        np.testing.assert_array_equal(read[name].repeats.values, own[name].repeats.values)
        assert read[name].interval("t") == own[name].interval("t")
    files = {name: str(tmp_path / f"{name}.json") for name in ("own", "other")}
    saved = dh.compare_evaluations(files, test="t").pairs
    direct = dh.compare_evaluations({"own": own, "other": other}, test="t").pairs
    assert [(one.p_value, one.low, one.rerun_probability) for one in saved] == [
        (one.p_value, one.low, one.rerun_probability) for one in direct
    ]
    of_step = dh.history(list(files.values()), test="t").since["RR"][1]
    assert of_step is not None
    pair = next(one for one in saved if str(one.measure) == "RR")
    assert (of_step.p_value, of_step.low) == pytest.approx((pair.p_value, pair.low))
    in_memory = dh.history([own, other], test="t").since["RR"][1]
    assert in_memory is not None
    assert in_memory.p_value == of_step.p_value
    with pytest.raises(DataError):
        read.rescored(QRELS)


def test_evaluate_saves_repeats(tmp_path: Path) -> None:
    (tmp_path / "qrels.json").write_text(json.dumps(QRELS))
    for n, run in enumerate(RUNS):
        (tmp_path / f"r{n}.json").write_text(json.dumps(run))
    pattern, saved = f"many={tmp_path}/r*.json", tmp_path / "saved.json"
    ok("evaluate", tmp_path / "qrels.json", "--repeats", pattern, "-m", "RR", "--save", saved)
    found = dh.load_evaluation(saved)
    assert found["RR"].variance_components == dh.evaluate(QRELS, REPEATED, "RR")["RR"].variance_components


def test_a_leaderboard_refuses_saved_repeats_and_tables_of_repeats(tmp_path: Path) -> None:
    """Of systems that differ by their repeats alone, intervals over queries separate many; so none are made."""
    saved = tmp_path / "saved"
    saved.mkdir()
    for name, runs in (("one", RUNS), ("two", OTHERS)):
        dh.evaluate(QRELS, dh.Repeats(runs), "RR").called(name).save(saved / f"{name}.json")
    task = tmp_path / "board" / "task"
    task.mkdir(parents=True)
    rows = [f"{q} 0 {d} {label}\n" for q, docs in QRELS.items() for d, label in docs.items()]
    (task / "qrels").write_text("".join(rows))
    lines = ["query_id,doc_id,score,repeat\n"]
    for n, run in enumerate(RUNS):
        lines += [f"{q},{d},{score},{n}\n" for q, docs in run.items() for d, score in docs.items()]
    (task / "model.csv").write_text("".join(lines))
    for source in (saved, tmp_path / "board"):
        with pytest.raises(ParameterError, match="a leaderboard is not for systems with repeats"):
            dh.leaderboard(source)
        assert "a leaderboard is not for systems with repeats" in call("leaderboard", source).stderr


@pytest.mark.usefixtures("files")
def test_pages_and_figures_of_pairs_refuse_repeats(tmp_path: Path) -> None:
    saved = tmp_path / "gpt.json"
    dh.evaluate(QRELS, dh.Repeats(RUNS), "RR").save(saved)
    shown = call("report", saved, "-o", tmp_path / "page.html")
    assert shown.exit_code == 2
    assert "gpt has repeats" in shown.output
    own = ("--repeats", "gpt=gpt-*.json", "--repeats", "two=two-*.json", "-m", "RR", "--figures", tmp_path / "drawn")
    assert "--figures is not for repeats of a run" in call("compare", "qrels.json", *own).output
