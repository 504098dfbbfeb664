"""A run that is read ahead is the run that is read; nothing is begun that is not TREC as it is mostly written."""

from __future__ import annotations

import gzip
import subprocess
import sys
from typing import TYPE_CHECKING

import polars as pl
import pytest

import deadheat as dh
from deadheat import __main__
from deadheat.core.data.rows import MemoryRows, make_blocks
from deadheat.core.io import splitting
from deadheat.core.io.unpacking import HEAD
from deadheat.errors import DataError, MalformedRowError
from support.error_parts import raises_parts

if TYPE_CHECKING:
    from pathlib import Path

GOOD = "".join(f"q{n // 10} Q0 d{n} 1 {n / 7} tag\n" for n in range(1_000))


@pytest.fixture(autouse=True)
def nothing_is_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(splitting, "_begun", {})
    monkeypatch.setattr(splitting, "SMALL", 0)  # files of tests are


def written(folder: Path, content: str | bytes) -> Path:
    """Write x.run beside and rename it: Polars may still read the last one, whose pages a shorter file would take."""
    path, beside = folder / "x.run", folder / "beside"
    beside.write_bytes(content.encode() if isinstance(content, str) else content)
    return beside.replace(path)


def begin(*paths: Path) -> None:
    splitting.begin({path: path.stat().st_size for path in paths if path.exists()})


def test_only_so_many_files_are_read_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Polars waits for ever where it is given a thousand."""
    paths = [tmp_path / f"{n}.run" for n in range(5)]
    for path in paths:
        path.write_text(GOOD)
    monkeypatch.setattr(splitting, "MOST_FILES", 2)
    pieces = list(splitting.group_in_pieces(paths, lambda path: path))
    assert pieces == [paths[:2], paths[2:4], paths[4:]]


@pytest.mark.parametrize("separator", [" ", "\t"])
def test_what_was_begun_is_what_is_read(separator: str, tmp_path: Path) -> None:
    path = written(tmp_path, GOOD.replace(" ", separator))
    expected = dh.Run(path).to_polars()
    begin(path)
    assert len(splitting._begun) == 1
    found = dh.Run(path).to_polars()
    assert found.equals(expected)
    assert found["score"].to_list() == [n / 7 for n in range(1_000)]
    assert not splitting._begun, "it is held for one reader"
    assert dh.Run(path).to_polars().equals(expected)


def test_no_more_at_a_time_than_one_piece(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path, GOOD)
    begin(path)
    begin(written(tmp_path, GOOD * 2))
    assert len(splitting._begun) == 1
    several = [tmp_path / f"{n}.run" for n in range(5)]
    for one in several:
        one.write_text(GOOD)
    monkeypatch.setattr(splitting, "PIECE", 3 * len(GOOD))
    begin(*several)
    assert [*splitting._begun] == several[:3]
    runs = dh.evaluate({"q1": {"d11": 1}}, {one.name: one for one in several}, ["RR"])
    assert {one.means()["RR"] for one in runs.values()} == {1 / 9}
    assert not splitting._begun
    monkeypatch.setattr(splitting, "PIECE", 1)
    begin(*several)
    assert len(splitting._begun) == 1, "a run larger than a piece is one"


ODD = {  # what is odd about one of several small files, and the line that an error names
    "nothing": (GOOD.replace("tag", "other"), None),
    "no newline at the end": (GOOD.removesuffix("\n"), None),
    "a tag that ends as a number may": (GOOD.replace("tag", "bm25"), None),
    "a tab": (GOOD.replace(" ", "\t"), None),
    "a blank line": (GOOD + "\n" + GOOD.replace("q", "r"), None),
    "an id of two bytes": (GOOD.replace("d9 ", "d\u00e9 "), None),
    "no number": (GOOD + "q9 Q0 d 1 x t\n", 1001),
    "a short row": (GOOD + "q9 Q0 d 1 0.5\n" + GOOD.replace("q", "r"), 1001),
    "a short row and a long one": (GOOD + "r Q0 d 1 0.5\nr Q0 e 1 0.5 tag tag\n", 1001),
    "a line in two": (GOOD + "r Q0 d 1\n0.5 tag\n" + GOOD.replace("q", "s"), 1001),
    "no tag in the last row": (GOOD + "r Q0 d 1 0.5\n", 1001),
}


@pytest.mark.parametrize(("content", "line"), ODD.values(), ids=ODD)
@pytest.mark.parametrize("place", range(3))
def test_small_files_that_are_split_as_one(
    content: str, line: int | None, place: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each is what it is by itself, whatever the one above or below it holds."""
    monkeypatch.setattr(splitting, "SMALL", 1 << 20)
    texts = [GOOD, GOOD.replace("d", "e"), GOOD.replace("q", "r")]
    texts[place] = content
    paths = [tmp_path / f"{n}.run" for n in range(3)]
    for path, text in zip(paths, texts, strict=True):
        path.write_text(text)
    begin(*paths)
    assert len(splitting._begun) == 3
    others = [path for path in paths if path != paths[place]]
    sources = [splitting.SplitSource(path, "run", " ", reads_last_field=False) for path in others]
    assert len(splitting._split_as_one(sources)) == 2
    for n, path in enumerate(paths):
        if n == place and line is not None:
            with pytest.raises(DataError, match=rf"{n}\.run:{line}"):
                dh.Run(path)
        else:
            found = dh.Run(path).to_polars()
            assert path not in splitting._begun
            rows = [line.split() for line in texts[n].splitlines() if line]
            assert found.rows() == [(row[0], row[2], float(row[4])) for row in rows]


def test_a_file_that_changed_is_read_again(tmp_path: Path) -> None:
    path = written(tmp_path, GOOD)
    begin(path)
    written(tmp_path, GOOD.replace("d1 ", "d_1 "))
    assert dh.Run(path).to_polars()["doc_id"][1] == "d_1"


@pytest.mark.parametrize(
    "content",
    [
        "",
        "q 0 d 1\n" * 100,
        "q,d,1\n" * 100,
        GOOD.replace(" Q0 ", "  Q0 "),
        GOOD.replace(" tag", " tag "),
        GOOD.replace("\n", "\r\n").replace(" ", "\t", 1),
        "\ufeff" + GOOD,
        gzip.compress(GOOD.encode()),
    ],
    ids=["empty", "qrels", "csv", "two blanks", "a blank at the end", "mixed", "mark", "compressed"],
)
def test_other_files_are_not_begun(content: str | bytes, tmp_path: Path) -> None:
    begin(written(tmp_path, content))
    begin(tmp_path)
    begin(tmp_path / "none")
    assert not splitting._begun


@pytest.mark.parametrize("bad", ["q9 Q0 d 1 0.5\n", "q9 Q0 d 1 0.5 t t\n", "q9 Q0 d 1 x t\n"])
def test_what_is_wrong_is_said_with_its_line(bad: str, tmp_path: Path) -> None:
    lines = GOOD * 5  # longer than what is looked at before
    assert len(lines) > HEAD
    path = written(tmp_path, lines.replace("q", "r") + bad + GOOD)
    begin(path)
    assert splitting._begun
    with pytest.raises((MalformedRowError, DataError), match=r"x\.run:5001"):
        dh.Run(path)


@pytest.mark.parametrize("tag", ["tag", "bm25", "Run_1.", "x", "\u00e9"])
@pytest.mark.parametrize("is_begun", [True, False])
def test_a_short_row_that_a_long_one_makes_up_for(tag: str, tmp_path: Path, *, is_begun: bool) -> None:
    lines = GOOD.replace("tag", tag) * 5
    bad = f"q9 Q0 d1 1 0.5\nq9 Q0 d2 2 0.4 {tag} {tag}\n"
    path = written(tmp_path, lines.replace("q", "r") + bad + GOOD)
    if is_begun:
        begin(path)
    with raises_parts(MalformedRowError, "expected 6 fields .*got 5", path=path, line=5001):
        dh.Run(path)


@pytest.mark.parametrize("line_end", ["\n", ""])
@pytest.mark.parametrize("tags", [("one", "two"), ("one", "25"), ("25", "one"), ("one", "n"), ("x", "x"), ("25", "26")])
def test_runs_with_several_tags(tags: tuple[str, str], line_end: str, tmp_path: Path) -> None:
    one, other = (GOOD.replace("tag", tag).replace("q", name) for tag, name in zip(tags, "qr", strict=True))
    path = written(tmp_path, (one + one.replace("q", "s") + other).removesuffix("\n") + line_end)
    begin(path)
    found = dh.Run(path).to_polars()
    assert found["score"].to_list() == [n / 7 for n in range(1_000)] * 3
    assert found["query_id"][-1] == "r99"


def test_no_number_ends_as_a_tag_may_end() -> None:
    """Polars reads no number that ends with a byte beside those that are named."""
    ends = [chr(n) for n in range(33, 127) if n not in splitting.ENDS_OF_NUMBERS] + ["\u00e9", "\u0664", "\uff11"]
    stems = ["", "1", "-1.5", "1e5", "1e", "1E-3", ".5", "5.", "inf", "-inf", "Infinity", "nan", "NaN", "0x1", "1_0"]
    texts = [stem + end for stem in stems for end in ends]
    read = pl.read_csv(
        "\n".join(f"x {text}" for text in texts).encode(),
        has_header=False,
        separator=" ",
        quote_char=None,
        schema={"x": pl.String, "score": pl.Float64},
        ignore_errors=True,
    )
    assert read.height == len(texts)
    assert read["score"].null_count() == len(texts)
    known = pl.Series(["1", "5.", "inf", "nan", "Infinity", "-inf", "INF"]).cast(pl.Float64)
    assert not known.null_count()


@pytest.mark.parametrize("given", ["{run} -m AP", "{qrels} {run} {other}", "-o {new} {qrels} {run}"])
def test_a_command_begins_with_the_first_runs_if_they_are_large(
    given: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, other, qrels = (tmp_path / name for name in ("x.run", "y.run", "z.qrels"))
    for path in (run, other):
        path.write_text(GOOD)
    qrels.write_text("q 0 d 1\n" * 10_000)
    (tmp_path / "small.run").write_text(GOOD[:400])
    monkeypatch.setattr(__main__, "LARGE", 10_000)
    words = given.format(run=run, other=other, qrels=qrels, new=tmp_path / "new").split()
    long = "x" * 100_000  # no path may be as long
    __main__._read_ahead([long, str(tmp_path), str(tmp_path / "small.run"), *words])
    named = [
        path for path in (tmp_path / "small.run", run, other) if str(path) in [*words, str(tmp_path / "small.run")]
    ]
    assert [*splitting._begun] == named
    splitting._begun.clear()
    __main__._read_ahead([str(tmp_path / "small.run")])
    assert not splitting._begun
    __main__._read_ahead([*words, "--max-memory", "1MB"])
    __main__._read_ahead([*words, "--max-memory=1MB"])
    assert not splitting._begun, "how much may be held is not known yet"


def test_hashes_that_are_kept_are_those_of_the_ids(tmp_path: Path) -> None:
    path = written(tmp_path, GOOD)
    rows = dh.Run(path).rows
    assert isinstance(rows, MemoryRows)
    assert rows.hashes is not None
    assert rows.blocks is not None
    found = make_blocks(rows.frame)
    assert found is not None
    assert rows.blocks.hashes.to_list() == found.hashes.to_list()
    assert rows.frame.columns == ["query_id", "doc_id", "score"]
    in_blocks = dh.Run(written(tmp_path, GOOD.replace(" Q0 ", "  Q0 "))).rows
    assert isinstance(in_blocks, MemoryRows)
    assert in_blocks.hashes is None
    assert in_blocks.frame.equals(rows.frame)


def test_it_needs_no_numpy() -> None:
    """A command reads ahead before it imports anything that takes long."""
    code = "import sys, deadheat.core.io.splitting; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
