"""dh.leaderboard: every form of results, what is missing, what ties and single tasks change, and its level."""

from __future__ import annotations

import json
import re
import tracemalloc
from itertools import pairwise, permutations, product
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
from scipy import stats as scipy_stats

import deadheat as dh
from deadheat.core.stats.units import Units
from deadheat.errors import ColumnError, DataError, DuplicateError, ParameterError
from deadheat.plugins.leaderboard.report import report_leaderboard
from deadheat.plugins.leaderboard.separation import pairwise_errors
from support.numbers_in_text import numbers_in
from support.report_facts import facts_of_object
from support.shared_data import LLM_RUNS, llm_qrels, llm_run, needs_shared_data
from support.small_bench import CASES, DOCUMENTS, known

if TYPE_CHECKING:
    from pathlib import Path

    from deadheat.api import FloatArray


def table(values: FloatArray, *, has_queries: bool = True) -> pl.DataFrame:
    """Return values of shape (n_tasks, n_queries, n_models) as a long table."""
    tasks, queries, models = np.indices(values.shape).reshape(3, -1)
    frame = pl.DataFrame(
        {
            "task": [f"t{n}" for n in tasks],
            "query_id": [f"q{n}" for n in queries],
            "model": [f"m{n}" for n in models],
            "value": values.ravel(),
        }
    )
    return frame if has_queries else frame.drop("query_id")


def drawn(*shape: int, seed: int = 0, effect: float = 0.0) -> FloatArray:
    rng = np.random.default_rng(seed)
    tasks, queries, models = shape
    level = 0.5 + rng.normal(0, 0.05, (tasks, 1, 1)) + rng.normal(0, 0.1, (tasks, queries, 1))
    return np.clip(level + rng.normal(0, 0.1, shape) + np.linspace(effect, 0, models), 0, 1)


def runs(folder: Path, tasks: dict[str, dict[str, dict[str, float]]]) -> Path:
    """Write {task: {model: {document: score}}}; the document r is relevant to the query q."""
    for task, models in tasks.items():
        (folder / task).mkdir(parents=True)
        (folder / task / "qrels").write_text("q 0 r 1\n", encoding="utf-8")
        for model, scores in models.items():
            lines = [f"q Q0 {doc} 1 {score} x\n" for doc, score in scores.items()]
            (folder / task / f"{model}.run").write_text("".join(lines), encoding="utf-8")
    return folder


def test_means_and_ranks_of_a_table() -> None:
    values = drawn(3, 12, 4, effect=0.6)
    found = dh.leaderboard(table(values))
    frame = found.to_polars()
    means = {f"m{n}": float(values[:, :, n].mean(axis=1).mean()) for n in range(4)}
    assert frame["model"].to_list() == sorted(means, key=lambda name: -means[name])
    assert frame["mean"].to_list() == pytest.approx(sorted(means.values(), reverse=True))
    assert frame["rank"].to_list() == [1, 2, 3, 4]
    ranks = [[1 + sum(other > own for other in row) for own in row] for row in values.mean(axis=1).tolist()]
    expected = {f"m{n}": np.mean([row[n] for row in ranks]) for n in range(4)}
    assert frame["mean_rank"].to_list() == pytest.approx([expected[name] for name in frame["model"]])
    assert all(low <= rank <= high for low, rank, high in frame.select("rank_low", "rank", "rank_high").iter_rows())
    assert found.sampling == "fixed"


@pytest.mark.slow
def test_same_results_in_every_form(tmp_path: Path) -> None:
    folder = runs(
        tmp_path / "runs",
        {
            "one": {"a": {"r": 2, "x": 1}, "b": {"r": 1, "x": 2}},
            "two": {"a": {"r": 1, "x": 1}, "b": {"r": 1, "x": 2, "y": 2}},
        },
    )
    expected = {"a": (1 + 0.75) / 2, "b": (0.5 + 1 / 3) / 2}
    evaluations: dict[str, dict[str, Any]] = {}
    for task in ("one", "two"):
        for model in ("a", "b"):
            path = tmp_path / "saved" / task / f"{model}.json"
            path.parent.mkdir(parents=True, exist_ok=True)
            own = dh.evaluate(dh.read_qrels(folder / task / "qrels"), folder / task / f"{model}.run", ["RR", "P@1"])
            own.save(path)
            evaluations.setdefault(task, {})[model] = own
    rows = [(task, model, own.means()["RR"]) for task, held in evaluations.items() for model, own in held.items()]
    frame = pl.DataFrame(rows, ["dataset", "system", "score"], orient="row")
    frame.write_csv(tmp_path / "table.csv")
    frame.write_parquet(tmp_path / "table.parquet")
    sources = [
        (folder, "RR"),
        (evaluations, None),
        (frame, None),
        (tmp_path / "table.csv", None),
        (str(tmp_path / "table.parquet"), None),
        (dict(zip(["task", "model", "value"], map(list, zip(*rows, strict=True)), strict=True)), None),
    ]
    for source, measure in sources:
        found = dh.leaderboard(source, measure=measure)
        assert dict(zip(found.models, found.mean_low, strict=True)) == pytest.approx(expected)
        assert found.tasks == ("one", "two")


def test_saved_evaluations_of_equal_judgments_are_a_task(tmp_path: Path) -> None:
    paths = []
    for task, gain in (("one", 1), ("two", 2)):
        qrels = dh.Qrels({"q": {"r": gain}}, name=f"qrels.{task}")
        for model, score in (("a", 2), ("b", 1)):
            path = tmp_path / f"{task}-{model}.json"
            dh.evaluate(qrels, dh.Run({"q": {"r": score, "x": 1}}, name=model), "RR").save(path)
            paths.append(path)
    for source in (tmp_path, paths):
        found = dh.leaderboard(source)
        assert found.tasks == ("qrels.one", "qrels.two")
        assert found.models == ("a", "b")


def test_ties_reverse_the_pairs_that_some_order_reverses(tmp_path: Path) -> None:
    tied: dict[str, list[dict[str, float]]] = {
        "a": [{"r": 3, "x": 1, "y": 1}, {"r": 1, "x": 1, "y": 0}],
        "b": [{"r": 1, "x": 1, "y": 1}, {"r": 3, "x": 1}],
        "c": [{"r": 1, "x": 2, "y": 2}, {"r": 1, "x": 1, "y": 2}],
    }
    folder = runs(tmp_path, {f"t{n}": {name: own[n] for name, own in tied.items()} for n in range(2)})
    found = dh.leaderboard(folder, measure="RR")
    means: dict[str, set[float]] = {}
    for name, own in tied.items():
        of_tasks = [
            {
                1 / (order.index("r") + 1)
                for order in permutations(scores)
                if all(scores[one] >= scores[other] for one, other in pairwise(order))
            }
            for scores in own
        ]
        means[name] = {sum(pair) / 2 for pair in product(*of_tasks)}
    exact = dict(zip(found.models, found.mean_low.tolist(), strict=True))
    expected = {
        (one, other)
        for one, other in permutations(tied, 2)
        if exact[one] > exact[other] and any(x < y for x in means[one] for y in means[other])
    }
    assert found.reversible is not None
    assert set(found.reversible) == expected
    assert found.tie_ranks is not None
    orders = [dict(zip(means, chosen, strict=True)) for chosen in product(*means.values())]
    for name, (low, high) in zip(found.models, found.tie_ranks, strict=True):
        first = [1 + sum(other > order[name] for other in order.values()) for order in orders]
        last = [sum(other >= order[name] for other in order.values()) for order in orders]
        assert (low, high) == (min(first), max(last))


def test_models_without_all_tasks_are_apart() -> None:
    values = drawn(3, 8, 3, effect=0.5)
    given = table(values).filter(~((pl.col("task") == "t2") & (pl.col("model") == "m0")))
    found = dh.leaderboard(given)
    assert found.models == ("m1", "m2")
    frame = found.to_polars()
    assert frame.filter(model="m0").select("mean", "rank", "n_tasks").row(0) == (None, None, 2)
    dropped = dh.leaderboard(given, missing="drop-task")
    assert dropped.tasks == ("t0", "t1")
    assert dropped.models[0] == "m0"
    assert dh.leaderboard(given, missing="drop-model").to_polars()["model"].to_list() == ["m1", "m2"]
    bounds = dh.leaderboard(given, missing="bounds").to_polars().filter(model="m0").row(0, named=True)
    own = values[:2, :, 0].mean(axis=1).sum() / 3
    assert (bounds["mean_low"], bounds["mean_high"]) == pytest.approx((own, own + 1 / 3))
    assert bounds["mean"] is None


def test_the_headline_names_all_that_share_the_best_mean(tmp_path: Path) -> None:
    given = pl.DataFrame({"task": ["x", "x", "y", "y"], "model": ["a", "b", "a", "b"], "value": [0.5, 0.6, 0.7, 0.6]})
    for some, start in ((given, "a and b share the best"), (given[:2], "b has the best")):
        headline = str(dh.leaderboard(some)).partition("\n\n")[0]
        assert headline.startswith(start)
        assert "sure is not known" in " ".join(headline.split())
    lacks = pl.concat([given, pl.DataFrame({"task": ["x"], "model": ["c"], "value": [0.55]})])
    assert str(dh.leaderboard(lacks, missing="bounds")).startswith("It is open which model ")
    sure = dh.leaderboard(table(drawn(2, 30, 3, effect=0.4)))
    assert str(sure).startswith("m0 is above all others by more ")
    assert facts_of_object(sure).get("neighbours", "0 of 2 pairs").startswith("0 of 2 pairs")
    assert re.search("^neighbours +0 of 2 pairs", str(sure), re.MULTILINE)
    assert str(dh.leaderboard(given[:1])).startswith("a is the only model ")
    query = {"r": 0.5, "d": 0.5}
    folder = runs(tmp_path, {"t": {"a": query, "b": query}, "u": {"a": query}})
    facts = report_leaderboard(dh.leaderboard(folder, measure="RR", missing="bounds")).facts
    text = " ".join(fact.text for fact in facts)
    assert "not told where values are missing" in text
    assert "not known of these values" not in text


def test_bounds_are_separated_only_if_any_value_would_be() -> None:
    values = drawn(2, 30, 3)
    values[:, :, 0] = 0.7 - values[:, :, 0] / 100
    given = table(values).filter(~((pl.col("task") == "t1") & (pl.col("model") == "m2")))
    found = dh.leaderboard(given, missing="bounds")
    assert found.uncertainty is not None
    place = {name: n for n, name in enumerate(found.models)}
    for filled in (0.0, 1.0):
        whole = values.copy()
        whole[1, :, 2] = filled
        other = dh.leaderboard(table(whole))
        assert other.uncertainty is not None
        own = {name: n for n, name in enumerate(other.models)}
        for one, two in permutations(place, 2):
            if found.uncertainty.better[place[one], place[two]]:
                assert other.uncertainty.better[own[one], own[two]]
    assert found.uncertainty.better[place["m0"], place["m1"]]
    assert not found.uncertainty.better[place["m0"], place["m2"]]


def test_weights_and_groups() -> None:
    values = drawn(4, 6, 3)
    means = values.mean(axis=1)
    weights = {"t0": 1, "t1": 3, "t2": 1, "t3": 2}
    groups = {"t0": "x", "t1": "x", "t2": "y", "t3": "y"}
    found = dh.leaderboard(table(values), weights=weights, groups=groups)
    expected = ((means[0] + 3 * means[1]) / 4 + (means[2] + 2 * means[3]) / 3) / 2
    assert dict(zip(found.models, found.mean_low, strict=True)) == pytest.approx(
        {f"m{n}": one for n, one in enumerate(expected.tolist())}
    )
    of_x = dict(zip(found.models, found.group_means["x"], strict=True))
    assert of_x["m1"] == pytest.approx((means[0, 1] + 3 * means[1, 1]) / 4)
    labelled = table(values).with_columns(kind=pl.col("task").replace_strict(groups))
    assert dh.leaderboard(labelled, groups="kind", weights=weights).mean_low == pytest.approx(found.mean_low)


def test_order_without_each_task() -> None:
    values = drawn(3, 5, 4, seed=3)
    found = dh.leaderboard(table(values))
    means = dict(zip(found.models, (row.mean() for row in found.values), strict=True))
    for row in found.leave_one_out().iter_rows(named=True):
        kept = [n for n, name in enumerate(found.tasks) if name != row["task"]]
        own = {name: found.values[n, kept].mean() for n, name in enumerate(found.models)}
        assert row["leader"] == max(own, key=own.__getitem__)
        pairs = [(one, other) for one, other in permutations(own, 2) if means[one] > means[other]]
        swapped = sum(own[one] < own[other] for one, other in pairs)
        assert row["n_swapped"] == swapped
        assert row["tau_b"] == pytest.approx(1 - 2 * swapped / len(pairs))


def test_without_a_task_models_of_equal_means_keep_their_order() -> None:
    """Without t0 both have 0.2, of which rounding makes one a little more."""
    rows = [("t0", "m1", 0.9), ("t1", "m1", 0.3), ("t2", "m1", 0.2), ("t3", "m1", 0.1)]
    rows += [("t0", "m2", 0.5), ("t1", "m2", 0.1), ("t2", "m2", 0.2), ("t3", "m2", 0.3)]
    found = dh.leaderboard(pl.DataFrame(rows, ["task", "model", "value"], orient="row"))
    without = {row["task"]: row["leader"] for row in found.leave_one_out().iter_rows(named=True)}
    assert without["t0"] == "m1"
    assert found.deciding_task is None


def test_all_tasks_that_decide_are_named() -> None:
    """Without t0 or t1, two of the best one's three tasks, the steady one leads."""
    means = {"uneven": (0.8, 0.8, 0.0), "steady": (0.5, 0.5, 0.5)}
    rows = [(f"t{n}", model, value) for model, own in means.items() for n, value in enumerate(own)]
    found = dh.leaderboard(pl.DataFrame(rows, ["task", "model", "value"], orient="row"))
    assert found.deciding_task == "t0"
    assert "without t0 steady leads" in " ".join(str(found).split())
    decides = next(fact.text for fact in report_leaderboard(found).facts if fact.heading == "decides")
    assert decides.startswith("t0, t1: ")


def test_a_leaderboard_is_of_one_measure(tmp_path: Path) -> None:
    folder = runs(tmp_path, {task: {"a": {"r": 1.0}, "b": {"r": 0.5, "x": 1.0}} for task in ("one", "two")})
    assert dh.leaderboard(folder, measure="RR").models[0] == "a"
    with pytest.raises(dh.DeadheatError, match="measure 'RR AP'"):
        dh.leaderboard(folder, measure="RR AP")


def test_no_task_decides_who_leads_where_nobody_does() -> None:
    values = np.array([[0.1, 0.2, 0.3], [0.2, 0.3, 0.1], [0.3, 0.1, 0.2]])[:, None, :]
    found = dh.leaderboard(table(values, has_queries=False))
    assert found.ranks == [1, 1, 1]
    assert len(set(found.leave_one_out()["leader"])) > 1
    assert found.deciding_task is None


def test_groups_may_be_numbers_and_models_have_the_name_of_a_column() -> None:
    values = drawn(2, 5, 2)
    by_number: Any = {"t0": 0, "t1": 1}
    by_text, by_number = (dh.leaderboard(table(values), groups=own) for own in ({"t0": "0", "t1": "1"}, by_number))
    assert by_number.groups == by_text.groups == ("0", "1")
    assert str(by_number) == str(by_text)
    renamed = table(values).with_columns(pl.col("model").replace("m0", "query_id"))
    assert dict(zip(*(getattr(dh.leaderboard(renamed), name) for name in ("models", "mean_low")), strict=True)) == {
        name.replace("m0", "query_id"): mean
        for name, mean in zip(by_text.models, dh.leaderboard(table(values)).mean_low, strict=True)
    }


def test_tasks_alone_take_ten_of_them() -> None:
    few = dh.leaderboard(table(drawn(9, 1, 3), has_queries=False))
    assert few.tiers is None
    assert "9 tasks" in few.unknown
    many = dh.leaderboard(table(drawn(12, 1, 3, effect=0.9), has_queries=False))
    assert many.sampling == "random"
    assert many.tiers is not None
    assert dh.leaderboard(table(drawn(12, 1, 3), has_queries=False), tasks="fixed").tiers is None


@pytest.mark.slow
@pytest.mark.parametrize("sampling", ["fixed", "random"])
def test_equal_models_are_rarely_separated(sampling: str) -> None:
    """The level is that of any false separation at all; of 100 draws 12 and more have a probability of 0.4%."""
    shape = (3, 10, 8) if sampling == "fixed" else (12, 1, 8)
    false = 0
    for seed in range(100):
        own = table(drawn(*shape, seed=seed), has_queries=sampling == "fixed")
        found = dh.leaderboard(own, n_resamples=500, rng=seed)
        false += set(found.rank_intervals or []) != {(1, shape[2])}
    assert false < 12


@pytest.mark.parametrize(
    ("given", "error", "text"),
    [
        ({"task": ["t", "t"], "model": ["a", "a"], "value": [0.1, 0.2]}, DuplicateError, "model a appears twice"),
        ({"task": ["t", "t"], "model": ["a", "b"], "value": [62.0, 0.62]}, DataError, "b up to 0.62, of a up to 62"),
        ({"task": ["t"] * 3, "model": ["a", "b", "c"], "value": [0.62, 4.0, 62.0]}, DataError, "different scales"),
        ({"task": ["t", "t"], "model": ["a", "b"], "value": [0.1, 70.0]}, DataError, "different scales"),
        ({"task": ["t", "t"], "model": ["a", "b"], "value": [0.1, float("nan")]}, DataError, "not a finite number"),
        ({"task": ["t", "t"], "model": ["a", "b"], "value": ["0.1", "x"]}, DataError, "not a finite number"),
        ({"task": ["t", "u"], "model": ["a", "b"], "value": [0.1, 0.2]}, DataError, "no model has results on all"),
        (
            {"task": ["t", "u"], "model": ["a", "a"], "measure": ["RR", "AP"], "value": [0.1, 0.2]},
            DataError,
            "no measure in common",
        ),
        ({"task": [], "model": [], "value": []}, DataError, "has no value"),
        (
            {"task": ["t"] * 3, "model": ["a", "b", "b"], "query_id": ["p", "q", "r"], "value": [0.1, 0.2, 0.3]},
            DataError,
            "task t has no query with a value of every model: a lacks most",
        ),
        ({"task": ["t"], "model": ["a"], "query_id": ["q"]}, ColumnError, "no column 'value'"),
        ({"t": {}}, DataError, "task t has no results"),
    ],
)
def test_bad_input(given: dict[str, Any], error: type[Exception], text: str) -> None:
    source = pl.DataFrame(given) if "task" in given else given
    with pytest.raises(error, match=text):
        dh.leaderboard(source)


def of_means(**tasks: dict[str, float]) -> pl.DataFrame:
    """Return the means of models by task as a long table."""
    rows = [(task, model, value) for task, models in tasks.items() for model, value in models.items()]
    return pl.DataFrame(rows, ["task", "model", "value"], orient="row")


@pytest.mark.parametrize(
    ("tasks", "has_note"),
    [
        ({"t": {"a": 1.01, "b": 0.9}, "u": {"a": 0.5, "b": 0.4}}, False),  # a normalised score may be above 1
        ({"mt_bench": {"a": 8.9, "b": 6.1}, "sts": {"a": 0.8, "b": 0.7}}, True),
        ({"mt_bench": {"a": 8.9, "b": 1.0}}, False),
        ({"t": {"a": 58.0, "b": 41.5}, "u": {"a": 0.5, "b": 0.4}}, True),
        ({"t": {"a": 58.0, "b": 9.0, "c": 2.1, "d": 0.7}}, False),  # percentages of good and bad models
    ],
)
def test_tasks_have_their_own_scales(tasks: dict[str, dict[str, float]], has_note: bool) -> None:  # noqa: FBT001 - of pytest
    found = dh.leaderboard(of_means(**tasks))
    means = {model: float(np.mean([own[model] for own in tasks.values()])) for model in next(iter(tasks.values()))}
    assert dict(zip(found.models, found.mean_low.tolist(), strict=True)) == pytest.approx(means)
    assert any("scales of their own" in note for note in found.notes) == has_note


def test_low_percentages_of_a_model_with_percentages_are_no_shares() -> None:
    """A column with 0.5 beside 58 was refused as mixed scales, and the advice made 0.5 of it."""
    found = dh.leaderboard(of_means(t={"good": 58.0, "bad": 0.5}, u={"good": 40.0, "bad": 30.0}))
    assert found.models == ("good", "bad")
    assert "values of bad up to 1 on t count as percentages, as the others do" in found.notes
    shares = of_means(t={"a": 58.0, "b": 0.62}, u={"a": 40.0, "b": 0.3})
    with pytest.raises(DataError, match="if all are percentages, divide all by 100; if some are"):
        dh.leaderboard(shares)
    ratings = of_means(t={"a": 58.0, "b": 0.62}, mt_bench={"a": 7.5, "b": 6.0})  # say nothing of b's unit
    with pytest.raises(DataError, match=r"task t may be on different scales: of b up to 0\.62, of a up to 58"):
        dh.leaderboard(ratings)


def test_bounds_of_tasks_on_different_scales_are_refused() -> None:
    """A missing value of MT-bench is from 1 to 10, one of the other task from 0 to 1."""
    given = of_means(mt_bench={"a": 8.9, "b": 6.1}, sts={"a": 0.8})
    with pytest.raises(ParameterError, match="tasks on scales of their own"):
        dh.leaderboard(given, missing="bounds")
    whole = of_means(mt_bench={"a": 8.9, "b": 6.1}, sts={"a": 0.8, "b": 0.7})
    assert dh.leaderboard(whole, missing="bounds").ranks == [1, 2]


def test_dropped_tasks_may_have_weights_and_groups(tmp_path: Path) -> None:
    given = of_means(t={"a": 0.5, "b": 0.4}, u={"a": 0.7, "b": 0.3}, v={"a": 0.9})
    kinds = {"t": "short", "u": "long", "v": "long"}
    found = dh.leaderboard(given, missing="drop-task", weights={"t": 1, "u": 3, "v": 5})
    assert found.tasks == ("t", "u")
    assert found.shares.tolist() == [0.25, 0.75]
    grouped = dh.leaderboard(given, missing="drop-task", groups=kinds)
    assert {name: own.tolist() for name, own in grouped.group_means.items()} == {
        "short": [0.5, 0.4],
        "long": [0.7, 0.3],
    }
    alone = dh.leaderboard(given, missing="drop-task", groups={"t": "short", "u": "short", "v": "long"})
    assert list(alone.group_means) == ["short"]
    with pytest.raises(ParameterError, match="'t', 'u', 'v', got 'w'"):
        dh.leaderboard(given, missing="drop-task", weights={"t": 1, "u": 3, "v": 5, "w": 1})
    with pytest.raises(ParameterError, match="has none for u"):
        dh.leaderboard(given, missing="drop-task", weights={"t": 1, "v": 5})
    given.write_csv(tmp_path / "results.csv")
    pl.DataFrame({"task": ["t", "u", "v"], "weight": [1, 3, 5]}).write_csv(tmp_path / "weights.csv")
    of_file = dh.leaderboard(tmp_path / "results.csv", missing="drop-task", weights=tmp_path / "weights.csv")
    assert of_file.shares.tolist() == [0.25, 0.75]


def test_equal_means_are_equal_ranks_with_bounds_where_nothing_is_missing() -> None:
    values = {"a": 0.1 + 0.2, "b": 0.3, "c": 0.2}
    given = of_means(t=values, u=values)
    assert dh.leaderboard(given).ranks == [1, 1, 3]
    found = dh.leaderboard(given, missing="bounds")
    assert found.ranks == [1, 1, 3]
    assert found.to_polars()["rank"].to_list() == [1, 1, 3]
    assert "a missing value" not in str(found)


@pytest.mark.slow
def test_ranks_with_bounds_are_those_that_every_value_gives() -> None:
    """Each missing value is set to many numbers from 0 to 1: a rank that never changes is known."""
    rng = np.random.default_rng(3)
    for _ in range(40):
        values = np.round(rng.random((3, 5)) * 4) / 4  # many are equal
        is_missing = rng.random(values.shape) < 0.15
        names = [f"m{n}" for n in range(5)]
        given = pl.DataFrame(
            [(f"t{i}", names[j], values[i, j]) for i, j in np.argwhere(~is_missing).tolist()],
            ["task", "model", "value"],
            orient="row",
        )
        if given["task"].n_unique() < 3 or given["model"].n_unique() < 5:
            continue
        found = dh.leaderboard(given, missing="bounds")
        seen: dict[str, set[int]] = {name: set() for name in names}
        for filled in product((0.0, 0.1, 0.5, 0.9, 1.0), repeat=int(is_missing.sum())):
            whole = values.copy()
            whole[is_missing] = filled
            means = whole.mean(axis=0).tolist()
            for name, mean in zip(names, means, strict=True):
                seen[name].add(1 + sum(other > mean + 1e-9 for other in means))
        assert dict(zip(found.models, found.ranks, strict=True)) == {
            name: ranks.pop() if len(ranks) == 1 else None for name, ranks in seen.items()
        }


@pytest.mark.slow
def test_models_of_equal_means_keep_their_order_where_rounding_separates_them() -> None:
    """The same values in another order of the tasks: at half of the last digit that is kept, rounding tips."""
    rng = np.random.default_rng(0)
    n_separated = 0
    for _ in range(200):
        values = np.round(rng.random(9), 3) + 0.5e-12 * rng.integers(0, 5, 9)
        models = {f"m{n}": rng.permutation(values) for n in range(4)}
        n_separated += len({float(own.mean()) for own in models.values()}) > 1
        given = of_means(**{f"t{n}": {name: own[n] for name, own in models.items()} for n in range(9)})
        found = dh.leaderboard(given)
        assert found.models == ("m0", "m1", "m2", "m3")
        assert found.ranks == [1, 1, 1, 1]
    assert n_separated > 100


def test_the_headline_names_those_that_share_the_best_mean_where_intervals_are_known() -> None:
    values = drawn(1, 40, 4, effect=0.9)
    values[:, :, 1] = values[:, :, 0]
    assert re.match(r"m0 and m1 share [\w ]+\.\n", str(dh.leaderboard(table(values))))
    values[:, :, 2] = values[:, :, 0] + np.where(np.arange(40) % 2, 0.3, -0.31)
    start = " ".join(str(dh.leaderboard(table(values))).split())
    assert start.startswith("m0 and m1 share the best mean ")
    assert numbers_in(start)[:2] == [1, 2]  # that cannot be told from these, of others
    assert "not told apart m2 neighbours" in start


HEAVY = pytest.mark.filterwarnings("ignore:.*depend on few queries")
QRELS = {f"q{n}": {"a": 1} for n in range(30)}


def drawn_run(seed: int) -> dict[str, dict[str, float]]:
    rng = np.random.default_rng(seed)
    return {query: {"a": float(rng.integers(0, 6)), "x": 2.5, "y": 1.5, "z": 3.5} for query in QRELS}


@pytest.mark.slow
@HEAVY
def test_what_weighted_queries_are_worth_is_said() -> None:
    weights = {query: float(1 + n % 5 * 2) for n, query in enumerate(QRELS)}
    given = {name: dh.evaluate(QRELS, drawn_run(seed), "RR", weights=weights) for seed, name in enumerate("ab")}
    found = dh.leaderboard({"t": given})
    numbers = np.array(list(weights.values()))
    worth = numbers.sum() ** 2 / (numbers**2).sum()
    (note,) = (note for note in found.notes if "weighted" in note)
    assert numbers_in(note) == [30, round(worth, 1)]
    assert found.mean_low.tolist() == pytest.approx(sorted((one["RR"].mean for one in given.values()), reverse=True))
    plain = {name: dh.evaluate(QRELS, drawn_run(seed), "RR", weights=None) for seed, name in enumerate("ab")}
    assert not dh.leaderboard({"t": plain}).notes
    with pytest.raises(DataError, match=r"a on t and b on t .*weights"):
        dh.leaderboard({"t": {"a": given["a"], "b": plain["b"]}})


def test_evaluations_of_a_task_have_the_same_conventions() -> None:
    given = {name: dh.evaluate(QRELS, drawn_run(0), "RR", ties=ties) for name, ties in (("a", "best"), ("b", "worst"))}
    with pytest.raises(DataError, match=r"a on t and b on t .*conventions"):
        dh.leaderboard({"t": given})


@HEAVY
def test_queries_that_are_worth_few_give_no_intervals() -> None:
    weights = {query: 1000.0 if n == 0 else 1.0 for n, query in enumerate(QRELS)}
    given = {name: dh.evaluate(QRELS, drawn_run(seed), "RR", weights=weights) for seed, name in enumerate("ab")}
    found = dh.leaderboard({"t": given})
    assert found.uncertainty is None
    assert numbers_in(found.unknown)[:2] == [30, round((1000 + 29) ** 2 / (1000**2 + 29), 1)]


@HEAVY
def test_equal_models_are_rarely_separated_by_weighted_queries() -> None:
    """Two models of the same distribution, weights of very different sizes: at most 5 % are separated."""
    rng = np.random.default_rng(5)
    n_separated = n_known = 0
    for _ in range(150):
        weights = np.exp(rng.normal(0, 1.5, 40))
        units = Units(np.arange(2), rng.random((40, 2)) * weights[:, None], weights, is_weighted=True)
        errors, freedom = pairwise_errors([units], [1.0])
        if units.freedom + 1 < 5:
            continue
        n_known += 1
        n_separated += abs(float(np.diff(units.means)[0])) > errors[0, 1] * scipy_stats.t.ppf(0.975, freedom[0, 1])
    assert n_known > 100
    assert n_separated / n_known < 0.1  # 0.17 with errors by linearisation and 39 degrees of freedom


def test_columns_of_a_leaderboard_are_typed_where_nothing_is_known() -> None:
    whole = dh.leaderboard(table(drawn(2, 12, 3)))
    alone = dh.leaderboard(of_means(t={"a": 0.5}))
    assert alone.to_polars().schema == whole.to_polars().schema


def test_a_value_of_1_that_is_rounded_is_on_the_scale_of_others() -> None:
    """The exact nDCG of one query may be 1.0000000000000002."""
    given = {"task": ["t", "t", "u", "u"], "model": ["a", "b"] * 2, "value": [1.0000000000000002, 0.5, 0.9, 0.4]}
    assert dh.leaderboard(pl.DataFrame(given)).models == ("a", "b")


def test_evaluations_of_one_name_are_named_with_their_task() -> None:
    own = dh.evaluate({"q": {"a": 1}}, {"q": {"a": 1.0, "b": 1.0}}, "RR")
    with pytest.raises(ParameterError, match=r"task u .*named 'run'"):
        dh.leaderboard({"t": [own], "u": [own, own]})


def test_wrong_arguments() -> None:
    given = table(drawn(2, 5, 2))
    for options in ({"missing": "skip"}, {"tasks": "some"}, {"weights": {"t0": 1}}, {"groups": {"t0": "a", "u": "b"}}):
        with pytest.raises(ParameterError):
            dh.leaderboard(given, **options)
    for wrong in ("x", 0, float("nan"), -1.0, [1]):
        with pytest.raises(ParameterError, match="weights must be"):
            dh.leaderboard(given, weights={"t0": 1, "t1": wrong})  # type: ignore[dict-item]


def mteb_file(folder: Path, model: str, task: str, scores: dict[str, list[float]], *, named: bool = True) -> Path:
    """Write a result file as MTEB 2 does: results/MODEL/REVISION/TASK.json, with model_meta.json beside it."""
    own = folder / model.replace("/", "__") / "1a2b"
    own.mkdir(parents=True, exist_ok=True)
    if named:
        (own / "model_meta.json").write_text(json.dumps({"name": model, "revision": "1a2b"}), encoding="utf-8")
    held = {
        split: [{"main_score": one, "hf_subset": f"s{n}", "languages": ["eng"]} for n, one in enumerate(values)]
        for split, values in scores.items()
    }
    path = own / f"{task}.json"
    text = json.dumps({"dataset_revision": "x", "task_name": task, "mteb_version": "2.1.0", "scores": held})
    path.write_text(text, encoding="utf-8")
    return path


def test_result_files_of_mteb(tmp_path: Path) -> None:
    for n in range(10):
        mteb_file(tmp_path, "org/one", f"Task{n}", {"test": [0.5 + n / 100]})
        mteb_file(tmp_path, "org/two", f"Task{n}", {"test": [0.25, 0.75], "dev": [0.2]}, named=False)
    found = dh.leaderboard(tmp_path)
    assert found.measure == "main score"
    assert found.sampling == "random"
    assert dict(zip(found.models, found.mean_low, strict=True)) == pytest.approx({"org/one": 0.545, "org/two": 0.4})
    assert "several splits or subsets" in found.notes[0]
    again = dh.leaderboard(sorted(tmp_path.rglob("Task*.json")))
    assert again.tasks == found.tasks
    (tmp_path / "other").mkdir()
    document = {
        "model_results": [
            {
                "model_name": name,
                "model_revision": "1",
                "task_results": [{"task_name": "T", "scores": {"test": [{"main_score": score}]}}],
            }
            for name, score in (("a", 0.5), ("b", 0.25))
        ]
    }
    (tmp_path / "other" / "all.json").write_text(json.dumps(document), encoding="utf-8")
    assert dh.leaderboard(tmp_path / "other" / "all.json").models == ("a", "b")
    wrong = mteb_file(tmp_path, "org/one", "Task0", {"test": [float("nan")]})
    with pytest.raises(DataError, match=r"Task0, .*test, .*s0, .*finite") as error:
        dh.leaderboard(tmp_path)
    assert error.value.path == wrong
    mteb_file(tmp_path, "org/one", "Task0", {})
    with pytest.raises(DataError, match="Task0 has no scores"):
        dh.leaderboard(tmp_path)


@pytest.mark.slow
def test_a_benchmark_and_its_folder(tmp_path: Path) -> None:
    result = dh.bench(CASES, DOCUMENTS, {"known": known, "bm25": "bm25"}, measures="RR", output=tmp_path)
    found = dh.leaderboard(result)
    assert set(found.tasks) == {"mine (de)", "mine (en)"}
    for n, name in enumerate(found.models):
        own = [result.evaluations[key].means()["RR"] for key in result.evaluations if key.retriever == name]
        assert found.mean_low[n] == pytest.approx(sum(own) / 2)
    folder = dh.leaderboard(tmp_path)
    assert (folder.models, set(folder.tasks)) == (found.models, {"mine (de)", "mine (en)"})
    assert folder.mean_low == pytest.approx(found.mean_low)


@pytest.mark.slow
@needs_shared_data
def test_llm_judges_over_three_sets_of_queries() -> None:
    """Means and tie ranges are those of each judge alone; those that are apart are so by a t test of each pair."""
    judged = dh.read_qrels(llm_qrels()).to_dict()
    parts = {f"part{n}": {query: judged[query] for query in sorted(judged)[n::3]} for n in range(3)}
    evaluations = {
        task: {name: dh.evaluate(own, llm_run(name), "nDCG@10") for name in LLM_RUNS} for task, own in parts.items()
    }
    found = dh.leaderboard(evaluations)
    assert len(found.models) == len(LLM_RUNS) == 12
    for n, name in enumerate(found.models):
        own = [evaluations[task][name]["nDCG@10"] for task in parts]
        assert found.mean_low[n] == pytest.approx(np.mean([one.mean for one in own]))
        assert found.tie_max is not None
        assert found.tie_max[n] == pytest.approx(np.mean([one.mean_tie_max for one in own]))
    assert found.tiers is not None
    assert found.tiers[:3] == [1, 1, 1]
    assert found.tiers[-1] > 1
    assert found.uncertainty is not None
    pooled = {name: np.concatenate([evaluations[task][name]["nDCG@10"].values for task in parts]) for name in LLM_RUNS}
    for i, j in np.argwhere(found.uncertainty.better).tolist():
        assert scipy_stats.ttest_rel(pooled[found.models[i]], pooled[found.models[j]]).pvalue < 0.01
    assert found.deciding_task == "part0"


@pytest.mark.slow
def test_memory_grows_with_the_models_and_not_with_their_pairs() -> None:
    rng = np.random.default_rng(0)
    frame = table(rng.random((4, 1, 5000)), has_queries=False)
    tracemalloc.start()
    try:
        report = report_leaderboard(dh.leaderboard(frame))
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert report.tables
    assert most < 5000**2  # a byte for each pair
