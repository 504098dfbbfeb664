"""Polars panics, and a panic is no `Exception`: what it cannot read is bad data all the same, never a failed gate."""

from __future__ import annotations

import base64
import decimal
import json
import struct
import subprocess
import sys
from contextlib import nullcontext
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import deadheat as dh
from deadheat.core.evaluation.documents import checksum
from deadheat.core.io import memory_limits, pages
from deadheat.core.io.formats.parquet import check_file
from deadheat.core.io.guarding import guard_polars
from deadheat.core.io.pages import read_table
from deadheat.core.io.records import read_records
from deadheat.errors import DataError, FileFormatError
from support.error_parts import raises_parts
from support.parquet_file import Column, File, Page, texts
from support.process import environment, run

if TYPE_CHECKING:
    from collections.abc import Callable

CRY = """
import os
import sys

sys.argv = ["deadheat", "evaluate", "qrels.txt", "run.parquet"]

import polars as pl

from deadheat.core.cli import main
from deadheat.core.io import frames

read = frames.convert_table

def panic(*given, **named):
    os.write(2, b"thread 'polars' panicked\\n")
    if "--panic" in sys.orig_argv:
        raise pl.exceptions.PanicException("of Rust")
    return read(*given, **named)

frames.convert_table = panic
try:
    main()
finally:
    os.write(2, b"after\\n")
"""

READ_DAMAGED = """
from pathlib import Path

import deadheat as dh

path = Path("damaged.parquet")
whole = Path("whole.parquet").read_bytes()
for at in range(len(whole)):
    path.write_bytes(whole[:at] + b"\\xff" + whole[at + 1 :])
    try:
        dh.evaluate({f"q{n}": {"d1": 1, "d3": 2} for n in range(10)}, path, ["RR"])
        print("read")
    except dh.DeadheatError as error:
        print("refused" if "damaged.parquet" in str(error) else f"without its name: {error!r}")
    except BaseException as error:
        print(f"raw: {error!r}")
"""


@pytest.mark.slow
@pytest.mark.parametrize("writer", ["polars", "pyarrow"])
def test_damaged_parquet_is_bad_data_wherever_the_damage_is(writer: str, tmp_path: Path) -> None:
    """One byte of a file after the other is changed: some make Polars panic, some asked it for exabytes."""
    rows = [(f"q{n // 20}", f"d{n % 20}", float(n % 4)) for n in range(200)]
    frame = pl.DataFrame(rows, schema=["query_id", "doc_id", "score"], orient="row")
    if writer == "polars":
        frame.write_parquet(tmp_path / "whole.parquet")
    else:
        pq.write_table(frame.to_arrow(), tmp_path / "whole.parquet", store_schema=False)
    code = [sys.executable, "-c", READ_DAMAGED]
    done = subprocess.run(code, cwd=tmp_path, env=environment(), capture_output=True, text=True, check=False)
    assert done.returncode == 0
    outcomes = done.stdout.splitlines()
    assert len(outcomes) == (tmp_path / "whole.parquet").stat().st_size
    assert set(outcomes) <= {"read", "refused"}
    assert outcomes.count("refused") > 100


@pytest.mark.slow
@pytest.mark.parametrize("writer", ["polars", "pyarrow"])
@pytest.mark.parametrize("packing", ["zstd", "snappy", "gzip", "none"])
def test_whole_parquet_is_read(writer: str, packing: Any, tmp_path: Path) -> None:  # noqa: ANN401 - a Literal of Polars
    """With many pages and row groups, dictionaries, both formats of pages, and columns that are not read."""
    rows = {"query_id": [f"q{n // 50}" for n in range(5000)], "doc_id": [f"d{n % 50}" for n in range(5000)]}
    others = {"score": [n % 7 / 2 for n in range(5000)], "tags": [["a"] * (n % 3) or None for n in range(5000)]}
    frame, path = pl.DataFrame({**rows, **others}), tmp_path / "run.parquet"
    for size in (100, 1 << 20):
        if writer == "polars":
            frame.write_parquet(
                path,
                compression="uncompressed" if packing == "none" else packing,
                data_page_size=size,
                row_group_size=999,
            )
            check_file(path)
        else:
            for version, dictionary in product(("1.0", "2.0"), (True, False)):
                options = {"data_page_version": version, "use_dictionary": dictionary, "write_page_index": dictionary}
                pq.write_table(frame.to_arrow(), path, compression=packing, data_page_size=size, **options)
                check_file(path)


@pytest.mark.parametrize("name", ["run.parquet", "labels.parquet"])
def test_a_page_of_less_than_nothing(name: str, tmp_path: Path) -> None:
    """Its size was 2 exabytes to Polars, which ended the process."""
    path = tmp_path / name
    pl.DataFrame({"query_id": ["q1"], "doc_id": ["a"], "score": [1.5], "kind": ["b"]}).write_parquet(path)
    whole = path.read_bytes()
    assert whole[4:8:2] == b"\x15\x15"  # two integers: the kind of the page, and its size unpacked
    path.write_bytes(whole[:7] + bytes([whole[7] | 1]) + whole[8:])  # the last bit is the sign
    with raises_parts(DataError, "sizes are impossible", allowed="a Parquet file, but it is damaged", path=path):
        read_records(path) if name == "labels.parquet" else dh.read_run(path)


@pytest.mark.parametrize("writer", ["polars", "pyarrow"])
def test_parquet_files_that_were_joined(writer: str, tmp_path: Path) -> None:
    """Places in the second footer are those of the second file: the pages of the first were read with it."""
    path = tmp_path / "x.parquet"
    for text in ("a", "b"):
        frame = pl.DataFrame({"query_id": [text], "doc_id": [text], "score": [1.5]})
        if writer == "polars":
            frame.write_parquet(tmp_path / text)
        else:
            pq.write_table(frame.to_arrow(), tmp_path / text, write_page_index=True)
    path.write_bytes((tmp_path / "a").read_bytes() + (tmp_path / "b").read_bytes())
    with pytest.raises(DataError, match="or files were joined"):
        dh.read_run(path)


def test_too_few_threads_are_no_damage() -> None:
    with pytest.raises(OSError, match="no threads left"), guard_polars("x.run"):
        raise pl.exceptions.PanicException("could not spawn threads: Resource temporarily unavailable (os error 11)")


def test_a_footer_of_nested_lists(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    footer = b"\x19" + b"\x19" * 10_000  # a list with a list with a list
    path.write_bytes(b"PAR1" + footer + len(footer).to_bytes(4, "little") + b"PAR1")
    with raises_parts(DataError, hint="its sizes are impossible, or files were joined", path=path):
        dh.read_run(path)


@pytest.mark.slow
def test_a_quote_alone_at_the_end_of_a_table(tmp_path: Path) -> None:
    (tmp_path / "qrels.txt").write_text("q1 0 d1 1\n")
    (tmp_path / "run.csv").write_text('query_id,doc_id,score\nq1,d1,1\nq1,d2,"')
    done = run(tmp_path, "evaluate", "qrels.txt", "run.csv")
    message = done.stderr.decode()
    assert done.returncode == 3
    assert "Error: run.csv" in message
    assert "Traceback" not in message
    with pytest.raises(DataError):
        dh.read_run(tmp_path / "run.csv")


@pytest.mark.slow
@pytest.mark.parametrize("precision", [38, 76])
def test_decimals_of_256_bits(precision: int, tmp_path: Path) -> None:
    """Polars knows none in tables of PyArrow, nor those of more than 38 digits in Parquet."""
    scores = pa.array([decimal.Decimal("1.5"), decimal.Decimal("2.5")], pa.decimal256(precision, 2))
    table, path = pa.table({"query_id": ["q", "q"], "doc_id": ["a", "b"], "score": scores}), tmp_path / "run.parquet"
    pq.write_table(table, path)
    with pytest.raises(DataError, match="run: Polars crashed"):
        dh.evaluate({"q": {"a": 1}}, table, ["RR"])
    with pytest.raises(DataError, match="queries: Polars crashed"):
        dh.Queries(table)
    if precision == 38:
        assert dh.evaluate({"q": {"a": 1}}, path, ["RR"]).means() == {"RR": 0.5}
        return
    with raises_parts(DataError, "type that cannot|rows cannot", path=path):
        dh.evaluate({"q": {"a": 1}}, path, ["RR"])
    (tmp_path / "qrels.txt").write_text("q 0 a 1\n")
    for arguments in (["evaluate", "qrels.txt", "run.parquet"], ["convert", "run.parquet", "run.csv"]):
        done = run(tmp_path, *arguments)
        assert (done.returncode, done.stderr.startswith(b"Error: run.parquet")) == (3, True)


def test_a_panic_names_the_data() -> None:
    with (
        pytest.raises(DataError, match=r"^bm25\.run: Polars crashed") as caught,
        guard_polars("bm25.run"),
    ):
        raise pl.exceptions.PanicException("index out of bounds\nand more")
    assert isinstance(caught.value.__cause__, pl.exceptions.PanicException)


PANIC = """
import polars as pl
from deadheat.core.evaluation import evaluate_runs
from deadheat.core.cli import main

def panic(*_, **__):
    raise pl.exceptions.PanicException("our mistake")

evaluate_runs.evaluate_under = panic
main(["evaluate", "qrels.txt", "bm25.run"])
"""


@pytest.mark.slow
@pytest.mark.parametrize("panics", [True, False])
def test_what_polars_prints_when_it_panics_is_not_shown(tmp_path: Path, *, panics: bool) -> None:
    (tmp_path / "qrels.txt").write_text("q1 0 d1 1\n")
    pl.DataFrame({"query_id": ["q1"], "doc_id": ["d1"], "score": [1.5]}).write_parquet(tmp_path / "run.parquet")
    command = [sys.executable, "-c", CRY, *["--panic"] * panics]
    done = subprocess.run(command, cwd=tmp_path, env=environment(), capture_output=True, text=True, check=False)
    if panics:  # other threads may panic afterwards
        expected = "Error: run.parquet: Polars crashed while reading it: it is damaged, or has content that Polars"
        assert (done.returncode, done.stderr) == (3, f"{expected} does not know\n")
    else:
        assert (done.returncode, done.stderr) == (0, "after\n")


@pytest.mark.slow
def test_a_panic_that_is_not_the_datas_is_a_mistake_of_ours(tmp_path: Path) -> None:
    (tmp_path / "qrels.txt").write_text("q1 0 d1 1\n")
    (tmp_path / "bm25.run").write_text("q1 Q0 d1 1 1 t\n")
    done = subprocess.run(
        [sys.executable, "-c", PANIC], cwd=tmp_path, env=environment(), capture_output=True, check=False
    )
    assert done.returncode == 70
    assert done.stderr.startswith(b"Error: PanicException: our mistake\nThis is a bug in deadheat")


def test_a_store_that_does_not_answer(tmp_path: Path) -> None:
    """Polars raises an OSError without a number then."""
    with (
        pytest.raises(DataError, match=r"^run\.parquet: .* request$"),
        guard_polars("run.parquet"),
    ):
        raise OSError("error sending request\nCaused by:\n    0: no name")
    with pytest.raises(FileNotFoundError), guard_polars("run.parquet"):
        (tmp_path / "none").read_bytes()


class _OfJava(Exception):  # noqa: N818 - its module is what is looked at
    __module__ = "py4j.protocol"


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        ("[PATH_NOT_FOUND] Path does not exist.\n more", r"Spark failed: \[PATH_NOT_FOUND\] Path does not exist\.$"),
        (
            "An error in o1.\n: a.B: some\n\tat a.c\nCaused by: java.d: no Parquet\n\tat d.e",
            "failed: java.d: no Parquet$",
        ),
    ],
)
def test_what_spark_says_in_one_line(told: str, expected: str) -> None:
    with pytest.raises(DataError, match=expected), guard_polars("run"):
        raise _OfJava(told)


def test_what_fails_in_a_worker_is_not_the_data() -> None:
    with pytest.raises(_OfJava), guard_polars("run"):
        raise _OfJava("An error in o1.\n: org.apache.spark.api.python.PythonException: Traceback")


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> int:
    """A million bytes may be held, however large the file is."""
    monkeypatch.setattr(memory_limits, "_LEAST_ALLOWED", 1_000_000)
    monkeypatch.setattr(memory_limits, "_LARGEST_RATIO", 0)
    return 1_000_000


@pytest.mark.plugins("engines")
@pytest.mark.parametrize("has_dictionary", [True, False])
@pytest.mark.parametrize("most", [None, 10])
def test_a_long_id_in_many_rows(few: int, most: int | None, tmp_path: Path, *, has_dictionary: bool) -> None:
    """29 KB of Parquet were one id of a megabyte in 10,000 rows."""
    n_rows, docs = 500, pa.array(["x" * 10_000] * 500)
    columns = {"query_id": pa.array([f"q{n}" for n in range(n_rows)]), "score": pa.array([1.0] * n_rows)}
    columns["doc_id"] = docs.dictionary_encode() if has_dictionary else docs
    pq.write_table(pa.table(columns), tmp_path / "x.parquet", compression="zstd", dictionary_pagesize_limit=1 << 20)
    assert (tmp_path / "x.parquet").stat().st_size < few / 50
    most_memory = nullcontext() if most is None else dh.max_memory(most)
    with most_memory, pytest.raises(FileFormatError, match=r"about 5,0.* than 1,000,000"):
        dh.evaluate({"q1": {"d": 1}}, tmp_path / "x.parquet", "RR")
    with pytest.raises(FileFormatError, match=r"about 5,0.* than 1,000,000"):
        read_records(tmp_path / "x.parquet")
    with dh.max_memory(10_000_000), pytest.warns(dh.DeadheatWarning):
        assert dh.evaluate({"q1": {"d": 1}}, tmp_path / "x.parquet", "RR").means() == {"RR": 0}


@pytest.mark.parametrize("version", ["1.0", "2.0"])
@pytest.mark.parametrize("name", ["doc_id", "note", "notes"])
def test_texts_that_begin_as_the_one_before(few: int, name: str, version: Any, tmp_path: Path) -> None:  # noqa: ANN401 - a Literal
    """Ten kilobytes of Parquet were 10 GB of ids: of each but the first only its end is there."""
    n_rows, path = 500, tmp_path / "x.parquet"
    long = ["x" * 10_000] * n_rows
    values = [[one] for one in long] if name == "notes" else long
    columns: dict[str, Any] = {"query_id": [f"q{n}" for n in range(n_rows)], "score": [1.0] * n_rows}
    columns |= {"doc_id": [f"d{n}" for n in range(n_rows)], name: values}
    encodings = {"notes.list.element" if name == "notes" else name: "DELTA_BYTE_ARRAY"}
    options: dict[str, Any] = {"use_dictionary": False, "column_encoding": encodings, "data_page_version": version}
    pq.write_table(pa.table(columns), path, compression="snappy", **options)
    assert path.stat().st_size < few / 10
    for read in (dh.read_run, read_records):
        with pytest.raises(FileFormatError, match=r"bytes, more than 1,000,000"):
            read(path)


@pytest.mark.parametrize("version", ["1.0", "2.0"])
@pytest.mark.parametrize("compression", ["none", "snappy", "gzip", "zstd", "lz4", "brotli"])
def test_ids_that_begin_as_the_one_before_are_read(version: Any, compression: str, tmp_path: Path) -> None:  # noqa: ANN401 - a Literal
    """With missing values in some other column, and in several pages."""
    n_rows, path = 3_000, tmp_path / "x.parquet"
    docs = [f"msmarco-doc-{n:05}" for n in range(n_rows)]
    notes = [doc if n % 3 else None for n, doc in enumerate(docs)]
    columns = {"query_id": ["q"] * n_rows, "doc_id": docs, "score": [-float(n) for n in range(n_rows)], "note": notes}
    encodings = dict.fromkeys(["query_id", "doc_id", "note"], "DELTA_BYTE_ARRAY")
    options: dict[str, Any] = {"use_dictionary": False, "column_encoding": encodings, "data_page_version": version}
    pq.write_table(pa.table(columns), path, compression=compression, data_page_size=2_000, **options)
    assert dh.read_run(path).to_polars()["doc_id"].to_list() == docs
    read_records(path)


def test_rows_that_take_no_room_in_the_file(few: int, tmp_path: Path) -> None:
    """2 MB of Parquet were 300 million equal rows, which took 10 GB."""
    n_rows = few // 50
    columns = {"query_id": ["q"] * n_rows, "doc_id": ["d"] * n_rows, "score": [1.0] * n_rows}
    pl.DataFrame(columns).write_parquet(tmp_path / "x.parquet")
    for read in (dh.read_run, read_records):
        with pytest.raises(FileFormatError, match=r"about [12],.* than 1,000,000"):
            read(tmp_path / "x.parquet")


def written_by_hand(n_groups: int = 1) -> File:
    """Return a file whose groups have two rows each."""
    groups = []
    for group in range(n_groups):
        docs = texts([f"a{group}", f"b{group}"])
        scores = struct.pack("2d", 2.0, 1.0)
        pages = {"query_id": texts(["q", "q"]), "doc_id": docs, "score": scores}
        groups.append([Column(name, [Page(content, 2)]) for name, content in pages.items()])
    return File(groups, [2] * n_groups)


def test_parquet_by_hand_is_read(tmp_path: Path) -> None:
    (tmp_path / "x.parquet").write_bytes(written_by_hand(2).written())
    rows = dh.read_run(tmp_path / "x.parquet").to_polars().rows()
    assert rows == [("q", "a0", 2.0), ("q", "b0", 1.0), ("q", "a1", 2.0), ("q", "b1", 1.0)]


def _shared(file: File) -> None:
    for columns in file.groups[1:]:
        for column, first in zip(columns, file.groups[0], strict=True):
            column.pages, column.start, column.size, column.n_values = [], 4, 100, first.pages[0].n_values


def _many_values(file: File) -> None:
    file.groups[0][1].pages[0].n_values = 1 << 30


def _large_page(file: File) -> None:
    file.groups[0][1].pages[0].n_unpacked = (1 << 31) - 1


def _large_page_of_zstandard(file: File) -> None:
    _large_page(file)
    file.groups[0][1].codec = 6


def _long_page(file: File) -> None:
    file.groups[0][1].pages[0].n_packed = 1 << 20


def _other_rows(file: File) -> None:
    file.total = 5


@pytest.mark.parametrize(
    "change", [_shared, _many_values, _large_page, _large_page_of_zstandard, _long_page, _other_rows]
)
def test_sizes_that_cannot_be(change: Callable[[File], None], tmp_path: Path) -> None:
    """Pages that columns share were looked at again and again; sizes of gigabytes were taken as they were."""
    file = written_by_hand(3)
    change(file)
    data, path = file.written(), tmp_path / "x.parquet"
    path.write_bytes(data)
    problem = "its sizes are impossible"
    for read in (dh.read_run, read_records):
        with pytest.raises(FileFormatError, match=problem):
            read(path)
    with pytest.raises(FileFormatError, match=problem):
        read_table(data, path)


def test_a_footer_that_is_very_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "LONGEST_LINE", 100)
    (tmp_path / "x.parquet").write_bytes(written_by_hand().written())
    with pytest.raises(FileFormatError, match=r"footer .* more than the 100"):
        dh.read_run(tmp_path / "x.parquet")


def test_a_damaged_table_in_a_saved_evaluation(tmp_path: Path) -> None:
    """Its page asked for two gigabytes, and `gate` aborted."""
    path = tmp_path / "x.json"
    dh.evaluate({"q1": {"d": 1}}, {"q1": {"d": 1.0}}, "RR").save(path)
    document = json.loads(path.read_text())
    file = written_by_hand()
    _large_page_of_zstandard(file)
    document["data"]["queries"] = base64.b64encode(file.written()).decode()
    document["sha256"] = checksum(document)
    path.write_text(json.dumps(document))
    with raises_parts(FileFormatError, "its sizes are impossible", path=path):
        dh.load_evaluation(path)
