"""JSON (dict of dicts) and JSON lines: what is accepted, and what is refused and where."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import polars as pl
import pytest
from hypothesis import given, strategies as st

import deadheat as dh
from deadheat.api import VALUE_COLUMN, read_value
from deadheat.core.io.columns import resolve_columns
from deadheat.core.io.formats import locate, scan
from deadheat.core.io.formats.json_rows import check_rows
from deadheat.core.io.formats.jsonl import JsonLines
from deadheat.errors import (
    ColumnError,
    DataError,
    DeadheatError,
    DuplicateError,
    FileFormatError,
    MalformedRowError,
    SourceTypeError,
    SwappedFilesError,
)
from support.error_parts import raises_parts

if TYPE_CHECKING:
    from collections.abc import Mapping

    from deadheat.api import Kind

    Nested = Mapping[str, Mapping[str, float]]

NESTED = "{query_id: {doc_id: number}} or {query_id: [doc_id, ...]}"
GOOD_LINE = '{"qid": "q", "docno": "d", "score": 1}'


def written(tmp_path: Path, content: str | bytes, name: str) -> Path:
    path = tmp_path / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def nested(path: Path, kind: Kind = "run") -> Nested:
    found = scan(path, kind).rows
    assert isinstance(found, dict)
    return found


def lines(path: Path, kind: Kind = "run") -> list[tuple[str, str, float]]:
    found = scan(path, kind).rows
    assert isinstance(found, pl.DataFrame)
    assert found.schema == {"query_id": pl.String, "doc_id": pl.String, found.columns[2]: pl.Float64}
    return [(query, doc, value) for query, doc, value in found.iter_rows()]


@pytest.mark.parametrize("compress", [False, True])
def test_a_dict_of_dicts(tmp_path: Path, *, compress: bool) -> None:
    run: Nested = {"0880": {"d1": 0.1, "d2": -3, "d3": 1}, "é": {"😀": 1e300}, "q": {"d1": float("inf")}}
    run = {**run, "without a document": {}}
    content = ("\ufeff" + json.dumps(run)).encode()
    path = written(tmp_path, gzip.compress(content) if compress else content, "x.json")
    assert nested(path) == run
    assert list(nested(path)) == list(run)
    assert locate(path, "run", "0880", "d1") == []


@pytest.mark.parametrize(
    ("content", "error", "match", "parts"),
    [
        ("[1, 2]", FileFormatError, None, {"found": "a list", "allowed": NESTED}),
        ("3", FileFormatError, None, {"found": "'3'", "allowed": NESTED}),
        ('{"q": "a"}', SourceTypeError, None, {"found": "str 'a' for query 'q'"}),
        ('{"q": 1.5}', SourceTypeError, None, {"found": "float 1.5 for query 'q'"}),
        ('{"q": {"d": {"e": 1}}}', DataError, "'d' .* 'q' .*: {'e': 1}", {}),
        ('{"q": {"d": "1.5"}}', DataError, "not a number: '1.5'", {}),
        ('{"q": {"d": null}}', DataError, "not a number: None", {}),
        ('{"q": {"a": 1.5, "d": NaN}}', DataError, "'d' .* 'q' is NaN", {}),
        ('{"q": {"d": 9007199254740993}}', DataError, r"9007199254740993, .* 2\*\*53", {}),
        (f'{{"q": {{"d": 1{"0" * 400}}}}}', DataError, r"beyond 2\*\*53", {}),
        ('{"q": {"a": Infinity, "b": 1e400, "c": 2e400}}', DataError, "float64: '1e400'", {}),
        ('{"q": {"d": 1, "d": 2}}', DuplicateError, "key 'd' .* twice", {"line": 1}),
        ('{"q": {"d": 1}, "q": {"e": 2}}', DuplicateError, "key 'q' .* twice", {"line": 1}),
        ('{"": {"d": 1}}', DataError, "empty string", {}),
        ('{"q": {"a": 1, "": 1}}', DataError, "empty string", {}),
        (r'{"q": {"\ud83d\ude00": 1, "\ud83d": 1}}', MalformedRowError, "lone surrogate", {"line": 1}),
        ("[" * 100_000 + "]" * 100_000, MalformedRowError, "200 levels", {}),
        ("", DataError, "empty", {"allowed": NESTED}),
        ("{}", DataError, "no queries", {}),
    ],
)
def test_a_wrong_dict_of_dicts(
    tmp_path: Path, content: str, error: type[DeadheatError], match: str | None, parts: dict[str, object]
) -> None:
    path = written(tmp_path, content, "x.json")
    with raises_parts(error, match, path=path, **parts):
        scan(path, "run")


def test_a_relevance_must_be_finite(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="'d' for query 'q' is infinite"):
        scan(written(tmp_path, '{"q": {"d": Infinity}}', "x.json"), "qrels")


def test_invalid_json_names_its_line(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match="invalid JSON, ") as caught:
        scan(written(tmp_path, '{"q":\n{"d" 1}}', "x.json"), "run")
    assert caught.value.line == 2
    with pytest.raises(FileFormatError, match="looks like JSON lines"):
        scan(written(tmp_path, '{"qid": "q"}\n{"qid": "r"}\n', "x.json"), "run")
    with pytest.raises(FileFormatError, match=r"not UTF-8") as caught:
        scan(written(tmp_path, '{"q":\n{"\u00fc": 1}}'.encode("latin-1"), "x.json"), "run")
    assert caught.value.line == 2


@pytest.mark.parametrize("compress", [False, True])
def test_objects_in_lines(tmp_path: Path, *, compress: bool) -> None:
    content = (
        '\ufeff{"query_id": "0880", "doc_id": "d\\u00e9", "score": 1.5, "text": ["x", {}]}\r\n'
        '{"doc_id": "d2", "score": -3, "query_id": "b"}'
    ).encode()
    path = written(tmp_path, gzip.compress(content) if compress else content, "x.jsonl")
    assert lines(path) == [("0880", "dé", 1.5), ("b", "d2", -3.0)]
    assert locate(path, "run", "b", "d2") == [2]


def test_blank_lines_and_names_of_other_tools(tmp_path: Path) -> None:
    content = '\n{"query-id": "a", "corpus-id": "b", "score": 1}\n\n{"query-id": "c", "corpus-id": "d", "score": 0}\n'
    path = written(tmp_path, content, "x.ndjson")
    assert lines(path, "qrels") == [("a", "b", 1.0), ("c", "d", 0.0)]
    assert locate(path, "qrels", "c", "d") == [4]


@pytest.mark.parametrize("number", ["880", "-7", "0", "12345678901234567890123", "1" * 50, "1.50", "1e5", "-0", "0.10"])
def test_ids_that_are_numbers_keep_their_text(tmp_path: Path, number: str) -> None:
    content = f'{{"qid": {number}, "docno": "0880", "score": 1}}\n{{"qid": "x", "docno": {number}, "score": 2}}\n'
    path = written(tmp_path, content, "x.jsonl")
    assert lines(path) == [(number, "0880", 1.0), ("x", number, 2.0)]
    assert locate(path, "run", "x", number) == [2]


def test_keys_of_inner_objects_and_of_texts_are_others(tmp_path: Path) -> None:
    inner = {"score": 2, "docno": "other", "text": '"docno": "x", "\\ud800": '}
    rows = [{"qid": "q", "docno": name, "score": 1, "inner": inner} for name in ("d", "😀", "\\ud800")]
    content = "".join(json.dumps(row) + "\n" for row in rows)
    assert lines(written(tmp_path, content, "x.jsonl")) == [("q", row["docno"], 1.0) for row in rows]


def test_texts_that_look_like_other_json_are_ids(tmp_path: Path) -> None:
    ids = ["true", "null", "{}", "[1]", "1.50", "NaN", " "]
    content = "".join(json.dumps({"qid": name, "docno": name, "score": 1}) + "\n" for name in ids)
    assert [row[0] for row in lines(written(tmp_path, content, "x.jsonl"))] == ids


def test_infinite_scores_are_scores(tmp_path: Path) -> None:
    content = '{"qid": "q", "docno": "d", "score": Infinity}\n{"qid": "q", "docno": "e", "score": -Infinity}\n'
    assert [row[2] for row in lines(written(tmp_path, content, "x.jsonl"))] == [float("inf"), float("-inf")]


@pytest.mark.parametrize(
    ("bad", "error", "match", "parts"),
    [
        ("{", MalformedRowError, "invalid JSON, '{'", {}),
        ("[1, 2]", MalformedRowError, None, {"given": "[1, 2]", "allowed": "one JSON object a line"}),
        (f"{GOOD_LINE} {{}}", MalformedRowError, "Extra data", {}),
        ('{"qid": "q", "score": 1}', MalformedRowError, "without 'docno'", {"allowed": "qid, docno, score"}),
        ('{"qid": "q", "docno": "d"}', MalformedRowError, "without 'score'", {"allowed": "qid, docno, score"}),
        ('{"qid": "q", "docno": null, "score": 1}', DataError, "docno must .* got 'null'", {}),
        ('{"qid": "", "docno": "d", "score": 1}', DataError, "qid must .* got '\"\"'", {}),
        ('{"qid": true, "docno": "d", "score": 1}', MalformedRowError, "qid must .* got 'true'", {}),
        ('{"qid": {"a": 1}, "docno": "d", "score": 1}', MalformedRowError, 'qid must .* got \'{"a"', {}),
        ('{"qid": "q", "docno": "d", "score": "1"}', DataError, "score must", {"given": '"1"'}),
        ('{"qid": "q", "docno": "d", "score": null}', DataError, "score must", {"given": "null"}),
        ('{"qid": "q", "docno": "d", "score": NaN}', DataError, "score must", {"found": "NaN ('NaN')"}),
        ('{"qid": "q", "docno": "d", "score": 1e400}', DataError, "float64: '1e400'", {}),
        ('{"qid": "q", "docno": "d", "score": 9007199254740993}', DataError, r"beyond 2\*\*53", {}),
        ('{"qid": "q", "docno": "d", "docno": "e", "score": 1}', DuplicateError, "'docno' .* twice", {}),
        (r'{"qid": "q", "docno": "d", "docn\u006f": "e", "score": 1}', DuplicateError, "'docno' .* twice", {}),
        ('{"qid": "q", "docno": "d", "score": 1, "score": 2}', DuplicateError, "'score' .* twice", {}),
        (r'{"qid": "q", "docno": "\ud800", "score": 1}', MalformedRowError, r"docno '\\ud800' .*surrogate", {}),
        (r'{"qid": "a\udc00b", "docno": "d", "score": 1}', MalformedRowError, r"qid 'a\\udc00b' .*surrogate", {}),
        # no deeper: the oldest Polars ends the process at 100,000, and how deep Python 3.14 goes depends on the stack
        ("[" * 300 + "]" * 300, MalformedRowError, "200 levels", {}),
    ],
)
def test_the_first_bad_line_is_named(
    tmp_path: Path, bad: str, error: type[DataError], match: str | None, parts: dict[str, object]
) -> None:
    lines_before = f"{GOOD_LINE}\n\n{GOOD_LINE}\n"
    path = written(tmp_path, f"{lines_before}{bad}\n{bad}\n{GOOD_LINE}\n", "x.jsonl")
    with raises_parts(error, match, path=path, line=4, **parts):
        scan(path, "run")


@pytest.mark.plugins("exports")
def test_objects_in_a_column_are_no_ids(tmp_path: Path) -> None:
    """The advice was --columns run.doc_id=response, which the next error refused; a dict of responses is read."""
    response = {"hits": {"hits": [{"_id": "d", "_score": 1.5}]}}
    path = tmp_path / "x.jsonl"
    path.write_text(json.dumps({"query_id": "q", "response": response}) + "\n")
    with pytest.raises(ColumnError) as caught:
        dh.read_run(path)
    assert "{query: response}" in str(caught.value)
    assert "columns=" not in str(caught.value)
    (tmp_path / "x.json").write_text(json.dumps({"q": response}))
    assert dh.read_run(tmp_path / "x.json").to_dict() == {"q": {"d": 1.5}}


def test_wrong_columns(tmp_path: Path) -> None:
    with raises_parts(ColumnError, "'docno'[?]", problem="run without a column 'doc_id': found 'qid', 'dcno', 'score'"):
        scan(written(tmp_path, '{"qid": 1, "dcno": 2, "score": 3}\n', "x.jsonl"), "run")
    with pytest.raises(SwappedFilesError):
        scan(written(tmp_path, '{"qid": 1, "docno": 2, "score": 3, "rank": 1}\n', "x.jsonl"), "qrels")


def test_empty_and_not_utf8(tmp_path: Path) -> None:
    with raises_parts(DataError, problem="run without a single row", allowed="one JSON object a line"):
        scan(written(tmp_path, "\n \n", "x.jsonl"), "run")
    content = '{"qid": "q", "docno": "d", "score": 1}\n\n{"qid": "\u00fc", "docno": "d", "score": 1}\n'
    with pytest.raises(FileFormatError, match=r"not UTF-8") as caught:
        scan(written(tmp_path, content.encode("latin-1"), "x.jsonl"), "run")
    assert caught.value.line == 3


def test_a_name_with_pattern_characters(tmp_path: Path) -> None:
    written(tmp_path, '{"qid": "other", "docno": "d", "score": 1}\n', "xa.jsonl")
    assert lines(written(tmp_path, '{"qid": "q", "docno": "d", "score": 1}\n', "x[a].jsonl"))[0][0] == "q"


texts = st.text(
    st.characters(codec="utf-8", exclude_categories=["Cc"], exclude_characters="\u2028\u2029"), min_size=1, max_size=6
) | st.from_regex(r"-?\d{1,3}([.eE+-]\d*)?", fullmatch=True)


@pytest.mark.slow
@given(
    rows=st.lists(st.tuples(texts, texts, st.floats(allow_nan=False)), min_size=1, max_size=5), ascii_only=st.booleans()
)
def test_polars_and_the_slow_way_agree(
    rows: list[tuple[str, str, float]], tmp_path_factory: pytest.TempPathFactory, *, ascii_only: bool
) -> None:
    path = tmp_path_factory.getbasetemp() / "agree.jsonl"
    names = ["query_id", "doc_id", "score"]
    content = [json.dumps(dict(zip(names, row, strict=True)), ensure_ascii=ascii_only) + "\n" for row in rows]
    path.write_text("".join(content), encoding="utf-8", newline="")
    columns = resolve_columns(names, "run", where=path)
    assert [row for _, row in check_rows(JsonLines(path, path), columns, "run")] == rows
    fast = JsonLines(path, path).parse(columns, [])
    assert fast is None or fast.rows() == rows


TRUTHS = {
    "x.json": [
        '{"q": {"a": 0.5, "b": true}}',
        '{"q": [["a", 0.5], ["b", true]]}',
        '{"q": [{"id": "a", "score": 0.5}, {"id": "b", "score": true}]}',
        '{"q": {"b": false}}',
        '[{"query_id": "q", "doc_id": "a", "score": true}, {"query_id": "q", "doc_id": "b", "score": false}]',
    ],
    "x.jsonl": [
        '{"query_id": "q", "doc_id": "a", "score": 0.5}\n{"query_id": "q", "doc_id": "b", "score": true}',
        '{"query_id": "q", "doc_id": "a", "score":false}',
        '{"query_id": "q", "doc_ids": ["a", "b"], "score": [0.5, true]}',
        '{"query_id": "q", "results": [{"id": "a", "score": 0.5}, {"id": "b", "score": true}]}',
    ],
}


@pytest.mark.parametrize(("name", "content"), [(name, one) for name, some in TRUTHS.items() for one in some])
def test_true_is_no_score(name: str, content: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"true|false"):
        dh.read_run(written(tmp_path, content, name))


@pytest.mark.plugins("columns")
def test_true_is_no_score_of_a_column(tmp_path: Path) -> None:
    rows = [{"query_id": "q", "doc_id": "a", "one": 0.5, "other": 1}, {"query_id": "q", "doc_id": "b", "one": 0.5}]
    path = written(tmp_path, "\n".join(map(json.dumps, [rows[0], {**rows[1], "other": True}])), "x.jsonl")
    with raises_parts(DataError, problem="other must be a number", given="true", path=path, line=2):
        dh.evaluate_columns({"q": "a"}, path, "RR", ["one", "other"])


def test_true_is_a_relevance(tmp_path: Path) -> None:
    path = written(tmp_path, '{"q": {"a": true, "b": false}}', "x.json")
    assert dh.read_qrels(path).to_polars()["relevance"].to_list() == [1.0, 0.0]


LARGE = {
    "x.run": "q Q0 a 1 {} r\nq Q0 b 1 9007199254740992 r\n",
    "x.csv": "query_id,doc_id,score\nq,a,{}\nq,b,9007199254740992\n",
    "x.jsonl": '{{"query_id": "q", "doc_id": "a", "score": {}}}\n{{"query_id": "q", "doc_id": "b", "score": 1}}\n',
    "x.json": '{{"q": {{"a": {}, "b": 9007199254740992}}}}',
    "y.json": '[{{"query_id": "q", "doc_id": "a", "score": {}}}, {{"query_id": "q", "doc_id": "b", "score": 1.5}}]',
    "z.json": '{{"q": [{{"id": "a", "score": {}}}, {{"id": "b", "score": 1}}]}}',
}


@pytest.mark.parametrize("name", LARGE)
@pytest.mark.parametrize(
    "number", ["9007199254740993.0", "9007199254740993.00", "9.007199254740993e15", "-18014398509481985.0"]
)
def test_a_number_that_float64_would_change_is_an_error(name: str, number: str, tmp_path: Path) -> None:
    """It tied with its neighbour, where the same number as an integer was an error."""
    with pytest.raises(DataError, match=rf"is '{re.escape(number)}', .*2\*\*53"):
        dh.read_run(written(tmp_path, LARGE[name].format(number), name))


@pytest.mark.slow
@given(number=st.floats(2.0**53, 1e300), n_digits=st.integers(1, 20), places=st.integers(0, 3))
def test_what_is_a_float64_in_any_way_is_read(number: float, n_digits: int, places: int) -> None:
    """As Python, C and others write it: in short, exactly, with some digits."""
    for text in (repr(number), f"{number:.{places}f}", f"{number:.{n_digits}e}", f"{number:.{n_digits}G}"):
        if "." in text or "e" in text.lower():
            assert read_value(text, "run", path=Path("x"), line=1) == float(text)


@pytest.mark.parametrize("kind", ["qrels", "run"])
@pytest.mark.parametrize("others", [(1, "1"), ("-7", -7)])
@pytest.mark.parametrize("key", ["query_id", "doc_id"])
def test_text_and_a_number_are_not_one_id(kind: Kind, others: tuple[object, object], key: str, tmp_path: Path) -> None:
    """1 and "1" became one query; dicts refuse a mix."""
    rows = [
        {"query_id": f"q{n}", "doc_id": f"d{n}", VALUE_COLUMN[kind]: n, key: other} for n, other in enumerate(others)
    ]
    path = written(tmp_path, "\n".join(map(json.dumps, rows)), "x.jsonl")
    with raises_parts(MalformedRowError, problem=f"{key} '{others[0]}' is text and a number", path=path, line=2):
        scan(path, kind)


@pytest.mark.parametrize("queries", [(1, "1"), (1, 1)])
def test_lists_of_a_query_are_not_merged(queries: tuple[object, object], tmp_path: Path) -> None:
    """Of a list of objects in JSON, and of a dataframe, the last list of query 1 counted."""
    rows = [{"query_id": query, "doc_ids": [doc]} for query, doc in zip(queries, "ab", strict=True)]
    written(tmp_path, json.dumps(rows), "x.json")
    written(tmp_path, "\n".join(map(json.dumps, rows)), "x.jsonl")
    for source in (tmp_path / "x.json", tmp_path / "x.jsonl", pd.DataFrame(rows)):
        with pytest.raises(dh.DeadheatError, match="query '1' has two lists"):
            dh.read_run(source)


def test_keys_of_results_appear_once(tmp_path: Path) -> None:
    """The last one counted."""
    path = written(tmp_path, '{"query_id": "q", "results": [{"id": "a", "score": 1, "score": 5}]}', "x.jsonl")
    with raises_parts(DuplicateError, "key 'score' appears twice", allowed="once", path=path, line=1):
        dh.read_run(path)


def test_a_column_that_the_first_object_lacks_can_be_named(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [
        {"query_id": "q", "doc_id": "a", "relevance": 1},
        {"query_id": "q", "doc_id": "b", "relevance": 1, "aspekt": "s"},
    ]
    lines, array = tmp_path / "x.jsonl", tmp_path / "x.json"
    lines.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    array.write_text(json.dumps(rows))
    for source in (rows, lines, array):
        subtopics = dh.Qrels(source, columns={"subtopic": "aspekt"}).subtopics
        assert subtopics is not None
        assert subtopics["subtopic"].to_list() == ["", "s"]
    inner = {"meta": {"relevance": 3}}  # a nearer name than label, but of no object
    rows = [{"query_id": "q", "doc_id": "a", "label": 1} | inner, {"query_id": "q", "doc_id": "b", "label": 1} | inner]
    rows[1]["aspekt"] = "s"
    lines.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    subtopics = dh.Qrels(lines, columns={"subtopic": "aspekt"}).subtopics
    assert subtopics is not None
    assert subtopics["subtopic"].to_list() == ["", "s"]


LATE: dict[str, tuple[Kind, list[dict[str, Any]], float | None]] = {  # what later objects name; the value of q, or None
    "relevance": ("qrels", [{"query_id": "q", "doc_id": "a"}, {"query_id": "q", "doc_id": "b", "relevance": 0}], None),
    "relevance of expected ones": (
        "qrels",
        [{"query_id": "q", "expected_id": "a"}, {"query_id": "q", "expected_id": "b", "relevance": 0}],
        None,
    ),
    "a nearer name": (
        "qrels",
        [{"query": "q", "doc_id": "a", "relevance": 1}, {"query": "x", "query_id": "q", "doc_id": "b", "relevance": 0}],
        None,
    ),
    "a subtopic": (
        "qrels",
        [
            {"query_id": "q", "doc_id": "a", "relevance": 1},
            {"query_id": "q", "doc_id": "b", "relevance": 1, "subtopic": "s"},
            {"query_id": "q", "doc_id": "a", "relevance": 1, "subtopic": "s"},
            {"query_id": "q", "doc_id": "a", "relevance": 1, "subtopic": "t"},
        ],
        1.0,
    ),
    "scores beside ranks": (
        "run",
        [{"query_id": "q", "doc_id": "a", "rank": 1}, {"query_id": "q", "doc_id": "b", "rank": 2, "score": 9}],
        None,
    ),
    "scores of lists": (
        "run",
        [{"query_id": "p", "doc_id": ["x"]}, {"query_id": "q", "doc_id": ["a", "b"], "score": [1, 2]}],
        None,
    ),
    "an extra key": (
        "run",
        [{"query_id": "q", "doc_id": "a", "score": 1}, {"query_id": "q", "doc_id": "b", "score": 2, "rank": 7}],
        0.5,
    ),
}


@pytest.mark.plugins("diversity")
@pytest.mark.parametrize("name", LATE)
def test_keys_that_the_first_object_lacks_are_read(tmp_path: Path, name: str) -> None:
    """As in rows that are in memory already: they change a number, or they are an error."""
    kind, rows, value = LATE[name]
    lines, array = tmp_path / "x.jsonl", tmp_path / "x.json"
    lines.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    array.write_text(json.dumps(rows))
    measure = "alpha_nDCG@2" if name == "a subtopic" else "RR"
    for source in (rows, lines, array):
        qrels, run = (source, {"q": ["a", "b"]}) if kind == "qrels" else ({"q": {"a": 1}}, source)
        if value is None:
            with pytest.raises(DeadheatError):
                dh.evaluate(qrels, run, measure)
        else:
            assert dh.evaluate(qrels, run, measure).to_dict()["q"] == {measure: pytest.approx(value)}
