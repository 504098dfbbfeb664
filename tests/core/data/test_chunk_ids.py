"""``doc_id_of=``: runs of chunks beside judgments of documents, in every form; and doubts about chunks."""

from __future__ import annotations

import csv
import io
import random
import re
import shlex
import warnings
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import deadheat as dh
from deadheat.core.data.chunk_doubts import describe_chunks, describe_other_chunks
from deadheat.core.io.formats import parquet
from deadheat.errors import DataError, DeadheatWarning, ParameterError
from support.command import call
from support.error_parts import raises_parts
from support.merged_documents import (
    assert_same,
    draw_qrels,
    draw_rows,
    forms,
    frame_of,
    has_note,
    matrices_of,
    merge_by_hand,
)

if TYPE_CHECKING:
    from pathlib import Path

Rows = list[tuple[str, str, float]]


def number_chunks(rows: Rows, pattern: str = "{doc}#{n}") -> Rows:
    """Give each row of a document the id of another chunk of it."""
    counts: dict[tuple[str, str], int] = {}
    numbered = []
    for query, doc, score in rows:
        n = counts[query, doc] = counts.get((query, doc), -1) + 1
        numbered.append((query, pattern.format(doc=doc, n=n), score))
    return numbered


@pytest.mark.slow
@pytest.mark.parametrize("rule", ["best", "first"])
@pytest.mark.filterwarnings("ignore::deadheat.errors.DeadheatWarning")  # scores may happen to rise or fall
def test_every_form_has_the_numbers_of_documents(rule: str, tmp_path: Path) -> None:
    rows, qrels = draw_rows(21), draw_qrels(21)
    expected = dh.evaluate(qrels, merge_by_hand(rows, rule), "nDCG@3 AP NumRet", ties="input")
    given = number_chunks(rows)
    nested: dict[str, dict[str, float]] = {}
    for query, doc, score in given:
        nested.setdefault(query, {})[doc] = score
    for name, run in [*forms(given, tmp_path), ("dict of dicts", nested), ("a run", dh.Run(given))]:
        found = dh.evaluate(qrels, run, "nDCG@3 AP NumRet", ties="input", doc_id_of="#", duplicates=rule)
        assert_same(found, expected, name)
        assert has_note(found.notes, rows, rule)
        assert any("doc_id_of='#'" in note for note in found.notes)


@pytest.mark.slow
@pytest.mark.plugins("engines")
@pytest.mark.parametrize("size", [1, 5, 1000])
def test_a_file_in_blocks(size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet, "LARGE_PARQUET", 1)
    monkeypatch.setattr("deadheat.core.io.memory_limits._MOST_ROWS", size)
    monkeypatch.setattr("deadheat.core.io.formats.is_too_large", lambda path, _: path.suffix == ".run")
    rows, qrels = draw_rows(22), draw_qrels(22)
    expected = dh.evaluate(qrels, merge_by_hand(rows, "best"), "AP NumRet", ties="input")
    for name, run in forms(number_chunks(rows), tmp_path):
        if name in {"x.parquet", "x.run", "lazy Polars"}:
            opened = dh.Run(run, doc_id_of="#", duplicates="best")
            assert type(opened.rows).__name__ in {"UnreadRows", "UnreadTrec"}
            assert_same(dh.evaluate(qrels, opened, "AP NumRet", ties="input"), expected, name)
            assert opened.to_dict() == merge_by_hand(rows, "best")


def test_rows_of_an_engine_are_named_in_memory() -> None:
    duckdb = pytest.importorskip("duckdb")
    connection = duckdb.connect()
    rows, qrels = draw_rows(23), draw_qrels(23)
    connection.register("chunks", frame_of(number_chunks(rows)).to_arrow())
    found = dh.evaluate(qrels, connection.table("chunks"), "AP NumRet", doc_id_of="#", duplicates="best")
    assert_same(found, dh.evaluate(qrels, merge_by_hand(rows, "best"), "AP NumRet"), "DuckDB")
    with raises_parts(ParameterError, argument="duplicates", given="first"):
        dh.Run(connection.table("chunks"), doc_id_of="#", duplicates="first")


@pytest.mark.plugins("engines", "exclude")
@pytest.mark.parametrize("exclude", ["self", {"q1": ["0", "2"], "q4": ["1"]}])
def test_what_is_excluded_are_documents(exclude: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: ANN401 - a word or a dict
    """Also in blocks, where rows are left out as they are read."""
    rows, qrels = [(query.replace("q", ""), doc, score) for query, doc, score in draw_rows(28)], draw_qrels(28)
    qrels = {query.replace("q", ""): own for query, own in qrels.items()}
    if exclude != "self":
        exclude = {query.replace("q", ""): own for query, own in exclude.items()}
    expected = dh.evaluate(qrels, merge_by_hand(rows, "best"), "AP NumRet R@2", exclude=exclude)
    path = tmp_path / "x.parquet"
    frame_of(number_chunks(rows)).write_parquet(path)
    for is_large in (False, True):
        monkeypatch.setattr(parquet, "LARGE_PARQUET", 1 if is_large else 1_000_000)
        options: Any = {"exclude": exclude, "doc_id_of": "#", "duplicates": "best"}
        assert_same(dh.evaluate(qrels, path, "AP NumRet R@2", **options), expected, str(is_large))


@pytest.mark.plugins("topk")
def test_arrays_whose_ids_are_numbers() -> None:
    """The last digits are those of the chunk."""
    rows, qrels = draw_rows(24), draw_qrels(24)
    ids, scores, query_ids = matrices_of(number_chunks(rows, "1{doc}{n:02d}"))
    run = dh.Run.from_topk(ids, scores, query_ids)
    found = dh.evaluate(qrels, run, "AP NumRet", doc_id_of="^1(.+)[0-9]{2}$", duplicates="best")
    assert_same(found, dh.evaluate(qrels, merge_by_hand(rows, "best"), "AP NumRet"), "arrays")


@pytest.mark.parametrize(
    ("doc_id_of", "ids", "documents"),
    [
        ("#", ["a#1", "a#b#2", "a", "#3", "a#"], ["a", "a#b", "a", "#3", "a"]),
        ("::", ["a::1", "a:1"], ["a", "a:1"]),
        (".", ["a.1", "ab1"], ["a", "ab1"]),  # a separator, and no pattern
        (r"^(.+)_chunk[0-9]+$", ["a_chunk1", "a_chunk", "b_chunk22"], ["a", "a_chunk", "b"]),
        ("^(.*)#", ["#1", "x#1"], ["#1", "x"]),  # no document has an empty id
        ("#", ["\u00e9#1", "a b#2", "a\nb#1"], ["\u00e9", "a b", "a\nb"]),
    ],
)
def test_documents_of_chunks(doc_id_of: str, ids: list[str], documents: list[str]) -> None:
    rows = [("q", doc, float(-place)) for place, doc in enumerate(ids)]
    run = dh.Run(frame_of(rows), doc_id_of=doc_id_of, duplicates="first")
    assert list(run.to_dict()["q"]) == list(dict.fromkeys(documents))


def test_ids_of_another_form_stay_and_are_counted() -> None:
    run = dh.Run([("q", "a#1", 1.0), ("q", "b", 0.5)], doc_id_of="#", duplicates="best")
    assert run.to_dict() == {"q": {"a": 1.0, "b": 0.5}}
    (note,) = run.notes
    assert "1 of 2 results" in note


@pytest.mark.parametrize(
    ("doc_id_of", "word"), [("", "separator"), (7, "separator"), ("(", "expression"), ("(?=a)(b)", "expression"),
                            ("(a)(b)", "2 groups"), (r"a\(b", "0 groups")]
)  # fmt: skip
def test_what_is_no_pattern_is_refused(doc_id_of: Any, word: str) -> None:  # noqa: ANN401 - anything
    with raises_parts(ParameterError, word, argument="doc_id_of", given=doc_id_of):
        dh.Run({"q": {"a": 1}}, doc_id_of=doc_id_of, duplicates="best")


def test_it_needs_to_be_said_which_chunk_counts() -> None:
    run = {"q": {"a#0": 1.0}}
    for duplicates in ("error", "trust"):
        for door in (dh.evaluate, dh.place, dh.Run):
            given: Any = [run] if door is dh.Run else [{"q": {"a": 1}}, run]
            with raises_parts(ParameterError, "give duplicates='best'", argument="doc_id_of", given="#"):
                door(*given, doc_id_of="#", duplicates=duplicates)
    opened = dh.Run(run, duplicates="first")
    assert dh.evaluate({"q": {"a": 1}}, opened, "RR", doc_id_of="#").means() == {"RR": 1.0}


def test_a_pattern_that_no_id_has_is_an_error() -> None:
    with raises_parts(DataError, "give doc_id_of='#'", found="'a#0'"):
        dh.Run({"q": {"a#0": 1.0}}, doc_id_of="@", duplicates="best")
    with raises_parts(DataError, found="'a'", beside={"doc_id_of": "#"}):
        dh.Run({"q": {"a": 1.0}}, doc_id_of="#", duplicates="best")


def test_documents_beside_chunks_are_told_what_to_convert(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The advice is followed as it stands, and gives the numbers of two runs of documents."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "q.txt").write_text("q 0 a 1\nq 0 b 0\n")
    (tmp_path / "documents.run").write_text("q Q0 b 1 2 t\nq Q0 a 2 1 t\n")
    (tmp_path / "chunks.run").write_text("q Q0 c#0 1 3 t\nq Q0 a#1 2 2 t\nq Q0 c#2 3 1 t\nq Q0 b#0 4 0 t\n")
    asked = ("evaluate", "q.txt", "documents.run")
    rule = ("--doc-id-of", r"(.+)#\d", "--duplicates", "best")
    refused = call(*asked, "chunks.run", *rule)
    assert refused.exit_code == 3
    advice = re.search(r"deadheat (convert CHUNKS OUT .*)", " ".join(refused.stderr.split()))
    assert advice is not None
    typed = [{"CHUNKS": "chunks.run", "OUT": "out.run"}.get(word, word) for word in shlex.split(advice[1])]
    assert call(*typed).exit_code == 0
    result = call(*asked, "out.run", "-m", "RR", "--format", "csv")
    values = [row["value"] for row in csv.DictReader(io.StringIO(result.stdout))]
    assert sorted(map(float, values)) == [1 / 2, 1 / 2]


def test_a_run_has_one_pattern() -> None:
    run = dh.Run({"q": {"a#0:1": 1.0}}, doc_id_of=":", duplicates="best")
    assert dh.evaluate({"q": {"a#0": 1}}, run, "RR", doc_id_of=":", duplicates="best").means() == {"RR": 1.0}
    with raises_parts(ParameterError, argument="doc_id_of", given="#"):
        dh.evaluate({"q": {"a": 1}}, run, "RR", doc_id_of="#", duplicates="best")


def test_the_run_that_was_given_stays_as_it_is() -> None:
    run = dh.Run([("q", "a#0", 1.0)])
    dh.evaluate({"q": {"a": 1}}, run, "RR", doc_id_of="#", duplicates="best")
    assert run.to_dict() == {"q": {"a#0": 1.0}}


@pytest.mark.plugins("compare")
def test_comparisons_and_runs_that_order_ties() -> None:
    rows, others, qrels = draw_rows(25), draw_rows(26), draw_qrels(25)
    merged = {"one": merge_by_hand(rows, "best"), "two": merge_by_hand(others, "best")}
    chunks = {"one": number_chunks(rows), "two": frame_of(number_chunks(others))}
    (pair,) = dh.compare(qrels, chunks, "AP", doc_id_of="#", duplicates="best").pairs
    assert pair.difference == dh.compare(qrels, merged, "AP").pairs[0].difference
    found = dh.evaluate(qrels, chunks["one"], "AP", then_by=chunks["two"], doc_id_of="#", duplicates="best")
    assert_same(found, dh.evaluate(qrels, merged["one"], "AP", then_by=merged["two"]), "then_by")


@pytest.mark.plugins("spans")
def test_chunks_beside_spans_have_places() -> None:
    with raises_parts(ParameterError, argument="doc_id_of", given="#"):
        dh.evaluate(dh.Spans([("q", "d", 0, 10)]), [("q", "d", 0, 8, 1.0)], doc_id_of="#")


@pytest.mark.filterwarnings("ignore::deadheat.errors.NothingJudgedWarning")
def test_the_note_that_sees_chunks_names_the_argument_which_then_helps() -> None:
    qrels, run = {"q": {"d1": 1, "d2": 1}}, {"q": {"d1#0": 0.9, "d1#1": 0.7, "d2#4": 0.1}}
    with pytest.warns(DeadheatWarning, match=r"'d1#0' of 'd1' .*--doc-id-of '#'"):
        found = dh.evaluate(qrels, run, "AP")
    (note,) = found.notes
    (separator,) = re.findall("doc_id_of='(.)'", note)
    assert dh.evaluate(qrels, run, "AP", doc_id_of=separator, duplicates="best").means() == {"AP": 1.0}


@pytest.mark.filterwarnings("ignore::deadheat.errors.NothingJudgedWarning")
def test_judgments_of_chunks_stay_and_are_told() -> None:
    qrels = {"q": {"d1#0": 1}}
    run = dh.Run({"q": {"d1#0": 0.9}}, doc_id_of="#", duplicates="best")
    doubt = describe_chunks(dh.Qrels(qrels), run)
    assert "look like chunks" in doubt
    assert "leave out doc_id_of" in doubt
    assert "leave out doc_id_of" not in describe_chunks(dh.Qrels(qrels), dh.Run({"q": {"d1": 0.9}}))
    assert dh.evaluate(qrels, {"q": {"d1#0": 0.9}}, "RR").means() == {"RR": 1.0}  # as it says
    with pytest.warns(DeadheatWarning, match=re.escape(doubt)):
        dh.evaluate(qrels, run, "RR")


def test_ids_that_only_look_alike_are_no_chunks() -> None:
    """Nothing is judged, and no id is a part of another one."""
    assert describe_chunks(dh.Qrels({"q": ["7"]}), dh.Run({"q": ["7.0", "8.0"]})) == ""
    for documents in (["d1", "d2"], ["MED-10"], ["d1#0"]):
        assert describe_chunks(dh.Qrels({"q": documents}), dh.Run({"q": ["MED-11", "x"]})) == ""


@pytest.mark.plugins("compare")
def test_other_chunks_are_warned_of_and_not_compared_in_silence() -> None:
    """Judgments are of small chunks: the other run has larger ones, with lower numbers of the same documents."""
    qrels = {f"q{n}": {f"d{n}#{5 + n % 3}": 1} for n in range(20)}
    old = {f"q{n}": {f"d{n}#{5 + n % 3}": 2.0, f"d{n}#1": 1.0} for n in range(20)}
    new = {f"q{n}": {f"d{n}#{n % 2}": 2.0, f"d{n + 1}#1": 1.0} for n in range(20)}
    with pytest.warns(DeadheatWarning) as caught:
        comparison = dh.compare(qrels, {"old": old, "new": new}, "RR")
    (text,) = [str(one.message) for one in caught if "cut in another way" in str(one.message)]
    assert text.startswith("new: ")
    assert re.findall(r"\b\d+\b", text)[:3] == ["20", "0", "20"]  # relevant, retrieved, another in its place
    verdict = comparison.verdict
    assert verdict.facts["chunks"] == text
    assert verdict.headline.endswith(", but the judgments are of other chunks.")
    assert "chunks" not in dh.compare(qrels, {"old": old, "same": old}, "RR").verdict.facts


def test_a_run_that_finds_most_chunks_is_not_doubted() -> None:
    qrels = dh.Qrels({f"q{n}": {f"d{n}#3": 1} for n in range(20)})
    found = {f"q{n}": {f"d{n}#{3 if n < 12 else 4}": 1.0} for n in range(20)}
    assert describe_other_chunks(qrels, dh.Run(found)) == ""
    half = {f"q{n}": {f"d{n}#{3 if n < 10 else 4}": 1.0} for n in range(20)}
    assert describe_other_chunks(qrels, dh.Run(half)) == ""
    fewer = {f"q{n}": {f"d{n}#{3 if n < 9 else 4}": 1.0} for n in range(20)}
    assert re.findall(r"\b\d+\b", describe_other_chunks(qrels, dh.Run(fewer)))[:2] == ["20", "9"]
    few = {f"q{n}": {f"d{n}#4": 1.0} for n in range(4)}
    assert describe_other_chunks(qrels, dh.Run(few)) == ""


def test_ids_with_numbers_are_not_taken_for_chunks() -> None:
    for prefix in ("MED-", "doc_", "FT911-", "clueweb09-en0000-00-"):
        qrels = dh.Qrels({f"q{n}": {f"{prefix}{n}": 1} for n in range(20)})
        run = dh.Run({f"q{n}": {f"{prefix}{n + 100}": 1.0} for n in range(20)})
        assert describe_other_chunks(qrels, run) == ""


@pytest.fixture
def files(tmp_path: Path) -> Path:
    rows, qrels = draw_rows(27), draw_qrels(27)
    frame_of(number_chunks(rows)).write_csv(tmp_path / "chunks.csv")
    merged = [(query, doc, score) for query, own in merge_by_hand(rows, "best").items() for doc, score in own.items()]
    frame_of(merged).write_csv(tmp_path / "documents.csv")
    judged = [(query, doc, grade) for query, own in qrels.items() for doc, grade in own.items()]
    pl.DataFrame(judged, ["query_id", "doc_id", "relevance"], orient="row").write_csv(tmp_path / "qrels.csv")
    return tmp_path


def test_commands(files: Path) -> None:
    chunks, documents, qrels = (files / name for name in ("chunks.csv", "documents.csv", "qrels.csv"))
    expected = call("evaluate", qrels, documents, "-m", "AP", "--format", "csv")
    found = call("evaluate", qrels, chunks, "-m", "AP", "--format", "csv", "--doc-id-of", "#", "--duplicates", "best")
    assert found.exit_code == 0, found.output
    assert found.stdout == expected.stdout.replace("documents", "chunks")
    told = call("evaluate", qrels, chunks, "-m", "AP")
    assert "--doc-id-of '#'" in " ".join(told.output.split())
    refused = call("evaluate", qrels, chunks, "-m", "AP", "--doc-id-of", "#")
    assert refused.exit_code != 0
    assert "give --duplicates best" in " ".join(refused.stderr.split())
    converted = call("convert", chunks, files / "out.run", "--doc-id-of", "#", "--duplicates", "best")
    assert converted.exit_code == 0, converted.output
    assert dh.read_run(files / "out.run").to_dict() == dh.read_run(documents).to_dict()


def test_no_warning_where_all_is_right() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rows = [(f"q{n}", f"d{n}#{chunk}", 1.0 - chunk) for n in range(20) for chunk in range(2)]
        random.Random(0).shuffle(rows)
        qrels = {f"q{n}": {f"d{n}": 1} for n in range(20)}
        assert dh.evaluate(qrels, rows, "RR", doc_id_of="#", duplicates="best").means() == {"RR": 1.0}
