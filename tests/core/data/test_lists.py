"""Lists of documents, numbers as ids, ranks without scores, and tables with a list in each row."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import deadheat as dh
from deadheat.errors import (
    ColumnError,
    DataError,
    DuplicateError,
    FileFormatError,
    ParameterError,
    SourceTypeError,
)
from support.error_parts import raises_parts
from support.paths import ROOT

BENCHMARK = ROOT / "datasets" / "hpo" / "english" / "tiny_v1.json"
QRELS = {"q1": {"a": 1, "c": 1}, "q2": {"b": 1}}
RANKED = {"q1": ["b", "a", "c"], "q2": ["a", "b"]}
MEASURES = ["nDCG@5", "AP", "RR", "P@2"]


def strict(run: dict[str, list[str]]) -> dict[str, dict[str, float]]:
    """Return scores that fall by one from rank to rank."""
    return {query: {doc: 100.0 - n for n, doc in enumerate(docs)} for query, docs in run.items()}


def values(qrels: object, run: object) -> dict[str, dict[str, float]]:
    return dh.evaluate(qrels, run, MEASURES).to_dict()


WANTED = values(QRELS, strict(RANKED))


@pytest.mark.parametrize(
    "run",
    [
        RANKED,
        {query: tuple(docs) for query, docs in RANKED.items()},
        {query: np.array(docs) for query, docs in RANKED.items()},
        {query: pd.Series(docs) for query, docs in RANKED.items()},
        {query: pl.Series(docs) for query, docs in RANKED.items()},
        {query: [(doc, -float(n)) for n, doc in enumerate(docs)] for query, docs in RANKED.items()},
        {query: [[doc, -n] for n, doc in enumerate(docs)] for query, docs in RANKED.items()},
        pl.DataFrame({"query_id": list(RANKED), "retrieved_ids": list(RANKED.values())}),
        pd.DataFrame({"question": list(RANKED), "retrieved_context_ids": list(RANKED.values())}),
        pl.DataFrame({"qid": list(RANKED), "doc_ids": list(RANKED.values()), "score": [[3.0, 2.0, 1.0], [0.5, 0.1]]}),
        pl.LazyFrame(
            {"qid": ["q1", "q2", "q1", "q2", "q1"], "docno": ["c", "b", "a", "a", "b"], "rank": [3, 2, 2, 1, 1]}
        ),
    ],
)
def test_ranked_lists_have_a_strict_order(run: object) -> None:
    assert values(QRELS, run) == WANTED


@pytest.mark.parametrize(
    "qrels",
    [
        {"q1": ["a", "c"], "q2": "b"},
        {"q1": {"a", "c"}, "q2": {"b"}},
        {"q1": frozenset("ac"), "q2": ("b",)},
        {"q1": np.array(["a", "c"]), "q2": ["b"]},
        pl.DataFrame({"query_id": ["q1", "q1", "q2"], "expected_doc_id": ["a", "c", "b"], "note": ["", "", "x"]}),
        pl.DataFrame({"user_id": ["q1", "q1", "q2"], "item_id": ["a", "c", "b"]}),
        pl.DataFrame({"query_id": ["q1", "q2"], "reference_context_ids": [["a", "c"], ["b"]]}),
    ],
)
def test_relevant_documents_need_no_relevance(qrels: object) -> None:
    assert values(qrels, RANKED) == WANTED


def test_what_was_assumed_is_kept() -> None:
    (note,) = dh.read_run(RANKED).notes
    assert "without scores" in note
    assert note.endswith(", no ties")
    (note,) = dh.read_qrels({"q": {"a"}}).notes
    assert "without grades" in note
    assert note.endswith(" 1")
    assert dh.read_run(strict(RANKED)).notes == ()


NUMBERED = {1: [7, 12], 2: [12]}
OF_NUMBERS = dh.evaluate({"1": {"12": 1}, "2": {"12": 1}}, {"1": {"7": 2, "12": 1}, "2": {"12": 1}}, ["RR"]).to_dict()


@pytest.mark.parametrize(
    ("qrels", "run"),
    [
        ({1: 12, 2: 12}, NUMBERED),
        ({1: {12: 1}, 2: {12: 1}}, {1: {7: 0.5, 12: 0.1}, 2: {12: 0.3}}),
        ({"1": {"12": 1}, "2": {"12": 1}}, {np.int64(1): {np.int64(7): 0.5, np.int64(12): 0.1}, np.int64(2): {12: 1}}),
        ([(1, 12, 1), (2, 12, 1)], [(1, 7, 0.5), (1, 12, 0.1), (2, 12, 0.3)]),
        (
            pd.DataFrame({"userId": [1, 2], "itemId": [12, 12], "rating": [1, 1]}),
            pd.DataFrame({"userId": [1, 1, 2], "itemId": [7, 12, 12], "prediction": [0.5, 0.1, 1]}),
        ),
        ({1: np.array([12]), 2: {12}}, {1: np.array([7, 12]), 2: [12]}),
    ],
)
def test_whole_numbers_are_ids(qrels: object, run: object) -> None:
    assert dh.evaluate(qrels, run, ["RR"]).to_dict() == OF_NUMBERS


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ({"q": ["a", 7]}, r"text \('a'\) and numbers \(7\)"),
        ({"q": ["7", 7]}, r"text \('7'\) and numbers \(7\)"),
        ({"q": ["a"], 7: ["b"]}, r"text \('q'\) and numbers \(7\)"),
        ({"q": {"7": 1.0}, "r": {7: 1.0}}, r"text \('7'\) and numbers \(7\)"),
        ({"q": {7: 1.0, "7": 1.0}}, r"text \('7'\) and numbers \(7\)"),
        ({"q": [7], "r": ["7"]}, r"text \('7'\) and numbers \(7\)"),
        ({"q": [(7, 0.5)], "r": {"7": 0.5}}, r"text \('7'\) and numbers \(7\)"),
        ([("q", 7, 1.0), ("q", "7", 2.0)], r"text \('7'\) and numbers \(7\)"),
        ({"q": {"a", "b"}}, "set has no order"),
        ({"q": "a"}, r"got str .*; write \[id\]"),
        ({"q": [1.5]}, "id of result 1 .* 'q', got float 1.5"),
        ({"q": [True]}, "id of result 1 .* 'q', got bool True"),
        ({"q": [None]}, "id of result 1 .* 'q', got NoneType None"),
        ({"q": [object()]}, "id of result 1 .* 'q', got object"),
        ({"q": [("a", 0.5), "b"]}, "result 2 .* 'q' has no score"),
        ({"q": 0.5}, "got float 0.5 for query 'q'"),
        ({"q": ["a"], "r": {"a": 1.0}}, "'r' .* score, .* 'q' .* none"),
        ({"q": ["a", "b", "a"]}, r"'a' .* 2 times .* 'q' .*1, 3"),
        ({"q": [("a", 1), ("a", 2)]}, "'a' .* 2 times"),
        ({"q": [10**5000]}, "thousands of digits"),
        ({"q": np.zeros((2, 2))}, r"got ndarray array\("),
    ],
)
def test_lists_that_are_refused(source: object, message: str) -> None:
    with pytest.raises((SourceTypeError, DuplicateError, DataError), match=message):
        dh.read_run(source)


@pytest.mark.parametrize("rank", [-2, -1, 1.5, float("nan"), None])
def test_ranks_are_whole_numbers_from_0(rank: object) -> None:
    with pytest.raises(DataError, match=r"rank .*'a' for query 'q' is"):
        dh.read_run(
            pl.DataFrame({"query_id": ["q"], "doc_id": ["a"], "rank": [rank]}, schema_overrides={"rank": pl.Float64})
        )


def test_equal_ranks_tie_and_rows_come_in_any_order() -> None:
    run = pl.DataFrame({"query_id": ["q"] * 3, "doc_id": ["c", "b", "a"], "rank": [2, 1, 2]})
    assert dh.evaluate({"q": "a"}, run, ["RR"]).means()["RR"] == pytest.approx((1 / 2 + 1 / 3) / 2)
    (note,) = dh.read_run(run).notes
    assert "column rank" in note
    assert note.endswith("equal ranks tie")


def test_a_score_wins_over_a_rank() -> None:
    run = pl.DataFrame({"query_id": ["q", "q"], "doc_id": ["a", "b"], "rank": [2, 1], "score": [0.9, 0.1]})
    assert dh.evaluate({"q": "a"}, run, ["RR"]).means() == {"RR": 1.0}


FILES = {
    "lists.json": json.dumps(RANKED),
    "pairs.json": json.dumps({query: [[doc, -n] for n, doc in enumerate(docs)] for query, docs in RANKED.items()}),
    "rows.json": json.dumps([{"query_id": q, "retrieved_ids": docs} for q, docs in RANKED.items()]),
    "lists.jsonl": "".join(json.dumps({"query_id": q, "doc_ids": docs}) + "\n" for q, docs in RANKED.items()),
    "scored.jsonl": "".join(
        json.dumps({"query_id": q, "results": docs, "score": [-n for n in range(len(docs))]}) + "\n"
        for q, docs in RANKED.items()
    ),
    "ranks.csv": "query_id,rank,doc_id,tag\nq1,3,c,x\nq2,2,b,x\nq1,1,b,x\nq1,2,a,x\nq2,1,a,x\n",
    "ranks.tsv": "user_id\titem_id\trank\nq1\tc\t3\nq2\tb\t2\nq1\tb\t1\nq1\ta\t2\nq2\ta\t1\n",
    "ranks.jsonl": "".join(
        json.dumps({"query_id": q, "doc_id": doc, "rank": n}) + "\n"
        for q, docs in RANKED.items()
        for n, doc in enumerate(docs, 1)
    ),
    "excel.csv": "query_id;doc_id;score\nq1;b;0,9\nq1;a;0,85\nq1;c;0,5\nq2;a;12\nq2;b;-1,5e1\n",
    "quoted.csv": '"query_id";"doc_id";"score"\r\n"q1";"b";"0,9"\r\n"q1";"a";"0,85"\r\n'
    '"q1";"c";"0,5"\r\n"q2";"a";"12"\r\n"q2";"b";"0"\r\n',
    "objects.json": json.dumps(
        [{"query_id": q, "doc_id": doc, "score": -n} for q, docs in RANKED.items() for n, doc in enumerate(docs)]
    ),
}


@pytest.mark.parametrize("name", FILES)
def test_files(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text(FILES[name], encoding="utf-8")
    assert values(QRELS, path) == WANTED
    frame = dh.read_run(path).to_polars()
    frame.write_parquet(tmp_path / "x.parquet")
    assert values(QRELS, tmp_path / "x.parquet") == WANTED


@pytest.mark.plugins("bench")
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("q.json", '{"q1": ["a", "c"], "q2": "b"}'),
        ("q.csv", "query_id,doc_id\nq1,a\nq1,c\nq2,b\n"),
        ("e.csv", "query_id,note,expected_doc_id\nq1,x,a\nq1,y,c\nq2,z,b\n"),
        (
            "e.jsonl",
            '{"question_id": "q1", "expected_ids": ["a", "c"]}\n{"question_id": "q2", "expected_ids": ["b"]}\n',
        ),
        (
            "o.jsonl",
            '{"query_id": "q1", "doc_id": "a"}\n{"query_id": "q1", "doc_id": "c"}\n{"query_id": "q2", "doc_id": "b"}\n',
        ),
        ("r.csv", "userId;itemId;rating\nq1;a;1,0\nq1;c;1,0\nq2;b;1\n"),
        (
            "cases.json",
            json.dumps({"cases": [{"case_id": q, "text": "t", "expected_ids": list(QRELS[q])} for q in QRELS]}),
        ),
        ("cases.csv", "case_id,text,expected_ids\nq1,t,a|c\nq2,t,b\n"),
    ],
)
def test_files_of_judgments(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    assert values(tmp_path / name, RANKED) == WANTED


@pytest.mark.parametrize(
    ("name", "text", "error", "message"),
    [
        (
            "x.csv",
            "query_id;doc_id;score\nq;a;1.234\nq;b;1,5\n",
            FileFormatError,
            r"x\.csv:3: .*\(line 3\) .* points \(line 2\)",
        ),
        (
            "x.csv",
            "query_id;doc_id;score\nq;a;1.234,5\n",
            FileFormatError,
            r"commas \(line 2\) .* points \(line 2\)",
        ),
        ("x.csv", "query_id,doc_ids\nq,a|b\n", ColumnError, "lists of documents.* a row for each"),
        ("x.csv", "query_id,doc_id,rank\nq,a,x\n", DataError, r"x\.csv:2: rank .* got 'x'"),
        ("x.json", '{"q": ["a", null]}', SourceTypeError, r"x\.json: .* result 2 "),
        ("x.csv", "query_id,doc_id,rank\nq,a,-1\n", DataError, "rank .* 'a' .* 'q' is -1"),
        (
            "x.jsonl",
            '{"query_id": "q", "doc_ids": ["a"]}\n{"query_id": "q", "doc_ids": ["b"]}\n',
            DuplicateError,
            r"x\.jsonl:2: .* 'q' .* two lists",
        ),
        (
            "x.jsonl",
            '{"query_id": "q", "doc_ids": ["a"]}\n{"query_id": "r", "doc_ids": "b"}\n',
            SourceTypeError,
            r"x\.jsonl:2: .*, got str 'b' for query 'r'",
        ),
        (
            "x.jsonl",
            '{"query_id": "q", "doc_ids": ["a", "a"]}\n',
            DuplicateError,
            r"x\.jsonl:1: document 'a' comes 2 times",
        ),
        ("x.json", '{"q": 5}', SourceTypeError, r"x\.json: .*got int 5 for query 'q'"),
    ],
)
def test_files_that_are_refused(tmp_path: Path, name: str, text: str, error: type[Exception], message: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(error, match=message):
        dh.read_run(tmp_path / name)


def test_columns_that_the_user_names(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("hit,asked,sim,doc_id\na,q1,0.1,zz\nb,q1,0.9,zz\n")
    columns = {"doc_id": "hit", "query_id": "asked", "score": "sim"}
    assert dh.read_run(path, columns=columns).to_dict() == {"q1": {"a": 0.1, "b": 0.9}}
    assert dh.read_run(pl.read_csv(path), columns=columns).to_dict() == {"q1": {"a": 0.1, "b": 0.9}}
    with raises_parts(ColumnError, "no column 'hitt'", hint="Did you mean 'hit'?", path=path):
        dh.read_run(path, columns=columns | {"doc_id": "hitt"})
    with raises_parts(ParameterError, "must be one of 'query_id', ", argument="columns", given="doc"):
        dh.read_run(path, columns={"doc": "hit"})
    (tmp_path / "x.run").write_text("q Q0 a 1 0.5 t\n")
    with raises_parts(
        ParameterError, "a trec file, .* give columns=", argument="columns", allowed="given for tables only"
    ):
        dh.read_run(tmp_path / "x.run", columns=columns)
    with raises_parts(ParameterError, "a trec file", argument="columns"), dh.max_memory(1):
        dh.read_run(tmp_path / "x.run", columns=columns)  # read in blocks


@pytest.mark.plugins("columns")
def test_columns_of_what_is_no_table_are_refused(tmp_path: Path) -> None:
    run = {"q1": [{"id": "a", "chunk": "c1"}]}
    (tmp_path / "x.json").write_text(json.dumps(run))
    (tmp_path / "x.letor").write_text("1 qid:q1 1:0.5 2:0.1\n")
    columns = {"doc_id": "chunk"}
    for source, what in ((run, "a dict"), (tmp_path / "x.json", "an object"), (tmp_path / "x.letor", "a letor file")):
        for read in (dh.read_run, dh.read_qrels):
            with raises_parts(ParameterError, what, argument="columns", allowed="given for tables only"):
                read(source, columns=columns | {"score": "1"})
    with raises_parts(ParameterError, "expected one of .*'trec'", problem="unknown format", given="nosuch"):
        dh.read_run(run, format="nosuch")
    assert dh.read_qrels(tmp_path / "x.letor", columns={"score": "1"}).to_dict() == {"q1": {"0": 1.0}}
    assert dh.read_run(tmp_path / "x.letor", columns={"score": "2"}).to_dict() == {"q1": {"0": 0.1}}


def test_comments_in_trec_files(tmp_path: Path) -> None:
    path = tmp_path / "x.qrels"
    path.write_text("# judged by us in 2026\n#1 0 a 1\nq 0 a 1\n# q 0 a x\n#\nq 0 b 0\n")
    qrels = dh.read_qrels(path)
    assert qrels.to_dict() == {"#1": {"a": 1}, "q": {"a": 1, "b": 0}}
    skipped, marked = qrels.notes
    assert skipped == f"3 comment lines skipped in {path}"
    assert marked.startswith("1 query ")
    assert "(#1)" in marked
    path.write_text("# one\nq 0 a\n")
    with pytest.raises(DataError, match=r"x\.qrels:2: "):
        dh.read_qrels(path)
    for record in ("#1 0 a 1", " #1 0 a 1", "\t#1 0 a 1"):  # a damaged record of #1 is no comment
        path.write_text(f"{record}\nq 0 a 1\n#1 0 b\n")
        with pytest.raises(DataError, match=r"x\.qrels:3: "):
            dh.read_qrels(path)


def test_what_is_told_apart_in_rows_of_lists(tmp_path: Path) -> None:
    rows = '{"query_id": "q", "doc_id": ["a", "b", "c"], "rank": [3, 1, 1]}\n'
    (tmp_path / "x.jsonl").write_text(rows)
    assert dh.read_run(tmp_path / "x.jsonl").to_dict() == {"q": {"a": -3, "b": -1, "c": -1}}
    (tmp_path / "x.jsonl").write_text(rows.replace("3, 1", "-1, 1"))
    with raises_parts(DataError, "rank for query 'q' is -1", allowed="a whole number from 0", line=1):
        dh.read_run(tmp_path / "x.jsonl")
    scored = {"query_id": ["q"], "retrieved": [["a", "b"]], "scores": [[0.1, 0.9]]}
    assert dh.read_run(pl.DataFrame(scored)).to_dict() == {"q": {"a": 0.1, "b": 0.9}}
    with pytest.raises(SourceTypeError, match="query 'q'; a set has no order"):
        dh.read_run(pd.DataFrame({"query_id": ["q"], "retrieved": [{"a", "b"}]}))
    arrays = pd.DataFrame({"query_id": ["q", "r"], "doc_id": [np.array(["a", "b"]), np.array([])]})
    assert dh.read_run(arrays).to_dict() == {"q": {"a": -1, "b": -2}, "r": {}}


def test_numbers_in_lists_are_what_they_are(tmp_path: Path) -> None:
    """Whole numbers in the first row round none below it, in rows as in JSON Lines; what has no order is refused."""
    path = tmp_path / "x.jsonl"
    rows = [{"query_id": query, "doc_id": ["a", "b"], "score": own} for query, own in (("q", [2, 1]), ("r", [2.5, 2]))]
    path.write_text("\n".join(map(json.dumps, rows)))
    for source in (rows, tuple(rows), path):
        assert dh.read_run(source).to_dict() == {"q": {"a": 2, "b": 1}, "r": {"a": 2.5, "b": 2}}
    for wrong in ("xy", {0.5, 0.7}, {"a": 1, "b": 2}, [1.0], 3):
        with raises_parts(ColumnError, "score .*'q' .* 2 numbers", allowed="one for each of doc_id"):
            dh.read_run([rows[0] | {"score": wrong}])
    with raises_parts(SourceTypeError, r"\('x'\) .*\(7\)", hint="write str(id) for every id"):
        dh.read_run([rows[0], rows[1] | {"doc_id": ["x", 7]}])


@pytest.mark.plugins("bench")
def test_labelled_cases_are_qrels() -> None:
    cases = dh.read_cases(BENCHMARK)
    assert dh.read_qrels(cases).to_dict() == cases.qrels().to_dict()
    assert dh.read_qrels(cases).notes == dh.read_qrels(BENCHMARK).notes


def test_queries_that_may_be_comments(tmp_path: Path) -> None:
    (tmp_path / "x.qrels").write_text("#1 0 d 1\nq 0 d 1\n")
    (note,) = dh.read_qrels(tmp_path / "x.qrels").notes
    assert "(#1): comments" in note


def test_ranks_beside_a_list_are_whole_numbers_of_any_library(tmp_path: Path) -> None:
    frame = pd.DataFrame({"query_id": ["q"], "doc_id": [["a", "b"]], "rank": [np.array([2, 1])]})
    assert dh.read_run(frame).to_dict() == {"q": {"a": -2.0, "b": -1.0}}
    path = tmp_path / "x.jsonl"
    for rank in ("Infinity", "NaN", "1.5", "true", "-1", '"1"'):
        path.write_text(f'{{"query_id": "q", "doc_id": ["a", "b"], "rank": [1, {rank}]}}\n')
        with raises_parts(DataError, "rank for query 'q' is", allowed="a whole number from 0", path=path, line=1):
            dh.read_run(path)


def test_several_runs_in_a_list_are_told() -> None:
    """Dicts by query, frames and runs have names in a dict of runs, which works; one dict needs no list."""
    first, second = {"q1": ["a"]}, {"q1": ["b", "a"]}
    frame = pd.DataFrame({"query_id": ["q1"], "doc_id": ["a"], "score": [1.0]})
    several: list[Any] = [
        [first, second],
        [{"q1": {"a": 1.0}}, {"q1": {"b": 2.0, "a": 1.0}}],
        (first, second),
        [frame, frame],
        [dh.Run(first), dh.Run(second)],
    ]
    for runs in several:
        with pytest.raises(SourceTypeError, match=r"several .* \{name: run\}"):
            dh.evaluate({"q1": ["a"]}, runs, ["RR"])
    named: Any = dh.evaluate({"q1": ["a"]}, {"a": first, "b": second}, ["RR"])
    assert {name: one.means()["RR"] for name, one in named.items()} == {"a": 1.0, "b": 0.5}
    with raises_parts(SourceTypeError, "give the dict itself", found="a list of 1 dict by query"):
        dh.evaluate({"q1": ["a"]}, [first], ["RR"])
    for kind in (dh.Qrels, dh.Run):
        with raises_parts(SourceTypeError, "give one dict", found="a list of 2 dicts by query"):
            kind([{"q1": ["a"]}, {"q2": ["b"]}])


@pytest.mark.plugins
@pytest.mark.parametrize(
    "rows",
    [
        [{"retrieved_contexts": ["a"], "reference_contexts": ["b"]}] * 2,
        [{"hits": {"hits": [{"_id": "a"}]}}] * 2,
        [{"ids": [["a"]], "distances": [[0.5]]}] * 2,
    ],
    ids=["ragas", "Elasticsearch", "Chroma"],
)
def test_rows_and_responses_are_not_several_runs(rows: list[dict[str, object]]) -> None:
    with pytest.raises(DataError) as caught:
        dh.Run(rows)
    assert "several runs" not in str(caught.value)
