"""CSV, TSV and Parquet: names of columns, what is accepted, what is refused and with which line."""

from __future__ import annotations

import gzip
import json
import re
import warnings
from pathlib import Path
from typing import TYPE_CHECKING
from unittest.mock import Mock

import polars as pl
import pytest
from hypothesis import given, strategies as st

import deadheat as dh
from deadheat import Qrels, Run
from deadheat.api import Content
from deadheat.core.io.columns import resolve_columns
from deadheat.core.io.formats import choose_format, delimited, locate, read_tag, scan
from deadheat.core.io.formats.delimited import HeaderFile, parse_rows, read_rows
from deadheat.errors import (
    Advice,
    ColumnError,
    DataError,
    FileFormatError,
    MalformedRowError,
    ParameterError,
    SwappedFilesError,
)
from support.command import call, names_in
from support.error_parts import raises_parts

if TYPE_CHECKING:
    from deadheat.api import Kind

RUN = "query_id,doc_id,score\n"


def frame_in(content: Content) -> pl.DataFrame:
    assert isinstance(content.rows, pl.DataFrame)
    return content.rows


def read(path: Path, kind: Kind = "run") -> pl.DataFrame:
    frame = scan(path, kind).rows
    assert isinstance(frame, pl.DataFrame)
    return frame


def written(tmp_path: Path, content: str | bytes, name: str = "x.csv") -> Path:
    path = tmp_path / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("a.csv", "csv"),
        ("a.TSV.gz", "tsv"),
        ("a.parquet", "parquet"),
        ("a.jsonl.zst", "jsonl"),
        ("a.ndjson", "jsonl"),
        ("a.json", "json"),
        ("bm25.v1.2", "trec"),
        ("a.txt", "trec"),
        ("a.gz", "trec"),
        ("folder.csv/run", "trec"),
        ("run", "trec"),
    ],
)
def test_the_name_says_the_format(name: str, expected: str) -> None:
    assert choose_format(name) == expected


def test_an_unknown_format(tmp_path: Path) -> None:
    with raises_parts(ParameterError, r"Did you mean 'csv'\?", problem="unknown format", given="cvs"):
        scan(written(tmp_path, RUN), "run", format="cvs")


def test_the_format_can_be_given(tmp_path: Path) -> None:
    path = written(tmp_path, f"{RUN}q,d,1\n", "x.dat")
    frame = scan(path, "run", format="csv").rows
    assert isinstance(frame, pl.DataFrame)
    assert frame.rows() == [("q", "d", 1.0)]
    assert locate(path, "run", "q", "d", format="csv") == [2]


@pytest.mark.parametrize(
    ("names", "kind", "expected"),
    [
        (["query_id", "doc_id", "score"], "run", ["query_id", "doc_id", "score"]),
        (["score", "rank", "docno", "query", "qid", "docid"], "run", ["qid", "docno", "score"]),
        (["query-id", "corpus-id", "score"], "qrels", ["query-id", "corpus-id", "score"]),
        (["qid", "docno", "label", "score"], "qrels", ["qid", "docno", "label"]),
        (["q_id", "pid", "rel"], "qrels", ["q_id", "pid", "rel"]),
        (
            ["qid", "query_id", "document_id", "doc_id", "relevance_label"],
            "qrels",
            ["query_id", "doc_id", "relevance_label"],
        ),
    ],
)
def test_names_of_other_tools(names: list[str], kind: Kind, expected: list[str]) -> None:
    assert list(resolve_columns(names, kind, where="x").values()) == expected


PATTERNS = ["^s.*$", "*"]


@pytest.mark.plugins("columns")
@pytest.mark.parametrize("source", ["r.parquet", "frame", "lazy", "pandas", "duckdb"])
@pytest.mark.parametrize("name", PATTERNS)
def test_a_column_whose_name_stands_for_others_is_refused_in_dataframes(tmp_path: Path, name: str, source: str) -> None:
    frame = pl.DataFrame({"query_id": ["1", "1"], "doc_id": ["2", "3"], name: [0.5, 0.75], "score": [0.25, 0.0]})
    path = tmp_path / "r.parquet"
    frame.write_parquet(path)
    given: object = path
    if source == "duckdb":
        given = pytest.importorskip("duckdb").read_parquet(str(path))
    elif source != "r.parquet":
        given = {"frame": frame, "lazy": frame.lazy(), "pandas": frame.to_pandas()}[source]
    assert dh.Run(given).to_dict() == {"1": {"2": 0.25, "3": 0.0}}  # what is not read may be called anything
    message = rf"column '{re.escape(name)}' stands for several columns .*rename the column"
    with pytest.raises(ColumnError, match=message):
        dh.Run(given, columns={"score": name})
    with pytest.raises(ColumnError, match=message):
        dh.Run(given, columns={"doc_id": name})
    with pytest.raises(ColumnError, match=message):
        dh.evaluate_columns({"1": {"2": 1}}, given, "RR")
    with pytest.raises(ColumnError, match=message):
        dh.evaluate({"1": {"2": 1}}, given, "RR", then_by=name)


@pytest.mark.plugins("columns")
@pytest.mark.parametrize("name", PATTERNS)
@pytest.mark.parametrize("suffix", ["csv", "jsonl"])
def test_text_files_may_have_names_that_stand_for_others(tmp_path: Path, suffix: str, name: str) -> None:
    path = tmp_path / f"r.{suffix}"
    frame = pl.DataFrame(
        {"query_id": ["q", "q"], "doc_id": ["d", "e"], name: [0.5, 0.75], "score": [0.25, 0.0], "rank": [1, 2]}
    )
    if suffix == "csv":
        frame.write_csv(path)
    else:
        frame.write_ndjson(path)
    assert dh.Run(path, columns={"score": name}).to_dict() == {"q": {"d": 0.5, "e": 0.75}}
    found = dh.evaluate_columns({"q": {"d": 1}}, path, "RR")
    assert {column: one.means()["RR"] for column, one in found.items()} == {name: 0.5, "score": 1.0}


def test_a_missing_column_is_named_with_what_there_is() -> None:
    columns = ["query_id", "doc_idd", "score"]
    with raises_parts(ColumnError, path=Path("my.csv")) as caught:
        resolve_columns(columns, "run", where="my.csv")
    missing, *found = names_in(str(caught.value.problem))
    assert (missing, found) == ("doc_id", columns)
    assert names_in(str(caught.value.allowed))[:3] == ["doc_id", "doc-id", "corpus-id"]
    assert isinstance(caught.value.hint, Advice)
    assert (caught.value.hint.argument, caught.value.hint.value) == ("columns", {"doc_id": "doc_idd"})
    assert str(caught.value.python).startswith("dh.read_run ")


PAIRS = [  # of retrieved and of relevant documents
    ("retrieved_contexts", "reference_contexts"),
    ("contexts", "ground_truths"),
    ("retrieved_docs", "gold_docs"),
    ("predicted_ids", "gold_ids"),
    ("top_k_ids", "positive_ids"),
    ("recommended", "actual"),
    ("predictions", "targets"),
]


@pytest.mark.parametrize(("retrieved", "relevant"), PAIRS)
def test_no_advice_takes_what_is_retrieved_for_the_qrels(tmp_path: Path, retrieved: str, relevant: str) -> None:
    """Followed, it made P and R of any retriever 1."""
    for names in ((retrieved, relevant), (relevant, retrieved)):
        rows = [{"question": "q", **{name: ["a", "b"] for name in names}}]
        (path := tmp_path / "x.jsonl").write_text(json.dumps(rows[0]))
        for source in (rows, pl.DataFrame(rows), path):
            for read, right in ((dh.Qrels, relevant), (dh.Run, retrieved)):
                with pytest.raises(ColumnError) as caught:
                    read(source)
                assert f"give columns={{'doc_id': {right!r}}}" in str(caught.value)


@pytest.mark.parametrize("lists", [["ours", "theirs"], ["retrieved_docs"], ["retrieved_ids_2", "retrieved_texts"]])
def test_no_advice_is_better_than_a_wrong_one(lists: list[str]) -> None:
    rows = [{"question": "q", **{name: ["a", "b"] for name in lists}}]
    with pytest.raises(ColumnError) as caught:
        dh.Qrels(rows)
    assert "give columns" not in str(caught.value)


@pytest.mark.parametrize("names", [("predicted_doc", "note"), ("recommended", "actual"), ("hits_found", "seen")])
def test_a_single_document_a_row_is_not_guessed_either(names: tuple[str, str]) -> None:
    with pytest.raises(ColumnError) as caught:
        dh.Qrels([{"question": "q", **dict.fromkeys(names, "a")}])
    assert "give columns" not in str(caught.value)


def test_the_query_of_a_table_with_lists_is_named_alone() -> None:
    problem = "qrels without a column 'query_id': found 'asked', 'ours', 'theirs'"
    with raises_parts(ColumnError, "columns={'query_id': 'asked'};", problem=problem):
        dh.Qrels([{"asked": "q", "ours": ["a"], "theirs": ["b"]}])


def test_swapped_tables() -> None:
    with pytest.raises(ColumnError, match="These are judgments; were"):
        resolve_columns(["qid", "docno", "label"], "run", where="x")
    with raises_parts(SwappedFilesError, "This is a run; were", path=Path("x")):
        resolve_columns(["qid", "docno", "score", "rank"], "qrels", where="x")


def test_a_repeated_column() -> None:
    with raises_parts(ColumnError, "'score' appears 2 times", allowed="once", path=Path("x")):
        resolve_columns(["qid", "docno", "score", "score"], "run", where="x")


def test_columns_types_and_order(tmp_path: Path) -> None:
    frame = read(written(tmp_path, "score,qid,other,docno\n1.5,0880,,007\n-2,b,x,y\n"))
    assert frame.schema == {"query_id": pl.String, "doc_id": pl.String, "score": pl.Float64}
    assert frame.rows() == [("0880", "007", 1.5), ("b", "y", -2.0)]


def test_beir_qrels(tmp_path: Path) -> None:
    path = written(tmp_path, "query-id\tcorpus-id\tscore\n1\t0031\t2\n2\t14\t0\n", "test.tsv")
    assert read(path, "qrels").rows() == [("1", "0031", 2.0), ("2", "14", 0.0)]
    assert locate(path, "qrels", "2", "14") == [3]


@pytest.mark.parametrize("name", ["x.tsv", "x.tsv.gz"])
def test_tsv_without_a_header_is_trec(tmp_path: Path, name: str) -> None:
    run, qrels = b"q1\tQ0\td1\t1\t2.5\tt\n", b"q1\t0\td1\t1\n"
    if name.endswith("gz"):
        run, qrels = gzip.compress(run), gzip.compress(qrels)
    path = written(tmp_path, run, name)
    assert read(path).rows() == [("q1", "d1", 2.5)]
    assert locate(path, "run", "q1", "d1") == [1]
    assert read(written(tmp_path, qrels, name), "qrels").rows() == [("q1", "d1", 1.0)]
    with pytest.raises(SwappedFilesError):
        scan(path, "run")


def test_tsv_with_neither_a_header_nor_trec_rows(tmp_path: Path) -> None:
    path = written(tmp_path, "q1\td1\t2.5\n", "x.tsv")
    with raises_parts(ColumnError, given="q1\td1\t2.5", path=path, line=1):
        scan(path, "run")


@pytest.mark.parametrize(
    "content",
    [
        "query_id,doc_id,score\nq,d,1\nr,e,2\n",
        "query_id,doc_id,score\nq,d,1\nr,e,2",
        "query_id,doc_id,score\r\nq,d,1\r\nr,e,2\r\n",
        "\ufeffquery_id,doc_id,score\nq,d,1\nr,e,2\n",
        '"query_id", doc_id,"score"\n"q","d","1"\nr,e,2\n',
        "query_id,doc_id,score\nq,d, 1\n\nr,e,2 \n\n",
        "\n\nquery_id,doc_id,score\nq,d,1\nr,e,2\n",
        "query_id,doc_id,score,text\nq,d,1,\nr,e,2,x\n",
        'query_id,doc_id,score,text\nq,d,1,"two\nlines"\nr,e,2,"a ""b"", c"\n',
        '"query\nid",query_id,doc_id,score\nx,q,d,1\nx,r,e,2\n',
    ],
)
@pytest.mark.parametrize("compress", [False, True])
def test_dialects(tmp_path: Path, content: str, *, compress: bool) -> None:
    data = content.encode()
    path = written(tmp_path, gzip.compress(data) if compress else data)
    assert read(path).rows() == [("q", "d", 1.0), ("r", "e", 2.0)]


def test_quoted_ids(tmp_path: Path) -> None:
    text = '"query_id",doc_id,score,text\n"a,b","say ""x""",1,"two\nlines"\n"r"," d ",2,\nq,d,3,""\n'
    path = written(tmp_path, text)
    assert read(path).rows() == [("a,b", 'say "x"', 1.0), ("r", " d ", 2.0), ("q", "d", 3.0)]
    assert locate(path, "run", "r", " d ") == [4]
    assert locate(path, "run", "q", "d") == [5]


def test_a_quote_inside_an_id_is_no_quote(tmp_path: Path, recwarn: pytest.WarningsRecorder) -> None:
    assert read(written(tmp_path, f'{RUN}q,5" nail,1\nq,e,2\n')).rows() == [("q", '5" nail', 1.0), ("q", "e", 2.0)]
    assert not recwarn.list  # Polars had one, of a malformed file


def test_infinite_scores_are_scores(tmp_path: Path) -> None:
    assert read(written(tmp_path, f"{RUN}q,a,inf\nq,b,-Infinity\n"))["score"].to_list() == [float("inf"), float("-inf")]


@pytest.mark.parametrize(
    ("bad", "error", "message"),
    [
        ("q,d", MalformedRowError, "(query_id,doc_id,score,text), got 2: 'q,d'"),
        ("q,d,1", MalformedRowError, "got 3"),
        ("q,d,1,x,y", MalformedRowError, "got 5"),
        ("q,d,1,x,", MalformedRowError, "got 5"),
        ("q,d,high,x", DataError, "number, got 'high'"),
        ("q,d,,x", DataError, "number, got an empty field"),
        ("q,d,NaN,x", DataError, "got NaN"),
        ('q,d,"1,5",x', DataError, "got '1,5'"),
        ("q,d,9007199254740993,x", DataError, "beyond 2**53"),
        (",d,1,x", DataError, "column 'query_id'"),
        ("q,,1,x", DataError, "column 'doc_id'"),
        ('q,"",1,x', DataError, "column 'doc_id'"),
    ],
)
def test_the_first_bad_line_is_named(tmp_path: Path, bad: str, error: type[DataError], message: str) -> None:
    path = written(tmp_path, f'query_id,doc_id,score,text\nq,a,1,"x\ny"\n\n{bad}\n{bad}\nq,b,1,x\n')
    with pytest.raises(error, match=re.escape(message)) as caught:
        scan(path, "run")
    assert str(caught.value).startswith(f"{path}:5: ")


@pytest.mark.parametrize("value", ["nan", "inf", "", "x"])
def test_a_bad_relevance(tmp_path: Path, value: str) -> None:
    with pytest.raises(DataError) as caught:
        scan(written(tmp_path, f"qid,docno,label\nq,a,1\nq,b,{value}\n"), "qrels")
    assert caught.value.line == 3


@pytest.mark.parametrize("content", ["", "\n\n", RUN, f"{RUN}\n\n"])
def test_empty_files(tmp_path: Path, content: str) -> None:
    with pytest.raises(DataError):
        scan(written(tmp_path, content), "run")


def test_text_that_is_not_utf8(tmp_path: Path) -> None:
    path = written(tmp_path, f"{RUN}q,a,1\nq,M\u00fcller,1\n".encode("latin-1"))
    with raises_parts(FileFormatError, "not UTF-8 .byte 0xFC, ü ", path=path, line=3):
        scan(path, "run")


def test_fields_that_are_long_for_the_csv_module(tmp_path: Path) -> None:
    long = "x" * 131_073  # one more than its limit
    for blank in ("", "\n"):  # which makes it read row by row
        path = written(tmp_path, f"{RUN.strip()},{long}\nq,a,1,\n{blank}q,{long},2,{long}\n")
        assert read(path).rows() == [("q", "a", 1.0), ("q", long, 2.0)]


def test_a_header_of_something_else(tmp_path: Path) -> None:
    with raises_parts(ColumnError, problem="run without a column 'query_id': found 'q1 Q0 d1 1 2.5 t'"):
        scan(written(tmp_path, "q1 Q0 d1 1 2.5 t\n"), "run")


def test_a_table_as_excel_saves_it_is_refused_with_what_to_do(tmp_path: Path) -> None:
    path = written(tmp_path, "query_id;doc_id;score\nKrämpfe \\ x;a;1,5\n".encode("cp1252"))
    with raises_parts(FileFormatError, r"0xE4, ä in Windows-1252.*Kr\\xe4mpfe", path=path, line=2) as caught:
        scan(path, "run")
    assert '"CSV UTF-8"' in str(caught.value)
    assert "iconv -f cp1252 -t utf-8" in str(caught.value)


@pytest.mark.parametrize("first", ["sep=;", "SEP=;", '"sep=;"', "\ufeffsep=;", "sep=;\r"])
def test_the_separator_that_excel_writes_into_the_first_line(first: str, tmp_path: Path) -> None:
    path = written(tmp_path, f"{first}\nquery_id;doc_id;score\nq;a;1,5\nq;b;0,5\n".encode())
    assert read(path).rows() == [("q", "a", 1.5), ("q", "b", 0.5)]
    commas = written(tmp_path, f"{first}\nqid,docno,score\nq,a,1\nq,a,1\n".replace(";", ",").encode())
    assert read(commas).rows() == [("q", "a", 1.0), ("q", "a", 1.0)]
    assert locate(commas, "run", "q", "a") == [3, 4]
    wrong = written(tmp_path, f"{first}\nquery_id;doc_id;score\nq;a;1,5\nq;b\n".encode())
    with pytest.raises(MalformedRowError, match=r"x.csv:4: expected 3 fields"):
        scan(wrong, "run")


def test_a_header_with_semicolons_and_unknown_names_is_shown_by_name(tmp_path: Path) -> None:
    path = written(tmp_path, b"Suchanfrage;Artikelnummer;Bewertung\na;b;1,5\n")
    given = {"query_id": "Suchanfrage", "doc_id": "Artikelnummer", "relevance": "Bewertung"}
    problem = "qrels without a column 'query_id': found 'Suchanfrage', 'Artikelnummer', 'Bewertung'"
    with raises_parts(ColumnError, problem=problem, python="dh.read_qrels takes these", path=path) as caught:
        scan(path, "qrels")
    assert isinstance(caught.value.hint, Advice)
    assert (caught.value.hint.argument, caught.value.hint.value) == ("columns", given)
    assert frame_in(scan(path, "qrels", columns=given)).rows() == [("a", "b", 1.5)]


def test_a_first_line_of_data_is_no_header(tmp_path: Path) -> None:
    path = written(tmp_path, b"65,1,0.9\n65,2,0.4\n")
    with raises_parts(ColumnError, match="write a header above it", given="65,1,0.9", path=path, line=1):
        scan(path, "run")


texts = st.text(
    st.characters(codec="utf-8", exclude_categories=["Cc"], exclude_characters="\u2028\u2029"), min_size=1, max_size=5
)


@pytest.mark.slow
@given(rows=st.lists(st.tuples(texts, texts, st.floats(allow_nan=False)), min_size=1, max_size=5))
def test_polars_and_the_slow_way_agree(
    rows: list[tuple[str, str, float]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.getbasetemp() / "agree.csv"
    pl.DataFrame(rows, schema=["query_id", "doc_id", "score"], orient="row").write_csv(path)
    table = HeaderFile(path, "run", ",")
    table.choose_columns({})
    fast = parse_rows(table, {"score": 2})
    slow, _ = read_rows(table, {"score": 2})
    assert slow.rows() == rows
    assert fast is None or fast.equals(slow)


def parquet(tmp_path: Path, **columns: object) -> Path:
    path = tmp_path / "x.parquet"
    pl.DataFrame(columns).write_parquet(path)
    return path


def test_ids_of_parquet_become_text(tmp_path: Path) -> None:
    score = pl.Series([0.5, -1], dtype=pl.Float32)
    path = parquet(tmp_path, rank=[1, 2], qid=[7, 8], docno=pl.Series(["0880", "b"], dtype=pl.Categorical), score=score)
    frame = Run(path).to_polars()
    assert frame.schema == {"query_id": pl.String, "doc_id": pl.String, "score": pl.Float64}
    assert frame.rows() == [("7", "0880", 0.5), ("8", "b", -1.0)]
    assert locate(path, "run", "7", "0880") == []


def test_parquet_that_is_none(tmp_path: Path) -> None:
    whole = parquet(tmp_path, qid=["q"] * 100, docno=["d"] * 100, score=[1.0] * 100).read_bytes()
    for content in (b"q1 Q0 d1 1 2.5 t\n", b"", whole[:-10], gzip.compress(whole)):
        with pytest.raises(FileFormatError, match="expected a Parquet file"):
            scan(written(tmp_path, content, "x.parquet"), "run")
    for start, message in ((4, "expected a Parquet file, but it is damaged"), (20, "rows cannot be read")):
        damaged = whole[:start] + b"\xff" * 8 + whole[start + 8 :]
        with pytest.raises(DataError, match=message):
            Run(written(tmp_path, damaged, "x.parquet"))


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"docno": ["d"]}, "run without a column 'score'"),
        ({"docno": [1.0], "score": [1.0]}, "'docno' holds Float64"),
        ({"docno": [True], "score": [1.0]}, "'docno' holds Boolean"),
        ({"docno": [["d"]], "score": [1.0]}, "'q' is not a list of 1 number"),
        ({"docno": [{"d": 1}], "score": [1.0]}, "'docno' holds Struct"),
        ({"docno": ["d"], "score": ["1"]}, "'score' holds String"),
    ],
)
def test_parquet_with_wrong_columns(tmp_path: Path, columns: dict[str, list[object]], message: str) -> None:
    with pytest.raises(ColumnError, match=message):
        Run(parquet(tmp_path, qid=["q"], **columns))


def test_bytes_in_parquet_are_ids_if_they_are_text(tmp_path: Path) -> None:
    frame = Run(parquet(tmp_path, qid=["q"], docno=["dé".encode()], score=[1.0])).to_polars()
    assert frame.rows() == [("q", "dé", 1.0)]
    with raises_parts(DataError, "rows cannot .*: invalid utf8", path=tmp_path / "x.parquet"):
        Run(parquet(tmp_path, qid=["q"], docno=[b"\xff"], score=[1.0]))


def test_parquet_without_rows(tmp_path: Path) -> None:
    no_text, no_numbers = pl.Series([], dtype=pl.String), pl.Series([], dtype=pl.Float64)
    with pytest.raises(DataError, match="empty: it has no rows"):
        Run(parquet(tmp_path, qid=no_text, docno=no_text, score=no_numbers))


def test_parquet_integers_that_float64_cannot_hold(tmp_path: Path) -> None:
    for value in (2**53 + 1, -(2**53) - 1):
        with pytest.raises(DataError, match=f"score {value} .*beyond"):
            Run(parquet(tmp_path, qid=["q"], docno=["d"], score=[value]))
    with pytest.raises(DataError, match="integer or decimal beyond"):
        Qrels(parquet(tmp_path, qid=["q"], docno=["d"], label=[2**60]))
    assert Run(parquet(tmp_path, qid=["q"], docno=["d"], score=[2**53])).to_polars()["score"].item() == 2.0**53


@pytest.mark.parametrize(
    ("name", "separator", "right"), [("x.csv", "\t", "tsv"), ("x.tsv", ",", "csv")], ids=["tabs", "commas"]
)
def test_another_separator_is_named(tmp_path: Path, name: str, separator: str, right: str) -> None:
    """The advice helps in each of its forms: another name, format=, and the option."""
    path = tmp_path / name
    rows = (("query_id", "doc_id", "score"), ("q", "d", "1"))
    path.write_text("".join(separator.join(row) + "\n" for row in rows))
    with pytest.raises(ColumnError, match=rf"name the file \.{right}, or pass format='{right}'") as caught:
        scan(path, "run")
    assert isinstance(caught.value.hint, Advice)
    assert caught.value.hint.value == right
    assert dh.read_run(path, format=right).to_dict() == {"q": {"d": 1.0}}
    assert dh.read_run(path.rename(path.with_suffix(f".{right}"))).to_dict() == {"q": {"d": 1.0}}


def test_another_separator_is_named_on_the_command_line(tmp_path: Path) -> None:
    run, qrels = tmp_path / "x.csv", tmp_path / "q.txt"
    run.write_text("query_id\tdoc_id\tscore\nq\td\t1\n")
    qrels.write_text("q 0 d 1\n")
    refused = call("evaluate", qrels, run)
    (option,) = re.findall(r"or give (--input-format \S+)", refused.stderr)
    assert call("evaluate", qrels, run, *option.split()).exit_code == 0


def test_rows_of_trec_with_tabs_are_told_from_csv(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("q\tQ0\td\t1\t2.5\tmine\n")
    with pytest.raises(ColumnError, match=r"name the file \.tsv"):
        scan(path, "run")
    assert dh.read_run(path, format="tsv").to_dict() == {"q": {"d": 2.5}}


@pytest.mark.parametrize("scores", [("1", "0"), ("1", "0.5")])
def test_qrels_with_fractions_under_the_name_of_scores_are_doubted(scores: tuple[str, str], tmp_path: Path) -> None:
    """BEIR's qrels call relevance `score`; a run in their place was evaluated in silence."""
    path = written(tmp_path, f"query_id,doc_id,score\nq,a,{scores[0]}\nq,b,{scores[1]}\n", "x.csv")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        scan(path, "qrels")
    assert ["is it a run?" in str(one.message) for one in caught] == [True] * ("." in scores[1])


@pytest.mark.parametrize(
    ("name", "text", "tag"),
    [
        ("x.tsv", "qid\tdocno\tscore\ta\tb\tc\nq\td\t1\tx\ty\tfoo\n", None),  # a table
        ("x.tsv", "q\tQ0\td\t1\t2.5\tmine\n", "mine"),
        ("x.run", "q Q0 d 1 2.5 mine\n# made by us\n\n", "mine"),
        ("x.run", "q Q0 d 1 2.5 mine\n# by us in the year 2026\n", "mine"),  # as many words as a row has
    ],
)
def test_the_tag_is_that_of_the_last_row(tmp_path: Path, name: str, text: str, tag: str | None) -> None:
    assert read_tag(written(tmp_path, text, name)) == tag


@pytest.mark.plugins("columns")
def test_scores_beside_semicolons_are_read_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from deadheat.plugins.columns.tables import scan_columns

    path = written(tmp_path, "qid;docno;a;b;c\nq;d;0,5;1;x\nq;e;-0,25;2.5;y\n", "x.csv")
    names = ["a", "b"]
    one_by_one = {name: frame_in(scan(path, "run", columns={"score": name}))["score"].to_list() for name in names}
    read = Mock(side_effect=read_rows)
    monkeypatch.setattr(delimited, "read_rows", read)
    found = scan_columns(path, None, {})
    assert {name: scores.tolist() for name, scores in found.scores.items()} == one_by_one
    assert one_by_one == {"a": [0.5, -0.25], "b": [1.0, 2.5]}
    assert read.call_count == 1
    with raises_parts(DataError, problem="c must be a number", given="x", path=path, line=2):
        scan_columns(path, ["a", "c"], {})
