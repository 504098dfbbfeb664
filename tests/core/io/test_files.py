"""Files: compressed, damaged, missing; and finding the lines of a pair."""

from __future__ import annotations

import gzip
import os
from typing import TYPE_CHECKING

import polars as pl
import pyarrow as pa
import pytest

import deadheat as dh
from deadheat.core.io import files
from deadheat.core.io.formats import locate, scan
from deadheat.errors import DataError, FileFormatError
from support.error_parts import raises_parts

if TYPE_CHECKING:
    from pathlib import Path

ROW = "q1 Q0 d1 1 2.5 bm25\n"


def read(path: Path) -> pl.DataFrame:
    frame = scan(path, "run").rows
    assert isinstance(frame, pl.DataFrame)
    return frame


def written(tmp_path: Path, content: str | bytes, name: str = "x.run") -> Path:
    path = tmp_path / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


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
        with pytest.raises(FileFormatError, match="gzip file is damaged"):
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
        with pytest.raises(FileFormatError, match="zstd file is damaged"):
            scan(written(tmp_path, compressed[:-cut], "cut.zst"), "run")


def test_a_missing_file_names_its_neighbour(tmp_path: Path) -> None:
    written(tmp_path, ROW, "bm25.run")
    with raises_parts(DataError, problem="no such file", hint="Did you mean 'bm25.run'?", path=tmp_path / "bm52.run"):
        scan(tmp_path / "bm52.run", "run")
    with raises_parts(DataError, problem="no such file", hint=None):
        scan(tmp_path / "nowhere" / "bm25.run", "run")


def test_a_pattern_without_an_engine_names_what_reads_it_and_no_other_file(tmp_path: Path) -> None:
    pl.DataFrame({"query_id": ["q"], "doc_id": ["d"], "score": [0.5]}).write_parquet(tmp_path / "a.parquet")
    with raises_parts(DataError, ": a pattern names", problem="no such file", path=tmp_path / "*.parquet") as caught:
        dh.read_run(tmp_path / "*.parquet")
    assert "Did you mean" not in str(caught.value)


def test_a_link_to_nowhere_is_not_its_own_neighbour(tmp_path: Path) -> None:
    (tmp_path / "bm25.run").symlink_to("moved.run")
    with raises_parts(DataError, "is a link to moved.run,", path=tmp_path / "bm25.run"):
        scan(tmp_path / "bm25.run", "run")


@pytest.mark.parametrize("name", ["x.run", "x.csv", "x.jsonl"])
def test_a_nul_byte_in_a_text_is_named_with_its_line(tmp_path: Path, name: str) -> None:
    good, bad = ROW * 3, "q1 Q0 d\0 1 2.5 t\n"
    if name == "x.csv":
        good, bad = "query_id,doc_id,score,note\nq1,d1,2.5,\nq1,d2,2.5,\n", "q1,d3,2.5,\0\n"
    with raises_parts(FileFormatError, found="a NUL byte", hint="the file is damaged", line=4):
        scan(written(tmp_path, good + bad, name), "run")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_utf_16_is_recognised_when_it_is_packed_too(tmp_path: Path, encoding: str) -> None:
    text = ROW.encode(encoding)
    with pytest.raises(FileFormatError, match=r"got .*UTF-16 text"):
        scan(written(tmp_path, text), "run")
    with pytest.raises(FileFormatError, match="UTF-16"):
        scan(written(tmp_path, gzip.compress(text), "x.run.gz"), "run")


def test_a_directory(tmp_path: Path) -> None:
    with raises_parts(DataError, problem="is a directory", allowed="a file", path=tmp_path):
        scan(tmp_path, "run")


def test_a_file_without_permission(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path, ROW)
    path.chmod(0)
    monkeypatch.setattr(os, "access", lambda *_: False)  # root may read everything
    with pytest.raises(DataError, match="permission denied"):
        scan(path, "run")


@pytest.mark.parametrize("compress", [False, True])
def test_locate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, compress: bool) -> None:
    monkeypatch.setattr(files.blocks, "__defaults__", (100,))
    content = f"\ufeff{ROW}\n q1\tQ0 d11 1 1 d1\nd1 Q0 q1 1 1 t\n{ROW * 20}q1 Q0  d1 9 9 t".encode()
    path = written(tmp_path, gzip.compress(content) if compress else content)
    assert locate(path, "run", "q1", "d1") == [1, *range(5, 26)]
    assert locate(path, "run", "q1", "d11") == [3]
    assert locate(path, "run", "q1", "none") == []


@pytest.mark.parametrize("name", ["x" * 300 + ".run", "字" * 100 + ".csv", "a\0b.run"], ids=["ASCII", "CJK", "NUL"])
def test_a_name_that_no_file_can_have_is_bad_data(tmp_path: Path, name: str) -> None:
    with pytest.raises(DataError, match="cannot be opened: "):
        files.check_readable(tmp_path / name)


@pytest.mark.plugins("gates")
@pytest.mark.parametrize("inner", ["gzip", "zstd"])
@pytest.mark.parametrize("name", ["x.run", "x.csv", "x.tsv", "x.jsonl", "x.json", "x.toml"])
def test_a_file_that_is_compressed_twice_says_so(name: str, inner: str, tmp_path: Path) -> None:
    from deadheat.plugins.gates.notation import read_settings

    data = many_rows(20)
    path = written(tmp_path, gzip.compress(pa.compress(data, codec=inner, asbytes=True)), name)
    reading = read_settings if name == "x.toml" else read
    with raises_parts(FileFormatError, "is compressed twice", path=path):
        reading(path)


def test_parquet_that_is_compressed_says_so(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match="compressed as a whole"):
        dh.read_run(written(tmp_path, gzip.compress(b"PAR1"), "x.parquet.gz"))


@pytest.mark.plugins("gates")
def test_toml_keys_of_many_parts_are_refused_before_they_are_read(tmp_path: Path) -> None:
    from deadheat.plugins.gates.notation import read_settings

    path = written(tmp_path, b"a = 1\n" + b"a." * 10**5 + b"a = 1\n", "x.toml")
    with raises_parts(FileFormatError, "TOML with 100,000 points", allowed="1,000 or less", path=path, line=2):
        read_settings(path)


@pytest.mark.plugins("gates")
@pytest.mark.parametrize("text", ["a = " + "[" * 10**5, "a = " + "1" * 5000])
def test_toml_that_python_cannot_read_is_bad_data(text: str, tmp_path: Path) -> None:
    from deadheat.plugins.gates.notation import read_settings

    with raises_parts(FileFormatError, "TOML that cannot be read: ", path=tmp_path / "x.toml"):
        read_settings(written(tmp_path, text, "x.toml"))


def test_a_number_of_thousands_of_digits_is_read(tmp_path: Path) -> None:
    assert read(written(tmp_path, f"q1 Q0 d1 1 {'0' * 5000}1 t\n"))["score"].to_list() == [1.0]
    with raises_parts(DataError, "range of float64: '1111", path=tmp_path / "x.run", line=1):
        read(written(tmp_path, f"q1 Q0 d1 1 {'1' * 5000} t\n"))


def test_a_byte_order_mark_in_two_members(tmp_path: Path) -> None:
    content = gzip.compress(b"\xef") + gzip.compress(b'\xbb\xbf{"q": {"d": 1}}')
    assert dh.read_run(written(tmp_path, content, "x.json.gz")).to_dict() == {"q": {"d": 1}}
