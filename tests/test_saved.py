"""A saved evaluation is the evaluation: every number comes back, and every file that is not right says so."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

import deadheat as dh
from deadheat.errors import DataError, FileFormatError, MeasureError, ParameterError
from deadheat.evaluating import DEFAULT_MEASURES
from deadheat.report.as_json import as_json
from deadheat.report.of_evaluation import Settings, report_evaluations
from deadheat.saved import StoredMeasure
from shared_data import llm_qrels, llm_run, needs_shared_data

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from numpy.typing import ArrayLike

    from deadheat.arrays import FloatArray
    from deadheat.errors import DeadheatError
    from deadheat.evaluation import Evaluation

GRADES = [0, 1, 2, 3]


def data(n_queries: int = 12) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    """Return qrels and a run with many ties, a query without relevant documents and a missing one."""
    rng = np.random.default_rng(5)
    docs = [f"d{n}" for n in range(15)]
    qrels = {f"q{n}": dict(zip(docs, rng.choice(GRADES, 15).tolist(), strict=True)) for n in range(n_queries)}
    run = {
        f"q{n}": dict(zip(docs, rng.choice(GRADES, 15).astype(float).tolist(), strict=True)) for n in qrels_ids(qrels)
    }
    qrels["nothing"] = {"d1": 0}
    qrels["missing"] = {"d1": 1}
    run["nothing"] = {"d1": 1.0}
    run["stranger"] = {"d1": 1.0}
    return qrels, run


def qrels_ids(qrels: dict[str, Any]) -> list[str]:
    return [name.removeprefix("q") for name in qrels]


def first(relevance: FloatArray) -> float:
    return float(relevance[0]) if len(relevance) else 0.0


MINE = dh.Custom("mine", first)
SAMPLED = dh.Custom("sampled", first, max_orders=3) @ 5
MEASURES = [*DEFAULT_MEASURES, "MR", "P(rel=2)@5", "nDCG(gain={0: 0, 1: 1, 2: 5, 3: 6})@5", "NumRet", MINE, SAMPLED]


def same(one: ArrayLike, other: ArrayLike) -> None:
    """Assert that two arrays, or numbers, hold the same bits, NaN included."""
    np.testing.assert_array_equal(one, other, strict=True)


def assert_same(original: Evaluation, loaded: Evaluation) -> None:
    assert [str(measure) for measure in loaded.measures] == [str(measure) for measure in original.measures]
    assert (loaded.name, loaded.conventions, len(loaded)) == (original.name, original.conventions, len(original))
    assert loaded.missing_queries == original.missing_queries
    assert loaded.unjudged_queries == original.unjudged_queries
    assert (loaded.qrels_hash, loaded.queries_hash) == (original.qrels_hash, original.queries_hash)
    assert list(loaded.query_ids) == list(original.query_ids)
    for one, other in zip(original, loaded, strict=True):
        for name in ("values", "tie_mean", "tie_std", "tie_min", "tie_max", "standard_error"):
            same(getattr(one, name), getattr(other, name))
        same(one.spread.has_relevant, other.spread.has_relevant)
        for name in ("mean", "total", "std", "n_queries", "mean_tie_std", "mean_tie_min", "mean_tie_max"):
            same(getattr(one, name), getattr(other, name))
        assert one.measure.higher_is_better == other.measure.higher_is_better
        assert one.measure.total == other.measure.total
    assert repr(loaded.means()) == repr(original.means())
    assert loaded.to_dict() == original.to_dict()
    assert loaded.to_polars().equals(original.to_polars())
    for method in ("bca", "t"):
        assert repr(loaded.intervals(method=method)) == repr(original.intervals(method=method))


@pytest.mark.parametrize("no_relevant", ["zero", "skip"])
@pytest.mark.parametrize("ties", ["expected", "doc_id", "random"])
def test_everything_comes_back(tmp_path: Path, ties: str, no_relevant: str) -> None:
    original = dh.evaluate(*data(), MEASURES, ties=ties, rng=3, no_relevant=no_relevant, score_precision="float16")
    original.save(tmp_path / "run.json")
    assert_same(original, dh.load_evaluation(tmp_path / "run.json"))


@needs_shared_data
def test_real_runs_come_back(tmp_path: Path) -> None:
    original = dh.evaluate(llm_qrels(), llm_run("Olz-gpt4o"), MEASURES[:-2])
    original.save(tmp_path / "run.json")
    assert_same(original, dh.load_evaluation(tmp_path / "run.json"))


def test_missing_queries_that_were_skipped_come_back(tmp_path: Path) -> None:
    original = dh.evaluate(*data(), ["RR"], missing="skip")
    original.save(tmp_path / "run.json")
    loaded = dh.load_evaluation(tmp_path / "run.json")
    assert_same(original, loaded)
    assert loaded.missing_queries == ("missing",)
    assert "missing" not in loaded.query_ids


def test_a_loaded_evaluation_works_like_any_other(tmp_path: Path) -> None:
    original = dh.evaluate(*data(), MEASURES)
    original.save(tmp_path / "a" / "b" / "run.json")
    loaded = dh.load_evaluation(tmp_path / "a" / "b" / "run.json")
    assert "ndcg_cut_10" in loaded
    assert loaded["mine"].mean == original["mine"].mean
    assert loaded["sampled@5"].standard_error.max() > 0
    keep = np.arange(len(loaded.query_ids)) % 2 == 0
    assert repr(loaded.select(keep).means()) == repr(original.select(keep).means())
    strata = pl.DataFrame({"query_id": loaded.query_ids.tolist(), "half": ["a", "b"] * 7})
    for name, part in original.by("half", strata).items():
        assert_same(part, loaded.by("half", strata)[name])
    checks = ["low(nDCG@10) > 0.5", "mine < 9", "tie_max(MR) < 3"]
    assert dh.gate(loaded, checks, baseline=original) == dh.gate(original, checks, baseline=loaded)
    assert loaded.without_relevant("RR") == original.without_relevant("RR")
    settings = Settings("qrels")
    assert as_json(report_evaluations([loaded], settings, per_query=True)) == as_json(
        report_evaluations([original], settings, per_query=True)
    )
    with pytest.raises(ParameterError, match="loaded from a file"):
        _ = loaded.placements


def test_saving_again_gives_the_same_files(tmp_path: Path) -> None:
    dh.evaluate(*data(), MEASURES).save(tmp_path / "one.json")
    (tmp_path / "again").mkdir()
    dh.load_evaluation(tmp_path / "one.json").save(tmp_path / "again" / "one.json")
    for name in ("one.json", "one.parquet"):
        assert (tmp_path / name).read_bytes() == (tmp_path / "again" / name).read_bytes()
    dh.load_evaluation(tmp_path / "one.json").save(tmp_path / "one.json")  # onto itself


def test_parts_and_empty_parts_can_be_saved(tmp_path: Path) -> None:
    original = dh.evaluate(*data(), ["RR", "MR"])
    for n_kept in (1, 0):
        part = original.select(np.arange(len(original.query_ids)) < n_kept, name="part")
        part.save(tmp_path / "part.json")
        assert_same(part, dh.load_evaluation(tmp_path / "part.json"))
        assert document(tmp_path / "part.json")["measures"]["RR"]["low"] is None


def document(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def test_the_json_reads_by_itself(tmp_path: Path) -> None:
    original = dh.evaluate(*data(), MEASURES)
    original.save(tmp_path / "run.json", method="t", confidence_level=0.9, rng=np.random.default_rng(1))
    found = document(tmp_path / "run.json")
    assert (found["kind"], found["format"], found["deadheat"]) == ("deadheat evaluation", 1, dh.__version__)
    assert found["conventions"] == {
        "ties": "expected",
        "missing": "empty",
        "no_relevant": "zero",
        "score_precision": None,
    }
    assert found["n_queries"] == len(original.query_ids)
    assert found["missing_queries"] == ["missing"]
    assert found["unjudged_queries"] == ["stranger"]
    assert (found["qrels_hash"], found["queries_hash"]) == (original.qrels_hash, original.queries_hash)
    interval = original["nDCG@10"].interval("t", confidence_level=0.9)
    assert found["measures"]["nDCG@10"] == {
        "mean": interval.mean,
        "low": interval.low,
        "high": interval.high,
        "standard_error": interval.standard_error,
        "query_standard_error": interval.query_standard_error,
        "tie_standard_error": interval.tie_standard_error,
        "tie_std": original["nDCG@10"].mean_tie_std,
        "tie_min": original["nDCG@10"].mean_tie_min,
        "tie_max": original["nDCG@10"].mean_tie_max,
        "n_queries": 14,
        "higher_is_better": True,
        "total": False,
        "custom": False,
    }
    assert found["measures"]["MR"]["higher_is_better"] is False
    assert found["measures"]["NumRet"]["total"] is True
    assert found["measures"]["mine"]["custom"] is True
    assert found["intervals"] == {
        "method": "t",
        "confidence_level": 0.9,
        "n_resamples": 10_000,
        "rng": "generator",
        "cluster": None,
    }


def test_numbers_of_numpy_are_saved_as_plain_ones(tmp_path: Path) -> None:
    original, path = dh.evaluate(*data(), ["RR"]), tmp_path / "run.json"
    options: dict[str, Any] = {"confidence_level": np.float32(0.5), "n_resamples": np.int64(99), "rng": np.uint8(3)}
    original.save(path, **options)
    plain: dict[str, Any] = {"confidence_level": 0.5, "n_resamples": 99, "rng": 3}
    assert document(path)["intervals"] == {"method": "bca", **plain, "cluster": None}
    assert document(path)["measures"]["RR"]["low"] == original["RR"].interval(**plain).low
    original.save(path, rng=None)
    assert document(path)["intervals"]["rng"] is None


def test_clusters_are_told(tmp_path: Path) -> None:
    original = dh.evaluate(*data(), ["RR"])
    original.save(tmp_path / "run.json", cluster=["a", "b"] * 7)
    assert document(tmp_path / "run.json")["intervals"]["cluster"] == "given"


def test_the_parquet_is_a_plain_long_table(tmp_path: Path) -> None:
    original = dh.evaluate(*data(), ["RR", "MR"])
    original.save(tmp_path / "run.json")
    rows = pl.read_parquet(tmp_path / "run.parquet")
    shared = ["query_id", "measure", "value", "tie_std", "tie_min", "tie_max"]
    assert rows.select(shared).equals(original.to_polars())
    assert rows.columns == [*shared[:3], "tie_mean", *shared[3:], "standard_error", "has_relevant"]
    assert rows["value"].null_count() == int(np.isnan(original["MR"].values).sum()) > 0


def test_a_custom_measure_keeps_its_scores_but_not_its_function(tmp_path: Path) -> None:
    lookalike = dh.Custom("ndcg_cut_10", lambda relevance: -first(relevance))
    original = dh.evaluate(*data(), ["nDCG@10", lookalike])
    original.save(tmp_path / "run.json")
    loaded = dh.load_evaluation(tmp_path / "run.json")
    assert isinstance(loaded.measures[1], StoredMeasure)
    assert loaded["nDCG@10"].mean == original["nDCG@10"].mean > 0 > loaded["ndcg_cut_10"].mean
    for compute in (loaded.measures[1].mean, loaded.measures[1].variance, loaded.measures[1].extremes):
        with pytest.raises(MeasureError, match="ndcg_cut_10 comes from a file"):
            compute(original.placements)
    assert dh.load_evaluation(tmp_path / "run.json").measures == loaded.measures


def test_files_that_were_renamed_or_copied_together(tmp_path: Path) -> None:
    dh.evaluate(*data(), ["RR"]).save(tmp_path / "run.json")
    (tmp_path / "baseline.json").write_bytes((tmp_path / "run.json").read_bytes())
    expected = dh.load_evaluation(tmp_path / "run.json").means()
    assert dh.load_evaluation(tmp_path / "baseline.json").means() == expected  # run.parquet is still there
    (tmp_path / "baseline.parquet").write_bytes((tmp_path / "run.parquet").read_bytes())
    dh.evaluate(*data(), ["AP"]).save(tmp_path / "run.json")
    assert dh.load_evaluation(tmp_path / "baseline.json").means() == expected
    (tmp_path / "baseline.parquet").unlink()
    with pytest.raises(FileFormatError, match=r"run\.parquet: does not belong to baseline\.json"):
        dh.load_evaluation(tmp_path / "baseline.json")


def test_a_run_beside_it_is_not_replaced(tmp_path: Path) -> None:
    qrels, run = data()
    rows = [(query, doc, score) for query, docs in run.items() for doc, score in docs.items()]
    pl.DataFrame(rows, schema=["query_id", "doc_id", "score"], orient="row").write_parquet(tmp_path / "bm25.parquet")
    evaluation = dh.evaluate(qrels, tmp_path / "bm25.parquet", ["RR"])
    with pytest.raises(DataError, match=r"bm25\.parquet: is there already and holds no saved evaluation"):
        evaluation.save(tmp_path / "bm25.json")
    assert not (tmp_path / "bm25.json").exists()
    assert dh.read_run(tmp_path / "bm25.parquet").to_dict() == run
    (tmp_path / "notes.parquet").write_text("no Parquet at all")
    with pytest.raises(DataError, match="holds no saved evaluation"):
        evaluation.save(tmp_path / "notes.json")


@pytest.mark.parametrize(
    ("name", "error", "message"),
    [
        ("run", ParameterError, r"must end in \.json, got '.*run'\. Did you mean '.*run\.json'\?"),
        ("run.parquet", ParameterError, r"Did you mean '.*run\.json'"),
        ("file/run.json", DataError, "cannot be made a folder"),
    ],
)
def test_where_nothing_can_be_saved(tmp_path: Path, name: str, error: type[DeadheatError], message: str) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(error, match=message):
        dh.evaluate(*data(), ["RR"]).save(tmp_path / name)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_wrong_option_leaves_no_file(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="confidence_level"):
        dh.evaluate(*data(), ["RR"]).save(tmp_path / "new" / "run.json", confidence_level=95)
    assert not list(tmp_path.iterdir())


def change(path: Path, **changes: object) -> None:
    path.write_text(json.dumps(document(path) | changes), encoding="utf-8")


def without(path: Path, key: str) -> None:
    path.write_text(json.dumps({k: v for k, v in document(path).items() if k != key}), encoding="utf-8")


DAMAGE: dict[str, tuple[Callable[[Path], object], str]] = {
    "newer": (
        lambda path: change(path, format=2, deadheat="7.0"),
        r"run\.json: was saved in format 2 by deadheat 7\.0; this is .*, which reads 1: install a newer one",
    ),
    "no format": (lambda path: without(path, "format"), "saved in format None"),
    "truncated": (
        lambda path: path.write_text(path.read_text()[:300]),
        r"run\.json: is damaged or not complete \(.*\), expected a saved evaluation; Evaluation\.save",
    ),
    "no JSON": (lambda path: path.write_text("q1 Q0 a 1 0.5 t\n"), "holds no JSON, expected a saved evaluation"),
    "a list": (lambda path: path.write_text("[1]"), "holds other JSON, expected a saved evaluation"),
    "empty object": (lambda path: path.write_text("{}"), "holds other JSON, expected a saved evaluation"),
    "a run": (lambda path: path.write_text('{"q1": {"a": 1}}'), "holds what looks like qrels or a run"),
    "no text": (lambda path: path.write_bytes(b'{"kind": "\xff"}'), "not UTF-8"),
    "lacking": (lambda path: without(path, "measures"), r"no complete saved evaluation \(KeyError: 'measures'\)"),
    "wrong type": (lambda path: change(path, measures=3), "no complete saved evaluation"),
    "unknown measure": (
        lambda path: change(path, measures={"Nope": {"custom": False}}),
        r"run\.json: is no complete saved evaluation",
    ),
    "no measure": (lambda path: change(path, measures={}), "no complete saved evaluation .*it names no measure"),
    "one measure less": (
        lambda path: change(path, measures={"AP": document(path)["measures"]["AP"]}),
        "the rows of AP are not where they belong",
    ),
    "no queries": (lambda path: path.with_suffix(".parquet").unlink(), r"run\.parquet: no such file; it holds the"),
    "other queries": (
        lambda path: path.with_suffix(".parquet").write_bytes(b"PAR1"),
        r"run\.parquet: does not belong to run\.json, or was changed",
    ),
    "gone": (lambda path: path.unlink(), r"run\.json: no such file"),
}


@pytest.mark.parametrize("case", DAMAGE)
def test_what_is_wrong_with_a_file_is_said(tmp_path: Path, case: str) -> None:
    damage, message = DAMAGE[case]
    path = tmp_path / "run.json"
    dh.evaluate(*data(), ["RR", "AP"]).save(path)
    damage(path)
    with pytest.raises(DataError, match=message) as caught:
        dh.load_evaluation(path)
    assert caught.value.path is not None


def test_the_wrong_one_of_the_two_files(tmp_path: Path) -> None:
    dh.evaluate(*data(), ["RR"]).save(tmp_path / "run.json")
    with pytest.raises(FileFormatError, match=r"give the JSON file beside it, 'run\.json'"):
        dh.load_evaluation(tmp_path / "run.parquet")
