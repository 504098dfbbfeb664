"""The table of queries: every format and frame gives the same labels, ids stay text, and what is wrong is said."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING, Any

import duckdb
import narwhals as nw
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from deadheat import Queries
from deadheat.errors import (
    ColumnError,
    DataError,
    DuplicateError,
    FileFormatError,
    MalformedRowError,
    SourceTypeError,
)
from support.error_parts import raises_parts

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

ROWS: dict[str, dict[str, str | None]] = {
    "0880": {"language": "de", "difficulty": "easy"},
    "880": {"language": "en", "difficulty": None},
    "q3": {"language": "de", "difficulty": "hard"},
}
IDS = ["q3", "880", "0880", "absent"]


def objects(key: str = "query_id") -> list[dict[str, str | None]]:
    return [{key: query, **labels} for query, labels in ROWS.items()]


def separated(separator: str) -> str:
    lines = [["query_id", "language", "difficulty"], ["0880", "de", "easy"], ["880", "en", ""], ["q3", " de ", "hard"]]
    return "".join(separator.join(line) + "\n" for line in lines)


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def parquet(path: Path) -> Path:
    pl.DataFrame(objects()).write_parquet(path)
    return path


def gzipped(path: Path, text: str) -> Path:
    path.write_bytes(gzip.compress(text.encode()))
    return path


FILES: dict[str, Callable[[Path], Path]] = {
    "csv": lambda folder: write(folder / "q.csv", separated(",")),
    "windows": lambda folder: write(folder / "q.csv", "\ufeff" + separated(",").replace("\n", "\r\n")),
    "quoted": lambda folder: write(folder / "q.csv", separated(",").replace("easy", '"easy"')),
    "tsv": lambda folder: write(folder / "q.tsv", separated("\t")),
    "csv.gz": lambda folder: gzipped(folder / "q.csv.gz", separated(",")),
    "jsonl": lambda folder: write(folder / "q.jsonl", "\n".join(map(json.dumps, objects("_id")))),
    "jsonl.gz": lambda folder: gzipped(folder / "q.jsonl.gz", "\n".join(map(json.dumps, objects("_id")))),
    "list": lambda folder: write(folder / "q.json", json.dumps(objects("case_id"))),
    "nested": lambda folder: write(folder / "q.json", json.dumps(ROWS)),
    "cases": lambda folder: write(folder / "q.json", json.dumps({"metadata": {}, "test_cases": objects("case_id")})),
    "parquet": lambda folder: parquet(folder / "q.parquet"),
}
FRAMES: dict[str, Callable[[], Any]] = {
    "dict": lambda: ROWS,
    "polars": lambda: pl.DataFrame(objects("qid")),
    "lazy": lambda: pl.DataFrame(objects("query-id")).lazy(),
    "categorical": lambda: pl.DataFrame(objects()).with_columns(pl.col("language").cast(pl.Categorical)),
    "pandas": lambda: pd.DataFrame(objects("id")),
    "pyarrow": lambda: pa.table(pl.DataFrame(objects()).to_arrow()),
    "duckdb": lambda: duckdb.from_arrow(pl.DataFrame(objects()).to_arrow()),
}


def check(queries: Queries) -> None:
    assert len(queries) == 3
    assert queries.query_ids == list(ROWS)
    assert queries.columns == ("language", "difficulty")
    assert queries.column("language", IDS) == ["de", "en", "de", None]
    assert queries.column("difficulty", IDS) == ["hard", None, "easy", None]
    assert queries.languages() == ("de", "en")
    assert queries.languages(["880", "absent"]) == ("en",)
    assert queries.without_language(["880", "absent"]) == ("absent",)


@pytest.mark.parametrize("name", FILES)
def test_every_file_gives_the_same_labels(name: str, tmp_path: Path) -> None:
    queries = Queries(FILES[name](tmp_path))
    check(queries)
    assert queries.name == "q"
    assert repr(queries).startswith("<Queries q: 3 queries, ")


@pytest.mark.parametrize("name", FRAMES)
def test_every_frame_gives_the_same_labels(name: str) -> None:
    queries = Queries(FRAMES[name]())
    check(queries)
    assert queries.where == "queries"
    assert Queries.of(queries) is queries


def test_pandas_without_pyarrow_is_read_through_lists(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: object) -> None:
        message = "pyarrow is required"
        raise ImportError(message)

    monkeypatch.setattr(nw.DataFrame, "to_polars", refuse)
    check(Queries(pd.DataFrame(objects())))
    frame = pd.DataFrame({"qid": [1, 2], "score": [0.5, float("nan")], "mixed": ["a", 1]})
    queries = Queries(frame)
    assert queries.query_ids == ["1", "2"]
    assert queries.column("score", ["1", "2"]) == ["0.5", None]
    assert queries.column("mixed", ["1", "2"]) == ["a", "1"]
    with raises_parts(ColumnError, "'qid' .* int, str", allowed="text or whole numbers as ids"):
        Queries(pd.DataFrame({"qid": ["a", 1], "language": ["de", "en"]}))


def test_everything_is_text(tmp_path: Path) -> None:
    rows = '{"qid": 7, "level": 1, "share": 1.50, "long": true, "note": null, "tags": ["a", "b"], "nan": NaN}'
    queries = Queries(write(tmp_path / "q.jsonl", rows + '\n{"qid": "8"}'))
    found = {name: queries.column(name, ["7", "8"]) for name in queries.columns}
    assert found == {
        "level": ["1", None],
        "share": ["1.50", None],
        "long": ["true", None],
        "note": [None, None],
        "tags": ['["a", "b"]', None],
        "nan": [None, None],
    }
    frame = pl.DataFrame({"id": [7, 8], "long": [True, None], "share": [1.5, float("nan")]})
    queries = Queries(frame)
    assert queries.column("long", ["7", "8"]) == ["true", None]
    assert queries.column("share", ["7", "8"]) == ["1.5", None]


def test_cases_take_the_language_of_their_file(tmp_path: Path) -> None:
    cases = [{"case_id": "a", "text": "x"}, {"case_id": "b", "text": "y", "language": "en"}]
    document = {"metadata": {"dataset_id": "tiny", "language": "de"}, "test_cases": cases}
    queries = Queries(write(tmp_path / "tiny.json", json.dumps(document)))
    assert queries.column("language", ["a", "b"]) == ["de", "en"]


def test_a_query_may_begin_with_a_quote_in_tsv(tmp_path: Path) -> None:
    queries = Queries(write(tmp_path / "q.tsv", 'qid\ttext\tlang\n1\t"to be" or not\tde\n2\t"half\ten\n'))
    assert queries.column("text", ["1", "2"]) == ['"to be" or not', '"half']
    with raises_parts(MalformedRowError, "unmatched quotes", path=tmp_path / "q.csv", line=2):
        Queries(write(tmp_path / "q.csv", 'qid,text\n1,"to be" or not\n'))


@pytest.mark.parametrize(
    ("names", "key"),
    [
        (["qid", "query"], "qid"),
        (["query", "language"], "query"),
        (["query_id", "qid"], "query_id"),
        (["_id", "text", "metadata"], "_id"),
        (["id", "case_id"], "case_id"),
    ],
)
def test_names_of_the_id(names: list[str], key: str) -> None:
    queries = Queries(pl.DataFrame({name: [f"{name}-1"] for name in names}))
    assert queries.query_ids == [f"{key}-1"]
    assert queries.columns == tuple(name for name in names if name != key)


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["qid", "query-id"], r"'query-id' and 'qid' .* 'query_id'"),
        (["id", "_id"], r"'_id' and 'id' could both"),
        (["language"], r"'query_id': found 'language', "),
        (["query_ids"], r"Did you mean 'query_id'\?"),
    ],
)
def test_tables_without_one_id(names: list[str], message: str) -> None:
    with pytest.raises(ColumnError, match=message):
        Queries(pl.DataFrame({name: ["1"] for name in names}))


@pytest.mark.parametrize(
    ("columns", "name"),
    [
        (["lang"], "lang"),
        (["Language"], "Language"),
        (["LANG", "Language"], "Language"),
        (["text"], None),
    ],
)
def test_the_column_of_languages(columns: list[str], name: str | None) -> None:
    queries = Queries(pl.DataFrame({"qid": ["1"], **{column: ["de"] for column in columns}}))
    assert queries.language_column == name
    assert queries.languages() == (() if name is None else ("de",))
    assert queries.without_language(["2"]) == (() if name is None else ("2",))


@pytest.mark.parametrize(
    ("name", "text", "error", "message"),
    [
        ("q.csv", "qid,lang\na,de\nb,en\na,de\n", DuplicateError, r"q\.csv:4: .*'a' .* lines 2 and 4"),
        ("q.jsonl", '{"qid": "a"}\n\n{"qid": "a"}', DuplicateError, r"q\.jsonl:3: .*'a' .* lines 1 and 3"),
        ("q.csv", "frage,topic\nx,a\ny,a\n", DuplicateError, "once in column 'topic'"),
        ("q.json", '[{"qid": "a"}, {"qid": "a"}]', DuplicateError, r"'a' .* rows 1 and 2"),
        ("q.json", '{"a": {}, "a": {}}', DuplicateError, r"key 'a' .* twice"),
        ("q.csv", "qid,lang\n,de\n", DataError, r"q\.csv:2: empty field .* 'qid'"),
        ("q.json", '[{"qid": null}]', DataError, r"empty field .* 'qid' in row 1"),
        ("q.csv", "", DataError, r"q\.csv: empty"),
        ("q.csv", "qid,lang\n", DataError, r"without a single row"),
        ("q.json", "[]", DataError, r"without a single row"),
        ("q.csv", "qid,lang,lang\na,de,en\n", ColumnError, r"column 'lang' .* 2 times"),
        ("q.csv", "qid,lang\na,de,x\n", MalformedRowError, r"q\.csv:2: .* 2 fields .*, got 3: 'a,de,x'"),
        ("q.tsv", "qid\tlang\na\n", MalformedRowError, r"q\.tsv:2: .* 2 fields"),
        ("q.jsonl", '{"qid": "a"}\n[1]', MalformedRowError, r"q\.jsonl:2: .* object a line, got '\[.*1"),
        ("q.jsonl", '{"qid": "a"}\n{', MalformedRowError, r"q\.jsonl:2: invalid JSON"),
        ("q.json", '{"qid": "a"}\n{"qid": "b"}', MalformedRowError, r"JSON lines: name the file \.jsonl"),
        ("q.json", '{"a": "de"}', MalformedRowError, r"\{query_id: \{column: value\}\}"),
        ("q.json", '"x"', FileFormatError, r"a list of objects"),
        ("q.txt", "a de\n", FileFormatError, r"format of .* name the file \.csv"),
        ("q.parquet", "a de\n", FileFormatError, r"a Parquet file"),
    ],
)
def test_what_is_wrong_with_a_file(name: str, text: str, error: type[DataError], message: str, tmp_path: Path) -> None:
    with pytest.raises(error, match=message):
        Queries(write(tmp_path / name, text))


def test_a_format_can_be_named(tmp_path: Path) -> None:
    check(Queries(write(tmp_path / "queries.txt", separated(",")), format="csv"))


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    write(tmp_path / "queries.csv", separated(","))
    with raises_parts(DataError, hint="Did you mean 'queries.csv'?", path=tmp_path / "querys.csv"):
        Queries(tmp_path / "querys.csv")


def test_an_unknown_column_names_those_there_are(tmp_path: Path) -> None:
    queries = Queries(write(tmp_path / "q.csv", separated(",")))
    message = r"q\.csv: no column 'langauge' .*: found 'language', 'difficulty'\. Did you mean 'language'\?"
    with pytest.raises(ColumnError, match=message):
        queries.column("langauge", IDS)
    with pytest.raises(ColumnError, match="found only the ids"):
        Queries({"q1": {}}).column("language", ["q1"])
    with pytest.raises(ColumnError, match="no column 'query_id'"):
        queries.check_columns(["language", "query_id"])


@pytest.mark.parametrize(
    ("source", "error", "message"),
    [
        ({"q1": "de"}, SourceTypeError, r"a dict of dicts .*, got 'de' for 'q1'"),
        ({1: {"language": "de"}, "1": {}}, SourceTypeError, r"text \('1'\) and numbers \(1\)"),
        ({}, DataError, r"without a single row"),
        (pd.DataFrame([["q1", "de"]]), ColumnError, r"without a column 'query_id'"),
        (pd.DataFrame([["q1", "de", "en"]], columns=["qid", "a", "a"]), ColumnError, r"'a' 2 times"),
        ([("q1", "de")], SourceTypeError, r"cannot read queries from list"),
        (7, SourceTypeError, r"cannot read queries from int"),
        (pl.DataFrame({"qid": [1.0]}), ColumnError, r"'qid' holds Float64, .* whole numbers"),
        (pl.DataFrame({"qid": [None, "a"]}), DataError, r"in row 1"),
        (pl.DataFrame({"qid": []}, schema={"qid": pl.String}), DataError, r"without a single row"),
    ],
)
def test_what_is_wrong_with_a_source(source: object, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        Queries(source)


def test_columns_that_are_no_text() -> None:
    queries = Queries(pl.DataFrame({"qid": ["a"], "tags": [["x", "y"]], "nested": [[["x"]]], "bytes": [b"\xff"]}))
    with pytest.raises(ColumnError, match=r"'nested' holds List\(List"):
        queries.column("nested", ["a"])
    assert queries.column("tags", ["a"]) == ["x|y"]
    with pytest.raises(ColumnError, match="'bytes' holds Binary"):
        queries.column("bytes", ["a"])


@pytest.mark.slow
def test_a_large_table_is_read_quickly(tmp_path: Path) -> None:
    n_queries = 100_000
    lines = (
        f'{{"_id": "{n}", "text": "query {n}", "language": "{"de" if n % 2 else "en"}"}}' for n in range(n_queries)
    )
    queries = Queries(write(tmp_path / "queries.jsonl", "\n".join(lines)))
    assert queries.column("language", map(str, range(4))) == ["en", "de", "en", "de"]
