"""history(): evaluations in order of time, against comparisons of the same two, and what is said of judgments."""

from __future__ import annotations

import csv
import io
import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import deadheat as dh
from deadheat.core.evaluation.documents import checksum
from deadheat.errors import DataError, ParameterError
from deadheat.plugins.weeks.report_history import report_history
from support.command import call, ok
from support.figure_data import rows_of

RNG = np.random.default_rng(4)
QRELS = {f"q{q}": {f"d{d}": int(RNG.integers(0, 3)) for d in range(8)} for q in range(15)}
RUNS = [
    {q: {d: g * n + float(RNG.integers(0, 4)) for d, g in own.items()} for q, own in QRELS.items()} for n in range(4)
]


def stamped(path: Path, time: str, **fields: str) -> Path:
    """Give a saved evaluation another time, as if it had been saved then."""
    document = json.loads(path.read_text(encoding="utf-8")) | {"time": time} | fields
    document["sha256"] = checksum(document)
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


def saved(folder: Path, n: int, qrels: Any = None, **options: Any) -> Path:  # noqa: ANN401 - as `evaluate` takes them
    path = folder / f"e{9 - n}.json"
    dh.evaluate(qrels or QRELS, dh.Run(RUNS[n], name="bm25"), options.pop("measures", "nDCG@3 RR"), **options).save(
        path
    )
    return stamped(path, f"2026-11-{n + 1:02}T10:00:00.000Z", label=f"week {n}", commit="abcdef0123456789")


@pytest.mark.slow
def test_steps_are_in_order_of_time_and_compared_with_the_one_before(tmp_path: Path) -> None:
    for n in range(4):
        saved(tmp_path, n)
    (tmp_path / "notes.txt").write_text("x", encoding="utf-8")
    found = dh.history(tmp_path)
    assert [step.origin.label for step in found.steps] == ["week 0", "week 1", "week 2", "week 3"]
    assert found.notes == (f"1 file of {tmp_path.name} left out, no saved evaluations: notes.txt",)
    for measure in ("nDCG@3", "RR"):
        raw = []
        for n in range(1, 4):
            (pair,) = dh.compare(QRELS, {"old": RUNS[n - 1], "new": RUNS[n]}, measure).pairs
            own = found.since[measure][n]
            assert own is not None
            assert own.difference == pytest.approx(pair.difference)
            assert (own.low, own.high, own.p_value) == pytest.approx((pair.low, pair.high, pair.p_value))
            raw.append(pair.p_value)
        order = sorted(range(3), key=lambda n: raw[n])
        held, least = {}, 0.0
        for place, n in enumerate(order):  # Holm
            least = held[n] = max(least, min(1.0, (3 - place) * raw[n]))
        assert [found.since[measure][n + 1].p_adjusted for n in range(3)] == pytest.approx([held[n] for n in range(3)])  # type: ignore[union-attr]  # a pair
        evaluation = dh.evaluate(QRELS, RUNS[2], measure)[measure]
        mean = found.steps[2].means[measure]
        assert (mean["mean"], mean["tie_min"], mean["tie_max"]) == pytest.approx(
            (evaluation.mean, evaluation.mean_tie_min, evaluation.mean_tie_max)
        )
        assert (mean["low"], mean["high"]) == pytest.approx((evaluation.interval().low, evaluation.interval().high))
    assert found.since["RR"][0] is None


@pytest.mark.slow
def test_systems_that_take_turns_are_each_compared_with_themselves() -> None:
    """Of names that never come back the steps are one line, also where one file is evaluated twice in a row."""
    made = [
        dh.evaluate(QRELS, dh.Run(RUNS[n], name=name), "RR AP")
        for n, name in [(1, "main"), (2, "pr"), (1, "main"), (0, "pr")]
    ]
    found = dh.history(made)
    assert found.before == (None, None, 0, 1)
    first, second, same, other = found.since["RR"]
    assert (first, second) == (None, None)
    (pair,) = dh.compare(QRELS, {"old": RUNS[2], "new": RUNS[0]}, "RR").pairs
    assert same is not None
    assert other is not None
    assert (same.difference, other.difference) == pytest.approx((0, pair.difference))
    assert other.p_adjusted == pytest.approx(min(1, 2 * pair.p_value))  # Holm, over two steps
    means = {(row["name"], row["measure"]): row["mean"] for row in found.rows()}
    out = " ".join(str(found).split())
    assert out.startswith(f"RR of pr fell by {-pair.difference:.4f} to {means['pr', 'RR']:.4f}, ")
    assert f"RR of main {means['main', 'RR']:.4f}, as before, 15 queries" in out
    facts = report_history(found).facts
    assert any("each step against the one before of the same system" in fact.text for fact in facts)
    moved = found.queries(99).filter(measure="RR")
    assert moved["difference"].sum() == pytest.approx(15 * pair.difference)
    for names in (["a", "b", "c"], ["a", "b", "b"], ["a", "a", "b"]):
        one_line = [dh.evaluate(QRELS, dh.Run(RUNS[n], name=name), "RR") for n, name in enumerate(names)]
        assert dh.history(one_line).before == (None, 0, 1)


def test_a_system_that_is_new_among_others_has_no_step_yet() -> None:
    made = [dh.evaluate(QRELS, dh.Run(RUNS[1], name=name), "RR") for name in ("main", "pr", "main", "new")]
    found = dh.history(made)
    assert str(found).startswith(f"RR of new is {made[0]['RR'].mean:.4f}, the first of its system.")
    assert found.queries().is_empty()


def test_a_reference_and_the_queries_that_moved(tmp_path: Path) -> None:
    paths = [saved(tmp_path, n) for n in range(3)]
    found = dh.history(paths[1:], reference=paths[0])
    assert found.reference == 0
    (pair,) = dh.compare(QRELS, {"old": RUNS[0], "new": RUNS[2]}, "RR").pairs
    own = found.to_reference["RR"][2]
    assert own is not None
    assert own.difference == pytest.approx(pair.difference)
    values = [dh.evaluate(QRELS, run, "RR")["RR"] for run in RUNS[1:3]]
    apart = dict(zip(values[0].query_ids.tolist(), values[1].values - values[0].values, strict=True))
    moved = found.queries(2).filter(measure="RR")
    for kind, sign in (("fell", -1), ("rose", 1)):
        best = sorted((sign * value for value in apart.values() if sign * value > 0), reverse=True)[:2]
        assert (sign * moved.filter(kind=kind)["difference"]).to_list() == pytest.approx(best)


def test_changed_judgments_are_told_and_earlier_rankings_scored_again(tmp_path: Path) -> None:
    changed = {**QRELS, "q0": {**QRELS["q0"], "d0": 2 - QRELS["q0"]["d0"] or 1}}
    saved(tmp_path, 0)
    saved(tmp_path, 1, changed)
    found = dh.history(tmp_path)
    assert found.steps[1].changed == "15 queries: 14 the same, 1 with changed judgments"
    assert found.steps[0].means["RR"]["mean"] == pytest.approx(dh.evaluate(changed, RUNS[0], "RR")["RR"].mean)
    assert all(step.is_comparable for step in found.steps)
    shared = dh.history(tmp_path, judgments="shared")
    assert len(shared.query_ids) == 14
    with pytest.raises(DataError, match="different qrels"):
        dh.history(tmp_path, judgments="strict")


def test_without_a_kept_ranking_values_are_marked(tmp_path: Path) -> None:
    path = tmp_path / "old.json"
    dh.evaluate(QRELS, RUNS[0], "RR").save(path, save_depth=0)
    stamped(path, "2026-10-01T00:00:00.000Z")
    saved(tmp_path, 1, {**QRELS, "new": {"d1": 1}}, measures="RR")
    found = dh.history(tmp_path)
    assert [step.is_comparable for step in found.steps] == [False, True]
    assert found.since["RR"] == (None, None)
    assert "not comparable" in str(found)
    assert found.to_polars()["comparable"].to_list() == [False, True]


def test_a_measure_that_cannot_be_scored_again_is_left_out(tmp_path: Path) -> None:
    """As :func:`compare_evaluations` leaves it out: its values were saved, its function was not."""
    measures = [dh.Custom("found", np.sum), "RR"]
    paths = [
        saved(tmp_path, 0, measures=measures),
        saved(tmp_path, 1, {**QRELS, "q0": {"d0": 1}, "q9x": {"d0": 1}}, measures=measures),
    ]
    found = dh.history(paths)
    assert found.measures == ("RR",)
    scored = "week 0 scored again under those of week 1, and each pair compared on the queries that both were asked"
    assert found.notes == (f"judgments: {scored}", "judgments: not compared: found, for which too little was kept")
    own, pair = (
        found.since["RR"][1],
        dh.compare_evaluations({"old": paths[0], "new": paths[1]}, baseline="old").pairs[0],
    )
    assert own is not None
    assert (own.difference, own.low, own.p_value) == (pair.difference, pair.low, pair.p_value)


@pytest.mark.slow
def test_each_step_has_the_queries_that_its_two_evaluations_share(tmp_path: Path) -> None:
    """A small one before them takes nothing from the later ones."""
    few = {query: own for query, own in QRELS.items() if query in {"q1", "q2"}}
    first = dh.Run({query: RUNS[0][query] for query in few}, name="bm25")
    dh.evaluate(few, first, "nDCG@3 RR").save(tmp_path / "first.json")
    stamped(tmp_path / "first.json", "2026-11-01T10:00:00.000Z")
    paths = [tmp_path / "first.json", saved(tmp_path, 1), saved(tmp_path, 2)]
    found = dh.history(paths)
    assert [step.means["RR"]["n_queries"] for step in found.steps] == [2, 15, 15]
    for step, qrels in ((1, few), (2, QRELS)):
        runs = {name: RUNS[n] for name, n in (("old", step - 1), ("new", step))}
        (pair,) = dh.compare(qrels, runs, "nDCG@3").pairs
        own = found.since["nDCG@3"][step]
        assert own is not None
        assert own.n_queries == len(qrels)
        assert (own.difference, own.p_value) == pytest.approx((pair.difference, pair.p_value))
    assert found.to_polars().filter(measure="RR")["n_shared"].to_list() == [None, 2, 15]
    out = ok("history", *paths)
    assert out.count("queries") > out.count("in both") == 2
    assert "in both" not in ok("history", *paths[1:])


def test_evaluations_that_are_not_like_the_last_are_left_out(tmp_path: Path) -> None:
    """With what differs; all that remain need a measure in common."""
    made = [
        saved(tmp_path, 0),
        saved(tmp_path, 1, ties="doc_id"),
        saved(tmp_path, 2, measures="AP"),
        saved(tmp_path, 3),
    ]
    found = dh.history(made)
    assert [Path(step.file) for step in found.steps] == [made[0], made[3]]
    assert found.measures == ("nDCG@3", "RR")
    assert f"{made[1]} left out: bm25 and bm25 were evaluated under different conventions (ties" in found.notes[1]
    assert f"{made[2]} left out: the evaluations have no measure in common" in found.notes[0]
    with pytest.raises(DataError, match="different conventions"):
        dh.history([made[0], made[3]], reference=made[1])


def test_what_does_not_make_a_history(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="there is no saved evaluation"):
        dh.history(tmp_path)
    one, other = dh.evaluate(QRELS, RUNS[0], "RR"), dh.evaluate(QRELS, RUNS[1], "AP")
    with pytest.raises(DataError, match="no measure in common"):
        dh.history([one, other])
    with pytest.raises(DataError, match=r"\(rel None and 2"):
        dh.history([one, dh.evaluate(QRELS, RUNS[1], "RR", rel=2)])


def test_times_that_are_equal(tmp_path: Path) -> None:
    paths = [saved(tmp_path, n) for n in range(3)]
    stamped(paths[1], "2026-11-03T10:00:00.000Z")
    assert any("of the same time" in one for one in dh.history(paths).notes)


def test_two_evaluations_of_one_minute_differ_by_their_seconds(tmp_path: Path) -> None:
    path = stamped(saved(tmp_path, 1), "2026-11-01T10:00:31.000Z", label="week 0")
    assert "2026-11-01 10:00:31" in ok("history", saved(tmp_path, 0), path)
    assert "10:00:00" not in ok("history", tmp_path / "e9.json", stamped(path, "2026-11-01T10:01:31.000Z"))


def test_weights_weigh_the_differences() -> None:
    weights = {q: 20.0 + n for n, q in enumerate(QRELS)}
    evaluations = [dh.evaluate(QRELS, run, "RR", weights=weights) for run in RUNS[:2]]
    pair = dh.history(evaluations, test="t").since["RR"][1]
    (expected,) = dh.compare(QRELS, {"old": RUNS[0], "new": RUNS[1]}, "RR", weights=weights, test="t").pairs
    assert pair is not None
    assert (pair.difference, pair.p_value) == pytest.approx((expected.difference, expected.p_value))


@pytest.mark.parametrize("ties", ["expected", "doc_id"])
def test_a_step_says_whether_ties_reverse_it(tmp_path: Path, ties: Any) -> None:  # noqa: ANN401 - a policy
    """As `compare` does, but for the probability, which is from a normal distribution without the orders."""
    runs = [{q: {d: round(score / 3) for d, score in own.items()} for q, own in run.items()} for run in RUNS[:2]]
    (expected,) = dh.compare(QRELS, dict(zip("ab", runs, strict=True)), "RR", ties=ties).pairs
    assert expected.can_flip
    evaluations = [dh.evaluate(QRELS, run, "RR", ties=ties) for run in runs]
    files = [tmp_path / f"{n}.json" for n in range(2)]
    for one, file in zip(evaluations, files, strict=True):
        one.save(file)
    for given in (evaluations, files):
        pair = dh.history(given).since["RR"][1]
        assert pair is not None
        assert (pair.can_flip, pair.flip_method) == (True, "normal")
        same = ("difference", "expected_difference", "standard_error", "tie_standard_error", "p_value")
        assert [getattr(pair, name) for name in same] == pytest.approx([getattr(expected, name) for name in same])
        assert pair.flip_probability == pytest.approx(expected.flip_probability, abs=0.05)


@pytest.mark.slow
def test_the_command_and_its_formats(tmp_path: Path) -> None:
    for n in range(3):
        saved(tmp_path, n)
    out = ok("history", tmp_path)
    assert out.startswith("nDCG@3 ")
    assert "week 2 abcdef0" in out
    lines = [json.loads(line) for line in ok("history", tmp_path, "--format", "jsonl").splitlines()]
    frame = dh.history(tmp_path).to_polars()
    assert [line["mean"] for line in lines] == pytest.approx(frame["mean"].to_list())
    assert [line["difference"] for line in lines] == pytest.approx(
        [None if one is None or math.isnan(one) else one for one in frame["difference"]]
    )
    document = json.loads(ok("history", tmp_path, "--format", "json", "--reference", tmp_path / "e9.json"))
    assert document["history"]["3"]["RR"]["mean"] == lines[-1]["mean"]
    for form in ("markdown", "html", "csv"):
        assert "week 2" in ok("history", tmp_path, "--format", form)
    ok("history", tmp_path, "--figures", tmp_path / "drawn")
    assert {one.name for one in (tmp_path / "drawn").iterdir()} == {"history-nDCG@3.svg"}
    ok("history", tmp_path, "--figures", tmp_path / "drawn", "--figure", "history")
    assert {one.name for one in (tmp_path / "drawn").iterdir()} == {"history-nDCG@3.svg", "history-RR.svg"}
    assert call("history", tmp_path / "none").exit_code
    page = tmp_path / "drawn" / "page.html"
    ok("report", "--history", tmp_path, "-o", page)
    text = page.read_text(encoding="utf-8")
    assert text.count("<svg") == 1
    assert "week 2" in text
    assert text.strip() == dh.history(tmp_path).to_html(full=True).strip()
    assert call("report", "--history", tmp_path, "x", "-o", page).exit_code == 2
    assert call("report", "--history", tmp_path, "--test", "t", "-o", page).exit_code == 2
    assert call("report", "-o", page).exit_code == 2


@pytest.mark.slow
def test_the_figure_names_its_steps_and_has_a_line_for_each_system(tmp_path: Path) -> None:
    """By their labels, or if these come again by their days."""
    found = dh.history([saved(tmp_path, n) for n in range(3)])
    assert [row["step"] for row in rows_of(dh.figures.history(found))] == ["week 0", "week 1", "week 2"]
    assert f'<td class="n">{found.steps[2].means["RR"]["mean"]:.4f}' in found.to_html()
    paths = [tmp_path / f"{n}.json" for n in range(4)]
    for n, path in enumerate(paths):
        dh.evaluate(QRELS, dh.Run(RUNS[n], name="ab"[n % 2]), "RR").save(path, label="main")
        stamped(path, f"2026-11-0{n // 2 + 1}T10:00:0{n}.000Z")
    chart = dh.figures.history(dh.history(paths))
    assert [(row["step"], row["system"]) for row in rows_of(chart)] == [
        ("2026-11-01", "a"),
        ("2026-11-01 (2)", "b"),
        ("2026-11-02", "a"),
        ("2026-11-02 (2)", "b"),
    ]
    assert "RR of b is" in str(chart.to_dict()["title"])
    dh.evaluate(QRELS, dh.Run(RUNS[0], name="c"), "RR").save(tmp_path / "c.json")
    stamped(tmp_path / "c.json", "2026-11-09T10:00:00.000Z")
    new = dh.figures.history(dh.history([*paths, tmp_path / "c.json"]))
    assert "is the first of its system" in " ".join(new.to_dict()["title"]["text"])


def test_a_store_only_grows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1795702210")  # two in one second
    Path("qrels.json").write_text(json.dumps(QRELS), encoding="utf-8")
    Path("bm25.json").write_text(json.dumps(RUNS[1]), encoding="utf-8")
    for _ in range(2):
        ok("evaluate", "qrels.json", "bm25.json", "-m", "RR", "--save", "weeks/", "--label", "main")
    names = sorted(one.name for one in Path("weeks").iterdir())
    assert names == ["20261126T141010Z-main-bm25-2.json", "20261126T141010Z-main-bm25.json"]
    assert ok("history", "weeks").startswith("RR is as before, ")


def test_steps_under_earlier_judgments_are_compared_if_these_did_not_change(tmp_path: Path) -> None:
    judgments = [QRELS, QRELS, {**QRELS, "new": {"d1": 1}}, {**QRELS, "newer": {"d1": 1}}]
    for n, qrels in enumerate(judgments):
        path = tmp_path / f"{n}.json"
        dh.evaluate(qrels, RUNS[n % 2], "RR").save(path, save_depth=0)
        stamped(path, f"2026-10-0{n + 1}T00:00:00.000Z")
    found = dh.history(tmp_path)
    assert [step.is_comparable for step in found.steps] == [False, False, False, True]
    assert [pair is not None for pair in found.since["RR"]] == [False, True, False, False]


def test_a_measure_without_a_value(tmp_path: Path) -> None:
    for n in range(2):
        dh.evaluate({"q": {"a": 0}}, {"q": {"a": 1}}, "RR", no_relevant="skip").save(tmp_path / f"{n}.json")
    found = dh.history(tmp_path)
    assert np.isnan(found.steps[0].means["RR"]["mean"])
    assert found.to_polars()["mean"].to_list() == [None, None]
    assert "RR has no value." in str(found)


WEIGHTS = {f"q{n}": float(1 + n % 4 * 3) for n in range(15)}
FEW = pytest.mark.filterwarnings("ignore:.*depend on few queries")
ONE_HEAVY = dict.fromkeys(WEIGHTS, 1.0) | {"q7": 50.0}


@FEW
def test_a_weighted_history_says_so_and_what_its_queries_are_worth() -> None:
    found = dh.history([dh.evaluate(QRELS, run, "RR NumRelRet", weights=WEIGHTS) for run in RUNS[:3]])
    weights = np.array(list(WEIGHTS.values()))
    worth = weights.sum() ** 2 / (weights**2).sum()
    assert found.to_polars().filter(measure="RR")["n_effective"].to_list() == pytest.approx([worth] * 3)
    assert (
        found.to_polars().filter(measure="NumRelRet")["n_effective"].to_list() == [None] * 3
    )  # totals have no weights
    out = " ".join(str(found).split())
    assert f"15 queries worth {worth:.1f}" in out
    assert f"means are weighted: 15 queries are worth {worth:.1f} of equal weight" in out
    plain = dh.history([dh.evaluate(QRELS, run, "RR") for run in RUNS[:3]])
    assert "worth" not in str(plain)
    assert plain.queries()["weight"].to_list() == [None] * len(plain.queries())


def test_equal_weights_are_none_in_a_history() -> None:
    found = dh.history([dh.evaluate(QRELS, run, "RR", weights=dict.fromkeys(WEIGHTS, 2.0)) for run in RUNS[:2]])
    assert "worth" not in str(found)


@FEW
@pytest.mark.parametrize("is_saved", [True, False])
def test_queries_that_move_a_weighted_mean_most_come_first(tmp_path: Path, is_saved: bool) -> None:  # noqa: FBT001 - of pytest
    evaluations = [dh.evaluate(QRELS, run, "nDCG@3", weights=WEIGHTS) for run in RUNS[1:3]]
    paths = []
    for n, evaluation in enumerate(evaluations):
        evaluation.save(tmp_path / f"{n}.json")
        paths.append(stamped(tmp_path / f"{n}.json", f"2026-11-{n + 1:02}T10:00:00.000Z"))
    moved = dh.history(paths if is_saved else evaluations).queries(3)
    before, after = (one["nDCG@3"] for one in evaluations)
    pulls = {
        query: WEIGHTS[query] * (new - old)
        for query, old, new in zip(
            before.query_ids.tolist(), before.values.tolist(), after.values.tolist(), strict=True
        )
    }
    for kind, sign in (("fell", -1), ("rose", 1)):
        wanted = sorted(
            (query for query in pulls if sign * pulls[query] > 1e-9), key=lambda query: -sign * pulls[query]
        )
        own = moved.filter(kind=kind)
        assert (own["weight"] * own["difference"]).to_list() == pytest.approx([pulls[query] for query in wanted[:3]])
        assert own["weight"].to_list() == [WEIGHTS[query] for query in own["query_id"]]


@FEW
def test_the_list_of_a_history_and_that_of_the_gate_name_the_same_queries() -> None:
    names = [f"q{n}" for n in range(12)]
    qrels = {name: {"a": 1} for name in names}
    good = {name: {"a": 2, "b": 1} for name in names}
    bad = {name: {"a": 0, "b": 1} if n < 9 else own for n, (name, own) in enumerate(good.items())}
    weights = {name: float(n + 1) for n, name in enumerate(names)}
    before, after = (dh.evaluate(qrels, run, "RR", weights=weights) for run in (good, bad))
    fell = dh.history([before, after]).queries(3).filter(kind="fell")["query_id"].to_list()
    assert fell == ["q8", "q7", "q6"]
    assert "largest losses: q8 -0.50, q7 -0.50, q6 -0.50" in " ".join(
        str(dh.gate(after, baseline=before, no_regression=True)).split()
    )


def test_queries_of_a_history_without_rows_have_typed_columns() -> None:
    whole = dh.history([dh.evaluate(QRELS, run, "RR") for run in RUNS[:2]])
    alone = dh.history([dh.evaluate(QRELS, RUNS[0], "RR")])
    assert alone.queries().is_empty()
    assert alone.queries().schema == whole.queries().schema
    assert alone.to_polars().schema == whole.to_polars().schema
    referred = dh.history([dh.evaluate(QRELS, RUNS[0], "RR")], reference=dh.evaluate(QRELS, RUNS[1], "RR"))
    assert not {*referred.to_polars().dtypes} & {pl.Null}


def test_a_step_under_other_judgments_names_no_query(tmp_path: Path) -> None:
    for n, qrels in enumerate([QRELS, QRELS | {"new": {"d1": 1}}]):
        path = tmp_path / f"{n}.json"
        dh.evaluate(qrels, RUNS[n], "RR").save(path, save_depth=0)
        stamped(path, f"2026-10-0{n + 1}T00:00:00.000Z")
    found = dh.history(tmp_path)
    assert found.since["RR"][-1] is None
    assert found.queries().is_empty()
    assert "Queries of the last step" not in str(found)


def test_rounding_moves_no_query() -> None:
    """A value that is the same but for its last digit neither fell nor rose."""
    found = dh.history([dh.evaluate(QRELS, RUNS[0], "RR") for _ in range(2)])
    last = found.steps[-1]
    noisy = replace(last, values={"RR": last.values["RR"] * (1 + 1e-15)})
    assert replace(found, steps=(found.steps[0], noisy)).queries().is_empty()


@FEW
def test_the_history_command_takes_weights_from_saved_evaluations(tmp_path: Path) -> None:
    for n, run in enumerate(RUNS[:2]):
        dh.evaluate(QRELS, run, "RR", weights=ONE_HEAVY).save(tmp_path / f"{n}.json")
    worth = 64.0**2 / (14 + 50.0**2)
    assert f"15 queries worth {worth:.1f}" in " ".join(ok("history", str(tmp_path)).split())
    data = json.loads(ok("history", str(tmp_path), "--format", "json"))
    assert data["weights"]["shares"] == {"q7": pytest.approx(50 / 64)}
    assert data["history"]["1"]["RR"]["n_effective"] == pytest.approx(worth)
    rows = [row for of_kind in data["queries"]["RR"].values() for row in of_kind.values()]
    assert {row["weight"] for row in rows} <= {1.0, 50.0}


def test_evaluations_in_memory_are_named_by_their_place() -> None:
    """They were named by their address in memory."""
    first, second = (dh.evaluate({"q": {"a": 1}}, {"q": ["a"]}, "RR") for _ in range(2))
    found = dh.history([first, second], reference=first)
    assert [step.file for step in found.steps] == ["run (1)", "run (2)"]
    assert "run (1), run (2): of the same time, in the order in which they were given" in " ".join(str(found).split())
    assert found.reference == 0


def test_counts_of_a_history_are_totals_as_in_every_table() -> None:
    qrels = {f"q{n}": {"a": 1, "b": 1} for n in range(4)}
    before = {query: {"a": 1.0} for query in qrels}
    after = {query: {"a": 2.0, "b": 1.0} for query in qrels}
    evaluations = [dh.evaluate(qrels, run, ["NumRelRet", "R"]) for run in (before, after)]
    found = dh.history(evaluations)
    rows = found.to_polars().filter(measure="NumRelRet")
    assert rows["mean"].to_list() == [4.0, 8.0]
    assert rows["difference"].to_list() == [None, 4.0]
    assert rows["tie_max"].to_list() == [4.0, 8.0]
    assert rows["low"].to_list() == rows["high"].to_list() == [None, None]  # as in evaluate; it was -inf
    assert rows.schema == found.to_polars().filter(measure="R").schema
    assert [evaluation.means()["NumRelRet"] for evaluation in evaluations] == [4.0, 8.0]
    assert found.to_flat()["numrelret.difference"] == 4.0
    assert "NumRelRet rose by 4.0000 to 8.0000" in str(found)
    assert found.to_polars().filter(measure="R")["mean"].to_list() == [0.5, 1.0]


CLUSTERS = {query: f"user {n // 3}" for n, query in enumerate(QRELS)}


@pytest.mark.slow
@pytest.mark.parametrize("is_weighted", [False, True], ids=["plain", "weighted"])
def test_clusters_are_those_of_a_comparison(tmp_path: Path, is_weighted: bool) -> None:  # noqa: FBT001 - of pytest
    """Given as a dict, as a column, and on the command line; other queries are tested each for itself."""
    weights = {query: 1.0 + n % 3 for n, query in enumerate(QRELS)}
    columns = {"query_id": list(QRELS), "user": list(CLUSTERS.values()), "traffic": list(weights.values())}
    pl.DataFrame(columns).write_csv(tmp_path / "queries.csv")
    folder = tmp_path / "saves"
    folder.mkdir()
    for n in range(2):
        saved(folder, n, measures="nDCG@3")
    given: dict[str, Any] = {"weights": "traffic"} if is_weighted else {}
    table = tmp_path / "queries.csv"
    (pair,) = dh.compare(
        QRELS, {"old": RUNS[0], "new": RUNS[1]}, "nDCG@3", cluster="user", queries=table, **given
    ).pairs
    for cluster in ("user", CLUSTERS):
        has_table = is_weighted or isinstance(cluster, str)
        found = dh.history(folder, cluster=cluster, queries=table if has_table else None, **given)
        step = found.since["nDCG@3"][1]
        assert step is not None
        assert (step.low, step.high, step.p_value) == pytest.approx((pair.low, pair.high, pair.p_value))
        assert any("5 clusters" in note for note in found.notes)
        alone = dh.history(folder, queries=table if is_weighted else None, **given).since["nDCG@3"][1]
        assert alone is not None
        assert alone.p_value != step.p_value
    asked = ["--weights", "traffic"] if is_weighted else []
    printed = ok("history", folder, "--queries", table, "--cluster", "user", *asked, "--format", "csv")
    (row,) = [row for row in csv.DictReader(io.StringIO(printed)) if row["p_adjusted"]]
    assert float(row["p_adjusted"]) == pytest.approx(pair.p_value)


def test_clusters_need_a_test_and_a_table_that_have_them(tmp_path: Path) -> None:
    for n in range(2):
        saved(tmp_path, n)
    with pytest.raises(ParameterError, match=r"test must be one of .* with cluster"):
        dh.history(tmp_path, cluster=CLUSTERS, test="wilcoxon")
    with pytest.raises(ParameterError, match="cluster of every query"):
        dh.history(tmp_path, cluster={"q0": "user 0"})
    result = call("history", tmp_path, "--cluster", "user")
    assert result.exit_code == 2
    assert "--cluster needs a table of queries" in result.stderr
