"""TREC files: what is accepted, and what is refused and with which line."""

from __future__ import annotations

import gzip
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest

from deadheat.core.io import files, splitting
from deadheat.core.io.formats import scan
from deadheat.core.io.formats.trec import MarkedLines, read_blocks, read_lines
from deadheat.errors import DataError, FileFormatError, MalformedRowError, SwappedFilesError
from support.error_parts import raises_parts

if TYPE_CHECKING:
    from deadheat.api import Kind
    from deadheat.errors import DataError

ROW = "q1 Q0 d1 1 2.5 bm25\n"
QRELS = "q1 0 d1 1\n"


@pytest.fixture(autouse=True, params=[0, splitting.SMALL], ids=["large", "small"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Read each file as a large one is, and as a small one."""
    monkeypatch.setattr(splitting, "SMALL", request.param)


def read(path: Path, kind: Kind = "run") -> pl.DataFrame:
    frame = scan(path, kind).rows
    assert isinstance(frame, pl.DataFrame)
    return frame


def written(tmp_path: Path, content: str | bytes, name: str = "x.run") -> Path:
    path = tmp_path / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def test_columns_types_and_order(tmp_path: Path) -> None:
    frame = read(written(tmp_path, "0880 Q0 007 1 1 t\nb Q0 x 1 2e3 t\na Q0 y 1 -.5 t\n"))
    assert frame.schema == {"query_id": pl.String, "doc_id": pl.String, "score": pl.Float64}
    assert frame.rows() == [("0880", "007", 1.0), ("b", "x", 2000.0), ("a", "y", -0.5)]


def test_qrels(tmp_path: Path) -> None:
    frame = read(written(tmp_path, "q1 0 d1 2\nq1 0 d2 -1\nq2 0 d1 0.5\n", "qrels"), "qrels")
    assert frame.schema == {"query_id": pl.String, "doc_id": pl.String, "relevance": pl.Float64}
    assert frame["relevance"].to_list() == [2.0, -1.0, 0.5]


@pytest.mark.parametrize(
    "content",
    [
        "q1 Q0 d1 1 2.5 t\nq2 Q0 d2 1 1 t\n",
        "q1 Q0 d1 1 2.5 t\nq2 Q0 d2 1 1 t",
        "q1 Q0 d1 1 2.5 t\r\nq2 Q0 d2 1 1 t\r\n",
        "q1 Q0 d1 1 2.5 t\r\nq2 Q0 d2 1 1 t",
        "q1 Q0 d1 1 2.5 t\r\nq2 Q0 d2 1 1 t\n",
        "q1\tQ0\td1\t1\t2.5\tt\nq2\tQ0\td2\t1\t1\tt\n",
        "q1 Q0\td1 1 2.5 t\nq2\tQ0 d2\t1 1 t\n",
        "q1 Q0 d1 1 2.5 t\nq2\tQ0\td2\t1\t1\tt\n",
        "  q1  Q0 d1   1 2.5 t  \n\tq2 Q0 d2 1 1 t\n",
        "q1 Q0 d1 1 2.5 t \nq2 Q0 d2 1 1 t \n",
        "q1 Q0 d1 1 2.5 t\nq2 Q0 d2 1 1 t ",
        "\n\nq1 Q0 d1 1 2.5 t\n \n\t\r\nq2 Q0 d2 1 1 t\n\n",
        "\ufeffq1 Q0 d1 1 2.5 t\nq2 Q0 d2 1 1 t\n",
        "\ufeff\n q1 Q0 d1 1 2.5 t\nq2 Q0 d2 1 1 t\n",
        "q1\vQ0\fd1 1 2.5 t\nq2 Q0 d2 1 1 t\n",
    ],
)
def test_separators_line_ends_and_blank_lines(tmp_path: Path, content: str) -> None:
    assert read(written(tmp_path, content)).rows() == [("q1", "d1", 2.5), ("q2", "d2", 1.0)]


def test_quotes_commas_and_hash_signs_are_parts_of_ids(tmp_path: Path) -> None:
    content = '#q Q0 "d 1 1 t\n\'q" Q0 d,1 1 1 t"\n'
    assert read(written(tmp_path, content)).rows() == [("#q", '"d', 1.0), ("'q\"", "d,1", 1.0)]


def test_blanks_beyond_ascii_are_parts_of_ids(tmp_path: Path) -> None:
    content = "q\u00a01 Q0 d\u20031 1 2.5 t\n"
    expected = [("q\u00a01", "d\u20031", 2.5)]
    assert read(written(tmp_path, content)).rows() == expected
    assert read(written(tmp_path, f" {content}")).rows() == expected
    assert read_lines(content.encode(), "run", Path("x"), 1).rows() == expected


def test_control_characters_outside_ids_are_accepted(tmp_path: Path) -> None:
    assert read(written(tmp_path, "q Q0 d 1 2.5 \x01\x1f\x7f\u0085\n")).rows() == [("q", "d", 2.5)]


@pytest.mark.parametrize("end", ["\r", "\v", "\f", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029"])
def test_a_comment_has_no_character_after_which_a_row_may_follow(end: str, tmp_path: Path) -> None:
    path = written(tmp_path, f"{ROW}# judged by us{end}q1 Q0 d2 2 2 bm25\nq1 Q0 d3 3 1 bm25\n")
    with pytest.raises(MalformedRowError, match=rf"x.run:2: a comment .* U\+{ord(end):04X}"):
        read(path)
    with pytest.raises(MalformedRowError, match=rf"x.run:2: a comment .* U\+{ord(end):04X}"):
        list(read_blocks(path, "run", MarkedLines("run"), 1))


def test_a_comment_may_have_tabs_and_a_windows_line_end(tmp_path: Path) -> None:
    assert len(read(written(tmp_path, f"#\tjudged\tby us\r\n{ROW}"))) == 1


def test_an_id_may_begin_like_a_magic_number(tmp_path: Path) -> None:
    for name in ("BZh91", "PAR1", "%PDF", "{x", "query_id,doc_id"):
        assert read(written(tmp_path, f"{name} Q0 d1 1 2.5 t\n"))["query_id"].to_list() == [name]


def test_infinite_scores_are_scores(tmp_path: Path) -> None:
    content = "q Q0 a 1 inf t\nq Q0 b 2 -Infinity t\nq Q0 c 3 +INF t\n"
    assert read(written(tmp_path, content))["score"].to_list() == [float("inf"), float("-inf"), float("inf")]


def test_large_scores(tmp_path: Path) -> None:
    content = "q Q0 a 1 1e300 t\nq Q0 b 2 9007199254740992 t\nq Q0 c 3 12345678901234567168.0 t\n"
    assert read(written(tmp_path, content))["score"].to_list() == [1e300, 2.0**53, 12345678901234567168.0]


def test_a_name_with_pattern_characters(tmp_path: Path) -> None:
    written(tmp_path, "q9 Q0 d1 1 2.5 t\n", "xa.run")
    assert read(written(tmp_path, ROW, "x[a].run"))["query_id"].to_list() == ["q1"]
    assert read(written(tmp_path, ROW, "x*.run"))["query_id"].to_list() == ["q1"]


def test_a_pipe_is_read_once() -> None:
    for content in (ROW.encode(), gzip.compress(ROW.encode())):
        reading, writing = os.pipe()
        os.write(writing, content)
        os.close(writing)
        assert read(Path(f"/dev/fd/{reading}")).rows() == [("q1", "d1", 2.5)]
        os.close(reading)


BAD_ROWS = [
    ("q1 Q0 d3 1 2.5", MalformedRowError, "expected 6 fields (query_id Q0 doc_id rank score tag), got 5: "),
    ("q1 Q0 d3 1 2.5 t more", MalformedRowError, "got 7: 'q1 Q0 d3 1 2.5 t more'"),
    ("q1 Q0 my doc 1 2.5 t", MalformedRowError, "got 7"),
    ("q1  d3 1 2.5 t", MalformedRowError, "got 5"),
    ("q1 Q0 d3 1 2.5 ", MalformedRowError, "got 5"),
    ("q1 Q0 d3 1 2.5\tt x", MalformedRowError, "got 7"),
    ("q1 Q0 d3 1 2.5 t " + "x" * 500, MalformedRowError, "xxx...'"),
    ("q1 Q0 d3 1 high t", DataError, "score must be a number, got 'high'"),
    ("q1 Q0 d3 1 1_0 t", DataError, "got '1_0'"),
    ("q1 Q0 d3 1 0x1A t", DataError, "got '0x1A'"),
    ("q1 Q0 d3 1 1,5 t", DataError, "got '1,5'"),
    ("q1 Q0 d3 1 \u0663 t", DataError, "got '\u0663'"),
    ("q1 Q0 d3 1 nan t", DataError, "got NaN ('nan')"),
    ("q1 Q0 d3 1 -NaN t", DataError, "got NaN"),
    ("q1 Q0 d3 1 1e400 t", DataError, "beyond the range of float64: '1e400'"),
    ("q1 Q0 d3 1 9007199254740993 t", DataError, "beyond 2**53, where float64 merges"),
    ("q1 Q0 d3 1 1152921504606846976 t", DataError, "beyond 2**53"),
]


@pytest.mark.parametrize(("bad", "error", "message"), BAD_ROWS)
@pytest.mark.parametrize("name", ["x.run", "x.run.gz"])
def test_the_first_bad_line_is_named(tmp_path: Path, bad: str, error: type[DataError], message: str, name: str) -> None:
    content = f"{ROW * 3}\n \n{ROW * 4}{bad}\n{ROW * 2}{bad}\n{ROW}".encode()
    path = written(tmp_path, gzip.compress(content) if name.endswith("gz") else content, name)
    with pytest.raises(error, match=re.escape(message)) as caught:
        scan(path, "run")
    assert str(caught.value).startswith(f"{path}:10: ")
    assert (caught.value.path, caught.value.line) == (path, 10)
    assert len(str(caught.value)) < 300 + len(str(path))


@pytest.mark.parametrize("header", ["qid iter docno rank score tag", "query_id Q0 doc_id rank Score run"])
def test_names_of_columns_are_no_row(tmp_path: Path, header: str) -> None:
    with raises_parts(DataError, "got '[sS]core'", problem="score must be a number", line=1):
        scan(written(tmp_path, f"{header}\n{ROW}"), "run")


def test_a_nul_byte_far_into_the_file(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match="NUL byte") as caught:
        scan(written(tmp_path, f"{ROW * 9000}q1 Q0 d\0 1 2.5 t\n"), "run")
    assert caught.value.line == 9001


@pytest.mark.parametrize("end", ["", "\n", "\r\n"])
@pytest.mark.parametrize(("bad", "error", "message"), BAD_ROWS[:6])
def test_a_bad_last_line(tmp_path: Path, bad: str, error: type[DataError], message: str, end: str) -> None:
    with pytest.raises(error, match=re.escape(message)) as caught:
        scan(written(tmp_path, ROW * 3 + bad + end), "run")
    assert caught.value.line == 4


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ("q1 0 d2 nan", "got NaN"),
        ("q1 0 d2 inf", "must be finite, got 'inf'"),
        ("q1 0 d2 yes", "must be a number, got 'yes'"),
        ("q1 0 d2 1e999", "must be finite"),
    ],
)
def test_a_bad_relevance(tmp_path: Path, bad: str, message: str) -> None:
    with pytest.raises(DataError, match=message) as caught:
        scan(written(tmp_path, f"{QRELS}\r\n{bad}\n", "x.qrels"), "qrels")
    assert caught.value.line == 3


def test_short_and_long_rows_that_make_up_for_each_other(tmp_path: Path) -> None:
    # As many blanks as six fields a row would have; the long row has a number where the score stands.
    content = f"{ROW}q1 Q0 my doc 1 2.5 t\nq1 Q0 d3 1 2.5\n{ROW}"
    with pytest.raises(MalformedRowError, match="got 7") as caught:
        scan(written(tmp_path, content), "run")
    assert caught.value.line == 2


def test_a_row_that_polars_loses(tmp_path: Path) -> None:
    # Polars 2.1 swallows the line behind a row with one field too many, if that field is empty.
    rows = read(written(tmp_path, f"{ROW}q1 Q0 d2 1 2.5 t \nq1 Q0 d3 1 2.5 t\n{ROW}"))
    assert rows["doc_id"].to_list() == ["d1", "d2", "d3", "d1"]


def test_a_bad_line_far_into_a_file_of_many_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "BLOCK", 1000)
    monkeypatch.setattr(files.blocks, "__defaults__", (1000,))
    path = written(tmp_path, "\n" + ROW * 5000 + "q1 Q0 d1 1 2.5\n" + ROW * 100)
    with pytest.raises(MalformedRowError) as caught:
        scan(path, "run")
    assert caught.value.line == 5002


@pytest.mark.parametrize("content", [b"", b"\n\n", b" \r\n\t\n", b"\xef\xbb\xbf", gzip.compress(b"", mtime=0)])
def test_empty_files(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(DataError, match="run without a single row"):
        scan(written(tmp_path, content), "run")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "a PNG image"),
        (ROW.encode("utf-16"), "UTF-16 text"),
        (ROW.encode("utf-16-le"), "a binary file or UTF-16 text"),
        (b"PK\x03\x04\0\0", "a zip archive"),
        (b"PAR1\x15\0", "a Parquet file"),
        (b"BZh91AY&SY\xff\xfe", "a bzip2 archive"),
    ],
)
@pytest.mark.parametrize("name", ["x.run", "x.csv", "x.json", "x.jsonl"])
def test_binary_files(tmp_path: Path, content: bytes, message: str, name: str) -> None:
    with pytest.raises(FileFormatError, match=message):
        scan(written(tmp_path, content, name), "run")


@pytest.mark.parametrize("compress", [False, True])
def test_text_that_is_not_utf8(tmp_path: Path, *, compress: bool) -> None:
    content = (ROW * 2).encode() + "q1 Q0 M\u00fcller 1 2.5 t\n".encode("latin-1") + ROW.encode()
    path = written(tmp_path, gzip.compress(content) if compress else content)
    with pytest.raises(FileFormatError, match=r"not UTF-8.*iconv") as caught:
        scan(path, "run")
    assert caught.value.line == 3


def test_swapped_files(tmp_path: Path) -> None:
    hint = "These are judgments; were qrels and run given in the wrong order?"
    with raises_parts(SwappedFilesError, "expected run .*got 4 fields", hint=hint, line=2):
        scan(written(tmp_path, f"\n{QRELS}"), "run")
    hint = "This is a run; were qrels and run given in the wrong order?"
    with raises_parts(SwappedFilesError, "expected qrels .*got 6 fields", hint=hint, line=1):
        scan(written(tmp_path, ROW), "qrels")
    with pytest.raises(SwappedFilesError, match="expected qrels"):
        scan(written(tmp_path, gzip.compress(ROW.encode())), "qrels")


@pytest.mark.parametrize(
    ("first", "message"),
    [
        ("query_id,doc_id,score", "name the file .csv"),
        ("query-id\tcorpus-id\tscore", "name the file .tsv"),
        ('{"q1": {"d1": 1.0}}', "looks like JSON"),
    ],
)
def test_another_format_is_recognised(tmp_path: Path, first: str, message: str) -> None:
    with pytest.raises(MalformedRowError, match=message):
        scan(written(tmp_path, f"{first}\n", "x.txt"), "run")
