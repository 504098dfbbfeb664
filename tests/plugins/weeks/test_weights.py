"""Weights of histories, and of saves that had others or none: against weighted means by NumPy."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import deadheat as dh
from deadheat.core.evaluation.documents import checksum
from deadheat.errors import DataError, ParameterError
from support.command import call, ok
from support.error_parts import raises_parts

if TYPE_CHECKING:
    from pathlib import Path

RNG = np.random.default_rng(8)
IDS = [f"q{n:02}" for n in range(14)]
QRELS = {query: {f"d{doc}": int(RNG.integers(0, 3)) for doc in range(6)} for query in IDS}
RUNS = [{query: {f"d{doc}": float(RNG.integers(0, 5)) for doc in range(6)} for query in IDS} for _ in range(3)]
TRAFFIC = {query: float(1 + n % 5 * 2) for n, query in enumerate(IDS)}
SALES = {query: float(1 + n % 3) for n, query in enumerate(IDS)}

pytestmark = pytest.mark.filterwarnings("ignore:.*depend on few queries")


def weighted_mean(week: int, weights: dict[str, float], qrels: Any = None, queries: Any = IDS) -> float:  # noqa: ANN401 - dicts
    """Return the mean of a run by weights, of values that were made without any."""
    scores = dh.evaluate(qrels or QRELS, RUNS[week], "nDCG@3")["nDCG@3"]
    values = dict(zip(scores.query_ids.tolist(), scores.values.tolist(), strict=True))
    return float(np.average([values[query] for query in queries], weights=[weights[query] for query in queries]))


def save(folder: Path, week: int, weights: dict[str, float] | None, **options: Any) -> Path:  # noqa: ANN401 - as `evaluate` takes them
    """Save the evaluation of a week, as if it had been saved then."""
    path = folder / f"week{week}.json"
    save_depth = options.pop("save_depth", 100)
    qrels = options.pop("qrels", QRELS)
    run = dh.Run(RUNS[week], name="bm25")
    dh.evaluate(qrels, run, "nDCG@3", weights=weights, **options).save(path, save_depth=save_depth)
    document = json.loads(path.read_text(encoding="utf-8"))
    document |= {"time": f"2026-11-0{week + 1}T10:00:00.000Z", "label": f"week {week}"}
    document["sha256"] = checksum(document)
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    rows = [f"{query},{TRAFFIC[query]:g},{SALES[query]:g}" for query in IDS]
    (tmp_path / "queries.csv").write_text("\n".join(["query_id,traffic,sales", *rows]), encoding="utf-8")
    return tmp_path


def test_a_history_takes_weights(folder: Path) -> None:
    for week in range(3):
        save(folder, week, None)
    found = dh.history([folder / f"week{week}.json" for week in range(3)], weights="traffic", queries="queries.csv")
    assert [step.means["nDCG@3"]["mean"] for step in found.steps] == pytest.approx(
        [weighted_mean(week, TRAFFIC) for week in range(3)]
    )
    for week, step in enumerate(found.steps):
        interval = dh.evaluate(QRELS, RUNS[week], "nDCG@3", weights=TRAFFIC)["nDCG@3"].interval()
        assert (step.means["nDCG@3"]["low"], step.means["nDCG@3"]["high"]) == pytest.approx(
            (interval.low, interval.high)
        )
    for week in (1, 2):
        runs = {"old": RUNS[week - 1], "new": RUNS[week]}
        (expected,) = dh.compare(QRELS, runs, "nDCG@3", weights=TRAFFIC).pairs
        pair = found.since["nDCG@3"][week]
        assert pair is not None
        assert (pair.difference, pair.low, pair.p_value) == pytest.approx(
            (expected.difference, expected.low, expected.p_value)
        )


def test_the_command_takes_them_too(folder: Path) -> None:
    for week in range(3):
        save(folder, week, TRAFFIC if week else None)
    files = [f"week{week}.json" for week in range(3)]
    out = ok("history", *files, "--queries", "queries.csv", "--weights", "sales", "--format", "json")
    steps = json.loads(out)["history"].values()
    assert [step["nDCG@3"]["mean"] for step in steps] == pytest.approx(
        [weighted_mean(week, SALES) for week in range(3)]
    )
    wrong = call("history", *files, "--weights", "sales")
    assert (wrong.exit_code, "--queries FILE" in wrong.stderr) == (2, True)
    wrong = call("history", *files, "--queries", "queries.csv")
    assert (wrong.exit_code, "--weights COLUMN" in wrong.stderr) == (2, True)
    wrong = call("history", *files, "--queries", "queries.csv", "--weights", "trafic")
    assert (wrong.exit_code, "Did you mean 'traffic'" in wrong.stderr) == (3, True)


@pytest.mark.parametrize("before", [None, SALES])
def test_saves_of_other_weights_are_brought_under_those_of_the_last(folder: Path, before: Any) -> None:  # noqa: ANN401 - or None
    paths = [save(folder, 0, before), save(folder, 1, TRAFFIC)]
    expected = [weighted_mean(week, TRAFFIC) for week in range(2)]
    found = dh.history(paths)
    assert [step.means["nDCG@3"]["mean"] for step in found.steps] == pytest.approx(expected)
    pair = found.since["nDCG@3"][1]
    assert pair is not None
    assert pair.difference == pytest.approx(expected[1] - expected[0])
    assert any("week 0 under those of week 1" in note for note in found.notes)
    comparison = dh.compare_evaluations({"old": paths[0], "new": paths[1]})
    (pair,) = comparison.pairs
    assert (pair.baseline_mean, pair.mean) == pytest.approx(expected)
    shared = comparison.shared_weights
    assert shared is not None
    assert (shared.reference, shared.reweighted, shared.are_equal) == ("new", ("old",), False)
    result = dh.gate(paths[1], [], baseline=paths[0])
    check = result.checks[0]
    assert (check.baseline_mean, check.mean) == pytest.approx(expected)
    assert result.shared_weights is not None
    assert result.shared_weights.reweighted == ("week 0",)
    told = json.loads(call("gate", "week1.json", "--baseline", "week0.json", "--format", "json").stdout)
    assert told["shared_weights"]["reference"] == "week 1"


def test_an_older_save_of_weights_counts_each_query_the_same_beside_a_newer_one_without(folder: Path) -> None:
    paths = [save(folder, 0, TRAFFIC), save(folder, 1, None)]
    equal = dict.fromkeys(IDS, 1.0)
    comparison = dh.compare_evaluations({"old": paths[0], "new": paths[1]})
    (pair,) = comparison.pairs
    assert (pair.baseline_mean, pair.mean) == pytest.approx([weighted_mean(week, equal) for week in range(2)])
    assert pair.n_effective is None
    shared = comparison.shared_weights
    assert shared is not None
    assert (shared.reference, shared.reweighted, shared.are_equal) == ("new", ("old",), True)


def test_in_a_gate_the_weights_of_what_is_checked_count(folder: Path) -> None:
    """Thresholds are of them; the baseline may be newer."""
    old, new = save(folder, 0, TRAFFIC), save(folder, 1, SALES)
    check = dh.gate(old, [], baseline=new).checks[0]
    assert (check.mean, check.baseline_mean) == pytest.approx([weighted_mean(week, TRAFFIC) for week in range(2)])


def test_weights_name_their_column_once(folder: Path) -> None:
    evaluation = dh.evaluate(QRELS, RUNS[0], "nDCG@3", weights="sales", queries="queries.csv")
    notes = evaluation.weighted("traffic", "queries.csv").notes
    assert [note for note in notes if note.startswith("weights")] == ["weights: traffic of queries.csv"]
    evaluation.weighted("traffic", "queries.csv").save(folder / "new.json")
    save(folder, 0, None)
    shared = dh.compare_evaluations({"old": folder / "week0.json", "new": folder / "new.json"}).shared_weights
    assert shared is not None
    assert shared.source == "traffic of queries.csv"


def test_queries_of_weight_0_get_their_values_back_from_the_ranking(folder: Path) -> None:
    without = TRAFFIC | {"q03": 0.0}
    loaded = dh.load_evaluation(save(folder, 0, without))
    assert np.isnan(loaded["nDCG@3"].values[3])
    assert loaded.weighted(TRAFFIC).means()["nDCG@3"] == pytest.approx(weighted_mean(0, TRAFFIC))
    found = dh.history([folder / "week0.json", save(folder, 1, TRAFFIC)])
    assert found.steps[0].means["nDCG@3"]["mean"] == pytest.approx(weighted_mean(0, TRAFFIC))


def test_without_a_ranking_such_values_are_lost(folder: Path) -> None:
    without = TRAFFIC | {"q03": 0.0}
    path = save(folder, 0, without, save_depth=0)
    with raises_parts(DataError, "keeps no values of 1 query that had weight 0: 'q03'"):
        dh.load_evaluation(path).weighted(TRAFFIC)
    found = dh.history([path, save(folder, 1, TRAFFIC), save(folder, 2, TRAFFIC)])
    assert [step.origin.label for step in found.steps] == ["week 1", "week 2"]
    assert any("week0.json left out" in note for note in found.notes)
    with raises_parts(DataError, "keeps no values of 1 query that had weight 0: 'q03'"):
        dh.history([path, folder / "week1.json"])
    still_0 = dh.load_evaluation(path).weighted(SALES | {"q03": 0.0})
    assert still_0.means()["nDCG@3"] == pytest.approx(weighted_mean(0, SALES | {"q03": 0.0}))


def test_queries_that_the_last_save_has_no_weight_for_are_left_out(folder: Path) -> None:
    fewer = {query: own for query, own in QRELS.items() if query not in {"q01", "q02"}}
    paths = [save(folder, 0, None), save(folder, 1, TRAFFIC, qrels=fewer)]
    found = dh.history(paths, judgments="shared")
    queries = [query for query in IDS if query in fewer]
    assert found.steps[0].means["nDCG@3"]["mean"] == pytest.approx(weighted_mean(0, TRAFFIC, queries=queries))
    assert any("q01 and q02 of week 0" in note or "q01, q02 of week 0" in note for note in found.notes)


def test_a_query_that_the_last_run_skipped_counts_nothing_before() -> None:
    """The last one has no weight for it."""
    fewer = {query: own for query, own in RUNS[1].items() if query != "q01"}
    old = dh.evaluate(QRELS, RUNS[0], "nDCG@3", missing="skip")
    new = dh.evaluate(QRELS, fewer, "nDCG@3", missing="skip", weights=TRAFFIC)
    found = dh.history([old, new])
    queries = [query for query in IDS if query != "q01"]
    assert [step.means["nDCG@3"]["mean"] for step in found.steps] == pytest.approx(
        [weighted_mean(week, TRAFFIC, queries=queries) for week in range(2)]
    )


def test_new_queries_beside_a_newer_save_without_weights(folder: Path) -> None:
    fewer = {query: own for query, own in QRELS.items() if query != "q00"}
    paths = [save(folder, 0, SALES, qrels=fewer), save(folder, 1, None)]
    found = dh.history(paths)
    equal = dict.fromkeys(IDS, 1.0)
    assert found.steps[1].means["nDCG@3"]["mean"] == pytest.approx(weighted_mean(1, equal))
    pair = found.since["nDCG@3"][1]
    assert pair is not None
    assert pair.baseline_mean == pytest.approx(weighted_mean(0, equal, queries=IDS[:]))


def test_of_evaluations_that_were_not_saved_neither_is_newer() -> None:
    evaluations = [dh.evaluate(QRELS, run, "RR", weights=own) for run, own in zip(RUNS, (TRAFFIC, SALES), strict=False)]
    with raises_parts(DataError, "different weights, and neither is newer.* weights='traffic'"):
        dh.compare_evaluations(dict(zip("ab", evaluations, strict=True)))
    (pair,) = dh.compare_evaluations(dict(zip("ab", evaluations, strict=True)), weights=SALES).pairs
    values = [dh.evaluate(QRELS, run, "RR")["RR"].values for run in RUNS[:2]]
    assert pair.difference == pytest.approx(np.average(values[1] - values[0], weights=list(SALES.values())))


def test_rescore_takes_weights(folder: Path) -> None:
    save(folder, 0, TRAFFIC)
    loaded = dh.load_evaluation("week0.json")
    assert loaded.rescored(weights="sales", queries="queries.csv").means()["nDCG@3"] == pytest.approx(
        weighted_mean(0, SALES)
    )
    assert loaded.rescored().means()["nDCG@3"] == pytest.approx(weighted_mean(0, TRAFFIC))
    more = QRELS | {"new": {"d1": 1}}
    weights = SALES | {"new": 5.0}
    again = loaded.rescored(more, missing="empty", weights=weights)
    assert again.means()["nDCG@3"] == pytest.approx(
        dh.evaluate(more, RUNS[0], "nDCG@3", weights=weights).means()["nDCG@3"]
    )
    with raises_parts(ParameterError, "queries is the table that has the column of weights"):
        loaded.rescored(queries="queries.csv")
    ok("rescore", "week0.json", "--queries", "queries.csv", "--weights", "sales", "--save", "again.json")
    assert dh.load_evaluation("again.json").means()["nDCG@3"] == pytest.approx(weighted_mean(0, SALES))
    for options, wanted in (
        (("--weights", "sales"), "--queries FILE"),
        (("--queries", "queries.csv"), "--weights COLUMN"),
    ):
        wrong = call("rescore", "week0.json", *options)
        assert (wrong.exit_code, wanted in wrong.stderr) == (2, True)


def test_gates_of_a_project_take_weights(folder: Path) -> None:
    save(folder, 0, None)
    save(folder, 1, None)
    (folder / "pyproject.toml").write_text(
        "[tool.deadheat.gates]\nchecks = ['nDCG@3 >= 0']\nbaseline = 'week0.json'\nqueries = 'queries.csv'\n"
        "weights = 'traffic'\n",
        encoding="utf-8",
    )
    for options, weights in (((), TRAFFIC), (("--weights", "sales"), SALES)):
        found = call("gate", "week1.json", "--format", "json", *options)
        document = json.loads(found.stdout)
        assert document["checks"]["nDCG@3 >= 0"]["value"] == pytest.approx(weighted_mean(1, weights))
        assert document["regressions"]["nDCG@3"]["baseline"] == pytest.approx(weighted_mean(0, weights))
    (folder / "pyproject.toml").write_text(
        "[tool.deadheat.gates]\nchecks = ['nDCG@3 >= 0']\nweights = 'traffic'\n", encoding="utf-8"
    )
    wrong = call("gate", "week1.json")
    assert (wrong.exit_code, "--queries FILE" in wrong.stderr) == (2, True)
    (folder / "pyproject.toml").write_text("[tool.deadheat.gates]\nchecks = ['RR > 0']\nweights = 3\n")
    wrong = call("gate", "week1.json")
    assert (wrong.exit_code, "weights must be a text, got 3" in wrong.stderr) == (2, True)
