"""Writing: what is written comes back, and a failure leaves nothing behind."""

from __future__ import annotations

import gzip
import io
import os
import threading
from typing import TYPE_CHECKING, Any, BinaryIO

import polars as pl
import pytest
from hypothesis import given, strategies as st

from deadheat.core.io.formats import scan, write
from deadheat.errors import DataError, ParameterError
from support.error_parts import raises_parts

if TYPE_CHECKING:
    from pathlib import Path

    from deadheat.api import Kind

PLAIN = ["x.run", "x.csv", "x.tsv", "x.jsonl", "x.json", "x.parquet"]
NAMES = PLAIN + [name + suffix for name in PLAIN[:-1] for suffix in (".gz", ".zst")]
RUN = pl.DataFrame({"query_id": ["b", "a", "b", "b"], "doc_id": ["1", "1", "02", "3"], "score": [0.1, 2.0, 1e16, 0.1]})
QRELS = pl.DataFrame({"query_id": ["b", "a", "b"], "doc_id": ["1", "1", "02"], "relevance": [2.0, -1.0, 0.25]})


def frame_of(rows: list[tuple[str, str, float]], value: str) -> pl.DataFrame:
    return pl.DataFrame(rows, schema={"query_id": pl.String, "doc_id": pl.String, value: pl.Float64}, orient="row")


def rows_read(path: Path, kind: Kind) -> list[tuple[str, str, str]]:
    found = scan(path, kind).rows
    if isinstance(found, dict):
        return [(query, doc, repr(float(value) + 0.0)) for query, docs in found.items() for doc, value in docs.items()]
    assert isinstance(found, pl.DataFrame)
    frame = found
    return [(query, doc, repr(value + 0.0)) for query, doc, value in frame.iter_rows()]


def expected_rows(rows: list[tuple[str, str, float]], name: str) -> list[tuple[str, str, str]]:
    first_of = {query: n for n, (query, _, _) in reversed(list(enumerate(rows)))}
    ordered = sorted(rows, key=lambda row: first_of[row[0]]) if ".json" in name and ".jsonl" not in name else rows
    return [(query, doc, repr(value + 0.0)) for query, doc, value in ordered]  # -0.0 is 0.0, with which it ties


def test_trec_run(tmp_path: Path) -> None:
    write(RUN, tmp_path / "x.run", "run", tag="bm25")
    assert (tmp_path / "x.run").read_text() == (
        "b Q0 1 2 0.1 bm25\na Q0 1 1 2.0 bm25\nb Q0 02 1 1e+16 bm25\nb Q0 3 3 0.1 bm25\n"
    )


def test_relevance_without_a_fraction_is_an_integer(tmp_path: Path) -> None:
    texts = {}
    for name in ("x.qrels", "x.csv", "x.tsv", "x.jsonl", "x.json"):
        write(QRELS, tmp_path / name, "qrels")
        texts[name] = (tmp_path / name).read_text()
    assert texts == {
        "x.qrels": "b 0 1 2\na 0 1 -1\nb 0 02 0.25\n",
        "x.csv": "query_id,doc_id,relevance\nb,1,2\na,1,-1\nb,02,0.25\n",
        "x.tsv": "query_id\tdoc_id\trelevance\nb\t1\t2\na\t1\t-1\nb\t02\t0.25\n",
        "x.jsonl": (
            '{"query_id":"b","doc_id":"1","relevance":2}\n{"query_id":"a","doc_id":"1","relevance":-1}\n'
            '{"query_id":"b","doc_id":"02","relevance":0.25}\n'
        ),
        "x.json": '{"b": {"1": 2, "02": 0.25},\n"a": {"1": -1}}\n',
    }


def test_the_format_can_be_given_and_the_suffix_compresses(tmp_path: Path) -> None:
    write(RUN, tmp_path / "x.dat.gz", "run", format="csv")
    assert gzip.decompress((tmp_path / "x.dat.gz").read_bytes()).startswith(b"query_id,doc_id,score\nb,1,0.1\n")


def test_an_existing_file_is_replaced_and_extra_columns_stay_out(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("old")
    write(RUN.with_columns(extra=1), path, "run")
    assert rows_read(path, "run") == expected_rows(RUN.rows(), "x.csv")
    assert [entry.name for entry in tmp_path.iterdir()] == ["x.csv"]


def test_a_link_stays_and_its_target_keeps_its_mode(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    target, link, dangling = tmp_path / "deep" / "x.csv", tmp_path / "link.csv", tmp_path / "dangling.csv"
    target.write_text("old")
    target.chmod(0o600)
    link.symlink_to(target)
    dangling.symlink_to("deep/new.csv")
    for path in (link, dangling):
        write(RUN, path, "run")
        assert path.is_symlink()
        assert rows_read(path, "run") == expected_rows(RUN.rows(), "x.csv")
    assert target.stat().st_mode & 0o777 == 0o600
    assert sorted(entry.name for entry in (tmp_path / "deep").iterdir()) == ["new.csv", "x.csv"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
@pytest.mark.parametrize("name", ["x.csv", "x.parquet", "x.run.gz"])
def test_a_pipe_gets_the_bytes_and_stays(tmp_path: Path, name: str) -> None:
    pipe, read = tmp_path / name, list[bytes]()
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()), daemon=True)
    reader.start()
    write(RUN, pipe, "run")
    reader.join(10)
    assert pipe.is_fifo()
    assert [entry.name for entry in tmp_path.iterdir()] == [name]
    (tmp_path / f"copy-{name}").write_bytes(read[0])
    assert rows_read(tmp_path / f"copy-{name}", "run") == expected_rows(RUN.rows(), name)


def test_a_folder_is_not_replaced(tmp_path: Path) -> None:
    directory = tmp_path / "x.csv"
    directory.mkdir()  # it cannot be written to, and must not be replaced
    with pytest.raises(IsADirectoryError):
        write(RUN, directory, "run")
    assert directory.is_dir()
    assert [entry.name for entry in tmp_path.iterdir()] == ["x.csv"]


def test_an_open_file(tmp_path: Path) -> None:
    held = io.BytesIO()
    write(RUN, held, "run", format="csv")
    write(RUN, tmp_path / "x.csv", "run")
    assert held.getvalue() == (tmp_path / "x.csv").read_bytes()


def test_a_long_name(tmp_path: Path) -> None:
    path = tmp_path / ("é" * 120 + ".csv")
    write(RUN, path, "run")
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("name", NAMES)
def test_a_failure_leaves_nothing_behind(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_frame: pl.DataFrame, file: BinaryIO, **_options: object) -> None:
        file.write(b"half")
        raise OSError(28, "No space left on device")

    path = tmp_path / name
    path.write_text("old")
    monkeypatch.setattr(pl.DataFrame, "write_parquet" if "parquet" in name else "write_csv", fail)
    with pytest.raises(OSError, match="No space left"):
        write(RUN, path, "run")
    assert path.read_text() == "old"
    assert [entry.name for entry in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize(
    ("rows", "error", "message"),
    [
        ([("q", "", 1.0)], DataError, "'doc_id' holds a null or empty id"),
        ([(None, "d", 1.0)], DataError, "'query_id' holds a null or empty id"),
        ([("q", "my doc", 1.0)], DataError, "doc_id cannot be 'my doc': write .csv"),
        ([("q\x00", "d", 1.0)], DataError, "query_id cannot be"),
        ([("\ufeffq", "d", 1.0)], DataError, "query_id cannot be"),
    ],
)
def test_what_could_not_be_read_back_is_not_written(
    tmp_path: Path, rows: list[Any], error: type[DataError], message: str
) -> None:
    with pytest.raises(error, match=message):
        write(frame_of(rows, "score"), tmp_path / "x.run", "run")
    assert list(tmp_path.iterdir()) == []


def test_wrong_arguments(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="tag must be one word"):
        write(RUN, tmp_path / "x.run", "run", tag="my system")
    with pytest.raises(ParameterError, match="unknown format"):
        write(RUN, tmp_path / "x.run", "run", format="xml")
    with pytest.raises(DataError, match="no such folder"):
        write(RUN, tmp_path / "none" / "x.run", "run")


@pytest.mark.parametrize("control", ["\0", "\n", "\r", "\x1b", "\x7f", "\x9b", "\u2028"])
def test_control_characters_are_written_to_parquet_alone(tmp_path: Path, control: str) -> None:
    frame = frame_of([("q", f"d{control}", 1.0)], "score")
    for name in ("x.csv", "x.tsv", "x.jsonl", "x.json", "x.run"):
        with pytest.raises(DataError, match=r"doc_id (cannot|.* control)"):
            write(frame, tmp_path / name, "run")
    write(frame, tmp_path / "x.parquet", "run")
    if control == "\0":
        with pytest.raises(DataError, match=r"control character U\+0000"):
            rows_read(tmp_path / "x.parquet", "run")
    else:
        assert rows_read(tmp_path / "x.parquet", "run") == [("q", f"d{control}", "1.0")]


texts = st.text(
    st.characters(codec="utf-8", exclude_categories=["Cc"], exclude_characters="\u2028\u2029\ufeff"),
    min_size=1,
    max_size=6,
)
words = texts.filter(lambda text: len(text.encode().split()) == 1 and text.encode().split()[0] == text.encode())
looks_like_something = st.sampled_from(
    ["0880", "1.50", "true", "null", "NaN", '"', "''", "#", "query_id", "{", "-", "inf"]
)


def rows_of(ids: st.SearchStrategy[str], values: st.SearchStrategy[float]) -> st.SearchStrategy[Any]:
    ids = ids | looks_like_something
    return st.lists(st.tuples(ids, ids, values), min_size=1, max_size=6, unique_by=lambda row: row[:2])


@pytest.mark.parametrize("name", NAMES)
def test_every_format_comes_back(tmp_path: Path, name: str) -> None:
    for frame, kind in ((RUN, "run"), (QRELS, "qrels")):
        path = tmp_path / name.replace(".run", f".{kind}")
        write(frame, path, kind)  # type: ignore[arg-type]
        assert rows_read(path, kind) == expected_rows(frame.rows(), name)  # type: ignore[arg-type]
        magic = {"gz": b"\x1f\x8b", "zst": b"\x28\xb5\x2f\xfd"}.get(name.rpartition(".")[2], b"")
        assert path.read_bytes().startswith(magic)


@pytest.mark.slow
@pytest.mark.parametrize("name", PLAIN)
@given(data=st.data())
def test_a_run_comes_back(name: str, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory) -> None:
    rows = data.draw(rows_of(words if ".run" in name else texts, st.floats(allow_nan=False)))
    path = tmp_path_factory.getbasetemp() / name
    write(frame_of(rows, "score"), path, "run")
    assert rows_read(path, "run") == expected_rows(rows, name)


@pytest.mark.slow
@pytest.mark.parametrize("name", PLAIN)
@given(data=st.data())
def test_qrels_come_back(name: str, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory) -> None:
    values = st.integers(-2, 3).map(float) | st.floats(allow_nan=False, allow_infinity=False).map(lambda x: x + 0.0)
    rows = data.draw(rows_of(words if ".run" in name else texts, values))
    path = tmp_path_factory.getbasetemp() / name.replace(".run", ".qrels")
    write(frame_of(rows, "relevance"), path, "qrels")
    assert rows_read(path, "qrels") == expected_rows(rows, name)


@pytest.mark.parametrize("name", ["😀" * 62 + ".run", "字" * 83 + ".trec", "x" * 251 + ".run"])
def test_a_name_of_up_to_255_bytes_can_be_written(tmp_path: Path, name: str) -> None:
    write(RUN, tmp_path / name, "run")
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_a_file_that_is_read_only_is_not_replaced(tmp_path: Path) -> None:
    path = tmp_path / "x.run"
    path.write_text("mine")
    path.chmod(0o444)
    with raises_parts(DataError, problem="is read-only, so it is not replaced", path=path):
        write(pl.DataFrame({"query_id": ["q"], "doc_id": ["d"], "score": [1.0]}), path, "run")
    assert path.read_text() == "mine"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("suffix", [".gz", ".zst"])
def test_parquet_is_not_said_to_be_compressed_as_a_whole(suffix: str, tmp_path: Path) -> None:
    hint = f"name the file 'x.parquet', without {suffix}"
    with raises_parts(ParameterError, problem="Parquet is compressed inside", hint=hint):
        write(
            pl.DataFrame({"query_id": ["q"], "doc_id": ["d"], "score": [1.0]}), tmp_path / f"x.parquet{suffix}", "run"
        )
