"""tune_fusion(): what is held out never chose, taught or tuned what scores it."""

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import deadheat as dh
from deadheat.errors import DataError, FigureError, ParameterError
from deadheat.plugins.fusion.tuning import draw_folds, settings_of, weights_of_grid
from support.command import call, ok

Runs = dict[str, dict[str, dict[str, float]]]
Judgments = dict[str, dict[str, int]]


def drawn(seed: int = 0, n_queries: int = 12) -> tuple[Judgments, Runs]:
    """Draw judgments, and two runs that find relevant documents, each in a part of the queries."""
    rng = random.Random(seed)
    docs = [f"d{n}" for n in range(15)]
    qrels, runs = {}, Runs(bm25={}, dense={})
    for number in range(n_queries):
        query = f"q{number}"
        qrels[query] = {doc: rng.choice([0, 0, 0, 1, 2]) for doc in docs}
        for place, name in enumerate(runs):
            weight = 1.5 if (number + place) % 3 else 0.3
            own = {doc: round(weight * qrels[query][doc] + rng.random() * 2, 1) for doc in rng.sample(docs, 11)}
            runs[name][query] = own
    return qrels, runs


def mean_of(qrels: Judgments, run: dh.Run | dict[str, dict[str, float]], queries: list[str]) -> float:
    values = dh.evaluate(qrels, run, "nDCG@5")["nDCG@5"]
    of_query = dict(zip(values.query_ids.tolist(), values.values.tolist(), strict=True))
    return float(np.mean([of_query[query] for query in queries]))


@pytest.mark.parametrize("seed", range(3))
def test_each_query_is_scored_by_what_others_chose(seed: int) -> None:
    qrels, runs = drawn(seed)
    grid = {"k": [0, 1, 5, 60]}
    found = dh.tune_fusion(qrels, runs, "nDCG@5", grid=grid, folds=3, rng=seed)
    fused = [dh.fuse(runs, k=k) for k in grid["k"]]
    ids = found.query_ids.tolist()
    held_out = dict(zip(ids, found.held_out["nDCG@5"].values.tolist(), strict=True))
    for fold in range(3):
        own = [query for query, part in zip(ids, found.fold_of_query.tolist(), strict=True) if part == fold]
        others = [query for query in ids if query not in own]
        means = [mean_of(qrels, run, others) for run in fused]
        best = int(np.argmax(np.array(means) >= max(means) - 1e-12))
        assert found.chosen[fold] == best
        for query in own:
            assert held_out[query] == pytest.approx(mean_of(qrels, fused[best], [query]), abs=1e-12)
    of_all = [mean_of(qrels, run, ids) for run in fused]
    assert found.means.tolist() == pytest.approx(of_all, abs=1e-12)
    assert found.in_sample == pytest.approx(max(of_all), abs=1e-12)
    assert found.parameters == {"k": grid["k"][found.best]}
    assert found.run.to_dict() == dh.fuse(runs, **found.parameters).to_dict()


@pytest.mark.parametrize("method", ["mapfuse", "posfuse", "bayesfuse", "segfuse"])
def test_what_is_learned_is_scored_on_other_queries(method: str) -> None:
    qrels, runs = drawn(1)
    found = dh.tune_fusion(qrels, runs, "nDCG@5", method, folds=4)
    ids = found.query_ids.tolist()
    held_out = dict(zip(ids, found.held_out["nDCG@5"].values.tolist(), strict=True))
    for fold in range(4):
        parts = dict(zip(ids, found.fold_of_query.tolist(), strict=True))
        training = {query: qrels[query] for query in ids if parts[query] != fold}
        fused = dh.fuse(runs, method, qrels=training)
        for query in [query for query in ids if parts[query] == fold]:
            assert held_out[query] == pytest.approx(mean_of(qrels, fused, [query]), abs=1e-12)
    assert found.in_sample == pytest.approx(mean_of(qrels, dh.fuse(runs, method, qrels=qrels), ids), abs=1e-12)


def test_a_parameter_of_what_is_learned_is_chosen_without_the_part() -> None:
    """Changing the judgments of one part changes neither what it gets nor what the choice for it rests on."""
    qrels, runs = drawn(2)
    options: dict[str, Any] = {"grid": {"w": [0, 1, 4]}, "folds": 3}
    found = dh.tune_fusion(qrels, runs, "nDCG@5", "slidefuse", **options)
    own = [
        query for query, part in zip(found.query_ids.tolist(), found.fold_of_query.tolist(), strict=True) if not part
    ]
    changed = {**qrels, **{query: {doc: 2 - level for doc, level in qrels[query].items()} for query in own}}
    other = dh.tune_fusion(changed, runs, "nDCG@5", "slidefuse", **options)
    assert other.fold_of_query.tolist() == found.fold_of_query.tolist()
    assert other.chosen[0] == found.chosen[0]
    first, second = found.held_out.run, other.held_out.run
    assert first is not None
    assert second is not None
    assert {query: first.to_dict()[query] for query in own} == {query: second.to_dict()[query] for query in own}


def test_clusters_stay_whole() -> None:
    qrels, runs = drawn()
    cluster = {query: f"c{int(query[1:]) // 3}" for query in qrels}
    found = dh.tune_fusion(qrels, runs, folds=4, cluster=cluster)
    parts: dict[str, set[int]] = {}
    for query, part in zip(found.query_ids.tolist(), found.fold_of_query.tolist(), strict=True):
        parts.setdefault(cluster[query], set()).add(part)
    assert all(len(own) == 1 for own in parts.values())
    assert len({*found.fold_of_query.tolist()}) == 4
    with pytest.raises(DataError, match="takes two clusters"):
        dh.tune_fusion(qrels, runs, cluster=dict.fromkeys(qrels, "all"))


def test_parts_are_of_about_one_size() -> None:
    assert np.bincount(draw_folds(None, 25, 10, 0)).tolist() == [3] * 5 + [2] * 5
    assert np.bincount(draw_folds(None, 3, 10, 0)).tolist() == [1, 1, 1]
    assert draw_folds(None, 25, 10, 1).tolist() != draw_folds(None, 25, 10, 0).tolist()
    with pytest.raises(DataError, match=r"two queries .* is 1 query"):
        draw_folds(None, 1, 10, 0)


def test_grids() -> None:
    assert list(weights_of_grid(3, 2)) == [(1.0, 0.0), (0.5, 0.5), (0.0, 1.0)]
    assert list(weights_of_grid(2, 3)) == [(1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)]
    assert len(settings_of("wsum", None, 2)) == 21
    assert len(settings_of("wsum", None, 3)) == 66
    assert settings_of("rrf", None, 2)[0] == {"k": 1.0}
    assert settings_of("mapfuse", None, 2) == settings_of("sum", None, 2) == [{}]
    assert len(settings_of("rrf", {"k": [1, 2], "weights": [(1, 2), (2, 1)]}, 2)) == 4
    assert settings_of("rrf", [{"k": 3}], 2) == [{"k": 3}]
    wrong: list[Any] = ["k", {"k": []}, 1]
    for grid in wrong:
        with pytest.raises(ParameterError, match="grid"):
            settings_of("rrf", grid, 2)
    qrels, runs = drawn()
    with pytest.raises(ParameterError, match="phi is no parameter of rrf"):
        dh.tune_fusion(qrels, runs, grid={"phi": [0.5]})


def test_a_flat_curve_is_flat() -> None:
    qrels, runs = drawn()
    flat = dh.tune_fusion(qrels, runs, grid={"k": [1000, 2000]}).flatness
    assert flat is not None
    assert flat.is_flat
    good = {query: {doc: float(level) for doc, level in own.items()} for query, own in qrels.items()}
    bad = {query: {doc: -level for doc, level in own.items()} for query, own in good.items()}
    steep = dh.tune_fusion(qrels, {"good": good, "bad": bad}, method="wsum", grid=3).flatness
    assert steep is not None
    assert not steep.is_flat
    alone = dh.tune_fusion(qrels, runs, method="sum")
    assert alone.flatness is None
    assert "There was nothing to tune." in " ".join(str(alone).split())
    assert alone.run.notes == ()


def test_a_measure_that_is_better_lower_is_tuned_down() -> None:
    qrels, runs = drawn()
    found = dh.tune_fusion(qrels, runs, "FRP", "wsum", grid=5)
    assert found.means[found.best] == found.means.min()


def test_queries_without_judgments_are_fused_too() -> None:
    qrels, runs = drawn()
    some = {query: own for query, own in qrels.items() if query != "q3"}
    found = dh.tune_fusion(some, runs, grid={"k": [60]})
    assert {*found.run.to_dict()} == {*qrels}
    assert {*found.query_ids.tolist()} == {*some}
    lacking = {name: {query: own for query, own in run.items() if query != "q5"} for name, run in runs.items()}
    found = dh.tune_fusion(some, lacking, "RR", grid={"k": [60]})
    assert found.held_out.missing_queries == ("q5",)
    assert found.in_sample == pytest.approx(found.held_out.means()["RR"])


def test_it_says_what_it_is_worth() -> None:
    qrels, runs = drawn()
    found = dh.tune_fusion(qrels, runs, "nDCG@5", "wsum", norm="min-max", grid=5, name="hybrid")
    gains = {gain.system: gain for gain in found.gains()}
    value = found.held_out.means()["nDCG@5"]
    for name, run in runs.items():
        mean = dh.evaluate(qrels, run, "nDCG@5").means()["nDCG@5"]
        assert gains[name].difference == pytest.approx(value - mean)
        assert gains[name].low < gains[name].difference < gains[name].high
    text = " ".join(str(found).split())
    assert text.startswith(f"hybrid: nDCG@5 {value:.4f}, held out; ")
    assert "On the queries that it was tuned on it would be" in text
    assert set(found.to_flat()) >= {"ndcg_at_5.held_out", "ndcg_at_5.in_sample", "ndcg_at_5.hybrid_vs_bm25.difference"}
    assert found.to_polars()["n_chosen"].sum() == found.n_folds
    comparison = dh.compare_evaluations({"bm25": dh.evaluate(qrels, runs["bm25"], "nDCG@5"), "hybrid": found.held_out})
    assert comparison.pairs[0].difference == pytest.approx(gains["bm25"].difference)
    assert "held out: each of 10 parts" in found.held_out.notes[-1]
    assert "tuned on 12 queries: values on them are not held out" in found.run.notes


def test_the_best_at_the_end_of_a_grid_is_noted() -> None:
    qrels, runs = drawn()
    values = [0.0, 1.0, 1000.0]
    found = dh.tune_fusion(qrels, runs, grid={"k": values})
    is_at_end = found.parameters["k"] in {0.0, 1000.0}
    assert ("is at the end of what was tried" in " ".join(str(found).split())) == is_at_end


def test_the_curve_is_a_figure() -> None:
    pytest.importorskip("altair")
    qrels, runs = drawn()
    found = dh.tune_fusion(qrels, runs, method="wsum", norm="zmuv", grid=5)
    chart: Any = found.plot()
    assert [row["position"] for row in chart.data.values] == [0.0, 0.25, 0.5, 0.75, 1.0]
    assert [row["mean"] for row in chart.data.values] == found.means.tolist()
    with pytest.raises(FigureError, match="there is no curve"):
        dh.tune_fusion(qrels, runs, method="sum").plot()
    both: dict[str, Any] = {"k": [1, 60], "weights": [(1, 2), (2, 1)]}
    with pytest.raises(FigureError, match="there is no curve"):
        dh.tune_fusion(qrels, runs, grid=both).plot()


def test_many_judged_documents_are_counted_as_few_are(monkeypatch: pytest.MonkeyPatch) -> None:
    qrels, runs = drawn(n_queries=6)
    few = {query: dict(list(own.items())[:2]) for query, own in qrels.items()}
    first = dh.tune_fusion(few, runs, method="wsum", grid=5)
    monkeypatch.setattr("deadheat.plugins.fusion.judged.FEW", 0)
    second = dh.tune_fusion(few, runs, method="wsum", grid=5)
    np.testing.assert_array_equal(first.values, second.values)


@pytest.fixture
def files(folder: Path) -> None:
    qrels, runs = drawn()
    for name, run in runs.items():
        lines = [f"{q} Q0 {d} 1 {score} t\n" for q, own in run.items() for d, score in own.items()]
        (folder / f"{name}.run").write_text("".join(lines))
    (folder / "Q.txt").write_text("".join(f"{q} 0 {d} {rel}\n" for q, own in qrels.items() for d, rel in own.items()))


@pytest.mark.usefixtures("files")
def test_the_command_tunes(folder: Path) -> None:
    arguments = ["fuse", "bm25.run", "dense.run", "--tune", "nDCG@5", "--qrels", "Q.txt", "--method", "wsum"]
    report = json.loads(ok(*arguments, "--grid", "5", "-o", "hybrid.run", "--format", "json"))
    qrels, runs = drawn()
    found = dh.tune_fusion(qrels, runs, "nDCG@5", "wsum", grid=5)
    assert report["held_out"] == pytest.approx(found.held_out.means()["nDCG@5"])
    assert report["in_sample"] == pytest.approx(found.in_sample)
    assert dh.Run(folder / "hybrid.run").to_dict() == dh.fuse(runs, "wsum", **found.parameters).to_dict()
    assert "k=10" in ok("fuse", "bm25.run", "dense.run", "--tune", "RR", "--qrels", "Q.txt", "--grid", "k=10,20")


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--tune", "RR"], "--tune needs --qrels FILE"),
        (["--folds", "3"], "is for --tune MEASURE, which is missing"),
        (["--tune", "RR", "--qrels", "Q.txt", "-m", "RR"], "is not for --tune, which names the measure"),
        (["--tune", "RR", "--qrels", "Q.txt", "--k", "3"], "is tuned: name its values with --grid"),
        (["--tune", "RR", "--qrels", "Q.txt", "--grid", "k=x"], "give values as in k=10,20,60"),
    ],
)
def test_the_command_refuses(options: list[str], message: str) -> None:
    result = call("fuse", "bm25.run", "dense.run", *options)
    assert result.exit_code == 2
    assert message in " ".join(result.stderr.split())
