"""A saved evaluation is the evaluation: everything comes back, and every file that is not right says so."""

from __future__ import annotations

import base64
import io
import json
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

import deadheat as dh
from deadheat import Placements
from deadheat.core.measures.custom import StoredMeasure
from deadheat.core.measures.notation import parse_measures
from deadheat.core.placements import policies
from deadheat.core.report.as_data import as_json
from deadheat.core.report.of_evaluation import report_evaluations
from deadheat.errors import DataError, MeasureError, ParameterError
from support.error_parts import raises_parts
from support.shared_data import llm_qrels, llm_run, needs_shared_data
from support.tampering import seal

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from numpy.typing import ArrayLike

    from deadheat import Evaluation
    from deadheat.api import FloatArray
    from deadheat.errors import DeadheatError

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
MEASURES: list[Any] = [
    *parse_measures(None),
    "MR",
    "P(rel=2)@5",
    "nDCG(gain={0: 0, 1: 1, 2: 5, 3: 6})@5",
    "NumRet",
    MINE,
    SAMPLED,
]


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
        same(one.has_relevant, other.has_relevant)
        for name in ("mean", "total", "std", "n_queries", "mean_tie_std", "mean_tie_min", "mean_tie_max"):
            same(getattr(one, name), getattr(other, name))
        assert one.measure.higher_is_better == other.measure.higher_is_better
        assert one.measure.total == other.measure.total
    assert repr(loaded.means()) == repr(original.means())
    assert loaded.to_dict() == original.to_dict()
    assert loaded.to_polars().equals(original.to_polars())
    for method in ("bca", "t"):
        assert repr(loaded.intervals(method=method)) == repr(original.intervals(method=method))
    assert_same_placements(original.placements, loaded.placements)


def assert_same_placements(original: Placements, loaded: Placements) -> None:
    for name in (field.name for field in fields(Placements) if field.name not in {"before", "_cache", "_of_judgments"}):
        own = "doc_ids" if name == "documents" else name  # a column of them may be of several forms
        one, other = getattr(original, own), getattr(loaded, own)
        if name != "unjudged_queries":  # of a part they are those of the whole
            np.testing.assert_array_equal(one, other, err_msg=name)
        if isinstance(one, np.ndarray):
            assert one.dtype == other.dtype


@pytest.mark.slow
@pytest.mark.parametrize("no_relevant", ["zero", "skip"])
@pytest.mark.parametrize("ties", ["expected", "doc_id", "random"])
def test_everything_comes_back(tmp_path: Path, ties: str, no_relevant: str) -> None:
    original = dh.evaluate(
        *data(), MEASURES, ties=ties, rng=3, no_relevant=no_relevant, score_precision="float16", missing="empty"
    )
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


@pytest.mark.slow
def test_a_loaded_evaluation_works_like_any_other(tmp_path: Path) -> None:
    original = dh.evaluate(*data(), MEASURES, missing="empty")
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
    assert as_json(report_evaluations([loaded], "qrels", per_query=True)) == as_json(
        report_evaluations([original], "qrels", per_query=True)
    )


def test_tie_orders_are_drawn_from_a_saved_evaluation(tmp_path: Path) -> None:
    original = dh.evaluate(*data(), ["nDCG@10", "RR"], missing="empty")
    original.save(tmp_path / "run.json")
    loaded = dh.load_evaluation(tmp_path / "run.json")
    drawn = dh.evaluate(*data(), ["nDCG@10", "RR"], ties="random", rng=7, missing="empty")
    again = policies.draw_orders(loaded.placements, np.random.default_rng(7))
    for scores in drawn:
        same(scores.values, scores.measure.mean(again))


@pytest.mark.slow
def test_saved_evaluations_are_compared_as_those_in_memory(tmp_path: Path) -> None:
    qrels, run = data()
    other = {query: {doc: score * (doc != "d3") for doc, score in docs.items()} for query, docs in run.items()}
    parts = {
        name: dh.evaluate(qrels, one, ["RR", "AP", MINE], missing="empty")
        for name, one in {"a": run, "b": other}.items()
    }
    for name, evaluation in parts.items():
        evaluation.save(tmp_path / f"{name}.json")
    loaded = dh.compare_evaluations({name: tmp_path / f"{name}.json" for name in parts})
    expected = dh.compare_evaluations(parts)
    for name in ("RR", "AP"):
        assert repr(loaded[name][0]) == repr(expected[name][0])  # NaN is like NaN there
        assert loaded[name][0].flip_method in {"exact", "grid"}


@pytest.mark.slow
def test_saving_again_gives_the_same_file(tmp_path: Path) -> None:
    dh.evaluate(*data(), MEASURES, missing="empty").save(tmp_path / "one.json")
    (tmp_path / "again").mkdir()
    dh.load_evaluation(tmp_path / "one.json").save(tmp_path / "again" / "one.json")
    assert (tmp_path / "one.json").read_bytes() == (tmp_path / "again" / "one.json").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["again", "one.json"]
    dh.load_evaluation(tmp_path / "one.json").save(tmp_path / "one.json")  # onto itself


def test_parts_and_empty_parts_can_be_saved(tmp_path: Path) -> None:
    original = dh.evaluate(*data(), ["RR", "MR"], missing="empty")
    for n_kept, unknown in ((1, "MR"), (0, "RR")):
        part = original.select(np.arange(len(original.query_ids)) < n_kept, name="part")
        part.save(tmp_path / "part.json")
        assert_same(part, dh.load_evaluation(tmp_path / "part.json"))
        assert document(tmp_path / "part.json")["measures"][unknown]["low"] is None


def document(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


@pytest.mark.slow
def test_the_json_reads_by_itself(tmp_path: Path) -> None:
    original = dh.evaluate(*data(), MEASURES, missing="empty")
    original.save(tmp_path / "run.json", method="t", confidence_level=0.9, rng=np.random.default_rng(1))
    found = document(tmp_path / "run.json")
    assert (found["kind"], found["format"], found["deadheat"]) == ("deadheat evaluation", 3, dh.__version__)
    assert found["conventions"] == {
        "ties": "expected",
        "missing": "empty",
        "no_relevant": None,
        "score_precision": None,
        "rel": None,
        "judged_only": False,
        "depth": None,
        "unjudged": "zero",
        "unjudged_max_rel": None,
        "exclude": None,
    }
    assert list(found)[-1] == "data"
    assert found["n_queries"] == len(original.query_ids)
    assert found["missing_queries"] == ["missing"]
    assert found["unjudged_queries"] == ["stranger"]
    assert (found["qrels_hash"], found["queries_hash"]) == (original.qrels_hash, original.queries_hash)
    interval = original["nDCG@10"].interval("t", confidence_level=0.9)
    assert found["measures"]["nDCG@10"] == {
        "measure": "nDCG@10",
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
        "ci_method": "t",
        "known": True,
        "unknown": "",
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
    original, path = dh.evaluate(*data(), ["RR"], missing="empty"), tmp_path / "run.json"
    options: dict[str, Any] = {"confidence_level": np.float32(0.5), "n_resamples": np.int64(99), "rng": np.uint8(3)}
    original.save(path, **options)
    plain: dict[str, Any] = {"confidence_level": 0.5, "n_resamples": 99, "rng": 3}
    assert document(path)["intervals"] == {"method": "auto", **plain, "cluster": None}
    assert document(path)["measures"]["RR"]["low"] == original["RR"].interval(**plain).low
    original.save(path, rng=None)
    assert document(path)["intervals"]["rng"] is None


def test_clusters_are_told(tmp_path: Path) -> None:
    original = dh.evaluate(*data(), ["RR"], missing="empty")
    original.save(tmp_path / "run.json", cluster=["a", "b"] * 7)
    assert document(tmp_path / "run.json")["intervals"]["cluster"] == "given"


def test_the_tables_are_parquet_in_base64(tmp_path: Path) -> None:
    original = dh.evaluate(*data(), ["RR", "MR"], missing="empty")
    original.save(tmp_path / "run.json")
    tables = {name: table(tmp_path / "run.json", name) for name in ("queries", "scores", "retrieved", "judged")}
    rows = tables["scores"]
    shared = ["value", "tie_std", "tie_min", "tie_max"]
    assert rows.select(shared).equals(original.to_polars().select(shared))
    assert rows.columns == ["value", "tie_mean", *shared[1:], "standard_error", "has_relevant", "reachable"]
    assert rows["value"].null_count() == int(np.isnan(original["MR"].values).sum()) > 0
    assert tables["queries"]["query_id"].to_list() == list(original.query_ids)
    placed = tables["retrieved"].with_columns(query_id=pl.Series(original.query_ids[tables["retrieved"]["query"]]))
    columns = ["query_id", "doc_id", "relevance", "above", "tied"]
    by = ["query_id", "above", "doc_id"]
    assert placed.select(columns).sort(by).equals(original.placements.to_polars().sort(by))
    n_judged = sum(len(docs) for docs in data()[0].values())
    assert tables["judged"].height == n_judged


def table(path: Path, name: str) -> pl.DataFrame:
    return pl.read_parquet(io.BytesIO(base64.b64decode(document(path)["data"][name])))


@pytest.mark.slow
def test_a_custom_measure_keeps_its_scores_but_not_its_function(tmp_path: Path) -> None:
    lookalike = dh.Custom("lookalike", lambda relevance: -first(relevance))
    original = dh.evaluate(*data(), ["nDCG@10", lookalike], missing="empty")
    original.save(tmp_path / "run.json")
    loaded = dh.load_evaluation(tmp_path / "run.json")
    assert isinstance(loaded.measures[1], StoredMeasure)
    assert loaded["nDCG@10"].mean == original["nDCG@10"].mean > 0 > loaded["lookalike"].mean
    for compute in (loaded.measures[1].mean, loaded.measures[1].variance, loaded.measures[1].extremes):
        with pytest.raises(MeasureError, match=r"lookalike .* values alone"):
            compute(original.placements)
    assert dh.load_evaluation(tmp_path / "run.json").measures == loaded.measures


@pytest.mark.parametrize("content", ["{}", '{"q1": {"a": 1}}', "notes", '{"kind": "deadheat comparison"}', " "])
def test_a_file_of_someone_else_is_not_replaced(tmp_path: Path, content: str) -> None:
    evaluation, path = dh.evaluate(*data(), ["RR"], missing="empty"), tmp_path / "x.json"
    path.write_text(content)
    with raises_parts(DataError, "not a saved evaluation", path=path):
        evaluation.save(path)
    assert path.read_text() == content
    assert [one.name for one in tmp_path.iterdir()] == ["x.json"]


def test_what_may_be_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    evaluation, path = dh.evaluate(*data(), ["RR"], missing="empty"), tmp_path / "x.json"
    path.touch()  # as mktemp leaves it
    evaluation.save(path)
    whole = path.read_bytes()
    path.write_bytes(whole[:200])  # what is left of a save is ours
    evaluation.save(path)
    assert path.read_bytes() == whole
    (tmp_path / "link.json").symlink_to("x.json")
    evaluation.save(tmp_path / "link.json", method="t")
    assert (tmp_path / "link.json").is_symlink()
    assert path.read_bytes() != whole
    (tmp_path / "folder.json").mkdir()
    inside = evaluation.save(tmp_path / "folder.json", label="")
    assert (inside.parent, inside.name) == (tmp_path / "folder.json", "19700101T000000Z-run.json")
    (tmp_path / "x.parquet").write_text("mine")
    evaluation.save(path)
    assert (tmp_path / "x.parquet").read_text() == "mine"


@pytest.mark.parametrize(
    ("name", "error", "message"),
    [
        ("run", ParameterError, r"must end in \.json, got '.*run'\. Did you mean '.*run\.json'\?"),
        ("run.parquet", ParameterError, r"Did you mean '.*run\.json'"),
        ("file/run.json", DataError, "cannot be created as a folder"),
    ],
)
def test_where_nothing_can_be_saved(tmp_path: Path, name: str, error: type[DeadheatError], message: str) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(error, match=message):
        dh.evaluate(*data(), ["RR"], missing="empty").save(tmp_path / name)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_wrong_option_leaves_no_file(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="confidence_level"):
        dh.evaluate(*data(), ["RR"], missing="empty").save(tmp_path / "new" / "run.json", confidence_level=95)
    assert not list(tmp_path.iterdir())


def sealed(path: Path, **changes: object) -> None:
    """Change a file as someone would who knows how its hash is made; a key that becomes None is left out."""
    kept = {key: value for key, value in document(path).items() if key not in changes}
    found = kept | {key: value for key, value in changes.items() if value is not None}
    seal(found)
    path.write_text(json.dumps(found), encoding="utf-8")


def with_notation(measures: dict[str, dict[str, Any]], label: str, notation: str) -> dict[str, dict[str, Any]]:
    return measures | {label: measures[label] | {"measure": notation}}


NOT_READ = r"run\.json: cannot be read as a saved evaluation: "
DAMAGE: dict[str, tuple[Callable[[Path], object], str]] = {
    "newer": (
        lambda path: sealed(path, format=4, deadheat="7.0"),
        r"run\.json: has format 4, written by deadheat '7\.0'; this is .*, which reads 2 and 3: install that version",
    ),
    "no format": (lambda path: sealed(path, format=None), "has format None"),
    "a mean": (
        lambda path: path.write_text(path.read_text().replace('"mean": 0.', '"mean": 1.')),
        r"run\.json: was changed since it was saved, or is damaged \(its SHA-256 differs\): save it again",
    ),
    "truncated": (
        lambda path: path.write_text(path.read_text()[:300]),
        r"run\.json:.*: is damaged or incomplete \(.*\), expected a saved evaluation\. Evaluation\.save",
    ),
    "a TREC run": (
        lambda path: path.write_text("q1 Q0 a 1 0.5 t\n"),
        r"run\.json: holds something else, .* evaluate QRELS RUN --save FILE\.json writes one$",
    ),
    "qrels with numbers as ids": (
        lambda path: path.write_text("1 0 a 1\n2 0 a 1\n"),
        r"holds something else, .* --save FILE\.json writes one$",
    ),
    "JSON lines": (
        lambda path: path.write_text('{"query_id": "q"}\n{"query_id": "p"}\n'),
        r"holds something else, .* --save FILE\.json writes one$",
    ),
    "two in one file": (
        lambda path: path.write_text(path.read_text() * 2),
        r"damaged or incomplete \(invalid JSON, Extra data, column 1\), expected a saved evaluation",
    ),
    "empty": (lambda path: path.write_text(""), "empty|damaged or incomplete"),
    "a list": (lambda path: path.write_text("[1]"), "holds something else, expected a saved evaluation"),
    "a run": (lambda path: path.write_text('{"q1": {"a": 1}}'), "holds something else, expected a saved evaluation"),
    "no text": (lambda path: path.write_bytes(b'{"kind": "\xff"}'), "not UTF-8"),
    "nested": (
        lambda path: path.write_text(path.read_text().replace('"name":', '"x":' + "[" * 10**5 + ', "name":', 1)),
        r"is damaged or incomplete \(JSON with lists and objects nested more than 200 levels deep",
    ),
    "twice": (
        lambda path: path.write_text(path.read_text().replace("{", '{"name": "x", ', 1)),
        r"damaged or incomplete \(key 'name' appears twice in one object, expected once\)",
    ),
    "lacking": (lambda path: sealed(path, measures=None), NOT_READ + "lacks 'measures'"),
    "unknown measure": (
        lambda path: sealed(path, measures=with_notation(document(path)["measures"], "RR", "Nope")),
        NOT_READ + ".*Nope",
    ),
    "a policy": (
        lambda path: sealed(path, conventions=document(path)["conventions"] | {"ties": []}),
        NOT_READ + r"ties must be one of 'expected', .* got \[\]",
    ),
    "no base64": (lambda path: sealed(path, data=document(path)["data"] | {"scores": "??"}), NOT_READ),
    "another table": (
        lambda path: sealed(path, data=document(path)["data"] | {"judged": document(path)["data"]["scores"]}),
        NOT_READ,
    ),
    "gone": (lambda path: path.unlink(), r"run\.json: no such file"),
}


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("saved") / "run.json"
    dh.evaluate(*data(), ["RR", "AP"], missing="empty").save(path, method="t")
    return path.read_bytes()


@pytest.mark.parametrize("case", DAMAGE)
def test_what_is_wrong_with_a_file_is_said(tmp_path: Path, case: str, saved: bytes) -> None:
    damage, message = DAMAGE[case]
    path = tmp_path / "run.json"
    path.write_bytes(saved)
    damage(path)
    with pytest.raises(DataError, match=message) as caught:
        dh.load_evaluation(path)
    assert caught.value.path is not None


def test_a_json_file_of_someone_else_is_not_replaced(tmp_path: Path) -> None:
    evaluation = dh.evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}}, "RR")
    path = tmp_path / "x.json"
    for content in ('{"kind": "mine"}', "[1, 2]", "half a file"):
        path.write_text(content)
        with raises_parts(DataError, "not a saved evaluation", path=path):
            evaluation.save(path)
        assert path.read_text() == content
    path.write_text("")
    for _ in range(2):
        evaluation.save(path)
    assert dh.load_evaluation(path).means() == {"RR": 1.0}
