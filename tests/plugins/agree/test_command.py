"""deadheat agree."""

from __future__ import annotations

import csv
import io
import json
import re
from itertools import combinations
from pathlib import Path

import pytest

from support.command import call, ok

NAMES = ("bm25", "less", "dense")


@pytest.fixture(autouse=True)
def runs(folder: Path) -> None:
    (folder / "dense.run").write_text("q1 Q0 d2 1 5 t\nq1 Q0 d1 2 4 t\nq2 Q0 d3 1 1 t\n", encoding="utf-8")


def test_two_runs() -> None:
    out = ok("agree", "bm25.run", "dense.run", "--full")
    assert "tau_b" in out
    assert "rbo_a" in out
    assert "persistence of rbo" in out


def test_every_pair_of_several_runs_as_json() -> None:
    document = json.loads(ok("agree", "bm25.run", "dense.run", "bm25.run", "-k", "2", "-p", "0.5", "--format", "json"))
    assert len(document["agreement"]) == 3
    assert (document["cutoff"], document["p"]) == (2, 0.5)


def test_what_pairs_are_of_is_told_pair_by_pair() -> None:
    """The second run lacks a query, the third has all of the first: nothing of one pair is taken for another's."""
    ok_json = ["agree", "bm25.run", "less.run", "dense.run", "--format", "json"]
    lines = Path("bm25.run").read_text(encoding="utf-8").splitlines(keepends=True)
    Path("less.run").write_text("".join(one for one in lines if one.startswith("q1 ")), encoding="utf-8")
    document = json.loads(ok(*ok_json))
    queries = {name: {line.split()[0] for line in Path(f"{name}.run").read_text().splitlines()} for name in NAMES}
    for one, other in combinations(NAMES, 2):
        pair = document["pairs"][f"{one}, {other}"]
        assert pair["n_queries"] == len(queries[one] & queries[other])
        assert pair["left_out"] == {
            one: sorted(queries[one] - queries[other]),
            other: sorted(queries[other] - queries[one]),
        }
    assert set(document["tied"]) == set(NAMES)
    out = ok(*ok_json[:-2], "--full")
    assert "bm25, less: 1 query" in out
    assert "that only bm25 has, not less: " in out
    assert out.count("in ties") == 1


def test_what_all_pairs_share_is_told_once() -> None:
    out = ok("agree", "bm25.run", "bm25.run", "bm25.run")
    assert out.count("in both  ") == 1
    assert "each of 3 pairs: " in out


def test_queries_as_csv() -> None:
    rows = list(csv.DictReader(io.StringIO(ok("agree", "bm25.run", "bm25.run", "--per-query", "--format", "csv"))))
    assert {row["query_id"] for row in rows} >= {"q1"}
    assert {row["rbo_w"] for row in rows} == {"1.0"}


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("bm25.run",), 2, "give two runs"),
        (("bm25.run", "dense.run", "-p", "1"), 2, "between 0 and 1"),
        (("bm25.run", "dense.run", "-k", "0"), 2, "a whole number from 1 on"),
        (("bm25.run", "no.run"), 3, "no such file"),
    ],
)
def test_bad_input_is_named(arguments: tuple[str, ...], code: int, message: str) -> None:
    result = call("agree", *arguments)
    assert (result.exit_code, message in result.output) == (code, True), result.output


@pytest.mark.filterwarnings("default::deadheat.core.errors.DeadheatWarning")
@pytest.mark.parametrize(
    ("name", "row"),
    [
        ("{}.txt", "{query} 0 {doc} {level}\n"),
        ("{}.csv", "{query},{doc},{level}\n"),
        ("{}.jsonl", '{{"query_id": "{query}", "doc_id": "{doc}", "relevance": {level}}}\n'),
        ("{}.json", ""),
    ],
)
def test_two_qrels_are_judgments(name: str, row: str) -> None:
    """Whatever their format; JSON may be a run too, so that it is a warning."""
    for file in ("one", "two"):
        levels = {f"q{q}": {f"d{d}": (d + len(file)) % 3 for d in range(4)} for q in range(3)}
        rows = "".join(row.format(query=q, doc=d, level=n) for q, own in levels.items() for d, n in own.items())
        head = "query_id,doc_id,relevance\n" if name.endswith("csv") else ""
        Path(name.format(file)).write_text(head + rows or json.dumps(levels))
    result = call("agree", name.format("one"), name.format("two"))
    assert result.exit_code == (0 if name.endswith("json") else 3)
    assert re.search("these are judgments", " ".join(result.stderr.split()), re.IGNORECASE)
