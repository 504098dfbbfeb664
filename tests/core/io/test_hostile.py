"""Broken and hostile files: refused with their line, never read wrong; and read alike, plain and compressed."""

from __future__ import annotations

import gzip
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING
from unittest.mock import patch

import polars as pl
import pyarrow as pa
import pytest

from deadheat import max_memory
from deadheat.api import blocks
from deadheat.core.io import files, memory_limits, splitting, unpacking
from deadheat.core.io.files import check_file_lines, read_all
from deadheat.core.io.formats import scan
from deadheat.core.io.records import read_records
from deadheat.errors import DataError, FileFormatError, MalformedRowError, ParameterError
from support.command import call
from support.error_parts import raises_parts

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

HEADER = "query_id,doc_id,rank,score\n"
GOOD = "q1,d1,1,3\nq1,d2,2,2\n"
PACKINGS: dict[str, Callable[[bytes], bytes]] = {
    "": bytes,
    ".gz": gzip.compress,
    ".zst": lambda data: pa.Codec("zstd").compress(data).to_pybytes(),
}
each_packing = pytest.mark.parametrize("packing", PACKINGS)


def written(tmp_path: Path, content: str | bytes, name: str = "x.csv", packing: str = "") -> Path:
    path = tmp_path / (name + packing)
    path.write_bytes(PACKINGS[packing](content.encode() if isinstance(content, str) else content))
    return path


def allowed(n_bytes: int) -> AbstractContextManager[object]:
    """Let content take so many bytes, however large its file is."""
    return patch.multiple(memory_limits, _LEAST_ALLOWED=n_bytes, _LARGEST_RATIO=0)


def rows_of(path: Path) -> list[tuple[object, ...]]:
    frame = scan(path, "run").rows
    assert isinstance(frame, pl.DataFrame)
    return frame.rows()


def refused(path: Path, line: int | None, said: str) -> None:
    with raises_parts(FileFormatError, said, path=path, line=line):
        scan(path, "run")


@each_packing
@pytest.mark.parametrize(
    ("bad", "n_fields"),
    [
        ("q1,d2,2,12,85", 5),  # a decimal comma
        ("q1,d2,2,2,", 5),
        ("q1,d2,2,2,,,", 7),
        ("q1,d2,12", 3),
        ('q1,d2,"2",12,85', 5),
        ('q1,"d,2",12', 3),
        ("q1,d2,2,2,5\nq1,d3,12", 5),  # as many separators as two rows take
        ("q1,d3,12\nq1,d2,2,2,5", 3),
    ],
)
@pytest.mark.parametrize("end", ["\n", "\r\n", ""])
def test_a_field_too_many_or_too_few(tmp_path: Path, bad: str, n_fields: int, packing: str, end: str) -> None:
    text = f"{HEADER}{GOOD}{bad}\n{GOOD}".replace("\n", end) if end else f"{HEADER}{GOOD}{bad}"
    for name, content in (("x.csv", text), ("x.tsv", text.replace(",", "\t"))):
        refused(written(tmp_path, content, name, packing), 4, f"expected 4 fields .*, got {n_fields}: ")


def test_every_column_may_be_the_unread_one(tmp_path: Path) -> None:
    names = ["query_id", "doc_id", "score", "rank", "text"]
    for turn in range(5):
        order = names[turn:] + names[:turn]
        values = {"query_id": "q1", "doc_id": "d2", "rank": "2", "score": "12,85", "text": "x"}
        rows = [",".join({**values, "score": "12"}[name] for name in order), ",".join(values[name] for name in order)]
        refused(written(tmp_path, "\n".join([",".join(order), *rows]) + "\n"), 3, "got 6")


@each_packing
@pytest.mark.parametrize(
    ("rows", "line"),
    [
        ('q1,d3,3,"95', 4),
        ('q1,d3,3,"95\n', 4),
        ('q1,"d3,3,95\nq1,d4,4,1\n', 4),
        ('q1,d3,3,"', 4),
        ('"', 4),
        ('q1,d3,"3,95\n', 4),
        ('q1,"d"+"x",3,95\n', 4),
        ('q1,"d"x,3,95\nq1,"d4",4,1\n', 4),
        ('q1,d3,3,"95" \n', 4),
    ],
)
def test_quotes_that_do_not_match(tmp_path: Path, rows: str, line: int, packing: str) -> None:
    refused(written(tmp_path, HEADER + GOOD + rows, packing=packing), line, "unmatched quotes from here on")


@pytest.mark.slow
def test_a_quote_without_an_end_does_not_take_all_of_a_large_file(tmp_path: Path) -> None:
    path = written(tmp_path, HEADER + GOOD + 'q1,"d3,3,95\n' + f"q1,{'x' * 1000},1,2\n" * 17_000)
    refused(path, 4, r"unmatched quotes from here on \(field larger than field limit")


@each_packing
@pytest.mark.parametrize(
    ("text", "line"),
    [
        (HEADER + "q1,d1,1,3\r\r\nq1,d2,2,2\n", 2),
        ((HEADER + GOOD).replace("\n", "\r\r\n"), 1),
        ("query_id,doc_id,rank,score\r" + GOOD, 1),
        ("query_id,doc_id\r,rank,score\n" + GOOD, 1),
        ("\rquery_id,doc_id,rank,score\n" + GOOD, 1),
        (HEADER + "\rq1,d1,1,3\n", 2),
        (HEADER + "q1,d1\r,1,3\n", 2),
        (HEADER + "q1,d1,1,3\n\rq1,d2,2,2\n", 3),
        (HEADER + 'q1,"d1",1,3\rq1,d2,2,2\n', 2),
        ((HEADER + GOOD).replace("\n", "\r"), 1),
    ],
)
def test_a_carriage_return_that_ends_no_line(tmp_path: Path, text: str, line: int, packing: str) -> None:
    refused(written(tmp_path, text, packing=packing), line, r"a carriage return .*, lines end with \\n or \\r\\n")


@each_packing
@pytest.mark.parametrize("control", ["\0", "\x01", "\x1b", "\x1f", "\x7f", "\x80", "\x85", "\x9b", "\u2028", "\u2029"])
@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        ("x.csv", HEADER + GOOD + "q1,d?,3,1\n", 4),
        ("x.csv", HEADER + GOOD + 'q1,"d?",3,1\n', 4),
        ("x.tsv", (HEADER + GOOD + "q?,d3,3,1\n").replace(",", "\t"), 4),
        ("x.run", "q1 Q0 d1 1 3 t\nq1 Q0 d? 2 2 t\n", 2),
        ("x.run", "q1 Q0 d1 1 3 t\n\nq? Q0  d2 2 2 t\n", 3),
        ("x.jsonl", '{"qid": "q", "docid": "d1", "score": 1}\n{"qid": "q", "docid": "d?", "score": 1}\n', 2),
        ("x.json", '{"q": {"d?": 1}}', None),
        ("x.json", '{"q": {"d": 1}, "r?": {"d": 1}}', None),
    ],
)
def test_control_characters_in_ids(  # noqa: PLR0917 - pytest passes them by name
    tmp_path: Path, name: str, text: str, line: int | None, control: str, packing: str
) -> None:
    if "json" in name:
        control = f"\\u{ord(control):04x}"
    elif control == "\0":
        text += "x" * 64  # or it is taken for UTF-16
    path = written(tmp_path, text.replace("?", control), name, packing)
    with pytest.raises(DataError, match=r"control character|NUL byte") as caught:
        scan(path, "run")
    assert getattr(caught.value, "line", None) == line


@each_packing
def test_line_ends_inside_quoted_ids(tmp_path: Path, packing: str) -> None:
    for end in ("\n", "\r\n", "\r"):
        path = written(tmp_path, f'{HEADER}{GOOD}q1,"d{end}3",3,1\nq1,d4,4,0\n', packing=packing)
        refused(path, 4, r"contains the control character U\+000[AD]; ids have none, and lines end with \\n or \\r\\n")


@each_packing
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize(
    "text",
    [
        HEADER + GOOD,
        (HEADER + GOOD).removesuffix("\n"),
        '"query_id","doc_id","rank","score"\n"q1","d1","1","3"\n"q1","d2","2","2"\n',
        '"query_id","doc_id","rank","score"\n"q1","d1","1","3"\n"q1","d2","2","2"',
        HEADER.replace("rank", "text") + 'q1,d1,"a,""b""",3\nq1,d2,"",2\n',
        HEADER.replace("rank", "text") + 'q1,d1,"""",3\nq1,d2,"x\ny",2\n',
        HEADER.replace("rank", "text") + "q1,d1,\x01\u2028\x85,3\nq1,d2,it's 5\" wide,2\n",
        HEADER.replace("\n", ",text\n") + "q1,d1,1,3,\nq1,d2,2,2,\n",
    ],
)
def test_what_is_unusual_and_right(tmp_path: Path, text: str, end: str, packing: str) -> None:
    path = written(tmp_path, text.replace("\n", end), packing=packing)
    assert rows_of(path) == [("q1", "d1", 3.0), ("q1", "d2", 2.0)]


@each_packing
def test_a_tab_inside_quotes_is_a_control_character_of_tsv(tmp_path: Path, packing: str) -> None:
    text = 'query_id\tdoc_id\tscore\nq1\td1\t3\nq1\t"d\t2"\t2\n'
    refused(written(tmp_path, text, "x.tsv", packing), 3, r"control character U\+0009")


@each_packing
def test_a_text_may_begin_as_compressed_data_does(tmp_path: Path, packing: str) -> None:
    """Polars takes it for zlib's."""
    assert rows_of(written(tmp_path, "x^2 Q0 d1 1 3 t\n", "x.run", packing)) == [("x^2", "d1", 3.0)]
    table = "x^2,query_id,doc_id,score\n1,q1,d1,3\n"
    assert rows_of(written(tmp_path, table, "x.csv", packing)) == [("q1", "d1", 3.0)]


@pytest.mark.parametrize("packing", [".gz", ".zst"])
@pytest.mark.parametrize("name", ["x.run", "x.csv", "x.tsv", "x.jsonl", "x.json"])
def test_a_file_that_is_compressed_twice(tmp_path: Path, name: str, packing: str) -> None:
    for inner in (".gz", ".zst"):
        data = PACKINGS[inner](b"q1 Q0 d1 1 3 t\n")
        with pytest.raises(FileFormatError, match=r"compressed twice|not UTF-8"):
            scan(written(tmp_path, data, name, packing), "run")


@each_packing
def test_byte_order_marks(tmp_path: Path, packing: str) -> None:
    """One at the start of the file is none of its text, and every other one is refused."""
    row = "q1 Q0 d1 1 3 t\n"
    assert rows_of(written(tmp_path, f"\ufeff{row}", "x.run", packing)) == [("q1", "d1", 3.0)]
    for blank in ("\n", "\r\n", "\n\n"):
        refused(written(tmp_path, f"{blank}\ufeff{row}", "x.run", packing), blank.count("\n") + 1, "byte order mark")
    for name, text in (("x.run", row), ("x.csv", HEADER + GOOD)):
        refused(written(tmp_path, f"\ufeff\ufeff{text}", name, packing), 1, "two byte order marks")


@each_packing
def test_what_is_damaged_in_two_ways(tmp_path: Path, packing: str) -> None:
    data = PACKINGS[packing]("q1 Q0 d\u00fc 1 3 t\n".encode("latin-1")) + b"\x28\xb5\x2f\xfd"
    path = tmp_path / "x.run"
    path.write_bytes(data)
    with pytest.raises(FileFormatError):
        scan(path, "run")


@each_packing
def test_a_long_header(tmp_path: Path, packing: str) -> None:
    names = [f"feature_{n}" for n in range(20_000)]  # 200 kB
    row = ["q1", "d1", "3", *("1" for _ in names)]
    text = ",".join(["query_id", "doc_id", "score", *names]) + "\n" + ",".join(row) + "\n"
    assert rows_of(written(tmp_path, text, packing=packing)) == [("q1", "d1", 3.0)]
    refused(written(tmp_path, text + "q1,d2,2\n", packing=packing), 3, "expected 20003 fields .*, got 3")


def test_long_texts_of_a_collection(tmp_path: Path) -> None:
    text = "x" * 200_000
    path = written(tmp_path, f'doc_id,text\nd1,"{text}"\nd2,{text}\n')
    assert read_records(path).frame["text"].to_list() == [text, text]


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> int:
    """Lines may have 1,000 bytes."""
    monkeypatch.setattr(files, "LONGEST_LINE", 1000)
    assert splitting.SMALL < files.STEP  # a file that is read at once has no longer line than is allowed
    monkeypatch.setattr(splitting, "SMALL", 1000)
    return 1000


LINES = {
    "x.csv": (HEADER, "q1,d1,{},3\n"),
    "x.tsv": (HEADER.replace(",", "\t"), "q1\td1\t{}\t3\n"),
    "x.run": ("", "q1 Q0 d1 {} 3 t\n"),
    "x.jsonl": ("", '{{"qid": "q", "docid": "d", "x": "{}", "score": 3}}\n'),
}


@each_packing
@pytest.mark.parametrize("name", LINES)
def test_the_longest_line(tmp_path: Path, name: str, short: int, packing: str) -> None:
    head, row = LINES[name]
    fits = row.format("1" * (short + 1 - len(row.format(""))))
    for content in (head + fits + fits, head + fits + fits.removesuffix("\n")):
        assert len(rows_of(written(tmp_path, content, name, packing))) == 2
    longer = fits.replace("11", "111", 1)
    for content, line in ((fits + longer + fits, 2), (longer.removesuffix("\n"), 1), (fits + "1" * 5000, 2)):
        path = written(tmp_path, head + content, name, packing)
        refused(path, line + bool(head), "a line of more than 1,000 bytes, the longest allowed")


def test_a_long_line_is_found_wherever_it_is(tmp_path: Path, short: int) -> None:
    for before in range(0, 3 * short, 37):
        path = written(tmp_path, b"x\n" * before + b"y" * (short + 1) + b"\n" + b"x\n" * 700)
        with pytest.raises(MalformedRowError) as caught:
            check_file_lines(path)
        assert caught.value.line == before + 1
    check_file_lines(written(tmp_path, (b"y" * short + b"\n") * 9))


def test_a_header_without_an_end(tmp_path: Path, short: int) -> None:
    refused(written(tmp_path, "query_id" + "," * (short + 1)), 1, "a line of more than")


def test_json_may_be_one_line(tmp_path: Path, short: int) -> None:
    documents = ", ".join(f'"d{n}": {n}' for n in range(short))
    assert scan(written(tmp_path, f'{{"q": {{{documents}}}}}', "x.json"), "run").rows == {
        "q": {f"d{n}": n for n in range(short)}
    }


@pytest.mark.slow
@pytest.mark.parametrize("packing", [".gz", ".zst"])
@pytest.mark.parametrize("name", ["x.csv", "x.tsv", "x.jsonl", "x.json"])
def test_what_is_unpacked_has_a_limit(tmp_path: Path, name: str, packing: str) -> None:
    path = written(tmp_path, (" " if name == "x.json" else "\n") * 300_000, name, packing)
    with allowed(299_999):
        with raises_parts(FileFormatError, "more than 299,999 .* give max_memory$", path=path):
            scan(path, "run")
        with max_memory(10), pytest.raises(FileFormatError, match="more than 299,999 bytes"):  # it never lowers it
            scan(path, "run")
        with max_memory(50_000_000), pytest.raises(DataError, match=r"without|empty|is not"):
            scan(path, "run")


@pytest.mark.plugins("columns")
@pytest.mark.parametrize(("name", "row"), [("x.run", "q 0 d 1 1 t"), ("x.letor", "1 qid:q 1:1 # d"), ("x.jsonl", "{}")])
@pytest.mark.parametrize("member", [0, 1])
def test_reserved_flags_of_gzip_are_refused(name: str, row: str, member: int, tmp_path: Path) -> None:
    """RFC 1952, 2.3.1.2: a decompressor "must give an error indication", though the content is whole."""
    members = [bytearray(gzip.compress(f"{row}\n".encode())) for _ in range(2)]
    members[member][3] |= 0x40
    path = tmp_path / f"{name}.gz"
    path.write_bytes(b"".join(members))
    with pytest.raises(FileFormatError, match=r"damaged .*flags"):
        scan(path, "run")


def test_members_of_gzip_in_pieces(tmp_path: Path) -> None:
    """Members of any size, zeros behind them, cut at each byte: as Python's gzip."""
    texts = [b"a\n" * 5, b"", bytes(range(256)) * 9]
    data = b"\0\0".join(gzip.compress(text, mtime=0) for text in texts) + b"\0" * 7
    path = tmp_path / "x.gz"
    for size in (1, 2, 7, 100, 10_000):
        path.write_bytes(data)
        with path.open("rb") as file:
            assert b"".join(unpacking._gunzip(file, size)) == gzip.decompress(data) == b"".join(texts)
    for end in range(18, len(gzip.compress(texts[0]))):
        path.write_bytes(data[:end])
        with path.open("rb") as file, pytest.raises(EOFError):
            b"".join(unpacking._gunzip(file, 7))


@pytest.mark.parametrize("packing", [".gz", ".zst"])
def test_the_text_of_what_is_streamed_does_not_count(tmp_path: Path, packing: str) -> None:
    path = written(tmp_path, f"q Q0 {'d' * 1000} 1 2 t\n", "x.run", packing)
    with allowed(100):
        assert rows_of(path) == [("q", "d" * 1000, 2.0)]


@pytest.mark.plugins("columns")
@pytest.mark.parametrize("packing", [".gz", ".zst"])
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("x.csv", "query_id,doc_id,score\n" + "q,d,1\n" * 20_000),
        ("x.csv", "query_id,doc_id,score\n" + '"q",d,1\n' * 20_000),
        ("x.tsv", "query_id\tdoc_id\tscore\n" + "q\td\t1\n" * 20_000),
        ("x.jsonl", '{"qid":"q","doc":"d","score":1}\n' * 20_000),
        ("x.json", '{"q":{"d":1' + "".join(f',"{n}":1' for n in range(10_000)) + "}}"),
        ("x.run", "q 0 d 1 1 t\n" * 20_000),
        ("x.letor", "1 qid:q 1:1\n" * 20_000),
    ],
)
def test_rows_count_and_not_their_text_alone(
    name: str, text: str, packing: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory_limits, "_LEAST_ALLOWED", 1_200_000)
    monkeypatch.setattr(memory_limits, "_LARGEST_RATIO", 1)
    assert len(text) < 1_200_000
    with pytest.raises(FileFormatError, match="more than 1,200,000 bytes"):
        scan(written(tmp_path, text, name, packing), "qrels" if name == "x.letor" else "run")
    written(tmp_path, text, name)  # a plain file has no limit
    assert scan(tmp_path / name, "qrels" if name == "x.letor" else "run").rows is not None


def test_a_table_of_records_has_the_limit_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory_limits, "_LEAST_ALLOWED", 1_200_000)
    path = written(tmp_path, "query_id,a,b\n" + "".join(f"{n},1,\n" for n in range(5_000)), "x.csv", ".gz")
    with pytest.raises(FileFormatError, match="takes more than"):
        read_records(path)


def test_the_limit_follows_the_size_of_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory_limits, "_LEAST_ALLOWED", 1000)
    for packing in (".gz", ".zst"):
        path = written(tmp_path, b" " * 10_000_000, "x.json", packing)
        allowed = max(1000, 200 * path.stat().st_size)
        with pytest.raises(FileFormatError, match=f"more than {allowed:,} bytes"):
            read_all(path)
    assert read_all(written(tmp_path, b" " * 10_000, "x.json")) == b" " * 10_000  # a plain file is as it is


def test_an_endless_text_through_a_pipe() -> None:
    code = "import deadheat as dh; from deadheat.core.io import memory_limits; memory_limits._LEAST_ALLOWED = 10**8"
    code += "; dh.read_run('/dev/stdin', format='json')"
    with subprocess.Popen(["yes", "{"], stdout=subprocess.PIPE) as endless:
        done = subprocess.run(
            [sys.executable, "-c", code], stdin=endless.stdout, capture_output=True, text=True, timeout=60, check=False
        )
        endless.kill()
    assert "takes more than 100,000,000" in done.stderr


def test_the_limit_is_a_number() -> None:
    for given in (0, -1, 1.5, True):
        with (
            raises_parts(ParameterError, argument="max_memory", given=given, allowed="a whole number from 1 on"),
            max_memory(given),
        ):
            pass


def test_gzip_of_several_members_and_with_zeros_behind(tmp_path: Path) -> None:
    content = b"".join(b"%d\r\n" % n for n in range(100_000))
    packed = gzip.compress(content[:300_001]) + gzip.compress(b"") + gzip.compress(content[300_001:])
    for behind in (b"", bytes(1000), bytes(600_000)):
        assert read_all(written(tmp_path, packed + behind)) == content
    with pytest.raises(FileFormatError, match="the gzip file is damaged"):
        read_all(written(tmp_path, packed + b"x"))


@pytest.mark.parametrize("packing", [".gz", ".zst"])
def test_what_is_compressed_keeps_its_bytes(tmp_path: Path, packing: str) -> None:
    for content in ("a\nb\n", "a\nb\r\r\nc\n", "a\rb\n", "\r\r\n"):
        assert read_all(written(tmp_path, content, packing=packing)).decode() == content


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/full", "/dev/urandom"])
@pytest.mark.parametrize("format", ["trec", "csv", "tsv", "jsonl", "json", "parquet"])
def test_devices_are_no_files(device: str, format: str) -> None:  # noqa: A002 - as scan() calls it
    with raises_parts(DataError, problem="is a device", allowed="a file or a pipe", path=Path(device)):
        scan(device, "run", format=format)
    with pytest.raises(DataError):
        scan("/dev/null", "run", format="csv")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["csv", "tsv", "jsonl", "json", "trec"])
def test_a_pipe_without_an_end_is_refused(name: str) -> None:
    code = f"import deadheat as dh; dh.read_run('/dev/stdin', format='{name}')"
    with subprocess.Popen(["cat", "/dev/zero"], stdout=subprocess.PIPE) as endless:
        done = subprocess.run(
            [sys.executable, "-c", code], stdin=endless.stdout, capture_output=True, text=True, timeout=60, check=False
        )
        endless.kill()
    assert "more than 16,777,216 bytes" in done.stderr or "a binary file or UTF-16 text" in done.stderr


def test_blocks_do_not_copy_a_long_line_again_and_again(tmp_path: Path) -> None:
    path = written(tmp_path, b"x" * 600_000)
    assert [len(block) for block in blocks(path, 100)] == [600_000]
    assert files.BLOCK <= files.LONGEST_LINE


def test_zstandard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [f"q{n} Q0 d{n} 1 {n}.5 t" for n in range(1000)]
    expected = [(f"q{n}", f"d{n}", n + 0.5) for n in range(1000)]
    for end in ("\n", "\r\n", "\r\r\n"):
        assert rows_of(written(tmp_path, end.join(lines), "x.run", ".zst")) == expected
    whole = written(tmp_path, "\n".join(lines), "x.run", ".zst").read_bytes()
    for damaged in (whole[:-3], whole + b"junk"):
        (tmp_path / "x.run.zst").write_bytes(damaged)
        with pytest.raises(FileFormatError, match="the zstd file is damaged"):
            scan(tmp_path / "x.run.zst", "run")
    refused(written(tmp_path, "\n".join(lines[:3]).encode() + b"\nq \xff", "x.run", ".zst"), 4, "not UTF-8")
    refused(written(tmp_path, HEADER + GOOD + "q1,d1,1,3\r\r\n", "x.csv", ".zst"), 4, "a carriage return")
    monkeypatch.setattr(memory_limits, "_LEAST_ALLOWED", 1000)
    with pytest.raises(FileFormatError, match="its content takes more than"):
        read_all(written(tmp_path, " " * 10_000_000, "x.json", ".zst"))


@pytest.mark.parametrize("packing", [".gz", ".zst"])
def test_the_command_line_has_the_limit(tmp_path: Path, packing: str) -> None:
    qrels = written(tmp_path, "q1 0 d1 1\n", "x.qrels")
    run = written(tmp_path, HEADER + GOOD, packing=packing)
    for memory, code, said in ((5, 3, "more than 10 bytes, .* give --max-memory"), (1000, 0, "")):
        with allowed(10):
            done = call("evaluate", qrels, run, "-m", "RR", "--max-memory", memory)
        assert done.exit_code == code
        assert re.search(said, done.output)
    assert read_all(run) == (HEADER + GOOD).encode()  # the limit ended with the command


@each_packing
@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("x.run", "q1 Q0 d1 1 1 t\n\ufeffq2 Q0 d1 1 1 t\n"),
        ("x.csv", "query_id,doc_id,score\nq1,d1,1\n\ufeffq2,d1,1\n"),
        ("x.csv", "query_id,doc_id,score\n\ufeffq1,d1,1\n"),
        ("x.csv", "\ufeffquery_id,doc_id,score\n\ufeffq1,d1,1\n"),
        ("x.tsv", "query_id\tdoc_id\tscore\n\ufeffq1\td1\t1\n"),
        ("x.csv", "query_id,doc_id,x,score\nq1,d1,1,1\n\ufeffq2,d1,1,1\n"),
    ],
)
def test_files_joined_with_their_byte_order_marks(name: str, content: str, packing: str, tmp_path: Path) -> None:
    """q2 was another query, in silence."""
    refused(
        written(tmp_path, content, name, packing),
        content[: content.rindex("\ufeff")].count("\n") + 1,
        "were files concatenated",
    )


def test_names_that_cannot_be_opened(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="the file name is empty"):
        files.check_readable("")
    path = tmp_path / "gr\udcfcn.run"
    with raises_parts(DataError, r"gr\\udcfcn.run: .* not UTF-8", path=path):
        files.check_readable(path)


@pytest.mark.parametrize("packing", [".gz", ".zst"])
def test_a_nul_in_a_later_part_of_a_compressed_file(packing: str, tmp_path: Path) -> None:
    path = tmp_path / f"x.csv{packing}"
    path.write_bytes(
        PACKINGS[packing](b"query_id,doc_id,score,note\nq1,d1,3,a\n") + PACKINGS[packing](b"q1,d2,2,b\0\n")
    )
    refused(path, 3, "a NUL byte")


@pytest.mark.parametrize(
    "name",
    ["x.run", pytest.param("x.letor", marks=pytest.mark.plugins("columns")), "x.csv", "x.tsv", "x.jsonl", "x.json"],
)
@pytest.mark.parametrize("packing", [".gz", ".zst"])
def test_lines_without_content_count(name: str, packing: str, tmp_path: Path) -> None:
    """30 KB of .zst were a billion empty lines of TREC, which took minutes."""
    head = {
        "x.run": "q Q0 d 1 2 t\n",
        "x.letor": "1 qid:q 1:1\n",
        "x.jsonl": '{"qid": "q", "docid": "d", "score": 1}\n',
    }
    text = head.get(name, "query_id,doc_id,score\nq,d,1\n".replace(",", "\t" if name == "x.tsv" else ","))
    text = '{"q": {"d": 1}}' if name == "x.json" else text
    path = written(tmp_path, text + "\n" * 20_000, name, packing)
    with allowed(1_000_000), pytest.raises(FileFormatError, match="more than 1,000,000 bytes"):
        scan(path, "qrels" if name == "x.letor" else "run")


def test_comments_without_end_count(tmp_path: Path) -> None:
    path = written(tmp_path, "q Q0 d 1 2 t\n" + "# a\n" * 10_000, "x.run", ".gz")
    problem = "its content takes more than 1,000,000 bytes, the most that may be held at once"
    with allowed(1_000_000), raises_parts(FileFormatError, problem=problem, path=path, line=None):
        scan(path, "run")


@pytest.mark.parametrize("packing", [".gz", ".zst"])
def test_members_without_content(packing: str, tmp_path: Path) -> None:
    """Behind each of them the rest of the file was copied."""
    members = PACKINGS[packing](b"q Q0 d 1 2 t\n") + PACKINGS[packing](b"") * 9_000
    path = tmp_path / f"x.run{packing}"
    path.write_bytes(members)
    assert rows_of(path) == [("q", "d", 2.0)]
    path.write_bytes(members + PACKINGS[packing](b"") * 2_000)
    with pytest.raises(FileFormatError, match="more than 10,000 empty parts"):
        scan(path, "run")


def test_frames_of_zstandard_that_are_skipped(tmp_path: Path) -> None:
    frame = b"\x50\x2a\x4d\x18\x03\0\0\0abc"
    path = tmp_path / "x.run.zst"
    row = PACKINGS[".zst"](b"q Q0 d 1 2 t\n")
    path.write_bytes(row + frame + row.replace(b"q Q0 d", b"q Q0 e") + frame)
    assert rows_of(path) == [("q", "d", 2.0), ("q", "e", 2.0)]


def test_a_file_that_grows_ends(tmp_path: Path) -> None:
    """It ends at the size that it had when it was opened: as fast as it was read, another block was there."""
    path = written(tmp_path, b"q Q0 d 1 2 t\n" * 100, "x.run")
    n_blocks = 0
    for block in blocks(path, 100):
        n_blocks += 1
        with path.open("ab") as grown:
            grown.write(block * 2)
        if n_blocks > 100:
            break
    assert n_blocks < 20


def test_the_size_at_opening_is_the_end(tmp_path: Path) -> None:
    path = written(tmp_path, bytes(range(100)))
    with unpacking.open_file(path) as file:
        with path.open("ab") as grown:
            grown.write(b"more")
        assert file.read() == bytes(range(100))
        assert file.seek(0, 2) == 100
        assert file.seek(-3, 1) == 97
        assert file.read() == bytes([97, 98, 99])
        assert file.seek(98) == file.tell() == 98
        assert file.read() == bytes([98, 99])
