"""TREC files: what is accepted, what is refused and with which line, and that the fast way equals a plain one."""

from __future__ import annotations

import gzip
import math
import os
import re
import time
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from deadheat.errors import (
    DataError,
    EmptyDataError,
    FileFormatError,
    MalformedRowError,
    RelevanceError,
    ScoreError,
    SwappedFilesError,
)
from deadheat.io import locate, scan, source, trec
from deadheat.io.blanks import count_blanks, count_blanks_of_file, with_single_blanks
from deadheat.io.lines import read_lines
from deadheat.io.values import read_value

if TYPE_CHECKING:
    from deadheat.io import Kind

ROW = "q1 Q0 d1 1 2.5 bm25\n"
QRELS = "q1 0 d1 1\n"


def read(path: Path, kind: Kind = "run") -> pl.DataFrame:
    frame = scan(path, kind)
    assert isinstance(frame, pl.DataFrame)
    return frame


def written(tmp_path: Path, content: str | bytes, name: str = "x.run") -> Path:
    path = tmp_path / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def plain_reading(text: str) -> list[tuple[str, str, float]]:
    rows = [line.split() for line in text.splitlines()]
    return [(row[0], row[2], float(row[4])) for row in rows if row]


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


def test_control_characters_are_parts_of_ids(tmp_path: Path) -> None:
    assert read(written(tmp_path, "q\x01 Q0 d\x1f 1 2.5 t\n")).rows() == [("q\x01", "d\x1f", 2.5)]


def test_an_id_may_begin_like_a_magic_number(tmp_path: Path) -> None:
    for name in ("BZh91", "PAR1", "%PDF", "{x", "query_id,doc_id"):
        assert read(written(tmp_path, f"{name} Q0 d1 1 2.5 t\n"))["query_id"].to_list() == [name]


def test_infinite_scores_are_scores(tmp_path: Path) -> None:
    content = "q Q0 a 1 inf t\nq Q0 b 2 -Infinity t\nq Q0 c 3 +INF t\n"
    assert read(written(tmp_path, content))["score"].to_list() == [float("inf"), float("-inf"), float("inf")]


def test_large_scores(tmp_path: Path) -> None:
    content = "q Q0 a 1 1e300 t\nq Q0 b 2 9007199254740994 t\nq Q0 c 3 12345678901234567890.5 t\n"
    assert read(written(tmp_path, content))["score"].to_list() == [1e300, 9007199254740994.0, 12345678901234567890.5]


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


def test_progress_is_told_before_and_after(tmp_path: Path) -> None:
    calls: list[tuple[int, int]] = []
    scan(written(tmp_path, ROW), "run", progress=lambda done, total: calls.append((done, total)))
    assert calls == [(0, len(ROW)), (len(ROW), len(ROW))]


BAD_ROWS = [
    ("q1 Q0 d3 1 2.5", MalformedRowError, "expected 6 fields (query_id Q0 doc_id rank score tag), got 5: "),
    ("q1 Q0 d3 1 2.5 t more", MalformedRowError, "got 7: 'q1 Q0 d3 1 2.5 t more'"),
    ("q1 Q0 my doc 1 2.5 t", MalformedRowError, "got 7"),
    ("q1  d3 1 2.5 t", MalformedRowError, "got 5"),
    ("q1 Q0 d3 1 2.5 ", MalformedRowError, "got 5"),
    ("q1 Q0 d3 1 2.5\tt x", MalformedRowError, "got 7"),
    ("q1 Q0 d3 1 2.5 t " + "x" * 500, MalformedRowError, "xxx...'"),
    ("q1 Q0 d3 1 high t", ScoreError, "score must be a number, got 'high'"),
    ("q1 Q0 d3 1 1_0 t", ScoreError, "got '1_0'"),
    ("q1 Q0 d3 1 0x1A t", ScoreError, "got '0x1A'"),
    ("q1 Q0 d3 1 1,5 t", ScoreError, "got '1,5'"),
    ("q1 Q0 d3 1 \u0663 t", ScoreError, "got '\u0663'"),
    ("q1 Q0 d3 1 nan t", ScoreError, "got NaN ('nan')"),
    ("q1 Q0 d3 1 -NaN t", ScoreError, "got NaN"),
    ("q1 Q0 d3 1 1e400 t", ScoreError, "beyond the range of float64: '1e400'"),
    ("q1 Q0 d3 1 9007199254740993 t", ScoreError, "float64 cannot hold exactly"),
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
    with pytest.raises(RelevanceError, match=message) as caught:
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
    monkeypatch.setattr(source, "BLOCK", 1000)
    monkeypatch.setattr(source.blocks, "__defaults__", (1000,))
    path = written(tmp_path, "\n" + ROW * 5000 + "q1 Q0 d1 1 2.5\n" + ROW * 100)
    with pytest.raises(MalformedRowError) as caught:
        scan(path, "run")
    assert caught.value.line == 5002


@pytest.mark.parametrize("content", [b"", b"\n\n", b" \r\n\t\n", b"\xef\xbb\xbf", gzip.compress(b"")])
def test_empty_files(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(EmptyDataError, match="run without a single row"):
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
    with pytest.raises(SwappedFilesError, match=r"expected run .*got 4 fields as in qrels.*wrong order") as caught:
        scan(written(tmp_path, f"\n{QRELS}"), "run")
    assert caught.value.line == 2
    with pytest.raises(SwappedFilesError, match=r"expected qrels .*got 6 fields as in a run"):
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


def many_rows(n: int = 3000) -> bytes:
    return b"".join(b"q%d Q0 d%d 1 %d.25 t\n" % (i % 50, i * 7919 % 100_003, i) for i in range(n))


def test_gzip_is_recognised_by_its_bytes(tmp_path: Path) -> None:
    content = many_rows()
    expected = read(written(tmp_path, content))
    for name in ("x.run.gz", "x.run", "x.gz"):
        assert read(written(tmp_path, gzip.compress(content), name)).equals(expected)
    assert read(written(tmp_path, content, "plain.run.gz")).equals(expected)
    members = gzip.compress(content[:30_000]) + gzip.compress(content[30_000:])
    assert read(written(tmp_path, members, "members.gz")).equals(expected)


@pytest.mark.parametrize("cut", [1, 4, 8, 9, 1000, -20])
def test_a_truncated_gzip_file(tmp_path: Path, cut: int) -> None:
    content = gzip.compress(many_rows())
    for name in ("x.run.gz", "x.csv.gz", "x.json.gz", "x.jsonl.gz"):
        with pytest.raises(FileFormatError, match="gzip file is damaged or ends too early"):
            scan(written(tmp_path, content[:-cut], name), "run")


def test_a_damaged_gzip_file(tmp_path: Path) -> None:
    content = bytearray(gzip.compress(many_rows()))
    content[len(content) // 2] ^= 1
    with pytest.raises(FileFormatError, match="damaged"):
        scan(written(tmp_path, bytes(content)), "run")


def test_zstd(tmp_path: Path) -> None:
    content = many_rows()
    frame = read(written(tmp_path, content))
    path = tmp_path / "x.run.zst"
    lines = pl.DataFrame({"line": content.decode().splitlines()})
    lines.write_csv(path, include_header=False, quote_style="never", compression="zstd")
    assert read(path).equals(frame)
    compressed = path.read_bytes()
    assert compressed.startswith(b"\x28\xb5\x2f\xfd")
    for cut in (1, 3, 100, len(compressed) // 2):
        with pytest.raises(FileFormatError, match="zstd file is damaged or ends too early"):
            scan(written(tmp_path, compressed[:-cut], "cut.zst"), "run")


def test_a_small_gzip_file_takes_milliseconds(tmp_path: Path) -> None:
    path = written(tmp_path, gzip.compress(many_rows(50_000)), "x.run.gz")
    scan(path, "run")
    started = time.perf_counter()
    scan(path, "run")
    assert time.perf_counter() - started < 0.5  # about 0.02 s; the bound is for a busy machine


def test_a_missing_file_names_its_neighbour(tmp_path: Path) -> None:
    written(tmp_path, ROW, "bm25.run")
    with pytest.raises(DataError, match=r"no such file\. Did you mean 'bm25.run'\?"):
        scan(tmp_path / "bm52.run", "run")
    with pytest.raises(DataError, match=r"no such file\.$"):
        scan(tmp_path / "nowhere" / "bm25.run", "run")


def test_a_directory(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="is a directory, expected a file"):
        scan(tmp_path, "run")


def test_a_file_without_permission(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path, ROW)
    path.chmod(0)
    monkeypatch.setattr(os, "access", lambda *_: False)  # root may read everything
    with pytest.raises(DataError, match="permission denied"):
        scan(path, "run")


@pytest.mark.parametrize("compress", [False, True])
def test_locate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, compress: bool) -> None:
    monkeypatch.setattr(source.blocks, "__defaults__", (100,))
    content = f"\ufeff{ROW}\n q1\tQ0 d11 1 1 d1\nd1 Q0 q1 1 1 t\n{ROW * 20}q1 Q0  d1 9 9 t".encode()
    path = written(tmp_path, gzip.compress(content) if compress else content)
    assert locate(path, "run", "q1", "d1") == [1, *range(5, 26)]
    assert locate(path, "run", "q1", "d11") == [3]
    assert locate(path, "run", "q1", "none") == []


ids = st.text(st.characters(codec="utf-8", exclude_characters="\0\t\n\v\f\r \ufeff", max_codepoint=0x2FFF), min_size=1)
blanks = st.text(" \t", min_size=1, max_size=3)
numbers = st.floats(allow_nan=False).map(repr) | st.sampled_from(
    ["1", "-0", "+1.5", "1E5", ".5", "5.", "inf", "1e-400"]
)


@st.composite
def run_texts(draw: st.DrawFn) -> str:
    lines = []
    for _ in range(draw(st.integers(1, 6))):
        fields = [draw(ids), "Q0", draw(ids), "1", draw(numbers), "t"]
        between = [draw(blanks) if draw(st.booleans()) else " " for _ in range(5)] + [""]
        around = draw(st.sampled_from(["", "", " ", "\t "]))
        lines.append(around + "".join(map("".join, zip(fields, between, strict=True))) + around)
        lines.extend(draw(st.sampled_from([[], [], [""], [" "]])))
    end = draw(st.sampled_from(["\n", "\r\n"]))
    return end.join(lines) + draw(st.sampled_from(["", end]))


def exact_rows(frame: pl.DataFrame) -> list[tuple[str, str, str]]:
    return [(query, doc, repr(score)) for query, doc, score in frame.iter_rows()]


@given(text=run_texts())
@example(text="a Q0 b 1 -0.0 t")
def test_any_mix_of_separators_equals_a_plain_reading(text: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.getbasetemp() / "mix.run"
    data = text.encode()
    path.write_bytes(data)
    frame = read(path)
    rows = [line.split() for line in data.split(b"\n") if line.split()]
    assert exact_rows(frame) == [(row[0].decode(), row[2].decode(), repr(float(row[4]))) for row in rows]
    slow = read_lines(data, "run", path, 1)
    assert exact_rows(slow) == exact_rows(frame)
    parsed = [trec._read_block(block, "run", path) for block in source.blocks(path, 40) if block.strip()]
    if any(byte < 32 and byte not in b"\t\r\n" for byte in data):
        return  # control characters are counted as blanks, and such a block is left to the slow way
    by_blocks = pl.concat([slow.clear(), *(block for block in parsed if block is not None)])
    assert exact_rows(by_blocks) == exact_rows(frame)


soup = st.lists(
    st.sampled_from(["q", "d1", "1", "2.5", "x", "nan", " ", " ", " ", "\t", "\n", "\n", "\r\n", "q Q0 d 1 2 t\n"]),
    max_size=40,
).map("".join)


@given(text=soup)
@example(text="q Q0 d 1 2 t x\nq Q0 d 1 2\n")
@example(text="q Q0 d 1 2 t\nq Q0 d 1 2 \n")
def test_whatever_is_refused_is_refused_at_the_right_line(text: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.getbasetemp() / "soup.run"
    path.write_text(text, newline="")
    wrong = 0
    for line, row in enumerate(text.split("\n"), 1):
        fields = row.split()
        if fields and (len(fields) != 6 or fields[4] not in {"1", "2", "2.5"}):
            wrong = line
            break
    if wrong or not text.strip():
        with pytest.raises(DataError) as caught:
            scan(path, "run")
        assert caught.value.line == (wrong or None)
    else:
        assert read(path).rows() == plain_reading(text)


@given(
    st.text("0123456789+-.eEinfINFatyx_", min_size=1, max_size=12)
    | st.floats().map(repr)
    | st.floats().map("{:.25g}".format)
)
@example("1.e5")
@example("infin")
@example("2.2250738585072011e-308")
def test_polars_and_the_slow_way_read_the_same_numbers(text: str) -> None:
    parsed = trec._parse(f"q Q0 d 1 {text} t\n".encode(), "run", " ")
    assert parsed is not None
    value = parsed["score"].item()
    try:
        expected = read_value(text, "run", path=Path("x"), line=1)
    except ScoreError:
        # refused for what float64 lost, or because it is no number: then Polars may not have taken it for one
        expected = None
    if expected is None:
        assert value is None or math.isnan(value) or abs(value) >= 2.0**53
    else:
        assert repr(value) == repr(expected)


@given(st.binary(max_size=80) | st.text("ab \t\r\n", max_size=80).map(str.encode))
def test_blanks_are_counted_and_made_regular(data: bytes) -> None:
    counted = count_blanks(data)
    assert counted.n_blanks == sum(byte <= 32 for byte in data)
    assert counted.n_pairs == sum(a <= 32 and b <= 32 for a, b in zip(b"\n" + data, data, strict=False))
    assert counted.lacks_final_newline == (not data.endswith(b"\n"))
    lines = [b" ".join(line.split()) for line in data.split(b"\n")]
    assert with_single_blanks(data) == b"".join(line + b"\n" for line in lines if line)


def test_blanks_are_counted_across_steps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = b"a b\r\nc  d\n\n e\r\n"
    for step in range(1, 9):
        monkeypatch.setattr("deadheat.io.blanks._STEP", step)
        counted = count_blanks(data)
        assert (counted.n_blanks, counted.n_pairs, counted.lacks_final_newline) == (10, 5, False)
        assert count_blanks_of_file(written(tmp_path, data)) == counted
