"""deadheat evaluate --score-columns: which column or feature ranks best."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import deadheat as dh
from deadheat.core.stats.selection import resample_choice
from support.command import call, ok

HEAD = "query_id,doc_id,relevance,good,tied,low,name"
ROWS = [f"q{n // 4},d{n % 4},{n % 4},{n % 4},{n % 4 // 2},{-(n % 4)},x" for n in range(40)]
LETOR = "".join(f"{n % 4} qid:{n // 4} 1:{n % 4} 2:{n % 4 // 2} 3:{-(n % 4)} # docid = d{n % 4}\n" for n in range(40))
pytestmark = pytest.mark.usefixtures("folder")


@pytest.fixture(autouse=True)
def files(folder: Path) -> None:
    (folder / "x.csv").write_text("\n".join([HEAD, *ROWS]) + "\n")
    (folder / "train.txt").write_text(LETOR)
    (folder / "labels.txt").write_text("".join(f"q{n // 4} 0 d{n % 4} {n % 4}\n" for n in range(40)))


def rows_of(found: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the rows of the table in their order."""
    return [{"column": name, **row} for name, row in found["columns"].items()]


def test_columns_are_listed_best_first() -> None:
    out = ok("evaluate", "labels.txt", "x.csv", "--score-columns", "all", "-m", "nDCG RR(rel=3)", "--format", "json")
    found = json.loads(out)
    rows = rows_of(found)
    assert [row["column"] for row in rows] == ["good", "tied", "low"]
    alone = dh.evaluate_columns("labels.txt", "x.csv", ["nDCG", "RR(rel=3)"])
    for row in rows:
        own = alone[row["column"]]
        assert row["nDCG"] == own["nDCG"].mean
        assert row["RR(rel=3)"] == own["RR(rel=3)"].mean
        assert (row["tie_min"], row["tie_max"]) == (own["nDCG"].mean_tie_min, own["nDCG"].mean_tie_max)
        turned = dh.evaluate_columns("labels.txt", "x.csv", "nDCG", [row["column"]], ascending=True)
        assert row["reversed"] == turned[row["column"]]["nDCG"].mean
    assert [row["tied"] for row in rows] == [0.0, 1.0, 0.0]
    assert [row["best_share"] for row in rows] == [1.0, 0.0, 0.0]
    assert found["better_reversed"] == ["low"]
    assert found["selection"]["best"] == "good"
    assert found["notes"] == ["columns that hold no numbers are left out: name"]


def test_a_measure_has_the_name_that_was_asked_for() -> None:
    arguments = ("evaluate", "labels.txt", "x.csv", "--score-columns", "all", "-m", "MAP")
    assert all("MAP" in row for row in rows_of(json.loads(ok(*arguments, "--format", "json"))))
    assert "selection MAP of column" in " ".join(ok(*arguments).split())


def test_the_direction_can_be_turned() -> None:
    found = json.loads(
        ok(
            "evaluate",
            "labels.txt",
            "x.csv",
            "--score-columns",
            "good,low",
            "--ascending",
            "-m",
            "nDCG",
            "--format",
            "json",
        )
    )
    assert [row["column"] for row in rows_of(found)] == ["low", "good"]
    assert found["better_reversed"] == ["good"]


@pytest.mark.parametrize(
    "arguments", [["train.txt"], ["train.txt", "train.txt", "--score-columns", "all"], ["train.txt", "train.txt"]]
)
def test_letor_holds_all(arguments: list[str]) -> None:
    found = json.loads(ok("evaluate", *arguments, "-m", "nDCG", "--format", "json"))
    assert [row["column"] for row in rows_of(found)] == ["1", "2", "3"]
    assert rows_of(found)[0]["nDCG"] == 1.0
    assert found["n_queries"] == 10


def test_other_qrels_and_one_feature_as_a_run() -> None:
    assert "tied" in ok("evaluate", "x.csv", "--score-columns", "tied,good")
    text = LETOR.replace("qid:", "qid:q")
    Path("other.letor").write_text(text, encoding="utf-8")
    found = json.loads(ok("evaluate", "labels.txt", "other.letor", "-m", "nDCG", "--format", "json"))
    assert [row["column"] for row in rows_of(found)] == ["1", "2", "3"]
    one = ok("evaluate", "labels.txt", "other.letor", "-m", "nDCG", "--columns", "run.score=2")
    assert f"{dh.evaluate_columns('labels.txt', 'other.letor', 'nDCG')['2']['nDCG'].mean:.4f}" in one


def test_csv_and_text_have_the_same_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    result = call("evaluate", "x.csv", "--score-columns", "all", "-m", "RR P@1", "--format", "csv")
    rows = list(csv.DictReader(result.stdout.splitlines()))
    assert [row["column"] for row in rows] == ["good", "tied", "low"]
    assert "Note: selection: RR of column good is too high by" in result.stderr
    text = ok("evaluate", "x.csv", "--score-columns", "all", "-m", "RR P@1")
    for row in rows:
        assert f"{float(row['P@1']):.4f}" in text
    assert "1 column would rank better ascending, as --ascending does: low" in text
    assert "could pass" not in text


def test_ties_that_may_change_the_best_are_told() -> None:
    text = "query_id,doc_id,relevance,a,b\nq,d,1,2,1\nq,e,0,3,1\nq,f,0,1,0\n"
    Path("small.csv").write_text(text, encoding="utf-8")
    found = json.loads(ok("evaluate", "small.csv", "--score-columns", "all", "-m", "RR", "--format", "json"))
    assert [row["column"] for row in rows_of(found)] == ["b", "a"]
    assert found["effect_of_ties"] == {"column": "b", "range": 0.5, "could_pass_the_best": []}
    assert "selection" not in found  # of one query there are no resamples


def test_what_rounding_leaves_is_no_way_past_the_best() -> None:
    """Reciprocal ranks 6, 2, 2 and 2, 2, 6 have the same mean, and another last digit in the order of the queries."""
    rows = [
        f"{query},d{rank},{int(rank == 0)},{9 - (a - 0.5 if rank == 0 else rank)},{9 - (b if rank == 0 else rank)}"
        for query, a, b in (("q1", 6, 1.5), ("q2", 2, 1.5), ("q3", 2, 6))  # in b it ties once, at rank 6
        for rank in range(8)
    ]
    Path("small.csv").write_text("\n".join(["query_id,doc_id,relevance,a,b", *rows]), encoding="utf-8")
    found = json.loads(ok("evaluate", "small.csv", "--score-columns", "all", "-m", "RR", "--format", "json"))
    level = found["columns"]["a"]["RR"]
    assert found["columns"]["b"]["tie_max"] == pytest.approx(level, abs=1e-15)
    assert found["columns"]["b"]["tie_max"] > level > found["columns"]["b"]["RR"]
    assert found["effect_of_ties"]["could_pass_the_best"] == []


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["labels.txt"], 2, "Missing argument 'RUN...'"),
        (["labels.txt", "bm25.run", "--score-columns", "all"], 3, "trec has one score a document, expected a table"),
        (
            ["labels.txt", "x.csv", "x.csv", "--score-columns", "all"],
            2,
            "--score-columns evaluates one table, got 2 files",
        ),
        (
            ["labels.txt", "--repeats", "x=*.*", "--score-columns", "all"],
            2,
            "--score-columns is not for repeats of a run",
        ),
        (["labels.txt", "x.csv", "--score-columns", "goood"], 3, "Did you mean 'good'?"),
        (["labels.txt", "x.csv", "--score-columns", "name"], 3, "x.csv:2: name must be a number, got 'x'"),
        (["labels.txt", "x.csv", "--score-columns", ","], 2, "--score-columns"),
        (["labels.txt", "x.csv", "--score-columns", "all", "--ci"], 2, "--ci is not for columns"),
        (["labels.txt", "x.csv", "--score-columns", "all", "--then-by", "low"], 2, "--then-by is not for columns"),
        *(
            (["labels.txt", "x.csv", "--score-columns", "all", *given], 2, f"{given[0]} is not for columns")
            for given in (
                ["--beside", "doc_id"],
                ["--cluster", "c"],
                ["--figures", "drawn"],
                ["--collection", "labels.txt", "--strict"],
                ["--normalize-ids", "NFC"],
                ["--grades", "drop"],
                ["--unjudged", "bounds"],
            )
        ),
        (["labels.txt", "x.csv", "--score-columns", "all", "--format", "trec"], 2, "no place for columns"),
        (["train.txt", "--score-columns", "4"], 3, "no column '4' in the table, expected one of '1', '2', '3'"),
        (["labels.txt", "nowhere.csv", "--score-columns", "all"], 3, "no such file"),
    ],
)
def test_what_cannot_be_done_is_said(arguments: list[str], code: int, message: str) -> None:
    result = call("evaluate", *arguments)
    assert (result.exit_code, message in result.stderr) == (code, True), result.stderr


def test_resamples_of_a_choice_agree_with_a_loop() -> None:
    """The same draws, one query after the other; and an exact case of two queries."""
    rng = np.random.default_rng(3)
    values = rng.normal(size=(4, 9)).round(1)
    values[1, 2] = np.nan
    found = resample_choice(values, n_resamples=200, rng=7)
    wins, optimism = np.zeros(4), 0.0
    for counts in np.random.default_rng(7).multinomial(9, np.full(9, 1 / 9), size=200):
        drawn = np.repeat(np.arange(9), counts)
        means = np.array([np.nanmean(row[drawn]) for row in values])
        best = np.flatnonzero(np.isclose(means, means.max(), rtol=0, atol=1e-12))
        wins[best] += 1 / len(best)
        optimism += means.max() - np.nanmean(values[best], axis=1).mean()
    np.testing.assert_allclose(found.shares, wins / 200, atol=1e-12)
    np.testing.assert_allclose(found.optimism, optimism / 200, atol=1e-12)
    lower = resample_choice(-values, higher_is_better=False, n_resamples=200, rng=7)
    np.testing.assert_allclose(lower.shares, found.shares)
    two = resample_choice(np.array([[1.0, 0.0], [0.0, 0.9]]), n_resamples=100_000)
    # a wins if q1 is drawn twice or each once (3 of 4), and is then 1 and .5 instead of .5; b is .9 instead of .45
    np.testing.assert_allclose(two.shares, [0.75, 0.25], atol=0.006)
    np.testing.assert_allclose(two.optimism, 0.25 * 0.5 + 0.25 * 0.45, atol=0.004)
