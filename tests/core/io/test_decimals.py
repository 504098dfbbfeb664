"""Decimal marks in tables: against Python's float() of the same numbers, written with a point."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

import deadheat as dh
from deadheat.errors import DeadheatWarning, MalformedRowError, ParameterError
from support.command import call, ok
from support.error_parts import raises_parts

QRELS = {"q": {"d0": 1}}


def run_of(folder: Path, scores: list[str], *, separator: str = ";", name: str = "x.csv") -> Path:
    path = folder / name
    rows = [separator.join(("query_id", "doc_id", "score"))]
    rows += [separator.join(("q", f"d{n}", score)) for n, score in enumerate(scores)]
    path.write_text("\n".join(rows) + "\n")
    return path


def scores_of(path: Path) -> list[float]:
    return dh.read_run(path).to_polars()["score"].to_list()


@pytest.mark.parametrize(
    "scores",
    [["1.500", "999"], ["999", "1,500"], ["1.500", "2.500"], ["12,345", "-999,999", "7"], ["1.000", "0", "12"]],
)
def test_a_column_that_can_be_read_in_two_ways_is_an_error(scores: list[str], tmp_path: Path) -> None:
    """999 was ranked above 1.500, which may be 1500."""
    path = run_of(tmp_path, scores)
    with raises_parts(MalformedRowError, "can be read in two ways: ", python="as with dh.decimal(','):", path=path):
        dh.read_run(path)
    result = call("convert", str(path), str(tmp_path / "out.csv"))
    assert (result.exit_code, "give --decimal" in result.stderr) == (3, True)
    for mark in ",.":
        with dh.decimal(mark):
            found = scores_of(path)
        other = {",": ".", ".": ","}[mark]
        assert found == [float(score.replace(other, "").replace(mark, ".")) for score in scores]


@pytest.mark.parametrize(
    ("scores", "mark"),
    [
        (["0.500", "0.250"], "."),
        (["1,5", "2,250"], ","),
        (["1.500", "0.5"], "."),
        (["1500", "999.123"], "."),
        (["1.500", "1e3"], "."),
        (["1234.500", "1.500"], "."),
    ],
)
def test_a_column_that_can_be_read_in_one_way_says_which(scores: list[str], mark: str, tmp_path: Path) -> None:
    run = dh.read_run(run_of(tmp_path, scores))
    assert run.to_polars()["score"].to_list() == [float(score.replace(",", ".")) for score in scores]
    (note,) = run.notes
    assert re.findall("'(.*?)'", note) == ["score", mark]
    assert dh.evaluate(QRELS, run, "RR").notes == run.notes


def test_whole_numbers_have_no_mark(tmp_path: Path) -> None:
    assert dh.read_run(run_of(tmp_path, ["3", "1500"])).notes == ()


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        (["1.234,5", "2"], r"x\.csv:2: column 'score' has numbers with commas \(line 2\) and with points \(line 2\)"),
        (["1,5", "2.5"], r"x\.csv:3: .* with commas \(line 2\) and with points \(line 3\)"),
        (["1.234.567"], r"x\.csv:2: column 'score' has '1.234.567'"),
    ],
)
def test_two_kinds_of_marks_need_the_option(scores: list[str], message: str, tmp_path: Path) -> None:
    with pytest.raises(MalformedRowError, match=message):
        dh.read_run(run_of(tmp_path, scores))


@pytest.mark.parametrize(("mark", "separator"), [(",", ";"), (".", ";"), (",", "\t"), (".", "\t")])
def test_grouped_numbers(mark: str, separator: str, tmp_path: Path) -> None:
    """Random numbers, written with and without groups of thousands."""
    rng, other = random.Random(1), {",": ".", ".": ","}[mark]
    numbers = [
        rng.choice([rng.uniform(-1, 1), rng.uniform(-1e7, 1e7), rng.randint(-(10**9), 10**9)]) for _ in range(200)
    ]
    texts = [f"{number:{rng.choice(['', ','])}}".translate({ord(","): other, ord("."): mark}) for number in numbers]
    name = "x.csv" if separator == ";" else "x.tsv"
    with dh.decimal(mark):
        assert scores_of(run_of(tmp_path, texts, separator=separator, name=name)) == [float(one) for one in numbers]


@pytest.mark.parametrize("text", ["0.500", "1.50", "1.5,25", "12.3456"])
def test_the_other_mark_groups_thousands_or_is_an_error(text: str, tmp_path: Path) -> None:
    with dh.decimal(","), raises_parts(MalformedRowError, "'.' does not group thousands", line=2):
        dh.read_run(run_of(tmp_path, [text]))


@pytest.mark.plugins("columns")
def test_the_command_line(tmp_path: Path) -> None:
    path, qrels = run_of(tmp_path, ["1.500", "999"]), tmp_path / "qrels.txt"
    qrels.write_text("q 0 d1 1\n")
    found = [ok("evaluate", str(qrels), str(path), "-m", "RR", "--format", "csv", "--decimal", mark) for mark in ",."]
    assert [line.splitlines()[1].split(",")[2] for line in found] == ["0.5", "1.0"]
    table = [
        ok(
            "evaluate",
            str(qrels),
            str(path),
            "--score-columns",
            "score",
            "-m",
            "RR",
            "--format",
            "csv",
            "--decimal",
            mark,
        )
        for mark in ",."
    ]
    assert ["0.5" in table[0], "1.0" in table[1]] == [True, True]


def test_what_is_no_mark() -> None:
    with raises_parts(ParameterError, argument="decimal", given=";", allowed=(",", ".")):
        dh.decimal(";")
    with pytest.warns(DeadheatWarning, match=r"dh.decimal\(\) has no effect"):
        dh.decimal(",")
