"""What is said on standard error where a format has no place for it, and that what is said is so."""

from __future__ import annotations

import csv
import io
import re
from typing import TYPE_CHECKING

import pytest

from support.command import call, facts_of, ok

if TYPE_CHECKING:
    from pathlib import Path

QRELS = "q1 0 d1 1\nq2 0 d1 1\nq3 0 d2 0\nq7 0 d1 0\n"
RUN = "q2 Q0 d1 1 0.5 t\nq2 Q0 d2 2 0.5 t\nq3 Q0 d1 1 0.5 t\nq9 Q0 d1 1 0.5 t\n"
NOTES = ("missing queries", "unjudged queries", "nothing relevant", "#")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "qrels.txt").write_text(QRELS)
    (tmp_path / "a.run").write_text(RUN)  # lacks q1, and q7, to which nothing is relevant
    (tmp_path / "b.run").write_text(RUN + "q7 Q0 d1 1 1 t\n")
    (tmp_path / "whole.run").write_text("".join(f"q{n} Q0 d1 1 1 t\n" for n in (1, 2)))
    (tmp_path / "easy.txt").write_text("q1 0 d1 1\nq2 0 d1 1\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "500")
    return tmp_path


def notes_of_table(*arguments: str) -> list[str]:
    """Return the notes below a table, with their headings repeated."""
    below = ok(*arguments, "--full").partition("\n\n")[2]
    found, heading = [], ""
    for line in below.splitlines():
        own, text = re.fullmatch(r"(.*?)  +(\S.*)", line).groups()  # type: ignore[union-attr]
        heading = own or heading
        found.append(text if heading == "#" else f"{heading}: {text}")
    return [note for note in found if note.startswith((*NOTES[:3], "MR"))]


@pytest.mark.slow
@pytest.mark.parametrize("form", ["csv", "trec"])
@pytest.mark.parametrize("runs", [["a.run"], ["a.run", "b.run"]])
def test_formats_without_notes_say_them_on_standard_error(form: str, runs: list[str]) -> None:
    common = ["evaluate", "qrels.txt", *runs, "-m", "MR RR"]
    told = notes_of_table(*common)
    assert len(told) >= 5
    assert call(*common, "--format", form).stderr == "".join(f"Note: {note}\n" for note in told)
    assert call(*common).stderr == ""


@pytest.mark.parametrize("form", ["csv", "trec"])
def test_documents_that_were_merged_are_told(folder: Path, form: str) -> None:
    (folder / "twice.run").write_text("q1 Q0 d1 1 2 t\nq1 Q0 d1 2 1 t\nq2 Q0 d1 1 1 t\n")
    common = ("evaluate", "easy.txt", "twice.run", "-m", "RR", "--duplicates", "best", "--format")
    assert call(*common, form).stderr == "Note: data: 1 of 3 results repeat a document: its best counts\n"
    assert call(*common, "json").stderr == ""  # which has it


@pytest.mark.plugins("exclude")
@pytest.mark.parametrize("form", ["csv", "trec"])
def test_documents_that_were_excluded_are_told(folder: Path, form: str) -> None:
    (folder / "pairs.csv").write_text("query_id,doc_id\nq1,d1\n")
    common = ("evaluate", "easy.txt", "whole.run", "-m", "RR", "--exclude", "pairs.csv", "--format")
    assert "Note: data: 1 document excluded in 1 query, 1 of them relevant" in call(*common, form).stderr


@pytest.mark.parametrize("form", ["csv", "trec"])
def test_where_there_is_nothing_to_say_nothing_is_said(form: str) -> None:
    assert call("evaluate", "easy.txt", "whole.run", "-m", "MR RR", "--format", form).stderr == ""


@pytest.mark.parametrize("form", ["csv", "trec"])
def test_a_seed_that_was_drawn_is_told(form: str) -> None:
    common = ["evaluate", "qrels.txt", "a.run", "-m", "RR", "--ties", "random", "--format", form]
    result = call(*common)
    (seed,) = re.findall(r"^Note: ties: random: .* \(rng (\d+)\)$", result.stderr, re.MULTILINE)
    assert call(*common, "--rng", seed).stdout == result.stdout


@pytest.mark.plugins("compare")
def test_compare_says_in_csv_what_its_table_says() -> None:
    command = ("compare", "qrels.txt", "a.run", "b.run", "-m", "RR")
    facts = facts_of(*command, "--full")
    assert facts["missing queries"].startswith("a: 2 (q1, q7), ")
    assert facts["unjudged queries"].startswith("a, b: 1 (q9), ")
    assert facts["?"].endswith(": only 4 queries (RR of b - a)")
    told = call(*command, "--format", "csv").stderr.splitlines()
    for heading in ("missing queries", "unjudged queries", "?"):
        assert {f"Note: {heading}: {text}" for text in facts[heading].splitlines()} <= {*told}


@pytest.mark.parametrize(
    ("runs", "said"),
    [
        (["a.run"], "1 query (q3), count as the worst value for MR, FRP"),
        (["b.run"], "2 queries (q3, q7), count as the worst value"),
        (["a.run", "b.run"], "2 queries (q3, q7), count as the worst value for MR, FRP where a run has them"),
    ],
)
def test_a_query_without_a_value_does_not_count_as_the_worst(runs: list[str], said: str) -> None:
    common = ["evaluate", "qrels.txt", *runs, "-m", "MR FRP RR"]
    told = notes_of_table(*common)
    assert f"nothing relevant: {said}" in told
    valueless = {run[0]: "q1, q7" if run == "a.run" else "q1" for run in runs}
    for run, ids in valueless.items():
        assert any(f"({ids}) that {run} lacks, which ha" in note for note in told)
    rows = csv.DictReader(io.StringIO(ok(*common, "--per-query", "--format", "csv")))
    found = {(row["run"], row["query_id"]) for row in rows if row["measure"] == "MR" and not row["value"]}
    assert found == {(run, query) for run, ids in valueless.items() for query in ids.split(", ")}


def test_the_help_says_which_call_of_trec_eval_it_is() -> None:
    told = " ".join(ok("evaluate", "--help-all").split())
    assert "bm25.run --ties doc_id --format trec" in told
    assert "with --missing skip what it prints without -c" in told
    assert "not the tag in the file" in told


def test_trec_eval_counts_missing_queries_with_its_option_c() -> None:
    pytrec_eval = pytest.importorskip("pytrec_eval")
    of_qrels = {"q1": {"d1": 1}, "q2": {"d1": 1}, "q3": {"d2": 0}, "q7": {"d1": 0}}
    of_run = {"q2": {"d1": 0.5, "d2": 0.5}, "q3": {"d1": 0.5}}
    found = pytrec_eval.RelevanceEvaluator(of_qrels, {"recip_rank"}).evaluate(of_run)
    total = sum(scores["recip_rank"] for scores in found.values())
    common = ["evaluate", "qrels.txt", "a.run", "-m", "recip_rank", "--ties", "doc_id", "--format", "trec"]
    assert f"recip_rank            \tall\t{total / 4:.4f}" in ok(*common)
    assert f"recip_rank            \tall\t{total / len(found):.4f}" in ok(*common, "--missing", "skip")


@pytest.mark.filterwarnings("always::deadheat.core.errors.DeadheatWarning")
def test_what_is_alike_in_many_files_is_said_of_three_and_counted(folder: Path) -> None:
    rows = [f"q1 Q0 d{n} {n + 1} {n} t\n" for n in range(12)]
    names = [f"{name}.txt" for name in "pqrstuvw"]
    for name in names:
        (folder / name).write_text("".join(rows))
    said = call("evaluate", "easy.txt", *names, "-m", "RR").stderr.splitlines()
    assert [line.split(": ")[1] for line in said if "rank" in line] == names[:3]
    assert re.findall(r"\w+\.txt|\d+", said[-1]) == ["p.txt", "5", "s.txt", "t.txt", "u.txt", "2"]


@pytest.mark.filterwarnings("always::deadheat.core.errors.DeadheatWarning")
def test_warnings_are_alike_by_their_form_not_by_their_words(folder: Path) -> None:
    """Files with one query and with several are told alike, though "1 query" is not "2 queries"."""
    for n in range(1, 6):
        rows = [f"q{query} Q0 d{doc} {doc + 1} {doc} t\n" for query in range(1, n + 1) for doc in range(5)]
        (folder / f"r{n}.txt").write_text("".join(rows))
    said = call("evaluate", "easy.txt", *(f"r{n}.txt" for n in range(1, 6)), "-m", "RR").stderr.splitlines()
    told = [line for line in said if "rise with the rank" in line]
    sizes = ["1 of 1 query", "2 of 2 queries", "3 of 3 queries"]
    assert [re.findall(r"\d of \d quer\w+", line) for line in told] == [[size] for size in sizes]
    assert [line.split(": ")[1] for line in told] == ["r1.txt", "r2.txt", "r3.txt"]
    assert re.findall(r"r\d\.txt|\d+", said[-1]) == ["r1.txt", "2", "r4.txt", "r5.txt"]
