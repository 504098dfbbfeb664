"""deadheat ties: what it counts, and what ties decide."""

from __future__ import annotations

import csv
import json
import math
import re
from pathlib import Path

import pytest

from support.command import call, facts_of, names_in, ok, report_of
from support.report_facts import facts_by_heading
from support.shared_data import llm_qrels, llm_run, needs_shared_data

pytestmark = pytest.mark.usefixtures("folder")


def test_ties_of_a_run() -> None:
    lines = ok("ties", "bm25.run", "--at", "1,2").splitlines()
    assert lines[0] == "bm25: 4 queries, 6 documents"
    told = [re.split("  +", line) for line in lines]
    assert ["queries with ties", "1 of 4 (25%)"] in told
    assert ["documents in ties", "2 of 6 (33%), in 1 tie"] in told
    assert "     1         1    25%" in lines
    assert "     2         0     0%" in lines


def test_ties_with_qrels_say_what_they_decide() -> None:
    out = ok("ties", "bm25.run", "qrels.txt", "-m", "RR", "--full")
    rows = [line.split() for line in out.splitlines()]
    assert ["RR", "0.3125", "0.0625", "0.2500", "0.3750", "0.1250", "1", "25%"] in [row[:8] for row in rows]
    assert ["RR", "q1", "0.7500", "0.2500", "0.5000", "1.0000"] in [row[:6] for row in rows]


def test_ties_as_json() -> None:
    document = json.loads(ok("ties", "bm25.run", "qrels.txt", "-m", "RR P@1", "--at", "1", "--format", "json"))
    assert document["n_tied"] == 2
    assert document["cutoffs"]["1"] == {"n_queries": 1, "share": 0.25}
    assert document["levels"][0] == {"score": 1.0, "n_documents": 2}
    assert document["measures"]["RR"]["share_of_queries"] == 0.25
    assert set(document["worst_queries"]) == {"RR", "P@1"}


@needs_shared_data
def test_ties_of_an_llm_fit_a_screen() -> None:
    out = ok("ties", llm_run("Olz-gpt4o"), llm_qrels())
    assert "4 levels in the whole run" in out
    assert "3 (387), 2 (504), 1" in out
    assert max(map(len, out.splitlines())) <= 80


def test_ties_recommend_and_show_their_rule() -> None:
    in_brief = " ".join(ok("ties", "bm25.run", "qrels.txt", "-m", "RR").split())
    assert re.search(r"Count ties exactly: [\w ]+ RR between 0\.2500 and 0\.3750\.", in_brief)
    assert "decided RR in 1 of 4 queries" in in_brief
    assert "10% rule" not in in_brief
    report = report_of("ties", "bm25.run", "qrels.txt", "-m", "RR", "--full")
    rule = facts_by_heading(report)["10% rule"]
    assert rule.startswith("1 of 4 (25%) queries with ties")
    assert rule.endswith(": count exactly")
    (beside,) = (table.title for table in report.tables if table.title.startswith("Ties broken by "))
    assert "document id" in beside
    out = " ".join(ok("ties", "bm25.run", "qrels.txt", "-m", "RR", "--full").split())
    by_rule = ["0.3125", "0.2500", "-0.0625", "0.0625", "0.2500", "0.1250", "0.3750"]
    assert " ".join(["RR", *by_rule]) in out
    assert "RR 1.0000 1.0000 3" in out
    document = json.loads(ok("ties", "bm25.run", "qrels.txt", "-m", "RR", "--format", "json"))
    found = document["recommendation"]
    assert found == {
        "is_exact": True,
        "measure": "RR",
        "tie_min": 0.25,
        "tie_max": 0.375,
        "n_queries": 1,
        "n_evaluated": 4,
    }
    assert document["rule_of_thumb"] == {"is_exact": True, "percent": 10, "n_queries_with_ties": 1, "agrees": True}
    assert document["stability"]["RR"]["max_query"] == "q1"


def test_ties_say_why_they_may_be_left_alone() -> None:
    asked = ("ties", "bm25.run", "qrels.txt", "-m", "P@10")
    assert "Any rule for ties will do" in ok(*asked)
    document = json.loads(ok(*asked, "--format", "json"))
    assert document["recommendation"]["is_exact"] is False
    assert (document["rule_of_thumb"]["is_exact"], document["rule_of_thumb"]["agrees"]) == (True, False)
    facts = facts_of(*asked, "--full")
    assert facts["10% rule"].endswith(": count exactly; wrong here")
    assert facts["no correlation"].startswith("P@10: the difference ")


@pytest.mark.parametrize(("rule", "expected"), [("doc_id", "0.5"), ("input", "1.0")])
def test_ties_of_queries_as_csv(rule: str, expected: str) -> None:
    out = ok("ties", "bm25.run", "qrels.txt", "-m", "RR", "--per-query", "--beside", rule, "--format", "csv")
    first, of_q1, *others = csv.reader(out.splitlines())
    row = dict(zip(first, of_q1, strict=True))
    assert (row["query_id"], row["rule"]) == ("q1", rule)
    assert (row["n_documents"], row["n_relevant"], row["n_ties"], row["largest_tie"]) == ("2", "1", "1", "2")
    assert (row["tie_ratio"], row["exact"], row["traditional"]) == ("1.0", "0.75", expected)
    assert float(row["difference"]) == float(expected) - 0.75
    assert [other[1] for other in others] == ["q2", "q3", "q4"]


def test_ties_of_queries_in_every_format() -> None:
    """The same numbers; q9 has no judgments, so it is in the table without them only."""
    arguments = ("ties", "bm25.run", "qrels.txt", "-m", "RR", "--per-query", "--format")
    counts, values = ["q1", "RR", "2", "1", "1", "2"], ["0.7500", "0.5000", "-0.2500"]
    shown = [*counts, "100%", *values]
    assert " ".join(shown) in " ".join(ok(*arguments, "table").split())
    assert f"| {' | '.join([*counts, '100%', '2', '0.3010', *values])} |" in ok(*arguments, "markdown")
    assert " & ".join(shown).replace("%", r"\%") + r" \\" in ok(*arguments, "latex")
    assert json.loads(ok(*arguments, "json"))["per_query"]["q1"]["RR"] == {
        "n_documents": 2,
        "n_relevant": 1,
        "n_ties": 1,
        "n_tied": 2,
        "largest_tie": 2,
        "tie_ratio": 1.0,
        "n_orders": 2,
        "log10_orders": math.log10(2),
        "exact": 0.75,
        "tie_std": 0.25,
        "tie_min": 0.5,
        "tie_max": 1.0,
        "traditional": 0.5,
        "difference": -0.25,
        "rule": "doc_id",
    }
    assert ok("ties", "bm25.run", "--per-query", "--format", "csv").splitlines() == [
        "query_id,n_documents,n_ties,n_tied,largest_tie,tie_ratio,n_orders,log10_orders",
        f"q1,2,1,2,2,1.0,2,{math.log10(2)}",
        *(f"{query},{n},0,0,1,0.0,1,0.0" for query, n in (("q2", 2), ("q3", 1), ("q9", 1))),
    ]


def test_ties_as_csv_are_those_of_the_measures() -> None:
    lines = ok("ties", "bm25.run", "qrels.txt", "-m", "RR", "--format", "csv").splitlines()
    (row,) = csv.DictReader(lines)
    assert {name: float(row[name]) for name in ("exact", "traditional", "difference", "mean_difference")} == {
        "exact": 0.3125,
        "traditional": 0.25,
        "difference": -0.0625,
        "mean_difference": 0.0625,
    }
    assert (row["measure"], row["max_difference"], row["std_difference"]) == ("RR", "0.25", "0.125")
    assert {"q1", "0.375"} <= {*row.values()}
    assert ok("ties", "bm25.run", "--at", "1", "--format", "csv").splitlines() == ["cutoff,n_queries,share", "1,1,0.25"]


def test_ties_refuse_a_rule_without_judgments_or_that_there_is_not() -> None:
    refused = call("ties", "bm25.run", "--beside", "input").output
    assert names_in(refused) == ["--beside"]
    assert refused.rstrip().endswith("deadheat ties RUN QRELS")
    refused = call("ties", "bm25.run", "qrels.txt", "--beside", "best").output
    assert [name for name in names_in(refused) if not name.startswith("-")] == ["best", "doc_id", "input"]


def test_evil_ids_stay_text(folder: Path) -> None:
    evil = '"></script><script>alert(1)'
    (folder / "evil.json").write_text(json.dumps({evil: {"a": 1, "b": 1}, "=1+1": {"a": 1, "b": 1}}))
    (folder / "judged.json").write_text(json.dumps({evil: {"a": 1}, "=1+1": {"a": 1}}))
    arguments = ("ties", "evil.json", "judged.json", "-m", "RR", "--per-query", "--format")
    assert set(json.loads(ok(*arguments, "json"))["per_query"]) == {evil, "=1+1"}
    rows = list(csv.reader(ok(*arguments, "csv").splitlines()))
    assert [row[1] for row in rows[1:]] == [evil, "'=1+1"]
    assert "<script" not in ok(*arguments, "markdown").replace(r"\<script", "")


def test_every_order_of_the_ties_of_a_query() -> None:
    lines = ok("ties", "bm25.run", "qrels.txt", "--orders", "q1", "-m", "RR", "-m", "P@1").splitlines()
    assert lines[0] == "2 orders of the ties of query q1, equally likely"
    assert sorted(line.split()[-3:] for line in lines[4:6]) == [["1", "1.0000", "1.0000"], ["2", "0.5000", "0.0000"]]
    assert lines[-1].split() == ["mean", "over", "the", "orders", "RR", "0.7500,", "P@1", "0.5000"]
    assert "Did you mean 'q1'?" in call("ties", "bm25.run", "qrels.txt", "--orders", "q10").stderr
    for option in (
        ("--at", "3"),
        ("--per-query",),
        ("--beside", "input"),
        ("--missing", "skip"),
        ("--figures", "drawn"),
    ):
        refused = call("ties", "bm25.run", "qrels.txt", "--orders", "q1", *option)
        assert f"{option[0]} is not for --orders" in refused.stderr
    assert "--orders needs QRELS" in call("ties", "bm25.run", "--orders", "q1").stderr
