"""Documents that come twice: judgments are merged or refused, and no run counts a judged document twice."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

import deadheat as dh
from deadheat.api import Content, FileFormat
from deadheat.core.io.formats import FORMATS
from deadheat.errors import DuplicateError
from support.command import call
from support.error_parts import raises_parts

if TYPE_CHECKING:
    from collections.abc import Callable

JUDGMENTS = [("q", "a", 1), ("q", "b", 1)]
TWICE = [*JUDGMENTS, ("q", "a", 1)]
CONTRADICTED = [*JUDGMENTS, ("q", "a", 2)]
RUN = [("q", "a", 3.0), ("q", "c", 2.0), ("q", "b", 1.0)]
REPEATING = [("q", "a", 3.0), ("q", "a", 2.0), ("q", "b", 1.0)]  # R@3 was 1.5, nDCG 1.3066, AP 1.5
MEASURES = "R@3 P@3 nDCG AP DCG RBP bpref ERR INSQ SDCG INST NERR8 NERR9 Judged NumRel NumRelRet IPrec@0"
MERGED = "1 judgment that repeats another one is merged"
NOTE = f"{MERGED}, as of document 'a' for query 'q'"
NOTES_OF_RULE = {
    "error": (),
    "trust": ("documents that come twice were not looked for, by duplicates='trust', as asked",),
}


def frame(rows: list[Any], value: str) -> pl.DataFrame:
    return pl.DataFrame(rows, ["query_id", "doc_id", value], orient="row")


def written(rows: list[Any], folder: Path, name: str) -> Path:
    """Write judgments as a file of a format."""
    path = folder / name
    held = frame(rows, "relevance")
    match path.suffix:
        case ".txt":
            path.write_text("".join(f"{query} 0 {doc} {grade}\n" for query, doc, grade in rows))
        case ".csv":
            held.write_csv(path)
        case ".jsonl":
            held.write_ndjson(path)
        case ".parquet":
            held.write_parquet(path)
        case _:
            path.write_text(json.dumps(held.to_dicts()))
    return path


def forms(rows: list[Any], folder: Path) -> dict[str, Any]:
    """Return the same judgments in all forms that can hold a document twice."""
    return {
        "tuples": rows,
        "Polars": frame(rows, "relevance"),
        "lazy Polars": frame(rows, "relevance").lazy(),
        "pandas": frame(rows, "relevance").to_pandas(),
        **{name: written(rows, folder, name) for name in ("x.txt", "x.csv", "x.jsonl", "x.parquet", "x.json")},
    }


@pytest.mark.plugins("more_measures")
@pytest.mark.parametrize("duplicates", ["error", "trust"])
def test_judgments_that_come_twice_with_one_grade_are_merged_and_noted(tmp_path: Path, duplicates: str) -> None:
    expected = dh.evaluate(JUDGMENTS, RUN, MEASURES).means()
    for name, qrels in forms(TWICE, tmp_path).items():
        found = dh.evaluate(qrels, RUN, MEASURES, duplicates=duplicates)
        assert found.means() == expected, name
        assert found.notes == (NOTE, *NOTES_OF_RULE[duplicates]), name
        assert "data" in str(found), name


@pytest.mark.plugins("more_measures")
@pytest.mark.parametrize("duplicates", ["error", "trust"])
def test_judgments_that_contradict_each_other_are_an_error_that_names_both_grades(
    tmp_path: Path, duplicates: str
) -> None:
    for qrels in forms(CONTRADICTED, tmp_path).values():
        with pytest.raises(DuplicateError, match=r"'a' .* relevance 1 and 2"):
            dh.evaluate(qrels, RUN, MEASURES, duplicates=duplicates)


@pytest.mark.parametrize("qrels", [{"q": ["a", "b", "a"]}, {"q": [("a", 1), ("b", 1), ("a", 1)]}])
def test_relevant_ids_that_come_twice_in_a_list_are_merged(qrels: object) -> None:
    found = dh.evaluate(qrels, RUN, "AP")
    assert found.means() == {"AP": (1 + 2 / 3) / 2}
    assert MERGED in found.notes


def test_a_list_with_two_grades_of_a_document_is_an_error() -> None:
    with raises_parts(DuplicateError, r"'a' .*results 1, 2.* 1 and 2", allowed="once", path=Path("qrels")):
        dh.Qrels({"q": [("a", 1), ("a", 2)]})


@pytest.mark.slow
def test_judgments_of_engines_are_merged_where_they_are() -> None:
    duckdb = pytest.importorskip("duckdb")
    connection = duckdb.connect()
    connection.register("judged", frame(TWICE, "relevance").to_arrow())
    connection.register("retrieved", frame(RUN, "score").to_arrow())
    qrels, run = (connection.table(name) for name in ("judged", "retrieved"))
    for duplicates in ("error", "trust"):
        found = dh.evaluate(qrels, run, "AP", duplicates=duplicates)
        assert found.means() == {"AP": (1 + 2 / 3) / 2}
        assert found.notes == (NOTE, *NOTES_OF_RULE[duplicates])


def test_rows_of_subtopics_that_come_twice_are_merged(tmp_path: Path) -> None:
    """They are judgments of one subtopic: the same document for another one is none that comes twice."""
    path = tmp_path / "x.qrels"
    path.write_text("q 1 a 1\nq 2 a 1\nq 1 a 1\nq 2 b 1\n")
    qrels = dh.read_qrels(path)
    assert qrels.subtopics is not None
    assert qrels.subtopics.rows() == [("q", "a", "1", 1.0), ("q", "a", "2", 1.0), ("q", "b", "2", 1.0)]
    assert qrels.to_dict() == {"q": {"a": 1.0, "b": 1.0}}
    assert MERGED in qrels.notes


def test_only_two_grades_for_one_subtopic_contradict_each_other() -> None:
    """The document a has a grade for each of two subtopics, and is not accused of what b has."""
    rows = [("q", "a", "1", 1), ("q", "a", "2", 2), ("q", "b", "1", 1), ("q", "b", "1", 2), ("q", "c", "2", 1)]
    qrels = pl.DataFrame(rows, ["query_id", "doc_id", "subtopic", "relevance"], orient="row")
    for duplicates in ("error", "trust"):
        problem = (
            "document 'b' is judged 2 times for query 'q', with relevance 1 and 2;"
            " a judgment may come twice with the same relevance only"
        )
        with raises_parts(DuplicateError, problem=problem, path=Path("qrels"), line=None):
            dh.evaluate(qrels, RUN, "RR", duplicates=duplicates)
    assert {*dh.Qrels(qrels).to_polars()["doc_id"].to_list()} == {"a", "b", "c"}


def test_an_empty_subtopic_is_one_however_it_is_written() -> None:
    rows = [("q", "a", None, 1), ("q", "a", "", 1), ("q", "b", "2", 1)]
    qrels = dh.Qrels(pl.DataFrame(rows, ["query_id", "doc_id", "subtopic", "relevance"], orient="row"))
    assert qrels.subtopics is not None
    assert qrels.subtopics.rows() == [("q", "a", "", 1.0), ("q", "b", "2", 1.0)]
    assert MERGED in qrels.notes


@pytest.mark.plugins("spans")
def test_spans_that_come_twice_are_merged_or_refused() -> None:
    chunks = [{"query_id": "q", "doc_id": "d", "start": 0, "end": 10, "score": 1.0}]
    once = dh.evaluate(dh.Spans([("q", "d", 0, 10), ("q", "d", 20, 30)]), chunks, "R@5")
    spans = dh.Spans([("q", "d", 0, 10), ("q", "d", 20, 30), ("q", "d", 0, 10)])
    found = dh.evaluate(spans, chunks, "R@5")
    assert found.means() == once.means() == {"R@5": 0.5}
    assert MERGED.replace("judgment", "span") in found.notes
    assert found.qrels_hash == once.qrels_hash
    graded = [{"query_id": "q", "doc_id": "d", "start": 0, "end": 10, "relevance": grade} for grade in (2, 1)]
    with raises_parts(
        DuplicateError, r"'d\[0:10\]' .*relevance 1 and 2", allowed="the same relevance each time", path=Path("spans")
    ):
        dh.Spans(graded)


def test_judgments_as_a_dict_are_not_the_last_of_two() -> None:
    assert dh.Qrels(TWICE).to_dict() == {"q": {"a": 1.0, "b": 1.0}}
    with pytest.raises(DuplicateError, match="with relevance 1 and 2"):
        dh.Qrels(CONTRADICTED).to_dict()


def test_training_data_keep_repeats() -> None:
    """Popularity counts how often an item was chosen."""
    assert dh.Qrels([("u", "a", 1), ("u", "a", 1)]).to_polars().height == 2


@pytest.mark.plugins("judges")
def test_labels_of_a_judge_are_merged_or_refused() -> None:
    qrels = {"q": {"a": 1, "b": 0}, "r": {"a": 1, "b": 0}}
    run = {query: {"a": 1.0, "b": 2.0} for query in "qrst"}
    rows = [(query, doc, int(doc == "a")) for query in "qrst" for doc in "ab"]
    once = dh.evaluate(qrels, run, "RR", judge=rows).means()
    assert dh.evaluate(qrels, run, "RR", judge=[*rows, ("s", "a", 1)]).means() == once
    with pytest.raises(DuplicateError, match="with relevance 0 and 1"):
        dh.evaluate(qrels, run, "RR", judge=[*rows, ("s", "a", 0)])


DOORS: dict[str, Callable[[Any, Any, str], object]] = {
    "one run": lambda qrels, run, rule: dh.evaluate(qrels, run, MEASURES, duplicates=rule),
    "lazy frames": lambda qrels, run, rule: dh.evaluate(
        frame(qrels, "relevance").lazy(), frame(run, "score").lazy(), "AP", duplicates=rule
    ),
    "several runs": lambda qrels, run, rule: dh.evaluate(
        qrels, {"one": dh.Run(RUN), "two": dh.Run(run)}, MEASURES, duplicates=rule
    ),
    "a comparison": lambda qrels, run, rule: dh.compare(qrels, {"one": RUN, "two": run}, "AP", duplicates=rule),
    "placements": lambda qrels, run, rule: dh.place(qrels, run, duplicates=rule),
    "an explanation": lambda qrels, run, rule: dh.explain(qrels, run, {"AP": 0.5}, duplicates=rule),
    "ties": lambda qrels, run, rule: dh.tie_profile(run, qrels, duplicates=rule),
    "an agreement": lambda qrels, run, rule: dh.agree(run, RUN, duplicates=rule),  # noqa: ARG005 - of runs alone
    "items": lambda qrels, run, rule: dh.item_profile(run, duplicates=rule),  # noqa: ARG005 - of runs alone
    "exposure": lambda qrels, run, rule: dh.exposure(run, qrels, duplicates=rule),
    "a fusion": lambda qrels, run, rule: dh.fuse([run, RUN], duplicates=rule),  # noqa: ARG005 - of runs alone
    "repeats": lambda qrels, run, rule: dh.evaluate(qrels, dh.Repeats([RUN, run]), "AP", duplicates=rule),
}


@pytest.mark.plugins("fusion", "more_measures", "recommender", "repeats", "ties")
@pytest.mark.parametrize("door", DOORS)
def test_a_judged_document_that_a_run_has_twice_is_an_error_unchecked_too(door: str) -> None:
    for duplicates in ("error", "trust"):
        problem = "document 'a' is retrieved 2 times for query 'q'; each pair may appear only once"
        with raises_parts(DuplicateError, problem=problem):
            DOORS[door](JUDGMENTS, REPEATING, duplicates)


@pytest.mark.parametrize("options", [{"score_precision": 1}, {"judged_only": True}, {"then_by": {"q": {"a": 1.0}}}])
def test_options_of_lists_do_not_hide_it(options: dict[str, Any]) -> None:
    with pytest.raises(DuplicateError):
        dh.evaluate(JUDGMENTS, REPEATING, "AP", duplicates="trust", **options)


def test_it_is_found_in_a_run_that_is_read_in_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.run"
    path.write_text("".join(f"{query} Q0 {doc} 1 {score} t\n" for query, doc, score in REPEATING))
    monkeypatch.setattr("deadheat.core.io.formats.is_too_large", lambda *_: True)
    assert type(dh.Run(path).rows).__name__ == "UnreadTrec"
    with pytest.raises(DuplicateError, match="retrieved 2 times"):
        dh.evaluate(JUDGMENTS, path, "AP", duplicates="trust")


@pytest.mark.plugins("columns")
def test_columns_of_scores_are_looked_at(tmp_path: Path) -> None:
    path = tmp_path / "x.letor"
    path.write_text("1 qid:1 1:2 # docid = a\n0 qid:1 1:3 # docid = b\n1 qid:1 1:1 # docid = a\n")
    for duplicates in ("error", "trust"):
        with pytest.raises(DuplicateError, match=r"'a' .* 2 times for query '1'"):
            dh.evaluate_columns(path, measures="RR", duplicates=duplicates)


@pytest.mark.slow
def test_no_value_is_above_the_range_of_its_measure() -> None:
    """Unjudged documents may come twice where nobody looks for them; judged ones, in qrels, too."""
    rng = np.random.default_rng(0)
    measures = [name for name in dh.measures() if name not in {"MaxRel", "Abstain"}]
    for _ in range(10):
        n_rows = 12
        judged = [("q", f"d{n}", int(grade)) for n, grade in enumerate(rng.integers(0, 3, 4))]
        docs = [f"d{n}" for n in rng.permutation(4)] + [f"u{n}" for n in rng.integers(0, 3, n_rows - 4)]
        run = [("q", doc, float(score)) for doc, score in zip(docs, rng.integers(0, 4, n_rows), strict=True)]
        qrels = [*judged, *judged[:2]]
        for scores in dh.evaluate(qrels, run, measures, duplicates="trust"):
            low, high = scores.measure.range
            kept = scores.values[scores.kept]
            assert (kept >= low - 1e-12).all(), scores
            assert (kept <= high + 1e-12).all(), scores


@pytest.mark.plugins("gates")
def test_commands_end_with_an_error_that_names_the_lines(tmp_path: Path) -> None:
    """A gate passed with "at best 1.0000", and doubled judgments were a bug of deadheat (exit 70)."""
    run = tmp_path / "x.run"
    run.write_text("".join(f"{query} Q0 {doc} 1 {score} t\n" for query, doc, score in REPEATING))
    qrels = written(JUDGMENTS, tmp_path, "x.txt")
    for command in (["evaluate", qrels, run, "-m", "R@3"], ["gate", qrels, run, "-c", "R@3 >= 0.9"]):
        result = call(*command, "--duplicates", "trust")
        assert result.exit_code == 3, result.output
        assert "x.run:2: document 'a'" in result.stderr
    good = tmp_path / "good.run"
    good.write_text("".join(f"{query} Q0 {doc} 1 {score} t\n" for query, doc, score in RUN))
    twice = written(TWICE, tmp_path, "twice.txt")
    for duplicates in ("error", "trust"):
        asked = ("--duplicates", duplicates, "--format", "json")
        result = call("evaluate", twice, good, "-m", "DCG nDCG RBP INSQ", *asked)
        assert result.exit_code == 0, result.output
        assert json.loads(result.stdout)["notes"] == {"good": [NOTE, *NOTES_OF_RULE[duplicates]]}
    contradicted = written(CONTRADICTED, tmp_path, "contradicted.txt")
    result = call("evaluate", contradicted, good, "--duplicates", "trust")
    assert result.exit_code == 3
    assert "with relevance 1 and 2" in result.stderr
    assert "(lines 1, 3)" in result.stderr


def test_conversion_merges_judgments(tmp_path: Path) -> None:
    source, target = written(TWICE, tmp_path, "x.txt"), tmp_path / "y.csv"
    result = call("convert", source, target, "--kind", "qrels")
    assert result.exit_code == 0, result.output
    assert dh.read_qrels(target).to_polars().rows() == [("q", "a", 1.0), ("q", "b", 1.0)]
    assert MERGED in result.stderr + result.stdout


@pytest.mark.plugins("columns")
def test_judgments_beside_columns_of_scores_are_merged_unchecked_too(tmp_path: Path) -> None:
    """The run was accused of retrieving a document twice."""
    scores = tmp_path / "scores.csv"
    scores.write_text("query_id,doc_id,one\nq,a,3\nq,c,2\nq,b,1\n")
    qrels = written(TWICE, tmp_path, "x.txt")
    for checking in ([], ["--duplicates", "trust"]):
        result = call("evaluate", qrels, scores, "--score-columns", "one", "-m", "AP", "--format", "json", *checking)
        assert result.exit_code == 0, result.output
        assert json.loads(result.stdout)["columns"]["one"]["AP"] == pytest.approx((1 + 2 / 3) / 2)
    contradicted = written(CONTRADICTED, tmp_path, "contradicted.txt")
    result = call("evaluate", contradicted, scores, "--score-columns", "one", "--duplicates", "trust")
    assert result.exit_code == 3
    assert "with relevance 1 and 2" in result.stderr


def test_a_line_that_has_a_pair_twice_is_named_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a format that has the list of a query on a line."""
    rows = pl.DataFrame({"query_id": ["q", "q"], "doc_id": ["a", "a"], "score": [0.5, 0.5]})
    form = FileFormat(
        name="perline", suffixes=(), read=lambda *_: Content(rows), write=lambda *_: None, locate=lambda *_: [1, 1]
    )
    monkeypatch.setitem(FORMATS, "perline", form)
    (path := tmp_path / "x.perline").write_text("q a a\n", encoding="utf-8")
    with pytest.raises(DuplicateError, match=r"\(line 1\)"):
        dh.evaluate({"q": {"a": 1}}, dh.Run(path, format="perline"))
