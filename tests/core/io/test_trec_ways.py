"""TREC files: the fast way and the slow way equal a plain reading, and refuse the same lines."""

from __future__ import annotations

import math
from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl
import pytest
from hypothesis import example, given, strategies as st

from deadheat.api import read_value
from deadheat.core.io import files, splitting
from deadheat.core.io.byte_counts import count_blanks, normalize_blanks
from deadheat.core.io.formats import scan, trec
from deadheat.core.io.formats.trec import read_lines
from deadheat.errors import DataError


def read(path: Path) -> pl.DataFrame:
    frame = scan(path, "run").rows
    assert isinstance(frame, pl.DataFrame)
    return frame


def written(tmp_path: Path, content: str | bytes, name: str = "x.run") -> Path:
    path = tmp_path / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def plain_reading(text: str) -> list[tuple[str, str, float]]:
    rows = [line.split() for line in text.splitlines()]
    return [(row[0], row[2], float(row[4])) for row in rows if row]


ids = st.text(
    st.characters(
        codec="utf-8", exclude_categories=["Cc"], exclude_characters=" \u2028\u2029\ufeff", max_codepoint=0x2FFF
    ),
    min_size=1,
)
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


@pytest.mark.slow
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
    parsed = [trec._read_block(block, "run", path) for block in files.blocks(path, 40) if block.strip()]
    by_blocks = pl.concat([slow.clear(), *(block for block in parsed if block is not None)])
    assert exact_rows(by_blocks) == exact_rows(frame)


soup = st.lists(
    st.sampled_from(["q", "d1", "1", "2.5", "x", "nan", " ", " ", " ", "\t", "\n", "\n", "\r\n", "q Q0 d 1 2 t\n"]),
    max_size=40,
).map("".join)


@pytest.mark.slow
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
    parsed = splitting.split(f"q Q0 d 1 {text} t\n".encode(), "run", " ")
    value = None if parsed is None else parsed["score"].item()
    try:
        expected = read_value(text, "run", path=Path("x"), line=1)
    except DataError:
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
    assert counted.lacks_final_newline == (not (b"\n" + data).endswith(b"\n"))
    lines = [b" ".join(line.split()) for line in data.split(b"\n")]
    assert normalize_blanks(data) == b"".join(line + b"\n" for line in lines if line)


def test_blanks_are_counted_across_steps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = b"a b\r\nc  d\n\n e\r\n"
    for step in range(1, 9):
        monkeypatch.setattr("deadheat.core.io.byte_counts._STEP", step)
        counted = count_blanks(data)
        assert (counted.n_blanks, counted.n_pairs, counted.lacks_final_newline) == (10, 5, False)
        of_file = count_blanks(written(tmp_path, data))
        assert (of_file.n_blanks, of_file.n_pairs, of_file.n_crlf) == (
            counted.n_blanks,
            counted.n_pairs,
            counted.n_crlf,
        )


@given(st.lists(st.text("bx ", max_size=3), max_size=6), st.booleans(), st.integers(1, 9))
def test_a_line_that_ends_otherwise_is_seen_across_steps(lines: list[str], ends: bool, step: int) -> None:  # noqa: FBT001 - hypothesis gives it
    text = "\n".join(lines) + "\n" * ends
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr("deadheat.core.io.byte_counts._STEP", step)
        found = count_blanks(written(Path(folder), text.encode()), ord("b"))
    assert found.ends_otherwise == any(not line.endswith("b") for line in text.splitlines())
