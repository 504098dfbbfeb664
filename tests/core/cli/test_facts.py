"""What the command line says beside its numbers."""

from __future__ import annotations

import csv
import io
import json
import re
from typing import TYPE_CHECKING

import pytest

from support.command import call, facts_of, names_in, ok, report_of

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def folder(folder: Path) -> Path:
    (folder / "parts.run").write_text("q1 Q0 a.0 1 0.5 t\nq2 Q0 x.0 1 0.5 t\n")
    return folder


def words(*arguments: object) -> str:
    return " ".join(ok(*arguments).split())


@pytest.mark.plugins("ties")
def test_ties_name_the_queries_that_are_not_in_both() -> None:
    facts = facts_of("ties", "bm25.run", "qrels.txt")
    assert facts["missing queries"].startswith("1 (q4), counted as empty")
    assert facts["unjudged queries"].startswith("1 (q9), left out")
    assert facts_of("ties", "bm25.run", "qrels.txt", "--missing", "skip")["missing queries"] == "1 (q4), left out"
    document = json.loads(ok("ties", "bm25.run", "qrels.txt", "--format", "json"))
    assert (document["missing_queries"], document["unjudged_queries"]) == (["q4"], ["q9"])
    assert "missing queries" not in ok("ties", "bm25.run")


@pytest.mark.plugins("ties")
def test_ties_take_the_options_of_evaluate() -> None:
    for options in ([], ["--missing", "skip"], ["--no-relevant", "skip"]):
        common = ["-m", "RR", "--format", "json", *options]
        of_ties = json.loads(ok("ties", "bm25.run", "qrels.txt", *common))["measures"]["RR"]["value"]
        assert of_ties == json.loads(ok("evaluate", "qrels.txt", "bm25.run", *common))["scores"]["bm25"]["RR"]["value"]
    assert call("ties", "bm25.run", "qrels.txt", "--missing", "error").exit_code == 3
    for option in (["--missing", "skip"], ["--no-relevant", "skip"]):
        result = call("ties", "bm25.run", *option)
        assert result.exit_code == 2
        assert f"{option[0]} needs QRELS" in result.stderr


@pytest.mark.plugins("ties")
def test_a_run_without_a_judged_document_gets_a_warning() -> None:
    report = report_of("evaluate", "qrels.txt", "parts.run")
    (warning,) = [fact for fact in report.facts if fact.is_warning]
    assert (warning.heading, names_in(warning.text)) == ("WARNING", ["a.0", "a"])
    assert " parts " in warning.text
    assert "tie order" not in {fact.heading for fact in report.shown}
    document = json.loads(ok("evaluate", "qrels.txt", "parts.run", "bm25.run", "--format", "json"))
    assert document["nothing_judged"] == {"parts": {"run": "a.0", "qrels": "a"}}
    assert "WARNING" not in ok("evaluate", "qrels.txt", "bm25.run")
    for form in ("csv", "trec"):
        assert "Warning: no document" in call("evaluate", "qrels.txt", "parts.run", "--format", form).stderr
    assert " parts " in facts_of("ties", "parts.run", "qrels.txt")["WARNING"]
    assert "WARNING" not in ok("ties", "bm25.run", "qrels.txt")
    assert "WARNING" not in ok("ties", "bm25.run")


def test_a_mean_without_some_queries_is_marked() -> None:
    command = ("evaluate", "qrels.txt", "bm25.run", "-m", "FRP RR")
    rows = [line.split() for line in ok(*command).splitlines()]
    assert {row[0]: row[1] for row in rows if row[:1] in (["FRP"], ["RR"])} == {"FRP": "1.8333#", "RR": "0.3125"}
    assert facts_of(*command)["#"].startswith("FRP: without the 1 query (q4) that bm25 lacks")
    assert "#" not in ok("evaluate", "qrels.txt", "bm25.run", "-m", "FRP", "--missing", "skip")
    assert "#" not in ok("evaluate", "qrels.txt", "bm25.run", "-m", "FRP", "--format", "csv")


def test_that_ties_decide_nothing_is_a_sentence_of_its_own(folder: Path) -> None:
    (folder / "plain.run").write_text("q1 Q0 a 1 0.5 t\n")
    told = "no order of equal scores changes any value"
    assert f"tie order {told}" in words("evaluate", "qrels.txt", "plain.run", "--full")
    markdown, latex = (
        ok("evaluate", "qrels.txt", "plain.run", "--full", "--format", of) for of in ("markdown", "latex")
    )
    assert f"\n- tie order: {told}\n" in markdown
    assert f"\n% tie order: {told}\n" in latex


@pytest.mark.parametrize(
    ("given", "names"),
    [("nDCG @ 10", ["nDCG@10"]), ("P(rel=2) @ 5 RR", ["P(rel=2)@5", "RR"]), ("RR @3,P @ 1", ["RR@3", "P@1"])],
)
def test_blanks_around_a_cutoff(given: str, names: list[str]) -> None:
    out = ok("evaluate", "qrels.txt", "bm25.run", "-m", given, "--format", "json")
    assert list(json.loads(out)["scores"]["bm25"]) == names


def test_the_help_of_trec_does_not_promise_all() -> None:
    assert "most of what trec_eval prints" in " ".join(ok("evaluate", "--help-all").split())


@pytest.mark.slow
def test_a_cutoff_without_advice_gets_the_nearest() -> None:
    out = ok("measures", "--for", "k=7")
    assert out.startswith("k=5: ")
    note = json.loads(ok("measures", "--for", "k=7", "--format", "json"))["note"]
    assert {"7", "k=5"} <= set(re.split(r"[\s;]+", note))
    assert note in out
    for use in ("k=5", "5", "top1", "ab-test"):
        assert json.loads(ok("measures", "--for", use, "--format", "json"))["note"] is None
    result = call("measures", "--for", "k=0")
    assert result.exit_code == 2
    assert "from 1 on, got 0" in result.stderr
    assert "Did you mean" not in result.stderr


@pytest.mark.slow
@pytest.mark.parametrize("arguments", [["demo"], ["measures"], ["measures", "--for", "mobile"], ["measures", "--for"]])
def test_commands_stand_on_lines_of_their_own(arguments: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    wide = [line for line in ok(*arguments).splitlines() if line.startswith("  deadheat ")]
    monkeypatch.setenv("COLUMNS", "40")
    narrow = ok(*arguments).splitlines()
    assert [line for line in narrow if line.startswith("  deadheat ")] == wide
    assert wide


@pytest.mark.plugins("ties")
def test_facts_fit_a_narrow_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    lines = ok("ties", "bm25.run", "qrels.txt").split("What the order")[0].splitlines()
    assert max(map(len, lines)) <= 40


SKIPPING = ("-m", "RR Judged@5 NumRet RBPResidual", "--no-relevant", "skip")
COUNTED = {"RR": 3, "Judged@5": 4, "NumRet": 4, "RBPResidual": 4}  # q3 has no relevant document


@pytest.mark.plugins("ties")
def test_every_measure_says_over_how_many_queries_it_is_as_soon_as_they_differ() -> None:
    head, *rows = [line.split() for line in ok("evaluate", "qrels.txt", "bm25.run", *SKIPPING).splitlines()[2:7]]
    assert head[-1] == "n"
    assert {row[0]: int(row[-1]) for row in rows} == COUNTED
    scores = json.loads(ok("evaluate", "qrels.txt", "bm25.run", *SKIPPING, "--format", "json"))["scores"]["bm25"]
    assert {measure: cells["n_queries"] for measure, cells in scores.items()} == COUNTED
    found = csv.DictReader(io.StringIO(ok("evaluate", "qrels.txt", "bm25.run", *SKIPPING, "--format", "csv")))
    assert {row["measure"]: int(row["n_queries"]) for row in found} == COUNTED
    markdown = ok("evaluate", "qrels.txt", "bm25.run", *SKIPPING, "--format", "markdown").splitlines()
    assert markdown[0].endswith("| n |")
    assert {line.split()[1]: int(line.split()[-2]) for line in markdown[2:6]} == COUNTED
    of_ties = ok("ties", "bm25.run", "qrels.txt", *SKIPPING)
    lines = [line.split() for line in of_ties[of_ties.index("What the order") :].splitlines()[1:7]]
    assert lines[0][-1] == "n"
    assert {line[0]: int(line[-1]) for line in lines[2:]} == COUNTED


def test_a_number_of_queries_that_is_not_that_of_the_evaluated_ones_is_said_too() -> None:
    assert (
        ok("evaluate", "qrels.txt", "bm25.run", "-m", "RR AP", "--no-relevant", "skip").splitlines()[3].endswith("  3")
    )


def test_the_number_of_queries_is_said_once_where_it_is_the_same() -> None:
    assert ok("evaluate", "qrels.txt", "bm25.run", *SKIPPING[:2]).splitlines()[2].endswith("tie max")
    scores = json.loads(ok("evaluate", "qrels.txt", "bm25.run", *SKIPPING[:2], "--format", "json"))["scores"]["bm25"]
    assert {cells["n_queries"] for cells in scores.values()} == {4}
